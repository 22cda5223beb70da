"""Tells by its content what a document is, so that one which is no OpenAPI is named and not called broken (X-43).

`/.well-known/mcp.json` alone is at least four things, and files of clients, registries and catalogs look much alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from skillgen.model.value import Json
from skillgen.sources.addresses import public_url
from skillgen.sources.guards import as_dict, as_list, text_of


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


def kind_of_document(data: Json) -> Kind | None:
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
