"""The project around a source: the environment of its commands, and the folders that skills are installed into.

Commands run in the nearest `.venv`, else the active virtual environment; never in that of skillgen, if it was created
for skillgen alone. A Python package carries its skill in `PACKAGE/.agents/skills/NAME/`, where library-skills finds it
once the package is installed; an npm package in `skills/NAME/`, where skills-npm does.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from operator import methodcaller
from pathlib import Path

from skillgen.config.option import PathName
from skillgen.config.project import HOSTS, PACKAGE, OutputOptions
from skillgen.errors import UsageError
from skillgen.model.values import Json
from skillgen.sources.documents import text_of_file
from skillgen.sources.json_access import as_dict, json_or_none, text_of
from skillgen.sources.mcp.target import is_tool_environment, programs_folder, without_tool_environment
from skillgen.write.files import is_below


def project_environment(caller: Mapping[str, str], folder: Path, project: Path) -> dict[str, str]:
    """Returns the variables for a command that runs in `folder` of a project.

    The nearest virtual environment from `folder` up to the top of the repository is activated: the one that is active
    may belong to an editor, a tool or another project. Without one in the repository, it remains active.
    """
    variables = without_tool_environment(caller)
    nearest = next(_environments(folder.resolve(), project.resolve()), None)
    if nearest is None:
        return variables
    programs = str(programs_folder(Path(nearest)))
    entries = [entry for entry in variables.get("PATH", os.defpath).split(os.pathsep) if entry != programs]
    return variables | {"VIRTUAL_ENV": nearest, "PATH": os.pathsep.join((programs, *entries))}


def _environments(folder: Path, project: Path) -> Iterator[str]:
    top = next((parent for parent in (project, *project.parents) if (parent / ".git").exists()), project)
    for parent in (folder, *folder.parents):
        yield from (str(parent / name) for name in (".venv", "venv") if (parent / name / "pyvenv.cfg").is_file())
        if parent == top or not parent.is_relative_to(top):
            break
    if sys.prefix != sys.base_prefix and not is_tool_environment() and Path(sys.prefix).is_relative_to(top):
        yield sys.prefix


def with_resolved_program(command: tuple[str, ...], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Returns a command with a program that exists on this system.

    Many systems have only `python3`. A program that is not on PATH is taken from skillgen's environment, unless that
    was created for skillgen alone: a project's server would not find its packages there.
    """
    path = environment.get("PATH")
    if not command or Path(command[0]).name != command[0] or shutil.which(command[0], path=path):
        return command
    program, *arguments = command
    if program == "python" and shutil.which("python3", path=path):
        return ("python3", *arguments)
    bundled = None if is_tool_environment() else shutil.which(program, path=str(Path(sys.executable).parent))
    return (bundled or program, *arguments)


def skill_folders(output: OutputOptions, project: Path = Path()) -> tuple[Path, ...]:
    """Returns the folders of `--install` in the project (default: the current folder), or with `user` the home folder.

    Raises:
        UsageError: a symbolic link points out of the project, or the package cannot be found.
    """
    folders = []
    for host in dict.fromkeys(output.install_to):
        if host == PACKAGE:
            package = _package_folder(project, output.package)
            path = package / ("skills" if _is_npm(package) else HOSTS["agents"])
        else:
            path = (Path.home() if output.user else project) / HOSTS[host]
        if not output.user and not is_below(path, project):
            what = f"a symbolic link takes {path.relative_to(project).as_posix()} out of the project"
            fix = "remove the link, or install into the home folder with --user"
            raise UsageError(what, where="--install", fix=fix)
        folders.append(path)
    return tuple(folders)


# -- The package -----------------------------------------------------------------------------------------------------

_NO_PACKAGES = frozenset(("tests", "test", "testing", "docs", "doc", "examples", "benchmarks", "scripts", "tools"))
"""Folders of Python modules that projects do not distribute."""


def _is_npm(folder: Path) -> bool:
    return (folder / "package.json").is_file() and not (folder / "__init__.py").is_file()


def _package_folder(project: Path, named: PathName | None) -> Path:
    """Returns the folder of the package: the named one, else the only one that the project's metadata can mean.

    Raises:
        UsageError: it is not a package below the project, or several could be meant.
    """
    if named is not None:
        folder, what = project / named, ""
        if not is_below(folder, project):
            what = "is outside the project"
        elif not _is_npm(folder) and not any(folder.glob("*.py")):
            what = "has neither Python modules nor a package.json"
        if what:
            raise UsageError(f"{folder.as_posix()} {what}", where="--package", fix="name the folder of the package")
        return folder
    is_python = any((project / name).is_file() for name in ("pyproject.toml", "setup.cfg", "setup.py"))
    data = as_dict(json_or_none(text_of_file(project / "package.json") or ""))
    found = []
    if is_python:  # the package that has the project's name, else all
        name = text_of(project_table(text_of_file(project / "pyproject.toml") or ""), "name") or ""
        top = project / "src" if (project / "src").is_dir() else project
        folders = [path.parent for path in sorted(top.glob("*/__init__.py"))]
        folders = [folder for folder in folders if folder.name.isidentifier() and folder.name not in _NO_PACKAGES]
        own = re.sub(r"[-_.]+", "_", name).lower()
        found = [folder for folder in folders if folder.name.lower() == own] or folders
    if "name" in data and not (is_python and data.get("private")):
        found.append(project)
    if len(found) == 1:
        return found[0]
    names = f": {', '.join(folder.relative_to(project).as_posix() for folder in found)}" if found else ""
    what = f"{'several packages' if found else 'no package'} in {project.as_posix()} could carry the skill{names}"
    raise UsageError(what, where="--install", fix="name the folder of the package with --package")


def project_table(pyproject: str) -> dict[str, Json]:
    """Returns what a pyproject.toml declares of a project: `project`, completed by the table of Poetry."""
    data: dict[str, Json] = {}
    with suppress(ValueError, RecursionError):
        data = _parsed_toml(pyproject)
    return as_dict(as_dict(data.get("tool")).get("poetry")) | as_dict(data.get("project"))


_TOML_LIMIT, _TOML_DOTS = 4 * 1024 * 1024, 500
"""Characters of a document, and full stops on a line."""


def _parsed_toml(text: str) -> dict[str, Json]:
    """Returns the content of a TOML document.

    Raises:
        ValueError: it is not TOML, or would take too long.
        RecursionError: it is nested too deeply.
    """
    # The library takes quadratic time for a dotted key, and recurses.
    if len(text) > _TOML_LIMIT or max(map(methodcaller("count", "."), text.splitlines()), default=0) > _TOML_DOTS:
        raise ValueError("too large, or a key has too many parts")
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text)
