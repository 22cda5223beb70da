"""Converts a text that is written in HTML to Markdown; the result is as untrusted as the input.

A library parses it, and only if the text has tags of HTML in pairs. Code, tags that prose only mentions (an `<h1>`
without end tag) and unknown tags stay; unknown tags around whole lines or paragraphs only group them, and are dropped.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from skillgen.text import lazy_re as re
from skillgen.text.words import word_set

if TYPE_CHECKING:
    from justhtml.dom import Node

_MAX_LENGTH = 200_000
_MAX_DEPTH = 50

_CODE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}(?!`)|~{3,}(?!~))[^\n]*\n(?:.*?^ {0,3}(?P=fence)[`~]* *$|.*)"
    r"|(?<!`)(?P<ticks>`{1,9})(?!`)[^`]{1,1000}(?P=ticks)(?!`)",
    re.DOTALL | re.MULTILINE,
)
_TAG = re.compile(r"<(?:(?P<end>/?)(?P<name>[A-Za-z][\w:-]{0,40})(?:\s[^<>]{0,1000})?/?>)?")
"""A tag, or what only begins like one, such as a link in angle brackets."""

_HTML = re.compile(r"</|-->|<(?:!doctype|html|head|body|w?br|hr|img|p|li|d[td]|t[dhr])\b", re.IGNORECASE)
"""What a text with HTML has: an end tag, a comment, or a tag that needs no end."""

_START = re.compile(r"\A(?:\s*<(?:!doctype|html|head|/head|body)\b[^<>]{0,200}>)+", re.IGNORECASE)
_GROUP = re.compile(
    r"(?:^[ \t]*|(?=<[\w-]{1,41}>\s{0,9}<(?:p|[ou]l)\b))<(?P<start>[a-z][\w-]{0,40})>"
    r"|(?P<last></(?:p|[ou]l)>\s{0,9})?</(?P<end>[a-z][\w-]{0,40})>(?(last)|[ \t]*$)",
    re.MULTILINE,
)
_KEPT = re.compile("\ue000([0-9]{1,7})\ue001")
_HAS_LINES = re.compile(r"^[ \t]*(?:#{1,6}\s|[-*+]\s|\d+\.\s|\|)|\n[ \t]*\n", re.MULTILINE)
"""Markdown in which line breaks matter, next to the tags."""

_BLOCK_NAMES = word_set("""
    address article aside blockquote body caption center dd details div dl dt fieldset figure footer fullname h1 h2 h3
    h4 h5 h6 header hr html li main nav note ol p para pre remarks section summary table tbody td tfoot th thead title
    tr ul
    """)
_KNOWN = _BLOCK_NAMES | word_set("""
    a abbr b big br cite code del em font i img ins kbd label mark nobr q s samp small span strike strong
    sub sup tt u var wbr
    """)
_SIMPLE = re.compile(r"(?:[^<&\x00-\x09\x0b-\x1f]|<(?:/?(?:b|code|em|i|p|strong)|br ?/?)>){0,10000}")
"""Text, and tags that are read alike in any order, if they are in pairs."""

_SINGLE = frozenset({"br", "hr", "img", "p", "li", "dt", "dd", "td", "th", "tr", "wbr"})
"""Elements that need no end tag."""

_TITLES = frozenset({"fullname", "h1", "h2", "h3", "h4", "h5", "h6", "title"})


def html_to_markdown(text: str, keeps_groups: bool = False) -> str:
    """Returns a text with its HTML as Markdown; a text without HTML unchanged.

    `keeps_groups` keeps tags that only group lines, such as those that claim importance.
    """
    if "<" not in text or ">" not in text or len(text) > _MAX_LENGTH or not _HTML.search(text):
        return text
    text, kept = _START.sub("", text), list[str]()

    def keep(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\ue000{len(kept) - 1}\ue001"

    if "`" in text or "~~~" in text:
        text = _CODE.sub(keep, text)
    end = text.rfind("-->") + 3
    if end > 2:
        # A comment that is not closed is text.
        first, *others = text[:end].split("<!--")
        text = first + "".join(other.partition("-->")[2] for other in others) + text[end:]
    ends = {tag["name"].lower() for tag in _TAG.finditer(text) if tag["end"]}
    if not keeps_groups:
        starts, stops = ({tag[side] for tag in _GROUP.finditer(text)} for side in ("start", "end"))
        groups = (starts & stops) - _KNOWN
        text = _GROUP.sub(lambda it: f"{it['last'] or ''}\n" if (it["start"] or it["end"]) in groups else it[0], text)

    def is_html(tag: re.Match[str]) -> bool:
        name = (tag["name"] or "").lower()
        return name in _KNOWN and (name in _SINGLE or name in ends)

    marked = _TAG.sub(lambda tag: tag[0] if is_html(tag) else keep(tag), text)
    if _TAG.search(marked):
        text = re.sub(r"\n\s*\n", "\n\n", _markdown(_tree(marked), not _HAS_LINES.search(marked), 0)).strip("\n")
    return _KEPT.sub(lambda piece: kept[int(piece[1])] if int(piece[1]) < len(kept) else "", text)


def _element(name: str, data: str = "") -> Any:
    return SimpleNamespace(name=name, data=data, children=[], attrs=None)


def _tree(text: str) -> Any:
    """Returns the tree of a text in HTML. The library, which takes long to load, reads all but pairs of few tags."""
    levels, pieces = [_element("")], re.split("<([^<>]*)>", text) if _SIMPLE.fullmatch(text) else []
    for words, tag in zip(pieces[::2], [*pieces[1::2], ""], strict=False):
        name, inside = tag.strip("/ "), levels[-1].children
        inside += [_element("#text", words)] if words else []
        if tag[:1] == "/" and name == levels[-1].name:
            levels.pop()
        elif tag[:1] == "/" or len(levels) > _MAX_DEPTH or (name == "p" and "p" in [level.name for level in levels]):
            break
        elif tag:
            inside.append(_element(name))
            levels += inside[-1:] if name != "br" else []
    if pieces and not tag and len(levels) == 1:
        return levels[0]
    from justhtml import JustHTML

    return JustHTML(text, fragment=True, sanitize=False).root


def row_words(columns: Iterable[str], cells: Iterable[str]) -> str:
    """Returns the cells of a row of a table, each with the name of its column if there is one."""
    pairs = zip_longest(columns, cells, fillvalue="")
    return "; ".join(f"{column}: {cell}" if column else cell for column, cell in pairs if cell)


def _markdown(node: Node, is_html: bool, depth: int) -> str:
    """Returns what an element contains; with `is_html`, line breaks are spaces."""
    columns: tuple[str, ...] = ()
    out, number = "", 0
    for child in node.children or ():
        name = child.name
        if name == "#text":
            words = str(child.data)
            is_between = node.name in ("ul", "ol", "table", "tbody", "thead", "tr") and not words.strip()
            out += "" if is_between else re.sub(r"\s+", " ", words) if is_html else words
            continue
        if depth > _MAX_DEPTH or name not in _KNOWN:
            out += child.to_text() if depth > _MAX_DEPTH else ""
            continue
        if name == "pre":
            code = str(child.to_text(separator="", strip=False)).strip("\n")
            out += f"\n\n```\n{code}\n```\n\n" if "```" not in code else f"\n\n~~~\n{code}\n~~~\n\n"
            continue
        if name == "tr":
            parts = [part for part in child.children or () if part.children]
            cells = [" ".join(_markdown(part, True, depth + 1).split()) for part in parts]
            if not out.strip() and not columns and all(part.name == "th" for part in parts):
                columns = tuple(cells)
            else:
                out = f"{out.rstrip()}\n- {row_words(columns, cells)}\n"
            continue
        inner = _markdown(child, is_html, depth + 1)
        line = " ".join(inner.split())
        if name == "li":
            number += 1
            mark = f"{number}. " if node.name == "ol" else "- "
            out = out.rstrip() + f"\n{mark}" + inner.strip().replace("\n", "\n" + " " * len(mark)) + "\n"
        elif name in ("code", "tt", "kbd", "samp"):
            out += f"`{line}`" if line and "`" not in line and "\ue000" not in line else inner
        elif name == "a":
            url = str((child.attrs or {}).get("href") or "")
            out += f"[{line}]({url})" if line and re.fullmatch(r"https?://[^\s()<>]+", url) else inner
        elif name in ("br", "img"):
            in_row = out.rpartition("\n")[2].lstrip()[:1] == "|"  # a break would end the table
            out += str((child.attrs or {}).get("alt") or "") if name == "img" else " " if in_row else "\n"
        elif name in _TITLES:
            out += f"\n\n# {line}\n\n" if line else ""
        elif name in _BLOCK_NAMES:
            out += f"\n\n{'**Note:** ' if name == 'note' else ''}{inner.strip()}\n\n"
        else:
            out += inner
    return out if not columns or out.strip() else f"\n- {'; '.join(columns)}\n"
