"""Reads JSON from text (RFC 8259), and reports what a plain parser drops without a word."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from skillgen.errors import ProblemLog
from skillgen.model.pointer import child
from skillgen.model.value import Json


def json_from_text(text: str, problems: ProblemLog) -> Json:
    """Reads JSON; a key that stands twice in an object is reported, and its last value kept (RFC 8259, 4).

    A number with more digits than Python converts, and the words `NaN` and `Infinity`, which are no JSON, become text.

    Raises:
        json.JSONDecodeError: it is not JSON.
        RecursionError: it is nested too deeply.
    """
    doubled: list[_Doubled] = []

    def object_from(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        members = dict(pairs)
        if len(members) == len(pairs):
            return members
        doubled.append(_Doubled(pairs))
        return doubled[-1]

    try:
        data = json.loads(text, object_pairs_hook=object_from, parse_constant=str)
    except json.JSONDecodeError:
        raise
    except ValueError:
        doubled.clear()
        data = json.loads(text, object_pairs_hook=object_from, parse_constant=str, parse_int=_int_or_text)
    if doubled:
        _report(data, problems)
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
