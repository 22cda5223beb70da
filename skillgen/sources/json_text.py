"""JSON with duplicate keys and bounded depth.

Leaves out of a JSON text what is nested deeper than anything means, so that the rest can be read.

Every later walk over the data is recursive in some way; what is bounded here is bounded for all of them.

Reads JSON from text (RFC 8259), and reports what a plain parser drops without a word.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any

from skillgen.errors import ProblemLog
from skillgen.model.values import Json, child
from skillgen.sources.json_access import NESTING_LIMIT

TEXT_LIMIT = 32 * 1024 * 1024
"""Characters of a text of which parts are left out; a longer one takes too long, and is refused."""

_HOLDERS = frozenset({dict, list})
_MARK = re.compile(r'["\[\]{}]')


def is_too_deep(data: Json) -> bool:
    """Tells whether a value is nested deeper than is read, level by level and so without recursion."""
    level: list[Any] = [data] if data.__class__ in _HOLDERS else []
    for _ in range(NESTING_LIMIT + 1):
        level = [
            item
            for holder in level
            for item in (holder.values() if holder.__class__ is dict else holder)
            if item.__class__ in _HOLDERS
        ]
        if not level:
            return False
    return True


def without_deep_parts(text: str, instead: str = "null") -> tuple[str, tuple[int, ...]]:
    """Gives a JSON text with another value for each part that is nested too deeply, and the lines where those begin.

    Raises:
        RecursionError: the text is too long for that, or such a part never ends.
    """
    if len(text) > TEXT_LIMIT:
        raise RecursionError
    kept, lines = [], []
    depth = done = line = counted = position = 0
    while (match := _MARK.search(text, position)) is not None:
        sign, position = match[0], match.end()
        if sign == '"':
            position = _end_of_string(text, position)
        elif sign in "[{":
            depth += 1
            if depth == NESTING_LIMIT + 1:
                kept.append(text[done : match.start()])
                line += text.count("\n", counted, position)
                counted = position
                lines.append(line + 1)
        else:
            if depth == NESTING_LIMIT + 1:
                kept.append(instead)
                done = position
            depth = max(depth - 1, 0)
    if depth > NESTING_LIMIT:
        raise RecursionError
    return "".join((*kept, text[done:])), tuple(lines)


def _end_of_string(text: str, start: int) -> int:
    """Gives where the string ends that has begun before `start`."""
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
"""How much of the pointer to a part that was left out is told: as far as the schema of a tool."""


def json_from_text(text: str, problems: ProblemLog) -> Json:
    """Reads JSON; a key that stands twice in an object is reported, and its last value kept (RFC 8259, 4).

    A number beyond what Python converts, and the words `NaN` and `Infinity`, which are no JSON, become text. What is
    nested too deeply is left out and reported.

    Raises:
        json.JSONDecodeError: it is not JSON.
        RecursionError: it is nested too deeply, and can't be read without that.
    """
    try:
        data = _read(text, problems)
        if not is_too_deep(data):
            return data
    except RecursionError:
        pass
    text, lines = without_deep_parts(text)
    others = f", and in {len(lines) - 1} more places" if len(lines) > 1 else ""
    problems.warning(
        "nested-too-deeply",
        f"line {lines[0]}" if lines else "",
        f"nested more than {NESTING_LIMIT} levels deep{others}; what is deeper is left out",
    )
    return _read(text, problems)


def parse_marked_json(text: str, start: int = 0) -> tuple[Json, int]:
    """Parses the JSON value that starts at an index; returns it and the index after it.

    Duplicate keys and parts that are nested too deeply are marked in the value, for `resolve_marks` to report.

    Raises:
        ValueError: no JSON stands there.
        RecursionError: it is nested too deeply, and can't be read without that.
    """
    try:
        value, end = _marked(text, start)
        if not is_too_deep(value):
            return value, end
        text = text[start:end]
    except RecursionError:
        text, end = text[start:], len(text)
    return _marked(without_deep_parts(text, _LEFT_OUT_JSON)[0], 0)[0], end


def resolve_marks(data: Json, problems: ProblemLog) -> Json:
    """Returns a value of `parse_marked_json` without its marks; reports each as a problem with its pointer."""
    if not _has_marks(data):
        return data
    _report(data, problems)
    return _plain(data)


def _marked(text: str, start: int) -> tuple[Json, int]:
    try:
        return _MARKING.raw_decode(text, start)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return _MARKING_LONG.raw_decode(text, start)


def _read(text: str, problems: ProblemLog) -> Json:
    doubled: list[_Doubled] = []

    def object_from(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        members = dict(pairs)
        if len(members) == len(pairs):
            return members
        doubled.append(_Doubled(pairs))
        return doubled[-1]

    try:
        data = json.loads(text, object_pairs_hook=object_from, parse_constant=str, parse_float=number_or_text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        doubled.clear()
        data = json.loads(
            text,
            object_pairs_hook=object_from,
            parse_constant=str,
            parse_float=number_or_text,
            parse_int=_int_or_text,
        )
    if doubled:
        _report(data, problems)
        return _plain(data)
    return data


class _Doubled(dict[str, Json]):
    """An object in whose text a key stood twice."""

    def __init__(self, pairs: list[tuple[str, Json]]) -> None:
        super().__init__(pairs)
        counts = Counter(key for key, _ in pairs)
        self.keys_twice = tuple(key for key, count in counts.items() if count > 1)


def _int_or_text(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:
        return digits


def number_or_text(digits: str) -> float | str:
    """Gives a number, or its text where it is beyond what a machine holds: JSON has no word for infinite."""
    number = float(digits)
    return number if math.isfinite(number) else digits


def _object_from(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else _Doubled(pairs)


_MARKING = json.JSONDecoder(parse_constant=str, parse_float=number_or_text, object_pairs_hook=_object_from)
_MARKING_LONG = json.JSONDecoder(
    parse_constant=str, parse_float=number_or_text, parse_int=_int_or_text, object_pairs_hook=_object_from
)

_LEFT_OUT = "\x00nested too deeply\x00"
_LEFT_OUT_JSON = json.dumps(_LEFT_OUT)
"""Stands for what is left out, until that is reported."""


def _has_marks(data: Json) -> bool:
    waiting: list[Any] = [data]
    while waiting:
        value = waiting.pop()
        if type(value) is _Doubled:
            return True
        members = value.values() if isinstance(value, dict) else value
        if _LEFT_OUT in members:
            return True
        waiting += [item for item in members if isinstance(item, (dict, list))]
    return False


def _plain(data: Json) -> Json:
    """Gives the data with ordinary objects for those that knew of their keys."""
    whole: list[Json] = [data]
    waiting: list[Any] = [whole]
    while waiting:
        holder = waiting.pop()
        for key, item in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            if isinstance(item, _Doubled):
                item = holder[key] = dict(item)
            elif item == _LEFT_OUT:
                holder[key] = None
            if isinstance(item, (dict, list)):
                waiting.append(item)
    return whole[0]


def _report(data: Json, problems: ProblemLog) -> None:
    """Reports the keys that stood twice, and where parts were left out, in the order of the text."""
    waiting: list[tuple[str, Any]] = [("", data)]
    while waiting:
        pointer, value = waiting.pop()
        if isinstance(value, (dict, list)):
            for key in getattr(value, "keys_twice", ()):
                problems.warning(
                    "duplicate-key",
                    child(pointer, key),
                    f"the key {key[:100]!r} stands twice in one object; its last value counts",
                    "remove one",
                )
            members = value.items() if isinstance(value, dict) else enumerate(value)
            waiting.extend(reversed([(child(pointer, key), item) for key, item in members]))
        elif value == _LEFT_OUT:
            # The whole pointer is as deep as what it points to.
            problems.warning(
                "nested-too-deeply",
                "/".join(pointer.split("/")[:_POINTER_STEPS]),
                f"nested more than {NESTING_LIMIT} levels deep; what is deeper is left out",
            )
