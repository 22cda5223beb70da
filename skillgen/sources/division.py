"""Divides a group that is too large into parts with names that tell what is in them.

By the parts of the paths or the nouns of the names where these tell tools apart, else by what the tools do, else by
the alphabet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from skillgen.model.tool import Tool
from skillgen.sources.spoken import spoken_names
from skillgen.sources.words import nouns_of, segments_of, spoken_name, verb_of, words_of

LIMIT = 100
"""Tools that a group may have: with a line for each, a page of an index holds them."""

OWN_PART = 12
"""Tools from which on what shares a word is a part of its own."""

SMALL_PART = 40
"""Up to how many tools smaller ones are put together, in the order of the alphabet."""

DEPTH_LIMIT = 12

Part = tuple[str, tuple[Tool, ...]]
"""A label, and the tools."""


def divided(tools: Sequence[Tool]) -> list[Part]:
    """Returns parts of at most `LIMIT` tools, each with a label, which several may have."""
    return _without_single(list(_by_words(tuple(tools), 0)))


def _without_single(parts: list[Part]) -> list[Part]:
    """Puts each part of one tool to the smallest other one."""
    found = [part for part in parts if len(part[1]) > 1]
    for label, members in (part for part in parts if len(part[1]) == 1):
        if not found:
            return parts
        smallest = min(range(len(found)), key=lambda place: len(found[place][1]))
        found[smallest] = (f"{found[smallest][0]}, {label}", (*found[smallest][1], *members))
    return found


def _by_words(tools: tuple[Tool, ...], depth: int) -> Iterator[Part]:
    spoken = spoken_names(tools)
    words = {tool.name: _words(tool, spoken[tool.name]) for tool in tools}
    shared = shared_prefix(list(words.values()))
    buckets = _buckets(tools, lambda tool: next(iter(words[tool.name][shared : shared + 1]), ""))
    if len(buckets) == 1 or depth == DEPTH_LIMIT:
        yield from _by_action(tools)
        return
    for key, members in _packed(buckets):
        if len(members) <= LIMIT:
            yield key, members
        elif key:
            yield from ((f"{key} {label}", part) for label, part in _by_words(members, depth + 1))
        else:
            yield from _by_action(members)


def _by_action(tools: tuple[Tool, ...]) -> Iterator[Part]:
    """Divides what no noun tells apart: by verb, and what is still too large by the alphabet."""
    for key, members in _packed(_buckets(tools, _action)):
        by_name = sorted(members, key=lambda tool: tool.name)
        for start in range(0, len(by_name), LIMIT):
            portion = tuple(by_name[start : start + LIMIT])
            whole = len(members) <= LIMIT and key
            yield (key if whole else f"{portion[0].name} to {portion[-1].name}"), portion


def _action(tool: Tool) -> str:
    """Gives the word that says what a tool does."""
    return verb_of(spoken_name(tool.name, tool.method)) or (tool.method or "").lower()


def _words(tool: Tool, name: str) -> tuple[str, ...]:
    """Gives the words by which a tool of this name is put away, the most general first."""
    return segments_of(tool.path or "") or nouns_of(name) or words_of(name)


def shared_prefix(words: Sequence[tuple[str, ...]]) -> int:
    """Gives with how many words all begin."""
    shared = 0
    while all(len(found) > shared for found in words) and len({found[shared] for found in words}) == 1:
        shared += 1
    return shared


def _buckets(tools: Sequence[Tool], key: Callable[[Tool], str]) -> dict[str, tuple[Tool, ...]]:
    return {word: tuple(members) for word, members in groupby(sorted(tools, key=key), key)}


def _packed(buckets: dict[str, tuple[Tool, ...]]) -> Iterator[Part]:
    """Gives large buckets as they are, and fills parts with the small ones."""
    small = {key: tools for key, tools in buckets.items() if len(tools) < OWN_PART}
    yield from ((key, tools) for key, tools in buckets.items() if key not in small)
    keys: list[str] = []
    members: list[Tool] = []
    left = sum(map(len, small.values()))
    for key, tools in small.items():
        if members and len(members) + len(tools) > SMALL_PART and left > 1:
            yield _range(keys), tuple(members)
            keys, members = [], []
        keys.append(key)
        members += tools
        left -= len(tools)
    if members:
        yield _range(keys), tuple(members)


def _range(keys: Sequence[str]) -> str:
    named = [key for key in keys if key] or ["other"]
    return named[0] if len(named) == 1 else f"{named[0]} to {named[-1]}"
