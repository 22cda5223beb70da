"""HTTP: bounded fetches that cannot reach private hosts, with retries; and the cache of the last runs of targets.

A redirect or a reference may name any host. A host that the user did not name must be public (no SSRF): it is resolved
first, and the connection goes to the IP address that was checked, so that a second DNS answer changes nothing. A proxy
is asked for a tunnel to that address, and TLS still verifies the name. Credentials stay with the origin they were
passed for. Sizes, also decompressed, and times are bounded.

The cache is in the user's cache folder, never in the project or in OUT. What is fetched is not in it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import hashlib
import io
import os
import socket
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from msgspec import Struct

from skillgen.errors import SourceError
from skillgen.model.credentials import origin_of
from skillgen.security.secrets import Secrets, hosts_of, is_private, is_public_address, literal_address, public_url
from skillgen.sources.json_access import SOURCE_LIMIT_BYTES, TOTAL_TIMEOUT_FACTOR

if TYPE_CHECKING:
    import ssl

    import httpx2


REDIRECT_LIMIT = 5
"""Redirects that one fetch follows."""

_GZIP = ("gzip", "x-gzip")
_KEPT_HEADERS = ("location", "retry-after", "link")
_PASS_URL = "pass the URL itself if you trust it"


class Fetched(Struct, frozen=True, kw_only=True):
    """The response to a fetch."""

    content: bytes
    """The body, decompressed."""

    url: str
    """The URL after redirects, without credentials and query."""

    content_type: str
    """The media type; empty if the server declared none."""

    status: int = 200
    headers: Mapping[str, str] = {}
    """The other headers that a caller may need, by their names in lower case."""


class StatusError(SourceError):
    """The server answered, but not with the document."""

    def __init__(
        self, what: str, *, where: str, status: int, retry_after: str | None = None, fix: str | None = None
    ) -> None:
        super().__init__(what, where=where, fix=fix or _fix_of_status(status, retry_after))
        self.status = status
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """What may be fetched, and within which limits."""

    named: frozenset[str] = frozenset()
    """Hosts that the user named: they may be private."""

    timeout_s: float = 30.0
    """For one response."""

    size_limit_bytes: int = SOURCE_LIMIT_BYTES
    """The largest body, decompressed."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent only to the origin of the first request: they may hold credentials."""

    method: str = "GET"
    """The method; only `GET` and `HEAD` follow redirects, and others `303 See Other`."""

    content: bytes = field(default=b"", repr=False)
    """The body of the first request."""

    returns_errors: bool = False
    """Whether the answer to a call is returned whatever its status, not raised as a `StatusError`."""

    def fetch(self, url: str, *, accept: str = "*/*") -> Fetched:
        """Fetches a body and follows redirects.

        Raises:
            SourceError: the URL cannot or must not be reached, or the response is too large or too slow.
        """
        # Only here: it costs 0.1 s, and most sources are files. Not httpx: its tunnels through a proxy ignore
        # `sni_hostname` (httpcore 1.0), so they would not verify the name; mcp requires httpx2 anyway.
        import httpx2

        where, total_s = public_url(url), self.timeout_s * TOTAL_TIMEOUT_FACTOR
        deadline, too_slow = time.monotonic() + total_s, _too_slow(total_s, where)
        first, current, method, content = origin_of(url), url, self.method, self.content
        if first is None:
            raise SourceError("is not an http:// or https:// URL", where=where, fix="check the address")
        try:
            certificates = httpx2.create_ssl_context()
            for _ in range(REDIRECT_LIMIT + 1):
                headers = httpx2.Headers({"Accept-Encoding": "gzip, identity"})
                headers.update(self.headers if origin_of(current) == first else ())
                headers["Accept"] = accept
                proxy = _proxy_for(current)
                # A client with a custom transport ignores the proxy variables, so `_proxy_for` alone decides.
                transport = _transport(certificates, proxy, where)
                with httpx2.Client(transport=transport, timeout=self.timeout_s) as client:
                    request = self._request(client, method, current, headers, content, where)
                    watchdog = _Watchdog()
                    request.extensions = {**request.extensions, "trace": watchdog.trace}
                    with watchdog.close_at(time.monotonic() + self.timeout_s, _too_slow(self.timeout_s, where)):
                        response = client.send(request, stream=True)
                    with contextlib.closing(response), watchdog.close_at(deadline, too_slow):
                        is_kept = method not in ("GET", "HEAD") and response.status_code != 303
                        if not response.has_redirect_location or is_kept:
                            return self._body(response, current, where)
                        method, content = ("HEAD" if method == "HEAD" else "GET"), b""
                        current = self._redirect_target(response, current, where)
            raise _redirect_error(f"redirects more than {REDIRECT_LIMIT} times", response, where)
        except httpx2.TimeoutException:
            raise _too_slow(self.timeout_s, where) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
            reason, fix = reason_of(error)
            raise SourceError(f"cannot be reached: {reason}", where=where, fix=fix) from None

    def _request(
        self, client: httpx2.Client, method: str, url: str, headers: httpx2.Headers, content: bytes, where: str
    ) -> httpx2.Request:
        """Builds a request; for a host that the user did not name, to the IP address that was checked."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        address = resolve_public_address(url, self.named, where)
        extensions = {}
        if address is not None:
            literal = f"[{address}]" if ":" in address else address
            netloc = literal if parts.port is None else f"{literal}:{parts.port}"
            headers["Host"] = parts.netloc.rpartition("@")[2]
            url, extensions = urlunsplit((parts.scheme, netloc, parts.path, parts.query, "")), {"sni_hostname": host}
        return client.build_request(method, url, headers=headers, content=content or None, extensions=extensions)

    def _redirect_target(self, response: httpx2.Response, current: str, where: str) -> str:
        """Returns the target of a redirect; without the credentials in the URL if the origin changes."""
        try:
            target: str = urljoin(current, response.headers.get("location", ""))
        except ValueError:  # an invalid bracket
            target = ""
        before, after = origin_of(current), origin_of(target)
        if after is None:
            raise _redirect_error("redirects to a URL that is not http:// or https://", response, where)
        if before is not None and (before[0], after[0]) == ("https", "http"):
            raise _redirect_error("redirects from https:// to http://", response, where, "pass the URL it redirects to")
        parts = urlsplit(target)
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2])
        return target if before == after else urlunsplit(bare)

    def _body(self, response: httpx2.Response, url: str, where: str) -> Fetched:
        import httpx2

        is_failure = response.status_code >= 400 or response.status_code == 304
        if is_failure and not self.returns_errors:
            # The phrase in the response is untrusted text of the server.
            status, retry_after = response.status_code, response.headers.get("retry-after")
            what = f"answered {status} {httpx2.codes.get_reason_phrase(status)}".rstrip()
            raise StatusError(what, where=where, status=status, retry_after=retry_after)
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in ("", "identity", *_GZIP):
            what = f"has an unsupported content encoding: {encoding[:40]}"
            raise StatusError(what, where=where, status=response.status_code)
        content = self._content(response.iter_raw(), encoding in _GZIP, where)
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return Fetched(
            content=content,
            url=public_url(url),
            content_type=media_type,
            status=response.status_code,
            headers={name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers},
        )

    def _content(self, chunks: Iterator[bytes], is_compressed: bool, where: str) -> bytes:
        content = bytearray()
        too_large = SourceError(f"larger than {self.size_limit_bytes // 2**20} MiB", where=where)
        for chunk in chunks:
            content += chunk
            if len(content) > self.size_limit_bytes:
                raise too_large
        if not is_compressed:
            return bytes(content)
        # httpx reads the first gzip member only and accepts a truncated one, but a truncated YAML description is valid.
        try:
            text = gzip.GzipFile(fileobj=io.BytesIO(content)).read(self.size_limit_bytes + 1) if content else None
        except (OSError, EOFError, zlib.error):
            text = None
        if text is None:
            what = "its compressed body is truncated or corrupt"
            raise SourceError(what, where=where, fix="fetch it again, or give a file")
        if len(text) > self.size_limit_bytes:
            raise too_large
        return text


class _Watchdog:
    """Closes the socket of a request at a deadline, which stops every read from it.

    The timeout of httpx starts again with each byte, so a server that sends headers or empty chunks one by one would
    never time out.
    """

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._is_closed = False

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Records the socket that httpx opened, or the TLS socket around it."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
            if self._is_closed:
                self._close()

    @contextlib.contextmanager
    def close_at(self, deadline: float, too_slow: SourceError) -> Iterator[None]:
        """Closes the socket and raises `too_slow` if the block takes longer."""
        timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._close)
        timer.daemon = True
        timer.start()
        try:
            yield
        except Exception:
            if self._is_closed:
                raise too_slow from None
            raise
        finally:
            timer.cancel()
        if self._is_closed:
            raise too_slow

    def _close(self) -> None:
        self._is_closed = True
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


def resolve_public_address(url: str, named: frozenset[str], where: str) -> str | None:
    """Resolves the host of a URL, and refuses it unless all its IP addresses are public.

    Returns the IP address to connect to, directly or through the tunnel of a proxy; `None` if the user named the host.

    Raises:
        SourceError: the host is private or unknown, or a proxy would resolve it again.
    """
    origin = origin_of(url)
    if origin is None:
        raise SourceError("is not an http:// or https:// URL", where=where)
    scheme, host, port = origin
    if host in named:
        return None
    if is_private(host):
        raise _private(host, where)
    try:
        addresses = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError):
        addresses = []
    if not addresses:
        raise SourceError(f"cannot be reached: the host {host[:80]} is not known", where=where, fix=_PASS_URL)
    for address in map(literal_address, addresses):
        if address is not None and not is_public_address(address):
            raise _private(host, where)
    if scheme == "http" and _proxy_for(url) is not None:
        # RFC 9112, 3.2.2: a proxy takes the host from the URL alone, so one of the two would be lost.
        what = f"points to {host[:80]} over http:// through a proxy, which may resolve it to another IP address"
        raise SourceError(what, where=where, fix=_PASS_URL)
    return addresses[0]


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


def _private(host: str, where: str) -> SourceError:
    what = f"points to {host[:80]}, which is in a private network; only the user may name such a host"
    return SourceError(what, where=where, fix=_PASS_URL)


def _redirect_error(what: str, response: httpx2.Response, where: str, fix: str = "check the address") -> StatusError:
    """Returns the error of a redirect that is not followed. A `StatusError`: another URL of the server may work."""
    return StatusError(what, where=where, status=response.status_code, fix=fix)


def _too_slow(seconds: float, where: str) -> SourceError:
    return SourceError(f"no answer within {seconds:g} s", where=where, fix="raise --timeout")


_CHECK_URL = "check the URL, and whether the server is running"

# In order of precision: exceptions of a library are often caused by those of the system. They are named, since
# importing httpx2 takes long.
_CAUSES = (
    (
        "SSLCertVerificationError",
        "the server's certificate is not trusted{detail}",
        "name its authority: SSL_CERT_FILE",
    ),
    ("SSLError", "TLS fails{detail}", "check the port, and whether the URL must begin with https:// or http://"),
    ("gaierror", "the host name is not known", "check the URL, and the network"),
    ("ConnectionRefusedError", "the connection is refused", _CHECK_URL),
    ("ConnectTimeout", "the host does not answer", _CHECK_URL),
    ("ProxyError", "the proxy refuses the connection", "check HTTPS_PROXY and NO_PROXY"),
    ("LocalProtocolError", "a header is invalid", "check --header"),
    ("UnicodeError", "the URL or a header contains a character that is not ASCII", "check the URL and --header"),
    ("InvalidURL", "the URL is invalid", "check the URL"),
    ("SSEError", "the response is not an event stream", "check the path of the URL"),
    (
        "RemoteProtocolError",
        "the server closed the connection early or does not speak HTTP",
        "check the URL, and the port",
    ),
    ("NetworkError", "the connection was interrupted", _CHECK_URL),
)
"""Name of an exception, the reason and the fix."""


def reason_of(error: BaseException) -> tuple[str, str]:
    """Returns why a connection failed, and the fix; quotes neither a header nor the query of the URL."""
    for cause in causes_of(error):
        names = {kind.__name__ for kind in type(cause).__mro__}
        for name, what, fix in _CAUSES:
            if name in names:
                detail = getattr(cause, "verify_message", None) or getattr(cause, "reason", None)
                return what.format(detail=f" ({detail})" if isinstance(detail, str) else ""), fix
    return f"the connection failed ({type(next(causes_of(error))).__name__})", _CHECK_URL


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Yields the exceptions of groups and chains, the innermost first."""
    for cause in (*getattr(error, "exceptions", ()), error.__cause__ or error.__context__):
        if cause is not None:
            yield from causes_of(cause)
    yield error


_CACHE_ENTRIES = 1_000
"""Last runs of targets in the cache; the least recently used are deleted."""


def read_cached(key: str) -> bytes | None:
    """Returns the cached content of a key, or `None`."""
    with suppress(OSError, RuntimeError):
        path = _path(key)
        content = path.read_bytes()
        path.touch()
        return content
    return None


def write_cached(key: str, content: bytes) -> None:
    """Caches content for the next run; deletes the least recently used entries."""
    with suppress(OSError, RuntimeError):
        path = _path(key)
        write_private(path, content)
        entries = sorted(path.parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in entries[_CACHE_ENTRIES:]:
            path.unlink(missing_ok=True)


def write_private(path: Path, content: bytes) -> None:
    """Writes a file, atomically, that only this user can ever read.

    Raises:
        OSError: its folder is not writable.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)  # of mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _path(key: str) -> Path:
    """Returns the file of a key. Its name is a hash, since the key may hold a secret."""
    from platformdirs import user_cache_path

    name = hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest()
    return user_cache_path("skillgen", appauthor=False) / "built" / name


RETRY_LIMIT = 2
"""Retries after a response that says when to retry."""

WAIT_LIMIT_S = 60.0
"""Limit for the sum of all waits between retries; the timeout of one request may lower it."""

_ACCEPT = "application/yaml, application/json, application/vnd.oai.openapi, application/*+json, text/yaml, */*;q=0.5"
AUTH_STATUSES = (401, 403)
"""Statuses of a server that requires a credential."""

TOO_MANY_REQUESTS = 429
"""The status of a server that limits the rate of requests."""

RETRY_STATUSES = (TOO_MANY_REQUESTS, 503)
"""Statuses of a server that may say when to ask again (RFC 9110, 10.2.3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOptions:
    """How documents are requested."""

    timeout_s: float = 30.0
    """The timeout of one request."""

    headers: Sequence[tuple[str, str]] = field(default=(), repr=False)
    """Custom headers, which may hold secrets; sent to the origin of the first request only."""

    secrets: Secrets = field(default_factory=Secrets, repr=False)
    """Secrets in the headers and the URL, which are redacted where a server echoes them."""

    def without_headers(self) -> FetchOptions:
        """Returns options for a server other than the one that the headers are for."""
        return dataclasses.replace(self, headers=())


def fetch(url: str, access: FetchOptions, *, is_named: bool = True) -> Fetched:
    """Fetches a document, with retries. `is_named`: the user named this URL, so its host may be private.

    Raises:
        SourceError: it cannot or must not be reached; a `StatusError` if the server answered with a failure.
    """
    named = hosts_of([url]) if is_named else frozenset()
    network = Network(named=named, timeout_s=access.timeout_s, headers=dict(access.headers))
    waited_s = 0.0
    for attempt in range(RETRY_LIMIT + 1):
        try:
            return network.fetch(url, accept=_ACCEPT)
        except StatusError as error:
            may_retry = error.status in RETRY_STATUSES
            wait_s = retry_after_s(error.retry_after, datetime.now(timezone.utc)) if may_retry else None
            if wait_s is None or attempt == RETRY_LIMIT or waited_s + wait_s > min(WAIT_LIMIT_S, access.timeout_s):
                raise
            waited_s += wait_s
            time.sleep(wait_s)
    raise AssertionError


def retry_after_s(retry_after: str | None, now: datetime) -> float | None:
    """Parses `Retry-After`, seconds or a date (RFC 9110, 10.2.3); `None` if it is absent or invalid."""
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


def _fix_of_status(status: int, retry_after: str | None) -> str:
    if status in AUTH_STATUSES:
        return "pass the credential with --header"
    if status in RETRY_STATUSES:
        return f"run it again later; it says Retry-After: {retry_after[:40]}" if retry_after else "run it again later"
    return "check the address"
