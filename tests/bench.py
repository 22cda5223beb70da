"""Measures speed as ratios to a bare cost in the same run: `make bench`. Nothing is asserted: machines are shared."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
NODE = ROOT / "tests/node/node_modules"
GITHUB = NODE / "@octokit/openapi/generated/api.github.com.json"
EVERYTHING = ["node", str(NODE / "@modelcontextprotocol/server-everything/dist/index.js")]
RUNS = 5

BARE_JSON = "import json, sys; json.load(open(sys.argv[1], 'rb'))"
BARE_CLIENT = """
import asyncio, sys
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with Client(stdio_client(server)) as client:
        await client.list_tools()
        await client.list_resources()
        await client.list_resource_templates()
        await client.list_prompts()

asyncio.run(main())
"""


def skillgen(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "skillgen", *arguments]


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - start


def compare(what: str, command: list[str], bare: list[str]) -> None:
    """Runs both in turn after one warm-up, and prints the medians and the median of the ratios, pair by pair."""
    seconds(command), seconds(bare)
    pairs = [(seconds(command), seconds(bare)) for _ in range(RUNS)]
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    print(f"{what}: {ours:.2f} s, bare {theirs:.2f} s, ratio {ratio:.2f}, difference {ours - theirs:+.2f} s")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        fresh = f"{folder}/fresh"
        compare(
            "GitHub's description, all four outputs, unchanged since, against json.load",
            skillgen("from-openapi", str(GITHUB), "-o", f"{folder}/github"),
            [sys.executable, "-c", BARE_JSON, str(GITHUB)],
        )
        compare(
            "the same into an empty folder, against json.load",
            ["sh", "-c", f'rm -rf {fresh} && exec "$@"', "sh", *skillgen("from-openapi", str(GITHUB), "-o", fresh)],
            [sys.executable, "-c", BARE_JSON, str(GITHUB)],
        )
        compare(
            "crawl of server-everything, all four outputs, against a bare SDK client that lists the same",
            skillgen("from-server", "-o", f"{folder}/everything", "--", *EVERYTHING),
            [sys.executable, "-c", BARE_CLIENT, *EVERYTHING],
        )
        compare("skillgen --help, against an empty Python", skillgen("--help"), [sys.executable, "-c", "pass"])


if __name__ == "__main__":
    main()
