"""`skillgen diff` is true: it names whatever differs, and says that it breaks wherever a valid call breaks (N1)."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from captured import service_of_answers
from cli import ROOT, generated, run_skillgen
from descriptions import description, operation, write
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from properties import examples
from random_descriptions import Drawn
from semantics import RECORDED

import skillgen

Json = Any
NONE = "nothing changed for callers"


def changes(old: Json, new: Json, folder: Path) -> tuple[list[Json], str]:
    """Returns the changes between two sources, and the verdict."""
    write(folder / "old.json", old)
    write(folder / "new.json", new)
    finished = generated("diff", folder / "old.json", folder / "new.json", "--json")
    shown = run_skillgen("diff", folder / "old.json", folder / "new.json")
    found = json.loads(finished.stdout)
    assert found["breaking"] == any(change["breaking"] for change in found["changes"])
    assert len(shown.stdout.splitlines()) == len(found["changes"])
    assert (NONE in shown.stderr) == (not found["changes"])
    return found["changes"], shown.stdout


def differences(old: Json, new: Json) -> tuple[skillgen.ToolChange, ...]:
    """Returns the same changes, without a process: for sources drawn by the hundred."""
    return skillgen.diff(skillgen.read(old), skillgen.read(new))


def takes(**schema: Json) -> Json:
    """Returns a description with one query parameter."""
    parameter = {"name": "q", "in": "query", "schema": schema}
    return description({"/a": {"get": operation("find", parameters=[parameter])}})


def sends(media_type: str = "application/json", **schema: Json) -> Json:
    """Returns a description with one body."""
    body = {"required": True, "content": {media_type: {"schema": {"type": "object", **schema}}}}
    return description({"/a": {"post": operation("make", requestBody=body)}})


def answers(status: str = "200", media_type: str = "application/json", **schema: Json) -> Json:
    """Returns a description with one result."""
    response = {"description": "Done", "content": {media_type: {"schema": schema}}}
    return description({"/a": {"get": operation("find", responses={status: response})}})


def needs(*security: Json, **members: Json) -> Json:
    schemes = {name: {"type": "apiKey", "in": "header", "name": f"X-{name}"} for name in "km"}
    found = operation("find", **({"security": [*security]} if security else {}))
    return description({"/a": {"get": found}}, components={"securitySchemes": schemes}, **members)


TEXT = {"type": "string"}
BREAKING = [
    # The eleven cases of N1.
    (takes(type="integer", maximum=100), takes(type="integer", maximum=50)),
    (takes(type="integer", minimum=1), takes(type="integer", minimum=2)),
    (takes(type="string", maxLength=9), takes(type="string", maxLength=5)),
    (takes(type="string"), takes(type="string", pattern="^a")),
    (takes(type="array", items=TEXT), takes(type="array", items=TEXT, maxItems=2)),
    (takes(type="integer", default=1), takes(type="integer", default=2)),
    (sends(properties={"a": TEXT}), sends(properties={"a": TEXT}, additionalProperties=False)),
    (needs(), needs({"k": []})),
    (needs(), needs(servers=[{"url": "https://other.example"}])),
    (sends(properties={"a": TEXT}), sends("application/xml", properties={"a": TEXT})),
    (answers("200", type="string"), answers("201", type="string")),
    # More of their kind.
    (needs({"k": []}), needs({"k": [], "m": []})),
    (takes(type="number"), takes(type="integer")),
    (takes(anyOf=[TEXT, {"type": "integer"}]), takes(type="string")),
    (answers(type="string"), answers(type=["string", "null"])),
    (answers(type="string", enum=["a"]), answers(type="string", enum=["a", "b"])),
    (answers(type="integer", maximum=5), answers(type="integer", maximum=9)),
    (answers(type="string"), answers("200", "text/plain", type="string")),
    (answers(type="string"), answers(anyOf=[TEXT, {"type": "integer"}])),
]
HARMLESS = [
    (takes(type="integer", maximum=50), takes(type="integer", maximum=100)),
    (takes(type="integer"), takes(type="number")),
    (takes(type="string"), takes(anyOf=[TEXT, {"type": "integer"}])),
    (needs({"k": []}), needs()),
    (needs({"k": []}), needs({"k": []}, {"m": []})),
    (answers(type="integer", maximum=9), answers(type="integer", maximum=5)),
    (answers(type="object"), answers(type="object", properties={"a": TEXT})),
    (answers(type="string"), answers(type="string", deprecated=True)),
]
SAME = [
    (takes(type="number", default=2.0), takes(type="number", default=2)),
    (takes(type="string"), takes(anyOf=[TEXT])),
    (needs({"k": []}, {"m": []}), needs({"m": []}, {"k": []})),
    (takes(type=["string", "integer"]), takes(type=["integer", "string"])),
    (takes(enum=["a", "b"]), takes(enum=["b", "a"])),
    (takes(type="string"), {**takes(**{"$ref": "#/components/schemas/T"}), "components": {"schemas": {"T": TEXT}}}),
    tuple(
        {**takes(**schema), "components": {"schemas": {"O": {"type": "object", "properties": {"a": TEXT}}}}}
        for schema in (
            {"$ref": "#/components/schemas/O"},
            {"allOf": [{"$ref": "#/components/schemas/O"}, {"type": "object"}]},
        )
    ),
]


@pytest.mark.parametrize(("old", "new"), BREAKING)
def test_what_breaks_a_caller_is_breaking(old: Json, new: Json) -> None:
    assert differences(old, new)[0].breaking


@pytest.mark.parametrize(("old", "new"), HARMLESS)
def test_what_breaks_no_caller_is_named_all_the_same(old: Json, new: Json) -> None:
    assert {change.breaking for change in differences(old, new)} == {False}


@pytest.mark.parametrize(("old", "new"), SAME)
def test_another_way_to_write_the_same_is_not_a_change(old: Json, new: Json) -> None:
    assert differences(old, new) == ()


@pytest.mark.parametrize(("old", "new"), [BREAKING[0], HARMLESS[0], SAME[0]])
def test_the_command_says_the_same_in_words_and_as_json(old: Json, new: Json, tmp_path: Path) -> None:
    found, shown = changes(old, new, tmp_path)
    expected = differences(old, new)
    assert [(item["tool"], item["breaking"]) for item in found] == [(item.tool, item.breaking) for item in expected]
    assert [line.startswith("- breaking: ") for line in shown.splitlines()] == [item.breaking for item in expected]


@pytest.mark.parametrize("more", [{"additionalProperties": False}, {"minProperties": 1}, {"required": ["b"]}])
def test_a_constraint_on_the_arguments_of_a_tool_is_one_change(more: Json) -> None:
    """They are no body, which can be optional."""
    schema = {"type": "object", "properties": {"a": TEXT}}
    old, new = (
        service_of_answers({"tools/list": [{"tools": [{"name": "find", "inputSchema": members}]}]})
        for members in (schema, schema | more)
    )
    for pair, breaks in (((old, new), True), ((new, old), False)):
        found = skillgen.diff(*pair)
        assert [item.breaking for item in found] == [breaks] * len(found), found
        assert not any("arguments is" in item.text for item in found), found
    assert skillgen.diff(old, new)


def test_types_that_refer_to_themselves_are_compared(tmp_path: Path) -> None:
    def tree(**members: Json) -> Json:
        node = {
            "type": "object",
            "properties": {"kids": {"type": "array", "items": {"$ref": "#/components/schemas/N"}}},
        }
        own = description(sends(properties={"n": {"$ref": "#/components/schemas/N"}})["paths"])
        return {**own, "components": {"schemas": {"N": {**node, **members}}}}

    inline = sends(properties={"n": {"type": "object", "properties": {"kids": {"type": "array", "items": {}}}}})
    assert changes(tree(), tree(), tmp_path)[0] == []
    assert "type N: " in changes(tree(), tree(minProperties=1), tmp_path)[1]
    assert changes(tree(), inline, tmp_path)[0] != []
    assert changes(inline, tree(), tmp_path)[0][0]["breaking"]


# -- whatever differs is named -----------------------------------------------------------------------------------------

_IGNORED = {"pointer", "origins", "raw", "input_schema", "group", "quotations", "request"}
"""Positions, copies and what is inferred: not what a caller depends on."""


def leaves(value: Json, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yields the path of each string, number and boolean in a snapshot of tools."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in members:
        is_generated = key == "examples" and len(path) == 1
        if key not in _IGNORED and not is_generated and not (key == "status" and "errors" in path):
            yield from leaves(item, (*path, key))
    if isinstance(value, (str, int, float)):
        yield path


@cache
def snapshots() -> list[Json]:
    """Returns snapshots of recorded servers and of a program, parsed."""
    recorded = [json.loads((RECORDED / f"{name}.json").read_text("utf-8")) for name in ("notionhq-notion", "dynamodb")]
    services = [service_of_answers(item["results"], protocol_version=item["protocol_version"]) for item in recorded]
    program = skillgen.read(cli="click_program:cli", cwd=str(ROOT / "tests/programs"), program="depot")
    return [skillgen.snapshot(service) for service in (*services, program)]


@settings(max_examples=examples(90))
@given(st.integers(0, 400), st.data())
def test_no_changed_leaf_of_a_tool_is_silent(seed: int, data: Any) -> None:
    """Of an operation of a drawn description, or of a tool of a server or a command of a program."""
    place = data.draw(st.sampled_from([None, 0, 1, 2]))
    old = skillgen.snapshot(skillgen.read(source=Drawn(seed).data)) if place is None else snapshots()[place]
    new = copy.deepcopy(old)
    tools = new["services"][0]["tools"]
    path = data.draw(st.sampled_from([*leaves(tools)]))
    holder = tools
    for key in path[:-1]:
        holder = holder[key]
    value = holder[path[-1]]
    # What was inferred is inferred again when a snapshot is read.
    origins = holder.get("origins", {}) if isinstance(holder, dict) else {}
    assume(origins.get(path[-1], {}).get("kind") != "inferred")
    choices = {"location": "header" if value != "header" else "query", "operation": "admin"}
    other = not value if isinstance(value, bool) else f"{value}x" if isinstance(value, str) else 7
    holder[path[-1]] = other = choices.get(path[-1], other)
    assert differences(old, new), (path, value, other)


# -- a call that was valid is not broken in silence --------------------------------------------------------------------

VALUES = st.sampled_from([None, True, False, 0, 1, 2, 3, 1.5, "", "a", "ab", "abc"])
CALLS = st.recursive(
    VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner), max_leaves=5
)
SMALL = st.integers(0, 3)


def keywords(**members: Any) -> Any:
    return st.fixed_dictionaries({}, optional=members)


def nested(inner: Any) -> Any:
    some = st.lists(inner.filter(lambda item: item.get("type") != "null"), min_size=1, max_size=3)
    names = st.lists(st.sampled_from("ab"), unique=True)
    return st.one_of(
        keywords(type=st.just("array"), items=inner, minItems=SMALL, maxItems=SMALL, contains=inner, prefixItems=some),
        # Both names are declared: a new name of an open object is taken for one that no caller has sent.
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.fixed_dictionaries({"a": inner, "b": inner})},
            optional={"required": names, "additionalProperties": st.booleans(), "maxProperties": SMALL},
        ),
        keywords(additionalProperties=inner, propertyNames=inner, dependentRequired=st.just({"a": ["b"]})),
        some.map(lambda items: {"anyOf": items}) | some.map(lambda items: {"oneOf": items}),
        some.map(lambda items: {"allOf": items}) | inner.map(lambda item: {"not": item}),
    )


SCHEMAS = st.recursive(
    st.one_of(
        keywords(type=st.sampled_from(["integer", "number"]), minimum=SMALL, maximum=SMALL, exclusiveMaximum=SMALL),
        keywords(type=st.sampled_from(["string", ["string", "null"]]), minLength=SMALL, pattern=st.sampled_from("ab")),
        keywords(enum=st.lists(VALUES, min_size=1, max_size=3, unique_by=json.dumps), multipleOf=st.integers(1, 2)),
        keywords(type=st.sampled_from(["boolean", "null", ["integer", "string"]]), const=VALUES),
    ),
    nested,
    max_leaves=4,
)


@settings(max_examples=examples(120))
@given(SCHEMAS, SCHEMAS, st.lists(CALLS, min_size=10, max_size=30))
def test_a_call_that_becomes_invalid_is_breaking(old: Json, new: Json, calls: Json) -> None:
    def described(schema: Json) -> Json:
        parameter = {"name": "v", "in": "query", "schema": schema}
        return {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {"/a": {
            "get": operation("take", parameters=[parameter]),
            "put": operation("answer", responses=answers(**schema)["paths"]["/a"]["get"]["responses"]),
        }}}  # fmt: skip

    shown = differences(described(old), described(new))
    broken = {change.tool for change in shown if change.breaking}
    before, after = (jsonschema_rs.Draft202012Validator(schema) for schema in (old, new))
    for call in calls:
        assert not (before.is_valid(call) and not after.is_valid(call)) or "take" in broken, (call, shown)
        assert not (after.is_valid(call) and not before.is_valid(call)) or "answer" in broken, (call, shown)
