"""`skillgen build`: every target of a project's file, and what that file may say (issue 6)."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli import (
    ROOT,
    Finished,
    environment,
    files_of,
    generated,
    read_terminal,
    run_python,
    run_skillgen,
    stamps_of,
    until,
)
from descriptions import TWO_GROUPS, grouped, write
from jsonschema import Draft202012Validator
from rows import inputs
from typer.main import get_command

import skillgen
from skillgen.cli.app import app

pytestmark = pytest.mark.slow

TESTS = ROOT / "tests"
SERVER = ROOT / "examples" / "acme-mcp" / "server.py"
WORDS = """\
targets:
  tasks:
    source: {openapi: api.json}
    out: docs
    emit: [skill, llms]
    name: planner
    description: Plans work. Use when the user plans work.
    when-to-use: [plan the week, no]
    not-for: [Bug reports]
    notes: |
      Weeks begin on Monday.
    best-practices: [Search before you create]
    groups:
      tasks: {title: Things to do, intro: One task is one thing to do.}
    links: {cli: https://planner.example/cli, web: null}
    install: {npm: "@planner/cli"}
    license: MIT
    base-url: https://planner.example/v2
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path / "api.json", TWO_GROUPS)
    return tmp_path


def build(project: Path, text: str | None = None, *options: str, env: dict[str, str] | None = None) -> Finished:
    if text is not None:
        (project / "skillgen.yaml").write_text(text, encoding="utf-8")
    return run_skillgen("build", *options, cwd=project, env=env)


NINE = ("x, " * 9)[:-2]
ALIASES = f"a: &a [{NINE}]\n" + "".join(
    f"{b}: &{b} [{NINE.replace('x', '*' + a)}]\n" for a, b in pairwise("abcdefghijk")
)
MERGES = "k0: &k0 {x: 1}\n" + "".join(f"k{n}: &k{n} {{<<: [*k{n - 1}, *k0]}}\n" for n in range(1, 3_000))
YAML_BOMBS = {
    "aliases": ALIASES,
    "aliases below a key": f"{ALIASES}lint: {{ignore: *k}}\n",
    "merge keys": MERGES,
    "a cycle": "targets: &a {b: *a}\n",
    "levels": f"targets: {'[' * 300}{']' * 300}\n",
    "many levels": f"targets: {'[' * 100_000}\n",
    "many lists": "targets:\n" + "- - - - - - - - - - - - -\n" * 20_000,
}
TOML_BOMBS = {
    "levels": f"a = {'[' * 50_000}{']' * 50_000}\n",
    "tables": f"a = {'{a = ' * 3_000}1{'}' * 3_000}\n",
    "a key": f"{'a.' * 50_000}b = 1\n",
    "a header": f"[{'a.' * 50_000}b]\n",
    "keys in keys": f"a = {{{'b.' * 50_000}c = 1}}\n",
}


@pytest.mark.parametrize("text", YAML_BOMBS.values(), ids=YAML_BOMBS)
@pytest.mark.parametrize("command", [["build"], ["lint", "api.json"]], ids=" ".join)
def test_a_project_file_is_bounded(text: str, command: list[str], project: Path) -> None:
    """A cloned project is a stranger's."""
    (project / "skillgen.yaml").write_text(text, "utf-8")
    run_skillgen(*command, cwd=project).ended(2, "skillgen.yaml")
    assert run_skillgen("init", cwd=project).exit_code == 0


@pytest.mark.parametrize("text", TOML_BOMBS.values(), ids=TOML_BOMBS)
def test_what_init_reads_of_pyproject_is_bounded(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[project]\n{text}", "utf-8")
    assert run_skillgen("init", cwd=tmp_path).exit_code == 0


def test_two_dollars_write_what_is_no_variable(project: Path) -> None:
    (project / "${HOME}.json").write_bytes((project / "api.json").read_bytes())
    assert build(project, "targets: {api: {source: {openapi: '$${HOME}.json'}}}").exit_code == 0


# -- targets ---------------------------------------------------------------------------------------------------------


def test_every_target_is_made_where_its_file_says(project: Path) -> None:
    command = json.dumps([sys.executable, str(ROOT / "examples" / "acme-mcp" / "server.py")])
    printed = json.dumps([sys.executable, "-c", "print(open('api.json').read())"])
    snapshot = run_skillgen("inspect", "api.json", cwd=project).stdout
    (project / "tasks.json").write_text(snapshot, encoding="utf-8")
    (project / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"acme": {"command": sys.executable, "args": json.loads(command)[1:]}}})
    )
    build(
        project,
        f"targets:\n  server: {{source: {{command: {command}}}, emit: [registry]}}\n"
        f"  printed: {{source: {{openapi-command: {printed}}}, emit: [registry]}}\n"
        "  described: {source: {openapi: api.json}, emit: [registry], out: docs/api}\n"
        "  captured: {source: {snapshot: tasks.json}, emit: [registry]}\n"
        "  client: {source: {config: .mcp.json, server: acme}, emit: [registry]}\n",
    ).ok()
    names = {
        path.relative_to(project).as_posix(): json.loads(path.read_text("utf-8"))["name"]
        for path in project.rglob("registry.json")
    }
    assert names == {
        "agent-docs/server/registry.json": "acme-mcp",
        "agent-docs/printed/registry.json": "tasks",
        "docs/api/registry.json": "tasks",
        "agent-docs/captured/registry.json": "tasks",
        "agent-docs/client/registry.json": "acme-mcp",
    }
    assert build(project, None, "--check").exit_code == 0


def test_the_authors_words_win_over_what_the_source_says(project: Path) -> None:
    build(project, WORDS).ok()
    files = {path: content.decode() for path, content in files_of(project / "docs").items()}
    skill = files["skills/planner/SKILL.md"]
    front = yaml.safe_load(skill.split("---\n")[1])
    assert front["description"] == "Plans work. Use when the user plans work."
    assert front["license"] == "MIT"
    assert "## When to Use\n\n- plan the week\n- no\n" in skill
    assert "Do NOT use it in these cases:\n\n- Bug reports\n" in skill
    assert "- Install with npm: `@planner/cli`\n" in skill
    assert "- Command line: `https://planner.example/cli`\n- Web interface: none\n" in skill
    assert "`https://planner.example/v2`" in skill
    assert "Things to do" in skill
    assert "One task is one thing to do." in "".join(files.values())
    about = files["skills/planner/references/about.md"]
    assert "## Notes\n\nWeeks begin on Monday.\n" in about
    assert "## Best Practices\n\n- Search before you create\n" in about
    assert "registry.json" not in files


def test_a_target_has_a_profile_and_is_put_where_a_host_looks(project: Path) -> None:
    text = "targets: {api: {source: {openapi: api.json}, emit: [skill], profile: claude, install-to: claude}}\n"
    assert build(project, text).exit_code == 0
    installed = project / ".claude" / "skills" / "tasks" / "SKILL.md"
    assert installed.read_bytes() == (project / "agent-docs" / "skills" / "tasks" / "SKILL.md").read_bytes()
    assert "nothing changed" in build(project).stderr
    installed.unlink()
    assert build(project, None, "--check").exit_code == 1
    for key, value in (("profile", "none"), ("install-to", "nowhere")):
        build(project, f"targets: {{api: {{source: {{openapi: api.json}}, {key}: {value}}}}}\n").ended(
            2, f"skillgen.yaml:1: targets.api.{key}", ": no such"
        )


def test_options_win_over_the_file_for_every_target(project: Path) -> None:
    text = (
        "targets:\n  one: {source: {openapi: api.json}, out: docs, emit: [llms], profile: claude, templates: none}\n"
        "  two: {source: {openapi: api.json}, install-to: agents, name: two}\n"
    )
    (project / "own").mkdir()
    (project / "own" / "llms.txt.j2").write_text("# Own\n", encoding="utf-8")
    words = ("--out", "made", "--emit", "skill,llms", "--templates", "own", "--profile", "portable", "--timeout", "9")
    build(project, text, *words, "--install", "claude").ok()
    for name, skill in (("one", "tasks"), ("two", "two")):
        assert (project / "made" / name / "llms.txt").read_text("utf-8") == "# Own\n"
        assert (project / "made" / name / "skills" / skill / "SKILL.md").is_file()
        assert (project / ".claude" / "skills" / skill / "SKILL.md").is_file()
        assert not (project / "made" / name / "registry.json").exists()
    assert not (project / ".agents").exists()
    assert not (project / "docs").exists()
    assert "nothing changed" in build(project, None, *words, "--install", "claude").stderr
    one = build(project, "targets: {one: {source: {openapi: api.json}}}\n", "--out", "alone")
    assert (one.exit_code, (project / "alone" / "llms.txt").is_file()) == (0, True)
    assert "error: --emit: no such value: pdf" in build(project, None, "--emit", "pdf").stderr
    assert "error: --screen: no such value: loud" in build(project, None, "--screen", "loud").stderr


def test_a_target_chooses_what_it_documents_and_applies_overlays(project: Path) -> None:
    overlay = {"overlay": "1.0.0", "info": {"title": "o", "version": "1"}}
    action = {"target": "$.paths['/tasks/get_task'].get", "update": {"summary": "Gets it by overlay"}}
    write(project / "overlay.json", {**overlay, "actions": [action]})
    text = "targets: {api: {source: {openapi: api.json, overlays: [overlay.json]}, exclude: ['tag:users']}}\n"
    build(project, text).ok()
    whole = (project / "agent-docs" / "llms-full.txt").read_text("utf-8")
    assert "Gets it by overlay" in whole
    assert "list_users" not in whole


def test_one_target_can_be_made_alone(project: Path) -> None:
    text = "targets:\n  one: {source: {openapi: api.json}}\n  two: {source: {openapi: api.json}}\n"
    assert build(project, text, "--target", "two").exit_code == 0
    assert [path.name for path in (project / "agent-docs").iterdir()] == ["two"]
    build(project, None, "--target", "three").ended(2, "choose from one, two")


def test_a_target_that_fails_costs_no_other_and_the_highest_code_wins(project: Path) -> None:
    text = (
        "targets:\n  gone: {source: {openapi: none.json}}\n  good: {source: {openapi: api.json}}\n"
        "  edited: {source: {openapi: api.json}}\n"
    )
    assert build(project, text).exit_code == 3
    assert (project / "agent-docs" / "good" / "llms.txt").is_file()
    (project / "agent-docs" / "edited" / "llms.txt").write_text("# Mine\n", encoding="utf-8")
    build(project).ended(4, "none.json: no such file", "good: nothing changed")


def test_json_reports_every_target_in_one_object(project: Path) -> None:
    text = "targets:\n  one: {source: {openapi: api.json}}\n  two: {source: {openapi: none.json}}\n"
    for actions in ({"create"}, {"keep"}):
        finished = build(project, text, "--json")
        data = json.loads(finished.stdout)
        assert {item["action"] for item in data["files"]} == actions
        assert data["files"][0]["path"] == "agent-docs/one/ai-help.md"
        assert data["counts"]["tools"] == 4
        assert "service-failed" in {problem["code"] for problem in data["problems"]}
        assert finished.exit_code == 3


# -- nothing to do ---------------------------------------------------------------------------------------------------


def test_an_unchanged_target_reads_nothing_and_imports_nothing_slow(project: Path) -> None:
    text = "targets:\n" + "".join(f"  t{number}: {{source: {{openapi: api.json}}}}\n" for number in range(10))
    assert build(project, text).exit_code == 0
    before = stamps_of(project / "agent-docs")
    finished = run_python("-X", "importtime", "-m", "skillgen", "build", cwd=project).ok()
    assert finished.stderr.count(": nothing changed") == 10
    loaded = {line.rpartition("|")[2].strip() for line in finished.stderr.splitlines()}
    assert not {name.split(".")[0] for name in loaded} & {"mcp", "jinja2", "httpx2", "markdown_it"}
    assert stamps_of(project / "agent-docs") == before


def test_a_snapshot_is_up_to_date_if_all_its_services_are(project: Path) -> None:
    write(project / "other.json", grouped(teams=["list_teams", "get_team"]) | {"info": {"title": "B", "version": "1"}})
    (project / "all.json").write_text(run_skillgen("inspect", "api.json", "other.json", cwd=project).stdout, "utf-8")
    text = "targets: {all: {source: {snapshot: all.json}}}\n"
    assert build(project, text).exit_code == 0
    assert "nothing changed" in build(project).stderr
    (project / "agent-docs" / "b" / "llms.txt").unlink()
    assert build(project, None, "--check").exit_code == 1
    (project / "agent-docs" / "b" / ".skillgen.json").write_text("{")
    assert build(project).exit_code == 4


def test_snapshots_are_read_at_the_same_time_without_a_crash(project: Path) -> None:
    """Threads that take turns all the time meet in the first use of each class of the model."""
    (project / "all.json").write_text(run_skillgen("inspect", "api.json", cwd=project).stdout, "utf-8")
    targets = {f"t{number}": {"source": {"snapshot": "all.json"}, "out": f"o{number}"} for number in range(8)}
    (project / "skillgen.yaml").write_text(json.dumps({"targets": targets}), "utf-8")
    code = "import sys; sys.setswitchinterval(1e-6); from skillgen.__main__ import main; main()"
    for _ in range(3):
        assert run_python("-c", code, "build", "--check", cwd=project).exit_code == 1


@pytest.mark.parametrize("what", ["source", "words", "template", "document", "deleted", "note"])
def test_whatever_changes_is_noticed(project: Path, what: str) -> None:
    (project / "own").mkdir()
    text = WORDS + "    templates: own\n"
    assert build(project, text).exit_code == 0
    page = project / "docs" / "skills" / "planner" / "references" / "things-to-do.md"
    if what == "source":
        write(project / "api.json", grouped(tasks=["list_tasks", "make_task"]))
    elif what == "words":
        text = text.replace("Bug reports", "Bugs")
    elif what == "template":
        (project / "own" / "llms-full.txt.j2").write_text("# Short\n", encoding="utf-8")
    elif what == "document":
        page.write_text(page.read_text("utf-8").replace("list_tasks", "LIST"), encoding="utf-8")
    elif what == "deleted":
        page.unlink()
    else:
        page.write_text(page.read_text("utf-8").replace("## get_task\n", "## get_task\n\nMy note.\n"), encoding="utf-8")
    finished = build(project, text, "--check")
    assert finished.exit_code == (0 if what == "note" else 1), "a note is no drift"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such devices")
@pytest.mark.parametrize("reference", ["/dev/zero", "pipe.json", "../../../../../../../../dev/zero"])
def test_what_a_description_refers_to_is_read_only_where_it_is_a_file(project: Path, reference: str) -> None:
    """X-13: a pipe would be waited for, and a device has no end."""
    os.mkfifo(project / "pipe.json")
    data = json.loads((project / "api.json").read_text("utf-8"))
    write(project / "api.json", {**data, "components": {"schemas": {"A": {"$ref": reference}}}})
    for _ in range(2):
        assert build(project, WORDS).exit_code == 0


def test_content_counts_not_the_time_of_a_file(project: Path) -> None:
    """X-51: a checkout changes times only, and a tool may restore the time and size of what it changes."""
    api = project / "api.json"
    assert build(project, "targets: {api: {source: {openapi: api.json}}}\n").exit_code == 0
    before = api.stat()
    for path in (api, *(project / "agent-docs").rglob("*.md")):
        os.utime(path, (1, 1))
    assert "nothing changed" in build(project).stderr
    api.write_text(api.read_text("utf-8").replace("list_tasks", "wipe_tasks"), "utf-8")
    os.utime(api, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "nothing changed" not in build(project).stderr


REFERENCES: dict[str, dict[str, Any]] = {
    "reference": {"$ref": "part.json#/Part"},
    "discriminator": {
        "type": "object",
        "properties": {"kind": {"type": "string"}},
        "oneOf": [{"$ref": "#/components/schemas/Other"}],
        "discriminator": {"propertyName": "kind", "mapping": {"part": "part.json#/Part"}},
    },
    "encoded": {"$ref": "par%74.json#/Part"},
}


@pytest.mark.parametrize("kind", [*REFERENCES, "overlay", "snapshot", "link", "extra"])
def test_up_to_date_is_decided_by_the_files_that_were_read(project: Path, kind: str) -> None:
    """X-51, S0-20: however a file is reached, a change in it is noticed by `build` and by `--check`."""

    def part(name: str) -> None:
        schema = {"type": "object", "properties": {name: {"type": "string"}, "kind": {"type": "string"}}}
        write(project / "part.json", {"Part": schema})
        action = {"target": "$.info", "update": {"title": name}}
        overlay = {"overlay": "1.0.0", "info": {"title": "o", "version": "1"}, "actions": [action]}
        write(project / "overlay.json", overlay)
        write(project / "own.json", grouped(tasks=["list_tasks", f"get_{name}"]))
        (project / "all.json").write_text(run_skillgen("inspect", "own.json", cwd=project).stdout, "utf-8")
        (project / "llms.txt").write_text(f"# Tasks\n\n> Plans.\n\n## Hours\n\nOpen at {name}.\n", "utf-8")

    schema = REFERENCES.get(kind, {"type": "string"})
    data = grouped(tasks=["list_tasks", "get_task"])
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Body"}}}}
    next(iter(data["paths"].values()))["get"]["requestBody"] = body
    data["components"] = {"schemas": {"Body": schema, "Other": {"type": "object"}}}
    part("first_name")
    (project / "linked.json").symlink_to("own.json")
    source = {
        "overlay": "{openapi: api.json, overlays: [overlay.json]}",
        "snapshot": "{snapshot: all.json}",
        "link": "{openapi: linked.json}",
    }.get(kind, "{openapi: api.json}")
    write(project / "api.json", data)
    extra = ", extra: [llms.txt]" if kind == "extra" else ""
    assert build(project, f"targets: {{api: {{source: {source}{extra}}}}}\n").exit_code == 0
    assert "nothing changed" in build(project).stderr
    part("second_name")
    assert build(project, None, "--check").exit_code == 1
    assert "nothing changed" not in build(project).stderr
    assert any(b"second_name" in content for content in files_of(project / "agent-docs").values())


def test_a_forged_record_does_not_satisfy_a_check(project: Path) -> None:
    """`--check` compares the documents with what the source yields, whatever the record says of them."""
    text = "targets: {api: {source: {openapi: api.json}}}\n"
    source, name = project / "api.json", "skills/tasks/SKILL.md"
    skill, path = project / "agent-docs" / name, project / "agent-docs" / ".skillgen.json"
    honest = source.read_text("utf-8")
    write(source, json.loads(honest.replace("list_tasks", "wipe_tasks")))
    assert build(project, text).exit_code == 0
    forged, states = skill.read_bytes(), json.loads(path.read_text("utf-8"))["files"][name]
    source.write_text(honest, "utf-8")
    assert build(project, text).exit_code == 0
    skill.write_bytes(forged)
    record = json.loads(path.read_text("utf-8"))
    record["files"][name] = states
    path.write_text(json.dumps(record), "utf-8")
    finished = build(project, None, "--check", "--json").ended(1)
    assert {"path": "agent-docs/skills/tasks/SKILL.md", "action": "replace"} in json.loads(finished.stdout)["files"]
    assert build(project, None, "--fail-on-change").exit_code == 1
    assert b"wipe_tasks" not in skill.read_bytes()


@pytest.mark.parametrize("change", ["line ends", "comment"])
def test_what_changes_no_document_changes_no_record(project: Path, change: str) -> None:
    """X-51: neither the line ends of a checkout nor a comment in the source is in what is committed."""
    api = project / "api.yaml"
    api.write_text(yaml.safe_dump(grouped(tasks=["list_tasks", "get_task"])), "utf-8")
    assert build(project, "targets: {api: {source: {openapi: api.yaml}}}\n").exit_code == 0
    if change == "comment":
        api.write_text("# A comment\n" + api.read_text("utf-8"), "utf-8")
    else:
        for path in (api, *(path for path in (project / "agent-docs").rglob("*") if path.is_file())):
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    before = stamps_of(project)
    assert build(project, None, "--fail-on-change").exit_code == 0
    assert stamps_of(project) == before
    assert build(project, None, "--check").exit_code == 0


# -- time limits and signals -----------------------------------------------------------------------------------------


SLOW_OVERLAY = {
    "overlay": "1.0.0",
    "info": {"title": "o", "version": "1"},
    "actions": [{"target": "$[?search(@.description, '^(a|aa)+$')]", "remove": True}],
}


@pytest.mark.usefixtures("short_time_limits")
def test_a_slow_overlay_is_stopped_in_a_build_too(project: Path) -> None:
    """X-13: the expression would take hours, and hold the interpreter; the other targets are built."""
    data = grouped(tasks=["list_tasks", "get_task"])
    write(project / "api.json", {**data, "info": {**data["info"], "description": "a" * 60 + "!"}})
    write(project / "slow.json", SLOW_OVERLAY)
    (project / "skillgen.yaml").write_text(
        "targets:\n  slow: {source: {openapi: api.json, overlays: [slow.json]}}\n"
        "  plain: {source: {openapi: api.json}}\n"
    )
    result = skillgen.build(str(project / "skillgen.yaml"))
    assert result.exit_code == 0, result.errors
    assert any("takes more than 10 s" in problem.message for problem in result.problems)
    assert (project / "agent-docs" / "plain" / "llms.txt").is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such processes")
@pytest.mark.parametrize(
    ("ending", "code"), [("print(open('api.json').read())", 0), ("time.sleep(1000)", 3), ("raise SystemExit(1)", 3)]
)
def test_what_a_command_that_prints_a_description_started_ends_with_it(project: Path, ending: str, code: int) -> None:
    """X-13: also what keeps its output open or is in a session of its own, at its end and at a time-out."""
    (project / "printer.py").write_text(
        "import subprocess, sys, time\n"
        "sleep = [sys.executable, '-c', 'import time; time.sleep(1000)']\n"
        "children = [subprocess.Popen(sleep, start_new_session=is_alone) for is_alone in (False, True)]\n"
        f"open('children', 'w').write(' '.join(str(child.pid) for child in children))\n{ending}\n",
        "utf-8",
    )
    command = json.dumps([sys.executable, "printer.py"])
    build(project, f"targets: {{api: {{source: {{openapi-command: {command}, timeout: 5}}}}}}\n").ended(code)
    children = [int(word) for word in (project / "children").read_text("utf-8").split()]
    assert len(children) == 2
    until(lambda: not any(map(is_there, children)))


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_command_that_prints_without_end_is_stopped(project: Path) -> None:
    """X-13."""
    command = json.dumps([sys.executable, "-c", "while True: print('x' * 1_000_000)"])
    build(project, f"targets: {{api: {{source: {{openapi-command: {command}, timeout: 300}}}}}}\n").ended(
        3, "prints more than 256 MiB"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(
    ("source", "number", "code"),
    [
        *((source, signal.SIGTERM, 143) for source in ("command", "config", "url", "overlay", "openapi-command")),
        *((source, signal.SIGINT, 130) for source in ("command", "url", "overlay")),
    ],
)
def test_a_build_ends_on_a_signal(project: Path, source: str, number: signal.Signals, code: int) -> None:
    """X-13: whatever it waits for, and no server goes on."""
    program = "import os, time; open('started', 'w').write(str(os.getpid())); time.sleep(1000)"
    with socket.create_server(("127.0.0.1", 0)) as server:
        data = grouped(tasks=["list_tasks", "get_task"])
        write(project / "api.json", {**data, "info": {**data["info"], "description": "a" * 60 + "!"}})
        write(project / "slow.json", SLOW_OVERLAY)
        write(project / "client.json", {"mcpServers": {"one": {"command": sys.executable, "args": ["-c", program]}}})
        sources: dict[str, dict[str, Any]] = {
            "command": {"command": [sys.executable, "-c", program]},
            "config": {"config": "client.json"},
            "openapi-command": {"openapi-command": [sys.executable, "-c", program]},
            "url": {"openapi": f"http://127.0.0.1:{server.getsockname()[1]}/api.json"},
            "overlay": {"openapi": "api.json", "overlays": ["slow.json"]},
        }
        targets = {
            "first": {"source": {"openapi": "api.json"}},
            "second": {"source": {**sources[source], "timeout": 500}},
        }
        write(project / "skillgen.yaml", {"targets": targets})
        # Tests that run in the background ignore this signal, and so would every program that they start.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        running = subprocess.Popen(
            [sys.executable, "-m", "skillgen", "build"], cwd=project, env=environment(), stderr=subprocess.PIPE
        )
        signal.signal(signal.SIGINT, before)
        connection = server.accept()[0] if source == "url" else None
        until((project / "agent-docs" / "first" / ".skillgen.json").exists)
        if source in ("command", "config", "openapi-command"):
            until(lambda: (project / "started").exists() and (project / "started").read_text("utf-8") != "")
        running.send_signal(number)
        errors = running.communicate(timeout=60)[1]
        if connection is not None:
            connection.close()
    assert running.returncode == code, errors
    assert b"Traceback" not in errors
    if source in ("command", "config", "openapi-command"):
        # A process that was killed has its entry until its new parent has asked for its exit code.
        pid = int((project / "started").read_text("utf-8"))
        until(lambda: not Path(f"/proc/{pid}").exists())


# -- options and keys ------------------------------------------------------------------------------------------------

OF_A_RUN = {"project", "target", "check", "fail_on_change", "accept_upgrade", "force", "user", "draft"}
OF_A_RUN |= {"json", "quiet", "verbose", "debug"}
"""Options that say what one run does with the targets, not what their documents are; `user` is a person's to give, and
`draft` is a command of its own for a project."""


@pytest.mark.parametrize("command", ["from-server", "from-openapi", "build"])
def test_every_option_that_shapes_documents_has_a_key(command: str) -> None:
    parameters = get_command(app).commands[command].params  # type: ignore[attr-defined]
    options = {item.name for item in parameters if item.param_type_name == "option"} - {"help", "ai_help"}
    keys = {key for name in ("Source", "Target") for key in SCHEMA["$defs"][name]["properties"]}
    assert {name for name in options if name.replace("_", "-") not in keys} <= OF_A_RUN
    assert len(options) > 10


def with_server(source: dict[str, Any], **target: Any) -> str:
    manner = source.pop("manner")
    source["command"] = [sys.executable, "-m", "servers.extended", manner]
    source["cwd"] = str(TESTS)
    return json.dumps({"targets": {"api": {"source": source, **target}}})


@pytest.mark.parametrize(
    ("key", "manner", "asked"),
    [
        ("no-tool-descriptions", "many", lambda log: "resources/read" not in log),
        ("call-get-manifest", "manifest-tool", lambda log: "tools/call" in log),
        ("skill-files", "skilled", lambda log: "resources/read" in log),
        ("no-legacy-handshake", "two-handshakes", lambda log: log.count('"started"') == 1),
    ],
)
def test_a_key_says_what_is_asked_of_a_server(
    project: Path, key: str, manner: str, asked: Callable[[str], bool]
) -> None:
    """S3-09 for the first."""
    outcomes = []
    for value in (False, True):
        log = project / f"{value}.log"
        text = with_server({"manner": manner, key: value, "env": {"KIOSK_LOG": str(log)}})
        build(project, text).ok()
        outcomes.append(asked(log.read_text("utf-8")))
    assert outcomes == [False, True]


def test_a_version_of_the_authors_wins_over_the_sources(project: Path) -> None:
    """A FastMCP server reports the version of its SDK."""
    text = "targets: {api: {source: {openapi: api.json}, version: 1.10}}\n"
    assert build(project, text).exit_code == 0
    (skill,) = (project / "agent-docs" / "skills").glob("*/SKILL.md")
    assert yaml.safe_load(skill.read_text("utf-8").split("---\n")[1])["metadata"]["version"] == "1.10"
    generated("from-openapi", "api.json", "-o", "other", "--service-version", "1.10", cwd=project)
    assert (project / "other" / "skills" / skill.parent.name / "SKILL.md").read_bytes() == skill.read_bytes()


def test_a_target_is_put_below_the_home_folder_only_by_hand(project: Path) -> None:
    """X-16: a repository that was cloned must not install for all projects of its reader."""
    text = "targets: {api: {source: {openapi: api.json}, install-to: agents}}\n"
    env = {"HOME": str(project / "home"), "USERPROFILE": str(project / "home")}
    build(project, text, "--user", env=env).ok()
    assert (project / "home" / ".agents" / "skills" / "tasks" / "SKILL.md").is_file()
    build(project, "targets: {api: {source: {openapi: api.json}, install-to: agents, user: true}}\n", env=env).ended(
        2, "targets.api.user: no such key"
    )


@pytest.mark.parametrize("words", [("build",), ("build", "--quiet")])
def test_a_target_that_needs_a_login_asks_nobody_without_a_terminal(project: Path, words: tuple[str, ...]) -> None:
    """X-12: a hook must not wait for a person."""
    (project / "skillgen.yaml").write_text("targets: {a: {source: {url: 'http://127.0.0.1:9/mcp', login: true}}}\n")
    run_skillgen(*words, cwd=project, env={"XDG_CONFIG_HOME": str(project / "config")}).ended(
        3, "log in once in a terminal: skillgen from-server --url http://127.0.0.1:9/mcp --login"
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{command: [x], headers: {A: b}}", "source.headers: has no effect with a server's command"),
        ("{config: .mcp.json, cwd: x}", "source.cwd: has no effect with `config`"),
        ("{openapi: api.json, skill-files: true}", "source.skill-files: has no effect with openapi"),
        ("{url: 'https://x.example/mcp', client-id: a}", "source.client-id: has no effect without `login`"),
        (
            "{url: 'https://x.example/mcp', login: true, client-id: a, client-secret: b}",
            "source.client-secret: holds a secret",
        ),
    ],
)
def test_a_key_that_does_nothing_is_refused(project: Path, source: str, message: str) -> None:
    build(project, f"targets:\n  a:\n    source: {source}\n").ended(2, "skillgen.yaml:3: ", message)


NEEDS_KEY = "import sys; sys.exit('the environment variable DEPOT_KEY is not set')"


@pytest.mark.parametrize(
    ("target", "fix"),
    [
        (f'{{source: {{command: [python, -c, "{NEEDS_KEY}"]}}}}', 'pass it: `env: {DEPOT_KEY: "${DEPOT_KEY}"}`'),
        ("{source: {config: .mcp.json}, name: x}", "add a target for each, with server: NAME"),
        ("{source: {config: off.json}}", "name one with `server: NAME`"),
        ("{source: {openapi: api.json}, name: depot}", "keep the name tasks with `name`)"),
        ("{source: {cli: 'depot:parser'}, templates: own}", "(name the command with `program`)"),
        ("{source: {openapi: api.json}, out: old.md/a/b}", "skillgen: error: old.md: is a file, but must be a folder"),
    ],
)
def test_a_message_names_what_its_reader_can_write(target: str, fix: str, project: Path) -> None:
    """In a project that is a key with its value, also where a target fails after its source was read."""
    build(project, "targets: {a: {source: {openapi: api.json}}}", "-q")
    (project / "depot.py").write_text("import argparse\nparser = argparse.ArgumentParser()\n", "utf-8")
    (project / "old.md").write_text("mine", "utf-8")
    for name, more in (".mcp.json", {}), ("off.json", {"disabled": True}):
        write(project / name, {"mcpServers": {key: {"command": "x", **more} for key in "ab"}})
    (project / "own").mkdir()
    (project / "own" / "llms.txt.j2").write_text("{{ missing }}", "utf-8")
    finished = build(project, f"targets: {{a: {target}}}")
    assert fix in finished.stderr, finished.stderr


# -- where a project's file may write, and what is gone ---------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize(
    ("keys", "link", "key"),
    [
        ("out: ELSEWHERE", None, "out"),
        ("out: ../elsewhere", None, "out"),
        ("out: docs", "docs", "out"),
        ("notes: x", "agent-docs", "out"),
        ("install-to: claude", ".claude", "install-to"),
        ("install-to: [agents, claude]", ".claude/skills", "install-to"),
        ("templates: ELSEWHERE", None, "templates"),
        ("templates: own", "own", "templates"),
    ],
)
def test_a_projects_file_names_no_folder_outside_the_project(
    project: Path, keys: str, link: str | None, key: str
) -> None:
    """X-16: a repository that was cloned writes and reads nothing outside itself, also through a symbolic link."""
    elsewhere = project.parent / f"{project.name}-elsewhere"
    elsewhere.mkdir()
    (elsewhere / "llms.txt.j2").write_text("# Private\n", "utf-8")
    before = files_of(elsewhere)
    if link is not None:
        (project / link).parent.mkdir(exist_ok=True)
        (project / link).symlink_to(elsewhere)
    keys = keys.replace("ELSEWHERE", str(elsewhere)).replace("../elsewhere", f"../{elsewhere.name}")
    for options in ((), ("--check",)):
        finished = build(project, f"targets:\n  api:\n    source: {{openapi: api.json}}\n    {keys}\n", *options).ended(
            2, f"skillgen.yaml#/targets/api/{key}: "
        )
        assert link is None or key != "out" or f": {link} is a symbolic link\n" in finished.stderr
    assert files_of(elsewhere) == before
    given = {"out": ("--out", elsewhere / "docs"), "templates": ("--templates", elsewhere)}.get(key)
    if given is not None:
        assert build(project, None, *map(str, given)).exit_code == 0, "what is given by hand counts"


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("link", ["own/llms.txt.j2", "own/parts"])
def test_a_template_that_is_a_link_leads_to_no_other_file(project: Path, link: str) -> None:
    """X-16."""
    private = project.parent / f"{project.name}-private"
    private.mkdir()
    (private / "key").write_text("PRIVATE KEY\n", "utf-8")
    (project / "own").mkdir()
    (project / "own" / "llms.txt.j2").write_text('{% include "parts/key" %}\n', "utf-8")
    (project / link).unlink(missing_ok=True)
    (project / link).symlink_to(private / "key" if link.endswith(".j2") else private)
    build(project, "targets: {api: {source: {openapi: api.json}, templates: own}}\n").ended(
        2, "is a symbolic link that points out of the folder"
    )
    assert not any(b"PRIVATE" in content for content in files_of(project / "agent-docs").values())


def test_what_is_gone_is_reported_until_somebody_deletes_it(project: Path) -> None:
    """Documents and installed skills of a target that is gone."""
    write(project / "users.json", {**grouped(users=["list_users"]), "info": {"title": "Readers", "version": "1"}})
    both = (
        "targets:\n  tasks: {source: {openapi: api.json}, install-to: [claude, agents]}\n"
        "  users: {source: {openapi: users.json}, install-to: [claude]}\n"
    )
    assert build(project, both).exit_code == 0
    skills = {path.parent.relative_to(project).as_posix() for path in project.rglob(".*/skills/*/SKILL.md")}
    assert skills == {".claude/skills/tasks", ".agents/skills/tasks", ".claude/skills/readers"}
    assert "left" not in build(project, None, "--check").stderr
    one = "\n".join(both.splitlines()[:2]) + "\n"
    for options in ((), ("--check",)):
        finished = build(project, one, *options, "--json").ok()
        found = {item["where"] for item in json.loads(finished.stdout)["problems"] if "left" in item["code"]}
        gone = {"agent-docs/users", ".claude/skills/readers"}
        assert found == gone
        assert (project / ".claude" / "skills" / "readers" / "SKILL.md").is_file()
    for path in gone:
        shutil.rmtree(project / path)
    assert "left" not in build(project, None).stderr
    assert (project / ".claude" / "skills" / "tasks" / "SKILL.md").is_file()
    assert (project / "agent-docs" / "llms.txt").is_file()


def test_documents_of_others_are_not_gone(project: Path) -> None:
    """What another command or another project's file wrote next to a target is not reported."""
    assert run_skillgen("from-openapi", "api.json", "-o", "agent-docs/by-hand", cwd=project).exit_code == 0
    (project / "other.yaml").write_text("targets: {b: {source: {openapi: api.json}, out: agent-docs/b}}\n", "utf-8")
    assert run_skillgen("build", "--project", "other.yaml", cwd=project).exit_code == 0
    before = files_of(project / "agent-docs")
    finished = build(project, "targets: {a: {source: {openapi: api.json}, out: agent-docs/a}}\n").ok()
    assert before.items() <= files_of(project / "agent-docs").items()
    assert "left" not in finished.stderr


def test_two_targets_do_not_install_one_skill_over_the_other(project: Path) -> None:
    """X-21."""
    write(project / "other.json", grouped(users=["list_users", "get_user"]))
    text = (
        "targets:\n  one: {source: {openapi: api.json}, install-to: claude}\n"
        "  two: {source: {openapi: other.json}, install-to: claude}\n"
    )
    build(project, text).ended(
        2, ".claude/skills/tasks: holds the documents of another service", "`name:`", "`replace: true`"
    )
    text = text.replace("other.json}", "other.json}, name: people")
    assert build(project, text).exit_code == 0
    assert build(project, None, "--check").exit_code == 0
    names = sorted(path.name for path in (project / ".claude" / "skills").iterdir())
    assert names == ["people", "tasks"]


# -- secrets ---------------------------------------------------------------------------------------------------------


def test_secrets_come_from_the_environment_and_reach_no_file(project: Path) -> None:
    secret = "s3cr3t-value-of-the-token"
    target = {"source": {"command": [sys.executable, str(SERVER)], "env": {"TOKEN": "${ACME}"}}}
    (project / "skillgen.yaml").write_text(json.dumps({"targets": {"api": target}}), encoding="utf-8")
    build(project).ended(2, "ACME is not set")
    build(project, env={"ACME": secret}).ok()
    assert not any(secret.encode() in content for content in files_of(project).values())


def test_a_secret_in_the_file_is_rejected_with_its_line_but_not_its_value(project: Path) -> None:
    finished = build(
        project,
        "targets:\n  api:\n    source:\n      url: https://api.example/mcp\n      headers:\n"
        "        Authorization: Bearer abc123\n",
    ).ended(2, "skillgen.yaml:6: targets.api.source.headers.Authorization: holds a secret", "${AUTHORIZATION}")
    assert "abc123" not in finished.stderr


# -- the file --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "where", "what"), inputs("build")["messages"])
def test_a_message_names_file_line_and_key(project: Path, text: str, where: str, what: str) -> None:
    finished = build(project, text).ended(2, where, what)
    assert finished.stderr.count("\n") <= 2


def test_without_a_file_the_message_names_init(tmp_path: Path) -> None:
    build(tmp_path).ended(2, "skillgen init")


def test_a_table_of_pyproject_is_refused_with_what_to_write(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.skillgen.targets.api]\nsource = {openapi = "api.json"}\n')
    build(project).ended(2, "write its keys to skillgen.yaml")


def test_paths_are_relative_to_the_file(project: Path) -> None:
    (project / "skillgen.yaml").write_text(WORDS, encoding="utf-8")
    (project / "elsewhere").mkdir()
    generated("build", "--project", "../skillgen.yaml", cwd=project / "elsewhere")
    assert (project / "docs" / "llms.txt").is_file()
    assert build(project, None, "--check").exit_code == 0


# -- the schema ------------------------------------------------------------------------------------------------------


SCHEMA: dict[str, Any] = json.loads((ROOT / "docs" / "skillgen.schema.json").read_text("utf-8"))


def test_the_published_schema_is_that_of_the_code() -> None:
    """`make golden` renews it."""
    finished = run_python("-m", "skillgen.config.schema")
    assert json.loads(finished.stdout) == SCHEMA
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    ("text", "is_good"),
    [
        (WORDS, True),
        ("targets: {a: {source: {command: npx server}}}", True),
        ("targets: {a: {source: {command: [npx, server], url: https://x.example}}}", False),
        ("targets: {a: {source: {openapi: x}, sauce: 1}}", False),
        ("targets: {a: {out: x}}", False),
        ("targets: {a: {source: {openapi: x}, when-to-use: x}}", False),
        ("targets: {a: {source: {openapi: api.json, allow-outside-refs: true}}}", True),
        ("targets: {a: {source: {command: [npx, server], headers: {X-A: b}}}}", False),
        ("targets: {a: {source: {snapshot: x, cwd: y}}}", False),
        ("targets: {a: {source: {openapi: api.json}, tools: {list_*: {effect: sends}}}}", True),
        ("targets: {a: {source: {openapi: api.json}, tools: {list_*: {effect: reads}}}}", False),
    ],
)
def test_the_schema_and_the_code_agree(project: Path, text: str, is_good: bool) -> None:
    data: Any = yaml.safe_load(text)
    if text == WORDS:
        data["targets"]["tasks"]["when-to-use"][1] = "no"  # false to a YAML 1.1 loader
    assert Draft202012Validator(SCHEMA).is_valid(data) is is_good
    assert (build(project, text, "--check").exit_code != 2) is is_good or "command" in text


def value_of(schema: Any) -> Any:
    """Returns a value that the schema of a key allows."""
    schema = schema.get("anyOf", [schema])[-1]
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    if kind == "object":
        members = schema.get("properties") or {"x": schema["additionalProperties"]}
        return {key: value_of(member) for key, member in members.items()}
    if kind == "array":
        return [value_of(schema["items"])]
    number = schema.get("minimum", 5)
    return {"boolean": True, "integer": number, "number": number}.get(kind, schema.get("enum", ["word"])[-1])


def test_each_key_of_the_schema_takes_what_the_schema_allows(project: Path) -> None:
    keys, sources = SCHEMA["$defs"]["Target"]["properties"], SCHEMA["$defs"]["Source"]["properties"]
    source = {"openapi": "api.json"}
    targets = {key: {"source": source, key: value_of(keys[key])} for key in keys.keys() - {"source"}}
    targets |= {f"source-{key}": {"source": source | {key: value_of(sources[key])}} for key in sources}
    data = {"targets": targets, "lint": value_of(SCHEMA["properties"]["lint"])}
    wrong = build(project, yaml.safe_dump(data)).stderr
    assert not re.search(r"must be|no such (?:key|value)|is empty", wrong), wrong
    text = "targets: {api: {source: {openapi: api.json}, budget: %s}}\n"
    for value in ("500", "3000", "'700'"):
        assert build(project, text % value).exit_code == 0
    assert build(project, text % "9").exit_code == build(project, text % "25.5").exit_code == 2


def test_a_diff_goes_to_a_file_also_while_the_terminal_shows_progress(tmp_path: Path) -> None:
    """The status line is on standard error, and takes nothing of what a shell redirects."""
    write(tmp_path / "api.json", grouped(orders=["list_orders"]))
    (tmp_path / "skillgen.yaml").write_text("targets:\n  shop:\n    source: {openapi: api.json}\n", "utf-8")
    command = [sys.executable, "-m", "skillgen", "build", "--check"]
    ours, terminal = os.openpty()
    with (tmp_path / "shown.diff").open("wb") as file:
        variables = environment({"TERM": "xterm"})
        finished = subprocess.run(command, cwd=tmp_path, env=variables, stdout=file, stderr=terminal, check=False)
    os.close(terminal)
    shown = read_terminal(ours)
    assert finished.returncode == 1
    assert "+++ b/agent-docs/skills/" in (tmp_path / "shown.diff").read_text("utf-8")
    messages, status_lines = re.subn(r"[^\n]* \.\.\.\r +\r", "", shown)
    assert status_lines
    assert messages.splitlines() == run_skillgen("build", "--check", cwd=tmp_path).stderr.splitlines()
