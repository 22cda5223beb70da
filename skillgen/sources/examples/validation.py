"""Validates example values against raw schemas, and decides whether a declared value may be published.

Nothing is fetched, no pattern can hang, and an invalid schema is reported as a validation error.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from skillgen.model.values import Json, follow
from skillgen.security.credentials import is_secret_name, looks_random, might_hold_credential, redact
from skillgen.sources.examples.quick_check import Dialect, QuickCheck
from skillgen.text.markdown import one_line
from skillgen.text.summary import clip
from skillgen.text.unicode import invisible_kinds

if TYPE_CHECKING:
    from skillgen.sources.examples.checker import Checker


UNCHECKED = "it could not be checked within bounds"
"""The validation error of a value that may be valid."""

_MAX_ERROR_LENGTH = 160
"""Characters of a validation error in a message."""


class Validator:
    """Validates values against the schemas of one document."""

    def __init__(self, root: Json, dialect: Dialect, *, is_open: bool = False) -> None:
        """Takes the document; with `is_open` every object may have further properties."""
        self._root = root
        self._dialect = dialect
        self.is_open = is_open
        self._checker: Checker | None = None
        self._quick = QuickCheck(partial(_follow, root))
        self.reads_siblings_of_references = dialect not in ("openapi-3.0", "openapi-draft-07")

    def validation_error(self, value: Json, raw: Json) -> str | None:
        """Returns why a value does not match a schema, for a message; `None` if it does."""
        if self._quick.is_certainly_valid(value, raw):
            return None
        from skillgen.sources.examples.checker import Unchecked

        try:
            error = self._lazy_checker().validation_error(value, raw)
        except Unchecked:
            return UNCHECKED
        except Exception as failure:  # whatever jsonschema raises for an invalid schema
            return f"its schema cannot be read ({type(failure).__name__.strip('_')})"
        return None if error is None else clip(one_line(error), _MAX_ERROR_LENGTH)

    def follow(self, reference: str) -> Json:
        """Returns the target of a `$ref` within the document.

        Raises:
            LookupError: it has no target, or the target is in another document.
        """
        return _follow(self._root, reference)

    def is_read_only(self, raw: Json) -> bool:
        """True if a property, or the type it refers to, is read-only."""
        if isinstance(raw, dict) and isinstance(reference := raw.get("$ref"), str):
            try:
                raw = self.follow(reference)
            except LookupError:
                return False
        return isinstance(raw, dict) and raw.get("readOnly") is True

    def _lazy_checker(self) -> Checker:
        if self._checker is None:
            from skillgen.sources.examples import checker

            self._checker = checker.checker_for(self._root, self._dialect, is_open=self.is_open)
        return self._checker


def _follow(root: Json, reference: str) -> Json:
    if reference != "#" and not reference.startswith("#/"):
        raise LookupError(reference)
    return follow(root, reference[1:])


_MAX_EXAMPLE_LENGTH = 2_000
"""Characters of JSON of a declared value; instead of a larger one, a small one is generated."""


def why_unpublishable(value: Json, name: str = "") -> tuple[str, str] | None:
    """Returns the code and message of the problem that makes a value unpublishable; `None` if it has no problem."""
    if not isinstance(value, (str, dict, list)):
        return None
    if _size_of(value) > _MAX_EXAMPLE_LENGTH:
        return "example-too-long", f"the example is larger than {_MAX_EXAMPLE_LENGTH} bytes"
    if _is_screened(value, name):
        return "example-not-shown", "the example holds what is left out of documents"
    return None


def _size_of(value: Json) -> int:
    if isinstance(value, str):
        return len(value)
    try:
        return len(json.dumps(value, ensure_ascii=False))
    except (ValueError, RecursionError, TypeError):
        return _MAX_EXAMPLE_LENGTH + 1


def _is_screened(value: Json, name: str) -> bool:
    """True if screening would change any string in a value."""
    if isinstance(value, dict):
        return any(_is_screened(key, "") or _is_screened(item, str(key)) for key, item in value.items())
    if isinstance(value, list):
        return any(_is_screened(item, name) for item in value)
    if not isinstance(value, str):
        return False
    if invisible_kinds(value)[0] or (looks_random(value) and is_secret_name(name)):
        return True
    return might_hold_credential(value) and bool(redact(value)[1])
