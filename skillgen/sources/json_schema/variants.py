"""Flattens schemas: each variant has no composition, with references and `allOf` merged and one of the alternatives and
conditions chosen.

Contradictory parts have no variant. For a base type with a discriminator, a variant is one of a subtype (OpenAPI 3.1,
"Discriminator Object"): no description says whether the base itself may be sent, unless its discriminator has a value
for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from msgspec.structs import replace

from skillgen.model.schema import Discriminator, Parameter, Schema, Types, bases
from skillgen.sources.json_schema.merge import ANYTHING, merge

_SUBTYPES_LIMIT = 6
"""Subtypes of a base type that are tried."""

_VARIANTS_LIMIT = 24
"""Variants of a schema that are tried for one value."""

_STEPS_LIMIT = 2_000
"""Schemas that are read for the variants of one schema."""

_DEPTH_LIMIT = 150
"""Levels of nested schemas, and parts of one, that are read; both recurse."""

_WITHOUT_COMPOSITION: dict[str, Any] = {
    "ref": None,
    "includes": (),
    "also": (),
    "alternatives": (),
    "conditions": (),
    "discriminator": None,
    "description": None,
}

_Option = tuple[Schema, tuple[str, ...]]
"""A schema, and the names of the types that it is part of."""


class Variants:
    """Flattens schemas that refer to some types."""

    def __init__(self, types: Types) -> None:
        self._types = types
        self._steps = 0
        self._first: dict[int, tuple[Schema, Schema]] = {}

    def of(self, schema: Schema) -> Iterator[Schema]:
        """Returns the variants of a schema, the simplest first."""
        self._steps = 0
        return islice(self._of(schema, (), 0), _VARIANTS_LIMIT)

    def first(self, schema: Schema) -> Schema:
        """Returns the simplest variant."""
        if id(schema) not in self._first:  # by identity: a schema is compared by all that it holds
            self._first[id(schema)] = next(self.of(schema), ANYTHING), schema
        return self._first[id(schema)][0]

    def _of(self, schema: Schema, within: tuple[str, ...], depth: int) -> Iterator[Schema]:
        self._steps += 1
        parts = len(schema.includes) + len(schema.also) + len(schema.conditions)
        if self._steps > _STEPS_LIMIT or depth + parts > _DEPTH_LIMIT:
            return
        choices = [list(self._type_options(name, within)) for name in bases(schema)]
        choices += [[(part, within)] for part in schema.also]
        if schema.alternatives:
            choices.append([(item, within) for item in _discriminated(schema)])
        choices += [[(option, within) for option in options] for options in _outcomes(schema)]
        if not choices:
            yield schema
            return
        flat = ANYTHING if schema == Schema(ref=schema.ref) else replace(schema, **_WITHOUT_COMPOSITION)
        yield from self._expanded(flat, choices, depth)

    def _expanded(self, flat: Schema, choices: list[list[_Option]], depth: int) -> Iterator[Schema]:
        if not choices:
            yield flat
            return
        if depth + len(choices) > _DEPTH_LIMIT:
            return
        for option, within in choices[0]:
            for variant in self._of(option, within, depth + 1):
                merged = variant if flat is ANYTHING else merge(flat, variant)
                is_empty = merged.choices == () and () not in (flat.choices, variant.choices)
                if not is_empty and not any(part.types for part in merged.also):
                    yield from self._expanded(merged, choices[1:], depth + 1)

    def _type_options(self, name: str, within: tuple[str, ...]) -> Iterator[_Option]:
        """Yields what a reference to a type may mean: the type, or for a base type one of its subtypes."""
        if name in within:  # what it demands is demanded already
            yield ANYTHING, within
            return
        target = self._types.type_of(name)
        inside = (*within, name)
        if target.discriminator is None or target.alternatives:
            yield target, inside
            return
        key, values = target.discriminator.property, _values_by_type(target.discriminator)
        known = next((values[item] for item in inside if item in values), None)
        if known is not None:
            yield _narrowed(target, key, known), inside
            yield target, inside
            return
        for subtype, value in islice(values.items(), _SUBTYPES_LIMIT):
            # A subtype includes its base, so the base is not in `within` yet; one that only the mapping names does not.
            is_extension = name in self._types.extended(self._types.type_of(subtype))
            base = () if is_extension else (replace(_narrowed(target, key, value), discriminator=None),)
            yield Schema(ref=subtype, also=base), within
        named = (item.schema for item in target.properties if item.name == key)
        restricted = any(item.choices is not None or item.ref is not None or item.includes for item in named)
        yield (target if restricted else _narrowed(target, key, name)), inside


def _values_by_type(discriminator: Discriminator) -> dict[str, str]:
    """Returns the first value that selects each type."""
    values: dict[str, str] = {}
    for value, name in (discriminator.mapping or {}).items():
        if name:
            values.setdefault(name, value)
    return values


def _narrowed(schema: Schema, name: str, value: str) -> Schema:
    """Requires a property with a constant value."""
    known = next((item.schema for item in schema.properties if item.name == name), ANYTHING)
    schema = replace(schema, properties=tuple(item for item in schema.properties if item.name != name))
    constant = merge(known, Schema(choices=(value,)))
    item = Parameter(name=name, location="property", required=True, schema=constant, pointer="")
    return replace(schema, properties=(*schema.properties, item))


def _discriminated(schema: Schema) -> Iterator[Schema]:
    """Yields the alternatives, each with its value of the discriminator (OpenAPI, "Discriminator Object")."""
    if schema.discriminator is None:
        yield from schema.alternatives
        return
    name, values = schema.discriminator.property, _values_by_type(schema.discriminator)
    for item in schema.alternatives:
        value = values.get(item.ref or "")
        yield item if value is None else merge(item, _narrowed(ANYTHING, name, value))


def _outcomes(schema: Schema) -> Iterator[list[Schema]]:
    """Yields what a value may match because of each condition, the likelier first."""
    required = {*schema.required, *(item.name for item in schema.properties if item.required)}
    for condition in schema.conditions:
        met = merge(condition.when, condition.then or ANYTHING)
        names = condition.when.required
        is_certain = condition.when == Schema(required=names) and required.issuperset(names)
        yield [met] if is_certain else [condition.otherwise or ANYTHING, met]
