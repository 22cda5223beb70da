"""Matches strings against patterns of ECMA 262, and builds strings that match them.

Both need the syntax: real descriptions hold patterns of other languages too, so a pattern is rewritten, part by part,
in the syntax that the engine of `jsonschema-rs` shares with ECMA 262. The engine takes linear time, and for
look-arounds a bounded number of steps. What is not understood is not matched, and no string is built for it.
"""

from __future__ import annotations

import json
import string
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, field

from skillgen.model.values import Json
from skillgen.text import lazy_re as re

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

LENGTH_LIMIT = 200
"""Characters of a generated string."""

_PATTERN_LIMIT = 800
"""Characters of a pattern that is read."""

MATCHED_LIMIT = 2_000
"""Characters of a string that is matched; the time is proportional to its length and to the size of the pattern."""

_BACKTRACKING_LIMIT = 20_000
_ENGINE_SIZE_LIMIT_BYTES = 1_000_000
"""Size of a compiled pattern; 2,000 characters are matched in less than a second."""

_LONG_REPETITIONS = re.compile(r"\{(\d+),\d{3,}\}"), re.compile(r"\{(\d+),\d{2,}\}")
"""Upper bounds of many digits make a pattern large. If it is too large, it is matched without them."""


class NoString(ValueError):
    """No string is generated for a pattern, or the pattern is not supported."""


def compiled(schema: Json) -> Draft202012Validator:
    """Returns the validator of a schema, whose patterns are of the engine's syntax.

    Raises:
        ValueError: the schema is invalid, or a pattern is too large.
    """
    return _compiled(json.dumps(schema))


@lru_cache(2048)  # most values are strings without constraints, and compiling takes ten times as long as validating
def _compiled(schema: str) -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator, FancyRegexOptions

    options = FancyRegexOptions(backtrack_limit=_BACKTRACKING_LIMIT, size_limit=_ENGINE_SIZE_LIMIT_BYTES)
    return Draft202012Validator(json.loads(schema), validate_formats=True, pattern_options=options)


def matches(pattern: str, text: str) -> bool | None:
    """True if a pattern matches anywhere in a string; `None` if that is not known."""
    engine_pattern = engine_syntax(pattern)
    if engine_pattern is None or len(text) > MATCHED_LIMIT:
        return None
    return _search(engine_pattern, text)


def is_exhausted(message: str) -> bool:
    """True if a validation error only says that a pattern needs more steps than are allowed."""
    return "backtracking" in message


@lru_cache(4096)
def engine_syntax(pattern: str) -> str | None:
    """Returns a pattern in the engine's syntax; `None` if it is not supported."""
    try:
        _, text = _parsed(pattern)
    except NoString:
        return None
    for candidate in (text, *(repetition.sub(r"{\1,}", text) for repetition in _LONG_REPETITIONS)):
        try:
            compiled({"pattern": candidate})
        except ValueError:
            continue
        return candidate
    return None


def _search(engine_pattern: str, text: str) -> bool | None:
    try:
        error = next(iter(compiled({"pattern": engine_pattern}).iter_errors(text)), None)
    except ValueError:  # half of a surrogate pair
        return None
    return None if error is not None and is_exhausted(error.message) else error is None


# -- syntax --------------------------------------------------------------------------------------------------------


class _Set(Struct, frozen=True):
    """One character of several."""

    text: str
    """The set in the engine's syntax."""


class _Group(Struct, frozen=True):
    """Alternatives, or a look-around."""

    look_around: str
    """`=`, `!`, `<=`, `<!`; empty for a group that takes characters."""

    branches: list[list[_Node]] = field(default_factory=lambda: [[]])
    """The alternatives, each a sequence."""


class _Repetition(Struct, frozen=True):
    node: _Node
    low: int
    high: int


_Node: TypeAlias = "str | _Set | _Group | _Repetition"
"""A part of a pattern; a string is one literal character."""


_ESCAPE = r"\\(?:[pP]\{\^?[\w=]+\}|u\{[0-9A-Fa-f]{1,6}\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|c[A-Za-z]|0[0-7]{0,2}|.)"
_CLASS_ITEM = re.compile(rf"{_ESCAPE}|\[:\^?\w+:\]|.", re.DOTALL)
_TOKEN = re.compile(
    rf"(?P<set>\[(?:{_ESCAPE}|\[:\^?\w+:\]|[^\]\\])*(?P<end>\])?|\.)|(?P<escape>{_ESCAPE})"
    r"|(?P<open>\((?:\?(?:P?<\w+>|<?[=!]|:))?)|(?P<close>\))|(?P<or>\|)"
    r"|(?P<quantifier>(?:[*+?]|\{\d{1,9}(?:,\d{0,9})?\})\??)|(?P<anchor>[\^$])|(?P<literal>[^\\\[])",
    re.DOTALL,
)
_OTHER_LANGUAGES = re.compile(r"\A/\^|\$/[a-z]*\Z|\{,")
"""JavaScript's `/^a$/i`, and `{,3}`, which is a repetition in Python and literal in ECMA 262."""

_SURROGATES = re.compile(r"\\u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
_ANCHOR_ESCAPES = {"\\A": "^", "\\z": "$", "\\Z": "$", "\\b": r"\b", "\\B": r"\B"}
_SET_ESCAPES = frozenset({r"\d", r"\D", r"\w", r"\W", r"\s", r"\S"})
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
_ANY = r"[^\n\r\u2028\u2029]"
_NO_LIMIT = 1 << 30

_CLASSES_OF_OTHERS = {
    "alpha": r"\p{Alphabetic}",
    "digit": r"\p{Nd}",
    "alnum": r"\p{Alphabetic}\p{Nd}",
    "upper": r"\p{Uppercase}",
    "lower": r"\p{Lowercase}",
    "punct": r"\p{P}",
    "space": r"\s",
    "print": " -~",
    "graph": "!-~",
    "cntrl": r"\p{Cc}",
    "xdigit": "0-9A-Fa-f",
}
"""Classes of POSIX and Java, as members of a set."""


@lru_cache(1024)
def _parsed(pattern: str) -> tuple[_Group, str]:
    """Parses a pattern; returns its parts, and the pattern in the engine's syntax.

    Raises:
        NoString: it is too long, or not supported.
    """
    if len(pattern) > _PATTERN_LIMIT or _OTHER_LANGUAGES.search(pattern):
        raise NoString("the pattern is not supported")
    stack, texts = [_Group("")], []
    end = 0
    previous: str | None = None
    pattern = _SURROGATES.sub(_combined, pattern)
    for token in _TOKEN.finditer(pattern):
        if token.start() != end:
            break
        end, kind, text = token.end(), token.lastgroup, token[0]
        sequence = stack[-1].branches[-1]
        if kind == "open":
            stack.append(_Group(text[2:] if text.endswith(("=", "!")) else ""))
            text = text if stack[-1].look_around else "(?:"
        elif kind == "close":
            if len(stack) == 1:
                raise NoString("a parenthesis without its partner")
            group = stack.pop()
            stack[-1].branches[-1].append(group)
        elif kind == "or":
            stack[-1].branches.append([])
        elif kind == "quantifier":
            if previous not in ("set", "escape", "literal", "close") or not sequence:
                raise NoString("a repetition of nothing")
            sequence.append(_Repetition(sequence.pop(), *_bounds(text)))
        elif text in _ANCHOR_ESCAPES:
            text, kind = _ANCHOR_ESCAPES[text], "anchor"
        elif kind != "anchor":
            if kind == "set" and text != "." and token["end"] is None:
                raise NoString("a bracket without its partner")
            node = _set(text) if kind == "set" else _character(text)
            sequence.append(node)
            text = node.text if isinstance(node, _Set) else _literal(node)
        texts.append(text)
        previous = kind
    if end < len(pattern) or len(stack) > 1:
        raise NoString("a bracket without its partner")
    return stack[0], "".join(texts)


def _combined(pair: re.Match[str]) -> str:
    return f"\\u{{{0x10000 + ((int(pair[1], 16) - 0xD800) << 10) + int(pair[2], 16) - 0xDC00:X}}}"


def _bounds(quantifier: str) -> tuple[int, int]:
    if quantifier[0] in "*+?":
        return int(quantifier[0] == "+"), 1 if quantifier[0] == "?" else _NO_LIMIT
    low, comma, high = quantifier.rstrip("?")[1:-1].partition(",")
    return int(low), int(high) if high else _NO_LIMIT if comma else int(low)


def _character(token: str) -> str | _Set:
    """Returns the meaning of a literal, or of an escape that is not an anchor."""
    if len(token) == 1:
        return token
    kind = token[1]
    if token in _SET_ESCAPES:
        return _Set(token)
    if kind in "pP" and len(token) > 2:
        members = _CLASSES_OF_OTHERS.get(token[3:-1].removeprefix("Is").lower())
        return _Set(token if members is None else f"[{'^' if kind == 'P' else ''}{members}]")
    if kind in "ux" and len(token) > 2:
        code = int(token[2:].strip("{}"), 16)
        if code > 0x10FFFF:
            raise NoString("not a character")
        return chr(code)
    if kind == "c" and len(token) > 2:
        return chr(ord(token[2]) % 32)
    if kind == "0":
        return chr(int(token[1:], 8))
    if kind in _CONTROLS:
        return _CONTROLS[kind]
    if kind.isascii() and kind.isalnum():
        raise NoString(f"the escape {token} is not supported")
    return kind


def _set(token: str) -> _Set:
    if token == ".":
        return _Set(_ANY)
    negation = "^" if token.startswith("[^") else ""
    items = _CLASS_ITEM.findall(token[1 + len(negation) : -1])
    if not items:
        raise NoString("an empty set")
    parts: list[str] = []
    while items:
        first = _member(items.pop(0))
        if isinstance(first, _Set):
            parts.append(first.text)
            continue
        last = _member(items[1]) if len(items) > 1 and items[0] == "-" else None
        if isinstance(last, str):
            del items[:2]
        else:
            last = first
        if not (_is_surrogate(first) and _is_surrogate(last)):  # halves, which no string has
            parts.append(_literal(first) if first == last else f"{_literal(first)}-{_literal(last)}")
    return _Set(f"[{negation}{''.join(parts)}]")


def _member(item: str) -> str | _Set:
    """Returns a member of a set: a character, or a set without brackets."""
    if item == "\\b":
        return "\b"
    if item.startswith("[:") and len(item) > 2:
        members = _CLASSES_OF_OTHERS.get(item[2:-2])
        if members is None:
            raise NoString(f"the class {item} is not supported")
        return _Set(members)
    member = _character(item)
    if isinstance(member, _Set) and member.text.startswith("["):
        if member.text.startswith("[^"):
            raise NoString(f"{item} is not supported in a set")
        return _Set(member.text[1:-1])
    return member


def _is_surrogate(character: str) -> bool:
    return "\ud800" <= character <= "\udfff"


def _literal(character: str) -> str:
    """Returns a character in the engine's syntax, in a set or outside of one."""
    if character < " " or character == "\x7f":
        return f"\\x{ord(character):02x}"
    return f"\\{character}" if character in string.punctuation and character not in "_\"'<>@!#%,:;=`" else character


# -- strings -------------------------------------------------------------------------------------------------------

_READABLE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_ ./:@"
_READABLES = (_READABLE, "123456789" + _READABLE)
"""Characters in order of preference, with and without digits first: look-aheads may forbid letters only, or zeros."""


@lru_cache(4096)
def string_matching(pattern: str, least: int = 0, most: int = LENGTH_LIMIT) -> str:
    """Returns a string of `least` to `most` characters in which a pattern matches.

    Raises:
        NoString: the pattern is invalid or not supported, or no such string was found.
    """
    root, _ = _parsed(pattern)
    for readable in _READABLES:
        for wanted in dict.fromkeys((max(least, 1), max(least, 3), max(least, 8), 0)):
            text = _Builder(wanted, readable).text(root)
            if len(text) < least:
                text += "a" * (least - len(text))
            for candidate in (text, *_with_characters(text, _look_ahead_characters(root, readable))):
                if len(candidate) <= most and matches(pattern, candidate):
                    return candidate
    raise NoString(f"no string is generated for the pattern {pattern[:80]!r}")


class _Builder:
    """Builds a string; each repetition is as short as its bounds and the wanted length allow."""

    def __init__(self, wanted: int, readable: str) -> None:
        self._wanted = wanted
        self._readable = readable
        self._length = 0

    def text(self, node: _Node) -> str:
        return "".join(self._parts(node))

    def _parts(self, node: _Node) -> Iterator[str]:
        if isinstance(node, _Repetition):
            yield from self._repeated(node)
        elif isinstance(node, _Group):
            if not node.look_around:
                for inner in node.branches[0]:
                    yield from self._parts(inner)
        else:
            self._length += 1
            if self._length > LENGTH_LIMIT:
                raise NoString("the string is too long")
            yield node if isinstance(node, str) else _pick_character(node.text, self._readable)

    def _repeated(self, repetition: _Repetition) -> Iterator[str]:
        times = 0
        while times < repetition.low or (times < repetition.high and self._length < self._wanted):
            before = self._length
            yield from self._parts(repetition.node)
            times += 1
            if self._length == before:
                return


def _look_ahead_characters(group: _Group, readable: str) -> str:
    """Returns one character for each look-ahead: `(?=.*[a-z])(?=.*\\d)`."""
    characters = ""
    for node in group.branches[0]:
        if not isinstance(node, _Group):
            continue
        if node.look_around == "=":
            once = [inner for inner in node.branches[0] if not isinstance(inner, _Repetition)]
            characters += _Builder(0, readable).text(_Group("", [[*once]]))
        elif not node.look_around:
            characters += _look_ahead_characters(node, readable)
    return characters


def _with_characters(text: str, characters: str) -> Iterator[str]:
    """Yields a string with its end, and with its start, replaced by characters."""
    if characters:
        yield text[: max(len(text) - len(characters), 0)] + characters
        yield characters + text[len(characters) :]


@lru_cache(1024)
def _pick_character(set_text: str, readable: str) -> str:
    """Returns a character of a set, preferably a readable one, else one that the set names."""
    try:
        compiled({"pattern": (pattern := f"^{set_text}$")})
    except ValueError:
        raise NoString(f"the set {set_text[:80]} is not supported") from None
    for character in dict.fromkeys(readable + set_text.lstrip("[^") + string.punctuation):
        if _search(pattern, character):
            return character
    raise NoString("a set without a readable character")
