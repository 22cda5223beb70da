"""Renders the text of an `--ai-help` flag (dashdash CLI profile): front matter and the ten sections.

It must be self-contained, so it includes every parameter as long as the size allows; a larger service only lists its
commands and points to the references for parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from skillgen.model.document import Document
from skillgen.model.schema import Parameter
from skillgen.model.service import Service
from skillgen.render.about import resource_and_prompt_lines
from skillgen.render.dashdash import cli_front_matter
from skillgen.render.identity import description, skill_name, what_and_when
from skillgen.render.llms import quick_tools
from skillgen.render.pages import ERRORS, Section, file_stems, linked_types
from skillgen.render.reference import SingleFile
from skillgen.render.results import CommonErrors, command_errors, common_errors
from skillgen.render.semantics import date_formats, deprecated_names, operational_facts
from skillgen.render.skill import Rendering
from skillgen.render.workflows import recipes_text, workflow_lines
from skillgen.text.generated import OWN_WORDS, marked
from skillgen.text.markdown import disarm

_RECIPES_STEPS = 40
"""Steps of all workflows up to which they are written out; of more, each workflow has a line."""

_INLINE_LIMIT_BYTES = 100_000
"""Maximum size of all sections for including them."""

_DESCRIPTION_LIMIT = 20_000
"""Characters of description and instructions for including them."""

_TYPES_LIMIT = 12_000
"""Characters of named types in the help of one command."""

_EXAMPLES_SHOWN = 12

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
    """Yields ai-help.md."""
    service, reference, templates = rendering.service, rendering.reference, rendering.templates
    inlined = reference.size_bytes() <= _INLINE_LIMIT_BYTES
    has_commands = "ai-help-commands" in rendering.formats
    quick = quick_tools(reference)
    steps = sum(len(item.steps) for item in service.workflows)
    context = {
        **rendering.context,
        "brief": False,
        "trigger": what_and_when(service)[1] or description(service),
        "quick": quick,
        "others": [tool.name for tool in service.tools if tool.name not in {item.name for item in quick}],
        "fields": cli_front_matter(service, subcommand_help=has_commands),
        "inlined": inlined,
        "is_long": len(service.instructions or "") + len(service.description or "") > _DESCRIPTION_LIMIT,
        **_sections(service),
        "elsewhere": _elsewhere(rendering),
        "examples": [
            (tool, example)
            for tool in service.tools
            for example in tool.examples
            if example.is_declared and example.flaw is None and (example.input or example.description)
        ][:_EXAMPLES_SHOWN],
        "with_json": [tool.name for tool in service.tools if any(map(_prints_json, tool.parameters))],
        "shown_in": [
            tool.name
            for tool in service.tools
            if inlined and any("example" in section.title.lower() for section in tool.guidance)
        ],
        "has_examples": inlined and any(example.flaw is None for tool in service.tools for example in tool.examples),
        "workflow_lines": workflow_lines(service, (), str),
        "recipes": recipes_text(reference.about, {}) if steps <= _RECIPES_STEPS else "",
        "media_types": list(dict.fromkeys(name for tool in service.tools for name in tool.output_media_types)),
        "dates": date_formats(service),
        "operational": operational_facts(service),
        "offered": resource_and_prompt_lines(service),
        "deprecated": deprecated_names(service),
        "command_errors": command_errors(service, common_errors(service) if inlined else CommonErrors()),
        "structured": [tool.name for tool in service.tools if tool.output is not None and tool.output.schema],
    }
    file = SingleFile()
    file.add(templates.render("ai-help/first.md.j2", **context))
    if inlined:
        for topic in reference.topics:
            file.add_tools(topic.pages)
    file.add_types(filter(None, [reference.common.options, reference.common.parameters]))
    file.add(templates.render("ai-help/input.md.j2", **context))
    if inlined:
        file.add_types(reference.all_named)
        file.add_named(filter(None, [reference.common.results]))
        if reference.common.errors is not None:
            file.add_common_errors(reference.common.errors)
    file.add(templates.render("ai-help/last.md.j2", **context))
    yield Document("ai-help.md", marked(disarm(file.text())))


_INPUT = re.compile(r"\b(?:file|input|parse|read|stdin)", re.IGNORECASE)


def _prints_json(option: Parameter) -> bool:
    """True for `--json`, unless it says how the input is written."""
    return option.name == "--json" and not _INPUT.search(option.description or "")


def _elsewhere(rendering: Rendering) -> str:
    """Returns the folder or file with the parameters of all commands."""
    if rendering.skill is None:
        return "llms-full.txt"
    return f"skills/{skill_name(rendering.service)}/{'SKILL.md' if rendering.skill.is_whole else 'references/'}"


def command_documents(rendering: Rendering) -> Iterator[Document]:
    """Yields the help of each command, without front matter; what concerns all of them is in ai-help.md (3.4.2)."""
    reference, templates = rendering.reference, rendering.templates
    types = {section.name: section for section in reference.all_named}
    stems = file_stems((tool.name for tool in rendering.service.tools), frozenset())
    for topic in reference.topics:
        for page in topic.pages:
            for section in page.sections:
                file = SingleFile()
                file.add(templates.render("ai-help/command.md.j2", **rendering.context, name=section.name))
                file.add_tool(section)
                file.add_named(filter(None, [reference.common.results]))
                if reference.common.errors is not None and (reference.usual_errors or ERRORS in section.text):
                    file.add_common_errors(reference.common.errors)
                file.add_named(_linked_type_sections(section, types))
                yield Document(f"ai-help/{stems[section.name]}.md", file.text())


def _linked_type_sections(section: Section, types: Mapping[str, Section]) -> list[Section]:
    """Returns the named types that a command's section links to, directly or indirectly, up to a size."""
    linked: dict[str, Section] = {}
    queue, size = list(linked_types(section.text)), 0
    while queue:
        name = queue.pop(0)
        if name in types and name not in linked and size + len(types[name].text) <= _TYPES_LIMIT:
            linked[name] = types[name]
            size += len(types[name].text)
            queue += linked_types(types[name].text)
    return list(linked.values())


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
