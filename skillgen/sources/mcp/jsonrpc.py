"""Connection protocol, RPC errors, framing.

What the crawl needs of a connection to an MCP server, whatever it runs over.

Requests are sent at once and answered by futures, so that several can be under way without an event loop: the
interpreter starts faster without one.

JSON-RPC as servers really write it on a stream of bytes: what is a message, and whose answer it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from typing import IO, Protocol

from skillgen.model.values import Json
from skillgen.sources.json_access import SOURCE_LIMIT_BYTES
from skillgen.sources.json_text import parse_marked_json

Params = Mapping[str, Json]


class RpcError(Exception):
    """A request that the server answered with an error."""

    def __init__(
        self,
        message: str,
        *,
        code: int | str | None = None,
        data: Json = None,
        http_status: int | None = None,
        challenge: str | None = None,
        retry_after: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.data = data
        self.http_status = http_status
        self.challenge = challenge
        """The `WWW-Authenticate` header of a response that asks for credentials."""
        self.retry_after = retry_after
        """The `Retry-After` header of a busy server."""


class ConnectionLost(Exception):
    """The server is gone, or cannot be understood any more: no request will be answered."""

    def __init__(self, what: str, *, fix: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix


class Connection(Protocol):
    """A connection to an MCP server."""

    def send(self, method: str, params: Params | None) -> Future[Json]:
        """Sends a request. The future holds the raw result, or fails with `RpcError` or `ConnectionLost`."""

    def notify(self, method: str, params: Params | None) -> None:
        """Sends a notification; on a connection that is lost it does nothing."""

    def close(self) -> None:
        """Ends the connection in the background, and the server with it if it was started for it."""

    def kill(self) -> None:
        """Ends the connection at once."""

    def symptoms(self) -> str:
        """Tells what else is known when a request stays unanswered; empty, or whole sentences."""


CHUNK_BYTES = 64 * 1024

_LINE_LIMIT_BYTES = 128 * 1024 * 1024
_METHOD_NOT_FOUND = -32601


def lines_of(stream: IO[bytes]) -> Iterator[bytes]:
    """Gives the lines of an unbuffered stream as they come, without their ends.

    Raises:
        ConnectionLost: there is more than a server may send.
    """
    parts: list[bytes] = []
    line_bytes = total_bytes = 0
    while chunk := stream.read(CHUNK_BYTES):
        first, *others = chunk.split(b"\n")
        parts.append(first)
        total_bytes += len(chunk)
        line_bytes += len(first)
        if total_bytes > SOURCE_LIMIT_BYTES or line_bytes > _LINE_LIMIT_BYTES:
            raise ConnectionLost(f"It sent more than skillgen reads, which is {SOURCE_LIMIT_BYTES // 2**20} MiB.")
        if others:
            yield b"".join(parts)
            yield from others[:-1]
            parts, line_bytes = [others[-1]], len(others[-1])
    yield b"".join(parts)


def messages_in(line: bytes) -> tuple[list[dict[str, Json]], str]:
    """Splits a line into its messages (several in a batch, 2025-03-26) and the text that is no message.

    A banner without a line end stands before the first message on its line. What is nested too deeply is left out, and
    marked, as a key that stands twice is (`json_text.parse_marked_json`).

    Raises:
        ConnectionLost: a message is nested too deeply, and can't be read without that.
    """
    text = line.decode("utf-8", "replace").strip("\ufeff \t\r")
    for start in _starts(text):
        try:
            value, end = parse_marked_json(text, start)
        except ValueError:
            continue
        except RecursionError:
            raise ConnectionLost("It sent a message that is nested too deeply to be read.") from None
        messages = [item for item in (value if isinstance(value, list) else [value]) if _is_message(item)]
        if messages:
            return messages, text[:start] + text[end:]
    return [], text


def error_from_answer(error: Json) -> RpcError:
    """Reads the `error` of an answer; some servers write a mere text there, or a text for the code."""
    if not isinstance(error, dict):
        return RpcError(str(error))
    code = error.get("code")
    is_code = isinstance(code, (int, str)) and not isinstance(code, bool)
    return RpcError(str(error.get("message", "")), code=code if is_code else None, data=error.get("data"))


def answer_to_server(method: str) -> dict[str, Json]:
    """Gives the answer to a request of the server: it is told that skillgen is there, and offers nothing."""
    if method == "ping":
        return {"result": {}}
    return {"error": {"code": _METHOD_NOT_FOUND, "message": "skillgen only reads what a server offers"}}


def _starts(text: str) -> list[int]:
    """Gives the places at which a message may begin, the likeliest first."""
    places = [0 if text.startswith(("{", "[")) else -1, text.find('{"jsonrpc"'), text.find('{"')]
    return [place for place in dict.fromkeys(places) if place >= 0]


def _is_message(item: Json) -> bool:
    """Tells a message from a log record in JSON; many servers leave out `jsonrpc`."""
    return isinstance(item, dict) and (isinstance(item.get("method"), str) or ("id" in item and _has_outcome(item)))


def _has_outcome(item: dict[str, Json]) -> bool:
    return "result" in item or item.get("error") is not None
