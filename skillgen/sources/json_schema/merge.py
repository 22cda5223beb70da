"""AllOf, oneOf, anyOf.

Schemas that are made of others: what `allOf`, a single alternative and alternatives of one property come to.

What a schema is composed of beside its own keywords: `allOf`, and the alternatives of `oneOf` and `anyOf`.

The schemas inside are read by the function that each is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from skillgen.model.schema import Parameter, Schema
from skillgen.model.values import Json, child
from skillgen.sources.json_schema.keywords import Read, Report, kind_of, members, required_names
from skillgen.text.summary import join_texts

ANYTHING = Schema()
"""The schema that says nothing."""

_GREATEST = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"})
_LEAST = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"})
_ONE_ONLY = ("format", "prefix_items", "contains", "content", "excluded")
"""Fields of which a schema has one: a second that differs stands in `also`."""


def merged(one: Schema, other: Schema) -> Schema:
    """Gives a schema that asks for what both ask for; what can't be merged stands in `also`.

    Descriptions are joined. Of titles and examples, which restrict nothing, the first are kept.
    """
    if other == ANYTHING:
        return one
    left: dict[str, Any] = {}
    fields: dict[str, Any] = {name: _only(name, one, other, left) for name in _ONE_ONLY}
    fields["types"] = _common_types(one.types, other.types, left)
    fields["constraints"] = _tighter(one.constraints, other.constraints, left)
    properties, required = _merged_properties(one, other)
    alternatives = _with_alternatives(one, other, left)
    return replace(
        one,
        **fields,
        **alternatives,
        nullable=_nullable(one, other),
        title=one.title or other.title,
        description=join_texts(one.description, other.description),
        choices=_common_choices(one.choices, other.choices),
        default=one.default if one.default is not None else other.default,
        examples=one.examples or other.examples,
        includes=_includes(one, other),
        also=one.also + other.also + ((Schema(**left),) if left else ()),
        properties=properties,
        required=required,
        patterns={**(other.patterns or {}), **(one.patterns or {})} or None,
        additional=_additional(one.additional, other.additional),
        property_names=_both(one.property_names, other.property_names),
        items=_both(one.items, other.items),
        conditions=one.conditions + other.conditions,
        read_only=one.read_only or other.read_only,
        write_only=one.write_only or other.write_only,
        deprecated=one.deprecated or other.deprecated,
    )


def requiring(schema: Schema, names: tuple[str, ...]) -> Schema:
    """Gives the schema with these properties required, its own and others."""
    own = {item.name for item in schema.properties}
    return replace(
        schema,
        properties=tuple(
            replace(item, required=True) if item.name in names and not item.required else item
            for item in schema.properties
        ),
        required=tuple(dict.fromkeys((*schema.required, *(name for name in names if name not in own)))),
    )


def simplified(schema: Schema) -> Schema:
    """Gives the schema as a plain reference where it includes one named type and adds no structure of its own.

    `allOf` with one reference is how OpenAPI 3.0 describes a reference, "this or null" how Pydantic makes one optional.
    """
    if len(schema.includes) == 1 and schema.ref is None and not schema.properties and not schema.alternatives:
        return replace(schema, ref=schema.includes[0], includes=())
    return schema


def either(one: Schema, other: Schema) -> Schema:
    """Gives a schema that allows what either allows: all choices, or both as alternatives."""
    if one == other or other in one.alternatives:
        return one
    if one.choices is not None and other.choices is not None and _bare(one) == _bare(other):
        types = tuple(dict.fromkeys(one.types + other.types)) if one.types and other.types else ()
        added = tuple(item for item in other.choices if not _is_among(item, one.choices))
        default = one.default if one.default == other.default else None
        return replace(one, types=types, choices=(*one.choices, *added), default=default)
    return Schema(alternatives=(*_alternatives_of(one), *_alternatives_of(other)))


def one_of_values(alternatives: Sequence[Schema]) -> Schema | None:
    """Gives alternatives that are nothing but values, and say nothing of them, as one schema with these choices."""
    found: Schema | None = None
    for item in alternatives:
        if not item.choices or replace(item, choices=None, types=(), nullable=False) != ANYTHING:
            return None
        found = item if found is None else either(found, item)
    return found


def _bare(schema: Schema) -> Schema:
    return replace(schema, choices=None, types=(), default=None, title=None, description=None, examples=())


def _alternatives_of(schema: Schema) -> tuple[Schema, ...]:
    """Gives the alternatives of a schema that is nothing but a choice; of any other, itself."""
    return schema.alternatives if schema == Schema(alternatives=schema.alternatives) else (schema,)


def _only(name: str, one: Schema, other: Schema, left: dict[str, Any]) -> Any:
    held, new = getattr(one, name), getattr(other, name)
    if not held:
        return new
    if new and new != held:
        left[name] = new
    return held


def _common_types(one: tuple[str, ...], other: tuple[str, ...], left: dict[str, Any]) -> tuple[str, ...]:
    """Gives the types that both allow; an integer is a number."""
    if not one or not other:
        return one or other
    common = [name for name in one if name in other or (name == "integer" and "number" in other)]
    if "integer" in other and "number" in one and "integer" not in common:
        common.append("integer")
    if not common:
        left["types"] = other
    return tuple(common) or one


def _common_choices(one: tuple[Json, ...] | None, other: tuple[Json, ...] | None) -> tuple[Json, ...] | None:
    if one is None or other is None:
        return other if one is None else one
    return tuple(choice for choice in one if _is_among(choice, other))


def _is_among(value: Json, values: tuple[Json, ...]) -> bool:
    """Tells whether a value is among others; Python takes true for 1."""
    return any(item == value and isinstance(item, bool) == isinstance(value, bool) for item in values)


def _tighter(
    one: Mapping[str, Json] | None, other: Mapping[str, Json] | None, left: dict[str, Any]
) -> Mapping[str, Json] | None:
    """Gives the bounds of both, of two that are the same keyword the tighter."""
    if not one or not other:
        return one or other
    found, second = dict(one), {}
    for keyword, bound in other.items():
        held = found.setdefault(keyword, bound)
        if held == bound or keyword == "xml":  # which bounds nothing: the first is kept
            continue
        if keyword in _GREATEST and _are_numbers(held, bound):
            found[keyword] = max(held, bound)
        elif keyword in _LEAST and _are_numbers(held, bound):
            found[keyword] = min(held, bound)
        else:
            second[keyword] = bound
    if second:
        left["constraints"] = second
    return found


def _are_numbers(*values: Json) -> bool:
    return all(isinstance(value, (int, float)) for value in values)


def _nullable(one: Schema, other: Schema) -> bool:
    """Tells whether both allow null; `nullable` without a type is meant for what stands beside it (OpenAPI 3.0)."""
    if one.types and other.types:
        return one.nullable and other.nullable
    return one.nullable or other.nullable


def _includes(one: Schema, other: Schema) -> tuple[str, ...]:
    names = (*one.includes, *((other.ref,) if other.ref is not None else ()), *other.includes)
    return tuple(name for name in dict.fromkeys(names) if name != one.ref)


def _merged_properties(one: Schema, other: Schema) -> tuple[tuple[Parameter, ...], tuple[str, ...]]:
    """Gives the properties of both, those that both have merged, and the names that are required besides."""
    found = {item.name: item for item in one.properties}
    for item in other.properties:
        held = found.get(item.name)
        found[item.name] = item if held is None else _merged_property(held, item)
    names = dict.fromkeys(one.required + other.required)
    for name in [name for name in names if name in found]:
        found[name] = replace(found[name], required=True)
        del names[name]
    return tuple(found.values()), tuple(names)


def _merged_property(one: Parameter, other: Parameter) -> Parameter:
    return replace(
        one,
        required=one.required or other.required,
        schema=merged(one.schema, other.schema),
        description=join_texts(one.description, other.description),
        deprecated=one.deprecated or other.deprecated,
    )


def _additional(one: Schema | bool | None, other: Schema | bool | None) -> Schema | bool | None:
    if one is False or other is False:
        return False
    if isinstance(one, Schema) and isinstance(other, Schema):
        return merged(one, other)
    return one if isinstance(one, Schema) or (not isinstance(other, Schema) and one is not None) else other


def _both(one: Schema | None, other: Schema | None) -> Schema | None:
    return merged(one, other) if one is not None and other is not None else one or other


def _with_alternatives(one: Schema, other: Schema, left: dict[str, Any]) -> dict[str, Any]:
    """Gives the first choice of alternatives; a second one is left."""
    if not one.alternatives:
        source = other
    else:
        source = one
        if other.alternatives and other.alternatives != one.alternatives:
            left |= {
                "alternatives": other.alternatives,
                "is_exclusive": other.is_exclusive,
                "discriminator": other.discriminator,
            }
    return {
        "alternatives": source.alternatives,
        "is_exclusive": source.is_exclusive,
        "discriminator": source.discriminator or one.discriminator or other.discriminator,
    }


def with_all_of(schema: Schema, raw: dict[str, Json], pointer: str, read: Read, report: Report) -> Schema:
    """Gives the schema with all that the members of its `allOf` ask for."""
    if not isinstance(raw["allOf"], list):
        report(child(pointer, "allOf"), f"expected a list, found {kind_of(raw['allOf'])}")
    is_null_meant = schema.nullable and not schema.types  # `nullable` beside `allOf`, as OpenAPI 3.0 has it
    for index, member in members(raw, "allOf"):
        place = child(pointer, "allOf", index)
        schema = _merged(schema, read(member, place), place, report)
    if is_null_meant and not schema.nullable:
        schema = replace(schema, nullable=True)
    if required := required_names(raw):
        schema = requiring(schema, required)
    return simplified(schema)


def with_alternatives(schema: Schema, raw: dict[str, Json], pointer: str, read: Read, report: Report) -> Schema:
    """Gives the schema with its alternatives; one that stands alone, or alone beside null, is merged into it."""
    for keyword in ("oneOf", "anyOf"):
        if keyword not in raw:
            continue
        if not isinstance(raw[keyword], list):
            report(child(pointer, keyword), f"expected a list, found {kind_of(raw[keyword])}")
            continue
        found = [
            read(member, child(pointer, keyword, index))
            for index, member in members(raw, keyword)
            if not (isinstance(member, dict) and member.get("type") == "null")
        ]
        if len(found) < len(raw[keyword]):
            schema = replace(schema, nullable=True)
        if len(found) == 1:  # "this or null", as Pydantic writes an optional value
            schema = simplified(_merged(schema, found[0], child(pointer, keyword, 0), report))
        elif found:
            choice = one_of_values(found) or Schema(alternatives=tuple(found), is_exclusive=keyword == "oneOf")
            schema = _merged(schema, choice, child(pointer, keyword), report)
    return schema


def _merged(schema: Schema, other: Schema, pointer: str, report: Report) -> Schema:
    found = merged(schema, other)
    if (schema.choices and other.choices and not found.choices) or (found.also and found.also[-1].types):
        report(pointer, "no value is what this and what stands beside it ask for")
    return found
