"""The properties of an object schema as parameters, gathered through `$ref`, `allOf`, `oneOf` and `anyOf`.

A tool takes one object, and an agent sends its properties. What concerns the object itself (alternatives, conditions,
bounds) stays a schema next to the parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from skillgen.model.schema import Location, Parameter, Schema, bases
from skillgen.model.values import Json, child
from skillgen.sources.json_access import as_dict
from skillgen.sources.json_schema.keywords import members
from skillgen.sources.json_schema.loader import SchemaDocument
from skillgen.sources.json_schema.merge import ANYTHING, merge, merge_checked, merged_property, union

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
            part = self._whole(member, child(pointer, "allOf", index), seen, is_single, depth + 1)
            whole = merge_checked(whole, part, child(pointer, "allOf", index), self._schemas.report)
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
        parts = [(self._schemas.types.type_of(name), (*within, name)) for name in bases(schema) if name not in within]
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
                    description = known.description if known.description is not None else item.description
                    found[name] = replace(known, schema=schema_of_all, description=description)
        return found, frozenset(required).union(frozenset.intersection(*needed_by_each) if needed_by_each else ())


_NOT_RULES: dict[str, Any] = dict.fromkeys(("title", "format", "default"), None)
_NOT_RULES |= dict.fromkeys(("examples", "properties"), ()) | dict.fromkeys(
    ("read_only", "write_only", "deprecated"), False
)
"""Fields that do not constrain the object, or that are those of its parameters."""
