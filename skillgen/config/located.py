"""YAML and TOML with line numbers. What a value means is decided by what is wanted there, not by how it looks.

So `version: 1.10` is the text 1.10 and `when-to-use: [no]` the text no, whatever a YAML 1.1 loader makes of them.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from typing import Any

import yaml

from skillgen.errors import UsageError

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS = ("", "~", "null", "Null", "NULL")


@dataclass(slots=True)
class Located:
    """A value and where it stands."""

    where: str
    """The file, and the line where it is known."""

    members: dict[str, Located] | None = None
    """For a mapping."""

    items: list[Located] | None = None
    """For a list."""

    text: str = ""
    """For a scalar."""

    is_null: bool = False
    """Whether it is null."""

    key_places: dict[str, str] = field(default_factory=dict)
    """Where the keys of a mapping stand."""


def located_yaml(text: str, name: str) -> Located:
    """Reads a YAML document.

    Raises:
        UsageError: it is not YAML, or a key stands twice.
    """
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise UsageError(
            f"is not YAML: {what}", where=f"{name}:{mark.line + 1}" if mark is not None else name, fix="correct it"
        ) from None
    except RecursionError:
        raise UsageError("is nested too deeply", where=name, fix="write it with fewer levels") from None
    return Located(f"{name}:1", members={}) if node is None else _from_node(node, name, ())


def _from_node(node: Any, name: str, above: tuple[int, ...]) -> Located:
    where = f"{name}:{node.start_mark.line + 1}"
    if id(node) in above:
        raise UsageError("an alias contains itself", where=where, fix="write the value out")
    above = (*above, id(node))
    if isinstance(node, yaml.ScalarNode):
        is_null = not node.style and node.value in _NULLS
        return Located(where, text=node.value, is_null=is_null)
    if isinstance(node, yaml.SequenceNode):
        return Located(where, items=[_from_node(item, name, above) for item in node.value])
    found = Located(where, members={})
    assert found.members is not None
    for key, value in node.value:
        place = f"{name}:{key.start_mark.line + 1}"
        if not isinstance(key, yaml.ScalarNode):
            raise UsageError("a key must be text", where=place, fix="correct it")
        if key.value in found.members:
            raise UsageError(f"the key {key.value!r} stands twice", where=place, fix="remove one")
        found.members[key.value] = _from_node(value, name, above)
        found.key_places[key.value] = place
    return found


def located_toml(text: str, name: str) -> Located:
    """Reads the table `[tool.skillgen]` of a TOML document; empty where there is none.

    Raises:
        UsageError: it is not TOML.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"is not TOML: {error}", where=name, fix="correct it") from None
    tool = data.get("tool")
    table = tool.get("skillgen") if isinstance(tool, dict) else None
    return _from_value(table if isinstance(table, dict) else {}, text.splitlines(), name, 0)


def _from_value(value: Any, lines: list[str], name: str, after: int) -> Located:
    """TOML libraries tell no lines; a key is looked for below the one that holds it."""
    where = f"{name}:{after}" if after else name
    if isinstance(value, dict):
        found = Located(where, members={})
        assert found.members is not None
        for key, item in value.items():
            line = _line_of(key, lines, after)
            found.members[key] = _from_value(item, lines, name, line)
            found.key_places[key] = f"{name}:{line}" if line else name
        return found
    if isinstance(value, list):
        return Located(where, items=[_from_value(item, lines, name, after) for item in value])
    if isinstance(value, bool):
        return Located(where, text="true" if value else "false")
    return Located(where, text=str(value))


def _line_of(key: str, lines: list[str], after: int) -> int:
    word = re.compile(rf"""(?<![\w-])["']?{re.escape(key)}["']?\s*(=|\]|\.)""")
    return next((number for number in range(after or 1, len(lines) + 1) if word.search(lines[number - 1])), after)
