"""Shows changes as a unified diff, which `patch` and people can read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillgen.write.alignment import Hunk, hunks_between

CONTEXT = 3
"""Unchanged lines that are shown before and after a change."""


def change_diff(path: str, old: bytes | None, new: bytes | None) -> str:
    """Gives the diff of one file, which may come or go."""
    return "".join(_lines(path, old, new))


def diff_lines(before: str, after: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Gives the lines of a unified diff without their ends; nothing where the texts are equal."""
    hunks = hunks_between(old, new)
    if not hunks:
        return
    yield f"--- {before}"
    yield f"+++ {after}"
    for group in _groups(hunks):
        first, last = group[0], group[-1]
        lead, trail = min(CONTEXT, first.old_start), min(CONTEXT, len(old) - last.old_end)
        spans = (
            _span(first.old_start - lead, last.old_end + trail),
            _span(first.new_start - lead, last.new_end + trail),
        )
        yield f"@@ -{spans[0]} +{spans[1]} @@"
        at = first.old_start - lead
        for hunk in group:
            yield from (f" {line}" for line in old[at : hunk.old_start])
            yield from (f"-{line}" for line in old[hunk.old_start : hunk.old_end])
            yield from (f"+{line}" for line in new[hunk.new_start : hunk.new_end])
            at = hunk.old_end
        yield from (f" {line}" for line in old[at : at + trail])


def _groups(hunks: Sequence[Hunk]) -> Iterator[list[Hunk]]:
    """Gives the hunks whose surroundings touch together."""
    group = [hunks[0]]
    for hunk in hunks[1:]:
        if hunk.old_start - group[-1].old_end > 2 * CONTEXT:
            yield group
            group = []
        group.append(hunk)
    yield group


def _span(start: int, end: int) -> str:
    """Gives a range of lines as `patch` reads it: one line without its count, none at the line before."""
    if end - start == 1:
        return str(start + 1)
    return f"{start if start == end else start + 1},{end - start}"


def _lines(path: str, old_content: bytes | None, new_content: bytes | None) -> Iterator[str]:
    before = f"a/{path}" if old_content is not None else "/dev/null"
    after = f"b/{path}" if new_content is not None else "/dev/null"
    for number, line in enumerate(diff_lines(before, after, _split(old_content), _split(new_content))):
        if number < 2 or line.startswith("@@"):
            yield f"{line}\n"
        else:
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _split(content: bytes | None) -> list[str]:
    """Splits at line feeds only, as `patch` does."""
    if not content:
        return []
    lines = content.decode("utf-8", "replace").split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
