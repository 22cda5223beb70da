"""Security schemes and requirements (OpenAPI 3.1, "Security Scheme Object")."""

from __future__ import annotations

from dataclasses import dataclass

from skillgen.errors import ProblemLog
from skillgen.model.pointer import child
from skillgen.model.service import Auth, Scope
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict, as_list, text_of

SCHEMES = "/components/securitySchemes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """What one operation asks of a caller."""

    schemes: tuple[str, ...] | None
    """Names of schemes of which one must be used; empty where none is needed, `None` where nothing is said."""

    scopes: tuple[str, ...]
    """All scopes that are named."""


def security_from(requirements: Json) -> Security:
    """Reads a list of security requirements; an absent list says nothing."""
    if not isinstance(requirements, list):
        return Security(schemes=None, scopes=())
    schemes: dict[str, None] = {}
    scopes: dict[str, None] = {}
    for requirement in requirements:
        for name, needed in as_dict(requirement).items():
            schemes[name] = None
            scopes.update((scope, None) for scope in as_list(needed) if isinstance(scope, str))
    return Security(schemes=tuple(schemes), scopes=tuple(scopes))


def auth_from_schemes(schemes: Json, problems: ProblemLog) -> tuple[Auth, ...]:
    """Reads `components.securitySchemes`; an OAuth 2.0 scheme gives one entry for each flow."""
    found: list[Auth] = []
    for name, scheme in as_dict(schemes).items():
        pointer = child(SCHEMES, name)
        if not isinstance(scheme, dict) or not isinstance(scheme.get("type"), str):
            problems.warning("security-scheme-invalid", pointer, "the security scheme has no type", "give it one")
        elif scheme["type"] == "oauth2":
            found.extend(_oauth_flows(name, scheme, pointer))
        else:
            found.append(_auth_from_scheme(name, scheme, pointer))
    return tuple(found)


def _auth_from_scheme(name: str, scheme: dict[str, Json], pointer: str) -> Auth:
    kind, sent_as = scheme["type"], None
    if kind == "apiKey":
        kind, sent_as = "api-key", f"{text_of(scheme, 'in') or 'header'} {text_of(scheme, 'name') or ''}".strip()
    elif kind == "http":
        word = (text_of(scheme, "scheme") or "").lower()
        kind, sent_as = word or "http", f"Authorization: {word.capitalize()}".rstrip(": ")
    return Auth(
        kind=kind,
        name=name,
        description=text_of(scheme, "description"),
        sent_as=sent_as,
        authorization_url=text_of(scheme, "openIdConnectUrl"),
        pointer=pointer,
    )


def _oauth_flows(name: str, scheme: dict[str, Json], pointer: str) -> list[Auth]:
    flows = as_dict(scheme.get("flows"))
    description = text_of(scheme, "description")
    if not flows:
        return [Auth(kind="oauth2", name=name, description=description, pointer=pointer)]
    return [
        Auth(
            kind="oauth2",
            name=name,
            description=description,
            flow=flow,
            authorization_url=text_of(as_dict(settings), "authorizationUrl"),
            token_url=text_of(as_dict(settings), "tokenUrl"),
            scopes=tuple(
                Scope(name=scope, description=meaning if isinstance(meaning, str) and meaning else None)
                for scope, meaning in as_dict(as_dict(settings).get("scopes")).items()
            ),
            pointer=child(pointer, "flows", flow),
        )
        for flow, settings in flows.items()
    ]
