"""llms.txt, and everything in a single file: llms-full.txt, and --ai-help if it is short enough.

llmstxt.org's parser requires every line under a second-level heading to be a link item, so each section of llms.txt is
a list of links; dashdash's web profile shares the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from msgspec import Struct

from skillgen.model.document import Document
from skillgen.model.tool import Tool
from skillgen.render.dashdash import web_front_matter
from skillgen.render.identity import skill_name, what_it_does
from skillgen.render.index import Entry
from skillgen.render.pages import ERRORS, Page, Section, resolve_links
from skillgen.render.phrases import phrase, phrases
from skillgen.render.reference import Reference
from skillgen.render.skill import Rendering
from skillgen.text.markdown import Markdown, name, one_line
from skillgen.text.structure import Anchors

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6}) (.*)")


class SingleFile:
    """Assembles a file from top to bottom, so that the anchor of every heading is known."""

    def __init__(self) -> None:
        self._anchors = Anchors()
        self._parts: list[str] = []
        self._types: dict[str, str] = {}
        self._tools: dict[str, str] = {}

    def add(self, text: str) -> None:
        """Adds a text with its own headings."""
        for heading in _headings(text):
            self._anchors.of(heading.replace("\\", ""))
        self._parts.append(text.strip("\n"))

    def add_tools(self, pages: Iterable[Page]) -> None:
        """Adds the sections of tools, one level below the last heading."""
        self._add_sections(_sections(pages), self._tools)

    def add_tool(self, section: Section) -> None:
        """Adds the section of one tool, without its heading."""
        self._tools[section.name] = "#"
        self._parts.append(section.text.partition("\n")[2].strip("\n"))

    def add_named(self, sections: Iterable[Section]) -> None:
        """Adds sections of named types unchanged."""
        for section in sections:
            self._types[section.name] = "#" + self._anchors.of(section.heading)
            self._parts.append(section.text)

    def add_types(self, sections: Iterable[Section]) -> None:
        """Adds the sections of named types, one level below the last heading."""
        self._add_sections(sections, self._types)

    def add_others(self, pages: Iterable[Page]) -> None:
        """Adds sections that nothing links to, one level below the last heading."""
        self._add_sections(_sections(pages), {})

    def add_about(self, pages: Iterable[Page]) -> None:
        """Adds what concerns the service as a whole, one level below the last heading."""
        links: dict[str, str] = {}
        self._add_sections(_sections(pages), links)
        if (common_errors := phrase("common_errors")) in links:
            self._types[ERRORS] = links[common_errors]

    def add_common_errors(self, section: Section) -> None:
        """Adds the errors that most tools share, unchanged."""
        self._types[ERRORS] = "#" + self._anchors.of(section.heading)
        self._parts.append(section.text)

    def text(self) -> str:
        """Returns the file, with links resolved to its own anchors."""
        # Part by part: one character beyond Latin-1 doubles or quadruples the memory of every copy of a string.
        parts = [resolve_links(part, self._types, self._tools) for part in self._parts if part]
        if parts:
            parts[-1] += "\n"
        return "\n\n".join(parts) or "\n"

    def _add_sections(self, sections: Iterable[Section], links: dict[str, str]) -> None:
        for section in sections:
            links[section.name] = "#" + self._anchors.of(section.heading)
            self._parts.append("#" + section.text)


def _sections(pages: Iterable[Page]) -> Iterator[Section]:
    return (section for page in pages for section in page.sections)


def _single_file(head: Markdown, reference: Reference) -> str:
    """Returns the complete reference of a service, after `head`."""
    file = SingleFile()
    file.add(head)
    if reference.about:
        file.add(f"## {name(reference.about[0].title)}")
        file.add(reference.about[0].intro or "")
        file.add_about(reference.about)
    for topic in reference.topics:
        file.add(f"## {name(topic.title)}")
        file.add(topic.pages[0].intro or "")
        file.add_tools(topic.pages)
    for kind, heading in phrases("list_headings").items():
        if pages := getattr(reference, kind):
            file.add(f"## {heading}")
            file.add_others(pages)
    if reference.type_sections:
        file.add(f"## {phrase('named_types')}")
        file.add_types(reference.type_sections)
    return file.text()


def _headings(text: str) -> Iterator[str]:
    """Yields the text of each heading outside code blocks."""
    fence: str | None = None
    for line in text.split("\n"):
        if (mark := _FENCE.match(line)) and (fence is None or line.strip() == fence):
            fence = mark[1] if fence is None else None
        elif fence is None and (heading := _HEADING.match(line)):
            yield heading[2]


_MAX_CHARACTERS = 16_000
"""Maximum length of llms.txt with a line for each tool; beyond it, groups are listed (design, "Output")."""

_QUICK_TOOLS = 20
"""Maximum of entries in the quick reference (web profile, 5.2.2)."""


class Places(Struct, frozen=True):
    """The paths of the other files, relative to llms.txt."""

    skill: str | None
    """The folder of the skill; `None` if no skill is written."""

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
        return f"{self.skill}/references/{address}" if self.skill else "llms-full.txt"


def llms_documents(rendering: Rendering) -> Iterator[Document]:
    """Yields both files."""
    service, reference, templates = rendering.service, rendering.reference, rendering.templates
    places = Places(f"skills/{skill_name(service)}" if "skill" in rendering.formats else None)
    quick = quick_tools(reference)
    shown = {tool.name for tool in quick}
    context = {
        **rendering.context,
        "what": what_it_does(service),
        "noun": "service",
        "brief": False,
        "places": places,
        "fields": web_front_matter(service),
        "quick": quick,
        "unlisted": [tool for topic in reference.topics for tool in topic.tools if tool.name not in shown],
    }
    names_length = sum(len(one_line(tool.name)) for tool in service.tools)
    text = ""
    if names_length <= _MAX_CHARACTERS or not templates.are_builtin:
        text = templates.render("llms.txt.j2", **context, entries=None)
    if not text or len(text) > _MAX_CHARACTERS:
        index = rendering.skill.index if rendering.skill is not None else None
        entries = index.entries if index is not None else _group_entries(reference)
        text = templates.render("llms.txt.j2", **context, entries=entries)
    yield Document("llms.txt", text)
    head = templates.render("llms-full.txt.j2", **context)
    yield Document("llms-full.txt", _single_file(head, reference))


def _group_entries(reference: Reference) -> tuple[Entry, ...]:
    return tuple(
        Entry(
            label=topic.title,
            count=len(topic.tools),
            files=(topic.pages[0].file_name,),
            description=topic.description,
        )
        for topic in reference.topics
    )


def quick_tools(reference: Reference) -> list[Tool]:
    """Returns up to twenty tools, from every group in turn, so that each group is represented by its first ones."""
    turns = zip_longest(*(topic.tools for topic in reference.topics))
    tools = [tool for turn in turns for tool in turn if tool is not None][:_QUICK_TOOLS]
    order = {tool.name: place for place, tool in enumerate(t for topic in reference.topics for t in topic.tools)}
    return sorted(tools, key=lambda tool: order[tool.name])
