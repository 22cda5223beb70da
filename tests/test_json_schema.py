"""JSON Schemas as the model has them: 2020-12, draft-07, and the schema objects of OpenAPI 3.0 and 3.1.

What is broken makes problems, and never an exception.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from captured import service_of_answers
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples

from skillgen import NamedType, Parameter, Schema, Tool

Json = Any


def read(raw: Json) -> Schema:
    """Reads a schema in which nothing is wrong."""
    schema, problems = read_with_problems(raw)
    assert problems == []
    return schema


def read_with_problems(raw: Json) -> tuple[Schema, list[str]]:
    tool, problems = tool_with("outputSchema", raw)
    assert tool.output is not None
    assert tool.output.schema is not None
    return tool.output.schema, problems


def tool_with(key: str, raw: Json) -> tuple[Tool, list[str]]:
    """Returns a tool with a schema, and what is wrong with it: code and place in the schema."""
    tool, problems, _ = read_tool(key, raw)
    return tool, problems


def read_tool(key: str, raw: Json) -> tuple[Tool, list[str], tuple[NamedType, ...]]:
    entry = {"name": "a", "description": "Does it.", "inputSchema": {"type": "object", "properties": {}}, key: raw}
    service = service_of_answers({"tools/list": [{"tools": [entry]}]})
    root = f"/tools~1list/0/tools/0/{key}"
    found = [problem for problem in service.problems if problem.where.startswith(root) and problem.level != "info"]
    problems = [f"{problem.code} {problem.where.removeprefix(root)}" for problem in found]
    return service.tools[0], problems, service.schemas


def parameters(raw: Json) -> tuple[dict[str, Parameter], dict[str, NamedType], list[str]]:
    """Reads an input schema: its parameters, the named types, and what is wrong."""
    tool, problems, types = read_tool("inputSchema", raw)
    return {item.name: item for item in tool.parameters}, {item.name: item for item in types}, problems


# -- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, False, 0, 0.0, "", [], {}, "x", True, 1])
def test_a_default_keeps_its_value_and_type(value: Json) -> None:
    schema = read({"type": "string", "default": value})
    assert schema.default is not None
    assert (type(schema.default.json), schema.default.json) == (type(value), value)


def test_a_schema_that_allows_nothing_has_no_choices() -> None:
    assert read(False).choices == ()


# -- references ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}},
        {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}},
        {"properties": {"a": {"$ref": "#"}}},
        {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"a": {"items": {"$ref": "#/$defs/A"}}}}}},
        {"$ref": "#/$defs/A", "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}], "properties": {"a": {}}}}},
        {"oneOf": [{"$ref": "#"}, {"properties": {"a": {}}}]},
    ],
)
def test_cycles_are_cut(raw: Json) -> None:
    """S2-09."""
    read(raw)
    parameters(raw)


@pytest.mark.parametrize(
    "reference", ["#/$defs/None", "#/nowhere", "#/$defs/A/0/x", "other.json", "https://x.example/a"]
)
def test_a_reference_that_leads_nowhere_is_reported_and_the_rest_is_kept(reference: str) -> None:
    """S2-09, X-10: nothing is fetched."""
    found, _, problems = parameters({"properties": {"a": {"$ref": reference, "description": "words"}, "b": {}}})
    assert list(found) == ["a", "b"]
    assert found["a"].description == "words"
    assert [problem.split(" ")[0].startswith("reference-not-") for problem in problems] == [True]


# -- what is broken --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw",
    [
        "string", 3, [], ["a"], {"type": 3}, {"type": ["string", 3]}, {"type": {}}, {"enum": "a"}, {"enum": 3},
        {"properties": []}, {"properties": "a"}, {"properties": {"a": 3}}, {"properties": {"a": None}},
        {"items": 3}, {"items": "a"}, {"allOf": {}}, {"allOf": [3]}, {"oneOf": "a"}, {"anyOf": {"a": 1}},
        {"oneOf": [3]},
        {"additionalProperties": {"type": 3}}, {"$ref": 3}, {"$ref": {}},
    ],
)  # fmt: skip
def test_a_broken_type_is_reported_and_left_out(raw: Json) -> None:
    _, problems = read_with_problems(raw)
    assert problems != []


@pytest.mark.parametrize(
    "raw",
    [
        {"required": True}, {"required": "a"}, {"required": [1, None]}, {"description": 3}, {"title": []},
        {"format": {}}, {"minimum": "a"}, {"examples": "a"}, {"default": {"a": []}}, {"nullable": "yes"},
        {"discriminator": "a"}, {"deprecated": "yes"}, {"additionalProperties": 3}, {"prefixItems": {}}, {"const": []},
        {"contentEncoding": 3}, {"patternProperties": []}, {"$defs": 3}, {"readOnly": 1}, {"pattern": 3},
    ],
)  # fmt: skip
def test_a_broken_detail_costs_nothing_else(raw: Json) -> None:
    found, _, _ = parameters({"properties": {"a": raw, "b": {"type": "string"}}, **raw})
    assert {"a", "b"} <= set(found)
    assert found["b"].schema.types == ("string",)


KEYWORDS = [
    "type", "properties", "required", "items", "prefixItems", "allOf", "anyOf", "oneOf", "not", "$ref", "$defs", "enum",
    "const", "default", "example", "examples", "nullable", "format", "title", "description", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "pattern", "additionalProperties", "patternProperties", "discriminator",
    "readOnly", "writeOnly", "deprecated", "contentEncoding", "dependentRequired", "propertyName", "a", "b",
]  # fmt: skip
WORDS = [
    *("string", "object", "array", "null", "a", "#", "#/$defs/a", "#/properties/a", "#/allOf/0", "x.json", ""),
    "date",
]
ANYTHING: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False)
    | st.sampled_from(WORDS)
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=6),
    max_leaves=25,
)


@settings(max_examples=examples(600))
@given(raw=ANYTHING)
def test_no_json_at_all_makes_the_reader_raise(raw: Json) -> None:
    for key in ("inputSchema", "outputSchema"):
        tool, _, types = read_tool(key, raw)
        output = () if tool.output is None else (tool.output.schema,)
        used = references((*output, *tool.parameters, *(item.schema for item in types)))
        assert set(used) <= {item.name for item in types}


def references(value: Any) -> Iterator[str]:
    """Yields the named types to which schemas refer."""
    if isinstance(value, tuple):
        for item in value:
            yield from references(item)
    elif isinstance(value, Schema):
        yield from (*filter(None, [value.ref]), *value.includes)
        yield from references((value.items, value.prefix_items, value.alternatives, value.additional))
        yield from references(value.properties)
    elif isinstance(value, Parameter):
        yield from references(value.schema)
