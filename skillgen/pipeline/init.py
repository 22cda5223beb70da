"""Finds the sources of a project and writes its first skillgen.yaml, for `skillgen init`.

A source becomes a `Proposal`: descriptions, snapshots and manifests are detected by their content, Python servers and
FastAPI applications by their code, programs by the scripts of pyproject.toml, Node servers by their package.json, and
servers that developers use by the configuration files of clients. Nothing of the project is run.
"""

from __future__ import annotations

import json
import math
import os
import posixpath
import re
import shutil
import sys
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct
from msgspec.structs import replace

from skillgen.config.loader import FILE_NAME, find_project_file, without_variables
from skillgen.config.project import DEFAULT_OUT
from skillgen.config.schema import project_schema
from skillgen.errors import ProblemLog, SkillgenError
from skillgen.model.values import Json
from skillgen.pipeline.environments import project_environment, with_resolved_program
from skillgen.pipeline.packages import project_tables
from skillgen.pipeline.read import KINDS
from skillgen.sources.documents import load_document
from skillgen.sources.json_access import as_dict, as_list, json_or_none, text_of
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

    keys: Mapping[str, Any] = {}
    """Other keys of the target, with values of the same forms."""

    about: str | None = None
    """What the package says of itself."""

    first: tuple[str, ...] = ()
    """What to do before the target can be built."""

    is_own: bool = True
    """False for a server that the developers merely use."""


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

_NEEDS_PACKAGES = ("install the packages that it imports",)
_SERVES = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(?:mcp\.server|fastmcp)\b|^[ \t]*from[ \t]+mcp[ \t]+import\b[^\n]*Server|"
    r"\b(?:FastMCP|MCPServer)\(",
    re.M,
)
_PARSES = re.compile(r"^[ \t]*(?:from|import)[ \t]+(?:click|typer|argparse)\b", re.M)
_RUNS = re.compile(r"""^if\s+__name__\s*==\s*["']__main__["']""", re.M)
_APPLICATION = re.compile(r"^(\w+)\s*(?::[^=\n]+)?=\s*(?:fastapi\.)?FastAPI\(", re.M)
_ENTRY = re.compile(r"([\w.]+)\s*:\s*(\w+)")
_MODULE = re.compile(r"(?:[A-Za-z_]\w*/)*[A-Za-z_]\w*\.py\Z")


class _PythonProject(Struct, frozen=True, kw_only=True):
    """A folder with Python code, with what its pyproject.toml declares."""

    folder: str
    name: str | None
    keys: Mapping[str, Any]
    """What it declares and a target can: version and homepage."""

    about: str | None
    scripts: Mapping[str, re.Match[str]]
    """The commands that it installs, with their entry points."""

    root: str
    """The folder in it from which its modules are imported."""

    runner: tuple[str, ...]
    """The command that runs another one in its environment; empty without a lock file."""

    def settings(self, *, imports: bool = True) -> dict[str, Any]:
        """Returns the keys `cwd` and `env` of a source that starts in the folder, and may import its modules."""
        cwd = {"cwd": self.folder} if self.folder else {}
        return cwd | ({"env": {"PYTHONPATH": self.root}} if self.root and imports else {})


def _python_project(files: ProjectFiles, folder: str) -> _PythonProject:
    tables = project_tables(files.text(posixpath.join(folder, "pyproject.toml")))
    scripts = {name: entry for table in tables for name, entry in as_dict(table.get("scripts")).items()}
    entries = {name: _ENTRY.fullmatch(entry.strip()) for name, entry in scripts.items() if isinstance(entry, str)}
    runners = ("uv", "poetry", "pdm")
    locked = [name for name in runners if files.has(posixpath.join(folder, f"{name}.lock")) and shutil.which(name)]
    sources = posixpath.join(folder, "src/")
    return _PythonProject(
        folder=folder,
        name=_first_text(tables, "name"),
        keys=_keys(_first_text(tables, "version"), next(filter(None, map(_homepage, tables)), None)),
        about=_first_text(tables, "description"),
        scripts={name: entry for name, entry in entries.items() if entry is not None},
        root="src" if any(path.startswith(sources) for path in files.paths) else "",
        runner=(locked[0], "run") if locked else (),
    )


def _first_text(tables: Iterable[Mapping[str, Json]], name: str) -> str | None:
    return next((text for table in tables if (text := text_of(table, name))), None)


def _homepage(table: Mapping[str, Json]) -> str | None:
    """Returns the homepage in a table of a pyproject.toml; the label has any case (PEP 753)."""
    urls = {name.lower(): url for name, url in as_dict(table.get("urls")).items() if isinstance(url, str)}
    return urls.get("homepage") or text_of(table, "homepage")


def _keys(version: str | None, homepage: str | None, command: Sequence[str] = ()) -> dict[str, Any]:
    keys: dict[str, Any] = {"version": version} if version else {}
    if homepage and homepage.startswith(("https://", "http://")):
        keys["homepage"] = homepage
    return keys | ({"publish": {"command": [*command]}} if command else {})


def python_scripts(files: ProjectFiles, code: Mapping[str, str]) -> Iterator[Proposal]:
    """Yields the script of each project that starts an MCP server, else those that parse a command line."""
    for file in files.named("pyproject.toml"):
        project = _python_project(files, posixpath.dirname(file))
        top = posixpath.join(project.folder, project.root)
        servers, programs = dict[str, bool](), dict[str, str]()
        for name, entry in project.scripts.items():
            module = posixpath.join(top, *entry[1].split("."))
            files_of_module = (f"{module}.py", f"{module}/__init__.py")
            package = posixpath.join(top, entry[1].partition(".")[0])
            own = [path for path in code if path == f"{package}.py" or path.startswith(f"{package}/")]
            serving = [path for path in own if _SERVES.search(code[path])]
            if any(map(files.has, files_of_module)):
                if serving:
                    servers[name] = set(files_of_module).isdisjoint(serving)
                elif any(_PARSES.search(code[path]) for path in own):
                    programs.setdefault(f"{entry[1]}:{entry[2]}", name)
        for name in sorted(servers, key=lambda name: (servers[name], "mcp" not in name.lower()))[:1]:
            source = {"command": [*project.runner, name], **project.settings(imports=False)}
            environment = project_environment(os.environ, files.root / project.folder, files.root)
            program = with_resolved_program((name,), environment)[0]
            is_there = project.runner or shutil.which(program, path=environment.get("PATH"))
            public = ["uvx", *([] if project.name == name else ["--from", str(project.name)]), name]
            yield Proposal(
                name=name,
                source=source,
                evidence=f"an MCP server in {file}, script {name}",
                keys={**project.keys, **_keys(None, None, public if project.name else ())},
                about=project.about,
                first=() if is_there else (f"install the project, which has {name}: pip install -e .",),
            )
        for target, name in programs.items():
            source = {"cli": target, "program": name, **project.settings()}
            evidence = f"a program in {file}, script {name}"
            first = _NEEDS_PACKAGES
            yield Proposal(
                name=name, source=source, evidence=evidence, keys=project.keys, about=project.about, first=first
            )


def python_modules(files: ProjectFiles, code: Mapping[str, str], started: Collection[str]) -> Iterator[Proposal]:
    """Yields each module that serves when it is run, but those in the folders of `started`, and each that creates a
    FastAPI application when it is imported."""
    for path, text in code.items():
        is_server, application = _SERVES.search(text) and _RUNS.search(text), _APPLICATION.search(text)
        if not is_server and application is None:
            continue
        project = _python_project(files, _folder_of(files, path))
        file = posixpath.relpath(path, project.folder or ".")
        name = project.name or posixpath.basename(posixpath.dirname(path) or path.removesuffix(".py"))
        if is_server and project.folder not in started:
            source = {"command": [*project.runner, "python", file], **project.settings(imports=False)}
            evidence = f"an MCP server in {path}"
            yield Proposal(name=name, source=source, evidence=evidence, keys=project.keys, first=_NEEDS_PACKAGES)
        module = file.removeprefix(f"{project.root}/" if project.root else "")
        if application is not None and _MODULE.match(module):
            module = module.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
            line = f"import json; from {module} import {application[1]}; print(json.dumps({application[1]}.openapi()))"
            source = {"openapi-command": [*project.runner, "python", "-c", line], **project.settings()}
            yield Proposal(name=name, source=source, evidence=f"a FastAPI application in {path}", first=_NEEDS_PACKAGES)


def _folder_of(files: ProjectFiles, path: str) -> str:
    """Returns the folder of the nearest project above a file, else the root."""
    while path := posixpath.dirname(path):
        if any(files.has(posixpath.join(path, name)) for name in ("pyproject.toml", "requirements.txt", "setup.py")):
            break
    return path


# -- Node ------------------------------------------------------------------------------------------------------------

_NODE_LIBRARIES = {"@modelcontextprotocol/sdk", "@modelcontextprotocol/server", "fastmcp", "mcp-framework", "xmcp"}


def node_servers(files: ProjectFiles) -> Iterator[Proposal]:
    """Yields the command of each package that depends on an MCP library, else its main file if that serves."""
    for path in files.named("package.json"):
        data, folder = as_dict(json_or_none(files.text(path))), posixpath.dirname(path)
        if (
            not {name for key in ("dependencies", "devDependencies") for name in as_dict(data.get(key))}
            & _NODE_LIBRARIES
        ):
            continue
        name = text_of(data, "name") or "server"
        title, main = name.rpartition("/")[2], text_of(data, "main") or "index.js"
        declared = data.get("bin") or (main if "/server" in files.text(posixpath.join(folder, main)) else None)
        commands = {title: declared} if isinstance(declared, str) else as_dict(declared)
        found = {name: posixpath.normpath(file) for name, file in commands.items() if isinstance(file, str)}
        inside = {name: file for name, file in found.items() if not file.startswith(("/", ".."))}
        public = ["npx", "-y", name] if data.get("bin") and not data.get("private") else []
        keys = _keys(text_of(data, "version"), text_of(data, "homepage"), public)
        about = text_of(data, "description")
        script = ": npm run build" if "build" in as_dict(data.get("scripts")) else ""
        for command in sorted(inside or _typescript(files, folder), key=lambda name: "mcp" not in name.lower())[:1]:
            words = ["node", inside[command]] if inside else _typescript(files, folder)[command]
            exists = words[0] != "node" or files.has(posixpath.join(folder, words[-1]))
            yield Proposal(
                name=command if inside else title,
                source={"command": words, **({"cwd": folder} if folder else {})},
                evidence=f"an MCP server in {path}, {words[-1]}",
                keys=keys,
                about=about,
                first=() if exists else (f"{words[-1]} does not exist yet{script}",),
            )


_STARTS = re.compile(r"\bnew (?:StdioServerTransport|FastMCP)\(|\bserveStdio\(")
_COMPILED_TO = re.compile(r'"outDir"\s*:\s*"(?:\./)?([\w./-]+?)/?"')


def _typescript(files: ProjectFiles, folder: str) -> dict[str, list[str]]:
    """Returns the file of a package that starts a server in TypeScript to the command that runs what is compiled."""
    start = f"{folder}/" if folder else ""
    sources = [path for path in files.paths if path.startswith(start) and path.endswith((".ts", ".mts"))]
    found = [path.removeprefix(start) for path in sources if _STARTS.search(files.text(path))]
    out = _COMPILED_TO.search(files.text(f"{start}tsconfig.json"))
    commands = {}
    for path in found[:1]:
        compiled = path.removeprefix("src/").replace(".mts", ".mjs").replace(".ts", ".js")
        commands[path] = ["node", f"{out[1]}/{compiled}"] if out else ["npx", "tsx", path]
    return commands


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
                first=tuple(f"set {item} in the environment" for item in needed),
                is_own=_runs_project_file(files, entry),
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
    code = {path: files.text(path) for path in files.paths if path.endswith(".py")}
    code = {
        path: text for path, text in code.items() if _PARSES.search(text) or "mcp" in text.lower() or "FastAPI(" in text
    }
    descriptions, clients = list(description_files(files)), list(client_servers(files))
    scripts = list(python_scripts(files, code))
    started = {str(item.source.get("cwd", "")) for item in scripts if "command" in item.source}
    modules = list(python_modules(files, code, started))
    chosen = [*descriptions, *scripts, *(item for item in modules if "command" in item.source), *node_servers(files)]
    is_served = any("command" in item.source for item in chosen)
    chosen += [item for item in clients if item.is_own and not is_served]
    others: list[Proposal] = []
    (others if descriptions else chosen).extend(item for item in modules if "command" not in item.source)
    (others if chosen else chosen).extend(item for item in clients if item not in chosen)
    taken: set[str] = set()
    named = [[_with_unique_name(item, taken) for item in items if _is_writable(item)] for items in (chosen, others)]
    unwritable = tuple(item for item in (*chosen, *others) if not _is_writable(item))
    return Proposals(chosen=tuple(named[0]), others=tuple(named[1]), unwritable=unwritable)


def _with_unique_name(proposal: Proposal, taken: set[str]) -> Proposal:
    """Returns the proposal with a name for a folder: lower-case ASCII with hyphens."""
    plain = unicodedata.normalize("NFKD", proposal.name).encode("ascii", "ignore").decode("ascii")
    stem = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:40].strip("-") or "api"
    name = next(name for name in chain([stem], (f"{stem}-{number}" for number in count(2))) if name not in taken)
    taken.add(name)
    return replace(proposal, name=name)


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
    # description: {about} Use when the user plans work.
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


WORKFLOW_NAME = ".github/workflows/skillgen.yml"
_WORKFLOW = """\
# Checks that the documents are up to date, on three systems, and shows what their sources lack. SKILLGEN is a variable
# of the repository: what pip installs skillgen from, such as git+URL of its repository.
name: skillgen
on: [push, pull_request]
permissions: {contents: read}
jobs:
  check:
    strategy:
      fail-fast: false
      matrix: {os: [ubuntu-latest, windows-latest, macos-latest]}
    runs-on: ${{ matrix.os }}
    steps: &setup
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: "3.12"}
      - uses: actions/cache@v4
        with:
          path: |
            ~/.cache/pip
            ~/.cache/skillgen
          key: skillgen-${{ runner.os }}-${{ vars.SKILLGEN }}
      - run: python -m pip install "$SKILLGEN"
        shell: bash
        env: {SKILLGEN: "${{ vars.SKILLGEN }}"}
PROJECT      - run: skillgen build --check
  lint:
    runs-on: ubuntu-latest
    permissions: {contents: read, security-events: write}
    steps:
SETUP      - run: skillgen lint --format sarif > skillgen.sarif
      - if: ${{ !cancelled() }}
        uses: github/codeql-action/upload-sarif@v3
        with: {sarif_file: skillgen.sarif}
"""


def write_project(proposals: Proposals, ci: str | None = None) -> Iterator[str]:
    """Writes the project file and the pre-commit configuration, and for `ci` the workflow, unless they exist; yields
    what to tell the user.

    Raises:
        OSError: a file cannot be written.
    """
    for proposal in proposals.chosen:
        yield f"found {proposal.evidence}: target {proposal.name}"
        yield from (f"  first: {what}" for what in proposal.first)
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
    if ci is not None:
        yield from _write_workflow(Path(WORKFLOW_NAME))
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


def _write_workflow(path: Path) -> Iterator[str]:
    if path.exists():
        yield f"{path.as_posix()} already exists and was not changed"
        return
    own = "      - run: python -m pip install .\n" if Path("pyproject.toml").is_file() else ""
    own += "      - run: npm ci\n" if Path("package-lock.json").is_file() else ""
    start = _WORKFLOW.index("      - uses: actions/checkout")
    setup = _WORKFLOW[start : _WORKFLOW.index("      - run: skillgen build")].replace("PROJECT", own)
    path.parent.mkdir(parents=True, exist_ok=True)
    _create(path, _WORKFLOW.replace("steps: &setup", "steps:").replace("PROJECT", own).replace("SETUP", setup))
    yield f"wrote {path.as_posix()}: set the variable SKILLGEN of the repository to what pip installs skillgen from"


def _create(path: Path, text: str) -> None:
    """Writes a new file.

    Raises:
        OSError: it exists, or cannot be written.
    """
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)


def _project_text(proposals: Proposals) -> str:
    """Returns the text of a project file: the chosen targets, the others as comments; without targets, examples."""
    if not proposals.chosen:
        return _FILE_HEADER + _EXAMPLES
    first, *rest = proposals.chosen
    out = DEFAULT_OUT if not rest else f"{DEFAULT_OUT}/{first.name}"
    about = f"{one_line(first.about)[:500].rstrip('.')}." if first.about else "What it does."
    parts = [_target_text(first) + _OPTIONAL_KEYS.format(out=out, about=about), *map(_target_text, rest)]
    if proposals.others:
        lines = "".join(map(_target_text, proposals.others)).splitlines()
        comments = (f"  # {line[2:]}".rstrip() for line in lines)
        parts.append("\n".join(["  # Also found; remove the # to document it:", *comments, ""]))
    return _FILE_HEADER + "\n".join(parts)


def _target_text(proposal: Proposal) -> str:
    """Returns one target in YAML, indented for its place below `targets:`."""
    lines = [
        f"  # {one_line(line)[:200]}" for line in (proposal.evidence, *(f"first: {what}" for what in proposal.first))
    ]
    lines += [f"  {_yaml(proposal.name)}:", "    source:"]
    lines += [f"      {key}: {_yaml(value)}" for key, value in proposal.source.items()]
    lines += [f"    {key}: {_yaml(value)}" for key, value in proposal.keys.items()]
    return "\n".join(lines) + "\n"


def _yaml(value: Any) -> str:
    """Returns a value of a project file as YAML on one line, in which nothing is a variable."""
    if isinstance(value, Mapping):
        value = {key: _without_variables(item) for key, item in value.items()}
    else:
        value = _without_variables(value)
    return yaml.safe_dump(value, default_flow_style=True, width=math.inf).removesuffix("...\n").rstrip("\n")


def _without_variables(value: Any) -> Any:
    return without_variables(value) if isinstance(value, str) else [*map(without_variables, value)]


def _is_writable(proposal: Proposal) -> bool:
    """True if a project file can hold the source: it is UTF-8 and has no null character."""
    text = json.dumps([dict(proposal.source), dict(proposal.keys)], ensure_ascii=False)
    return "\\u0000" not in text and text.encode("utf-8", "replace").decode("utf-8") == text
