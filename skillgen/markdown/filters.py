"""Filters that make untrusted text safe for one place in a document each (design, "Trust").

Whatever a source says, a filter's result opens no heading, fence, table, link, HTML, front matter or comment of its
own, runs no command in Claude Code (`` !`command` ``, `$ARGUMENTS`) and holds no invisible character. Otherwise it
reads as the source wrote it: code spans stay code, lists and code blocks of a description stay what they are. A link
becomes words with an address, and HTML that only formats goes.
"""

from __future__ import annotations

import re
from functools import lru_cache

from skillgen.markdown.invisible import visible as clean
from skillgen.markdown.values import json_text
from skillgen.model.value import Json

CACHE_SIZE = 1 << 15


class Markdown(str):
    """Text that is safe Markdown already; the templates put anything else through `inline`."""

    __slots__ = ()


_INLINE_SPECIAL = re.compile(r"[`<\[\]\\$!]")
# Lengths are bounded, so that no text makes the search take the square of its size.
_KEPT = (
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<code>(?<!`)(?P<ticks>`+)(?!`)(?P<content>.{1,1000}?)(?<!`)(?P=ticks)(?!`))"
)
_REWORDED = re.compile(
    _KEPT + r"|(?P<image>!\[(?P<alt>[^\[\]]*)\]\([^()\s]*(?:\s[^()]*)?\))"
    r"|(?P<link>\[(?P<label>[^\[\]]*)\]\((?P<url>[^()\s]*(?:\([^()\s]*\)[^()\s]*)?)(?:\s[^()]*)?\))"
    r"|(?P<autolink><(?P<address>https?://[^\s<>]+)>)"
    r"|(?P<anchor><a\s[^<>]{0,200}?href=[\"'](?P<href>[^\"'<>\s]{0,500})[\"'][^<>]{0,200}>(?P<words>[^<>]{0,400})</a>)"
    r"|(?P<pair><(?P<tag>b|i|u|em|strong|code|tt|a|kbd|sup|sub|small|pre|span)(?:\s[^<>]*)?>"
    r"(?P<inner>.{0,400}?)</(?P=tag)>)"
    r"|(?P<break></?(?:br|p|ul|ol|li|div|h[1-6]|hr|table|tbody|thead|tr|td|th|dl|dt|dd)(?:\s[^<>]*)?/?>)"
)
_ESCAPED = re.compile(_KEPT + r"|(?P<special><(?=[A-Za-z/!?])|`|\](?=[(\[]))")
_LINK_OR_IMAGE = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_FORMATTING_TAG = re.compile(
    r"</?(?:a|b|i|u|em|strong|code|tt|kbd|small|pre|span|br|p|ul|ol|li|div|h[1-6]|hr|table|tr|td|th)(?:\s[^<>]*)?/?>"
)
_LINE_START = re.compile(
    r"(?:#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|\d{1,9}[.)](?:\s|$)|~~~|=+\s*$|(?:[-*_]\s*){2,}$|\||\[(?:.*\]:|[^\]]*$))"
)
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*):")
_FOLLOWED = frozenset({"http", "https", "mailto"})
_VARIABLE = re.compile(r"\$(?=ARGUMENTS|\{CLAUDE_)")
_BLOCK_SPECIAL = re.compile(
    r"[`<\[\]\\$!|#>=~\t]"
    r"|\n[ ]+|\n\s*\n\s*\n|\n\s*-{2}|^\s|^-{2}|(?:[*_-]\s?){3}|\n\s*-\s*(?:\n|$)|[-+*\d.)]\s+[-+*\d#]"
)
_LOOKS_LIKE_JSON = re.compile(r"$|-?[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?$|true$|false$|null$|[\[{\"]")
_BROKEN_LINK = re.compile(r"\[[^\[\]]{0,300}\n[^\[\]]{0,300}\]\([^()\s]*\)")
_FENCE = re.compile(r"(?P<mark>`{3,}|~{3,})\s*(?P<language>[A-Za-z0-9_+#.-]*)")
_LIST_ITEM = re.compile(r"(?P<mark>[-+*]|\d{1,9}[.)])\s+(?=\S)")
_RULE_OR_UNDERLINE = re.compile(r"(?:=+|-+|(?:[-*_]\s*){3,})$")
_TABLE_RULE = frozenset("|:- ")
_HEADING = re.compile(r"#{1,6}(?=\s|$)")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.:/-]*[A-Za-z0-9])?\Z")
_NAME_SPECIAL = re.compile(r"([\\`*_\[\]<>#!|~$&])")


def one_line(text: str) -> str:
    """Gives a text on one line, its words one space apart. Not safe Markdown yet."""
    if text.isascii() and text.isprintable() and "  " not in text and text[:1] != " " and text[-1:] != " ":
        return text
    return " ".join(clean(text).split())


def plain_words(text: str) -> str:
    """Gives a text on one line without the marks of links, pictures and HTML that only formats. Not safe Markdown."""
    line = one_line(text)
    if "](" in line:
        line = _LINK_OR_IMAGE.sub(r"\1", line)
    return " ".join(_FORMATTING_TAG.sub(" ", line).split()) if "<" in line else line


@lru_cache(CACHE_SIZE)
def inline(text: str) -> Markdown:
    """Makes a text safe inside a paragraph, a list item or a heading, after other words of the line."""
    line = one_line(text)
    return Markdown(defused(_escaped(line)) if _INLINE_SPECIAL.search(line) else line)


@lru_cache(CACHE_SIZE)
def paragraph(text: str) -> Markdown:
    """Makes a text safe as a line of its own, where its first characters could open a block."""
    return Markdown(_guarded(inline(text)))


def block(text: str) -> Markdown:
    """Makes a longer text safe as blocks of their own: its paragraphs, lists and code blocks are kept.

    Headings become paragraphs, rules go, and a code block that the text does not end is ended.
    """
    text = _BROKEN_LINK.sub(lambda match: match[0].replace("\n", " "), clean(text).strip("\n"))
    if not _BLOCK_SPECIAL.search(text):
        return Markdown(text.strip())
    return Markdown(defused(_Blocks().text_of(text.expandtabs(4))))


def quotation(text: str) -> Markdown:
    """Gives a text as a quotation, line by line: no list, fence or heading of it is one."""
    lines = [str(paragraph(line)) for line in clean(text).strip().split("\n")]
    return Markdown("\n".join(f"> {line}" if line else ">" for line in lines) or "> (nothing that can be shown)")


@lru_cache(CACHE_SIZE)
def code(text: str) -> Markdown:
    """Gives a text as a code span."""
    line = defused(one_line(text))
    if "`" not in line and not line.endswith("!"):
        return Markdown(f"`{line}`") if line else Markdown('`""`')
    longest = max((len(run) for run in re.findall("`+", line)), default=1)
    ticks = "`" * (longest + 1)
    return Markdown(f"{ticks} {line} {ticks}")


def value(data: Json) -> Markdown:
    """Gives a JSON value as a code span; a text without quotes where that can't be mistaken."""
    if isinstance(data, str) and len(data) <= 200 and data == one_line(data) and not _LOOKS_LIKE_JSON.match(data):
        return code(data)
    return code(_shortened(json_text(data), 400))


def fence(text: str, language: str = "") -> Markdown:
    """Gives a text as a code block whose fence the text can't close."""
    text = defused(clean(text)).strip("\n")
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    ticks = "`" * (longest + 1)
    return Markdown(f"{ticks}{language}\n{text}\n{ticks}")


@lru_cache(CACHE_SIZE)
def name(text: str) -> Markdown:
    """Gives a name as the text of a heading: what a renderer shows is the exact name."""
    line = one_line(text)
    if _PLAIN_NAME.match(line):
        return Markdown(line)
    # A renderer shows the entity as the sign, so the name stays exact; no host takes it for a variable.
    return Markdown(_NAME_SPECIAL.sub(r"\\\1", line).replace("\\$ARGUMENTS", "&#36;ARGUMENTS"))


def link_label(text: str) -> Markdown:
    """Makes a text safe between the brackets of a link, also for parsers that know no escapes there."""
    return Markdown(defused(_escaped(one_line(text).replace("[", "(").replace("]", ")"))) or "(no name)")


def link_url(url: str) -> Markdown:
    """Makes a URL safe between the parentheses of a link."""
    line = one_line(url)
    if (scheme := _SCHEME.match(line)) and scheme[1].lower() not in _FOLLOWED:
        line = line.replace(":", "%3A", 1)  # no address at all, rather than one that runs something
    quoted = re.sub(r"[\s<>()\[\]\\`\"|]", lambda match: f"%{ord(match[0]):02X}", line)
    return Markdown(re.sub(r"&(?=#?\w+;)", "&amp;", _VARIABLE.sub("%24", quoted)))


def defused(text: str) -> str:
    """Breaks what Claude Code would run or fill in, wherever it stands: `` !`command` `` and `$ARGUMENTS`."""
    if "!`" in text:
        text = text.replace("!`", "! `")
    return _VARIABLE.sub("$ ", text) if "$" in text else text


def _escaped(line: str) -> str:
    """Rewords links, pictures and HTML; then escapes whatever could still be one, also what the rewording formed."""
    if _holds_only_code(line):
        return line
    line = re.sub(" {2,}", " ", _REWORDED.sub(_reworded, line)).strip()
    line = _ESCAPED.sub(lambda match: match[0] if match["special"] is None else "\\" + match[0], line)
    return line + "\\" if len(line) - len(line.rstrip("\\")) & 1 else line


def _holds_only_code(line: str) -> bool:
    """Tells whether a line has code spans of one backtick and nothing else of Markdown: most lines by far."""
    return (
        len(line) <= 1000
        and not any(mark in line for mark in ("<", "](", "][", "\\", "``", "  "))
        and line.count("`") % 2 == 0
        and line == line.strip()
    )


def _reworded(match: re.Match[str]) -> str:
    if match["image"] is not None:
        return match["alt"] or "(picture)"
    if match["link"] is not None:
        return _link_words(match["label"], match["url"])
    if match["anchor"] is not None:
        return _link_words(match["words"], match["href"])
    if match["pair"] is not None:
        return _REWORDED.sub(_reworded, match["inner"])
    if match["autolink"] is not None:
        return match["address"]
    return " " if match["break"] is not None else match[0]


def _link_words(label: str, url: str) -> str:
    """Gives a link as words, with its address where that means something outside the source's own pages."""
    if not url.startswith(("http://", "https://", "mailto:")) or url == label:
        return label
    address = link_url(url)
    return f"{label} ({address})" if label else address


def _guarded(line: str) -> str:
    """Escapes what would open a block at the start of a line."""
    if not _LINE_START.match(line):
        return line
    return re.sub(r"^(\d+)([.)])", r"\1\\\2", line) if line[0].isdigit() else "\\" + line


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


class _Blocks:
    """Rewrites a longer text line by line."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._fence: str | None = None
        self._fence_indent = ""
        self._in_list = False

    def text_of(self, text: str) -> str:
        for line in text.split("\n"):
            if self._fence is not None:
                self._code_line(line)
            else:
                self._prose_line(line)
        if self._fence is not None:
            self._lines.append(self._fence_indent + self._fence)
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self._lines)).strip("\n")

    def _code_line(self, line: str) -> None:
        stripped = line.strip()
        assert self._fence is not None
        if stripped[:1] in ("`", "~") and set(stripped) == {self._fence[0]} and len(stripped) >= len(self._fence):
            self._lines.append(self._fence_indent + self._fence)
            self._fence = None
        else:
            safe = line.rstrip()
            keep = safe[len(self._fence_indent) :] if safe.startswith(self._fence_indent) else safe.lstrip()
            self._lines.append((self._fence_indent + keep).rstrip())

    def _prose_line(self, line: str) -> None:
        body = line.strip()
        if not body:
            self._lines.append("")
            return
        indent = self._indent(line, body)
        if opening := _FENCE.match(body):
            self._open_fence(opening, body, indent)
        elif _RULE_OR_UNDERLINE.match(body):
            self._lines.append("")
        elif item := _LIST_ITEM.match(body):
            self._in_list = True
            words = self._words(body[item.end() :])
            self._lines.append(f"{indent}{item['mark']} {words}" if words else "")
        elif body[0] == ">":
            words = self._words(body.lstrip("> "))
            self._lines.append(f"{indent}> {words}" if words else "")
        else:
            self._lines.append(indent + self._words(body))

    def _open_fence(self, opening: re.Match[str], body: str, indent: str) -> None:
        if opening["mark"][0] == "`" and "`" in body[opening.end("mark") :]:
            self._lines.append(indent + _escaped(body))  # a code span of three backticks
            return
        if self._lines and self._lines[-1]:
            self._lines.append("")
        self._fence, self._fence_indent = opening["mark"], indent
        self._lines.append(f"{indent}{opening['mark']}{opening['language']}")

    def _indent(self, line: str, body: str) -> str:
        """Keeps the indentation of nested lists and what stands below an item; any other could mean a code block."""
        width = len(line) - len(line.lstrip(" "))
        if width == 0 and not _LIST_ITEM.match(body) and not (self._lines and self._lines[-1]):
            self._in_list = False
        return " " * min(width, 12) if self._in_list else ""

    def _words(self, body: str) -> str:
        """Gives the words of a line, at whose start nothing opens a block; empty for a rule or the rule of a table."""
        if heading := _HEADING.match(body):
            words = _escaped(body[heading.end() :].strip().rstrip("#").rstrip())
            return f"**{words}**" if words and "*" not in words else _guarded(words)
        words = _escaped(body)
        if "-" in words and _TABLE_RULE.issuperset(words):
            return ""
        return "" if _RULE_OR_UNDERLINE.match(words) else _guarded(words)
