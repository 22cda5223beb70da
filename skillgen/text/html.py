"""Converts a text that is written in HTML to Markdown: paragraphs, lists, tables, headings, code.

The result is as untrusted as the input; `blocks` makes it safe. Tags that prose only mentions (an `<h1>` without end
tag) stay, and so does everything inside Markdown code.
"""

from __future__ import annotations

import html
from itertools import zip_longest

from msgspec import Struct, field

from skillgen.text import lazy_re as re

_LIST_DEPTH_LIMIT = 8
"""Maximum nesting of lists."""

_HTML_BLOCK = re.compile(r"</(?:p|ul|ol|li|div|h[1-6]|pre|table|td|th|dl|dd|body|fullname)\s*>|<p>", re.IGNORECASE)
"""Markup that only a text written in HTML contains."""

_BREAK_TAGS = re.compile(r"(?:<br\s?/?>\s?)+(?P<item>(?=[-*•] \S))?", re.IGNORECASE)
"""Line break tags, and whether a list marker follows."""

_EXAMPLE = re.compile(
    r"^[ \t]*<examples?(?P<attributes>\s[^<>]{0,300})?>(?P<content>.*?)</examples?>", re.DOTALL | re.MULTILINE
)
"""An example as texts for models have it."""

_LOST_BREAK = re.compile(r"(?<=[^\W_A-Z]|[)'\"`]) {3,}(?=[A-Z])")
"""Where line breaks between paragraphs were replaced by spaces."""

_TOKEN = re.compile(
    r"(?P<kept>^[ ]{0,3}(?P<mark>`{3,}(?!`)|~{3,}(?!~))[^\n]*\n.*?(?:^[ ]{0,3}(?P=mark)[`~]*[ ]*$|\Z)"
    r"|(?<!`)(?P<ticks>`+)(?!`)[^`\n]{1,500}(?<!`)(?P=ticks)(?!`))"
    r"|<(?:pre|PRE)(?:\s[^<>]{0,300})?>(?P<pre>.*?)(?:</(?:pre|PRE)\s*>|\Z)"
    r"|<(?:code|tt|kbd|samp|CODE|TT)>(?P<code>[^`]{1,500}?)</(?:code|tt|kbd|samp|CODE|TT)>"
    r"|(?<!\w)<(?P<strong>b|strong|B|STRONG)>\s*(?P<words>[^<>*\s](?:[^<>*\n]{0,198}[^<>*\s])?)\s*</(?P=strong)>(?!\w)"
    r"|<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9]{0,20})(?:\s[^<>]{0,300})?/?>",
    re.DOTALL | re.MULTILINE,
)
_END_TAG = re.compile(r"</([a-z][a-z0-9]{0,20})\s*>")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>")
_MARKDOWN = re.compile(r"^[ \t]*(?:#{1,6}\s|[-*+]\s|\d+\.\s|```|~~~|\|)", re.MULTILINE)
"""Markdown in which line breaks matter, next to the tags; all of it may be indented."""

_SHOWN_ELEMENT = re.compile(
    r"(?P<before>[^\s<>`][ \t]{0,4}|:\n[ \t]{0,80})"
    r"(?P<element><(?P<name>[a-z][a-z0-9]{0,20})\s[^<>`\n]{1,200}></(?P=name)>)"
)
"""An empty element with attributes behind words, or below a line that announces it: what the text is about."""

_BLANKS = re.compile(r"\s+")
_MARK = re.compile(r"\s*(?:(?:-|\d+\.|#|\*\*\w+:\*\*) *)?")
_ITEM = re.compile(r"(?:-|\d+\.) ")

_BLOCK_TAGS = """
    address article aside blockquote body center dd details div dl dt fieldset figure footer head header hr html main
    nav p para remarks section summary tbody tfoot thead
    """
_INLINE_TAGS = """
    abbr b big cite code del em font i ins kbd label mark q s samp small span strike strong sub sup tt u var
    """
_BLOCK_TAG_SET = frozenset(_BLOCK_TAGS.split())
_INLINE_TAG_SET = frozenset(_INLINE_TAGS.split())
_TITLES = frozenset({"fullname", "title", "h1", "h2", "h3", "h4", "h5", "h6"})
_NOTICES = frozenset({"note", "important", "caution", "warning", "tip"})


def html_to_markdown(text: str) -> str:
    """Returns a text with its HTML as Markdown; a text without HTML unchanged."""
    if "   " in text and "\n" not in text:
        text = _LOST_BREAK.sub("\n\n", text)
    if "<" not in text:
        return text
    if (end := max(text.rfind("</example>"), text.rfind("</examples>"))) >= 0:
        end = text.index(">", end) + 1  # an example that is not closed would be searched to the end, each time
        text = _EXAMPLE.sub(_fenced_example, text[:end]) + text[end:]
    text = _BREAK_TAGS.sub(lambda tags: tags[0] if tags["item"] is None else "\n", text)
    if not _HTML_BLOCK.search(text):
        return text
    is_html = not _MARKDOWN.search(text)
    if not is_html:
        text = _SHOWN_ELEMENT.sub(_shown_element, text)
    tags = frozenset(_END_TAG.findall(text.lower()))
    return _Writer(is_html=is_html, tags=tags).to_markdown(text)


def _shown_element(match: re.Match[str]) -> str:
    is_block = match["name"] in _BLOCK_TAG_SET
    return f"{match['before']}`{match['element']}`" if is_block else match[0]


def _fenced_example(match: re.Match[str]) -> str:
    """Returns an example of several lines as a code block, below its description."""
    content = match["content"].strip("\n")
    if "\n" not in match["content"]:
        return match[0]
    label = "".join(f"{words}:\n\n" for words in re.findall('"([^"]+)"', match["attributes"] or ""))
    return f"\n{label}{content if '```' in content else _fence(content)}\n"


def _fence(code: str, indent: str = "") -> str:
    """Returns a code block with a fence that the code cannot close."""
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
    return "\n".join(f"{indent}{line}" for line in (ticks, *code.split("\n"), ticks))


class _Writer(Struct):
    """Converts one text, token by token."""

    is_html: bool
    """Whether line breaks are insignificant, as in HTML."""

    tags: frozenset[str]
    """Names of the tags with an end tag."""

    out: list[str] = field(default_factory=list)
    """The lines so far; the last one is open."""

    lists: list[int | None] = field(default_factory=list)
    """The open lists, from the outermost: the number of the last item, or `None` for bullets."""

    row: list[str] | None = None
    """The cells of the open table row."""

    columns: tuple[str, ...] | None = None
    """The column headings of the open table."""

    has_rows: bool = False
    is_head: bool = False
    """Whether the open row has the column headings."""

    def to_markdown(self, text: str) -> str:
        """Returns the text as Markdown."""
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
        """Writes text into the open line or cell."""
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
        """Ends the open line; with `blank`, also the paragraph."""
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
        """Writes a code block with a fence that the text cannot close."""
        code = html.unescape(_TAG.sub("", text)).strip("\n")
        if self.row is not None or not code.strip():
            self._words(code)
            return
        if self.out[-1].strip() and _MARK.fullmatch(self.out[-1]):
            self.out[-1] += "Code:"
        self._break()
        indent = self.out.pop()
        self.out += [*_fence(code, indent).split("\n"), "", indent]

    def _tag(self, name: str, is_end: bool, source: str) -> None:
        name = name if name != name.upper() else name.lower()
        if name in ("ul", "ol"):
            self._list(name, is_end)
        elif name == "li":
            self._item(is_end)
        elif name in ("table", "tr", "td", "th"):
            self._table(name, is_end)
        elif name == "br":
            self._break(blank=False)
        elif name in _BLOCK_TAG_SET:
            self._break()
        elif name not in self.tags or name == "a":
            self._words(source)  # without end tag, so the text mentions it; links are converted by `markdown`
        elif name in _TITLES or name in _NOTICES:
            self._break()
            if not is_end and self.row is None:
                self.out[-1] += "# " if name in _TITLES else f"**{name.capitalize()}:** "
        elif name not in _INLINE_TAG_SET:
            self._words(source)

    def _list(self, name: str, is_end: bool) -> None:
        if not is_end:
            self._break(blank=not self.lists)
            if len(self.lists) < _LIST_DEPTH_LIMIT:
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
        """True if the last line that is not blank belongs to an item."""
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
        """Writes a row as a list item."""
        self._break(blank=not self.has_rows)
        self.out[-1] += f"- {'; '.join(cell for cell in cells if cell)}"
        self.out.append(" " * self._column())
        self.has_rows = True


def _code(text: str) -> str:
    words = " ".join(html.unescape(_TAG.sub("", text)).split())
    return f"`{words}`" if words and "`" not in words else words
