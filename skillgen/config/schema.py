"""The JSON Schema of a project file, generated from the options of `config.project`.

`python -m skillgen.config.schema > docs/skillgen.schema.json` updates the published one; a test compares them.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from skillgen.config.project import (
    SOURCE_KINDS,
    Option,
    Project,
    Source,
    is_required,
    key_help,
    keys_in,
    option_of,
)
from skillgen.model.docstrings import DIALECT, field_docstrings
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
    target = schema["properties"]["targets"]["additionalProperties"]
    source, keys = target["properties"]["source"], keys_in(Source)
    source["oneOf"] = [_required(key) for key, item in keys.items() if item.name in SOURCE_KINDS]
    source["dependentSchemas"] = {
        key: {"anyOf": [_required(other) for other, kind in keys.items() if kind.name in kinds]}
        for key, item in keys.items()
        if (kinds := option_of(item).kinds)
    }
    return schema


def _required(key: str) -> Json:
    return {"required": [key]}


def _of_class(cls: type[Any]) -> dict[str, Json]:
    hints, docstrings = typing.get_type_hints(cls), field_docstrings(cls)
    properties, required = {}, []
    for key, item in keys_in(cls).items():
        schema = _of(hints[item.name])
        declared: Option | None = item.metadata.get("option")
        if declared is not None and declared.choices:
            (schema.get("items") or schema.get("additionalProperties") or schema)["enum"] = list(declared.choices)
            if item.default is not None and item.default is not dataclasses.MISSING:
                schema["default"] = list(item.default) if isinstance(item.default, tuple) else item.default
        if declared is not None and declared.is_command:
            schema = {"anyOf": [{"type": "string", "minLength": 1}, schema | {"minItems": 1}]}
        properties[key] = schema | {"description": docstrings[item.name] if declared is None else key_help(item)}
        if is_required(item):
            required.append(key)
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
    if origin is Sequence:
        return {"type": "array", "items": _of(arguments[0])}
    assert isinstance(origin, type)
    assert issubclass(origin, Mapping), f"an annotation without a JSON form: {annotation}"
    return {"type": "object", "additionalProperties": _of(arguments[1])}


if __name__ == "__main__":
    print(json.dumps(project_schema(), ensure_ascii=False, indent=2))
