"""One entry of `tools/list`, and the places in it where something is said of the tool."""

from __future__ import annotations

import functools
from collections.abc import Callable

from skillgen.errors import ProblemLog
from skillgen.model.value import Json
from skillgen.sources.mcp import dashdash
from skillgen.sources.mcp.claims import Claim, Members

Read = Callable[[Members, str], Claim | None]


class ToolEntry:
    """An entry, its `dashdash` objects and its annotations, the place that counts most first.

    What a progressive server says of the tool in its second stage (seed 003) comes before the entry, what a service
    manifest says of it (seed 004) after.
    """

    __slots__ = ("_places", "annotations", "dashdash", "dashdashes", "described", "members")

    def __init__(
        self,
        members: Members,
        problems: ProblemLog,
        *,
        described: Members | None = None,
        manifest: Members | None = None,
    ) -> None:
        self.members = members
        self.described = described
        voices = [voice for voice in (described, members, manifest) if voice is not None]
        self.annotations = [voice.part("annotations", "annotations") for voice in voices]
        places = (place for voice in voices for place in (voice, voice.part("_meta")))
        self._places = [place for place in (*places, *self.annotations) if place.raw]
        self.dashdashes = [found for voice in voices for found in dashdash.all_in_entry(voice)]
        self.dashdash = next(iter(self.dashdashes), Members({}, members.pointer, "dashdash", problems))

    def field(self, name: str, read: Read) -> list[Claim]:
        """Gives what the entry itself says in a field of seed 004.

        Some servers put these fields at the top level, some into `_meta` or under `annotations`.
        """
        return [claim for place in self._places for claim in spelled(place, name, read)]

    def part(self, name: str) -> Members | None:
        """Gives the first object that stands in such a field."""
        parts = (place.part(name) for place in self._places if place.raw.get(name) is not None)
        return next((part for part in parts if part.raw), None)

    def catalogue(self, *names: str) -> tuple[Members, str] | None:
        """Gives the first place that has a list or an object under one of some names, and that name."""
        for place in self._places:
            for spelling in (spelling for name in names for spelling in _spellings(name)):
                if isinstance(place.raw.get(spelling), (list, dict)):
                    return place, spelling
        return None

    def unread(self) -> dict[str, Json]:
        """Gives what nobody asked for: of the entry, and under `described` of the second stage."""
        extras = self.members.unread()
        if self.described is not None and (unknown := self.described.unread()):
            extras["described"] = unknown
        if unknown := self.dashdash.unread():
            extras["dashdash"] = unknown
        return extras


def spelled(place: Members, name: str, read: Read) -> list[Claim]:
    """Gives the member of a name in snake case, and the same in camel case; the protocol's own spelling is first."""
    claims = [read(place, key) for key in _spellings(name) if key in place.raw]
    return [claim for claim in claims if claim is not None]


@functools.cache
def _spellings(name: str) -> tuple[str, ...]:
    first, *rest = name.split("_")
    return tuple(dict.fromkeys((first + "".join(word.capitalize() for word in rest), name)))
