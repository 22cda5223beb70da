"""Renders all documents of a service, format by format, and the llms.txt above those of several services."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.model.document import DEFAULT_FORMATS, DEFAULT_PROFILE, FORMATS, Document
from skillgen.model.service import Service
from skillgen.render.dashdash import SPEC_URL, SPEC_VERSION
from skillgen.render.environment import Templates
from skillgen.render.filters import FILTERS, FUNCTIONS
from skillgen.render.identity import TITLE_LIMIT, description_problems, plain, short_description, title
from skillgen.render.phrases import phrases_of, plain_phrase
from skillgen.render.skill import Rendering
from skillgen.text.markdown import disarm, disarm_json, one_line
from skillgen.text.summary import clip

_ACCESS_LEVELS = ("none", "read", "browse", "interact", "full")


class SiteEntry(Struct, frozen=True):
    """One service, and the folder of its documents."""

    folder: str
    """Below OUT."""

    title: str
    """Its display name."""

    does: str
    """What it does, in one sentence."""

    tools: int
    """How many tools it has."""


def _site_document(services: Sequence[Service], folders: Sequence[str], templates: Templates) -> Document:
    """Returns the llms.txt of a folder with several services, each with its own llms.txt.

    It has the "Site Structure" of dashdash's web profile (6.2).
    """
    counts = Counter(map(title, services))
    entries = [
        SiteEntry(
            folder,
            title(service) if counts[title(service)] == 1 else f"{title(service)} ({folder})",
            short_description(service),
            len(service.tools),
        )
        for service, folder in zip(services, folders, strict=True)
    ]
    names = plain(", ".join(entry.title for entry in entries[:12]))
    name = "site" if len(entries) <= 12 else "large_site"
    fields: dict[str, Any] = {
        "name": "services",
        "description": plain_phrase(name, number=len(entries), names=names),
        "spec-url": SPEC_URL,
        "spec-version": SPEC_VERSION,
        "subdirectory-help": True,
        "access-level": max((service.access_level for service in services), key=_ACCESS_LEVELS.index, default="read"),
        "cli-url": "none",
        "mcp-url": "none",
        "api-url": "none",
    }
    return Document("llms.txt", templates.render("llms-site.txt.j2", fields=fields, site=entries))


def _templates_with(overrides: Path | None) -> Templates:
    return _builtin_templates() if overrides is None else Templates(FILTERS, FUNCTIONS, overrides)


@cache
def _builtin_templates() -> Templates:
    """Returns skillgen's own templates, which a build of many targets loads once."""
    return Templates(FILTERS, FUNCTIONS)


_VERSION = re.compile(r"\s*v?\d", re.IGNORECASE)
"""The beginning of a version: "Wed Oct 15 2025" and "latest" are not versions."""

_VERSION_LIMIT = 64
"""Characters of a service's version; longer ones are not real versions."""


def render_documents(
    service: Service,
    formats: Collection[str] = DEFAULT_FORMATS,
    overrides: Path | None = None,
    profile: str = DEFAULT_PROFILE,
) -> tuple[Document, ...]:
    """Renders a service in each format, sorted by path.

    Raises:
        UsageError: a template has an error.
    """
    templates = _templates_with(overrides)
    with phrases_of(templates):
        documents = _documents(service, formats, templates, profile)
    return tuple(map(_finished, sorted(documents, key=lambda document: document.path)))


def _documents(service: Service, formats: Collection[str], templates: Templates, profile: str) -> list[Document]:
    problems = [*_length_problems(service)]
    if service.version is not None:
        version = one_line(service.version) if _VERSION.match(service.version) else ""
        service = replace(service, version=clip(version, _VERSION_LIMIT) or None)
    problems += description_problems(service)
    rendering = Rendering(service, templates, formats, profile)
    documents: list[Document] = []
    for name in FORMATS:
        if name in formats:
            documents += resolve_name(FORMATS[name].renderer)(rendering)
    if documents:
        documents[0] = replace(documents[0], problems=(*documents[0].problems, *problems))
    return documents


def render_site(services: Sequence[Service], folders: Sequence[str], overrides: Path | None = None) -> Document:
    """Renders the llms.txt above those of several services.

    Raises:
        UsageError: a template has an error.
    """
    templates = _templates_with(overrides)
    with phrases_of(templates):
        return _finished(_site_document(services, folders, templates))


def _length_problems(service: Service) -> Iterator[Problem]:
    """Yields a problem for the title or version of a service if it is too long for its documents and appears nowhere in
    full.
    """
    for field, text, limit in (
        ("title", service.title or service.name, TITLE_LIMIT),
        ("version", service.version, _VERSION_LIMIT),
    ):
        length = len(one_line(text or ""))
        if length > limit:
            yield Problem.of(
                code="text-too-long",
                where=field,
                message=f"the {field} of the service has {length:,} characters; the documents have the first {limit}",
            )


def _finished(document: Document) -> Document:
    """Returns a document without anything that a host would execute, even where two pieces of text meet."""
    escape = disarm_json if document.path.endswith(".json") else disarm
    return replace(document, text=escape(document.text))
