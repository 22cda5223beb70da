"""What a host runs, fills in or inserts is made inert: one scan over the finished text of every file, the last thing
before it is written, because two harmless pieces can meet.

A space breaks a form, or in JSON an escape of the same value. So no literal gets a backslash, and what has no such form
stays byte for byte.
"""

from __future__ import annotations

from skillgen.text import lazy_re as re

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

_ARGUMENT = re.compile(r"\$(?=[0-9])")
"""An argument of the invocation, which Claude Code fills in in the body of SKILL.md, even in code."""

TAG_START = r"<(?=[^\W\d]|[/!?:])"
"""The start of a tag, of which kramdown allows any letter."""

_FREED = re.compile(rf"{TAG_START}|\](?=\()")
"""What comes alive in code that a parser ends early."""

_ENDS_CODE = tuple(
    (re.compile(opens), re.compile(closes))
    for opens, closes in (
        *((re.escape(sign), re.escape(sign)) for sign in "~$^"),
        (r"\*(?!\s)", r"(?<=\S)\*"),
        (r"(?<![^\W_])_(?!\s)", r"_(?!\w)"),
        (r"\[", r"\]\("),
    )
)
"""What opens deleted text, a formula, a superscript, emphasis or a link, and its end, which `marked` and pandoc find in
code, too."""

_CODE = re.compile(r"(`+)[^`]*\1")
_PARAGRAPH_LIMIT = 2_000


def inert(path: str, text: str) -> str:
    """Returns the text of a file without anything that a host would execute."""
    if path.endswith(".py"):  # a program has no text of a source
        return text
    if path.endswith((".json", ".yaml")):
        return disarm_json(text)
    if path.endswith((".md", ".txt")):
        text = _FREED.sub(_held, text)
    if path.rpartition("/")[2] == "SKILL.md" and "$" in text:
        fields, end, body = text.partition("\n---\n") if text.startswith("---\n") else ("", "", text)
        text = fields + end + _ARGUMENT.sub("$ ", body)
    return disarm(text)


def opened_in(words: str) -> set[int]:
    """Returns what may be open after words, by number."""
    return {number for number, (opens, _) in enumerate(_ENDS_CODE) if opens.search(words)}


def ends_early(code: str, opened: set[int]) -> bool:
    """True if something in code comes alive in a parser that finds the end of what is open in it."""
    return bool(_FREED.search(code) and any(_ENDS_CODE[number][1].search(code) for number in opened))


def break_code(code: str) -> str:
    """Returns code in which nothing comes alive, with spaces."""
    return _FREED.sub(r"\g<0> ", code)


def _held(match: re.Match[str]) -> str:
    text, at = match.string, match.start()
    tick, end = text.rfind("`", text.rfind("\n", 0, at) + 1, at), text.find("`", at, at + _PARAGRAPH_LIMIT)
    if tick < 0 or end < 0:
        return match[0]
    code = text[tick : end + 1]
    if not ends_early(code, {*range(len(_ENDS_CODE))}):
        return match[0]
    before = _CODE.sub("", text[max(text.rfind("\n\n", 0, at), at - _PARAGRAPH_LIMIT, 0) : tick + 1])
    return match[0] + " " * (before.endswith("`") and ends_early(code, opened_in(before)))


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


def disarm_url(url: str) -> str:
    """Returns a URL with codes for what a host would obey."""
    return _HOST_FORM_PATTERN.sub(lambda match: f"%{ord(match[0]):02X}", url)
