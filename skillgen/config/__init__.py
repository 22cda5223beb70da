"""A project's own file, `skillgen.yaml` or `[tool.skillgen]`: what to document, where, and in which words.

`project` says what it may hold, `located` reads text with line numbers, `reading` brings the two together, `schema`
gives the JSON Schema of it. Nothing here reads a source.
"""
