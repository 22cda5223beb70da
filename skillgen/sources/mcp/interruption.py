"""Ends crawls that run in other threads when the user interrupts: no server that was started may outlive skillgen."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Protocol

from skillgen.sources.mcp.connection import ConnectionLost


class Killable(Protocol):
    """A connection, or a command that runs."""

    def kill(self) -> None:
        """Ends it at once."""


class Interruption:
    """Knows the connections and commands that are open, and kills them all on request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[Killable] = set()
        self._is_over = False

    @contextlib.contextmanager
    def watched(self, connection: Killable) -> Iterator[None]:
        """Knows a connection for as long as it is used.

        Raises:
            ConnectionLost: everything is over already.
        """
        with self._lock:
            if not self._is_over:
                self._open.add(connection)
        if self._is_over:
            raise ConnectionLost("It was interrupted.")
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(connection)

    def refuse_more(self) -> None:
        """Raises once everything is over: a crawl must not start its server anew.

        Raises:
            ConnectionLost: everything is over.
        """
        if self._is_over:
            raise ConnectionLost("It was interrupted.")

    def interrupt(self) -> None:
        """Kills all connections, and refuses others from now on."""
        with self._lock:
            self._is_over = True
            connections = list(self._open)
        for connection in connections:
            connection.kill()
