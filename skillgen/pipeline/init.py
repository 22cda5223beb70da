"""Finds the sources of a project and writes its first skillgen.yaml, for `skillgen init`.

A source becomes a `Proposal`: descriptions, snapshots and manifests are detected by their content, Python servers and
FastAPI applications by their code, Node servers by their package.json, and servers that developers use by the
configuration files of clients. Nothing of the project is run.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from skillgen.config.project import DEFAULT_OUT
from skillgen.config.schema import project_schema
from skillgen.errors import ProblemLog, SkillgenError
from skillgen.model.values import Json
from skillgen.pipeline.build import project_environment, with_resolved_program
from skillgen.sources.detect import is_description
from skillgen.sources.documents import is_snapshot, load_document
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.mcp.client_config import is_switched_off, read_client_config
from skillgen.sources.mcp.extensions import find_manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
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

    alternatives: tuple[str, ...] = field(default=())
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
    """Folder of the project."""

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The files relative to `root`, with forward slashes, the least nested first."""
        paths: list[str] = []
        for folder, subfolders, names in os.walk(self.root):
            relative = Path(folder).relative_to(self.root)
            subfolders[:] = sorted(
                name for name in subfolders if name.lower() not in _SKIPPED_FOLDERS and not _is_hidden(name)
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


def _is_hidden(name: str) -> bool:
    return name.startswith(".") and name != ".well-known"


_NEEDS_PACKAGES = "install the packages that it imports"
_PYTHON_LIBRARIES = ("mcp", "fastmcp", "mcp-server", "fastapi-mcp")
_SERVES = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(?:mcp\.server|fastmcp)\b|^[ \t]*from[ \t]+mcp[ \t]+import\b[^\n]*Server|"
    r"\b(?:FastMCP|MCPServer)\(",
    re.M,
)
_RUNS = re.compile(r"""^if\s+__name__\s*==\s*["']__main__["']""", re.M)
_APPLICATION = re.compile(r"^(\w+)\s*(?::[^=\n]+)?=\s*(?:fastapi\.)?FastAPI\(", re.M)
_ENTRY = re.compile(r"([\w.]+)\s*:\s*(\w+)")
_MODULE = re.compile(r"(?:[A-Za-z_]\w*/)*[A-Za-z_]\w*\.py\Z")


def python_servers(files: ProjectFiles) -> Iterator[Proposal]:
    """Yields a proposal for each Python project that depends on an MCP library, and for each script that serves."""
    for path in files.named("pyproject.toml"):
        project = _PythonProject.read(files, path)
        if project.needs(_PYTHON_LIBRARIES) and (proposal := _server_of(project, path)) is not None:
            yield proposal
    packages = {path.rpartition("/")[0] for path in files.named("pyproject.toml")}
    for path in files.paths:
        folder = path.rpartition("/")[0]
        is_script = not any(folder == other or folder.startswith(f"{other}/") or not other for other in packages)
        if is_script and path.endswith(".py") and _is_server_file(files, path):
            yield Proposal(
                name=path.rpartition("/")[2][: -len(".py")] if "/" not in path else folder.rpartition("/")[2],
                source={"command": ["python", path]},
                evidence=f"an MCP server in {path}",
            )


def fastapi_applications(files: ProjectFiles) -> Iterator[Proposal]:
    """Yields a proposal for each module that creates a FastAPI application when it is imported."""
    for path in files.paths:
        if not path.endswith(".py"):
            continue
        text = files.text(path)
        if "FastAPI(" not in text or (match := _APPLICATION.search(text)) is None:
            continue
        project = _PythonProject.around(files, path)
        inside = path[len(project.folder) + 1 :] if project.folder else path
        inside = inside.removeprefix(f"{project.import_root}/") if project.import_root else inside
        if not _MODULE.match(inside):
            continue
        module = inside[: -len(".py")].replace("/", ".").removesuffix(".__init__")
        code = f"import json; from {module} import {match[1]}; print(json.dumps({match[1]}.openapi()))"
        yield Proposal(
            name=project.name or module.partition(".")[0],
            source={"openapi-command": [*project.runner, "python", "-c", code], **project.import_settings()},
            evidence=f"a FastAPI application in {path}",
            prerequisites=(_NEEDS_PACKAGES,),
        )


def _server_of(project: _PythonProject, path: str) -> Proposal | None:
    sources = [item for item in project.paths if item.endswith(".py") and _SERVES.search(project.files.text(item))]
    scripts = project.scripts
    if scripts and (sources or not project.has_sources):
        likely = sorted(scripts, key=lambda name: (not _starts_in(scripts[name], sources), "mcp" not in name.lower()))
        name = likely[0]
        command, settings = project.command_of(name, scripts[name])
        return Proposal(
            name=name,
            source={"command": command, **settings},
            evidence=f"an MCP server in {path}, script {name}",
            prerequisites=() if command == [name] else (_NEEDS_PACKAGES,),
            alternatives=tuple(likely[1:]),
        )
    server = next((item for item in sources if _RUNS.search(project.files.text(item))), None)
    if server is None:
        return None
    file = server[len(project.folder) + 1 :] if project.folder else server
    return Proposal(
        name=project.name or file[: -len(".py")],
        source={"command": [*project.runner, "python", file], **project.cwd},
        evidence=f"an MCP server in {server}",
        prerequisites=(_NEEDS_PACKAGES,),
    )


def _starts_in(entry: str, sources: list[str]) -> bool:
    """True if the entry point of a script is in one of the source files."""
    module = entry.partition(":")[0].strip().replace(".", "/")
    return any(item.endswith((f"{module}.py", f"{module}/__init__.py")) for item in sources)


def _is_server_file(files: ProjectFiles, path: str) -> bool:
    text = files.text(path)
    return bool(_SERVES.search(text) and _RUNS.search(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class _PythonProject:
    """A folder with a pyproject.toml, or the root folder."""

    files: ProjectFiles
    folder: str
    data: dict[str, Json]

    @classmethod
    def read(cls, files: ProjectFiles, path: str) -> _PythonProject:
        return cls(files=files, folder=path.rpartition("/")[0], data=_toml(files.text(path)))

    @classmethod
    def around(cls, files: ProjectFiles, path: str) -> _PythonProject:
        """Returns the nearest project above a file."""
        folders = [parent.as_posix() for parent in Path(path).parents]
        for folder in folders:
            for name in ("pyproject.toml", "requirements.txt", "setup.py"):
                inside = name if folder == "." else f"{folder}/{name}"
                if files.has(inside):
                    data = _toml(files.text(inside)) if name == "pyproject.toml" else {}
                    return cls(files=files, folder="" if folder == "." else folder, data=data)
        return cls(files=files, folder="", data={})

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
    def paths(self) -> list[str]:
        return [item for item in self.files.paths if not self.folder or item.startswith(f"{self.folder}/")]

    @property
    def has_sources(self) -> bool:
        return any(item.endswith(".py") for item in self.paths)

    @property
    def scripts(self) -> dict[str, str]:
        scripts = as_dict(self.table.get("scripts")) | as_dict(self.poetry.get("scripts"))
        return {name: entry for name, entry in scripts.items() if isinstance(entry, str)}

    @property
    def import_root(self) -> str:
        return "src" if any(item.startswith(self._inside("src/")) for item in self.paths) else ""

    @property
    def cwd(self) -> dict[str, Any]:
        """The key `cwd` of a source; empty for the root folder."""
        return {"cwd": self.folder} if self.folder else {}

    @property
    def runner(self) -> list[str]:
        """The command that runs another one in the project's environment; empty if the project has no lock file."""
        for tool in ("uv", "poetry", "pdm"):
            if self.files.has(self._inside(f"{tool}.lock")) and shutil.which(tool):
                return [tool, "run"]
        return []

    def needs(self, libraries: tuple[str, ...]) -> bool:
        """True if a library is among its dependencies, including the optional ones."""
        listed = [*as_list(self.table.get("dependencies"))]
        for extra in as_dict(self.table.get("optional-dependencies")).values():
            listed += as_list(extra)
        names = {re.split(r"[\s\[<>=!~;@(]", item.strip(), maxsplit=1)[0] for item in listed if isinstance(item, str)}
        names |= set(as_dict(self.poetry.get("dependencies")))
        return bool({re.sub(r"[-_.]+", "-", name).lower() for name in names} & set(libraries))

    def command_of(self, script: str, entry: str) -> tuple[list[str], dict[str, Any]]:
        """Returns the command of a script and the keys that go with it: by name if it is installed, else by module."""
        if self.runner:
            return [*self.runner, script], self.cwd
        match = _ENTRY.match(entry)
        if match is None or self._is_installed(script):
            return [script], self.cwd
        code = f"import sys; from {match[1]} import {match[2]}; sys.exit({match[2]}())"
        return ["python", "-c", code], self.import_settings()

    def import_settings(self) -> dict[str, Any]:
        """Returns the keys `cwd` and `env` of a source that imports modules of the project."""
        return self.cwd | ({"env": {"PYTHONPATH": self.import_root}} if self.import_root else {})

    def _is_installed(self, script: str) -> bool:
        root = self.files.root
        environment = project_environment(os.environ, root / self.folder, root)
        return shutil.which(with_resolved_program((script,), environment)[0], path=environment.get("PATH")) is not None

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


_NODE_LIBRARIES = ("@modelcontextprotocol/sdk", "@modelcontextprotocol/server", "fastmcp", "mcp-framework", "xmcp")
_BUILD_SCRIPTS = ("build", "compile", "prepare")


def node_servers(files: ProjectFiles) -> Iterator[Proposal]:
    """Yields a proposal for each package that depends on an MCP library and has a command or serving main file."""
    for path in files.named("package.json"):
        data = _package(files.text(path))
        needed = {name for key in ("dependencies", "devDependencies") for name in as_dict(data.get(key))}
        if not needed & set(_NODE_LIBRARIES):
            continue
        folder = path.rpartition("/")[0]
        commands = _commands(data, files, folder)
        if not commands:
            continue
        names = sorted(commands, key=lambda name: "mcp" not in name.lower())
        file = commands[names[0]]
        cwd = {"cwd": folder} if folder else {}
        exists = files.has(posixpath.join(folder, file))
        yield Proposal(
            name=names[0],
            source={"command": ["node", file], **cwd},
            evidence=f"an MCP server in {path}, {file}",
            prerequisites=() if exists else (_build_hint(data, file),),
            alternatives=tuple(names[1:]),
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


def _build_hint(data: dict[str, Json], file: str) -> str:
    scripts = as_dict(data.get("scripts"))
    script = next((item for item in _BUILD_SCRIPTS if item in scripts), None)
    return f"{file} does not exist yet: npm run {script}" if script else f"{file} does not exist yet"


def _package(text: str) -> dict[str, Json]:
    try:
        return as_dict(json.loads(text))
    except (ValueError, RecursionError):
        return {}


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
    for path in _CLIENT_FILES:
        if not files.has(path):
            continue
        try:
            config = read_client_config(files.root / path)
        except SkillgenError:
            continue
        for name, entry in config.servers.items():
            if name in seen or is_switched_off(entry):
                continue
            seen.add(name)
            needed = dict.fromkeys(_VARIABLE.findall(json.dumps(entry)))
            yield Proposal(
                name=name,
                source={"config": path, "server": name},
                evidence=f"the server {name!r} in {path}",
                prerequisites=tuple(
                    f"set {item} in the environment" for item in needed if item not in _CLIENT_VARIABLES
                ),
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
        if not path.endswith(_EXTENSIONS) or not _may_be_description(files, path):
            continue
        try:
            data = load_document(str(files.root / path), ProblemLog()).data
        except SkillgenError:
            continue
        kind, what = _kind(data)
        if not kind:
            continue
        info = as_dict(as_dict(data).get("info"))
        title = text_of(info, "title") or path.rpartition("/")[2].rpartition(".")[0]
        identity = (kind, title.strip().lower()) if kind == "openapi" else (kind, path)
        if identity not in seen:
            seen.add(identity)
            yield Proposal(name=title, source={kind: path}, evidence=f"{what} in {path}")


def _may_be_description(files: ProjectFiles, path: str) -> bool:
    try:
        file = files.root / path
        return file.stat().st_size <= _SIZE_LIMIT_BYTES and _HINT.search(file.read_bytes()) is not None
    except OSError:
        return False


def _kind(data: Json) -> tuple[str, str]:
    """Returns the key of `source:` and the name of a kind of document; empty strings for other documents."""
    if is_snapshot(data):
        return "snapshot", "a snapshot"
    if is_description(data) and isinstance(as_dict(data).get("info"), dict):
        return "openapi", "an OpenAPI description"
    if find_manifest(data) is not None:
        return "manifest", "a service manifest"
    return "", ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """The targets of a new project file."""

    chosen: tuple[Proposal, ...]
    """The active targets."""

    others: tuple[Proposal, ...]
    """The targets that are commented out."""


def propose_targets(root: Path) -> Proposals:
    """Searches a project for sources.

    Commented out are servers that the developers merely use (such as `npx PACKAGE`) if the project has sources of its
    own, and FastAPI applications if it has description files.
    """
    files = ProjectFiles(root)
    descriptions, clients = list(description_files(files)), list(client_servers(files))
    servers = [*python_servers(files), *node_servers(files)]
    project_clients = [] if servers else [item for item in clients if item.belongs_to_project]
    chosen = [*descriptions, *servers, *project_clients]
    others: list[Proposal] = []
    (others if descriptions else chosen).extend(fastapi_applications(files))
    (others if chosen else chosen).extend(item for item in clients if item not in project_clients)
    proposals = _with_unique_names([*chosen, *others])
    return Proposals(chosen=tuple(proposals[: len(chosen)]), others=tuple(proposals[len(chosen) :]))


def _with_unique_names(proposals: Iterable[Proposal]) -> list[Proposal]:
    taken: set[str] = set()
    renamed = []
    for proposal in proposals:
        stem = _slug(proposal.name)
        name, number = stem, 2
        while name in taken:
            name, number = f"{stem}-{number}", number + 1
        taken.add(name)
        renamed.append(replace(proposal, name=name))
    return renamed


def _slug(name: str) -> str:
    """Returns a name in lower-case ASCII with hyphens, at most 40 characters, for a folder."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:40].strip("-") or "api"


SCHEMA_NAME = ".skillgen.schema.json"
"""The schema is written next to the project file, so that every checkout has it, without a network."""

_PLAIN = re.compile(r"(?!(?:null|true|false|yes|no|on|off|y|n)\Z)\.?[A-Za-z_][\w./+-]*\Z", re.ASCII | re.IGNORECASE)

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


def project_text(proposals: Proposals) -> str:
    """Returns the text of a project file: the chosen targets, the others as comments; without targets, examples."""
    if not proposals.chosen:
        return _FILE_HEADER + _EXAMPLES
    first, *rest = proposals.chosen
    parts = [target_text(first) + _OPTIONAL_KEYS.format(out=DEFAULT_OUT if not rest else f"{DEFAULT_OUT}/{first.name}")]
    parts += [target_text(proposal) for proposal in rest]
    if proposals.others:
        parts.append(_commented(proposals.others))
    return _FILE_HEADER + "\n".join(parts)


def pre_commit_text() -> str:
    """Returns a pre-commit configuration that builds the documents at each commit with the installed skillgen."""
    return f"repos:\n{_HOOK}"


def pre_commit_entry() -> str:
    """Returns the entry to add to an existing configuration, below `repos:`."""
    return _HOOK


def schema_text() -> str:
    """Returns the JSON Schema of the project file."""
    return json.dumps(project_schema(), ensure_ascii=False, indent=1) + "\n"


def target_text(proposal: Proposal) -> str:
    """Returns one target in YAML, indented for its place below `targets:`."""
    lines = [f"  # {_one_line(proposal.evidence)}"]
    lines += [f"  # first: {_one_line(prerequisite)}" for prerequisite in proposal.prerequisites]
    if proposal.alternatives:
        lines.append(f"  # other commands of this package: {_one_line(', '.join(proposal.alternatives))}")
    lines += [f"  {_scalar(proposal.name)}:", "    source:"]
    for key, value in proposal.source.items():
        lines.append(f"      {key}: {_value(value)}")
    return "\n".join(lines) + "\n"


def _commented(proposals: Iterable[Proposal]) -> str:
    lines = "".join(target_text(proposal) for proposal in proposals).splitlines()
    return "  # Also found; remove the # to document it:\n" + "".join(
        f"  # {line[2:]}".rstrip() + "\n" for line in lines
    )


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(key)}: {_scalar(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_scalar, value)) + "]"
    return _scalar(str(value))


def _scalar(text: str) -> str:
    """Returns a YAML scalar: plain if it cannot be read as something else, otherwise quoted as in JSON."""
    return text if _PLAIN.match(text) else json.dumps(text, ensure_ascii=True)


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)[:200]
