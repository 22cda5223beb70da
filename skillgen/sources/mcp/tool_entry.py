"""One entry of `tools/list`, and the places in it where something is said of the tool."""

from __future__ import annotations

import functools
from collections.abc import Callable

from skillgen.errors import ProblemLog
from skillgen.sources.mcp import dashdash
from skillgen.sources.mcp.claims import Claim, Members

Read = Callable[[Members, str], Claim | None]


class ToolEntry:
    """An entry, its `dashdash` object and its annotations; each without members where there is none."""

    __slots__ = ("_places", "annotations", "dashdash", "members")

    def __init__(self, members: Members, problems: ProblemLog) -> None:
        self.members = members
        self.annotations = members.part("annotations", "annotations")
        self._places = [place for place in (members, members.part("_meta"), self.annotations) if place.raw]
        found = dashdash.find_in_entry(members)
        self.dashdash = found if found is not None else Members({}, members.pointer, "dashdash", problems)

    def field(self, name: str, read: Read) -> list[Claim]:
        """Gives what the entry itself says in a field of seed 004.

        Some servers put these fields at the top level, some into `_meta` or under `annotations`.
        """
        return [claim for place in self._places for claim in spelled(place, name, read)]

    def part(self, name: str) -> Members | None:
        """Gives the first object that stands in such a field."""
        return next((place.part(name) for place in self._places if isinstance(place.raw.get(name), dict)), None)


def spelled(place: Members, name: str, read: Read) -> list[Claim]:
    """Gives the member of a name in snake case, and the same in camel case; the protocol's own spelling is first."""
    claims = [read(place, key) for key in _spellings(name) if key in place.raw]
    return [claim for claim in claims if claim is not None]


@functools.cache
def _spellings(name: str) -> tuple[str, ...]:
    first, *rest = name.split("_")
    return tuple(dict.fromkeys((first + "".join(word.capitalize() for word in rest), name)))
