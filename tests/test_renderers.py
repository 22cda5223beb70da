"""What a source says stays text in every renderer: nothing of it is HTML, an attribute, a heading or a foreign link.

Hostile texts are drawn, always the same ones, and put through each filter into the places that it is made for. They and
the complete documents of hostile services go through parsers that other people wrote.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

import pytest
from documents import FORMATS
from filters import filtered
from msgspec.structs import replace
from renderers import PARSERS, foreign, rendered
from test_hostile_services import built, hostile, word
from test_markdown_filters import FRAGMENTS

from skillgen import render_documents

pytestmark = pytest.mark.slow

DIALECTS = (
    *("www.x.example", "WWW.y.example/", "_www.x.example/", "éwww.x.example/", "xmpp:a@x.example", "ftp://x.example"),
    *("vbscript_mailto:a@x.example", "mailto:a@x.example", "a@x.example", "https://x.example/a", "javascript:alert(1)"),
    *("<img src=x onerror=1>", "<H1>x</H1>", "<A HREF=javascript:1>", "</A>", "<a href='javascript:1'>"),
    *("<!DOCTYPE x>", "[x](javascript:1)", "[r]: javascript:1", "\n[r]: javascript:1\n", "[^1]", "\n[^1]: x\n", "^[n]"),
    *('{: onclick="1"}', '{:x: onclick="1"}', '\n{: onclick="1"}\n', "{::nomarkdown}", "{:/}", "{::comment}", "{:"),
    *("{=html}", "\n```{=html}\n", "{onclick=1}", "{#i}", "{.c onclick=1}", "[x]{onclick=1}", "\n::: {onclick=1}\n"),
    *("\n:::\n", ":::", "\n: d", "\n*[H]: x\n", "H", "\n% t\n", "(@)", "[@a]", "@a", "^\n", "~s~", "\\(x\\)", "$$"),
    *("\n+---+---+\n", "\n  a     b\n---  ----\n  1    2\n", "\n| a | b |\n|---|---|\n| c | d |\n", "a | b"),
    *("\n:-|:-\n", "[!WARNING]", "\n[!caution]\n> a", "\n> [!note]\n> x", "~`", "`~", "\n```mermaid\n"),
    *("<table><tr><td>", "</td>", "@~/x", "<pre>", "</pre>"),
    *("&#60;", "&gt;", "&#96;", "\n&#35; x\n", "[- x](#a)", "![# x](/a)", "[", "](#a)", "##x"),
    *("<code>", "</code>", "<ul><li>", "</li></ul>", "<p>", "</p>", "\n    code\n", "```!"),
)  # fmt: skip
TOKENS = (*FRAGMENTS, *DIALECTS * 2)

PLACES = {
    "inline": ("- x: TEXT", "Words TEXT more", "## Heading TEXT\n"),
    "paragraph": ("TEXT", "- TEXT", "> TEXT"),
    "block": ("TEXT\n\nEND", "Words\n\nTEXT\n\n- item\n\nEND"),
    "code": ("- TEXT x", "TEXT"),
    "value": ("- Default: TEXT.",),
    "heading": ("## TEXT\n", "- x TEXT"),
    "label": ("- [TEXT](https://x.example/)", "### [TEXT](x.md)\n"),
    "url": ("- [x](TEXT)",),
    "fence": ("TEXT\n\nEND",),
}
"""Each filter with the places that it is made for."""

TEXTS = 900
SERVICES = 1
REPEATED = re.compile(r"llms-full\.txt$|tools\.md$|-p2\.md$|^plugin/skills/")
"""The paths of documents that hold what others hold, too: each parser takes its time for them."""


@dataclass(frozen=True)
class Written:
    """A text as a filter wrote it into a place."""

    filter: str
    text: str
    document: str


@pytest.fixture(scope="module")
def written() -> list[Written]:
    drawn = random.Random(1)
    texts = ["".join(drawn.choices(TOKENS, k=drawn.choice((1, 2, 3, 4, 6, 9, 14)))) for _ in range(TEXTS)]
    found = []
    for text, results in zip(texts, filtered(texts, *PLACES), strict=True):
        name, safe = drawn.choice(list(zip(PLACES, results, strict=True)))
        found.append(Written(name, text, drawn.choice(PLACES[name]).replace("TEXT", safe)))
    return found


@pytest.fixture(scope="module")
def pages_of_texts(written: list[Written]) -> dict[str, list[str]]:
    return rendered([item.document for item in written])


def bodies(kind: Literal["mcp", "openapi"], texts: list[str] | None) -> list[str]:
    """Returns the documents of a service without front matter; harmless words where there are no texts."""
    service = built(kind, hostile(texts) if texts else word)
    formats = tuple(name for name in FORMATS if name != "ai-help-commands")
    documents = dict(render_documents(replace(service, workflows=()), emit=formats))
    # Workflows are complete here; whether SKILL.md has them complete, or an index, follows from the lengths of texts.
    whole = render_documents(service, emit="skill")
    documents.update((path, text) for path, text in whole.items() if path.endswith("about.md"))
    pages = [text for path, text in documents.items() if path.endswith((".md", ".txt")) and not REPEATED.search(path)]
    return [re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL) for text in pages]


@pytest.fixture(scope="module")
def documents() -> list[str]:
    """The documents of harmless services, then as many of each hostile one."""
    drawn = random.Random(2)
    found = [*bodies("mcp", None), *bodies("openapi", None)]
    for _ in range(SERVICES):
        texts = ["".join(drawn.choices(TOKENS, k=drawn.randrange(2, 8))) for _ in range(12)]
        found += [*bodies("mcp", texts), *bodies("openapi", texts)]
    return found


@pytest.fixture(scope="module")
def pages_of_documents(documents: list[str]) -> dict[str, list[str]]:
    return rendered(documents)


@pytest.mark.parametrize("parser", PARSERS)
def test_a_filtered_text_brings_about_nothing_foreign(
    parser: str, written: list[Written], pages_of_texts: dict[str, list[str]]
) -> None:
    """X-52, S0-25: tags, attributes, links of other schemes, and text that swallows what follows."""
    for item, page in zip(written, pages_of_texts[parser], strict=True):
        allowed = "h2" if item.document.startswith("## ") else "h3" if item.document.startswith("### ") else ""
        is_local = item.filter == "url" or "](x.md)" in item.document
        assert not foreign(parser, page, allowed=allowed, local=is_local), (item, page)
        assert ("END" in page) == item.document.endswith("END"), (item, page)


def test_no_address_and_no_superscript_brings_raw_html_to_life() -> None:
    """X-52: kramdown links no bare address, and pandoc reads a superscript twice."""
    texts = (
        *("http://x.example{::nomarkdown}<img src=x onerror=1>{:/}", "*a* www.x.example/{: onclick=1}"),
        *("^(@)`<img src=x onerror=1>`{=html}^", "a^[x]{onclick=1}^", "^`a b`{=html}\\ c^", "x^2^ and `<b>`{=html}^y^"),
        *("^a^wWw.x.example/<i>$[^x]1", "WWW.x.example/", "Www.x.example/a and wwW.y.example"),
    )
    written = [
        (name, place.replace("TEXT", safe))
        for results in filtered(texts, *PLACES)
        for name, safe in zip(PLACES, results, strict=True)
        if name != "url"
        for place in PLACES[name]
    ]
    for parser, pages in rendered([document for _, document in written]).items():
        for item, page in zip(written, pages, strict=True):
            assert not foreign(parser, page, allowed="h2 h3 sup", local="](x.md)" in item[1]), (parser, item, page)


@pytest.mark.parametrize("parser", PARSERS)
def test_a_hostile_service_has_the_headings_of_a_harmless_one(
    parser: str, pages_of_documents: dict[str, list[str]]
) -> None:
    """X-52, S0-25: and no foreign tag, attribute or link."""
    pages = pages_of_documents[parser]
    count = len(pages) // (SERVICES + 1)
    shapes = [
        Counter(tuple(re.findall("<h([1-6])", page)) for page in pages[start : start + count])
        for start in range(0, len(pages), count)
    ]
    assert shapes[1:] == shapes[:1] * SERVICES
    for page in pages:
        assert not foreign(parser, page, allowed="h1 h2 h3 h4 h5 h6", local=True)


def test_no_document_of_a_hostile_service_holds_what_a_host_or_jekyll_runs(documents: list[str]) -> None:
    """X-52: also where two texts meet, and in code."""
    for text in documents:
        assert not re.search(r"!`|```!|\$ARGUMENTS|\$\{CLAUDE_|\{\{|\{%|(?<!\S)@(?:~|\.|/)", text)
