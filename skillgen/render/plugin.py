"""An Agent Plugin (1.0.0): the skill, and the server that its tools belong to, for hosts that install both at once.

`plugin.json` and `mcp.json` are the portable form. Claude Code, Codex and Cursor still read other manifests, which hold
the same facts. `mcp.json` has no place for a value that differs for each user, such as a key: a server with one is only
in the manifest for Claude Code, which asks for it on installation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from skillgen.errors import Problem
from skillgen.model.document import Document, Publisher
from skillgen.model.service import Service
from skillgen.render.about import client_configuration
from skillgen.render.access import login
from skillgen.render.examples import URL_VARIABLE
from skillgen.render.identity import (
    description,
    host_prefixes,
    plain,
    short_description,
    skill_fields,
    skill_name,
    what_and_when,
)
from skillgen.render.publishing import (
    HEADER,
    PUBLISH_FIX,
    VERSION_FIX,
    exact_version,
    is_endpoint,
    json_document,
    left_out,
    namespace_of,
    published,
    variables_of,
    without,
)
from skillgen.render.skill import Rendering, Site, skill_documents
from skillgen.text import lazy_re as re
from skillgen.text.slugs import slug

_SCHEMAS = "https://agent-plugins.org/schemas/1.0.0/"

_PROGRAM = re.compile(r"[A-Za-z0-9][\w.+-]{0,63}", re.ASCII)
"""A bare name, not a path: `mcp.json` takes no others for what is not in the plugin."""

_TRANSPORTS = {"http": "streamable-http", "sse": "sse"}
"""A transport to its name in `mcp.json`."""


class Connection(Struct, frozen=True, kw_only=True):
    """How a host connects to the server."""

    name: str
    """The name of the server in the host, which the skill has in the names of its tools."""

    portable: dict[str, Any]
    """The entry of `mcp.json`, without the values of the user."""

    claude: dict[str, Any]
    """The entry in the manifest for Claude Code."""

    values: Mapping[str, Mapping[str, Any]] = {}
    """The values of the user, without which the server does not work, by their key in that manifest."""


def plugin_documents(rendering: Rendering) -> Iterator[Document | Problem]:
    """Yields the files of the plugin, in `plugin/`."""
    service = rendering.service
    problems: list[Problem] = []
    connection = _connection(service, problems)
    facts = _facts(service, rendering.publisher, problems)
    is_portable = connection is not None and not connection.values
    yield json_document("plugin/plugin.json", {"$schema": f"{_SCHEMAS}plugin.schema.json", **facts})
    claude: dict[str, Any] = {}
    if connection is not None:
        claude = {"mcpServers": {connection.name: connection.claude}}
        if is_portable:
            servers = {connection.name: connection.portable}
            yield json_document("plugin/mcp.json", {"$schema": f"{_SCHEMAS}mcp.schema.json", "mcpServers": servers})
        else:
            claude["userConfig"] = connection.values
            names = ", ".join(value["title"] for value in connection.values.values())
            message = f"mcp.json has no place for values of the user ({names}); only Claude Code gets the server"
            problems.append(without("plugin/mcp.json", message, "let users of other hosts add the server themselves"))
    yield json_document("plugin/.claude-plugin/plugin.json", {**facts, **claude})
    has_codex = connection is not None and is_portable and connection.claude.get("type") != "sse"
    codex = {"skills": "./skills/", "mcpServers": claude.get("mcpServers") if has_codex else None}
    yield json_document("plugin/.codex-plugin/plugin.json", {**facts, **codex})
    yield json_document("plugin/.cursor-plugin/plugin.json", facts)
    context = {
        **rendering.context,
        "names": [skill_name(skill.service) for skill in rendering.skills],
        "what": what_and_when(service)[0],
        "login": login(service, True),
        "connection": connection,
        "is_portable": is_portable,
    }
    yield Document("plugin/README.md", rendering.templates.render("plugin/README.md.j2", **context))
    yield from skill_documents(rendering, within="plugin/")
    yield from problems


def marketplace_documents(site: Site) -> Iterator[Document | Problem]:
    """Yields the marketplaces of a folder with several plugins, one for each host."""
    owners = [found for service in site.services if (found := namespace_of(service, site.publisher)) is not None]
    if len({found.owner for found in owners}) != 1:
        yield left_out("plugin", "the marketplace has no owner, because nobody declares who publishes it", PUBLISH_FIX)
        return
    owner = owners[0].owner
    name = slug(owner, 64)
    plugins, codex_plugins = [], []
    for service, folder in zip(site.services, site.folders, strict=True):
        path = f"./{folder}/plugin"
        entry = {"name": skill_name(service), "description": short_description(service, 200)}
        plugins.append({**entry, "source": path})
        codex_plugins.append(
            {
                "name": entry["name"],
                "source": {"source": "local", "path": path},
                "policy": {"installation": "AVAILABLE", "authentication": "ON_USE"},
                "category": plain(service.categories[0]) if service.categories else "Other",
            }
        )
    about = f"Skills and MCP servers of {owner}."
    fields: dict[str, Any] = {"name": name, "owner": {"name": owner}, "metadata": {"description": about}}
    yield json_document(".claude-plugin/marketplace.json", {**fields, "plugins": plugins})
    yield json_document(".cursor-plugin/marketplace.json", {**fields, "plugins": plugins})
    yield json_document(".agents/plugins/marketplace.json", {"name": name, "plugins": codex_plugins})


def _facts(service: Service, publisher: Publisher, problems: list[Problem]) -> dict[str, Any]:
    """Returns the facts that every manifest has."""
    namespace = namespace_of(service, publisher)
    if namespace is None:
        message = "the manifests name no author, because nobody declares who publishes the service"
        problems.append(without("plugin/plugin.json", message, PUBLISH_FIX))
    elif namespace.problem is not None:
        problems.append(namespace.problem)
    version = exact_version(service)
    if version is None:
        message = "the manifests have no version, because the source declares no exact one of its own"
        problems.append(without("plugin/plugin.json", message, VERSION_FIX))
    return {
        "name": skill_name(service),
        "version": version,
        "description": description(service),
        "author": {"name": namespace.owner} if namespace is not None else None,
        "homepage": published(service.homepage),
        "repository": published(service.repository),
        "license": skill_fields(service, "portable")["license"],
        "keywords": [plain(category) for category in service.categories],
    }


def _connection(service: Service, problems: list[Problem]) -> Connection | None:
    """Returns how a host connects to an MCP server; `None` if others cannot start or reach it.

    A variable is a value of the user if it is required or a secret.
    """
    if service.kind != "mcp":
        return None
    servers = (client_configuration(service, is_example=False) or {}).get("mcpServers", {})
    entry: dict[str, Any] = next(iter(servers.values()), {})
    url = entry.get("url", "")
    is_hosted = url.startswith("https://") and is_endpoint(url) and not URL_VARIABLE.search(url)
    if is_hosted:
        portable, place = {**entry, "type": _TRANSPORTS[entry["type"]]}, "headers"
        needed = dict.fromkeys(_credential_headers(service), True)
    elif "command" in entry and _is_safe_command((entry["command"], *entry["args"])):
        arguments = {"args": entry["args"]} if entry["args"] else {}
        entry, place = {"command": entry["command"], **arguments}, "env"
        portable = {"type": "stdio", **entry}
        needed = {item.name: item.is_secret for item in variables_of(service) if item.is_required or item.is_secret}
    else:
        message = "the source declares no command or URL that others can use; the plugin has only the skill"
        if url:
            message = "the server has no https URL that others reach without a secret; the plugin has only the skill"
        fix = "read the server by the command or the URL that others use"
        problems.append(without("plugin/mcp.json", message, fix))
        return None
    values: dict[str, dict[str, Any]] = {}
    for name, is_secret in needed.items():
        key = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "value"
        key = key if key not in values else f"{key}_{len(values) + 1}"
        scheme = ", with its scheme" if name.lower() == "authorization" else ""
        words = f"Value of the {'HTTP header' if is_hosted else 'environment variable'} {name}{scheme}."
        values[key] = {"type": "string", "title": name, "description": words, "sensitive": is_secret, "required": True}
    references = {value["title"]: f"${{user_config.{key}}}" for key, value in values.items()}
    server = host_prefixes(service)[0].removeprefix("mcp__").removesuffix("__")
    claude = {**entry, place: references} if references else entry
    return Connection(name=server, portable=portable, claude=claude, values=values)


def _is_safe_command(command: tuple[str, ...]) -> bool:
    program, *arguments = command
    return bool(_PROGRAM.fullmatch(program)) and all(text.isprintable() and "${" not in text for text in arguments)


def _credential_headers(service: Service) -> list[str]:
    """Returns the headers with credentials of a hosted server; none with OAuth, for which the host gets the token."""
    entry = service.client_entry
    auth = [item for item in service.requirements.auth if not item.is_for_events]
    if any(item.kind == "openIdConnect" or item.kind.startswith("oauth2") for item in auth):
        return []
    places = [item.sent_as or "" for item in auth]
    sent = sorted({place.removeprefix("header ") for place in places if place.startswith("header ")})
    declared = list(filter(HEADER.fullmatch, entry.headers)) if entry is not None else []
    return declared or list(filter(HEADER.fullmatch, sent or ["Authorization"] * bool(auth)))
