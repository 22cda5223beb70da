"""What a login may cost, and where it may lead: what a server names for it is looked at before anything is sent there.

The SDK reads whatever comes, for as long as it comes, from wherever the server says.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import anyio
import anyio.to_thread
import httpx2

from skillgen.errors import SourceError
from skillgen.sources.addresses import hosts_of, public_url
from skillgen.sources.bounds import PATIENCE
from skillgen.sources.network import checked_address

_BODY_LIMIT_BYTES = 1024 * 1024
"""Metadata, registrations and tokens have a few thousand."""

_WITH_BODY = (401, 403)
"""Statuses of the server itself whose body may matter; of another one the status alone does."""


class Bounds:
    """The bounds of one login."""

    def __init__(self, url: str, timeout_s: float, issuer: str | None = None) -> None:
        """Bounds a login to the server at `url`; `issuer` is the authorization server that the user named."""
        self._url = url
        self._named = hosts_of([url, issuer or ""])
        self._whole_s = PATIENCE * timeout_s
        self._scope: anyio.CancelScope | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Ends what takes too long.

        Raises:
            SourceError: it did.
        """
        with anyio.CancelScope(deadline=anyio.current_time() + self._whole_s) as scope:
            self._scope = scope
            yield
        if scope.cancelled_caught:
            where = public_url(self._url)
            raise SourceError(f"the login took longer than {self._whole_s:g} s", where=where, fix="try again later")

    @contextmanager
    def while_a_person_acts(self) -> Iterator[None]:
        """Stops the clock: a person takes their own time."""
        assert self._scope is not None
        self._scope.deadline = math.inf
        yield
        self._scope.deadline = anyio.current_time() + self._whole_s

    async def check(self, request: httpx2.Request) -> None:
        """Refuses a request to a private network that the user did not name; sends others to the checked address."""
        request.headers["Accept-Encoding"] = "identity"
        address = await self.check_address(str(request.url))
        if address is not None:
            request.headers["Host"] = request.url.netloc.decode("ascii")
            request.extensions = {**request.extensions, "sni_hostname": request.url.host}
            request.url = request.url.copy_with(host=address)

    async def check_address(self, url: str) -> str | None:
        """Refuses an address in a private network that the user did not name.

        Returns the address to connect to; `None` if the user named the host.

        Raises:
            SourceError: it is one.
        """
        return await anyio.to_thread.run_sync(checked_address, url, self._named, public_url(self._url))

    async def read(self, response: httpx2.Response) -> None:
        """Reads a whole answer, as far as it may go.

        Raises:
            SourceError: it is too large, or compressed, which nobody asked for.
        """
        request = response.request
        is_own = request.method == "POST" and str(request.url) == self._url
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            raise self._too_much("compressed, though it was asked for plain text")
        content = bytearray()
        if not is_own or response.status_code in _WITH_BODY:
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            async for chunk in response.stream:
                content += chunk
                if len(content) > _BODY_LIMIT_BYTES:
                    raise self._too_much(f"larger than {_BODY_LIMIT_BYTES // 2**20} MiB")
        response.stream = _Read(response.stream, bytes(content))

    def _too_much(self, what: str) -> SourceError:
        return SourceError(f"the login fails: an answer is {what}", where=public_url(self._url))


class _Read(httpx2.AsyncByteStream):
    """What was read of a response, whose own stream is closed with it."""

    def __init__(self, stream: object, content: bytes) -> None:
        assert isinstance(stream, httpx2.AsyncByteStream)
        self._stream = stream
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._content

    async def aclose(self) -> None:
        await self._stream.aclose()
