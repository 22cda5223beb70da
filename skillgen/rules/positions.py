"""Finds the lines and columns of JSON pointers in a JSON or YAML document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

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
    """Where the last key is, or the last item of a list."""

    count: int = 0

    def pointer_of(self, value: str, position: Position) -> str | None:
        """Returns the pointer of the next node; `None` for a key, and for a value of which nothing is searched."""
        if self.is_mapping and self.key is None:
            self.key, self.position = value, position
            return None
        step: str | int = self.key if self.key is not None else self.count
        if not self.is_mapping:
            self.position = position
        self.key, self.count = None, self.count + 1
        return child(self.pointer, step) if self.pointer is not None else None


def positions_in(text: str, places: Iterable[str]) -> dict[str, Position]:
    """Returns the position of each place that is a JSON pointer or `line N`; of a pointer to what is missing, that of
    the innermost object around it, unless that is the document itself.

    A member is where its key is. After a syntax error nothing is found.
    """
    pointers = {place for place in places if place.startswith("/")}
    ways = {pointer: _prefixes(pointer) for pointer in pointers}
    wanted = {prefix for way in ways.values() for prefix in way}
    try:
        found: Mapping[str, Position] = dict(_positions_of(_JsonSearch(text, wanted).offsets(), text))
    except (ValueError, LookupError):  # not JSON
        found = _search_yaml(text.translate(_SPACES), wanted)
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


class _JsonSearch:
    """Finds members of a JSON document, and skips what holds none of them: 20 times as fast as reading it as YAML."""

    def __init__(self, text: str, wanted: set[str]) -> None:
        self._text = text
        self._wanted = wanted
        self._outer = {pointer.rpartition("/")[0] for pointer in wanted}
        self._read_value = json.JSONDecoder(strict=False).raw_decode
        self._offsets: dict[str, int] = {}

    def offsets(self) -> dict[str, int]:
        """Returns the offset of each member that is there.

        Raises:
            ValueError, LookupError: the document is not JSON.
        """
        start = self._after_space(0)
        if self._text[start] not in "{[":
            raise ValueError("not a container")
        if self._wanted:
            with suppress(RecursionError):  # the rest of a document that is nested too deep has no positions
                self._walk(start, "")
        return self._offsets

    def _after_space(self, offset: int) -> int:
        match = _SPACE.match(self._text, offset)
        return match.end() if match is not None else offset

    def _walk(self, offset: int, pointer: str) -> int:
        """Reads a container and returns where it ends. Of a key that occurs twice, the last one counts."""
        text, is_object, count = self._text, self._text[offset] == "{", 0
        offset = self._after_space(offset + 1)
        while text[offset] not in "}]":
            start = offset
            key: str | int = count
            if is_object:
                key, offset = self._read_value(text, offset)
                offset = self._after_space(offset)
                if not isinstance(key, str) or text[offset] != ":":
                    raise ValueError("not a member")
                offset = self._after_space(offset + 1)
            place = child(pointer, key)
            if place in self._wanted:
                self._offsets[place] = start
            if place in self._outer and text[offset] in "{[":
                offset = self._walk(offset, place)
            else:
                _, offset = self._read_value(text, offset)
            offset, count = self._after_space(offset), count + 1
            if text[offset] == ",":
                offset = self._after_space(offset + 1)
            elif text[offset] not in "}]":
                raise ValueError("neither a comma nor an end")
        return offset + 1


_SPACE = re.compile(r"[ \t\n\r]*")


def _positions_of(offsets: Mapping[str, int], text: str) -> Iterator[tuple[str, Position]]:
    """Yields the position at each offset."""
    line, line_start, before = 1, 0, 0
    for pointer, offset in sorted(offsets.items(), key=lambda item: item[1]):
        line += text.count("\n", before, offset)
        line_start = max(line_start, text.rfind("\n", before, offset) + 1)
        before = offset
        yield pointer, (line, offset - line_start + 1)


def _search_yaml(text: str, wanted: set[str]) -> Mapping[str, Position]:
    """Returns the positions of these pointers. Of a key that occurs twice, the last one counts, as when it is read."""
    found: dict[str, Position] = {}
    stack: list[_Container] = []
    with suppress(yaml.YAMLError):
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.CollectionEndEvent):
                stack.pop()
            elif isinstance(event, yaml.DocumentEndEvent):
                break
            elif isinstance(event, yaml.NodeEvent) and event.start_mark is not None:
                position = (event.start_mark.line + 1, event.start_mark.column + 1)
                pointer = stack[-1].pointer_of(getattr(event, "value", ""), position) if stack else ""
                if pointer is not None and stack:
                    if pointer in wanted:
                        found[pointer] = stack[-1].position
                    else:
                        pointer = None
                if isinstance(event, yaml.CollectionStartEvent):
                    stack.append(_Container(pointer, isinstance(event, yaml.MappingStartEvent)))
    return found
