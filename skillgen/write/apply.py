"""Carries out a plan: each file is the old one or the new one at any moment, wherever a run is interrupted.

The record is written before the files, with the old and the new text of each that is about to change, so that after
an interruption the next run knows both as skillgen's own. The caller holds the lock of OUT (`lock`).
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from skillgen.errors import OutputError
from skillgen.write.plan import Change, Plan, inside
from skillgen.write.record import RECORD_NAME, Record

_TEMPORARY = ".skillgen-"


def apply_plan(plan: Plan) -> None:
    """Replaces, creates and deletes files; those that are as they should be are not touched.

    Raises:
        OutputError: OUT cannot be written.
    """
    try:
        _remove_leftovers(plan.out)
        changed = [change for change in plan.drift if not change.edited]
        # A note is written where it moves to before it goes where it was.
        changed.sort(key=lambda change: (change.action == "delete", not change.takes_notes))
        if changed:
            _replace(plan.out, plan.out / RECORD_NAME, _between(plan).to_text().encode("utf-8"))
        # Where files exchange notes, each has both for a moment, so that none is in neither.
        for number, change in enumerate(changed):
            if change.between is not None:
                _apply(plan.out, replace(change, new=change.between))
                changed[number] = replace(change, old=change.between)
        for change in changed:
            _apply(plan.out, change)
        record = plan.after.to_text().encode("utf-8")
        path = plan.out / RECORD_NAME
        if not path.exists() or path.read_bytes() != record:
            _replace(plan.out, path, record)
    except OSError as error:
        raise OutputError(
            f"cannot be written: {error.strerror}",
            where=str(error.filename or plan.out),
            fix="check its permissions, or choose another folder with --out",
        ) from None


def _between(plan: Plan) -> Record:
    """Gives a record that is true before, during and after the run."""
    states = dict(plan.before.states)
    for path, new in plan.after.states.items():
        states[path] = tuple(dict.fromkeys((*states.get(path, ()), *new)))
    return replace(plan.before, states=states, inputs=None)


def _apply(out: Path, change: Change) -> None:
    target = inside(out, change.path)
    if change.action == "delete":
        # Somebody may have changed the file since the plan was made.
        if target.exists() and target.read_bytes() == change.old:
            target.unlink()
            _remove_empty_folders(out, target.parent)
    elif change.new is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        if (target.read_bytes() if target.exists() else None) != change.old:
            raise OutputError("changed while skillgen was running", where=str(target), fix="run the command again")
        _replace(out, target, change.new)


def _replace(out: Path, target: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=f"{_TEMPORARY}{os.getpid()}-", dir=out)
    temporary = Path(name)
    try:
        try:
            view = memoryview(content)
            while view:
                view = view[os.write(handle, view) :]
        finally:
            os.close(handle)
        temporary.chmod(_mode_of(target))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _remove_leftovers(out: Path) -> None:
    """Removes the temporary files of runs that were killed; on Windows there is no telling, and they stay."""
    for path in out.glob(f"{_TEMPORARY}*-*"):
        process = path.name.removeprefix(_TEMPORARY).partition("-")[0]
        if os.name == "posix" and process.isdigit() and not _is_running(int(process)):
            path.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _mode_of(target: Path) -> int:
    """Gives the mode that the file has, or that a new file would get."""
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        return 0o666 & ~_UMASK


def _remove_empty_folders(out: Path, folder: Path) -> None:
    while folder != out and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _read_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


_UMASK = _read_umask()
