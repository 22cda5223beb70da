"""What a server says when a session is opened: of itself, and in the dashdash form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillgen.errors import ProblemLog
from skillgen.model.pointer import child
from skillgen.model.value import Json
from skillgen.sources.mcp import dashdash
from skillgen.sources.mcp.claims import Members

OPENING_METHODS = ("server/discover", "initialize")
"""Methods whose result opens a session, the newest first. A server of two eras may have been asked both."""


def openings_of(results: Mapping[str, Json], problems: ProblemLog) -> list[Members]:
    """Gives the results that open a session, the newest first."""
    return [
        Members(raw, child("", method), "serverInfo", problems)
        for method in OPENING_METHODS
        if isinstance(raw := results.get(method), dict)
    ]


def dashdashes_of(openings: Sequence[Members], problems: ProblemLog) -> list[Members]:
    """Returns the dashdash objects of a server, the one that counts first; one without members if there is none."""
    found = [place for opening in openings for place in dashdash.all_in_result(opening)]
    if found:
        dashdash.check(found[0], problems)
    return found or [Members({}, "", "dashdash", problems)]


def server_info_of(openings: Sequence[Members], problems: ProblemLog) -> Members:
    """Gives what a server says of its implementation: `serverInfo`, or its entry in `_meta`; empty where nothing."""
    for opening in openings:
        for owner, key in ((opening, "serverInfo"), (opening.part("_meta"), dashdash.SERVER_INFO_KEY)):
            if (found := owner.part(key)).raw:
                return found
    return Members({}, "", "serverInfo", problems)
