"""The filters of templates, as a template of a user applies them to any values."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skillgen import Service, render_documents

_SEPARATOR = "\x01"
"""A control character, which every filter removes."""


def filtered(values: Sequence[Any], *filters: str) -> list[tuple[str, ...]]:
    """Returns what each filter, such as `inline` or `fence("json")`, makes of each value."""
    printed = "".join(f"{{{{ value | {name} }}}}{_SEPARATOR}" for name in filters)
    template = f"{_SEPARATOR}{{% for value in service.extras.given %}}{printed}{{% endfor %}}"
    service = Service(kind="mcp", name="any", extras={"given": list(values)})
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "llms.txt.j2").write_text(template, "utf-8")
        Path(folder, "llms-full.txt.j2").write_text("nothing", "utf-8")
        text = render_documents(service, emit="llms", templates=folder)["llms.txt"]
    results = text.split(_SEPARATOR)[1:-1]
    assert len(results) == len(values) * len(filters)
    return list(zip(*(results[start :: len(filters)] for start in range(len(filters))), strict=True))


def each(name: str, values: Sequence[Any]) -> list[str]:
    """Returns what one filter makes of each value."""
    return [result for (result,) in filtered(values, name)]
