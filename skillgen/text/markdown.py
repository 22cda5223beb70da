"""Filters that make untrusted text safe, one for each place in a document (design, "Trust").

Whatever a source says, the result of a filter opens no heading, fence, table, link, HTML, front matter or comment,
neither in CommonMark nor in the dialects of kramdown and pandoc; no host runs, fills in or inserts anything in it
(`_HOST_FORMS`), and it has no invisible characters. Otherwise it reads as the source wrote it: code spans stay code,
lists and code blocks of a description stay what they are. A link becomes its text and URL, and HTML that only formats
is removed.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from skillgen.model.values import Json
from skillgen.text import lazy_re as re
from skillgen.text.html import html_to_markdown
from skillgen.text.unicode import escape_invisible_in_json, strip_invisible

_encoded = json.JSONEncoder(ensure_ascii=False).encode


def json_text(data: Json, indent: int | None = None) -> str:
    """Returns a value as JSON with the order of its keys and without unnecessary escapes."""
    line = _encoded(data)
    if indent is None:
        return line
    try:
        return msgspec.json.format(line, indent=indent)
    except UnicodeEncodeError:  # half a surrogate pair
        return json.dumps(data, indent=indent)


CACHE_SIZE = 1 << 15


class Markdown(str):
    """Text that is safe Markdown. The templates pass anything else through `inline`."""

    __slots__ = ()


_LOG_COMMANDS = (
    r"#(?<=##)(?=\[|vso\[|teamcity\[)",  # commands in the log of a CI host: GitHub, Azure, TeamCity
    r":(?<![\w:]:)(?=:[A-Za-z](?:(?!::)[^\n])*::)",
)

_HOST_FORMS = (
    # A file that a host inserts: Claude Code and Gemini CLI at the start of a word, OpenCode also after a bracket or a
    # quote. A name that cannot be outside of the project is left alone: `@scope/name`, `(@.price)` of a JSONPath.
    r"@(?<!\S@)(?=[.\"])",
    r"@(?<![\w`]@)(?=[~/]|\.\.|\w[^\s@]{0,300}\.\.|[A-Za-z]:[\\/])",
    r"!(?=[`{])",  # !`command`: Claude Code and OpenCode run it; !{command}: Gemini CLI
    r"`(?<=```)(?=!)",  # a fence opened with ```! is run by Claude Code, wherever it is, also inside a longer fence
    r"\$(?=ARGUMENTS|\{CLAUDE_)",  # arguments of an invocation, and variables of Claude Code
    r"\{(?=[{%])",  # Liquid, which Jekyll runs before it reads Markdown; {{args}} of Gemini CLI
    *_LOG_COMMANDS,
)
"""What a host runs, fills in or inserts. Hosts search the raw text, so neither code nor a fence protects it.

Each pattern matches one character, after which a space, or in JSON its escape, breaks the form. Each begins with that
character, because `re` can then skip to it: a look-behind in front costs a quarter of a second for 10 MB. The
patterns of files come first: they look so far ahead that they would meet the spaces of the others.
"""

_HOST_FORM_PATTERN = re.compile("|".join(_HOST_FORMS))
_HOST_FORM_HINTS = ("@", "@", "!", "```!", "$", "{", "##", "::")
_HOST_FORM_PATTERNS = tuple(zip(_HOST_FORM_HINTS, map(re.compile, _HOST_FORMS), strict=True))
"""One by one, these search a document several times faster than together: `re` skips to a single first character. What
a form contains is found faster still, and most texts contain none of them.
"""
_LOG_COMMAND_PATTERN = re.compile("|".join(_LOG_COMMANDS))

_INLINE_SPECIAL = re.compile(r"`|<|\[|\]|\\|\$|!|\{|@|~|\||://|w\.|W\.")
# Lengths are bounded, so that no text makes the search quadratic. Each alternative begins with a character, not with a
# group or a look-behind, because `re` can then skip to these characters.
_CODE_OR_ESCAPE = (
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|`(?<!``)(?P<ticks>`*)(?!`)(?P<content>.{1,1000}?)(?<!`)`(?P=ticks)(?!`)"  # `ticks` are those after the first
)
_REWORDED = re.compile(
    _CODE_OR_ESCAPE + r"|!\[(?P<alt>[^\[\]]*)\]\([^()\s]*(?:\s[^()]*)?\)"
    r"|\[(?P<label>[^\[\]]*)\]\((?P<url>[^()\s]*(?:\([^()\s]*\)[^()\s]*)?)(?:\s[^()]*)?\)"
    r"|<(?P<address>https?://[^\s<>]+)>"
    r"|<a\s[^<>]{0,200}?href=[\"'](?P<href>[^\"'<>\s]{0,500})[\"'][^<>]{0,200}>(?P<words>[^<>]{0,400})</a>"
    r"|<(?P<tag>b|i|u|em|strong|code|tt|a|kbd|sup|sub|small|pre|span)(?:\s[^<>]*)?>(?P<inner>.{0,400}?)</(?P=tag)>"
    r"|</?(?P<block>br|p|ul|ol|li|div|h[1-6]|hr|table|tbody|thead|tr|td|th|dl|dt|dd)(?:\s[^<>]*)?/?>"
)
_UNDERSCORED = (
    r"_(?<![^\s(\"']_)(?P<emphasized>[^\W_](?:[^_*`\\<>\[\]\n]{0,200}[^\s_*`\\<>\[\]])?)_(?=[\s.,;:!?)\"']|$)"
)
EMPHASIS = re.compile(r"\*(?=\S)|_(?<![^\W_]_)(?=\S)")
"""Where emphasis can begin."""

_RUN = re.compile(_CODE_OR_ESCAPE + r"|(?:https?://|www\.)[^\s<`]*|(?P<run>\*+|_+)", re.IGNORECASE)

_ATTRIBUTES = r"\{(?=\s*(?:[:=#.%{]|[\w:.-]+\s*=))"
"""The start of attributes and raw HTML in kramdown and pandoc, and of Liquid."""

_DIALECTS = (
    rf"{_ATTRIBUTES}|\{{(?<=\{{\{{)|%(?<=\{{%)"
    r"|\[(?=!\s*\w)"  # alerts
    r"|\$(?=\S|$)|~(?=\S|$)"  # formulas, and deleted text: of marked and pandoc they reach into code
    r"|@(?<!\S@)(?=\S)"  # files that a host inserts
    r"|\^(?=\[|[^^\n]*\^)"  # footnotes of pandoc, and its superscripts, in which an escaped `{` is live
    r"|\|"  # tables of kramdown
)
_FOREIGN_ADDRESS = (
    r"(?<![\w.+-])(?!https?:|mailto:[^\s<`:/@]*@[^\s@]*(?:\s|$))[\w.+-]+:(?://|[^\s<`{$!:/@]*@)"
    r"[^\s<`{$!]*[^\s<`{$!.,;:?)\]]"
    r"|(?!(?-i:www))www\.[^\s<`{$!]*[^\s<`{$!.,;:?)\]]"
)
"""A bare URL that a parser may link and that is neither a web nor a mail address. `marked` turns `WWW.` into a path."""

_SPECIAL = rf"{_UNDERSCORED}|<(?=[A-Za-z/!?])|`|\](?:\(|(?=\[))|{_DIALECTS}"
_ESCAPED = re.compile(f"{_CODE_OR_ESCAPE}|{_SPECIAL}", re.IGNORECASE)
_ESCAPED_NEAR_ADDRESSES = re.compile(
    rf"{_CODE_OR_ESCAPE}|(?P<foreign>{_FOREIGN_ADDRESS})|(?P<address>(?:https?://|www\.)[^\s<`]*)|{_SPECIAL}",
    re.IGNORECASE,
)
"""The same for a line with an address, in which nothing is escaped; it is tried at every character."""
_IN_ADDRESS = re.compile(rf"\\([!-@^_}}])|[~$|\\\[\]]|{_ATTRIBUTES}")
"""Characters to encode in a bare URL: parsers link everything that follows, including a backslash or a backtick."""

_CODE_OR_ESCAPE_PATTERN = re.compile(_CODE_OR_ESCAPE)

_LABEL_MARKUP = re.compile(r"[`<\\*&]")
_STRONG = re.compile(r"\*{1,3}(?=\S)([^*]{1,200}?)(?<=\S)\*{1,3}")
_TAG = re.compile(r"<([A-Za-z/!?][^<>]{0,200})>")
_TAG_START = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_LINK_OR_IMAGE = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_FORMATTING_TAG = re.compile(
    r"</?(?:(?P<within>a|b|i|u|em|strong|code|tt|kbd|sup|sub|small|span)"
    r"|(?P<block>pre|br|p|ul|ol|li|div|h[1-6]|hr|table|tbody|thead|tr|td|th|dl|dt|dd))(?:\s[^<>]*)?/?>"
)
_TAG_NAME = re.compile(r"<(/?)([a-z][a-z0-9]{0,10})")
_UNPAIRED_TAGS = frozenset({"br", "hr", "p", "li", "dt", "dd"})
"""Tags that need no end tag."""
_HAS_BLOCKS = re.compile(r"\n\s*(?:[-*+•>#`~=_]|\n)|</|<br|   ")
_BEGINS_WITH_BLOCK = re.compile(r"\s*(?:[-*+•]\s|[>#`~])")
"""Blocks in a text of several lines, which must not run together. The search is fast for text without blocks."""

ALERT = re.compile(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\](?=\s|$)", re.IGNORECASE)
"""The marker of an alert in GitHub's Markdown."""

_LANGUAGES = """
    bash bat c console cpp cs csharp css csv curl dart diff dockerfile elixir go graphql groovy hcl html http ini java
    javascript jinja js json json5 jsonc jsonl jsonpath jsx kotlin kql log lua makefile markdown md ndjson perl php
    plaintext powershell promql proto protobuf py python r regex rs ruby rust scala sh shell shellsession sql swift
    text toml ts tsx txt typescript xml yaml yml zsh
    """
LANGUAGES = frozenset(_LANGUAGES.split())
"""Languages of code blocks that renderers highlight; others (`mermaid`, `math`, `geojson`, …) they draw or run."""

_BLOCK_MARK = re.compile(
    r"(?:>\s?)*(?:(?P<item>[-*+•]\s+(?=\S))|(?P<heading>#{1,6}\s+))|(?:>\s?)+"
    r"|(?P<fence>`{3,}|~{3,})[\w+-]*$|(?:[-=*_]\s*){3,}$"
)
_END_PUNCTUATION = ".,;:!?…(-–—"
_LINE_START = re.compile(
    r"(?:#|[-+*](?:\s|$)|>|\d{1,9}[.)](?:\s|$)|~~~|=+\s*$|(?:[-*_]\s*){2,}$|\||\[(?:.*\]:|[^\]]*$)"
    r"|:(?:[:\s]|$)|[-:|\s]+$|\+[-=:]|\*\[)"  # definitions, boxes, tables and abbreviations of kramdown and pandoc
)
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*):")
_LINK_SCHEMES = frozenset({"http", "https", "mailto"})
_NUMBERED = re.compile(r"(?<!\\)((?:\\\\)*)\$(?=[0-9])")
_LOOKS_LIKE_JSON = re.compile(r".*`|$|-?[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?$|true$|false$|null$|[\[{\"]")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.:/-]*[A-Za-z0-9])?\Z")
_NAME_SPECIAL = re.compile(rf"([\\`*\[\]<>#!|~$&^]|_(?![A-Za-z0-9])|(?<![A-Za-z0-9])_|{_DIALECTS})")
_EMPHASIZED_NAME = re.compile(r"_(?<![A-Za-z0-9_]_).*_(?![A-Za-z0-9_])")
"""Underscores of which one can open emphasis and a later one can close it."""
_FOREIGN_ADDRESS_PATTERN = re.compile(f"({_FOREIGN_ADDRESS})", re.IGNORECASE)
_ESCAPED_VARIABLE = re.compile(r"\\\$(?=ARGUMENTS|\\?\{CLAUDE_)")
_WWW = re.compile(r"(www)\.", re.IGNORECASE)


def one_line(text: str) -> str:
    """Returns a text on one line with single spaces. Not safe Markdown yet."""
    if text.isascii() and text.isprintable() and "  " not in text and text[:1] != " " and text[-1:] != " ":
        return text
    return " ".join(strip_invisible(text).split())


@lru_cache(4096)
def plain_words(text: str) -> str:
    """Returns a text on one line without the markup of links, images and formatting HTML. Not safe Markdown."""
    line = join_lines(text)
    if "](" in line:
        line = _LINK_OR_IMAGE.sub(r"\1", line)
    if "<" not in line:
        return line
    # An inline tag may be inside a word, so it is removed; a block tag separates words.
    return " ".join(_FORMATTING_TAG.sub(lambda tag: "" if tag["within"] else _tag_separator(tag), line).split())


def _tag_separator(tag: re.Match[str]) -> str:
    """Returns the replacement of a block tag. A tag without a counterpart is text that mentions it."""
    name = tag["block"]
    return " " if name in _UNPAIRED_TAGS or name in _paired_tags(tag.string) else tag[0]


@lru_cache(16)
def _paired_tags(line: str) -> frozenset[str]:
    """Returns the names of the tags with both a start and an end tag in a line."""
    marks = frozenset(_TAG_NAME.findall(line))
    return frozenset(name for end, name in marks if end and ("", name) in marks)


def join_lines(text: str) -> str:
    """Returns a text of several lines on one: list items and paragraphs are separated by punctuation, block markers
    removed."""
    if not _HAS_BLOCKS.search(text) and not _BEGINS_WITH_BLOCK.match(text):
        return one_line(text)
    line = ""
    was_item = is_apart = is_code = False
    for part in strip_invisible(html_to_markdown(text)).split("\n"):
        words = " ".join(part.split())
        mark = None if is_code and not words.startswith(("```", "~~~")) else _BLOCK_MARK.match(words)
        is_code ^= mark is not None and mark["fence"] is not None
        words = words[mark.end() :] if mark else words
        if alert := ALERT.match(words):
            words = f"{alert[1].capitalize()}:{words[alert.end() :]}"
        if not words:
            is_apart = True
            continue
        is_item = mark is not None and mark["item"] is not None
        if line:
            line += _line_separator(
                line.rstrip("*_\"'”’")[-1:] or line[-1],
                words.lstrip("*_")[:1] or words[0],
                is_item,
                was_item,
                is_apart or was_item,
            )
        line += words
        was_item, is_apart = is_item, mark is not None and mark["heading"] is not None
    return line


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
    line = join_lines(text)
    is_special = _INLINE_SPECIAL.search(line) or EMPHASIS.search(line)
    return Markdown(disarm(escape_inline(line)) if is_special else line)


@lru_cache(CACHE_SIZE)
def paragraph(text: str) -> Markdown:
    """Makes a text safe as a line of its own, at the start of which its first characters could open a block."""
    return Markdown(escape_line_start(inline(text)))


def needs_stop(text: str) -> bool:
    """True if a full stop is missing before the next sentence."""
    text = str(inline(text)) if text.rstrip()[-1:] == ">" else text  # a tag may follow the stop
    return text.rstrip(" \t\r\n\"'”’)`*_")[-1:] not in ".!?…:;"


def with_stop(text: str) -> str:
    """Returns a text with a full stop."""
    return f"{text}." if needs_stop(text) else text


@lru_cache(CACHE_SIZE)
def code(text: str) -> Markdown:
    """Returns a text as a code span, with single spaces."""
    return _span(one_line(text))


def code_list(names: Iterable[str], separator: str = ", ", *, last: str | None = None) -> Markdown:
    """Returns names as code spans; `last` is the separator before the last one, if it is another."""
    spans = [*map(code, names)]
    if last is not None and len(spans) > 1:
        spans[-2:] = [Markdown(f"{spans[-2]}{last}{spans[-1]}")]
    return Markdown(separator.join(spans))


@lru_cache(CACHE_SIZE)
def exact_code(text: str) -> Markdown:
    """Returns a text as a code span with all its spaces, for values and patterns."""
    return _span(" ".join(strip_invisible(text).splitlines()))


def _span(line: str) -> Markdown:
    line = disarm(line)
    if "`" not in line and line == line.strip() and not line.endswith("!"):  # kramdown: no closing tick there
        return Markdown(f"`{line}`") if line else Markdown('`""`')
    longest = max((len(run) for run in re.findall("`+", line)), default=1)
    ticks = "`" * (longest + 1)
    return Markdown(f"{ticks} {line.replace('](', '] (')} {ticks}")  # marked finds such a link even in code


def value(data: Json) -> Markdown:
    """Returns a JSON value as a code span; a string without quotes if it cannot be mistaken for another type."""
    return _string_value(data) if isinstance(data, str) else _json_value(data)


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
    text = disarm(strip_invisible(text)).strip("\n")
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2) if "```" in text else 2
    ticks = "`" * (longest + 1)
    return Markdown(f"{ticks}{language if language.lower() in LANGUAGES else 'text'}\n{text}\n{ticks}")


@lru_cache(CACHE_SIZE)
def name(text: str) -> Markdown:
    """Returns a name as the text of a heading, so that a renderer shows the exact name."""
    line = one_line(text)
    left = "" if _EMPHASIZED_NAME.search(line) else "_"
    if left and _PLAIN_NAME.match(line) and not _FOREIGN_ADDRESS_PATTERN.match(line):
        return Markdown(line)
    return Markdown("".join(_exact_name_part(part, left) for part in _FOREIGN_ADDRESS_PATTERN.split(line)))


def _exact_name_part(part: str, left: str) -> str:
    """Returns a part of a name so that a renderer shows it exactly, and no host takes it for a variable.

    The characters of `left` are not escaped.
    """
    if _FOREIGN_ADDRESS_PATTERN.match(part):
        return f"`{part}`"
    shown = (
        _NAME_SPECIAL.sub(lambda match: match[0] if match[0] in left else f"\\{match[0]}", part)
        .replace("\\](", "\\]\\(")
        .replace("\\`", _TICK)
    )
    shown = _WWW.sub(r"\1\\.", shown.replace("://", "\\://"))  # a link would include the escapes after it
    return _ESCAPED_VARIABLE.sub("&#36;", shown)


def link_label(text: str) -> Markdown:
    """Makes a text safe between the brackets of a link, also for parsers without escapes there."""
    return Markdown(disarm(escape_inline(one_line(text).replace("[", "(").replace("]", ")"))) or "(no name)")


def link_title(text: str) -> Markdown:
    """Makes a text the label of a link that reads the same in a renderer and in a parser that only knows links.

    Code and emphasis markers are removed, except underscores of names; the brackets of a tag become parentheses.
    """
    label = str(link_label(text.replace("|", "/")))  # kramdown takes a bar for a table
    if not _LABEL_MARKUP.search(label) and "://" not in label:
        return Markdown(label)
    words = html.unescape(_CODE_OR_ESCAPE_PATTERN.sub(lambda match: match["content"] or match[0][1:], label))
    words = _STRONG.sub(r"\1", words.replace("[", "(").replace("]", ")")).replace("`", "'")
    words = _TAG_START.sub("(", _TAG.sub(r"(\1)", words))
    words = _ENTITY.sub("& ", re.sub(r"\\+(?=[!-/:-@\[-`{-~]|$)", "", words))
    words = words.replace("://", ": //")  # pandoc would link a URL in it, and include the end of the link
    return Markdown(disarm(one_line(words)) or "(no name)")


def link_url(url: str) -> Markdown:
    """Makes a URL safe between the parentheses of a link."""
    line = one_line(url)
    if (scheme := _SCHEME.match(line)) and scheme[1].lower() not in _LINK_SCHEMES:
        line = line.replace(":", "%3A", 1)  # not a URL any more, rather than one that runs something
    quoted = re.sub(r"[\s<>()\[\]\\`\"|]", lambda match: f"%{ord(match[0]):02X}", line)
    quoted = _HOST_FORM_PATTERN.sub(lambda match: f"%{ord(match[0]):02X}", quoted)
    return Markdown(re.sub(r"&(?=#?\w+;)", "&amp;", quoted))


def disarm(text: str) -> str:
    """Returns a text in which no host finds anything to run, fill in or insert (`_HOST_FORMS`)."""
    for hint, pattern in _HOST_FORM_PATTERNS:
        if hint in text:
            text = pattern.sub(r"\g<0> ", text)
    return text


def disarm_log_commands(text: str) -> str:
    """Returns a text without commands for a CI host that reads it in its log."""
    return _LOG_COMMAND_PATTERN.sub(r"\g<0> ", text)


def disarm_json(text: str) -> str:
    """Returns JSON with escapes that break host forms; the values are the same."""
    return _HOST_FORM_PATTERN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def printable_json(text: str) -> str:
    """Returns JSON with escapes for what a terminal or a host would obey; the values are the same."""
    return disarm_json(escape_invisible_in_json(text))


def json_output(data: Json) -> str:
    """Returns indented JSON in which no character controls a terminal or a host."""
    return printable_json(json.dumps(data, ensure_ascii=False, indent=2))


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun: `1 tool`, `1,223 tools`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def exact_json_text(data: Json, indent: int | None = None) -> str:
    """Returns a value as JSON, with escapes for the characters that a filter would change."""
    text = json_text(data, indent)
    if strip_invisible(text) != text:
        text = json.dumps(data, indent=indent, separators=(", " if indent is None else ",", ": "))
    return disarm_json(text.replace("\x7f", "\\u007f"))


def escape_dollar_digits(body: str) -> str:
    """Escapes `$5` in a skill, where Claude Code would replace it with an argument of the invocation, even in code.

    The backslash is an escape both in Claude Code and in Markdown; other files are not processed in this way.
    """
    return _NUMBERED.sub(r"\1\\$", body) if "$" in body else body


@lru_cache(4096)
def escape_inline(line: str) -> str:
    """Converts links, images and HTML to text, then escapes everything that could still be markup, including what the
    conversion created.

    Emphasis is written with asterisks, unless other asterisks in the line could close it.
    """
    if _holds_only_code(line):
        return line
    line = re.sub(" {2,}", " ", _REWORDED.sub(_reword, line)).strip()
    if "://" in line or "@" in line or "www." in line.lower():
        line = _ESCAPED_NEAR_ADDRESSES.sub(_escape_near_addresses, line)
    else:
        line = _ESCAPED.sub(_escape_match, line)
    line = _escape_unclosed_emphasis(line) if EMPHASIS.search(line) else line
    return line + "\\" if len(line) - len(line.rstrip("\\")) & 1 else line


def _escape_unclosed_emphasis(line: str) -> str:
    """Escapes unclosed emphasis markers: `marked` would search for their end inside code."""
    opened: dict[str, list[int]] = {}
    for match in _RUN.finditer(line):
        run = match["run"]
        before, after = line[match.start() - 1 : match.start()], line[match.end() : match.end() + 1]
        if run is None or (run[0] == "_" and before.isalnum() and after.isalnum()):
            continue
        if before.strip() and opened.get(run):
            opened[run].pop()
        elif after.strip():
            opened.setdefault(run, []).append(match.start())
    unclosed = {at for starts in opened.values() for at in starts}
    return _RUN.sub(lambda match: re.sub(r"(.)", r"\\\1", match[0]) if match.start() in unclosed else match[0], line)


def _escape_near_addresses(match: re.Match[str]) -> str:
    if match["foreign"] is not None:
        before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
        return " " * (before in ("\\", "`", "~")) + f"`{match['foreign']}`" + " " * (after == "`")
    if match["address"] is not None:
        address = _IN_ADDRESS.sub(lambda sign: sign[1] or f"%{ord(sign[0]):02X}", match["address"])
        return address + " " * (match.string[match.end() : match.end() + 1] in ("<", "`"))
    return _escape_match(match)


def _escape_match(match: re.Match[str]) -> str:
    if match["emphasized"] is not None:
        return f"*{match['emphasized']}*" if "*" not in match.string else match[0]
    if match["ticks"] == "":
        # kramdown reads a backtick between spaces literally.
        words = match["content"].strip()
        return f"`{words}`" if words else _TICK * 2
    if match["ticks"] is not None:
        return match[0].replace("](", "] (")
    if "`" in (match[0], match["escaped"]):
        return _TICK
    if match["escaped"] is not None:
        return match[0]
    return "\\]\\(" if match[0] == "](" else "\\" + match[0]  # parsers without escapes find no link either


_TICK = "&#96;"
"""A backtick that does not open code: parsers that process code or tables before escapes would count `\\``."""

_NEEDS_ESCAPING = (
    *("<", "](", "][", "\\", "``", "  ", " ` ", "[!", "^[", "{", "$", "@", "~", "|"),
    *("://", "ww.", "Ww.", "wW.", "WW."),
)


def _holds_only_code(line: str) -> bool:
    """True if a line has code spans of one backtick and no other markup, like most lines."""
    return (
        len(line) <= 1000
        and not any(map(line.__contains__, _NEEDS_ESCAPING))
        and line.count("`") % 2 == 0
        and line == line.strip()
        and not line.startswith("` ")
        and not EMPHASIS.search(line)
    )


def _reword(match: re.Match[str]) -> str:
    if match["alt"] is not None:
        return match["alt"] or "(picture)"
    if match["label"] is not None:
        return _link_words(match["label"], match["url"])
    if match["href"] is not None:
        return _link_words(match["words"], html.unescape(match["href"]))
    if match["inner"] is not None:
        return _REWORDED.sub(_reword, match["inner"])
    if match["address"] is not None:
        return match["address"]
    return _tag_separator(match) if match["block"] is not None else match[0]


def _link_words(label: str, url: str) -> str:
    """Returns a link as its text, with the URL if it is valid outside the source's own pages."""
    if not url.startswith(("http://", "https://", "mailto:")) or url == label:
        return label
    address, words = link_url(url), label.rstrip(" ,;:")
    if words == url.partition("://")[2].rstrip("/"):
        return address + label[len(words) :]
    return f"{words} ({address}){label[len(words) :]}" if words else address


def escape_line_start(line: str) -> str:
    """Escapes what would open a block at the start of a line."""
    if not _LINE_START.match(line):
        return line
    return re.sub(r"^(\d+)([.)])", r"\1\\\2", line) if line[0].isdigit() else "\\" + line
