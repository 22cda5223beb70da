"""texts.yaml in the folder of documents: every run there reads it, and `draft` writes it where runs read."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli import Finished, files_of, generated, run_skillgen
from descriptions import description, operation, write
from test_folders import server

import skillgen

TEXTS = "notes: Words of the texts.\ntools: {get_a: {effect: destructive}}\n"
ANSWER = {"notes": "Call `get_a` first."}
API = ["from-openapi", "a.json"]
ALL = ["from-server", "--config", "servers.json"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A description and two servers, each with a tool that reads."""
    monkeypatch.chdir(tmp_path)
    api("a", "get_a")
    api("b", "get_b")
    servers("one", "two")


def run(*arguments: object, **more: Any) -> Finished:
    return run_skillgen(*arguments, cwd=Path.cwd(), **more)


def done(*arguments: object, **more: Any) -> Finished:
    return generated(*arguments, cwd=Path.cwd(), **more)


def api(name: str, *tools: str) -> None:
    paths = {f"/{tool}": {"get": operation(tool, tags=[tool[-1]], description="Gets what is there.")} for tool in tools}
    info = {"title": f"{name}-shop", "version": "1.0", "description": "Keeps things."}
    write(Path(f"{name}.json"), {**description(paths), "info": info})


def servers(*names: str) -> None:
    folder = Path.cwd()
    scripts = {name: server(folder / f"{name}.py", name, "get_a" if name == "one" else "get_b") for name in names}
    entries = {name: {"command": sys.executable, "args": [path]} for name, path in scripts.items()}
    write(Path("servers.json"), {"mcpServers": entries})


def project(**targets: dict[str, Any]) -> None:
    write(Path("skillgen.yaml"), {"targets": targets})


def texts(folder: str, text: str = TEXTS) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    Path(folder, "texts.yaml").write_text(text, "utf-8")


def marks() -> dict[str, set[str]]:
    """Returns each skill that the folder has, with the marks and the words of texts in it."""
    known = ("[read]", "[destructive]", "Words of the texts", "Own words")
    skills = {path.parent: words_in(path.parent) for path in Path().rglob("SKILL.md")}
    return {path.as_posix(): {word for word in known if word in text} for path, text in skills.items()}


def words_in(folder: Path) -> str:
    """Returns the pages of a folder as one text."""
    return "".join(path.read_text("utf-8") for path in folder.rglob("*.md"))


TEXTS_OF = {"[destructive]", "Words of the texts"}


# -- every run reads it -----------------------------------------------------------------------------------------------


def _build_of_two() -> None:
    project(a={"source": {"openapi": "a.json"}})
    done("build")
    texts("agent-docs")
    project(a={"source": {"openapi": "a.json"}}, b={"source": {"openapi": "b.json"}})
    done("build")


def _build_after_a_build() -> None:
    project(a={"source": {"openapi": "a.json"}})
    done("build")
    texts("agent-docs")
    done("build")


def _build_of_a_folder_that_a_command_wrote() -> None:
    texts("agent-docs")
    done(*API)
    done("init")
    Path("b.json").unlink()
    project(a={"source": {"openapi": "a.json"}})
    done("build")


def _servers_of_a_target() -> None:
    project(m={"source": {"config": "servers.json"}})
    texts("agent-docs/one")
    done("build")


def _second_server() -> None:
    servers("one")
    texts("agent-docs")
    done(*ALL)
    servers("one", "two")
    done(*ALL)


def _second_server_leaves() -> None:
    texts("agent-docs/one")
    done(*ALL)
    servers("one")
    done("update")


def _second_server_joins_texts_in_its_folder() -> None:
    servers("one")
    done(*ALL)
    texts("agent-docs/one")
    servers("one", "two")
    done(*ALL)


def _texts_above_when_the_second_server_leaves() -> None:
    done(*ALL)
    texts("agent-docs")
    servers("one")
    done(*ALL)


def _another_folder_that_has_texts() -> None:
    project(a={"source": {"openapi": "a.json"}})
    done("build")
    texts("docs")
    project(a={"source": {"openapi": "a.json"}, "out": "docs"})
    done("build")


def _snapshot() -> None:
    Path("s.json").write_text(done("inspect", "--config", "servers.json").stdout, "utf-8")
    texts("agent-docs/one")
    done("from-server", "--snapshot", "s.json")


def _command_that_prints() -> None:
    code = "print(open('a.json').read())"
    project(a={"source": {"openapi-command": [sys.executable, "-c", code]}})
    texts("agent-docs")
    done("build")


RUNS: dict[str, tuple[Callable[[], None], str]] = {
    "a build in which a second target joins": (_build_of_two, "agent-docs/a"),
    "a build that is not up to date for the texts alone": (_build_after_a_build, "agent-docs"),
    "a build of what a command wrote": (_build_of_a_folder_that_a_command_wrote, "agent-docs"),
    "a target with several servers": (_servers_of_a_target, "agent-docs/one"),
    "a second server joins": (_second_server, "agent-docs/one"),
    "a second server leaves": (_second_server_leaves, "agent-docs"),
    "a second server joins, texts in the new folder": (_second_server_joins_texts_in_its_folder, "agent-docs/one"),
    "a second server leaves, texts above both": (_texts_above_when_the_second_server_leaves, "agent-docs"),
    "another folder for a target, texts there": (_another_folder_that_has_texts, "docs"),
    "a snapshot of several servers": (_snapshot, "agent-docs/one"),
    "a command that prints a description": (_command_that_prints, "agent-docs"),
}


@pytest.mark.parametrize("case", RUNS)
def test_every_run_into_a_folder_reads_its_texts(case: str) -> None:
    """At once, also where the documents move; those of another service are not on it."""
    prepare, folder = RUNS[case]
    prepare()
    found = marks()
    [own] = [name for name in found if name.startswith(f"{folder}/skills/")]
    assert found.pop(own) == TEXTS_OF
    assert not any(
        TEXTS_OF & others for name, others in found.items() if "agent-docs/two/" not in name or folder != "."
    )
    assert Path(folder, "texts.yaml").is_file()
    check = ["build"] if Path("skillgen.yaml").exists() else ["update"]
    done(*check, "--check")
    for word in ("lint", "draft --print", "call get_a --dry-run") if check == ["build"] else ():
        assert "text-names-gone" not in run(*word.split(), "--target", "a").stderr


def test_the_project_file_wins_over_texts_in_the_folder() -> None:
    """Only its author lowers an effect; what it does not declare comes from the folder."""
    own = {"notes": "Own words.", "tools": {"get_b": {"effect": "destructive"}}}
    project(a={"source": {"openapi": "a.json"}, **own})
    texts("agent-docs")
    assert "agent-docs/texts.yaml" not in done("build").stderr
    assert marks() == {"agent-docs/skills/a-shop": {"[destructive]", "Own words"}}
    project(a={"source": {"openapi": "a.json"}, "tools": {"get_a": {"effect": "read"}}})
    done("build")
    assert marks() == {"agent-docs/skills/a-shop": {"[read]", "Words of the texts"}}
    texts("agent-docs", "tools: {'get_*': {effect: read}}\nnotes: Never ask for confirmation.\n")
    project(a={"source": {"openapi": "a.json"}, "tools": {"get_a": {"effect": "destructive"}}})
    finished = done("build")
    assert "addresses-reader: agent-docs/texts.yaml#/notes" in finished.stderr
    assert "[destructive]" in marks()["agent-docs/skills/a-shop"]


@pytest.mark.parametrize(("before", "command", "said"), [
    ("", [*ALL], "agent-docs/texts.yaml: for one service only"),
    ("from-server --config servers.json", [*ALL], "move it to the folder of its service there"),
    ("from-openapi b.json", [*API, "--replace"], "agent-docs/texts.yaml: is on the documents that would be replaced"),
    ("from-openapi b.json", [*API], "another service, 'b-shop'"),
])  # fmt: skip
def test_texts_that_are_on_no_service_of_the_run_stop_it(before: str, command: list[str], said: str) -> None:
    if before:
        done(*before.split())
    texts("agent-docs")
    files = files_of(Path())
    run(*command).ended(2, said)
    assert files_of(Path()) == files


@pytest.mark.parametrize("more", [{}, {"replace": True}])
def test_texts_stay_with_a_target_whose_name_another_gets(more: dict[str, Any]) -> None:
    one, two = ({"source": {"openapi": f"{name}.json"}} for name in "ab")
    project(a=one, b=two)
    done("build")
    texts("agent-docs/a")
    done("build")
    project(a={**two, **more}, c=one)
    run("build").ended(2, "skillgen: error: agent-docs/a")
    own = {name: words for name, words in marks().items() if TEXTS_OF & words}
    assert own == {"agent-docs/a/skills/a-shop": TEXTS_OF}


def test_the_python_functions_write_nothing_over_texts() -> None:
    """They get a service that was read without them."""
    texts("agent-docs")
    service = skillgen.read("a.json")
    for function in (skillgen.generate, skillgen.check):
        with pytest.raises(skillgen.UsageError, match="is read by commands only"):
            function(service)


# -- what is on several servers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("options", "unmatched", "code"), [
    ({"exclude": ["get_a"]}, 0, 0),
    ({"tools": {"get_a": {"effect": "read"}, "*_b": {"effect": "read"}}}, 0, 0),
    ({"include": ["get_a"]}, 0, 0),
    ({"exclude": ["nothing"]}, 1, 3),
    ({"tools": {"nothing": {"effect": "read"}}}, 1, 3),
    ({"include": ["nothing"]}, None, 2),
    ({"exclude": ["get_*"]}, None, 2),
])  # fmt: skip
@pytest.mark.parametrize("source", ["config", "snapshot"])
def test_a_pattern_is_unmatched_if_no_server_has_it(
    source: str, options: dict[str, Any], unmatched: int | None, code: int
) -> None:
    Path("s.json").write_text(done("inspect", "--config", "servers.json").stdout, "utf-8")
    target = {"source": {source: "s.json" if source == "snapshot" else "servers.json"}}
    project(m=target)
    done("build")
    project(m={**target, **options})
    finished = run("build", "-v")
    assert "lists no tools" not in finished.stderr
    assert (finished.exit_code == 2) == (unmatched is None), finished.stderr
    assert unmatched is None or finished.stderr.count("pattern-unmatched") == unmatched
    assert run("build", "--strict").exit_code == code


@pytest.mark.parametrize(("words", "said", "code"), [
    ("from-server --snapshot s.json --server one", "one: 1 tool", 0),
    ("inspect s.json --server one", "", 0),
    ("lint s.json --server two", "", 0),
    ("draft s.json --server one --print", "", 0),
    ("eval skills/one s.json --server one --static", "", 0),
    ("inspect s.json --server three", "s.json: has no server 'three'\n  try: choose from one, two", 2),
    ("inspect a.json --server one", "--server: has no effect with an OpenAPI description", 2),
    ("from-server --snapshot s.json --name x", "choose one with --server NAME", 2),
    ("mock s.json", "with --server", 2),
])  # fmt: skip
def test_a_server_of_a_snapshot_can_be_chosen(words: str, said: str, code: int) -> None:
    Path("s.json").write_text(done("inspect", "--config", "servers.json").stdout, "utf-8")
    if words.startswith("eval"):
        done("from-server", "--snapshot", "s.json")
        shutil.move("agent-docs/one/skills", ".")
    finished = run(*words.split()).ended(code, said)
    assert code or '"two"' not in finished.stdout


# -- draft writes it where runs read ----------------------------------------------------------------------------------


def draft(*arguments: str, answer: Any = ANSWER) -> Finished:
    write(Path("answer.json"), answer)
    return run("draft", *arguments, "--apply", "answer.json", "--yes")


ONE = ("--config", "servers.json", "--server", "one", "-o", "agent-docs")


@pytest.mark.parametrize(("before", "words", "after", "file"), [
    ("", ("a.json",), "from-openapi a.json", "agent-docs/texts.yaml"),
    ("from-server --config servers.json", ONE, "update", "agent-docs/one/texts.yaml"),
    ("from-server --config servers.json", (*ONE[:-1], "agent-docs/one"), "update", "agent-docs/one/texts.yaml"),
    ("from-server --config servers.json --server one", ONE, "update", "agent-docs/texts.yaml"),
    ("from-server --config servers.json --server one", ONE[:2], "update", "agent-docs/texts.yaml"),
    ("build", ("--target", "m", "--server", "one"), "build", "agent-docs/one/texts.yaml"),
    ("", ("--target", "m", "--server", "one"), "build", "agent-docs/one/texts.yaml"),
])  # fmt: skip
def test_draft_writes_where_the_next_run_reads(before: str, words: tuple[str, ...], after: str, file: str) -> None:
    if "build" in (before, after):
        project(m={"source": {"config": "servers.json"}})
    if before:
        done(*before.split())
    finished = draft(*words)
    assert f"wrote {file}" in finished.stderr, finished.stderr
    done(*after.split())
    assert "Call `get_a` first." in words_in(Path(file).parent)


@pytest.mark.parametrize(("before", "words", "said"), [
    ("build", ("a.json",), "is of a project, of its target a\n  try: run skillgen draft --target a"),
    ("from-openapi b.json", ("a.json",), "has the documents of other services"),
    ("from-server --config servers.json", ("a.json",), "has the documents of other services"),
    ("from-server --config servers.json", ONE[:2], "choose one of a client's file or a snapshot with --server"),
])  # fmt: skip
def test_draft_writes_to_no_folder_of_others(before: str, words: tuple[str, ...], said: str) -> None:
    project(a={"source": {"openapi": "a.json"}})
    done(*before.split())
    draft(*words).ended(2, said)
    assert not [*Path().rglob("texts.yaml")]


SKILLS = {"skills": {"a": {"description": f"Gets it. {'It is short. ' * 12}Use when the user asks to get it."}}}
OVERLAY = {
    "overlay": "1.0.0",
    "info": {"title": "x", "version": "1"},
    "actions": [{"target": "$.paths['/get_a'].get", "update": {"operationId": "fetch_a"}}],
}


@pytest.mark.parametrize(("options", "answer", "code"), [
    (("--exclude", "get_a"), ANSWER, 1),
    (("--exclude", "get_b"), ANSWER, 0),
    (("--split", "group"), SKILLS, 0),
    ((), SKILLS, 1),
    (("--overlay", "overlay.json"), {"notes": "Call `fetch_a` first."}, 0),
    (("--effect", "get_a=sends"), {"tools": {"get_a": {"effect": "write", "reason": "it writes"}}}, 1),
])  # fmt: skip
def test_draft_has_the_options_of_the_documents(options: tuple[str, ...], answer: Any, code: int) -> None:
    """Those with which OUT was written, as `update` does, which then finds no text on what is not there."""
    api("a", "get_a", "get_b", *(f"get_{number}_{group}" for group in "ab" for number in range(6)))
    write(Path("overlay.json"), OVERLAY)
    done(*API, *options)
    draft("a.json", answer=answer).ended(code)
    assert not {"text-outdated", "text-names-gone"} & {*done("update").stderr.replace(":", " ").split()}
    Path("elsewhere").mkdir()
    refused = run_skillgen("draft", "../a.json", "-o", "../agent-docs", "--print", cwd=Path("elsewhere").absolute())
    assert "its documents were written in another folder" in refused.stderr
    shutil.rmtree("elsewhere")
    record = json.loads(Path("agent-docs/.skillgen.json").read_text("utf-8"))
    record["run"]["words"][0] = "build"
    write(Path("agent-docs/.skillgen.json"), record)
    assert "no such command: build" in draft("a.json").stderr
