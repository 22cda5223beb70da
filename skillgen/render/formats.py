"""SEAM: the table of formats.

The llms.txt above those of several services, with the "Site Structure" of dashdash's web profile (6.2).

All documents of a service, format by format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skillgen.errors import Problem
from skillgen.model.service import Service
from skillgen.render.ai_help import ai_help_documents, command_documents
from skillgen.render.dashdash import SPEC_URL, SPEC_VERSION, registry_entry
from skillgen.render.document import DEFAULT_FORMATS, PROFILES, Document
from skillgen.render.environment import Templates
from skillgen.render.filters import FILTERS, FUNCTIONS
from skillgen.render.identity import TITLE_LIMIT, plain, short_description, title
from skillgen.render.llms import llms_documents
from skillgen.render.reference import reference_of
from skillgen.render.skill import skill_documents, skill_of
from skillgen.text.markdown import disarm, disarm_json, json_text, one_line
from skillgen.text.summary import clip
from skillgen.text.unicode import strip_invisible

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


VERSION_LIMIT = 64
"""Characters of the version of a service."""


def render_documents(
    service: Service,
    formats: tuple[str, ...] = DEFAULT_FORMATS,
    overrides: Path | None = None,
    profile: str = PROFILES[0],
) -> tuple[Document, ...]:
    """Renders a service in each format, sorted by path.

    Raises:
        UsageError: a template has an error.
    """
    templates = Templates(FILTERS, FUNCTIONS, overrides)
    shortened = tuple(_shortened(service))
    if service.version is not None:
        service = replace(service, version=clip(one_line(service.version), VERSION_LIMIT))
    reference = reference_of(service, templates)
    found: list[Document] = []
    skill = skill_of(service, reference, templates, profile) if "skill" in formats else None
    if skill is not None:
        found += skill_documents(service, skill, reference, templates)
    if "llms" in formats:
        index = skill.index if skill is not None else None
        found += llms_documents(service, reference, templates, formats, index)
    if "ai-help" in formats:
        found += ai_help_documents(service, reference, templates, formats)
    if "ai-help-commands" in formats:
        found += command_documents(service, reference, templates, formats)
    if "registry" in formats:
        found += _registry_documents(service)
    if found:
        found[0] = replace(found[0], problems=(*found[0].problems, *shortened))
    return tuple(map(_finished, sorted(found, key=lambda document: document.path)))


def render_site(services: Sequence[Service], folders: Sequence[str], overrides: Path | None = None) -> Document:
    """Renders the llms.txt above those of several services.

    Raises:
        UsageError: a template has an error.
    """
    return _finished(site_document(services, folders, Templates(FILTERS, FUNCTIONS, overrides)))


def _shortened(service: Service) -> Iterator[Problem]:
    """Yields a problem for each name of a service that is too long for its documents, where no other text has it."""
    for field, text, limit in (
        ("title", service.title or service.name, TITLE_LIMIT),
        ("version", service.version, VERSION_LIMIT),
    ):
        length = len(one_line(text or ""))
        if length > limit:
            yield Problem(
                code="text-too-long",
                level="warning",
                where=field,
                message=f"the {field} of the service has {length:,} characters; what comes after {limit} is left out",
                fix="shorten it in the source",
            )


def _registry_documents(service: Service) -> Iterator[Document]:
    yield Document("registry.json", strip_invisible(json_text(registry_entry(service), indent=2)) + "\n")


def _finished(document: Document) -> Document:
    """Returns a document in which no host finds anything to run, even where two pieces of it meet."""
    made_inert = disarm_json if document.path.endswith(".json") else disarm
    return replace(document, text=made_inert(document.text))
