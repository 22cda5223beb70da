"""Reads what comes over HTTP as what comes over stdio is read, before the SDK does.

The SDK's parser refuses a whole answer for one lone surrogate or one part that is nested more than 200 levels deep, and
takes ten times the memory of its text. So a result is read here and kept, and the SDK gets a note in its place that
says which it was.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import httpx2

from skillgen.model.value import Json
from skillgen.sources.mcp.connection import ConnectionLost
from skillgen.sources.mcp.wire import messages_in

_NOTE = "skillgen/kept"
_MESSAGE = "application/json"
_EVENT_STREAM = "text/event-stream"
_DATA = b"data:"


class KeptResults:
    """The results that were read and wait for the request that they answer."""

    def __init__(self) -> None:
        self._results: dict[str, Json] = {}
        self._count = 0

    def taken(self, result: Json) -> Json:
        """Gives the result that a note stands for; what is no note is the result itself."""
        note = result.get(_NOTE) if isinstance(result, dict) else None
        return self._results.pop(note, result) if isinstance(note, str) else result

    def watch(self, stream: object, content_type: str) -> httpx2.AsyncByteStream:
        """Gives a response's stream, in which notes stand for results."""
        assert isinstance(stream, httpx2.AsyncByteStream)
        if content_type == _EVENT_STREAM:
            return _Noted(stream, self._noted_events(stream))
        return _Noted(stream, self._noted_body(stream)) if content_type == _MESSAGE else stream

    async def _noted_body(self, chunks: httpx2.AsyncByteStream) -> AsyncIterator[bytes]:
        yield self._noted(b"".join([chunk async for chunk in chunks]))

    async def _noted_events(self, chunks: httpx2.AsyncByteStream) -> AsyncIterator[bytes]:
        parts: list[bytes] = []
        async for chunk in chunks:
            parts.append(chunk)
            if b"\n" in chunk:
                *lines, rest = b"".join(parts).split(b"\n")
                yield b"".join(self._noted_event(line) + b"\n" for line in lines)
                parts = [rest]
            elif b"\r" in chunk:  # lines may end so too, and then none is looked at
                yield b"".join(parts)
                parts = []
        yield b"".join(parts)

    def _noted_event(self, line: bytes) -> bytes:
        return _DATA + b" " + self._noted(line[len(_DATA) :].strip()) if line.startswith(_DATA) else line

    def _noted(self, text: bytes) -> bytes:
        """Gives a message with a note for its result; what is none, or several, as it stands."""
        try:
            messages, rest = messages_in(text)
        except ConnectionLost:
            return text
        if len(messages) != 1 or rest or not isinstance(messages[0].get("result"), dict):
            return text
        self._count += 1
        note = str(self._count)
        self._results[note] = messages[0]["result"]
        return json.dumps({"jsonrpc": "2.0", "id": messages[0].get("id"), "result": {_NOTE: note}}).encode()


class _Noted(httpx2.AsyncByteStream):
    """The body of a response, as it is passed on."""

    def __init__(self, stream: httpx2.AsyncByteStream, content: AsyncIterator[bytes]) -> None:
        self._stream = stream
        self._content = content

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._content

    async def aclose(self) -> None:
        await self._stream.aclose()
