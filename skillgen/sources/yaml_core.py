"""YAML as OpenAPI means it: the core schema of YAML 1.2, keys kept as text (OpenAPI 3.1, "Format").

PyYAML's own loaders follow YAML 1.1, where `no` is false, `12:30` a number and a date a date; so only its parser's
events are used here, and the values are made by the rules of YAML 1.2.2, 10.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import yaml

from skillgen.errors import ProblemLog
from skillgen.model.values import Json
from skillgen.sources.json_access import NESTING_LIMIT
from skillgen.sources.json_text import number_or_text

EXPANDED_LIMIT = 20_000_000
"""Values that a document may come to when its aliases are written out; beyond it is an alias bomb."""

EXPANDED_AT_LEAST = 100_000
EXPANDED_PER_CHARACTER = 2
"""The same for a small document: some ten characters make a value, so it is twenty times what it could hold itself."""

DEPTH_LIMIT = 20_000
"""Levels of nesting that are passed over; the parser's own time grows with their square."""

LONGEST_BASED_INT = 1_000
"""Characters of a number that is not decimal; Python reads longer ones, but does not write them."""

_LOADER: Any = getattr(yaml, "CLoader", yaml.Loader)
# YAML 1.2.2 allows them in quoted text; PyYAML refuses some (5.1) and takes others for line ends (5.4).
_REFUSED = re.compile("[\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_INT = re.compile(r"[-+]?[0-9]+\Z")
_BASED_INT = re.compile(r"0(?:o[0-7]+|x[0-9a-fA-F]+)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NUMBER_STARTS = frozenset("+-.0123456789")
_PLAIN_TAGS = tuple(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))
_WORDS: dict[str, Json] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip


class YamlError(ValueError):
    """Text that is not YAML, or YAML that cannot be read safely; the message names the line."""


def parse_yaml(text: str, problems: ProblemLog, *, scalar: Callable[[str], Json] | None = None) -> Json:
    """Reads one YAML document, the first that holds anything; that others follow is reported.

    `scalar` returns the value of an unquoted scalar; the core schema's without it.

    A key that stands twice in a mapping is reported too, and its last value kept.

    Raises:
        YamlError: the text is not YAML, or its aliases form a cycle or a bomb.
    """
    if _REFUSED.search(text):
        problems.warning("control-characters", "", "the text holds control characters; U+FFFD stands in their place")
        text = _REFUSED.sub("\ufffd", text)
    loader = _LOADER(text)
    try:
        limit = min(EXPANDED_LIMIT, EXPANDED_AT_LEAST + EXPANDED_PER_CHARACTER * len(text))
        builder = _Builder(loader, problems, limit, scalar or plain_scalar)
        data = builder.document()
        builder.report_others()
        return data
    except yaml.YAMLError as error:
        raise YamlError(_message(error)) from None
    finally:
        loader.dispose()


def word_scalar(text: str) -> Json:
    """Returns the value of an unquoted scalar where a number, such as a version, is a string."""
    return _WORDS.get(text, text)


def plain_scalar(text: str) -> Json:
    """Gives the value of an unquoted scalar by the core schema. `.inf` and `.nan`, which JSON lacks, stay text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    try:
        if _INT.match(text):
            return int(text)
        if _BASED_INT.match(text):
            return int(text, 0) if len(text) < LONGEST_BASED_INT else text
        if _FLOAT.match(text):
            return number_or_text(text)
    except ValueError:  # more digits than Python will convert
        return text
    return text


class _Builder:
    """Makes values of events, without recursion: nesting is as deep as the parser allows."""

    def __init__(self, loader: Any, problems: ProblemLog, expanded_limit: int, plain: Callable[[str], Json]) -> None:
        self._plain = plain
        self._expanded_limit = expanded_limit
        self._next = loader.get_event
        self._problems = problems
        self._anchors: dict[str, tuple[Json, int]] = {}
        self._open: list[_Open] = []
        self._is_deep = False
        self._merged: dict[int, set[str]] = {}
        """For each mapping that merges others, by identity: the keys that may still be given in itself."""

    def document(self) -> Json:
        """Reads the events of one document; most of them are scalars, so those take the shortest way."""
        next_event, scalar, anchors, keys = self._next, yaml.ScalarEvent, self._anchors, dict[str, str]()
        plain = self._plain
        root: list[Json] = []
        collection: Any = root
        key: str | None = None
        expects_key = False
        count = 0
        while True:
            event = next_event()
            kind = type(event)
            if kind is scalar:
                count += 1
                value = event.value
                if expects_key:
                    key, expects_key = keys.setdefault(value, value), False
                    if event.anchor is not None:
                        anchors[event.anchor] = (value, 1)
                    continue
                if event.implicit[0] or event.tag in _PLAIN_TAGS:
                    value = plain(value)
                if event.anchor is not None:
                    anchors[event.anchor] = (value, 1)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                if len(self._open) < NESTING_LIMIT:
                    self._open.append(_Open(collection, key, expects_key, event.anchor, count))
                    key, expects_key = None, kind is yaml.MappingStartEvent
                    collection = {} if expects_key else []
                    continue
                self._pass_over(event)
                value = None
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                value, done = collection, self._open.pop()
                collection, key, expects_key = done.collection, done.key, done.expects_key
                count += 1
                if done.anchor is not None:
                    anchors[done.anchor] = (value, count - done.count_before)
            elif kind is yaml.AliasEvent:
                value, weight = self._aliased(event)
                count += weight
                if count > self._expanded_limit:
                    raise YamlError(f"{_line(event)}: the aliases stand for over {self._expanded_limit:,} values")
            elif kind is yaml.DocumentEndEvent:
                if root and root[0] is not None:
                    return root[0]
                root.clear()
                continue
            elif kind is yaml.StreamEndEvent:
                return None
            else:
                continue
            if expects_key:
                key, expects_key = value if isinstance(value, str) else str(value), False
            elif key is None:
                collection.append(value)
            else:
                if key in collection or key == "<<":
                    self._add_odd_member(collection, key, value, event)
                else:
                    collection[key] = value
                key, expects_key = None, True

    def report_others(self) -> None:
        """Reports the first thing that stands in another document, be it YAML or not."""
        try:
            while (event := self._next()) is not None and type(event) is not yaml.StreamEndEvent:
                is_null = type(event) is yaml.ScalarEvent and event.implicit[0] and plain_scalar(event.value) is None
                if not is_null and type(event) not in (yaml.DocumentStartEvent, yaml.DocumentEndEvent):
                    where = _line(event)
                    break
            else:
                return
        except yaml.YAMLError as error:
            where = _message(error).partition(",")[0]
        self._problems.warning(
            "documents-left-out",
            where,
            "another document stands here, and only the first of a file is read; left out",
            "put each into a file of its own",
        )

    def _pass_over(self, first: Any) -> None:
        """Reads past a collection that is nested too deeply: null stands in its place, and the first one is told."""
        if not self._is_deep:
            message = f"nested more than {NESTING_LIMIT} levels deep; what is deeper is left out"
            self._problems.warning("nested-too-deeply", _line(first), message)
        self._is_deep = True
        depth = 1
        while depth:
            try:
                kind = type(event := self._next())
            except yaml.YAMLError:
                raise YamlError(f"{_line(first)}: nested more than {NESTING_LIMIT} levels deep") from None
            if kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                depth += 1
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                depth -= 1
            if depth > DEPTH_LIMIT:
                raise YamlError(f"{_line(event)}: nested more than {DEPTH_LIMIT} levels deep")

    def _aliased(self, event: Any) -> tuple[Json, int]:
        """Gives what an alias stands for, and how many values that is."""
        if any(item.anchor == event.anchor for item in self._open):
            raise YamlError(f"{_line(event)}: the alias *{event.anchor} contains itself")
        if event.anchor not in self._anchors:
            raise YamlError(f"{_line(event)}: no anchor &{event.anchor} before this alias")
        return self._anchors[event.anchor]

    def _add_odd_member(self, mapping: dict[str, Json], key: str, value: Json, event: Any) -> None:
        """Adds a member that merges others, or whose key stands there already."""
        if key == "<<":  # merge keys are YAML 1.1, and common all the same; the first mapping of a list wins
            merged = value if isinstance(value, list) else [value]
            if merged and all(isinstance(item, dict) for item in merged):
                kept = self._merged.setdefault(id(mapping), set())
                for item in merged:
                    kept.update(name for name in item if name not in mapping)
                    mapping.update((name, member) for name, member in item.items() if name not in mapping)
                return
        if key in self._merged.get(id(mapping), ()):
            self._merged[id(mapping)].remove(key)
        elif key in mapping:
            message = f"the key {key[:100]!r} stands twice in one mapping; its last value counts"
            self._problems.warning("duplicate-key", _line(event), message, "remove one")
        mapping[key] = value


@dataclass(slots=True)
class _Open:
    """A collection in which another one was opened, as it was then."""

    collection: Any
    key: str | None
    expects_key: bool
    anchor: str | None
    """Of the one that was opened."""
    count_before: int


def _line(event: Any) -> str:
    return f"line {event.start_mark.line + 1}"


def _message(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}" if mark is not None else str(problem)
