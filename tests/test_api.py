"""The public Python API: every example of docs/api.md, and what it says of results and errors."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli import ROOT, files_of, run_python, run_skillgen

import skillgen

BOOKS: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Books", "version": "1.0.0", "description": "Sells books."},
    "servers": [{"url": "https://books.example.com"}],
    "paths": {
        "/books": {
            "get": {
                "operationId": "list_books",
                "summary": "List the books",
                "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}}],
                "responses": {"200": {"description": "The books"}},
            }
        }
    },
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a description, a server and a project file; the current one."""
    (tmp_path / "openapi.json").write_text(json.dumps(BOOKS), "utf-8")
    (tmp_path / "openapi.yaml").write_text(yaml.safe_dump(BOOKS), "utf-8")
    shutil.copytree(ROOT / "examples/acme-mcp", tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "skillgen.yaml").write_text("targets: {books: {source: {openapi: openapi.yaml}}}\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def service(project: Path) -> skillgen.Service:
    return skillgen.read("openapi.yaml")


def test_every_example_of_the_documentation_runs(project: Path) -> None:
    text = (ROOT / "docs/api.md").read_text("utf-8")
    examples = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(examples) >= 7
    names: dict[str, Any] = {}
    for example in examples:
        exec(example, names)


def test_every_public_name_is_there_and_documented() -> None:
    text = (ROOT / "docs/api.md").read_text("utf-8")
    for name in skillgen.__all__:
        assert getattr(skillgen, name).__doc__, name
    for name in ("read", "generate", "check", "build", "render_documents"):
        assert f"`{name}`" in text
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        skillgen.missing  # noqa: B018


def test_the_import_loads_nothing_else() -> None:
    finished = run_python("-c", "import sys, skillgen; print([name for name in sys.modules if 'skillgen.' in name])")
    assert finished.stdout == "[]\n"


def test_the_documents_are_those_of_the_command_line(service: skillgen.Service, project: Path) -> None:
    result = skillgen.generate(service, out=project / "api")
    assert run_skillgen("from-openapi", "openapi.yaml", "-o", "cli", cwd=project).exit_code == 0
    assert files_of(project / "api") == files_of(project / "cli")
    assert {path.relative_to(project / "api").as_posix() for path in result.changed} == set(
        skillgen.render_documents(service)
    )
    assert result.counts == {
        "services": 1,
        "tools": 1,
        "parameters": 1,
        "resources": 0,
        "prompts": 0,
        "files": len(result.files),
    }


def test_a_check_writes_nothing(service: skillgen.Service, project: Path) -> None:
    result = skillgen.check(service, out="docs")
    assert result.drift
    assert "llms.txt" in result.diff
    assert {file.action for file in result.files} == {"create"}
    assert not (project / "docs").exists()
    assert skillgen.generate(service, out="docs").diff == ""
    assert not skillgen.check(service, out="docs").drift


def test_edits_are_kept_and_reported(service: skillgen.Service, project: Path) -> None:
    skillgen.generate(service, out="docs")
    skill = project / "docs/skills/books/SKILL.md"
    skill.write_text(skill.read_text("utf-8").replace("Sells books", "Sells the best books"), "utf-8")
    changed = skillgen.read("openapi.yaml", description="Sells rare books.")
    with pytest.raises(skillgen.EditedError) as caught:
        skillgen.generate(changed, out="docs")
    assert "+Sells the best books" in caught.value.diff.replace("description: ", "")
    assert skillgen.generate(changed, out="docs", force=True).drift


def test_a_snapshot_and_a_parsed_description_are_read_alike(service: skillgen.Service, project: Path) -> None:
    (project / "snapshot.json").write_text(run_skillgen("inspect", "openapi.yaml", cwd=project).stdout, "utf-8")
    assert skillgen.render_documents(skillgen.read("snapshot.json")) == skillgen.render_documents(service)
    assert skillgen.render_documents(skillgen.read(BOOKS)) == skillgen.render_documents(service)


def test_a_server_is_read(project: Path) -> None:
    (project / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"acme": {"command": "python", "args": ["server.py"]}}}), "utf-8"
    )
    messages: list[str] = []
    server = skillgen.read(config=".mcp.json", notify=messages.append)
    assert server.server_name == "acme"
    assert messages == ["crawling 1 servers"]
    assert [tool.name for tool in skillgen.read(command=["python", "server.py"]).tools] == [
        tool.name for tool in server.tools
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: skillgen.read(), "no source is given"),
        (lambda: skillgen.read("a.json", url="https://example.com"), "several sources are given: source, url"),
        (lambda: skillgen.read(BOOKS, include=["nothing"]), "matches no tool"),
        (lambda: skillgen.render_documents(skillgen.read(BOOKS), emit="html"), "no such format: html"),
        (lambda: skillgen.build("other.yaml"), "no such file"),
    ],
)
def test_a_wrong_call_is_a_usage_error(call: Any, message: str, project: Path) -> None:
    with pytest.raises(skillgen.UsageError, match=message) as caught:
        call()
    assert caught.value.fix


def test_a_mapping_that_is_no_json_is_refused() -> None:
    with pytest.raises(skillgen.SourceError, match="is not JSON"):
        skillgen.read({"openapi": object()})


def test_a_failed_target_is_a_value(project: Path) -> None:
    (project / "skillgen.yaml").write_text(
        "targets: {gone: {source: {openapi: gone.yaml}}, books: {source: {openapi: openapi.yaml}}}\n", "utf-8"
    )
    result = skillgen.build()
    assert [type(error) for error in result.errors] == [skillgen.SourceError]
    assert result.exit_code == skillgen.ExitCode.SOURCE
    assert result.counts["services"] == 1
    assert (project / "agent-docs/books/llms.txt").is_file()
    assert not skillgen.build(target="books").drift
