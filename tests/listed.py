"""Documents of a server that says what a test wants, by the command line and a server of the standard library."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cli import Finished, run_skillgen

TESTS = Path(__file__).parent
Json = Any


def tool(name: str, **members: Json) -> dict[str, Json]:
    """Returns an entry of `tools/list`."""
    return {"name": name, "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}, **members}


def tools(names: Iterable[str]) -> list[Json]:
    """Returns entries of `tools/list` that say a sentence each."""
    return [tool(name, description=f"Does what {name} says. It has a second sentence.") for name in names]


def command(folder: Path, server: dict[str, Json] | None = None, **lists: Json) -> tuple[str, ...]:
    """Returns the command of a server that says this; run it in the folder of the tests."""
    said = folder / "said.json"
    said.write_text(json.dumps({"server": server or {}, **lists}), encoding="utf-8")
    return (sys.executable, "-m", "servers.listed", str(said))


def documented(
    folder: Path, *options: object, server: dict[str, Json] | None = None, **lists: Json
) -> tuple[Finished, Path]:
    """Documents the server and returns what the run said, and the folder of the documents."""
    out = folder / "out"
    run = run_skillgen("from-server", "-o", out, *options, "--", *command(folder, server, **lists), cwd=TESTS)
    return run, out


def inspected(folder: Path, server: dict[str, Json] | None = None, **lists: Json) -> dict[str, Json]:
    """Returns the model of the server."""
    finished = run_skillgen("inspect", "-q", "--", *command(folder, server, **lists), cwd=TESTS)
    assert finished.exit_code == 0, finished.stderr
    service: dict[str, Json] = json.loads(finished.stdout)["services"][0]
    return service
