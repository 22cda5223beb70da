"""Anchors of headings, the headings of a text, and the start of a long text.

Anchors follow the rule that GitHub, VS Code and most renderers share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from skillgen.text import lazy_re as re
from skillgen.text.blocks import Leaf, outline
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


_PARAGRAPH_END = re.compile(r"\n\n|</p>")


def start_of(text: str, limit_bytes: int) -> str:
    """Returns the start of a text, to the first paragraph that ends in its second half, else to a line or a word."""
    content = text.encode("utf-8", "replace")
    if len(content) <= limit_bytes:
        return text
    start = content[:limit_bytes].decode("utf-8", "ignore")
    half = len(start) // 2
    paragraph = _PARAGRAPH_END.search(start, half)
    ends = (paragraph.end() if paragraph else -1, start.rfind("\n", half), start.rfind(" ", half))
    return start[: next((end for end in ends if end > 0), None)]


def top_headings(text: str) -> tuple[str, ...]:
    """Returns the text of the headings of the highest level that occurs more than once."""
    headings = [(leaf.level, leaf.words) for leaf in outline(text) if leaf.kind == "heading"] if "#" in text else []
    counts = Counter(level for level, _ in headings)
    level = min((level for level, count in counts.items() if count > 1), default=0)
    return tuple(words for its_level, words in headings if its_level == level)


def without_empty_sections(text: str) -> str:
    """Returns a text without the headings that have nothing below them."""
    lines, following = text.split("\n"), Leaf("heading", 0, 0)
    for leaf in reversed(outline(text)):
        if leaf.kind == following.kind == "heading" and following.level <= leaf.level:
            del lines[leaf.first : leaf.end]
        else:
            following = leaf
    return "\n".join(lines).strip()


_FENCE = re.compile(r"\s{0,12}(`{3,}|~{3,})(.*)")


def open_fence(line: str, fence: str) -> str:
    """Returns the line that opened the code block around the next line; empty outside of a code block."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return line if "`" not in match[2] else ""
    return "" if match[1].startswith(fence.strip()[:3]) and not match[2].strip() else fence


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
