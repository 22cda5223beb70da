"""Sets a value in a YAML text so that only the lines of its key change: comments, anchors and styles stay."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from textwrap import indent
from typing import Any

import yaml
from msgspec import Struct

from skillgen.config.loader import yaml_values
from skillgen.errors import UsageError

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WIDTH = 110
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


class _Node(Struct):
    """A value with its place in the text."""

    start: int
    end: int
    """The end of its last scalar, alias or bracket: no comment after it belongs to it."""

    column: int
    text: str | None = None
    is_flow: bool = False
    members: list[tuple[_Node, _Node]] | None = None
    """The keys and values of a mapping."""


def with_value(text: str, path: Sequence[str], value: Any, name: str) -> str:
    """Returns a YAML document with a value below the keys of `path`; those that are missing are added.

    Line ends and a byte order mark stay. `name` is that of the file, for messages.

    Raises:
        UsageError: the document is invalid, or other values would change too.
    """
    mark, body = text[: text.startswith("\ufeff")], text.removeprefix("\ufeff")
    expected = members = yaml_values(body, name) or {}
    changed = _spliced(body, path, value)
    if "\r\n" in body:
        changed = re.sub(r"(?<!\r)\n", "\r\n", changed)
    for key in path[:-1]:
        members[key] = members = members.get(key) or {}
    members[path[-1]] = value
    with suppress(UsageError):
        if yaml_values(changed, name) == expected:
            return mark + changed
    fix = "write its value out where it is an alias, an anchor or a tag"
    raise UsageError(f"{'.'.join(path)} cannot be changed alone", where=name, fix=fix)


def _spliced(text: str, path: Sequence[str], value: Any) -> str:
    events = (event for event in yaml.parse(text, Loader=_LOADER) if not isinstance(event, _BETWEEN))
    first = next(events, None)
    if first is None:
        return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{_pair(path, value, 0)}\n"
    node, rest = _node(first, events, text), list(path)
    while rest:
        pair = next((pair for pair in node.members or () if pair[0].text == rest[0]), None)
        if pair is None:
            return _inserted(text, node, rest, value)
        is_flow, (key, node) = node.is_flow, pair
        rest.pop(0)
        if not rest or not node.members:
            break
    value = _nested(rest, value)
    end = len(text[: node.end].rstrip())
    comment = text[end:].partition("\n")[0].rstrip()
    dumped = f": {_json(value)}" if is_flow else _dumped(value, key.column, is_literal=not comment)
    if comment and dumped.startswith(":\n"):
        dumped, end = f":{comment}{dumped[1:]}", end + len(comment)
    return text[: key.end] + dumped + text[end:]


_BETWEEN = (yaml.StreamStartEvent, yaml.StreamEndEvent, yaml.DocumentStartEvent, yaml.DocumentEndEvent)


def _node(event: Any, events: Iterator[Any], text: str) -> _Node:
    node = _Node(event.start_mark.index, event.end_mark.index, event.start_mark.column)
    if isinstance(event, (yaml.ScalarEvent, yaml.AliasEvent)):
        node.text = getattr(event, "value", None)
        if getattr(event, "style", None) in ("|", ">") and "+" not in text[node.start :].partition("\n")[0]:
            node.end = node.start + len(text[node.start : node.end].rstrip())
        return node
    node.is_flow, is_mapping, items = event.flow_style, isinstance(event, yaml.MappingStartEvent), []
    for event in events:
        if isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            break
        items.append(_node(event, events, text))
        node.end = items[-1].end
    if node.is_flow:
        node.end = event.end_mark.index
    if is_mapping:
        node.members = list(zip(items[::2], items[1::2], strict=True))
    return node


def _inserted(text: str, node: _Node, rest: Sequence[str], value: Any) -> str:
    """Returns the text with a new key after the last member of a mapping."""
    last = node.members[-1][1].end if node.members else node.end - 1
    if node.is_flow:
        comma = ", " if node.members else ""
        return f"{text[:last]}{comma}{_json(rest[0])}: {_json(_nested(rest[1:], value))}{text[last:]}"
    column = node.members[0][0].column if node.members else 0
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
    return key + _dumped(_nested(path[1:], value), column)


def _dumped(value: Any, column: int, *, is_literal: bool = True) -> str:
    """Returns what follows a key in block style; a string of several lines is a literal block if it may be one."""

    class Dumper(yaml.SafeDumper):
        pass

    def represent(dumper: Any, text: str) -> Any:
        return dumper.represent_scalar(
            "tag:yaml.org,2002:str", text, style="|" if is_literal and "\n" in text else None
        )

    Dumper.add_representer(str, represent)
    dumped = yaml.dump({"k": value}, Dumper=Dumper, width=_WIDTH - column, allow_unicode=True, sort_keys=False)
    return indent(dumped[1:].rstrip("\n"), " " * column).lstrip(" ")
