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


BOOKS: Json = {
    "openapi": "3.1.0",
    "info": {"title": "Books", "version": "1.0.0", "description": "Sells books."},
    "servers": [{"url": "https://books.example"}],
    "paths": {
        "/books": {
            "get": {
                "operationId": "list_books",
                "summary": "List the books",
                "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}}],
                "responses": {"200": {"description": "The books"}},
            }
        }
    },
}
"""The books of a shop."""

LONG = "It takes room. " * 900
"""A text that makes a service too large to be described in SKILL.md as a whole."""


def small(data: dict[str, Json]) -> dict[str, Json]:
    """Returns a description without what makes it large."""
    events = {name: event for name, event in data.get("webhooks", {}).items() if name != "filler"}
    return {**data, "webhooks": events} if events else {key: data[key] for key in data if key != "webhooks"}


def description(paths: dict[str, Json] | None = None, **members: Json) -> dict[str, Json]:
    """Returns a description of version 3.1 with these paths, and a webhook that makes it large."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tasks", "version": "1.0", "description": "Keeps tasks. Use when the user plans work."},
        "servers": [{"url": "https://tasks.example/v1"}],
        "paths": {"/tasks": {"get": operation("list_tasks")}} if paths is None else paths,
        "webhooks": {"filler": {"post": operation("filler", description=LONG)}},
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


TWO_GROUPS = grouped(tasks=["list_tasks", "get_task"], users=["list_users", "get_user"])


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
