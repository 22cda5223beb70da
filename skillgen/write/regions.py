"""Regions that a person marked: `<!-- yours -->` to `<!-- /yours -->`, in front matter `# yours` to `# /yours`.

A region stands in place of the generated text that it took, or beside it. Only lines that skillgen did not write are
markers, so that no source can open a region.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

OPEN, CLOSE = "<!-- yours -->", "<!-- /yours -->"
_MARKER = re.compile(r"\A\s*<!--\s*(?:(/)\s*)?yours\s*-->\s*\Z", re.IGNORECASE)
_MARKER_IN_FRONT_MATTER = re.compile(r"\A\s*#\s*(?:(/)\s*)?yours\s*\Z", re.IGNORECASE)


class MarkerError(ValueError):
    """Markers that do not come in pairs; the message says what to restore."""


@dataclass(frozen=True, slots=True)
class Region:
    """Lines from an opening marker to its closing one, both included."""

    start: int
    end: int


def regions_among(
    lines: Sequence[str], own: Iterable[int], first_line: int = 1, in_front: bool = False
) -> list[Region]:
    """Gives the regions of a text, where `own` are the numbers of the lines that skillgen did not write.

    Raises:
        MarkerError: a marker lacks its other half.
    """
    pattern = _MARKER_IN_FRONT_MATTER if in_front else _MARKER
    opening, closing = ("# yours", "# /yours") if in_front else (OPEN, CLOSE)
    found: list[Region] = []
    opened: int | None = None
    for number in sorted(own):
        marker = pattern.match(lines[number])
        if marker is None:
            continue
        line = number + first_line
        if marker[1] and opened is None:
            raise MarkerError(
                f"line {line}: {closing} without {opening}; restore {opening} above the first line that is yours"
            )
        if marker[1] and opened is not None:
            found.append(Region(opened, number + 1))
            opened = None
        elif opened is not None:
            before = f"line {opened + first_line}: {opening} is not closed before the next one in line {line}"
            raise MarkerError(f"{before}; restore {closing} below the last line that is yours")
        else:
            opened = number
    if opened is not None:
        raise MarkerError(
            f"line {opened + first_line}: {opening} is not closed; restore {closing} below the last line that is yours"
        )
    return found
