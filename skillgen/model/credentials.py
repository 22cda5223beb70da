"""The origin that a credential belongs to, the environment variable that holds it, and the forms that show it.

`call.py` has these functions too, so that documents and programs name a variable alike.
"""

from __future__ import annotations

import base64
import json
import re
from functools import lru_cache
from unicodedata import normalize
from urllib.parse import quote, quote_plus, urlsplit

PORTS = {"http": 80, "https": 443}
"""The port of a URL without one, by scheme."""

UNPLAIN = re.compile(r"[^a-z0-9.-]|0(?=x)|(?<![^.])[.-]|[.-](?![^.])|\.(?=url$)")
"""A character of a host that is written by its code: also what would read as a code, or as the end of a part of a name.

The last dot of `base.url` is one too: `SKILL_ROWS_BASE_URL` is the variable of a base URL.
"""


def origin_of(url: str) -> tuple[str, str, int] | None:
    """Returns scheme, host in ASCII and port of a URL; `None` if it is not an HTTP URL."""
    try:
        parts = urlsplit(url)
        port, labels = parts.port, re.split("[.\u3002]", normalize("NFKC", parts.hostname or "").lower())
        host = ".".join(x if x.isascii() else f"xn--{x.encode('punycode').decode()}" for x in labels)
    except ValueError:
        return None
    if parts.scheme not in PORTS or not host:
        return None
    return parts.scheme, host, PORTS[parts.scheme] if port is None else port


def with_plain_origin(url: str) -> str:
    """Returns an HTTP URL that every client understands alike: its host in ASCII, without user and password."""
    scheme, host, port = origin_of(url) or ("", "", 0)
    host = f"[{host}]" if ":" in host else host
    netloc = host if port == PORTS[scheme] else f"{host}:{port}"
    return urlsplit(url)._replace(netloc=netloc).geturl()


@lru_cache(1_000)
def variable_prefix(url: str) -> str:
    """Returns how the names of the variables with credentials for the origin of a URL begin; two origins differ in it.

    A host and what follows it are separated by three underscores, which no encoded host has.
    """
    scheme, host, port = origin_of(url) or ("https", url.lower(), 443)
    coded = UNPLAIN.sub(lambda found: "".join(f"0x{byte:02x}" for byte in found[0].encode("utf-8", "replace")), host)
    parts = [coded.replace("-", "__").replace(".", "_"), *(["http"] if scheme == "http" else [])]
    if port != PORTS[scheme]:
        parts.append(str(port))
    return f"SKILL_{'___'.join(parts)}".upper()


def forms_of(value: str) -> list[str]:
    """Returns a value, also in the encodings of URLs, JSON and Base64, longest first."""
    content = value.encode("utf-8", "surrogatepass")
    quoted = {quote(content, safe=""), quote(content), quote_plus(content)}
    lower_case = {re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), form) for form in quoted}
    encoded = {inside_base64(content, offset) for offset in range(3)}
    encoded |= {form.translate(str.maketrans("+/", "-_")) for form in encoded}
    escaped = {json.dumps(value, ensure_ascii=x)[1:-1].replace("/", y) for x in (True, False) for y in ("/", "\\/")}
    escaped |= {json.dumps(form)[1:-1] for form in escaped}  # JSON within JSON
    return sorted({value, *quoted, *lower_case, *escaped, *encoded}, key=lambda form: (-len(form), form))


def inside_base64(content: bytes, offset: int) -> str:
    """Returns the base64 characters that a value has in every longer string with `offset` bytes (mod 3) before it."""
    encoded = base64.b64encode(bytes(offset) + content).decode()
    return encoded[-(-8 * offset // 6) : 8 * (offset + len(content)) // 6]
