"""Where the servers stand that other people wrote, and how they start; `make test` installs them."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

TESTS = Path(__file__).parent
NODE_MODULES = TESTS / "node" / "node_modules"
PYPI_BIN = TESTS / ".venvs" / "servers" / ("Scripts" if os.name == "nt" else "bin")


def _bin(name: str, *arguments: str) -> tuple[str, ...]:
    """Returns the command of a server that npm installed under this name."""
    return (str(NODE_MODULES / ".bin" / name), *arguments)


def everything(transport: str = "stdio") -> tuple[str, ...]:
    """Returns the command of the server that shows every feature: `stdio`, `sse` or `streamableHttp`."""
    return _npm("server-everything", transport)


def filesystem(folder: Path) -> tuple[str, ...]:
    """Returns the command of a server for the files in a folder."""
    return _npm("server-filesystem", str(folder))


def memory() -> tuple[str, ...]:
    """Returns the command of a server for a knowledge graph."""
    return _npm("server-memory")


def git(repository: Path) -> tuple[str, ...]:
    """Returns the command of a server for a git repository."""
    return (str(PYPI_BIN / "mcp-server-git"), "--repository", str(repository))


def clock() -> tuple[str, ...]:
    """Returns the command of a server for times and time zones."""
    return (str(PYPI_BIN / "mcp-server-time"), "--local-timezone", "UTC")


def modern_sdk(*arguments: str) -> tuple[str, ...]:
    """Returns the command of a server made with the SDK that skillgen uses; it runs in the folder of the tests."""
    return (sys.executable, "-m", "servers.modern_sdk", *arguments)


OTHERS: Mapping[str, tuple[tuple[str, ...], Mapping[str, str], int]] = {
    "server-sequential-thinking (npm)": (_bin("mcp-server-sequential-thinking"), {}, 1),
    "@playwright/mcp (npm)": (_bin("playwright-mcp", "--headless"), {}, 25),
    "chrome-devtools-mcp (npm)": (_bin("chrome-devtools-mcp", "--headless"), {}, 32),
    "@notionhq/notion-mcp-server (npm)": (_bin("notion-mcp-server"), {"NOTION_TOKEN": "ntn_dummy"}, 24),
    "server-github (npm)": (_bin("mcp-server-github"), {}, 26),
    "mcp-server-kubernetes (npm)": (_bin("mcp-server-kubernetes"), {}, 23),
    "mcp-server-fetch (PyPI)": ((str(PYPI_BIN / "mcp-server-fetch"),), {}, 1),
    "awslabs.aws-documentation-mcp-server (PyPI)": (
        (str(PYPI_BIN / "awslabs.aws-documentation-mcp-server"),),
        {"AWS_REGION": "us-east-1"},
        5,
    ),
    "awslabs.dynamodb-mcp-server (PyPI)": (
        (str(PYPI_BIN / "awslabs.dynamodb-mcp-server"),),
        {"AWS_REGION": "us-east-1"},
        30,
    ),
}
"""Servers that list their tools offline: the command, the environment that it wants, and how many tools it has."""


@contextlib.contextmanager
def listening(command: tuple[str, ...], port: int, env: Mapping[str, str]) -> Iterator[None]:
    """Runs a server over HTTP, from when it says that it listens."""
    process = subprocess.Popen(
        command, cwd=TESTS, env={**os.environ, **env}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        seen = ""
        for line in process.stderr:
            seen += line
            if str(port) in line and ("listening" in line or "running" in line):
                break
        else:
            raise AssertionError(f"the server ended: {seen}")
        yield
    finally:
        process.kill()
        process.communicate()


def free_port() -> int:
    """Returns a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _npm(package: str, *arguments: str) -> tuple[str, ...]:
    return ("node", str(NODE_MODULES / "@modelcontextprotocol" / package / "dist" / "index.js"), *arguments)
