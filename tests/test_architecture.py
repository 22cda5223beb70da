"""The floors of CONTRIBUTING.md: imports only point down, what is slow or loud has one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from cli import ROOT, run_python

PACKAGE = ROOT / "skillgen"

FLOORS = {
    "problem_codes": 0,
    "errors": 1,
    "model": 2,
    "text": 3,
    "security": 4,
    "sources": 5,
    "enrich": 5,
    "render": 5,
    "write": 5,
    "config": 5,
    "pipeline": 6,
    "api": 7,
    "cli": 8,
    "__main__": 9,
}

BEHIND = {"jinja2": "render", "typer": "cli", "rich": "cli", "httpx2": "sources", "mcp": "sources", "yaml": None}
"""Library to the part of skillgen that may import it; `None` where several may."""

DEVELOPERS_COMMANDS = {
    "skillgen.model.json_schema",
    "skillgen.config.schema",
    "skillgen.problem_codes",
    "skillgen.render.manual",
}
"""Modules that are run by `make golden`, and print what it redirects."""


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
    finished = run_python("-X", "importtime", "-m", "skillgen", option)
    assert finished.exit_code == 0
    modules = {line.rpartition("|")[2].strip() for line in finished.stderr.splitlines()}
    loaded = {module.split(".")[0] for module in modules}
    assert "typer" in loaded
    assert not loaded & {"mcp", "mcp_types", "jinja2", "httpx", "httpx2", "pydantic"}
    assert not modules & {"skillgen.model.service", "skillgen.pipeline.generate", "skillgen.pipeline.read"}


def test_an_openapi_description_is_read_without_the_sdk_and_without_httpx() -> None:
    finished = run_python("-X", "importtime", "-m", "skillgen", "inspect", "-", stdin='{"openapi": "3.1.0"}')
    assert finished.exit_code == 0
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in finished.stderr.splitlines()}
    assert not loaded & {"mcp", "mcp_types", "jinja2", "httpx", "httpx2"}


def test_every_module_says_what_lives_there() -> None:
    assert [name for name, tree in sources().items() if not ast.get_docstring(tree)] == []


# -- what tests import -----------------------------------------------------------------------------------------------

INTERNALS = {
    # The command in this process: memory of a run, options as declared, calls of threads.
    "skillgen.cli.app": "runs in a process of the test",
    # Any service, without a source that has it.
    "skillgen.model.codec": "the JSON of a service, in both directions",
    # The seam between a crawl and what is made of it.
    "skillgen.sources.mcp.crawl": "the answers of a server without a process, and what a crawl returns raw",
    # Waits and limits, which tests shorten.
    "skillgen.sources.http": "how hosts are resolved and bytes bounded",
    "skillgen.sources.mcp.jsonrpc": "bounds, and a fuzz target: the messages of a server",
    "skillgen.sources.mcp.oauth": "waits",
    "skillgen.sources.mcp.progressive": "bounds of a URI, for any names",
    # Readers of text: fuzz targets and published test suites.
    "skillgen.sources.json_text": "any JSON, with duplicate keys",
    "skillgen.sources.yaml_core": "a fuzz target, and the YAML test suite",
    # Regular expressions, whose time is measured with hostile texts.
    "skillgen.security.credentials": "all forms of credentials",
    "skillgen.security.injection.patterns": "all rules, which the documentation lists",
    "skillgen.security.tables": "literals that are derived from an expression",
    "skillgen.text.uses": "all expressions",
    # Pure functions with many cases, hostile ones among them.
    "skillgen.security.addresses": "hosts",
    "skillgen.security.secrets": "forms in which a value is repeated",
}
"""Modules below the command line and the Python API that a test may import, each with its reason.

Everything else is tested through the command line, `skillgen` and `skillgen.errors`, so that code can move.
"""


def test_tests_import_few_internals_each_with_a_reason() -> None:
    imported: dict[str, set[str]] = {}
    for path in sorted((ROOT / "tests").glob("*.py")):
        for item in imports_in(ast.parse(path.read_text("utf-8"))):
            if item.module.startswith("skillgen.") and item.module != "skillgen.errors":
                imported.setdefault(item.module, set()).add(path.name)
    assert {name: users for name, users in imported.items() if name not in INTERNALS} == {}
    assert INTERNALS.keys() - imported.keys() == set()
