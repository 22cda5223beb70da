"""Carries a person's additions into newly generated text: a three-way merge, section by section.

The record holds only digests of the generated lines, so edits are found by comparing digests. A person can mark a
region: from `<!-- yours -->` to `<!-- /yours -->`, in front matter from `# yours` to `# /yours`. A region may replace
generated text. Only lines that skillgen did not write are markers, so no source can open a region.

The sections of front matter are its keys, because a duplicate key or a member without its mapping would break the
YAML. What a person wrote in a section that is not in the file any more is a note, which belongs to the section of the
same name in another file, or goes to the end of its own.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any, Literal

from msgspec import Struct

from skillgen.errors import Problem
from skillgen.model.tool import EFFECTS
from skillgen.text import lazy_re as re
from skillgen.text.summary import open_fence
from skillgen.write import record
from skillgen.write.record import line_digests, once_in_both, opcodes, unified_diff

UNMERGED = "it has unresolved merge conflicts (<<<<<<<, =======, >>>>>>>)"
"""Why a file is not replaced that git could not merge."""

FOREIGN_CODE = "programs and pages of skillgen have no lines of others"
"""Why a file is not replaced that others could run."""

BROKEN_JSON = "what was added would break the JSON"
"""Why a file is not replaced that would not be JSON any more."""

_UNKNOWN_LINE = "(a line that skillgen wrote and would not write again)"
"""Placeholder for a line of which only the digest is known."""

_NOTE_COMMENT, _NOTE_END = "<!-- This was under ", ", which is gone. -->"


class MarkerError(ValueError):
    """Region markers that are not paired; the message says what to restore."""


class Merge(Struct, frozen=True, kw_only=True):
    """A file's new generated text with a person's additions."""

    lines: list[str]
    """The text."""

    added: list[str]
    """The lines that a person added."""

    notes: list[tuple[str, Sequence[str]]]
    """What a person added to sections that are gone from the file, with their titles."""

    problems: list[Problem]
    """What a person should know about their own text."""

    edit: str
    """What a person changed and would lose, as a unified diff; empty if they only added."""

    reason: str
    """Why the file cannot be written; empty if it can."""


def merge(path: str, states: Sequence[str], old: bytes, new: bytes) -> Merge:
    """Merges a person's changes to the generated text in `old` into the text `new`.

    `states` (digests) are what skillgen may have written to the file; the first is compared. The others, and the new
    text, explain what differs from it.

    Raises:
        MarkerError: a marker of a region is not paired.
    """
    now, then = resolve_generated(record.lines_of(old), states), record.lines_of(new)
    base = _base_of((*states, record.state_of(new)), now) if any(states) else ()
    # Unless both the generated and the current text have front matter, and the new text if any, all is body.
    ends = [_front_matter_end(lines) for lines in (base, now, then)]
    has_front = ends[1] and (ends[0] or not base) and (ends[2] or not then) and (base or then)
    base_end, now_end, then_end = ends if has_front else (0, 0, 0)
    front = _find_edits(base[:base_end], now[:now_end], then[:then_end], 1, "front")
    front = front if base else _noted_front(now[:now_end], then[:then_end])
    is_data = path.endswith(".json") and "/scripts/" not in path
    kind: Kind = "text" if path.endswith((".md", ".txt")) else "data" if is_data else "code"
    body = _find_edits(base[base_end:], now[now_end:] if base else [], then[then_end:], now_end + 1, kind)
    own_front, conflicts = _own_entries(front, then[:then_end]) if then else (front, [])
    parts = _Placing(own_front, then[:then_end]), _Placing(body, then[then_end:])
    keys = Counter(key[2] for line in parts[0].lines if (key := _KEY.match(line)) and not key[1])
    conflicts += [key for key, number in keys.items() if number > 1]
    # Of a file that is deleted, all that was added are notes, and a file without base holds only notes.
    lines = [line for part in parts for line in part.lines]
    notes = [*parts[1].notes, *([] if base else _notes_in(now[now_end:]))]
    if not then:
        own = ["---", *parts[0].lines, "---"] if parts[0].lines else []
        lines, notes = [], [("", own), *notes, ("", parts[1].lines)]
    problems = []
    for title in (*parts[0].outdated, *parts[1].outdated):
        message = f"the generated text under {title!r} changed, but your region replaces it"
        problems.append(Problem.of("replaced-text-changed", path, message))
    kept = [*front.kept, *body.kept]
    present = {*lines}
    replaced = (line for line in then if line not in present)
    if (fact := next((line for line in replaced if any(word in line for word in _SAFETY)), None)) is not None:
        message = f"a region replaces what is said on safety: {fact.strip()}"
        problems.append(Problem.of("safety-replaced", path, message))
    is_changed = len(kept) < len(front.edits) + len(body.edits)
    foreign = [line for edit in (*front.edits, *body.edits) for line in edit.lines]
    reason = ""
    if all(any(line.startswith(mark) for line in foreign) for mark in ("<<<<<<<", ">>>>>>>")):
        reason = UNMERGED
    elif is_changed:
        reason = FOREIGN_CODE if kind == "code" else "a person changed what skillgen wrote"
    elif conflicts:
        reason = f"skillgen writes {', '.join(conflicts)} too"
    elif path.endswith(".json") and kept and not _is_valid_json(lines):
        reason = BROKEN_JSON
    # What survives is not shown with what would be lost.
    is_lost = reason in (UNMERGED, BROKEN_JSON)
    shown = front.applied([] if is_lost or (conflicts and not is_changed) else front.kept)
    shown += body.applied([] if is_lost else body.kept)
    return Merge(
        lines=lines,
        added=[line for edit in kept for line in edit.lines],
        notes=[(title, text) for title, text in ((item[0], _without_blank_ends(item[1])) for item in notes) if text],
        problems=problems,
        edit=unified_diff(f"a/{path}", f"b/{path}", shown, now) if reason else "",
        reason=reason,
    )


def generated_digests(states: Iterable[str]) -> set[str]:
    """Returns the digests of all lines of several states of a file."""
    return {digest for state in states for digest in record.unpack_digests(state)}


def resolve_generated(lines: list[str], states: Sequence[str]) -> list[str]:
    """Returns a file without the merge conflicts in which one side at most has lines of a person; that side stays.

    `states` are those of both sides. With one state, lines of the other side cannot be distinguished from a person's.
    """
    if len(states) < 2:
        return lines
    generated = generated_digests(states)

    def resolve(ours: Sequence[str], theirs: Sequence[str], raw: Sequence[str]) -> Sequence[str]:
        mine, yours = ([line for line in side if line_digests([line])[0] not in generated] for side in (ours, theirs))
        if (mine and yours and mine != yours) or line_digests(raw[:1])[0] in generated:
            return raw
        return ours if mine else theirs

    return record.resolve_conflicts(lines, resolve)


def _base_of(states: Sequence[str], now: Sequence[str]) -> Sequence[str]:
    """Returns the digests of the generated text in a file: the first of `states`, with those changes to the file that
    another one explains, since a merge of branches has lines of both.
    """
    base, *others = map(record.unpack_digests, states)
    digests = line_digests(now)
    for other in others:
        kept = {i for tag, i1, i2, _, _ in opcodes(base, other) if tag == "equal" for i in range(i1, i2)}
        known = {j for tag, _, _, j1, j2 in opcodes(other, digests) if tag == "equal" for j in range(j1, j2)}
        once = once_in_both(other, digests)
        merged: list[str] = []
        for tag, i1, i2, j1, j2 in opcodes(base, digests):
            removed = [i for i in range(i1, i2) if base[i] != record.BLANK]
            added = [j for j in range(j1, j2) if digests[j] != record.BLANK]
            # Where lines were removed, a line of a person may be what one of them became.
            is_explained = known.issuperset(added) if removed else any(j in known and digests[j] in once for j in added)
            if tag != "equal" and is_explained and kept.isdisjoint(removed):
                merged += [digests[j] for j in range(j1, j2) if j in known]
            else:
                merged += base[i1:i2]
        base = tuple(merged)
    return base


def _is_valid_json(lines: Sequence[str]) -> bool:
    objects: list[list[tuple[str, Any]]] = []
    try:
        json.loads("\n".join(lines), object_pairs_hook=objects.append)
    except (ValueError, RecursionError):
        return False
    return all(len(dict(pairs)) == len(pairs) for pairs in objects)


def titles_of(content: bytes) -> list[str]:
    """Returns the titles that exactly one section of a text has."""
    counts = Counter(section.title for section in _sections_of(record.lines_of(content), "text"))
    return [title for title, count in counts.items() if title and count == 1]


def with_note(content: bytes, title: str, text: Sequence[str]) -> bytes:
    """Returns a text with what a person wrote at the end of its only section with a title."""
    lines = record.lines_of(content)
    end = next(section.end for section in _sections_of(lines, "text") if section.title == title)
    return record.content_of([*lines[:end], *([""] if lines[end - 1].strip() else []), *text, "", *lines[end:]])


def add_note(path: str, lines: list[str], title: str, text: Sequence[str]) -> Problem:
    """Adds what a person wrote to the end of a file, with the heading that it was under."""
    while lines and not lines[-1].strip():
        lines.pop()
    lines += [""] if lines else []
    if path.endswith(".md") and not text[0].startswith((_NOTE_COMMENT, "#", "---")):
        heading = re.sub(r"[<>]|-(?=-)", "", title)[:80].strip("-")  # it cannot close the comment
        lines.append(f"{_NOTE_COMMENT}{heading}{_NOTE_END}")
    lines += text
    message = f"{title!r} is gone; what a person wrote there is kept at the end of the file"
    return Problem.of("note-without-place", path, message)


def _notes_in(lines: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yields what a file of notes has, with the titles of the sections that each part was in."""
    title, note, fence = "", list[str](), ""
    for line in lines:
        fence = open_fence(line, fence)
        is_noted = line.startswith(_NOTE_COMMENT)
        if is_noted or (title and not fence and _HEADING.match(line)):
            yield title, note
            title, note = line.removeprefix(_NOTE_COMMENT).removesuffix(_NOTE_END) if is_noted else "", []
        note += [] if is_noted else [line]
    yield title, note


Kind = Literal["front", "text", "data", "code"]
"""Front matter, whose sections are its keys; a text with headings; one without; or what runs only code of skillgen."""


class _Edit(Struct, frozen=True):
    """A person's change of generated text."""

    at: int
    """The generated line before which their lines are."""

    end: int
    """The line after the last that they replace; `at` if they replace none."""

    lines: Sequence[str]
    is_region: bool = False


class _Edited(Struct, frozen=True):
    """Front matter or body as skillgen wrote it, and how a person changed it."""

    kind: Kind
    digests: Sequence[str]
    """The generated lines."""

    base: Sequence[str]
    """The same, with `_UNKNOWN_LINE` for those that are not known any more."""

    edits: list[_Edit]

    @property
    def kept(self) -> list[_Edit]:
        """The edits that can be carried into a new text: regions, and lines that replace none."""
        return [edit for edit in self.edits if self.kind != "code" and (edit.is_region or edit.at == edit.end)]

    def applied(self, edits: Iterable[_Edit]) -> list[str]:
        """Returns the lines of the text with some of the edits."""
        lines, at = [], 0
        for edit in edits:
            lines += [*self.base[at : edit.at], *edit.lines]
            at = edit.end
        return [*lines, *self.base[at:]]


def _find_edits(base: Sequence[str], now: Sequence[str], new: Sequence[str], first_line: int, kind: Kind) -> _Edited:
    """Returns a person's changes: `base` are the digests of the generated lines, `now` the current lines.

    `new`, the lines that skillgen would write now, helps to restore generated lines that were removed.

    Raises:
        MarkerError: a marker of a region is not paired.
    """
    digests = line_digests(now)
    hunks = opcodes(base, digests)
    not_generated = [j for tag, _, _, j1, j2 in hunks if tag != "equal" for j in range(j1, j2)]
    keys, starts = list(digests), list(range(len(now) + 1))
    if regions := _find_regions(now, not_generated, first_line, kind):
        for start, end in reversed(regions):
            keys[start:end], starts[start:end] = [_REGION], [start]
        hunks = opcodes(base, keys)
    known = dict(zip((*line_digests(new), *digests), (*new, *now), strict=True))
    changes = [places for tag, *places in hunks if tag != "equal"]
    edits = [_Edit(i1, i2, now[starts[j1] : starts[j2]], _REGION in keys[j1:j2]) for i1, i2, j1, j2 in changes]
    return _Edited(kind, base, [known.get(digest, _UNKNOWN_LINE) for digest in base], edits)


_SAFETY = (*map("[{}]".format, (*EFFECTS, "ask first")), "Ask the user before", "## Before You Change")
_MARKER = re.compile(r"\A\s*<!--\s*(?:(/)\s*)?yours\s*-->\s*\Z", re.IGNORECASE)
_MARKER_IN_FRONT_MATTER = re.compile(r"\A\s*#\s*(?:(/)\s*)?yours\s*\Z", re.IGNORECASE)
_REGION = "<>"
"""In place of the digests of a region, which equals no generated text."""


def _find_regions(lines: Sequence[str], added: Iterable[int], first_line: int, kind: Kind) -> list[tuple[int, int]]:
    """Returns the first line of each region, and the line after its last; both include the markers.

    `added` are the numbers of the lines that skillgen did not write.
    """
    pattern = _MARKER_IN_FRONT_MATTER if kind == "front" else _MARKER
    opening, closing = ("# yours", "# /yours") if kind == "front" else ("<!-- yours -->", "<!-- /yours -->")
    markers = [(number, marker[1]) for number in added if (marker := pattern.match(lines[number]))]
    regions = []
    for (start, is_end), (end, is_closed) in zip(markers[::2], [*markers[1::2], (0, None)], strict=False):
        line = f"line {start + first_line}"
        if is_end:
            what = f"{closing} without {opening}; restore {opening} above the first line that is yours"
            raise MarkerError(f"{line}: {what}")
        if not is_closed:
            raise MarkerError(f"{line}: {opening} is not closed; restore {closing} below the last line that is yours")
        regions.append((start, end + 1))
    return regions


_HEADING = re.compile(r"(#{1,6}) +((?:.*\S)?)\s*\Z")
_KEY = re.compile(r"([ \t]*)([^\s#\-:][^:]*):(?:\s|\Z)")
"""Indentation and name of a key of front matter, where skillgen writes a value on the line of its key."""

_FIRST = ("#", "`", "~", " ")
"""First characters of headings and fences; most lines begin with another one."""


class _Section(Struct, frozen=True):
    """Lines from a heading to before the next one."""

    key: tuple[str, ...]
    """Identifies it in another version of the document: the headings above it and its own, then a count; the first
    heading of a document is `#`, whatever it says."""

    title: str
    """The text of the heading; empty above the first."""

    level: int
    """The level of the heading; 0 above the first, 2 of a key of front matter."""

    start: int
    end: int
    """The number of the line after the last."""


def _front_matter_end(lines: Sequence[str]) -> int:
    """Returns the number of lines of the front matter, or of their digests, including both `---`; 0 without."""
    dashes = lines[0] if lines and lines[0] in ("---", *line_digests(["---"])) else None
    return next((number + 1 for number in range(1, len(lines)) if lines[number] == dashes), 0)


def _level_of(line: str, kind: Kind) -> int:
    """Returns the level of the section that starts with a line; 0 if it starts none."""
    if kind == "front":
        return 0 if line[:1] in (" ", "\t", "-") else 2
    heading = _HEADING.match(line)
    return len(heading[1]) if heading else 0


def _section_starts(lines: Sequence[str], kind: Kind) -> Iterator[tuple[int, int, str]]:
    """Yields where each section starts, its level, and its title."""
    yield 0, int(kind == "front"), ""
    fence = ""
    for number, line in enumerate(lines if kind == "text" else ()):
        fence = open_fence(line, fence) if line[:1] in _FIRST else fence
        if not fence and (heading := _HEADING.match(line)):
            yield number, len(heading[1]), heading[2]
    for number in range(1, len(lines) if kind == "front" else 0):
        if (key := _KEY.match(lines[number])) and not key[1]:
            yield number, 2, key[2]
    if kind == "front" and lines:
        yield len(lines) - 1, 2, "---"


def _sections_of(lines: Sequence[str], kind: Kind) -> list[_Section]:
    """Returns the sections of a text; together they have all its lines."""
    starts = list(_section_starts(lines, kind))
    sections: list[_Section] = []
    above: list[tuple[int, str]] = []
    seen: Counter[tuple[str, ...]] = Counter()
    for (start, level, title), end in zip(starts, [*(start for start, _, _ in starts[1:]), len(lines)], strict=True):
        if level:
            above = [item for item in above if item[0] < level]
            above.append((level, title if above else "#"))
        key = tuple(words for _, words in above)
        seen[key] += 1
        sections.append(_Section((*key, str(seen[key])), title, level, start, end))
    return sections


def _own_entries(front: _Edited, new: Sequence[str]) -> tuple[_Edited, list[str]]:
    """Returns what a person added to front matter without keys that skillgen writes too, and the names of these."""
    generated = {key.groups() for line in new if (key := _KEY.match(line))}
    conflicts: dict[str, None] = {}

    def own(edit: _Edit) -> Iterator[str]:
        is_own, is_below_own, name = edit.at == edit.end, False, ""
        for line in edit.lines:
            if key := _KEY.match(line):
                name = key[2].strip("\"' ")
                is_own = (key[1], name) not in generated or (is_below_own and bool(key[1]))
                is_below_own = is_below_own if key[1] else is_own
            elif not line.strip() or line.lstrip().startswith("#"):
                is_own = True
            if is_own:
                yield line
            elif line not in new:
                conflicts[name] = None

    edits = [edit if edit.is_region else _Edit(edit.end, edit.end, list(own(edit))) for edit in front.edits]
    return _Edited("front", front.digests, front.base, [edit for edit in edits if edit.lines and new]), list(conflicts)


def _noted_front(notes: Sequence[str], new: Sequence[str]) -> _Edited:
    """Returns the keys of a file of notes as additions to the front matter of the new text."""
    ends = {section.title: section.end for section in _sections_of(new, "front")}
    edits = []
    for section in sorted(_sections_of(notes, "front") if notes else (), key=lambda section: section.title not in ends):
        at = ends.get(section.title, len(new) - 1)
        # The key of a mapping may be written too.
        edits.append(_Edit(at, at, notes[section.start + (notes[section.start] in new) : section.end]))
    return _Edited("front", line_digests(new), new, sorted(edits, key=lambda edit: edit.at))


class _Placing:
    """The lines of a new text, with a person's additions where they were."""

    def __init__(self, old: _Edited, new: Sequence[str]) -> None:
        self.lines = list(new)
        self.notes: list[tuple[str, Sequence[str]]] = []
        """What was added to sections that are gone, with their titles."""
        self.outdated: list[str] = []
        """The titles of sections in which a region replaces generated text that has changed."""
        self._old, self._new = old, new
        self._sections = _sections_of(old.base, old.kind)
        self._counterparts = {section.key: section for section in _sections_of(new, old.kind)}
        self._below: dict[int, int] = {}
        """Where the new text goes on after an old line, by the number of the next old line."""
        self._at: dict[int, int] = {}
        """Where what an old line became starts in the new text."""
        self._aligned: set[tuple[str, ...]] = set()
        if old.kept:
            self._place_all()

    def _place_all(self) -> None:
        # After each old section, where the next one that still exists starts in the new text, from the end.
        following = [len(self._new)]
        for section in reversed(self._sections):
            there = self._counterparts.get(section.key)
            following.append(following[-1] if there is None else there.start)
        ends = [section.end for section in self._sections]
        inserted: dict[int, list[str]] = defaultdict(list)
        covered: set[int] = set()
        for edit in self._old.kept:
            # Text between two sections belongs to the first.
            first = bisect_left(ends, edit.at) if edit.at == edit.end else bisect_right(ends, edit.at)
            section, next_place = self._sections[first], following[-2 - first]
            replaced = self._replaced(edit, self._sections[first : bisect_left(ends, edit.end) + 1])
            place = replaced.start if replaced else self._place(edit, section, next_place)
            covered.update(replaced)
            if place is not None:
                inserted[place] += edit.lines if replaced else self._fitted(edit, place)
            elif self._old.kind == "front":  # a member needs the key above it, even if that is not written any more
                key = self._old.base[section.start]
                inserted[next_place] += [*([] if key in inserted[next_place] else [key]), *edit.lines]
            else:
                self.notes.append((section.title, edit.lines))
            now = line_digests(self._new[replaced.start : replaced.stop])
            if edit.at < edit.end and now != tuple(self._old.digests[edit.at : edit.end]):
                self.outdated.append(section.title)
        rest = ([] if j in covered else [line] for j, line in enumerate(self._new))
        self.lines = [line for j, lines in enumerate((*rest, [])) for line in (*inserted.get(j, ()), *lines)]

    def _align(self, section: _Section) -> _Section | None:
        """Returns the new section, aligned with the old one; `None` if it is gone."""
        there = self._counterparts.get(section.key)
        if there is not None and section.key not in self._aligned:
            self._aligned.add(section.key)
            new = line_digests(self._new[there.start : there.end])
            for _, i1, i2, j1, j2 in opcodes(self._old.digests[section.start : section.end], new):
                for i in range(i1, i2):
                    # Lines of equal number took each other's place.
                    after = j1 + i + 1 - i1 if i2 - i1 == j2 - j1 else j2 if i + 1 == i2 else j1
                    self._below[section.start + i + 1] = there.start + after
                    before = j1 + i - i1 if i2 - i1 == j2 - j1 else j1 if i == i1 else j2
                    self._at[section.start + i] = there.start + before
        return there

    def _replaced(self, edit: _Edit, sections: Iterable[_Section]) -> range:
        """Returns the new lines that a region replaces: the new text of the lines that it replaced before, up to where
        other text was put between them."""
        replaced: set[int] = set()
        for section in sections if edit.at < edit.end else ():
            start, end = max(edit.at, section.start), min(edit.end, section.end)
            if self._align(section) is not None and start < end:
                replaced.update(range(self._at[start], self._below[end]))
        for line in edit.lines if self._old.kind == "front" and edit.is_region else ():
            if (key := _KEY.match(line)) and not key[1] and (there := self._counterparts.get(("#", key[2], "1"))):
                replaced.update(range(there.start, there.end))
        start = min(replaced, default=0)
        return range(start, next(j for j in count(start) if j not in replaced))

    def _place(self, edit: _Edit, section: _Section, next_place: int) -> int | None:
        """Returns the new line before which added lines go; `None` if their section is gone."""
        there = self._align(section)
        first = next((line for line in edit.lines if line.strip() and not _MARKER.match(line)), "")
        is_end = edit.at == section.end
        # Below a heading of a person, new generated text would look like a part of their section.
        if (is_end or there is None) and 0 < _level_of(first, self._old.kind) <= section.level:
            return next_place
        if there is None:
            return None
        above = "".join(self._old.base[max(edit.at - 1, 0) : edit.at])
        is_block = not edit.lines[0].strip() or first.startswith("#") or not above.strip()
        return there.end if is_end and is_block else self._below.get(edit.at, there.start)

    def _fitted(self, edit: _Edit, place: int) -> Sequence[str]:
        """Returns added lines; what was between blank lines stays so."""

        def is_apart(text: Sequence[str], at: int) -> bool:
            return not 0 <= at < len(text) or not text[at].strip()

        above, below = is_apart(self._new, place - 1), is_apart(self._new, place)
        was_apart = is_apart(self._old.base, edit.at - 1), is_apart(self._old.base, edit.end)
        lines = _without_blank_ends(edit.lines)
        if (above, below) == was_apart or self._old.kind == "front" or not lines:
            return edit.lines
        before = not above and (was_apart[0] or not edit.lines[0].strip())
        after = not below and (was_apart[1] or not edit.lines[-1].strip())
        return [*([""] if before else []), *lines, *([""] if after else [])]


def _without_blank_ends(lines: Sequence[str]) -> Sequence[str]:
    nonblank = [number for number, line in enumerate(lines) if line.strip()]
    return lines[nonblank[0] : nonblank[-1] + 1] if nonblank else ()
