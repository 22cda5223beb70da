"""Media types of bodies and responses: which one to read first."""

from __future__ import annotations

from skillgen.model.pointer import child
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict


def preferred_first(content: dict[str, Json]) -> list[str]:
    """Orders media types: JSON first, then as declared."""
    return sorted(content, key=lambda name: (name != "application/json", "json" not in name))


def first_media_schema(content: Json, pointer: str) -> tuple[Json, str]:
    """Gives the first schema that a media type has, and where it stands."""
    content = as_dict(content)
    for media_type in preferred_first(content):
        if (schema := as_dict(content[media_type]).get("schema")) is not None:
            return schema, child(pointer, media_type, "schema")
    return None, pointer
