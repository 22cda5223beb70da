"""Login over the SDK provider; token store.

The SDK's OAuth provider, bounded: it remembers what renewing a token takes, and trusts no address blindly.

Where the browser comes back to after a login: a page on the loopback interface (RFC 8252, 7.3).

What a login may cost, and where it may lead: what a server names for it is looked at before anything is sent there.

The SDK reads whatever comes, for as long as it comes, from wherever the server says.

Gets a token as the protocol asks for it: protected-resource metadata, a client, PKCE, and a page in the browser.

The flow itself is the SDK's. Here is who is asked, where the browser comes back to, and what a failure means.
"""

from __future__ import annotations

import asyncio
import math
import os
import sys
import threading
import time
import webbrowser
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import anyio
import anyio.to_thread
import httpx2

from skillgen.errors import SkillgenError, SourceError
from skillgen.model.values import Json
from skillgen.security.addresses import hosts_of, public_url
from skillgen.security.secrets import published_url
from skillgen.sources.http import resolve_public_address
from skillgen.sources.json_access import TOTAL_TIMEOUT_FACTOR
from skillgen.sources.mcp.http import causes_of, error_from_transport
from skillgen.sources.mcp.sdk import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthClientProvider,
    OAuthFlowError,
    OAuthMetadata,
    OAuthRegistrationError,
    OAuthToken,
    OAuthTokenError,
    ProtectedResourceMetadata,
)
from skillgen.sources.mcp.target import Login, ServerTarget
from skillgen.sources.mcp.tokens import LoginFile, StoredLogin
from skillgen.text.unicode import printable

_EARLY_S = 60
"""How long before its end a token is renewed: a crawl must not outlive it."""

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class UntrustedIssuer(Exception):
    """The server names an authorization server that may not get the client's secret."""

    def __init__(self, issuer: str) -> None:
        super().__init__(issuer)
        self.issuer = issuer


class Store:
    """The storage that the SDK asks for, over what is kept."""

    def __init__(self, file: LoginFile, client: OAuthClientInformationFull | None, redirect_uri: str) -> None:
        """A `client` that the user names wins over the one that was registered."""
        self._file = file
        self._client = client
        self._redirect_uri = redirect_uri
        self.kept: StoredLogin = file.read()

    async def get_tokens(self) -> OAuthToken | None:
        """Gives the tokens of the last login."""
        tokens: OAuthToken | None = _read(OAuthToken, self.kept.get("tokens"))
        return tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keeps tokens, with the time at which they end: the SDK does not know it any more in the next process."""
        ends = None if tokens.expires_in is None else int(time.time()) + tokens.expires_in
        self._keep(tokens=tokens.model_dump(mode="json", exclude_none=True), expires_at=ends)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Gives the client that was named or registered."""
        return self._client or _read(OAuthClientInformationFull, self.kept.get("client"))

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keeps the client that the authorization server registered."""
        self._keep(client=client_info.model_dump(mode="json", exclude_none=True))

    def may_ask_as(self, client: OAuthClientInformationFull) -> bool:
        """Tells whether a client may send a browser back here; to renew a token, any may."""
        return client is self._client or self._redirect_uri in map(str, client.redirect_uris or ())

    def keep_trusted(self, issuer: str) -> None:
        """Keeps the authorization server that may get the client's secret."""
        self._keep(trusted_issuer=issuer)

    def keep_servers(self, provider: Provider) -> None:
        """Keeps where tokens are renewed."""
        context = provider.context
        self._keep(
            issuer=context.auth_server_url,
            metadata=_dumped(context.oauth_metadata),
            resource=_dumped(context.protected_resource_metadata),
        )

    def _keep(self, **values: Json) -> None:
        self.kept = {**self.kept, **values}
        self._file.write(self.kept)


class Provider(OAuthClientProvider):
    """Gives requests a token: the one that is kept, a renewed one, or one for which a person logs in."""

    def __init__(
        self,
        url: str,
        store: Store,
        client: OAuthClientMetadata,
        *,
        client_metadata_url: str | None,
        show: Callable[[str], Awaitable[None]] | None,
        answer: Callable[[], Awaitable[AuthorizationCodeResult]] | None,
        may_get_secret: Callable[[str, str | None], Awaitable[bool]] | None,
    ) -> None:
        """Without `show` and `answer` nobody is asked: a request goes out with what is kept, or with nothing.

        `may_get_secret` decides on an issuer, given the one that was trusted before; `None` where there is no secret.
        """

        async def show_checked(page: str) -> None:
            assert show is not None
            self._refuse_without_pkce()
            await self._check_issuer()
            await show(page)

        super().__init__(url, client, store, show_checked if show is not None else None, answer, client_metadata_url)
        self._store = store
        self._may_ask = show is not None
        self._may_get_secret = may_get_secret

    async def _initialize(self) -> None:
        await super()._initialize()
        kept, context = self._store.kept, self.context
        ends = kept.get("expires_at")
        context.token_expiry_time = ends - _EARLY_S if isinstance(ends, (int, float)) else None
        context.auth_server_url = kept["issuer"] if isinstance(kept.get("issuer"), str) else None
        context.oauth_metadata = _read(OAuthMetadata, kept.get("metadata"))
        context.protected_resource_metadata = _read(ProtectedResourceMetadata, kept.get("resource"))

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        flow = super()._auth_flow(request)
        is_renewed = False
        try:
            asked = await anext(flow)
            while True:
                if asked is not request:
                    _refuse_plain(str(asked.url))
                    if asked.method == "POST" and b"grant_type=" in asked.content:
                        await self._check_issuer()
                response = yield asked
                if asked is request and response.status_code in (401, 403) and not is_renewed:
                    # A token may end before its time.
                    is_renewed = True
                    if response.status_code == 401 and self.context.can_refresh_token():
                        await flow.aclose()  # it holds a lock
                        self.context.token_expiry_time = 1.0
                        flow = super()._auth_flow(request)
                        asked = await anext(flow)
                        continue
                if asked is request and not self._may_ask:
                    return
                if asked is request and self._is_unasked(request, response):
                    # The user wants to log in, and this server lets strangers speak, for a while.
                    response = httpx2.Response(401, request=request)
                client = self.context.client_info
                if asked is request and client is not None and not self._store.may_ask_as(client):
                    self.context.client_info = None
                asked = await flow.asend(response)
        except StopAsyncIteration:
            if self.context.current_tokens is not None:
                self._store.keep_servers(self)
        finally:
            await flow.aclose()

    def _refuse_without_pkce(self) -> None:
        """Refuses an authorization server without PKCE, as MCP asks of clients (2025-11-25, "Authorization")."""
        metadata = self.context.oauth_metadata
        if metadata is not None and "S256" not in (metadata.code_challenge_methods_supported or ()):
            raise OAuthFlowError("the authorization server does not declare PKCE: code_challenge_methods_supported")

    async def _check_issuer(self) -> None:
        """Refuses to send the client's secret to an authorization server that the user does not trust."""
        if self._may_get_secret is None:
            return
        issuer, kept = self._expected_issuer(), self._store.kept.get("trusted_issuer")
        if not await self._may_get_secret(issuer, kept if isinstance(kept, str) else None):
            raise UntrustedIssuer(issuer)
        if kept != issuer:
            self._store.keep_trusted(issuer)

    @staticmethod
    def _is_unasked(request: httpx2.Request, response: httpx2.Response) -> bool:
        is_there = response.status_code < 500 and response.status_code not in (401, 403, 404)
        return is_there and "authorization" not in request.headers


def _refuse_plain(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise OAuthFlowError("it names an address for the login that is not of https://")


def checked_page(url: str) -> str:
    """Gives the address of a login page that may be opened in a browser.

    Raises:
        OAuthFlowError: it is not of https (OAuth 2.1, 1.5).
    """
    _refuse_plain(url)
    if not (url.isascii() and url.isprintable()):
        raise OAuthFlowError("it names an address for the login that is none")
    return url


def _read(kind: Any, data: Json) -> Any:
    """Gives what is kept as the SDK has it; what another version kept and this one cannot read is as good as none."""
    if data is None:
        return None
    try:
        return kind.model_validate(data)
    except ValueError:
        return None


def _dumped(model: Any) -> Json:
    return None if model is None else model.model_dump(mode="json", exclude_none=True)


CALLBACK_PATH = "/callback"

_PAGE = b"""<!doctype html><meta charset="utf-8"><title>skillgen</title>
<p>That is all. Close this page and go back to the terminal.</p>
"""


class Redirect(ThreadingHTTPServer):
    """A page that waits for the browser."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        """Begins to listen, at a free port unless one is named.

        Raises:
            OSError: the port is taken.
        """
        super().__init__(("127.0.0.1", port), _Page)
        self.answer: dict[str, str] = {}
        self.has_come = threading.Event()

    @property
    def url(self) -> str:
        """The redirect URI."""
        return f"http://127.0.0.1:{self.server_port}{CALLBACK_PATH}"


@contextmanager
def listening(port: int = 0) -> Iterator[Redirect]:
    """Listens for the browser; at another port where the one that is wished for is taken."""
    try:
        server = Redirect(port)
    except OSError:
        server = Redirect()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Page(BaseHTTPRequestHandler):
    server: Redirect

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the request holds the code."""

    def do_GET(self) -> None:
        """Takes the answer of the authorization server; what browsers ask for besides is not there."""
        parts = urlsplit(self.path)
        answer = dict(parse_qsl(parts.query))
        is_answer = parts.path == CALLBACK_PATH and ("code" in answer or "error" in answer)
        body = _PAGE if is_answer else b""
        self.send_response(200 if is_answer else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if is_answer and not self.server.has_come.is_set():
            self.server.answer = answer
            self.server.has_come.set()


_BODY_LIMIT_BYTES = 1024 * 1024
"""Metadata, registrations and tokens have a few thousand."""

_WITH_BODY = (401, 403)
"""Statuses of the server itself whose body may matter; of another one the status alone does."""


class Bounds:
    """The bounds of one login."""

    def __init__(self, url: str, timeout_s: float, issuer: str | None = None) -> None:
        """Bounds a login to the server at `url`; `issuer` is the authorization server that the user named."""
        self._url = url
        self._named = hosts_of([url, issuer or ""])
        self._whole_s = TOTAL_TIMEOUT_FACTOR * timeout_s
        self._scope: anyio.CancelScope | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Ends what takes too long.

        Raises:
            SourceError: it did.
        """
        with anyio.CancelScope(deadline=anyio.current_time() + self._whole_s) as scope:
            self._scope = scope
            yield
        if scope.cancelled_caught:
            where = public_url(self._url)
            raise SourceError(f"the login took longer than {self._whole_s:g} s", where=where, fix="try again later")

    @contextmanager
    def while_a_person_acts(self) -> Iterator[None]:
        """Stops the clock: a person takes their own time."""
        assert self._scope is not None
        self._scope.deadline = math.inf
        yield
        self._scope.deadline = anyio.current_time() + self._whole_s

    async def check(self, request: httpx2.Request) -> None:
        """Refuses a request to a private network that the user did not name; sends others to the checked address."""
        request.headers["Accept-Encoding"] = "identity"
        address = await self.check_address(str(request.url))
        if address is not None:
            request.headers["Host"] = request.url.netloc.decode("ascii")
            request.extensions = {**request.extensions, "sni_hostname": request.url.host}
            request.url = request.url.copy_with(host=address)

    async def check_address(self, url: str) -> str | None:
        """Refuses an address in a private network that the user did not name.

        Returns the address to connect to; `None` if the user named the host.

        Raises:
            SourceError: it is one.
        """
        return await anyio.to_thread.run_sync(resolve_public_address, url, self._named, public_url(self._url))

    async def read(self, response: httpx2.Response) -> None:
        """Reads a whole answer, as far as it may go.

        Raises:
            SourceError: it is too large, or compressed, which nobody asked for.
        """
        request = response.request
        is_own = request.method == "POST" and str(request.url) == self._url
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            raise self._too_much("compressed, though it was asked for plain text")
        content = bytearray()
        if not is_own or response.status_code in _WITH_BODY:
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            async for chunk in response.stream:
                content += chunk
                if len(content) > _BODY_LIMIT_BYTES:
                    raise self._too_much(f"larger than {_BODY_LIMIT_BYTES // 2**20} MiB")
        response.stream = _Read(response.stream, bytes(content))

    def _too_much(self, what: str) -> SourceError:
        return SourceError(f"the login fails: an answer is {what}", where=public_url(self._url))


class _Read(httpx2.AsyncByteStream):
    """What was read of a response, whose own stream is closed with it."""

    def __init__(self, stream: object, content: bytes) -> None:
        assert isinstance(stream, httpx2.AsyncByteStream)
        self._stream = stream
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._content

    async def aclose(self) -> None:
        await self._stream.aclose()


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
        lost = error_from_transport(error)
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
