"""Reads who an MCP server is: name, description, access level, requirements and other facts of the service; and checks
what extensions require of it (seeds 000, 003 and 004).

The facts come from `dashdash`, `ai_help`, a service manifest and `serverInfo`. `dashdash` and the metadata of `ai_help`
have one shape (seed 000, 3.1.2 and 3.3.2), so every field is read from both with the same key. A manifest (seed 004, 1)
is a document of its own, or a part of what a server answers.

Each clause of a specification is a row. What is required and missing is a problem, what is recommended and missing is
advice.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import CODES, ProblemLog, SourceError
from skillgen.model.auth import Access, AccessLevel, Auth, Endpoint, Requirements, Scope
from skillgen.model.mcp_fields import ACCESS, IDENTITY, RELATED, REQUIREMENTS, SCOPE, SERVICE, Field, Place
from skillgen.model.resource import RelatedServer
from skillgen.model.service import Service
from skillgen.model.values import Json, Origin, Value, child
from skillgen.security.secrets import host_objection, host_of
from skillgen.sources.json_access import as_dict, as_list, text_of, texts_of
from skillgen.sources.mcp.ai_help import AiHelp, ai_help_from_result, drop_undeclared, has_section
from skillgen.sources.mcp.fields import (
    SERVER_INFO_KEY,
    FieldReader,
    FieldResolver,
    SourcedValue,
    counted_limit,
    dashdashes_in_entry,
    dashdashes_in_result,
    named_entries,
    raw_entries,
    value_of,
)
from skillgen.sources.mcp.target import Crawl, is_manifest
from skillgen.text import lazy_re as re
from skillgen.text.inert import is_generated
from skillgen.text.summary import TRIGGER

_ACCESS_LEVELS = ("read", "interact", "full")
"""Access levels of an MCP server (seed 000, 3.1.2)."""

_DEFAULT_ACCESS_LEVEL: AccessLevel = "interact"

_DEFAULT_NAME = "mcp-server"
"""The name of a server if nothing declares or suggests one."""

_HANDSHAKE_METHODS = ("server/discover", "initialize")
"""Methods that open a session, the newest first. A server that knows both may have been asked both."""

_NAME, _SUMMARY, _TITLE, _VERSION = IDENTITY
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
        """Returns the values of a field of the service from every source."""
        places: tuple[tuple[FieldReader, Place], ...] = (
            (self.dashdashes[0], "dashdash"),
            (self.ai_help.metadata, "dashdash"),
            (self.manifest.server, "entry"),
            (self.server_info, "entry"),
        )
        return [value for reader, place in places if getattr(field, place) for value in reader.candidates(field, place)]


def sources_from_results(
    results: Mapping[str, Json], problems: ProblemLog, manifest: Manifest | None = None
) -> MetadataSources:
    """Returns the sources among the results of a crawl; a `manifest` that is given replaces that of the server."""
    handshakes = [
        FieldReader(raw, child("", method), "serverInfo", problems)
        for method in _HANDSHAKE_METHODS
        if isinstance(raw := results.get(method), dict)
    ]
    manifest = manifest or _manifest_in(results, handshakes, problems)
    dashdashes = [dashdash for handshake in handshakes for dashdash in dashdashes_in_result(handshake)]
    for dashdash in dashdashes[:1]:
        dashdash.text("specVersion")
        _check(_DASHDASH, dashdash.raw, dashdash.pointer, "dashdash", problems)
    if manifest.fields.raw:
        _check_manifest(manifest.fields)
    for dashdash in dashdashes:
        drop_undeclared(dashdash)
    ai_help = ai_help_from_result(results.get("ai_help"), problems)
    instructions = (item.read("instructions") for item in handshakes if is_generated(item.raw.get("instructions")))
    texts = [ai_help, *(ai_help_from_result(item.value, problems, item.pointer) for item in instructions if item)]
    # The entry of `_meta` replaces `serverInfo`.
    places = ((item, item.object("_meta")) for item in handshakes)
    server_infos = (info for item, meta in places for info in (item.object("serverInfo"), meta.object(SERVER_INFO_KEY)))
    return MetadataSources(
        dashdashes=tuple(dashdashes) or (FieldReader({}, "", "dashdash", problems),),
        ai_help=ai_help if ai_help.edited is None else ai_help_from_result(None, problems),
        generated=next((text for text in texts if text.edited is not None), None),
        server_info=next((info for info in server_infos if info.raw), FieldReader({}, "", "serverInfo", problems)),
        manifest=manifest,
        handshakes=tuple(handshakes),
    )


def metadata_fields(sources: MetadataSources, resolver: FieldResolver) -> dict[str, Any]:
    """Returns the fields of a service that `dashdash` and `ai_help` declare with the same keys."""
    readers = [reader.object("install") for reader in (sources.dashdashes[0], sources.ai_help.metadata)]
    managers = dict.fromkeys(key for reader in readers for key in reader.raw)
    install = {key: resolver.value(f"install.{key}", *(reader.read(key) for reader in readers)) for key in managers}
    facts = resolver.facts((*SERVICE, *REQUIREMENTS[1:]), sources.all)
    auth = _auth_from(resolver.resolve("requirements.auth", *sources.all(REQUIREMENTS[0])))
    methods = next(_not_null(sources.all(_AUTH_METHODS)), None)
    supported = tuple(item for item in _auth_from(methods) if item.kind not in {known.kind for known in auth})
    if methods is not None and supported and not auth:
        resolver.origins["requirements.auth"] = methods.origin()
    return {
        **facts,
        "install": {key: package for key, package in install.items() if package is not None} or None,
        "requirements": Requirements(**{**facts.get("requirements", {}), "auth": (*auth, *supported)}),
        "rate_limit": facts.get("rate_limit") or counted_limit(sources.dashdashes[0]),
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
        if (text_of(reader.raw, "accessLevel") or "").strip().lower() == "none":
            what = "the declared access level is `none`: agents must not use this service"
            fix = "document another service, or ask its author to declare read, interact or full"
            raise SourceError(what, where=reader.pointer_to("accessLevel"), fix=fix)
    candidates = (reader.read("accessLevel", "choice", levels) for reader in readers)
    return resolver.value("access_level", *candidates) or default


def access_from(sources: MetadataSources, resolver: FieldResolver, urls: Mapping[str, str | None]) -> Access:
    """Returns the other ways to use the service; `urls` are those of the server itself, the best first.

    Its `url`, at which the server was reached, counts before what is declared.
    """
    candidates = {field.name: sources.all(field) for field in ACCESS}
    if urls.get("url") is not None or not candidates["mcp"]:
        candidates["mcp"] = list(_inferred(**urls))[:1]
    found = {name: resolver.resolve(name, *values) for name, values in candidates.items()}
    ways = {name: Value(way.value) for name, way in found.items() if way is not None}
    endpoint = resolver.value("api_endpoint", *_not_null(sources.all(_API_ENDPOINT)))
    return Access(**ways, api_endpoint=endpoint, origins=resolver.origins or None)


def _not_null(candidates: Iterable[SourcedValue | None]) -> Iterator[SourcedValue]:
    """Yields the values of a field for which seed 000 does not allow null."""
    return (candidate for candidate in candidates if candidate is not None and candidate.value is not None)


def _inferred(**values: str | None) -> Iterator[SourcedValue]:
    """Yields values that are inferred from other fields, the best first."""
    return (SourcedValue(value, "", "serverInfo", inferred_from=field) for field, value in values.items() if value)


def _auth_from(methods: SourcedValue | None) -> tuple[Auth, ...]:
    if methods is None or methods.value is None:
        return ()
    pointer, in_text = methods.pointer, methods.provider == "ai_help"
    kinds = enumerate(auth_kinds(methods.value))
    return tuple(Auth(kind=kind, pointer=pointer if in_text else f"{pointer}/{index}") for index, kind in kinds)


def identity_from_crawl(
    crawl: Crawl, sources: MetadataSources, resolver: FieldResolver, *, server_name: str | None, hosts: list[str] | None
) -> Service:
    """Returns a service without its offers.

    `server_name` is the name under which a host mounts it, `hosts` are those of its homepage; `None` for any.
    """
    ai_help, manifest = sources.ai_help, sources.manifest
    written = (item for item in sources.handshakes if not is_generated(item.raw.get("instructions")))
    instructions = resolver.value("instructions", *(item.read("instructions") for item in written))
    summary, description = _summary_and_description(sources, resolver)
    fields = metadata_fields(sources, resolver)
    if hosts is not None and (homepage := fields.get("homepage")) is not None:
        if (objection := host_objection(homepage, hosts)) is not None:
            resolver.problems.report("homepage-left-out", resolver.origins["homepage"].source, objection)
            del fields["homepage"]
    urls = {"url": crawl.url, "repository": fields.get("repository"), "homepage": fields.get("homepage")}
    requirements: Requirements = fields["requirements"]
    if not requirements.auth and (auth := manifest.auth()):
        resolver.origins["requirements.auth"] = Origin("declared", manifest.fields.pointer_to("auth"))
        requirements = replace(requirements, auth=auth)
    return Service(
        kind="mcp",
        protocol_version=crawl.protocol_version,
        name=_name(crawl, sources, resolver, server_name),
        title=resolver.value("title", _from_help(ai_help, ai_help.title), *sources.all(_TITLE)),
        version=resolver.value("version", *sources.all(_VERSION)),
        summary=summary,
        description=description,
        instructions=instructions,
        endpoints=(Endpoint(url=crawl.url),) if crawl.url is not None else (),
        server_name=server_name,
        when_to_use=resolver.value("when_to_use", _from_help(ai_help, ai_help.when_to_use)) or (),
        when_not_to_use=resolver.value("when_not_to_use", _from_help(ai_help, ai_help.when_not_to_use)) or (),
        access_level=access_level_from(sources, resolver, _DEFAULT_ACCESS_LEVEL),
        access=access_from(sources, FieldResolver(resolver.problems), urls),
        extensions=_extensions(sources),
        **{
            **fields,
            "requirements": replace(requirements, **manifest.fields.object("auth").values((_SESSION_TTL,))),
            "rate_limit": fields["rate_limit"] or counted_limit(manifest.fields),
        },
    )


def _name(crawl: Crawl, sources: MetadataSources, resolver: FieldResolver, server_name: str | None) -> str:
    name: str | None = resolver.value("name", *_not_null(sources.all(_NAME)))
    if name is not None:
        return name
    message = "the server does not declare its name"
    resolver.problems.report("name-missing", "serverInfo", message, "set the option `name`")
    return resolver.value("name", *_inferred(server_name=server_name, url=host_of(crawl.url))) or _DEFAULT_NAME


def _summary_and_description(sources: MetadataSources, resolver: FieldResolver) -> tuple[str | None, str | None]:
    """Returns the first paragraph as one line, and the complete description if it is longer."""
    ai_help = sources.ai_help
    text: str | None = resolver.value("summary", *_not_null(sources.all(_SUMMARY)))
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
        if isinstance(capabilities.raw.get("extensions"), list):
            capabilities.ignore("extensions")
            extensions |= {name: {} for name in texts_of(capabilities.raw, "extensions")}
        else:
            reader = capabilities.object("extensions")
            extensions |= reader.unread()
            reader.ignore(*reader.raw)
    supported = sources.manifest.fields.values((_SUPPORTED,)).get("extensions", ())
    return extensions | {name: {} for name in supported} or None


_KEYS_IN_RESULT = ("manifest", "service_manifest", "serviceManifest")
_SESSION_TTL = Field("session_ttl_s", "integer", entry="session_ttl_seconds")
_SUPPORTED = Field("extensions", "strings", entry="supported_extensions")


class Manifest:
    """A service manifest; empty for a server without one."""

    def __init__(self, raw: Json, pointer: str, problems: ProblemLog) -> None:
        self.fields = FieldReader(as_dict(raw), pointer, "manifest", problems)
        """The members of the manifest."""
        self.fields.ignore("$schema")
        self.server = self.fields.object("server")
        """The members of its `server` object."""
        tools = enumerate(value_of(self.fields.read("tools", "objects")) or ())
        self.raw_tools = [(self.fields.pointer_to("tools", index), tool) for index, tool in tools]
        """Its tools, raw, each with its pointer."""

    def tools(self) -> dict[str, FieldReader]:
        """Returns its tools by name, for what they add to `tools/list`."""
        return dict(named_entries(self.raw_tools, "name", self.fields.problems, provider="manifest"))

    def auth(self) -> tuple[Auth, ...]:
        """Returns the authentication methods; the first has the scopes that can be requested."""
        auth = self.fields.object("auth")
        kinds = auth_kinds(value_of(auth.read("methods", "strings")) or ())
        scopes = tuple(Scope(**values) for item in auth.objects("scopes") if "name" in (values := item.values(SCOPE)))
        # The manifest does not assign scopes to methods, so they are listed once.
        kinds = tuple(dict.fromkeys(kinds)) or (("not declared",) if scopes else ())
        granted = {next((kind for kind in kinds if kind != "none"), None): scopes}
        return tuple(Auth(kind=kind, scopes=granted.get(kind, ()), pointer=auth.pointer) for kind in kinds)

    def related(self) -> tuple[RelatedServer, ...]:
        """Returns the recommended servers, also those in the form of a protocol message (seed 004, 13)."""
        is_message = "recommendations" in as_dict(self.fields.raw.get("recommendations"))
        owner = self.fields.object("recommendations") if is_message else self.fields
        needed = {"capability": owner.text("capability_needed")}
        related = []
        for item in owner.objects("recommendations"):
            values = item.values(RELATED)
            if "name" not in values:
                item.problems.report("name-missing", item.pointer, "the recommended server has no server_name")
            related.append(RelatedServer(**{"name": "unnamed", **needed, **values}))
        return tuple(related)


def _manifest_in(results: Mapping[str, Json], handshakes: Sequence[FieldReader], problems: ProblemLog) -> Manifest:
    """Reads a manifest that is the result of `get_manifest` or part of the result of a handshake."""
    if isinstance(raw := results.get("manifest"), dict):
        return Manifest(raw, "/manifest", problems)
    owners = (owner for handshake in handshakes for owner in (handshake, handshake.object("_meta")))
    for owner, key in itertools.product(owners, _KEYS_IN_RESULT):
        if is_manifest(owner.raw.get(key)):
            owner.ignore(key)
            return Manifest(owner.raw[key], owner.pointer_to(key), problems)
    return Manifest({}, "", problems)


def auth_kinds(methods: Sequence[str]) -> tuple[str, ...]:
    """Returns the declared authentication methods: `none` alone is no method, but next to others it is one of them."""
    return () if set(methods) <= {"none"} else tuple(methods)


class Rule(Struct, frozen=True):
    """A clause on a member: that it is there, or what it matches if it is a string."""

    code: str
    path: str
    """Keys; `*` is each item of a list, and of the keys with bars between them one is enough."""

    pattern: str = ""
    may_be_null: bool = False


_ABSENT = object()
_VERSION_PATTERN = r"\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+].*)?"


def _each(code: str, keys: str) -> tuple[Rule, ...]:
    return tuple(Rule(code, key) for key in keys.split())


_WAYS = ("cli", "api", "web")
_DASHDASH = (
    Rule("dashdash-spec-version-missing", "specVersion"),
    Rule("dashdash-spec-version-invalid", "specVersion", _VERSION_PATTERN),
    Rule("dashdash-spec-version-old", "specVersion", r"(?!0+\.0*[01]\.).*"),
    Rule("dashdash-identity-name-missing", "identity/name"),
    Rule("dashdash-identity-name-invalid", "identity/name", "[a-z0-9-]{1,64}"),
    Rule("dashdash-identity-description-missing", "identity/description"),
    Rule("dashdash-description-without-trigger", "identity/description", f"(?i).*(?:{TRIGGER.pattern}).*"),
    Rule("dashdash-access-level-missing", "accessLevel"),
    *(Rule(f"dashdash-{way}-url-missing", f"alternativeAccess/{way}Url", may_be_null=True) for way in _WAYS),
)
"""Seed 000, 3.1.2."""

_MANIFEST = (
    *_each("manifest-field-missing", "manifest_version server/name server/version server/mcp_spec_version"),
    *_each("manifest-field-missing", "tools tools/*/description tools/*/input_schema|inputSchema"),
    *_each("manifest-field-missing", "auth/scopes/*/name auth/scopes/*/description"),
    *(Rule("manifest-field-missing", f"recommendations/*/{field.entry}") for field in RELATED[:2]),
    Rule("manifest-version-unknown", "manifest_version", r"0\.1\.0"),
    Rule("manifest-server-version-invalid", "server/version", _VERSION_PATTERN),
    Rule("manifest-auth-method-unknown", "auth/methods/*", "oauth2_device|oauth2_code|api_key|bearer_token|none"),
    Rule(
        "manifest-word-unknown",
        "supported_extensions/*",
        "streaming|progress_notifications|idempotency|transactions|session_state|intent_hints|provenance"
        "|human_in_the_loop|data_references|subscribe_notify|server_recommendations|structured_errors"
        "|multimodal_signatures|conformance",
    ),
    Rule("manifest-word-unknown", "recommendations/*/match_confidence", "|".join(RELATED[-1].words)),
)
"""Seed 004, 1 (service-manifest.schema.json); any name of a tool is valid there."""

_VOLATILE = (Field("remaining", "integer", entry="remaining"), Field("resets_at", entry="resets_at"))
_MANIFEST_ADVICE = (
    Rule("manifest-tool-name-invalid", "tools/*/name", "[a-z][a-z0-9_]*"),
    *_each("manifest-estimate-missing", "tools/*/cost tools/*/latency"),
)
_SERVER_ADVICE = _each("dashdash-field-missing", "install requires invocation rateLimit homepage repository")
_TOOL_ADVICE = _each(
    "dashdash-tool-field-missing", "category operationType idempotent cliEquivalent apiEquivalent examples errors"
)
_RESOURCE_ADVICE = _each(
    "dashdash-resource-field-missing", "resourceType refreshable cacheDuration webEquivalent apiEquivalent"
)
"""The fields that dashdash recommends (seed 000, 3.1.2, 3.2.2 with Appendix B, 3.4.2)."""


_AI_HELP_ADVICE = _each(
    "ai-help-part-missing", "identity/name identity/description specVersion accessLevel whenToUse quickReference"
)
_WORKFLOW = r"(?i)(?=.*(?:\?tools=|\btools (?:query )?parameter\b)).*\b(?:before|first|step|then|prior|required)\b.*"
_DISCLOSURE_ADVICE = (
    Rule("disclosure-workflow-unsaid", "description"),
    Rule("disclosure-workflow-unsaid", "description", _WORKFLOW),
    Rule("disclosure-media-type", "mimeType"),
    Rule("disclosure-media-type", "mimeType", "application/json"),
)
"""Seed 003, 4.1 and 4.2."""

_GUIDANCE_ADVICE = _each("disclosure-guidance-missing", "examples error_guidance")


def _check_manifest(manifest: FieldReader) -> None:
    """Reports what the schema of a manifest requires and it lacks."""
    server = manifest.object("server")
    for owner, key in ((manifest, "manifest_version"), (server, "version"), (server, "mcp_spec_version")):
        owner.text(key)
    limits = manifest.object("rate_limits")  # what is left at the moment is not documented, so nothing else reads it
    FieldReader(limits.raw, limits.pointer, "manifest", manifest.problems).values(_VOLATILE)
    _check(_MANIFEST, manifest.raw, manifest.pointer, "the manifest", manifest.problems)


def _check(rules: Iterable[Rule], raw: Json, pointer: str, what: str, problems: ProblemLog) -> None:
    missing: dict[tuple[str, str], list[str]] = {}
    for rule in rules:
        for owner, path, value in _members(raw, pointer, rule.path.split("/")):
            is_blank = isinstance(value, str) and not value.strip()
            if rule.pattern and isinstance(value, str) and not is_blank:
                if not re.fullmatch(rule.pattern, value, re.DOTALL):
                    message, words = f"{CODES[rule.code].meaning}: {value[:80]!r}", rule.pattern.replace("|", ", ")
                    fix = f"write one of {words}" if re.fullmatch("[a-z0-9_, ]+", words) else None
                    problems.report(rule.code, child(owner, path[-1]), message, fix)
            elif not rule.pattern and (is_blank or value is _ABSENT or (value is None and not rule.may_be_null)):
                missing.setdefault((rule.code, owner), []).append(".".join(path))
    for (code, owner), fields in missing.items():
        problems.report(code, owner, f"{what} has no {', '.join(fields)}", f"declare {', '.join(fields)}")


def _members(raw: Json, pointer: str, keys: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...], Json]]:
    """Yields each member at a path, `_ABSENT` for one that is not there: its owner, the keys to it, and its value."""
    members, names = as_dict(raw), keys[0].split("|")
    name = next((name for name in names if name in members), names[0])
    found = enumerate(as_list(raw)) if name == "*" else [(name, members.get(name, _ABSENT))]
    for key, value in found:
        if len(keys) == 1:
            yield pointer, (str(key),), value
        else:
            inner = child(pointer, key) if isinstance(value, (dict, list)) else pointer
            yield from ((where, (str(key), *path), item) for where, path, item in _members(value, inner, keys[1:]))


def specifications_of(sources: MetadataSources, results: Mapping[str, Json]) -> tuple[str, ...]:
    """Returns the names of the extensions that a server uses."""
    used = (sources.dashdashes[0].raw, results.get("ai_help") is not None, sources.manifest.fields.raw)
    return tuple(name for name, is_used in zip(("dashdash", "ai_help", "manifest"), used, strict=True) if is_used)


def advice_on(
    service: Service, sources: MetadataSources, tools: Iterable[FieldReader], results: Mapping[str, Json]
) -> ProblemLog:
    """Returns what the extensions of a server recommend and it lacks; `tools` are their entries."""
    problems = ProblemLog()
    dashdash, text, manifest = sources.dashdashes[0], sources.ai_help, sources.manifest.fields
    resources = list(raw_entries(results, "resources/list", "resources", ProblemLog()))
    if dashdash.raw:
        _check(_SERVER_ADVICE, dashdash.raw, dashdash.pointer, "dashdash", problems)
        ways = as_dict(dashdash.raw.get("alternativeAccess"))
        # Fields that a server needs only if there is that other way to use it.
        absent = {f"{way}Equivalent" for way in _WAYS if ways.get(f"{way}Url", _ABSENT) is None}
        listed = [(_TOOL_ADVICE, (tool.pointer, tool.raw)) for tool in tools]
        for rules, (pointer, raw) in (*listed, *((_RESOURCE_ADVICE, resource) for resource in resources)):
            # A reader of its own: those of the service know which members were read.
            parts = dashdashes_in_entry(FieldReader(as_dict(raw), pointer, "entry", ProblemLog()))
            declared = {key: value for part in parts for key, value in part.raw.items() if value is not None}
            what = f"dashdash of {(text_of(raw, 'name') or text_of(raw, 'uri') or '')[:80]!r}"
            _check((rule for rule in rules if rule.path not in absent), declared, pointer, what, problems)
    if results.get("ai_help") is not None:
        there = {"whenToUse": text.when_to_use or has_section(text, "whenToUse") or None}
        there["quickReference"] = has_section(text, "quickReference") or None
        _check(_AI_HELP_ADVICE, {**text.metadata.raw, **there}, text.pointer, "the text", problems)
    elif dashdash.raw:
        problems.report("ai-help-not-offered", "ai_help", "the server has dashdash, but does not answer ai_help")
    uri = service.disclosure.uri if service.disclosure is not None else ""
    for pointer, raw in resources:
        if uri and as_dict(raw).get("uri") == uri:
            _check(_DISCLOSURE_ADVICE, raw, pointer, "the resource", problems)
    described = as_dict(as_dict(results.get("resources/read")).get("tools")) if uri else {}
    for name, raw in described.items():
        if "inputSchema" in as_dict(raw):
            declared = {key: item for key, item in raw.items() if item}
            what = f"the description of {name[:80]!r}"
            _check(_GUIDANCE_ADVICE, declared, child("", "resources/read", "tools", name), what, problems)
    _check(_MANIFEST_ADVICE, manifest.raw, manifest.pointer, "the manifest", problems)
    return problems
