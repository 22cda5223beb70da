"""All sections in one file, for readers that want no links: llms-full.txt, and --ai-help where it is short enough."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from skillgen.markdown.anchors import Anchors
from skillgen.markdown.filters import Markdown, name
from skillgen.render.links import COMMON_ERRORS, ERRORS, resolved
from skillgen.render.pages import TYPES, Page, Section
from skillgen.render.reference import Reference

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6}) (.*)")


class Whole:
    """Puts a file together from the top, and so knows the anchor of every heading in it."""

    def __init__(self) -> None:
        self._anchors = Anchors()
        self._parts: list[str] = []
        self._types: dict[str, str] = {}
        self._tools: dict[str, str] = {}

    def add(self, text: str) -> None:
        """Adds a text with headings of its own."""
        for heading in _headings(text):
            self._anchors.of(heading.replace("\\", ""))
        self._parts.append(text.strip("\n"))

    def add_tools(self, pages: Iterable[Page]) -> None:
        """Adds the sections of tools, a level below the last heading."""
        self._add_sections(_sections(pages), self._tools)

    def add_tool(self, section: Section) -> None:
        """Adds the section of one tool, without its heading."""
        self._tools[section.name] = "#"
        self._parts.append(section.text.partition("\n")[2].strip("\n"))

    def add_named(self, sections: Iterable[Section]) -> None:
        """Adds sections of named types as they are."""
        for section in sections:
            self._types[section.name] = "#" + self._anchors.of(section.heading)
            self._parts.append(section.text)

    def add_types(self, sections: Iterable[Section]) -> None:
        """Adds the sections of named types, a level below the last heading."""
        self._add_sections(sections, self._types)

    def add_others(self, pages: Iterable[Page]) -> None:
        """Adds sections that nothing links to, a level below the last heading."""
        self._add_sections(_sections(pages), {})

    def add_about(self, pages: Iterable[Page]) -> None:
        """Adds what is said of the service as a whole, a level below the last heading."""
        found: dict[str, str] = {}
        self._add_sections(_sections(pages), found)
        if COMMON_ERRORS in found:
            self._types[ERRORS] = found[COMMON_ERRORS]

    def add_common_errors(self, section: Section) -> None:
        """Adds the errors of most tools as they are."""
        self._types[ERRORS] = "#" + self._anchors.of(section.heading)
        self._parts.append(section.text)

    def text(self) -> str:
        """Gives the file, its links resolved to anchors in it."""
        # Part by part: one character beyond Latin-1 makes each copy of the whole twice or four times as large.
        parts = [resolved(part, self._types, self._tools) for part in self._parts if part]
        if parts:
            parts[-1] += "\n"
        return "\n\n".join(parts) or "\n"

    def _add_sections(self, sections: Iterable[Section], addresses: dict[str, str]) -> None:
        for section in sections:
            addresses[section.name] = "#" + self._anchors.of(section.heading)
            self._parts.append("#" + section.text)


def _sections(pages: Iterable[Page]) -> Iterator[Section]:
    return (section for page in pages for section in page.sections)


def whole_reference(head: Markdown, reference: Reference) -> str:
    """Gives all that is documented of a service, after `head`."""
    whole = Whole()
    whole.add(head)
    if reference.about:
        whole.add(f"## {name(reference.about[0].title)}")
        whole.add(reference.about[0].intro or "")
        whole.add_about(reference.about)
    for topic in reference.topics:
        whole.add(f"## {name(topic.title)}")
        whole.add(topic.pages[0].intro or "")
        whole.add_tools(topic.pages)
    for title, pages in (
        ("Resources", reference.resources),
        ("Prompts", reference.prompts),
        ("Webhooks and callbacks", reference.events),
    ):
        if pages:
            whole.add(f"## {title}")
            whole.add_others(pages)
    if reference.type_sections:
        whole.add(f"## {TYPES}")
        whole.add_types(reference.type_sections)
    return whole.text()


def _headings(text: str) -> Iterator[str]:
    """Gives the words of each heading."""
    fence: str | None = None
    for line in text.split("\n"):
        if (mark := _FENCE.match(line)) and (fence is None or line.strip() == fence):
            fence = mark[1] if fence is None else None
        elif fence is None and (heading := _HEADING.match(line)):
            yield heading[2]
