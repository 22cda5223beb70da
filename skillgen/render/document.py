"""A document, a path below OUT and a text; and the names of the formats."""

from __future__ import annotations

from dataclasses import dataclass

from skillgen.errors import Problem

FORMATS = ("skill", "llms", "ai-help", "ai-help-commands", "registry")
"""Names of `--emit`, in the order in which they are rendered."""

DEFAULT_FORMATS = ("skill", "llms", "ai-help", "registry")
"""What is written where nothing is asked for."""

PROFILES = ("portable", "claude")
"""Names of `--profile`: the six fields of Agent Skills, or those of Claude Code too."""

DEFAULT_PROFILE = "portable"
"""The one that every host reads."""


@dataclass(frozen=True, slots=True)
class Document:
    """One file that skillgen would write."""

    path: str
    """Relative to OUT, with forward slashes."""

    text: str
    """Its content; line feeds, and one at the end."""

    problems: tuple[Problem, ...] = ()
    """What had to be left out of it."""
