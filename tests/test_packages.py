"""`--install package`: the skill goes where the package's users get it, and what the build needs for it is said."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from cli import Finished, files_of, run_skillgen
from descriptions import description, write

SKILL = ".agents/skills/tasks"


def project(folder: Path, backend: str, more: str = "", package: str = "src/acme_tasks") -> Path:
    """Returns the folder of a project with one package."""
    (folder / package).mkdir(parents=True)
    (folder / package / "__init__.py").touch()
    requires = backend.split(".")[0].replace("poetry", "poetry-core")
    head = f'[build-system]\nrequires = ["{requires}"]\nbuild-backend = "{backend}"\n'
    name = '[project]\nname = "Acme.Tasks"\nversion = "1"\n'
    (folder / "pyproject.toml").write_text(f"{head}{name}{more}", encoding="utf-8")
    return folder


def install(folder: Path, *options: str) -> Finished:
    """Runs in the folder of a project."""
    source = write(folder / "api.json", description())
    return run_skillgen("from-openapi", source, "-o", "docs", "--install", "package", *options, cwd=folder)


def wheel_of(folder: Path) -> set[str]:
    """Returns the names of the files in the wheel of a project."""
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", "dist", "."]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (path,) = (folder / "dist").glob("*.whl")
    return set(zipfile.ZipFile(path).namelist())


@pytest.mark.slow
def test_the_wheel_carries_the_skill_with_the_lines_that_are_printed(tmp_path: Path) -> None:
    folder = project(tmp_path, "setuptools.build_meta")
    finished = install(folder)
    assert finished.exit_code == 0, finished.stderr
    lines = re.search(r"add the lines (\[.*\]) and (acme_tasks = \[.*\])\)", finished.stderr)
    assert lines, finished.stderr
    with (folder / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write(f"{lines[1]}\n{lines[2]}\n")
    assert "skill-not-packaged" not in install(folder).stderr
    assert f"acme_tasks/{SKILL}/SKILL.md" in wheel_of(folder)


@pytest.mark.slow
def test_the_wheel_of_hatchling_carries_the_skill_without_more_lines(tmp_path: Path) -> None:
    folder = project(tmp_path, "hatchling.build")
    finished = install(folder)
    assert finished.exit_code == 0, finished.stderr
    assert "packaged" not in finished.stderr
    assert f"acme_tasks/{SKILL}/SKILL.md" in wheel_of(folder)


def test_the_skill_in_the_package_is_that_of_the_documents(tmp_path: Path) -> None:
    folder = project(tmp_path, "hatchling.build")
    assert install(folder).exit_code == 0
    copy = files_of(folder / "src" / "acme_tasks" / SKILL)
    assert json.loads(copy.pop(".skillgen.json"))["owner"] == "../../../../../docs"
    assert copy == files_of(folder / "docs" / "skills" / "tasks")
    assert install(folder, "--check").exit_code == 0
    renamed = install(folder, "--name", "duties")
    assert "installed-skill-left: src/acme_tasks/.agents/skills/tasks" in renamed.stderr
    assert install(folder, "--name", "duties", "--prune").exit_code == 0
    assert [path.name for path in (folder / "src/acme_tasks/.agents/skills").iterdir()] == ["duties"]


@pytest.mark.parametrize(
    ("backend", "more", "words"),
    [
        ("setuptools.build_meta", '[tool.setuptools.package-data]\nacme_tasks = [".agents/**/*"]', None),
        ("setuptools.build_meta", '[tool.setuptools.package-data]\n"*" = [".agents/skills/**/*"]', None),
        (
            "setuptools.build_meta",
            '[tool.setuptools.package-data]\nacme_tasks = ["py.typed"]',
            'write acme_tasks = ["py.typed", ".agents/skills/**/*"] below [tool.setuptools.package-data]',
        ),
        ("poetry.core.masonry.api", "", None),
        ("uv_build", "", None),
        ("flit_core.buildapi", "", None),
        ("pdm.backend", "", None),
        ("other.backend", "", "it is not known whether other.backend includes files"),
    ],
)
def test_what_the_build_system_needs_is_said_only_then(
    backend: str, more: str, words: str | None, tmp_path: Path
) -> None:
    finished = install(project(tmp_path, backend, more))
    assert finished.exit_code == 0, finished.stderr
    assert ("skill-not-packaged" in finished.stderr) == (words is not None), finished.stderr
    assert words is None or words in finished.stderr


def test_a_skill_that_git_ignores_is_reported(tmp_path: Path) -> None:
    folder = project(tmp_path, "hatchling.build")
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    (folder / ".gitignore").write_text("dist/\n.agents/\n", encoding="utf-8")
    finished = install(folder)
    assert "packaged-skill-ignored" in finished.stderr
    assert "(.gitignore:2:.agents/)" in finished.stderr
    (folder / ".gitignore").write_text(".agents/\n!**/acme_tasks/.agents/\n", encoding="utf-8")
    assert "packaged-skill-ignored" not in install(folder).stderr


def test_npm_packages_carry_it_in_skills_with_the_field(tmp_path: Path, node_modules: Path) -> None:
    data = {"name": "acme-tasks", "version": "1.0.0", "files": ["dist"]}
    write(tmp_path / "package.json", data)
    finished = install(tmp_path)
    assert finished.exit_code == 0, finished.stderr
    found = re.search(r"write (\"files\": \[.*\])\)", finished.stderr)
    assert found, finished.stderr
    write(tmp_path / "package.json", data | json.loads(f"{{{found[1]}}}"))
    assert "skill-not-packaged" not in install(tmp_path).stderr
    packed = subprocess.run(
        ["npm", "pack", "--dry-run", "--json"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "skills/tasks/SKILL.md" in {file["path"] for file in json.loads(packed.stdout)[0]["files"]}


@pytest.mark.parametrize(
    ("files", "options", "words"),
    [
        ([], (), "no pyproject.toml, and no package.json with a name"),
        (["pyproject.toml"], (), "no package in . could carry the skill"),
        (["pyproject.toml", "a/__init__.py", "b/__init__.py"], (), "several packages in . could carry the skill: a, b"),
        (["pyproject.toml", "a/__init__.py", "package.json"], (), "either can carry the skill"),
        (["pyproject.toml", "a/__init__.py"], ("--package", ".."), "is outside the project"),
        (["pyproject.toml", "a/__init__.py"], ("--package", "b"), "neither Python modules nor a package.json"),
        (["pyproject.toml", "a/__init__.py"], ("--user",), "the package is in the project"),
    ],
)
def test_a_package_that_is_not_clear_is_asked_for(
    files: list[str], options: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('{"name": "x"}' if name.endswith("json") else "", encoding="utf-8")
    finished = install(tmp_path, *options)
    assert finished.exit_code == 2, finished.stderr
    assert words in finished.stderr
    assert not (tmp_path / "docs").exists()


@pytest.mark.parametrize(
    ("files", "options", "expected"),
    [
        (["pyproject.toml", "acme/__init__.py", "tests/__init__.py"], (), "acme"),
        (["pyproject.toml", "a/__init__.py", "commands/__init__.py"], (), "commands"),
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
        text = '[project]\nname = "x"\n[project.scripts]\nx = "commands.main:run"\n' if name.endswith("toml") else ""
        (tmp_path / name).write_text('{"name": "x"}' if name.endswith("json") else text, encoding="utf-8")
    finished = install(tmp_path, *options)
    assert finished.exit_code == 0, finished.stderr
    folder = "skills" if expected == "js" else ".agents/skills"
    assert (tmp_path / expected / folder / "tasks" / "SKILL.md").is_file()


def test_a_project_file_names_the_package(tmp_path: Path) -> None:
    folder = project(tmp_path, "hatchling.build")
    write(folder / "api.json", description())
    keys = "source: {openapi: api.json}, install-to: package, package: src/acme_tasks"
    (folder / "skillgen.yaml").write_text(f"targets: {{api: {{{keys}}}}}\n", encoding="utf-8")
    finished = run_skillgen("build", "--config", folder / "skillgen.yaml")
    assert finished.exit_code == 0, finished.stderr
    assert (folder / "src" / "acme_tasks" / SKILL / "SKILL.md").is_file()
