"""JSON values as text, the same on every system."""

from __future__ import annotations

import json
import re

from skillgen.model.value import Json


def json_text(data: Json, indent: int | None = None) -> str:
    """Gives a value as JSON: keys in the order given, text as it is, no characters escaped that need not be."""
    separators = (", ", ": ") if indent is None else (",", ": ")
    return json.dumps(data, ensure_ascii=False, indent=indent, separators=separators)


_INEXACT = re.compile(
    "[\x7f-\x9f\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    "\u3000\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
    "\U000f0000-\U0010ffff]|(?<=!)`|\\$(?=ARGUMENTS|\\{CLAUDE_)"
)


def exact_json_text(data: Json, indent: int | None = None) -> str:
    """Gives a value as JSON in which the signs that a filter would change are escaped, so that it stays exact."""
    text = json_text(data, indent)
    if text.isascii() and "!`" not in text and "$" not in text and "\x7f" not in text:
        return text
    return _INEXACT.sub(lambda match: json.dumps(match[0])[1:-1] if not match[0].isascii() else _escape(match[0]), text)


def _escape(sign: str) -> str:
    return f"\\u{ord(sign):04x}"
