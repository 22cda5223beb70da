"""Relays standard input and output to a mock in another process: `eval` grades from what its own process saw."""

from __future__ import annotations

import os
import socket
import sys
import threading

_CHUNK_BYTES = 64 * 1024


def relay(port: int, secret: str) -> None:
    """Copies until either end is closed; `secret` is what the mock expects first (`serving.relayed`)."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"{secret}\n".encode())

        def send() -> None:
            while data := os.read(0, _CHUNK_BYTES):
                connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)

        threading.Thread(target=send, daemon=True).start()
        while data := connection.recv(_CHUNK_BYTES):
            view = memoryview(data)
            while view:
                view = view[os.write(1, view) :]


if __name__ == "__main__":
    relay(int(sys.argv[1]), sys.argv[2])
