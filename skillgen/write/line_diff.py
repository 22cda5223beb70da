"""Aligns the lines of two texts, and prints the difference as a unified diff.

The alignment is the shortest edit script (Myers 1986). Texts with too many differences are split at lines that occur
once in both, and the pieces are aligned separately: the time grows with the length, not with its square.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

MAX_EDIT_DISTANCE = 1_200
"""Maximum length of a shortest edit script: the search takes the square of it."""


class Hunk(Struct, frozen=True):
    """Lines `old_start` to `old_end` of the old text became lines `new_start` to `new_end` of the new one."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


_Pairs = list[tuple[int, int]]
"""Numbers of equal lines in the old and the new text, ascending."""


def find_hunks(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """Returns the differences in order. If the new text contains every old line in order, nothing counts as removed."""
    return _join_hunks(_differences(old, new), old, new)


def map_positions(hunks: Sequence[Hunk], old_end: int, new_end: int) -> dict[int, int]:
    """Returns old line number to new line number, for each line outside of the hunks."""
    positions: dict[int, int] = {}
    i = j = 0
    for hunk in (*hunks, Hunk(old_end, old_end, new_end, new_end)):
        positions.update(zip(range(i, hunk.old_start), range(j, hunk.new_start), strict=True))
        i, j = hunk.old_end, hunk.new_end
    return positions


def _differences(old: Sequence[str], new: Sequence[str], old_at: int = 0, new_at: int = 0) -> Iterator[Hunk]:
    """Yields the differences of two texts, which start at these lines of longer ones."""
    start, limit = 0, min(len(old), len(new))
    while start < limit and old[start] == new[start]:
        start += 1
    end = 0
    while end < limit - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    old_at, new_at = old_at + start, new_at + start
    pairs = _match_all_old(old, new)
    if pairs is None:
        pairs = _match_shortest(old, new)
    anchors = _find_anchors(old, new) if pairs is None else []
    i = j = 0
    for next_i, next_j in (*(pairs or anchors), (len(old), len(new))):
        if anchors:
            yield from _differences(old[i:next_i], new[j:next_j], old_at + i, new_at + j)
        elif next_i > i or next_j > j:
            yield Hunk(old_at + i, old_at + next_i, new_at + j, new_at + next_j)
        i, j = next_i + 1, next_j + 1


def _match_all_old(old: Sequence[str], new: Sequence[str]) -> _Pairs | None:
    """Returns the positions of all old lines in the new text, in order; `None` if any of them is missing."""
    if len(old) > len(new):
        return None
    pairs, j = [], 0
    for i, line in enumerate(old):
        while j < len(new) and new[j] != line:
            j += 1
        if j == len(new):
            return None
        pairs.append((i, j))
        j += 1
    return pairs


def _match_shortest(old: Sequence[str], new: Sequence[str]) -> _Pairs | None:
    """Returns the matches of the shortest edit script; `None` if it is longer than `MAX_EDIT_DISTANCE`."""
    if abs(len(old) - len(new)) > MAX_EDIT_DISTANCE:
        return None
    # The old line that is reached on each diagonal, and the matches on the way: (those before, i, j, count).
    reach: dict[int, tuple[int, Any]] = {1: (0, None)}
    for steps in range(min(len(old) + len(new), MAX_EDIT_DISTANCE) + 1):
        for diagonal in range(-steps, steps + 1, 2):
            if diagonal == -steps or (diagonal != steps and reach[diagonal - 1][0] < reach[diagonal + 1][0]):
                start, matches = reach[diagonal + 1]
            else:
                start, matches = reach[diagonal - 1][0] + 1, reach[diagonal - 1][1]
            i, j = start, start - diagonal
            while i < len(old) and j < len(new) and old[i] == new[j]:
                i, j = i + 1, j + 1
            if i > start:
                matches = matches, start, start - diagonal, i - start
            if i >= len(old) and j >= len(new):
                return _pairs_of(matches)
            reach[diagonal] = i, matches
    return None


def _pairs_of(matches: Any) -> _Pairs:
    pairs: _Pairs = []
    while matches is not None:
        matches, i, j, count = matches
        pairs += [(i + number, j + number) for number in reversed(range(count))]
    return pairs[::-1]


def _find_anchors(old: Sequence[str], new: Sequence[str]) -> _Pairs:
    """Returns the positions of lines that occur once in each text: the longest sequence in the same order."""
    once_in_old, once_in_new = ({line for line, count in Counter(text).items() if count == 1} for text in (old, new))
    shared = once_in_old & once_in_new
    position = {line: j for j, line in enumerate(new) if line in shared}
    pairs = [(i, position[line]) for i, line in enumerate(old) if line in shared]
    ends: list[int] = []
    last: list[int] = []
    previous: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        previous.append(last[length - 1] if length else -1)
        ends[length : length + 1], last[length : length + 1] = [j], [number]
    anchors = []
    number = last[-1] if last else -1
    while number >= 0:
        anchors.append(pairs[number])
        number = previous[number]
    return anchors[::-1]


def _join_hunks(hunks: Iterable[Hunk], old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """Moves removals and additions up along equal lines and joins those that touch the hunk before them."""
    joined: list[Hunk] = []
    for hunk in hunks:
        floor = (joined[-1].old_end, joined[-1].new_end) if joined else (0, 0)
        moved = _move_up(hunk, floor, old, new)
        if joined and moved.old_start == floor[0] and moved.new_start == floor[1]:
            last = joined.pop()
            joined.append(Hunk(last.old_start, moved.old_end, last.new_start, moved.new_end))
        else:
            joined.append(hunk)
    return joined


def _move_up(hunk: Hunk, floor: tuple[int, int], old: Sequence[str], new: Sequence[str]) -> Hunk:
    i1, i2, j1, j2 = hunk.old_start, hunk.old_end, hunk.new_start, hunk.new_end
    while i1 > floor[0] and j1 > floor[1]:
        removed_moves = i1 < i2 and j1 == j2 and old[i1 - 1] == old[i2 - 1]
        added_moves = i1 == i2 and j1 < j2 and new[j1 - 1] == new[j2 - 1]
        if not (removed_moves or added_moves):
            break
        i1, i2, j1, j2 = i1 - 1, i2 - 1, j1 - 1, j2 - 1
    return Hunk(i1, i2, j1, j2)


_CONTEXT_LINES = 3
"""Unchanged lines before and after a change, as in `diff -u`."""


def change_diff(path: str, old: bytes | None, new: bytes | None) -> str:
    """Returns the unified diff of one file, which may be created or deleted."""
    before = f"a/{path}" if old is not None else "/dev/null"
    after = f"b/{path}" if new is not None else "/dev/null"
    if is_binary(old or b"") or is_binary(new or b""):
        return f"Binary files {before} and {after} differ\n" if old != new else ""
    return unified_diff(before, after, _split(old), _split(new))


def is_binary(content: bytes) -> bool:
    """True if a file has no lines, by git's rule."""
    return b"\0" in content[:8_000]


def unified_diff(before: str, after: str, old: Sequence[str], new: Sequence[str]) -> str:
    """Returns the unified diff of lines without line ends; empty if they are equal."""
    lines = _diff_lines(old, new)
    return "".join(f"{line}\n" for line in (f"--- {before}", f"+++ {after}", *lines)) if lines else ""


def _diff_lines(old: Sequence[str], new: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for group in _groups(find_hunks(old, new)):
        first, last = group[0], group[-1]
        lead, trail = min(_CONTEXT_LINES, first.old_start), min(_CONTEXT_LINES, len(old) - last.old_end)
        old_span = _span(first.old_start - lead, last.old_end + trail)
        new_span = _span(first.new_start - lead, last.new_end + trail)
        lines.append(f"@@ -{old_span} +{new_span} @@")
        at = first.old_start - lead
        for hunk in group:
            lines += [f" {line}" for line in old[at : hunk.old_start]]
            lines += [f"-{line}" for line in old[hunk.old_start : hunk.old_end]]
            lines += [f"+{line}" for line in new[hunk.new_start : hunk.new_end]]
            at = hunk.old_end
        lines += [f" {line}" for line in old[at : at + trail]]
    return lines


def _groups(hunks: Iterable[Hunk]) -> list[list[Hunk]]:
    """Returns the hunks in groups with touching context."""
    groups: list[list[Hunk]] = []
    for hunk in hunks:
        if not groups or hunk.old_start - groups[-1][-1].old_end > 2 * _CONTEXT_LINES:
            groups.append([])
        groups[-1].append(hunk)
    return groups


def _span(start: int, end: int) -> str:
    """Returns a range of lines in the notation of `patch`: one line without a count, an empty range at the line
    before."""
    if end - start == 1:
        return str(start + 1)
    return f"{start if start == end else start + 1},{end - start}"


def _split(content: bytes | None) -> list[str]:
    """Splits at line feeds only, as `patch` does, with its mark of a last line without one."""
    *lines, last = (content or b"").decode("utf-8", "replace").split("\n")
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines
