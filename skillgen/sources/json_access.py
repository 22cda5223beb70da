"""Typed access to untrusted JSON; limits.

Looks at untrusted JSON without assuming its types.

How much of a source is read, of whatever kind it is: the bounds that SECURITY.md promises.

Limits of one step alone stand in the module of that step.
"""

from __future__ import annotations

from skillgen.model.values import Json
from skillgen.text.markdown import inline

_WORDS = frozenset({"description", "summary", "title", "instructions"})
"""Members that are words for people, and may be written in HTML."""


def as_dict(value: Json) -> dict[str, Json]:
    """Gives an object, or an empty one where something else stands."""
    return value if isinstance(value, dict) else {}


def as_list(value: Json) -> list[Json]:
    """Gives a list, or an empty one where something else stands."""
    return value if isinstance(value, list) else []


def text_of(value: Json, key: str) -> str | None:
    """Gives a member that is a text with something in it."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) and not is_blank(found, key) else None


def is_blank(text: str, key: str) -> bool:
    """Returns whether the string of a member says nothing: it has spaces only, or words for people without a word."""
    return not text.strip() or (key in _WORDS and is_bare_markup(text))


def is_bare_markup(text: str) -> bool:
    """Tells whether nothing is left of a text without its markup, such as `<p/>`."""
    return text.lstrip()[:1] == "<" and not inline(text)


def texts_of(value: Json, key: str) -> tuple[str, ...]:
    """Gives the texts of a member that is a list of them."""
    return tuple(item for item in as_list(as_dict(value).get(key)) if isinstance(item, str))


SOURCE_LIMIT_BYTES = 256 * 1024 * 1024
"""A body, decompressed; all other documents of a description; and all that a server sends in one crawl.

The largest servers known send less than a tenth of this.
"""

NESTING_LIMIT = 200
"""Levels of nesting that are read. Descriptions in use have some 40."""

PROPERTIES_LIMIT = 100_000
"""Properties of one object that are read: a hundred times what the largest in use have."""

POINTER_LIMIT = 4_000
"""Characters of a JSON pointer to a schema or an operation that is read.

Each node below repeats them, so one long key over many small nodes would take their product in memory. Descriptions in
use stay below 1,000, and few servers accept a URL of 8,000.
"""

REF_CHAIN_LIMIT = 100
"""References in a row that are followed: each place in a longer row would walk the rest of it."""

TOTAL_TIMEOUT_FACTOR = 10
"""A whole fetch, and a login, may take this many times what one answer may: a body can come drop by drop."""
