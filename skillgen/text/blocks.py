"""Makes a longer text safe as Markdown blocks, in the style of this project.

Paragraphs, lists, quotes and code blocks are kept, as CommonMark defines them. Common deviations are read as meant: a
list indented by two columns is nested, and the `Args:` of a docstring is a list of arguments. A table becomes a list of
items that name its columns. Nothing opens a heading, HTML or a link, and every block is closed at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import zip_longest

from msgspec import Struct, field

from skillgen.text import lazy_re as re
from skillgen.text.html import html_to_markdown
from skillgen.text.markdown import ALERT, EMPHASIS, Markdown, disarm, escape_inline, escape_line_start, fence
from skillgen.text.unicode import strip_invisible

_SPECIAL_CHARACTER = re.compile(r"[`<\[\]\\$!|#>=~\t{@]")
_SPECIAL_START = re.compile(r"[\s+:-]|\*\s")
_SPECIAL = re.compile(
    r"[:wW\n*_+\d.)-](?:(?<=:)//|(?<=[wW])[wW]\.|(?<=\n)(?:[ +:-]|\*\s|\s*\n\s*\n|\s*-{2}|\s*-\s*(?:\n|$))|(?<=[ ]\n)"
    r"|(?<=[*_-])\s?(?:[*_-]\s?){2}|(?<=[-+*\d.)])\s+[-+*\d#]|(?<=[-.)])[ ]{5})"
)
"""`re` skips to the set in front."""
_BROKEN_LINK = re.compile(r"\[[^\[\]]{0,300}\n[^\[\]]{0,300}\]\([^()\s]*\)")
_FENCE = re.compile(r"(?P<mark>`{3,}|~{3,})\s*(?P<language>[A-Za-z0-9_+#.-]*)")
_ITEM = re.compile(r"(?P<mark>[-+*]|\d{1,9}[.)])\s+(?=\S)")
_ARGUMENT = re.compile(r"[\w*`][\w.*`-]{0,60}(?:\s?\([^()]{0,80}\))?:\s+(?=\S)")
"""The start of an argument in a docstring: `name: …`, `name (type): …`."""

_RULE_OR_UNDERLINE = re.compile(r"(?:=+|-+|(?:[-*_]\s*){3,})$")
_MARKS = re.compile(r"[-*_=\s]*$")
"""A heading without words."""

_UNDERLINE = re.compile(r"(?:={3,}|-{3,})$")
_TABLE_RULE = frozenset("|:- ")
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")
_HEADING = re.compile(r"#{1,6}(?=\s|$)")
_CODE = re.compile(r"[{}<$@/|\[\"#]|curl\s|.*[{;\\(]$")
"""The start or end of an indented line that is code; docstrings indent prose, too."""

_CODE_LINE = re.compile(r"(?:#|//|\$|>>>)\s|[\w.\[\]]{1,60}\s?=\s|[})\]]+[,;]?$|.*[{;\\]$")
"""A line that only code has, anywhere in an indented block."""

_OBJECT = re.compile(r"^(?P<indent> *)\{\n(?:[^\n]*\n){1,60}?(?P=indent)\}[,;]?$", re.MULTILINE)
"""An object on lines of its own, which no prose is."""

_NESTED_COLUMNS = 2
"""Minimum columns from the marker of an item to a line that belongs to it."""

_CODE_INDENT = 4


@lru_cache(256)  # operations with the same description are near to one another
def block(text: str) -> Markdown:
    """Makes a longer text safe as blocks: its paragraphs, lists, quotes and code blocks are kept.

    Headings become bold paragraphs, thematic breaks are dropped, and an open code block is closed.
    """
    text = html_to_markdown(strip_invisible(text).strip("\n"))
    text = _BROKEN_LINK.sub(lambda match: match[0].replace("\n", " "), text)
    if "`" in text and "\n" in text:
        text = _join_split_code_spans(text)
    if "{\n" in text and "```" not in text and "~~~" not in text:
        text = _OBJECT.sub(_fenced_object, text)
    is_special = _SPECIAL_CHARACTER.search(text) or _SPECIAL_START.match(text) or _SPECIAL.search(text)
    if not (is_special or EMPHASIS.search(text)):
        return Markdown(text.strip())
    return Markdown(disarm(_BlockWriter().to_safe_text(_dedent(text.expandtabs(4)))))


def _fenced_object(match: re.Match[str]) -> str:
    indent = match["indent"]
    return f"\n{indent}```text\n{match[0]}\n{indent}```\n"


def _join_split_code_spans(text: str) -> str:
    """Joins lines of a paragraph that share a code span."""
    lines: list[str] = []
    fence_mark, is_open = "", False
    for line in text.split("\n"):
        body = line.strip()
        if mark := _FENCE.match(body):
            fence_mark = "" if fence_mark and body.startswith(fence_mark) else fence_mark or mark["mark"]
            is_open = False
        elif is_open and not fence_mark and body and body.count("`") & 1 and not _opens_block(body):
            lines[-1] = f"{lines[-1].rstrip()} {body}"
            is_open = False
            continue
        else:
            is_open = not fence_mark and "``" not in body and body.count("`") & 1 == 1
        lines.append(line)
    return "\n".join(lines)


def _opens_block(body: str) -> bool:
    """True if a line ends the paragraph above it."""
    return body[0] in ">|#" or "``" in body or _ITEM.match(body) is not None or bool(_RULE_OR_UNDERLINE.match(body))


def _dedent(text: str) -> str:
    """Removes the common indentation of all lines but the first, as in docstrings.

    Where the first is indented, too, lines with less are what a program put into a text of its own.
    """
    first, *rest = text.split("\n")
    if _ITEM.match(first.lstrip()):
        return text  # what is indented belongs to that item
    common = min((len(line) - len(line.lstrip(" ")) for line in rest if line.strip()), default=0)
    common = max(common, len(first) - len(first.lstrip(" ")))
    return "\n".join([first.lstrip(" "), *(line[min(common, len(line) - len(line.lstrip(" "))) :] for line in rest)])


class _Item(Struct, frozen=True):
    """A list item that may continue."""

    mark: int
    """The column of its marker in the source."""

    text: int
    """The column of its text in the output."""


class _BlockWriter(Struct):
    """Rewrites a longer text line by line."""

    lines: list[str] = field(default_factory=list)
    items: list[_Item] = field(default_factory=list)
    """The open items, from the outermost to that of the last line."""

    paragraph: int = 0
    """The number of lines of the open paragraph; 0 if none is open."""

    is_quote: bool = False
    """Whether the last line belongs to a quote."""

    label: int | None = None
    """The column of the last line, if it ends with a colon."""

    arguments: int | None = None
    """The column of the arguments in a docstring."""

    head: str | None = None
    """The last line of the source, if it may be the head of a table."""

    columns: tuple[str, ...] | None = None
    """The column names of a table, below its head."""

    opening: re.Match[str] | None = None
    """The fence that opened the current code block."""

    indented_code: frozenset[int] = frozenset()
    """The numbers of the lines at which an indented code block begins."""

    number: int = 0
    code: list[str] | None = None
    """The lines of the current code block; `None` outside of one."""

    code_column: int = 0
    """The column in the source at which its lines begin."""

    def to_safe_text(self, text: str) -> str:
        """Returns the safe text."""
        lines = text.split("\n")
        self.indented_code = frozenset(_starts_of_indented_code(lines))
        for self.number, line in enumerate(lines):
            body = line.strip()
            width = len(line) - len(line.lstrip(" "))
            if self.code is None:
                self._prose_line(body, width)
            elif not self._close_code(body, width):
                self.code.append(line.rstrip())
        self._end_code()
        self._blank()
        return "\n".join(self.lines).strip("\n")

    def _close_code(self, body: str, width: int) -> bool:
        """Closes the code block if this line ends it; returns whether the line was consumed."""
        if self.opening is not None:
            mark = self.opening["mark"]
            if body[:1] != mark[0] or set(body) != {mark[0]} or len(body) < len(mark):
                return False
            self._end_code()
            return True
        if not body or width >= self.code_column:
            return False
        self._end_code()
        self._prose_line(body, width)
        return True

    def _end_code(self) -> None:
        if self.code is None:
            return
        column = self.code_column
        code = "\n".join(line[min(column, len(line) - len(line.lstrip(" "))) :] for line in self.code)
        language = self.opening["language"] if self.opening is not None else ""
        self.opening = self.code = None
        self._blank()
        indent = " " * self._column()
        written = fence(code, language or "text")
        self.lines += [(indent + line).rstrip() for line in written.split("\n")]
        self._blank()

    def _blank(self) -> None:
        """Ends the open paragraph."""
        while self.is_quote and self.lines and self.lines[-1].lstrip() == ">":
            self.lines.pop()
        if self.lines and self.lines[-1]:
            self.lines.append("")
        self.paragraph, self.is_quote, self.label, self.head, self.columns = 0, False, None, None, None

    def _column(self) -> int:
        return self.items[-1].text if self.items else 0

    def _close_items(self, width: int) -> None:
        """Closes the items to which a line of this indentation does not belong."""
        while self.items and width < self.items[-1].mark + _NESTED_COLUMNS:
            self.items.pop()

    def _prose_line(self, body: str, width: int) -> None:
        if not body:
            self._blank()
        elif self.columns is not None and "|" in body:
            self._row(self.columns, _cells(body))
        elif self.head is not None and "|" in body and "-" in body and _TABLE_RULE.issuperset(body):
            self._table(_cells(self.head))
        elif (opening := _FENCE.match(body)) and (body[0] == "~" or "`" not in body[opening.end("mark") :]):
            self._close_items(width)
            self.opening, self.code, self.code_column = opening, [], width
        elif self._is_indented_code(body, width):
            self._close_items(width)
            self.code, self.code_column = [" " * width + body], width
        elif _RULE_OR_UNDERLINE.match(body):
            self._rule(body)
        elif (item := _ITEM.match(body)) and self._may_start_item(item["mark"], width):
            self._item(item["mark"], body[item.end() :], width)
        elif body[0] == ">":
            self._quote(body, width)
        elif heading := _HEADING.match(body):
            self._heading(body[heading.end() :].strip().rstrip("#").rstrip(), width)
        elif self._is_argument(body, width):
            self.arguments = width
            self._item("-", body, width)
        else:
            self._words(body, width)

    def _is_indented_code(self, body: str, width: int) -> bool:
        if self.paragraph or width < _CODE_INDENT + self._column():
            return False
        if self.number not in self.indented_code and not _CODE.match(body):
            return False
        return not self.items or width >= self.items[-1].mark + _NESTED_COLUMNS + _CODE_INDENT

    def _may_start_item(self, mark: str, width: int) -> bool:
        """True if an item begins here: inside a paragraph, a number other than one is text."""
        if not self.paragraph or not mark[0].isdigit() or int(mark[:-1]) == 1:
            return True
        if self.items and width < self.items[-1].mark + _NESTED_COLUMNS:
            return True
        if self.label is None:
            return False
        self._blank()
        return True

    def _is_argument(self, body: str, width: int) -> bool:
        """True if a docstring describes an argument here."""
        is_first = self.label is not None and width >= self.label + _NESTED_COLUMNS
        return (is_first or self.arguments == width) and bool(_ARGUMENT.match(body))

    def _rule(self, body: str) -> None:
        """Drops a thematic break; an underlined paragraph becomes a heading."""
        words = self.lines[-1].strip() if self.lines else ""
        if self.paragraph == 1 and not self.is_quote and not self.items and _UNDERLINE.match(body) and "*" not in words:
            self.lines[-1] = f"**{words}**"
        self._blank()

    def _table(self, columns: tuple[str, ...]) -> None:
        """Begins a table, the rows of which become items."""
        self.lines.pop()
        self._blank()
        self.columns = columns

    def _row(self, columns: tuple[str, ...], cells: tuple[str, ...]) -> None:
        named = zip_longest(columns, cells, fillvalue="")
        safe = _safe("; ".join(f"{column}: {cell}" if column else cell for column, cell in named if cell))
        if safe:
            self.lines.append(f"{' ' * self._column()}- {safe}")

    def _item(self, mark: str, words: str, width: int) -> None:
        self._close_items(width)
        safe = _safe(words)
        if not safe:
            self._blank()
            return
        self.head = self.columns = None
        mark = mark if mark[0].isdigit() else "-"
        column = self._column()
        self.lines.append(f"{' ' * column}{mark} {safe}")
        self.items.append(_Item(width, column + len(mark) + 1))
        self.paragraph, self.is_quote = 1, False
        self.label = width if words.endswith(":") else None

    def _quote(self, body: str, width: int) -> None:
        if not self.is_quote:
            self._close_items(width)
        words = body.lstrip("> ")
        if alert := ALERT.match(words):
            words = f"**{alert[1].capitalize()}:**{words[alert.end() :]}"
        safe = _safe(words)
        if not safe and not self.is_quote:
            self._blank()
            return
        self.lines.append(f"{' ' * self._column()}> {safe}".rstrip())
        self.paragraph, self.is_quote, self.label = int(bool(safe)), True, None

    def _heading(self, title: str, width: int) -> None:
        words = escape_inline(title)
        self._blank()
        self._close_items(width)
        if not _MARKS.match(words):
            shown = f"**{words}**" if "*" not in words else escape_line_start(words)
            self.lines.append(" " * self._column() + shown)
            self._blank()

    def _words(self, body: str, width: int) -> None:
        """Writes a line that continues a paragraph or begins one."""
        if self.columns is not None or (self.arguments is not None and width < self.arguments):
            self.arguments = None
            self._blank()
        if not self.paragraph:
            self._close_items(width)
        safe = _safe(body)
        if not safe:
            self._blank()
            return
        self.lines.append(" " * self._column() + safe)
        self.paragraph += 1
        self.label = width if body.endswith(":") else None
        self.head = body if "|" in body and not self.is_quote else None


def _starts_of_indented_code(lines: list[str]) -> Iterator[int]:
    """Yields where an indented block with a line of code begins, after a blank line."""
    start, width, was_blank = -1, 0, True
    for number, line in enumerate(lines):
        body = line.lstrip(" ")
        if not body:
            was_blank = True
            continue
        indent = len(line) - len(body)
        if was_blank and indent >= _CODE_INDENT and (start < 0 or indent < width):
            start, width = number, indent
        elif indent < width:
            start, width = -1, 0
        if start >= 0 and _CODE_LINE.match(body):
            yield start
        was_blank = False


def _cells(row: str) -> tuple[str, ...]:
    """Returns the cells of a table row."""
    inside = row.strip().removeprefix("|")
    cells = _BETWEEN_CELLS.split(inside[:-1] if inside.endswith("|") and not inside.endswith("\\|") else inside)
    return tuple(cell.strip().replace("\\|", "|") for cell in cells)


def _safe(body: str) -> str:
    """Returns the text of a line, escaped so that nothing opens a block; empty for a thematic break or a table rule."""
    if heading := _HEADING.match(body):
        words = escape_inline(body[heading.end() :].strip().rstrip("#").rstrip())
        if _MARKS.match(words):
            return ""
        return f"**{words}**" if "*" not in words else escape_line_start(words)
    words = escape_inline(body)
    if "-" in words and _TABLE_RULE.issuperset(words):
        return ""
    return "" if _RULE_OR_UNDERLINE.match(words) else escape_line_start(words)
