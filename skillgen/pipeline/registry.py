"""An index of many services: merges what folders of documents say about them, and finds services and tools in it.

A folder is one that skillgen wrote, or one with such folders. Its registry.json, server.json and mcpx.json are the
entries of the service; its record has the names of the tools; what they do is in tool-descriptions/tools-list.json or
service-manifest.json, else in their sections of the skill.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import pathname2url

from msgspec import Struct

from skillgen.errors import OutputError, Problem, SourceError, UsageError
from skillgen.sources.documents import text_of_file
from skillgen.sources.json_access import as_dict, as_list, json_or_none, text_of, texts_of
from skillgen.text.markdown import disarm_log_commands, exact_json_text, json_text, one_line
from skillgen.text.structure import second_level_sections
from skillgen.text.summary import clip
from skillgen.text.unicode import strip_invisible
from skillgen.write.files import is_below, replace_file
from skillgen.write.line_diff import change_diff
from skillgen.write.record import RECORD_NAME

_TERMS = """
CREATE VIRTUAL TABLE word USING fts5(text, content='', tokenize='porter unicode61');
CREATE VIRTUAL TABLE term USING fts5vocab('word', 'row');
"""

_FREQUENT = 5_000
"""Rows of a word that are ranked in some 15 ms; words of more rows are in the table `frequent`."""

INDEX_NAME = "registry.sqlite"
"""The index to search, next to the merged entries."""

_WORDS = re.compile(r"[^\W_]+")
_MAX_WORDS = 16
"""Words of a query that are searched for."""

_SCHEMA = """
CREATE TABLE services (name TEXT PRIMARY KEY, description TEXT, auth TEXT, url TEXT);
CREATE TABLE tools (id INTEGER PRIMARY KEY, service TEXT, name TEXT, description TEXT);
CREATE VIRTUAL TABLE words USING fts5(name, description, content='', tokenize='porter unicode61');
CREATE TABLE frequent (term TEXT PRIMARY KEY);
"""
"""A row of `words` has the number of its tool; that of a service is the negative number of its row."""


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


class Recommendation(Struct, frozen=True, kw_only=True):
    """A service that was found, with the tools that match."""

    server: str
    description: str
    url: str | None
    auth: str | None
    confidence: str
    """`high`, `medium` or `low`: how many of the words its best match has."""

    tools: tuple[tuple[str, str], ...]
    """Name and description of each tool that matches, the best first."""


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
    """Writes the merged entries and the index, and to `html` a site above those of the services; a check writes
    nothing.

    Of two entries with one name, the first counts: that of the folder that is given first, and within a folder by name.

    Raises:
        SourceError: a folder has no documents of skillgen.
        OutputError: a file cannot be written.
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
    index = target.with_name(INDEX_NAME)
    files = {path: f"{exact_json_text(data, indent=2)}\n".encode() for path, data in _forms(ordered, target).items()}
    if html is not None:
        files |= _overview(ordered, html, problems)
    drift = ""
    if is_check:
        changes = {path: (_bytes_of(path), content) for path, content in files.items()}
        drift = "".join(change_diff(path.as_posix(), old, new) for path, (old, new) in changes.items() if old != new)
        drift += "" if _has_rows_of(index, ordered) else f"The index {index.as_posix()} differs\n"
    else:
        for path, content in files.items():
            _write(path, partial(Path.write_bytes, data=content))
        _write(index, lambda temporary: _write_index(ordered, temporary))
    tools = sum(len(entry.tools) for entry in ordered)
    return Registry(services=len(ordered), tools=tools, problems=tuple(problems), drift=drift)


def _forms(entries: Sequence[Entry], target: Path) -> dict[Path, Any]:
    """Returns each form of the registry by its file: dashdash, MCP registry (`/v0.1/servers`), and mcpx."""
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


_NO_WORDS = re.compile(r"[`\[]|[A-Z][\w ()]*:\Z")
"""The beginning of a section that says nothing in words: a call, marks, or the heading of a list."""


def _words_of_skill(path: Path) -> Iterator[tuple[str, str]]:
    """Yields the heading and the first paragraph of each section of a skill."""
    for file in sorted(path.glob("skills/*/**/*.md")):
        for heading, body in second_level_sections(_text(path, file.relative_to(path)) or ""):
            paragraph = one_line(_ESCAPE.sub(r"\1", body.partition("\n\n")[0]))
            if not _NO_WORDS.match(paragraph):
                yield _ESCAPE.sub(r"\1", heading), clip(paragraph, _WORDS_SHOWN)


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


def _write(path: Path, fill: Callable[[Path], object]) -> None:
    try:
        replace_file(path, fill)
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror}", where=path.as_posix()) from None


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutputError(f"cannot be read: {error.strerror}", where=path.as_posix()) from None


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

    services = []
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
    documents = overview_documents(services, builtin_templates())
    return {folder / document.path.partition("/")[2]: finished(document).content for document in documents}


# -- the index ---------------------------------------------------------------------------------------------------------


def _write_index(entries: Iterable[Entry], path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        fill_index(database, entries)


def _has_rows_of(path: Path, entries: Iterable[Entry]) -> bool:
    """True if an index has these entries. Its bytes may differ: they depend on the version of SQLite."""
    try:
        with closing(sqlite3.connect(":memory:")) as new, closing(_open_index(path)) as old:
            fill_index(new, entries)
            return all([*new.execute(rows)] == [*old.execute(rows)] for rows in _ROWS_OF_INDEX)
    except sqlite3.DatabaseError:
        return False


_ROWS_OF_INDEX = ("SELECT * FROM services ORDER BY rowid", "SELECT * FROM tools ORDER BY rowid")


def _open_index(path: Path) -> sqlite3.Connection:
    """Opens an index of exactly the tables that `fill_index` creates.

    A file of the same name may come with a cloned project. A view or a generated column in it would run expressions
    without end, whatever is read from it.

    Raises:
        sqlite3.DatabaseError: it is something else.
    """
    database = sqlite3.connect(f"file:{pathname2url(str(path.resolve()))}?mode=ro&immutable=1", uri=True)
    try:
        with closing(sqlite3.connect(":memory:")) as new:
            new.executescript(_SCHEMA)
            if sorted(new.execute(_TABLES)) != sorted(database.execute(_TABLES)):
                raise sqlite3.DatabaseError
    except BaseException:
        database.close()
        raise
    return database


_TABLES = "SELECT type, name, coalesce(sql, '') FROM sqlite_master"


def fill_index(database: sqlite3.Connection, entries: Iterable[Entry]) -> None:
    """Writes the entries to an empty database."""
    database.executescript(_SCHEMA)
    number = 0
    for row, entry in enumerate(entries, 1):
        description = text_of(entry.dashdash, "description") or ""
        remotes = as_list(as_dict(entry.server).get("remotes"))
        url = next((text_of(item, "url") for item in remotes), None) or text_of(as_dict(entry.mcpx), "manifest_url")
        database.execute(
            "INSERT INTO services VALUES (?, ?, ?, ?)", (entry.name, description, next(iter(entry.auth), None), url)
        )
        words = [(-row, _spaced(entry.name), description)]
        for name, text in entry.tools.items():
            number += 1
            database.execute("INSERT INTO tools VALUES (?, ?, ?, ?)", (number, entry.name, name, text))
            words.append((number, f"{name} {_spaced(name)}", text))
        database.executemany("INSERT INTO words (rowid, name, description) VALUES (?, ?, ?)", words)
    database.execute("INSERT INTO words (words) VALUES ('optimize')")
    database.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'words', 'row')")
    database.execute("INSERT INTO frequent SELECT term FROM temp.vocabulary WHERE doc > ?", (_FREQUENT,))
    database.commit()


def _spaced(name: str) -> str:
    """Returns the words of a name: `createPullRequest`, `create_pull_request`."""
    return " ".join(_WORDS.findall(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)))


def search_registry(index: Path, text: str, limit: int) -> tuple[Recommendation, ...]:
    """Returns the services that match best, at most `limit`.

    Raises:
        SourceError: the index does not exist or is not one.
        UsageError: there is no word to search for.
    """
    words = list(dict.fromkeys(word.lower() for word in _WORDS.findall(text)))[:_MAX_WORDS]
    if not words:
        raise UsageError("has no word to search for", where="WORDS", fix="write what a tool should do")
    fix = "write it with `skillgen registry build DIR... -o registry.json`"
    if not index.is_file():
        raise SourceError("does not exist", where=index.as_posix(), fix=fix)
    try:
        with closing(_open_index(index)) as database:
            return _found(database, words, limit)
    except sqlite3.DatabaseError:
        raise SourceError("is not an index of a registry", where=index.as_posix(), fix=fix) from None


_ROWS = 200
"""Matches that are read: enough for the best tools of each service."""

_TOOLS_SHOWN = 5

_DESCRIPTION_SHOWN = 160
"""Characters of a service's description in a list."""


def _texts(database: sqlite3.Connection, query: str, key: int | str) -> tuple[str, ...]:
    """Returns the only row of a query.

    Raises:
        sqlite3.DatabaseError: the index lacks it, or a value in it is not a text.
    """
    row = database.execute(query, (key,)).fetchone()
    if row is None or not all(isinstance(item, str) for item in row):
        raise sqlite3.DatabaseError
    return tuple(row)


def _found(database: sqlite3.Connection, words: Sequence[str], limit: int) -> tuple[Recommendation, ...]:
    rows = _matches(database, words)
    services: dict[str, list[tuple[str, str]]] = {}
    for number in rows:
        if number < 0:
            services.setdefault(_texts(database, "SELECT name FROM services WHERE rowid = ?", -number)[0], [])
        else:
            query = "SELECT service, name, description FROM tools WHERE id = ?"
            service, name, text = _texts(database, query, number)
            services.setdefault(service, []).append((name, text))
    found = []
    for name, tools in list(services.items())[:limit]:
        query = "SELECT description, coalesce(auth, ''), coalesce(url, '') FROM services WHERE name = ?"
        description, auth, url = _texts(database, query, name)
        texts = [" ".join((_spaced(tool), text)) for tool, text in tools] + [f"{_spaced(name)} {description}"]
        share = max(_share(words, item) for item in texts)
        found.append(
            Recommendation(
                server=name,
                description=description,
                url=url or None,
                auth=auth or None,
                confidence="high" if share == 1 else "medium" if share >= 0.5 else "low",
                tools=tuple(tools[:_TOOLS_SHOWN]),
            )
        )
    return tuple(found)


def _matches(database: sqlite3.Connection, words: Sequence[str]) -> list[int]:
    """Returns the rows that match best.

    To rank a row takes a few microseconds, so a word that very many rows have does not select rows: it only ranks those
    of rarer words. If there is no rarer word, rows with all words are taken unranked.
    """
    frequent = {term for (term,) in database.execute("SELECT term FROM frequent")}
    terms = _terms(words)
    rare = [word for word in words if terms.get(word, word) not in frequent]
    ranked = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words, 4.0, 1.0), rowid LIMIT ?"
    plain = "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?"
    queries = [(ranked, f"({_any(rare)}) AND ({_any(words)})")] if rare else []
    if len(rare) < len(words):
        queries += [(plain, " AND ".join(_quoted(words))), (plain, _any(words))]
    for statement, query in queries:
        if found := [number for (number,) in database.execute(statement, (query, _ROWS))]:
            return found
    return []


def _any(words: Iterable[str]) -> str:
    return " OR ".join(_quoted(words))


def _quoted(words: Iterable[str]) -> list[str]:
    return [f'"{word}"' for word in words]


def _terms(words: Sequence[str]) -> dict[str, str]:
    """Returns the form in which the index has each word."""
    terms: dict[str, str] = {}
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(_TERMS)
        for word in words:
            database.execute("INSERT INTO word (word) VALUES ('delete-all')")
            database.execute("INSERT INTO word (rowid, text) VALUES (1, ?)", (word,))
            if row := database.execute("SELECT term FROM term").fetchone():
                terms[word] = row[0]
    return terms


def _share(words: Sequence[str], text: str) -> float:
    """Returns how many of the words begin a word of the text, or have one of its words as their beginning."""
    others = {word.lower() for word in _WORDS.findall(text)}
    stems = [word.rstrip("s") if len(word) > 3 else word for word in words]
    return sum(any(other.startswith(stem) for other in others) for stem in stems) / len(words)


def recommendations_json(text: str, found: Iterable[Recommendation]) -> dict[str, Any]:
    """Returns the answer to `recommend_servers` (seed 004, 13), with the tools that match."""
    items = []
    for item in found:
        fields = {
            "server": item.server,
            "url": item.url,
            "auth_flow": item.auth,
            "match_confidence": item.confidence,
            "tools": [{"name": name, "description": what} for name, what in item.tools],
        }
        items.append({key: value for key, value in fields.items() if value not in (None, [])})
    return {"capability_needed": text, "recommendations": items}


def recommendations_text(found: Iterable[Recommendation]) -> str:
    """Returns the services with their tools, a line each."""
    lines = []
    for item in found:
        lines.append(f"{item.server}: {clip(one_line(item.description), _DESCRIPTION_SHOWN)}")
        lines += [f"  {name}: {what}" if what else f"  {name}" for name, what in item.tools]
    return "".join(f"{disarm_log_commands(strip_invisible(line))}\n" for line in lines)
