"""What a person changed in a generated text since skillgen wrote it, and the sections of a document.

The record holds only digests of the generated lines, so edits are found by comparing digests. A person can mark a
region: from `<!-- yours -->` to `<!-- /yours -->`, in front matter from `# yours` to `# /yours`. A region may replace
generated text. Only lines that skillgen did not write are markers, so no source can open a region.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from skillgen.text import lazy_re as re
from skillgen.write.line_diff import find_hunks
from skillgen.write.record import digests_of, line_digest

OPEN, CLOSE = "<!-- yours -->", "<!-- /yours -->"
_MARKER = re.compile(r"\A\s*<!--\s*(?:(/)\s*)?yours\s*-->\s*\Z", re.IGNORECASE)
_MARKER_IN_FRONT_MATTER = re.compile(r"\A\s*#\s*(?:(/)\s*)?yours\s*\Z", re.IGNORECASE)


class MarkerError(ValueError):
    """Region markers that are not paired; the message says what to restore."""


def _find_regions(
    lines: Sequence[str], added_lines: Iterable[int], first_line: int, in_front: bool
) -> list[tuple[int, int]]:
    """Returns the first line of each region, and the line after its last; both include the markers.

    `added_lines` are the numbers of the lines that skillgen did not write.

    Raises:
        MarkerError: a marker is not paired.
    """
    pattern = _MARKER_IN_FRONT_MATTER if in_front else _MARKER
    opening, closing = ("# yours", "# /yours") if in_front else (OPEN, CLOSE)
    above = f"restore {opening} above the first line that is yours"
    below = f"restore {closing} below the last line that is yours"
    regions: list[tuple[int, int]] = []
    start: int | None = None
    for number in sorted(added_lines):
        marker = pattern.match(lines[number])
        if marker is None:
            continue
        line = number + first_line
        if not marker[1]:
            if start is not None:
                message = f"line {start + first_line}: {opening} is not closed before the next one in line {line}"
                raise MarkerError(f"{message}; {below}")
            start = number
        elif start is None:
            raise MarkerError(f"line {line}: {closing} without {opening}; {above}")
        else:
            regions.append((start, number + 1))
            start = None
    if start is not None:
        raise MarkerError(f"line {start + first_line}: {opening} is not closed; {below}")
    return regions


UNKNOWN_LINE = "(a line that skillgen wrote and would not write again)"
"""Placeholder for a line of which only the digest is known."""


_KEY = re.compile(r"(\s*)([^\s#\-:][^:]*):(?:\s|\Z)")
"""Indentation and name of a key of front matter, where skillgen writes a value on the line of its key."""


class Addition(Struct, frozen=True, kw_only=True):
    """Lines that a person added."""

    at: int
    """The line of the generated text before which they are."""

    lines: tuple[str, ...]
    covers: int = 0
    """The number of generated lines, from `at`, that they replace; only a marked region may."""

    is_region: bool = False


class Rewrite(Struct, frozen=True, kw_only=True):
    """Generated lines that a person changed or removed."""

    start: int
    end: int
    """The line after the last."""

    lines: tuple[str, ...]
    """The lines that replace them."""


class Edits(Struct, frozen=True, kw_only=True):
    """All changes of a person to one text."""

    base: tuple[str, ...]
    """The generated text, with `UNKNOWN_LINE` for lines that are not known any more."""

    additions: tuple[Addition, ...]
    """Changes that can be carried into a new text."""

    rewrites: tuple[Rewrite, ...]
    """Changes that cannot."""

    @property
    def lines(self) -> Iterator[tuple[str, Addition | None]]:
        """The lines of the generated text and of the additions, each with its addition."""
        at = 0
        for addition in self.additions:
            yield from ((line, None) for line in self.base[at : addition.at])
            yield from ((line, addition) for line in addition.lines)
            at = addition.at + addition.covers
        yield from ((line, None) for line in self.base[at:])

    @property
    def with_additions(self) -> list[str]:
        """The generated text with the additions."""
        return [line for line, _ in self.lines]


def find_edits(
    base: Sequence[str], now: Sequence[str], new: Iterable[str], *, first_line: int = 1, in_front: bool = False
) -> Edits:
    """Returns a person's changes: `base` are the digests of the generated lines, `now` the current lines.

    `new`, the lines that skillgen would write now, helps to restore generated lines that were removed.

    Raises:
        MarkerError: a marker of a region is not paired.
    """
    digests, new = digests_of(now), tuple(new)
    hunks = find_hunks(base, digests)
    not_generated = [j for hunk in hunks for j in range(hunk.new_start, hunk.new_end)]
    regions = _find_regions(now, not_generated, first_line, in_front)
    pieces = _pieces(now, regions)
    if regions:
        # A region never equals a generated line: digests contain no angle brackets.
        keys = [f"<{k}>" if is_region else line_digest(lines[0]) for k, (lines, is_region) in enumerate(pieces)]
        hunks = find_hunks(base, keys)
    additions, rewrites = [], []
    for hunk in hunks:
        changed = pieces[hunk.new_start : hunk.new_end]
        lines = tuple(line for piece, _ in changed for line in piece)
        is_region = any(is_region for _, is_region in changed)
        if is_region or hunk.old_start == hunk.old_end:
            covers = hunk.old_end - hunk.old_start
            additions.append(Addition(at=hunk.old_start, lines=lines, covers=covers, is_region=is_region))
        else:
            added: tuple[str, ...] = ()
            if in_front:
                lines, added = _split_added_keys(lines, new)
            rewrites.append(Rewrite(start=hunk.old_start, end=hunk.old_end, lines=lines))
            if added:
                additions.append(Addition(at=hunk.old_end, lines=added))
    known = dict(zip(digests, now, strict=True))
    if not all(digest in known for digest in base):
        known = {line_digest(line): line for line in new} | known
    return Edits(
        base=tuple(known.get(digest, UNKNOWN_LINE) for digest in base),
        additions=tuple(additions),
        rewrites=tuple(rewrites),
    )


def _split_added_keys(lines: Sequence[str], new: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Splits changed lines of front matter into the new text of generated keys and keys that a person added."""
    generated = {key.groups() for line in new if (key := _KEY.match(line))}
    changed: list[str] = []
    added: list[str] = []
    target = changed
    for line in lines:
        if key := _KEY.match(line):
            target = changed if key.groups() in generated else added
        target.append(line)
    return tuple(changed), tuple(added)


def _pieces(lines: Sequence[str], regions: Sequence[tuple[int, int]]) -> list[tuple[tuple[str, ...], bool]]:
    """Returns the lines in pieces, with whether a piece is a region; any other line is one by itself."""
    pieces: list[tuple[tuple[str, ...], bool]] = []
    at = 0
    for start, end in regions:
        pieces += [((line,), False) for line in lines[at:start]]
        pieces.append((tuple(lines[start:end]), True))
        at = end
    return pieces + [((line,), False) for line in lines[at:]]


_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6}) +((?:.*\S)?)\s*\Z")

_FIRST = frozenset("#`~ ")
"""First characters of headings and fences; most lines begin with another one."""

Key = tuple[str, ...]
"""The headings above a section and its own, then a count; the first heading of a document is `#`, whatever it says."""


class Section(Struct, frozen=True, kw_only=True):
    """Lines from a heading to before the next one."""

    key: Key
    """Identifies the section in another version of the document."""

    title: str
    """The text of the heading; empty above the first."""

    start: int
    end: int
    """The number of the line after the last."""


def front_matter_end(lines: Sequence[str], dashes: str = "---") -> int:
    """Returns the number of lines of the front matter, including both `dashes`; 0 without front matter.

    For digests of lines, `dashes` is that of `---`.
    """
    if not lines or lines[0] != dashes:
        return 0
    return next((number + 1 for number in range(1, len(lines)) if lines[number] == dashes), 0)


def heading_level(line: str) -> int:
    """Returns the level of the heading in a line; 0 if it is not a heading."""
    heading = _HEADING.match(line)
    return len(heading[1]) if heading else 0


def sections_of(lines: Sequence[str], has_headings: bool = True) -> tuple[Section, ...]:
    """Returns the sections of a text; together they have all its lines."""
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
    sections: list[Section] = []
    above: list[tuple[int, str]] = []
    seen: Counter[Key] = Counter()
    for (start, level, title), end in zip(starts, ends, strict=True):
        if level:
            above = [item for item in above if item[0] < level]
            above.append((level, title if above else "#"))
        key = tuple(words for _, words in above)
        seen[key] += 1
        sections.append(Section(key=(*key, str(seen[key])), title=title, start=start, end=end))
    return tuple(sections)
