"""YAML as OpenAPI means it: the core schema of YAML 1.2 (YAML 1.2.2, 10.3), keys as text, and no bombs."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from skillgen.errors import ProblemLog
from skillgen.text.yaml_core import YamlError, parse_yaml

Json = Any

SCALARS: dict[str, Json] = {
    # YAML 1.1 changes the type of each of these.
    "no": "no", "NO": "NO", "No": "No", "yes": "yes", "on": "on", "off": "off", "y": "y", "n": "n", "ON": "ON",
    "12:30": "12:30", "12:30:45": "12:30:45", "190:20:30": "190:20:30", "1_000": "1_000", "0b11": "0b11",
    "2024-01-01": "2024-01-01", "2024-01-01T12:00:00Z": "2024-01-01T12:00:00Z", "1.0.0": "1.0.0", "=": "=", "<<": "<<",
    # The tables of 10.3.2.
    "null": None, "Null": None, "NULL": None, "~": None, "": None, "nULL": "nULL", "None": "None", "nil": "nil",
    "true": True, "True": True, "TRUE": True, "tRUE": "tRUE", "false": False, "False": False, "FALSE": False,
    "0": 0, "-0": 0, "12": 12, "+12": 12, "-19": -19, "007": 7, "0o7": 7, "0o17": 15, "0o8": "0o8", "-0o7": "-0o7",
    "0x3A": 58, "0xff": 255, "0xFg": "0xFg", "-0x1": "-0x1", "+0x1": "+0x1", "0o": "0o", "0x": "0x", "0O7": "0O7",
    "0.": 0.0, "-0.0": -0.0, ".5": 0.5, "+12.5": 12.5, "12e03": 12000.0, "-2E+05": -200000.0, "1.": 1.0, ".": ".",
    "1e3": 1000.0, "1e": "1e", "e3": "e3", "+": "+", "-.5": -0.5, "1.5.": "1.5.", ".e1": ".e1", "+.": "+.",
    # JSON has no word for these.
    ".inf": ".inf", "-.INF": "-.INF", ".nan": ".nan", "inf": "inf", "nan": "nan", "Infinity": "Infinity",
    # Digits of other scripts are letters here.
    "١٢": "١٢", "１２": "１２", "½": "½",
    "1" * 5000: "1" * 5000,
}  # fmt: skip


def parse(text: str) -> Json:
    return parse_yaml(text, ProblemLog())


@pytest.mark.parametrize("text", SCALARS, ids=lambda text: text[:20] or "empty")
def test_a_plain_scalar_has_the_type_of_the_core_schema(text: str) -> None:
    value = parse(f"value: {text}\n")["value"]
    assert (type(value), value) == (type(SCALARS[text]), SCALARS[text])


@pytest.mark.parametrize("text", ["no", "12", "null", "true", "0x1F", "1.5", "~", ""])
def test_a_quoted_scalar_is_text(text: str) -> None:
    assert parse(f"- '{text}'\n- \"{text}\"\n- !!str {text}\n") == [text, text, text]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a: 1\n---\nb: 2\n", "line 3"),
        ("---\n---\na: 1\n...\n---\n- 2\n", "line 6"),
        ("a: 1\n---\n# A title\n\nb: c: d\n", "line 5"),
        ("---\na: 1\n...\n# no more\n", None),
        ("---\na: 1\n---\n", None),
        ("a: 1\n---\n~\n---\n", None),
    ],
)
def test_the_first_non_empty_document_is_read_and_others_are_reported(text: str, where: str | None) -> None:
    """S2-02."""
    problems = ProblemLog()
    assert parse_yaml(text, problems) == {"a": 1}
    assert [(item.code, item.where) for item in problems] == ([("documents-left-out", where)] if where else [])


@pytest.mark.parametrize("key", ["on", "no", "200", "1.10", "null", "true", "2024-01-01", "~", "0x1F", "1e3"])
def test_a_key_is_its_text_in_the_source(key: str) -> None:
    assert parse(f"{key}: 1\n") == {key: 1}
    assert parse(f"{{{key}: 1}}\n") == {key: 1}


def test_a_key_that_is_a_collection_is_an_error_or_text() -> None:
    with suppress(YamlError):
        assert all(isinstance(key, str) for key in parse("? [a, b]\n: 1\n"))


def test_a_key_that_occurs_twice_is_reported_and_its_last_value_kept() -> None:
    problems = ProblemLog()
    assert parse_yaml("a: 1\nb: 2\na: 3\n", problems) == {"a": 3, "b": 2}
    (problem,) = problems
    assert (problem.code, problem.level, problem.where) == ("duplicate-key", "warning", "line 3")
    assert "'a'" in problem.message


@pytest.mark.parametrize(
    ("text", "value", "where"),
    [
        ("a: |\n  12\nb: >-\n  true\n", {"a": "12\n", "b": "true"}, []),
        ("a: {b: 1}\na: [c]\n", {"a": ["c"]}, ["line 2"]),
        ("- a: 1\n- a: 2\n", [{"a": 1}, {"a": 2}], []),
        ("a: &x {b: [1]}\nc: *x\nd: [*x, *x]\n", {"a": {"b": [1]}, "c": {"b": [1]}, "d": [{"b": [1]}] * 2}, []),
        ("- &x 1\n- *x\n- &x 2\n- *x\n", [1, 1, 2, 2], []),
        ("- &b {x: 1, y: 2}\n- <<: *b\n  y: 3\n", [{"x": 1, "y": 2}, {"x": 1, "y": 3}], []),
        ("- &b {x: 1, y: 2}\n- y: 3\n  <<: *b\n", [{"x": 1, "y": 2}, {"x": 1, "y": 3}], []),
        ("- &b {x: 1}\n- <<: *b\n  x: 2\n  x: 3\n", [{"x": 1}, {"x": 3}], ["line 4"]),
        ("- &a {x: 1, y: 1}\n- &b {y: 2}\n- <<: [*a, *b]\n", [{"x": 1, "y": 1}, {"y": 2}, {"x": 1, "y": 1}], []),
        ("a: !Ref b\nc: !!python/object/apply:os.system ['touch owned']\n", {"a": "b", "c": ["touch owned"]}, []),
    ],
)
def test_keys_aliases_merges_and_tags_are_those_of_yaml(text: str, value: Json, where: list[str]) -> None:
    problems = ProblemLog()
    assert parse_yaml(text, problems) == value
    assert [(problem.code, problem.where) for problem in problems] == [("duplicate-key", place) for place in where]


@pytest.mark.parametrize("text", ["a: &a [*a]\n", "&a {b: *a}\n", "a: &a\n  b: {c: *a}\n", "&a [[[*a]]]\n"])
def test_an_alias_that_contains_itself_is_refused(text: str) -> None:
    with pytest.raises(YamlError, match=r"line 1|line 2"):
        parse(text)


def test_aliases_that_stand_for_too_much_are_refused() -> None:
    bomb = "a0: &a0 [x, x, x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
    with pytest.raises(YamlError, match="aliases"):
        parse(bomb)


def test_a_small_text_may_not_come_to_much_by_its_aliases() -> None:
    """X-13: every later walk costs what the aliases stand for, not what was written."""
    lines = ["s0: &s0 {type: string}"]
    lines += [f"s{i}: &s{i} {{type: object, properties: {{a: *s{i - 1}, b: *s{i - 1}}}}}" for i in range(1, 18)]
    with pytest.raises(YamlError, match=r"the aliases expand to more than 10[0-9],[0-9]{3} values"):
        parse_yaml("\n".join(lines), ProblemLog())


def test_a_bomb_of_mappings_is_refused() -> None:
    bomb = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{l: *a{n - 1}, r: *a{n - 1}}}\n" for n in range(1, 60))
    with pytest.raises(YamlError, match="aliases"):
        parse(bomb)


@pytest.mark.parametrize("text", ["[" * 20_000, "{a: " * 20_000], ids=["lists", "mappings"])
def test_nesting_that_nobody_can_read_is_refused_as_such(text: str) -> None:
    """And at once: the parser's own time grows with the square of the depth."""
    with pytest.raises(YamlError, match=r"line \d.*deep"):
        parse("openapi: " + text)


@pytest.mark.parametrize(
    "text", ["a: *none\n", "a: [1\n", "a: 'x\n", "\tb: 1\n", "a: b: c\n", "%YAML 9.9\n", "@a", "a: \x07", "- a\nb: 1\n"]
)
def test_what_is_not_yaml_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(YamlError) as caught:
        parse(text)
    assert str(caught.value)
    assert "\n" not in str(caught.value)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(data=JSON)
def test_what_a_yaml_library_writes_is_read_back(data: Json) -> None:
    """The words that differ between YAML 1.1 and 1.2 are quoted by the library."""
    text = yaml.safe_dump(data, allow_unicode=True)
    assume("\x85" not in text)  # which the library does not read back itself
    assert parse(text) == json.loads(json.dumps(data))


@given(data=JSON)
def test_json_is_yaml_but_for_control_characters(data: Json) -> None:
    """Which JSON may hold unescaped, and PyYAML refuses: U+FFFD is in their place."""
    text = re.sub("[\x7f-\x9f\u2028\u2029\ufffe\uffff]", "\ufffd", json.dumps(data, ensure_ascii=False))
    assert parse(text) == json.loads(text)


def test_control_characters_do_not_cost_the_document() -> None:
    problems = ProblemLog()
    assert parse_yaml("a: 'x\x85y\x9fz'\nb: 1\n", problems)["b"] == 1
    assert [problem.code for problem in problems] == ["control-characters"]


@given(text=st.text(st.sampled_from("ab:- \n\t[]{},&*!|>'\"%@#?~1.0\\x"), max_size=30) | st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(YamlError):
        parse(text)
