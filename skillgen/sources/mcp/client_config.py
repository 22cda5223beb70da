"""Reads the configuration of MCP clients, such as `.mcp.json`, and writes a server's entry for it.

`.mcp.json`, Claude Desktop, Cursor, Windsurf and Gemini CLI have the servers under `mcpServers`, VS Code under
`servers`, and in its settings under `mcp`. All files are JSON, possibly with comments and trailing commas.

Published documents are read as well: a server.json, the response of a registry, a server card or a catalog of them
(X-43). They list remotes and packages, which are untrusted: none is contacted or started unless the user names it, and
no variables of the environment are used, only values from `--env`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from skillgen.errors import UsageError
from skillgen.model.resource import ClientEntry
from skillgen.model.values import Json
from skillgen.security.addresses import is_private, public_url
from skillgen.security.credentials import looks_random, redact
from skillgen.security.secrets import Secrets, is_secret_setting, secrets_from_environment
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.mcp.target import ServerTarget, Transport
from skillgen.text import lazy_re as re

_VARIABLE_NAME = re.compile(r"\$\{([^${}]*)\}")
_NAME = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?\Z", re.DOTALL)
_EDITOR_ONLY = ("command:", "config:", "extensionInstallFolder:")


_EDITOR_VARIABLES: Mapping[str, Callable[[Path], str]] = {
    "workspaceFolder": str,
    "workspaceRoot": str,
    "workspaceFolderBasename": lambda folder: folder.name,
    "userHome": lambda folder: str(Path.home()),
    "cwd": str,
    "pathSeparator": lambda folder: os.sep,
    "/": lambda folder: os.sep,
}
"""Variables of the editors; `${workspaceFolder:NAME}` names one of several folders."""

_SIZE_LIMIT_BYTES = 4 * 1024 * 1024

_EDITOR_FOLDERS = (".vscode", ".cursor", ".roo", ".kiro", ".gemini", ".windsurf")
"""Folders of editors inside a project."""

# An unterminated string or comment extends to the end: searching for its end from each start would be quadratic.
_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_TRAILING_COMMA = re.compile(r'"(?:\\.|[^"\\\n])*"?|,(?=\s*[}\]])')

_URL_KEYS = ("url", "httpUrl", "serverUrl")
_SSE = ("sse",)
_HTTP = ("http", "streamable-http", "streamableHttp", "streamable_http")

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig:
    """The configuration file of a client, or a published document."""

    path: Path
    servers: Mapping[str, dict[str, Json]] = field(repr=False)
    """Name to entry, raw; in the order of the file."""

    inputs: Mapping[str, dict[str, Json]] = field(default_factory=dict, repr=False)
    """Id to the values that VS Code asks its user for, raw."""

    is_published: bool = False
    """True if it is a published document: its servers are remotes and packages."""

    @property
    def folder(self) -> Path:
        """The folder that an editor would have opened."""
        parent = self.path.absolute().parent
        return parent.parent if parent.name in _EDITOR_FOLDERS else parent

    def chosen(self, name: str | None) -> tuple[str, ...]:
        """Returns the names of the servers to read: `name`, or all enabled servers.

        Raises:
            UsageError: there is no such server.
        """
        if name is not None:
            if name not in self.servers:
                raise UsageError(
                    f"has no server {name!r}", where=str(self.path), fix=f"choose from {', '.join(self.servers)}"
                )
            return (name,)
        if self.is_published:
            what = "lists ways to reach a server; skillgen uses only one that you name"
            fix = f"choose one with --server NAME: {', '.join(self._labels())}"
            raise UsageError(what, where=str(self.path), fix=fix)
        names = tuple(key for key, entry in self.servers.items() if not is_switched_off(entry))
        if not names:
            raise UsageError("switches all its servers off", where=str(self.path), fix="name one with --server NAME")
        return names

    def _labels(self) -> Iterator[str]:
        for name, way in self.servers.items():
            url = text_of(way, "url")
            yield f"{name} ({text_of(way, 'identifier') if url is None else public_url(url)})"

    def target(
        self, name: str, given: Mapping[str, str], environment: Mapping[str, str], *, timeout_s: float
    ) -> ServerTarget:
        """Returns one of its servers with variables filled in.

        Raises:
            UsageError: a variable has no value, or the entry is invalid.
        """
        where = f"{self.path}, server {name!r}"
        if self.is_published:
            return _PublishedWay(self.servers[name], where, given).target(timeout_s)
        return _Entry(self, name, where, given, environment).target(timeout_s)


def read_client_config(path: Path) -> ClientConfig:
    """Reads the configuration file of a client, or a published document.

    Raises:
        UsageError: it cannot be read, or contains no servers.
    """
    where = str(path)
    try:
        with path.open("rb") as file:
            content = file.read(_SIZE_LIMIT_BYTES + 1)
        if len(content) > _SIZE_LIMIT_BYTES:
            raise UsageError("is too large for a client's server file", where=where, fix="check --config")
        data = json.loads(without_comments(content.decode("utf-8-sig")))
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=where, fix="check --config") from None
    except UnicodeDecodeError:
        raise UsageError("is not text in UTF-8", where=where, fix="save it as UTF-8") from None
    except json.JSONDecodeError as error:
        what = f"is not JSON: line {error.lineno}, column {error.colno}: {error.msg}"
        raise UsageError(what, where=where, fix="correct it there") from None
    except RecursionError:
        raise UsageError("is nested too deeply to be read", where=where, fix="write it with fewer levels") from None
    owner = as_dict(data)
    if "mcp" in owner and not _servers_of(owner):
        owner = as_dict(owner["mcp"])  # in VS Code's settings
    servers = {name: entry for name, entry in _servers_of(owner).items() if isinstance(entry, dict)}
    if not servers and (ways := _published_ways(data)):
        return ClientConfig(path=path, servers=ways, is_published=True)
    if not servers:
        fix = "give a file with `mcpServers` (Claude, Cursor) or `servers` (VS Code), or a server.json"
        raise UsageError("names no MCP servers", where=where, fix=fix)
    inputs = {key: item for item in as_list(owner.get("inputs")) if (key := text_of(item, "id")) is not None}
    return ClientConfig(path=path, servers=servers, inputs=inputs)


def without_comments(text: str) -> str:
    """Returns JSON with blanks for comments and trailing commas, so that lines and columns do not change."""

    def blank(match: re.Match[str]) -> str:
        return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])

    return _TRAILING_COMMA.sub(blank, _COMMENT.sub(blank, text))


def is_switched_off(entry: Mapping[str, Json]) -> bool:
    """True if an entry is disabled."""
    return entry.get("disabled") is True or entry.get("enabled") is False


def _servers_of(owner: Mapping[str, Json]) -> dict[str, Json]:
    for key in ("mcpServers", "servers", "context_servers"):
        if isinstance(owner.get(key), dict):
            return as_dict(owner[key])
    # The file of a Claude Code plugin may have the servers at the top level.
    is_bare = bool(owner) and all(any(key in as_dict(entry) for key in ("command", "url")) for entry in owner.values())
    return dict(owner) if is_bare else {}


def _published_ways(data: Json) -> dict[str, dict[str, Json]]:
    """Returns the remotes and packages of a published document by generated names, such as `npm-2`."""
    top = as_dict(data)
    listed = [as_dict(item) for key in ("servers", "entries") for item in as_list(top.get(key))]
    ways: dict[str, dict[str, Json]] = {}
    for item in listed or [top]:
        server = as_dict(item.get("server")) or as_dict(item.get("data")) or item
        prefix = f"{text_of(server, 'name') or text_of(item, 'displayName')}:" if len(listed) > 1 else ""
        for kind, way in _ways_of(server):
            names = (prefix + kind, *(f"{prefix}{kind}-{number}" for number in range(2, len(ways) + 3)))
            ways[next(name for name in names if name not in ways)] = way
    return ways


def _ways_of(server: Mapping[str, Json]) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yields the remotes, also of SEP-1649 (`transport`) and SEP-1960 (`endpoints`), and the packages of a server."""
    remotes = [*as_list(server.get("remotes")), server.get("transport"), *as_list(server.get("endpoints"))]
    for remote in map(as_dict, remotes):
        if text_of(remote, "url") is not None:
            yield "remote", remote
    for package in map(as_dict, as_list(server.get("packages"))):
        if text_of(package, "identifier") is not None:
            yield text_of(package, "registryType") or "package", package


class _PublishedWay:
    """A remote or a package. It is untrusted: only values from `--env` are filled in."""

    def __init__(self, raw: Mapping[str, Json], where: str, given: Mapping[str, str]) -> None:
        self._raw = raw
        self._where = where
        self._given = given
        self._secrets = Secrets()

    def target(self, timeout_s: float) -> ServerTarget:
        """Returns the target of the remote or package.

        Raises:
            UsageError: a value is missing, or skillgen cannot start such a package.
        """
        if "identifier" in self._raw:
            env = dict(self._named_values("environmentVariables"))
            command = self._command(env)
            return ServerTarget(command=command, env=env, extra_secrets=self._secrets, timeout_s=timeout_s)
        url = self._filled_in(text_of(self._raw, "url") or "", as_dict(self._raw.get("variables")))
        if not url.startswith(("http://", "https://")):
            raise UsageError("its url is not an http:// or https:// URL", where=self._where, fix="choose another one")
        headers = tuple(self._named_values("headers"))
        is_sse = self._raw.get("type") in _SSE
        return ServerTarget(url=url, is_sse=is_sse, headers=headers, extra_secrets=self._secrets, timeout_s=timeout_s)

    def _command(self, env: Mapping[str, str]) -> tuple[str, ...]:
        kind, identifier = text_of(self._raw, "registryType") or "", text_of(self._raw, "identifier") or ""
        is_stdio = text_of(as_dict(self._raw.get("transport")), "type") in (None, "stdio")
        version = text_of(self._raw, "version")
        is_package = kind in _RUNNERS and _PACKAGE.match(" ".join(filter(None, (kind, identifier, version))))
        # Options of a runner are dangerous: one of Docker can mount any folder.
        if not is_package or not is_stdio or self._raw.get("runtimeArguments"):
            what = f"skillgen does not start this package ({kind or 'of no registryType'})"
            fix = "start it with a command of your own: skillgen from-server -- COMMAND"
            raise UsageError(what, where=self._where, fix=fix)
        sign = ":" if kind == "oci" else "@"
        package = f"{identifier}{sign}{version}" if version and sign not in identifier[1:] else identifier
        variables = [item for name in env for item in ("-e", name)] if kind == "oci" else []
        return (*_RUNNERS[kind], *variables, package, *self._arguments())

    def _arguments(self) -> Iterator[str]:
        for item in map(as_dict, as_list(self._raw.get("packageArguments"))):
            flag = text_of(item, "name") if item.get("type") == "named" else None
            value = self._value(item, (flag or text_of(item, "valueHint") or "argument").lstrip("-"))
            if value is not None:
                yield value if flag is None else f"{flag}={value}"

    def _named_values(self, key: str) -> Iterator[tuple[str, str]]:
        for item in map(as_dict, as_list(self._raw.get(key))):
            if (name := text_of(item, "name")) is not None and (value := self._value(item, name)) is not None:
                yield name, value

    def _value(self, item: Mapping[str, Json], name: str) -> str | None:
        """Returns the declared value, else the one from `--env`, else the default."""
        if isinstance(text := item.get("value"), str):
            return self._filled_in(text, as_dict(item.get("variables")))
        value = self._given.get(name, text_of(item, "default"))
        if value is None and item.get("isRequired") is True:
            raise UsageError(f"{name} has no value", where=self._where, fix=f"give --env {name}=VALUE")
        if value is not None and name in self._given:
            is_secret = item.get("isSecret") is True
            self._secrets |= (
                Secrets({value: f"the variable {name}"}) if is_secret else secrets_from_environment({name: value})
            )
        return value

    def _filled_in(self, text: str, variables: Mapping[str, Json]) -> str:
        """Returns a text with the values of its `{variables}`; all of them are required."""
        return re.sub(
            r"(?<!\$)\{([A-Za-z_][\w-]*)\}",
            lambda match: self._value({**as_dict(variables.get(match[1])), "isRequired": True}, match[1]) or "",
            text,
        )


class _Entry:
    """One server of a client's file, with its variables filled in as the clients do.

    Claude Code writes `${NAME}` and `${NAME:-default}`; VS Code, Cursor and Windsurf `${env:NAME}` and
    `${workspaceFolder}`; VS Code `${input:ID}`. Other text is unchanged, since an argument may contain a script.
    """

    def __init__(
        self, config: ClientConfig, name: str, where: str, given: Mapping[str, str], environment: Mapping[str, str]
    ) -> None:
        """`given`, from `--env`, overrides the environment of skillgen and answers inputs by their ids."""
        self._raw = config.servers[name]
        self._folder = config.folder
        self._inputs = config.inputs
        self._where = where
        self._given = given
        self._values = {**environment, **given}
        self._secrets = Secrets()

    def target(self, timeout_s: float) -> ServerTarget:
        """Returns the target of the entry.

        Raises:
            UsageError: a variable has no value, or the entry is invalid.
        """
        kind = self._raw.get("type", self._raw.get("transport"))
        url = next((self._raw[key] for key in _URL_KEYS if isinstance(self._raw.get(key), str)), None)
        if url is not None and kind in (None, *_HTTP, *_SSE):
            headers, url = self._texts("headers"), self._fill_in(url)
            if not url.startswith(("http://", "https://")):
                raise self._error("the url is not an http:// or https:// URL", "write one such as https://HOST/PATH")
            target = ServerTarget(url=url, is_sse=kind in _SSE, headers=tuple(headers.items()), timeout_s=timeout_s)
        elif isinstance(self._raw.get("command"), str) and kind in (None, "stdio", "local"):
            words = [self._raw["command"], *(item for item in as_list(self._raw.get("args")) if not _is_nested(item))]
            command = tuple(self._fill_in(str(word)) for word in words)
            env = {**self._env_file(), **self._texts("env")}
            cwd = self._path("cwd")
            if cwd is not None and not cwd.is_dir():
                raise self._error("its cwd is not a folder", "correct `cwd`")
            target = ServerTarget(command=command, env=env, cwd=cwd or self._folder, timeout_s=timeout_s)
        elif kind is not None and kind not in ("stdio", *_HTTP, *_SSE):
            raise self._error(f"the type {str(kind)[:40]!r} is not supported", "use stdio, http or sse")
        else:
            raise self._error("the entry has neither a command nor a url", "add one of them")
        return replace(target, extra_secrets=self._secrets)

    def _path(self, key: str) -> Path | None:
        declared = self._raw.get(key)
        if not isinstance(declared, str) or not declared:
            return None
        return self._folder / Path(self._fill_in(declared)).expanduser()

    def _texts(self, key: str) -> dict[str, str]:
        """Returns a member that maps names to strings; numbers are converted, null is left out (VS Code)."""
        return {
            name: self._fill_in(value if isinstance(value, str) else json.dumps(value))
            for name, value in as_dict(self._raw.get(key)).items()
            if value is not None and not _is_nested(value)
        }

    def _env_file(self) -> dict[str, str]:
        path = self._path("envFile")
        try:
            lines = path.read_text("utf-8-sig").splitlines() if path is not None else []
        except (OSError, UnicodeDecodeError):
            raise self._error("its envFile cannot be read", "correct `envFile`") from None
        pairs = (
            line.strip().removeprefix("export ").partition("=") for line in lines if not line.lstrip().startswith("#")
        )
        return {name.strip(): _unquoted(value.strip()) for name, equals, value in pairs if equals and name.strip()}

    def _fill_in(self, text: str) -> str:
        return _VARIABLE_NAME.sub(lambda match: self._value(match[1], match[0]), text)

    def _value(self, inner: str, placeholder: str) -> str:
        kind, _, key = inner.partition(":")
        if (editor_value := _EDITOR_VARIABLES.get(kind)) is not None:
            return editor_value(self._folder)
        if inner.startswith("input:"):
            return self._input(key)
        if inner.startswith(_EDITOR_ONLY):
            raise self._error(f"only the editor knows {placeholder}", "write its value instead")
        match = _NAME.match(inner.removeprefix("env:"))
        if match is None:
            return placeholder
        name = match["name"]
        value = self._values.get(name, match["default"])
        if value is None:
            raise self._error(f"{name} is not set", f"set it, or give --env {name}=VALUE")
        self._secrets |= secrets_from_environment({name: value})
        return value

    def _input(self, key: str) -> str:
        """Returns an input of VS Code: from a variable with its id, or with the id in capitals, or its default."""
        declared = self._inputs.get(key)
        name = re.sub(r"[^A-Za-z0-9]+", "_", key).upper()
        value = self._given.get(key, self._values.get(name, text_of(declared, "default")))
        if value is None:
            raise self._error(f"the input {key!r} has no value here", f"give --env {key}=VALUE, or set {name}")
        is_secret = declared is None or declared.get("password") is True
        self._secrets |= Secrets({value: f"the input {key}"}) if is_secret else secrets_from_environment({key: value})
        return value

    def _error(self, what: str, fix: str) -> UsageError:
        return UsageError(what, where=self._where, fix=fix)


def _is_nested(value: Json) -> bool:
    return isinstance(value, (dict, list))


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if is_quoted else value


_LOCAL_NAMES = """
    bash bundle bun cargo cmd composer deno dotnet env fish go java make node nodejs npm perl php pnpm powershell pwsh
    ruby sh sudo ts-node tsx uv wsl yarn zsh
"""
_LOCAL = frozenset(_LOCAL_NAMES.split())
"""Programs that run local files, unless `_PACKAGE_RUNNERS` has them with their first argument."""

_PACKAGE_RUNNERS = {
    ("bun", "x"),
    ("deno", "run"),
    ("npm", "exec"),
    ("pnpm", "dlx"),
    ("uv", "tool"),
    ("yarn", "dlx"),
}
"""A program and its first argument, if they run a package."""

_PYTHON = re.compile(r"py(thon)?(\d+(\.\d+)?)?(\.exe)?")
_PROGRAM = re.compile(r"[A-Za-z0-9][\w.+-]{0,63}")
_ASSIGNMENT = re.compile(r"(?<![A-Z0-9_])[0-9_]*[A-Z][A-Z0-9_]*=.", re.DOTALL)
_HAS_VARIABLE = re.compile(r"[$%]\w|\$\{")
_DRIVE = re.compile(r"[A-Za-z]:($|[^/])")
_FILE = re.compile(
    r"\.(py|js|mjs|cjs|ts|mts|jar|rb|sh|php|pl|ps1|bat|cmd|exe|dll|json|ya?ml|toml|env|db|sqlite3?|pem|key)$",
    re.IGNORECASE,
)
_SCOPED = re.compile(r"@[\w.~-]+/[\w.~-]+(@[\w.^~*-]+)?")


def client_entry_of(target: ServerTarget, transport: Transport) -> ClientEntry:
    """Returns the public facts on a target: the names of variables and headers, and a command that others can run.

    A command is portable if it is a runner and its package, a Python module or a bare program; no value in the entry
    may be a secret.
    """
    return ClientEntry(
        transport=transport,
        command=target.command if target.command and _is_portable(target) else (),
        env=tuple(sorted(target.env)),
        headers=tuple(sorted({name for name, _ in target.headers}, key=str.lower)),
    )


def _is_portable(target: ServerTarget) -> bool:
    program, *arguments = target.command
    if target.cwd is not None or not _PROGRAM.fullmatch(program) or _FILE.search(program):
        return False
    if _PYTHON.fullmatch(program):
        if "-m" not in arguments[:2]:
            return False
    elif program in _LOCAL and (program, *arguments[:1]) not in _PACKAGE_RUNNERS:
        return False
    secrets = target.secrets()
    return all(secrets.hide(argument) == argument and _is_portable_argument(argument) for argument in arguments)


def _is_portable_argument(argument: str) -> bool:
    """True if an argument means the same on another machine and contains no private value."""
    if not argument.isprintable() or _ASSIGNMENT.search(argument) or _HAS_VARIABLE.search(argument):
        return False
    if is_secret_setting(argument.partition("=")[0]) and argument.startswith("-"):
        return False
    if redact(argument)[0] != argument or "\\" in argument or str(Path.home()) in argument:
        return False
    value = argument.partition("=")[2] if argument.startswith("-") else argument
    if "://" in value:
        return public_url(value) == value and not is_private(urlsplit(value).hostname or "")
    if _SCOPED.fullmatch(value):
        return True
    is_file = _DRIVE.match(value) or _FILE.search(value)
    parts = re.split("[=,:]", argument)
    return not is_file and not any(part.startswith(("/", "~", ".")) or looks_random(part) for part in parts)
