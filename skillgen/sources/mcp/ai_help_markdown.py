"""Takes the text of an `ai_help` answer apart: front matter, headings, lists (seed 000, 3.3.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARKDOWN = MarkdownIt("commonmark")
_NEGATIVE = re.compile(r"\b(?:do not|don['\u2019]t|not to use|not use|not for|avoid)\b", re.IGNORECASE)
_TOOL_LINE = re.compile(r"(?:\*\*)?`([^`\s(]+)[^`]*`(?:\*\*)?\s*[:\u2014\u2013-]\s+(\S.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A heading and what stands below it, up to the next heading of its level or above."""

    title: str
    """The text of the heading, as Markdown."""

    body: str
    """Markdown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A Markdown text by its headings."""

    title: str | None
    """The first heading of level 1."""

    quote: str | None
    """The blockquote below it."""

    introduction: str | None
    """What else stands before the first chapter."""

    chapters: tuple[Chapter, ...]
    """The chapters of level 2."""


def split_front_matter(text: str) -> tuple[str | None, str]:
    """Gives the text between two lines of dashes at the beginning, if there is one, and the rest."""
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return None, "\n".join(lines)
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() in ("---", "..."):
            return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :])
    return None, "\n".join(lines)


def page_from_markdown(text: str) -> Page:
    """Reads a text that has no front matter any more."""
    tokens = _MARKDOWN.parse(text)
    first_chapter = next(_headings(tokens, ("h2",)), None)
    opening = text if first_chapter is None else "\n".join(text.split("\n")[: first_chapter[0]])
    title = next(_headings(_MARKDOWN.parse(opening), ("h1",)), None)
    below = "\n".join(opening.split("\n")[title[1] :]) if title is not None else opening
    quote, rest = _quote_and_rest(below)
    return Page(
        title=title[2] if title is not None else None,
        quote=quote,
        introduction=rest or None,
        chapters=tuple(chapters(text, ("h1", "h2"), tokens)),
    )


def chapters(text: str, tags: tuple[str, ...], tokens: list[Token] | None = None) -> Iterator[Chapter]:
    """Gives the chapters under headings of these levels; the title of the page is none."""
    lines = text.split("\n")
    found = list(_headings(tokens if tokens is not None else _MARKDOWN.parse(text), tags))
    starts = [heading[0] for heading in found] + [len(lines)]
    for (_, start, title, tag), end in zip(found, starts[1:], strict=True):
        if tag != "h1":
            yield Chapter(title=title, body="\n".join(lines[start:end]).strip())


def uses(body: str, unwanted: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Gives the items of the lists that say when to use something, and of those that say when not to.

    A line before a list tells which it is, and a heading before that line; `unwanted` is what holds before both.
    """
    found: tuple[list[str], list[str]] = ([], [])
    under_heading = unwanted
    tokens = _MARKDOWN.parse(body)
    for position, token in enumerate(tokens):
        if token.type != "inline":
            continue
        if _is_item(tokens, position):
            found[unwanted].append(" ".join(token.content.split()))
        elif tokens[position - 1].type == "heading_open":
            unwanted = under_heading = bool(_NEGATIVE.search(token.content)) or "not to" in token.content.lower()
        elif tokens[position - 1].level == 0:
            unwanted = under_heading or bool(_NEGATIVE.search(token.content))
    return tuple(found[False]), tuple(found[True])


def tool_lines(body: str) -> dict[str, str] | None:
    """Gives a phrase for each tool of a quick reference, or `None` where a list item is of another form."""
    found: dict[str, str] = {}
    tokens = _MARKDOWN.parse(body)
    for position, token in enumerate(tokens):
        if _is_item(tokens, position):
            match = _TOOL_LINE.fullmatch(token.content.strip())
            if match is None:
                return None
            found.setdefault(match[1], " ".join(match[2].split()))
    return found or None


def tool_chapters(body: str) -> dict[str, str]:
    """Gives what a tool reference says of each tool, by the heading above it."""
    found: dict[str, str] = {}
    for chapter in chapters(body, ("h3", "h4")):
        found.setdefault(chapter.title.strip("`* "), chapter.body)
    return found


def _headings(tokens: list[Token], tags: tuple[str, ...]) -> Iterator[tuple[int, int, str, str]]:
    """Gives first line, line after, text and tag of the headings that stand in no quote and no list."""
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.tag in tags and token.map is not None:
            yield token.map[0], token.map[1], inline.content, token.tag


def _is_item(tokens: list[Token], position: int) -> bool:
    """Tells whether a token is the first line of text of a list item."""
    return tokens[position].type == "inline" and position > 1 and tokens[position - 2].type == "list_item_open"


def _quote_and_rest(text: str) -> tuple[str | None, str]:
    lines = text.split("\n")
    tokens = _MARKDOWN.parse(text)
    for position, token in enumerate(tokens):
        if token.type == "blockquote_open" and token.level == 0 and token.map is not None:
            quoted = next((later.content for later in tokens[position:] if later.type == "inline"), "")
            start, end = token.map
            return " ".join(quoted.split()) or None, "\n".join(lines[:start] + lines[end:]).strip()
    return None, text.strip()
