"""YAML as OpenAPI means it: the core schema of YAML 1.2, keys kept as text (OpenAPI 3.1, "Format").

PyYAML's own loaders follow YAML 1.1, where `no` is false, `12:30` a number and a date a date; so only its parser's
events are used here, and the values are made by the rules of YAML 1.2.2, 10.3.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from skillgen.errors import ProblemLog
from skillgen.model.value import Json

EXPANDED_LIMIT = 20_000_000
"""Values that a document may come to when its aliases are written out; beyond it is an alias bomb."""

DEPTH_LIMIT = 500
"""Levels of nesting; the parser's own time grows with their square."""

_LOADER: Any = getattr(yaml, "CLoader", yaml.Loader)
# YAML 1.2.2 allows them in quoted text; PyYAML refuses some (5.1) and takes others for line ends (5.4).
_REFUSED = re.compile("[\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_INT = re.compile(r"[-+]?[0-9]+\Z")
_BASED_INT = re.compile(r"0(?:o[0-7]+|x[0-9a-fA-F]+)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_PLAIN_TAGS = tuple(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))
_WORDS: dict[str, Json] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip


class YamlError(ValueError):
    """Text that is not YAML, or YAML that cannot be read safely; the message names the line."""


def parse_yaml(text: str, problems: ProblemLog) -> Json:
    """Reads one YAML document; a key that stands twice in a mapping is reported, and its last value kept.

    Raises:
        YamlError: the text is not YAML, or its aliases form a cycle or a bomb.
    """
    if _REFUSED.search(text):
        problems.warning("control-characters", "", "the text holds control characters; U+FFFD stands in their place")
        text = _REFUSED.sub("\ufffd", text)
    loader = _LOADER(text)
    try:
        return _Builder(loader, problems).document()
    except yaml.YAMLError as error:
        raise YamlError(_message(error)) from None
    finally:
        loader.dispose()


def plain_scalar(text: str) -> Json:
    """Gives the value of an unquoted scalar by the core schema. `.inf` and `.nan`, which JSON lacks, stay text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    try:
        if _INT.match(text):
            return int(text)
        if _BASED_INT.match(text):
            return int(text, 0)
        if _FLOAT.match(text):
            return float(text)
    except ValueError:  # more digits than Python will convert
        return text
    return text


class _Builder:
    """Makes values of events, without recursion: nesting is as deep as the parser allows."""

    def __init__(self, loader: Any, problems: ProblemLog) -> None:
        self._next = loader.get_event
        self._problems = problems
        self._anchors: dict[str, tuple[Json, int]] = {}
        self._open: list[_Collection] = []

    def document(self) -> Json:
        root = _Collection([], None)
        stack = self._open
        stack.append(root)
        while True:
            event = self._next()
            kind = type(event)
            if kind is yaml.ScalarEvent:
                value = _scalar(event, is_key=stack[-1].expects_key())
                self._anchor(event.anchor, value, 1)
                self._add(value, 1, event)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                if len(stack) > DEPTH_LIMIT:
                    line = event.start_mark.line + 1
                    raise YamlError(f"line {line}: nested more than {DEPTH_LIMIT} levels deep")
                stack.append(_Collection({} if kind is yaml.MappingStartEvent else [], event.anchor))
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                done = stack.pop()
                self._anchor(done.anchor, done.value, done.weight)
                self._add(done.value, done.weight, event)
            elif kind is yaml.AliasEvent:
                self._add_alias(event)
            elif kind is yaml.DocumentEndEvent:
                return root.value[0] if root.value else None
            elif kind is yaml.StreamEndEvent:
                return None

    def _anchor(self, anchor: str | None, value: Json, weight: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = (value, weight)

    def _add_alias(self, event: Any) -> None:
        if any(item.anchor == event.anchor for item in self._open):
            raise YamlError(f"line {event.start_mark.line + 1}: the alias *{event.anchor} contains itself")
        if event.anchor not in self._anchors:
            raise YamlError(f"line {event.start_mark.line + 1}: no anchor &{event.anchor} before this alias")
        value, weight = self._anchors[event.anchor]
        self._add(value, weight, event)

    def _add(self, value: Json, weight: int, event: Any) -> None:
        into = self._open[-1]
        into.weight += weight
        if into.weight > EXPANDED_LIMIT:
            raise YamlError(f"line {event.start_mark.line + 1}: the aliases stand for over {EXPANDED_LIMIT:,} values")
        if isinstance(into.value, list):
            into.value.append(value)
        elif into.key is None:
            into.key = value if isinstance(value, str) else str(value)
        else:
            self._add_member(into, value, event)

    def _add_member(self, into: _Collection, value: Json, event: Any) -> None:
        key, into.key = into.key, None
        if key == "<<":  # merge keys are YAML 1.1, and common all the same; the first mapping of a list wins
            merged = value if isinstance(value, list) else [value]
            if merged and all(isinstance(item, dict) for item in merged):
                for item in merged:
                    into.value = {**item, **into.value}
                return
        if key in into.value:
            line = event.start_mark.line + 1
            self._problems.warning(
                "duplicate-key", f"line {line}", f"the key {str(key)[:100]!r} stands twice in one mapping", "remove one"
            )
        into.value[key] = value


class _Collection:
    """A mapping or sequence that is still open."""

    __slots__ = ("anchor", "key", "value", "weight")

    def __init__(self, value: Any, anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | None = None
        self.weight = 1

    def expects_key(self) -> bool:
        return self.key is None and isinstance(self.value, dict)


def _scalar(event: Any, is_key: bool) -> Json:
    if is_key or not (event.implicit[0] or event.tag in _PLAIN_TAGS):
        return event.value
    return plain_scalar(event.value)


def _message(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}" if mark is not None else str(problem)
