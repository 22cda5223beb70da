"""Init: what a project has, the files it writes.

A source that a project has, as a target of its file.

The files of a project that may say what it has: not those of its dependencies, its tests or its output.

MCP servers and FastAPI applications that are written in Python, told by their files' own words.

MCP servers that are written in JavaScript or TypeScript, told by their package.json.

The servers that clients of a project's developers use: `.mcp.json` and its relatives.

Descriptions, snapshots and manifests that a project has, told by their content.

What is proposed of all that a project has: its own first, each under a name of its own.

The text of a new project's file, of its entry for pre-commit, and of the schema that editors read.
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

from skillgen.config.schema import project_schema
from skillgen.errors import ProblemLog, SkillgenError
from skillgen.model.values import Json
from skillgen.pipeline.build import project_environment, with_resolved_program
from skillgen.pipeline.generate import DEFAULT_OUT
from skillgen.sources.detect import is_description
from skillgen.sources.documents import is_snapshot, load_document
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.mcp.client_config import is_switched_off, read_client_config
from skillgen.sources.mcp.extensions import find_manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A target that could be."""

    name: str
    """What it may be called; made unique, and fit for a file's name, by `proposals`."""

    source: Mapping[str, Any]
    """The keys of `source:`: text, a list of words, or a mapping of texts."""

    evidence: str
    """What was seen, in a few words, with the file."""

    prerequisites: tuple[str, ...] = ()
    """What must be so before it can be made."""

    belongs_to_project: bool = True
    """Whether it is the project's own, and not merely something that its developers use."""

    alternatives: tuple[str, ...] = field(default=())
    """Other commands that may be meant."""


MAX_DEPTH = 4
"""Folders below the project's own in which it is looked."""

MAX_FILES = 10_000
"""Files after which looking ends."""

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
    """A project's folder."""

    root: Path
    """The folder."""

    @cached_property
    def files(self) -> tuple[str, ...]:
        """Its files relative to it, with forward slashes; those nearest to it first."""
        found: list[str] = []
        for folder, folders, names in os.walk(self.root):
            above = Path(folder).relative_to(self.root)
            folders[:] = sorted(
                name for name in folders if name.lower() not in _SKIPPED_FOLDERS and not _is_hidden(name)
            )
            if len(above.parts) >= MAX_DEPTH:
                folders.clear()
            ours = (name for name in sorted(names) if not name.startswith("."))
            found += [(above / name).as_posix() for name in ours if self._is_file(Path(folder, name))]
            if len(found) >= MAX_FILES:
                break
        return tuple(sorted(found, key=lambda path: (path.count("/"), path)))

    def named(self, name: str) -> tuple[str, ...]:
        """Gives the files of a name, in all folders."""
        return tuple(path for path in self.files if path.rpartition("/")[2] == name)

    def has(self, path: str) -> bool:
        """True if there is such a file in the project."""
        return bool(path) and self._is_file(self.root / path)

    def text(self, path: str) -> str:
        """Gives a small file's text; empty where it cannot be read."""
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
        """True for a file of the project: a link out of it may show a private file, or one of /proc that never ends."""
        try:
            return path.is_file() and path.resolve().is_relative_to(self._top)
        except (OSError, ValueError, RuntimeError):  # such as a name that is too long, or a link to itself
            return False


def _is_hidden(name: str) -> bool:
    return name.startswith(".") and name != ".well-known"


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


def python_servers(places: ProjectFiles) -> Iterator[Proposal]:
    """Gives a proposal for each project in Python that needs an MCP library and serves with it."""
    for path in places.named("pyproject.toml"):
        project = _Project.read(places, path)
        if project.needs(_PYTHON_LIBRARIES) and (found := _server_of(project, path)) is not None:
            yield found
    claimed = {path.rpartition("/")[0] for path in places.named("pyproject.toml")}
    for path in places.files:
        folder = path.rpartition("/")[0]
        loose = not any(folder == other or folder.startswith(f"{other}/") or not other for other in claimed)
        if loose and path.endswith(".py") and _is_server_file(places, path):
            yield Proposal(
                name=path.rpartition("/")[2][: -len(".py")] if "/" not in path else folder.rpartition("/")[2],
                source={"command": ["python", path]},
                evidence=f"an MCP server in {path}",
            )


def fastapi_applications(places: ProjectFiles) -> Iterator[Proposal]:
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
            evidence=f"a FastAPI application in {path}",
            prerequisites=("the packages that it imports must be installed",),
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
            evidence=f"an MCP server in {path}, script {name}",
            prerequisites=() if command == [name] else ("the packages that it imports must be installed",),
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
        evidence=f"an MCP server in {running[0]}",
        prerequisites=("the packages that it imports must be installed",),
    )


def _is_likely(entry: str, sources: list[str]) -> bool:
    """Tells whether a script starts in a file that serves."""
    module = entry.partition(":")[0].strip().replace(".", "/")
    return any(item.endswith((f"{module}.py", f"{module}/__init__.py")) for item in sources)


def _is_server_file(places: ProjectFiles, path: str) -> bool:
    text = places.text(path)
    return bool(_SERVES.search(text) and _RUNS.search(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Project:
    """A folder with a pyproject.toml, or the project's own."""

    places: ProjectFiles
    folder: str
    data: dict[str, Json]

    @classmethod
    def read(cls, places: ProjectFiles, path: str) -> _Project:
        return cls(places=places, folder=path.rpartition("/")[0], data=_toml(places.text(path)))

    @classmethod
    def around(cls, places: ProjectFiles, path: str) -> _Project:
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
_SCRIPTS = ("build", "compile", "prepare")


def node_servers(places: ProjectFiles) -> Iterator[Proposal]:
    """Gives a proposal for each package that needs an MCP library and has a command, or a file, that serves."""
    for path in places.named("package.json"):
        data = _package(places.text(path))
        needed = {name for key in ("dependencies", "devDependencies") for name in as_dict(data.get(key))}
        if not needed & set(_NODE_LIBRARIES):
            continue
        folder = path.rpartition("/")[0]
        commands = _commands(data, places, folder)
        if not commands:
            continue
        names = sorted(commands, key=lambda name: "mcp" not in name.lower())
        file = commands[names[0]]
        where: dict[str, Any] = {"cwd": folder} if folder else {}
        is_there = places.has(posixpath.join(folder, file))
        yield Proposal(
            name=names[0],
            source={"command": ["node", file], **where},
            evidence=f"an MCP server in {path}, {file}",
            prerequisites=() if is_there else (_build_hint(data, file),),
            alternatives=tuple(names[1:]),
        )


def _commands(data: dict[str, Json], places: ProjectFiles, folder: str) -> dict[str, str]:
    """Gives name to file: what the package installs as commands, else the file that it is, where that serves."""
    name = (text_of(data, "name") or "server").rpartition("/")[2]
    given = data.get("bin")
    listed = {name: given} if isinstance(given, str) else as_dict(given)
    found = {key: posixpath.normpath(file) for key, file in listed.items() if isinstance(file, str) and file}
    main = text_of(data, "main") or "index.js"
    if not found and "/server" in places.text(posixpath.join(folder, main)):
        found = {name: posixpath.normpath(main)}
    return {key: file for key, file in found.items() if not file.startswith(("/", ".."))}


def _build_hint(data: dict[str, Json], file: str) -> str:
    scripts = as_dict(data.get("scripts"))
    script = next((item for item in _SCRIPTS if item in scripts), None)
    return f"{file} is not there yet: npm run {script}" if script else f"{file} is not there yet"


def _package(text: str) -> dict[str, Json]:
    try:
        return as_dict(json.loads(text))
    except (ValueError, RecursionError):
        return {}


FILES = (
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


def client_servers(places: ProjectFiles) -> Iterator[Proposal]:
    """Gives a proposal for each server; one that several files name counts once."""
    seen: set[str] = set()
    for path in FILES:
        if not places.has(path):
            continue
        try:
            config = read_client_config(places.root / path)
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
                belongs_to_project=_runs_project_file(places, entry),
            )


def _runs_project_file(places: ProjectFiles, entry: Mapping[str, Json]) -> bool:
    words = [entry.get("command"), *as_list(entry.get("args"))]
    texts = [word.replace("${workspaceFolder}/", "").removeprefix("./") for word in words if isinstance(word, str)]
    return any(places.has(text) and not text.startswith("/") for text in texts)


_ENDINGS = (".json", ".yaml", ".yml")
_SIZE_LIMIT_BYTES = 64 * 1024 * 1024
_HINT = re.compile(rb"""["']?(openapi|swagger|snapshot|manifest_version)["']?\s*:""")
"""What such a file holds somewhere; the others are not parsed."""


def description_files(places: ProjectFiles) -> Iterator[Proposal]:
    """Gives a proposal for each; two files of one API (its YAML and its JSON) count once."""
    seen: set[tuple[str, str]] = set()
    for path in places.files:
        if not path.endswith(_ENDINGS) or not _may_be_description(places, path):
            continue
        try:
            data = load_document(str(places.root / path), ProblemLog()).data
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


def _may_be_description(places: ProjectFiles, path: str) -> bool:
    try:
        file = places.root / path
        return file.stat().st_size <= _SIZE_LIMIT_BYTES and _HINT.search(file.read_bytes()) is not None
    except OSError:
        return False


def _kind(data: Json) -> tuple[str, str]:
    if is_snapshot(data):
        return "snapshot", "a snapshot"
    if is_description(data) and isinstance(as_dict(data).get("info"), dict):
        return "openapi", "an OpenAPI description"
    if find_manifest(data) is not None:
        return "manifest", "a service manifest"
    return "", ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """The targets of a new project's file."""

    chosen: tuple[Proposal, ...]
    """Those that are made."""

    others: tuple[Proposal, ...]
    """Those that stand in the file as a comment."""


def propose_targets(root: Path) -> Proposals:
    """Looks at a project.

    A server that its developers use (`npx` some package) is not documented in a project that has something of its own,
    and neither is an application whose description is there as a file.
    """
    places = ProjectFiles(root)
    descriptions, clients = list(description_files(places)), list(client_servers(places))
    servers = [*python_servers(places), *node_servers(places)]
    applications = list(fastapi_applications(places))
    own_clients = [] if servers else [item for item in clients if item.belongs_to_project]
    used = [item for item in clients if item not in own_clients]
    chosen = [*descriptions, *servers, *own_clients]
    others: list[Proposal] = []
    (others if descriptions else chosen).extend(applications)
    (others if chosen else chosen).extend(used)
    named = _with_unique_names([*chosen, *others])
    return Proposals(chosen=tuple(named[: len(chosen)]), others=tuple(named[len(chosen) :]))


def _with_unique_names(proposals: Iterable[Proposal]) -> list[Proposal]:
    taken: set[str] = set()
    found = []
    for proposal in proposals:
        stem = _slug(proposal.name)
        name, number = stem, 2
        while name in taken:
            name, number = f"{stem}-{number}", number + 1
        taken.add(name)
        found.append(replace(proposal, name=name))
    return found


def _slug(name: str) -> str:
    """Gives a name as that of a folder."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:40].strip("-") or "api"


SCHEMA_NAME = ".skillgen.schema.json"
"""It stands beside the project's file: every checkout has it, without a network and wherever skillgen is installed."""

_PLAIN = re.compile(r"(?!(?:null|true|false|yes|no|on|off|y|n)\Z)\.?[A-Za-z_][\w./+-]*\Z", re.ASCII | re.IGNORECASE)

_FILE_HEADER = f"""\
# yaml-language-server: $schema=./{SCHEMA_NAME}
#
# What skillgen documents. `skillgen build` makes the documents of every target, `skillgen build --check` says in CI
# whether they are still true. Paths are relative to this file. Secrets come from the environment: ${{NAME}}.
# `build` and the hooks run the commands below, as make runs those of a Makefile.

targets:
"""
_OPTIONAL_KEYS = """\
    # out: {out}
    # emit: [skill, llms, ai-help, registry]
    # Words of your own win over what the source says:
    # description: What it does. Use when the user plans work.
    # when-to-use: [plan the week, find an open task]
    # not-for: [bug reports]
    # notes: |
    #   What else an agent should know, in Markdown.
"""
_EXAMPLES = """\
  # Take out the # of the one that fits, and correct it:
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
  # hosted:                                           # an MCP server at an address
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
    """Gives a project's file: the chosen targets, the others as comments; examples where nothing was found."""
    if not proposals.chosen:
        return _FILE_HEADER + _EXAMPLES
    first, *rest = proposals.chosen
    parts = [_target(first) + _OPTIONAL_KEYS.format(out=DEFAULT_OUT if not rest else f"{DEFAULT_OUT}/{first.name}")]
    parts += [_target(proposal) for proposal in rest]
    if proposals.others:
        parts.append(_commented(proposals.others))
    return _FILE_HEADER + "\n".join(parts)


def pre_commit_text() -> str:
    """Gives a configuration of pre-commit that makes the documents at each commit, by the installed skillgen."""
    return f"repos:\n{_HOOK}"


def pre_commit_entry() -> str:
    """Gives what is added to a configuration that there is, below `repos:`."""
    return _HOOK


def schema_text() -> str:
    """Gives the JSON Schema of the project's file."""
    return json.dumps(project_schema(), ensure_ascii=False, indent=1) + "\n"


def target_text(proposal: Proposal) -> str:
    """Gives one target, as it stands below `targets:`."""
    return _target(proposal)


def _commented(proposals: Iterable[Proposal]) -> str:
    lines = "".join(_target(proposal) for proposal in proposals).splitlines()
    return "  # Also found, and left out: take out the # where you want it.\n" + "".join(
        f"  # {line[2:]}".rstrip() + "\n" for line in lines
    )


def _target(proposal: Proposal) -> str:
    lines = [f"  # {_one_line(proposal.evidence)}"]
    lines += [f"  # first: {_one_line(caution)}" for caution in proposal.prerequisites]
    if proposal.alternatives:
        lines.append(f"  # other commands of it: {_one_line(', '.join(proposal.alternatives))}")
    lines += [f"  {_scalar(proposal.name)}:", "    source:"]
    for key, value in proposal.source.items():
        lines.append(f"      {key}: {_value(value)}")
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(key)}: {_scalar(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_scalar, value)) + "]"
    return _scalar(str(value))


def _scalar(text: str) -> str:
    """Gives text as YAML: plain where nothing in it could be taken for something else, else as JSON has it."""
    return text if _PLAIN.match(text) else json.dumps(text, ensure_ascii=True)


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)[:200]
