"""JSON (RFC 8259) with bounded depth, which reports duplicate keys.

Parts that are nested too deeply are cut from the text, so that the rest can be read. Every later walk over the data is
recursive; the limit here bounds all of them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

from skillgen.errors import ProblemLog
from skillgen.model.values import NESTING_LIMIT, Json, child, number_or_text

_CUTTABLE_LIMIT = 32 * 1024 * 1024
"""Characters of a text from which deep parts can be cut; a longer one takes too long and is refused."""

_T = TypeVar("_T")

_CONTAINERS = frozenset({dict, list})
_STRUCTURAL = re.compile(r'["\[\]{}]')


def _is_too_deep(data: Json) -> bool:
    """True if a value is nested deeper than `NESTING_LIMIT`; checks level by level, without recursion."""
    level: list[Any] = [data] if data.__class__ in _CONTAINERS else []
    for _ in range(NESTING_LIMIT + 1):
        level = [
            item
            for container in level
            for item in (container.values() if container.__class__ is dict else container)
            if item.__class__ in _CONTAINERS
        ]
        if not level:
            return False
    return True


def _cut_deep_parts(text: str, replacement: str = "null") -> tuple[str, tuple[int, ...]]:
    """Returns JSON text with each part that is nested too deeply replaced, and the lines on which those parts start.

    Raises:
        RecursionError: the text is too long for this, or such a part never closes.
    """
    if len(text) > _CUTTABLE_LIMIT:
        raise RecursionError
    pieces, lines = [], []
    depth = done = line = counted = position = 0
    while (match := _STRUCTURAL.search(text, position)) is not None:
        character, position = match[0], match.end()
        if character == '"':
            position = _end_of_string(text, position)
        elif character in "[{":
            depth += 1
            if depth == NESTING_LIMIT + 1:
                pieces.append(text[done : match.start()])
                line += text.count("\n", counted, position)
                counted = position
                lines.append(line + 1)
        else:
            if depth == NESTING_LIMIT + 1:
                pieces.append(replacement)
                done = position
            depth = max(depth - 1, 0)
    if depth > NESTING_LIMIT:
        raise RecursionError
    return "".join((*pieces, text[done:])), tuple(lines)


def _end_of_string(text: str, start: int) -> int:
    """Returns the index after the closing quote of the string whose content starts at `start`."""
    end = start
    while (end := text.find('"', end)) >= 0:
        before = end
        while before > start and text[before - 1] == "\\":
            before -= 1
        end += 1
        if (end - 1 - before) % 2 == 0:
            return end
    return len(text)


_POINTER_STEPS = 6
"""Tokens of the pointer that a report of a deep part shows: they reach the schema of a tool."""


def json_from_text(text: str, problems: ProblemLog) -> Json:
    """Parses JSON. Of a duplicate key the last value is used, and a problem is reported (RFC 8259, 4).

    Numbers that Python cannot convert, and `NaN` and `Infinity`, which are not JSON, become strings. Parts that are
    nested too deeply become null and are reported.

    Raises:
        json.JSONDecodeError: the text is not JSON.
        RecursionError: it is nested too deeply, and the deep parts cannot be cut.
    """
    try:
        data = _read(text, problems)
        if not _is_too_deep(data):
            return data
    except RecursionError:
        pass
    text, lines = _cut_deep_parts(text)
    others = f", and in {len(lines) - 1} more places" if len(lines) > 1 else ""
    message = f"nested more than {NESTING_LIMIT} levels deep{others}; deeper levels are left out"
    problems.report("nested-too-deeply", f"line {lines[0]}" if lines else "", message)
    return _read(text, problems)


def parse_marked_json(text: str, start: int = 0) -> tuple[Json, int]:
    """Parses the JSON value that starts at an index; returns it and the index after it.

    Duplicate keys and parts that are nested too deeply are marked in the value, for `resolve_marks` to report.

    Raises:
        ValueError: there is no JSON at the index.
        RecursionError: it is nested too deeply, and the deep parts cannot be cut.
    """
    try:
        value, end = _marked(text, start)
        if not _is_too_deep(value):
            return value, end
        text = text[start:end]
    except RecursionError:
        text, end = text[start:], len(text)
    return _marked(_cut_deep_parts(text, _CUT_JSON)[0], 0)[0], end


def resolve_marks(data: Json, problems: ProblemLog) -> Json:
    """Returns a value of `parse_marked_json` without its marks; reports each as a problem with its pointer."""
    if not _has_marks(data):
        return data
    _report(data, problems)
    return _plain(data)


def _marked(text: str, start: int) -> tuple[Json, int]:
    return _decoded(_object_from, lambda decoder: decoder.raw_decode(text, start))


def _read(text: str, problems: ProblemLog) -> Json:
    duplicates: list[_DuplicateKeyObject] = []

    def object_from(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        members = dict(pairs)
        if len(members) != len(pairs):
            members = _DuplicateKeyObject(pairs)
            duplicates.append(members)
        return members

    data = _decoded(object_from, lambda decoder: decoder.decode(text))
    if duplicates:
        _report(data, problems)
        return _plain(data)
    return data


def _decoded(object_from: Callable[[list[tuple[str, Json]]], Json], decode: Callable[[json.JSONDecoder], _T]) -> _T:
    """Decodes JSON with strings for `NaN` and `Infinity`, and for numbers that Python cannot convert."""
    options: dict[str, Any] = {
        "object_pairs_hook": object_from,
        "parse_constant": str,
        "parse_float": number_or_text,
    }
    try:
        return decode(json.JSONDecoder(**options))
    except json.JSONDecodeError:
        raise
    except ValueError:  # an integer with more digits than Python converts
        return decode(json.JSONDecoder(**options, parse_int=_int_or_text))


class _DuplicateKeyObject(dict[str, Json]):
    """A JSON object with duplicate keys."""

    def __init__(self, pairs: list[tuple[str, Json]]) -> None:
        super().__init__(pairs)
        counts = Counter(key for key, _ in pairs)
        self.duplicate_keys = tuple(key for key, count in counts.items() if count > 1)


def _int_or_text(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:
        return digits


def _object_from(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else _DuplicateKeyObject(pairs)


_CUT = "\x00nested too deeply\x00"
_CUT_JSON = json.dumps(_CUT)
"""Marks a cut part until it is reported."""


def _has_marks(data: Json) -> bool:
    waiting: list[Any] = [data]
    while waiting:
        value = waiting.pop()
        if type(value) is _DuplicateKeyObject:
            return True
        members = value.values() if isinstance(value, dict) else value
        if _CUT in members:
            return True
        waiting += [item for item in members if isinstance(item, (dict, list))]
    return False


def _plain(data: Json) -> Json:
    """Returns the data without marks: ordinary objects, and null for each cut part."""
    root: list[Json] = [data]
    waiting: list[Any] = [root]
    while waiting:
        container = waiting.pop()
        for key, item in list(container.items() if isinstance(container, dict) else enumerate(container)):
            if isinstance(item, _DuplicateKeyObject):
                item = container[key] = dict(item)
            elif item == _CUT:
                container[key] = None
            if isinstance(item, (dict, list)):
                waiting.append(item)
    return root[0]


def _report(data: Json, problems: ProblemLog) -> None:
    """Reports duplicate keys and cut parts, in the order of the text."""
    waiting: list[tuple[str, Any]] = [("", data)]
    while waiting:
        pointer, value = waiting.pop()
        if isinstance(value, (dict, list)):
            for key in getattr(value, "duplicate_keys", ()):
                message = f"the key {key[:100]!r} occurs twice in one object; the last value is used"
                problems.report("duplicate-key", child(pointer, key), message)
            members = value.items() if isinstance(value, dict) else enumerate(value)
            waiting.extend(reversed([(child(pointer, key), item) for key, item in members]))
        elif value == _CUT:
            # The complete pointer is as long as the part is deep.
            message = f"nested more than {NESTING_LIMIT} levels deep; deeper levels are left out"
            problems.report("nested-too-deeply", "/".join(pointer.split("/")[:_POINTER_STEPS]), message)
