"""Reads TOML: the tables of this package, and project files."""

from __future__ import annotations

import sys
from operator import methodcaller
from pathlib import Path
from typing import Any

_TOML_LIMIT, _TOML_DOTS = 4 * 1024 * 1024, 500
"""Characters of a document, and full stops on a line."""


def parse_toml(text: str) -> dict[str, Any]:
    """Returns the content of a TOML document.

    Raises:
        ValueError: it is not TOML, or would take too long.
    """
    # The library takes quadratic time for a dotted key, and recurses.
    if len(text) > _TOML_LIMIT or max(map(methodcaller("count", "."), text.splitlines()), default=0) > _TOML_DOTS:
        raise ValueError("too large, or a key has too many parts")
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def load_table(module_file: str, name: str) -> dict[str, Any]:
    """Returns the content of a TOML file in the folder of a module."""
    return parse_toml(Path(module_file).with_name(name).read_text("utf-8"))
