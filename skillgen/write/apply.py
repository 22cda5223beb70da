"""Carries out a plan: each file is the old one or the new one at any moment, wherever a run is interrupted.

The record is written before the files, with the old and the new text of each that is about to change, so that after
an interruption the next run knows both as skillgen's own. The caller holds the lock of OUT (`lock`).
"""

from __future__ import annotations

import contextlib
import os
import secrets
from dataclasses import replace

from skillgen.errors import OutputError
from skillgen.write.folder import CAN_HOLD, Folder, folder_below
from skillgen.write.lines import lines_of
from skillgen.write.plan import Change, Plan
from skillgen.write.record import RECORD_NAME, Record

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
