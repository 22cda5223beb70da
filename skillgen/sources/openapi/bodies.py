"""Reads the request body of operations, in each of its forms (OpenAPI 3.1, "Request Body Object")."""

from __future__ import annotations

from dataclasses import dataclass, replace

from skillgen.errors import ProblemLog
from skillgen.model.calls import Input
from skillgen.model.schema import Parameter, Schema, Serialization
from skillgen.model.serialization import LINES, RECORDS, is_json_sequence
from skillgen.model.values import Json, Origin, child
from skillgen.sources.json_access import as_dict, text_of
from skillgen.sources.json_schema.flatten import EMPTY_OBJECT, FlatObject, flatten
from skillgen.sources.json_schema.loader import SchemaDocument
from skillgen.sources.openapi.media import Representation, apply_encoding, is_json_lines, part_headers, representations
from skillgen.sources.openapi.references import Resolver


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What a request body comes to."""

    parameters: tuple[Parameter, ...] = ()
    """The properties of its recommended form, or that form itself."""

    media_types: tuple[str, ...] = ()
    """The media types in which it can be sent, as declared."""

    input: Input | None = None
    """Its recommended form as a whole."""

    others: tuple[Input, ...] = ()
    """The forms that differ from it."""

    raw: Json = None
    """Its schema, raw; those of its forms as alternatives where it has several."""

    declared: Json = None
    """The body as the document has it; `None` where there is nothing to send."""

    pointer: str = ""
    """Where that stands."""

    is_required: bool = False
    """Whether a request without it is invalid."""


_SEQUENCES = ((LINES, is_json_lines), (RECORDS, is_json_sequence))


class BodyReader:
    """Reads request bodies; a type that several take is read once."""

    def __init__(self, resolver: Resolver, schemas: SchemaDocument, problems: ProblemLog) -> None:
        self._resolver = resolver
        self._schemas = schemas
        self._problems = problems
        self._bodies: dict[tuple[str, bool], FlatObject] = {}

    def body(self, raw: Json, pointer: str, *, by_service: bool = False) -> Body:
        """Reads a request body in each of its forms: its properties, or one parameter `body` where it has none.

        `by_service` tells that the service sends it: then what is only returned is in it, and what is only sent is not.
        """
        body, pointer = self._resolver.resolve(raw, pointer) if raw is not None else (None, pointer)
        if body is None:
            return Body()
        content = as_dict(body.get("content"))
        if not content:
            self._problems.warning(
                "body-without-content", pointer, "the request body has no media type; left out", "add `content`"
            )
        found = tuple(representations(content, child(pointer, "content"), self._resolver))
        inputs = [self._input(body, pointer, form, by_service) for form in found]
        if not inputs:
            return Body()
        first = next((index for index, item in enumerate(inputs) if item.parameters), 0)
        return Body(
            parameters=inputs[first].parameters,
            media_types=tuple(content),
            input=replace(inputs[first], parameters=()),
            others=tuple(item for index, item in enumerate(inputs) if index != first and item.parameters),
            raw=_any_of([form.schema for form in found]),
            declared=body if inputs[first].parameters else None,
            pointer=pointer,
            is_required=body.get("required") is True,
        )

    def _input(self, body: dict[str, Json], pointer: str, form: Representation, by_service: bool) -> Input:
        is_sequence = "itemSchema" in form.media
        place = child(form.pointer, "schema")
        collected = EMPTY_OBJECT if is_sequence else self._collected(form.schema, place, by_service)
        parameters, whole = apply_encoding(collected.parameters, form.media.get("encoding")), collected.schema
        if not parameters:
            whole = None
            if not _is_nothing(form.schema, body):
                parameters = (self._whole_body(body, pointer, form),)
        return Input(
            media_types=form.media_types,
            required=body.get("required") is True,
            description=text_of(body, "description"),
            schema=whole,
            parameters=parameters,
            pointer=form.pointer,
        )

    def _whole_body(self, body: dict[str, Json], pointer: str, form: Representation) -> Parameter:
        return Parameter(
            name="body",
            location="body",
            required=body.get("required") is True,
            schema=form.read(self._schemas) or Schema(),
            description=text_of(body, "description"),
            serialization=_serialization_of_whole(form),
            pointer=pointer,
            origins={"name": Origin("defaulted", "a request body has no name")},
        )

    def _collected(self, schema: Json, pointer: str, by_service: bool) -> FlatObject:
        reference = text_of(schema, "$ref")
        if reference is None:
            return _without_unsendable_requirements(flatten(self._schemas, schema, pointer, "body"), by_service)
        if (reference, by_service) not in self._bodies:
            collected = flatten(self._schemas, schema, pointer, "body")
            self._bodies[reference, by_service] = _without_unsendable_requirements(collected, by_service)
        return self._bodies[reference, by_service]


def _without_unsendable_requirements(collected: FlatObject, by_service: bool) -> FlatObject:
    """Gives properties that only go the other way as not required: what requires them speaks of what is sent there."""

    def is_asked_elsewhere(item: Parameter) -> bool:
        return item.required and (item.schema.write_only if by_service else item.schema.read_only)

    if not any(map(is_asked_elsewhere, collected.parameters)):
        return collected
    parameters = tuple(
        replace(item, required=False) if is_asked_elsewhere(item) else item for item in collected.parameters
    )
    return replace(collected, parameters=parameters)


def _any_of(schemas: list[Json]) -> Json:
    """Returns one schema that allows what any of these does; one that is not declared allows anything."""
    if None in schemas or len(schemas) == 1:
        return schemas[0] if None not in schemas else {}
    return {"anyOf": schemas}


def _serialization_of_whole(form: Representation) -> Serialization | None:
    style = next((style for style, is_so in _SEQUENCES if any(map(is_so, form.media_types))), None)
    headers = part_headers(form.media)
    return Serialization(style=style, headers=headers) if style is not None or headers else None


def _is_nothing(schema: Json, body: dict[str, Json]) -> bool:
    """Tells whether an optional body is an object that declares no property: there is nothing to send."""
    return (
        isinstance(schema, dict)
        and schema.get("properties") == {}
        and not schema.get("additionalProperties")
        and body.get("required") is not True
    )
