"""Where things stand in the source, when they were read from somewhere else.

A Swagger 2.0 document is read as OpenAPI 3, and a document in several files as one, so that one reader is enough. The
pointers which that reader notes are then put right here, in the model and in the problems: everything a user sees
points into the document that they wrote.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from skillgen.errors import Problem
from skillgen.model.service import Service
from skillgen.model.value import Origin

_BUNDLED = re.compile(r"#(/x-files/[^'\"\s]+)")
"""A reference into another file, as it is once that file stands in the document."""


class Moves:
    """From the pointers of a document as it is read to those of the source."""

    def __init__(self) -> None:
        self._readings: list[dict[str, str]] = []

    def __bool__(self) -> bool:
        return any(self._readings)

    def begin(self) -> None:
        """Begins a reading of what the last one gave: what is noted from now on leads to the places of that one."""
        self._readings.append({})

    def move(self, read: str, source: str) -> None:
        """Notes that what is read at one pointer, and all below it, stands at another in the source."""
        self._readings[-1][read] = source

    def of(self, pointer: str) -> str:
        """Gives where in the source something stands."""
        for moved in reversed(self._readings):
            pointer = _moved(pointer, moved)
        return pointer

    def put_right(self, service: Service) -> Service:
        """Gives the service with pointers into the source."""
        right: Service = self._node(service)
        return right

    def problem(self, problem: Problem) -> Problem:
        """Gives a problem with a pointer into the source."""
        message = _BUNDLED.sub(lambda found: self.of(found[1]), problem.message)
        return dataclasses.replace(problem, where=self.of(problem.where), message=message)

    def _node(self, node: Any) -> Any:
        changes: dict[str, Any] = {}
        for field in dataclasses.fields(node):
            value = getattr(node, field.name)
            if field.name == "pointer":
                right = self.of(value)
                if right != value:
                    changes["pointer"] = right
            elif field.name == "origins":
                if value:
                    changes["origins"] = {name: self._origin(origin) for name, origin in value.items()}
            elif isinstance(value, tuple):
                if value and dataclasses.is_dataclass(value[0]) and field.name != "problems":
                    changes[field.name] = tuple(self._node(item) for item in value)
            elif dataclasses.is_dataclass(value):
                changes[field.name] = self._node(value)
        return dataclasses.replace(node, **changes) if changes else node

    def _origin(self, origin: Origin) -> Origin:
        if origin.kind == "declared" and origin.source.startswith("/"):
            return Origin(origin.kind, self.of(origin.source))
        return origin


def _moved(pointer: str, moved: dict[str, str]) -> str:
    head, rest = pointer, ""
    while head:
        if (place := moved.get(head)) is not None:
            return place + rest
        head, slash, token = head.rpartition("/")
        rest = slash + token + rest
    return pointer
