"""Fills in what a source leaves open, from what it says: groups, access level, when to use.

Everything here is marked as inferred, so that no document states it as the source's word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from skillgen.markdown.filters import one_line, plain_words
from skillgen.markdown.sentences import clipped, first_sentence
from skillgen.model.service import AccessLevel, Group, Service, Tool
from skillgen.model.value import Origin

REST = "other"
"""The group of operations that no other path has anything in common with; it comes last."""

_DEPRECATED = re.compile(r"\W{0,9}deprecated\b|[^\n]{0,80}\(deprecated\)", re.IGNORECASE)

TRIGGERS = 12
"""Phrases of "when to use" at the most."""

TRIGGER_LIMIT = 90
"""Characters of one phrase."""


def completed(service: Service) -> Service:
    """Gives the service with what can be inferred filled in; declared facts stay as they are."""
    service = _with_deprecations(_with_groups(service))
    origins = dict(service.origins or {})
    if "access_level" not in origins:
        level, reason = _access_level(service.tools)
        origins["access_level"] = Origin("inferred", reason)
        service = replace(service, access_level=level)
    if not service.when_to_use and service.tools:
        origins["when_to_use"] = Origin("inferred", "titles and summaries of the tools")
        service = replace(service, when_to_use=tuple(_triggers(service)))
    return replace(service, origins=origins)


def _with_deprecations(service: Service) -> Service:
    """Marks tools whose words begin with it as deprecated: MCP has no other way to say so."""
    if not any(_says_deprecated(tool) for tool in service.tools):
        return service
    origin = Origin("inferred", "its title or description")
    tools = tuple(
        replace(tool, deprecated=True, origins={**(tool.origins or {}), "deprecated": origin})
        if _says_deprecated(tool)
        else tool
        for tool in service.tools
    )
    return replace(service, tools=tools)


def _says_deprecated(tool: Tool) -> bool:
    if tool.deprecated:
        return False
    return any(_DEPRECATED.match(text) for text in (tool.title, tool.description, tool.summary) if text)


def _access_level(tools: Iterable[Tool]) -> tuple[AccessLevel, str]:
    """Follows design, "Where facts disagree": read where every tool is known to read, full where one destroys."""
    tools = tuple(tools)
    if any(_is_declared_destructive(tool) for tool in tools):
        return "full", "a tool that is declared destructive"
    if tools and all(tool.semantics.read_only for tool in tools):
        return "read", "every tool changes nothing"
    return "interact", "not every tool is known to change nothing"


def _is_declared_destructive(tool: Tool) -> bool:
    semantics = tool.semantics
    return bool(semantics.destructive) and semantics.is_declared("destructive") and not semantics.read_only


def _with_groups(service: Service) -> Service:
    """Groups the operations that have no tag by the first part of their path that tells them apart."""
    loose = [tool for tool in service.tools if tool.group is None and tool.path]
    if not loose:
        return service
    names = _path_groups(loose)
    known = {group.name for group in service.groups}
    origin = {"name": Origin("inferred", "paths")}
    groups = tuple(
        Group(name=name, title=name, origins=origin)
        for name in sorted(dict.fromkeys(names.values()), key=REST.__eq__)
        if name not in known
    )
    tools = tuple(
        replace(tool, group=names[tool.name], origins={**(tool.origins or {}), "group": Origin("inferred", "path")})
        if tool.name in names
        else tool
        for tool in service.tools
    )
    return replace(service, groups=(*service.groups, *groups), tools=tools)


def _path_groups(tools: list[Tool]) -> dict[str, str]:
    """Gives each tool the first segment of its path after those that all paths share."""
    segments = {tool.name: [part for part in (tool.path or "").split("/") if part] for tool in tools}
    shared = 0
    while all(len(parts) > shared + 1 and "{" not in parts[shared] for parts in segments.values()):
        if len({parts[shared] for parts in segments.values()}) > 1:
            break
        shared += 1
    names = {name: next((p for p in parts[shared:] if "{" not in p), "") for name, parts in segments.items()}
    counts = Counter(names.values())
    return {name: found if found and counts[found] > 1 else REST for name, found in names.items()}


def _triggers(service: Service) -> Iterable[str]:
    """Gives what each tool does, or for many tools what those of each group do."""
    if len(service.tools) <= TRIGGERS:
        yield from filter(None, (_phrase(tool) for tool in service.tools))
        return
    groups = {group.name: group for group in service.groups}
    by_group: dict[str | None, list[Tool]] = {}
    for tool in service.tools:
        by_group.setdefault(tool.group, []).append(tool)
    largest = sorted(by_group.items(), key=lambda item: -len(item[1]))[:TRIGGERS]
    if len(by_group) == 1:
        yield from list(filter(None, (_phrase(tool) for tool in service.tools)))[:TRIGGERS]
        return
    for name, tools in largest:
        group = groups.get(name or "")
        title = clipped(one_line(group.title if group else name or "other tools"), TRIGGER_LIMIT // 2)
        said = first_sentence(group.description) if group and group.description else ""
        yield f"{title}: {clipped(said, TRIGGER_LIMIT) if said else _phrases(tools)}".rstrip(". ")


def _phrases(tools: list[Tool]) -> str:
    """Gives what the first tool that reads and the first that changes something do."""
    reading = next((tool for tool in tools if tool.semantics.read_only), None)
    changing = next((tool for tool in tools if not tool.semantics.read_only), None)
    return clipped("; ".join(_phrase(tool) for tool in (reading, changing) if tool), 2 * TRIGGER_LIMIT)


def _phrase(tool: Tool) -> str:
    text = tool.summary or first_sentence(tool.description or "") or tool.title or tool.name
    return clipped(plain_words(text), TRIGGER_LIMIT).rstrip(". ")
