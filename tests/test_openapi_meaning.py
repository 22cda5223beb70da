"""What operations mean beyond their shape: effects, credentials, paging, waiting, ends, addresses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli import generated
from conftest import Serve
from descriptions import description, operation, write
from documents import MarkdownDocument

import skillgen

Json = Any


def documents_of(method: Json = "get", **members: Json) -> str:
    """Returns what the documents say of the one operation of a description."""
    service = skillgen.read(description({"/a": {method: operation("x", **members)}}))
    return skillgen.render_documents(service, emit="llms")["llms-full.txt"]


@pytest.mark.parametrize(("logo", "kept"), [
    ("https://tasks.example/logo.png", True),
    ("https://cdn.tasks.example/logo.png", True),
    ("https://example/logo.png", False),
    ("data:image/png;base64,iVBORw0KGgo=", True),
    ("http://tasks.example/logo.png", False),
    ("https://evil.example/logo.png", False),
    ("https://nottasks.example/logo.png", False),
    ("javascript:alert(1)", False),
    ("data:text/html;base64,PGI+", False),
    ("https://user:hunter2secret@tasks.example/logo.png", False),
])  # fmt: skip
def test_a_logo_follows_the_rules_of_icons(logo: str, kept: bool) -> None:
    """S2-06, S1-02: only the service's own domain, or the picture itself."""
    data = description()
    data["info"]["x-mcp"] = {"logo": logo}
    service = skillgen.read(data)
    assert [icon.src for icon in service.icons] == [logo] * kept
    reported = [problem.where for problem in service.problems if problem.code == "icon-left-out"]
    assert reported == ["/info/x-mcp/logo"] * (not kept)


def test_a_logo_may_be_on_the_domain_above_that_of_the_api() -> None:
    """S2-06: as in the draft's own example."""
    data = description(servers=[{"url": "https://api.acmetasks.com"}])
    data["info"]["x-mcp"] = {"logo": "https://acmetasks.com/logo.png"}
    assert len(skillgen.read(data).icons) == 1


def query(*names: str) -> list[Json]:
    kinds = {"offset": "integer", "$skip": "integer"}
    return [{"name": name, "in": "query", "schema": {"type": kinds.get(name, "string")}} for name in names]


def answer(properties: Json = None, headers: Json = None) -> Json:
    schema = {"type": "object", "properties": properties or {}}
    content = {"application/json": {"schema": schema}}
    return {"200": {"description": "Done", "content": content, "headers": headers or {}}}


TEXT = {"type": "string"}
OBJECT = {"type": "object", "properties": {"next_cursor": {"type": ["string", "null"]}}}


@pytest.mark.parametrize(("names", "responses", "told"), [
    (("cursor",), answer({"next_cursor": TEXT}), "send `next_cursor` of the response as `cursor`"),
    (("cursor",), answer({"meta": OBJECT}), "`meta.next_cursor` of the response as `cursor`; n"),
    (("pageToken", "pageSize"), answer({"nextPageToken": TEXT}), "send `nextPageToken` of the response as `pageToken`"),
    (("page", "per_page"), answer(headers={"Link": {}}), "the `Link` header of the response has the next URL; page si"),
    (("page", "limit"), answer({"next": TEXT}), "`next` of the response points to the next page; page size: `limit`."),
    (("page", "limit"), answer(), None),
    (("limit",), answer({"next": TEXT}), "`next` of the response points to the next page;"),
    (("q",), answer({"next": TEXT}), None),
    (("cursor",), answer({"items": TEXT}), None),
    (("page",), answer(), None),
])  # fmt: skip
def test_paging_is_recognised(names: tuple[str, ...], responses: Json, told: str | None) -> None:
    """S2-15."""
    text = documents_of(parameters=query(*names), responses=responses)
    assert ("Paging (inferred): " in text) is (told is not None)
    assert told is None or told in text


@pytest.mark.parametrize(("status", "members", "kind", "told"), [
    ("202", {}, "inferred", "it continues after a 202; poll the URL in the `Location` header for the result"
     "; wait as long as the `Retry-After` header says before each request"),
    ("201", {"x-ms-long-running-operation": True}, "declared", "it continues after the response; poll the URL"),
    ("201", {}, None, None),
    ("202 alone", {}, None, None),
])  # fmt: skip
def test_work_that_goes_on_after_the_answer_is_documented(
    status: str, members: Json, kind: str | None, told: str | None
) -> None:
    """S2-16: also how long to wait before asking for the outcome."""
    status, _, alone = status.partition(" ")
    responses = {status: {"description": "Taken", "headers": {} if alone else {"Location": {}, "Retry-After": {}}}}
    text = documents_of("post", responses=responses, **members)
    lead = "Long-running, inferred from the headers of its 202 response: " if kind == "inferred" else "Long-running: "
    assert (f"{lead}{told}" in text) if told is not None else ("Long-running" not in text)


def test_the_sunset_of_an_operation_is_documented() -> None:
    text = documents_of(deprecated=True, **{"x-sunset": "2030-01-01", "x-speakeasy-deprecation-replacement": "new-x"})
    assert "do not use it any more. It will be removed on 2030-01-01. Use new-x instead.\n" in text
    headers = {"200": {"description": "Done", "headers": {"Sunset": {}}}}
    sunset = "do not use it any more. The `Sunset` header of its responses has the date of its removal.\n"
    assert sunset in documents_of(deprecated=True, responses=headers)


def test_an_incomplete_address_is_documented_as_incomplete(tmp_path: Path, serve: Serve) -> None:
    """S2-12: without a scheme https is taken; without servers that of the description counts (3.1, "servers")."""
    source = write(tmp_path / "api.json", description(servers=[{"url": "//tasks.example/v1"}]))
    generated("from-openapi", source, "-o", tmp_path / "out")
    skill = (tmp_path / "out/skills/tasks/SKILL.md").read_text("utf-8")
    assert "`https://tasks.example/v1` (inferred: the source names no scheme)" in skill
    assert 'curl "https://tasks.example/v1/' in (tmp_path / "out/llms-full.txt").read_text("utf-8")
    assert "api-endpoint" not in (tmp_path / "out/llms.txt").read_text("utf-8")
    data = description()
    del data["servers"]
    address = serve({"/.well-known/mcp.json": (200, "application/json", json.dumps(data).encode())})
    (endpoint,) = skillgen.read(address).endpoints
    assert (endpoint.url, (endpoint.origins or {})["url"].kind) == (f"{address}/", "defaulted")


def test_the_address_that_is_called_is_one_that_can_be(tmp_path: Path) -> None:
    servers = [{"url": "/"}, {"url": "https://tasks.example/v1"}]
    assert [endpoint.url for endpoint in skillgen.read(description(servers=servers)).endpoints] == [
        "https://tasks.example/v1",
        "/",
    ]
    own = [{"url": "https://{shard}.tasks.example", "variables": {"shard": {"default": "a", "enum": ["a", "b"]}}}]
    source = write(tmp_path / "api.json", description({"/a": {"get": operation("x", servers=own)}}))
    generated("from-openapi", source, "-o", tmp_path / "out", "--emit", "llms")
    section = MarkdownDocument((tmp_path / "out" / "llms-full.txt").read_text("utf-8")).section("x").text
    assert "sent to `https://a.tasks.example`" in section
    assert "`shard`: Default: `a`. One of `a`, `b`." in section


def test_the_worked_example_of_the_seed_is_read_in_full() -> None:
    """S2-19."""
    source = Path(__file__).parent.parent / "examples" / "acme-tasks" / "mcp.yaml"
    service = skillgen.read(source)
    assert [tool.name for tool in service.tools] == ["search-tasks", "create-task", "complete-task"]
    assert {tool.scopes for tool in service.tools} == {("read", "write")}
    assert service.categories == ("project-management",)
    assert "send `next_cursor` of the response as `cursor`" in skillgen.render_documents(service)["llms-full.txt"]
    assert "cannot be undone" in (service.tools[2].description or "")
