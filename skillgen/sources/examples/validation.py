"""Validates values against the schemas of the model, and decides whether a declared example may be published.

A value is validated by `jsonschema-rs`, against a JSON Schema 2020-12 document that is written from the model for this
value: it has only those parts that the value has, with references and discriminators resolved. So it is small however
large the description is, and no schema can make the validation take long.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.json import encode

from skillgen.errors import ProblemLog
from skillgen.model.schema import Condition, NamedType, Schema
from skillgen.model.values import Json, child, follow
from skillgen.security.credentials import is_secret_name, looks_random, might_hold_credential, redact
from skillgen.sources.examples.patterns import MATCHED_LIMIT, compiled, engine_syntax, is_exhausted, matches
from skillgen.sources.json_access import as_dict
from skillgen.sources.json_schema.loader import UNRESOLVED, SchemaReader
from skillgen.text.markdown import json_text, one_line
from skillgen.text.summary import clip
from skillgen.text.unicode import invisible_kinds

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

UNCHECKED = "it could not be checked within bounds"
"""The validation error of a value that may be valid."""

_MAX_ERROR_LENGTH = 160
"""Characters of a validation error in a message."""

_DECLARED_LIMIT = 3
"""Examples of one schema that are tried."""

_PARTS_LIMIT = 2_000
"""Schemas that are read for the validation of one value."""

_TYPES = frozenset({"string", "integer", "number", "boolean", "object", "array"})
_FORMATS = frozenset({"date", "email", "ipv4", "ipv6", "uuid"})
"""Formats that are checked, as most servers do; others are ignored."""

_RANGES = {
    "int32": {"minimum": -(2**31), "maximum": 2**31 - 1},
    "int64": {"minimum": -(2**63), "maximum": 2**63 - 1},
}
"""Ranges of integers by format (OpenAPI 3.1, "Data Types")."""

_COUNTS = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"}
)
_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})


def is_finite(value: Json) -> bool:
    """True for a number; JSON with `1e999` has infinite ones."""
    return type(value) is int or (type(value) is float and math.isfinite(value))


class ExampleSchemas:
    """The schemas of one document, read for its examples.

    They are read apart from those of the documentation, since an example needs types that no document shows: the
    properties of a body are listed without its type.
    """

    def __init__(self, root: Json, pointer: str = "", *, ref_siblings: bool = True) -> None:
        self._root = root
        self._pointer = pointer
        self._reader = SchemaReader(ProblemLog())
        self._document = self._reader.open_document(
            root, pointer, ref_siblings=ref_siblings, reads_xml=True, is_strict=True
        )

    def read(self, raw: Json, pointer: str) -> Schema:
        """Returns the schema at a pointer of the source."""
        return self._document.schema(raw, pointer)

    def type(self, name: str) -> Schema:
        """Returns a type to which a schema refers; nothing is known to match one that was not found."""
        return self._reader.named_type(name).schema if name != UNRESOLVED else Schema(choices=())

    def bases(self, schema: Schema) -> tuple[str, ...]:
        """Returns the names of the types that a schema refers to or includes."""
        return schema.includes if schema.ref is None else (schema.ref, *schema.includes)

    def ancestors(self, schema: Schema) -> list[str]:
        """Returns the names of the types that a schema refers to or includes, themselves or by way of others."""
        names = dict.fromkeys(self.bases(schema))
        waiting = list(names)
        for name in waiting:
            more = [base for base in self.bases(self.type(name)) if base not in names]
            names.update(dict.fromkeys(more))
            waiting += more
        return waiting

    def is_read_only(self, schema: Schema) -> bool:
        """True if a value, or the type it refers to, is read-only."""
        return schema.read_only or any(self.type(name).read_only for name in self.bases(schema))

    def description(self, schema: Schema) -> str:
        """Returns the description of a value, or of the type it refers to."""
        return schema.description or (self.type(schema.ref).description if schema.ref is not None else None) or ""

    def declared_values(self, schema: Schema, pointer: str) -> Iterator[tuple[Json, str]]:
        """Yields the examples and the default of the schema at a pointer, each with its pointer, the best first."""
        if not schema.examples and schema.default is None:
            return
        try:
            raw = as_dict(follow(self._root, pointer.removeprefix(self._pointer)))
        except LookupError:
            raw = {}
        keywords = ["example"] if "example" in raw else [f"examples/{index}" for index in range(len(schema.examples))]
        for value, keyword in zip(schema.examples[:_DECLARED_LIMIT], keywords, strict=False):
            yield value, f"{pointer}/{keyword}"
        if schema.default is not None and schema.default.json is not None:
            yield schema.default.json, child(pointer, "default")


class ModelSchemas(ExampleSchemas):
    """The schemas of a service, as its model has them: for values that are checked or generated long after reading."""

    def __init__(self, types: Iterable[NamedType]) -> None:
        self._types = {item.name: item.schema for item in types}

    def type(self, name: str) -> Schema:
        """Returns a type of the service; nothing is known to match one that it lacks."""
        return self._types.get(name, Schema(choices=()))

    def declared_values(self, schema: Schema, pointer: str) -> Iterator[tuple[Json, str]]:
        """Yields the examples and the default of a schema, the best first."""
        yield from ((value, pointer) for value in schema.examples[:_DECLARED_LIMIT])
        if schema.default is not None and schema.default.json is not None:
            yield schema.default.json, pointer


class Fault(Struct, frozen=True):
    """A part of a value that its schema does not allow."""

    pointer: str
    """JSON pointer to it in the value."""

    message: str
    """What is wrong with it."""


class _TooLarge(Exception):
    """Too many schemas apply to a value."""


class Validator:
    """Validates values against the schemas of one document."""

    def __init__(
        self, schemas: ExampleSchemas, *, is_request: bool, is_open: bool = False, is_strict: bool = False
    ) -> None:
        """`is_request` is true for OpenAPI, where read-only properties are not sent; with `is_open` every object may
        have further properties; `is_strict` also checks the formats that a server with types reads."""
        self._formats = _FORMATS | {"date-time"} if is_strict else _FORMATS
        self._ranges = _RANGES if is_strict else {}
        self.schemas = schemas
        self.is_request = is_request
        self.is_open = is_open
        self._parts = 0
        self._is_partial = False
        self._patterns: dict[str, str] = {}

    def validation_error(self, value: Json, schema: Schema) -> str | None:
        """Returns why a value does not match a schema, for a message; `None` if it does."""
        errors = self._errors(value, schema)
        if errors is None:
            return UNCHECKED
        error = next(errors, None)
        if error is None:
            return None
        if self._is_partial or is_exhausted(error.message):
            return UNCHECKED
        message = "/".join(str(part) for part in error.instance_path)
        return self._message(f"{message}: {error.message}" if message else error.message)

    def faults(self, value: Json, schema: Schema) -> Iterator[Fault]:
        """Yields every part of a value that does not match a schema, as far as that is certain."""
        for error in self._errors(value, schema) or ():
            yield from self._faults(error)

    def _errors(self, value: Json, schema: Schema) -> Iterator[ValidationError] | None:
        """Returns the errors of a value; `None` if they cannot be found within bounds."""
        self._parts = 0
        self._is_partial = False
        self._patterns.clear()
        try:
            return iter(compiled(self._emit(schema, value, ())).iter_errors(value))
        except (_TooLarge, RecursionError, ValueError):  # the last for what is not JSON, such as half a surrogate pair
            return None

    def _faults(self, error: ValidationError) -> Iterator[Fault]:
        kind, pointer = error.kind, child("", *error.instance_path)
        if is_exhausted(error.message) or (self._is_partial and not _CONDITIONAL.isdisjoint(error.schema_path)):
            return
        if kind.name == "required":
            yield Fault(child(pointer, getattr(kind, "property", "")), "is required")
        elif kind.name in ("additionalProperties", "unevaluatedProperties"):
            for name in getattr(kind, "unexpected", ()):
                yield Fault(child(pointer, name), _UNEXPECTED)
        elif kind.name == "falseSchema":
            yield Fault(pointer, _UNEXPECTED)
        elif kind.name in ("anyOf", "oneOf") and (branch := _closest_branch(error)) is not None:
            for inner in branch:
                yield from self._faults(inner)
        else:
            yield Fault(pointer, self._message(error.message))

    def _message(self, message: str) -> str:
        for pattern, declared in self._patterns.items():
            message = message.replace(pattern, declared)
        return clip(one_line(message), _MAX_ERROR_LENGTH)

    def is_read_only(self, schema: Schema) -> bool:
        """True if a property is not sent, since it is read-only."""
        return self.is_request and self.schemas.is_read_only(schema)

    def _emit(self, schema: Schema, value: Json, within: tuple[str, ...]) -> Json:
        """Returns the JSON Schema that a value must match; `within` are the types whose schemas it is part of."""
        self._parts += 1
        if self._parts > _PARTS_LIMIT:
            raise _TooLarge
        if (value is None and schema.nullable) or schema.choices == ():
            return value is None and schema.nullable
        result: dict[str, Json] = {}
        if schema.types and _TYPES.issuperset(schema.types):
            result["type"] = [*schema.types, *(("null",) if schema.nullable else ())]
        if schema.choices is not None:
            result["enum"] = list(schema.choices)
        if schema.format in self._formats and isinstance(value, str):
            result["format"] = schema.format
        result |= self._ranges.get(schema.format or "", {})
        result |= self._constraints(schema.constraints or {}, value)
        parts = [self._emit_type(name, value, within) for name in self.schemas.bases(schema)]
        parts += [self._emit(part, value, within) for part in schema.also]
        parts += [self._condition(condition, value, within) for condition in schema.conditions]
        result |= self._choice(schema, value, within, parts)
        if schema.excluded is not None:
            result["not"] = self._emit(schema.excluded, value, within)
        if isinstance(value, dict):
            result |= self._object(schema, value, is_composed=bool(parts or schema.alternatives))
        if isinstance(value, list):
            result |= self._array(schema, value)
        if parts and not result:
            return parts[0] if len(parts) == 1 else {"allOf": parts}
        return {**result, "allOf": parts} if parts else result

    def _emit_type(self, name: str, value: Json, within: tuple[str, ...]) -> Json:
        self._is_partial |= name == UNRESOLVED
        if name in (UNRESOLVED, *within):
            return True
        return self._emit(self.schemas.type(name), value, (*within, name))

    def _constraints(self, constraints: Mapping[str, Json], value: Json) -> Iterator[tuple[str, Json]]:
        for keyword, bound in constraints.items():
            is_number = is_finite(bound)
            if keyword in _BOUNDS and is_number and (keyword != "multipleOf" or bound > 0):
                yield keyword, bound
            elif keyword in _COUNTS and is_number and bound >= 0 and int(bound) == bound:
                yield keyword, int(bound)
            elif keyword == "uniqueItems":
                yield keyword, bound is True
            elif keyword == "pattern" and isinstance(value, str):
                pattern = engine_syntax(bound) if isinstance(bound, str) and len(value) <= MATCHED_LIMIT else None
                if pattern is not None:
                    self._patterns[pattern] = bound
                    yield keyword, pattern
                else:
                    self._is_partial = True

    def _condition(self, condition: Condition, value: Json, within: tuple[str, ...]) -> Json:
        rule = {"if": condition.when, "then": condition.then, "else": condition.otherwise}
        return {keyword: self._emit(part, value, within) for keyword, part in rule.items() if part is not None}

    def _choice(self, schema: Schema, value: Json, within: tuple[str, ...], parts: list[Json]) -> dict[str, Json]:
        """Returns the alternatives; adds to `parts` the type that the discriminator of a value names.

        A value is then validated against this type only (OpenAPI, "Discriminator Object").
        """
        discriminator = schema.discriminator
        word = as_dict(value).get(discriminator.property) if discriminator is not None else None
        if discriminator is not None and isinstance(word, str):
            name = (discriminator.mapping or {}).get(word)
            chosen = Schema(ref=name)
            if name is not None and (not schema.alternatives or any(item.ref == name for item in schema.alternatives)):
                part = self._emit(chosen, value, within)
                if isinstance(part, dict) and "additionalProperties" in part:
                    # The type need not declare the discriminating property.
                    part.setdefault("properties", {}).setdefault(discriminator.property, True)
                parts.append(part)
                return {}
        if not schema.alternatives:
            return {}
        keyword = "oneOf" if schema.is_exclusive else "anyOf"
        return {keyword: [self._emit(item, value, within) for item in schema.alternatives]}

    def _object(self, schema: Schema, value: dict[str, Json], *, is_composed: bool) -> dict[str, Json]:
        properties: dict[str, Json] = {}
        for item in schema.properties:
            if item.name in value:
                properties[item.name] = self._emit(item.schema, value[item.name], ())
        for name, member in value.items():
            matching = [item for pattern, item in (schema.patterns or {}).items() if self._matches(pattern, name)]
            if isinstance(schema.additional, Schema) and name not in properties and not matching:
                matching = [schema.additional]
            if matching:
                known = [properties[name]] if name in properties else []
                properties[name] = {"allOf": [*known, *(self._emit(item, member, ()) for item in matching)]}
        result: dict[str, Json] = {}
        if properties or schema.additional is False:  # without the keyword, an error has no names of properties
            result["properties"] = properties
        if required := self._required(schema):
            result["required"] = required
        if schema.additional is False and not self.is_open:
            result["unevaluatedProperties" if is_composed else "additionalProperties"] = False
        elif schema.additional is True:
            result["additionalProperties"] = True
        if schema.property_names is not None:
            names = [{"const": name, "allOf": [self._emit(schema.property_names, name, ())]} for name in value]
            result["propertyNames"] = {"anyOf": names} if names else True
        return result

    def _required(self, schema: Schema) -> list[str]:
        """Returns the required names, without those of read-only properties, declared here or by a base type."""
        names = [item.name for item in schema.properties if item.required and not self.is_read_only(item.schema)]
        if not schema.required or not self.is_request:
            return [*names, *schema.required]
        bases = map(self.schemas.type, self.schemas.ancestors(schema))
        inherited = {item.name for base in bases for item in base.properties if self.is_read_only(item.schema)}
        return [*names, *(name for name in schema.required if name not in inherited)]

    def _matches(self, pattern: str, name: str) -> bool:
        answer = matches(pattern, name)
        self._is_partial |= answer is None
        return bool(answer)

    def _array(self, schema: Schema, value: list[Json]) -> dict[str, Json]:
        result: dict[str, Json] = {}
        if schema.prefix_items or schema.items is not None:
            rest = schema.items or Schema()
            first = schema.prefix_items
            items = [first[index] if index < len(first) else rest for index in range(len(value))]
            result["prefixItems"] = [self._emit(item, member, ()) for item, member in zip(items, value, strict=True)]
        if schema.contains is not None:
            members = [{"const": member, "allOf": [self._emit(schema.contains, member, ())]} for member in value]
            result["contains"] = {"anyOf": members} if members else True
        return {key: items for key, items in result.items() if items != []}


_CONDITIONAL = frozenset({"anyOf", "oneOf", "not", "if", "then", "else", "contains"})
"""Keywords with schemas that need not match, so that an error below them can follow from what was not checked."""

_UNEXPECTED = "is not allowed here"


def _closest_branch(error: ValidationError) -> list[ValidationError] | None:
    """Returns the errors of the one alternative that allows the type of a value; `None` if several do, or none."""
    here = error.instance_path
    branches = [
        branch
        for branch in getattr(error.kind, "context", ())
        if not any(inner.kind.name in ("type", "falseSchema") and inner.instance_path == here for inner in branch)
    ]
    return branches[0] if len(branches) == 1 else None


_MAX_EXAMPLE_LENGTH = 2_000
"""Characters of JSON of a declared value; instead of a larger one, a small one is generated."""


def why_unpublishable(value: Json, name: str = "") -> tuple[str, str] | None:
    """Returns the code and message of the problem that makes a value unpublishable; `None` if it has no problem."""
    if not isinstance(value, (str, dict, list)):
        return None
    if _size_of(value) > _MAX_EXAMPLE_LENGTH:
        return "example-too-long", f"the example is larger than {_MAX_EXAMPLE_LENGTH} bytes"
    if _is_screened(value, name):
        return "example-not-shown", "the example holds what is left out of documents"
    return None


def _size_of(value: Json) -> int:
    if isinstance(value, str):
        return len(value)
    try:
        with suppress(OverflowError, UnicodeEncodeError):  # an integer beyond 64 bits, half a surrogate pair
            if len(encode(value)) > 4 * _MAX_EXAMPLE_LENGTH:  # bytes; most are far too long, or short
                return _MAX_EXAMPLE_LENGTH + 1
        return len(json_text(value))
    except (ValueError, RecursionError, TypeError):
        return _MAX_EXAMPLE_LENGTH + 1


def _is_screened(value: Json, name: str) -> bool:
    """True if screening would change any string in a value."""
    if isinstance(value, dict):
        return any(_is_screened_anywhere(str(key)) or _is_screened(item, str(key)) for key, item in value.items())
    if isinstance(value, list):
        return any(_is_screened(item, name) for item in value)
    if not isinstance(value, str):
        return False
    return _is_screened_anywhere(value) or (is_secret_name(name) and looks_random(value))


@lru_cache(1 << 12)
def _is_screened_anywhere(text: str) -> bool:
    """True if screening would change a string wherever it is; most strings of examples occur in many of them."""
    return bool(invisible_kinds(text)[0]) or (might_hold_credential(text) and bool(redact(text)[1]))
