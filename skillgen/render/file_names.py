"""Names become file names by one function: ASCII, lower case, bounded, never special to any system."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

LENGTH_LIMIT = 48
"""Characters of a name of a file, without its ending."""

_RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"com{n}" for n in range(10)), *(f"lpt{n}" for n in range(10))})

_PART = re.compile(r"-p\d+\Z")
"""How the further parts of a list are named."""

SHORT = 6
"""Characters of a digest, where these tell all of them apart."""


def slug(text: str, limit: int = LENGTH_LIMIT) -> str:
    """Gives a text in `a-z`, `0-9` and single hyphens, at most `limit` long; empty where nothing is left of it."""
    text = re.sub("['\u2019]", "", text)
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.findall("[a-z0-9]+", ascii_text)
    found = "-".join(words)
    if len(found) > limit:
        found = found[:limit].rpartition("-")[0] if "-" in found[limit // 2 : limit] else found[:limit]
    return found.strip("-")


def safe_stem(stem: str, prefix: str, taken: frozenset[str] = frozenset()) -> str:
    """Returns a slug, after a prefix if a system reserves it or it is taken."""
    return f"{prefix}-{stem}" if stem in taken or stem in _RESERVED else stem


def file_stems(names: Iterable[str], taken: frozenset[str]) -> dict[str, str]:
    """Returns a stem of its own for each name, whatever the order of the names.

    A slug that is reserved, taken or looks like an index follows `group-`. Names that share a slug, and those that look
    like a part of a longer list (`foo-p2`), get two hyphens, which no slug has, and a part of their digest.
    """
    names = list(dict.fromkeys(names))
    slugs = {name: safe_stem(_without_index(slug(name)), "group", taken) for name in names}
    counts = Counter(slugs.values())
    clashing = [name for name, stem in slugs.items() if not stem or counts[stem] > 1 or _PART.search(stem)]
    digests = {name: hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest() for name in clashing}
    short = {digest[:SHORT] for digest in digests.values()}
    length = SHORT if len(short) == len(digests) else None
    return slugs | {name: f"{slugs[name] or 'x'}--{digests[name][:length]}" for name in clashing}


def _without_index(stem: str) -> str:
    return f"group-{stem}" if stem.startswith("index-") else stem
