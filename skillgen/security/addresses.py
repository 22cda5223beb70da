"""URLs without credentials, the parts of invalid URLs, and the test whether a host is private."""

from __future__ import annotations

import ipaddress
import socket
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from skillgen.errors import UsageError
from skillgen.model.credentials import origin_of
from skillgen.text import lazy_re as re

_LOOPBACK_NAMES = ("localhost", "localdomain", "ip6-localhost", "ip6-loopback")

_PRIVATE_DOMAINS = ("local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa", "svc")
"""Domains of private networks (RFC 6762 appendix G, RFC 8375) and of Kubernetes."""

_NUMERIC = re.compile(r"[0-9a-fx.]{1,60}")
"""Strings that may be passed to `inet_aton`, which ignores everything after a space."""

_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
"""NAT64: the last 32 bits are the IPv4 address that is reached (RFC 6052)."""

_ISATAP = 0x00005EFE
"""Bits 64 to 95 of an address whose last 32 bits are an IPv4 address (RFC 5214, 6.1); bit 6 is free."""

_UNICAST = ipaddress.IPv6Network("2000::/3")

_RESERVED = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")))
"""Special-purpose blocks that some Python releases call global."""

_USERINFO = re.compile(r"(?<=:)//[^/?#]*@")


def public_url(url: str) -> str:
    """Returns a URL without user, password, query and fragment, which may all hold secrets."""
    try:
        parts = urlsplit(url)
    except ValueError:  # an invalid port or bracket; an invalid URL is not shown
        return url.partition(":")[0] + "://…"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def without_credentials(url: str) -> str:
    """Returns a URL without user and password."""
    try:
        parts = urlsplit(url)
    except ValueError:  # an invalid bracket, such as that of a placeholder
        return _USERINFO.sub("//", url, count=1)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) if "@" in parts.netloc else url


def resolve_url(base: str, reference: str) -> tuple[str, str]:
    """Returns the absolute URL of a reference, and its fragment; an invalid URL is returned unchanged."""
    with suppress(ValueError):  # an invalid bracket
        reference = urljoin(base, reference)
    url, _, fragment = reference.partition("#")
    return url, fragment


def decoded_path(url: str) -> str:
    """Returns the percent-decoded path of a URL; empty if it has no path."""
    try:
        return unquote(urlsplit(url).path)
    except ValueError:  # an invalid bracket
        return ""


def host_of(url: str | None) -> str | None:
    """Returns the host of a URL, in lower case."""
    try:
        return urlsplit(url or "").hostname or None
    except ValueError:
        return None


_DOMAIN = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")


def checked_domain(domain: str, where: str) -> str:
    """Returns a domain that the user names, in lower case.

    Raises:
        UsageError: it is something else, such as a URL.
    """
    if not _DOMAIN.fullmatch(domain.lower()):
        raise UsageError(f"{domain!r} is not a domain", where=where, fix="write a domain such as acme.com")
    return domain.lower()


def icon_objection(source: str, trusted_hosts: Iterable[str]) -> str | None:
    """Returns why a document must not link an icon; `None` if it may (SEP-973, "Security considerations").

    An icon may be a data: URL, or be on the domain of the service: `api.acme.com` may have one on `acme.com`.
    """
    scheme = source.partition(":")[0].strip().lower()
    if scheme == "data":
        is_image = source.partition(":")[2].lstrip().lower().startswith("image/")
        return None if is_image else "the data: URL is not an image"
    if scheme != "https":
        return "only https: and data: URLs are linked"
    if without_credentials(source) != source:
        return "the URL has a user name or a password"
    return host_objection(source, trusted_hosts)


def host_objection(url: str, trusted_hosts: Iterable[str]) -> str | None:
    """Returns why a document must not link a URL by its host; `None` if a trusted one is on its domain, or above it."""
    host = host_of(url)
    if host is None:
        return "the URL has no host"
    hosts = tuple(dict.fromkeys(trusted_hosts))
    if any(_is_within(host, trusted) or _is_within(trusted, host) for trusted in hosts):
        return None
    return f"its host {host[:80]} is not the server's" + (f", {hosts[0]}" if hosts else "")


def _is_within(host: str, domain: str) -> bool:
    domain = domain.removeprefix("www.")
    return host == domain or ("." in domain and host.endswith(f".{domain}"))


def hosts_of(urls: Iterable[str]) -> frozenset[str]:
    """Returns the hosts of URLs, as `Network.named` takes them."""
    return frozenset(origin[1] for url in urls if (origin := origin_of(url)) is not None)


def is_private(host: str) -> bool:
    """True if a host, by its name alone, is this machine or in a private network."""
    address = literal_address(host)
    if address is not None:
        return not is_public_address(address)
    return f".{_normalised_host(host)}".endswith(tuple(f".{name}" for name in (*_LOOPBACK_NAMES, *_PRIVATE_DOMAINS)))


def is_loopback(url: str) -> bool:
    """True if the host of a URL is this machine, by its name alone."""
    host = host_of(url) or ""
    address = literal_address(host)
    return _normalised_host(host) in _LOOPBACK_NAMES if address is None else address.is_loopback


def _normalised_host(host: str) -> str:
    """Returns a host as resolvers read it: lower case, ASCII digits and dots (UTS #46), without a trailing dot."""
    return unicodedata.normalize("NFKC", host).replace("\u3002", ".").lower().strip("[]").rstrip(".")


def literal_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Returns the IP address that a host is, also in the forms of inet_aton(3): `127.1`, `2130706433`, `0x7f000001`."""
    text = _normalised_host(host).partition("%")[0]
    with suppress(ValueError):
        return ipaddress.ip_address(text)
    if not _NUMERIC.fullmatch(text):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(text))
    except OSError:
        return None


def is_public_address(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """True if the address, and the IPv4 address that it embeds, are globally reachable (IANA's registries)."""
    if any(address in network for network in _RESERVED):
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not address.is_multicast
    number = int(address)
    if address.ipv4_mapped is not None or address in _TRANSLATED:
        return is_public_address(ipaddress.IPv4Address(number & 0xFFFFFFFF))
    if address.sixtofour is not None:
        return is_public_address(address.sixtofour)
    if number >> 32 & 0xFDFFFFFF == _ISATAP and not is_public_address(ipaddress.IPv4Address(number & 0xFFFFFFFF)):
        return False
    # Everything outside of 2000::/3 is reserved, local or multicast, whatever the Python release knows about it.
    return address in _UNICAST and address.is_global
