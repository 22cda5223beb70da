"""Runs a mock: an MCP server over standard input and output or Streamable HTTP, or an API over HTTP. Loopback only."""

from __future__ import annotations

import base64
import binascii
import json
import re
import secrets
import socketserver
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import BinaryIO, Protocol, cast
from urllib.parse import urlsplit

from skillgen.errors import UsageError
from skillgen.mock.api import ApiMock, Request, Response
from skillgen.mock.declarations import results_from_service
from skillgen.mock.log import CallLog
from skillgen.mock.mcp import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    McpMock,
    McpSession,
    RequestError,
    failed,
    requested_version,
)
from skillgen.mock.routing import base_paths
from skillgen.model.serialization import value_text
from skillgen.model.service import Service
from skillgen.model.values import Json
from skillgen.security.addresses import is_loopback
from skillgen.sources.json_access import as_dict
from skillgen.sources.mcp.session import LEGACY_VERSIONS, MODERN_VERSION
from skillgen.sources.mcp.tools import HEADER_KEY, subschemas

HOST = "127.0.0.1"

_PATH = "/mcp"
_SESSION_HEADER = "Mcp-Session-Id"
_BODY_LIMIT_BYTES = 16 * 1024 * 1024
_LINE_LIMIT_BYTES = 16 * 1024 * 1024
_CHUNKS_LIMIT = 1_000_000
_TRAILERS_LIMIT = 100
_SESSIONS_LIMIT = 1_000

_STATUSES = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    METHOD_NOT_FOUND: 404,
    UNSUPPORTED_VERSION: 400,
}
"""HTTP statuses of errors since 2026-07-28 (Streamable HTTP)."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""The name of a header (RFC 9110, 5.6.2)."""

_JSON = {"Content-Type": "application/json"}


class HttpService(Protocol):
    """Answers HTTP requests, several at a time."""

    def respond(self, request: Request) -> Response:
        """Returns the response to a request."""


# -- standard input and output ----------------------------------------------------------------------------------------


def serve_stdio(mock: McpMock, reader: BinaryIO, writer: BinaryIO) -> None:
    """Answers each message on a line until the input ends."""
    session = McpSession()
    while line := reader.readline(_LINE_LIMIT_BYTES):
        if not line.strip():
            continue
        response = mock.answer(message, session) if (message := _parsed(line)) is not _BROKEN else _PARSE_FAILED
        if response is not None:
            writer.write(json.dumps(response).encode() + b"\n")
            writer.flush()


_BROKEN = object()
_PARSE_FAILED = failed(None, RequestError(PARSE_ERROR, "Parse error: the message is not JSON"))


def _parsed(text: bytes) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _BROKEN


# -- Streamable HTTP ---------------------------------------------------------------------------------------------------


class StreamableHttp:
    """The endpoint of an MCP server: with sessions up to 2025-11-25, without any since 2026-07-28."""

    def __init__(self, mock: McpMock) -> None:
        self._mock = mock
        self._sessions: dict[str, McpSession] = {}
        self._lock = threading.Lock()

    def respond(self, request: Request) -> Response:
        """Returns the response to a request."""
        if urlsplit(request.target).path != _PATH:
            return Response(404)
        if request.method == "DELETE":
            return self._end_session(request)
        if request.method != "POST":
            return Response(405, {"Allow": "POST, DELETE"})
        if request.headers.get_content_type() != "application/json":
            return _refused(415, "Content-Type must be application/json")
        accepted = request.headers.get("Accept", "")
        if "*/*" not in accepted and not all(name in accepted for name in ("application/json", "text/event-stream")):
            return _refused(406, "the client must accept application/json and text/event-stream")
        message = _parsed(request.body)
        if message is _BROKEN:
            return Response(400, _JSON, json.dumps(_PARSE_FAILED).encode())
        params = as_dict(message).get("params")
        if requested_version(params) is not None:
            return self._stateless(request, as_dict(message))
        return self._in_session(request, message)

    def _stateless(self, request: Request, message: dict[str, Json]) -> Response:
        if (fault := _header_fault(request.headers, message, self._mock)) is not None:
            response: Json = failed(message.get("id"), fault)
            return Response(400, _JSON, json.dumps(response).encode())
        response = self._mock.answer(message, McpSession())
        if response is None:
            return Response(202)
        status = _STATUSES.get(as_dict(response.get("error")).get("code", 0), 200)
        return Response(status, _JSON, json.dumps(response).encode())

    def _in_session(self, request: Request, message: Json) -> Response:
        version = request.headers.get("MCP-Protocol-Version")
        if version == MODERN_VERSION:
            return _refused(400, f"a request of {MODERN_VERSION} names its version in _meta", INVALID_PARAMS)
        if version is not None and version not in LEGACY_VERSIONS:
            return _refused(400, f"Unsupported protocol version: {version:.40}")
        headers = dict(_JSON)
        method = as_dict(message).get("method")
        identifier = request.headers.get(_SESSION_HEADER)
        with self._lock:
            if method == "initialize":
                identifier = headers[_SESSION_HEADER] = secrets.token_hex(16)
                while len(self._sessions) >= _SESSIONS_LIMIT:
                    del self._sessions[next(iter(self._sessions))]
                self._sessions[identifier] = McpSession()
            if identifier is None and method == "server/discover":
                session: McpSession | None = McpSession()
            elif identifier is None:
                return _refused(400, f"{_SESSION_HEADER} is missing: a session begins with initialize")
            else:
                session = self._sessions.get(identifier)
        if session is None:
            return _refused(404, "Session not found")
        response = self._mock.answer(message, session)
        return Response(202) if response is None else Response(200, headers, json.dumps(response).encode())

    def _end_session(self, request: Request) -> Response:
        with self._lock:
            ended = self._sessions.pop(request.headers.get(_SESSION_HEADER, ""), None)
        return Response(404 if ended is None else 200)


def _refused(status: int, message: str, code: int = INVALID_REQUEST) -> Response:
    return Response(status, _JSON, json.dumps(failed(None, RequestError(code, message))).encode())


# The headers that repeat the body (2026-07-28, "Standard Headers", "Custom Headers").

_HEADER_MISMATCH = -32020

_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Method to the parameter that the header `Mcp-Name` repeats."""


def _header_fault(headers: Message, message: dict[str, Json], mock: McpMock) -> RequestError | None:
    """Returns the error of a request whose headers differ from its body."""
    params, method = as_dict(message.get("params")), str(message.get("method"))
    expected = [("MCP-Protocol-Version", MODERN_VERSION), ("Mcp-Method", method)]
    if method in _NAMED:
        expected.append(("Mcp-Name", str(params.get(_NAMED[method]))))
    if method == "tools/call":
        expected += _argument_headers(mock.input_schema(str(params.get("name"))), params.get("arguments"))
    for name, value in expected:
        sent = headers.get_all(name) or []
        if len(sent) != 1 or _decoded(sent[0].strip()) != value:
            found = f"is {sent[0]!r:.80}" if sent else "is missing"
            return RequestError(_HEADER_MISMATCH, f"Header mismatch: {name} {found}, but the body has {value!r:.80}")
    return None


def _argument_headers(schema: Json, arguments: Json) -> Iterator[tuple[str, str]]:
    """Yields the headers that repeat arguments, each with its value."""
    for path, part in subschemas(schema):
        if HEADER_KEY not in part or not path:
            continue
        value: Json = arguments
        for name in path:
            value = as_dict(value).get(name)
        if isinstance(value, (str, int, bool)):
            yield f"Mcp-Param-{part[HEADER_KEY]}", value_text(value)


def _decoded(text: str) -> str | None:
    """Returns the value of a header, which may be written as `=?base64?…?=`."""
    if not (text.startswith("=?base64?") and text.endswith("?=")):
        return text
    try:
        return base64.b64decode(text[9:-2], validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None


# -- the HTTP server ---------------------------------------------------------------------------------------------------


class _Quiet(socketserver.BaseServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Prints nothing: a client may leave before it has its answer."""


class _Server(_Quiet, ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, service: HttpService) -> None:
        class Handler(_Handler):
            respond = staticmethod(service.respond)

        super().__init__((HOST, port), Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "skillgen-mock"
    sys_version = ""
    timeout = 60
    disable_nagle_algorithm = True

    def respond(self, request: Request) -> Response:
        """Returns the response to a request."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> object:
        if name.startswith("do_"):  # whatever the method
            return self._answer
        raise AttributeError(name)

    def log_message(self, format: str, *arguments: object) -> None:
        """Prints nothing."""

    def _answer(self) -> None:
        body = self._body()
        if body is None:
            self.close_connection = True
            response = Response(413 if self.headers.get("Content-Length", "").isdigit() else 400)
        elif self._is_from_another_site():
            response = Response(403)
        else:
            response = self.respond(Request(self.command, self.path, self.headers, body))
        self.send_response(response.status)
        for name, value in response.headers.items():
            if _TOKEN.fullmatch(name) and value.isascii() and value.isprintable():
                self.send_header(name, value)
        if response.status >= 200 and response.status not in (204, 304):
            self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    def _is_from_another_site(self) -> bool:
        """True for a request of a page in a browser, which may have had its own name resolved to this address."""
        origin = self.headers.get("Origin")
        return not is_loopback(f"http://{self.headers.get('Host', '')}") or bool(origin and not is_loopback(origin))

    def _body(self) -> bytes | None:
        """Returns the body of the request; `None` if it is too large or its length is invalid."""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return self._chunks()
        length = self.headers.get("Content-Length", "0")
        if not (length.isascii() and length.isdigit()) or len(length) > 10 or int(length) > _BODY_LIMIT_BYTES:
            return None
        return self.rfile.read(int(length))

    def _chunks(self) -> bytes | None:
        chunks: list[bytes] = []
        left = _BODY_LIMIT_BYTES
        for _ in range(_CHUNKS_LIMIT):
            size = self.rfile.readline(100).partition(b";")[0].strip()
            try:
                length = int(size, 16)
            except ValueError:
                return None
            if not 0 <= length <= left:
                return None
            if length == 0:
                trailers = (self.rfile.readline(10_000) for _ in range(_TRAILERS_LIMIT))
                return b"".join(chunks) if any(not line.strip() for line in trailers) else None
            chunks.append(self.rfile.read(length))
            left -= length
            self.rfile.readline(10_000)
        return None


def mock_of(
    service: Service,
    results: Mapping[str, Json] | None,
    log: CallLog,
    *,
    allows_placeholders: bool = False,
) -> McpMock | ApiMock:
    """Returns the mock of a service; `results` are those of a crawl, `None` if it was not crawled.

    With `allows_placeholders`, it takes calls as documents show them, with `<id>` for a value.
    """
    if service.kind == "openapi":
        return ApiMock(service, log=log, allows_placeholders=allows_placeholders)
    if results is None:
        results = results_from_service(service)
    return McpMock(service, results, log=log, allows_placeholders=allows_placeholders)


def url_of(service: Service, port: int) -> str:
    """Returns the URL of a mock over HTTP."""
    path = _PATH if service.kind == "mcp" else base_paths(service)[0]
    return f"http://{HOST}:{port}{path}"


@contextmanager
def serving(mock: McpMock | ApiMock, port: int = 0) -> Iterator[int]:
    """Opens a port of the loopback interface, 0 for any, and yields it; threads answer while the block runs.

    Raises:
        UsageError: the port is in use, or reserved.
    """
    try:
        server = _Server(port, StreamableHttp(mock) if isinstance(mock, McpMock) else mock)
    except OSError as error:
        what, fix = f"port {port} cannot be opened: {error.strerror}", "choose another one, or 0 for any"
        raise UsageError(what, where="--http", fix=fix) from None
    with _started(server):
        yield server.server_port


@contextmanager
def relayed(mock: McpMock) -> Iterator[tuple[str, ...]]:
    """Opens a port, and yields the command with which another program starts the mock over stdio.

    The port expects a secret first, so that a page in a browser cannot use it.
    """
    secret = secrets.token_hex(16)

    class Lines(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            if self.rfile.readline(100).strip() == secret.encode():
                serve_stdio(mock, cast(BinaryIO, self.rfile), cast(BinaryIO, self.wfile))

    class Server(_Quiet, socketserver.ThreadingTCPServer):
        daemon_threads = True

    server = Server((HOST, 0), Lines)
    with _started(server):
        yield (sys.executable, "-m", "skillgen.mock.relay", str(server.server_address[1]), secret)


@contextmanager
def _started(server: socketserver.BaseServer) -> Iterator[None]:
    """Answers in threads while the block runs."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
