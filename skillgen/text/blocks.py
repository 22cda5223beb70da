"""Makes a longer text safe as Markdown blocks: parsed once, as CommonMark defines it, and written once.

Paragraphs, lists, quotes and code blocks are what they were. Headings become bold, tables become lists of items that
name their columns, indented code becomes fenced, and thematic breaks go, because a parser may find more in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from textwrap import dedent, indent
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from skillgen.text import lazy_re as re
from skillgen.text.html import html_to_markdown, row_words
from skillgen.text.markdown import ADMONITION, Markdown, fence, safe_paragraph, safe_start, safe_words
from skillgen.text.unicode import strip_invisible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_STRUCTURE = re.compile(r"\n(?:[ \t]+\S|[-+>#|=~:&!$]|[*`\[](?!\*{0,2}\w)|\?\?\?|///|\.\. |\d{1,9}[.)]|\n\n)")
"""What only the parser reads, as are tabs and spaces at the end of a line. A text without it is paragraphs."""

_TOO_DEEP = re.compile(r"\n(?:[ \t]{200}|[ \t]*(?:>[ \t]*|(?:[-+*]|\d{1,9}[.)])[ \t]+){40})")
_MAX_DEPTH = 100
_MAX_LENGTH = 200_000

_ITEM = re.compile(r"\s*(?:[-+*]|\d{1,9}[.)])\s")
_CONTINUED = re.compile(
    r"(?=([ \t]*(?:(?:>|[-+*]|\d{1,9}[.)])[ \t]+)*))\1"
    rf"(?:{ADMONITION}|(?<=[ \t])$|#|[-:|+=\s]+$|[:~](?:[:\s`]|$)|\+[-=:]|\*\[|~~~|```)"
)
"""A line of a paragraph at which another parser, or the same one in another place, would begin a block."""

_EXAMPLES = re.compile(r"^(examples?:)\n(?=    (?!\s|[-*+] |\d+[.)] ))", re.IGNORECASE | re.MULTILINE)
"""A title of a docstring with the code below it."""

_DIRECTIVE = re.compile(
    r"^( *)\.\. (?:source)?code(?:-block)?::[ ]*([\w+-]*)[ ]*\n(?:\1[ ]+:.*\n)*"
    r"((?:[ ]*\n)*\1[ ]+\S.*(?:\n(?:\1[ ]+\S.*|[ ]*$))*)",
    re.MULTILINE,
)
"""A block of code in reStructuredText."""

_SHELL = re.compile(r"^((?P<margin>[ \t]*)\$ [A-Za-z./~].*(?:\n(?P=margin).*)*)", re.MULTILINE)
"""Calls in a shell, each behind a prompt, up to the end of the paragraph or to a line with less indentation."""

_RULE = re.compile(r"(?:[-*_=]\s*)*$")


@lru_cache(256)  # operations with the same description are near to one another
def block(text: str) -> Markdown:
    """Makes a longer text safe as blocks: its paragraphs, lists, quotes and code blocks are kept."""
    text = html_to_markdown(strip_invisible(text).strip("\n"))
    if "\t" not in text and " \n" not in text and not _STRUCTURE.search(f"\n{text}"):
        return Markdown("\n\n".join(map(safe_paragraph, text.strip().split("\n\n"))))
    if len(text) > _MAX_LENGTH or _TOO_DEEP.search(f"\n{text}"):
        return fence(text)
    text = dedent_docstring(text.expandtabs(4))
    text = _DIRECTIVE.sub(_as_fence, text) if "::" in text else text
    lines = _EXAMPLES.sub(r"\1\n\n", text).split("\n")
    tokens = _parser().parse("\n".join(lines))
    if any(token.level >= _MAX_DEPTH - 2 for token in tokens):
        return fence(text)
    return Markdown("\n".join(_Writer(lines).written(tokens)).strip("\n"))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    rules = ["reference", "html_block", "inline"]
    return MarkdownIt("commonmark", {"maxNesting": _MAX_DEPTH}).enable("table").disable(rules)


def dedent_docstring(text: str) -> str:
    """Removes the common indentation of all lines but the first, as in docstrings.

    Where the first is indented, too, or a docstring ends with its indentation, lines with less are what a program put
    into a text of its own.
    """
    lines = text.split("\n")
    indents = [len(line) - len(line.lstrip(" ")) for line in lines]
    rest = [depth for depth, line in zip(indents[1:], lines[1:], strict=True) if line.strip()]
    last = len(lines[-1]) if not lines[-1].strip() and len(lines[-1]) in rest else 0
    common = indents[0] if _ITEM.match(lines[0]) else max(min(rest, default=0), indents[0], last)
    indents[0] = min(indents[0], common)
    return "\n".join(line[min(common, depth) :] for line, depth in zip(lines, indents, strict=True))


def _as_fence(directive: re.Match[str]) -> str:
    margin, language, code = directive.groups()
    return f"{margin}```{language}\n{indent(dedent(code).strip(chr(10)), margin)}\n{margin}```\n"


class Leaf(Struct, frozen=True):
    """A heading, a paragraph, the first paragraph of an item, or a block without prose."""

    kind: Literal["heading", "text", "item", "other"]
    first: int
    """The number of its first line."""

    end: int
    """The number of the line after it."""

    words: str = ""
    """Its lines without marks of items, quotes and headings."""

    level: int = 0
    """That of a heading."""


def outline(text: str) -> list[Leaf]:
    """Returns the leaf blocks of a text in order; a heading in an item or a quote is a paragraph."""
    if len(text) > _MAX_LENGTH or _TOO_DEEP.search(f"\n{text}"):
        return [Leaf("other", 0, text.count("\n") + 1)]
    leaves = []
    tokens = _parser().parse(text)
    for owner, token, inner in zip([None, *tokens], tokens, [*tokens[1:], *tokens[:1]], strict=False):
        first, end = token.map or (0, 0)
        if token.type in ("fence", "code_block", "table_open", "hr"):
            leaves.append(Leaf("other", first, end))
        elif token.type == "heading_open" and token.level == 0:
            leaves.append(Leaf("heading", first, end, inner.content, int(token.tag[1])))
        elif token.type in ("paragraph_open", "heading_open"):
            is_item = owner is not None and owner.type == "list_item_open"
            leaves.append(Leaf("item" if is_item else "text", first, end, inner.content))
    return leaves


class _Writer(Struct):
    """Writes the blocks of a text, line by line."""

    source: list[str]
    lines: list[str] = field(default_factory=list)
    begin: str = ""
    """What precedes the next line: the marks of the items and quotes that begin there."""

    rest: str = ""
    """What precedes each further line in them."""

    open: list[str] = field(default_factory=list)
    """What each open item or quote adds to `rest`."""

    end: int = 0
    """The line of the source at which the last block ends."""

    is_apart: bool = False
    """Whether a blank line must follow."""

    def written(self, tokens: list[Token]) -> list[str]:
        """Returns the lines."""
        table: list[list[str]] | None = None
        kind = ""
        for token in tokens:
            if token.type == "blockquote_open":
                self.is_apart = self.is_apart or not self.open or self.begin == self.rest
                self._enter("> ", "> ")
            elif token.type == "list_item_open":
                margin = ""
                if not self.open:  # a list that is meant to be nested, but is not, looks nested
                    line = self.source[(token.map or [0])[0]]
                    margin = line[: len(line) - len(line.lstrip(" "))][:3]
                mark = f"{margin}{token.info}{token.markup if token.info else '-'} "
                self._enter(mark, " " * len(mark))
                if kind == "list_item_close":  # no blank line between items
                    self.end = max(self.end, (token.map or [0])[0])
            elif token.type in ("blockquote_close", "list_item_close"):
                self.rest = self.begin = self.rest[: len(self.rest) - len(self.open.pop())]
                self.is_apart = self.is_apart or token.type == "blockquote_close"
            elif token.type in ("fence", "code_block"):
                language = token.info.strip().split(" ")[0] if token.info else "text"
                code = fence(token.content.rstrip("\n"), language) if token.content.strip() else ""
                self._write(code.split("\n"), token, is_apart=True)
            elif token.type == "table_open":
                table = []
            elif token.type == "tr_open" and table is not None:
                table.append([])
            elif token.type == "table_close" and table is not None:
                self._write(list(_items(table)), token, is_apart=True)
                table = None
            elif token.type == "inline" and table is not None:
                table[-1].append(token.content)
            elif token.type == "inline":
                is_heading = kind == "heading_open"
                for number, part in enumerate(_SHELL.split(token.content)):
                    if number % 3 == 1:
                        self._write(fence(dedent(part), "console").split("\n"), token, is_apart=True)
                    elif number % 3 == 0:
                        lines = [_heading(part)] if is_heading else _paragraph_lines(part.strip(), bool(self.open))
                        self._write(lines, token, is_apart=is_heading)
            kind = token.type if "bullet_list" not in token.type else kind
        return self.lines

    def _enter(self, mark: str, rest: str) -> None:
        self.begin += mark
        self.rest += rest
        self.open.append(rest)

    def _write(self, lines: list[str], token: Token, is_apart: bool = False) -> None:
        start, end = token.map or (self.end, self.end)
        if not any(lines):
            self.is_apart = True
            return
        if self.lines and (is_apart or self.is_apart or start > self.end) and self.lines[-1].strip("> "):
            self.lines.append(self._common().rstrip())
        for line in lines:
            self.lines.append((self.begin + line).rstrip())
            self.begin = self.rest
        self.end, self.is_apart = end, is_apart

    def _common(self) -> str:
        """Returns what a blank line needs, so that a quote that goes on stays one."""
        last = self.lines[-1]
        return self.rest if self.begin == self.rest and last.startswith(self.rest.rstrip()) else ""


def _paragraph_lines(content: str, is_nested: bool) -> list[str]:
    """Returns the lines of a paragraph; one that another parser would take for a block goes on the line before."""
    lines: list[str] = []
    for line in safe_paragraph(content).split("\n"):
        if lines and _CONTINUED.match(line):
            lines[-1] = f"{lines[-1].rstrip()} {line.strip()}"
        else:
            lines.append(line.strip() if is_nested else line.rstrip())
    return safe_start("\n".join(lines)).split("\n")


def _heading(title: str) -> str:
    words = safe_words(" ".join(title.split()))
    return "" if _RULE.match(words) else f"**{words}**" if "*" not in words else safe_start(words)


def _items(rows: list[list[str]]) -> Iterator[str]:
    """Yields the rows of a table as items that name their columns."""
    head, *rest = rows
    for row in rest or [head]:
        if words := row_words(head if rest else (), row):
            yield f"- {safe_words(words)}"
