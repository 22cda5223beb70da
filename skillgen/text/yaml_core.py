"""YAML with the core schema of YAML 1.2, as OpenAPI requires it; keys are strings (OpenAPI 3.1, "Format").

PyYAML's loaders follow YAML 1.1, where `no` is false, `12:30` a number and dates are dates. So only its parser's events
are used, and values follow YAML 1.2.2, 10.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from sys import intern
from typing import Any, TypeAlias

import yaml

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
        builder = _Builder(loader, problems, limit, scalar or _plain_scalar, places)
        data = builder.document()
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
    """Builds values from events. What is nested too deeply is skipped, which bounds the recursion."""

    def __init__(
        self, loader: Any, problems: ProblemLog, limit: int, plain: Callable[[str], Json], places: Places | None
    ) -> None:
        self._next, self._problems, self._plain, self._places = loader.get_event, problems, plain, places
        self._count, self._expanded_limit = 0, limit
        self._anchors: dict[str, tuple[Json, int]] = {}
        self._open: list[str | None] = []
        """The anchor of each collection around the value."""
        self._is_deep = False

    def document(self) -> Json:
        """Returns the value of the first document that is not null."""
        while type(event := self._next()) is not yaml.StreamEndEvent:
            if type(event) in _NODES and (value := self._value(event)) is not None:
                return value
        return None

    def _value(self, event: Any) -> Json:
        """Returns the value that begins with an event."""
        kind, count_before = type(event), self._count
        if kind is yaml.AliasEvent:
            return self._resolve_alias(event)
        self._count += 1
        value: Json
        if kind is yaml.ScalarEvent:
            is_plain = event.implicit[0] or event.tag in _PLAIN_TAGS
            value = self._plain(event.value) if is_plain else event.value
        elif len(self._open) == NESTING_LIMIT:
            self._skip(event)
            return None
        else:
            self._open.append(event.anchor)
            value = self._mapping() if kind is yaml.MappingStartEvent else self._sequence()
            self._open.pop()
        if event.anchor is not None:
            self._anchors[event.anchor] = value, self._count - count_before
        return value

    def _sequence(self) -> list[Json]:
        items: list[Json] = []
        while type(event := self._next()) is not yaml.SequenceEndEvent:
            self._place(items, len(items), event)
            items.append(self._value(event))
        return items

    def _mapping(self) -> dict[str, Json]:
        mapping: dict[str, Json] = {}
        merged = set[str]()  # keys that the mapping may still override
        while type(event := self._next()) is not yaml.MappingEndEvent:
            if type(event) is yaml.ScalarEvent:  # a key is the text in the source, whatever its type
                self._count += 1
                key = intern(event.value)
                if event.anchor is not None:
                    self._anchors[event.anchor] = key, 1
            else:
                key = str(self._value(event))
            self._place(mapping, key, event)
            value = self._value(self._next())
            if key == "<<" and (sources := _merge_sources(value)):
                for source in sources:  # the first one wins
                    merged |= source.keys() - mapping.keys()
                    mapping |= {name: member for name, member in source.items() if name not in mapping}
                continue
            if key in mapping and key not in merged:
                message = f"the key {key[:100]!r} occurs twice in one mapping; the last value is used"
                self._problems.report("duplicate-key", _line(event), message)
            merged.discard(key)
            mapping[key] = value
        return mapping

    def _place(self, collection: Json, member: str | int, event: Any) -> None:
        if self._places is not None:
            self._places[id(collection), member] = event.start_mark.line + 1, event.start_mark.column + 1

    def report_further_documents(self) -> None:
        """Reports the first content after the document, whether it is YAML or not."""
        nodes = (event for event in iter(self._next, None) if type(event) in _NODES)
        try:
            where = next((_line(node) for node in nodes if word_scalar(getattr(node, "value", "[]")) is not None), None)
        except yaml.YAMLError as error:
            where = _message(error).partition(",")[0]
        if where is not None:
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
            kind = type(self._next())
            depth += kind in (yaml.MappingStartEvent, yaml.SequenceStartEvent)
            depth -= kind in (yaml.MappingEndEvent, yaml.SequenceEndEvent)
            if depth > _DEPTH_LIMIT:
                raise YamlError(f"{_line(first)}: nested more than {_DEPTH_LIMIT} levels deep")

    def _resolve_alias(self, event: Any) -> Json:
        if event.anchor in self._open:
            raise YamlError(f"{_line(event)}: the alias *{event.anchor} contains itself")
        if event.anchor not in self._anchors:
            raise YamlError(f"{_line(event)}: no anchor &{event.anchor} before this alias")
        value, weight = self._anchors[event.anchor]
        self._count += weight
        if self._count > self._expanded_limit:
            raise YamlError(f"{_line(event)}: the aliases expand to more than {self._expanded_limit:,} values")
        return value


def _merge_sources(value: Json) -> list[dict[str, Json]]:
    """Returns the mappings of a merge key, which is YAML 1.1, but common; none if the value is something else."""
    sources = value if isinstance(value, list) else [value]
    return sources if all(isinstance(item, dict) for item in sources) else []


def _line(event: Any) -> str:
    return f"line {event.start_mark.line + 1}"


def _message(error: yaml.YAMLError, text: str = "") -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    if "end of stream" in problem and (opened := getattr(error, "context_mark", None)) is not None:
        mark, problem = opened, "the quote that opens here is not closed"
    if "nesting" in problem:  # LibYAML 0.2.6 refuses more than 1,000 levels, often before it returns the first of them
        problem = "nested too deeply to be read"
    if mark is not None and text and "any token" in problem and "\t" in text.splitlines()[mark.line]:
        problem = "a tab indents the line, which YAML does not allow"
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}" if mark is not None else str(problem)
