"""YAML with the core schema of YAML 1.2, as OpenAPI requires it; keys are strings (OpenAPI 3.1, "Format").

PyYAML's loaders follow YAML 1.1, where `no` is false, `12:30` a number and dates are dates. So only its parser's events
are used, and values follow YAML 1.2.2, 10.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import yaml
from msgspec import Struct

from skillgen.errors import ProblemLog
from skillgen.model.values import NESTING_LIMIT, Json, number_or_text
from skillgen.text import lazy_re as re

_EXPANDED_LIMIT = 20_000_000
"""Values of a document with its aliases expanded; more are an alias bomb."""

_EXPANDED_AT_LEAST = 100_000
_EXPANDED_PER_CHARACTER = 2
"""The limit for a small document. A value takes about ten characters, so this is twenty times its own values."""

_DEPTH_LIMIT = 20_000
"""Levels of nesting that are skipped; the parser's time grows with their square."""

_MAX_BASED_INT_LENGTH = 1_000
"""Characters of a number that is not decimal; Python parses longer ones, but cannot print them."""

_LOADER: Any = getattr(yaml, "CLoader", yaml.Loader)
# YAML 1.2.2 allows these in quoted text; PyYAML rejects some (5.1) and treats others as line breaks (5.4).
_UNSUPPORTED = re.compile("[\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_INT = re.compile(r"[-+]?[0-9]+\Z")
_BASED_INT = re.compile(r"0(?:o[0-7]+|x[0-9a-fA-F]+)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NUMBER_STARTS = frozenset("+-.0123456789")
_NODES = (yaml.ScalarEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent, yaml.AliasEvent)
_PLAIN_TAGS = tuple(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))
_WORDS: dict[str, Json] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip


class YamlError(ValueError):
    """The text is not YAML, or cannot be read safely; the message names the line."""


Places: TypeAlias = dict[tuple[int, str | int], tuple[int, int]]
"""Lines and columns of keys and items, from 1, each by the `id` of its mapping or list and its key or index."""


def place_of(path: Sequence[str | int], data: Json, places: Places) -> tuple[int, int] | None:
    """Returns the place of what has a path in the data, else of the innermost mapping or list around it."""
    value: Any = data
    found = None
    with suppress(LookupError, TypeError, ValueError):
        for part in path:
            key = int(part) if isinstance(value, list) else part
            found, value = places.get((id(value), key), found), value[key]
    return found


def parse_yaml(
    text: str, problems: ProblemLog, *, scalar: Callable[[str], Json] | None = None, places: Places | None = None
) -> Json:
    """Parses the first YAML document that is not empty; reports that others follow.

    `scalar` returns the value of an unquoted scalar; the default is the core schema. Of a duplicate key the last value
    is used, and a problem is reported. `places` gets where keys and items are.

    Raises:
        YamlError: the text is not YAML, or its aliases form a cycle or a bomb.
    """
    if _UNSUPPORTED.search(text):
        problems.report("control-characters", "", "the text contains control characters; U+FFFD replaces each of them")
        text = _UNSUPPORTED.sub("\ufffd", text)
    loader = _LOADER(text)
    try:
        limit = min(_EXPANDED_LIMIT, _EXPANDED_AT_LEAST + _EXPANDED_PER_CHARACTER * len(text))
        builder = _Builder(loader, problems, limit, scalar or _plain_scalar)
        data = builder.document(places)
        builder.report_further_documents()
        return data
    except yaml.YAMLError as error:
        raise YamlError(_message(error, text)) from None
    finally:
        loader.dispose()


def word_scalar(text: str) -> Json:
    """Returns the value of an unquoted scalar, with numbers as strings: a version such as 1.10 keeps its zero."""
    return _WORDS.get(text, text)


def _plain_scalar(text: str) -> Json:
    """Returns the value of an unquoted scalar by the core schema. `.inf` and `.nan`, which JSON lacks, stay strings."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    try:
        if _INT.match(text):
            return int(text)
        if _BASED_INT.match(text):
            return int(text, 0) if len(text) < _MAX_BASED_INT_LENGTH else text
        if _FLOAT.match(text):
            return number_or_text(text)
    except ValueError:  # more digits than Python will convert
        return text
    return text


class _Builder:
    """Builds values from events, without recursion: nesting is as deep as the parser allows."""

    def __init__(self, loader: Any, problems: ProblemLog, limit: int, plain: Callable[[str], Json]) -> None:
        self._plain = plain
        self._expanded_limit = limit
        self._next = loader.get_event
        self._problems = problems
        self._anchors: dict[str, tuple[Json, int]] = {}
        self._open: list[_Outer] = []
        self._is_deep = False
        self._merged: dict[int, set[str]] = {}
        """For each mapping with a merge key, by identity: the merged keys that it may still override."""

    def document(self, places: Places | None) -> Json:
        """Returns the value of the first document that is not null. Most events are scalars: they come first."""
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
            if places is not None and kind in _NODES:
                member = event.value if expects_key and kind is scalar else len(collection)
                places[id(collection), member] = event.start_mark.line + 1, event.start_mark.column + 1
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
                    self._open.append(_Outer(collection, key, expects_key, event.anchor, count))
                    key, expects_key = None, kind is yaml.MappingStartEvent
                    collection = {} if expects_key else []
                    continue
                self._skip(event)
                value = None
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                value, done = collection, self._open.pop()
                collection, key, expects_key = done.collection, done.key, done.expects_key
                count += 1
                if done.anchor is not None:
                    anchors[done.anchor] = (value, count - done.count_before)
            elif kind is yaml.AliasEvent:
                value, weight = self._resolve_alias(event)
                count += weight
                if count > self._expanded_limit:
                    raise YamlError(f"{_line(event)}: the aliases expand to more than {self._expanded_limit:,} values")
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
                    self._add_special_member(collection, key, value, event)
                else:
                    collection[key] = value
                key, expects_key = None, True

    def report_further_documents(self) -> None:
        """Reports the first content after the document, whether it is YAML or not."""
        try:
            while (event := self._next()) is not None and type(event) is not yaml.StreamEndEvent:
                is_null = type(event) is yaml.ScalarEvent and event.implicit[0] and _plain_scalar(event.value) is None
                if not is_null and type(event) not in (yaml.DocumentStartEvent, yaml.DocumentEndEvent):
                    where = _line(event)
                    break
            else:
                return
        except yaml.YAMLError as error:
            where = _message(error).partition(",")[0]
        message = "another document starts here; only the first of a file is read"
        self._problems.report("documents-left-out", where, message)

    def _skip(self, first: Any) -> None:
        """Skips a collection that is nested too deeply; it becomes null. The first one is reported."""
        if not self._is_deep:
            message = f"nested more than {NESTING_LIMIT} levels deep; deeper levels are left out"
            self._problems.report("nested-too-deeply", _line(first), message)
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
            if depth > _DEPTH_LIMIT:
                raise YamlError(f"{_line(event)}: nested more than {_DEPTH_LIMIT} levels deep")

    def _resolve_alias(self, event: Any) -> tuple[Json, int]:
        """Returns the value of an alias, and the number of values in it."""
        if any(item.anchor == event.anchor for item in self._open):
            raise YamlError(f"{_line(event)}: the alias *{event.anchor} contains itself")
        if event.anchor not in self._anchors:
            raise YamlError(f"{_line(event)}: no anchor &{event.anchor} before this alias")
        return self._anchors[event.anchor]

    def _add_special_member(self, mapping: dict[str, Json], key: str, value: Json, event: Any) -> None:
        """Adds a merge key or a duplicate key."""
        if key == "<<":  # merge keys are YAML 1.1, but common; the first mapping of a list wins
            merged = value if isinstance(value, list) else [value]
            if merged and all(isinstance(item, dict) for item in merged):
                overridable = self._merged.setdefault(id(mapping), set())
                for item in merged:
                    overridable.update(name for name in item if name not in mapping)
                    mapping.update((name, member) for name, member in item.items() if name not in mapping)
                return
        if key in self._merged.get(id(mapping), ()):
            self._merged[id(mapping)].remove(key)
        elif key in mapping:
            message = f"the key {key[:100]!r} occurs twice in one mapping; the last value is used"
            self._problems.report("duplicate-key", _line(event), message)
        mapping[key] = value


class _Outer(Struct):
    """The state of a collection when another one starts in it."""

    collection: Any
    key: str | None
    expects_key: bool
    anchor: str | None
    """The anchor of the inner collection."""
    count_before: int


def _line(event: Any) -> str:
    return f"line {event.start_mark.line + 1}"


def _message(error: yaml.YAMLError, text: str = "") -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    if "nesting" in problem:  # LibYAML 0.2.6 refuses more than 1,000 levels, often before it returns the first of them
        problem = "nested too deeply to be read"
    if mark is not None and text and "any token" in problem and "\t" in text.splitlines()[mark.line]:
        problem = "a tab indents the line, which YAML does not allow"
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}" if mark is not None else str(problem)
