"""Where the browser comes back to after a login: a page on the loopback interface (RFC 8252, 7.3)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

CALLBACK_PATH = "/callback"

_PAGE = b"""<!doctype html><meta charset="utf-8"><title>skillgen</title>
<p>That is all. Close this page and go back to the terminal.</p>
"""


class Redirect(ThreadingHTTPServer):
    """A page that waits for the browser."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        """Begins to listen, at a free port unless one is named.

        Raises:
            OSError: the port is taken.
        """
        super().__init__(("127.0.0.1", port), _Page)
        self.answer: dict[str, str] = {}
        self.has_come = threading.Event()

    @property
    def url(self) -> str:
        """The redirect URI."""
        return f"http://127.0.0.1:{self.server_port}{CALLBACK_PATH}"


@contextmanager
def listening(port: int = 0) -> Iterator[Redirect]:
    """Listens for the browser; at another port where the one that is wished for is taken."""
    try:
        server = Redirect(port)
    except OSError:
        server = Redirect()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Page(BaseHTTPRequestHandler):
    server: Redirect

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the request holds the code."""

    def do_GET(self) -> None:
        """Takes the answer of the authorization server; what browsers ask for besides is not there."""
        parts = urlsplit(self.path)
        answer = dict(parse_qsl(parts.query))
        is_answer = parts.path == CALLBACK_PATH and ("code" in answer or "error" in answer)
        body = _PAGE if is_answer else b""
        self.send_response(200 if is_answer else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if is_answer and not self.server.has_come.is_set():
            self.server.answer = answer
            self.server.has_come.set()
