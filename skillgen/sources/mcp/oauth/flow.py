"""Gets a token as the protocol asks for it: protected-resource metadata, a client, PKCE, and a page in the browser.

The flow itself is the SDK's. Here is who is asked, where the browser comes back to, and what a failure means.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import webbrowser
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import httpx2

from skillgen.errors import SkillgenError, SourceError
from skillgen.sources.addresses import public_url
from skillgen.sources.excerpts import printable
from skillgen.sources.given import published_url
from skillgen.sources.mcp.http_failures import causes_of, lost_through
from skillgen.sources.mcp.oauth.bounds import Bounds
from skillgen.sources.mcp.oauth.keeping import LoginFile
from skillgen.sources.mcp.oauth.provider import Provider, Store, UntrustedIssuer, checked_page
from skillgen.sources.mcp.oauth.redirect import Redirect, listening
from skillgen.sources.mcp.sdk import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthFlowError,
    OAuthRegistrationError,
    OAuthTokenError,
)
from skillgen.sources.mcp.target import Login, ServerTarget

PERSON_S = 300.0
"""How long a person may take to log in."""

_LOOK_S = 0.05


def token_for(target: ServerTarget, url: str, file: LoginFile) -> str | None:
    """Gives a token: the one that is kept, a renewed one, or one for which a person logs in; `None` without any.

    Raises:
        SourceError: the login failed, or was not finished in time.
    """
    login, where = target.login, public_url(url)
    try:
        with listening(_port_of(file)) as redirect:
            bounds = Bounds(url, target.timeout_s, login.issuer)
            provider = _provider(url, login, file, redirect, bounds)
            status = asyncio.run(_ask(target, url, provider, bounds))
    except SkillgenError:
        raise
    except TimeoutError:
        raise SourceError(
            f"nobody logged in within {PERSON_S:g} seconds", where=where, fix="run the command again and log in"
        ) from None
    except UntrustedIssuer as error:
        issuer = printable(error.issuer)
        raise SourceError(
            f"the login fails: the server names the authorization server {issuer}, which may not get the client secret",
            where=where,
            fix=f"if the client is registered there, add --issuer {issuer}",
        ) from None
    except OAuthRegistrationError as error:
        raise SourceError(
            f"the login fails: {printable(str(error))}",
            where=where,
            fix="register a client there and name it with --client-id, or give a token with --header",
        ) from None
    except (OAuthFlowError, OAuthTokenError) as error:
        raise SourceError(
            f"the login fails: {printable(str(error))}",
            where=where,
            fix="try again, or give a token with --header 'Authorization: Bearer …'",
        ) from None
    except Exception as error:  # whatever a transport raises, in groups and chains
        for cause in causes_of(error):
            if isinstance(cause, SkillgenError):
                raise cause from None
        if login.announce is None:
            return None  # the crawl will tell
        lost = lost_through(error)
        fix = getattr(lost, "fix", None)
        raise SourceError(f"the login fails: {printable(str(lost))}", where=where, fix=fix) from None
    if status == 401 and login.announce is not None:
        raise SourceError("the server refuses the token of the login", where=where, fix="skillgen logout, and again")
    tokens = provider.context.current_tokens
    return None if tokens is None else tokens.access_token


async def _ask(target: ServerTarget, url: str, provider: Provider, bounds: Bounds) -> int:
    """Sends a request that changes nothing, for which the provider gets a token, and gives the status."""
    message = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
    headers = [*target.headers, ("Accept", "application/json, text/event-stream")]
    hooks: dict[str, list[Callable[..., Any]]] = {"request": [bounds.check], "response": [bounds.read]}
    timeout = httpx2.Timeout(target.timeout_s)
    with bounds.running():
        async with (
            httpx2.AsyncClient(auth=provider, headers=headers, timeout=timeout, event_hooks=hooks) as client,
            client.stream("POST", url, json=message) as response,
        ):
            return int(response.status_code)
    raise AssertionError("what was cancelled is told")


def _provider(url: str, login: Login, file: LoginFile, redirect: Redirect, bounds: Bounds) -> Provider:
    announce = login.announce

    async def show(page: str) -> None:
        assert announce is not None
        await bounds.check_address(checked_page(page))
        announce(f"log in to {published_url(url)} at: {page}")
        announce(f"waiting up to {PERSON_S / 60:g} minutes for the login (Ctrl-C ends it)")
        if _has_browser():
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()

    async def answer() -> AuthorizationCodeResult:
        with bounds.while_a_person_acts(), anyio.fail_after(PERSON_S):
            while not redirect.has_come.is_set():  # a thread that waits could not be interrupted
                await anyio.sleep(_LOOK_S)
        said = redirect.answer
        if "code" not in said:
            raise OAuthFlowError(said.get("error_description") or said.get("error") or "no code came back")
        return AuthorizationCodeResult(code=said["code"], state=said.get("state"), iss=said.get("iss"))

    is_document = login.client_id is not None and urlsplit(login.client_id).scheme == "https"
    metadata = OAuthClientMetadata.model_validate(
        {
            "client_name": "skillgen",
            "redirect_uris": [redirect.url],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }
    )

    async def may_get_secret(issuer: str, kept: str | None) -> bool:
        trusted = login.issuer or kept
        if trusted is not None and trusted.rstrip("/") == issuer.rstrip("/"):
            return True
        if login.issuer is not None or login.confirm is None:
            return False
        with bounds.while_a_person_acts():
            return await anyio.to_thread.run_sync(login.confirm, issuer)

    store = Store(file, None if is_document else _named_client(login, redirect), redirect.url)
    return Provider(
        url,
        store,
        metadata,
        client_metadata_url=login.client_id if is_document else None,
        show=show if announce is not None else None,
        answer=answer if announce is not None else None,
        may_get_secret=may_get_secret if login.client_secret is not None else None,
    )


def _named_client(login: Login, redirect: Redirect) -> OAuthClientInformationFull | None:
    if login.client_id is None:
        return None
    secret = login.client_secret
    return OAuthClientInformationFull.model_validate(
        {
            "client_id": login.client_id,
            "client_secret": secret,
            "redirect_uris": [redirect.url],
            "token_endpoint_auth_method": "none" if secret is None else "client_secret_post",
        }
    )


def _port_of(file: LoginFile) -> int:
    """Gives the port that the client was registered with: some authorization servers want the very same."""
    client = file.read().get("client")
    uris = client.get("redirect_uris") if isinstance(client, dict) else None
    try:
        return urlsplit(str(uris[0])).port or 0 if isinstance(uris, list) and uris else 0
    except ValueError:
        return 0


def _has_browser() -> bool:
    """Tells whether there is a browser with a window: one in the terminal would take it over."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))
