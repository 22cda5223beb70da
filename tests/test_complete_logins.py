"""What a caller must send to log in, all of it in one command, and where the service is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from cli import generated, run_skillgen
from descriptions import description, operation, write
from documents import skill_in

import skillgen

Json = Any


def of_description(folder: Path, paths: Json, **members: Json) -> str:
    """Returns SKILL.md of a description."""
    generated("from-openapi", write(folder / "api.json", description(paths, **members)), "-o", folder / "out")
    return skill_in(folder / "out")


SIGNED: Json = {
    "securitySchemes": {
        "hmac": {"type": "apiKey", "name": "Authorization", "in": "header", "x-amazon-apigateway-authtype": "awsSigv4"}
    },
    "parameters": {"Date": {"name": "X-Amz-Date", "in": "header", "schema": {"type": "string"}}},
}
REGION: Json = {"region": {"default": "eu-west-1"}}


@pytest.mark.parametrize(
    ("server", "info", "scope"),
    [
        ("https://kafka.{region}.amazonaws.com", {}, "eu-west-1:kafka"),
        ("https://email.{region}.amazonaws.com", {"x-aws-signingName": "ses"}, "eu-west-1:ses"),
        ("https://iam.amazonaws.com", {}, "us-east-1:iam"),
        (
            "https://abc1.execute-api.eu-west-1.amazonaws.com/v1",
            {"x-aws-signingName": "$(id)"},
            "eu-west-1:execute-api",
        ),
        ("https://tasks.example", {}, "$AWS_REGION:execute-api"),
    ],
)
def test_requests_are_signed_by_curl(tmp_path: Path, server: str, info: Json, scope: str) -> None:
    """SigV4 as its tools send it; the headers that they write are no parameters."""
    action = {"name": "X-Amz-Target", "in": "header", "required": True, "schema": {"type": "string", "enum": ["List"]}}
    paths = {"/tasks": {"get": operation("list", parameters=[action, {"$ref": "#/components/parameters/Date"}])}}
    skill = of_description(
        tmp_path,
        paths,
        info={"title": "Tasks", "version": "1", **info},
        servers=[{"url": server, "variables": REGION}],
        components=SIGNED,
        security=[{"hmac": []}],
    )
    texts = "".join(path.read_text("utf-8") for path in tmp_path.rglob("*.md"))
    signed = f'--aws-sigv4 "aws:amz:{scope}" --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"'
    assert f"{signed}` (`hmac`)." in skill
    assert texts.count(signed) > 1
    assert "X-Amz-Target: List" in texts
    assert "X-Amz-Date" not in texts


def test_call_does_not_sign_and_says_so(tmp_path: Path) -> None:
    data = description(servers=[{"url": "http://127.0.0.1:9"}], components=SIGNED, security=[{"hmac": []}])
    run_skillgen("call", str(write(tmp_path / "a.json", data)), "list_tasks").ended(
        2, "authentication by aws-sigv4 is not supported"
    )


@pytest.mark.parametrize(("own", "security"), [(None, None), ([], ()), ([{"key": []}], (("key",),))])
def test_an_empty_list_for_all_does_not_deny_declared_schemes(own: Json, security: Json) -> None:
    """Airflow: `security: []` at the root, schemes, and nothing at the operations."""
    members = {} if own is None else {"security": own}
    data = description(
        {"/tasks": {"get": operation("list", **members)}},
        security=[],
        components={"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "K"}}},
    )
    (tool,) = skillgen.read(data).tools
    found = None if tool.auth is None else tuple(tuple(item.scheme for item in way) for way in tool.auth)
    assert found == security


def test_no_scheme_and_an_empty_list_need_no_login() -> None:
    (tool,) = skillgen.read(description(security=[])).tools
    assert tool.auth == ()


@pytest.mark.parametrize(
    ("servers", "url"),
    [
        (["/api/v1", "https://apache.local"], "/api/v1"),
        (["/api/v1", "https://tasks.example/api/v1/"], "https://tasks.example/api/v1/"),
        (["/", "https://tasks.example/api"], "https://tasks.example/api"),
        (["{tenant}.tasks.example", "https://tasks.example/api"], "https://tasks.example/api"),
        (["http://tasks.example", "https://tasks.example"], "https://tasks.example"),
        (["http://example.com:80/v1"], "/v1"),
        (["https://tasks.local"], "https://tasks.local"),
        (["https://example.com.tasks.example"], "https://example.com.tasks.example"),
    ],
)
def test_a_path_that_comes_first_is_not_replaced_by_another_host(servers: list[str], url: str) -> None:
    service = skillgen.read(description(servers=[{"url": item} for item in servers]))
    assert service.endpoints[0].url == url


TOKEN: Json = {"type": "object", "properties": {"access_token": {"type": "string"}}}
PAGE: Json = {"type": "object", "properties": {"next_page_token": {"type": "string"}}}
USAGE: Json = {"type": "object", "properties": {"usage": {"properties": {"input_tokens": {"type": "integer"}}}}}
STAGE: Json = {"type": "object", "properties": {"session_duration": {"type": "string"}, "session_id": {}}}
COUNT: Json = {"type": "object", "properties": {"token": {"type": "integer"}, "session": {"type": "object"}}}


@pytest.mark.parametrize(
    ("method", "schema", "deprecated", "is_named"),
    [
        ("post", TOKEN, False, True),
        ("post", TOKEN, True, False),
        ("post", PAGE, False, False),
        ("post", USAGE, False, False),
        ("post", STAGE, False, False),
        ("post", COUNT, False, False),
        ("get", TOKEN, False, False),
    ],
)
def test_a_login_is_recommended_if_it_returns_a_token(
    tmp_path: Path, method: str, schema: Json, deprecated: bool, is_named: bool
) -> None:
    done = {"200": {"description": "Done", "content": {"application/json": {"schema": schema}}}}
    entry = operation("createToken", security=[], responses=done, deprecated=deprecated)
    schemes = {"token": {"type": "http", "scheme": "bearer"}}
    paths = {"/login": {method: entry}, "/tasks": {"get": operation("list")}}
    skill = of_description(tmp_path, paths, components={"securitySchemes": schemes}, security=[{"token": []}])
    assert ("To get it, call `POST /login` first." in skill) == is_named


HEADERS: Json = {name: {"type": "apiKey", "in": "header", "name": name} for name in ("X-A", "X-B")}


@pytest.mark.parametrize(("schemes", "is_used"), [(["X-A"], True), (["X-A", "X-B"], False)])
def test_the_only_scheme_is_used_where_nothing_says_what_needs_it(
    tmp_path: Path, schemes: list[str], is_used: bool
) -> None:
    components = {"securitySchemes": {name: HEADERS[name] for name in schemes}}
    of_description(tmp_path, {"/tasks": {"get": operation("list")}}, components=components)
    texts = "".join(path.read_text("utf-8") for path in tmp_path.rglob("*.md"))
    assert ('/tasks" -H "X-A: $SKILL_TASKS_EXAMPLE___API_KEY"\n' in texts) == is_used


def test_the_login_of_one_tool_does_not_hide_the_others(tmp_path: Path) -> None:
    paths = {f"/{name}": {"get": operation(name)} for name in ("a", "b")}
    paths["/c"] = {"get": operation("c", security=[{"X-A": []}])}
    skill = of_description(tmp_path, paths, components={"securitySchemes": HEADERS})
    assert "the sections of some tools say which of these they need; most tools do not declare it." in skill
    assert skill.count("(`X-A`)") == skill.count("(`X-B`)") == 1


def test_a_base_url_is_shown_with_its_variables(tmp_path: Path) -> None:
    region = {"default": "eu", "enum": ["eu", "us"], "description": "Must match the key"}
    server = {"url": "https://{region}.tasks.example", "variables": {"region": region}}
    skill = of_description(tmp_path, {"/tasks": {"get": operation("list")}}, servers=[server])
    assert "Base URL: `https://eu.tasks.example`\n" in skill
    shown = "`region`: Must match the key. Default: `eu`. One of `eu`, `us`.\n\n- Auth"
    assert f"- `https://{{region}}.tasks.example`\n  - {shown}" in skill


BASIC: Json = {"type": "http", "scheme": "basic"}
BEARER: Json = {"type": "http", "scheme": "bearer"}
KEY: Json = {"type": "apiKey", "in": "header", "name": "Authorization"}
QUERY: Json = {"type": "apiKey", "in": "query", "name": "key"}
IMPLICIT: Json = {"type": "oauth2", "flows": {"implicit": {"authorizationUrl": "https://a.example/in", "scopes": {}}}}
OPEN_ID: Json = {"type": "openIdConnect", "openIdConnectUrl": "https://a.example/id"}
COOKIE: Json = {"type": "apiKey", "in": "cookie", "name": "sid"}


@pytest.mark.parametrize(
    ("schemes", "security", "section"),
    [
        ({"a": BASIC, "b": BEARER}, [{"a": [], "b": []}], "`a`, or `b`"),
        (
            {"a": IMPLICIT, "b": OPEN_ID, "key": QUERY},
            [{"a": [], "b": [], "key": []}],
            "`a` with `key`, or `b` with `key`",
        ),
        ({"a": COOKIE, "b": QUERY}, [{"a": [], "b": []}], "`a` with `b`"),
        ({"a": BASIC, "b": {"type": "mutualTLS"}}, [{"a": []}, {"b": []}, {}], "`a`, or `b`, or none"),
        ({"a": {**KEY, "description": "Format: `Token token=<key>`"}}, [{"a": []}], "`a`"),
        ({"a": {**KEY, "name": "Authorization: bearer"}}, [{"a": []}], "`a`"),
        ({"a": {"type": "http"}}, [{"a": []}], "`a`"),
        ({"a": {**KEY, "name": "X-Key:"}}, [{"a": []}], "`a`"),
    ],
)
def test_documents_and_mock_require_the_same_credentials(
    tmp_path: Path, schemes: Json, security: Json, section: str
) -> None:
    """Springdoc and Google's converters require two schemes of one header together."""
    components = {"securitySchemes": schemes}
    data = description({"/tasks": {"get": operation("list")}}, components=components, security=security)
    source = write(tmp_path / "api.json", data)
    generated("from-openapi", source, "-o", tmp_path / "out")
    texts = "".join(path.read_text("utf-8") for path in tmp_path.rglob("*.md"))
    assert f"Authentication: {section}.\n" in texts
    finished = run_skillgen("eval", str(tmp_path / "out/skills/tasks"), str(source), "--static")
    assert "passed: example calls: 1 of 1" in finished.stdout + finished.stderr
    is_reported = "of a request, header authorization" in run_skillgen("lint", str(source)).stdout
    assert is_reported == (section == "`a`, or `b`")  # one token can be that of two flows


def test_a_header_of_the_login_is_read_where_no_scheme_applies(tmp_path: Path) -> None:
    header = {"name": "Authorization", "in": "header", "required": True, "schema": {"type": "string"}}
    of_scheme = operation("list", parameters=[header], security=[{"a": []}])
    paths = {"/tasks": {"get": of_scheme, "post": operation("push", parameters=[header])}}
    skill = of_description(tmp_path, paths, components={"securitySchemes": {"a": BASIC}})
    assert "- `GET /tasks` [read]" in skill
    assert "- `POST /tasks` (`Authorization*`)" in skill
    tools = next(tmp_path.rglob("tools.md")).read_text("utf-8")
    assert [tools.count(text) for text in ("- `Authorization` (string, req", "-H 'Authorization: <Auth")] == [1, 1]


def test_a_parameter_for_a_whole_header_has_a_variable_of_its_own(tmp_path: Path) -> None:
    """That of a scheme holds what follows `Bearer`."""
    header = {"name": "authorization", "in": "header", "required": True, "schema": {"type": "string"}}
    paths = {f"/{name}": {"get": operation(name, parameters=[header])} for name in ("a", "b")}
    paths["/c"] = {"get": operation("c", security=[{"x": []}])}
    of_description(tmp_path, paths, components={"securitySchemes": {"x": BEARER}})
    tools = next(tmp_path.rglob("tools.md")).read_text("utf-8")
    sent = {name: re.findall(rf'/{name}" -H "(.*)"', tools) for name in ("a", "c")}
    start = "$SKILL_TASKS_EXAMPLE___"
    assert sent == {"a": [f"authorization: {start}AUTHORIZATION"], "c": [f"Authorization: Bearer {start}TOKEN"]}


@pytest.mark.parametrize(
    ("flows", "page", "names"),
    [
        ({}, "https://a.example/in", ["TOKEN"]),
        ({}, "https://a.example/other", ["A_TOKEN", "B_TOKEN"]),
        ({"implicit": {"scopes": {}}}, None, ["A_TOKEN", "B_TOKEN"]),
        ({"implicit": {"authorizationUrl": "", "scopes": {}}}, "", ["A_TOKEN", "B_TOKEN"]),
        (
            {"clientCredentials": {"tokenUrl": "https://a.example/2", "scopes": {}}},
            "https://a.example/in",
            ["A_TOKEN", "B_TOKEN"],
        ),
    ],
)
def test_two_flows_at_one_page_of_consent_get_one_token(
    tmp_path: Path, flows: Json, page: str | None, names: list[str]
) -> None:
    code: Json = {"authorizationUrl": page, "tokenUrl": "https://a.example/token", "scopes": {}}
    schemes = {"b": {"type": "oauth2", "flows": {"authorizationCode": code}}}
    schemes["a"] = {"type": "oauth2", "flows": {**IMPLICIT["flows"], **flows}}
    paths = {"/tasks": {"get": operation("list")}}
    ways: Json = {"components": {"securitySchemes": schemes}, "security": [{"a": []}, {"b": []}]}
    skill = of_description(tmp_path, paths, **ways)
    assert sorted({*re.findall(r"___(\w+)", skill)}) == names
    assert ("`a`, OAuth 2.0" in skill) == (len(names) > 1)


LOGIN: Json = {"type": "object", "properties": {"token": {"type": "string"}}}


@pytest.mark.parametrize(
    ("schemes", "named"),
    [
        ({"a": KEY}, {"a": "/login"}),
        ({"a": KEY, "b": QUERY}, {}),
        ({"a": BEARER, "b": QUERY}, {"a": "/login"}),
        ({"a": {**KEY, "description": "Made by the command `keys add`."}}, {}),
        ({"a": {**KEY, "description": "From **Get a Profile and Token**."}, "b": QUERY}, {"a": "/profile"}),
    ],
)
def test_a_tool_issues_the_credential_that_it_returns(tmp_path: Path, schemes: Json, named: Json) -> None:
    done = {"200": {"description": "Done", "content": {"application/json": {"schema": LOGIN}}}}
    paths = {f"/{name}": {"get": operation(f"list{name}", security=[{name: []}])} for name in schemes}
    paths["/login"] = {"post": operation("login", responses=done)}
    paths["/profile"] = {"post": operation("profile", summary="Get a profile and token")}
    skill = of_description(tmp_path, paths, components={"securitySchemes": schemes})
    lines = {name: line for line in skill.splitlines() for name in schemes if f"(`{name}`)" in line}
    found = {name: line.partition("call `POST ")[2].partition("`")[0] for name, line in lines.items()}
    assert {name: path for name, path in found.items() if path} == named
