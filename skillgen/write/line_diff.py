"""Aligns the lines of two texts, and prints the difference as a unified diff.

The alignment is the shortest edit script (Myers 1986). Texts with too many differences are split at lines that occur
once in both, and the pieces are aligned separately: the time grows with the length, not with its square.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MAX_EDIT_DISTANCE = 1_200
"""Maximum length of a shortest edit script: the search takes the square of it."""

MAX_COMPARISONS = 4_000_000
"""Maximum number of line pairs for texts without common unique lines; beyond it, one text replaces the other."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines `old_start` to `old_end` of the old text became lines `new_start` to `new_end` of the new one."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def find_hunks(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """Returns the differences in order. If the new text contains every old line in order, nothing counts as removed."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    old_end, new_end = len(old), len(new)
    while old_end > start and new_end > start and old[old_end - 1] == new[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    pairs = [(start + i, start + j) for i, j in _matches(old[start:old_end], new[start:new_end])]
    return _join_hunks(_hunks(pairs, start, old_end, new_end), old, new)


def map_positions(hunks: Sequence[Hunk], old_end: int, new_end: int) -> dict[int, int]:
    """Returns old line number to new line number, for each line outside of the hunks."""
    positions: dict[int, int] = {}
    i = j = 0
    for hunk in (*hunks, Hunk(old_end, old_end, new_end, new_end)):
        positions.update(zip(range(i, hunk.old_start), range(j, hunk.new_start), strict=True))
        i, j = hunk.old_end, hunk.new_end
    return positions


def _hunks(pairs: list[tuple[int, int]], start: int, old_end: int, new_end: int) -> list[Hunk]:
    hunks, i, j = [], start, start
    for next_i, next_j in (*pairs, (old_end, new_end)):
        if next_i > i or next_j > j:
            hunks.append(Hunk(i, next_i, j, next_j))
        i, j = next_i + 1, next_j + 1
    return hunks


def _matches(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    if not old or not new:
        return []
    if (pairs := _match_all_old(old, new)) is not None:
        return pairs
    if (pairs := _match_shortest(old, new)) is not None:
        return pairs
    if len(old) * len(new) > MAX_COMPARISONS:
        anchors = _find_anchors(old, new)
        return list(_matches_around(anchors, old, new)) if anchors else []
    blocks = difflib.SequenceMatcher(
        None, old, new, autojunk=len(old) + len(new) > 4 * MAX_EDIT_DISTANCE
    ).get_matching_blocks()
    return [(block.a + k, block.b + k) for block in blocks for k in range(block.size)]


def _find_anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
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


def _matches_around(
    anchors: Sequence[tuple[int, int]], old: Sequence[str], new: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Yields the anchors and the matches between them."""
    start_i = start_j = 0
    for i, j in (*anchors, (len(old), len(new))):
        between = find_hunks(old[start_i:i], new[start_j:j]) if i > start_i or j > start_j else []
        at_i, at_j = start_i, start_j
        for hunk in (*between, Hunk(i - start_i, i - start_i, j - start_j, j - start_j)):
            stop = start_i + hunk.old_start
            yield from zip(range(at_i, stop), range(at_j, start_j + hunk.new_start), strict=True)
            at_i, at_j = start_i + hunk.old_end, start_j + hunk.new_end
        if i < len(old):
            yield i, j
        start_i, start_j = i + 1, j + 1


def _match_all_old(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]] | None:
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


def _match_shortest(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]] | None:
    if abs(len(old) - len(new)) > MAX_EDIT_DISTANCE:
        return None
    reach = {1: 0}
    trace: list[dict[int, int]] = []
    for steps in range(min(len(old) + len(new), MAX_EDIT_DISTANCE) + 1):
        trace.append(dict(reach) if steps else {1: 0})
        for diagonal in range(-steps, steps + 1, 2):
            down = diagonal == -steps or (diagonal != steps and reach[diagonal - 1] < reach[diagonal + 1])
            i = reach[diagonal + 1] if down else reach[diagonal - 1] + 1
            j = i - diagonal
            while i < len(old) and j < len(new) and old[i] == new[j]:
                i, j = i + 1, j + 1
            reach[diagonal] = i
            if i >= len(old) and j >= len(new):
                return _backtrack(trace, len(old), len(new))
    return None


def _backtrack(trace: list[dict[int, int]], i: int, j: int) -> list[tuple[int, int]]:
    pairs = []
    for steps in range(len(trace) - 1, -1, -1):
        reach, diagonal = trace[steps], i - j
        down = diagonal == -steps or (diagonal != steps and reach[diagonal - 1] < reach[diagonal + 1])
        previous = diagonal + 1 if down else diagonal - 1
        start_i = reach[previous]
        start_j = start_i - previous
        while i > start_i and j > start_j:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        i, j = start_i, start_j
    return pairs[::-1]


def _join_hunks(hunks: list[Hunk], old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
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
    """Returns the diff of one file, which may be created or deleted."""
    return "".join(_lines(path, old, new))


def diff_lines(before: str, after: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yields the lines of a unified diff without line ends; nothing if the texts are equal."""
    hunks = find_hunks(old, new)
    if not hunks:
        return
    yield f"--- {before}"
    yield f"+++ {after}"
    for group in _groups(hunks):
        first, last = group[0], group[-1]
        lead, trail = min(_CONTEXT_LINES, first.old_start), min(_CONTEXT_LINES, len(old) - last.old_end)
        spans = (
            _span(first.old_start - lead, last.old_end + trail),
            _span(first.new_start - lead, last.new_end + trail),
        )
        yield f"@@ -{spans[0]} +{spans[1]} @@"
        at = first.old_start - lead
        for hunk in group:
            yield from (f" {line}" for line in old[at : hunk.old_start])
            yield from (f"-{line}" for line in old[hunk.old_start : hunk.old_end])
            yield from (f"+{line}" for line in new[hunk.new_start : hunk.new_end])
            at = hunk.old_end
        yield from (f" {line}" for line in old[at : at + trail])


def _groups(hunks: Sequence[Hunk]) -> Iterator[list[Hunk]]:
    """Yields the hunks in groups with touching context."""
    group = [hunks[0]]
    for hunk in hunks[1:]:
        if hunk.old_start - group[-1].old_end > 2 * _CONTEXT_LINES:
            yield group
            group = []
        group.append(hunk)
    yield group


def _span(start: int, end: int) -> str:
    """Returns a range of lines in the notation of `patch`: one line without a count, an empty range at the line
    before."""
    if end - start == 1:
        return str(start + 1)
    return f"{start if start == end else start + 1},{end - start}"


def _lines(path: str, old_content: bytes | None, new_content: bytes | None) -> Iterator[str]:
    before = f"a/{path}" if old_content is not None else "/dev/null"
    after = f"b/{path}" if new_content is not None else "/dev/null"
    for number, line in enumerate(diff_lines(before, after, _split(old_content), _split(new_content))):
        if number < 2 or line.startswith("@@"):
            yield f"{line}\n"
        else:
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _split(content: bytes | None) -> list[str]:
    """Splits at line feeds only, as `patch` does."""
    if not content:
        return []
    lines = content.decode("utf-8", "replace").split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
