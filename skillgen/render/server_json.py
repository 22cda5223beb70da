"""server.json, the entry of an MCP server in a registry (MCP registry, 2025-12-11).

The author of a server publishes it, so it states only what the source or the author declares: a range is not written
as the version of a package, and a URL that only this network reaches is left out. Each omission is a problem.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from skillgen.errors import Problem
from skillgen.model.document import Document
from skillgen.model.service import Service
from skillgen.model.values import Icon
from skillgen.render.access import URL_VARIABLE
from skillgen.render.identity import plain, short_description, skill_name, title
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
from skillgen.render.skill import Rendering
from skillgen.text import lazy_re as re
from skillgen.text.markdown import one_line
from skillgen.text.summary import clip

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
    ("uv", "tool", "run"): ("pypi", None),
    ("pipx", "run"): ("pypi", None),
    ("docker", "run"): ("oci", "docker"),
}
"""The beginning of a command that runs a package, to the type of registry and the hint for clients."""

_MANAGERS = {
    **dict.fromkeys(("npm", "npx", "bun", "pnpm", "yarn"), "npm"),
    **dict.fromkeys(("pip", "pipx", "pypi", "uv", "uvx"), "pypi"),
    **dict.fromkeys(("docker", "oci"), "oci"),
}
"""A package manager of `install` to the type of registry."""

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
        package = _package(kind, *_without_own_flags(command[len(runner) :]))
        if package is None:
            message = f"the options of {' '.join(runner)} in the command have no place in server.json"
            problems.append(without("server.json", message, "declare the package with `install`"))
        else:
            origin = (service.origins or {}).get("client_entry")
            if package["version"] is None and origin is not None and origin.source == "--publish":
                package["version"] = exact_version(service)  # its publisher releases both as one
            yield _described(package, {"runtimeHint": hint, "environmentVariables": variables}, problems)
            return
    seen: set[str] = set()
    for manager, text in (service.install or {}).items():
        kind = _MANAGERS.get(manager.lower(), "")
        package = _package(kind, [text]) if kind and kind not in seen else None
        if package is not None:
            seen.add(kind)
            yield _described(package, {"environmentVariables": variables}, problems)


def _without_own_flags(words: tuple[str, ...]) -> tuple[list[str], bool]:
    """Returns a package with its arguments, and whether no other option of the runner is before it.

    `-e NAME` passes a variable on, which is among the environment variables.
    """
    left = list(words)
    while left and left[0].startswith("-"):
        flag = left.pop(0)
        if flag in ("-e", "--env") and left and VARIABLE.fullmatch(left[0]):
            left.pop(0)
        elif flag not in _OWN_FLAGS:
            return left, False
    return left, True


def _package(kind: str, words: list[str], is_complete: bool = True) -> dict[str, Any] | None:
    match = _PACKAGES[kind].fullmatch(words[0]) if words and is_complete else None
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
