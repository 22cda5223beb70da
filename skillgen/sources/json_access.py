"""Typed access to untrusted JSON, and the limits that all sources share.

SECURITY.md promises these limits. A limit of a single step is in the module of that step.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from skillgen.model.values import Json
from skillgen.text.markdown import inline

_PROSE_KEYS = frozenset({"description", "summary", "title", "instructions"})
"""Keys of text for people, which may be HTML."""


def as_dict(value: Json) -> dict[str, Json]:
    """Returns an object; an empty one if the value has another type."""
    return value if isinstance(value, dict) else {}


def as_list(value: Json) -> list[Json]:
    """Returns a list; an empty one if the value has another type."""
    return value if isinstance(value, list) else []


def text_of(value: Json, key: str) -> str | None:
    """Returns the string at a key; `None` if it is blank or has another type."""
    text = value.get(key) if isinstance(value, dict) else None
    return text if isinstance(text, str) and not is_blank(text, key) else None


def is_blank(text: str, key: str) -> bool:
    """True if the string at a key is white space, or prose that is only markup."""
    return not text.strip() or (key in _PROSE_KEYS and is_bare_markup(text))


def is_bare_markup(text: str) -> bool:
    """True if a string is only markup, such as `<p/>`."""
    return text.lstrip()[:1] == "<" and not inline(text)


def texts_of(value: Json, key: str) -> tuple[str, ...]:
    """Returns the strings in the list at a key."""
    return tuple(item for item in as_list(as_dict(value).get(key)) if isinstance(item, str))


def page_items(pages: Json, key: str) -> list[Json]:
    """Returns the items of all pages of a list."""
    return [item for page in as_list(pages) for item in as_list(as_dict(page).get(key))]


def strings_in(value: Json) -> Iterator[str]:
    """Yields the strings in a value, and its keys."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, (dict, list)):
            waiting += reversed([*item, *item.values()] if isinstance(item, dict) else item)


def json_or_none(text: str) -> Json:
    """Returns the JSON value of a text; `None` if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


SOURCE_LIMIT_BYTES = 256 * 1024 * 1024
"""Limit for a decompressed body, for all other documents of a description, and for all output of a server in a crawl.

The largest servers known send less than a tenth of this.
"""

PROPERTIES_LIMIT = 100_000
"""Properties of one object that are read: a hundred times the largest published object."""

POINTER_LIMIT = 4_000
"""Characters of a JSON pointer to a schema or an operation that is read.

Each node below repeats the pointer, so one long key above many small nodes would cost their product in memory.
Published descriptions stay below 1,000 characters.
"""

REF_CHAIN_LIMIT = 100
"""Length of a chain of references; each link of a longer chain would walk the rest of it (quadratic time)."""

TOTAL_TIMEOUT_FACTOR = 10
"""A fetch or a login may take this many times the timeout of one response, since a body can arrive byte by byte."""


_YES = frozenset({"true", "yes", "y", "on", "1", "t"})
_NO = frozenset({"false", "no", "n", "off", "0", "f", "none", "null", ""})


def flag_from(value: Json, cautious: bool) -> bool | None:
    """Returns the cautious reading of a value that should be a boolean but is not; `None` if it is not cautious.

    `"true"` or 1 counts only if that is the cautious value. A value that is neither yes nor no counts as cautious.
    """
    if isinstance(value, str):
        word = value.strip().lower()
        flag = True if word in _YES else False if word in _NO else None
    elif isinstance(value, (int, float)):
        flag = bool(value)
    else:
        flag = None if value else not cautious
    return cautious if flag is None or flag is cautious else None
