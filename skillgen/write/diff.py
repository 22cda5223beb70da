"""Shows changes as a unified diff, which `patch` and people can read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillgen.write.plan import Change

LINES_LIMIT = 20_000
"""Lines of one file beyond which its change is told and not shown: the comparison takes the square of them."""


def unified_diff(changes: Iterable[Change]) -> str:
    """Gives the diff of all changes that change something."""
    return "".join(change_diff(change.path, change.old, change.new) for change in changes if change.action != "keep")


def change_diff(path: str, old: bytes | None, new: bytes | None) -> str:
    """Gives the diff of one file, which may come or go."""
    return "".join(_lines(path, old, new))


def _lines(path: str, old_content: bytes | None, new_content: bytes | None) -> Iterator[str]:
    old, new = _split(old_content), _split(new_content)
    before = f"a/{path}" if old_content is not None else "/dev/null"
    after = f"b/{path}" if new_content is not None else "/dev/null"
    if max(len(old), len(new)) > LINES_LIMIT and old_content is not None and new_content is not None:
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
