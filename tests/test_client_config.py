"""Servers that a client's file names: what the clients fill in, several at once, and nothing that leaks."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from captured import crawled as captured
from cli import Finished, files_of, generated, run_skillgen
from conftest import Serve
from descriptions import description, write
from rows import inputs
from servers import over_http

import skillgen

TESTS = Path(__file__).parent


def kiosk(manner: str, **more: Any) -> dict[str, Any]:
    """Returns an entry that starts the kiosk."""
    env = {"PYTHONPATH": str(TESTS), **more.pop("env", {})}
    return {"command": sys.executable, "args": ["-m", "servers.over_stdio", manner], "env": env, **more}


def config(
    folder: Path, servers: dict[str, Any], name: str = ".mcp.json", key: str = "mcpServers", **more: Any
) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({key: servers, **more}), "utf-8")
    return path


def target(
    path: Path,
    environment: dict[str, str] | None = None,
    given: dict[str, str] | None = None,
    server: str | None = None,
) -> Any:
    """Returns the server of a file, the one with this name or the only one, as it would be crawled."""
    system = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    with mock.patch.dict(os.environ, {**system, **(environment or {})}, clear=True), captured({}) as crawl:
        skillgen.read(config=path, server=server, env=given or {})
    return crawl.call_args.args[0]


def crawled(path: Path | str, out: Path, *options: object, **more: Any) -> Finished:
    return run_skillgen("from-server", "--config", path, "--out", out, *options, **more)


class TestSeveralServers:
    def test_each_is_documented_in_a_folder_of_its_name(self, tmp_path: Path) -> None:
        """Issue 3, "Client configuration files": the name in the file is the one under which a host mounts it."""
        servers = {"My Kiosk": kiosk("2025-11-25"), "old": kiosk("2024-11-05"), "off": kiosk("silent", disabled=True)}
        finished = crawled(config(tmp_path, servers), tmp_path / "out", "--json").ok()
        assert {path.name for path in (tmp_path / "out").iterdir() if path.is_dir()} == {"my-kiosk", "old"}
        skill = (tmp_path / "out" / "my-kiosk" / "skills" / "kiosk-my-kiosk" / "SKILL.md").read_text("utf-8")
        assert "of the MCP server `My Kiosk`" in skill
        assert "`mcp__My_Kiosk__`" in skill
        printed = json.loads(finished.stdout)
        assert printed["counts"]["services"] == 2
        assert {file["path"].split("/out/")[1].split("/")[0] for file in printed["files"]} == {"my-kiosk", "old"}

    def test_inspect_takes_the_same_options_and_gets_the_same_bytes(self, tmp_path: Path) -> None:
        """X-51, issue 3: `inspect` takes what from-server takes."""
        path = config(tmp_path, {"one": kiosk("2025-11-25"), "two": kiosk("dashdash")})
        assert crawled(path, tmp_path / "crawled", cwd=tmp_path).exit_code == 0
        inspected = generated("inspect", "--config", path, cwd=tmp_path)
        (tmp_path / "snapshot.json").write_text(inspected.stdout, "utf-8")
        words = ("from-server", "--snapshot", tmp_path / "snapshot.json", "-o", tmp_path / "rendered")
        generated(*words, cwd=tmp_path)

        assert files_of(tmp_path / "rendered") == files_of(tmp_path / "crawled")

    def test_values_of_env_and_headers_reach_no_output(self, tmp_path: Path) -> None:
        """X-12: the server returns its environment and its arguments as tools, and one at a URL asks for a token."""
        with over_http.running("locked") as server:
            servers = {
                "told": kiosk("environment-values", env={"KIOSK_KEY": "${A_SECRET}-suffix"}),
                "locked": {"type": "http", "url": server.url, "headers": {"Authorization": "Bearer ${TOKEN}"}},
            }
            path = config(tmp_path, servers)
            env = {"A_SECRET": "hunter2-hunter2", "TOKEN": "open-sesame"}
            finished = crawled(path, tmp_path / "out", "-v", "--json", env=env)
            inspected = run_skillgen("inspect", "-v", "--config", path, env=env)

        assert finished.exit_code == 0, finished.stderr
        seen = finished.stdout + finished.stderr + inspected.stdout + inspected.stderr
        written = "".join(content.decode() for content in files_of(tmp_path / "out").values())
        for secret in env.values():
            assert secret not in seen + written
        assert "[hidden]" in written

    def test_one_that_fails_costs_the_others_nothing(self, tmp_path: Path) -> None:
        """Issue 3: exit 3 at the end, the rest written."""
        servers = {"good": kiosk("2025-11-25"), "bad": {"command": "no-such-program"}, "dead": kiosk("exits")}
        finished = crawled(config(tmp_path, servers), tmp_path / "out", "--json").ended(3)
        assert {path.name for path in (tmp_path / "out").iterdir()} == {"good", "llms.txt", ".skillgen.json"}
        assert "server 'bad' (no-such-program): The command does not exist." in finished.stderr
        assert "server 'dead'" in finished.stderr
        failed = [item for item in json.loads(finished.stdout)["problems"] if item["code"] == "service-failed"]
        assert len(failed) == 2


class TestForms:
    def test_vs_code_has_comments_servers_and_inputs(self, tmp_path: Path) -> None:
        """Issue 3, "VS Code (servers, inputs)"."""
        path = tmp_path / ".vscode" / "mcp.json"
        path.parent.mkdir()
        path.write_text(
            """{
              // what is asked once
              "inputs": [{"type": "promptString", "id": "api-key", "password": true},
                         {"id": "region", "default": "eu"}],
              "servers": {
                "shop": {
                  "type": "stdio", "command": "node", /* by hand */
                  "args": ["${workspaceFolder}/server.js", "//no comment", 8080],
                  "env": {"KEY": "${input:api-key}", "REGION": "${input:region}",
                          "HOME_": "${env:HOME_X}", "GONE": null, "N": 3},
                },
              },
            }""",
            "utf-8",
        )
        found = target(path, {"HOME_X": "/h"}, {"api-key": "k"})

        assert found.command == ("node", f"{tmp_path}/server.js", "//no comment", "8080")
        assert found.env == {"KEY": "k", "REGION": "eu", "HOME_": "/h", "N": "3"}
        assert found.cwd == tmp_path

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("${NAME}", "value"),
            ("a-${NAME}-b", "a-value-b"),
            ("${NOT_SET:-default}", "default"),
            ("${NAME:-default}", "value"),
            ("${EMPTY:-default}", ""),
            ("${env:NAME}", "value"),
            ("${NESTED}", "${NAME}"),
            ("${var%pattern}", "${var%pattern}"),
            ("$NAME", "$NAME"),
            ("${workspaceFolderBasename}", "project"),
            ("${pathSeparator}${/}", os.sep * 2),
            ("${userHome}", str(Path.home())),
        ],
    )
    def test_variables_are_filled_in_as_the_clients_do_it(self, tmp_path: Path, text: str, value: str) -> None:
        """Issue 3, "`${ENV}` expansion as those clients do it"; what a value says is not filled in again."""
        path = config(tmp_path / "project", {"a": {"command": "run", "args": [text]}})
        assert target(path, {"NAME": "value", "EMPTY": "", "NESTED": "${NAME}"}).command == ("run", value)

    @pytest.mark.parametrize(
        ("entry", "url", "is_sse"),
        [
            ({"url": "https://a.test/mcp"}, "https://a.test/mcp", False),
            ({"type": "http", "url": "https://a.test/mcp"}, "https://a.test/mcp", False),
            ({"type": "streamable-http", "url": "https://${HOST:-a.test}/mcp"}, "https://a.test/mcp", False),
            ({"type": "sse", "url": "https://a.test/sse"}, "https://a.test/sse", True),
            ({"httpUrl": "https://a.test/mcp"}, "https://a.test/mcp", False),
            ({"serverUrl": "https://a.test/mcp"}, "https://a.test/mcp", False),
        ],
    )
    def test_servers_at_a_url(self, tmp_path: Path, entry: dict[str, Any], url: str, is_sse: bool) -> None:
        """Issue 3, "URL servers": Claude Code, VS Code, Cursor, Gemini CLI and Windsurf have names of their own."""
        found = target(config(tmp_path, {"a": {**entry, "headers": {"X-Key": "k"}}}))
        assert (found.url, found.is_sse, found.headers) == (url, is_sse, (("X-Key", "k"),))

    @pytest.mark.parametrize(
        "text",
        [
            '{"mcp": {"servers": {"a": {"command": "run"}}}, "editor.fontSize": 12}',
            '{"servers": {"a": {"command": "run"}}}',
            '{"context_servers": {"a": {"command": "run"}}}',
            '{"a": {"command": "run"}}',
            '\ufeff{"mcpServers": {"a": {"command": "run", "args": []}}}',
        ],
    )
    def test_the_servers_are_found_wherever_a_client_keeps_them(self, tmp_path: Path, text: str) -> None:
        """Issue 3: VS Code's settings, Zed, a plugin of Claude Code, a file with a byte order mark."""
        (tmp_path / "file.json").write_text(text, "utf-8")
        assert target(tmp_path / "file.json").command == ("run",)

    def test_servers_of_a_folder_are_read_there_and_named_elsewhere(self, tmp_path: Path) -> None:
        """As `claude` uses its `~/.claude.json`: those of all folders, and those of the current one."""
        here, there = tmp_path / "here", tmp_path / "there"
        here.mkdir()
        projects = {str(here): {"mcpServers": {"own": kiosk("2025-11-25")}, "allowedTools": []}}
        projects[str(there)] = {"mcpServers": {"other": {"command": "no-such-program"}}}
        mine = config(tmp_path, {"mine": kiosk("2024-11-05")}, ".claude.json", projects=projects)
        both = crawled(mine, here / "out", "--json", cwd=here).ok()
        assert {path.parent.name for path in (here / "out").glob("*/llms.txt")} == {"mine", "own"}
        assert "warning: server-elsewhere: other is a server of" in both.stderr
        assert json.loads(both.stdout)["problems"][-1]["where"] == "other"
        run_skillgen("inspect", "--config", mine, cwd=tmp_path).ended(0, "server-elsewhere: own, other: ")
        named = crawled(mine, here / "one", "--server", "own", cwd=here)
        assert (named.exit_code, "elsewhere" in named.stderr) == (0, False), named.stderr
        for file, options, message in [
            (mine, ("--server", "other"), f"has no server 'other'\n  try: run skillgen in {there}, for which it is"),
            (config(tmp_path, {}, "file.json", projects=projects), (), f"run skillgen where it is used: own in {here}"),
        ]:
            crawled(file, tmp_path / "none", *options, cwd=tmp_path).ended(2, message)

    def test_an_env_file_is_read_and_a_secret_in_it_is_known(self, tmp_path: Path) -> None:
        """Issue 3, VS Code and Cursor: `envFile`."""
        (tmp_path / ".env").write_text("# keys\nexport KEY='abcd efgh'\nOTHER=1\n\n", "utf-8")
        found = target(config(tmp_path, {"a": {"command": "run", "envFile": "${workspaceFolder}/.env"}}))
        assert found.env == {"KEY": "abcd efgh", "OTHER": "1"}
        assert found.secrets().hide("abcd efgh") == "[hidden]"

    def test_a_token_in_the_path_of_a_url_is_shown_nowhere(self, tmp_path: Path) -> None:
        """X-12: the address is in the documents."""
        found = target(config(tmp_path, {"a": {"url": "https://a.test/${API_TOKEN}/mcp"}}), {"API_TOKEN": "abcdefgh"})
        assert found.url == "https://a.test/abcdefgh/mcp"
        assert found.public_url == "https://a.test/{secret}/mcp"


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "what"),
        [
            ("{", "is not JSON: line 1, column 2"),
            ('{"mcpServers": {}}', "names no MCP servers"),
            ('{"openapi": "3.1.0"}', "is an OpenAPI description, not a list of MCP servers"),
            ("[]", "names no MCP servers"),
            ('{"mcpServers": {"a": {"command": "run", "disabled": true}}}', "switches all its servers off"),
            ('{"mcpServers": {"a": {}}}', "neither a command nor a url that is a string"),
            ('{"mcpServers": {"a": {"comand": "x", "args": []}}}', "a url that is a string, but comand, args"),
            ('{"mcpServers": {"a": {"type": "ws", "url": "wss://a"}}}', "the type 'ws' is not supported"),
            ('{"mcpServers": {"a": {"url": "/mcp"}}}', "is not an http:// or https:// URL"),
            ('{"mcpServers": {"a": {"url": "https://[bad/mcp"}}}', "is not an http:// or https:// URL"),
            ('{"mcpServers": {"a": {"command": "run", "cwd": "~nobody-here/x"}}}', "its cwd is not a folder"),
            (f'{{"mcpServers": {"9" * 5000}}}', "names no MCP servers"),
            ('{"mcpServers": {"a": {"command": "run", "args": ["${NO_SUCH}"]}}}', "NO_SUCH is not set"),
            ('{"servers": {"a": {"command": "run", "args": ["${input:key}"]}}}', "the input 'key' has no value here"),
            ('{"servers": {"a": {"command": "run", "args": ["${command:x}"]}}}', "only the editor knows ${command:x}"),
            ('{"mcpServers": {"a": {"command": "run", "cwd": "nowhere"}}}', "its cwd is not a folder"),
            ('{"mcpServers": {"a": {"command": "run", "envFile": "nowhere"}}}', "its envFile cannot be read"),
        ],
    )
    def test_a_file_that_makes_no_sense_is_one_message(self, tmp_path: Path, text: str, what: str) -> None:
        """Issue 3: an unset variable and a broken file."""
        path = tmp_path / "file.json"
        path.write_text(text, "utf-8")
        with pytest.raises(skillgen.UsageError) as caught:
            target(path)
        assert what in caught.value.what
        assert str(path) in (caught.value.where or "")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--server", "none"), "has no server 'none'"),
            (("--header", "A: b"), "--header: has no effect with --config"),
            (("--url", "https://a.test"), "several sources are given: url, config"),
            (("--name", "x"), "for one service only, but the source has several"),
        ],
    )
    def test_options_that_make_no_sense_are_refused(
        self, tmp_path: Path, options: tuple[str, ...], message: str
    ) -> None:
        """Issue 3: an unknown `--server`; no option does nothing."""
        path = config(tmp_path, {"a": {"command": "run"}, "b": {"command": "run"}})
        crawled(path, tmp_path / "out", *options).ended(2, message)
        assert not (tmp_path / "out").exists()


PUBLISHED: dict[str, Any] = inputs("client_config")["published"]


class TestPublishedServers:
    """X-41, X-43: a server.json, a server card and a catalog are read, and used only as far as the user names it."""

    @pytest.mark.parametrize(
        "document",
        [
            PUBLISHED,
            {"servers": [{"server": PUBLISHED, "_meta": {}}]},
            {"specVersion": "1.0", "entries": [{"displayName": "Papers", "data": PUBLISHED}]},
        ],
        ids=["server.json", "registry", "catalog"],
    )
    def test_a_remote_is_contacted_only_where_it_is_named(self, tmp_path: Path, document: dict[str, Any]) -> None:
        path = write(tmp_path / "server.json", document)
        with over_http.running("locked") as server:
            port = server.url.split(":")[2].split("/")[0]
            values = ("--env", f"port={port}", "--env", "token=open-sesame")
            crawled(path, tmp_path / "out", *values).ended(2, "choose one with --server NAME: remote (")
            assert not server.received
            crawled(path, tmp_path / "out", "--server", "remote", *values).ok()
        assert (tmp_path / "out" / "llms.txt").is_file()
        assert "open-sesame" not in "".join(item.decode() for item in files_of(tmp_path / "out").values())

    def test_a_package_is_started_with_the_values_of_the_user(self, tmp_path: Path) -> None:
        path = write(tmp_path / "server.json", PUBLISHED)
        given = {"shop": "kiosk", "KEY": "abc"}
        npm = target(path, {"HOME": "/home/ada"}, given, "npm")
        assert npm.command == ("npx", "-y", "@example/papers@1.2.0", "--shop=kiosk", "papers")
        assert npm.env == {"KEY": "abc"}, "a published value, which could be that of NODE_OPTIONS, is not used"
        assert target(path, {}, {**given, "MODE": "fast"}, "npm").env == {"KEY": "abc", "MODE": "fast"}
        oci = target(path, {}, given, "oci")
        assert oci.command == ("docker", "run", "-i", "--rm", "-e", "KEY", "docker.example/papers:1.2.0")

    def test_the_environment_fills_nothing_in(self, tmp_path: Path) -> None:
        path = write(tmp_path / "server.json", PUBLISHED)
        environment = {"port": "1", "token": "a", "shop": "b", "KEY": "c"}
        for name in ("remote", "npm"):
            with pytest.raises(skillgen.UsageError, match="has no value"):
                target(path, environment, {}, name)
            run_skillgen("from-server", "--config", path, "--server", name, env=environment, cwd=tmp_path).ended(
                2, "has no value\n  try: give --env "
            )

    @pytest.mark.parametrize(
        "change",
        [
            {"registryType": "mcpb"},
            {"runtimeArguments": [{"type": "named", "name": "-v", "value": "/:/host"}]},
            {"identifier": "--call=rm"},
            {"identifier": "../papers"},
            {"identifier": "papers.tgz"},
            {"identifier": "file:papers"},
            {"identifier": "somebody/papers"},
            {"version": "npm:other"},
            {"transport": {"type": "sse", "url": "http://127.0.0.1:1"}},
        ],
        ids=str,
    )
    def test_a_package_that_could_run_anything_is_not_started(self, tmp_path: Path, change: dict[str, Any]) -> None:
        package = {"registryType": "npm", "identifier": "papers", **change}
        path = write(tmp_path / "server.json", {"name": "a/b", "packages": [package]})
        with pytest.raises(skillgen.UsageError, match="does not start this package"):
            target(path, server="npm" if package["registryType"] == "npm" else package["registryType"])

    def test_what_others_wrote_is_not_given_the_home_folder(self, tmp_path: Path) -> None:
        (tmp_path / ".mcp.json").write_text(json.dumps({"docs": {"url": "http://127.0.0.1:1/${userHome}"}}), "utf-8")
        with pytest.raises(skillgen.UsageError, match="is a path of this machine"):
            target(tmp_path, server="docs")


CARD = {"name": "io.example/papers", "version": "1.2.0", "remotes": [{"type": "streamable-http", "url": "URL"}]}
PAPERS = {"mcpServers": {"papers": {"command": "${PLUGIN_ROOT}/papers", "env": {"KEY": "${user_config.key}"}}}}
SKILLS_INDEX = {"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json", "skills": []}


def pages(files: dict[str, Any]) -> dict[str, tuple[int, str, bytes]]:
    """Returns what a site answers that has these JSON files."""
    return {path: (200, "application/json", json.dumps(data).encode()) for path, data in files.items()}


class TestEntryPoints:
    """X-43: the content decides what a document is; the user names what is contacted or started."""

    def test_a_domain_lists_its_servers_and_the_named_one_is_read(self, tmp_path: Path, serve: Serve) -> None:
        """X-41: at each of the paths that drafts have used."""
        with over_http.running("json") as server:
            card = json.loads(json.dumps(CARD).replace("URL", server.url))
            entry = {"identifier": "urn:air:a.example:mcp:papers", "displayName": "Papers", "data": card}
            for path, document in {
                "/.well-known/ard.json": {"specVersion": "1.0", "entries": [entry]},
                "/.well-known/server-card.json": card,
                "/.well-known/mcp/server-card.json": {"serverInfo": {}, "transport": card["remotes"][0]},
                "/.well-known/mcp.json": {"mcp_version": "1", "endpoints": card["remotes"]},
            }.items():
                address = serve(pages({path: document}))
                unasked = run_skillgen("from-server", "--config", address).ended(2)
                assert f"choose one with --server NAME: remote ({server.url})" in unasked.stderr, path
            assert not server.received
            crawled(address, tmp_path / "out", "--server", "remote").ok()
        assert (tmp_path / "out" / "llms.txt").is_file()

    def test_what_a_domain_without_servers_has_is_named(self, serve: Serve) -> None:
        skills, catalogue = (
            {"/.well-known/agent-skills/index.json": SKILLS_INDEX},
            {"specVersion": "1.0", "entries": []},
        )
        cases: list[tuple[dict[str, Any], tuple[str, ...], str]] = [
            (skills, ("from-server", "--config"), "is an index of agent skills, not a list of MCP servers"),
            (skills, ("from-openapi",), "is an index of agent skills, not an OpenAPI description"),
            ({"/.well-known/ard.json": catalogue}, ("from-openapi",), "is an AI catalog, not an OpenAPI description"),
            ({"/.well-known/mcp.yaml": description()}, ("from-server", "--config"), "is an OpenAPI description, not a"),
        ]
        for documents, words, message in cases:
            run_skillgen(*words, serve(pages(documents))).ended(3, message)
        run_skillgen("from-server", "--config", serve({})).ended(
            3, "there is no list of MCP servers at /.well-known/ard.json or"
        )

    def test_the_folder_of_a_plugin_lists_its_servers(self, tmp_path: Path) -> None:
        folder = tmp_path / "plugin"
        config(folder, PAPERS["mcpServers"], "mcp.json")
        config(folder, {"other": {"type": "http", "url": "https://mcp.a.example"}}, ".claude-plugin/plugin.json")
        run_skillgen("from-server", "--config", folder).ended(
            2, "other (https://mcp.a.example), papers (${PLUGIN_ROOT}/papers)"
        )
        started = target(folder, {"key": "of-the-shell"}, {"key": "given"}, "papers")
        assert (started.command, started.env) == ((f"{folder}/papers",), {"KEY": "given"})
        with pytest.raises(skillgen.UsageError, match="key is not set"):
            target(folder, {"key": "of-the-shell"}, {}, "papers")
        assert "none of the files of a plugin has one" in run_skillgen("from-server", "--config", tmp_path).stderr

    def test_a_plugin_reads_and_starts_nothing_outside_its_folder(self, tmp_path: Path) -> None:
        (tmp_path / ".env").write_text("TOKEN=abc", "utf-8")
        (tmp_path / "servers.json").write_text(json.dumps(PAPERS), "utf-8")
        folder = tmp_path / "plugin"
        config(folder, {"a": {"command": "x", "envFile": "../.env"}, "b": {"command": "x", "cwd": ".."}}, "mcp.json")
        (folder / "plugin.json").write_text(json.dumps({"mcpServers": "../servers.json"}), "utf-8")
        for name in "ab":
            with pytest.raises(skillgen.UsageError, match="is outside the plugin"):
                target(folder, server=name)
        with pytest.raises(skillgen.UsageError, match="has no server 'papers'"):
            target(folder, server="papers")

    def test_a_command_from_the_network_is_not_started(self, serve: Serve) -> None:
        address = f"{serve(pages({'/x.json': PAPERS}))}/x.json"
        run_skillgen("from-server", "--config", address, "--server", "papers", "--env", "key=x").ended(
            2, "skillgen does not start a command from the network"
        )

    def test_hostile_names_and_lengths_stay_text_of_one_line(self, tmp_path: Path) -> None:
        entry = {"displayName": "a\n::error::b\x1b[2J", "data": {"remotes": [{"url": "https://a.example/\n?key=abc"}]}}
        path = write(tmp_path / "ard.json", {"specVersion": "1.0", "entries": [entry] * 5_000})
        finished = run_skillgen("from-server", "--config", path).ended(2, "and 180 more")
        assert len(finished.stderr.splitlines()) == 2
        assert not {"\x1b", "abc"} & set(finished.stderr.split("key="))
        assert "\n::error" not in finished.stderr
