"""OAuth login: gets the token for an MCP server with the OAuth provider of the SDK.

The SDK implements the flow: protected-resource metadata, client registration, PKCE and the page in the browser. It has
no limits, and follows every URL that a server names. So this module adds limits on size and time, checks each host
before connecting to it, stores the login, and receives the redirect on the loopback interface (RFC 8252, 7.3).
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
import webbrowser
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, closing, suppress
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import anyio
import anyio.to_thread
import httpx2

from skillgen.errors import SkillgenError, SourceError
from skillgen.model.values import Json
from skillgen.security.secrets import hosts_of, public_url, published_url
from skillgen.sources.http import resolve_public_address
from skillgen.sources.json_access import TOTAL_TIMEOUT_FACTOR, texts_of
from skillgen.sources.mcp import sdk
from skillgen.sources.mcp.connect import LoginFile, StoredLogin
from skillgen.sources.mcp.http import error_from_transport
from skillgen.sources.mcp.target import Login, ServerTarget
from skillgen.text.unicode import printable

_REFRESH_EARLY_S = 60
"""How long before its expiry a token is refreshed, so that it lasts for the crawl."""

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class _TokenProvider(sdk.auth.OAuthClientProvider):
    """Adds a token to requests: the stored one, a refreshed one, or one for which a person logs in.

    It is also the storage that the SDK requires, in the file of the login.
    """

    def __init__(self, url: str, login: Login, file: LoginFile, redirect: _Redirect, limits: LoginLimits) -> None:
        """Requests have the stored token or none, until `may_ask` is set."""
        self.may_ask = False
        self._login, self._file, self._redirect, self._limits = login, file, redirect, limits
        self._stored: StoredLogin = file.read()
        is_document = login.client_id is not None and urlsplit(login.client_id).scheme == "https"
        # A client that the user names takes precedence over the registered one.
        self._client = None if is_document else _named_client(login, redirect)
        metadata = sdk.models.OAuthClientMetadata.model_validate(
            {
                "client_name": "skillgen",
                "redirect_uris": [redirect.url],
                "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
                "token_endpoint_auth_method": "none",
            }
        )
        client_document = login.client_id if is_document else None
        super().__init__(url, metadata, self, self._show, self._answer, client_document)

    async def get_tokens(self) -> sdk.models.OAuthToken | None:
        """Returns the tokens of the last login."""
        tokens: sdk.models.OAuthToken | None = _read(sdk.models.OAuthToken, self._stored.get("tokens"))
        return tokens

    async def set_tokens(self, tokens: sdk.models.OAuthToken) -> None:
        """Stores tokens with what the SDK does not know in the next process: their expiry and who refreshes them."""
        self._update(
            tokens=_dumped(tokens),
            expires_at=None if tokens.expires_in is None else int(time.time()) + tokens.expires_in,
            issuer=self.context.auth_server_url,
            metadata=_dumped(self.context.oauth_metadata),
            resource=_dumped(self.context.protected_resource_metadata),
        )

    async def get_client_info(self) -> sdk.models.OAuthClientInformationFull | None:
        """Returns the client that the user names, or the registered one."""
        return self._client or _read(sdk.models.OAuthClientInformationFull, self._stored.get("client"))

    async def set_client_info(self, client_info: sdk.models.OAuthClientInformationFull) -> None:
        """Stores the client that the authorization server registered."""
        self._update(client=_dumped(client_info))

    def _update(self, **values: Json) -> None:
        self._stored = {**self._stored, **values}
        self._file.write(self._stored)

    async def _initialize(self) -> None:
        await super()._initialize()
        login, context = self._stored, self.context
        expires_at = login.get("expires_at")
        context.token_expiry_time = expires_at - _REFRESH_EARLY_S if isinstance(expires_at, (int, float)) else None
        context.auth_server_url = login["issuer"] if isinstance(login.get("issuer"), str) else None
        context.oauth_metadata = _read(sdk.models.OAuthMetadata, login.get("metadata"))
        context.protected_resource_metadata = _read(sdk.models.ProtectedResourceMetadata, login.get("resource"))

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        flow = super()._auth_flow(request)
        async with aclosing(flow):
            with suppress(StopAsyncIteration):
                sent = await anext(flow)
                while True:
                    response = yield sent
                    if sent is request and not self.may_ask:
                        return
                    is_answered = response.status_code < 500 and response.status_code not in (401, 403, 404)
                    if sent is request and is_answered and "authorization" not in request.headers:
                        # The user requests a login, but the server answers this request without one.
                        response = httpx2.Response(401, request=request)
                    sent = await flow.asend(response)

    def ask(self) -> None:
        """Has the next request ask a person to log in, with a client that has this redirect URI."""
        self.may_ask = True
        client = self.context.client_info
        if client is not self._client and self._redirect.url not in map(str, (client and client.redirect_uris) or ()):
            self.context.client_info = None

    async def check(self, request: httpx2.Request) -> None:
        """Rejects a request of the login without encryption, or with a secret that is meant for another server."""
        if str(request.url) != self.context.server_url:
            _require_https(str(request.url))
        if request.method == "POST" and b"grant_type=" in request.content:
            await self._require_trusted_issuer()

    async def _show(self, page: str) -> None:
        """Shows the login page, unless the authorization server lacks what a safe login needs."""
        metadata, announce = self.context.oauth_metadata, self._login.announce
        assert announce is not None
        # MCP requires PKCE of clients (2025-11-25, "Authorization").
        if metadata is not None and "S256" not in (metadata.code_challenge_methods_supported or ()):
            what = "the authorization server does not declare PKCE: code_challenge_methods_supported"
            raise sdk.auth.OAuthFlowError(what)
        await self._require_trusted_issuer()
        _require_https(page)  # OAuth 2.1, 1.5
        if not (page.isascii() and page.isprintable() and len(page) <= _PAGE_LIMIT):
            raise sdk.auth.OAuthFlowError("the server names an invalid URL for the login")
        await self._limits.check_address(page)
        announce(f"log in to {published_url(self.context.server_url)} at: {page}")
        announce(f"waiting up to {_PERSON_S / 60:g} minutes for the login (Ctrl-C ends it)")
        if _has_browser():
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()

    async def _answer(self) -> sdk.models.AuthorizationCodeResult:
        """Waits until the browser of the person is redirected to skillgen."""
        with anyio.move_on_after(_PERSON_S) as waiting:
            query = await self._redirect.answer
        if waiting.cancelled_caught:
            what = f"nobody logged in within {_PERSON_S:g} seconds"
            raise SourceError(what, where=self._limits.where, fix="run the command again and log in")
        if "code" not in query:
            what = query.get("error_description") or query.get("error") or "the answer has no code"
            raise sdk.auth.OAuthFlowError(what)
        return sdk.models.AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))

    async def _require_trusted_issuer(self) -> None:
        """Raises instead of sending the client's secret to an authorization server that the user does not trust."""
        login, issuer = self._login, self._expected_issuer()
        if login.client_secret is None:
            return
        stored = self._stored.get("trusted_issuer")
        trusted = str(login.issuer or stored or "").rstrip("/") == issuer.rstrip("/")
        if not trusted and login.issuer is None and login.confirm is not None:
            trusted = await anyio.to_thread.run_sync(login.confirm, issuer)
        if not trusted:
            name = printable(issuer)
            what = f"the server names the authorization server {name}, which may not get the client secret"
            fix = f"if the client is registered there, add --issuer {name}"
            raise SourceError(f"the login fails: {what}", where=self._limits.where, fix=fix)
        if stored != issuer:
            self._update(trusted_issuer=issuer)


def _require_https(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise sdk.auth.OAuthFlowError("the server names a login URL that does not begin with https://")


def _read(kind: Any, data: Json) -> Any:
    """Returns a stored value as a model of the SDK; `None` if another version stored it in an unknown form."""
    with suppress(ValueError):
        return None if data is None else kind.model_validate(data)
    return None


def _dumped(model: Any) -> Json:
    return None if model is None else model.model_dump(mode="json", exclude_none=True)


_CALLBACK_PATH = "/callback"

_PAGE = b"""<!doctype html><meta charset="utf-8"><title>skillgen</title>
<p>That is all. Close this page and go back to the terminal.</p>
"""


class _Redirect:
    """The redirect of the browser, which arrives on the loopback interface (RFC 8252, 7.3)."""

    def __init__(self) -> None:
        self.url = ""
        """The redirect URI."""
        self.answer: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()

    @asynccontextmanager
    async def listening(self, port: int) -> AsyncIterator[None]:
        """Listens in the block, on another port if the given one is in use."""
        try:
            server = await asyncio.start_server(self._receive, "127.0.0.1", port)
        except OSError:
            server = await asyncio.start_server(self._receive, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{_CALLBACK_PATH}"
        try:
            yield
        finally:
            server.close()

    async def _receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Receives the answer of the authorization server; other requests of the browser get a 404."""
        with suppress(OSError, ValueError, EOFError, asyncio.LimitOverrunError), closing(writer):
            request = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            parts = urlsplit(request.split(" ", 2)[1] if request.startswith("GET ") else "")
            query = dict(parse_qsl(parts.query))
            is_answer = parts.path == _CALLBACK_PATH and ("code" in query or "error" in query)
            status, body = ("200 OK", _PAGE) if is_answer else ("404 Not Found", b"")
            headers = f"Content-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\nConnection: close"
            writer.write(f"HTTP/1.1 {status}\r\n{headers}\r\n\r\n".encode() + body)
            await writer.drain()
            if is_answer and not self.answer.done():
                self.answer.set_result(query)


_BODY_LIMIT_BYTES = 1024 * 1024
"""Maximum size of a response; metadata, registrations and tokens take a few thousand bytes."""

_STATUSES_WITH_BODY = (401, 403)
"""Statuses for which the body of the MCP server's own response is read; otherwise only its status matters."""


class LoginLimits:
    """Limits the size of responses and the hosts of one login."""

    def __init__(self, url: str, issuer: str | None = None) -> None:
        """`url` is the MCP server; `issuer` is the authorization server that the user names."""
        self.where = public_url(url)
        """The server in messages."""
        self._url = url
        self._trusted_hosts = hosts_of([url, issuer or ""])

    async def check(self, request: httpx2.Request) -> None:
        """Rejects a request to a private network that the user did not name; sends others to the checked address."""
        request.headers["Accept-Encoding"] = "identity"
        address = await self.check_address(str(request.url))
        if address is not None:
            request.headers["Host"] = request.url.netloc.decode("ascii")
            request.extensions = {**request.extensions, "sni_hostname": request.url.host}
            request.url = request.url.copy_with(host=address)

    async def check_address(self, url: str) -> str | None:
        """Returns the IP address to connect to; `None` if the user named the host.

        Raises:
            SourceError: the host is in a private network, and the user did not name it.
        """
        return await anyio.to_thread.run_sync(resolve_public_address, url, self._trusted_hosts, self.where)

    async def read(self, response: httpx2.Response) -> None:
        """Reads the body of a response.

        Raises:
            SourceError: the body is too large, or compressed although the request excludes it.
        """
        request = response.request
        is_ping = request.method == "POST" and str(request.url) == self._url
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            raise self._response_error("compressed, although the request allows only `identity`")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        content = bytearray()
        if not is_ping or response.status_code in _STATUSES_WITH_BODY:
            async for chunk in response.stream:
                content += chunk
                if len(content) > _BODY_LIMIT_BYTES:
                    raise self._response_error(f"larger than {_BODY_LIMIT_BYTES // 2**20} MiB")
        await response.stream.aclose()
        response.stream = httpx2.ByteStream(bytes(content))

    def _response_error(self, what: str) -> SourceError:
        return SourceError(f"the login fails: a response is {what}", where=self.where)


_PERSON_S = 300.0
"""How long a person may take to log in."""

_PAGE_LIMIT = 8_000
"""Characters of a URL that browsers and servers take (RFC 9110, 4.1)."""


def token_for(target: ServerTarget, url: str, file: LoginFile) -> str | None:
    """Returns a token: the stored one, a refreshed one, or one for which a person logs in; `None` without any.

    Raises:
        SourceError: the login failed or took too long.
    """
    login, where = target.login, public_url(url)
    try:
        status, token = asyncio.run(_send_ping(target, url, file))
    except SkillgenError:
        raise
    except (sdk.auth.OAuthRegistrationError, sdk.auth.OAuthFlowError, sdk.auth.OAuthTokenError) as error:
        fix = "try again, or give a token with --header 'Authorization: Bearer TOKEN'"
        if isinstance(error, sdk.auth.OAuthRegistrationError):
            fix = "register a client there and name it with --client-id, or give a token with --header"
        raise SourceError(f"the login fails: {printable(str(error))}", where=where, fix=fix) from None
    except Exception as error:  # whatever a transport raises, in groups and chains
        if login.announce is None:
            return None  # the crawl reports the error
        lost = error_from_transport(error)
        what = f"the login fails: {printable(str(lost))}"
        raise SourceError(what, where=where, fix=getattr(lost, "fix", None)) from None
    if status == 401 and login.announce is not None:
        what, fix = "the server rejects the token of the login", "run `skillgen logout`, then log in again"
        raise SourceError(what, where=where, fix=fix)
    return token


async def _send_ping(target: ServerTarget, url: str, file: LoginFile) -> tuple[int, str | None]:
    """Sends a `ping`, for which the provider gets a token; returns the HTTP status and the token."""
    message = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
    headers = [*target.headers, ("Accept", "application/json, text/event-stream")]
    limits, redirect, login = LoginLimits(url, target.login.issuer), _Redirect(), target.login
    seconds = TOTAL_TIMEOUT_FACTOR * target.timeout_s + (_PERSON_S if login.announce is not None else 0)
    async with redirect.listening(_registered_port(file)):
        provider = _TokenProvider(url, login, file, redirect, limits)
        hooks: dict[str, list[Any]] = {"request": [provider.check, limits.check], "response": [limits.read]}
        client = httpx2.AsyncClient(auth=provider, headers=headers, timeout=target.timeout_s, event_hooks=hooks)
        with anyio.move_on_after(seconds):
            async with client:
                status = (await client.post(url, json=message)).status_code
                if status == 401 and provider.context.can_refresh_token():
                    provider.context.token_expiry_time = 1.0  # it may be revoked before it expires
                    status = (await client.post(url, json=message)).status_code
                if login.announce is not None and (status in (401, 403) or provider.context.current_tokens is None):
                    provider.ask()
                    status = (await client.post(url, json=message)).status_code
                tokens = provider.context.current_tokens
                return status, None if tokens is None else tokens.access_token
    raise SourceError(f"the login took longer than {seconds:g} s", where=limits.where, fix="try again later")


def _named_client(login: Login, redirect: _Redirect) -> sdk.models.OAuthClientInformationFull | None:
    if login.client_id is None:
        return None
    secret = login.client_secret
    return sdk.models.OAuthClientInformationFull.model_validate(
        {
            "client_id": login.client_id,
            "client_secret": secret,
            "redirect_uris": [redirect.url],
            "token_endpoint_auth_method": "none" if secret is None else "client_secret_post",
        }
    )


def _registered_port(file: LoginFile) -> int:
    """Returns the port of the registered redirect URI, which some authorization servers compare; 0 if unknown."""
    uris = texts_of(file.read().get("client"), "redirect_uris")
    with suppress(ValueError, IndexError):
        return urlsplit(uris[0]).port or 0
    return 0


def _has_browser() -> bool:
    """True if there is a graphical browser; a text browser would take over the terminal."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))
