"""Renders all documents of a service, format by format, and those above the documents of several services.

Also llms.txt, and everything in a single file, llms-full.txt. The parser of llmstxt.org requires every line under a
second-level heading to be a link item, so each section of llms.txt is a list of links; the web profile of dashdash
shares the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.model.auth import AccessLevel
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
from skillgen.render.about import workflow_lines
from skillgen.render.dashdash import SPEC_URL, SPEC_VERSION, web_front_matter
from skillgen.render.environment import Templates
from skillgen.render.filters import FILTERS, FUNCTIONS
from skillgen.render.identity import (
    TITLE_LIMIT,
    description,
    description_problems,
    plain,
    short_description,
    skill_name,
    title,
    tool_phrase,
    what_and_when,
)
from skillgen.render.listing import names_in
from skillgen.render.pages import Page
from skillgen.render.parameters import short_call
from skillgen.render.phrases import phrases_of, plain_phrase
from skillgen.render.reference import group_words, single_file
from skillgen.render.skill import Rendering, Site, finished
from skillgen.text.generated import marked
from skillgen.text.markdown import inline, one_line, rewritten
from skillgen.text.summary import clip
from skillgen.typed import convert


def _templates_with(overrides: Path | None) -> Templates:
    return builtin_templates() if overrides is None else Templates(FILTERS, FUNCTIONS, overrides)


@cache
def builtin_templates() -> Templates:
    """Returns skillgen's own templates, which a build of many targets loads once."""
    return Templates(FILTERS, FUNCTIONS)


_VERSION = re.compile(r"\s*v?\d\S*(?:\s+\S+){0,2}\s*\Z", re.IGNORECASE)
"""A version of at most three words: "Wed Oct 15 2025" and "latest" are not versions, nor is a sentence."""

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
    version = rewritten(one_line(service.version)) if _VERSION.match(service.version) else ""
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
    results = [finished(item) for renderer in renderers for item in resolve_name(renderer)(subject)]
    documents = sorted((item for item in results if not isinstance(item, Problem)), key=lambda document: document.path)
    return tuple(documents), tuple(dict.fromkeys(item for item in results if isinstance(item, Problem)))


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


_WORDS_LIMIT = 300
"""Characters of what the tools of a group do; more where there are few groups."""

_ALL_WORDS_LIMIT = 3_000
"""Characters of what the tools of all groups do, as far as `_WORDS_LIMIT` leaves it to this limit."""

_QUICK_ITEMS = 20
"""Maximum of entries in the quick reference (web profile, 5.2.2); more follow in a section of their own."""

_TOOLS_LIMIT = 16_000
"""Characters of the calls, addresses and phrases of all tools up to which they are listed; else the groups are."""


class Places(Struct, frozen=True):
    """The paths of the other files, relative to llms.txt."""

    skill: str | None
    """The folder of the skill; `None` if no skill is written."""

    anchors: Mapping[str, str] | None = None
    """The anchor in SKILL.md of each address within the references, if it has everything instead of them."""

    others: Mapping[str, str] = {}
    """The file that introduces each of several skills, by its folder."""

    @property
    def overview(self) -> str:
        """The file that introduces the service."""
        return f"{self.skill}/SKILL.md" if self.skill else "llms-full.txt"

    @property
    def how_to_call(self) -> str:
        """The section on how its tools are called."""
        return f"{self.overview}#how-to-call" if self.skill else self.overview

    def reference(self, address: str) -> str:
        """Returns the link target of an address in the references."""
        if address in self.others:
            return self.others[address]
        if self.anchors is not None:
            return "#".join(filter(None, (self.overview, self.anchors.get(address))))
        return f"{self.skill}/references/{address}" if self.skill else "llms-full.txt"


def llms_documents(rendering: Rendering) -> Iterator[Document]:
    """Yields both files."""
    service, templates, skills = rendering.service, rendering.templates, [rendering]
    if rendering.skill is not None:
        skills = [*rendering.skills]
    reference = skills[0].reference
    places = Places(
        skills[0].folder if rendering.skill is not None else None,
        anchors=rendering.skill.anchors if rendering.skill is not None else None,
        others={skill.folder: f"{skill.folder}/SKILL.md" for skill in skills} if len(skills) > 1 else {},
    )
    tools = [tool for tool in service.tools if not tool.is_preflight]
    addresses = (places.reference(rendering.reference.tool_addresses[tool.name]) for tool in tools)
    sizes = (
        len(short_call(tool, service) + place + tool_phrase(tool)) for tool, place in zip(tools, addresses, strict=True)
    )
    is_short = not places.others and all(size <= _TOOLS_LIMIT for size in accumulate(sizes))
    what, when = what_and_when(service)
    context = {
        **rendering.context,
        "reference": reference,
        "what": what,
        "trigger": when or description(service),
        "brief": False,
        "places": places,
        "fields": web_front_matter(service),
        "tools": tools if is_short else (),
        "groups": () if is_short else _groups(rendering),
        "quick_items": _QUICK_ITEMS,
        "instructions_address": _instructions_address(skills[0], places),
        "workflow_lines": workflow_lines(service.workflows, service.tools, reference.about, places.reference),
    }
    yield Document("llms.txt", marked(templates.render("llms.txt.j2", **context)))
    head = templates.render("llms-full.txt.j2", **context)
    yield Document("llms-full.txt", single_file(head, rendering.reference))


def _instructions_address(rendering: Rendering, places: Places) -> str | None:
    """Returns where the instructions of a server are, as far as what it does has not said them."""
    if not rendering.service.instructions:
        return None
    said = rendering.any_skill.said
    if rendering.skill is not None and not said.is_cut:
        return f"{places.overview}#instructions" if said.text else None
    address = rendering.reference.about_address("instructions")
    return places.reference(address) if address else None


def _groups(rendering: Rendering) -> Sequence[tuple[str, str, str]]:
    """Returns title, file and words of each group, the largest first, "Other" last; of sequences if there are many.

    Of several skills, it returns each with its folder.
    """
    if rendering.parts and rendering.skill is not None:
        skills = ((item, inline(description(item.service))) for item in rendering.skills)
        return [(skill_name(item.service), item.folder, words) for item, words in skills]
    files = {name: page.file_name for page in _index_pages(rendering) for name in page.anchors}
    topics = sorted(rendering.reference.topics, key=lambda topic: (topic.title == "Other", -len(topic.tools)))
    limit = max(_WORDS_LIMIT, _ALL_WORDS_LIMIT // max(len(topics), 1))
    return [
        (
            item.title,
            files.get(item.pages[0].file_name, item.pages[0].file_name),
            group_words(item.words, names_in(item, rendering.service), limit),
        )
        for item in topics
    ]


def _index_pages(rendering: Rendering) -> Sequence[Page]:
    skill = rendering.skill
    return skill.listing.indexes if skill is not None and skill.listing is not None else ()


_ACCESS_LEVELS = ("none", "read", "browse", "interact", "full")


class SiteEntry(Struct, frozen=True, kw_only=True):
    """One service above whose documents llms.txt is."""

    folder: str
    """Below OUT."""

    title: str
    """Its display name."""

    does: str = ""
    """What it does, in one sentence."""

    tools: int = 0
    """How many tools it has."""

    access: AccessLevel = "interact"
    """How much a caller can change."""


def site_facts(site: Site) -> dict[str, Any]:
    """Returns the facts on each service by its folder, sorted, for the record."""
    facts = {
        folder: {
            "title": title(service),
            "does": short_description(service),
            "tools": len(service.tools),
            "access": service.access_level,
        }
        for service, folder in zip(site.services, site.folders, strict=True)
    }
    return dict(sorted({**site.earlier, **facts}.items()))


def site_documents(site: Site) -> Iterator[Document]:
    """Yields the llms.txt of a folder with several services, each with its own llms.txt.

    It has the "Site Structure" of dashdash's web profile (6.2).
    """
    facts = site_facts(site)
    found = [convert({"folder": folder, **facts[folder]}, SiteEntry) for folder in (*site.folders, *site.earlier)]
    counts = Counter(entry.title for entry in found)
    entries = [
        entry if counts[entry.title] == 1 else replace(entry, title=f"{entry.title} ({entry.folder})")
        for entry in found
    ]
    names = plain(", ".join(entry.title for entry in entries[:12]))
    name = "single_site" if len(entries) == 1 else "site" if len(entries) <= 12 else "large_site"
    fields: dict[str, Any] = {
        "name": "services",
        "description": plain_phrase(name, number=len(entries), names=names),
        "spec-url": SPEC_URL,
        "spec-version": SPEC_VERSION,
        "subdirectory-help": True,
        "access-level": max((entry.access for entry in entries), key=_ACCESS_LEVELS.index, default="read"),
        **dict.fromkeys(("cli-url", "mcp-url", "api-url"), "none"),
    }
    yield Document("llms.txt", site.templates.render("llms-site.txt.j2", fields=fields, site=entries))
