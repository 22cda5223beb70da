"""Schemas that are made of others: what `allOf` and a single alternative come to."""

from __future__ import annotations

from dataclasses import replace

from skillgen.model.schema import Schema


def merged(one: Schema, other: Schema) -> Schema:
    """Gives a schema that asks for what both ask for; where they disagree, the first is kept."""
    includes = (*one.includes, *((other.ref,) if other.ref is not None else ()), *other.includes)
    names = {parameter.name for parameter in one.properties}
    return replace(
        one,
        types=one.types or other.types,
        nullable=one.nullable or other.nullable,
        format=one.format or other.format,
        title=one.title or other.title,
        description=one.description if one.description is not None else other.description,
        choices=one.choices if one.choices is not None else other.choices,
        default=one.default if one.default is not None else other.default,
        examples=one.examples or other.examples,
        constraints={**(other.constraints or {}), **(one.constraints or {})} or None,
        includes=tuple(dict.fromkeys(includes)),
        properties=one.properties + tuple(item for item in other.properties if item.name not in names),
        additional=one.additional if one.additional is not None else other.additional,
        items=one.items if one.items is not None else other.items,
        prefix_items=one.prefix_items or other.prefix_items,
        alternatives=one.alternatives + other.alternatives,
        discriminator=one.discriminator or other.discriminator,
        read_only=one.read_only or other.read_only,
        write_only=one.write_only or other.write_only,
        deprecated=one.deprecated or other.deprecated,
    )


def requiring(schema: Schema, names: frozenset[str]) -> Schema:
    """Gives the schema with these of its own properties required."""
    return replace(
        schema,
        properties=tuple(
            replace(item, required=True) if item.name in names and not item.required else item
            for item in schema.properties
        ),
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
    if one == other:
        return one
    if one.choices is not None and other.choices is not None:
        types = tuple(dict.fromkeys(one.types + other.types)) if one.types and other.types else ()
        return replace(
            one, types=types, choices=(*one.choices, *(item for item in other.choices if item not in one.choices))
        )
    return Schema(alternatives=(*(one.alternatives or (one,)), *(other.alternatives or (other,))))
