"""A connection to an MCP server that skillgen starts: JSON-RPC, one message a line, over its standard streams.

It reads what real servers write rather than what the specification allows: banners between messages, other
encodings, answers with a string for an id or without `jsonrpc`. Three threads serve a server, so that nothing that
it does, or stops doing, can block the crawl.
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
from skillgen.sources.mcp.jsonrpc import (
    CHUNK_BYTES,
    ConnectionLost,
    Params,
    error_from_response,
    parse_messages,
    read_lines,
    response_to_server,
)
from skillgen.sources.mcp.process import ProcessTree

_BANNERS_LIMIT = 10_000
"""Lines that are no messages before the program is taken for something other than an MCP server."""

_UNSENT_LIMIT = 1_000
"""Answers to the server's own requests that wait for it to read."""

_FRAME_HEADER = re.compile(r"content-(?:length: *[0-9]+|type:.*)", re.IGNORECASE)

_STDERR_LINES = 20
_STDERR_LINE_BYTES = 64 * 1024
_LAST_WORDS_S = 1.0
"""How long a server that closed its standard output may take to exit, for its exit status."""


class StdioConnection:
    """A server process and the requests that it has not answered yet."""

    def __init__(
        self, command: tuple[str, ...], *, environment: Mapping[str, str], cwd: Path | None, secrets: Secrets
    ) -> None:
        """Starts the server.

        Raises:
            OSError: it cannot be started.
        """
        self._secrets = secrets
        self._family = ProcessTree(command, environment=environment, cwd=cwd)
        self._process = self._family.process
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
        """Closes the server's standard input at once; a thread of its own sees to it that all of it ends.

        That thread is no daemon: the interpreter waits for it, so that nothing is left running.
        """
        self._outbox.put(None)
        threading.Thread(target=self._family.end, name="skillgen-ending-a-server").start()

    def kill(self) -> None:
        """Ends the server and all that it started, at once."""
        self._family.kill()

    def symptoms(self) -> str:
        """Tells what the server wrote that is no answer, and whether it has exited."""
        seen = []
        if (status := self._process.poll()) is not None:
            seen.append(f"The process {_ending(status)}.")
        if self._banners:
            first = self._secrets.excerpt(self._first_banner, 120)
            lines = "1 line that is" if self._banners == 1 else f"{self._banners} lines that are"
            seen.append(f"It wrote {lines} no JSON-RPC message to standard output: {first!r}.")
        if last := self._last_errors():
            seen.append(f"It wrote to standard error:\n{last}")
        return " ".join(seen)

    def _post(self, message: dict[str, Json]) -> None:
        self._outbox.put(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def _write(self) -> None:
        stream = self._process.stdin
        assert stream is not None
        # A server that has gone is told from its standard output, whose end comes too.
        with contextlib.suppress(OSError, ValueError), stream:
            while (line := self._outbox.get()) is not None:
                stream.write(line)
                stream.flush()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        try:
            with stream:
                for line in read_lines(stream):
                    self._receive(line)
            lost = self._last_words()
        except ConnectionLost as error:
            lost = error
        except OSError:
            lost = self._last_words()
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
                f"It is no MCP server: {self.symptoms()}",
                fix="Give the command that starts the server with its stdio transport.",
            )

    def _handle(self, message: dict[str, Json]) -> None:
        if isinstance(method := message.get("method"), str):
            if message.get("id") is not None and self._outbox.qsize() < _UNSENT_LIMIT:
                self._post({"id": message["id"], **response_to_server(method)})
            return
        future = self._waiting_for(message.get("id"))
        if future is None:
            return
        if message.get("error") is not None:
            future.set_exception(error_from_response(message["error"]))
        else:
            future.set_result(message.get("result"))

    def _waiting_for(self, answer_id: Json) -> Future[Json] | None:
        with self._lock:
            # A server that could not read a request answers it with a null id.
            if answer_id is None and len(self._pending) == 1:
                return self._pending.popitem()[1]
            # JSON has one kind of number, and some languages write every one as 1.0.
            is_whole = isinstance(answer_id, float) and answer_id.is_integer()
            return self._pending.pop(str(int(answer_id) if is_whole else answer_id), None)

    def _last_words(self) -> ConnectionLost:
        try:
            what = f"It {_ending(self._process.wait(_LAST_WORDS_S))}."
        except subprocess.TimeoutExpired:
            what = "It closed its standard output."
        self._stderr_thread.join(_LAST_WORDS_S)
        if last := self._last_errors():
            what += f" Its last words on standard error:\n{last}"
        elif self._banners:
            what += f" It wrote to standard output: {self._secrets.excerpt(self._first_banner, 120)!r}."
        return ConnectionLost(what, fix="Run the command by itself and see what it wants.")

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
        lines = (self._secrets.excerpt(line.decode("utf-8", "replace")) for line in self._errors.copy())
        return "\n".join(f"  {line}" for line in lines if line)


def _call(method: str, params: Params | None) -> dict[str, Json]:
    return {"method": method} if params is None else {"method": method, "params": params}


def _ending(status: int) -> str:
    return f"exited with status {status}" if status >= 0 else f"was ended by signal {-status}"
