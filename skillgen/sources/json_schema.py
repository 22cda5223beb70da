"""Reads JSON Schemas into the model: 2020-12 and draft-07 (MCP), and the schema objects of OpenAPI 3.0 and 3.1.

A `SchemaReader` holds the named types of one service; a `Scope` is one document in which `$ref`s are looked up: an
OpenAPI description, or the input schema of one MCP tool. A type that is referred to is read once, after whatever
refers to it, so that cycles are ordinary. Nothing here knows what the schema is for.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from urllib.parse import unquote

from skillgen.errors import ProblemLog
from skillgen.model.pointer import child, follow, last_token
from skillgen.model.schema import Location, NamedType, Parameter, Schema
from skillgen.model.value import Json
from skillgen.sources.schema_collect import Collected, Collector
from skillgen.sources.schema_discriminators import Discriminators
from skillgen.sources.schema_keywords import (
    constraints_of,
    kind_of,
    members,
    references,
    required_names,
    scalar_fields,
)
from skillgen.sources.schema_merge import ANYTHING, merged, one_of_values, requiring, simplified
from skillgen.sources.schema_places import Places
from skillgen.sources.schema_structure import RULES, array_fields, object_fields, rule_fields

DEPTH_LIMIT = 48
"""Inline nesting beyond which nothing more is read; named types do not count, for they are not nested."""

PROPERTIES_LIMIT = 100_000
"""Properties of one object that are read: a hundred times what the largest in use have."""

_SCALAR_KEYWORDS = frozenset(
    {"type", "description", "enum", "default", "format", "example", "title", "nullable", "readOnly", "deprecated"}
)
_COMMON_FIELDS = frozenset({"types", "format", "nullable", "read_only", "deprecated"})
_HOME_OF_TYPES = re.compile(r"/(?:components/schemas|\$defs|definitions)/[^/]+\Z")
_BESIDE_A_REFERENCE = frozenset({"$ref", "$defs", "definitions", "$schema", "$id", "$comment", "$anchor"})


class SchemaReader:
    """The named types of one service."""

    def __init__(self, problems: ProblemLog) -> None:
        self.problems = problems
        self._types: dict[str, _Pending] = {}
        self._done: dict[str, NamedType] = {}
        self._ignored: list[str] = []

    def scope(
        self,
        root: Json,
        pointer: str,
        owner: str | None = None,
        *,
        ref_siblings: bool = True,
        reads_xml: bool = False,
    ) -> Scope:
        """Opens a document at `pointer` of the source; `owner` tells its types from others of the same name.

        `ref_siblings` tells whether what stands beside a `$ref` counts, as it does since draft 2019-09 and in
        OpenAPI 3.1; before, it is ignored. `reads_xml` tells whether what a value is called in XML is kept.
        """
        return Scope(self, root, pointer, owner, ref_siblings, reads_xml)

    def named_types(self) -> tuple[NamedType, ...]:
        """Reads every type that was referred to, and those that they refer to; sorted by name. It ends the reading."""
        while waiting := [name for name in self._types if name not in self._done]:
            for name in waiting:
                pending = self._types[name]
                self._done[name] = NamedType(
                    name=name,
                    schema=pending.scope.schema(pending.raw, pending.pointer),
                    raw=pending.raw,
                    pointer=pending.pointer,
                )
        if self._ignored:
            places = "one place" if len(self._ignored) == 1 else f"{len(self._ignored)} places"
            self.problems.info(
                "reference-siblings-ignored",
                self._ignored[0],
                f"what stands beside a $ref is ignored before OpenAPI 3.1 and JSON Schema 2019-09, here in {places}",
                "put the $ref into an allOf",
            )
        self._types.clear()  # they lead to their scopes and back, and would keep the whole document
        return tuple(self._done[name] for name in sorted(self._done))

    def note_ignored(self, pointer: str) -> None:
        """Notes that what stands beside the `$ref` at `pointer` is ignored."""
        self._ignored.append(pointer)

    def _claim(self, name: str, pending: _Pending) -> str:
        """Gives the name under which a type is held: the same for equal types, another where names clash."""
        owner = pending.scope.owner
        for candidate in _candidate_names(name, owner):
            held = self._types.setdefault(candidate, pending)
            if held is pending or held.same_as(pending):
                return candidate
        raise AssertionError("candidate names never end")


@dataclass(slots=True)
class _Pending:
    """A type that was referred to and will be read."""

    scope: Scope
    reference: str
    raw: Json
    pointer: str

    def same_as(self, other: _Pending) -> bool:
        if self.scope.root is other.scope.root:
            return self.reference == other.reference
        return self.raw == other.raw and self.scope.closure(self.reference) == other.scope.closure(other.reference)


def _candidate_names(name: str, owner: str | None) -> Iterator[str]:
    yield name
    if owner is not None:
        yield (name := f"{owner}.{name}")
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1


def _scalar(fields: dict[str, Any]) -> Schema:
    """Gives a schema; one that declares no more than thousands of others is made once."""
    if fields.keys() <= _COMMON_FIELDS:
        return _common(**fields)
    return Schema(**fields)


@functools.lru_cache(4096)
def _common(**fields: Any) -> Schema:
    return Schema(**fields)


class Scope:
    """One document in which `$ref`s are looked up."""

    def __init__(
        self,
        reader: SchemaReader,
        root: Json,
        pointer: str,
        owner: str | None,
        ref_siblings: bool,
        reads_xml: bool = False,
    ) -> None:
        self.root = root
        self.owner = owner
        self._reader = reader
        self._pointer = pointer
        self.ref_siblings = ref_siblings
        self._reads_xml = reads_xml
        self._names: dict[str, str | None] = {}
        self._places = Places(root)
        self._discriminators = Discriminators(root)

    def schema(self, raw: Json, pointer: str, depth: int = 0) -> Schema:
        """Reads one schema; what makes no sense in it is reported and left out."""
        if raw is True or raw == {}:
            return ANYTHING
        if raw is False:
            return Schema(choices=())
        if not isinstance(raw, dict):
            self.report(pointer, f"expected a schema, found {kind_of(raw)}")
            return ANYTHING
        if depth > DEPTH_LIMIT:
            self._reader.problems.warning(
                "schema-too-deep", pointer, f"nested more than {DEPTH_LIMIT} levels deep; the rest is left out"
            )
            return ANYTHING
        if "$ref" in raw and (not self.ref_siblings or raw.keys() <= _BESIDE_A_REFERENCE):
            return self._reference(raw, pointer)
        fields = scalar_fields(raw, pointer, self.report)
        if raw.keys() <= _SCALAR_KEYWORDS:
            return _scalar(fields)
        fields["constraints"] = constraints_of(raw)
        if self._reads_xml and isinstance(raw.get("xml"), dict):
            fields["constraints"] = {**(fields["constraints"] or {}), "xml": raw["xml"]}
        self._add_structure(raw, fields, pointer, depth)
        schema = Schema(**fields)
        if "allOf" in raw:
            schema = self._with_all_of(schema, raw, pointer, depth)
        if "oneOf" in raw or "anyOf" in raw:
            schema = self._with_alternatives(schema, raw, pointer, depth)
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if keyword in raw:
                schema = self._with_reference(schema, raw[keyword], pointer, keyword)
        if "discriminator" in raw:
            local = pointer.removeprefix(self._pointer)
            found = self._discriminators.discriminator(raw, pointer, local, self._name_of, self.report)
            schema = replace(schema, discriminator=found)
        return schema

    def parameters(self, raw: Json, pointer: str, location: Location = "argument") -> tuple[Parameter, ...]:
        """Reads the properties of an object schema as parameters, through `$ref`, `allOf` and alternatives."""
        return self.collected(raw, pointer, location).parameters

    def collected(self, raw: Json, pointer: str, location: Location = "argument") -> Collected:
        """Reads the same, and what the object as a whole must be."""
        return Collector(self, location).collected(raw, pointer)

    def properties(
        self, raw: Mapping[str, Json], pointer: str, location: Location = "property", depth: int = 0
    ) -> tuple[Parameter, ...]:
        """Reads the properties that stand in an object schema itself."""
        properties = raw.get("properties")
        if not isinstance(properties, dict):
            self.report(child(pointer, "properties"), f"expected an object, found {kind_of(properties)}")
            return ()
        required = frozenset(required_names(raw))
        if len(properties) > PROPERTIES_LIMIT:
            message = f"has {len(properties):,} properties; the first {PROPERTIES_LIMIT:,} are read"
            self._reader.problems.warning("schema-too-large", child(pointer, "properties"), message)
        return tuple(
            self._property(name, item, child(pointer, "properties", name), location, name in required, depth)
            for name, item in islice(properties.items(), PROPERTIES_LIMIT)
        )

    def closure(self, reference: str) -> frozenset[str]:
        """Gives every `$ref` that can be reached from one, each with the text of its schema."""
        seen: dict[str, str] = {}
        waiting = [reference]
        while waiting:
            current = waiting.pop()
            if current in seen:
                continue
            try:
                raw = follow(self.root, current.removeprefix("#"))
            except LookupError:
                raw = None
            seen[current] = json.dumps(raw, sort_keys=True)
            waiting.extend(references(raw))
        return frozenset(f"{key} {text}" for key, text in seen.items())

    # -- the keywords, family by family ------------------------------------------------------------------------------

    def _add_structure(self, raw: dict[str, Json], fields: dict[str, Any], pointer: str, depth: int) -> None:
        def read(inner: Json, place: str) -> Schema:
            return self.schema(inner, place, depth + 1)

        required = required_names(raw)
        if "properties" in raw:
            fields["properties"] = self.properties(raw, pointer, "property", depth)
            if required:
                own = {item.name for item in fields["properties"]}
                required = tuple(name for name in required if name not in own)
        if required:
            fields["required"] = required
        if "additionalProperties" in raw:
            fields |= object_fields(raw, pointer, read)
        if "items" in raw or "prefixItems" in raw:
            fields |= array_fields(raw, pointer, read)
        if not RULES.isdisjoint(raw):
            fields |= rule_fields(raw, pointer, read, self.report)

    def _property(
        self, name: str, raw: Json, pointer: str, location: Location, required: bool, depth: int
    ) -> Parameter:
        if isinstance(raw, dict) and raw and raw.keys() <= _SCALAR_KEYWORDS:  # most are, and copies cost
            fields = scalar_fields(raw, pointer, self.report)
            description = fields.pop("description", None)
            schema = _scalar(fields)
        else:
            schema = self.schema(raw, pointer, depth + 1)
            description = schema.description
            if description is not None:
                schema = replace(schema, description=None)
        # Draft-3 habits: `required: true` on the property itself.
        declared_on_property = isinstance(raw, dict) and raw.get("required") is True
        return Parameter(
            name=name,
            location=location,
            required=required or declared_on_property,
            schema=schema,
            description=description,
            deprecated=schema.deprecated,
            pointer=pointer,
        )

    # -- composition -------------------------------------------------------------------------------------------------

    def _with_all_of(self, schema: Schema, raw: dict[str, Json], pointer: str, depth: int) -> Schema:
        if not isinstance(raw["allOf"], list):
            self.report(child(pointer, "allOf"), f"expected a list, found {kind_of(raw['allOf'])}")
        is_null_meant = schema.nullable and not schema.types  # `nullable` beside `allOf`, as OpenAPI 3.0 has it
        for index, member in members(raw, "allOf"):
            place = child(pointer, "allOf", index)
            schema = self._merged(schema, self.schema(member, place, depth + 1), place)
        if is_null_meant and not schema.nullable:
            schema = replace(schema, nullable=True)
        if required := required_names(raw):
            schema = requiring(schema, required)
        return simplified(schema)

    def _with_alternatives(self, schema: Schema, raw: dict[str, Json], pointer: str, depth: int) -> Schema:
        for keyword in ("oneOf", "anyOf"):
            if keyword not in raw:
                continue
            if not isinstance(raw[keyword], list):
                self.report(child(pointer, keyword), f"expected a list, found {kind_of(raw[keyword])}")
                continue
            read = [
                self.schema(member, child(pointer, keyword, index), depth + 1)
                for index, member in members(raw, keyword)
                if not (isinstance(member, dict) and member.get("type") == "null")
            ]
            if len(read) < len(raw[keyword]):
                schema = replace(schema, nullable=True)
            if len(read) == 1:  # "this or null", as Pydantic writes an optional value
                schema = simplified(self._merged(schema, read[0], child(pointer, keyword, 0)))
            elif read:
                choice = one_of_values(read) or Schema(alternatives=tuple(read), is_exclusive=keyword == "oneOf")
                schema = self._merged(schema, choice, child(pointer, keyword))
        return schema

    def _merged(self, schema: Schema, other: Schema, pointer: str) -> Schema:
        found = merged(schema, other)
        if (schema.choices and other.choices and not found.choices) or (found.also and found.also[-1].types):
            self.report(pointer, "no value is what this and what stands beside it ask for")
        return found

    # -- references --------------------------------------------------------------------------------------------------

    def target(self, reference: Json, pointer: str) -> tuple[str, Json] | None:
        """Gives the pointer in the source and the schema that a `$ref` means, or reports that there is none."""
        if reference is None:
            return None
        problems = self._reader.problems
        local = self._places.pointer(reference) if isinstance(reference, str) else None
        if local is None:
            if isinstance(reference, str) and reference.startswith("#"):
                problems.warning("reference-not-found", pointer, f"nothing stands at the $ref {reference[:200]!r}")
            else:
                problems.warning(
                    "reference-not-followed",
                    pointer,
                    f"the $ref {str(reference)[:200]!r} is outside this document",
                    "put the schema into the document",
                )
            return None
        return self._pointer + local, follow(self.root, local)

    def named_at(self, pointer: str) -> Schema | None:
        """Gives a schema that is the type at a pointer of the source, if types stand there."""
        local = pointer.removeprefix(self._pointer)
        if not _HOME_OF_TYPES.match(local):
            return None
        return Schema(ref=self._name_of(f"#{local}", pointer))

    def report(self, pointer: str, message: str) -> None:
        """Reports what makes no sense in a schema."""
        self._reader.problems.warning("schema-invalid", pointer, message)

    def _reference(self, raw: dict[str, Json], pointer: str) -> Schema:
        """Reads a `$ref` that stands alone, or that makes whatever stands beside it ignored."""
        if len(raw) > 1 and not self.ref_siblings:
            self._reader.note_ignored(pointer)
        name = self._name_of(raw["$ref"], pointer)
        return ANYTHING if name is None else _common(ref=name)

    def _with_reference(self, schema: Schema, reference: Json, pointer: str, keyword: str) -> Schema:
        if keyword != "$ref":
            self._reader.problems.info(
                "dynamic-reference", pointer, f"{keyword} is read as a plain $ref", "use $ref where it is meant so"
            )
        name = self._name_of(reference, pointer)
        if name is None:
            return schema
        return replace(schema, ref=name) if schema.ref is None else merged(schema, Schema(ref=name))

    def _name_of(self, reference: Json, pointer: str) -> str | None:
        key = reference if isinstance(reference, str) else repr(reference)
        if key not in self._names:
            self._names[key] = self._claim(self.target(reference, pointer))
        return self._names[key]

    def _claim(self, target: tuple[str, Json] | None) -> str | None:
        if target is None:
            return None
        local = target[0].removeprefix(self._pointer)
        name = unquote(last_token(local)) or self.owner or "root"
        return self._reader._claim(name, _Pending(self, f"#{local}", target[1], target[0]))
