"""The connections to try, in order, the second handshake, the token of a login, and the errors if all of them fail.

A server over HTTP may speak Streamable HTTP or HTTP+SSE (2024-11-05); a server over stdio may not survive
`server/discover`. A server of the newest revision may declare `dashdash` in the result of the legacy handshake
(`initialize`) alone, and need not say that it supports it. Only a second connection shows whether it does;
`--no-legacy-handshake` turns that off.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct

from skillgen.errors import OutputError, ProblemLog, SourceError
from skillgen.model.values import Json
from skillgen.security.secrets import Secrets, without_credentials
from skillgen.sources.http import RETRY_STATUSES, write_private
from skillgen.sources.json_access import as_dict, as_list, texts_of
from skillgen.sources.mcp import session as rpc
from skillgen.sources.mcp.process import StdioConnection
from skillgen.sources.mcp.target import ServerTarget, Transport, child_environment
from skillgen.text import lazy_re as re
from skillgen.text.unicode import printable

_CHALLENGE_PART = re.compile(r'\b(realm|resource_metadata|error|scope)="?((?<=")[^"]*|[^\s",]+)', re.IGNORECASE)

_PARSE_ERROR = -32700
"""Code that the SDK sets if a response is not a JSON-RPC message."""

_REDIRECT = re.compile(r"Redirect to (\S+) not followed")
"""How the SDK reports a redirect to another URL."""

_CHECK_PATH = "Check the path: many servers answer at /mcp, older ones at /sse."
_GIVE_TOKEN = (
    "Give a token{scope} with --header 'Authorization: Bearer TOKEN', or log in with --login if the server uses OAuth."
)

_STDIO_PROBE_S = 1.0
_HTTP_PROBE_S = 5.0
"""How long to wait for the answer to `server/discover` before sending `initialize` too: a stdio server that does not
know the method may stay silent."""


def crawl_error(
    error: BaseException, method: str | None, *, where: str, symptoms: str, secrets: Secrets
) -> SourceError:
    """Returns the fatal error of a crawl: its first request failed, or `method` did."""
    if not isinstance(error, rpc.ConnectionLost | rpc.NoAnswer | rpc.RpcError):
        raise error
    what, fix = _explanation(error, method, symptoms, secrets)
    return SourceError(what.strip(), where=where, fix=fix)


def _explanation(
    error: rpc.ConnectionLost | rpc.NoAnswer | rpc.RpcError, method: str | None, symptoms: str, secrets: Secrets
) -> tuple[str, str | None]:
    """Returns what is wrong, and the fix."""
    if isinstance(error, rpc.ConnectionLost):
        return error.what, error.fix
    if isinstance(error, rpc.NoAnswer):
        seconds = f"{error.seconds:g} second" + ("" if error.seconds == 1 else "s")
        fix = "Increase --timeout SECONDS if the server starts slowly; otherwise run it by itself and read its output."
        return f"No answer to `{error.method}` came within {seconds}. {symptoms}", fix
    message, status = secrets.excerpt(error.message), error.http_status
    if status is not None and status >= 400 and (method is None or status != 404):
        return _explain_status(error, status, message, secrets)
    if method is None and status is not None and error.code == _PARSE_ERROR:
        return "No MCP server answers here: the response is not a JSON-RPC message.", _CHECK_PATH
    if (redirect := _REDIRECT.match(message)) is not None:
        return f"The server redirects to {redirect[1]}.", "Give that URL if it is the intended server."
    code = "" if error.code is None else f" (code {printable(str(error.code), 40)})"
    code = " (HTTP 404)" if status == 404 else code
    if supported := as_list(as_dict(error.data).get("supported")):
        stop = "" if message[-1:] in (".", "!", "?") else "."
        message += f"{stop} It supports the protocol versions {printable(', '.join(map(str, supported)))}."
    request = "the first request" if method is None else f"`{method}`"
    what = f"The server answers {request} with an error{code}: {message} {symptoms}"
    return what, "Check the server's log, or report this to its author."


def _explain_status(error: rpc.RpcError, status: int, message: str, secrets: Secrets) -> tuple[str, str]:
    """Returns what is wrong if a server answers with an HTTP error, and the fix."""
    parts = {name.lower(): secrets.excerpt(value) for name, value in _CHALLENGE_PART.findall(error.challenge or "")}
    if status == 401:
        challenge = ", ".join(f'{name} "{value}"' for name, value in parts.items())
        what = f"The server requires credentials: HTTP 401{f' ({challenge})' if challenge else ''}."
        return what, _GIVE_TOKEN.format(scope="")
    if status == 403:
        details = [message, *(f'{name} "{parts[name]}"' for name in ("error", "scope") if parts.get(name))]
        scope = f""" with the scope "{parts["scope"]}\"""" if parts.get("scope") else ""
        return f"The server refuses access: HTTP 403 ({', '.join(details)}).", _GIVE_TOKEN.format(scope=scope)
    if status == 407:
        return "The proxy requires credentials: HTTP 407.", "Check HTTPS_PROXY."
    if status == 429 or (status in RETRY_STATUSES and error.retry_after is not None):
        wait = f", with Retry-After: {printable(error.retry_after, 40)}" if error.retry_after is not None else ""
        fix = f"Run it again {'after that time' if wait else 'later'}."
        return f"The server is busy: HTTP {status} ({message}){wait}.", fix
    if status >= 500:
        return f"The server fails: HTTP {status} ({message}).", "Try again later, or check the server's log."
    return f"No MCP server answers here: HTTP {status} ({message}).", _CHECK_PATH


_VARIABLE = re.compile(r"(?<!\w)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?!\w|\.\d)")
_MISSING = re.compile(
    r"environ|\benv\b|\bvariable|KeyError|\b(?:missing|required?|unset|undefined)\b|\b(?:not|be) set\b|\bset\b"
)
"""Words next to the name of a variable that a program lacks; `MODULE_NOT_FOUND` is not one."""

_OWN_URL = re.compile(r"https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::\d+)?(?:/[\w/.-]*)?")


_INSTALL_ERROR = re.compile(
    r"^ *(?:npm (?:error|ERR!) (?!\w+ \S+$|A complete log)(?:\w+ (?=[A-Z]))?|cause: |╰─▶ |docker: "
    r"|ERROR: (?=No matching dist)|(?=An executable named ))(\S.*)",
    re.M,
)
"""The first line in which npm, uv, docker or pip say why they cannot install or start a package, in forms of their own:
a server that was installed can fail with an `error:` too."""


def _refusal(text: str, target: ServerTarget) -> str | None:
    """Returns why a package cannot be installed or started, if a text says so."""
    found = _INSTALL_ERROR.search(text) if target.package_runner else None
    return found[1] if found else None


def _with_exact_fix(error: SourceError, target: ServerTarget) -> SourceError:
    """Returns the error of a server that was started, with the fix that its own output shows: a variable that the
    environment of a server lacks, or the URL at which it serves; of a failed installation, in one sentence.
    """
    if (refusal := _refusal(error.what, target)) is not None:
        error.what = f"It cannot install or start the package: {refusal}"
        error.fix = "Check the name of the package and its version, and the network."
        return error
    environment = child_environment(target.caller_env, target.env)
    for found in _VARIABLE.finditer(error.what):
        name, context = found[0], error.what[max(found.start() - 40, 0) : found.end() + 40]
        if name not in environment and _MISSING.search(context):
            pair = name if name in target.caller_env else f"{name}=VALUE"
            error.fix = f"If it needs {name}, pass it: --env {pair}; to a server of a client's file, with `env` there."
            return error
    is_late = "came within" in error.what
    if is_late and (runner := target.package_runner):
        error.fix = f"{runner} may still be installing the package: raise --timeout SECONDS, or run it once by itself."
    if is_late and (url := _OWN_URL.search(error.what)) is not None:
        error.fix = f"It seems to serve HTTP: start it by itself, and give its URL: --url {url[0].rstrip('.')}"
    return error


class _Attempt(Struct, frozen=True):
    """One method of connecting to a server."""

    transport: Transport
    announcement: str
    """The progress message for the user."""

    connect: Callable[[], rpc.Connection]
    probe_s: float | None
    """How long to wait for `server/discover` alone; `None` to send `initialize` only."""


def _attempts_for(target: ServerTarget, secrets: Secrets) -> tuple[_Attempt, ...]:
    """Returns the methods of connecting to a server, in the order to try them."""
    where, runner = target.where, target.package_runner
    if target.url is None:
        start = functools.partial(_start, target, secrets)
        limit = f" ({runner} may be installing the package, for up to {target.first_answer_s:g} s)" if runner else ""
        # An unknown method before `initialize` crashes some servers, and others reject every request after it.
        return (
            _Attempt("stdio", f"starting {where}{limit}", start, _STDIO_PROBE_S),
            _Attempt("stdio", f"starting {where} again", start, None),
        )
    # Importing it takes more than a second.
    from skillgen.sources.mcp.http import HttpConnection

    # Credentials in the URL would replace the header.
    url = without_credentials(target.url) if _has_token(target) else target.url
    connect = functools.partial(HttpConnection, url, target.headers, timeout_s=target.timeout_s)
    attempts = (
        _Attempt("http", f"connecting to {where}", functools.partial(connect, is_sse=False), _HTTP_PROBE_S),
        _Attempt("sse", "trying HTTP+SSE", functools.partial(connect, is_sse=True), None),
    )
    return attempts[::-1] if target.is_sse else attempts


def _may_need_another(transport: Transport, error: BaseException, target: ServerTarget) -> bool:
    """True if the next attempt may succeed after a failed handshake: the probe broke the server, unless its package is
    not installed, or an endpoint has the other transport (2025-03-26, "Backwards Compatibility").
    """
    if not isinstance(error, rpc.RpcError):
        return isinstance(error, rpc.ConnectionLost) and transport != "http" and _refusal(error.what, target) is None
    return not rpc.is_final(error) and (transport == "stdio" or 400 <= (error.http_status or 0) < 500)


def _start(target: ServerTarget, secrets: Secrets) -> rpc.Connection:
    environment, cwd = child_environment(target.caller_env, target.env), target.cwd
    try:
        return StdioConnection(target.command, environment=environment, cwd=cwd, secrets=secrets)
    except (OSError, ValueError) as error:
        filename = error.filename if isinstance(error, OSError) else None
        why = error.strerror if isinstance(error, OSError) else "it contains a null character"
        what = f"The command cannot be started: {why}."
        fix = "Give the program that starts the server, with its arguments."
        if cwd is not None and filename is not None and Path(filename) == cwd:
            what, fix = f"The folder {cwd} does not exist or cannot be used.", "Check --cwd."
        elif isinstance(error, FileNotFoundError):
            venv = f" and in {venv}" if (venv := target.caller_env.get("VIRTUAL_ENV")) else ", without a .venv"
            what = f"The command does not exist. It was searched on PATH{venv}."
            fix = "Install it, that of a project with pip install -e . in its .venv, or give its full path."
            if len(words := target.command[0].split()) > 1 and len(target.command) == 1:
                fix = f"Write {words[0]} and its arguments as separate words, without quotes around all."
        raise SourceError(what, where=target.where, fix=fix) from None


class SecondHandshake:
    """`initialize` on a second connection to a server of the newest revision, while the first one reads its lists.

    It is opened when the first one has answered: a second start of the program at the same time could take a port or a
    lock from the first, and most servers have no use for it.
    """

    def __init__(self, attempt: _Attempt, target: ServerTarget, token: rpc.CancelToken, opening_s: float) -> None:
        self._timeout_s = target.first_answer_s
        self._deadline = time.monotonic() + max(rpc.UNDECLARED_TIMEOUT_S, 3 * opening_s)
        with contextlib.ExitStack() as stack:
            self._connection = attempt.connect()
            # A process is killed, so that nothing runs any more when the crawl is left; a session is closed.
            stack.callback(self._connection.kill if target.command else self._connection.close)
            stack.enter_context(token.attach(self._connection.kill))
            self._answer = rpc.send_initialize(self._connection)
            self.end = stack.pop_all().close
            """Closes the connection, even if the server has not answered."""

    def results(self, first: rpc.Handshake, log: ProblemLog) -> dict[str, Json]:
        """Returns method to raw result; empty if the server does not support `initialize`."""
        left_s = max(0.0, self._deadline - time.monotonic())
        try:
            is_declared = set(texts_of(first.result, "supportedVersions")) & set(rpc.LEGACY_VERSIONS)
            seconds = self._timeout_s if is_declared else left_s
            legacy = rpc.negotiate(self._connection, probe_s=None, timeout_s=seconds, initialize=self._answer)
        except rpc.RpcError:
            return {}
        except (rpc.NoAnswer, rpc.ConnectionLost):
            log.report("legacy-handshake-missing", "initialize", "The server did not answer the legacy handshake.")
            return {}
        results: dict[str, Json] = {legacy.method: legacy.result}
        if legacy.mentions_dashdash:
            answer = rpc.Session(self._connection, legacy, self._timeout_s).request(rpc.AI_HELP, rpc.AI_HELP_PARAMS)
            results |= {rpc.AI_HELP: answer.result} if answer.result is not None else {}
        return results


@contextlib.contextmanager
def opened(
    target: ServerTarget, secrets: Secrets, progress: Callable[[str], None], cancel_token: rpc.CancelToken
) -> Iterator[tuple[Transport, rpc.Session, SecondHandshake | None]]:
    """Yields the transport, the session, and the second handshake if the server may only there have a `dashdash`."""
    failures: list[SourceError] = []
    for attempt in _attempts_for(target, secrets):
        progress(attempt.announcement)
        cancel_token.raise_if_cancelled()
        with contextlib.ExitStack() as stack:
            connection = attempt.connect()
            stack.push(functools.partial(_close, connection))
            stack.enter_context(cancel_token.attach(connection.kill))
            second, started = None, time.monotonic()
            try:
                handshake = rpc.negotiate(connection, probe_s=attempt.probe_s, timeout_s=target.first_answer_s)
            except (rpc.NoAnswer, rpc.RpcError, rpc.ConnectionLost) as error:
                symptoms = connection.symptoms()
                if target.url is not None and symptoms:  # HTTP+SSE is the right transport: report its error alone
                    failures.clear()
                failures.append(crawl_error(error, None, where=target.where, symptoms=symptoms, secrets=secrets))
                if not _may_need_another(attempt.transport, error, target):
                    break
                continue
            if handshake.is_modern and not handshake.mentions_dashdash and not target.scope.no_legacy_handshake:
                with contextlib.suppress(SourceError):  # the program does not start again
                    second = SecondHandshake(attempt, target, cancel_token, time.monotonic() - started)
                    stack.callback(second.end)
            yield attempt.transport, rpc.Session(connection, handshake, target.timeout_s), second
            return
    # The last start of a program is the most informative; what is wrong with a URL, the first request shows.
    raise failures[0] if target.url is not None else _with_exact_fix(failures[-1], target)


def _close(connection: rpc.Connection, reason: type[BaseException] | None, *details: object) -> None:
    """Closes the connection in the background, or kills it if the user interrupts."""
    (connection.close if reason is None or issubclass(reason, Exception) else connection.kill)()


def with_token(target: ServerTarget) -> ServerTarget:
    """Returns the target with the token of a login among its headers, if a login is stored or requested.

    Raises:
        SourceError: the login failed, took too long, or is required while nobody can be asked.
    """
    login = target.login
    if target.url is None or _has_token(target):
        return target
    file = login_file(target.url)
    if login.announce is None and not file.path.exists():
        if not login.is_requested:
            return target
        what = "needs a login, none is stored, and nobody can be asked here"
        fix = f"log in once in a terminal: skillgen from-server --url {target.public_url} --login"
        raise SourceError(what, where=target.public_url, fix=fix)
    # Importing the SDK takes most of a second.
    from skillgen.sources.mcp.oauth import token_for

    with (target.secrets() | file.secrets()).redact_errors():
        token = token_for(target, target.url, file)
    if token is None:
        return target
    headers = (*target.headers, ("Authorization", f"Bearer {token}"))
    return replace(target, headers=headers, extra_secrets=target.extra_secrets | file.secrets())


def _has_token(target: ServerTarget) -> bool:
    return any(name.lower() == "authorization" for name, _ in target.headers)


StoredLogin = dict[str, Json]
"""`url`, `tokens` (RFC 6749, 5.1), `expires_at` (seconds since the epoch), `client` (RFC 7591, 3.2.1), `resource`
(RFC 9728), `issuer` and `metadata` (RFC 8414), `trusted_issuer` (which may receive the secret of the user's client)."""


class LoginFile(Struct, frozen=True):
    """The file that stores the login to one server."""

    url: str
    path: Path

    def read(self) -> StoredLogin:
        """Returns the stored login; empty if the file is missing or damaged, which requires a new login."""
        try:
            login = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return login if isinstance(login, dict) and login.get("url") == self.url else {}

    def secrets(self) -> Secrets:
        """Returns the stored tokens and the secret of a registered client."""
        login = self.read()
        tokens, client = as_dict(login.get("tokens")), as_dict(login.get("client"))
        values = (tokens.get("access_token"), tokens.get("refresh_token"), client.get("client_secret"))
        return Secrets({value: "a token of the login" for value in values if isinstance(value, str)})

    def write(self, login: StoredLogin) -> None:
        """Stores a login.

        Raises:
            OutputError: the folder is not writable.
        """
        try:
            write_private(self.path, json.dumps({"url": self.url, **login}).encode())
        except OSError as error:
            what = f"the login cannot be stored: {error.strerror}"
            fix = "check its permissions, or name another folder with XDG_CONFIG_HOME"
            raise OutputError(what, where=str(self.path.parent), fix=fix) from None

    def delete(self) -> bool:
        """Deletes the file; returns false if it does not exist.

        Raises:
            OutputError: the file cannot be deleted.
        """
        try:
            self.path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise OutputError(f"cannot be deleted: {error.strerror}", where=str(self.path)) from None
        return True


def login_file(url: str) -> LoginFile:
    """Returns the file of the login to a server, in the user's configuration folder, named by a digest of the URL."""
    from platformdirs import user_config_path  # only here: few servers need a login

    parts = urlsplit(url)
    plain = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2].lower(), fragment=""))
    name = hashlib.sha256(plain.encode("utf-8")).hexdigest()[:32]
    return LoginFile(plain, user_config_path("skillgen", appauthor=False, roaming=True) / "logins" / f"{name}.json")
