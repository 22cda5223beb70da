"""Reports what a server lacks of the recommendations of the extensions that it uses.

A server that does not use an extension lacks nothing of it. What the extensions require is checked where it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from skillgen.errors import ProblemLog
from skillgen.model.service import Service
from skillgen.model.values import Json, child
from skillgen.sources.json_access import as_dict, text_of
from skillgen.sources.mcp.ai_help import has_section
from skillgen.sources.mcp.entries import dashdashes_in_entry
from skillgen.sources.mcp.fields import FieldReader, raw_entries
from skillgen.sources.mcp.metadata import MetadataSources
from skillgen.text import lazy_re as re

_SERVER_FIELDS = ("install", "requires", "invocation", "rateLimit", "homepage", "repository")
_TOOL_FIELDS = ("category", "operationType", "idempotent", "cliEquivalent", "apiEquivalent", "examples", "errors")
_RESOURCE_FIELDS = ("resourceType", "refreshable", "cacheDuration", "webEquivalent", "apiEquivalent")
"""The fields that dashdash recommends (seed 000, 3.1.2, 3.2.2 with Appendix B, 3.4.2)."""

_WAY_OF = {"cliEquivalent": "cliUrl", "apiEquivalent": "apiUrl", "webEquivalent": "webUrl"}
"""Fields that a server needs only if there is that other way to use it."""

_MANIFEST_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_WORKFLOW = re.compile(r"\?tools=|\btools (?:query )?parameter\b", re.IGNORECASE)
_BEFORE = re.compile(r"\b(?:before|first|step|then|prior|required)\b", re.IGNORECASE)


def specifications_of(sources: MetadataSources, results: Mapping[str, Json]) -> tuple[str, ...]:
    """Returns the names of the extensions that a server uses."""
    used = (sources.dashdashes[0].raw, results.get("ai_help") is not None, sources.manifest.fields.raw)
    return tuple(name for name, is_used in zip(("dashdash", "ai_help", "manifest"), used, strict=True) if is_used)


def check_advice(
    service: Service,
    sources: MetadataSources,
    tools: Iterable[FieldReader],
    results: Mapping[str, Json],
    problems: ProblemLog,
) -> None:
    """Reports what the extensions of a server recommend and it lacks; `tools` are their entries."""
    dashdash, text, log = sources.dashdashes[0], sources.ai_help, problems.report
    if dashdash.raw:
        if missing := [name for name in _SERVER_FIELDS if dashdash.raw.get(name) is None]:
            log("dashdash-field-missing", dashdash.pointer, f"dashdash lacks {', '.join(missing)}")
        entries = [(tool.pointer, tool.raw) for tool in tools]
        _check_entries("dashdash-tool-field-missing", entries, _TOOL_FIELDS, dashdash, problems)
        resources = raw_entries(results, "resources/list", "resources", ProblemLog())
        _check_entries("dashdash-resource-field-missing", resources, _RESOURCE_FIELDS, dashdash, problems)
    if results.get("ai_help") is not None:
        metadata = text.metadata.raw
        found = {key: as_dict(metadata.get("identity")).get(key) for key in ("name", "description")}
        found |= {"spec-version": metadata.get("specVersion"), "access-level": metadata.get("accessLevel")}
        found |= {title: has_section(text, title) or None for title in ("When to Use", "Quick Reference")}
        found["When to Use"] = text.when_to_use or found["When to Use"]
        if missing := [name for name, value in found.items() if value is None]:
            log("ai-help-part-missing", text.pointer, f"the text lacks {', '.join(missing)}")
    elif dashdash.raw:
        log("ai-help-not-offered", "ai_help", "the server has dashdash, but does not answer ai_help")
    if service.disclosure is not None:
        _check_disclosure(service.disclosure.uri, results, problems)
    for pointer, raw in sources.manifest.raw_tools:
        name = (text_of(raw, "name") or "")[:80]
        if name and not _MANIFEST_NAME.match(name):
            message = f"{name!r} is not a name in lower case with digits and underscores"
            log("manifest-tool-name-invalid", child(pointer, "name"), message)
        if lacking := [key for key in ("cost", "latency") if as_dict(raw).get(key) is None]:
            log("manifest-estimate-missing", pointer, f"{name!r} declares no {' and no '.join(lacking)}")


def _check_entries(
    code: str, entries: Iterable[tuple[str, Json]], fields: tuple[str, ...], server: FieldReader, problems: ProblemLog
) -> None:
    ways = as_dict(server.raw.get("alternativeAccess"))
    absent = {field for field, way in _WAY_OF.items() if way in ways and ways[way] is None}
    for pointer, raw in entries:
        # A reader of its own: those of the service know which members were read.
        entry = FieldReader(as_dict(raw), pointer, "entry", ProblemLog())
        extensions = [dashdash.raw for dashdash in dashdashes_in_entry(entry)]
        wanted = (name for name in fields if name not in absent)
        if missing := [name for name in wanted if all(item.get(name) is None for item in extensions)]:
            name = (text_of(raw, "name") or text_of(raw, "uri") or "")[:80]
            what = f"dashdash of {name!r} lacks {', '.join(missing)}" if extensions else f"{name!r} has no dashdash"
            problems.report(code, pointer, what)


def _check_disclosure(uri: str, results: Mapping[str, Json], problems: ProblemLog) -> None:
    for pointer, raw in raw_entries(results, "resources/list", "resources", ProblemLog()):
        if (resource := as_dict(raw)).get("uri") != uri:
            continue
        description = text_of(resource, "description") or ""
        if not _WORKFLOW.search(description) or not _BEFORE.search(description):
            message = "the description of the resource does not say to read ?tools=NAME before a call"
            problems.report("disclosure-workflow-unsaid", child(pointer, "description"), message)
        if resource.get("mimeType") != "application/json":
            message = f"the media type is {str(resource.get('mimeType'))[:60]}, not application/json"
            problems.report("disclosure-media-type", child(pointer, "mimeType"), message)
    for name, described in as_dict(as_dict(results.get("resources/read")).get("tools")).items():
        lacking = [key for key in ("examples", "error_guidance") if not as_dict(described).get(key)]
        if lacking and "inputSchema" in as_dict(described):
            message = f"the description of {name[:80]!r} has no {' and no '.join(lacking)}"
            problems.report("disclosure-guidance-missing", child("", "resources/read", "tools", name), message)
