"""The example server is what a newcomer runs first: it speaks the wire form of dashdash 0.2.0, and its tools work."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from captured import service_of_answers
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parent.parent
SERVER = ROOT / "examples" / "acme-mcp" / "server.py"
SCHEMAS = ROOT / "tests" / "specifications" / "dashdash"

TOOLS = [
    "list_projects",
    "get_project",
    "create_project",
    "update_project",
    "delete_project",
    "list_tasks",
    "create_task",
    "update_task",
    "complete_task",
]

Ask = Callable[..., Any]


@pytest.fixture
def ask_line() -> Iterator[Callable[[str], Any]]:
    """Yields a function that sends one line to a server of its own and returns the answer."""
    with subprocess.Popen([sys.executable, str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def send(line: str) -> Any:
            stdin.write(line.encode() + b"\n")
            stdin.flush()
            return json.loads(stdout.readline())

        yield send
        stdin.close()
        assert process.wait(timeout=10) == 0


@pytest.fixture
def ask(ask_line: Callable[[str], Any]) -> Ask:
    """Returns a function that sends a request and returns its result or its error."""

    def send(method: str, **params: Any) -> Any:
        answer = ask_line(json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))
        assert answer["jsonrpc"] == "2.0"
        assert answer["id"] == 7
        return answer.get("result", answer.get("error"))

    return send


def call(ask: Ask, tool: str, **arguments: Any) -> Any:
    result = ask("tools/call", name=tool, arguments=arguments)
    if "content" not in result:
        return result
    return json.loads(result["content"][0]["text"])


def check(schema: str, instance: Any) -> None:
    definition = json.loads((SCHEMAS / f"{schema}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(definition).validate(instance)


def test_initialize_answers_with_the_seeds_object(ask: Ask) -> None:
    """S0-01: `dashdash` is at the top of the result, next to `serverInfo`."""
    result = ask("initialize", protocolVersion="2024-11-05", capabilities={}, clientInfo={})
    assert result["protocolVersion"] == "2024-11-05"
    assert result["serverInfo"] == {"name": "acme-mcp", "version": "1.0.0"}
    assert result["dashdash"]["identity"]["name"] == "acme-mcp"
    check("dashdash-initialize", result["dashdash"])


@pytest.mark.parametrize(
    ("wanted", "answered"),
    [("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("2030-01-01", "2024-11-05"), (None, "2024-11-05")],
)
def test_a_version_that_the_server_knows_is_spoken_and_any_other_is_not(
    ask: Ask, wanted: str | None, answered: str
) -> None:
    assert ask("initialize", protocolVersion=wanted)["protocolVersion"] == answered


def test_every_tool_describes_itself_with_dashdash(ask: Ask) -> None:
    """S0-12: all nine tools of the quick reference, each with a valid schema and a valid `dashdash` object."""
    tools = ask("tools/list")["tools"]
    assert [tool["name"] for tool in tools] == TOOLS
    for tool in tools:
        Draft202012Validator.check_schema(tool["inputSchema"])
        check("dashdash-tool", tool["dashdash"])
        assert {"category", "operationType", "idempotent", "cliEquivalent", "apiEquivalent"} <= tool["dashdash"].keys()


def test_what_the_tools_name_exists(ask: Ask) -> None:
    """S0-13: tools that undo others are tools, and placeholders in commands are parameters."""
    for tool in ask("tools/list")["tools"]:
        own = tool["dashdash"]
        assert own.get("reverseMethod", TOOLS[0]) in TOOLS
        placeholders = {word.strip("{}") for word in own["cliEquivalent"].split() if word.startswith("{")}
        assert placeholders <= tool["inputSchema"]["properties"].keys()


def test_resources_and_templates_describe_themselves_with_dashdash(ask: Ask) -> None:
    """S0-14: the seed's resource, and a template with the same kind of object."""
    (project,) = ask("resources/list")["resources"]
    (tasks,) = ask("resources/templates/list")["resourceTemplates"]
    assert project["uri"] == "acme://projects/proj_123"
    check("dashdash-resource", project["dashdash"])
    check("dashdash-resource", tasks["dashdash"])


def test_resources_can_be_read(ask: Ask) -> None:
    (content,) = ask("resources/read", uri="acme://projects/proj_123/tasks")["contents"]
    assert [task["id"] for task in json.loads(content["text"])] == ["task_789"]
    assert ask("resources/read", uri="acme://projects/proj_9")["code"] == -32602


def test_the_prompt_can_be_used(ask: Ask) -> None:
    (prompt,) = ask("prompts/list")["prompts"]
    (message,) = ask("prompts/get", name=prompt["name"], arguments={"goal": "Ship it"})["messages"]
    assert "Ship it" in message["content"]["text"]


def test_help_as_markdown_begins_with_front_matter(ask: Ask) -> None:
    """S0-15, S0-18: the answer is the seed's text, its front matter valid."""
    result = ask("ai_help", format="markdown", section=None)
    check("dashdash-ai_help-result", result)
    _, front_matter, body = result["content"].split("---\n", 2)
    check("dashdash-frontmatter-mcp", yaml.safe_load(front_matter))
    assert "\n## When to Use\n" in body
    assert "\n## Quick Reference\n" in body


def test_help_as_json_has_metadata_and_sections(ask: Ask) -> None:
    """S0-15: the other format."""
    result = ask("ai_help", format="json")
    check("dashdash-ai_help-result", result)
    assert result["sections"]["whenToUse"][0] == "Manage projects or project settings"
    assert [item["name"] for item in result["sections"]["quickReference"]] == TOOLS


@pytest.mark.parametrize("section", ["Rate Limits", "rate-limits", "rateLimits"])
def test_one_section_of_the_help_can_be_asked_for(ask: Ask, section: str) -> None:
    """S0-15: `section` is honoured in both formats."""
    content = ask("ai_help", section=section)["content"]
    assert content.startswith("## Rate Limits\n")
    assert content.count("\n## ") == 0
    assert list(ask("ai_help", format="json", section=section)["sections"]) == ["rateLimits"]


def test_an_unknown_section_or_format_is_refused(ask: Ask) -> None:
    assert ask("ai_help", section="Weather")["code"] == -32602
    assert ask("ai_help", format="html")["code"] == -32602


@pytest.mark.parametrize("tool", TOOLS)
def test_the_examples_of_a_tool_work(ask: Ask, tool: str) -> None:
    """The answer to each declared example has what the example shows."""
    (entry,) = [item for item in ask("tools/list")["tools"] if item["name"] == tool]
    for example in entry["dashdash"]["examples"]:
        answer = call(ask, tool, **example["input"])
        assert covers(answer, example["output"]), answer


def covers(answer: Any, shown: Any) -> bool:
    if isinstance(shown, dict):
        return all(key in answer and covers(answer[key], value) for key, value in shown.items())
    if isinstance(shown, list):
        return len(answer) == len(shown) and all(map(covers, answer, shown))
    return bool(answer == shown)


@pytest.mark.parametrize(
    ("tool", "arguments", "complaint"),
    [
        ("create_project", {}, "arguments must have name"),
        ("create_project", {"name": ""}, "arguments.name must have at least 1 characters"),
        ("create_project", {"name": "x", "type": "secret"}, "arguments.type must be one of public, private"),
        ("create_project", {"name": "x", "colour": "red"}, "arguments has no member colour"),
        ("get_project", {"project_id": "12"}, "arguments.project_id must match ^proj_[0-9]+$"),
        ("list_projects", {"limit": 101}, "arguments.limit must be at most 100"),
        ("list_projects", {"limit": True}, "arguments.limit must be of type integer"),
        (
            "create_task",
            {"project_id": "proj_123", "title": "x", "schedule": {"due_date": "2026-02-30"}},
            "arguments.schedule.due_date must be an ISO 8601 date",
        ),
        (
            "create_task",
            {"project_id": "proj_123", "title": "x", "labels": ["a", "a"]},
            "arguments.labels must not name anything twice",
        ),
    ],
)
def test_arguments_are_checked(ask: Ask, tool: str, arguments: Any, complaint: str) -> None:
    assert ask("tools/call", name=tool, arguments=arguments) == {"code": -32602, "message": complaint}


def test_a_call_that_fails_says_so_with_a_declared_code(ask: Ask) -> None:
    result = ask("tools/call", name="get_project", arguments={"project_id": "proj_9"})
    assert result["isError"] is True
    assert json.loads(result["content"][0]["text"])["code"] == "NOT_FOUND"


def test_a_repeated_key_creates_nothing_new(ask: Ask) -> None:
    """`idempotentWithKey` is true, and true."""
    first = call(ask, "create_project", name="once", idempotency_key="12345678")
    again = call(ask, "create_project", name="once", idempotency_key="12345678")
    assert first == again
    assert call(ask, "create_project", name="once")["code"] == "DUPLICATE_NAME"


def test_a_long_list_comes_in_pages(ask: Ask) -> None:
    call(ask, "create_project", name="second")
    first = call(ask, "list_projects", limit=1)
    second = call(ask, "list_projects", limit=1, cursor=first["nextCursor"])
    assert [item["name"] for item in first["projects"] + second["projects"]] == ["My Project", "second"]
    assert "nextCursor" not in second


def test_the_server_contradicts_itself_nowhere(ask: Ask) -> None:
    """S0-05, S0-19."""
    lists = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
    results = {
        "initialize": ask("initialize"),
        "ai_help": ask("ai_help"),
        **{method: [ask(method)] for method in lists},
    }
    service = service_of_answers(results, protocol_version="2024-11-05")
    assert service.problems == ()
    assert [tool.name for tool in service.tools] == TOOLS
    assert [group.title for group in service.groups] == ["Projects", "Tasks"]
    assert len(service.when_to_use) == 4


def test_unknown_methods_and_tools_are_not_found(ask: Ask) -> None:
    """S0-16: what a server without an extension answers."""
    assert ask("server/discover")["code"] == -32601
    assert ask("tools/call", name="fly", arguments={})["code"] == -32601


def test_what_is_no_request_is_refused_and_a_notification_is_not_answered(
    ask_line: Callable[[str], Any],
) -> None:
    assert ask_line("{")["error"]["code"] == -32700
    assert ask_line("[]")["error"]["code"] == -32600
    notification = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert ask_line(f"{notification}\n{ping}") == {"jsonrpc": "2.0", "id": 1, "result": {}}
