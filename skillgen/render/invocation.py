"""The front matter of SKILL.md: the six fields of Agent Skills, and with the profile `claude` those of Claude Code.

Who may start the skill is for the source to declare. Tool permissions are never taken from it silently: only the
service's own tools that change nothing are passed on, and a problem names them and those that were left out. Hosts
split that field at commas and white space and expand wildcards, so only plain names are written, as a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from skillgen.errors import Problem
from skillgen.model.service import Service
from skillgen.render.access import host_prefixes
from skillgen.render.identity import description, plain, skill_name, what_and_when
from skillgen.render.phrases import plain_phrase
from skillgen.text.markdown import plain_words
from skillgen.text.summary import clip

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")

CLAUDE_LIMIT = 1_536
"""Characters that `description` and `when_to_use` share in Claude Code's list of skills."""

COMPATIBILITY_LIMIT = 500
"""Characters of `compatibility` (Agent Skills)."""


def skill_fields(service: Service, profile: str, *, has_program: bool = False) -> dict[str, Any]:
    """Returns the front matter of SKILL.md; unknown fields are `None` and not written.

    The licence of an API, which its description declares, is not that of the skill.
    """
    fields: dict[str, Any] = {
        "name": skill_name(service),
        "description": description(service),
        "license": service.license if service.kind == "mcp" or "license" in (service.origins or {}) else None,
        "compatibility": _compatibility(service, has_program=has_program),
        "metadata": {"version": service.version},
    }
    return {**fields, **_claude_fields(service)} if profile == "claude" else fields


def profile_problems(service: Service, profile: str) -> Iterator[Problem]:
    """Yields a problem for each declaration about invocation that a profile passes on or leaves out."""
    declared = service.invocation.allowed_tools if service.invocation else ()
    if profile != "claude":
        yield from _claude_only_problems(service)
        return
    if not declared:
        return
    permitted = _permitted_tools(service)
    passed = [name for name in declared if name in permitted]
    omitted = [name for name in declared if name not in permitted]
    where = "/dashdash/invocation/allowedTools"
    if passed:
        yield Problem.of(
            code="allowed-tools-passed-on",
            where=where,
            message=f"the skill lets {', '.join(passed)} run without asking, as the source wants; they change nothing",
        )
    if omitted:
        yield Problem.of(
            code="allowed-tools-left-out",
            where=where,
            message=f"the source wants {', '.join(omitted)} to run without asking; the skill does not pass that on",
        )


def _claude_only_problems(service: Service) -> Iterator[Problem]:
    """Yields a problem for the declared fields that only Claude Code has."""
    invocation = service.invocation
    declared = {
        "allowed-tools": invocation and invocation.allowed_tools,
        "argument-hint": invocation and invocation.argument_hint,
        "disable-model-invocation": invocation and invocation.model_invocable is False,
        "user-invocable": invocation and invocation.user_invocable is False,
    }
    fields = [name for name, is_declared in declared.items() if is_declared]
    if fields:
        allowed = " (of allowed-tools, only those that change nothing)" if "allowed-tools" in fields else ""
        yield Problem.of(
            code="invocation-left-out",
            where="/dashdash/invocation",
            message=f"the source declares {', '.join(fields)}; the portable profile of SKILL.md has no such field",
            fix=f"use the profile `claude` to write them{allowed}",
        )


def _claude_fields(service: Service) -> dict[str, Any]:
    invocation = service.invocation
    what, when = what_and_when(service)
    permitted = _permitted_tools(service)
    allowed = [name for name in invocation.allowed_tools if name in permitted] if invocation else []
    prefix = host_prefixes(service)[0]
    return {
        "description": what,
        "when_to_use": clip(when, CLAUDE_LIMIT - len(what)) or None,
        "argument-hint": plain_words(invocation.argument_hint or "") or None if invocation else None,
        "disable-model-invocation": True if invocation and invocation.model_invocable is False else None,
        "user-invocable": invocation.user_invocable if invocation else None,
        "allowed-tools": [prefix + name for name in allowed],
    }


def _permitted_tools(service: Service) -> frozenset[str]:
    """Returns the tools of an MCP server that are declared to change nothing, and that have plain names."""
    return frozenset(
        tool.name
        for tool in service.tools
        if service.kind == "mcp"
        and tool.semantics.effect == "read"
        and tool.semantics.is_declared("read_only")
        and not tool.semantics.requires_confirmation
        and _PLAIN_NAME.match(tool.name)
    )


def _compatibility(service: Service, *, has_program: bool) -> str | None:
    """Returns the declared prerequisites in one sentence."""
    requirements = service.requirements
    parts = []
    if requirements.env:
        parts.append(plain_phrase("needs_variables", len(requirements.env), names=", ".join(requirements.env)))
    if requirements.bins:
        parts.append(plain_phrase("needs_programs", names=", ".join(requirements.bins)))
    if requirements.os:
        parts.append(plain_phrase("needs_system", names=", ".join(requirements.os)))
    if has_program:
        parts.append(plain_phrase("needs_python"))
    needed = plain_phrase("compatibility", needs="; ".join(parts))
    return clip(plain(needed), COMPATIBILITY_LIMIT) if parts else None
