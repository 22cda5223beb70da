"""Registries of many services: what is merged."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from cli import ROOT, files_of, generated, run_skillgen
from descriptions import write
from jsonschema import Draft7Validator
from test_publish import ACME, SERVER_SCHEMA, read_json
from test_well_known import validator

import skillgen

SOURCES = ROOT / "tests" / "golden" / "sources"
FORMATS = ["registry", "server-json", "tool-descriptions", "well-known", "service-manifest"]


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


def test_a_check_of_a_registry_writes_nothing_and_shows_each_change(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "all", tmp_path / "all")
    snapshot = SOURCES / "memory.json"
    generated("from-server", "--snapshot", snapshot, "-o", "all/memory", "--emit", "html,registry", cwd=tmp_path)
    words = ("registry", "build", "all", "-o", "index/r.json")

    def check() -> str:
        before = files_of(tmp_path)
        finished = run_skillgen(*words, "--check", cwd=tmp_path)
        assert (finished.exit_code, files_of(tmp_path)) == (int(bool(finished.stdout)), before)
        return finished.stdout

    assert "+++ b/index/r.json\n" in check()
    generated(*words, cwd=tmp_path)
    assert check() == ""
    for path in ("index/r.json", "index/r.servers.json"):
        content = (tmp_path / path).read_bytes()
        (tmp_path / path).write_bytes(content + b" ")
        assert f"--- a/{path}\n+++ b/{path}\n" in check()
        (tmp_path / path).write_bytes(content)
    (tmp_path / "index/r.servers.json").unlink()
    assert "+++ b/index/r.servers.json\n" in check()
    generated(*words, cwd=tmp_path)
    shutil.rmtree(tmp_path / "all" / "memory")
    changed = {"index/r.json"}
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
    shutil.copytree(folder / "tasks", tmp_path / "all" / "tasks")
    (tmp_path / "all" / "tasks" / "registry.json").write_bytes(b"{")
    cases = {
        ("build", tmp_path / "all"): (3, "tasks: registry.json is not a JSON object with a name, as an entry is"),
        ("build", tmp_path / "empty"): (3, "has no entry of a registry"),
        ("build", tmp_path / "empty", "-o", tmp_path): (2, "is a folder"),
        ("build", folder / "tasks", "-o", folder / "tasks" / "registry.json"): (2, "is not a registry of many"),
        ("build", folder / "tasks", "-o", tmp_path / "bad.json"): (2, "is not a registry of many"),
    }
    for words, (code, message) in cases.items():
        run_skillgen("registry", *words, cwd=tmp_path).ended(code, message)


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


def test_half_a_surrogate_pair_is_a_question_mark(tmp_path: Path) -> None:
    """No file in UTF-8 can hold it; the name of a folder may be one that is not UTF-8."""
    half, folder = "a\ud800b", tmp_path / os.fsdecode(b"all/\xff")
    (folder / "well-known").mkdir(parents=True)
    files = {
        "registry.json": {"name": half, "description": half, "categories": [half], half: 1},
        "server.json": {"remotes": [{"url": half}]},
        "well-known/mcpx.json": {"auth": [half], "manifest_url": half},
        ".skillgen.json": {"tools": {half: {}, "pair \U0001f600": {}}},
    }
    for path, data in files.items():
        (folder / path).write_text(json.dumps(data), "utf-8")
    generated("registry", "build", "all", cwd=tmp_path)
    assert read_json(tmp_path / "registry.json")["servers"][0]["name"] == "a?b"


def test_names_that_look_alike_are_one_and_each_form_has_its_own(tmp_path: Path) -> None:
    """Nobody takes the place of a service by white space, an invisible character, or in one form alone."""
    names = {"good": "Good Shop", "other": "Other", "third": "GoodShop", "twin": "good\u200b\u00a0\r\n\0shop "}
    for name, entry in names.items():
        (tmp_path / "all" / name).mkdir(parents=True)
        write(tmp_path / f"all/{name}/registry.json", {"name": entry})
    write(tmp_path / "all/good/server.json", {"name": "io.example/good"})
    write(tmp_path / "all/other/server.json", {"name": "io.example/good", "packages": []})
    finished = generated("registry", "build", "all", "-v", "-o", "registry.json", cwd=tmp_path)
    assert "'io.example/good' is also in all/good" in finished.stderr
    assert "all/twin/registry.json: 'good" in finished.stderr
    found = [entry["name"] for entry in read_json(tmp_path / "registry.json")["servers"]]
    assert found == ["Good Shop", "GoodShop", "Other"]
    assert [item["server"] for item in read_json(tmp_path / "registry.servers.json")["servers"]] == [
        {"name": "io.example/good"}
    ]


@pytest.mark.parametrize("number", ["NaN", "1e999", "-Infinity"])
def test_numbers_that_are_not_json_end_no_merge(tmp_path: Path, number: str) -> None:
    (tmp_path / "all/a").mkdir(parents=True)
    (tmp_path / "all/a/registry.json").write_text(f'{{"name": "A", "n": {number}}}', "utf-8")
    generated("registry", "build", "all", "-o", "registry.json", cwd=tmp_path)
    assert read_json(tmp_path / "registry.json")["servers"][0]["n"] == number
