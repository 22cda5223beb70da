"""Carry a person's lines into new text.

Carries what a person added into a newly generated text, section by section.

Carries what a person added to front matter into newly generated front matter, key by key.

Lines are not enough here: a key that stands twice, or the member of a mapping that is gone, would break the YAML.

One file made anew: what skillgen wrote, what stands there and what it would write, brought together.

Finds a place for a person's words whose section is gone: where the section went, else the end of their file.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import attrgetter
from typing import Any

from skillgen.errors import Problem
from skillgen.write.edits import (
    Addition,
    Edits,
    Key,
    MarkerError,
    Rewriting,
    Section,
    edits_between,
    front_matter_end,
    heading_level,
    sections_of,
)
from skillgen.write.line_diff import Hunk, diff_lines, hunks_between, position_map
from skillgen.write.record import digests_of, line_digest, lines_of, unpacked


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


_KEY = re.compile(r"([^\s#\-:][^:]*):(\s.*)?\Z")
_MEMBER = re.compile(r"(\s+)([^\s#\-:][^:]*):(\s.*)?\Z")


@dataclass(slots=True)
class _Entry:
    """A key, and the lines below it."""

    key: str
    lines: list[str]
    own: list[bool] = field(default_factory=list)
    """For each line whether skillgen wrote it."""
    marked: bool = False
    """Whether it stands in a region."""

    @property
    def is_mapping(self) -> bool:
        return bool(re.fullmatch(r"[^:]*:\s*", self.lines[0])) and any(map(_MEMBER.match, self.lines[1:]))


def merged_front_matter(edits: Edits, new: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns the new lines with the keys that a person added, and the keys that both wrote: those are conflicts."""
    added = [addition for addition in edits.additions if addition.lines]
    if not added:
        return list(new), []
    order, taken = _Order(_entries(new)), []
    known = order.entries
    previous: str | None = None
    for entry in _edited_entries(edits):
        mine = [line for line, own in zip(entry.lines, entry.own, strict=True) if not own]
        generated = known.get(entry.key)
        if not mine or (generated is not None and generated.lines == entry.lines):
            pass
        elif entry.key == "":
            order.add_comment(entry, previous)
        elif entry.marked and not any(entry.own):
            order.put(entry, previous)
        elif generated is None:
            # The key of a member that stays is needed for it, whoever wrote it.
            lines = [entry.lines[0], *mine] if entry.own[0] else mine
            order.put(_Entry(entry.key, lines), previous)
        elif generated.is_mapping and (entry.own[0] or entry.is_mapping):
            members = mine if entry.own[0] else mine[1:]
            taken += [f"{entry.key}.{name}" for name in _add_members(generated, members)]
        else:
            taken.append(entry.key)
        if entry.key in known:
            previous = entry.key
    return order.lines(), taken


class _Order:
    """The entries of front matter in their order, each with the comments below it."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self.entries: dict[str, _Entry] = {}
        self._following: dict[str | None, str] = {}
        self._comments: dict[str | None, list[_Entry]] = {}
        previous: str | None = None
        for entry in entries:
            if entry.key == "":
                self.add_comment(entry, previous)
            else:
                self.put(entry, previous)
                previous = entry.key

    def add_comment(self, comment: _Entry, previous: str | None) -> None:
        """Adds a comment after a key and the comments below it; at the start where there is no key."""
        self._comments.setdefault(previous, []).append(comment)

    def put(self, entry: _Entry, previous: str | None) -> None:
        """Puts an entry in place of the one with its key, else after `previous` and the comments below it."""
        if entry.key not in self.entries:
            if previous in self._following:
                self._following[entry.key] = self._following[previous]
            self._following[previous] = entry.key
        self.entries[entry.key] = entry

    def lines(self) -> list[str]:
        """Returns the lines of all entries."""
        found: list[str] = []
        key: str | None = None
        while True:
            parts = [*([] if key is None else [self.entries[key]]), *self._comments.get(key, ())]
            found += [line for part in parts for line in part.lines]
            if key not in self._following:
                return found
            key = self._following[key]


def _entries(lines: Sequence[str]) -> list[_Entry]:
    found: list[_Entry] = []
    for line in lines:
        if key := _KEY.match(line):
            found.append(_Entry(key[1].strip().strip("\"'"), [line]))
        elif found:
            found[-1].lines.append(line)
        else:
            found.append(_Entry("", [line]))
    return found


def _edited_entries(edits: Edits) -> list[_Entry]:
    """Gives the entries as they stand there; comments and blank lines that a person added are entries too."""
    lines: list[tuple[str, bool, bool]] = []
    at = 0
    for addition in edits.additions:
        lines += [(line, True, False) for line in edits.base[at : addition.at]]
        lines += [(line, False, addition.marked) for line in addition.lines]
        at = addition.at + addition.covers
    lines += [(line, True, False) for line in edits.base[at:]]
    found: list[_Entry] = []
    for line, own, marked in lines:
        key = _KEY.match(line)
        if key or not found or (not own and (line.startswith("#") or (found[-1].key == "" and not line.strip()))):
            found.append(_Entry(key[1].strip().strip("\"'") if key else "", [], [], marked))
        found[-1].lines.append(line)
        found[-1].own.append(own)
    return found


def _add_members(generated: _Entry, members: Sequence[str]) -> list[str]:
    """Adds members to a generated mapping, and gives the names of those that it has with another value."""
    have = {found[2].strip(): line for line in generated.lines if (found := _MEMBER.match(line))}
    taken = []
    skipping = False
    for line in members:
        member = _MEMBER.match(line)
        if member is not None:
            name = member[2].strip()
            skipping = name in have
            if skipping and have[name].strip() != line.strip():
                taken.append(name)
        if not skipping:
            generated.lines.append(line)
    return taken


_DASHES = line_digest("---")
_CONFLICT = ("<<<<<<< ", ">>>>>>> ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Regenerated:
    """A file with skillgen's new text and a person's words."""

    front: tuple[str, ...]
    """Its front matter with the rows of dashes."""

    body: Merged
    """The rest."""

    edit: str
    """What a person did inside generated text, as a unified diff; empty where they only added."""

    reason: str | None
    """What stands in the way of writing the file, where something does."""

    rewritten: bool
    """Whether they changed generated text."""

    regions: int
    """How many regions stand in place of generated text."""

    added: int
    """How many lines a person added."""

    @property
    def lines(self) -> list[str]:
        """The text."""
        return [*self.front, *self.body.lines]


def regenerated(path: str, state: str, old: bytes, new: bytes) -> Regenerated:
    """Brings together what skillgen wrote (`state`, packed digests), what stands there and what it would write.

    Raises:
        MarkerError: a marker of a region lacks its other half.
    """
    base, now, then = unpacked(state), lines_of(old), lines_of(new)
    base_front, now_front, new_front = _front_end(base), front_matter_end(now), front_matter_end(then)
    if not (base_front and now_front and (new_front or not then)):
        base_front = now_front = new_front = 0
    front_edits = edits_between(
        base[:base_front], now[:now_front], then[:new_front], first_line=1, in_front=bool(base_front)
    )
    body_edits = edits_between(base[base_front:], now[now_front:], then[new_front:], first_line=now_front + 1)
    front_edits = _without_converged(front_edits, then[:new_front])
    body_edits = _without_converged(body_edits, then[new_front:])
    front, taken = _front(front_edits, then[:new_front])
    has_headings = path.endswith((".md", ".txt"))
    body = merged(body_edits, then[new_front:], has_headings)
    if not base:  # nothing but notes that were kept when skillgen's text went
        body = merged(Edits(base=(), additions=(), rewritings=()), then[new_front:], has_headings)
        body.homeless = [Note(title="", lines=tuple(now))]
    if then == [] and front_edits.additions:  # the file goes: its front matter has no other place
        found = merged(front_edits, [], has_headings=False)
        body.homeless = [*found.homeless, *body.homeless]
    reason = None
    if _has_conflict(front_edits, body_edits):
        reason = "it holds the marks of a merge that is not resolved (<<<<<<<, =======, >>>>>>>)"
    elif front_edits.rewritings or body_edits.rewritings:
        reason = "a person changed what skillgen wrote"
    elif taken:
        reason = f"skillgen writes {', '.join(taken)} too"
    elif path.endswith(".json") and body_edits.additions and not _is_sound_json([*front, *body.lines]):
        reason = "what was added would break the JSON"
    return Regenerated(
        front=tuple(front),
        body=body,
        edit=_diff(path, [*front_edits.base, *body_edits.base], now) if reason else "",
        reason=reason,
        rewritten=bool(front_edits.rewritings or body_edits.rewritings),
        added=sum(len(item.lines) for edits in (front_edits, body_edits) for item in edits.additions),
        regions=sum(1 for edits in (front_edits, body_edits) for item in edits.additions if item.covers),
    )


def is_only_added_to(path: str, state: str, old: bytes) -> bool:
    """Tells whether a file is what skillgen wrote, with no more than what a person added or marked as theirs."""
    return added_lines(path, state, old) is not None


def added_lines(path: str, state: str, old: bytes) -> list[str] | None:
    """Gives the lines that a person added to what skillgen wrote; None where they changed or broke it."""
    base, now = unpacked(state), lines_of(old)
    if base == digests_of(now):
        return []
    front, now_front = _front_end(base), front_matter_end(now)
    if not (front and now_front):
        front = now_front = 0
    try:
        edits = (
            edits_between(base[:front], now[:now_front], (), in_front=bool(front)),
            edits_between(base[front:], now[now_front:], ()),
        )
    except MarkerError:
        return None
    if _has_conflict(*edits) or any(edit.rewritings for edit in edits) or _front(edits[0], edits[0].base)[1]:
        return None
    if path.endswith(".json") and not _is_sound_json(now):
        return None
    return [line for edit in edits for addition in edit.additions for line in addition.lines]


def _has_conflict(*edits: Edits) -> bool:
    """Tells whether lines that skillgen did not write are those by which git marks both sides of a conflict."""
    lines = [line for edit in edits for added in edit.additions for line in added.lines]
    lines += [line for edit in edits for changed in edit.rewritings for line in changed.lines]
    return all(any(line.startswith(mark) for line in lines) for mark in _CONFLICT)


def _front(edits: Edits, new: Sequence[str]) -> tuple[list[str], list[str]]:
    if not new:
        return [], []
    inner = Edits(
        base=edits.base[1:-1],
        additions=tuple(_shifted(addition) for addition in edits.additions),
        rewritings=(),
    )
    lines, taken = merged_front_matter(inner, new[1:-1])
    return [new[0], *lines, new[-1]], taken


def _shifted(addition: Addition) -> Addition:
    return replace(addition, at=max(addition.at - 1, 0))


def _front_end(digests: Sequence[str]) -> int:
    if not digests or digests[0] != _DASHES:
        return 0
    return next((number + 1 for number in range(1, len(digests)) if digests[number] == _DASHES), 0)


def _without_converged(edits: Edits, new: Sequence[str]) -> Edits:
    """Leaves out the changes by which the text became what skillgen would write now, as a merge of branches does."""
    if not edits.rewritings:
        return edits
    places = position_map(hunks_between(edits.base, new), len(edits.base), len(new))

    def is_converged(change: Rewriting) -> bool:
        if not change.lines and not any(number in places for number in range(change.start, change.end)):
            return True
        above = places.get(change.start - 1, -1 if change.start == 0 else None)
        below = places.get(change.end, len(new) if change.end == len(edits.base) else None)
        return above is not None and below is not None and tuple(new[above + 1 : below]) == change.lines

    return replace(edits, rewritings=tuple(change for change in edits.rewritings if not is_converged(change)))


def _is_sound_json(lines: Sequence[str]) -> bool:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise ValueError("a key stands twice")
        return dict(pairs)

    try:
        json.loads("\n".join(lines), object_pairs_hook=once)
    except ValueError:
        return False
    return True


def _diff(path: str, base: Sequence[str], now: Sequence[str]) -> str:
    lines = diff_lines(f"a/{path}", f"b/{path}", base, now)
    return "".join(f"{line}\n" for line in lines)


_MARK = "<!-- This stood under "

_Scope = tuple[str, str]
"""Files among which a heading is looked for: that of a path, those of a name, those of a folder."""


class Homes:
    """The sections of all documents that are about to be written."""

    def __init__(self, new: Mapping[str, bytes], merges: Mapping[str, Regenerated]) -> None:
        self._new = new
        self._bodies: dict[str, Merged] = {path: made.body for path, made in merges.items()}
        self._fronts: dict[str, tuple[str, ...]] = {path: made.front for path, made in merges.items()}
        self._touched = {path for path, made in merges.items() if path in new or made.body.lines}

        self.receivers: set[str] = set()
        self._leaving: dict[str, list[str]] = {}
        self._near: dict[_Scope, list[str]] = {}
        for path in new:
            for scope in _scopes_of(path):
                self._near.setdefault(scope, []).append(path)
        self._titled: dict[_Scope, dict[str, dict[str, list[Key]]]] = {}
        self._lines: dict[tuple[str, Key], tuple[tuple[str, ...], dict[str, list[int]]]] = {}

    def settle(self, path: str, note: Note) -> Problem:
        """Puts a note where its section went, or at the end of its file, and tells of it."""
        title = note.title or "the top of the file"
        home = self._home(path, note)
        if home is not None:
            other, key = home
            if not self._is_in(other, key, note.lines):  # as after a run that was interrupted
                self._body(other).add_note(key, note.lines)
            self._touched.add(other)
            if other != path:
                self.receivers.add(other)
                self._leaving.setdefault(path, []).extend(note.lines)
            return Problem(
                code="note-moved",
                level="info",
                where=path,
                message=f"what a person wrote under {title!r} moved with it to {other}",
            )
        body = self._body(path)
        lines = list(note.lines)
        if path.endswith(".md") and not lines[0].startswith(_MARK):
            lines = [f"{_MARK}{_harmless(title)}, which is gone. -->", *lines]
        if any(body.bodies.values()):
            body.add_note(next(reversed(body.bodies)), lines)
        else:
            body.bodies[next(iter(body.bodies))] = lines
        self._touched.add(path)
        return Problem(
            code="note-without-place",
            level="warning",
            where=path,
            message=f"{title!r} is gone; what a person wrote there is kept at the end of the file",
            fix="move it where it belongs, or delete it",
        )

    def leaving(self, path: str) -> list[str]:
        """Gives the words that move from a file to others."""
        return self._leaving.get(path, [])

    def texts(self) -> dict[str, list[str]]:
        """Gives the lines of every file that is not simply as skillgen would write it."""
        found = {}
        for path in sorted(self._touched):
            lines = [*self._fronts[path], *self._bodies[path].lines]
            if lines or path in self._new:
                found[path] = lines
        return found

    def _home(self, path: str, note: Note) -> tuple[str, Key] | None:
        """Gives the one section with this heading: in its own file, one of the same name, or one beside it."""
        if not note.title:
            return None
        for scope in _scopes_of(path):
            homes = self._homes(scope, note.title)
            others = homes if scope[0] == "path" else islice((other for other in homes if other != path), 2)
            match [(other, key) for other in others for key in homes[other]]:
                case [home]:
                    return home
        return None

    def _homes(self, scope: _Scope, title: str) -> dict[str, list[Key]]:
        """Returns the sections with a heading by their files, which are searched once for all headings."""
        if scope not in self._titled:
            titled: dict[str, dict[str, list[Key]]] = {}
            for path in self._near.get(scope, ()):
                for key, words in self._body(path).titles.items():
                    titled.setdefault(words, {}).setdefault(path, []).append(key)
            self._titled[scope] = titled
        return self._titled[scope].get(title, {})

    def _is_in(self, path: str, key: Key, lines: Sequence[str]) -> bool:
        """True if a section had these lines before any note came to it; its lines are indexed once for all notes."""
        if (path, key) not in self._lines:
            body = tuple(self._body(path).bodies[key])
            places: dict[str, list[int]] = {}
            for number, line in enumerate(body):
                places.setdefault(line, []).append(number)
            self._lines[path, key] = body, places
        body, places = self._lines[path, key]
        return any(body[at : at + len(lines)] == tuple(lines) for at in places.get(lines[0], ()))

    def _body(self, path: str) -> Merged:
        if path not in self._bodies:
            lines = lines_of(self._new[path])
            end = front_matter_end(lines)
            self._fronts[path], rest = tuple(lines[:end]), lines[end:]
            sections = sections_of(rest, path.endswith((".md", ".txt")))
            self._bodies[path] = Merged(
                bodies={section.key: rest[section.start : section.end] for section in sections},
                titles={section.key: section.title for section in sections},
            )
        return self._bodies[path]


def _scopes_of(path: str) -> tuple[_Scope, ...]:
    folder, _, name = path.rpartition("/")
    return ("path", path), ("name", name), ("folder", folder)


def _harmless(title: str) -> str:
    """Gives a heading that cannot end the comment in which it stands."""
    return re.sub(r"[<>]|-(?=-)", "", title)[:80].strip("-")
