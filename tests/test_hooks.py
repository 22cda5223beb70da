"""The hooks, run by the programs that users run them with, from a clean cache (issue 6)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from cli import ROOT, environment
from descriptions import grouped, write

PARTS = (".pre-commit-hooks.yaml", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "skillgen", "templates")


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
    env = {"PRE_COMMIT_HOME": cache, "PREK_HOME": cache, "PATH": f"{path or beside}{os.pathsep}{os.environ['PATH']}"}
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


def test_the_first_commit_makes_the_documents_and_the_second_passes_with_pre_commit(
    published: Path, project: Path
) -> None:
    words = ("try-repo", str(published), "--all-files")
    first = run("pre-commit", project, *words)
    assert first.exit_code == 1, first.output
    assert "documents were written; add them to the commit" in first.output
    assert (project / "agent-docs" / "skills" / "tasks" / "SKILL.md").is_file()
    second = run("pre-commit", project, *words)
    assert second.exit_code == 0, second.output
    assert second.output.count("Passed") == 2


def test_drift_fails_the_check_and_the_next_commit_passes_with_prek(published: Path, project: Path) -> None:
    check = run("prek", project, "try-repo", str(published), "--all-files", "skillgen-check")
    assert (check.exit_code, "the documents are not up to date" in check.output) == (1, True), check.output
    assert not (project / "agent-docs").exists()
    # try-repo makes an environment each time; a configuration keeps it.
    revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=published, check=True, capture_output=True).stdout
    hooks = [{"id": "skillgen-build"}, {"id": "skillgen-check"}]
    repository = {"repo": str(published), "rev": revision.decode().strip(), "hooks": hooks}
    write(project / ".pre-commit-config.yaml", {"repos": [repository]})
    git(project, "add", "-A")
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
