"""What a run is asked to do, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from skillgen.errors import ExitCode, Problem
from skillgen.model.service import Service
from skillgen.sources.secrets import Secrets

if TYPE_CHECKING:
    from skillgen.sources.extra_text import ExtraText
    from skillgen.write.plan import Plan

DEFAULT_OUT = "agent-docs"
"""The folder of the documents where none is named."""

Progress = Callable[[str], None]

BYTES_PER_TOKEN = 3.2
"""Tokens are counted as UTF-8 bytes / 3.2, rounded up (design, "Output")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """What the user says of the service; it wins over the source (design, "Where facts disagree")."""

    name: str | None = None
    """`--name`."""

    version: str | None = None
    """`--service-version`."""

    description: str | None = None
    """`--description`."""

    base_url: str | None = None
    """`--base-url`."""

    extras: tuple[ExtraText, ...] = ()
    """`--extra`: texts that add to what the source says."""

    include: tuple[str, ...] = ()
    """`--include`: patterns of what is documented; empty for everything."""

    exclude: tuple[str, ...] = ()
    """`--exclude`: patterns of what is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescriptionOptions:
    """How a description is reached, and what is read with it."""

    timeout_s: float = 30.0
    """How long one request may take."""

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """`--header`: may hold secrets."""

    secrets: Secrets = field(default_factory=Secrets, repr=False)
    """Secrets in other places, such as in what a variable of the project's file was replaced by."""

    overlays: tuple[str, ...] = ()
    """`--overlay`: files or addresses, applied in their order."""

    allow_remote_refs: bool = False
    """Whether documents that the description names are fetched."""

    allow_outside_refs: bool = False
    """Whether files outside the folder of the description are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """Where documents go, and what may happen to those that are there."""

    out: Path
    """The folder."""

    within: Path | None = None
    """The folder that the user named, where `out` is one in it that has its name from the source."""

    siblings: tuple[Path, ...] = ()
    """The folders of all documents of the run; others with the same owner are gone."""

    formats: tuple[str, ...]
    """Names of formats."""

    templates: Path | None = None
    """A folder whose templates win over skillgen's."""

    profile: str
    """Which front matter SKILL.md has: `portable` or `claude`."""

    install: tuple[Path, ...] = ()
    """Where hosts look for skills, and the skill is to be put too."""

    owner: Path | None = None
    """What `out` belongs to, where that is not the user alone: the project's file, the folder of all services of a run,
    or the documents of which the installed skill is a copy."""

    is_installed: bool = False
    """Whether `out` is the folder of the skill itself, in the place where a host looks."""

    check: bool = False
    """Whether to write nothing and show what would change."""

    allow_empty: bool = False
    """Whether a service that shows less, or no tools, may replace documents that have more."""

    force: bool = False
    """Whether generated text wins over what a person changed in it."""

    prune: bool = False
    """Whether documents of what is gone are removed."""

    strict: bool = False
    """Whether a problem of level warning is a fatal error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one service."""

    service: Service
    """What was documented."""

    plan: Plan
    """What happened to the files, or would have."""

    problems: tuple[Problem, ...]
    """What was wrong with the source or with the files."""

    diff: str
    """With `check`, what would change."""

    is_installed: bool
    """Whether it is about the place where a host looks for the skill."""

    skill_tokens: int | None
    """What the first level costs an agent."""

    exit_code: ExitCode
    """How it ended."""


def tokens(text: str) -> int:
    """Counts tokens as the design does."""
    return -int(-len(text.encode("utf-8")) // BYTES_PER_TOKEN)
