"""JSON as text: what a parser drops without a word is reported (RFC 8259)."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from cli import run_skillgen
from descriptions import description, operation
from hypothesis import given
from hypothesis import strategies as st

from skillgen import read

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


def in_description(text: str) -> tuple[Json, list[str]]:
    """Returns the default of a parameter that has this text, and the pointers of keys that are reported as doubled."""
    data = description({"/tasks": {"get": operation("list_tasks", parameters=[PARAMETER])}})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "api.json")
        file.write_text(json.dumps(data).replace('"DEFAULT"', text), encoding="utf-8")
        service = read(file)
    default = service.tools[0].parameters[0].schema.default
    assert default is not None
    doubled = [problem.where for problem in service.problems if problem.code == "duplicate-key"]
    return default.json, [where.partition("/default")[2] for where in doubled]


PARAMETER = {"name": "tree", "in": "query", "schema": {"default": "DEFAULT"}}


@given(tree=TREES)
def test_every_key_that_occurs_twice_is_reported_with_its_pointer(tree: Json) -> None:
    data, pointers = in_description(text_of(tree))
    assert data == json.loads(text_of(tree))
    assert sorted(pointers) == sorted(doubled(tree))


def test_what_is_no_json_number_stays_text() -> None:
    """So does one of too many digits."""
    digits = "1" * 5000
    text = f'{{"a": [NaN, Infinity, -Infinity, {digits}], "b": 2, "b": 3}}'
    assert in_description(text) == ({"a": ["NaN", "Infinity", "-Infinity", digits], "b": 3}, ["/b"])


def test_a_duplicate_operation_is_reported_and_the_last_documented(tmp_path: Path) -> None:
    first, last = operation("list_tasks"), operation("find_tasks")
    text = json.dumps(description({"/tasks": {"get": first, "GET": last}})).replace('"GET"', '"get"')
    (tmp_path / "api.json").write_text(text, encoding="utf-8")
    finished = run_skillgen("from-openapi", "api.json", "--json", cwd=tmp_path)
    report = json.loads(finished.stdout)
    doubled = [item["where"] for item in report["problems"] if item["code"] == "duplicate-key"]
    assert doubled == ["/paths/~1tasks/get"]
    assert "find_tasks" in (tmp_path / "agent-docs" / "llms-full.txt").read_text("utf-8")
