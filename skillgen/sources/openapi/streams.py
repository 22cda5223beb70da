"""Tells whether a response comes piece by piece (seed 002, 6.4; OpenAPI 3.2, "Sequential Media Types")."""

from __future__ import annotations

from collections.abc import Iterable

from skillgen.model.value import Json
from skillgen.sources.guards import as_dict

SEQUENTIAL = frozenset(
    {
        "text/event-stream",
        "application/jsonl",
        "application/json-lines",
        "application/x-jsonlines",
        "application/ndjson",
        "application/x-ndjson",
        "application/json-seq",
        "application/geo+json-seq",
        "application/stream+json",
    }
)


def stream_of(media_types: Iterable[str], response: dict[str, Json]) -> str | None:
    """Says from what it follows that a response is a stream: a media type, or a declaration of one item of it."""
    for name in media_types:
        if name.partition(";")[0].strip().lower() in SEQUENTIAL:
            return f"the media type {name}"
    if any("itemSchema" in as_dict(media) for media in as_dict(response.get("content")).values()):
        return "the schema of one item"
    return None
