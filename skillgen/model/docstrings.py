"""The classes of the model, and the docstrings below their fields, from which schemas and documentation are generated.

It reads source code, so only development tools and `skillgen init` import it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import sys
import typing
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from skillgen.model.service import Service
from skillgen.model.values import Value

DIALECT = "https://json-schema.org/draft/2020-12/schema"


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


def field_docstrings(cls: type) -> dict[str, str]:
    """Returns the docstring below each field of a class, by the field's name."""
    docstrings = {}
    body = _class_bodies(cls.__module__)[cls.__name__]
    for statement, after in itertools.pairwise(body):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                docstrings[statement.target.id] = joined(str(after.value.value))
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


def joined(text: str) -> str:
    """Returns a docstring on one line."""
    return " ".join(text.split())
