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
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.model.document import SERVER_CARDS, Artifact, Document
from skillgen.model.resource import PACKAGE_MANAGERS
from skillgen.model.service import Service
from skillgen.model.values import Icon
from skillgen.render.examples import URL_VARIABLE
from skillgen.render.identity import description, plain, short_description, skill_name, title, tool_phrase
from skillgen.render.mcp_manifest import mcp_manifest, registry_entry_of_manifest
from skillgen.render.publishing import (
    HEADER,
    PUBLISH_FIX,
    VARIABLE,
    Namespace,
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

_LINKS = {"api-catalog": {"Link": "</.well-known/api-catalog>; rel=api-catalog"}}
"""The header of the list of APIs, which clients look for with HEAD (RFC 9727, 2)."""

_MAX_CAPABILITIES = 100
"""Tools that a catalogue lists by name; of more, it lists their groups."""

_QUERIES = range(2, 6)
"""How many queries represent an entry of a catalogue (ARD, 4.2)."""

_QUERY_LIMIT = 120
"""Characters of a query."""


def well_known_documents(subject: Rendering | Site) -> Iterator[Document | Artifact | Problem]:
    """Yields the files of the folder `well-known/` for one service, or for the domain of several."""
    renderings = subject.renderings if isinstance(subject, Site) else [subject]
    problems: list[Problem] = []
    namespace = _namespace(renderings, problems)
    domain = namespace.domain if namespace is not None else None
    base = f"https://{domain}/.well-known"
    manifest = [*_manifest(renderings, domain)]
    problems += [item for item in manifest if isinstance(item, Problem)]
    files: list[Document | Artifact] = [item for item in manifest if isinstance(item, Document)]
    index: list[dict[str, str]] = []
    entries: list[dict[str, Any]] = []
    links: list[dict[str, Any]] = []
    for whole in renderings:
        first, card = skill_name(whole.skills[0].service), _server_card(whole, [])
        card_path = "server-card.json" if len(renderings) == 1 else f"mcp/{first}/server-card.json"
        is_served = card is not None and "server-card" in whole.options.formats
        for skill in whole.skills:
            entry, file = _skill_entry(skill)
            index.append(entry)
            files.append(file)
            place: dict[str, Any] = {"url": f"{base}/{file.path}", "metadata": {"digest": entry["digest"]}}
            identifier = f"urn:air:{domain}:skill:{entry['name']}"
            entries.append(_catalogue_entry(skill.service, identifier, _SKILL_TYPES[entry["type"]], place))
            if card is not None and skill is whole.skills[0]:
                place = {"url": f"{base}/{card_path}"} if is_served else {"data": with_values(card)}
                identifier, kind = f"urn:air:{domain}:mcp:{first}", _MEDIA_TYPES["server-card.json"]
                entries.append(_catalogue_entry(whole.service, identifier, kind, place))
        if card is not None and is_served:
            files.append(json_document(card_path, card))
        if namespace is not None:
            served = "mcp.yaml" if whole.service.kind == "openapi" else card_path
            is_served = any(item.path == served for item in files)
            links += _links(whole.service, f"{base}/{served}" if is_served else None)
    index.sort(key=lambda entry: entry["url"])
    files.append(json_document("agent-skills/index.json", {"$schema": _INDEX_SCHEMA, "skills": index}))
    if namespace is not None:
        homepages = {whole.service.homepage for whole in renderings}
        homepage = homepages.pop() if len(homepages) == 1 else None
        host = {"displayName": namespace.owner, "documentationUrl": published(homepage)}
        catalogue = {"specVersion": "1.0", "host": with_values(host), "entries": entries}
        files += [json_document(name, catalogue) for name in ("ard.json", "ai-catalog.json")]
    if links:
        # RFC 9727, 4.2: the list of the APIs, and what each links to.
        items = {"anchor": f"{base}/api-catalog", "item": [{"href": link["anchor"]} for link in links]}
        files.append(json_document("api-catalog", {"linkset": [items, *links]}))
    paths = sorted(item.path for item in files if item.path != _ENTRY)
    headers = [(path, _media_type(path), {**_HEADERS, **_LINKS.get(path, {})}) for path in paths]
    for name in ("_headers", "headers.nginx.conf"):
        files.append(Document(name, renderings[0].templates.render(f"well-known/{name}.j2", files=headers)))
    yield from (replace(file, path=f"well-known/{file.path}") for file in files)
    yield from problems


def server_card_documents(rendering: Rendering) -> Iterator[Document | Problem]:
    """Yields server-card.json, unless the server is not hosted."""
    problems: list[Problem] = []
    card = _server_card(rendering, problems)
    if card is not None:
        yield json_document("server-card.json", card)
    yield from problems


def _skill_entry(rendering: Rendering) -> tuple[dict[str, str], Artifact]:
    """Returns the entry of a skill in the index, and SKILL.md if that is its only file, else an archive of all."""
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
    return entry, Artifact(path, content)


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


def _namespace(renderings: Sequence[Rendering], problems: list[Problem]) -> Namespace | None:
    """Returns who publishes the services; `None` if nobody declares it, or several do."""
    found = [namespace_of(item.service, item.options.publisher) for item in renderings]
    namespace = found[-1]
    if namespace is None or len({item and item.text for item in found}) > 1:
        message = "ard.json and api-catalog are left out, because it is not declared who publishes the service"
        problems.append(without("well-known/ard.json", message, PUBLISH_FIX))
        return None
    problems += filter(None, [namespace.problem])
    return namespace


def _catalogue_entry(service: Service, identifier: str, kind: str, place: Mapping[str, Any]) -> dict[str, Any]:
    """Returns an entry of the catalogue (ARD 0.9)."""
    names = [tool.name for tool in service.tools]
    if len(names) > _MAX_CAPABILITIES:
        names = [group.name for group in service.groups][:_MAX_CAPABILITIES]
    return with_values(
        {
            "identifier": identifier,
            "type": kind,
            **place,
            "displayName": plain(title(service)),
            "description": short_description(service, 300),
            "tags": [plain(category) for category in service.categories],
            "capabilities": list(dict.fromkeys(map(one_line, names))),
            "representativeQueries": _queries(service),
            "version": exact_version(service),
        }
    )


def _queries(service: Service) -> list[str] | None:
    """Returns requests of users for which the service is the right one, and after them what its tools do."""
    texts = chain(service.when_to_use, map(tool_phrase, service.tools))
    shown = dict.fromkeys(line for text in texts if (line := clip(plain(text), _QUERY_LIMIT)))
    queries = list(shown)[: _QUERIES[-1]]
    return queries if len(queries) in _QUERIES else None


# -- the description of an API -----------------------------------------------------------------------------------------


def _manifest(renderings: Sequence[Rendering], domain: str | None) -> Iterator[Document | Problem]:
    """Yields mcp.yaml and its entry in a registry; a domain can have only one."""
    services = [rendering.service for rendering in renderings if rendering.service.kind == "openapi"]
    if len(services) > 1:
        message = f"mcp.yaml is left out, because a domain has only one and these are {len(services)} APIs"
        yield without("well-known/mcp.yaml", message, "serve the mcp.yaml of each on its own domain")
    elif services:
        for item in mcp_manifest(services[0]):
            yield item
            if isinstance(item, Document) and domain is not None:
                yield json_document(_ENTRY, registry_entry_of_manifest(services[0], domain))


# -- the server card ---------------------------------------------------------------------------------------------------


def _server_card(rendering: Rendering, problems: list[Problem]) -> dict[str, Any] | None:
    """Returns the server card of a hosted MCP server; it has no packages and no tools."""
    service = rendering.service
    identity = _server_identity(rendering, "server-card", problems)
    if identity is None:
        return None
    remotes = _remotes(service, "server-card.json", problems)
    if not remotes:
        message = "a server card describes a hosted server, and the source has no URL of it that others reach"
        problems.append(left_out("server-card", message, "read the server by its URL"))
        return None
    if service.protocol_version is not None:
        remotes = [{**remote, "supportedProtocolVersions": [service.protocol_version]} for remote in remotes]
    return {"$schema": SERVER_CARDS[rendering.options.publisher.server_card], **identity, "remotes": remotes}


# -- the links of APIs -------------------------------------------------------------------------------------------------


def _links(service: Service, described: str | None) -> Iterator[dict[str, Any]]:
    """Yields the links of an API that others reach (RFC 9727, 4.1), also to the file that describes it."""
    url = service.endpoints[0].url if service.endpoints else None
    if url is None or not is_endpoint(url):
        return
    links = {"service-doc": service.homepage, "status": service.status_page}
    published = ((relation, href) for relation, href in links.items() if is_published(href))
    found: dict[str, Any] = {relation: [{"href": href, "type": "text/html"}] for relation, href in published}
    if described is not None:
        relation = "service-desc" if service.kind == "openapi" else "service-meta"
        found[relation] = [{"href": described, "type": _media_type(described)}]
    yield {"anchor": url, **found}


# -- the headers -------------------------------------------------------------------------------------------------------


def _media_type(path: str) -> str:
    name = path.rpartition("/")[2]
    return _MEDIA_TYPES.get(name) or _MEDIA_TYPES[name[name.rindex(".") :]]


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
    if (identity := _server_identity(rendering, "server-json", problems)) is not None:
        known = len(problems)
        packages, remotes = [*_packages(service, problems)], _remotes(service, "server.json", problems)
        if not packages and not remotes and len(problems) == known:
            what = "server.json has neither a package nor a URL"
            message = f"{what}, because the source declares none that others can use"
            fix = "declare the package with `install`, or read the server by its URL"
            problems.append(without("server.json", message, fix))
        yield json_document("server.json", {"$schema": _SCHEMA, **identity, "packages": packages, "remotes": remotes})
    yield from problems


def _server_identity(rendering: Rendering, format_name: str, problems: list[Problem]) -> dict[str, Any] | None:
    """Returns what server.json and a server card say about a server itself; `None` if the format is left out."""
    service = rendering.service
    if service.kind != "mcp":
        return None
    namespace, version = namespace_of(service, rendering.options.publisher), exact_version(service)
    if namespace is None:
        problems.append(left_out(format_name, "the source does not declare who publishes the server", PUBLISH_FIX))
        return None
    if version is None:
        problems.append(left_out_unversioned(format_name))
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


def _remotes(service: Service, path: str, problems: list[Problem]) -> list[dict[str, Any]]:
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
