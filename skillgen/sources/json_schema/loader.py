"""Reads the schemas of one document into the model, and its named types.

A `SchemaReader` holds the named types of one service. A `SchemaDocument` is one document in which `$ref`s are resolved:
an OpenAPI description, or the input schema of one MCP tool. A type is read once, after the schemas that refer to it, so
that cycles need no special treatment. Nothing here knows what a schema is for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain, count, islice
from typing import Any
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.schema import NamedType, Parameter, Schema, Types
from skillgen.model.values import Json, child, follow, last_token, shorten_pointer
from skillgen.security.secrets import resolve_url
from skillgen.sources.json_access import POINTER_LIMIT, PROPERTIES_LIMIT, as_dict
from skillgen.sources.json_schema.keywords import (
    RULE_KEYWORDS,
    DiscriminatorReader,
    ReadSchema,
    array_fields,
    constraints_of,
    kind_of,
    object_fields,
    references,
    required_names,
    rewrite_objects,
    rule_fields,
    scalar_fields,
    scalar_schema,
    schema_members,
    shared_schema,
    values_of,
    with_named_values,
)
from skillgen.sources.json_schema.merge import ANYTHING, merge, with_all_of, with_alternatives
from skillgen.text.markdown import counted

DEPTH_LIMIT = 48
"""Maximum nesting of inline schemas. Named types are not nested, so they do not count."""

_SCANNED_VALUES_LIMIT = 1_000_000
"""Maximum number of values in which anchors and identifiers are searched."""

_SCALAR_KEYWORDS = frozenset(
    {"type", "description", "enum", "default", "format", "example", "title", "nullable", "readOnly", "deprecated"}
)
_TYPE_POINTER = re.compile(r"/(?:components/schemas|\$defs|definitions)/[^/]+\Z")
_ANNOTATION_SIBLINGS = frozenset({"$ref", "$defs", "definitions", "$schema", "$id", "$comment", "$anchor"})
"""Siblings of `$ref` that do not change its meaning."""

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
"""Keywords that refer to a schema; all but the first may depend on the user of the one that has them."""

_SHAPES: dict[str, type] = dict.fromkeys(("allOf", "oneOf", "anyOf"), list)
_SHAPES |= dict.fromkeys(
    ("properties", "patternProperties", "dependentRequired", "dependentSchemas", "dependencies"), dict
)
"""Keywords to the type of their value."""

_ONE_WAY = {"readOnly": "read_only", "writeOnly": "write_only"}

_NAME_CONTAINERS = frozenset({"$defs", "definitions", "properties", "schemas"})
"""Keywords whose members have names chosen by the author."""

_STRUCTURAL_KEYWORDS = frozenset(
    {"additionalProperties", "allOf", "anyOf", "contains", "else", "if", "items", "not", "oneOf", "prefixItems"}
    | {"propertyNames", "schema", "then", "unevaluatedItems", "unevaluatedProperties"}
)
"""Keywords that cannot serve as the name of the schema that they hold."""


class RefIndex:
    """Resolves references in one document: by pointer, `$anchor`, or `$id` (JSON Schema 2020-12, 8.2).

    Nothing is fetched.
    """

    def __init__(self, root: Json, url: str = "") -> None:
        """`url` is that of the document, empty if it is not known."""
        self._root = root
        self._url = url
        self._base = _base_of(root, url)

    def pointer(self, reference: str, holder: str = "") -> str | None:
        """Returns the JSON pointer of the target of a reference; `None` if it is not in the document.

        `holder` is the pointer of the schema with the reference, which is relative to the nearest `$id` above it.
        """
        start, base = self._resource(holder) if holder else ("", self._base)
        if reference.startswith("#/") or reference == "#":
            pointer = start + reference[1:]
        else:
            uri, fragment = resolve_url(base, reference)
            if fragment and not fragment.startswith("/"):
                return self._identifiers[0].get(f"{uri}#{unquote(fragment)}")
            if uri not in self._identifiers[0]:
                return None
            pointer = self._identifiers[0][uri] + fragment
        return pointer if follow(self._root, pointer) is not None else None

    def is_static(self, reference: Json) -> bool:
        """True if one schema alone declares the anchor of a `$dynamicRef`, which is then a `$ref`."""
        _, _, name = str(reference).partition("#")
        return self._identifiers[2].count(name) == 1

    @property
    def has_nested_resources(self) -> bool:
        """True if a schema inside the document has an `$id`."""
        return len(self._identifiers[1]) > 1

    def _resource(self, pointer: str) -> tuple[str, str]:
        """Returns the pointer and the URI of the nearest schema with an `$id`, or of the document."""
        bases = self._identifiers[1]
        while pointer not in bases:
            pointer = pointer.rpartition("/")[0]
        return pointer, bases[pointer]

    @cached_property
    def _identifiers(self) -> tuple[dict[str, str], dict[str, str], list[str]]:
        """Pointers by URI or URI and anchor, URIs of schemas with an `$id` by pointer, and dynamic anchors."""
        pointers, bases, dynamic = {self._url: ""}, {"": self._base}, list[str]()
        queue: list[tuple[Json, str, str, bool]] = [(self._root, "", self._url, False)]
        for value, pointer, base, holds_names in queue:
            if len(queue) > _SCANNED_VALUES_LIMIT:
                break
            if isinstance(value, dict) and not holds_names:
                if (own_base := _base_of(value, base)) != base:
                    base = bases[pointer] = own_base
                    pointers.setdefault(base, pointer)
                for keyword in ("$anchor", "$dynamicAnchor"):
                    if isinstance(anchor := value.get(keyword), str):
                        dynamic += [anchor] if keyword == "$dynamicAnchor" else []
                        pointers.setdefault(f"{base}#{anchor}", pointer)
                # In draft-07 an `$id` that is a fragment is an anchor.
                if isinstance(identifier := value.get("$id"), str) and identifier.startswith("#"):
                    pointers.setdefault(base + identifier, pointer)
            inner = schema_members(value, holds_names)
            queue += [(item, child(pointer, key), base, names) for key, item, names in inner]
        return pointers, bases, dynamic


def rewrite_references(
    root: Json,
    rewritten: Callable[[str, str], str],
    *,
    has_names: bool = True,
    pointer: str = "",
    inlined: Callable[[str, str, bool], Json] | None = None,
) -> Json:
    """Returns a document with new references. `rewritten` takes a reference and the pointer of the schema with it.

    If the document `has_names`, nested `$id`s are removed: they would change the meaning of the new references.
    `inlined` returns what replaces an object with a `$ref`, or `None`. It takes the reference, the pointer of the
    object, and whether its other keys would be names.
    """

    def rewrite(raw: dict[str, Json], pointer: str, is_map: bool) -> Json:
        reference, changed = raw.get("$ref"), dict[str, Json]()
        if inlined is not None and isinstance(reference, str):
            if (new := inlined(reference, pointer, is_map)) is not None:
                return new
        if is_map:
            return raw
        if isinstance(reference, str):
            changed["$ref"] = rewritten(reference, pointer)
        if isinstance(mapping := raw.get("mapping"), dict) and isinstance(raw.get("propertyName"), str):
            changed["mapping"] = {
                name: rewritten(target, pointer) if _is_reference(target) else target
                for name, target in mapping.items()
            }
        changed = {key: new for key, new in changed.items() if new != raw[key]}
        if has_names and pointer and isinstance(identifier := raw.get("$id"), str) and not identifier.startswith("#"):
            raw = {key: value for key, value in raw.items() if key != "$id"}
        return {**raw, **changed} if changed else raw

    return rewrite_objects(root, rewrite, pointer)


def _is_reference(target: Json) -> bool:
    """True if the target of a discriminator's mapping is not the name of a schema."""
    return isinstance(target, str) and ("/" in target or "#" in target or target.endswith((".json", ".yaml")))


def with_root_references(schema: Json) -> Json:
    """Returns a schema with each reference as a pointer from its root, if it has nested `$id`s."""
    inside = [*schema.values()] if isinstance(schema, dict) else []
    if not any(values_of(inside, "$id")) or not (index := RefIndex(schema)).has_nested_resources:
        return schema

    def rewritten(reference: str, holder: str) -> str:
        pointer = index.pointer(reference, holder)
        return reference if pointer is None else f"#{pointer}"

    return rewrite_references(schema, rewritten)


def _base_of(value: Json, base: str) -> str:
    """Returns the URI to which the references in a schema are relative."""
    identifier = value.get("$id") if isinstance(value, dict) else None
    if not isinstance(identifier, str) or identifier.startswith("#"):
        return base
    return resolve_url(base, identifier)[0]


def _type_name(pointer: str) -> str:
    """Returns a name for the type at a pointer of a document; empty for the document itself.

    This is the last token of the pointer. If that is a keyword or an index, it is the name of the property that holds
    the schema, or the last part of the path whose operation takes or returns it.
    """
    last = unquote(last_token(pointer))
    tokens = pointer.split("/")
    is_keyword = last in _STRUCTURAL_KEYWORDS or last.isdigit()
    if not is_keyword or len(tokens) < 2 or tokens[-2] in _NAME_CONTAINERS:
        return last
    for index in range(len(tokens) - 2, 0, -1):
        if tokens[index - 1] in _NAME_CONTAINERS:
            return unquote(last_token("/" + tokens[index])) or last
        if tokens[index - 1] == "paths":
            path = unquote(last_token("/" + tokens[index]))
            return next((part for part in reversed(path.split("/")) if part and "{" not in part), last)
    return last


class SchemaDocument(Struct, kw_only=True, eq=False):
    """One document in which `$ref`s are resolved."""

    reader: SchemaReader
    json: Json
    pointer: str
    owner: str | None
    ref_siblings: bool
    reads_xml: bool
    refs: RefIndex
    discriminators: DiscriminatorReader
    names: dict[str, str | None]
    inline_targets: frozenset[str]
    """The pointers of schemas to which a `$ref` points although they have no name of their own. Generators write such a
    `$ref` where a schema occurs for the second time."""

    def closure(self, reference: str) -> dict[str, Json]:
        """Returns every `$ref` that can be reached from one, with its schema."""
        schemas: dict[str, Json] = {}
        stack = [reference]
        while stack:
            if (current := stack.pop()) not in schemas:
                schemas[current] = follow(self.json, current.removeprefix("#"))
                stack.extend(references(schemas[current]))
        return schemas

    def schema(self, raw: Json, pointer: str, depth: int = 0) -> Schema:
        """Reads one schema; invalid parts are reported and left out."""
        if raw is True or raw == {}:
            return ANYTHING
        if raw is False:
            return Schema(choices=())
        if not isinstance(raw, dict):
            self.report(pointer, f"expected a schema, found {kind_of(raw)}")
            return ANYTHING
        if depth > DEPTH_LIMIT or len(pointer) > POINTER_LIMIT:
            message = f"nested more than {DEPTH_LIMIT} levels deep, or its pointer exceeds {POINTER_LIMIT:,} characters"
            where = pointer if len(pointer) <= POINTER_LIMIT else shorten_pointer(pointer)
            self.report(where, f"{message}; the rest is left out", "schema-too-deep")
            return ANYTHING
        if "$ref" in raw and (not self.ref_siblings or raw.keys() <= _ANNOTATION_SIBLINGS):
            return self._reference(raw, pointer)
        if self.inline_targets and pointer.removeprefix(self.pointer) in self.inline_targets:
            return self._reference_to_itself(raw, pointer)
        return self.own_schema(raw, pointer, depth)

    def own_schema(self, raw: dict[str, Json], pointer: str, depth: int = 0) -> Schema:
        """Reads a schema that is not only a `$ref`, in its own place."""
        raw = with_named_values(raw)
        for keyword, shape in _SHAPES.items():
            if keyword in raw and not isinstance(raw[keyword], shape):
                message = f"expected {kind_of(shape())}, found {kind_of(raw[keyword])}"
                self.report(f"{pointer}/{keyword}", message)
                raw = {key: value for key, value in raw.items() if key != keyword}

        fields = scalar_fields(raw, pointer, self.report)
        if _SCALAR_KEYWORDS.issuperset(raw):
            return scalar_schema(fields)
        fields["constraints"] = constraints_of(raw, reads_xml=self.reads_xml)

        def read(inner: Json, inner_pointer: str) -> Schema:
            return self.schema(inner, inner_pointer, depth + 1)

        self._add_structure(raw, fields, pointer, depth, read)
        schema = Schema(**fields)
        if "allOf" in raw:
            schema = with_all_of(schema, raw, pointer, read, self.report)
        if "oneOf" in raw or "anyOf" in raw:
            schema = with_alternatives(schema, raw, pointer, read, self.report)
        schema = self.with_unevaluated(schema, raw, pointer)
        for keyword in _REFERENCES:
            if keyword not in raw:
                continue
            if keyword != "$ref" and not self.refs.is_static(raw[keyword]):
                message = f"{keyword} is read as any value, since what it refers to depends on the user of the schema"
                self.report(pointer, message, "dynamic-reference")
            elif (name := self._name_of(raw[keyword], pointer)) is not None:
                schema = replace(schema, ref=name) if schema.ref is None else merge(schema, Schema(ref=name))
        if "discriminator" in raw:
            schema = replace(schema, discriminator=self.discriminators.read(raw, pointer, self._name_of, self.report))
        return schema

    def with_unevaluated(self, schema: Schema, raw: dict[str, Json], pointer: str) -> Schema:
        """Returns a schema with the rules for properties and items that no part of it evaluates.

        A part that says something of all other ones evaluates them (JSON Schema 2020-12, 11).
        """
        if "unevaluatedProperties" in raw and all(item.additional is None for item in (schema, *schema.alternatives)):
            schema = replace(schema, **object_fields(raw, pointer, self.schema, "unevaluatedProperties"))
        if raw.get("unevaluatedItems", True) is not True and schema.items is None:
            schema = replace(schema, items=self.schema(raw["unevaluatedItems"], f"{pointer}/unevaluatedItems"))
        return schema

    def _properties(
        self, raw: Mapping[str, Json], pointer: str, depth: int, required: frozenset[str]
    ) -> tuple[Parameter, ...]:
        properties, place = raw["properties"], f"{pointer}/properties"
        if isinstance(raw.get("required"), str):  # a boolean is common, from draft 3, and plain in its meaning
            self.report(f"{pointer}/required", "expected a list of names, found a string; ignored")
        if len(properties) > PROPERTIES_LIMIT:
            message = f"has {len(properties):,} properties; the first {PROPERTIES_LIMIT:,} are read"
            self.report(place, message, "schema-too-large")
        return tuple(
            self._property(name, item, child(place, name), name in required, depth)
            for name, item in islice(properties.items(), PROPERTIES_LIMIT)
        )

    def _add_structure(
        self, raw: dict[str, Json], fields: dict[str, Any], pointer: str, depth: int, read: ReadSchema
    ) -> None:
        required = required_names(raw) if "required" in raw else ()
        if "properties" in raw:
            fields["properties"] = self._properties(raw, pointer, depth, frozenset(required))
            declared = {item.name for item in fields["properties"]} if required else ()
            required = tuple(name for name in required if name not in declared)
        if required:
            fields["required"] = required
        if "additionalProperties" in raw:
            fields |= object_fields(raw, pointer, read)
        if "items" in raw or "prefixItems" in raw:
            fields |= array_fields(raw, pointer, read)
        if not RULE_KEYWORDS.isdisjoint(raw):
            fields |= rule_fields(raw, pointer, read)

    def _property(self, name: str, raw: Json, pointer: str, required: bool, depth: int) -> Parameter:
        if isinstance(raw, dict) and raw and _SCALAR_KEYWORDS.issuperset(raw):  # most are, and `replace` is slow
            fields = scalar_fields(raw, pointer, self.report)
            description = fields.pop("description", None)
            schema = scalar_schema(fields)
        else:
            schema = self.schema(raw, pointer, depth + 1)
            if schema.ref is not None and (flags := self.reader.one_way(schema.ref)):
                schema = replace(schema, **flags)
            description = schema.description
            if description is not None:
                schema = replace(schema, description=None)
        # In draft-03, and in many later schemas, a property itself has `required: true`.
        is_marked_required = isinstance(raw, dict) and raw.get("required") is True
        return Parameter(
            name=name,
            location="property",
            required=required or is_marked_required,
            schema=schema,
            description=description,
            deprecated=schema.deprecated,
            pointer=pointer,
        )

    def resolve(self, reference: Json, pointer: str) -> tuple[str, Json] | None:
        """Returns the pointer in the source and the schema of the target of a `$ref`; `None` without a `$ref`.

        A target that is not in the document is reported.
        """
        if reference is None:
            return None
        local = self.refs.pointer(reference) if isinstance(reference, str) else None
        if local is None:
            written = str(reference)[:200]
            code, fault = "reference-not-followed", "is outside this document"
            if written.startswith("#"):
                code, fault = "reference-not-found", "points to nothing"
            self.report(pointer, f"the $ref {written!r} {fault}", code)
            return None
        return self.pointer + local, follow(self.json, local)

    def selected_by(self, raw: dict[str, Json], pointer: str, references: Sequence[str]) -> tuple[str, str] | None:
        """Returns the name and the value of the discriminator of a schema that select the first of some types."""
        name, values = self.discriminators.selecting(raw, pointer)
        value = next((values[target] for target in references if target in values), None)
        return None if value is None else (name, value)

    def type_at(self, pointer: str) -> Schema | None:
        """Returns a reference to the type at a pointer of the source; `None` if no named type is there."""
        local = pointer.removeprefix(self.pointer)
        if not _TYPE_POINTER.match(local):
            return None
        return Schema(ref=self._name_of(f"#{local}", pointer))

    def report(self, pointer: str, message: str, code: str = "schema-invalid") -> None:
        """Reports an invalid part of a schema."""
        self.reader.problems.report(code, pointer, message)

    def _reference(self, raw: dict[str, Json], pointer: str) -> Schema:
        """Reads a `$ref` without siblings, or one whose siblings are ignored."""
        if len(raw) > 1 and not self.ref_siblings:
            self.reader.ignored.append(pointer)
        name = self._name_of(raw["$ref"], pointer)
        return ANYTHING if name is None else shared_schema(ref=name)

    def _reference_to_itself(self, raw: dict[str, Json], pointer: str) -> Schema:
        """Reads a schema to which a `$ref` elsewhere points: its place refers to it, too, so that it is read once."""
        name = self._name_of(f"#{pointer.removeprefix(self.pointer)}", pointer)
        description = raw.get("description")
        return Schema(ref=name, description=description if isinstance(description, str) else None)

    def _name_of(self, reference: Json, pointer: str) -> str | None:
        key = reference if isinstance(reference, str) else repr(reference)
        if key not in self.names:
            self.names[key] = self._register(self.resolve(reference, pointer))
        return self.names[key]

    def _register(self, target: tuple[str, Json] | None) -> str | None:
        if target is None:
            return None
        local = target[0].removeprefix(self.pointer)
        seen = {local}
        while not _TYPE_POINTER.match(local) and _is_alias(target[1]):
            further = self.refs.pointer(target[1]["$ref"])
            if further is None or further in seen:
                break
            seen.add(further)
            local, target = further, (self.pointer + further, follow(self.json, further))
        return self.reader.register(_type_name(local) or self.owner or "root", self, f"#{local}", target[1], target[0])


def _is_alias(raw: Json) -> bool:
    """True if a schema is only a `$ref`."""
    return isinstance(raw, dict) and raw.keys() == {"$ref"} and isinstance(raw["$ref"], str)


class SchemaReader:
    """The named types of one service."""

    def __init__(self, problems: ProblemLog) -> None:
        self.problems = problems
        self._types: dict[str, _PendingType] = {}
        self._order: list[str] = []
        self._done: dict[str, NamedType] = {}
        self.ignored: list[str] = []
        """Pointers of the `$ref`s with siblings that are ignored."""

    def open_document(
        self, root: Json, pointer: str, owner: str | None = None, *, ref_siblings: bool = True, reads_xml: bool = False
    ) -> SchemaDocument:
        """Opens a document at `pointer` of the source; `owner` distinguishes its types from others of the same name.

        `ref_siblings` is true if keywords next to a `$ref` apply, as since draft 2019-09 and in OpenAPI 3.1; earlier
        versions ignore them. With `reads_xml` the `xml` objects of the schemas are read.
        """
        return SchemaDocument(
            reader=self,
            json=root,
            pointer=pointer,
            owner=owner,
            ref_siblings=ref_siblings,
            reads_xml=reads_xml,
            refs=RefIndex(root),
            discriminators=DiscriminatorReader(root, pointer),
            names={},
            inline_targets=_inline_targets(root) if owner is not None else frozenset(),
        )

    def named_types(self) -> tuple[NamedType, ...]:
        """Reads every type to which a schema or another type refers; returns them sorted by name."""
        for name in self._order:  # grows while types are read
            self.named_type(name)
        if self.ignored:
            message = "OpenAPI before 3.1 and JSON Schema before 2019-09 ignore keywords next to a $ref, here in"
            places = counted(len(self.ignored), "place")
            self.problems.report("reference-siblings-ignored", self.ignored[0], f"{message} {places}")
        self._types.clear()  # they hold their documents, which hold this reader
        return tuple(self._done[name] for name in sorted(self._done))

    @property
    def types(self) -> Types:
        """The named types, each read when it is asked for."""
        return Types(lambda name: self.named_type(name).schema)

    def named_type(self, name: str) -> NamedType:
        """Returns the type to which schemas refer by a name; it is read once."""
        if name not in self._done:
            pending = self._types[name]
            is_inline = pending.reference.removeprefix("#") in pending.root.inline_targets
            read = pending.root.own_schema if is_inline else pending.root.schema
            schema = read(pending.raw, pending.pointer)
            self._done[name] = NamedType(name=name, schema=schema, pointer=pending.pointer)
        return self._done[name]

    def one_way(self, name: str) -> dict[str, bool]:
        """Returns the fields of a property of a type that is only returned, or only sent."""
        raw = as_dict(self._types[name].raw)
        return {field: True for key, field in _ONE_WAY.items() if raw.get(key) is True}

    def register(self, name: str, root: SchemaDocument, reference: str, raw: Json, pointer: str) -> str:
        """Returns the name of a type in the model: the same for equal types, another if different types have it."""
        pending = _PendingType(root, reference, raw, pointer)
        own_name = name if root.owner is None else f"{root.owner}.{name}"
        for candidate in chain((name, own_name), (f"{own_name}-{number}" for number in count(2))):
            if candidate not in self._types:
                self._order.append(candidate)
            registered = self._types.setdefault(candidate, pending)
            if registered is pending or registered.is_same_as(pending):
                return candidate
        raise AssertionError("there is always another candidate")


def _inline_targets(root: Json) -> frozenset[str]:
    targets: set[str] = set()
    for pointer in {reference.removeprefix("#") for reference in references(root)}:
        if pointer.startswith("/") and not _TYPE_POINTER.match(pointer):
            raw = follow(root, pointer)
            if isinstance(raw, dict) and not _is_alias(raw) and not raw.keys() <= _SCALAR_KEYWORDS:
                targets.add(pointer)
    return frozenset(targets)


class _PendingType(Struct):
    """A type to which a schema refers and that will be read."""

    root: SchemaDocument
    reference: str
    raw: Json
    pointer: str

    def is_same_as(self, other: _PendingType) -> bool:
        if self.root.json is other.root.json:
            return self.reference == other.reference
        return self.raw == other.raw and self.root.closure(self.reference) == other.root.closure(other.reference)
