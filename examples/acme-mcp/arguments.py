"""Checks the arguments of a call against the tool's `inputSchema`: just the JSON Schema that this server uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
}


def complaints(schema: dict[str, Any], value: Any, name: str = "arguments") -> Iterator[str]:
    """Says what is wrong with a value, one sentence for each thing."""
    expected = schema.get("type", "object")
    if not isinstance(value, TYPES[expected]) or (isinstance(value, bool) and expected != "boolean"):
        yield f"{name} must be of type {expected}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{name} must be one of {', '.join(schema['enum'])}"
    if isinstance(value, dict):
        yield from object_complaints(schema, value, name)
    elif isinstance(value, list):
        yield from list_complaints(schema, value, name)
    elif isinstance(value, str):
        yield from text_complaints(schema, value, name)
    elif value < schema.get("minimum", value):
        yield f"{name} must be at least {schema['minimum']}"
    elif value > schema.get("maximum", value):
        yield f"{name} must be at most {schema['maximum']}"


def object_complaints(schema: dict[str, Any], value: dict[str, Any], name: str) -> Iterator[str]:
    """Says what is wrong with an object: a member is missing, unknown or wrong."""
    members = schema.get("properties", {})
    for missing in [key for key in schema.get("required", ()) if key not in value]:
        yield f"{name} must have {missing}"
    for key, item in value.items():
        if key in members:
            yield from complaints(members[key], item, f"{name}.{key}")
        else:
            yield f"{name} has no member {key}"


def list_complaints(schema: dict[str, Any], value: list[Any], name: str) -> Iterator[str]:
    """Says what is wrong with a list: its length or its items."""
    if len(value) > schema.get("maxItems", len(value)):
        yield f"{name} must have at most {schema['maxItems']} items"
    if schema.get("uniqueItems") and len(set(map(str, value))) < len(value):
        yield f"{name} must not name anything twice"
    for index, item in enumerate(value):
        yield from complaints(schema["items"], item, f"{name}[{index}]")


def text_complaints(schema: dict[str, Any], value: str, name: str) -> Iterator[str]:
    """Says what is wrong with a text: its length, its pattern or its format."""
    if len(value) < schema.get("minLength", 0):
        yield f"{name} must have at least {schema['minLength']} characters"
    if len(value) > schema.get("maxLength", len(value)):
        yield f"{name} must have at most {schema['maxLength']} characters"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{name} must match {schema['pattern']}"
    try:
        if schema.get("format") == "date":
            date.fromisoformat(value)
        elif schema.get("format") == "date-time":
            datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        yield f"{name} must be an ISO 8601 {schema['format']}"


def with_defaults(schema: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments, and the default of every one that is absent and has a default."""
    members = schema.get("properties", {})
    return {key: member["default"] for key, member in members.items() if "default" in member} | value
