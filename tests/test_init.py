"""`skillgen init`: what a project has becomes a project's file that builds at once (issue 6)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli import ROOT, Finished, environment, files_of, generated, run_skillgen
from descriptions import grouped, write
from jsonschema import Draft202012Validator

NODE_SERVER = """\
const lines = require('readline').createInterface({input: process.stdin});
lines.on('line', (line) => {
  const {id, method} = JSON.parse(line);
  if (id === undefined) return;
  const results = {
    initialize: {protocolVersion: '2025-06-18', capabilities: {tools: {}}, serverInfo: {name: 'nodes', version: '1'}},
    'tools/list': {tools: [{name: 'count', description: 'Counts.', inputSchema: {type: 'object'}}]},
  };
  const answer = results[method] ? {result: results[method]} : {error: {code: -32601, message: 'no such method'}};
  console.log(JSON.stringify({jsonrpc: '2.0', id, ...answer}));
});
"""


def init(project: Path, *options: str) -> Finished:
    return generated("init", *options, cwd=project)


def targets(project: Path) -> dict[str, Any]:
    text = (project / "skillgen.yaml").read_text("utf-8")
    found: dict[str, Any] = yaml.safe_load(text)["targets"]
    return found


def builds(project: Path) -> set[str]:
    """Builds, and returns the names of the tools that are documented."""
    generated("build", "--json", cwd=project)
    assert run_skillgen("build", "--check", cwd=project).exit_code == 0
    records = [json.loads(path.read_text("utf-8")) for path in project.rglob(".skillgen.json")]
    return {name for record in records for name in record["tools"]}


# -- what a project has ----------------------------------------------------------------------------------------------


GET = {"summary": "List the goods", "responses": {}}
API = {"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "paths": {"/g": {"get": GET}}}
VARIABLES = ("${HOME}", "$${HOME}", "$$${HOME}")
NAMES = (*VARIABLES, "a: b", "a #b", "- a", "'\"", "a\u2028b", "a\x85b", "a\nb: c", "é", "*a", "!a")


@pytest.mark.parametrize("name", NAMES)
def test_a_project_file_names_any_file_that_is_utf_8(name: str, tmp_path: Path) -> None:
    write(tmp_path / f"{name}.json", API)
    init(tmp_path)
    generated("build", cwd=tmp_path, env={"HOME": "/nowhere"})


@pytest.mark.parametrize(
    "start", ["if __name__ == '__main__':\n    server.run()", "server.run()", "asyncio.run(main())"]
)
def test_a_module_that_serves_when_it_is_run_is_found(start: str, tmp_path: Path) -> None:
    text = f"import asyncio\nfrom mcp.server.fastmcp import FastMCP\nserver = FastMCP('depot')\n{start}\n"
    (tmp_path / "server.py").write_text(text, "utf-8")
    init(tmp_path)
    assert targets(tmp_path) == {"server": {"source": {"command": ["python", "server.py"]}}}
    assert (tmp_path / ".pre-commit-config.yaml").exists()


CREATES = "from mcp.server.mcpserver import MCPServer\nserver = MCPServer('depot')\n"
LOW_LEVEL = "from mcp.server.lowlevel import (\n    NotificationOptions,\n    Server,\n)\nserver = Server('depot')\n"
USES = "import argparse\nfrom mcp.server.mcpserver import Context, MCPServer\n"


@pytest.mark.parametrize(
    ("scripts", "modules", "commands"),
    [
        ({"a": "depot.one:main", "b": "depot.two:main"}, {"one": CREATES, "two": LOW_LEVEL}, [["a"], ["b"]]),
        ({"a": "depot.one:main", "a-mcp": "depot.one:serve"}, {"one": CREATES}, [["a-mcp"]]),
        ({"a": "depot:main", "b": "depot:http"}, {"__init__": "", "one": CREATES, "two": CREATES}, [["a"]]),
        ({"a": "depot:main", "b": "depot.two:main"}, {"__init__": "", "one": CREATES, "two": CREATES}, [["a"], ["b"]]),
        ({"a": "depot.one:main", "b": "depot.cli:main"}, {"one": CREATES, "cli": USES}, [["a"], "depot.cli:main"]),
    ],
)
def test_each_module_that_creates_a_server_is_a_target(
    scripts: dict[str, str], modules: dict[str, str], commands: list[Any], tmp_path: Path
) -> None:
    (tmp_path / "depot").mkdir()
    for name, text in modules.items():
        (tmp_path / "depot" / f"{name}.py").write_text(text, "utf-8")
    lines = "".join(f'{name} = "{entry}"\n' for name, entry in scripts.items())
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "depot"\n[project.scripts]\n{lines}', "utf-8")
    init(tmp_path)
    sources = [target["source"] for target in targets(tmp_path).values()]
    assert [source.get("command", source.get("cli")) for source in sources] == commands


def test_each_file_of_node_that_starts_a_server_is_a_target(tmp_path: Path) -> None:
    for name in ("one", "two", "cli"):
        (tmp_path / f"{name}.mjs").write_text("" if name == "cli" else "await serveStdio(server);\n", "utf-8")
    package = {"dependencies": {"fastmcp": "^3"}, "bin": {name: f"{name}.mjs" for name in ("cli", "one", "two")}}
    write(tmp_path / "package.json", {**package, "name": "depot"})
    init(tmp_path)
    found = [(target["source"]["command"], target["publish"]["command"]) for target in targets(tmp_path).values()]
    npx = ["npx", "-y", "--package", "depot"]
    assert found == [(["node", f"{name}.mjs"], [*npx, name]) for name in ("one", "two")]


def test_a_name_that_is_not_utf_8_is_reported_and_not_written(tmp_path: Path) -> None:
    write(tmp_path / os.fsdecode(b"a\xff.json"), API)
    write(tmp_path / "good.json", {**API, "info": {"title": "Good", "version": "1"}})
    package = {"dependencies": {"fastmcp": "1"}, "bin": {"x": "a\ud800.js"}}
    (tmp_path / "package.json").write_text(json.dumps(package), "utf-8")
    finished = init(tmp_path)
    assert finished.stderr.count("left out") == 2, finished.stderr
    assert [*targets(tmp_path)] == ["good"]
    assert run_skillgen("build", cwd=tmp_path).exit_code == 0


def test_an_openapi_description_is_found_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "docs" / "v1").mkdir(parents=True)
    (tmp_path / "node_modules").mkdir()
    text = yaml.safe_dump(grouped(tasks=["list_tasks"]), sort_keys=False)
    (tmp_path / "docs" / "v1" / "public.yml").write_text(text, "utf-8")
    write(tmp_path / "same.json", grouped(tasks=["list_tasks"]))
    write(tmp_path / "node_modules" / "openapi.json", grouped(users=["list_users"]) | {"info": {"title": "Not ours"}})
    write(tmp_path / "package-lock.json", {"name": "x", "dependencies": {"swagger": "1", "openapi": "2"}})
    init(tmp_path)
    assert [target["source"] for target in targets(tmp_path).values()] == [{"openapi": "same.json"}]
    assert builds(tmp_path) == {"list_tasks"}


def test_a_server_in_package_json_builds(tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "index.js").write_text(NODE_SERVER, "utf-8")
    package = {
        "name": "@acme/nodes",
        "bin": "./dist/index.js",
        "dependencies": {"@modelcontextprotocol/sdk": "^1"},
        "scripts": {"build": "tsc"},
    }
    write(tmp_path / "package.json", package)
    init(tmp_path)
    assert targets(tmp_path) == {
        "nodes": {
            "source": {"command": ["node", "dist/index.js"]},
            "publish": {"command": ["npx", "-y", "@acme/nodes"]},
        }
    }
    assert builds(tmp_path) == {"count"}
    (tmp_path / "skillgen.yaml").unlink()
    (tmp_path / "dist" / "index.js").unlink()
    assert "first: dist/index.js does not exist yet: npm run build\n" in init(tmp_path).stderr


@pytest.mark.parametrize(
    ("settings", "command"),
    [
        ('{"compilerOptions": {"outDir": "./build", /* */}}', ["node", "build/server.js"]),
        ("{}", ["npx", "tsx", "src/server.ts"]),
    ],
)
def test_a_server_in_typescript_is_run_where_its_build_is(settings: str, command: list[str], tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "server.ts").write_text("await server.connect(new StdioServerTransport());\n", "utf-8")
    (tmp_path / "tsconfig.json").write_text(settings, "utf-8")
    package = {
        "name": "weather",
        "version": "0.3.0",
        "private": True,
        "homepage": "https://weather.example",
        "dependencies": {"@modelcontextprotocol/sdk": "^1"},
        "scripts": {"build": "tsc"},
    }
    write(tmp_path / "package.json", package)
    init(tmp_path)
    assert targets(tmp_path) == {
        "weather": {"source": {"command": command}, "version": "0.3.0", "homepage": "https://weather.example"}
    }


def steps_of(workflow: Path) -> list[str]:
    (job,) = yaml.safe_load(workflow.read_text("utf-8"))["jobs"].values()
    return [step["run"] for step in job["steps"] if "run" in step]


def test_a_workflow_for_github_checks_and_reports(tmp_path: Path) -> None:
    """It is valid YAML, checks on three systems, and uploads what lint finds as SARIF."""
    write(tmp_path / "openapi.json", API)
    finished = init(tmp_path, "--ci", "github")
    path = tmp_path / ".github" / "workflows" / "skillgen.yml"
    assert "wrote .github/workflows/skillgen.yml: set the variable SKILLGEN" in finished.stderr
    assert [file.name for file in path.parent.iterdir()] == ["skillgen.yml"]
    text = path.read_text("utf-8")
    (job,) = yaml.safe_load(text)["jobs"].values()
    assert {system.partition("-")[0] for system in job["strategy"]["matrix"]["os"]} == {"ubuntu", "windows", "macos"}
    assert run_skillgen("build", cwd=tmp_path).exit_code == 0
    commands = [step.partition(" > ")[0].split()[1:] for step in steps_of(path) if step.startswith("skillgen ")]
    assert [words[0] for words in commands] == ["build", "lint"]
    for words in commands:
        assert run_skillgen(*words, cwd=tmp_path).exit_code == 0
    assert "already exists and was not changed" in init(tmp_path, "--ci", "github").stderr
    assert path.read_text("utf-8") == text
    run_skillgen("init", "--ci", "gitlab", cwd=tmp_path).ended(2, "--ci: no such value: gitlab")


def test_the_workflow_has_what_the_targets_need(tmp_path: Path) -> None:
    """The variables of skillgen.yaml for the steps that run skillgen, and the packages in folders of commands."""
    for folder, file in ("packages/a", "pyproject.toml"), ("packages/b c", "package-lock.json"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / file).touch()
    command = {"command": ["server"], "env": {"KEY": "${DEPOT_KEY}", "OTHER": "$${NOT_ONE}"}}
    sources = [{**command, "cwd": "packages/a"}, {**command, "cwd": "packages/b c"}, {"openapi": "${PLACE}/api.json"}]
    write(tmp_path / "skillgen.yaml", {"targets": {f"t{number}": {"source": it} for number, it in enumerate(sources)}})
    said = init(tmp_path, "--ci", "github").stderr
    assert "pip installs skillgen from, and its secret DEPOT_KEY, and its secret PLACE\n" in said
    path = tmp_path / ".github" / "workflows" / "skillgen.yml"
    (job,) = yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
    env = {name: f"${{{{ secrets.{name} }}}}" for name in ("DEPOT_KEY", "PLACE")}
    assert [step.get("env") for step in job["steps"] if step.get("run", "").startswith("skillgen ")] == [env, env]
    installs = ["python -m pip install ./packages/a", "npm ci --prefix './packages/b c'"]
    assert steps_of(path)[3:6] == [*installs, "skillgen build --check"]


STUBS = {
    "skillgen": f"#!/bin/sh\nexec '{sys.executable}' -m skillgen \"$@\"\n",
    "gh": '#!/bin/sh\necho "$@" >> "$RUNNER_TEMP/calls"\ncp "$6" "$RUNNER_TEMP/body.md"\n',
}


@pytest.mark.skipif(sys.platform == "win32", reason="the job runs on Linux")
def test_documents_of_others_are_renewed_by_a_scheduled_pull_request(tmp_path: Path) -> None:
    """A folder that fails keeps its documents, and keeps no other from the pull request; the project's are built."""
    project, origin, runner = (tmp_path / name for name in ("project", "origin.git", "runner"))
    for folder in (project, runner):
        folder.mkdir()
    for name, text in STUBS.items():
        (runner / name).write_text(text, "utf-8")
        (runner / name).chmod(0o755)

    def ran(*words: str) -> int:
        path = f"{runner}{os.pathsep}{os.environ['PATH']}"
        env = environment({"PATH": path, "RUNNER_TEMP": str(runner)})
        return subprocess.run(words, cwd=project, env=env, check=False, timeout=300).returncode

    write(tmp_path / "tasks.json", grouped(tasks=["list_tasks"]))
    write(tmp_path / "gone.json", API)
    for name in ("tasks", "gone"):
        assert ran("skillgen", "from-openapi", f"../{name}.json", "-o", f"docs of others/{name}") == 0
    assert "found documents that skillgen update renews" in init(project, "--ci", "github").stderr
    workflow = project / ".github" / "workflows" / "skillgen-update.yml"
    written = {name for name in files_of(project) if not name.startswith("docs of others/")}
    assert written == {".github/workflows/skillgen-update.yml"}, "nothing is built"
    commit = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "x")
    for words in (("git", "init", "-q"), ("git", "add", "-A"), commit, ("git", "init", "-q", "--bare", str(origin))):
        assert ran(*words) == 0
    assert ran("git", "remote", "add", "origin", str(origin)) == 0
    write(tmp_path / "tasks.json", grouped(tasks=["list_tasks", "find_task"]))
    (tmp_path / "gone.json").unlink()
    codes = [ran("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step) for step in steps_of(workflow)[1:]]
    assert codes == [3, 0]
    assert "find_task" in (runner / "body.md").read_text("utf-8")
    assert (runner / "calls").read_text("utf-8").startswith("pr create ")
    changed = subprocess.run(
        ["git", "--git-dir", origin, "show", "--name-only", "--format=", "skillgen-update"],
        capture_output=True,
        check=True,
    ).stdout.decode()
    assert "docs of others/tasks/llms.txt" in changed
    assert "others/gone" not in changed


@pytest.mark.parametrize(("names", "outs", "renewed"), [
    (["a"], ["agent-docs"], None),
    (["a"], ["docs/a"], "docs/a"),
    (["a", "b"], ["agent-docs"], "agent-docs"),
    (["a", "b"], ["agent-docs/a", "agent-docs/b", "docs/a"], "docs/a"),
])  # fmt: skip
def test_the_weekly_update_leaves_out_what_build_writes(
    names: list[str], outs: list[str], renewed: str | None, tmp_path: Path
) -> None:
    """The documents of a command in the folder of a target are those of the target; `update` refuses them then."""
    for name in names:
        write(tmp_path / f"{name}.json", {**API, "info": {"title": name, "version": "1"}})
    for out in outs:
        assert run_skillgen("from-openapi", "a.json", "-o", out, cwd=tmp_path).exit_code == 0
    for _ in "again":  # with skillgen.yaml too
        init(tmp_path, "--ci", "github")
        workflow = tmp_path / ".github" / "workflows" / "skillgen-update.yml"
        text = workflow.read_text("utf-8") if workflow.exists() else ""
        assert f"skillgen update {renewed} |" in text if renewed else not text
        workflow.unlink(missing_ok=True)


def test_the_workflow_in_the_documentation_is_that_of_init(tmp_path: Path) -> None:
    write(tmp_path / "openapi.json", API)
    for name in ("memory", "gh"):
        assert run_skillgen("from-openapi", "openapi.json", "-o", f"agent-docs/{name}", cwd=tmp_path).exit_code == 0
    init(tmp_path, "--ci", "github")
    workflows = {path.name: path.read_text("utf-8") for path in (tmp_path / ".github" / "workflows").iterdir()}
    shown = (ROOT / "docs" / "update.md").read_text("utf-8")
    assert f"```yaml\n{workflows['skillgen-update.yml']}```" in shown
    readme = (ROOT / "README.md").read_text("utf-8")
    for text in (workflows["skillgen.yml"], (tmp_path / ".pre-commit-config.yaml").read_text("utf-8")):
        assert f"```yaml\n{text}```" in readme


# -- the files -------------------------------------------------------------------------------------------------------


def test_an_empty_project_gets_examples_and_a_clear_message(tmp_path: Path) -> None:
    finished = init(tmp_path)
    assert "found no OpenAPI description, no MCP server and no program" in finished.stderr
    assert set(files_of(tmp_path)) == {"skillgen.yaml", ".skillgen.schema.json"}, "a hook would fail"
    run_skillgen("build", cwd=tmp_path).ended(2, "skillgen.yaml: has no targets")
    examples = (tmp_path / "skillgen.yaml").read_text("utf-8").partition("correct it:\n  #\n")[2]
    uncommented = "targets:\n" + "".join(f"  {line[4:]}\n" for line in examples.splitlines())
    schema = json.loads((tmp_path / ".skillgen.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(yaml.safe_load(uncommented))
    assert len(yaml.safe_load(uncommented)["targets"]) == 5


def test_editors_find_the_schema_next_to_the_file_and_the_file_keeps_to_it(tmp_path: Path) -> None:
    info = {"title": "12:30 \u2028 #: {no}", "version": "1"}
    write(tmp_path / "a.json", grouped(tasks=["list_tasks"]) | {"info": info})
    init(tmp_path)
    first = (tmp_path / "skillgen.yaml").read_text("utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=./.skillgen.schema.json"
    schema = json.loads((tmp_path / ".skillgen.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate({"targets": targets(tmp_path)})
    text = (tmp_path / "skillgen.yaml").read_text("utf-8").replace("    # Your texts", "    ## Texts")
    words = yaml.safe_load(text.replace("    # ", "    "))
    Draft202012Validator(schema).validate(words)
    assert "when-to-use" in next(iter(words["targets"].values()))


@pytest.mark.parametrize("name", ["skillgen.yaml", "skillgen.yml"])
def test_existing_files_stay_and_what_they_lack_is_printed(tmp_path: Path, name: str) -> None:
    write(tmp_path / "api.json", grouped(tasks=["list_tasks"]))
    (tmp_path / name).write_text("# mine\n", "utf-8")
    (tmp_path / ".pre-commit-config.yaml").write_text("repos: []\n", "utf-8")
    finished = init(tmp_path)
    assert (tmp_path / name).read_text("utf-8") == "# mine\n"
    assert (tmp_path / ".pre-commit-config.yaml").read_text("utf-8") == "repos: []\n"
    assert f"{name} already exists and was not changed" in finished.stderr
    assert "    source: {openapi: api.json}\n" in finished.stderr
    assert "add below repos:\n  - repo: local\n" in finished.stderr
    assert not (tmp_path / "skillgen.yaml").exists() or name == "skillgen.yaml"


def test_the_hook_runs_the_installed_skillgen(tmp_path: Path) -> None:
    write(tmp_path / "api.json", grouped(tasks=["list_tasks"]))
    init(tmp_path)
    (repository,) = yaml.safe_load((tmp_path / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    published = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))[0]
    assert repository["repo"] == "local"
    assert (repository["hooks"][0]["id"], repository["hooks"][0]["entry"]) == (published["id"], published["entry"])


def test_files_that_are_broken_or_hostile_stop_nothing(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text("{", "utf-8")
    (tmp_path / "pyproject.toml").write_text("[", "utf-8")
    (tmp_path / "package.json").write_text("[" * 100_000, "utf-8")
    (tmp_path / "a.yaml").write_text("openapi: [", "utf-8")
    (tmp_path / "b.json").write_bytes(b'\xff\xfe"openapi":')
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    title = "x\n  evil:\n    source: {command: rm}\n\x1b[2J"
    write(tmp_path / "c.json", grouped(tasks=["list_tasks"]) | {"info": {"title": title, "version": "1"}})
    finished = init(tmp_path)
    assert len(targets(tmp_path)) == 1
    assert "\x1b" not in finished.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
def test_pipes_and_devices_in_a_project_are_not_read(tmp_path: Path) -> None:
    """X-13: a pipe would be waited for, and a device has no end."""
    for name in ("package.json", "api.yaml", ".mcp.json", ".pre-commit-config.yaml", ".skillgen.schema.json"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "pyproject.toml").symlink_to("/dev/zero")
    (tmp_path / "openapi.json").symlink_to("/dev/zero")
    assert "found no OpenAPI description" in init(tmp_path).stderr


PRIVATE = {
    "openapi.json": json.dumps(grouped(secrets=["merge_with_acme"])),
    ".mcp.json": json.dumps({"mcpServers": {"merge_with_acme": {"command": "x"}}}),
    "server.py": "from mcp.server import MCPServer\nname = 'merge_with_acme'\nif __name__ == '__main__':\n    pass\n",
    "package.json": json.dumps({"name": "merge_with_acme", "bin": "x.js", "dependencies": {"fastmcp": "1"}}),
    "pyproject.toml": "[project]\nname = 'merge_with_acme'\nscripts = {merge_with_acme = 'merge_with_acme:app'}\n",
}


@pytest.mark.parametrize("name", PRIVATE)
def test_nothing_is_read_through_a_link_that_leads_out_of_the_project(tmp_path: Path, name: str) -> None:
    """X-13: of a cloned repository."""
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "merge_with_acme.txt").write_text(PRIVATE[name], "utf-8")
    (project / name).symlink_to(tmp_path / "merge_with_acme.txt")
    (project / ".skillgen.schema.json").symlink_to(tmp_path / "schema.json")
    (tmp_path / "schema.json").write_text('{"title": "skillgen.yaml"}', "utf-8")
    finished = init(project)
    assert "found no OpenAPI description" in finished.stderr
    text = finished.stderr + "".join(
        path.read_text("utf-8") for path in project.iterdir() if path.is_file() and not path.is_symlink()
    )
    assert "merge_with_acme" not in text
    assert (tmp_path / "schema.json").read_text("utf-8") == '{"title": "skillgen.yaml"}'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("server.py", "\n" * 1_000_000),
        ("server.py", " \n" * 500_000),
        (".mcp.json", "/*" * 1_000_000),
        (".mcp.json", '"\\' * 1_000_000),
        ("pyproject.toml", "\n" * 1_000_000),
    ],
)
def test_a_file_without_words_is_looked_through_at_once(tmp_path: Path, name: str, text: str) -> None:
    """X-13: in time that grows with its size and no faster; the time-out of the run is far away."""
    (tmp_path / name).write_text(text, "utf-8")
    assert "found no OpenAPI description" in init(tmp_path).stderr


@pytest.mark.skipif(sys.platform != "linux", reason="a file of Linux that has no end")
def test_a_projects_file_without_end_is_refused(tmp_path: Path) -> None:
    """X-13."""
    (tmp_path / "skillgen.yaml").symlink_to("/proc/self/pagemap")
    run_skillgen("build", cwd=tmp_path).ended(2, "is too large for a project file")
    (tmp_path / "skillgen.yaml").unlink()
    (tmp_path / "pyproject.toml").symlink_to("/proc/self/pagemap")
    assert "found no OpenAPI description" in init(tmp_path).stderr
