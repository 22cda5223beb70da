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


def streams(media_types: Iterable[str], response: dict[str, Json]) -> bool:
    """Tells whether a media type is a sequence, or the response declares what one item of it is."""
    if any(name.partition(";")[0].strip().lower() in SEQUENTIAL for name in media_types):
        return True
    return any("itemSchema" in as_dict(media) for media in as_dict(response.get("content")).values())
