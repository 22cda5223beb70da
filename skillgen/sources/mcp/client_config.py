"""Reads the configuration of MCP clients, such as `.mcp.json`, and writes a server's entry for it.

`.mcp.json`, Claude Desktop, Cursor, Windsurf and Gemini CLI have the servers under `mcpServers`, VS Code under
`servers`, and in its settings under `mcp`. `~/.claude.json` has those of a folder under `projects`, too: only those of
the current folder are read. All files are JSON, possibly with comments and trailing commas.

The folder of a plugin, a URL and a domain are read as well, and published documents (X-43). What the user did not write
is untrusted: it lists servers, and the user names the one to read.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from skillgen.errors import ProblemLog, SourceError, UsageError
from skillgen.model.resource import ClientEntry
from skillgen.model.values import Json
from skillgen.security.credentials import looks_random, redact
from skillgen.security.secrets import Secrets, is_private, is_secret_setting, public_url, secrets_from_environment
from skillgen.sources import detect
from skillgen.sources.documents import is_url, load_text, text_of_file
from skillgen.sources.http import FetchOptions
from skillgen.sources.json_access import as_dict, as_list, json_from_text, json_or_none, text_of
from skillgen.sources.mcp.publications import SSE, PublishedWay, published_ways
from skillgen.sources.mcp.target import ServerTarget, Transport, refuse_bad_url
from skillgen.text import lazy_re as re
from skillgen.text.markdown import first_of, one_line
from skillgen.text.summary import clip

_VARIABLE_NAME = re.compile(r"\$\{([^${}]*)\}")
_NAME = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?\Z", re.DOTALL)
_EDITOR_ONLY = ("command:", "config:", "extensionInstallFolder:")


_FOLDER = ("workspaceFolder", "workspaceRoot", "cwd", "PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT", "CURSOR_PLUGIN_ROOT")
_EDITOR_VARIABLES: Mapping[str, Callable[[Path], str]] = {
    **dict.fromkeys(_FOLDER, str),
    **dict.fromkeys(("pathSeparator", "/"), lambda folder: os.sep),
    "workspaceFolderBasename": lambda folder: folder.name,
    "userHome": lambda folder: str(Path.home()),
}
"""Variables of the editors and of plugins; `${workspaceFolder:NAME}` names one of several folders."""

_EDITOR_FOLDERS = (".vscode", ".cursor", ".roo", ".kiro", ".gemini", ".windsurf")
"""Folders of editors inside a project."""

# An unterminated string or comment extends to the end: searching for its end from each start would be quadratic.
_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_TRAILING_COMMA = re.compile(r'"(?:\\.|[^"\\\n])*"?|,(?=\s*[}\]])')

_URL_KEYS = ("url", "httpUrl", "serverUrl")
_HTTP = ("http", "streamable-http", "streamableHttp", "streamable_http")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig:
    """The servers that a client's file, a plugin or a published document lists."""

    name: str
    """For messages: the file, the folder or the URL."""

    folder: Path | None
    """The folder that an editor would have opened, or that of the plugin; `None` for what was fetched."""

    servers: Mapping[str, dict[str, Json]] = field(repr=False)
    """Name to entry, raw; in the order of the file."""

    inputs: Mapping[str, dict[str, Json]] = field(default_factory=dict, repr=False)
    """Id to the values that VS Code asks its user for, raw."""

    ways: frozenset[str] = frozenset()
    """The names of the entries that are remotes, packages and cards of a published document."""

    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """The names of servers that the client only starts in other folders, with a folder of each."""

    is_foreign: bool = False
    """True if the user did not write it: only a server that is named is read, with values from `--env` alone."""

    def chosen(self, name: str | None) -> tuple[str, ...]:
        """Returns the names of the servers to read: `name`, or all enabled servers.

        Raises:
            UsageError: there is no such server, or the user has to name one.
        """
        if name is not None:
            if name not in self.servers:
                fix = f"choose from {first_of(self.servers, 20)}"
                if (folder := self.elsewhere.get(name)) is not None:
                    fix = f"run skillgen in {folder}, for which it is"
                raise UsageError(f"has no server {name!r}", where=self.name, fix=fix)
            return (name,)
        if self.is_foreign:
            what = "lists ways to reach a server; skillgen uses only one that you name"
            fix = f"choose one with --server NAME: {first_of(self._labels(), 20)}"
            raise UsageError(what, where=self.name, fix=fix)
        enabled = ((key, item) for key, item in self.servers.items() if item.get("disabled") is not True)
        names = tuple(key for key, item in enabled if item.get("enabled") is not False)
        if not names:
            places = first_of((f"{key} in {folder}" for key, folder in self.elsewhere.items()), 20)
            what = "switches all its servers off" if self.servers else "has no server for the current folder"
            fix = "name one with --server NAME" if self.servers else f"run skillgen where it is used: {places}"
            raise UsageError(what, where=self.name, fix=fix)
        return names

    def _labels(self) -> Iterator[str]:
        for name, way in self.servers.items():
            url = text_of(way, "card") or text_of(way, "url") if name in self.ways else _used_url(way)
            command = [text_of(way, "identifier") or text_of(way, "command") or "", *as_list(way.get("args"))]
            what = public_url(url) if url is not None else clip(one_line(" ".join(map(str, command))), _LABEL_LIMIT)
            yield f"{name} ({what})"

    def target(
        self, name: str, given: Mapping[str, str], environment: Mapping[str, str], *, timeout_s: float
    ) -> ServerTarget:
        """Returns one of its servers with variables filled in.

        Raises:
            UsageError: a variable has no value, or the entry is invalid.
        """
        where = f"{self.name}, server {name!r}"
        if name in self.ways:
            return PublishedWay(self.servers[name], where, given).target(timeout_s)
        return _Entry(self, self.servers[name], where, given, {} if self.is_foreign else environment).target(timeout_s)


_LABEL_LIMIT = 200
"""Characters of a command in the list of servers to choose from."""


def _used_url(entry: Mapping[str, Json]) -> str | None:
    """Returns the URL of an entry that is contacted; `None` for one that is started."""
    url = next((url for key in _URL_KEYS if isinstance(url := entry.get(key), str)), None)
    return url if entry.get("type", entry.get("transport")) in (None, *_HTTP, *SSE) else None


# -- where servers are listed ------------------------------------------------------------------------------------------

_PLUGIN_FILES = (
    *("mcp.json", ".mcp.json", "plugin.json", ".claude-plugin/plugin.json", ".codex-plugin/plugin.json"),
    *(".cursor-plugin/plugin.json", "server.json", "server-card.json"),
)
"""Files of a plugin that list servers, or name the file that does."""


def read_client_config(source: str | os.PathLike[str], access: FetchOptions | None = None) -> ClientConfig:
    """Reads where servers are listed: in a client's file, a published document, the folder of a plugin or a domain.

    Raises:
        SourceError: the URL or the domain cannot be reached, or lists no servers.
        UsageError: the file or the folder cannot be read, or lists no servers.
    """
    text, access = os.fspath(source), access or FetchOptions()
    text = f"https://{text}" if detect.is_domain(text) else text
    if is_url(text):
        refuse_bad_url(text, text)
        parts = urlsplit(text)
        paths = detect.SERVER_PATHS if parts.path in ("", "/") and not parts.query else ()
        lists = functools.partial(_config_from, name=text, folder=None, is_foreign=True)
        document = detect.discover_document(text, ProblemLog(), access, lists, paths, "a list of MCP servers")
        config = _config_from(document.data, document.name, None, is_foreign=True)
        assert config is not None
        return config
    path = Path(text)
    if path.is_dir():
        return _plugin_config(path)
    data = _json_file(path)
    folder = path.absolute().parent
    folder = folder.parent if folder.name in _EDITOR_FOLDERS else folder
    config = _config_from(data, text, folder, is_foreign=False)
    if config is None:
        unknown = UsageError("names no MCP servers", fix=_GIVE_SERVERS)
        error = detect.wrong_kind_error(data, text, "a list of MCP servers") or unknown
        raise UsageError(error.what, where=text, fix=error.fix)
    return config


_GIVE_SERVERS = "give a file with `mcpServers` (Claude, Cursor) or `servers` (VS Code), a server.json or a domain"


def _config_from(data: Json, name: str, folder: Path | None, *, is_foreign: bool) -> ClientConfig | None:
    owner = as_dict(data)
    if "mcp" in owner and not _servers_of(owner):
        owner = as_dict(owner["mcp"])  # in VS Code's settings
    listed = as_dict(None if is_foreign else owner.get("projects"))
    projects = {Path(place): _servers_of(as_dict(project)) for place, project in listed.items()}
    own = projects.pop(Path.cwd(), {})
    servers = _servers_of(owner) | own
    elsewhere = {key: str(place) for place, others in projects.items() for key in others if key not in servers}
    if servers or elsewhere:
        inputs = {key: item for item in as_list(owner.get("inputs")) if (key := text_of(item, "id")) is not None}
        folder = Path.cwd() if own else folder
        config = ClientConfig(name=name, folder=folder, servers=servers, inputs=inputs, is_foreign=is_foreign)
        return replace(config, elsewhere=elsewhere)
    ways = {} if detect.is_description(data) else published_ways(data)
    config = ClientConfig(name=name, folder=folder, servers=ways, ways=frozenset(ways), is_foreign=True)
    return config if ways else None


_CLIENT_FILE_LIMIT_BYTES = 256 * 1024


def data_of_client_file(path: Path) -> dict[str, Json] | None:
    """Returns the content of a file that lists the servers of a client; a description has servers of another kind."""
    text = text_of_file(path) if path.stat().st_size <= _CLIENT_FILE_LIMIT_BYTES else None
    if text is None or ('"mcpServers"' not in text and '"servers"' not in text):
        return None
    data = as_dict(json_or_none(without_comments(text)))
    return data if detect.is_client_config(data) else None


def _plugin_config(folder: Path) -> ClientConfig:
    """Returns the servers that the files of a plugin list.

    Raises:
        UsageError: a file cannot be read, or none lists servers.
    """
    servers: dict[str, dict[str, Json]] = {}
    ways: frozenset[str] = frozenset()
    for path in (folder / name for name in _PLUGIN_FILES):
        if not path.is_file() or not _is_inside(path, folder):
            continue
        data = as_dict(_json_file(path))
        other = text_of(data, "mcpServers")
        if other is not None and _is_inside(named := folder / other, folder) and named.is_file() and named != path:
            data = as_dict(_json_file(named))
        if (config := _config_from(data, str(path), folder, is_foreign=True)) is not None:
            ways |= frozenset(name for name in config.ways if name not in servers)
            servers = {**config.servers, **servers}
    if not servers:
        what = "is a folder that lists no MCP servers: none of the files of a plugin has one"
        raise UsageError(what, where=str(folder), fix=_GIVE_SERVERS)
    return ClientConfig(name=str(folder), folder=folder.absolute(), servers=servers, ways=ways, is_foreign=True)


def _is_inside(path: Path, folder: Path) -> bool:
    """True if a path is below a folder after resolving symbolic links."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # circular symbolic links, or a null character
        return False


def _json_file(path: Path) -> Json:
    try:
        _, text, _ = load_text(str(path), FetchOptions())
        return json_from_text(without_comments(text), ProblemLog())
    except SourceError as error:
        raise UsageError(error.what, where=str(path), fix=error.fix) from None
    except json.JSONDecodeError as error:
        what = f"is not JSON: line {error.lineno}, column {error.colno}: {error.msg}"
        raise UsageError(what, where=str(path), fix="correct it there") from None
    except RecursionError:
        raise UsageError("is nested too deeply", where=str(path), fix="write it with fewer levels") from None


def without_comments(text: str) -> str:
    """Returns JSON with blanks for comments and trailing commas, so that lines and columns do not change."""

    def blank(match: re.Match[str]) -> str:
        return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])

    return _TRAILING_COMMA.sub(blank, _COMMENT.sub(blank, text))


_LISTS = ("mcpServers", "servers", "context_servers")


def _servers_of(owner: Mapping[str, Json]) -> dict[str, dict[str, Json]]:
    listed = next((as_dict(owner[key]) for key in _LISTS if isinstance(owner.get(key), dict)), None)
    # The file of a Claude Code plugin may have the servers at the top level.
    is_bare = all(any(key in as_dict(entry) for key in ("command", "url")) for entry in owner.values())
    servers = owner if listed is None and is_bare else listed or {}
    return {name: entry for name, entry in servers.items() if isinstance(entry, dict)}


@dataclass(slots=True)
class _Entry:
    """One server of a client's file, with its variables filled in as the clients do.

    Claude Code writes `${NAME}` and `${NAME:-default}`; VS Code, Cursor and Windsurf `${env:NAME}` and
    `${workspaceFolder}`; VS Code `${input:ID}`. Other text is unchanged, since an argument may contain a script.
    """

    config: ClientConfig
    raw: Mapping[str, Json]
    where: str
    given: Mapping[str, str]
    """From `--env`; they override the environment of skillgen, and answer inputs by their ids."""

    environment: Mapping[str, str]
    secrets: Secrets = field(default_factory=Secrets)

    def target(self, timeout_s: float) -> ServerTarget:
        """Returns the target of the entry.

        Raises:
            UsageError: a variable has no value, or the entry is invalid.
        """
        kind = self.raw.get("type", self.raw.get("transport"))
        if (url := _used_url(self.raw)) is not None:
            headers, url = self._texts("headers"), self._fill_in(url)
            refuse_bad_url(url, self.where)
            target = ServerTarget(url=url, is_sse=kind in SSE, headers=tuple(headers.items()), timeout_s=timeout_s)
        elif isinstance(self.raw.get("command"), str) and kind in (None, "stdio", "local"):
            if self.config.folder is None:
                what = "skillgen does not start a command from the network"
                raise self._error(what, "read it, and start it yourself: skillgen from-server -- COMMAND")
            given = (item for item in as_list(self.raw.get("args")) if not isinstance(item, (dict, list)))
            words = [self.raw["command"], *given]
            command = tuple(self._fill_in(str(word)) for word in words)
            env = {**self._env_file(), **self._texts("env")}
            cwd = self._path("cwd")
            if cwd is not None and not cwd.is_dir():
                raise self._error("its cwd is not a folder", "correct `cwd`")
            folder = cwd or self.config.folder
            target = ServerTarget(command=command, env=env, cwd=folder, needs_cwd=cwd is not None, timeout_s=timeout_s)
        elif kind is not None and kind not in ("stdio", *_HTTP, *SSE):
            raise self._error(f"the type {str(kind)[:40]!r} is not supported", "use stdio, http or sse")
        else:
            keys = f", but {first_of(self.raw, 10)}" if self.raw else ""
            what = f"the entry has neither a command nor a url that is a string{keys}"
            raise self._error(what, "add one of them, or correct its name")
        return replace(target, extra_secrets=self.secrets)

    def _path(self, key: str) -> Path | None:
        declared, folder = text_of(self.raw, key), self.config.folder or Path()
        if not declared:
            return None
        # Of a user that does not exist, `Path.expanduser` raises an exception.
        path = folder / os.path.expanduser(self._fill_in(declared))  # noqa: PTH111
        if self.config.is_foreign and not _is_inside(path, folder):
            raise self._error(f"its {key} is outside the plugin", "start the server yourself: -- COMMAND")
        return path

    def _texts(self, key: str) -> dict[str, str]:
        """Returns a member that maps names to strings; numbers are converted, null is left out (VS Code)."""
        return {
            name: self._fill_in(value if isinstance(value, str) else json.dumps(value))
            for name, value in as_dict(self.raw.get(key)).items()
            if not isinstance(value, (dict, list, type(None)))
        }

    def _env_file(self) -> dict[str, str]:
        if (path := self._path("envFile")) is None:
            return {}
        if (text := text_of_file(path)) is None:
            raise self._error("its envFile cannot be read", "correct `envFile`")
        lines = (line.strip() for line in text.splitlines())
        pairs = (line.removeprefix("export ").partition("=") for line in lines if not line.startswith("#"))
        found = {name.strip(): value.strip() for name, equals, value in pairs if equals and name.strip()}
        return {name: re.sub(r"\A([\"'])(.*)\1\Z", r"\2", value) for name, value in found.items()}

    def _fill_in(self, text: str) -> str:
        return _VARIABLE_NAME.sub(lambda match: self._value(match[1], match[0]), text)

    def _value(self, inner: str, placeholder: str) -> str:
        kind, _, key = inner.partition(":")
        if (editor_value := _EDITOR_VARIABLES.get(kind)) is not None:
            if self.config.folder is None or (self.config.is_foreign and kind == "userHome"):
                raise self._error(f"{placeholder} is a path of this machine", "start or name the server yourself")
            return editor_value(self.config.folder)
        if inner.startswith("input:"):
            return self._input(key)
        if inner.startswith(_EDITOR_ONLY):
            raise self._error(f"only the editor knows {placeholder}", "write its value instead")
        match = _NAME.match(inner.removeprefix("env:").removeprefix("user_config."))
        if match is None:
            return placeholder
        name = match["name"]
        value = self.given.get(name, self.environment.get(name, match["default"]))
        if value is None:
            raise self._error(f"{name} is not set", f"set it, or give --env {name}=VALUE")
        self.secrets |= secrets_from_environment({name: value})
        return value

    def _input(self, key: str) -> str:
        """Returns an input of VS Code: from a variable with its id, or with the id in capitals, or its default."""
        declared = self.config.inputs.get(key)
        name = re.sub(r"[^A-Za-z0-9]+", "_", key).upper()
        fallback = self.environment.get(name, text_of(declared, "default"))
        value = self.given.get(key, self.given.get(name, fallback))
        if value is None:
            raise self._error(f"the input {key!r} has no value here", f"give --env {key}=VALUE, or set {name}")
        is_secret = declared is None or declared.get("password") is True
        self.secrets |= Secrets({value: f"the input {key}"}) if is_secret else secrets_from_environment({key: value})
        return value

    def _error(self, what: str, fix: str) -> UsageError:
        return UsageError(what, where=self.where, fix=fix)


_LOCAL_NAMES = """
    bash bundle bun cargo cmd composer deno dotnet env fish go java make node nodejs npm perl php pnpm powershell pwsh
    ruby sh sudo ts-node tsx uv wsl yarn zsh
"""
_LOCAL = frozenset(_LOCAL_NAMES.split())
"""Programs that run local files, unless they install a package."""

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
    words = target.command if target.command and _has_portable_program(target) else ()
    example = tuple(_public(word, target.secrets()) for word in words)
    return ClientEntry(
        transport=transport,
        command=words if words == example else (),
        example=example if words != example else (),
        env=tuple(sorted(target.env)),
        headers=tuple(sorted({name for name, _ in target.headers}, key=str.lower)),
    )


def _public(argument: str, secrets: Secrets) -> str:
    """Returns an argument; of one that only has a meaning here, its option or variable, and a placeholder."""
    if secrets.hide(argument) == argument and is_portable_argument(argument):
        return argument
    name, sign, value = argument.partition("=")
    if not sign or "/" in name or not (name.startswith("--") or name.isupper()) or secrets.hide(name) != name:
        name, sign, value = "", "", argument
    return f"{name}{sign}{'<path>' if value.startswith(('/', '~', '.')) or _DRIVE.match(value) else '<value>'}"


def _has_portable_program(target: ServerTarget) -> bool:
    program, *arguments = target.command
    if (target.cwd is not None and target.needs_cwd) or not _PROGRAM.fullmatch(program) or _FILE.search(program):
        return False
    if _PYTHON.fullmatch(program):
        return "-m" in arguments[:2]
    return program not in _LOCAL or (target.package_runner is not None and (program, *arguments[:1]) != ("uv", "run"))


def is_portable_argument(argument: str) -> bool:
    """True if an argument means the same on another machine and contains no private value."""
    is_secret = argument.startswith("-") and is_secret_setting(argument.partition("=")[0])
    if is_secret or not argument.isprintable() or _ASSIGNMENT.search(argument) or _HAS_VARIABLE.search(argument):
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
