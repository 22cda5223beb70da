"""skillgen: turns an MCP server or an OpenAPI description into documents for AI agents."""

__version__ = "0.1.0"
