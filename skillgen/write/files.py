"""Access to OUT: a folder held open and locked, which no symbolic link leads out of.

Where the system supports it, each part of a path is opened relative to the one before without following symbolic links,
so that a link created during a run has no effect. A path with a link that leads to another place in OUT is resolved
first. Elsewhere (Windows) a path is checked and then used. A lock allows one run at a time on one OUT; it is released
when its process exits, so it is never stale.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from skillgen.errors import OutputError

CAN_HOLD = {os.open, os.mkdir, os.unlink, os.rmdir, os.rename} <= os.supports_dir_fd and os.scandir in os.supports_fd
"""Whether the system supports paths relative to an open folder."""

_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = _READ | _NOFOLLOW | getattr(os, "O_DIRECTORY", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
"""Opens a named pipe without waiting for a writer."""


class Folder(Struct, frozen=True):
    """A folder that is held open."""

    path: Path
    handle: int | None
    """The descriptor of the open folder; `None` if unsupported."""

    def at(self, name: str) -> str:
        """Returns the path of an entry for a system call that gets `handle` as `dir_fd`."""
        return name if self.handle is not None else str(self.path / name)

    def read(self, name: str) -> bytes | None:
        """Returns a file's content; `None` if there is no such file.

        Raises:
            OutputError: it is not a file, or it is a symbolic link.
            OSError: it cannot be read.
        """
        try:
            if self.handle is None and (self.path / name).is_symlink():
                raise _outside_error(self.path / name)
            handle = os.open(self.at(name), _READ | _NOFOLLOW | _NONBLOCK, dir_fd=self.handle)
        except FileNotFoundError:
            return None
        except OSError:
            if (self.path / name).is_symlink():
                raise _outside_error(self.path / name) from None
            if (self.path / name).exists() and not (self.path / name).is_file():
                raise _not_a_file_error(self.path / name) from None
            raise
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise _not_a_file_error(self.path / name)
            return file.read()

    def delete(self, name: str) -> None:
        """Deletes a file."""
        os.unlink(self.at(name), dir_fd=self.handle)

    def names(self) -> list[str]:
        """Returns the names of the entries."""
        with os.scandir(self.path if self.handle is None else self.handle) as entries:
            return [entry.name for entry in entries]


@contextmanager
def folder_below(out: Folder, path: str, *, make: bool = False) -> Iterator[Folder | None]:
    """Opens a folder below OUT by its path with forward slashes; `None` if it does not exist and `make` is false.

    Raises:
        OutputError: the path leads outside OUT.
        OSError: a part of the path is not a folder.
    """
    place = out.path.joinpath(*path.split("/")) if path else out.path
    if out.handle is None:
        _parts_below(out.path, place)
        if make:
            place.mkdir(parents=True, exist_ok=True)
        yield Folder(place, None) if place.is_dir() else None
        return
    parts = place.parts[len(out.path.parts) :]
    handle = None if ".." in parts else _open_parts(out.handle, parts, make=make)
    if handle is None:
        handle = _open_parts(out.handle, _parts_below(out.path, place), make=make)
    if handle is None:
        raise _outside_error(place)
    try:
        yield Folder(place, handle) if handle >= 0 else None
    finally:
        if handle >= 0:
            os.close(handle)


@contextmanager
def folder_at(out: Path, path: str) -> Iterator[Folder | None]:
    """Opens a folder below an OUT that is not held open; `None` if it does not exist.

    Raises:
        OutputError: the path leads outside OUT.
        OSError: OUT or the folder cannot be opened.
    """
    if not CAN_HOLD:
        with folder_below(Folder(out, None), path) as folder:
            yield folder
        return
    try:
        handle = os.open(out, _READ | getattr(os, "O_DIRECTORY", 0))
    except FileNotFoundError:
        yield None
        return
    try:
        with folder_below(Folder(out, handle), path) as folder:
            yield folder
    finally:
        os.close(handle)


def is_below(folder: Path, out: Path) -> bool:
    """True if a folder is below OUT after resolving symbolic links."""
    try:
        return folder.resolve().is_relative_to(out.resolve())
    except (OSError, RuntimeError, ValueError):  # circular symbolic links, or a null character
        return False


def _open_parts(out: int, parts: Sequence[str], *, make: bool) -> int | None:
    """Opens a folder below OUT; returns -1 if it does not exist, and `None` if a part is a symbolic link."""
    handle: int | None = os.dup(out)
    for part in parts:
        if handle is None or handle < 0:
            break
        above = handle
        try:
            handle = _open_part(above, part, make=make)
        finally:
            os.close(above)
    return handle


def _open_part(handle: int, part: str, *, make: bool) -> int | None:
    try:
        return os.open(part, _FOLDER, dir_fd=handle)
    except FileNotFoundError:
        if not make:
            return -1
    except OSError:
        if stat.S_ISLNK(os.stat(part, dir_fd=handle, follow_symlinks=False).st_mode):
            return None
        raise
    with suppress(FileExistsError):
        os.mkdir(part, dir_fd=handle)
    return os.open(part, _FOLDER, dir_fd=handle)


def _parts_below(out: Path, place: Path) -> tuple[str, ...]:
    try:
        return place.resolve().relative_to(out.resolve()).parts
    except (OSError, RuntimeError, ValueError):  # circular symbolic links, or one that leads out
        raise _outside_error(place) from None


def _outside_error(place: Path) -> OutputError:
    return OutputError("leads outside OUT", where=str(place), fix="remove the symbolic link")


def _not_a_file_error(place: Path) -> OutputError:
    return OutputError("is not a file", where=str(place), fix="move it, or choose another --out")


def replace_file(path: Path, fill: Callable[[Path], object]) -> None:
    """Replaces a file atomically; `fill` gets the path of the new one, which does not exist yet.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():  # such as /dev/stdout
        fill(path)
        return
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".skillgen-") as folder:
        temporary = Path(folder, path.name)
        fill(temporary)
        temporary.replace(path)


LOCK_TIMEOUT_S = 60.0
"""Seconds to wait for another run; comparing and writing take a few seconds at most."""

_LOCK_POLL_S = 0.05


@contextmanager
def lock_folder(out: Path, within: Path | None = None) -> Iterator[Folder]:
    """Creates a folder if necessary, locks it against other runs of skillgen, and holds it open; the lock leaves no
    file in it.

    `within` is the folder that the user named, if the name of `out` comes from the source.

    Raises:
        OutputError: the folder cannot be created, is outside `within`, or another run holds the lock for longer than
            `LOCK_TIMEOUT_S`.
    """
    try:
        refuse_outside(out, within)
        out.mkdir(parents=True, exist_ok=True)
        handle = _open_for_lock(out)
    except (FileExistsError, NotADirectoryError):
        raise OutputError(
            "is a file, but must be a folder", where=str(out), fix="move it, or choose another --out"
        ) from None
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror}", where=str(error.filename or out)) from None
    try:
        deadline = time.monotonic() + LOCK_TIMEOUT_S
        while not _try_lock(handle):
            if time.monotonic() > deadline:
                raise OutputError(
                    "another run of skillgen is writing here", where=str(out), fix="wait until it has finished"
                )
            time.sleep(_LOCK_POLL_S)
        refuse_outside(out, within)
        yield Folder(out, handle if _is_held(handle, out) else None)
    finally:
        os.close(handle)


def refuse_outside(out: Path, within: Path | None) -> None:
    """Checks that no symbolic link leads from `out` to a folder outside of `within`.

    Raises:
        OutputError: one does.
    """
    if within is not None and not is_below(out, within):
        raise _outside_error(out)


if os.name == "posix":
    import errno
    import fcntl

    def _is_held(handle: int, out: Path) -> bool:
        """True if the descriptor can be used for relative paths. Another folder may have replaced this one
        meanwhile."""
        if not os.path.samestat(os.fstat(handle), out.stat()):
            raise OutputError("changed while skillgen was running", where=str(out), fix="run the command again")
        return CAN_HOLD

    def _open_for_lock(out: Path) -> int:
        return os.open(out, os.O_RDONLY | os.O_CLOEXEC)

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Some network file systems cannot lock folders. There, only each single file is replaced atomically.
            return error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EINTR)
        return True

else:
    import msvcrt

    def _is_held(handle: int, out: Path) -> bool:
        return False

    def _open_for_lock(out: Path) -> int:
        name = hashlib.sha256(str(out.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return os.open(Path(tempfile.gettempdir(), f"skillgen-{name}.lock"), os.O_RDWR | os.O_CREAT)

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
