"""One registry of many services: merges what folders of documents say about them.

A folder is one that skillgen wrote, or one with such folders. Its registry.json, server.json and mcpx.json are the
entries of the service; its record has the names of the tools.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from skillgen.errors import Problem, ProblemLog, SourceError, UsageError
from skillgen.model.values import Json
from skillgen.sources.documents import text_of_file
from skillgen.sources.json_access import as_dict, json_from_text, text_of
from skillgen.text.markdown import exact_json_text, json_text, one_line
from skillgen.write.files import is_below, replace_file
from skillgen.write.line_diff import change_diff
from skillgen.write.record import RECORD_NAME


def build_registry(
    folders: Sequence[Path], target: Path, *, is_check: bool = False
) -> tuple[int, int, list[Problem], str]:
    """Writes the merged entries; a check writes nothing.

    Returns the number of services and of their tools, the problems and, in a check, the diff of what would change.

    Of two entries with one name, the first counts: that of the folder that is given first, and within a folder by name.

    Raises:
        SourceError: a folder has no documents of skillgen, or documents without an entry.
        OSError: a file cannot be written.
        UsageError: `target` is a folder or another file.
    """
    if target.is_dir():
        raise UsageError("is a folder", where=f"-o {target}", fix="name the file of the registry")
    if target.exists() and not isinstance(_json(target.parent, target.name).get("servers"), list):
        raise UsageError("is not a registry of many services", where=f"-o {target}", fix="name a new file")
    owners: dict[str, tuple[str, Path]] = {}
    problems: list[Problem] = []
    for folder in folders:
        found = list(_named_folders(folder, problems))
        if not found:
            fix = "name a folder of documents that has registry.json (--emit registry), or one with such folders"
            raise SourceError("has no entry of a registry", where=folder.as_posix(), fix=fix)
        for name, path in found:
            if (owner := owners.setdefault(_key(name), (name, path))[1]) is not path:
                problems.append(_duplicate(name, path, owner))
    documented = [path for _, path in sorted(owners.values())]
    drift = ""
    for path, data in _forms(documented, target, problems).items():
        content = f"{exact_json_text(data, indent=2)}\n".encode()
        if not is_check:
            replace_file(path, content)
        elif (old := path.read_bytes() if path.exists() else None) != content:
            drift += change_diff(path.as_posix(), old, content)
    tools = sum(len(as_dict(_json(folder, RECORD_NAME).get("tools"))) for folder in documented)
    return len(documented), tools, problems, drift


def _key(name: str) -> str:
    """Returns what a name looks like: `Good ` and `good` are one."""
    return "".join(
        character for character in unicodedata.normalize("NFKC", name).casefold() if character.isprintable()
    ).strip()


def _duplicate(name: str, path: Path, owner: Path) -> Problem:
    message = f"{name!r} is also in {owner.as_posix()}, whose entry counts"
    return Problem.of("registry-duplicate", path.as_posix(), message, "name one differently")


def _forms(folders: Sequence[Path], target: Path, problems: list[Problem]) -> dict[Path, Json]:
    """Returns each form of the registry by its file: dashdash, MCP registry (`/v0.1/servers`) and mcpx.

    Each form has a name of its own, of which only the first counts.
    """

    def entries_of(file: str) -> list[dict[str, Json]]:
        found: dict[str, tuple[Path, dict[str, Json]]] = {}
        for folder in folders:
            entry = _json(folder, file)
            name = text_of(entry, "name") or folder.as_posix()
            if entry and (owner := found.setdefault(_key(name), (folder, entry))[0]) is not folder:
                problems.append(_duplicate(name, folder / file, owner))
        return [entry for _, entry in found.values()]

    entries, servers, mcpx = map(entries_of, ("registry.json", "server.json", "well-known/mcpx.json"))
    wrapped: Json = [{"server": entry, "_meta": {}} for entry in servers]
    return {
        target: {"servers": entries},
        target.with_name(f"{target.stem}.servers.json"): {"servers": wrapped, "metadata": {"count": len(servers)}},
        target.with_name(f"{target.stem}.mcpx.json"): mcpx,
    }


def _named_folders(folder: Path, problems: list[Problem]) -> Iterator[tuple[str, Path]]:
    """Yields the name of each service with its folder: the folder itself, or one in it.

    Raises:
        SourceError: a folder of documents has no entry any more.
    """
    paths = [folder] if (folder / RECORD_NAME).is_file() and (folder / "registry.json").is_file() else []
    with suppress(OSError):
        paths += sorted(path.parent for path in folder.glob("*/registry.json"))
    message, fix = "registry.json is not a JSON object with a name, as an entry is", "write the documents again"
    for path in paths:
        if (name := text_of(_json(path, "registry.json"), "name")) is not None:
            yield one_line(name), path
        elif (path / RECORD_NAME).is_file():
            raise SourceError(message, where=path.as_posix(), fix=fix)
        else:
            problems.append(Problem.of("registry-entry-invalid", path.as_posix(), message, fix))


def _json(folder: Path, name: str) -> dict[str, Json]:
    """Returns a JSON object, with `?` for unpaired surrogates; an empty one for anything else, and for a file behind a
    symbolic link that points out of the folder.
    """
    text = (text_of_file(folder / name) if is_below(folder / name, folder) else None) or ""
    data: dict[str, Json] = {}
    with suppress(ValueError, RecursionError):
        data = as_dict(json_from_text(text, ProblemLog()))  # in which NaN is a text
    return data if "\\ud" not in text.lower() else as_dict(json.loads(json_text(data).encode("utf-8", "replace")))
