"""Checks `x-mcp-header`, which mirrors an argument into an HTTP header (2026-07-28, Streamable HTTP, "Custom Headers").

A client must leave out a tool whose annotations break the rules: no call of it could be made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from skillgen.errors import ProblemLog
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict, as_list
from skillgen.sources.mcp.claims import Members

_KEY = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
_TYPES = ("string", "integer", "boolean")

_ONE_SCHEMA = (
    "items",
    "contains",
    "unevaluatedItems",
    "additionalItems",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
)
_LISTS_OF_SCHEMAS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_NAMED_SCHEMAS = ("patternProperties", "dependentSchemas", "$defs", "definitions")


def callable_entries(entries: Iterable[tuple[str, Members]], problems: ProblemLog) -> Iterator[tuple[str, Members]]:
    """Gives the tools that a client may call over Streamable HTTP, and reports the others."""
    for name, members in entries:
        reason = invalid_header(members.raw.get("inputSchema"))
        if reason is None:
            yield name, members
        else:
            problems.warning(
                "tool-header-invalid",
                members.at("inputSchema"),
                f"no client may call {name[:100]!r}: {reason[:200]}; left out",
                "give each x-mcp-header a name of its own, on a property that is a string, integer or boolean",
            )


def invalid_header(input_schema: Json) -> str | None:
    """Tells what is wrong with the first annotation that breaks a rule; `None` where none does."""
    seen: set[str] = set()
    for path, schema in _positions(input_schema):
        if _KEY not in schema:
            continue
        header = schema[_KEY]
        if not path:
            return f"{_KEY} stands where no plain property is"
        where = ".".join(path)
        if not isinstance(header, str) or not _TOKEN.match(header):
            return f"{_KEY} of {where} is no name of a header"
        if schema.get("type") not in _TYPES:
            return f"{_KEY} of {where} is on what is no string, integer or boolean"
        if header.lower() in seen:
            return f"{_KEY} of {where} names a header that another parameter has"
        seen.add(header.lower())
    return None


def _positions(root: Json) -> Iterator[tuple[tuple[str, ...] | None, dict[str, Json]]]:
    """Gives every schema, and its path where nothing but `properties` leads to it; never what is mere data."""
    waiting: list[tuple[tuple[str, ...] | None, Json]] = [((), root)]
    while waiting:
        path, schema = waiting.pop()
        if not isinstance(schema, dict):
            continue
        yield path, schema
        inside: list[tuple[tuple[str, ...] | None, Json]] = []
        properties = schema.get("properties")
        if isinstance(properties, dict):
            inside += [((*path, name) if path is not None else None, part) for name, part in properties.items()]
        inside += [(None, schema.get(key)) for key in _ONE_SCHEMA]
        inside += [(None, part) for key in _LISTS_OF_SCHEMAS for part in as_list(schema.get(key))]
        inside += [(None, part) for key in _NAMED_SCHEMAS for part in as_dict(schema.get(key)).values()]
        waiting += reversed(inside)
