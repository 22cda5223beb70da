"""How a service is reached and how callers authenticate, in words, and the environment variables of examples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from msgspec import Struct

from skillgen.model.auth import Auth, Endpoint
from skillgen.model.service import Service
from skillgen.model.values import Value
from skillgen.render.identity import skill_name
from skillgen.render.phrases import phrase, phrases
from skillgen.text.markdown import Markdown, code, code_list, inline


def other_access(service: Service) -> list[tuple[str, str | None]]:
    """Returns the other declared ways to use the service; the URL is `None` if the source says that there is no such
    way.
    """
    ways = []
    for field in ("cli", "api", "web", "mcp"):
        link: Value | None = getattr(service.access, field)
        if link is not None and not (field == "mcp" and service.kind == "mcp"):
            ways.append((phrases("access")[field], url_of(link)))
    if service.kind == "mcp" and service.access.api_endpoint:
        ways.append((phrases("access")["endpoint"], service.access.api_endpoint))
    return ways


def web_links(service: Service) -> list[tuple[str, str]]:
    """Returns the other ways to use the service that are web URLs, the only ones that can be links, with labels."""
    server = service.access.mcp.json if service.kind == "mcp" and service.access.mcp else None
    ways = [(phrases("access")["mcp"], server), *other_access(service), (phrase("homepage"), service.homepage)]
    return [(label, url) for label, url in ways if isinstance(url, str) and url.startswith(("https://", "http://"))]


def url_of(link: Value | None) -> str | None:
    """Returns the URL of a link, if it has one."""
    return link.json if link is not None and isinstance(link.json, str) and link.json else None


def access_word(link: Value | None) -> Markdown:
    """Returns a link's URL, or what the source declares instead."""
    if link is None:
        return phrase("access_not_declared")
    url = url_of(link)
    return code(url) if url else phrase("access_none")


def base_url(url: str) -> str:
    """Returns a URL without its final slash."""
    return url if url.endswith("://") else url.rstrip("/") or url


_AUTHENTICATION = re.compile(
    r"\b(?:authenti|authori[sz]|api[ _-]?keys?\b|access[ _-]tokens?\b|bearer\b)", re.IGNORECASE
)


def speaks_of_authentication(service: Service) -> bool:
    """True if the description, which is in the references, mentions authentication."""
    text = service.description if service.description != service.summary else None
    return bool(text and _AUTHENTICATION.search(text))


def has_choice(endpoints: Sequence[Endpoint]) -> bool:
    """True if a caller can choose between URLs, or fill in variables of one."""
    return len(endpoints) > 1 or any(endpoint.variables for endpoint in endpoints)


def have_host(endpoints: Sequence[Endpoint]) -> bool:
    """True if any URL includes the host of the service."""
    return any("://" in endpoint.url for endpoint in endpoints)


def has_other_addresses(service: Service) -> bool:
    """True if some tools have a different base URL than the service."""
    usual = service.endpoints[0].url if service.endpoints else None
    return any(tool.endpoints and tool.endpoints[0].url != usual for tool in service.tools)


def address(endpoint: Endpoint) -> Markdown:
    """Returns a URL without its final slash, with the reason if the source does not declare it."""
    shown, origin = code(base_url(endpoint.url)), (endpoint.origins or {}).get("url")
    if origin is None:
        return shown
    name = "inferred_address" if origin.kind == "inferred" else "undeclared_address"
    return phrase(name, address=shown, source=inline(origin.source))


def host_prefixes(service: Service) -> tuple[str, str]:
    """Returns what Claude Code puts before the tools of an MCP server, and before those of a plugin's server."""
    server = re.sub("[^A-Za-z0-9_-]", "_", service.server_name or service.name)
    return f"mcp__{server}__", f"mcp__plugin_PLUGIN_{server}__"


def auth_phrases(auth: tuple[Auth, ...]) -> list[Markdown]:
    """Returns each way to authenticate in a few words, without duplicates."""
    return list(dict.fromkeys(_auth_phrase(item) for item in auth))


def _auth_phrase(auth: Auth) -> Markdown:
    words = f"{code(auth.name)} ({inline(auth.kind)})" if auth.name and auth.name != auth.kind else inline(auth.kind)
    return Markdown(", ".join([words, *_auth_use(auth)]))


def _auth_use(auth: Auth) -> list[Markdown]:
    return [*([sent_as(auth)] if auth.sent_as else []), *([phrase("for_events")] if auth.is_for_events else [])]


def auth_gloss(auth: Auth) -> Markdown:
    """Returns how a way to authenticate works, without its name."""
    parts = [*([inline(auth.kind)] if auth.name and auth.name != auth.kind else []), *_auth_use(auth)]
    return Markdown(", ".join(parts))


def sent_as(auth: Auth) -> Markdown:
    """Returns where a credential is sent: in the header `X-API-Key`, or as `Authorization: Bearer`."""
    place, _, name = (auth.sent_as or "").partition(" ")
    if name and place in ("header", "query", "cookie", "body"):
        return phrase(f"in_{place}", name=code(name))
    return phrase("as_credential", form=code(auth.sent_as or ""))


_SHOWN_SCHEMES = 6
"""Maximum of security schemes for which SKILL.md names the variables."""

URL_VARIABLE = re.compile(r"\{([^{}/]+)\}")
"""A variable in a URL."""

_KEYS = frozenset({"api-key"})
_LOGINS = frozenset({"basic", "digest"})


class ExampleCredential(Struct, frozen=True, kw_only=True):
    """A security scheme with the environment variables that hold its credentials in examples."""

    auth: Auth
    """The security scheme."""

    variables: tuple[str, ...]
    """Names of environment variables: one, or two such as those of a user and a password."""


def example_credentials(service: Service) -> dict[str, ExampleCredential]:
    """Returns the credentials of the examples by the name of their security scheme.

    Schemes of the same kind get different variables.
    """
    schemes = {auth.name: auth for auth in reversed(service.requirements.auth) if auth.name is not None}
    kinds = Counter(map(_credential_nouns, schemes.values()))
    credentials = {}
    for name in reversed(schemes):
        auth = schemes[name]
        nouns = _credential_nouns(auth)
        prefix = variable_name(service, name) if kinds[nouns] > 1 else variable_name(service)
        credentials[name] = ExampleCredential(auth=auth, variables=tuple(f"{prefix}_{word}" for word in nouns))
    return credentials


def example_variables(service: Service) -> list[Markdown]:
    """Returns the environment variables of the examples, each with what it holds."""
    if not any(example.request is not None for tool in service.tools for example in tool.examples):
        return []
    variables = []
    if not any(endpoint.url.startswith(("http://", "https://")) for endpoint in service.endpoints):
        variables.append(phrase("variable_of_url", variable=code(variable_name(service, "BASE_URL"))))
    in_urls, credentials = list(_url_variables(service)), example_credentials(service)
    for name in in_urls[:_SHOWN_SCHEMES]:
        variable = code(variable_name(service, name))
        variables.append(phrase("variable_in_url", variable=variable, name=code(f"{{{name}}}")))
    for name, credential in islice(credentials.items(), _SHOWN_SCHEMES):
        nouns = map(phrases("credentials").__getitem__, _credential_nouns(credential.auth))
        variables.append(
            phrase(
                "variables_of_scheme",
                variables=code_list(credential.variables, phrase("and_between")),
                kinds=phrase("and_between").join(nouns),
                scheme=code(name),
            )
        )
    left = sum(max(len(names) - _SHOWN_SCHEMES, 0) for names in (in_urls, credentials))
    return [*variables, phrase("more_variables", number=f"{left:,}")] if left else variables


def _url_variables(service: Service) -> dict[str, None]:
    """Returns the variables without a value in the URLs that the examples call."""
    called = [tool.endpoints or service.endpoints for tool in service.tools]
    return dict.fromkeys(name for endpoints in called if endpoints for name in URL_VARIABLE.findall(endpoints[0].url))


def variable_name(service: Service, *more: str) -> str:
    """Returns the name of an environment variable of a service: `SKILL_ACME_TASKS`.

    A source chooses the rest of the name. With the prefix it can never name a variable of another program, whose value
    an example would then send to the source.
    """
    text = "_".join((skill_name(service), *more))
    return "SKILL_" + re.sub(r"[^A-Z0-9]+", "_", text.upper()).strip("_")


def _credential_nouns(auth: Auth) -> tuple[str, ...]:
    if auth.kind in _LOGINS:
        return ("USER", "PASSWORD")
    if auth.kind == "mutualTLS":
        return ("CERTIFICATE", "KEY_FILE")
    return ("API_KEY",) if auth.kind in _KEYS else ("TOKEN",)
