"""What a source declares for others than callers: internal parts, keys that make calls repeatable, useless facts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from captured import service_of_answers
from cli import generated
from descriptions import description, write

import skillgen

EXTENSIONS = ("x-internal", "x-hidden", "x-speakeasy-ignore", "x-fern-ignore", "x-stainless-skip")


@pytest.mark.parametrize("name", EXTENSIONS)
def test_what_is_marked_as_internal_is_left_out_unless_asked_for(name: str, tmp_path: Path) -> None:
    """F39: an operation, all operations of a path, and a parameter that a call does not need."""
    responses = {"200": {"description": "OK"}}
    parameters = [{"name": "trace", "in": "query", name: True}, {"name": "state", "in": "query", name: False}]
    api = description(
        {
            "/orders": {
                "get": {"operationId": "listOrders", "parameters": parameters, "responses": responses},
                "delete": {"operationId": "deleteOrders", name: True, "responses": responses},
            },
            "/admin": {name: True, "post": {"operationId": "restart", "responses": responses}},
        }
    )
    write(tmp_path / "api.json", api)
    service = skillgen.read(str(tmp_path / "api.json"))
    assert [(tool.name, [item.name for item in tool.parameters]) for tool in service.tools] == [
        ("listOrders", ["state"])
    ]
    places = [item.where for item in service.problems if item.code == "internal-left-out"]
    assert sorted(places) == ["/paths/~1admin/post", "/paths/~1orders/delete", "/paths/~1orders/get/parameters/0"]
    whole = skillgen.read(str(tmp_path / "api.json"), include_internal=True)
    assert {tool.name for tool in whole.tools} == {"listOrders", "deleteOrders", "restart"}
    generated("from-openapi", "api.json", "--include-internal", "-o", "docs", "--emit", "llms", cwd=tmp_path)
    assert "POST /admin" in (tmp_path / "docs" / "llms.txt").read_text("utf-8")


def test_a_header_or_member_for_a_key_makes_a_call_repeatable(tmp_path: Path) -> None:
    """S2-25."""
    header = [{"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}]
    body = {"content": {"application/json": {"schema": {"properties": {"idempotency_key": {"type": "string"}}}}}}
    api = description(
        {
            "/by-header": {"post": {"operationId": "byHeader", "parameters": header, "responses": {}}},
            "/by-member": {"post": {"operationId": "byMember", "requestBody": body, "responses": {}}},
            "/without": {"post": {"operationId": "without", "responses": {}}},
        }
    )
    write(tmp_path / "api.json", api)
    generated("from-openapi", "api.json", "-o", "docs", "--emit", "skill", cwd=tmp_path)
    text = (tmp_path / "docs").rglob("*.md")
    whole = "\n".join(path.read_text("utf-8") for path in text)
    sections = {part.partition("\n")[0]: part for part in whole.split("\n## ")}
    assert ["repeat with an idempotency key" in sections[name] for name in ("byHeader", "byMember", "without")] == [
        True,
        True,
        False,
    ]
    tools = skillgen.read(str(tmp_path / "api.json")).tools
    assert [tool.semantics.idempotent_with_key for tool in tools] == [True, True, None]


def server(**dashdash: Any) -> skillgen.Service:
    tool = {"name": "send_order", "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}}
    info = {"serverInfo": {"name": "shop", "version": "1"}, "dashdash": {"accessLevel": "full", **dashdash}}
    return service_of_answers({"initialize": info, "tools/list": [{"tools": [tool]}]})


@pytest.mark.parametrize(
    ("date", "is_reported"), [("yesterday", True), ("2026-11-28", False), ("2026-11-28T10:00:00Z", False)]
)
def test_a_date_in_another_form_is_reported(date: str, is_reported: bool) -> None:
    """S0-29."""
    findings = skillgen.lint(server(lastUpdated=date), select=["declaration-useless"])
    assert [item.message for item in findings.problems] == ["'yesterday' is no date of ISO 8601"] * is_reported


@pytest.mark.parametrize(
    ("command", "is_reported"),
    [("shop order send", True), ("shop send-order {id}", False), ("shop send-order 17", False), ("shop orders", False)],
)
def test_a_command_without_a_place_for_what_is_required_is_reported(command: str, is_reported: bool) -> None:
    """B11: one that may have it as a plain word is not."""
    schema = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    tool = {"name": "send_order", "inputSchema": schema, "dashdash": {"cliEquivalent": command}}
    service = service_of_answers({"initialize": {}, "tools/list": [{"tools": [tool]}]})
    found = skillgen.lint(service, select=["declaration-useless"]).problems
    said = "send_order: cliEquivalent has no place for id, which is required"
    assert [item.message for item in found] == [said] * is_reported


def test_the_facts_of_another_text_are_named_by_its_file(tmp_path: Path) -> None:
    """B4: not as `ai_help`, which the server does not have."""
    (tmp_path / "llms.txt").write_text("---\nname: shop\napi-url: here\n---\n# Shop\n", encoding="utf-8")
    write(tmp_path / "snapshot.json", skillgen.snapshot(server()))
    options = ("--snapshot", "snapshot.json", "--extra", "llms.txt", "-o", "docs", "-v")
    run = generated("from-server", *options, cwd=tmp_path)
    assert "member-invalid: llms.txt: api-url: expected" in run.stderr
    assert "ai_help" not in run.stderr


def test_advice_in_a_list_keeps_its_fences_and_is_a_fixpoint() -> None:
    """B2: and what is served back is the same."""
    advice: Any = ["First:\n\n```sh\nshop list\n```", "- Then `send`."]
    for _ in range(2):
        described = {"uri": "shop://tool_descriptions", "tools": {"send": {"usage_guidance": advice}}}
        answers = {"initialize": {}, "tools/list": [{"tools": [{"name": "send"}]}], "resources/read": described}
        [section] = service_of_answers(answers).tools[0].guidance
        assert section.body == "- First:\n\n  ```sh\n  shop list\n  ```\n- Then `send`."
        advice = [section.body]


def test_stage_two_has_its_entry_in_the_list_of_resources(tmp_path: Path) -> None:
    """S3-16 (seed 003, 4.2 and 11.2), with the hints of each tool in stage one."""
    answers = {
        "initialize": {"serverInfo": {"name": "shop", "version": "1"}},
        "tools/list": [{"tools": [{"name": "get", "inputSchema": {}, "annotations": {"readOnlyHint": True}}]}],
    }
    write(tmp_path / "snapshot.json", skillgen.snapshot(service_of_answers(answers)))
    options = ("--snapshot", "snapshot.json", "-o", "docs", "--emit", "tool-descriptions")
    generated("from-server", *options, cwd=tmp_path)
    folder = tmp_path / "docs" / "tool-descriptions"
    [entry] = json.loads((folder / "resources-list.json").read_text("utf-8"))["resources"]
    assert (entry["uri"], entry["mimeType"]) == ("resource:///tool_descriptions", "application/json")
    for part in ("tools/list", "before the first call", "?tools=NAME,NAME", "authorises the tool for the session"):
        assert part in entry["description"]
    [tool] = json.loads((folder / "tools-list.json").read_text("utf-8"))["tools"]
    assert tool["annotations"] == {"readOnlyHint": True}


def test_icons_have_sizes_and_types_of_images(tmp_path: Path) -> None:
    """B5: others are reported and left out."""
    icon = {"src": "data:image/png;base64,aGk=", "mimeType": "text/html", "sizes": "48 by 48x48"}
    answers = {
        "initialize": {"serverInfo": {"name": "shop", "version": "1", "icons": [icon]}},
        "tools/list": [{"tools": []}],
    }
    service = service_of_answers(answers)
    assert [(item.media_type, item.sizes) for item in service.icons] == [(None, ("48x48",))]
    places = [item.where.rpartition("/")[2] for item in service.problems if item.code == "member-invalid"]
    assert sorted(places) == ["mimeType", "sizes"]


@pytest.mark.parametrize("servers", [[], [{"url": "/api/v1"}]])
def test_examples_without_a_declared_host_pass_the_static_check(servers: list[Any], tmp_path: Path) -> None:
    """G3: their base URL is a variable."""
    api = description({"/orders": {"get": {"operationId": "listOrders", "responses": {"200": {"description": "OK"}}}}})
    write(tmp_path / "api.json", {**api, "servers": servers})
    generated("from-openapi", "api.json", "-o", "docs", "--emit", "skill", cwd=tmp_path)
    [skill] = (tmp_path / "docs" / "skills").iterdir()
    assert "BASE_URL" in "".join(path.read_text("utf-8") for path in skill.rglob("*.md"))
    assert "passed: example calls: 1 of 1" in generated("eval", skill, "api.json", "--static", cwd=tmp_path).stdout


def test_a_login_of_two_headers_is_sent_whole(tmp_path: Path) -> None:
    """Headers of the same name but for its last word, which all calls need, and no other one."""
    names = ("X-Acme-Api-Id", "X-Acme-Api-Key", "X-Trace")
    headers = [{"name": name, "in": "header", "required": True, "schema": {"type": "string"}} for name in names]
    operation = {"parameters": headers, "responses": {"200": {"description": "OK"}}}
    paths = {f"/{name}": {"get": {"operationId": name, **operation}} for name in ("orders", "books", "carts")}
    write(tmp_path / "api.json", {**description(paths), "servers": [{"url": "https://acme.example"}]})
    generated("from-openapi", "api.json", "-o", "docs", "--emit", "skill", cwd=tmp_path)
    [skill] = (tmp_path / "docs").rglob("SKILL.md")
    [login] = [line for line in skill.read_text("utf-8").splitlines() if line.startswith("- Authentication: `curl")]
    assert ["X-Acme-Api-Id: $" in login, "X-Acme-Api-Key: $" in login, "X-Trace" in login] == [True, True, False]
