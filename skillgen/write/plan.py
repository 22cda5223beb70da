"""Decides what to do with each file of an OUT, and does it.

`plan_documents` changes nothing. It carries a person's additions into the new text. A file in which a person changed
generated text, or that skillgen did not write, is never replaced or deleted without `--force`.

`apply_plan` replaces files atomically: each is the old one or the new one, wherever a run is interrupted. It writes the
record before the files, with the old and the new state of each changed file, so that after an interruption the next run
recognises both as skillgen's own. The caller holds the lock of OUT (`lock_folder`).
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from skillgen.errors import EditedError, OutputError, Problem, ProblemLog
from skillgen.write.edits import MarkerError
from skillgen.write.files import CAN_HOLD, Folder, folder_at, folder_below
from skillgen.write.line_diff import change_diff, is_binary
from skillgen.write.merge import (
    BROKEN_JSON,
    UNMERGED,
    Regeneration,
    SectionIndex,
    added_lines,
    generated_digests,
    regenerate,
    resolve_generated,
)
from skillgen.write.record import (
    RECORD_NAME,
    Record,
    content_of,
    digests_of,
    joined_states,
    lines_of,
    read_record,
    state_of,
)

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

    edited: bool = False
    """Whether skillgen may not replace or delete the file."""

    reason: str = ""
    """Why not."""

    edit: str = ""
    """A person's changes, as a unified diff."""

    takes_notes: bool = False
    """Whether a person's text moves here from another file, from which it must not be removed before it is written
    here."""

    between: bytes | None = None
    """The content to write first if text also moves away from this file: the new content followed by that text."""


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

    @property
    def drift(self) -> tuple[Change, ...]:
        """The files that are not up to date, without those that skillgen may not delete."""
        return tuple(
            change
            for change in self.changes
            if change.action in ("create", "replace") or (change.action == "delete" and not change.edited)
        )

    @property
    def conflicts(self) -> tuple[Change, ...]:
        """The files to replace that hold edits or are not skillgen's."""
        return tuple(change for change in self.changes if change.edited and change.action == "replace")

    @property
    def diff(self) -> str:
        """The unified diff of all drift, as `patch` reads it."""
        return "".join(change_diff(change.path, change.old, change.new) for change in self.drift)


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
    before = read_record(out)
    planning = _Planning(out=out, before=before, force=force)
    for path, content in documents.items():
        if path in artifacts:
            planning.artifact(path, content)
        else:
            planning.document(path, content)
    for path in before.states:
        if path not in documents and path not in kept:
            planning.stale(path)
    planning.relocate_notes({path: content for path, content in documents.items() if path not in artifacts})
    states: dict[str, tuple[str, ...]] = {path: (state_of(content),) for path, content in documents.items()}
    states |= dict.fromkeys(planning.left_over, ("",)) | {path: before.states[path] for path in kept}
    planning.regions |= {path: count for path, count in before.regions.items() if path in kept}
    return Plan(
        out=out,
        changes=tuple(sorted(planning.changes.values(), key=lambda change: change.path)),
        before=before,
        after=replace(record, states=states, regions=planning.regions),
        problems=tuple(planning.problems),
    )


class _Planning(Struct, kw_only=True):
    """Decides file by file. Notes are relocated last, when all sections are known."""

    out: Path
    before: Record
    force: bool
    changes: dict[str, Change] = field(default_factory=dict)
    merges: dict[str, Regeneration] = field(default_factory=dict)
    regions: dict[str, int] = field(default_factory=dict)
    left_over: list[str] = field(default_factory=list)
    problems: ProblemLog = field(default_factory=ProblemLog)

    def document(self, path: str, new: bytes) -> None:
        """Decides on a file that skillgen would write."""
        old = _content_at(self.out, path)
        if old is None:
            self._set(path, "create", None, new)
        elif old == new or lines_of(old) == lines_of(new):
            self._set(path, "keep", old, old)
        elif self.before.is_own(path, old):
            self._set(path, "replace", old, new)
        elif path in self.before.states:
            self._edited(path, old, new)
        elif added_lines(path, state_of(new), old) is not None:  # it has every generated line, in order
            self._set(path, "keep", old, old)
        else:
            edit = change_diff(path, old, new)
            self._set(path, "replace", old, new, edited=not self.force, reason=FOREIGN, edit=edit)

    def artifact(self, path: str, new: bytes) -> None:
        """Decides on a file that is written byte for byte; other line ends are a difference."""
        old = _content_at(self.out, path)
        if old is None:
            self._set(path, "create", None, new)
        elif old == new:
            self._set(path, "keep", old, old)
        elif self.force or self.before.is_own(path, old) or self._is_generated(path, old):
            self._set(path, "replace", old, new)
        else:
            reason = CHANGED_ARTIFACT if path in self.before.states else FOREIGN
            self._set(path, "replace", old, new, edited=True, reason=reason, edit=change_diff(path, old, new))

    def _is_generated(self, path: str, old: bytes) -> bool:
        """True if an artifact has lines of several states and no others, as after a merge of branches."""
        states = self.before.states.get(path, ())
        if len(states) < 2 or is_binary(old):
            return False
        return generated_digests(states).issuperset(digests_of(resolve_generated(lines_of(old), states)))

    def stale(self, path: str) -> None:
        """Decides on a file that skillgen wrote and no longer writes."""
        old = _content_at(self.out, path)
        if old is None:
            return
        if self.before.states[path] == ("",):
            self.left_over.append(path)
            self._set(path, "keep", old, old)
        elif self.before.is_own(path, old):
            self._set(path, "delete", old, None)
        elif (
            not is_binary(old)
            and (merge := self._best_merge(path, old, b"")) is not None
            and not self._is_refused(merge)
        ):
            self.merges[path] = merge
            self._set(path, "delete", old, None)
        else:
            self._set(path, "delete", old, None, edited=True)
            message = "skillgen no longer writes this file; it was edited, so it is not deleted"
            self.problems.report("stale-file-kept", path, message)

    def _set(self, path: str, action: Action, old: bytes | None, new: bytes | None, **details: Any) -> None:
        self.changes[path] = Change(path=path, action=action, old=old, new=new, **details)

    def relocate_notes(self, new: Mapping[str, bytes]) -> None:
        """Relocates the notes of removed sections, and sets the final content of the files."""
        index = SectionIndex(new, self.merges)
        for path, merge in list(self.merges.items()):
            for note in merge.body.orphaned:
                self.problems.add(index.relocate(path, note))
        for path, lines in index.texts().items():
            content, change = content_of(lines), self.changes[path]
            if path not in new:
                self.left_over.append(path)
            takes_notes = path in index.receivers
            moved_lines = index.moved_lines.get(path, []) if takes_notes else []
            between = content_of([*lines, "", *moved_lines]) if moved_lines and change.old is not None else None
            if change.old is not None and lines_of(change.old) == lines and not change.edited:
                self.changes[path] = replace(change, action="keep", new=change.old)
            else:
                action: Action = "create" if change.old is None else "replace"
                self.changes[path] = replace(
                    change, action=action, new=content, takes_notes=takes_notes, between=between
                )

    def _edited(self, path: str, old: bytes, new: bytes) -> None:
        merge = self._best_merge(path, old, new)
        if merge is None:
            self._set(path, "replace", old, new)  # --force despite broken markers
            return
        reason = merge.reason or ""
        if reason == BROKEN_JSON and self.force:
            self._set(path, "replace", old, new)
            return
        if reason and merge.regions < self.before.regions.get(path, 0):
            reason = "the markers of a region are gone; restore <!-- yours --> above it and <!-- /yours --> below it"
        self.merges[path] = merge
        self._set(path, "replace", old, new, edited=self._is_refused(merge), reason=reason, edit=merge.edit)
        if merge.regions:
            self.regions[path] = merge.regions
        for title in merge.body.outdated:
            message = f"the generated text under {title!r} changed, but your region replaces it"
            self.problems.report("replaced-text-changed", path, message)

    def _is_refused(self, merge: Regeneration) -> bool:
        """True if the merge must not be written: `--force` does not say which side of a conflict is wanted."""
        return merge.reason == UNMERGED or (merge.reason is not None and not self.force)

    def _best_merge(self, path: str, old: bytes, new: bytes) -> Regeneration | None:
        """Returns the merge based on the state that is closest to the file; `None` for broken markers with `--force`.

        Raises:
            EditedError: the markers of a region are broken.
        """
        merges: list[Regeneration] = []
        states = self.before.states[path]
        for number, state in enumerate(states):
            try:
                merges.append(regenerate(path, (state, *states[:number], *states[number + 1 :]), old, new))
            except MarkerError as error:
                if self.force:
                    return None
                what = f"{path}, {error}; nothing was written"
                fix = "restore the marker; or give --force, and skillgen's text replaces what was changed in it"
                raise EditedError(what, where=str(self.out), fix=fix, diff="") from None
        return min(merges, key=lambda merge: (merge.reason is not None, merge.edit.count("\n"), merge.added))


def _content_at(out: Path, path: str) -> bytes | None:
    """Returns the content of a file in OUT; `None` if it does not exist.

    Raises:
        OutputError: it cannot be read, or is outside OUT.
    """
    folder, _, name = path.rpartition("/")
    place = out.joinpath(*path.split("/"))
    try:
        with folder_at(out, folder) as opened:
            return None if opened is None else opened.read(name)
    except NotADirectoryError:
        raise OutputError(
            "is a file, but must be a folder", where=str(place.parent), fix="move it, or choose another --out"
        ) from None
    except OSError as error:
        raise OutputError(f"cannot be read: {error.strerror}", where=str(place)) from None


_TEMPORARY = ".skillgen-"


def apply_plan(plan: Plan, out: Folder) -> None:
    """Creates, replaces and deletes files; up-to-date files are not touched.

    `out` is the folder of the plan, held open.

    Raises:
        OutputError: OUT cannot be written.
    """
    path = RECORD_NAME
    try:
        _remove_leftovers(out)
        changed = [change for change in plan.drift if not change.edited]
        # A note is written to its new file before it is removed from the old one.
        changed.sort(key=lambda change: (change.action == "delete", not change.takes_notes))
        if changed:
            replace_in(out, out, RECORD_NAME, _interim_record(plan).to_text().encode("utf-8"))
        # Files that exchange notes have both for a moment, so that no note is lost if the run is interrupted.
        for number, change in enumerate(changed):
            path = change.path
            if change.between is not None:
                _apply(out, replace(change, new=change.between))
                changed[number] = replace(change, old=change.between)
        for change in changed:
            path = change.path
            _apply(out, change)
        path = RECORD_NAME
        record = plan.after.to_text().encode("utf-8")
        if lines_of(out.read(RECORD_NAME) or b"") != lines_of(record):  # a checkout may have changed the line ends
            replace_in(out, out, RECORD_NAME, record)
    except OSError as error:
        place = str(plan.out.joinpath(*path.split("/")))
        raise OutputError(f"cannot be written: {error.strerror}", where=place) from None


def _interim_record(plan: Plan) -> Record:
    """Returns a record that is true before, during and after the run."""
    record = plan.before if any(map(any, plan.before.states.values())) else plan.after
    return replace(record, states=joined_states(plan.before.states, plan.after.states))


def _apply(out: Folder, change: Change) -> None:
    path, _, name = change.path.rpartition("/")
    with folder_below(out, path, make=change.action != "delete") as folder:
        if folder is None:
            return
        content = folder.read(name)
        if change.action == "delete":
            # The file may have been changed after planning.
            if content is not None and content == change.old:
                folder.delete(name)
        elif change.new is not None:
            if content != change.old:
                place = str(folder.path / name)
                raise OutputError("changed while skillgen was running", where=place, fix="run the command again")
            replace_in(out, folder, name, change.new)
    if change.action == "delete":
        _remove_empty_folders(out, path)


def replace_in(out: Folder, folder: Folder, name: str, content: bytes) -> None:
    """Writes a file of a folder below OUT atomically."""
    temporary = f"{_TEMPORARY}{os.getpid()}-{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    mode = _mode_of(folder, name)
    handle = os.open(out.at(temporary), flags, 0o600, dir_fd=out.handle)
    try:
        try:
            view = memoryview(content)
            while view:
                view = view[os.write(handle, view) :]
            if CAN_HOLD:
                os.fchmod(handle, mode)
        finally:
            os.close(handle)
        if CAN_HOLD:
            os.rename(out.at(temporary), folder.at(name), src_dir_fd=out.handle, dst_dir_fd=folder.handle)
        else:
            (out.path / temporary).replace(folder.path / name)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            out.delete(temporary)
        raise


def _remove_leftovers(out: Folder) -> None:
    """Removes temporary files of killed runs, except on Windows, where a process cannot be checked for existence this
    way."""
    for name in out.names() if os.name == "posix" else ():
        process = name.removeprefix(_TEMPORARY).partition("-")[0]
        if name.startswith(_TEMPORARY) and process.isdigit() and not _is_running(int(process)):
            with contextlib.suppress(FileNotFoundError):
                out.delete(name)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True


def _mode_of(folder: Folder, name: str) -> int:
    """Returns the mode of the file, or the default mode of a new file."""
    try:
        return os.stat(folder.at(name), dir_fd=folder.handle, follow_symlinks=False).st_mode & 0o777
    except FileNotFoundError:
        return 0o666 & ~_UMASK


def _remove_empty_folders(out: Folder, path: str) -> None:
    while path:
        above, _, name = path.rpartition("/")
        with folder_below(out, above) as folder:
            try:
                if folder is None:
                    return
                os.rmdir(folder.at(name), dir_fd=folder.handle)
            except OSError:  # it is not empty
                return
        path = above


def _read_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


_UMASK = _read_umask()
