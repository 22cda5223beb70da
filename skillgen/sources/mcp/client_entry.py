"""What a client's server file says of a server, drawn from how the user named it: never a value that may be secret.

A command is kept only where it means the same on another machine: a runner and its package, a module, a bare program.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from skillgen.markdown.credentials import looks_random, redacted
from skillgen.model.offers import ClientEntry
from skillgen.sources.addresses import is_private, public_url
from skillgen.sources.given import names_secret
from skillgen.sources.mcp.target import ServerTarget, Transport

_LOCAL_NAMES = """
    bash bundle bun cargo cmd composer deno dotnet env fish go java make node nodejs npm perl php pnpm powershell pwsh
    ruby sh sudo ts-node tsx uv wsl yarn zsh
"""
_LOCAL = frozenset(_LOCAL_NAMES.split())
"""Programs that run what lies on this machine, unless one of `_PACKAGE_WORDS` follows."""

_PACKAGE_WORDS = {
    ("bun", "x"),
    ("deno", "run"),
    ("npm", "exec"),
    ("pnpm", "dlx"),
    ("uv", "tool"),
    ("yarn", "dlx"),
}
"""A program and its first argument that together run a package."""

_PYTHON = re.compile(r"py(thon)?(\d+(\.\d+)?)?(\.exe)?")
_PROGRAM = re.compile(r"[A-Za-z0-9][\w.+-]{0,63}")
_ASSIGNMENT = re.compile(r"(?<![A-Z0-9_])[0-9_]*[A-Z][A-Z0-9_]*=.", re.DOTALL)
_VARIABLE = re.compile(r"[$%]\w|\$\{")
_DRIVE = re.compile(r"[A-Za-z]:($|[^/])")
_FILE = re.compile(
    r"\.(py|js|mjs|cjs|ts|mts|jar|rb|sh|php|pl|ps1|bat|cmd|exe|dll|json|ya?ml|toml|env|db|sqlite3?|pem|key)$", re.I
)
_SCOPED = re.compile(r"@[\w.~-]+/[\w.~-]+(@[\w.^~*-]+)?")


def client_entry_of(target: ServerTarget, transport: Transport) -> ClientEntry:
    """Gives what of a target may be told: names of variables and headers, and the command where others can run it."""
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
    elif program in _LOCAL and (program, *arguments[:1]) not in _PACKAGE_WORDS:
        return False
    secrets = target.secrets()
    return all(secrets.hide(argument) == argument and _is_for_others(argument) for argument in arguments)


def _is_for_others(argument: str) -> bool:
    """Tells whether an argument means the same elsewhere, and holds nothing that is the user's own."""
    if not argument.isprintable() or _ASSIGNMENT.search(argument) or _VARIABLE.search(argument):
        return False
    if names_secret(argument.partition("=")[0]) and argument.startswith("-"):
        return False
    if redacted(argument)[0] != argument or "\\" in argument or str(Path.home()) in argument:
        return False
    value = argument.partition("=")[2] if argument.startswith("-") else argument
    if "://" in value:
        return public_url(value) == value and not is_private(urlsplit(value).hostname or "")
    parts = re.split("[=,:]", argument)
    return not (
        _SCOPED.fullmatch(value) is None
        and (
            _DRIVE.match(value)
            or _FILE.search(value)
            or any(part.startswith(("/", "~", ".")) for part in parts)
            or _is_random(parts)
        )
    )


def _is_random(parts: Sequence[str]) -> bool:
    return any(looks_random(part) for part in parts)
