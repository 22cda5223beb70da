"""What a server says of the machine that crawls it stays there (issue 7, "Secrets")."""

from __future__ import annotations

import getpass
import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from cli import ROOT, files_of, run_skillgen

from skillgen.model.service import Service, Tool
from skillgen.sources.mcp.machine import without_machine


def said(text: str) -> str:
    """Gives what a description becomes."""
    service = Service(kind="mcp", name="s", tools=(Tool(name="t", description=text, pointer="/tools/0"),))
    return without_machine(service).tools[0].description or ""


@pytest.fixture
def alices_laptop(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(Path, "home", lambda: Path("/home/alice"))
    monkeypatch.setattr(getpass, "getuser", lambda: "alice")
    monkeypatch.setattr(socket, "gethostname", lambda: "alice-mbp.office.example")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("Allowed: /home/alice/notes.", "Allowed: ~/notes."),
        ("Allowed: `/home/alice`, /tmp", "Allowed: `~`, /tmp"),
        ("See file:///home/alice/a.txt.", "See file://~/a.txt."),
        ("Kept in /mnt/data/alice/x.", "Kept in /mnt/data/USER/x."),
        ("Runs on alice-mbp.office.example:80.", "Runs on HOST:80."),
        # What only looks like it.
        ("See https://github.com/alice/repo.", "See https://github.com/alice/repo."),
        ("See https://x.example/home/alice/a.", "See https://x.example/home/alice/a."),
        ("Ask alice about /home/alice-cooper.", "Ask alice about /home/alice-cooper."),
    ],
)
def test_a_path_of_this_machine_becomes_a_placeholder(alices_laptop: Path, text: str, safe: str) -> None:
    assert said(text) == safe
    assert said(f"Works in {alices_laptop}/sub.") == "Works in ./sub."


@pytest.mark.parametrize("user", ["node", "root", "al"])
def test_a_user_with_the_name_of_a_thing_changes_no_path(
    alices_laptop: Path, monkeypatch: pytest.MonkeyPatch, user: str
) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: user)
    assert said(f"Reads /srv/{user}/x.") == f"Reads /srv/{user}/x."


def test_no_document_and_no_snapshot_names_the_folders_of_the_machine(tmp_path: Path) -> None:
    """S0-22: also not in schemas; the place is reported."""
    home = tmp_path / "people" / "alice"
    home.mkdir(parents=True)
    schema: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "string", "default": f"{home}/a"}}}
    tool = {"name": "list_files", "description": f"Lists files below {home} and {tmp_path}.", "inputSchema": schema}
    listed = tmp_path / "tools.json"
    listed.write_text(json.dumps({"tools": [tool]}), encoding="utf-8")
    server = (sys.executable, ROOT / "tests/servers/verbatim.py", "tools.json")
    env = {"HOME": str(home), "USERPROFILE": str(home)}
    finished = run_skillgen("from-server", "--json", "--", *server, cwd=tmp_path, env=env)
    assert finished.exit_code == 0, finished.stderr
    report = json.loads(finished.stdout)
    places = {item["where"] for item in report["problems"] if item["code"] == "machine-left-out"}
    assert "/tools/0/description" in {place[-len("/tools/0/description") :] for place in places}
    snapshot = run_skillgen("inspect", "--", *server, cwd=tmp_path, env=env)
    documents = files_of(tmp_path / "agent-docs")
    assert documents
    for content in (*documents.values(), snapshot.stdout.encode()):
        assert str(home).encode() not in content
        assert str(tmp_path).encode() not in content
