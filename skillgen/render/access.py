"""How a service is reached, in words, and the environment variables of examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from skillgen.model.auth import SIGNATURE, Auth, Endpoint, Scope
from skillgen.model.credentials import origin_of, variable_prefix
from skillgen.model.service import Service
from skillgen.model.values import Value
from skillgen.render.phrases import once, phrase, phrases
from skillgen.text import lazy_re as re
from skillgen.text.markdown import Markdown, code, inline


def other_access(service: Service) -> list[tuple[str, str | None]]:
    """Returns the other declared ways to use the service, and its homepage unless it is one of them.

    The URL is `None` if the source says that there is no such way.
    """
    ways = []
    for field in ("cli", "api", "web", "mcp"):
        link: Value | None = getattr(service.access, field)
        if link is not None and not (field == "mcp" and service.kind == "mcp"):
            ways.append((phrases("access")[field], url_of(link)))
    if service.kind == "mcp" and service.access.api_endpoint:
        ways.append((phrases("access")["endpoint"], service.access.api_endpoint))
    if service.homepage and base_url(service.homepage) not in [base_url(url) for _, url in ways if url]:
        ways.append((phrase("homepage"), service.homepage))
    return ways


def explained_scopes(auth: Auth) -> tuple[list[Scope], list[str]]:
    """Returns the scopes of which more than the name is known, and the names of the others."""
    explained, names = list[Scope](), list[str]()
    for item in auth.scopes:
        if item.grants or _letters(item.description) not in ("", _letters(item.name)):
            explained.append(item)
        else:
            names.append(item.name)
    return explained, names


def _letters(text: str | None) -> str:
    return "".join(filter(str.isalnum, text or "")).lower()


def web_links(service: Service) -> list[tuple[str, str]]:
    """Returns the other ways to use the service that are web URLs, the only ones that can be links, with labels."""
    server = service.access.mcp.json if service.kind == "mcp" and service.access.mcp else None
    ways = [(phrases("access")["mcp"], server), *other_access(service)]
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


def has_choice(endpoints: Sequence[Endpoint]) -> bool:
    """True if a caller can choose between URLs, or fill in variables of one."""
    return len(endpoints) > 1 or any(endpoint.variables for endpoint in endpoints)


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


def auth_phrase(auth: Auth) -> Markdown:
    """Returns a way to authenticate in a few words."""
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


SHOWN_SCHEMES = 6
"""Maximum of ways to authenticate, and of variables in URLs, that SKILL.md names."""

URL_VARIABLE = re.compile(r"\{([^{}/]+)\}")
"""A variable in a URL."""

_KEYS = frozenset({"api-key"})
_LOGINS = frozenset({"basic", "digest"})


class ExampleCredential(Struct, frozen=True, kw_only=True):
    """A security scheme with the environment variables that hold its credentials in examples."""

    auth: Auth
    """The security scheme."""

    nouns: tuple[str, ...]
    """The ends of their names: one, or two such as those of a user and a password."""

    variables: tuple[str, ...] = ()
    """Their names, for the origin of one call."""


def field_of(auth: Auth) -> str:
    """Returns the field of a request that a scheme sends, which a request has once: `header x-api-key`."""
    is_header = auth.kind in ("oauth2", "openIdConnect") or (auth.sent_as or "").startswith("Authorization:")
    return "header authorization" if is_header else (auth.sent_as or auth.kind).lower()


@once
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
        more = (name,) if kinds[nouns] > 1 else ()
        credentials[name] = ExampleCredential(auth=auth, nouns=tuple(noun_of(*more, word) for word in nouns))
    return credentials


def noun_of(*words: str) -> str:
    """Returns the end of the name of a variable."""
    return re.sub(r"[^A-Z0-9]+", "_", "_".join(words).upper()).strip("_")


def credential_variable(service: Service, endpoints: Sequence[Endpoint], noun: str) -> str:
    """Returns the name of the variable for a credential of the origin of a URL: `SKILL_API_ACME_COM___TOKEN`.

    A source chooses its URLs, so it names only variables that the user sets for these.
    """
    url = url_template(service, endpoints)
    return f"{variable_prefix(url) if has_host(url) else variable_name(service, 'BASE_URL')}___{noun}"


_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}\Z")


def signature_scope(endpoint: Endpoint | None, auth: Auth) -> str:
    """Returns what `curl --aws-sigv4` needs to sign a request: `aws:amz:us-east-1:kafka`.

    The region is in the host or a variable of the URL. Without a signing name, the service is the label before it.
    """
    labels = ((origin_of(endpoint.url) if endpoint is not None else None) or ("", "", 0))[1].split(".")
    at = next((index for index, label in enumerate(labels) if _REGION.match(label)), None)
    is_own = labels[-2:-1] == ["amazonaws"] or labels[-3:-2] == ["amazonaws"]
    region = labels[at] if at is not None else "us-east-1" if is_own else "$AWS_REGION"
    service = labels[at - 1] if at else labels[0] if is_own else "execute-api"
    name = auth.signing_name if re.match(r"[\w-]{1,60}\Z", auth.signing_name or "", re.ASCII) else service
    return f"aws:amz:{region}:{name}"


def url_template(service: Service, endpoints: Sequence[Endpoint]) -> str:
    """Returns the base URL, in which names of environment variables are in braces; empty if it is not known."""
    url = endpoints[0].url if endpoints else ""
    url = base_url(url) if url else ""
    return URL_VARIABLE.sub(lambda match: f"{{{url_variable(service, url, match[1])}}}", url)


def has_host(url: str) -> bool:
    """True if a base URL includes the host."""
    return url.startswith(("http://", "https://"))


def example_variables(service: Service) -> list[Markdown]:
    """Returns the environment variables for the URL of the examples, each with what it holds."""
    if not any(example.request is not None for tool in service.tools for example in tool.examples):
        return []
    variables = []
    if not any("://" in endpoint.url for endpoint in service.endpoints[:1]):
        variables.append(phrase("variable_of_url", variable=code(variable_name(service, "BASE_URL"))))
    in_urls = _url_variables(service)
    for variable, name in list(in_urls.items())[:SHOWN_SCHEMES]:
        variables.append(phrase("variable_in_url", variable=code(variable), name=code(f"{{{name}}}")))
    left = len(in_urls) - SHOWN_SCHEMES
    return [*variables, phrase("more_variables", number=f"{left:,}")] if left > 0 else variables


def _url_variables(service: Service) -> dict[str, str]:
    """Returns the environment variables for the URLs that the examples call, each to the variable in the URL."""
    urls = [endpoints[0].url for tool in service.tools if (endpoints := tool.endpoints or service.endpoints)]
    return {url_variable(service, url, name): name for url in urls for name in URL_VARIABLE.findall(url)}


def url_variable(service: Service, url: str, name: str) -> str:
    """Returns the name of the environment variable for a variable in a URL, which may hold a credential.

    It is of the origin of the URL, as a credential is; of the service if the origin has a variable itself.
    """
    known = url.partition("{")[0]
    if has_host(url) and "/" in known.partition("://")[2]:
        return f"{variable_prefix(known)}___{noun_of(name)}"
    return variable_name(service, "URL", name)


def variable_name(service: Service, *more: str) -> str:
    """Returns the name of an environment variable for a part of a URL of a service: `SKILL_ACME_TASKS_URL_TENANT`.

    A source chooses the rest of the name. With the prefix it can never name a variable of another program, nor one with
    a credential, which has three underscores: its value would then be sent to the source.
    """
    return f"SKILL_{noun_of(service.skill_name or 'service', *more)}"


def _credential_nouns(auth: Auth) -> tuple[str, ...]:
    if auth.kind == SIGNATURE:
        return ()
    if auth.kind in _LOGINS:
        return ("USER", "PASSWORD")
    if auth.kind == "mutualTLS":
        return ("CERTIFICATE", "KEY_FILE")
    return ("API_KEY",) if auth.kind in _KEYS else ("TOKEN",)
