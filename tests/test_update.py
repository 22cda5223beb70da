"""`skillgen update` repeats the runs that wrote documents, and a run says what only a new release changed."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from cli import generated, run_skillgen, stamps_of
from listed import program

RECORD_NAME = ".skillgen.json"

SERVER = program('json.load(open(os.environ.get("TOOLS", "tools.json")))', "sys.argv[1]")


def describe(path: Path, **operations: Any) -> None:
    """Writes a description with these operations of /orders, by method."""
    api = {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1", "description": "Keeps the orders of a shop."},
        "servers": [{"url": "https://shop.example"}],
        "paths": {"/orders": operations},
    }
    path.write_text(json.dumps(api), "utf-8")


LIST = {"operationId": "listOrders", "summary": "List orders", "parameters": [{"name": "state", "in": "query"}]}
CREATE = {"operationId": "createOrder", "summary": "Create an order"}


def tools(path: Path, *names: str) -> None:
    path.write_text(json.dumps([{"name": name, "inputSchema": {"type": "object"}} for name in names]), "utf-8")


def record(out: Path) -> Any:
    return json.loads((out / RECORD_NAME).read_text("utf-8"))


def test_the_run_that_wrote_documents_is_repeated_in_its_folder(tmp_path: Path) -> None:
    describe(tmp_path / "api.json", get=LIST)
    run_skillgen("from-openapi", "api.json", "--out", "docs/shop", "--emit", "skill", "--exclude", "x*", cwd=tmp_path)
    before = stamps_of(tmp_path / "docs")
    done = run_skillgen("update", "shop", cwd=tmp_path / "docs")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "nothing changed for callers" in done.stderr
    assert stamps_of(tmp_path / "docs") == before
    describe(tmp_path / "api.json", get={**LIST, "parameters": []}, post=CREATE)
    checked = run_skillgen("update", "--check", "docs/shop", cwd=tmp_path).ended(1)
    assert "# breaking: `listOrders: parameter state removed`\n" in checked.stdout
    assert stamps_of(tmp_path / "docs") == before
    done = run_skillgen("update", "docs/shop", cwd=tmp_path)
    assert (done.exit_code, done.stdout.splitlines()) == (
        0,
        ["- breaking: `listOrders: parameter state removed`", "- `createOrder: added`"],
    )
    assert record(tmp_path / "docs/shop")["run"] == {
        "words": ["from-openapi", "--exclude", "x*", "--emit", "skill", "api.json"],
        "in": "../..",
    }


LIMITED = {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 100, "default": 20}}
TAGS = {"name": "t", "in": "query", "schema": {"type": "array"}}
FAILS = {"200": {"description": "Done"}, "404": {"description": "None"}}
OTHERWISE = "changed otherwise, maybe breaking: see the diff"


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ({}, {"parameters": [{**LIMITED, "schema": {"type": "integer", "maximum": 50, "default": 30}}]}, None),
        ({"parameters": [{**LIMITED, "schema": {"type": "string", "pattern": "^a"}}]}, {}, None),
        ({}, {"summary": "Lists"}, ["- `listOrders: description changed`"]),
        ({}, {"parameters": [LIMITED, {"name": "q", "in": "query"}]}, None),
        ({}, {"responses": {**FAILS, "409": {"description": "Twice"}}}, [f"- `listOrders: {OTHERWISE}`"]),
        (
            {},
            {"parameters": [{**LIMITED, "in": "header"}]},
            ["- breaking: `listOrders: parameter limit: place header added`"],
        ),
        (
            {"parameters": [TAGS]},
            {"parameters": [{**TAGS, "explode": False}]},
            [f"- `listOrders: parameter t {OTHERWISE}`"],
        ),
    ],
)
def test_what_changed_for_callers_is_what_a_diff_shows(old: Any, new: Any, lines: Any, tmp_path: Path) -> None:
    """Of what the record has only a digest of, a line says that it changed."""
    usual = {**LIST, "parameters": [LIMITED], "responses": FAILS}
    describe(tmp_path / "api.json", get={**usual, **old})
    describe(tmp_path / "new.json", get={**usual, **new})
    shown = generated("diff", "api.json", "new.json", cwd=tmp_path).stdout.splitlines()
    assert shown
    generated("from-openapi", "api.json", "-o", "docs", cwd=tmp_path)
    (tmp_path / "new.json").replace(tmp_path / "api.json")
    assert "# " in run_skillgen("update", "docs", "--check", cwd=tmp_path).stdout
    done = generated("update", "docs", cwd=tmp_path)
    found = done.stdout.splitlines()
    assert found == (shown if lines is None else lines)
    assert "nothing changed for callers" not in done.stderr
    assert "nothing changed for callers" in generated("update", "docs", cwd=tmp_path).stderr


def test_prompts_and_resources_that_change_are_named(tmp_path: Path) -> None:
    tool = {"name": "get_order", "description": "Gets an order.", "pointer": "/tools/0"}
    service = {"kind": "mcp", "name": "shop", "tools": [tool]}

    def write(*prompts: Any, **others: Any) -> None:
        data = {"snapshot": 1, "services": [{**service, "prompts": prompts, **others}]}
        (tmp_path / "shop.json").write_text(json.dumps(data), "utf-8")

    asked = {"name": "q", "location": "argument", "required": True, "schema": {}, "pointer": "/p"}
    write({"name": "sum", "pointer": "/p"}, {"name": "old", "pointer": "/p"})
    generated("from-server", "--snapshot", "shop.json", "-o", "docs", cwd=tmp_path)
    resource = {"uri": "shop://orders", "name": "orders", "pointer": "/r"}
    write({"name": "sum", "pointer": "/p", "parameters": [asked]}, resources=[resource])
    assert generated("update", "docs", cwd=tmp_path).stdout.splitlines()[:3] == [
        "- breaking: `prompt old: removed`",
        "- `prompt sum: changed otherwise, maybe breaking: see the diff`",
        "- `resource shop://orders: added`",
    ]


def test_the_record_of_an_earlier_release_is_not_trusted_to_be_complete(tmp_path: Path) -> None:
    describe(tmp_path / "api.json", get={**LIST, "parameters": [LIMITED]})
    generated("from-openapi", "api.json", "-o", "docs", cwd=tmp_path)
    old = record(tmp_path / "docs")
    old["tools"]["listOrders"]["takes"] = {"limit": ["integer", 0]}
    del old["digests"]
    (tmp_path / "docs" / RECORD_NAME).write_text(json.dumps(old), "utf-8")
    assert "nothing changed for callers" in generated("update", "docs", cwd=tmp_path).stderr
    (tmp_path / "docs" / RECORD_NAME).write_text(json.dumps(old), "utf-8")
    describe(tmp_path / "api.json", get={**LIST, "parameters": [{**LIMITED, "schema": {"type": "integer"}}]})
    done = generated("update", "docs", cwd=tmp_path)
    assert done.stdout == (
        "- the record of an earlier release does not say whether more changed for callers: see the diff\n"
    )
    assert "nothing changed" not in done.stderr


def test_a_server_is_started_as_it_was_and_secrets_are_not_stored(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER, "utf-8")
    tools(tmp_path / "tools.json", "get_order")
    server = ("--", sys.executable, str(tmp_path / "server.py"), "shop")
    run_skillgen("from-server", "--env", "TOOLS=tools.json", "--out", "docs", *server, cwd=tmp_path)
    text = (tmp_path / "docs" / RECORD_NAME).read_text("utf-8")
    assert record(tmp_path / "docs")["run"]["words"] == [
        "from-server", "--env", "TOOLS", "--", "python", "server.py", "shop",
    ]  # fmt: skip
    assert "TOOLS=" not in text
    assert str(tmp_path) not in text
    run_skillgen("update", "docs", cwd=tmp_path).ended(
        2,
        "--env: TOOLS is not set in this environment\n  try: set TOOLS\n",
        "the command: skillgen from-server --out docs --env TOOLS -- python server.py shop\n",
    )
    tools(tmp_path / "tools.json", "get_order", "send_order")
    environment = {"TOOLS": "tools.json", "PATH": str(Path(sys.executable).parent)}
    done = run_skillgen("update", "docs", cwd=tmp_path, env=environment)
    assert (done.exit_code, done.stdout) == (0, "- `send_order: added`\n"), done.stderr


@pytest.mark.parametrize("interpreter", ["env/bin/python", "{}/env/bin/python"])
def test_the_environment_of_a_command_is_the_one_that_was_named(interpreter: str, tmp_path: Path) -> None:
    """Recorded with its path from the folder."""
    (tmp_path / "server.py").write_text(SERVER, "utf-8")
    tools(tmp_path / "tools.json", "get_order")
    (tmp_path / "env/bin").mkdir(parents=True)
    (tmp_path / "env/bin/python").symlink_to(sys.executable)
    environment = {"TOOLS": "tools.json"}
    server = ("--", interpreter.format(tmp_path), "server.py", "shop")
    generated("from-server", "--env", "TOOLS", "--out", "docs", *server, cwd=tmp_path, env=environment)
    assert record(tmp_path / "docs")["run"]["words"][-3:] == ["env/bin/python", "server.py", "shop"]
    generated("update", "docs", cwd=tmp_path, env=environment | {"PATH": str(tmp_path)})


def test_without_a_folder_all_in_the_usual_one_are_renewed(tmp_path: Path) -> None:
    for name in ("one", "two"):
        describe(tmp_path / f"{name}.json", get=LIST)
        generated("from-openapi", f"{name}.json", "-o", f"agent-docs/{name}", cwd=tmp_path)
        describe(tmp_path / f"{name}.json", get=LIST, post=CREATE)
    assert generated("update", cwd=tmp_path).stdout == "- `createOrder: added`\n" * 2


def test_a_program_is_read_again(tmp_path: Path) -> None:
    code = "import click\n@click.group()\ndef cli(): pass\n@cli.command()\ndef pack(): 'Packs.'\n"
    (tmp_path / "depot.py").write_text(code, "utf-8")
    generated("from-cli", "depot:cli", "--python", sys.executable, "-o", "docs", cwd=tmp_path)
    assert record(tmp_path / "docs")["run"]["words"][-1] == "depot:cli"
    (tmp_path / "depot.py").write_text(f"{code}@cli.command()\ndef ship(): 'Ships.'\n", "utf-8")
    assert generated("update", "docs", cwd=tmp_path).stdout == "- `ship: added`\n"


@pytest.mark.parametrize(
    ("words", "recorded"),
    [
        (("from-server", "--", "{}/server", "shop"), ("--", "../server", "shop")),
        (("from-server", "--", "{}/server", "shop", "{}/tools.json"), ("--", "../server", "shop", "../tools.json")),
        (("from-cli", "--command", "{}/depot"), ("--command", "../depot")),
        (("from-cli", "--command", "sh {}/depot 'a b'", "--program", "depot"), ("--command", "sh ../depot 'a b'")),
        (("from-cli", "--command", "../depot"), ("--command", "../depot")),
        (("from-cli", "--python", "{}/env/python", "depot:cli"), ("--python", "env/python")),
    ],
)
def test_paths_are_recorded_from_where_they_are_searched(words: Any, recorded: Any, tmp_path: Path) -> None:
    """With `--cwd`, a command and its arguments are searched from there, the paths of options from the run's folder."""
    (tmp_path / "data").mkdir()
    tools(tmp_path / "data/tools.json", "get_order")
    tools(tmp_path / "tools.json", "get_order")
    code = "import click\n@click.group()\ndef cli(): pass\n@cli.command()\ndef pack(): 'Packs.'\n"
    (tmp_path / "data/depot.py").write_text(code, "utf-8")
    files = {"server": f"#!{sys.executable}\n{SERVER}", "depot": "#!/bin/sh\necho 'Usage: depot [options]'\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "env").mkdir()
    (tmp_path / "env/python").symlink_to(sys.executable)
    command, *others = (word.format(tmp_path) for word in words)
    generated(command, "--out", "docs", "--cwd", tmp_path / "data", *others, cwd=tmp_path)
    stored = record(tmp_path / "docs")["run"]["words"]
    assert ("--cwd data" in " ".join(stored), " ".join(recorded) in " ".join(stored)) == (True, True), stored
    assert str(tmp_path) not in " ".join(stored)
    generated("update", "docs", cwd=tmp_path)


@pytest.mark.parametrize(
    ("options", "lacks"),
    [
        (("--header", "Authorization: Bearer s3cr3t-t0ken-value"), "--header Authorization"),
        (("--header", "Authorization: Bearer env:TOKEN"), None),
    ],
)
def test_what_may_be_secret_must_be_given_again(options: tuple[str, ...], lacks: str | None, tmp_path: Path) -> None:
    describe(tmp_path / "api.json", get=LIST)
    environment = {"TOKEN": "s3cr3t-t0ken-value"}
    generated("from-openapi", "api.json", "--out", "docs", *options, cwd=tmp_path, env=environment)
    assert "s3cr3t" not in (tmp_path / "docs" / RECORD_NAME).read_text("utf-8")
    done = run_skillgen("update", "docs", cwd=tmp_path, env=environment)
    assert done.exit_code == (0 if lacks is None else 2)
    assert lacks is None or f"does not store {lacks}, which may be secret or outside of its folder" in done.stderr


OF_ONE_RUN = ("--draft touch", "--force", "--install claude --user", "--package=src", "--replace", "--allow-empty")
ELSEWHERE = ("--out=../elsewhere", "--templates ../templates", "--templates=/tmp")


@pytest.mark.parametrize("words", [text.split() for text in (*OF_ONE_RUN, *ELSEWHERE)], ids=" ".join)
def test_a_record_has_no_option_of_one_run_or_of_another_folder(words: list[str], tmp_path: Path) -> None:
    describe(tmp_path / "api.json", get=LIST)
    (tmp_path / "templates").mkdir()
    run = ("from-openapi", "api.json", "--out", "shop/docs")
    generated(*run, cwd=tmp_path)
    stored = record(tmp_path / "shop/docs")
    (tmp_path / "api.json").replace(tmp_path / "shop/api.json")
    for place in ({"in": ".."}, {}):
        forged = stored | {"run": {"words": ["from-openapi", "api.json", *words], **place}}
        (tmp_path / "shop/docs" / RECORD_NAME).write_text(json.dumps(forged), "utf-8")
        before = stamps_of(tmp_path)
        done = run_skillgen("update", "docs", cwd=tmp_path / "shop")
        message = f"its command has {words[0].partition('=')[0]}, which is for one run only or leads out of its folder"
        assert (done.exit_code, message in done.stderr) == (2, True), done.stderr
        assert stamps_of(tmp_path) == before


def test_the_options_of_one_run_are_not_recorded(tmp_path: Path) -> None:
    describe(tmp_path / "api.json", get=LIST)
    for folder in ("shop/templates", "templates"):
        (tmp_path / folder).mkdir(parents=True)
    run = ("from-openapi", "../api.json", "--out", "docs", "--install", "claude", "--user", "--force", "--replace")
    home = {"HOME": str(tmp_path / "home"), "USERPROFILE": str(tmp_path / "home")}
    for options, end in (((), ()), (("--templates", "templates"), ("--templates", "templates"))):
        generated(*run, *options, cwd=tmp_path / "shop", env=home)
        assert record(tmp_path / "shop/docs")["run"]["words"] == ["from-openapi", *end, "../api.json"]
    generated(*run, "--templates", tmp_path / "templates", cwd=tmp_path / "shop", env=home)
    run_skillgen("update", "docs", cwd=tmp_path / "shop", env=home).ended(2, "does not store --templates templates")


def test_a_folder_that_fails_keeps_its_documents_and_stops_no_other(tmp_path: Path) -> None:
    for name in ("gone", "empty", "well"):
        describe(tmp_path / f"{name}.json", get=LIST)
        run_skillgen("from-openapi", f"{name}.json", "--out", name, cwd=tmp_path)
    before = stamps_of(tmp_path / "gone"), stamps_of(tmp_path / "empty")
    (tmp_path / "gone.json").unlink()
    describe(tmp_path / "empty.json")
    describe(tmp_path / "well.json", get=LIST, post=CREATE)
    done = run_skillgen("update", "gone", "empty", "nothing", "well", cwd=tmp_path).ended(3)
    assert (stamps_of(tmp_path / "gone"), stamps_of(tmp_path / "empty")) == before
    assert done.stdout == "- `createOrder: added`\n"
    errors = [line for line in done.stderr.splitlines() if line.startswith("skillgen: error: ")]
    assert [error.removeprefix("skillgen: error: ").split(":")[0].split("/")[-1] for error in errors] == [
        "gone.json", "empty", "nothing",
    ]  # fmt: skip


def test_a_link_to_a_program_may_lead_to_another_file_later(tmp_path: Path) -> None:
    """As `node_modules/.bin` does after an update of the package."""
    tools(tmp_path / "tools.json", "get_order")
    for name in ("old", "new"):
        (tmp_path / name).write_text(f"#!{sys.executable}\n{SERVER}", "utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "server").symlink_to("old")
    generated("from-server", "--out", "docs", "--", "./server", "shop", cwd=tmp_path)
    (tmp_path / "server").unlink()
    (tmp_path / "server").symlink_to("new")
    (tmp_path / "old").unlink()
    assert run_skillgen("update", "docs", cwd=tmp_path).exit_code == 0


def test_documents_of_the_api_do_not_say_how_they_were_made(tmp_path: Path) -> None:
    import skillgen

    describe(tmp_path / "api.json", get=LIST)
    skillgen.generate(skillgen.read(openapi=str(tmp_path / "api.json")), out=str(tmp_path / "docs"))
    run_skillgen("update", "docs", cwd=tmp_path).ended(2, "does not say which command wrote it")


# -- upgrades --------------------------------------------------------------------------------------------------------


SKILL = "skills/shop/SKILL.md"


def age(project: Path) -> None:
    """Has the documents of a project as if release 0.1.9 had written them, with other lines and another variable."""
    out = project / "agent-docs"
    now = (out / RECORD_NAME).read_text("utf-8")
    text = (out / SKILL).read_text("utf-8").replace("SKILL_", "SKILL_OLD_").replace("## ", "## The ")
    (project / "old" / "skill").mkdir(parents=True, exist_ok=True)
    template = "{% raw %}" + text + "{% endraw %}"
    (project / "old" / "skill" / "SKILL.md.j2").write_text(template, "utf-8")
    generated("build", "--templates", "old", cwd=project)
    data = record(out) | {"release": "0.1.9", "declared": json.loads(now)["declared"]}
    (out / RECORD_NAME).write_text(json.dumps(data), "utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose documents an earlier release wrote."""
    secured = {**LIST, "security": [{"key": []}]}
    describe(tmp_path / "api.json", get=secured)
    api = json.loads((tmp_path / "api.json").read_text("utf-8"))
    api["components"] = {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}}
    (tmp_path / "api.json").write_text(json.dumps(api), "utf-8")
    (tmp_path / "skillgen.yaml").write_text("targets:\n  shop:\n    source: {openapi: api.json}\n", "utf-8")
    assert run_skillgen("build", cwd=tmp_path).exit_code == 0
    age(tmp_path)
    return tmp_path


def test_drift_by_a_new_release_is_no_drift_by_the_source(project: Path) -> None:
    checked = run_skillgen("build", "--check", "-v", cwd=project).ended(1, "generator-changed")
    message = r"by its record, skillgen changed from 0\.1\.9 to 0\.2\.0, the source did not: \d file"
    assert re.search(message, checked.stderr), checked.stderr
    assert "; the variable SKILL_OLD_SHOP_EXAMPLE___TOKEN is not used any more" in checked.stderr
    api = json.loads((project / "api.json").read_text("utf-8"))
    api["info"]["description"] = "Keeps all orders of a shop."
    (project / "api.json").write_text(json.dumps(api), "utf-8")
    checked = run_skillgen("build", "--check", "-v", cwd=project).ended(1)
    assert "generator-changed" not in checked.stderr


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("externalDocs", {"url": "https://shop.example/guide"}),
        ("servers", [{"url": "https://orders.shop.example"}]),
        ("x-sunset", "2027-01-01"),
    ],
)
def test_no_part_of_a_source_changes_with_a_release_alone(project: Path, key: str, value: Any) -> None:
    api = json.loads((project / "api.json").read_text("utf-8"))
    (project / "api.json").write_text(json.dumps(api | {key: value}), "utf-8")
    is_shown = key != "x-sunset"
    checked = run_skillgen("build", "--check", "-v", "--accept-upgrade", cwd=project)
    assert ("generator-changed" in checked.stderr) is not is_shown
    assert checked.exit_code == int(is_shown), checked.stderr


def test_a_hook_can_accept_what_only_a_new_release_changed(project: Path) -> None:
    hook = ("build", "--fail-on-change", "--accept-upgrade")
    assert run_skillgen("build", "--check", "--accept-upgrade", cwd=project).exit_code == 0
    assert run_skillgen(*hook, cwd=project).exit_code == 0
    assert record(project / "agent-docs")["release"] == "0.2.0"
    assert "## The " not in (project / "agent-docs/skills/shop/SKILL.md").read_text("utf-8")
    age(project)
    describe(project / "api.json", get=LIST, post=CREATE)
    assert run_skillgen(*hook, cwd=project).exit_code == 1


def test_the_services_of_a_client_are_renewed_together(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER, "utf-8")
    tools(tmp_path / "tools.json", "get_order")
    servers = {
        name: {"command": sys.executable, "args": ["server.py", name], "cwd": str(tmp_path)} for name in ("one", "two")
    }
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), "utf-8")
    run_skillgen("from-server", "--config", ".mcp.json", "--out", "docs", cwd=tmp_path).ok()
    tools(tmp_path / "tools.json", "get_order", "send_order")
    done = run_skillgen("update", "docs/two", cwd=tmp_path)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == "- `one`: `send_order: added`\n- `two`: `send_order: added`\n"
    assert done.stderr.startswith("docs/two is one of 2 services of a command, so all of them are renewed\n")


@pytest.mark.parametrize("names", ["a", "a b"])
def test_documents_of_a_project_are_for_its_build(names: str, tmp_path: Path) -> None:
    describe(tmp_path / "api.json", get=LIST)
    targets = {name: {"source": {"openapi": "api.json"}} for name in names.split()}
    (tmp_path / "skillgen.yaml").write_text(json.dumps({"targets": targets}), "utf-8")
    generated("build", cwd=tmp_path)
    done = run_skillgen("update", cwd=tmp_path)
    fix = "run skillgen build --target a" if names == "a" else "run skillgen build"
    assert (done.exit_code, done.stderr.splitlines()[1:]) == (2, [f"  try: {fix}"])
    assert f"agent-docs: is of a project, of its target {names.replace(' ', ' and ')}\n" in done.stderr


@pytest.mark.parametrize("name", ["NotificationConfigurationService.json", "a@b/Xk29fjQ7Zp4LmN8vR1tY6wB3.json"])
def test_a_name_of_a_file_is_not_taken_for_a_secret(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    describe(tmp_path / name, get=LIST)
    assert run_skillgen("from-openapi", name, "--out", "docs", cwd=tmp_path).exit_code == 0
    describe(tmp_path / name, get=LIST, post=CREATE)
    done = run_skillgen("update", "docs", cwd=tmp_path)
    assert (done.exit_code, done.stdout) == (0, "- `createOrder: added`\n"), done.stderr
