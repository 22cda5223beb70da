"""Renders a skill: SKILL.md within its budget, everything else in references/ (Agent Skills; design, "Output").

A small service is written into SKILL.md as a whole. Of a larger one, SKILL.md takes the richest form that fits: a call
line and a phrase for each tool; its required parameters and a phrase; name and phrase; names by group; groups and an
index. The index is written only if one of the last two forms is taken.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.model.document import BYTES_PER_TOKEN, Artifact, Document, Publisher
from skillgen.model.service import Service
from skillgen.render.environment import Templates
from skillgen.render.identity import skill_name, title, tool_phrase
from skillgen.render.index import LINES, Index, index_by_group, index_in_sequence, list_indexes
from skillgen.render.invocation import skill_fields
from skillgen.render.pages import required_items
from skillgen.render.parameters import common_parameters
from skillgen.render.reference import Reference, page_text, reference_files, reference_of, whole_skill
from skillgen.render.scripts import program_files
from skillgen.render.workflows import recipes_text, workflow_lines
from skillgen.text.markdown import disarm, disarm_json, escape_dollar_digits, one_line

MAX_LINES = 499
"""Lines of SKILL.md: under 500 (design, "Output")."""

MAX_BYTES = 15_980
"""Under 16,000 characters, and under 5,000 tokens of 3.2 bytes."""

USUAL_CHARACTERS = 5_000
"""Characters of SKILL.md, unless the list of groups alone needs more (design, "Output")."""

WHOLE_BYTES = 4_800
"""Bytes of the references below which SKILL.md has everything: 1,500 tokens."""

FEW_TOOLS = 10
"""Tools up to which SKILL.md has everything if the references have less than `FEW_TOOLS_BYTES`."""

FEW_TOOLS_BYTES = 2 * WHOLE_BYTES
"""A limit for few tools: a second file would save a caller hardly anything."""

LIST_FORMS = ("calls", "required", "phrases", "names")
"""How each tool is shown, the richest form first; `whole` precedes them, and `groups` and `index` follow."""

MORE_TOKENS = {"calls": 800, "required": 800, "phrases": 500, "names": 200}
"""Tokens that a form may cost above the way through a group: it saves reading a list of names (`names`), a wrong
section (`phrases`), or the section itself (`calls`, `required`)."""

LONG_LIST_TOKENS = 10_000
"""Tokens of an answer to `tools/list` from which SKILL.md and a tool's section together cost at most a tenth of it."""

SHORT_PHRASE = 50
"""Characters of a phrase where longer ones have no room."""

_Form = tuple[str, Index | None, int]
"""A form, the index that it needs, and the characters that an entry may have for words."""


LENGTHS = ({"brief": False, "bare": False}, {"brief": True, "bare": False}, {"brief": True, "bare": True})
"""How much SKILL.md says apart from the tools: everything, the same in short, or only what a safe call needs."""

INDEX_WORD_LIMITS = (320, 120, 60, 40)
"""Characters of an index entry that describe its tools, the richest first; none if there is no room."""


class Skill(Struct, frozen=True, kw_only=True):
    """SKILL.md, and the indexes that it refers to."""

    text: str
    """SKILL.md."""

    index: Index | None
    """The index of the tools, where SKILL.md shows groups only."""

    lists: Mapping[str, Index]
    """The indexes of `resources`, `prompts` and `events` that fill several pages."""

    anchors: Mapping[str, str] | None = None
    """The anchor of each address within the references, if SKILL.md has everything instead of them."""

    is_bare: bool = False
    """True if words of the source were too long and left out."""

    @property
    def is_whole(self) -> bool:
        """True if SKILL.md has everything, and there are no references."""
        return self.anchors is not None


_SKILL_SHORTENED = Problem.of(
    code="skill-shortened",
    where="SKILL.md",
    message="names and descriptions of the source are too long for SKILL.md; it has only how to call, safety and tools",
)


AnyFile = TypeVar("AnyFile", Document, Artifact)


def finished(document: AnyFile) -> AnyFile:
    """Returns a document without anything that a host would execute, even where two pieces of text meet."""
    if isinstance(document, Artifact) or document.path.endswith(".py"):  # a program has no text of a source
        return document
    escape = disarm_json if document.path.endswith((".json", ".yaml")) else disarm
    return replace(document, text=escape(document.text))


@dataclass(frozen=True)
class Rendering:
    """What the documents of every format are rendered from."""

    service: Service
    """The service."""

    templates: Templates
    """The templates, those of the user first."""

    formats: Collection[str]
    """All formats that are rendered."""

    profile: str
    """The profile of SKILL.md's front matter."""

    publisher: Publisher
    """Who publishes the service."""

    added: Mapping[str, bytes] = field(default_factory=dict)
    """Files of the skill to which a person added lines, relative to its folder; every copy of the skill has them."""

    @cached_property
    def reference(self) -> Reference:
        """Its sections and pages."""
        return reference_of(self.service, self.templates)

    @cached_property
    def skill(self) -> Skill | None:
        """The skill that other documents refer to; `None` if it is not among the formats."""
        return self.any_skill if "skill" in self.formats else None

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
        return dict(sorted({**files, **self.added}.items()))

    @cached_property
    def context(self) -> dict[str, Any]:
        """What the templates of every format are given."""
        return {
            "service": self.service,
            "title": title(self.service),
            "reference": self.reference,
            "phrase": tool_phrase,
            "formats": self.formats,
            "has_program": self.has_program,
        }

    @property
    def has_program(self) -> bool:
        """Whether the skill has a program that calls the tools."""
        return "scripts" in self.formats and self.service.kind != "cli" and bool(self.service.tools)


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
"""Steps of all workflows up to which SKILL.md has them itself, if there is room; of more, it has a line for each."""


def skill_documents(rendering: Rendering, within: str = "") -> Iterator[Document | Problem]:
    """Yields SKILL.md and the files of its references, in `skills/` below `within`."""
    folder = f"{within}skills/{skill_name(rendering.service)}"
    for item in rendering.skill_files:
        yield Document(f"{folder}/{item.path}", item.text) if isinstance(item, Document) else item


def script_documents(rendering: Rendering) -> Iterator[Document]:
    """Yields the files of the skill's program if the skill, which has them, is not among the formats."""
    if rendering.has_program and "skill" not in rendering.formats:
        for item in program_files(rendering.service):
            yield Document(f"skills/{skill_name(rendering.service)}/{item.path}", item.text)


def _skill_files(rendering: Rendering) -> Iterator[Document | Problem]:
    skill, templates = rendering.any_skill, rendering.templates
    yield Document("SKILL.md", skill.text)
    if rendering.has_program:
        yield from program_files(rendering.service)
    if skill.is_bare:
        yield _SKILL_SHORTENED
    if skill.is_whole:
        return
    indexes = [*([skill.index] if skill.index else []), *skill.lists.values()]
    for page in (page for index in indexes for page in index.pages):
        yield Document(f"references/{page.file_name}", page_text(page, templates, is_index=True))
    index_of = {name: page.file_name for index in indexes for page in index.pages for name in page.anchors}
    for file_name, text in reference_files(rendering.reference, templates, index_of):
        yield Document(f"references/{file_name}", text)


def _skill_of(rendering: Rendering) -> Skill:
    """Returns SKILL.md in the richest form that fits and is a short way to a tool, with the index if it needs one."""
    service, reference, templates = rendering.service, rendering.reference, rendering.templates
    lists = list_indexes(reference)
    tool_places = {name: f"references/{address}" for name, address in reference.tool_addresses.items()}
    steps = sum(len(item.steps) for item in service.workflows)
    fields = skill_fields(service, rendering.profile, has_program=rendering.has_program)
    context = {
        **rendering.context,
        "fields": fields,
        "lists": lists,
        "workflow_lines": workflow_lines(service, reference.about, "references/{}".format),
        "recipes": recipes_text(reference.about, tool_places) if steps <= _RECIPES_STEPS else "",
    }

    def rendered(form: str, index: Index | None = None, words: int = 0, **length: bool) -> str:
        head = templates.render("skill/SKILL.md.j2", **context, **length, index=index, form=form, words=words)
        return head if form == "whole" else _escaped(head)

    whole_bytes = FEW_TOOLS_BYTES if len(service.tools) <= FEW_TOOLS else WHOLE_BYTES
    if reference.size_bytes() < whole_bytes and not reference.has_quotations:
        text, anchors = whole_skill(rendered("whole", brief=False, bare=False), reference)
        if _fits(text := _escaped(text), MAX_BYTES):
            return Skill(text=text, index=None, lists={}, anchors=anchors)
    by_group = cache(lambda: index_by_group(reference))
    names_length = sum(len(one_line(tool.name)) + len("``, ") for tool in service.tools)

    def fitting(forms: Iterable[_Form], lengths: Sequence[Mapping[str, bool]], limit: int) -> Iterator[Skill]:
        for form, index, words in forms:
            # Rendering is slow, and the minimum length of all tools or index entries is known before it.
            if templates.are_builtin and (names_length if index is None else _min_characters(index)) > limit:
                continue
            for length in lengths:
                text = rendered(form, index, words, **length)
                if _fits(text, limit):
                    yield Skill(text=text, index=index, lists=lists, is_bare=length["bare"])

    by_groups = next(fitting(_group_forms(by_group()), LENGTHS[:-1], USUAL_CHARACTERS), None)
    way = _tokens_to_tool(by_groups, reference) if by_groups else None
    budget = _byte_budget(service, reference)
    # A call line lacks what all tools take, so that it saves nobody the section.
    for name in LIST_FORMS[1:] if common_parameters(service) else LIST_FORMS:
        limit = MAX_BYTES if by_groups and name == "names" else USUAL_CHARACTERS
        lengths = LENGTHS[:-1] if budget == math.inf or name == "names" else LENGTHS[:1]
        for skill in fitting(_list_forms(name), lengths, limit):
            if name != "names" and len(skill.text.encode()) > budget:
                continue
            worth = MORE_TOKENS[name] if len(skill.text) <= USUAL_CHARACTERS else 0
            if (
                way is None
                or (budget != math.inf and name != "names")
                or _tokens_to_tool(skill, reference) <= way + worth
            ):
                return skill
    rest = (
        fitting(_index_forms(reference, by_group), LENGTHS[:-1], MAX_BYTES),
        fitting(_all_forms(reference, by_group), LENGTHS[-1:], MAX_BYTES),
    )
    if found := next(chain([by_groups] if by_groups else [], *rest), None):
        return found
    *_, (form, index, words) = _all_forms(reference, by_group)
    text = rendered(form, index, words, **LENGTHS[-1])
    return Skill(text=_cut(text), index=index, lists=lists, is_bare=True)


def _byte_budget(service: Service, reference: Reference) -> float:
    """Returns the bytes that SKILL.md may have so that it, with a section, costs a tenth of a long list of tools."""
    if service.kind != "mcp":
        return math.inf
    tools = [
        {"name": tool.name, "description": tool.description or "", "inputSchema": tool.input_schema}
        for tool in service.tools
    ]
    listed = len(json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
    if listed < LONG_LIST_TOKENS * BYTES_PER_TOKEN:
        return math.inf
    sections = [section for page, _ in reference.tool_pages for section in page.sections]
    shared = {item.name: len(item.text.encode()) for page in reference.shared for item in page.sections}
    read = sum(len(item.text.encode()) for item in sections)
    read += sum(shared.get(name, 0) for section in sections for name in required_items(section.text))
    return listed / 10 - read / len(sections)


def _tokens_to_tool(skill: Skill, reference: Reference) -> float:
    """Returns the tokens of what is read until a tool is found: SKILL.md, and the headings of a page or its index."""
    listings = 0
    if skill.index is not None:
        index_bytes = {page.file_name: page.size_bytes() for page in skill.index.pages}
        by_label = {entry.label: entry for entry in skill.index.entries}
        for topic in reference.topics:
            names = sum(len(tool.name) + len("## \n") for tool in topic.tools)
            listings += len(topic.tools) * index_bytes.get(by_label[topic.title].files[0], names)
    tools = sum(len(topic.tools) for topic in reference.topics)
    return (len(skill.text.encode()) + listings / max(tools, 1)) / BYTES_PER_TOKEN


def _escaped(text: str) -> str:
    """Escapes the placeholders that a host would fill in; a host fills in the body only."""
    fields, end, body = text.partition("\n---\n") if text.startswith("---\n") else ("", "", text)
    return disarm(fields + end + escape_dollar_digits(body))


def _list_forms(name: str) -> Iterator[_Form]:
    """Yields a form of the list of tools; the phrases in full, and in short."""
    yield name, None, 0
    if name == "phrases":
        yield name, None, SHORT_PHRASE


def _group_forms(index: Index) -> Iterator[_Form]:
    """Yields the forms by group, with fewer and fewer words; there is an index for each group of several pages."""
    return (("groups", index, words) for words in INDEX_WORD_LIMITS)


def _all_forms(reference: Reference, by_group: Callable[[], Index]) -> Iterator[_Form]:
    yield from chain.from_iterable(map(_list_forms, LIST_FORMS))
    yield from _group_forms(by_group())
    yield from _index_forms(reference, by_group)


def _index_forms(reference: Reference, by_group: Callable[[], Index]) -> Iterator[_Form]:
    """Yields the forms for a service whose list of groups alone is long."""
    yield "groups", by_group(), 0
    for lines in LINES:
        index = index_in_sequence(reference, lines)
        yield from (("index", index, words) for words in (*INDEX_WORD_LIMITS, 0))


def _min_characters(index: Index) -> int:
    """Returns the minimum of characters for the entries of an index; more than fit if they have too many lines."""
    if len(index.entries) > MAX_LINES:
        return MAX_BYTES + 1
    return sum(len(entry.label) + sum(map(len, entry.files)) for entry in index.entries)


def _fits(text: str, limit: int) -> bool:
    """True if a text is within the limits of SKILL.md."""
    return len(text) <= limit and len(text.encode("utf-8")) <= MAX_BYTES and text.count("\n") <= MAX_LINES


def _cut(text: str) -> str:
    """Cuts off the last lines of a text that fits in no form, but never front matter."""
    end_of_fields = text.find("\n---\n") + len("\n---\n") if text.startswith("---\n") else 0
    while not _fits(text, MAX_BYTES) and len(text) > end_of_fields:
        text = text[: max(text.rstrip("\n").rfind("\n") + 1, end_of_fields)]
    return text
