"""Runs a mock: an MCP server over standard input and output or Streamable HTTP, or an API over HTTP. Loopback only."""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from email.message import Message
from typing import Any, BinaryIO

import uvicorn
from starlette.requests import Request as HttpRequest
from starlette.responses import Response as HttpResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from skillgen.errors import UsageError
from skillgen.mock import mcp
from skillgen.mock.answers import CallLog, Request
from skillgen.mock.api import ApiMock, Response, base_paths, json_response
from skillgen.model.mcp_fields import ARGUMENT, ICON, PROMPT, RESOURCE, SEMANTICS, TOOL, Field, declared
from skillgen.model.resource import Prompt, Resource
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Icon, Json
from skillgen.render.declarations import server_object, tool_object
from skillgen.security.secrets import is_loopback
from skillgen.sources.json_access import as_dict
from skillgen.sources.mcp.session import LEGACY_VERSIONS, MODERN_VERSION

HOST = "127.0.0.1"

_PATH = "/mcp"
_SESSION_HEADER = "Mcp-Session-Id"
_MESSAGE_LIMIT_BYTES = 16 * 1024 * 1024
_SESSIONS_LIMIT = 1_000

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""The name of a header (RFC 9110, 5.6.2)."""


# -- standard input and output ----------------------------------------------------------------------------------------


def serve_stdio(mock: mcp.McpMock, reader: BinaryIO, writer: BinaryIO) -> None:
    """Answers each message on a line until the input ends."""
    session = mcp.McpSession()
    while line := reader.readline(_MESSAGE_LIMIT_BYTES):
        if not line.strip():
            continue
        response = mock.answer(message, session) if (message := _parsed(line)) is not _BROKEN else _PARSE_FAILED
        if response is not None:
            writer.write(json.dumps(response).encode() + b"\n")
            writer.flush()


_BROKEN = object()
_PARSE_FAILED = mcp.failed(None, mcp.RequestError(mcp.PARSE_ERROR, "Parse error: the message is not JSON"))


def _parsed(text: bytes) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _BROKEN


# -- Streamable HTTP ---------------------------------------------------------------------------------------------------


class StreamableHttp:
    """The endpoint of an MCP server: with sessions up to 2025-11-25, without any since 2026-07-28."""

    def __init__(self, mock: mcp.McpMock) -> None:
        self._mock = mock
        self._sessions: dict[str, mcp.McpSession] = {}

    def respond(self, request: Request) -> Response:
        """Returns the response to a request."""
        if request.path != _PATH:
            return Response(404)
        if request.method == "DELETE":
            ended = self._sessions.pop(request.headers.get(_SESSION_HEADER, ""), None)
            return Response(404 if ended is None else 200)
        if request.method != "POST":
            return Response(405, {"Allow": "POST, DELETE"})
        if request.headers.get_content_type() != "application/json":
            return _refused(415, "Content-Type must be application/json")
        accepted = request.headers.get("Accept", "")
        if "*/*" not in accepted and not all(name in accepted for name in ("application/json", "text/event-stream")):
            return _refused(406, "the client must accept application/json and text/event-stream")
        message = _parsed(request.body)
        if message is _BROKEN:
            return json_response(400, _PARSE_FAILED)
        if mcp.requested_version(as_dict(message).get("params")) is not None:
            return self._stateless(request, as_dict(message))
        return self._in_session(request, message)

    def _stateless(self, request: Request, message: dict[str, Json]) -> Response:
        from skillgen.sources.mcp.sdk import inbound

        headers, params = {name.lower(): value for name, value in request.headers.items()}, as_dict(message["params"])
        found = inbound.classify_inbound_request(message, headers=headers)
        if isinstance(found, inbound.InboundModernRoute) and message.get("method") == "tools/call":
            schema, arguments = self._mock.input_schema(str(params.get("name"))), as_dict(params.get("arguments"))
            found = inbound.validate_mcp_param_headers(schema, arguments, headers) or found
        if isinstance(found, inbound.InboundLadderRejection):
            response: Json = mcp.failed(message.get("id"), mcp.RequestError(found.code, found.message, found.data))
        else:
            response = self._mock.answer(message, mcp.McpSession())
        if response is None:
            return Response(202)
        code = as_dict(response.get("error")).get("code", 0)
        return json_response(inbound.ERROR_CODE_HTTP_STATUS.get(code, 200), response)

    def _in_session(self, request: Request, message: Json) -> Response:
        version = request.headers.get("MCP-Protocol-Version")
        if version == MODERN_VERSION:
            return _refused(400, f"a request of {MODERN_VERSION} names its version in _meta", mcp.INVALID_PARAMS)
        if version is not None and version not in LEGACY_VERSIONS:
            return _refused(400, f"Unsupported protocol version: {version:.40}")
        method, headers = as_dict(message).get("method"), dict[str, str]()
        identifier = request.headers.get(_SESSION_HEADER)
        if method == "initialize":
            identifier = headers[_SESSION_HEADER] = secrets.token_hex(16)
            while len(self._sessions) >= _SESSIONS_LIMIT:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[identifier] = mcp.McpSession()
        if identifier is None and method != "server/discover":
            return _refused(400, f"{_SESSION_HEADER} is missing: a session begins with initialize")
        session = self._sessions.get(identifier) if identifier is not None else mcp.McpSession()
        if session is None:
            return _refused(404, "Session not found")
        response = self._mock.answer(message, session)
        return Response(202) if response is None else json_response(200, response, headers)


def _refused(status: int, message: str, code: int = mcp.INVALID_REQUEST) -> Response:
    return json_response(status, mcp.failed(None, mcp.RequestError(code, message)))


# -- the HTTP server ---------------------------------------------------------------------------------------------------


def _application(service: ApiMock | StreamableHttp) -> ASGIApp:
    """Returns what answers HTTP requests, one at a time."""

    async def answer(request: HttpRequest) -> HttpResponse:
        # A page in a browser may have had its own name resolved to this address.
        addresses = [f"http://{request.headers.get('Host', '')}", *filter(None, [request.headers.get("Origin")])]
        if not all(map(is_loopback, addresses)):
            return HttpResponse(status_code=403)
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > _MESSAGE_LIMIT_BYTES:
                return HttpResponse(status_code=413)
        headers = Message()
        for name, value in request.headers.items():
            headers[name] = value
        path, query = request.scope["raw_path"], request.scope["query_string"]
        target = (path + (b"?" + query if query else b"")).decode("latin-1")
        response = service.respond(Request(request.method, target, headers, bytes(body)))
        named = ((name, value) for name, value in response.headers.items() if _TOKEN.fullmatch(name))
        sent = {name: value for name, value in named if value.isascii() and value.isprintable()}
        return HttpResponse(response.body, response.status, sent)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await (await answer(HttpRequest(scope, receive)))(scope, receive, send)

    return application


def mock_of(service: Service, results: Mapping[str, Json] | None, log: CallLog) -> mcp.McpMock | ApiMock:
    """Returns the mock of a service; `results` are those of a crawl, `None` if it was not crawled."""
    if service.kind == "openapi":
        return ApiMock(service, log=log)
    return mcp.McpMock(service, results_from_service(service) if results is None else results, log=log)


def url_of(service: Service, port: int) -> str:
    """Returns the URL of a mock over HTTP."""
    return f"http://{HOST}:{port}" + (_PATH if service.kind == "mcp" else base_paths(service)[0])


@contextmanager
def serving(mock: mcp.McpMock | ApiMock, port: int = 0) -> Iterator[int]:
    """Opens a port of the loopback interface, 0 for any, and yields it; a thread answers while the block runs.

    Raises:
        UsageError: the port is in use, or reserved.
    """
    try:
        listener = socket.create_server((HOST, port))
    except OSError as error:
        what, fix = f"port {port} cannot be opened: {os.strerror(error.errno or 0)}", "choose another one, or 0 for any"
        raise UsageError(what, where="--http", fix=fix) from None
    application = _application(StreamableHttp(mock) if isinstance(mock, mcp.McpMock) else mock)
    quiet: dict[str, Any] = {"log_config": None, "log_level": "critical", "server_header": False}
    config = uvicorn.Config(application, lifespan="off", ws="none", timeout_graceful_shutdown=1, **quiet)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def results_from_service(service: Service) -> dict[str, Json]:
    """Returns the results of a crawl that would be read as this service: method to result, of a list to its pages."""
    handshake = _handshake(service)
    results: dict[str, Json] = {"server/discover" if "supportedVersions" in handshake else "initialize": handshake}
    templates = service.resource_templates
    entries: dict[str, dict[str, list[Json]]] = {
        "tools/list": {"tools": [*map(_tool, service.tools)]},
        "resources/list": {"resources": [_resource(item, "uri") for item in service.resources]},
        "resources/templates/list": {"resourceTemplates": [_resource(item, "uriTemplate") for item in templates]},
        "prompts/list": {"prompts": [*map(_prompt, service.prompts)]},
    }
    capabilities = handshake["capabilities"]
    for method, page in entries.items():
        name = method.partition("/")[0]
        if any(page.values()) or (name in capabilities and method != "resources/templates/list"):
            results[method] = [page]
            capabilities.setdefault(name, {})
    return results


def _handshake(service: Service) -> dict[str, Json]:
    """Returns the result of `initialize`, or that of `server/discover`, with the versions that the server supports."""
    extras = {key: value for key, value in (service.extras or {}).items() if key not in _DERIVED}
    identity: dict[str, Json] = {"name": service.name, "version": service.version or "", "title": service.title}
    identity |= {"websiteUrl": service.homepage, "icons": _icons(service.icons)}
    version = service.protocol_version
    legacy = version if version in LEGACY_VERSIONS else LEGACY_VERSIONS[-1]
    is_modern = version == MODERN_VERSION
    handshake: dict[str, Json] = {
        "supportedVersions" if is_modern else "protocolVersion": [MODERN_VERSION] if is_modern else legacy,
        "capabilities": {"extensions": dict(service.extensions)} if service.extensions else {},
        "serverInfo": _merged(identity, None),
        "instructions": service.instructions,
        "dashdash": server_object(service) if "dashdash" in service.uses else None,
    }
    return _merged(handshake, extras)


_DERIVED = ("dashdash", "ai_help", "manifest", "lists", "protocolVersion", "supportedVersions")
"""Extras of a service that are not members of the result of a handshake."""


def _tool(tool: Tool) -> dict[str, Json]:
    own = {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output.raw if tool.output is not None else None,
        **declared(SEMANTICS, tool.semantics, "entry"),
    }
    hints = declared(SEMANTICS, tool.semantics, "hint") or None
    return _entry(TOOL, tool, own, annotations=hints, dashdash=tool_object(tool) or None)


def _resource(item: Resource, uri_key: str) -> dict[str, Json]:
    return _entry(RESOURCE, item, {uri_key: item.uri, "name": item.name})


def _prompt(prompt: Prompt) -> dict[str, Json]:
    arguments = [{"name": item.name, **declared(ARGUMENT, item, "entry")} for item in prompt.parameters]
    return _entry(PROMPT, prompt, {"name": prompt.name, "arguments": arguments or None})


def _entry(table: Iterable[Field], node: Any, own: dict[str, Json], **others: Json) -> dict[str, Json]:
    """Returns an entry of a list: its `own` members, those that the table declares, and `others` in their place."""
    members = {
        "icons": _icons(node.icons),
        "annotations": declared(table, node, "hint") or None,
        "dashdash": declared(table, node, "dashdash") or None,
    }
    return _merged({**own, **declared(table, node, "entry"), **members, **others}, node.extras)


def _icons(icons: tuple[Icon, ...]) -> list[Json] | None:
    return [declared(ICON, icon, "entry") for icon in icons] or None


def _merged(members: dict[str, Json], extras: Mapping[str, Any] | None) -> dict[str, Json]:
    """Returns the members that there are, with those that the model has no field for, also within objects."""
    merged = {key: value for key, value in members.items() if value is not None}
    for key, value in (extras or {}).items():
        inner = merged.get(key)
        merged[key] = {**value, **inner} if isinstance(inner, dict) and isinstance(value, dict) else value
    return merged
