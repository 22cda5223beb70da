"""Runs skillgen in forks of one warm process: each run has a process of its own, but imports nothing again.

A run of the command line spends most of its time on imports, and most of the rest on what it compiles when it is first
used: regular expressions and templates. The server, `python fork_server.py FD`, imports skillgen and documents a small
service once, and forks for each request; `ForkServer` is its client. Requests come over a Unix socket. With each come
five file descriptors: the request as JSON, the three standard streams, and a pipe for the process id and the exit
status.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

from captured import crawled
from descriptions import description, operation, write

import skillgen

CAPTURED = "SKILLGEN_TEST_CAPTURED"
"""A variable of a run that crawls no server: the file with what a crawl would return."""

SETUP = "SKILLGEN_TEST_SETUP"
"""A variable of a run: Python that is executed before the command, such as a hook that kills the process."""

_NUMBER = struct.Struct("i")
_DESCRIPTORS = 5


class ForkServer:
    """Runs command lines in forks of a warm process."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._server = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()], env=environment
            )
        atexit.register(self._socket.close)  # the server ends with the socket

    def run(
        self, arguments: Sequence[str], stdin: bytes, cwd: Path | None, environment: Mapping[str, str], timeout_s: float
    ) -> tuple[int, bytes, bytes]:
        """Returns exit status, standard output and standard error of `skillgen ARGUMENTS`.

        Raises:
            TimeoutExpired: the run was killed after `timeout_s`.
        """
        request = {"arguments": list(arguments), "cwd": str(cwd or Path.cwd()), "environment": dict(environment)}
        files = [os.memfd_create(name) for name in ("request", "stdin", "stdout", "stderr")]
        status, theirs = os.pipe()
        try:
            for file, content in zip(files, (json.dumps(request).encode(), stdin), strict=False):
                _write(file, content)
                os.lseek(file, 0, os.SEEK_SET)
            socket.send_fds(self._socket, [b"r"], [*files, theirs])
            os.close(theirs)
            theirs = -1
            process = _number(status, timeout_s)
            try:
                code = _number(status, timeout_s)
            except TimeoutError:
                os.kill(process, signal.SIGKILL)
                raise subprocess.TimeoutExpired(["skillgen", *arguments], timeout_s) from None
            return code, _content(files[2]), _content(files[3])
        finally:
            for file in (*files, status, theirs):
                if file >= 0:
                    os.close(file)


def _write(file: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]


def _content(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)


def _number(pipe: int, timeout_s: float) -> int:
    if not select.select([pipe], [], [], timeout_s)[0]:
        raise TimeoutError
    number: int = _NUMBER.unpack(os.read(pipe, _NUMBER.size))[0]
    return number


def _serve(connection: socket.socket) -> None:
    """Forks for each request until the client closes the socket."""
    while True:
        message, files, _, _ = socket.recv_fds(connection, 1, _DESCRIPTORS)
        if not message:
            return
        if os.fork() == 0:
            connection.close()
            _attend(files)
        for file in files:
            os.close(file)


def _attend(files: Sequence[int]) -> None:
    """Runs a request in a process of its own, and reports its id and how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    status = files[-1]
    process = os.fork()
    if process == 0:
        os.close(status)
        _run(files[:-1])
    os.write(status, _NUMBER.pack(process))
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os.write(status, _NUMBER.pack(code))
    os._exit(0)


def _run(files: Sequence[int]) -> None:
    """Becomes the process of `python -m skillgen`, and exits as it does."""
    request = json.loads(os.pread(files[0], os.fstat(files[0]).st_size, 0))
    for target, file in enumerate(files[1:]):
        os.dup2(file, target)
    for file in files:
        os.close(file)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["cwd"])
    sys.stdin = os.fdopen(0, encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1)
    sys.argv = ["skillgen", *request["arguments"]]
    code = 1
    try:
        captured = os.environ.pop(CAPTURED, None)
        exec(os.environ.pop(SETUP, ""), {"__name__": "setup"})
        with crawled(json.loads(Path(captured).read_text("utf-8"))) if captured else contextlib.nullcontext():
            runpy.run_module("skillgen", run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:
            code = 120  # what Python exits with where it cannot flush
        os._exit(code)


def _document_a_service() -> None:
    """Fills the caches of this process, which each fork starts with."""
    from skillgen.cli.app import app

    query = {"name": "state", "in": "query", "schema": {"enum": ["open", "done"]}}
    paths = {"/tasks": {"get": operation("list_tasks", parameters=[query]), "post": operation("create_task")}}
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        source = write(Path(folder, "api.json"), description(paths))
        app(["from-openapi", str(source), "-o", str(Path(folder, "out"))], standalone_mode=False)


def main() -> None:
    """Imports all of skillgen, and serves."""
    for module in pkgutil.walk_packages(skillgen.__path__, "skillgen."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    _document_a_service()
    gc.freeze()  # a collection in a fork would copy every page
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the attending processes
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        _serve(connection)


if __name__ == "__main__":
    main()
