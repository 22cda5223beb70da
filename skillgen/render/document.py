"""The document that skillgen writes, and the names of formats and profiles."""

from __future__ import annotations

from dataclasses import dataclass

from skillgen.errors import Problem

FORMATS = ("skill", "llms", "ai-help", "ai-help-commands", "registry")
"""Names of `--emit`, in rendering order."""

DEFAULT_FORMATS = ("skill", "llms", "ai-help", "registry")
"""The formats without `--emit`."""

PROFILES = ("portable", "claude")
"""Names of `--profile`: the six fields of Agent Skills, or also those of Claude Code."""

DEFAULT_PROFILE = "portable"
"""The profile that every host reads."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file that skillgen would write."""

    path: str
    """Relative to OUT, with forward slashes."""

    text: str
    """Its content, with `\\n` line ends and one at the end."""

    problems: tuple[Problem, ...] = ()
    """What was left out of it."""
