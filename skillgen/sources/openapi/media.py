"""Media types, styles.

Media types of bodies and responses: which one to read first, and which hold the same.

What the requests of a description are sent in, before any is read.

How parameters and parts of a body are written into a request (OpenAPI 3.2, "Style Values", "Encoding Object").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from skillgen.errors import ProblemLog
from skillgen.model.schema import Location, Parameter, Schema, Serialization
from skillgen.model.serialization import is_exploded
from skillgen.model.values import Json, child
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.json_schema.loader import SchemaDocument
from skillgen.sources.json_schema.merge import merge
from skillgen.sources.openapi.paths import METHODS
from skillgen.sources.openapi.references import Resolver
from skillgen.text.summary import join_texts


@dataclass(frozen=True, slots=True)
class Representation:
    """Media types that hold the same."""

    media_types: tuple[str, ...]
    """Their names, the recommended one first; none where a description of version 2.0 names none."""

    media: dict[str, Json]
    """The media type object of the first."""

    pointer: str
    """JSON pointer to it."""

    @property
    def schema(self) -> Json:
        """The schema of the whole."""
        return content_schema(self.media)

    def read(self, schemas: SchemaDocument) -> Schema | None:
        """Gives the same as the model has it; `None` where nothing is declared."""
        whole, item = with_part_types(self.media, self.media.get("schema")), self.media.get("itemSchema")
        schema = schemas.schema(whole, child(self.pointer, "schema")) if whole is not None else None
        if item is None:
            return schema
        items = schemas.schema(_item_of_parts(self.media, item), child(self.pointer, "itemSchema"))
        array = Schema(types=("array",), items=items)
        return array if schema is None else merge(schema, array)


MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#&^_.+-]+/[A-Za-z0-9!#&^_.+-]+(?:; ?[A-Za-z0-9-]+=[A-Za-z0-9._-]+)*\Z")
"""A media type that can be sent: no wildcard."""

URL_ENCODED = "application/x-www-form-urlencoded"

_OF_LINES = frozenset({"application/jsonl", "application/json-lines", "application/x-jsonlines", "application/ndjson",
                       "application/x-ndjson", "application/x-json-stream"})  # fmt: skip
"""Media types of JSON values, each on a line of its own."""

CONCRETE = {"image/*": "image/png", "text/*": "text/plain", "audio/*": "audio/mpeg", "video/*": "video/mp4"}
"""Media types for those that stand for many."""

_TEXTS = re.compile(r"text/|application/(?:graphql|yaml|x-yaml|sql|javascript)\b|.*(?:\+|/)xml\b")

_WHAT_IS_SENT = ("schema", "itemSchema", "encoding", "prefixEncoding", "itemEncoding")


def preferred_first(content: dict[str, Json]) -> list[str]:
    """Orders media types: JSON first, then as declared."""
    return sorted(content, key=lambda name: (name != "application/json", "json" not in name))


def representations(content: dict[str, Json], pointer: str, resolver: Resolver) -> Iterator[Representation]:
    """Gives the media types of a `content` object, at its pointer; those with equal schemas and encodings as one."""
    if len(content) == 1:  # as nearly always
        ((name, raw),) = content.items()
        media, place = media_type_object(raw, child(pointer, name), resolver)
        yield Representation((name,) if name else (), media, place)
        return
    found: list[tuple[list[str], dict[str, Json], str]] = []
    for name in preferred_first(content):
        media, place = media_type_object(content[name], child(pointer, name), resolver)
        for names, held, _ in found:
            if all(held.get(key) == media.get(key) for key in _WHAT_IS_SENT):
                names.append(name)
                break
        else:
            found.append(([name], media, place))
    for names, media, place in found:
        yield Representation(tuple(filter(None, names)), media, place)


def media_type_object(raw: Json, pointer: str, resolver: Resolver) -> tuple[dict[str, Json], str]:
    """Gives a media type object and where it stands: 3.2 may refer to one of `components.mediaTypes`."""
    if isinstance(raw, dict) and "$ref" in raw:
        media, pointer = resolver.resolve(raw, pointer)
        return media or {}, pointer
    return as_dict(raw), pointer


def first_media_schema(content: Json, pointer: str, resolver: Resolver) -> tuple[Json, str]:
    """Gives the first schema that a media type has, and where it stands."""
    content = as_dict(content)
    for media_type in preferred_first(content):
        media, place = media_type_object(content[media_type], child(pointer, media_type), resolver)
        if (schema := content_schema(media)) is not None:
            return schema, child(place, "schema")
    return None, pointer


def is_concrete(media_type: str) -> bool:
    """Tells whether something is one media type, without a wildcard."""
    return MEDIA_TYPE.match(media_type) is not None and "*" not in media_type


def first_concrete(media_types: str | None) -> str | None:
    """Gives the first of the media types that a part may have: one without a wildcard, or one that such a one means."""
    if media_types is None:
        return None
    named = [name.strip() for name in media_types.split(",")]
    return next((found for name in named if is_concrete(found := CONCRETE.get(name, name))), None)


def is_text(media_type: str) -> bool:
    """Tells whether what is of a media type is written as text."""
    return _TEXTS.match(media_type.split(";")[0].strip().lower()) is not None


def is_xml(media_type: str) -> bool:
    """Tells whether a media type is one of XML."""
    return media_type.split(";")[0].strip().lower().endswith(("/xml", "+xml"))


def is_json_lines(media_type: str) -> bool:
    """Tells whether a media type is of JSON values that stand on a line each."""
    return media_type.partition(";")[0].strip().lower() in _OF_LINES


def part_headers(media: dict[str, Json]) -> tuple[str, ...]:
    """Gives the names of the headers that parts without names have (OpenAPI 3.2, `prefixEncoding`, `itemEncoding`)."""
    encodings = [*as_list(media.get("prefixEncoding")), media.get("itemEncoding")]
    names = [name for encoding in encodings for name in as_dict(as_dict(encoding).get("headers"))]
    return tuple(dict.fromkeys(name for name in names if name.lower() != "content-type"))


def content_schema(media: dict[str, Json]) -> Json:
    """Gives the schema of all that is sent in a media type: a sequence is an array of its items (OpenAPI 3.2)."""
    schema = with_part_types(media, media.get("schema"))
    if "itemSchema" not in media:
        return schema
    array: Json = {"type": "array", "items": _item_of_parts(media, media["itemSchema"])}
    return array if schema is None else {"allOf": [schema, array]}


def with_part_types(media: dict[str, Json], schema: Json) -> Json:
    """Gives the schema of parts without names in which each tells its media type (3.2, `prefixEncoding`)."""
    if not isinstance(schema, dict) or not ("prefixEncoding" in media or "itemEncoding" in media):
        return schema
    encodings = as_list(media.get("prefixEncoding"))
    first = [*as_list(schema.get("prefixItems"))]
    first += [{}] * (len(encodings) - len(first))
    typed = [_typed(item, encodings[at] if at < len(encodings) else {}) for at, item in enumerate(first)]
    items = _item_of_parts(media, schema.get("items", {}))
    return {**schema, **({"prefixItems": typed} if typed else {}), **({"items": items} if items != {} else {})}


def _item_of_parts(media: dict[str, Json], item: Json) -> Json:
    return _typed(item, media.get("itemEncoding"))


def _typed(item: Json, encoding: Json) -> Json:
    media_type = text_of(encoding, "contentType")
    if media_type is None or item is False or (isinstance(item, dict) and item.keys() & {"$ref", "contentMediaType"}):
        return item
    return {**as_dict(item), "contentMediaType": media_type}


@dataclass(frozen=True, slots=True)
class DeclaredExample:
    """A value of the `example` or the `examples` of a parameter or a media type."""

    value: Json
    """The value; a string where the source has it in its serialised form."""

    pointer: str
    """JSON pointer to it."""

    name: str | None = None
    """Its key in `examples`."""

    description: str | None = None
    """What it shows."""


def declared_examples(owner: dict[str, Json], pointer: str, resolver: Resolver) -> Iterator[DeclaredExample]:
    """Yields the values of `example` and `examples` (OpenAPI 3.2, "Example Object"); none is fetched."""
    if "example" in owner:
        yield DeclaredExample(owner["example"], child(pointer, "example"))
    for name, raw in as_dict(owner.get("examples")).items():
        example, where = resolver.resolve(raw, child(pointer, "examples", name))
        for key in ("dataValue", "value", "serializedValue"):
            if example is not None and key in example:
                description = join_texts(text_of(example, "summary"), text_of(example, "description"))
                yield DeclaredExample(example[key], child(where, key), name, description)
                break


def needs_xml_names(document: dict[str, Json]) -> bool:
    """Tells whether some body, or some part of a form, can be sent as XML alone: then the names in XML matter."""
    resolver = Resolver(document, ProblemLog())
    return any(
        _is_of_xml(as_dict(resolver.resolve_or_empty(body).get("content"))) for _, body in request_bodies(document)
    )


def request_bodies(document: dict[str, Json]) -> Iterator[tuple[str, Json]]:
    """Gives the bodies of requests, each with its pointer, before what they refer to is read."""
    for path, item in as_dict(document.get("paths")).items():
        more = as_dict(as_dict(item).get("additionalOperations"))
        for key, operation in {**as_dict(item), **more}.items():
            if (key in METHODS or key.isupper()) and isinstance(operation, dict) and "requestBody" in operation:
                above = ("paths", path, "additionalOperations") if key in more else ("paths", path)
                yield child("", *above, key, "requestBody"), operation["requestBody"]
    for name, item in as_dict(as_dict(document.get("components")).get("requestBodies")).items():
        yield child("", "components", "requestBodies", name), item


def _is_of_xml(content: dict[str, Json]) -> bool:
    if content and all(map(is_xml, content)):
        return True
    encodings = (as_dict(as_dict(media).get("encoding")) for media in content.values())
    return any(is_xml(str(as_dict(how).get("contentType"))) for encoding in encodings for how in encoding.values())


_DEFAULT_STYLES: dict[Location, str] = {
    "query": "form",
    "cookie": "form",
    "body": "form",
    "path": "simple",
    "header": "simple",
}
_DEFAULT = Serialization()
SKIP_ENCODING = "x-ms-skip-url-encoding"
"""Says of a parameter, in descriptions of Azure, that its value is written as it is: it may be several segments."""

_SCALARS = frozenset({"string", "integer", "number", "boolean"})


def serialization_of(raw: dict[str, Json], location: Location, schema: Schema) -> Serialization | None:
    """Reads how a parameter is written, where that is not the default of its place."""
    media_type = next(iter(as_dict(raw.get("content"))), None)
    return _serialization(raw, location, schema, media_type)


def apply_encoding(parameters: Iterable[Parameter], encoding: Json) -> tuple[Parameter, ...]:
    """Gives the properties of a body with what its `encoding` says of each."""
    found = as_dict(encoding)
    if not found:
        return tuple(parameters)
    return tuple(
        replace(item, serialization=_serialization(raw, "body", item.schema, text_of(raw, "contentType")))
        if (raw := as_dict(found.get(item.name)))
        else item
        for item in parameters
    )


def _serialization(
    raw: dict[str, Json], location: Location, schema: Schema, media_type: str | None
) -> Serialization | None:
    style, explode = text_of(raw, "style"), raw.get("explode")
    default = _DEFAULT_STYLES.get(location)
    effective = style or default or "form"
    if style == default:
        style = None
    is_scalar = bool(schema.types) and _SCALARS.issuperset(schema.types)
    if not isinstance(explode, bool) or explode == is_exploded(effective, None) or is_scalar or style == "deepObject":
        explode = None
    found = Serialization(
        style=style,
        explode=explode,
        allow_reserved=raw.get("allowReserved") is True or raw.get(SKIP_ENCODING) is True,
        media_type=media_type,
        headers=tuple(name for name in as_dict(raw.get("headers")) if name.lower() != "content-type"),
        allow_empty=raw.get("allowEmptyValue") is True and location == "query",
    )
    return None if found == _DEFAULT else found
