"""Alignment of lines, unified diff.

Which lines of one text stand in another: the shortest edit script (Myers 1986), as hunks.

Where texts differ in too much for it, lines that stand once in both hold the texts together, and what is between them
is compared on its own: the time grows with the length, not with its square.

Shows changes as a unified diff, which `patch` and people can read.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

EFFORT = 1_200
"""Differences up to which the shortest script is looked for; it takes the square of them."""

COMPARISONS = 4_000_000
"""Pairs of lines up to which texts are compared that no line holds together; beyond, one replaces the other."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines `old_start` to `old_end` of the old text stand as `new_start` to `new_end` in the new one."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def hunks_between(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """Gives what differs, in order. Where every old line stands in the new text, nothing counts as removed."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    old_end, new_end = len(old), len(new)
    while old_end > start and new_end > start and old[old_end - 1] == new[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    pairs = [(start + i, start + j) for i, j in _matches(old[start:old_end], new[start:new_end])]
    return _joined(_hunks(pairs, start, old_end, new_end), old, new)


def position_map(hunks: Sequence[Hunk], old_end: int, new_end: int) -> dict[int, int]:
    """Returns old line number to new line number, for each line of both texts outside of the hunks between them."""
    found: dict[int, int] = {}
    i = j = 0
    for hunk in (*hunks, Hunk(old_end, old_end, new_end, new_end)):
        found.update(zip(range(i, hunk.old_start), range(j, hunk.new_start), strict=True))
        i, j = hunk.old_end, hunk.new_end
    return found


def _hunks(pairs: list[tuple[int, int]], start: int, old_end: int, new_end: int) -> list[Hunk]:
    found, i, j = [], start, start
    for next_i, next_j in (*pairs, (old_end, new_end)):
        if next_i > i or next_j > j:
            found.append(Hunk(i, next_i, j, next_j))
        i, j = next_i + 1, next_j + 1
    return found


def _matches(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    if not old or not new:
        return []
    if (pairs := _embedding(old, new)) is not None:
        return pairs
    if (pairs := _shortest(old, new)) is not None:
        return pairs
    if (anchors := _anchors(old, new)) and len(old) * len(new) > COMPARISONS:
        return list(_around(anchors, old, new))
    if len(old) * len(new) > COMPARISONS:
        return []
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=len(old) + len(new) > 4 * EFFORT).get_matching_blocks()
    return [(block.a + k, block.b + k) for block in blocks for k in range(block.size)]


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Gives where lines stand that both texts have once, as many as keep their order."""
    once_in_old, once_in_new = ({line for line, count in Counter(text).items() if count == 1} for text in (old, new))
    shared = once_in_old & once_in_new
    place = {line: j for j, line in enumerate(new) if line in shared}
    pairs = [(i, place[line]) for i, line in enumerate(old) if line in shared]
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1], last[length : length + 1] = [j], [number]
    found = []
    number = last[-1] if last else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


def _around(anchors: Sequence[tuple[int, int]], old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Gives the anchors and what matches between one and the next."""
    start_i = start_j = 0
    for i, j in (*anchors, (len(old), len(new))):
        between = hunks_between(old[start_i:i], new[start_j:j]) if i > start_i or j > start_j else []
        at_i, at_j = start_i, start_j
        for hunk in (*between, Hunk(i - start_i, i - start_i, j - start_j, j - start_j)):
            stop = start_i + hunk.old_start
            yield from zip(range(at_i, stop), range(at_j, start_j + hunk.new_start), strict=True)
            at_i, at_j = start_i + hunk.old_end, start_j + hunk.new_end
        if i < len(old):
            yield i, j
        start_i, start_j = i + 1, j + 1


def _embedding(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]] | None:
    """Gives where every old line stands in the new text, in order, if all do: then lines were only added."""
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


def _shortest(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]] | None:
    if abs(len(old) - len(new)) > EFFORT:
        return None
    reach = {1: 0}
    trace: list[dict[int, int]] = []
    for steps in range(min(len(old) + len(new), EFFORT) + 1):
        trace.append(dict(reach) if steps else {1: 0})
        for diagonal in range(-steps, steps + 1, 2):
            down = diagonal == -steps or (diagonal != steps and reach[diagonal - 1] < reach[diagonal + 1])
            i = reach[diagonal + 1] if down else reach[diagonal - 1] + 1
            j = i - diagonal
            while i < len(old) and j < len(new) and old[i] == new[j]:
                i, j = i + 1, j + 1
            reach[diagonal] = i
            if i >= len(old) and j >= len(new):
                return _walked_back(trace, len(old), len(new))
    return None


def _walked_back(trace: list[dict[int, int]], i: int, j: int) -> list[tuple[int, int]]:
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


def _joined(hunks: list[Hunk], old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """Moves removals and additions up along equal lines, until they touch what stands before them."""
    found: list[Hunk] = []
    for hunk in hunks:
        floor = (found[-1].old_end, found[-1].new_end) if found else (0, 0)
        moved = _moved_up(hunk, floor, old, new)
        if found and moved.old_start == floor[0] and moved.new_start == floor[1]:
            last = found.pop()
            moved = Hunk(last.old_start, moved.old_end, last.new_start, moved.new_end)
            found.append(moved)
        else:
            found.append(hunk)
    return found


def _moved_up(hunk: Hunk, floor: tuple[int, int], old: Sequence[str], new: Sequence[str]) -> Hunk:
    i1, i2, j1, j2 = hunk.old_start, hunk.old_end, hunk.new_start, hunk.new_end
    while i1 > floor[0] and j1 > floor[1]:
        removed_moves = i1 < i2 and j1 == j2 and old[i1 - 1] == old[i2 - 1]
        added_moves = i1 == i2 and j1 < j2 and new[j1 - 1] == new[j2 - 1]
        if not (removed_moves or added_moves):
            break
        i1, i2, j1, j2 = i1 - 1, i2 - 1, j1 - 1, j2 - 1
    return Hunk(i1, i2, j1, j2)


CONTEXT = 3
"""Unchanged lines that are shown before and after a change."""


def change_diff(path: str, old: bytes | None, new: bytes | None) -> str:
    """Gives the diff of one file, which may come or go."""
    return "".join(_lines(path, old, new))


def diff_lines(before: str, after: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Gives the lines of a unified diff without their ends; nothing where the texts are equal."""
    hunks = hunks_between(old, new)
    if not hunks:
        return
    yield f"--- {before}"
    yield f"+++ {after}"
    for group in _groups(hunks):
        first, last = group[0], group[-1]
        lead, trail = min(CONTEXT, first.old_start), min(CONTEXT, len(old) - last.old_end)
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
    """Gives the hunks whose surroundings touch together."""
    group = [hunks[0]]
    for hunk in hunks[1:]:
        if hunk.old_start - group[-1].old_end > 2 * CONTEXT:
            yield group
            group = []
        group.append(hunk)
    yield group


def _span(start: int, end: int) -> str:
    """Gives a range of lines as `patch` reads it: one line without its count, none at the line before."""
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
