"""Sections, marked regions, what a person changed.

Regions that a person marked: `<!-- yours -->` to `<!-- /yours -->`, in front matter `# yours` to `# /yours`.

A region stands in place of the generated text that it took, or beside it. Only lines that skillgen did not write are
markers, so that no source can open a region.

What a person did to a text since skillgen wrote it, told from the digests of the lines that it wrote.

Documents as sections, by their headings: what a person's words are attached to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skillgen.write.line_diff import hunks_between
from skillgen.write.record import digests_of, line_digest

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


_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6}) +((?:.*\S)?)\s*\Z")

_FIRST = frozenset("#`~ ")
"""What a line of either begins with; most lines of a document don't."""

Key = tuple[str, ...]
"""The headings above a section and its own; the first heading of a document is `#`, whatever it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Lines from a heading to before the next one."""

    key: Key
    """What it is recognised by in another version of the document."""

    title: str
    """The words of its heading; empty above the first."""

    start: int
    """The number of its first line."""

    end: int
    """The number of the line after its last."""


def front_matter_end(lines: Sequence[str]) -> int:
    """Gives the number of lines that front matter takes, both rows of dashes included; 0 where there is none."""
    if not lines or lines[0] != "---":
        return 0
    return next((number + 1 for number in range(1, len(lines)) if lines[number] == "---"), 0)


def heading_level(line: str) -> int:
    """Gives the level of the heading that a line is; 0 where it is none."""
    heading = _HEADING.match(line)
    return len(heading[1]) if heading else 0


def sections_of(lines: Sequence[str], has_headings: bool = True) -> tuple[Section, ...]:
    """Gives the sections of a text, which have all its lines."""
    starts = [(0, 0, "")]
    fence: str | None = None
    for number, line in enumerate(lines if has_headings else ()):
        if line[:1] not in _FIRST:
            continue
        if mark := _FENCE.match(line):
            if fence is None:
                fence = mark[1]
            elif line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = None
        elif fence is None and (heading := _HEADING.match(line)):
            starts.append((number, len(heading[1]), heading[2]))
    ends = [start for start, _, _ in starts[1:]] + [len(lines)]
    found: list[Section] = []
    above: list[tuple[int, str]] = []
    seen: Counter[Key] = Counter()
    for (start, level, title), end in zip(starts, ends, strict=True):
        if level:
            above = [item for item in above if item[0] < level]
            above.append((level, title if above else "#"))
        key = tuple(words for _, words in above)
        seen[key] += 1
        found.append(Section(key=(*key, str(seen[key])), title=title, start=start, end=end))
    return tuple(found)
