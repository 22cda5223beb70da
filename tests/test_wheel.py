"""What users install works without this repository: the wheel, made of the sdist, in an environment of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path, PurePosixPath

import pytest
from cli import ROOT, files_of, generated
from descriptions import description, write

import skillgen

SCRIPTS = "Scripts" if sys.platform == "win32" else "bin"


def run(*command: object, cwd: Path) -> str:
    """Runs a command that must succeed, far from the repository: not even its path is known."""
    hidden = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONUTF8": "1"}
    finished = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=hidden | quiet, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the wheel that is made of the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the commands of an environment that holds the wheel and what it asks for, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    run(folder / SCRIPTS / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    return folder / SCRIPTS


def test_the_wheel_carries_its_types_its_templates_and_its_licence(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    templates = {path.relative_to(ROOT).as_posix() for path in (ROOT / "templates").rglob("*") if path.is_file()}
    assert {f"skillgen/{name}" for name in templates} <= names
    kinds = (".toml", ".yaml", ".yml", ".md")
    data = {path.relative_to(ROOT).as_posix() for path in (ROOT / "skillgen").rglob("*") if path.suffix in kinds}
    assert {PurePosixPath(name).suffix for name in data} == set(kinds)
    assert data <= names
    assert "skillgen/py.typed" in names
    assert any(name.endswith("/LICENSE") for name in names)
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"skillgen", "skillgen_cli"}
    assert not {name for name in names if "pycache" in name or "_cache" in name}


def test_the_long_description_has_no_link_that_is_dead_on_another_site(wheel: Path) -> None:
    content = zipfile.ZipFile(wheel)
    (name,) = [name for name in content.namelist() if name.endswith("/METADATA")]
    text = content.read(name).decode("utf-8")
    assert "\n# skillgen\n" in text
    assert re.findall(r"\]\((?!https://)", text) == []


def test_the_wheel_carries_our_own_skill_where_library_skills_finds_it(wheel: Path) -> None:
    content = zipfile.ZipFile(wheel)
    own = files_of(ROOT / "skillgen" / ".agents" / "skills")
    assert "skillgen/SKILL.md" in own
    prefix = "skillgen/.agents/"
    packed = {name.removeprefix(prefix): content.read(name) for name in content.namelist() if name.startswith(prefix)}
    assert packed == {f"skills/{name}": text for name, text in own.items()}


def test_the_installed_flag_has_the_texts_of_our_project_file(environment: Path, tmp_path: Path) -> None:
    text = run(environment / "skillgen", "--ai-help", cwd=tmp_path)
    assert "- check that such documents are up to date\n" in text


def test_the_installed_command_prints_its_version(environment: Path, tmp_path: Path) -> None:
    expected = f"skillgen {skillgen.__version__}\n"
    assert run(environment / "skillgen", "--version", cwd=tmp_path) == expected
    assert run(environment / "python", "-m", "skillgen", "--version", cwd=tmp_path) == expected


def test_the_installed_command_writes_what_the_repository_writes(environment: Path, tmp_path: Path) -> None:
    """X-51: with the templates of the wheel, from another folder."""
    source = write(tmp_path / "api.json", description())
    run(environment / "skillgen", "from-openapi", source, "-o", "installed", cwd=tmp_path)
    generated("from-openapi", source, "-o", "repository", cwd=tmp_path)
    assert files_of(tmp_path / "installed") == files_of(tmp_path / "repository")
    place = run(environment / "python", "-c", "import skillgen; print(skillgen.__file__)", cwd=tmp_path)
    assert not Path(place.strip()).is_relative_to(ROOT)


def test_what_the_wheel_asks_for_is_all_that_it_imports(environment: Path, tmp_path: Path) -> None:
    script = (
        "import importlib, pkgutil, skillgen\n"
        "for module in pkgutil.walk_packages(skillgen.__path__, 'skillgen.'):\n"
        "    if not module.name.endswith('__main__'):\n"
        "        importlib.import_module(module.name)\n"
    )
    run(environment / "python", "-W", "error", "-c", script, cwd=tmp_path)
