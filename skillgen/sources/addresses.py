"""Addresses without what may be secret in them."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit


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
    except ValueError:  # a port or a bracket that makes no sense
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) if "@" in parts.netloc else url
