"""Filters that make untrusted text safe, one for each place in a document (design, "Trust").

Whatever a source says, the result of a filter opens no heading, fence, table, HTML, front matter or comment, neither in
CommonMark nor in the dialects of kramdown and pandoc, links nothing but the web and mail, and has no invisible
characters. Otherwise it is what the source wrote, byte for byte: what a parser would take for more than words becomes a
code span, or a space breaks it, and nothing gets a backslash. What hosts execute is found last, in whole files
(`skillgen.text.inert`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from html import unescape

import msgspec

from skillgen.model.tool import EFFECTS
from skillgen.model.values import Json
from skillgen.text import lazy_re as re
from skillgen.text.html import html_to_markdown
from skillgen.text.inert import ATTRIBUTES, SPAN_ATTRIBUTES, TAG_START, TRIGGER, disarm, disarm_json, disarm_url, held
from skillgen.text.unicode import escape_invisible_in_json, strip_invisible, to_latin
from skillgen.text.words import word_set

_encoded = json.JSONEncoder(ensure_ascii=False).encode


def json_text(data: Json, indent: int | None = None, line_limit: int = 0) -> str:
    """Returns a value as JSON with the order of its keys and without unnecessary escapes.

    An `indent` is for what is longer than `line_limit`.
    """
    line = _encoded(data)
    if indent is None or len(line) <= line_limit:
        return line
    try:
        return msgspec.json.format(line, indent=indent)
    except UnicodeEncodeError:  # half a surrogate pair
        return json.dumps(data, indent=indent)


CACHE_SIZE = 1 << 15


class Markdown(str):
    """Text that is safe Markdown. The templates pass anything else through `inline`."""

    __slots__ = ()


_FOREIGN_ADDRESS = r"""
    (?<![\w.+-])(?!https?:|mailto:[^\s<`:/@]*@[^\s@]*(?:\s|$))[\w.+-]{1,80}:(?://|[^\s<`{$!:/@]{0,80}@)
    [^\s<`{$!]*[^\s<`{$!.,;:?)\]"']
    | (?!(?-i:www))www\.[^\s<`{$!]*[^\s<`{$!.,;:?)\]"']"""
"""A bare URL that a parser may link and that is neither a web nor a mail address. `marked` turns `WWW.` into a path."""

_TAG = rf"\\?{TAG_START}[^<>`]{{0,1000}}>"
_IN_WORD = r"""[^\s<>`"'()\[\]]{0,200}"""
_FLAT_JSON = _IN_JSON = r"""[^\[\]{}`"\n]|"(?:[^"\\`\n]|\\[^`\n]){0,300}\""""
for _ in range(4):
    _IN_JSON = rf"{_FLAT_JSON}|[\[{{](?:{_IN_JSON}){{0,1000}}[\]}}]"
_IN_URL = r"[^\s<>()`\\{}]*"
_URL = rf"""(?:https?://|mailto:){_IN_URL}(?:\({_IN_URL}\){_IN_URL})?(?:\s"[^"`<>\n]*")?\)(?!\{{)"""

_MARKUP = re.compile(
    rf"""
    (?P<tick>\\`) | \\(?![<\[\]{{}}])[!-/:-@\\^_|~]
    | (?<!`)(?P<ticks>`+)(?!`)(?P<content>(?:(?!(?P=ticks))[\s\S]){{1,2000}})(?P=ticks)(?!`) | (?P<run>`+)
    | <{1, 9}(?P<angle>https?://[^\s<>`]*|[\w.+-]+@[\w.-]+)>{1, 9}
    | (?P<json>(?=\{{\s?"|\[\s?["\[{{])(?:{_IN_JSON})(?![(\[{{:]))
    | (?<![^\s"'()\[\]])(?P<word>(?P<quote>["'])?{_IN_WORD}(?:
        (?:<(?P<element>[A-Za-z][\w-]{{0,40}})>[^<>`\n]{{1,80}}</(?P=element)>|{_TAG}){_IN_WORD})+(?(quote)(?P=quote)))
    | (?<!\S)(?P<pattern>[^\s`^]{{0,99}}\^\[[^\s`]{{1,300}})
    | (?P<tag>(?:{_TAG})+|\\?{TAG_START}[^\s<>`]*)
    | (?P<foreign>(?P<mark>["'])(?:{_FOREIGN_ADDRESS})(?P=mark)|{_FOREIGN_ADDRESS}|(?:https?://|www\.)[\w.~/?\#!$&'+,;=%-]{{0,500}}:[^\s<`:/@]{{0,80}}@[^\s<`]{{0,500}})
    | (?P<address>(?:https?://|(?<!\w)www\.)[\w.~:/?\#@!$&'+,;=%-]*)
    | (?P<link>(?<!\w)!?\[(?:[^\[\]`\n]|`[^`\n]{{1,80}}`){{0,200}}\]\((?!{_URL})[^()\s`]{{1,300}}\))
    | !\[(?P<alt>[^\[\]`]*)\]\((?={_URL}) | \]\((?={_URL})
    | (?P<broken>!(?=\[)|\](?=\(|{SPAN_ATTRIBUTES})|\{{(?=:)|\^(?=\[)) | (?P<attributes>{ATTRIBUTES})
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Code and what it protects, then all that is changed. Each repetition is bounded, so that no text is slow."""

_CODE = r"(?<=`)(?<!``)(?P<more>`*)(?!`)(?:(?!`(?P=more))[\s\S]){1,2000}`(?P=more)(?!`)"
_REFERENCE = re.compile(rf"[`&](?:{_CODE}|(?<=&)(?:#\d{{1,6}}|#[xX][\da-fA-F]{{1,5}}|[A-Za-z][A-Za-z\d]{{1,20}});)")
"""Code, or a character reference outside of it."""

_BRACKETS = r"\[\]\u2045\u2046\u2308-\u230b\u2768-\u2775\u27e6-\u27ef\u2983-\u2998\u3008-\u301b\uff3b-\uff63"
"""Square brackets, and what looks like them."""

_REWRITTEN = re.compile(
    rf"""
    [`!{_BRACKETS}](?:{_CODE}
    | (?:(?<=!)\[|(?<=\[))(?P<label>(?:[^\[\]`]|`[^`\n]{{1,80}}`){{0,200}})\]
      \((?P<target>(?:[\#/]|\.\.?/|data:)[^\s()<>`]*|\w[\w.-]*[/\#.][^\s()<>`:]*)(?:\s"[^"`<>\n]*")?\)
    | (?<![`!\]])(?P<mark>[^`\[\]]{{4,30}}?)[{_BRACKETS}](?P<link>\()?)
    """,
    re.VERBOSE,
)
"""Code; a link or image that leads nowhere from another document, of which the text stays; what may read as a mark of
skillgen. All begin with one of few characters, to which `re` skips."""

_MARKS = frozenset(f"{first}{effect}" for first in ("", "askfirst") for effect in EFFECTS) | {"askfirst"}

_ADDRESS = re.compile(r"://|www\.", re.IGNORECASE)
"""A word that parsers link, with a tick behind it."""

_LONE_TICK = re.compile(r"`(?:`|(?<=\\`)|\s(?<=\s`\s)|\s(?<=^`\s))")

ADMONITION = r'(?:!!!|\?{3}\+?)(?=[\w -]*(?:".*" *)?(?!.))|={3}[!+]{0,2}(?= +")|/{3,}(?= *[\w-]+ *(?![^|\n]))'
"""What opens a box or a tab of MkDocs, alone on its line."""

_LINE_START = re.compile(
    rf"{ADMONITION}|#{{1,6}}(?=\s|$)|\#\#+|[-+*](?=\s|$)|>|\d{{1,9}}[.)](?=\s|$)|~~~+|~(?=[\s`]|$)|:(?=[:\s]|$)|\+(?=[-=:])"
    r"|\*(?=\[)|\[!\w+\]|(?:[-*_=|:+]\s*){3,}$|[-=|:+]+\s*$"
)
"""What opens a block where a paragraph begins: with definitions, boxes, tables and abbreviations of other dialects."""

_DEFINITION = re.compile(r"^([ \t>]*\[[^\[\]]{1,999}\]):", re.MULTILINE)
"""The start of the definition of a link or a footnote."""

_LINK_OR_IMAGE = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_LINK_IN_WORD = re.compile(r"\[(?:(?<=\w\[)|(?<=\w!\[))[^\[\]]{0,200}\]\(|\]\([^()\s]{0,500}\)\w")
_MAX_LAYERS = 8
"""Layers of markup that are read; documents read no more than three."""

_HAS_BLOCKS = re.compile(r"\n\s*[-*+•>#`~=_\n]")
"""Blocks in a text of several lines, which must not run together. The search is fast for text without blocks."""

_TABLE = re.compile(r"^(?=.*\|)(?=.*[^-:|\s]).+\n(?=.*\|)(?=.*-)[-:| \t]+$(?:\n.*\|.*)*", re.MULTILINE)

LANGUAGES = word_set("""
    bash bat c console cpp cs csharp css csv curl dart diff dockerfile elixir go graphql groovy hcl html http ini java
    javascript jinja js json json5 jsonc jsonl jsonpath jsx kotlin kql log lua makefile markdown md ndjson perl php
    plaintext powershell promql proto protobuf py python r regex rs ruby rust scala sh shell shellsession sql swift
    text toml ts tsx txt typescript xml yaml yml zsh
    """)
"""Languages of code blocks that renderers highlight; others (`mermaid`, `math`, `geojson`, …) they draw or run."""

_BLOCK_MARK = re.compile(
    r"(?:>\s?)*(?:(?P<item>[-*+•]\s+(?=\S))|(?P<heading>#{1,6}\s+|##+(?=\w)))|(?:>\s?)+"
    r"|(?P<fence>`{3,}|~{3,})[\w+-]*$|(?:[-=*_]\s*){3,}$"
)
_END_PUNCTUATION = ".,;:!?…(-–—"
_FOREIGN_SCHEME = re.compile(r"^(?!(?:https?|mailto):)([A-Za-z][A-Za-z0-9+.-]*):", re.IGNORECASE)
_LOOKS_LIKE_JSON = re.compile(r".*`|$|-?[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?$|true$|false$|null$|[\[{\"]")
_INEXACT = re.compile(
    r"[\\`*<>~^\[\]]|&(?=#?\w+;)|:(?://|[^\s@]{0,80}@)|\{(?![\w-]+\})|\s#+$|\$.{0,200}\$|_(?<![^\W_]_).{0,200}_(?![^\W_])|[wW]{3}\."
)
"""What a heading would not show as written; of underscores, one that opens emphasis before one that closes it."""

_ENTITY = re.compile(r"&(?=#?\w+;)")


def one_line(text: str) -> str:
    """Returns a text on one line with single spaces. Not safe Markdown yet."""
    if text.isascii() and text.isprintable() and "  " not in text and text[:1] != " " and text[-1:] != " ":
        return text
    return " ".join(strip_invisible(text).split())


def plain(text: str) -> str:
    """Returns a text on one line, without what a terminal, a CI host or an agent would obey."""
    return disarm(one_line(text))


@lru_cache(4096)
def plain_words(text: str) -> str:
    """Returns a text on one line without the markup of links, images and HTML. Not safe Markdown."""
    line = join_lines(text)
    return _LINK_OR_IMAGE.sub(r"\1", line) if "](" in line else line


def join_lines(text: str) -> str:
    """Returns a text of several lines on one: list items and paragraphs are separated by punctuation, block markers
    removed."""
    text = html_to_markdown(text)
    text = _TABLE.sub(_as_items, text) if "|" in text else text
    if "   " not in text and not _HAS_BLOCKS.search(f"\n{text}"):
        return one_line(text)
    line = ""
    was_item = is_apart = is_code = False
    for part in strip_invisible(text).split("\n"):
        words = " ".join(part.split())
        mark = None if is_code and not words.startswith(("```", "~~~")) else _BLOCK_MARK.match(words)
        is_code ^= mark is not None and mark["fence"] is not None
        words = words[mark.end() :] if mark else words
        if not words:
            is_apart = True
            continue
        is_item = mark is not None and mark["item"] is not None
        if line:
            last, first = line.rstrip("*_\"'”’")[-1:] or line[-1], words.lstrip("*_")[:1] or words[0]
            line += _line_separator(last, first, is_item, was_item, is_apart or was_item)
        line += words
        was_item, is_apart = is_item, mark is not None and mark["heading"] is not None
    return line


def _as_items(table: re.Match[str]) -> str:
    """Returns a table as items below its columns: `(code: action): NOT_FOUND: Check it`."""
    lines = (line.strip().strip("|").replace("\\|", "\0") for line in table[0].split("\n") if line.strip("-:| \t"))
    rows = ([cell.strip().replace("\0", "|") for cell in line.split("|")] for line in lines)
    head, *items = (": ".join(filter(None, (first, ", ".join(filter(None, rest))))) for first, *rest in rows)
    return "\n- ".join([f"({head})", *items])


def _line_separator(last: str, first: str, is_item: bool, was_item: bool, is_apart: bool) -> str:
    """Returns the separator of two lines: punctuation, unless the first line ends with it."""
    if last in _END_PUNCTUATION:
        return " "
    if is_item:
        return "; " if was_item else ": "
    return ". " if is_apart and first.isupper() else " "


@lru_cache(CACHE_SIZE)
def inline(text: str) -> Markdown:
    """Makes a text safe inside a paragraph, a list item or a heading, but not at the start of a line."""
    line = safe_words(join_lines(text))
    return Markdown(_DEFINITION.sub(r"\1 :", line) if line[:1] == "[" else line)


@lru_cache(CACHE_SIZE)
def paragraph(text: str) -> Markdown:
    """Makes a text safe as a line of its own, at the start of which its first characters could open a block."""
    return Markdown(safe_start(inline(text)))


def safe_start(line: str) -> str:
    """Returns a line that begins a paragraph, with what would open a block there as code."""
    if start := _LINE_START.match(line):
        rest = line[start.end() :]
        title, end, others = rest.partition("\n")
        if start[0][:2] == "##" and title[:1].isalnum() and "*" not in title:  # meant as a heading
            line = f"**{title.strip()}**{end}{others}"
        else:
            line = f"{_span(start[0].strip())}{' ' if rest[:1] in ('{', '`') else ''}{rest}"
    return _DEFINITION.sub(r"\1 :", line) if "]:" in line else line


def safe_paragraph(text: str) -> str:
    """Returns a paragraph of several lines in which no parser finds anything but words, code, emphasis and links."""
    if "```" in text or "&" in text or "[" in text or not text.isascii() or TRIGGER.search(text):
        text = safe_words(text)
    return _DEFINITION.sub(r"\1 :", text) if "]:" in text else text


def safe_words(text: str) -> str:
    """Returns words for a line in which others follow. Only what a parser would take for more is changed: HTML and
    addresses of other schemes become code, links elsewhere are broken by a space, and a lone tick is code itself.
    """
    text = rewritten(text)
    is_paired = "`" not in text or (text.count("`") % 2 == 0 and not _LONE_TICK.search(text))
    if is_paired and not TRIGGER.search(text):
        return text + " " * (text.endswith("\\"))
    return "".join(_safe_parts(text))


def rewritten(text: str) -> str:
    """Returns a text with the characters that HTML names, without links that no other document can resolve, and without
    what reads as a mark of skillgen."""
    text = strip_invisible(_REFERENCE.sub(_named, text)) if "&" in text else text
    return _REWRITTEN.sub(_as_words, text) if "[" in text or not text.isascii() else text


def shown_forms(text: str) -> list[str]:
    """Returns what a text becomes as markup of HTML and links in words go and references are read, layer by layer."""
    forms: list[str] = []
    if not ("&" in text or "<" in text or ("](" in text and _LINK_IN_WORD.search(text))):
        return forms
    while len(forms) < _MAX_LAYERS:
        before, text = text, strip_invisible(rewritten(html_to_markdown(text, keeps_groups=True)))
        text = _LINK_OR_IMAGE.sub(r"\1", text) if "](" in text and _LINK_IN_WORD.search(text) else text
        if text == before:
            break
        forms.append(text)
    return forms


def _named(match: re.Match[str]) -> str:
    if match[0][0] == "`" or (text := unescape(match[0])) == "`":  # a tick would pair with others
        return match[0]
    return " " if text.isspace() else text


def _as_words(match: re.Match[str]) -> str:
    if match["target"]:
        return rewritten(match["label"])
    if match["mark"] and "".join(filter(str.isalpha, to_latin(match["mark"]))) in _MARKS:
        return f"[({match['mark']})](" if match["link"] else f"({match['mark']})"
    return match[0]


def _safe_parts(text: str) -> Iterator[str]:
    last, is_address = "", False
    for part in held([*_parts(text)]):
        if (last == "`" and part[0] in "`{") or (part[0] == "`" and (is_address or last in ("\\", "~"))):
            yield " "
        yield part
        last = part[-1]
        *others, word = re.split(r"\s", part)
        is_address = _ADDRESS.search(word) is not None or (is_address and not others)
    yield " " * (last == "\\")


def _parts(text: str) -> Iterator[str]:
    end = 0
    for match in _MARKUP.finditer(text):
        yield from filter(None, (text[end : match.start()], _safe_part(match)))
        end = match.end()
    if end < len(text):
        yield text[end:]


def _safe_part(match: re.Match[str]) -> str:
    kind, part = match.lastgroup, match[0]
    if kind == "json":  # to be copied
        return _span(part) if TRIGGER.search(part) else part
    if kind in ("tick", "run"):
        return _span(part.lstrip("\\"))
    if kind == "content" and "\n" in part:  # kramdown divides a table by lines, also in code
        part = " ".join(line.strip() for line in part.split("\n"))
    if kind == "content" and len(match["ticks"]) == 1:  # kramdown reads a tick between spaces literally
        content = part[1:-1].strip()
        return f"`{content}`" if content else f"{_span('`')} {_span('`')}"
    if kind in ("word", "pattern", "tag", "foreign", "link", "attributes"):
        words = " ".join(part.replace("\\<", "<").split())
        literal = words.rstrip(".,;:!?")
        return _span(literal) + words[len(literal) :]
    if kind == "angle":
        return match["angle"]
    if kind == "alt":
        return f"[{match['alt'] or 'image'}]("
    return f"{part} " if kind == "broken" else part


def needs_stop(text: str) -> bool:
    """True if a full stop is missing before the next sentence."""
    text = str(inline(text)) if text.rstrip()[-1:] == ">" else text  # a tag may follow the stop
    return text.rstrip(" \t\r\n\"'”’」』）)`*_")[-1:] not in ".!?…:;。！？"


def with_stop(text: str) -> str:
    """Returns a text with a full stop."""
    return f"{text}." if needs_stop(text) else text


@lru_cache(CACHE_SIZE)
def code(text: str) -> Markdown:
    """Returns a text as a code span, with single spaces."""
    return _span(one_line(text))


def code_list(names: Iterable[str], separator: str = ", ") -> Markdown:
    """Returns names as code spans."""
    return Markdown(separator.join(map(code, names)))


@lru_cache(CACHE_SIZE)
def exact_code(text: str) -> Markdown:
    """Returns a text as a code span with all its spaces, for values and patterns."""
    return _span(" ".join(strip_invisible(text).splitlines()))


def _span(line: str) -> Markdown:
    if "`" not in line and line == line.strip() and not line.endswith("!"):  # kramdown: no closing tick there
        return Markdown(f"`{line}`") if line else Markdown('`""`')
    ticks = "`" * (1 + max(map(len, re.findall("`+", line)), default=1))
    return Markdown(f"{ticks} {line} {ticks}")


def value(data: Json) -> Markdown:
    """Returns a JSON value as a code span; a string without quotes if it cannot be mistaken for another type."""
    return _string_value(data) if isinstance(data, str) else _json_value(data)


def as_sent(data: Json) -> Markdown:
    """Returns a value as a code span as a URL, a header or a command line has it: a short string without quotes."""
    return code(data) if isinstance(data, str) and data == one_line(data[:200]) != "" else value(data)


@lru_cache(4096)
def _string_value(text: str) -> Markdown:
    if len(text) <= 200 and text == one_line(text) and not _LOOKS_LIKE_JSON.match(text):
        return code(text)
    return _json_value(text)


def _json_value(data: Json) -> Markdown:
    text = disarm_json(json_text(data)).replace("`", "\\u0060")
    return exact_code(text if len(text) <= 400 else text[:399] + "…")


def fence(text: str, language: str = "text") -> Markdown:
    """Returns a text as a code block with a fence that it cannot close, and a language that no renderer draws or
    runs."""
    text = strip_invisible(text).strip("\n")
    longest = max(map(len, re.findall("`{3,}", text))) if "```" in text else 2
    ticks = "`" * (longest + 1)
    return Markdown(f"{ticks}{language if language.lower() in LANGUAGES else 'text'}\n{text}\n{ticks}")


@lru_cache(CACHE_SIZE)
def name(text: str) -> Markdown:
    """Returns a name as the text of a heading, so that a renderer shows the exact name; as code where it needs to."""
    line = one_line(text)
    return _span(line) if _INEXACT.search(line) or _LINE_START.match(line) else Markdown(line)


def link_label(text: str) -> Markdown:
    """Makes a text safe between the brackets of a link, also for parsers without escapes there."""
    label = safe_words(one_line(text).translate(str.maketrans("[]", "()")))
    return Markdown(_span(label) if label[:1] in ("^", "@") else label or "(no name)")


def link_url(url: str) -> Markdown:
    """Makes a URL safe between the parentheses of a link."""
    # A foreign one is not a URL any more, rather than one that runs something.
    line = _FOREIGN_SCHEME.sub(r"\1%3A", one_line(url))
    quoted = disarm_url(re.sub(r"[\s<>()\[\]\\`\"|{}]", lambda match: f"%{ord(match[0]):02X}", line))
    return Markdown(_ENTITY.sub("&amp;", quoted))


def printable_json(text: str) -> str:
    """Returns JSON with escapes for what a terminal or a host would obey; the values are the same."""
    return disarm_json(escape_invisible_in_json(text))


def json_output(data: Json) -> str:
    """Returns indented JSON in which no character controls a terminal or a host."""
    return printable_json(json.dumps(data, ensure_ascii=False, indent=2))


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun: `1 tool`, `1,223 tools`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def first_of(names: Iterable[str], limit: int) -> str:
    """Returns names for a message, the first of many: `a, b and 1,221 more`."""
    names = list(names)
    more = f" and {len(names) - limit:,} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def exact_json_text(data: Json, indent: int | None = None, line_limit: int = 0) -> str:
    """Returns a value as JSON, as `json_text` does, with escapes for the characters that a filter would change."""
    text = json_text(data, indent, line_limit)
    if strip_invisible(text) != text:
        indent = indent if "\n" in text else None
        text = json.dumps(data, indent=indent, separators=(", " if indent is None else ",", ": "))
    return disarm_json(text.replace("\x7f", "\\u007f"))
