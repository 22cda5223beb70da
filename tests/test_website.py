"""The static site, in a browser: it finds every tool, loads nothing from elsewhere, and runs nothing of a source."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest
from browser import seen_in_browser
from cli import ROOT, generated
from conftest import GitHub
from descriptions import description, operation, write
from markupsafe import escape

Json = Any
ACME = ["from-server", "--emit", "html", "--", "python", ROOT / "examples" / "acme-mcp" / "server.py"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the site of the example server."""
    out = tmp_path_factory.mktemp("acme")
    generated(*ACME[:1], "-o", out, *ACME[1:])
    return out / "html"


@pytest.fixture(scope="module")
def github_site(github: GitHub, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the site of GitHub's description."""
    out = tmp_path_factory.mktemp("site")
    generated("from-openapi", github.source, "-o", out, "--emit", "html")
    return out / "html"


class Links(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: list[str] = []
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("href", "src"):
                self.links.append(value or "")
            elif name == "id":
                self.anchors.append(value or "")


def broken_links(site: Path) -> list[str]:
    """Returns links to pages or sections that do not exist, and anchors that a page has twice."""
    pages = {page.name: Links(page) for page in site.glob("*.html")}
    faults = []
    for name, page in pages.items():
        faults += [f"{name}: {anchor} twice" for anchor in {*page.anchors} if page.anchors.count(anchor) > 1]
        for link in page.links:
            if link.startswith(("http://", "https://", "mailto:")):
                continue
            file, anchor = urldefrag(link)
            target = pages.get(file or name)
            if not (site / unquote(file)).exists() or (
                anchor and (not target or unquote(anchor) not in target.anchors)
            ):
                faults.append(f"{name}: {link}")
    return faults


def test_every_link_of_the_site_works(acme: Path, github_site: Path) -> None:
    assert broken_links(acme) == []
    assert broken_links(github_site) == []


def test_the_site_has_every_tool_and_parameter(github: GitHub, github_site: Path) -> None:
    text = "".join(page.read_text("utf-8") for page in sorted(github_site.glob("*.html")))
    operations = [item for path in github.raw["paths"].values() for item in path.values() if "operationId" in item]
    shown = (f"<code>{item['operationId']}</code>" for item in operations)
    assert [name for name in shown if name not in text] == []
    headings = (f">{escape(item['summary'].rstrip('.'))}</a>" for item in operations)
    assert [heading for heading in headings if heading not in text] == []
    parameters = github.raw["components"]["parameters"].values()
    assert [item["name"] for item in parameters if f"<code>{item['name']}</code>" not in text] == []


def test_the_site_is_for_people_who_call_the_api(tmp_path: Path) -> None:
    """The overview says how to authenticate, not when a skill is used; words on groups are no raw Markdown."""
    tags = [{"name": "Days", "description": "Up to **90** ~~teams~~ days."}]
    schemes = {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
    members = {"tags": tags, "security": [{"key": []}], "components": {"securitySchemes": schemes}}
    paths = {"/days": {"get": operation(tags=["Days"], summary="List days"), "put": operation("put", tags=["Days"])}}
    source = write(tmp_path / "a.json", description(paths, **members))
    generated("from-openapi", source, "-o", tmp_path / "out", "--emit", "html,plugin")
    index = (tmp_path / "out/html/index.html").read_text("utf-8")
    assert "Use when" not in index
    assert "-H &quot;X-Key: $SKILL_TASKS_EXAMPLE___API_KEY&quot;</code>" in index
    assert "<p>Up to <strong>90</strong> <s>teams</s> days.</p>" in index
    page = (tmp_path / "out/html/days.html").read_text("utf-8")
    assert ">List days</a>" in page
    assert "get/days" not in page.replace('"#getdays"', "")
    assert '<code class="language-sh">curl' in page
    readme = (tmp_path / "out/plugin/README.md").read_text("utf-8")
    assert "$SKILL_TASKS_EXAMPLE___API_KEY" in readme
    assert "`claude --plugin-dir FOLDER`" in readme
    assert "Use when" not in readme


def test_the_search_finds_a_tool_by_keyboard(github_site: Path, node_modules: Path) -> None:
    index = (github_site / "index.html").as_uri()
    tasks: list[dict[str, Json]] = [
        {"url": index, "keys": ["/", "merge a pull request"]},
        {"url": index, "keys": ["/", "pulls/merge", "Enter"]},
        {"url": index, "keys": ["/", "issue comment", "ArrowDown", "ArrowDown"]},
        {"url": index, "keys": ["/", "no such tool at all"]},
        {"url": index, "keys": ["/", "gist", "Escape"]},
    ]
    phrase, name, moved, nothing, cleared = seen_in_browser(tasks, node_modules)
    assert phrase["results"][0] == "pulls/merge"
    assert name["address"].endswith("/pulls.html#pullsmerge")
    assert name["isFound"]
    assert moved["active"] == moved["results"][1]
    assert nothing["count"] == "0 matches"
    assert cleared["results"] == []


def test_a_page_loads_nothing_from_elsewhere_and_is_accessible(
    acme: Path, github_site: Path, node_modules: Path
) -> None:
    audited = [acme / "index.html", acme / "tasks.html", github_site / "index.html"]
    pages = [*audited, acme / "prompts.html", github_site / "pulls.html"]
    tasks = [
        {"url": page.as_uri(), "scheme": scheme, "width": width, "audit": page in audited and width == 1200}
        for page in pages
        for scheme, width in (("light", 1200), ("dark", 1200), ("light", 360))
    ]
    faults = []
    for task, result in zip(tasks, seen_in_browser(tasks, node_modules), strict=True):
        folder = str(task["url"]).rpartition("/")[0]
        loaded = [request for request in result["requests"] if not request.startswith(folder)]
        faults += [(task["url"], task["scheme"], fault) for fault in (*loaded, *result["messages"])]
        faults += [(task["url"], task["scheme"], fault) for fault in result.get("faults", ())]
        if result["isWide"]:
            faults.append((task["url"], task["width"], "wider than the screen"))
    assert faults == []


def test_long_names_cover_no_section_and_widen_no_page(tmp_path: Path, node_modules: Path) -> None:
    long = {"description": "It takes room. " * 99, "tags": ["Long" * 25]}
    tools = {f"/{name}": {"get": operation(name, **long)} for name in ("one", "two", "six", "Seven" * 12)}
    info = {"title": "A service with a long title, which has no place next to a search field", "version": "1"}
    servers = [{"url": f"https://api.example.com/{'part' * 30}"}]
    source = write(tmp_path / "a.json", description(tools, info=info, servers=servers))
    generated("from-openapi", source, "-o", tmp_path / "out", "--emit", "html")
    (page,) = [page for page in (tmp_path / "out/html").glob("*.html") if 'id="two"' in page.read_text("utf-8")]
    urls = [f"{page.as_uri()}#two", page.with_name("index.html").as_uri()]
    tasks = [{"url": url, "width": width} for url in urls for width in (360, 768, 1200)]
    seen = seen_in_browser(tasks, node_modules)
    assert [item["isCovered"] for item in seen] == [False] * 3 + [None] * 3
    assert not any(item["isWide"] for item in seen)


def test_no_text_of_a_source_becomes_markup(tmp_path: Path, node_modules: Path) -> None:
    attack = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'><svg/onload=alert(1)>"
    links = "[a](javascript:alert(1)) ![b](https://evil.test/x.png) <a href='javascript:alert(1)'>c</a>"
    tool = operation(summary=f"Get {attack}", description=f"{attack}\n\n{links}\n\n```html\n{attack}\n```")
    tool |= {"operationId": f"get{attack}", "tags": [attack]}
    source = write(tmp_path / "a.json", description({"/a": {"get": tool}}, info={"title": attack, "version": attack}))
    generated("from-openapi", source, "-o", tmp_path / "out", "--emit", "html")
    site = tmp_path / "out" / "html"
    for page in site.glob("*.html"):
        text = page.read_text("utf-8")
        assert re.findall(r"<script[^>]*>", text) == ['<script src="site.js">', '<script src="search.js" defer>']
        assert not re.search(r"<(?:img|svg|iframe|object|form)\b|\son\w+=[^&]*>|javascript:[^<]*\"", text)
    tasks = [{"url": page.as_uri(), "keys": ["/", "alert"]} for page in site.glob("*.html")]
    for result in seen_in_browser(tasks, node_modules):
        assert result["dialogs"] == 0
        assert result["messages"] == []
        assert result["results"] != []


def test_a_page_above_several_services_searches_all(tmp_path: Path, node_modules: Path) -> None:
    server = {"command": "python", "args": [str(ROOT / "examples" / "acme-mcp" / "server.py")]}
    servers = {"acme": server, "other": server}
    config = write(tmp_path / "servers.json", {"mcpServers": servers})
    generated("from-server", "--config", config, "-o", tmp_path / "out", "--emit", "html")
    site = (tmp_path / "out/html/index.html").as_uri()
    found, seen = seen_in_browser(
        [{"url": site, "keys": ["/", "create_task", "Enter"]}, {"url": site, "audit": True, "width": 1400}],
        node_modules,
    )
    assert found["isFound"]
    assert found["address"].endswith("/out/acme/html/tasks.html#create_task")
    assert (seen["faults"], seen["messages"], seen["isWide"]) == ([], [], False)
    assert broken_links(tmp_path / "out" / "acme" / "html") == []
