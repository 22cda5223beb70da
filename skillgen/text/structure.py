"""Anchors of headings, the headings of a text, and portions of a long text.

Anchors follow the rule that GitHub, VS Code and most renderers share. A portion ends between paragraphs if possible,
otherwise between lines or words; a code block that is split is opened again. Filtering the portions one by one is as
safe as filtering the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from skillgen.text import lazy_re as re
from skillgen.text.blocks import outline
from skillgen.text.inert import disarm

_REMOVED = re.compile(r"[^\w\- ]")


class Anchors:
    """Assigns anchors to the headings of one document, in their order."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def of(self, heading: str) -> str:
        """Returns the anchor of the next heading, with a number if it is repeated."""
        base = anchor = _REMOVED.sub("", disarm(heading).strip().lower()).replace(" ", "-")
        while anchor in self._counts:
            self._counts[base] += 1
            anchor = f"{base}-{self._counts[base]}"
        self._counts[anchor] = 0
        return anchor


_FENCE = re.compile(r"\s{0,12}(`{3,}|~{3,})(.*)")


def split_portions(text: str, limit_bytes: int) -> tuple[str, ...]:
    """Splits a text into portions of at most `limit_bytes`, plus one line for a code block that is opened again."""
    if len(text.encode("utf-8", "replace")) <= limit_bytes:
        return (text,)
    result: list[str] = []
    lines: list[str] = []
    size, fence = 0, ""
    for line in _lines(text, limit_bytes):
        line_size = len(line.encode("utf-8", "replace")) + 1
        can_split = size > limit_bytes // 2 and not line.strip() and not fence
        if lines and (can_split or size + line_size > limit_bytes):
            result.append("\n".join(lines))
            lines, size = ([fence] if fence else []), len(fence)
        fence = open_fence(line, fence)
        lines.append(line)
        size += line_size
    result.append("\n".join(lines))
    return tuple(portion for portion in result if portion.strip())


def top_headings(text: str) -> tuple[str, ...]:
    """Returns the text of the headings of the highest level that occurs more than once."""
    headings = [(leaf.level, leaf.words) for leaf in outline(text) if leaf.kind == "heading"] if "#" in text else []
    counts = Counter(level for level, _ in headings)
    level = min((level for level, count in counts.items() if count > 1), default=0)
    return tuple(words for its_level, words in headings if its_level == level)


def _lines(text: str, limit_bytes: int) -> Iterator[str]:
    """Yields the lines of a text, and a line that is too long in pieces that end between words."""
    length = max(limit_bytes // 8, 1)  # a character has four bytes at the most, and a portion has room for two pieces
    for line in text.split("\n"):
        while len(line) > length and len(line.encode("utf-8", "replace")) > limit_bytes // 2:
            end = line.rfind(" ", length // 2, length) + 1 or length
            yield line[:end]
            line = line[end:]
        yield line


def open_fence(line: str, fence: str) -> str:
    """Returns the line that opened the code block around the next line; empty outside of a code block."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return line if "`" not in match[2] else ""
    is_closing = match[1].startswith(fence.strip()[:3]) and not match[2].strip()
    return "" if is_closing else fence


def headings_in(text: str) -> Iterator[str]:
    """Yields the Markdown of each heading outside code blocks."""
    fence = ""
    for line in text.split("\n"):
        words = line.lstrip("#")
        if not fence and words != line and words.startswith(" "):
            yield words[1:]
        fence = open_fence(line, fence)


def parts_of(text: str, deepest: int) -> Iterator[tuple[int, str, str]]:
    """Yields level, title and text of the part below each heading down to a level; first what no heading precedes."""
    lines = text.split("\n")
    headings = [leaf for leaf in outline(text) if leaf.kind == "heading" and leaf.level <= deepest]
    for heading, following in zip([None, *headings], [*headings, None], strict=True):
        level, title, first = (0, "", 0) if heading is None else (heading.level, heading.words, heading.end)
        yield level, title, "\n".join(lines[first : following.first if following is not None else None]).strip("\n")


def sections_of_level(level: int, text: str) -> Iterator[tuple[str, str]]:
    """Yields each heading of a level with the text below it."""
    return ((title, body) for its_level, title, body in parts_of(text, level) if its_level == level)
