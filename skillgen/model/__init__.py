"""The intermediate model between sources and documents: no I/O, no Jinja, no SDK.

`value` holds JSON values and origins, `schema` what a value may be, `service` the service itself, and
`codec` writes all of it as JSON and reads it back.
"""
