"""Validates values against schemas, and decides whether a declared example may be published."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.json import encode

from skillgen.model.schema import Schema
from skillgen.model.schema_json import SchemaWriter, Types
from skillgen.model.values import Json, child, last_token
from skillgen.security.credentials import is_secret_name, looks_random, might_hold_credential, redact
from skillgen.sources.examples.patterns import MATCHED_LIMIT, compiled, engine_syntax, is_exhausted, matches
from skillgen.sources.json_access import as_dict
from skillgen.text import lazy_re as re
from skillgen.text.markdown import json_text, one_line
from skillgen.text.summary import clip
from skillgen.text.unicode import invisible_kinds

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

UNCHECKED = "it could not be checked within bounds"
"""The validation error of a value that may be valid."""

PLACEHOLDER = re.compile(r"<[\w .:/-]{1,60}>")
"""What a caller replaces in an example, such as `<listId>`."""

_MAX_ERROR_LENGTH = 160
"""Characters of a validation error in a message."""

_PARTS_LIMIT = 2_000
"""Schemas that are read for the validation of one value."""

_FORMATS = frozenset({"date", "email", "ipv4", "ipv6", "uuid"})
"""Formats that are checked, as most servers do; others are ignored."""

_RANGES = {
    "int32": {"minimum": -(2**31), "maximum": 2**31 - 1},
    "int64": {"minimum": -(2**63), "maximum": 2**63 - 1},
}
"""Ranges of integers by format (OpenAPI 3.1, "Data Types")."""

_PLAIN = (
    "type", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "minContains", "maxContains",
    "unevaluatedProperties", "required",
)  # fmt: skip
"""Keywords that are the same for each value."""


class Fault(Struct, frozen=True):
    """A part of a value that its schema does not allow."""

    pointer: str
    """JSON pointer to it in the value."""

    message: str
    """What is wrong with it."""


class _TooLarge(Exception):
    """Too many schemas apply to a value."""


class Validator:
    """Validates values against schemas.

    Of a schema, `jsonschema-rs` gets those parts that the value has, with references and discriminators resolved. So it
    is small however large the description is, and no schema can make the validation take long.
    """

    def __init__(
        self, types: Types, *, is_request: bool, is_strict: bool = False, allows_placeholders: bool = False
    ) -> None:
        """`is_request` is true for OpenAPI, where read-only properties are not sent; `is_strict` also checks the
        formats that a server with types reads; with `allows_placeholders`, any value may be one."""
        self.types = types
        self.is_request = is_request
        self._formats = _FORMATS | {"date-time"} if is_strict else _FORMATS
        self._ranges = _RANGES if is_strict else {}
        self._placeholders = allows_placeholders
        self._writer = SchemaWriter(types, is_request=is_request)
        self._written: dict[int, tuple[Schema, Json]] = {}
        self._definitions: dict[str, Json] = {}
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
        if id(schema) not in self._written:  # by identity: a schema is compared by all that it holds
            self._written[id(schema)] = schema, self._writer.write(schema)
        try:
            return iter(compiled(self._applied(self._written[id(schema)][1], value, ())).iter_errors(value))
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

    def _applied(self, raw: Json, value: Json, within: tuple[str, ...]) -> Json:
        """Returns what a schema says of a value; `within` are the types whose definitions it is part of."""
        self._parts += 1
        if self._parts > _PARTS_LIMIT:
            raise _TooLarge
        if not isinstance(raw, dict):
            return raw
        if self._placeholders and isinstance(value, str) and PLACEHOLDER.fullmatch(value):
            return True
        result = {keyword: raw[keyword] for keyword in _PLAIN if keyword in raw}
        if isinstance(value, str):
            result |= self._text(raw, value)
        result |= self._ranges.get(str(raw.get("format")), {})
        parts = [self._applied(part, value, within) for part in raw.get("allOf", ())]
        if "$ref" in raw and (name := last_token(raw["$ref"])) not in within:
            if name not in self._definitions:
                self._definitions[name] = self._writer.definition(name)
            parts.append(self._applied(self._definitions[name], value, (*within, name)))
        result |= self._choice(raw, value, within, parts)
        for keyword in ("not", "if", "then", "else"):
            if keyword in raw:
                result[keyword] = self._applied(raw[keyword], value, within)
        if isinstance(value, dict):
            result |= self._object(raw, value)
        if isinstance(value, list):
            result |= self._array(raw, value)
        if parts and not result:
            return parts[0] if len(parts) == 1 else {"allOf": parts}
        return {**result, "allOf": parts} if parts else result

    def _text(self, raw: dict[str, Json], value: str) -> Iterator[tuple[str, Json]]:
        if raw.get("format") in self._formats:
            yield "format", raw["format"]
        if "pattern" in raw:
            pattern = engine_syntax(raw["pattern"]) if len(value) <= MATCHED_LIMIT else None
            self._is_partial |= pattern is None
            if pattern is not None:
                self._patterns[pattern] = raw["pattern"]
                yield "pattern", pattern

    def _choice(self, raw: dict[str, Json], value: Json, within: tuple[str, ...], parts: list[Json]) -> dict[str, Json]:
        """Returns the alternatives; adds to `parts` the type that the discriminator of a value names.

        A value is then validated against this type only (OpenAPI, "Discriminator Object").
        """
        keyword = "oneOf" if "oneOf" in raw else "anyOf"
        alternatives = raw.get(keyword, ())
        if (discriminator := raw.get("discriminator")) is not None:
            name = discriminator["propertyName"]
            word = as_dict(value).get(name)
            target = discriminator["mapping"].get(word) if isinstance(word, str) else None
            chosen = next((item for item in alternatives if as_dict(item).get("$ref") == target), None)
            if target is not None and (chosen is not None or not alternatives):
                # The type need not declare the discriminating property.
                parts.append(
                    self._applied({"$ref": target, **(chosen or {}), "properties": {name: True}}, value, within)
                )
                return {}
        found = [self._applied(item, value, within) for item in alternatives]
        return {keyword: found} if found else {}

    def _object(self, raw: dict[str, Json], value: dict[str, Json]) -> Iterator[tuple[str, Json]]:
        declared, patterns = raw.get("properties", {}), raw.get("patternProperties", {})
        properties: dict[str, Json] = {}
        for name, member in value.items():
            schemas = [declared[name]] if name in declared else []
            schemas += [item for pattern, item in patterns.items() if self._matches(pattern, name)]
            if not schemas and isinstance(raw.get("additionalProperties"), dict):
                schemas = [raw["additionalProperties"]]
            if schemas:
                found = [self._applied(item, member, ()) for item in schemas]
                properties[name] = found[0] if len(found) == 1 else {"allOf": found}
        if properties or "properties" in raw:  # without the keyword, an error has no names of properties
            yield "properties", properties
        if raw.get("additionalProperties") is False:
            yield "additionalProperties", False
        if (names := raw.get("propertyNames")) is not None:
            known = [{"const": name, "allOf": [self._applied(names, name, ())]} for name in value]
            yield "propertyNames", {"anyOf": known} if known else True

    def _matches(self, pattern: str, name: str) -> bool:
        answer = matches(pattern, name)
        self._is_partial |= answer is None
        return bool(answer)

    def _array(self, raw: dict[str, Json], value: list[Json]) -> Iterator[tuple[str, Json]]:
        first, rest = raw.get("prefixItems", ()), raw.get("items", True)
        if value and (first or rest is not True):
            items = [first[index] if index < len(first) else rest for index in range(len(value))]
            yield "prefixItems", [self._applied(item, member, ()) for item, member in zip(items, value, strict=True)]
        if "contains" in raw:
            members = [{"const": member, "allOf": [self._applied(raw["contains"], member, ())]} for member in value]
            yield "contains", {"anyOf": members} if members else True


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
