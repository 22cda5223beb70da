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
    *("list_projects", "get_project", "create_project", "update_project", "delete_project", "list_tasks"),
    *("create_task", "update_task", "complete_task"),
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


def test_what_the_tools_name_exists(ask: Ask) -> None:
    """S0-13: tools that undo others are tools, and placeholders in commands are parameters."""
    for tool in ask("tools/list")["tools"]:
        own = tool["dashdash"]
        assert own.get("reverseMethod", TOOLS[0]) in TOOLS
        placeholders = {word.strip("{}") for word in own["cliEquivalent"].split() if word.startswith("{")}
        assert placeholders <= tool["inputSchema"]["properties"].keys()


def test_help_as_markdown_begins_with_front_matter(ask: Ask) -> None:
    """S0-15, S0-18: the answer is the seed's text, its front matter valid."""
    result = ask("ai_help", format="markdown", section=None)
    check("dashdash-ai_help-result", result)
    _, front_matter, body = result["content"].split("---\n", 2)
    check("dashdash-frontmatter-mcp", yaml.safe_load(front_matter))
    assert "\n## When to Use\n" in body
    assert "\n## Quick Reference\n" in body


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
