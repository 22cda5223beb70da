"""Access to OUT: a folder held open and locked, which no symbolic link leads out of.

Where the system supports it, each part of a path is opened relative to the one before without following symbolic links,
so that a link created during a run has no effect. A path with a link that leads to another place in OUT is resolved
first. Elsewhere (Windows) a path is checked and then used. A lock allows one run at a time on one OUT; it is released
when its process exits, so it is never stale.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import accumulate, islice
from pathlib import Path

from msgspec import Struct

from skillgen.errors import OutputError
from skillgen.text import lazy_re as re

CAN_HOLD = {os.open, os.mkdir, os.unlink, os.rmdir, os.rename} <= os.supports_dir_fd and os.scandir in os.supports_fd
"""Whether the system supports paths relative to an open folder."""

_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = _READ | _NOFOLLOW | getattr(os, "O_DIRECTORY", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
"""Opens a named pipe without waiting for a writer."""

_TEMPORARY = re.compile(r"\.skillgen-[0-9a-f]{16}\.tmp")


class Folder(Struct, frozen=True):
    """A folder that is held open; paths below it have forward slashes."""

    path: str
    handle: int | None
    """The descriptor of the open folder; `None` if unsupported."""

    def at(self, name: str) -> str:
        """Returns the path of an entry for a system call that gets `handle` as `dir_fd`."""
        return name if self.handle is not None else f"{self.path}/{name}"

    def names(self) -> list[str]:
        """Returns the names of the entries."""
        with os.scandir(self.path if self.handle is None else self.handle) as entries:
            return [entry.name for entry in entries]

    @contextmanager
    def below(self, path: str, *, make: bool = False) -> Iterator[Folder]:
        """Opens a folder below this one.

        Raises:
            OutputError: the path leads outside this folder.
            OSError: a part of the path is not a folder, or does not exist and `make` is false.
        """
        parts, handle = self._parts_of(path), self.handle
        if handle is None and make:
            Path(self.path, *parts).mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            for part in parts:
                if handle is not None:
                    handle = _open_part(handle, part, make=make)
                    stack.callback(os.close, handle)
            yield Folder(f"{self.path}/{path}", handle)

    def _parts_of(self, path: str) -> Sequence[str]:
        """Returns the parts of the path of a folder, none of which is a symbolic link.

        Raises:
            OutputError: the path leads outside this folder.
        """
        parts = path.split("/") if path else []
        places = accumulate(parts, "{}/{}".format, initial=self.path)
        # On other systems a part may lead out in other ways: a junction, a drive, a backslash.
        if CAN_HOLD and {"", ".", ".."}.isdisjoint(parts) and not any(map(os.path.islink, islice(places, 1, None))):
            return parts
        place = Path(self.path, path)
        try:
            return place.resolve().relative_to(Path(self.path).resolve()).parts
        except (OSError, RuntimeError, ValueError):  # circular symbolic links, or one that leads out
            raise _outside_error(place) from None

    def read(self, path: str) -> bytes | None:
        """Returns the content of a file; `None` if there is no such file.

        Raises:
            OutputError: it is not a file, it is a symbolic link, or the path leads outside this folder.
            OSError: it cannot be read.
        """
        above, _, name = path.rpartition("/")
        place = Path(self.path, path)
        try:
            with self.below(above) as folder:
                if place.is_symlink():
                    raise _outside_error(place)
                handle = os.open(folder.at(name), _READ | _NOFOLLOW | _NONBLOCK, dir_fd=folder.handle)
        except FileNotFoundError:
            return None
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OutputError("is not a file", where=str(place), fix="move it, or choose another --out")
            return file.read()

    def replace(self, path: str, content: bytes) -> None:
        """Writes a file atomically; it keeps its mode.

        Raises:
            OutputError: the path leads outside this folder.
            OSError: it cannot be written.
        """
        above, _, name = path.rpartition("/")
        temporary = f".skillgen-{secrets.token_hex(8)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | getattr(os, "O_BINARY", 0)
        with self.below(above, make=True) as folder:
            mode = 0
            with suppress(FileNotFoundError):
                mode = os.stat(folder.at(name), dir_fd=folder.handle, follow_symlinks=False).st_mode
            handle = os.open(self.at(temporary), flags, 0o666, dir_fd=self.handle)
            try:
                with os.fdopen(handle, "wb"):
                    if CAN_HOLD and stat.S_ISREG(mode):
                        os.fchmod(handle, mode & 0o777)
                    view = memoryview(content)
                    while view:
                        view = view[os.write(handle, view) :]
                os.replace(self.at(temporary), folder.at(name), src_dir_fd=self.handle, dst_dir_fd=folder.handle)
            except BaseException:
                with suppress(FileNotFoundError):
                    self.delete(temporary)
                raise

    def delete(self, path: str) -> None:
        """Deletes a file, and the folders above it that it leaves empty."""
        remove = os.unlink
        try:
            while path:
                path, _, name = path.rpartition("/")
                with self.below(path) as folder:
                    remove(folder.at(name), dir_fd=folder.handle)
                remove = os.rmdir
        except OSError:
            if remove is os.unlink:
                raise

    def remove_leftovers(self) -> None:
        """Removes temporary files of killed runs; no other run is writing, since OUT is locked."""
        for name in self.names():
            if _TEMPORARY.fullmatch(name):
                with suppress(OSError):
                    self.delete(name)


def _open_part(above: int, part: str, *, make: bool) -> int:
    try:
        return os.open(part, _FOLDER, dir_fd=above)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(part, dir_fd=above)
    return os.open(part, _FOLDER, dir_fd=above)


def is_below(folder: Path, out: Path) -> bool:
    """True if a folder is below OUT after resolving symbolic links."""
    with suppress(OSError, RuntimeError, ValueError):  # circular symbolic links, or a null character
        return folder.resolve().is_relative_to(out.resolve())
    return False


def _outside_error(place: Path) -> OutputError:
    return OutputError("leads outside OUT", where=str(place), fix="remove the symbolic link")


def replace_file(path: Path, content: bytes) -> None:
    """Replaces a file that the user named atomically.

    Raises:
        OSError: it cannot be written.
    """
    if path.exists() and not path.is_file():  # such as /dev/stdout
        path.write_bytes(content)
    else:
        Folder(str(path.parent), None).replace(path.name, content)


LOCK_TIMEOUT_S = 60.0
"""Seconds to wait for another run; comparing and writing take a few seconds at most."""

_LOCK_POLL_S = 0.05


def file_in_the_way(folder: Path) -> OutputError:
    """Returns the error of a folder that cannot be, because a file has its name or that of a folder above it."""
    where = next((str(path) for path in (folder, *folder.parents) if path.is_file()), str(folder))
    return OutputError("is a file, but must be a folder", where=where, fix="move it, or choose another --out")


@contextmanager
def lock_folder(out: Path, within: Path | None = None) -> Iterator[Folder]:
    """Creates a folder if necessary, locks it against other runs of skillgen, and holds it open; the lock leaves no
    file in it, and no empty folder.

    `within` is the folder that the user named, if the name of `out` comes from the source.

    Raises:
        OutputError: the folder cannot be created, is outside `within`, or another run holds the lock for longer than
            `LOCK_TIMEOUT_S`.
    """
    where, made = str(out), [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        refuse_outside(out, within)
        out.mkdir(parents=True, exist_ok=True)
        handle = _open_for_lock(out)
    except OSError as error:
        if isinstance(error, (FileExistsError, NotADirectoryError)):
            raise file_in_the_way(out) from None
        raise OutputError(f"cannot be written: {error.strerror}", where=str(error.filename or out)) from None
    try:
        deadline = time.monotonic() + LOCK_TIMEOUT_S
        while not _try_lock(handle):
            if time.monotonic() > deadline:
                what, fix = "another run of skillgen is writing here", "wait until it has finished"
                raise OutputError(what, where=where, fix=fix)
            time.sleep(_LOCK_POLL_S)
        refuse_outside(out, within)
        # Another folder may have replaced this one meanwhile.
        if CAN_HOLD and not os.path.samestat(os.fstat(handle), out.stat()):
            raise OutputError("changed while skillgen was running", where=where, fix="run the command again")
        yield Folder(str(out), handle if CAN_HOLD else None)
    finally:
        os.close(handle)
        with suppress(OSError):  # something was written
            for folder in made:
                folder.rmdir()


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

    def _open_for_lock(out: Path) -> int:
        name = hashlib.sha256(str(out.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return os.open(Path(tempfile.gettempdir(), f"skillgen-{name}.lock"), os.O_RDWR | os.O_CREAT)

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
