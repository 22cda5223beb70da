"""How parameters and parts of a body are written into a request (OpenAPI 3.2, "Style Values", "Encoding Object")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from skillgen.model.schema import Location, Parameter, Schema, Serialization
from skillgen.model.value import Json
from skillgen.model.wire import is_exploded
from skillgen.sources.guards import as_dict, text_of

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


def with_encoding(parameters: Iterable[Parameter], encoding: Json) -> tuple[Parameter, ...]:
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
