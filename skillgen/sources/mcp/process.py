"""Programs that skillgen starts: their process trees, the stdio transport, and runs of commands that print something.

A server may start other processes (npx starts a shell that starts node), and they may outlive it. On Linux, a watcher
process is the ancestor of all of them (see `watcher`). Elsewhere they are found by their parents and by a variable in
their environment, and if skillgen itself is killed, a server only notices that its standard input is closed.

Over stdio, a JSON-RPC message is a line on the standard streams of a server. What real servers write beyond the
specification is accepted: banners between messages, other encodings, responses with a string as id or without
`jsonrpc`. Each server has three threads, so that a server that stops reading or writing cannot block the crawl.

Runs of commands are bounded in time and output.
"""

from __future__ import annotations

import itertools
import json
import marshal
import os
import queue
import re
import secrets
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from io import BufferedReader, RawIOBase
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO, Literal

from msgspec import Struct

from skillgen.errors import SourceError
from skillgen.model.values import Json
from skillgen.security.secrets import Secrets
from skillgen.sources.json_access import SOURCE_LIMIT_BYTES
from skillgen.sources.mcp.session import CancelToken, ConnectionLost, Params, error_from_response, parse_messages

_WATCHER = Path(__file__).with_name("watcher.py")

_MARK_VARIABLE = "SKILLGEN_CRAWL"
"""The environment variable by which the processes of a server are found without its watcher."""

_GRACE_S = 2.0
"""How long a server may take to exit after its standard input was closed."""

_TERM_GRACE_S = 1.0
"""How long it may take to exit after SIGTERM."""

_KILL_S = 5.0
"""How long the system and the watcher may take to kill it."""

_MAX_SCANS = 50
"""How often to scan the processes, because they may start others during a scan."""

_SCAN_S = 0.01

_CLEAN_SCANS = 2
"""How many successive scans must find no process."""


_CHUNK_BYTES = 64 * 1024

_LINE_LIMIT_BYTES = 128 * 1024 * 1024


def _read_lines(stream: RawIOBase) -> Iterator[bytes]:
    """Yields the lines of an unbuffered stream as they arrive, and closes it.

    Raises:
        ConnectionLost: the server sends more than the limit.
    """
    total_bytes = 0
    with BufferedReader(stream, _CHUNK_BYTES) as buffered:
        while line := buffered.readline(_LINE_LIMIT_BYTES):
            total_bytes += len(line)
            if total_bytes > SOURCE_LIMIT_BYTES:
                raise ConnectionLost(f"It sent more than {SOURCE_LIMIT_BYTES // 2**20} MiB, the limit of a crawl.")
            if len(line) == _LINE_LIMIT_BYTES:
                raise ConnectionLost(f"It sent a line of more than {_LINE_LIMIT_BYTES // 2**20} MiB.")
            yield line


class ProcessTree:
    """A server's process and all its descendants."""

    def __init__(
        self,
        command: tuple[str, ...],
        *,
        environment: Mapping[str, str],
        cwd: Path | None,
        stdin: int = subprocess.PIPE,
        kill_on_leader_exit: bool = False,
    ) -> None:
        """Starts the server; with `kill_on_leader_exit`, its descendants are killed when it exits (Linux).

        Raises:
            OSError: the server cannot be started.
            ValueError: an argument or a variable contains a null character.
        """
        self._mark = secrets.token_hex(16)
        marked = {**environment, _MARK_VARIABLE: self._mark}
        self._control: BinaryIO | None = None
        if sys.platform != "linux" or not sys.executable or not Path("/proc/self/stat").exists():
            self.process = _popen(command, marked, cwd, stdin)
            return
        arguments = [os.fsencode(argument) for argument in command]
        request = (arguments, {os.fsencode(k): os.fsencode(v) for k, v in marked.items()}, kill_on_leader_exit)
        control, self._control = _pipe()
        failure, failure_writer = _pipe()
        with control, failure:
            try:
                with failure_writer:
                    fds = (control.fileno(), failure_writer.fileno())
                    program = (sys.executable, "-I", "-S", str(_WATCHER), *map(str, fds))
                    self.process = _popen(program, {}, cwd, stdin, fds)
            except OSError:
                self._control.close()
                raise
            control.close()
            with suppress(BrokenPipeError):
                self._control.write(marshal.dumps(request))
            start_error = failure.read()
        if start_error:
            with self.process, self._control:
                number, what = marshal.loads(start_error)
            raise OSError(number, os.strerror(number), command[0]) if number else ValueError(what)

    def stop(self) -> None:
        """Waits for the tree to exit, then terminates it, then kills it. Takes up to three seconds."""
        if not self._exits_within(_GRACE_S):
            self._signal_members("terminate")
            self._exits_within(_TERM_GRACE_S)
        self.kill()

    def kill(self) -> None:
        """Kills the tree, and returns when it has exited."""
        if self._control is not None:
            with suppress(OSError):
                self._control.close()
            if self._exits_within(_KILL_S) and self.process.returncode >= 0:
                return
        # There is no watcher, or the server has killed or stopped it.
        clean_scans = 0
        for _ in range(_MAX_SCANS):
            clean_scans = 0 if self._signal_members("kill") else clean_scans + 1
            with suppress(OSError):
                self.process.kill()
            if clean_scans == _CLEAN_SCANS:
                break
            time.sleep(_SCAN_S)  # a killed process takes a moment to disappear
        self._exits_within(_KILL_S)

    def _signal_members(self, method: Literal["terminate", "kill"]) -> bool:
        """Calls a method of every process of the tree but the watcher; true if there was one."""
        import psutil  # only here: few servers do not exit by themselves

        members: set[psutil.Process] = set()
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if process.pid == self.process.pid or process.environ().get(_MARK_VARIABLE) == self._mark:
                    members |= {process, *process.children(recursive=True)}
        watcher_pid = None if self._control is None else self.process.pid
        was_alive = False
        # The newest first, to catch a process that keeps replacing itself by a new one.
        for member in sorted(members, key=lambda member: member.pid, reverse=True):
            with suppress(psutil.Error):
                if member.pid != watcher_pid and member.status() != psutil.STATUS_ZOMBIE:
                    getattr(member, method)()
                    was_alive = True
        return was_alive

    def _exits_within(self, seconds: float) -> bool:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.poll() is not None

    def streams(self) -> tuple[Any, Any, Any]:
        """Returns standard input, output and error of the server; the first is `None` if it has no pipe."""
        return self.process.stdin, self.process.stdout, self.process.stderr


def _pipe() -> tuple[BinaryIO, BinaryIO]:
    reader, writer = os.pipe()
    return os.fdopen(reader, "rb"), os.fdopen(writer, "wb", buffering=0)


def _popen(
    command: tuple[str, ...], environment: Mapping[str, str], cwd: Path | None, stdin: int, fds: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    # Windows starts a .cmd file such as npx.cmd only by its full name.
    program = shutil.which(command[0], path=environment.get("PATH")) if os.name == "nt" else None
    words, pipe = [program or command[0], *command[1:]], subprocess.PIPE
    place: dict[str, Any] = {"cwd": cwd, "env": environment, "pass_fds": fds, "start_new_session": True}
    return subprocess.Popen(words, bufsize=0, stdin=stdin, stdout=pipe, stderr=pipe, **place)


def _started(run: Callable[..., None], *arguments: object) -> Thread:
    thread = Thread(target=run, args=arguments, daemon=True)
    thread.start()
    return thread


def _keep_end(stream: BinaryIO, end: bytearray) -> None:
    """Reads a stream to its end, and keeps the last bytes."""
    with suppress(OSError, ValueError), stream:
        while chunk := stream.read(_CHUNK_BYTES):
            end[:] = (end + chunk)[-_CHUNK_BYTES:]


class Finished(Struct, frozen=True, kw_only=True):
    """The end of a command."""

    status: int | None
    """The exit code; `None` if it was killed since it ran out of time."""

    output: bytes
    """Standard output; longer than the limit if the command printed too much, and was killed."""

    errors: bytes
    """The end of standard error."""


class CommandRun(Struct, frozen=True):
    """A run of a command, and its bounds."""

    words: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: Path | None
    timeout_s: float
    limit_bytes: int
    """Maximum length of what it prints."""

    cancel_token: CancelToken | None = None
    text: str | None = None
    """Its standard input, which it need not read; without one, it is empty."""

    def finished(self) -> Finished:
        """Runs the command to its end. Kills all processes that it started.

        Raises:
            OSError: it cannot be started.
            ConnectionLost: the run was cancelled.
        """
        given = subprocess.DEVNULL if self.text is None else subprocess.PIPE
        family = ProcessTree(
            self.words, environment=self.environment, cwd=self.cwd, stdin=given, kill_on_leader_exit=True
        )
        printed, errors, token = bytearray(), bytearray(), self.cancel_token or CancelToken()
        stdin, stdout, stderr = family.streams()

        def read_printed() -> None:
            with stdout:
                while len(printed) <= self.limit_bytes and (chunk := stdout.read(_CHUNK_BYTES)):
                    printed.extend(chunk)
            if len(printed) > self.limit_bytes:
                family.kill()

        def write_text() -> None:
            if self.text is not None:
                with suppress(OSError, ValueError), stdin:
                    stdin.write(self.text.encode("utf-8", "replace"))

        threads = [_started(write_text), _started(read_printed), _started(_keep_end, stderr, errors)]
        status = None
        try:
            with suppress(subprocess.TimeoutExpired), token.attach(family.kill):
                status = family.process.wait(self.timeout_s)
            token.raise_if_cancelled()  # it did not exit by itself
        finally:
            # Processes that it started would keep running, with its output streams open.
            family.kill()
            for thread in threads:
                thread.join()
        return Finished(status=status, output=bytes(printed), errors=bytes(errors))

    def output(self, *, where: str, what: str, timeout_key: str, secrets: Secrets | None = None) -> bytes:
        """Returns what the command printed: `what`, for messages, in which `where` is its place.

        Raises:
            SourceError: it cannot be started, does not finish in time, prints too much, fails, or was cancelled.
        """
        program = shutil.which(self.words[0], path=self.environment.get("PATH")) or self.words[0]
        fix: str | None
        try:
            finished = self.finished()
        except FileNotFoundError:
            failure, fix = f"the command {program} does not exist", "install it, or correct the name"
        except OSError as error:
            failure, fix = f"{program} cannot be started: {error.strerror}", "check the command"
        except ConnectionLost as error:
            failure, fix = f"{program}: {error.what}", error.fix
        else:
            if len(finished.output) <= self.limit_bytes and finished.status == 0:
                return finished.output
            if finished.status is None:
                failure, fix = f"{program} did not finish within {self.timeout_s:g} s", f"increase {timeout_key}"
            elif len(finished.output) > self.limit_bytes:
                failure, fix = f"{program} prints more than {self.limit_bytes / 2**20:g} MiB", f"print only the {what}"
            else:
                lines = finished.errors.decode("utf-8", "replace").strip().splitlines()
                last = f": {(secrets or Secrets()).excerpt(lines[-1], 200)}" if lines else ""
                failure, fix = f"{program} exited with {finished.status}{last}", "run it by hand"
        raise SourceError(failure, where=where, fix=fix)


_METHOD_NOT_FOUND = -32601

_BANNERS_LIMIT = 10_000
"""Maximum number of lines that are not messages; a program that writes more is not an MCP server."""

_UNSENT_LIMIT = 1_000
"""Maximum number of responses to the server's own requests that it has not read yet."""

_FRAME_HEADER = re.compile(r"content-(?:length: *[0-9]+|type:.*)", re.IGNORECASE)

_EXCEPTION = re.compile(r"[\s|]*((?:\w+\.)*\w*(?:Error|Exception)(?: \[\w+\])?: .*)")
"""The line of a traceback that says what is wrong."""

_STDERR_LINES = 20
_EXIT_S = 1.0
"""How long to wait for the exit status of a server that closed its standard output."""


class StdioConnection:
    """A server process and the requests that it has not answered yet."""

    def __init__(
        self, command: tuple[str, ...], *, environment: Mapping[str, str], cwd: Path | None, secrets: Secrets
    ) -> None:
        """Starts the server.

        Raises:
            OSError: the server cannot be started.
            ValueError: an argument or a variable contains a null character.
        """
        self._secrets = secrets
        self._tree = ProcessTree(command, environment=environment, cwd=cwd)
        self._process = self._tree.process
        self._ids = itertools.count(1)
        self._pending: dict[str, Future[Json]] = {}
        self._lock = threading.Lock()
        self._lost: ConnectionLost | None = None
        self._banners, self._is_frame = 0, False
        self._first_banner = ""
        self._errors = bytearray()
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._stdin, self._stdout, stderr = self._tree.streams()
        self._stderr_thread = _started(_keep_end, stderr, self._errors)
        _started(self._write)
        _started(self._read)

    def send(self, method: str, params: Params | None) -> Future[Json]:
        """Sends a request; never blocks."""
        future: Future[Json] = Future()
        request_id = next(self._ids)
        with self._lock:
            lost = self._lost
            if lost is None:
                self._pending[str(request_id)] = future
        if lost is None:
            self._post({"id": request_id, **_call(method, params)})
        else:
            future.set_exception(lost)
        return future

    def notify(self, method: str, params: Params | None) -> None:
        """Sends a notification."""
        self._post(_call(method, params))

    def close(self) -> None:
        """Closes the server's standard input, and stops its process tree in another thread.

        That thread is not a daemon: the interpreter waits for it, so that no process outlives skillgen.
        """
        self._outbox.put(None)
        threading.Thread(target=self._tree.stop, name="skillgen-stopping-a-server").start()

    def kill(self) -> None:
        """Kills the process tree of the server."""
        self._tree.kill()

    def symptoms(self) -> str:
        """Returns the exit status of the server, its first line that is not a message, and its last errors."""
        status, lines = self._process.poll(), self._errors.decode("utf-8", "replace").split("\n")[-_STDERR_LINES:]
        errors = "\n".join(f"  {line}" for text in lines if (line := self._secrets.excerpt(text, 1000)))
        causes = [f": {found[1].rstrip('.')}" for line in errors.splitlines() if (found := _EXCEPTION.match(line))]
        end = "exited with status" if status is None or status >= 0 else "was killed by signal"
        sentences = [f"It {end} {abs(status)}{''.join(causes[-1:])}."] if status is not None else []
        sentences += [stray] if (stray := self.stray_output()) else []
        sentences += [f"Its last lines on standard error:\n{errors}"] if errors else []
        return " ".join(sentences)

    def stray_output(self) -> str:
        """Returns a sentence on the lines that are not messages, if there are any."""
        if not self._banners:
            return ""
        first = self._secrets.excerpt(self._first_banner, 120)
        many = f"{self._banners} lines that are not JSON-RPC messages"
        what = "1 line that is not a JSON-RPC message" if self._banners == 1 else many
        return f"It wrote {what} to standard output: {first!r}."

    def _post(self, message: dict[str, Json]) -> None:
        self._outbox.put(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def _write(self) -> None:
        # That the server has exited is noticed by `_read`, at the end of its standard output.
        with suppress(OSError, ValueError), self._stdin:
            while (line := self._outbox.get()) is not None:
                self._stdin.write(line)
                self._stdin.flush()

    def _read(self) -> None:
        try:
            with suppress(OSError):
                for line in _read_lines(self._stdout):
                    self._receive(line)
            lost = self._exit_error()
        except ConnectionLost as error:
            lost = error
        with self._lock:
            self._lost = lost
            pending, self._pending = list(self._pending.values()), {}
        for future in pending:
            future.set_exception(lost)

    def _receive(self, line: bytes) -> None:
        messages, banner = parse_messages(line)
        for message in messages:
            self._handle(message)
        if self._is_frame and not (messages or banner):
            what = "It writes a `Content-Length` header before each message, as language servers do."
            fix = (
                "Have the server write each message as one line, and nothing else (specification, 'Transports', stdio)."
            )
            raise ConnectionLost(what, fix=fix)
        self._is_frame = _FRAME_HEADER.fullmatch(banner) is not None
        if banner:
            self._banners += 1
            self._first_banner = self._first_banner or banner[:2000]
        if self._banners > _BANNERS_LIMIT:
            fix = "Give the command that starts the server with its stdio transport."
            raise ConnectionLost(f"It is not an MCP server: {self.symptoms()}", fix=fix)

    def _handle(self, message: dict[str, Json]) -> None:
        if isinstance(method := message.get("method"), str):
            if message.get("id") is not None and self._outbox.qsize() < _UNSENT_LIMIT:
                refusal = {"error": {"code": _METHOD_NOT_FOUND, "message": "skillgen answers no requests of servers"}}
                self._post({"id": message["id"], **({"result": {}} if method == "ping" else refusal)})
            return
        answered = message.get("id")
        with self._lock:
            # A server that cannot parse a request responds with a null id (JSON-RPC 2.0, 5).
            only = [*self._pending] if answered is None and len(self._pending) == 1 else []
            # Languages with one type of number write 1 as 1.0.
            future = self._pending.pop(only[0] if only else str(answered).removesuffix(".0"), None)
        if future is not None and message.get("error") is not None:
            future.set_exception(error_from_response(message["error"]))
        elif future is not None:
            future.set_result(message.get("result"))

    def _exit_error(self) -> ConnectionLost:
        what = ""
        try:
            self._process.wait(_EXIT_S)
        except subprocess.TimeoutExpired:
            what = "It closed its standard output. "
        self._stderr_thread.join(_EXIT_S)
        return ConnectionLost(what + self.symptoms(), fix="Run it by itself; pass what it needs with --env.")


def _call(method: str, params: Params | None) -> dict[str, Json]:
    return {"method": method} if params is None else {"method": method, "params": params}
