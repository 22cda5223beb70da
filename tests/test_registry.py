"""Registries of many services: what is merged."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli import ROOT, files_of, generated, run_skillgen
from descriptions import description, operation, write
from jsonschema import Draft7Validator
from test_publish import ACME, SERVER_SCHEMA, read_json
from test_well_known import validator

import skillgen

SOURCES = ROOT / "tests" / "golden" / "sources"
FORMATS = ["registry", "server-json", "tool-descriptions", "well-known", "service-manifest"]
Json = Any


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the documents of three services, and the registry of them."""
    folder = tmp_path_factory.mktemp("services")
    for name in ("slack", "github-mcp-server"):
        service = skillgen.read(SOURCES / f"{name}.json")
        skillgen.generate(service, out=folder / "all" / name, emit=FORMATS, publish=ACME)
    tasks = skillgen.read(ROOT / "examples/acme-tasks/mcp.yaml")
    skillgen.generate(tasks, out=folder / "tasks", emit=FORMATS, publish=ACME)
    generated("registry", "build", "tasks", "all", "-o", "index/registry.json", cwd=folder)
    return folder


def test_a_registry_has_the_entries_in_three_forms(folder: Path) -> None:
    """Issue 18: the dashdash, mcpx and MCP-registry `/v0.1/servers` forms, in a stable order."""
    index = folder / "index"
    assert set(files_of(index)) == {"registry.json", "registry.mcpx.json", "registry.servers.json"}
    entries = read_json(index / "registry.json")["servers"]
    assert [item["name"] for item in entries] == ["acme-tasks", "github", "slack"]
    for item in entries:
        validator("dashdash/dashdash-registry-entry.schema.json").validate(item)
    servers = read_json(index / "registry.servers.json")
    assert servers["metadata"] == {"count": 2}
    for item in servers["servers"]:
        Draft7Validator(SERVER_SCHEMA).validate(item["server"])
    assert [item["name"] for item in read_json(index / "registry.mcpx.json")] == ["acme-tasks"]
    before = files_of(index)
    generated("registry", "build", "all", "tasks", "-o", "index/registry.json", cwd=folder)
    assert before == files_of(index)


def test_a_site_above_others_is_not_written_over_another(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("mine", "utf-8")
    finished = run_skillgen("registry", "build", folder / "all", "-o", tmp_path / "r.json", "--html", tmp_path / "site")
    assert (finished.exit_code, "has another site" in finished.stderr) == (2, True)
    assert files_of(tmp_path) == {"site/index.html": b"mine"}
    finished = generated("registry", "build", folder / "all", "-o", tmp_path / "r.json", "--html", tmp_path / "new")
    assert "published-without: " in finished.stderr


def test_a_check_of_a_registry_writes_nothing_and_shows_each_change(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "all", tmp_path / "all")
    snapshot = SOURCES / "memory.json"
    generated("from-server", "--snapshot", snapshot, "-o", "all/memory", "--emit", "html,registry", cwd=tmp_path)
    words = ("registry", "build", "all", "-o", "index/r.json", "--html", "site")

    def check() -> str:
        before = files_of(tmp_path)
        finished = run_skillgen(*words, "--check", cwd=tmp_path)
        assert (finished.exit_code, files_of(tmp_path)) == (int(bool(finished.stdout)), before)
        return finished.stdout

    assert "+++ b/index/r.json\n" in check()
    generated(*words, cwd=tmp_path)
    assert check() == ""
    for path in ("index/r.json", "index/r.servers.json", "site/index.html", "site/site.css"):
        content = (tmp_path / path).read_bytes()
        (tmp_path / path).write_bytes(content + b" ")
        assert f"--- a/{path}\n+++ b/{path}\n" in check()
        (tmp_path / path).write_bytes(content)
    (tmp_path / "index/r.servers.json").unlink()
    assert "+++ b/index/r.servers.json\n" in check()
    generated(*words, cwd=tmp_path)
    shutil.rmtree(tmp_path / "all" / "memory")
    changed = {"index/r.json", "site/index.html", "site/services.js"}
    assert set(re.findall(r"[+]{3} b/(\S+)", check())) == changed


def test_an_entry_that_occurs_twice_is_reported(folder: Path, tmp_path: Path) -> None:
    finished = generated("registry", "build", folder / "tasks", folder / "tasks", "-o", tmp_path / "r.json")
    assert "registry-duplicate" in finished.stderr
    assert len(read_json(tmp_path / "r.json")["servers"]) == 1


def test_a_file_without_a_name_is_reported(folder: Path, tmp_path: Path) -> None:
    for name in ("other", "endless"):
        (tmp_path / "all" / name).mkdir(parents=True)
    (tmp_path / "all/endless/registry.json").symlink_to("/proc/self/pagemap")
    (tmp_path / "all/outside").mkdir()
    (tmp_path / "all/outside/registry.json").symlink_to(folder / "all/slack/registry.json")
    write(tmp_path / "all/other/registry.json", {"items": []})
    write(tmp_path / "all/registry.json", read_json(folder / "tasks/registry.json"))
    write(tmp_path / "all/.skillgen.json", {})
    finished = generated("registry", "build", tmp_path / "all", "-o", tmp_path / "r.json")
    assert "registry-entry-invalid" in finished.stderr
    assert [item["name"] for item in read_json(tmp_path / "r.json")["servers"]] == ["acme-tasks"]


def test_what_is_not_a_registry_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.json").write_bytes(b"not JSON")
    cases = {
        ("build", tmp_path / "empty"): (3, "has no entry of a registry"),
        ("build", tmp_path / "empty", "-o", tmp_path): (2, "is a folder"),
        ("build", folder / "tasks", "-o", folder / "tasks" / "registry.json"): (2, "is not a registry of many"),
        ("build", folder / "tasks", "-o", tmp_path / "bad.json"): (2, "is not a registry of many"),
    }
    for words, (code, message) in cases.items():
        finished = run_skillgen("registry", *words, cwd=tmp_path)
        assert (finished.exit_code, message in finished.stderr) == (code, True), finished.stderr


HOSTILE = ['"', "a\x1b[31m\u202eb", "' OR 1=1 --", "NEAR(a b)", "a" * 5000, "../../x", "::error::x"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_entries_are_only_text(text: str, tmp_path: Path) -> None:
    service = {"name": text, "description": text, "specVersion": "0.2.0", "install": [text], "verified": True}
    (tmp_path / "a/tool-descriptions").mkdir(parents=True)
    write(tmp_path / "a/registry.json", service)
    write(tmp_path / "a/.skillgen.json", {"version": 2, "tools": {text: {}, "book": {}}})
    write(tmp_path / "a/server.json", [text])
    write(tmp_path / "a/tool-descriptions/tools-list.json", {"tools": [text, {"name": text, "description": text}]})
    generated("registry", "build", "a", cwd=tmp_path)
    (entry,) = read_json(tmp_path / "registry.json")["servers"]
    assert entry["description"] == text


ADDED = (
    "{}document.title = 'x';\n",
    "document.title = 'x';\n{}",
    "{}{}",
    'found.add(document.currentScript, "a", [[document.title = "x", "", "", [], "a.html"]]);\n',
    'found.add(document.currentScript, "a", [["b", "", "", [], "javascript:x"]]);\n',
    'found.add(document.currentScript, "a", [["b", "", "", [], "//evil.example/a.html"]]);\n',
    'found.add(document.currentScript, "a", [["b", "", "", [["x"]], "a.html"]]);\n',
    "[" * 100_000,
    "",
)


@pytest.mark.parametrize("added", ADDED)
def test_an_overview_runs_no_code_of_the_folders_that_it_merges(added: str, tmp_path: Path) -> None:
    for name in ("good", "evil"):
        source = write(tmp_path / f"{name}.json", description({"/a": {"get": operation(f"use_{name}")}}))
        generated("from-openapi", source, "--emit", "skill,registry,html", "-o", tmp_path / "docs" / name)
    script = next((tmp_path / "docs/evil").rglob("html/search.js"))
    script.write_text(added.replace("{}", script.read_text("utf-8")), "utf-8")
    path = next((tmp_path / "docs/evil").rglob("registry.json"))
    path.write_text(path.read_text("utf-8").replace(json.loads(path.read_text("utf-8"))["name"], "evil"), "utf-8")
    finished = generated("registry", "build", "docs", "--html", "site", cwd=tmp_path)
    assert "registry-entry-invalid: docs/evil" in finished.stderr
    page = (tmp_path / "site/index.html").read_text("utf-8")
    assert re.findall(r"<script[^>]*>", page) == ['<script src="site.js">', '<script src="services.js" defer>']
    for line in (tmp_path / "site/services.js").read_text("utf-8").splitlines():
        assert json.loads(line.removeprefix("found.add(").join("[]").replace(");]", "]"))
        assert "use_evil" not in line
        assert "use_good" in line or '"../docs/evil/html/"' in line
    generated("registry", "build", "docs", "--html", "site", cwd=tmp_path)


def test_half_a_surrogate_pair_is_a_question_mark(tmp_path: Path) -> None:
    """No page can hold it; nor can the name of a folder be one that is not UTF-8."""
    half, folder = "a\ud800b", tmp_path / os.fsdecode(b"all/\xff")
    for name in ("html", "well-known"):
        (folder / name).mkdir(parents=True)
    (folder / "html/search.js").touch()
    files = {
        "registry.json": {"name": half, "description": half, "categories": [half], half: 1},
        "server.json": {"remotes": [{"url": half}]},
        "well-known/mcpx.json": {"auth": [half], "manifest_url": half},
        ".skillgen.json": {"tools": {half: {}, "pair \U0001f600": {}}},
    }
    for path, data in files.items():
        (folder / path).write_text(json.dumps(data), "utf-8")
    generated("registry", "build", "all", "--html", "site", cwd=tmp_path)
    page = (tmp_path / "site/index.html").read_text("utf-8")
    assert '<a href="../all/%FF/html/index.html">a?b</a>' in page
