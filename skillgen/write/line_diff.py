"""Aligns the lines of two texts, and prints the difference as a unified diff.

`difflib` takes the square of the number of lines. Texts are therefore split at lines that occur once in both, and only
the pieces between these are left to it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import Match, SequenceMatcher
from typing import Any

MAX_PAIRS = 10_000
"""Pairs of lines in a piece that `difflib` aligns; a larger one counts as replaced."""

_BLANK = ("", ".")
"""Blank lines, and their digest: equal ones say nothing about the lines around them."""

Opcode = tuple[str, int, int, int, int]
"""As of `SequenceMatcher.get_opcodes`: "equal" or what else became of these old lines, and the new ones."""


class _Matcher(SequenceMatcher[str]):
    """Aligns lines in a time that grows with their number, not with its square."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None, "", "")
        self._texts = old, new

    def get_matching_blocks(self) -> list[Match]:
        """Returns the lines that are equal; all old ones if the new text contains them in order."""
        blocks: list[Match] = []
        for i, j, size in _matches(*self._texts):
            if blocks and (blocks[-1].a + blocks[-1].size, blocks[-1].b + blocks[-1].size) == (i, j):
                i, j, above = blocks.pop()
                size += above
            if size:
                blocks.append(Match(i, j, size))
        return [*blocks, Match(len(self._texts[0]), len(self._texts[1]), 0)]


def opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """Returns how a new text differs from an old one. If it contains every old line in order, it only adds."""
    return list(_Matcher(old, new).get_opcodes())


def _matches(
    old: Sequence[str], new: Sequence[str], i: int = 0, j: int = 0, *, is_piece: bool = False
) -> Iterator[tuple[int, int, int]]:
    """Yields where equal lines start, and their number; for a piece of longer texts, with its first lines `i`, `j`."""
    start, limit = 0, min(len(old), len(new))
    while start < limit and old[start] == new[start]:
        start += 1
    end = 0
    while end < limit - start and old[-1 - end] == new[-1 - end]:
        end += 1
    yield i, j, start
    last = i + len(old) - end, j + len(new) - end, end
    i, j, old, new = i + start, j + start, old[start : len(old) - end], new[start : len(new) - end]
    pairs = _all_of(old, new)
    if pairs is None and not is_piece:
        k = m = 0
        for next_k, next_m in (*_anchors(old, new), (len(old), len(new))):
            yield from _matches(old[k:next_k], new[m:next_m], i + k, j + m, is_piece=True)
            yield i + next_k, j + next_m, int(next_k < len(old))
            k, m = next_k + 1, next_m + 1
    elif pairs is None and len(old) * len(new) <= MAX_PAIRS:
        for block in SequenceMatcher(_BLANK.__contains__, old, new, autojunk=False).get_matching_blocks():
            yield i + block.a, j + block.b, block.size
    for k, m in pairs or ():
        yield i + k, j + m, 1
    yield last


def _all_of(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]] | None:
    """Returns where all old lines are in the new text, in order; `None` if any of them is missing."""
    pairs, lines = [], enumerate(new)
    for i, line in enumerate(old):
        j = next((j for j, other in lines if other == line), None)
        if j is None:
            return None
        pairs.append((i, j))
    return pairs


def once_in_both(old: Iterable[str], new: Iterable[str]) -> set[str]:
    """Returns the lines that occur once in each text."""
    return set.intersection(*({line for line, count in Counter(text).items() if count == 1} for text in (old, new)))


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Returns the lines that occur once in each text: the longest sequence in the same order."""
    once = once_in_both(old, new)
    places = {line: j for j, line in enumerate(new) if line in once}
    ends: list[int] = []
    chains: list[Any] = []  # for each length, the last pair of a sequence, and those before it
    for i, line in enumerate(old):
        if line in once:
            length = bisect_left(ends, places[line])
            ends[length : length + 1] = [places[line]]
            chains[length : length + 1] = [(i, places[line], chains[length - 1] if length else None)]
    pairs = []
    chain = chains[-1] if chains else None
    while chain is not None:
        i, j, chain = chain
        pairs.append((i, j))
    return pairs[::-1]


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
    lines = [f"--- {before}", f"+++ {after}"]
    for group in _Matcher(old, new).get_grouped_opcodes():
        lines.append(f"@@ -{_span(group[0][1], group[-1][2])} +{_span(group[0][3], group[-1][4])} @@")
        for tag, i1, i2, j1, j2 in group:
            lines += [f"{' ' if tag == 'equal' else '-'}{line}" for line in old[i1:i2]]
            lines += [f"+{line}" for line in new[j1:j2] if tag != "equal"]
    return "".join(f"{line}\n" for line in lines) if lines[2:] else ""


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
