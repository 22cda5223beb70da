"""Reads the schemas of one document into the model, and its named types.

A `SchemaReader` holds the named types of one service. A `SchemaDocument` is one document in which `$ref`s are resolved:
an OpenAPI description, or the input schema of one MCP tool. A type is read once, after the schemas that refer to it, so
that cycles need no special treatment. Nothing here knows what a schema is for.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any
from urllib.parse import unquote

from skillgen.errors import ProblemLog
from skillgen.model.schema import Location, NamedType, Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.values import Json, child, follow, last_token, shorten_pointer
from skillgen.security.addresses import resolve_url
from skillgen.sources.json_access import POINTER_LIMIT, PROPERTIES_LIMIT
from skillgen.sources.json_schema.discriminators import Discriminators
from skillgen.sources.json_schema.keywords import (
    RULES,
    Read,
    array_fields,
    constraints_of,
    kind_of,
    object_fields,
    references,
    required_names,
    rule_fields,
    scalar_fields,
)
from skillgen.sources.json_schema.merge import ANYTHING, merged, with_all_of, with_alternatives

SEARCH_LIMIT = 1_000_000
"""Values of a document that are looked at for anchors and identifiers at the most."""


class Places:
    """The places of one document; nothing is fetched."""

    def __init__(self, root: Json) -> None:
        self._root = root

    def pointer(self, reference: str) -> str | None:
        """Gives the JSON pointer, in the document, of what a reference means; `None` where nothing is there."""
        if reference.startswith("#/") or reference == "#":
            return self._checked(reference[1:])
        identifier = self._root.get("$id") if isinstance(self._root, dict) else None
        base, fragment = resolve_url(identifier if isinstance(identifier, str) else "", reference)
        if fragment and not fragment.startswith("/"):
            return self._named.get(f"{base}#{unquote(fragment)}")
        start = self._named.get(base)
        return None if start is None else self._checked(start + fragment)

    def _checked(self, pointer: str) -> str | None:
        try:
            follow(self._root, pointer)
        except LookupError:
            return None
        return pointer

    @cached_property
    def _named(self) -> dict[str, str]:
        """Identifier, and identifier with `#anchor`, to the pointer of the schema that has it; the first wins."""
        found: dict[str, str] = {}
        for value, pointer, base in self._schemas():
            found.setdefault(base, pointer)
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(anchor := value.get(keyword), str):
                    found.setdefault(f"{base}#{anchor}", pointer)
            if isinstance(old := value.get("$id"), str) and old.startswith("#"):  # draft-07 names places so
                found.setdefault(base + old, pointer)
        return found

    def _schemas(self) -> Iterator[tuple[dict[str, Json], str, str]]:
        """Gives every object with its pointer and its base, the outermost first."""
        waiting: list[tuple[Json, str, str]] = [(self._root, "", "")]
        for value, pointer, base in waiting:
            if len(waiting) > SEARCH_LIMIT:
                return
            if isinstance(value, dict):
                if isinstance(identifier := value.get("$id"), str):
                    base = resolve_url(base, identifier)[0]
                yield value, pointer, base
                waiting.extend((item, child(pointer, key), base) for key, item in value.items())
            elif isinstance(value, list):
                waiting.extend((item, child(pointer, index), base) for index, item in enumerate(value))


_HOMES = frozenset({"$defs", "definitions", "properties", "schemas"})
"""Keywords below which a name stands, whatever it is."""

_STRUCTURE = frozenset(
    {"additionalProperties", "allOf", "anyOf", "contains", "else", "if", "items", "not", "oneOf", "prefixItems"}
    | {"propertyNames", "schema", "then", "unevaluatedItems", "unevaluatedProperties"}
)
"""Keywords that say where a schema stands, and nothing of what it is about."""


def type_name(pointer: str) -> str:
    """Gives the name for the type at a pointer of a document; empty for the document itself.

    The last part is one, but for a keyword or a number: then it is that of the property that it belongs to, or the last
    part of the path whose operation takes or returns it.
    """
    last = unquote(last_token(pointer))
    tokens = pointer.split("/")
    if last not in _STRUCTURE and not last.isdigit():
        return last
    if len(tokens) < 2 or tokens[-2] in _HOMES:
        return last
    for place in range(len(tokens) - 2, 0, -1):
        if tokens[place - 1] in _HOMES:
            return unquote(last_token("/" + tokens[place])) or last
        if tokens[place - 1] == "paths":
            path = unquote(last_token("/" + tokens[place]))
            return next((part for part in reversed(path.split("/")) if part and "{" not in part), last)
    return last


DEPTH_LIMIT = 48
"""Inline nesting beyond which nothing more is read; named types do not count, for they are not nested."""

_SCALAR_KEYWORDS = frozenset(
    {"type", "description", "enum", "default", "format", "example", "title", "nullable", "readOnly", "deprecated"}
)
_COMMON_FIELDS = frozenset({"types", "format", "nullable", "read_only", "deprecated"})
_HOME_OF_TYPES = re.compile(r"/(?:components/schemas|\$defs|definitions)/[^/]+\Z")
_BESIDE_A_REFERENCE = frozenset({"$ref", "$defs", "definitions", "$schema", "$id", "$comment", "$anchor"})


class SchemaDocument:
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
            self._reader.problems.warning(
                "schema-too-deep", shorten_pointer(pointer), message, "shorten the names above it"
            )
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

    def resolve(self, reference: Json, pointer: str) -> tuple[str, Json] | None:
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
            self._names[key] = self._claim(self.resolve(reference, pointer))
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


PLACES_LIMIT = 3
"""Places that one problem on many of them names."""


class SchemaReader:
    """The named types of one service."""

    def __init__(self, problems: ProblemLog) -> None:
        self.problems = problems
        self._types: dict[str, _Pending] = {}
        self._order: list[str] = []
        self._done: dict[str, NamedType] = {}
        self._ignored: list[str] = []

    def open_document(
        self,
        root: Json,
        pointer: str,
        owner: str | None = None,
        *,
        ref_siblings: bool = True,
        reads_xml: bool = False,
    ) -> SchemaDocument:
        """Opens a document at `pointer` of the source; `owner` tells its types from others of the same name.

        `ref_siblings` tells whether what stands beside a `$ref` counts, as it does since draft 2019-09 and in
        OpenAPI 3.1; before, it is ignored. `reads_xml` tells whether what a value is called in XML is kept.
        """
        return SchemaDocument(self, root, pointer, owner, ref_siblings, reads_xml)

    def named_types(self) -> tuple[NamedType, ...]:
        """Reads every type that was referred to, and those that they refer to; sorted by name. It ends the reading."""
        for name in self._order:  # grows while types are read
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
        self._order.clear()
        self._types.clear()  # they lead to their scopes and back, and would keep the whole document
        return tuple(self._done[name] for name in sorted(self._done))

    def note_ignored(self, pointer: str) -> None:
        """Notes that what stands beside the `$ref` at `pointer` is ignored."""
        self._ignored.append(pointer)

    def claim(self, name: str, scope: SchemaDocument, reference: str, raw: Json, pointer: str) -> str:
        """Gives the name under which a type is held: the same for equal types, another where names clash."""
        pending = _Pending(scope, reference, raw, pointer)
        for candidate in _candidate_names(name, scope.owner):
            if candidate not in self._types:
                self._order.append(candidate)
            held = self._types.setdefault(candidate, pending)
            if held is pending or held.same_as(pending):
                return candidate
        raise AssertionError("candidate names never end")


@dataclass(slots=True)
class _Pending:
    """A type that was referred to and will be read."""

    scope: SchemaDocument
    reference: str
    raw: Json
    pointer: str

    def same_as(self, other: _Pending) -> bool:
        if self.scope.root is other.scope.root:
            return self.reference == other.reference
        return self.raw == other.raw and self.scope.closure(self.reference) == other.scope.closure(other.reference)


def report_undescribed(service: Service, problems: ProblemLog) -> None:
    """Reports the parameters and properties without a description, all in one problem (seed 002, 4.3).

    A named type describes what refers to it, and a property describes what an alternative declares of it again.
    """
    types = {item.name: item.schema for item in service.schemas}
    found: dict[str, bool] = {}
    parameters = (*(item.parameters for item in service.tools), *(item.parameters for item in service.prompts))
    for group in (*parameters, *(item.parameters for item in service.events)):
        _note_descriptions(group, frozenset(), types, found)
    for tool in service.tools:
        for output in (tool.output, *tool.other_outputs):
            if output is not None and output.schema is not None:
                _note_inner_descriptions(output.schema, frozenset(), types, found)
    for schema in types.values():
        _note_inner_descriptions(schema, frozenset(), types, found)
    missing = [pointer for pointer, is_described in found.items() if not is_described]
    if missing:
        places = "".join(f", {pointer}" for pointer in missing[1:PLACES_LIMIT])
        more = ", …" if len(missing) > PLACES_LIMIT else ""
        problems.info(
            "properties-undescribed",
            missing[0],
            f"{len(missing):,} of {len(found):,} parameters and properties have no description: this{places}{more}",
            "add a description to each",
        )


def _note_descriptions(
    parameters: Iterable[Parameter], elsewhere: frozenset[str], types: Mapping[str, Schema], found: dict[str, bool]
) -> None:
    """Notes for each parameter and what is inside whether it is described; `elsewhere` are names that are."""
    for item in parameters:
        if item.pointer in found:
            continue
        schema = item.schema
        named = (schema.ref, *schema.includes)
        found[item.pointer] = bool(
            item.description
            or schema.description
            or item.name in elsewhere
            or any(name in types and types[name].description for name in named if name is not None)
        )
        _note_inner_descriptions(schema, frozenset(), types, found)


def _note_inner_descriptions(
    schema: Schema, elsewhere: frozenset[str], types: Mapping[str, Schema], found: dict[str, bool]
) -> None:
    if schema.properties or schema.alternatives or schema.also:
        described = elsewhere | _described_properties(schema, types)
        _note_descriptions(schema.properties, described, types, found)
        for inner in (*schema.alternatives, *schema.also):
            _note_inner_descriptions(inner, described, types, found)
    others = (*schema.prefix_items, *(schema.patterns or {}).values(), schema.items, schema.additional, schema.content)
    for other in others:
        if isinstance(other, Schema):
            _note_inner_descriptions(other, frozenset(), types, found)


def _described_properties(schema: Schema, types: Mapping[str, Schema]) -> set[str]:
    """Returns the names of the properties that a schema, or a type of which it is made, describes."""
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [schema]
    while waiting:
        current = waiting.pop()
        found.update(item.name for item in current.properties if item.description)
        for name in (current.ref, *current.includes):
            if name is not None and name in types and name not in seen:
                seen.add(name)
                waiting.append(types[name])
    return found


def _candidate_names(name: str, owner: str | None) -> Iterator[str]:
    yield name
    if owner is not None:
        yield (name := f"{owner}.{name}")
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1
