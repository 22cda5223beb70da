"""Reads JSON from text (RFC 8259), and reports what a plain parser drops without a word."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

from skillgen.errors import ProblemLog
from skillgen.model.pointer import child
from skillgen.model.value import Json
from skillgen.sources.nesting import NESTING_LIMIT, is_too_deep, without_deep_parts


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


def plain_json(text: str, start: int = 0) -> tuple[Json, int]:
    """Reads the JSON value that begins at a place, of which nothing is reported; gives it and where it ends.

    Raises:
        ValueError: no JSON stands there.
        RecursionError: it is nested too deeply.
    """
    try:
        return _PLAIN.raw_decode(text, start)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return _PLAIN_LONG.raw_decode(text, start)


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


_PLAIN = json.JSONDecoder(parse_constant=str, parse_float=number_or_text)
_PLAIN_LONG = json.JSONDecoder(parse_constant=str, parse_float=number_or_text, parse_int=_int_or_text)


def _plain(data: Json) -> Json:
    """Gives the data with ordinary objects for those that knew of their keys."""
    whole: list[Json] = [data]
    waiting: list[Any] = [whole]
    while waiting:
        holder = waiting.pop()
        for key, item in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            if isinstance(item, _Doubled):
                item = holder[key] = dict(item)
            if isinstance(item, (dict, list)):
                waiting.append(item)
    return whole[0]


def _report(data: Json, problems: ProblemLog) -> None:
    """Reports the keys that stood twice, with their pointers, in the order of the text."""
    waiting: list[tuple[str, Any]] = [("", data)]
    while waiting:
        pointer, value = waiting.pop()
        if isinstance(value, dict):
            for key in getattr(value, "keys_twice", ()):
                problems.warning(
                    "duplicate-key",
                    child(pointer, key),
                    f"the key {key[:100]!r} stands twice in one object; its last value counts",
                    "remove one",
                )
            waiting.extend(reversed([(child(pointer, key), item) for key, item in value.items()]))
        elif isinstance(value, list):
            waiting.extend(reversed([(child(pointer, index), item) for index, item in enumerate(value)]))
