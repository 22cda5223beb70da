"""OpenAPI descriptions for tests: small ones made of a few words, and one that uses most of what OpenAPI has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = Any


def operation(operation_id: str | None = None, **members: Json) -> dict[str, Json]:
    """Returns an operation that answers 200."""
    named = {} if operation_id is None else {"operationId": operation_id, "summary": f"Does {operation_id}"}
    return {**named, "responses": {"200": {"description": "Done"}}, **members}


def description(paths: dict[str, Json] | None = None, **members: Json) -> dict[str, Json]:
    """Returns a description of version 3.1 with these paths."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tasks", "version": "1.0", "description": "Keeps tasks. Use when the user plans work."},
        "servers": [{"url": "https://tasks.example/v1"}],
        "paths": {"/tasks": {"get": operation("list_tasks")}} if paths is None else paths,
        **members,
    }


def grouped(**groups: list[str]) -> dict[str, Json]:
    """Returns a description whose tools stand in groups: group to the names of its tools."""
    return description(
        {
            f"/{group}/{name}": {"get": operation(name, tags=[group])}
            for group, names in groups.items()
            for name in names
        }
    )


def write(path: Path, data: Json) -> Path:
    """Writes a description as JSON."""
    path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    return path


def follow(data: Json, pointer: str) -> Json:
    """Returns what a JSON pointer refers to."""
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        data = data[int(key) if isinstance(data, list) else key]
    return data
