"""Declared examples are judged as another validator judges them, though the schemas are read into a model before."""

from __future__ import annotations

from typing import Any

from captured import service_of_answers
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from properties import examples

Json = Any

_NAMES = st.sampled_from(["a", "b", "c"])
_LEAVES = st.booleans() | st.integers(-2, 3) | st.sampled_from(["", "a", "bc", "2025-01-31", 1.0, 0.5])
_VALUES = st.recursive(
    st.none() | _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=6,
)
_TYPES = st.sampled_from(["string", "integer", "number", "boolean", "object", "array"])


def _keywords(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    counts = st.integers(0, 2)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": _TYPES,
            "format": st.sampled_from(["date", "int32"]),
            "enum": st.lists(_LEAVES, min_size=1, max_size=3),
            "required": st.lists(_NAMES, max_size=2, unique=True),
            "properties": st.dictionaries(_NAMES, inner, max_size=3),
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b|c"]), inner, max_size=2),
            "additionalProperties": inner | st.booleans(),
            "propertyNames": inner,
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "contains": inner,
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "dependentRequired": st.dictionaries(_NAMES, st.lists(_NAMES, max_size=2, unique=True), max_size=2),
            "minLength": counts,
            "maxItems": counts,
            "minProperties": counts,
            "minimum": counts,
            "pattern": st.just("^a"),
            "uniqueItems": st.booleans(),
        },
    )


_SCHEMAS = st.recursive(
    st.fixed_dictionaries({}, optional={"type": _TYPES}) | st.just({"$ref": "#/$defs/Other"}) | st.booleans(),
    _keywords,
    max_leaves=6,
)
_OTHERS = st.recursive(st.fixed_dictionaries({}, optional={"type": _TYPES}) | st.booleans(), _keywords, max_leaves=4)


@settings(max_examples=examples(400))
@given(value=_VALUES, schema=_SCHEMAS, other=_OTHERS)
def test_a_declared_example_is_invalid_where_another_validator_says_so(value: Json, schema: Json, other: Json) -> None:
    """S2-20."""
    whole = {"type": "object", "properties": {"value": schema}, "$defs": {"Other": other}}
    tool = {"name": "act", "inputSchema": whole, "dashdash": {"examples": [{"input": {"value": value}}]}}
    results = {"initialize": {"serverInfo": {"name": "booth"}}, "tools/list": [{"tools": [tool]}]}
    service = service_of_answers(results)
    declared = service.tools[0].examples[-1]
    other_validator = Draft202012Validator(whole, format_checker=Draft202012Validator.FORMAT_CHECKER)
    assert (declared.flaw is None) is other_validator.is_valid({"value": value})
    assert ("call-example-invalid" in {problem.code for problem in service.problems}) is (declared.flaw is not None)
