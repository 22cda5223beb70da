"""What the crawl needs of a connection to an MCP server, whatever it runs over.

Requests are sent at once and answered by futures, so that several can be under way without an event loop: the
interpreter starts faster without one.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Protocol

from skillgen.model.value import Json

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
