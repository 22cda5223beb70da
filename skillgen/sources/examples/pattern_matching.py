"""Whether a text matches a regular expression, in a number of steps that has a bound."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from skillgen.sources.examples.pattern_syntax import NoText, parsed_pattern, property_of, sre

STEPS_LIMIT = 200_000
"""Steps of one search at the most."""


def matches(pattern: str, text: str) -> bool | None:
    """Tells whether a text matches a pattern somewhere; `None` where that takes too long or is not understood.

    It follows all ways at once and counts its steps, so no pattern can make it hang.
    """
    try:
        parsed = parsed_pattern(pattern)
        return bool(_Matcher(text).ends(parsed, set(range(len(text) + 1))))
    except (NoText, re.error, RecursionError, OverflowError):
        return None


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
        if op not in _OF_ONE_SIGN:
            raise NoText("a part that refers to others")
        text = self._text
        return {start + 1 for start in starts if start < len(text) and is_sign(text[start], op, argument)}

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


def is_sign(sign: str, op: Any, argument: Any) -> bool:
    """Tells whether a part of a pattern that takes one sign takes this one."""
    if op is sre.ANY:
        return sign not in "\n\r\u2028\u2029"
    if op is sre.NOT_LITERAL:
        return not _is_member(ord(sign), sre.LITERAL, argument)
    if op is sre.IN:
        negated = bool(argument) and argument[0][0] is sre.NEGATE
        tests = argument[1:] if negated else argument
        is_among: bool = any(_is_member(ord(sign), *test) for test in tests)
        return is_among is not negated
    return _is_member(ord(sign), op, argument)


def _is_word(sign: str) -> bool:
    return sign == "_" or (sign.isascii() and sign.isalnum())


_OF_ONE_SIGN = frozenset({sre.ANY, sre.LITERAL, sre.NOT_LITERAL, sre.IN, sre.RANGE, sre.CATEGORY})
"""Parts of a pattern that take one character."""

_SPACES = frozenset(
    "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
)

_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    sre.CATEGORY_DIGIT: lambda sign: sign in "0123456789",
    sre.CATEGORY_NOT_DIGIT: lambda sign: sign not in "0123456789",
    sre.CATEGORY_SPACE: _SPACES.__contains__,
    sre.CATEGORY_NOT_SPACE: lambda sign: sign not in _SPACES,
    sre.CATEGORY_WORD: _is_word,
    sre.CATEGORY_NOT_WORD: lambda sign: not _is_word(sign),
}
"""As ECMA 262 has them."""


def _is_member(code: int, op: Any, argument: Any) -> bool:
    if op is sre.LITERAL:
        test = property_of(argument)
        return bool(code == argument) if test is None else test(chr(code))
    if op is sre.RANGE:
        if property_of(argument[1]) is not None:
            raise NoText("a range that ends with a property")
        return bool(argument[0] <= code <= argument[1])
    if op is sre.CATEGORY:
        return _CATEGORIES[argument](chr(code))
    raise NoText("an unknown set")
