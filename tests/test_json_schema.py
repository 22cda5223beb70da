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

from skillgen import NamedType, Parameter, Schema, Tool, Value

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


INPUT = "/tools~1list/0/tools/0/inputSchema"


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


# -- types and null --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "types", "nullable"),
    [
        ({"type": "string"}, ("string",), False),
        ({"type": ["string", "integer"]}, ("string", "integer"), False),
        ({"type": ["string", "null"]}, ("string",), True),
        ({"type": "null"}, (), True),
        ({"type": ["null"]}, (), True),
        ({"type": "string", "nullable": True}, ("string",), True),
        ({"nullable": True, "type": "string"}, ("string",), True),
        ({"type": ["string", "null"], "nullable": False}, ("string",), True),
        ({"nullable": False, "type": ["string", "null"]}, ("string",), True),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, ("string",), True),
        ({"oneOf": [{"type": "null"}, {"type": "string"}]}, ("string",), True),
        ({"anyOf": [{"type": "string", "nullable": True}]}, ("string",), True),
        ({}, (), False),
        (True, (), False),
    ],
)
def test_null_is_read_from_the_types_wherever_it_is_declared(raw: Json, types: tuple[str, ...], nullable: bool) -> None:
    """S2-20: `nullable: true` counts in a 3.1 document too."""
    schema = read(raw)
    assert (schema.types, schema.nullable) == (types, nullable)


def test_this_or_null_keeps_its_siblings() -> None:
    """As Pydantic writes an optional value."""
    raw = {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": None, "title": "Limit"}
    schema = read(raw)
    assert schema.default == Value(None)
    assert schema.title == "Limit"
    assert schema.constraints == {"minimum": 1}
    assert schema.alternatives == ()


# -- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, False, 0, 0.0, "", [], {}, "x", True, 1])
def test_a_default_keeps_its_value_and_type(value: Json) -> None:
    schema = read({"type": "string", "default": value})
    assert schema.default is not None
    assert (type(schema.default.json), schema.default.json) == (type(value), value)


@pytest.mark.parametrize("value", [None, False, 0, "", "x", [1]])
def test_a_constant_is_the_one_choice(value: Json) -> None:
    schema = read({"const": value})
    assert schema.choices == (value,)
    assert type(schema.choices[0]) is type(value)


def test_choices_keep_their_order_and_their_types() -> None:
    assert read({"enum": ["b", "a", None, 1, True, ""]}).choices == ("b", "a", None, 1, True, "")


def test_a_schema_that_allows_nothing_has_no_choices() -> None:
    assert read(False).choices == ()


@pytest.mark.parametrize(
    ("raw", "constraints"),
    [
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"minimum": 1, "exclusiveMinimum": False}, {"minimum": 1}),
        ({"exclusiveMinimum": 1}, {"exclusiveMinimum": 1}),
        ({"exclusiveMinimum": 0}, {"exclusiveMinimum": 0}),
        ({"minimum": 0, "exclusiveMinimum": 1}, {"minimum": 0, "exclusiveMinimum": 1}),
        ({"maximum": 9, "exclusiveMaximum": True}, {"exclusiveMaximum": 9}),
        ({"exclusiveMaximum": True}, None),
        ({"minLength": 0, "maxLength": 3, "pattern": "^a"}, {"minLength": 0, "maxLength": 3, "pattern": "^a"}),
        ({"uniqueItems": True}, {"uniqueItems": True}),
        ({"uniqueItems": False}, None),
    ],
)
def test_bounds_are_read_in_both_forms(raw: Json, constraints: Json) -> None:
    """The exclusive bounds are flags in 3.0 and draft-04, numbers since draft-06."""
    assert read(raw).constraints == constraints


# -- objects ---------------------------------------------------------------------------------------------------------


def test_properties_keep_their_order_and_their_required_marks() -> None:
    found, _, problems = parameters({"properties": {"b": {}, "a": {"type": "string"}}, "required": ["a"]})
    assert [(name, item.required) for name, item in found.items()] == [("b", False), ("a", True)]
    assert found["a"].pointer == f"{INPUT}/properties/a"
    assert problems == []


def test_required_on_the_property_itself_is_understood() -> None:
    """A habit of draft-3 that real documents have."""
    found, _, _ = parameters({"properties": {"a": {"type": "string", "required": True}, "b": {"required": False}}})
    assert (found["a"].required, found["b"].required) == (True, False)


def test_a_property_named_like_a_keyword_is_a_property() -> None:
    names = ["type", "properties", "required", "$ref", "enum", "default", "allOf", "", "a/b", "~"]
    found, _, problems = parameters({"type": "object", "properties": {name: {"type": "string"} for name in names}})
    assert list(found) == names
    assert problems == []
    assert found["a/b"].pointer == f"{INPUT}/properties/a~1b"


def test_all_of_is_one_object_with_every_property() -> None:
    raw = {
        "allOf": [{"properties": {"a": {}}, "required": ["a"]}, {"$ref": "#/$defs/B"}],
        "properties": {"c": {}},
        "required": ["b"],
        "$defs": {"B": {"properties": {"b": {}, "d": {}}}},
    }
    found, _, problems = parameters(raw)
    assert {name: item.required for name, item in found.items()} == {"a": True, "b": True, "c": False, "d": False}
    assert problems == []


def test_all_of_one_reference_is_that_reference() -> None:
    """How OpenAPI 3.0 describes a reference."""
    raw = {"allOf": [{"$ref": "#/$defs/B"}], "description": "words", "$defs": {"B": {"type": "object"}}}
    schema = read(raw)
    assert (schema.ref, schema.includes, schema.description) == ("B", (), "words")


def test_all_of_with_several_references_includes_them() -> None:
    raw = {"allOf": [{"$ref": "#/$defs/B"}, {"$ref": "#/$defs/C"}], "$defs": {"B": {}, "C": {}}}
    assert read(raw).includes == ("B", "C")


def test_a_parameter_is_required_if_every_alternative_requires_it() -> None:
    raw = {
        "oneOf": [
            {"properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
            {"properties": {"a": {}, "c": {}}, "required": ["a"]},
        ]
    }
    found, _, _ = parameters(raw)
    assert {name: item.required for name, item in found.items()} == {"a": True, "b": False, "c": False}


def test_one_of_keeps_its_alternatives_and_what_distinguishes_them() -> None:
    raw = {"oneOf": [{"type": "string"}, {"type": "object"}], "discriminator": {"propertyName": "kind"}}
    schema = read(raw)
    assert [item.types for item in schema.alternatives] == [("string",), ("object",)]
    assert schema.discriminator is not None
    assert (schema.discriminator.property, schema.discriminator.mapping) == ("kind", None)


@pytest.mark.parametrize(
    ("raw", "items", "prefix"),
    [
        ({"items": {"type": "string"}}, ("string",), []),
        ({"prefixItems": [{"type": "string"}, {"type": "null"}]}, None, [("string",), ()]),
        ({"items": [{"type": "string"}], "additionalItems": {"type": "integer"}}, ("integer",), [("string",)]),
        ({"items": True}, None, []),
    ],
)
def test_items_are_read_in_both_forms(raw: Json, items: tuple[str, ...] | None, prefix: list[tuple[str, ...]]) -> None:
    schema = read(raw)
    assert (schema.items.types if schema.items else None) == items
    assert [item.types for item in schema.prefix_items] == prefix


@pytest.mark.parametrize(
    ("raw", "additional"),
    [
        ({}, None),
        ({"additionalProperties": False}, False),
        ({"additionalProperties": True}, True),
        ({"additionalProperties": {}}, True),
    ],
)
def test_additional_properties_are_refused_any_or_not_declared(raw: Json, additional: bool | None) -> None:
    assert read(raw).additional is additional


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


def test_a_reference_is_read_once_and_named() -> None:
    raw = {
        "properties": {"a": {"$ref": "#/$defs/T"}, "b": {"type": "array", "items": {"$ref": "#/$defs/T"}}},
        "$defs": {"T": {"type": "object", "properties": {"x": {"type": "string"}}}, "Unused": {}},
    }
    found, types, problems = parameters(raw)
    assert found["a"].schema.ref == "T"
    assert found["b"].schema.items is not None
    assert found["b"].schema.items.ref == "T"
    assert [item.name for item in types["T"].schema.properties] == ["x"]
    assert types["T"].pointer == f"{INPUT}/$defs/T"
    assert list(types) == ["T"]
    assert problems == []


def test_a_reference_may_stand_anywhere_and_be_encoded() -> None:
    raw = {"properties": {"a b/c": {"type": "string"}, "d": {"$ref": "#/properties/a%20b~1c"}}}
    found, types, problems = parameters(raw)
    assert found["d"].schema.ref is not None
    assert types[found["d"].schema.ref].schema.types == ("string",)
    assert problems == []


@pytest.mark.parametrize(
    "reference", ["#/$defs/None", "#/nowhere", "#/$defs/A/0/x", "other.json", "https://x.example/a"]
)
def test_a_reference_that_leads_nowhere_is_reported_and_the_rest_is_kept(reference: str) -> None:
    """S2-09, X-10: nothing is fetched."""
    found, _, problems = parameters({"properties": {"a": {"$ref": reference, "description": "words"}, "b": {}}})
    assert list(found) == ["a", "b"]
    assert found["a"].description == "words"
    assert [problem.split(" ")[0].startswith("reference-not-") for problem in problems] == [True]


def test_types_of_one_name_in_two_documents_are_distinguished() -> None:
    """Input schemas of two MCP tools, each with its own `$defs`."""
    owners = {"one": "string", "two": "integer", "three": "string"}
    schemas = {
        owner: {"properties": {"a": {"$ref": "#/$defs/T"}}, "$defs": {"T": {"type": kind}}}
        for owner, kind in owners.items()
    }
    refs, types = refs_of(schemas)
    assert [types[ref].types for ref in refs] == [("string",), ("integer",), ("string",)]
    assert refs[0] == refs[2] != refs[1]


def test_equal_types_that_refer_to_different_ones_are_distinguished() -> None:
    schemas = {
        owner: {
            "properties": {"a": {"$ref": "#/$defs/T"}},
            "$defs": {"T": {"properties": {"x": {"$ref": "#/$defs/U"}}}, "U": {"type": kind}},
        }
        for owner, kind in (("one", "string"), ("two", "integer"))
    }
    refs, _ = refs_of(schemas)
    assert refs[0] != refs[1]


def refs_of(schemas: dict[str, Json]) -> tuple[list[str], dict[str, Schema]]:
    """Returns the named type of the only parameter of each tool, and the named types of their service."""
    tools = [{"name": name, "inputSchema": schema} for name, schema in schemas.items()]
    service = service_of_answers({"tools/list": [{"tools": tools}]})
    return [tool.parameters[0].schema.ref or "" for tool in service.tools], {
        item.name: item.schema for item in service.schemas
    }


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
    "string",
    "object",
    "array",
    "null",
    "a",
    "#",
    "#/$defs/a",
    "#/properties/a",
    "#/allOf/0",
    "x.json",
    "",
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
