"""Reads JSON Schemas into the model: 2020-12 and draft-07 (MCP), and the schema objects of OpenAPI 3.0 and 3.1."""
