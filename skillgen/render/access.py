"""Auth and endpoints in words.

Other ways to use a service, and how one authenticates, in words.

Environment variables that stand for credentials, and for an address that is not known, in examples.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from skillgen.model.auth import Auth, Endpoint
from skillgen.model.service import Service
from skillgen.model.values import Value
from skillgen.render.identity import skill_name
from skillgen.text.markdown import Markdown, code, inline

_LABELS = {"cli": "Command line", "api": "API documentation", "web": "Web interface", "mcp": "MCP server"}


def other_access(service: Service) -> list[tuple[str, str | None]]:
    """Gives the declared ways to use what the service gives; `None` where the source says that there is none."""
    found = []
    for field, label in _LABELS.items():
        link: Value | None = getattr(service.access, field)
        if link is not None and not (field == "mcp" and service.kind == "mcp"):
            found.append((label, url_of(link)))
    if service.kind == "mcp" and service.access.api_endpoint:
        found.append(("HTTP API", service.access.api_endpoint))
    return found


def web_access(service: Service) -> list[tuple[str, str]]:
    """Gives those of them that are addresses on the web, which alone can be links."""
    return [(label, url) for label, url in other_access(service) if url and url.startswith(("https://", "http://"))]


def url_of(link: Value | None) -> str | None:
    """Gives the URL of a link, where there is one."""
    return link.json if link is not None and isinstance(link.json, str) and link.json else None


def access_word(link: Value | None) -> Markdown:
    """Gives a link's URL, or says that there is none, or that nothing is declared: three different things."""
    if link is None:
        return Markdown("not declared")
    url = url_of(link)
    return code(url) if url else Markdown("none")


def base_url(url: str) -> str:
    """Gives an address without the slash at its end."""
    return url if url.endswith("://") else url.rstrip("/") or url


_AUTHENTICATION = re.compile(
    r"\b(?:authenti|authori[sz]|api[ _-]?keys?\b|access[ _-]tokens?\b|bearer\b)", re.IGNORECASE
)


def speaks_of_authentication(service: Service) -> bool:
    """Tells whether the description, which stands in the pages, has words on how to authenticate."""
    text = service.description if service.description != service.summary else None
    return bool(text and _AUTHENTICATION.search(text))


def has_choice(endpoints: Sequence[Endpoint]) -> bool:
    """Tells whether a caller can choose among addresses, or what stands in one."""
    return len(endpoints) > 1 or any(endpoint.variables for endpoint in endpoints)


def have_host(endpoints: Sequence[Endpoint]) -> bool:
    """Tells whether any address says at which host a service is reached."""
    return any("://" in endpoint.url for endpoint in endpoints)


def has_other_addresses(service: Service) -> bool:
    """Tells whether requests of some tools are sent to another address than that of the service."""
    usual = service.endpoints[0].url if service.endpoints else None
    return any(tool.endpoints and tool.endpoints[0].url != usual for tool in service.tools)


def address(endpoint: Endpoint) -> Markdown:
    """Gives an address without the slash at its end, and what of it the source does not declare."""
    shown, origin = code(base_url(endpoint.url)), (endpoint.origins or {}).get("url")
    if origin is None:
        return shown
    lead = "inferred" if origin.kind == "inferred" else "not declared"
    return Markdown(f"{shown} ({lead}: {inline(origin.source)})")


def host_names(service: Service) -> tuple[str, str]:
    """Gives how hosts show a tool of an MCP server: `SERVER:TOOL`, and `mcp__SERVER__TOOL` as Claude Code does."""
    server = service.server_name or service.name
    return f"{server}:TOOL", f"mcp__{re.sub('[^A-Za-z0-9_-]', '_', server)}__TOOL"


_PLACES = {"header": "header", "query": "query parameter", "cookie": "cookie"}


def auth_phrases(auth: tuple[Auth, ...]) -> list[Markdown]:
    """Says each way to authenticate once, in a few words."""
    return list(dict.fromkeys(_auth_phrase(item) for item in auth))


def _auth_phrase(auth: Auth) -> Markdown:
    phrase = f"{code(auth.name)} ({inline(auth.kind)})" if auth.name and auth.name != auth.kind else inline(auth.kind)
    use = ", only in requests that the service itself sends" if auth.is_for_events else ""
    return Markdown(f"{phrase}, {sent_as(auth)}{use}" if auth.sent_as else f"{phrase}{use}")


def sent_as(auth: Auth) -> Markdown:
    """Says where a credential goes: in the header `X-API-Key`, or as `Authorization: Bearer`."""
    place, _, name = (auth.sent_as or "").partition(" ")
    if name and place in _PLACES:
        return Markdown(f"in the {_PLACES[place]} {code(name)}")
    return Markdown(f"as {code(auth.sent_as or '')}")


SHOWN_SCHEMES = 6
"""Security schemes whose variables SKILL.md names at the most."""

ADDRESS_VARIABLE = re.compile(r"\{([^{}/]+)\}")
"""What stands for a part of an address that the source leaves open."""

_KEYS = frozenset({"api-key"})
_LOGINS = frozenset({"basic", "digest"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """One way to authenticate, as examples use it."""

    auth: Auth
    """What the source says of it."""

    variables: tuple[str, ...]
    """Names of environment variables: one, or those of a user and a password."""


def credentials(service: Service) -> dict[str, Credential]:
    """Returns how examples authenticate, by the name of the security scheme; each scheme has its own variables."""
    schemes = {auth.name: auth for auth in reversed(service.requirements.auth) if auth.name is not None}
    kinds = Counter(map(_words, schemes.values()))
    found = {}
    for name in reversed(schemes):
        auth = schemes[name]
        words = _words(auth)
        prefix = variable(service, name) if kinds[words] > 1 else variable(service)
        found[name] = Credential(auth=auth, variables=tuple(f"{prefix}_{word}" for word in words))
    return found


def example_variables(service: Service) -> list[Markdown]:
    """Returns the environment variables of the examples, each with what to put there."""
    if not any(example.request is not None for tool in service.tools for example in tool.examples):
        return []
    found = []
    if not any(endpoint.url.startswith(("http://", "https://")) for endpoint in service.endpoints):
        found.append(Markdown(f"{code(variable(service, 'BASE_URL'))} (the URL of the service)"))
    addresses, known = list(_address_variables(service)), credentials(service)
    for name in addresses[:SHOWN_SCHEMES]:
        found.append(Markdown(f"{code(variable(service, name))} (the value for {code(f'{{{name}}}')} in the URL)"))
    for name, credential in islice(known.items(), SHOWN_SCHEMES):
        names = " and ".join(code(item) for item in credential.variables)
        kind = " and ".join(word.lower().replace("_", " ").replace("api", "API") for word in _words(credential.auth))
        found.append(Markdown(f"{names} (the {kind} for {code(name)})"))
    left = sum(max(len(names) - SHOWN_SCHEMES, 0) for names in (addresses, known))
    return [*found, Markdown(f"{left:,} more in the examples of the tools")] if left else found


def _address_variables(service: Service) -> dict[str, None]:
    """Gives the variables in the addresses that the examples call which have no value of their own."""
    called = [tool.endpoints or service.endpoints for tool in service.tools]
    return dict.fromkeys(name for held in called if held for name in ADDRESS_VARIABLE.findall(held[0].url))


def variable(service: Service, *more: str) -> str:
    """Returns the name of an environment variable of a service: `SKILL_ACME_TASKS`.

    A source chooses the rest of the name. With the prefix it never names a variable of another program, whose value an
    example would then send to the source.
    """
    text = "_".join((skill_name(service), *more))
    return "SKILL_" + re.sub(r"[^A-Z0-9]+", "_", text.upper()).strip("_")


def _words(auth: Auth) -> tuple[str, ...]:
    if auth.kind in _LOGINS:
        return ("USER", "PASSWORD")
    if auth.kind == "mutualTLS":
        return ("CERTIFICATE", "KEY_FILE")
    return ("API_KEY",) if auth.kind in _KEYS else ("TOKEN",)
