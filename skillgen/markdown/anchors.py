"""Anchors of headings, by the rule that GitHub, VS Code and most renderers share."""

from __future__ import annotations

import re

_REMOVED = re.compile(r"[^\w\- ]")


class Anchors:
    """Gives the headings of one document their anchors, in the order in which they stand there."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def of(self, heading: str) -> str:
        """Gives the anchor of the next heading; a repeated one gets a number."""
        base = anchor = _REMOVED.sub("", heading.strip().lower()).replace(" ", "-")
        while anchor in self._counts:
            self._counts[base] += 1
            anchor = f"{base}-{self._counts[base]}"
        self._counts[anchor] = 0
        return anchor
