"""Shows changes as a unified diff, which `patch` and people can read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from skillgen.write.plan import Change

LINES_LIMIT = 20_000
"""Lines of one file beyond which its change is told and not shown: the comparison takes the square of them."""


def unified_diff(changes: Iterable[Change]) -> str:
    """Gives the diff of all changes that change something."""
    return "".join(line for change in changes if change.action != "keep" for line in _lines(change))


def _lines(change: Change) -> Iterator[str]:
    old, new = _split(change.old), _split(change.new)
    before = f"a/{change.path}" if change.old is not None else "/dev/null"
    after = f"b/{change.path}" if change.new is not None else "/dev/null"
    if max(len(old), len(new)) > LINES_LIMIT and change.action == "replace":
        yield f"--- {before}\n+++ {after}\n@@ {len(old)} lines changed to {len(new)}; too many to show @@\n"
        return
    for line in difflib.unified_diff(old, new, before, after):
        yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"


def _split(content: bytes | None) -> list[str]:
    """Splits at line feeds only, as `patch` does."""
    if not content:
        return []
    lines = content.decode("utf-8", "replace").split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
