"""The JSON Schema of what `skillgen inspect` prints, generated from the classes of the model and their docstrings.

`python -m skillgen.model.json_schema > docs/model.schema.json` renews the committed file, and a test checks that it is
current. It reads source code for the docstrings below fields, so only development tools and `skillgen init` import it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import json
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from skillgen.model.codec import default_of, to_json
from skillgen.model.service import Service
from skillgen.model.values import Json, Value

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_SCALARS = {str: "string", bool: "boolean", int: "integer", float: "number"}


def snapshot_schema() -> dict[str, Json]:
    """Returns the JSON Schema of a snapshot."""
    return {
        "$schema": DIALECT,
        "title": "skillgen snapshot",
        "description": "What `skillgen inspect` prints and `skillgen from-server --snapshot` reads. An absent key has "
        "its default value; without a default, it means that nothing is declared.",
        "type": "object",
        "properties": {
            "snapshot": {"description": "The version of the format.", "const": 1},
            "services": {
                "description": "The services that were read.",
                "type": "array",
                "items": {"$ref": "#/$defs/Service"},
            },
        },
        "required": ["snapshot", "services"],
        "additionalProperties": False,
        "$defs": {cls.__name__: class_schema(cls) for cls in sorted(model_classes(), key=lambda cls: cls.__name__)},
    }


def model_classes() -> tuple[type, ...]:
    """Returns the classes that a service consists of, `Service` first."""
    classes: dict[type, None] = {Service: None}
    waiting: list[type] = [Service]
    while waiting:
        for annotation in typing.get_type_hints(waiting.pop()).values():
            for cls in _classes_in(annotation):
                if cls not in classes:
                    classes[cls] = None
                    waiting.append(cls)
    return tuple(classes)


def class_schema(cls: type) -> dict[str, Json]:
    """Returns the JSON Schema of one class, without the `$defs` that it refers to."""
    hints, docstrings = typing.get_type_hints(cls), field_docstrings(cls)
    properties, required = {}, []
    for item in fields(cls):
        properties[item.name] = {"description": docstrings.get(item.name, "")} | _schema_of(hints[item.name])
        default = default_of(item)
        if default is NODEFAULT:
            required.append(item.name)
        elif default is not None and not isinstance(default, Struct):
            properties[item.name]["default"] = to_json(default)
    return {
        "description": _joined(inspect.getdoc(cls) or ""),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def field_docstrings(cls: type) -> dict[str, str]:
    """Returns the docstring below each field of a class, by the field's name."""
    docstrings = {}
    body = _class_bodies(cls.__module__)[cls.__name__]
    for statement, after in itertools.pairwise(body):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                docstrings[statement.target.id] = _joined(str(after.value.value))
    return docstrings


@functools.cache
def _class_bodies(module: str) -> dict[str, list[ast.stmt]]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}


def _classes_in(annotation: Any) -> Iterator[type]:
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        if annotation is not Value:
            yield annotation
    for argument in typing.get_args(annotation):
        yield from _classes_in(argument)


def _schema_of(annotation: Any) -> dict[str, Json]:
    """Returns the JSON Schema of an annotation. `None` is always an absent key, so it is not part of the schema."""
    if annotation is Any or annotation is Value:
        return {}
    if annotation in _SCALARS:
        return {"type": _SCALARS[annotation]}
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return {"$ref": f"#/$defs/{annotation.__name__}"}
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        members = [_schema_of(member) for member in arguments if member is not types.NoneType]
        return members[0] if len(members) == 1 else {"anyOf": members}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "items": _schema_of(arguments[0])}
    assert isinstance(origin, type)
    assert issubclass(origin, Mapping), f"an annotation without a JSON form: {annotation}"
    return {"type": "object", "additionalProperties": _schema_of(arguments[1])}


def _joined(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    print(json.dumps(snapshot_schema(), ensure_ascii=False, indent=2))
