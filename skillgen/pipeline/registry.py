"""An index of many services: merges what folders of documents say about them, and finds services and tools in it.

A folder is one that skillgen wrote, or one with such folders. Its registry.json, server.json and mcpx.json are the
entries of the service; its record has the names of the tools; what they do is in tool-descriptions/tools-list.json or
service-manifest.json, else in their sections of the skill.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from html import unescape
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import Struct, ValidationError

from skillgen.errors import Problem, SourceError, UsageError
from skillgen.sources.documents import text_of_file
from skillgen.sources.json_access import as_dict, as_list, json_or_none, text_of, texts_of
from skillgen.text.inert import disarm_log_commands
from skillgen.text.markdown import exact_json_text, json_text, one_line
from skillgen.text.structure import sections_of_level
from skillgen.text.summary import clip
from skillgen.text.unicode import strip_invisible
from skillgen.typed import convert
from skillgen.write.files import is_below, replace_file
from skillgen.write.line_diff import change_diff
from skillgen.write.record import RECORD_NAME

INDEX_NAME = "registry.tools.json"
"""The file to search, next to the merged entries, by default."""

_WORDS = re.compile(r"[^\W_]+")
_MAX_WORDS = 16
"""Words of a query that are searched for."""


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

    tools: Mapping[str, str]
    """The name of each tool to what it does; empty if that is not known."""

    auth: tuple[str, ...]
    """Ways to log in."""

    site: Path | None
    """The folder of its site."""


class Registry(Struct, frozen=True, kw_only=True):
    """A registry that was written or checked."""

    services: int
    tools: int
    problems: tuple[Problem, ...]
    drift: str
    """In a check, the diff of what would change."""


def build_registry(
    folders: Sequence[Path], target: Path, html: Path | None = None, *, is_check: bool = False
) -> Registry:
    """Writes the merged entries and what is searched, and to `html` a site above those of the services; a check writes
    nothing.

    Of two entries with one name, the first counts: that of the folder that is given first, and within a folder by name.

    Raises:
        SourceError: a folder has no documents of skillgen.
        OSError: a file cannot be written.
        UsageError: `target` is a folder or another file; `html` is the site of a service, or not a site of skillgen.
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
    if html is not None:
        _refuse_other_site(html)
    files = {path: f"{exact_json_text(data, indent=2)}\n".encode() for path, data in _forms(ordered, target).items()}
    if html is not None:
        files |= _overview(ordered, html, problems)
    drift = ""
    if is_check:
        changes = {path: (_bytes_of(path), content) for path, content in files.items()}
        drift = "".join(change_diff(path.as_posix(), old, new) for path, (old, new) in changes.items() if old != new)
    else:
        for path, content in files.items():
            replace_file(path, content)
    tools = sum(len(entry.tools) for entry in ordered)
    return Registry(services=len(ordered), tools=tools, problems=tuple(problems), drift=drift)


def _forms(entries: Sequence[Entry], target: Path) -> dict[Path, Any]:
    """Returns each form of the registry by its file: dashdash, MCP registry (`/v0.1/servers`), mcpx, and what is
    searched.
    """
    servers = [{"server": entry.server, "_meta": {}} for entry in entries if entry.server is not None]
    return {
        target: {"servers": [entry.dashdash for entry in entries]},
        target.with_name(f"{target.stem}.servers.json"): {"servers": servers, "metadata": {"count": len(servers)}},
        target.with_name(f"{target.stem}.mcpx.json"): [entry.mcpx for entry in entries if entry.mcpx is not None],
        target.with_name(f"{target.stem}.tools.json"): {"services": [_listed(entry) for entry in entries]},
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
            tools=_tools(path),
            auth=_auth(path, mcpx),
            site=path / "html" if (path / "html" / "search.js").is_file() else None,
        )


def _relative(path: Path, base: Path) -> str:
    with suppress(ValueError):  # another drive
        return Path(os.path.relpath(path, base)).as_posix()
    return path.as_posix()


def _tools(path: Path) -> dict[str, str]:
    """Returns what each tool does, as far as the folder says it."""
    described = _json(path, "tool-descriptions/tools-list.json")
    manifest = _json(path, "service-manifest.json")
    found = dict.fromkeys(as_dict(as_dict(_json(path, RECORD_NAME)).get("tools")), "")
    for item in (*as_list(as_dict(manifest).get("tools")), *as_list(as_dict(described).get("tools"))):
        name = text_of(item, "title") if text_of(item, "title") in found else text_of(item, "name")
        if name in found or (name is not None and not found):
            found[name] = one_line(text_of(item, "description") or "")
    if "" in found.values():
        for name, words in _words_of_skill(path):
            if found.get(name) == "":
                found[name] = words
    return found


_NO_WORDS = re.compile(r"[`\[]|- |[A-Z][\w ()]*:\Z")
"""The beginning of a section that says nothing in words: a call, marks, or the heading of a list."""


def _words_of_skill(path: Path) -> Iterator[tuple[str, str]]:
    """Yields the heading of each section of a skill and the first paragraph that has words."""
    for file in sorted(path.glob("skills/*/**/*.md")):
        for heading, body in sections_of_level(2, _text(path, file.relative_to(path)) or ""):
            # Its request or mark is a paragraph of its own, before what it does.
            paragraphs = [one_line(_ESCAPE.sub(r"\1", part)) for part in body.split("\n\n", 2)[:2]]
            if words := next((part for part in paragraphs if part and not _NO_WORDS.match(part)), ""):
                yield _ESCAPE.sub(r"\1", heading), clip(words, _WORDS_SHOWN)


_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_WORDS_SHOWN = 300
"""Characters on what a tool does."""


def _auth(path: Path, mcpx: Mapping[str, Any]) -> tuple[str, ...]:
    manifest = as_dict(as_dict(_json(path, "service-manifest.json")).get("auth"))
    objects = as_dict(as_dict(as_dict(_json(path, "dashdash.json")).get("initialize")).get("requires"))
    return texts_of(manifest, "methods") or texts_of(mcpx, "auth") or texts_of(objects, "auth")


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


# -- the site ----------------------------------------------------------------------------------------------------------

_GENERATOR = '<meta name="generator" content="skillgen">'
_TITLE = re.compile(r"<title>([^<]{1,500})</title>")


def _refuse_other_site(folder: Path) -> None:
    """Refuses a folder whose pages this would replace.

    Raises:
        UsageError: it is the site of a service, or not one of skillgen.
    """
    page = folder / "index.html"
    with suppress(OSError, ValueError):
        if (folder / "search.js").exists() or (page.exists() and _GENERATOR not in page.read_text("utf-8")):
            raise UsageError("has another site", where=f"--html {folder}", fix="name a new folder")


def _overview(entries: Sequence[Entry], folder: Path, problems: list[Problem]) -> dict[Path, bytes]:
    """Returns the files of the page above the sites of services; a service without a site is a problem."""
    from skillgen.render.formats import builtin_templates
    from skillgen.render.skill import finished
    from skillgen.render.website import MenuEntry, overview_documents

    services, rows = [], dict[str, list[_Row]]()
    for entry in entries:
        if entry.site is None:
            message = f"{entry.name!r} has no site, so it is not in the overview"
            problems.append(Problem.of("published-without", entry.folder, message, "write it with --emit html"))
            continue
        words = clip(one_line(text_of(entry.dashdash, "description") or ""), _DESCRIPTION_SHOWN)
        address = quote(os.fsencode(f"{_relative(entry.site, folder)}/"), safe="/")
        heading = _TITLE.search(_text(entry.site, "index.html") or "")
        title = unescape(heading[1]) if heading else entry.name
        services.append(MenuEntry(title=title, address=address, count=len(entry.tools), words=words))
        found = _rows_in(_text(entry.site, "search.js") or "")
        if found is None:
            message = (
                f"the search.js of {entry.name!r} is not one that skillgen writes, so its tools cannot be searched"
            )
            problems.append(Problem.of("registry-entry-invalid", entry.folder, message, "write it again"))
        rows[address] = found or []
    documents = overview_documents(services, builtin_templates(), rows)
    return {folder / document.path.partition("/")[2]: finished(document).content for document in documents}


_SCRIPT_START, _SCRIPT_END = "found.add(document.currentScript, ", ");\n"
_SITE_ADDRESS = re.compile(r"[\w.-]{1,200}\.html(?:#[^\s\\]*)?\Z")
_Row = tuple[str, str, str, list[str], str]


def _rows_in(script: str) -> list[_Row] | None:
    """Returns what the script of a site adds to its search; `None` if it is anything else than one call with JSON."""
    arguments = script.removeprefix(_SCRIPT_START).removesuffix(_SCRIPT_END)
    try:
        _, rows = convert(json_or_none(f"[{arguments}]"), tuple[str, list[_Row]])
    except ValidationError:
        return None
    return rows if all(_SITE_ADDRESS.match(row[4]) for row in rows) else None


# -- search -----------------------------------------------------------------------------------------------------------


def _listed(entry: Entry) -> dict[str, Any]:
    """Returns a service as the file to search has it."""
    remotes = as_list(as_dict(entry.server).get("remotes"))
    url = next((text_of(item, "url") for item in remotes), None) or text_of(as_dict(entry.mcpx), "manifest_url")
    fields = {
        "name": entry.name,
        "description": text_of(entry.dashdash, "description"),
        "auth": next(iter(entry.auth), None),
        "url": url,
        "tools": entry.tools,
    }
    return {key: value for key, value in fields.items() if value}


class Found(Struct, frozen=True):
    """A service that was found."""

    service: Mapping[str, Any]
    """Its entry in the file to search."""

    share: float
    """How many of the words its best match has."""

    tools: list[str]
    """The tools that match, the best first."""


def search_registry(index: Path, text: str, limit: int) -> tuple[Found, ...]:
    """Returns the services that match best, at most `limit`.

    Raises:
        SourceError: the file does not exist or is not one of a registry.
        UsageError: there is no word to search for.
    """
    words = list(dict.fromkeys(word.lower() for word in _WORDS.findall(text)))[:_MAX_WORDS]
    if not words:
        raise UsageError("has no word to search for", where="WORDS", fix="write what a tool should do")
    services = as_dict(_json(index.parent, index.name)).get("services")
    if not isinstance(services, list):
        what = "does not list the tools of a registry" if index.is_file() else "does not exist"
        fix = "write it with `skillgen registry build DIR... -o registry.json`"
        raise SourceError(what, where=index.as_posix(), fix=fix)
    found: dict[str, Found] = {}
    for _, share, service, tool in sorted(_scored(services, words), key=itemgetter(0)):
        name = text_of(service, "name") or ""
        if name not in found and len(found) < limit:
            found[name] = Found(service, share, [])
        if tool is not None and name in found and len(found[name].tools) < _TOOLS_SHOWN:
            found[name].tools.append(tool)
    return tuple(found.values())


_TOOLS_SHOWN = 5

_DESCRIPTION_SHOWN = 160
"""Characters of a service's description in a list."""

_NAME_WEIGHT = 4
"""How much more a word in a name counts than one in a description."""


def _scored(services: Sequence[Any], words: Sequence[str]) -> Iterator[tuple[float, float, dict[str, Any], str | None]]:
    """Yields what has a word, with its negative score, its share of the words, its service, and its name if it is a
    tool. A word counts by how rare it is.
    """
    stems = [(re.escape(word.rstrip("s")), "") if len(word) > 3 else (re.escape(word), r"(?![^\W_])") for word in words]
    patterns = [re.compile(rf"(?<![^\W_]){stem}{end}") for stem, end in stems]
    rows: list[tuple[list[int], dict[str, Any], str | None]] = []
    for service in map(as_dict, services):
        tools = as_dict(service.get("tools"))
        own = (text_of(service, "name") or "", text_of(service, "description"), None)
        for name, text, tool in (own, *((name, text_of(tools, name), name) for name in tools)):
            # The words of a name too: `createPullRequest`, `create_pull_request`.
            spaced = " ".join(_WORDS.findall(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)))
            parts = ((f"{name} {spaced}".lower(), _NAME_WEIGHT), ((text or "").lower(), 1))
            hits = [sum(weight for part, weight in parts if pattern.search(part)) for pattern in patterns]
            if any(hits):
                rows.append((hits, service, tool))
    counts = [sum(hits[place] > 0 for hits, _, _ in rows) for place in range(len(words))]
    for hits, service, tool in rows:
        score = sum(hit / (1 + count) ** 0.5 for hit, count in zip(hits, counts, strict=True))
        yield -score, sum(map(bool, hits)) / len(words), service, tool


def recommendations_json(text: str, found: Iterable[Found]) -> dict[str, Any]:
    """Returns the answer to `recommend_servers` (seed 004, 13), with the tools that match."""
    items = []
    for item in found:
        fields = {
            "server": text_of(item.service, "name") or "",
            "url": text_of(item.service, "url"),
            "auth_flow": text_of(item.service, "auth"),
            "match_confidence": "high" if item.share == 1 else "medium" if item.share >= 0.5 else "low",
            "tools": [{"name": name, "description": what} for name, what in _tools_found(item)],
        }
        items.append({key: value for key, value in fields.items() if value not in (None, [])})
    return {"capability_needed": text, "recommendations": items}


def recommendations_text(found: Iterable[Found]) -> str:
    """Returns the services with their tools, a line each."""
    lines = []
    for item in found:
        description = clip(one_line(text_of(item.service, "description") or ""), _DESCRIPTION_SHOWN)
        lines.append(f"{text_of(item.service, 'name') or ''}: {description}")
        lines += [f"  {name}: {what}" if what else f"  {name}" for name, what in _tools_found(item)]
    return "".join(f"{disarm_log_commands(strip_invisible(line))}\n" for line in lines)


def _tools_found(item: Found) -> list[tuple[str, str]]:
    texts = as_dict(item.service.get("tools"))
    return [(name, text_of(texts, name) or "") for name in item.tools]
