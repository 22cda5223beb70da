"""Addresses without what may be secret in them, and the parts of those that may make no sense."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

_USERINFO = re.compile(r"(?<=:)//[^/?#]*@")


def public_url(url: str) -> str:
    """Gives a URL without its user, password, query and fragment, any of which may hold a secret."""
    try:
        parts = urlsplit(url)
    except ValueError:  # a port or a bracket that makes no sense; what is no URL is not shown
        return url.partition(":")[0] + "://…"
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def without_credentials(url: str) -> str:
    """Gives a URL without its user and password."""
    try:
        parts = urlsplit(url)
    except ValueError:  # a bracket that makes no sense, such as that of a placeholder
        return _USERINFO.sub("//", url, count=1)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) if "@" in parts.netloc else url


def joined(base: str, reference: str) -> tuple[str, str]:
    """Gives the address to which a reference leads from a base, and the fragment; what is no address, as it stands."""
    with suppress(ValueError):  # a bracket that makes no sense
        reference = urljoin(base, reference)
    address, _, fragment = reference.partition("#")
    return address, fragment


def decoded_path(url: str) -> str:
    """Gives the path of an address in plain characters; empty where there is none."""
    try:
        return unquote(urlsplit(url).path)
    except ValueError:  # a bracket that makes no sense
        return ""


def host_of(url: str | None) -> str | None:
    """Returns the host of a URL, in lower case."""
    try:
        return urlsplit(url or "").hostname or None
    except ValueError:
        return None


def icon_objection(source: str, trusted_hosts: Iterable[str]) -> str | None:
    """Returns why a document must not link an icon; `None` where it may (SEP-973, "Security considerations").

    An icon may be in the document itself, or on the domain of the service: `api.acme.com` may have one on `acme.com`.
    """
    scheme = source.partition(":")[0].strip().lower()
    if scheme == "data":
        is_image = source.partition(":")[2].lstrip().lower().startswith("image/")
        return None if is_image else "the data: URL is not an image"
    if scheme != "https":
        return "only https: and data: addresses are kept"
    if without_credentials(source) != source:
        return "the URL has a user name or a password"
    host = host_of(source)
    if host is None:
        return "the address names no host"
    hosts = tuple(dict.fromkeys(trusted_hosts))
    if any(_is_within(host, trusted) or _is_within(trusted, host) for trusted in hosts):
        return None
    return f"its host {host[:80]} is not the server's" + (f", {hosts[0]}" if hosts else "")


def _is_within(host: str, domain: str) -> bool:
    domain = domain.removeprefix("www.")
    return host == domain or ("." in domain and host.endswith(f".{domain}"))
