"""skillgen: turns an MCP server or an OpenAPI description into documents for AI agents.

The names in `__all__` are the public Python API, which docs/api.md explains. Everything else may change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from skillgen.api import build, check, generate, read, render_documents
    from skillgen.errors import EditedError, ExitCode, OutputError, Problem, SkillgenError, SourceError, UsageError
    from skillgen.model.auth import Endpoint
    from skillgen.model.calls import Example, Output
    from skillgen.model.resource import Group, Prompt, Resource, Section
    from skillgen.model.schema import NamedType, Parameter, Schema
    from skillgen.model.service import Service
    from skillgen.model.tool import Semantics, Tool
    from skillgen.model.values import Origin, Value
    from skillgen.pipeline.generate import File, Result

__all__ = [
    "EditedError",
    "Endpoint",
    "Example",
    "ExitCode",
    "File",
    "Group",
    "NamedType",
    "Origin",
    "Output",
    "OutputError",
    "Parameter",
    "Problem",
    "Prompt",
    "Resource",
    "Result",
    "Schema",
    "Section",
    "Semantics",
    "Service",
    "SkillgenError",
    "SourceError",
    "Tool",
    "UsageError",
    "Value",
    "build",
    "check",
    "generate",
    "read",
    "render_documents",
]


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used: `import skillgen` itself loads nothing else."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("skillgen.api"), name)
