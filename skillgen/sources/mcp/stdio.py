"""The stdio transport: one JSON-RPC message a line over the standard streams of a server that skillgen starts.

It accepts what real servers write beyond the specification: banners between messages, other encodings, responses with a
string as id or without `jsonrpc`. Each server has three threads, so that a server that stops reading or writing cannot
block the crawl.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import queue
import re
import subprocess
import threading
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path

from skillgen.model.values import Json
from skillgen.security.secrets import Secrets
from skillgen.sources.mcp.process import ProcessTree
from skillgen.sources.mcp.session import (
    CHUNK_BYTES,
    ConnectionLost,
    Params,
    error_from_response,
    parse_messages,
    read_lines,
    response_to_server,
)

_BANNERS_LIMIT = 10_000
"""Maximum number of lines that are not messages; a program that writes more is not an MCP server."""

_UNSENT_LIMIT = 1_000
"""Maximum number of responses to the server's own requests that it has not read yet."""

_FRAME_HEADER = re.compile(r"content-(?:length: *[0-9]+|type:.*)", re.IGNORECASE)

_EXCEPTION = re.compile(r"[\s|]*((?:\w+\.)*\w*(?:Error|Exception)(?: \[\w+\])?: .*)")
"""The line of a traceback that says what is wrong."""

_STDERR_LINES = 20
_STDERR_LINE_BYTES = 64 * 1024
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
        self._banners = 0
        self._first_banner = ""
        self._is_frame = False
        self._errors: deque[bytes] = deque(maxlen=_STDERR_LINES)
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._stderr_thread = threading.Thread(target=self._drain_stderr, daemon=True)
        self._stderr_thread.start()
        for run in (self._write, self._read):
            threading.Thread(target=run, daemon=True).start()

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
        status, errors = self._process.poll(), self._last_errors()
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
        stream = self._process.stdin
        assert stream is not None
        # That the server has exited is noticed by `_read`, at the end of its standard output.
        with contextlib.suppress(OSError, ValueError), stream:
            while (line := self._outbox.get()) is not None:
                stream.write(line)
                stream.flush()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        try:
            with stream, contextlib.suppress(OSError):
                for line in read_lines(stream):
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
        if banner:
            self._count_banner(banner)
        elif self._is_frame and not messages:
            raise ConnectionLost(
                "It writes a `Content-Length` header before each message, as language servers do; in MCP over stdio, a "
                "message is one line and nothing else.",
                fix="Have the server write one message a line (specification, 'Transports', stdio).",
            )
        self._is_frame = _FRAME_HEADER.fullmatch(banner) is not None

    def _count_banner(self, text: str) -> None:
        self._banners += 1
        self._first_banner = self._first_banner or text[:2000]
        if self._banners > _BANNERS_LIMIT:
            raise ConnectionLost(
                f"It is not an MCP server: {self.symptoms()}",
                fix="Give the command that starts the server with its stdio transport.",
            )

    def _handle(self, message: dict[str, Json]) -> None:
        if isinstance(method := message.get("method"), str):
            if message.get("id") is not None and self._outbox.qsize() < _UNSENT_LIMIT:
                self._post({"id": message["id"], **response_to_server(method)})
            return
        future = self._pop_pending(message.get("id"))
        if future is None:
            return
        if message.get("error") is not None:
            future.set_exception(error_from_response(message["error"]))
        else:
            future.set_result(message.get("result"))

    def _pop_pending(self, response_id: Json) -> Future[Json] | None:
        with self._lock:
            # A server that cannot parse a request responds with a null id (JSON-RPC 2.0, 5).
            if response_id is None and len(self._pending) == 1:
                return self._pending.popitem()[1]
            # Languages with one type of number write 1 as 1.0.
            is_integer = isinstance(response_id, float) and response_id.is_integer()
            return self._pending.pop(str(int(response_id) if is_integer else response_id), None)

    def _exit_error(self) -> ConnectionLost:
        what = ""
        try:
            self._process.wait(_EXIT_S)
        except subprocess.TimeoutExpired:
            what = "It closed its standard output. "
        self._stderr_thread.join(_EXIT_S)
        return ConnectionLost(what + self.symptoms(), fix="Run it by itself; pass what it needs with --env.")

    def _drain_stderr(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        rest = b""
        with contextlib.suppress(OSError, ValueError), stream:
            while chunk := stream.read(CHUNK_BYTES):
                *lines, rest = (rest + chunk).split(b"\n")
                self._errors.extend(line[:_STDERR_LINE_BYTES] for line in lines[-_STDERR_LINES:])
                rest = rest[:_STDERR_LINE_BYTES]
        self._errors.append(rest)

    def _last_errors(self) -> str:
        lines = (self._secrets.excerpt(line.decode("utf-8", "replace"), 1000) for line in self._errors.copy())
        return "\n".join(f"  {line}" for line in lines if line)


def _call(method: str, params: Params | None) -> dict[str, Json]:
    return {"method": method} if params is None else {"method": method, "params": params}
