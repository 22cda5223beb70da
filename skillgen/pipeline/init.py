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
import shlex
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct
from msgspec import json as msgspec_json
from msgspec.structs import replace

from skillgen.config.convert import Converter
from skillgen.config.loader import read_project, variables_in, without_variables
from skillgen.config.project import DEFAULT_OUT, FILE_NAME, SOURCE_KINDS, Source, Target, find_project_file
from skillgen.config.schema import project_schema
from skillgen.errors import ProblemLog, SkillgenError
from skillgen.pipeline.ownership import records_in, walk_project
from skillgen.pipeline.packages import project_environment, project_table
from skillgen.pipeline.read import KINDS
from skillgen.sources.documents import load_document
from skillgen.sources.json_access import as_dict, json_or_none, text_of
from skillgen.sources.mcp.client_config import read_client_config
from skillgen.text.markdown import one_line
from skillgen.text.words import distinct, safe_stem, slug
from skillgen.write.files import is_below


class Proposal(Struct, frozen=True, kw_only=True):
    """A possible target."""

    name: str
    """A name for it; `propose_targets` makes it unique and valid as a folder name."""

    source: Mapping[str, Any]
    """The keys of `source:`."""

    evidence: str
    """What was found, with the file."""

    keys: Mapping[str, Any] = {}
    """Other keys of the target."""

    about: str | None = None
    """What the package says of itself."""

    first: tuple[str, ...] = ()
    """What to do before the target can be built."""


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


def _is_searched(name: str) -> bool:
    return name == ".well-known" or not (name.startswith(".") or name.lower() in _SKIPPED_FOLDERS)


@dataclass(frozen=True)
class ProjectFiles:
    """The files of a project, without those of its dependencies, its tests and its build output."""

    root: Path

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The files relative to `root`, with forward slashes, the least nested first."""
        paths: list[str] = []
        for folder, names in walk_project(self.root, _is_searched):
            visible = (folder / name for name in names if not name.startswith("."))
            paths += [path.relative_to(self.root).as_posix() for path in visible if self._is_file(path)]
            if len(paths) >= MAX_FILES:
                break
        return tuple(sorted(paths, key=lambda path: (path.count("/"), path)))

    def named(self, name: str) -> tuple[str, ...]:
        """Returns the files of that name in all folders."""
        return tuple(path for path in self.paths if path.rpartition("/")[2] == name)

    def has(self, *parts: str) -> bool:
        """True if the project has that file."""
        return any(parts) and self._is_file(self.root.joinpath(*parts))

    def text(self, *parts: str) -> str:
        """Returns the first MiB of a file; empty if it cannot be read."""
        if self.has(*parts):
            with suppress(OSError), self.root.joinpath(*parts).open("rb") as file:
                return file.read(_TEXT_LIMIT_BYTES).decode("utf-8-sig", "replace")
        return ""

    def _is_file(self, path: Path) -> bool:
        """True for a regular file in the project. A link out of it could expose a private file or an endless device."""
        return is_below(path, self.root) and path.is_file()


def _keys(version: str | None, homepage: str | None) -> dict[str, Any]:
    """Returns the keys of a target that a package declares."""
    keys = {"version": version} if version else {}
    return keys | ({"homepage": homepage} if homepage and homepage.startswith(("https://", "http://")) else {})


# -- Python ----------------------------------------------------------------------------------------------------------

_SERVES = re.compile(
    r"\b(?:FastMCP|MCPServer|mcp\.server(?:\.\w+)?\.Server)(?:\.\w+)?\("
    r"|^[ \t]*from[ \t]+mcp\.server\S*[ \t]+import\b(?:[^\n(]*|[ \t]*\([^)]*)\bServer\b",
    re.M,
)
"""The code of a module that creates a server."""
_PARSES = re.compile(r"^[ \t]*(?:from|import)[ \t]+(?:click|typer|argparse)\b", re.M)
_RUNS = re.compile(r"""^if\s+__name__\s*==\s*["']__main__["']|^\w+\.run\(""", re.M)
_APPLICATION = re.compile(r"^(\w+)\s*(?::[^=\n]+)?=\s*(?:fastapi\.)?FastAPI\(", re.M)
_ENTRY = re.compile(r"[\w.]+:\w+")
_MODULE = re.compile(r"(?:[A-Za-z_]\w*/)*[A-Za-z_]\w*\.py\Z")
_PROJECTS = ("pyproject.toml", "requirements.txt", "setup.py")


def python_sources(files: ProjectFiles) -> Iterator[Proposal]:
    """Yields of each project with Python code a script for each module that creates an MCP server, else the modules
    that serve when they are run; the scripts that parse a command line; and the FastAPI applications."""
    folders = {posixpath.dirname(path) for name in _PROJECTS for path in files.named(name)}
    projects: dict[str, dict[str, str]] = {}
    for path in files.paths:
        if path.endswith(".py"):
            folder = max((item for item in folders if path.startswith(f"{item}/")), key=len, default="")
            text = files.text(path)
            is_relevant = any(pattern.search(text) for pattern in (_SERVES, _PARSES, _APPLICATION))
            projects.setdefault(folder, {})[posixpath.relpath(path, folder or ".")] = text if is_relevant else ""
    for folder, code in projects.items():
        yield from _python_project(files, folder, code)


def _python_project(files: ProjectFiles, folder: str, code: Mapping[str, str]) -> Iterator[Proposal]:
    """Yields the sources in a folder; `code` has the texts of its modules that may be relevant."""
    file = posixpath.join(folder, "pyproject.toml")
    table = project_table(files.text(file))
    package, about = text_of(table, "name"), text_of(table, "description")
    urls = {name.lower(): url for name, url in as_dict(table.get("urls")).items() if isinstance(url, str)}  # PEP 753
    keys = _keys(text_of(table, "version"), urls.get("homepage") or text_of(table, "homepage"))
    root = "src" if any(path.startswith("src/") for path in code) else ""
    here = {"cwd": folder} if folder else {}
    importing: dict[str, Any] = {**here, **({"env": {"PYTHONPATH": root}} if root else {})}
    servers, programs = dict[frozenset[str], str](), dict[str, str]()
    entries, started = dict[str, str](), dict[str, set[str]]()
    for name, value in as_dict(table.get("scripts")).items():
        entry = "".join(str(value).split())
        path = posixpath.join(root, *entry.partition(":")[0].split("."))
        if _ENTRY.fullmatch(entry) and (modules := {f"{path}.py", f"{path}/__init__.py"} & code.keys()):
            entries[name], started[name] = entry, modules
    for name in sorted(entries, key=lambda name: "mcp" not in name.lower()):
        top = posixpath.join(root, re.split("[.:]", entries[name])[0])
        own = [path for path in code if path == f"{top}.py" or path.startswith(f"{top}/")]
        serving = {path for path in own if _SERVES.search(code[path])}
        # A module that creates no server may start those that no other script starts.
        if created := serving & started[name] or serving.difference(*started.values()):
            servers.setdefault(frozenset(created), name)
        elif any(_PARSES.search(code[path]) for path in own):
            programs.setdefault(entries[name], name)
    for name in servers.values():
        public = ["uvx", *([] if package == name else ["--from", str(package)]), name]
        programs_path = project_environment(os.environ, files.root / folder, files.root).get("PATH")
        first = f"install the project, which has {name}: pip install -e {shlex.quote(folder or '.')}"
        yield Proposal(
            name=name,
            source={"command": [name], **here},
            evidence=f"an MCP server in {file}, script {name}",
            keys=keys | ({"publish": {"command": public}} if package else {}),
            about=about,
            first=(first,) if shutil.which(name, path=programs_path) is None else (),
        )
    for entry, name in programs.items():
        source = {"cli": entry, "program": name, **importing}
        found = f"a program in {file}, script {name}"
        yield Proposal(name=name, source=source, evidence=found, keys=keys, about=about)
    for module, text in code.items():
        path = posixpath.join(folder, module)
        name = package or posixpath.basename(posixpath.dirname(path) or path.removesuffix(".py"))
        if not servers and _SERVES.search(text) and _RUNS.search(text):
            source = {"command": ["python", module], **here}
            yield Proposal(name=name, source=source, evidence=f"an MCP server in {path}", keys=keys)
        module = module.removeprefix(f"{root}/" if root else "")
        if (application := _APPLICATION.search(text)) is not None and _MODULE.match(module):
            module = module.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
            line = f"import json; from {module} import {application[1]}; print(json.dumps({application[1]}.openapi()))"
            source = {"openapi-command": ["python", "-c", line], **importing}
            yield Proposal(name=name, source=source, evidence=f"a FastAPI application in {path}")


# -- Node ------------------------------------------------------------------------------------------------------------

_NODE_LIBRARIES = {"@modelcontextprotocol/sdk", "@modelcontextprotocol/server", "fastmcp", "mcp-framework", "xmcp"}
_STARTS = re.compile(r"\bnew (?:StdioServerTransport|FastMCP)\(|\bserveStdio\(")
_COMPILED_TO = re.compile(r'"outDir"\s*:\s*"(?:\./)?([\w./-]+?)/?"')


def node_servers(files: ProjectFiles) -> Iterator[Proposal]:
    """Yields the command of each package that depends on an MCP library, or one for each file that starts a server."""
    for path in files.named("package.json"):
        data, folder = as_dict(json_or_none(files.text(path))), posixpath.dirname(path)
        if _NODE_LIBRARIES.isdisjoint((*as_dict(data.get("dependencies")), *as_dict(data.get("devDependencies")))):
            continue
        package = text_of(data, "name") or "server"
        installed = data.get("bin")
        commands = as_dict(installed) if not isinstance(installed, str) else {package.rpartition("/")[2]: installed}
        paths = {name: posixpath.normpath(file) for name, file in commands.items() if isinstance(file, str)}
        found = {name: ["node", file] for name, file in paths.items() if not file.startswith(("/", ".."))}
        if not found and (words := _start_of_node(files, folder)):
            found = {package.rpartition("/")[2]: words}
        names = sorted(found, key=lambda name: "mcp" not in name.lower())
        last = {name: found[name][-1] for name in reversed(names)}
        starting = {file: name for name, file in last.items() if _STARTS.search(files.text(folder, file))}
        for name in sorted(starting.values()) or names[:1]:
            words, keys = found[name], _keys(text_of(data, "version"), text_of(data, "homepage"))
            if installed and not data.get("private"):
                is_default = len(found) == 1 or name == package.rpartition("/")[2]
                program = [package] if is_default else ["--package", package, name]
                keys["publish"] = {"command": ["npx", "-y", *program]}
            script = ": npm run build" if "build" in as_dict(data.get("scripts")) else ""
            exists = words[0] != "node" or files.has(folder, words[-1])
            yield Proposal(
                name=name,
                source={"command": words, **({"cwd": folder} if folder else {})},
                evidence=f"an MCP server in {path}, {words[-1]}",
                keys=keys,
                about=text_of(data, "description"),
                first=() if exists else (f"{words[-1]} does not exist yet{script}",),
            )


def _start_of_node(files: ProjectFiles, folder: str) -> list[str]:
    """Returns the command of the first file of a package that starts a server; of TypeScript, of what is compiled."""
    start = f"{folder}/" if folder else ""
    for path in (path.removeprefix(start) for path in files.paths if path.startswith(start)):
        name, extension = posixpath.splitext(path)
        if extension[-2:] not in ("js", "ts") or _STARTS.search(files.text(folder, path)) is None:
            continue
        if extension.endswith("js"):
            return ["node", path]
        out = _COMPILED_TO.search(files.text(folder, "tsconfig.json"))
        compiled = f"{name.removeprefix('src/')}{extension.replace('ts', 'js')}"
        return ["node", f"{out[1]}/{compiled}"] if out else ["npx", "tsx", path]
    return []


# -- clients and documents -------------------------------------------------------------------------------------------

_CLIENT_FILES = (
    *(".mcp.json", "mcp.json", ".vscode/mcp.json", ".cursor/mcp.json", "claude_desktop_config.json"),
    *(".claude/mcp.json", ".gemini/settings.json", ".roo/mcp.json", ".kiro/settings/mcp.json"),
)


def client_servers(files: ProjectFiles) -> Collection[Proposal]:
    """Returns a proposal for each server in the project's client configurations; duplicates count once."""
    found: dict[str, Proposal] = {}
    for path in filter(files.has, _CLIENT_FILES):
        with suppress(SkillgenError):
            for name in read_client_config(files.root / path).chosen(None):
                source = {"config": path, "server": name}
                found.setdefault(name, Proposal(name=name, source=source, evidence=f"the server {name!r} in {path}"))
    return found.values()


_EXTENSIONS = (".json", ".yaml", ".yml")
_SIZE_LIMIT_BYTES = 64 * 1024 * 1024
_HINT = re.compile(rb"""["']?(openapi|swagger|snapshot|manifest_version)["']?\s*:""")
"""A file without any of these keys is not parsed."""


def description_files(files: ProjectFiles) -> Collection[Proposal]:
    """Returns a proposal for each description, snapshot and manifest; the YAML and the JSON of one API count once."""
    found: dict[tuple[str, str], Proposal] = {}
    for path in (path for path in files.paths if path.endswith(_EXTENSIONS)):
        file, data = files.root / path, None
        with suppress(OSError, SkillgenError):
            if file.stat().st_size <= _SIZE_LIMIT_BYTES and _HINT.search(file.read_bytes()):
                data = load_document(str(file), ProblemLog()).data
        kind, info = next((name for name, kind in KINDS.items() if kind.matches(data)), None), as_dict(data).get("info")
        if kind is not None and (kind != "openapi" or isinstance(info, dict)):
            title = text_of(as_dict(info), "title") or posixpath.basename(path).rpartition(".")[0]
            item = Proposal(name=title, source={kind: path}, evidence=f"{KINDS[kind].what} in {path}")
            found.setdefault((kind, title.strip().lower() if kind == "openapi" else path), item)
    return found.values()


# -- the files that are written --------------------------------------------------------------------------------------


def propose_targets(root: Path) -> list[Proposal]:
    """Returns the sources of a project as targets.

    FastAPI applications count if it has no description, and the servers of clients if it has no source of its own.
    """
    files = ProjectFiles(root)
    descriptions = [*description_files(files)]
    code = (*python_sources(files), *node_servers(files))
    code = tuple(item for item in code if not descriptions or "openapi-command" not in item.source)
    found: Collection[Proposal] = [*descriptions, *code] or client_servers(files)
    names = distinct(safe_stem(slug(item.name) or "api", "target") for item in found)  # names of folders
    return [replace(item, name=name) for name, item in zip(names, found, strict=True)]


def _folders_of_others() -> list[str]:
    """Returns the folders whose record has the command that wrote the documents; of several services, that of all."""
    found: dict[str, None] = {}
    for top in sorted(filter(Path.is_dir, Path().iterdir())):
        for path, record in records_in(top).items():
            if record.run is not None and record.target is None:
                found[(path.parent if record.owner == ".." else path).as_posix()] = None
    return [*found]


SCHEMA_NAME = ".skillgen.schema.json"
"""The schema is written next to the project file, so that every checkout has it, without a network."""


def _starter(name: str) -> str:
    """Returns a file of the folder `starters`."""
    return (Path(__file__).parent / "starters" / name).read_text("utf-8")


def write_project(proposals: Sequence[Proposal], ci: str | None = None) -> Iterator[str]:
    """Writes the project file and the pre-commit configuration, and for `ci` the workflows, unless they exist; yields
    what to tell the user.

    Raises:
        OSError: a file cannot be written.
    """
    existing, path = find_project_file(), Path(SCHEMA_NAME)
    declared: Mapping[str, Target] = {}
    with suppress(SkillgenError):  # it may not be a project file yet
        declared = read_project(existing).targets if existing else {}
    known = [_identity(target.source) for target in declared.values()]
    convert = Converter(is_text=True).convert
    proposals = [item for item in proposals if _identity(convert(Source, _escaped(item.source), ())) not in known]
    targets: list[Proposal] = []
    for item in proposals:
        # A project file is UTF-8 and has no null character.
        text = json.dumps([dict(item.source), dict(item.keys)], ensure_ascii=False)
        if "\\u0000" not in text and text.encode("utf-8", "replace").decode("utf-8") == text:
            targets.append(item)
            yield f"found {item.evidence}: target {item.name}"
            yield from (f"  first: {what}" for what in item.first)
        else:
            yield f"left out {item.evidence}: a name in it is not UTF-8 or has a null character; rename it"
    outs = {name: target.output.out for name, target in declared.items()} or {item.name: None for item in targets}
    own = {str(out or (DEFAULT_OUT if len(outs) == 1 else f"{DEFAULT_OUT}/{name}")) for name, out in outs.items()}
    if folders := [folder for folder in _folders_of_others() if folder not in own]:
        yield f"found documents that skillgen update renews: {', '.join(folders)}"
        if ci is not None:
            text = _starter("update.yml").replace("FOLDERS", shlex.join(folders))
            yield from _write_workflow("skillgen-update.yml", text)
        if existing is None and not targets:  # nothing of its own is documented
            return
    if existing is None:
        text = _starter("examples.yaml")  # without targets
        if targets:
            first, *rest = targets
            out = f"{DEFAULT_OUT}/{first.name}" if rest else DEFAULT_OUT
            about = f"{one_line(first.about)[:500].rstrip('.')}." if first.about else "What it does."
            keys = _starter("keys.yaml").format(out=out, about=about)
            text = "\n".join([_target_text(first) + keys, *map(_target_text, rest)])
        _create(Path(FILE_NAME), _starter("header.yaml") + text)
    schema = json.dumps(project_schema(), ensure_ascii=False, indent=1) + "\n"
    if not path.exists():
        _create(path, schema)
    elif '"title": "skillgen.yaml"' in ProjectFiles(Path()).text(SCHEMA_NAME):  # maybe that of an older skillgen
        path.write_text(schema, "utf-8", newline="\n")
    if existing is not None:
        yield f"{existing} already exists and was not changed" + ("; add below targets:" if targets else "")
        yield from map(_target_text, targets)
    else:
        yield f"wrote {FILE_NAME}, and {SCHEMA_NAME} for completion in editors"
        if not targets:
            yield (
                f"found no OpenAPI description, no MCP server and no program; {FILE_NAME} has examples: correct the "
                "one that fits, then run skillgen build, and skillgen init again for the hook"
            )
    if targets or known:  # the hook and the workflow fail without one
        yield from _write_pre_commit()
        yield from _write_workflow("skillgen.yml", _check_workflow()) if ci is not None else ()
    if existing is None and targets:
        yield f"skillgen build runs the commands in {FILE_NAME}: read them first"
        yield "next: skillgen build, then skillgen draft --agent COMMAND for texts by an agent such as 'claude -p'"


def _identity(source: Source) -> list[Any]:
    """Returns what a source reads, without how."""
    return [getattr(source, name) for name in (*SOURCE_KINDS, "server")]


def _write_pre_commit() -> Iterator[str]:
    path, text = Path(".pre-commit-config.yaml"), _starter("pre-commit.yaml")
    if not path.exists():
        _create(path, text)
        yield f"wrote {path}: run pre-commit install (or prek install) to enable it"
    elif "skillgen" not in ProjectFiles(Path()).text(path.name):
        yield f"{path} already exists and was not changed; add below repos:"
        yield text.partition("\n")[2]
    script = shutil.which("skillgen")
    # The script on PATH may be a link to that of this installation, as pipx creates it.
    if script is None or Path(script).resolve().parent != Path(sys.executable).parent.resolve():
        yield (
            "the hook runs the `skillgen` on PATH, which is not this one: install skillgen from its repository with "
            "`uv tool install` or `pipx install` (`skillgen` on PyPI is another project)"
        )


def _check_workflow() -> str:
    """Returns the workflow that checks, with the variables and the folders of packages that the project file names."""
    sources: list[Source] = []
    with suppress(SkillgenError):
        sources = [target.source for target in read_project(find_project_file() or Path()).targets.values()]
    names = sorted({name for source in sources for name in variables_in(msgspec_json.encode(source).decode())})
    lines = (f"          {name}: ${{{{ secrets.{name} }}}}\n" for name in names)
    env = "".join(["        env:\n", *lines] if names else [])
    text, build = re.sub(r"run: skillgen .*\n", rf"\g<0>{env}", _starter("check.yml")), "      - run: skillgen build"
    for cwd in sorted({Path(source.cwd).as_posix() for source in sources if source.cwd}, reverse=True):
        for file, command in ("package-lock.json", "npm ci --prefix"), ("pyproject.toml", "python -m pip install"):
            step = json.dumps(f"{command} {shlex.quote(f'./{cwd}')}", ensure_ascii=False)
            build = f"      - run: {step}\n{build}" if Path(cwd, file).is_file() else build
    return text.replace("      - run: skillgen build", build)


def _write_workflow(name: str, text: str) -> Iterator[str]:
    path = Path(".github/workflows", name)
    if path.exists():
        yield f"{path.as_posix()} already exists and was not changed"
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    _create(path, text)
    secrets = "".join(f", and its secret {name}" for name in sorted({*re.findall(r"secrets\.(\w+)", text)}))
    what = "set the variable SKILLGEN of the repository to what pip installs skillgen from"
    yield f"wrote {path.as_posix()}: {what}{secrets}"


def _create(path: Path, text: str) -> None:
    """Writes a new file.

    Raises:
        OSError: it exists, or cannot be written.
    """
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)


def _target_text(proposal: Proposal) -> str:
    """Returns one target in YAML, indented for its place below `targets:`."""
    comments = (proposal.evidence, *(f"first: {what}" for what in proposal.first))
    data = {proposal.name: {"source": _escaped(proposal.source), **_escaped(proposal.keys)}}
    text = yaml.safe_dump(data, sort_keys=False, width=math.inf, default_flow_style=None)
    return textwrap.indent("".join(f"# {one_line(line)[:200]}\n" for line in comments) + text, "  ")


def _escaped(value: Any) -> Any:
    """Returns a value in which a project file has no variables."""
    if isinstance(value, Mapping):
        return {key: _escaped(item) for key, item in value.items()}
    return without_variables(value) if isinstance(value, str) else [*map(without_variables, value)]
