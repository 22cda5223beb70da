"""The index of a large service: every tool by name, below a link to the page that documents it.

An agent reads SKILL.md, the index page and the tool's page: two reads, without guessing between pages of one group.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from skillgen.model.tool import Tool
from skillgen.render.identity import tool_phrase
from skillgen.render.pages import PAGE_LIMIT_BYTES, Page, Section, pages_of
from skillgen.render.phrases import phrase, phrases, plain_phrase
from skillgen.render.reference import Reference, Topic, group_words
from skillgen.render.semantics import marks
from skillgen.text.markdown import Markdown, code, inline, link_label, link_url, paragraph
from skillgen.text.summary import clip, clip_middle

Lines = Literal["phrases", "names"]

LINES: tuple[Lines, ...] = ("phrases", "names")
"""What the index shows of each tool, the richest form first."""

_MANY = 10
"""Tools of a group that needs words most."""

_LITTLE_ROOM = 100
"""Characters of words below which only larger groups have some."""

_LABEL_LIMIT = 48

_PHRASE_LIMIT = 60


class Entry(Struct, frozen=True, kw_only=True):
    """A line of SKILL.md that links to a page of the index."""

    label: str
    """The group, or the first and the last of several."""

    count: int
    """How many tools it has."""

    files: tuple[str, ...]
    """Files that list the tools; for a group with only one page, that page."""

    words: str = ""
    """What the source says of a single group; the titles of the others of several groups."""

    names: tuple[str, ...] = ()
    """The tools of a single group."""

    def shown(self, limit: int) -> Markdown:
        """Returns the words within a number of characters; with little room, only those of a larger group."""
        is_bare = limit < _LITTLE_ROOM and self.count < _MANY
        return Markdown("") if is_bare else group_words(self.words, self.names, limit)


class Index(Struct, frozen=True, kw_only=True):
    """The pages of the index, and the lines that link to them."""

    pages: tuple[Page, ...]
    """The pages; each section has the name of what it lists."""

    entries: tuple[Entry, ...]
    """The lines of SKILL.md."""


def index_by_group(reference: Reference) -> Index:
    """Indexes each group that has several pages, on one page if that is possible with shorter lines."""
    pages: list[Page] = []
    entries: list[Entry] = []
    for topic in reference.topics:
        index_pages: tuple[Page, ...] = ()
        if len(topic.pages) > 1:
            stem = "index-" + topic.pages[0].file_name.removesuffix(".md")
            for lines in LINES:
                sections = [_page_section(topic, page, lines) for page in topic.pages]
                index_pages = pages_of(plain_phrase("index_of", list=topic.title), stem, sections)
                if len(index_pages) == 1:
                    break
            pages += index_pages
        files = tuple(page.file_name for page in index_pages) or (topic.pages[0].file_name,)
        entries.append(
            Entry(label=topic.title, count=len(topic.tools), files=files, words=topic.words, names=_names(topic))
        )
    return Index(pages=tuple(pages), entries=tuple(entries))


def index_in_sequence(reference: Reference, lines: Lines) -> Index:
    """Indexes all groups in alphabetical order, as many on a page as fit."""
    topics = sorted(reference.topics, key=lambda topic: (topic.title.casefold(), topic.title))
    topic_and_count: dict[str, tuple[Topic, int]] = {}
    sections: list[Section] = []
    for topic in topics:
        for section, count in _sections(topic, lines):
            sections.append(section)
            topic_and_count[section.name] = topic, count
    pages = pages_of(plain_phrase("index_of_tools"), "index", sections)
    entries = []
    for page in pages:
        listed = [topic_and_count[name] for name in page.anchors]
        titles = list(dict.fromkeys(topic.title for topic, _ in listed))
        count = sum(count for _, count in listed)
        words = listed[0][0].words if len(titles) == 1 else ", ".join(titles[1:-1])
        names = _names(listed[0][0]) if len(titles) == 1 else ()
        entries.append(Entry(label=_label(titles), count=count, files=(page.file_name,), words=words, names=names))
    return Index(pages=pages, entries=tuple(entries))


def _names(topic: Topic) -> tuple[str, ...]:
    return tuple(tool.name for tool in topic.tools)


def _list_index(title: str, stem: str, pages: Sequence[Page]) -> Index:
    """Indexes several pages of resources, prompts or events by name."""
    sections = [_section(page, ", ".join(code(section.heading) for section in page.sections)) for page in pages]
    index_pages = pages_of(plain_phrase("index_of", list=title), f"index-{stem}", sections)
    by_file = {page.file_name: page for page in pages}
    entries = []
    for index_page in index_pages:
        listed = [section for name in index_page.anchors for section in by_file[name].sections]
        label = _label([listed[0].heading, listed[-1].heading])
        entries.append(Entry(label=label, count=len(listed), files=(index_page.file_name,)))
    return Index(pages=index_pages, entries=tuple(entries))


def list_indexes(reference: Reference) -> dict[str, Index]:
    """Returns the indexes of resources, prompts and events that fill several pages, by what they list."""
    lists = {"resources": reference.resources, "prompts": reference.prompts, "events": reference.events}
    return {name: _list_index(name, name, pages) for name, pages in lists.items() if len(pages) > 1}


_TOPICS_LIMIT = 200
"""Characters of the headings of the about pages."""


def about_words(reference: Reference, has_instructions: bool) -> Markdown:
    """Returns what the about pages hold, in a few words; `has_instructions` is true if SKILL.md has these itself."""
    headings = phrases("about_headings")
    topics = [name for name in reference.about_topics if not (has_instructions and name == headings["instructions"])]
    if len(topics) > 1:  # SKILL.md has the notes itself
        topics = [name for name in topics if name != headings["notes"]]
    words = Markdown(", ".join(map(paragraph, topics)))
    words = words or phrase("instructions_again" if has_instructions else "the_description")
    return words if len(words) <= _TOPICS_LIMIT else paragraph(clip(words, _TOPICS_LIMIT))


def page_links(pages: Sequence[Page], index: Index | None = None) -> Markdown:
    """Returns links to the entries of an index; without one to the first three pages by name, and to the last."""
    if index is not None:
        links = (f"[{link_label(entry.label)}](references/{link_url(entry.files[0])})" for entry in index.entries)
        return Markdown(", ".join(links))
    names = [page.file_name for page in pages]
    shown = [f"[references/{name}](references/{name})" for name in names[:3]]
    if len(names) > 3:
        shown[2:] = [f"… [{names[-1]}](references/{names[-1]})"]
    return Markdown(", ".join(shown))


def _sections(topic: Topic, lines: Lines) -> Iterable[tuple[Section, int]]:
    """Yields one section for a group, or one for each of its pages if it does not fit on a page of the index."""
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
    return _section(page, "\n".join(map(_line, tools)))


def _section(page: Page, text: str) -> Section:
    heading = f"## [{link_label(page.heading)}]({page.file_name})"
    return Section(name=page.file_name, heading=page.heading, text=Markdown(f"{heading}\n\n{text}"))


def _line(tool: Tool) -> str:
    """Returns a line for a tool; the request is in its section."""
    phrase = tool_phrase(tool, _PHRASE_LIMIT)
    marked = f" [{', '.join(marks(tool))}]" if marks(tool) else ""
    return f"- {code(tool.name)}{marked}" + (f" — {inline(phrase)}" if phrase else "")


def _label(names: Sequence[str]) -> str:
    """Names the first and the last; a group with several parts is named once."""
    first, last = names[0], names[-1]
    if first == last:
        return clip_middle(first, 2 * _LABEL_LIMIT)
    head = f"{first.partition(': ')[0]}: "
    if not (first.startswith(head) and last.startswith(head)):
        return f"{clip_middle(first, _LABEL_LIMIT)} to {clip_middle(last, _LABEL_LIMIT)}"
    start, end = first.removeprefix(head).partition(" to ")[0], last.removeprefix(head).rpartition(" to ")[2]
    return f"{clip_middle(head[:-2], _LABEL_LIMIT)}: {_span(start.split(' '), end.split(' '))}"


def _span(start: list[str], end: list[str]) -> str:
    """Returns a range; the words that both ends begin with are not repeated."""
    shared = 0
    while shared < min(len(start), len(end)) - 1 and start[shared] == end[shared]:
        shared += 1
    if start == end:
        return clip_middle(" ".join(start), _LABEL_LIMIT)
    lead = [*start[:shared]] if shared < 3 else ["…", start[shared - 1]]
    return clip_middle(" ".join([*lead, *start[shared:], "to", *end[shared:]]), _LABEL_LIMIT)
