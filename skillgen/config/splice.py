"""Sets a value in a project file so that only the lines of its key change: comments, anchors and styles stay."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from textwrap import indent
from typing import Any

import yaml

from skillgen.config.loader import yaml_values
from skillgen.errors import UsageError

_WIDTH = 110
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


class _Loader(yaml.SafeLoader):
    """Composes a document in which an alias is a scalar at its own place."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if not self.check_event(yaml.AliasEvent):
            return super().compose_node(parent, index)
        event = self.get_event()  # type: ignore[no-untyped-call]
        return yaml.ScalarNode("alias", "", event.start_mark, event.end_mark)


class _LiteralDumper(yaml.SafeDumper):
    """Writes a string of several lines as a literal block if it may be one."""


_LiteralDumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def with_value(text: str, path: Sequence[str], value: Any, name: str) -> str:
    """Returns a YAML document with a value below the keys of `path`; those that are missing are added.

    Line ends and a byte order mark stay. `name` is that of the file, for messages.

    Raises:
        UsageError: the document is invalid, or other values would change too.
    """
    mark, body = text[: text.startswith("\ufeff")], text.removeprefix("\ufeff")
    expected = members = yaml_values(body, name) or {}
    with suppress(UsageError, ValueError):
        changed = _spliced(body, path, value)
        if "\r\n" in body:
            changed = re.sub(r"(?<!\r)\n", "\r\n", changed)
        for key in path[:-1]:
            members[key] = members = members.get(key) or {}
        members[path[-1]] = value
        if yaml_values(changed, name) == expected:
            return mark + changed
    fix = "write its value out where it is an alias, an anchor or a tag"
    raise UsageError(f"{'.'.join(path)} cannot be changed alone", where=name, fix=fix)


def _spliced(text: str, path: Sequence[str], value: Any) -> str:
    root: Any = yaml.compose(text, Loader=_Loader)
    if root is None:
        return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{_pair(path, value, 0)}\n"
    node, key, rest, is_flow = root, root, list(path), False
    while rest and (node is root or _pairs(node)):
        pair = next((pair for pair in _pairs(node) if pair[0].value == rest[0]), None)
        if pair is None:
            return _inserted(text, node, rest, value)
        is_flow, (key, node), rest = node.flow_style, pair, rest[1:]
    value, end = _nested(rest, value), len(text[: _end(node, text)].rstrip())
    comment = text[end:].partition("\n")[0].rstrip()
    column = key.start_mark.column
    dumped = f": {_json(value)}" if is_flow else _dumped(value, column, yaml.SafeDumper if comment else _LiteralDumper)
    if comment and dumped.startswith(":\n"):
        dumped, end = f":{comment}{dumped[1:]}", end + len(comment)
    return text[: key.end_mark.index] + dumped + text[end:]


def _pairs(node: Any) -> list[tuple[Any, Any]]:
    return node.value if isinstance(node, yaml.MappingNode) else []


def _end(node: Any, text: str) -> int:
    """Returns the end of the last scalar, alias or bracket of a value: no comment after it belongs to it."""
    if isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last, text)
    start, end = node.start_mark.index, int(node.end_mark.index)
    is_stripped = getattr(node, "style", None) in ("|", ">") and "+" not in text[start:].partition("\n")[0]
    return start + len(text[start:end].rstrip()) if is_stripped else end


def _inserted(text: str, node: Any, rest: Sequence[str], value: Any) -> str:
    """Returns the text with a new key after the last member of a mapping."""
    pairs = _pairs(node)
    last = _end(pairs[-1][1], text) if pairs else node.end_mark.index - 1
    if node.flow_style:
        pair = f"{_json(rest[0])}: {_json(_nested(rest[1:], value))}"
        return f"{text[:last]}{', ' if pairs else ''}{pair}{text[last:]}"
    column = pairs[0][0].start_mark.column if pairs else 0
    line_end = text.find("\n", last - (text[last - 1] == "\n"))
    start, before = (line_end + 1, "") if line_end >= 0 else (len(text), "\n")
    return f"{text[:start]}{before}{' ' * column}{_pair(rest, value, column)}\n{text[start:]}"


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _pair(path: Sequence[str], value: Any, column: int) -> str:
    key = path[0] if _PLAIN_KEY.fullmatch(path[0]) else _json(path[0])
    return key + _dumped(_nested(path[1:], value), column, _LiteralDumper)


def _dumped(value: Any, column: int, dumper: Any) -> str:
    """Returns what follows a key in block style."""
    dumped = yaml.dump({"k": value}, Dumper=dumper, width=_WIDTH - column, allow_unicode=True, sort_keys=False)
    return indent(dumped[1:].rstrip("\n"), " " * column).lstrip(" ")
