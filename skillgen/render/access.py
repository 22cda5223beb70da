"""How a service is reached and how callers authenticate, in words: for SKILL.md, each way with all that it sends in one
command, and how to get it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import filterfalse, islice
from operator import attrgetter

from msgspec import Struct

from skillgen.model.auth import LOGIN_POINTER, SIGNATURE, Auth, Credential, Endpoint, Scope
from skillgen.model.schema import Types
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Value
from skillgen.render.examples import (
    SHOWN_SCHEMES,
    ExampleCredential,
    base_url,
    credential_variable,
    example_credentials,
    login_command,
    login_names,
)
from skillgen.render.identity import tool_phrase
from skillgen.render.parameters import label_of
from skillgen.render.phrases import once, phrase, phrases
from skillgen.security.credentials import issues_credential
from skillgen.text.markdown import Markdown, code, code_list, inline, join_lines, plain_words, with_stop
from skillgen.text.summary import sentences

_MANY_TOOLS = 8
"""Tools from which the same way to authenticate is not repeated for each."""

_DESCRIPTION_LIMIT = 200
"""Characters of the source's words on a scheme in SKILL.md."""

_MAX_ISSUING_TOOLS = 3
"""Maximum of tools that issue a credential, without needing it; of more, each is for something else."""

_MAX_OTHER_ORIGINS = 3
"""Maximum of other hosts whose variables SKILL.md names; the examples of each tool name its own."""

_TOKEN_URLS = ("authorization_url", "token_url", "device_authorization_url", "metadata_url")

_OTHERWISE_ISSUED = ("oauth2", "openIdConnect", "basic", "digest", "mutualTLS", SIGNATURE)
"""Kinds of schemes whose credentials no tool issues."""

_Names = tuple[str, ...]
"""The names of the schemes that a call needs together."""


class Login(Struct, frozen=True, kw_only=True):
    """How callers authenticate, for SKILL.md."""

    relation: Markdown
    """How the ways relate: one of them is enough, or a tool's section says which it needs."""

    ways: tuple[Markdown, ...]
    """Each way: a command with all that is sent, from which variables, and how to get it."""

    number_of_variables: int
    """How many variables they name."""


def logins(service: Service) -> list[Auth]:
    """Returns the methods that callers use, without those of requests that the service itself sends."""
    return list(filterfalse(attrgetter("is_for_events"), service.requirements.auth))


def other_access(service: Service) -> list[tuple[str, str | None]]:
    """Returns the other declared ways to use the service, and its homepage unless it is one of them.

    The URL is `None` if the source says that there is no such way.
    """
    ways = []
    for field in ("cli", "api", "web", "mcp"):
        link: Value | None = getattr(service.access, field)
        if link is not None and field != service.kind:
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


def auth_gloss(auth: Auth) -> Markdown:
    """Returns how a way to authenticate works, without its name."""
    kind = [inline(auth.kind)] if auth.name and auth.name != auth.kind else []
    sent = [sent_as(auth)] if auth.sent_as else []
    return Markdown(", ".join([*kind, *sent, *([phrase("for_events")] if auth.is_for_events else [])]))


def sent_as(auth: Auth) -> Markdown:
    """Returns where a credential is sent: in the header `X-API-Key`, or as `Authorization: Bearer`."""
    place, _, name = (auth.sent_as or "").partition(" ")
    if name and place in ("header", "query", "cookie", "body"):
        return phrase(f"in_{place}", name=code(name))
    return phrase("as_credential", form=code(auth.sent_as or ""))


def login(service: Service, brief: bool) -> Login | None:
    """Returns how callers authenticate: the ways that tools have; `None` if no scheme is declared.

    Only if there is room, not `brief`, it has the source's words on them.
    """
    owners, flows = login_names(service), dict[str, list[Auth]]()
    used = logins(service) if service.tools or service.kind != "openapi" else []
    for auth in sorted(used, key=lambda auth: owners.get(auth.name or "") != auth.name):
        flows.setdefault(owners.get(auth.name or "", auth.name or auth.kind), []).append(auth)
    if not flows:
        return None
    needs = [tool.auth for tool in service.tools if tool.auth]
    named = ([owners.get(item.scheme, item.scheme) for item in way] for auth in needs for way in auth)
    declared = [tuple(name for name in way if name in flows) for way in named]
    ways = [*filter(None, {frozenset(way): way for way in reversed(declared)}.values())][::-1]
    is_parameter = all(item.pointer == LOGIN_POINTER for items in flows.values() for item in items)
    # Of a few tools that say what they need, nothing follows for the others.
    is_undeclared = 2 * sum(tool.auth is None for tool in service.tools) > len(service.tools)
    if needs and not ways and not is_undeclared:  # they need others, which the source does not describe
        return None
    is_open = not ways or is_undeclared
    if is_open:
        ways += [tuple(flows)] if is_parameter else [(name,) for name in flows if not any(name in way for way in ways)]
    relation = "section"
    if len(ways) == 1:
        relation = "some" if needs and is_open else "only"
    elif is_open:
        relation = "either" if service.kind == "mcp" else "sections" if needs else "undeclared"
    elif len({frozenset(frozenset(item.scheme for item in way) for way in auth) for auth in needs}) == 1:
        relation = "either"
    is_optional, words = bool(needs) and all(() in auth for auth in needs), phrases("login_relations")[relation]
    credentials = example_credentials(service) if service.tools else {}
    shown = ways[:SHOWN_SCHEMES]
    lines = []
    for number, names in enumerate(shown):
        explained = {name for way in shown[:number] for name in way}
        lines.append(Markdown(" ".join(_way(service, names, flows, None if brief else explained))))
    if len(ways) > len(shown):
        lines.append(phrase("more_logins", number=len(ways) - len(shown)))
    return Login(
        relation=Markdown(phrase("login_optional", 1 + bool(words)) * is_optional + words),
        ways=tuple(lines),
        number_of_variables=len({noun for names in shown for noun in _nouns(credentials, names)}),
    )


def _nouns(credentials: Mapping[str, ExampleCredential], names: _Names) -> dict[str, None]:
    return {noun: None for name in names if name in credentials for noun in credentials[name].nouns}


def _way(
    service: Service, names: _Names, flows: Mapping[str, Sequence[Auth]], explained: Collection[str] | None
) -> Iterator[str]:
    """Yields the command, then how to get what it sends: the OAuth flow, the issuing tool, and the source's words.

    The words are left out for the schemes `explained` before, and for all if it is `None`.
    """
    credentials = example_credentials(service) if service.tools else {}
    if not credentials.keys() & set(names):
        yield with_stop(phrase("auth_together").join(_described(flows[name][0]) for name in names))
        return
    places, nouns = _called_endpoints(service, names), _nouns(credentials, names)
    known = (flows[name][0] for name in names if flows[name][0].pointer != LOGIN_POINTER)
    labels = phrase("auth_together").join(map(_label, known))
    yield with_stop(code(login_command(service, places[0], names)) + (f" ({labels})" if labels else ""))
    for name in names:
        for auth in flows[name] if flows[name][0].pointer == LOGIN_POINTER else ():
            place, _, field = (auth.sent_as or "").partition(" ")
            if place == "body" or auth is not flows[name][0]:
                variable = code(f"${credential_variable(service, places[0], credentials[name].nouns[0])}")
                yield phrase("sent_elsewhere", place=phrase(f"in_{place}", name=code(field)), variable=variable)
    for endpoints in places[1 : 1 + _MAX_OTHER_ORIGINS] if nouns else ():
        others = [f"${credential_variable(service, endpoints, noun)}" for noun in nouns]
        variables = code_list(others, phrase("and_between"))
        yield phrase("at_origin", origin=code(base_url(endpoints[0].url)), variables=variables)
    for name in names:
        yield from _getting(service, flows[name])
        if explained is not None and name not in explained and (text := flows[name][0].description):
            yield from map(inline, _first_sentences(text))
    issuing = _issuers(service, names, flows) if len(nouns) == 1 else []
    if 0 < len(issuing) <= _MAX_ISSUING_TOOLS:
        yield phrase("issued_by", tools=phrase("or_between").join(label_of(tool, service) for tool in issuing))


def _described(auth: Auth) -> str:
    """Returns a way to authenticate in a few words."""
    kind = inline(auth.kind)
    words = f"{code(auth.name)} ({kind})" if auth.name and auth.name != auth.kind else kind
    return f"{words}, {sent_as(auth)}" if auth.sent_as else words


def _label(auth: Auth) -> str:
    kind = phrases("login_kinds").get(auth.kind)
    return f"{code(auth.name or '')}, {kind}" if kind else code(auth.name or "")


def _getting(service: Service, flows: Sequence[Auth]) -> Iterator[str]:
    if flows[0].kind == SIGNATURE:
        yield phrase("signature")
    elif steps := [*islice(_token_steps(flows), 2)]:
        has_scopes = any(tool.scopes for tool in service.tools)
        scopes = phrase("for_scopes") if has_scopes else ""
        yield phrase("get_token", steps=phrase("or_between").join(steps), scopes=scopes)


@once
def shared_auth(service: Service) -> tuple[tuple[Credential, ...], ...] | None:
    """Returns what every tool with authentication needs, if that is the same for many tools and SKILL.md says it."""
    found = {tool.auth for tool in service.tools if tool.auth != ()}
    auth = found.pop() if len(found) == 1 and len(service.tools) >= _MANY_TOOLS else None
    if auth is None or len(auth) > SHOWN_SCHEMES or not all(auth):
        return None
    known = {item.name for item in service.requirements.auth}
    return auth if all(item.scheme in known and not item.scopes for way in auth for item in way) else None


def _token_steps(flows: Sequence[Auth]) -> Iterator[str]:
    """Yields how each OAuth flow gets a token; the implicit one only if no other has its page of consent."""
    pages = {auth.authorization_url for auth in flows if auth.flow != "implicit"}
    for auth in flows:
        if auth.flow == "implicit" and auth.authorization_url in pages:
            continue
        urls = {name: code(url) for name in _TOKEN_URLS if (url := getattr(auth, name))}
        with suppress(KeyError):  # an unknown flow, or one without its URLs
            yield phrases("token_steps")[auth.flow or auth.kind].format(**urls)


def _issuers(service: Service, names: _Names, flows: Mapping[str, Sequence[Auth]]) -> list[Tool]:
    """Returns the tools that issue the credential of a way: those whose summary its description quotes, else those that
    have one in their result, if no other scheme takes it and the description names no other place in code or by a URL.
    """
    text = " ".join(flows[name][0].description or "" for name in names).lower()
    quoted = [tool for tool in service.tools if (said := (tool.summary or "").lower()).count(" ") > 1 and said in text]
    kinds = {name: items[0].kind for name, items in flows.items() if items[0].kind not in _OTHERWISE_ISSUED}
    takers = [name for name in kinds if kinds[name] == "bearer"] or [*kinds]
    is_only = takers == [*names] and "`" not in text and "://" not in text
    issuing = quoted or (_issuing_tools(service) if is_only else [])
    return [tool for tool in issuing if not any(_needs(tool, name) for name in names)]


@once
def _issuing_tools(service: Service) -> list[Tool]:
    types = Types.of(service.schemas)
    return [tool for tool in service.tools if issues_credential(tool, types)]


def _called_endpoints(service: Service, names: _Names) -> list[tuple[Endpoint, ...]]:
    """Returns the base URLs of the tools that need a credential, one of each origin, that of the service first."""
    users = [tool.endpoints for tool in service.tools if any(_needs(tool, name) for name in names)] or [()]
    found: dict[str, tuple[Endpoint, ...]] = {}
    for at in sorted((own or service.endpoints for own in users), key=lambda at: at != service.endpoints):
        found.setdefault(credential_variable(service, at, ""), at)
    return list(found.values())


def _needs(tool: Tool, name: str) -> bool:
    if tool.auth is None:
        return any(parameter.name == name for parameter in tool.parameters)
    return any(item.scheme == name for way in tool.auth for item in way)


def _first_sentences(text: str) -> Iterator[str]:
    """Yields the first sentences of a text that have room."""
    left = _DESCRIPTION_LIMIT
    for sentence in sentences(text):
        left -= len(plain_words(sentence))
        if left < 0:
            return
        yield with_stop(join_lines(sentence))


def undescribed_logins(service: Service) -> Markdown:
    """Returns the schemes that tools require and the source does not describe; empty without any."""
    known = {auth.name for auth in service.requirements.auth}
    required = (item.scheme for tool in service.tools for way in tool.auth or () for item in way)
    return code_list(name for name in dict.fromkeys(required) if name not in known)


@once
def login_hints(service: Service) -> Markdown:
    """Returns the tools that issue a credential, of which the source declares nothing; empty without any."""
    issuing = _issuing_tools(service)
    shown = issuing if len(issuing) <= _MAX_ISSUING_TOOLS else ()
    lines = [(label_of(tool, service), words) for tool in shown if (words := tool_phrase(tool))]
    return Markdown("".join(phrase("login_tool", tool=name, words=inline(words)) for name, words in lines))
