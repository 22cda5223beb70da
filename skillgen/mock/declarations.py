"""The declarations of an MCP server, rebuilt from the model: for a snapshot or a manifest, of which there is no crawl.

Each fact is put where the table of fields has its key. What the model does not hold, such as text that was quoted, is
not served.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from skillgen.model.mcp_fields import ARGUMENT, ICON, PROMPT, RESOURCE, SEMANTICS, TOOL, declared
from skillgen.model.resource import Prompt, Resource
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Icon, Json
from skillgen.render.declarations import server_object, tool_object
from skillgen.sources.mcp.session import LEGACY_VERSIONS, MODERN_VERSION


def results_from_service(service: Service) -> dict[str, Json]:
    """Returns the results of a crawl that would be read as this service: method to result, of a list to its pages."""
    handshake = _handshake(service)
    results: dict[str, Json] = {"server/discover" if "supportedVersions" in handshake else "initialize": handshake}
    entries: dict[str, tuple[str, Iterable[dict[str, Json]]]] = {
        "tools/list": ("tools", map(_tool, service.tools)),
        "resources/list": ("resources", (_resource(item, "uri") for item in service.resources)),
        "resources/templates/list": (
            "resourceTemplates",
            (_resource(item, "uriTemplate") for item in service.resource_templates),
        ),
        "prompts/list": ("prompts", map(_prompt, service.prompts)),
    }
    capabilities = handshake["capabilities"]
    for method, (key, items) in entries.items():
        listed, name = list(items), method.partition("/")[0]
        if listed or (name in capabilities and method != "resources/templates/list"):
            results[method] = [{key: listed}]
            capabilities.setdefault(name, {})
    return results


def _handshake(service: Service) -> dict[str, Json]:
    """Returns the result of `initialize`, or that of `server/discover`, with the versions that the server supports."""
    extras = {key: value for key, value in (service.extras or {}).items() if key not in _DERIVED}
    identity = {
        "name": service.name,
        "version": service.version or "",
        "title": service.title,
        "websiteUrl": service.homepage,
        "icons": _icons(service.icons),
    }
    version = service.protocol_version
    legacy = version if version in LEGACY_VERSIONS else LEGACY_VERSIONS[-1]
    is_modern = version == MODERN_VERSION
    return _merged(
        {
            "supportedVersions" if is_modern else "protocolVersion": [MODERN_VERSION] if is_modern else legacy,
            "capabilities": {"extensions": dict(service.extensions)} if service.extensions else {},
            "serverInfo": _present(identity),
            "instructions": service.instructions,
            "dashdash": server_object(service) if "dashdash" in service.uses else None,
        },
        extras,
    )


_DERIVED = ("dashdash", "ai_help", "manifest", "lists", "protocolVersion", "supportedVersions")
"""Extras of a service that are not members of the result of a handshake."""


def _tool(tool: Tool) -> dict[str, Json]:
    return _merged(
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "outputSchema": tool.output.raw if tool.output is not None else None,
            "icons": _icons(tool.icons),
            **declared(TOOL, tool, "entry"),
            **declared(SEMANTICS, tool.semantics, "entry"),
            "annotations": declared(SEMANTICS, tool.semantics, "hint") or None,
            "dashdash": tool_object(tool) or None,
        },
        tool.extras,
    )


def _resource(resource: Resource, key: str) -> dict[str, Json]:
    return _merged(
        {
            key: resource.uri,
            "name": resource.name,
            **declared(RESOURCE, resource, "entry"),
            "icons": _icons(resource.icons),
            "annotations": declared(RESOURCE, resource, "hint") or None,
            "dashdash": declared(RESOURCE, resource, "dashdash") or None,
        },
        resource.extras,
    )


def _prompt(prompt: Prompt) -> dict[str, Json]:
    arguments = [{"name": item.name, **declared(ARGUMENT, item, "entry")} for item in prompt.parameters]
    entry = {"name": prompt.name, **declared(PROMPT, prompt, "entry"), "arguments": arguments or None}
    return _merged({**entry, "icons": _icons(prompt.icons)}, prompt.extras)


def _icons(icons: tuple[Icon, ...]) -> list[Json] | None:
    return [declared(ICON, icon, "entry") for icon in icons] or None


def _present(members: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in members.items() if value is not None}


def _merged(members: dict[str, Json], extras: Mapping[str, Any] | None) -> dict[str, Json]:
    """Returns the members that there are, with those that the model has no field for, also within objects."""
    merged = _present(members)
    for key, value in (extras or {}).items():
        inner = merged.get(key)
        merged[key] = {**value, **inner} if isinstance(inner, dict) and isinstance(value, dict) else value
    return merged
