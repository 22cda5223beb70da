"""What the formats for publishers share, and the Agent Plugin (1.0.0) of a skill with the server of its tools."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec import Struct

from skillgen.errors import Problem
from skillgen.model.document import Document, Publisher
from skillgen.model.service import Service
from skillgen.render.about import client_configuration, client_variables
from skillgen.render.access import login, logins
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
from skillgen.render.skill import Rendering, Site, skill_documents
from skillgen.security.secrets import host_of, is_private, is_secret_setting, literal_address, public_url
from skillgen.text import lazy_re as re
from skillgen.text.markdown import exact_json_text, one_line
from skillgen.text.words import slug

_SHARED_HOSTS = frozenset(
    {
        *("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "npmjs.com", "pypi.org", "hub.docker.com"),
        *("docs.google.com", "notion.so", "medium.com", "readme.com", "smithery.ai", "glama.ai"),
    }
)
"""Hosts on which everybody publishes: a page there does not make its domain the publisher's."""

_ACCOUNT = re.compile(r"https?://(?:www\.)?github\.com/(?P<owner>[A-Za-z0-9-]+)(?:/|\Z)", re.ASCII)

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
"""The name of an environment variable."""

HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}", re.ASCII)
"""The name of an HTTP header (RFC 9110, 5.6.2)."""

_VERSION = re.compile(r"v?[0-9]+(?:[-+.][0-9A-Za-z.+-]+)?", re.ASCII)
_RANGE = re.compile(r"(?:^|\.)[xX](?:\.|$)")


def json_document(path: str, fields: dict[str, Any], keep: Collection[str] = ()) -> Document:
    """Returns a JSON file of the fields that have a value.

    Its reader compares names and schemas with those of the service, so an invisible character is written as an escape
    and not left out.
    """
    return Document(path, exact_json_text(with_values(fields, keep), indent=2) + "\n")


def with_values(fields: dict[str, Any], keep: Collection[str] = ()) -> dict[str, Any]:
    """Returns the fields that have a value, and those to keep in any case. `false` and an empty text are values."""
    return {key: value for key, value in fields.items() if key in keep or value not in (None, [], {}, ())}


def left_out(format_name: str, message: str, fix: str = "leave it out of --emit for this service") -> Problem:
    """Returns the problem of a format that is not written."""
    return Problem.of("format-left-out", format_name, message, fix)


def left_out_unversioned(format_name: str) -> Problem:
    """Returns the problem of a format that is not written, because it requires a version."""
    return left_out(format_name, "the server declares no exact version of its own", VERSION_FIX)


def without(path: str, message: str, fix: str | None = None) -> Problem:
    """Returns the problem of a file that lacks something."""
    return Problem.of("published-without", path, message, fix)


NOT_A_SERVER = "the format is for an MCP server, and this service is not one"
VERSION_FIX = "declare a version such as 1.0.2 in the source, or with --service-version"
PUBLISH_FIX = "give --publish domain=DOMAIN or --publish namespace=NAMESPACE"


def variables_of(service: Service) -> list[tuple[str, bool, bool]]:
    """Returns the variables that a client sets for the server, whether each is required, and whether it is secret."""
    names = filter(VARIABLE.fullmatch, client_variables(service))
    return [(name, name in service.requirements.env, is_secret_setting(name)) for name in names]


class Namespace(Struct, frozen=True):
    """The namespace of a publisher, in reverse order of its domain."""

    text: str
    owner: str
    """The name of the publisher: its domain or account."""

    domain: str
    """The domain whose names it has: `acme.com`, `acme.github.io`."""

    problem: Problem | None = None
    """What it was inferred from, if nobody declares it."""


def namespace_of(service: Service, publisher: Publisher) -> Namespace | None:
    """Returns the publisher's namespace; without a declared one, that of the host of the homepage or the account of the
    repository.
    """
    if publisher.namespace:
        domain = publisher.domain or _reversed(publisher.namespace)
        return Namespace(publisher.namespace, publisher.domain or publisher.namespace, domain)
    if publisher.domain:
        return Namespace(_reversed(publisher.domain), publisher.domain, publisher.domain)
    for field, url in (("homepage", service.homepage), ("repository", service.repository)):
        host = (host_of(url) or "").removeprefix("www.")
        account = _ACCOUNT.match(url or "")
        owner = account["owner"] if account else ""
        name = f"io.github.{owner.lower()}" if owner else ""
        if field == "homepage" and is_published(url) and host not in _SHARED_HOSTS and host.isascii():
            name, owner = _reversed(host), host
        if name:
            message = f"the namespace {name} follows from the {field}"
            problem = Problem.of("publisher-inferred", field, message, PUBLISH_FIX)
            return Namespace(name, owner, _reversed(name), problem)
    return None


def _reversed(domain: str) -> str:
    return ".".join(reversed(domain.split(".")))


def is_published(url: str | None) -> bool:
    """True if a URL is of HTTP and its host is reached from everywhere."""
    host = host_of(url)
    is_web = url is not None and url.startswith(("https://", "http://")) and " " not in url and one_line(url) == url
    return bool(is_web and host and "." in host and not is_private(host) and literal_address(host) is None)


def published(url: str | None) -> str | None:
    """Returns a URL that is reached from everywhere, else `None`."""
    return url if is_published(url) else None


def is_endpoint(url: str | None) -> bool:
    """True if others reach a service at its URL, which has no part that may be secret."""
    return url is not None and is_published(url) and public_url(url) == url


def exact_version(service: Service) -> str | None:
    """Returns the version of a service if it is one, not a range."""
    text = service.version or ""
    return text if _VERSION.fullmatch(text) and not _RANGE.search(text) else None


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
    facts = _facts(service, rendering.options.publisher, problems)
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
        called, path = skill_name(service), f"./{folder}/plugin"
        plugins.append({"name": called, "description": short_description(service, 200), "source": path})
        source, policy = {"source": "local", "path": path}, {"installation": "AVAILABLE", "authentication": "ON_USE"}
        category = plain(service.categories[0]) if service.categories else "Other"
        codex_plugins.append({"name": called, "source": source, "policy": policy, "category": category})
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
        needed = {name: is_secret for name, is_required, is_secret in variables_of(service) if is_required or is_secret}
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
    auth = logins(service)
    if any(item.kind == "openIdConnect" or item.kind.startswith("oauth2") for item in auth):
        return []
    places = [item.sent_as or "" for item in auth]
    sent = sorted({place.removeprefix("header ") for place in places if place.startswith("header ")})
    declared = list(filter(HEADER.fullmatch, entry.headers)) if entry is not None else []
    return declared or list(filter(HEADER.fullmatch, sent or ["Authorization"] * bool(auth)))
