"""Who the server is.

Reads what is declared of the service as a whole: in a `dashdash` object, in `ai_help`, in `serverInfo`.

The first two have one shape (seed 000, 3.1.2 and 3.3.2), so that every field is asked of both in the same words.

Who an MCP server is: each fact from the voice that counts most (design, "Where resolver disagree").

What a server says when a session is opened: of itself, and in the dashdash form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.auth import Access, AccessLevel, Auth, Endpoint, Invocation, RateLimit, Requirements
from skillgen.model.service import Service
from skillgen.model.values import Json, Origin, Value, child
from skillgen.security.addresses import host_of
from skillgen.sources.mcp import entries
from skillgen.sources.mcp.ai_help import AiHelp
from skillgen.sources.mcp.entries import Read, counted_limit
from skillgen.sources.mcp.fields import FieldReader, FieldResolver, SourcedValue, raw_entries
from skillgen.sources.mcp.manifest import Manifest
from skillgen.sources.mcp.target import Crawl
from skillgen.text.summary import first_sentence

ACCESS_LEVELS = ("read", "interact", "full")
"""Access levels of an MCP server (seed 000, 3.1.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataSources:
    """Those who speak of the service as a whole; one that says nothing has no members."""

    dashdash: FieldReader
    """The `dashdash` object of the server."""

    ai_help: AiHelp
    """The answer to `ai_help`."""

    server_info: FieldReader
    """`serverInfo`: what MCP itself has."""

    manifest: FieldReader
    """The part `server` of a service manifest (seed 004)."""

    other_dashdashes: tuple[FieldReader, ...] = ()
    """The `dashdash` objects of other places, of which only facts on safety count."""

    def all(
        self, key: str, read: Read = FieldReader.string, *, within: str | None = None
    ) -> tuple[SourcedValue | None, ...]:
        """Gives what `dashdash` and `ai_help` claim of a member, or of a member of their part `within`."""
        objects = (self.dashdash, self.ai_help.metadata)
        return tuple(read(item.object(within) if within else item, key) for item in objects)


def homepage_from(sources: MetadataSources, resolver: FieldResolver) -> str | None:
    """Reads the address of the documentation; `websiteUrl` is the protocol's name for it (SEP-973)."""
    homepage: str | None = resolver.value(
        "homepage",
        *sources.all("homepage", FieldReader.link),
        sources.manifest.link("homepage"),
        sources.server_info.link("websiteUrl"),
    )
    return homepage


def access_level_from(
    sources: MetadataSources, resolver: FieldResolver, default: AccessLevel, *, levels: tuple[str, ...] = ACCESS_LEVELS
) -> AccessLevel:
    """Reads the access level; where nobody declares one the default is left, without an origin.

    Raises:
        SourceError: agents must not use the service.
    """
    places = (sources.dashdash, *sources.other_dashdashes, sources.ai_help.metadata)
    for place in places:
        level = place.raw.get("accessLevel")
        if isinstance(level, str) and level.strip().lower() == "none":
            raise SourceError(
                "the declared access level is none: agents must not use this service",
                where=place.pointer_to("accessLevel"),
                fix="document another service, or ask its author to declare read, interact or full",
            )
    claims = (place.cautious_choice("accessLevel", levels) for place in places)
    return resolver.cautious("access_level", *claims) or default


def access_from(
    sources: MetadataSources, resolver: FieldResolver, *, url: str | None, repository: str | None, homepage: str | None
) -> Access:
    """Reads the other ways to use the service; `url` is where the server itself was reached."""

    def way(field: str, key: str) -> Value | None:
        return _value(resolver.resolve(field, *sources.all(key, FieldReader.url, within="alternativeAccess")))

    own = [claim for claim in sources.all("mcpUrl", FieldReader.url, within="alternativeAccess") if claim is not None]
    known = {"url": url, "repository": repository, "homepage": homepage}
    derived = [SourcedValue(value, "", "serverInfo", inferred_from=field) for field, value in known.items() if value]
    if url is not None or not own:
        own = derived[:1]
    return Access(
        cli=way("cli", "cliUrl"),
        api=way("api", "apiUrl"),
        web=way("web", "webUrl"),
        mcp=_value(resolver.resolve("mcp", *own)),
        api_endpoint=_api_endpoint(sources, resolver),
        origins=resolver.origins,
    )


def install_from(sources: MetadataSources, resolver: FieldResolver) -> Mapping[str, str] | None:
    """Reads package managers and packages; those that only one of the two names are kept all the same."""
    objects = [item.object("install") for item in (sources.dashdash, sources.ai_help.metadata)]
    keys = dict.fromkeys(key for item in objects for key in item.raw)
    found = {key: resolver.value(f"install.{key}", *(item.string(key) for item in objects)) for key in keys}
    return {key: package for key, package in found.items() if package is not None} or None


def requirements_from(sources: MetadataSources, resolver: FieldResolver) -> Requirements:
    """Reads what must be there first."""

    def names(key: str, read: Read = FieldReader.strings) -> tuple[str, ...]:
        claims = sources.all(key, read, within="requires")
        return resolver.value(f"requirements.{key}", *claims) or ()

    required = _auth_from(
        resolver.resolve("requirements.auth", *sources.all("auth", FieldReader.strings, within="requires"))
    )
    named = next(not_null(sources.all("authMethods", FieldReader.strings)), None)
    known = {auth.kind for auth in required}
    further = tuple(auth for auth in _auth_from(named) if auth.kind not in known)
    if named is not None and further and not required:
        resolver.record("requirements.auth", named.origin())
    return Requirements(
        auth=(*required, *further),
        env=names("env", FieldReader.variable_names),
        scopes=names("scopes"),
        bins=names("bins"),
        os=names("os"),
    )


def invocation_from(sources: MetadataSources, resolver: FieldResolver) -> Invocation | None:
    """Reads who may start a skill."""

    def take(field: str, key: str, read: Read) -> Json:
        return resolver.value(f"invocation.{field}", *sources.all(key, read, within="invocation"))

    invocation = Invocation(
        argument_hint=resolver.value("invocation.argument_hint", *sources.all("argumentHint")),
        model_invocable=take("model_invocable", "modelInvocable", FieldReader.boolean),
        user_invocable=take("user_invocable", "userInvocable", FieldReader.boolean),
        allowed_tools=take("allowed_tools", "allowedTools", FieldReader.strings) or (),
    )
    return invocation if invocation != Invocation() else None


def rate_limit_from(sources: MetadataSources, resolver: FieldResolver) -> RateLimit | None:
    """Reads how often the service may be called."""
    text = resolver.value("rate_limit", *sources.all("rateLimit"))
    return RateLimit(text=text) if text is not None else None


def not_null(claims: Iterable[SourcedValue | None]) -> Iterator[SourcedValue]:
    """Gives the claims of a field for which seed 000 does not allow null, so that it is no value there."""
    return (claim for claim in claims if claim is not None and claim.value is not None)


def _value(claim: SourcedValue | None) -> Value | None:
    return Value(claim.value) if claim is not None else None


def _auth_from(claim: SourcedValue | None) -> tuple[Auth, ...]:
    if claim is None or claim.value is None:
        return ()
    in_text = claim.provider == "ai_help"
    return tuple(
        Auth(kind=kind, pointer=claim.pointer if in_text else child(claim.pointer, index))
        for index, kind in enumerate(claim.value)
        if kind != "none"
    )


def _api_endpoint(sources: MetadataSources, resolver: FieldResolver) -> str | None:
    url: str | None = resolver.value("api_endpoint", *not_null(sources.all("apiEndpoint", FieldReader.url)))
    return url


NAMELESS = "mcp-server"
"""The name of a server that says none, and of which nothing else gives one."""

_SAYS_NOTHING = re.compile(
    r"\s*(?:#|\W{0,3}(?:do not|don['’]t|never|avoid|always|before|after|when(?:ever)?|if|first|note|important"
    r"|call|please|make sure|ensure|remember|start (?:by|with)|(?:the )?users?)\b"
    r"|[^.!?\n]{0,60}\b(?:notes|instructions|guidelines|guide|tips|rules) (?:for|on|to) (?:the |an )?"
    r"(?:agents?|ai|llms?|models?|assistants?|clients?|using|use)\b)",
    re.IGNORECASE,
)
"""The beginning of instructions that are a manual, or that say what to do and what not, and when."""

_NAME = re.compile(r"[\w-]+")

_DEFAULT_ACCESS_LEVEL: AccessLevel = "interact"


class IdentityReader:
    """Reads who a server is, from all that speaks of it; each fact that is taken is noted in `resolver`."""

    def __init__(
        self,
        crawl: Crawl,
        handshakes: Sequence[FieldReader],
        sources: MetadataSources,
        manifest: Manifest,
        resolver: FieldResolver,
        problems: ProblemLog,
    ) -> None:
        self._crawl = crawl
        self._handshakes = handshakes
        self._sources = sources
        self._manifest = manifest
        self._resolver = resolver
        self._problems = problems
        self._url = crawl.url

    def identity(self, server_name: str | None) -> Service:
        """Gives a service without what it offers; `server_name` is the name under which a host mounts it."""
        sources, resolver, ai_help = self._sources, self._resolver, self._sources.ai_help
        homepage = homepage_from(sources, resolver)
        repository = resolver.value("repository", *sources.all("repository", FieldReader.link))
        summary, description = self._summary_and_description()
        counted = counted_limit(sources.dashdash)
        return Service(
            kind="mcp",
            protocol_version=self._crawl.protocol_version,
            name=self._name(server_name),
            title=resolver.value("title", self._from_help(ai_help.title), sources.server_info.string("title")),
            version=resolver.value(
                "version", sources.manifest.version("version"), sources.server_info.version("version")
            ),
            summary=summary,
            description=description,
            instructions=self._instructions(),
            emoji=resolver.value("emoji", *sources.all("emoji", within="identity")),
            homepage=homepage,
            repository=repository,
            status_page=resolver.value("status_page", *sources.all("statusPage", FieldReader.link)),
            content_version=resolver.value("content_version", *sources.all("contentVersion", FieldReader.version)),
            last_updated=resolver.value("last_updated", *sources.all("lastUpdated")),
            endpoints=(Endpoint(url=self._url),) if self._url is not None else (),
            server_name=server_name,
            when_to_use=resolver.value("when_to_use", self._from_help(ai_help.when_to_use)) or (),
            when_not_to_use=resolver.value("when_not_to_use", self._from_help(ai_help.when_not_to_use)) or (),
            access_level=access_level_from(sources, resolver, _DEFAULT_ACCESS_LEVEL),
            access=access_from(
                sources, FieldResolver(self._problems), url=self._url, repository=repository, homepage=homepage
            ),
            install=install_from(sources, resolver),
            requirements=self._requirements(),
            invocation=invocation_from(sources, resolver),
            rate_limit=rate_limit_from(sources, resolver) or counted or self._manifest.rate_limit(),
            categories=resolver.value("categories", *sources.all("categories", FieldReader.strings)) or (),
            extensions=self._extensions(),
        )

    def _requirements(self) -> Requirements:
        found = requirements_from(self._sources, self._resolver)
        auth = self._manifest.auth()
        if auth and not found.auth:
            # The manifest knows what the scopes are; another voice that names ways to authenticate counts more.
            self._resolver.record("requirements.auth", Origin("declared", self._manifest.fields.pointer_to("auth")))
        return replace(found, auth=found.auth or auth, session_ttl_s=self._manifest.session_ttl_s())

    def _name(self, server_name: str | None) -> str:
        sources = self._sources
        claims = (
            *sources.all("name", within="identity"),
            sources.manifest.string("name"),
            sources.server_info.string("name"),
        )
        name: str | None = self._resolver.value("name", *not_null(claims))
        if name is not None:
            return name
        self._problems.warning("name-missing", "serverInfo", "the server does not say its name", "use --name")
        return self._resolver.value("name", *_guesses(server_name=server_name, url=host_of(self._url))) or NAMELESS

    def _summary_and_description(self) -> tuple[str | None, str | None]:
        """Gives one paragraph on one line, and the whole text where it says more than that."""
        sources, ai_help, resolver = self._sources, self._sources.ai_help, self._resolver
        claims = (
            *sources.all("description", within="identity"),
            sources.manifest.string("description"),
            sources.server_info.string("description"),
        )
        whole: str | None = resolver.value("summary", *not_null(claims))
        if whole is None:
            instructions = self._instructions()
            guessed = _guesses(instructions=self._first_words(instructions) if instructions else None)
            return resolver.value(
                "summary", self._from_help(ai_help.quote) or next(guessed, None)
            ), ai_help.introduction
        paragraph = " ".join(re.split(r"\n\s*\n", whole.strip())[0].split())
        return paragraph, ai_help.introduction if paragraph == " ".join(whole.split()) else whole

    def _first_words(self, instructions: str) -> str | None:
        """Gives the first sentence of instructions where it speaks of the service, not of how its tools are used."""
        if _SAYS_NOTHING.match(instructions):
            return None
        sentence = first_sentence(instructions)
        listed = raw_entries(self._crawl.results, "tools/list", "tools", self._problems)
        names = {name for _, raw in listed if isinstance(raw, dict) and isinstance(name := raw.get("name"), str)}
        speaks_of_a_tool = any(not word.isalpha() and word in names for word in _NAME.findall(sentence))
        return None if speaks_of_a_tool else sentence

    def _instructions(self) -> str | None:
        texts = [handshake.string("instructions") for handshake in self._handshakes]
        instructions: str | None = self._resolver.value("instructions", *texts)
        return instructions

    def _from_help(self, value: Json) -> SourcedValue | None:
        return SourcedValue(value, self._sources.ai_help.pointer, "ai_help") if value else None

    def _extensions(self) -> Mapping[str, Json] | None:
        """Reads `capabilities.extensions`; some servers give a list of names (seed 004's reference server)."""
        found: dict[str, Json] = {}
        for handshake in self._handshakes:
            capabilities = handshake.object("capabilities")
            raw = capabilities.raw.get("extensions")
            if isinstance(raw, list):
                capabilities.ignore("extensions")
                found.update({name: {} for name in raw if isinstance(name, str)})
            else:
                extensions = capabilities.object("extensions")
                found.update(extensions.unread())
                extensions.ignore(*extensions.raw)
        return {**found, **self._manifest.extensions()} or None


def _guesses(**found: str | None) -> Iterator[SourcedValue]:
    """Gives claims that are drawn from other fields, the best first."""
    return (SourcedValue(value, "", "serverInfo", inferred_from=field) for field, value in found.items() if value)


_HANDSHAKE_METHODS = ("server/discover", "initialize")
"""Methods whose result opens a session, the newest first. A server of two eras may have been asked both."""


def handshakes_from_results(results: Mapping[str, Json], problems: ProblemLog) -> list[FieldReader]:
    """Gives the results that open a session, the newest first."""
    return [
        FieldReader(raw, child("", method), "serverInfo", problems)
        for method in _HANDSHAKE_METHODS
        if isinstance(raw := results.get(method), dict)
    ]


def dashdashes_from_handshakes(handshakes: Sequence[FieldReader], problems: ProblemLog) -> list[FieldReader]:
    """Returns the dashdash objects of a server, the one that counts first; one without members if there is none."""
    found = [place for handshake in handshakes for place in entries.all_in_result(handshake)]
    if found:
        entries.check(found[0], problems)
    return found or [FieldReader({}, "", "dashdash", problems)]


def server_info_from_handshakes(handshakes: Sequence[FieldReader], problems: ProblemLog) -> FieldReader:
    """Gives what a server says of its implementation: `serverInfo`, or its entry in `_meta`; empty where nothing."""
    for handshake in handshakes:
        for owner, key in ((handshake, "serverInfo"), (handshake.object("_meta"), entries.SERVER_INFO_KEY)):
            if (found := owner.object(key)).raw:
                return found
    return FieldReader({}, "", "serverInfo", problems)
