"""The process between skillgen and a server, which ends all that the server started (Linux).

It is a subreaper (prctl(2), PR_SET_CHILD_SUBREAPER): a process that left its parent, its group and its session becomes
its child instead of that of init. So the processes of the server are its descendants, whatever they hide, and none is
left when it has no child any more. It kills them when the other end of its control pipe closes, which also happens when
skillgen is killed; each byte that comes before is a request to terminate them.

It runs as a script of its own, and imports nothing of skillgen so that it starts quickly.
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
"""How often processes are killed before those that remain are given up: the user may not kill them."""

_ROUND_S = 0.01


def _main(control_fd: int, failure_fd: int) -> None:
    for fd in (control_fd, failure_fd):
        os.set_inheritable(fd, False)
    _become_subreaper()
    control = os.fdopen(control_fd, "rb")
    command, environment, kill_on_leader_exit = marshal.load(control)
    # The program is looked up in the PATH of the caller, and this process has no environment yet.
    os.environb[b"PATH"] = environment.get(b"PATH", os.fsencode(os.defpath))
    restored = [signal.SIGPIPE, signal.SIGXFSZ]
    try:
        leader = os.posix_spawnp(command[0], command, environment, setsid=True, setsigdef=restored)
    except (OSError, ValueError) as error:
        os.write(failure_fd, marshal.dumps((getattr(error, "errno", None), str(error))))
        return
    os.close(failure_fd)
    _release_the_place()
    threading.Thread(target=_obey, args=(control,), daemon=True).start()
    leader_status = 0
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.wait()
            if pid == leader:
                leader_status = status
                if kill_on_leader_exit:
                    threading.Thread(target=_kill_all, daemon=True).start()
    _end_as(leader_status)


def _become_subreaper() -> None:
    # A Python without ctypes still finds every process whose parents are alive.
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        prctl = ctypes.CDLL(None).prctl
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        # It ends by the signal that ended the server, and must not dump core for it.
        prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _release_the_place() -> None:
    """Closes what the server alone must hold: the pipes, whose end says that it has gone, and the folder."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    os.chdir("/")
    # A server may signal its parent, as programs that reload themselves do.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _obey(control: BinaryIO) -> None:
    while control.read(1):
        _signal_all(signal.SIGTERM)
    _kill_all()


def _kill_all() -> None:
    for _ in range(_ROUNDS):
        _signal_all(signal.SIGKILL)
        time.sleep(_ROUND_S)
    os._exit(1)


def _signal_all(number: int) -> None:
    # The newest first: a process that only starts its successor has ended soon.
    for pid in sorted(_descendants(), reverse=True):
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError), open(f"{entry.path}/stat", "rb") as file:
                # proc(5): `pid (name) state ppid …`; the name may hold spaces and parentheses itself.
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    family = [os.getpid()]
    for pid in family:
        family += children.get(pid, ())
    return family[1:]


def _end_as(status: int) -> None:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        with contextlib.suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]))
