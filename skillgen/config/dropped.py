"""What earlier releases had and this one does not: commands, options, keys, formats and names of the Python API."""

from __future__ import annotations

from collections.abc import Mapping

from skillgen.errors import UsageError

_RESULTS = ("0.2.0", "declare what the tools return in the source, or with an OpenAPI Overlay")

_SOURCES = ("0.2.0", "write a target with source: for each source of the service")

_AI_HELP = ("0.2.0", "emit dashdash, whose ai_help has the result in both forms")

_DROPPED: Mapping[str, tuple[str, str]] = {
    "command sample": _RESULTS,
    "option --samples": _RESULTS,
    "key samples": _RESULTS,
    "key sources": _SOURCES,
    "key same-as": _SOURCES,
    "format ai-help-json": _AI_HELP,
    "format ai-help-markdown": _AI_HELP,
    "function lint_service": ("0.2.0", "call `skillgen.lint`"),
    "function ai_help": ("0.2.0", "have the program print the ai-help.md that `skillgen build` writes"),
    "option --against": ("0.2.0", "run the command that wrote the documents with --check"),
}
"""What a user wrote, to the first release without it and what to do instead."""


def dropped(what: str, name: str, where: str | None = None) -> UsageError | None:
    """Returns the error for a name that is gone, such as the key `samples` at a place; `None` for any other name."""
    if f"{what} {name}" not in _DROPPED:
        return None
    since, fix = _DROPPED[f"{what} {name}"]
    return UsageError(f"the {what} {name} was removed in skillgen {since}", where=where, fix=fix)
