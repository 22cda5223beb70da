"""Gives a text that is written in HTML as Markdown: paragraphs, lists, tables, headings, code.

What comes out is as untrusted as what went in: `blocks` makes it safe. Tags that prose only speaks of (`<h1>` that
nothing ends) stay, and so does everything inside of Markdown's own code.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from itertools import zip_longest

DEPTH_LIMIT = 8
"""How deep lists are nested."""

_MARKUP = re.compile(r"</(?:p|ul|ol|li|div|h[1-6]|pre|table|td|th|dl|dd|body|fullname)\s*>|<p>", re.IGNORECASE)
"""What only a text that is written in HTML holds."""

_BREAK_TAGS = re.compile(r"(?:<br\s?/?>\s?)+(?P<item>(?=[-*•] \S))?", re.IGNORECASE)
"""Tags that separate lines, and whether the mark of a list item follows."""

_TOKEN = re.compile(
    r"(?P<kept>^[ ]{0,3}(?P<mark>`{3,}(?!`)|~{3,}(?!~))[^\n]*\n.*?(?:^[ ]{0,3}(?P=mark)[`~]*[ ]*$|\Z)"
    r"|(?<!`)(?P<ticks>`+)(?!`)[^`\n]{1,500}(?<!`)(?P=ticks)(?!`))"
    r"|<(?:pre|PRE)(?:\s[^<>]{0,300})?>(?P<pre>.*?)(?:</(?:pre|PRE)\s*>|\Z)"
    r"|<(?:code|tt|kbd|samp|CODE|TT)>(?P<code>[^`]{1,500}?)</(?:code|tt|kbd|samp|CODE|TT)>"
    r"|(?<!\w)<(?P<strong>b|strong|B|STRONG)>\s*(?P<words>[^<>*\s](?:[^<>*\n]{0,198}[^<>*\s])?)\s*</(?P=strong)>(?!\w)"
    r"|<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9]{0,20})(?:\s[^<>]{0,300})?/?>",
    re.DOTALL | re.MULTILINE,
)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>")
_MARKDOWN = re.compile(r"^\s{0,3}(?:#{1,6}\s|[-*+]\s|\d+\.\s|```|~~~|\|)", re.MULTILINE)
"""What tells that lines mean something beside the tags."""

_BLANKS = re.compile(r"\s+")
_MARK = re.compile(r"\s*(?:(?:-|\d+\.|#|\*\*\w+:\*\*) *)?")
_ITEM = re.compile(r"(?:-|\d+\.) ")

_PARTING = """
    address article aside blockquote body center dd details div dl dt fieldset figure footer head header hr html main
    nav p para remarks section summary tbody tfoot thead
    """
_FORMATTING = """
    abbr b big cite code del em font i ins kbd label mark q s samp small span strike strong sub sup tt u var
    """
_BREAKS = frozenset(_PARTING.split())
_DROPPED = frozenset(_FORMATTING.split())
_TITLES = frozenset({"fullname", "title", "h1", "h2", "h3", "h4", "h5", "h6"})
_NOTICES = frozenset({"note", "important", "caution", "warning", "tip"})


def html_to_markdown(text: str) -> str:
    """Gives a text with its HTML as Markdown; one that holds none as it is."""
    if "<" not in text:
        return text
    text = _BREAK_TAGS.sub(lambda tags: tags[0] if tags["item"] is None else "\n", text)
    if not _MARKUP.search(text):
        return text
    return _Writer(is_html=not _MARKDOWN.search(text), tags=frozenset(_tags_of(text))).written(text)


def _tags_of(text: str) -> list[str]:
    return re.findall(r"</([a-z][a-z0-9]{0,20})\s*>", text.lower())


@dataclass(slots=True)
class _Writer:
    """Writes the pieces of one text."""

    is_html: bool
    """Whether lines mean nothing, as in HTML."""

    tags: frozenset[str]
    """The tags that are ended somewhere."""

    out: list[str] = field(default_factory=list)
    """The lines so far; the last one is open."""

    lists: list[int | None] = field(default_factory=list)
    """The lists that are open, from the outermost: the number of the last item, or `None` where they have none."""

    row: list[str] | None = None
    """The cells of the row of a table that is open."""

    columns: tuple[str, ...] | None = None
    """What heads the columns of the table that is open, until and after it is written."""

    has_rows: bool = False
    """Whether one of its rows is written."""

    is_head: bool = False
    """Whether the row that is open has the heads."""

    def written(self, text: str) -> str:
        """Gives the text as Markdown."""
        self.out.append("")
        end = 0
        for token in _TOKEN.finditer(text):
            self._words(text[end : token.start()])
            end = token.end()
            if token["kept"] is not None:
                self._verbatim(token["kept"])
            elif token["pre"] is not None:
                self._code_block(token["pre"])
            elif token["code"] is not None:
                self._words(_code(token["code"]))
            elif token["words"] is not None:
                self._words(f"**{token['words']}**")
            else:
                self._tag(token["name"], bool(token["end"]), token[0])
        self._words(text[end:])
        self._break()
        return "\n".join(self.out).strip("\n")

    def _words(self, text: str) -> None:
        """Writes words into the open line, or into the open cell."""
        if not self.is_html and self.row is None and not self.lists:
            self._verbatim(text)
            return
        text = _BLANKS.sub(" ", text)
        line = self.out[-1] if self.row is None else "".join(self.row[-1:])
        if not line or line[-1] == " ":
            text = text.lstrip(" ")
        if self.row is None:
            self.out[-1] += text
        elif text:
            self.row[-1:] = [line + text]

    def _verbatim(self, text: str) -> None:
        if self.row is not None:
            self._words(text)
            return
        first, *rest = text.split("\n")
        self.out[-1] += first
        self.out += rest

    def _break(self, blank: bool = True) -> None:
        """Ends the open line; `blank` where a paragraph ends, too."""
        if self.row is not None:
            self._words(" ")
            return
        indent = " " * self._column()
        if _MARK.fullmatch(self.out[-1]):  # an item that has no words yet
            return
        self.out[-1] = self.out[-1].rstrip()
        if self.out[-1]:
            self.out += ["", ""] if blank else [""]
        self.out[-1] = indent

    def _column(self) -> int:
        return sum(2 if number is None else 3 for number in self.lists)

    def _code_block(self, text: str) -> None:
        """Writes a block of code, whose fence the text can't close."""
        code = html.unescape(_TAG.sub("", text)).strip("\n")
        if self.row is not None or not code.strip():
            self._words(code)
            return
        if self.out[-1].strip() and _MARK.fullmatch(self.out[-1]):
            self.out[-1] += "Code:"
        self._break()
        indent = self.out.pop()
        ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
        self.out += [f"{indent}{line}" for line in (ticks, *code.split("\n"), ticks)]
        self.out += ["", indent]

    def _tag(self, name: str, is_end: bool, written: str) -> None:
        name = name if name != name.upper() else name.lower()
        if name in ("ul", "ol"):
            self._list(name, is_end)
        elif name == "li":
            self._item(is_end)
        elif name in ("table", "tr", "td", "th"):
            self._table(name, is_end)
        elif name == "br":
            self._break(blank=False)
        elif name in _BREAKS:
            self._break()
        elif name not in self.tags or name == "a":
            self._words(written)  # nothing ends it, so the text speaks of it; links are reworded where they stand
        elif name in _TITLES or name in _NOTICES:
            self._break()
            if not is_end and self.row is None:
                self.out[-1] += "# " if name in _TITLES else f"**{name.capitalize()}:** "
        elif name not in _DROPPED:
            self._words(written)

    def _list(self, name: str, is_end: bool) -> None:
        if not is_end:
            self._break(blank=not self.lists)
            if len(self.lists) < DEPTH_LIMIT:
                self.lists.append(0 if name == "ol" else None)
        elif self.lists:
            self._break(blank=False)
            self.lists.pop()
            self._break(blank=not self.lists)
            if not self.lists and self.out[-2:-1] != [""]:
                self.out.insert(-1, "")
            self.out[-1] = " " * self._column()

    def _item(self, is_end: bool) -> None:
        self._break(blank=False)
        if is_end or self.row is not None:
            return
        if not self.lists:
            self.lists.append(None)
        if self.lists[-1] is not None:
            self.lists[-1] += 1
        mark = "- " if self.lists[-1] is None else f"{self.lists[-1]}. "
        while len(self.out) > 1 and not self.out[-2].strip() and not self.out[-1].strip() and self._is_in_list():
            del self.out[-2]
        self.out[-1] = " " * (self._column() - len(mark)) + mark

    def _is_in_list(self) -> bool:
        """Tells whether the last line with words is one of an item."""
        last = next((line for line in reversed(self.out[-4:]) if line.strip()), "")
        return last.startswith(" ") or _ITEM.match(last) is not None

    def _table(self, name: str, is_end: bool) -> None:
        if name == "table":
            self._end_row()
            if self.columns and is_end and not self.has_rows:
                self._write_row(self.columns)
            self._break()
            self.columns, self.has_rows = None, False
        elif name == "tr":
            self._end_row()
            self.row = None if is_end else []
        elif self.row is not None and not is_end:
            self.is_head = name == "th" if not self.row else self.is_head and name == "th"
            self.row.append("")

    def _end_row(self) -> None:
        cells = tuple(cell.strip() for cell in self.row or ())
        self.row = None
        if self.is_head and self.columns is None and any(cells):
            self.columns = cells
        elif any(cells):
            named = zip_longest(self.columns or (), cells, fillvalue="")
            self._write_row(tuple(f"{name}: {cell}" if name and cell else cell for name, cell in named))
        self.is_head = False

    def _write_row(self, cells: tuple[str, ...]) -> None:
        """Writes a row as an item."""
        self._break(blank=not self.has_rows)
        self.out[-1] += f"- {'; '.join(cell for cell in cells if cell)}"
        self.out.append(" " * self._column())
        self.has_rows = True


def _code(text: str) -> str:
    words = " ".join(html.unescape(_TAG.sub("", text)).split())
    return f"`{words}`" if words and "`" not in words else words
