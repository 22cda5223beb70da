"""The crawl over stdio: of the kiosk in many manners, which shares no code with any SDK."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli import ROOT, environment, generated, run_skillgen, until
from servers.kiosk import DASHDASH, LEGACY, MODERN, PROMPTS, RESOURCES, TEMPLATES, TOOLS

from skillgen import Service, SourceError, UsageError, read

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent


@dataclass(frozen=True)
class Crawled:
    """What came of a crawl, and what the server received."""

    result: Service | SourceError
    received: list[dict[str, Any]]

    @property
    def service(self) -> Service:
        assert isinstance(self.result, Service), self.result
        return self.result

    @property
    def error(self) -> SourceError:
        assert isinstance(self.result, SourceError)
        return self.result

    @property
    def tools(self) -> list[str]:
        return [tool.name for tool in self.service.tools]

    @property
    def problems(self) -> set[tuple[str, str, str]]:
        """Place, code and level of the problems of the crawl itself, whose place is no pointer."""
        return {(item.where, item.code, item.level) for item in self.service.problems if item.where[:1] != "/"}

    @property
    def methods(self) -> list[str]:
        """The methods of the messages that the kiosk received, a `-` for each start."""
        return [entry.get("method", "-") for entry in self.received if "method" in entry or "started" in entry]


def received(log: Path) -> list[dict[str, Any]]:
    """Returns what the kiosk noted."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def crawled(
    manner: str, log: Path, *, module: str = "over_stdio", env: Mapping[str, str] = {}, **options: Any
) -> Crawled:
    """Crawls the kiosk."""
    command = [sys.executable, "-m", f"servers.{module}", manner]
    try:
        result: Any = read(command=command, env={"KIOSK_LOG": str(log), **env}, cwd=TESTS, **options)
    except SourceError as error:
        result = error
    return Crawled(result, received(log))


def running(log: Path) -> list[str]:
    """Returns the processes that were started by a crawl and still run: they know the path of the log."""
    marker = f"KIOSK_LOG={log}".encode()
    return [entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit() and _is_marked(entry, marker)]


def _is_marked(entry: Path, marker: bytes) -> bool:
    try:
        return marker in (entry / "environ").read_bytes()
    except OSError:
        return False


def _wait_for_threads() -> None:
    for thread in threading.enumerate():
        if thread.name.startswith("skillgen"):
            thread.join(10)
            assert not thread.is_alive()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """The log of a kiosk of which nothing is left running."""
    yield tmp_path / "kiosk.log"
    _wait_for_threads()
    assert running(tmp_path) == []


EXTENDED = ("two-handshakes", "two-handshakes-without-a-hint", "two-handshakes-declared", "dribbling")
SLOPPY = (
    *("banner", "banner-without-end", "banner-in-utf16", "null-id", "float-ids", "asks-back", "floods"),
    "floods-stderr",
)
PLAIN = (
    *(*LEGACY, MODERN, "dies-on-unknown", "ignores-unknown", "spoiled", "unsupported-but-legacy", "starts-slowly"),
    *("locked", "unsupported", "dashdash", "modern-dashdash", "dashdash-without-help", "pages", "in-time"),
    *(
        *("pages-in-a-circle", "empty-cursor-for-the-end", "endless", "refuses-lists", "garbage"),
        *("asks-before-tools", "dies-in-resources"),
    ),
    *("refuses-tools", "dies-in-tools", "framed", "closes-stdout", "declares-nothing", "no-tools", "sloppy", "deep"),
    *("only-by-data", "only-by-text", "in-latin-1"),
    *("stubborn", "leaves-child", "hides-child-and-ends", "long-line", "many-lines", *SLOPPY),
)
CRAWLS: dict[str, dict[str, Any]] = {
    **{manner: {} for manner in PLAIN},
    **{manner: {"module": "extended"} for manner in EXTENDED},
    "dribbling": {"module": "extended", "timeout": 1.0},
    "exits": {"env": {"KIOSK_KEY": "hunter2-hunter2"}},
    "silent": {"timeout": 0.5},
    "newest alone": {"manner": MODERN, "no_legacy_handshake": True},
    "one handshake": {"manner": "two-handshakes", "module": "extended", "no_legacy_handshake": True},
}
"""The manners of the kiosk, each with what is special about its crawl."""


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Crawled]]:
    """Yields a function that returns a crawl: all happen at the same time, since most of it is waiting."""
    logs = tmp_path_factory.mktemp("kiosks")
    with ThreadPoolExecutor(8) as pool:
        slow_first = sorted(CRAWLS, key=lambda name: name not in ("dribbling", "silent"))
        futures = {
            name: pool.submit(crawled, log=logs / f"{name}.log", **{"manner": name, **CRAWLS[name]})
            for name in slow_first
        }
        yield lambda name: futures[name].result()
    _wait_for_threads()
    assert running(logs) == []


Crawls = Callable[[str], Crawled]
BOTH = ["buy_paper", "list_papers"]


class TestEras:
    @pytest.mark.parametrize("version", [*LEGACY, MODERN])
    def test_every_revision_of_the_protocol_crawls(self, crawls: Crawls, version: str) -> None:
        """X-01, X-04, S0-03, S0-05: also what no typed model knows, such as a tool without an input schema."""
        service = crawls(version).service
        assert (service.protocol_version, service.endpoints) == (version, ())
        assert [tool.input_schema for tool in service.tools] == [tool.get("inputSchema") for tool in TOOLS]
        assert [tool.group for tool in service.tools][:1] == ["shop"]  # of the extension dashdash
        assert [tool.semantics.risk for tool in service.tools] == [None, "safe"]
        assert [item.uri for item in service.resources] == [item["uri"] for item in RESOURCES]
        assert [item.uri for item in service.resource_templates] == [item["uriTemplate"] for item in TEMPLATES]
        assert [prompt.name for prompt in service.prompts] == [prompt["name"] for prompt in PROMPTS]
        assert crawls(version).problems == set()

    def test_the_newest_is_tried_first_and_ai_help_is_asked_for_last(self, crawls: Crawls) -> None:
        """X-02, S0-15: a method that a server does not know may be its end, so that one comes when all is read."""
        methods = crawls(LEGACY[-1]).methods
        assert methods[:4] == ["-", "server/discover", "initialize", "notifications/initialized"]
        assert sorted(methods[4:8]) == ["prompts/list", "resources/list", "resources/templates/list", "tools/list"]
        assert methods[8:] == ["ai_help"]

    def test_every_request_of_the_newest_revision_carries_its_meta(self, crawls: Crawls) -> None:
        """S0-17, X-03: version, client and capabilities stand in each request, `ai_help` included."""
        requests = [entry for entry in crawls("newest alone").received if "method" in entry]
        assert len(requests) == 6
        for request in requests:
            meta = request["params"]["_meta"]
            assert meta["io.modelcontextprotocol/protocolVersion"] == MODERN
            extensions = meta["io.modelcontextprotocol/clientCapabilities"]["extensions"]
            assert set(extensions) == {"io.modelcontextprotocol/skills", "io.modelcontextprotocol/groups"}
            assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "skillgen"
        assert requests[-1]["params"]["format"] == "markdown"
        assert requests[-1]["params"]["section"] is None

    @pytest.mark.parametrize(
        ("manner", "version", "starts"),
        [
            ("dies-on-unknown", LEGACY[0], 2),
            ("ignores-unknown", LEGACY[1], 1),
            ("spoiled", LEGACY[-1], 2),
            ("unsupported-but-legacy", LEGACY[-1], 1),
            ("starts-slowly", MODERN, 2),
            ("locked", MODERN, 2),
        ],
    )
    def test_whatever_becomes_of_the_first_request_the_server_is_crawled(
        self, crawls: Crawls, manner: str, version: str, starts: int
    ) -> None:
        """X-02: an error, silence and death lead to `initialize`; a slow modern server is still heard."""
        found = crawls(manner)
        assert (found.service.protocol_version, found.tools) == (version, BOTH)
        assert found.methods.count("-") == starts

    @pytest.mark.parametrize(("manner", "version"), [("only-by-data", LEGACY[0]), ("only-by-text", LEGACY[2])])
    def test_a_version_that_an_error_names_is_asked_for(self, crawls: Crawls, manner: str, version: str) -> None:
        """X-01: on the same connection."""
        found = crawls(manner)
        assert (found.service.protocol_version, found.tools, found.problems) == (version, BOTH, set())
        assert found.methods[:5] == ["-", "server/discover", *["initialize"] * 2, "notifications/initialized"]

    def test_a_modern_error_is_no_reason_to_fall_back(self, crawls: Crawls) -> None:
        """X-02: -32022 from a server that names no version before the newest is its last word."""
        for part in ("-32022", "Unsupported protocol version", "2099-01-01"):
            assert part in crawls("unsupported").error.what
        assert crawls("unsupported").methods == ["-", "server/discover"]


class TestDashdash:
    @pytest.mark.parametrize("manner", ["dashdash", "modern-dashdash"])
    def test_the_extension_and_its_help_are_read_from_either_handshake(self, crawls: Crawls, manner: str) -> None:
        """S0-01, S0-02, S0-15, S0-17: the keys survive at the top of the result; the title is that of the help."""
        service = crawls(manner).service
        assert (service.title, service.summary) == ("Kiosk", DASHDASH["identity"]["description"])

    def test_a_promised_help_that_is_missing_is_worth_knowing_and_no_more(self, crawls: Crawls) -> None:
        """S0-16."""
        assert crawls("dashdash-without-help").problems == {("ai_help", "ai-help-missing", "info")}

    @pytest.mark.parametrize("manner", EXTENDED[:3])
    def test_legacy_only_metadata_is_read_from_a_second_process(self, crawls: Crawls, manner: str) -> None:
        """X-07: whether the server declares the legacy handshake, a tool knows dashdash, or nothing hints at it."""
        found = crawls(manner)
        assert found.service.protocol_version == MODERN
        assert (found.service.title, found.service.summary) == ("Old help", DASHDASH["identity"]["description"])
        assert found.methods.count("-") == 2

    def test_the_second_process_can_be_turned_off(self, crawls: Crawls) -> None:
        """X-07."""
        found = crawls("one handshake")
        assert found.service.summary != DASHDASH["identity"]["description"]
        assert found.methods.count("-") == 1

    @pytest.mark.parametrize("manner", ["modern-dashdash", *LEGACY])
    def test_a_server_without_use_for_a_second_process_is_started_once(self, crawls: Crawls, manner: str) -> None:
        """X-07: a second start may take a port or a lock from the first."""
        assert crawls(manner).methods.count("-") == 1


class TestLists:
    def test_a_list_that_dribbles_for_ever_ends_with_the_time_of_the_crawl(self, crawls: Crawls) -> None:
        """X-04, X-13: each page comes in time; what came is kept."""
        assert crawls("dribbling").tools[:2] == ["tool_1", "tool_2"]
        assert {code for _, code, _ in crawls("dribbling").problems} == {"list-too-long", "ai-help-missing"}

    def test_the_empty_string_is_a_cursor_and_null_is_not_one(self, crawls: Crawls) -> None:
        """X-04."""
        found = crawls("pages")
        assert found.tools == [*BOTH, "close"]
        cursors = [entry["params"].get("cursor") for entry in found.received if entry.get("method") == "tools/list"]
        assert cursors == [None, "", "last"]
        assert found.problems == set()

    def test_the_time_of_the_run_is_no_default(self, crawls: Crawls) -> None:
        """Documents do not depend on the day; a date next to today's is computed too."""
        today, past = crawls("in-time").service.tools
        assert [item.name for item in today.parameters if item.schema.default] == ["size", "note"]
        assert [item.schema.default is None for item in past.parameters] == [False]
        assert crawls("in-time").problems == {("tools/list", "default-of-run", "info")}

    @pytest.mark.parametrize("manner", ["pages-in-a-circle", "empty-cursor-for-the-end"])
    def test_a_list_that_begins_anew_ends_with_a_problem_and_no_tool_twice(self, crawls: Crawls, manner: str) -> None:
        """X-04."""
        assert crawls(manner).tools == BOTH
        assert crawls(manner).problems == {("tools/list", "list-repeated", "warning")}

    def test_a_list_without_end_is_read_up_to_a_limit(self, crawls: Crawls) -> None:
        """X-04, X-13."""
        assert crawls("endless").tools == [f"tool_{number}" for number in range(1, 1_001)]
        assert crawls("endless").problems == {("tools/list", "list-too-long", "warning")}

    def test_a_list_that_fails_costs_nothing_else(self, crawls: Crawls) -> None:
        """X-05, X-06: what the server does not know is worth knowing, what it fails at is missing."""
        found = crawls("refuses-lists")
        assert (found.tools, found.service.resources) == (BOTH, ())
        assert found.problems == {
            ("resources/list", "list-failed", "warning"),
            ("resources/templates/list", "list-not-offered", "info"),
            ("prompts/list", "list-incomplete", "warning"),
        }
        assert "database is locked" in "".join(problem.message for problem in found.service.problems)

    def test_a_list_of_tools_that_asks_for_input_is_reported_as_that(self, crawls: Crawls) -> None:
        """X-06: not fatal; what else the server offers is read."""
        found = crawls("asks-before-tools")
        assert ("tools/list", "list-incomplete", "warning") in found.problems
        assert "input_required" in "".join(problem.message for problem in found.service.problems)
        assert found.tools == []
        assert found.service.resources

    def test_a_server_that_dies_over_another_list_still_has_its_tools(self, crawls: Crawls) -> None:
        """X-05."""
        assert crawls("dies-in-resources").tools == BOTH
        assert ("resources/list", "list-failed", "warning") in crawls("dies-in-resources").problems

    def test_tools_that_are_not_declared_are_found_all_the_same(self, crawls: Crawls) -> None:
        """X-05: and nothing else is asked for."""
        assert crawls("declares-nothing").tools == BOTH
        assert "resources/list" not in crawls("declares-nothing").methods

    def test_a_server_without_tools_is_not_a_fatal_error_here(self, crawls: Crawls) -> None:
        """X-05."""
        service = crawls("no-tools").service
        assert (service.tools, [prompt.name for prompt in service.prompts]) == ((), [PROMPTS[0]["name"]])
        assert crawls("no-tools").problems == set()


class TestSloppyServers:
    @pytest.mark.parametrize("manner", SLOPPY)
    def test_text_between_the_messages_does_no_harm(self, crawls: Crawls, manner: str) -> None:
        """X-13, S0-16: banners in any encoding, log records, batches, errors without an id, requests of its own."""
        assert crawls(manner).tools == BOTH

    def test_lines_that_are_no_messages_are_reported(self, crawls: Crawls) -> None:
        """X-13: clients that are less patient refuse them."""
        assert ("", "output-not-protocol", "info") in crawls("banner").problems
        messages = [problem.message for problem in crawls("banner").service.problems]
        assert any("standard output: 'Bienvenue" in message for message in messages)

    def test_answers_that_are_nearly_json_rpc_are_understood(self, crawls: Crawls) -> None:
        """X-05: no `jsonrpc`, texts for ids and codes, a null result."""
        found = crawls("sloppy")
        assert (found.tools, found.service.resources) == (BOTH, ())
        assert {where for where, _, _ in found.problems} == {"resources/list", "prompts/list"}

    def test_a_text_that_is_not_utf_8_is_reported_with_its_tool(self, crawls: Crawls) -> None:
        """X-13: the rest is documented."""
        found = crawls("in-latin-1")
        assert [tool.description for tool in found.service.tools][2:] == ["Zahlt die Gr\ufffd\ufffde."]
        problems = [problem for problem in found.service.problems if problem.code == "text-not-decoded"]
        assert all("pay" in problem.message for problem in problems)
        tool = "/tools~1list/0/tools/2"
        assert [problem.where for problem in problems] == [f"{tool}/description", f"{tool}/inputSchema/properties"]

    def test_silence_on_ai_help_is_normal(self, crawls: Crawls) -> None:
        """S0-16: it is noted, since a server that answered before may have failed."""
        assert crawls("ignores-unknown").problems == {("ai_help", "ai-help-missing", "info")}


DEAD_ENDS = {
    "refuses-tools": ["-32601"],
    "dies-in-tools": ["status 7", "kiosk: fatal"],
    "closes-stdout": ["closed its standard"],
    "deep": ["the result is not an object"],
    "long-line": ["a line of more than"],
    "many-lines": ["the limit of a crawl"],
    "garbage": ["not an MCP server", "'tick'"],
    "framed": ["`Content-Length` header before each message"],
    "silent": ["`initialize`", "0.5 seconds"],
}
"""Manners of a kiosk of which nothing can be documented, and what the message says."""


class TestDeadEnds:
    @pytest.mark.parametrize("manner", DEAD_ENDS)
    def test_a_server_of_which_nothing_can_be_read_is_reported(self, crawls: Crawls, manner: str) -> None:
        """X-05, X-13: what it sends is bounded in all and on one line, and so is its depth; framing is reported."""
        error = crawls(manner).error
        assert [part for part in DEAD_ENDS[manner] if part not in error.what] == []
        assert ("--timeout" in error.fix or "timeout=" in error.fix) == (manner == "silent")

    def test_a_server_that_exits_is_quoted_without_colours_and_secrets(self, crawls: Crawls) -> None:
        """X-09, X-12, X-13: exit status and the end of standard error, but no value from the environment."""
        error = crawls("exits").error
        assert error.what == "It exited with status 3. Its last lines on standard error:\n  kiosk: bad key [hidden]"
        assert error.where == sys.executable

    def test_the_exception_of_a_server_comes_first_and_its_traceback_below(self, tmp_path: Path) -> None:
        (tmp_path / "server.py").write_text('raise LookupError("no database; or pin it")\n', "utf-8")
        failed = run_skillgen("from-server", "--", sys.executable, "server.py", cwd=tmp_path)
        first, *lines, fix = failed.stderr.splitlines()
        assert "It exited with status 1: LookupError: no database; or pin it. Its last lines on" in first
        assert (lines[0], lines[-1]) == (
            "  | Traceback (most recent call last):",
            "  | LookupError: no database; or pin it",
        )
        assert fix.startswith("  try: Run it by itself")

    def test_a_package_that_cannot_be_installed_is_tried_once(self, tmp_path: Path) -> None:
        said = ["code ECONNREFUSED", "syscall connect", "FetchError: request failed, reason: connect 127.0.0.1:9"]
        npx = tmp_path / "npx"
        npx.write_text(
            "\n".join(["#!/bin/sh", "echo >>starts", *(f"echo npm error {line} >&2" for line in said), "exit 1"])
        )
        npx.chmod(0o755)
        failed = run_skillgen("from-server", "--", npx, "-y", "acme", cwd=tmp_path)
        assert "cannot install or start the package: FetchError: request failed, reason: connect" in failed.stderr
        assert (tmp_path / "starts").read_text() == "\n"

    def test_a_command_that_cannot_be_started_is_reported(self, tmp_path: Path) -> None:
        """X-13: a folder that does not exist is not taken for a missing command."""
        for command, what in (
            ("no-such-program --token=abcdef", "The command does not exist. It was searched on PATH, without a .venv."),
            (str(tmp_path), "cannot be started"),
        ):
            with pytest.raises(SourceError, match=what) as caught:
                read(command=command)
            assert (caught.value.where, bool(caught.value.fix)) == (command.split()[0], True)
        with pytest.raises(UsageError, match="the folder does not exist"):
            read(command=sys.executable, cwd=tmp_path / "no")


def crawling(out: Path, *arguments: object, **pipes: Any) -> subprocess.Popen[Any]:
    """Starts `skillgen from-server`; returns its process."""
    command = [sys.executable, "-m", "skillgen", "from-server", "-o", out, *arguments]
    env = environment({"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"})
    return subprocess.Popen(list(map(str, command)), env=env, **pipes)


HIDDEN = '''
import os, pathlib, runpy, signal, sys, time
pidfile, manner, *rest = sys.argv[1:]
CHILD = f"""
import os, pathlib, time
pathlib.Path({pidfile + "~"!r}).write_text(str(os.getpid()))
os.rename({pidfile + "~"!r}, {pidfile!r})
time.sleep(300)
"""
if os.fork() == 0:
    os.setsid()
    if os.fork() != 0:
        os._exit(0)
    for fd in range(3):
        os.dup2(os.open(os.devnull, os.O_RDWR), fd)
    kept = dict(os.environ) if manner == "kills its watcher" else {}
    os.execve(sys.executable, [sys.executable, "-c", CHILD], kept)
os.wait()
while not os.path.exists(pidfile):
    time.sleep(0.01)
if manner == "kills its watcher":
    os.kill(os.getppid(), signal.SIGKILL)
if manner == "is silent":
    time.sleep(300)
sys.argv = rest
runpy.run_path(rest[0], run_name="__main__")
'''

RUNAWAY = """
import os, runpy, sys, time
reading, writing = os.pipe()
if os.fork() == 0:
    os.close(0), os.close(1), os.write(writing, b".")
    for _ in range(3_000):
        if os.fork():
            os._exit(0)
        WAY
        time.sleep(0.01)
os.read(reading, 1)
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""A server that leaves behind a process which is another one at each look."""


RUNNER = """#!/bin/sh
sleep 1
exec "$@"
"""


class TestPackageRunners:
    @pytest.fixture
    def runner(self, tmp_path: Path) -> Path:
        """Returns a program with the name of a package runner, which takes its time before it runs a command."""
        runner = tmp_path / "npx"
        runner.write_text(RUNNER)
        runner.chmod(0o755)
        return runner

    def test_it_has_time_to_install_a_package_and_is_started_once(self, runner: Path, tmp_path: Path) -> None:
        """X-13: the timeout of a request is for the answers after the first."""
        command = ("env", "A=b", runner, sys.executable, "-m", "servers.over_stdio", "modern-dashdash")
        log = tmp_path / "kiosk.log"
        service = read(command=tuple(map(str, command)), env={"KIOSK_LOG": str(log)}, cwd=TESTS, timeout=0.5)
        assert [tool.name for tool in service.tools] == BOTH
        assert [entry for entry in received(log) if "started" in entry] == [{"started": "modern-dashdash"}]


class TestProcesses:
    def test_a_server_gets_what_it_needs_and_no_secrets_of_the_shell(
        self, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """X-12, X-13."""
        passed = {"HTTPS_PROXY": "http://proxy", "npm_config_registry": "https://npm", "LC_ALL": "C", "UV_INDEX": "u"}
        kept = {"AWS_SECRET_ACCESS_KEY": "s", "GITHUB_TOKEN": "t", "UV_PUBLISH_TOKEN": "p", "EDITOR": "vi"}
        for name, value in {**passed, **kept}.items():
            monkeypatch.setenv(name, value)
        names = set(crawled("environment", log, env={"KIOSK_KEY": "k"}).tools)

        assert {"PATH", "HOME", "KIOSK_KEY", *passed} <= names
        assert not kept.keys() & names

    @pytest.mark.parametrize(
        ("manner", "children"), [("stubborn", 2), ("leaves-child", 1), ("hides-child-and-ends", 1)]
    )
    def test_everything_that_was_started_ends(self, crawls: Crawls, manner: str, children: int) -> None:
        """X-13: also what ignores signals, outlives its parent, or moved to a session of its own."""
        assert crawls(manner).tools == BOTH
        assert len([entry for entry in crawls(manner).received if "pid" in entry]) == children
        # The fixture waits for the end, and then looks.

    @pytest.mark.parametrize("way", ["", "os.setsid()"])
    def test_a_process_that_runs_away_from_itself_ends(self, tmp_path: Path, way: str) -> None:
        """X-13: one that starts its successor and ends, a hundred times a second, in its group or out of it."""
        server = tmp_path / "server.py"
        server.write_text(RUNAWAY.replace("WAY", way or "pass"), encoding="utf-8")
        mark = f"RUNAWAY={tmp_path}"
        command = (sys.executable, server, ROOT / "tests/servers/verbatim.py", tmp_path / "tools.json")
        (tmp_path / "tools.json").write_text('{"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}')
        generated("from-server", "-o", tmp_path / "out", "--env", mark, "--", *command)

        def is_running() -> bool:
            found = []
            for entry in Path("/proc").iterdir() if sys.platform == "linux" else ():
                with contextlib.suppress(OSError):
                    found.append(mark.encode() in (entry / "environ").read_bytes().split(b"\0"))
            return any(found)

        until(lambda: not is_running())

    @pytest.mark.parametrize("manner", ["answers", "is silent", "kills its watcher"])
    def test_a_process_that_hides_its_environment_ends(self, tmp_path: Path, manner: str) -> None:
        """X-13: it leaves its parent, group and session; in the second case, skillgen is killed."""
        server, pidfile = tmp_path / "server.py", tmp_path / "pid"
        server.write_text(HIDDEN, encoding="utf-8")
        (tmp_path / "tools.json").write_text('{"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}')
        verbatim = ROOT / "tests/servers/verbatim.py"
        command = (sys.executable, server, pidfile, manner, verbatim, tmp_path / "tools.json")
        process = crawling(tmp_path / "out", "--", *command, stderr=subprocess.DEVNULL)
        is_killed = manner == "is silent"
        if is_killed:
            until(lambda: pidfile.exists())
            process.kill()
        assert process.wait(60) == (-signal.SIGKILL if is_killed else 0)
        pid = int(pidfile.read_text())
        until(lambda: not Path(f"/proc/{pid}").exists())

    def test_an_interrupt_ends_everything_at_once(self, log: Path) -> None:
        """X-13: when the crawl is left, nothing runs any more."""

        def interrupted(message: str) -> None:
            if message.startswith("reading"):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            crawled("stubborn", log, notify=interrupted)
        assert running(log) == []

    def test_everything_ends_also_when_skillgen_is_killed(self, log: Path, tmp_path: Path) -> None:
        """X-13: on Linux, with a server that ignores signals and a child that left parent, group and session."""
        command = ("--env", f"KIOSK_LOG={log}", "--", sys.executable, "-m", "servers.over_stdio", "hides-child")
        process = crawling(tmp_path / "out", *command, stderr=subprocess.DEVNULL)
        until(lambda: any("ready" in entry for entry in received(log)))
        assert running(log) != []
        process.kill()
        process.wait()
        until(lambda: running(log) == [])

    @pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_an_interrupt_ends_all_servers_of_a_client_file(
        self, log: Path, tmp_path: Path, number: int, exit_code: int
    ) -> None:
        """X-13: by the keyboard or by a signal, while both are being crawled; --json prints its object all the same."""
        env = {"KIOSK_LOG": str(log), "PYTHONPATH": str(ROOT / "tests")}
        entry = {"command": sys.executable, "args": ["-m", "servers.over_stdio", "hides-child"], "env": env}
        file = tmp_path / ".mcp.json"
        file.write_text(json.dumps({"mcpServers": {"one": entry, "two": entry}}))
        # Who runs the tests in the background ignores it, and so would every program that they start.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = crawling(tmp_path / "out", "--config", file, "--json", **pipes)
        signal.signal(signal.SIGINT, before)
        until(lambda: sum("ready" in entry for entry in received(log)) >= 2)

        process.send_signal(number)
        printed, said = process.communicate()

        assert [problem["message"] for problem in json.loads(printed)["problems"]] == ["interrupted"]

        assert process.returncode == exit_code
        assert "Traceback" not in said
        assert running(log) == []
        assert not (tmp_path / "out").exists()

    def test_an_interrupt_while_a_server_is_ended_shows_nothing(self, log: Path, tmp_path: Path) -> None:
        """X-13: the documents are written by then."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        command = ("--env", f"KIOSK_LOG={log}", "--", sys.executable, "-m", "servers.over_stdio", "stubborn")
        process = crawling(tmp_path / "out", *command, stderr=subprocess.PIPE, text=True)
        signal.signal(signal.SIGINT, before)
        assert process.stderr is not None
        while "2 tools" not in process.stderr.readline():
            assert process.poll() is None
        for _ in range(100):
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
        assert "Traceback" not in process.communicate()[1]
        assert process.returncode in (0, 130)
        until(lambda: running(log) == [])

    def test_a_crawl_does_not_wait_for_the_server_to_end(self, log: Path) -> None:
        """X-13: a stubborn server is ended next to the rendering."""
        crawled("stubborn", log)
        assert running(log) != []
        for entry in received(log):
            if "pid" in entry:
                os.kill(entry["pid"], signal.SIGKILL)
