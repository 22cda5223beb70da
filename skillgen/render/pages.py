"""Divides sections among files that an agent can read whole, and knows where everything stands.

A section (a tool, a named type, a resource, a prompt) is rendered once; pages are filled up to a size, in order. From
that follows the address of each, and so the text of each link.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from skillgen.markdown.anchors import Anchors
from skillgen.markdown.filters import Markdown

PAGE_LIMIT_BYTES = 14_500
"""The size of a page's sections. With heading and resolved links it stays under 5,000 tokens of 3.2 bytes."""

TYPES = "Named types"
"""The heading above types, on a page of their own or below tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One thing under a heading of its own."""

    name: str
    """The exact name of what it documents."""

    heading: str
    """The words of its heading."""

    text: Markdown
    """The heading and all below it; links unresolved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One file of the references."""

    file_name: str
    """Its name in `references/`."""

    title: str
    """Its heading."""

    part: int
    """Which of the parts of its topic it is, from 1."""

    parts: int
    """How many parts its topic has."""

    intro: Markdown | None = None
    """What is said of the topic before the first section, on its first page."""

    sections: tuple[Section, ...] = ()
    """What stands in it."""

    types: tuple[Section, ...] = ()
    """Named types that only its sections refer to; they stand below these."""

    anchors: Mapping[str, str] = field(default_factory=dict)
    """Name of a section to the anchor of its heading."""

    type_anchors: Mapping[str, str] = field(default_factory=dict)
    """The same of the types."""

    @property
    def heading(self) -> str:
        """The title, and the part where there are several."""
        return self.title if self.parts == 1 else f"{self.title} ({self.part} of {self.parts})"

    def size_bytes(self) -> int:
        """Gives the size of what stands in it."""
        texts = [section.text for section in (*self.sections, *self.types)]
        return sum(len(text.encode("utf-8")) + 2 for text in (*texts, *([self.intro] if self.intro else [])))


def pages_of(title: str, stem: str, sections: Sequence[Section], *, intro: Markdown | None = None) -> tuple[Page, ...]:
    """Divides the sections of one topic among pages `STEM.md`, `STEM-p2.md`, …, in their order."""
    portions = list(_portions(sections, PAGE_LIMIT_BYTES - (len(intro.encode()) if intro else 0)))
    pages = []
    for part, portion in enumerate(portions, 1):
        page = Page(
            file_name=f"{stem}.md" if part == 1 else f"{stem}-p{part}.md",
            title=title,
            part=part,
            parts=len(portions),
            intro=intro if part == 1 else None,
            sections=tuple(portion),
        )
        pages.append(with_anchors(page))
    return tuple(pages)


def addresses(pages: Iterable[Page]) -> dict[str, str]:
    """Gives the address of each section within the references: `projects.md#create_project`."""
    return {name: f"{page.file_name}#{anchor}" for page in pages for name, anchor in page.anchors.items()}


def type_addresses(pages: Iterable[Page]) -> dict[str, str]:
    """Gives the address of each named type that stands below other sections."""
    return {name: f"{page.file_name}#{anchor}" for page in pages for name, anchor in page.type_anchors.items()}


def _portions(sections: Sequence[Section], first_limit: int) -> Iterable[list[Section]]:
    portion: list[Section] = []
    size, limit = 0, first_limit
    for section in sections:
        section_size = len(section.text.encode("utf-8")) + 2
        if portion and size + section_size > limit:
            yield portion
            portion, size, limit = [], 0, PAGE_LIMIT_BYTES
        portion.append(section)
        size += section_size
    if portion:
        yield portion


def with_anchors(page: Page) -> Page:
    """Gives a page that knows where its sections and types are found."""
    anchors = Anchors()
    anchors.of(page.heading)
    found = {section.name: anchors.of(section.heading) for section in page.sections}
    if page.types:
        anchors.of(TYPES)
    return replace(page, anchors=found, type_anchors={item.name: anchors.of(item.heading) for item in page.types})
