"""Sections, pages, file names, link targets.

Divides sections among files that an agent can read whole, and knows where everything stands.

A section (a tool, a named type, a resource, a prompt) is rendered once; pages are filled up to a size, in order. From
that follows the address of each, and so the text of each link.

Links inside the documents, resolved when it is known in which file a text stands.

A section is rendered once and stands in several files (a page of the references, llms-full.txt). Its links carry
targets that no source's text can hold, for they use characters that every filter removes.

Puts a named type on the page of the tools that alone refer to it, so that a call takes no further page to read.

That is for MCP servers: there each tool brings its types along, and few are shared; in an API most are.

Names become file names by one function: ASCII, lower case, bounded, never special to any system.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from skillgen.text.markdown import Markdown, link_label
from skillgen.text.structure import Anchors

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


_TYPE, _TOOL = "\x01", "\x02"
_TARGET = re.compile("\\[([^\\[\\]]*)\\]\\(([\x01\x02])([^\x01-\x03]*)\x03\\)")


@lru_cache(1 << 14)
def type_link(name: str) -> Markdown:
    """Gives a link to a named type."""
    return Markdown(f"[{link_label(name)}]({_TYPE}{name}\x03)")


@lru_cache(1 << 14)
def tool_link(name: str) -> Markdown:
    """Gives a link to a tool's section."""
    return Markdown(f"[{link_label(name)}]({_TOOL}{name}\x03)")


COMMON_ERRORS = "Common Errors"
"""The heading under which the errors of most tools are told."""

ERRORS = "\x04"
"""What stands for that heading among the names of types; no source's text can hold it."""


def common_errors_link() -> Markdown:
    """Gives a link to the errors of most tools."""
    return Markdown(f"[{COMMON_ERRORS}]({_TYPE}{ERRORS}\x03)")


def linked_types(text: str) -> tuple[str, ...]:
    """Gives the names of the types to which a text links, each once, in their order."""
    found = (match[3] for match in _TARGET.finditer(text) if match[2] == _TYPE)
    return tuple(dict.fromkeys(name for name in found if name != ERRORS))


def resolved(text: str, types: Mapping[str, str], tools: Mapping[str, str]) -> str:
    """Gives a text with its targets replaced by addresses; a link to what is not documented becomes its label."""

    def replacement(match: re.Match[str]) -> str:
        address = (types if match[2] == _TYPE else tools).get(match[3])
        return match[1] if address is None else f"[{match[1]}]({address})"

    return _TARGET.sub(replacement, text) if "\x03" in text else text


def with_own_types(pages: Sequence[Page], types: Sequence[Section]) -> tuple[Page, ...]:
    """Gives the pages of tools, each with the types that no other refers to, as long as it stays within its size."""
    by_name = {section.name: section for section in types}
    wanted = {page.file_name: list(dict.fromkeys(_types_below(page.sections, by_name))) for page in pages}
    pages_of_type: dict[str, int] = {}
    for names in wanted.values():
        for name in names:
            pages_of_type[name] = pages_of_type.get(name, 0) + 1
    return tuple(
        _with_types(page, [by_name[name] for name in wanted[page.file_name] if pages_of_type[name] == 1])
        for page in pages
    )


def _types_below(sections: Sequence[Section], by_name: Mapping[str, Section]) -> Iterator[str]:
    """Gives the types that sections refer to, those first that they name themselves."""
    waiting = [name for section in sections for name in linked_types(section.text)]
    seen = set[str]()
    for name in waiting:
        if name in by_name and name not in seen:
            seen.add(name)
            yield name
            waiting += linked_types(by_name[name].text)


def _with_types(page: Page, own: Sequence[Section]) -> Page:
    left = PAGE_LIMIT_BYTES - page.size_bytes()
    kept: list[Section] = []
    for section in own:
        size = len(section.text.encode("utf-8")) + 3
        if size <= left:
            kept.append(section)
            left -= size
    return with_anchors(replace(page, types=tuple(kept))) if kept else page


LENGTH_LIMIT = 48
"""Characters of a name of a file, without its ending."""

_RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"com{n}" for n in range(10)), *(f"lpt{n}" for n in range(10))})

_PART = re.compile(r"-p\d+\Z")
"""How the further parts of a list are named."""

SHORT = 6
"""Characters of a digest, where these tell all of them apart."""


def slug(text: str, limit: int = LENGTH_LIMIT) -> str:
    """Gives a text in `a-z`, `0-9` and single hyphens, at most `limit` long; empty where nothing is left of it."""
    text = re.sub("['\u2019]", "", text)
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.findall("[a-z0-9]+", ascii_text)
    found = "-".join(words)
    if len(found) > limit:
        found = found[:limit].rpartition("-")[0] if "-" in found[limit // 2 : limit] else found[:limit]
    return found.strip("-")


def safe_stem(stem: str, prefix: str, taken: frozenset[str] = frozenset()) -> str:
    """Returns a slug, after a prefix if a system reserves it or it is taken."""
    return f"{prefix}-{stem}" if stem in taken or stem in _RESERVED else stem


def file_stems(names: Iterable[str], taken: frozenset[str]) -> dict[str, str]:
    """Returns a stem of its own for each name, whatever the order of the names.

    A slug that is reserved, taken or looks like an index follows `group-`. Names that share a slug, and those that look
    like a part of a longer list (`foo-p2`), get two hyphens, which no slug has, and a part of their digest.
    """
    names = list(dict.fromkeys(names))
    slugs = {name: safe_stem(_without_index(slug(name)), "group", taken) for name in names}
    counts = Counter(slugs.values())
    clashing = [name for name, stem in slugs.items() if not stem or counts[stem] > 1 or _PART.search(stem)]
    digests = {name: hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest() for name in clashing}
    short = {digest[:SHORT] for digest in digests.values()}
    length = SHORT if len(short) == len(digests) else None
    return slugs | {name: f"{slugs[name] or 'x'}--{digests[name][:length]}" for name in clashing}


def _without_index(stem: str) -> str:
    return f"group-{stem}" if stem.startswith("index-") else stem
