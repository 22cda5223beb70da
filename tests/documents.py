"""Reads generated documents as a reader sees them: with markdown-it, and with nothing of skillgen's own.

A heading's text is what a renderer shows; anchors follow GitHub's rule, written here from its description (lower case,
everything but word characters, hyphens and spaces removed, spaces to hyphens, `-1`, `-2`, … for repetitions).
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

_OPTIONS = json.loads((Path(__file__).parent.parent / "docs" / "skillgen.schema.json").read_text("utf-8"))
FORMATS: tuple[str, ...] = tuple(_OPTIONS["$defs"]["Target"]["properties"]["emit"]["items"]["enum"])
"""Every output format."""

PARSER = MarkdownIt("commonmark").enable("table")
TOKEN_BYTES = 4

SECTIONS_OF_AI_HELP = (
    *("When to Use", "Overview", "Setup/Prerequisites", "Quick Reference", "Command Reference"),
    *("Input Specification", "Output Formats", "Examples", "Authentication and Prerequisites"),
    "Rate Limits and Performance",
)
"""What the CLI profile of dashdash asks for, in its order (3.4.3)."""


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading."""

    level: int
    text: str
    """What a renderer shows."""
    anchor: str
    line: int
    """Its first line, from 0."""


@dataclass(frozen=True, slots=True)
class Link:
    """One link."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of inline text."""

    kind: str
    """`text` or `code`."""
    text: str


@dataclass(slots=True)
class Item:
    """One item of a list, and the items nested in it."""

    label: str
    """The last paragraph before the list, or the item that holds it."""
    pieces: list[Piece] = field(default_factory=list)
    urls: tuple[str, ...] = ()
    """Where its links lead."""
    children: list[Item] = field(default_factory=list)
    source: str = ""
    """What the file has for the item itself."""

    @property
    def text(self) -> str:
        """What a renderer shows of the item itself."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def name(self) -> str:
        """The code span with which it begins; empty where it does not."""
        return self.pieces[0].text if self.pieces and self.pieces[0].kind == "code" else ""

    @property
    def facts(self) -> tuple[str, ...]:
        """What is in parentheses after the name, part by part: its type, `required`."""
        inside, depth = "", 0
        for piece in self.pieces[1:]:
            for character in piece.text:
                depth -= character == ")"
                if depth == 0 and inside:
                    return tuple(part.strip() for part in inside.split(","))
                inside += character if depth else ""
                depth += character == "("
        return ()

    def codes_after(self, words: str) -> list[list[str]]:
        """Returns the code spans, one comma apart, that follow each place where these words stand."""
        found = []
        for index, piece in enumerate(self.pieces[:-1]):
            if piece.kind == "text" and piece.text.endswith(words):
                codes = [self.pieces[index + 1].text]
                for comma, code in zip(self.pieces[index + 2 :: 2], self.pieces[index + 3 :: 2], strict=False):
                    if comma.text != ", " or code.kind != "code":
                        break
                    codes.append(code.text)
                found.append(codes)
        return found


_NEIGHBOUR = re.compile(r"(`+) ?(.*?) ?\1 \(")


def neighbours(line: str) -> list[str]:
    """Returns the items on a line of a list: several if there is no more to say of them than their facts."""
    found, start = list[str](), 0
    while match := _NEIGHBOUR.match(line, start):
        end, depth = match.end(), 1
        while depth and end < len(line):
            depth += (line[end] == "(") - (line[end] == ")")
            end += 1
        found.append(line[start:end])
        if end == len(line):
            return found
        if not line.startswith(", ", end):
            break
        start = end + 2
    return [line]


def items_apart(text: str) -> str:
    """Returns a text in which each item of a list has a line of its own."""
    return re.sub(r"(?m)^( *- )(.*)$", lambda line: "\n".join(line[1] + item for item in neighbours(line[2])), text)


ABOVE = "What sections only name:"
"""The line before the items that sections of a page name."""

_NAMED_ABOVE = re.compile(r"Also, above: (.*)")


def named_above(line: str) -> list[str]:
    """Returns the names of the items that a line of a list says are above."""
    match = _NAMED_ABOVE.fullmatch(line)
    return [name for _, name in re.findall(r"(`+) ?([^`]+?) ?\1", match[1])] if match else []


@dataclass(frozen=True, slots=True)
class Section:
    """What is below a heading, down to the next one of its level or above."""

    heading: Heading
    text: str
    items: tuple[Item, ...]

    def item(self, name: str, label: str = "") -> Item:
        """Returns the one item that begins with a name, in the list below a label."""
        (found,) = (item for item in self.items if item.name == name and item.label.startswith(label))
        return found


class MarkdownDocument:
    """One parsed document."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.front_matter, body = _split(text)
        self._lines = body.split("\n")
        self.tokens = PARSER.parse(body)
        self.headings = tuple(_headings(self.tokens))
        self.links = tuple(_links(self.tokens))
        self.anchors = {heading.anchor for heading in self.headings}

    def fields(self) -> dict[str, Any]:
        """Returns the front matter's fields."""
        assert self.front_matter is not None
        fields: dict[str, Any] = yaml.safe_load(self.front_matter)
        return fields

    def sections(self, level: int) -> Iterator[Section]:
        """Yields the sections of one level."""
        for index, heading in enumerate(self.headings):
            if heading.level == level:
                after = (item.line for item in self.headings[index + 1 :] if item.level <= level)
                end = next(after, len(self._lines))
                inside = [token for token in self.tokens if token.map and heading.line < token.map[0] < end]
                yield Section(
                    heading=heading,
                    text="\n".join(self._lines[heading.line + 1 : end]).strip(),
                    items=tuple(_items(self.tokens, heading.line, end)) if inside else (),
                )

    @property
    def above(self) -> tuple[Item, ...]:
        """The items that sections name and that are above them."""
        return tuple(item for item in _items(self.tokens, -1, len(self._lines)) if item.label == ABOVE)

    def section(self, title: str) -> Section:
        """Returns the one section with this heading."""
        (found,) = (
            section
            for level in sorted({heading.level for heading in self.headings})
            for section in self.sections(level)
            if section.heading.text == title
        )
        return found


def skill_in(out: Path) -> str:
    """Returns the text of the one SKILL.md of a folder."""
    (path,) = out.glob("skills/*/SKILL.md")
    return path.read_text("utf-8")


@lru_cache(512)
def document_at(path: Path) -> MarkdownDocument:
    """Reads a file once for all tests; for output that no test changes."""
    return MarkdownDocument(path.read_text("utf-8"))


def with_above(path: Path, items: Iterable[Item]) -> Iterator[Item]:
    """Yields items with those above the sections in place of the lines that name them."""
    above = {item.name: item for item in document_at(path).above}
    for item in items:
        names = named_above(item.source)
        yield from (replace(above[name], label=item.label) for name in names)
        if not names:
            yield item


def shown(token: Token) -> str:
    """Returns what a renderer shows of an inline token."""
    return "".join(piece.text for piece in pieces_of(token))


def pieces_of(token: Token) -> list[Piece]:
    """Returns the text and the code spans of an inline token, in their order."""
    found: list[Piece] = []
    for child in token.children or ():
        if child.type == "code_inline":
            found.append(Piece("code", child.content))
        elif child.type in ("softbreak", "hardbreak"):
            found.append(Piece("text", " "))
        elif child.type in ("text", "text_special", "html_inline", "image"):
            found.append(Piece("text", child.content))
    joined: list[Piece] = []
    for piece in found:
        if joined and piece.kind == joined[-1].kind == "text":
            joined[-1] = Piece("text", joined[-1].text + piece.text)
        else:
            joined.append(piece)
    return joined


def broken_links(folder: Path) -> list[str]:
    """Returns the relative links of every document below a folder whose file or anchor is not there."""
    broken = []
    for path in sorted([*folder.rglob("*.md"), *folder.rglob("*.txt")]):
        for link in document_at(path).links:
            parts = urlsplit(link.url)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = target.is_file() and target.is_relative_to(folder.resolve())
            if not known or (parts.fragment and unquote(parts.fragment) not in document_at(target).anchors):
                broken.append(f"{path.relative_to(folder)}: {link.url}")
    return broken


def tokens(text: str) -> int:
    """Counts tokens as the design does: UTF-8 bytes / 4, rounded up."""
    return -int(-len(text.encode("utf-8")) // TOKEN_BYTES)


def _split(text: str) -> tuple[str | None, str]:
    """Parts front matter from the rest, whose lines keep their numbers."""
    if match := re.match(r"---\n(.*?\n)---\n", text, re.DOTALL):
        return match[1], "\n" * match[0].count("\n") + text[match.end() :]
    return None, text


def _headings(parsed: list[Token]) -> Iterator[Heading]:
    counts: dict[str, int] = {}
    for opening, inline in itertools.pairwise(parsed):
        if opening.type == "heading_open" and opening.map is not None:
            text = shown(inline)
            base = anchor = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
            while anchor in counts:
                counts[base] += 1
                anchor = f"{base}-{counts[base]}"
            counts[anchor] = 0
            yield Heading(int(opening.tag[1:]), text, anchor, opening.map[0])


def _links(parsed: list[Token]) -> Iterator[Link]:
    for token in parsed:
        children = token.children or []
        for index, child in enumerate(children):
            if child.type == "link_open":
                label = ""
                for inner in children[index + 1 :]:
                    if inner.type == "link_close":
                        break
                    label += inner.content
                yield Link(label, str(child.attrs["href"]))


def _separate(item: Item) -> Iterator[Item]:
    """Yields the items that share a line."""
    parts = neighbours(item.source)
    if len(parts) == 1:
        yield item
        return
    for part in parts:
        (token,) = PARSER.parseInline(part)
        urls = tuple(link.url for link in _links([token]))
        yield Item(item.label, pieces_of(token), urls, source=part)


def _items(parsed: list[Token], start: int, end: int) -> Iterator[Item]:
    """Yields the outermost items between two lines, each with those nested in it."""
    label, open_items = "", list[Item]()
    for token in parsed:
        if token.map is not None and not start < token.map[0] < end:
            continue
        if token.type == "list_item_open":
            open_items.append(Item(label=open_items[-1].text if open_items else label))
        elif token.type == "list_item_close" and open_items:
            done = list(_separate(open_items.pop()))
            if open_items:
                open_items[-1].children += done
            else:
                yield from done
        elif token.type == "inline":
            if not open_items:
                label = shown(token)
            elif not open_items[-1].pieces:
                open_items[-1].pieces = pieces_of(token)
                open_items[-1].urls = tuple(link.url for link in _links([token]))
                open_items[-1].source = token.content
