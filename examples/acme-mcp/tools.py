"""The nine tools of the Acme server: what each says of itself, and right below it what it does.

`@tool` turns the declaration into an entry of `tools/list`. Everything but the description and the parameters goes
into the entry's `dashdash` object.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

Json = dict[str, Any]

DECLARATIONS: dict[str, Json] = {}
FUNCTIONS: dict[str, Callable[..., Json]] = {}


class ToolError(Exception):
    """A call that failed, with one of the codes that the tools declare in their `errors`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def tool(
    description: str, *, properties: Json, required: tuple[str, ...] = (), **dashdash: Any
) -> Callable[[Callable[..., Json]], Callable[..., Json]]:
    """Declares the function below as a tool of the same name."""

    def declare(function: Callable[..., Json]) -> Callable[..., Json]:
        name = function.__name__
        FUNCTIONS[name] = function
        DECLARATIONS[name] = {
            "name": name,
            "description": description,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": list(required),
                "additionalProperties": False,
            },
            "dashdash": dashdash,
        }
        return function

    return declare


# -- what is stored ----------------------------------------------------------------------------------------------------

PROJECTS: dict[str, Json] = {
    "proj_123": {
        "id": "proj_123",
        "name": "My Project",
        "type": "private",
        "description": "The project that every new account starts with",
        "status": "active",
        "createdAt": "2026-01-05T09:00:00Z",
    },
}
TASKS: dict[str, Json] = {
    "task_789": {
        "id": "task_789",
        "project_id": "proj_123",
        "title": "Write the release notes",
        "status": "open",
        "priority": "normal",
        "labels": ["docs"],
        "createdAt": "2026-01-06T09:00:00Z",
    },
}
ANSWERS_BY_KEY: dict[tuple[str, str], Json] = {}
PROJECT_IDS = (f"proj_{number}" for number in itertools.count(456))
TASK_IDS = (f"task_{number}" for number in itertools.count(790))


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def find(store: dict[str, Json], id: str) -> Json:
    if id not in store:
        raise ToolError("NOT_FOUND", f"There is no {id}")
    return store[id]


def page(items: list[Json], limit: int, cursor: str | None) -> tuple[list[Json], Json]:
    """Returns the items of one page, and `nextCursor` where another follows."""
    if cursor is not None and not (cursor.isascii() and cursor.isdigit()):
        raise ToolError("INVALID_CURSOR", f"There is no page {cursor!r}")
    start = int(cursor or 0)
    more = {"nextCursor": str(start + limit)} if start + limit < len(items) else {}
    return items[start : start + limit], more


# -- pieces that several declarations share ----------------------------------------------------------------------------

PROJECT_ID: Json = {"type": "string", "description": "Project ID", "pattern": "^proj_[0-9]+$"}
TASK_ID: Json = {"type": "string", "description": "Task ID", "pattern": "^task_[0-9]+$"}
LIMIT: Json = {"type": "integer", "description": "Max results", "minimum": 1, "maximum": 100, "default": 50}
CURSOR: Json = {"type": "string", "description": "Pagination cursor: the nextCursor of the page before"}
IDEMPOTENCY_KEY: Json = {
    "type": "string",
    "description": "A second call with the same key creates nothing and gives the first answer again",
    "minLength": 8,
    "maxLength": 64,
}
PRIORITY: Json = {"type": "string", "description": "How urgent it is", "enum": ["low", "normal", "high"]}
LABELS: Json = {
    "type": "array",
    "description": "Words to find the task by",
    "items": {"type": "string", "minLength": 1, "maxLength": 30},
    "maxItems": 10,
    "uniqueItems": True,
}
NO_PROJECT: Json = {
    "code": "NOT_FOUND",
    "description": "No project has this ID",
    "resolution": "Look the ID up with list_projects",
}
NO_TASK: Json = {
    "code": "NOT_FOUND",
    "description": "No task has this ID",
    "resolution": "Look the ID up with list_tasks",
}
NO_PAGE: Json = {
    "code": "INVALID_CURSOR",
    "description": "The cursor is not one that this tool gave",
    "resolution": "Start again without a cursor",
}
NAME_TAKEN: Json = {
    "code": "DUPLICATE_NAME",
    "description": "Project with this name already exists",
    "resolution": "Use a different name or update existing project",
}


# -- projects ----------------------------------------------------------------------------------------------------------


@tool(
    "List all projects",
    properties={
        "status": {
            "type": "string",
            "description": "Filter by status",
            "enum": ["active", "archived", "all"],
            "default": "all",
        },
        "limit": LIMIT,
        "cursor": CURSOR,
    },
    category="projects",
    operationType="read",
    idempotent=True,
    sideEffects=[],
    cliEquivalent="acme projects list --status {status}",
    apiEquivalent="GET /api/projects",
    examples=[
        {
            "description": "List the projects that are in use",
            "input": {"status": "active"},
            "output": {"projects": [{"id": "proj_123", "name": "My Project", "status": "active"}]},
        }
    ],
    errors=[NO_PAGE],
)
def list_projects(status: str, limit: int, cursor: str | None = None) -> Json:
    found = [item for item in PROJECTS.values() if status in ("all", item["status"])]
    projects, more = page(found, limit, cursor)
    return {"projects": projects, **more}


@tool(
    "Get the details of one project",
    properties={"project_id": PROJECT_ID},
    required=("project_id",),
    category="projects",
    operationType="read",
    idempotent=True,
    sideEffects=[],
    cliEquivalent="acme projects get {project_id}",
    apiEquivalent="GET /api/projects/{project_id}",
    examples=[
        {
            "description": "Look one project up",
            "input": {"project_id": "proj_123"},
            "output": {"id": "proj_123", "name": "My Project", "type": "private", "status": "active"},
        }
    ],
    errors=[NO_PROJECT],
)
def get_project(project_id: str) -> Json:
    return find(PROJECTS, project_id)


@tool(
    "Create a new project in Acme",
    properties={
        "name": {"type": "string", "description": "Project name", "minLength": 1, "maxLength": 100},
        "type": {
            "type": "string",
            "description": "Who can see it",
            "enum": ["public", "private"],
            "default": "private",
        },
        "description": {"type": "string", "description": "Project description", "maxLength": 2000},
        "idempotency_key": IDEMPOTENCY_KEY,
    },
    required=("name",),
    category="projects",
    operationType="write",
    idempotent=False,
    idempotentWithKey=True,
    sideEffects=["creates resource", "sends webhook"],
    reversible=True,
    reverseMethod="delete_project",
    cliEquivalent="acme projects create --name {name} --type {type}",
    apiEquivalent="POST /api/projects",
    rateLimit="100/hour",
    examples=[
        {
            "description": "Create a private project",
            "input": {"name": "my-project", "type": "private"},
            "output": {"id": "proj_456", "name": "my-project", "type": "private", "status": "active"},
        }
    ],
    errors=[NAME_TAKEN],
)
def create_project(name: str, type: str, description: str = "", idempotency_key: str | None = None) -> Json:
    if idempotency_key is not None and ("project", idempotency_key) in ANSWERS_BY_KEY:
        return ANSWERS_BY_KEY["project", idempotency_key]
    if any(item["name"] == name for item in PROJECTS.values()):
        raise ToolError("DUPLICATE_NAME", f"A project named {name} already exists")
    project = {
        "id": next(PROJECT_IDS),
        "name": name,
        "type": type,
        "description": description,
        "status": "active",
        "createdAt": now(),
    }
    PROJECTS[project["id"]] = project
    if idempotency_key is not None:
        ANSWERS_BY_KEY["project", idempotency_key] = dict(project)
    return project


@tool(
    "Change a project's name, description or status. What is not sent stays as it is.",
    properties={
        "project_id": PROJECT_ID,
        "name": {"type": "string", "description": "New name", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "description": "New description", "maxLength": 2000},
        "status": {"type": "string", "description": "New status", "enum": ["active", "archived"]},
    },
    required=("project_id",),
    category="projects",
    operationType="write",
    idempotent=True,
    sideEffects=["sends webhook"],
    reversible=True,
    reverseMethod="update_project",
    cliEquivalent="acme projects update {project_id} --name {name} --status {status}",
    apiEquivalent="PATCH /api/projects/{project_id}",
    examples=[
        {
            "description": "Archive a project",
            "input": {"project_id": "proj_123", "status": "archived"},
            "output": {"id": "proj_123", "name": "My Project", "status": "archived"},
        }
    ],
    errors=[NO_PROJECT, NAME_TAKEN],
)
def update_project(project_id: str, **changes: str) -> Json:
    project = find(PROJECTS, project_id)
    if any(item["name"] == changes.get("name") for item in PROJECTS.values() if item is not project):
        raise ToolError("DUPLICATE_NAME", f"A project named {changes['name']} already exists")
    project.update(changes)
    return project


@tool(
    "Delete a project and all of its tasks for good",
    properties={"project_id": PROJECT_ID},
    required=("project_id",),
    category="projects",
    operationType="delete",
    idempotent=True,
    sideEffects=["deletes all tasks of the project", "sends webhook"],
    reversible=False,
    cliEquivalent="acme projects delete {project_id}",
    apiEquivalent="DELETE /api/projects/{project_id}",
    examples=[
        {
            "description": "Delete a project",
            "input": {"project_id": "proj_123"},
            "output": {"deleted": "proj_123", "tasks": 1},
        }
    ],
    errors=[NO_PROJECT],
)
def delete_project(project_id: str) -> Json:
    find(PROJECTS, project_id)
    tasks = [id for id, task in TASKS.items() if task["project_id"] == project_id]
    for id in tasks:
        del TASKS[id]
    del PROJECTS[project_id]
    return {"deleted": project_id, "tasks": len(tasks)}


# -- tasks -------------------------------------------------------------------------------------------------------------


@tool(
    "List the tasks of a project",
    properties={
        "project_id": PROJECT_ID,
        "status": {
            "type": "string",
            "description": "Filter by status",
            "enum": ["open", "completed", "all"],
            "default": "open",
        },
        "limit": LIMIT,
        "cursor": CURSOR,
    },
    required=("project_id",),
    category="tasks",
    operationType="read",
    idempotent=True,
    sideEffects=[],
    cliEquivalent="acme tasks list --project {project_id} --status {status}",
    apiEquivalent="GET /api/projects/{project_id}/tasks",
    examples=[
        {
            "description": "List what is still to do",
            "input": {"project_id": "proj_123", "status": "open"},
            "output": {"tasks": [{"id": "task_789", "title": "Write the release notes", "status": "open"}]},
        }
    ],
    errors=[NO_PROJECT, NO_PAGE],
)
def list_tasks(project_id: str, status: str, limit: int, cursor: str | None = None) -> Json:
    find(PROJECTS, project_id)
    found = [task for task in TASKS.values() if task["project_id"] == project_id and status in ("all", task["status"])]
    tasks, more = page(found, limit, cursor)
    return {"tasks": tasks, **more}


@tool(
    "Create a new task in a project",
    properties={
        "project_id": PROJECT_ID,
        "title": {"type": "string", "description": "What is to be done", "minLength": 1, "maxLength": 200},
        "priority": {**PRIORITY, "default": "normal"},
        "labels": LABELS,
        "schedule": {
            "type": "object",
            "description": "When it is to be done",
            "properties": {
                "due_date": {"type": "string", "format": "date", "description": "The day on which it is due"},
                "remind_at": {"type": "string", "format": "date-time", "description": "When to send a reminder"},
                "repeat": {
                    "type": "string",
                    "description": "How often it comes again",
                    "enum": ["never", "daily", "weekly", "monthly"],
                    "default": "never",
                },
            },
            "required": ["due_date"],
            "additionalProperties": False,
        },
        "idempotency_key": IDEMPOTENCY_KEY,
    },
    required=("project_id", "title"),
    category="tasks",
    operationType="write",
    idempotent=False,
    idempotentWithKey=True,
    sideEffects=["creates resource", "sends webhook"],
    reversible=False,
    cliEquivalent="acme tasks create --project {project_id} --title {title} --priority {priority}",
    apiEquivalent="POST /api/projects/{project_id}/tasks",
    rateLimit="500/hour",
    examples=[
        {
            "description": "Create a task that is due every week",
            "input": {
                "project_id": "proj_123",
                "title": "Send the status report",
                "schedule": {"due_date": "2026-02-06", "repeat": "weekly"},
            },
            "output": {"id": "task_790", "title": "Send the status report", "status": "open"},
        }
    ],
    errors=[NO_PROJECT],
)
def create_task(project_id: str, title: str, idempotency_key: str | None = None, **details: Any) -> Json:
    if idempotency_key is not None and ("task", idempotency_key) in ANSWERS_BY_KEY:
        return ANSWERS_BY_KEY["task", idempotency_key]
    find(PROJECTS, project_id)
    id = next(TASK_IDS)
    task = {"id": id, "project_id": project_id, "title": title, "status": "open", **details, "createdAt": now()}
    TASKS[id] = task
    if idempotency_key is not None:
        ANSWERS_BY_KEY["task", idempotency_key] = dict(task)
    return task


@tool(
    "Change a task's title, priority, labels or status. What is not sent stays as it is.",
    properties={
        "task_id": TASK_ID,
        "title": {"type": "string", "description": "New title", "minLength": 1, "maxLength": 200},
        "priority": PRIORITY,
        "labels": LABELS,
        "status": {"type": "string", "description": "New status", "enum": ["open", "completed"]},
    },
    required=("task_id",),
    category="tasks",
    operationType="write",
    idempotent=True,
    sideEffects=["sends webhook"],
    reversible=True,
    reverseMethod="update_task",
    cliEquivalent="acme tasks update {task_id} --title {title} --priority {priority}",
    apiEquivalent="PATCH /api/tasks/{task_id}",
    examples=[
        {
            "description": "Make a task urgent",
            "input": {"task_id": "task_789", "priority": "high"},
            "output": {"id": "task_789", "title": "Write the release notes", "priority": "high"},
        }
    ],
    errors=[NO_TASK],
)
def update_task(task_id: str, **changes: Any) -> Json:
    task = find(TASKS, task_id)
    task.update(changes)
    return task


@tool(
    "Mark a task as complete",
    properties={"task_id": TASK_ID},
    required=("task_id",),
    category="tasks",
    operationType="write",
    idempotent=True,
    sideEffects=["sends email to the people who follow the task"],
    reversible=True,
    reverseMethod="update_task",
    cliEquivalent="acme tasks complete {task_id}",
    apiEquivalent="POST /api/tasks/{task_id}/complete",
    examples=[
        {
            "description": "Tick a task off",
            "input": {"task_id": "task_789"},
            "output": {"id": "task_789", "title": "Write the release notes", "status": "completed"},
        }
    ],
    errors=[NO_TASK],
)
def complete_task(task_id: str) -> Json:
    return update_task(task_id, status="completed")
