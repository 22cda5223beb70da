"""Infers facts that a source does not declare: groups, deprecations, the access level.

They are marked as inferred, so that no document states them as the source's word. Parameters that a description
declares are read here too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.infer.effects import AuthorEffect, with_effects
from skillgen.infer.groups import group_tools, split_large_groups
from skillgen.model.auth import AccessLevel
from skillgen.model.service import Service
from skillgen.model.tool import CAUTION, Tool
from skillgen.model.values import Origin
from skillgen.text.docstring import documented_parameters

_DEPRECATED = re.compile(r"\W{0,9}deprecated\b|[^\n]{0,80}\(deprecated\)", re.IGNORECASE)
_DEPRECATED_BELOW = re.compile(r"\n[^\S\n]*\n\W{0,3}[\[(*]DEPRECATED[\])*]")
"""A mark before a later paragraph: the description of a path is added to those of its operations."""

_KEY = re.compile(r"(?:x-)?idempotency[-_]?key", re.IGNORECASE)

_LEVELS = CAUTION["access_level"]


def infer_missing(service: Service, authored: Mapping[str, AuthorEffect]) -> Service:
    """Returns the service with inferred facts added; declared facts are unchanged.

    `authored` has the effects that the author of the documents declares.
    """
    tools = tuple(_with_key(_with_deprecation(_with_docstring(tool))) for tool in service.tools)
    return split_large_groups(infer_effects(group_tools(replace(service, tools=tools)), authored))


def infer_effects(service: Service, authored: Mapping[str, AuthorEffect]) -> Service:
    """Returns the service with what its tools change, and the access level that follows; twice changes nothing."""
    service = with_effects(service, authored)
    origins = dict(service.origins or {})
    return replace(_with_access_level(service, origins), origins=origins)


def _with_docstring(tool: Tool) -> Tool:
    """Returns a tool with descriptions of parameters from its own (a docstring) for those without one."""
    undescribed = {parameter.name for parameter in tool.parameters if not parameter.description}
    _, texts = documented_parameters(tool.description or "", undescribed)
    if not texts:
        return tool
    origin = Origin("declared", f"{tool.pointer}/description")
    parameters = tuple(
        replace(item, description=texts[item.name], origins={**(item.origins or {}), "description": origin})
        if item.name in texts and not item.description
        else item
        for item in tool.parameters
    )
    return replace(tool, parameters=parameters)


def _with_key(tool: Tool) -> Tool:
    """Marks a tool that takes an idempotency key, as a header or in its body (seed 002), as repeatable with it."""
    semantics = tool.semantics
    key = next((item for item in tool.parameters if _KEY.fullmatch(item.name)), None)
    if key is None or semantics.idempotent_with_key is not None:
        return tool
    origins = {**(semantics.origins or {}), "idempotent_with_key": Origin("declared", key.pointer or tool.pointer)}
    return replace(tool, semantics=replace(semantics, idempotent_with_key=True, origins=origins))


def _with_deprecation(tool: Tool) -> Tool:
    """Marks a tool whose title or description starts with "deprecated" (MCP has no field for it)."""
    texts = (tool.title, tool.description, tool.summary)
    is_said = any(_DEPRECATED.match(text) or _DEPRECATED_BELOW.search(text) for text in texts if text)
    if tool.deprecated or not is_said:
        return tool
    origin = Origin("inferred", "its title or description")
    return replace(tool, deprecated=True, origins={**(tool.origins or {}), "deprecated": origin})


def _with_access_level(service: Service, origins: dict[str, Origin]) -> Service:
    """Infers the access level from the tools, unless a more cautious one is declared."""
    level = _access_level(service.tools)
    reason = _REASONS[level]
    if "access_level" in origins and origins["access_level"].source not in _REASONS.values():
        if not service.tools or _LEVELS.index(service.access_level) >= _LEVELS.index(level):
            return service
        problem = Problem.of(
            code="safety-facts-disagree",
            where=origins["access_level"].source,
            message=f"the access level is declared to be {service.access_level}, but there is {reason}; "
            f"it is documented as {level}",
            fix="correct the access level, or what is declared of the tool",
        )
        service = replace(service, problems=(*service.problems, problem))
    origins["access_level"] = Origin("inferred", reason)
    return replace(service, access_level=level)


_REASONS: dict[AccessLevel, str] = {
    "full": "a tool that may delete or overwrite",
    "interact": "a tool that is not known to only read",
    "read": "every tool only reads",
}


def _access_level(tools: Sequence[Tool]) -> AccessLevel:
    if any(tool.semantics.destructive for tool in tools):
        return "full"
    are_read = all(tool.semantics.effect == "read" and not tool.semantics.requires_confirmation for tool in tools)
    return "read" if tools and are_read else "interact"
