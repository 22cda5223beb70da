"""Decides what to do with each file of an OUT, and does it.

`plan_documents` changes nothing. It carries a person's additions into the new text. A file in which a person changed
generated text, or that skillgen did not write, is never replaced or deleted without `--force`.

`apply_plan` replaces files atomically: each is the old one or the new one, wherever a run is interrupted. It writes the
record before the files, with the old and the new state of each changed file, so that after an interruption the next run
recognises both as skillgen's own. The caller holds the lock of OUT (`lock_folder`).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from skillgen.errors import EditedError, OutputError, Problem, ProblemLog
from skillgen.model.document import TEXTS_NAME
from skillgen.write import merge
from skillgen.write import record as records
from skillgen.write.files import Folder, file_in_the_way
from skillgen.write.record import RECORD_NAME, LineDigests, Record, change_diff, is_binary, lines_of, state_of

CHANGED_ARTIFACT = "a document names its digest, so nothing can be added to it"
"""Why an artifact is not replaced that was edited."""

FOREIGN = "not made by skillgen"
"""Why a file is not replaced that is not in the record."""

Action = Literal["create", "replace", "delete", "keep"]


class Change(Struct, frozen=True, kw_only=True):
    """The planned change of one file."""

    path: str
    """Relative to OUT, with forward slashes."""

    action: Action
    """`keep` if the file is up to date."""

    old: bytes | None
    """The current content; `None` if the file does not exist."""

    new: bytes | None
    """The new content; `None` if the file is deleted."""

    reason: str = ""
    """Why skillgen may not write or delete the file; empty if it may."""

    edit: str = ""
    """What a person changed in it, as a unified diff."""

    added: int = 0
    """The number of lines in it that a person added."""


class Plan(Struct, frozen=True, kw_only=True):
    """The planned changes of an OUT."""

    out: Path
    changes: tuple[Change, ...]
    """A change for each document and each stale file, sorted by path."""

    before: Record
    """The record of the last run."""

    after: Record
    """The record of this run."""

    problems: tuple[Problem, ...] = ()
    """What a person should know about their own text."""

    beside: Mapping[str, bytes] = {}
    """The files next to SKILL.md that skillgen did not write, as they will be."""

    @property
    def drift(self) -> tuple[Change, ...]:
        """The files that are not up to date, without those that skillgen may not delete."""
        return tuple(item for item in self.changes if item.action != "keep" and not (item.new is None and item.reason))

    @property
    def conflicts(self) -> tuple[Change, ...]:
        """The files to write that hold edits or are not skillgen's."""
        return tuple(item for item in self.changes if item.new is not None and item.reason)

    def diff(self, folder: str = "") -> str:
        """Returns the unified diff of all drift, with paths that begin with the folder from which OUT is reached."""
        return "".join(change_diff(f"{folder}{change.path}", change.old, change.new) for change in self.drift)


def plan_documents(
    out: Path,
    documents: Mapping[str, bytes],
    record: Record,
    *,
    artifacts: Collection[str] = (),
    kept: Collection[str] = (),
    force: bool = False,
) -> Plan:
    """Compares documents (path to content) with OUT; with `force`, generated text replaces changes inside it.

    `record` has what the new record says of the service, and `kept` are paths of the old one that stay.
    `artifacts` are the paths of documents that are written byte for byte, without merging.

    Raises:
        OutputError: something in OUT cannot be read, or a path leads outside it.
        EditedError: the markers of a region are broken.
    """
    before = records.read_record(out)
    # The record may be that of a stranger, so nothing of git is stale.
    stale = [path for path in before.states if not (path in documents or path in kept or ".git" in path.split("/"))]
    skills = dict.fromkeys(records.skills_in((*before.states, *documents)))
    contents = _read(out, (*documents, *stale, *records.files_beside(out, skills, {*documents, *stale})))
    successors = _successors(records.skills_in(before.states), records.skills_in(documents))
    planning = _Planning(out, before, force, artifacts, contents, successors, known := LineDigests())
    for path, content in documents.items():
        planning.document(path, content)
    for path in stale:
        planning.stale(path)
    planning.place_notes()
    beside = dict(planning.beside(path) for path in contents if path not in documents and path not in before.states)
    states: dict[str, tuple[str, ...]] = {path: (state_of(content, known),) for path, content in documents.items()}
    states |= dict.fromkeys(planning.left_over, ("",)) | {path: before.states[path] for path in kept}
    changes = tuple(sorted(planning.changes, key=lambda change: change.path))
    after = replace(record, states=states)
    if records.has_conflicts(old := _read(out, [RECORD_NAME]).get(RECORD_NAME, b"")):
        changes = (Change(path=RECORD_NAME, action="replace", old=old, new=after.to_json()), *changes)
    return Plan(out=out, changes=changes, before=before, after=after, problems=tuple(planning.problems), beside=beside)


def _read(out: Path, paths: Iterable[str]) -> dict[str, bytes]:
    """Returns the content of the files in OUT that exist.

    Raises:
        OutputError: one cannot be read, or is outside OUT.
    """
    contents = {}
    for path in paths:
        try:
            if (content := Folder(str(out), None).read(path)) is not None:
                contents[path] = content
        except NotADirectoryError:
            raise file_in_the_way((out / path).parent) from None
        except OSError as error:
            raise OutputError(f"cannot be read: {error.strerror}", where=str(out / path)) from None
    return contents


def _successors(before: Sequence[str], now: Sequence[str]) -> dict[str, str]:
    """Returns for each skill that is gone the one that has its notes: by the same area of a service that was renamed,
    the only new one, else the common one, whose name the others begin with.
    """
    new = [name for name in now if name not in before]
    gone = sorted(name for name in before if name not in now) if now else []
    old_common, common = (min(names, key=len, default="") for names in (before, now))
    only = new[0] if len(gone) == len(new) == 1 else common
    same = ((name, common + name.removeprefix(old_common)) for name in gone)
    return {f"skills/{name}/": f"skills/{other if other in new else only}/" for name, other in same}


def _skill_of(path: str) -> str:
    return path.partition("references/")[0].removesuffix("SKILL.md")


class _Planning(Struct):
    """Decides file by file; those that go come last."""

    out: Path
    before: Record
    force: bool
    artifacts: Collection[str]
    contents: Mapping[str, bytes]
    successors: Mapping[str, str]
    """The folder of each skill that is gone, to that of the skill that has its notes."""

    known: LineDigests
    changes: list[Change] = field(default_factory=list)
    left_over: list[str] = field(default_factory=list)
    problems: ProblemLog = field(default_factory=ProblemLog)
    notes: list[tuple[str, str, Sequence[str]]] = field(default_factory=list)
    """The path of a file, and a note without a place in it: its title and its lines."""

    def document(self, path: str, new: bytes) -> None:
        """Decides on a file that skillgen would write."""
        is_artifact = path in self.artifacts
        # A person's additions come with the skill if it is renamed.
        folders = ((old, new) for old, new in self.successors.items() if path.startswith(new) and not is_artifact)
        paths = [path, *(old + path.removeprefix(new) for old, new in folders)]
        earlier = next((item for item in paths if item in self.contents), path)
        old, states = self.contents.get(earlier), self.before.states.get(earlier, ())
        if old is None or old == new or self.before.is_own(earlier, old, self.known):
            self._set(path, new)
        elif not is_artifact:
            self._edited(path, earlier, old, new)
        elif self.force or _has_only_lines_of(states, old):
            self._set(path, new)
        else:
            self._set(path, new, CHANGED_ARTIFACT if states else FOREIGN, change_diff(path, old, new))

    def _edited(self, path: str, earlier: str, old: bytes, new: bytes) -> None:
        merged = self._merged(earlier, old, new)
        reason = merged.reason if merged is not None else ""
        is_foreign = earlier not in self.before.states
        if merged is None or (self.force and reason and (is_foreign or reason == merge.BROKEN_JSON)):
            self._set(path, new)
        elif reason and is_foreign:
            self._set(path, new, FOREIGN, change_diff(path, old, new))
        else:
            self._write(path, merged, reason if self._is_refused(merged) else "")

    def _moved(self, path: str) -> str:
        """Returns the path of a file in the skill that has the notes of its own."""
        folders = ((old, new) for old, new in self.successors.items() if path.startswith(old))
        return next((new + path.removeprefix(old) for old, new in folders), path)

    def stale(self, path: str) -> None:
        """Decides on a file that skillgen wrote and no longer writes."""
        old = self.contents.get(path)
        if old is None:
            return
        now = self._moved(path)
        if self.before.states[path] == ("",) and now == path:
            self.left_over.append(path)
            self._set(path, old, added=len(lines_of(old)))
            message = "skillgen no longer writes this file, and none leads to it; what people added stays in it"
            self.problems.report("stale-file-kept", path, message)
        elif self.before.is_own(path, old, self.known):
            self._set(path, None)
        elif is_binary(old) or (merged := self._merged(path, old, b"")) is None or self._is_refused(merged):
            message = "skillgen no longer writes this file; it was edited, so it is not deleted"
            self.problems.report("stale-file-kept", path, message)
            self._set(path, None, message)
        else:
            lines = {line for change in self.changes if change.path == now for line in lines_of(change.new or b"")}
            lines.update(line for name, _, text in self.notes if name == now for line in text)
            if lines.issuperset(line for _, text in merged.notes for line in text):
                self._set(path, None)
            else:
                self.left_over.append(path)
                self._write(path, merged)

    def beside(self, path: str) -> tuple[str, bytes]:
        """Moves a file of a person with its skill, and returns its path with its content; what is there stays."""
        now, content = self._moved(path), self.contents[path]
        if now == path or any(change.path == now for change in self.changes) or os.path.lexists(self.out / now):
            return path, content
        self._set(path, None)
        self._set(now, content)
        return now, content

    def _set(self, path: str, new: bytes | None, reason: str = "", edit: str = "", added: int = 0) -> None:
        old = self.contents.get(path)
        is_text = not (reason or old is None or new is None or path in self.artifacts)
        if is_text and old != new and lines_of(old or b"") == lines_of(new or b""):
            new = old
        is_same = old == new and not reason
        action: Action = "create" if old is None else "delete" if new is None else "keep" if is_same else "replace"
        self.changes.append(Change(path=path, action=action, old=old, new=new, reason=reason, edit=edit, added=added))

    def _write(self, path: str, merged: merge.Merge, reason: str = "") -> None:
        self._set(path, records.content_of(merged.lines), reason, merged.edit if reason else "", len(merged.added))
        self.problems.add(*merged.problems)
        self.notes += [(path, title, text) for title, text in merged.notes]

    def place_notes(self) -> None:
        """Adds each note to the only section of its title in the skill, else in all skills; or to the end of its file.

        A file that is left over and has no note any more goes.
        """
        written = (item for item in self.changes if item.new is not None and item.path not in self.artifacts)
        texts = {item.path: item.new or b"" for item in written}
        homes: dict[str, list[str]] = {}
        for name in texts if self.notes else ():
            for title in merge.titles_of(texts[name]) if name.endswith(".md") else ():
                homes.setdefault(title, []).append(name)
        ends: dict[str, list[tuple[str, Sequence[str]]]] = {}
        for path, title, text in self.notes:
            found = homes.get(title, [])
            home = self._moved(path)
            near = [name for name in found if _skill_of(name) == _skill_of(home)]
            near = near or [name for name in found if name.split("/")[0] == path.split("/")[0]]
            if len(near) == 1:
                texts[near[0]] = merge.with_note(texts[near[0]], title, text)
            else:
                place = next(name for name in (home, f"{_skill_of(home)}SKILL.md", path) if name in texts)
                is_front = text[0] == text[-1] == "---" and place != path
                ends.setdefault(place, []).append((title, text[1:-1] if is_front else text))
        for path, notes in ends.items():
            lines = lines_of(texts[path])
            for title, text in notes:
                self.problems.add(merge.add_note(path, lines, title or "the top of the file", text))
            texts[path] = records.content_of(lines)
        gone = {path for path in self.left_over if texts.get(path) == b""}
        self.left_over = [path for path in self.left_over if path not in gone]
        decided, self.changes = self.changes, []
        for item in decided:
            new = None if item.path in gone else texts.get(item.path, item.new)
            if new == item.new:
                self.changes.append(item)
            else:
                self._set(item.path, new, item.reason, item.edit, item.added)

    def _is_refused(self, merged: merge.Merge) -> bool:
        """True if the merge must not be written: `--force` does not say which side of a conflict is wanted."""
        return merged.reason == merge.UNMERGED or bool(merged.reason and not self.force)

    def _merged(self, path: str, old: bytes, new: bytes) -> merge.Merge | None:
        """Returns the merge based on the state that is closest to the file; `None` for broken markers with `--force`.

        Raises:
            EditedError: the markers of a region are broken.
        """
        # Without a record, a file may be what skillgen would write, with additions.
        states = self.before.states.get(path) or (state_of(new),)
        try:
            orders = ((state, *states[:number], *states[number + 1 :]) for number, state in enumerate(states))
            merges = [merge.merge(path, order, old, new) for order in orders]
        except merge.MarkerError as error:
            if self.force:
                return None
            what = f"{path}, {error}; none of these documents was written"
            fix = "restore the marker; or give --force, and skillgen's text replaces what was changed in it"
            raise EditedError(what, where=str(self.out), fix=fix, diff="") from None
        return min(merges, key=lambda item: (bool(item.reason), item.edit.count("\n"), len(item.added)))


def _has_only_lines_of(states: Sequence[str], old: bytes) -> bool:
    """True if an artifact has lines of several states and no others, as after a merge of branches."""
    if len(states) < 2 or is_binary(old):
        return False
    lines = merge.resolve_generated(lines_of(old), states)
    return merge.generated_digests(states).issuperset(records.line_digests(lines))


def apply_plan(plan: Plan, out: Folder) -> None:
    """Creates, replaces and deletes files; up-to-date files are not touched.

    `out` is the folder of the plan, held open.

    Raises:
        OutputError: OUT cannot be written.
    """
    path = RECORD_NAME
    # What a person added is in the file of a renamed skill before the old one goes.
    drift = (item for item in plan.drift if not item.reason and item.path != RECORD_NAME)
    changed = sorted(drift, key=lambda item: item.action == "delete")
    try:
        out.remove_leftovers()
        text = plan.after.to_json()
        if changed:
            # A record that is true before, during and after the run.
            record = plan.before if any(map(any, plan.before.states.values())) else plan.after
            record = replace(record, states=records.joined_states(plan.before.states, plan.after.states))
            out.replace(RECORD_NAME, text if record == plan.after else record.to_json())
        for change in changed:
            path = change.path
            is_same = out.read(path) == change.old  # it may have been changed after planning
            if change.new is None and is_same:
                out.delete(path)
            elif change.new is not None and is_same:
                out.replace(path, change.new)
            elif change.new is not None:
                place = str(plan.out / path)
                raise OutputError("changed while skillgen was running", where=place, fix="run the command again")
        path = RECORD_NAME
        old = out.read(RECORD_NAME) or b""
        if old != text and lines_of(old) != lines_of(text):  # a checkout may have changed the line ends
            out.replace(RECORD_NAME, text)
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror}", where=str(plan.out / path)) from None


def move_documents(old: Path, new: Path, identity: Record, *, check: bool = False) -> None:
    """Moves documents to another folder, with the files of people in their skills, and the texts of `draft`.

    `identity` is the new record without what is documented. With `check`, only says what cannot be moved.

    Raises:
        EditedError: the other folder has one of the files, and not as skillgen wrote it.
        OutputError: a file cannot be moved, or its path leads outside.
    """
    before, there = records.read_record(old), records.read_record(new)
    found = (TEXTS_NAME, *records.files_beside(old, records.skills_in(before.states)), *before.states)
    paths = dict.fromkeys(path for path in found if (old / path).is_file() and ".git" not in path.split("/"))
    if names := [path for path, content in _read(new, paths).items() if not there.is_own(path, content)]:
        what = f"these documents go to {new}, which has other {', '.join(names)}; none of them was moved"
        raise EditedError(what, where=str(old), fix="keep one of each, and run again", diff="")
    if check:
        return
    record = replace(identity, states=records.joined_states(there.states, before.states))
    try:
        for path in paths:
            (new / path).unlink(missing_ok=True)
            os.renames(old / path, new / path)
        Folder(str(new), None).replace(RECORD_NAME, record.to_json())
        with suppress(OSError):  # the folder has other files
            (old / RECORD_NAME).unlink()
            os.removedirs(old)
    except OSError as error:
        raise OutputError(f"cannot be moved: {error.strerror}", where=str(old)) from None
