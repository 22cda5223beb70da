"""The hooks, run by the programs that users run them with, from a clean cache; and in whose Python a server runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from cli import ROOT, Finished, environment, generated, run_skillgen
from descriptions import grouped, write
from listed import program

pytestmark = pytest.mark.slow

FILES = (".pre-commit-hooks.yaml", "pyproject.toml", "skillgen.yaml", "README.md", "LICENSE", "CHANGELOG.md")
PARTS = (*FILES, "skillgen", "templates")


@dataclass(frozen=True, slots=True)
class Run:
    """What came of a run of all or one of the hooks."""

    exit_code: int
    output: str


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This repository, as a hook's user clones it."""
    folder = tmp_path_factory.mktemp("published")
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    committed(folder)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    write(folder / "openapi.json", grouped(tasks=["list_tasks", "get_task"]))
    (folder / "skillgen.yaml").write_text("targets: {api: {source: {openapi: openapi.json}}}\n", "utf-8")
    committed(folder)
    return folder


def git(folder: Path, *words: str) -> None:
    fixed = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false")
    subprocess.run(["git", *fixed, *words], cwd=folder, check=True, capture_output=True, env=environment({}))


def committed(folder: Path) -> None:
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")


def run(program: str, project: Path, *words: str, path: str | None = None) -> Run:
    cache = str(project.parent / "cache")
    beside = str(Path(sys.executable).parent)
    folders = (beside, os.environ["PATH"]) if path is None else (path, path_without_environments())
    env = {"PRE_COMMIT_HOME": cache, "PREK_HOME": cache, "PATH": os.pathsep.join(folders)}
    finished = subprocess.run(
        [str(Path(beside, program)), *words],
        cwd=project,
        env=environment(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=300,
    )
    git(project, "add", "-A")
    return Run(finished.returncode, finished.stdout.decode("utf-8", "replace"))


def test_drift_fails_the_check_and_the_next_commit_passes_with_prek(published: Path, project: Path) -> None:
    revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=published, check=True, capture_output=True).stdout
    hooks = [{"id": "skillgen-build"}, {"id": "skillgen-check"}]
    repository = {"repo": str(published), "rev": revision.decode().strip(), "hooks": hooks}
    write(project / ".pre-commit-config.yaml", {"repos": [repository]})
    git(project, "add", "-A")
    check = run("prek", project, "run", "skillgen-check")
    assert (check.exit_code, "the documents are not up to date" in check.output) == (1, True), check.output
    assert not (project / "agent-docs").exists()
    assert run("prek", project, "run").exit_code == 1
    assert run("prek", project, "run").exit_code == 0
    write(project / "openapi.json", grouped(tasks=["list_tasks", "make_task"]))
    git(project, "add", "-A")
    drift = run("prek", project, "run", "skillgen-check")
    assert (drift.exit_code, "+## make_task\n" in drift.output) == (1, True), drift.output
    assert run("prek", project, "run", "skillgen-build").exit_code == 1
    assert run("prek", project, "run").exit_code == 0


@pytest.mark.parametrize("program", ["pre-commit", "prek"])
def test_the_entry_that_init_writes_runs_the_installed_skillgen(project: Path, program: str) -> None:
    shim = project.parent / "bin"
    shim.mkdir()
    (shim / "skillgen").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m skillgen "$@"\n')
    (shim / "skillgen").chmod(0o755)
    (project / "skillgen.yaml").unlink()
    subprocess.run([shim / "skillgen", "init"], cwd=project, env=environment({}), check=True, capture_output=True)
    git(project, "add", "-A")
    first = run(program, project, "run", path=str(shim))
    assert (first.exit_code, "documents were written" in first.output) == (1, True), first.output
    second = run(program, project, "run", path=str(shim))
    assert (second.exit_code, "Passed" in second.output) == (0, True), second.output


def test_our_own_hook_checks_our_own_skill(published: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    shutil.copytree(published, own)
    shutil.copy(ROOT / ".pre-commit-config.yaml", own)
    git(own, "add", "-A")
    checked = run("prek", own, "run", "--all-files")
    assert (checked.exit_code, "Passed" in checked.output) == (0, True), checked.output
    skill = own / "skillgen" / ".agents" / "skills" / "skillgen" / "SKILL.md"
    skill.write_text(skill.read_text("utf-8").replace("## How to Call", "## How to call"), "utf-8")
    checked = run("prek", own, "run", "--all-files")
    assert (checked.exit_code, "## How to call" in checked.output) == (1, True), checked.output


# -- whose Python runs a project's server --------------------------------------------------------------------------

TOOLS = '[{"name": name, "inputSchema": {"type": "object"}} for name in __import__("shop_library").TOOLS]'
SERVER = program(TOOLS, '"shop"')
PRINTER = "import shop_library; print(open('api.json').read())"


def created_environment(folder: Path, *, has_skillgen: bool = False, library: str = "") -> Path:
    """Creates a virtual environment with skillgen or with the library of the project, and returns its programs."""
    venv.create(folder, symlinks=True)
    scheme = {"base": str(folder), "platbase": str(folder)}
    packages = Path(
        sysconfig.get_path("purelib", "venv", scheme)
        if os.name == "nt"
        else sysconfig.get_path("purelib", "posix_prefix", scheme)
    )
    if has_skillgen:
        own = sysconfig.get_path("purelib")
        (packages / "skillgen.pth").write_text(f"{ROOT}\nimport site; site.addsitedir({own!r})\n", "utf-8")
    if library:
        (packages / "shop_library.py").write_text(library, "utf-8")
    return folder / ("Scripts" if os.name == "nt" else "bin")


def served_project(folder: Path) -> Path:
    """Creates a project with a server and an application that need the library of the project's environment."""
    folder.mkdir(parents=True)
    write(folder / "api.json", grouped(tasks=["list_tasks"]))
    (folder / "server.py").write_text(SERVER, "utf-8")
    printer = json.dumps(["python", "-c", PRINTER])
    (folder / "skillgen.yaml").write_text(
        "targets:\n  server: {source: {command: [python, server.py]}}\n"
        f"  application: {{source: {{openapi-command: {printer}}}}}\n"
        "  client: {source: {config: .mcp.json}}\n",
        "utf-8",
    )
    write(folder / ".mcp.json", {"mcpServers": {"shop": {"command": "python", "args": ["server.py"]}}})
    committed(folder)
    return folder


def tools_of(project: Path) -> set[str]:
    return {name for path in project.rglob(".skillgen.json") for name in json.loads(path.read_text("utf-8"))["tools"]}


def run_installed(programs: Path, *words: str, cwd: Path, env: Mapping[str, str]) -> Finished:
    """Runs skillgen in an environment of its own."""
    clean = {name: value for name, value in environment().items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    finished = subprocess.run(
        [programs / "python", "-m", "skillgen", *words],
        cwd=cwd,
        env={**clean, **env},
        capture_output=True,
        check=False,
        timeout=120,
    )
    return Finished(finished.returncode, finished.stdout.decode(), finished.stderr.decode())


OF_TOOLS = {
    "uvx": "archive-v0/I39RTKaey3Lsz4FW/CACHEDIR.TAG",
    "uv tool": "tools/skillgen-cli/uv-receipt.toml",
    "pipx": "venvs/skillgen-cli/pipx_metadata.json",
    "pre-commit": "repo1/py_env-python3/.install_state_v2",
    "prek": "hooks/python-1/.prek-hook.json",
}
"""A file of the environment that each tool creates for skillgen."""


def path_without_environments() -> str:
    """Returns PATH without the programs of any environment, such as the one that runs the tests."""
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if not (Path(folder).parent / "pyvenv.cfg").is_file())


@pytest.mark.parametrize(
    ("tool", "where"),
    [
        ("uvx", "active"),
        ("uv tool", ".venv"),
        ("pipx", "the repository's .venv"),
        ("pre-commit", "active"),
        ("prek", ".venv"),
    ],
)
def test_a_projects_commands_never_run_in_the_environment_of_a_tool(tmp_path: Path, tool: str, where: str) -> None:
    """A server may need another `mcp` than skillgen has."""
    marker = tmp_path / OF_TOOLS[tool]
    own = created_environment(marker.parent, has_skillgen=True, library="TOOLS = ['of_the_tool']\n")
    marker.touch()
    project = served_project(tmp_path / "repository" / "services" / "shop")
    shutil.move(project / ".git", tmp_path / "repository")
    folder = {"active": tmp_path / "envs" / "shop", ".venv": project / ".venv"}.get(where)
    programs = created_environment(folder or tmp_path / "repository" / ".venv", library="TOOLS = ['find_book']\n")
    path = [str(own), *([str(programs)] if where == "active" else []), path_without_environments()]
    env = {"VIRTUAL_ENV": str(marker.parent), "PATH": os.pathsep.join(path)}
    run_installed(own, "build", cwd=project, env=env).ok()
    assert tools_of(project) == {"find_book", "list_tasks"}


@pytest.mark.parametrize("kind", ["server", "client"])
def test_a_server_command_runs_in_the_python_of_the_shell_not_of_uvx(tmp_path: Path, kind: str) -> None:
    marker = tmp_path / OF_TOOLS["uvx"]
    own = created_environment(marker.parent, has_skillgen=True)
    project = served_project(tmp_path / "shop")
    programs = created_environment(tmp_path / "envs" / "shop", library="TOOLS = ['find_book']\n")
    path = os.pathsep.join((str(own), str(programs), os.environ["PATH"]))
    words = {"server": ("--", "python", "server.py"), "client": ("--config", ".mcp.json")}[kind]
    run_installed(own, "from-server", *words, cwd=project, env={"PATH": path}).ok()
    assert tools_of(project) == {"find_book"}


@pytest.mark.parametrize("installed", ["mcp-1", "mcp-1.30.0"])
def test_a_version_that_is_that_of_the_servers_sdk_is_reported(tmp_path: Path, installed: str) -> None:
    project = served_project(tmp_path / "shop")
    programs = created_environment(tmp_path / "envs" / "shop", library="TOOLS = ['find_book']\n")
    (library,) = (tmp_path / "envs").rglob("shop_library.py")
    (library.parent / f"{installed}.dist-info").mkdir()
    env = {"PATH": os.pathsep.join((str(programs), os.environ["PATH"]))}
    crawled = generated("from-server", "--", "python", "server.py", cwd=project, env=env)
    assert ("the server reports 1, which is the version of its SDK, mcp" in crawled.stderr) is (installed == "mcp-1")
    (skill,) = (project / "agent-docs").rglob("SKILL.md")
    assert ("version:" in skill.read_text("utf-8")) is (installed != "mcp-1")
    corrected = ("from-server", "--service-version", "0.1.0", "--", "python", "server.py")
    assert "version-of-sdk" not in run_skillgen(*corrected, cwd=project, env=env).stderr


@pytest.mark.parametrize(("version", "name"), [("1", "fox"), ("2", "shop")])
def test_a_framework_in_node_modules_is_not_the_server(tmp_path: Path, version: str, name: str) -> None:
    package, framework = tmp_path / "node_modules" / "@acme" / "fox-mcp", tmp_path / "node_modules" / "shop"
    package.mkdir(parents=True)
    framework.mkdir()
    write(framework / "package.json", {"name": "shop", "version": version})
    (package / "server.py").write_text(SERVER, "utf-8")
    (package / "shop_library.py").write_text("TOOLS = ['find_book']\n", "utf-8")
    generated("from-server", "--", sys.executable, package / "server.py", cwd=tmp_path)
    (skill,) = (tmp_path / "agent-docs").rglob("SKILL.md")
    assert skill.parent.name == name


def test_a_program_of_the_project_needs_no_active_environment(tmp_path: Path) -> None:
    """Neither on the command line nor in a project, also if another environment is active."""
    other = created_environment(tmp_path / "opt", library="TOOLS = ['of_another']\n")
    created_environment(tmp_path / ".venv", library="TOOLS = ['find_book']\n")
    program = "import argparse, shop_library\napp = argparse.ArgumentParser(shop_library.TOOLS[0])\n"
    (tmp_path / "shop.py").write_text(program, "utf-8")
    (tmp_path / "skillgen.yaml").write_text("targets: {shop: {source: {cli: 'shop:app'}, out: built}}\n", "utf-8")
    env = {"PATH": os.pathsep.join((str(other), os.environ["PATH"])), "VIRTUAL_ENV": str(tmp_path / "opt")}
    for words in (("from-cli", "shop:app", "-o", "given"), ("build",)):
        generated(*words, cwd=tmp_path, env=env)
    assert tools_of(tmp_path / "given") == tools_of(tmp_path / "built") == {"find_book"}


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_python_means_python3_where_a_system_has_no_other_name(tmp_path: Path) -> None:
    marker = tmp_path / OF_TOOLS["pipx"]
    own = created_environment(marker.parent, has_skillgen=True, library="TOOLS = ['of_the_tool']\n")
    marker.touch()
    project = served_project(tmp_path / "shop")
    (project / ".mcp.json").unlink()
    text = (project / "skillgen.yaml").read_text("utf-8")
    (project / "skillgen.yaml").write_text(text.partition("  client:")[0], "utf-8")
    programs = created_environment(tmp_path / "envs" / "shop", library="TOOLS = ['find_book']\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").write_text(f'#!/bin/sh\nexec "{programs}/python" "$@"\n')
    (tmp_path / "bin" / "python3").chmod(0o755)
    run_installed(own, "build", cwd=project, env={"PATH": str(tmp_path / "bin")}).ok()
    assert tools_of(project) == {"find_book", "list_tasks"}


def test_published_hooks_run_commands_in_the_projects_environment(published: Path, tmp_path: Path) -> None:
    """By pre-commit; prek runs the other tests of published hooks."""
    project = served_project(tmp_path / "shop")
    (project / ".gitignore").write_text(".venv\n", "utf-8")
    created_environment(project / ".venv", library="TOOLS = ['find_book']\n")
    first = run("pre-commit", project, "try-repo", str(published), "--all-files", path=os.defpath)
    assert (first.exit_code, "documents were written" in first.output) == (1, True), first.output
    assert tools_of(project) == {"find_book", "list_tasks"}


def test_the_action_installs_skillgen_apart_from_the_jobs_python(tmp_path: Path) -> None:
    project = served_project(tmp_path / "shop")
    programs = created_environment(tmp_path / "job", library="TOOLS = ['find_book']\n")
    summary = tmp_path / "summary.md"
    env = {
        "PATH": os.pathsep.join((str(programs), os.environ["PATH"])),
        "RUNNER_TEMP": str(tmp_path / "temp"),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_STEP_SUMMARY": str(summary),
        "SKILLGEN_CONFIG": "skillgen.yaml",
    }
    steps = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    codes = []
    for step in steps:
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        finished = subprocess.run(command, cwd=project, env=environment(env), check=False, capture_output=True)
        codes.append(finished.returncode)
    assert codes == [0, 1, 1], finished.stderr.decode()
    assert finished.stdout.startswith(b"::error title=no-description (")
    assert "find_book" in summary.read_text("utf-8")
    installed = {path.name for path in tmp_path.glob("job/**/site-packages/*")}
    assert installed - {"__pycache__"} == {"shop_library.py"}
