"""Builds the service from a crawl of an MCP server, or from a service manifest.

There is no I/O here, so a recorded crawl and a live one are read in the same way. Problems of single pages, such as a
truncated one, are reported by the crawl.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, child
from skillgen.security.secrets import host_of, is_private
from skillgen.sources.extra_text import with_text
from skillgen.sources.json_access import as_dict, as_list, page_items, text_of
from skillgen.sources.json_schema.loader import SchemaReader
from skillgen.sources.mcp import metadata, offers
from skillgen.sources.mcp.fields import (
    SERVER_INFO_KEY,
    FieldReader,
    FieldResolver,
    catalogue_errors,
    named_entries,
    raw_entries,
)
from skillgen.sources.mcp.progressive import ERRORS as DISCLOSURE_ERRORS
from skillgen.sources.mcp.progressive import DisclosedTools
from skillgen.sources.mcp.session import LISTS, MODERN_VERSION
from skillgen.sources.mcp.target import Crawl
from skillgen.text import lazy_re as re

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w.-]*)\}")


def _list_metadata(results: Mapping[str, Json], problems: ProblemLog) -> dict[str, Json]:
    """Returns method to the members of its pages next to the items, such as `ttlMs`; the first page with one counts.

    They are those of `CacheableResult` (2026-07-28) and any that the protocol does not know. Results for one user alone
    (`cacheScope`) are reported: the documents may be for that user alone as well.
    """
    found: dict[str, Json] = {}
    private: list[str] = []
    for method, (_, items_key) in LISTS.items():
        known = {items_key, "_meta", "nextCursor", "resultType"}
        for page in map(as_dict, as_list(results.get(method))):
            meta = {key: value for key, value in as_dict(page.get("_meta")).items() if key != SERVER_INFO_KEY}
            rest = {key: value for key, value in page.items() if key not in known} | ({"_meta": meta} if meta else {})
            if rest:
                found[method] = rest | found.get(method, {})
            private += [method] if page.get("cacheScope") == "private" else []
    if private:
        methods = ", ".join(dict.fromkeys(private))
        message = f"the results of {methods} are meant for the user who asks (cacheScope: private)"
        problems.report("results-private", child("", private[0]), message)
    return found


def _checked_references(service: Service, manifest_tools: Collection[str], problems: ProblemLog) -> Service:
    """Reports unknown names of tools, parameters and scopes, and facts of one tool that contradict one another.

    A scope may grant `manifest_tools` that the server does not list. Returns the service without unknown reverse
    methods and unknown grants: no document may promise an undo or a call with them.
    """
    names = {tool.name for tool in service.tools}
    declared = {scope.name for auth in service.requirements.auth for scope in auth.scopes}
    scopes = declared.union(service.requirements.scopes)
    tools = []
    for tool in service.tools:
        for code, message in _flaws_of(tool, names, scopes):
            problems.report(code, tool.pointer, message)
        semantics = tool.semantics
        if semantics.reversed_by is not None and semantics.reversed_by not in names:
            # What another tool would undo is not read-only.
            is_read_only = False if semantics.read_only else semantics.read_only
            tool = replace(tool, semantics=replace(semantics, reversed_by=None, read_only=is_read_only))
        tools.append(tool)
    ways, known = [], {*names, *manifest_tools}
    for auth in service.requirements.auth:
        granted = []
        for index, scope in enumerate(auth.scopes):
            if unknown := [name for name in scope.grants if name not in known]:
                message = f"{scope.name} grants unknown tools, which are left out: {', '.join(unknown)[:200]}"
                problems.report("scope-grants-unknown-tool", f"{auth.pointer}/scopes/{index}", message)
            granted.append(replace(scope, grants=tuple(name for name in scope.grants if name in names)))
        ways.append(replace(auth, scopes=tuple(granted)))
    return replace(service, tools=tuple(tools), requirements=replace(service.requirements, auth=tuple(ways)))


def _flaws_of(tool: Tool, names: Collection[str], scopes: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yields code and message of what a tool refers to and does not exist, and of facts that contradict one another."""
    semantics = tool.semantics
    if semantics.reversed_by is not None and semantics.reversed_by not in names:
        message = f"reverseMethod of {tool.name!r} names an unknown tool {semantics.reversed_by[:80]!r}"
        yield "reverse-method-unknown", message
    known = {parameter.name for parameter in tool.parameters}
    texts = {"cliEquivalent": tool.cli_equivalent, "confirmation_message": semantics.confirmation_message}
    for field, text in texts.items():
        for name in dict.fromkeys(_PLACEHOLDER.findall(text or "")):
            if name.partition(".")[0] not in known:
                yield "placeholder-unknown", f"{field} of {tool.name!r} refers to an unknown parameter {{{name}}}"
    if undeclared := [scope for scope in tool.scopes if scope not in scopes]:
        yield "scope-undeclared", f"{tool.name!r} requires undeclared scopes: {', '.join(undeclared)[:200]}"
    if semantics.requires_confirmation and semantics.confirmation_message is None:
        yield "confirmation-message-missing", f"{tool.name!r} requires confirmation but has no confirmation_message"
    # Compared with other declared facts (seed 004, 6); `safe` alone does not mean that nothing changes.
    if semantics.risk == "safe" and semantics.destructive and semantics.is_declared("destructive"):
        yield "risk-contradicted", f"{tool.name!r} has risk_level safe but is destructive"


def service_from_crawl(crawl: Crawl, *, server_name: str | None = None, trusted_domains: Sequence[str] = ()) -> Service:
    """Builds the service from a crawl.

    Args:
        crawl: What the server answered.
        server_name: The name under which a host mounts the server.
        trusted_domains: Other domains that documents may link as its homepage and its icons.
    """
    problems = ProblemLog()
    problems.add(*crawl.problems)
    return _ServiceReader(crawl, problems).service(server_name, trusted_domains)


def service_from_manifest(data: Json, *, server_name: str | None = None) -> Service:
    """Builds the service from a service manifest (seed 004, 1)."""
    problems = ProblemLog()
    manifest = metadata.Manifest(data, "", problems)
    version = text_of(manifest.server.raw, "mcp_spec_version")
    crawl = Crawl(results={}, protocol_version=version, transport="stdio", url=None)
    return _ServiceReader(crawl, problems, manifest).service(server_name)


class _ServiceReader:
    def __init__(self, crawl: Crawl, problems: ProblemLog, manifest: metadata.Manifest | None = None) -> None:
        self._crawl = crawl
        self._problems = problems
        self._sources = metadata.sources_from_results(crawl.results, problems, manifest)
        self._manifest = self._sources.manifest
        self._disclosed = DisclosedTools(crawl.results, problems)
        self._groups = offers.GroupReader(crawl.results, problems)

    def service(self, server_name: str | None, trusted_domains: Sequence[str] = ()) -> Service:
        resolver, host = FieldResolver(self._problems), host_of(self._crawl.url)
        # A server that the user runs is trusted as the user's own: its site is the one that it names.
        link_hosts = None if host is None or is_private(host) else [host, *trusted_domains]
        identity = metadata.identity_from_crawl(
            self._crawl, self._sources, resolver, server_name=server_name, hosts=link_hosts
        )
        hosts = link_hosts or [*filter(None, [host_of(identity.homepage)]), *trusted_domains]
        schemas = SchemaReader(self._problems)
        entries = list(self._tool_entries())
        help_text = self._sources.ai_help.of_tools({name for name, _ in entries}, self._problems)
        reader = offers.ToolReader(schemas=schemas, ai_help=help_text, trusted_hosts=hosts, problems=self._problems)
        tools = self._tools(reader, entries)
        disclosure = self._disclosed.disclosure(entries, self._crawl.protocol_version)
        resources = self._all_entries("resources/list", "uri")
        templates = self._listed_entries("resources/templates/list", "uriTemplate")
        prompts = self._all_entries("prompts/list", "name")
        service = replace(
            identity,
            icons=offers.icons_of(self._sources.server_info, hosts),
            groups=self._groups.groups_of(tools),
            tools=tools,
            disclosure=disclosure,
            skills=tuple(offers.offered_skills(self._crawl.results, self._problems)),
            related=self._manifest.related(),
            errors=(*catalogue_errors([self._manifest.fields]), *(DISCLOSURE_ERRORS if disclosure is not None else ())),
            resources=tuple(offers.resource_from_entry(uri, fields, hosts) for uri, fields in resources),
            resource_templates=tuple(offers.resource_from_entry(uri, fields, hosts) for uri, fields in templates),
            prompts=tuple(offers.prompt_from_entry(name, fields, hosts, schemas) for name, fields in prompts),
            sections=(*self._groups.sections(), *help_text.sections),
            schemas=schemas.named_types(),
            source_size_bytes=self._tools_size_bytes(),
            uses=metadata.specifications_of(self._sources, self._crawl.results),
        )
        service = _checked_references(service, self._manifest.tools(), self._problems)
        advice = metadata.advice_on(service, self._sources, (fields for _, fields in entries), self._crawl.results)
        # Extras are the members that nothing read, so they and the problems are complete only here.
        extras = self._extras()
        problems, origins = tuple(self._problems), resolver.origins or None
        service = replace(service, extras=extras, origins=origins, problems=problems, advice=tuple(advice))
        generated = self._sources.generated
        return service if generated is None else with_text(service, generated, generated.pointer)

    def _tool_entries(self) -> Iterator[tuple[str, FieldReader]]:
        if "tools/list" in self._crawl.results or not self._manifest.fields.raw:
            entries = self._all_entries("tools/list", "name")
            if self._crawl.transport != "http" or self._crawl.protocol_version != MODERN_VERSION:
                yield from entries
                return
            # An argument with `x-mcp-header` is mirrored into an HTTP header (2026-07-28, "Custom Headers").
            from skillgen.sources.mcp.sdk import inbound  # imported by the crawl

            for name, fields in entries:
                reason = inbound.find_invalid_x_mcp_header(fields.raw.get("inputSchema"))
                if reason is None:
                    yield name, fields
                else:  # a client must leave out such a tool
                    message = f"no client may call {name[:100]!r}: {reason[:200]}; left out"
                    self._problems.report("tool-header-invalid", fields.pointer_to("inputSchema"), message)
        else:
            yield from named_entries(self._manifest.raw_tools, "name", self._problems)

    def _tools(self, reader: offers.ToolReader, entries: list[tuple[str, FieldReader]]) -> tuple[Tool, ...]:
        manifest = self._manifest.tools() if "tools/list" in self._crawl.results else {}
        listed = {name for name, _ in entries}
        if unlisted := [name for name in manifest if name not in listed]:
            message = f"the manifest has {', '.join(unlisted)[:200]}, which the server does not list; left out"
            self._problems.report("manifest-tool-not-listed", self._manifest.fields.pointer_to("tools"), message)
        tools = []
        for name, fields in entries:
            entry = offers.ToolEntry(fields, self._disclosed.description(name), manifest.get(name))
            group, is_undescribed = self._groups.group_of(name, fields), self._disclosed.is_undescribed(name)
            tool = reader.tool(name, entry, group=group, is_undescribed=is_undescribed)
            tools.append(replace(tool, disclosed_by=self._groups.disclosing.get(name)))
        return tuple(tools)

    def _all_entries(self, method: str, name_key: str) -> Iterator[tuple[str, FieldReader]]:
        """Yields the entries of a list, then those that only groups contain."""
        known: set[str] = set()
        for name, fields in self._listed_entries(method, name_key):
            known.add(name)
            yield name, fields
        yield from self._groups.entries(LISTS[method][1], name_key, known)

    def _listed_entries(self, method: str, name_key: str) -> Iterator[tuple[str, FieldReader]]:
        raw = raw_entries(self._crawl.results, method, LISTS[method][1], self._problems)
        return named_entries(raw, name_key, self._problems)

    def _tools_size_bytes(self) -> int:
        listed = page_items(self._crawl.results.get("tools/list"), "tools")
        entries = listed or [raw for _, raw in self._manifest.raw_tools]
        text = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
        return len(text.encode("utf-8", "surrogatepass")) if entries else 0

    def _extras(self) -> dict[str, Json] | None:
        extras: dict[str, Json] = {}
        for handshake in reversed(self._sources.handshakes):
            handshake.ignore("protocolVersion")
            extras.update(handshake.unread())
        dashdash, ai_help = self._sources.dashdashes[0], self._sources.ai_help.metadata
        readers = {"dashdash": dashdash, "ai_help": ai_help, "manifest": self._manifest.fields}
        extras.update({key: unread for key, reader in readers.items() if (unread := reader.unread())})
        if lists := _list_metadata(self._crawl.results, self._problems):
            extras["lists"] = lists
        return extras or None
