"""What a publisher serves below `/.well-known/`: the skill with its digest, the catalogue of the domain, the links of
its APIs, and the headers to serve them with; the server card, for any place; and server.json, the entry of an MCP
server in a registry (MCP registry, 2025-12-11).

An archive is a ZIP without compression: the output of a compressor differs between its versions, and a digest must not
depend on who builds the file.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from skillgen.errors import Problem
from skillgen.model.document import SERVER_CARDS, Artifact, Document
from skillgen.model.resource import PACKAGE_MANAGERS
from skillgen.model.service import Service
from skillgen.model.values import Icon
from skillgen.render.access import URL_VARIABLE
from skillgen.render.identity import description, plain, short_description, skill_name, title, tool_phrase
from skillgen.render.mcp_manifest import mcp_manifest, registry_entry_of_manifest
from skillgen.render.publishing import (
    HEADER,
    NOT_A_SERVER,
    PUBLISH_FIX,
    VARIABLE,
    exact_version,
    is_endpoint,
    is_published,
    json_document,
    left_out,
    left_out_unversioned,
    namespace_of,
    published,
    variables_of,
    with_values,
    without,
)
from skillgen.render.skill import Rendering, Site
from skillgen.text import lazy_re as re
from skillgen.text.markdown import one_line
from skillgen.text.summary import clip

_INDEX_SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

_MEDIA_TYPES = {
    "index.json": "application/json",
    "ard.json": "application/ai-catalog+json",
    "ai-catalog.json": "application/ai-catalog+json",
    "server-card.json": "application/mcp-server-card+json",
    "mcp.yaml": "application/yaml",
    "api-catalog": 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    ".md": "text/markdown; charset=utf-8",
    ".zip": "application/zip",
}
"""Name of a file, or its suffix, to the media type that clients expect."""

_ENTRY = "mcpx.json"
"""The entry of mcp.yaml in a registry, which is sent there and not served."""

_SKILL_TYPES = {"skill-md": "application/ai-skill+md", "archive": "application/ai-skill"}
"""The type of a skill in the index to that in a catalogue, whose terms are not registered yet."""

_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "Content-Type, If-None-Match",
    "Access-Control-Expose-Headers": "ETag",
    "Cache-Control": "public, max-age=3600",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of every file: browsers may read it, and caches keep it for an hour (MCP server cards, "CORS", "Caching")."""

_CATALOGUE_LINK = {"Link": "</.well-known/api-catalog>; rel=api-catalog"}
"""The header of the list of APIs, which clients look for with HEAD (RFC 9727, 2)."""

_MAX_CAPABILITIES = 100
"""Tools that a catalogue lists by name; of more, it lists their groups."""

_QUERIES = range(2, 6)
"""How many queries represent an entry of a catalogue (ARD, 4.2)."""

_QUERY_LIMIT = 120
"""Characters of a query."""


class _Published(Struct, frozen=True, kw_only=True):
    """What is published of one service."""

    rendering: Rendering
    server: Rendering | None
    """The service that is published with the skill."""

    path: str
    """The skill, below /.well-known/."""

    content: bytes
    entry: Mapping[str, str]
    """The entry of the skill in the index."""

    card: dict[str, Any] | None
    """The server card."""

    card_path: str
    """Below /.well-known/, if the card is served."""

    @property
    def is_card_served(self) -> bool:
        """True if the card is a file of its own."""
        return self.card is not None and "server-card" in self.rendering.formats


def well_known_documents(rendering: Rendering) -> Iterator[Document | Artifact | Problem]:
    """Yields the files of the folder `well-known/` for one service."""
    yield from _folder([rendering])


def well_known_site(site: Site) -> Iterator[Document | Artifact | Problem]:
    """Yields the folder `well-known/` for the domain of several services."""
    yield from _folder(site.renderings)


def server_card_documents(rendering: Rendering) -> Iterator[Document | Problem]:
    """Yields server-card.json, unless the service is not a hosted MCP server."""
    problems: list[Problem] = []
    card = _server_card(rendering, problems)
    if card is not None:
        yield json_document("server-card.json", card)
    yield from problems


def _folder(renderings: Sequence[Rendering]) -> Iterator[Document | Artifact | Problem]:
    pairs = ((skill, rendering) for rendering in renderings for skill in rendering.skills)
    services = [_published(skill, rendering, is_alone=len(renderings) == 1) for skill, rendering in pairs]
    entries = [item.entry for item in sorted(services, key=lambda item: item.path)]
    files: list[Document | Artifact] = [
        json_document("agent-skills/index.json", {"$schema": _INDEX_SCHEMA, "skills": entries})
    ]
    files += [Artifact(item.path, item.content) for item in services]
    problems: list[Problem] = []
    catalogue, domain = _catalogue(services, problems)
    if catalogue is not None:
        files += [json_document(name, catalogue) for name in ("ard.json", "ai-catalog.json")]
    files += [json_document(item.card_path, item.card) for item in services if item.is_card_served and item.card]
    files += _manifest(renderings, domain, problems)
    served = {item.path for item in files}
    links = [link for item in services if (link := _links(item, domain, served)) is not None]
    if links:
        # RFC 9727, 4.2: the list of the APIs, and what each links to.
        items = {
            "anchor": f"https://{domain}/.well-known/api-catalog",
            "item": [{"href": link["anchor"]} for link in links],
        }
        files.append(json_document("api-catalog", {"linkset": [items, *links]}))
    paths = sorted(item.path for item in files if item.path != _ENTRY)
    served_files = [(path, _media_type(path), _headers(path)) for path in paths]
    for name in ("_headers", "headers.nginx.conf"):
        text = renderings[0].templates.render(f"well-known/{name}.j2", files=served_files)
        files.append(Document(name, text))
    for file in files:
        path = f"well-known/{file.path}"
        yield Document(path, file.text) if isinstance(file, Document) else Artifact(path, file.content)
    yield from problems


def _published(rendering: Rendering, whole: Rendering, *, is_alone: bool) -> _Published:
    """Returns SKILL.md if it is the skill's only file, otherwise an archive with its files at the root.

    The server is published with the first skill of a service.
    """
    files, name = rendering.skill_contents, skill_name(rendering.service)
    is_single = len(files) == 1
    path = f"agent-skills/{name}/SKILL.md" if is_single else f"agent-skills/{name}.zip"
    content = next(iter(files.values())) if is_single else _archive(files)
    entry = {
        "name": name,
        "type": "skill-md" if is_single else "archive",
        "description": description(rendering.service),
        "url": f"/.well-known/{path}",
        "digest": f"sha256:{hashlib.sha256(content).hexdigest()}",
    }
    return _Published(
        rendering=rendering,
        server=whole if rendering is whole.skills[0] else None,
        path=path,
        content=content,
        entry=entry,
        card=_server_card(whole, []) if rendering is whole.skills[0] else None,
        card_path="server-card.json" if is_alone else f"mcp/{name}/server-card.json",
    )


def _archive(files: Mapping[str, bytes]) -> bytes:
    """Returns a ZIP of the files, the same bytes on every system: sorted, with a fixed date, without folders."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, files[path])
    return target.getvalue()


# -- the catalogue of the domain ---------------------------------------------------------------------------------------


def _catalogue(services: Sequence[_Published], problems: list[Problem]) -> tuple[dict[str, Any] | None, str | None]:
    """Returns the catalogue (ARD 0.9) and the domain that publishes it; `None` if nobody declares who publishes."""
    found = [namespace_of(item.rendering.service, item.rendering.publisher) for item in services]
    namespaces = {item.text: item for item in found if item is not None}
    if len(namespaces) != 1 or None in found:
        message = "ard.json and api-catalog are left out, because it is not declared who publishes the service"
        problems.append(without("well-known/ard.json", message, PUBLISH_FIX))
        return None, None
    (namespace,) = namespaces.values()
    if namespace.problem is not None:
        problems.append(namespace.problem)
    domain = namespace.domain
    entries = [entry for item in services for entry in _catalogue_entries(item, domain)]
    homepages = {item.rendering.service.homepage for item in services}
    homepage = homepages.pop() if len(homepages) == 1 else None
    host = {"displayName": namespace.owner, "documentationUrl": published(homepage)}
    return {"specVersion": "1.0", "host": with_values(host), "entries": entries}, domain


def _catalogue_entries(item: _Published, domain: str) -> Iterator[dict[str, Any]]:
    name = item.entry["name"]
    entry = {
        "identifier": f"urn:air:{domain}:skill:{name}",
        "type": _SKILL_TYPES[item.entry["type"]],
        "url": f"https://{domain}/.well-known/{item.path}",
        "metadata": {"digest": item.entry["digest"]},
    }
    yield with_values({**entry, **_facts(item.rendering.service)})
    if item.card is not None and item.server is not None:
        place: dict[str, Any] = {"data": with_values(item.card)}
        if item.is_card_served:
            place = {"url": f"https://{domain}/.well-known/{item.card_path}"}
        entry = {"identifier": f"urn:air:{domain}:mcp:{name}", "type": _MEDIA_TYPES["server-card.json"], **place}
        yield with_values({**entry, **_facts(item.server.service)})


def _facts(service: Service) -> dict[str, Any]:
    return {
        "displayName": plain(title(service)),
        "description": short_description(service, 300),
        "tags": [plain(category) for category in service.categories],
        "capabilities": _capabilities(service),
        "representativeQueries": _queries(service),
        "version": exact_version(service),
    }


def _capabilities(service: Service) -> list[str]:
    names = [tool.name for tool in service.tools]
    if len(names) > _MAX_CAPABILITIES:
        names = [group.name for group in service.groups][:_MAX_CAPABILITIES]
    return list(dict.fromkeys(map(one_line, names)))


def _queries(service: Service) -> list[str] | None:
    """Returns requests of users for which the service is the right one, and after them what its tools do."""
    texts = chain(service.when_to_use, map(tool_phrase, service.tools))
    shown = dict.fromkeys(line for text in texts if (line := clip(plain(text), _QUERY_LIMIT)))
    queries = list(shown)[: _QUERIES[-1]]
    return queries if len(queries) in _QUERIES else None


# -- the description of an API -----------------------------------------------------------------------------------------


def _manifest(renderings: Sequence[Rendering], domain: str | None, problems: list[Problem]) -> Iterator[Document]:
    """Yields mcp.yaml and its entry in a registry; a domain can have only one."""
    services = [rendering.service for rendering in renderings if rendering.service.kind == "openapi"]
    if len(services) > 1:
        message = f"mcp.yaml is left out, because a domain has only one and these are {len(services)} APIs"
        problems.append(without("well-known/mcp.yaml", message, "serve the mcp.yaml of each on its own domain"))
    if len(services) != 1:
        return
    for item in mcp_manifest(services[0]):
        if isinstance(item, Problem):
            problems.append(item)
            continue
        yield item
        if domain is not None:
            yield json_document(_ENTRY, registry_entry_of_manifest(services[0], domain))


# -- the server card ---------------------------------------------------------------------------------------------------


def _server_card(rendering: Rendering, problems: list[Problem]) -> dict[str, Any] | None:
    """Returns the server card of a hosted MCP server; it has no packages and no tools."""
    service = rendering.service
    identity = server_identity(rendering, "server-card")
    if isinstance(identity, Problem):
        problems.append(identity)
        return None
    remotes = list(remotes_of(service, "server-card.json", problems))
    if not remotes:
        message = "a server card describes a hosted server, and the source has no URL of it that others reach"
        problems.append(left_out("server-card", message, "read the server by its URL"))
        return None
    problems += identity.problems
    if service.protocol_version is not None:
        remotes = [{**remote, "supportedProtocolVersions": [service.protocol_version]} for remote in remotes]
    version = rendering.publisher.server_card
    return {"$schema": SERVER_CARDS[version], **identity.fields, "remotes": remotes}


# -- the links of APIs -------------------------------------------------------------------------------------------------


def _links(item: _Published, domain: str | None, served: Collection[str]) -> dict[str, Any] | None:
    """Returns the links of an API that others reach (RFC 9727, 4.1); `None` if there is nothing to link to."""
    service = item.rendering.service
    url = service.endpoints[0].url if service.endpoints else None
    if item.server is None or domain is None or url is None or not is_endpoint(url):
        return None
    links = {"service-doc": service.homepage, "status": service.status_page}
    linkset: dict[str, Any] = {
        rel: [{"href": href, "type": "text/html"}] for rel, href in links.items() if is_published(href)
    }
    path = "mcp.yaml" if service.kind == "openapi" else item.card_path
    if path in served:
        relation = "service-desc" if service.kind == "openapi" else "service-meta"
        linkset[relation] = [{"href": f"https://{domain}/.well-known/{path}", "type": _media_type(path)}]
    return {"anchor": url, **linkset}


# -- the headers -------------------------------------------------------------------------------------------------------


def _media_type(path: str) -> str:
    name = path.rpartition("/")[2]
    return _MEDIA_TYPES.get(name) or _MEDIA_TYPES[name[name.rindex(".") :]]


def _headers(path: str) -> dict[str, str]:
    return {**_HEADERS, **(_CATALOGUE_LINK if path == "api-catalog" else {})}


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
    """Yields server.json, unless the service is not an MCP server, or has no publisher or no version."""
    service = rendering.service
    identity = server_identity(rendering, "server-json")
    if isinstance(identity, Problem):
        yield identity
        return
    yield from identity.problems
    problems: list[Problem] = []
    packages, remotes = list(_packages(service, problems)), list(remotes_of(service, "server.json", problems))
    if not packages and not remotes and not problems:
        message = "server.json has neither a package nor a URL, because the source declares none that others can use"
        fix = "declare the package with `install`, or read the server by its URL"
        problems.append(without("server.json", message, fix))
    fields = {
        "$schema": _SCHEMA,
        **identity.fields,
        "packages": packages,
        "remotes": remotes,
    }
    yield json_document("server.json", fields)
    yield from problems


class ServerIdentity(Struct, frozen=True):
    """What server.json and a server card say about a server itself."""

    fields: dict[str, Any]
    problems: tuple[Problem, ...]


def server_identity(rendering: Rendering, format_name: str) -> ServerIdentity | Problem:
    """Returns the identity of an MCP server, or why the format is left out."""
    service = rendering.service
    if service.kind != "mcp":
        return left_out(format_name, NOT_A_SERVER)
    namespace = namespace_of(service, rendering.publisher)
    if namespace is None:
        return left_out(format_name, "the source does not declare who publishes the server", PUBLISH_FIX)
    version = exact_version(service)
    if version is None:
        return left_out_unversioned(format_name)
    fields = {
        "name": f"{namespace.text}/{skill_name(service)}",
        "title": clip(plain(title(service)), _TEXT_LIMIT) if service.title else None,
        "description": short_description(service, _TEXT_LIMIT),
        "repository": _repository(service),
        "version": version,
        "websiteUrl": published(service.homepage),
        "icons": [shown for icon in service.icons if (shown := _icon(icon))],
    }
    return ServerIdentity(fields, (namespace.problem,) if namespace.problem is not None else ())


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
    fields = {"src": icon.src, "mimeType": icon.media_type, "sizes": sizes, "theme": theme}
    return with_values(fields)


def remotes_of(service: Service, path: str, problems: list[Problem]) -> Iterator[dict[str, Any]]:
    """Yields the URL of a hosted server for the file `path`; a part of it that is secret becomes a variable."""
    entry = service.client_entry
    if entry is None or entry.transport == "stdio" or not service.endpoints:
        return
    url = service.endpoints[0].url
    if not is_endpoint(url):
        fix = "read it by the URL that others use, or set that with --base-url"
        problems.append(without(path, f"others cannot reach the server at {one_line(url)}", fix))
        return
    headers = [{"name": name, "isSecret": True} for name in entry.headers if HEADER.fullmatch(name)]
    fields = {
        "type": "sse" if entry.transport == "sse" else "streamable-http",
        "url": url,
        "headers": headers,
        "variables": {name: {"isRequired": True, "isSecret": True} for name in URL_VARIABLE.findall(url)},
    }
    yield with_values(fields)


def _packages(service: Service, problems: list[Problem]) -> Iterator[dict[str, Any]]:
    """Yields the package that the command runs; without one, the packages that the source says are installed."""
    entry = service.client_entry
    if entry is not None and entry.transport != "stdio":
        return
    variables = [
        with_values({"name": item.name, "isRequired": item.is_required or None, "isSecret": item.is_secret or None})
        for item in variables_of(service)
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
