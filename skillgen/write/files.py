"""A folder held open, locked, never left by a link.

A folder below OUT, held open while something is done in it.

Where the system can, each part of the way is opened from the one before, and no symbolic link is followed: one that is
put there while a run goes on leads nowhere. Links that stand in OUT and lead to another place in it are followed once,
before. Elsewhere the way is looked at, and then used.

One run at a time on one OUT. A lock ends with the process that has it, so none is ever stale.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from skillgen.errors import OutputError

CAN_HOLD = {os.open, os.mkdir, os.unlink, os.rmdir, os.rename} <= os.supports_dir_fd and os.scandir in os.supports_fd
"""Whether folders can be held open."""

_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = _READ | _NO_LINK | getattr(os, "O_DIRECTORY", 0)
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)
"""A pipe that nobody writes to is not waited for."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that is held open."""

    path: Path
    """Where it was found."""

    handle: int | None
    """The open folder; none where that can't be."""

    def at(self, name: str) -> str:
        """Gives what a call of the system takes for an entry, with `handle` for its folder."""
        return name if self.handle is not None else str(self.path / name)

    def read(self, name: str) -> bytes | None:
        """Gives a file's content; `None` where there is none.

        Raises:
            OutputError: it is no file, or a symbolic link.
            OSError: it cannot be read.
        """
        try:
            if self.handle is None and (self.path / name).is_symlink():
                raise outside_error(self.path / name)
            handle = os.open(self.at(name), _READ | _NO_LINK | _AT_ONCE, dir_fd=self.handle)
        except FileNotFoundError:
            return None
        except OSError:
            if (self.path / name).is_symlink():
                raise outside_error(self.path / name) from None
            if (self.path / name).exists() and not (self.path / name).is_file():
                raise _no_file(self.path / name) from None
            raise
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise _no_file(self.path / name)
            return file.read()

    def delete(self, name: str) -> None:
        """Deletes a file."""
        os.unlink(self.at(name), dir_fd=self.handle)

    def names(self) -> list[str]:
        """Gives the names of its entries."""
        with os.scandir(self.path if self.handle is None else self.handle) as entries:
            return [entry.name for entry in entries]


@contextmanager
def folder_below(out: Folder, path: str, *, make: bool = False) -> Iterator[Folder | None]:
    """Opens a folder below OUT by its path with forward slashes; `None` where it is not there and is not to be made.

    Raises:
        OutputError: the way leads outside OUT, or a file stands in it.
    """
    place = out.path.joinpath(*path.split("/")) if path else out.path
    parts = _parts_below(out.path, place)
    if out.handle is None:
        if make:
            place.mkdir(parents=True, exist_ok=True)
        yield Folder(place, None) if place.is_dir() else None
        return
    handle = os.dup(out.handle)
    try:
        for part in parts:
            below = _opened(handle, part, place, make=make)
            os.close(handle)
            handle = below
            if handle < 0:
                break
        yield Folder(place, handle) if handle >= 0 else None
    finally:
        if handle >= 0:
            os.close(handle)


@contextmanager
def folder_at(out: Path, path: str) -> Iterator[Folder | None]:
    """Opens a folder below an OUT that nobody holds; `None` where it is not there.

    Raises:
        OutputError: the way leads outside OUT.
        OSError: OUT or the folder can't be opened.
    """
    if not CAN_HOLD:
        with folder_below(Folder(out, None), path) as found:
            yield found
        return
    try:
        handle = os.open(out, _READ | getattr(os, "O_DIRECTORY", 0))
    except FileNotFoundError:
        yield None
        return
    try:
        with folder_below(Folder(out, handle), path) as found:
            yield found
    finally:
        os.close(handle)


def is_below(folder: Path, out: Path) -> bool:
    """Tells whether a folder is below OUT, also where symbolic links lead."""
    try:
        return folder.resolve().is_relative_to(out.resolve())
    except (OSError, RuntimeError):  # symbolic links in a circle
        return False


def _opened(handle: int, part: str, place: Path, *, make: bool) -> int:
    """Opens one part of the way; -1 where it is not there."""
    for is_second in (False, True):
        try:
            return os.open(part, _FOLDER, dir_fd=handle)
        except FileNotFoundError:
            if not make or is_second:
                return -1
            try:
                os.mkdir(part, dir_fd=handle)
            except FileExistsError:
                continue
        except OSError:
            try:
                is_link = stat.S_ISLNK(os.stat(part, dir_fd=handle, follow_symlinks=False).st_mode)
            except OSError:
                is_link = False
            if is_link:
                raise outside_error(place) from None
            raise
    return -1


def _parts_below(out: Path, place: Path) -> tuple[str, ...]:
    try:
        return place.resolve().relative_to(out.resolve()).parts
    except (OSError, RuntimeError, ValueError):  # symbolic links in a circle, or one that leads out
        raise outside_error(place) from None


def outside_error(place: Path) -> OutputError:
    """Gives the error of a place that a symbolic link leads away from."""
    return OutputError("leads outside OUT", where=str(place), fix="remove the symbolic link")


def _no_file(place: Path) -> OutputError:
    return OutputError("is not a file", where=str(place), fix="move it, or choose another --out")


PATIENCE_S = 60.0
"""How long to wait for another run; comparing and writing take a few seconds at the most."""

_STEP_S = 0.05


@contextmanager
def lock_folder(out: Path, within: Path | None = None) -> Iterator[Folder]:
    """Keeps other runs of skillgen out of a folder; makes it, leaves nothing in it, and gives it held open.

    `within` is the folder that the user named, where this one's name is not theirs.

    Raises:
        OutputError: the folder cannot be made, leads out of the one that it is in, or another run has it for longer
            than `PATIENCE_S`.
    """
    try:
        refuse_outside(out, within)
        out.mkdir(parents=True, exist_ok=True)
        handle = _opened_for_lock(out)
    except (FileExistsError, NotADirectoryError):
        raise OutputError(
            "a file stands where a folder belongs", where=str(out), fix="move it, or choose another --out"
        ) from None
    except OSError as error:
        raise OutputError(
            f"cannot be written: {error.strerror}",
            where=str(error.filename or out),
            fix="check its permissions, or choose another folder with --out",
        ) from None
    try:
        end = time.monotonic() + PATIENCE_S
        while not _is_taken(handle):
            if time.monotonic() > end:
                raise OutputError("another run of skillgen is writing here", where=str(out), fix="wait for its end")
            time.sleep(_STEP_S)
        refuse_outside(out, within)
        yield Folder(out, handle if _is_held(handle, out) else None)
    finally:
        os.close(handle)


def refuse_outside(out: Path, within: Path | None) -> None:
    """Refuses a folder that a symbolic link leads out of the one that the user named.

    Raises:
        OutputError: it does.
    """
    if within is not None and not is_below(out, within):
        raise outside_error(out)


if os.name == "posix":
    import errno
    import fcntl

    def _is_held(handle: int, out: Path) -> bool:
        """Tells whether the handle is the folder's; another one may have come into its place."""
        if not os.path.samestat(os.fstat(handle), out.stat()):
            raise OutputError("changed while skillgen was running", where=str(out), fix="run the command again")
        return CAN_HOLD

    def _opened_for_lock(out: Path) -> int:
        return os.open(out, os.O_RDONLY | os.O_CLOEXEC)

    def _is_taken(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Some network file systems lock no folders; what is left there is that each file is replaced at once.
            return error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EINTR)
        return True

else:
    import msvcrt

    def _is_held(handle: int, out: Path) -> bool:
        return False

    def _opened_for_lock(out: Path) -> int:
        name = hashlib.sha256(str(out.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return os.open(Path(tempfile.gettempdir(), f"skillgen-{name}.lock"), os.O_RDWR | os.O_CREAT)

    def _is_taken(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
