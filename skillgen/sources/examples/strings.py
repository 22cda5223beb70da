"""Generates strings: by format, by pattern, else the name of the parameter in upper case.

Patterns are regular expressions of ECMA 262, parsed with CPython's parser. They are matched in a bounded number of
steps, so no pattern can hang. A string is built from the parsed pattern (characters, sets, repetition, groups and
alternatives) and matched before it is used; back-references are not supported.
"""

from __future__ import annotations

import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from skillgen.model.values import Json

if sys.version_info >= (3, 11):
    from re import _constants as sre
    from re import _parser as sre_parser
else:
    import sre_constants as sre
    import sre_parse as sre_parser

LENGTH_LIMIT = 200
"""Characters of a generated string; a pattern may have four times as many."""

_PROPERTY = re.compile(r"\\\\|\\([pP])\{(?:\w+=)?(\^?\w+)\}|\[:(\^?\w+):\]")
_SURROGATES = re.compile(r"\\u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
_CLASS_IN_RANGE = re.compile(r"(\\[wdsWDS])-(?!\])")
_CODE_POINT = re.compile(r"\\\\|\\u\{([0-9A-Fa-f]{1,6})\}")
_DIFFERENT_IN_PYTHON = re.compile(r"\A/\^|\$/[a-z]*\Z|(?<!\\)(?:\\\\)*(?:\[\^?\]|\{,)")
"""Syntax with another meaning in Python: JavaScript's `/^a$/i`, and `[]`, `[^]` and `{,3}`."""
_ANCHORS = re.compile(r"\\[\\Az]")
_ECMA_ANCHORS = {"\\A": "^", "\\z": "$"}
"""Anchors of other languages to those of ECMA 262."""

_FIRST_MARKER = 0xF0000
"""Code point of the first character that represents a Unicode property in a parsed pattern; it is of private use."""

_FLAGS = re.UNICODE.value
"""The flags that a parsed pattern may have: Python sets this one for any string."""


class NoString(ValueError):
    """No string is generated for a pattern, or the pattern is not supported."""


@lru_cache(4096)
def _parse_pattern(pattern: str) -> Any:
    """Parses a pattern of ECMA 262 with the `u` flag; a literal may be a marker (`_property_of`).

    Raises:
        re.error: it is not a valid pattern.
        NoString: it is too long, or has another meaning in Python.
    """
    if len(pattern) > 4 * LENGTH_LIMIT:
        raise NoString("the pattern is too long")
    if _DIFFERENT_IN_PYTHON.search(pattern) or any(_property_of(ord(character)) for character in pattern):
        raise NoString("the pattern means something else in Python")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = sre_parser.parse(_to_python(pattern))
    if parsed.state.flags & ~_FLAGS:
        raise NoString("flags in the pattern")
    return parsed


def _property_of(code: int) -> Callable[[str], bool] | None:
    """Returns the test for the Unicode property that a marker represents; `None` for any other character."""
    place = code - _FIRST_MARKER
    if not 0 <= place < 2 * len(_PROPERTIES):
        return None
    test = _PROPERTIES[place // 2]
    return test if place % 2 == 0 else lambda character: not test(character)


def _to_python(pattern: str) -> str:
    """Translates a pattern of ECMA 262 to Python's syntax."""
    pattern = _PROPERTY.sub(_marker, pattern)
    pattern = _CODE_POINT.sub(lambda match: f"\\U{int(match[1], 16):08X}" if match[1] else match[0], pattern)
    pattern = _ANCHORS.sub(lambda match: _ECMA_ANCHORS.get(match[0], match[0]), pattern)
    pattern = _SURROGATES.sub(lambda pair: f"\\U{_combine_surrogates(pair[1], pair[2]):08X}", pattern)
    pattern = _CLASS_IN_RANGE.sub(r"\1\\-", pattern)
    pattern = pattern.replace("(?<", "(?P<").replace("(?P<=", "(?<=").replace("(?P<!", "(?<!")
    return pattern.replace("\\/", "/")


def _combine_surrogates(high: str, low: str) -> int:
    return 0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00


def _marker(match: re.Match[str]) -> str:
    written = match[2] or match[3]
    if written is None:  # an escaped backslash
        return match[0]
    name = written.removeprefix("^").lower().replace("_", "")
    name = _ALIASES.get(name, name)
    name = _ALIASES.get(name.removeprefix("is"), name.removeprefix("is"))
    if name not in _TEST_INDEXES:
        raise NoString(f"the property {written} is not known")
    is_negated = (match[1] == "P") is not written.startswith("^")
    return chr(_FIRST_MARKER + 2 * _TEST_INDEXES[name] + is_negated)


def _category_test(prefix: str) -> Callable[[str], bool]:
    return lambda character: unicodedata.category(character).startswith(prefix)


def _script_test(name: str) -> Callable[[str], bool]:
    """Returns a test that knows ASCII and the characters that are named after the script, and raises for others."""

    def test(character: str) -> bool:
        if unicodedata.name(character, "").startswith(name):
            return True
        if character.isascii():
            return False
        raise NoString(f"the script of {character!r} is not known")

    return test


def _is_alphabetic(character: str) -> bool:
    if unicodedata.category(character) in ("Mn", "Mc", "So", "Nl"):
        raise NoString(f"whether {character!r} is alphabetic is not known")
    return character.isalpha()


_CATEGORIES_OF_UNICODE = (
    "Lu Ll Lt Lm Lo L Mn Mc Me M Nd Nl No N Pc Pd Ps Pe Pi Pf Po P Sm Sc Sk So S Zs Zl Zp Z Cc Cf Cs Co Cn C"
)
_SCRIPTS = "LATIN GREEK CYRILLIC ARABIC HEBREW THAI HANGUL HIRAGANA KATAKANA DEVANAGARI ARMENIAN GEORGIAN"
_TESTS: dict[str, Callable[[str], bool]] = {
    **{name.lower(): _category_test(name) for name in _CATEGORIES_OF_UNICODE.split()},
    **{name.lower(): _script_test(name) for name in _SCRIPTS.split()},
    "han": _script_test("CJK UNIFIED IDEOGRAPH"),
    "lc": lambda character: unicodedata.category(character) in ("Lu", "Ll", "Lt"),
    "alphabetic": _is_alphabetic,
    "lowercase": str.islower,
    "uppercase": str.isupper,
    "alnum": lambda character: _is_alphabetic(character) or character.isdecimal(),
    "hexdigit": lambda character: character in "0123456789abcdefABCDEF",
    "ascii": str.isascii,
    "any": lambda character: True,
    "print": lambda character: " " <= character <= "~",
    "graph": lambda character: "!" <= character <= "~",
}
_PROPERTIES = tuple(_TESTS.values())
_TEST_INDEXES = {name: place for place, name in enumerate(_TESTS)}
_ALIASES = {
    "letter": "l",
    "lowercaseletter": "ll",
    "uppercaseletter": "lu",
    "titlecaseletter": "lt",
    "casedletter": "lc",
    "modifierletter": "lm",
    "otherletter": "lo",
    "mark": "m",
    "combiningmark": "m",
    "nonspacingmark": "mn",
    "number": "n",
    "decimalnumber": "nd",
    "digit": "nd",
    "letternumber": "nl",
    "othernumber": "no",
    "punctuation": "p",
    "punct": "p",
    "dashpunctuation": "pd",
    "connectorpunctuation": "pc",
    "symbol": "s",
    "mathsymbol": "sm",
    "currencysymbol": "sc",
    "separator": "z",
    "spaceseparator": "zs",
    "space": "zs",
    "other": "c",
    "control": "cc",
    "cntrl": "cc",
    "format": "cf",
    "unassigned": "cn",
    "privateuse": "co",
    "alpha": "alphabetic",
    "lower": "lowercase",
    "upper": "uppercase",
    "latn": "latin",
    "grek": "greek",
    "cyrl": "cyrillic",
    "arab": "arabic",
    "hebr": "hebrew",
    "hani": "han",
    "hira": "hiragana",
    "kana": "katakana",
    "xdigit": "hexdigit",
    "asciihexdigit": "hexdigit",
    "ahex": "hexdigit",
}
"""Aliases to the names in `_TESTS`, in lower case and without underscores."""


_STEPS_LIMIT = 200_000
"""Steps of one search."""


def matches(pattern: str, text: str) -> bool | None:
    """True if a pattern matches anywhere in a string; `None` if that takes too long or is not supported.

    All alternatives are followed at once, and steps are counted, so no pattern can hang.
    """
    try:
        parsed = _parse_pattern(pattern)
        return bool(_Matcher(text).ends(parsed, set(range(len(text) + 1))))
    except (NoString, re.error, RecursionError, OverflowError):
        return None


class _Matcher:
    """Computes the indexes where a pattern can end in a string, from many start indexes at once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._steps = 0

    def ends(self, parsed: Any, starts: set[int]) -> set[int]:
        for op, argument in parsed:
            self._steps += len(starts) + 1
            if self._steps > _STEPS_LIMIT:
                raise NoString("too many steps")
            if not starts:
                break
            starts = self._after(op, argument, starts)
        return starts

    def _after(self, op: Any, argument: Any, starts: set[int]) -> set[int]:
        if op is sre.AT:
            return {start for start in starts if self._is_at(argument, start)}
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            low, high, inner = argument
            return self._repeated(low, high, inner, starts)
        if op is sre.SUBPATTERN:
            if argument[1] or argument[2]:
                raise NoString("flags in the pattern")
            return self.ends(argument[3], starts)
        if op is sre.BRANCH:
            return set().union(*(self.ends(branch, starts) for branch in argument[1]))
        if op in (sre.ASSERT, sre.ASSERT_NOT):
            return {
                start for start in starts if self._looks_around(argument[0], argument[1], start) is (op is sre.ASSERT)
            }
        if op not in _SINGLE_CHARACTER:
            raise NoString("a back-reference")
        text = self._text
        return {start + 1 for start in starts if start < len(text) and _matches_character(text[start], op, argument)}

    def _repeated(self, low: int, high: int, inner: Any, starts: set[int]) -> set[int]:
        reached = starts if int(low) == 0 else set()
        times = 0
        while starts and times < int(high):
            starts = self.ends(inner, starts)
            times += 1
            if times >= int(low):
                starts = starts - reached
                reached = reached | starts
        return reached

    def _looks_around(self, direction: int, inner: Any, start: int) -> bool:
        """True if a look-ahead or a look-behind matches at an index."""
        if direction == 1:
            return bool(self.ends(inner, {start}))
        before = start - int(inner.getwidth()[0])
        return before >= 0 and start in self.ends(inner, {before})

    def _is_at(self, where: Any, start: int) -> bool:
        if where in (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING):
            return start == 0
        if where in (sre.AT_END, sre.AT_END_STRING):
            return start == len(self._text)
        if where in (sre.AT_BOUNDARY, sre.AT_NON_BOUNDARY):
            before = start > 0 and _is_word(self._text[start - 1])
            after = start < len(self._text) and _is_word(self._text[start])
            return (before != after) is (where is sre.AT_BOUNDARY)
        raise NoString("an unknown anchor")


def _matches_character(character: str, op: Any, argument: Any) -> bool:
    """True if a part of a pattern for a single character matches a character."""
    if op is sre.ANY:
        return character not in "\n\r\u2028\u2029"
    if op is sre.NOT_LITERAL:
        return not _is_member(ord(character), sre.LITERAL, argument)
    if op is sre.IN:
        negated = bool(argument) and argument[0][0] is sre.NEGATE
        tests = argument[1:] if negated else argument
        is_among: bool = any(_is_member(ord(character), *test) for test in tests)
        return is_among is not negated
    return _is_member(ord(character), op, argument)


def _is_word(character: str) -> bool:
    return character == "_" or (character.isascii() and character.isalnum())


_SINGLE_CHARACTER = frozenset({sre.ANY, sre.LITERAL, sre.NOT_LITERAL, sre.IN, sre.RANGE, sre.CATEGORY})
"""Parts of a pattern that take one character."""

_SPACES = frozenset(
    "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
)

_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    sre.CATEGORY_DIGIT: lambda character: character in "0123456789",
    sre.CATEGORY_NOT_DIGIT: lambda character: character not in "0123456789",
    sre.CATEGORY_SPACE: _SPACES.__contains__,
    sre.CATEGORY_NOT_SPACE: lambda character: character not in _SPACES,
    sre.CATEGORY_WORD: _is_word,
    sre.CATEGORY_NOT_WORD: lambda character: not _is_word(character),
}
"""The classes as ECMA 262 defines them."""


def _is_member(code: int, op: Any, argument: Any) -> bool:
    if op is sre.LITERAL:
        test = _property_of(argument)
        return bool(code == argument) if test is None else test(chr(code))
    if op is sre.RANGE:
        if _property_of(argument[1]) is not None:
            raise NoString("a range that ends with a property")
        return bool(argument[0] <= code <= argument[1])
    if op is sre.CATEGORY:
        return _CATEGORIES[argument](chr(code))
    raise NoString("an unknown set")


_READABLE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_ ./:@"
_READABLES = (_READABLE, "123456789" + _READABLE)
"""Characters in order of preference, with and without digits first: look-aheads may forbid letters only, or zeros."""


@lru_cache(4096)
def string_matching(pattern: str, least: int = 0, most: int = LENGTH_LIMIT) -> str:
    """Returns a string of `least` to `most` characters in which a pattern matches.

    Raises:
        NoString: the pattern is invalid or not supported, or no such string was found.
    """
    try:
        parsed = _parse_pattern(pattern)
        for readable in _READABLES:
            for wanted in dict.fromkeys((max(least, 1), max(least, 3), max(least, 8), 0)):
                text = _Builder(wanted, readable).text(parsed)
                if len(text) < least:
                    text += "a" * (least - len(text))
                for candidate in (text, *_with_characters(text, _look_ahead_characters(parsed, readable))):
                    if len(candidate) <= most and matches(pattern, candidate):
                        return candidate
    except (NoString, re.error, RecursionError, OverflowError):
        pass
    raise NoString(f"no string is generated for the pattern {pattern[:80]!r}")


class _Builder:
    """Builds a string; each repetition is as short as its bounds and the wanted length allow."""

    def __init__(self, wanted: int, readable: str) -> None:
        self._wanted = wanted
        self._readable = readable
        self._length = 0

    def text(self, parsed: Any) -> str:
        return "".join(self._parts(parsed))

    def _parts(self, parsed: Any) -> Iterator[str]:
        for op, argument in parsed:
            for part in self._part(op, argument):
                self._length += len(part) if op not in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.SUBPATTERN) else 0
                if self._length > LENGTH_LIMIT:
                    raise NoString("the text is too long")
                yield part

    def _part(self, op: Any, argument: Any) -> Iterator[str]:
        if op is sre.LITERAL:
            yield chr(argument) if _property_of(argument) is None else _pick_character([(op, argument)], self._readable)
        elif op is sre.NOT_LITERAL:
            yield _pick_character([(sre.NEGATE, None), (sre.LITERAL, argument)], self._readable)
        elif op is sre.ANY:
            yield "a"
        elif op is sre.IN:
            yield _pick_character(argument, self._readable)
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            yield from self._repeated(*argument)
        elif op is sre.SUBPATTERN:
            if argument[1] or argument[2]:
                raise NoString("flags in the pattern")
            yield from self._parts(argument[3])
        elif op is sre.BRANCH:
            yield from self._parts(argument[1][0])
        elif op not in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
            raise NoString(f"no text is built from {str(op).lower()}")

    def _repeated(self, low: int, high: int, inner: Any) -> Iterator[str]:
        times = 0
        while times < int(low) or (times < int(high) and self._length < self._wanted):
            before = self._length
            yield from self._parts(inner)
            times += 1
            if self._length == before and times >= int(low):
                return
            if times > LENGTH_LIMIT:
                raise NoString("the text is too long")


def _look_ahead_characters(parsed: Any, readable: str) -> str:
    """Returns one character for each look-ahead: `(?=.*[a-z])(?=.*\\d)`."""
    characters = ""
    for op, argument in parsed:
        if op is sre.ASSERT and argument[0] == 1:
            inner = [part for part in argument[1] if part[0] not in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.AT)]
            characters += _Builder(0, readable).text(inner)
        elif op is sre.SUBPATTERN:
            characters += _look_ahead_characters(argument[3], readable)
    return characters


def _with_characters(text: str, characters: str) -> Iterator[str]:
    """Yields a string with its end, and with its start, replaced by characters."""
    if characters:
        yield text[: max(len(text) - len(characters), 0)] + characters
        yield characters + text[len(characters) :]


def _pick_character(members: list[tuple[Any, Any]], readable: str) -> str:
    """Returns a character of a set, preferably a readable one."""
    for character in readable:
        if _matches_character(character, sre.IN, members):
            return character
    for op, argument in members:
        if op is sre.NEGATE:
            break
        if op in (sre.LITERAL, sre.RANGE) and _property_of(argument if op is sre.LITERAL else argument[0]) is None:
            return chr(argument if op is sre.LITERAL else argument[0])
    raise NoString("a set without a readable character")


_VARIED_CHARACTERS = 4
"""Characters at the end of a string that are varied."""

_FORMATS = {
    "date": "2025-01-31",
    "date-time": "2025-01-31T09:00:00Z",
    "time": "09:00:00Z",
    "duration": "P1D",
    "email": "user@example.com",
    "idn-email": "user@example.com",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ip": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "iri": "https://example.com/",
    "uri-reference": "/name",
    "iri-reference": "/name",
    "uri-template": "/{name}",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "guid": "123e4567-e89b-12d3-a456-426614174000",
    "json-pointer": "/name",
    "relative-json-pointer": "0",
    "regex": "^a$",
    "byte": "dGV4dA==",
    "base64": "dGV4dA==",
    "base64url": "dGV4dA",
    "int32": "1",
    "int64": "1",
    "uint64": "1",
    "decimal": "1.0",
    "double": "1.0",
    "float": "1.0",
}
"""Format to a value; hosts and IP addresses are reserved for documentation (RFC 2606, 3849, 5737)."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def string_for(
    name: str, format_name: Json, patterns: tuple[Json, ...], least: int = 0, most: int | None = None
) -> str:
    """Returns a string of a format with `least` to `most` characters that matches all patterns.

    Raises:
        NoString: no such string was found.
    """
    limit = LENGTH_LIMIT if most is None else min(most, LENGTH_LIMIT)
    if least > limit:
        raise NoString(f"a text of {least} characters or more is too long for an example")
    if not all(isinstance(pattern, str) for pattern in patterns):
        raise NoString("the pattern is not a text")
    if isinstance(format_name, str) and (known := _FORMATS.get(format_name)) is not None:
        if _is_valid(known, patterns, least, limit):
            return known
        if not patterns:
            raise NoString(f"no {format_name[:40]} is of {least} to {limit} characters")
    for candidate in _candidates(placeholder(name), least, limit):
        if _is_valid(candidate, patterns, least, limit):
            return candidate
    built = string_matching(patterns[0], least, limit)
    if len(patterns) > 1 and not all(matches(pattern, built) for pattern in patterns[1:]):
        raise NoString("no text matches all patterns")
    return built


@lru_cache(4096)
def placeholder(name: str) -> str:
    """Returns a name as a placeholder: `projectId` and `project-id` become `PROJECT_ID`."""
    return "_".join(_WORD.findall(name)).upper()[:60] or "VALUE"


def singular(name: str) -> str:
    """Returns the name of an item of a list: `labels` has a `label`."""
    if name.endswith("ies") and len(name) > 4:
        return name[:-3] + "y"
    return name[:-1] if name.endswith("s") and not name.endswith(("ss", "us", "is")) and len(name) > 3 else name


def variations(text: str) -> Iterator[str]:
    """Yields strings of the same length that differ in one character near the end."""
    for place in range(len(text) - 1, max(len(text) - 1 - _VARIED_CHARACTERS, -1), -1):
        for character in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789":
            if character != text[place]:
                yield f"{text[:place]}{character}{text[place + 1 :]}"


def _candidates(word: str, least: int, most: int) -> tuple[str, ...]:
    if most == 0:
        return ("",)
    if len(word) < least:
        word = (word + "_" + word * (least // len(word) + 1))[:least]
    word = word[:most].rstrip("_") if len(word) > most else word
    if len(word) < least:
        word = word.ljust(least, "X")
    lower = word.lower()
    return (word, lower, lower.replace("_", "-"), lower.replace("_", ""), "1".rjust(max(least, 1), "0"), "Example-1")


def _is_valid(text: str, patterns: tuple[Json, ...], least: int, most: int) -> bool:
    return least <= len(text) <= most and all(matches(pattern, text) for pattern in patterns)
