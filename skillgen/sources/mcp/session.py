"""Handshake (discover, initialize) and an open session.

How a crawl opens: which era of the protocol a server speaks, and what it says of itself first.

The newest revision has no handshake: a server answers `server/discover`, and every request says which version it is
of. Earlier ones open with `initialize`. The newest is tried first; whatever is no sign of a server that speaks it
leads to `initialize`.

An opened connection, on which several requests are asked at once, within the time that one crawl may take.

Ends crawls that run in other threads when the user interrupts: no server that was started may outlive skillgen.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Protocol

from skillgen import __version__
from skillgen.model.values import Json
from skillgen.sources.json_access import as_dict, text_of, texts_of
from skillgen.sources.mcp.jsonrpc import Connection, ConnectionLost, RpcError

MODERN_VERSION = "2026-07-28"
_HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

_DISCOVER = "server/discover"
_INITIALIZE = "initialize"

_CLIENT_INFO = {"name": "skillgen", "version": __version__}

_CAPABILITIES: dict[str, Json] = {
    "extensions": {"io.modelcontextprotocol/skills": {}, "io.modelcontextprotocol/groups": {}}
}
"""What skillgen can read beside the protocol itself: a server keeps it back from a client that does not say so."""

_HEADER_MISMATCH = -32020
_MISSING_CLIENT_CAPABILITY = -32021
_UNSUPPORTED_VERSION = -32022
_MODERN_ERRORS = (_HEADER_MISMATCH, _MISSING_CLIENT_CAPABILITY, _UNSUPPORTED_VERSION)

_REFUSED_STATUSES = (401, 403, 407, 429)
"""HTTP statuses that will not differ for another method."""


class NoAnswer(Exception):
    """A request that stayed without an answer."""

    def __init__(self, method: str, seconds: float) -> None:
        super().__init__(f"no answer to {method} within {seconds:g} seconds")
        self.method = method
        self.seconds = seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Handshake:
    """The first thing that a server says."""

    method: str
    """`server/discover` or `initialize`."""

    result: dict[str, Json]
    """Its result, raw."""

    version: str | None
    """The protocol version that both use from here on."""

    def params(self, given: Mapping[str, Json]) -> dict[str, Json]:
        """Gives the parameters of a later request, with what a server of this era needs."""
        return modern_params(given) if self.method == _DISCOVER else dict(given)

    def declares(self, capability: str) -> bool:
        """Tells whether the server says that it has this capability, or this extension, whose name has a slash."""
        capabilities = as_dict(self.result.get("capabilities"))
        if "/" not in capability:
            return capabilities.get(capability) not in (None, False)
        extensions = capabilities.get("extensions")
        if isinstance(extensions, list):  # seed 004's reference server
            return capability in extensions
        return as_dict(extensions).get(capability) not in (None, False)

    @property
    def is_of_newest_era(self) -> bool:
        """Whether the session was opened without a handshake."""
        return self.method == _DISCOVER

    @property
    def has_older_era(self) -> bool:
        """Whether a server that opened in the newer era says that it speaks the older one too."""
        return bool(set(texts_of(self.result, "supportedVersions")) & set(_HANDSHAKE_VERSIONS))

    @property
    def mentions_dashdash(self) -> bool:
        """Whether the result has a `dashdash` object anywhere."""
        return mentions_dashdash(self.result)


def mentions_dashdash(answer: Json) -> bool:
    """Tells whether an answer has a `dashdash` object anywhere."""
    waiting = [answer]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if any(key == "dashdash" or key.endswith("/dashdash") for key in value):
                return True
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return False


def modern_params(given: Mapping[str, Json]) -> dict[str, Json]:
    """Gives parameters with the `_meta` that every request has (2026-07-28, `RequestMetaObject`)."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
        "io.modelcontextprotocol/clientInfo": _CLIENT_INFO,
        "io.modelcontextprotocol/clientCapabilities": _CAPABILITIES,
    }
    return {**given, "_meta": meta}


def negotiate(connection: Connection, *, probe_s: float, timeout_s: float) -> Handshake:
    """Opens a crawl in the newest era that the server speaks.

    Raises:
        NoAnswer, RpcError, ConnectionLost: it answers neither way.
    """
    discover = connection.send(_DISCOVER, modern_params({}))
    wait([discover], min(probe_s, timeout_s))
    if discover.done() and (opening := _opening_from_discover(discover)):
        return opening
    # The first request stays open: a modern server that starts slowly answers it, and refuses this one.
    initialize = _send_initialize(connection)
    deadline = time.monotonic() + timeout_s
    waiting = {initialize} if discover.done() else {discover, initialize}
    while waiting:
        done, waiting = wait(waiting, max(0.0, deadline - time.monotonic()), FIRST_COMPLETED)
        if discover in done and (opening := _opening_from_discover(discover)):
            return opening
        if initialize in done and (opening := _opening_from_initialize(initialize)):
            return _confirmed(connection, opening)
        if not done:
            break
    raise _why_not(initialize, timeout_s)


def open_by_initialize(connection: Connection, timeout_s: float) -> Handshake:
    """Opens a crawl in the earlier era without asking for the newest first.

    Raises:
        NoAnswer, RpcError, ConnectionLost: the server does not answer.
    """
    initialize = _send_initialize(connection)
    wait([initialize], timeout_s)
    if initialize.done() and (opening := _opening_from_initialize(initialize)):
        return _confirmed(connection, opening)
    raise _why_not(initialize, timeout_s)


def _send_initialize(connection: Connection) -> Future[Json]:
    offer = {"protocolVersion": _HANDSHAKE_VERSIONS[-1], "capabilities": _CAPABILITIES, "clientInfo": _CLIENT_INFO}
    return connection.send(_INITIALIZE, offer)


def _confirmed(connection: Connection, opening: Handshake) -> Handshake:
    connection.notify("notifications/initialized", None)
    return opening


def _opening_from_discover(future: Future[Json]) -> Handshake | None:
    """Gives what a modern server says, or none where another era is worth a try; raises what settles the matter."""
    error = future.exception()
    if isinstance(error, RpcError) and not is_final(error):
        return None
    if error is not None:
        raise error
    result = future.result()
    if not isinstance(result, dict):
        return None
    versions = result.get("supportedVersions")
    if isinstance(versions, list) and MODERN_VERSION not in versions:
        return None
    return Handshake(method=_DISCOVER, result=result, version=MODERN_VERSION)


def is_final(error: RpcError) -> bool:
    """Tells whether an error leaves no other era to try."""
    if error.http_status in _REFUSED_STATUSES or error.retry_after is not None:
        return True
    if error.code not in _MODERN_ERRORS:
        return False
    # Such a server may name versions that open with `initialize`.
    return not set(texts_of(error.data, "supported")) & set(_HANDSHAKE_VERSIONS)


def _opening_from_initialize(future: Future[Json]) -> Handshake | None:
    if future.exception() is not None:
        return None
    result = future.result()
    if not isinstance(result, dict):
        return None
    return Handshake(method=_INITIALIZE, result=result, version=text_of(result, "protocolVersion"))


def _why_not(initialize: Future[Json], timeout_s: float) -> BaseException:
    if not initialize.done():
        return NoAnswer(_INITIALIZE, timeout_s)
    return initialize.exception() or RpcError("the result is no object")


_TIMEOUTS_IN_A_CRAWL = 10
"""How many times the time of one request a crawl may take in all: a server may answer for ever, each time in time."""

_AT_ONCE = 16
"""Requests that are under way at the same time."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to be asked."""

    method: str
    """Its method."""

    params: Mapping[str, Json]
    """Its parameters, without what the era adds."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a request."""

    result: Json = None
    """The raw result."""

    failure: BaseException | None = None
    """Why there is none."""


class Session:
    """A connection on which a server has said who it is."""

    def __init__(self, connection: Connection, opening: Handshake, timeout_s: float) -> None:
        self.connection = connection
        self.opening = opening
        self.timeout_s = timeout_s
        self.deadline = time.monotonic() + _TIMEOUTS_IN_A_CRAWL * timeout_s

    def send(self, method: str, params: Mapping[str, Json]) -> Future[Json]:
        """Sends a request."""
        return self.connection.send(method, self.opening.params(params))

    def seconds_left(self, timeout_s: float | None = None) -> float:
        """Gives how long an answer may still be waited for."""
        left = self.deadline - time.monotonic()
        return max(0.0, min(left, self.timeout_s if timeout_s is None else timeout_s))

    def ask(self, request: Request) -> Answer:
        """Asks one request, and waits for its answer."""
        return self.ask_all([request])[0]

    def ask_all(self, requests: Sequence[Request]) -> list[Answer]:
        """Asks requests, some at the same time, and gives their answers in order."""
        answers: list[Answer] = []
        for start in range(0, len(requests), _AT_ONCE):
            part = requests[start : start + _AT_ONCE]
            seconds = self.seconds_left()
            futures = [self.send(request.method, request.params) for request in part] if seconds else []
            wait(futures, seconds)
            answers += [_answer(future, request, seconds) for future, request in zip(futures, part, strict=False)]
            answers += [Answer(failure=NoAnswer(request.method, 0.0)) for request in part[len(futures) :]]
        return answers


def _answer(future: Future[Json], request: Request, seconds: float) -> Answer:
    if not future.done():
        return Answer(failure=NoAnswer(request.method, seconds))
    error = future.exception()
    return Answer(failure=error) if error is not None else Answer(future.result())


class Killable(Protocol):
    """A connection, or a command that runs."""

    def kill(self) -> None:
        """Ends it at once."""


class CancelToken:
    """Knows the connections and commands that are open, and kills them all on request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[Killable] = set()
        self._is_over = False

    @contextlib.contextmanager
    def attach(self, connection: Killable) -> Iterator[None]:
        """Knows a connection for as long as it is used.

        Raises:
            ConnectionLost: everything is over already.
        """
        with self._lock:
            if not self._is_over:
                self._open.add(connection)
        if self._is_over:
            raise ConnectionLost("It was interrupted.")
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(connection)

    def raise_if_cancelled(self) -> None:
        """Raises once everything is over: a crawl must not start its server anew.

        Raises:
            ConnectionLost: everything is over.
        """
        if self._is_over:
            raise ConnectionLost("It was interrupted.")

    def cancel(self) -> None:
        """Kills all connections, and refuses others from now on."""
        with self._lock:
            self._is_over = True
            connections = list(self._open)
        for connection in connections:
            connection.kill()
