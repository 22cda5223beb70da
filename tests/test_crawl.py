"""The crawl over stdio: of the kiosk in many manners, which shares no code with any SDK, and of real servers."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import real_servers
from captured import service_of_answers
from cli import ROOT, environment, run_skillgen
from servers.kiosk import DASHDASH, LEGACY, MODERN, PROMPTS, RESOURCES, TEMPLATES, TOOLS

import skillgen.sources.mcp.crawl as crawl_module
from skillgen.errors import SourceError
from skillgen.security.secrets import Secrets, secrets_from_arguments, secrets_from_headers
from skillgen.sources.mcp import connect, jsonrpc, process, session
from skillgen.sources.mcp.crawl import Crawl, ServerTarget, crawl
from skillgen.sources.mcp.jsonrpc import ConnectionLost
from skillgen.sources.mcp.target import CrawlScope
from skillgen.text.unicode import printable

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent


@dataclass
class Workbench:
    """Crawls servers, and knows what they received."""

    log: Path
    said: list[str] = field(default_factory=list)
    progress: Callable[[str], None] | None = None

    def crawl(
        self,
        command: tuple[str, ...],
        timeout_s: float = 20.0,
        env: Mapping[str, str] | None = None,
        cwd: Path = TESTS,
        scope: CrawlScope | None = None,
    ) -> Crawl:
        """Crawls a command."""
        given = {"KIOSK_LOG": str(self.log), **(env or {})}
        target = ServerTarget(command=command, env=given, cwd=cwd, timeout_s=timeout_s, scope=scope or CrawlScope())
        return crawl(target, self.progress or self.said.append)

    def kiosk(
        self,
        manner: str,
        timeout_s: float = 20.0,
        env: Mapping[str, str] | None = None,
        scope: CrawlScope | None = None,
    ) -> Crawl:
        """Crawls the kiosk."""
        return self.crawl((sys.executable, "-m", "servers.over_stdio", manner), timeout_s, env, scope=scope)

    def extended(self, manner: str, timeout_s: float = 20.0, scope: CrawlScope | None = None) -> Crawl:
        """Crawls the kiosk with extensions of the protocol."""
        return self.crawl((sys.executable, "-m", "servers.extended", manner), timeout_s, scope=scope)

    def received(self) -> list[dict[str, Any]]:
        """Returns what the kiosk noted."""
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def methods(self) -> list[str]:
        """Returns the methods of the messages that the kiosk received, a `-` for each start."""
        return [entry.get("method", "-") for entry in self.received() if "method" in entry or "started" in entry]

    def running(self) -> list[str]:
        """Returns the processes that were started by a crawl and still run: they know the path of the log."""
        marker = f"KIOSK_LOG={self.log}\0".encode()
        return [entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit() and _is_marked(entry, marker)]


def _is_marked(entry: Path, marker: bytes) -> bool:
    try:
        return marker in (entry / "environ").read_bytes()
    except OSError:
        return False


def _until(is_so: Callable[[], bool]) -> None:
    """Waits for something that another process does; fails after half a minute."""
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        select.select([], [], [], 0.02)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    """A workbench, at which nothing is left running."""
    workbench = Workbench(tmp_path / "kiosk.log")
    yield workbench
    for thread in threading.enumerate():
        if thread.name.startswith("skillgen"):
            thread.join(10)
            assert not thread.is_alive()
    assert workbench.running() == []


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the crawl impatient with servers that stay silent on purpose."""
    monkeypatch.setattr(connect, "_STDIO_PROBE_S", 0.2)
    monkeypatch.setattr(crawl_module, "_UNDECLARED_TIMEOUT_S", 0.2)
    monkeypatch.setattr(process, "_GRACE_S", 0.2)
    monkeypatch.setattr(process, "_TERM_GRACE_S", 0.2)


def tool_names(result: Crawl) -> list[str]:
    """Returns the names of the tools, over all pages."""
    return [tool["name"] for page in result.results.get("tools/list", []) for tool in page["tools"]]


class TestEras:
    @pytest.mark.parametrize("version", [*LEGACY, MODERN])
    def test_every_revision_of_the_protocol_crawls_and_its_results_stay_raw(
        self, bench: Workbench, version: str
    ) -> None:
        """X-01, X-04, S0-03, S0-05: also what no typed model knows, such as a tool without an input schema."""
        result = bench.kiosk(version)

        assert (result.protocol_version, result.transport, result.url) == (version, "stdio", None)
        assert result.results["tools/list"] == [{"tools": TOOLS}]
        assert result.results["resources/list"] == [{"resources": RESOURCES}]
        assert result.results["resources/templates/list"] == [{"resourceTemplates": TEMPLATES}]
        assert result.results["prompts/list"] == [{"prompts": PROMPTS}]
        assert result.problems == ()
        assert "ai_help" not in result.results

    def test_the_newest_is_tried_first_and_ai_help_is_asked_for_last(self, bench: Workbench) -> None:
        """X-02, S0-15: a method that a server does not know may be its end, so that one comes when all is read."""
        bench.kiosk(LEGACY[-1])

        methods = bench.methods()
        assert methods[:4] == ["-", "server/discover", "initialize", "notifications/initialized"]
        assert sorted(methods[4:8]) == ["prompts/list", "resources/list", "resources/templates/list", "tools/list"]
        assert methods[8:] == ["ai_help"]

    def test_every_request_of_the_newest_revision_carries_its_meta(self, bench: Workbench) -> None:
        """S0-17, X-03: version, client and capabilities stand in each request, `ai_help` included."""
        bench.kiosk(MODERN, scope=CrawlScope(no_legacy_handshake=True))

        requests = [entry for entry in bench.received() if "method" in entry]
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
        ("manner", "opening", "version", "starts"),
        [
            ("dies-on-unknown", "initialize", LEGACY[0], 2),
            ("ignores-unknown", "initialize", LEGACY[1], 1),
            ("spoiled", "initialize", LEGACY[-1], 2),
            ("unsupported-but-legacy", "initialize", LEGACY[-1], 1),
            ("starts-slowly", "server/discover", MODERN, 2),
            ("locked", "server/discover", MODERN, 2),
        ],
    )
    def test_whatever_becomes_of_the_first_request_the_server_is_crawled(
        self, bench: Workbench, short_waits: None, manner: str, opening: str, version: str, starts: int
    ) -> None:
        """X-02: an error, silence and death lead to `initialize`; a slow modern server is still heard."""
        result = bench.kiosk(manner)

        assert result.protocol_version == version
        assert opening in result.results
        assert tool_names(result) == ["buy_paper", "list_papers"]
        assert bench.methods().count("-") == starts

    def test_a_modern_error_is_no_reason_to_fall_back(self, bench: Workbench) -> None:
        """X-02: -32022 from a server that names no version before the newest is its last word."""
        with pytest.raises(SourceError, match=r"-32022.*Unsupported protocol version.*2099-01-01"):
            bench.kiosk("unsupported")

        assert bench.methods() == ["-", "server/discover"]


class TestDashdash:
    def test_the_extension_and_its_help_are_read_from_an_initialize_result(self, bench: Workbench) -> None:
        """S0-01, S0-15: the keys survive at the top of the result."""
        result = bench.kiosk("dashdash")

        assert result.results["initialize"]["dashdash"] == DASHDASH
        assert result.results["ai_help"] == {"content": "# Kiosk", "contentType": "text/markdown"}

    def test_the_extension_and_its_help_are_read_from_a_discover_result(self, bench: Workbench) -> None:
        """S0-02, S0-17."""
        result = bench.kiosk("modern-dashdash")

        assert result.results["server/discover"]["capabilities"]["extensions"]["io.dashdash/dashdash"] == DASHDASH
        assert result.results["ai_help"]["content"] == "# Kiosk"

    def test_a_promised_help_that_is_missing_is_worth_knowing_and_no_more(self, bench: Workbench) -> None:
        """S0-16."""
        result = bench.kiosk("dashdash-without-help")

        assert [(problem.code, problem.level) for problem in result.problems] == [("ai-help-missing", "info")]


class TestLegacyHandshake:
    def test_legacy_only_metadata_is_read_from_a_second_process(self, bench: Workbench) -> None:
        """X-07: also where the server does not say that it supports the legacy handshake, but a tool knows dashdash."""
        result = bench.extended("two-handshakes")

        assert result.protocol_version == MODERN
        assert result.results["initialize"]["dashdash"] == DASHDASH
        assert result.results["ai_help"]["content"] == "# Old help"
        assert bench.methods().count("-") == 2
        assert (
            service_of_answers(result.results, protocol_version=MODERN).summary == DASHDASH["identity"]["description"]
        )

    def test_it_is_read_also_where_nothing_hints_at_it(self, bench: Workbench) -> None:
        """X-07: no other request shows whether a server has it, and what is not asked for is lost."""
        result = bench.extended("two-handshakes-without-a-hint")

        assert result.results["initialize"]["dashdash"] == DASHDASH
        assert bench.methods().count("-") == 2

    def test_a_server_that_declares_the_legacy_handshake_is_asked_with_it(self, bench: Workbench) -> None:
        """X-07."""
        assert bench.extended("two-handshakes-declared").results["initialize"]["dashdash"] == DASHDASH

    def test_the_second_process_can_be_turned_off(self, bench: Workbench) -> None:
        """X-07."""
        result = bench.extended("two-handshakes", scope=CrawlScope(no_legacy_handshake=True))

        assert "initialize" not in result.results
        assert bench.methods().count("-") == 1

    def test_a_modern_server_with_dashdash_is_started_once(self, bench: Workbench) -> None:
        """X-07."""
        bench.kiosk("modern-dashdash")
        assert bench.methods().count("-") == 1


class TestLists:
    def test_a_list_that_dribbles_for_ever_ends_with_the_time_of_the_crawl(
        self, bench: Workbench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """X-04, X-13: each page comes in time; what came is kept."""
        monkeypatch.setattr(session, "_CRAWL_TIMEOUT_FACTOR", 0.5)
        result = bench.extended("dribbling", timeout_s=1.0)

        assert tool_names(result)[:2] == ["tool_1", "tool_2"]
        assert [problem.code for problem in result.problems] == ["list-too-long", "ai-help-missing"]

    def test_the_empty_string_is_a_cursor_and_null_is_not_one(self, bench: Workbench) -> None:
        """X-04."""
        result = bench.kiosk("pages")

        assert tool_names(result) == ["buy_paper", "list_papers", "close"]
        cursors = [entry["params"].get("cursor") for entry in bench.received() if entry.get("method") == "tools/list"]
        assert cursors == [None, "", "last"]
        assert result.problems == ()

    @pytest.mark.parametrize(
        ("manner", "code"),
        [("pages-in-a-circle", "list-cursor-repeated"), ("empty-cursor-for-the-end", "list-page-repeated")],
    )
    def test_a_list_that_begins_anew_ends_with_a_problem_and_no_tool_twice(
        self, bench: Workbench, manner: str, code: str
    ) -> None:
        """X-04."""
        result = bench.kiosk(manner)

        assert tool_names(result) == ["buy_paper", "list_papers"]
        assert [problem.code for problem in result.problems] == [code]

    def test_a_list_without_end_is_read_up_to_a_limit(self, bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
        """X-04, X-13."""
        monkeypatch.setattr(crawl_module, "_PAGES_LIMIT", 5)
        result = bench.kiosk("endless")

        assert tool_names(result) == [f"tool_{number}" for number in range(1, 6)]
        assert [problem.code for problem in result.problems] == ["list-too-long"]

    def test_a_list_that_fails_costs_nothing_else(self, bench: Workbench) -> None:
        """X-05, X-06: what the server does not know is worth knowing, what it fails at is missing."""
        result = bench.kiosk("refuses-lists")

        assert tool_names(result) == ["buy_paper", "list_papers"]
        assert {(problem.where, problem.code, problem.level) for problem in result.problems} == {
            ("resources/list", "list-failed", "warning"),
            ("resources/templates/list", "list-not-offered", "info"),
            ("prompts/list", "list-incomplete", "warning"),
        }
        assert "resources/list" not in result.results
        assert "database is locked" in "".join(problem.message for problem in result.problems)

    def test_a_list_of_tools_that_asks_for_input_is_reported_as_that(self, bench: Workbench) -> None:
        """X-06: not fatal; what else the server offers is read."""
        result = bench.kiosk("asks-before-tools")

        assert ("tools/list", "list-incomplete", "warning") in {
            (problem.where, problem.code, problem.level) for problem in result.problems
        }
        assert "input_required" in "".join(problem.message for problem in result.problems)
        assert "tools/list" not in result.results
        assert "resources/list" in result.results

    def test_a_server_that_dies_over_another_list_still_has_its_tools(self, bench: Workbench) -> None:
        """X-05."""
        result = bench.kiosk("dies-in-resources")

        assert tool_names(result) == ["buy_paper", "list_papers"]
        failed = {problem.where for problem in result.problems if problem.code == "list-failed"}
        assert "resources/list" in failed

    @pytest.mark.parametrize(
        ("manner", "said"),
        [
            ("refuses-tools", "-32601"),
            ("dies-in-tools", "status 7.*\n.*kiosk: fatal"),
            ("closes-stdout", "closed its standard"),
        ],
    )
    def test_without_the_tools_that_it_declares_there_is_nothing_to_document(
        self, bench: Workbench, manner: str, said: str
    ) -> None:
        """X-05."""
        with pytest.raises(SourceError, match=said):
            bench.kiosk(manner)

    def test_tools_that_are_not_declared_are_found_all_the_same(self, bench: Workbench) -> None:
        """X-05: and nothing else is asked for."""
        result = bench.kiosk("declares-nothing")

        assert tool_names(result) == ["buy_paper", "list_papers"]
        assert "resources/list" not in bench.methods()

    def test_a_server_without_tools_is_not_a_fatal_error_here(self, bench: Workbench) -> None:
        """X-05."""
        result = bench.kiosk("no-tools")

        assert "tools/list" not in result.results
        assert result.results["prompts/list"] == [{"prompts": PROMPTS}]
        assert result.problems == ()


class TestSloppyServers:
    @pytest.mark.parametrize(
        "manner",
        [
            "banner",
            "banner-without-end",
            "banner-in-utf16",
            "null-id",
            "float-ids",
            "asks-back",
            "floods",
            "floods-stderr",
        ],
    )
    def test_text_between_the_messages_does_no_harm(self, bench: Workbench, short_waits: None, manner: str) -> None:
        """X-13, S0-16: banners in any encoding, log records, batches, errors without an id, requests of its own."""
        assert tool_names(bench.kiosk(manner)) == ["buy_paper", "list_papers"]

    def test_answers_that_are_nearly_json_rpc_are_understood(self, bench: Workbench) -> None:
        """X-05: no `jsonrpc`, texts for ids and codes, a null result."""
        result = bench.kiosk("sloppy")

        assert tool_names(result) == ["buy_paper", "list_papers"]
        assert "resources/list" not in result.results
        assert {problem.where for problem in result.problems} == {"resources/list", "prompts/list"}

    def test_silence_on_ai_help_is_normal(self, bench: Workbench, short_waits: None) -> None:
        """S0-16: it is noted, since a server that answered before may have failed."""
        problems = bench.kiosk("ignores-unknown").problems
        assert [(problem.code, problem.level) for problem in problems] == [("ai-help-missing", "info")]

    def test_a_message_without_a_bottom_ends_the_crawl_with_a_word(self, bench: Workbench) -> None:
        """X-13."""
        with pytest.raises(SourceError, match="the result is not an object"):
            bench.kiosk("deep")

    def test_what_a_server_sends_is_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """X-13: in all, and on one line."""
        monkeypatch.setattr(jsonrpc, "SOURCE_LIMIT_BYTES", 100)
        with pytest.raises(ConnectionLost, match="the limit of a crawl"):
            list(jsonrpc.read_lines(io.BytesIO(b"x\n" * 51)))
        monkeypatch.undo()
        monkeypatch.setattr(jsonrpc, "_LINE_LIMIT_BYTES", 100)
        with pytest.raises(ConnectionLost, match="a line of more than"):
            list(jsonrpc.read_lines(io.BytesIO(b"x" * 101)))
        assert list(jsonrpc.read_lines(io.BytesIO(b"ab\n\ncd"))) == [b"ab", b"", b"cd"]


class TestDeadEnds:
    def test_a_command_that_does_not_exist(self, bench: Workbench) -> None:
        """X-13."""
        with pytest.raises(SourceError) as caught:
            bench.crawl(("no-such-program", "--token=abcdef"))

        assert (caught.value.what, caught.value.where) == ("The command does not exist.", "no-such-program")
        assert caught.value.fix is not None

    def test_a_folder_that_does_not_exist(self, bench: Workbench, tmp_path: Path) -> None:
        """X-13: is not taken for a missing command."""
        with pytest.raises(SourceError, match=r"The folder .* does not exist"):
            bench.crawl((sys.executable,), cwd=tmp_path / "nowhere")

    def test_a_file_that_is_no_program(self, bench: Workbench, tmp_path: Path) -> None:
        """X-13."""
        with pytest.raises(SourceError, match="cannot be started"):
            bench.crawl((str(tmp_path),))

    def test_a_server_that_exits_is_quoted_without_colours_and_secrets(self, bench: Workbench) -> None:
        """X-12, X-13: exit status and the last lines of standard error, but never a value from the environment."""
        with pytest.raises(SourceError) as caught:
            bench.kiosk("exits", env={"KIOSK_KEY": "hunter2-hunter2"})

        assert caught.value.what == (
            "It exited with status 3. Its last lines on standard error:\n  kiosk: bad key [hidden]"
        )
        assert caught.value.where == sys.executable

    def test_a_program_that_is_no_server(self, bench: Workbench) -> None:
        """X-13."""
        with pytest.raises(SourceError, match=r"not an MCP server.*'tick'"):
            bench.kiosk("garbage")

    def test_framing_of_a_language_server_is_reported(self, bench: Workbench) -> None:
        """X-13: and is no server without tools."""
        with pytest.raises(SourceError, match="`Content-Length` header before each message"):
            bench.kiosk("framed")

    def test_a_server_that_says_nothing(self, bench: Workbench, short_waits: None) -> None:
        """X-13: names the request, the time, and the option."""
        with pytest.raises(SourceError, match=r"`initialize`.*0\.5 seconds") as caught:
            bench.kiosk("silent", timeout_s=0.5)

        assert "--timeout" in (caught.value.fix or "")


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


class TestProcesses:
    def test_a_server_gets_what_it_needs_and_no_secrets_of_the_shell(
        self, bench: Workbench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """X-12, X-13."""
        passed = {"HTTPS_PROXY": "http://proxy", "npm_config_registry": "https://npm", "LC_ALL": "C", "UV_INDEX": "u"}
        kept = {"AWS_SECRET_ACCESS_KEY": "s", "GITHUB_TOKEN": "t", "UV_PUBLISH_TOKEN": "p", "EDITOR": "vi"}
        for name, value in {**passed, **kept}.items():
            monkeypatch.setenv(name, value)
        names = set(tool_names(bench.kiosk("environment", env={"KIOSK_KEY": "k"})))

        assert {"PATH", "HOME", "KIOSK_KEY", *passed} <= names
        assert not kept.keys() & names

    @pytest.mark.parametrize(
        ("manner", "children"), [("stubborn", 2), ("leaves-child", 1), ("hides-child-and-ends", 1)]
    )
    def test_everything_that_was_started_ends(
        self, bench: Workbench, short_waits: None, manner: str, children: int
    ) -> None:
        """X-13: also what ignores signals, outlives its parent, or moved to a session of its own."""
        result = bench.kiosk(manner)

        assert tool_names(result) == ["buy_paper", "list_papers"]
        assert len([entry for entry in bench.received() if "pid" in entry]) == children
        # The workbench waits for the end, and then looks.

    @pytest.mark.parametrize("way", ["", "os.setsid()"])
    def test_a_process_that_runs_away_from_itself_ends(self, tmp_path: Path, way: str) -> None:
        """X-13: one that starts its successor and ends, a hundred times a second, in its group or out of it."""
        server = tmp_path / "server.py"
        server.write_text(RUNAWAY.replace("WAY", way or "pass"), encoding="utf-8")
        mark = f"RUNAWAY={tmp_path}"
        command = (sys.executable, server, ROOT / "tests/servers/verbatim.py", tmp_path / "tools.json")
        (tmp_path / "tools.json").write_text('{"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}')
        finished = run_skillgen("from-server", "-o", tmp_path / "out", "--env", mark, "--", *command)
        assert finished.exit_code == 0, finished.stderr

        def is_running() -> bool:
            found = []
            for entry in Path("/proc").iterdir() if sys.platform == "linux" else ():
                with contextlib.suppress(OSError):
                    found.append(mark.encode() in (entry / "environ").read_bytes().split(b"\0"))
            return any(found)

        _until(lambda: not is_running())

    @pytest.mark.parametrize("manner", ["answers", "is silent", "kills its watcher"])
    def test_a_process_that_hides_its_environment_ends(self, tmp_path: Path, manner: str) -> None:
        """X-13: it leaves its parent, group and session; in the second case, skillgen is killed."""
        server, pidfile = tmp_path / "server.py", tmp_path / "pid"
        server.write_text(HIDDEN, encoding="utf-8")
        (tmp_path / "tools.json").write_text('{"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}')
        verbatim = ROOT / "tests/servers/verbatim.py"
        command = (sys.executable, server, pidfile, manner, verbatim, tmp_path / "tools.json")
        running = subprocess.Popen(
            [sys.executable, "-m", "skillgen", "from-server", "-o", tmp_path / "out", "--", *command],
            env=environment({"PYTHONPATH": str(ROOT)}),
            stderr=subprocess.DEVNULL,
        )
        is_killed = manner == "is silent"
        if is_killed:
            _until(lambda: pidfile.exists())
            running.kill()
        assert running.wait(60) == (-signal.SIGKILL if is_killed else 0)
        pid = int(pidfile.read_text())
        _until(lambda: not Path(f"/proc/{pid}").exists())

    def test_an_interrupt_ends_everything_at_once(self, bench: Workbench) -> None:
        """X-13: when the crawl is left, nothing runs any more."""

        def interrupted(message: str) -> None:
            if message.startswith("reading"):
                raise KeyboardInterrupt

        bench.progress = interrupted
        with pytest.raises(KeyboardInterrupt):
            bench.kiosk("stubborn")

        assert bench.running() == []

    def test_everything_ends_also_when_skillgen_is_killed(self, bench: Workbench, tmp_path: Path) -> None:
        """X-13: on Linux, with a server that ignores signals and a child that left parent, group and session."""
        command = ("-m", "skillgen", "from-server", "-o", tmp_path / "out", "--env", f"KIOSK_LOG={bench.log}", "--")
        running = subprocess.Popen(
            [sys.executable, *map(str, command), sys.executable, "-m", "servers.over_stdio", "hides-child"],
            env=environment({"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}),
            stderr=subprocess.DEVNULL,
        )
        _until(lambda: any("ready" in entry for entry in bench.received()))
        assert bench.running() != []
        running.kill()
        running.wait()
        _until(lambda: bench.running() == [])

    @pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_an_interrupt_ends_all_servers_of_a_client_file(
        self, bench: Workbench, tmp_path: Path, number: int, exit_code: int
    ) -> None:
        """X-13: by the keyboard or by a signal, while both are being crawled; --json prints its object all the same."""
        env = {"KIOSK_LOG": str(bench.log), "PYTHONPATH": str(ROOT / "tests")}
        entry = {"command": sys.executable, "args": ["-m", "servers.over_stdio", "hides-child"], "env": env}
        file = tmp_path / ".mcp.json"
        file.write_text(json.dumps({"mcpServers": {"one": entry, "two": entry}}))
        # Who runs the tests in the background ignores it, and so would every program that they start.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        running = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "skillgen",
                "from-server",
                "-o",
                str(tmp_path / "out"),
                "--config",
                str(file),
                "--json",
            ],
            env=environment({"PYTHONPATH": str(ROOT)}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        signal.signal(signal.SIGINT, before)
        _until(lambda: sum("ready" in entry for entry in bench.received()) == 2)

        running.send_signal(number)
        printed, said = running.communicate()

        assert [problem["message"] for problem in json.loads(printed)["problems"]] == ["interrupted"]

        assert running.returncode == exit_code
        assert "Traceback" not in said
        assert bench.running() == []
        assert not (tmp_path / "out").exists()

    def test_an_interrupt_while_a_server_is_ended_shows_nothing(self, bench: Workbench, tmp_path: Path) -> None:
        """X-13: the documents are written by then."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        command = ("-m", "skillgen", "from-server", "-o", tmp_path / "out", "--env", f"KIOSK_LOG={bench.log}", "--")
        running = subprocess.Popen(
            [sys.executable, *map(str, command), sys.executable, "-m", "servers.over_stdio", "stubborn"],
            env=environment({"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}),
            stderr=subprocess.PIPE,
            text=True,
        )
        signal.signal(signal.SIGINT, before)
        assert running.stderr is not None
        while "2 tools" not in running.stderr.readline():
            assert running.poll() is None
        for _ in range(100):
            running.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(0.02)
        assert "Traceback" not in running.communicate()[1]
        assert running.returncode in (0, 130)
        _until(lambda: bench.running() == [])

    def test_a_crawl_does_not_wait_for_the_server_to_end(self, bench: Workbench) -> None:
        """X-13: a stubborn server is ended next to the rendering."""
        bench.kiosk("stubborn")

        assert bench.running() != []
        for entry in bench.received():
            if "pid" in entry:
                os.kill(entry["pid"], signal.SIGKILL)


class TestExcerpts:
    def test_text_of_a_server_cannot_act_on_a_terminal(self) -> None:
        """X-09."""
        assert printable("\x1b]0;title\x07a\x1b[2Jb\r\nc\u202ed\x9b") == "ab cd"
        assert printable("x" * 400, 10) == "x" * 9 + "…"

    @pytest.mark.parametrize(
        "form",
        ["p%40ss%2Fword%2B1", "p%40ss/word%2B1", "cEBzcy93b3JkKzE="],
    )
    def test_secrets_are_redacted_where_they_are_encoded(self, form: str) -> None:
        """X-12: base64, hexadecimal, percent signs."""
        data, places = Secrets({"p@ss/word+1": "the variable P"}).hide_in({"a": [f"it is {form}!"]})
        assert (str(data).count("[hidden]"), form in str(data), places) == (1, False, ("the variable P",))

    @pytest.mark.parametrize("before", ["", "a", "ab", '{"key":"'])
    def test_secrets_are_redacted_inside_of_encoded_text(self, before: str) -> None:
        """X-12: whatever is encoded with them."""
        encoded = base64.b64encode(f"{before}p@ss/word+1 and more".encode()).decode()
        data, places = Secrets({"p@ss/word+1": "the variable P"}).hide_in({"a": encoded})
        assert places
        assert "[hidden]" in str(data)

    @pytest.mark.parametrize(
        ("name", "value", "secrets"),
        [
            ("Authorization", "Basic " + base64.b64encode(b"bob:correct-horse").decode(), ["correct-horse"]),
            ("Cookie", "sid=abcdefgh; csrf=12345678", ["abcdefgh", "12345678"]),
            ("Authorization", "Bearer t0ken", ["t0ken"]),
        ],
    )
    def test_what_a_header_encodes_is_secret_too(self, name: str, value: str, secrets: list[str]) -> None:
        """X-12."""
        hide = secrets_from_headers([(name, value)]).hide
        assert [hide(secret) for secret in secrets] == ["[hidden]"] * len(secrets)

    def test_secrets_are_redacted_before_a_text_is_cut(self) -> None:
        """X-12."""
        secrets = Secrets({"Zq7kWm2xP9vT": "a", "abcd-efgh": "b", "abcd": "c", "1": "d"})
        assert secrets.excerpt("key abcd-efgh, 1") == "key [hidden], 1"
        assert secrets.excerpt("x" * 8 + "Zq7kWm2xP9vT", 12) == "xxxxxxxx[hi…"

    def test_a_message_of_a_server_shows_no_credential_and_nothing_unseen(self) -> None:
        """S0-22, X-12: what a server says of its failure is printed, and stays in logs."""
        key = "ghp_" + "aB3dE6gH9jK2" * 3
        said = Secrets().excerpt(f"bad key {key}\U000e0041\u061c, ask for another")
        assert (key in said, said.endswith(", ask for another")) == (False, True)
        assert said.isascii()

    def test_arguments_that_look_like_secrets_are_known(self) -> None:
        """X-12."""
        arguments = [
            "--api-key",
            "k1234",
            "--port",
            "8080",
            "--token=t1234",
            "postgres://me:pass@host/db",
            "API_KEY=e1",
        ]
        arguments += ["--dsn=Server=x;Password=d1234;", "--header", "Authorization: Bearer b1234", "--", "e1234f5678a9"]
        arguments.append('{"apiKey": "j1234", "description": "Takes key=shown1.", "path": "/srv/shown2"}')
        hide = secrets_from_arguments(arguments).hide
        secrets = ["k1234", "t1234", "pass", "d1234", "b1234", "e1234f5678a9", "j1234"]
        assert [value for value in secrets if hide(value) != "[hidden]"] == []
        assert hide("8080 Server host postgres shown1 /srv/shown2") == "8080 Server host postgres shown1 /srv/shown2"


class TestRealServers:
    """Servers that other people wrote, on three SDKs and their own versions of the protocol."""

    def test_server_everything(self, bench: Workbench) -> None:
        """S0-05, X-01, X-05."""
        result = bench.crawl(real_servers.everything())

        assert result.protocol_version == "2025-11-25"
        assert {"echo", "get-sum"} <= set(tool_names(result))
        assert result.results["prompts/list"][0]["prompts"]
        assert result.results["resources/templates/list"][0]["resourceTemplates"]
        assert result.problems == ()

    def test_server_filesystem(self, bench: Workbench, tmp_path: Path) -> None:
        """S0-05, S0-16."""
        assert "read_text_file" in tool_names(bench.crawl(real_servers.filesystem(tmp_path)))

    def test_server_memory(self, bench: Workbench) -> None:
        """S0-05, S0-16."""
        assert "create_entities" in tool_names(bench.crawl(real_servers.memory()))

    def test_server_git(self, bench: Workbench, tmp_path: Path) -> None:
        """S0-05, X-02: the first version of the Python SDK calls an unknown method invalid parameters."""
        subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
        result = bench.crawl(real_servers.git(tmp_path))

        assert result.protocol_version == "2025-11-25"
        assert "git_status" in tool_names(result)

    def test_server_time(self, bench: Workbench) -> None:
        """S0-05, X-02."""
        assert "convert_time" in tool_names(bench.crawl(real_servers.clock()))

    def test_a_server_on_the_second_version_of_the_sdk(self, bench: Workbench) -> None:
        """S0-17, X-01, X-02: it is of the newest revision, and stays with the handshake of its first request."""
        result = bench.crawl(real_servers.modern_sdk())

        assert result.protocol_version == MODERN
        assert tool_names(result) == ["buy_paper"]
        assert result.results["tools/list"][0]["resultType"] == "complete"
