"""Renders all documents of a service, format by format, and those above the documents of several services."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.model.document import (
    DEFAULT_BUDGET,
    DEFAULT_FORMATS,
    DEFAULT_PROFILE,
    FORMATS,
    UNKNOWN_PUBLISHER,
    Artifact,
    Document,
    Publisher,
)
from skillgen.model.service import Service
from skillgen.render.environment import Templates
from skillgen.render.filters import FILTERS, FUNCTIONS
from skillgen.render.identity import TITLE_LIMIT, description_problems
from skillgen.render.llms import site_facts
from skillgen.render.phrases import phrases_of
from skillgen.render.skill import Rendering, Site, finished
from skillgen.text.markdown import one_line
from skillgen.text.summary import clip


def _templates_with(overrides: Path | None) -> Templates:
    return builtin_templates() if overrides is None else Templates(FILTERS, FUNCTIONS, overrides)


@cache
def builtin_templates() -> Templates:
    """Returns skillgen's own templates, which a build of many targets loads once."""
    return Templates(FILTERS, FUNCTIONS)


_VERSION = re.compile(r"\s*v?\d", re.IGNORECASE)
"""The beginning of a version: "Wed Oct 15 2025" and "latest" are not versions."""

_VERSION_LIMIT = 64
"""Characters of a service's version; longer ones are not real versions."""


Rendered = tuple[tuple[Document | Artifact, ...], tuple[Problem, ...]]
"""Documents sorted by path, and problems such as texts that had to be left out."""


def render_documents(
    service: Service,
    formats: Collection[str] = DEFAULT_FORMATS,
    overrides: Path | None = None,
    profile: str = DEFAULT_PROFILE,
    publisher: Publisher = UNKNOWN_PUBLISHER,
    added: Mapping[str, bytes] = {},
    budget: int = DEFAULT_BUDGET,
    parts: Sequence[tuple[Service, Collection[str]]] = (),
) -> Rendered:
    """Renders a service in each format. `added` are the files of skills to which a person added lines.

    `parts` are what each of several skills documents, the common one first.

    Raises:
        UsageError: a template has an error.
    """
    templates = _templates_with(overrides)
    problems = [*_length_problems(service)]
    service, parts = _with_version(service), [(_with_version(part), elsewhere) for part, elsewhere in parts]
    with phrases_of(templates):
        problems += description_problems(service)
        rendering = Rendering(service, templates, formats, profile, publisher, budget, added, parts)
        documents, more = _run((item.renderer for name, item in FORMATS.items() if name in formats), rendering)
    return documents, (*more, *problems)


def _with_version(service: Service) -> Service:
    """Returns a service with its version only if that is one."""
    if service.version is None:
        return service
    version = one_line(service.version) if _VERSION.match(service.version) else ""
    return replace(service, version=clip(version, _VERSION_LIMIT) or None)


def render_site(
    services: Sequence[Service],
    folders: Sequence[str],
    formats: Collection[str],
    overrides: Path | None = None,
    profile: str = DEFAULT_PROFILE,
    publisher: Publisher = UNKNOWN_PUBLISHER,
    added: Sequence[Mapping[str, bytes]] = (),
    earlier: Mapping[str, Any] = {},
    budget: int = DEFAULT_BUDGET,
    parts: Sequence[Sequence[tuple[Service, Collection[str]]]] = (),
) -> tuple[Rendered, dict[str, Any]]:
    """Renders the documents above those of several services, which are in `folders`; returns facts on each service too.

    `earlier` has those facts on services that are not rendered, by folder.

    Raises:
        UsageError: a template has an error.
    """
    templates = _templates_with(overrides)
    with phrases_of(templates):
        renderers = [item.site_renderer for name, item in FORMATS.items() if name in formats and item.site_renderer]
        renderings = [
            Rendering(service, templates, formats, profile, publisher, budget, files, own)
            for service, files, own in zip(services, added, parts, strict=True)
        ]
        site = Site(renderings, folders, publisher, templates, earlier)
        return _run(renderers, site), site_facts(site)


def _run(renderers: Iterable[str], subject: Rendering | Site) -> Rendered:
    results = [item for renderer in renderers for item in resolve_name(renderer)(subject)]
    documents = sorted((item for item in results if not isinstance(item, Problem)), key=lambda document: document.path)
    problems = dict.fromkeys(item for item in results if isinstance(item, Problem))
    return tuple(map(finished, documents)), tuple(problems)


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
