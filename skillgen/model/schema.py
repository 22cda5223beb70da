"""Parameters, and types in a normalised form of JSON Schema.

One form for JSON Schema 2020-12 and draft-07 (MCP), and for the schema objects of OpenAPI 3.0 and 3.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal

from msgspec.structs import replace

from skillgen.model.values import Declared, Json, Node, Origins, child

Location = Literal[
    "argument", "path", "query", "header", "cookie", "body", "positional", "option", "global", "property"
]
"""Where a parameter is sent: `argument` of an MCP tool, a part of an HTTP request, a `positional` argument or `option`
of a command, an argument or option of a command that is `global` to its subcommands, or a `property` of a parameter."""


class Schema(Node, frozen=True, kw_only=True, repr_omit_defaults=True):
    """The type of a value. All fields apply together; a schema without fields allows any value."""

    types: tuple[str, ...] = ()
    """JSON types in the order declared, without `null`; empty if none is declared."""

    nullable: bool = False
    """Whether null is allowed: `null` among the types, or `nullable: true` (also in a 3.1 document)."""

    format: str | None = None
    """The `format`, or `contentEncoding` if there is no `format`."""

    title: str | None = None
    """The `title`."""

    description: str | None = None
    """The `description`, unless the parameter has it already."""

    choices: tuple[Json, ...] | None = None
    """The values of `enum`, or the one of `const`."""

    default: Declared = None
    """The `default`."""

    examples: tuple[Json, ...] = ()
    """The values of `example` and `examples`."""

    constraints: Mapping[str, Json] | None = None
    """Constraints by their JSON Schema keyword, such as `minimum`, `maxLength` and `pattern`; also `xml` of OpenAPI for
    values that can only be sent as XML."""

    ref: str | None = None
    """The name of the type in `Service.schemas` that the value has."""

    includes: tuple[str, ...] = ()
    """Names of types in `Service.schemas`, all properties of which the value has too (`allOf`)."""

    also: tuple[Schema, ...] = ()
    """Further schemas that the value must match but that cannot be merged into the other fields: a second pattern, a
    second set of alternatives (`allOf`)."""

    properties: tuple[Parameter, ...] = ()
    """The properties of an object, in the order declared."""

    required: tuple[str, ...] = ()
    """Further required names: of properties that are described elsewhere or not at all."""

    patterns: Mapping[str, Schema] | None = None
    """Schemas of the properties that match a regular expression, by that expression (`patternProperties`)."""

    additional: Schema | bool | None = None
    """Properties without a declared name: not allowed, any, or of this schema; `None` if not declared."""

    property_names: Schema | None = None
    """The type of property names."""

    items: Schema | None = None
    """The items of an array (after `prefix_items`); a schema with empty `choices` if no items are allowed."""

    prefix_items: tuple[Schema, ...] = ()
    """The first items of an array, by position."""

    contains: Schema | None = None
    """The type of some of the items; `minContains` and `maxContains` in `constraints` say how many."""

    content: Schema | None = None
    """The type of the decoded string (`contentSchema`)."""

    alternatives: tuple[Schema, ...] = ()
    """The schemas of `oneOf` or `anyOf`."""

    is_exclusive: bool = False
    """Whether exactly one of the alternatives must match (`oneOf`)."""

    discriminator: Discriminator | None = None
    """The property that identifies the alternative (OpenAPI)."""

    excluded: Schema | None = None
    """The type that the value must not have (`not`)."""

    conditions: tuple[Condition, ...] = ()
    """Conditional rules (`if`, `dependentSchemas`, `dependentRequired`)."""

    read_only: bool = False
    """Whether the value is only returned, never sent."""

    write_only: bool = False
    """Whether the value is only sent, never returned."""

    deprecated: bool = False
    """Whether the value is deprecated."""


class Discriminator(Node, frozen=True, kw_only=True):
    """The property that identifies the type of an object by its value (OpenAPI 3.1, "Discriminator Object")."""

    property: str
    """The name of the property."""

    mapping: Mapping[str, str | None] | None = None
    """Value to the name of a type in `Service.schemas`, in the order declared, `None` for a type that could not be
    read; followed by the implied types, under their own names."""

    default: str | None = None
    """The name of the type if the property is absent or has another value (3.2, `defaultMapping`)."""


class Condition(Node, frozen=True, kw_only=True):
    """A rule for some values only."""

    when: Schema
    """The type of the values to which the rule applies."""

    then: Schema | None = None
    """What such a value must match too."""

    otherwise: Schema | None = None
    """What any other value must match too."""


class Serialization(Node, frozen=True, kw_only=True):
    """How a value is serialised into a request, if not in the default way (OpenAPI 3.1, "Style Values")."""

    style: str | None = None
    """A style such as `deepObject` or `pipeDelimited`; `tabDelimited` of Swagger 2.0; `querystring`, `lines` and
    `records` of 3.2."""

    explode: bool | None = None
    """Whether each item or property is sent separately."""

    allow_reserved: bool = False
    """Whether reserved characters are sent literally, not percent-encoded."""

    media_type: str | None = None
    """The media type of the serialised value, or the declared one of a part of a multipart body."""

    part_headers: tuple[Parameter, ...] = ()
    """The headers of a part of a multipart body; of a body, those of its parts."""

    allow_empty: bool = False
    """Whether the name may be sent without a value (`allowEmptyValue`)."""


class CommandSyntax(Node, frozen=True, kw_only=True):
    """How a parameter is written on a command line. A positional argument has only a value."""

    value: str | None = None
    """What help calls the value, such as `FILE`, or each of several, such as `NAME N`, or the syntax of positional
    arguments, such as `[FILE]...`; `None` for a flag."""

    word: str | None = None
    """What is written if the name of the parameter is not: an option of a group with the name of one of its command is
    named `acme --out`."""

    aliases: tuple[str, ...] = ()
    """Other names of the option, such as `-o`."""

    negations: tuple[str, ...] = ()
    """Flags that turn the flag off, such as `--no-color`."""

    is_repeatable: bool = False
    """Whether the option is repeated for each value, or a flag to count it."""

    is_value_optional: bool = False
    """Whether the option may be given without a value."""

    values: int | None = 1
    """How many values follow each other; `None` for any number."""

    variables: tuple[str, ...] = ()
    """Environment variables that set it as well."""

    prompt: str | None = None
    """What the program asks if it is not given."""

    after: int | None = None
    """The number of words of `Tool.command` that precede it, if it is global."""

    @property
    def is_flag(self) -> bool:
        """True if no value follows the option."""
        return self.value is None


class Parameter(Node, frozen=True, kw_only=True):
    """A parameter of a tool, or a property of an object."""

    name: str
    """The exact name."""

    location: Location
    """Where it is sent."""

    required: bool
    """Whether a call without it is invalid."""

    schema: Schema
    """The type of its value."""

    description: str | None = None
    """What it is for."""

    deprecated: bool = False
    """Whether it is deprecated."""

    serialization: Serialization | None = None
    """How it is serialised, if not in the default way."""

    syntax: CommandSyntax | None = None
    """How it is written on a command line; `None` for other tools."""

    pointer: str
    """JSON pointer to it in the source."""

    origins: Origins | None = None
    """Origins of the fields that are not declared there."""

    @property
    def is_whole_body(self) -> bool:
        """True if it is the request body itself, not a property of it."""
        return self.location == "body" and "name" in (self.origins or {})


class NamedType(Node, frozen=True, kw_only=True):
    """A schema with a name, stored once in `Service.schemas`; parameters and outputs refer to it."""

    name: str
    """The name in the source, made unique if names of two sources collide."""

    schema: Schema
    """The type."""

    pointer: str
    """JSON pointer to it in the source."""


def object_of(parameters: Iterable[Parameter], rules: Schema | None = None) -> Schema:
    """Returns the schema of an object with these properties; `rules` are those on the object itself."""
    rules = rules or Schema()
    known = {item.name for item in rules.properties}
    types = rules.types if rules.types or rules.alternatives else ("object",)
    others = tuple(item for item in parameters if item.name not in known)
    return replace(rules, types=types, properties=rules.properties + others)


def arguments_of(parameters: Iterable[Parameter], rules: Schema | None) -> Schema:
    """Returns the schema of all arguments of a tool."""
    return replace(object_of(parameters, rules), types=("object",), nullable=False)


def input_keys(parameters: Iterable[Parameter]) -> tuple[list[str], str]:
    """Returns unique keys for the parameters of an operation and for its body, in the input of the tool.

    A key is the name; if it is taken, the location is put before it: `query.id`, `body.body`.
    """
    keys: dict[str, None] = {}
    for location, name in [*((item.location, item.name) for item in parameters), ("body", "body")]:
        while name in keys:
            name = f"{location}.{name}"
        keys[name] = None
    *names, body_key = keys
    return names, body_key


def takes_any_names(schema: Schema) -> bool:
    """True if an object declares a type for properties with arbitrary or matching names."""
    return isinstance(schema.additional, Schema) or bool(schema.patterns)


def is_open(raw: Json) -> bool:
    """True if the raw schema of an object has no keyword about its properties."""
    keywords = ("properties", "additionalProperties", "unevaluatedProperties", "$ref", "allOf")
    return isinstance(raw, dict) and not any(keyword in raw for keyword in keywords)


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


def writable(parameters: Iterable[Parameter]) -> list[Parameter]:
    """Returns the parameters that are sent."""
    return [parameter for parameter in parameters if not parameter.schema.read_only]


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

    def variants(self, schema: Schema) -> list[Schema]:
        """Returns a schema, the types that it refers to or includes, and the alternatives of all of them."""
        found = [schema, *map(self.type_of, self.extended(schema))]
        alternatives = [part for item in found for part in item.alternatives]
        return [*found, *(self.type_of(part.ref) if part.ref else part for part in alternatives)]

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
        names = self._types.extended(schema) if schema.ref or schema.includes else []
        is_closed = schema.additional is False or any(self._types.type_of(name).additional is False for name in names)
        if is_closed and isinstance(found, dict):
            is_composed = not found.keys().isdisjoint(("$ref", "allOf", "anyOf", "oneOf"))
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
        found |= self.constraints(schema) if schema.constraints else {}
        found |= self._object(schema)
        if schema.prefix_items:
            found["prefixItems"] = [self.write(item) for item in schema.prefix_items]
        for keyword, part in (("items", schema.items), ("contains", schema.contains), ("not", schema.excluded)):
            if part is not None:
                found[keyword] = self.write(part)
        return self._composed(schema, found)

    def _composed(self, schema: Schema, found: dict[str, Json]) -> Json:
        parts: list[Json] = [{"$ref": self.ref(name)} for name in bases(schema)]
        parts += map(self._written, schema.also)
        for condition in schema.conditions:
            rule = {"if": condition.when, "then": condition.then, "else": condition.otherwise}
            parts.append({keyword: self._written(part) for keyword, part in rule.items() if part is not None})
        if len(parts) == 1 and isinstance(parts[0], dict) and "$ref" in parts[0]:
            found |= parts[0]
        elif parts:
            found["allOf"] = parts
        if (discriminator := schema.discriminator) is not None:
            known = ((value, name) for value, name in (discriminator.mapping or {}).items() if name is not None)
            mapping = {value: self.ref(name) for value, name in known}
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

    def constraints(self, schema: Schema) -> Iterator[tuple[str, Json]]:
        """Yields the constraints of a schema as JSON Schema has them."""
        for keyword, bound in (schema.constraints or {}).items():
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
        if (schema.properties or schema.required) and (required := self.required(schema)):
            yield "required", required

    def required(self, schema: Schema) -> list[Json]:
        """Returns the required names, without those of read-only properties, declared here or by a base type."""
        is_sent = self._is_request
        names = [item.name for item in schema.properties if item.required and not (is_sent and item.schema.read_only)]
        if not schema.required:
            return names
        inherited = (item for name in self._types.extended(schema) for item in self._types.type_of(name).properties)
        unsent = {item.name for item in inherited if self._is_request and item.schema.read_only}
        return [*dict.fromkeys([*names, *(name for name in schema.required if name not in unsent)])]
