"""Carries a person's additions into newly generated text, section by section and, in front matter, key by key.

Front matter is merged by keys, because a duplicate key or a member without its mapping would break the YAML. A note,
text of a person from a section that no longer exists, moves to the section of the same heading in another file,
otherwise to the end of its own file.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.write.edits import (
    Addition,
    Edits,
    Key,
    MarkerError,
    Section,
    find_edits,
    front_matter_end,
    heading_level,
    sections_of,
)
from skillgen.write.line_diff import Hunk, find_hunks, map_positions, unified_diff
from skillgen.write.record import (
    BLANK,
    digests_of,
    line_digest,
    lines_of,
    resolve_conflicts,
    state_of,
    unpack_digests,
)


class Note(Struct, frozen=True, kw_only=True):
    """Text that a person added to a section that no longer exists."""

    title: str
    """The heading of the section."""

    lines: tuple[str, ...]
    """The text, without blank lines around it."""


class MergedText(Struct, kw_only=True):
    """A newly generated text with a person's additions."""

    bodies: dict[Key, list[str]]
    """The lines of its sections, in order."""

    titles: dict[Key, str]
    """The headings of the sections."""

    orphaned: list[Note] = field(default_factory=list)
    """Additions that have no place in it."""

    outdated: list[str] = field(default_factory=list)
    """Headings of sections in which a region replaces generated text that has changed."""

    @classmethod
    def of(cls, lines: Sequence[str], sections: Sequence[Section]) -> MergedText:
        """Returns a text without additions."""
        return cls(
            bodies={section.key: list(lines[section.start : section.end]) for section in sections},
            titles={section.key: section.title for section in sections},
        )

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


class _SectionLines:
    """The lines of one section, with the numbers of those that are not blank."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.nonblank = [number for number, line in enumerate(lines) if line.strip()]

    @property
    def end(self) -> int:
        """The number of lines without the blank ones at the end."""
        return self.nonblank[-1] + 1 if self.nonblank else 0

    def last_nonblank_before(self, at: int) -> int | None:
        """Returns the number of the last line before `at` that is not blank."""
        place = bisect_left(self.nonblank, at)
        return self.nonblank[place - 1] if place else None

    def first_nonblank_from(self, at: int) -> int | None:
        """Returns the number of the first line from `at` on that is not blank."""
        place = bisect_left(self.nonblank, at)
        return self.nonblank[place] if place < len(self.nonblank) else None


class _Outline:
    """The sections of the new text, with the levels of their headings."""

    def __init__(self, new: Sequence[str], has_headings: bool) -> None:
        self.sections = sections_of(new, has_headings)
        self.numbers = {section.key: number for number, section in enumerate(self.sections)}
        self._levels = [heading_level(new[section.start]) if new else 0 for section in self.sections]
        self._up_to: dict[int, list[int]] = {}

    def last_below(self, number: int, level: int) -> int:
        """Returns the last section before the next heading of this level or a higher one."""
        if level not in self._up_to:
            self._up_to[level] = [other for other, its_level in enumerate(self._levels) if its_level <= level]
        limits = self._up_to[level]
        following = bisect_right(limits, number)
        return (limits[following] if following < len(limits) else len(self.sections)) - 1


def merge_edits(edits: Edits, new: Sequence[str], has_headings: bool = True) -> MergedText:
    """Returns the new text with every addition, either in its place or in `orphaned`."""
    old_sections = sections_of(edits.base, has_headings)
    outline = _Outline(new, has_headings)
    result = MergedText.of(new, outline.sections)
    moved: list[tuple[Key, tuple[str, ...]]] = []
    previous: int | None = None
    additions_by_section = _additions_by_section(old_sections, edits.additions)
    for section, next_one, additions in zip(old_sections, [*old_sections[1:], None], additions_by_section, strict=True):
        number = outline.numbers.get(section.key)
        previous = previous if number is None else number
        if not additions:
            continue
        old = _SectionLines(edits.base[section.start : section.end])
        next_level = heading_level(edits.base[next_one.start]) if next_one else 0
        staying = []
        for part in additions:
            target = (
                _target_of_added_section(part, old, next_level, outline, previous) if _is_at_end(old, part) else None
            )
            if target is None or target == number:
                staying.append(part)
            else:
                moved.append((outline.sections[target].key, part.lines))
        if number is None:
            result.orphaned += _notes(section, staying)
            continue
        new_lines = new[outline.sections[number].start : outline.sections[number].end]
        body, is_outdated = _merge_section(old, _SectionLines(new_lines), staying)
        result.bodies[section.key] = body
        if is_outdated:
            result.outdated.append(section.title)
    for key, lines in moved:
        result.add_note(key, _without_blank_ends(lines))
    return result


def _target_of_added_section(
    part: Addition, old: _SectionLines, next_level: int, outline: _Outline, previous: int | None
) -> int | None:
    """Returns the number of the new section after which a section that a person added belongs; `None` for other
    additions.

    `previous` is the last section up to there that still exists, `next_level` the level of the next old heading. New
    generated text above the added section stays above it, because below its heading it would look like a part of it.
    The added section does not move with the section above it, of which it is not a part.
    """
    level = heading_level(next(filter(None, part.lines), ""))
    if previous is None or not level or level > heading_level(old.lines[0]) or next_level > level:
        return None
    return outline.last_below(previous, level)


def _additions_by_section(sections: Sequence[Section], additions: Sequence[Addition]) -> list[list[Addition]]:
    """Returns the additions to each section, with lines counted from its first.

    An addition between two sections belongs to the first. A region that replaces several sections has its text in the
    first of them.
    """
    parts: list[list[Addition]] = [[] for _ in sections]
    ends = [section.end for section in sections]
    for addition in additions:
        first, end = addition.at, addition.at + addition.covers
        if not addition.covers:
            number = min(bisect_left(ends, max(first, 1)), len(sections) - 1)
            parts[number].append(replace(addition, at=first - sections[number].start))
            continue
        for number in range(bisect_right(ends, first), bisect_left(ends, end) + 1):
            section = sections[number]
            start, stop = max(first, section.start), min(end, section.end)
            lines = addition.lines if start == first else ()
            parts[number].append(replace(addition, at=start - section.start, covers=stop - start, lines=lines))
    return parts


def _notes(section: Section, parts: Sequence[Addition]) -> list[Note]:
    texts = (_without_blank_ends(part.lines) for part in parts)
    return [Note(title=section.title, lines=lines) for lines in texts if lines]


def _without_blank_ends(lines: Sequence[str]) -> tuple[str, ...]:
    nonblank = _SectionLines(lines).nonblank
    return tuple(lines[nonblank[0] : nonblank[-1] + 1]) if nonblank else ()


def _merge_section(old: _SectionLines, new: _SectionLines, parts: Sequence[Addition]) -> tuple[list[str], bool]:
    hunks = find_hunks(digests_of(old.lines), digests_of(new.lines))
    places = map_positions(hunks, len(old.lines), len(new.lines))
    counterparts = places | _counterparts(hunks)
    added: dict[int, list[str]] = {}
    dropped: set[int] = set()
    is_outdated = False
    for part in parts:
        covered = _covered(hunks, places, part)
        dropped |= covered
        covered_lines = [new.lines[number] for number in sorted(covered)]
        is_outdated |= bool(part.covers) and covered_lines != list(old.lines[part.at : part.at + part.covers])
        if covered:
            place = min(covered)
        elif _is_at_end(old, part):
            place = len(new.lines) if part.at == len(old.lines) else _end_of(new)
        else:
            place = _insert_position(old, new, counterparts, part.at)
        added.setdefault(place, []).extend(_with_blank_lines(part.lines, new.lines, counterparts, part.at, place))
    body = []
    for number in range(len(new.lines) + 1):
        body += added.get(number, [])
        if number < len(new.lines) and number not in dropped:
            body.append(new.lines[number])
    return body, is_outdated


def _counterparts(hunks: Sequence[Hunk]) -> dict[int, int]:
    """Returns old line number to new line number for hunks with as many new lines as old ones."""
    return {
        hunk.old_start + number: hunk.new_start + number
        for hunk in hunks
        if hunk.old_end - hunk.old_start == hunk.new_end - hunk.new_start
        for number in range(hunk.old_end - hunk.old_start)
    }


def _covered(hunks: Sequence[Hunk], places: dict[int, int], part: Addition) -> set[int]:
    """Returns the lines of the new section that a region replaces: the new text of the lines that it replaced
    before."""
    if not part.covers:
        return set()
    start, end = part.at, part.at + part.covers
    covered = {places[number] for number in range(start, end) if number in places}
    for number in range(bisect_left(hunks, start, key=attrgetter("old_start")), len(hunks)):
        hunk = hunks[number]
        if hunk.old_end > end:
            break
        if hunk.old_start < hunk.old_end or start < hunk.old_start < end:
            covered.update(range(hunk.new_start, hunk.new_end))
    return covered


def _insert_position(old: _SectionLines, new: _SectionLines, places: dict[int, int], at: int) -> int:
    """Returns the position in the new section of a line that was before line `at` of the old one."""
    last = len(old.lines)
    before, after = places.get(at - 1, -1 if at == 0 else None), places.get(at, len(new.lines) if at == last else None)
    if before is not None and after is not None and before + 1 == after:
        return after
    above, below = old.last_nonblank_before(at), old.first_nonblank_from(at)
    if above is not None and above in places:
        place = places[above] + 1
        following = new.first_nonblank_from(place)
        return min(place + at - above - 1, len(new.lines) if following is None else following)
    if below is not None and below in places:
        return places[below]
    return _end_of(new) if at else 0


def _is_at_end(old: _SectionLines, part: Addition) -> bool:
    """True if added lines are a separate block at the end of a section. New generated text goes before them.

    Below a heading of theirs it would look like a part of it.
    """
    if part.covers or not part.lines or not part.at or part.at < old.end:
        return False
    first = part.lines[0]
    return not first.strip() or not old.lines[part.at - 1].strip() or first.startswith("#")


def _end_of(new: _SectionLines) -> int:
    """Returns the end of a section without trailing blank lines; its first line always counts."""
    return max(new.end, min(len(new.lines), 1))


def _with_blank_lines(
    lines: Sequence[str], new: Sequence[str], places: dict[int, int], at: int, place: int
) -> list[str]:
    """Returns added lines, with a blank line at each side where their neighbour changed."""
    if not lines or places.get(at - 1) == place - 1 or places.get(at) == place:
        return list(lines)
    before = [""] if place and new[place - 1].strip() and lines[0].strip() else []
    after = [""] if place < len(new) and new[place].strip() and lines[-1].strip() else []
    return [*before, *lines, *after]


_KEY = re.compile(r"([^\s#\-:][^:]*):(\s.*)?\Z")
_MEMBER = re.compile(r"(\s+)([^\s#\-:][^:]*):(\s.*)?\Z")


class _Entry(Struct):
    """A key of front matter, and the lines below it."""

    key: str
    lines: list[str]
    own: list[bool] = field(default_factory=list)
    """For each line whether skillgen wrote it."""
    marked: bool = False
    """Whether it is in a region."""

    @property
    def is_mapping(self) -> bool:
        return bool(re.fullmatch(r"[^:]*:\s*", self.lines[0])) and any(map(_MEMBER.match, self.lines[1:]))


def merge_front_matter(edits: Edits, new: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns the new lines with the keys that a person added, and the keys that both wrote, which are conflicts."""
    entries = {entry.key: entry for entry in _entries(new)}
    # Each generated entry with what a person added below it; under the empty key what is above all keys.
    parts = {"": [], **{key: [entry] for key, entry in entries.items()}}
    conflicts: list[str] = []
    above = parts[""]
    for entry in _current_entries(edits):
        mine = [line for line, generated_line in zip(entry.lines, entry.own, strict=True) if not generated_line]
        known = entries.get(entry.key) if entry.key else None
        is_in_region = entry.marked and not any(entry.own)
        if not mine or (known is not None and known.lines == entry.lines):
            pass
        elif known is not None and is_in_region:
            known.lines = entry.lines
        elif known is None:
            # A member that a person added needs the key above it, even if skillgen wrote that and would not again.
            added = _Entry(entry.key, [entry.lines[0], *mine] if entry.key and entry.own[0] else mine)
            above.append(added)
            if entry.key:
                entries[entry.key] = added
        elif known.is_mapping and (entry.own[0] or entry.is_mapping):
            members = mine if entry.own[0] else mine[1:]
            conflicts += [f"{entry.key}.{name}" for name in _add_members(known, members)]
        else:
            conflicts.append(entry.key)
        if entry.key in parts and entry.key:
            above = parts[entry.key]
    return [line for group in parts.values() for entry in group for line in entry.lines], conflicts


def _entries(lines: Sequence[str]) -> list[_Entry]:
    entries: list[_Entry] = []
    for line in lines:
        if key := _KEY.match(line):
            entries.append(_Entry(key[1].strip().strip("\"'"), [line]))
        elif entries:
            entries[-1].lines.append(line)
        else:
            entries.append(_Entry("", [line]))
    return entries


def _current_entries(edits: Edits) -> list[_Entry]:
    """Returns the entries of the current file; comments and blank lines that a person added are entries too."""
    entries: list[_Entry] = []
    for line, addition in edits.lines:
        own, marked = addition is None, addition is not None and addition.is_region
        key = _KEY.match(line)
        if key or not entries or (not own and (line.startswith("#") or (entries[-1].key == "" and not line.strip()))):
            entries.append(_Entry(key[1].strip().strip("\"'") if key else "", [], [], marked))
        entries[-1].lines.append(line)
        entries[-1].own.append(own)
    return entries


def _add_members(generated: _Entry, members: Sequence[str]) -> list[str]:
    """Adds members to a generated mapping. Returns the names of those that it has with another value."""
    members_by_name = {match[2].strip(): line for line in generated.lines if (match := _MEMBER.match(line))}
    conflicts = []
    skipping = False
    for line in members:
        member = _MEMBER.match(line)
        if member is not None:
            name = member[2].strip()
            skipping = name in members_by_name
            if skipping and members_by_name[name].strip() != line.strip():
                conflicts.append(name)
        if not skipping:
            generated.lines.append(line)
    return conflicts


UNMERGED = "it has unresolved merge conflicts (<<<<<<<, =======, >>>>>>>)"
"""Why a file is not replaced that git could not merge."""

BROKEN_JSON = "what was added would break the JSON"
"""Why a file is not replaced that would not be JSON any more."""

_DASHES_DIGEST = line_digest("---")
_CONFLICT_MARKERS = ("<<<<<<< ", ">>>>>>> ")


class Regeneration(Struct, frozen=True, kw_only=True):
    """A file's new generated text with a person's additions."""

    front: tuple[str, ...]
    """The front matter, including both `---`."""

    body: MergedText
    edit: str
    """What a person changed and would lose, as a unified diff; empty if they only added."""

    reason: str | None
    """Why the file cannot be written, if it cannot."""

    regions: int
    """The number of regions that replace generated text."""

    added: int

    @property
    def lines(self) -> list[str]:
        """The text."""
        return [*self.front, *self.body.lines]


def generated_digests(states: Iterable[str]) -> set[str]:
    """Returns the digests of all lines of several states of a file."""
    return {digest for state in states for digest in unpack_digests(state)}


def resolve_generated(lines: list[str], states: Sequence[str]) -> list[str]:
    """Returns a file without the merge conflicts in which one side at most has lines of a person; that side stays.

    `states` are those of both sides. With one state, lines of the other side cannot be distinguished from a person's.
    """
    if len(states) < 2:
        return lines
    generated = generated_digests(states)

    def resolve(ours: Sequence[str], theirs: Sequence[str], raw: Sequence[str]) -> Sequence[str]:
        mine, yours = ([line for line in side if line_digest(line) not in generated] for side in (ours, theirs))
        if (mine and yours and mine != yours) or line_digest(raw[0]) in generated:
            return raw
        return ours if mine else theirs

    return resolve_conflicts(lines, resolve)


def _base_of(states: Sequence[str], now: Sequence[str]) -> tuple[str, ...]:
    """Returns the digests of the generated text in a file: the first of `states`, with those changes to the file that
    another one explains, since a merge of branches has lines of both.
    """
    base, *others = map(unpack_digests, states)
    digests = digests_of(now)
    for other in others:
        changes = [
            (hunk, [number for number in range(hunk.new_start, hunk.new_end) if digests[number] != BLANK])
            for hunk in find_hunks(base, digests)
        ]
        known = frozenset(other)
        if all(added and known.isdisjoint(digests[number] for number in added) for _, added in changes):
            continue  # as usual: all changes have a person's lines, and no others
        remaining = map_positions(find_hunks(base, other), len(base), len(other))
        matched = set(map_positions(find_hunks(other, digests), len(other), len(digests)).values())
        merged: list[str] = []
        at = 0
        for hunk, added in changes:
            removed = [number for number in range(hunk.old_start, hunk.old_end) if base[number] != BLANK]
            # Where lines were removed, a line of a person may be what one of them became.
            is_explained = matched.issuperset(added) if removed else bool(matched.intersection(added))
            merged += base[at : hunk.old_start]
            if is_explained and remaining.keys().isdisjoint(removed):
                merged += [digests[number] for number in range(hunk.new_start, hunk.new_end) if number in matched]
            else:
                merged += base[hunk.old_start : hunk.old_end]
            at = hunk.old_end
        base = (*merged, *base[at:])
    return base


def regenerate(path: str, states: Sequence[str], old: bytes, new: bytes) -> Regeneration:
    """Merges a person's changes to the generated text in `old` into the text `new`.

    `states` (digests) are what skillgen may have written to the file; the first is compared. The others, and the new
    text, explain what differs from it.

    Raises:
        MarkerError: a marker of a region is not paired.
    """
    now, then = resolve_generated(lines_of(old), states), lines_of(new)
    base = _base_of((*states, state_of(new)), now)
    front_edits, body_edits, front_end = _edits_of_parts(base, now, then)
    new_front, new_body = then[:front_end], then[front_end:]
    front, conflicts = _merge_front(front_edits, new_front)
    has_headings = path.endswith((".md", ".txt"))
    if base:
        body = merge_edits(body_edits, new_body, has_headings)
    else:  # the file holds only notes, which stayed when skillgen's text was removed
        body = merge_edits(Edits(base=(), additions=(), rewrites=()), new_body, has_headings)
        body.orphaned = [Note(title="", lines=tuple(now))]
    if then == [] and front_edits.additions:  # the file is deleted, and its front matter with it
        body.orphaned = [*merge_edits(front_edits, [], has_headings=False).orphaned, *body.orphaned]
    reason = None
    # What survives is not shown with what would be lost.
    base_front = front_edits.base if conflicts else front_edits.with_additions
    shown = [*base_front, *body_edits.with_additions]
    if _has_conflict_markers(front_edits, body_edits):
        reason = UNMERGED
    elif front_edits.rewrites or body_edits.rewrites:
        reason = "a person changed what skillgen wrote"
    elif conflicts:
        reason = f"skillgen writes {', '.join(conflicts)} too"
    elif path.endswith(".json") and body_edits.additions and not _is_valid_json([*front, *body.lines]):
        reason = BROKEN_JSON
    if reason in (UNMERGED, BROKEN_JSON):
        shown = [*front_edits.base, *body_edits.base]
    return Regeneration(
        front=tuple(front),
        body=body,
        edit=unified_diff(f"a/{path}", f"b/{path}", shown, now) if reason else "",
        reason=reason,
        added=sum(len(item.lines) for edits in (front_edits, body_edits) for item in edits.additions),
        regions=sum(1 for edits in (front_edits, body_edits) for item in edits.additions if item.covers),
    )


def added_lines(path: str, state: str, old: bytes) -> list[str] | None:
    """Returns the lines that a person added to generated text; `None` if they changed or broke it."""
    now = lines_of(old)
    try:
        front, body, _ = _edits_of_parts(unpack_digests(state), now, ())
    except MarkerError:
        return None
    if _has_conflict_markers(front, body) or front.rewrites or body.rewrites or _merge_front(front, front.base)[1]:
        return None
    if path.endswith(".json") and not _is_valid_json(now):
        return None
    return [line for addition in (*front.additions, *body.additions) for line in addition.lines]


def _edits_of_parts(base: Sequence[str], now: Sequence[str], then: Sequence[str]) -> tuple[Edits, Edits, int]:
    """Returns a person's changes to front matter and body, and the number of lines of the new front matter.

    Unless both the generated and the current text have front matter, and the new text if any, all is body.

    Raises:
        MarkerError: a marker of a region is not paired.
    """
    ends = front_matter_end(base, _DASHES_DIGEST), front_matter_end(now), front_matter_end(then)
    base_end, now_end, then_end = ends if ends[0] and ends[1] and (ends[2] or not then) else (0, 0, 0)
    front = find_edits(base[:base_end], now[:now_end], then[:then_end], in_front=bool(base_end))
    body = find_edits(base[base_end:], now[now_end:], then[then_end:], first_line=now_end + 1)
    return front, body, then_end


def _has_conflict_markers(*edits: Edits) -> bool:
    """True if lines that skillgen did not write include git's markers of both sides of a merge conflict."""
    lines = [line for edit in edits for added in edit.additions for line in added.lines]
    lines += [line for edit in edits for changed in edit.rewrites for line in changed.lines]
    return all(any(line.startswith(mark) for line in lines) for mark in _CONFLICT_MARKERS)


def _merge_front(edits: Edits, new: Sequence[str]) -> tuple[list[str], list[str]]:
    if not new:
        return [], []
    additions = tuple(replace(addition, at=max(addition.at - 1, 0)) for addition in edits.additions)
    lines, conflicts = merge_front_matter(Edits(base=edits.base[1:-1], additions=additions, rewrites=()), new[1:-1])
    return [new[0], *lines, new[-1]], conflicts


def _is_valid_json(lines: Sequence[str]) -> bool:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise ValueError("duplicate key")
        return dict(pairs)

    try:
        json.loads("\n".join(lines), object_pairs_hook=once)
    except ValueError:
        return False
    return True


_NOTE_COMMENT = "<!-- This was under "


class SectionIndex:
    """The sections of all documents that are about to be written."""

    def __init__(self, new: Mapping[str, bytes], merges: Mapping[str, Regeneration]) -> None:
        self._new = new
        self._bodies: dict[str, MergedText] = {path: merge.body for path, merge in merges.items()}
        self._fronts: dict[str, tuple[str, ...]] = {path: merge.front for path, merge in merges.items()}
        self._touched = {path for path, merge in merges.items() if path in new or merge.body.lines}
        self.receivers: set[str] = set()
        self.moved_lines: dict[str, list[str]] = {}
        """Path to the lines that move from that file to others."""
        self._texts: dict[tuple[str, Key], str] = {}
        self._sections: dict[tuple[str, str], tuple[str, Key] | None] = {}

    def relocate(self, path: str, note: Note) -> Problem:
        """Moves a note to the section that replaced its own, otherwise to the end of its file, and reports it."""
        title = note.title or "the top of the file"
        place = path, note.title
        if place not in self._sections:
            self._sections[place] = self._find_section(*place)
        section = self._sections[place]
        if section is not None:
            other, key = section
            if not self._is_in(other, key, note.lines):  # it is there after an interrupted run
                self._body(other).add_note(key, note.lines)
            self._touched.add(other)
            if other != path:
                self.receivers.add(other)
                self.moved_lines.setdefault(path, []).extend(note.lines)
            message = f"what a person wrote under {title!r} moved with it to {other}"
            return Problem.of(code="note-moved", where=path, message=message)
        body = self._body(path)
        lines = list(note.lines)
        if path.endswith(".md") and not lines[0].startswith(_NOTE_COMMENT):
            heading = re.sub(r"[<>]|-(?=-)", "", title)[:80].strip("-")  # it cannot close the comment
            lines = [f"{_NOTE_COMMENT}{heading}, which is gone. -->", *lines]
        if any(body.bodies.values()):
            body.add_note(next(reversed(body.bodies)), lines)
        else:
            body.bodies[next(iter(body.bodies))] = lines
        self._touched.add(path)
        message = f"{title!r} is gone; what a person wrote there is kept at the end of the file"
        return Problem.of(code="note-without-place", where=path, message=message)

    def texts(self) -> dict[str, list[str]]:
        """Returns the lines of every file that differs from the generated text."""
        texts = {}
        for path in sorted(self._touched):
            lines = [*self._fronts[path], *self._bodies[path].lines]
            if lines or path in self._new:
                texts[path] = lines
        return texts

    def _find_section(self, path: str, title: str) -> tuple[str, Key] | None:
        """Returns the only section with this heading: in the file itself, in files of the same name, or in the same
        folder."""
        sections = self._sections_by_title.get(title, ()) if title else ()
        folder, _, name = path.rpartition("/")
        others = [(other, key) for other, key in sections if other != path]
        for matches in (
            [(other, key) for other, key in sections if other == path],
            [(other, key) for other, key in others if other.rpartition("/")[2] == name],
            [(other, key) for other, key in others if other.rpartition("/")[0] == folder],
        ):
            if len(matches) == 1:
                return matches[0]
        return None

    @cached_property
    def _sections_by_title(self) -> dict[str, list[tuple[str, Key]]]:
        """The sections of all documents by their headings."""
        sections: dict[str, list[tuple[str, Key]]] = {}
        for path in self._new:
            for key, title in self._body(path).titles.items():
                sections.setdefault(title, []).append((path, key))
        return sections

    def _is_in(self, path: str, key: Key, lines: Sequence[str]) -> bool:
        """True if a section had these lines before any note moved there."""
        if (path, key) not in self._texts:
            self._texts[path, key] = "\n".join(["", *self._body(path).bodies[key], ""])
        return "\n".join(["", *lines, ""]) in self._texts[path, key]

    def _body(self, path: str) -> MergedText:
        if path not in self._bodies:
            lines = lines_of(self._new[path])
            end = front_matter_end(lines)
            self._fronts[path], rest = tuple(lines[:end]), lines[end:]
            self._bodies[path] = MergedText.of(rest, sections_of(rest, path.endswith((".md", ".txt"))))
        return self._bodies[path]
