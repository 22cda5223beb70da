"""The keywords of a JSON Schema that need no other schema: types, choices, limits, names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from skillgen.model.pointer import child
from skillgen.model.value import Json, Value
from skillgen.sources.guards import is_bare_markup

Report = Callable[[str, str], None]
"""Takes the pointer and the message of something that makes no sense."""

CONSTRAINTS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
    "contentMediaType",
)
"""Keywords that are kept as they are."""


def scalar_fields(raw: dict[str, Json], pointer: str, report: Report) -> dict[str, Any]:
    """Gives the fields of a `Schema` that stand in one keyword each."""
    fields: dict[str, Any] = {}
    for key, value in raw.items():
        if key == "type":
            _add_types(value, fields, pointer, report)
        elif key in ("description", "title", "format"):
            if isinstance(value, str) and not is_bare_markup(value):
                fields[key] = value
        elif key == "enum":
            if isinstance(value, list):
                fields.setdefault("choices", tuple(value))
            else:
                report(child(pointer, key), f"expected a list, found {kind_of(value)}")
        elif key == "const":
            fields["choices"] = (value,)
        elif key == "default":
            fields["default"] = Value(value)
        elif key == "example":
            fields["examples"] = (value,)
        elif key == "examples":
            if isinstance(value, list):
                fields["examples"] = tuple(value)
        elif key == "nullable":
            fields["nullable"] = value is True or fields.get("nullable", False)
        elif key == "readOnly":
            fields["read_only"] = value is True
        elif key == "writeOnly":
            fields["write_only"] = value is True
        elif key == "deprecated":
            fields["deprecated"] = value is True
        elif key == "contentEncoding" and isinstance(value, str):
            fields.setdefault("format", value)
    return fields


def _add_types(declared: Json, fields: dict[str, Any], pointer: str, report: Report) -> None:
    names = [declared] if isinstance(declared, str) else declared
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        report(child(pointer, "type"), f"expected a type name or a list of them, found {kind_of(declared)}")
        return
    fields["types"] = tuple(name for name in names if name != "null")
    if "null" in names:
        fields["nullable"] = True
        if not fields["types"]:
            fields["choices"] = (None,)


def constraints_of(raw: dict[str, Json]) -> dict[str, Json] | None:
    """Gives the keywords that bound a value."""
    constraints = {key: raw[key] for key in CONSTRAINTS if key in raw and raw[key] is not False}
    # OpenAPI 3.0 has the exclusive bounds as flags beside the bound.
    for flag, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if constraints.get(flag) is True:
            del constraints[flag]
            if bound in constraints:
                constraints[flag] = constraints.pop(bound)
    return constraints or None


def required_names(raw: Mapping[str, Json]) -> tuple[str, ...]:
    """Gives the names in `required`, in the order declared."""
    return names_in(raw.get("required"))


def names_in(value: Json) -> tuple[str, ...]:
    """Gives the names in a list of them, each once; none where something else stands."""
    if not isinstance(value, list):
        return ()
    return tuple(dict.fromkeys(name for name in value if isinstance(name, str)))


def members(raw: Mapping[str, Json], keyword: str) -> list[tuple[int, Json]]:
    """Gives the schemas of a keyword that is a list, with their places."""
    found = raw.get(keyword)
    return list(enumerate(found)) if isinstance(found, list) else []


def references(raw: Json) -> Iterator[str]:
    """Gives every local `$ref` below a value."""
    waiting = [raw]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(reference := value.get("$ref"), str) and reference.startswith("#"):
                yield reference
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def kind_of(value: Json) -> str:
    """Gives the kind of a JSON value, for messages."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
