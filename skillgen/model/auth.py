"""Where a service is, what a caller must have, and how often it may call."""

from __future__ import annotations

from typing import Literal

from skillgen.model.values import Origins, Value, frozen

AccessLevel = Literal["none", "read", "browse", "interact", "full"]


@frozen
class Access:
    """Other ways to use what the service gives (seed 000, `alternativeAccess`).

    Each is a URL, `Value(None)` where the source says that there is none, or `None` where it says nothing.
    """

    cli: Value | None = None
    """Documentation of a command line."""

    api: Value | None = None
    """Documentation of an HTTP API."""

    web: Value | None = None
    """A web interface."""

    mcp: Value | None = None
    """An MCP server: its address, or its documentation."""

    api_endpoint: str | None = None
    """The base URL of the HTTP API (seed 000, web profile, `api-endpoint`)."""

    origins: Origins | None = None
    """Where each of them is declared."""


@frozen
class Scope:
    """A permission that a caller is granted."""

    name: str
    """As it is asked for."""

    description: str | None = None
    """What it allows."""

    grants: tuple[str, ...] = ()
    """Names of the tools that it unlocks (seed 004, 4)."""


@frozen
class Auth:
    """One way to authenticate."""

    kind: str
    """`oauth2`, `bearer`, `basic`, `api-key`, `openIdConnect`, `mutualTLS`, or the source's own word."""

    name: str | None = None
    """The name of the security scheme (OpenAPI)."""

    description: str | None = None
    """How to get and use the credential, as the source says it."""

    sent_as: str | None = None
    """Where the credential goes, such as `header X-API-Key` or `Authorization: Bearer`."""

    token_format: str | None = None
    """What kind of token it is, such as `JWT` (OpenAPI, `bearerFormat`)."""

    flow: str | None = None
    """The OAuth 2.0 flow, such as `authorizationCode`."""

    authorization_url: str | None = None
    """Where the user consents."""

    token_url: str | None = None
    """Where a token is issued."""

    refresh_url: str | None = None
    """Where a token is renewed."""

    device_authorization_url: str | None = None
    """Where a device asks for a code (RFC 8628)."""

    metadata_url: str | None = None
    """What the authorization server says of itself (RFC 8414; OpenID Connect Discovery)."""

    pkce: bool | None = None
    """Whether the source says that PKCE is used (`x-usePkce`)."""

    deprecated: bool = False
    """Whether it should not be used any more."""

    scopes: tuple[Scope, ...] = ()
    """The scopes that can be asked for."""

    is_for_events: bool = False
    """Whether only requests that the service itself sends use it."""

    pointer: str
    """JSON pointer to it in the source."""


@frozen
class Credential:
    """A security scheme that a call uses, and what it must allow."""

    scheme: str
    """The name of one of the service's `Auth`s."""

    scopes: tuple[str, ...] = ()
    """Scopes (or roles) that it needs."""


@frozen
class Requirements:
    """What must be there before the service can be used."""

    auth: tuple[Auth, ...] = ()
    """Ways to authenticate; one of them is enough unless a tool's `auth` says otherwise."""

    registration_url: str | None = None
    """Where a client is registered, as the source says it."""

    env: tuple[str, ...] = ()
    """Names of environment variables; never their values."""

    scopes: tuple[str, ...] = ()
    """Scopes that the service as a whole needs."""

    bins: tuple[str, ...] = ()
    """Programs on the PATH."""

    os: tuple[str, ...] = ()
    """`darwin`, `linux` or `windows`."""

    session_ttl_s: int | None = None
    """Seconds without a call after which a session ends, and its authentication with it (seed 004, 4)."""


@frozen
class RateLimit:
    """How often something may be called."""

    text: str | None = None
    """In the source's own words."""

    requests_per_minute: int | None = None
    """Calls in a minute."""

    requests_per_day: int | None = None
    """Calls in a day."""


@frozen
class Invocation:
    """Who may start the skill (seed 000, `invocation`)."""

    model_invocable: bool | None = None
    """Whether an agent may use it of its own accord."""

    user_invocable: bool | None = None
    """Whether a user sees it in a menu."""

    argument_hint: str | None = None
    """What a user may write after the name of the skill."""

    allowed_tools: tuple[str, ...] = ()
    """Tools that the source would have pre-approved. Never passed on silently."""


@frozen
class EndpointVariable:
    """A part of an address that a caller chooses."""

    name: str
    """As it stands between braces."""

    default: str | None = None
    """What it is unless something else is chosen."""

    choices: tuple[str, ...] = ()
    """What it can be; empty where anything goes."""

    description: str | None = None
    """What it is for."""


@frozen
class Endpoint:
    """An address at which the service is reached."""

    url: str
    """Without credentials; `{name}` stands for a variable."""

    description: str | None = None
    """What it is."""

    template: str | None = None
    """The address with `{name}` in the place of its variables, where it has some; `url` has their defaults."""

    variables: tuple[EndpointVariable, ...] = ()
    """What stands for the variables."""

    origins: Origins | None = None
    """Where `url` comes from when the source does not declare it, or not all of it."""
