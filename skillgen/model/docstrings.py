"""The classes of the model, and the docstrings below their fields, from which schemas and documentation are generated.

It reads source code, so only development tools import it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import sys

from skillgen.errors import Problem
from skillgen.model.service import Service
from skillgen.model.values import Node


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
