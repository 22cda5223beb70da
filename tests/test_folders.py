"""A folder belongs to a source: no command puts another service there, and what a person adds is in every copy."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli import files_of, generated, run_skillgen, stamps_of
from descriptions import description, grouped, operation, write
from listed import program

PROGRAM = (
    "import argparse\napp = argparse.ArgumentParser(prog='{name}', description='Does it.')\napp.add_argument('x')\n"
)


def api(path: Path, title: str = "FastAPI", tool: str = "list_a") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    info = {"title": title, "version": "1.0", "description": "Keeps things."}
    write(path, {**description({f"/{tool}": {"get": operation(tool)}}), "info": info})
    return str(path)


def server(path: Path, name: str = "depot", tool: str = "get_a") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    tools = [{"name": tool, "description": "Does it.", "inputSchema": {"type": "object"}}]
    path.write_text(program(json.dumps(tools), json.dumps(name)), "utf-8")
    return str(path)


def project(folder: Path, **targets: str) -> list[str]:
    folder.joinpath("skillgen.yaml").write_text(json.dumps({"targets": {
        name: {"source": {"openapi": source}, "out": "agent-docs"} for name, source in targets.items()
    }}), "utf-8")  # fmt: skip
    return ["build"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


run, done = run_skillgen, generated


def python(path: str) -> list[str]:
    return ["from-server", "--", sys.executable, path]


# -- one service never deletes another --------------------------------------------------------------------------------


def others(folder: Path) -> Iterator[tuple[str, list[str], dict[str, Any]]]:
    """Yields commands for other services than that of one/openapi.json, entitled FastAPI."""
    yield "another title", ["from-openapi", api(folder / "b.json", "Other", "list_b")], {}
    yield "the same title", ["from-openapi", api(folder / "c.json", tool="list_c")], {}
    yield "the same title and file name", ["from-openapi", api(folder / "two/openapi.json", tool="list_d")], {}
    yield "another title, the same file name", ["from-openapi", api(folder / "three/openapi.json", "Other")], {}
    text = Path(api(folder / "d.json", tool="list_d")).read_text("utf-8")
    yield "standard input", ["from-openapi", "-"], {"stdin": text}
    yield "a server", python(server(folder / "server.py")), {}
    yield "a server of the same name", python(server(folder / "named.py", "FastAPI")), {}
    (folder / "depot.py").write_text(PROGRAM.format(name="depot"), "utf-8")
    yield "a program", ["from-cli", "depot:app", "--python", sys.executable], {}
    entry = {"command": sys.executable, "args": [server(folder / "s.py")]}
    servers = {"mcpServers": dict.fromkeys(("a", "b"), entry)}
    (folder / "servers.json").write_text(json.dumps(servers), "utf-8")
    yield "several servers", ["from-server", "--config", "servers.json"], {}
    yield "a project", project(folder, shop="b.json"), {}


def test_no_command_puts_another_service_into_a_folder(tmp_path: Path) -> None:
    """Exit 2, one message that names the option, and nothing changed; `--check` says the same."""
    done("from-openapi", api(tmp_path / "one/openapi.json"))
    wrong = []
    for name, command, more in others(tmp_path):
        for options in ([], ["--check"]):
            before = stamps_of(tmp_path / "agent-docs")
            finished = run(command[0], *options, *command[1:], **more)
            says = "`replace: true`" if command == ["build"] else "--replace"
            count = finished.stderr.count("skillgen: error:")
            if (finished.exit_code, says in finished.stderr, count) != (2, True, 1):
                wrong.append(f"{name} {options}: {finished.exit_code} {finished.stderr}")
            if stamps_of(tmp_path / "agent-docs") != before:
                wrong.append(f"{name} {options}: something changed")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("place", ["below", "above", "elsewhere", "root"])
def test_a_service_of_another_folder_is_another(place: str, tmp_path: Path, monkeypatch: Any) -> None:
    """The paths from the current folder are the same; from there OUT is not below it, or the paths are outside."""
    commands = [
        ["from-openapi", "openapi.json"],
        ["from-server", "--", sys.executable, "server.py"],
        ["from-server", "--", sys.executable, "-m", "server"],
        ["from-cli", "--python", sys.executable, "depot:app"],
    ]
    for folder in ("one", "two"):
        api(tmp_path / folder / "openapi.json")
        server(tmp_path / folder / "server.py", "FastAPI")
        (tmp_path / folder / "depot.py").write_text(PROGRAM.format(name="FastAPI"), "utf-8")
    (tmp_path / "elsewhere").mkdir()
    for number, command in enumerate(commands):
        for folder, exit_code in (("one", 0), ("two", 2), ("one", 0)):
            if place == "above":
                monkeypatch.chdir(tmp_path / folder)
                words = command
            else:
                monkeypatch.chdir({"below": tmp_path, "root": "/"}.get(place, tmp_path / "elsewhere"))
                local = command if command[0] != "from-openapi" else [command[0], str(tmp_path / folder / command[1])]
                at = [] if command[0] == "from-openapi" else ["--cwd", str(tmp_path / folder)]
                words = [local[0], *at, *local[1:]]
            finished = run(words[0], "-o", tmp_path / f"docs{number}", *words[1:])
            assert finished.exit_code == exit_code, (words, finished.stderr)
        assert str(tmp_path.parent) not in (tmp_path / f"docs{number}/.skillgen.json").read_text("utf-8")


def test_a_command_without_its_paths_does_not_identify_a_service(tmp_path: Path) -> None:
    """The title decides: `python server.py shop.json` and `python server.py depot.json` are two services."""
    text = Path(server(tmp_path / "server.py")).read_text("utf-8").replace('"depot"', "sys.argv[1].split('.')[0]")
    (tmp_path / "server.py").write_text(text, "utf-8")
    done("from-server", "--", sys.executable, "server.py", "shop.json")
    assert run("from-server", "--", sys.executable, "server.py", "depot.json").exit_code == 2
    done("from-server", "--name", "Mine", "--", sys.executable, "server.py", "shop.json")


def same(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yields commands for the service of one/openapi.json, after which its skill has the name on the left."""
    yield "tasks", ["from-openapi", "one/openapi.json"]
    yield "tasks", ["from-openapi", str(folder / "one/openapi.json")]
    yield "books", ["from-openapi", "one/openapi.json", "--name", "Books"]
    yield "tasks", ["from-openapi", "one/openapi.json"]
    (folder / "moved").mkdir()
    shutil.move(folder / "one/openapi.json", folder / "moved/openapi.json")
    yield "tasks", ["from-openapi", "moved/openapi.json"]
    api(folder / "moved/openapi.json", "Shop")
    yield "shop", project(folder, shop="moved/openapi.json")
    api(folder / "api.json", "Shop")
    yield "shop", project(folder, shop="api.json")
    api(folder / "api.json", "Store")
    yield "store", ["build"]
    yield "store", project(folder, renamed="api.json")
    snapshot = done("inspect", "api.json").stdout
    (folder / "snapshot.json").write_text(snapshot, "utf-8")
    yield "store", ["from-server", "--snapshot", "snapshot.json"]


def test_a_service_stays_in_its_folder_whatever_it_is_called(tmp_path: Path) -> None:
    """The same target or origin under another title is a rename; a description may move."""
    api(tmp_path / "one/openapi.json")
    before = "tasks"
    for name, command in same(tmp_path):
        finished = done(*command)
        assert [path.name for path in (tmp_path / "agent-docs/skills").iterdir()] == [name], command
        assert ("skill-renamed" in finished.stderr) == (name != before), command
        before = name


def test_a_hook_renames_and_the_next_one_has_nothing_to_do(tmp_path: Path) -> None:
    project(tmp_path, shop="api.json")
    api(tmp_path / "api.json", "Shop")
    assert run("build", "--fail-on-change").exit_code == 1
    api(tmp_path / "api.json", "Store")
    finished = run("build", "--fail-on-change")
    assert (finished.exit_code, "skill-renamed" in finished.stderr) == (1, True)
    assert run("build", "--fail-on-change").exit_code == 0
    assert run("build", "--check").exit_code == 0


@pytest.mark.parametrize(("first", "second", "is_same"), [
    (["server.py"], ["./server.py", "--port", "1"], False),
    (["one/server.py"], ["two/server.py"], False),
    (["one/server.py", "/data/a"], ["one/server.py", "/data/b"], True),
    (["one/server.py"], ["one/server.py"], True),
])  # fmt: skip
def test_servers_of_one_name_are_distinguished_by_their_commands(
    first: list[str], second: list[str], is_same: bool, tmp_path: Path
) -> None:
    """Paths are no part of it but that of the program, and no secret is."""
    for path in ("server.py", "one/server.py", "two/server.py"):
        server(tmp_path / path)
    secret = ["--api-key", "s3cr3t-Wq7Zx9"]
    done("from-server", "--", sys.executable, *first, *secret)
    finished = run("from-server", "--", sys.executable, *second, *secret)
    assert finished.exit_code == (0 if is_same else 2), finished.stderr
    record = (tmp_path / "agent-docs/.skillgen.json").read_text("utf-8")
    assert "s3cr3t" not in record
    assert str(tmp_path) not in record


def test_what_nothing_identifies_belongs_to_its_title(tmp_path: Path) -> None:
    """Standard input has no name: the same title is the same service."""
    one, two = (Path(api(tmp_path / name, title)).read_text("utf-8") for name, title in (("a", "A"), ("b", "B")))
    for _ in range(2):
        done("from-openapi", "-", stdin=one)
    done("from-openapi", "-", "--name", "Mine", stdin=one)
    assert run("from-openapi", "-", stdin=two).exit_code == 2


def test_a_record_without_a_source_belongs_to_its_service(tmp_path: Path) -> None:
    """Records of earlier versions are read."""
    done("from-openapi", api(tmp_path / "a.json"))
    record = tmp_path / "agent-docs/.skillgen.json"
    lines = record.read_text("utf-8").splitlines(keepends=True)
    record.write_text("".join(line for line in lines if '"source"' not in line), "utf-8")
    assert run("from-openapi", api(tmp_path / "b.json", "Other")).exit_code == 2
    done("from-openapi", "a.json")


def test_replace_is_how_another_service_takes_a_folder(tmp_path: Path) -> None:
    done("from-openapi", api(tmp_path / "a.json", "A"))
    finished = done("from-openapi", api(tmp_path / "b.json", "B"), "--replace")
    assert "service-replaced" in finished.stderr
    assert [path.name for path in (tmp_path / "agent-docs/skills").iterdir()] == ["b"]
    project(tmp_path, shop="a.json")
    text = (tmp_path / "skillgen.yaml").read_text("utf-8")
    (tmp_path / "skillgen.yaml").write_text(text.replace('"out"', '"replace": true, "out"'), "utf-8")
    done("build")
    assert [path.name for path in (tmp_path / "agent-docs/skills").iterdir()] == ["a"]


def test_a_folder_whose_documents_are_gone_is_free(tmp_path: Path) -> None:
    """Only the hidden record is left of `rm -rf agent-docs/*`."""
    done("from-openapi", api(tmp_path / "a.json", "A"))
    for path in (tmp_path / "agent-docs").iterdir():
        if path.name != ".skillgen.json":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    done("from-openapi", api(tmp_path / "b.json", "B"))


@pytest.mark.parametrize("host", ["claude", "agents", "package"])
def test_no_skill_is_installed_over_that_of_another_service(host: str, tmp_path: Path) -> None:
    """X-21: nothing is written, not even the documents."""
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text("", "utf-8")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "pkg"\nversion = "1"\n', "utf-8")
    done("from-openapi", api(tmp_path / "a.json"), "-o", "a", "--install", host)
    api(tmp_path / "b.json", tool="list_b")
    before = files_of(tmp_path)
    finished = run("from-openapi", "b.json", "-o", "b", "--install", host)
    assert (finished.exit_code, "--replace" in finished.stderr) == (2, True), finished.stderr
    assert "/a), not those of " in finished.stderr
    assert files_of(tmp_path) == before
    assert not (tmp_path / "b").exists()
    done("from-openapi", "b.json", "-o", "b", "--install", host, "--replace")


def test_a_skill_that_other_documents_installed_is_named_by_them(tmp_path: Path) -> None:
    """Of one target, whose name would not say which is which."""
    targets(tmp_path, a=None)
    done("build", "--install", "claude")
    finished = run("build", "-o", "preview", "--install", "claude")
    assert finished.exit_code == 2
    assert "'a-shop' (../../../agent-docs), not those of 'a-shop' (../../../preview)" in finished.stderr


# -- several servers --------------------------------------------------------------------------------------------------


def servers(folder: Path, **scripts: str) -> Path:
    entries = {name: {"command": sys.executable, "args": [path]} for name, path in scripts.items()}
    (folder / "servers.json").write_text(json.dumps({"mcpServers": entries}), "utf-8")
    return folder / "servers.json"


def test_a_failed_server_stays_in_the_llms_txt_of_all(tmp_path: Path) -> None:
    """With those of this run, and without those that were never documented; a good run writes the same bytes again."""
    harbor, port = server(tmp_path / "h.py", "harbor"), server(tmp_path / "p.py", "port")
    path = servers(tmp_path, harbor=harbor, port=port)
    command = ["from-server", "--config", path, "--emit", "skill,llms,html"]
    done(*command)
    before = files_of(tmp_path / "agent-docs")
    servers(tmp_path, harbor=harbor, port="gone.py", never="gone.py")
    finished = run(*command)
    assert (finished.exit_code, "site-partial" in finished.stderr) == (3, True)
    assert "of an earlier run port" in finished.stderr
    assert files_of(tmp_path / "agent-docs") == before
    servers(tmp_path, harbor=harbor, port=port)
    done(*command)
    assert files_of(tmp_path / "agent-docs") == before
    assert run(*command, "--check").exit_code == 0


def test_the_first_run_names_the_servers_that_could_be_read(tmp_path: Path) -> None:
    path = servers(tmp_path, harbor=server(tmp_path / "h.py", "harbor"), dead="gone.py")
    finished = run("from-server", "--config", path)
    assert finished.exit_code == 3
    text = (tmp_path / "agent-docs/llms.txt").read_text("utf-8")
    assert "](harbor/llms.txt)" in text
    assert "dead" not in text


def test_servers_join_and_leave_a_client_configuration(tmp_path: Path) -> None:
    """One, then two, then one again: the folder is still theirs. Another service is refused in each."""
    one, two = server(tmp_path / "1.py", "one"), server(tmp_path / "2.py", "two")
    for entries in ({"one": one}, {"one": one, "two": two}, {"two": two}):
        done("from-server", "--config", servers(tmp_path, **entries))
        assert run("from-openapi", api(tmp_path / "a.json")).exit_code == 2
        if len(entries) == 2:
            assert run("from-server", "--config", "servers.json", "--server", "one").exit_code == 2
    assert run("from-server", "--config", servers(tmp_path, two=server(tmp_path / "3.py", "two"))).exit_code == 2


def test_a_server_keeps_lines_and_texts_in_whichever_folder(tmp_path: Path) -> None:
    """A second server joins and leaves; only what it adds is a change for callers."""
    scripts = {name: server(tmp_path / f"{name}.py", name) for name in ("one", "two")}
    write(
        tmp_path / "answer.json",
        {"description": f"Keeps the goods of a harbour. {'Counts crates. ' * 8}Use when the user counts."},
    )
    servers(tmp_path, one=scripts["one"])
    done("from-server", "--config", "servers.json")
    add("agent-docs/skills/one/SKILL.md", "agent-docs/llms.txt")
    servers(tmp_path, **scripts)
    before = files_of(tmp_path)
    assert run("update", "--check", "agent-docs").exit_code == 1
    assert files_of(tmp_path) == before
    finished = done("update", "agent-docs")
    assert (finished.stdout, "replaced" in finished.stderr) == ("- `two`: `get_a: added`\n", False)
    assert "5 files in agent-docs/one, all up to date, moved from agent-docs, with 8 lines" in finished.stderr
    assert with_mine(tmp_path) == {"agent-docs/one/skills/one/SKILL.md", "agent-docs/one/llms.txt"}
    own = ("--config", "servers.json", "--server", "one", "-o", "agent-docs/one")
    done("draft", *own, "--apply", "answer.json", "--yes")
    skill = Path("agent-docs/one/skills/one/SKILL.md")
    for command in (["from-server", "--config", "servers.json"], ["update"], ["update", "agent-docs/two"]):
        finished = done(*command)
        assert "description: Keeps the goods" in skill.read_text("utf-8")
        assert ("all of them are renewed" in finished.stderr) == (command[1:] == ["agent-docs/two"])
    servers(tmp_path, one=scripts["one"])
    finished = done("update", "agent-docs")
    assert (finished.stdout, "documents-left: agent-docs/two: " in finished.stderr) == ("", True)
    assert with_mine(tmp_path) == {"agent-docs/skills/one/SKILL.md", "agent-docs/llms.txt"}
    assert "description: Keeps the goods" in Path("agent-docs/skills/one/SKILL.md").read_text("utf-8")
    assert run("update", "--check", "agent-docs").exit_code == 0
    servers(tmp_path, **scripts)
    done("update", "agent-docs")
    assert "description: Keeps the goods" in skill.read_text("utf-8")


@pytest.mark.parametrize("is_project", [True, False])
@pytest.mark.parametrize("emit", ["skill", "skill,llms"])
def test_a_server_with_a_command_of_its_own_is_left_to_it(is_project: bool, emit: str, tmp_path: Path) -> None:
    """Another command does not undo its options, and publishes nothing that it does not have; `update` runs both."""
    servers(tmp_path, one=server(tmp_path / "1.py", "one"), two=server(tmp_path / "2.py", "two"))
    command = ["from-server", "--config", "servers.json", "-o", "docs", "--emit", "skill,llms,plugin,well-known"]
    if is_project:
        command = ["build", "-o", "docs", *command[-2:]]
        write(tmp_path / "skillgen.yaml", {"targets": {"m": {"source": {"config": "servers.json"}}}})
    done(*command)
    words = "Reads a log. Use when the user asks for the log."
    own = ("--config", "servers.json", "--server", "one", "-o", "docs/one", "--description", words)
    done("from-server", *own, "--emit", emit)
    before = files_of(tmp_path / "docs/one")
    assert "has-own-command: docs/one: " in done(*command).stderr
    assert run(*command, "--check").exit_code == 0
    assert files_of(tmp_path / "docs/one") == before
    assert ("](one/llms.txt)" in Path("docs/llms.txt").read_text("utf-8")) == ("llms" in emit)
    above = [text.decode() for path, text in files_of(tmp_path / "docs").items() if not path.startswith(("one", "two"))]
    assert [text for text in above if "./one" in text or "skills/one" in text] == []
    if is_project:
        return
    server(tmp_path / "1.py", "one", "get_b")
    assert done("update", "docs").stdout == "- breaking: `get_a: removed`\n- `get_b: added`\n"
    assert words.encode() in files_of(tmp_path / "docs/one")["skills/one/SKILL.md"]


# -- documents move with their source ----------------------------------------------------------------------------------


def add(*paths: str) -> None:
    """Adds a section of a person to documents."""
    for path in paths:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"\n## Mine\n\n{MINE}\n")


def with_mine(folder: Path) -> set[str]:
    """Returns the files that have such a section."""
    return {path for path, text in files_of(folder).items() if text.count(MINE.encode()) == 1}


def targets(folder: Path, **outs: str | None) -> None:
    """Writes a project file with targets, of which each has a description of its own, by its first letter."""
    found = {}
    for name, out in outs.items():
        source = api(folder / f"{name[0]}.json", f"{name[0]}-shop", f"list_{name[0]}")
        found[name] = {"source": {"openapi": Path(source).name}, **({"out": out} if out else {})}
    (folder / "skillgen.yaml").write_text(json.dumps({"targets": found}), "utf-8")


MOVES: dict[str, tuple[dict[str, str | None], dict[str, str | None], str, str]] = {
    "a second target": ({"a": None}, {"a": None, "b": None}, "agent-docs", "agent-docs/a"),
    "no second target any more": ({"a": None, "b": None}, {"a": None}, "agent-docs/a", "agent-docs"),
    "another name": ({"a": None, "b": None}, {"again": None, "b": None}, "agent-docs/a", "agent-docs/again"),
    "another folder": ({"a": "docs/old"}, {"a": "docs/new"}, "docs/old", "docs/new"),
    "a folder elsewhere": ({"a": None}, {"a": "docs"}, "agent-docs", "docs"),
    "below another folder": ({"a": "pkg/.docs/old"}, {"a": "site/new/one"}, "pkg/.docs/old", "site/new/one"),
}


@pytest.mark.parametrize("case", MOVES)
def test_documents_move_with_what_people_added(case: str, tmp_path: Path) -> None:
    """In one run, as if they had been there: every copy keeps its lines, and nothing stays behind."""
    before, after, old, new = MOVES[case]
    targets(tmp_path, **before)
    done("build", "--install", "claude")
    evals = tmp_path / old / "skills/a-shop/evals/evals.json"
    evals.parent.mkdir()
    evals.write_text("{}", "utf-8")
    add(f"{old}/skills/a-shop/SKILL.md", f"{old}/ai-help.md")
    done("build")
    add(".claude/skills/a-shop/SKILL.md")
    contents = {path: text for path, text in files_of(tmp_path / old).items() if path[0] not in ".b"}
    targets(tmp_path, **after)
    stamps = stamps_of(tmp_path)
    checked = run("build", "--check")
    assert (checked.exit_code, f"would be moved to {new}, " in checked.stderr) == (1, True)
    assert stamps_of(tmp_path) == stamps
    finished = run("build", "--fail-on-change")
    assert (finished.exit_code, f"all up to date, moved from {old}, with 8 lines" in finished.stderr) == (1, True)
    assert not {f"-left: {folder}: " in finished.stderr for folder in (old, ".claude/skills/a-shop")} - {False}
    moved = files_of(tmp_path / new)
    assert {path: moved.get(path) for path in contents} == contents
    assert f"{new}/skills/a-shop/evals/evals.json" in files_of(tmp_path)
    assert with_mine(tmp_path) == {f"{new}/skills/a-shop/SKILL.md", f"{new}/ai-help.md"}
    assert files_of(tmp_path)[".claude/skills/a-shop/SKILL.md"].count(MINE.encode()) == 2
    assert not (tmp_path / old / "skills").exists()
    assert run("build", "--check").exit_code == 0


def test_a_move_over_the_documents_of_another_service_is_reported(tmp_path: Path) -> None:
    targets(tmp_path, a=None, b=None)
    done("build")
    reused = {"a": {"source": {"openapi": "b.json"}, "replace": True}, "c": {"source": {"openapi": "a.json"}}}
    write(tmp_path / "skillgen.yaml", {"targets": reused})
    for finished in (run("build", "--check"), done("build")):
        assert "service-replaced: agent-docs/a: the documents of 'a-shop'" in finished.stderr


Targets = dict[str, dict[str, Any]]
BOTH: dict[str, Any] = {"source": {"config": "servers.json"}}
SKILLS = {**BOTH, "emit": ["skill"]}
API, OTHER = ({"source": {"openapi": name}} for name in ("x.json", "y.json"))
ONE, TWO = ({**API, "name": f"The {name}"} for name in ("boats", "crew"))
TARGETS: dict[str, tuple[Targets, Targets, int, dict[str, str]]] = {
    "several servers, a target joins": ({"m": BOTH}, {"m": BOTH, "x": API}, 0, {"a": "m/a", "b": "m/b"}),
    "several servers, a target leaves": ({"m": BOTH, "x": API}, {"m": BOTH}, 0, {"m/a": "a", "m/b": "b"}),
    "several servers, another name": ({"m": BOTH, "x": API}, {"n": BOTH, "x": API}, 0, {"m/a": "n/a", "m/b": "n/b"}),
    "several servers, no llms.txt": ({"m": SKILLS, "x": API}, {"n": SKILLS}, 0, {"m/a": "a", "m/b": "b"}),
    "several servers, another folder": (
        {"m": {**BOTH, "out": "p"}}, {"m": {**BOTH, "out": "q"}}, 0, {"../p/a": "../q/a", "../p/b": "../q/b"}
    ),
    "several servers, far below": (
        {"m": {**BOTH, "out": "p/x"}}, {"m": {**BOTH, "out": "q"}}, 0, {"../p/x/a": "../q/a", "../p/x/b": "../q/b"}
    ),
    "two sources, a name is reused": ({"a": API, "b": OTHER}, {"a": OTHER, "c": API}, 2, {}),
    "two sources, an only name is reused": ({"a": API}, {"a": OTHER}, 2, {}),
    "one source, the first leaves": ({"one": ONE, "two": TWO}, {"two": TWO}, 0, {"two": "."}),
    "one source, one is renamed": ({"one": ONE, "two": TWO}, {"one": ONE, "three": TWO}, 0, {}),
    "one source, one is renamed and one joins": ({"one": ONE}, {"three": ONE, "two": TWO}, 0, {}),
    "one source, other folders": (
        {"one": {**ONE, "out": "p"}, "two": {**TWO, "out": "q"}},
        {"one": {**ONE, "out": "q"}, "two": {**TWO, "out": "p"}}, 2, {},
    ),
}  # fmt: skip
SERVERS: dict[str, tuple[dict[str, str], dict[str, str], int, dict[str, str]]] = {
    "one joins": ({"a": "s"}, {"a": "s", "b": "t"}, 0, {".": "a"}),
    "one leaves": ({"a": "s", "b": "t"}, {"b": "t"}, 0, {"b": "."}),
    "one is renamed": ({"a": "s", "b": "t"}, {"c": "s", "b": "t"}, 0, {"a": "c"}),
    "a twin joins": ({"b": "s"}, {"a": "s", "b": "s"}, 0, {".": "b"}),
    "a twin leaves": ({"a": "s", "b": "s"}, {"b": "s"}, 0, {"b": "."}),
    "a twin is renamed": ({"a": "s", "b": "s"}, {"a": "s", "c": "s"}, 0, {}),
    "twins come after one": ({"a": "s"}, {"b": "s", "c": "s"}, 2, {}),
    "others come after one": ({"a": "s"}, {"b": "t", "c": "t"}, 2, {}),
    "one fails, one joins": ({"a": "s"}, {"a": "gone", "b": "t"}, 3, {}),
    "one is edited, one joins": ({"a": "s"}, {"a": "s", "b": "t"}, 4, {}),
}


def lines_of_people() -> dict[str, str]:
    """Returns the folder that has each line now, by the one in which it was written, both from agent-docs."""
    out = Path("agent-docs").resolve()
    pages = {path: path.read_text("utf-8") for path in Path().rglob("SKILL.md")}
    found = {text.partition("Line of ")[2].strip(): path for path, text in pages.items() if "Line of " in text}
    return {name: Path(os.path.relpath(path.parents[2].resolve(), out)).as_posix() for name, path in found.items()}


def put(case: str, folder: Path, programs: Mapping[str, str], found: Targets) -> None:
    servers(folder, **{name: str(folder / f"{program}.py") for name, program in programs.items()})
    (folder / "skillgen.yaml").write_text(json.dumps({"targets": found}), "utf-8")
    if "edited" in case and len(programs) == 2:
        page = Path("agent-docs/llms.txt")
        page.write_text(page.read_text("utf-8").replace("## When to Use", "## When I Use"), "utf-8")


@pytest.mark.parametrize(("case", "command"), [
    *((case, ["build"]) for case in (*TARGETS, *SERVERS)),
    *((case, ["from-server", "--config", "servers.json"]) for case in SERVERS),
])  # fmt: skip
def test_lines_stay_with_their_target_and_server(case: str, command: list[str], tmp_path: Path) -> None:
    """They move with its documents, or stay where they were and are reported; `--check` says the same."""
    api(tmp_path / "x.json")
    api(tmp_path / "y.json", "Other")
    for name in "st":
        server(tmp_path / f"{name}.py", f"depot-{name}")
    both = {"a": "s", "b": "t"}
    first, then, code, moves = SERVERS.get(case) or TARGETS[case]
    steps = [(step, {"m": BOTH}) if case in SERVERS else (both, step) for step in (first, then)]
    put("", tmp_path, *steps[0])
    done(*command)
    for path in [*tmp_path.rglob("SKILL.md")]:
        name = Path(os.path.relpath(path.parents[2], tmp_path / "agent-docs")).as_posix()
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\nLine of {name}\n")
    done(*command)
    before = lines_of_people()
    assert list(before) == [*before.values()] != []
    put(case, tmp_path, *steps[1])
    files = files_of(tmp_path)
    assert run(*command, "--check").exit_code == (code or 1)
    assert files_of(tmp_path) == files
    finished = run(*command, "-v")
    assert finished.exit_code == code, finished.stderr
    assert lines_of_people() == {**before, **moves}
    if code:
        assert {path: text for path, text in files_of(tmp_path).items() if path in files} == files
    else:
        for out in (os.path.normpath(f"agent-docs/{name}") for name in before.keys() - moves.keys()):
            assert f" in {out}, " in finished.stderr or f"lines-left: {out}: " in finished.stderr
        assert run(*command, "--check").exit_code == 0
    if code > 2:
        put("", tmp_path, both, {"m": BOTH})
        done(*command, *(["--force"] if code == 4 else []))
        assert lines_of_people() == {".": "a"}


@pytest.mark.parametrize("place", ["old", "new"])
def test_documents_do_not_move_where_something_would_be_lost(place: str, tmp_path: Path) -> None:
    """Text that a person changed, or a file of others at the new place."""
    targets(tmp_path, a=None)
    done("build")
    page = Path("agent-docs/llms.txt")
    if place == "old":
        page.write_text(page.read_text("utf-8").replace("## When to Use", "## When I Use"), "utf-8")
    else:
        Path("agent-docs/a").mkdir()
        Path("agent-docs/a/llms.txt").write_text("mine\n", "utf-8")
    targets(tmp_path, a=None, b=None)
    before = files_of(tmp_path)
    finished = run("build", "--target", "a")
    assert (finished.exit_code, "skillgen: error: agent-docs: " in finished.stderr) == (4, True)
    assert files_of(tmp_path) == before


PAGES = ["ai-help.md", "llms.txt", "llms-full.txt", "registry.json"]


@pytest.mark.parametrize("names", [
    ["llms.txt"], ["skills", "ai-help.md"], ["texts.yaml"], ["texts.yaml", "skills", "llms.txt", "ai-help.md"],
    ["texts.yaml", *PAGES, "skills/a-shop/SKILL.md"], ["texts.yaml", *PAGES, "skills"],
])  # fmt: skip
def test_a_move_that_was_interrupted_goes_on(names: list[str], tmp_path: Path) -> None:
    """With the texts and the files next to a skill, also if only the record is left."""
    targets(tmp_path, a=None)
    done("build")
    add("agent-docs/skills/a-shop/SKILL.md", "agent-docs/llms.txt")
    Path("agent-docs/skills/a-shop/plan.txt").write_text("mine\n", "utf-8")
    Path("agent-docs/texts.yaml").write_text("tools: {list_a: {effect: destructive}}\n", "utf-8")
    done("build")
    targets(tmp_path, a=None, b=None)
    Path("agent-docs/a/skills/a-shop").mkdir(parents=True)
    for name in names:
        if name == "skills":
            Path("agent-docs/a/skills/a-shop").rmdir()
        Path("agent-docs", name).rename(Path("agent-docs/a", name))
    finished = done("build")
    assert "service-replaced" not in finished.stderr
    assert "[destructive]" in Path("agent-docs/a/skills/a-shop/SKILL.md").read_text("utf-8")
    assert Path("agent-docs/a/skills/a-shop/plan.txt").is_file()
    assert with_mine(tmp_path) == {"agent-docs/a/skills/a-shop/SKILL.md", "agent-docs/a/llms.txt"}
    assert sorted(path.name for path in Path("agent-docs").iterdir()) == ["a", "b"]
    assert run("build", "--check").exit_code == 0


def test_a_record_of_a_stranger_moves_no_other_files(tmp_path: Path) -> None:
    """A clone may say that the project itself has the documents of a target."""
    targets(tmp_path, a=None)
    done("build")
    record = json.loads(Path("agent-docs/.skillgen.json").read_text("utf-8"))
    shutil.rmtree("agent-docs")
    (tmp_path / ".git").mkdir()
    for path in ("private.env", ".git/config", "SKILL.md"):
        (tmp_path / path).write_text("mine\n", "utf-8")
    record |= {"owner": "skillgen.yaml", "files": {"SKILL.md": ["x" * 6], ".git/config": ["x" * 6]}}
    (tmp_path / ".skillgen.json").write_text(json.dumps(record), "utf-8")
    run("build")
    assert [(tmp_path / path).is_file() for path in ("private.env", ".git/config")] == [True, True]


def test_advice_names_what_people_wrote_and_no_folder_of_others(tmp_path: Path) -> None:
    targets(tmp_path, a=None)
    done("build", "--install", "claude")
    add("agent-docs/llms.txt")
    targets(tmp_path, b=None, c=None)
    finished = done("build", "-v")
    (line,) = [line for line in finished.stderr.splitlines() if "lines-left: agent-docs: " in line]
    assert "people wrote in llms.txt (move what people wrote to other documents, then delete .skillgen.json, ai" in line
    assert "the folder" not in line
    add(".claude/skills/a-shop/SKILL.md")
    shutil.rmtree("agent-docs/skills")
    assert "people wrote in SKILL.md" in done("build", "-v").stderr.partition("lines-left: .claude")[2]


def test_a_check_finds_what_is_left_in_any_folder(tmp_path: Path) -> None:
    """With texts.yaml and the files next to a skill, which would weaken marks or be deleted with it."""
    targets(tmp_path, a="docs/x/a", b="site/y/b")
    Path("site/y/b").mkdir(parents=True)
    Path("site/y/b/texts.yaml").write_text("tools: {list_b: {effect: destructive}}\n", "utf-8")
    done("build")
    Path("site/y/b/skills/b-shop/plan.md").write_text("mine\n", "utf-8")
    targets(tmp_path, a="docs/x/a")
    finished = done("build", "--check")
    assert "lines-left: site/y/b: " in finished.stderr
    assert "people wrote in texts.yaml, skills/b-shop/plan.md (move what people wrote" in finished.stderr


def test_documents_are_not_taken_from_another_target(tmp_path: Path) -> None:
    """Two targets of one source: the new one leaves the documents of the other to it, and a copy is reported."""
    targets(tmp_path, b=None)
    done("build")
    add("agent-docs/llms.txt")
    targets(tmp_path, before=None, b=None)
    done("build")
    assert with_mine(tmp_path) == {"agent-docs/b/llms.txt"}
    targets(tmp_path, b=None, before=None)
    shutil.copytree("agent-docs/b", "agent-docs/copy")
    assert "lines-left: agent-docs/copy: " in done("build").stderr


def test_a_run_elsewhere_takes_nothing_from_a_project(tmp_path: Path) -> None:
    """`-o` names the folder of a target by mistake; the next build reports what it wrote there."""
    targets(tmp_path, a=None, b=None)
    done("build")
    add("agent-docs/a/llms.txt")
    before = files_of(tmp_path)
    done("build", "-o", "agent-docs/a", "--target", "a")
    assert {path: text for path, text in files_of(tmp_path).items() if path in before} == before
    assert "documents-left: agent-docs/a/a: " in done("build").stderr


def test_a_copy_and_what_one_run_wrote_elsewhere_do_not_move(tmp_path: Path) -> None:
    """They are not taken for the documents of the target, and do not keep these from moving."""
    targets(tmp_path, a="docs/a")
    done("build", "-o", "preview")
    preview = files_of(tmp_path / "preview")
    assert "moved" not in done("build").stderr
    add("docs/a/llms.txt")
    for copy in ("docs/b", "site/a"):
        shutil.copytree("docs/a", copy)
    targets(tmp_path, a="new/a")
    finished = done("build")
    assert "moved from docs/a, " in finished.stderr
    assert "lines-left: docs/b, site/a: " in finished.stderr
    assert with_mine(tmp_path) == {"new/a/llms.txt", "docs/b/llms.txt", "site/a/llms.txt"}
    assert files_of(tmp_path / "preview") == preview


def test_another_writer_of_documents_is_reported(tmp_path: Path) -> None:
    """A command and a target write the same service: each run after the other says so, once."""
    own = ["from-openapi", api(tmp_path / "a.json"), "--name", "Mine"]
    done(*own)
    for command in (project(tmp_path, shop="a.json"), own):
        assert [" writer-changed: " in done(*command).stderr for _ in range(2)] == [True, False]


# -- what a person writes ships ---------------------------------------------------------------------------------------

MINE = "Ask the harbour master first."
BLOCK = f"<!-- yours -->\n\n## House rules\n\n{MINE}\n\n<!-- /yours -->"
FORMATS = "skill,llms,plugin,well-known,skills-list"


def copies(folder: Path) -> dict[str, bytes]:
    """Returns every copy of SKILL.md of the service."""
    found = {path: text for path, text in files_of(folder).items() if path.endswith("/SKILL.md")}
    for path in folder.rglob("*.zip"):
        found[str(path)] = zipfile.ZipFile(io.BytesIO(path.read_bytes())).read("SKILL.md")
    return found


@pytest.mark.parametrize(("added", "is_large"), [(MINE, False), (BLOCK, True)])
def test_what_a_person_adds_is_in_every_copy(added: str, is_large: bool, tmp_path: Path) -> None:
    """Installed, in the package, a plugin, an archive and its digest; `--check` agrees with the next run."""
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text("", "utf-8")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "pkg"\nversion = "1"\n', "utf-8")
    names = [f"get_{number}" for number in range(60)] if is_large else ["get_a"]
    write(tmp_path / "api.json", grouped(tasks=names))
    hosts = [word for host in ("claude", "agents", "package") for word in ("--install", host)]
    command = ["from-openapi", "api.json", "--emit", FORMATS, "--publish", "domain=acme.com", *hosts]
    done(*command)
    skill = tmp_path / "agent-docs/skills/tasks/SKILL.md"
    generated_text = skill.read_text("utf-8")
    skill.write_text(f"{generated_text}\n{added}\n", "utf-8")
    text = skill.read_bytes()
    assert run(*command, "--check").exit_code == 1, "the copies lack it"
    done(*command)
    assert skill.read_bytes() == text
    found = copies(tmp_path)
    assert {content == text for content in found.values()} == {True}, list(found)
    assert len(found) == 6 if is_large else 5
    index = json.loads((tmp_path / "agent-docs/well-known/agent-skills/index.json").read_text("utf-8"))
    (entry,) = index["skills"]
    shipped = (tmp_path / "agent-docs" / entry["url"].lstrip("/").replace(".well-known", "well-known")).read_bytes()
    assert entry["digest"] == f"sha256:{hashlib.sha256(shipped).hexdigest()}"
    assert hashlib.sha256(text).hexdigest() in (tmp_path / "agent-docs/skills-list.json").read_text("utf-8")
    assert "(skills/tasks/SKILL.md)" in (tmp_path / "agent-docs/llms-full.txt").read_text("utf-8")
    assert run(*command, "--check").exit_code == 0
    before = stamps_of(tmp_path)
    done(*command)
    assert stamps_of(tmp_path) == before
    skill.write_bytes(text.replace(b"\n", b"\r\n"))
    assert run(*command, "--check").exit_code == 0, "line ends are not content"
    skill.write_text(generated_text, "utf-8")
    done(*command)
    assert {content.decode() == generated_text for content in copies(tmp_path).values()} == {True}


def test_files_next_to_a_skill_are_in_every_copy(tmp_path: Path) -> None:
    """But not hidden ones, and not the expected calls of `eval`; `build` finds them without reading its source."""
    output = {"emit": FORMATS.split(","), "publish": {"domain": "acme.com"}, "install-to": ["claude"]}
    write(tmp_path / "api.json", grouped(tasks=["get_a"]))
    write(tmp_path / "skillgen.yaml", {"targets": {"api": {"source": {"openapi": "api.json"}, **output}}})
    done("build")
    skill = tmp_path / "agent-docs/skills/tasks"
    contents = {
        "assets/plan.bin": b"\0\r\n\xff",
        "assets/hint.md": b"# Hint\r\n",
        "evals/evals.json": b"{}",
        ".x": b"x",
    }
    for name, content in contents.items():
        (skill / name).parent.mkdir(exist_ok=True)
        (skill / name).write_bytes(content)
    assert run("build", "--check").exit_code == 1
    done("build")
    for folder in (tmp_path / "agent-docs/plugin/skills/tasks", tmp_path / ".claude/skills/tasks"):
        found = {name: text for name, text in files_of(folder).items() if name in contents}
        assert found == {name: contents[name] for name in ("assets/hint.md", "assets/plan.bin")}
    (archive,) = (tmp_path / "agent-docs/well-known").rglob("*.zip")
    assert {*contents} & {*zipfile.ZipFile(archive).namelist()} == {"assets/hint.md", "assets/plan.bin"}
    assert "assets/plan.bin" in (tmp_path / "agent-docs/skills-list.json").read_text("utf-8")
    assert run("build", "--check").exit_code == 0
    (skill / "assets/plan.bin").unlink()
    done("build")
    assert not [*tmp_path.rglob("plan.bin")]


def test_lines_of_people_are_in_the_archives_of_a_domain(tmp_path: Path) -> None:
    """Above several services, after one of them was edited; also in a file of the references."""
    path = servers(tmp_path, a=server(tmp_path / "a.py", "a"), b=server(tmp_path / "b.py", "b"))
    command = ["from-server", "--config", path, "--emit", "skill,well-known", "--publish", "domain=acme.com"]
    done(*command)
    skill = tmp_path / "agent-docs/a/skills/a/SKILL.md"
    skill.write_text(f"{skill.read_text('utf-8')}\n{MINE}\n", "utf-8")
    assert run(*command, "--check").exit_code == 1
    done(*command)
    shipped = [name for name, text in copies(tmp_path / "agent-docs").items() if MINE.encode() in text]
    assert shipped == [
        "a/skills/a/SKILL.md",
        "a/well-known/agent-skills/a/SKILL.md",
        "well-known/agent-skills/a/SKILL.md",
    ]
    assert run(*command, "--check").exit_code == 0


def test_an_edit_error_shows_only_what_would_be_lost(tmp_path: Path) -> None:
    write(tmp_path / "api.json", description())
    done("from-openapi", "api.json")
    skill = tmp_path / "agent-docs/skills/tasks/SKILL.md"
    text = skill.read_text("utf-8").replace("## How to Call", "## How I Call").replace("name: tasks\n", "name: mine\n")
    text = text.replace("\n---\n", "\nowner: me\n---\n", 1).replace("\n# Tasks\n", f"\n# Tasks\n\n{MINE}\n")
    skill.write_text(f"{text}\n{BLOCK}\n", "utf-8")
    finished = run("from-openapi", "api.json", "--install", "claude")
    assert (finished.exit_code, Path(".claude").exists()) == (4, False)
    assert [line for line in finished.stderr.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")] == [
        "-name: tasks", "+name: mine", "-## How to Call", "+## How I Call",
    ]  # fmt: skip
