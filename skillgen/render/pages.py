"""Sections, pages, file names, and the targets of links.

A section (a tool, a named type, a resource, a prompt) is rendered once and used in several files. Pages are filled with
sections up to a size, in order; only then is the address of each section known. Until then, a link has a target that
begins and ends with a control character, which no text of a source can contain, as every filter removes them.

File names are lower-case ASCII, of bounded length, and not reserved by any system.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from msgspec import Struct
from msgspec.structs import replace

from skillgen.render.phrases import phrase, plain_phrase
from skillgen.text.markdown import Markdown, code, link_label, one_line
from skillgen.text.markdown import name as heading_text
from skillgen.text.summary import Anchors
from skillgen.text.unicode import to_latin
from skillgen.text.words import safe_stem, slug

PAGE_LIMIT_BYTES = 14_500
"""Maximum size of a page's sections: with heading and resolved links it stays under 5,000 tokens of 3.2 bytes."""

TOOL_PAGE_LIMIT_BYTES = 30_000
"""The same for tools and types, under 10,000 tokens: an agent reads one section of them by a command."""


class Section(Struct, frozen=True, kw_only=True):
    """One documented thing with its heading."""

    name: str
    """The exact name of what it documents."""

    heading: str
    """The text of its heading."""

    text: Markdown
    """The heading and everything below it; links are unresolved."""

    above: tuple[str, ...] = ()
    """Items of its lists that are written once, above the sections of a page."""

    target: str = ""
    """What links to it have as their target until its file is known; empty if nothing links to it."""

    @property
    def key(self) -> str:
        """What distinguishes it from the other sections of a page."""
        return self.target or self.name


class Page(Struct, frozen=True, kw_only=True, dict=True):
    """One file of the references."""

    file_name: str
    """Its name in `references/`."""

    title: str
    """Its heading."""

    part: int
    """Number of this part of its topic, from 1."""

    parts: int
    """How many parts its topic has."""

    intro: Markdown | None = None
    """The text before the first section; on the first page of a topic."""

    sections: tuple[Section, ...] = ()
    """Its sections."""

    types: tuple[Section, ...] = ()
    """Named types that only its sections refer to, below these."""

    @cached_property
    def anchors(self) -> Mapping[str, str]:
        """The anchor of the heading of each section and type, by its key."""
        anchors = Anchors()
        anchors.of(self.heading)
        found = {section.key: anchors.of(section.heading) for section in self.sections}
        if self.types:
            anchors.of(phrase("named_types"))
        return found | {section.key: anchors.of(section.heading) for section in self.types}

    @property
    def heading(self) -> str:
        """The title, with the part if there are several."""
        if self.parts == 1:
            return self.title
        return plain_phrase("part_of", heading=self.title, number=self.part, parts=self.parts)

    def size_bytes(self) -> int:
        """Returns the size of the contents."""
        texts = [section.text for section in (*self.sections, *self.types)]
        return sum(len(text.encode("utf-8")) + 2 for text in (*texts, *([self.intro] if self.intro else [])))


_OWN_HEADINGS = frozenset(("how to call", "before you change anything", "quick reference", "when to use"))
_OWN_HEADINGS |= {"in its own words", "instructions", "login"}


def is_own_heading(text: str) -> bool:
    """True if a name of the source would read as a heading below which skillgen speaks."""
    return to_latin(one_line(text)).strip(" .:!") in _OWN_HEADINGS


def section_of(heading: str, body: str, name: str | None = None, target: str = "") -> Section:
    """Returns a section with its heading; it has the name of what it documents, if that is not the heading."""
    is_name = is_own_heading(heading) and not isinstance(heading, Markdown)
    shown = code(one_line(heading)) if is_name else heading_text(heading)
    text = Markdown(f"## {shown}\n\n{body}".rstrip("\n"))
    return Section(name=heading if name is None else name, heading=one_line(heading), text=text, target=target)


def pages_of(
    title: str, stem: str, sections: Sequence[Section], *, intro: Markdown | None = None, limit: int = PAGE_LIMIT_BYTES
) -> tuple[Page, ...]:
    """Divides the sections of one topic into pages `STEM.md`, `STEM-p2.md`, …, in their order."""
    portions = list(_portions(sections, limit, limit - (len(intro.encode()) if intro else 0)))
    pages, parts = [], len(portions)
    for part, portion in enumerate(map(tuple, portions), 1):
        name, words = (f"{stem}.md", intro) if part == 1 else (f"{stem}-p{part}.md", None)
        pages.append(Page(file_name=name, title=title, part=part, parts=parts, intro=words, sections=portion))
    return tuple(pages)


def addresses(pages: Iterable[Page]) -> dict[str, str]:
    """Returns the address of each section within the references, by its key: `projects.md#create_project`."""
    return {key: f"{page.file_name}#{anchor}" for page in pages for key, anchor in page.anchors.items()}


def _portions(sections: Sequence[Section], limit: int, first_limit: int) -> Iterable[list[Section]]:
    portion: list[Section] = []
    size, left = 0, first_limit
    for section in sections:
        section_size = len(section.text.encode("utf-8")) + 2
        if portion and size + section_size > left:
            yield portion
            portion, size, left = [], 0, limit
        portion.append(section)
        size += section_size
    if portion:
        yield portion


TYPE, TOOL, ERRORS = "\x01", "\x02", "\x04"
"""What the target of a type and of a tool begins with, and the target of the errors that most tools share."""

_TARGET = re.compile("\\]\\(([\x01\x02\x04][^\x01-\x04]*)\x03\\)")
_LINK = re.compile("\\[([^\\[\\]]*)\\]\\([\x01\x02\x04][^\x01-\x04]*\x03\\)")
"""A link that has no address yet; a search for its end is several times faster."""


@lru_cache(1 << 14)
def _link(name: str, kind: str) -> Markdown:
    return Markdown(f"[{link_label(name)}]({kind}{name}\x03)")


def type_link(name: str) -> Markdown:
    """Returns a link to a named type."""
    return _link(name, TYPE)


def tool_link(name: str) -> Markdown:
    """Returns a link to the section of a tool."""
    return _link(name, TOOL)


def common_errors_link(label: Markdown | None = None) -> Markdown:
    """Returns a link to the errors that most tools share, with their codes or their heading as its label."""
    return Markdown(f"[{label or phrase('common_errors')}]({ERRORS}\x03)")


def linked_types(text: str) -> list[str]:
    """Returns the targets of the types that a text links to, in their order."""
    return [TYPE + part.partition("\x03")[0] for part in text.split(TYPE)[1:]]


def link_resolver(places: Mapping[str, str]) -> Callable[[str], str]:
    """Returns a function that replaces the targets of the links in a text by addresses.

    A link to something undocumented becomes its label.
    """

    def replacement(match: re.Match[str]) -> str:
        address = places.get(match[1])
        return match[0] if address is None else f"]({address})"

    def resolved(text: str) -> str:
        text = _TARGET.sub(replacement, text) if "\x03" in text else text
        return _LINK.sub(r"\1", text) if "\x03" in text else text

    return resolved


def move_types_to_tools(pages: Sequence[Page], types: Sequence[Section]) -> tuple[Page, ...]:
    """Moves each named type to the tools' page if no other page refers to it and it fits: a call then needs no second
    page.

    That is for MCP servers, where each tool has its own types and few are shared; in an API most are.
    """
    by_target = {section.target: section for section in types}
    links = {section.target: linked_types(section.text) for section in types}
    owners: dict[str, int | None] = {}
    """The only page that refers to a type, also through others; `None` for several."""
    for number, page in enumerate(pages):
        waiting = _mentioned(page.sections)
        for target in waiting:
            if target in links and owners.get(target, -1) not in (number, None):
                owners[target] = None if target in owners else number
                waiting += links[target]  # what a type of several pages refers to is of several pages as well
    own: dict[int | None, list[Section]] = {}
    for target, owner in owners.items():
        own.setdefault(owner, []).append(by_target[target])
    return tuple(_with_types(page, own.get(number, ())) for number, page in enumerate(pages))


def types_reachable(sections: Iterable[Section], by_target: Mapping[str, Section]) -> Iterator[Section]:
    """Yields the types that sections refer to, also through others, directly mentioned ones first."""
    waiting, seen = _mentioned(sections), set[str]()
    for target in waiting:
        if target in by_target and target not in seen:
            seen.add(target)
            yield by_target[target]
            waiting += linked_types(by_target[target].text)


def _mentioned(sections: Iterable[Section]) -> list[str]:
    """Returns the targets of the types that sections link to directly."""
    return [target for each in sections for text in (each.text, *each.above) for target in linked_types(text)]


def _with_types(page: Page, types: Iterable[Section]) -> Page:
    free_bytes = TOOL_PAGE_LIMIT_BYTES - page.size_bytes()
    fitting: list[Section] = []
    for section in types:
        size = len(section.text.encode("utf-8")) + 3
        if size <= free_bytes:
            fitting.append(section)
            free_bytes -= size
    return replace(page, types=tuple(fitting)) if fitting else page


_PART = re.compile(r"-p\d+\Z")
"""The suffix of the further parts of a list."""

_DIGEST_LENGTH = 6
"""Characters of a digest, unless more are needed to distinguish all digests."""


def file_stems(names: Iterable[str], taken: frozenset[str]) -> dict[str, str]:
    """Returns a unique stem for each name, whatever the order of the names.

    A slug that is reserved, taken or like that of an index gets the prefix `group-`. Names with the same slug, and
    those like the part of a longer list (`foo-p2`), get two hyphens, which no slug has, and part of their digest.
    """
    names = list(dict.fromkeys(names))
    slugs = {name: safe_stem(re.sub(r"\Aindex-", "group-index-", slug(name)), "group", taken) for name in names}
    counts = Counter(slugs.values())
    clashing = [name for name, stem in slugs.items() if not stem or counts[stem] > 1 or _PART.search(stem)]
    digests = {name: hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest() for name in clashing}
    short = {digest[:_DIGEST_LENGTH] for digest in digests.values()}
    length = _DIGEST_LENGTH if len(short) == len(digests) else None
    return slugs | {name: f"{slugs[name] or 'group'}--{digests[name][:length]}" for name in clashing}
