"""The ways to reach a server, one after another: over which transport, and with which first request."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from skillgen.sources.addresses import without_credentials
from skillgen.sources.mcp.connection import Connection, ConnectionLost, RpcError
from skillgen.sources.mcp.dead_ends import cannot_start
from skillgen.sources.mcp.environment import child_environment
from skillgen.sources.mcp.negotiation import Opening, is_final, negotiate, open_by_initialize
from skillgen.sources.mcp.stdio import StdioConnection
from skillgen.sources.mcp.target import ServerTarget, Transport
from skillgen.sources.secrets import Secrets

_STDIO_PROBE_S = 1.0
_HTTP_PROBE_S = 5.0
"""How long `server/discover` is waited for before `initialize` is sent too; a stdio server that does not know it may
say nothing."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way to reach a server."""

    transport: Transport
    """What it goes over."""

    announcement: str
    """What is being done, for the user who waits."""

    connect: Callable[[], Connection]
    """Makes the connection."""

    open: Callable[[Connection], Opening]
    """Sends the first request."""

    may_be_followed_after: Callable[[BaseException], bool]
    """Tells whether the next way is worth a try after this failure."""


def attempts_for(target: ServerTarget, secrets: Secrets) -> tuple[Attempt, Attempt]:
    """Gives the ways to reach a server, in the order to try them."""
    if target.url is not None:
        return _http_attempts(target, target.url)
    start = functools.partial(_start, target, secrets)
    probe = functools.partial(negotiate, probe_s=_STDIO_PROBE_S, timeout_s=target.timeout_s)
    initialize = functools.partial(open_by_initialize, timeout_s=target.timeout_s)
    # A request that it does not know kills a server that is sloppy, and another one refuses what comes after it.
    return (
        Attempt("stdio", f"starting {target.where}", start, probe, _is_spoiled_by_probe),
        Attempt("stdio", f"starting {target.where} once more", start, initialize, lambda _: False),
    )


def _http_attempts(target: ServerTarget, url: str) -> tuple[Attempt, Attempt]:
    # Costs more than a second: only where it is needed.
    from skillgen.sources.mcp.http import HttpConnection

    if any(name.lower() == "authorization" for name, _ in target.headers):
        url = without_credentials(url)  # a user in the URL would win over the header that was asked for
    connect = functools.partial(HttpConnection, url, target.headers, timeout_s=target.timeout_s)
    probe = functools.partial(negotiate, probe_s=_HTTP_PROBE_S, timeout_s=target.timeout_s)
    initialize = functools.partial(open_by_initialize, timeout_s=target.timeout_s)
    streamable, old = (
        Attempt("http", f"asking {target.where}", functools.partial(connect, is_old=False), probe, _is_old_transport),
        Attempt(
            "sse", "asking again over SSE", functools.partial(connect, is_old=True), initialize, _is_other_transport
        ),
    )
    return (old, streamable) if target.is_sse else (streamable, old)


def _is_spoiled_by_probe(error: BaseException) -> bool:
    return isinstance(error, ConnectionLost) or (isinstance(error, RpcError) and not is_final(error))


def _is_old_transport(error: BaseException) -> bool:
    """Tells whether HTTP+SSE may be what answers there (2025-03-26, "Backwards Compatibility")."""
    if not isinstance(error, RpcError) or error.http_status is None or is_final(error):
        return False
    return 400 <= error.http_status < 500 and error.http_status != HTTPStatus.TOO_MANY_REQUESTS


def _is_other_transport(error: BaseException) -> bool:
    """Tells whether Streamable HTTP may be what answers at an address that is said to be of HTTP+SSE."""
    return isinstance(error, ConnectionLost) or _is_old_transport(error)


def _start(target: ServerTarget, secrets: Secrets) -> Connection:
    try:
        environment = child_environment(target.caller, target.env)
        return StdioConnection(target.command, environment=environment, cwd=target.cwd, secrets=secrets)
    except (OSError, ValueError) as error:
        raise cannot_start(error, where=target.where, cwd=target.cwd) from None
