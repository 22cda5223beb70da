"""The environment of a server that skillgen starts.

A server gets what any program needs to run, what a package manager needs to fetch it, and what the user names with
`--env`. The other variables of the caller's shell stay there: among them are secrets that are none of its business.
The environment that a tool created for skillgen alone is not on its PATH: it needs its own Python and its own `mcp`.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

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
