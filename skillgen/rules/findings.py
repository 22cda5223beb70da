"""The findings on a service, and where each is in a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from skillgen.errors import Problem
from skillgen.model.service import Service
from skillgen.problem_codes import Level
from skillgen.rules.positions import positions_in, prefixes

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
