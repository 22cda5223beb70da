"""Whether a declared value can stand in a document as it is: small, without a credential, every sign of it seen."""

from __future__ import annotations

import json

from skillgen.markdown.credentials import is_secret_name, looks_random, may_hold_credential, redacted
from skillgen.markdown.invisible import hidden_kinds
from skillgen.model.value import Json

LONGEST_DECLARED = 2_000
"""Bytes of JSON of a declared value; a larger one is not shown, and a small one is made instead."""


def reason_to_hide(value: Json, name: str = "") -> tuple[str, str] | None:
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
    if hidden_kinds(value)[0] or (looks_random(value) and is_secret_name(name)):
        return True
    return may_hold_credential(value) and bool(redacted(value)[1])
