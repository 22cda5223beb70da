"""A schema of the model as JSON Schema 2020-12: the one form that validation, `call`, `tools.json` and mock use.

A named type is `{"$ref": "#/$defs/NAME"}`. A type that forbids further properties says so where it is used, not in its
definition, so that types that extend it may have properties of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping

from skillgen.model.schema import NamedType, Schema
from skillgen.model.values import Json, child, last_token

UNCHECKED = "$comment"
"""The keyword of a schema whose pattern is left out: what does not match it is not certainly invalid."""

TYPES = frozenset({"string", "integer", "number", "boolean", "object", "array"})
SIZES = ("Length", "Items", "Properties", "Contains")
COUNTS = frozenset(f"{bound}{noun}" for bound in ("min", "max") for noun in SIZES)
BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_NOTHING = Schema(choices=())


def is_finite(value: Json) -> bool:
    """True for a number; JSON with `1e999` has infinite ones."""
    return type(value) is int or (type(value) is float and math.isfinite(value))


class Types:
    """The named types to which schemas refer."""

    def __init__(self, type_of: Callable[[str], Schema]) -> None:
        """`type_of` returns the schema of a name."""
        self.type_of = type_of

    @staticmethod
    def of(types: Iterable[NamedType]) -> Types:
        """Returns the types of a service; nothing is known to match one that it lacks."""
        known = {item.name: item.schema for item in types}
        return Types(lambda name: known.get(name, _NOTHING))

    def extended(self, schema: Schema) -> list[str]:
        """Returns the names of the types that a schema refers to or includes, themselves or by way of others."""
        names = list(dict.fromkeys(bases(schema)))
        for name in names:
            names += [base for base in bases(self.type_of(name)) if base not in names]
        return names

    def is_read_only(self, schema: Schema) -> bool:
        """True if a value, or the type it refers to, is read-only."""
        return schema.read_only or any(self.type_of(name).read_only for name in bases(schema))

    def description(self, schema: Schema) -> str:
        """Returns the description of a value, or of the type it refers to."""
        return schema.description or (self.type_of(schema.ref).description if schema.ref is not None else None) or ""


def bases(schema: Schema) -> tuple[str, ...]:
    """Returns the names of the types that a schema refers to or includes."""
    return schema.includes if schema.ref is None else (schema.ref, *schema.includes)


class SchemaWriter:
    """Writes schemas as JSON Schema."""

    def __init__(
        self, types: Types, *, is_request: bool, pattern: Callable[[str], str | None] = lambda pattern: pattern
    ) -> None:
        """With `is_request`, read-only properties are not required. `pattern` returns a pattern as the validator reads
        it, `None` for one that it cannot match."""
        self._types = types
        self._is_request = is_request
        self._pattern = pattern

    def ref(self, name: str) -> str:
        """Returns the reference to a named type."""
        return child("#/$defs", name)

    def definition(self, name: str) -> Json:
        """Returns the definition of a named type, to which others may add properties."""
        return self._written(self._types.type_of(name))

    def write(self, schema: Schema) -> Json:
        """Returns a schema as JSON Schema."""
        found = self._written(schema)
        if schema.additional is False or any(
            self._types.type_of(name).additional is False for name in self._types.extended(schema)
        ):
            is_composed = isinstance(found, dict) and not found.keys().isdisjoint(("$ref", "allOf", "anyOf", "oneOf"))
            if isinstance(found, dict):
                found["unevaluatedProperties" if is_composed else "additionalProperties"] = False
        return found

    def _written(self, schema: Schema) -> Json:
        if schema.choices == ():
            return {"type": "null"} if schema.nullable else False
        found: dict[str, Json] = {}
        if schema.types and TYPES.issuperset(schema.types):
            found["type"] = schema.types[0] if len(schema.types) == 1 else list(schema.types)
        if schema.format is not None:
            found["format"] = schema.format
        if schema.choices is not None:
            found["enum"] = list(schema.choices)
        found |= self._constraints(schema.constraints or {})
        found |= self._object(schema)
        if schema.prefix_items:
            found["prefixItems"] = [self.write(item) for item in schema.prefix_items]
        for keyword, part in (("items", schema.items), ("contains", schema.contains), ("not", schema.excluded)):
            if part is not None:
                found[keyword] = self.write(part)
        return self._composed(schema, found)

    def _composed(self, schema: Schema, found: dict[str, Json]) -> Json:
        parts: list[Json] = [{"$ref": self.ref(name)} for name in bases(schema)]
        parts += [self._written(part) for part in schema.also]
        for condition in schema.conditions:
            rule = {"if": condition.when, "then": condition.then, "else": condition.otherwise}
            parts.append({keyword: self._written(part) for keyword, part in rule.items() if part is not None})
        if len(parts) == 1 and isinstance(parts[0], dict) and "$ref" in parts[0]:
            found |= parts[0]
        elif parts:
            found["allOf"] = parts
        if (discriminator := schema.discriminator) is not None:
            mapping = {
                value: self.ref(name) for value, name in (discriminator.mapping or {}).items() if name is not None
            }
            found["discriminator"] = {"propertyName": discriminator.property, "mapping": mapping}
        if schema.alternatives:
            # The discriminator decides, whatever else matches.
            is_one = schema.is_exclusive and schema.discriminator is None
            found["oneOf" if is_one else "anyOf"] = [self.write(item) for item in schema.alternatives]
        if not schema.nullable:
            return found
        if not {"$ref", "allOf", "anyOf", "oneOf", "not", "discriminator"}.isdisjoint(found):
            return {"anyOf": [{"type": "null"}, found]}
        if "type" in found:
            found["type"] = [*schema.types, "null"]
        if "enum" in found and None not in found["enum"]:
            found["enum"].append(None)
        return found

    def _constraints(self, constraints: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
        for keyword, bound in constraints.items():
            if keyword in BOUNDS and is_finite(bound) and (keyword != "multipleOf" or bound > 0):
                yield keyword, bound
            elif keyword in COUNTS and is_finite(bound) and bound >= 0 and int(bound) == bound:
                yield keyword, int(bound)
            elif keyword == "uniqueItems":
                yield keyword, bound is True
            elif keyword == "pattern":
                pattern = self._pattern(bound) if isinstance(bound, str) else None
                yield (UNCHECKED, "a pattern is not checked") if pattern is None else (keyword, pattern)

    def _object(self, schema: Schema) -> Iterator[tuple[str, Json]]:
        if schema.properties or schema.additional is False:
            # A name that is required is allowed, though it be declared nowhere.
            undeclared = schema.required if schema.additional is False else ()
            declared = {item.name: self.write(item.schema) for item in schema.properties}
            yield "properties", {**{name: {} for name in undeclared}, **declared}
        if schema.patterns:
            yield "patternProperties", {name: self.write(item) for name, item in schema.patterns.items()}
        if isinstance(schema.additional, Schema):
            yield "additionalProperties", self.write(schema.additional)
        if schema.property_names is not None:
            yield "propertyNames", self.write(schema.property_names)
        if required := self._required(schema):
            yield "required", required

    def _required(self, schema: Schema) -> list[Json]:
        """Returns the required names, without those of read-only properties, declared here or by a base type."""
        read_only = self._types.is_read_only if self._is_request else lambda schema: False
        names = [item.name for item in schema.properties if item.required and not read_only(item.schema)]
        if not schema.required:
            return names
        inherited = (item for name in self._types.extended(schema) for item in self._types.type_of(name).properties)
        unsent = {item.name for item in inherited if read_only(item.schema)}
        return [*dict.fromkeys([*names, *(name for name in schema.required if name not in unsent)])]


def definitions(writer: SchemaWriter, schemas: Iterable[Json]) -> dict[str, Json]:
    """Returns the definitions of the types to which schemas refer, themselves or by way of others."""
    found: dict[str, Json] = {}
    waiting = [name for schema in schemas for name in _names_in(schema)]
    for name in waiting:
        if name not in found:
            found[name] = writer.definition(name)
            waiting += _names_in(found[name])
    return found


def _names_in(raw: Json) -> list[str]:
    if isinstance(raw, list):
        return [name for item in raw for name in _names_in(item)]
    if not isinstance(raw, dict):
        return []
    own = [last_token(raw["$ref"])] if isinstance(raw.get("$ref"), str) else []
    parts = (item for key, item in raw.items() if key != "enum" or isinstance(item, dict))
    return own + [name for item in parts for name in _names_in(item)]
