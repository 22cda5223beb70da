"""JSON as text: what a parser drops without a word is reported (RFC 8259)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli import run_skillgen
from descriptions import description, operation
from hypothesis import given
from hypothesis import strategies as st

from skillgen.errors import ProblemLog
from skillgen.sources.json_text import json_from_text

Json = Any

TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab/~", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(st.text("ab/~", max_size=2), inner), max_size=3),
    max_leaves=10,
)
"""JSON in which an object is a list of pairs, so that a key may stand twice."""


def is_object(tree: Json) -> bool:
    return isinstance(tree, list) and bool(tree) and all(isinstance(item, tuple) for item in tree)


def text_of(tree: Json) -> str:
    if is_object(tree):
        return "{" + ", ".join(f"{json.dumps(key)}: {text_of(value)}" for key, value in tree) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(map(text_of, tree)) + "]"
    return json.dumps(tree)


def doubled(tree: Json, pointer: str = "") -> list[str]:
    """Returns the pointers of keys that stand twice, but for those in values that are not kept."""
    found = []
    if is_object(tree):
        keys = [key for key, _ in tree]
        tokens = {key: pointer + "/" + key.replace("~", "~0").replace("/", "~1") for key in keys}
        found += [tokens[key] for key in tokens if keys.count(key) > 1]
        found += [where for key, value in dict(tree).items() for where in doubled(value, tokens[key])]
    elif isinstance(tree, list):
        found += [where for index, value in enumerate(tree) for where in doubled(value, f"{pointer}/{index}")]
    return found


@given(tree=TREES)
def test_every_key_that_occurs_twice_is_reported_with_its_pointer(tree: Json) -> None:
    problems = ProblemLog()
    data = json_from_text(text_of(tree), problems)
    assert data == json.loads(text_of(tree))
    assert sorted(problem.where for problem in problems) == sorted(doubled(tree))
    assert {problem.code for problem in problems} <= {"duplicate-key"}


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_json_number_stays_text(word: str) -> None:
    assert json_from_text(f"[{word}]", ProblemLog()) == [word]


def test_a_number_of_too_many_digits_stays_text() -> None:
    problems = ProblemLog()
    assert json_from_text(f'{{"a": {"1" * 5000}, "b": 2, "b": 3}}', problems) == {"a": "1" * 5000, "b": 3}
    assert [problem.where for problem in problems] == ["/b"]


def test_a_duplicate_operation_is_reported_and_the_last_documented(tmp_path: Path) -> None:
    first, last = operation("list_tasks"), operation("find_tasks")
    text = json.dumps(description({"/tasks": {"get": first, "GET": last}})).replace('"GET"', '"get"')
    (tmp_path / "api.json").write_text(text, encoding="utf-8")
    finished = run_skillgen("from-openapi", "api.json", "--json", cwd=tmp_path)
    report = json.loads(finished.stdout)
    doubled = [item["where"] for item in report["problems"] if item["code"] == "duplicate-key"]
    assert doubled == ["/paths/~1tasks/get"]
    assert "find_tasks" in (tmp_path / "agent-docs" / "llms-full.txt").read_text("utf-8")
