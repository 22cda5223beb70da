"""`--install package`: the skill goes where the package's users get it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli import Finished, files_of, generated, run_skillgen
from descriptions import description, write

SKILL = ".agents/skills/tasks"


def project(folder: Path) -> Path:
    """Returns the folder of a project with one package."""
    package = folder / "src" / "acme_tasks"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (folder / "pyproject.toml").write_text('[project]\nname = "Acme.Tasks"\nversion = "1"\n', encoding="utf-8")
    return folder


def install(folder: Path, *options: str) -> Finished:
    """Runs in the folder of a project."""
    source = write(folder / "api.json", description())
    return run_skillgen("from-openapi", source, "-o", "docs", "--install", "package", *options, cwd=folder)


def test_the_skill_in_the_package_is_that_of_the_documents(tmp_path: Path) -> None:
    folder = project(tmp_path)
    assert install(folder).exit_code == 0
    copy = files_of(folder / "src" / "acme_tasks" / SKILL)
    assert json.loads(copy.pop(".skillgen.json"))["owner"] == "../../../../../docs"
    assert copy == files_of(folder / "docs" / "skills" / "tasks")
    assert install(folder, "--check").exit_code == 0
    renamed = install(folder, "--name", "duties")
    assert "installed-skill-left: src/acme_tasks/.agents/skills/tasks" in renamed.stderr


@pytest.mark.parametrize(
    ("files", "options", "words"),
    [
        ([], (), "no package in . could carry the skill"),
        (["pyproject.toml"], (), "no package in . could carry the skill"),
        (["pyproject.toml", "a/__init__.py", "b/__init__.py"], (), "several packages in . could carry the skill: a, b"),
        (["pyproject.toml", "a/__init__.py", "package.json"], (), "several packages in . could carry the skill: a, ."),
        (["pyproject.toml", "a/__init__.py"], ("--package", ".."), "is outside the project"),
        (["pyproject.toml", "a/__init__.py"], ("--package", "b"), "neither Python modules nor a package.json"),
        (["pyproject.toml", "a/__init__.py"], ("--user",), "--user: has no effect without --install claude or agents"),
    ],
)
def test_a_package_that_is_not_clear_is_asked_for(
    files: list[str], options: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('{"name": "x"}' if name.endswith("json") else "", encoding="utf-8")
    install(tmp_path, *options).ended(2, words)
    assert not (tmp_path / "docs").exists()


@pytest.mark.parametrize(
    ("files", "options", "expected"),
    [
        (["pyproject.toml", "acme/__init__.py", "tests/__init__.py"], (), "acme"),
        (["pyproject.toml", "a/__init__.py", "x/__init__.py"], (), "x"),
        (["pyproject.toml", "a/__init__.py", "b/__init__.py"], ("--package", "b"), "b"),
        (["pyproject.toml", "src/acme/tasks/__init__.py"], ("--package", "src/acme/tasks"), "src/acme/tasks"),
        (["pyproject.toml", "a/__init__.py", "js/package.json"], ("--package", "js"), "js"),
    ],
)
def test_the_package_is_found_or_named(
    files: list[str], options: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        text = '[project]\nname = "x"\n' if name.endswith("toml") else ""
        (tmp_path / name).write_text('{"name": "x"}' if name.endswith("json") else text, encoding="utf-8")
    install(tmp_path, *options).ok()
    folder = "skills" if expected == "js" else ".agents/skills"
    assert (tmp_path / expected / folder / "tasks" / "SKILL.md").is_file()


def test_a_project_file_names_the_package(tmp_path: Path) -> None:
    folder = project(tmp_path)
    write(folder / "api.json", description())
    keys = "source: {openapi: api.json}, install-to: package, package: src/acme_tasks"
    (folder / "skillgen.yaml").write_text(f"targets: {{api: {{{keys}}}}}\n", encoding="utf-8")
    generated("build", "--project", folder / "skillgen.yaml")
    assert (folder / "src" / "acme_tasks" / SKILL / "SKILL.md").is_file()
