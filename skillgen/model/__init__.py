"""The model between sources and documents: frozen structs, without I/O, Jinja or SDK.

`values` holds JSON values and origins, `schema` types and parameters, `service` the root. `codec` writes the model as
JSON and reads it, and `traversal` walks it.
"""
