"""MCP servers and FastAPI applications that are written in Python, told by their files' own words."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillgen.model.value import Json
from skillgen.pipeline.programs import project_environment, resolved
from skillgen.pipeline.starting.places import Places
from skillgen.pipeline.starting.proposal import Proposal
from skillgen.sources.guards import as_dict, as_list

_LIBRARIES = ("mcp", "fastmcp", "mcp-server", "fastapi-mcp")
_SERVES = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(?:mcp\.server|fastmcp)\b|^[ \t]*from[ \t]+mcp[ \t]+import\b[^\n]*Server|"
    r"\b(?:FastMCP|MCPServer)\(",
    re.M,
)
_RUNS = re.compile(r"""^if\s+__name__\s*==\s*["']__main__["']""", re.M)
_APPLICATION = re.compile(r"^(\w+)\s*(?::[^=\n]+)?=\s*(?:fastapi\.)?FastAPI\(", re.M)
_ENTRY = re.compile(r"([\w.]+)\s*:\s*(\w+)")
_MODULE = re.compile(r"(?:[A-Za-z_]\w*/)*[A-Za-z_]\w*\.py\Z")


def python_servers(places: Places) -> Iterator[Proposal]:
    """Gives a proposal for each project in Python that needs an MCP library and serves with it."""
    for path in places.named("pyproject.toml"):
        project = _Project.read(places, path)
        if project.needs(_LIBRARIES) and (found := _server_of(project, path)) is not None:
            yield found
    claimed = {path.rpartition("/")[0] for path in places.named("pyproject.toml")}
    for path in places.files:
        folder = path.rpartition("/")[0]
        loose = not any(folder == other or folder.startswith(f"{other}/") or not other for other in claimed)
        if loose and path.endswith(".py") and _is_server_file(places, path):
            yield Proposal(
                name=path.rpartition("/")[2][: -len(".py")] if "/" not in path else folder.rpartition("/")[2],
                source={"command": ["python", path]},
                found=f"an MCP server in {path}",
            )


def fastapi_applications(places: Places) -> Iterator[Proposal]:
    """Gives a proposal for each module that makes a FastAPI application when it is imported."""
    for path in places.files:
        if not path.endswith(".py"):
            continue
        text = places.text(path)
        if "FastAPI(" not in text or (found := _APPLICATION.search(text)) is None:
            continue
        project = _Project.around(places, path)
        inside = path[len(project.folder) + 1 :] if project.folder else path
        inside = inside.removeprefix(f"{project.import_root}/") if project.import_root else inside
        if not _MODULE.match(inside):
            continue
        module = inside[: -len(".py")].replace("/", ".").removesuffix(".__init__")
        code = f"import json; from {module} import {found[1]}; print(json.dumps({found[1]}.openapi()))"
        yield Proposal(
            name=project.name or module.partition(".")[0],
            source={"openapi-command": [*project.runner, "python", "-c", code], **project.surroundings()},
            found=f"a FastAPI application in {path}",
            cautions=("the packages that it imports must be installed",),
        )


def _server_of(project: _Project, path: str) -> Proposal | None:
    sources = [item for item in project.files if item.endswith(".py") and _SERVES.search(project.places.text(item))]
    scripts = project.scripts
    if scripts and (sources or not project.has_sources):
        likely = sorted(scripts, key=lambda name: (not _is_likely(scripts[name], sources), "mcp" not in name.lower()))
        name = likely[0]
        command, surroundings = project.command_of(name, scripts[name])
        return Proposal(
            name=name,
            source={"command": command, **surroundings},
            found=f"an MCP server in {path}, script {name}",
            cautions=() if command == [name] else ("the packages that it imports must be installed",),
            alternatives=tuple(likely[1:]),
        )
    running = [item for item in sources if _RUNS.search(project.places.text(item))]
    if not running:
        return None
    file = running[0][len(project.folder) + 1 :] if project.folder else running[0]
    surroundings = {"cwd": project.folder} if project.folder else {}
    return Proposal(
        name=project.name or file[: -len(".py")],
        source={"command": [*project.runner, "python", file], **surroundings},
        found=f"an MCP server in {running[0]}",
        cautions=("the packages that it imports must be installed",),
    )


def _is_likely(entry: str, sources: list[str]) -> bool:
    """Tells whether a script starts in a file that serves."""
    module = entry.partition(":")[0].strip().replace(".", "/")
    return any(item.endswith((f"{module}.py", f"{module}/__init__.py")) for item in sources)


def _is_server_file(places: Places, path: str) -> bool:
    text = places.text(path)
    return bool(_SERVES.search(text) and _RUNS.search(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Project:
    """A folder with a pyproject.toml, or the project's own."""

    places: Places
    folder: str
    data: dict[str, Json]

    @classmethod
    def read(cls, places: Places, path: str) -> _Project:
        return cls(places=places, folder=path.rpartition("/")[0], data=_toml(places.text(path)))

    @classmethod
    def around(cls, places: Places, path: str) -> _Project:
        """Gives the nearest project above a file."""
        folders = [parent.as_posix() for parent in Path(path).parents]
        for folder in folders:
            for name in ("pyproject.toml", "requirements.txt", "setup.py"):
                inside = name if folder == "." else f"{folder}/{name}"
                if places.has(inside):
                    data = _toml(places.text(inside)) if name == "pyproject.toml" else {}
                    return cls(places=places, folder="" if folder == "." else folder, data=data)
        return cls(places=places, folder="", data={})

    @property
    def table(self) -> dict[str, Json]:
        return as_dict(self.data.get("project"))

    @property
    def poetry(self) -> dict[str, Json]:
        return as_dict(as_dict(self.data.get("tool")).get("poetry"))

    @property
    def name(self) -> str:
        name = self.table.get("name") or self.poetry.get("name")
        return name if isinstance(name, str) else ""

    @property
    def files(self) -> list[str]:
        return [item for item in self.places.files if not self.folder or item.startswith(f"{self.folder}/")]

    @property
    def has_sources(self) -> bool:
        return any(item.endswith(".py") for item in self.files)

    @property
    def scripts(self) -> dict[str, str]:
        found = as_dict(self.table.get("scripts")) | as_dict(self.poetry.get("scripts"))
        return {name: entry for name, entry in found.items() if isinstance(entry, str)}

    @property
    def import_root(self) -> str:
        return "src" if any(item.startswith(self._inside("src/")) for item in self.files) else ""

    @property
    def runner(self) -> list[str]:
        """What runs a command in the project's own environment."""
        for tool in ("uv", "poetry", "pdm"):
            if self.places.has(self._inside(f"{tool}.lock")) and shutil.which(tool):
                return [tool, "run"]
        return []

    def needs(self, libraries: tuple[str, ...]) -> bool:
        """Tells whether one of these is among its dependencies, also the optional ones."""
        listed = [*as_list(self.table.get("dependencies"))]
        for extra in as_dict(self.table.get("optional-dependencies")).values():
            listed += as_list(extra)
        names = {re.split(r"[\s\[<>=!~;@(]", item.strip(), maxsplit=1)[0] for item in listed if isinstance(item, str)}
        names |= set(as_dict(self.poetry.get("dependencies")))
        return bool({re.sub(r"[-_.]+", "-", name).lower() for name in names} & set(libraries))

    def command_of(self, script: str, entry: str) -> tuple[list[str], dict[str, Any]]:
        """Gives the command of a script: by name where it can be found, else from its module."""
        here: dict[str, Any] = {"cwd": self.folder} if self.folder else {}
        if self.runner:
            return [*self.runner, script], here
        found = _ENTRY.match(entry)
        if found is None or self._is_installed(script):
            return [script], here
        code = f"import sys; from {found[1]} import {found[2]}; sys.exit({found[2]}())"
        return ["python", "-c", code], self.surroundings()

    def surroundings(self) -> dict[str, Any]:
        """Gives the folder and the variables that its modules need to be imported."""
        found: dict[str, Any] = {"cwd": self.folder} if self.folder else {}
        if self.import_root:
            found["env"] = {"PYTHONPATH": self.import_root}
        return found

    def _is_installed(self, script: str) -> bool:
        root = self.places.root
        environment = project_environment(os.environ, root / self.folder, root)
        return shutil.which(resolved((script,), environment)[0], path=environment.get("PATH")) is not None

    def _inside(self, path: str) -> str:
        return f"{self.folder}/{path}" if self.folder else path


def _toml(text: str) -> dict[str, Json]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return as_dict(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
