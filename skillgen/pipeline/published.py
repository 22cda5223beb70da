"""Compares a service with what was published from it: documents, plugins, entries of registries, indexes of skills."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import unquote, urlsplit

from skillgen.config.project import OutputOptions
from skillgen.errors import OutputError, Problem, SkillgenError, UsageError
from skillgen.lint.findings import Location
from skillgen.lint.positions import positions_in
from skillgen.model.changes import Inventory, compare_inventories, inventory_of, types_of
from skillgen.model.document import FORMATS, PROFILES
from skillgen.model.service import Service
from skillgen.model.traversal import TypeUsage
from skillgen.model.values import Json, child
from skillgen.pipeline.generate import Place, write_service
from skillgen.sources.documents import text_of_file
from skillgen.sources.json_access import SOURCE_LIMIT_BYTES, as_dict, as_list, json_or_none, text_of
from skillgen.write.record import RECORD_NAME, Record, read_record

_DEPTH_LIMIT = 6
_FILES_LIMIT = 2_000
"""How deep, and how many files, a folder is searched for what can be compared."""

_HIDDEN = frozenset({".agents", ".claude", ".claude-plugin", ".codex-plugin", ".cursor-plugin", ".well-known"})
"""Folders that are searched although their names begin with a dot."""

_NAMES = frozenset(
    {"SKILL.md", "index.json", "marketplace.json", "plugin.json", "server-card.json", "server.json"}
    | {"service-manifest.json", "tools-list.json", RECORD_NAME}
)
_WELL_KNOWN = frozenset({".well-known", "well-known"})
_FRONT_MATTER = re.compile(r"---\n(.*?)^---$", re.DOTALL | re.MULTILINE)
_SKILL_VERSION = re.compile(r"^metadata:\n(?:  .*\n)*?  version: (?P<version>.*)$", re.MULTILINE)


def compare_published(
    service: Service, path: Path, output: OutputOptions | None = None
) -> tuple[list[Problem], dict[str, Location]]:
    """Returns how a published folder or file differs from a service, and where; places are `FILE#/POINTER`.

    Of a folder with the documents of several services, only those of this one count. `output` has the options of the
    documents, if they are known.

    Raises:
        UsageError: there is nothing at the path that can be compared.
    """
    files = [path] if path.is_file() else sorted(_files_below(path))
    own = [file.parent for file in files if file.name == RECORD_NAME and _service_of(file) == service.name]
    if own:
        files = [file for file in files if any(folder in file.parents for folder in own)]
    problems: list[Problem] = []
    count = 0
    for file in files:
        found = _compare_file(service, file, output)
        if found is not None:
            count += 1
            problems += found
    if not count:
        fix = "name a folder of documents, a plugin, server.json or an index of skills"
        raise UsageError("holds nothing that can be compared with the source", where=path.as_posix(), fix=fix)
    locations = {}
    for problem in problems:
        name, _, pointer = problem.where.partition("#")
        if (text := text_of_file(Path(name))) is not None and pointer:
            for line, column in positions_in(text, [pointer]).values():
                locations[problem.where] = Location(name, line, column)
    return problems, locations


def _files_below(folder: Path) -> Iterator[Path]:
    """Yields the files of a folder that can be compared.

    Raises:
        UsageError: the folder does not exist.
    """
    if not folder.is_dir():
        what = "is neither a file nor a folder" if folder.exists() else "no such file or folder"
        raise UsageError(what, where=folder.as_posix(), fix="name what was published")
    seen = 0
    for parent, folders, names in os.walk(folder):
        depth = len(Path(parent).relative_to(folder).parts)
        folders[:] = [name for name in sorted(folders) if depth < _DEPTH_LIMIT and (name[0] != "." or name in _HIDDEN)]
        for name in sorted(_NAMES.intersection(names)):
            seen += 1
            if seen > _FILES_LIMIT:
                return
            yield Path(parent, name)


def _service_of(file: Path) -> str | None:
    try:
        return read_record(file.parent).service
    except OutputError:
        return None


def _compare_file(service: Service, file: Path, output: OutputOptions | None) -> list[Problem] | None:
    """Returns how one file differs; `None` if it cannot be compared."""
    if file.name == RECORD_NAME:
        return list(_compare_record(service, file, output))
    if (text := text_of_file(file)) is None:
        return None
    place = file.as_posix()
    if file.name == "SKILL.md":
        front_matter = _FRONT_MATTER.match(text)
        version = _SKILL_VERSION.search(front_matter[1]) if front_matter is not None else None
        return [] if version is None else list(_compare_version(service, version["version"].strip("\"'"), place))
    data = as_dict(json_or_none(text))
    if isinstance(data.get("skills"), list) and any("digest" in as_dict(item) for item in data["skills"]):
        return list(_compare_index(data, file))
    if isinstance(data.get("plugins"), list):
        return [
            problem
            for index, plugin in enumerate(data["plugins"])
            if len(data["plugins"]) == 1
            for problem in _compare_version(service, text_of(as_dict(plugin), "version"), f"{place}#/plugins/{index}")
        ]
    if isinstance(data.get("tools"), list):
        published = text_of(as_dict(data.get("server")), "version")
        return [*_compare_tools(service, data, place), *_compare_version(service, published, f"{place}#/server")]
    if text_of(data, "name") is None or text_of(data, "version") is None:
        return None
    return [*_compare_version(service, text_of(data, "version"), place), *_compare_urls(service, data, place)]


def _compare_version(service: Service, version: str | None, place: str) -> Iterator[Problem]:
    if version is not None and service.version is not None and version != service.version:
        where = place if place.endswith("SKILL.md") else child(place if "#" in place else f"{place}#", "version")
        message = f"the published version is {version[:80]}, that of the source is {service.version[:80]}"
        yield Problem.of("published-version-differs", where, message)


def _compare_urls(service: Service, data: Mapping[str, Json], place: str) -> Iterator[Problem]:
    urls = {text_of(as_dict(item), "url") for item in as_list(data.get("remotes"))} - {None}
    own = {endpoint.url for endpoint in service.endpoints}
    if service.kind == "mcp" and urls and own and not urls & own:
        message = f"the published URL is {', '.join(sorted(map(str, urls)))[:200]}, not {', '.join(sorted(own))[:200]}"
        yield Problem.of("published-url-differs", f"{place}#/remotes", message)


def _compare_tools(service: Service, data: Mapping[str, Json], place: str) -> Iterator[Problem]:
    published = [text_of(as_dict(item), "name") or "" for item in data["tools"]]
    own = {_letters(tool.name) for tool in service.tools}
    for index, name in enumerate(published):
        if _letters(name) not in own:
            message = f"{name[:80]!r} is published, but the source no longer has it"
            yield Problem.of("published-tools-differ", f"{place}#/tools/{index}", message)
    known = set(map(_letters, published))
    if missing := [tool.name for tool in service.tools if _letters(tool.name) not in known]:
        message = f"the source has {len(missing)} tools that are not published: {', '.join(missing)[:200]}"
        yield Problem.of("published-tools-differ", f"{place}#/tools", message)


def _letters(name: str) -> str:
    """Returns a name in the form in which a service manifest can have it: `get-order` is `get_order` there."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


def _compare_record(service: Service, file: Path, output: OutputOptions | None) -> Iterator[Problem]:
    """Yields the tools that changed since a run of skillgen, and the files that changed since then."""
    place = file.as_posix()
    try:
        record = read_record(file.parent)
    except OutputError as error:
        yield Problem.of("published-digest-differs", place, error.what, error.fix)
        return
    if record.service is not None and record.service != service.name:
        return
    old = Inventory(tools=record.tools, types=record.types)
    new = Inventory(tools=inventory_of(service), types=types_of(service))
    if record.tools:
        for change in compare_inventories(old, new, TypeUsage([service])):
            yield Problem.of(
                "published-tools-differ", f"{place}#{child('/tools', change.tool)}", f"{change.tool}: {change.text}"
            )
    for path in sorted(record.states):
        published = file.parent.joinpath(*path.split("/"))
        try:
            content = published.read_bytes() if published.is_file() else None
        except OSError:
            content = None
        if content is None:
            yield Problem.of("published-digest-differs", published.as_posix(), f"{path} was written, but is gone")
    if outdated := _outdated(service, file.parent, record, output):
        count = f"{len(outdated)} of {len(record.states)} files differ from what skillgen writes now"
        yield Problem.of("published-outdated", place, f"{count}: {', '.join(outdated)[:200]}")


def _outdated(service: Service, folder: Path, record: Record, output: OutputOptions | None) -> list[str]:
    """Returns the files that a run with the recorded formats would change, as with `--check`.

    Without their options, only the default formats are compared: others depend on who publishes.
    """
    written = [name for name, item in FORMATS.items() if any(_is_of(item.files, path) for path in record.states)]
    formats = [name for name in written if output is not None or FORMATS[name].is_default]
    if not formats:
        return []  # an installed copy of a skill
    known = output if output is not None else OutputOptions()
    profiles = [known.profile] if output is not None else [*PROFILES]
    plans = []
    with suppress(SkillgenError):
        for profile in profiles:
            check = replace(
                known, emit=formats, profile=profile, install_to=(), check=True, strict=False, allow_empty=True
            )
            plans.append(write_service(service, check, Place(out=folder))[0].plan)
    drifts = ([change.path for change in plan.drift if change.action == "replace"] for plan in plans)
    return [path for path in min(drifts, key=len, default=[]) if path != RECORD_NAME]


def _is_of(files: Sequence[str], path: str) -> bool:
    """True if a path is one of the files of a format; words in capitals stand for names."""
    patterns = [re.sub("[A-Z]{4,}", "*", file.replace("SKILL.md", "skill.md")) for file in files]
    return any(fnmatchcase(path.replace("SKILL.md", "skill.md"), f"{item}*") for item in patterns)


def _compare_index(data: Mapping[str, Json], file: Path) -> Iterator[Problem]:
    """Yields the entries of an index whose files are missing or have another digest (Agent Skills discovery 0.2.0)."""
    root = next((folder for folder in file.parents if folder.name in _WELL_KNOWN), file.parent)
    for index, item in enumerate(data["skills"]):
        entry, where = as_dict(item), f"{file.as_posix()}#/skills/{index}/digest"
        url, digest = text_of(entry, "url") or "", text_of(entry, "digest") or ""
        try:
            parts = urlsplit(url)
        except ValueError:
            yield Problem.of("published-digest-differs", where, f"the URL is invalid: {url[:200]}")
            continue
        path = unquote(parts.path)
        base, rest = (root, path.partition("/.well-known/")[2] or path[1:]) if path[:1] == "/" else (file.parent, path)
        artifact = Path(os.path.normpath(base / rest))
        if not artifact.is_relative_to(root):
            continue  # served elsewhere
        try:
            is_readable = artifact.is_file() and artifact.stat().st_size <= SOURCE_LIMIT_BYTES
            content = artifact.read_bytes() if is_readable else None
        except (OSError, ValueError):
            content = None
        name = (text_of(entry, "name") or url)[:80]
        if content is None:
            if not parts.netloc:
                yield Problem.of("published-digest-differs", where, f"the file of {name!r} is missing: {url[:200]}")
        elif digest != f"sha256:{hashlib.sha256(content).hexdigest()}":
            yield Problem.of("published-digest-differs", where, f"the file of {name!r} has another digest")
