"""Finds the lines and columns of JSON pointers in a JSON or YAML document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import yaml
from msgspec import Struct

from skillgen.model.values import child

Position = tuple[int, int]
"""Line and column, both from 1; columns count characters."""

_SPACES = dict.fromkeys({*range(0x20), 0x7F, 0x85, 0x2028, 0x2029} - {0x0A, 0x0D}, " ")
"""What YAML forbids, or reads as the end of a line, though JSON does not; also tabs, which may indent JSON."""

_LINE = re.compile(r"line (\d{1,9})\b")


class _Container(Struct):
    """A mapping or a list whose end was not read yet."""

    pointer: str | None
    """`None` if nothing is searched in it."""

    is_mapping: bool
    key: str | None = None
    """The key whose value comes next; `None` if a key comes next."""

    position: Position = (1, 1)
    """Where that key is."""

    count: int = 0
    """The number of items before the next one."""


def positions_in(text: str, places: Iterable[str]) -> dict[str, Position]:
    """Returns the position of each place that is a JSON pointer or `line N`; of a pointer to what is missing, that of
    the innermost object around it, unless that is the document itself.

    A member is where its key is. After a syntax error nothing is found.
    """
    pointers = {place for place in places if place.startswith("/")}
    ways = {pointer: _prefixes(pointer) for pointer in pointers}
    found = _search(text.translate(_SPACES), {prefix for way in ways.values() for prefix in way})
    positions = {}
    for pointer, way in ways.items():
        nearest = next((prefix for prefix in reversed(way) if prefix in found), None)
        if nearest is not None:
            positions[pointer] = found[nearest]
    lines = {place: match for place in places if (match := _LINE.match(place)) is not None}
    return positions | {place: (int(match[1]), 1) for place, match in lines.items()}


def _prefixes(pointer: str) -> list[str]:
    """Returns a pointer and those to what contains it, the outermost first, without the document."""
    steps = pointer.split("/")[1:]
    return ["/" + "/".join(steps[: end + 1]) for end in range(len(steps))]


def _search(text: str, wanted: set[str]) -> Mapping[str, Position]:
    """Returns the positions of these pointers. Of a key that occurs twice, the last one counts, as when it is read."""
    found: dict[str, Position] = {}
    stack: list[_Container] = []
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.CollectionEndEvent):
                stack.pop()
            elif isinstance(event, yaml.DocumentEndEvent):
                break
            elif isinstance(event, yaml.NodeEvent):
                assert event.start_mark is not None
                position = (event.start_mark.line + 1, event.start_mark.column + 1)
                pointer = _pointer_of(event, position, stack, found, wanted)
                if isinstance(event, yaml.CollectionStartEvent):
                    stack.append(_Container(pointer=pointer, is_mapping=isinstance(event, yaml.MappingStartEvent)))
    except yaml.YAMLError:
        pass
    return found


def _pointer_of(
    event: yaml.NodeEvent, position: Position, stack: list[_Container], found: dict[str, Position], wanted: set[str]
) -> str | None:
    """Returns the pointer of a value in which something is searched, and stores its position; `None` for a key."""
    if not stack:
        return ""
    outer = stack[-1]
    if outer.is_mapping and outer.key is None:
        outer.key, outer.position = str(getattr(event, "value", "")), position
        return None
    step: str | int = outer.count
    outer.count += 1
    if outer.is_mapping:
        step, position, outer.key = outer.key or "", outer.position, None
    if outer.pointer is None or (pointer := child(outer.pointer, step)) not in wanted:
        return None
    found[pointer] = position
    return pointer
