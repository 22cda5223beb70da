"""The messages and sessions of MCP: parsing of JSON-RPC, the handshake with a server, and the cancelling of crawls.

Requests return futures, so that several can be in flight without an event loop: importing `asyncio` would slow down the
start. The parser accepts what real servers write, such as banners between messages.

The newest revision (2026-07-28) has no handshake: a server answers `server/discover`, and every request names its
version. Earlier revisions open with `initialize`. The newest is tried first; if the answer does not come from a server
of that revision, `initialize` follows.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Protocol

from msgspec import Struct

from skillgen import __version__
from skillgen.model.values import Json
from skillgen.sources.json_access import as_dict, parse_marked_json, text_of, texts_of

Params = Mapping[str, Json]


@dataclass(eq=False, repr=False)
class RpcError(Exception):
    """The server answered a request with an error."""

    message: str
    code: int | str | None = None
    data: Json = None
    http_status: int | None = None
    challenge: str | None = None
    """The `WWW-Authenticate` header of a response that requires credentials."""

    retry_after: str | None = None
    """The `Retry-After` header of a busy server."""


@dataclass(eq=False, repr=False)
class ConnectionLost(Exception):
    """The server has exited or breaks the protocol: no further request will be answered."""

    what: str
    fix: str | None = None


class Connection(Protocol):
    """A connection to an MCP server."""

    def send(self, method: str, params: Params | None) -> Future[Json]:
        """Sends a request. The future holds the raw result, or fails with `RpcError` or `ConnectionLost`."""

    def notify(self, method: str, params: Params | None) -> None:
        """Sends a notification; does nothing on a lost connection."""

    def close(self) -> None:
        """Closes the connection in the background, and stops the server if skillgen started it."""

    def kill(self) -> None:
        """Closes the connection immediately, and kills the server if skillgen started it."""

    def symptoms(self) -> str:
        """Returns complete sentences that help to explain an unanswered request; may be empty."""


def parse_messages(line: bytes) -> tuple[list[dict[str, Json]], str]:
    """Splits a line into its messages (several in a batch, 2025-03-26) and the text that is not a message.

    A banner without a line break precedes the first message on the same line. Values that are nested too deeply are
    omitted and marked, as are duplicate keys (`json_text.parse_marked_json`).

    Raises:
        ConnectionLost: a message is nested so deeply that it cannot be parsed at all.
    """
    text = line.decode("utf-8", "replace").strip("\ufeff \t\r\n")
    # Where a message may begin, the most likely first.
    starts = [0 if text.startswith(("{", "[")) else -1, text.find('{"jsonrpc"'), text.find('{"')]
    for start in dict.fromkeys(offset for offset in starts if offset >= 0):
        try:
            value, end = parse_marked_json(text, start)
        except ValueError:
            continue
        except RecursionError:
            raise ConnectionLost("It sent a message that is nested too deeply to be parsed.") from None
        messages = [item for item in (value if isinstance(value, list) else [value]) if _is_message(item)]
        if messages:
            return messages, text[:start] + text[end:]
    return [], text


def error_from_response(error: Json) -> RpcError:
    """Reads the `error` of a response; some servers write a plain string there, or a string as the code."""
    if not isinstance(error, dict):
        return RpcError(str(error))
    code = error.get("code")
    is_code = isinstance(code, (int, str)) and not isinstance(code, bool)
    return RpcError(str(error.get("message", "")), code=code if is_code else None, data=error.get("data"))


def _is_message(item: Json) -> bool:
    """True unless the item is something else, such as a log record in JSON; many servers omit `jsonrpc`."""
    if not isinstance(item, dict):
        return False
    is_response = "id" in item and ("result" in item or item.get("error") is not None)
    return is_response or isinstance(item.get("method"), str)


MODERN_VERSION = "2026-07-28"
LEGACY_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
"""Key of the version in the `_meta` of a request (2026-07-28, `RequestMetaObject`)."""

SKILLS = "io.modelcontextprotocol/skills"
"""Skills as resources (SEP-2640)."""

GROUPS = "io.modelcontextprotocol/groups"
"""Tools that are not listed until their group is fetched (draft of 2026-09-28)."""

GROUPING = "io.modelcontextprotocol/grouping"
"""Groups as labels of tools that are listed (SEP-2084)."""

LISTS = {
    "tools/list": ("tools", "tools"),
    "resources/list": ("resources", "resources"),
    "resources/templates/list": ("resources", "resourceTemplates"),
    "prompts/list": ("prompts", "prompts"),
    "skills/list": (SKILLS, "skills"),
    "groups/list": (GROUPS, "groups"),
}
"""Method to the capability or extension that declares it, and to the key of its items."""

MANIFEST_TOOL = "get_manifest"
AI_HELP = "ai_help"

_DISCOVER = "server/discover"
_INITIALIZE = "initialize"

AI_HELP_PARAMS: Mapping[str, Json] = {"format": "markdown", "section": None}
"""Parameters of `ai_help` (dashdash, "AI Help Method")."""

_CLIENT_INFO = {"name": "skillgen", "version": __version__}

_CAPABILITIES: dict[str, Json] = {"extensions": {SKILLS: {}, GROUPS: {}}}
"""Extensions that skillgen can read; a server does not offer them to a client that does not declare them."""

_MODERN_ERRORS = (-32020, -32021, -32022)
"""The headers differ from the message, the client lacks a capability, the version is not supported."""

_REFUSED_STATUSES = (401, 403, 407, 429)
"""HTTP statuses that do not depend on the method."""

_CRAWL_TIMEOUT_FACTOR = 10
"""A crawl may take this many times the timeout of one request: a server could answer endlessly, each time in time."""

_MAX_CONCURRENT_REQUESTS = 16

UNDECLARED_TIMEOUT_S = 3.0
"""How long to wait for the answer to what the server does not declare; at least, for the second handshake."""


class NoAnswer(Exception):
    """A request was not answered in time."""

    def __init__(self, method: str, seconds: float) -> None:
        super().__init__(f"no answer to {method} within {seconds:g} seconds")
        self.method = method
        self.seconds = seconds


class Handshake(Struct, frozen=True, kw_only=True):
    """The first result of a server."""

    method: str
    """`server/discover` or `initialize`."""

    result: dict[str, Json]
    """The result, raw."""

    version: str | None

    def declares(self, capability: str) -> bool:
        """True if the server declares this capability, or this extension (its name contains a slash)."""
        capabilities = as_dict(self.result.get("capabilities"))
        if "/" not in capability:
            return capabilities.get(capability) not in (None, False)
        extensions = capabilities.get("extensions")
        if isinstance(extensions, list):  # seed 004's reference server
            return capability in extensions
        return as_dict(extensions).get(capability) not in (None, False)

    @property
    def is_modern(self) -> bool:
        """True if the session was opened with `server/discover`."""
        return self.method == _DISCOVER

    @property
    def mentions_dashdash(self) -> bool:
        """True if the result has a `dashdash` object at any depth."""
        return re.search(r'"(?:[^"]*/)?dashdash":', json.dumps(self.result)) is not None


def negotiate(
    connection: Connection, *, probe_s: float | None, timeout_s: float, initialize: Future[Json] | None = None
) -> Handshake:
    """Opens a session with the newest revision that the server speaks.

    `probe_s` is how long to wait for the answer to `server/discover` alone; without it, only `initialize` is sent,
    unless it was before.

    Raises:
        NoAnswer, RpcError, ConnectionLost: the server answers neither `server/discover` nor `initialize`.
    """
    discover = connection.send(_DISCOVER, _modern_params({})) if probe_s is not None else None
    if discover is not None:
        wait([discover], min(probe_s or 0.0, timeout_s))
        if discover.done() and (handshake := _handshake_from_discover(discover)):
            return handshake
    version = LEGACY_VERSIONS[-1]
    initialize = initialize or send_initialize(connection)
    deadline = time.monotonic() + timeout_s
    # The first request stays open: a modern server that starts slowly answers it and rejects `initialize`.
    pending = {initialize} if discover is None or discover.done() else {discover, initialize}
    while pending:
        done, pending = wait(pending, max(0.0, deadline - time.monotonic()), FIRST_COMPLETED)
        if discover is not None and discover in done and (handshake := _handshake_from_discover(discover)):
            return handshake
        if initialize in done:
            if initialize.exception() is None and isinstance(result := initialize.result(), dict):
                connection.notify("notifications/initialized", None)
                return Handshake(method=_INITIALIZE, result=result, version=text_of(result, "protocolVersion"))
            if version == LEGACY_VERSIONS[-1] and (named := _named_version(initialize.exception())):
                version, initialize = named, send_initialize(connection, named)
                pending.add(initialize)
        if not done:
            break
    if not initialize.done():
        raise NoAnswer(_INITIALIZE, timeout_s)
    raise initialize.exception() or RpcError("the result is not an object")


def send_initialize(connection: Connection, version: str = LEGACY_VERSIONS[-1]) -> Future[Json]:
    """Sends the request that opens a session of an earlier revision."""
    params = {"protocolVersion": version, "capabilities": _CAPABILITIES, "clientInfo": _CLIENT_INFO}
    return connection.send(_INITIALIZE, params)


def _named_version(error: BaseException | None) -> str | None:
    """Returns the newest version but the latest that an error names, as text or as data (2024-11-05, "Lifecycle")."""
    if not isinstance(error, RpcError):
        return None
    text = f"{error.message} {json.dumps(error.data)}"
    return next((version for version in reversed(LEGACY_VERSIONS[:-1]) if version in text), None)


def is_final(error: RpcError) -> bool:
    """True if another handshake would fail as well."""
    if error.http_status in _REFUSED_STATUSES or error.retry_after is not None:
        return True
    if error.code not in _MODERN_ERRORS:
        return False
    # The error data may name versions that open with `initialize`.
    return not set(texts_of(error.data, "supported")) & set(LEGACY_VERSIONS)


def _modern_params(params: Mapping[str, Json]) -> dict[str, Json]:
    """Adds the `_meta` of every request (2026-07-28, `RequestMetaObject`)."""
    meta = {
        VERSION_KEY: MODERN_VERSION,
        "io.modelcontextprotocol/clientInfo": _CLIENT_INFO,
        "io.modelcontextprotocol/clientCapabilities": _CAPABILITIES,
    }
    return {**params, "_meta": meta}


def _handshake_from_discover(future: Future[Json]) -> Handshake | None:
    """Returns `None` if `initialize` is worth a try; raises an error that is final."""
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


class Answer(Struct, frozen=True):
    """The outcome of a request."""

    result: Json = None
    failure: BaseException | None = None
    """Why there is no result."""


class Session:
    """An open session, with a deadline for the complete crawl."""

    def __init__(self, connection: Connection, handshake: Handshake, timeout_s: float) -> None:
        self.connection = connection
        self.handshake = handshake
        self.timeout_s = timeout_s
        self.deadline = time.monotonic() + _CRAWL_TIMEOUT_FACTOR * timeout_s

    def seconds_left(self, timeout_s: float | None = None) -> float:
        """Returns the time that is left for an answer: the request's timeout, cut off by the crawl's deadline."""
        return max(0.0, min(self.deadline - time.monotonic(), self.timeout_s if timeout_s is None else timeout_s))

    def request(self, method: str, params: Mapping[str, Json], timeout_s: float | None = None) -> Answer:
        """Sends a request and waits for its answer."""
        return self.request_all([(method, params)], timeout_s)[0]

    def request_all(
        self, requests: Sequence[tuple[str, Mapping[str, Json]]], timeout_s: float | None = None
    ) -> list[Answer]:
        """Sends requests, each with its method and parameters, concurrently, and returns the answers in order."""
        answers: list[Answer] = []
        for start in range(0, len(requests), _MAX_CONCURRENT_REQUESTS):
            batch, seconds = requests[start : start + _MAX_CONCURRENT_REQUESTS], self.seconds_left(timeout_s)
            complete = _modern_params if self.handshake.is_modern else dict
            send = self.connection.send if seconds else lambda method, params: Future[Json]()
            futures = [send(method, complete(params)) for method, params in batch]
            wait(futures, seconds)
            for (method, _), future in zip(batch, futures, strict=True):
                failure = future.exception() if future.done() else NoAnswer(method, seconds)
                answers.append(Answer(future.result() if failure is None else None, failure))
        return answers


class CancelToken:
    """Kills all open connections and commands when the user interrupts: no server may outlive skillgen."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kills: set[Callable[[], object]] = set()
        self._is_cancelled = False

    @contextlib.contextmanager
    def attach(self, kill: Callable[[], object]) -> Iterator[None]:
        """Lets `cancel` kill a connection or a command while the block runs.

        Raises:
            ConnectionLost: the token is cancelled already.
        """
        with self._lock:
            if not self._is_cancelled:
                self._kills.add(kill)
        self.raise_if_cancelled()
        try:
            yield
        finally:
            with self._lock:
                self._kills.discard(kill)

    def raise_if_cancelled(self) -> None:
        """Prevents a crawl from starting another server.

        Raises:
            ConnectionLost: the token is cancelled.
        """
        if self._is_cancelled:
            raise ConnectionLost("It was interrupted.")

    def cancel(self) -> None:
        """Kills all attached connections, and rejects new ones."""
        with self._lock:
            self._is_cancelled = True
            kills = list(self._kills)
        for kill in kills:
            kill()
