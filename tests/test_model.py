"""The model as JSON and back, and the JSON Schema of it that is in the repository."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli import ROOT, generated, run_python
from descriptions import description, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec import Struct
from msgspec.structs import fields
from properties import examples

import skillgen
from skillgen import Parameter, Schema, Service, Tool, Value
from skillgen.model.values import DecodeError, from_json, to_json

Json = Any

COMMITTED = ROOT / "docs" / "model.schema.json"
TEXT = st.text(max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=3,
)
DEPTH = 3


def values_of(annotation: Any, depth: int) -> st.SearchStrategy[Any]:
    """Returns values of a field's type; below a depth, what recurs is empty."""
    if annotation is Any:
        return JSON
    if annotation is Value:
        return JSON.map(Value)
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return nodes_of(annotation, depth)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        members = [member for member in arguments if depth or not deep(member)]
        return st.one_of([st.none() if member is types.NoneType else values_of(member, depth) for member in members])
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        return (
            st.just(())
            if not depth and deep(arguments[0])
            else st.lists(values_of(arguments[0], depth), max_size=2).map(tuple)
        )
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return st.dictionaries(TEXT, values_of(arguments[1], depth), max_size=2)
    scalars: dict[Any, st.SearchStrategy[Any]] = {
        str: TEXT,
        bool: st.booleans(),
        int: st.integers(),
        float: st.floats(allow_nan=False, allow_infinity=False),
    }
    return scalars[annotation]


def classes_in(annotation: Any) -> Iterator[type]:
    """Yields the classes of the model that an annotation names, and those in their fields."""
    found = [annotation]
    for item in found:
        is_class = isinstance(item, type) and issubclass(item, Struct)
        inner = typing.get_type_hints(item).values() if is_class else typing.get_args(item)
        found += [other for other in inner if other not in found]
        if is_class:
            yield item


def deep(annotation: Any) -> bool:
    return (isinstance(annotation, type) and issubclass(annotation, Struct)) or any(
        map(deep, typing.get_args(annotation))
    )


def nodes_of(cls: type, depth: int = DEPTH) -> st.SearchStrategy[Any]:
    """Returns nodes of a class: each field is often left at its default, one with other nodes more often."""

    @st.composite
    def node(draw: st.DrawFn) -> Any:
        values = {}
        for item in fields(cls):
            annotation = item.type
            if item.required or draw(st.integers(0, 7 if deep(annotation) else 3)) == 0:
                values[item.name] = draw(values_of(annotation, max(depth - 1, 0)))
        return cls(**values)

    return st.deferred(node)


CLASSES = sorted(set(classes_in(Service)) - {Value}, key=repr)

calm = settings(max_examples=examples(80), suppress_health_check=list(HealthCheck))


def test_nodes_can_be_copied_and_sent_to_another_process() -> None:
    parameter = Parameter(name="a", location="query", required=True, schema=Schema(types=("string",)), pointer="/a")
    for other in (copy.deepcopy(parameter), pickle.loads(pickle.dumps(parameter))):
        assert (other, hash(other), type(other)) == (parameter, hash(parameter), Parameter)


def test_a_node_lists_its_fields_and_refuses_others() -> None:
    assert {"name", "schema"} <= inspect.signature(Parameter).parameters.keys()
    with pytest.raises(TypeError, match="nme"):
        Schema(nme="a")  # type: ignore[call-arg]


def test_what_another_release_wrote_is_left_out_with_its_pointer() -> None:
    origins = {"summary": {"kind": "inferred", "source": "name"}, "seen": {"kind": "observed", "source": "a"}}
    tools = [TOOL, {**TOOL, "seen": {"date": 3}, "origins": origins, "task_support": "sometimes"}]
    data: Json = {"kind": "mcp", "name": "a", "tools": tools, "ways": []}
    service, unknown = from_json(Service, data, "/services/0")
    assert sorted(unknown) == [
        "/services/0/tools/1/origins/seen/kind",
        "/services/0/tools/1/seen",
        "/services/0/tools/1/task_support",
        "/services/0/ways",
    ]
    known = {**TOOL, "origins": {"summary": origins["summary"]}}
    assert service == decoded(Service, {"kind": "mcp", "name": "a", "tools": [TOOL, known]})


@pytest.mark.parametrize("cls", CLASSES, ids=repr)
@settings(calm, max_examples=examples(25))
@given(data=st.data())
def test_every_node_goes_to_json_and_back_without_loss(cls: type, data: st.DataObject) -> None:
    node = data.draw(nodes_of(cls))
    text = json.dumps(to_json(node))
    assert decoded(cls, json.loads(text)) == node
    assert json.dumps(to_json(decoded(cls, json.loads(text)))) == text


@calm
@given(service=nodes_of(Service))
def test_whatever_a_service_holds_its_json_has_the_committed_form(service: Service) -> None:
    VALIDATOR.validate(skillgen.snapshot(service))


def encoded(node: Any) -> Json:
    """Returns a node as JSON is read again."""
    return json.loads(json.dumps(to_json(node)))


def decoded(cls: type[Any], data: Json) -> Any:
    """Returns a node; the model knows all that it has."""
    node, unknown = from_json(cls, data)
    assert not unknown
    return node


SCHEMA: Json = json.loads(COMMITTED.read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


@pytest.mark.parametrize("value", [None, Value(None), Value(""), Value(0), Value(False), Value([]), Value({})])
def test_none_declared_declared_null_and_declared_empty_stay_different(value: Value | None) -> None:
    data = encoded(Schema(default=value))
    assert ("default" in data) is (value is not None)
    read = decoded(Schema, data).default
    assert read == value
    assert (read is None) is (value is None)
    assert type(read.json if read else None) is type(value.json if value else None)


def test_a_raw_schema_is_kept_unchanged() -> None:
    raw: Json = {"type": ["string", "null"], "x": None, "y": [], "z": {}, "default": None, "w": 1.0}
    data: Json = {"name": "a", "pointer": "/a", "output": {"raw": raw, "pointer": "/a/output"}}
    assert encoded(decoded(Tool, json.loads(json.dumps(data)))) == data


TOOL = {"name": "a", "pointer": "/a"}


@pytest.mark.parametrize(
    ("data", "pointer"),
    [
        ({"kind": "ftp", "name": "a"}, "/kind"),
        ({"kind": "mcp", "name": 3}, "/name"),
        ({"kind": "mcp"}, ""),
        ({"kind": "mcp", "name": "a", "tools": {}}, "/tools"),
        ({"kind": "mcp", "name": "a", "tools": [{**TOOL, "parameters": [3]}]}, "/tools/0/parameters/0"),
        ({"kind": "mcp", "name": "a", "tools": [{**TOOL, "deprecated": "yes"}]}, "/tools/0/deprecated"),
        ({"kind": "mcp", "name": "a", "source_size_bytes": True}, "/source_size_bytes"),
        ({"kind": "mcp", "name": "a", "install": {"npm": 3}}, "/install/npm"),
        ({"kind": "mcp", "name": "a", "origins": {"a/b": {"kind": "x", "source": 3}}}, "/origins/a~1b/source"),
        ([], ""),
    ],
)
def test_json_of_another_form_is_refused_with_the_pointer_to_what_is_wrong(data: Json, pointer: str) -> None:
    with pytest.raises(DecodeError) as caught:
        from_json(Service, data, "/services/0")
    assert str(caught.value).partition(":")[0] == f"/services/0{pointer}"


def test_nodes_cannot_be_changed() -> None:
    parameter = Parameter(name="a", location="query", required=True, schema=Schema(), pointer="/a")
    with pytest.raises(AttributeError):
        parameter.name = "b"  # type: ignore[misc]


@pytest.mark.parametrize("cls", CLASSES, ids=repr)
def test_every_class_is_frozen_and_documented_field_by_field(cls: type) -> None:
    assert cls.__doc__
    assert cls.__struct_config__.frozen  # type: ignore[attr-defined]
    described = SCHEMA["$defs"][cls.__name__]["properties"]
    assert [item.name for item in fields(cls) if not described[item.name]["description"]] == []


# -- the JSON Schema in the repository -------------------------------------------------------------------------------


def test_the_committed_schema_is_the_one_that_the_classes_give() -> None:
    """`make golden` renews it."""
    finished = run_python("-W", "error", ROOT / "tests" / "make_model_schema.py", env={"PYTHONHASHSEED": "7"}).ok()
    assert finished.stdout == COMMITTED.read_text("utf-8")


def test_the_committed_schema_is_a_json_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_what_inspect_prints_of_a_description_has_the_committed_form(tmp_path: Path) -> None:
    finished = generated("inspect", write(tmp_path / "api.json", description()))
    VALIDATOR.validate(json.loads(finished.stdout))


def test_what_inspect_prints_of_githubs_description_has_the_committed_form(github_snapshot: Json) -> None:
    VALIDATOR.validate(github_snapshot)


def test_githubs_description_goes_to_json_and_back_without_loss(github_snapshot: Json) -> None:
    (data,) = github_snapshot["services"]
    assert encoded(decoded(Service, data)) == data
