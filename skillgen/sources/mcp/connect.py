"""Transports to try, in order; second handshake; why it failed.

Why a server cannot be crawled, in the words of a person who wants to know what to do about it.

The ways to reach a server, one after another: over which transport, and with which first request.

Asks a server of the newer era how it opens the older one, where alone its `dashdash` may stand.

A server stays with the era of its first request, and need not say that it speaks another one. So it is connected to
once more, or started once more, beside the reading of the first connection: nothing else shows whether it has more to
say, and what is not asked for is lost. The user may turn it off.

Gives a server's requests the token that they need, where one is kept or the user wants to log in.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.values import Json
from skillgen.security.addresses import without_credentials
from skillgen.security.secrets import Secrets
from skillgen.sources.http import RETRY_STATUSES
from skillgen.sources.mcp.jsonrpc import Connection, ConnectionLost, RpcError
from skillgen.sources.mcp.session import (
    CancelToken,
    Handshake,
    NoAnswer,
    Request,
    Session,
    is_final,
    negotiate,
    open_by_initialize,
)
from skillgen.sources.mcp.stdio import StdioConnection
from skillgen.sources.mcp.target import CrawlScope, ServerTarget, Transport, child_environment
from skillgen.sources.mcp.tokens import LoginFile, login_file
from skillgen.text.unicode import printable

_CHALLENGE_PART = re.compile(r'\b(realm|resource_metadata|error|scope)="?((?<=")[^"]*|[^\s",]+)', re.IGNORECASE)

_CHECK_PATH = "Check the path: many servers answer at /mcp, older ones at /sse."
_TOKEN = (
    "Give a token{scope}, as --header 'Authorization: Bearer TOKEN', or log in with --login where the server has OAuth."
)


def cannot_start(error: OSError | ValueError, *, where: str, cwd: Path | None) -> SourceError:
    """Tells why a command does not start."""
    filename = error.filename if isinstance(error, OSError) else None
    if cwd is not None and filename is not None and Path(filename) == cwd:
        return SourceError(f"The folder {cwd} does not exist or cannot be used.", where=where, fix="Check --cwd.")
    if isinstance(error, FileNotFoundError):
        fix = "Install it, or give its full path after `--`."
        return SourceError("The command does not exist.", where=where, fix=fix)
    why = error.strerror if isinstance(error, OSError) else "it holds a null character"
    fix = "Give the program that starts the server after `--`, with its arguments."
    return SourceError(f"The command cannot be started: {why}.", where=where, fix=fix)


def crawl_error(
    error: BaseException, method: str | None, *, where: str, symptoms: str, secrets: Secrets
) -> SourceError:
    """Tells why a server gives nothing to document: it failed at this method, or at the first request."""
    if isinstance(error, ConnectionLost):
        return SourceError(error.what, where=where, fix=error.fix)
    if isinstance(error, NoAnswer):
        what = f"No answer to `{error.method}` came within {error.seconds:g} seconds. {symptoms}"
        fix = "Give it longer with --timeout SECONDS if it starts slowly; else run it by itself and see what it wants."
        return SourceError(what.strip(), where=where, fix=fix)
    if not isinstance(error, RpcError):
        raise error
    message = secrets.excerpt(error.message)
    if error.http_status is not None and error.http_status >= 400:
        return _http_crawl_error(error, message, where=where, secrets=secrets)
    code = "" if error.code is None else f" (code {printable(str(error.code), 40)})"
    versions = _versions(error)
    request = "the first request" if method is None else f"`{method}`"
    what = f"The server answers {request} with an error{code}: {message}{versions} {symptoms}"
    return SourceError(what.strip(), where=where, fix="Look into the server's own log, or report it to its author.")


def _http_crawl_error(error: RpcError, message: str, *, where: str, secrets: Secrets) -> SourceError:
    status = error.http_status
    assert status is not None
    if status == 401:
        challenge = secrets.excerpt(", ".join(f"{k} {v}" for k, v in _CHALLENGE_PART.findall(error.challenge or "")))
        asks = f" ({challenge})" if challenge else ""
        return SourceError(f"The server wants credentials: HTTP 401{asks}.", where=where, fix=_TOKEN.format(scope=""))
    if status == 403:
        parts = {name.lower(): value for name, value in _CHALLENGE_PART.findall(error.challenge or "")}
        named = [f"{name} {secrets.excerpt(parts[name])}" for name in ("error", "scope") if parts.get(name)]
        what = f"The server refuses access: HTTP 403 ({', '.join([message, *named])})."
        scope = f" with the scope {secrets.excerpt(parts['scope'])}" if parts.get("scope") else ""
        return SourceError(what, where=where, fix=_TOKEN.format(scope=scope))
    if status == 407:
        return SourceError("The proxy wants credentials: HTTP 407.", where=where, fix="Check HTTPS_PROXY.")
    if status == 429 or (status in RETRY_STATUSES and error.retry_after is not None):
        asked = f", with Retry-After: {printable(error.retry_after, 40)}" if error.retry_after is not None else ""
        fix = "Run it again after that time." if asked else "Run it again later."
        return SourceError(f"The server is busy: HTTP {status} ({message}){asked}.", where=where, fix=fix)
    if status >= 500:
        what = f"The server fails: HTTP {status} ({message})."
        return SourceError(what, where=where, fix="Try again later, or look into the server's own log.")
    return SourceError(f"No MCP server answers here: HTTP {status} ({message}).", where=where, fix=_CHECK_PATH)


def _versions(error: RpcError) -> str:
    supported = error.data.get("supported") if isinstance(error.data, dict) else None
    if not isinstance(supported, list) or not supported:
        return ""
    return f" It speaks the protocol versions {printable(', '.join(map(str, supported)))}."


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

    open: Callable[[Connection], Handshake]
    """Sends the first request."""

    retry_on: Callable[[BaseException], bool]
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
        environment = child_environment(target.caller_env, target.env)
        return StdioConnection(target.command, environment=environment, cwd=target.cwd, secrets=secrets)
    except (OSError, ValueError) as error:
        raise cannot_start(error, where=target.where, cwd=target.cwd) from None


_UNPROMISED_S = 3.0
"""How long the older opening is waited for where the server does not say that it has it."""


def needs_probe(scope: CrawlScope, opening: Handshake) -> bool:
    """Tells from what a server says first whether its older era is asked."""
    return not scope.no_older_era and opening.is_of_newest_era and not opening.mentions_dashdash


@contextlib.contextmanager
def probe_in_parallel(
    attempt: Attempt, opening: Handshake, *, opening_s: float, timeout_s: float, cancel_token: CancelToken
) -> Iterator[Callable[[ProblemLog], dict[str, Json]]]:
    """Asks while the block runs; yields a function that waits for the answers, method to raw result.

    `opening_s` is how long the first connection took to open. Leaving the block ends the second one, whether it has
    answered or not.
    """
    seconds = timeout_s if opening.has_older_era else min(timeout_s, max(_UNPROMISED_S, 3 * opening_s))
    own = CancelToken()

    def answers() -> dict[str, Json]:
        cancel_token.raise_if_cancelled()
        connection = attempt.connect()
        try:
            with cancel_token.attach(connection), own.attach(connection):
                return _asked(connection, seconds)
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="skillgen-older-era") as pool:
        future = pool.submit(answers)
        try:
            yield lambda log: _results(future, log)
        finally:
            own.cancel()


def _asked(connection: Connection, seconds: float) -> dict[str, Json]:
    opening = open_by_initialize(connection, seconds)
    results: dict[str, Json] = {opening.method: opening.result}
    if opening.mentions_dashdash:
        answer = Session(connection, opening, seconds).ask(Request("ai_help", {"format": "markdown", "section": None}))
        if answer.failure is None:
            results["ai_help"] = answer.result
    return results


def _results(future: Future[dict[str, Json]], log: ProblemLog) -> dict[str, Json]:
    try:
        return future.result()
    except RpcError:  # the server has no older era
        return {}
    except (NoAnswer, ConnectionLost, SourceError):
        log.info("older-era-missing", "initialize", "The server did not answer in the older era of the protocol.")
        return {}


def logged_in(target: ServerTarget) -> ServerTarget:
    """Gives the target with a token among its headers, where there is one or the user wants one.

    Raises:
        SourceError: the login failed, was not finished in time, or is wanted where nobody can log in.
    """
    login = target.login
    if target.url is None:
        return target
    has_token = any(name.lower() == "authorization" for name, _ in target.headers)
    file = login_file(target.url)
    if login.is_requested and login.announce is None and not has_token and not file.path.exists():
        raise SourceError(
            "needs a login, none is kept, and nobody can be asked here",
            where=target.public_url,
            fix=f"log in once in a terminal: skillgen from-server --url {target.public_url} --login",
        )
    if has_token or not (login.announce is not None or file.path.exists()):
        return target
    # The SDK costs most of a second: only where there is something to do.
    from skillgen.sources.mcp.oauth import token_for

    with (target.secrets() | _secrets_of(file)).redact_errors():
        token = token_for(target, target.url, file)
    if token is None:
        return target
    headers = (*target.headers, ("Authorization", f"Bearer {token}"))
    return replace(target, headers=headers, extra_secrets=target.extra_secrets | _secrets_of(file))


def _secrets_of(file: LoginFile) -> Secrets:
    return Secrets(dict.fromkeys(file.secrets(), "a token of the login"))
