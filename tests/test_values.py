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

from skillgen import read, render_documents

Json = Any

SCALARS = {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "integer", "maximum": 5}]}
TEXT_OR_IMAGE = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"type": {"const": "text"}, "words": {"type": "string"}},
            "required": ["type"],
        },
        {"type": "object", "properties": {"type": {"const": "image"}, "url": {"type": "string"}}},
    ]
}
COUNTRY = {
    "type": "object",
    "properties": {"country": {"type": "string"}},
    "if": {"properties": {"country": {"const": "US"}}, "required": ["country"]},
    "then": {"required": ["zip"]},
    "else": {"properties": {"post": {"type": "string", "maxLength": 8}}},
}
VALUES: dict[str, tuple[Json, str]] = {
    # alternatives
    "scalars": (SCALARS, "(string or integer)\n  - as string: One of `a`, `b`.\n  - as integer: At most 5."),
    "constants": ({"oneOf": [{"const": "x"}, {"const": "y"}]}, "(string): One of `x`, `y`."),
    "described": (
        {"oneOf": [{"const": "x", "description": "The x."}, {"const": "y", "title": "Why"}]},
        "(string)\n  - `x`: The x.\n  - `y` (Why)",
    ),
    "open": (
        {"anyOf": [{"enum": ["a", "b"], "type": "string"}, {"type": "string"}]},
        "(string)\n  - alternative 1: One of `a`, `b`.\n  - or any string",
    ),
    "told-apart": (
        TEXT_OR_IMAGE,
        "(object)\n  - where `type` is `text`:\n    - `type` (string, required): Always `text`.\n"
        "    - `words` (string)\n  - where `type` is `image`:\n    - `type` (string): Always `image`.\n"
        "    - `url` (string)",
    ),
    "beside": (
        {"properties": {"own": {"type": "string"}}, "oneOf": [{"$ref": "#/components/schemas/A"}, SCALARS]},
        "(object or string or integer, with more properties)\n  - `own` (string)\n  - A (object):\n"
        "    - `deep` (string)\n  - as string or integer:\n    - as string: One of `a`, `b`.\n"
        "    - as integer: At most 5.",
    ),
    "one-of-two": (
        {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b", "c"]}]},
        "(object): At least one of `a`; `b` and `c` is required.",
    ),
    "exactly-one": (
        {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        "(object): Exactly one of `a`, `b` is required.",
    ),
    # all of several
    "narrower": (
        {"allOf": [{"type": "integer", "minimum": 1, "maximum": 9}, {"type": "number", "minimum": 3}], "maximum": 7},
        "(integer): 3 to 7.",
    ),
    "common-choices": (
        {"allOf": [{"enum": ["a", "b", 1]}, {"enum": ["b", 1, True]}], "type": ["string", "integer"]},
        "(string or integer): One of `b`, `1`.",
    ),
    "largest-number": (
        {"type": "integer", "exclusiveMinimum": 0, "minimum": -(2**53) + 1, "maximum": 2**53 - 1},
        "(integer): More than `0`.",
    ),
    "default-null": ({"type": "integer", "default": None, "maximum": 9}, "(integer): At most 9."),
    "null-if-both": ({"allOf": [{"type": ["string", "null"]}, {"type": "string"}]}, "(string)"),
    "null-beside": ({"nullable": True, "allOf": [{"type": "string"}]}, "(string or null)"),
    "two-patterns": (
        {"type": "string", "allOf": [{"pattern": "^a"}, {"pattern": "z$"}]},
        "(string): Matches `^a`.\n  - and also: Matches `z$`.",
    ),
    "both": (
        {
            "allOf": [{"$ref": "#/components/schemas/A"}],
            "oneOf": [{"$ref": "#/components/schemas/B"}, {"$ref": "#/components/schemas/C"}],
            "required": ["deep"],
        },
        "(object and ([B](#b) or [C](#c))): Also required: `deep`.\n  - `deep` (string)",
    ),
    "two-choices": (
        {"allOf": [{"oneOf": [{"type": "string"}, {"type": "integer"}]}, {"not": {"enum": ["", 0]}}]},
        '(string or integer): Must not match `{"enum": ["", 0]}` (JSON Schema).',
    ),
    # objects
    "map": (
        {"additionalProperties": {"type": "string", "enum": ["m", "n"], "maxLength": 4}},
        "(map of string to string): Each value: one of `m`, `n`; at most 4 characters.",
    ),
    "others": (
        {"properties": {"p": {"type": "string"}}, "additionalProperties": {"type": "integer", "minimum": 3}},
        "(object)\n  - `p` (string)\n  - any other property (integer): At least 3.",
    ),
    "patterned": (
        {"type": "object", "patternProperties": {"^x-": {"type": "integer"}, "^y": {"type": "string", "maxLength": 1}}},
        "(object)\n  - properties that match `^x-` (integer)\n"
        "  - properties that match `^y` (string): At most 1 character.",
    ),
    "unevaluated": (
        {"properties": {"p": {"type": "string"}}, "unevaluatedProperties": False},
        "(object)\n  - `p` (string)",
    ),
    "names": (
        {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}},
        "(object): Each key: matches `^[a-z]+$`.",
    ),
    "together": (
        {"type": "object", "dependentRequired": {"u": ["v"]}},
        '(object)\n  - if `{"required": ["u"]}` (JSON Schema): Also required: `v`.',
    ),
    "together-07": (
        {"type": "object", "dependencies": {"u": ["v"]}},
        '(object)\n  - if `{"required": ["u"]}` (JSON Schema): Also required: `v`.',
    ),
    "then-this": (
        {"type": "object", "dependentSchemas": {"u": {"properties": {"v": {"type": "integer"}}}}},
        '(object)\n  - if `{"required": ["u"]}` (JSON Schema):\n    - `v` (integer)',
    ),
    "conditional": (
        COUNTRY,
        "(object)\n  - `country` (string)\n"
        '  - if `{"properties": {"country": {"enum": ["US"]}}, "required": ["country"]}` '
        "(JSON Schema): Also required: `zip`.\n  - else:\n"
        "    - `post` (string): At most 8 characters.",
    ),
    # arrays
    "items": (
        {"type": "array", "items": {"type": "string", "description": "A tag.", "enum": ["a", "b"], "pattern": "."}},
        "(array of string): Each item: A tag; one of `a`, `b`; matches `.`.",
    ),
    "items-of-items": (
        {"type": "array", "items": {"type": "array", "minItems": 2, "items": {"type": "number", "maximum": 9}}},
        "(array of array of number): Each item: at least 2 items; each item: at most 9.",
    ),
    "tuple": (
        {"type": "array", "prefixItems": [{"enum": ["q"]}, {"type": "number"}], "items": {"type": "boolean"}},
        "(array of: string, number, then any number of boolean)\n  - item 1: Always `q`.",
    ),
    "closed": ({"prefixItems": [{"type": "string"}], "items": False}, "(array of exactly: string)"),
    "tuple-07": (
        {"type": "array", "items": [{"type": "string"}, {"type": "integer", "minimum": 1}]},
        "(array starting with: string, integer)\n  - item 2: At least 1.",
    ),
    "many-types": (
        {"type": ["string", "integer", "array"], "items": {"type": "string", "maxLength": 2}},
        "(string or integer or array of string): Each item: at most 2 characters.",
    ),
    "contains": (
        {"type": "array", "contains": {"type": "string", "enum": ["k"]}, "minContains": 2, "maxContains": 3},
        '(array): Must match `{"minContains": 2, "maxContains": 3, "contains": {"type": "string", "enum": ["k"]}}` '
        "(JSON Schema).",
    ),
    # what it is not, and what it holds
    "not-these": (
        {"type": "string", "not": {"enum": ["a", "b"]}},
        '(string): Must not match `{"enum": ["a", "b"]}` (JSON Schema).',
    ),
    "not-with": (
        {"type": "object", "not": {"required": ["a", "b"]}},
        "(object): Not with `a` and `b` together.",
    ),
    "not-like": (
        {"type": "object", "not": {"properties": {"z": {"type": "string", "maxLength": 3}}}},
        '(object): Must not match `{"properties": {"z": {"type": "string", "maxLength": 3}}}` (JSON Schema).',
    ),
    "decoded": (
        {"type": "string", "contentMediaType": "application/json", "contentSchema": {"type": "integer", "minimum": 1}},
        "(string): Holds `application/json`.\n  - decoded, it is integer: At least 1.",
    ),
    "null-only": ({"type": "null"}, "(null)"),
    # in words
    "said-default": (
        {"type": "integer", "default": 10, "maximum": 99, "description": "How many (default: 10)"},
        "(integer): How many (default: 10). At most 99.",
    ),
    "other-default": (
        {"type": "integer", "default": 10, "description": "How many; defaults to 100"},
        "(integer): How many; defaults to 100. Default: `10`.",
    ),
    "said-choices": (
        {"type": "string", "enum": ["asc", "desc", "none"], "description": "`asc`, `desc` or `none`"},
        "(string): `asc`, `desc` or `none`",
    ),
    "other-words": (
        {"type": "string", "enum": ["open", "closed"], "description": "Finds open or closed ones"},
        "(string): Finds open or closed ones. One of `open`, `closed`.",
    ),
    # references
    "anchored": ({"$ref": "#somewhere"}, "([C](#c))"),
    "with-words": (
        {"$ref": "#/components/schemas/A", "description": "An a.", "deprecated": True},
        "(object): An a. Deprecated.\n  - `deep` (string)",
    ),
}
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
