"""The only module that imports the SDK `mcp`, which takes most of a second.

skillgen uses its transports, its dispatcher and its OAuth provider, but not the typed models of its client, which drop
unknown fields.
"""

from __future__ import annotations

import logging

from mcp.client.auth import OAuthClientProvider as OAuthClientProvider
from mcp.client.auth import OAuthFlowError as OAuthFlowError
from mcp.client.auth import OAuthRegistrationError as OAuthRegistrationError
from mcp.client.auth import OAuthTokenError as OAuthTokenError
from mcp.client.sse import sse_client as sse_client
from mcp.client.streamable_http import streamable_http_client as streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult as AuthorizationCodeResult
from mcp.shared.auth import OAuthClientInformationFull as OAuthClientInformationFull
from mcp.shared.auth import OAuthClientMetadata as OAuthClientMetadata
from mcp.shared.auth import OAuthMetadata as OAuthMetadata
from mcp.shared.auth import OAuthToken as OAuthToken
from mcp.shared.auth import ProtectedResourceMetadata as ProtectedResourceMetadata
from mcp.shared.dispatcher import CallOptions as CallOptions
from mcp.shared.exceptions import MCPError as MCPError
from mcp.shared.inbound import MCP_METHOD_HEADER as MCP_METHOD_HEADER
from mcp.shared.inbound import MCP_NAME_HEADER as MCP_NAME_HEADER
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER as MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.inbound import NAME_BEARING_METHODS as NAME_BEARING_METHODS
from mcp.shared.inbound import encode_header_value as encode_header_value
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher as JSONRPCDispatcher
from mcp.types import CONNECTION_CLOSED as CONNECTION_CLOSED
from mcp.types import INTERNAL_ERROR as INTERNAL_ERROR
from mcp.types import METHOD_NOT_FOUND as METHOD_NOT_FOUND
from mcp.types import PARSE_ERROR as PARSE_ERROR
from mcp.types import PROTOCOL_VERSION_META_KEY as PROTOCOL_VERSION_META_KEY

# These libraries log URLs with their query and strings of the server; skillgen reports problems without secrets.
for _name in ("mcp", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)
