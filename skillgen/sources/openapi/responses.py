"""Media types, their examples and the serialisation of values; and responses, which consist of these.

Media types with equal schemas and encodings are one `Representation`. JSON comes first. Styles and encodings follow
OpenAPI 3.2, "Style Values" and "Encoding Object". Responses say what an operation returns, how it fails, and how to get
the next page (OpenAPI 3.1, "Responses Object"), for which OpenAPI has no field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from typing import Any
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.calls import ErrorCase, ExampleOutput, Link, Output, Pagination
from skillgen.model.schema import Location, Parameter, Schema, Serialization, Types
from skillgen.model.serialization import URL_ENCODED, default_style, is_exploded, is_json, media_kind
from skillgen.model.values import Json, Value, child, follow
from skillgen.sources.examples.validation import why_unpublishable
from skillgen.sources.json_access import as_dict, json_from_text, text_of
from skillgen.sources.json_schema.loader import SchemaDocument
from skillgen.sources.json_schema.merge import merge
from skillgen.sources.openapi.references import Resolver
from skillgen.text import lazy_re as re
from skillgen.text.summary import join_texts


class Representation(Struct, frozen=True):
    """Media types with equal content."""

    media: dict[str, Json]
    """The media type object of the first."""

    pointer: str
    """The pointer of that object."""

    contents: dict[str, tuple[dict[str, Json], str]]
    """The media type objects, each with its pointer, by name; the recommended one first. The name is empty if a Swagger
    2.0 description names no media type."""

    @property
    def media_types(self) -> tuple[str, ...]:
        """The names of the media types."""
        return tuple(filter(None, self.contents))

    @property
    def schema(self) -> Json:
        """The raw schema of the complete content: a sequence is an array of its items (OpenAPI 3.2)."""
        schema, item = self.media.get("schema"), self.media.get("itemSchema")
        if "itemSchema" not in self.media:
            return schema
        array: Json = {"type": "array", "items": item}
        return array if schema is None else {"allOf": [schema, array]}

    def read(self, schemas: SchemaDocument) -> Schema | None:
        """Returns the schema of the content in the model; `None` if it is not declared."""
        raw, item = self.media.get("schema"), self.media.get("itemSchema")
        schema = schemas.schema(raw, f"{self.pointer}/schema") if raw is not None else None
        if item is None:
            return schema
        array = Schema(types=("array",), items=schemas.schema(item, f"{self.pointer}/itemSchema"))
        return array if schema is None else merge(schema, array)


CONCRETE_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#&^_.+-]+/[A-Za-z0-9!#&^_.+-]+(?:; ?[A-Za-z0-9-]+=[A-Za-z0-9._-]+)*\Z")
"""A media type that can be sent, without a wildcard."""

_FORMS = {"form-data": "multipart/form-data", "x-www-form-urlencoded": URL_ENCODED}

CONCRETE_MEDIA_TYPES = {"image/*": "image/png", "text/*": "text/plain", "audio/*": "audio/mpeg", "video/*": "video/mp4"}
"""Media types that are sent for the common media type ranges."""

_BODY_MEMBERS = ("schema", "itemSchema", "encoding")


def representations(owner: dict[str, Json], pointer: str, resolver: Resolver) -> list[Representation]:
    """Returns the representations in the `content` of an object, which is at `pointer`."""
    groups: list[Representation] = []
    content, pointer = as_dict(owner.get("content")), f"{pointer}/content"
    for name in sorted(content, key=lambda name: (name != "application/json", "json" not in name)):
        raw, place = as_dict(content[name]), child(pointer, name)
        media, place = resolver.resolve(raw, place) if "$ref" in raw else (raw, place)  # to `mediaTypes` (3.2)
        media = media or {}
        for group in groups:
            if all(group.media.get(key) == media.get(key) for key in _BODY_MEMBERS):
                group.contents[form_type(name)] = media, place
                break
        else:
            groups.append(Representation(media, place, {form_type(name): (media, place)}))
    return groups


def form_type(name: str) -> str:
    """Returns the media type of a form, which may be written with another type: `application/form-data`."""
    return _FORMS.get(name.rpartition("/")[2], name)


def is_concrete(media_type: str) -> bool:
    """True if a string is one media type, not a range."""
    return CONCRETE_MEDIA_TYPE.match(media_type) is not None and "*" not in media_type


def first_concrete(media_types: str | None) -> str | None:
    """Returns the first media type of a comma-separated list that can be sent; common ranges are replaced."""
    names = [name.strip() for name in media_types.split(",")] if media_types is not None else []
    return next(filter(is_concrete, (CONCRETE_MEDIA_TYPES.get(name, name) for name in names)), None)


class DeclaredExample(Struct, frozen=True):
    """A value of the `example` or the `examples` of a parameter or a media type."""

    value: Json
    """The value; a string if the source has its serialised form."""

    pointer: str
    name: str | None = None
    """Its key in `examples`."""

    description: str | None = None


def headers_from(owner: dict[str, Json], pointer: str, resolver: Resolver, schemas: SchemaDocument) -> list[Parameter]:
    """Returns the headers of a response, or of a part of a body; its media type is declared otherwise."""
    found = []
    for name, raw in as_dict(owner.get("headers")).items():
        header, at = resolver.resolve(raw, child(pointer, "headers", name))
        if header is not None and name.lower() != "content-type":
            found.append(Parameter(name=name, location="header", **parameter_fields(header, at, resolver, schemas)))
    return found


def parameter_fields(raw: dict[str, Json], pointer: str, resolver: Resolver, schemas: SchemaDocument) -> dict[str, Any]:
    """Returns what a parameter and a header declare alike (OpenAPI 3.1, "Header Object")."""
    declared, at = raw.get("schema"), f"{pointer}/schema"
    if declared is None:
        forms = representations(raw, pointer, resolver)
        found = ((form.schema, f"{form.pointer}/schema") for form in forms if form.schema is not None)
        declared, at = next(found, (None, at))
    schema = schemas.schema(declared, at) if declared is not None else Schema()
    return {
        "required": raw.get("required") is True,
        "schema": schema,
        "description": text_of(raw, "description") or schema.description,
        "deprecated": raw.get("deprecated") is True or schema.deprecated,
        "pointer": pointer,
    }


def declared_examples(owner: dict[str, Json], pointer: str, resolver: Resolver) -> Iterator[DeclaredExample]:
    """Yields the values of `example` and `examples` (OpenAPI 3.2, "Example Object"); `externalValue` is not fetched."""
    if "example" in owner:
        yield DeclaredExample(_without_reference(owner["example"], resolver), f"{pointer}/example")
    for name, raw in as_dict(owner.get("examples")).items():
        example, example_pointer = resolver.resolve(raw, child(pointer, "examples", name))
        for key in ("dataValue", "value", "serializedValue"):
            if example is not None and key in example:
                description = join_texts(text_of(example, "summary"), text_of(example, "description"))
                value = _without_reference(example[key], resolver)
                yield DeclaredExample(value, f"{example_pointer}/{key}", name, description)
                break


def media_examples(name: str, media: dict[str, Json], pointer: str, resolver: Resolver) -> Iterator[DeclaredExample]:
    """Yields the examples of a media type; a string with JSON is read, unless the content itself is a string."""
    for example in declared_examples(media, pointer, resolver):
        text = example.value
        if isinstance(text, str) and is_json(name) and text.lstrip()[:1] in ("{", "["):
            with suppress(ValueError, RecursionError):
                if "string" not in str(resolver.resolve_or_empty(media.get("schema")).get("type")):
                    example = replace(example, value=json_from_text(text, ProblemLog()))
        yield example


def _without_reference(value: Json, resolver: Resolver) -> Json:
    """Returns the value that an example refers to: OpenAPI has no reference there, but nobody means to send one."""
    if isinstance(value, dict) and value.keys() == {"$ref"} and str(value["$ref"]).startswith("#/"):
        return follow(resolver.document, value["$ref"][1:], value)
    return value


def needs_xml_names(document: dict[str, Json]) -> bool:
    """True if a body, or a part of a form, can be sent as XML only, so that the schemas' names in XML matter."""
    bodies = [*as_dict(as_dict(document.get("components")).get("requestBodies")).values()]
    for item in map(as_dict, as_dict(document.get("paths")).values()):
        operations = [*item.values(), *as_dict(item.get("additionalOperations")).values()]
        bodies += [as_dict(operation).get("requestBody") for operation in operations]
    resolver = Resolver(document, ProblemLog())
    resolved = (as_dict(resolver.resolve(body, "")[0]) for body in bodies if body)
    return any(_is_xml_only(as_dict(body.get("content"))) for body in resolved)


def _is_xml_only(content: dict[str, Json]) -> bool:
    if content and all(media_kind(name) == "xml" for name in content):
        return True
    encodings = (as_dict(as_dict(media).get("encoding")).values() for media in content.values())
    types = (str(as_dict(encoding).get("contentType")) for encoding in chain.from_iterable(encodings))
    return any(media_kind(media_type) == "xml" for media_type in types)


_DEFAULT = Serialization()
SKIP_ENCODING = "x-ms-skip-url-encoding"
"""Extension of Azure: the value of the parameter is not percent-encoded, and may be several path segments."""

_SCALARS = frozenset({"string", "integer", "number", "boolean"})


def serialization_of(raw: dict[str, Json], location: Location, schema: Schema, types: Types) -> Serialization | None:
    """Returns how a parameter is serialised; `None` if this is the default of its location.

    For an object also the default says what is sent, as its name is not.
    """
    media_type = next(iter(as_dict(raw.get("content"))), None)
    found = _serialization(raw, location, schema, media_type)
    kinds = schema.types or (types.type_of(schema.ref).types if schema.ref is not None else ())
    if "object" not in kinds or media_type is not None or (found and (found.style, found.explode) != (None, None)):
        return found
    return replace(found or _DEFAULT, explode=is_exploded(default_style(location), None))


def apply_encoding(
    parameters: Iterable[Parameter], form: Representation, resolver: Resolver, schemas: SchemaDocument
) -> tuple[Parameter, ...]:
    """Returns the properties of a body with their serialisation from its `encoding`."""
    encodings, pointer = as_dict(form.media.get("encoding")), f"{form.pointer}/encoding"

    def encoded(item: Parameter) -> Parameter:
        if not (raw := as_dict(encodings.get(item.name))):
            return item
        headers = tuple(headers_from(raw, child(pointer, item.name), resolver, schemas))
        sent = _serialization(raw, "body", item.schema, text_of(raw, "contentType"))
        return replace(item, serialization=replace(sent or _DEFAULT, part_headers=headers) if headers else sent)

    return tuple(map(encoded, parameters))


def _serialization(
    raw: dict[str, Json], location: Location, schema: Schema, media_type: str | None
) -> Serialization | None:
    explode, default = raw.get("explode"), default_style(location)
    effective = text_of(raw, "style") or default
    style = effective if effective != default else None
    is_scalar = bool(schema.types) and _SCALARS.issuperset(schema.types)
    if not isinstance(explode, bool) or explode == is_exploded(effective, None) or is_scalar or style == "deepObject":
        explode = None
    serialization = Serialization(
        style=style,
        explode=explode,
        allow_reserved=raw.get("allowReserved") is True or raw.get(SKIP_ENCODING) is True,
        media_type=media_type,
        allow_empty=raw.get("allowEmptyValue") is True and location == "query",
    )
    return None if serialization == _DEFAULT else serialization


_WAIT_STATUSES = ("429", "503")
"""Statuses with a `Retry-After` header (RFC 9110, 10.2.3; RFC 6585, 4)."""

_EXAMPLES_LIMIT = 3
"""Examples of one output that are documented."""

_SCANNED_EXAMPLES_LIMIT = 10
"""Examples of one media type that are read."""


class ResponseReader:
    """Reads responses; a shared one is read once."""

    def __init__(self, resolver: Resolver, schemas: SchemaDocument) -> None:
        self._resolver = resolver
        self._schemas = schemas
        self._problems = resolver.problems
        self._errors: dict[str, ErrorCase] = {}
        self._read_outputs: dict[tuple[str, str], tuple[Output, ...]] = {}
        self._objections: dict[str, tuple[str, str] | None] = {}
        self.tool_names: dict[str, str] = {}
        """Names of the tools, by the pointers of their operations."""
        self.operations: frozenset[str] = frozenset()

    def outputs(
        self, responses: dict[str, Json], pointer: str
    ) -> tuple[tuple[Output, ...], tuple[str, ...], dict[str, Json]]:
        """Returns an output for each status except errors and each representation, the media types of all, and the
        response of the first success.

        Success comes first. An output without schema represents a response that cannot be read.
        """
        statuses = sorted(responses)
        successes = [status for status in statuses if status.startswith("2")]
        if not successes and "default" in responses:
            successes = ["default"]
        outputs: list[Output] = []
        media_types: list[str] = []
        success: dict[str, Json] = {}
        for status in (*successes, *(status for status in statuses if status[:1] in ("1", "3"))):
            response, response_pointer = self._resolver.resolve(responses[status], child(pointer, status))
            read = self._read_outputs.get((status, response_pointer))
            if read is None:
                read = tuple(self._outputs(status, response or {}, response_pointer))
                self._read_outputs[status, response_pointer] = read
            outputs += read
            media_types += as_dict((response or {}).get("content"))
            if status in successes[:1]:
                success = response or {}
        return tuple(outputs), tuple(dict.fromkeys(media_types)), success

    def errors(self, responses: dict[str, Json], pointer: str) -> tuple[ErrorCase, ...]:
        """Returns a case for each error status."""
        return tuple(
            self._error_case(status, responses[status], pointer)
            for status in sorted(responses)
            if status[:1] in ("4", "5") or (status == "default" and any(key.startswith("2") for key in responses))
        )

    def answers(self, operation: dict[str, Json], pointer: str) -> tuple[ErrorCase, ...]:
        """Returns a case for each status that the receiver of a webhook or a callback may answer with."""
        responses, pointer = as_dict(operation.get("responses")), f"{pointer}/responses"
        return tuple(self._error_case(status, raw, pointer) for status, raw in responses.items())

    def _outputs(self, status: str, response: dict[str, Json], pointer: str) -> Iterator[Output]:
        headers = tuple(headers_from(response, pointer, self._resolver, self._schemas))
        links = tuple(self._links(response, pointer))
        # In 3.2 the description is optional next to a summary.
        description = text_of(response, "description") or text_of(response, "summary")
        for index, representation in enumerate(found := representations(response, pointer, self._resolver)):
            yield Output(
                schema=representation.read(self._schemas),
                description=description if index == 0 else None,
                status=status,
                media_types=representation.media_types,
                headers=headers if index == 0 else (),
                links=links if index == 0 else (),
                examples=tuple(islice(self._examples(representation), _EXAMPLES_LIMIT)),
                raw=representation.schema,
                pointer=pointer,
            )
        if not found:
            yield Output(description=description, status=status, headers=headers, links=links, pointer=pointer)

    def _examples(self, representation: Representation) -> Iterator[ExampleOutput]:
        for name, media in representation.contents.items():
            for example in islice(media_examples(name, *media, self._resolver), _SCANNED_EXAMPLES_LIMIT):
                if example.pointer not in self._objections:  # a shared example is in many responses
                    self._objections[example.pointer] = why_unpublishable(example.value)
                if (reason := self._objections[example.pointer]) is not None:
                    message = "the example of a response is left out: " + reason[1]
                    self._problems.report(reason[0], example.pointer, message)
                else:
                    yield ExampleOutput(
                        value=Value(example.value),
                        media_type=name or None,
                        name=example.name,
                        description=example.description,
                    )

    def _links(self, response: dict[str, Json], pointer: str) -> Iterator[Link]:
        for name, raw in as_dict(response.get("links")).items():
            link, _ = self._resolver.resolve(raw, child(pointer, "links", name))
            if link is None:
                continue
            if (target := text_of(link, "operationId")) and target not in self.operations:
                message = f"the link leads to the operation {target[:100]!r}, which is not there; left out"
                self._problems.report("reference-not-found", child(pointer, "links", name), message)
                continue
            parameters, reference = as_dict(link.get("parameters")), text_of(link, "operationRef")
            if "requestBody" in link:
                parameters = {**parameters, "body": link["requestBody"]}
            yield Link(
                name=name,
                operation=target or self.tool_names.get(unquote(reference or "").removeprefix("#"), reference),
                parameters=parameters or None,
                description=text_of(link, "description"),
            )

    def _error_case(self, status: str, raw: Json, pointer: str) -> ErrorCase:
        """Returns the case for a status; `pointer` is that of all responses."""
        key = f"{status} {text_of(raw, '$ref')}"
        if key in self._errors:
            return self._errors[key]
        response, response_pointer = self._resolver.resolve(raw, child(pointer, status))
        outputs: list[Output] = []
        if response is not None and not response.keys() <= {"description"}:
            outputs = list(self._outputs(status, response, response_pointer))
            outputs = [item for item in outputs if item.schema is not None or item.headers or item.examples]
        headers = map(str.lower, as_dict((response or {}).get("headers")))
        case = ErrorCase(
            code=status,
            description=text_of(response, "description") or text_of(response, "summary"),
            has_retry_header=status in _WAIT_STATUSES and "retry-after" in headers,
            output=outputs[0] if outputs else None,
            other_outputs=tuple(outputs[1:]),
        )
        if text_of(raw, "$ref") is not None:
            self._errors[key] = case
        return case


_QUOTABLE_NAME = re.compile(r"[$@A-Za-z0-9_.\-\[\]]{1,60}\Z")
"""Names that can be quoted in a sentence."""

_PUNCTUATION = str.maketrans("", "", "$@_.-[]")

_CURSORS = frozenset(
    {"cursor", "nextcursor", "pagetoken", "nextpagetoken", "nexttoken", "continuationtoken", "after", "marker"}
)
"""Parameters for the position of the next page, without case and punctuation."""

_SIZES = frozenset({"limit", "perpage", "pagesize", "maxresults", "maxitems"})
_NEXT = (
    "nextcursor", "nextpagetoken", "nexttoken", "continuationtoken", "endcursor", "nextmarker", "cursor", "after",
)  # fmt: skip
_LINKS = ("odatanextlink", "nextlink", "nexturl", "nextpageurl", "next")
_CONTAINERS = frozenset({"meta", "metadata", "pagination", "paging", "page", "pageinfo", "links", "responsemetadata"})
"""Members of a response that may contain the fields for the next page."""

_CONTAINER_DEPTH = 2


def pagination_of(
    operation: Mapping[str, Json],
    parameters: Iterable[Parameter],
    output: Output | None,
    headers: Iterable[str],
    types: Types,
) -> tuple[Pagination | None, str | None]:
    """Returns how to get the next page, and from what that was inferred.

    `x-ms-pageable` declares it; else a field of the response is the cursor that a parameter takes, or the URL of the
    next page, or the `Link` header has that.
    """
    declared = text_of(operation.get("x-ms-pageable"), "nextLinkName")
    if declared and _QUOTABLE_NAME.match(declared):
        return Pagination(method="next_url", source=declared), None
    sent = [(_plain(item.name), item.name) for item in parameters if item.location in ("query", "body")]
    cursor = next((name for plain, name in sent if plain in _CURSORS and _QUOTABLE_NAME.match(name)), None)
    size = next((name for plain, name in sent if plain in _SIZES and _QUOTABLE_NAME.match(name)), None)
    has_link = "link" in map(str.lower, headers)
    if cursor is None and size is None and not has_link:
        return None, None
    schema = output.schema if output and (cursor is not None or not has_link) else None  # else the header decides
    # Of equal names, the field that is less nested wins: it comes last.
    found = sorted(_fields(schema, types), key=lambda field: -field[0].count("."))
    fields = {_plain(path.rpartition(".")[2]): (path, schema) for path, schema in found}
    position, link = (next((fields[name] for name in known if name in fields), None) for known in (_NEXT, _LINKS))
    if cursor is not None and position is not None:
        path, schema = position
        paging = Pagination(
            method="field", source=path, parameter=cursor, is_null_at_end=schema.nullable, size_parameter=size
        )
    elif has_link:
        paging = Pagination(method="link_header", size_parameter=size)
    elif link is not None:
        paging = Pagination(method="link_field", source=link[0], size_parameter=size)
    else:
        return None, None
    return paging, "names of parameters, response fields and headers"


def _fields(schema: Schema | None, types: Types, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Schema]]:
    """Yields the fields of a response, and of the members that are about its pages, each with its path."""
    parts = [schema, *map(types.type_of, types.extended(schema))] if schema is not None else []
    for item in (item for part in parts for item in part.properties if _QUOTABLE_NAME.match(item.name)):
        yield prefix + item.name, item.schema
        if depth < _CONTAINER_DEPTH and _plain(item.name) in _CONTAINERS:
            yield from _fields(item.schema, types, f"{prefix}{item.name}.", depth + 1)


def _plain(name: str) -> str:
    return name.lower().translate(_PUNCTUATION)
