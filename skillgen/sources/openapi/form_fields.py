"""The fields of a form, as they are sent (OpenAPI 3.2, "Encoding Object")."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from skillgen.markdown.filters import inert
from skillgen.markdown.invisible import visible
from skillgen.model.exchange import Part
from skillgen.model.value import Json
from skillgen.model.wire import is_exploded, is_json, query_pairs, text_of_value
from skillgen.sources.examples.flat_schemas import NoExample
from skillgen.sources.examples.variants import Flat, Variants
from skillgen.sources.guards import as_dict, as_list, text_of
from skillgen.sources.openapi.media import first_concrete, is_text, is_xml
from skillgen.sources.openapi.xml_text import xml_text

_HOW = frozenset({"style", "explode"})


def url_encoded_fields(value: dict[str, Json], encoding: dict[str, Json]) -> tuple[Part, ...]:
    """Writes the fields as `style` says, else a list as repeated fields and an object as JSON."""
    return tuple(part for name, item in value.items() for part in _styled(name, item, as_dict(encoding.get(name))))


def multipart_fields(
    value: dict[str, Json], encoding: dict[str, Json], schema: Json, variants: Variants
) -> tuple[Part, ...]:
    """Writes each field in its media type: files as such, objects as JSON or XML, each item of a list on its own."""
    properties = as_dict(next(variants.of(schema), {}).get("properties"))
    parts: list[Part] = []
    for name, item in value.items():
        declared, how = properties.get(name, {}), as_dict(encoding.get(name))
        media_type = text_of(how, "contentType")
        items = item if isinstance(item, list) else [item]
        if _is_file(declared, variants):
            parts.extend(Part(name=shown(name), is_file=True, media_type=first_concrete(media_type)) for _ in items)
        elif _HOW & how.keys() and media_type is None:
            parts.extend(_styled(name, item, how))
        else:
            parts.extend(_typed(name, member, first_concrete(media_type), declared, variants) for member in items)
    return tuple(parts)


def unnamed_parts(value: list[Json], media: dict[str, Json], variants: Variants) -> tuple[Part, ...]:
    """Writes the parts of a body in which none has a name, each in its media type (OpenAPI 3.2, `prefixEncoding`)."""
    flat: Flat = next(variants.of(media.get("schema", {})), {})
    schemas, encodings = as_list(flat.get("prefixItems")), as_list(media.get("prefixEncoding"))
    parts: list[Part] = []
    for index, member in enumerate(value):
        declared = schemas[index] if index < len(schemas) else flat.get("items", {})
        how = encodings[index] if index < len(encodings) else media.get("itemEncoding")
        media_type = first_concrete(text_of(how, "contentType"))
        if media_type is None and isinstance(member, str) and _is_file(declared, variants):
            parts.append(Part(name="", is_file=True))
        else:
            parts.append(_typed("", member, media_type, declared, variants))
    return tuple(parts)


def shown(text: str) -> str:
    """Gives a text that a document can show exactly.

    Raises:
        NoExample: none can.
    """
    if inert(visible(text)) != text:
        raise NoExample("a value holds what no document may show")
    return text


def _styled(name: str, item: Json, how: dict[str, Json]) -> Iterator[Part]:
    if isinstance(item, list) or (isinstance(item, dict) and "style" in how):
        style = text_of(how, "style") or "form"
        for pair in query_pairs(name, item, style, is_exploded(style, how.get("explode"))):
            key, _, text = pair.partition("=")
            yield _part(unquote(key), unquote(text))
    else:
        yield _part(name, text_of_value(item))


def _typed(name: str, member: Json, media_type: str | None, declared: Json, variants: Variants) -> Part:
    if isinstance(member, (dict, list)):
        if media_type is None or is_json(media_type):
            return _part(name, text_of_value(member), media_type or "application/json")
        if not is_xml(media_type):
            raise NoExample(f"an object cannot be written as {media_type[:60]}")
        return _part(name, xml_text(member, declared, variants, name or None), media_type)
    if media_type is None or is_json(media_type) or is_text(media_type):
        return _part(name, text_of_value(member), None if media_type == "text/plain" else media_type)
    return Part(name=shown(name), is_file=True, media_type=media_type)


def _is_file(schema: Json, variants: Variants) -> bool:
    flat: Flat = next(variants.of(schema), {})
    if flat.get("type") == "array":
        flat = next(variants.of(flat.get("items", {})), {})
    return flat.get("format") == "binary" or ("contentMediaType" in flat and "contentEncoding" not in flat)


def _part(name: str, text: str, media_type: str | None = None) -> Part:
    return Part(name=shown(name), text=shown(text), media_type=media_type)
