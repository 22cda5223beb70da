"""Sources: read what a service says of itself, over MCP or from an OpenAPI description, and fill the model with it."""
