"""What skillgen uses of the SDK: the one module that imports `mcp`, whose import costs most of a second.

Its transports and its raw dispatcher, below the typed models of its client, which would drop what they do not know;
and its OAuth provider.
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

# They log URLs with their query, and the texts of a server: skillgen tells what matters itself, without the secrets.
for _name in ("mcp", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)
