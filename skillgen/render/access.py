"""How a service is reached and how callers authenticate, in words, and the environment variables of examples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice

from msgspec import Struct

from skillgen.model.auth import LOGIN_POINTER, Auth, Credential, Endpoint, Scope
from skillgen.model.credentials import variable_prefix
from skillgen.model.schema import Schema
from skillgen.model.schema_json import Types
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Value
from skillgen.render.identity import skill_name, tool_phrase
from skillgen.render.phrases import once, phrase, phrases
from skillgen.text.markdown import Markdown, code, code_list, inline, plain_words, with_stop
from skillgen.text.summary import is_order, sentences
from skillgen.text.words import words_of


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


def explained_scopes(auth: Auth) -> list[tuple[Scope, str | None]]:
    """Returns the scopes of which more than the name is known, with descriptions that do not repeat it."""
    texts = [item.description if _letters(item.description) != _letters(item.name) else None for item in auth.scopes]
    return [(item, text) for item, text in zip(auth.scopes, texts, strict=True) if text or item.grants]


def bare_scopes(auth: Auth) -> list[str]:
    """Returns the names of the scopes of which nothing else is known."""
    explained = {scope.name for scope, _ in explained_scopes(auth)}
    return [scope.name for scope in auth.scopes if scope.name not in explained]


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


_AUTHENTICATION = re.compile(
    r"\b(?:authenti|authori[sz]|api[ _-]?keys?\b|access[ _-]tokens?\b|bearer\b)", re.IGNORECASE
)


def speaks_of_authentication(service: Service) -> bool:
    """True if the description, which is in the references, mentions authentication."""
    return bool(service.description and _AUTHENTICATION.search(service.description))


_CREDENTIAL = r"(?:(?:access|api|auth|bearer|oauth|personal|session)[ _-]?(?:keys?|tokens?)|tokens?|credentials)\b"
_NEEDS_CREDENTIAL = re.compile(
    rf"\b{_CREDENTIAL}[^.\n]{{0,60}}\b(?:authenticat|authori[sz]|needs? |requires? )"
    rf"|\b(?:authenticat\w+|authori[sz]\w+|needs?|requires?)(?: (?:an?|the|by|using|valid|with|your)){{0,3}}"
    rf" {_CREDENTIAL}",
    re.IGNORECASE,
)

_HINT_LIMIT = 160
"""Characters of a sentence on authentication."""

_MIN_HINTS = 3
_MIN_HINTS_SHARE = 0.01
"""Tools, and share of the tools, that must have such a sentence; one alone may be on something else."""


@once
def login_hints(service: Service) -> Markdown:
    """Returns what tools say of authentication that the source does not declare; empty if they say nothing."""
    hints = []
    issuing = _issuing_tools(service)
    for tool in issuing if len(issuing) <= _MAX_ISSUING_TOOLS else ():
        if words := tool_phrase(tool):
            hints.append(phrase("login_tool", tool=code(tool.name), words=inline(words)))
    if found := _login_in_examples(service):
        hints.append(phrase("login_in_examples", header=code(f"Authorization: {found} …")))
    tools_of = Counter(sentence for tool in service.tools for sentence in dict.fromkeys(_hints_in(tool)))
    sentence, number = next(iter(tools_of.most_common(1)), ("", 0))
    if number >= max(_MIN_HINTS, _MIN_HINTS_SHARE * len(service.tools)):
        hints.append(phrase("login_said", number=f"{number:,}", words=inline(sentence)))
    return Markdown("".join(hints))


_SENT_LOGIN = re.compile(
    r"Authorization['\"]?\s{0,2}[:=]\s{0,2}['\"]?(Basic|Bearer|Digest|Token|ApiKey)(?=\s)|\bcurl\b[^\n]{0,200}?\s(-u|--user)\s",
    re.IGNORECASE,
)
"""A header, or an option of curl, that sends a credential in an example within a text."""


def _login_in_examples(service: Service) -> str:
    """Returns the scheme with which examples in the texts log in, most of them if they differ; empty without one."""
    texts = (service.description, service.instructions, *(tool.description for tool in service.tools))
    found = Counter[str]()
    for text in texts:
        if text and ("uthorization" in text or "curl" in text):
            found.update((match[1] or "Basic").capitalize() for match in _SENT_LOGIN.finditer(text))
    return max(found, key=lambda scheme: (found[scheme], scheme), default="").replace("Apikey", "ApiKey")


def _hints_in(tool: Tool) -> Iterator[str]:
    """Yields the sentences of a description that say which credential a call needs, and order nothing."""
    text = tool.description or ""
    is_on_credential = any(map(text.lower().__contains__, ("token", "key", "credential")))
    for sentence in sentences(text) if is_on_credential and _NEEDS_CREDENTIAL.search(text) else ():
        line = plain_words(sentence)
        if len(line) <= _HINT_LIMIT and _NEEDS_CREDENTIAL.search(line) and not is_order(line):
            yield line


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


_MANY_TOOLS = 8
"""Tools from which the same way to authenticate is not repeated for each."""

_SHOWN_SCHEMES = 6
"""Maximum of security schemes, and of variables in URLs, that SKILL.md names."""

_DESCRIPTION_LIMIT = 200
"""Characters of the source's words on a scheme in SKILL.md."""

_MAX_ISSUING_TOOLS = 3
"""Maximum of tools that issue a credential, without needing it; of more, each is for something else."""

_MAX_OTHER_ORIGINS = 3
"""Maximum of other hosts whose variables SKILL.md names; the examples of each tool name its own."""

_ISSUES = re.compile(
    r"\b(?:log ?in|log ?on|sign ?in|authenticate)\b"
    r"|\b(?:create|generate|get|issue|make|obtain|request)(?: (?:access|auth|bearer|jwt))* (?:token|jwt|session)\b"
)
"""Words of the name of a tool that issues a credential."""

_TOKEN_URLS = ("authorization_url", "token_url", "device_authorization_url", "metadata_url")

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
    if not any(has_host(endpoint.url) for endpoint in service.endpoints):
        variables.append(phrase("variable_of_url", variable=code(variable_name(service, "BASE_URL"))))
    in_urls = _url_variables(service)
    for variable, name in list(in_urls.items())[:_SHOWN_SCHEMES]:
        variables.append(phrase("variable_in_url", variable=code(variable), name=code(f"{{{name}}}")))
    left = len(in_urls) - _SHOWN_SCHEMES
    return [*variables, phrase("more_variables", number=f"{left:,}")] if left > 0 else variables


class Login(Struct, frozen=True, kw_only=True):
    """How callers authenticate, for SKILL.md."""

    relation: Markdown
    """How the ways relate: one of them is enough, or a tool's section says which it needs."""

    ways: tuple[Markdown, ...]
    """Each way: what is sent, from which variable, and how to get it."""

    number_of_variables: int
    """How many variables they name."""


def login(service: Service, brief: bool) -> Login | None:
    """Returns how callers authenticate: the schemes that a tool needs; `None` if none is declared.

    Only if there is room, not `brief`, it has the source's words on them.
    """
    credentials = example_credentials(service) if service.tools else {}
    choices = {
        frozenset(frozenset(item.scheme for item in way) for way in tool.auth) for tool in service.tools if tool.auth
    }
    needed = {name for ways in choices for way in ways for name in way}
    flows: dict[str, list[Auth]] = {}
    for auth in service.requirements.auth:
        if not auth.is_for_events and (not needed or auth.name in needed):
            flows.setdefault(auth.name or auth.kind, []).append(auth)
    if not flows or (service.kind == "openapi" and not service.tools):
        return None
    shown = [*flows][:_SHOWN_SCHEMES]
    variables = {noun for key in shown if key in credentials for noun in credentials[key].nouns}
    ways = [Markdown(" ".join(_login_way(service, flows[name], credentials.get(name), brief))) for name in shown]
    if len(flows) > len(shown):
        ways.append(phrase("more_logins", number=len(flows) - len(shown)))
    relation = phrases("login_relations")[_relation(service, flows, choices)]
    return Login(relation=Markdown(relation), ways=tuple(ways), number_of_variables=len(variables))


@once
def shared_auth(service: Service) -> tuple[tuple[Credential, ...], ...] | None:
    """Returns what every tool with authentication needs, if that is the same for many tools and SKILL.md says it."""
    found = {tool.auth for tool in service.tools if tool.auth != ()}
    auth = found.pop() if len(found) == 1 and len(service.tools) >= _MANY_TOOLS else None
    if auth is None or len(auth) > _SHOWN_SCHEMES or any(len(way) != 1 for way in auth):
        return None
    known = {item.name for item in service.requirements.auth}
    return auth if all(item.scheme in known and not item.scopes for (item,) in auth) else None


def _relation(
    service: Service, flows: Mapping[str, Sequence[Auth]], choices: Collection[frozenset[frozenset[str]]]
) -> str:
    """Returns how these schemes relate."""
    if len(flows) == 1:
        return "only"
    if not choices:
        is_parameter = all(item.pointer == LOGIN_POINTER for items in flows.values() for item in items)
        return "either" if service.kind == "mcp" else "all" if is_parameter else "undeclared"
    ways = next(iter(choices)) - {frozenset()} if len(choices) == 1 else frozenset()
    fields = {items[0].sent_as or "Authorization: Bearer" for items in flows.values()}
    if ways and (len(fields) == 1 or all(len(way) == 1 for way in ways)):
        return "either"
    return "all" if len(ways) == 1 else "section"


def _login_way(
    service: Service, flows: Sequence[Auth], credential: ExampleCredential | None, brief: bool
) -> Iterator[str]:
    """Yields what is sent, then how to get it: the OAuth flow, the tool that issues it, and the source's own words."""
    first = flows[0]
    if credential is None:
        yield with_stop(_auth_phrase(first))
        return
    places = _called_endpoints(service, first)
    variables = [credential_variable(service, places[0], noun) for noun in credential.nouns]
    forms = dict.fromkeys(_sent(item, variables) for item in flows)
    kind = phrases("login_kinds").get(first.kind)
    name = code(first.name or "")
    known = first.pointer == LOGIN_POINTER
    label = "" if known else f" ({name}, {kind})" if kind else f" ({name})"
    yield with_stop(phrase("or_between").join(forms) + label)
    for endpoints in places[1 : 1 + _MAX_OTHER_ORIGINS]:
        others = [f"${credential_variable(service, endpoints, noun)}" for noun in credential.nouns]
        yield phrase(
            "at_origin", origin=code(base_url(endpoints[0].url)), variables=code_list(others, phrase("or_between"))
        )
    if steps := [*islice(_token_steps(flows), 2)]:
        has_scopes = any(tool.scopes for tool in service.tools)
        yield phrase(
            "get_token", steps=phrase("or_between").join(steps), scopes=phrase("for_scopes") if has_scopes else ""
        )
    if names := _other_parameters(service):
        yield phrase("also_sent", names=code_list(names, phrase("or_between")))
    issuing = [tool.name for tool in _issuing_tools(service) if not _needs(tool, first)]
    if len(credential.nouns) == 1 and 0 < len(issuing) <= _MAX_ISSUING_TOOLS:
        yield phrase("issued_by", tools=code_list(issuing, phrase("or_between")))
    if first.description and not brief:
        yield from map(inline, _first_sentences(first.description))


def _sent(auth: Auth, variables: Sequence[str]) -> Markdown:
    """Returns what is sent, with the variables of its values."""
    values = [f"${name}" for name in variables]
    place, _, name = (auth.sent_as or "").partition(" ")
    if auth.kind == "mutualTLS":
        return phrase("sent_certificate", certificate=code(values[0]), key=code(values[1]))
    if len(values) > 1:
        return phrase("sent_pair", scheme=inline(auth.kind.capitalize()), value=code(":".join(values)))
    if auth.kind != "api-key":
        return phrase("sent_header", value=code(f"{auth.sent_as or 'Authorization: Bearer'} {values[0]}"))
    if place == "body":
        return phrase("sent_body", name=code(name), variable=code(values[0]))
    between = ": " if place == "header" else "="
    return phrase(
        f"sent_{place if place in ('query', 'cookie') else 'header'}", value=code(f"{name}{between}{values[0]}")
    )


def _token_steps(flows: Iterable[Auth]) -> Iterator[str]:
    """Yields how each OAuth flow gets a token."""
    for auth in flows:
        urls = {name: code(url) for name in _TOKEN_URLS if (url := getattr(auth, name))}
        with suppress(KeyError):  # an unknown flow, or one without its URLs
            yield phrases("token_steps")[auth.flow or auth.kind].format(**urls)


@once
def _other_parameters(service: Service) -> dict[str, None]:
    """Returns the parameters that hold the credential in addition to what a scheme declares."""
    sent = {(auth.sent_as or "").partition(" ")[2] for auth in service.requirements.auth}
    requests = (example.request for tool in service.tools for example in tool.examples if example.request)
    names = dict.fromkeys(place.partition(" ")[2] for request in requests for place in request.secrets)
    return {name: None for name in names if name not in sent}


@once
def _issuing_tools(service: Service) -> list[Tool]:
    """Returns the tools whose names say that they issue a token or key, and whose results have one."""
    types = Types.of(service.schemas)
    tools = (tool for tool in service.tools if tool.method in ("GET", "POST") and not tool.deprecated)
    named = (tool for tool in tools if _ISSUES.search(" ".join(words_of(tool.name))))
    return [
        tool
        for tool in named
        if any(map(_TOKEN.search, _names_in(tool.output.schema if tool.output else None, types, 2)))
    ]


_TOKEN = re.compile(r"token|jwt|bearer|(?:api|access|secret)[ _-]?key|\Akey\Z|session|ticket", re.IGNORECASE)
"""The name of a part of a result that is a credential."""


def _names_in(schema: Schema | None, types: Types, depth: int) -> Iterator[str]:
    """Yields the names of the properties of a result, and of those within them."""
    if schema is None or depth < 0:
        return
    parts = [types.type_of(name) for name in types.extended(schema)]
    for part in (schema, *parts, *schema.alternatives):
        for item in part.properties:
            yield item.name
            yield from _names_in(item.schema, types, depth - 1)


def _called_endpoints(service: Service, auth: Auth) -> list[tuple[Endpoint, ...]]:
    """Returns the base URLs of the tools that need a credential, one of each origin, that of the service first."""
    users = [tool.endpoints for tool in service.tools if tool.endpoints and _needs(tool, auth)]
    found: dict[str, tuple[Endpoint, ...]] = {}
    for endpoints in [*([service.endpoints] if service.endpoints or not users else []), *users]:
        found.setdefault(credential_variable(service, endpoints, ""), endpoints)
    return list(found.values())


def _needs(tool: Tool, auth: Auth) -> bool:
    if auth.pointer == LOGIN_POINTER:
        return any(parameter.name == auth.name for parameter in tool.parameters)
    return any(item.scheme == auth.name for way in tool.auth or () for item in way)


def _first_sentences(text: str) -> Iterator[str]:
    """Yields the first sentences of a text that have room."""
    left = _DESCRIPTION_LIMIT
    for sentence in sentences(text):
        line = plain_words(sentence)
        left -= len(line)
        if left < 0:
            return
        yield with_stop(line)


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
    return f"SKILL_{noun_of(skill_name(service), *more)}"


def _credential_nouns(auth: Auth) -> tuple[str, ...]:
    if auth.kind in _LOGINS:
        return ("USER", "PASSWORD")
    if auth.kind == "mutualTLS":
        return ("CERTIFICATE", "KEY_FILE")
    return ("API_KEY",) if auth.kind in _KEYS else ("TOKEN",)
