"""Keyword -> field.

The keywords of a JSON Schema that need no other schema: types, choices, limits, names.

The keywords of a JSON Schema that hold other schemas: objects, arrays, and rules between their parts.

Each function gives fields of a `Schema`. The schemas inside are read by the function that it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from skillgen.model.schema import Condition, Schema
from skillgen.model.values import Json, Value, child
from skillgen.sources.json_access import is_bare_markup

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


Read = Callable[[Json, str], Schema]
"""Reads the schema that stands at a pointer."""

RULES = frozenset(
    {
        "not",
        "if",
        "dependentSchemas",
        "dependentRequired",
        "dependencies",
        "contains",
        "propertyNames",
        "patternProperties",
        "contentSchema",
        "unevaluatedProperties",
        "unevaluatedItems",
    }
)
"""Keywords of `rule_fields`: few schemas have any of them."""

ABOUT_THE_WHOLE = RULES | {
    "oneOf",
    "anyOf",
    "discriminator",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "xml",
    "then",
    "else",
}
"""Keywords of an object that say something of it beyond what each of its properties is."""


def object_fields(raw: dict[str, Json], pointer: str, read: Read) -> dict[str, Any]:
    """Reads what the properties that have no name of their own may be."""
    additional = raw.get("additionalProperties")
    if isinstance(additional, dict) and additional:
        return {"additional": read(additional, child(pointer, "additionalProperties"))}
    return {} if additional is None else {"additional": additional is not False}


def array_fields(raw: dict[str, Json], pointer: str, read: Read) -> dict[str, Any]:
    """Reads the items of an array: `prefixItems` and `items`, or the `items` and `additionalItems` of draft-07."""
    fields: dict[str, Any] = {}
    items, prefix, keyword, first = raw.get("items"), raw.get("prefixItems"), "items", "prefixItems"
    if isinstance(items, list):
        items, prefix, keyword, first = raw.get("additionalItems"), items, "additionalItems", "items"
    if isinstance(prefix, list):
        fields["prefix_items"] = tuple(read(item, child(pointer, first, index)) for index, item in enumerate(prefix))
    if items is not None and items is not True:
        fields["items"] = read(items, child(pointer, keyword))
    return fields


def rule_fields(raw: dict[str, Json], pointer: str, read: Read, report: Report) -> dict[str, Any]:
    """Reads the keywords of `RULES`."""
    fields: dict[str, Any] = {}
    for keyword, name in (
        ("not", "excluded"),
        ("contains", "contains"),
        ("propertyNames", "property_names"),
        ("contentSchema", "content"),
    ):
        if keyword in raw:
            fields[name] = read(raw[keyword], child(pointer, keyword))
    if isinstance(patterns := raw.get("patternProperties"), dict):
        fields["patterns"] = {
            pattern: read(item, child(pointer, "patternProperties", pattern)) for pattern, item in patterns.items()
        }
    elif patterns is not None:
        report(child(pointer, "patternProperties"), f"expected an object, found {kind_of(patterns)}")
    # Whatever no other keyword has looked at: here that is the same as what has no name of its own.
    if "unevaluatedProperties" in raw and "additionalProperties" not in raw:
        inner = raw["unevaluatedProperties"]
        fields |= object_fields({"additionalProperties": inner}, pointer, read)
    if (rest := raw.get("unevaluatedItems", True)) is not True and "items" not in raw:
        fields["items"] = read(rest, child(pointer, "unevaluatedItems"))
    if conditions := tuple(_conditions(raw, pointer, read, report)):
        fields["conditions"] = conditions
    return fields


def _conditions(raw: dict[str, Json], pointer: str, read: Read, report: Report) -> Iterator[Condition]:
    if "if" in raw and ("then" in raw or "else" in raw):
        yield Condition(
            when=read(raw["if"], child(pointer, "if")),
            then=read(raw["then"], child(pointer, "then")) if "then" in raw else None,
            otherwise=read(raw["else"], child(pointer, "else")) if "else" in raw else None,
        )
    for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
        dependencies = raw.get(keyword)
        if dependencies is not None and not isinstance(dependencies, dict):
            report(child(pointer, keyword), f"expected an object, found {kind_of(dependencies)}")
            continue
        for name, item in (dependencies or {}).items():
            if not isinstance(item, list):
                then = read(item, child(pointer, keyword, name))
            else:
                then = Schema(required=names_in(item))
            yield Condition(when=Schema(required=(name,)), then=then)
