"""Each kind of problem is declared once, and its level and documentation follow from that."""

from __future__ import annotations

import ast

import pytest
from cli import ROOT

from skillgen.errors import ProblemLog
from skillgen.problem_codes import CODES, ProblemCode, problem_table


def test_every_declared_code_is_reported() -> None:
    strings = set()
    for path in (ROOT / "skillgen").rglob("*.py"):
        if path.stem != "problem_codes":
            nodes = ast.walk(ast.parse(path.read_text("utf-8")))
            strings |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    built = {f"{field}-missing" for field in ("title", "version", "description", "tool-summary", "tool-description")}
    assert CODES.keys() - strings - built == set()


def test_a_code_that_is_not_declared_cannot_be_reported() -> None:
    with pytest.raises(KeyError):
        ProblemLog().report("no-such-code", "", "x")


def test_the_page_of_problems_is_up_to_date() -> None:
    assert (ROOT / "docs" / "problems.md").read_text("utf-8") == problem_table()


def test_a_new_code_needs_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CODES, "tool-too-slow", ProblemCode("info", "a tool answers slowly"))
    log = ProblemLog()
    log.report("tool-too-slow", "/tools/0", "it took 9 s", "make it faster")
    assert [(problem.code, problem.level) for problem in log] == [("tool-too-slow", "info")]
    assert "| `tool-too-slow` | info | a tool answers slowly |" in problem_table()
