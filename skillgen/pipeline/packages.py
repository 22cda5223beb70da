"""The folders that skills are installed into: those of hosts, and that of the project's own package.

A Python package carries its skill in `PACKAGE/.agents/skills/NAME/`, where library-skills finds it once the package is
installed; an npm package in `skills/NAME/`, where skills-npm does. `packaging_problems` reports what the build system
needs to include it; nothing that belongs to the user is edited.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from skillgen.config.project import HOSTS, PACKAGE, PACKAGE_FOLDER, OutputOptions, PathName
from skillgen.errors import Problem, UsageError
from skillgen.model.values import Json
from skillgen.security.tables import parse_toml
from skillgen.sources.documents import text_of_file
from skillgen.sources.json_access import as_dict, json_or_none, text_of, texts_of
from skillgen.write.files import is_below


class SkillFolder(Struct, frozen=True, kw_only=True):
    """A folder to install skills into."""

    path: Path
    project: Path
    """The folder of the project, or the home folder."""

    package: Path | None = None
    """The folder of the package that the skill is distributed with."""


def skill_folders(output: OutputOptions, project: Path = Path()) -> tuple[SkillFolder, ...]:
    """Returns the folders of `--install`: below `project` (default: the current folder), or with `user` below home.

    Raises:
        UsageError: a symbolic link points out of the project, or the package cannot be found.
    """
    top = Path.home() if output.user else project
    folders = []
    for host in dict.fromkeys(output.install_to):
        package = None
        if host == PACKAGE:
            package = _package_folder(project, output.package)
            path = package / ("skills" if _is_npm(package) else PACKAGE_FOLDER)
        else:
            path = top / HOSTS[host]
        if not output.user and not is_below(path, project):
            what = f"a symbolic link takes {path.relative_to(project).as_posix()} out of the project"
            raise UsageError(
                what, where="--install", fix="remove the link, or install into the home folder with --user"
            )
        folders.append(SkillFolder(path=path, project=top, package=package))
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
        folder = project / named
        if not is_below(folder, project):
            raise UsageError(
                f"{folder.as_posix()} is outside the project", where="--package", fix="name a folder in it"
            )
        if not _is_npm(folder) and not any(folder.glob("*.py")):
            what = f"{folder.as_posix()} has neither Python modules nor a package.json"
            raise UsageError(what, where="--package", fix="name the folder of the package")
        return folder
    is_python = any((project / name).is_file() for name in ("pyproject.toml", "setup.cfg", "setup.py"))
    is_npm = "name" in (data := _json_of(project / "package.json"))
    if is_python and is_npm and not data.get("private"):
        what = "the project has a pyproject.toml and a package.json, so either can carry the skill"
        raise UsageError(what, where="--install", fix="name the folder of the package with --package")
    if is_python:
        return _python_package(project)
    if is_npm:
        return project
    what = "the project has no pyproject.toml, and no package.json with a name"
    raise UsageError(
        what, where="--install", fix="run in the folder of the project, or name the package with --package"
    )


def _python_package(project: Path) -> Path:
    """Returns the package that has the project's name, else the one that its commands are in, else the only one."""
    data = _toml_of(project / "pyproject.toml")
    tables = (_table(data, "project"), _table(data, "tool", "poetry"))
    top = project / "src" if (project / "src").is_dir() else project
    packages = {path.parent.name: path.parent for path in sorted(top.glob("*/__init__.py"))}
    packages = {name: path for name, path in packages.items() if name.isidentifier() and name not in _NO_PACKAGES}
    names = [name for table in tables if isinstance(name := table.get("name"), str)]
    scripts = [entry for table in tables for entry in _table(table, "scripts").values() if isinstance(entry, str)]
    by_name = {name for name in packages if any(name.lower() == re.sub(r"[-_.]+", "_", own).lower() for own in names)}
    by_script = {re.split(r"[.:]", entry, maxsplit=1)[0] for entry in scripts} & packages.keys()
    chosen = next((names for names in (by_name, by_script, packages.keys()) if len(names) == 1), None)
    if chosen is None:
        found = f": {', '.join(sorted(packages))}" if packages else ""
        what = f"{'several packages' if packages else 'no package'} in {top.as_posix()} could carry the skill{found}"
        raise UsageError(what, where="--install", fix="name the folder of the package with --package")
    return packages[next(iter(chosen))]


# -- The build system ------------------------------------------------------------------------------------------------

_INCLUDING = ("hatchling", "poetry", "uv_build", "flit_core", "pdm")
"""Build backends that put every file of a package into a wheel. Each was tried with this layout."""


def packaging_problems(place: SkillFolder, skill: Path) -> Iterator[Problem]:
    """Yields what keeps an installed skill out of the distribution of its package."""
    if place.package is None:
        return
    yield from _npm_problems(place.package) if _is_npm(place.package) else _wheel_problems(place, skill)
    if pattern := _ignoring_pattern(skill / "SKILL.md"):
        line = "!/skills/" if _is_npm(place.package) else f"!**/{place.package.name}/.agents/"
        yield Problem.of(
            code="packaged-skill-ignored",
            where=skill.as_posix(),
            message=f"git ignores the skill ({pattern}), and so do hatchling, poetry-core and npm",
            fix=f"remove the pattern, or add the line {line} below it",
        )


def _npm_problems(package: Path) -> Iterator[Problem]:
    files = _json_of(package / "package.json").get("files")
    if not isinstance(files, list) or any(_covers(str(pattern), "skills") for pattern in files):
        return
    yield Problem.of(
        code="skill-not-packaged",
        where=(package / "package.json").as_posix(),
        message="npm leaves the skill out of the package, because files does not name its folder",
        fix=f'write "files": {json.dumps([*files, "skills"], ensure_ascii=False)}',
    )


def _covers(pattern: str, folder: str) -> bool:
    """True if an entry of `files` in package.json includes a folder."""
    return re.sub(r"^\.?/|(/\*\*)?(/\*)?/?$", "", pattern) in (folder, "", "*", "**")


def _wheel_problems(place: SkillFolder, skill: Path) -> Iterator[Problem]:
    package = place.package or place.project
    root = next((item for item in package.parents if (item / "pyproject.toml").is_file()), place.project)
    file = root / "pyproject.toml"
    data = _toml_of(file)
    build = _table(data, "build-system")
    backend = str(build.get("build-backend") or ("poetry" if "poetry" in _table(data, "tool") else "setuptools"))
    if backend.startswith(_INCLUDING):
        return
    if not backend.startswith("setuptools"):
        yield Problem.of(
            code="skill-not-packaged",
            where=file.as_posix(),
            message=f"it is not known whether {backend} includes files of a package such as {PACKAGE_FOLDER}",
            fix="build a wheel, and see whether SKILL.md is in it",
        )
        return
    settings = _table(data, "tool", "setuptools")
    name = _dotted_name(package, root, text_of(_table(settings, "package-dir"), "") or "src")
    patterns = _table(settings, "package-data")
    if any(".agents" in item for key in (name, "*", "") for item in texts_of(patterns, key)):
        return
    if _finds_by_itself(root, build):
        return
    entries = json.dumps([*texts_of(patterns, name), f"{PACKAGE_FOLDER}/**/*"])
    line = f"{json.dumps(name) if '.' in name else name} = {entries}"
    header = "[tool.setuptools.package-data]"
    fix = f"write {line} below {header}" if patterns else f"add the lines {header} and {line}"
    yield Problem.of(
        code="skill-not-packaged",
        where=file.as_posix(),
        message=f"setuptools leaves the skill out of the wheel, because no package-data of {name} names it",
        fix=fix,
    )


def _finds_by_itself(root: Path, build: dict[str, Json]) -> bool:
    """True if setuptools takes the files of a package from git, or from a manifest that names the skill."""
    by_git = any(re.match(r"setuptools[-_](scm|git)", item) for item in texts_of(build, "requires"))
    return by_git or ".agents" in (text_of_file(root / "MANIFEST.in") or "")


def _dotted_name(package: Path, root: Path, source: str) -> str:
    """Returns the name by which a package is imported; `source` is the project's folder of modules, if it has one."""
    base = root / source if is_below(package, root / source) else root
    return ".".join(package.resolve().relative_to(base.resolve()).parts)


def _ignoring_pattern(file: Path) -> str:
    """Returns the pattern by which git ignores a file, with its place; empty without one or without git."""
    import subprocess

    folder = next(parent for parent in file.parents if parent.is_dir())
    command = (
        "git",
        "-c",
        "core.fsmonitor=false",
        "-C",
        str(folder),
        "check-ignore",
        "-v",
        "--no-index",
        str(file.absolute()),
    )
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        done = subprocess.run(command, capture_output=True, timeout=5, check=True)
        return done.stdout.decode("utf-8").partition("\t")[0]
    return ""


def _toml_of(path: Path) -> dict[str, Json]:
    with suppress(ValueError, RecursionError):
        return parse_toml(text_of_file(path) or "")
    return {}


def _json_of(path: Path) -> dict[str, Json]:
    return as_dict(json_or_none(text_of_file(path) or ""))


def _table(data: Json, *keys: str) -> dict[str, Json]:
    for key in keys:
        data = as_dict(data).get(key)
    return as_dict(data)
