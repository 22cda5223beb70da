"""The interface of a connection to an MCP server, its errors, and the parsing of JSON-RPC messages.

Requests return futures, so that several can be in flight without an event loop: importing `asyncio` would slow down the
start. The parser accepts what real servers write, such as banners between messages.
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
    """The server answered a request with an error."""

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
        """The `WWW-Authenticate` header of a response that requires credentials."""
        self.retry_after = retry_after
        """The `Retry-After` header of a busy server."""


class ConnectionLost(Exception):
    """The server has exited or breaks the protocol: no further request will be answered."""

    def __init__(self, what: str, *, fix: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix


class Connection(Protocol):
    """A connection to an MCP server."""

    def send(self, method: str, params: Params | None) -> Future[Json]:
        """Sends a request. The future holds the raw result, or fails with `RpcError` or `ConnectionLost`."""

    def notify(self, method: str, params: Params | None) -> None:
        """Sends a notification; does nothing on a lost connection."""

    def close(self) -> None:
        """Closes the connection in the background, and stops the server if skillgen started it."""

    def kill(self) -> None:
        """Closes the connection immediately, and kills the server if skillgen started it."""

    def symptoms(self) -> str:
        """Returns complete sentences that help to explain an unanswered request; may be empty."""


CHUNK_BYTES = 64 * 1024

_LINE_LIMIT_BYTES = 128 * 1024 * 1024
_METHOD_NOT_FOUND = -32601


def read_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yields the lines of an unbuffered stream as they arrive, without line breaks.

    Raises:
        ConnectionLost: the server sends more than the limit.
    """
    parts: list[bytes] = []
    line_bytes = total_bytes = 0
    while chunk := stream.read(CHUNK_BYTES):
        first, *others = chunk.split(b"\n")
        parts.append(first)
        total_bytes += len(chunk)
        line_bytes += len(first)
        if total_bytes > SOURCE_LIMIT_BYTES:
            raise ConnectionLost(f"It sent more than {SOURCE_LIMIT_BYTES // 2**20} MiB, the limit of a crawl.")
        if line_bytes > _LINE_LIMIT_BYTES:
            raise ConnectionLost(f"It sent a line of more than {_LINE_LIMIT_BYTES // 2**20} MiB.")
        if others:
            yield b"".join(parts)
            yield from others[:-1]
            parts, line_bytes = [others[-1]], len(others[-1])
    yield b"".join(parts)


def is_utf8(text: bytes) -> bool:
    """True if the bytes are valid UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def parse_messages(line: bytes) -> tuple[list[dict[str, Json]], str]:
    """Splits a line into its messages (several in a batch, 2025-03-26) and the text that is not a message.

    A banner without a line break precedes the first message on the same line. Values that are nested too deeply are
    omitted and marked, as are duplicate keys (`json_text.parse_marked_json`).

    Raises:
        ConnectionLost: a message is nested so deeply that it cannot be parsed at all.
    """
    text = line.decode("utf-8", "replace").strip("\ufeff \t\r")
    # Where a message may begin, the most likely first.
    starts = [0 if text.startswith(("{", "[")) else -1, text.find('{"jsonrpc"'), text.find('{"')]
    for start in dict.fromkeys(offset for offset in starts if offset >= 0):
        try:
            value, end = parse_marked_json(text, start)
        except ValueError:
            continue
        except RecursionError:
            raise ConnectionLost("It sent a message that is nested too deeply to be parsed.") from None
        messages = [item for item in (value if isinstance(value, list) else [value]) if _is_message(item)]
        if messages:
            return messages, text[:start] + text[end:]
    return [], text


def error_from_response(error: Json) -> RpcError:
    """Reads the `error` of a response; some servers write a plain string there, or a string as the code."""
    if not isinstance(error, dict):
        return RpcError(str(error))
    code = error.get("code")
    is_code = isinstance(code, (int, str)) and not isinstance(code, bool)
    return RpcError(str(error.get("message", "")), code=code if is_code else None, data=error.get("data"))


def response_to_server(method: str) -> dict[str, Json]:
    """Returns the response to a request of the server: skillgen answers `ping` and offers no method."""
    if method == "ping":
        return {"result": {}}
    return {"error": {"code": _METHOD_NOT_FOUND, "message": "skillgen answers no requests of servers"}}


def _is_message(item: Json) -> bool:
    """True unless the item is something else, such as a log record in JSON; many servers omit `jsonrpc`."""
    if not isinstance(item, dict):
        return False
    is_response = "id" in item and ("result" in item or item.get("error") is not None)
    return is_response or isinstance(item.get("method"), str)
