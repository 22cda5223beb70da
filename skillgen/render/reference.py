"""The references of a skill: every tool, named type, resource and prompt, in pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

from skillgen.model.resource import Group, Resource
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.render.about import DESCRIPTION, about_pages, description_headings
from skillgen.render.access import example_credentials
from skillgen.render.environment import Templates
from skillgen.render.examples import curl_command, shown_examples
from skillgen.render.pages import (
    COMMON_ERRORS,
    ERRORS,
    TYPES,
    Page,
    Section,
    addresses,
    file_stems,
    move_types_to_tools,
    pages_of,
    resolve_links,
    type_addresses,
)
from skillgen.render.results import CommonErrors, common_errors
from skillgen.text.blocks import block
from skillgen.text.markdown import Markdown, one_line, paragraph
from skillgen.text.summary import clip

SECTIONS_TEMPLATE = "reference/sections.md.j2"

INTRO_LIMIT_BYTES = 1_200
"""Bytes of a group's description at the top of its page."""
RESERVED_STEMS = frozenset({"about", "index", "types", "resources", "prompts", "tools", "events"})
_PART = re.compile(r" \(\d+ of \d+\)$")


_HOW_TO_READ = Markdown(
    "Read one with `resources/read` and its `uri`. A URI template is a URI once its `{variables}` are filled in."
)
_HOW_SENT = Markdown("Requests that the service itself sends, to a URL of the caller. They are not tools.")
_PAYLOADS_LEFT_OUT = Markdown(
    f"{_HOW_SENT}\n\nTheir payloads are omitted, because there are many events. The API description has them."
)
_HOW_TO_GET = Markdown("Get one with `prompts/get`, its `name` and its arguments.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """The tools of one group, and the pages that document them."""

    title: str
    """The title of the group."""

    description: str | None
    """What its tools are for."""

    subjects: tuple[str, ...] = ()
    """Keywords of its tools, other than its title."""

    tools: tuple[Tool, ...]
    """Its tools, in order."""

    pages: tuple[Page, ...]
    """The pages that document them."""

    def tools_on(self, page: Page) -> tuple[Tool, ...]:
        """Returns the tools that one of the pages documents."""
        return tuple(tool for tool in self.tools if tool.name in page.anchors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Everything that is documented about a service, in sections and pages."""

    about: tuple[Page, ...]
    """What concerns the service as a whole; no pages if there is nothing to add to SKILL.md."""

    headings: tuple[str, ...] = ()
    """The headings of the description, if it is in `about`."""

    common_errors: Section | None = None
    """The errors that most tools share; also in `about`."""

    topics: tuple[Topic, ...]
    """The tools by group."""

    types: tuple[Page, ...]
    """Named types that are not on the page of their tools."""

    resources: tuple[Page, ...]
    """Resources and resource templates."""

    prompts: tuple[Page, ...]
    """Prompts."""

    events: tuple[Page, ...]
    """Requests that the service itself sends."""

    tool_addresses: dict[str, str] = field(default_factory=dict)
    """Tool name to address within `references/`."""

    type_addresses: dict[str, str] = field(default_factory=dict)
    """Type name to address within `references/`."""

    type_sections: tuple[Section, ...] = ()
    """All named types, on any page."""

    @property
    def about_topics(self) -> list[str]:
        """The headings of the about pages; a text in several parts has a single heading."""
        sections = (_PART.sub("", section.heading) for page in self.about for section in page.sections)
        replaced = {DESCRIPTION} if self.headings else set()
        return list(dict.fromkeys([*self.headings, *(name for name in sections if name not in replaced)]))

    def about_address(self, heading: str) -> str | None:
        """Returns the address of a section of the about pages."""
        return next(
            (f"{page.file_name}#{page.anchors[heading]}" for page in self.about if heading in page.anchors), None
        )

    @property
    def pages(self) -> Iterator[Page]:
        """All pages."""
        tools = (page for topic in self.topics for page in topic.pages)
        return chain(self.about, tools, self.types, self.resources, self.prompts, self.events)

    def size_bytes(self) -> int:
        """Returns the total size of all sections."""
        sections = (section for page in self.pages for section in (*page.sections, *page.types))
        return sum(len(section.text.encode("utf-8")) for section in sections)


def reference_of(service: Service, templates: Templates) -> Reference:
    """Renders every section of a service and divides them into pages."""
    common = common_errors(service)
    topics = _topics(service, _sections(templates, "tool_section", service, common))
    type_sections = _type_sections(service, templates)
    if type_sections and service.kind == "mcp":
        topics = _with_types_moved(topics, type_sections)
    on_tool_pages = type_addresses(page for topic in topics for page in topic.pages)
    types = pages_of(TYPES, "types", [section for section in type_sections if section.name not in on_tool_pages])
    resources = _list_pages("Resources", "resources", _resource_sections(service, templates), _HOW_TO_READ)
    prompts = _list_pages("Prompts", "prompts", _prompt_sections(service, templates), _HOW_TO_GET)
    events = _list_pages("Webhooks and callbacks", "events", _event_sections(service, templates), _how_sent(service))
    shared_errors = _common_section(common, templates)
    about = about_pages(service, templates, shared_errors)
    about_addresses = addresses(about) if shared_errors is not None else {}
    return Reference(
        about=about,
        headings=description_headings(service),
        common_errors=shared_errors,
        topics=topics,
        types=types,
        resources=resources,
        prompts=prompts,
        events=events,
        tool_addresses=addresses(page for topic in topics for page in topic.pages),
        type_addresses={
            **addresses(types),
            **on_tool_pages,
            **({ERRORS: about_addresses[COMMON_ERRORS]} if about_addresses else {}),
        },
        type_sections=tuple(type_sections),
    )


def reference_files(reference: Reference, templates: Templates) -> Iterator[tuple[str, str]]:
    """Yields the name in `references/` and the text of each file."""
    for page in reference.pages:
        text = resolve_links(page_text(page, templates), reference.type_addresses, reference.tool_addresses)
        yield page.file_name, text.replace(f"]({page.file_name}#", "](#")


def page_text(page: Page, templates: Templates) -> Markdown:
    """Renders one page; its links are unresolved."""
    parts = [section.text for section in page.sections]
    if page.types:
        parts += [Markdown(f"## {TYPES}"), *(Markdown(f"#{section.text}") for section in page.types)]
    body = Markdown("\n\n".join(parts))
    return templates.render("reference/page.md.j2", page=page, body=body)


def _common_section(common: CommonErrors, templates: Templates) -> Section | None:
    if not common.cases:
        return None
    text = templates.macro(SECTIONS_TEMPLATE, "common_errors_section")(common.cases)
    return Section(name=COMMON_ERRORS, heading=COMMON_ERRORS, text=text)


def _sections(templates: Templates, macro: str, service: Service, common: CommonErrors) -> Callable[[Tool], Section]:
    render = templates.macro(SECTIONS_TEMPLATE, macro)
    command = partial(curl_command, service=service, credentials=example_credentials(service))
    return lambda tool: Section(
        name=tool.name, heading=one_line(tool.name), text=render(tool, shown_examples(tool, command), common)
    )


def _topics(service: Service, section_of: Callable[[Tool], Section]) -> tuple[Topic, ...]:
    by_group: dict[str | None, list[Tool]] = {group.name: [] for group in service.groups}
    for tool in service.tools:
        by_group.setdefault(tool.group if tool.group in by_group else None, []).append(tool)
    stems = file_stems((group.name for group in service.groups), RESERVED_STEMS)
    topics = [
        Topic(
            title=one_line(group.title),
            description=group.description,
            subjects=group.subjects,
            tools=tuple(tools),
            pages=pages_of(
                one_line(group.title),
                stems[group.name],
                [section_of(tool) for tool in tools],
                intro=_intro(group),
            ),
        )
        for group in service.groups
        if (tools := by_group[group.name])
    ]
    if rest := by_group.get(None):
        heading = "Other tools" if topics else "Tools"
        sections = [section_of(tool) for tool in rest]
        topics.append(
            Topic(title=heading, description=None, tools=tuple(rest), pages=pages_of(heading, "tools", sections))
        )
    return tuple(topics)


def _with_types_moved(topics: tuple[Topic, ...], types: list[Section]) -> tuple[Topic, ...]:
    pages = iter(move_types_to_tools([page for topic in topics for page in topic.pages], types))
    return tuple(replace(topic, pages=tuple(next(pages) for _ in topic.pages)) for topic in topics)


def _list_pages(title: str, stem: str, sections: list[Section], intro: Markdown) -> tuple[Page, ...]:
    """Divides resources, prompts or events into pages, in alphabetical order if there are several."""
    pages = pages_of(title, stem, sections, intro=intro)
    if len(pages) == 1:
        return pages
    return pages_of(title, stem, sorted(sections, key=lambda section: section.heading.casefold()), intro=intro)


def _intro(group: Group) -> Markdown | None:
    """Returns what a group's tools are for, shortened so that the page stays within its size."""
    text = (group.description or "").strip()
    if text and "description" in (group.origins or {}):
        text = f"Tools that are in no larger group: {text}."
    if len(text.encode("utf-8")) <= INTRO_LIMIT_BYTES:
        return block(text) if text else None
    return paragraph(clip(one_line(text), INTRO_LIMIT_BYTES // 4))


def _type_sections(service: Service, templates: Templates) -> list[Section]:
    render = templates.macro(SECTIONS_TEMPLATE, "type_section")
    return [Section(name=item.name, heading=one_line(item.name), text=render(item)) for item in service.schemas]


def _resource_sections(service: Service, templates: Templates) -> list[Section]:
    render = templates.macro(SECTIONS_TEMPLATE, "resource_section")

    def section(resource: Resource, is_template: bool) -> Section:
        return Section(name=resource.uri, heading=one_line(resource.name), text=render(resource, is_template))

    return [section(resource, False) for resource in service.resources] + [
        section(resource, True) for resource in service.resource_templates
    ]


def _event_sections(service: Service, templates: Templates) -> list[Section]:
    render = templates.macro(SECTIONS_TEMPLATE, "event_section")
    return [Section(name=item.name, heading=one_line(item.name), text=render(item)) for item in service.events]


def _how_sent(service: Service) -> Markdown:
    """Says what events are, and that payloads are omitted if bodies are declared but none was read."""
    is_left_out = any(item.media_types for item in service.events) and not any(
        item.parameters for item in service.events
    )
    return _PAYLOADS_LEFT_OUT if is_left_out else _HOW_SENT


def _prompt_sections(service: Service, templates: Templates) -> list[Section]:
    render = templates.macro(SECTIONS_TEMPLATE, "prompt_section")
    return [Section(name=item.name, heading=one_line(item.name), text=render(item)) for item in service.prompts]
