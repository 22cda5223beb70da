"""Reads the file in which an MCP client keeps its servers.

`.mcp.json`, Claude Desktop, Cursor, Windsurf and Gemini CLI have them under `mcpServers`, VS Code under `servers`, and
in its settings under `mcp`. All of them are JSON, with comments and trailing commas where people write them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skillgen.errors import UsageError
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict, as_list, text_of
from skillgen.sources.mcp.config_variables import Input, Variables
from skillgen.sources.mcp.target import ServerTarget

_SIZE_LIMIT_BYTES = 4 * 1024 * 1024

_EDITORS_FOLDERS = (".vscode", ".cursor", ".roo", ".kiro", ".gemini", ".windsurf")
"""Folders in which a project keeps an editor's files; the project is the folder around them."""

# A string or a comment that nothing ends goes to the end: looking for its end from each start would be quadratic.
_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_TRAILING_COMMA = re.compile(r'"(?:\\.|[^"\\\n])*"?|,(?=\s*[}\]])')

_URL_KEYS = ("url", "httpUrl", "serverUrl")
_SSE = ("sse",)
_HTTP = ("http", "streamable-http", "streamableHttp", "streamable_http")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig:
    """A client's server file."""

    path: Path
    """Where it stands."""

    servers: Mapping[str, dict[str, Json]] = field(repr=False)
    """Name to entry, raw; in the order of the file."""

    inputs: Mapping[str, Input] = field(default_factory=dict, repr=False)
    """What VS Code asks its user: id to input."""

    @property
    def folder(self) -> Path:
        """The folder that an editor would have opened."""
        parent = self.path.absolute().parent
        return parent.parent if parent.name in _EDITORS_FOLDERS else parent

    def chosen(self, name: str | None) -> tuple[str, ...]:
        """Gives the names of the servers to read: the one that is named, or all that are not switched off.

        Raises:
            UsageError: there is none.
        """
        if name is not None:
            if name not in self.servers:
                raise UsageError(
                    f"has no server {name!r}", where=str(self.path), fix=f"choose from {', '.join(self.servers)}"
                )
            return (name,)
        names = tuple(key for key, entry in self.servers.items() if not is_switched_off(entry))
        if not names:
            raise UsageError("switches all its servers off", where=str(self.path), fix="name one with --server NAME")
        return names

    def target(
        self, name: str, given: Mapping[str, str], environment: Mapping[str, str], *, timeout_s: float
    ) -> ServerTarget:
        """Gives one of its servers, its variables filled in.

        Raises:
            UsageError: a variable has no value, or the entry makes no sense.
        """
        where = f"{self.path}, server {name!r}"
        variables = Variables(given=given, environment=environment, folder=self.folder, inputs=self.inputs)
        return _Entry(self.servers[name], where, variables).target(timeout_s)


def read_client_config(path: Path) -> ClientConfig:
    """Reads a client's server file.

    Raises:
        UsageError: it cannot be read, or holds no servers.
    """
    where = str(path)
    try:
        with path.open("rb") as file:
            content = file.read(_SIZE_LIMIT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=where, fix="check --config") from None
    if len(content) > _SIZE_LIMIT_BYTES:
        raise UsageError("is too large for a client's server file", where=where, fix="check --config")
    try:
        data = json.loads(without_comments(content.decode("utf-8-sig")))
    except UnicodeDecodeError:
        raise UsageError("is not text in UTF-8", where=where, fix="save it as UTF-8") from None
    except json.JSONDecodeError as error:
        what = f"is not JSON: line {error.lineno}, column {error.colno}: {error.msg}"
        raise UsageError(what, where=where, fix="correct it there") from None
    except RecursionError:
        raise UsageError("is nested too deeply to be read", where=where) from None
    owner = _owner_of_servers(data)
    servers = {name: entry for name, entry in _servers_of(owner).items() if isinstance(entry, dict)}
    if not servers:
        fix = "give a file with `mcpServers` (Claude, Cursor) or `servers` (VS Code)"
        raise UsageError("names no MCP servers", where=where, fix=fix)
    return ClientConfig(path=path, servers=servers, inputs=_inputs_of(owner))


def without_comments(text: str) -> str:
    """Gives JSON without comments and trailing commas; lines and columns stay where they are."""

    def blank(match: re.Match[str]) -> str:
        return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])

    return _TRAILING_COMMA.sub(blank, _COMMENT.sub(blank, text))


def is_switched_off(entry: Mapping[str, Json]) -> bool:
    """Tells whether a client leaves a server out."""
    return entry.get("disabled") is True or entry.get("enabled") is False


def _owner_of_servers(data: Json) -> dict[str, Json]:
    """Gives the object that holds the servers; VS Code's settings have it under `mcp`."""
    top = as_dict(data)
    return as_dict(top.get("mcp")) if "mcp" in top and not _servers_of(top) else top


def _servers_of(owner: Mapping[str, Json]) -> dict[str, Json]:
    for key in ("mcpServers", "servers", "context_servers"):
        if isinstance(owner.get(key), dict):
            return as_dict(owner[key])
    # A plugin of Claude Code may have nothing around them.
    is_bare = bool(owner) and all(any(key in as_dict(entry) for key in ("command", "url")) for entry in owner.values())
    return dict(owner) if is_bare else {}


def _inputs_of(owner: Mapping[str, Json]) -> dict[str, Input]:
    found = {}
    for item in as_list(owner.get("inputs")):
        if (key := text_of(item, "id")) is not None:
            found[key] = Input(is_secret=as_dict(item).get("password") is True, default=text_of(item, "default"))
    return found


class _Entry:
    """One server of a file."""

    def __init__(self, raw: Mapping[str, Json], where: str, variables: Variables) -> None:
        self._raw = raw
        self._where = where
        self._variables = variables

    def target(self, timeout_s: float) -> ServerTarget:
        """Gives what it says how to reach the server."""
        kind = self._raw.get("type", self._raw.get("transport"))
        url = next((self._raw[key] for key in _URL_KEYS if isinstance(self._raw.get(key), str)), None)
        if url is not None and kind in (None, *_HTTP, *_SSE):
            return self._at(url, is_sse=kind in _SSE, timeout_s=timeout_s)
        if isinstance(self._raw.get("command"), str) and kind in (None, "stdio", "local"):
            return self._started(timeout_s)
        if kind is not None and kind not in ("stdio", *_HTTP, *_SSE):
            raise self._wrong(f"the type {str(kind)[:40]!r} is not one that skillgen speaks", "use stdio, http or sse")
        raise self._wrong("neither a command nor a url says how to reach it", "give it one of them")

    def _at(self, url: str, *, is_sse: bool, timeout_s: float) -> ServerTarget:
        headers = self._texts("headers")
        target_url = self._fill_in(url)
        if not target_url.startswith(("http://", "https://")):
            raise self._wrong("the url is no http:// or https:// address", "give one, as https://HOST/PATH")
        return ServerTarget(
            url=target_url,
            is_sse=is_sse,
            headers=tuple(headers.items()),
            passed=self._variables.secrets,
            timeout_s=timeout_s,
        )

    def _started(self, timeout_s: float) -> ServerTarget:
        arguments = [self._fill_in(str(item)) for item in as_list(self._raw.get("args")) if not _is_nested(item)]
        command = (self._fill_in(str(self._raw["command"])), *arguments)
        env = {**self._env_file(), **self._texts("env")}
        return ServerTarget(
            command=command,
            env=env,
            cwd=self._cwd(),
            passed=self._variables.secrets,
            timeout_s=timeout_s,
        )

    def _cwd(self) -> Path:
        folder = self._variables.folder
        said = self._raw.get("cwd")
        if not isinstance(said, str) or not said:
            return folder
        found = folder / Path(self._fill_in(said)).expanduser()
        if not found.is_dir():
            raise self._wrong("its cwd is no folder", "correct `cwd`")
        return found

    def _texts(self, key: str) -> dict[str, str]:
        """Gives a member that maps names to texts; a number is its text, and null is no value (VS Code)."""
        members = as_dict(self._raw.get(key))
        said = {name: value for name, value in members.items() if value is not None and not _is_nested(value)}
        return {
            name: self._fill_in(value if isinstance(value, str) else json.dumps(value)) for name, value in said.items()
        }

    def _env_file(self) -> dict[str, str]:
        said = self._raw.get("envFile")
        if not isinstance(said, str) or not said:
            return {}
        path = self._variables.folder / Path(self._fill_in(said)).expanduser()
        try:
            lines = path.read_text("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError):
            raise self._wrong("its envFile cannot be read", "correct `envFile`") from None
        pairs = (
            line.strip().removeprefix("export ").partition("=") for line in lines if not line.lstrip().startswith("#")
        )
        return {name.strip(): _unquoted(value.strip()) for name, equals, value in pairs if equals and name.strip()}

    def _fill_in(self, text: str) -> str:
        return self._variables.fill_in(text, self._where)

    def _wrong(self, what: str, fix: str) -> UsageError:
        return UsageError(what, where=self._where, fix=fix)


def _is_nested(value: Json) -> bool:
    return isinstance(value, (dict, list))


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if is_quoted else value
