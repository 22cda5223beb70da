"""Endpoints, authentication, requirements and rate limits."""

from __future__ import annotations

from typing import Literal

from skillgen.model.values import Declared, Node, Origins

AccessLevel = Literal["none", "read", "browse", "interact", "full"]


LOGIN_POINTER = "/paths"
"""Pointer of a credential that is a parameter of most tools, not a declared scheme."""


SIGNATURE = "aws-sigv4"
"""Kind of a login by which each request is signed (AWS Signature Version 4)."""


class Access(Node, frozen=True, kw_only=True):
    """Other ways to use the service (seed 000, `alternativeAccess`).

    Each is a URL, `Value(None)` if declared as absent, or `None` if not declared.
    """

    cli: Declared = None
    """Documentation of a command line."""

    api: Declared = None
    """Documentation of an HTTP API."""

    web: Declared = None
    """A web interface."""

    mcp: Declared = None
    """An MCP server: its URL, or its documentation."""

    api_endpoint: str | None = None
    """The base URL of the HTTP API (seed 000, web profile, `api-endpoint`)."""

    origins: Origins | None = None
    """Origins of these fields."""


class Scope(Node, frozen=True, kw_only=True):
    """A permission."""

    name: str
    """The identifier that is requested."""

    description: str | None = None
    """What it allows."""

    grants: tuple[str, ...] = ()
    """Names of the tools that it unlocks (seed 004, 4)."""


class Auth(Node, frozen=True, kw_only=True):
    """An authentication method."""

    kind: str
    """`oauth2`, `bearer`, `basic`, `api-key`, `openIdConnect`, `mutualTLS`, `aws-sigv4`, or a term of the source."""

    name: str | None = None
    """The name of the security scheme (OpenAPI)."""

    description: str | None = None
    """How to get and use the credential."""

    sent_as: str | None = None
    """Where the credential is sent, such as `header X-API-Key` or `Authorization: Bearer`."""

    token_format: str | None = None
    """The format of the token, such as `JWT` (OpenAPI, `bearerFormat`)."""

    signing_name: str | None = None
    """The name of the service in the signatures of its requests (AWS Signature Version 4)."""

    flow: str | None = None
    """The OAuth 2.0 flow, such as `authorizationCode`."""

    authorization_url: str | None = None
    """URL at which the user consents."""

    token_url: str | None = None
    """URL at which a token is issued."""

    refresh_url: str | None = None
    """URL at which a token is renewed."""

    device_authorization_url: str | None = None
    """URL at which a device requests a code (RFC 8628)."""

    metadata_url: str | None = None
    """URL of the authorization server's metadata (RFC 8414; OpenID Connect Discovery)."""

    pkce: bool | None = None
    """Whether PKCE is declared (`x-usePkce`)."""

    deprecated: bool = False
    """Whether it is deprecated."""

    scopes: tuple[Scope, ...] = ()
    """The available scopes."""

    is_for_events: bool = False
    """Whether only requests that the service itself sends use it."""

    pointer: str
    """JSON pointer to it in the source."""

    @property
    def field(self) -> str:
        """The field of a request that it sends, which a request has once: `header x-api-key`."""
        is_header = self.kind in ("oauth2", "openIdConnect") or (self.sent_as or "").startswith("Authorization")
        return "header authorization" if is_header else (self.sent_as or self.kind).lower()

    @property
    def prefix(self) -> str:
        """What precedes the credential in `Authorization`: `Bearer `, or `Token token=`."""
        word = (self.sent_as or "Authorization: Bearer").partition("Authorization: ")[2]
        return word if word.endswith("=") or not word else f"{word} "


class Credential(Node, frozen=True, kw_only=True):
    """A security scheme that a call uses, with the required scopes."""

    scheme: str
    """The name of one of the service's `Auth`s."""

    scopes: tuple[str, ...] = ()
    """The required scopes (or roles)."""


class Requirements(Node, frozen=True, kw_only=True):
    """What a caller needs before the service can be used."""

    auth: tuple[Auth, ...] = ()
    """Authentication methods; one of them is enough unless a tool's `auth` says otherwise."""

    registration_url: str | None = None
    """URL at which a client is registered."""

    env: tuple[str, ...] = ()
    """Names of environment variables, never values."""

    scopes: tuple[str, ...] = ()
    """Scopes that the service needs, whatever the tool."""

    bins: tuple[str, ...] = ()
    """Programs on the PATH."""

    os: tuple[str, ...] = ()
    """`darwin`, `linux` or `windows`."""

    session_ttl_s: int | None = None
    """Seconds without a call after which a session and its authentication expire (seed 004, 4)."""


class RateLimit(Node, frozen=True, kw_only=True):
    """How often something may be called."""

    text: str | None = None
    """The text of the source."""

    requests_per_minute: int | None = None
    """Calls per minute."""

    requests_per_day: int | None = None
    """Calls per day."""


class Invocation(Node, frozen=True, kw_only=True):
    """Who may invoke the skill (seed 000, `invocation`)."""

    model_invocable: bool | None = None
    """Whether an agent may invoke it by itself."""

    user_invocable: bool | None = None
    """Whether it is in the user's menu."""

    argument_hint: str | None = None
    """What a user may type after the name of the skill."""

    allowed_tools: tuple[str, ...] = ()
    """Tools that the source wants pre-approved; never passed on silently."""


class EndpointVariable(Node, frozen=True, kw_only=True):
    """A part of a URL that the caller chooses."""

    name: str
    """The name between the braces."""

    default: str | None = None
    """The default value."""

    choices: tuple[str, ...] = ()
    """The allowed values; empty if any value is allowed."""

    description: str | None = None
    """What it is for."""


class Endpoint(Node, frozen=True, kw_only=True):
    """A base URL of a service."""

    url: str
    """The URL without credentials; `{name}` is a variable."""

    description: str | None = None
    """What it is."""

    template: str | None = None
    """The URL with `{name}` for each variable, if it has any; `url` has their defaults."""

    variables: tuple[EndpointVariable, ...] = ()
    """The variables."""

    origins: Origins | None = None
    """Origin of `url`, if the source does not declare it completely."""
