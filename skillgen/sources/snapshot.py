"""Reads and writes snapshots: services as JSON, what `inspect` prints and `--snapshot` takes."""

from __future__ import annotations

from collections.abc import Iterable

from skillgen.errors import SourceError
from skillgen.markdown.values import json_text
from skillgen.model.codec import DecodeError, from_json, to_json
from skillgen.model.service import Service
from skillgen.model.value import Json

VERSION = 1


def is_snapshot(data: Json) -> bool:
    """Tells whether a document is meant as a snapshot."""
    return isinstance(data, dict) and "snapshot" in data and "services" in data


def snapshot_text(services: Iterable[Service]) -> str:
    """Gives services as one JSON document."""
    return json_text({"snapshot": VERSION, "services": [to_json(service) for service in services]}, indent=2) + "\n"


def services_from_snapshot(data: Json, name: str) -> tuple[Service, ...]:
    """Reads the services of a snapshot.

    Raises:
        SourceError: it is no snapshot, or one of another version.
    """
    if not is_snapshot(data):
        raise SourceError("is not a snapshot", where=name, fix="give what `skillgen inspect` printed")
    if data["snapshot"] != VERSION or not isinstance(data["services"], list):
        raise SourceError(
            f"is a snapshot of version {str(data['snapshot'])[:20]}; this skillgen reads version {VERSION}",
            where=name,
            fix="capture it again with `skillgen inspect`",
        )
    try:
        return tuple(from_json(Service, item, f"/services/{index}") for index, item in enumerate(data["services"]))
    except DecodeError as error:
        raise SourceError(
            f"is not a snapshot that can be read: {error}", where=name, fix="capture it again with `skillgen inspect`"
        ) from None
