"""The mark of a text that skillgen wrote, by which it is recognised when a source serves it (S0-53).

The mark has a digest of the letters and digits of the text, so that an edit shows, and a change of white space or of
escapes does not.
"""

from __future__ import annotations

import hashlib
import re

KEY = "generated-by"
"""The key of the mark in front matter."""

GENERATOR = "skillgen"
"""The value of the mark, before its digest."""

OWN_WORDS = "From the Service"
"""The heading in a section of the text below which the source's own words are; the rest of the section is derived."""


def digest_of(text: str) -> str:
    """Returns the digest of a text without its front matter."""
    return hashlib.sha256(re.sub(r"[\W_]+", "", text).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def marked(text: str) -> str:
    """Returns a text with the digest in the mark of its front matter."""
    fields, end, body = text.partition("\n---\n")
    return fields.replace(f"\n{KEY}: {GENERATOR}", f"\n{KEY}: {GENERATOR} {digest_of(body)}", 1) + end + body


def is_edited(mark: object, text: str) -> bool | None:
    """Returns whether a text with a mark was edited since, as far as the mark has a digest; `None` without a mark."""
    generator, _, digest = str(mark).partition(" ")
    return digest not in ("", digest_of(text)) if generator == GENERATOR else None


def is_generated(text: object) -> bool:
    """True if a text begins with front matter that has the mark."""
    return isinstance(text, str) and text.lstrip().startswith("---") and f"\n{KEY}: {GENERATOR}" in text
