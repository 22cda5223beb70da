"""What a document is; well-known discovery.

Tells by its content what a document is, so that one which is no OpenAPI is named and not called broken (X-43).

`/.well-known/mcp.json` alone is at least four things, and files of clients, registries and catalogs look much alike.

Finds the description of a service of which only the base URL is known (seed 002, 3.1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.values import Json
from skillgen.security.addresses import origin_of, public_url
from skillgen.sources.documents import Document, document_from_response, is_url, load_document
from skillgen.sources.http import AUTH_STATUSES, TOO_MANY_REQUESTS, FetchOptions, StatusError, fetch
from skillgen.sources.json_access import as_dict, as_list, text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a document turned out to be."""

    what: str
    """In words, after "is"."""

    fix: str
    """How what it describes can be documented."""


def is_description(data: Json) -> bool:
    """Tells whether a document is meant as OpenAPI or Swagger."""
    return isinstance(data, dict) and ("openapi" in data or "swagger" in data)


def detect_kind(data: Json) -> Kind | None:
    """Gives the kind of a document that is neither OpenAPI nor a snapshot; `None` where it is not known."""
    if isinstance(data, list):
        return None
    data = as_dict(data)
    for is_it, what, fix in _KINDS:
        if is_it(data):
            return Kind(what=what, fix=fix(data))
    return None


def _server_fix(data: dict[str, Json]) -> str:
    """Names the first address of the server itself, or the package from which it starts."""
    addresses = [
        text_of(item, "url")
        for key in ("remotes", "endpoints", "transport", "transports")
        for item in (as_list(data.get(key)) or [data.get(key)])
    ]
    addresses += [text_of(data, "url"), text_of(data, "endpoint")]
    addresses += [item for item in as_dict(data.get("endpoints")).values() if isinstance(item, str)]
    found = next((item for item in addresses if item and item.startswith(("http://", "https://"))), None)
    if found:
        return f"document the server itself: skillgen from-server --url {public_url(found)}"
    if as_list(data.get("packages")):
        return "document the server itself: skillgen from-server --config FILE --server NAME, with one of its packages"
    return "document the server itself: skillgen from-server --url URL, or -- COMMAND"


def _has_schema(data: dict[str, Json], part: str) -> bool:
    return part in (text_of(data, "$schema") or "")


def _is_postman(data: dict[str, Json]) -> bool:
    info = as_dict(data.get("info"))
    return "_postman_id" in info or "getpostman" in (text_of(info, "schema") or "")


def _is_registry_entry(data: dict[str, Json]) -> bool:
    if _has_schema(data, "/server.schema.json"):
        return True
    return isinstance(data.get("packages"), list) and text_of(data, "name") is not None and "version" in data


def _is_server_card(data: dict[str, Json]) -> bool:
    return _has_schema(data, "server-card") or (isinstance(data.get("remotes"), list) and "name" in data)


def _is_catalog(data: dict[str, Json]) -> bool:
    return isinstance(data.get("entries"), list) and ("specVersion" in data or "version" in data)


def _is_registry_answer(data: dict[str, Json]) -> bool:
    servers = data.get("servers")
    return isinstance(servers, list) and any(
        "server" in as_dict(item) or "$schema" in as_dict(item) for item in servers
    )


def _is_client_file(data: dict[str, Json]) -> bool:
    servers = as_dict(data.get("mcpServers") or data.get("servers"))
    return any("command" in as_dict(item) or "url" in as_dict(item) for item in servers.values())


def _is_manifest(data: dict[str, Json]) -> bool:
    return "manifest_version" in data and isinstance(data.get("tools"), list)


def _is_opening(data: dict[str, Json]) -> bool:
    said = as_dict(data.get("result")) or data
    return "protocolVersion" in said and ("capabilities" in said or "serverInfo" in said)


def _is_list_of_tools(data: dict[str, Json]) -> bool:
    return isinstance((as_dict(data.get("result")) or data).get("tools"), list)


def _is_dashdash(data: dict[str, Json]) -> bool:
    return isinstance(data.get("dashdash"), dict) or ("specVersion" in data and "identity" in data)


def _is_dashdash_entry(data: dict[str, Json]) -> bool:
    return "specVersion" in data and "alternativeAccess" in data and "name" in data


def _is_dashdash_text(data: dict[str, Json]) -> bool:
    return "spec-url" in data or ("spec-version" in data and "access-level" in data)


def _is_card_of_2025(data: dict[str, Json]) -> bool:
    return "serverInfo" in data


_Row = tuple[Callable[[dict[str, Json]], bool], str, Callable[[dict[str, Json]], str]]
_KINDS: tuple[_Row, ...] = (
    (lambda data: "overlay" in data and "actions" in data, "an OpenAPI Overlay", lambda data: "give it with --overlay"),
    (lambda data: "arazzo" in data, "an Arazzo description of workflows", lambda data: "give the API's OpenAPI"),
    (lambda data: "asyncapi" in data, "AsyncAPI", lambda data: "give an OpenAPI document"),
    (lambda data: "swaggerVersion" in data, "Swagger 1", lambda data: "convert it to OpenAPI 3"),
    (_is_postman, "a Postman collection", lambda data: "export it as OpenAPI"),
    (
        _is_client_file,
        "a client's file of MCP servers",
        lambda data: "give it to from-server: skillgen from-server --config FILE",
    ),
    (
        lambda data: _has_schema(data, "agent-skills") or (isinstance(data.get("skills"), list) and "name" not in data),
        "an index of agent skills",
        lambda data: "give the description from which the skills come",
    ),
    (_is_catalog, "an AI catalog", lambda data: "document one of the servers that it lists: from-server --url URL"),
    (_is_registry_entry, "a registry entry of an MCP server (server.json)", _server_fix),
    (_is_server_card, "an MCP server card", _server_fix),
    (_is_registry_answer, "a registry's list of MCP servers", _server_fix),
    (_is_manifest, "a service manifest", lambda data: "give it to from-server: skillgen from-server --manifest FILE"),
    (_is_opening, "what an MCP server says first", _server_fix),
    (_is_dashdash, "dashdash metadata of a server", _server_fix),
    (_is_dashdash_entry, "a dashdash registry entry", _server_fix),
    (
        _is_dashdash_text,
        "an llms.txt or --ai-help text",
        lambda data: "give the service itself, and this text beside it with --extra FILE",
    ),
    (_is_card_of_2025, "an MCP server card (SEP-1649)", _server_fix),
    (
        lambda data: "mcp_version" in data or "mcpVersion" in data,
        "a discovery document of an MCP server (SEP-1960)",
        _server_fix,
    ),
    (_is_list_of_tools, "a list of an MCP server's tools", _server_fix),
)
"""The more telling first."""


WELL_KNOWN = ("/.well-known/mcp.yaml", "/.well-known/mcp.json")
"""Where a service publishes its description, in the order in which they are tried."""


def discover_document(
    source: str, problems: ProblemLog, access: FetchOptions, is_wanted: Callable[[Json], bool]
) -> Document:
    """Loads the document at a source, or the description that the service there publishes.

    An address without a path is taken for a base URL, and so is one where something else stands than a document that
    is wanted.

    Raises:
        SourceError: nothing was found, or only something that is not wanted; the message says what.
    """
    if not is_url(source) or origin_of(source) is None:
        return load_document(source, problems, access)
    parts = urlsplit(source)
    well_known = tuple(urlunsplit((parts.scheme, parts.netloc, path, "", "")) for path in WELL_KNOWN)
    is_base = parts.path in ("", "/") and not parts.query
    search = _Search(access, is_wanted)
    for places in (well_known, (source,)) if is_base else ((source,), well_known):
        for place in places:
            found = ProblemLog()
            if (document := search.document_at(place, found)) is not None:
                for problem in found:
                    problems.add(problem)
                return document
        if search.named is not None:
            raise search.named
    raise _nothing_found(min(search.failures, key=_rank) if is_base else search.failures[0])


class _Search:
    """A search at several addresses of one server."""

    def __init__(self, access: FetchOptions, is_wanted: Callable[[Json], bool]) -> None:
        self._access = access
        self._is_wanted = is_wanted
        self.failures: list[SourceError] = []
        """Why each address was passed over."""
        self.named: SourceError | None = None
        """What stands at one of them instead, where that is known."""

    def document_at(self, place: str, problems: ProblemLog) -> Document | None:
        """Gives the document at an address where it is wanted.

        Raises:
            SourceError: the server can't be reached, or it wants to be left alone for a while; that would be so at
                every address of it.
        """
        try:
            fetched = fetch(place, self._access)
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
        if (kind := detect_kind(document.data)) is not None:
            self.named = self.named or wrong_kind_error(document.name, kind)
        self.failures.append(
            SourceError(
                f"is not OpenAPI: {_contents(document.data)}", where=document.name, fix="give an OpenAPI description"
            )
        )
        return None


def wrong_kind_error(name: str, kind: Kind) -> SourceError:
    """Gives the error that names what a document is, and how it can be documented."""
    return SourceError(f"is {kind.what}, not an OpenAPI description", where=name, fix=kind.fix)


def _contents(data: Json) -> str:
    """Says what stands where a description should."""
    if isinstance(data, dict):
        return f"it has no `openapi` key (its keys: {', '.join(str(key)[:30] for key in list(data)[:5]) or 'none'})"
    return "it is a list" if isinstance(data, list) else "it is a plain value"


def _rank(failure: SourceError) -> int:
    """Orders failures, the most telling first: what asks for a credential, then what is there, then what is not."""
    if not isinstance(failure, StatusError):
        return 1
    return 0 if failure.status in AUTH_STATUSES else 3 if failure.status in (404, 410) else 2


def _nothing_found(failure: SourceError) -> SourceError:
    asks_for_header = isinstance(failure, StatusError) and failure.status in AUTH_STATUSES
    return SourceError(
        f"{failure.what}; and no description is at {' or '.join(WELL_KNOWN)}",
        where=failure.where,
        fix=failure.fix if asks_for_header else "give the address of the OpenAPI document itself",
    )
