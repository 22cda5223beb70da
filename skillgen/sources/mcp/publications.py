"""Servers that published documents list: a server.json, the response of a registry, a server card, a catalogue (X-43).

They are remotes and packages, and untrusted: none is contacted or started unless the user names it. No variables of the
environment are used, only values from `--env`, and a program that is started gets no variable with a published value:
`NODE_OPTIONS` or `PATH` would change what runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import UsageError
from skillgen.model.resource import PACKAGE_MANAGERS, ClientEntry
from skillgen.model.service import Service
from skillgen.model.values import Json, Origin
from skillgen.security.secrets import Secrets, public_url, secrets_from_environment
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.mcp.target import ServerTarget, refuse_bad_url
from skillgen.text import lazy_re as re

SSE = ("sse",)
"""Types of the HTTP+SSE transport."""

_RUNNERS: Mapping[str, tuple[str, ...]] = {
    "npm": ("npx", "-y"),
    "pypi": ("uvx",),
    "oci": ("docker", "run", "-i", "--rm"),
}
"""Type of a package (server.json, `registryType`) to the command that starts it."""

_PACKAGE = re.compile(
    r"(?:npm (?:@\w[\w.-]*/)?\w[\w.-]*|pypi \w[\w.-]*|oci (?:\w[\w.:-]*/)*\w[\w.:@-]*)(?: \w[\w.+-]*)?\Z", re.ASCII
)
"""Type, name and version of a package; a runner would also accept a path, a URL or an option as a name."""

_FILE_NAME = re.compile(r"\.(?:tgz|tar|gz|whl|zip)\Z", re.IGNORECASE)
"""The end of a name that a runner takes for a file in the current folder."""

_REMOTE = ("type", "url", "headers", "variables")
_PACKAGE_MEMBERS = (
    *("registryType", "identifier", "version", "transport"),
    *("runtimeArguments", "packageArguments", "environmentVariables"),
)
"""The members of a remote and of a package that count: with those of the other, a label would not say what is used."""


_WAYS_LIMIT = 200
"""Remotes, packages and cards that are read of one document."""

_LINKED = ("application/mcp-server-card+json", "application/ai-catalog+json")
"""Types of the entries of a catalogue whose URL is that of a document with servers (server cards, "Discovery")."""


def published_ways(data: Json) -> dict[str, dict[str, Json]]:
    """Returns the remotes, packages and linked cards of a published document by generated names, such as `npm-2`."""
    top = as_dict(data)
    listed = _listed(top)
    ways: dict[str, dict[str, Json]] = {}
    for item in listed or [top]:
        server = as_dict(item.get("server")) or as_dict(item.get("data")) or item
        name = text_of(server, "name") or text_of(item, "displayName") or text_of(item, "identifier")
        prefix = f"{name}:" if len(listed) > 1 else ""
        for kind, way in _ways_of(server):
            if len(ways) == _WAYS_LIMIT:
                return ways
            names = (prefix + kind, *(f"{prefix}{kind}-{number}" for number in range(2, len(ways) + 3)))
            ways[next(name for name in names if name not in ways)] = way
    return ways


def _listed(top: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Returns the entries of a registry or a catalogue, also those of a catalogue in an entry."""
    entries = [as_dict(item) for key in ("servers", "entries") for item in as_list(top.get(key))]
    links = [link for item in as_list(top.get("linkset")) for link in as_list(as_dict(item).get("service-meta"))]
    # RFC 9727: the card of a server is a link like another.
    entries += [{"type": link.get("type"), "url": link.get("href")} for link in map(as_dict, links)]
    nested = [as_dict(inner) for item in entries for inner in as_list(as_dict(item.get("data")).get("entries"))]
    return [*entries, *nested]


def _ways_of(server: Mapping[str, Json]) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yields the remotes, also of SEP-1649 (`transport`) and SEP-1960 (`endpoints`), and the packages of a server; the
    card that an entry of a catalogue links to.
    """
    if server.get("type") in _LINKED and (url := text_of(server, "url")) is not None:
        yield "card", {"card": url}
    remotes = [*as_list(server.get("remotes")), server.get("transport"), *as_list(server.get("endpoints"))]
    for remote in map(as_dict, remotes):
        if text_of(remote, "url") is not None:
            yield "remote", {key: remote[key] for key in _REMOTE if key in remote}
    for package in map(as_dict, as_list(server.get("packages"))):
        if text_of(package, "identifier") is not None:
            known = {key: package[key] for key in _PACKAGE_MEMBERS if key in package}
            yield text_of(package, "registryType") or "package", known


def _command_of_package(kind: str, name: str, version: str | None, env: Iterable[str]) -> tuple[str, ...]:
    """Returns the command that starts a package with variables; empty for what is not a package of a known type."""
    is_package = kind in _RUNNERS and _PACKAGE.match(" ".join(filter(None, (kind, name, version))))
    if not is_package or _FILE_NAME.search(name):
        return ()
    sign = ":" if kind == "oci" else "@"
    variables = [item for variable in env for item in ("-e", variable)] if kind == "oci" else []
    return (*_RUNNERS[kind], *variables, f"{name}{sign}{version}" if version and sign not in name[1:] else name)


def with_installed_entry(service: Service) -> Service:
    """Returns a server with the client entry that starts its package, if neither a command nor a URL is known."""
    entry = service.client_entry or ClientEntry()
    if entry.command or entry.transport != "stdio" or service.endpoints:
        return service
    env = dict.fromkeys((*service.requirements.env, *entry.env))
    installed = (service.install or {}).items()
    packages = ((PACKAGE_MANAGERS.get(manager.lower(), ""), package) for manager, package in installed)
    commands = (_command_of_package(kind, package, None, env) for kind, package in packages)
    if not (command := next(filter(None, commands), ())):
        return service
    origins = dict(service.origins or {})
    # The author of the documents declares all of `install`, a source its members.
    origins["client_entry"] = origins.get("install", Origin("inferred", "install"))
    return replace(service, client_entry=ClientEntry(command=command, env=entry.env), origins=origins)


class PublishedWay(Struct):
    """A remote or a package. It is untrusted: only values from `--env` are filled in."""

    raw: Mapping[str, Json]
    where: str
    given: Mapping[str, str]
    secrets: Secrets = Secrets()

    def target(self, timeout_s: float) -> ServerTarget:
        """Returns the target of the remote or package.

        Raises:
            UsageError: a value is missing, or skillgen cannot start such a package.
        """
        if (card := text_of(self.raw, "card")) is not None:
            what, url = "is a link to a document that lists the server", public_url(card)
            raise UsageError(what, where=self.where, fix=f"read that: skillgen from-server --config {url}")
        if "identifier" in self.raw:
            env = dict(self._named_values("environmentVariables", without=("value", "default")))
            kind = text_of(self.raw, "registryType") or ""
            package = kind, text_of(self.raw, "identifier") or "", text_of(self.raw, "version")
            is_stdio = text_of(self.raw.get("transport"), "type") in (None, "stdio")
            # Options of a runner are dangerous: one of Docker can mount any folder.
            if not (start := _command_of_package(*package, env)) or not is_stdio or self.raw.get("runtimeArguments"):
                what = f"skillgen does not start this package ({kind or 'of no registryType'})"
                fix = "start it with a command of your own: skillgen from-server -- COMMAND"
                raise UsageError(what, where=self.where, fix=fix)
            command = (*start, *self._arguments())
            return ServerTarget(command=command, env=env, extra_secrets=self.secrets, timeout_s=timeout_s)
        url = self._filled_in(text_of(self.raw, "url") or "", as_dict(self.raw.get("variables")))
        refuse_bad_url(url, self.where)
        headers = tuple(self._named_values("headers"))
        is_sse = self.raw.get("type") in SSE
        return ServerTarget(url=url, is_sse=is_sse, headers=headers, extra_secrets=self.secrets, timeout_s=timeout_s)

    def _arguments(self) -> Iterator[str]:
        for item in map(as_dict, as_list(self.raw.get("packageArguments"))):
            flag = text_of(item, "name") if item.get("type") == "named" else None
            value = self._value(item, (flag or text_of(item, "valueHint") or "argument").lstrip("-"))
            if value is not None:
                yield value if flag is None else f"{flag}={value}"

    def _named_values(self, key: str, without: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
        """Yields names with their values: declared, unless by the members `without`, or from `--env`.

        Raises:
            UsageError: a required value is missing.
        """
        for item in map(as_dict, as_list(self.raw.get(key))):
            known = {member: value for member, value in item.items() if member not in without}
            if (name := text_of(item, "name")) is not None and (value := self._value(known, name)) is not None:
                yield name, value

    def _value(self, item: Mapping[str, Json], name: str) -> str | None:
        """Returns the declared value, else the one from `--env`, else the default."""
        if isinstance(text := item.get("value"), str):
            return self._filled_in(text, as_dict(item.get("variables")))
        value = self.given.get(name, text_of(item, "default"))
        if value is None and item.get("isRequired") is True:
            raise UsageError(f"{name} has no value", where=self.where, fix=f"give --env {name}=VALUE")
        if value is not None and name in self.given:
            is_secret = item.get("isSecret") is True
            found = Secrets({value: f"the variable {name}"}) if is_secret else secrets_from_environment({name: value})
            self.secrets |= found
        return value

    def _filled_in(self, text: str, variables: Mapping[str, Json]) -> str:
        """Returns a text with the values of its `{variables}`; all of them are required."""
        return re.sub(
            r"(?<!\$)\{([A-Za-z_][\w-]*)\}",
            lambda match: self._value({**as_dict(variables.get(match[1])), "isRequired": True}, match[1]) or "",
            text,
        )
