"""Flattens schemas: an object into parameters, and any schema into variants without composition.

A tool takes one object, and an agent sends its properties: they are gathered through `$ref`, `allOf`, `oneOf` and
`anyOf`. What concerns the object itself (alternatives, conditions, bounds) stays a schema next to the parameters.

In a variant, references and `allOf` are merged, and one of the alternatives and conditions is chosen. Contradictory
parts have no variant. For a base type with a discriminator, a variant is one of a subtype (OpenAPI 3.1, "Discriminator
Object"): no description says whether the base itself may be sent, unless its discriminator has a value for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from skillgen.model.schema import Discriminator, Location, Parameter, Schema, Types, bases
from skillgen.model.values import Json
from skillgen.sources.json_access import as_dict
from skillgen.sources.json_schema.keywords import members
from skillgen.sources.json_schema.merge import ANYTHING, merge, merge_checked, merged_property, union

if TYPE_CHECKING:
    from skillgen.sources.json_schema.loader import SchemaDocument

SCHEMAS_LIMIT = 5_000
"""Maximum number of schemas from which the parameters of one tool are gathered."""

DEPTH_LIMIT = 200
"""Maximum nesting of these schemas."""

ALTERNATIVES_LIMIT = 12
"""Maximum number of alternatives repeated for each tool that takes a named type; more are listed with the type only."""


class FlatObject(Struct, frozen=True, kw_only=True):
    """An object schema, flattened."""

    parameters: tuple[Parameter, ...]
    """Every property that it may have."""

    schema: Schema | None
    """Constraints on the object beyond its properties: description, alternatives, conditions, bounds; `None` without
    any."""


EMPTY_OBJECT = FlatObject(parameters=(), schema=None)


def flatten(schemas: SchemaDocument, raw: Json, pointer: str, location: Location = "argument") -> FlatObject:
    """Returns the properties of an object schema as parameters.

    Each parameter gets `location`; `pointer` is the JSON pointer to the schema in the source.
    """
    return _Flattener(schemas, location).flatten(raw, pointer)


class _Flattener:
    """Gathers the parameters of one schema."""

    def __init__(self, schemas: SchemaDocument, location: Location) -> None:
        self._schemas = schemas
        self._location = location
        self._count = 0
        self._links = ANYTHING
        """References to types whose subtypes or alternatives are too many to repeat."""
        self._closed: dict[str, frozenset[str]] = {}
        """Pointers of the parts that forbid further properties, with the names that they have."""
        self._references: list[str] = []
        """The references that were followed to the schema and to those that it extends."""
        self._selected: dict[str, str] = {}
        """Name of a discriminator of a type that the schema extends, to the value that selects the schema."""

    def flatten(self, raw: Json, pointer: str) -> FlatObject:
        """Flattens the schema; a property of an alternative is required if every alternative requires it."""
        whole = self._whole(raw, pointer, set())
        whole = merge(whole, self._links)
        found, required = self._members(whole)
        if self._count > SCHEMAS_LIMIT:
            message = f"composed of more than {SCHEMAS_LIMIT} schemas, or of a chain of more than {DEPTH_LIMIT}"
            self._schemas.report(pointer, f"{message}; the rest is left out")
        for where, names in self._closed.items():
            if forbidden := found.keys() - names:
                message = f"forbids properties that another part of the object has, such as {min(forbidden)[:60]!r}"
                self._schemas.report(where, message, "properties-forbidden")
        for name, value in self._selected.items():
            if name in found:
                found[name] = replace(found[name], schema=merge(found[name].schema, Schema(choices=(value,))))
        rules = replace(
            whole,
            **_NOT_RULES,
            types=whole.types if whole.nullable or len(whole.types) > 1 else (),
            description=whole.description or None,
            additional=None if whole.additional is True else whole.additional,
            required=tuple(sorted(required - found.keys())),
        )
        return FlatObject(
            parameters=tuple(
                replace(item, location=self._location, required=name in required) for name, item in found.items()
            ),
            schema=rules if rules != ANYTHING else None,
        )

    def _whole(self, raw: Json, pointer: str, seen: set[int], is_itself: bool = True, depth: int = 0) -> Schema:
        """Reads a schema as one with those that it refers to or extends; `is_itself` is false for the latter."""
        if not isinstance(raw, dict) or id(raw) in seen or self._count > SCHEMAS_LIMIT:
            return ANYTHING
        seen.add(id(raw))
        self._count += 1 if depth <= DEPTH_LIMIT else SCHEMAS_LIMIT
        if "$ref" in raw and not self._schemas.ref_siblings:
            raw = {"$ref": raw["$ref"]}
        parts = members(raw, "allOf")
        if not is_itself and raw.get("additionalProperties") is False and not parts:
            self._closed[pointer] = frozenset(as_dict(raw.get("properties")))
        left_out = ["$ref", "allOf", "unevaluatedProperties", *self._linked(raw, pointer, is_itself)]
        whole = self._schemas.own_schema({key: item for key, item in raw.items() if key not in left_out}, pointer)
        if (target := self._schemas.resolve(raw.get("$ref"), pointer)) is not None:
            self._references.append(raw["$ref"])
            part = self._whole(target[1], target[0], seen, is_itself, depth + 1)
            whole = merge_checked(whole, part, pointer, self._schemas.report)
        is_single = is_itself and len(parts) == 1 and "properties" not in raw  # such as a reference with a description
        for index, member in parts:
            part = self._whole(member, f"{pointer}/allOf/{index}", seen, is_single, depth + 1)
            whole = merge_checked(whole, part, f"{pointer}/allOf/{index}", self._schemas.report)
        return self._schemas.with_unevaluated(whole, raw, pointer)

    def _linked(self, raw: dict[str, Json], pointer: str, is_itself: bool) -> Iterator[str]:
        """Yields the keywords in place of which there is a reference to the type that has them.

        These are a long list of alternatives, and the discriminator of a base type, which concerns the types that
        extend it.
        """
        count = len(members(raw, "oneOf")) + len(members(raw, "anyOf"))
        if "discriminator" in raw and not count:
            yield "discriminator"
            if not is_itself:
                name, value = self._schemas.selected_by(raw, pointer, self._references) or ("", "")
                self._selected |= {name: value} if name else {}
        if ("discriminator" in raw and not count and is_itself) or count > ALTERNATIVES_LIMIT:
            if (link := self._schemas.type_at(pointer)) is not None:
                self._links = merge(self._links, link)
                yield from ("oneOf", "anyOf", "discriminator")

    def _members(self, schema: Schema, within: tuple[str, ...] = ()) -> tuple[dict[str, Parameter], frozenset[str]]:
        """Returns the properties of a schema, with those of its types and alternatives, and the required names."""
        self._count += 1
        if self._count > SCHEMAS_LIMIT or len(within) > DEPTH_LIMIT:
            return {}, frozenset()
        found = {item.name: item for item in schema.properties}
        required = {*schema.required, *(item.name for item in schema.properties if item.required)}
        type_of = self._schemas.reader.types.type_of
        parts = [(type_of(name), (*within, name)) for name in bases(schema) if name not in within]
        for part, inside in (*parts, *((part, within) for part in schema.also)):
            more, needed = self._members(part, inside)
            required |= needed
            for name, item in more.items():
                found[name] = merged_property(found[name], item) if name in found else item
        common, needed_by_each = frozenset(found), list[frozenset[str]]()
        for alternative in schema.alternatives:
            more, needed = self._members(alternative, within)
            needed_by_each.append(needed)
            for name, item in more.items():
                known = found.setdefault(name, item)
                if known is not item:
                    schema_of_all = known.schema if name in common else union(known.schema, item.schema)
                    text = known.description if known.description is not None else item.description
                    # What one alternative says of it is in the list of that alternative.
                    is_of_all = name in common or known.description == item.description
                    found[name] = replace(known, schema=schema_of_all, description=text if is_of_all else None)
        return found, frozenset(required).union(frozenset.intersection(*needed_by_each) if needed_by_each else ())


_NOT_RULES: dict[str, Any] = dict.fromkeys(("title", "format", "default"), None)
_NOT_RULES |= dict.fromkeys(("examples", "properties"), ())
_NOT_RULES |= dict.fromkeys(("read_only", "write_only", "deprecated"), False)
"""Fields that do not constrain the object, or that are those of its parameters."""


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
