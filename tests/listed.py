"""Documents of a server that says what a test wants."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from captured import COMMAND, service_of_answers
from cli import Finished, run_skillgen
from descriptions import LONG
from fork_server import CAPTURED
from servers.listed import LISTS, answer

import skillgen

TESTS = Path(__file__).parent

_PROGRAM = """\
import json, os, sys
NAME = {name}
INFO = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": NAME, "version": "1"}}
RESULTS = {"initialize": INFO, "tools/list": {"tools": {tools}}, "tools/call": {"content": []}}
for line in sys.stdin:
    asked = json.loads(line)
    result = RESULTS.get(asked["method"])
    answer = {"result": result} if result else {"error": {"code": -32601, "message": "no such method"}}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""

Json = Any


def tool(name: str, **members: Json) -> dict[str, Json]:
    """Returns an entry of `tools/list`."""
    return {"name": name, "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}, **members}


def program(tools: str, name: str) -> str:
    """Returns the text of a server; both are expressions that it evaluates when it starts."""
    return _PROGRAM.replace("{tools}", tools).replace("{name}", name)


def tools(names: Iterable[str]) -> list[Json]:
    """Returns entries of `tools/list` that say a sentence each."""
    return [tool(name, description=f"Does what {name} says. It has a second sentence.") for name in names]


def command(folder: Path, server: dict[str, Json] | None = None, **lists: Json) -> tuple[str, ...]:
    """Returns the command of a server that says this; run it in the folder of the tests."""
    said = folder / "said.json"
    said.write_text(json.dumps({"server": server or {}, **lists}), encoding="utf-8")
    return (sys.executable, "-m", "servers.listed", str(said))


def answers(server: dict[str, Json] | None, lists: dict[str, Json]) -> dict[str, Json]:
    """Returns what a crawl of the server would return; unless it has prompts, one that makes it large."""
    said = {"server": server or {}, "prompts": [{"name": "filler", "description": LONG}], **lists}
    found = {method: answer(said, method) for method in ("initialize", *LISTS, *lists)}
    return {method: [page] if method.endswith("/list") else page for method, page in found.items() if page is not None}


def documented(
    folder: Path, *options: object, server: dict[str, Json] | None = None, **lists: Json
) -> tuple[Finished, Path]:
    """Documents the server and returns what the run said, and the folder of the documents.

    The run starts no server, but finds its answers where a crawl would return them.
    """
    out = folder / "out"
    captured = folder / "captured.json"
    captured.write_text(json.dumps(answers(server, lists)), encoding="utf-8")
    env = {CAPTURED: str(captured)}
    return run_skillgen("from-server", "-o", out, *options, "--", *COMMAND, env=env), out


def documents(folder: Path, *options: object, **lists: Any) -> Path:
    """Returns the folder of the documents of the server, of a run that must succeed."""
    finished, out = documented(folder, *options, **lists)
    finished.ok()
    return out


def started(folder: Path, *options: object, **lists: Json) -> tuple[Finished, Path]:
    """Documents the server like `documented`, but crawls it: for what a crawl itself does or hides."""
    out = folder / "out"
    return run_skillgen("from-server", "-o", out, *options, "--", *command(folder, **lists), cwd=TESTS), out


def inspected(folder: Path, server: dict[str, Json] | None = None, **lists: Json) -> dict[str, Json]:
    """Returns the model of the server."""
    snapshot = skillgen.snapshot(service_of_answers(answers(server, lists)))
    found: dict[str, Json] = json.loads(json.dumps(snapshot))["services"][0]
    return found
