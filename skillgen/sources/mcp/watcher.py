"""The process between skillgen and a server that kills all descendants of the server (Linux).

It is a subreaper (prctl(2), PR_SET_CHILD_SUBREAPER): a process that leaves its parent, its group and its session
becomes its child instead of init's. So all processes of the server are its descendants, and when it has no child left,
all of them have exited. It kills them when the other end of its control pipe closes, which also happens when skillgen
is killed.

It runs as a separate script, and imports nothing of skillgen so that it starts quickly.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import signal
import sys
import threading
import time
from typing import BinaryIO

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36

_ROUNDS = 1_000
"""How often to kill the processes before giving up: the user may lack the permission to kill some."""

_ROUND_S = 0.01


def _main(control_fd: int, failure_fd: int) -> None:
    for fd in (control_fd, failure_fd):
        os.set_inheritable(fd, False)
    _become_subreaper()
    control = os.fdopen(control_fd, "rb")
    command, environment, kill_on_leader_exit = marshal.load(control)
    # posix_spawnp searches the PATH of this process, which has an empty environment.
    os.environb[b"PATH"] = environment.get(b"PATH", os.fsencode(os.defpath))
    ignored_by_python = [signal.SIGPIPE, signal.SIGXFSZ]
    try:
        leader = os.posix_spawnp(command[0], command, environment, setsid=True, setsigdef=ignored_by_python)
    except (OSError, ValueError) as error:
        os.write(failure_fd, marshal.dumps((getattr(error, "errno", None), str(error))))
        return
    os.close(failure_fd)
    _detach()
    threading.Thread(target=_serve, args=(control,), daemon=True).start()
    leader_status = 0
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.wait()
            if pid == leader:
                leader_status = status
                if kill_on_leader_exit:
                    threading.Thread(target=_kill_all, daemon=True).start()
    _exit_like(leader_status)


def _become_subreaper() -> None:
    # Without ctypes, the processes whose ancestors are all alive are still found.
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        prctl = ctypes.CDLL(None).prctl
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        # It exits by the same signal as the server, and must not dump core then.
        prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _detach() -> None:
    """Releases what only the server may hold open: the folder, and the pipes, which must close when it exits."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    os.chdir("/")
    # A server may signal its parent process, as programs that reload themselves do.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _serve(control: BinaryIO) -> None:
    control.read()
    _kill_all()


def _kill_all() -> None:
    for _ in range(_ROUNDS):
        # The newest first, to catch a process that keeps replacing itself by a new one.
        for pid in sorted(_descendants(), reverse=True):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_ROUND_S)
    os._exit(1)


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError), open(f"{entry.path}/stat", "rb") as file:
                # proc(5): `pid (name) state ppid …`; the name may contain spaces and parentheses.
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    pids = [os.getpid()]
    for pid in pids:
        pids += children.get(pid, ())
    return pids[1:]


def _exit_like(status: int) -> None:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        with contextlib.suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]))
