"""Jsonschema over model-generated clean schema; why a value is not shown.

Tells whether a value fits a schema, and follows the references of one document.

Nothing is fetched, no pattern makes it hang, and a schema that makes no sense gives an answer too.

Whether a declared value can stand in a document as it is: small, without a credential, every sign of it seen.
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
"""Said of a value of which it is not known whether it fits."""

FLAW_LIMIT = 160
"""Characters of what is said of a flaw."""


class Validator:
    """Checks values against the schemas of one document."""

    def __init__(self, root: Json, dialect: Dialect, *, is_open: bool = False) -> None:
        """Takes the document; `is_open` reads every object as one that may have other properties."""
        self._root = root
        self._dialect = dialect
        self.is_open = is_open
        self._checker: Checker | None = None
        self._quick = QuickCheck(partial(_follow, root))
        self.reads_siblings_of_references = dialect not in ("openapi-3.0", "openapi-draft-07")

    def validation_error(self, value: Json, raw: Json) -> str | None:
        """Says in a few words why a value does not fit a schema; `None` where it does."""
        if self._quick.is_certainly_valid(value, raw):
            return None
        from skillgen.sources.examples.checker import Unchecked

        try:
            found = self._lazy_checker().validation_error(value, raw)
        except Unchecked:
            return UNCHECKED
        except Exception as error:  # whatever a library says of a schema that is none
            return f"its schema cannot be read ({type(error).__name__.strip('_')})"
        return None if found is None else clip(one_line(found), FLAW_LIMIT)

    def follow(self, reference: str) -> Json:
        """Gives what stands at a `$ref` inside the document.

        Raises:
            LookupError: nothing does, or it is outside.
        """
        return _follow(self._root, reference)

    def is_read_only(self, raw: Json) -> bool:
        """Tells whether a property is only ever returned, by itself or as the type that it is."""
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


LONGEST_DECLARED = 2_000
"""Bytes of JSON of a declared value; a larger one is not shown, and a small one is made instead."""


def why_unpublishable(value: Json, name: str = "") -> tuple[str, str] | None:
    """Gives the code and the message of the problem for which a value is not shown; `None` where it is."""
    if not isinstance(value, (str, dict, list)):
        return None
    if _size_of(value) > LONGEST_DECLARED:
        return "example-too-long", f"the example is larger than {LONGEST_DECLARED} bytes"
    if _is_screened(value, name):
        return "example-not-shown", "the example holds what is left out of documents"
    return None


def _size_of(value: Json) -> int:
    if isinstance(value, str):
        return len(value)
    try:
        return len(json.dumps(value, ensure_ascii=False))
    except (ValueError, RecursionError, TypeError):
        return LONGEST_DECLARED + 1


def _is_screened(value: Json, name: str) -> bool:
    """Tells whether any text in a value would be changed before it is documented."""
    if isinstance(value, dict):
        return any(_is_screened(key, "") or _is_screened(item, str(key)) for key, item in value.items())
    if isinstance(value, list):
        return any(_is_screened(item, name) for item in value)
    if not isinstance(value, str):
        return False
    if invisible_kinds(value)[0] or (looks_random(value) and is_secret_name(name)):
        return True
    return might_hold_credential(value) and bool(redact(value)[1])
