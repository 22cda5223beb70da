"""A static site for people: a page for each group of tools, and a search over all of them that needs no server.

The sections are those of the reference, with every item in its place, as HTML. A page loads nothing but its own style
sheet and scripts, which its Content-Security-Policy enforces, and no text of a source becomes markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from skillgen.model.document import Document
from skillgen.model.tool import Tool
from skillgen.model.values import is_inferred
from skillgen.render.access import login
from skillgen.render.environment import Templates
from skillgen.render.identity import is_quoted, short_description, title, tool_phrase, what_and_when
from skillgen.render.pages import TOOL, Page, link_resolver
from skillgen.render.reference import Reference, reference_of
from skillgen.render.semantics import marks, marks_legend
from skillgen.render.skill import Rendering, Site
from skillgen.text.markdown import exact_json_text, inline, one_line
from skillgen.text.summary import clip

OPEN_LIMIT = 12
"""Nested items that are visible at once; of more, a click shows them."""

WORDS_LIMIT = 90
"""Characters on what the tools of a group do."""

_ASSETS = ("site.css", "site.js")
"""Files that every site has."""

_ADDRESS = re.compile(r"https?://[^\s<>()\"'`]{1,2000}(?<![.,;:!?])")
_PAGE_LINK = re.compile(r"\A([a-z0-9-]{1,200})\.md(?=#|\Z)")


def html_documents(rendering: Rendering) -> Iterator[Document]:
    """Yields the site of a service."""
    service, templates = rendering.service, rendering.templates
    reference = reference_of(service, templates, is_whole=True)
    resolved = link_resolver(reference.places)
    words = {
        topic.pages[0].file_name: topic.words
        or clip("; ".join(tool_phrase(tool) or tool.name for tool in topic.tools), WORDS_LIMIT)
        for topic in reference.topics
        if topic.pages
    }
    tools = {TOOL + tool.name: tool for tool in service.tools}
    of_tools = {page.file_name for page, _ in reference.tool_pages}
    entries = {
        page.file_name: _entry(page.heading, _file(page), len(page.sections), words.get(page.file_name, ""))
        for page in reference.pages
    }
    context: dict[str, Any] = {
        "title": title(service),
        "tool_pages": [entry for name, entry in entries.items() if name in of_tools],
        "other_pages": [entry for name, entry in entries.items() if name not in of_tools],
        "number": len(service.tools),
        "noun": _NOUNS.get(service.kind, "tools"),
    }
    legend = to_html(marks_legend(service))
    how = login(service, False)
    calls = to_html(templates.render("parts/login.md.j2", login=how)) if how is not None else ""
    what = what_and_when(service)[0] if is_quoted(service) else ""
    yield _page(templates, "index.html", what=what, service=service, legend=legend, calls=calls, **context)
    for page in reference.pages:
        articles = [
            {
                "name": _heading(tool) if (tool := tools.get(section.key)) is not None else str(section.heading),
                "operation": tool.name if tool is not None and not is_inferred(tool, "name") else "",
                "anchor": page.anchors[section.key],
                "body": to_html(resolved(section.text.partition("\n")[2])),
                "marks": marks(tool) if tool is not None else (),
            }
            for section in (*page.sections, *page.types)
        ]
        lead = to_html(resolved(page.intro)) if page.intro else None
        yield _page(templates, _file(page), heading=str(page.heading), lead=lead, articles=articles, **context)
    yield Document("html/search.js", _search_index(rendering, reference))
    yield from _assets(templates)


def _heading(tool: Tool) -> str:
    """Returns the heading of a tool: of an operation its declared summary, else its request if it has no name."""
    if tool.method and tool.summary and not is_inferred(tool, "summary"):
        return one_line(tool.summary).rstrip(".")
    return f"{tool.method} {tool.path}" if is_inferred(tool, "name") else tool.name


def _entry(title: str, address: str, count: int, words: str) -> dict[str, Any]:
    """Returns a page in the menu, or a service of several: how many sections or tools, and what it is for."""
    shown = Markup(_CONVERTER.renderInline(inline(words)))
    return {"title": str(title), "address": address, "count": count, "words": shown}


_NOUNS = {"openapi": "operations", "cli": "commands"}
"""What the tools of a kind of service are called."""


def html_site_documents(site: Site) -> Iterator[Document]:
    """Yields the page above the sites of several services, which searches all of them."""
    pairs = zip(site.services, (f"../{quote(folder)}/html/" for folder in site.folders), strict=True)
    entries = [_entry(title(it), address, len(it.tools), short_description(it, 200)) for it, address in pairs]
    page = site.templates.render("html/services.html.j2", services=entries, file_name="index.html")
    yield Document("html/index.html", page)
    yield from _assets(site.templates)


def _page(templates: Templates, file_name: str, **context: Any) -> Document:
    template = "index" if file_name == "index.html" else "page"
    return Document(f"html/{file_name}", templates.render(f"html/{template}.html.j2", file_name=file_name, **context))


def _assets(templates: Templates) -> Iterator[Document]:
    for name in _ASSETS:
        yield Document(f"html/{name}", templates.render(f"html/{name}.j2"))


def _file(page: Page) -> str:
    return page.file_name.removesuffix(".md") + ".html"


def _search_index(rendering: Rendering, reference: Reference) -> str:
    """Returns the script with everything that can be found: name, phrase, group, marks and address."""
    rows: list[list[Any]] = []
    for topic in reference.topics:
        for page, tools in topic.tools_by_page:
            places = ((tool, f"{_file(page)}#{page.anchors[TOOL + tool.name]}") for tool in tools)
            rows += ([tool.name, tool_phrase(tool), topic.title, [*marks(tool)], place] for tool, place in places)
    for page in (*reference.types, *reference.resources, *reference.prompts, *reference.events):
        sections = ((section.heading, f"{_file(page)}#{page.anchors[section.key]}") for section in page.sections)
        rows += ([heading, "", page.title, [], place] for heading, place in sections)
    lines = ",\n".join(exact_json_text(row) for row in rows)
    return f"found.add(document.currentScript, {exact_json_text(title(rendering.service))}, [\n{lines}\n]);\n"


class _Renderer(RendererHTML):
    """Writes nested lists so that they can be closed, and links."""

    _is_in_link = False

    def bullet_list_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Begins a list; one within an item can be closed, and a long one is."""
        level = tokens[idx].level
        if not level:
            return "<ul>\n"
        count = 0
        for token in tokens[idx + 1 :]:
            if token.level == level and token.type == "bullet_list_close":
                break
            count += token.level == level + 1 and token.type == "list_item_open"
        return f"<details{' open' * (count <= OPEN_LIMIT)}><summary>{count} nested</summary>\n<ul>\n"

    def bullet_list_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Ends a list."""
        return "</ul></details>\n" if tokens[idx].level else "</ul>\n"

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Begins a link: to a page of the site, or out of it."""
        address = str(tokens[idx].attrs.get("href", ""))
        self._is_in_link = True
        if _PAGE_LINK.match(address) or address.startswith("#"):
            address = _PAGE_LINK.sub(r"\1.html", address)
            return f'<a href="{escape(address)}">'
        return f'<a href="{escape(address)}"{_OUTSIDE}>'

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Ends a link."""
        self._is_in_link = False
        return "</a>"

    def text(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Returns a text; its addresses become links, unless it is in one."""
        words = escape(tokens[idx].content)
        if "://" not in words or self._is_in_link:
            return words
        return _ADDRESS.sub(rf'<a href="\g<0>"{_OUTSIDE}>\g<0></a>', words)


_OUTSIDE = ' rel="noopener noreferrer nofollow"'

_CONVERTER = (
    MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer)
    .enable(["table", "strikethrough"])
    .disable("image")
)


def to_html(text: str) -> Markup:
    """Returns Markdown as HTML without images; raw HTML in it is shown as text, and a keyboard can scroll code."""
    return Markup(_CONVERTER.render(text).replace("<pre>", '<pre tabindex="0">'))
