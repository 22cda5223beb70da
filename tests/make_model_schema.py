"""Prints docs/model.schema.json, the JSON Schema of what `skillgen inspect` prints: `make golden` runs it.

It is generated from the classes of the model and their docstrings.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import json
import sys
from typing import Any

import msgspec

from skillgen.errors import Problem
from skillgen.model.service import Service
from skillgen.model.values import Node

Json = Any


def model_classes() -> tuple[type, ...]:
    """Returns the classes that a service consists of, `Service` first."""
    classes: list[type] = [Problem, *Node.__subclasses__()]
    return tuple(sorted(classes, key=lambda cls: (cls is not Service, cls.__name__)))


def field_docstrings(cls: type) -> dict[str, str]:
    """Returns the docstring below each field of a class, by the field's name."""
    docstrings = {}
    body = _class_bodies(cls.__module__)[cls.__name__]
    for statement, after in itertools.pairwise(body):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                docstrings[statement.target.id] = " ".join(str(after.value.value).split())
    return docstrings


@functools.cache
def _class_bodies(module: str) -> dict[str, list[ast.stmt]]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}


def snapshot_schema() -> dict[str, Json]:
    """Returns the JSON Schema of a snapshot."""
    classes = model_classes()
    _, definitions = msgspec.json.schema_components(
        classes, schema_hook=lambda _: {"description": "Any value."}, ref_template="#/$defs/{name}"
    )
    for definition in definitions.values():  # releases of msgspec differ in white space
        if "description" in definition:
            definition["description"] = inspect.cleandoc(definition["description"])
    for cls in classes:
        for name, text in field_docstrings(cls).items():
            definitions[cls.__name__]["properties"][name]["description"] = text
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
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
        "$defs": definitions,
    }


if __name__ == "__main__":
    print(json.dumps(snapshot_schema(), ensure_ascii=False, indent=2))
