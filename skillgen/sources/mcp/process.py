"""The processes of a server that skillgen started: how they start, and how they end.

A server may start others (npx starts a shell that starts node), and they may outlive it. On Linux a watcher is the
ancestor of all of them (see `watcher`). Elsewhere only the process group is known, and a server reads the end of its
standard input when skillgen is killed.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from skillgen.sources.mcp import watcher

MARK = "SKILLGEN_CRAWL"
"""The environment variable by which the processes of a server are found if its watcher was killed."""

_GRACE_S = 2.0
"""How long a server may take to end by itself after its standard input was closed."""

_TERM_GRACE_S = 1.0
"""How long it may take after SIGTERM."""

_KILL_S = 5.0
"""How long the system and the watcher may take to kill it."""

_PROC = Path("/proc")

_LOOKS = 50
"""How often the list of processes is read to kill those that start others meanwhile."""

_CLEAN_LOOKS = 2
"""How many looks in a row must find no process."""


class ProcessTree:
    """A server's process and all that it started."""

    def __init__(
        self,
        command: tuple[str, ...],
        *,
        environment: Mapping[str, str],
        cwd: Path | None,
        stdin: int = subprocess.PIPE,
        kill_on_leader_exit: bool = False,
    ) -> None:
        """Starts the server; with `kill_on_leader_exit`, what it leaves behind is killed at its end.

        Raises:
            OSError: it cannot be started.
            ValueError: a word of the command or of the environment cannot be passed to a process.
        """
        self._mark = f"{MARK}={secrets.token_hex(16)}"
        self._control: BinaryIO | None = None
        if not _can_watch():
            self.process = _popen(command, environment, cwd, stdin)
            return
        marked = {**environment, MARK: self._mark.partition("=")[2]}
        words = [os.fsencode(word) for word in command]
        request = (words, {os.fsencode(k): os.fsencode(v) for k, v in marked.items()}, kill_on_leader_exit)
        control, self._control = _pipe()
        failure, failing = _pipe()
        with control, failure:
            try:
                with failing:
                    fds = (control.fileno(), failing.fileno())
                    program = (sys.executable, "-I", "-S", watcher.__file__, *map(str, fds))
                    self.process = _popen(program, {}, cwd, stdin, fds)
            except OSError:
                self._control.close()
                raise
            control.close()
            with contextlib.suppress(BrokenPipeError):
                self._control.write(marshal.dumps(request))
            failed = failure.read()
        if failed:
            self._discard()
            number, what = marshal.loads(failed)
            raise OSError(number, os.strerror(number), command[0]) if number else ValueError(what)

    def end(self) -> None:
        """Waits for all of it to end by itself, and makes it end if it does not. Takes up to three seconds."""
        if not self._ends_within(_GRACE_S):
            self._terminate()
            self._ends_within(_TERM_GRACE_S)
        self.kill()

    def kill(self) -> None:
        """Kills all of it, and returns when it has ended."""
        if self._control is not None:
            with contextlib.suppress(OSError):
                self._control.close()
        elif sys.platform == "win32":
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(self.process.pid)], capture_output=True, check=False)
        else:
            self._signal_group(signal.SIGKILL)
        has_ended = self._ends_within(_KILL_S)
        if self._control is None or (has_ended and self.process.returncode >= 0):
            return
        # A server may have killed or stopped its watcher.
        self.process.kill()
        self._kill_marked()

    def _terminate(self) -> None:
        if self._control is not None:
            with contextlib.suppress(OSError, ValueError):
                self._control.write(b".")
        elif sys.platform == "win32":
            self.process.terminate()
        else:
            self._signal_group(signal.SIGTERM)

    def _signal_group(self, number: int) -> None:
        # A process with the number of a leader that has ended is a stranger: a group keeps its number as long as it has
        # members, and no process gets it.
        if self.process.poll() is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, 0)
                return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def _ends_within(self, seconds: float) -> bool:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.poll() is not None

    def _discard(self) -> None:
        """Closes the pipes of a server that did not start."""
        for stream in (self._control, self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        self.process.wait()

    def _kill_marked(self) -> None:
        clean = 0
        for _ in range(_LOOKS):
            clean += 1
            for pid in self._marked():
                clean = 0
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if clean == _CLEAN_LOOKS:
                return
            # The system takes a moment to end a process.
            time.sleep(0.01)

    def _marked(self) -> Iterator[int]:
        """Yields the newest first: a process that only starts its successor has ended soon."""
        for pid in sorted((int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()), reverse=True):
            with contextlib.suppress(OSError):
                if self._mark.encode() in (_PROC / str(pid) / "environ").read_bytes().split(b"\0"):
                    yield pid


def _can_watch() -> bool:
    return sys.platform == "linux" and bool(sys.executable) and (_PROC / "self" / "stat").exists()


def _pipe() -> tuple[BinaryIO, BinaryIO]:
    reading, writing = os.pipe()
    return os.fdopen(reading, "rb"), os.fdopen(writing, "wb", buffering=0)


def _popen(
    command: tuple[str, ...], environment: Mapping[str, str], cwd: Path | None, stdin: int, fds: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    # Windows starts npx.cmd only by its full name.
    program = shutil.which(command[0], path=environment.get("PATH")) if os.name == "nt" else None
    return subprocess.Popen(
        [program or command[0], *command[1:]],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=cwd,
        env=environment,
        pass_fds=fds,
        start_new_session=True,
    )
