"""Splits the text of an `ai_help` answer: front matter, headings, lists of uses and of tools (seed 000, 3.3.2)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from skillgen.markdown.sentences import sentences
from skillgen.sources.declared_uses import label_of, lead_ins_apart, uses_declared_in, uses_in_item

_MARKDOWN = MarkdownIt("commonmark")
_TOOL_LINE = re.compile(
    r"(?:\*\*|__)?(?P<code>`)?(?:\*\*)?(?P<name>[\w./-]+)(?![\w./-])(?(code)[^`]*`|(?:\s?\([^`\n]*?\))?(?:\*\*)?)(?:\*\*|__)?"
    r"(?:\s*[:\u2014\u2013]|\s+-)(?:\*\*)?\s+(?P<phrase>\S.*)",
    re.DOTALL,
)
_TOOL_HEADING = re.compile(r"(?:\d+[.)]\s+)?[`*_]*(?P<name>[\w./-]+)")
_LABEL = re.compile(
    r"(?:#{4,6}\s+(?P<heading>\S.*)|(?P<marks>\*\*|__)(?P<bold>[^*_\n]{1,60}?):?(?P=marks)(?:(?<=:..)|\s*:|(?=\s*\Z))"
    r"|(?P<plain>Parameters|Arguments|Returns|Response|Side Effects|Examples?|Errors|Notes?|(?:CLI|API) Equivalent):)"
    r"[ \t]*(?P<text>.*)"
)
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_LISTS = ("bullet_list_open", "ordered_list_open")


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
    """Returns the text between two lines of dashes at the beginning, if there is one, and the rest.

    Empty lines before it are those of a string literal that begins on a line of its own.
    """
    lines = text.lstrip("\ufeff\r\n").replace("\r\n", "\n").split("\n")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedUses:
    """What a section on use says."""

    wanted: tuple[str, ...] = ()
    """When to use the service."""

    unwanted: tuple[str, ...] = ()
    """When not to use it."""

    rest: str = ""
    """What else the section says; Markdown."""


def uses(body: str, unwanted: bool = False) -> ListedUses:
    """Reads the lists that say when to use something and when not, and the sentences that do.

    The line before a list says which it is, and the heading before that line; `unwanted` is what the section says.
    """
    text = lead_ins_apart(body, are_signs_bullets=True)
    tokens = _MARKDOWN.parse(text)
    found: tuple[list[str], list[str]] = ([], [])
    read: set[int] = set()
    outer: list[bool] = []
    label = below_heading = unwanted
    for position, token in enumerate(tokens):
        if token.type in _LISTS:
            outer.append(label)
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            label = outer.pop()
        if token.type != "inline" or token.map is None:
            continue
        own_label = label_of(token.content)
        leads_list = tokens[min(position + 2, len(tokens) - 1)].type in _LISTS
        if tokens[position - 1].type == "heading_open":
            label = below_heading = unwanted if own_label is None else own_label
            continue
        if leads_list and not (_is_item(tokens, position) and own_label is None):
            label = below_heading or own_label is True
            if not token.content.rstrip(" *_").endswith((":", "：")):
                if own_label is None:
                    continue
                _add_sentences(token.content, found, unwanted)
        elif _is_item(tokens, position):
            for is_unwanted, words in uses_in_item(token.content, label):
                found[is_unwanted].append(words)
        elif outer or not _add_sentences(token.content, found, unwanted):
            continue
        read.update(range(*token.map))
    return ListedUses(wanted=tuple(found[False]), unwanted=tuple(found[True]), rest=_unread(text, read))


def _add_sentences(paragraph: str, found: tuple[list[str], list[str]], unwanted: bool) -> bool:
    """Adds the uses that a paragraph declares; returns whether it says nothing else."""
    declared = uses_declared_in(paragraph)
    found[unwanted].extend(declared.wanted)
    found[True].extend(declared.unwanted)
    return 0 < len(list(sentences(paragraph))) <= len(declared.wanted) + len(declared.unwanted)


def _unread(text: str, read: Collection[int]) -> str:
    """Returns the lines that were not read, without headings that nothing follows."""
    lines = [line for number, line in enumerate(text.split("\n")) if number not in read]
    kept: list[str] = []
    for line in reversed(lines):
        if not line.lstrip().startswith("#") or (kept and not kept[-1].lstrip().startswith("#")):
            kept.extend([line] if line.strip() or (kept and kept[-1].strip()) else [])
    return "\n".join(reversed(kept)).strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLines:
    """What a quick reference says."""

    phrases: Mapping[str, str]
    """Tool name to one line."""

    unknown: tuple[str, ...]
    """Names of tools that the service does not offer."""

    rest: str
    """What else it says; Markdown."""

    has_list: bool
    """Whether the rest lists something."""


def tool_lines(body: str, tool_names: Collection[str], *, is_own: bool) -> ToolLines:
    """Reads the items of a quick reference that name a tool: `name`, a dash or colon, a phrase.

    What names another tool is no part of the rest where the list is the service's own.
    """
    phrases: dict[str, str] = {}
    unknown: list[str] = []
    read: set[int] = set()
    labels: list[tuple[int, int, int]] = []
    tokens = _MARKDOWN.parse(body)
    for position, token in enumerate(tokens):
        if token.type != "inline" or token.map is None:
            continue
        if not _is_item(tokens, position):
            below = tokens[min(position + 2, len(tokens) - 1)]
            if below.type in _LISTS and below.map is not None and token.level == 1:
                labels.append((token.map[0], token.map[1], below.map[1]))
            continue
        match = _TOOL_LINE.fullmatch(token.content.strip())
        bare = token.content.strip("`*_ ")
        if match is not None and match["name"] in tool_names:
            phrases.setdefault(match["name"], " ".join(match["phrase"].split()))
        elif match is not None and match["code"] and is_own:
            unknown.append(match["name"])
        elif bare not in tool_names:
            continue
        read.update(range(*token.map))
    lines = body.split("\n")
    for start, stop, end in labels:
        if all(number in read or not lines[number].strip() for number in range(stop, end)):
            read.update(range(start, stop))  # "**Project tools:**" without any item left
    rest = _unread(body, read)
    kinds = {token.type for token in _MARKDOWN.parse(rest)}
    has_list = bool(kinds & {"list_item_open", "fence", "code_block"}) or any("|" in line for line in rest.split("\n"))
    return ToolLines(phrases=phrases, unknown=tuple(unknown), rest=rest, has_list=has_list)


def tool_chapters(body: str, tool_names: Collection[str]) -> tuple[dict[str, str], str]:
    """Returns what a tool reference says below the heading of each of these tools, and the rest of it."""
    found: dict[str, str] = {}
    lines = body.split("\n")
    headings = [
        (start, end, int(tag[1:]), _tool_named(title, tool_names))
        for start, end, title, tag in _headings(_MARKDOWN.parse(body), ("h3", "h4", "h5", "h6"))
    ]
    read: set[int] = set()
    for index, (start, end, level, name) in enumerate(headings):
        if name is None:
            continue
        stops = (later[0] for later in headings[index + 1 :] if later[3] is not None or later[2] <= level)
        stop = next(stops, len(lines))
        chapter = "\n".join(lines[end:stop]).strip()
        found[name] = f"{found[name]}\n\n{chapter}".strip() if name in found else chapter
        read.update(range(start, stop))
    return found, _unread(body, read)


def _tool_named(title: str, tool_names: Collection[str]) -> str | None:
    """Returns the tool that a heading is about: `create`, `create(name)`, `1. create — Makes one`."""
    bare = title.strip("`* ")
    if bare in tool_names:
        return bare
    match = _TOOL_HEADING.match(title)
    is_alone = match is not None and not title[match.end() :].strip("`*_ ")[:1].isalnum()
    return match["name"] if match is not None and is_alone and match["name"] in tool_names else None


def labelled_parts(chapter: str) -> list[Chapter]:
    """Returns the parts of a tool's chapter by their labels, `**Parameters:**` or a small heading.

    What is before the first label has an empty title.
    """
    parts = [Chapter(title="", body="")]
    is_code = False
    for line in chapter.split("\n"):
        match = None if is_code else _LABEL.fullmatch(line)
        is_code ^= _FENCE.match(line) is not None
        if match is not None:
            title = match["heading"] or match["bold"] or match["plain"]
            parts.append(Chapter(title=title.strip("`*_:# "), body=match["text"]))
        else:
            parts[-1] = replace(parts[-1], body=f"{parts[-1].body}\n{line}")
    return [replace(part, body=part.body.strip("\n")) for part in parts if part.title or part.body.strip()]


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
