"""A server made with the Python SDK: `python -m servers.modern_sdk [PORT]`, over HTTP if a port is given."""

from __future__ import annotations

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("Kiosk", version="1.0", instructions="Buy before noon.")


@server.tool()
def buy_paper(title: str, copies: int = 1) -> str:
    """Buys a newspaper."""
    return title * copies


@server.resource("kiosk://papers")
def papers() -> str:
    """Lists the newspapers."""
    return "The Daily"


@server.prompt()
def recommend(topic: str) -> str:
    """Recommends a newspaper."""
    return f"Which newspaper writes about {topic}?"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
