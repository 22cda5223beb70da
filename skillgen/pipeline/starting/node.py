"""MCP servers that are written in JavaScript or TypeScript, told by their package.json."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator
from typing import Any

from skillgen.model.value import Json
from skillgen.pipeline.starting.places import Places
from skillgen.pipeline.starting.proposal import Proposal
from skillgen.sources.guards import as_dict, text_of

_LIBRARIES = ("@modelcontextprotocol/sdk", "@modelcontextprotocol/server", "fastmcp", "mcp-framework", "xmcp")
_SCRIPTS = ("build", "compile", "prepare")


def node_servers(places: Places) -> Iterator[Proposal]:
    """Gives a proposal for each package that needs an MCP library and has a command, or a file, that serves."""
    for path in places.named("package.json"):
        data = _package(places.text(path))
        needed = {name for key in ("dependencies", "devDependencies") for name in as_dict(data.get(key))}
        if not needed & set(_LIBRARIES):
            continue
        folder = path.rpartition("/")[0]
        commands = _commands(data, places, folder)
        if not commands:
            continue
        names = sorted(commands, key=lambda name: "mcp" not in name.lower())
        file = commands[names[0]]
        where: dict[str, Any] = {"cwd": folder} if folder else {}
        is_there = places.has(posixpath.join(folder, file))
        yield Proposal(
            name=names[0],
            source={"command": ["node", file], **where},
            found=f"an MCP server in {path}, {file}",
            cautions=() if is_there else (_how_to_make(data, file),),
            alternatives=tuple(names[1:]),
        )


def _commands(data: dict[str, Json], places: Places, folder: str) -> dict[str, str]:
    """Gives name to file: what the package installs as commands, else the file that it is, where that serves."""
    name = (text_of(data, "name") or "server").rpartition("/")[2]
    given = data.get("bin")
    listed = {name: given} if isinstance(given, str) else as_dict(given)
    found = {key: posixpath.normpath(file) for key, file in listed.items() if isinstance(file, str) and file}
    main = text_of(data, "main") or "index.js"
    if not found and "/server" in places.text(posixpath.join(folder, main)):
        found = {name: posixpath.normpath(main)}
    return {key: file for key, file in found.items() if not file.startswith(("/", ".."))}


def _how_to_make(data: dict[str, Json], file: str) -> str:
    scripts = as_dict(data.get("scripts"))
    script = next((item for item in _SCRIPTS if item in scripts), None)
    return f"{file} is not there yet: npm run {script}" if script else f"{file} is not there yet"


def _package(text: str) -> dict[str, Json]:
    try:
        return as_dict(json.loads(text))
    except (ValueError, RecursionError):
        return {}
