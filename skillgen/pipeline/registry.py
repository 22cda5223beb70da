"""One registry of many services: merges what folders of documents say about them.

A folder is one that skillgen wrote, or one with such folders. Its registry.json, server.json and mcpx.json are the
entries of the service; its record has the names of the tools.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from skillgen.errors import Problem, SourceError, UsageError
from skillgen.sources.documents import text_of_file
from skillgen.sources.json_access import as_dict, json_or_none, text_of
from skillgen.text.markdown import exact_json_text, json_text, one_line
from skillgen.write.files import is_below, replace_file
from skillgen.write.line_diff import change_diff
from skillgen.write.record import RECORD_NAME


class Entry(Struct, frozen=True, kw_only=True):
    """What a folder says about one service."""

    name: str
    folder: str
    """Relative to the folder of the registry."""

    dashdash: Mapping[str, Any]
    """registry.json."""

    server: Mapping[str, Any] | None
    """server.json."""

    mcpx: Mapping[str, Any] | None
    """mcpx.json."""

    tools: int
    """The number of its tools."""


class Registry(Struct, frozen=True, kw_only=True):
    """A registry that was written or checked."""

    services: int
    tools: int
    problems: tuple[Problem, ...]
    drift: str
    """In a check, the diff of what would change."""


def build_registry(folders: Sequence[Path], target: Path, *, is_check: bool = False) -> Registry:
    """Writes the merged entries; a check writes nothing.

    Of two entries with one name, the first counts: that of the folder that is given first, and within a folder by name.

    Raises:
        SourceError: a folder has no documents of skillgen.
        OSError: a file cannot be written.
        UsageError: `target` is a folder or another file.
    """
    if target.is_dir():
        raise UsageError("is a folder", where=f"-o {target}", fix="name the file of the registry")
    if target.exists() and not isinstance(as_dict(_json(target.parent, target.name)).get("servers"), list):
        raise UsageError("is not a registry of many services", where=f"-o {target}", fix="name a new file")
    entries: dict[str, Entry] = {}
    problems: list[Problem] = []
    for folder in folders:
        found = list(_entries(folder, target.parent, problems))
        if not found:
            fix = "name a folder of documents that has registry.json (--emit registry), or one with such folders"
            raise SourceError("has no entry of a registry", where=folder.as_posix(), fix=fix)
        for entry in found:
            if entry.name in entries:
                message = f"{entry.name!r} is also in {entries[entry.name].folder}, whose entry counts"
                problems.append(Problem.of("registry-duplicate", entry.folder, message, "name one of them differently"))
            else:
                entries[entry.name] = entry
    ordered = [entries[name] for name in sorted(entries)]
    files = {path: f"{exact_json_text(data, indent=2)}\n".encode() for path, data in _forms(ordered, target).items()}
    drift = ""
    if is_check:
        changes = {path: (_bytes_of(path), content) for path, content in files.items()}
        drift = "".join(change_diff(path.as_posix(), old, new) for path, (old, new) in changes.items() if old != new)
    else:
        for path, content in files.items():
            replace_file(path, content)
    tools = sum(entry.tools for entry in ordered)
    return Registry(services=len(ordered), tools=tools, problems=tuple(problems), drift=drift)


def _forms(entries: Sequence[Entry], target: Path) -> dict[Path, Any]:
    """Returns each form of the registry by its file: dashdash, MCP registry (`/v0.1/servers`) and mcpx."""
    servers = [{"server": entry.server, "_meta": {}} for entry in entries if entry.server is not None]
    return {
        target: {"servers": [entry.dashdash for entry in entries]},
        target.with_name(f"{target.stem}.servers.json"): {"servers": servers, "metadata": {"count": len(servers)}},
        target.with_name(f"{target.stem}.mcpx.json"): [entry.mcpx for entry in entries if entry.mcpx is not None],
    }


def _entries(folder: Path, base: Path, problems: list[Problem]) -> Iterator[Entry]:
    paths = [folder] if (folder / RECORD_NAME).is_file() and (folder / "registry.json").is_file() else []
    with suppress(OSError):
        paths += sorted(path.parent for path in folder.glob("*/registry.json"))
    for path in paths:
        dashdash = as_dict(_json(path, "registry.json"))
        name = text_of(dashdash, "name")
        if name is None:
            message = "registry.json is not an entry of a registry, because it has no name"
            problems.append(Problem.of("registry-entry-invalid", path.as_posix(), message, "write it again"))
            continue
        server = as_dict(_json(path, "server.json"))
        mcpx = as_dict(_json(path, "well-known/mcpx.json"))
        yield Entry(
            name=one_line(name),
            folder=_relative(path, base),
            dashdash=dashdash,
            server=server or None,
            mcpx=mcpx or None,
            tools=len(as_dict(as_dict(_json(path, RECORD_NAME)).get("tools"))),
        )


def _relative(path: Path, base: Path) -> str:
    with suppress(ValueError):  # another drive
        return Path(os.path.relpath(path, base)).as_posix()
    return path.as_posix()


def _text(folder: Path, name: str | Path) -> str | None:
    """Returns a file of a folder; `None` if it does not exist, or a symbolic link points out of the folder."""
    return text_of_file(folder / name) if is_below(folder / name, folder) else None


def _json(folder: Path, name: str) -> Any:
    """Returns a JSON file, with `?` for unpaired surrogates; `None` if it does not exist or is not JSON."""
    text = _text(folder, name)
    data = None if text is None else json_or_none(text)
    return (
        data if text is None or "\\ud" not in text.lower() else json.loads(json_text(data).encode("utf-8", "replace"))
    )


def _bytes_of(path: Path) -> bytes | None:
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return None
