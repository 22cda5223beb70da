"""Reads JSON Schemas into the model: 2020-12 and draft-07 (MCP), and the schema objects of OpenAPI 3.0 and 3.1.

A `SchemaReader` holds the named types of one service; a `Scope` is one document in which `$ref`s are looked up: an
OpenAPI description, or the input schema of one MCP tool. A type that is referred to is read once, after whatever
refers to it, so that cycles are ordinary. Nothing here knows what the schema is for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from skillgen.errors import ProblemLog
from skillgen.model.pointer import child, follow, last_token
from skillgen.model.schema import Location, NamedType, Parameter, Schema
from skillgen.model.value import Json
from skillgen.sources.schema_keywords import (
    constraints_of,
    kind_of,
    members,
    references,
    required_names,
    scalar_fields,
)
from skillgen.sources.schema_merge import either, merged, requiring, simplified

COLLECT_LIMIT = 5_000
"""Schemas from which the parameters of one tool are gathered at the most."""

DEPTH_LIMIT = 48
"""Inline nesting beyond which nothing more is read; named types do not count, for they are not nested."""

_SCALAR_KEYWORDS = frozenset({"type", "description", "enum", "default", "format", "example", "title"})


class SchemaReader:
    """The named types of one service."""

    def __init__(self, problems: ProblemLog) -> None:
        self.problems = problems
        self._types: dict[str, _Pending] = {}
        self._done: dict[str, NamedType] = {}

    def scope(self, root: Json, pointer: str, owner: str | None = None) -> Scope:
        """Opens a document at `pointer` of the source; `owner` tells its types from others of the same name."""
        return Scope(self, root, pointer, owner)

    def named_types(self) -> tuple[NamedType, ...]:
        """Reads every type that was referred to, and those that they refer to; sorted by name."""
        while waiting := [name for name in self._types if name not in self._done]:
            for name in waiting:
                pending = self._types[name]
                self._done[name] = NamedType(
                    name=name,
                    schema=pending.scope.schema(pending.raw, pending.pointer),
                    raw=pending.raw,
                    pointer=pending.pointer,
                )
        return tuple(self._done[name] for name in sorted(self._done))

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


class Scope:
    """One document in which `$ref`s are looked up."""

    def __init__(self, reader: SchemaReader, root: Json, pointer: str, owner: str | None) -> None:
        self.root = root
        self.owner = owner
        self._reader = reader
        self._pointer = pointer
        self._names: dict[str, str | None] = {}
        self._collected = 0

    def schema(self, raw: Json, pointer: str, depth: int = 0) -> Schema:
        """Reads one schema; what makes no sense in it is reported and left out."""
        if raw is True or raw == {}:
            return Schema()
        if raw is False:
            return Schema(choices=())
        if not isinstance(raw, dict):
            self._report(pointer, f"expected a schema, found {kind_of(raw)}")
            return Schema()
        if depth > DEPTH_LIMIT:
            self._reader.problems.warning(
                "schema-too-deep", pointer, f"nested more than {DEPTH_LIMIT} levels deep; the rest is left out"
            )
            return Schema()
        fields = scalar_fields(raw, pointer, self._report)
        if raw.keys() <= _SCALAR_KEYWORDS:
            return Schema(**fields)
        fields["constraints"] = constraints_of(raw)
        self._add_object(raw, fields, pointer, depth)
        self._add_array(raw, fields, pointer, depth)
        schema = Schema(**fields)
        if "allOf" in raw:
            schema = self._with_all_of(schema, raw, pointer, depth)
        if "oneOf" in raw or "anyOf" in raw:
            schema = self._with_alternatives(schema, raw, pointer, depth)
        if "$ref" in raw:
            schema = self._with_reference(schema, raw["$ref"], pointer)
        return schema

    def parameters(self, raw: Json, pointer: str, location: Location = "argument") -> tuple[Parameter, ...]:
        """Reads the properties of an object schema as parameters, through `$ref`, `allOf` and alternatives.

        A property of an alternative is required where every alternative requires it.
        """
        found: dict[str, Parameter] = {}
        self._collected = 0
        required = self._collect(raw, pointer, location, found, set())
        return tuple(
            parameter if parameter.required == (name in required) else replace(parameter, required=name in required)
            for name, parameter in found.items()
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

    def _add_object(self, raw: dict[str, Json], fields: dict[str, Any], pointer: str, depth: int) -> None:
        if "properties" in raw:
            fields["properties"] = self._properties(raw, pointer, "property", depth)
        additional = raw.get("additionalProperties")
        if additional is None and isinstance(patterns := raw.get("patternProperties"), dict) and len(patterns) == 1:
            (pattern,) = patterns
            fields["additional"] = self.schema(
                patterns[pattern], child(pointer, "patternProperties", pattern), depth + 1
            )
        elif isinstance(additional, dict) and additional:
            fields["additional"] = self.schema(additional, child(pointer, "additionalProperties"), depth + 1)
        elif additional is not None:
            fields["additional"] = additional is not False

    def _add_array(self, raw: dict[str, Json], fields: dict[str, Any], pointer: str, depth: int) -> None:
        items, prefix = raw.get("items"), raw.get("prefixItems")
        if isinstance(items, list):  # draft-07 has the positional form here
            items, prefix = raw.get("additionalItems"), items
        if isinstance(prefix, list):
            fields["prefix_items"] = tuple(
                self.schema(item, child(pointer, "prefixItems", index), depth + 1) for index, item in enumerate(prefix)
            )
        if items is not None and items is not True:
            fields["items"] = self.schema(items, child(pointer, "items"), depth + 1)

    def _properties(
        self, raw: Mapping[str, Json], pointer: str, location: Location, depth: int
    ) -> tuple[Parameter, ...]:
        properties = raw.get("properties")
        if not isinstance(properties, dict):
            self._report(child(pointer, "properties"), f"expected an object, found {kind_of(properties)}")
            return ()
        required = required_names(raw)
        return tuple(
            self._property(name, item, child(pointer, "properties", name), location, name in required, depth)
            for name, item in properties.items()
        )

    def _property(
        self, name: str, raw: Json, pointer: str, location: Location, required: bool, depth: int
    ) -> Parameter:
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

    def _with_reference(self, schema: Schema, reference: Json, pointer: str) -> Schema:
        name = self._name_of(reference, pointer)
        return replace(schema, ref=name) if name is not None else schema

    def _with_all_of(self, schema: Schema, raw: dict[str, Json], pointer: str, depth: int) -> Schema:
        if not isinstance(raw["allOf"], list):
            self._report(child(pointer, "allOf"), f"expected a list, found {kind_of(raw['allOf'])}")
        for index, member in members(raw, "allOf"):
            schema = merged(schema, self.schema(member, child(pointer, "allOf", index), depth + 1))
        if required := required_names(raw):
            schema = requiring(schema, required)
        return simplified(schema)

    def _with_alternatives(self, schema: Schema, raw: dict[str, Json], pointer: str, depth: int) -> Schema:
        for keyword in ("oneOf", "anyOf"):
            if keyword not in raw:
                continue
            if not isinstance(raw[keyword], list):
                self._report(child(pointer, keyword), f"expected a list, found {kind_of(raw[keyword])}")
                continue
            read = [
                self.schema(member, child(pointer, keyword, index), depth + 1)
                for index, member in members(raw, keyword)
                if not (isinstance(member, dict) and member.get("type") == "null")
            ]
            if len(read) < len(raw[keyword]):
                schema = replace(schema, nullable=True)
            if len(read) == 1:  # "this or null", as Pydantic writes an optional value
                schema = simplified(merged(schema, read[0]))
            else:
                schema = replace(schema, alternatives=(*schema.alternatives, *read))
        discriminator = raw.get("discriminator")
        if isinstance(discriminator, dict) and isinstance(discriminator.get("propertyName"), str):
            schema = replace(schema, discriminator=discriminator["propertyName"])
        return schema

    def _collect(
        self,
        raw: Json,
        pointer: str,
        location: Location,
        found: dict[str, Parameter],
        seen: set[int],
        settled: frozenset[str] | None = None,
    ) -> frozenset[str]:
        """Gathers properties into `found`; gives the names that are required.

        The first of a name wins. `settled` is given for an alternative: the names that the object has whichever is
        taken; of any other, each alternative may have it its own way.
        """
        if not isinstance(raw, dict) or id(raw) in seen or self._collected > COLLECT_LIMIT:
            return frozenset()
        seen.add(id(raw))  # alternatives may share a part, so each has a set of its own, and the whole is bounded
        self._collected += 1
        required = required_names(raw)
        if "properties" in raw:
            for parameter in self._properties(raw, pointer, location, 0):
                held = found.setdefault(parameter.name, parameter)
                if held is not parameter and settled is not None and parameter.name not in settled:
                    found[parameter.name] = replace(held, schema=either(held.schema, parameter.schema))
                if parameter.required:
                    required |= {parameter.name}
        if (target := self._target(raw.get("$ref"), pointer)) is not None:
            required |= self._collect(target[1], target[0], location, found, seen, settled)
        for index, member in members(raw, "allOf"):
            required |= self._collect(member, child(pointer, "allOf", index), location, found, seen, settled)
        own = frozenset(found) if settled is None else settled
        for keyword in ("oneOf", "anyOf"):
            sets = [
                self._collect(member, child(pointer, keyword, index), location, found, set(seen), own)
                for index, member in members(raw, keyword)
            ]
            if sets:
                required |= frozenset.intersection(*sets)
        return required

    # -- references --------------------------------------------------------------------------------------------------

    def _target(self, reference: Json, pointer: str) -> tuple[str, Json] | None:
        """Gives the pointer in the source and the schema that a `$ref` means, or reports that there is none."""
        if reference is None:
            return None
        if not isinstance(reference, str) or not reference.startswith("#"):
            self._reader.problems.warning(
                "reference-not-followed",
                pointer,
                f"the $ref {str(reference)[:200]!r} is outside this document",
                "put the schema into the document",
            )
            return None
        local = reference[1:]
        try:
            return self._pointer + local, follow(self.root, local)
        except LookupError:
            self._reader.problems.warning(
                "reference-not-found", pointer, f"nothing stands at the $ref {reference[:200]!r}"
            )
            return None

    def _name_of(self, reference: Json, pointer: str) -> str | None:
        key = reference if isinstance(reference, str) else repr(reference)
        if key not in self._names:
            self._names[key] = self._claim(key, pointer, self._target(reference, pointer))
        return self._names[key]

    def _claim(self, reference: str, pointer: str, target: tuple[str, Json] | None) -> str | None:
        if target is None:
            return None
        name = unquote(last_token(reference.removeprefix("#"))) or self.owner or "root"
        return self._reader._claim(name, _Pending(self, reference, target[1], target[0]))

    def _report(self, pointer: str, message: str) -> None:
        self._reader.problems.warning("schema-invalid", pointer, message)
