"""How a crawl opens: which era of the protocol a server speaks, and what it says of itself first.

The newest revision has no handshake: a server answers `server/discover`, and every request says which version it is
of. Earlier ones open with `initialize`. The newest is tried first; whatever is no sign of a server that speaks it
leads to `initialize`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass

from skillgen import __version__
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict, text_of, texts_of
from skillgen.sources.mcp.connection import Connection, RpcError

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
class Opening:
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


def negotiate(connection: Connection, *, probe_s: float, timeout_s: float) -> Opening:
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


def open_by_initialize(connection: Connection, timeout_s: float) -> Opening:
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


def _confirmed(connection: Connection, opening: Opening) -> Opening:
    connection.notify("notifications/initialized", None)
    return opening


def _opening_from_discover(future: Future[Json]) -> Opening | None:
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
    return Opening(method=_DISCOVER, result=result, version=MODERN_VERSION)


def is_final(error: RpcError) -> bool:
    """Tells whether an error leaves no other era to try."""
    if error.http_status in _REFUSED_STATUSES or error.retry_after is not None:
        return True
    if error.code not in _MODERN_ERRORS:
        return False
    # Such a server may name versions that open with `initialize`.
    return not set(texts_of(error.data, "supported")) & set(_HANDSHAKE_VERSIONS)


def _opening_from_initialize(future: Future[Json]) -> Opening | None:
    if future.exception() is not None:
        return None
    result = future.result()
    if not isinstance(result, dict):
        return None
    return Opening(method=_INITIALIZE, result=result, version=text_of(result, "protocolVersion"))


def _why_not(initialize: Future[Json], timeout_s: float) -> BaseException:
    if not initialize.done():
        return NoAnswer(_INITIALIZE, timeout_s)
    return initialize.exception() or RpcError("the result is no object")
