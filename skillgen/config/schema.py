"""The JSON Schema of a project file, generated from the options of `config.project`.

`python -m skillgen.config.schema > docs/skillgen.schema.json` updates the published one; a test compares them.
"""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from skillgen.config.convert import SCALARS, in_keys
from skillgen.config.option import Option, Options, keys_in
from skillgen.config.project import SOURCE_KINDS, Project, Source, Target

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_Schema = dict[str, Any]


def project_schema() -> _Schema:
    """Returns the JSON Schema of `skillgen.yaml`."""
    schema = {"$schema": DIALECT, "title": "skillgen.yaml"} | _schema_of_class(Project)
    keys = {key: item for key, (_, item) in keys_in(Source).items()}
    required = {item.name: {"required": [key]} for key, item in keys.items()}
    source = _schema_of_class(Source)
    source["oneOf"] = [required[kind] for kind in SOURCE_KINDS if kind in required]
    kinds = {key: [required[kind] for kind in item.kinds if kind in required] for key, item in keys.items()}
    source["dependentSchemas"] = {key: {"anyOf": schemas} for key, schemas in kinds.items() if schemas}
    return schema | {"$defs": {"Source": source, "Target": _schema_of_class(Target)}}


def _schema_of_class(cls: type[Options]) -> _Schema:
    properties = {key: _schema_of_option(item) for key, (_, item) in keys_in(cls).items()}
    schema: _Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required := [key for key, (_, item) in keys_in(cls).items() if item.is_required]:
        schema["required"] = required
    return schema | {"description": " ".join((inspect.getdoc(cls) or "").split())}


def _schema_of_option(item: Option) -> _Schema:
    schema = _schema_of(item.type)
    if item.choices:
        (schema.get("items") or schema.get("additionalProperties") or schema)["enum"] = list(item.choices)
        if item.default not in (None, {}):
            schema["default"] = list(item.default) if isinstance(item.default, tuple) else item.default
    if item.is_command:
        schema = {"anyOf": [{"type": "string", "minLength": 1}, schema | {"minItems": 1}]}
    if item.default is UNSET:
        schema["type"] = [schema["type"], "null"]
    text = in_keys(" ".join(filter(None, (item.help, *item.also.values(), item.note))))
    return schema | ({"description": text} if text else {})


def _schema_of(kind: Any) -> _Schema:
    if kind in (Source, Target):
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if isinstance(kind, type) and issubclass(kind, Options):
        return _schema_of_class(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Sequence:
        return {"type": "array", "items": _schema_of(arguments[0])}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _schema_of(arguments[1])}
    return msgspec.json.schema(SCALARS[kind])


if __name__ == "__main__":
    print(json.dumps(project_schema(), ensure_ascii=False, indent=2))
