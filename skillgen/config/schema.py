"""The JSON Schema of a project file, generated from the classes of `config.project` and their docstrings.

`python -m skillgen.config.schema > docs/skillgen.schema.json` updates the published one; a test compares them.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from typing import Any

from skillgen.config.project import SOURCE_KINDS, Project, Source
from skillgen.model.json_schema import DIALECT, field_docstrings
from skillgen.model.values import Json, Value

_SCALARS: dict[Any, dict[str, Json]] = {
    str: {"type": "string", "minLength": 1},
    bool: {"type": "boolean"},
    float: {"type": "number", "exclusiveMinimum": 0, "maximum": 86_400},
}


def project_schema() -> dict[str, Json]:
    """Returns the JSON Schema of `skillgen.yaml`."""
    header: dict[str, Json] = {"$schema": DIALECT, "title": "skillgen.yaml"}
    schema = header | _of_class(Project)
    source = schema["properties"]["targets"]["additionalProperties"]["properties"]["source"]
    source["oneOf"] = [_required(name) for name in SOURCE_KINDS]
    source["dependentSchemas"] = {
        item.name.replace("_", "-"): {"anyOf": [_required(kind) for kind in item.metadata["kinds"]]}
        for item in dataclasses.fields(Source)
        if "kinds" in item.metadata
    }
    return schema


def _required(name: str) -> Json:
    return {"required": [name.replace("_", "-")]}


def _of_class(cls: type[Any]) -> dict[str, Json]:
    hints, docstrings = typing.get_type_hints(cls), field_docstrings(cls)
    properties, required = {}, []
    for item in dataclasses.fields(cls):
        name = item.name.replace("_", "-")
        schema = _of(hints[item.name])
        if item.metadata.get("is_command"):
            schema = {"anyOf": [{"type": "string", "minLength": 1}, schema | {"minItems": 1}]}
        if "choices" in item.metadata:
            schema.get("items", schema)["enum"] = list(item.metadata["choices"])
            schema["default"] = item.metadata["default"]
        properties[name] = schema | {"description": docstrings[item.name]}
        if item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING:
            required.append(name)
    result: dict[str, Json] = {"type": "object", "properties": properties, "additionalProperties": False}
    return result | ({"required": required} if required else {})


def _of(annotation: Any) -> dict[str, Json]:
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
        return _of_class(annotation)
    if annotation in _SCALARS:
        return dict(_SCALARS[annotation])
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        kind = next(item for item in arguments if item is not types.NoneType)
        return {"type": ["string", "null"]} if kind is Value else _of(kind)
    if origin is tuple:
        return {"type": "array", "items": _of(arguments[0])}
    assert isinstance(origin, type)
    assert issubclass(origin, Mapping), f"an annotation without a JSON form: {annotation}"
    return {"type": "object", "additionalProperties": _of(arguments[1])}


if __name__ == "__main__":
    print(json.dumps(project_schema(), ensure_ascii=False, indent=2))
