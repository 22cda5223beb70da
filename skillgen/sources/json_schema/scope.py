"""One document in which `$ref`s are looked up, and its schemas as the model has them."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from skillgen.model.pointer import child, follow, shortened
from skillgen.model.schema import Location, Parameter, Schema
from skillgen.model.value import Json
from skillgen.sources.bounds import POINTER_LIMIT, PROPERTIES_LIMIT
from skillgen.sources.json_schema.composition import with_all_of, with_alternatives
from skillgen.sources.json_schema.discriminators import Discriminators
from skillgen.sources.json_schema.keywords import constraints_of, kind_of, references, required_names, scalar_fields
from skillgen.sources.json_schema.merging import ANYTHING, merged
from skillgen.sources.json_schema.names import type_name
from skillgen.sources.json_schema.places import Places
from skillgen.sources.json_schema.structure import RULES, Read, array_fields, object_fields, rule_fields

if TYPE_CHECKING:
    from skillgen.sources.json_schema.reader import SchemaReader

DEPTH_LIMIT = 48
"""Inline nesting beyond which nothing more is read; named types do not count, for they are not nested."""

_SCALAR_KEYWORDS = frozenset(
    {"type", "description", "enum", "default", "format", "example", "title", "nullable", "readOnly", "deprecated"}
)
_COMMON_FIELDS = frozenset({"types", "format", "nullable", "read_only", "deprecated"})
_HOME_OF_TYPES = re.compile(r"/(?:components/schemas|\$defs|definitions)/[^/]+\Z")
_BESIDE_A_REFERENCE = frozenset({"$ref", "$defs", "definitions", "$schema", "$id", "$comment", "$anchor"})


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
        if len(pointer) > POINTER_LIMIT:
            message = f"its place in the source takes more than {POINTER_LIMIT:,} characters; the rest is left out"
            self._reader.problems.warning("schema-too-deep", shortened(pointer), message, "shorten the names above it")
            return ANYTHING
        if "$ref" in raw and (not self.ref_siblings or raw.keys() <= _BESIDE_A_REFERENCE):
            return self._reference(raw, pointer)
        fields = scalar_fields(raw, pointer, self.report)
        if raw.keys() <= _SCALAR_KEYWORDS:
            return _scalar(fields)
        fields["constraints"] = self._constraints(raw)

        def read(inner: Json, place: str) -> Schema:
            return self.schema(inner, place, depth + 1)

        self._add_structure(raw, fields, pointer, depth, read)
        schema = Schema(**fields)
        if "allOf" in raw:
            schema = with_all_of(schema, raw, pointer, read, self.report)
        if "oneOf" in raw or "anyOf" in raw:
            schema = with_alternatives(schema, raw, pointer, read, self.report)
        return self._with_links(schema, raw, pointer)

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

    def _add_structure(
        self, raw: dict[str, Json], fields: dict[str, Any], pointer: str, depth: int, read: Read
    ) -> None:
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

    def _constraints(self, raw: dict[str, Json]) -> Mapping[str, Json] | None:
        found = constraints_of(raw)
        if self._reads_xml and isinstance(raw.get("xml"), dict):
            return {**(found or {}), "xml": raw["xml"]}
        return found

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

    def _with_links(self, schema: Schema, raw: dict[str, Json], pointer: str) -> Schema:
        """Adds the named types that stand beside other keywords, and those that a discriminator tells apart."""
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if keyword in raw:
                schema = self._with_reference(schema, raw[keyword], pointer, keyword)
        if "discriminator" in raw:
            local = pointer.removeprefix(self._pointer)
            found = self._discriminators.discriminator(raw, pointer, local, self._name_of, self.report)
            schema = replace(schema, discriminator=found)
        return schema

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
        name = type_name(local) or self.owner or "root"
        return self._reader.claim(name, self, f"#{local}", target[1], target[0])


def _scalar(fields: dict[str, Any]) -> Schema:
    """Gives a schema; one that declares no more than thousands of others is made once."""
    if fields.keys() <= _COMMON_FIELDS:
        return _common(**fields)
    return Schema(**fields)


@functools.lru_cache(4096)
def _common(**fields: Any) -> Schema:
    return Schema(**fields)
