"""Names of files and skills: ASCII, of bounded length, and not reserved by any system."""

from __future__ import annotations

import re
import unicodedata

_STEM_LIMIT = 48
"""Characters of a file name, without extension."""

_RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"com{n}" for n in range(10)), *(f"lpt{n}" for n in range(10))})


def slug(text: str, limit: int = _STEM_LIMIT) -> str:
    """Returns a text in `a-z`, `0-9` and single hyphens, at most `limit` long; it may be empty."""
    text = re.sub("['\u2019]", "", text)
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    result = "-".join(re.findall("[a-z0-9]+", ascii_text))
    if len(result) > limit:
        result = result[:limit].rpartition("-")[0] if "-" in result[limit // 2 : limit] else result[:limit]
    return result.strip("-")


def safe_stem(stem: str, prefix: str, taken: frozenset[str] = frozenset()) -> str:
    """Returns a slug, with a prefix if it is taken or reserved by a system."""
    return f"{prefix}-{stem}" if stem in taken or stem in _RESERVED else stem
