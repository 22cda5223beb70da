"""Finds the sources of a project and writes its first skillgen.yaml, for `skillgen init`.

A source becomes a `Proposal`: descriptions, snapshots and manifests are detected by their content, Python servers and
FastAPI applications by their code, programs by the scripts of pyproject.toml, Node servers by their package.json, and
servers that developers use by the configuration files of clients. Nothing of the project is run.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import posixpath
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct
from msgspec.structs import replace

from skillgen.config.loader import FILE_NAME, find_project_file, without_variables
from skillgen.config.project import DEFAULT_OUT
from skillgen.config.schema import project_schema
from skillgen.errors import OutputError, ProblemLog, SkillgenError
from skillgen.model.values import Json
from skillgen.pipeline.build import project_environment, with_resolved_program
from skillgen.pipeline.read import KINDS
from skillgen.security.tables import parse_toml
from skillgen.sources.documents import load_document
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.mcp.client_config import is_switched_off, read_client_config
from skillgen.text.markdown import one_line


class Proposal(Struct, frozen=True, kw_only=True):
    """A possible target."""

    name: str
    """A name for it; `propose_targets` makes it unique and valid as a folder name."""

    source: Mapping[str, Any]
    """The keys of `source:`; a value is a string, a list of strings, or a mapping of strings."""

    evidence: str
    """What was found, with the file."""

    prerequisites: tuple[str, ...] = ()
    """What to do before the target can be built."""

    belongs_to_project: bool = True
    """False for a server that the developers merely use."""

    alternatives: tuple[str, ...] = ()
    """Other commands of the same package."""


MAX_DEPTH = 4
"""Levels of folders that are searched."""

MAX_FILES = 10_000
"""Number of files after which the search stops."""

_TEXT_LIMIT_BYTES = 1024 * 1024
# fmt: off
_SKIPPED_FOLDERS = frozenset((
    "node_modules", "bower_components", "vendor", "third_party", "venv", "env", "site-packages", "lib64",
    "dist", "build", "out", "target", "coverage", "htmlcov", "test", "tests", "__tests__", "testdata",
    "fixtures", "example", "examples", "sample", "samples", "demo", "demos", "e2e", "mocks", "__mocks__",
    "__pycache__", "agent-docs", "skills",
))
# fmt: on


@dataclass(frozen=True)
class ProjectFiles:
    """The files of a project, without those of its dependencies, its tests and its build output."""

    root: Path

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The files relative to `root`, with forward slashes, the least nested first."""
        paths: list[str] = []
        for folder, subfolders, names in os.walk(self.root):
            relative = Path(folder).relative_to(self.root)
            subfolders[:] = sorted(
                name
                for name in subfolders
                if name.lower() not in _SKIPPED_FOLDERS and (name == ".well-known" or not name.startswith("."))
            )
            if len(relative.parts) >= MAX_DEPTH:
                subfolders.clear()
            visible = (name for name in sorted(names) if not name.startswith("."))
            paths += [(relative / name).as_posix() for name in visible if self._is_file(Path(folder, name))]
            if len(paths) >= MAX_FILES:
                break
        return tuple(sorted(paths, key=lambda path: (path.count("/"), path)))

    def named(self, name: str) -> tuple[str, ...]:
        """Returns the files of that name in all folders."""
        return tuple(path for path in self.paths if path.rpartition("/")[2] == name)

    def has(self, path: str) -> bool:
        """True if the project has that file."""
        return bool(path) and self._is_file(self.root / path)

    def text(self, path: str) -> str:
        """Returns the first MiB of a file; empty if it cannot be read."""
        if not self.has(path):
            return ""
        try:
            with (self.root / path).open("rb") as file:
                return file.read(_TEXT_LIMIT_BYTES).decode("utf-8-sig", "replace")
        except OSError:
            return ""

    @cached_property
    def _top(self) -> Path:
        return self.root.resolve()

    def _is_file(self, path: Path) -> bool:
        """True for a regular file in the project. A link out of it could expose a private file or an endless device."""
        try:
            return path.is_file() and path.resolve().is_relative_to(self._top)
        except (OSError, ValueError, RuntimeError):  # such as a name that is too long, or a link to itself
            return False


# -- Python ----------------------------------------------------------------------------------------------------------

_NEEDS_PACKAGES = "install the packages that it imports"
_PYTHON_LIBRARIES = ("mcp", "fastmcp", "mcp-server", "fastapi-mcp")
_SERVES = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(?:mcp\.server|fastmcp)\b|^[ \t]*from[ \t]+mcp[ \t]+import\b[^\n]*Server|"
    r"\b(?:FastMCP|MCPServer)\(",
    re.M,
)
_PARSES = re.compile(r"^[ \t]*(?:from|import)[ \t]+(?:click|typer|argparse)\b", re.M)
_MODULES_READ = 100
"""Modules of a package that are searched for a parser of command lines."""

_RUNS = re.compile(r"""^if\s+__name__\s*==\s*["']__main__["']""", re.M)
_APPLICATION = re.compile(r"^(\w+)\s*(?::[^=\n]+)?=\s*(?:fastapi\.)?FastAPI\(", re.M)
_ENTRY = re.compile(r"([\w.]+)\s*:\s*(\w+)")
_MODULE = re.compile(r"(?:[A-Za-z_]\w*/)*[A-Za-z_]\w*\.py\Z")


def python_servers(files: ProjectFiles) -> Iterator[Proposal]:
    """Yields a proposal for each Python project that depends on an MCP library, and for each script that serves."""
    folders = [posixpath.dirname(path) for path in files.named("pyproject.toml")]
    for folder in folders:
        project = _PythonProject(files, folder)
        if project.needs(_PYTHON_LIBRARIES) and (proposal := _server_of(project)) is not None:
            yield proposal
    for path in files.paths:
        in_project = any(not folder or path.startswith(f"{folder}/") for folder in folders)
        if path.endswith(".py") and not in_project and _SERVES.search(text := files.text(path)) and _RUNS.search(text):
            yield Proposal(
                name=posixpath.basename(posixpath.dirname(path) or path.removesuffix(".py")),
                source={"command": ["python", path]},
                evidence=f"an MCP server in {path}",
            )


def python_programs(files: ProjectFiles) -> Iterator[Proposal]:
    """Yields a proposal for each script of a Python project that parses a command line, unless its package serves."""
    for folder in (posixpath.dirname(path) for path in files.named("pyproject.toml")):
        project = _PythonProject(files, folder)
        seen: set[str] = set()
        for name, entry in project.scripts.items():
            found = _ENTRY.fullmatch(entry.strip())
            path = project.module_file(found[1]) if found is not None else None
            if found is None or path is None or found[0] in seen:
                continue
            top = found[1].partition(".")[0]
            package = [path, *(other for other in files.paths if f"/{top}/" in f"/{other}" and other.endswith(".py"))]
            texts = [files.text(other) for other in package[:_MODULES_READ]]
            if any(map(_PARSES.search, texts)) and not any(map(_SERVES.search, texts)):
                seen.add(found[0])
                yield Proposal(
                    name=name,
                    source={"cli": f"{found[1]}:{found[2]}", "program": name, **project.import_settings},
                    evidence=f"a program in {posixpath.join(folder, 'pyproject.toml')}, script {name}",
                    prerequisites=(_NEEDS_PACKAGES,),
                )


def fastapi_applications(files: ProjectFiles) -> Iterator[Proposal]:
    """Yields a proposal for each module that creates a FastAPI application when it is imported."""
    for path in files.paths:
        text = files.text(path) if path.endswith(".py") else ""
        if "FastAPI(" not in text or (match := _APPLICATION.search(text)) is None:
            continue
        project = _PythonProject.around(files, path)
        inside = project.relative(path).removeprefix(f"{project.import_root}/" if project.import_root else "")
        if not _MODULE.match(inside):
            continue
        module = inside.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        code = f"import json; from {module} import {match[1]}; print(json.dumps({match[1]}.openapi()))"
        yield Proposal(
            name=project.name or module.partition(".")[0],
            source={"openapi-command": [*project.runner, "python", "-c", code], **project.import_settings},
            evidence=f"a FastAPI application in {path}",
            prerequisites=(_NEEDS_PACKAGES,),
        )


def _server_of(project: _PythonProject) -> Proposal | None:
    """Returns the server that a script of the project starts, else the one that a module starts."""
    files, scripts = project.files, project.scripts
    top = posixpath.join(project.folder, "")
    paths = [path for path in files.paths if path.endswith(".py") and path.startswith(top)]
    servers = [path for path in paths if _SERVES.search(files.text(path))]

    def likelihood(name: str) -> tuple[bool, bool]:
        module = scripts[name].partition(":")[0].strip().replace(".", "/")
        is_server = any(path.endswith((f"{module}.py", f"{module}/__init__.py")) for path in servers)
        return not is_server, "mcp" not in name.lower()

    if scripts and (servers or not paths):
        name, *alternatives = sorted(scripts, key=likelihood)
        source = project.source_of(name)
        return Proposal(
            name=name,
            source=source,
            evidence=f"an MCP server in {posixpath.join(project.folder, 'pyproject.toml')}, script {name}",
            prerequisites=() if source["command"] == [name] else (_NEEDS_PACKAGES,),
            alternatives=tuple(alternatives),
        )
    server = next((path for path in servers if _RUNS.search(files.text(path))), None)
    if server is None:
        return None
    file = project.relative(server)
    return Proposal(
        name=project.name or file.removesuffix(".py"),
        source={"command": [*project.runner, "python", file], **project.cwd},
        evidence=f"an MCP server in {server}",
        prerequisites=(_NEEDS_PACKAGES,),
    )


@dataclass(frozen=True)
class _PythonProject:
    """A folder with a pyproject.toml, or another folder with Python code."""

    files: ProjectFiles
    folder: str

    @classmethod
    def around(cls, files: ProjectFiles, path: str) -> _PythonProject:
        """Returns the nearest project above a file."""
        while path:
            path = posixpath.dirname(path)
            names = ("pyproject.toml", "requirements.txt", "setup.py")
            if any(files.has(posixpath.join(path, name)) for name in names):
                break
        return cls(files, path)

    def relative(self, path: str) -> str:
        """Returns a path relative to the folder of the project."""
        return posixpath.relpath(path, self.folder or ".")

    @cached_property
    def tables(self) -> tuple[dict[str, Json], dict[str, Json]]:
        """The tables `project` and `tool.poetry` of pyproject.toml."""
        data: dict[str, Json] = {}
        with contextlib.suppress(ValueError, RecursionError):
            data = parse_toml(self.files.text(posixpath.join(self.folder, "pyproject.toml")))
        return as_dict(data.get("project")), as_dict(as_dict(data.get("tool")).get("poetry"))

    @property
    def name(self) -> str:
        """Its name; empty if it declares none."""
        return next((name for table in self.tables if (name := text_of(table, "name"))), "")

    @property
    def scripts(self) -> dict[str, str]:
        """The commands that it installs, with their entry points."""
        scripts = {name: entry for table in self.tables for name, entry in as_dict(table.get("scripts")).items()}
        return {name: entry for name, entry in scripts.items() if isinstance(entry, str)}

    def module_file(self, module: str) -> str | None:
        """Returns the file of a module, if the project has it."""
        base = posixpath.join(self.folder, self.import_root, *module.split("."))
        return next((path for path in (f"{base}.py", f"{base}/__init__.py") if self.files.has(path)), None)

    @property
    def import_root(self) -> str:
        """The folder from which its modules are imported."""
        source_folder = posixpath.join(self.folder, "src/")
        return "src" if any(path.startswith(source_folder) for path in self.files.paths) else ""

    @property
    def cwd(self) -> dict[str, Any]:
        """The key `cwd` of a source; empty for the root folder."""
        return {"cwd": self.folder} if self.folder else {}

    @property
    def import_settings(self) -> dict[str, Any]:
        """The keys `cwd` and `env` of a source that imports modules of the project."""
        return self.cwd | ({"env": {"PYTHONPATH": self.import_root}} if self.import_root else {})

    @property
    def runner(self) -> list[str]:
        """The command that runs another one in the project's environment; empty if the project has no lock file."""
        for tool in ("uv", "poetry", "pdm"):
            if self.files.has(posixpath.join(self.folder, f"{tool}.lock")) and shutil.which(tool):
                return [tool, "run"]
        return []

    def needs(self, libraries: tuple[str, ...]) -> bool:
        """True if a library is among its dependencies, including the optional ones."""
        project, poetry = self.tables
        listed = [project.get("dependencies"), *as_dict(project.get("optional-dependencies")).values()]
        names = [
            re.split(r"[\s\[<>=!~;@(]", item.strip(), maxsplit=1)[0]
            for items in listed
            for item in as_list(items)
            if isinstance(item, str)
        ]
        names += as_dict(poetry.get("dependencies"))
        return bool({re.sub(r"[-_.]+", "-", name).lower() for name in names} & set(libraries))

    def source_of(self, script: str) -> dict[str, Any]:
        """Returns the source that runs a script: by name if it is installed, else by its entry point."""
        entry = _ENTRY.match(self.scripts[script])
        root = self.files.root
        environment = project_environment(os.environ, root / self.folder, root)
        program = with_resolved_program((script,), environment)[0]
        if self.runner or entry is None or shutil.which(program, path=environment.get("PATH")):
            return {"command": [*self.runner, script], **self.cwd}
        code = f"import sys; from {entry[1]} import {entry[2]}; sys.exit({entry[2]}())"
        return {"command": ["python", "-c", code], **self.import_settings}


# -- Node ------------------------------------------------------------------------------------------------------------

_NODE_LIBRARIES = ("@modelcontextprotocol/sdk", "@modelcontextprotocol/server", "fastmcp", "mcp-framework", "xmcp")
_BUILD_SCRIPTS = ("build", "compile", "prepare")


def node_servers(files: ProjectFiles) -> Iterator[Proposal]:
    """Yields a proposal for each package that depends on an MCP library and has a command or serving main file."""
    for path in files.named("package.json"):
        try:
            data = as_dict(json.loads(files.text(path)))
        except (ValueError, RecursionError):
            continue
        needed = {name for key in ("dependencies", "devDependencies") for name in as_dict(data.get(key))}
        folder = posixpath.dirname(path)
        commands = _commands(data, files, folder) if needed & set(_NODE_LIBRARIES) else {}
        if not commands:
            continue
        name, *alternatives = sorted(commands, key=lambda name: "mcp" not in name.lower())
        file, scripts = commands[name], as_dict(data.get("scripts"))
        script = next((f": npm run {item}" for item in _BUILD_SCRIPTS if item in scripts), "")
        exists = files.has(posixpath.join(folder, file))
        yield Proposal(
            name=name,
            source={"command": ["node", file], **({"cwd": folder} if folder else {})},
            evidence=f"an MCP server in {path}, {file}",
            prerequisites=() if exists else (f"{file} does not exist yet{script}",),
            alternatives=tuple(alternatives),
        )


def _commands(data: dict[str, Json], files: ProjectFiles, folder: str) -> dict[str, str]:
    """Returns name to file of the commands that a package installs; without any, its main file if that serves."""
    name = (text_of(data, "name") or "server").rpartition("/")[2]
    declared = data.get("bin")
    listed = {name: declared} if isinstance(declared, str) else as_dict(declared)
    commands = {key: posixpath.normpath(file) for key, file in listed.items() if isinstance(file, str) and file}
    main = text_of(data, "main") or "index.js"
    if not commands and "/server" in files.text(posixpath.join(folder, main)):
        commands = {name: posixpath.normpath(main)}
    return {key: file for key, file in commands.items() if not file.startswith(("/", ".."))}


# -- clients and documents -------------------------------------------------------------------------------------------

_CLIENT_FILES = (
    ".mcp.json",
    "mcp.json",
    ".vscode/mcp.json",
    ".cursor/mcp.json",
    "claude_desktop_config.json",
    ".claude/mcp.json",
    ".gemini/settings.json",
    ".roo/mcp.json",
    ".kiro/settings/mcp.json",
)
_VARIABLE = re.compile(r"\$\{(?:env:|input:)?([A-Za-z_][\w-]*)\}")
_CLIENT_VARIABLES = ("workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator")


def client_servers(files: ProjectFiles) -> Iterator[Proposal]:
    """Yields a proposal for each server in the project's client configurations; duplicates count once."""
    seen: set[str] = set()
    for path in filter(files.has, _CLIENT_FILES):
        try:
            config = read_client_config(files.root / path)
        except SkillgenError:
            continue
        for name, entry in config.servers.items():
            if name in seen or is_switched_off(entry):
                continue
            seen.add(name)
            variables = dict.fromkeys(_VARIABLE.findall(json.dumps(entry)))
            needed = [item for item in variables if item not in _CLIENT_VARIABLES]
            yield Proposal(
                name=name,
                source={"config": path, "server": name},
                evidence=f"the server {name!r} in {path}",
                prerequisites=tuple(f"set {item} in the environment" for item in needed),
                belongs_to_project=_runs_project_file(files, entry),
            )


def _runs_project_file(files: ProjectFiles, entry: Mapping[str, Json]) -> bool:
    command = [entry.get("command"), *as_list(entry.get("args"))]
    paths = [item.replace("${workspaceFolder}/", "").removeprefix("./") for item in command if isinstance(item, str)]
    return any(files.has(path) and not path.startswith("/") for path in paths)


_EXTENSIONS = (".json", ".yaml", ".yml")
_SIZE_LIMIT_BYTES = 64 * 1024 * 1024
_HINT = re.compile(rb"""["']?(openapi|swagger|snapshot|manifest_version)["']?\s*:""")
"""A file without any of these keys is not parsed."""


def description_files(files: ProjectFiles) -> Iterator[Proposal]:
    """Yields a proposal for each description, snapshot and manifest; the YAML and the JSON of one API count once."""
    seen: set[tuple[str, str]] = set()
    for path in files.paths:
        file = files.root / path
        try:
            if not path.endswith(_EXTENSIONS) or file.stat().st_size > _SIZE_LIMIT_BYTES:
                continue
            if _HINT.search(file.read_bytes()) is None:
                continue
            data = load_document(str(file), ProblemLog()).data
        except (OSError, SkillgenError):
            continue
        kind = next((name for name, kind in KINDS.items() if kind.matches(data)), None)
        info = as_dict(data).get("info")
        if kind is None or (kind == "openapi" and not isinstance(info, dict)):
            continue
        title = text_of(as_dict(info), "title") or posixpath.basename(path).rpartition(".")[0]
        identity = (kind, title.strip().lower() if kind == "openapi" else path)
        if identity not in seen:
            seen.add(identity)
            yield Proposal(name=title, source={kind: path}, evidence=f"{KINDS[kind].what} in {path}")


# -- the project file ------------------------------------------------------------------------------------------------


class Proposals(Struct, frozen=True, kw_only=True):
    """The targets of a new project file."""

    chosen: tuple[Proposal, ...]
    others: tuple[Proposal, ...]
    """The targets that are commented out."""

    unwritable: tuple[Proposal, ...]
    """What a project file cannot hold."""


def propose_targets(root: Path) -> Proposals:
    """Searches a project for sources.

    Commented out are servers that the developers merely use (such as `npx PACKAGE`) if the project has sources of its
    own, and FastAPI applications if it has description files.
    """
    files = ProjectFiles(root)
    descriptions, clients = list(description_files(files)), list(client_servers(files))
    servers = [*python_servers(files), *node_servers(files)]
    project_clients = [] if servers else [item for item in clients if item.belongs_to_project]
    chosen = [*descriptions, *servers, *project_clients, *python_programs(files)]
    others: list[Proposal] = []
    (others if descriptions else chosen).extend(fastapi_applications(files))
    (others if chosen else chosen).extend(item for item in clients if item not in project_clients)
    unwritable = tuple(item for item in (*chosen, *others) if not _is_writable(item))
    chosen, others = ([item for item in items if item not in unwritable] for items in (chosen, others))
    proposals = _with_unique_names([*chosen, *others])
    return Proposals(
        chosen=tuple(proposals[: len(chosen)]), others=tuple(proposals[len(chosen) :]), unwritable=unwritable
    )


def _with_unique_names(proposals: Iterable[Proposal]) -> list[Proposal]:
    taken: set[str] = set()
    renamed = []
    for proposal in proposals:
        # Lower-case ASCII with hyphens, for a folder.
        plain = unicodedata.normalize("NFKD", proposal.name).encode("ascii", "ignore").decode("ascii")
        stem = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:40].strip("-") or "api"
        name, number = stem, 2
        while name in taken:
            name, number = f"{stem}-{number}", number + 1
        taken.add(name)
        renamed.append(replace(proposal, name=name))
    return renamed


SCHEMA_NAME = ".skillgen.schema.json"
"""The schema is written next to the project file, so that every checkout has it, without a network."""

_FILE_HEADER = f"""\
# yaml-language-server: $schema=./{SCHEMA_NAME}
#
# What skillgen documents. `skillgen build` writes the documents of every target; `skillgen build --check` fails in CI
# if they are not up to date. Paths are relative to this file. Secrets come from the environment: ${{NAME}}.
# `build` and the hooks run the commands below, as make runs those of a Makefile.

targets:
"""
_OPTIONAL_KEYS = """\
    # out: {out}
    # emit: [skill, llms, ai-help, registry]
    # Your texts win over the source's:
    # description: What it does. Use when the user plans work.
    # when-to-use: [plan the week, find an open task]
    # not-for: [bug reports]
    # notes: |
    #   What else an agent should know, in Markdown.
"""
_EXAMPLES = """\
  # Remove the # of the one that fits, and correct it:
  #
  # api:
  #   source: {openapi: openapi.yaml}                 # a file or a URL
  #
  # app:                                              # a FastAPI application
  #   source:
  #     openapi-command: [python, -c, "import json; from main import app; print(json.dumps(app.openapi()))"]
  #
  # program:                                          # a Click or Typer program, or an argparse parser
  #   source: {cli: "acme.cli:app"}
  #
  # server:                                           # an MCP server that a command starts
  #   source: {command: [python, server.py]}
  #
  # hosted:                                           # an MCP server at a URL
  #   source: {url: "https://example.com/mcp", headers: {Authorization: "Bearer ${TOKEN}"}}
"""

PRE_COMMIT_NAME = ".pre-commit-config.yaml"
_HOOK = """\
  - repo: local
    hooks:
      - id: skillgen-build
        name: skillgen build
        entry: skillgen build --fail-on-change
        language: system
        pass_filenames: false
        always_run: true
"""


def write_project(proposals: Proposals) -> Iterator[str]:
    """Writes the project file and the pre-commit configuration, unless they exist; yields what to tell the user.

    Raises:
        OutputError: a file cannot be written.
    """
    for proposal in proposals.chosen:
        yield f"found {proposal.evidence}: target {proposal.name}"
        yield from (f"  first: {prerequisite}" for prerequisite in proposal.prerequisites)
    for proposal in proposals.others:
        yield f"found {proposal.evidence}: commented out; remove the # to document it"
    for proposal in proposals.unwritable:
        yield f"left out {proposal.evidence}: a name in it is not UTF-8 or has a null character; rename it"
    existing = find_project_file()
    if existing is None or existing.suffix != ".toml":
        schema, path = json.dumps(project_schema(), ensure_ascii=False, indent=1) + "\n", Path(SCHEMA_NAME)
        old = ProjectFiles(Path()).text(SCHEMA_NAME)
        if existing is None:
            _create(Path(FILE_NAME), _project_text(proposals))
        if not path.exists():
            _create(path, schema)
        elif '"title": "skillgen.yaml"' in old and old != schema:  # that of an older skillgen
            path.write_text(schema, "utf-8", newline="\n")
    if existing is None:
        yield f"wrote {FILE_NAME}, and {SCHEMA_NAME} for completion in editors"
        if not proposals.chosen:
            yield (
                f"found no OpenAPI description, no MCP server and no program; {FILE_NAME} has examples: correct the "
                "one that fits, then run skillgen build"
            )
    else:
        yield f"{existing} already exists and was not changed" + ("; a new one would have:" if proposals.chosen else "")
        yield from map(_target_text, proposals.chosen)
    yield from _write_pre_commit(proposals)
    if existing is None and proposals.chosen:
        yield f"skillgen build runs the commands in {FILE_NAME}: read them first"
        yield "next: skillgen build, then skillgen draft --agent COMMAND for texts by an agent such as 'claude -p'"


def _write_pre_commit(proposals: Proposals) -> Iterator[str]:
    path = Path(PRE_COMMIT_NAME)
    if path.exists():
        if "skillgen" not in ProjectFiles(Path()).text(PRE_COMMIT_NAME):
            yield f"{path} already exists and was not changed; add below repos:"
            yield _HOOK
    elif proposals.chosen:
        _create(path, f"repos:\n{_HOOK}")
        yield f"wrote {path}: run pre-commit install (or prek install) to enable it"
    script = shutil.which("skillgen")
    # The script on PATH may be a link to that of this installation, as pipx creates it.
    if script is None or Path(script).resolve().parent != Path(sys.executable).parent.resolve():
        yield (
            "the hook runs the `skillgen` on PATH, which is not this one: install skillgen from its repository with "
            "`uv tool install` or `pipx install` (`skillgen` on PyPI is another project)"
        )


def _create(path: Path, text: str) -> None:
    """Writes a new file.

    Raises:
        OutputError: it exists, or cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror}", where=str(path)) from None


def _project_text(proposals: Proposals) -> str:
    """Returns the text of a project file: the chosen targets, the others as comments; without targets, examples."""
    if not proposals.chosen:
        return _FILE_HEADER + _EXAMPLES
    first, *rest = proposals.chosen
    out = DEFAULT_OUT if not rest else f"{DEFAULT_OUT}/{first.name}"
    parts = [_target_text(first) + _OPTIONAL_KEYS.format(out=out), *map(_target_text, rest)]
    if proposals.others:
        lines = "".join(map(_target_text, proposals.others)).splitlines()
        comments = (f"  # {line[2:]}".rstrip() for line in lines)
        parts.append("\n".join(["  # Also found; remove the # to document it:", *comments, ""]))
    return _FILE_HEADER + "\n".join(parts)


def _target_text(proposal: Proposal) -> str:
    """Returns one target in YAML, indented for its place below `targets:`."""
    lines = [proposal.evidence, *(f"first: {prerequisite}" for prerequisite in proposal.prerequisites)]
    if proposal.alternatives:
        lines.append(f"other commands of this package: {', '.join(proposal.alternatives)}")
    lines = [f"  # {one_line(line)[:200]}" for line in lines]
    lines += [f"  {_yaml(proposal.name)}:", "    source:"]
    lines += [f"      {key}: {_yaml(value)}" for key, value in proposal.source.items()]
    return "\n".join(lines) + "\n"


def _yaml(value: Any) -> str:
    """Returns a value of a project file as YAML on one line, in which nothing is a variable."""
    if isinstance(value, str):
        value = without_variables(value)
    elif isinstance(value, list):
        value = [*map(without_variables, value)]
    elif isinstance(value, Mapping):
        value = {key: without_variables(text) for key, text in value.items()}
    return yaml.safe_dump(value, default_flow_style=True, width=math.inf).removesuffix("...\n").rstrip("\n")


def _is_writable(proposal: Proposal) -> bool:
    """True if a project file can hold the source: it is UTF-8 and has no null character."""
    text = json.dumps(dict(proposal.source), ensure_ascii=False)
    return "\\u0000" not in text and text.encode("utf-8", "replace").decode("utf-8") == text
