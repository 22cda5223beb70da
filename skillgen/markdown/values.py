"""JSON values as text, the same on every system."""

from __future__ import annotations

import json
import re

from skillgen.markdown.invisible import visible
from skillgen.model.value import Json


def json_text(data: Json, indent: int | None = None) -> str:
    """Gives a value as JSON: keys in the order given, text as it is, no characters escaped that need not be."""
    separators = (", ", ": ") if indent is None else (",", ": ")
    return json.dumps(data, ensure_ascii=False, indent=indent, separators=separators)


_CHANGED = re.compile(r"\x7f|(?<=!)`|\$(?=ARGUMENTS|\{CLAUDE_)")


def exact_json_text(data: Json, indent: int | None = None) -> str:
    """Gives a value as JSON in which the signs that a filter would change are escaped, so that it stays exact."""
    text = json_text(data, indent)
    if visible(text) != text:
        separators = (", ", ": ") if indent is None else (",", ": ")
        text = json.dumps(data, indent=indent, separators=separators)
    return _CHANGED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
