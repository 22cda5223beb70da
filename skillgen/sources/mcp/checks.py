"""Checks what the parts of a service say of one another: names of tools, parameters and scopes, and contradictions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillgen.errors import ProblemLog
from skillgen.model.service import Service
from skillgen.model.tool import Tool

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w.-]*)\}")


def check_references(service: Service, problems: ProblemLog) -> None:
    """Reports names that lead nowhere, and facts of one tool that contradict one another."""
    names = {tool.name for tool in service.tools}
    scopes = {scope.name for auth in service.requirements.auth for scope in auth.scopes}
    for tool in service.tools:
        semantics = tool.semantics
        if semantics.reversed_by is not None and semantics.reversed_by not in names:
            problems.warning(
                "reverse-method-unknown",
                tool.pointer,
                f"{semantics.reversed_by[:80]!r}, which is to undo {tool.name!r}, is no tool of this server",
            )
        for field, unknown in _unknown_placeholders(tool):
            problems.warning(
                "placeholder-unknown",
                tool.pointer,
                f"{field} of {tool.name!r} has {{{unknown}}}, which is no parameter",
            )
        undeclared = [scope for scope in tool.scopes if scope not in scopes] if scopes else []
        if undeclared:
            problems.warning(
                "scope-undeclared",
                tool.pointer,
                f"{tool.name!r} needs {', '.join(undeclared)[:200]}, which nobody declares",
            )
        if semantics.requires_confirmation and semantics.confirmation_message is None:
            problems.warning(
                "confirmation-message-missing",
                tool.pointer,
                f"{tool.name!r} wants a person's yes, but has no confirmation_message",
            )
        _check_risk(tool, problems)


def _unknown_placeholders(tool: Tool) -> Iterator[tuple[str, str]]:
    known = {parameter.name for parameter in tool.parameters}
    texts = {"cliEquivalent": tool.cli_equivalent, "confirmation_message": tool.semantics.confirmation_message}
    for field, text in texts.items():
        for name in dict.fromkeys(_PLACEHOLDER.findall(text or "")):
            if name.partition(".")[0] not in known:
                yield field, name


def _check_risk(tool: Tool, problems: ProblemLog) -> None:
    """Compares the risk with what else is declared (seed 004, 6); `safe` alone says nothing of changes."""
    semantics = tool.semantics
    if semantics.risk == "safe" and semantics.destructive and semantics.is_declared("destructive"):
        problems.warning("risk-contradicted", tool.pointer, f"{tool.name!r} has the risk safe, but is destructive")
