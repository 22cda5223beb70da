"""JSON values as text, the same on every system."""

from __future__ import annotations

import json

from skillgen.model.value import Json


def json_text(data: Json, indent: int | None = None) -> str:
    """Gives a value as JSON: keys in the order given, text as it is, no characters escaped that need not be."""
    separators = (", ", ": ") if indent is None else (",", ": ")
    return json.dumps(data, ensure_ascii=False, indent=indent, separators=separators)
