"""What a person wrote about a service is checked: names, calls, versions and URLs that the service does not have."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml
from captured import service_of_answers
from cli import generated, run_skillgen
from rows import inputs

import skillgen

TOOLS: list[Any] = inputs("prose")["tools"]
API: dict[str, Any] = inputs("prose")["api"]


PROGRAM = """\
import argparse

def parser():
    root = argparse.ArgumentParser(prog="orders", description="Keeps orders of ORDERS_HOME")
    commands = root.add_subparsers(required=True)
    importing = commands.add_parser("import", help="Import orders from a file")
    importing.add_argument("file")
    importing.add_argument("--dry-run", action="store_true", help="Import nothing")
    commands.add_parser("list", help="List all orders")
    return root
"""


def findings(folder: Path, text: str, source: object, *options: str) -> dict[str, str]:
    """Returns each message of `lint --skill` with its place, for a skill with this text."""
    (folder / "source.json").write_text(json.dumps(source), "utf-8")
    (folder / "SKILL.md").write_text(textwrap.dedent(text), "utf-8")
    arguments = ("--skill", "SKILL.md", "source.json", "--ignore", "tool-unmentioned", *options)
    report = json.loads(run_skillgen("lint", *arguments, "--format", "json", cwd=folder).stdout)
    return {finding["message"]: finding["where"] for finding in report["findings"]}


def server() -> object:
    answers = {"initialize": {"serverInfo": {"name": "shop", "version": "1.2.0"}}, "tools/list": [{"tools": TOOLS}]}
    return skillgen.snapshot(service_of_answers(answers))


def test_names_that_look_like_tools_and_do_not_exist_are_reported(tmp_path: Path) -> None:
    text = """\
        allowed-tools: mcp__shop__list_order, mcp__files__read_file

        Use `get_orders` or `listOrders`, then the update_order tool and `list_invoices()`.
        """
    assert findings(tmp_path, text, server()) == {
        "names the tool list_order; list_orders may be meant": "SKILL.md:1",
        "names the tool get_orders; get_order may be meant": "SKILL.md:3",
        "names the tool listOrders; list_orders may be meant": "SKILL.md:3",
        "names the tool list_invoices": "SKILL.md:3",
    }


def test_names_of_which_nothing_says_that_they_are_tools_are_not(tmp_path: Path) -> None:
    text = """\
        Call `get_order`, `mcp__shop__get_order`, `mcp__shop__*`; read `order_lines`, `state`, `page_size`,
        `shop-client`, `print()`, `my_function(1)`, `README.md`, `os.getcwd()`, `snake_case` and `GITHUB_TOKEN`.
        """
    assert findings(tmp_path, text, server()) == {}


def test_parameters_and_values_that_do_not_exist_are_reported(tmp_path: Path) -> None:
    text = """\
        With `list_orders`, set the `limit` parameter, the argument `page_size`, `state=closed` or `state: "open"`.
        """
    assert findings(tmp_path, text, server()) == {
        "names the parameter limit": "SKILL.md:1",
        "names closed, which is not a value of state": "SKILL.md:1",
    }


def test_calls_that_the_schema_refuses_are_reported(tmp_path: Path) -> None:
    text = """\
        `get_order(number=1)`, `get_order(id=7)`, `get_order()`, `list_orders({state: "open", ...})`

        ```json
        {"name": "list_orders", "arguments": {"state": "closed", "page_size": "<size>"}}
        ```

        ```python
        await client.get_order(number=3)
        mcp__shop__get_order({"id": "seven"})
        ```
        """
    assert findings(tmp_path, text, server()) == {
        "calls get_order with /id: is required": "SKILL.md:1",
        "calls get_order with number, which it does not take": "SKILL.md:1",
        'calls list_orders with /state: "closed" is not one of "open", "paid", "sent"': "SKILL.md:3",
        'calls get_order with /id: "seven" is not of type integer': "SKILL.md:7",
    }


def test_paths_and_requests_of_an_api_are_checked(tmp_path: Path) -> None:
    text = """\
        `GET /orders/{order_id}`, `/v2/orders/:id`, `/tmp/orders`, `//`, `/orders/{id}/lines`, `DELETE /orders/{id}`

        ```sh
        curl -s https://127.0.0.1/v2/orders/1 | jq .
        curl -s "https://127.0.0.1/v2/orders?state=sent"
        curl -s https://127.0.0.2/orders?state=sent
        ```

        Its address was http://127.0.0.1/v1 before.
        """
    found = findings(tmp_path, text, API)
    assert {message[:55]: where for message, where in found.items()} == {
        "names the path /orders/{id}/lines; /orders/{id} may be ": "SKILL.md:1",
        "names the path DELETE /orders/{id}": "SKILL.md:1",
        'calls GET /v2/orders?state=sent: /state "sent" is not o': "SKILL.md:3",
        "has the URL http://127.0.0.1/v1, the source https://127": "SKILL.md:9",
    }


def test_a_request_that_only_a_shell_completes_is_not_refused(tmp_path: Path) -> None:
    """A variable, a placeholder in a list, another API on the host, and names of resources of several segments."""
    api = json.loads(json.dumps(API))
    api["paths"]["/orders/{id}"]["parameters"][0]["schema"] = {"type": "string", "format": "uuid"}
    body = {"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "string", "format": "uuid"}}}}
    api["paths"]["/orders"]["post"] = {"requestBody": {"content": {"application/json": {"schema": body}}}}
    text = """\
        ```sh
        curl https://127.0.0.1/v2/orders/$ORDER_ID https://127.0.0.1/v2/orders/${ORDER}
        curl https://127.0.0.1/v2/orders --json '{"ids": ["<id>"]}'
        curl https://127.0.0.1/v2/orders --json '{"ids": ["'"$(date "+%s")"'"]}'
        curl https://127.0.0.1/files/v1/files
        curl https://127.0.0.1/v2/orders --json '{"ids": ["one"]}'
        ```
        """
    found = findings(tmp_path, text, api)
    assert found == {'calls POST /v2/orders: /body/ids/0 "one" is not a "uuid"': "SKILL.md:1"}
    api["servers"] = [{"url": "https://127.0.0.1"}]
    api["paths"] = {"/v1/{name}": {"get": {"parameters": [{"name": "name", "in": "path", "required": True}]}}}
    assert findings(tmp_path, "`curl https://127.0.0.1/v1/people/me`\n", api) == {}


def test_another_version_of_the_service_is_reported(tmp_path: Path) -> None:
    text = "Start it with `npx shop@1.1.0`, or `pip install shop==1.2.0 other==3.0.0`.\n"
    assert findings(tmp_path, text, server()) == {"has the version 1.1.0 of shop, the source 1.2.0": "SKILL.md:1"}


def test_tools_that_a_skill_never_mentions_are_listed(tmp_path: Path) -> None:
    (tmp_path / "source.json").write_text(json.dumps(server()), "utf-8")
    folder = tmp_path / "skill" / "references"
    folder.mkdir(parents=True)
    (tmp_path / "skill" / "SKILL.md").write_text("# Shop\n", "utf-8")
    (folder / "more.md").write_text("`get_order`\n", "utf-8")
    finished = generated("lint", "-v", "--skill", "skill", "source.json", cwd=tmp_path)
    assert "info: tool-unmentioned" in finished.stdout
    assert "1 of 2 tools are not mentioned: list_orders\n" in finished.stdout


def test_a_folder_without_a_skill_is_refused(tmp_path: Path) -> None:
    (tmp_path / "source.json").write_text(json.dumps(API), "utf-8")
    run_skillgen("lint", "--skill", ".", "source.json", cwd=tmp_path).ended(2, "name a SKILL.md or its folder")


def test_the_texts_of_a_project_are_checked_at_their_keys(tmp_path: Path) -> None:
    (tmp_path / "openapi.json").write_text(json.dumps(API), "utf-8")
    texts = {"notes": "Call `getOrders` first.", "when-to-use": ["see orders, with `listOrder`"], "not-for": ["`getX`"]}
    target = {"source": {"openapi": "openapi.json"}, **texts}
    (tmp_path / "skillgen.yaml").write_text(yaml.safe_dump({"targets": {"shop": target}}), "utf-8")
    built = generated("build", "-v", cwd=tmp_path)
    for key in ("notes: names the tool getOrders", "when-to-use: names the tool listOrder; listOrders may be meant"):
        assert f"warning: unknown-tool-named: skillgen.yaml#/targets/shop/{key}" in built.stderr
    report = json.loads(run_skillgen("lint", "--format", "json", "--select", "unknown-tool-named", cwd=tmp_path).stdout)
    assert len(report["findings"]) == 3


def test_only_lines_that_a_person_added_to_a_skill_are_checked(tmp_path: Path) -> None:
    (tmp_path / "openapi.json").write_text(json.dumps(API), "utf-8")
    assert run_skillgen("from-openapi", "openapi.json", cwd=tmp_path).exit_code == 0
    skill = next(tmp_path.rglob("SKILL.md"))
    text = skill.read_text("utf-8")
    skill.write_text(f"{text}\nBefore `getOrders`, call `listOrders`.\n", "utf-8")
    checked = run_skillgen("from-openapi", "openapi.json", "--check", cwd=tmp_path)
    place = f"SKILL.md:{text.count(chr(10)) + 2}: names the tool getOrders; getOrder may be meant"
    assert place in checked.stderr
    assert checked.stderr.count("unknown-tool-named") == 1


def test_lint_of_a_project_reads_the_lines_that_a_person_added(tmp_path: Path) -> None:
    (tmp_path / "api.json").write_text(json.dumps(API), "utf-8")
    (tmp_path / "skillgen.yaml").write_text("targets: {shop: {source: {openapi: api.json}, out: docs}}\n", "utf-8")
    assert run_skillgen("build", cwd=tmp_path).exit_code == 0
    [skill] = tmp_path.rglob("SKILL.md")
    text = skill.read_text("utf-8")
    skill.write_text(f"{text}\nBefore `getOrders`, call `listOrders`.\n", "utf-8")
    select = ("--select", "unknown-tool-named", "--format", "json")
    (found,) = json.loads(run_skillgen("lint", *select, cwd=tmp_path).stdout)["findings"]
    line = text.count("\n") + 2
    assert found["where"] == f"docs/{skill.relative_to(tmp_path / 'docs').as_posix()}:{line}"
    assert found["line"] == line
    assert found["message"] == "names the tool getOrders; getOrder may be meant"


def test_lint_of_a_target_of_several_services_reads_the_lines_of_each(tmp_path: Path) -> None:
    snapshot = json.loads(json.dumps(server()))
    other = json.loads(json.dumps(server()).replace('"shop"', '"store"'))
    (tmp_path / "both.json").write_text(json.dumps({**snapshot, "services": snapshot["services"] + other["services"]}))
    (tmp_path / "skillgen.yaml").write_text("targets: {all: {source: {snapshot: both.json}, out: docs}}\n", "utf-8")
    assert run_skillgen("build", cwd=tmp_path).exit_code == 0
    skills = sorted(tmp_path.glob("docs/*/skills/*/SKILL.md"))
    assert len(skills) == 2
    for skill in skills:
        skill.write_text(f"{skill.read_text('utf-8')}\nCall `get_orders`.\n", "utf-8")
    select = ("--select", "unknown-tool-named", "--format", "json")
    found = json.loads(run_skillgen("lint", *select, cwd=tmp_path).stdout)["findings"]
    assert sorted(item["where"].partition(":")[0] for item in found) == [
        skill.relative_to(tmp_path).as_posix() for skill in skills
    ]


def test_the_texts_on_a_snapshot_are_checked(tmp_path: Path) -> None:
    (tmp_path / "shop.json").write_text(json.dumps(server()), "utf-8")
    source = "{snapshot: shop.json}"
    target = f"{{source: {source}, notes: Call `get_orders` first.}}"
    (tmp_path / "skillgen.yaml").write_text(f"targets: {{shop: {target}}}\n", "utf-8")
    message = "names the tool get_orders; get_order may be meant"
    assert f"skillgen.yaml#/targets/shop/notes: {message}" in run_skillgen("build", "-v", cwd=tmp_path).stderr
    assert f"skillgen.yaml:1:49: {message}" in run_skillgen("lint", "-v", cwd=tmp_path).stdout


def test_commands_and_options_of_a_program_are_checked(tmp_path: Path) -> None:
    text = """\
        Run `orders import --dry`, `orders imports`, `orders import FILE | orders list`, `ls --all`.
        They are in `$ORDERS_FOLDER`, not in `LS_COLORS`.

        ```sh
        $ orders list --sort=name  # --all
        orders import a.csv \\
          --force
        ```
        """
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    (tmp_path / "SKILL.md").write_text(textwrap.dedent(text), "utf-8")
    source = ("program:parser", "--program", "orders", "--ignore", "tool-unmentioned", "--format", "json")
    report = json.loads(run_skillgen("lint", "--skill", "SKILL.md", *source, cwd=tmp_path).stdout)
    assert {finding["message"] for finding in report["findings"]} == {
        "names the option --dry of orders import",
        "names the command orders imports; import may be meant",
        "names the option --sort of orders list",
        "names the option --force of orders import",
        "names ORDERS_FOLDER; ORDERS_HOME may be meant",
    }


def test_a_hostile_skill_is_read_in_bounded_time_without_a_crash(tmp_path: Path) -> None:
    parts = ["get_order(" * 3000, "`get_order(" + "-" * 3000 + "1)`", "a" * 50_000 + "@1.2.3", "mcp__" * 20_000]
    parts += [
        "http://[x https://[::1",
        "```\n'curl \"\n```",
        "`get_order(id='\\d')`",
        "{" * 50_000,
        "`{" + "{" * 3000 + "`",
    ]
    parts += [" ".join(f"`get_order_{number}`" for number in range(3000)), "\x1b[31m`get_order\x1b`", "`" * 5000]
    assert "names the tool get_order_1" in str(findings(tmp_path, "\n\n".join(parts), server()))


@pytest.mark.parametrize(("way", "unknown"), [("Run orders COMMAND --help\n", ["purge"]), ("", [])])
def test_only_a_name_that_the_help_of_a_program_lacks_is_unknown(way: str, unknown: list[str], tmp_path: Path) -> None:
    """Other names are known, and what a help does not list is unknown only if those of its commands can be read."""
    program = tmp_path / "orders"
    text = "Commands:\n  ls | list     Lists orders\n  i, import     Imports\n  show  Shows one [alias: s, view]\n"
    text += f"  wait <id> waits for an order\n\nExamples:\n  $ orders track 7\n\n{way}"
    program.write_text(f"#!/bin/sh\ncat <<'END'\nUsage: orders [COMMAND]\n\n{text}END\n", "utf-8")
    program.chmod(0o755)
    named = ("list", "ls", "import", "view", "wait", "track", "purge")
    (tmp_path / "SKILL.md").write_text("\n".join(f"`orders {name}`" for name in named), "utf-8")
    arguments = ("--skill", "SKILL.md", "--command", "./orders", "--select", "unknown-tool-named", "--format", "json")
    report = json.loads(run_skillgen("lint", *arguments, cwd=tmp_path).stdout)
    assert [finding["message"] for finding in report["findings"]] == [
        f"names the command orders {name}, which its help does not list" for name in unknown
    ]


def test_placeholders_of_a_path_may_have_a_slash_and_dots_are_no_path(tmp_path: Path) -> None:
    """`{REPOSITORY}` is often the name of an owner and that of a repository."""
    names = [{"name": name, "in": "path", "required": True} for name in ("owner", "name")]
    get = {"parameters": names, "responses": {"200": {"content": {"text/html": {}}}}}
    api = json.loads(json.dumps(API))
    api["paths"]["/{owner}/{name}/issues"] = api["paths"]["/{owner}/{name}"] = {"get": get}
    text = """\
        ```sh
        curl https://127.0.0.1/v2/...
        curl -H 'Accept: text/plain' https://127.0.0.1/v2/{REPOSITORY}/issues
        curl "https://127.0.0.1/v2/orders?state=open&{query}"
        curl https://127.0.0.1/v2/one/two/issues/9
        ```
        """
    assert findings(tmp_path, text, api) == {"calls GET /v2/one/two/issues/9: no such path": "SKILL.md:1"}
