"""Gives a server's requests the token that they need, where one is kept or the user wants to log in."""

from __future__ import annotations

from dataclasses import replace

from skillgen.errors import SourceError
from skillgen.sources.mcp.oauth.keeping import LoginFile, login_file
from skillgen.sources.mcp.target import ServerTarget
from skillgen.sources.secrets import Secrets


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
    if login.is_wanted and login.announce is None and not has_token and not file.path.exists():
        raise SourceError(
            "needs a login, none is kept, and nobody can be asked here",
            where=target.public_url,
            fix=f"log in once in a terminal: skillgen from-server --url {target.public_url} --login",
        )
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
