"""Sends every example call of the documents to what they document: `make eval`.

The documents are all that is read: each tool's section, and the code block below "Example" in it. An MCP server has to
accept the arguments (that a file is missing is its answer, not a mistake of the call); a request has to be valid for a
checker that other people wrote, made from the same description.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import real_servers
from cli import ROOT, generated
from request_checker import checking
from sendable import Call, calls_of

PETSTORE = real_servers.NODE_MODULES / "@readme" / "oas-examples" / "3.0" / "json" / "petstore.json"
GITHUB = real_servers.NODE_MODULES / "@octokit" / "openapi" / "generated" / "api.github.com.json"
ACME_TASKS = ROOT / "examples" / "acme-tasks" / "mcp.yaml"
ACME_MCP = (sys.executable, str(ROOT / "examples" / "acme-mcp" / "server.py"))

_REFUSED = re.compile(r"(?i)invalid arguments|validation error|input validation|invalid_type|is a required property")


_VALUES = {
    "<uuid>": "123e4567-e89b-12d3-a456-426614174000",
    "<email>": "a@example.com",
    "<uri>": "https://example.com/",
    "<url>": "https://example.com/",
}
"""What the placeholder of a format is replaced by; others by a number, which is a string as well."""


def substituted(text: str) -> str:
    """Returns a call with a value for each placeholder."""
    return re.sub(r"<[\w.-]+>", lambda found: _VALUES.get(found[0], "1"), text)


@dataclass(slots=True)
class Result:
    """What came of the calls of one service."""

    service: str
    tools: int
    accepted: int = 0
    refused: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """One line, and one for each call that was refused."""
        sent = self.accepted + len(self.refused)
        lines = [f"{self.service}: {self.accepted} of {sent} accepted; {self.tools - sent} tools have no example"]
        return "\n".join(lines + [f"  {name}: {reason[:300]}" for name, reason in self.refused.items()])

    def add(self, name: str, reason: str | None) -> None:
        """Counts one call, with the reason for which it was refused."""
        if reason is None:
            self.accepted += 1
        else:
            self.refused[name] = reason


# -- MCP --------------------------------------------------------------------------------------------------------------


class Session:
    """The least of an MCP client, over standard input and output; it shares no code with skillgen."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._input, self._output = process.stdin, process.stdout
        self._number = 0
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "eval", "version": "1"}}
        self.ask("initialize", client)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Sends a request and returns the answer; whatever the server asks meanwhile is refused."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        for line in self._output:
            message = json.loads(line)
            if "method" in message and "id" in message:
                error = {"code": -32601, "message": "not supported"}
                self._send({"jsonrpc": "2.0", "id": message["id"], "error": error})
            elif message.get("id") == self._number:
                return dict(message)
        raise AssertionError("the server ended")

    def _send(self, message: dict[str, Any]) -> None:
        self._input.write(json.dumps(message) + "\n")
        self._input.flush()


@contextmanager
def session(command: tuple[str, ...], cwd: Path) -> Iterator[Session]:
    """Starts a server, and ends it."""
    process = subprocess.Popen(
        command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield Session(process)
    finally:
        process.kill()
        process.communicate()


def refusal(answer: dict[str, Any]) -> str | None:
    """Returns the words with which a server refuses the arguments of a call."""
    if "error" in answer:
        return str(answer["error"])
    result = answer.get("result", {})
    text = " ".join(str(item.get("text", "")) for item in result.get("content", []))
    return text if result.get("isError") and _REFUSED.search(text) else None


def evaluate_server(service: str, command: tuple[str, ...], folder: Path) -> Result:
    """Sends every call of a server's skill to the server."""
    out = folder / "documents"
    generated("from-server", "-o", out, "--", *command)
    (skill,) = (out / "skills").iterdir()
    calls = calls_of(skill)
    with session(command, folder) as server:
        tools = [tool["name"] for tool in server.ask("tools/list", {})["result"]["tools"]]
        result = Result(service, len(tools))
        for name in tools:
            if (call := calls.get(name)) is not None:
                result.add(
                    name,
                    refusal(server.ask("tools/call", {"name": name, "arguments": json.loads(substituted(call.text))})),
                )
    return result


# -- OpenAPI ----------------------------------------------------------------------------------------------------------


def evaluate_description(service: str, source: Path, folder: Path) -> Result:
    """Runs every command of a description's skill with `sh` and `curl` against a checker of requests."""
    out = folder / "documents"
    generated("from-openapi", source, "-o", out)
    (skill,) = (out / "skills").iterdir()
    counted = json.loads((out / ".skillgen.json").read_text("utf-8"))["tools"]
    calls = calls_of(skill)
    result = Result(service, len(counted) if isinstance(counted, dict) else counted)
    with checking(source) as base_url, ThreadPoolExecutor(4) as pool:
        (folder / "FILE").write_text("content", "utf-8")
        (folder / ".curlrc").write_text('silent\nmax-time = 60\nwrite-out = "\\n%{http_code}"\n', "utf-8")
        answers = pool.map(lambda call: answer_to(call, base_url, folder), calls.values())
        for name, answer in zip(calls, answers, strict=True):
            result.add(name, answer)
    return result


def answer_to(call: Call, base_url: str, folder: Path) -> str | None:
    """Runs one command, its host replaced; returns the reason for which it was refused."""
    command = re.sub(r'"https?://[^/"]+', '"$EVAL_BASE_URL', substituted(call.text), count=1)
    names = re.findall(r"\$\{?([A-Z][A-Z0-9_]*)", command)
    env: Mapping[str, str] = {
        **dict.fromkeys(names, "secret"),
        "EVAL_BASE_URL": base_url,
        "CURL_HOME": str(folder),
        "PATH": os.environ["PATH"],
    }
    finished = subprocess.run(
        ["/bin/sh", "-c", command], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120
    )
    text, _, status = finished.stdout.rpartition("\n")
    if finished.returncode == 0 and (status == "200" or (status == "" and finished.stdout.endswith("200"))):
        return None
    return f"{status} {text} {finished.stderr}"


def main() -> int:
    """Prints what came of each service; fails where a call was refused."""
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        repository = folder / "repository"
        subprocess.run(["git", "init", "-q", str(repository)], check=True)
        servers = {
            "server-everything": real_servers.everything(),
            "server-filesystem": real_servers.filesystem(folder),
            "mcp-server-git": real_servers.git(repository),
            "Acme MCP": ACME_MCP,
        }
        descriptions = {"Acme Tasks": ACME_TASKS, "Petstore": PETSTORE, "GitHub": GITHUB}
        chosen = sys.argv[1:] or [*servers, *descriptions]
        for service in chosen:
            place = folder / re.sub(r"\W+", "-", service)
            place.mkdir()
            if service in servers:
                result = evaluate_server(service, servers[service], place)
            else:
                result = evaluate_description(service, descriptions[service], place)
            print(result, flush=True)
            failures += len(result.refused)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
