"""The floors of CONTRIBUTING.md: imports only point down, what is slow or loud has one place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from cli import ROOT, run_python

PACKAGE = ROOT / "skillgen"

FLOORS = {
    "typed": -1,
    "errors": 1,
    "model": 2,
    "text": 3,
    "security": 4,
    "sources": 5,
    "infer": 5,
    "render": 5,
    "write": 5,
    "config": 5,
    "calls": 6,
    "mock": 7,
    "rules": 8,
    "pipeline": 9,
    "api": 10,
    "evals": 10,
    "cli": 11,
    "__main__": 12,
}

BEHIND = {"jinja2": "render", "typer": "cli", "httpx2": "sources", "mcp": "sources", "yaml": None}
"""Library to the part of skillgen that may import it; `None` where several may."""

DEVELOPERS_COMMANDS = {"skillgen.config.schema", "skillgen.calls.script"}
"""Modules that are run by `make golden`, and print what it redirects; and the program of `--emit scripts`."""


@dataclass(frozen=True, slots=True)
class Import:
    """One import, wherever it is in a module."""

    module: str
    """What is imported."""
    at_start: bool
    """Whether it happens when the importing module is loaded."""


@cache
def sources() -> dict[str, ast.Module]:
    """Returns every module of skillgen, parsed, by its name."""
    return {module_name(path): ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports(module: str) -> tuple[Import, ...]:
    """Returns the imports of a module of skillgen."""
    return tuple(imports_in(sources()[module]))


def imports_in(tree: ast.AST, at_start: bool = True) -> Iterator[Import]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):
            continue
        if isinstance(node, ast.Import):
            yield from (Import(name.name, at_start) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            assert node.module is not None
            # `from skillgen.cli import options` may mean a module.
            yield from (Import(full_name(node.module, name.name), at_start) for name in node.names)
        else:
            later = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            typing = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            yield from imports_in(node, at_start and not later and not typing)


def full_name(module: str, name: str) -> str:
    path = ROOT.joinpath(*module.split("."))
    return f"{module}.{name}" if (path / f"{name}.py").is_file() or (path / name).is_dir() else module


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def importers_of(library: str) -> set[str]:
    return {name for name in sources() for item in imports(name) if item.module.split(".")[0] == library}


def test_every_module_is_on_a_floor() -> None:
    assert {part_of(name) for name in sources()} - {""} <= FLOORS.keys()


def test_imports_only_point_down_and_siblings_never_import_one_another() -> None:
    wrong = []
    for module in sources():
        own = part_of(module)
        for item in imports(module):
            other = part_of(item.module)
            is_checked = own and other not in ("", own) and item.module.split(".")[0] == "skillgen"
            if is_checked and FLOORS[other] >= FLOORS[own]:
                wrong.append(f"{module} imports {item.module}")
    assert wrong == []


def test_no_module_imports_from_the_packages_root_but_its_version() -> None:
    for module, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "skillgen":
                names = {name.name for name in node.names if full_name("skillgen", name.name) == "skillgen"}
                assert names <= {"__version__"}, module


def test_no_modules_import_one_another_in_a_circle() -> None:
    graph = {
        name: {item.module for item in imports(name) if item.at_start and item.module in sources()}
        for name in sources()
    }
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module not in done:
            for other in sorted(graph[module] - {module}):
                visit(other, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def test_a_library_is_imported_behind_one_part_only() -> None:
    importing = {
        library: {part_of(module) for module in importers_of(library)} for library, part in BEHIND.items() if part
    }
    assert importing == {library: {part} for library, part in BEHIND.items() if part}


def test_the_sdk_is_imported_in_exactly_one_module() -> None:
    assert len(importers_of("mcp")) == 1


@pytest.mark.parametrize("part", ["model", "text"])
def test_the_model_and_texts_read_and_write_nothing(part: str) -> None:
    banned = {"os", "io", "pathlib", "shutil", "tempfile", "socket", "subprocess", "asyncio", "urllib.request"}
    for module, tree in sources().items():
        if part_of(module) == part:
            found = {name for item in imports(module) for name in (item.module, item.module.split(".")[0])}
            assert not found & (banned | BEHIND.keys() - {"yaml"}), module
            assert not calls(tree) & {"open", "exec", "eval"}, module


def test_only_the_command_line_prints() -> None:
    for module, tree in sources().items():
        if part_of(module) != "cli" and module not in DEVELOPERS_COMMANDS:
            assert "print" not in calls(tree), module
            names = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
            assert not names & {"sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__"}, module


def calls(tree: ast.AST) -> set[str]:
    return {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_starting_imports_neither_a_service_nor_slow_libraries(option: str) -> None:
    finished = run_python("-X", "importtime", "-m", "skillgen", option).ok()
    modules = {line.rpartition("|")[2].strip() for line in finished.stderr.splitlines()}
    loaded = {module.split(".")[0] for module in modules}
    assert "typer" in loaded
    assert not loaded & {"mcp", "mcp_types", "jinja2", "httpx", "httpx2", "pydantic"}
    assert not modules & {"skillgen.model.service", "skillgen.pipeline.generate", "skillgen.pipeline.read"}


def test_an_openapi_description_is_read_without_the_sdk_and_without_httpx() -> None:
    finished = run_python("-X", "importtime", "-m", "skillgen", "inspect", "-", stdin='{"openapi": "3.1.0"}').ok()
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in finished.stderr.splitlines()}
    assert not loaded & {"mcp", "mcp_types", "jinja2", "httpx", "httpx2"}


def test_every_module_says_what_lives_there() -> None:
    assert [name for name, tree in sources().items() if not ast.get_docstring(tree)] == []


# -- what tests import -----------------------------------------------------------------------------------------------

INTERNALS = {
    "skillgen.model.check": "a bound of steps, which takes seconds to reach",
    # The command in the process of the test.
    "skillgen.cli.app": "thousands of runs and their memory, a warm process, options as declared",
    # Any service, and the answers of any server.
    "skillgen.infer.description": "the service as it is before what is inferred of it is added",
    "skillgen.model.service": "the docstrings of its fields, for the published JSON Schema",
    "skillgen.model.values": "the classes of the model: their published JSON Schema, and what a snapshot may change",
    # What docs/templates.md lists.
    **{
        f"skillgen.render.{name}": "the templates, the functions that they call and the fields that they print"
        for name in ("about", "catalogue", "formats", "listing", "pages", "reference")
    },
    "skillgen.errors": "every kind of problem, for docs/rules.md",
    "skillgen.rules.reports": "what `skillgen rule` prints, for docs/rules.md",
    "skillgen.sources.mcp.crawl": "the answers of a server that nobody starts, in hundreds of tests",
    # Both directions of a request, for every style and hundreds of values.
    "skillgen.model.serialization": "how a parameter is written",
    "skillgen.mock.answers": "how a request is read",
    "skillgen.calls.script": "how a body is written",
    # Readers of hostile text.
    "skillgen.sources.mcp.session": "a fuzz target",
    "skillgen.text.yaml_core": "a fuzz target, and the YAML test suite",
    "skillgen.security.injection": "its steps for hundreds of texts, and rules, which the documentation lists",
    "skillgen.text.blocks": "its steps for hundreds of texts, without those of a run",
    "skillgen.text.summary": "its steps for hundreds of texts, without those of a run",
    # All patterns and rules, each of which a test tries.
    "skillgen.security.credentials": "patterns that a function builds, and the table of the golden credentials",
    "skillgen.config.option": "the words of a command on another system",
    # What no output shows apart from all else.
    "skillgen.model.credentials": "names of variables for thousands of pairs of origins",
    "skillgen.security.secrets": "forms of secrets and of ordinary settings, of which one crawl has a few",
    "skillgen.sources.mcp.oauth": "the address to which a request of a login goes",
}
"""Modules below the command line and the Python API that a test may import, each with its reason.

Everything else is tested through the command line, `skillgen` and `skillgen.errors`, so that code can move.
"""

IMPORT = re.compile(
    r'^\s*(?:from|import) (skillgen\.[\w.]+)(?: import (\w+))?|setattr\("(skillgen\.[\w.]+)\.', re.MULTILINE
)
"""An import, also in the text of a program that a test runs, or a module of which a test replaces something."""


def test_tests_import_few_internals_each_with_a_reason() -> None:
    imported: dict[str, set[str]] = {}
    for path in sorted((ROOT / "tests").glob("*.py")):
        for module, name, patched in IMPORT.findall(path.read_text("utf-8")):
            imported.setdefault(patched or full_name(module, name), set()).add(path.name)
    public = {"skillgen.errors", "skillgen.__main__"}
    assert {name: users for name, users in imported.items() if name not in INTERNALS.keys() | public} == {}
    assert INTERNALS.keys() - imported.keys() == set()
