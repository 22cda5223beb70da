"""Bounded fetch, retry, cache, no private hosts.

Unpacks a body that came compressed, piece by piece: all of it, or a word that it is not whole.

The HTTP library reads the first member of gzip alone and takes one that ends early for whole. A description in YAML
that was cut would be a smaller one.

Fetches over HTTP what the user asked for, and nothing that a stranger could want to have fetched from here.

A redirect or a reference may name any address. An address that the user did not name must be public: its host is
resolved first, and the connection goes to the address that was checked, so a second answer of a name server changes
nothing. A proxy too is asked for a tunnel to that address, and TLS still verifies the name. Credentials stay with the
origin for which they were given. Sizes, also decompressed, and times are bounded.

The user's cache folder, and in it what was fetched before, with the validators that let a server answer "unchanged"
(RFC 9111, 4.3).

It is never in the project or in OUT. Only documents that anybody may read are cached: the caller asks for none that was
fetched with credentials. A cache that cannot be read or written costs a download and no more.

Fetches a document: again when a busy server says so, and only for what changed since the last time.
"""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress
import json
import os
import socket
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from skillgen.errors import SourceError
from skillgen.security.addresses import hosts_of, is_private, is_public_address, literal_address, origin_of, public_url
from skillgen.security.secrets import Secrets
from skillgen.sources.json_access import SOURCE_LIMIT_BYTES, TOTAL_TIMEOUT_FACTOR

if TYPE_CHECKING:
    import ssl

    import httpx2


PIECE_BYTES = 1 << 20
"""The most that one step gives, whatever a piece of the body stands for."""

PACKED = ("gzip", "x-gzip", "deflate")
"""The encodings that are unpacked, and each only once: a thousandfold at the most."""

_EITHER_HEADER = zlib.MAX_WBITS | 32
_GZIP_MARK = b"\x1f\x8b"


class NotWhole(Exception):
    """A body is damaged or ends early."""


def unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Gives what a body of one of `PACKED` stands for; what follows the last member is no part of it (RFC 1952, 2.2).

    Raises:
        NotWhole: it can't be unpacked, or not to its end.
    """
    reader = zlib.decompressobj(_EITHER_HEADER)
    rest = b""
    try:
        for piece in pieces:
            rest += piece
            while rest:
                if reader.eof:
                    if not _GZIP_MARK.startswith(rest[:2]):
                        return
                    if len(rest) < len(_GZIP_MARK):
                        break
                    reader = zlib.decompressobj(_EITHER_HEADER)
                yield reader.decompress(rest, PIECE_BYTES)
                rest = reader.unused_data if reader.eof else reader.unconsumed_tail
    except zlib.error:
        raise NotWhole from None
    if not reader.eof:
        raise NotWhole


REDIRECT_LIMIT = 5
"""Redirects that one fetch follows."""

_AS_IT_IS = ("", "identity")


_NAME_IT = "give the address itself, if that is meant"


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

    advice = "check the address"

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
        import httpx2  # only here: it costs 0.1 s, and most sources are files

        where, whole_s = public_url(url), self.timeout_s * TOTAL_TIMEOUT_FACTOR
        deadline, too_slow = time.monotonic() + whole_s, _too_slow(whole_s, where)
        first, current = origin_of(url), url
        if first is None:
            raise SourceError("is no http:// or https:// address", where=where, fix="check the address")
        try:
            certificates = httpx2.create_ssl_context()
            for _ in range(REDIRECT_LIMIT + 1):
                own = dict(self.headers) if origin_of(current) == first else {}
                headers = {**own, **(conditions or {}), "Accept": accept, "Accept-Encoding": "gzip, identity"}
                proxy = _proxy_for(current)
                # A client with a transport of its own reads no proxy from the environment: there is one decision.
                transport = _transport(certificates, proxy, where)
                with httpx2.Client(transport=transport, timeout=self.timeout_s) as client:
                    request = self._request(client, current, headers, where)
                    line = _Line()
                    request.extensions = {**request.extensions, "trace": line.trace}
                    with line.cut_at(time.monotonic() + self.timeout_s, _too_slow(self.timeout_s, where)):
                        response = client.send(request, stream=True)
                    with contextlib.closing(response), line.cut_at(deadline, too_slow):
                        if not response.has_redirect_location:
                            return self._body(response, current, where)
                        current = self._next(response, current, where)
            raise _astray(f"redirects more than {REDIRECT_LIMIT} times", response, where)
        except httpx2.TimeoutException:
            raise _too_slow(self.timeout_s, where) from None
        except httpx2.RemoteProtocolError:
            what = "the server broke its answer off, or does not answer in HTTP"
            raise SourceError(what, where=where, fix="check the address and its port") from None
        except httpx2.ProxyError:
            what = "cannot be reached: the proxy refuses the connection"
            raise SourceError(what, where=where, fix="check HTTPS_PROXY and NO_PROXY") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
            what = f"cannot be reached: {_reason(error)}"
            raise SourceError(what, where=where, fix="check the address") from None

    def _request(self, client: httpx2.Client, url: str, headers: dict[str, str], where: str) -> httpx2.Request:
        """Builds a request; to a host that the user did not name, for the address that was checked."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        address = resolve_public_address(url, self.named, where)
        if address is None:
            return client.build_request("GET", url, headers=headers)
        literal = f"[{address}]" if ":" in address else address
        netloc = literal if parts.port is None else f"{literal}:{parts.port}"
        headers["Host"] = parts.netloc.rpartition("@")[2]
        pinned = urlunsplit((parts.scheme, netloc, parts.path, parts.query, ""))
        return client.build_request("GET", pinned, headers=headers, extensions={"sni_hostname": host})

    def _next(self, response: httpx2.Response, current: str, where: str) -> str:
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

    def _body(self, response: httpx2.Response, url: str, where: str) -> Fetched:
        import httpx2

        if response.status_code >= 400:
            # The phrase that stands in an answer is a text of the server's.
            phrase = httpx2.codes.get_reason_phrase(response.status_code)
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


def resolve_public_address(url: str, named: frozenset[str], where: str) -> str | None:
    """Resolves the host of a URL and refuses it unless each of its addresses is public.

    Returns the address to connect to, whether directly or through a tunnel of a proxy; `None` if the user named the
    host.

    Raises:
        SourceError: the host is private or unknown, or no tunnel leads to the address.
    """
    origin = origin_of(url)
    if origin is None:
        raise SourceError("leads to no http:// or https:// address", where=where)
    scheme, host, port = origin
    if host in named:
        return None
    if is_private(host):
        raise _private(host, where)
    address = _public_address(host, port, where)
    if scheme == "http" and _proxy_for(url) is not None:
        # RFC 9112, 3.2.2: a proxy takes the host from the URL alone, so the name or the address would be lost.
        what = (
            f"leads to {host[:80]} over http:// through a proxy, which cannot be held to the address that was checked"
        )
        raise SourceError(what, where=where, fix=_NAME_IT)
    return address


def _proxy_for(url: str) -> str | None:
    """Returns the proxy that the environment declares for a URL, unless NO_PROXY excludes its host."""
    from urllib.request import getproxies, proxy_bypass

    origin, proxies = origin_of(url), getproxies()
    proxy = proxies.get(origin[0]) or proxies.get("all") if origin is not None else None
    if origin is None or not proxy or proxy_bypass(origin[1]) or proxy_bypass(f"{origin[1]}:{origin[2]}"):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _transport(certificates: ssl.SSLContext, proxy: str | None, where: str) -> httpx2.HTTPTransport:
    import httpx2

    try:
        return httpx2.HTTPTransport(verify=certificates, proxy=proxy)
    except (httpx2.InvalidURL, ImportError, ValueError):
        fix = "set HTTP_PROXY and HTTPS_PROXY to an http:// or https:// URL"
        raise SourceError("the proxy's URL is invalid", where=where, fix=fix) from None


def _public_address(host: str, port: int, where: str) -> str:
    """Returns the first address of a host, if all of them are public."""
    try:
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError):
        found = []
    if not found:
        raise SourceError(f"cannot be reached: the host {host[:80]} is not known", where=where, fix=_NAME_IT)
    for address in found:
        _refuse_private(literal_address(address), host, where)
    return found[0]


def _refuse_private(address: ipaddress.IPv4Address | ipaddress.IPv6Address | None, host: str, where: str) -> None:
    if address is not None and not is_public_address(address):
        raise _private(host, where)


def _private(host: str, where: str) -> SourceError:
    what = f"leads to {host[:80]}, which is in a private network; only the user can name such an address"
    return SourceError(what, where=where, fix=_NAME_IT)


def _astray(what: str, response: httpx2.Response, where: str, fix: str = "check the address") -> StatusError:
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


ENTRIES_LIMITS = {"fetched": 50, "built": 1_000}
"""Entries that are kept of each kind: documents, and the last runs of targets; the ones unused for longest go."""

SIZE_LIMIT_BYTES = 64 * 1024 * 1024
"""The largest document that is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A document that was fetched before."""

    etag: str | None
    """Its `ETag`."""

    last_modified: str | None
    """Its `Last-Modified`."""

    content: bytes
    """The document."""

    @property
    def conditions(self) -> dict[str, str]:
        """The request headers that ask for it only if it changed."""
        found = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in found.items() if value}


def kept_for(url: str) -> Kept | None:
    """Gives what was kept of an address."""
    cached = read_cached("fetched", url)
    if cached is None:
        return None
    try:
        head, _, content = cached.partition(b"\n")
        described = json.loads(head)
        kept = Kept(etag=described["etag"], last_modified=described["last_modified"], content=content)
        if described["sha256"] != hashlib.sha256(content).hexdigest():
            return None
    except (ValueError, LookupError, TypeError):
        return None
    return kept


def keep(url: str, kept: Kept) -> None:
    """Keeps a document for the next run, readable by this user only."""
    if not kept.conditions or len(kept.content) > SIZE_LIMIT_BYTES:
        return
    head = {
        "etag": kept.etag,
        "last_modified": kept.last_modified,
        "sha256": hashlib.sha256(kept.content).hexdigest(),
    }
    write_cached("fetched", url, json.dumps(head).encode() + b"\n" + kept.content)


def read_cached(kind: str, key: str) -> bytes | None:
    """Returns what is cached for a key, or `None`."""
    with suppress(OSError, RuntimeError):
        path = _path(kind, key)
        content = path.read_bytes()
        path.touch()
        return content
    return None


def write_cached(kind: str, key: str, content: bytes) -> None:
    """Caches something for the next run, readable by this user only; of each kind the newest entries are kept."""
    with suppress(OSError, RuntimeError):
        path = _path(kind, key)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)  # of mode 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
        _forget_oldest(path.parent, ENTRIES_LIMITS[kind])


def _forget_oldest(folder: Path, limit: int) -> None:
    entries = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in entries[limit:]:
        path.unlink(missing_ok=True)


def _path(kind: str, key: str) -> Path:
    """Returns the file of a key; its name does not show the key, which may be a URL with a secret in its query."""
    return _folder() / kind / hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest()


def _folder() -> Path:
    if named := os.environ.get("XDG_CACHE_HOME"):
        return Path(named) / "skillgen"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "skillgen" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "skillgen"
    return Path.home() / ".cache" / "skillgen"


RETRY_LIMIT = 2
"""How often a server that is busy is asked again."""

WAIT_LIMIT_S = 60.0
"""The longest wait for a server that is busy, all together; less where one request may take less."""

ACCEPT = "application/yaml, application/json, application/vnd.oai.openapi, application/*+json, text/yaml, */*;q=0.5"
AUTH_STATUSES = (401, 403)
"""Statuses of what wants a credential."""

TOO_MANY_REQUESTS = 429
"""The status of a server that was asked too often."""

RETRY_STATUSES = (TOO_MANY_REQUESTS, 503)
"""Statuses of a server that may say when to ask again (RFC 9110, 10.2.3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOptions:
    """How documents are asked for."""

    timeout_s: float = 30.0
    """How long one request may take."""

    headers: Sequence[tuple[str, str]] = field(default=(), repr=False)
    """Headers of the user's own, which may hold secrets; sent to the origin of the first request only."""

    secrets: Secrets = field(default_factory=Secrets, repr=False)
    """What of the headers and of the address no document may hold, also where a server repeats it."""

    def without_headers(self) -> FetchOptions:
        """Gives the same for a server that is not the user's."""
        return replace(self, headers=())


def fetch(url: str, access: FetchOptions, *, is_named: bool = True) -> Fetched:
    """Fetches a document; `is_named` tells that the user gave this address, so that it may be in a private network.

    Raises:
        SourceError: it cannot be reached or must not be; a `StatusError` where the server answered with a failure.
    """
    network = Network(
        named=hosts_of([url]) if is_named else frozenset(), timeout_s=access.timeout_s, headers=dict(access.headers)
    )
    # A document that is behind a credential is not kept in a cache.
    is_open = not access.headers and not access.secrets
    kept = kept_for(url) if is_open else None
    waited_s = 0.0
    for attempt in range(RETRY_LIMIT + 1):
        try:
            found = network.fetch(url, accept=ACCEPT, conditions=kept.conditions if kept is not None else {})
        except StatusError as error:
            may_retry = error.status in RETRY_STATUSES
            wait_s = retry_after_s(error.retry_after, datetime.now(timezone.utc)) if may_retry else None
            if wait_s is None or attempt == RETRY_LIMIT or waited_s + wait_s > min(WAIT_LIMIT_S, access.timeout_s):
                raise _advised(error, public_url(url)) from None
            waited_s += wait_s
            time.sleep(wait_s)
        else:
            return _settled(url, found, kept, is_open)
    raise AssertionError("the last attempt returns or raises")


def retry_after_s(retry_after: str | None, now: datetime) -> float | None:
    """Reads `Retry-After`, seconds or a date (RFC 9110, 10.2.3); `None` where it says nothing that can be read."""
    if retry_after is None:
        return None
    if retry_after.strip().isascii() and retry_after.strip().isdigit():
        return float(retry_after.strip()[:9])
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - now).total_seconds())


def _settled(url: str, found: Fetched, kept: Kept | None, is_open: bool) -> Fetched:
    if found.status == 304:
        if kept is None:
            raise StatusError("says that it is unchanged, and was never read", where=public_url(url), status=304)
        return Fetched(content=kept.content, url=found.url, content_type=found.content_type)
    if is_open and not found.no_store:
        keep(url, Kept(etag=found.etag, last_modified=found.last_modified, content=found.content))
    return found


def _advised(error: StatusError, where: str) -> StatusError:
    """Returns the error with what to do about it."""
    fix = error.fix
    if error.status in AUTH_STATUSES:
        fix = "give what it asks for with --header"
    elif error.status in RETRY_STATUSES:
        asked = f"; it says Retry-After: {error.retry_after[:40]}" if error.retry_after else ""
        fix = f"run it again later{asked}"
    return StatusError(error.what, where=where, fix=fix, status=error.status, retry_after=error.retry_after)
