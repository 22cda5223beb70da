"""What a person did to a text since skillgen wrote it, told from the digests of the lines that it wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skillgen.write.alignment import hunks_between
from skillgen.write.lines import digests_of, line_digest
from skillgen.write.regions import regions_among

FORGOTTEN = "(a line that skillgen wrote and would not write again)"
"""Stands for a line of which only the digest is known."""


_KEY = re.compile(r"(\s*)([^\s#\-:][^:]*):(?:\s|\Z)")
"""Indentation and name of a key of front matter, where skillgen writes a value on the line of its key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """Lines that a person added."""

    at: int
    """The line of the generated text before which they stand."""

    lines: tuple[str, ...]
    """What they added."""

    covers: int = 0
    """How many lines of the generated text, from `at`, they stand in place of: only a marked region may."""

    marked: bool = False
    """Whether it is a marked region."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting:
    """Generated lines that a person changed or removed."""

    start: int
    """The first of them."""

    end: int
    """The line after the last."""

    lines: tuple[str, ...]
    """What stands there now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """All that a person did to one text."""

    base: tuple[str, ...]
    """The text that skillgen wrote; a line that is known nowhere any more is `FORGOTTEN`."""

    additions: tuple[Addition, ...]
    """What can live on."""

    rewritings: tuple[Rewriting, ...]
    """What can't."""


def edits_between(
    base: Sequence[str], now: Sequence[str], new: Iterable[str], *, first_line: int = 1, in_front: bool = False
) -> Edits:
    """Tells what a person did: `base` the digests of what skillgen wrote, `now` the lines that stand there.

    `new`, the lines that skillgen would write, help to name generated lines that were removed.

    Raises:
        MarkerError: a marker of a region lacks its other half.
    """
    digests, new = digests_of(now), tuple(new)
    hunks = hunks_between(base, digests)
    not_generated = [j for hunk in hunks for j in range(hunk.new_start, hunk.new_end)]
    regions = regions_among(now, not_generated, first_line, in_front)
    pieces, is_region = _collapsed(now, [(region.start, region.end) for region in regions])
    if regions:
        # A piece that is a region equals no generated line: digests hold no angle brackets.
        keys = [f"<{k}>" if is_region[k] else line_digest(piece[0]) for k, piece in enumerate(pieces)]
        hunks = hunks_between(base, keys)
    additions, rewritings = [], []
    for hunk in hunks:
        lines = tuple(line for piece in pieces[hunk.new_start : hunk.new_end] for line in piece)
        marked = any(is_region[hunk.new_start : hunk.new_end])
        if marked or hunk.old_start == hunk.old_end:
            covers = hunk.old_end - hunk.old_start
            additions.append(Addition(at=hunk.old_start, lines=lines, covers=covers, marked=marked))
        else:
            own: tuple[str, ...] = ()
            if in_front:
                lines, own = _without_own_keys(lines, new)
            rewritings.append(Rewriting(start=hunk.old_start, end=hunk.old_end, lines=lines))
            if own:
                additions.append(Addition(at=hunk.old_end, lines=own))
    known = dict(zip(digests, now, strict=True))
    if not all(digest in known for digest in base):
        known = {line_digest(line): line for line in new} | known
    return Edits(
        base=tuple(known.get(digest, FORGOTTEN) for digest in base),
        additions=tuple(additions),
        rewritings=tuple(rewritings),
    )


def _without_own_keys(lines: Sequence[str], new: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Splits changed lines of front matter: what replaces generated keys, and the keys that a person added to them."""
    generated = {key.groups() for line in new if (key := _KEY.match(line))}
    changed: list[str] = []
    own: list[str] = []
    target = changed
    for line in lines:
        if key := _KEY.match(line):
            target = changed if key.groups() in generated else own
        target.append(line)
    return tuple(changed), tuple(own)


def _collapsed(lines: Sequence[str], spans: Sequence[tuple[int, int]]) -> tuple[list[tuple[str, ...]], list[bool]]:
    """Gives the lines one by one, but each span in one piece."""
    pieces: list[tuple[str, ...]] = []
    is_region: list[bool] = []
    at = 0
    for start, end in spans:
        pieces += [(line,) for line in lines[at:start]]
        is_region += [False] * (start - at)
        pieces.append(tuple(lines[start:end]))
        is_region.append(True)
        at = end
    pieces += [(line,) for line in lines[at:]]
    is_region += [False] * (len(lines) - at)
    return pieces, is_region
