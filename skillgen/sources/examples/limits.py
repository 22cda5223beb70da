"""How large an example may be."""

from __future__ import annotations

import json

from skillgen.model.value import Json

LONGEST_DECLARED = 2_000
"""Bytes of JSON of a declared value; a larger one is not shown, and a small one is made instead."""


def size_of(value: Json) -> int:
    """Gives the size of a value as JSON; a scalar costs no serialising."""
    if isinstance(value, str):
        return len(value)
    if not isinstance(value, (dict, list)):
        return 8
    try:
        return len(json.dumps(value, ensure_ascii=False))
    except (ValueError, RecursionError, TypeError):
        return LONGEST_DECLARED + 1
