"""The quick check of examples against the library that it spares: its yes is never the library's no."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples

from skillgen.model.values import Json
from skillgen.sources.examples.checker import Unchecked, checker_for
from skillgen.sources.examples.quick_check import Dialect, QuickCheck
from skillgen.sources.examples.validation import Validator

_NAMES = st.sampled_from(["a", "b", "c"])
_LEAVES = st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["", "a", "bc", "2025-01-31", 1.0, 0.5])
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3), max_leaves=6
)
_TYPES = st.sampled_from(["string", "integer", "number", "boolean", "object", "array", "null", "odd"])


def _keywords(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    counts = st.integers(0, 2)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": _TYPES,
            "nullable": st.booleans(),
            "format": st.sampled_from(["date", "int32"]),
            "enum": st.lists(_LEAVES, min_size=1, max_size=3),
            "required": st.lists(_NAMES, max_size=2, unique=True),
            "properties": st.dictionaries(_NAMES, inner, max_size=3),
            "additionalProperties": inner | st.booleans(),
            "items": inner,
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "minLength": counts,
            "maxItems": counts,
            "minProperties": counts,
            "minimum": counts,
            "pattern": st.just("^a"),
            "x-note": _LEAVES,
        },
    )


_SCHEMAS = st.recursive(
    st.fixed_dictionaries({}, optional={"type": _TYPES, "$ref": st.just("#/types/other")}), _keywords, max_leaves=6
)


@pytest.mark.parametrize("dialect", ["openapi-3.0", "openapi-3.1"])
@settings(max_examples=examples(300))
@given(value=_VALUES, raw=_SCHEMAS, other=_SCHEMAS)
def test_what_surely_fits_is_not_refused_by_the_library(dialect: Dialect, value: Json, raw: Json, other: Json) -> None:
    """S2-20."""
    root = {"types": {"other": other, "raw": raw}}
    if QuickCheck(Validator(root, dialect).follow).is_certainly_valid(value, raw):
        try:
            assert checker_for(root, dialect).validation_error(value, raw) is None
        except Unchecked:
            return  # a schema that leads back to itself, which asks for nothing more


def test_a_type_that_doubles_at_each_step_is_answered_in_bounded_steps() -> None:
    """S2-20."""
    steps = 14  # where all was looked at, 2 ** 14 schemas would say yes
    doubling: dict[str, Json] = {f"t{n}": {"allOf": [{"$ref": f"#/t{n + 1}"}] * 2} for n in range(steps)}
    doubling[f"t{steps}"] = {"type": "string"}
    assert not QuickCheck(Validator(doubling, "openapi-3.1").follow).is_certainly_valid("a", {"$ref": "#/t0"})
    assert QuickCheck(Validator(doubling, "openapi-3.1").follow).is_certainly_valid("a", {"$ref": f"#/t{steps - 3}"})
    root: Json = {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}
    assert not QuickCheck(Validator(root, "openapi-3.1").follow).is_certainly_valid("a", root)
    either: Json = {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}
    assert not QuickCheck(Validator(either, "openapi-3.1").follow).is_certainly_valid("a", either)
