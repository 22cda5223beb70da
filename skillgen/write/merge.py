"""Carries what a person added into a newly generated text, section by section."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from skillgen.write.alignment import Hunk, hunks_between, position_map
from skillgen.write.edits import Addition, Edits
from skillgen.write.lines import digests_of
from skillgen.write.sections import Key, Section, heading_level, sections_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What a person added to a section that is gone."""

    title: str
    """The heading of the section."""

    lines: tuple[str, ...]
    """Their words, without blank lines around them."""


@dataclass(slots=True, kw_only=True)
class Merged:
    """A newly generated text with what a person added."""

    bodies: dict[Key, list[str]]
    """Its sections in order."""

    titles: dict[Key, str]
    """The heading of each."""

    homeless: list[Note] = field(default_factory=list)
    """What has no place in it."""

    outdated: list[str] = field(default_factory=list)
    """Headings of sections in which a region stands in place of text that changed."""

    @property
    def lines(self) -> list[str]:
        """The text."""
        return [line for body in self.bodies.values() for line in body]

    def add_note(self, key: Key, lines: Sequence[str]) -> None:
        """Adds a note at the end of a section."""
        body = self.bodies[key]
        end = len(body)
        while end and not body[end - 1].strip():
            end -= 1
        is_last = key == next(reversed(self.bodies))
        rest = body[end:] or ([] if is_last else [""])
        body[end:] = [*([""] if end else []), *lines, *rest]


class _Lines:
    """The lines of one section, with the numbers of those that are not blank."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.filled = [number for number, line in enumerate(lines) if line.strip()]

    @property
    def end(self) -> int:
        """The number of lines without the blank ones at the end."""
        return self.filled[-1] + 1 if self.filled else 0

    def filled_before(self, at: int) -> int | None:
        """Returns the number of the last line before `at` that is not blank."""
        place = bisect_left(self.filled, at)
        return self.filled[place - 1] if place else None

    def filled_from(self, at: int) -> int | None:
        """Returns the number of the first line from `at` on that is not blank."""
        place = bisect_left(self.filled, at)
        return self.filled[place] if place < len(self.filled) else None


class _Outline:
    """The sections of the new text, with the levels of their headings."""

    def __init__(self, new: Sequence[str], has_headings: bool) -> None:
        self.sections = sections_of(new, has_headings)
        self.places = {section.key: place for place, section in enumerate(self.sections)}
        self._levels = [heading_level(new[section.start]) if new else 0 for section in self.sections]
        self._up_to: dict[int, list[int]] = {}

    def last_below(self, place: int, level: int) -> int:
        """Returns the last section before the next heading of this level or a higher one."""
        if level not in self._up_to:
            self._up_to[level] = [number for number, found in enumerate(self._levels) if found <= level]
        limits = self._up_to[level]
        following = bisect_right(limits, place)
        return (limits[following] if following < len(limits) else len(self.sections)) - 1


def merged(edits: Edits, new: Sequence[str], has_headings: bool = True) -> Merged:
    """Returns the new text with every addition in its place, or among the homeless."""
    before = sections_of(edits.base, has_headings)
    outline = _Outline(new, has_headings)
    result = Merged(
        bodies={section.key: list(new[section.start : section.end]) for section in outline.sections},
        titles={section.key: section.title for section in outline.sections},
    )
    moved: list[tuple[Key, tuple[str, ...]]] = []
    kept: int | None = None
    all_parts = _parts_by_section(before, edits.additions)
    for section, next_one, parts in zip(before, [*before[1:], None], all_parts, strict=True):
        home = outline.places.get(section.key)
        kept = kept if home is None else home
        if not parts:
            continue
        old = _Lines(edits.base[section.start : section.end])
        following = heading_level(edits.base[next_one.start]) if next_one else 0
        staying = []
        for part in parts:
            target = _home_of_a_section(part, old, following, outline, kept) if _ends(old, part) else None
            if target is None or target == home:
                staying.append(part)
            else:
                moved.append((outline.sections[target].key, part.lines))
        if home is None:
            result.homeless += _notes(section, staying)
            continue
        new_lines = new[outline.sections[home].start : outline.sections[home].end]
        body, is_outdated = _merged_section(old, _Lines(new_lines), staying)
        result.bodies[section.key] = body
        if is_outdated:
            result.outdated.append(section.title)
    for key, lines in moved:
        result.add_note(key, _without_blank_ends(lines))
    return result


def _home_of_a_section(part: Addition, old: _Lines, following: int, outline: _Outline, kept: int | None) -> int | None:
    """Returns the place of the new section after which a section that a person added belongs; `None` for other parts.

    `kept` is the last section up to there that still exists, `following` the level of the next old heading. Whatever
    is new above the added section comes before it, for below its heading that would be taken for a part of it; and it
    does not go with the section above it, of which it is no part.
    """
    level = heading_level(next(filter(None, part.lines), ""))
    if kept is None or not level or level > heading_level(old.lines[0]) or following > level:
        return None
    return outline.last_below(kept, level)


def _parts_by_section(sections: Sequence[Section], additions: Sequence[Addition]) -> list[list[Addition]]:
    """Returns the additions to each section, with lines counted from its first.

    What was added between two sections belongs to the first. A region that took several sections has its words in the
    first of them.
    """
    found: list[list[Addition]] = [[] for _ in sections]
    ends = [section.end for section in sections]
    for addition in additions:
        first, end = addition.at, addition.at + addition.covers
        if not addition.covers:
            place = min(bisect_left(ends, max(first, 1)), len(sections) - 1)
            found[place].append(replace(addition, at=first - sections[place].start))
            continue
        for place in range(bisect_right(ends, first), bisect_left(ends, end) + 1):
            section = sections[place]
            start, stop = max(first, section.start), min(end, section.end)
            lines = addition.lines if start == first else ()
            found[place].append(replace(addition, at=start - section.start, covers=stop - start, lines=lines))
    return found


def _notes(section: Section, parts: Sequence[Addition]) -> list[Note]:
    found = []
    for part in parts:
        if lines := _without_blank_ends(part.lines):
            found.append(Note(title=section.title, lines=lines))
    return found


def _without_blank_ends(lines: Sequence[str]) -> tuple[str, ...]:
    kept = [number for number, line in enumerate(lines) if line.strip()]
    return tuple(lines[kept[0] : kept[-1] + 1]) if kept else ()


def _merged_section(old: _Lines, new: _Lines, parts: Sequence[Addition]) -> tuple[list[str], bool]:
    hunks = hunks_between(digests_of(old.lines), digests_of(new.lines))
    places = position_map(hunks, len(old.lines), len(new.lines))
    counterparts = places | _counterparts(hunks)
    added: dict[int, list[str]] = {}
    dropped: set[int] = set()
    is_outdated = False
    for part in parts:
        gone = _covered(hunks, places, part)
        dropped |= gone
        kept = [new.lines[number] for number in sorted(gone)]
        is_outdated |= bool(part.covers) and kept != list(old.lines[part.at : part.at + part.covers])
        if gone:
            place = min(gone)
        elif _ends(old, part):
            place = len(new.lines) if part.at == len(old.lines) else _end_of(new)
        else:
            place = _place(old, new, counterparts, part.at)
        added.setdefault(place, []).extend(_spaced(part.lines, new.lines, counterparts, part.at, place))
    body = []
    for number in range(len(new.lines) + 1):
        body += added.get(number, [])
        if number < len(new.lines) and number not in dropped:
            body.append(new.lines[number])
    return body, is_outdated


def _counterparts(hunks: Sequence[Hunk]) -> dict[int, int]:
    """Returns old line number to new line number where as many lines changed as there were."""
    return {
        hunk.old_start + number: hunk.new_start + number
        for hunk in hunks
        if hunk.old_end - hunk.old_start == hunk.new_end - hunk.new_start
        for number in range(hunk.old_end - hunk.old_start)
    }


def _covered(hunks: Sequence[Hunk], places: dict[int, int], part: Addition) -> set[int]:
    """Returns the lines of the new section that a region replaces: those it took, in their new text."""
    if not part.covers:
        return set()
    start, end = part.at, part.at + part.covers
    found = {places[number] for number in range(start, end) if number in places}
    for number in range(bisect_left(hunks, start, key=attrgetter("old_start")), len(hunks)):
        hunk = hunks[number]
        if hunk.old_end > end:
            break
        if hunk.old_start < hunk.old_end or start < hunk.old_start < end:
            found.update(range(hunk.new_start, hunk.new_end))
    return found


def _place(old: _Lines, new: _Lines, places: dict[int, int], at: int) -> int:
    """Returns where in the new section a line belongs that was before line `at` of the old one."""
    last = len(old.lines)
    before, after = places.get(at - 1, -1 if at == 0 else None), places.get(at, len(new.lines) if at == last else None)
    if before is not None and after is not None and before + 1 == after:
        return after
    above, below = old.filled_before(at), old.filled_from(at)
    if above is not None and above in places:
        place = places[above] + 1
        following = new.filled_from(place)
        return min(place + at - above - 1, len(new.lines) if following is None else following)
    if below is not None and below in places:
        return places[below]
    return _end_of(new) if at else 0


def _ends(old: _Lines, part: Addition) -> bool:
    """True if added lines are a part of their own at the end of a section: what is new there comes before them.

    Below a heading of theirs it would be taken for theirs.
    """
    if part.covers or not part.lines or not part.at or part.at < old.end:
        return False
    first = part.lines[0]
    return not first.strip() or not old.lines[part.at - 1].strip() or first.startswith("#")


def _end_of(new: _Lines) -> int:
    """Returns the end of a section without the blank lines there; its first line stays."""
    return max(new.end, min(len(new.lines), 1))


def _spaced(lines: Sequence[str], new: Sequence[str], places: dict[int, int], at: int, place: int) -> list[str]:
    """Gives added lines, with a blank line around them where they came to stand against another neighbour."""
    if not lines or places.get(at - 1) == place - 1 or places.get(at) == place:
        return list(lines)
    before = [""] if place and new[place - 1].strip() and lines[0].strip() else []
    after = [""] if place < len(new) and new[place].strip() and lines[-1].strip() else []
    return [*before, *lines, *after]
