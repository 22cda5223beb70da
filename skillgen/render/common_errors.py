"""The errors that most tools of a service have in the same words: they are told once, and each section names them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from skillgen.model.exchange import ErrorCase
from skillgen.model.service import Service
from skillgen.model.tool import Tool

LEAST = 8
"""Tools that must have an error before it is told elsewhere than with them."""

MANY = 3
"""Errors that are worth a look elsewhere, however short."""

LONG = 120
"""Characters of words that are worth it, however few the errors."""

_Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class CommonErrors:
    """The errors that at least half of the tools have in the same words."""

    cases: tuple[ErrorCase, ...] = ()
    """Each once."""

    keys: frozenset[_Key] = frozenset()
    """What they are known by."""

    known: dict[int, _Key] = field(default_factory=dict)
    """What each case of the service is known by, by its identity: many are one object."""

    def of(self, tool: Tool) -> list[ErrorCase]:
        """Gives those of a tool that are told once for all."""
        return [case for case in tool.errors if self.known.get(id(case)) in self.keys] if self.keys else []

    def beside(self, tool: Tool) -> Sequence[ErrorCase]:
        """Gives those of a tool that its own section tells."""
        if not self.keys:
            return tool.errors
        return [case for case in tool.errors if self.known.get(id(case)) not in self.keys]


def common_errors(service: Service) -> CommonErrors:
    """Finds the errors of most tools."""
    if len(service.tools) < LEAST:
        return CommonErrors()
    known: dict[int, _Key] = {}
    first: dict[_Key, ErrorCase] = {}
    counts: Counter[_Key] = Counter()
    for tool in service.tools:
        for case in tool.errors:
            if (key := known.get(id(case))) is None:
                key = known[id(case)] = _key(case)
                first.setdefault(key, case)
            counts[key] += 1
    least = max(LEAST, (len(service.tools) + 1) // 2)
    cases = [first[key] for key, count in counts.items() if count >= least]
    words = sum(len(case.description or "") + len(case.resolution or "") for case in cases)
    if len(cases) < MANY and words < LONG:
        return CommonErrors()
    cases.sort(key=lambda case: case.code)
    return CommonErrors(tuple(cases), frozenset(known[id(case)] for case in cases), known)


def _key(case: ErrorCase) -> _Key:
    shapes: list[object] = []
    for output in (case.output, *case.other_outputs):
        if output is not None:
            headers = tuple((item.name, item.description) for item in output.headers)
            shapes += (output.media_types, headers, json.dumps(output.raw, sort_keys=True))
    facts = case.category, case.retry_after_s, case.user_actionable, case.documentation, str(case.details)
    return case.code, case.description, case.resolution, *facts, *shapes
