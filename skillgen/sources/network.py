"""Fetches over HTTP what the user asked for, and nothing that a stranger could want to have fetched from here.

A redirect or a reference may name any address. So an address that the user did not name must be a public one: its host
is resolved first, and the request goes to the very address that was looked at (no second answer of a name server can
change it). Credentials stay with the origin for which they were given. Sizes, also decompressed, and times are bounded.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from skillgen.errors import SourceError
from skillgen.sources.addresses import public_url
from skillgen.sources.bounds import PATIENCE, SOURCE_LIMIT_BYTES
from skillgen.sources.unpacking import PACKED, NotWhole, unpacked

if TYPE_CHECKING:
    import httpx

REDIRECT_LIMIT = 5
"""Redirects that one fetch follows."""

_AS_IT_IS = ("", "identity")

_PORTS = {"http": 80, "https": 443}

Origin = tuple[str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What an address gave."""

    content: bytes
    """The body, decompressed."""

    url: str
    """Where it came from after redirects, without credentials and query."""

    content_type: str
    """The media type that the server sent with it; empty where it sent none."""

    status: int = 200
    """304 where the conditions of the request hold, and nothing came."""

    etag: str | None = None
    """Its `ETag`, for the conditions of a later request."""

    last_modified: str | None = None
    """Its `Last-Modified`, for the same."""

    no_store: bool = False
    """Whether it must not be kept."""


class StatusError(SourceError):
    """The server answered, and not with what was asked for."""

    def __init__(
        self, what: str, *, where: str, status: int, retry_after: str | None = None, fix: str | None = None
    ) -> None:
        super().__init__(what, where=where, fix=fix)
        self.status = status
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """What may be fetched, and how long it may take."""

    named: frozenset[str] = frozenset()
    """Hosts that the user named: they may be anywhere."""

    timeout_s: float = 30.0
    """For one answer of a server."""

    size_limit_bytes: int = SOURCE_LIMIT_BYTES
    """The largest body, decompressed."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent only to the origin that is asked first: they may hold credentials."""

    def fetch(self, url: str, *, accept: str = "*/*", conditions: Mapping[str, str] | None = None) -> Fetched:
        """Fetches a body; follows redirects. `conditions` are headers that make a request conditional.

        Raises:
            SourceError: it cannot be reached or must not be, or it is too large or too slow.
        """
        import httpx  # only here: it costs 0.1 s, and most sources are files

        where, whole_s = public_url(url), self.timeout_s * PATIENCE
        deadline, too_slow = time.monotonic() + whole_s, _too_slow(whole_s, where)
        first, current = origin_of(url), url
        if first is None:
            raise SourceError("is no http:// or https:// address", where=where, fix="check the address")
        try:
            with httpx.Client(timeout=self.timeout_s, follow_redirects=False) as client:
                for _ in range(REDIRECT_LIMIT + 1):
                    own = dict(self.headers) if origin_of(current) == first else {}
                    request = self._request(client, current, {**own, **(conditions or {}), "Accept": accept}, where)
                    line = _Line()
                    request.extensions = {**request.extensions, "trace": line.trace}
                    with line.cut_at(time.monotonic() + self.timeout_s, _too_slow(self.timeout_s, where)):
                        response = client.send(request, stream=True)
                    with contextlib.closing(response), line.cut_at(deadline, too_slow):
                        if not response.has_redirect_location:
                            return self._body(response, current, where)
                        current = self._next(response, current, where)
                raise _astray(f"redirects more than {REDIRECT_LIMIT} times", response, where)
        except httpx.TimeoutException:
            raise _too_slow(self.timeout_s, where) from None
        except httpx.RemoteProtocolError:
            what = "the server broke its answer off, or does not answer in HTTP"
            raise SourceError(what, where=where, fix="check the address and its port") from None
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            what = f"cannot be reached: {_reason(error)}"
            raise SourceError(what, where=where, fix="check the address") from None

    def _request(self, client: httpx.Client, url: str, headers: dict[str, str], where: str) -> httpx.Request:
        """Makes a request; to a host that nobody named, for the address that was looked at."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        headers["Accept-Encoding"] = "gzip, identity"
        if host.lower() in self.named:
            return client.build_request("GET", url, headers=headers)
        from urllib.request import getproxies, proxy_bypass

        if parts.scheme in getproxies() and not proxy_bypass(host):
            # The proxy resolves the name, and reaches only what it can reach.
            _refuse_private(_literal(host), host, where)
            return client.build_request("GET", url, headers=headers)
        address = _public_address(host, origin_of(url), where)
        literal = f"[{address}]" if ":" in address else address
        netloc = literal if parts.port is None else f"{literal}:{parts.port}"
        headers["Host"] = parts.netloc.rpartition("@")[2]
        pinned = urlunsplit((parts.scheme, netloc, parts.path, parts.query, ""))
        return client.build_request("GET", pinned, headers=headers, extensions={"sni_hostname": host})

    def _next(self, response: httpx.Response, current: str, where: str) -> str:
        """Gives where a redirect leads, without the credentials that were meant for another origin."""
        try:
            target: str = urljoin(current, response.headers.get("location", ""))
        except ValueError:  # a bracket that makes no sense
            target = ""
        before, after = origin_of(current), origin_of(target)
        if after is None:
            raise _astray("redirects to no http:// or https:// address", response, where)
        if before is not None and (before[0], after[0]) == ("https", "http"):
            raise _astray("redirects from https:// to http://", response, where, "give the address it redirects to")
        parts = urlsplit(target)
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2])
        return target if before == after else urlunsplit(bare)

    def _body(self, response: httpx.Response, url: str, where: str) -> Fetched:
        import httpx

        if response.status_code >= 400:
            # The phrase that stands in an answer is a text of the server's.
            phrase = httpx.codes.get_reason_phrase(response.status_code)
            raise StatusError(
                f"answered {response.status_code} {phrase}".rstrip(),
                where=where,
                status=response.status_code,
                retry_after=response.headers.get("retry-after"),
            )
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in (*_AS_IT_IS, *PACKED):
            what = f"is compressed in a way that skillgen does not read: {encoding[:40]}"
            raise StatusError(what, where=where, status=response.status_code)
        content = self._content(response.iter_raw(), encoding in PACKED, where)
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return Fetched(
            content=content,
            url=public_url(url),
            content_type=media_type,
            status=response.status_code,
            etag=response.headers.get("etag"),
            last_modified=response.headers.get("last-modified"),
            no_store="no-store" in response.headers.get("cache-control", "").lower(),
        )

    def _content(self, pieces: Iterator[bytes], is_packed: bool, where: str) -> bytes:
        content = bytearray()
        try:
            for piece in unpacked(pieces) if is_packed else pieces:
                content += piece
                if len(content) > self.size_limit_bytes:
                    raise SourceError(f"larger than {self.size_limit_bytes // 2**20} MiB", where=where)
        except NotWhole:
            what = "its body is compressed, and damaged or cut short"
            raise SourceError(what, where=where, fix="fetch it again, or give a file") from None
        return bytes(content)


class _Line:
    """The line on which one request goes. Cutting it ends whatever waits for its other end.

    The library's own time-out begins anew with each byte, so a server that sends headers, or chunks with nothing in
    them, one by one would be waited for without end.
    """

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._is_cut = False

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Notes the socket that the library opened, or the one that TLS made of it."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
            if self._is_cut:
                self._cut()

    @contextlib.contextmanager
    def cut_at(self, deadline: float, too_slow: SourceError) -> Iterator[None]:
        """Cuts the line if the block takes longer, and raises `too_slow`."""
        timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        except Exception:
            if self._is_cut:
                raise too_slow from None
            raise
        finally:
            timer.cancel()
        if self._is_cut:
            raise too_slow

    def _cut(self) -> None:
        self._is_cut = True
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


def origin_of(url: str) -> Origin | None:
    """Gives scheme, host and port of an address; none where it is not one of HTTP."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname:
        return None
    return parts.scheme, parts.hostname.lower(), port or _PORTS[parts.scheme]


def hosts_of(urls: Iterable[str]) -> frozenset[str]:
    """Gives the hosts of addresses that the user gave, as `Network.named` wants them."""
    return frozenset(origin[1] for url in urls if (origin := origin_of(url)) is not None)


def is_private(host: str) -> bool:
    """Tells whether a host, by its name alone, stands for this machine or for a network that is not public."""
    name = host.lower().rstrip(".")
    address = _literal(name)
    if address is not None:
        return not _is_public(address)
    return name == "localhost" or name.endswith((".localhost", ".local", ".internal", ".lan", ".home.arpa"))


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return None


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Looks also at the IPv4 address that an IPv6 address stands for (mapped, 6to4, NAT64)."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in ipaddress.IPv6Network("64:ff9b::/96"):
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return _is_public(inner)
    return address.is_global and not address.is_multicast


def checked_address(url: str, named: frozenset[str], where: str) -> str | None:
    """Refuses an address whose host nobody named and that is not public; a host that is not known is refused too.

    Returns the address of the host, for the connection to go to no other one; `None` where the user named the host, or
    a proxy resolves it.

    Raises:
        SourceError: it is one.
    """
    origin = origin_of(url)
    if origin is None:
        raise SourceError("leads to no http:// or https:// address", where=where)
    if origin[1] in named:
        return None
    from urllib.request import getproxies, proxy_bypass

    address = _public_address(origin[1], origin, where)
    return None if origin[0] in getproxies() and not proxy_bypass(origin[1]) else address


def _public_address(host: str, origin: Origin | None, where: str) -> str:
    """Resolves a host; every address that it has must be public."""
    port = origin[2] if origin is not None else 0
    try:
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError):
        raise SourceError(f"cannot be reached: the host {host[:80]} is not known", where=where) from None
    for address in found:
        _refuse_private(_literal(address), host, where)
    return found[0]


def _refuse_private(address: ipaddress.IPv4Address | ipaddress.IPv6Address | None, host: str, where: str) -> None:
    if address is not None and not _is_public(address):
        raise SourceError(
            f"leads to {host[:80]}, which is in a private network; only the user can name such an address",
            where=where,
            fix="give the address itself, if that is meant",
        )


def _astray(what: str, response: httpx.Response, where: str, fix: str = "check the address") -> StatusError:
    """Gives the error of a redirect that is not followed: another address of the server may be in order."""
    return StatusError(what, where=where, status=response.status_code, fix=fix)


def _too_slow(seconds: float, where: str) -> SourceError:
    return SourceError(f"no answer within {seconds:g} s", where=where, fix="give it more with --timeout")


def _reason(error: Exception) -> str:
    """Says why in words that quote neither a header nor the query of an address."""
    if isinstance(error, UnicodeError):
        return "the address or a header cannot be sent as it is"
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__
