"""Gives a server's requests the token that they need, where one is kept or the user wants to log in."""

from __future__ import annotations

from dataclasses import replace

from skillgen.errors import UsageError
from skillgen.sources.mcp.oauth.keeping import LoginFile, login_file
from skillgen.sources.mcp.target import ServerTarget
from skillgen.sources.secrets import Secrets


def logged_in(target: ServerTarget) -> ServerTarget:
    """Gives the target with a token among its headers, where there is one or the user wants one.

    Raises:
        SourceError: the login failed, or was not finished in time.
        UsageError: a login is asked for where none can be.
    """
    login = target.login
    if target.url is None:
        if login.announce is not None:
            raise UsageError("a command needs no login", where="--login", fix="give it credentials with --env")
        return target
    has_token = any(name.lower() == "authorization" for name, _ in target.headers)
    file = login_file(target.url)
    if has_token or not (login.announce is not None or file.path.exists()):
        return target
    # The SDK costs most of a second: only where there is something to do.
    from skillgen.sources.mcp.oauth.flow import token_for

    with (target.secrets() | _secrets_of(file)).kept_from_errors():
        token = token_for(target, target.url, file)
    if token is None:
        return target
    headers = (*target.headers, ("Authorization", f"Bearer {token}"))
    return replace(target, headers=headers, passed=target.passed | _secrets_of(file))


def _secrets_of(file: LoginFile) -> Secrets:
    return Secrets(dict.fromkeys(file.secrets(), "a token of the login"))
