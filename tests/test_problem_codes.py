"""Each kind of problem is declared once, and its level and documentation follow from that."""

from __future__ import annotations

import re

import pytest
from cli import ROOT, run_python

from skillgen import Problem

PAGE = (ROOT / "docs" / "problems.md").read_text("utf-8")
CODES = dict(re.findall(r"^\| `([a-z-]+)` \| (\w+) \| .+ \|$", PAGE, re.MULTILINE))


def test_every_documented_code_is_reported() -> None:
    modules = [path for path in (ROOT / "skillgen").rglob("*.py") if path.stem != "problem_codes"]
    strings = {string for path in modules for string in re.findall(r'"([a-z0-9-]+)"', path.read_text("utf-8"))}
    built = {f"{field}-missing" for field in ("title", "version", "description", "tool-summary", "tool-description")}
    assert CODES.keys() - strings - built == set()


def test_a_problem_has_the_level_of_its_code_which_must_be_declared() -> None:
    assert {code: Problem.of(code, "", "x").level for code in CODES} == CODES
    with pytest.raises(KeyError):
        Problem.of("no-such-code", "", "x")


def test_the_page_of_problems_is_up_to_date() -> None:
    assert run_python("-m", "skillgen.problem_codes").stdout == PAGE
