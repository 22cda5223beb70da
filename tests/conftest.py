"""What several test modules share: outputs that are expensive to make, and a server on the loopback interface."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli import ROOT, generated
from descriptions import TWO_GROUPS, write
from http_servers import QuietHandler, Recorder, http_servers
from properties import load_profile

load_profile()

SLOW_FIXTURES = {"github", "largest", "node_modules", "wheel"}
"""Fixtures that document a large description, build a wheel, or need what npm installed."""


SLOW_MODULES = {
    "agent_evals", "ai_help", "budget", "call", "cli", "client_config", "client_entry", "command_line",
    "commands_of_the_docs", "credentials", "draft", "first_hour", "fixpoint", "folders", "hand_edits",
    "help_of_a_server", "init", "lint", "long_texts", "mock", "network", "openapi_ways_in", "own_folders", "programs",
    "programs_by_help", "progressive_disclosure", "publish", "rules", "scripts", "secrets", "split", "systems",
    "templates", "update",
}  # fmt: skip
"""Modules that run many commands: two thirds of the time of all tests that are not slow for another reason."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what `make quick` leaves out; a module that starts many programs marks itself."""
    for item in items:
        is_slow = item.path.stem.removeprefix("test_") in SLOW_MODULES
        if is_slow or SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("slow")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keeps what is fetched away from the user's own cache."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """Returns the folder of what npm installed."""
    named = os.environ.get("SKILLGEN_TEST_NODE_MODULES")
    return Path(named) if named else ROOT / "tests" / "node" / "node_modules"


@pytest.fixture
def short_time_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the timers of this process wait for a hundredth of their time."""
    timer = signal.setitimer
    monkeypatch.setattr(signal, "setitimer", lambda which, seconds: timer(which, seconds / 100))


@pytest.fixture(scope="session")
def documents_of_two_groups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the documents of a description with two groups of tools, which no test changes."""
    folder = tmp_path_factory.mktemp("two_groups")
    generated("from-openapi", write(folder / "api.json", TWO_GROUPS), "-o", folder / "out")
    return folder / "out"


@pytest.fixture
def out(documents_of_two_groups: Path, tmp_path: Path) -> Path:
    """Returns a copy of those documents."""
    shutil.copytree(documents_of_two_groups, tmp_path / "out")
    return tmp_path / "out"


@dataclass(frozen=True, slots=True)
class GitHub:
    """GitHub's description and the documents made of it."""

    source: Path
    raw: dict[str, Any]
    out: Path
    printed: str
    """What the run said on standard error."""

    @property
    def skill(self) -> Path:
        """The folder of the one skill."""
        (folder,) = (self.out / "skills").iterdir()
        return folder


@pytest.fixture(scope="session")
def github(node_modules: Path, tmp_path_factory: pytest.TempPathFactory) -> GitHub:
    """Returns the documents of GitHub's description, which no test changes; one worker makes them for all."""
    import fcntl

    source = node_modules / "@octokit" / "openapi" / "generated" / "api.github.com.json"
    own = tmp_path_factory.getbasetemp()
    folder = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    out, printed = folder / "github", folder / "github.txt"
    with (folder / "github.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not printed.exists():
            said = generated("from-openapi", source, "-o", out, env={"PYTHONHASHSEED": "1"}).stderr
            printed.write_text(said, "utf-8")
    raw = json.loads(source.read_text("utf-8"))
    return GitHub(source=source, raw=raw, out=out, printed=printed.read_text("utf-8"))


@pytest.fixture(scope="session")
def github_snapshot(node_modules: Path) -> dict[str, Any]:
    """Returns what `inspect` prints of GitHub's description."""
    source = node_modules / "@octokit" / "openapi" / "generated" / "api.github.com.json"
    printed: dict[str, Any] = json.loads(generated("inspect", source, "-q").stdout)
    return printed


Answer = tuple[int, str, bytes]
"""Status, content type and body."""


Asked = list[tuple[str, dict[str, str]]]
Reply = Callable[[str, dict[str, str]], "tuple[int, dict[str, str], bytes]"]


Serve = Callable[[dict[str, Answer]], str]


@pytest.fixture
def api() -> Iterator[str]:
    """Returns the address of a server that answers with the request; another one is where it redirects."""
    with http_servers() as start:
        Recorder.elsewhere = start(type("Other", (Recorder,), {})).replace("127.0.0.1", "localhost")
        yield start(Recorder)


@pytest.fixture
def answering() -> Iterator[Callable[[Reply], tuple[str, Asked]]]:
    """Yields a function that serves what another one answers, and yields the address and what was asked."""
    with http_servers() as start:

        def answered_by(reply: Reply) -> tuple[str, Asked]:
            asked: Asked = []

            class Handler(QuietHandler):
                def do_GET(self) -> None:
                    headers = {name.lower(): value for name, value in self.headers.items()}
                    asked.append((self.path, headers))
                    status, sent, body = reply(self.path, headers)
                    self.send_response(status)
                    for name, value in {"Content-Length": str(len(body)), **sent}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(body)

            return start(Handler), asked

        yield answered_by


@pytest.fixture
def serve(answering: Callable[[Reply], tuple[str, Asked]]) -> Serve:
    """Returns a function that serves answers, path to answer, and yields their address; any other path is not found."""

    def served(answers: dict[str, Answer]) -> str:
        def reply(path: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
            status, content_type, body = answers.get(path, (404, "text/plain", b"no such page"))
            return status, {"Content-Type": content_type}, body

        return answering(reply)[0]

    return served
