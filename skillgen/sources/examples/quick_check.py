"""A fast validator for simple schemas, so that few values need `jsonschema`.

It only ever answers yes: values that may be invalid, and keywords that it does not know, are left to `jsonschema`.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Literal

from skillgen.model.values import Json

Dialect = Literal["json-schema", "openapi-3.0", "openapi-draft-07", "openapi-3.1"]
"""The dialect of a schema. `openapi-3.0` and `openapi-draft-07` ignore the siblings of a `$ref`."""

FORMATS = ("date", "email", "ipv4", "ipv6", "uuid")
"""Formats that are checked, as most servers do; others are ignored."""

_DEPTH_LIMIT = 32
"""Levels of nested schemas that are checked."""

STEPS_LIMIT = 2_000
"""Schemas that are checked for one value."""

_ANNOTATIONS = frozenset(
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
"""Keywords without a constraint; `nullable` only concerns null, which is never certain here."""

_TYPES: dict[str, type] = {"string": str, "boolean": bool, "object": dict, "array": list, "integer": int}
_SIZE_LIMITS: dict[str, tuple[type, bool]] = {
    "minLength": (str, True),
    "maxLength": (str, False),
    "minItems": (list, True),
    "maxItems": (list, False),
    "minProperties": (dict, True),
    "maxProperties": (dict, False),
}
"""Keyword to the type whose length it limits, and whether it is a minimum."""


class QuickCheck:
    """Checks values against the schemas of one document; `follow` returns the target of a `$ref`."""

    def __init__(self, follow: Callable[[str], Json]) -> None:
        self._follow = follow
        self._steps = 0

    def is_certainly_valid(self, value: Json, raw: Json) -> bool:
        """True if a value certainly matches a schema."""
        self._steps = 0
        return self._matches(value, raw, 0)

    def _matches(self, value: Json, raw: Json, depth: int) -> bool:
        if raw is True:
            return True
        self._steps += 1
        if value is None or not isinstance(raw, dict) or depth > _DEPTH_LIMIT or self._steps > STEPS_LIMIT:
            return False
        return all(
            key in _ANNOTATIONS or self._satisfies(key, expected, value, raw, depth + 1)
            for key, expected in raw.items()
        )

    def _satisfies(self, key: str, expected: Json, value: Json, raw: dict[str, Json], depth: int) -> bool:
        if key == "type":
            return isinstance(expected, str) and _is_of_type(value, expected)
        if key == "format":
            return isinstance(expected, str) and expected not in FORMATS
        if key == "enum":
            return isinstance(expected, list) and isinstance(value, str) and value in expected
        if key == "$ref":
            return isinstance(expected, str) and self._matches_target(expected, value, depth)
        if key == "required":
            return (
                isinstance(expected, list)
                and isinstance(value, dict)
                and all(isinstance(name, str) and name in value for name in expected)
            )
        if key in ("properties", "additionalProperties"):
            return isinstance(value, dict) and self._has_valid_members(key, expected, value, raw, depth)
        if key == "items":
            return isinstance(value, list) and all(self._matches(item, expected, depth) for item in value)
        if key in ("allOf", "anyOf"):
            some = all if key == "allOf" else any
            return isinstance(expected, list) and some(self._matches(value, member, depth) for member in expected)
        if key in _SIZE_LIMITS:
            kind, is_minimum = _SIZE_LIMITS[key]
            if type(expected) is not int or type(value) is not kind or not isinstance(value, Sized):
                return False
            return len(value) >= expected if is_minimum else len(value) <= expected
        return key.startswith("x-")

    def _has_valid_members(
        self, key: str, expected: Json, value: dict[str, Json], raw: dict[str, Json], depth: int
    ) -> bool:
        named = raw.get("properties", {})
        if not isinstance(named, dict):
            return False
        if key == "properties":
            return all(self._matches(item, named[name], depth) for name, item in value.items() if name in named)
        return all(self._matches(item, expected, depth) for name, item in value.items() if name not in named)

    def _matches_target(self, reference: str, value: Json, depth: int) -> bool:
        try:
            return self._matches(value, self._follow(reference), depth)
        except LookupError:
            return False


def _is_of_type(value: Json, name: str) -> bool:
    return type(value) is _TYPES.get(name) or (name == "number" and type(value) in (int, float))
