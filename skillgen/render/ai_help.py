"""Renders the text of an `--ai-help` flag (dashdash CLI profile): front matter and the ten sections.

It must stand alone, so it holds every parameter as long as that can be read; beyond that it lists every command and
points to the references for the parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from skillgen.model.service import Service
from skillgen.render.about import resource_and_prompt_lines
from skillgen.render.dashdash import cli_front_matter
from skillgen.render.document import Document
from skillgen.render.environment import Templates
from skillgen.render.identity import phrase_of, skill_name, title
from skillgen.render.llms import Whole, quick_tools
from skillgen.render.pages import ERRORS, Section, file_stems, linked_types
from skillgen.render.reference import Reference
from skillgen.render.results import CommonErrors, command_errors, common_errors
from skillgen.render.semantics import date_formats, deprecated_names, operational_facts

INLINE_LIMIT_BYTES = 100_000
"""The size of all sections up to which they stand in the text itself."""

OWN_WORDS_LIMIT = 20_000
"""Characters of description and instructions up to which they stand in the text itself."""

TYPES_LIMIT = 12_000
"""Characters of named types in the help of one command."""

EXAMPLES = 12

OWN_SECTIONS = {
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
"""The profile's sections in which those of the source that mean the same go on, by their titles."""


def ai_help_documents(
    service: Service, reference: Reference, templates: Templates, formats: tuple[str, ...]
) -> Iterator[Document]:
    """Gives ai-help.md."""
    inlined = reference.size_bytes() <= INLINE_LIMIT_BYTES
    has_commands = "ai-help-commands" in formats
    context = {
        "service": service,
        "title": title(service),
        "noun": "tool",
        "brief": False,
        "reference": reference,
        "phrase": phrase_of(service),
        "quick": quick_tools(reference),
        "fields": cli_front_matter(service, subcommand_help=has_commands),
        "inlined": inlined,
        "is_long": len(service.instructions or "") + len(service.description or "") > OWN_WORDS_LIMIT,
        **_sections(service),
        "elsewhere": f"skills/{skill_name(service)}/references/" if "skill" in formats else "llms-full.txt",
        "examples": [
            (tool, example)
            for tool in service.tools
            for example in tool.examples
            if example.is_declared and example.flaw is None and (example.input or example.description)
        ][:EXAMPLES],
        "media_types": list(dict.fromkeys(name for tool in service.tools for name in tool.output_media_types)),
        "dates": date_formats(service),
        "operational": operational_facts(service),
        "offered": resource_and_prompt_lines(service),
        "deprecated": deprecated_names(service),
        "command_errors": command_errors(service, common_errors(service) if inlined else CommonErrors()),
        "structured": [tool.name for tool in service.tools if tool.output is not None and tool.output.schema],
    }
    whole = Whole()
    whole.add(templates.render("ai-help/first.md.j2", **context))
    if inlined:
        for topic in reference.topics:
            whole.add_tools(topic.pages)
    whole.add(templates.render("ai-help/input.md.j2", **context))
    if inlined:
        whole.add_types(reference.type_sections)
        if reference.common_errors is not None:
            whole.add_common_errors(reference.common_errors)
    whole.add(templates.render("ai-help/last.md.j2", **context))
    yield Document("ai-help.md", whole.text())


def command_documents(
    service: Service, reference: Reference, templates: Templates, formats: tuple[str, ...]
) -> Iterator[Document]:
    """Gives the help of each command, without front matter; what concerns all of them is in ai-help.md (3.4.2)."""
    types = {section.name: section for section in reference.type_sections}
    stems = file_stems((tool.name for tool in service.tools), frozenset())
    for topic in reference.topics:
        for page in topic.pages:
            for section in page.sections:
                whole = Whole()
                whole.add(
                    templates.render("ai-help/command.md.j2", title=title(service), name=section.name, formats=formats)
                )
                whole.add_tool(section)
                if reference.common_errors is not None and ERRORS in section.text:
                    whole.add_common_errors(reference.common_errors)
                whole.add_named(_types_of(section, types))
                yield Document(f"ai-help/{stems[section.name]}.md", whole.text())


def _types_of(section: Section, types: Mapping[str, Section]) -> list[Section]:
    """Gives the named types that a command's section links to, and those that these do, as long as they are few."""
    found: dict[str, Section] = {}
    waiting, size = list(linked_types(section.text)), 0
    while waiting:
        name = waiting.pop(0)
        if name in types and name not in found and size + len(types[name].text) <= TYPES_LIMIT:
            found[name] = types[name]
            size += len(types[name].text)
            waiting += linked_types(types[name].text)
    return list(found.values())


def _sections(service: Service) -> dict[str, Any]:
    """Divides the source's own sections among those of the profile, and gives the rest."""
    own = {
        key: [section for section in service.sections if section.title.strip().lower() in titles]
        for key, titles in OWN_SECTIONS.items()
    }
    taken = [id(section) for sections in own.values() for section in sections]
    return {
        "own": SimpleNamespace(**own),
        "rest": [section for section in service.sections if id(section) not in taken],
    }
