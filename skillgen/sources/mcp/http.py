"""The HTTP transports: Streamable HTTP, and HTTP+SSE (2024-11-05) for old servers.

The transports of the SDK run on an event loop in a separate thread, without the typed models of its client, so that
results stay raw. Its parser rejects a complete response because of one lone surrogate or one value that is nested more
than 200 levels deep, and takes ten times the memory of the response. So results are parsed here, as over stdio, and the
SDK receives a placeholder instead.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from datetime import datetime, timezone
from http import HTTPStatus
from typing import Any

import anyio
import httpx2
from anyio.abc import TaskStatus
from msgspec import Struct

from skillgen.model.values import Json
from skillgen.sources.http import RETRY_LIMIT, RETRY_STATUSES, WAIT_LIMIT_S, retry_after_s
from skillgen.sources.json_access import SOURCE_LIMIT_BYTES, text_of
from skillgen.sources.mcp.jsonrpc import ConnectionLost, Params, RpcError, is_utf8, parse_messages
from skillgen.sources.mcp.sdk import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    METHOD_NOT_FOUND,
    NAME_BEARING_METHODS,
    PARSE_ERROR,
    PROTOCOL_VERSION_META_KEY,
    CallOptions,
    JSONRPCDispatcher,
    MCPError,
    encode_header_value,
    sse_client,
    streamable_http_client,
)
from skillgen.text.unicode import printable

_PLACEHOLDER = "skillgen/result"
_INITIALIZE = "initialize"
_SESSION_HEADER = "mcp-session-id"
_MESSAGE = "application/json"
_EVENT_STREAM = "text/event-stream"
_DATA = b"data:"


class _ResultStore:
    """Parsed results, until the SDK returns their placeholders to the requests that they answer."""

    def __init__(self) -> None:
        self.has_replaced_bytes = False
        self._results: dict[str, Json] = {}
        self._count = 0

    def pop(self, result: Json) -> Json:
        """Returns the result of a placeholder; anything else is returned unchanged."""
        key = result.get(_PLACEHOLDER) if isinstance(result, dict) else None
        return self._results.pop(key, result) if isinstance(key, str) else result

    def replace_in(self, chunks: AsyncIterator[bytes], content_type: str) -> AsyncIterator[bytes]:
        """Returns the body of a response with placeholders instead of results."""
        if content_type == _EVENT_STREAM:
            return self._replace_in_events(chunks)
        return self._replace_in_body(chunks) if content_type == _MESSAGE else chunks

    async def _replace_in_body(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        yield self._replace(b"".join([chunk async for chunk in chunks]))

    async def _replace_in_events(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        parts: list[bytes] = []
        async for chunk in chunks:
            parts.append(chunk)
            if b"\n" in chunk:
                *lines, rest = b"".join(parts).split(b"\n")
                yield b"".join(self._replace_in_line(line) + b"\n" for line in lines)
                parts = [rest]
            elif b"\r" in chunk:  # also a line break; the SDK then parses the results
                yield b"".join(parts)
                parts = []
        yield b"".join(parts)

    def _replace_in_line(self, line: bytes) -> bytes:
        return _DATA + b" " + self._replace(line[len(_DATA) :].strip()) if line.startswith(_DATA) else line

    def _replace(self, text: bytes) -> bytes:
        """Replaces the result of a message by a placeholder; anything but one message is returned unchanged."""
        try:
            messages, rest = parse_messages(text)
        except ConnectionLost:
            return text
        if len(messages) != 1 or rest or not isinstance(messages[0].get("result"), dict):
            return text
        self.has_replaced_bytes |= not is_utf8(text)
        self._count += 1
        key = str(self._count)
        self._results[key] = messages[0]["result"]
        return json.dumps({"jsonrpc": "2.0", "id": messages[0].get("id"), "result": {_PLACEHOLDER: key}}).encode()


class _Stream(httpx2.AsyncByteStream):
    """The stream of a response with another content."""

    def __init__(self, stream: httpx2.AsyncByteStream, content: AsyncIterator[bytes]) -> None:
        self._stream = stream
        self._content = content

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._content

    async def aclose(self) -> None:
        await self._stream.aclose()


_CHECK_URL = "Check the URL, and whether the server is running."


class _LimitExceeded(Exception):
    """The server sent too much, or compressed responses."""


class ByteBudget:
    """The number of bytes that a server may still send in all responses."""

    def __init__(self, total_bytes: int) -> None:
        self._total_bytes = self._left_bytes = total_bytes
        self.refusal = ""
        """Why no further bytes are accepted; empty while they are."""

    async def count(self, chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        """Yields the chunks of a body; raises when the budget is exhausted."""
        async for chunk in chunks:
            self._left_bytes -= len(chunk)
            if self._left_bytes < 0 and not self.refusal:
                self.refusal = f"It sent more than {self._total_bytes // 2**20} MiB, the limit of a crawl."
            if self.refusal:
                raise _LimitExceeded(self.refusal)
            yield chunk


def error_from_transport(error: BaseException) -> ConnectionLost | RpcError:
    """Returns why a connection failed, without the messages of exceptions that may quote a header or a URL."""
    causes = list(causes_of(error))
    for cause in causes:
        if isinstance(cause, httpx2.HTTPStatusError):
            response = cause.response
            challenge = response.headers.get("www-authenticate")
            phrase = httpx2.codes.get_reason_phrase(response.status_code)  # the phrase of the response is untrusted
            return RpcError(phrase, http_status=response.status_code, challenge=challenge)
    for cause in causes:
        if isinstance(cause, _LimitExceeded):
            return ConnectionLost(str(cause))
        for kind, what, fix in _CAUSES:
            if isinstance(cause, kind):
                detail = getattr(cause, "verify_message", None) or getattr(cause, "reason", None)
                return ConnectionLost(what.format(detail=f" ({detail})" if isinstance(detail, str) else ""), fix=fix)
    return ConnectionLost(f"The connection failed ({type(causes[0]).__name__}).", fix=_CHECK_URL)


# In order of precision: exceptions of the library are often caused by those of the system.
_CAUSES: tuple[tuple[type[BaseException], str, str | None], ...] = (
    (
        ssl.SSLCertVerificationError,
        "The server's certificate is not trusted{detail}.",
        "Name your certificate authority with SSL_CERT_FILE.",
    ),
    (ssl.SSLError, "TLS fails{detail}.", "Check whether the URL must begin with https:// or http://."),
    (socket.gaierror, "The host name is not known.", "Check the URL, and the network."),
    (ConnectionRefusedError, "The connection is refused.", _CHECK_URL),
    (httpx2.ConnectTimeout, "The host does not answer.", _CHECK_URL),
    (httpx2.ProxyError, "The proxy refuses.", "Check HTTPS_PROXY and NO_PROXY."),
    (httpx2.UnsupportedProtocol, "The URL is not an HTTP URL.", "Give a URL that begins with https:// or http://."),
    (httpx2.InvalidURL, "The URL is invalid.", "Give a URL that begins with https:// or http://."),
    (httpx2.LocalProtocolError, "A header is invalid.", "Check --header."),
    (UnicodeEncodeError, "A header contains a character that is not ASCII.", "Check --header."),
    (httpx2.SSEError, "The response is not an event stream.", "Check the path of the URL."),
    (httpx2.RemoteProtocolError, "The server closed the connection unexpectedly.", "Check the server's log."),
    (httpx2.NetworkError, "The connection was interrupted.", _CHECK_URL),
)


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Returns the exceptions of groups and chains, the innermost first."""
    seen: list[BaseException] = []
    pending = [error]
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.append(current)
        pending.extend(getattr(current, "exceptions", ()))
        pending.extend(cause for cause in (current.__cause__, current.__context__) if cause is not None)
    return reversed(seen)


_CLOSE_S = 2.0
"""How long closing the session may take."""

_SETTLE_S = 1.0
"""How long to wait for the transport's error after its requests have failed."""

_GENERIC_CODES = (INTERNAL_ERROR, METHOD_NOT_FOUND)
"""Codes that the SDK sets if the body of an HTTP error is not a JSON-RPC message."""

_MESSAGE_TYPES = ("application/json", _EVENT_STREAM)

_CREDENTIAL_STATUSES = (401, 403, 407)
"""Statuses for which `connect.crawl_error` has a specific fix."""


class _Exchange(Struct):
    """The status and headers of the response to one request, which the dispatcher drops."""

    status: int | None = None
    session_id: str | None = None
    """The session of the request."""

    content_type: str = ""
    challenge: str | None = None
    retry_after: str | None = None


_exchange: ContextVar[_Exchange | None] = ContextVar("_exchange", default=None)
"""The exchange of the request that is being sent: the transports run each request in its sender's context."""


class _RetryingClient(httpx2.AsyncClient):
    """A client that retries after the `Retry-After` of a busy server.

    The SDK's transport for HTTP+SSE stops at the first status that is an error, so it must not see these responses.
    """

    def __init__(self, connection: HttpConnection, **options: Any) -> None:
        super().__init__(**options)
        self._connection = connection

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Sends a request, not before a busy server accepts requests again."""
        if request.method == "POST" and json.loads(request.content).get("method") == _INITIALIZE:
            request.headers.pop(_SESSION_HEADER, None)  # it opens a new session
        for retries_left in range(RETRY_LIMIT, -1, -1):
            await self._connection.wait_until_resumed()
            response = await super().send(request, **options)
            if not retries_left or not self._connection.schedule_retry(response):
                break
            await response.aclose()
        if response.is_error:
            self._connection.end_after_error()
        return response


class HttpConnection:
    """A connection to a server over HTTP."""

    def __init__(self, url: str, headers: tuple[tuple[str, str], ...], *, timeout_s: float, is_sse: bool) -> None:
        """Starts to connect, over HTTP+SSE if `is_sse`. Requests raise the errors of the connection."""
        self._url = url
        self._headers = [*headers, ("Accept-Encoding", "identity")]
        self._timeout_s = timeout_s
        self._is_sse = is_sse
        self._version: str | None = None
        self._session_id: str | None = None
        self._initialize_params: Params | None = None
        self._renewing = asyncio.Lock()
        self._budget = ByteBudget(SOURCE_LIMIT_BYTES)
        self._results = _ResultStore()
        self._lost: Exception | None = None
        self._resume_at = 0.0
        """When a busy server accepts requests again, by the clock of the event loop."""
        self._waited_s = 0.0
        self._has_event_stream = False
        """Whether the server opened the event stream of HTTP+SSE."""
        self._scope: anyio.CancelScope | None = None
        self._loop = asyncio.new_event_loop()
        self._ready, self._finished, self._settled, self._closing = (asyncio.Event() for _ in range(4))
        threading.Thread(target=self._run, name="skillgen-http").start()

    @property
    def has_replaced_bytes(self) -> bool:
        """True if bytes of a message were not UTF-8."""
        return self._results.has_replaced_bytes

    def send(self, method: str, params: Params | None) -> Future[Json]:
        """Sends a request; never blocks."""
        return self._submit(self._request(method, params))

    def notify(self, method: str, params: Params | None) -> None:
        """Sends a notification."""
        self._submit(self._notify(method, params))

    def close(self) -> None:
        """Closes the session in the background."""
        self._call(self._end, _CLOSE_S)

    def kill(self) -> None:
        """Drops the connection without closing the session."""
        self._call(self._end, 0.0)

    def symptoms(self) -> str:
        """Returns what the server did over HTTP+SSE; empty if it does not have that transport."""
        if not self._has_event_stream:
            return ""
        return "It opened an event stream (HTTP+SSE)" + (
            "." if self._ready.is_set() else " and named no endpoint of the same origin as the URL."
        )

    def _submit(self, coroutine: Coroutine[Any, Any, Json]) -> Future[Json]:
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError:
            coroutine.close()
            future: Future[Json] = Future()
            future.set_exception(ConnectionLost("The connection is closed."))
            return future

    def _call(self, function: Callable[[float], None], seconds: float) -> None:
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, seconds)

    def _end(self, seconds: float) -> None:
        self._closing.set()
        self._finished.set()
        if self._scope is not None:
            # Without a connection there is no session to close.
            self._scope.deadline = anyio.current_time() + (seconds if self._ready.is_set() else 0.0)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        """Runs until the connection is closed, even if it is lost before: requests raise the reason."""
        try:
            await self._run_transport()
        except Exception as error:
            self._lost = self._lost or error_from_transport(error)
        self._lost = self._lost or ConnectionLost("The server closed the connection.", fix="Check the server's log.")
        self._settled.set()
        self._ready.set()
        await self._closing.wait()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _run_transport(self) -> None:
        if self._closing.is_set():
            return
        with anyio.CancelScope() as self._scope:
            async with self._transport() as (read, write), anyio.create_task_group() as tasks:
                self._dispatcher: JSONRPCDispatcher = JSONRPCDispatcher(
                    read, write, on_stream_exception=self._on_failure
                )
                await tasks.start(self._dispatch)
                self._ready.set()
                await self._finished.wait()
                tasks.cancel_scope.cancel()

    async def _dispatch(self, *, task_status: TaskStatus[None]) -> None:
        await self._dispatcher.run(_answer_server_request, _ignore_notification, task_status=task_status)
        self._finished.set()

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        client = _RetryingClient(
            self,
            headers=self._headers,
            # No read timeout: the session limits how long it waits for an answer.
            timeout=httpx2.Timeout(self._timeout_s, read=None),
            event_hooks={"response": [self._on_response]},
        )
        if self._is_sse:
            async with sse_client(
                self._url, httpx_client_factory=lambda headers=None, timeout=None, auth=None: client
            ) as streams:
                yield streams
        else:
            transport = streamable_http_client(self._url, http_client=client, max_sse_event_size=SOURCE_LIMIT_BYTES)
            async with client, transport as streams:
                yield streams

    async def _on_response(self, response: httpx2.Response) -> None:
        content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        response.stream = _Stream(stream, self._results.replace_in(self._budget.count(stream), content_type))
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            # It may expand a thousandfold, and the request excludes it.
            self._budget.refusal = "It sends compressed responses, although the request allows only `identity`."
        if self._is_sse and response.is_success and content_type == _EVENT_STREAM:
            self._has_event_stream = True
        if (exchange := _exchange.get()) is None:
            return
        self._session_id = response.headers.get(_SESSION_HEADER, self._session_id)
        exchange.session_id = response.request.headers.get(_SESSION_HEADER)
        exchange.status = response.status_code
        exchange.content_type = content_type
        exchange.challenge = response.headers.get("www-authenticate")
        exchange.retry_after = response.headers.get("retry-after") if exchange.status in RETRY_STATUSES else None

    async def _on_failure(self, error: Exception) -> None:
        self._lost = self._lost or error_from_transport(error)

    async def _request(self, method: str, params: Params | None) -> Json:
        """Sends a request; once more in a new session if its own has ended (2025-03-26, "Session Management")."""
        await self._ready.wait()
        exchange = _Exchange()
        try:
            return await self._answer(method, params, exchange)
        except RpcError as error:
            is_ended = error.http_status == 404 and error.code != METHOD_NOT_FOUND and exchange.session_id is not None
            if not is_ended or method == _INITIALIZE:
                raise
        async with self._renewing:
            if self._session_id == exchange.session_id:
                await self._answer(_INITIALIZE, self._initialize_params, _Exchange())
                await self._notify("notifications/initialized", None)
        return await self._answer(method, params, _Exchange())

    async def _answer(self, method: str, params: Params | None, exchange: _Exchange) -> Json:
        if self._lost is not None:
            raise self._lost
        _exchange.set(exchange)
        try:
            answer = await self._dispatcher.send_raw_request(method, params, self._options(method, params))
        except MCPError as error:
            raise await self._failure(error, exchange) from None
        result = self._results.pop(answer)
        if method == _INITIALIZE:
            self._initialize_params = params
            self._version = text_of(result, "protocolVersion")
        return result

    def schedule_retry(self, response: httpx2.Response) -> bool:
        """True if the request is sent again; all requests then wait for the `Retry-After` of the response."""
        if response.status_code not in RETRY_STATUSES:
            return False
        retry_after = response.headers.get("retry-after")
        wait_s, now = retry_after_s(retry_after, datetime.now(timezone.utc)), self._loop.time()
        if wait_s is None:
            return False
        more_s = max(0.0, now + wait_s - max(self._resume_at, now))
        if self._waited_s + more_s > min(WAIT_LIMIT_S, self._timeout_s):
            return False
        self._waited_s += more_s
        self._resume_at = max(self._resume_at, now + wait_s)
        return True

    async def wait_until_resumed(self) -> None:
        """Waits until a busy server accepts requests again."""
        while (left_s := self._resume_at - self._loop.time()) > 0:
            await anyio.sleep(left_s)

    def end_after_error(self) -> None:
        """Closes a connection over HTTP+SSE if the endpoint rejects a message, which the SDK does not report."""
        if not self._is_sse or (exchange := _exchange.get()) is None:
            return
        self._lost = _error_from_status(exchange)
        if self._has_event_stream and exchange.status not in _CREDENTIAL_STATUSES and exchange.retry_after is None:
            self._lost = ConnectionLost(
                f"The event stream names an endpoint that answers HTTP {exchange.status} ({self._lost}).",
                fix="Check the server's log, or ask its operator for a URL of Streamable HTTP.",
            )
        self._finished.set()

    async def _notify(self, method: str, params: Params | None) -> None:
        await self._ready.wait()
        if self._lost is None:
            await self._dispatcher.notify(method, params, self._options(method, params))

    def _options(self, method: str, params: Params | None) -> CallOptions:
        """Returns the headers of a request; 2026-07-28 requires its version, method and name there as well."""
        params = params or {}
        version = text_of(params.get("_meta"), PROTOCOL_VERSION_META_KEY)
        if version is None:
            return {"headers": {MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version else {}}
        headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: method}
        if name := text_of(params, NAME_BEARING_METHODS.get(method, "")):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
        return {"headers": headers}

    async def _failure(self, error: MCPError, exchange: _Exchange) -> Exception:
        if self._budget.refusal:
            return ConnectionLost(self._budget.refusal)
        if error.code == CONNECTION_CLOSED and error.message == "Connection closed":
            # Either the server closed the connection, or the transport failed and sets the reason.
            with anyio.move_on_after(_SETTLE_S):
                await self._settled.wait()
            if self._lost is not None:
                return self._lost
        status = exchange.status
        if status is not None and status < 300 and exchange.content_type not in _MESSAGE_TYPES and not self._is_sse:
            kind = printable(exchange.content_type, 60) or "empty, or of no media type"
            return ConnectionLost(
                f"No MCP server answers here: the response is {kind}.", fix="Check the path of the URL."
            )
        if status is not None and status >= 400 and error.code in _GENERIC_CODES:
            return _error_from_status(exchange, code=error.code)
        message = "The response is not a JSON-RPC message." if error.code == PARSE_ERROR else error.message
        challenge = exchange.challenge
        return RpcError(
            message,
            code=error.code,
            data=error.data,
            http_status=status,
            challenge=challenge,
            retry_after=exchange.retry_after,
        )


def _error_from_status(exchange: _Exchange, code: int | None = None) -> RpcError:
    status = exchange.status or 0
    phrase = HTTPStatus(status).phrase if status in HTTPStatus.__members__.values() else "unknown status"
    return RpcError(
        phrase, code=code, http_status=status, challenge=exchange.challenge, retry_after=exchange.retry_after
    )


async def _answer_server_request(context: object, method: str, params: Params | None) -> dict[str, Any]:
    """Answers a request of the server: skillgen offers no method."""
    if method == "ping":
        return {}
    raise MCPError(METHOD_NOT_FOUND, "skillgen answers no requests of servers")


async def _ignore_notification(context: object, method: str, params: Params | None) -> None:
    """Ignores a notification of the server."""
