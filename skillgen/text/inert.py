"""What a host runs, fills in or inserts is made inert: one scan over the finished text of every file, the last thing
before it is written, because two harmless pieces can meet.

A space breaks a form, or in JSON an escape of the same value. So no literal gets a backslash, and what has no such form
stays byte for byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

from skillgen.text import lazy_re as re

_LOG_COMMANDS = {
    "##": r"#(?<=##)(?=\[|vso\[|teamcity\[)",  # commands in the log of a CI host: GitHub, Azure, TeamCity
    "::": r":(?<![\w:]:)(?=:[A-Za-z](?:(?!::)[^\n])*::)",
}

_HOST_FORMS = {
    "@": r"@(?<!\S@)(?=[.\"])",  # a hidden or quoted file; not `(@.price)` of a JSONPath
    "-8<": r"8(?<=-8)(?=<-)",  # --8<-- "file": MkDocs with pymdownx.snippets
    "{!": r"\{(?=!\s*[^\s!{}][^!\n]*!)",  # {!file!}: MkDocs with markdown-include
    "!": r"!(?=[`{]|\[\[)",  # !`command`: Claude Code and OpenCode run it; !{command}: Gemini CLI; ![[file]]: Obsidian
    "#[[file:": r"#(?=\[\[file:)",  # #[[file:x]]: Kiro
    "```!": r"`(?<=```)(?=!)",  # a fence opened with ```! is run by Claude Code, also inside a longer fence
    "$": r"\$(?=ARGUMENTS|\{CLAUDE_)",  # arguments of an invocation, and variables of Claude Code
    "{{": r"\{(?=\{)",  # Liquid, which Jekyll runs before it reads Markdown; {{args}} of Gemini CLI
    "{%": r"\{(?=%)",
    **_LOG_COMMANDS,
}
"""What a host runs, fills in or inserts, by a part of it. Hosts search the raw text: no code and no fence protects it.

Each pattern matches one character, after which a space, or in JSON its escape, breaks the form. Each begins with that
character, because `re` can then skip to it: a look-behind in front costs a quarter of a second for 10 MB. The
patterns of files come first: they look so far ahead that they would meet the spaces of the others.
"""

_HOST_FORM_PATTERNS = tuple((part, re.compile(form)) for part, form in _HOST_FORMS.items())
"""One by one, these search a document several times faster than together: `re` skips to a single first character. What
a form contains is found faster still, its last character before the others, and most texts contain none of them.
"""
_LOG_COMMAND_PATTERN = re.compile("|".join(_LOG_COMMANDS.values()))

_FILE = re.compile(r"@(?:\{[^{}\n]*|(?<![\w`]@)(?:\\\s|\S)+)")
_FILE_START = re.compile(r"@(?:(?=\{)|(?<![\w`]@))")
_OUTSIDE = re.compile(r"@(?:\{\s*[.$~/\\]|(?<![\w`]@)[~/\\]|\{?\s*[A-Za-z]\\?:[\\/])|(?<!\.)\.\.(?!\.)")
"""What a host inserts as a file, each place from which it may, and what may be outside of the project: Claude Code and
Gemini CLI at the start of a word, also `@{file}` and `@a\\ b`, OpenCode also after a bracket or a quote."""

_ARGUMENT = re.compile(r"\$(?=[0-9])")
"""An argument of the invocation, which Claude Code fills in in the body of SKILL.md, even in code."""

TAG_START = r"<(?=[^\W\d]|[/!?:])"
"""The start of a tag, of which kramdown allows any letter."""

SPAN_ATTRIBUTES = r"\{\s*(?:[#.:=%-]|[\w:.-]{1,80}\s*=)"
ATTRIBUTES = r"\{\s*(?:[\#.]|[\w:.-]{1,80}\s*=)[^{}`\n]{0,1000}\}(?=\s*$)"
"""Attributes in pandoc: of a link, and of a heading at its end."""

TRIGGER = re.compile(
    rf"{TAG_START}|\](?={SPAN_ATTRIBUTES}|\((?!https?://[\w.~:/?#@!$&'+,;=%-]*\)(?!\{{)))|!(?=\[)|\{{(?=:)|`(?=\{{)"
    rf"|\^(?=\[)|{ATTRIBUTES}|:(?=//)(?<!http:)(?<!https:)|:(?=[^\s<`{{$!:/@]{{0,80}}@)|w[wW]{{2}}(?<!www)\.|W[wW]{{2}}\."
)
"""Where a parser may find more than words, code and emphasis. A text without any of it is safe unchanged."""

_ENDS_CODE = tuple(
    (re.compile(opens), re.compile(closes))
    for opens, closes in ((r"\$(?=\S|$)", r"(?<=\S)\$"), (r"~(?=\S|$)", r"(?<=\S)~"), (r"\^", r"\^"), (r"\[", r"\]\("))
)
"""What opens a formula, deleted text, a superscript or a link, and its end, which parsers find in code, too."""

_EMPHASIZED = re.compile(r"(\*{1,3}|_{1,3})(?=\S)[^*_\n]{1,500}?(?<=\S)\1")
_UNDERSCORE_END = re.compile(r"_(?!\w)")
_EMPHASIS = ((re.compile(r"\*(?!\s)"), re.compile(r"(?<=\S)\*")), (re.compile(r"(?<![^\W_])_(?!\s)"), _UNDERSCORE_END))
"""The same for emphasis that is not closed outside of code."""

_FENCE_LINE = re.compile(r"\n(```+|~~~+)([^\n]*)")
_SPAN = re.compile(r"(`(?<!``)(?:[^`\n]+`|(`+)(?!`)(?:(?!`\2)[^\n]){1,5000}`\2)(?!`))")
_CODE_ENDS = ("~", "^", "*", "](", "\n ", "\n\t")
"""What may end code early, in code spans, each behind a line break; a `$` may do so from outside, too."""

_TAG = re.compile(TAG_START)
_ALIVE_CODE = re.compile(TRIGGER.pattern, re.MULTILINE)
"""The same as `TRIGGER` in code spans, each on a line."""
_PARAGRAPH_END = re.compile(r"\n(?=\n)")
_BLOCK_START = re.compile(r"(?<=\n)(?=[ \t]*(?:[-*+>#]|\d{1,9}[.)]|```))")


def inert(path: str, text: str) -> str:
    """Returns the text of a file without anything that a host would execute."""
    if path.endswith(".py"):  # a program has no text of a source
        return text
    if path.endswith((".json", ".yaml")):
        return disarm_json(text)
    text = _with_held_code(text) if path.endswith((".md", ".txt")) and "`" in text else disarm(text)
    if path.rpartition("/")[2] == "SKILL.md" and "$" in text:
        fields, end, body = text.partition("\n---\n") if text.startswith("---\n") else ("", "", text)
        text = fields + end + _ARGUMENT.sub("$ ", body)
    return text


def held(parts: list[str]) -> Iterator[str]:
    """Yields the words and the code of a paragraph; where a parser may end code early, with spaces in what is alive.

    What follows such code is paired otherwise.
    """
    words = "".join("x" if part[0] == "`" else part for part in parts)
    stars = [ends for opens, ends in _EMPHASIS if opens.search(words)]
    words = _EMPHASIZED.sub("", words) if stars else ""
    closes = [ends for opens, ends in _EMPHASIS if opens.search(words)]
    is_free = False
    for part in parts:
        if part[0] != "`":
            closes += [ends for opens, ends in _ENDS_CODE if ends not in closes and opens.search(part)]
            is_free |= "$$" in part  # kramdown without an engine for formulas prints them raw
            yield part
            continue
        is_free |= any(ends.search(part) for ends in closes)
        ticks = len(part) - len(part.lstrip("`"))
        content = part[ticks:-ticks]
        # kramdown reads code that begins with a space, in a table, as words
        is_alive = is_free or content[:2].isspace() or any(ends.search(part) for ends in stars)
        yield part[:ticks] + TRIGGER.sub(r"\g<0> ", content) + part[-ticks:] if is_alive else part


def _fences(text: str) -> Iterator[tuple[int, int]]:
    """Yields where each fence begins and ends."""
    mark, start = "", 0
    for line in _FENCE_LINE.finditer(f"\n{text}") if "```" in text or "~~~" in text else ():
        if not mark:
            mark, start = line[1], line.start()
        elif line[1].startswith(mark) and not line[2].strip():
            yield start, line.end() - 1
            mark = ""


def _with_held_code(text: str) -> str:
    """Returns a disarmed document with `held` code, also where code and what it ends are of different texts.

    What is in a fence is code, whatever it contains. No form of a host goes over a line end, so each part is disarmed
    by itself: few have one.
    """
    done, out = 0, []
    for start, end in (*_fences(text), (len(text), len(text))):
        words = text[done:start]
        if (code := _code_of(words)) is None or _is_live(code, words):
            words = "\n".join(map(_held_paragraph, _PARAGRAPH_END.split(words)))
        out += [disarm(words), disarm(text[start:end])]
        done = end
    return "".join(out)


def _code_of(text: str) -> str | None:
    """Returns the code of a text, each span behind a line break; `None` if one is not simply between two backticks."""
    pieces = text.split("`")
    code = "\n".join(["", *pieces[1::2]])
    return None if "" in pieces[1:-1] or code.count("\n") > len(pieces) // 2 else code


def _is_live(code: str, text: str) -> bool:
    """True if a parser could end code of a text early and find anything in it; it does in few."""
    may_end = "$" in text or any(map(code.__contains__, _CODE_ENDS)) or _UNDERSCORE_END.search(code)
    return bool(may_end and _ALIVE_CODE.search(code))


def _held_paragraph(text: str) -> str:
    """Returns a paragraph with `held` code. Lines without a blank one between them are one: pandoc finds no list among
    them.
    """
    if "](" not in text and not ("<" in text and _TAG.search(text)):
        return text
    if (code := _code_of(text)) is None:
        code = "\n".join(["", *(part.strip("`") for part in _SPAN.split(text) if part and "`" in part)])
    if not _is_live(code, text):
        return text
    blocks = (enumerate(_SPAN.split(block)) for block in _BLOCK_START.split(text))
    return "".join(held([part for block in blocks for number, part in block if number % 3 != 2 and part]))


def disarm(text: str, replacement: str | Callable[[re.Match[str]], str] = r"\g<0> ") -> str:
    """Returns a text in which no host finds anything to run, fill in or insert (`_HOST_FORMS`)."""
    if "@" in text:
        text = _FILE.sub(lambda it: _FILE_START.sub(replacement, it[0]) if _OUTSIDE.search(it[0]) else it[0], text)
    for hint, pattern in _HOST_FORM_PATTERNS:
        if hint[-1] in text and hint in text:
            text = pattern.sub(replacement, text)
    return text


def disarm_log_commands(text: str) -> str:
    """Returns a text without commands for a CI host that reads it in its log."""
    return _LOG_COMMAND_PATTERN.sub(r"\g<0> ", text)


def disarm_json(text: str) -> str:
    """Returns JSON with escapes that break host forms; the values are the same."""
    return disarm(text, lambda match: f"\\u{ord(match[0]):04x}")


def disarm_url(url: str) -> str:
    """Returns a URL with codes for what a host would obey."""
    return disarm(url, lambda match: f"%{ord(match[0]):02X}")


KEY = "generated-by"
"""The key of the mark in front matter."""

GENERATOR = "skillgen"
"""The value of the mark, before its digest."""

OWN_WORDS = "From the Service"
"""The heading in a section of the text below which the source's own words are; the rest of the section is derived."""


def digest_of(text: str) -> str:
    """Returns the digest of a text without its front matter."""
    return hashlib.sha256(re.sub(r"[\W_]+", "", text).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def marked(text: str) -> str:
    """Returns a text with the digest in the mark of its front matter."""
    fields, end, body = text.partition("\n---\n")
    return fields.replace(f"\n{KEY}: {GENERATOR}", f"\n{KEY}: {GENERATOR} {digest_of(body)}", 1) + end + body


def is_edited(mark: object, text: str) -> bool | None:
    """Returns whether a text with a mark was edited since, as far as the mark has a digest; `None` without a mark."""
    generator, _, digest = str(mark).partition(" ")
    return digest not in ("", digest_of(text)) if generator == GENERATOR else None


def is_generated(text: object) -> bool:
    """True if a text begins with front matter that has the mark."""
    return isinstance(text, str) and text.lstrip().startswith("---") and f"\n{KEY}: {GENERATOR}" in text
