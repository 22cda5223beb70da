"""Schemas composed of others: `allOf`, `oneOf`, `anyOf`, and properties that are declared more than once.

The model has no `allOf`: its members are merged into the schema, and what cannot be merged is in `also`. A single
alternative, or one next to null, is merged too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from skillgen.model.schema import Parameter, Schema, bases
from skillgen.model.values import Json, child
from skillgen.sources.json_schema.keywords import ReadSchema, Report, members
from skillgen.text.summary import join_texts

ANYTHING = Schema()
"""The schema without constraints."""

_LARGER_WINS = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"})
_SMALLER_WINS = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"})
_SINGLE_FIELDS = ("format", "prefix_items", "contains", "content", "excluded")
"""Fields that cannot be merged; a second value that differs goes to `also`."""

_EITHER = (*_SINGLE_FIELDS, "title", "default", "examples", "read_only", "write_only", "deprecated")
"""Fields of which the first value that there is counts."""

_ALTERNATIVES = ("alternatives", "is_exclusive", "discriminator")


def merge(one: Schema, other: Schema) -> Schema:
    """Returns a schema that allows what both allow; what cannot be merged is in its `also`.

    Descriptions are joined. Of titles and examples, which restrict nothing, the first is used.
    """
    if other == ANYTHING:
        return one
    conflicts: dict[str, Any] = {}
    either = {name: getattr(one, name) or getattr(other, name) for name in _EITHER}
    for name in _SINGLE_FIELDS:
        if getattr(one, name) and getattr(other, name) and getattr(one, name) != getattr(other, name):
            conflicts[name] = getattr(other, name)
    properties, required = _merge_properties(one, other)
    nulls = one.nullable, other.nullable
    fields: dict[str, Any] = {
        **either,
        "types": _common_types(one.types, other.types, conflicts),
        "constraints": _tighter_constraints(one.constraints, other.constraints, conflicts),
        # In OpenAPI 3.0 `nullable` without a type concerns the schema next to it.
        "nullable": all(nulls) if one.types and other.types else any(nulls),
        "description": join_texts(one.description, other.description),
        "choices": _common_choices(one.choices, other.choices),
        "includes": tuple(name for name in dict.fromkeys((*one.includes, *bases(other))) if name != one.ref),
        "properties": properties,
        "required": required,
        "patterns": {**(other.patterns or {}), **(one.patterns or {})} or None,
        "additional": _merge_optional(one.additional, other.additional),
        "property_names": _merge_optional(one.property_names, other.property_names),
        "items": _merge_optional(one.items, other.items),
        "conditions": one.conditions + other.conditions,
    }
    if one.alternatives and other.alternatives and one.alternatives != other.alternatives:
        conflicts |= {name: getattr(other, name) for name in _ALTERNATIVES}
    else:
        fields |= {name: getattr(one if one.alternatives else other, name) for name in _ALTERNATIVES}
        fields["discriminator"] = fields["discriminator"] or one.discriminator
    return replace(one, **fields, also=one.also + other.also + ((Schema(**conflicts),) if conflicts else ()))


def union(one: Schema, other: Schema) -> Schema:
    """Returns a schema that allows what either allows: the choices of both, or both as alternatives."""
    if one == other or other in one.alternatives:
        return one
    if one.choices is not None and other.choices is not None and _without_choices(one) == _without_choices(other):
        types = tuple(dict.fromkeys(one.types + other.types)) if one.types and other.types else ()
        added = tuple(item for item in other.choices if not _is_among(item, one.choices))
        default = one.default if one.default == other.default else None
        return replace(one, types=types, choices=(*one.choices, *added), default=default)
    return Schema(alternatives=(*_alternatives_of(one), *_alternatives_of(other)))


def with_all_of(schema: Schema, raw: dict[str, Json], pointer: str, read: ReadSchema, report: Report) -> Schema:
    """Returns the schema merged with the members of its `allOf`."""

    # In OpenAPI 3.0 `nullable` without a type, next to `allOf`, is meant for the members.
    is_null_meant = schema.nullable and not schema.types
    for index, member in members(raw, "allOf"):
        member_pointer = f"{pointer}/allOf/{index}"
        schema = merge_checked(schema, read(member, member_pointer), member_pointer, report)
    if is_null_meant and not schema.nullable:
        schema = replace(schema, nullable=True)
    return _simplify(schema)


def with_alternatives(schema: Schema, raw: dict[str, Json], pointer: str, read: ReadSchema, report: Report) -> Schema:
    """Returns the schema with its alternatives; a single one, or one next to null, is merged into it."""
    for keyword in ("oneOf", "anyOf"):
        if keyword not in raw:
            continue

        alternatives = [
            read(member, f"{pointer}/{keyword}/{index}")
            for index, member in members(raw, keyword)
            if not _is_null(member)
        ]
        if any(map(_is_null, raw[keyword])):
            schema = replace(schema, nullable=True)
        # Generators write `{"not": {}}`, which allows nothing, for a value that may be undefined.
        found = [item for item in alternatives if item.choices != () or item.nullable]
        if alternatives and not found:
            schema = replace(schema, choices=())
        alternatives = found
        if len(alternatives) == 1:  # "this or null", as Pydantic writes an optional value
            schema = _simplify(merge_checked(schema, alternatives[0], child(pointer, keyword, 0), report))
        elif alternatives:
            is_exclusive = keyword == "oneOf"
            choice = _merge_values(alternatives) or Schema(alternatives=tuple(alternatives), is_exclusive=is_exclusive)
            schema = merge_checked(schema, choice, f"{pointer}/{keyword}", report)
    return schema


def _is_null(member: Json) -> bool:
    return isinstance(member, dict) and member.get("type") == "null"


def merge_checked(schema: Schema, other: Schema, pointer: str, report: Report) -> Schema:
    """Returns the merged schema; reports where no value matches both, and names the property."""
    merged = merge(schema, other)
    known = {item.name: item.schema for item in schema.properties}
    pairs = [("", schema, other, merged)]
    pairs += [
        (f" for {item.name[:60]!r}", known[item.name], item.schema, merged_item.schema)
        for item in other.properties
        if item.name in known
        for merged_item in merged.properties
        if merged_item.name == item.name
    ]
    for where, one, two, both in pairs:
        if (one.choices and two.choices and not both.choices) or len(_conflicts(both)) > len(_conflicts(one)):
            report(pointer, f"no value{where} matches both this schema and the keywords next to it")
    return merged


def _conflicts(schema: Schema) -> list[Schema]:
    return [item for item in schema.also if item.types]


def _simplify(schema: Schema) -> Schema:
    """Returns a plain reference for a schema that includes one named type and adds no structure.

    OpenAPI 3.0 needs `allOf` with one member to describe a reference; Pydantic writes an optional one as "this or
    null".
    """
    if len(schema.includes) == 1 and schema.ref is None and not schema.properties and not schema.alternatives:
        return replace(schema, ref=schema.includes[0], includes=())
    return schema


def _merge_values(alternatives: Sequence[Schema]) -> Schema | None:
    """Returns alternatives that only list values as one schema with all of them; `None` if one says more."""
    values: Schema | None = None
    for item in alternatives:
        if not item.choices or replace(item, choices=None, types=(), nullable=False) != ANYTHING:
            return None
        values = item if values is None else union(values, item)
    return values


def _without_choices(schema: Schema) -> Schema:
    return replace(schema, choices=None, types=(), default=None, title=None, description=None, examples=())


def _alternatives_of(schema: Schema) -> tuple[Schema, ...]:
    """Returns the alternatives of a schema that has nothing else; otherwise the schema itself."""
    return schema.alternatives if schema == Schema(alternatives=schema.alternatives) else (schema,)


def _common_types(one: tuple[str, ...], other: tuple[str, ...], conflicts: dict[str, Any]) -> tuple[str, ...]:
    """Returns the types that both allow; an integer is a number."""
    if not one or not other:
        return one or other
    common = [name for name in one if name in other or (name == "integer" and "number" in other)]
    if "integer" in other and "number" in one and "integer" not in common:
        common.append("integer")
    if not common:
        conflicts["types"] = other
    return tuple(common) or one


def _common_choices(one: tuple[Json, ...] | None, other: tuple[Json, ...] | None) -> tuple[Json, ...] | None:
    if one is None or other is None:
        return other if one is None else one
    return tuple(choice for choice in one if _is_among(choice, other))


def _is_among(value: Json, values: tuple[Json, ...]) -> bool:
    """True if a value is among others; in Python `True == 1`, in JSON it is not."""
    return any(item == value and isinstance(item, bool) == isinstance(value, bool) for item in values)


def _tighter_constraints(
    one: Mapping[str, Json] | None, other: Mapping[str, Json] | None, conflicts: dict[str, Any]
) -> Mapping[str, Json] | None:
    """Returns the constraints of both, the tighter one for each keyword."""
    if not one or not other:
        return one or other
    tighter, unmerged = dict(one), {}
    for keyword, bound in other.items():
        known = tighter.setdefault(keyword, bound)
        if known == bound or keyword == "xml":  # `xml` restricts nothing
            continue
        if keyword in _LARGER_WINS and _are_numbers(known, bound):
            tighter[keyword] = max(known, bound)
        elif keyword in _SMALLER_WINS and _are_numbers(known, bound):
            tighter[keyword] = min(known, bound)
        else:
            unmerged[keyword] = bound
    if unmerged:
        conflicts["constraints"] = unmerged
    return tighter


def _are_numbers(*values: Json) -> bool:
    return all(isinstance(value, (int, float)) for value in values)


def _merge_properties(one: Schema, other: Schema) -> tuple[tuple[Parameter, ...], tuple[str, ...]]:
    """Returns the merged properties, and the names that are required but not declared."""
    properties = {item.name: item for item in one.properties}
    for item in other.properties:
        known = properties.get(item.name)
        properties[item.name] = item if known is None else merged_property(known, item)
    undeclared = dict.fromkeys(one.required + other.required)
    for name in [name for name in undeclared if name in properties]:
        properties[name] = replace(properties[name], required=True)
        del undeclared[name]
    return tuple(properties.values()), tuple(undeclared)


def merged_property(one: Parameter, other: Parameter) -> Parameter:
    """Returns a property that is declared twice."""
    return replace(
        one,
        required=one.required or other.required,
        schema=merge(one.schema, other.schema),
        description=join_texts(one.description, other.description),
        deprecated=one.deprecated or other.deprecated,
    )


def _merge_optional(one: Schema | bool | None, other: Schema | bool | None) -> Any:
    """Returns a part that allows what both allow; a boolean allows nothing or anything, `None` is not declared."""
    if one is False or other is False:
        return False
    if isinstance(one, Schema) and isinstance(other, Schema):
        return merge(one, other)
    return one if isinstance(one, Schema) or (not isinstance(other, Schema) and one is not None) else other
