"""MCP servers as a source: the crawl over stdio and HTTP, and the model from what it brought home."""
