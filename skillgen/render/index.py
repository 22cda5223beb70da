"""The index of a large service: every tool by name, below a link to the page that documents it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillgen.markdown.filters import Markdown, code, inline, link_label
from skillgen.markdown.sentences import clipped
from skillgen.model.service import Tool
from skillgen.render.effects import marks
from skillgen.render.pages import Page, Section, pages_of
from skillgen.render.phrases import tool_phrase
from skillgen.render.reference import Reference, Topic

PHRASE_LIMIT = 80
LABEL_LIMIT = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """The pages of the index, and what each lists."""

    pages: tuple[Page, ...]
    """The pages; their sections are named after the pages of the references that they list."""

    labels: Mapping[str, str]
    """File name of an index page to the groups that it lists."""

    counts: Mapping[str, int]
    """File name of an index page to the number of tools that it lists."""

    pages_of_topic: Mapping[str, tuple[str, ...]]
    """Title of a group to where its tools are listed: index pages, or its own page where it has but one."""


def index_of(reference: Reference, by_group: bool) -> Index:
    """Lists every tool of a service: by group, where a group has several pages, or all groups in one sequence."""
    if by_group:
        pages = tuple(page for topic in reference.topics if len(topic.pages) > 1 for page in _pages_of_group(topic))
    else:
        pages = pages_of("Index of tools", "index", [_section(topic, page) for topic, page in _all(reference)])
    labels, counts = {}, {}
    for index_page in pages:
        listed = [(topic, page) for topic, page in _all(reference) if page.file_name in index_page.anchors]
        labels[index_page.file_name] = _label([topic for topic, _ in listed])
        counts[index_page.file_name] = sum(len(page.anchors) for _, page in listed)
    return Index(
        pages=pages,
        labels=labels,
        counts=counts,
        pages_of_topic={topic.title: _places(topic, pages) for topic in reference.topics},
    )


def _all(reference: Reference) -> list[tuple[Topic, Page]]:
    return [(topic, page) for topic in reference.topics for page in topic.pages]


def _pages_of_group(topic: Topic) -> tuple[Page, ...]:
    stem = "index-" + topic.pages[0].file_name.removesuffix(".md")
    return pages_of(f"Index of {topic.title}", stem, [_section(topic, page) for page in topic.pages])


def _section(topic: Topic, page: Page) -> Section:
    lines = [_line(tool) for tool in topic.tools_on(page)]
    heading = f"## [{link_label(page.heading)}]({page.file_name})"
    return Section(name=page.file_name, heading=page.heading, text=Markdown("\n".join([heading, "", *lines])))


def _line(tool: Tool) -> str:
    phrase = tool_phrase(tool, PHRASE_LIMIT)
    request = f" {code(f'{tool.method} {tool.path}')}" if tool.method and tool.path else ""
    marked = f" [{', '.join(marks(tool))}]" if marks(tool) else ""
    return f"- {code(tool.name)}{request}{marked}" + (f" — {inline(phrase)}" if phrase else "")


def _label(topics: Sequence[Topic]) -> str:
    first, last = (clipped(topic.title, LABEL_LIMIT) for topic in (topics[0], topics[-1]))
    return first if topics[0] is topics[-1] else f"{first} to {last}"


def _places(topic: Topic, pages: tuple[Page, ...]) -> tuple[str, ...]:
    if len(topic.pages) == 1:
        return (topic.pages[0].file_name,)
    own = {page.file_name for page in topic.pages}
    return tuple(page.file_name for page in pages if own & page.anchors.keys())
