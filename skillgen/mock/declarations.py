"""The declarations of an MCP server, rebuilt from the model: for a snapshot or a manifest, of which there is no crawl.

A node of the model holds the JSON pointer of its declaration, and `origins` that of each field declared elsewhere, so
that every value can be put back. What the model does not hold, such as text that was quoted, is not served.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from skillgen.model.auth import Auth, RateLimit
from skillgen.model.resource import Prompt, Resource
from skillgen.model.service import Service
from skillgen.model.tool import OVERRULES, Tool
from skillgen.model.values import HasOrigins, Icon, Json, Value
from skillgen.sources.mcp.session import LEGACY_VERSIONS, MODERN_VERSION

_HINTS = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}
"""Effect to the annotation that denied it where something else decides."""

_HANDSHAKES = ("initialize", "server/discover")


def results_from_service(service: Service) -> dict[str, Json]:
    """Returns the results of a crawl that would be read as this service: method to result, of a list to its pages."""
    legacy, modern = _handshakes(service)
    results: dict[str, Json] = {"initialize": legacy} if modern is None else {"server/discover": modern}
    entries: dict[str, tuple[str, Iterable[dict[str, Json]]]] = {
        "tools/list": ("tools", map(_tool, service.tools)),
        "resources/list": ("resources", (_resource(item, "uri") for item in service.resources)),
        "resources/templates/list": (
            "resourceTemplates",
            (_resource(item, "uriTemplate") for item in service.resource_templates),
        ),
        "prompts/list": ("prompts", map(_prompt, service.prompts)),
    }
    capabilities = (legacy if modern is None else modern)["capabilities"]
    for method, (key, items) in entries.items():
        listed, name = list(items), method.partition("/")[0]
        if listed or (name in capabilities and method != "resources/templates/list"):
            results[method] = [{key: listed}]
            capabilities.setdefault(name, {})
    return results


def _handshakes(service: Service) -> tuple[dict[str, Json], dict[str, Json] | None]:
    """Returns the result of `initialize`; of a server that had none, also that of `server/discover`."""
    extras = dict(service.extras or {})
    known = {key: extras.pop(key, {}) for key in ("capabilities", "_meta", "serverInfo")}
    for name in ("dashdash", "ai_help", "manifest", "lists", "protocolVersion", "supportedVersions"):
        extras.pop(name, None)
    capabilities = dict(known["capabilities"])
    if service.extensions:
        capabilities["extensions"] = dict(service.extensions)
    identity = {
        "name": service.name,
        "version": service.version or "",
        "title": service.title,
        "websiteUrl": service.homepage,
        "icons": _icons(service.icons),
    }
    handshake: dict[str, Json] = {
        **extras,
        "capabilities": capabilities,
        "serverInfo": {**known["serverInfo"], **_present(identity)},
        **_present({"instructions": service.instructions}),
    }
    for pointer, value in _declared_elsewhere(service, service.access):
        for method in _HANDSHAKES:
            _put(handshake, pointer.removeprefix(f"/{method.replace('/', '~1')}"), pointer, value)
    version = service.protocol_version
    if version == MODERN_VERSION:
        return {}, {"supportedVersions": [MODERN_VERSION], **handshake}
    legacy = {"protocolVersion": version if version in LEGACY_VERSIONS else LEGACY_VERSIONS[-1], **handshake}
    return legacy, None


def _tool(tool: Tool) -> dict[str, Json]:
    entry = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output.raw if tool.output is not None else None,
        "icons": _icons(tool.icons),
    }
    result = {**_present(entry), **(tool.extras or {})}
    for pointer, value in _declared_elsewhere(tool, tool.semantics):
        _put(result, pointer.removeprefix(tool.pointer), pointer, value)
    for name, hint in _HINTS.items():
        origin, value = (tool.semantics.origins or {}).get(name), getattr(tool.semantics, name)
        if origin is not None and origin.source.endswith(OVERRULES):
            _put(result, f"/annotations/{hint}", "", not value)
    return result


def _resource(resource: Resource, key: str) -> dict[str, Json]:
    entry = {
        key: resource.uri,
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.media_type,
        "size": resource.size,
        "icons": _icons(resource.icons),
        "annotations": _present(
            {
                "audience": list(resource.audience) or None,
                "priority": resource.priority,
                "lastModified": resource.last_modified,
            }
        )
        or None,
    }
    return {**_present(entry), **(resource.extras or {})}


def _prompt(prompt: Prompt) -> dict[str, Json]:
    arguments = [
        _present({"name": item.name, "description": item.description, "required": item.required or None})
        for item in prompt.parameters
    ]
    entry = {
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "arguments": arguments or None,
        "icons": _icons(prompt.icons),
    }
    return {**_present(entry), **(prompt.extras or {})}


def _icons(icons: tuple[Icon, ...]) -> list[Json] | None:
    return [
        _present({"src": icon.src, "mimeType": icon.media_type, "sizes": list(icon.sizes) or None, "theme": icon.theme})
        for icon in icons
    ] or None


def _present(members: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in members.items() if value is not None}


def _declared_elsewhere(*nodes: HasOrigins) -> Iterator[tuple[str, Json]]:
    """Yields the pointer and the value of each field that its source declares at a place of its own."""
    for node in nodes:
        for name, origin in (node.origins or {}).items():
            value: Any = node
            for part in name.split("."):
                value = value.get(part) if isinstance(value, dict) else getattr(value, part, None)
            if origin.kind == "declared" and (declared := _json_of(value)) is not None:
                yield origin.source, declared


def _json_of(value: Any) -> Json:
    """Returns the declaration of a value of the model; null if it has several members."""
    if isinstance(value, Value):
        return value.json
    if isinstance(value, tuple):
        items = [item.kind if isinstance(item, Auth) else item for item in value]
        return items if all(isinstance(item, str) for item in items) else None
    if isinstance(value, RateLimit):
        return value.text
    return value if isinstance(value, (str, int, float)) else None


def _put(entry: dict[str, Json], path: str, pointer: str, value: Json) -> None:
    """Puts a value at a path below an entry, unless the path is not below it or has something else."""
    if path == pointer or not path.startswith("/"):
        return
    *parents, last = (token.replace("~1", "/").replace("~0", "~") for token in path[1:].split("/"))
    for token in parents:
        inner = entry.setdefault(token, {})
        if not isinstance(inner, dict):
            return
        entry[token] = entry = dict(inner)
    entry.setdefault(last, value)
