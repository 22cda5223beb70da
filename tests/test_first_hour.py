"""The first hour of four kinds of new user, as README.md leads them: what is printed, and that nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli import files_of, run_skillgen
from descriptions import BOOKS, write
from documents import skill_in
from listed import program

SERVER = """\
from mcp.server import MCPServer

server = MCPServer('depot', instructions='Lends drills and ladders of a neighbourhood.')


@server.tool()
def lend_tool(name: str, days: int = 7) -> str:
    "Lend a tool."
    return 'done'


@server.tool()
def delete_reader(reader_id: int) -> str:
    "Delete a reader."
    return 'done'


def main():
    server.run()
"""
PYPROJECT = """\
[project]
name = "depot"
version = "1.10"
description = "Lends tools"
urls = {Homepage = "https://depot.example"}

[project.scripts]
"""
DRAFTED = (
    "Lends the tools of a depot, keeps track of who has them, and deletes readers who left. Use when the user wants to "
    "borrow a drill or a ladder, to return a tool, or to remove a reader of the depot."
)


def run(folder: Path, exit_code: int, *words: object, **more: Any) -> str:
    """Runs skillgen, which must end with an exit code, and returns its messages."""
    finished = run_skillgen(*words, cwd=folder, **more)
    assert finished.exit_code == exit_code, (words, finished.stderr)
    assert "Traceback" not in finished.stderr
    return finished.stderr + finished.stdout


def targets(project: Path) -> Any:
    return yaml.safe_load((project / "skillgen.yaml").read_text("utf-8"))["targets"]


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)


@pytest.mark.slow
def test_the_author_of_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a repository to documents that are up to date, drafted and published."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    code = tmp_path / "src" / "depot" / "serving.py"
    code.parent.mkdir(parents=True)
    code.write_text(SERVER, "utf-8")
    (tmp_path / "pyproject.toml").write_text(f'{PYPROJECT}depot-mcp = "depot.serving:main"\n', "utf-8")
    said = run(tmp_path, 0, "init", "--ci", "github")
    assert "found an MCP server in pyproject.toml, script depot-mcp: target depot-mcp\n  first: install the" in said
    assert "wrote .github/workflows/skillgen.yml: set the variable SKILLGEN" in said
    assert "next: skillgen build, then skillgen draft --agent COMMAND" in said
    assert targets(tmp_path)["depot-mcp"] == {
        "source": {"command": ["depot-mcp"]},
        "version": "1.10",
        "homepage": "https://depot.example",
        "publish": {"command": ["uvx", "--from", "depot", "depot-mcp"]},
    }
    assert "# description: Lends tools. Use when" in (tmp_path / "skillgen.yaml").read_text("utf-8")
    assert "depot-mcp: The command does not exist. It was searched on PATH, without a .venv.\n  try: Install it" in run(
        tmp_path, 3, "build"
    )
    start = f"import sys; sys.path.insert(0, {str(tmp_path / 'src')!r}); from depot.serving import main; main()"
    script(tmp_path / ".venv" / "bin" / "depot-mcp", f"#!{sys.executable}\n{start}\n")
    (tmp_path / ".venv" / "pyvenv.cfg").touch()

    said = run(tmp_path, 0, "build")
    assert "depot: 2 tools, 3 parameters; 5 files in agent-docs, 5 created;" in said
    assert "inferred: effects of 2 tools; declare them in skillgen.yaml (tools): lend_tool, delete_reader\n" in said
    skill = skill_in(tmp_path / "agent-docs")
    assert skill.count("Lends drills and ladders of a neighbourhood.") == 1
    assert ("version: '1.10'\n" in skill, '"depot-mcp"' in skill) == (True, True)
    run(tmp_path, 0, "build", "--check")
    said = run(tmp_path, 0, "lint")
    assert "lend_tool declares no effects" in said
    assert "fix: declare annotations: readOnlyHint, destructiveHint" in said

    page = tmp_path / "agent-docs" / "skills" / "depot" / "SKILL.md"
    page.write_text(f"{skill}\nAsk Ada for the key.\n", "utf-8")
    run(tmp_path, 0, "build")
    page.write_text(page.read_text("utf-8").replace("Lend a tool.", "Lend anything."), "utf-8")
    edited = page.read_bytes()
    said = run(tmp_path, 4, "build")
    assert ("+Lend anything." in said, "discard the edits with --force, an option of the command" in said) == (
        True,
        True,
    )
    assert page.read_bytes() == edited
    run(tmp_path, 0, "build", "--force")
    assert page.read_text("utf-8") == f"{skill}\nAsk Ada for the key.\n"

    code.write_text(SERVER.replace("Lend a tool.", "Lend a tool for some days."), "utf-8")
    said = run(tmp_path, 1, "build", "--check")
    assert "+++ b/agent-docs/skills/depot/SKILL.md\n" in said
    assert "the documents are not up to date: run skillgen build\n" in said
    assert "documents were written: add them to the commit" in run(tmp_path, 1, "build", "--fail-on-change")
    run(tmp_path, 0, "build", "--fail-on-change")

    (tmp_path / "agent.py").write_text(f"print({json.dumps({'description': DRAFTED})!r})\n", "utf-8")
    agent = f"{sys.executable} {tmp_path / 'agent.py'}"
    assert "nobody can be asked\n  try: add --yes" in run(tmp_path, 2, "draft", "--agent", agent)
    run(tmp_path, 0, "draft", "--agent", agent, "--yes")
    assert targets(tmp_path)["depot-mcp"]["description"] == DRAFTED
    emit = ("--emit", "skill,server-json,plugin", "--publish", "namespace=com.depot")
    said = run(tmp_path, 0, "build", *emit)
    assert "published-without: server.json: clients that start a package by its name alone do not find dep" in said
    assert DRAFTED in " ".join(skill_in(tmp_path / "agent-docs").split())
    published = json.loads((tmp_path / "agent-docs" / "server.json").read_text("utf-8"))
    assert (published["version"], published["websiteUrl"]) == ("1.10", "https://depot.example")
    assert published["packages"][0]["runtimeArguments"][0]["value"] == "depot==1.10"
    plugin = json.loads((tmp_path / "agent-docs" / "plugin" / "mcp.json").read_text("utf-8"))
    assert [entry["command"] for entry in plugin["mcpServers"].values()] == ["uvx"], "--publish replaces one key"

    before = files_of(tmp_path)
    said = run(tmp_path, 0, "init")
    assert "skillgen.yaml already exists and was not changed\n" in said
    assert ("found" in said, "depot-mcp:" in said) == (False, False), "it is a target"
    assert files_of(tmp_path) == before


ORDERS = {
    "/orders/{orderId}": {
        "get": {
            "operationId": "read_order_orders__orderId__get",
            "summary": "Read Order",
            "parameters": [{"name": "orderId", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "responses": {
                "200": {"description": "Successful Response", "content": {"application/json": {"schema": {}}}}
            },
        },
        "delete": {
            "operationId": "cancel_order_orders__orderId__delete",
            "summary": "Cancel Order",
            "parameters": [{"name": "orderId", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "responses": {"204": {"description": "Successful Response"}},
        },
    }
}


def test_the_author_of_an_application(tmp_path: Path) -> None:
    """Of FastAPI, which generates what its author does not declare."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "api.txt").write_text(json.dumps({**BOOKS, "servers": [], "paths": ORDERS}), "utf-8")
    application = (
        "class FastAPI:\n    def openapi(self):\n        import json\n        return json.load(open('api.txt'))\n"
    )
    (tmp_path / "fastapi.py").write_text(application, "utf-8")
    (tmp_path / "shop" / "main.py").write_text("from fastapi import FastAPI\n\napi = FastAPI()\n", "utf-8")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\ndependencies = ["fastapi"]\n', "utf-8")
    assert "found a FastAPI application in shop/main.py: target shop\n" in run(tmp_path, 0, "init")
    assert targets(tmp_path)["shop"]["source"]["openapi-command"][1] == "-c"
    said = run(tmp_path, 0, "build")
    assert "declared; a placeholder does not count (declare it under `servers`, or set the option `base-url`)" in said
    skill = skill_in(tmp_path / "agent-docs")
    assert ("Returns (200)" in skill, "Returns (204)" in skill) == (False, True), "a success alone says nothing"
    said = run(tmp_path, 0, "lint")
    assert "name-repeats-request (2 times)" in said
    assert "in FastAPI, pass a `generate_unique_id_function` that returns `route.name`" in said
    text = json.dumps({**BOOKS, "paths": ORDERS}).replace("_orders__orderId__get", "")
    (tmp_path / "api.txt").write_text(text.replace("_orders__orderId__delete", ""), "utf-8")
    assert "name-repeats-request" not in run(tmp_path, 0, "lint")
    assert "# `read_order: added`\n" in run(tmp_path, 1, "build", "--check")
    run(tmp_path, 0, "build")
    assert "## read_order\n" in skill_in(tmp_path / "agent-docs")


def test_the_author_of_a_description(tmp_path: Path) -> None:
    """Of a file that is written by hand, with its mistakes."""
    file, text = tmp_path / "openapi.yaml", yaml.safe_dump(BOOKS, sort_keys=False)
    file.write_text(text, "utf-8")
    assert "found an OpenAPI description in openapi.yaml: target books\n" in run(tmp_path, 0, "init")
    assert "the documents are not up to date: run skillgen build" in run(tmp_path, 1, "build", "--check")
    assert not (tmp_path / "agent-docs").exists()
    run(tmp_path, 0, "build")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    (tmp_path / "notes.yaml").write_text("a: 1\n", "utf-8")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "a"], ["tag", "v1.0"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    documents = files_of(tmp_path / "agent-docs")
    file.write_text(text.replace("info:", "info"), "utf-8")
    said = run(tmp_path, 3, "build")
    assert "books: not built\nskillgen: error: openapi.yaml: is not YAML: line 3, column 8: " in said
    file.write_text(text.replace("type: integer", "{type: integer, maximum: 10}"), "utf-8")
    assert files_of(tmp_path / "agent-docs") == documents
    said = run(tmp_path, 0, "diff", "v1.0:openapi.yaml", "openapi.yaml")
    assert "- breaking: `list_books: parameter limit: maximum" in said
    assert "error: v1.0:notes.yaml: is not an OpenAPI" in run(tmp_path, 3, "diff", "v1.0:notes.yaml", "openapi.yaml")
    assert "/limt: is not a parameter; did you mean limit?" in run(
        tmp_path, 2, "call", "openapi.yaml", "list_books", "limt=3"
    )
    for mistake in ("--target bookz", "--emit skil", "--emit skill --emit llms"):
        run(tmp_path, 2, "build", *mistake.split())
    project = tmp_path / "skillgen.yaml"
    project.write_text(project.read_text("utf-8").replace("    # emit", "    emitt"), "utf-8")
    assert "targets.books.emitt: no such key\n  try: did you mean emit?" in run(tmp_path, 2, "build")
    assert files_of(tmp_path / "agent-docs") == documents


HELP = """\
case "$*" in
  --help) cat <<END;;
usage: lamp COMMAND

Turns lamps on. Run 'lamp COMMAND --help' for more.

commands:
  on   Turn a lamp on
  off  Turn a lamp off
END
  'on --help') printf 'usage: lamp on [--level N]\\n\\nTurn a lamp on\\n\\noptions:\\n  --level N  how bright\\n';;
  'off --help') printf 'usage: lamp off\\n\\nTurn a lamp off\\n';;
  *) exit 2;;
esac
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_the_author_of_a_program_and_the_user_of_another(tmp_path: Path) -> None:
    package = tmp_path / "src" / "depot"
    package.mkdir(parents=True)
    scripts = 'depot = "depot.main:run"\nother = "elsewhere:main"\n'
    (tmp_path / "pyproject.toml").write_text(PYPROJECT + scripts, "utf-8")
    (package / "__init__.py").touch()
    (package / "main.py").write_text("from depot.cli import app\n\ndef run():\n    app()\n", "utf-8")
    (package / "cli.py").write_text("import click\n\n@click.command()\ndef app():\n    'Open it.'\n", "utf-8")
    assert "found a program in pyproject.toml, script depot: target depot\n" in run(tmp_path, 0, "init")
    source = {"cli": "depot.main:run", "program": "depot", "env": {"PYTHONPATH": "src"}}
    assert targets(tmp_path)["depot"]["source"] == source
    assert "depot: 1 tool, 0 parameters; 5 files in agent-docs, 5 created" in run(tmp_path, 0, "build")
    python = {"PYTHONPATH": f"{tmp_path / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    for words, message in {
        ("depot.clii:app",): "there is no module 'depot.clii' (read with ",
        ("depot.cli:apx",): "has no 'apx' (read with ",
    }.items():
        assert message in run(tmp_path, 3, "from-cli", *words, "-o", "other", env=python)
    assert not (tmp_path / "other").exists()

    script(tmp_path / "bin" / "lamp", f"#!/bin/sh\n{HELP}")
    path = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    assert "try: write acme.cli:app, or --command NAME" in run(tmp_path, 2, "from-cli", "lamp", env=path)
    said = run(tmp_path, 2, "from-cli", "--command", "lamp", env=path)
    assert "agent-docs: holds the documents of another service, 'depot', not those of 'lamp'" in said
    said = run(tmp_path, 0, "from-cli", "--command", "lamp", "-o", "docs/lamp", "--install", "agents", env=path)
    assert "lamp: installed; 1 file in .agents/skills/lamp, 1 created\n" in said
    assert "lamp: 2 tools, with help as printed; 5 files in docs/lamp, 5 created" in said
    assert "  --level N  how bright\n" in skill_in(tmp_path / "docs/lamp")
    run(package, 0, "from-cli", "--command", "lamp", "-o", tmp_path / "docs/lamp", env=path)
    script(tmp_path / "bin" / "lamp", f"#!/bin/sh\n{HELP}".replace("off", "out"))
    said = run(tmp_path, 0, "update", "docs/lamp", env=path)
    assert "- breaking: `off: removed`" in said
    assert "- `out: added`" in said


TOOL = '{"name": "list_" + NAME, "description": "List " + NAME + ".", "inputSchema": {"type": "object"}}'
NAMES = ("books", "cars", "films", "invoices", "notes", "plants", "ships", "songs")


def test_the_user_of_ten_servers_by_others(tmp_path: Path) -> None:
    """Two of them cannot be started, and one is off."""
    (tmp_path / "many.py").write_text(program(f"[{TOOL}]", "sys.argv[1]"), "utf-8")
    entry: dict[str, Any] = {"command": sys.executable, "env": {"API_KEY": "uX9-kq72Lm-secret"}}
    servers = {name: {**entry, "args": [str(tmp_path / "many.py"), name]} for name in NAMES}
    servers |= {"gone": {"command": "no-such-server"}, "off": {"command": "nothing", "disabled": True}}
    servers["remote"] = {"type": "http", "url": "http://127.0.0.1:9/mcp", "headers": {"X-Key": "${NO_SUCH_KEY}"}}
    config = write(tmp_path / ".mcp.json", {"mcpServers": servers})
    said = run(tmp_path, 3, "from-server", "--config", ".mcp.json")
    assert "error: server 'gone' (no-such-server): The command does not exist. It was searched on PATH" in said
    assert "server 'remote': NO_SUCH_KEY is not set\n  try: set it, or give --env NO_SUCH_KEY=VALUE\n" in said
    assert said.count("description-inferred: books, cars, films and 5 more: ") == 1
    assert said.count("description-inferred") == 1
    assert "inferred: effects of 8 tools; declare them with --effect: " in said
    assert [name for name in NAMES if f"{name}: 1 tool, 0 parameters; 5 files in agent-docs/{name}," not in said] == []
    assert "it names the services of this run, books, cars, films" in said
    written = files_of(tmp_path / "agent-docs")
    assert {name.partition("/")[0] for name in written} == {*NAMES, "llms.txt", ".skillgen.json"}
    assert b"uX9-kq72Lm" not in b"".join(written.values())

    for words in (("npx", "-y", "tools"), ("--timeout", "5", "npx", "-y", "tools")):
        assert "skillgen from-server -- npx …" in run(tmp_path, 2, "from-server", *words)
    chosen = ("from-server", "--config", ".mcp.json", "--server")
    assert "--server: is given more than once\n  try: give it once" in run(tmp_path, 2, *chosen, "a", "--server", "b")
    for options in ([], ["--check"]):
        assert "agent-docs: holds the documents of another service" in run(tmp_path, 2, *chosen, "books", *options)
    run(tmp_path, 0, *chosen, "books", "-o", "agent-docs/books", "--check")
    assert files_of(tmp_path / "agent-docs") == written

    kept = {name: servers[name] for name in NAMES if name != "songs"}
    write(config, {"mcpServers": kept})
    said = run(tmp_path, 0, "update")
    assert "documents-left: agent-docs/songs: no target or server writes these documents" in said
    assert "songs" not in (tmp_path / "agent-docs" / "llms.txt").read_text("utf-8")
    assert files_of(tmp_path / "agent-docs" / "songs")
    run(tmp_path, 0, "from-server", "--config", ".mcp.json", "--check")
    said = run(tmp_path, 0, "init")
    assert "found the server 'books' in .mcp.json: target books\n" in said
    assert "found documents that skillgen update renews: agent-docs\n" in said
    assert [*targets(tmp_path)] == [*kept]
