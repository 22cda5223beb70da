"""Tells of most values at once that they fit a schema, so that a library need be asked of few.

Only a yes is an answer: whatever is not understood here, or may be refused, is left to the library.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Literal

from skillgen.model.values import Json

Dialect = Literal["json-schema", "openapi-3.0", "openapi-draft-07", "openapi-3.1"]
"""The dialect of a schema. `openapi-3.0` and `openapi-draft-07` ignore the siblings of a `$ref`."""

FORMATS = ("date", "email", "ipv4", "ipv6", "uuid")
"""Formats that are checked, as most servers do; any other is not."""

CHECK_DEPTH_LIMIT = 32
"""Schemas, one within the other, that are looked into."""

STEPS_LIMIT = 2_000
"""Schemas that are read for one value."""

_SILENT = frozenset(
    {
        "title",
        "description",
        "deprecated",
        "nullable",
        "readOnly",
        "writeOnly",
        "example",
        "examples",
        "default",
        "externalDocs",
        "xml",
        "discriminator",
    }
)
"""Keywords that ask for nothing, or only of null, for which there is never a yes here."""

_TYPES: dict[str, type] = {"string": str, "boolean": bool, "object": dict, "array": list, "integer": int}
_MEASURES: dict[str, tuple[type, bool]] = {
    "minLength": (str, True),
    "maxLength": (str, False),
    "minItems": (list, True),
    "maxItems": (list, False),
    "minProperties": (dict, True),
    "maxProperties": (dict, False),
}
"""What is counted, and whether the count is the least."""


class QuickCheck:
    """Checks values against the schemas of one document; `follow` gives what stands at a `$ref`."""

    def __init__(self, follow: Callable[[str], Json]) -> None:
        self._follow = follow
        self._steps = 0

    def is_certainly_valid(self, value: Json, raw: Json) -> bool:
        """Tells that a value fits a schema for certain."""
        self._steps = 0
        return self._fits(value, raw, 0)

    def _fits(self, value: Json, raw: Json, depth: int) -> bool:
        if raw is True:
            return True
        self._steps += 1
        if value is None or not isinstance(raw, dict) or depth > CHECK_DEPTH_LIMIT or self._steps > STEPS_LIMIT:
            return False
        return all(key in _SILENT or self._meets(key, asked, value, raw, depth + 1) for key, asked in raw.items())

    def _meets(self, key: str, asked: Json, value: Json, raw: dict[str, Json], depth: int) -> bool:
        if key == "type":
            return isinstance(asked, str) and _is_of_type(value, asked)
        if key == "format":
            return isinstance(asked, str) and asked not in FORMATS
        if key == "enum":
            return isinstance(asked, list) and isinstance(value, str) and value in asked
        if key == "$ref":
            return isinstance(asked, str) and self._fits_at(asked, value, depth)
        if key == "required":
            return (
                isinstance(asked, list)
                and isinstance(value, dict)
                and all(isinstance(name, str) and name in value for name in asked)
            )
        if key in ("properties", "additionalProperties"):
            return isinstance(value, dict) and self._holds(key, asked, value, raw, depth)
        if key == "items":
            return isinstance(value, list) and all(self._fits(item, asked, depth) for item in value)
        if key in ("allOf", "anyOf"):
            some = all if key == "allOf" else any
            return isinstance(asked, list) and some(self._fits(value, member, depth) for member in asked)
        if key in _MEASURES:
            kind, is_least = _MEASURES[key]
            if type(asked) is not int or type(value) is not kind or not isinstance(value, Sized):
                return False
            return len(value) >= asked if is_least else len(value) <= asked
        return key.startswith("x-")

    def _holds(self, key: str, asked: Json, value: dict[str, Json], raw: dict[str, Json], depth: int) -> bool:
        named = raw.get("properties", {})
        if not isinstance(named, dict):
            return False
        if key == "properties":
            return all(self._fits(item, named[name], depth) for name, item in value.items() if name in named)
        return all(self._fits(item, asked, depth) for name, item in value.items() if name not in named)

    def _fits_at(self, reference: str, value: Json, depth: int) -> bool:
        try:
            return self._fits(value, self._follow(reference), depth)
        except LookupError:
            return False


def _is_of_type(value: Json, name: str) -> bool:
    return type(value) is _TYPES.get(name) or (name == "number" and type(value) in (int, float))
