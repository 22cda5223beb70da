"""Markdown parsers that other people wrote, each with HTML allowed: what would come alive shows."""

from __future__ import annotations

import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import cmarkgfm
import pypandoc
from cmarkgfm.cmark import Options
from markdown_it import MarkdownIt

HERE = Path(__file__).parent
PARSERS = (
    *("cmark-gfm", "markdown-it-py", "marked 18", "marked 15", "marked 4", "remark-gfm", "markdown-it"),
    *("kramdown", "pandoc markdown", "pandoc gfm"),
)
GFM_EXTENSIONS = ["table", "autolink", "strikethrough", "tasklist"]
TIMEOUT_S = 300


def rendered(texts: list[str]) -> dict[str, list[str]]:
    """Returns the HTML that each parser makes of each text, by the name of the parser."""
    markdown_it = MarkdownIt("gfm-like", {"html": True, "linkify": True})
    options = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES
    return {
        "cmark-gfm": [cmarkgfm.markdown_to_html_with_extensions(text, options, GFM_EXTENSIONS) for text in texts],
        "markdown-it-py": [markdown_it.render(text) for text in texts],
        **_printed(["node", str(HERE / "node" / "render.mjs")], texts),
        **_printed(["ruby", str(HERE / "kramdown.rb")], texts),
        **_printed([pypandoc.get_pandoc_path(), "lua", str(HERE / "pandoc.lua")], texts),
    }


def _printed(command: list[str], texts: list[str]) -> dict[str, list[str]]:
    """Runs a program that reads a JSON list of texts and prints an object of lists of HTML."""
    try:
        done = subprocess.run(
            command, input=json.dumps(texts), capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except FileNotFoundError:
        raise AssertionError(f"{command[0]} is not installed; run `make parsers`") from None
    assert done.returncode == 0, f"{command}: {done.stderr[-2000:]}"
    found: dict[str, list[str]] = json.loads(done.stdout)
    assert all(len(pages) == len(texts) for pages in found.values())
    return found


BLOCK_TAGS = frozenset({"p", "ul", "ol", "li", "blockquote", "pre", "br", "div", "section"})
PHRASE_TAGS = frozenset({"code", "em", "strong", "a", "del", "s", "input", "span"})
"""What Markdown makes of lists, quotes, code, emphasis, links and task lists."""

TYPOGRAPHY = {
    "pandoc": frozenset({"sup", "sub", "u", "label"}),
    "kramdown": frozenset({"hr", "table", "tbody", "tr", "td"}),
}
"""Tags by which single parsers set words, without attributes."""

_ATTRIBUTES = {
    **{f"h{level}": {"id"} for level in range(1, 7)},
    "a": {"href"},
    "input": {"type", "checked", "disabled", "class"},
    "ol": {"start", "type", "class"},
    "code": {"class"},
    "pre": {"class"},
    "div": {"class", "id"},
    "span": {"class", "id", "data-emoji", "data-cites"},
    "li": {"class", "id"},
    "ul": {"class"},
}
"""What parsers write themselves: of the language of a code block, of the identifier of a heading, of a task."""
_SCHEME = re.compile(r"\s*([a-z][a-z0-9+.-]*):|//", re.IGNORECASE)


class _Reader(HTMLParser):
    """Collects what no text of a source may bring about."""

    def __init__(self, allowed: frozenset[str], local: bool) -> None:
        super().__init__()
        self.allowed = allowed
        self.local = local
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        shown = self.get_starttag_text() or tag
        if tag not in self.allowed:
            self.found.append(shown)
            return
        for name, value in attrs:
            scheme = _SCHEME.match(value or "")
            is_foreign = scheme[1] not in ("http", "https", "mailto") if scheme else not self.local
            if name not in _ATTRIBUTES.get(tag, set()) or (name == "href" and is_foreign):
                self.found.append(shown)

    handle_startendtag = handle_starttag

    def handle_comment(self, data: str) -> None:
        self.found.append(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.found.append(f"<!{decl}>")

    def unknown_decl(self, data: str) -> None:
        self.found.append(f"<![{data}]>")

    def handle_pi(self, data: str) -> None:
        self.found.append(f"<?{data}>")


def foreign(parser: str, html: str, *, allowed: str = "", local: bool = False) -> list[str]:
    """Returns the tags, attributes and link targets that a text of a source must not have brought about.

    `allowed` names more tags; `local` allows links within the documents.
    """
    more = next((tags for start, tags in TYPOGRAPHY.items() if parser.startswith(start)), frozenset())
    reader = _Reader(BLOCK_TAGS | PHRASE_TAGS | more | frozenset(allowed.split()), local)
    reader.feed(html)
    reader.close()
    return reader.found
