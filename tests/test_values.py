"""What a value may be, as the references say it: one body whose properties use the keywords of JSON Schema in turn."""

from __future__ import annotations

from typing import Any

import pytest
from cli import generated
from descriptions import description, operation, write
from documents import items_apart
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples
from rows import inputs

from skillgen import read, render_documents

Json = Any

VALUES: dict[str, list[Any]] = inputs("values")["values"]
TYPES: Json = {
    "A": {"type": "object", "properties": {"deep": {"type": "string"}}},
    "B": {"type": "object", "properties": {"inner": {"type": "object", "properties": {"b": {}}}}},
    "C": {
        "type": "object",
        "$anchor": "somewhere",
        "properties": {"inner": {"type": "object", "properties": {"c": {}}}},
    },
}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The whole reference of one operation whose body has a property for each of `VALUES`."""
    folder = tmp_path_factory.mktemp("values")
    schema = {"type": "object", "properties": {name: schema for name, (schema, _) in VALUES.items()}}
    body = {"content": {"application/json": {"schema": schema}}}
    data = description({"/a": {"post": operation("send", requestBody=body)}}, components={"schemas": TYPES})
    generated("from-openapi", write(folder / "api.json", data), "-o", folder / "out")
    return items_apart((folder / "out" / "llms-full.txt").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", VALUES)
def test_every_keyword_of_a_schema_is_documented(text: str, name: str) -> None:
    """S2-09, X-10: every keyword of 2020-12 and draft-07 that says what a value may be."""
    start = text.index(f"- `{name}` ")
    end = min(place for mark in ("\n- `", "\n\n") if (place := text.find(mark, start)) > 0)
    assert text[start:end] == f"- `{name}` {VALUES[name][1]}"


WORDS = st.text("abcdefghij", min_size=3, max_size=6)
SCHEMAS: st.SearchStrategy[Json] = st.recursive(
    st.fixed_dictionaries({"type": st.just("string"), "enum": st.lists(WORDS, min_size=1, max_size=3, unique=True)})
    | st.fixed_dictionaries({"type": st.just("integer"), "maximum": st.integers(1000, 9999)})
    | st.fixed_dictionaries({"type": st.just("string"), "pattern": WORDS}),
    lambda inner: (
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(WORDS, inner, min_size=1, max_size=3)},
            optional={"additionalProperties": inner, "patternProperties": st.dictionaries(WORDS, inner, max_size=2)},
        )
        | st.fixed_dictionaries({"type": st.just("object"), "additionalProperties": inner})
        | st.fixed_dictionaries({"type": st.just("array"), "items": inner})
        | st.fixed_dictionaries({"type": st.just("array"), "prefixItems": st.lists(inner, min_size=1, max_size=2)})
        | st.fixed_dictionaries({"type": st.just("array"), "contains": inner})
        | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=2, max_size=3)})
        | st.fixed_dictionaries({"not": inner})
        | st.fixed_dictionaries({"if": inner, "then": inner, "else": inner})
    ),
    max_leaves=8,
)


def facts(schema: Json) -> set[str]:
    """Returns every name of a property, every choice and every bound anywhere in a schema."""
    found = set()
    for key, value in schema.items():
        if key in ("properties", "patternProperties"):
            found |= value.keys()
            found = found.union(*map(facts, value.values()))
        elif key == "enum":
            found |= set(value)
        elif key in ("maximum", "pattern"):
            found.add(str(value))
        elif isinstance(value, list):
            found = found.union(*map(facts, value))
        elif isinstance(value, dict):
            found |= facts(value)
    return found


@settings(max_examples=examples(150))
@given(schema=SCHEMAS)
def test_every_property_choice_and_bound_is_documented(schema: Json) -> None:
    """S2-09: or a problem names its pointer; here there is no such problem."""
    body = {"content": {"application/json": {"schema": {"type": "object", "properties": {"value": schema}}}}}
    service = read(description({"/a": {"post": operation("send", requestBody=body)}}))
    everything = "\n".join(render_documents(service, emit="skill").values())
    assert [fact for fact in facts(schema) if fact not in everything] == []
    assert [problem for problem in service.problems if problem.level != "info"] == []
