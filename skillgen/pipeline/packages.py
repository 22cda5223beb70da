"""The folders that skills are installed into: those of hosts, and that of the project's own package.

A Python package carries its skill in `PACKAGE/.agents/skills/NAME/`, where library-skills finds it once the package is
installed; an npm package in `skills/NAME/`, where skills-npm does.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from skillgen.config.option import PathName
from skillgen.config.project import HOSTS, PACKAGE, OutputOptions
from skillgen.errors import UsageError
from skillgen.model.values import Json
from skillgen.security.tables import parse_toml
from skillgen.sources.documents import text_of_file
from skillgen.sources.json_access import as_dict, json_or_none, text_of
from skillgen.write.files import is_below


class SkillFolder(Struct, frozen=True, kw_only=True):
    """A folder to install skills into."""

    path: Path
    project: Path
    """The folder of the project, or the home folder."""


def skill_folders(output: OutputOptions, project: Path = Path()) -> tuple[SkillFolder, ...]:
    """Returns the folders of `--install`: below `project` (default: the current folder), or with `user` below home.

    Raises:
        UsageError: a symbolic link points out of the project, or the package cannot be found.
    """
    top = Path.home() if output.user else project
    folders = []
    for host in dict.fromkeys(output.install_to):
        if host == PACKAGE:
            package = _package_folder(project, output.package)
            path = package / ("skills" if _is_npm(package) else HOSTS["agents"])
        else:
            path = top / HOSTS[host]
        if not output.user and not is_below(path, project):
            what = f"a symbolic link takes {path.relative_to(project).as_posix()} out of the project"
            raise UsageError(
                what, where="--install", fix="remove the link, or install into the home folder with --user"
            )
        folders.append(SkillFolder(path=path, project=top))
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
            fix = "name the folder of the package"
            raise UsageError(f"{folder.as_posix()} {what}", where="--package", fix=fix)
        return folder
    is_python = any((project / name).is_file() for name in ("pyproject.toml", "setup.cfg", "setup.py"))
    data = as_dict(json_or_none(text_of_file(project / "package.json") or ""))
    found = _python_packages(project) if is_python else []
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
        data = parse_toml(pyproject)
    return as_dict(as_dict(data.get("tool")).get("poetry")) | as_dict(data.get("project"))


def _python_packages(project: Path) -> list[Path]:
    """Returns the package that has the project's name, else all."""
    name = text_of(project_table(text_of_file(project / "pyproject.toml") or ""), "name") or ""
    top = project / "src" if (project / "src").is_dir() else project
    folders = [path.parent for path in sorted(top.glob("*/__init__.py"))]
    folders = [folder for folder in folders if folder.name.isidentifier() and folder.name not in _NO_PACKAGES]
    own = re.sub(r"[-_.]+", "_", name).lower()
    return [folder for folder in folders if folder.name.lower() == own] or folders
