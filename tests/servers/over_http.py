"""The kiosk over HTTP, in one of several manners: Streamable HTTP, HTTP+SSE, and ways to fail."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import queue
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from servers.kiosk import LEGACY, MODERN, Json, Kiosk

SESSION = "session-of-the-kiosk"


class KioskOverHttp(ThreadingHTTPServer):
    """A running server; it keeps what it received."""

    daemon_threads = True

    def __init__(self, manner: str) -> None:
        super().__init__(("127.0.0.1", 0), MANNERS[manner])
        self.kiosk = Kiosk(MODERN) if manner == "modern" else Kiosk(*LEGACY)
        self.received: list[tuple[str, dict[str, str], Json]] = []
        self.events: queue.Queue[Json | None] = queue.Queue()
        self.released = threading.Event()
        self.told = threading.Event()
        self.refused: set[str] = set()
        self.busy_until = 0.0
        self.too_early: list[str] = []
        """Methods that were asked for while the server was busy."""
        self.url = f"http://127.0.0.1:{self.server_port}/mcp"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing: clients leave when they have heard enough."""


class _Handler(BaseHTTPRequestHandler):
    server: KioskOverHttp
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        self.note({})
        self.reply(405)

    def do_DELETE(self) -> None:
        self.note({})
        self.reply(200)

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.note(message)
        self.post(message)

    def post(self, message: Json) -> None:
        """Answers a message; every manner does it in its own way."""
        raise NotImplementedError

    def note(self, message: Json) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.received.append((self.command, headers, message))

    def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class _WithJson(_Handler):
    """Answers with JSON, in a session, and wants the session's id back."""

    def post(self, message: Json) -> None:
        in_session = self.headers.get("Mcp-Session-Id") == SESSION
        if message["method"] not in ("initialize", "server/discover") and not in_session:
            self.reply(400, b"no session", Content_Type="text/plain")
        elif (answer := self.server.kiosk.answer(message)) is None:
            self.reply(202)
        else:
            self.reply(200, json.dumps(answer).encode(), Content_Type="application/json", Mcp_Session_Id=SESSION)


class _EndingSession(_Handler):
    """Ends its first session when its lists are requested, and refuses to open one within another."""

    is_over = False

    def post(self, message: Json) -> None:
        session = self.headers.get("Mcp-Session-Id")
        if message["method"] == "initialize":
            number = [item.get("method") for _, _, item in self.server.received].count("initialize")
            answer = self.server.kiosk.answer(message)
            status = 400 if session else 200
            self.reply(status, json.dumps(answer).encode(), Content_Type="application/json", Mcp_Session_Id=f"{number}")
        elif (answer := self.server.kiosk.answer(message)) is None:
            self.reply(202)
        elif self.is_over or (session == "1" and message["method"] not in ("server/discover", "ai_help")):
            self.reply(404, b"Session not found", Content_Type="text/plain")
        else:
            self.reply(200, json.dumps(answer).encode(), Content_Type="application/json")


class _WithoutSession(_EndingSession):
    """Ends every session."""

    is_over = True


class _InLatin1(_Handler):
    """Writes the encoding of its system."""

    def post(self, message: Json) -> None:
        kiosk = self.server.kiosk
        kiosk.methods["tools/list"] = lambda _: {"tools": [{"name": "pay", "description": "Zahlt die Größe."}]}
        if (answer := kiosk.answer(message)) is None:
            self.reply(202)
        else:
            body = json.dumps(answer, ensure_ascii=False).encode("latin-1")
            self.reply(200, body, Content_Type="application/json")


class _Moved(_WithJson):
    """Answers below a path with a slash at its end."""

    def post(self, message: Json) -> None:
        if self.path.endswith("/"):
            super().post(message)
        else:
            self.reply(307, Location=f"{self.path}/")


class _Odd(_Handler):
    """Answers with what parsers refuse: half a pair, depth, NaN, a batch of one, and neither version nor plain JSON."""

    def post(self, message: Json) -> None:
        answer = self.server.kiosk.answer(message)
        if answer is None:
            self.reply(202)
            return
        del answer["jsonrpc"]
        text = json.dumps([answer]).replace('"Buys a newspaper."', '"Buys a \\ud83d paper, \\ud83d\\ude00 \\\\ud800."')
        deep = '{"items": ' * 150 + '{"default": NaN, "maximum": 1e999}' + "}" * 150
        text = text.replace('"title": {"type": "string"}', f'"title": {{"type": "string"}}, "deep": {deep}')
        text = text.replace('"risk_level"', f'"deeper": {"[" * 300}{"]" * 300}, "risk_level"')
        body = b"\xef\xbb\xbf" + text.encode()
        if message["method"] == "tools/list":
            self.reply(200, b": hi\r\rdata:" + text.encode() + b"\r\r", Content_Type="text/event-stream")
        else:
            self.reply(200, body, Content_Type="application/json")


class _WithEvents(_Handler):
    """Answers with a stream of events: something to ignore first, then the answer."""

    def post(self, message: Json) -> None:
        self.reply_with_events(message)

    def reply_with_events(self, message: Json) -> None:
        answer = self.server.kiosk.answer(message)
        if answer is None:
            self.reply(202)
        else:
            chatter = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "hm"}}
            body = b"".join(b"event: message\ndata: " + json.dumps(m).encode() + b"\n\n" for m in (chatter, answer))
            self.reply(200, body, Content_Type="text/event-stream")


class _Modern(_Handler):
    """Speaks the newest version only, and checks the headers that repeat the body (SEP-2243)."""

    def post(self, message: Json) -> None:
        if self.headers.get("Mcp-Method") != message["method"] or self.headers.get("MCP-Protocol-Version") != MODERN:
            error = {"code": -32020, "message": "Header mismatch"}
            status, answer = 400, {"jsonrpc": "2.0", "id": message.get("id"), "error": error}
        else:
            answer = self.server.kiosk.answer(message) or {}
            status = 404 if "error" in answer else 200
        self.reply(status, json.dumps(answer).encode(), Content_Type="application/json")


class _Old(_Handler):
    """HTTP+SSE of 2024-11-05: answers come on the stream of a GET."""

    endpoint = "/messages?session=1"

    def do_GET(self) -> None:
        self.note({})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        if not self.endpoint:
            return
        self.wfile.write(f"event: endpoint\ndata: {self.endpoint}\n\n".encode())
        while (answer := self.server.events.get()) is not None:
            self.wfile.write(b"event: message\ndata: " + json.dumps(answer).encode() + b"\n\n")

    def post(self, message: Json) -> None:
        is_message = self.path.startswith("/messages")
        if is_message and (answer := self.server.kiosk.answer(message)) is not None:
            self.server.events.put(answer)
        self.reply(202 if is_message else 405)


class _OldBusy(_Old):
    """Refuses the first message of each method, and takes messages again a second later."""

    def post(self, message: Json) -> None:
        method, now = message["method"], time.monotonic()
        if self.path.startswith("/messages") and now < self.server.busy_until:
            self.server.too_early.append(method)
        if self.path.startswith("/messages") and method in ("initialize", "tools/list"):
            if method not in self.server.refused:
                self.server.refused.add(method)
                self.server.busy_until = now + 1
                self.reply(429, Retry_After="1")
                return
        super().post(message)


class _Locked(_WithEvents):
    """Wants credentials."""

    def post(self, message: Json) -> None:
        if self.headers.get("Authorization") == "Bearer open-sesame":
            self.reply_with_events(message)
        else:
            metadata = "https://kiosk.test/.well-known/oauth-protected-resource"
            self.reply(401, WWW_Authenticate=f'Bearer realm="kiosk", resource_metadata="{metadata}"')


class _Busy(_WithEvents):
    """Answers the first request of each method with 429, and takes requests again a second later."""

    def post(self, message: Json) -> None:
        method, now = message["method"], time.monotonic()
        if now < self.server.busy_until:
            self.server.too_early.append(method)
        if method in ("server/discover", "tools/list") and method not in self.server.refused:
            self.server.refused.add(method)
            self.server.busy_until = now + 1
            self.reply(429, Retry_After="1")
            return
        self.reply_with_events(message)


class _Compressed(_Handler):
    """Compresses what it was asked to send unchanged."""

    def post(self, message: Json) -> None:
        answer = json.dumps(self.server.kiosk.answer(message) or {}).encode()
        self.reply(200, gzip.compress(answer), Content_Type="application/json", Content_Encoding="gzip")


class _Hanging(_Handler):
    def post(self, message: Json) -> None:
        self.server.released.wait()


class _Endless(_Handler):
    """Answers with as much JSON as one takes."""

    def post(self, message: Json) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        while not self.server.released.is_set():
            self.wfile.write(b" " * 2**20)


class _Asking(_Handler):
    """Sends requests of its own without end."""

    def post(self, message: Json) -> None:
        if "method" not in message:
            self.reply(202)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for number in itertools.count():
            method = "ping" if number % 2 else "roots/list"
            event = json.dumps({"jsonrpc": "2.0", "id": f"own-{number}", "method": method})
            self.wfile.write(f"data: {event}\n\n".encode())


class _CutOff(_WithEvents):
    """Breaks the connection off when it is asked for resources, after it listed its tools."""

    def post(self, message: Json) -> None:
        if message["method"] == "resources/list":
            self.server.told.wait(10)
            self.close_connection = True
            return
        self.reply_with_events(message)
        if message["method"] == "tools/list":
            self.server.told.set()


def _always(status: int, body: bytes = b"", **headers: str) -> type[_Handler]:
    """Returns a handler with one answer to all messages."""
    return type("_Always", (_Handler,), {"post": lambda self, _: self.reply(status, body, **headers)})


def _old_at(endpoint: str) -> type[_Handler]:
    """Returns HTTP+SSE with another endpoint."""
    return type("_OldAt", (_Old,), {"endpoint": endpoint})


SCOPES = 'Bearer error="insufficient_scope", scope="papers:read papers:buy", resource_metadata="https://x"'

MANNERS: dict[str, type[_Handler]] = {
    "json": _WithJson,
    "events": _WithEvents,
    "modern": _Modern,
    "moved": _Moved,
    "odd": _Odd,
    "ending-session": _EndingSession,
    "without-session": _WithoutSession,
    "in-latin-1": _InLatin1,
    "old": _Old,
    "old-busy": _OldBusy,
    "old-elsewhere": _old_at("http://elsewhere.test/messages"),
    "old-without-slash": _old_at("\\\\elsewhere.test/messages"),
    "old-without-host": _old_at("http:elsewhere.test"),
    "old-without-endpoint": _old_at(""),
    "locked": _Locked,
    "forbidding": _always(403),
    "scoped": _always(403, WWW_Authenticate=SCOPES),
    "busy": _Busy,
    "overloaded": _always(503, Retry_After="3600"),
    "crowded": _always(429),
    "nowhere": _always(404),
    "broken": _always(503, b"<h1>down</h1>", Content_Type="text/html"),
    "website": _always(200, b"<h1>Welcome</h1>", Content_Type="text/html"),
    "no-json": _always(200, b"{oops", Content_Type="application/json"),
    "compressed": _Compressed,
    "hanging": _Hanging,
    "endless": _Endless,
    "asking": _Asking,
    "redirecting": _always(302, Location="https://elsewhere.test/mcp?token=abcdef"),
    "cut-off": _CutOff,
}


@contextlib.contextmanager
def running(manner: str) -> Iterator[KioskOverHttp]:
    """Runs the server in a thread."""
    with KioskOverHttp(manner) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.released.set()
            server.events.put(None)
            server.shutdown()
            thread.join()
