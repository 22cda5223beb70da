"""Why a server cannot be crawled, in the words of a person who wants to know what to do about it."""

from __future__ import annotations

import re
from pathlib import Path

from skillgen.errors import SourceError
from skillgen.sources.excerpts import printable
from skillgen.sources.fetch import BUSY
from skillgen.sources.mcp.connection import ConnectionLost, RpcError
from skillgen.sources.mcp.negotiation import NoAnswer
from skillgen.sources.secrets import Secrets

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


def dead_end(error: BaseException, method: str | None, *, where: str, symptoms: str, secrets: Secrets) -> SourceError:
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
        return _http_dead_end(error, message, where=where, secrets=secrets)
    code = "" if error.code is None else f" (code {printable(str(error.code), 40)})"
    versions = _versions(error)
    request = "the first request" if method is None else f"`{method}`"
    what = f"The server answers {request} with an error{code}: {message}{versions} {symptoms}"
    return SourceError(what.strip(), where=where, fix="Look into the server's own log, or report it to its author.")


def _http_dead_end(error: RpcError, message: str, *, where: str, secrets: Secrets) -> SourceError:
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
    if status == 429 or (status in BUSY and error.retry_after is not None):
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
