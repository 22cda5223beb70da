"""What would happen to the files of an OUT."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from skillgen.errors import Problem
from skillgen.write.diff import change_diff
from skillgen.write.record import Record

FOREIGN = "not made by skillgen"
"""Why a file is not replaced of which the record knows nothing."""

Action = Literal["create", "replace", "delete", "keep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What would happen to one file."""

    path: str
    """Relative to OUT, with forward slashes."""

    action: Action
    """`keep` where the file is as it should be."""

    old: bytes | None
    """What stands there."""

    new: bytes | None
    """What would stand there."""

    edited: bool = False
    """Whether what stands there is not skillgen's to replace."""

    reason: str = ""
    """Why not."""

    edit: str = ""
    """What a person changed, as a unified diff."""

    takes_notes: bool = False
    """Whether words of a person move here from another file, which must not go before they have arrived."""

    between: bytes | None = None
    """What stands there first, where words move away too: the new text with them at its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What would happen to an OUT."""

    out: Path
    """The folder."""

    changes: tuple[Change, ...]
    """A change for each document and each file that is stale, sorted by path."""

    before: Record
    """What skillgen wrote last."""

    after: Record
    """What it will have written."""

    problems: tuple[Problem, ...] = ()
    """What a person should know of their own words."""

    @property
    def drift(self) -> tuple[Change, ...]:
        """Files that are not as they should be; those that skillgen may not delete are not among them."""
        return tuple(
            change
            for change in self.changes
            if change.action in ("create", "replace") or (change.action == "delete" and not change.edited)
        )

    @property
    def conflicts(self) -> tuple[Change, ...]:
        """Files that would have to be replaced, but hold edits or are not skillgen's."""
        return tuple(change for change in self.changes if change.edited and change.action == "replace")

    @property
    def diff(self) -> str:
        """The unified diff of all drift, as `patch` reads it."""
        return "".join(change_diff(change.path, change.old, change.new) for change in self.drift)
