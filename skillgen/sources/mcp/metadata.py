"""Reads who an MCP server is: name, description, access level, requirements and other facts of the service.

The facts come from `dashdash`, `ai_help`, a service manifest and `serverInfo`. `dashdash` and the metadata of `ai_help`
have one shape (seed 000, 3.1.2 and 3.3.2), so every field is read from both with the same key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.auth import Access, AccessLevel, Auth, Endpoint, Invocation, RateLimit, Requirements
from skillgen.model.service import Service
from skillgen.model.values import Json, Origin, Value, child
from skillgen.security.addresses import host_of
from skillgen.sources.mcp.ai_help import AiHelp
from skillgen.sources.mcp.entries import SERVER_INFO_KEY, Read, check_dashdash, counted_limit, dashdashes_in_result
from skillgen.sources.mcp.fields import FieldReader, FieldResolver, SourcedValue, raw_entries
from skillgen.sources.mcp.manifest import Manifest
from skillgen.sources.mcp.target import Crawl
from skillgen.text.summary import first_sentence

_ACCESS_LEVELS = ("read", "interact", "full")
"""Access levels of an MCP server (seed 000, 3.1.2)."""

_DEFAULT_ACCESS_LEVEL: AccessLevel = "interact"

_DEFAULT_NAME = "mcp-server"
"""The name of a server if nothing declares or suggests one."""

_HANDSHAKE_METHODS = ("server/discover", "initialize")
"""Methods that open a session, the newest first. A server that knows both may have been asked both."""

_USAGE_INSTRUCTIONS = re.compile(
    r"\s*(?:#|\W{0,3}(?:do not|don['’]t|never|avoid|always|before|after|when(?:ever)?|if|first|note|important"
    r"|call|please|make sure|ensure|remember|start (?:by|with)|(?:the )?users?)\b"
    r"|[^.!?\n]{0,60}\b(?:notes|instructions|guidelines|guide|tips|rules) (?:for|on|to) (?:the |an )?"
    r"(?:agents?|ai|llms?|models?|assistants?|clients?|using|use)\b)",
    re.IGNORECASE,
)
"""The beginning of instructions that are a manual or a rule, and so do not describe the service."""

_NAME = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataSources:
    """The sources of facts on the service itself; a source that a server lacks is an empty reader."""

    dashdash: FieldReader
    """The `dashdash` object of the server."""

    ai_help: AiHelp
    """The answer to `ai_help`."""

    server_info: FieldReader
    """`serverInfo` of the handshake."""

    manifest: FieldReader
    """The `server` object of a service manifest (seed 004)."""

    other_dashdashes: tuple[FieldReader, ...] = ()
    """Further `dashdash` objects of the handshake; only their facts on safety count."""

    def all(
        self, key: str, read: Read = FieldReader.string, *, within: str | None = None
    ) -> tuple[SourcedValue | None, ...]:
        """Returns the values of a member in `dashdash` and `ai_help`; `within` is the key of the object around it."""
        readers = (self.dashdash, self.ai_help.metadata)
        return tuple(read(reader.object(within) if within else reader, key) for reader in readers)


def homepage_from(sources: MetadataSources, resolver: FieldResolver) -> str | None:
    """Returns the URL of the documentation; `websiteUrl` is the protocol's name for it (SEP-973)."""
    homepage: str | None = resolver.value(
        "homepage",
        *sources.all("homepage", FieldReader.url),
        sources.manifest.url("homepage"),
        sources.server_info.url("websiteUrl"),
    )
    return homepage


def access_level_from(
    sources: MetadataSources, resolver: FieldResolver, default: AccessLevel, *, levels: tuple[str, ...] = _ACCESS_LEVELS
) -> AccessLevel:
    """Returns the access level; the default, without an origin, if none is declared.

    Raises:
        SourceError: agents must not use the service.
    """
    readers = (sources.dashdash, *sources.other_dashdashes, sources.ai_help.metadata)
    for reader in readers:
        level = reader.raw.get("accessLevel")
        if isinstance(level, str) and level.strip().lower() == "none":
            raise SourceError(
                "the declared access level is `none`: agents must not use this service",
                where=reader.pointer_to("accessLevel"),
                fix="document another service, or ask its author to declare read, interact or full",
            )
    candidates = (reader.cautious_choice("accessLevel", levels) for reader in readers)
    return resolver.cautious("access_level", *candidates) or default


def access_from(
    sources: MetadataSources, resolver: FieldResolver, *, url: str | None, repository: str | None, homepage: str | None
) -> Access:
    """Returns the other ways to use the service; `url` is the URL at which the server was reached."""

    def alternative(field: str, key: str) -> Value | None:
        return _value(resolver.resolve(field, *sources.all(key, FieldReader.url, within="alternativeAccess")))

    declared = sources.all("mcpUrl", FieldReader.url, within="alternativeAccess")
    inferred = _inferred(url=url, repository=repository, homepage=homepage)
    is_declared = url is None and any(value is not None for value in declared)
    return Access(
        cli=alternative("cli", "cliUrl"),
        api=alternative("api", "apiUrl"),
        web=alternative("web", "webUrl"),
        mcp=_value(resolver.resolve("mcp", *(declared if is_declared else islice(inferred, 1)))),
        api_endpoint=resolver.value("api_endpoint", *_not_null(sources.all("apiEndpoint", FieldReader.url))),
        origins=resolver.origins,
    )


def install_from(sources: MetadataSources, resolver: FieldResolver) -> Mapping[str, str] | None:
    """Returns package manager to package, from `dashdash` and `ai_help` together."""
    readers = [item.object("install") for item in (sources.dashdash, sources.ai_help.metadata)]
    keys = dict.fromkeys(key for reader in readers for key in reader.raw)
    packages = {key: resolver.value(f"install.{key}", *(reader.string(key) for reader in readers)) for key in keys}
    return {key: package for key, package in packages.items() if package is not None} or None


def requirements_from(sources: MetadataSources, resolver: FieldResolver) -> Requirements:
    """Returns what a user needs before using the service."""

    def names(key: str, read: Read = FieldReader.strings) -> tuple[str, ...]:
        return resolver.value(f"requirements.{key}", *sources.all(key, read, within="requires")) or ()

    required = _auth_from(
        resolver.resolve("requirements.auth", *sources.all("auth", FieldReader.strings, within="requires"))
    )
    methods = next(_not_null(sources.all("authMethods", FieldReader.strings)), None)
    known = {auth.kind for auth in required}
    supported = tuple(auth for auth in _auth_from(methods) if auth.kind not in known)
    if methods is not None and supported and not required:
        resolver.record("requirements.auth", methods.origin())
    return Requirements(
        auth=(*required, *supported),
        env=names("env", FieldReader.variable_names),
        scopes=names("scopes"),
        bins=names("bins"),
        os=names("os"),
    )


def invocation_from(sources: MetadataSources, resolver: FieldResolver) -> Invocation | None:
    """Returns who may start the skill."""

    def value(field: str, key: str, read: Read) -> Json:
        return resolver.value(f"invocation.{field}", *sources.all(key, read, within="invocation"))

    invocation = Invocation(
        argument_hint=resolver.value("invocation.argument_hint", *sources.all("argumentHint")),
        model_invocable=value("model_invocable", "modelInvocable", FieldReader.boolean),
        user_invocable=value("user_invocable", "userInvocable", FieldReader.boolean),
        allowed_tools=value("allowed_tools", "allowedTools", FieldReader.strings) or (),
    )
    return invocation if invocation != Invocation() else None


def rate_limit_from(sources: MetadataSources, resolver: FieldResolver) -> RateLimit | None:
    """Returns how often the service may be called."""
    text = resolver.value("rate_limit", *sources.all("rateLimit"))
    return RateLimit(text=text) if text is not None else None


def _not_null(candidates: Iterable[SourcedValue | None]) -> Iterator[SourcedValue]:
    """Yields the values of a field for which seed 000 does not allow null."""
    return (candidate for candidate in candidates if candidate is not None and candidate.value is not None)


def _inferred(**values: str | None) -> Iterator[SourcedValue]:
    """Yields values that are inferred from other fields, the best first."""
    return (SourcedValue(value, "", "serverInfo", inferred_from=field) for field, value in values.items() if value)


def _value(field: SourcedValue | None) -> Value | None:
    return Value(field.value) if field is not None else None


def _auth_from(methods: SourcedValue | None) -> tuple[Auth, ...]:
    if methods is None or methods.value is None:
        return ()
    in_text = methods.provider == "ai_help"
    return tuple(
        Auth(kind=kind, pointer=methods.pointer if in_text else child(methods.pointer, index))
        for index, kind in enumerate(methods.value)
        if kind != "none"
    )


class IdentityReader:
    """Reads the identity of a server from all sources; `resolver` records the origin of each fact."""

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
        """Returns a service without its offers; `server_name` is the name under which a host mounts it."""
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
        requirements = requirements_from(self._sources, self._resolver)
        auth = self._manifest.auth()
        if auth and not requirements.auth:  # methods that another source declares win over those of the manifest
            self._resolver.record("requirements.auth", Origin("declared", self._manifest.fields.pointer_to("auth")))
        return replace(requirements, auth=requirements.auth or auth, session_ttl_s=self._manifest.session_ttl_s())

    def _name(self, server_name: str | None) -> str:
        name: str | None = self._resolver.value("name", *_not_null(self._identity("name")))
        if name is not None:
            return name
        self._problems.report("name-missing", "serverInfo", "the server does not declare its name", "use --name")
        inferred = _inferred(server_name=server_name, url=host_of(self._url))
        return self._resolver.value("name", *inferred) or _DEFAULT_NAME

    def _identity(self, key: str) -> tuple[SourcedValue | None, ...]:
        """Returns the values of a member that every source may have."""
        sources = self._sources
        return (
            *sources.all(key, within="identity"),
            sources.manifest.string(key),
            sources.server_info.string(key),
        )

    def _summary_and_description(self) -> tuple[str | None, str | None]:
        """Returns the first paragraph as one line, and the complete description if it is longer."""
        ai_help = self._sources.ai_help
        text: str | None = self._resolver.value("summary", *_not_null(self._identity("description")))
        if text is None:
            instructions = self._instructions()
            inferred = _inferred(instructions=self._first_sentence(instructions) if instructions else None)
            summary = self._from_help(ai_help.quote) or next(inferred, None)
            return self._resolver.value("summary", summary), ai_help.introduction
        paragraph = " ".join(re.split(r"\n\s*\n", text.strip())[0].split())
        return paragraph, ai_help.introduction if paragraph == " ".join(text.split()) else text

    def _first_sentence(self, instructions: str) -> str | None:
        """Returns the first sentence of instructions if it describes the service, not the use of its tools."""
        if _USAGE_INSTRUCTIONS.match(instructions):
            return None
        sentence = first_sentence(instructions)
        listed = raw_entries(self._crawl.results, "tools/list", "tools", self._problems)
        names = {name for _, raw in listed if isinstance(raw, dict) and isinstance(name := raw.get("name"), str)}
        names_tool = any(not word.isalpha() and word in names for word in _NAME.findall(sentence))
        return None if names_tool else sentence

    def _instructions(self) -> str | None:
        texts = [handshake.string("instructions") for handshake in self._handshakes]
        instructions: str | None = self._resolver.value("instructions", *texts)
        return instructions

    def _from_help(self, value: Json) -> SourcedValue | None:
        return SourcedValue(value, self._sources.ai_help.pointer, "ai_help") if value else None

    def _extensions(self) -> Mapping[str, Json] | None:
        """Returns `capabilities.extensions`; seed 004's reference server has a list of names there."""
        extensions: dict[str, Json] = {}
        for handshake in self._handshakes:
            capabilities = handshake.object("capabilities")
            raw = capabilities.raw.get("extensions")
            if isinstance(raw, list):
                capabilities.ignore("extensions")
                extensions.update({name: {} for name in raw if isinstance(name, str)})
            else:
                reader = capabilities.object("extensions")
                extensions.update(reader.unread())
                reader.ignore(*reader.raw)
        return {**extensions, **self._manifest.extensions()} or None


def handshakes_from_results(results: Mapping[str, Json], problems: ProblemLog) -> list[FieldReader]:
    """Returns the results of the handshakes, the newest first."""
    return [
        FieldReader(raw, child("", method), "serverInfo", problems)
        for method in _HANDSHAKE_METHODS
        if isinstance(raw := results.get(method), dict)
    ]


def dashdashes_from_handshakes(handshakes: Sequence[FieldReader], problems: ProblemLog) -> list[FieldReader]:
    """Returns the `dashdash` objects of a server, the one that counts first; at least an empty one."""
    dashdashes = [dashdash for handshake in handshakes for dashdash in dashdashes_in_result(handshake)]
    if dashdashes:
        check_dashdash(dashdashes[0], problems)
    return dashdashes or [FieldReader({}, "", "dashdash", problems)]


def server_info_from_handshakes(handshakes: Sequence[FieldReader], problems: ProblemLog) -> FieldReader:
    """Returns `serverInfo` or the entry of `_meta` that replaces it; an empty reader if there is neither."""
    for handshake in handshakes:
        for owner, key in ((handshake, "serverInfo"), (handshake.object("_meta"), SERVER_INFO_KEY)):
            if (server_info := owner.object(key)).raw:
                return server_info
    return FieldReader({}, "", "serverInfo", problems)
