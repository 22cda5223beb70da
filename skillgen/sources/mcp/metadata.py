"""Reads who an MCP server is: name, description, access level, requirements and other facts of the service.

The facts come from `dashdash`, `ai_help`, a service manifest and `serverInfo`. `dashdash` and the metadata of `ai_help`
have one shape (seed 000, 3.1.2 and 3.3.2), so every field is read from both with the same key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.auth import Access, AccessLevel, Auth, Endpoint, Invocation, RateLimit, Requirements
from skillgen.model.mcp_fields import ACCESS, REQUIREMENTS, SERVICE, Field
from skillgen.model.service import Service
from skillgen.model.values import Json, Origin, Value, child
from skillgen.security.addresses import host_of
from skillgen.sources.mcp.ai_help import AiHelp, ai_help_from_result, drop_undeclared
from skillgen.sources.mcp.entries import SERVER_INFO_KEY, check_dashdash, counted_limit, dashdashes_in_result
from skillgen.sources.mcp.fields import FieldReader, FieldResolver, SourcedValue, value_of
from skillgen.sources.mcp.manifest import Manifest, auth_kinds, manifest_from_results
from skillgen.sources.mcp.target import Crawl
from skillgen.text import lazy_re as re
from skillgen.text.generated import is_generated

_ACCESS_LEVELS = ("read", "interact", "full")
"""Access levels of an MCP server (seed 000, 3.1.2)."""

_DEFAULT_ACCESS_LEVEL: AccessLevel = "interact"

_DEFAULT_NAME = "mcp-server"
"""The name of a server if nothing declares or suggests one."""

_HANDSHAKE_METHODS = ("server/discover", "initialize")
"""Methods that open a session, the newest first. A server that knows both may have been asked both."""

_API_ENDPOINT = Field("api_endpoint", "url", dashdash="apiEndpoint")
_AUTH_METHODS = Field("auth", "strings", dashdash="authMethods")
"""Fields of the web profile (4.3)."""


class MetadataSources(Struct, frozen=True, kw_only=True):
    """The sources of facts on the service itself; a source that a server lacks is an empty reader."""

    dashdashes: tuple[FieldReader, ...]
    """The `dashdash` objects of the handshakes, at least an empty one. Of all but the first, only facts on safety
    count."""

    ai_help: AiHelp
    server_info: FieldReader
    manifest: Manifest
    handshakes: tuple[FieldReader, ...] = ()
    """The results of the handshakes, the newest first."""

    generated: AiHelp | None = None
    """What skillgen wrote and the server serves as `ai_help` or as its instructions; it only fills gaps."""

    def all(self, field: Field) -> list[SourcedValue]:
        """Returns the values of a field in `dashdash` and `ai_help`."""
        readers = (self.dashdashes[0], self.ai_help.metadata)
        return [value for reader in readers for value in reader.candidates(field, "dashdash")]


def sources_from_results(
    results: Mapping[str, Json], problems: ProblemLog, manifest: Manifest | None = None
) -> MetadataSources:
    """Returns the sources among the results of a crawl; a `manifest` that is given replaces that of the server."""
    handshakes = [
        FieldReader(raw, child("", method), "serverInfo", problems)
        for method in _HANDSHAKE_METHODS
        if isinstance(raw := results.get(method), dict)
    ]
    manifest = manifest or manifest_from_results(results, handshakes, problems)
    if manifest.fields.raw:
        manifest.check()
    dashdashes = [dashdash for handshake in handshakes for dashdash in dashdashes_in_result(handshake)]
    if dashdashes:
        check_dashdash(dashdashes[0])
    for dashdash in dashdashes:
        drop_undeclared(dashdash)
    ai_help = ai_help_from_result(results.get("ai_help"), problems)
    instructions = (item.read("instructions") for item in handshakes if is_generated(item.raw.get("instructions")))
    texts = [ai_help, *(ai_help_from_result(item.value, problems, item.pointer) for item in instructions if item)]
    return MetadataSources(
        dashdashes=tuple(dashdashes) or (FieldReader({}, "", "dashdash", problems),),
        ai_help=ai_help if ai_help.edited is None else ai_help_from_result(None, problems),
        generated=next((text for text in texts if text.edited is not None), None),
        server_info=_server_info(handshakes) or FieldReader({}, "", "serverInfo", problems),
        manifest=manifest,
        handshakes=tuple(handshakes),
    )


def _server_info(handshakes: Iterable[FieldReader]) -> FieldReader | None:
    """Returns `serverInfo`, or the entry of `_meta` that replaces it."""
    for handshake in handshakes:
        for owner, key in ((handshake, "serverInfo"), (handshake.object("_meta"), SERVER_INFO_KEY)):
            if (server_info := owner.object(key)).raw:
                return server_info
    return None


def metadata_fields(sources: MetadataSources, resolver: FieldResolver) -> dict[str, Any]:
    """Returns the fields of a service that `dashdash` and `ai_help` declare with the same keys."""
    readers = [reader.object("install") for reader in (sources.dashdashes[0], sources.ai_help.metadata)]
    managers = dict.fromkeys(key for reader in readers for key in reader.raw)
    install = {key: resolver.value(f"install.{key}", *(reader.read(key) for reader in readers)) for key in managers}
    facts: dict[str, Any] = {}
    invocation: dict[str, Any] = {}
    for field in SERVICE:
        candidates: list[SourcedValue | None] = [*sources.all(field)]
        if field.name == "homepage":  # `websiteUrl` is the protocol's name for it (SEP-973)
            candidates += [
                sources.manifest.server.read("homepage", "url"),
                sources.server_info.read("websiteUrl", "url"),
            ]
        parent, _, name = field.name.removesuffix(".text").rpartition(".")
        value = resolver.value(field.name.removesuffix(".text"), *candidates)
        (invocation if parent else facts).update({name: value} if value is not None else {})
    text, counted = facts.pop("rate_limit", None), counted_limit(sources.dashdashes[0])
    return {
        **facts,
        "install": {key: package for key, package in install.items() if package is not None} or None,
        "requirements": _requirements(sources, resolver),
        "invocation": Invocation(**invocation) if invocation else None,
        "rate_limit": RateLimit(text=text) if text is not None else counted,
    }


def access_level_from(
    sources: MetadataSources, resolver: FieldResolver, default: AccessLevel, *, levels: tuple[str, ...] = _ACCESS_LEVELS
) -> AccessLevel:
    """Returns the access level; the default, without an origin, if none is declared.

    Raises:
        SourceError: agents must not use the service.
    """
    readers = (*sources.dashdashes, sources.ai_help.metadata)
    for reader in readers:
        level = reader.raw.get("accessLevel")
        if isinstance(level, str) and level.strip().lower() == "none":
            what = "the declared access level is `none`: agents must not use this service"
            fix = "document another service, or ask its author to declare read, interact or full"
            raise SourceError(what, where=reader.pointer_to("accessLevel"), fix=fix)
    candidates = (reader.read("accessLevel", "choice", levels) for reader in readers)
    return resolver.cautious("access_level", *candidates) or default


def access_from(
    sources: MetadataSources, resolver: FieldResolver, *, url: str | None, repository: str | None, homepage: str | None
) -> Access:
    """Returns the other ways to use the service; `url` is the URL at which the server was reached."""
    ways: dict[str, Value | None] = {}
    for field in ACCESS:
        candidates = sources.all(field)
        if field.name == "mcp" and (url is not None or not candidates):
            candidates = list(_inferred(url=url, repository=repository, homepage=homepage))[:1]
        found = resolver.resolve(field.name, *candidates)
        ways[field.name] = Value(found.value) if found is not None else None
    endpoint = resolver.value("api_endpoint", *_not_null(sources.all(_API_ENDPOINT)))
    return Access(**ways, api_endpoint=endpoint, origins=resolver.origins)


def _requirements(sources: MetadataSources, resolver: FieldResolver) -> Requirements:
    """Returns what a user needs before using the service."""
    facts: dict[str, Any] = {}
    for field in REQUIREMENTS:
        found = resolver.resolve(f"requirements.{field.name}", *sources.all(field))
        facts[field.name] = _auth_from(found) if field.name == "auth" else value_of(found) or ()
    methods = next(_not_null(sources.all(_AUTH_METHODS)), None)
    known = {auth.kind for auth in facts["auth"]}
    supported = tuple(auth for auth in _auth_from(methods) if auth.kind not in known)
    if methods is not None and supported and not known:
        resolver.record("requirements.auth", methods.origin())
    return Requirements(**{**facts, "auth": (*facts["auth"], *supported)})


def _not_null(candidates: Iterable[SourcedValue | None]) -> Iterator[SourcedValue]:
    """Yields the values of a field for which seed 000 does not allow null."""
    return (candidate for candidate in candidates if candidate is not None and candidate.value is not None)


def _inferred(**values: str | None) -> Iterator[SourcedValue]:
    """Yields values that are inferred from other fields, the best first."""
    return (SourcedValue(value, "", "serverInfo", inferred_from=field) for field, value in values.items() if value)


def _auth_from(methods: SourcedValue | None) -> tuple[Auth, ...]:
    if methods is None or methods.value is None:
        return ()
    in_text = methods.provider == "ai_help"
    return tuple(
        Auth(kind=kind, pointer=methods.pointer if in_text else child(methods.pointer, index))
        for index, kind in enumerate(auth_kinds(methods.value))
    )


def identity_from_crawl(
    crawl: Crawl, sources: MetadataSources, resolver: FieldResolver, *, server_name: str | None
) -> Service:
    """Returns a service without its offers; `server_name` is the name under which a host mounts it."""
    ai_help, manifest = sources.ai_help, sources.manifest
    written = (item for item in sources.handshakes if not is_generated(item.raw.get("instructions")))
    instructions = resolver.value("instructions", *(item.read("instructions") for item in written))
    summary, description = _summary_and_description(sources, resolver)
    fields = metadata_fields(sources, resolver)
    requirements: Requirements = fields["requirements"]
    if not requirements.auth and (auth := manifest.auth()):
        resolver.record("requirements.auth", Origin("declared", manifest.fields.pointer_to("auth")))
        requirements = replace(requirements, auth=auth)
    return Service(
        kind="mcp",
        protocol_version=crawl.protocol_version,
        name=_name(crawl, sources, resolver, server_name),
        title=resolver.value("title", _from_help(ai_help, ai_help.title), sources.server_info.read("title")),
        version=resolver.value(
            "version", manifest.server.read("version", "version"), sources.server_info.read("version", "version")
        ),
        summary=summary,
        description=description,
        instructions=instructions,
        endpoints=(Endpoint(url=crawl.url),) if crawl.url is not None else (),
        server_name=server_name,
        when_to_use=resolver.value("when_to_use", _from_help(ai_help, ai_help.when_to_use)) or (),
        when_not_to_use=resolver.value("when_not_to_use", _from_help(ai_help, ai_help.when_not_to_use)) or (),
        access_level=access_level_from(sources, resolver, _DEFAULT_ACCESS_LEVEL),
        access=access_from(
            sources,
            FieldResolver(resolver.problems),
            url=crawl.url,
            repository=fields.get("repository"),
            homepage=fields.get("homepage"),
        ),
        extensions=_extensions(sources),
        **{
            **fields,
            "requirements": replace(requirements, session_ttl_s=manifest.session_ttl_s()),
            "rate_limit": fields["rate_limit"] or counted_limit(manifest.fields),
        },
    )


def _name(crawl: Crawl, sources: MetadataSources, resolver: FieldResolver, server_name: str | None) -> str:
    name: str | None = resolver.value("name", *_not_null(_identity(sources, "name")))
    if name is not None:
        return name
    resolver.problems.report(
        "name-missing", "serverInfo", "the server does not declare its name", "set the option `name`"
    )
    return resolver.value("name", *_inferred(server_name=server_name, url=host_of(crawl.url))) or _DEFAULT_NAME


def _identity(sources: MetadataSources, key: str) -> list[SourcedValue | None]:
    """Returns the values of a member that every source may have."""
    readers = (sources.manifest.server, sources.server_info)
    return [*sources.all(Field(key, dashdash=f"identity/{key}")), *(reader.read(key) for reader in readers)]


def _summary_and_description(sources: MetadataSources, resolver: FieldResolver) -> tuple[str | None, str | None]:
    """Returns the first paragraph as one line, and the complete description if it is longer."""
    ai_help = sources.ai_help
    text: str | None = resolver.value("summary", *_not_null(_identity(sources, "description")))
    if text is None:
        return resolver.value("summary", _from_help(ai_help, ai_help.quote)), ai_help.introduction
    paragraph = " ".join(re.split(r"\n\s*\n", text.strip())[0].split())
    return paragraph, ai_help.introduction if paragraph == " ".join(text.split()) else text


def _from_help(ai_help: AiHelp, value: Json) -> SourcedValue | None:
    return SourcedValue(value, ai_help.pointer, "ai_help") if value else None


def _extensions(sources: MetadataSources) -> Mapping[str, Json] | None:
    """Returns `capabilities.extensions`; seed 004's reference server has a list of names there."""
    extensions: dict[str, Json] = {}
    for handshake in sources.handshakes:
        capabilities = handshake.object("capabilities")
        raw = capabilities.raw.get("extensions")
        if isinstance(raw, list):
            capabilities.ignore("extensions")
            extensions.update({name: {} for name in raw if isinstance(name, str)})
        else:
            reader = capabilities.object("extensions")
            extensions.update(reader.unread())
            reader.ignore(*reader.raw)
    return {**extensions, **sources.manifest.extensions()} or None
