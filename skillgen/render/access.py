"""Other ways to use a service, and how one authenticates, in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skillgen.markdown.filters import Markdown, code, inline
from skillgen.model.access import Auth, Endpoint
from skillgen.model.service import Service
from skillgen.model.value import Value

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
