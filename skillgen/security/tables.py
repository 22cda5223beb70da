"""Loads tables of patterns, and derives a prefilter from each regular expression in them.

The prefilter of an expression is a set of literals, one of which every match contains, so no list of words has to be
kept in step with a table by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as sre
    from re import _parser as sre_parser
else:
    import sre_constants as sre
    import sre_parse as sre_parser

_MAX_LITERALS = 24
"""Literals of one expression: more take longer to search for than the expression."""

_MAX_SET = 8
"""Characters of a set that is written out, such as `[-_ ]`."""


def load_table(module_file: str, name: str) -> dict[str, Any]:
    """Returns the content of a TOML file in the folder of a module."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(Path(module_file).with_name(name).read_text("utf-8"))


class Regex:
    """A regular expression with its prefilter."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.literals = required_literals(pattern)

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression; most of a table are never needed."""
        return re.compile(self.pattern)


def required_literals(pattern: str) -> tuple[str, ...]:
    """Returns strings, one of which every match of a regular expression contains; empty if none are known."""
    parsed: Any = sre_parser.parse(pattern)
    literals = _rarer(*_literals(parsed))
    return () if "" in literals else tuple(sorted(literals))


def any_of(words: Iterable[str]) -> str:
    """Returns a regex for some words, grouped by first letter: a plain alternation tries every word in turn."""
    by_letter: dict[str, list[str]] = {}
    for word in sorted(words):
        by_letter.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{re.escape(letter)}(?:{'|'.join(map(re.escape, rests))})" for letter, rests in by_letter.items())


_Literals = frozenset[str]
_NONE: _Literals = frozenset()
_EMPTY: _Literals = frozenset({""})
_ZERO_WIDTH = (sre.AT, sre.ASSERT_NOT)


def _rarer(one: _Literals, other: _Literals) -> _Literals:
    """Returns the set whose literals occur less often, by an estimate from their lengths."""
    if not one or not other:
        return one or other
    return min(one, other, key=lambda literals: sum(0.4 ** len(literal) for literal in literals))


def _literals(items: Iterable[tuple[Any, Any]]) -> tuple[_Literals, _Literals]:
    """Returns the strings that a parsed sequence consists of, if these are few, and literals that it requires."""
    run, required, is_exact = _EMPTY, _NONE, True
    for is_text, part in groupby(items, _is_literal):
        if is_text:
            text = "".join(chr(code) for _, code in part)
            run = frozenset(start + text for start in run)
            continue
        for operation, argument in part:
            if operation in _ZERO_WIDTH:
                continue
            exact, inner = _literals_of(operation, argument)
            required = _rarer(required, inner)
            if exact and len(run) * len(exact) <= _MAX_LITERALS:
                run = frozenset(start + end for start in run for end in exact)
            else:
                required = _rarer(_rarer(required, run), exact)
                run, is_exact = exact or _EMPTY, False
    return (run, required) if is_exact else (_NONE, _rarer(required, run))


def _is_literal(item: tuple[Any, Any]) -> bool:
    return item[0] is sre.LITERAL


def _literals_of(operation: Any, argument: Any) -> tuple[_Literals, _Literals]:
    if operation is sre.IN and len(argument) <= _MAX_SET and all(map(_is_literal, argument)):
        return frozenset(chr(code) for _, code in argument), _NONE
    if operation is sre.SUBPATTERN:
        return (_NONE, _NONE) if argument[1] & re.IGNORECASE else _literals(argument[3])
    if operation is sre.BRANCH:
        branches = [_literals(branch) for branch in argument[1]]
        union = frozenset[str]().union
        exact = union(*(branch[0] for branch in branches)) if all(branch[0] for branch in branches) else _NONE
        best = [_rarer(*branch) for branch in branches]
        return exact, union(*best) if all(best) else _NONE
    if operation in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        least, most, items = argument
        exact, required = _literals(items)
        if (least, most) == (0, 1):
            return (exact | _EMPTY if exact else _NONE), _NONE
        return _NONE, _rarer(exact, required) if least else _NONE
    if operation is sre.ASSERT:
        return _EMPTY, _rarer(*_literals(argument[1]))
    return _NONE, _NONE
