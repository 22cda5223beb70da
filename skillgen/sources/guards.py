"""Looks at untrusted JSON without assuming its types."""

from __future__ import annotations

from skillgen.markdown.filters import inline
from skillgen.model.value import Json

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
