"""A server as the user names it; CrawlScope, Crawl.

The environment of a server that skillgen starts.

A server gets what any program needs to run, what a package manager needs to fetch it, and what the user names with
`--env`. The other variables of the caller's shell stay there: among them are secrets that are none of its business.
The environment that a tool created for skillgen alone is not on its PATH: it needs its own Python and its own `mcp`.

What goes into a crawl, a server as the user names it, and what comes out of it.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

from skillgen.errors import Problem, UsageError
from skillgen.model.values import Json
from skillgen.security.addresses import public_url
from skillgen.security.secrets import (
    Secrets,
    secrets_from_arguments,
    secrets_from_environment,
    secrets_from_headers,
    secrets_from_url,
)

_BASE = """
    PATH HOME USER LOGNAME SHELL TERM LANG LANGUAGE TZ TMPDIR TEMP TMP
"""
_WINDOWS = """
    SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86)
    COMMONPROGRAMFILES USERPROFILE USERNAME HOMEDRIVE HOMEPATH PROCESSOR_ARCHITECTURE NUMBER_OF_PROCESSORS OS
"""
# A proxy may want a password, and then nothing works without it.
_NETWORK = """
    HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NO_PROXY
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS NIX_SSL_CERT_FILE
"""
_TOOLCHAINS = """
    VIRTUAL_ENV CONDA_PREFIX PYTHONPATH PYTHONHOME PYENV_ROOT PYENV_VERSION PIPX_HOME
    NODE_PATH PNPM_HOME NVM_DIR NVM_BIN FNM_DIR FNM_MULTISHELL_PATH VOLTA_HOME COREPACK_HOME BUN_INSTALL DENO_DIR
    ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR CARGO_HOME RUSTUP_HOME GOPATH GOROOT GEM_HOME GEM_PATH JAVA_HOME DOTNET_ROOT
    NIX_PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH
    DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_TLS_VERIFY
"""
_NAMES = frozenset((_BASE + _WINDOWS + _NETWORK + _TOOLCHAINS).split())

_PREFIXES = ("LC_", "XDG_", "NPM_CONFIG_", "UV_", "PIP_")
"""Families. A private registry's token is among these, and the package manager cannot fetch the server without it."""

_PUBLISHING = ("UV_PUBLISH_", "NPM_CONFIG_OTP")
"""What only publishing a package needs."""


_TOOL_FILES = ("pipx_metadata.json", "uv-receipt.toml", ".install_state_v*", ".prek-hook.json")
"""What pipx, `uv tool install`, pre-commit and prek write into an environment that they create."""

_UV_CACHE = re.compile(r"(archive|builds|environments)-v\d+")
"""The folders of uv's cache that hold the environments of `uvx` and of `uv run --with`."""


def child_environment(caller: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Returns a server's environment, from the caller's and from what the user gave for it."""
    inherited = {name: value for name, value in without_tool_environment(caller).items() if _is_inherited(name)}
    return {**inherited, **given}


def without_tool_environment(caller: Mapping[str, str]) -> dict[str, str]:
    """Returns the caller's variables as they were before a tool (uvx, pre-commit, prek) activated its environment."""
    found = dict(caller)
    if not is_tool_environment():
        return found
    own = programs_folder(Path(sys.prefix)).resolve()
    if "PATH" in found:
        entries = found["PATH"].split(os.pathsep)
        found["PATH"] = os.pathsep.join(entry for entry in entries if not entry or Path(entry).resolve() != own)
    if "VIRTUAL_ENV" in found and Path(found["VIRTUAL_ENV"]).resolve() == Path(sys.prefix).resolve():
        del found["VIRTUAL_ENV"]
    return found


def is_tool_environment() -> bool:
    """Returns true if skillgen runs in an environment that a tool created for it, not in that of a project."""
    own = Path(sys.prefix)
    return bool(_UV_CACHE.fullmatch(own.parent.name)) or any(any(own.glob(name)) for name in _TOOL_FILES)


def sdk_with_version(command: tuple[str, ...], environment: Mapping[str, str], version: str) -> str | None:
    """Returns the Python SDK of that version in the environment where a command's program is installed, if any.

    A FastMCP server without a version of its own reports that of its SDK.
    """
    program = shutil.which(command[0], path=environment.get("PATH"))
    if program is None or not re.fullmatch(r"[0-9][\w.+]*", version):
        return None
    packages = "Lib/site-packages" if os.name == "nt" else "lib/python*/site-packages"
    root = Path(program).parent.parent
    return next((sdk for sdk in ("mcp", "fastmcp") if any(root.glob(f"{packages}/{sdk}-{version}.dist-info"))), None)


def programs_folder(environment: Path) -> Path:
    """Returns the folder of the programs of a virtual environment."""
    return environment / ("Scripts" if os.name == "nt" else "bin")


def _is_inherited(name: str) -> bool:
    # Windows does not tell case apart, and everywhere else proxies and npm's variables are written both ways.
    name = name.upper()
    return name in _NAMES or (name.startswith(_PREFIXES) and not name.startswith(_PUBLISHING))


Transport = Literal["stdio", "http", "sse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """What the user wants of logging in to a server over HTTP. A login that was kept is used without being asked."""

    is_requested: bool = False
    """Whether the user says that the server needs one."""

    announce: Callable[[str], None] | None = None
    """Shows a person where to log in; `None` where nobody is to be asked."""

    client_id: str | None = None
    """A client that is registered already, or the https URL of its client metadata document."""

    client_secret: str | None = field(default=None, repr=False)
    """The secret of that client, if it has one."""

    issuer: str | None = None
    """The authorization server that may get the secret; `None` where a person confirms it, or has confirmed it."""

    confirm: Callable[[str], bool] | None = None
    """Asks a person whether the secret may go to an authorization server; `None` where nobody can be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlScope:
    """What is asked of a server besides its lists and its `ai_help`; the fields have the names of the options."""

    no_tool_descriptions: bool = False
    """Whether the descriptions of a progressive server are not read: reading authorises its tools in that session (seed
    003)."""

    no_older_era: bool = False
    """Whether a server that has no `dashdash` in the newer era is not asked in the older one too."""

    call_get_manifest: bool = False
    """Whether the tool `get_manifest` may be called, the only one that ever is (seed 004, 1)."""

    skill_files: bool = False
    """Whether the files of the skills that it offers are read."""

    @classmethod
    def from_options(cls, options: object) -> CrawlScope:
        """Returns what options or a project's file say: values with the names of the fields."""
        return cls(**{item.name: getattr(options, item.name) for item in fields(cls)})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTarget:
    """A server to crawl: a command or a URL."""

    command: tuple[str, ...] = ()
    """The program and its arguments, for a server on standard input and output."""

    url: str | None = None
    """The endpoint, for a server over HTTP."""

    is_sse: bool = False
    """Whether the endpoint is said to be of HTTP+SSE (2024-11-05)."""

    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment variables for the command."""

    caller_env: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    """The variables of the user's shell, of which the command gets those that any program needs."""

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Headers for every HTTP request."""

    cwd: Path | None = None
    """Where the command runs."""

    login: Login = Login()
    """How to get a token, where no header has one."""

    extra_secrets: Secrets = field(default_factory=Secrets, repr=False)
    """Secrets that were filled in for a variable, in any of the above, or that a login returned."""

    timeout_s: float = 30.0
    """For each request."""

    scope: CrawlScope = field(default_factory=CrawlScope)
    """What may be asked."""

    def __post_init__(self) -> None:
        if self.url is None and not self.command:
            raise UsageError("No server is given.", fix="Give the command that starts one after `--`, or --url.")

    @property
    def where(self) -> str:
        """The server's name in messages: never an argument or a query, which may hold a secret."""
        return self.public_url or self.command[0]

    @property
    def public_url(self) -> str | None:
        """The endpoint without credentials and query; `{secret}` is written for a secret in its path."""
        return None if self.url is None else self.secrets().hide_in_url(public_url(self.url))

    def secrets(self) -> Secrets:
        """Returns the secrets that the user or their shell passed on, which no document and no message may hold."""
        return (
            self.extra_secrets
            | secrets_from_environment(self.env, child_environment(self.caller_env, {}))
            | secrets_from_arguments(self.command[1:])
            | secrets_from_headers(self.headers)
            | secrets_from_url(self.url)
            | Secrets({self.login.client_secret or "": "the client secret"})
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawl:
    """What a server said of itself."""

    results: Mapping[str, Json]
    """Method to raw result: `server/discover` or `initialize`, `ai_help`; for a list method the list of its pages."""

    protocol_version: str | None
    """The version that was spoken."""

    transport: Transport
    """What it was spoken over."""

    url: str | None
    """The endpoint, without user, password and query."""

    problems: tuple[Problem, ...] = ()
    """What could not be read."""
