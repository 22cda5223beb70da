"""The llms.txt above those of several services, with the "Site Structure" of dashdash's web profile (6.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skillgen.model.service import Service
from skillgen.render.dashdash import SPEC_URL, SPEC_VERSION
from skillgen.render.document import Document
from skillgen.render.environment import Templates
from skillgen.render.identity import plain, short_description, title

_LEVELS = ("none", "read", "browse", "interact", "full")


@dataclass(frozen=True, slots=True)
class Place:
    """One service, and the folder of its documents."""

    folder: str
    """Below OUT."""

    title: str
    """Its name for people."""

    does: str
    """What it does, in one sentence."""

    tools: int
    """How many tools it has."""


def site_document(services: Sequence[Service], folders: Sequence[str], templates: Templates) -> Document:
    """Gives the llms.txt of a folder in which each service has one of its own."""
    counts = Counter(map(title, services))
    places = [
        Place(
            folder,
            title(service) if counts[title(service)] == 1 else f"{title(service)} ({folder})",
            short_description(service),
            len(service.tools),
        )
        for service, folder in zip(services, folders, strict=True)
    ]
    names = plain(", ".join(place.title for place in places[:12])) + (" and more" if len(places) > 12 else "")
    fields: dict[str, Any] = {
        "name": "services",
        "description": f"Documents of {len(places)} services: {names}. Use when a task needs one of them.",
        "spec-url": SPEC_URL,
        "spec-version": SPEC_VERSION,
        "subdirectory-help": True,
        "access-level": max((service.access_level for service in services), key=_LEVELS.index, default="read"),
        "cli-url": "none",
        "mcp-url": "none",
        "api-url": "none",
    }
    return Document("llms.txt", templates.render("llms-site.txt.j2", fields=fields, site=places))
