"""Sees to it that a server ends when skillgen is killed and can do nothing about it any more (Linux).

Every process that descends from a server has the mark of its crawl in its environment, also one that left its parent,
its group and its session. A small process of its own holds the reading end of a pipe: when the other end closes without
a word, skillgen is gone, and whoever has the mark is ended. Elsewhere the server reads the end of its standard input.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
import sys
from pathlib import Path

MARK = "SKILLGEN_CRAWL"
"""The name of the variable that holds the mark."""

_PROC = Path("/proc")

# It imports nothing of skillgen, so that it starts in an instant; it looks again until nobody is left, for a process
# may start others while the list is read.
_PROGRAM = """
import os, signal, sys, time
if not sys.stdin.buffer.read(1):
    mark = sys.argv[1].encode()
    for attempt in range(50):
        found = 0
        for entry in os.listdir("/proc"):
            if entry.isdigit() and int(entry) != os.getpid():
                try:
                    with open("/proc/" + entry + "/environ", "rb") as file:
                        if mark in file.read().split(b"\\0"):
                            os.kill(int(entry), signal.SIGKILL)
                            found += 1
                except OSError:
                    pass
        if not found:
            break
        time.sleep(0.02)
"""


class Watcher:
    """The process that outlives skillgen if need be; where there is no /proc it does nothing."""

    def __init__(self) -> None:
        self.mark = secrets.token_hex(16)
        self._process: subprocess.Popen[bytes] | None = None

    def environment(self) -> dict[str, str]:
        """Gives what a server's environment must hold."""
        return {MARK: self.mark} if _is_possible() else {}

    def start(self) -> None:
        """Starts to watch. A system that has no room for another process is no reason to give up."""
        if not _is_possible():
            return
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _PROGRAM, f"{MARK}={self.mark}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                start_new_session=True,
            )

    def end(self) -> None:
        """Ends the watch: whoever had to end has ended."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(OSError):
                process.communicate(b".")

    def marked(self) -> set[int]:
        """Gives the processes that have the mark."""
        found = set()
        mark = f"{MARK}={self.mark}".encode()
        for entry in _PROC.iterdir() if _is_possible() else ():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if mark in (entry / "environ").read_bytes().split(b"\0"):
                        found.add(int(entry.name))
        return found


def _is_possible() -> bool:
    return bool(sys.executable) and os.name == "posix" and (_PROC / "self" / "environ").exists()
