"""The findings on a service, and where each is in a JSON or YAML document."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal

from msgspec import Struct

from skillgen.errors import Problem, ProblemLog
from skillgen.model.service import Service
from skillgen.model.values import child, last_token
from skillgen.problem_codes import Level
from skillgen.text.yaml_core import Places, YamlError, parse_yaml, place_of

Position = tuple[int, int]
"""Line and column, both from 1; columns count characters."""

_SPACES = dict.fromkeys({*range(0x20), 0x7F, 0x85, 0x2028, 0x2029} - {0x0A, 0x0D}, " ")
"""What YAML forbids, or reads as the end of a line, though JSON does not; also tabs, which may indent JSON."""

_LINE = re.compile(r"line (\d{1,9})\b")


def positions_in(text: str, places: Iterable[str]) -> dict[str, Position]:
    """Returns the position of each place that is a JSON pointer or `line N`; of a pointer to what is missing, that of
    the innermost object around it, unless that is the document itself.

    A member is where its key is. After a syntax error nothing is found.
    """
    found: dict[str, Position | None] = {}
    for place in places:
        line = _LINE.match(place)
        found[place] = (int(line[1]), 1) if line else None
    pointers = [place for place in found if place.startswith("/")]
    try:
        offsets = _offsets_in(text, {prefix for pointer in pointers for prefix in prefixes(pointer)})
        positions = dict(_positions_of(offsets, text))
        for pointer in pointers:
            nearest = (positions[prefix] for prefix in prefixes(pointer) if prefix in positions)
            found[pointer] = next(nearest, None)
    except (ValueError, LookupError):  # not JSON
        positions_by_id = Places()
        with suppress(YamlError):
            data = parse_yaml(text.translate(_SPACES), ProblemLog(), places=positions_by_id)
            for pointer in pointers:
                found[pointer] = place_of([*map(last_token, pointer.split("/")[1:])], data, positions_by_id)
    return {place: position for place, position in found.items() if position is not None}


def prefixes(pointer: str) -> Iterator[str]:
    """Yields a pointer and those above it, the longest first."""
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]


def _offsets_in(text: str, wanted: set[str]) -> dict[str, int]:
    """Returns the offset of each of these members of a JSON document; what holds none is skipped, which is 20 times as
    fast as reading it as YAML. Of a key that occurs twice, the last one counts.

    Raises:
        ValueError, LookupError: the document is not JSON.
    """
    outer = {pointer.rpartition("/")[0] for pointer in wanted}
    read_value = json.JSONDecoder(strict=False).raw_decode
    found: dict[str, int] = {}

    def after_space(offset: int) -> int:
        match = _SPACE.match(text, offset)
        return match.end() if match is not None else offset

    def walk(offset: int, pointer: str) -> int:
        """Reads a container and returns where it ends."""
        is_object, count = text[offset] == "{", 0
        offset = after_space(offset + 1)
        while text[offset] not in "}]":
            start = offset
            key: str | int = count
            if is_object:
                key, offset = read_value(text, offset)
                offset = after_space(offset)
                if not isinstance(key, str) or text[offset] != ":":
                    raise ValueError("not a member")
                offset = after_space(offset + 1)
            place = child(pointer, key)
            if place in wanted:
                found[place] = start
            is_outer = place in outer and text[offset] in "{["
            offset = after_space(walk(offset, place) if is_outer else read_value(text, offset)[1])
            count += 1
            if text[offset] == ",":
                offset = after_space(offset + 1)
            elif text[offset] not in "}]":
                raise ValueError("neither a comma nor an end")
        return offset + 1

    start = after_space(0)
    if text[start] not in "{[":
        raise ValueError("not a container")
    if wanted:
        with suppress(RecursionError):  # the rest of a document that is nested too deep has no positions
            walk(start, "")
    return found


_SPACE = re.compile(r"[ \t\n\r]*")


def _positions_of(offsets: Mapping[str, int], text: str) -> Iterator[tuple[str, Position]]:
    """Yields the position at each offset."""
    line, line_start, before = 1, 0, 0
    for pointer, offset in sorted(offsets.items(), key=lambda item: item[1]):
        line += text.count("\n", before, offset)
        line_start = max(line_start, text.rfind("\n", before, offset) + 1)
        before = offset
        yield pointer, (line, offset - line_start + 1)


LEVELS: tuple[Level, ...] = ("error", "warning", "info")
"""The worst first."""


class Location(Struct, frozen=True):
    """A place in a file."""

    path: str
    """The file, as the user named it, or next to that one."""

    line: int
    """From 1."""

    column: int
    """From 1, in characters."""


Status = Literal["passed", "failed", "skipped"]


class Requirement(Struct, frozen=True):
    """One requirement of a specification that can be observed."""

    identifier: str
    """The specification, and the code of the rule or the number of a criterion."""

    status: Status
    note: str = ""
    """The first finding, with the number of others."""


class Findings(Struct, frozen=True, kw_only=True):
    """The findings on one service."""

    source: str
    """The source as the user named it, the name of the target, or that of the service."""

    path: str | None = None
    """The file; `None` if the source is not a file."""

    problems: tuple[Problem, ...] = ()
    """The findings, the worst first."""

    owners: Mapping[str, str] = {}
    """Pointer of each tool, resource and prompt to its name."""

    locations: Mapping[str, Location] = {}
    """Place of a problem to its location; unknown ones are missing."""

    requirements: tuple[Requirement, ...] = ()
    """What each specification asks for, whatever is selected and ignored; empty if not computed."""

    identity: tuple[str, str] = ("", "")
    """Name and version of the service."""

    def location(self, problem: Problem) -> Location | None:
        """Returns where a finding is in a file, if that is known."""
        return self.locations.get(problem.where)

    def owner_pointer(self, problem: Problem) -> str:
        """Returns the pointer of the tool, resource or prompt that a finding concerns, or an empty string."""
        return next((prefix for prefix in prefixes(problem.where) if prefix in self.owners), "")

    def stable_place(self, problem: Problem) -> str:
        """Returns a place that remains the same when entries of a list move: a name in place of an index."""
        pointer = self.owner_pointer(problem)
        return f"{self.owners[pointer]}{problem.where[len(pointer) :]}" if pointer else problem.where


def owners_in(service: Service) -> dict[str, str]:
    """Returns the name of each tool, resource and prompt by its pointer."""
    owners = {prompt.pointer: prompt.name for prompt in service.prompts}
    owners |= {resource.pointer: resource.uri for resource in (*service.resources, *service.resource_templates)}
    return owners | {tool.pointer: tool.name for tool in service.tools}


def worst_first(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Returns problems by level; those of one level stay in order."""
    return tuple(sorted(problems, key=lambda problem: LEVELS.index(problem.level)))


def counts_of(findings: Iterable[Findings]) -> dict[Level, int]:
    """Returns how many findings each level has."""
    found = Counter(problem.level for item in findings for problem in item.problems)
    return {level: found[level] for level in LEVELS}


# -- places in files -------------------------------------------------------------------------------------------------

ReadText = Callable[[str], str]
"""Returns the text of a file; empty if it cannot be read."""


def locations_of(problems: Sequence[Problem], path: str, read_text: ReadText) -> dict[str, Location]:
    """Returns the locations of findings on a document; `FILE#/POINTER` is a place in another file next to it."""
    folder = path.replace("\\", "/").rpartition("/")[0]
    by_file: dict[str, dict[str, str]] = {}
    for problem in problems:
        file, mark, pointer = problem.where.partition("#")
        if not mark or not pointer.startswith("/"):
            by_file.setdefault(path, {})[problem.where] = problem.where
        elif "://" not in file:
            by_file.setdefault(f"{folder}/{file}" if folder else file, {})[pointer] = problem.where
    locations = {}
    for file, places in by_file.items():
        for place, (line, column) in positions_in(read_text(file), places).items():
            locations[places[place]] = Location(file, line, column)
    return locations
