"""Prints docs/model.schema.json, the JSON Schema of what `skillgen inspect` prints: `make golden` runs it.

It is generated from the classes of the model and their docstrings.
"""

from __future__ import annotations

import inspect
import json
import types
import typing
from collections.abc import Mapping
from typing import Any

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

import skillgen
from skillgen.model.codec import default_of, to_json
from skillgen.model.docstrings import DIALECT, field_docstrings, joined, model_classes

Json = Any

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
        "description": joined(inspect.getdoc(cls) or ""),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _schema_of(annotation: Any) -> dict[str, Json]:
    """Returns the JSON Schema of an annotation. `None` is always an absent key, so it is not part of the schema."""
    if annotation is Any or annotation is skillgen.Value:
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


if __name__ == "__main__":
    print(json.dumps(snapshot_schema(), ensure_ascii=False, indent=2))
