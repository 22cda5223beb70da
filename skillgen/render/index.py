"""The index of a large service: every tool by name, below a link to the page that documents it.

From SKILL.md a reader takes the page of the index, and from there the page of the tool: two reads, and no guess between
several pages of one name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from skillgen.model.tool import Tool
from skillgen.render.identity import tool_phrase
from skillgen.render.pages import PAGE_LIMIT_BYTES, Page, Section, pages_of
from skillgen.render.reference import Reference, Topic
from skillgen.render.semantics import marks
from skillgen.text.markdown import Markdown, code, inline, link_label
from skillgen.text.summary import clip_middle

Lines = Literal["full", "short", "names"]

LINES: tuple[Lines, ...] = ("full", "short", "names")
"""What the index says of each tool, the richest first."""

LABEL_LIMIT = 48

_PHRASE_LIMITS = {"full": 80, "short": 60}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of SKILL.md that leads into the index."""

    label: str
    """The group that stands there, or the first and the last of several."""

    count: int
    """How many tools it has."""

    files: tuple[str, ...]
    """Where they are listed, or documented where that is one page."""

    description: str | None = None
    """What they are for, where a group stands alone."""

    subjects: tuple[str, ...] = ()
    """What they are about: words of a group that stands alone, else the titles of the groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """The pages of the index, and what leads to them."""

    pages: tuple[Page, ...]
    """The pages; their sections are named after what they list."""

    entries: tuple[Entry, ...]
    """What SKILL.md shows."""

    is_marked: bool = False
    """Whether tools stand there with the marks that say what they change."""


def index_by_group(reference: Reference) -> Index:
    """Lists the tools of each group that has several pages, on one page where they fit with fewer words."""
    pages: list[Page] = []
    entries: list[Entry] = []
    is_marked = False
    for topic in reference.topics:
        found: tuple[Page, ...] = ()
        if len(topic.pages) > 1:
            stem = "index-" + topic.pages[0].file_name.removesuffix(".md")
            for lines in LINES:
                sections = [_page_section(topic, page, lines) for page in topic.pages]
                found = pages_of(f"Index of {topic.title}", stem, sections)
                if len(found) == 1:
                    break
            is_marked |= lines != "names"
        pages += found
        files = tuple(page.file_name for page in found) or (topic.pages[0].file_name,)
        entries.append(
            Entry(
                label=topic.title,
                count=len(topic.tools),
                files=files,
                description=topic.description,
                subjects=topic.subjects,
            )
        )
    return Index(pages=tuple(pages), entries=tuple(entries), is_marked=is_marked)


def index_in_sequence(reference: Reference, lines: Lines) -> Index:
    """Lists all groups one after another by the alphabet, as many on a page as it holds."""
    topics = sorted(reference.topics, key=lambda topic: (topic.title.casefold(), topic.title))
    places: dict[str, tuple[Topic, int]] = {}
    sections: list[Section] = []
    for topic in topics:
        for section, count in _sections(topic, lines):
            sections.append(section)
            places[section.name] = topic, count
    pages = pages_of("Index of tools", "index", sections)
    entries = []
    for page in pages:
        listed = [places[name] for name in page.anchors]
        titles = list(dict.fromkeys(topic.title for topic, _ in listed))
        count = sum(count for _, count in listed)
        subjects = listed[0][0].subjects if len(titles) == 1 else tuple(titles[1:-1])
        entries.append(Entry(label=_label(titles), count=count, files=(page.file_name,), subjects=subjects))
    return Index(pages=pages, entries=tuple(entries), is_marked=lines != "names")


def list_index(title: str, stem: str, pages: Sequence[Page]) -> Index:
    """Lists what stands on several pages (resources, prompts, events) by name."""
    sections = [_section(page, ", ".join(code(section.heading) for section in page.sections)) for page in pages]
    found = pages_of(f"Index of {title}", f"index-{stem}", sections)
    by_file = {page.file_name: page for page in pages}
    entries = []
    for index_page in found:
        listed = [section for name in index_page.anchors for section in by_file[name].sections]
        label = _label([listed[0].heading, listed[-1].heading])
        entries.append(Entry(label=label, count=len(listed), files=(index_page.file_name,)))
    return Index(pages=found, entries=tuple(entries))


def list_indexes(reference: Reference) -> dict[str, Index]:
    """Gives the indexes of resources, prompts and events that stand on several pages, by what they list."""
    lists = {"resources": reference.resources, "prompts": reference.prompts, "events": reference.events}
    return {name: list_index(name, name, pages) for name, pages in lists.items() if len(pages) > 1}


def _sections(topic: Topic, lines: Lines) -> Iterable[tuple[Section, int]]:
    """Gives one section for a group, or one for each of its pages where it is too large for a page of the index."""
    parts = [_page_section(topic, page, lines) for page in topic.pages]
    text = Markdown("\n\n".join(part.text for part in parts))
    if len(text.encode("utf-8")) <= PAGE_LIMIT_BYTES:
        yield Section(name=topic.pages[0].file_name, heading=topic.title, text=text), len(topic.tools)
        return
    for part, page in zip(parts, topic.pages, strict=True):
        yield part, len(page.anchors)


def _page_section(topic: Topic, page: Page, lines: Lines) -> Section:
    tools = topic.tools_on(page)
    if lines == "names":
        return _section(page, ", ".join(code(tool.name) for tool in tools))
    return _section(page, "\n".join(_line(tool, lines) for tool in tools))


def _section(page: Page, text: str) -> Section:
    heading = f"## [{link_label(page.heading)}]({page.file_name})"
    return Section(name=page.file_name, heading=page.heading, text=Markdown(f"{heading}\n\n{text}"))


def _line(tool: Tool, lines: Lines) -> str:
    phrase = tool_phrase(tool, _PHRASE_LIMITS[lines])
    request = f" {code(f'{tool.method} {tool.path}')}" if lines == "full" and tool.method and tool.path else ""
    marked = f" [{', '.join(marks(tool))}]" if marks(tool) else ""
    return f"- {code(tool.name)}{request}{marked}" + (f" — {inline(phrase)}" if phrase else "")


def _label(names: Sequence[str]) -> str:
    """Names the first and the last; what both begin with, a group that has several parts, stands once."""
    first, last = names[0], names[-1]
    if first == last:
        return clip_middle(first, 2 * LABEL_LIMIT)
    head = f"{first.partition(': ')[0]}: "
    if not (first.startswith(head) and last.startswith(head)):
        return f"{clip_middle(first, LABEL_LIMIT)} to {clip_middle(last, LABEL_LIMIT)}"
    start, end = first.removeprefix(head).partition(" to ")[0], last.removeprefix(head).rpartition(" to ")[2]
    return f"{clip_middle(head[:-2], LABEL_LIMIT)}: {_span(start.split(' '), end.split(' '))}"


def _span(start: list[str], end: list[str]) -> str:
    """Gives two places by what tells them apart: the words with which both begin are said once."""
    shared = 0
    while shared < min(len(start), len(end)) - 1 and start[shared] == end[shared]:
        shared += 1
    if start == end:
        return clip_middle(" ".join(start), LABEL_LIMIT)
    lead = [*start[:shared]] if shared < 3 else ["…", start[shared - 1]]
    return clip_middle(" ".join([*lead, *start[shared:], "to", *end[shared:]]), LABEL_LIMIT)
