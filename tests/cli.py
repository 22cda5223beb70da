"""Runs skillgen as users do: the command, in a process of its own."""

from __future__ import annotations

import contextlib
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from fork_server import ForkServer

ROOT = Path(__file__).parent.parent
PACKAGE = str(ROOT / "skillgen")

TIMEOUT_S = 600.0
"""A run that takes longer hangs."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of one run."""

    exit_code: int
    stdout: str
    stderr: str

    def ok(self) -> Finished:
        """Returns a run that must have succeeded."""
        return self.ended(0)

    def ended(self, exit_code: int, *words: str) -> Finished:
        """Returns a run that must have ended with this code, and have said each of these words on standard error."""
        assert self.exit_code == exit_code, self.stderr
        assert [each for each in words if each not in self.stderr] == [], self.stderr
        return self


def environment(changes: Mapping[str, str] | None = None) -> dict[str, str]:
    """Returns the environment of a run: this one, the repository on the path, and a terminal that changes no output."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    cache = str(ROOT / "build" / "cache")
    active = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    fixed = {
        "PATH": active,
        "PYTHONPATH": path,
        "PYTHONUTF8": "1",
        "XDG_CACHE_HOME": cache,
        "COLUMNS": "120",
        "TERM": "dumb",
        "NO_COLOR": "1",
    }
    return {**os.environ, **fixed, **(changes or {})}


def run_python(
    *arguments: object, stdin: str | bytes | None = None, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Finished:
    """Runs this interpreter and returns its outputs and exit code; `env` comes on top of this environment."""
    finished = subprocess.run(
        [sys.executable, *map(str, arguments)],
        input=stdin.encode("utf-8") if isinstance(stdin, str) else stdin or b"",
        capture_output=True,
        cwd=cwd,
        env=environment(env),
        check=False,
        timeout=TIMEOUT_S,
    )
    return Finished(finished.returncode, finished.stdout.decode("utf-8"), finished.stderr.decode("utf-8"))


def run_skillgen(
    *arguments: object, stdin: str | bytes | None = None, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Finished:
    """Runs `python -m skillgen` and returns its outputs and exit code; `env` comes on top of this environment.

    The process is a fork of a warm one (`fork_server`), unless a variable changes how Python itself starts.
    """
    if not hasattr(os, "memfd_create") or any(name.startswith(("PYTHON", "LC_", "LANG")) for name in env or {}):
        return run_python("-m", "skillgen", *arguments, stdin=stdin, cwd=cwd, env=env)
    content = stdin.encode("utf-8") if isinstance(stdin, str) else stdin or b""
    code, stdout, stderr = _fork_server().run(
        [str(argument) for argument in arguments], content, cwd, environment(env), TIMEOUT_S
    )
    return Finished(code, stdout.decode("utf-8"), stderr.decode("utf-8"))


@cache
def _fork_server() -> ForkServer:
    return ForkServer(environment())


def generated(
    *arguments: object, stdin: str | bytes | None = None, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Finished:
    """Runs skillgen where it must succeed."""
    return run_skillgen(*arguments, stdin=stdin, cwd=cwd, env=env).ok()


def files_of(folder: Path) -> dict[str, bytes]:
    """Returns every file below a folder: relative path, with forward slashes, to content.

    The record is without the command that wrote the documents and its options: others may write the same.
    """
    return {
        path.relative_to(folder).as_posix(): without_run(path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() or path.is_symlink()
    }


def without_run(content: bytes) -> bytes:
    """Returns a file; the record without the command that wrote the documents, and the digest of its options."""
    return re.sub(rb'\n  "(?:run|declared)": .*', b"", content)


def stamps_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Returns what changes when a file is written, even with the same content: its inode and its time."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def steps_of(action: Callable[[], object], within: str = PACKAGE) -> int:
    """Returns how many instructions of the code in a folder, by default of skillgen's own, an action takes."""
    done = 0

    def traced(frame: FrameType, event: str, _: object) -> Any:
        nonlocal done
        if not frame.f_code.co_filename.startswith(within):
            return None
        frame.f_trace_opcodes = True
        done += event == "opcode"
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        action()
    finally:
        sys.settrace(before)
    return done


def until(is_so: Callable[[], bool]) -> None:
    """Waits for something that another process does, for a minute at most."""
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        select.select([], [], [], 0.02)


def read_terminal(descriptor: int) -> str:
    """Returns what a terminal, whose other end is closed, has shown, and closes it."""
    shown = b""
    with contextlib.suppress(OSError):  # Linux: the other end is closed
        while part := os.read(descriptor, 65_536):
            shown += part
    os.close(descriptor)
    return shown.decode("utf-8")
