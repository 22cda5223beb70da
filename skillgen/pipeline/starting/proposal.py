"""A source that a project has, as a target of its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A target that could be."""

    name: str
    """What it may be called; made unique, and fit for a file's name, by `proposals`."""

    source: Mapping[str, Any]
    """The keys of `source:`: text, a list of words, or a mapping of texts."""

    found: str
    """What was seen, in a few words, with the file."""

    cautions: tuple[str, ...] = ()
    """What must be so before it can be made."""

    is_own: bool = True
    """Whether it is the project's own, and not merely something that its developers use."""

    alternatives: tuple[str, ...] = field(default=())
    """Other commands that may be meant."""
