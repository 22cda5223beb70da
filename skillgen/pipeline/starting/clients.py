"""The servers that clients of a project's developers use: `.mcp.json` and its relatives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from skillgen.errors import SkillgenError
from skillgen.model.value import Json
from skillgen.pipeline.starting.places import Places
from skillgen.pipeline.starting.proposal import Proposal
from skillgen.sources.guards import as_list
from skillgen.sources.mcp.client_config import is_switched_off, read_client_config

FILES = (
    ".mcp.json",
    "mcp.json",
    ".vscode/mcp.json",
    ".cursor/mcp.json",
    "claude_desktop_config.json",
    ".claude/mcp.json",
    ".gemini/settings.json",
    ".roo/mcp.json",
    ".kiro/settings/mcp.json",
)
_VARIABLE = re.compile(r"\$\{(?:env:|input:)?([A-Za-z_][\w-]*)\}")
_OF_CLIENTS = ("workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator")


def configured(places: Places) -> Iterator[Proposal]:
    """Gives a proposal for each server; one that several files name counts once."""
    seen: set[str] = set()
    for path in FILES:
        if not places.has(path):
            continue
        try:
            config = read_client_config(places.root / path)
        except SkillgenError:
            continue
        for name, entry in config.servers.items():
            if name in seen or is_switched_off(entry):
                continue
            seen.add(name)
            needed = dict.fromkeys(_VARIABLE.findall(json.dumps(entry)))
            yield Proposal(
                name=name,
                source={"config": path, "server": name},
                found=f"the server {name!r} in {path}",
                cautions=tuple(f"set {item} in the environment" for item in needed if item not in _OF_CLIENTS),
                is_own=_starts_a_file_of(places, entry),
            )


def _starts_a_file_of(places: Places, entry: Mapping[str, Json]) -> bool:
    words = [entry.get("command"), *as_list(entry.get("args"))]
    texts = [word.replace("${workspaceFolder}/", "").removeprefix("./") for word in words if isinstance(word, str)]
    return any(places.has(text) and not text.startswith("/") for text in texts)
