"""From a server to documents, by the command line: servers that other people wrote, and servers that misbehave."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import real_servers
from cli import ROOT, Finished, files_of, generated, run_skillgen
from documents import SECTIONS_OF_AI_HELP, MarkdownDocument, broken_links, document_at, skill_in, tokens
from llms_txt import parse_llms_file  # type: ignore[import-untyped]
from rows import inputs
from servers import over_http

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent
SCHEMAS = TESTS / "specifications" / "dashdash"
ACME = (sys.executable, str(TESTS.parent / "examples" / "acme-mcp" / "server.py"))


def repository(folder: Path) -> Path:
    """Makes an empty git repository."""
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder


SERVERS: dict[str, tuple[Callable[[Path], tuple[str, ...]], str, str]] = {
    "server-everything (npm)": (lambda folder: real_servers.everything(), "get-sum", "2025-11-25"),
    "server-filesystem (npm)": (real_servers.filesystem, "read_text_file", "2025-11-25"),
    "server-memory (npm)": (lambda folder: real_servers.memory(), "create_entities", "2025-11-25"),
    "mcp-server-git (PyPI)": (lambda folder: real_servers.git(repository(folder)), "git_status", "2025-11-25"),
    "mcp-server-time (PyPI)": (lambda folder: real_servers.clock(), "get_current_time", "2025-11-25"),
    "a server on the SDK's second version": (lambda folder: real_servers.modern_sdk(), "buy_paper", "2026-07-28"),
    "the Acme example": (lambda folder: ACME, "create_project", "2025-11-25"),
    "a server of the standard library alone": (lambda folder: kiosk("dashdash"), "buy_paper", "2024-11-05"),
}
"""What the server is, to how it starts, where it may use an empty folder; one of its tools, and its revision."""


def kiosk(manner: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "servers.over_stdio", manner)


def documented(command: tuple[str, ...], out: Path, *options: object) -> Finished:
    return run_skillgen("from-server", "--out", out, *options, "--", *command, cwd=TESTS)


def inspected(command: tuple[str, ...]) -> dict[str, Any]:
    finished = generated("inspect", "-q", "--", *command, cwd=TESTS)
    service: dict[str, Any] = json.loads(finished.stdout)["services"][0]
    return service


def front_matter_is_valid(text: str, profile: str) -> None:
    schema = json.loads((SCHEMAS / f"dashdash-frontmatter-{profile}.schema.json").read_text("utf-8"))
    jsonschema.validate(MarkdownDocument(text).fields(), schema)


@pytest.fixture(scope="module", params=SERVERS)
def crawled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The model of a server and the documents that are made of it, of one crawl."""
    start, tool, version = SERVERS[request.param]
    command = start(tmp_path_factory.mktemp("server"))
    folder = tmp_path_factory.mktemp("documents")
    text = generated("inspect", "-q", "--", *command, cwd=TESTS).stdout
    generated("from-server", "--snapshot", "-", "--out", folder / "out", stdin=text)
    (service,) = json.loads(text)["services"]
    assert (service["protocol_version"], tool in [item["name"] for item in service["tools"]]) == (version, True)
    return service, folder / "out"


def test_every_tool_is_documented_once_with_every_parameter(crawled: tuple[dict[str, Any], Path]) -> None:
    """A heading that is the tool's exact name, and below it the name of each parameter."""
    service, out = crawled
    sections = {
        section.heading.text: section
        for path in out.glob("skills/**/*.md")
        for section in document_at(path).sections(2)
        if path.name not in ("about.md", "types.md", "resources.md", "prompts.md")
    }
    assert {tool["name"] for tool in service["tools"]} <= sections.keys()
    for tool in service["tools"]:
        assert [item.name for item in sections[tool["name"]].items if item.label == "Parameters:"][
            : len(tool.get("parameters", []))
        ] == [parameter["name"] for parameter in tool.get("parameters", [])]


def test_resources_and_prompts_reach_the_skill(crawled: tuple[dict[str, Any], Path]) -> None:
    service, out = crawled
    (skill,) = out.glob("skills/*/SKILL.md")
    everything = "".join(path.read_text("utf-8") for path in skill.parent.rglob("*.md"))
    for kind in ("resources", "resource_templates"):
        assert {item["uri"] for item in service.get(kind, []) if f"`{item['uri']}`" not in everything} == set()
    headings = [heading.text for path in skill.parent.rglob("*.md") for heading in document_at(path).headings]
    assert {prompt["name"] for prompt in service.get("prompts", [])} <= set(headings)


def test_the_skill_passes_the_reference_validator(crawled: tuple[dict[str, Any], Path]) -> None:
    """X-20, X-21."""
    (skill,) = crawled[1].glob("skills/*")
    command = [str(Path(sys.executable).parent / "agentskills"), "validate", str(skill)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_the_skill_keeps_to_its_budget(crawled: tuple[dict[str, Any], Path]) -> None:
    """X-24."""
    text = skill_in(crawled[1])
    assert text.count("\n") < 500
    assert len(text) < 16_000
    assert tokens(text) < 5_000


def test_llms_txt_is_read_by_the_reference_parser(crawled: tuple[dict[str, Any], Path]) -> None:
    """X-30, S0-40, S0-41, S0-43: title, summary and sections, in which every line is a link."""
    text = (crawled[1] / "llms.txt").read_text("utf-8")
    parsed = parse_llms_file(text)
    assert parsed.title == next(line[2:] for line in text.splitlines() if line.startswith("# "))
    assert parsed.summary
    assert {"When to Use", "Quick Reference"} <= set(parsed.sections)
    linked = {link.title.partition("(")[0] for link in parsed.sections["Quick Reference"]}
    assert linked <= {tool["name"] for tool in crawled[0]["tools"]}
    front_matter_is_valid(text, "web")


def test_the_ai_help_text_has_its_front_matter_and_ten_sections(crawled: tuple[dict[str, Any], Path]) -> None:
    """S0-30, S0-32."""
    text = (crawled[1] / "ai-help.md").read_text("utf-8")
    front_matter_is_valid(text, "cli")
    titles = [heading.text for heading in MarkdownDocument(text).headings if heading.level == 2]
    assert [title for title in titles if title in SECTIONS_OF_AI_HELP] == list(SECTIONS_OF_AI_HELP)


def test_the_registry_entry_is_valid_and_claims_no_verification(crawled: tuple[dict[str, Any], Path]) -> None:
    """S0-52."""
    entry = json.loads((crawled[1] / "registry.json").read_text("utf-8"))
    jsonschema.validate(entry, json.loads((SCHEMAS / "dashdash-registry-entry.schema.json").read_text("utf-8")))
    assert "verified" not in entry


def test_every_link_leads_somewhere(crawled: tuple[dict[str, Any], Path]) -> None:
    assert broken_links(crawled[1]) == []


def test_a_second_crawl_changes_nothing(tmp_path: Path) -> None:
    """X-51."""
    out = tmp_path / "out"
    assert documented(real_servers.everything(), out).exit_code == 0
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    checked = documented(real_servers.everything(), out, "--check")
    assert (checked.exit_code, checked.stdout) == (0, "")
    assert documented(real_servers.everything(), out).exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


def test_the_version_of_the_projects_sdk_is_not_that_of_a_local_server(tmp_path: Path) -> None:
    (tmp_path / ".venv/lib/python3.11/site-packages/fastmcp-1.0.dist-info").mkdir(parents=True)
    with over_http.running("json") as server:
        finished = generated("from-server", "--url", server.url, "--emit", "skill", cwd=tmp_path)
    assert "the server reports 1.0, which is the version of its SDK, fastmcp" in finished.stderr
    assert not [path for path in tmp_path.rglob("SKILL.md") if "1.0" in path.read_text("utf-8")]


def test_server_everything_has_the_same_tools_over_http_and_stdio(tmp_path: Path) -> None:
    port = real_servers.free_port()
    with real_servers.listening(real_servers.everything("streamableHttp"), port, {"PORT": str(port)}):
        finished = run_skillgen("inspect", "-q", "--url", f"http://127.0.0.1:{port}/mcp").ok()
    over_http_tools = json.loads(finished.stdout)["services"][0]["tools"]
    over_stdio = inspected(real_servers.everything())
    assert over_http_tools == over_stdio["tools"]
    assert [*filter(over_stdio.get, ("prompts", "resource_templates"))] == ["prompts", "resource_templates"]
    assert [item for item in over_stdio.get("problems", ()) if item["where"][:1] != "/"] == []


def test_a_crawl_that_fails_leaves_the_documents_of_a_good_one(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert documented(kiosk("dashdash"), out).exit_code == 0
    before = files_of(out)
    assert documented(kiosk("exits"), out).exit_code == 3
    assert documented(kiosk("refuses-tools"), out).exit_code == 3
    assert files_of(out) == before


def test_a_crawl_without_tools_replaces_good_documents_only_when_asked(tmp_path: Path) -> None:
    out, manner, server = tmp_path / "out", tmp_path / "manner", tmp_path / "server.py"
    server.write_text(f"import os, sys\nos.execv(sys.executable, [*{kiosk('')[:-1]}, open({str(manner)!r}).read()])\n")
    command = (sys.executable, str(server))
    manner.write_text("dashdash")
    assert documented(command, out).exit_code == 0
    before = files_of(out)
    manner.write_text("no-tools")
    documented(command, out).ended(3, "--allow-empty")
    assert files_of(out) == before
    assert documented(command, out, "--allow-empty").exit_code == 0
    assert files_of(out) != before


def test_pictures_that_stand_in_the_source_itself_reach_no_document(tmp_path: Path) -> None:
    """S1-05, S1-06, S1-09: neither a large `data:` address nor a stranger's, in any format."""
    documented(kiosk("icons"), tmp_path, "--emit", "skill,llms,ai-help,registry,ai-help-commands").ok()
    written = files_of(tmp_path)
    assert any(b"https://kiosk.example" in text for text in written.values())
    for path, text in written.items():
        assert b"iVBORw0KGgo" not in text, path
        assert b"stranger.example" not in text, path


# -- several servers of one name -------------------------------------------------------------------------------------

VERBATIM = ROOT / "tests" / "servers" / "verbatim.py"


def several(folder: Path, **servers: str) -> Path:
    """Writes a client's file in which each server reports the same name; returns each one's tool."""
    entries = {}
    for name, tool in servers.items():
        text = json.dumps({"tools": [{"name": tool, "inputSchema": {"type": "object"}}]})
        (folder / f"{tool}.json").write_text(text, "utf-8")
        entries[name] = {"command": sys.executable, "args": [str(VERBATIM), str(folder / f"{tool}.json")]}
    path = folder / f"{'-'.join(servers)}.json"
    path.write_text(json.dumps({"mcpServers": entries}), "utf-8")
    return path


@pytest.mark.parametrize(
    ("mounts", "skills"),
    [
        (("prod", "dev"), ("verbatim-prod", "verbatim-dev")),
        (("production", "staging"), ("verbatim-production", "verbatim-staging")),
        (("beta", "v2"), ("verbatim-beta", "verbatim-v2")),
        (("verbatim-v1", "verbatim-v2"), ("verbatim-v1", "verbatim-v2")),
    ],
    ids=" ".join,
)
def test_instances_of_one_server_are_installed_under_separate_names(
    mounts: tuple[str, str], skills: tuple[str, str], tmp_path: Path
) -> None:
    """X-21: two accounts of one server are what client files are like. No part of a mount name is left out."""
    file = several(tmp_path, **{mount: f"drop_{number}" for number, mount in enumerate(mounts)})
    command = ("from-server", "--config", file, "--install", "claude", "--install", "agents")
    generated(*command, cwd=tmp_path)
    for host in (".claude", ".agents"):
        folder = tmp_path / host / "skills"
        names = {path.name: (path / "SKILL.md").read_text("utf-8") for path in folder.iterdir()}
        assert set(names) == {*skills}
        for number, name in enumerate(skills):
            assert f"\nname: {name}\n" in names[name]
            assert f"drop_{number}" in names[name]
    assert run_skillgen(*command, "--check", cwd=tmp_path).exit_code == 0
    links = re.findall(r"^- \[(.+?)\]\([^)]+/llms.txt\)", (tmp_path / "agent-docs/llms.txt").read_text(), re.M)
    assert len(links) == len(set(links)) == 2


def test_a_name_that_distinguishes_instances_stays_while_one_of_them_fails(tmp_path: Path) -> None:
    file = several(tmp_path, prod="drop_prod", dev="drop_dev")
    generated("from-server", "--config", file, cwd=tmp_path)
    (tmp_path / "drop_dev.json").unlink()
    before = files_of(tmp_path / "agent-docs")
    assert run_skillgen("from-server", "--config", file, cwd=tmp_path).exit_code == 3
    assert files_of(tmp_path / "agent-docs") == before


def test_names_of_which_nothing_is_left_make_different_skills(tmp_path: Path) -> None:
    """X-21: also in separate runs; hosts refuse the names of their vendor."""
    (tmp_path / "tools.json").write_text('{"tools": []}', "utf-8")
    services = ("日本語サーバー", "Привет мир", "claude", "Anthropic", "..")
    for number, name in enumerate(services):
        arguments = ("--allow-empty", "--user", "--install", "claude", "-o", tmp_path / str(number), "--name", name)
        command = (sys.executable, VERBATIM, tmp_path / "tools.json")
        finished = generated("from-server", *arguments, "--", *command, cwd=tmp_path, env={"HOME": str(tmp_path)})
        assert "skill-unnamed" in finished.stderr
    names = [path.name for path in (tmp_path / ".claude" / "skills").iterdir()]
    assert len(names) == len(services)
    assert all(re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)


# -- a run that reads less than the last good one --------------------------------------------------------------------

SCRIPTED = """\
import json, sys
answers = json.load(open(sys.argv[1]))
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, params = message["method"], message.get("params", {})
    name = params.get("uri", params.get("name"))
    answer = answers.get(f"{method} {name}", answers.get(method))
    if isinstance(answer, str):
        sys.exit(answer)
    code = -32603 if method in answers else -32601
    body = {"error": {"code": code, "message": "It failed."}} if answer is None else {"result": answer}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
"""


DESCRIPTIONS = "kiosk:///tool_descriptions"
HELP = "# Kiosk\n\n## Opening Hours\n\nAlways.\n"


def answers() -> dict[str, Any]:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    papers = {"name": "list_papers", "description": "Lists.", "inputSchema": schema}
    close = {"name": "close", "description": "Closes the kiosk for good.", "inputSchema": {"type": "object"}}
    skill = "skill://till/SKILL.md"
    front_matter = {"name": "till", "description": "Counts money."}
    return {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {
                "tools": {},
                "resources": {},
                "prompts": {},
                "extensions": {"io.modelcontextprotocol/groups": {}, "io.modelcontextprotocol/skills": {}},
            },
            "serverInfo": {"name": "kiosk", "version": "1"},
        },
        "tools/list": {
            "tools": [
                {"name": "list_papers", "inputSchema": {"type": "object"}},
                {"name": "close", "description": "Closes.", "inputSchema": {"type": "object"}},
                {"name": "get_manifest", "description": "Returns the manifest.", "inputSchema": {"type": "object"}},
            ]
        },
        "resources/list": {"resources": [{"uri": DESCRIPTIONS, "name": "tool_descriptions"}]},
        "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "kiosk://{b}", "name": "B"}]},
        "resources/read": {"contents": [{"text": json.dumps({"list_papers": papers, "close": close})}]},
        "prompts/list": {"prompts": [{"name": "greet"}]},
        "groups/list": {"groups": [{"name": "stock", "title": "What is in stock"}]},
        "groups/get": {
            "contents": {"tools": [{"name": "count", "inputSchema": schema}]},
            "instructions": "Count first.",
        },
        "skills/list": {"skills": [{"uri": skill, "frontmatter": front_matter, "resources": [{"uri": skill}]}]},
        f"resources/read {skill}": {"contents": [{"uri": skill, "text": "---\nname: till\n---\nOpen the drawer."}]},
        "ai_help": {"contentType": "text/markdown", "content": HELP},
        "tools/call": {
            "structuredContent": {
                "manifest_version": "1",
                "server": {"name": "kiosk"},
                "tools": [],
                "recommendations": [{"server_name": "bank", "capability": "Changes money."}],
            }
        },
    }


def scripted(folder: Path, answers: dict[str, Any]) -> tuple[str, ...]:
    """Writes a server with these answers, and returns its command in this folder."""
    (folder / "server.py").write_text(SCRIPTED, "utf-8")
    (folder / "answers.json").write_text(json.dumps(answers), "utf-8")
    return ("--", sys.executable, "server.py", "answers.json")


READING_ALL = ("from-server", "--timeout", "5", "--skill-files", "--call-get-manifest")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a server and of its documents, of which nothing failed."""
    folder = tmp_path_factory.mktemp("good")
    generated(*READING_ALL, "-o", "out", *scripted(folder, answers()), cwd=folder)
    return folder


@pytest.mark.parametrize(("method", "answer"), inputs("from_server")["failures"])
def test_a_failure_does_not_replace_what_a_good_run_documented(
    good: Path, tmp_path: Path, method: str, answer: Any
) -> None:
    """S3-11: exit 3, and nothing is written; a list that failed in the first run is documented without."""
    folder = shutil.copytree(good, tmp_path / "project")
    before = files_of(folder / "out")
    server = scripted(folder, {**answers(), method: answer})
    for check in ((), ("--check",)) if method == "resources/list" else ((),):
        run_skillgen(*READING_ALL, "-o", "out", *check, *server, cwd=folder).ended(3, "lacks what its documents have")
        assert files_of(folder / "out") == before
    for _ in range(2):
        generated(*READING_ALL, "-o", "other", *server, cwd=folder)
    generated(*READING_ALL, "-o", "out", "--allow-empty", *server, cwd=folder)
    assert files_of(folder / "out") != before


@pytest.mark.parametrize(
    ("method", "answer", "words"),
    [
        ("prompts/list", {"prompts": []}, "greet"),
        ("groups/list", {"groups": []}, "Count first."),
        ("ai_help", ..., "Opening Hours"),
    ],
)
def test_what_a_server_no_longer_offers_goes_when_nothing_failed(
    tmp_path: Path, method: str, answer: Any, words: str
) -> None:
    """S0-16: that a method is unknown is an answer, and the documents follow it."""
    command = ("from-server", "-o", "out", *scripted(tmp_path, answers()))
    generated(*command, cwd=tmp_path)
    assert words in str(files_of(tmp_path / "out"))
    scripted(tmp_path, {key: value for key, value in {**answers(), method: answer}.items() if value is not ...})
    generated(*command, cwd=tmp_path)
    assert words not in str(files_of(tmp_path / "out"))
