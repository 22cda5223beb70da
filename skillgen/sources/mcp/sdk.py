"""The only module that imports the SDK `mcp`, which takes most of a second.

skillgen uses its transports, its dispatcher and its OAuth provider, but not the typed models of its client, which drop
unknown fields.
"""

from __future__ import annotations

import logging

from mcp import MCPError as MCPError
from mcp import types as types
from mcp.client import auth as auth
from mcp.client.sse import sse_client as sse_client
from mcp.client.streamable_http import streamable_http_client as streamable_http_client
from mcp.shared import auth as models
from mcp.shared import inbound as inbound
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher as JSONRPCDispatcher

__all__ = ["models"]

# These libraries log URLs with their query and strings of the server; skillgen reports problems without secrets.
for _name in ("mcp", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)
