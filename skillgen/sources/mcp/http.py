"""Streamable HTTP and SSE over the SDK.

Reads what comes over HTTP as what comes over stdio is read, before the SDK does.

The SDK's parser refuses a whole answer for one lone surrogate or one part that is nested more than 200 levels deep, and
takes ten times the memory of its text. So a result is read here and kept, and the SDK gets a note in its place that
says which it was.

Why HTTP failed: one sentence from whatever groups and chains of exceptions a transport raises.

A connection to an MCP server over HTTP: Streamable HTTP, or HTTP+SSE (2024-11-05) for old servers.

The SDK's transports run on an event loop in a thread of its own, and below the typed models of its client, so that
results stay raw.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timezone
from http import HTTPStatus
from typing import Any

import anyio
import httpx2
from anyio.abc import TaskStatus

from skillgen.model.values import Json
from skillgen.sources.http import RETRY_LIMIT, RETRY_STATUSES, WAIT_LIMIT_S, retry_after_s
from skillgen.sources.json_access import SOURCE_LIMIT_BYTES, text_of
from skillgen.sources.mcp.jsonrpc import ConnectionLost, Params, RpcError, parse_messages
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

_NOTE = "skillgen/kept"
_MESSAGE = "application/json"
_EVENT_STREAM = "text/event-stream"
_DATA = b"data:"


class KeptResults:
    """The results that were read and wait for the request that they answer."""

    def __init__(self) -> None:
        self._results: dict[str, Json] = {}
        self._count = 0

    def taken(self, result: Json) -> Json:
        """Gives the result that a note stands for; what is no note is the result itself."""
        note = result.get(_NOTE) if isinstance(result, dict) else None
        return self._results.pop(note, result) if isinstance(note, str) else result

    def watch(self, stream: object, content_type: str) -> httpx2.AsyncByteStream:
        """Gives a response's stream, in which notes stand for results."""
        assert isinstance(stream, httpx2.AsyncByteStream)
        if content_type == _EVENT_STREAM:
            return _Noted(stream, self._noted_events(stream))
        return _Noted(stream, self._noted_body(stream)) if content_type == _MESSAGE else stream

    async def _noted_body(self, chunks: httpx2.AsyncByteStream) -> AsyncIterator[bytes]:
        yield self._noted(b"".join([chunk async for chunk in chunks]))

    async def _noted_events(self, chunks: httpx2.AsyncByteStream) -> AsyncIterator[bytes]:
        parts: list[bytes] = []
        async for chunk in chunks:
            parts.append(chunk)
            if b"\n" in chunk:
                *lines, rest = b"".join(parts).split(b"\n")
                yield b"".join(self._noted_event(line) + b"\n" for line in lines)
                parts = [rest]
            elif b"\r" in chunk:  # lines may end so too, and then none is looked at
                yield b"".join(parts)
                parts = []
        yield b"".join(parts)

    def _noted_event(self, line: bytes) -> bytes:
        return _DATA + b" " + self._noted(line[len(_DATA) :].strip()) if line.startswith(_DATA) else line

    def _noted(self, text: bytes) -> bytes:
        """Gives a message with a note for its result; what is none, or several, as it stands."""
        try:
            messages, rest = parse_messages(text)
        except ConnectionLost:
            return text
        if len(messages) != 1 or rest or not isinstance(messages[0].get("result"), dict):
            return text
        self._count += 1
        note = str(self._count)
        self._results[note] = messages[0]["result"]
        return json.dumps({"jsonrpc": "2.0", "id": messages[0].get("id"), "result": {_NOTE: note}}).encode()


class _Noted(httpx2.AsyncByteStream):
    """The body of a response, as it is passed on."""

    def __init__(self, stream: httpx2.AsyncByteStream, content: AsyncIterator[bytes]) -> None:
        self._stream = stream
        self._content = content

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._content

    async def aclose(self) -> None:
        await self._stream.aclose()


_CHECK_URL = "Check the URL, and whether the server is running."


class _TooMuch(Exception):
    """A server sends without end."""


class ByteBudget:
    """How much a server may still send, over all responses."""

    def __init__(self, total_bytes: int) -> None:
        self._total_bytes = self._left_bytes = total_bytes
        self.refusal = ""
        """Why nothing more may come; empty while it may."""

    def watch(self, stream: object) -> httpx2.AsyncByteStream:
        """Gives a response's stream, which fails once too much has come."""
        assert isinstance(stream, httpx2.AsyncByteStream)
        return _Watched(stream, self)

    def refuse(self, why: str) -> None:
        """Lets nothing more come, and says why."""
        self.refusal = why

    def spend(self, count: int) -> None:
        """Counts bytes that came."""
        self._left_bytes -= count
        if self._left_bytes < 0:
            self.refusal = (
                self.refusal or f"It sent more than skillgen reads, which is {self._total_bytes // 2**20} MiB."
            )
        if self.refusal:
            raise _TooMuch(self.refusal)


class _Watched(httpx2.AsyncByteStream):
    """The body of a response while it is counted."""

    def __init__(self, stream: httpx2.AsyncByteStream, budget: ByteBudget) -> None:
        self._stream = stream
        self._budget = budget

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._budget.spend(len(chunk))
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def error_from_transport(error: BaseException) -> ConnectionLost | RpcError:
    """Tells why a connection is lost. The texts of exceptions are left out where they may quote a header or a URL."""
    causes = list(causes_of(error))
    for cause in causes:
        if isinstance(cause, httpx2.HTTPStatusError):
            response = cause.response
            challenge = response.headers.get("www-authenticate")
            phrase = httpx2.codes.get_reason_phrase(response.status_code)  # the answer's own may say anything
            return RpcError(phrase, http_status=response.status_code, challenge=challenge)
    for cause in causes:
        if described := _described(cause):
            return ConnectionLost(described[0], fix=described[1])
    return ConnectionLost(f"The connection failed ({type(causes[-1]).__name__}).", fix=_CHECK_URL)


def _described(cause: BaseException) -> tuple[str, str | None] | None:
    if isinstance(cause, _TooMuch):
        return str(cause), None
    for kind, what, fix in _KINDS:
        if isinstance(cause, kind):
            detail = getattr(cause, "verify_message", None) or getattr(cause, "reason", None)
            return what.format(detail=f" ({detail})" if isinstance(detail, str) else ""), fix
    return None


# The most telling first: what a library raises is often the consequence of what the system said.
_KINDS: tuple[tuple[type[BaseException], str, str | None], ...] = (
    (
        ssl.SSLCertVerificationError,
        "The server's certificate is not trusted{detail}.",
        "Name your certificate authority with SSL_CERT_FILE.",
    ),
    (ssl.SSLError, "TLS fails{detail}.", "Check whether the URL begins with https:// or http://."),
    (socket.gaierror, "The host name is not known.", "Check the URL, and the network."),
    (ConnectionRefusedError, "The connection is refused.", _CHECK_URL),
    (httpx2.ConnectTimeout, "The host does not answer.", _CHECK_URL),
    (httpx2.ProxyError, "The proxy refuses.", "Check HTTPS_PROXY and NO_PROXY."),
    (httpx2.UnsupportedProtocol, "The URL is none of HTTP.", "Give a URL that begins with https:// or http://."),
    (httpx2.InvalidURL, "The URL makes no sense.", "Give a URL that begins with https:// or http://."),
    (httpx2.LocalProtocolError, "A header cannot be sent as it is.", "Check --header."),
    (UnicodeEncodeError, "A header cannot be sent as it is.", "Check --header: HTTP wants ASCII."),
    (httpx2.SSEError, "The answer is no stream of events.", "Check the path of the URL."),
    (httpx2.RemoteProtocolError, "The server broke the connection off.", "Look into the server's own log."),
    (httpx2.NetworkError, "The connection broke off.", _CHECK_URL),
)


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Gives the exceptions of groups and chains, the innermost first."""
    seen: list[BaseException] = []
    waiting = [error]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.append(current)
        waiting.extend(getattr(current, "exceptions", ()))
        waiting.extend(cause for cause in (current.__cause__, current.__context__) if cause is not None)
    return reversed(seen)


_CLOSE_S = 2.0
"""How long a server may take to hear that the session is over."""

_SETTLE_S = 1.0
"""How long the transport may take to tell why it failed, once the requests on it have."""

_STAND_INS = (INTERNAL_ERROR, METHOD_NOT_FOUND)
"""What the SDK makes of an HTTP status whose body says nothing."""

_MESSAGE_TYPES = ("application/json", _EVENT_STREAM)

_OF_CREDENTIALS = (401, 403, 407)
"""Statuses with advice of their own."""


@dataclass(slots=True)
class _Exchange:
    """What HTTP said to one request; the dispatcher keeps none of it."""

    status: int | None = None
    content_type: str = ""
    challenge: str | None = None
    retry_after: str | None = None


_exchange: ContextVar[_Exchange | None] = ContextVar("_exchange", default=None)
"""The exchange of the request that is being sent: the transports run each request in its sender's context."""


class _PatientClient(httpx2.AsyncClient):
    """A client that sends a request again when a busy server says when.

    It does so below the SDK, whose transport of HTTP+SSE ends with the first status that is an error.
    """

    def __init__(
        self,
        may_be_repeated: Callable[[httpx2.Response], bool],
        resumed: Callable[[], Awaitable[None]],
        after_refusal: Callable[[], None],
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._may_be_repeated = may_be_repeated
        self._resumed = resumed
        self._after_refusal = after_refusal

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Sends a request, at the time from which the server takes any."""
        for _ in range(RETRY_LIMIT):
            await self._resumed()
            response = await super().send(request, **options)
            if not self._may_be_repeated(response):
                break
            await response.aclose()
        else:
            await self._resumed()
            response = await super().send(request, **options)
        if response.is_error:
            self._after_refusal()
        return response


class HttpConnection:
    """A connection to a server over HTTP."""

    def __init__(self, url: str, headers: tuple[tuple[str, str], ...], *, timeout_s: float, is_sse: bool) -> None:
        """Begins to connect, over HTTP+SSE if `is_sse`; what goes wrong is told by the requests."""
        self._url = url
        self._headers = [*headers, ("Accept-Encoding", "identity")]
        self._timeout_s = timeout_s
        self._is_sse = is_sse
        self._version: str | None = None
        self._budget = ByteBudget(SOURCE_LIMIT_BYTES)
        self._kept = KeptResults()
        self._lost: Exception | None = None
        self._resume_at = 0.0
        """When a busy server may be asked again, by the clock of the event loop; nothing is sent before."""
        self._waited_s = 0.0
        self._has_event_stream = False
        """True if the server opened the event stream of HTTP+SSE."""
        self._scope: anyio.CancelScope | None = None
        self._loop = asyncio.new_event_loop()
        self._ready, self._over, self._settled, self._closing = (asyncio.Event() for _ in range(4))
        threading.Thread(target=self._run, name="skillgen-http").start()

    def send(self, method: str, params: Params | None) -> Future[Json]:
        """Sends a request; never blocks."""
        return self._submit(self._request(method, params))

    def notify(self, method: str, params: Params | None) -> None:
        """Sends a notification."""
        self._submit(self._notify(method, params))

    def close(self) -> None:
        """Tells the server in the background that the session is over."""
        self._call(self._end, _CLOSE_S)

    def kill(self) -> None:
        """Drops the connection."""
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
        self._over.set()
        if self._scope is not None:
            # A connection that was never made has no session to end.
            self._scope.deadline = anyio.current_time() + (seconds if self._ready.is_set() else 0.0)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        """Holds the connection until it is closed, also after it was lost: the requests tell why."""
        try:
            await self._hold()
        except Exception as error:
            self._lost = self._lost or error_from_transport(error)
        self._lost = self._lost or ConnectionLost(
            "The server ended the connection.", fix="Look into the server's own log."
        )
        self._settled.set()
        self._ready.set()
        await self._closing.wait()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _hold(self) -> None:
        if self._closing.is_set():
            return
        with anyio.CancelScope() as self._scope:
            async with self._transport() as (read, write), anyio.create_task_group() as tasks:
                self._dispatcher: JSONRPCDispatcher = JSONRPCDispatcher(read, write, on_stream_exception=self._note)
                await tasks.start(self._dispatch)
                self._ready.set()
                await self._over.wait()
                tasks.cancel_scope.cancel()

    async def _dispatch(self, *, task_status: TaskStatus[None]) -> None:
        await self._dispatcher.run(_refuse, _ignore, task_status=task_status)
        self._over.set()

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        client = _PatientClient(
            self._wait_as_asked,
            self._resumed,
            self._end_after_refusal,
            headers=self._headers,
            # An answer may take as long as the crawl waits for it, which keeps its own time.
            timeout=httpx2.Timeout(self._timeout_s, read=None),
            event_hooks={"response": [self._see]},
        )
        if self._is_sse:

            def given(
                headers: dict[str, str] | None = None,
                timeout: httpx2.Timeout | None = None,
                auth: httpx2.Auth | None = None,
            ) -> httpx2.AsyncClient:
                return client

            async with sse_client(self._url, httpx_client_factory=given) as streams:
                yield streams
        else:
            async with (
                client,
                streamable_http_client(self._url, http_client=client, max_sse_event_size=SOURCE_LIMIT_BYTES) as streams,
            ):
                yield streams

    async def _see(self, response: httpx2.Response) -> None:
        content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        response.stream = self._kept.watch(self._budget.watch(response.stream), content_type)
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            # A thousandfold may be in it, and nobody asked for it.
            self._budget.refuse("It answers in compressed form, though it was asked for plain text.")
        if self._is_sse and response.is_success and content_type == _EVENT_STREAM:
            self._has_event_stream = True
        if (exchange := _exchange.get()) is None:
            return
        exchange.status = response.status_code
        exchange.content_type = content_type
        exchange.challenge = response.headers.get("www-authenticate")
        exchange.retry_after = response.headers.get("retry-after") if exchange.status in RETRY_STATUSES else None

    async def _note(self, error: Exception) -> None:
        self._lost = self._lost or error_from_transport(error)

    async def _request(self, method: str, params: Params | None) -> Json:
        await self._ready.wait()
        if self._lost is not None:
            raise self._lost
        exchange = _Exchange()
        _exchange.set(exchange)
        try:
            answer = await self._dispatcher.send_raw_request(method, params, self._options(method, params))
        except MCPError as error:
            raise await self._failure(error, exchange) from None
        result = self._kept.taken(answer)
        if method == "initialize":
            self._version = text_of(result, "protocolVersion")
        return result

    def _wait_as_asked(self, response: httpx2.Response) -> bool:
        """Returns whether a busy server is asked again; then nothing is sent before the time that it names."""
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

    async def _resumed(self) -> None:
        while (left_s := self._resume_at - self._loop.time()) > 0:
            await anyio.sleep(left_s)

    def _end_after_refusal(self) -> None:
        """Ends a connection over HTTP+SSE whose endpoint refuses a message: the SDK reports that to nobody."""
        if not self._is_sse or (exchange := _exchange.get()) is None:
            return
        self._lost = _error_from_status(exchange)
        if self._has_event_stream and exchange.status not in _OF_CREDENTIALS and exchange.retry_after is None:
            self._lost = ConnectionLost(
                f"The event stream names an endpoint that answers HTTP {exchange.status} ({self._lost}).",
                fix="Look into the server's own log, or ask its operator for a URL of Streamable HTTP.",
            )
        self._over.set()

    async def _notify(self, method: str, params: Params | None) -> None:
        await self._ready.wait()
        if self._lost is None:
            await self._dispatcher.notify(method, params, self._options(method, params))

    def _options(self, method: str, params: Params | None) -> CallOptions:
        """Gives the headers of a request: 2026-07-28 wants its version, method and name there too."""
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
            # Either the server says so, or the transport has failed and will tell why.
            with anyio.move_on_after(_SETTLE_S):
                await self._settled.wait()
            if self._lost is not None:
                return self._lost
        status = exchange.status
        if status is not None and status < 300 and exchange.content_type not in _MESSAGE_TYPES and not self._is_sse:
            kind = printable(exchange.content_type, 60) or "empty, or of no media type"
            return ConnectionLost(
                f"No MCP server answers here: the answer is {kind}.", fix="Check the path of the URL."
            )
        if status is not None and status >= 400 and error.code in _STAND_INS:
            return _error_from_status(exchange, code=error.code)
        message = "The answer is no JSON-RPC message." if error.code == PARSE_ERROR else error.message
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


async def _refuse(context: object, method: str, params: Params | None) -> dict[str, Any]:
    """Answers a request of the server: skillgen offers nothing."""
    if method == "ping":
        return {}
    raise MCPError(METHOD_NOT_FOUND, "skillgen only reads what a server offers")


async def _ignore(context: object, method: str, params: Params | None) -> None:
    """Takes a notification of the server."""
