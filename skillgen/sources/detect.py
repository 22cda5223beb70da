"""Detects what a document is, and finds the description of a service at its base URL (seed 002, 3.1).

A document that is not OpenAPI gets an error that names what it is (X-43). `/.well-known/mcp.json` alone is used for at
least four formats, and the files of clients, registries and catalogs look much alike.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.credentials import origin_of
from skillgen.model.values import Json
from skillgen.security.addresses import public_url
from skillgen.sources.documents import CONVERT, Document, document_from_response, is_url, load_document
from skillgen.sources.http import AUTH_STATUSES, TOO_MANY_REQUESTS, FetchOptions, StatusError, fetch
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.text import lazy_re as re


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
    for matches, what, fix in () if isinstance(data, list) else _KINDS:
        if matches(as_dict(data)):
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
    urls = [
        text_of(item, "url")
        for key in ("remotes", "endpoints", "transport", "transports")
        for item in (as_list(data.get(key)) or [data.get(key)])
    ]
    urls += [text_of(data, "url"), text_of(data, "endpoint")]
    urls += [item for item in as_dict(data.get("endpoints")).values() if isinstance(item, str)]
    url = next((item for item in urls if item and is_url(item)), None)
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


def _has_schema(data: dict[str, Json], part: str) -> bool:
    return part in (text_of(data, "$schema") or "")


def _is_registry_entry(data: dict[str, Json]) -> bool:
    is_list = isinstance(data.get("packages"), list)
    return _has_schema(data, "/server.schema.json") or (
        is_list and text_of(data, "name") is not None and "version" in data
    )


def _is_registry_response(data: dict[str, Json]) -> bool:
    return any("server" in as_dict(item) or "$schema" in as_dict(item) for item in as_list(data.get("servers")))


def is_client_config(data: dict[str, Json]) -> bool:
    """True if a document lists the servers of a client."""
    servers = as_dict(data.get("mcpServers") or data.get("servers"))
    return any("command" in as_dict(item) or "url" in as_dict(item) for item in servers.values())


def _is_initialize_result(data: dict[str, Json]) -> bool:
    result = as_dict(data.get("result")) or data
    return "protocolVersion" in result and ("capabilities" in result or "serverInfo" in result)


_BY_KEY = {
    "asyncapi": "AsyncAPI",
    "swaggerVersion": "Swagger 1",
    "info/_postman_id": "a Postman collection",
    "info/schema": "a Postman collection",
    "openrpc": "OpenRPC",
    "smithy": "a Smithy model",
    "discoveryVersion": "a Google API discovery document",
    "__export_format": "an Insomnia export",
    "log/entries": "a recording of HTTP requests (HAR)",
    "__schema": "the introspection result of a GraphQL service",
    "data/__schema": "the introspection result of a GraphQL service",
}
"""The key, or the key within another, that only descriptions of another kind have."""


def _has_key(path: str, data: dict[str, Json]) -> bool:
    outer, _, inner = path.rpartition("/")
    return inner in (as_dict(data.get(outer)) if outer else data)


_KINDS: tuple[tuple[Callable[[dict[str, Json]], bool], str, str | None], ...] = (
    (lambda data: "overlay" in data and "actions" in data, "an OpenAPI Overlay", "give it with --overlay"),
    (
        lambda data: "arazzo" in data,
        "an Arazzo description of workflows",
        "give the API's OpenAPI, and this file with --extra",
    ),
    *((functools.partial(_has_key, key), what, CONVERT) for key, what in _BY_KEY.items()),
    (is_client_config, "a client's MCP configuration", None),
    (
        lambda data: _has_schema(data, "agent-skills") or (isinstance(data.get("skills"), list) and "name" not in data),
        "an index of agent skills",
        "give the service that the skills are for: its description, or its server with from-server",
    ),
    (
        lambda data: isinstance(data.get("entries"), list) and ("specVersion" in data or "version" in data),
        "an AI catalog",
        None,
    ),
    (lambda data: isinstance(data.get("linkset"), list), "a catalogue of APIs", None),
    (_is_registry_entry, "a registry entry of an MCP server (server.json)", None),
    (
        lambda data: _has_schema(data, "server-card") or (isinstance(data.get("remotes"), list) and "name" in data),
        "an MCP server card",
        None,
    ),
    (_is_registry_response, "a registry's list of MCP servers", None),
    (
        lambda data: "manifest_version" in data and isinstance(data.get("tools"), list),
        "a service manifest",
        "give it to from-server: skillgen from-server --manifest FILE",
    ),
    (_is_initialize_result, "the initialize result of an MCP server", None),
    (
        lambda data: isinstance(data.get("dashdash"), dict) or ("specVersion" in data and "identity" in data),
        "dashdash metadata of a server",
        None,
    ),
    (
        lambda data: "specVersion" in data and "alternativeAccess" in data and "name" in data,
        "a dashdash registry entry",
        None,
    ),
    (
        lambda data: "spec-url" in data or ("spec-version" in data and "access-level" in data),
        "an llms.txt or --ai-help text",
        "pass the service itself, and this text with --extra FILE",
    ),
    (lambda data: "serverInfo" in data, "an MCP server card (SEP-1649)", None),
    (
        lambda data: "mcp_version" in data or "mcpVersion" in data,
        "a discovery document of an MCP server (SEP-1960)",
        None,
    ),
    (
        lambda data: isinstance((as_dict(data.get("result")) or data).get("tools"), list),
        "a list of an MCP server's tools",
        None,
    ),
)
"""Test, name and fix of each kind; the more specific tests come first. The fix `None` is to document the server."""


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
    is_wanted: Callable[[Json], bool],
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
    search = _Search(access, is_wanted, wanted)
    for urls in (well_known, (source,)) if is_base else ((source,), well_known):
        for url in urls:
            document_problems = ProblemLog()
            if (document := search.document_at(url, document_problems)) is not None:
                for problem in document_problems:
                    problems.add(problem)
                return document
        if search.kind_error is not None:
            raise search.kind_error
    for url in others if is_base else ():
        if url not in well_known:
            search.document_at(url, ProblemLog())
        if search.kind_error is not None:
            raise search.kind_error
    raise _not_found_error(min(search.failures, key=_rank) if is_base else search.failures[0], paths, wanted)


class _Search:
    """A search at several URLs of one server."""

    def __init__(self, access: FetchOptions, is_wanted: Callable[[Json], bool], wanted: str) -> None:
        self._access = access
        self._is_wanted = is_wanted
        self._wanted = wanted
        self.failures: list[SourceError] = []
        """Why each URL was rejected."""
        self.kind_error: SourceError | None = None
        """The error for the first document of another known kind."""

    def document_at(self, url: str, problems: ProblemLog) -> Document | None:
        """Returns the document at a URL, if it is wanted.

        Raises:
            SourceError: the server cannot be reached or limits the rate of requests, which concerns all its URLs.
        """
        try:
            fetched = fetch(url, self._access)
        except StatusError as error:
            if error.status == TOO_MANY_REQUESTS or error.retry_after is not None:
                raise
            self.failures.append(error)
            return None
        try:
            document = document_from_response(fetched, problems, self._access)
        except SourceError as error:
            self.failures.append(error)
            return None
        if self._is_wanted(document.data):
            return document
        self.kind_error = self.kind_error or wrong_kind_error(document.data, document.name, self._wanted)
        self.failures.append(
            SourceError(
                f"is not {self._wanted}: {_shape_of(document.data)}",
                where=document.name,
                fix=f"give {self._wanted}",
            )
        )
        return None


def _shape_of(data: Json) -> str:
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
