"""Media types of bodies and responses: which one to read first, and which hold the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skillgen.model.pointer import child
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict
from skillgen.sources.openapi.resolver import Resolver


@dataclass(frozen=True, slots=True)
class Form:
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
        return self.media.get("schema")

    @property
    def item_schema(self) -> Json:
        """What one item of a stream is (OpenAPI 3.2, "Sequential Media Types")."""
        return self.media.get("itemSchema")


def preferred_first(content: dict[str, Json]) -> list[str]:
    """Orders media types: JSON first, then as declared."""
    return sorted(content, key=lambda name: (name != "application/json", "json" not in name))


def forms(content: dict[str, Json], pointer: str) -> Iterator[Form]:
    """Gives the media types of a `content` object, at its pointer; those with equal schemas and encodings as one."""
    if len(content) == 1:  # as nearly always
        ((name, media),) = content.items()
        yield Form((name,) if name else (), as_dict(media), child(pointer, name))
        return
    found: list[tuple[list[str], dict[str, Json]]] = []
    for name in preferred_first(content):
        media = as_dict(content[name])
        for names, held in found:
            if held.get("schema") == media.get("schema") and held.get("encoding") == media.get("encoding"):
                names.append(name)
                break
        else:
            found.append(([name], media))
    for names, media in found:
        yield Form(tuple(filter(None, names)), media, child(pointer, names[0]))


def first_media_schema(content: Json, pointer: str) -> tuple[Json, str]:
    """Gives the first schema that a media type has, and where it stands."""
    content = as_dict(content)
    for media_type in preferred_first(content):
        if (schema := as_dict(content[media_type]).get("schema")) is not None:
            return schema, child(pointer, media_type, "schema")
    return None, pointer


def declared_examples(owner: dict[str, Json], pointer: str, resolver: Resolver) -> Iterator[tuple[Json, str]]:
    """Gives the values of `example` and `examples` of a parameter or a media type, each with its pointer."""
    if "example" in owner:
        yield owner["example"], child(pointer, "example")
    for name, raw in list(as_dict(owner.get("examples")).items())[:3]:
        example, where = resolver.resolved(raw, child(pointer, "examples", name))
        for key in ("dataValue", "value"):
            if example is not None and key in example:
                yield example[key], child(where, key)
                break
