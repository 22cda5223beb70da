"""One file made anew: what skillgen wrote, what stands there and what it would write, brought together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillgen.write.alignment import hunks_between, position_map
from skillgen.write.diff import diff_lines
from skillgen.write.edits import Addition, Edits, Rewriting, edits_between
from skillgen.write.front_matter import merged_front_matter
from skillgen.write.lines import digests_of, line_digest, lines_of, unpacked
from skillgen.write.merge import Merged, Note, merged
from skillgen.write.regions import MarkerError
from skillgen.write.sections import front_matter_end

_DASHES = line_digest("---")
_CONFLICT = ("<<<<<<< ", ">>>>>>> ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Regenerated:
    """A file with skillgen's new text and a person's words."""

    front: tuple[str, ...]
    """Its front matter with the rows of dashes."""

    body: Merged
    """The rest."""

    edit: str
    """What a person did inside generated text, as a unified diff; empty where they only added."""

    reason: str | None
    """What stands in the way of writing the file, where something does."""

    rewritten: bool
    """Whether they changed generated text."""

    regions: int
    """How many regions stand in place of generated text."""

    added: int
    """How many lines a person added."""

    @property
    def lines(self) -> list[str]:
        """The text."""
        return [*self.front, *self.body.lines]


def regenerated(path: str, state: str, old: bytes, new: bytes) -> Regenerated:
    """Brings together what skillgen wrote (`state`, packed digests), what stands there and what it would write.

    Raises:
        MarkerError: a marker of a region lacks its other half.
    """
    base, now, then = unpacked(state), lines_of(old), lines_of(new)
    base_front, now_front, new_front = _front_end(base), front_matter_end(now), front_matter_end(then)
    if not (base_front and now_front and (new_front or not then)):
        base_front = now_front = new_front = 0
    front_edits = edits_between(
        base[:base_front], now[:now_front], then[:new_front], first_line=1, in_front=bool(base_front)
    )
    body_edits = edits_between(base[base_front:], now[now_front:], then[new_front:], first_line=now_front + 1)
    front_edits = _without_converged(front_edits, then[:new_front])
    body_edits = _without_converged(body_edits, then[new_front:])
    front, taken = _front(front_edits, then[:new_front])
    has_headings = path.endswith((".md", ".txt"))
    body = merged(body_edits, then[new_front:], has_headings)
    if not base:  # nothing but notes that were kept when skillgen's text went
        body = merged(Edits(base=(), additions=(), rewritings=()), then[new_front:], has_headings)
        body.homeless = [Note(title="", lines=tuple(now))]
    if then == [] and front_edits.additions:  # the file goes: its front matter has no other place
        found = merged(front_edits, [], has_headings=False)
        body.homeless = [*found.homeless, *body.homeless]
    reason = None
    if _has_conflict(front_edits, body_edits):
        reason = "it holds the marks of a merge that is not resolved (<<<<<<<, =======, >>>>>>>)"
    elif front_edits.rewritings or body_edits.rewritings:
        reason = "a person changed what skillgen wrote"
    elif taken:
        reason = f"skillgen writes {', '.join(taken)} too"
    elif path.endswith(".json") and body_edits.additions and not _is_sound_json([*front, *body.lines]):
        reason = "what was added would break the JSON"
    return Regenerated(
        front=tuple(front),
        body=body,
        edit=_diff(path, [*front_edits.base, *body_edits.base], now) if reason else "",
        reason=reason,
        rewritten=bool(front_edits.rewritings or body_edits.rewritings),
        added=sum(len(item.lines) for edits in (front_edits, body_edits) for item in edits.additions),
        regions=sum(1 for edits in (front_edits, body_edits) for item in edits.additions if item.covers),
    )


def is_only_added_to(path: str, state: str, old: bytes) -> bool:
    """Tells whether a file is what skillgen wrote, with no more than what a person added or marked as theirs."""
    return added_lines(path, state, old) is not None


def added_lines(path: str, state: str, old: bytes) -> list[str] | None:
    """Gives the lines that a person added to what skillgen wrote; None where they changed or broke it."""
    base, now = unpacked(state), lines_of(old)
    if base == digests_of(now):
        return []
    front, now_front = _front_end(base), front_matter_end(now)
    if not (front and now_front):
        front = now_front = 0
    try:
        edits = (
            edits_between(base[:front], now[:now_front], (), in_front=bool(front)),
            edits_between(base[front:], now[now_front:], ()),
        )
    except MarkerError:
        return None
    if _has_conflict(*edits) or any(edit.rewritings for edit in edits) or _front(edits[0], edits[0].base)[1]:
        return None
    if path.endswith(".json") and not _is_sound_json(now):
        return None
    return [line for edit in edits for addition in edit.additions for line in addition.lines]


def _has_conflict(*edits: Edits) -> bool:
    """Tells whether lines that skillgen did not write are those by which git marks both sides of a conflict."""
    lines = [line for edit in edits for added in edit.additions for line in added.lines]
    lines += [line for edit in edits for changed in edit.rewritings for line in changed.lines]
    return all(any(line.startswith(mark) for line in lines) for mark in _CONFLICT)


def _front(edits: Edits, new: Sequence[str]) -> tuple[list[str], list[str]]:
    if not new:
        return [], []
    inner = Edits(
        base=edits.base[1:-1],
        additions=tuple(_shifted(addition) for addition in edits.additions),
        rewritings=(),
    )
    lines, taken = merged_front_matter(inner, new[1:-1])
    return [new[0], *lines, new[-1]], taken


def _shifted(addition: Addition) -> Addition:
    return replace(addition, at=max(addition.at - 1, 0))


def _front_end(digests: Sequence[str]) -> int:
    if not digests or digests[0] != _DASHES:
        return 0
    return next((number + 1 for number in range(1, len(digests)) if digests[number] == _DASHES), 0)


def _without_converged(edits: Edits, new: Sequence[str]) -> Edits:
    """Leaves out the changes by which the text became what skillgen would write now, as a merge of branches does."""
    if not edits.rewritings:
        return edits
    places = position_map(hunks_between(edits.base, new), len(edits.base), len(new))

    def is_converged(change: Rewriting) -> bool:
        if not change.lines and not any(number in places for number in range(change.start, change.end)):
            return True
        above = places.get(change.start - 1, -1 if change.start == 0 else None)
        below = places.get(change.end, len(new) if change.end == len(edits.base) else None)
        return above is not None and below is not None and tuple(new[above + 1 : below]) == change.lines

    return replace(edits, rewritings=tuple(change for change in edits.rewritings if not is_converged(change)))


def _is_sound_json(lines: Sequence[str]) -> bool:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise ValueError("a key stands twice")
        return dict(pairs)

    try:
        json.loads("\n".join(lines), object_pairs_hook=once)
    except ValueError:
        return False
    return True


def _diff(path: str, base: Sequence[str], now: Sequence[str]) -> str:
    lines = diff_lines(f"a/{path}", f"b/{path}", base, now)
    return "".join(f"{line}\n" for line in lines)
