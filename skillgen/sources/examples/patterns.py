"""A text that matches a regular expression, built from the expression itself: small, exact and bounded.

The parts that a text can be built from are enough for what descriptions hold: signs, sets, repetition, groups and
choices. What was built is matched before it is used; whatever refers back gives no text.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as sre
    from re import _parser as sre_parser
else:
    import sre_constants as sre
    import sre_parse as sre_parser

LENGTH_LIMIT = 200
"""Characters of a text, and of a pattern four times as many; beyond that none is made."""

STEPS_LIMIT = 200_000
"""Steps of one search at the most."""

_READABLE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_ ./:@"
_READABLES = (_READABLE, "123456789" + _READABLE)
"""Which sign of a set is taken: the first that is in it. A text of letters alone, or of zeros, may be ruled out."""

_NAMED_SETS = {
    **dict.fromkeys(("L", "Ll", "Letter", "Alpha", "Lower", "IsLetter", "IsAlphabetic", "lower"), "a-z"),
    **dict.fromkeys(("Lu", "Upper", "upper"), "A-Z"),
    **dict.fromkeys(("N", "Nd", "Digit", "IsDigit"), "0-9"),
    **dict.fromkeys(("XDigit", "Hex_Digit", "ASCII_Hex_Digit", "AHex"), "0-9a-f"),
    **dict.fromkeys(("Latin", "IsLatin"), "a-z"),
    **dict.fromkeys(("Alnum", "ASCII", "Print", "Graph"), "a-z0-9"),
    **dict.fromkeys(("Z", "Zs", "Space"), " "),
    **dict.fromkeys(("P", "Punct", "Pd"), "\\-"),
    **dict.fromkeys(("S", "Sm"), "+"),
    **dict.fromkeys(("M", "C", "Cc"), ""),
}
_PROPERTY = re.compile(r"\\p\{(?:\w+=)?(\w+)\}")
_NOT_PROPERTY = re.compile(r"\\P\{(?:\w+=)?(\w+)\}")
_SURROGATES = re.compile(r"\\u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
_CLASS_IN_RANGE = re.compile(r"(\\[wdsWDS])-(?!\])")
_NOT_CONTROL = re.compile(r"\\P\{(?:C|Cc|Cntrl)\}")
_ENDS = re.compile(r"\\[\\Az]")
_END_SIGNS = {"\\A": "^", "\\z": "$"}
"""What other languages have for the two ends of a text."""
_NOT_MARK = re.compile(r"\\P\{M\}\\p\{M\}\*")


class NoText(ValueError):
    """No text is made for a pattern."""


@lru_cache(4096)
def text_for(pattern: str, least: int = 0, most: int = LENGTH_LIMIT) -> str:
    """Gives a text that matches a pattern somewhere, of `least` to `most` characters.

    Raises:
        NoText: the pattern is none, or asks for what no text is built from.
    """
    try:
        parsed = parsed_pattern(pattern)
        for readable in _READABLES:
            for wanted in dict.fromkeys((max(least, 1), max(least, 3), max(least, 8), 0)):
                text = _Builder(wanted, readable).text(parsed)
                if len(text) < least:
                    text += "a" * (least - len(text))
                for candidate in (text, *_with_signs(text, _looked_for(parsed, readable))):
                    if len(candidate) <= most and matches(pattern, candidate):
                        return candidate
    except (NoText, re.error, RecursionError, OverflowError):
        pass
    raise NoText(f"no text is made for the pattern {pattern[:80]!r}")


@lru_cache(4096)
def parsed_pattern(pattern: str) -> Any:
    """Gives the parts of a pattern of ECMA 262, of which Unicode's sets are narrowed to plain signs.

    Raises:
        re.error: it is none that is understood.
        NoText: it is too long.
    """
    if len(pattern) > 4 * LENGTH_LIMIT:
        raise NoText("the pattern is too long")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sre_parser.parse(_translated(pattern))


def matches(pattern: str, text: str) -> bool | None:
    """Tells whether a text matches a pattern somewhere; `None` where that takes too long or is not understood.

    It follows all ways at once and counts its steps, so no pattern can make it hang.
    """
    try:
        parsed = parsed_pattern(pattern)
        return bool(_Matcher(text).ends(parsed, set(range(len(text) + 1))))
    except (NoText, re.error, RecursionError, OverflowError):
        return None


def _translated(pattern: str) -> str:
    """Gives a pattern of ECMA 262 as Python reads it."""
    if "\\p{" in pattern or "\\P{" in pattern:
        pattern = _NOT_CONTROL.sub(lambda match: _within(match, " -~"), pattern)
        pattern = _PROPERTY.sub(_named_set, _NOT_MARK.sub(r"[a-z]", pattern))
        pattern = _NOT_PROPERTY.sub(_all_but_named_set, pattern)
    pattern = _ENDS.sub(lambda match: _END_SIGNS.get(match[0], match[0]), pattern)
    pattern = _SURROGATES.sub(lambda pair: f"\\U{_joined(pair[1], pair[2]):08X}", pattern)
    pattern = _CLASS_IN_RANGE.sub(r"\1\\-", pattern)
    pattern = pattern.replace("(?<", "(?P<").replace("(?P<=", "(?<=").replace("(?P<!", "(?<!")
    return pattern.replace("\\/", "/").replace("[[:alnum:]]", "[a-z0-9]").replace("[[:alpha:]]", "[a-z]")


def _joined(high: str, low: str) -> int:
    return 0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00


def _named_set(match: re.Match[str]) -> str:
    signs = _NAMED_SETS.get(match[1])
    if signs is None and not _is_inside(match):
        raise NoText(f"the set {match[1]} is not known")
    return _within(match, signs or "")


def _all_but_named_set(match: re.Match[str]) -> str:
    """Gives a few signs that are not of a set."""
    own = _NAMED_SETS.get(match[1])
    if own is None:
        raise NoText(f"the set {match[1]} is not known")
    return _within(match, "0-9" if "a" in own or "A" in own else "a-z")


def _within(match: re.Match[str], signs: str) -> str:
    """Gives signs as a set, or as members of the set in which the match stands."""
    inside = _is_inside(match)
    if inside and match.string[match.string.rfind("[", 0, match.start()) + 1 :].startswith("^"):
        raise NoText("a named set that is excluded")
    return signs if inside or not signs else f"[{signs}]"


def _is_inside(match: re.Match[str]) -> bool:
    """Tells whether a match stands in a set."""
    before = match.string[: match.start()]
    return before.count("[") - before.count("\\[") > before.count("]") - before.count("\\]")


class _Matcher:
    """Gives where the parts of a pattern can end in a text, from all places at once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._steps = 0

    def ends(self, parsed: Any, starts: set[int]) -> set[int]:
        for op, argument in parsed:
            self._steps += len(starts) + 1
            if self._steps > STEPS_LIMIT:
                raise NoText("too many steps")
            if not starts:
                break
            starts = self._after(op, argument, starts)
        return starts

    def _after(self, op: Any, argument: Any, starts: set[int]) -> set[int]:
        if op is sre.AT:
            return {start for start in starts if self._stands(argument, start)}
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            low, high, inner = argument
            return self._repeated(low, high, inner, starts)
        if op is sre.SUBPATTERN:
            if argument[1] or argument[2]:
                raise NoText("flags in the pattern")
            return self.ends(argument[3], starts)
        if op is sre.BRANCH:
            return set().union(*(self.ends(branch, starts) for branch in argument[1]))
        if op in (sre.ASSERT, sre.ASSERT_NOT):
            return {start for start in starts if self._holds(argument[0], argument[1], start) is (op is sre.ASSERT)}
        text = self._text
        return {start + 1 for start in starts if start < len(text) and _is_sign(text[start], op, argument)}

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

    def _holds(self, direction: int, inner: Any, start: int) -> bool:
        """Tells whether what a pattern looks for stands after a place, or before it."""
        if direction == 1:
            return bool(self.ends(inner, {start}))
        before = start - int(inner.getwidth()[0])
        return before >= 0 and start in self.ends(inner, {before})

    def _stands(self, where: Any, start: int) -> bool:
        if where in (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING):
            return start == 0
        if where in (sre.AT_END, sre.AT_END_STRING):
            return start == len(self._text)
        if where in (sre.AT_BOUNDARY, sre.AT_NON_BOUNDARY):
            before = start > 0 and _is_word(self._text[start - 1])
            after = start < len(self._text) and _is_word(self._text[start])
            return (before != after) is (where is sre.AT_BOUNDARY)
        raise NoText("an unknown place")


class _Builder:
    """Builds the text, each repetition as short as its bounds and the wanted length allow."""

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
                    raise NoText("the text is too long")
                yield part

    def _part(self, op: Any, argument: Any) -> Iterator[str]:
        if op is sre.LITERAL:
            yield chr(argument)
        elif op is sre.NOT_LITERAL:
            yield next(sign for sign in self._readable if ord(sign) != argument)
        elif op is sre.ANY:
            yield "a"
        elif op is sre.IN:
            yield _sign_of(argument, self._readable)
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            yield from self._repeated(*argument)
        elif op is sre.SUBPATTERN:
            if argument[1] or argument[2]:
                raise NoText("flags in the pattern")
            yield from self._parts(argument[3])
        elif op is sre.BRANCH:
            yield from self._parts(argument[1][0])
        elif op not in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
            raise NoText(f"no text is built from {str(op).lower()}")

    def _repeated(self, low: int, high: int, inner: Any) -> Iterator[str]:
        times = 0
        while times < int(low) or (times < int(high) and self._length < self._wanted):
            before = self._length
            yield from self._parts(inner)
            times += 1
            if self._length == before and times >= int(low):
                return
            if times > LENGTH_LIMIT:
                raise NoText("the text is too long")


def _looked_for(parsed: Any, readable: str) -> str:
    """Gives a sign for each thing that must stand somewhere ahead: `(?=.*[a-z])(?=.*\\d)`."""
    found = ""
    for op, argument in parsed:
        if op is sre.ASSERT and argument[0] == 1:
            inner = [part for part in argument[1] if part[0] not in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.AT)]
            found += _Builder(0, readable).text(inner)
        elif op is sre.SUBPATTERN:
            found += _looked_for(argument[3], readable)
    return found


def _with_signs(text: str, signs: str) -> Iterator[str]:
    """Puts signs at the end of a text and at its start, without making it longer where it is long enough."""
    if signs:
        yield text[: max(len(text) - len(signs), 0)] + signs
        yield signs + text[len(signs) :]


def _sign_of(members: list[tuple[Any, Any]], readable: str) -> str:
    """Gives a sign of a set, one that can be read where there is one."""
    for sign in readable:
        if _is_sign(sign, sre.IN, members):
            return sign
    for op, argument in members:
        if op is sre.NEGATE:
            break
        if op in (sre.LITERAL, sre.RANGE):
            return chr(argument if op is sre.LITERAL else argument[0])
    raise NoText("a set without a sign that can be read")


def _is_sign(sign: str, op: Any, argument: Any) -> bool:
    """Tells whether a part of a pattern that takes one sign takes this one."""
    if op is sre.ANY:
        return sign not in "\n\r"
    if op is sre.NOT_LITERAL:
        return bool(ord(sign) != argument)
    if op is sre.IN:
        negated = bool(argument) and argument[0][0] is sre.NEGATE
        tests = argument[1:] if negated else argument
        is_among: bool = any(_is_member(ord(sign), *test) for test in tests)
        return is_among is not negated
    return _is_member(ord(sign), op, argument)


def _is_word(sign: str) -> bool:
    return sign == "_" or (sign.isascii() and sign.isalnum())


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    sre.CATEGORY_DIGIT: lambda sign: sign in "0123456789",
    sre.CATEGORY_NOT_DIGIT: lambda sign: sign not in "0123456789",
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_NOT_SPACE: lambda sign: not sign.isspace(),
    sre.CATEGORY_WORD: _is_word,
    sre.CATEGORY_NOT_WORD: lambda sign: not _is_word(sign),
}
"""As ECMA 262 has them."""


def _is_member(code: int, op: Any, argument: Any) -> bool:
    if op is sre.LITERAL:
        return bool(code == argument)
    if op is sre.RANGE:
        return bool(argument[0] <= code <= argument[1])
    if op is sre.CATEGORY:
        return _CATEGORIES[argument](chr(code))
    raise NoText("an unknown set")
