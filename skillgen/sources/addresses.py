"""Addresses without what may be secret in them, and the parts of those that may make no sense."""

from __future__ import annotations

import re
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
