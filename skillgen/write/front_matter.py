"""Carries what a person added to front matter into newly generated front matter, key by key.

Lines are not enough here: a key that stands twice, or the member of a mapping that is gone, would break the YAML.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from skillgen.write.edits import Edits

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
