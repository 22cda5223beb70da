"""Finds a place for a person's words whose section is gone: where the section went, else the end of their file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice

from skillgen.errors import Problem
from skillgen.write.lines import lines_of
from skillgen.write.merge import Merged, Note
from skillgen.write.regenerate import Regenerated
from skillgen.write.sections import Key, front_matter_end, sections_of

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
