"""HTTP servers of a test's own, on free ports of this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    """Answers without telling it."""

    def log_message(self, *arguments: object) -> None:
        """Says nothing."""


class Recorder(QuietHandler):
    """Answers with the request, and redirects elsewhere where its path ends in 3."""

    elsewhere = ""

    def answer(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode("latin-1")
        entry = {"method": self.command, "path": self.path, "headers": dict(self.headers), "body": content}
        status = 302 if self.path.endswith("/3") else 429 if self.path.endswith("/4") else 200
        body = json.dumps(entry).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 302:
            self.send_header("Location", f"{type(self).elsewhere}/v1/notes/9")
        if status == 429:
            self.send_header("Retry-After", "17")
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_DELETE = answer


@contextmanager
def http_servers() -> Iterator[Callable[[type[QuietHandler]], str]]:
    """Yields a function that starts a server and yields its address; all of them end with the block."""
    servers: list[ThreadingHTTPServer] = []

    def start(handler: type[QuietHandler]) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
