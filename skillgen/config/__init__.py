"""The project file, `skillgen.yaml`: what to document, where, with which texts.

`project` declares its keys, `loader` reads it, `schema` generates its JSON Schema. Nothing here reads a source.
"""
