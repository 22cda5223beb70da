"""Every command line that README.md and the pages of docs/ show is run, in one project, in the order of the pages."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from cli import ROOT, environment, files_of, generated, run_python, run_skillgen
from descriptions import description, write
from listed import program
from test_folders import PROGRAM, server
from test_mock import serving

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

ELSEWHERE = {
    "uv tool install .": "test_hooks installs the project",
    "--login": "test_login has a browser and an authorization server",
    "env:TOKEN": "test_crawl_over_http sends headers",
    "https://api.example.com": "test_openapi_ways_in finds descriptions",
}
"""Parts of lines that are not run here, with the test of what they do."""

FAILING = {"--agent ./agent.sh": 1}
"""Exit codes: an agent that does nothing is below the threshold."""

MEMORY = ROOT / "tests/node/node_modules/.bin/mcp-server-memory"

PROGRAMS = {
    **dict.fromkeys(("claude", "codex", "llm", "ollama"), "#!/bin/sh\ncat > /dev/null\necho '{}'\n"),
    "npx": f"#!/bin/sh\nexec '{MEMORY}'\n",
    "gh": "#!/bin/sh\nprintf 'Reviews pull requests.\\n\\nUsage: gh [flags]\\n\\nFlags:\\n  --help  Shows help\\n'\n",
}
"""Programs that need an account or a network."""

SUM = {"type": "object", "properties": {name: {"type": "integer"} for name in "ab"}}
TOOL = {"name": "get_sum", "description": "Adds two numbers.", "inputSchema": SUM}
SERVER = program(json.dumps([TOOL]), '"sums"')

PET = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "photo": {"type": "string", "format": "binary"},
    },
}
CREATED = {
    "operationId": "createPet",
    "summary": "Creates a pet",
    "requestBody": {"content": {"multipart/form-data": {"schema": PET}}},
    "responses": {"201": {"description": "Created"}},
}


def commands() -> Iterator[tuple[Path, str]]:
    """Yields the page and the text of each command line in a fence of `sh`, without its comment; each line once."""
    seen = set[str]()
    for page in PAGES:
        for language, text in FENCE.findall(page.read_text("utf-8")):
            for line in text.splitlines():
                line = re.sub(r"\s#.*", "", line).strip()
                if language == "sh" and not text.startswith("#!") and line and line not in seen:
                    seen.add(line)
                    yield page, line


def yaml_of_the_readme() -> list[str]:
    return [text for language, text in FENCE.findall(PAGES[0].read_text("utf-8")) if language == "yaml"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yields a folder with all that the lines name, and stand-ins for programs that need an account."""
    folder, programs = tmp_path / "project", tmp_path / "bin"
    for name, text in PROGRAMS.items():
        programs.mkdir(exist_ok=True)
        (programs / name).write_text(text, "utf-8")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join((str(programs), environment()["PATH"])))
    monkeypatch.setenv("SHOP_TOKEN", "of-the-shop")
    for name in ("acme", "shop"):
        (folder / name).mkdir(parents=True)
        program = PROGRAM.format(name=name) + "def build_parser():\n    return app\n"
        (folder / name / "cli.py").write_text(program, "utf-8")
    shutil.copytree(ROOT / "examples/acme-mcp", folder / "examples/acme-mcp")
    (folder / "server.py").write_text(SERVER, "utf-8")
    (folder / "agent.py").write_text("print('{}')\n", "utf-8")
    (folder / "agent.sh").write_text("#!/bin/sh\ncat > /dev/null\n", "utf-8")
    (folder / "agent.sh").chmod(0o755)
    (folder / "answer.json").write_text("{}", "utf-8")
    (folder / "rex.png").write_bytes(b"png")
    (folder / "calls.jsonl").write_text('{"tool": "get_sum", "arguments": {"a": 1}}\n', "utf-8")
    books = folder / ".claude/skills/books/SKILL.md"
    books.parent.mkdir(parents=True)
    books.write_text("---\nname: books\ndescription: Keeps books.\n---\n\nCall `createPet`.\n", "utf-8")
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/python").symlink_to(sys.executable)
    entries = {
        name: {"command": sys.executable, "args": [server(folder / f"{name}.py", name)]} for name in ("github", "depot")
    }
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": entries}), "utf-8")
    info = {"title": "Acme", "version": "1.0", "description": "Keeps pets."}
    api = {**description({"/pets": {"post": CREATED}}), "info": info}
    write(folder / "served.json", api)
    for command, name in ((["acme.cli:app"], "snapshot.json"), (["--", "python", "server.py"], "server.snapshot.json")):
        (folder / name).write_text(generated("inspect", *command, cwd=folder).stdout, "utf-8")
    with serving("served.json", "--http", "0", cwd=folder) as url:
        write(folder / "openapi.yaml", {**api, "servers": [{"url": url}]})
        (folder / "served.json").unlink()
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
        for words in (["init", "-q"], ["add", "openapi.yaml"], ["commit", "-q", "-m", "a"], ["tag", "v1.0"]):
            subprocess.run([*git, *words], cwd=folder, check=True)
        yield folder


@pytest.mark.slow
def test_each_command_of_the_documentation_runs(project: Path) -> None:
    failed: list[str] = []
    last = PAGES[0]
    for page, line in commands():
        if page != last == PAGES[0]:
            (project / "skillgen.yaml").write_text(yaml_of_the_readme()[0], "utf-8")
        last = page
        if not any(part in line for part in ELSEWHERE):
            failed += [f"{page.name}: {line}: {fault}" for fault in faults(line, project)]
    assert failed == [], "\n".join(failed)


def faults(line: str, folder: Path) -> Iterator[str]:
    """Runs a command line as a shell would, and yields how it failed."""
    given, line = re.fullmatch(r"(?:echo '(.*)' \| )?(.*)", line).groups()  # type: ignore[union-attr]
    line, _, output = line.partition(" > ")
    line, _, file = line.partition(" < ")
    words = shlex.split(line)
    if words[1] == "mock" and "--http" in words:
        with serving(*(word.replace("8080", "0") for word in words[2:]), cwd=folder):
            return
    stdin = (folder / file).read_bytes() if file else given
    if words[1] == "draft" and "--apply" not in words:
        words.append("--yes")
    finished = run_skillgen(*words[1:], stdin=stdin, cwd=folder)
    if output:
        (folder / output).write_text(finished.stdout, "utf-8")
    if finished.exit_code != next((code for part, code in FAILING.items() if part in line), 0):
        yield f"exit {finished.exit_code}\n{finished.stderr}"


def test_the_project_of_the_readme_builds_every_target(project: Path) -> None:
    configuration = yaml_of_the_readme()[0]
    (project / "skillgen.yaml").write_text(configuration, "utf-8")
    generated("build", cwd=project)
    written = files_of(project / "agent-docs")
    assert {name.partition("/")[0] for name in written} >= set(yaml.safe_load(configuration)["targets"])


def test_the_python_of_the_readme_runs(project: Path) -> None:
    (code,) = [text for language, text in FENCE.findall(PAGES[0].read_text("utf-8")) if language == "python"]
    run_python("-c", code, cwd=project).ok()


def test_the_documents_in_the_readme_are_those_of_the_example() -> None:
    """They are shortened, so each line is."""
    written = b"".join(files_of(ROOT / "examples/acme-mcp/expected/skills").values()).decode("utf-8").splitlines()
    shown = [text for language, text in FENCE.findall(PAGES[0].read_text("utf-8")) if language == "markdown"]
    assert len(shown) == 2
    assert [line for text in shown for line in text.splitlines() if line not in written] == []


def test_the_readme_is_short() -> None:
    assert len(PAGES[0].read_bytes()) <= 12 * 1024
