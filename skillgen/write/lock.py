"""One run at a time on one OUT. A lock ends with the process that has it, so none is ever stale."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from skillgen.errors import OutputError

PATIENCE_S = 60.0
"""How long to wait for another run; comparing and writing take a few seconds at the most."""

_STEP_S = 0.05


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Keeps other runs of skillgen out of a folder; makes the folder, and leaves nothing in it.

    Raises:
        OutputError: the folder cannot be made, or another run has it for longer than `PATIENCE_S`.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        handle = _opened(out)
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
        yield
    finally:
        os.close(handle)


if os.name == "posix":
    import errno
    import fcntl

    def _opened(out: Path) -> int:
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

    def _opened(out: Path) -> int:
        name = hashlib.sha256(str(out.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return os.open(Path(tempfile.gettempdir(), f"skillgen-{name}.lock"), os.O_RDWR | os.O_CREAT)

    def _is_taken(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
