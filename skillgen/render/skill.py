"""Renders a skill: SKILL.md within its budget, everything else in references/ (Agent Skills; design, "Output").

A service that fits is written into SKILL.md as a whole. Of a larger one, SKILL.md has what every call needs, the
service's own words, and the richest list of tools that fits (`listing`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.model.document import BYTES_PER_TOKEN, Artifact, Document, Publisher, RenderOptions
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.render.about import Said, recipes_text, resource_and_prompt_lines, said_by, workflow_lines
from skillgen.render.environment import Templates
from skillgen.render.identity import skill_fields, skill_name, title, tool_phrase, what_and_when
from skillgen.render.listing import FORMS, Listing, list_indexes, list_tools, shared_start
from skillgen.render.pages import link_resolver
from skillgen.render.parameters import lists_requests, shared_parameters
from skillgen.render.reference import Reference, page_text, reference_files, reference_of, whole_skill
from skillgen.render.scripts import program_files
from skillgen.render.semantics import cautions
from skillgen.text.inert import inert
from skillgen.text.summary import clip

MAX_LINES = 499
"""Lines of SKILL.md: under 500 (Agent Skills)."""


class Skill(Struct, frozen=True, kw_only=True):
    """SKILL.md, and the pages that it refers to."""

    text: str
    """SKILL.md."""

    said: Said
    """What it has of the service's own words."""

    listing: Listing | None = None
    """The list of tools; `None` if SKILL.md has everything."""

    anchors: Mapping[str, str] | None = None
    """The anchor of each address within the references, if SKILL.md has everything instead of them."""

    is_cut: bool = False
    """True if words of the source were too long, and lines are left out."""


_SHORTENED = "names and descriptions of the source are too long for SKILL.md; its longest lines are left out"


_OTHER_LIMIT = 120
"""Characters of what another skill does."""


Result = TypeVar("Result", Document, Artifact, Problem)


def finished(document: Result) -> Result:
    """Returns a document without anything that a host would execute, even where two pieces of text meet."""
    if not isinstance(document, Document) or (text := inert(document.path, document.text)) == document.text:
        return document
    return replace(document, text=text)


@dataclass(frozen=True)
class Rendering:
    """What the documents of every format are rendered from."""

    service: Service
    """The service."""

    templates: Templates
    """The templates, those of the user first."""

    options: RenderOptions
    """What the user wants."""

    added: Mapping[str, bytes] = field(default_factory=dict)
    """Files of skills to which a person added lines, relative to OUT; every copy of a skill has them."""

    parts: Sequence[tuple[Service, Collection[str]]] = ()
    """What each of several skills documents, the common one first, and the types that another one describes."""

    elsewhere: Collection[str] = ()
    """Types that another skill describes."""

    called: Sequence[Tool] | None = None
    """The tools that workflows may have, if they are not only those of the service."""

    others: Sequence[Service] = ()
    """What the other skills document, if it is of the common one."""

    common: Service | None = None
    """What the common skill documents, if it is of another one."""

    @cached_property
    def skills(self) -> Sequence[Rendering]:
        """What each skill is rendered from, the common one first."""
        if not self.parts:
            return [self]
        common, *others = (service for service, _ in self.parts)
        found = [dataclasses.replace(self, service=common, parts=(), others=others, called=self.service.tools)]
        for service, elsewhere in self.parts[1:]:
            found.append(dataclasses.replace(self, service=service, parts=(), elsewhere=elsewhere, common=common))
        return found

    @property
    def folder(self) -> str:
        """The folder of its skill, or of the common one."""
        return f"skills/{skill_name(self.service)}"

    @cached_property
    def reference(self) -> Reference:
        """Its sections and pages."""
        return reference_of(self.service, self.templates, self.elsewhere, self.called)

    @cached_property
    def skill(self) -> Skill | None:
        """The skill that other documents refer to; `None` if it is not among the formats."""
        return self.skills[0].any_skill if "skill" in self.options.formats else None

    @cached_property
    def any_skill(self) -> Skill:
        """The skill, also for the formats that contain a copy of it."""
        return _skill_of(self)

    @cached_property
    def skill_files(self) -> tuple[Document | Problem, ...]:
        """SKILL.md and the files of its references, relative to the skill's folder."""
        return tuple(_skill_files(self))

    @property
    def skill_contents(self) -> dict[str, bytes]:
        """The files of the skill by path, sorted, with the bytes that are written."""
        files = {item.path: finished(item).content for item in self.skill_files if isinstance(item, Document)}
        start = f"{self.folder}/"
        added = {path.removeprefix(start): text for path, text in self.added.items() if path.startswith(start)}
        return dict(sorted({**files, **added}.items()))

    @cached_property
    def context(self) -> dict[str, Any]:
        """What the templates of every format are given."""
        others = ((skill_name(it), what_and_when(it)[0].removeprefix(f"{it.product}: ")) for it in self.others)
        return {
            "service": self.service,
            "title": title(self.service),
            "reference": self.reference,
            "phrase": tool_phrase,
            "formats": self.options.formats,
            "has_program": self.has_program,
            "other_skills": [(name, clip(what, _OTHER_LIMIT)) for name, what in others],
            "common_skill": skill_name(self.common) if self.common is not None else None,
            "has_types_elsewhere": bool(self.elsewhere),
        }

    @property
    def has_program(self) -> bool:
        """Whether the skill has a program that calls the tools."""
        return "scripts" in self.options.formats and self.service.kind != "cli" and bool(self.service.tools)


class Site(Struct, frozen=True):
    """What the documents above those of several services are rendered from."""

    renderings: Sequence[Rendering]
    """What the documents of each service are rendered from."""

    folders: Sequence[str]
    """The folder of each, below OUT."""

    publisher: Publisher
    """Who publishes them."""

    templates: Templates
    """The templates, those of the user first."""

    earlier: Mapping[str, Any] = {}
    """Facts on other services that were documented before, by folder."""

    @property
    def services(self) -> Sequence[Service]:
        """The services."""
        return [rendering.service for rendering in self.renderings]


_RECIPES_STEPS = 6
"""Steps of all workflows up to which SKILL.md has them itself; of more, it has a line for each."""

SAID_SHARE = 4
"""The service's own words take a quarter of SKILL.md, unless everything fits."""


def skill_documents(rendering: Rendering, within: str = "") -> Iterator[Document | Problem]:
    """Yields SKILL.md of each skill and the files of its references, in `skills/` below `within`."""
    for skill in rendering.skills:
        for item in skill.skill_files:
            yield Document(f"{within}{skill.folder}/{item.path}", item.text) if isinstance(item, Document) else item


def script_documents(rendering: Rendering) -> Iterator[Document]:
    """Yields the files of the programs of skills if the skills, which have them, are not among the formats."""
    for skill in rendering.skills:
        if skill.has_program and "skill" not in skill.options.formats:
            for item in program_files(skill.service):
                yield Document(f"{skill.folder}/{item.path}", item.text)


def _skill_files(rendering: Rendering) -> Iterator[Document | Problem]:
    skill, templates, reference = rendering.any_skill, rendering.templates, rendering.reference
    yield Document("SKILL.md", skill.text)
    if rendering.has_program:
        yield from program_files(rendering.service)
    if skill.is_cut:
        yield Problem.of("skill-shortened", "SKILL.md", _SHORTENED)
    if skill.listing is None:
        return
    indexes = [*skill.listing.indexes, *chain.from_iterable(list_indexes(reference).values())]
    for page in indexes:
        yield Document(f"references/{page.file_name}", page_text(page, templates, is_index=True))
    index_of = {name: page.file_name for page in indexes for name in page.anchors}
    reference = replace(reference, about=skill.said.left_in(reference.about))
    for file_name, text in reference_files(reference, templates, index_of):
        yield Document(f"references/{file_name}", text)


def _skill_of(rendering: Rendering) -> Skill:
    service, reference, context = rendering.service, rendering.reference, _context(rendering)
    limit, whole = rendering.options.budget * BYTES_PER_TOKEN, said_by(service)
    resolved = link_resolver({key: f"references/{address}" for key, address in reference.places.items()})

    def text(said: Said, listing: Listing | None, **more: object) -> str:
        """Returns SKILL.md; without a list, everything that precedes the sections of the tools."""
        fields = {**context, "said": said, "listing": listing, "is_whole": listing is None, **more}
        about = said.left_in(reference.about)
        text = rendering.templates.render("skill/SKILL.md.j2", about=about, **fields)
        return text if listing is None else inert("SKILL.md", resolved(text))

    def listed(said: Said) -> Listing:
        """Returns the richest list that fits with the rest."""
        if not service.tools:
            return Listing()
        rest = text(said, Listing(forms=FORMS, start=shared_start(service)))
        return list_tools(service, reference, limit - len(rest.encode()))

    if reference.size_bytes() < limit and not reference.has_quotations:
        everything = replace(reference, about=whole.left_in(reference.about))
        complete, anchors = whole_skill(text(whole, None), everything)
        if _fits(complete := inert("SKILL.md", complete), limit):
            return Skill(text=complete, said=whole, anchors=anchors)
    said, listing = whole, listed(whole)
    if listing.forms != FORMS[:1] or not _fits(text(said, listing), limit):
        said = said_by(service, limit // SAID_SHARE)
        listing = listing if said == whole else listed(said)
    shown = text(said, listing)
    if not _fits(shown, limit):  # lines on resources and prompts are left out, then the longest
        shown = text(said, listing, offered=())
    cut = cut_lines(shown, limit, cautions(service))
    return Skill(text=cut, said=said, listing=listing, is_cut=cut != shown)


def _context(rendering: Rendering) -> dict[str, Any]:
    """Returns what the templates of SKILL.md are given, whatever the list of tools is."""
    service, reference = rendering.service, rendering.reference
    tools = {name: f"references/{address}" for name, address in reference.tool_addresses.items()}
    are_few = sum(len(item.steps) for item in service.workflows) <= _RECIPES_STEPS
    logins = {auth.sent_as for auth in service.requirements.auth}
    called = rendering.called or service.tools
    shared = [(f"{item.parameter.location} {item.parameter.name}", item) for item in shared_parameters(service)]
    return {
        **rendering.context,
        "fields": skill_fields(service, rendering.options.profile, has_program=rendering.has_program),
        "brief": False,
        "shared_parameters": [item for place, item in shared if place not in logins],
        "lists_requests": lists_requests(service),
        "workflow_lines": workflow_lines(service.workflows, called, reference.about, "references/{}".format),
        "recipes": recipes_text(reference.about, tools) if are_few and not reference.has_quotations else "",
        "offered": resource_and_prompt_lines(service),
        "lists": list_indexes(reference),
    }


def _fits(text: str, limit: int) -> bool:
    return len(text.encode()) <= limit and text.count("\n") <= MAX_LINES


def cut_lines(text: str, limit: int, safety: Collection[str]) -> str:
    """Leaves out the longest lines of a text that fits in no form, those on safety last, but never front matter."""
    end_of_fields = text.find("\n---\n") + len("\n---\n") if text.startswith("---\n") else 0
    fields, lines = text[:end_of_fields], text[end_of_fields:].splitlines(keepends=True)
    over = len(text.encode()) - limit
    kept = {f"- {caution}\n" for caution in safety}
    for line in sorted(lines, key=lambda line: (line in kept, -len(line))):
        if over <= 0:
            break
        lines.remove(line)
        over -= len(line.encode())
    return fields + "".join(lines[: max(MAX_LINES - fields.count("\n"), 0)])
