"""Renders the text of an `--ai-help` flag (dashdash CLI profile): front matter and the ten sections.

It has at most 3,000 tokens. It must be self-contained, so it includes every parameter where they fit; a larger service
only lists its commands, and says where their parameters are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice, zip_longest
from types import SimpleNamespace
from typing import Any

from skillgen.model.calls import Example
from skillgen.model.document import BYTES_PER_TOKEN, DEFAULT_BUDGET, Document
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.render.about import recipes_text, resource_and_prompt_lines, said_by, workflow_lines
from skillgen.render.dashdash import cli_front_matter
from skillgen.render.identity import description, what_and_when
from skillgen.render.listing import FORMS, Listing, list_tools, shared_start
from skillgen.render.pages import Section, file_stems, types_reachable
from skillgen.render.parameters import lists_requests
from skillgen.render.reference import Reference, SingleFile
from skillgen.render.results import command_errors
from skillgen.render.semantics import cautions, date_formats, deprecated_names, limit_headers, operational_facts
from skillgen.render.skill import SAID_SHARE, Rendering, cut_lines
from skillgen.text.generated import OWN_WORDS, marked
from skillgen.text.inert import inert

_RECIPES_STEPS = 40
"""Steps of all workflows up to which they are written out; of more, each workflow has a line."""

_QUICK_ITEMS = 20
"""Entries of the quick reference: the groups, then tools."""

_TYPES_LIMIT = 12_000
"""Characters of named types in the help of one command."""

_EXAMPLES_SHOWN = 12

_FEW_EXAMPLES = 3
"""The same where more would hide a command."""

_PROFILE_SECTIONS = {
    "when": ("when to use", "when not to use"),
    "overview": ("overview", "introduction"),
    "quick": ("quick reference",),
    "commands": ("command reference", "commands", "tool reference", "tools"),
    "input": ("input specification", "input"),
    "output": ("output formats", "output"),
    "examples": ("examples",),
    "setup": ("setup", "prerequisites", "setup/prerequisites", "installation"),
    "authentication": ("authentication", "authentication and prerequisites"),
    "limits": ("rate limits", "rate limits and performance"),
    "errors": ("error handling", "errors", "error codes"),
    "access": ("alternative access", "alternative access methods"),
}
"""The profile's sections, with the titles of the source's sections that are merged into each."""


def ai_help_documents(rendering: Rendering) -> Iterator[Document]:
    """Yields ai-help.md: with every parameter if that fits, else a list of tools, else without what is optional."""
    yield Document("ai-help.md", _fitting_text(rendering, DEFAULT_BUDGET * BYTES_PER_TOKEN))


def _fitting_text(rendering: Rendering, limit: int) -> str:
    service, context = rendering.service, _context(rendering)
    is_small = rendering.reference.size_bytes() <= limit
    if is_small and len((text := _text(rendering, context, None, False, _EXAMPLES_SHOWN)).encode()) <= limit:
        return text
    empty = Listing(start=shared_start(service))
    texts = []
    for is_brief, examples in ((False, _EXAMPLES_SHOWN), (False, _FEW_EXAMPLES), (True, _FEW_EXAMPLES), (True, 0)):
        rest = len(_text(rendering, context, empty, is_brief, examples).encode())
        listing = list_tools(service, rendering.reference, limit - rest - _MARGIN, is_linked=False)
        text = _text(rendering, context, listing, is_brief, examples)
        if len(text.encode()) <= limit:
            texts.append(text)
            if FORMS[-1] not in listing.forms:
                return text
    return texts[0] if texts else cut_lines(text, limit, cautions(service))


_MARGIN = 50
"""Bytes for blank lines around the list, and for what the last scan adds to a few of its lines."""


def _context(rendering: Rendering) -> dict[str, Any]:
    """Returns what the templates are given of every text, however much it has."""
    service, reference = rendering.service, rendering.reference
    quick = [tool for topic in reference.topics for tool in topic.tools]
    has_groups = len(quick) > _QUICK_ITEMS and len(reference.topics) > 1
    groups = sorted(reference.topics, key=lambda topic: -len(topic.tools))[:_QUICK_ITEMS] if has_groups else []
    return {
        **rendering.context,
        "lists_requests": lists_requests(service),
        "trigger": what_and_when(service)[1] or description(service),
        "quick": quick[: _QUICK_ITEMS - len(groups)],
        "quick_groups": groups,
        "fields": cli_front_matter(service, subcommand_help="ai-help-commands" in rendering.formats),
        **_sections(service),
        "elsewhere": _elsewhere(rendering),
        "examples": [*islice(_examples(reference), _EXAMPLES_SHOWN)],
        "with_json": [
            tool.name
            for tool in service.tools
            if any(item.name == "--json" and not _INPUT.search(item.description or "") for item in tool.parameters)
        ],
        "has_examples": any(
            any(example.flaw is None for example in tool.examples)
            or any("example" in section.title.lower() for section in tool.guidance)
            for tool in service.tools
        ),
        "workflow_lines": workflow_lines(service.workflows, service.tools, (), str),
        "media_types": list(dict.fromkeys(name for tool in service.tools for name in tool.output_media_types)),
        "dates": date_formats(service),
        "limit_headers": limit_headers(service),
        "refuses": any(error.code == "429" for tool in service.tools for error in tool.errors),
        "says_limits": any(map(_LIMITS.search, filter(None, (service.description, service.instructions)))),
        "operational": operational_facts(service),
        "offered": resource_and_prompt_lines(service),
        "deprecated": deprecated_names(service),
        "structured": [tool.name for tool in service.tools if tool.output is not None and tool.output.schema],
    }


def _text(
    rendering: Rendering, context: Mapping[str, Any], listing: Listing | None, is_brief: bool, examples: int
) -> str:
    """Returns the text with a list of tools, or their sections; if it is brief, with the required sections only."""
    service, reference, templates = rendering.service, rendering.reference, rendering.templates
    inlined = listing is None
    limit = None if inlined else DEFAULT_BUDGET * BYTES_PER_TOKEN // (SAID_SHARE * (2 if is_brief else 1))
    texts = [said_by(service, limit, "description"), said_by(service, limit, "instructions")]
    steps = sum(len(item.steps) for item in service.workflows)
    context = {
        **context,
        "brief": is_brief,
        "listing": listing,
        "inlined": inlined,
        "texts": [said for said in texts if said.text],
        "examples": context["examples"][:examples],
        "recipes": recipes_text(reference.about, {}) if steps <= _RECIPES_STEPS and not is_brief else "",
        "command_errors": [] if is_brief else command_errors(service),
    }
    file = SingleFile()
    file.add(templates.render("ai-help/first.md.j2", **context))
    if inlined:
        for topic in reference.topics:
            file.add(topic.above)
            file.add_pages(topic.pages)
    file.add_sections(filter(None, [reference.options]))
    file.add(templates.render("ai-help/input.md.j2", **context))
    if inlined:
        file.add_sections(reference.type_sections)
        file.add_sections(filter(None, [reference.errors]), level="")
    file.add(templates.render("ai-help/last.md.j2", **context))
    return inert("ai-help.md", marked(file.text()))


def _examples(reference: Reference) -> Iterator[tuple[Tool, Example]]:
    """Yields the declared examples, one of each group in turn: the largest first, in it those of calls with a body."""
    found = [
        [
            (tool, example)
            for tool in sorted(topic.tools, key=lambda tool: tool.input is None)
            for example in tool.examples
            if example.is_declared and example.flaw is None and (example.input or example.description)
        ]
        for topic in sorted(reference.topics, key=lambda topic: -len(topic.tools))
    ]
    return filter(None, chain.from_iterable(zip_longest(*found)))


_LIMITS = re.compile(r"rate.?limit|\b429\b|too many requests", re.IGNORECASE)

_INPUT = re.compile(r"\b(?:file|input|parse|read|stdin)", re.IGNORECASE)


def _elsewhere(rendering: Rendering) -> str:
    """Returns the folder, the file or the command that has the parameters of all commands."""
    if rendering.service.kind == "cli":
        return f"{rendering.service.name} COMMAND --help"
    if rendering.skill is None:
        return "llms-full.txt"
    if rendering.parts:
        return "skills/"
    return f"{rendering.folder}/{'SKILL.md' if rendering.skill.is_whole else 'references/'}"


def command_documents(rendering: Rendering) -> Iterator[Document]:
    """Yields the help of each command, without front matter; what concerns all of them is in ai-help.md (3.4.2)."""
    reference, templates = rendering.reference, rendering.templates
    types = {section.target: section for section in reference.type_sections}
    stems = file_stems((tool.name for tool in rendering.service.tools), frozenset())
    for topic in reference.topics:
        for page in topic.pages:
            for section in page.sections:
                file = SingleFile()
                file.add(templates.render("ai-help/command.md.j2", **rendering.context, name=section.name))
                file.add_tool(section)
                shown = [*([reference.errors] if reference.errors else []), *_linked_types(section, types)]
                file.add_sections(shown, level="")
                yield Document(f"ai-help/{stems[section.name]}.md", file.text())


def _linked_types(section: Section, types: Mapping[str, Section]) -> Iterator[Section]:
    """Yields the named types that a command's section links to, directly or indirectly, up to a size."""
    left = _TYPES_LIMIT
    for found in types_reachable([section], types):
        if len(found.text) <= left:
            left -= len(found.text)
            yield found


def _sections(service: Service) -> dict[str, Any]:
    """Returns the source's own sections as `own`, by section of the profile, and the others as `rest`."""
    own = {
        key: [section for section in service.sections if section.title.strip().lower() in titles]
        for key, titles in _PROFILE_SECTIONS.items()
    }
    merged = [id(section) for sections in own.values() for section in sections]
    return {
        "own": SimpleNamespace(**own),
        "own_words": OWN_WORDS,
        "rest": [section for section in service.sections if id(section) not in merged],
    }
