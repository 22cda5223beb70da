"""The SDK's OAuth provider, bounded: it remembers what renewing a token takes, and trusts no address blindly."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import httpx2

from skillgen.model.value import Json
from skillgen.sources.mcp.oauth.keeping import Kept, LoginFile
from skillgen.sources.mcp.sdk import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthClientProvider,
    OAuthFlowError,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)

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
        self.kept: Kept = file.read()

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
