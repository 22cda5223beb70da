"""Makes a service of what an MCP server answered. No I/O: a captured crawl and a live one are read alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import starmap

from skillgen.errors import ProblemLog
from skillgen.model.pointer import child
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.value import Json
from skillgen.sources.addresses import host_of
from skillgen.sources.guards import as_list, text_of
from skillgen.sources.json_schema.reader import SchemaReader, report_undescribed
from skillgen.sources.mcp.ai_help import ai_help_from_result
from skillgen.sources.mcp.checks import check_references
from skillgen.sources.mcp.claims import Members
from skillgen.sources.mcp.declared import Voices
from skillgen.sources.mcp.disclosed import ERRORS as DISCLOSURE_ERRORS
from skillgen.sources.mcp.disclosed import Disclosed
from skillgen.sources.mcp.entries import named_among, named_entries, raw_entries
from skillgen.sources.mcp.groups import Groups
from skillgen.sources.mcp.icons import IconReader
from skillgen.sources.mcp.identity import IdentityReader
from skillgen.sources.mcp.list_pages import report_private_results, said_of_lists
from skillgen.sources.mcp.manifest import Manifest, manifest_from_document, manifest_from_results
from skillgen.sources.mcp.negotiation import MODERN_VERSION
from skillgen.sources.mcp.offered_skills import offered_skills
from skillgen.sources.mcp.openings import dashdashes_of, openings_of, server_info_of
from skillgen.sources.mcp.parameter_headers import callable_entries
from skillgen.sources.mcp.precedence import Facts
from skillgen.sources.mcp.resources import ResourceReader
from skillgen.sources.mcp.target import Crawl
from skillgen.sources.mcp.tools import ToolReader


def service_from_crawl(crawl: Crawl, *, server_name: str | None = None) -> Service:
    """Reads a crawl; `server_name` is the name under which a host mounts the server."""
    problems = ProblemLog()
    for problem in crawl.problems:
        problems.add(problem)
    return _ServiceReader(crawl, problems).service(server_name)


def service_from_manifest(data: Json, *, server_name: str | None = None) -> Service:
    """Reads a service manifest that is a document of its own (seed 004, 1)."""
    problems = ProblemLog()
    manifest = manifest_from_document(data, problems)
    version = text_of(manifest.server.raw, "mcp_spec_version")
    crawl = Crawl(results={}, protocol_version=version, transport="stdio", url=None)
    return _ServiceReader(crawl, problems, manifest).service(server_name)


class _ServiceReader:
    """Reads one crawl."""

    def __init__(self, crawl: Crawl, problems: ProblemLog, manifest: Manifest | None = None) -> None:
        self._crawl = crawl
        self._problems = problems
        self._openings = openings_of(crawl.results, problems)
        self._manifest = manifest or manifest_from_results(crawl.results, self._openings, problems)
        self._disclosed = Disclosed(crawl.results, problems)
        self._groups = Groups(crawl.results, problems)
        if self._manifest.members.raw:
            self._manifest.check()
        dashdash, *others = dashdashes_of(self._openings, problems)
        self._voices = Voices(
            dashdash=dashdash,
            other_dashdashes=tuple(others),
            ai_help=ai_help_from_result(crawl.results.get("ai_help"), problems),
            server_info=server_info_of(self._openings, problems),
            manifest=self._manifest.server,
        )

    def service(self, server_name: str | None) -> Service:
        """Gives the service: who it is, what it offers, and what nobody asked for."""
        facts = Facts(self._problems)
        identity = IdentityReader(
            self._crawl, self._openings, self._voices, self._manifest, facts, self._problems
        ).identity(server_name)
        icons = IconReader(host_of(self._crawl.url) or host_of(identity.homepage), self._problems)
        schemas = SchemaReader(self._problems)
        ai_help = self._voices.ai_help
        entries = list(self._tool_entries())
        help_text = ai_help.of_tools({name for name, _ in entries}, self._problems)
        reader = ToolReader(
            schemas=schemas, ai_help=help_text, help_pointer=ai_help.pointer, icons=icons, problems=self._problems
        )
        tools = self._tools(reader, entries)
        disclosure = self._disclosed.disclosure(entries, self._crawl.protocol_version)
        others = ResourceReader(icons=icons, problems=self._problems)
        service = replace(
            identity,
            icons=icons.icons(self._voices.server_info),
            groups=self._groups.of_tools(tools),
            tools=tools,
            disclosure=disclosure,
            skills=offered_skills(self._crawl.results, self._problems),
            related=self._manifest.related(),
            errors=(*self._manifest.errors(), *(DISCLOSURE_ERRORS if disclosure is not None else ())),
            resources=tuple(starmap(others.resource, self._grouped("resources/list", "resources", "uri"))),
            resource_templates=tuple(
                starmap(others.resource, self._entries("resources/templates/list", "resourceTemplates", "uriTemplate"))
            ),
            prompts=tuple(starmap(others.prompt, self._grouped("prompts/list", "prompts", "name"))),
            sections=(*self._groups.sections(), *help_text.sections),
            schemas=schemas.named_types(),
            source_size_bytes=self._tools_size_bytes(),
        )
        check_references(service, self._problems)
        report_undescribed(service, self._problems)
        report_private_results(self._crawl.results, self._problems)
        # Only now is everything read that will be: what is left is extra, and every problem is known.
        return replace(service, extras=self._extras(), origins=facts.origins, problems=tuple(self._problems))

    def _tool_entries(self) -> Iterator[tuple[str, Members]]:
        if "tools/list" in self._crawl.results or not self._manifest.members.raw:
            entries = self._grouped("tools/list", "tools", "name")
            mirrors_arguments = self._crawl.transport == "http" and self._crawl.protocol_version == MODERN_VERSION
            yield from callable_entries(entries, self._problems) if mirrors_arguments else entries
            return
        raws = enumerate(as_list(self._manifest.members.raw.get("tools")))
        pointer = self._manifest.tools_pointer
        yield from named_among(((child(pointer, index), raw) for index, raw in raws), "name", self._problems)

    def _tools(self, reader: ToolReader, entries: list[tuple[str, Members]]) -> tuple[Tool, ...]:
        manifest = self._manifest.tools() if "tools/list" in self._crawl.results else {}
        listed = {name for name, _ in entries}
        if unlisted := [name for name in manifest if name not in listed]:
            self._problems.warning(
                "manifest-tool-not-listed",
                self._manifest.tools_pointer,
                f"the manifest has {', '.join(unlisted)[:200]}, which the server does not list; left out",
                "list these tools or remove them from the manifest",
            )
        return tuple(
            replace(
                reader.tool(
                    name,
                    members,
                    described=self._disclosed.description(name),
                    manifest=manifest.get(name),
                    group=self._groups.group_of(name, members),
                    is_undescribed=self._disclosed.is_undescribed(name),
                ),
                disclosed_by=self._groups.disclosing(name),
            )
            for name, members in entries
        )

    def _grouped(self, method: str, list_key: str, name_key: str) -> Iterator[tuple[str, Members]]:
        """Gives the entries of a list, and those that groups alone hold."""
        seen: list[str] = []
        for name, members in self._entries(method, list_key, name_key):
            seen.append(name)
            yield name, members
        yield from self._groups.entries(list_key, name_key, seen)

    def _entries(self, method: str, list_key: str, name_key: str) -> Iterator[tuple[str, Members]]:
        return named_entries(self._crawl.results, method, list_key, name_key, self._problems)

    def _tools_size_bytes(self) -> int:
        listed = [raw for _, raw in raw_entries(self._crawl.results, "tools/list", "tools", self._problems)]
        entries = listed or as_list(self._manifest.members.raw.get("tools"))
        text = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
        return len(text.encode("utf-8", "surrogatepass")) if entries else 0

    def _extras(self) -> dict[str, Json] | None:
        extras: dict[str, Json] = {}
        for opening in reversed(self._openings):
            opening.ignore("protocolVersion")
            extras.update(opening.unread())
        voices = {
            "dashdash": self._voices.dashdash,
            "ai_help": self._voices.ai_help.metadata,
            "manifest": self._manifest.members,
        }
        extras.update({key: unknown for key, voice in voices.items() if (unknown := voice.unread())})
        if said := said_of_lists(self._crawl.results):
            extras["lists"] = said
        return extras or None
