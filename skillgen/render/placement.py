"""Puts a named type on the page of the tools that alone refer to it, so that a call takes no further page to read.

That is for MCP servers: there each tool brings its types along, and few are shared; in an API most are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from skillgen.render.links import linked_types
from skillgen.render.pages import PAGE_LIMIT_BYTES, Page, Section, with_anchors


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
