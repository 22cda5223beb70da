"""`skillgen diff`, and the hooks and the action that check a project (issue 6)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli import ROOT, environment, generated, run_skillgen
from descriptions import description, operation, write


def parameter(name: str, **members: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": {"type": "string"}, **members}


OLD = description(
    {
        "/a": {"get": operation("list_a", parameters=[parameter("q"), parameter("kind", schema={"enum": ["x", "y"]})])},
        "/b": {"get": operation("get_b")},
        "/c": {"get": operation("get_c")},
    }
)
NEW = description(
    {
        "/a": {
            "get": operation(
                "list_a",
                parameters=[parameter("q", required=True), parameter("kind", schema={"enum": ["x"]}), parameter("n")],
            )
        },
        "/b": {"get": operation("read_b")},
        "/d": {"delete": operation("delete_d")},
    }
)
LINES = [
    "- breaking: `get_c: removed`",
    "- breaking: `get_b: removed`",
    "- breaking: `list_a: parameter q is now required`",
    "- breaking: `list_a: parameter kind takes y no longer`",
    "- `list_a: parameter n added`",
    "- `read_b: added`",
    "- `delete_d: added`",
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path / "old.json", OLD)
    write(tmp_path / "new.json", NEW)
    return tmp_path


def test_what_changed_is_stated_in_words_and_what_breaks_comes_first(project: Path) -> None:
    finished = generated("diff", "old.json", "new.json", cwd=project)
    for line in LINES:
        assert line in finished.stdout
    assert [line.startswith("- breaking") for line in finished.stdout.splitlines()].index(False) >= 4
    data = json.loads(run_skillgen("diff", "old.json", "new.json", "--json", cwd=project).stdout)
    assert data["breaking"] is True
    assert {"tool": "get_c", "kind": "removed", "text": "removed", "breaking": True} in data["changes"]
    same = run_skillgen("diff", "old.json", "old.json", cwd=project)
    assert (same.stdout, "nothing changed" in same.stderr) == ("", True)


def test_a_tool_that_becomes_destructive_breaks(project: Path) -> None:
    def snapshot(name: str, destructive: bool) -> None:
        tool = {"name": "use", "pointer": "/0", "semantics": {"destructive": destructive}}
        service = {"kind": "mcp", "name": "s", "tools": [tool]}
        write(project / name, {"snapshot": 1, "services": [service]})

    snapshot("one.json", False)
    snapshot("two.json", True)
    assert run_skillgen("diff", "one.json", "two.json", cwd=project).stdout == "- breaking: `use: is now destructive`\n"
    write(project / "three.json", description({"/a": {"get": operation("list_a", deprecated=True)}}))
    write(project / "two.json", description({"/a": {"get": operation("list_a")}}))
    assert run_skillgen("diff", "two.json", "three.json", cwd=project).stdout == "- `list_a: is now deprecated`\n"


def git(project: Path, *words: str) -> None:
    fixed = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *fixed, *words], cwd=project, check=True, capture_output=True)


def test_an_old_revision_of_git_is_a_source(project: Path) -> None:
    git(project, "init", "-q")
    git(project, "add", "old.json")
    git(project, "commit", "-qm", "one")
    write(project / "old.json", NEW)
    finished = run_skillgen("diff", "HEAD:old.json", "old.json", cwd=project)
    assert LINES[0] in finished.stdout
    for source, message in (
        ("HEAD:none.json", "git has no such file at that revision"),
        ("HEAD~9:old.json", "git has no such revision"),
        ("HEAD", "name a file: HEAD:"),
    ):
        run_skillgen("diff", source, "old.json", cwd=project).ended(3, message)


REMOTES = ("ext::touch {}", "ssh://host/path", "/")


@pytest.mark.parametrize("remote", REMOTES)
def test_git_runs_no_program_that_a_repository_names(project: Path, tmp_path: Path, remote: str) -> None:
    ran = tmp_path / "ran"
    git(project, "init", "-q")
    git(project, "add", "old.json")
    git(project, "commit", "-qm", "one")
    write(project / ".gitattributes", "* filter=x diff=x\n")
    program = f"touch {ran}; false"
    programs = ("core.fsmonitor", "core.sshCommand", "core.pager", "remote.origin.uploadpack", "diff.x.textconv")
    for key in (*programs, "diff.external", "filter.x.smudge", "filter.x.clean", "core.editor", "credential.helper"):
        git(project, "config", key, program)
    settings = {"extensions.partialClone": "origin", "remote.origin.promisor": "true", "protocol.allow": "always"}
    for key, value in {**settings, "protocol.ext.allow": "always", "remote.origin.url": remote.format(ran)}.items():
        git(project, "config", key, value)
    for revision in ("HEAD", "", ":0", "deadbeef" * 5, f"{'deadbeef' * 5}^{{tree}}"):
        run_skillgen("diff", f"{revision}:old.json", "old.json", cwd=project)
        assert not ran.exists(), revision
    run_skillgen("diff", ":old.json", "old.json", cwd=project).ended(3, "not a git revision")


@pytest.mark.parametrize("folder", ["", "api", "api/paths"])
def test_an_old_revision_has_the_files_that_it_refers_to(project: Path, folder: str) -> None:
    (project / "api" / "paths").mkdir(parents=True)
    paths = description()["paths"]
    write(project / "api" / "api.json", description({key: {"$ref": "paths/path.json"} for key in paths}))
    write(project / "api" / "paths" / "path.json", next(iter(paths.values())))
    git(project, "init", "-q")
    git(project, "add", "--all")
    git(project, "commit", "-qm", "one")
    file = {"": "api/api.json", "api": "api.json", "api/paths": "../api.json"}[folder]
    finished = run_skillgen("diff", f"HEAD:{file}", file, cwd=project / folder)
    assert finished.stderr == "nothing changed for callers\n"
    path = project / "api" / "paths" / "path.json"
    path.write_text(path.read_text("utf-8").replace('"get"', '"put"'), "utf-8")
    assert "is PUT /tasks" in run_skillgen("diff", f"HEAD:{file}", file, cwd=project / folder).stdout


def test_check_says_what_changed_above_the_diff(project: Path) -> None:
    assert run_skillgen("from-openapi", "old.json", cwd=project).exit_code == 0
    (project / "new.json").replace(project / "old.json")
    finished = run_skillgen("from-openapi", "old.json", "--check", cwd=project).ended(1)
    assert finished.stdout.startswith("# breaking: `get_b: removed`\n# breaking: `get_c: removed`\n")
    assert finished.stdout.index("# `delete_d: added`\n") < finished.stdout.index("\n--- a/")


def test_the_hooks_run_commands_that_there_are() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert [hook["id"] for hook in hooks] == ["skillgen-build", "skillgen-check", "skillgen-lint"]
    for hook in hooks:
        command = hook["entry"].split()
        assert command[0] == "skillgen"
        assert run_skillgen(*command[1:], "--help").exit_code == 0


@pytest.mark.slow
def test_the_action_shows_the_diff_and_exits_as_the_check_does(project: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    script = action["runs"]["steps"][1]["run"]
    (project / "skillgen" / "bin").mkdir(parents=True)
    (project / "skillgen" / "bin" / "skillgen").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m skillgen "$@"\n')
    (project / "skillgen" / "bin" / "skillgen").chmod(0o755)
    (project / "skillgen.yaml").write_text("targets: {api: {source: {openapi: old.json}}}\n")
    summary = project / "summary.md"
    summary.touch()
    env = environment(
        {"RUNNER_TEMP": str(project), "GITHUB_STEP_SUMMARY": str(summary), "SKILLGEN_CONFIG": "skillgen.yaml"}
    )
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    assert subprocess.run(command, cwd=project, env=env, capture_output=True, check=False).returncode == 1
    assert "    +++ b/agent-docs/llms.txt\n" in summary.read_text("utf-8")
    assert run_skillgen("build", cwd=project).exit_code == 0
    summary.write_text("")
    assert subprocess.run(command, cwd=project, env=env, capture_output=True, check=False).returncode == 0
    assert summary.read_text("utf-8") == ""
    (project / "skillgen.yaml").write_text("targets: {api: {source: {openapi: none.json}}}\n")
    finished = subprocess.run(command, cwd=project, env=env, capture_output=True, check=False)
    assert (finished.returncode, b"none.json: no such file" in finished.stderr) == (3, True)
    assert "could not be checked (exit 3)\n\n    api: not built\n    skillgen: error: none.json" in summary.read_text()


def typed(**types: Any) -> dict[str, Any]:
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}}
    found = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Page"}}}, "description": "ok"}
    order = {"type": "object", "properties": {"to": {"$ref": "#/components/schemas/Address"}}}
    page = {
        "type": "object",
        "properties": {"items": {"items": {"$ref": "#/components/schemas/Line"}, "type": "array"}},
    }
    paths = {
        "/a": {"post": operation("order", requestBody=body), "get": operation("list_lines", responses={"200": found})}
    }
    return description(paths, components={"schemas": {"Order": order, "Page": page, **types}})


def test_a_change_inside_a_named_type_names_the_tools_that_use_it(tmp_path: Path) -> None:
    def thing(required: list[str], **properties: Any) -> dict[str, Any]:
        return {"type": "object", "required": required, "properties": properties}

    text, number = {"type": "string"}, {"type": "integer"}
    old = typed(Address=thing([], street=text, kind={"enum": ["a", "b"]}), Line=thing(["id"], id=text, old=text))
    new = typed(
        Address=thing(["zip"], street=text, zip=text, kind={"enum": ["a"]}),
        Line=thing([], id=text, old=number, more=text),
    )
    write(tmp_path / "old.json", old)
    write(tmp_path / "new.json", new)
    assert run_skillgen("diff", "old.json", "new.json", cwd=tmp_path).stdout.splitlines() == [
        "- breaking: `type Address: property zip added (required); sent by order`",
        "- breaking: `type Address: property kind takes b no longer; sent by order`",
        "- breaking: `type Line: property id is now optional; returned by list_lines`",
        "- breaking: `type Line: property old was string, and is integer; returned by list_lines`",
        "- `type Line: property more added; returned by list_lines`",
    ]
    assert run_skillgen("from-openapi", "old.json", cwd=tmp_path).exit_code == 0
    (tmp_path / "new.json").replace(tmp_path / "old.json")
    check = run_skillgen("from-openapi", "old.json", "--check", cwd=tmp_path)
    assert "# breaking: `type Address: property zip added (required); sent by order`\n" in check.stdout
