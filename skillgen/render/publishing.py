"""What the formats for publishers share; the Agent Plugin (1.0.0) of a skill with the server of its tools; and
server.json, the entry of an MCP server in a registry (MCP registry, 2025-12-11).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec import Struct

from skillgen.errors import Problem
from skillgen.model.document import Document, Publisher
from skillgen.model.resource import PACKAGE_MANAGERS
from skillgen.model.service import Service
from skillgen.model.values import Icon
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
    title,
    what_and_when,
)
from skillgen.render.skill import Rendering, Site, skill_documents
from skillgen.security.secrets import host_of, is_private, is_secret_setting, literal_address, public_url
from skillgen.text import lazy_re as re
from skillgen.text.markdown import exact_json_text, one_line
from skillgen.text.summary import clip
from skillgen.text.words import slug, word_set

_SHARED_HOSTS = word_set(
    "github.com gitlab.com bitbucket.org codeberg.org npmjs.com pypi.org hub.docker.com docs.google.com notion.so"
    " medium.com readme.com smithery.ai glama.ai"
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


def without(path: str, message: str, fix: str | None = None) -> Problem:
    """Returns the problem of a file that lacks something."""
    return Problem.of("published-without", path, message, fix)


NOT_A_SERVER = "the format is for an MCP server, and this service is not one"
VERSION_FIX = "declare a version such as 1.0.2 in the source, or with --service-version"
UNVERSIONED = "the server declares no exact version of its own", VERSION_FIX
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
        key += f"_{len(values) + 1}" * (key in values)
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


# -- server.json -------------------------------------------------------------------------------------------------------


_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

_TEXT_LIMIT = 100
"""Characters of `title` and `description`."""

_ICON_URL_LIMIT = 255

_ICON_TYPES = ("image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp")
_ICON_SIZE = re.compile(r"\d+x\d+|any")

_REPOSITORY = re.compile(
    r"https?://(?:www\.)?(?P<source>github|gitlab)\.com/(?P<owner>[A-Za-z0-9_.-]+)/(?P<name>[A-Za-z0-9_.-]+)", re.ASCII
)
_RUNNERS: dict[tuple[str, ...], tuple[str, str | None]] = {
    ("npx",): ("npm", "npx"),
    ("bunx",): ("npm", None),
    ("uvx",): ("pypi", "uvx"),
    ("uv", "tool", "run"): ("pypi", "uvx"),
    ("pipx", "run"): ("pypi", None),
    ("docker", "run"): ("oci", "docker"),
}
"""The beginning of a command that runs a package, to the type of registry and the hint for clients."""

_PACKAGE_FLAGS = frozenset({"--from", "-p", "--package"})
"""Flags of runners that name the package, if the program in it has another name."""

_OWN_FLAGS = frozenset({"-y", "--yes", "-i", "--interactive", "-it", "-t", "--tty", "--rm", "--init"})
"""Flags of runners that say how a package is started, which clients know by themselves."""

_PACKAGES = {
    "npm": re.compile(r"(?P<name>(?:@[\w.~-]+/)?[\w.~-]+)(?:@(?P<version>[\w.^~*+-]+))?", re.ASCII),
    "pypi": re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?:(?:@|==)(?P<version>[\w.*+!-]+))?", re.ASCII),
    "oci": re.compile(r"(?P<name>[a-z0-9][\w./-]*(?::\d+/[\w./-]+)?(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?)", re.ASCII),
}
_EXACT = {
    "npm": re.compile(r"\d+\.\d+\.\d+(?:[-+][\w.+-]+)?", re.ASCII),
    "pypi": re.compile(r"\d+(?:\.\w+)+", re.ASCII),
}
"""Versions that are not ranges: `npx pkg@1.2` takes any 1.2.x."""


def server_json_documents(rendering: Rendering) -> Iterator[Document | Problem]:
    """Yields server.json, unless the server has no publisher or no version."""
    service, problems = rendering.service, list[Problem]()
    if (identity := server_identity(rendering, "server-json", problems)) is not None:
        known = len(problems)
        packages, remotes = [*_packages(service, problems)], remotes_of(service, "server.json", problems)
        if not packages and not remotes and len(problems) == known:
            what = "server.json has neither a package nor a URL"
            message = f"{what}, because the source declares none that others can use"
            fix = "declare the package with `install`, or read the server by its URL"
            problems.append(without("server.json", message, fix))
        yield json_document("server.json", {"$schema": _SCHEMA, **identity, "packages": packages, "remotes": remotes})
    yield from problems


def server_identity(rendering: Rendering, format_name: str, problems: list[Problem]) -> dict[str, Any] | None:
    """Returns what server.json and a server card say about a server itself; `None` if the format is left out."""
    service = rendering.service
    if service.kind != "mcp":
        return None
    namespace, version = namespace_of(service, rendering.options.publisher), exact_version(service)
    if namespace is None:
        problems.append(left_out(format_name, "the source does not declare who publishes the server", PUBLISH_FIX))
        return None
    if version is None:
        problems.append(left_out(format_name, *UNVERSIONED))
        return None
    problems += filter(None, [namespace.problem])
    return {
        "name": f"{namespace.text}/{skill_name(service)}",
        "title": clip(plain(title(service)), _TEXT_LIMIT) if service.title else None,
        "description": short_description(service, _TEXT_LIMIT),
        "repository": _repository(service),
        "version": version,
        "websiteUrl": published(service.homepage),
        "icons": [shown for icon in service.icons if (shown := _icon(icon))],
    }


def _repository(service: Service) -> dict[str, str] | None:
    """Returns the repository on one of the hosts that the registry knows."""
    match = _REPOSITORY.match(service.repository or "")
    if match is None:
        return None
    name = match["name"].removesuffix(".git")
    return {"url": f"https://{match['source']}.com/{match['owner']}/{name}", "source": match["source"]}


def _icon(icon: Icon) -> dict[str, Any] | None:
    is_shown = icon.src.startswith("https://") and len(icon.src) <= _ICON_URL_LIMIT and is_published(icon.src)
    if not is_shown or icon.media_type not in (None, *_ICON_TYPES):
        return None
    sizes = [size for size in icon.sizes if _ICON_SIZE.fullmatch(size)]
    theme = icon.theme if icon.theme in ("light", "dark") else None
    return with_values({"src": icon.src, "mimeType": icon.media_type, "sizes": sizes, "theme": theme})


def remotes_of(service: Service, path: str, problems: list[Problem]) -> list[dict[str, Any]]:
    """Returns the URL of a hosted server for the file `path`; a part of it that is secret becomes a variable."""
    entry = service.client_entry
    if entry is None or entry.transport == "stdio" or not service.endpoints:
        return []
    url = service.endpoints[0].url
    if not is_endpoint(url):
        fix = "read it by the URL that others use, or set that with --base-url"
        problems.append(without(path, f"others cannot reach the server at {one_line(url)}", fix))
        return []
    fields = {
        "type": "sse" if entry.transport == "sse" else "streamable-http",
        "url": url,
        "headers": [{"name": name, "isSecret": True} for name in entry.headers if HEADER.fullmatch(name)],
        "variables": {name: {"isRequired": True, "isSecret": True} for name in URL_VARIABLE.findall(url)},
    }
    return [with_values(fields)]


def _packages(service: Service, problems: list[Problem]) -> Iterator[dict[str, Any]]:
    """Yields the package that the command runs; without one, the packages that the source says are installed."""
    entry = service.client_entry
    if entry is not None and entry.transport != "stdio":
        return
    variables = [
        with_values({"name": name, "isRequired": is_required or None, "isSecret": is_secret or None})
        for name, is_required, is_secret in variables_of(service)
    ]
    command = entry.command if entry is not None else ()
    runner = next((start for start in _RUNNERS if command[: len(start)] == start), None)
    if runner is not None:
        kind, hint = _RUNNERS[runner]
        words, flag = _without_own_flags(command[len(runner) :])
        package = _package(kind, words)
        if package is None:
            message = f"the options of {' '.join(runner)} in the command have no place in server.json"
            problems.append(without("server.json", message, "declare the package with `install`"))
        else:
            origin = (service.origins or {}).get("client_entry")
            if package["version"] is None and origin is not None and origin.source == "--publish":
                package["version"] = exact_version(service)  # its publisher releases both as one
            if flag is not None:
                name = package["identifier"]
                exact = ("@" if kind == "npm" else "==").join(filter(None, (name, package["version"])))
                package["runtimeArguments"] = [{"type": "named", "name": flag, "value": exact}]
                message = f"clients that start a package by its name alone do not find {words[1]} in {name}"
                problems.append(without("server.json", message, f"give {name} a command of its own name"))
            yield _described(package, {"runtimeHint": hint, "environmentVariables": variables}, problems)
            return
    seen: set[str] = set()
    for manager, text in (service.install or {}).items():
        kind = PACKAGE_MANAGERS.get(manager.lower(), "")
        package = _package(kind, [text]) if kind and kind not in seen else None
        if package is not None:
            seen.add(kind)
            yield _described(package, {"environmentVariables": variables}, problems)


def _without_own_flags(words: tuple[str, ...]) -> tuple[list[str], str | None]:
    """Returns a package with its arguments, the first of which is the program if an option names the package, and that
    option; nothing if another option of the runner is before it.

    `-e NAME` passes a variable on, which is among the environment variables.
    """
    left = list(words)
    while left and left[0].startswith("-"):
        flag = left.pop(0)
        if flag in ("-e", "--env") and left and VARIABLE.fullmatch(left[0]):
            left.pop(0)
        elif flag in _PACKAGE_FLAGS and not any(word.startswith("-") for word in left[:2]):
            return (left, flag) if left[1:] else ([], None)
        elif flag not in _OWN_FLAGS:
            return [], None
    return left, None


def _package(kind: str, words: list[str]) -> dict[str, Any] | None:
    match = _PACKAGES[kind].fullmatch(words[0]) if words else None
    if match is None:
        return None
    version = match.groupdict().get("version")
    return {
        "registryType": kind,
        "identifier": match["name"],
        "version": version if version and _EXACT[kind].fullmatch(version) else None,
        "packageArguments": [{"type": "positional", "value": word} for word in words[1:]],
        "transport": {"type": "stdio"},
    }


def _described(package: dict[str, Any], more: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    if package["version"] is None and package["registryType"] != "oci":
        name, manager = package["identifier"], package["registryType"]
        message = f"the package {name} has no exact version, which the registry requires"
        problems.append(without("server.json", message, f"declare it with `install`: {manager}: {name}@1.2.3"))
    return with_values({**package, **more})
