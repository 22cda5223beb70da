"""A text that matches a regular expression, built from the expression itself: small, exact and bounded.

The parts that a text can be built from are enough for what descriptions hold: signs, sets, repetition, groups and
choices. What was built is matched before it is used; whatever refers back gives no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from skillgen.sources.examples.pattern_matching import is_sign, matches
from skillgen.sources.examples.pattern_syntax import LENGTH_LIMIT, NoText, parsed_pattern, property_of, sre

_READABLE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_ ./:@"
_READABLES = (_READABLE, "123456789" + _READABLE)
"""Which sign of a set is taken: the first that is in it. A text of letters alone, or of zeros, may be ruled out."""


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
            yield chr(argument) if property_of(argument) is None else _sign_of([(op, argument)], self._readable)
        elif op is sre.NOT_LITERAL:
            yield _sign_of([(sre.NEGATE, None), (sre.LITERAL, argument)], self._readable)
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
        if is_sign(sign, sre.IN, members):
            return sign
    for op, argument in members:
        if op is sre.NEGATE:
            break
        if op in (sre.LITERAL, sre.RANGE) and property_of(argument if op is sre.LITERAL else argument[0]) is None:
            return chr(argument if op is sre.LITERAL else argument[0])
    raise NoText("a set without a sign that can be read")
