"""The HTTP transports: Streamable HTTP, and HTTP+SSE (2024-11-05) for old servers.

The transports of the SDK and its dispatcher run on an event loop in a separate thread, without the typed models of its
client, so that results stay raw. Its parser rejects a complete response because of one lone surrogate or one value that
is nested too deeply, so the HTTP client repairs such responses. It also waits for a busy server, and notes the status
of each response, which the dispatcher drops.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from datetime import datetime, timezone
from typing import Any

import anyio
import httpx2
from anyio.abc import TaskStatus
from anyio.from_thread import BlockingPortal

from skillgen.model.serialization import essence_of
from skillgen.model.values import NESTING_LIMIT, Json
from skillgen.sources.http import RETRY_LIMIT, RETRY_STATUSES, WAIT_LIMIT_S, causes_of, reason_of, retry_after_s
from skillgen.sources.json_access import SOURCE_LIMIT_BYTES, text_of
from skillgen.sources.mcp import sdk
from skillgen.sources.mcp.session import ConnectionLost, Params, RpcError, parse_messages
from skillgen.text.unicode import printable

_INITIALIZE = "initialize"
_SESSION_HEADER = "mcp-session-id"
_EVENT_STREAM = "text/event-stream"
_MESSAGE_TYPES = ("application/json", _EVENT_STREAM)

_VERSION = re.compile(rb'"jsonrpc"\s*:\s*"2\.0"')
_UNUSUAL = re.compile(rb"\\u[dD][89a-fA-F]|NaN|Infinity|[0-9][eE]\+?[0-9]{3}|[0-9]{300}")
"""Surrogates, of which one may be alone, and numbers that are no JSON or become infinite."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def repaired_message(text: bytes) -> bytes:
    """Returns a message in a form that the SDK accepts; anything but one message is returned unchanged.

    U+FFFF replaces a lone surrogate: the screening removes and reports either.
    """
    try:
        is_plain = text.lstrip()[:1] == b"{" and _VERSION.search(text) is not None and text.decode() != ""
    except UnicodeDecodeError:
        is_plain = False
    may_be_deep = text.count(b"[") + text.count(b"{") > NESTING_LIMIT
    if is_plain and not may_be_deep and not _UNUSUAL.search(text):
        return text
    try:
        messages, rest = parse_messages(text)
    except ConnectionLost:
        return text
    if len(messages) != 1 or rest:
        return text
    return _SURROGATE.sub("\uffff", json.dumps({**messages[0], "jsonrpc": "2.0"}, ensure_ascii=False)).encode()


def _repaired_line(line: bytes) -> bytes:
    if not line.startswith(b"data:"):
        return line
    text = line.rstrip(b"\r\n")
    return b"data:" + repaired_message(text[5:]) + line[len(text) :]


class _Body(httpx2.AsyncByteStream):
    """The body of a response with another content."""

    def __init__(self, stream: httpx2.AsyncByteStream, content: AsyncIterator[bytes]) -> None:
        self._content = content
        self.aclose = stream.aclose  # type: ignore[method-assign]

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._content


class _LimitExceeded(Exception):
    """The server sent too much, or compressed responses."""


def error_from_transport(error: BaseException) -> ConnectionLost | RpcError:
    """Returns why a connection failed, without the messages of exceptions that may quote a header or a URL."""
    for cause in causes_of(error):
        if isinstance(cause, httpx2.HTTPStatusError):
            return _error_from_response(cause.response)
        if isinstance(cause, _LimitExceeded):
            return ConnectionLost(str(cause))
    what, fix = reason_of(error)
    return ConnectionLost(f"{what[:1].upper()}{what[1:]}.", fix=f"{fix[:1].upper()}{fix[1:]}.")


def _error_from_response(
    response: httpx2.Response, message: str = "", code: int | None = None, data: Json = None
) -> RpcError:
    """Returns an error with the status of a response, and its phrase unless there is a message."""
    status, headers = response.status_code, response.headers
    return RpcError(
        message or httpx2.codes.get_reason_phrase(status) or "unknown status",  # the response's own phrase is untrusted
        code=code,
        data=data,
        http_status=status,
        challenge=headers.get("www-authenticate"),
        retry_after=headers.get("retry-after") if status in RETRY_STATUSES else None,
    )


_CLOSE_S = 2.0
"""How long closing the session may take."""

_SETTLE_S = 1.0
"""How long to wait for the transport's error after its requests have failed."""

_GENERIC_CODES = (sdk.types.INTERNAL_ERROR, sdk.types.METHOD_NOT_FOUND)
"""Codes that the SDK sets if the body of an HTTP error is not a JSON-RPC message."""

_REQUEST_LIMIT = 1_000
"""Requests of a server, such as pings, that are answered; many at once would take memory without limit."""

_CREDENTIAL_STATUSES = (401, 403, 407)
"""Statuses for which `connect.crawl_error` has a specific fix."""


class _Client(httpx2.AsyncClient):
    """The HTTP client of a connection, which sees each request and each response.

    It retries after the `Retry-After` of a busy server: the SDK's transport for HTTP+SSE stops at the first status that
    is an error, so it must not see these responses.
    """

    def __init__(self, receive: Callable[[Json, httpx2.Response], None], timeout_s: float, **options: Any) -> None:
        # No read timeout: the session limits how long it waits for an answer.
        super().__init__(timeout=httpx2.Timeout(timeout_s, read=None), **options)
        self._receive = receive
        self._longest_wait_s = min(WAIT_LIMIT_S, timeout_s)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Sends a request, and again when a busy server accepts it."""
        # A request that follows a redirect has not been read.
        message = json.loads(await request.aread()) if request.method == "POST" else {}
        if message.get("method") == _INITIALIZE:
            request.headers.pop(_SESSION_HEADER, None)  # it opens a new session
        for retries_left in range(RETRY_LIMIT, -1, -1):
            response = await super().send(request, **options)
            wait_s = retry_after_s(response.headers.get("retry-after"), datetime.now(timezone.utc))
            is_busy = response.status_code in RETRY_STATUSES
            if not (is_busy and retries_left) or wait_s is None or wait_s > self._longest_wait_s:
                break
            await response.aclose()
            await anyio.sleep(wait_s)
        self._receive(message.get("id") if "method" in message else None, response)
        return response


class HttpConnection:
    """A connection to a server over HTTP."""

    def __init__(self, url: str, headers: tuple[tuple[str, str], ...], *, timeout_s: float, is_sse: bool) -> None:
        """Starts to connect, over HTTP+SSE if `is_sse`. Requests raise the errors of the connection."""
        self._url = url
        self._headers = [*headers, ("Accept-Encoding", "identity")]
        self._timeout_s = timeout_s
        self._is_sse = is_sse
        self._initialize: Params | None = None
        """The parameters of the last handshake."""
        self._version: str | None = None
        self._session_id: str | None = None
        self._ids = itertools.count(1)
        self._responses: dict[Json, httpx2.Response] = {}
        """The responses to requests in flight, by the ids of the requests."""
        self._bytes_left, self._requests_left = SOURCE_LIMIT_BYTES, _REQUEST_LIMIT
        self._refusal = ""
        """Why no further bytes are accepted; empty while they are."""
        self._lost: Exception | None = None
        self._has_event_stream = False
        """Whether the server opened the event stream of HTTP+SSE."""
        self._started = threading.Event()
        threading.Thread(target=anyio.run, args=(self._serve,), name="skillgen-http").start()
        self._started.wait()

    def send(self, method: str, params: Params | None) -> Future[Json]:
        """Sends a request; never blocks."""
        return self._submit(self._request, method, params)

    def notify(self, method: str, params: Params | None) -> None:
        """Sends a notification."""
        self._submit(self._notify, method, params)

    def close(self) -> None:
        """Closes the session in the background."""
        self._submit(self._end, _CLOSE_S)

    def kill(self) -> None:
        """Drops the connection without closing the session."""
        self._submit(self._end, 0.0)

    def symptoms(self) -> str:
        """Returns what the server did over HTTP+SSE; empty if it does not have that transport."""
        if not self._has_event_stream:
            return ""
        flaw = "" if self._ready.is_set() else " and named no endpoint of the same origin as the URL"
        return f"It opened an event stream (HTTP+SSE){flaw}."

    def _submit(self, function: Callable[..., Awaitable[Json]], *arguments: Any) -> Future[Json]:
        try:
            return self._portal.start_task_soon(function, *arguments)
        except RuntimeError:
            future: Future[Json] = Future()
            future.set_exception(ConnectionLost("The connection is closed."))
            return future

    async def _end(self, seconds: float) -> None:
        self._closing.set()
        self._finished.set()
        # Without a connection there is no session to close.
        self._scope.deadline = anyio.current_time() + (seconds if self._ready.is_set() else 0.0)

    async def _serve(self) -> None:
        """Runs until the connection is closed, even if it is lost before: requests raise the reason."""
        self._ready, self._finished, self._settled, self._closing = (anyio.Event() for _ in range(4))
        self._renewing, self._scope = anyio.Lock(), anyio.CancelScope()
        async with BlockingPortal() as self._portal:
            self._started.set()
            try:
                await self._run_transport()
            except Exception as error:
                await self._on_failure(error)
            closed = ConnectionLost("The server closed the connection.", fix="Check the server's log.")
            self._lost = self._lost or closed
            self._settled.set()
            self._ready.set()
            await self._closing.wait()
            await self._portal.stop(cancel_remaining=True)

    async def _run_transport(self) -> None:
        with self._scope:
            async with self._transport() as (read, write), anyio.create_task_group() as tasks:
                self._dispatcher = sdk.JSONRPCDispatcher(read, write, on_stream_exception=self._on_failure)
                await tasks.start(self._dispatch)
                self._ready.set()
                await self._finished.wait()
                tasks.cancel_scope.cancel()

    async def _dispatch(self, *, task_status: TaskStatus[None]) -> None:
        await self._dispatcher.run(self._answer_server_request, _ignore_notification, task_status=task_status)
        self._finished.set()

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        client = _Client(self._receive, self._timeout_s, headers=self._headers)
        if self._is_sse:
            async with sdk.sse_client(
                self._url, httpx_client_factory=lambda headers=None, timeout=None, auth=None: client
            ) as streams:
                yield streams
        else:
            transport = sdk.streamable_http_client(self._url, http_client=client, max_sse_event_size=SOURCE_LIMIT_BYTES)
            async with client, transport as streams:
                yield streams

    async def _on_failure(self, error: Exception) -> None:
        self._lost = self._lost or error_from_transport(error)

    async def _request(self, method: str, params: Params | None) -> Json:
        """Sends a request; once more in a new session if its own has ended (2025-03-26, "Session Management")."""
        await self._ready.wait()
        session_id = self._session_id
        try:
            return await self._answer(method, params)
        except RpcError as error:
            is_ended = session_id is not None and error.http_status == 404 and error.code != sdk.types.METHOD_NOT_FOUND
            if not is_ended or method == _INITIALIZE:
                raise
        async with self._renewing:
            if self._session_id == session_id:
                await self._answer(_INITIALIZE, self._initialize)
                await self._notify("notifications/initialized", None)
        return await self._answer(method, params)

    async def _answer(self, method: str, params: Params | None) -> Json:
        if self._lost is not None:
            raise self._lost
        request_id = next(self._ids)
        options: Any = {"request_id": request_id, "headers": self._headers_for(method, params)}
        try:
            result = await self._dispatcher.send_raw_request(method, params, options)
        except sdk.MCPError as error:
            raise await self._failure(error, self._responses.get(request_id)) from None
        finally:
            response = self._responses.pop(request_id, None)
        if method == _INITIALIZE:
            self._initialize, self._version = params, text_of(result, "protocolVersion")
            self._session_id = None if response is None else response.headers.get(_SESSION_HEADER)
        return result

    async def _notify(self, method: str, params: Params | None) -> None:
        await self._ready.wait()
        if self._lost is None:
            await self._dispatcher.notify(method, params, {"headers": self._headers_for(method, params)})

    def _headers_for(self, method: str, params: Params | None) -> dict[str, str]:
        """Returns the headers of a request; 2026-07-28 requires its version, method and name there as well."""
        params = params or {}
        version = text_of(params.get("_meta"), sdk.types.PROTOCOL_VERSION_META_KEY)
        if version is None:
            return {sdk.inbound.MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version else {}
        headers = {sdk.inbound.MCP_PROTOCOL_VERSION_HEADER: version, sdk.inbound.MCP_METHOD_HEADER: method}
        if name := text_of(params, sdk.inbound.NAME_BEARING_METHODS.get(method, "")):
            headers[sdk.inbound.MCP_NAME_HEADER] = sdk.inbound.encode_header_value(name)
        return headers

    async def _failure(self, error: sdk.MCPError, response: httpx2.Response | None) -> Exception:
        if self._refusal:
            return ConnectionLost(self._refusal)
        if error.code == sdk.types.CONNECTION_CLOSED and error.message == "Connection closed":
            # Either the server closed the connection, or the transport failed and sets the reason.
            with anyio.move_on_after(_SETTLE_S):
                await self._settled.wait()
            if self._lost is not None:
                return self._lost
        message = "The response is not a JSON-RPC message." if error.code == sdk.types.PARSE_ERROR else error.message
        if response is None:
            return RpcError(message, code=error.code, data=error.data)
        kind = essence_of(response.headers.get("content-type", ""))
        if response.status_code < 300 and kind not in _MESSAGE_TYPES and not self._is_sse:
            shown = printable(kind, 60) or "empty, or of no media type"
            fix = "Check the path of the URL."
            return ConnectionLost(f"No MCP server answers here: the response is {shown}.", fix=fix)
        if response.is_error and error.code in _GENERIC_CODES:
            message = ""
        return _error_from_response(response, message, error.code, error.data)

    def _receive(self, request_id: Json, response: httpx2.Response) -> None:
        """Notes the response to a request, and has its body counted and repaired."""
        if request_id is not None:
            self._responses[request_id] = response
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            # It may expand a thousandfold, and the request excludes it.
            self._refusal = "It sends compressed responses, although the request allows only `identity`."
        is_event_stream = essence_of(response.headers.get("content-type", "")) == _EVENT_STREAM
        self._has_event_stream |= self._is_sse and response.is_success and is_event_stream
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Body(response.stream, self._content(response.stream, is_event_stream))
        if self._is_sse and response.is_error and request_id is not None:  # the SDK reports no rejected message
            error = _error_from_response(response)
            self._lost = error
            if self._has_event_stream and error.http_status not in _CREDENTIAL_STATUSES and error.retry_after is None:
                what = f"The event stream names an endpoint that answers HTTP {error.http_status} ({error})."
                fix = "Check the server's log, or ask its operator for a URL of Streamable HTTP."
                self._lost = ConnectionLost(what, fix=fix)
            self._finished.set()

    async def _content(self, stream: httpx2.AsyncByteStream, is_event_stream: bool) -> AsyncIterator[bytes]:
        parts: list[bytes] = []
        async for chunk in stream:
            self._bytes_left -= len(chunk)
            if self._bytes_left < 0 and not self._refusal:
                self._refusal = f"It sent more than {SOURCE_LIMIT_BYTES // 2**20} MiB, the limit of a crawl."
            if self._refusal:
                raise _LimitExceeded(self._refusal)
            parts.append(chunk)
            if is_event_stream and (b"\n" in chunk or b"\r" in chunk):
                lines = b"".join(parts).splitlines(keepends=True)
                parts = [] if chunk.endswith((b"\n", b"\r")) else [lines.pop()]
                yield b"".join(map(_repaired_line, lines))
        rest = b"".join(parts)
        yield _repaired_line(rest) if is_event_stream else repaired_message(rest)

    async def _answer_server_request(self, context: object, method: str, params: Params | None) -> dict[str, Any]:
        """Answers a request of the server: skillgen offers no method. Each answer is a request of its own."""
        self._requests_left -= 1
        if self._requests_left < 0:
            self._refusal = self._refusal or f"It sent more than {_REQUEST_LIMIT:,} requests."
        if method == "ping":
            return {}
        raise sdk.MCPError(sdk.types.METHOD_NOT_FOUND, "skillgen answers no requests of servers")


async def _ignore_notification(context: object, method: str, params: Params | None) -> None:
    """Ignores a notification of the server."""
