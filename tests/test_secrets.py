"""What the user passes and what a source lets slip: secrets reach no output, and nothing else is altered."""

from __future__ import annotations

import base64
import html
import json
import re
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from cli import Finished, files_of, generated, run_skillgen
from conftest import Asked, Reply
from listed import TESTS, documented, started, tool
from listed import command as listed_command
from servers import over_http

from skillgen import read
from skillgen.security.secrets import (
    Secrets,
    is_secret_setting,
    looks_secret,
    secrets_from_arguments,
    secrets_from_environment,
    secrets_from_headers,
    secrets_from_url,
    without_own_folders,
)

Json = Any

GIVEN = "Zq7-kWm2xP9/vT4+rL8&"

FORMS: dict[str, Callable[[str], str]] = {
    "literally": str,
    "in base64": lambda value: base64.b64encode(value.encode()).decode(),
    "in base64 for URLs": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    "in base64 inside of a longer text": lambda value: base64.b64encode(f'{{"k":"{value}"}}'.encode()).decode(),
    "quoted for a URL": lambda value: quote(value, safe=""),
    "escaped for JSON": lambda value: json.dumps(value),
    "escaped for JSON by PHP": lambda value: json.dumps(value).replace("/", "\\/"),
    "escaped for HTML": lambda value: html.escape(value),
    "divided by a tag": lambda value: f"{value[:5]}<b></b>{value[5:]}",
    "escaped for HTML with numbers": lambda value: re.sub(r"[\W_]", lambda sign: f"&#x{ord(sign[0]):X};", value),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_value_is_redacted_in_the_forms_that_sources_repeat(form: str) -> None:
    """S0-22, X-12."""
    repeated = FORMS[form](GIVEN)
    secrets = Secrets({GIVEN: "the variable KEY"})
    data, places = secrets.hide_in({"a": [f"It is {repeated}."], "b": "Lists all tasks."})
    assert places == ("the variable KEY",)
    assert "[hidden]" in str(data)
    assert repeated not in str(data)
    assert "Lists all tasks." in str(data)
    assert secrets.hide_in(data) == (data, ())


@pytest.mark.parametrize("form", sorted(FORMS.keys() - {"literally", "escaped for HTML"}))
def test_a_value_made_of_words_is_redacted_where_it_is_encoded(form: str) -> None:
    """S0-22."""
    assert Secrets({"listing tasks": "the variable PASSWORD"}).hide_in([FORMS[form]("listing tasks")])[1]


def test_a_value_made_of_words_is_redacted_as_a_word_of_its_own() -> None:
    """X-12: a password of words is redacted in a text, and in no other word and no name."""
    variables = {"PASSWORD": "read-only", "MODE": "all", "AUTH_TYPE": "oauth2", "PIN": "7741"}
    secrets = secrets_from_environment(variables, {})
    data = {"readOnlyHint": True, "a": "read only, oauth2, all, 17741", "name": "read-only", "enum": ["7741"]}
    assert secrets.hide_in(data) == (data, ())
    assert secrets.hide_in(["It is read-only."]) == (["It is [hidden]."], ("the variable PASSWORD",))
    assert Secrets({"k7xq": "a"}).hide("k7xq, but k7xqs") == "[hidden], but k7xqs"


SETTINGS = """
    us-east-1 customers production inventory my-project-12345 claude-sonnet-4-20250514 gpt-4o-mini-2024-07-18
    http://localhost:8080/api/v1 ghcr.io/acme/server:1.2.3 2024-01-01T00:00:00Z arm64v8/redis en_US.UTF-8
    Europe/Berlin Qwen2.5-72B-Instruct postgresql://db.example:5432/app arn:aws:iam::123456789012:role/Admin
    all-MiniLM-L6-v2 alice@example.com @modelcontextprotocol/server-everything SQLServer2019
    x86_64-unknown-linux-gnu 3600s /srv/9f8e7d6c5b4a3210/data ./a1b2c3d4e5f6a7.json
"""


@pytest.mark.parametrize("value", SETTINGS.split())
def test_an_ordinary_setting_is_not_a_secret(value: str) -> None:
    """X-12: a value is a secret by its variable's name or by its form."""
    assert not looks_secret(value)
    assert not secrets_from_environment({"SETTING": value}, {"OTHER": value})


SECRETS = """
    Zq7-kWm2xP9/vT4+rL8 tk_9fK2mQ7xWz4Lp8Rv 3f2504e0-4f89-11d3-9a0c-0305e82c3301 jbswy3dpehpk3pxp
    hunter2secret npm-9f8e7d6c5b4a3210 kXvQmZrTbNwPsLdF postgres://me:s3cret@db/app Server=db;Password=pelican
    ghp_aB3dE6gH9jK2aB3dE6gH9jK2aB3dE6gH9jK2
"""


@pytest.mark.parametrize("value", SECRETS.split())
def test_a_value_with_the_form_of_a_secret_is_one_under_any_name(value: str) -> None:
    """S0-22, X-12."""
    assert secrets_from_environment({"SETTING": value}, {})


@pytest.mark.parametrize(
    ("names", "are_secret"),
    [
        (
            "ACME_KEY DB_PASSWORD MYSQL_PWD GITHUB_PAT API_TOKEN_PROD X-Api-Key Authorization npm_config__authToken",
            True,
        ),
        ("ACCESSTOKEN authtoken AWS_ACCESS_KEY_ID --api-key clientSecret API_KEY_2 X-Session-Id", True),
        ("Ocp-Apim-Subscription-Key USERTOKEN_ID", True),
        ("AWS_REGION AUTH_TYPE AUTHOR MAX_TOKENS NEXT_TOKEN PUBLIC_KEY TOKEN_URL KEYRING TOKENIZER BYPASS SPIN", False),
        ("X-Environment Accept pageToken X-Author SECRETARY PRIMARY_KEY DB_NAME", False),
    ],
)
def test_names_of_secrets_are_distinguished_from_names_of_settings(names: str, are_secret: bool) -> None:
    """X-12."""
    assert [name for name in names.split() if is_secret_setting(name) != are_secret] == []


def test_the_parts_of_a_url_that_are_secret_are_redacted_raw_and_decoded() -> None:
    """X-12: user and password, a query without a name, one that is named like a secret, generated parts of a path."""
    url = "https://bob:p%2fss-w0rd9@h.example/mcp/s/q9w8e7r6t5z4u3/v2?t0ken-0f-mine&key=a%2Bb-c9d8e&env=production"
    hide = secrets_from_url(url).hide
    for secret in ("p/ss-w0rd9", "p%2fss-w0rd9", "bob:p/ss-w0rd9", "t0ken-0f-mine", "a+b-c9d8e", "q9w8e7r6t5z4u3"):
        assert hide(secret) == "[hidden]"
    assert hide("bob /mcp/s v2 production") == "bob /mcp/s v2 production"


@pytest.mark.parametrize("before", ["", "a", "ab", '{"key":"'])
def test_secrets_are_redacted_inside_of_encoded_text(before: str) -> None:
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
def test_what_a_header_encodes_is_secret_too(name: str, value: str, secrets: list[str]) -> None:
    """X-12."""
    hide = secrets_from_headers([(name, value)]).hide
    assert [hide(secret) for secret in secrets] == ["[hidden]"] * len(secrets)


def test_secrets_are_redacted_before_a_text_is_cut() -> None:
    """X-12."""
    secrets = Secrets({"Zq7kWm2xP9vT": "a", "abcd-efgh": "b", "abcd": "c", "1": "d"})
    assert secrets.excerpt("key abcd-efgh, 1") == "key [hidden], 1"
    assert secrets.excerpt("x" * 8 + "Zq7kWm2xP9vT", 12) == "xxxxxxxx[hi…"


def test_a_message_of_a_server_shows_no_credential_and_nothing_unseen() -> None:
    """S0-22, X-12: what a server says of its failure is printed, and stays in logs."""
    key = "ghp_" + "aB3dE6gH9jK2" * 3
    said = Secrets().excerpt(f"bad key {key}\U000e0041\u061c, ask for another")
    assert (key in said, said.endswith(", ask for another")) == (False, True)
    assert said.isascii()


def test_arguments_that_look_like_secrets_are_known() -> None:
    """X-12."""
    arguments = ["--api-key", "k1234", "--port", "8080", "--token=t1234", "postgres://me:pass@host/db", "API_KEY=e1"]
    arguments += ["--dsn=Server=x;Password=d1234;", "--header", "Authorization: Bearer b1234", "--", "e1234f5678a9"]
    arguments.append('{"apiKey": "j1234", "description": "Takes key=shown1.", "path": "/srv/shown2"}')
    hide = secrets_from_arguments(arguments).hide
    secrets = ["k1234", "t1234", "pass", "d1234", "b1234", "e1234f5678a9", "j1234"]
    assert [value for value in secrets if hide(value) != "[hidden]"] == []
    assert hide("8080 Server host postgres shown1 /srv/shown2") == "8080 Server host postgres shown1 /srv/shown2"


def everything_in(folder: Path, *runs: Finished) -> str:
    """Returns all documents and outputs as one text."""
    return b"".join(files_of(folder).values()).decode() + "".join(run.stdout + run.stderr for run in runs)


@pytest.mark.parametrize("home", ["/root", "/app", "/home/alice"])
def test_a_password_in_an_address_is_found_whatever_the_home_folder_is(tmp_path: Path, home: str) -> None:
    """S0-22: credentials are searched for in the text of the source, before anything else is replaced in it."""
    described = tool("query", description="Queries mysql://root:pelican-zoo@db/prod and /root/data.")
    env = {"HOME": home, "USER": "app", "XDG_CONFIG_HOME": str(tmp_path)}
    command = listed_command(tmp_path, tools=[described])
    run = run_skillgen("from-server", "--json", "-o", tmp_path / "out", "--", *command, cwd=TESTS, env=env)
    snapshot = run_skillgen("inspect", "--", *command, cwd=TESTS, env=env)
    assert (run.exit_code, snapshot.exit_code) == (0, 0)
    assert "pelican" not in everything_in(tmp_path / "out", run, snapshot)
    assert ("~/data" if home == "/root" else "/root/data") in everything_in(tmp_path / "out")
    assert "credential-left-out" in run.stdout


def test_a_credential_is_found_of_which_a_part_is_a_secret_of_the_user(tmp_path: Path) -> None:
    """S0-22, X-12."""
    described = tool("query", description="Queries mysql://pelican:hunter2secret@db/prod.")
    run, out = started(tmp_path, "--env", "DB_PASSWORD=pelican", tools=[described])
    assert run.exit_code == 0, run.stderr
    assert "hunter2secret" not in everything_in(out, run)


def test_documents_are_the_same_for_every_user_and_machine(tmp_path: Path) -> None:
    """X-51: the user's name and the host's name stay where a source names them; the home folder is `~`."""
    host = socket.gethostname()
    schema = {"type": "object", "properties": {"docker": {"type": "string", "enum": ["docker", host]}}}
    written = []
    for user in ("docker", "alice"):
        home = tmp_path / user
        home.mkdir()
        described = [
            tool("docker", description=f"Runs as docker in {home}, reads {home}/data.", inputSchema=schema),
            tool(host, description=f"Asks the host {host} at 127.0.0.1."),
        ]
        resources = [{"uri": "notes://docker", "name": "docker"}]
        command = listed_command(home, {"serverInfo": {"name": host}}, tools=described, resources=resources)
        env = {"USER": user, "LOGNAME": user, "HOME": str(home), "XDG_CONFIG_HOME": str(home)}
        generated("from-server", "-v", "-o", home / "out", "--", *command, cwd=TESTS, env=env)
        written.append(files_of(home / "out"))
    assert written[0] == written[1]
    documents = b"".join(written[0].values()).decode()
    for name in ("## docker", f"## {host}", "~/data", "notes://docker", "Runs as docker in ~"):
        assert name in documents


def test_folders_in_names_choices_and_patterns_stay() -> None:
    """S0-22: a call needs them, and a default that is one of the choices."""
    home = str(Path.home())
    data = {
        "name": home,
        "inputSchema": {"properties": {f"{home}/a": {"enum": [f"{home}/b"], "default": f"{home}/b"}}},
        "pattern": f"^{home}/",
    }
    assert without_own_folders(data) == data


def test_only_a_server_on_the_loopback_interface_is_local(monkeypatch: pytest.MonkeyPatch) -> None:
    """S0-22: the folders that another one names are not of this machine."""
    resolve = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *args, **rest: resolve("127.0.0.1", *args, **rest))
    written = {}
    with over_http.running("json") as server:
        server.kiosk.methods["tools/list"] = lambda _: {"tools": [tool("look", description=f"Reads {Path.home()}/x.")]}
        for host in ("localhost", "LOCALHOST.", "127.0.0.1", "127.1", "acme.example"):
            service = read(url=server.url.replace("127.0.0.1", host))
            written[host] = service.tools[0].description
    assert [host for host in written if written[host] != "Reads ~/x."] == ["acme.example"]


ORDINARY = {
    "DB_NAME": "customers",
    "AWS_REGION": "us-east-1",
    "MODE": "production",
    "PROJECT": "inventory",
    "MODEL": "gpt-4o-mini-2024-07-18",
}


def test_ordinary_settings_never_change_a_document(tmp_path: Path) -> None:
    """X-12: neither with `--env` nor with `env` of a client's file or a project's file, nor as a header."""
    region = {"type": "string", "enum": ["us-east-1", "production"], "default": "us-east-1"}
    schema = {"type": "object", "properties": {"customers": region}}
    described = [tool("list_customers", description="Lists customers of inventory in production.", inputSchema=schema)]
    server: dict[str, Json] = {"serverInfo": {"name": "inventory", "version": "1"}}
    command = listed_command(tmp_path, server, tools=described)
    entry = {"command": command[0], "args": command[1:], "cwd": str(TESTS), "env": ORDINARY}
    (tmp_path / "servers.json").write_text(json.dumps({"mcpServers": {"inventory": entry}}), "utf-8")
    source = {"command": command, "cwd": str(TESTS), "env": ORDINARY, "server-name": "inventory"}
    (tmp_path / "skillgen.yaml").write_text(json.dumps({"targets": {"a": {"source": source}}}), "utf-8")
    options = [f"--env={name}={value}" for name, value in ORDINARY.items()]
    runs = {
        "none": run_skillgen("from-server", "-o", tmp_path / "none", "--", *command, cwd=TESTS),
        "env": run_skillgen("from-server", "-o", tmp_path / "env", *options, "--", *command, cwd=TESTS),
        "file": run_skillgen("from-server", "-o", tmp_path / "file", "--config", tmp_path / "servers.json"),
        "built": run_skillgen("build", "-o", tmp_path / "built", "--project", tmp_path / "skillgen.yaml"),
    }
    for name, run in runs.items():
        assert run.exit_code == 0, run.stderr
        assert "secret-echoed" not in run.stderr
        skill = (tmp_path / name / "skills/inventory/SKILL.md").read_text("utf-8")
        assert "# list_customers\n\n[read]\n\nLists customers of inventory in production.\n" in skill
        assert "- `customers` (string): One of `us-east-1`, `production`. Default: `us-east-1`.\n" in skill


def test_names_are_never_changed_by_a_secret_made_of_words(tmp_path: Path) -> None:
    """X-12: somebody's password is "customers"; texts are redacted, and the warning names the variable."""
    schema = {"type": "object", "properties": {"customers": {"type": "string", "enum": ["customers"]}}}
    described = [tool("customers", description="Lists customers.", inputSchema=schema)]
    run, out = started(tmp_path, "--env", "DB_PASSWORD=customers", tools=described)
    assert run.exit_code == 0, run.stderr
    skill = (out / "skills/listed/SKILL.md").read_text("utf-8")
    assert "# customers\n\n[read]\n\nLists [hidden].\n" in skill
    assert "- `customers` (string): Always `customers`.\n" in skill
    assert "the variable DB_PASSWORD" in run.stderr


def test_the_placeholder_for_a_secret_is_not_an_attack(tmp_path: Path) -> None:
    """S0-22: a text from which a secret was taken stays where it is, also with `--strict` for attacks."""
    described = tool("list_invoices", description=f"Lists invoices of the account {GIVEN}. Needs the key [hidden].")
    run, out = started(tmp_path, "--env", f"ACCOUNT={GIVEN}", tools=[described])
    assert run.exit_code == 0, run.stderr
    assert "addresses-reader" not in run.stderr
    assert "Lists invoices of the account" in (out / "skills/listed/SKILL.md").read_text("utf-8")
    assert GIVEN not in everything_in(out, run)


def test_values_among_names_of_variables_are_dropped(tmp_path: Path) -> None:
    """S0-22: env names are kept, values are not, in a `dashdash` object and in front matter."""
    dashdash = {"specVersion": "0.2.0", "requires": {"env": ["ACME_KEY=hunter2", "ACME_URL"]}}
    extra = tmp_path / "extra.md"
    extra.write_text("---\nname: x\nrequires:\n  env: [OTHER_KEY=hunter3]\n---\n\n# X\n\n## Notes\n\nText.\n", "utf-8")
    run, out = documented(tmp_path, "-v", server={"dashdash": dashdash}, tools=[tool("a")])
    assert run.exit_code == 0, run.stderr
    assert "ACME_KEY is listed with a value" in run.stderr
    assert "hunter2" not in everything_in(out, run)
    assert "ACME_KEY" in (out / "ai-help.md").read_text("utf-8")
    run, out = documented(tmp_path, "-v", "--extra", extra, server={}, tools=[tool("a")])
    assert run.exit_code == 0, run.stderr
    assert "hunter3" not in everything_in(out, run)
    assert "OTHER_KEY" in (out / "ai-help.md").read_text("utf-8")


@pytest.mark.parametrize("way", ["dashdash", "extra"])
def test_only_web_addresses_are_other_ways_to_use_a_service(tmp_path: Path, way: str) -> None:
    """S0-10, S0-22: a script is left out, `none` is null, a user and password are left out; each is reported."""
    ways = {"cliUrl": "javascript:alert(1)", "apiUrl": "none", "webUrl": "https://user:pw@app.example/x"}
    server: dict[str, Json] = {}
    options: list[object] = []
    if way == "dashdash":
        places = {key: f"https://user:pw@app.example/{key}" for key in ("homepage", "repository", "statusPage")}
        server["dashdash"] = {"specVersion": "0.2.0", "alternativeAccess": ways, **places}
    else:
        lines = "\n".join(f"{name[:3]}-url: {value}" for name, value in ways.items())
        (tmp_path / "extra.md").write_text(f"---\nname: x\n{lines}\n---\n\n# X\n\n## Notes\n\nText.\n", "utf-8")
        options = ["--extra", tmp_path / "extra.md"]
    run, out = documented(tmp_path, "-v", "--json", *options, server=server, tools=[tool("a")])
    assert run.exit_code == 0, run.stderr
    written = everything_in(out)
    assert "javascript:" not in written
    assert "user:pw" not in written + run.stderr + run.stdout
    access = json.loads((out / "registry.json").read_text("utf-8"))["alternativeAccess"]
    assert (access.get("webUrl"), access.get("apiUrl")) == ("https://app.example/x", None)
    codes = [problem["code"] for problem in json.loads(run.stdout)["problems"]]
    assert "credential-left-out" in codes
    assert "member-invalid" in codes


def test_internal_addresses_are_reported_and_stay(tmp_path: Path) -> None:
    """S0-22: nothing is altered by guess."""
    texts = [
        "Connects to 10.2.3.4:5432, not to 10.2.3.5.",
        "Reads http://db01.prod.internal:5432/x.",
        "Asks host.docker.internal:80 or ::1.",
    ]
    described = [tool(f"tool_{index}", description=text) for index, text in enumerate(texts)]
    run, out = documented(tmp_path, "-v", "--json", tools=described)
    assert run.exit_code == 0, run.stderr
    found = {item["message"] for item in json.loads(run.stdout)["problems"] if item["code"] == "internal-address"}
    assert {message.split(" names ")[1].split(",")[0] for message in found} == {"10.2.3.4", "db01.prod.internal"}
    assert all(text.rstrip(".") in everything_in(out) for text in texts)


FILLED_IN = "zapsecretpath77"
PRINTS = (
    "import os, sys\nprint(open('api.json').read().replace('GIVEN', os.environ.get('X', '') + ' '.join(sys.argv[1:])))"
)
FAILS = "import os, sys\nsys.exit('cannot log in with ' + os.environ.get('X', '') + ' '.join(sys.argv[1:]))"
PROJECTS: dict[str, dict[str, Json]] = {
    "an MCP server's URL": {"url": "URL/s/${T}/mcp"},
    "an MCP server's URL that nobody answers": {"url": "http://127.0.0.1:9/s/${T}/mcp"},
    "a description's URL": {"openapi": "URL/${T}/api.json"},
    "a description's URL that is not found": {"openapi": "URL/missing/${T}"},
    "an overlay's URL": {"openapi": "api.json", "overlays": ["URL/missing/${T}"]},
    "a manifest's URL": {"manifest": "URL/missing/${T}"},
    "a variable of a printing command": {"openapi-command": ["python", "prints.py"], "env": {"X": "${T}"}},
    "an argument of a printing command": {"openapi-command": ["python", "prints.py", "${T}"]},
    "a variable of a failing command": {"openapi-command": ["python", "fails.py"], "env": {"X": "${T}"}},
    "a positional argument of a server": {"command": ["COMMAND", "${T}"]},
    "a part of an argument of a server": {"command": ["COMMAND", "--dsn=Server=x;Password=${T};"]},
    "a variable of a server": {"command": ["COMMAND"], "env": {"X": "${T}"}},
    "a URL of a client's file": {"config": "servers.json", "server": "url"},
    "an argument of a client's file": {"config": "servers.json", "server": "argument"},
}


@pytest.mark.parametrize("place", PROJECTS)
def test_what_a_project_fills_in_for_a_variable_reaches_no_output(
    tmp_path: Path, answering: Callable[[Reply], tuple[str, Asked]], place: str
) -> None:
    """S0-22, X-12: `${NAME}` anywhere in a project's file or a client's file."""
    info = {"title": "Shop", "version": "1", "description": "Uses GIVEN now."}
    operation = {"operationId": "look", "summary": "Looks.", "responses": {"200": {"description": "Done."}}}
    api = {"openapi": "3.1.0", "info": info, "servers": [{"url": "v1"}], "paths": {"/a": {"get": operation}}}

    def reply(path: str, headers: Mapping[str, str]) -> tuple[int, dict[str, str], bytes]:
        found = json.dumps(api).replace("GIVEN", path).encode()
        return (200, {}, found) if path.endswith("api.json") else (404, {}, path.encode())

    url, _ = answering(reply)
    (tmp_path / "api.json").write_text(json.dumps(api), "utf-8")
    (tmp_path / "prints.py").write_text(PRINTS, "utf-8")
    (tmp_path / "fails.py").write_text(FAILS, "utf-8")
    described = tool("look", description=f"Uses {FILLED_IN} now.")
    command = listed_command(tmp_path, tools=[described])
    with over_http.running("json") as server:
        address = server.url.removesuffix("/mcp")
        entries = {
            "url": {"url": f"{address}/s/${{T}}/mcp"},
            "argument": {"command": command[0], "args": [*command[1:], "${T}"], "cwd": str(TESTS)},
        }
        (tmp_path / "servers.json").write_text(json.dumps({"mcpServers": entries}), "utf-8")
        source = json.loads(json.dumps(PROJECTS[place]).replace("URL", address if "url" in PROJECTS[place] else url))
        if source.get("command"):
            source |= {"command": [*command, *source["command"][1:]], "cwd": str(TESTS)}
        (tmp_path / "skillgen.yaml").write_text(json.dumps({"targets": {"a": {"source": source}}}), "utf-8")
        runs = [
            run_skillgen("build", "-v", *options, cwd=tmp_path, env={"T": FILLED_IN})
            for options in (("--json",), ("--debug",))
        ]
    is_failing = (
        "failing" in place or "not found" in place or "overlay" in place or "manifest" in place or "nobody" in place
    )
    assert (runs[0].exit_code == 0) == (not is_failing), runs[0].stderr
    assert FILLED_IN not in everything_in(tmp_path / "agent-docs", *runs)
    if not is_failing and "URL" not in place:
        assert "the variable" in runs[0].stderr or "an argument" in runs[0].stderr


def test_a_secret_in_the_path_of_a_url_is_for_the_reader_to_fill_in(tmp_path: Path) -> None:
    """S0-22, X-12: some services put a key into the path; the documents say where one belongs."""
    with over_http.running("json") as server:
        url = server.url.removesuffix("mcp") + f"s/{GIVEN.replace('/', '-')}/mcp"
        run = run_skillgen("from-server", "--json", "-o", tmp_path / "out", "--url", url)
        snapshot = run_skillgen("inspect", "--url", url)
        forgotten = run_skillgen("logout", url)
    assert run.exit_code == 0, run.stderr
    assert "kWm2xP9" not in everything_in(tmp_path / "out", run, snapshot, forgotten)
    assert server.url.removesuffix("mcp") + "s/{secret}/mcp" in (tmp_path / "out/ai-help.md").read_text("utf-8")
    assert "url-secret-left-out" in [problem["code"] for problem in json.loads(run.stdout)["problems"]]


@pytest.mark.parametrize("option", ["--env", "--header"])
def test_a_value_that_was_given_without_its_name_is_not_repeated(option: str) -> None:
    """X-12."""
    value = "tk_9fK2mQ7xWz4Lp8Rv"
    entry = value if option == "--env" else f"X: env:{value}"
    run = run_skillgen(
        "inspect", option, entry, *(("--url", "http://127.0.0.1:9") if option == "--header" else ("--", "x"))
    ).ended(2)
    assert value not in run.stdout + run.stderr


SERVER = """
import json, os, sys
given, inherited, argument = os.environ["GIVEN"], os.environ["npm_config__authToken"], sys.argv[2]
tool = {"name": "look", "description": f"Knows {given}, {inherited} and {argument}.", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        about = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "echo", "version": "1"}}
        result = json.dumps({**about, "capabilities": {"tools": {}, "resources": {}, "prompts": {}}})
    elif message.get("method") == "tools/list":
        result = json.dumps({"tools": [tool]})[:-1] + f', "{given}": 1, "{given}": 2, "resultType": "{inherited}"}}'
    else:
        data = {"supported": [argument]}
        error = {"code": inherited, "message": f"no {given}", "data": data}
        print(given, file=sys.stderr, flush=True)
        print(json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "error": error}), flush=True)
        continue
    print('{"jsonrpc": "2.0", "id": %d, "result": %s}' % (message["id"], result), flush=True)
"""


@pytest.mark.parametrize("lists_tools", [True, False])
def test_a_server_that_repeats_its_input_leaks_none_of_it(tmp_path: Path, lists_tools: bool) -> None:
    """S0-22, X-12: variables, also of a package manager, and arguments; in texts, keys, codes and messages."""
    text = SERVER if lists_tools else SERVER.replace('"tools/list"', '"tools/unlisted"')
    (tmp_path / "server.py").write_text(text, encoding="utf-8")
    values = [GIVEN, "npm-9f8e7d6c5b4a3210", "arg-0a1b2c3d4e5f6978"]
    command = (sys.executable, tmp_path / "server.py", "--api-key", values[2])
    env = {"npm_config__authToken": values[1]}
    written = run_skillgen(
        "from-server", "-v", "-o", tmp_path / "out", "--env", f"GIVEN={GIVEN}", "--", *command, env=env
    )
    shown = run_skillgen("inspect", "-v", "--env", f"GIVEN={GIVEN}", "--", *command, env=env)
    assert written.exit_code == shown.exit_code == (0 if lists_tools else 3)
    documents = b"".join(files_of(tmp_path / "out").values()).decode() if lists_tools else ""
    for output in (documents, written.stdout, written.stderr, shown.stdout, shown.stderr):
        assert not [value for value in values if value in output]


def test_a_description_that_repeats_a_header_or_the_address_leaks_neither(
    tmp_path: Path, answering: Callable[[Reply], tuple[str, Asked]]
) -> None:
    """S0-22, X-12: from-openapi and inspect."""

    def reply(path: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        told = f"You sent {headers['x-key']}, {headers['authorization']} and {path}."
        operation = {"operationId": "look", "summary": "Looks.", "responses": {"200": {"description": told}}}
        info = {"title": "Echo", "version": "1", "description": told}
        said = {"openapi": "3.1.0", "info": info, "paths": {f"/{headers['x-key']}": {"get": operation}}}
        return 200, {}, json.dumps(said).encode()

    address, _ = answering(reply)
    url = address.replace("://", "://bob:p0ssw0rd-of-bob@") + "/api.json?sig=q9w8e7r6t5z4u3i2"
    options = ("--header", f"X-Key: {GIVEN}")
    written = run_skillgen("from-openapi", url, "-v", "-o", tmp_path / "out", *options)
    shown = run_skillgen("inspect", url, "-v", *options)
    assert written.exit_code == shown.exit_code == 0, written.stderr
    assert "warning: secret-echoed: The source repeats" in written.stderr
    documents = b"".join(files_of(tmp_path / "out").values()).decode()
    encoded = base64.b64encode(b"bob:p0ssw0rd-of-bob").decode()
    for output in (documents, written.stdout, written.stderr, shown.stdout, shown.stderr):
        assert not [v for v in (GIVEN, "p0ssw0rd-of-bob", encoded, "q9w8e7r6t5z4u3i2") if v in output]
