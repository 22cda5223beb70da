"""The only module that imports the SDK `mcp`, which takes most of a second.

skillgen uses its transports, its dispatcher and its OAuth provider, but not the typed models of its client, which drop
unknown fields.
"""

from __future__ import annotations

import logging

from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.types import CONNECTION_CLOSED, INTERNAL_ERROR, METHOD_NOT_FOUND, PARSE_ERROR, PROTOCOL_VERSION_META_KEY

__all__ = [
    "CONNECTION_CLOSED",
    "INTERNAL_ERROR",
    "MCP_METHOD_HEADER",
    "MCP_NAME_HEADER",
    "MCP_PROTOCOL_VERSION_HEADER",
    "METHOD_NOT_FOUND",
    "NAME_BEARING_METHODS",
    "PARSE_ERROR",
    "PROTOCOL_VERSION_META_KEY",
    "AuthorizationCodeResult",
    "CallOptions",
    "JSONRPCDispatcher",
    "MCPError",
    "OAuthClientInformationFull",
    "OAuthClientMetadata",
    "OAuthClientProvider",
    "OAuthFlowError",
    "OAuthMetadata",
    "OAuthRegistrationError",
    "OAuthToken",
    "OAuthTokenError",
    "ProtectedResourceMetadata",
    "encode_header_value",
    "sse_client",
    "streamable_http_client",
]

# These libraries log URLs with their query and strings of the server; skillgen reports problems without secrets.
for _name in ("mcp", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)
