"""The name and description of a skill, and what its tools do in short: what was inferred, in the form of each file.

The front matter of SKILL.md has the six fields of Agent Skills, and with the profile `claude` those of Claude Code. Who
may start the skill is for the source to declare. Tool permissions are never taken from it silently: only the service's
own tools that change nothing are passed on, and a problem names them and those that were left out. Hosts split that
field at commas and white space and expand wildcards, so only plain names are written, as a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from skillgen.errors import Problem
from skillgen.model.auth import Invocation
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import is_inferred
from skillgen.render.phrases import plain_phrase
from skillgen.security.credentials import redact
from skillgen.text.markdown import one_line, plain_words, rewritten
from skillgen.text.summary import TRIGGER, clip, sentences, shorten
from skillgen.text.words import slug

TITLE_LIMIT = 120
"""Characters of a display name."""

_DESCRIPTION_LIMIT = 1_024
"""Characters of a description (Agent Skills)."""

PHRASE_LIMIT = 110
"""Characters of a phrase in a list of tools, resources or prompts."""


def skill_name(service: Service) -> str:
    """Returns the name of the skill: 1 to 64 of `a-z`, `0-9` and single hyphens (Agent Skills, `name`)."""
    return slug(service.part_name or "") or service.skill_name or "service"


def title(service: Service) -> str:
    """Returns the display name, on one line."""
    return clip(one_line(service.title or service.product or ""), TITLE_LIMIT) or skill_name(service)


def what_and_when(service: Service) -> tuple[str, str]:
    """Returns what the service does and when to use it; the second is empty if the first is only on that."""
    what, when = plain(service.purpose or ""), plain(service.trigger or "")
    if not when:
        found = [*sentences(what)]
        when = next(filter(TRIGGER.search, found), "")
        what = " ".join(item for item in found if item != when)
    return what or when, when if what else ""


def is_quoted(service: Service) -> bool:
    """True if what a service does is a sentence of the source, not a list of its tools or groups."""
    return (service.origins or {})["purpose"].source not in ("groups", "tools")


def description(service: Service) -> str:
    """Says on one line what the service does and when to use it, within the limit of a skill."""
    what, when = plain(service.purpose or ""), plain(service.trigger or "")
    room = _DESCRIPTION_LIMIT - len(when) - 1 if when else _DESCRIPTION_LIMIT
    return shorten(f"{shorten(what, max(room, _DESCRIPTION_LIMIT // 2))} {when}".strip(), _DESCRIPTION_LIMIT)


def short_description(service: Service, limit: int = 100) -> str:
    """Says what the service does in one sentence, for a server.json: at most `limit` characters, cut at a word."""
    return clip(next(sentences(what_and_when(service)[0])), limit)


def description_problems(service: Service) -> Iterator[Problem]:
    """Yields the problems with a name that says nothing, and with a description that had to be inferred."""
    if re.fullmatch("service-[0-9a-f]{6}", skill_name(service)):
        message = "the source has no name that a skill can have: in Latin letters, and none that hosts reserve"
        yield Problem.of("skill-unnamed", skill_name(service), message, "name it with --name")
    if is_inferred(service, "purpose"):
        message = "no sentence of the source says what the service does; the description follows from its tools"
        fix = "write one with --description, or have an agent write it: `skillgen draft`"
        yield Problem.of("description-inferred", skill_name(service), message, fix)


def mount_name(service: Service) -> str:
    """Returns the name of an MCP server in a host's server file: its own only if hosts accept that."""
    own = service.name if re.fullmatch("[A-Za-z0-9_-]+", service.name) else skill_name(service)
    return service.server_name or own


def host_prefixes(service: Service) -> tuple[str, str]:
    """Returns what Claude Code puts before the tools of an MCP server, and before those of a plugin's server."""
    server = re.sub("[^A-Za-z0-9_-]", "_", mount_name(service))
    return f"mcp__{server}__", f"mcp__plugin_PLUGIN_{server}__"


_EMPHASIS = re.compile(r"(?<![\w*])\*([^\s*](?:[^*\n]{0,80}[^\s*])?)\*(?![\w*])")


def plain(text: str) -> str:
    """Returns a text on one line for a value of front matter: without angle brackets, `---` and Markdown code."""
    line = rewritten(plain_words(text)).replace("<", "‹").replace(">", "›").replace("`", "").replace("**", "")
    return redact(re.sub("-{3,}", "—", _EMPHASIS.sub(r"\1", line)))[0]


def tool_phrase(tool: Tool) -> str:
    """Returns the summary of a tool on one line, without its full stop; cut at a word."""
    return shorten(plain_words(tool.summary or ""), PHRASE_LIMIT).rstrip(".。 ")


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
    invocation = service.invocation
    if invocation is None:
        return
    where, names = "/dashdash/invocation", invocation.allowed_tools
    if profile != "claude":
        declared = {
            "allowed-tools": names,
            "argument-hint": invocation.argument_hint,
            "disable-model-invocation": invocation.model_invocable is False,
            "user-invocable": invocation.user_invocable is False,
        }
        if fields := [name for name, is_declared in declared.items() if is_declared]:
            allowed = " (of allowed-tools, only those that change nothing)" if names else ""
            message = f"the source declares {', '.join(fields)}; the portable profile of SKILL.md has no such field"
            yield Problem.of("invocation-left-out", where, message, f"use the profile `claude` to write them{allowed}")
        return
    permitted = _permitted_tools(service)
    if passed := ", ".join(name for name in names if name in permitted):
        message = f"the skill lets {passed} run without asking, as the source wants; they change nothing"
        yield Problem.of("allowed-tools-passed-on", f"{where}/allowedTools", message)
    if omitted := ", ".join(name for name in names if name not in permitted):
        message = f"the source wants {omitted} to run without asking; the skill does not pass that on"
        yield Problem.of("allowed-tools-left-out", f"{where}/allowedTools", message)


def _claude_fields(service: Service) -> dict[str, Any]:
    invocation = service.invocation or Invocation()
    what, when = what_and_when(service)
    permitted, prefix = _permitted_tools(service), host_prefixes(service)[0]
    return {
        "description": what,
        "when_to_use": clip(when, CLAUDE_LIMIT - len(what)) or None,
        "argument-hint": plain_words(invocation.argument_hint or "") or None,
        "disable-model-invocation": True if invocation.model_invocable is False else None,
        "user-invocable": invocation.user_invocable,
        "allowed-tools": [prefix + name for name in invocation.allowed_tools if name in permitted],
    }


def _permitted_tools(service: Service) -> frozenset[str]:
    """Returns the tools of an MCP server that are declared to change nothing, and that have plain names."""
    reading = (tool for tool in service.tools if service.kind == "mcp" and tool.semantics.effect == "read")
    declared = (tool for tool in reading if tool.semantics.is_declared("read_only"))
    names = (tool.name for tool in declared if not tool.semantics.requires_confirmation)
    return frozenset(filter(_PLAIN_NAME.match, names))


def _compatibility(service: Service, *, has_program: bool) -> str | None:
    """Returns the declared prerequisites in one sentence."""
    needed = service.requirements
    parts = [
        *([plain_phrase("needs_variables", len(needed.env), names=", ".join(needed.env))] if needed.env else []),
        *([plain_phrase("needs_programs", names=", ".join(needed.bins))] if needed.bins else []),
        *([plain_phrase("needs_system", names=", ".join(needed.os))] if needed.os else []),
        *([plain_phrase("needs_python")] if has_program else []),
    ]
    return clip(plain(plain_phrase("compatibility", needs="; ".join(parts))), COMPATIBILITY_LIMIT) if parts else None
