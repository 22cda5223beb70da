"""Documents as sections, by their headings: what a person's words are attached to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6}) +((?:.*\S)?)\s*\Z")

_FIRST = frozenset("#`~ ")
"""What a line of either begins with; most lines of a document don't."""

Key = tuple[str, ...]
"""The headings above a section and its own; the first heading of a document is `#`, whatever it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Lines from a heading to before the next one."""

    key: Key
    """What it is recognised by in another version of the document."""

    title: str
    """The words of its heading; empty above the first."""

    start: int
    """The number of its first line."""

    end: int
    """The number of the line after its last."""


def front_matter_end(lines: Sequence[str]) -> int:
    """Gives the number of lines that front matter takes, both rows of dashes included; 0 where there is none."""
    if not lines or lines[0] != "---":
        return 0
    return next((number + 1 for number in range(1, len(lines)) if lines[number] == "---"), 0)


def heading_level(line: str) -> int:
    """Gives the level of the heading that a line is; 0 where it is none."""
    heading = _HEADING.match(line)
    return len(heading[1]) if heading else 0


def sections_of(lines: Sequence[str], has_headings: bool = True) -> tuple[Section, ...]:
    """Gives the sections of a text, which have all its lines."""
    starts = [(0, 0, "")]
    fence: str | None = None
    for number, line in enumerate(lines if has_headings else ()):
        if line[:1] not in _FIRST:
            continue
        if mark := _FENCE.match(line):
            if fence is None:
                fence = mark[1]
            elif line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = None
        elif fence is None and (heading := _HEADING.match(line)):
            starts.append((number, len(heading[1]), heading[2]))
    ends = [start for start, _, _ in starts[1:]] + [len(lines)]
    found: list[Section] = []
    above: list[tuple[int, str]] = []
    seen: Counter[Key] = Counter()
    for (start, level, title), end in zip(starts, ends, strict=True):
        if level:
            above = [item for item in above if item[0] < level]
            above.append((level, title if above else "#"))
        key = tuple(words for _, words in above)
        seen[key] += 1
        found.append(Section(key=(*key, str(seen[key])), title=title, start=start, end=end))
    return tuple(found)
