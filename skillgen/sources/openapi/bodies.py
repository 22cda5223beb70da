"""Request bodies of operations, in each of their media types (OpenAPI 3.1, "Request Body Object")."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from skillgen.model.calls import Input
from skillgen.model.schema import Parameter, Schema, Serialization
from skillgen.model.serialization import LINES, RECORDS, is_json_lines, is_json_sequence
from skillgen.model.values import Json, Origin, child
from skillgen.sources.json_access import as_dict, text_of
from skillgen.sources.json_schema.flatten import EMPTY_OBJECT, FlatObject, flatten
from skillgen.sources.json_schema.loader import SchemaDocument
from skillgen.sources.json_schema.merge import ANYTHING
from skillgen.sources.openapi.media import (
    Representation,
    apply_encoding,
    form_type,
    is_binary,
    representations,
    with_positional_encoding,
)
from skillgen.sources.openapi.references import Resolver
from skillgen.text import lazy_re as re


class Body(Struct, frozen=True, kw_only=True):
    """A request body in the terms of the model."""

    parameters: tuple[Parameter, ...] = ()
    """The properties of its recommended representation, or one parameter for the complete body."""

    media_types: tuple[str, ...] = ()
    """The media types in which it can be sent, as declared."""

    input: Input | None = None
    """Its recommended representation, without parameters."""

    other_inputs: tuple[Input, ...] = ()
    """Its other representations, with their parameters."""

    forms: tuple[tuple[Input, Representation], ...] = ()
    """Its representations, each with its parameters; none if there is nothing to send."""

    is_required: bool = False


_STRUCTURED = re.compile(r"json|xml|form", re.IGNORECASE)
_SEQUENCES = ((LINES, is_json_lines), (RECORDS, is_json_sequence))


class BodyReader:
    """Reads request bodies; a type that several of them take is read once."""

    def __init__(self, resolver: Resolver, schemas: SchemaDocument) -> None:
        self._resolver = resolver
        self._schemas = schemas
        self._bodies: dict[tuple[str, bool], FlatObject] = {}

    def body(self, raw: Json, pointer: str, *, sent_by_service: bool = False) -> Body:
        """Reads a request body: its properties, or one parameter `body` if it is not an object.

        With `sent_by_service`, as for a webhook, it has read-only properties and no write-only ones.
        """
        body, pointer = self._resolver.resolve(raw, pointer) if raw is not None else (None, pointer)
        if body is None:
            return Body()
        content = as_dict(body.get("content"))
        if not content:
            self._resolver.problems.report(
                "body-without-content", pointer, "the request body has no media type; left out"
            )
        for name in content:
            if (form := form_type(name)) != name:
                message = f"{name[:60]!r} is not the media type of a form; read as {form}"
                self._resolver.problems.report(
                    "member-coerced", child(pointer, "content", name), message, f"write {form}"
                )
        all_representations = representations(content, child(pointer, "content"), self._resolver)
        for item in all_representations:
            if _STRUCTURED.search(" ".join(item.media_types)) and item.media.keys().isdisjoint(
                ("schema", "itemSchema")
            ):
                message = f"the body of type {', '.join(item.media_types)[:80]} has no schema"
                self._resolver.problems.report("body-untyped", item.pointer, message)
        inputs = [self._input(body, pointer, item, sent_by_service) for item in all_representations]
        if not inputs:
            return Body()
        recommended = next((index for index, item in enumerate(inputs) if item.parameters), 0)
        return Body(
            parameters=inputs[recommended].parameters,
            media_types=tuple(dict.fromkeys(map(form_type, content))),
            input=replace(inputs[recommended], parameters=()),
            other_inputs=tuple(item for index, item in enumerate(inputs) if index != recommended and item.parameters),
            forms=tuple(zip(inputs, all_representations, strict=True)) if inputs[recommended].parameters else (),
            is_required=body.get("required") is True,
        )

    def _input(
        self, body: dict[str, Json], pointer: str, representation: Representation, sent_by_service: bool
    ) -> Input:
        flat = EMPTY_OBJECT
        if "itemSchema" not in representation.media:
            flat = self._flatten(representation.schema, child(representation.pointer, "schema"), sent_by_service)
        parameters = apply_encoding(flat.parameters, representation, self._resolver, self._schemas)
        if "multipart/form-data" in representation.media_types:
            parameters = tuple(map(_with_file, parameters))
        schema = flat.schema if parameters else None
        if not parameters and not _is_empty_object(representation.schema, body):
            parameters = (self._body_parameter(body, pointer, representation),)
        return Input(
            media_types=representation.media_types,
            required=body.get("required") is True,
            description=text_of(body, "description"),
            schema=schema,
            parameters=parameters,
            pointer=representation.pointer,
        )

    def _body_parameter(self, body: dict[str, Json], pointer: str, representation: Representation) -> Parameter:
        schema = representation.read(self._schemas) or ANYTHING
        if schema == ANYTHING and all(map(is_binary, representation.media_types)) and representation.media_types:
            schema = Schema(types=("string",), format="binary")  # the form of a file in 3.1
        style = next((style for style, is_so in _SEQUENCES if any(map(is_so, representation.media_types))), None)
        schema, headers = with_positional_encoding(schema, representation, self._resolver, self._schemas)
        sent = Serialization(style=style, part_headers=headers)
        return Parameter(
            name="body",
            location="body",
            required=body.get("required") is True,
            schema=schema,
            description=text_of(body, "description"),
            serialization=sent if sent != Serialization() else None,
            pointer=pointer,
            origins={"name": Origin("defaulted", "a request body has no name")},
        )

    def _flatten(self, schema: Json, pointer: str, sent_by_service: bool) -> FlatObject:
        key = text_of(schema, "$ref") or pointer, sent_by_service
        if key not in self._bodies:
            self._bodies[key] = _relax_required(flatten(self._schemas, schema, pointer, "body"), sent_by_service)
        return self._bodies[key]


_FILE = re.compile(r"(?:(?:the|a|an) )?(?:binary )?file(?: to (?:be )?upload|[.]?\Z)", re.IGNORECASE)
"""The start of the text of a file."""


def _with_file(item: Parameter) -> Parameter:
    """Returns a field of a form; a string called or explained as a file is one, although 3.0 wants a format for it."""
    is_plain = item.schema == Schema(types=("string",), description=item.schema.description, title=item.schema.title)
    if not is_plain or not (item.name.lower() == "file" or _FILE.match(item.description or "")):
        return item
    origins = {**(item.origins or {}), "schema": Origin("inferred", "the name or the text of a field")}
    return replace(item, schema=replace(item.schema, format="binary"), origins=origins)


def _relax_required(flat: FlatObject, sent_by_service: bool) -> FlatObject:
    """Makes properties optional that are sent in the other direction only.

    A required read-only property is required in responses, a write-only one in requests.
    """
    parameters = []
    for item in flat.parameters:
        is_other_direction = item.schema.write_only if sent_by_service else item.schema.read_only
        parameters.append(replace(item, required=False) if item.required and is_other_direction else item)
    return replace(flat, parameters=tuple(parameters))


def _is_empty_object(schema: Json, body: dict[str, Json]) -> bool:
    """True if an optional body is an object without properties, so that there is nothing to send."""
    return (
        isinstance(schema, dict)
        and schema.get("properties") == {}
        and not schema.get("additionalProperties")
        and body.get("required") is not True
    )
