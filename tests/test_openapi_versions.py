"""Every version of OpenAPI, read into the same model: Swagger 2.0, and what 3.1 and 3.2 added."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from cli import generated, run_skillgen
from conftest import Serve
from descriptions import description, follow, operation, small, write
from documents import MarkdownDocument, broken_links
from rows import inputs

import skillgen

Json = Any

SHOP: dict[str, Any] = inputs("openapi_versions")["shop"]
"""A description that uses most of what Swagger 2.0 has."""


def read(data: Json) -> tuple[skillgen.Service, tuple[skillgen.Problem, ...]]:
    """Returns the service of a description, and what is wrong with it."""
    service = skillgen.read(data)
    return service, service.problems


def codes(problems: Iterable[skillgen.Problem]) -> list[str]:
    return [problem.code for problem in problems if problem.level != "info"]


def tool_of(service: skillgen.Service, name: str) -> Any:
    (tool,) = (tool for tool in service.tools if tool.name == name)
    return tool


def pointers(node: Json) -> list[str]:
    """Returns every pointer in the JSON of a model."""
    if isinstance(node, list):
        return [pointer for item in node for pointer in pointers(item)]
    if not isinstance(node, dict):
        return []
    own = [node["pointer"]] if isinstance(node.get("pointer"), str) else []
    return own + [
        pointer for key, item in node.items() if key not in ("raw", "input_schema") for pointer in pointers(item)
    ]


# -- Swagger 2.0 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("members", "is_at_url", "address"), [
    ({"host": "https://api.x.example"}, False, "https://api.x.example"),
    ({"host": "http://api.x.example/v1/", "basePath": "b"}, False, "http://api.x.example/v1/b"),
    ({"host": "http://api.x.example", "schemes": ["https"]}, False, "https://api.x.example"),
    ({"host": "//api.x.example", "schemes": ["https"]}, False, "https://api.x.example"),
    ({"host": "HTTPS://api.x.example"}, False, "https://api.x.example"),
    ({"schemes": ["https"]}, True, "https://HOST"),
    ({"schemes": ["https"], "basePath": "/v1"}, True, "https://HOST/v1"),
    ({"basePath": "/v1"}, True, "http://HOST/v1"),
    ({"host": "api.x.example"}, True, "http://api.x.example"),
    ({"schemes": ["https"], "basePath": "/v1"}, False, "/v1"),
    ({"host": "localhost:80", "paths": {"/a": {name: {"schemes": ["http"]} for name in ("get", "post")}}}, False,
     "http://localhost:80"),
    ({"host": "x.example", "paths": {"/a": {"get": {"schemes": ["http"]}, "post": {}}}}, False, "https://x.example"),
])  # fmt: skip
def test_the_address_of_swagger_2(members: Json, is_at_url: bool, address: str, serve: Serve) -> None:
    """S2-04: a scheme in `host` is not written twice; without `host`, `schemes` count for the host that was read."""
    data = {"swagger": "2.0", "info": SHOP["info"], "paths": {}, **members}
    served = serve({"/a.json": (200, "application/json", json.dumps(data).encode())})
    service = skillgen.read(f"{served}/a.json" if is_at_url else data)
    assert [endpoint.url for endpoint in service.endpoints] == [address.replace("HOST", served.partition("//")[2])]
    assert ("server-invalid" in [problem.code for problem in service.problems]) is ("//" in members.get("host", ""))


def test_swagger_2_is_read_into_the_same_model() -> None:
    """S2-08, S2-10, S2-12: host and schemes, body, form, files, shared parameters, OAuth by its old name."""
    service, problems = read(SHOP)
    assert [endpoint.url for endpoint in service.endpoints] == ["https://shop.example/api", "http://shop.example/api"]
    assert [(item.location, item.name) for item in tool_of(service, "list_orders").parameters] == [
        ("header", "X-Shop"),
        ("query", "limit"),
        ("query", "ids"),
    ]
    create = tool_of(service, "create_order")
    assert [(item.location, item.name, item.required) for item in create.parameters] == [
        ("header", "X-Shop", False),
        ("query", "dry", False),
        ("body", "id", True),
        ("body", "note", False),
        ("body", "parent", False),
    ]
    assert create.parameters[3].schema.nullable
    assert create.input_media_types == ("application/json",)
    photo = {item.name: item for item in tool_of(service, "set_photo").parameters}
    assert (photo["photo"].location, photo["photo"].required, photo["photo"].schema.format) == ("body", True, "binary")
    assert photo["photo"].description == "The picture."
    assert tool_of(service, "set_photo").input_media_types == ("multipart/form-data",)
    assert tool_of(service, "rate_photo").input_media_types == ("application/x-www-form-urlencoded",)
    assert [(auth.name, auth.kind, auth.flow) for auth in service.requirements.auth] == [
        ("login", "oauth2", "authorizationCode"),
        ("basic", "basic", None),
        ("key", "api-key", None),
    ]
    assert tool_of(service, "list_orders").output_media_types == ("application/json", "application/xml")
    assert codes(problems) == []


def test_what_is_read_of_swagger_2_points_into_the_original_document() -> None:
    """X-50: a body is a parameter there, a form several, and a security scheme has another place."""
    (service,) = json.loads(generated("inspect", "-", stdin=json.dumps(SHOP)).stdout)["services"]
    found = set(pointers(service))
    for pointer in found:
        follow(SHOP, pointer)
    assert {
        *("/parameters/Limit", "/paths/~1orders/post/parameters/1", "/paths/~1orders~1{id}~1photo/put/parameters/1"),
        *("/definitions/Order/properties/note", "/securityDefinitions/login"),
    } <= found


@pytest.mark.parametrize("name", ["default", "example", "enum", "required", "properties", "discriminator", "type"])
def test_a_property_of_swagger_2_may_be_called_like_a_keyword(name: str) -> None:
    """S2-08, S2-20: what its schema says counts all the same."""
    inner = {"type": "object", "properties": {name: {"type": "string", "x-nullable": True}}}
    schema = {"type": "object", "properties": {name: {"type": "integer", "x-nullable": True}, "inner": inner}}
    sent = {"name": "task", "in": "body", "schema": schema}
    service, _ = read({**SHOP, "paths": {"/a": {"post": {**operation("act"), "parameters": [sent]}}}})
    found = {item.name: item.schema for item in tool_of(service, "act").parameters if item.location == "body"}
    assert found[name].nullable
    assert [item.schema.nullable for item in found["inner"].properties] == [True]


@pytest.mark.parametrize("change", [{"paths": []}, {"paths": {"/a": 3}}, {"parameters": []}, {"definitions": 3},
    {"responses": {"NotFound": None}}, {"securityDefinitions": []}, {"host": 3}, {"schemes": "https"}, {"consumes": {}},
    {"paths": {"/a": {"$ref": "#/none"}}}, {"paths": {"/a": {"get": {"parameters": [{"$ref": "#/none"}, 3, None]}}}},
    {"paths": {"/a": {"get": {"parameters": {}, "responses": [], "schemes": 3}}}}])  # fmt: skip
def test_whatever_is_broken_in_swagger_2_the_rest_is_documented(change: Json) -> None:
    service, _ = read({**SHOP, **change})
    assert service.name == "Shop"


def test_swagger_2_produces_documents_whose_links_resolve(tmp_path: Path) -> None:
    generated("from-openapi", write(tmp_path / "shop.json", SHOP), "-o", tmp_path / "out")
    assert broken_links(tmp_path / "out") == []
    orders = (tmp_path / "out" / "skills" / "shop" / "SKILL.md").read_text("utf-8")
    assert "Authentication: `login` (scope `buy`) with `key`, or `basic`." in orders


# -- 3.1 and 3.2 -----------------------------------------------------------------------------------------------------


def test_undeclared_pkce_and_registration_are_not_mentioned(tmp_path: Path) -> None:
    """S2-11, S2-13."""
    schemes = {"login": {"type": "oauth2", "flows": {"authorizationCode": {"authorizationUrl": "https://a.example",
               "tokenUrl": "https://t.example", "scopes": {}}}}}  # fmt: skip
    data = description(components={"securitySchemes": schemes}, security=[{"login": []}])
    source = write(tmp_path / "api.json", data)
    generated("from-openapi", source, "-o", tmp_path / "out")
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            text = path.read_text("utf-8").lower()
            assert "pkce" not in text, path
            assert "registered" not in text, path
            # A command that can be sent is an example, not a statement.
            assert path.name != "about.md" or "bearer" not in text


WEBHOOKS = {
    "order.paid": {
        "post": operation(
            "order_paid",
            description="When money came.",
            requestBody={
                "content": {
                    "application/json": {"schema": {"type": "object", "properties": {"id": {"type": "string"}}}}
                }
            },
        )
    }
}


@pytest.mark.parametrize(("version", "key"), [("3.1.0", "webhooks"), ("3.0.3", "x-webhooks")])
def test_webhooks_and_callbacks_are_listed_and_are_no_tools(tmp_path: Path, version: str, key: str) -> None:
    """S2-23: in the references and in llms-full.txt, with what they carry."""
    done = {"post": operation("done", requestBody={"content": {"text/plain": {"schema": {"type": "string"}}}})}
    start = operation("start", callbacks={"finished": {"{$request.body#/url}": done}})
    data = small(description({"/jobs": {"post": start}}, openapi=version))
    data[key] = WEBHOOKS
    generated("from-openapi", write(tmp_path / "api.json", data), "-o", tmp_path / "out", "-q")
    out = tmp_path / "out"
    events = MarkdownDocument((out / "skills/tasks/SKILL.md").read_text("utf-8"))
    section = events.section("Webhooks and callbacks")
    found = [heading.text for heading in events.headings if heading.level == 3 and heading.line > section.heading.line]
    assert found[:2] == ["order.paid", "finished"]
    assert "When money came." in events.section("order.paid").text
    assert events.section("order.paid").item("id", "Body").facts == ("string",)
    assert "{$request.body#/url}" in events.section("finished").text
    assert "start" in events.section("finished").text
    assert "order.paid" in (out / "llms-full.txt").read_text("utf-8")
    assert broken_links(out) == []


def test_what_a_webhook_carries_is_read_as_what_the_service_sends(tmp_path: Path) -> None:
    """S2-09: what is only returned is in it, and required as declared; what is only sent is not."""
    order = {
        "type": "object",
        "required": ["id", "pin"],
        "properties": {"id": {"type": "string", "readOnly": True}, "pin": {"type": "string", "writeOnly": True}},
    }
    told: list[str] = []
    for schema in (order, {"$ref": "#/components/schemas/Order"}):
        body = {"required": True, "content": {"application/json": {"schema": schema}}}
        data = description(
            {"/orders": {"post": operation("order", requestBody=body)}},
            webhooks={"ordered": {"post": operation(requestBody=body)}},
            components={"schemas": {"Order": order}},
        )
        generated("from-openapi", write(tmp_path / "api.json", data), "-o", tmp_path / "out")
        page = MarkdownDocument((tmp_path / "out/skills/tasks/SKILL.md").read_text("utf-8"))
        told.append(page.section("ordered").text)
        called = page.section("order")
        assert called.item("pin").facts == ("string", "required")
        assert "Only returned: `id`" in called.text
    assert told[0] == told[1]
    assert "- `id` (string, required)\n- Only sent: `pin`\n" in told[0]
    assert "The receiver answers with:\n\n- `200`: Done" in told[0]


def test_security_of_a_webhook_is_what_its_receiver_requires(tmp_path: Path) -> None:
    """S2-10: OpenAPI 3.1, "Operation Object". The requirements of the whole description are those of the service."""

    def sent(**members: Json) -> Json:
        return {"post": operation(**members)}

    key = {"type": "apiKey", "in": "header"}
    schemes = {"key": {**key, "name": "X-Key"}, "hook": {**key, "name": "X-Signature", "description": "An HMAC."}}
    back = {"done": {"{$request.body#/url}": sent(security=[{"hook": ["jobs"]}, {}])}}
    data = description(
        {"/jobs": {"post": operation("start", callbacks=back)}},
        webhooks={
            "signed": sent(security=[{"hook": []}]),
            "open": sent(security=[]),
            "silent": sent(),
            "empty": sent(security=None),
        },
        components={"securitySchemes": schemes},
        security=[{"key": []}],
    )
    finished = generated("from-openapi", write(tmp_path / "api.json", data), "-o", tmp_path / "out")
    skill = tmp_path / "out/skills/tasks"
    events = MarkdownDocument((skill / "SKILL.md").read_text("utf-8"))
    with_hook = "The service authenticates itself to the receiver with `hook`"
    assert f"{with_hook}." in events.section("signed").text
    assert f"{with_hook} (scope `jobs`), or none." in events.section("done").text
    assert "The service does not authenticate itself to the receiver." in events.section("open").text
    assert "authenticate" not in events.section("silent").text + events.section("empty").text
    assert "security-invalid: /webhooks/empty/post/security" in finished.stderr
    use = "in the header `X-Signature`, only in requests that the service itself sends"
    text = (skill / "SKILL.md").read_text("utf-8")
    assert "(`hook`)" not in text
    assert f"- `hook` (api-key): sent {use}. An HMAC." in text
    schemes["key"]["in"] = "cookie"
    generated("from-openapi", write(tmp_path / "api.json", data), "-o", tmp_path / "out")
    assert "auth-methods:\n  - cookie\nrequires:\n  auth:\n    - api-key\n" in (tmp_path / "out/llms.txt").read_text(
        "utf-8"
    )


@pytest.mark.slow
def test_10_000_alternatives_are_documented_once_and_cuts_reported(tmp_path: Path) -> None:
    """S2-08, S2-09."""
    types = [{"title": f"T{at}", "required": [f"p{at}"], "properties": {f"p{at}": {}}} for at in range(10_000)]
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Any"}}}}
    data = description(
        {"/a": {"post": operation("x", requestBody=body)}}, components={"schemas": {"Any": {"oneOf": types}}}
    )
    finished = generated(
        "from-openapi", write(tmp_path / "api.json", data), "-o", tmp_path / "out", "--emit", "llms", "-v"
    )
    assert "composed of more than 5000 schemas" in finished.stderr
    assert (tmp_path / "out/llms-full.txt").read_text("utf-8").count("`p9999`") == 1


# -- what a manifest must have ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ['{"openapi": "3.1.0", "info": }', '{"openapi": "3.1.0", "info": {}, }', '{"a": 1'])
def test_json_that_is_broken_is_not_taken_for_yaml(text: str) -> None:
    finished = run_skillgen("inspect", "-", stdin=text).ended(3, "is not JSON: line 1, column")
    assert json.loads(finished.stdout or "null") is None
