"""What would happen to each file.

What would happen to the files of an OUT.

Compares documents with what stands in OUT, and decides what would happen to each file.

Nothing is changed here. What a person added is carried into the new text; a file in which they changed what skillgen
wrote, or that skillgen did not make, is never replaced or deleted unless they say so.

Carries out a plan: each file is the old one or the new one at any moment, wherever a run is interrupted.

The record is written before the files, with the old and the new text of each that is about to change, so that after
an interruption the next run knows both as skillgen's own. The caller holds the lock of OUT (`lock`).
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from skillgen.errors import EditedError, OutputError, Problem
from skillgen.write.edits import MarkerError
from skillgen.write.files import CAN_HOLD, Folder, folder_at, folder_below
from skillgen.write.line_diff import change_diff
from skillgen.write.merge import Homes, Regenerated, added_lines, is_only_added_to, regenerated
from skillgen.write.record import RECORD_NAME, Record, content_of, digests_of, lines_of, read_record, state_of, unpacked

FOREIGN = "not made by skillgen"
"""Why a file is not replaced of which the record knows nothing."""

Action = Literal["create", "replace", "delete", "keep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What would happen to one file."""

    path: str
    """Relative to OUT, with forward slashes."""

    action: Action
    """`keep` where the file is as it should be."""

    old: bytes | None
    """What stands there."""

    new: bytes | None
    """What would stand there."""

    edited: bool = False
    """Whether what stands there is not skillgen's to replace."""

    reason: str = ""
    """Why not."""

    edit: str = ""
    """What a person changed, as a unified diff."""

    takes_notes: bool = False
    """Whether words of a person move here from another file, which must not go before they have arrived."""

    between: bytes | None = None
    """What stands there first, where words move away too: the new text with them at its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What would happen to an OUT."""

    out: Path
    """The folder."""

    changes: tuple[Change, ...]
    """A change for each document and each file that is stale, sorted by path."""

    before: Record
    """What skillgen wrote last."""

    after: Record
    """What it will have written."""

    problems: tuple[Problem, ...] = ()
    """What a person should know of their own words."""

    @property
    def drift(self) -> tuple[Change, ...]:
        """Files that are not as they should be; those that skillgen may not delete are not among them."""
        return tuple(
            change
            for change in self.changes
            if change.action in ("create", "replace") or (change.action == "delete" and not change.edited)
        )

    @property
    def conflicts(self) -> tuple[Change, ...]:
        """Files that would have to be replaced, but hold edits or are not skillgen's."""
        return tuple(change for change in self.changes if change.edited and change.action == "replace")

    @property
    def diff(self) -> str:
        """The unified diff of all drift, as `patch` reads it."""
        return "".join(change_diff(change.path, change.old, change.new) for change in self.drift)


def plan_documents(
    out: Path,
    documents: Mapping[str, bytes],
    *,
    service: str,
    tools: Mapping[str, Any],
    types: Mapping[str, Any] | None = None,
    offers: Mapping[str, int] | None = None,
    owner: str | None = None,
    force: bool = False,
) -> Plan:
    """Compares documents (path to content) with OUT; with `force`, generated text wins over changes inside it.

    Raises:
        OutputError: something in OUT cannot be read, or a path leads outside it.
    """
    before = read_record(out)
    planning = _Planning(out=out, before=before, force=force)
    for path, content in documents.items():
        planning.document(path, content)
    for path in before.states:
        if path not in documents:
            planning.stale(path)
    planning.settle_notes(documents)
    states: dict[str, tuple[str, ...]] = {path: (state_of(content),) for path, content in documents.items()}
    states |= dict.fromkeys(planning.left_over, ("",))
    return Plan(
        out=out,
        changes=tuple(sorted(planning.changes.values(), key=lambda change: change.path)),
        before=before,
        after=Record(
            service=service,
            owner=owner,
            tools=tools,
            types=types or {},
            offers=offers or {},
            states=states,
            regions=planning.regions,
        ),
        problems=tuple(planning.problems),
    )


@dataclass(slots=True, kw_only=True)
class _Planning:
    """Decides file by file; notes whose place is gone come last, when all places are known."""

    out: Path
    before: Record
    force: bool
    changes: dict[str, Change] = field(default_factory=dict)
    merges: dict[str, Regenerated] = field(default_factory=dict)
    regions: dict[str, int] = field(default_factory=dict)
    left_over: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def document(self, path: str, new: bytes) -> None:
        """Decides on a file that skillgen would write."""
        old = content_at(self.out, path)
        if old is None:
            self.changes[path] = Change(path=path, action="create", old=None, new=new)
        elif old == new or lines_of(old) == lines_of(new):
            self.changes[path] = Change(path=path, action="keep", old=old, new=old)
        elif self.before.is_own(path, old):
            self.changes[path] = Change(path=path, action="replace", old=old, new=new)
        elif path not in self.before.states:
            self._foreign(path, old, new)
        else:
            self._edited(path, old, new)

    def stale(self, path: str) -> None:
        """Decides on a file that skillgen wrote and would write no more."""
        old = content_at(self.out, path)
        if old is None:
            return
        if self.before.states[path] == ("",):
            self.left_over.append(path)
            self.changes[path] = Change(path=path, action="keep", old=old, new=old)
            return
        if self.before.is_own(path, old):
            self.changes[path] = Change(path=path, action="delete", old=old, new=None)
            return
        made = self._best(path, old, b"")
        if made is None or (made.reason and not self.force):
            self.changes[path] = Change(path=path, action="delete", old=old, new=None, edited=True)
            self._tell(
                "stale-file-kept",
                path,
                "skillgen no longer writes this file; it was edited, so it stays",
                "delete it when its words are safe elsewhere",
            )
            return
        self.merges[path] = made
        self.changes[path] = Change(path=path, action="delete", old=old, new=None)

    def settle_notes(self, new: Mapping[str, bytes]) -> None:
        """Finds a place for each note whose section is gone, and gives the files their final text."""
        homes = Homes(new, self.merges)
        for path, made in list(self.merges.items()):
            for note in made.body.homeless:
                self.problems.append(homes.settle(path, note))
        for path, lines in homes.texts().items():
            content, change = content_of(lines), self.changes[path]
            old = change.old
            if path not in new:
                self.left_over.append(path)
            takes_notes = path in homes.receivers
            leaving = homes.leaving(path) if takes_notes else []
            between = content_of([*lines, "", *leaving]) if leaving else None
            if old is None:
                self.changes[path] = replace(change, new=content, takes_notes=takes_notes)
            elif lines_of(old) == lines and not change.edited:
                self.changes[path] = replace(change, action="keep", new=old)
            else:
                self.changes[path] = replace(
                    change, action="replace", new=content, takes_notes=takes_notes, between=between
                )

    def _foreign(self, path: str, old: bytes, new: bytes) -> None:
        """A file that the record does not have: skillgen's if it has all that skillgen would write, in order."""
        if is_only_added_to(path, state_of(new), old):
            self.changes[path] = Change(path=path, action="keep", old=old, new=old)
            return
        self.changes[path] = Change(
            path=path,
            action="replace",
            old=old,
            new=new,
            edited=not self.force,
            reason=FOREIGN,
            edit=change_diff(path, old, new),
        )

    def _edited(self, path: str, old: bytes, new: bytes) -> None:
        made = self._best(path, old, new)
        if made is None:
            self.changes[path] = Change(path=path, action="replace", old=old, new=new)  # broken markers, by force
            return
        if made.rewritten and self._is_merged(path, old, new):
            self.changes[path] = Change(path=path, action="keep", old=old, new=old)
            return
        reason = made.reason or ""
        if reason and made.regions < self.before.regions.get(path, 0):
            reason = "the markers of a region are gone; restore <!-- yours --> above it and <!-- /yours --> below it"
        self.merges[path] = made
        self.changes[path] = Change(
            path=path,
            action="replace",
            old=old,
            new=new,
            edited=bool(reason) and not self.force,
            reason=reason,
            edit=made.edit,
        )
        if made.regions:
            self.regions[path] = made.regions
        for title in made.body.outdated:
            self._tell(
                "replaced-text-changed",
                path,
                f"the generated text under {title!r} changed, and a region of yours stands in its place",
                "see whether your words still hold",
            )

    def _is_merged(self, path: str, old: bytes, new: bytes) -> bool:
        """Tells whether a file is the new text already, as a merge of branches leaves it, but for a person's lines."""
        added = added_lines(path, state_of(new), old)
        ever = {digest for state in self.before.states[path] for digest in unpacked(state)}
        return added is not None and not any(digest in ever for digest in digests_of(filter(None, added)))

    def _best(self, path: str, old: bytes, new: bytes) -> Regenerated | None:
        """Gives the file made anew from the text that it is nearest to; None for broken markers, by force.

        Raises:
            EditedError: the markers of a region are broken.
        """
        found: list[Regenerated] = []
        for state in self.before.states[path]:
            try:
                found.append(regenerated(path, state, old, new))
            except MarkerError as error:
                if self.force:
                    return None
                raise EditedError(
                    f"{path}, {error}; nothing was written",
                    where=str(self.out),
                    fix="restore the marker; or give --force, and skillgen's text replaces what was changed in it",
                    diff="",
                ) from None
        return min(found, key=lambda made: (made.reason is not None, made.edit.count("\n"), made.added))

    def _tell(self, code: str, path: str, message: str, fix: str) -> None:
        self.problems.append(Problem(code=code, level="warning", where=path, message=message, fix=fix))


def content_at(out: Path, path: str) -> bytes | None:
    """Gives what stands at a path of OUT.

    Raises:
        OutputError: it cannot be read, or lies outside OUT.
    """
    folder, _, name = path.rpartition("/")
    try:
        with folder_at(out, folder) as found:
            return None if found is None else found.read(name)
    except NotADirectoryError:
        place = out.joinpath(*path.split("/"))
        raise OutputError(
            "a file stands where a folder belongs", where=str(place.parent), fix="move it, or choose another --out"
        ) from None
    except OSError as error:
        place = out.joinpath(*path.split("/"))
        raise OutputError(f"cannot be read: {error.strerror}", where=str(place)) from None


_TEMPORARY = ".skillgen-"


def apply_plan(plan: Plan, out: Folder) -> None:
    """Replaces, creates and deletes files; those that are as they should be are not touched.

    `out` is the folder of the plan, held open.

    Raises:
        OutputError: OUT cannot be written.
    """
    path = RECORD_NAME
    try:
        _remove_leftovers(out)
        changed = [change for change in plan.drift if not change.edited]
        # A note is written where it moves to before it goes where it was.
        changed.sort(key=lambda change: (change.action == "delete", not change.takes_notes))
        if changed:
            _replace(out, out, RECORD_NAME, _between(plan).to_text().encode("utf-8"))
        # Where files exchange notes, each has both for a moment, so that none is in neither.
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
        if lines_of(out.read(RECORD_NAME) or b"") != lines_of(record):  # a checkout may have other line ends
            _replace(out, out, RECORD_NAME, record)
    except OSError as error:
        raise OutputError(
            f"cannot be written: {error.strerror}",
            where=str(plan.out.joinpath(*path.split("/"))),
            fix="check its permissions, or choose another folder with --out",
        ) from None


def _between(plan: Plan) -> Record:
    """Gives a record that is true before, during and after the run."""
    states = dict(plan.before.states)
    for path, new in plan.after.states.items():
        states[path] = tuple(dict.fromkeys((*states.get(path, ()), *new)))
    return replace(plan.before, states=states)


def _apply(out: Folder, change: Change) -> None:
    path, _, name = change.path.rpartition("/")
    with folder_below(out, path, make=change.action != "delete") as folder:
        if folder is None:
            return
        content = folder.read(name)
        if change.action == "delete":
            # Somebody may have changed the file since the plan was made.
            if content is not None and content == change.old:
                folder.delete(name)
        elif change.new is not None:
            if content != change.old:
                place = str(folder.path / name)
                raise OutputError("changed while skillgen was running", where=place, fix="run the command again")
            _replace(out, folder, name, change.new)
    if change.action == "delete":
        _remove_empty_folders(out, path)


def _replace(out: Folder, folder: Folder, name: str, content: bytes) -> None:
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
    """Removes the temporary files of runs that were killed; on Windows there is no telling, and they stay."""
    for name in out.names() if os.name == "posix" else ():
        process = name.removeprefix(_TEMPORARY).partition("-")[0]
        if name.startswith(_TEMPORARY) and process.isdigit() and not _is_running(int(process)):
            with contextlib.suppress(FileNotFoundError):
                out.delete(name)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _mode_of(folder: Folder, name: str) -> int:
    """Gives the mode that the file has, or that a new file would get."""
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
            except OSError:  # somebody else's file is in it
                return
        path = above


def _read_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


_UMASK = _read_umask()
