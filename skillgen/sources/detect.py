"""Detects what a document is, and finds the description of a service at its base URL (seed 002, 3.1).

A document that is not OpenAPI gets an error that names what it is (X-43). `/.well-known/mcp.json` alone is used for at
least four formats, and the files of clients, registries and catalogs look much alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.credentials import origin_of
from skillgen.model.values import Json
from skillgen.security.secrets import public_url
from skillgen.sources.documents import Document, document_from_response, is_url, load_document
from skillgen.sources.http import AUTH_STATUSES, TOO_MANY_REQUESTS, FetchOptions, StatusError, fetch
from skillgen.sources.json_access import as_dict, as_list, strings_in, text_of
from skillgen.text import lazy_re as re
from skillgen.typed import decode


def is_description(data: Json) -> bool:
    """True if a document claims to be OpenAPI or Swagger."""
    return isinstance(data, dict) and ("openapi" in data or "swagger" in data)


_OPENAPI = "an OpenAPI description"


def wrong_kind_error(data: Json, name: str, wanted: str = _OPENAPI) -> SourceError | None:
    """Returns the error that names the kind of a document that is not the wanted one, with the way to document the
    service.

    `None` if the kind is unknown.
    """
    if wanted != _OPENAPI and is_description(data):
        return SourceError(f"is {_OPENAPI}, not {wanted}", where=name, fix=f"document it: skillgen from-openapi {name}")
    for test, what, fix in _kinds():
        if _matches(as_dict(data), test):
            fix = fix or _server_fix(as_dict(data), name)
            return SourceError(f"is {what}, not {wanted}", where=name, fix=fix)
    return None


_DOMAIN = re.compile(r"(?=.{4,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}", re.ASCII | re.IGNORECASE)
_SUFFIXES = (".json", ".yaml", ".yml", ".toml", ".md", ".txt")


def is_domain(source: str) -> bool:
    """True if a source is the name of a domain, and not of a file."""
    return bool(_DOMAIN.fullmatch(source)) and not source.lower().endswith(_SUFFIXES) and not Path(source).exists()


def _server_fix(data: dict[str, Json], name: str) -> str:
    """Returns the command for the servers or APIs that a document lists, or for its first URL."""
    if links := [public_url(url) for url in _descriptions_of(data)]:
        return f"document one that it lists: skillgen from-openapi {' or '.join(links[:_LINKS_SHOWN])}"
    from skillgen.sources.mcp.publications import published_ways

    if is_client_config(data) or published_ways(data):
        place = name if is_url(name) or Path(name).exists() else "FILE"
        return f"document a server that it lists: skillgen from-server --config {place}"
    keys = ("remotes", "endpoints", "transport", "transports", "url", "endpoint")
    url = next(filter(is_url, strings_in([data.get(key) for key in keys])), None)
    if url is not None:
        return f"document the server itself: skillgen from-server --url {public_url(url)}"
    return "document the server itself: skillgen from-server --url URL, or -- COMMAND"


_LINKS_SHOWN = 5


def _descriptions_of(data: dict[str, Json]) -> Iterator[str]:
    """Yields the descriptions that a catalogue of APIs links to (RFC 9727, 4.1)."""
    for item in map(as_dict, as_list(data.get("linkset"))):
        for link in as_list(item.get("service-desc")):
            if (url := text_of(link, "href")) is not None and is_url(url):
                yield url


def is_client_config(data: dict[str, Json]) -> bool:
    """True if a document lists the servers of a client."""
    servers = as_dict(data.get("mcpServers") or data.get("servers") or data.get("projects"))
    return any({"command", "url", "mcpServers"} & as_dict(item).keys() for item in servers.values())


def _matches(data: dict[str, Json], test: str) -> bool:
    """True if a document has one of the alternatives of a test of `_KINDS`."""

    def has(key: str) -> bool:
        name, _, part = key.lstrip("!").partition("~")
        kind = {"[]": list, "{}": dict}.get(name[-2:], object)
        outer, _, inner = name.removesuffix("[]").removesuffix("{}").rpartition("/")
        owner = as_dict(data.get(outer)) if outer else data
        found = owner.get(inner, {})
        is_there = isinstance(found, kind) and found != {} and part in (text_of(owner, inner) or "")
        return is_there != key.startswith("!")

    return any(all(map(has, way.split("+"))) for way in test.split())


def _kinds() -> Sequence[tuple[str, str, str | None]]:
    """Returns test, name and fix of each kind, from `detect.json`.

    The more specific tests come first. The fix `None` is to document the server. A test has alternatives, each of keys
    that are there: `a/b` is a key within another, `[]` and `{}` follow a key of a list or an object, `~part` is in the
    value, and `!` precedes a key that is not there.
    """
    return decode(Path(__file__).with_name("detect.json").read_bytes(), tuple[tuple[str, str, str | None], ...])


_DESCRIPTION_PATHS = ("/.well-known/mcp.yaml", "/.well-known/mcp.json")
"""Paths where a service may publish its description, in the order in which they are tried."""

SERVER_PATHS = (
    *("/.well-known/ard.json", "/.well-known/ai-catalog.json", "/.well-known/server-card.json"),
    *("/.well-known/mcp/server-card.json", "/.well-known/mcp.json"),
)
"""Paths where a domain may list its servers."""

_NAMED_PATHS = ("/.well-known/agent-skills/index.json", "/.well-known/api-catalog")
"""Paths whose document a message names; it is not followed."""


_NAME_LIMIT = 255
"""Characters that file systems accept in a name."""


def discover_document(
    source: str,
    problems: ProblemLog,
    access: FetchOptions,
    is_wanted: Callable[[Json], object],
    paths: Sequence[str] = _DESCRIPTION_PATHS,
    wanted: str = _OPENAPI,
) -> Document:
    """Loads the document at a source, or the description that the service there publishes at one of the `paths`.

    A URL without a path is a base URL: its well-known paths are tried first. They are also tried if the URL has a
    document that is not wanted. If all that fails, other well-known paths say what the host has.

    Raises:
        SourceError: no document was found, or none that is wanted; the message names what was found.
    """
    if not is_url(source) and any(len(part) > _NAME_LIMIT for part in source.split("/")):
        what = f"is not a file name: it has {len(source):,} characters"
        raise SourceError(what, where=source[:40], fix="give a file, a URL or - for standard input")
    if is_domain(source):
        source = f"https://{source}"
    if not is_url(source) or origin_of(source) is None:
        if Path(source).is_dir():
            fix = "name a file in it; for a plugin: skillgen from-server --config DIR"
            raise SourceError("is a folder", where=source, fix=fix)
        return load_document(source, problems, access)
    parts = urlsplit(source)
    well_known, others = (
        [urlunsplit((parts.scheme, parts.netloc, path, "", "")) for path in group]
        for group in (paths, (*_DESCRIPTION_PATHS, *SERVER_PATHS, *_NAMED_PATHS))
    )
    is_base = parts.path in ("", "/") and not parts.query
    groups = [well_known, [source], *([url] for url in others if url not in well_known)]
    failures, kind_error = list[SourceError](), None
    for urls in groups if is_base else ([source], well_known):
        for url in urls:
            try:
                fetched = fetch(url, access)
            except StatusError as error:
                if error.status == TOO_MANY_REQUESTS or error.retry_after is not None:
                    raise  # it concerns all URLs of the server
                failures.append(error)
                continue
            document_problems = ProblemLog()
            try:
                document = document_from_response(fetched, document_problems, access)
            except SourceError as error:
                failures.append(error)
                continue
            if is_wanted(document.data):
                problems.add(*document_problems)
                return document
            kind_error = kind_error or wrong_kind_error(document.data, document.name, wanted)
            what = f"is not {wanted}: {shape_of(document.data)}"
            failures.append(SourceError(what, where=document.name, fix=f"give {wanted}"))
        if kind_error is not None:
            raise kind_error
        if len(failures) > len(well_known) and max(map(_rank, failures)) == 0:
            break  # whatever else the host has needs the credential too
    raise _not_found_error(min(failures, key=_rank) if is_base else failures[0], paths, wanted)


def shape_of(data: Json) -> str:
    """Returns the shape of a document of unknown kind, for a message."""
    if isinstance(data, dict):
        return f"it has no `openapi` key (its keys: {', '.join(str(key)[:30] for key in list(data)[:5]) or 'none'})"
    return "it is a list" if isinstance(data, list) else "it is a plain value"


def _rank(failure: SourceError) -> int:
    """Sorts failures: a credential is required, a document that is not wanted, other failures, not found."""
    if not isinstance(failure, StatusError):
        return 1
    return 0 if failure.status in AUTH_STATUSES else 3 if failure.status in (404, 410) else 2


def _not_found_error(failure: SourceError, paths: Sequence[str], wanted: str) -> SourceError:
    status = failure.status if isinstance(failure, StatusError) else 0
    noun = wanted.partition(" ")[2].removeprefix("OpenAPI ")
    what = f"{failure.what}; there is no {noun} at {' or '.join(paths)}" if paths else failure.what
    fix = f"pass the URL of the {'OpenAPI ' if wanted == _OPENAPI else ''}document itself"
    if status in AUTH_STATUSES:
        fix = failure.fix
    elif status >= 500:
        fix = f"run it again later, or {fix}"
    return SourceError(what, where=failure.where, fix=fix)
