"""HTTP requests and responses of a mock."""

from __future__ import annotations

from email.message import Message

from msgspec import Struct


class Request(Struct, frozen=True):
    """An HTTP request."""

    method: str
    target: str
    """Path and query, as they were sent."""

    headers: Message
    body: bytes


class Response(Struct, frozen=True):
    """An HTTP response."""

    status: int
    headers: dict[str, str] = {}
    body: bytes = b""
