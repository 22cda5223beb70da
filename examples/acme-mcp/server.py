"""An MCP server over standard input and output that describes itself with dashdash 0.2.0.

    python server.py

It manages the projects and tasks of an imaginary company, in memory, and needs nothing but Python. What makes it an
example is what it says of itself: `dashdash` next to the usual members of the `initialize` result, of every tool and of
every resource, and a method `ai_help`. The tools are in `tools.py`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arguments import complaints, with_defaults
from tools import DECLARATIONS, FUNCTIONS, PROJECTS, TASKS, ToolError

Json = dict[str, Any]

PROTOCOL_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602

DASHDASH: Json = {
    "specVersion": "0.2.0",
    "identity": {
        "name": "acme-mcp",
        "description": "MCP server for Acme project management. Use when user asks to manage projects, track tasks, "
        "or collaborate with team members.",
        "emoji": "📊",
    },
    "accessLevel": "full",
    "alternativeAccess": {
        "cliUrl": "https://acme.com/cli",
        "apiUrl": "https://api.acme.com/docs",
        "webUrl": "https://acme.com/app",
    },
    "install": {"npm": "@acme/mcp-server", "docker": "acme/mcp-server:latest"},
    "requires": {"auth": ["api-key"], "env": ["ACME_API_KEY"], "scopes": ["read:projects", "write:tasks"]},
    "invocation": {"modelInvocable": True, "userInvocable": True},
    "rateLimit": "1000/hour",
    "homepage": "https://acme.com",
    "repository": "https://github.com/acme/acme-mcp",
}

AI_HELP = Path(__file__).with_name("ai_help.md").read_text(encoding="utf-8")


class RpcError(Exception):
    """A request that is answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


# -- the opening -------------------------------------------------------------------------------------------------------


def initialize(params: Json) -> Json:
    wanted = params.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in PROTOCOL_VERSIONS else PROTOCOL_VERSIONS[0],
        "serverInfo": {"name": "acme-mcp", "version": "1.0.0"},
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "dashdash": DASHDASH,
    }


def ping(params: Json) -> Json:
    return {}


# -- tools -------------------------------------------------------------------------------------------------------------


def tools_list(params: Json) -> Json:
    return {"tools": list(DECLARATIONS.values())}


def tools_call(params: Json) -> Json:
    name = params.get("name")
    if name not in DECLARATIONS:
        raise RpcError(METHOD_NOT_FOUND, f"There is no tool {name!r}")
    schema = DECLARATIONS[name]["inputSchema"]
    arguments = params.get("arguments", {})
    if wrong := list(complaints(schema, arguments)):
        raise RpcError(INVALID_PARAMS, "; ".join(wrong))
    try:
        return tool_result(FUNCTIONS[name](**with_defaults(schema, arguments)))
    except ToolError as error:
        return tool_result({"code": error.code, "message": str(error)}, failed=True)


def tool_result(answer: Json, failed: bool = False) -> Json:
    return {"content": [{"type": "text", "text": json.dumps(answer, ensure_ascii=False)}], "isError": failed}


# -- resources ---------------------------------------------------------------------------------------------------------


def resources_list(params: Json) -> Json:
    return {"resources": [project_resource(project) for project in PROJECTS.values()]}


def project_resource(project: Json) -> Json:
    return {
        "uri": f"acme://projects/{project['id']}",
        "name": f"Project: {project['name']}",
        "description": "Name, type, status and description of the project",
        "mimeType": "application/json",
        "dashdash": {
            "resourceType": "project",
            "refreshable": True,
            "cacheDuration": 300,
            "webEquivalent": f"https://acme.com/app/projects/{project['id']}",
            "apiEquivalent": f"GET /api/projects/{project['id']}",
        },
    }


def resources_templates_list(params: Json) -> Json:
    tasks = {
        "uriTemplate": "acme://projects/{project_id}/tasks",
        "name": "Tasks of a project",
        "description": "All tasks of the project, open and completed",
        "mimeType": "application/json",
        "dashdash": {
            "resourceType": "task",
            "refreshable": True,
            "cacheDuration": 60,
            "webEquivalent": "https://acme.com/app/projects/{project_id}/tasks",
            "apiEquivalent": "GET /api/projects/{project_id}/tasks",
        },
    }
    return {"resourceTemplates": [tasks]}


def resources_read(params: Json) -> Json:
    uri = str(params.get("uri"))
    match = re.fullmatch(r"acme://projects/(proj_[0-9]+)(/tasks)?", uri)
    if match is None or match[1] not in PROJECTS:
        raise RpcError(INVALID_PARAMS, f"There is no resource {uri}")
    tasks = [task for task in TASKS.values() if task["project_id"] == match[1]]
    text = json.dumps(tasks if match[2] else PROJECTS[match[1]], ensure_ascii=False)
    return {"contents": [{"uri": uri, "mimeType": "application/json", "text": text}]}


# -- prompts -----------------------------------------------------------------------------------------------------------


def prompts_list(params: Json) -> Json:
    plan = {
        "name": "plan_project",
        "description": "Turn a goal into a project with tasks",
        "arguments": [
            {"name": "goal", "description": "What is to be achieved", "required": True},
            {"name": "deadline", "description": "The day on which all is done", "required": False},
        ],
    }
    return {"prompts": [plan]}


def prompts_get(params: Json) -> Json:
    arguments = params.get("arguments", {})
    if params.get("name") != "plan_project" or not isinstance(arguments, dict) or "goal" not in arguments:
        raise RpcError(INVALID_PARAMS, "There is one prompt, plan_project, and it needs a goal")
    deadline = f" All is done by {arguments['deadline']}." if "deadline" in arguments else ""
    text = f"Create an Acme project with tasks for this goal: {arguments['goal']}.{deadline}"
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


# -- ai_help -----------------------------------------------------------------------------------------------------------


def ai_help(params: Json) -> Json:
    """Answers with all of the help, or with one section of it, as Markdown or as JSON."""
    format, section = params.get("format") or "markdown", params.get("section")
    if format == "markdown":
        content = AI_HELP if section is None else f"## {section_title(section)}\n\n{help_section(section)}\n"
        return {"content": content, "contentType": "text/markdown"}
    if format == "json":
        return {"metadata": help_metadata(), "sections": help_sections(section), "contentType": "application/json"}
    raise RpcError(INVALID_PARAMS, "format must be markdown or json")


def section_title(wanted: str) -> str:
    """Finds the heading that is meant by "Rate Limits", "rate-limits" or "rateLimits"."""
    titles = re.findall(r"^## (.+)$", AI_HELP, re.MULTILINE)
    for title in titles:
        if letters(title) == letters(str(wanted)):
            return str(title)
    raise RpcError(INVALID_PARAMS, f"section must be one of {', '.join(titles)}")


def letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())


def help_section(wanted: str) -> str:
    """Returns the text below a heading, up to the next one."""
    _, _, rest = AI_HELP.partition(f"\n## {section_title(wanted)}\n")
    return rest.partition("\n## ")[0].strip()


def help_metadata() -> Json:
    identity = DASHDASH["identity"]
    return {"name": identity["name"], "description": identity["description"], "specVersion": DASHDASH["specVersion"]}


def help_sections(wanted: str | None) -> Json:
    use, _, do_not_use = help_section("When to Use").partition("Do NOT use")
    quick = re.findall(r"^- `(.+)` — (.+)$", help_section("Quick Reference"), re.MULTILINE)
    sections = {
        "whenToUse": re.findall(r"^- (.+)$", use, re.MULTILINE),
        "whenNotToUse": re.findall(r"^- (.+)$", do_not_use, re.MULTILINE),
        "quickReference": [{"name": name, "description": description} for name, description in quick],
        "authentication": help_section("Authentication"),
        "rateLimits": {"default": "1,000 requests/hour", "batch": "100 items/request", "connections": "10"},
    }
    if wanted is None:
        return sections
    found = {key: value for key, value in sections.items() if letters(key) == letters(str(wanted))}
    if not found:
        raise RpcError(INVALID_PARAMS, f"section must be one of {', '.join(sections)}")
    return found


# -- JSON-RPC ----------------------------------------------------------------------------------------------------------

METHODS: dict[str, Callable[[Json], Json]] = {
    "initialize": initialize,
    "ping": ping,
    "tools/list": tools_list,
    "tools/call": tools_call,
    "resources/list": resources_list,
    "resources/templates/list": resources_templates_list,
    "resources/read": resources_read,
    "prompts/list": prompts_list,
    "prompts/get": prompts_get,
    "ai_help": ai_help,
}


def answer(line: bytes) -> Json | None:
    """Answers one message; a notification has no answer."""
    try:
        message = json.loads(line)
    except ValueError:
        return failure(None, PARSE_ERROR, "This is not JSON")
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        return failure(None, INVALID_REQUEST, "This is not a request")
    if "id" not in message:
        return None
    method, params = message["method"], message.get("params")
    if method not in METHODS:
        return failure(message["id"], METHOD_NOT_FOUND, f"There is no method {method}")
    try:
        result = METHODS[method](params if isinstance(params, dict) else {})
    except RpcError as error:
        return failure(message["id"], error.code, str(error))
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def failure(id: Any, code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def main() -> None:
    for line in sys.stdin.buffer:
        if (reply := answer(line)) is not None:
            sys.stdout.buffer.write(json.dumps(reply, ensure_ascii=False).encode() + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
