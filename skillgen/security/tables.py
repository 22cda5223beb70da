"""Loads tables of patterns, and derives a prefilter from each regular expression in them.

The prefilter of an expression is a set of literals, one of which every match contains, so no list of words has to be
kept in step with a table by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

_MAX_LITERALS = 24
"""Literals of one expression: more take longer to search for than the expression."""

_MAX_SET = 8
"""Characters of a set that is written out, such as `[-_ ]`."""

_TOKEN = re.compile(
    r"[\w \"'/:@#%&=<>!,;~`-]+(?![?*+{])|\\.|\[(?P<members>\^?(?:\\.|[^\]\\[])*)\]|\((?:\?(?:[:=!]|<[=!]|i:|P<\w+>))?"
    r"|(?P<repeat>[?*+]|\{\d+(?:,\d*)?\})\??|.",
    re.DOTALL,
)
"""A part of a regular expression: a run of literals, an escape, a set, the start of a group, a repetition."""

_TOML_LIMIT, _TOML_DOTS = 4 * 1024 * 1024, 500
"""Characters of a document, and full stops on a line."""

_OPTIONAL = ("?", "{0,1}")


def parse_toml(text: str) -> dict[str, Any]:
    """Returns the content of a TOML document.

    Raises:
        ValueError: it is not TOML, or would take too long.
    """
    # The library takes quadratic time for a dotted key, and recurses.
    if len(text) > _TOML_LIMIT or any(line.count(".") > _TOML_DOTS for line in text.splitlines()):
        raise ValueError("too large, or a key has too many parts")
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def load_table(module_file: str, name: str) -> dict[str, Any]:
    """Returns the content of a TOML file in the folder of a module."""
    return parse_toml(Path(module_file).with_name(name).read_text("utf-8"))


class Regex(Struct, eq=False, dict=True, array_like=True):
    """A regular expression with its prefilter; one that ignores case has literals in lower case."""

    pattern: str
    flags: int = 0
    requirements: tuple[tuple[str, ...], ...] | None = None
    """Sets of literals, the rarest first; every match contains one of each. Derived from the pattern if absent."""

    @cached_property
    def _required(self) -> tuple[tuple[str, ...], ...]:
        return requirements(self.pattern) if self.requirements is None else self.requirements

    @cached_property
    def literals(self) -> tuple[str, ...]:
        """Literals, one of which every match contains; empty if none are known."""
        return next(iter(self._required), ())

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression; most of a table are never needed."""
        return re.compile(self.pattern, self.flags)

    def has_others(self, text: str) -> bool:
        """True if a text with one of the literals also has one of each other set that every match needs."""
        for literals in self._required[1:]:
            for literal in literals:
                if literal in text:
                    break
            else:
                return False
        return True

    def search(self, text: str) -> re.Match[str] | None:
        """Returns the first match in a text."""
        return next(self.finditer(text), None)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Returns the matches in a text; the prefilter excludes most texts."""
        folded = text.lower() if self.flags & re.IGNORECASE else text
        return self.compiled.finditer(text) if self.might_match(folded) and self.has_others(folded) else iter(())

    def might_match(self, text: str) -> bool:
        """True unless certainly nothing in a text matches."""
        for literal in self.literals:  # `any` takes twice as long
            if literal in text:
                return True
        return not self.literals


def requirements(pattern: str) -> tuple[tuple[str, ...], ...]:
    """Returns sets of literals, the rarest first; every match of a regular expression contains one of each."""
    tokens = list(_TOKEN.finditer(pattern))
    tokens.reverse()
    exact, required = _alternatives(tokens)
    known = dict.fromkeys(_shortest(literals) for literals in (exact, *required) if literals and "" not in literals)
    found: list[tuple[str, ...]] = []
    for literals in sorted(known, key=_frequency):
        # Literals that are parts of rarer ones say nothing more.
        if not any(all(any(part in rarer for part in literals) for rarer in others) for others in found):
            found.append(tuple(sorted(literals)))
    return tuple(found)


def _shortest(literals: _Literals) -> _Literals:
    """Returns the literals that contain no other of them."""
    return frozenset(item for item in literals if not any(part in item for part in literals - {item}))


def leading_literals(pattern: str) -> tuple[str, ...]:
    """Returns strings, with one of which every match of a regular expression begins; empty if none are known."""
    tokens = list(_TOKEN.finditer(pattern))
    tokens.reverse()
    run, is_leading = _EMPTY, True
    while tokens:
        if tokens[-1][0] == "|":
            return ()
        exact, _ = _part(tokens)
        is_leading = is_leading and 0 < len(run) * len(exact) <= _MAX_LITERALS
        run = frozenset(start + end for start in run for end in exact) if is_leading else run
    return () if "" in run else tuple(sorted(run))


def any_of(words: Iterable[str]) -> str:
    """Returns a regex for some words, grouped by first letter: a plain alternation tries every word in turn."""
    by_letter: dict[str, list[str]] = {}
    for word in sorted(words):
        by_letter.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{re.escape(letter)}(?:{'|'.join(map(re.escape, rests))})" for letter, rests in by_letter.items())


_Literals = frozenset[str]
_NONE: _Literals = frozenset()
_EMPTY: _Literals = frozenset({""})
_Found = tuple[_Literals, list[_Literals]]
"""The strings that a part of an expression consists of, if these are few, and sets of literals that it requires."""


def _frequency(literals: Iterable[str]) -> float:
    """Estimates, from their lengths, how often literals occur."""
    return sum(0.4 ** len(literal) for literal in literals)


def _alternatives(tokens: list[re.Match[str]]) -> _Found:
    """Takes tokens, the first of which is the last of the list, up to the end of a group."""
    branches = [_sequence(tokens)]
    while tokens and tokens.pop()[0] == "|":
        branches.append(_sequence(tokens))
    if len(branches) == 1:
        return branches[0]
    union = frozenset[str]().union
    exact = union(*(branch[0] for branch in branches)) if all(branch[0] for branch in branches) else _NONE
    best = [min(filter(None, (exact_, *required)), key=_frequency, default=_NONE) for exact_, required in branches]
    return exact, [union(*best)] if all(best) else []


def _sequence(tokens: list[re.Match[str]]) -> _Found:
    run, required, is_exact = _EMPTY, list[_Literals](), True
    while tokens and tokens[-1][0] not in ("|", ")"):
        exact, inner = _part(tokens)
        required += inner
        if exact and len(run) * len(exact) <= _MAX_LITERALS:
            run = frozenset(start + end for start in run for end in exact)
        else:
            required += (run, exact)
            run, is_exact = exact or _EMPTY, False
    return (run, required) if is_exact else (_NONE, [*required, run])


def _part(tokens: list[re.Match[str]]) -> _Found:
    """Takes one part of a sequence, with its repetition."""
    exact, inner = _unit(tokens)
    repeat = tokens[-1]["repeat"] if tokens else None
    if repeat is None:
        return exact, inner
    tokens.pop()
    if repeat in _OPTIONAL:
        return (exact | _EMPTY if exact else _NONE), []
    return _NONE, [] if repeat == "*" or repeat.startswith("{0") else [exact, *inner]


def _unit(tokens: list[re.Match[str]]) -> _Found:
    token = tokens.pop()
    text, members = token[0], token["members"]
    if token["repeat"]:
        raise ValueError("a group of a kind that is not supported here")
    if text[0] == "(":
        exact, inner = _alternatives(tokens)
        if text in ("(?=", "(?<="):
            return _EMPTY, [exact, *inner]
        return (_EMPTY, []) if text in ("(?!", "(?<!") else (_NONE, []) if text == "(?i:" else (exact, inner)
    if members is not None:
        is_list = len(members) <= _MAX_SET and re.search(r"\A\^|.-.|\\\w", members) is None
        return (frozenset(members.replace("\\", "")) if is_list else _NONE), []
    if text[0] == "\\":
        return (_EMPTY if text in ("\\b", "\\B") else _NONE if text[1].isalnum() else frozenset({text[1]})), []
    return (_EMPTY if text in "^$" else _NONE if text == "." else frozenset({text})), []
