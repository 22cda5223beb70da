"""YAML front matter, heading anchors, chunks of a long text.

Anchors of headings, by the rule that GitHub, VS Code and most renderers share.

Divides a long text of a source into portions that a reader can take one by one, before any filter sees them.

A portion ends between paragraphs where it can, else between lines, else between words; a code block that is cut goes
on as one. Filtered one by one, the portions are as safe as the whole.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

_REMOVED = re.compile(r"[^\w\- ]")


class Anchors:
    """Gives the headings of one document their anchors, in the order in which they stand there."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def of(self, heading: str) -> str:
        """Gives the anchor of the next heading; a repeated one gets a number."""
        base = anchor = _REMOVED.sub("", heading.strip().lower()).replace(" ", "-")
        while anchor in self._counts:
            self._counts[base] += 1
            anchor = f"{base}-{self._counts[base]}"
        self._counts[anchor] = 0
        return anchor


_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)")
_FENCE = re.compile(r"\s{0,12}(`{3,}|~{3,})(.*)")


def split_portions(text: str, limit_bytes: int) -> tuple[str, ...]:
    """Gives a text in portions of at most `limit_bytes`, and a line more where a code block goes on."""
    if len(text.encode("utf-8", "replace")) <= limit_bytes:
        return (text,)
    found: list[str] = []
    lines: list[str] = []
    size, fence = 0, ""
    for line in _lines(text, limit_bytes):
        line_size = len(line.encode("utf-8", "replace")) + 1
        is_late = size > limit_bytes // 2 and not line.strip() and not fence
        if lines and (is_late or size + line_size > limit_bytes):
            found.append("\n".join(lines))
            lines, size = ([fence] if fence else []), len(fence)
        fence = _fence_after(line, fence)
        lines.append(line)
        size += line_size
    found.append("\n".join(lines))
    return tuple(portion for portion in found if portion.strip())


def top_headings(text: str) -> tuple[str, ...]:
    """Gives the headings of the first level of a text that has several, as they stand."""
    found: list[tuple[int, str]] = []
    fence = ""
    for line in text.split("\n") if "#" in text else ():
        fence = _fence_after(line, fence)
        if not fence and (match := _HEADING.fullmatch(line)):
            words = match[2].rstrip()
            found.append((len(match[1]), words.rstrip("#").rstrip() or words))
    counts = Counter(level for level, _ in found)
    level = min((level for level, count in counts.items() if count > 1), default=0)
    return tuple(words for its_level, words in found if its_level == level)


def _lines(text: str, limit_bytes: int) -> Iterator[str]:
    """Gives the lines of a text, one that is too long in pieces that end between words."""
    length = max(limit_bytes // 8, 1)  # a character has four bytes at the most, and a portion has room for two pieces
    for line in text.split("\n"):
        while len(line) > length and len(line.encode("utf-8", "replace")) > limit_bytes // 2:
            end = line.rfind(" ", length // 2, length) + 1 or length
            yield line[:end]
            line = line[end:]
        yield line


def _fence_after(line: str, fence: str) -> str:
    """Gives the line that opened the code block in which the next line stands; empty outside of one."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return line if "`" not in match[2] else ""
    is_closing = match[1].startswith(fence.strip()[:3]) and not match[2].strip()
    return "" if is_closing else fence
