"""The size of the house and the work of two fixed runs, which `tests/budget.toml` bounds: `make budget` prints them."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "skillgen"

LONG_MODULE = 600
LONG_FUNCTION = 80
"""Lines; more modules and functions above these than today is never right."""

INPUTS = {
    "acme-tasks": ["from-openapi", "examples/acme-tasks/mcp.yaml"],
    "playwright": ["from-server", "--snapshot", "tests/golden/sources/playwright.json"],
}
"""What is documented to count the work: command lines without `--out`."""

ONE_TOOL = {
    "openapi": "3.1.0",
    "info": {"title": "Lamps", "version": "1"},
    "paths": {"/lamps": {"get": {"operationId": "list_lamps", "summary": "Lists lamps", "responses": {}}}},
}


def trees() -> dict[Path, ast.Module]:
    """Returns every module of skillgen, parsed."""
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def code_lines(path: Path, tree: ast.Module) -> int:
    """Returns how many lines are neither blank, nor comment, nor docstring."""
    documentation = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = enumerate(path.read_text("utf-8").splitlines(), 1)
    return sum(
        1
        for number, line in lines
        if line.strip() and not line.lstrip().startswith("#") and number not in documentation
    )


def house() -> dict[str, dict[str, int]]:
    """Returns the sizes: `code` lines by package, `lines` of other files, and `counts` of what should get rarer."""
    code: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    importers: dict[str, set[Path]] = {}
    for path, tree in trees().items():
        parts = path.relative_to(PACKAGE).parts
        code[parts[0] if len(parts) > 1 else "top level"] += code_lines(path, tree)
        counts["modules"] += path.name != "__init__.py"
        counts[f"modules over {LONG_MODULE} lines"] += len(path.read_text("utf-8").splitlines()) > LONG_MODULE
        counts.update(_found_in(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("skillgen"):
                for name in (str(node.module), *(f"{node.module}.{item.name}" for item in node.names)):
                    importers.setdefault(name, set()).add(path)
    names = (".".join(path.relative_to(ROOT).with_suffix("").parts) for path in trees())
    counts["modules with one importer"] = sum(len(importers.get(name, ())) == 1 for name in names)
    lines = {
        "templates": _lines_of(ROOT / "templates", "*.*"),
        "data": sum(_lines_of(PACKAGE, pattern) for pattern in ("*.toml", "*.yaml", "*.yml")),
        "tests": _lines_of(ROOT / "tests", "*.py", skip=("node_modules", ".venvs")),
    }
    return {"code": dict(sorted(code.items())), "lines": lines, "counts": dict(sorted(counts.items()))}


def _lines_of(folder: Path, pattern: str, skip: tuple[str, ...] = ()) -> int:
    files = (path for path in folder.rglob(pattern) if path.is_file() and not set(skip) & set(path.parts))
    return sum(len(path.read_text("utf-8").splitlines()) for path in files)


def _found_in(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if (node.end_lineno or node.lineno) - node.lineno >= LONG_FUNCTION:
                yield f"functions over {LONG_FUNCTION} lines"
            names = {ast.unparse(item).partition("(")[0].rpartition(".")[2] for item in node.decorator_list}
            if names & {"cache", "lru_cache", "once", "of_rendering", "cached_property"}:
                yield "caches"
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("compile") and node.args:
            yield "patterns"
            for item in ast.walk(node.args[0]):
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    yield from ["alternatives of words in patterns"] * len(re.findall(r"\|\w{3}", item.value))


def work() -> dict[str, dict[str, int]]:
    """Returns the work of documenting each input: calls of functions of skillgen, the modules that they are in, and the
    characters that `re` is given to scan. Each run is a process of its own; an earlier one filled the disk cache.
    """
    found = {}
    folder = Path("build", "budget")  # relative, since random names and long paths are read too
    shutil.rmtree(ROOT / folder, ignore_errors=True)
    (ROOT / folder).mkdir(parents=True)
    one_tool = folder / "Lamps1.json"  # a word that may be a credential, like many a path, so that their forms are read
    (ROOT / one_tool).write_text(json.dumps(ONE_TOOL), "utf-8")
    # Variables are read too, as what may be secrets.
    environment = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    environment |= {"PYTHONHASHSEED": "0", "HOME": str(folder), "XDG_CACHE_HOME": str(ROOT / folder / "cache")}
    for name, arguments in {**INPUTS, "one tool": ["from-openapi", str(one_tool)]}.items():
        for attempt in ("first", "second"):
            command = [sys.executable, __file__, "run", *arguments, "-q", "--out", f"{folder}/{name} {attempt}"]
            run = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
        found[name] = json.loads(run.stdout)
    return found


def _run(arguments: list[str]) -> dict[str, int]:
    """Runs the command line in this process and returns its work."""
    scanned = _count_scanned()  # before skillgen compiles its patterns
    from skillgen.__main__ import main

    sys.argv[1:] = arguments
    calls: Counter[str] = Counter()
    sys.setprofile(lambda frame, event, _: _note(calls, frame, event))
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise
    finally:
        sys.setprofile(None)
    return {"calls": calls.total(), "modules": len(calls), "scanned": scanned[0]}


def _note(calls: Counter[str], frame: FrameType, event: str) -> None:
    name = frame.f_code.co_filename
    is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED  # not the body of a module or class
    if event == "call" and is_function and name.startswith(str(PACKAGE)):
        calls[name] += 1


def _count_scanned() -> list[int]:
    """Makes each pattern that is compiled from now on count the characters that it is given; returns the counter."""
    scanned = [0]
    compiled = re.compile

    class Counted:
        """A pattern that counts."""

        def __init__(self, pattern: re.Pattern[str]) -> None:
            self._pattern = pattern

        def __getattr__(self, name: str) -> object:
            attribute = getattr(self._pattern, name)
            if name not in ("search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split"):
                return attribute

            def counting(*arguments: object, **named: object) -> object:
                text, *start = arguments[1 if name in ("sub", "subn") else 0 :]
                found = attribute(*arguments, **named)
                if name == "match" and start:  # reads no further than it matches
                    scanned[0] += len(found[0]) if found else 1
                else:
                    scanned[0] += len(text)  # type: ignore[arg-type]
                return found

            return counting

    def counting_compile(pattern: object, flags: int = 0) -> object:
        if isinstance(pattern, Counted):
            return pattern
        caller = sys._getframe(1).f_code.co_filename
        made = compiled(pattern, flags)  # type: ignore[call-overload]
        return Counted(made) if caller.startswith(str(PACKAGE)) else made

    re.compile = counting_compile  # type: ignore[assignment]
    return scanned


def main() -> None:
    """Prints the figures of today in the form of `tests/budget.toml`, or runs a command line and prints its work."""
    if sys.argv[1:2] == ["run"]:
        sys.stdout.write(json.dumps(_run(sys.argv[2:])))
        return
    for table, figures in {**house(), **{f"work.{name}": item for name, item in work().items()}}.items():
        head, _, name = table.partition(".")
        sys.stdout.write(f"\n[{head}.{json.dumps(name)}]\n" if name else f"\n[{table}]\n")
        for key, figure in figures.items():
            sys.stdout.write(f"{json.dumps(key)} = {figure}\n")


if __name__ == "__main__":
    main()
