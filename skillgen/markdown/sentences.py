"""Takes the first words or the first sentence of a longer text."""

from __future__ import annotations

import re

from skillgen.markdown.filters import plain_words

LIMIT = 300
"""Characters beyond which a sentence is cut at a word."""

_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'`(\[*])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|no|Mr|Dr|St|U\.S))\.$", re.IGNORECASE)
_NEXT_PART = re.compile(r"\n\s*(?=[-*+]\s|\d+[.)]\s|[A-Z][\w /-]{0,40}:(?:\s|$))")
"""Where a list begins, or a line with a label of its own such as `Returns:`."""

_LIST_OR_HEADING = re.compile(r"^\s*(?:#{1,6}\s+|[-*+]\s+|\d+[.)]\s+|>\s?)")


def first_sentence(text: str) -> str:
    """Gives the first sentence of a Markdown text on one line, without the mark of a heading or a list."""
    for block in re.split(r"\n\s*\n", text.strip()):
        line = _LIST_OR_HEADING.sub("", plain_words(_NEXT_PART.split(block.strip(), maxsplit=1)[0]))
        if line.strip("=-*_~`# "):
            return clipped(_sentence(line), LIMIT)
    return ""


def leading_sentence(text: str) -> str:
    """Gives the first sentence as it stands; the whole text where it has but one."""
    start = 0
    for end in _END.finditer(text):
        if not _ABBREVIATION.search(text[start : end.start()]):
            return text[: end.start()]
    return text


def clipped(text: str, limit: int) -> str:
    """Cuts a text at a word so that it has at most `limit` characters, the ellipsis included."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    if " " in head[limit // 2 :]:
        head = head[: head.rfind(" ")]
    return head.rstrip(" ,;:.—-") + "…"


def _sentence(line: str) -> str:
    start = 0
    for end in _END.finditer(line):
        if not _ABBREVIATION.search(line[start : end.start()]):
            return line[: end.start()]
    return line


def without_open_quote(text: str) -> str:
    """Takes off a quotation mark with which a text begins and which nothing closes, as a cut leaves it."""
    return text[1:] if text[:1] == '"' and text.count('"') == 1 else text
