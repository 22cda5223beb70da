"""What a value may be: parameters and the normalised form of a JSON Schema.

One form for JSON Schema 2020-12 and draft-07 (MCP), and for the schema objects of OpenAPI 3.0 and 3.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from skillgen.model.values import Json, Origins, Value, frozen

Location = Literal["argument", "path", "query", "header", "cookie", "body", "property"]
"""Where a parameter is sent: `argument` of an MCP tool, a part of an HTTP request, or a `property` of a parameter."""


@frozen
class Schema:
    """What a value may be: all that its fields ask for, at once. One that says nothing allows anything."""

    types: tuple[str, ...] = ()
    """JSON types in the order declared, without `null`; empty when none is declared."""

    nullable: bool = False
    """Whether null is allowed: `null` among the types, or `nullable: true` (also in a 3.1 document)."""

    format: str | None = None
    """The `format`, or the `contentEncoding` where that is all there is."""

    title: str | None = None
    """The `title`."""

    description: str | None = None
    """The `description`, where it does not stand on the parameter already."""

    choices: tuple[Json, ...] | None = None
    """The values of `enum`, or the one of `const`."""

    default: Value | None = None
    """The `default`."""

    examples: tuple[Json, ...] = ()
    """Values of `example` and `examples`."""

    constraints: Mapping[str, Json] | None = None
    """Keywords that bound the value, by their JSON Schema name: `minimum`, `maxLength`, `pattern` and the like; also
    `xml` of OpenAPI, where something can only be sent so."""

    ref: str | None = None
    """The name of a type in `Service.schemas` that this value is."""

    includes: tuple[str, ...] = ()
    """Names of types in `Service.schemas` of which the value has every property too (`allOf`)."""

    also: tuple[Schema, ...] = ()
    """What the value must be too, where it can't be merged into the other fields: a second pattern, a second choice of
    alternatives (`allOf`)."""

    properties: tuple[Parameter, ...] = ()
    """The properties of an object, in the order declared."""

    required: tuple[str, ...] = ()
    """Names that an object must have besides its required `properties`: they are described elsewhere, or nowhere."""

    patterns: Mapping[str, Schema] | None = None
    """Properties whose names match a regular expression, by that expression (`patternProperties`)."""

    additional: Schema | bool | None = None
    """Properties that are not named: none allowed, any, or of this schema; `None` when nothing is declared."""

    property_names: Schema | None = None
    """What the name of each property must be."""

    items: Schema | None = None
    """The items of an array (after `prefix_items`); of no choices where there may be none."""

    prefix_items: tuple[Schema, ...] = ()
    """The first items of an array, by position."""

    contains: Schema | None = None
    """What some of the items must be; how many, `minContains` and `maxContains` of the constraints say."""

    content: Schema | None = None
    """What the text holds once it is decoded (`contentSchema`)."""

    alternatives: tuple[Schema, ...] = ()
    """The schemas of `oneOf` or `anyOf`."""

    is_exclusive: bool = False
    """Whether exactly one of several alternatives may fit (`oneOf`)."""

    discriminator: Discriminator | None = None
    """The property that tells which alternative a value is (OpenAPI)."""

    excluded: Schema | None = None
    """What the value must not be (`not`)."""

    conditions: tuple[Condition, ...] = ()
    """What it must be when it is something else (`if`, `dependentSchemas`, `dependentRequired`)."""

    read_only: bool = False
    """Whether the value is only ever returned."""

    write_only: bool = False
    """Whether the value is only ever sent."""

    deprecated: bool = False
    """Whether the value should not be used any more."""


@frozen
class Discriminator:
    """The property whose value tells which type an object is (OpenAPI 3.1, "Discriminator Object")."""

    property: str
    """Its name."""

    mapping: Mapping[str, str | None] | None = None
    """Value to the name of a type in `Service.schemas`, in the order declared, `None` for a type that could not be
    read; then the types that the source implies, whose value is their name."""

    default: str | None = None
    """The name of the type that an object is where the property is absent or none of these (3.2, `defaultMapping`)."""


@frozen
class Condition:
    """A rule that holds for some values only."""

    when: Schema
    """What a value is that it holds for."""

    then: Schema | None = None
    """What such a value must be too."""

    otherwise: Schema | None = None
    """What any other value must be too."""


@frozen
class Serialization:
    """How a value is written into a request, where that is not the default (OpenAPI 3.1, "Style Values")."""

    style: str | None = None
    """`deepObject`, `pipeDelimited` and the like; `tabDelimited` of Swagger 2.0; `querystring`, `lines` and
    `records` of 3.2."""

    explode: bool | None = None
    """Whether each item or property is sent on its own."""

    allow_reserved: bool = False
    """Whether reserved characters are sent as they are, not percent-encoded."""

    media_type: str | None = None
    """The media type in which the value is written, or that a part of a multipart body declares."""

    headers: tuple[str, ...] = ()
    """The headers that a part of a multipart body has of its own; of a body as a whole, those of its parts."""

    allow_empty: bool = False
    """Whether the name may be sent without a value (`allowEmptyValue`)."""


@frozen
class Parameter:
    """Something that a caller can send with a tool, or a property of an object."""

    name: str
    """The exact name."""

    location: Location
    """Where it is sent."""

    required: bool
    """Whether a call without it is invalid."""

    schema: Schema
    """What its value may be."""

    description: str | None = None
    """What it is for."""

    deprecated: bool = False
    """Whether it should not be used any more."""

    serialization: Serialization | None = None
    """How it is written into the request, where that is not the default."""

    pointer: str
    """JSON pointer to it in the source."""

    origins: Origins | None = None
    """Fields that are not declared there."""

    @property
    def is_whole_body(self) -> bool:
        """True if it is the request body itself, not a member of it."""
        return self.location == "body" and "name" in (self.origins or {})


@frozen
class NamedType:
    """A schema with a name, held once in `Service.schemas`; parameters and outputs refer to it."""

    name: str
    """The name in the source, made unique in the service where two sources of names meet."""

    schema: Schema
    """The type."""

    raw: Json
    """The schema as the source has it."""

    pointer: str
    """JSON pointer to it in the source."""


def takes_any_names(schema: Schema) -> bool:
    """True if an object declares what its properties are whatever their names."""
    return isinstance(schema.additional, Schema) or bool(schema.patterns)


def is_open(raw: Json) -> bool:
    """True if a raw schema of an object has no keyword on its properties."""
    keywords = ("properties", "additionalProperties", "unevaluatedProperties", "$ref", "allOf")
    return isinstance(raw, dict) and not any(keyword in raw for keyword in keywords)
