"""The entry to add to a client's server file: what others can use of how the user named a server, and no value."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import listed
import pytest
from captured import service_of_answers
from cli import Finished, generated, run_skillgen
from documents import document_at, skill_in
from rows import inputs
from servers import over_http

import skillgen

TESTS = Path(__file__).parent


def program(folder: Path, name: str) -> dict[str, str]:
    """Puts a server of this name into a folder; returns the environment in which it is found."""
    folder.mkdir()
    file = folder / name
    file.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m servers.over_stdio dashdash\n", "utf-8")
    file.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def documented(tmp_path: Path, *arguments: object, name: str = "npx") -> Finished:
    env = program(tmp_path / "bin", name)
    return generated("from-server", "--out", tmp_path / "out", *arguments, cwd=TESTS, env=env)


def entries(out: Path) -> list[dict[str, Any]]:
    """Returns the JSON of the fences of about.md that name servers."""
    files = sorted(out.glob("skills/**/*.md"))
    fences = [token.content for file in files for token in document_at(file).tokens if token.type == "fence"]
    return [json.loads(text)["mcpServers"] for text in fences if "mcpServers" in text]


def test_a_portable_command_is_the_entry_with_variables_by_name(tmp_path: Path) -> None:
    """Issue 5: the client configuration to add, with environment names; never a value."""
    documented(tmp_path, "--server-name", "kiosk", "--env", "KIOSK_KEY=hunter22x", "--", "npx", "-y", "@acme/kiosk@2")
    ((name, entry),) = entries(tmp_path / "out")[0].items()
    assert (name, entry["command"], entry["args"]) == ("kiosk", "npx", ["-y", "@acme/kiosk@2"])
    assert entry["env"]["KIOSK_KEY"] == "${KIOSK_KEY}"
    assert "[Client Configuration](#client-configuration)" in skill_in(tmp_path / "out")
    texts = [file.read_text("utf-8") for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert not [text for text in texts if "hunter22x" in text]
    assert '"KIOSK_KEY": "${KIOSK_KEY}"' in (tmp_path / "out" / "ai-help.md").read_text("utf-8")


def test_an_argument_that_others_do_not_have_is_left_to_the_reader(tmp_path: Path) -> None:
    """A person completes the command; no plugin and no program starts it."""
    (tmp_path / "bin").mkdir()
    words = ("-y", "@acme/kiosk@2", "./data", str(tmp_path), "--root=/srv", "--token=hunter22x", "C:\\data", "a.db")
    options = ("--emit", "skill,plugin,scripts,server-json,ai-help", "--publish", "domain=acme.com")
    finished = documented(tmp_path / "bin", *options, "--", "npx", *words)
    assert "plugin/mcp.json" in finished.stderr
    blanks = ["<path>", "<path>", "--root=<path>", "--token=<value>", "<path>", "<value>"]
    assert [entry["kiosk"]["args"][2:] for entry in entries(tmp_path / "bin" / "out")] == [blanks]
    files = [file for file in (tmp_path / "bin" / "out").rglob("*") if file.is_file()]
    assert {file.name for file in files if "<path>" in file.read_text("utf-8")} == {"SKILL.md", "ai-help.md"}
    assert not [file for file in files if "hunter22x" in file.read_text("utf-8")]


@pytest.mark.parametrize(("name", "key"), [("acme/kiosk", "kiosk"), ("Acme Books", "acme-books"), ("acme_1", "acme_1")])
def test_the_key_of_a_server_is_one_that_hosts_accept(name: str, key: str, tmp_path: Path) -> None:
    finished, out = listed.documented(tmp_path, server={"serverInfo": {"name": name}}, tools=listed.tools(["get_a"]))
    assert f"(`mcp__{key}__`, " in skill_in(out), finished.stderr


def test_a_command_that_only_this_machine_can_run_is_not_shown(tmp_path: Path) -> None:
    """Issue 5: nothing is invented in its place; the names of its variables are known all the same."""
    command = (sys.executable, "-m", "servers.over_stdio", "dashdash")
    out = tmp_path / "out"
    generated("from-server", "--out", out, "--env", "KIOSK_KEY=hunter22x", "--", *command, cwd=TESTS)
    assert not entries(out)
    text = skill_in(out)
    assert "Environment variables: `KIOSK_KEY`" in text
    assert "\n\n\n" not in text
    assert not [file for file in out.rglob("*") if file.is_file() and sys.executable in file.read_text("utf-8")]


def test_a_server_over_http_is_added_by_its_address(tmp_path: Path) -> None:
    """Issue 5: without the query, which may hold a secret; headers by name."""
    with over_http.running("modern") as server:
        url = server.url
        options = ("--url", f"{url}?key=hunter22x", "--header", "X-Kiosk: hunter23x", "--server-name", "kiosk")
        run_skillgen("from-server", "--out", tmp_path / "out", *options).ok()
    assert entries(tmp_path / "out") == [{"kiosk": {"type": "http", "url": url}}]
    texts = [file.read_text("utf-8") for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert not [text for text in texts if "hunter2" in text]
    assert [text for text in texts if "`X-Kiosk`" in text]


def test_a_snapshot_keeps_the_entry(tmp_path: Path) -> None:
    """Issue 5: documents made offline say the same."""
    env = program(tmp_path / "bin", "uvx")
    finished = run_skillgen("inspect", "-q", "--server-name", "kiosk", "--", "uvx", "kiosk-mcp", cwd=TESTS, env=env)
    (tmp_path / "snapshot.json").write_text(finished.stdout, "utf-8")
    generated("from-server", "--out", tmp_path / "out", "--snapshot", tmp_path / "snapshot.json")
    ((name, entry),) = entries(tmp_path / "out")[0].items()
    assert (name, entry["command"], entry["args"]) == ("kiosk", "uvx", ["kiosk-mcp"])


def test_a_new_command_of_a_snapshot_is_reported_once(tmp_path: Path) -> None:
    """A stranger's snapshot may name any command; CI that repeats a run is silent."""
    file = tmp_path / "snapshot.json"
    document = skillgen.snapshot(service_of_answers({}, command=["npx", "kiosk-mcp"]))
    origins = document["services"][0]["origins"]
    run = ("from-server", "--snapshot", file, "--emit", "skill,scripts,plugin", "--allow-empty", "-o", tmp_path / "out")
    publish = ("--publish", "command=npx kiosk-mcp")
    honest, evil = {"command": ["npx", "kiosk-mcp"]}, {"command": ["sh", "-c", "touch X"], "env": ["HOME"]}
    cases = [
        (honest, {}, (), "npx kiosk-mcp; it gets no variable"),
        (honest, {}, (), ""),
        (evil, {"kind": "declared", "source": "--publish"}, (), "sh -c 'touch X'; it gets HOME"),
        (evil, {}, ("--check",), ""),
        ({**evil, "env": ["AWS_KEY", "HOME"]}, {}, ("--check",), "it gets AWS_KEY, HOME"),
        ({**evil, "command": ["sh", "-c", "touchX"]}, {}, publish, ""),
    ]
    for entry, origin, options, said in cases:
        document["services"][0]["client_entry"] = {"transport": "stdio", **entry}
        document["services"][0]["origins"] = {**origins, **({"client_entry": origin} if origin else {})}
        file.write_text(json.dumps(document), "utf-8")
        report = run_skillgen(*run, *options).stderr
        assert ("starts-what-the-snapshot-says" in report) == bool(said), (entry, report)
        assert said in report
    written = {"client_entry": {"kind": "inferred", "source": "install"}}
    document["services"][0] |= {"client_entry": {"transport": "stdio", **evil}, "origins": {**origins, **written}}
    file.write_text(json.dumps(document), "utf-8")
    generated(*run)
    assert not [path for path in (tmp_path / "out").rglob("*.json") if "touch" in path.read_text("utf-8")]


COMMANDS: dict[str, list[str]] = inputs("client_entry")


def kept(command: str, env: dict[str, str] | None = None) -> bool:
    entry = service_of_answers({}, command=command.split(), env=env or {}).client_entry
    return entry is not None and bool(entry.command)


def test_runners_modules_and_bare_programs_mean_the_same_elsewhere() -> None:
    """Issue 5."""
    assert [command for command in COMMANDS["portable"] if not kept(command)] == []


def test_paths_and_values_of_the_users_own_are_never_passed_on() -> None:
    """Issue 5: a command that holds one is left out as a whole, for without it it would be another."""
    assert [command for command in COMMANDS["private"] if kept(command)] == []


def test_an_argument_equal_to_a_variable_is_a_secret() -> None:
    """Issue 5."""
    assert kept("npx pkg pelican")
    assert not kept("npx pkg pelican", {"KEY": "pelican"})


INSTALLED = [
    ({"npm": "@acme/mcp-server"}, ["npx", "-y", "@acme/mcp-server"]),
    ({"pip": "acme-mcp"}, ["uvx", "acme-mcp"]),
    ({"brew": "acme/tap/acme", "uvx": "acme-mcp"}, ["uvx", "acme-mcp"]),
    ({"docker": "acme/kiosk:1.2"}, ["docker", "run", "-i", "--rm", "-e", "KIOSK_KEY", "acme/kiosk:1.2"]),
]


@pytest.mark.parametrize(("install", "command"), INSTALLED)
def test_a_declared_package_is_the_entry_where_no_command_is_known(
    tmp_path: Path, install: dict[str, str], command: list[str]
) -> None:
    """S0-28: `install` and `requires.env` say how to start a server."""
    out = listed.documents(
        tmp_path,
        server={"dashdash": {"install": install, "requires": {"env": ["KIOSK_KEY"]}}},
        tools=[listed.tool("buy")],
    )
    ((_, entry),) = entries(out)[0].items()
    assert [entry["command"], *entry["args"]] == command
    assert entry["env"] == {"KIOSK_KEY": "${KIOSK_KEY}"}


@pytest.mark.parametrize(
    "package", ["npm install kiosk", "--privileged", "./kiosk", "https://kiosk.example/x.tgz", "kiosk.tgz", "a;b"]
)
def test_what_is_not_the_name_of_a_package_starts_nothing(tmp_path: Path, package: str) -> None:
    """S0-28: a runner would also take a path, a URL or an option."""
    for manager in ("npm", "pip", "docker"):
        server = {"dashdash": {"install": {manager: package}}}
        finished, out = listed.documented(tmp_path, server=server, tools=[listed.tool("buy")])
        assert (finished.exit_code, entries(out)) == (0, []), finished.stderr


def test_a_known_command_or_url_is_not_replaced_by_a_package() -> None:
    """S0-28."""
    answers = {"initialize": {"dashdash": {"install": {"npm": "kiosk"}}}}
    entry = service_of_answers(answers, command=["uvx", "other"]).client_entry
    assert entry is not None
    assert entry.command == ("uvx", "other")
    remote = service_of_answers(answers, url="https://kiosk.example/mcp").client_entry
    assert remote is not None
    assert (remote.transport, remote.command) == ("http", ())


def test_the_package_that_an_author_declares_is_in_the_plugin(tmp_path: Path) -> None:
    """S0-28: a key of skillgen.yaml, before the package is published."""
    snapshot = TESTS / "golden/sources/everything.json"
    target = {"source": {"snapshot": str(snapshot)}, "emit": ["plugin"], "install": {"pip": "kiosk-mcp"}, "out": "o"}
    (tmp_path / "skillgen.yaml").write_text(json.dumps({"targets": {"kiosk": target}}), "utf-8")
    generated("build", cwd=tmp_path)
    (config,) = (tmp_path / "o").rglob("mcp.json")
    ((_, entry),) = json.loads(config.read_text("utf-8"))["mcpServers"].items()
    assert [entry["command"], *entry["args"]] == ["uvx", "kiosk-mcp"]


def test_no_program_starts_a_package_that_only_the_source_names(tmp_path: Path) -> None:
    """S0-28: the user of a skill has not chosen it; what the author of the documents declares is started."""
    server = {"dashdash": {"install": {"npm": "@acme/kiosk"}}}
    out = listed.documents(
        tmp_path, "--emit", "skill,scripts", server=server, tools=[listed.tool("buy", description="Buys a paper.")]
    )
    assert entries(out)
    assert not [file for file in out.rglob("tools.json") if "npx" in file.read_text("utf-8")]
