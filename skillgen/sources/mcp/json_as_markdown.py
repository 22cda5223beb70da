"""Writes JSON that stands where a text was expected as Markdown."""

from __future__ import annotations

import json
import re

from skillgen.model.value import Json


def as_markdown(value: Json) -> str:
    """Gives a text as it is, a list of texts and a flat object as list items, anything else as a block of JSON."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(f"- {item}" for item in value)
    if isinstance(value, dict) and not any(isinstance(item, (dict, list)) for item in value.values()):
        return "\n".join(f"- **{title_from_key(key)}:** {item}" for key, item in value.items())
    return f"```json\n{json.dumps(value, ensure_ascii=False, indent=2)}\n```" if value is not None else ""


def title_from_key(key: str) -> str:
    """Gives `commonMistakes` or `common_mistakes` as `Common mistakes`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[-_]+", " ", key).strip()
    return words[:1].upper() + words[1:]
