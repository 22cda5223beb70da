"""Input and output of a crawl: the server as the user names it, its environment, and its raw results.

A server that skillgen starts inherits only the variables that programs and package managers need, plus those of
`--env`: other variables of the user's shell may hold secrets. If a tool such as uvx created an environment for skillgen
alone, it is removed from the server's PATH, because the server needs its own Python and its own `mcp`.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import dropwhile
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from skillgen.errors import Problem, UsageError
from skillgen.model.values import Json
from skillgen.security.secrets import (
    Secrets,
    is_loopback,
    public_url,
    secrets_from_arguments,
    secrets_from_environment,
    secrets_from_headers,
    secrets_from_url,
)
from skillgen.sources.documents import text_of_file
from skillgen.sources.json_access import as_dict
from skillgen.text import lazy_re as re

# Of any program, of Windows, of the network (a proxy URL may hold a password, but nothing works without it), and of
# toolchains.
_INHERITED = """
    PATH HOME USER LOGNAME SHELL TERM LANG LANGUAGE TZ TMPDIR TEMP TMP
    SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86)
    COMMONPROGRAMFILES USERPROFILE USERNAME HOMEDRIVE HOMEPATH PROCESSOR_ARCHITECTURE NUMBER_OF_PROCESSORS OS
    HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NO_PROXY
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS NIX_SSL_CERT_FILE
    VIRTUAL_ENV CONDA_PREFIX PYTHONPATH PYTHONHOME PYENV_ROOT PYENV_VERSION PIPX_HOME
    NODE_PATH PNPM_HOME NVM_DIR NVM_BIN FNM_DIR FNM_MULTISHELL_PATH VOLTA_HOME COREPACK_HOME BUN_INSTALL DENO_DIR
    ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR CARGO_HOME RUSTUP_HOME GOPATH GOROOT GEM_HOME GEM_PATH JAVA_HOME DOTNET_ROOT
    NIX_PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH
    DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_TLS_VERIFY
"""
_NAMES = frozenset(_INHERITED.split())

_PREFIXES = ("LC_", "XDG_", "NPM_CONFIG_", "UV_", "PIP_")
"""Prefixes of inherited names. They include the token of a private registry, which the package manager needs to fetch
the server."""

_PUBLISHING = ("UV_PUBLISH_", "NPM_CONFIG_OTP")
"""Prefixes of variables that only publishing a package needs; they are not inherited."""

_TOOL_FILES = ("pipx_metadata.json", "uv-receipt.toml", ".install_state_v*", ".prek-hook.json")
"""Files that pipx, `uv tool install`, pre-commit and prek write into the environments that they create."""

_UV_CACHE = re.compile(r"(archive|builds|environments)-v\d+")
"""Folders of uv's cache that hold the environments of `uvx` and `uv run --with`."""


def child_environment(caller_env: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment of a server: the inherited part of the caller's, overridden by the user's `env`."""
    inherited = {name: value for name, value in without_tool_environment(caller_env).items() if _is_inherited(name)}
    return {**inherited, **env}


def without_tool_environment(caller_env: Mapping[str, str]) -> dict[str, str]:
    """Returns the caller's variables as they were before a tool (uvx, pre-commit, prek) activated its environment."""
    env = dict(caller_env)
    if not is_tool_environment():
        return env
    tool_programs = programs_folder(Path(sys.prefix)).resolve()
    if "PATH" in env:
        entries = env["PATH"].split(os.pathsep)
        env["PATH"] = os.pathsep.join(entry for entry in entries if not entry or Path(entry).resolve() != tool_programs)
    if "VIRTUAL_ENV" in env and Path(env["VIRTUAL_ENV"]).resolve() == Path(sys.prefix).resolve():
        del env["VIRTUAL_ENV"]
    return env


def is_tool_environment() -> bool:
    """True if skillgen runs in an environment that a tool created for it, not in a project's environment."""
    prefix = Path(sys.prefix)
    return bool(_UV_CACHE.fullmatch(prefix.parent.name)) or any(any(prefix.glob(name)) for name in _TOOL_FILES)


def sdk_with_version(target: ServerTarget, name: str, version: str) -> tuple[str, str] | None:
    """Returns the SDK of which a server reports the version as its own, if any, and the name of the server.

    A FastMCP server that sets no version reports that of its Python SDK: in the environment in which the server's
    program is installed, or of a server at a local URL, in that of the project. A program in `node_modules` may report
    the name and version of a framework there. What runs in an environment that cannot be found, such as that of `npx`
    or of a remote server, has no known SDK.
    """
    if not (target.command or is_loopback(target.url or "")) or not re.fullmatch(r"[0-9][\w.+-]*", version):
        return None
    for word in [word for word in target.command if "node_modules" in word][:1]:  # others are arguments
        modules, _, file = Path(target.cwd or "", word).resolve().as_posix().rpartition("node_modules/")
        package = "/".join(file.split("/")[: 1 + file.startswith("@")])
        others = (f"{modules}node_modules/{folder}{name}/package.json" for folder in ("", f"{package}/node_modules/"))
        texts = (text_of_file(Path(other)) or "" for other in others)
        if package not in ("", name) and any(f'"version": "{version}"' in text for text in texts):
            return name, package
    names = (f"{sdk}-{version}.dist-info" for sdk in ("mcp", "fastmcp"))
    folders = list(_package_folders(target))
    sdk = next((name.partition("-")[0] for name in names if any((folder / name).is_dir() for folder in folders)), None)
    return (sdk, name) if sdk else None


def _package_folders(target: ServerTarget) -> Iterator[Path]:
    """Yields the folders of the packages that may run a server: of its interpreter, `uv run` or `uvx`."""
    env = {**target.caller_env, **target.env}
    program = Path(shutil.which(next(iter(target.command), "python"), path=env.get("PATH")) or "")
    packages = "Lib/site-packages" if os.name == "nt" else "lib/python*/site-packages"
    yield from program.parent.parent.glob(packages)
    name = program.stem
    if name == "uv" or not target.command:
        yield from ((target.cwd or Path()) / ".venv").glob(packages)
    elif name == "uvx":
        words = target.command[1:]
        package = words[words.index("--from") + 1] if "--from" in words[:-1] else next(iter(words), "")
        package = re.sub(r"[-_.]+", "_", re.split(r"[\[@=<>~! ]", package)[0]).lower()
        base = env.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        cache = Path(env.get("UV_CACHE_DIR") or Path(base, "uv"))
        own = cache.glob(f"*-v*/*/{packages}/{package}-*.dist-info") if re.fullmatch(r"\w+", package) else ()
        yield from (path.parent for path in own)


def programs_folder(environment: Path) -> Path:
    """Returns the folder of a virtual environment's programs."""
    return environment / ("Scripts" if os.name == "nt" else "bin")


def _is_inherited(name: str) -> bool:
    # Names are case-insensitive on Windows; elsewhere, proxy and npm variables are written in either case.
    name = name.upper()
    return name in _NAMES or (name.startswith(_PREFIXES) and not name.startswith(_PUBLISHING))


_PACKAGE_RUNNERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("npx", "pnpx", "bunx", "uvx", "docker", "podman"), ()),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("exec", "dlx", "x")),
    **dict.fromkeys(("uv", "pipx", "go", "deno"), ("run", "tool")),
}
"""Programs that may install a package before they run it, each with the subcommands that do; none if all of them do."""

_LAUNCHER = re.compile(r"(?:.*/)?env|cmd(?:\.exe)?|/c|\w+=.*", re.IGNORECASE)
_INSTALL_S = 120.0

Transport = Literal["stdio", "http", "sse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """Options of the login to a server over HTTP. A stored login is used even if no login is requested."""

    is_requested: bool = False
    """Whether the user says that the server requires a login."""

    announce: Callable[[str], None] | None = None
    """Shows a person where to log in; `None` if nobody can be asked."""

    client_id: str | None = None
    """The identifier of a registered client, or the https URL of a client metadata document."""

    client_secret: str | None = field(default=None, repr=False)
    """The secret of that client, if it has one."""

    issuer: str | None = None
    """The authorization server that may receive the secret; `None` if a person confirms it or has confirmed it."""

    confirm: Callable[[str], bool] | None = None
    """Asks a person whether an authorization server may receive the secret; `None` if nobody can be asked."""


class CrawlScope(Struct, frozen=True, kw_only=True):
    """What a crawl requests in addition to the lists and `ai_help`. The fields are named like the options."""

    no_tool_descriptions: bool = False
    """Whether to skip the tool descriptions of a progressive-disclosure server: reading them authorises its tools in
    that session (seed 003)."""

    no_legacy_handshake: bool = False
    """Whether to skip the second connection with the legacy handshake, which is made if `server/discover` returns
    no `dashdash`."""

    call_get_manifest: bool = False
    """Whether to call the tool `get_manifest` (seed 004, 1)."""

    call_ai_help: bool = False
    """Whether to call the tool `ai_help`, which is all that some frameworks can offer of seed 000, 3.3."""

    call_undescribed: bool = False
    """Whether to call a tool that only reads before its description is read, and in a second session (seed 003, 9)."""

    skill_files: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTarget:
    """A server to crawl: a command or a URL."""

    command: tuple[str, ...] = ()
    """The program and its arguments, for a server over stdio."""

    url: str | None = None
    """The endpoint, for a server over HTTP."""

    is_sse: bool = False
    """Whether the endpoint is declared as HTTP+SSE (2024-11-05)."""

    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment variables for the command."""

    caller_env: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    """The variables of the user's shell; the command inherits those that any program needs."""

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Headers for every HTTP request."""

    cwd: Path | None = None
    needs_cwd: bool = True
    """Whether `cwd` is declared. A client starts every server in the folder of its file, which few need."""

    login: Login = Login()
    """How to get a token if no header has one."""

    extra_secrets: Secrets = field(default_factory=Secrets, repr=False)
    """Secrets that replaced a variable in any of the fields above, or that a login returned."""

    timeout_s: float = 30.0
    """The timeout of each request."""

    scope: CrawlScope = field(default_factory=CrawlScope)

    @property
    def where(self) -> str:
        """The server's name in messages, without arguments and query, which may hold a secret."""
        return self.public_url or self.command[0]

    @property
    def package_runner(self) -> str | None:
        """The program that installs a package and runs it, if the command is of one, also behind `env` or `cmd /c`."""
        words = [*dropwhile(lambda word: _LAUNCHER.fullmatch(word) is not None, self.command)]
        name = re.sub(r"^.*[/\\\\]|\.(?:cmd|exe|bat)$", "", words[0]).lower() if words else ""
        if (subcommands := _PACKAGE_RUNNERS.get(name)) is None:
            return None
        return name if not subcommands or set(subcommands) & set(words[1:]) else None

    @property
    def first_answer_s(self) -> float:
        """The timeout of the first request, before which a package runner may install the package."""
        return self.timeout_s if self.package_runner is None else max(self.timeout_s, _INSTALL_S)

    @property
    def public_url(self) -> str | None:
        """The endpoint without credentials and query, with `{secret}` in place of a secret in its path."""
        return None if self.url is None else self.secrets().hide_in_url(public_url(self.url))

    def secrets(self) -> Secrets:
        """Returns the secrets from the user's options and shell; no document and no message may hold them."""
        return (
            self.extra_secrets
            | secrets_from_environment(self.env, child_environment(self.caller_env, {}))
            | secrets_from_arguments(self.command[1:])
            | secrets_from_headers(self.headers)
            | secrets_from_url(self.url)
            | Secrets({self.login.client_secret or "": "the client secret"})
        )


class Crawl(Struct, frozen=True, kw_only=True):
    """The results of one server, raw."""

    results: Mapping[str, Json]
    """Method to raw result: `server/discover` or `initialize`, `ai_help`; for a list method the list of its pages."""

    protocol_version: str | None
    transport: Transport
    url: str | None
    """The endpoint, without user, password and query."""

    problems: tuple[Problem, ...] = ()


def refuse_bad_url(url: str, where: str) -> None:
    """Refuses a string that is not an HTTP URL with a host.

    Raises:
        UsageError: it is not.
    """
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise UsageError("is not an http:// or https:// URL", where=where, fix="write https://HOST/PATH")


def find_manifest(data: Json) -> dict[str, Json] | None:
    """Returns the object if it is a service manifest, or its member `manifest`, `service_manifest` or `result`."""
    outer = as_dict(data)
    for candidate in (outer, *(as_dict(outer.get(key)) for key in ("manifest", "service_manifest", "result"))):
        if is_manifest(candidate):
            return candidate
    return None


def is_manifest(data: Json) -> bool:
    """True if an object is intended as a service manifest (seed 004, 1), even if it violates the schema."""
    if not isinstance(data, dict) or "openapi" in data or "swagger" in data:
        return False
    has_tools = isinstance(data.get("tools"), list)
    return ("manifest_version" in data and (has_tools or "server" in data)) or (
        has_tools and isinstance(data.get("server"), dict)
    )
