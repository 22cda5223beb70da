"""HTTP servers of a test's own, on free ports of this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    """Answers without telling it."""

    def log_message(self, *arguments: object) -> None:
        """Says nothing."""


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
