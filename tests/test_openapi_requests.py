"""A `curl` command for every operation: valid, quoted exactly, and without a secret in it."""

from __future__ import annotations

import itertools
import json
import shlex
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from cli import generated, run_skillgen
from descriptions import LONG, description, operation, write
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from properties import examples
from sendable import Call, FakeCurl, calls_in, calls_of

import skillgen

Json = Any


def problems_of(data: Json) -> list[tuple[str, str]]:
    return [
        (problem.code, problem.where) for problem in skillgen.read(data).problems if problem.code.startswith("example")
    ]


def pages_of(service: skillgen.Service) -> list[str]:
    texts = skillgen.render_documents(service, emit="skill")
    return [text for path, text in texts.items() if "/references/" in path]


def call_of(method: str, path: str, operation_: Json, **members: Json) -> Call:
    """Returns the one call of a description that has one operation."""
    data = description({path: {method: {**operation("act"), **operation_}}}, **members)
    (call,) = (call for page in pages_of(skillgen.read(data)) for call in calls_in(page).values() if call is not None)
    return call


def parameter(name: str, location: str, schema: Json, **more: Json) -> dict[str, Json]:
    return {"name": name, "in": location, "required": True, "schema": schema, **more}


def body(media_type: str, schema: Json, **more: Json) -> dict[str, Json]:
    return {"requestBody": {"required": True, "content": {media_type: {"schema": schema, **more}}}}


@pytest.fixture
def curl(tmp_path: Path) -> FakeCurl:
    return FakeCurl(tmp_path)


def options(arguments: list[str], name: str) -> list[str]:
    """Returns the values of an option."""
    return [value for option, value in itertools.pairwise(arguments) if option == name]


def test_an_operation_is_shown_as_one_command_that_can_be_copied() -> None:
    """Issue 4, examples that can be sent."""
    schema = {
        "type": "object",
        "properties": {"id": {"type": "string", "readOnly": True}, "title": {"example": "Buy milk"}, "due": {}},
        "required": ["id", "title"],
    }
    call = call_of(
        "post",
        "/lists/{listId}/tasks",
        {"parameters": [parameter("listId", "path", {"type": "string"})], **body("application/json", schema)},
        components={"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
        security=[{"key": []}],
    )
    assert call.text == (
        'curl "https://tasks.example/v1/lists/<listId>/tasks" \\\n'
        '  -H "Authorization: Bearer $SKILL_TASKS_EXAMPLE___TOKEN"'
        """ \\\n  -H 'Content-Type: application/json' \\\n  -d '{"title": "Buy milk"}'"""
    )


@pytest.mark.parametrize(
    ("schema", "style", "segment"),
    [
        ({"type": "object", "properties": {"x": {"example": 1}}, "required": ["x"]}, {}, "x,1"),
        ({"properties": {"x": {"example": 1}}, "required": ["x"]}, {"style": "matrix", "explode": True}, ";x=1"),
        ({"type": "array", "items": {"type": "string", "default": ""}}, {}, "<id>"),
        ({"type": "array", "items": {"type": "string", "default": ""}}, {"style": "label"}, ".<id>"),
        ({"type": "integer"}, {}, "<id>"),
    ],
)
def test_what_is_in_a_path_is_never_empty(schema: Json, style: Json, segment: str, curl: FakeCurl) -> None:
    """Issue 4, examples that can be sent: without it the path would be another."""
    parameters = [parameter("id", "path", schema, **style), parameter("part", "path", {"enum": ["notes"]})]
    call = call_of("get", "/tasks/{id}/{part}", {"parameters": parameters})
    assert curl.arguments(call.text) == [f"https://tasks.example/v1/tasks/{segment}/notes"]


def told_types(values: list[Json], *, is_extended: bool = False) -> Json:
    """Returns types A and B, of which each says what its `kind` may be, and the type Any that is one of them."""
    told = {"discriminator": {"propertyName": "kind"}}
    types: dict[str, Json] = {"Word": {"type": "string", "enum": ["w"]}}
    for name, value in zip("AB", values, strict=True):
        properties = {"kind": value, f"of_{name}": {"type": "string"}}
        types[name] = {"type": "object", "required": list(properties), "properties": properties}
        if is_extended:
            types[name] = {"allOf": [{"$ref": "#/components/schemas/Any"}, types[name]]}
    base = {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]}
    choice = {"oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in "AB"]}
    return {**types, "Any": {**told, **(base if is_extended else choice)}}


@pytest.mark.parametrize(
    ("values", "told", "sent"),
    [
        ([{"enum": ["a"]}, {"const": "b"}], "`kind` identifies the type: `a` `A`, `b` `B`.", "a"),
        (
            [{"$ref": "#/components/schemas/Word"}, {"enum": ["b"]}],
            "`kind` identifies the type: `w` `A`, `b` `B`.",
            "w",
        ),
        ([{"type": "string"}, {"enum": ["B", "C"]}], "`kind` identifies the type: `A`, `B`.", "A"),
        ([{"enum": ["x", "y"]}, {"enum": ["x", "y"]}], "`kind` identifies the type.", "x"),
    ],
)
def test_a_type_is_shown_by_the_value_that_it_allows(values: list[Json], told: str, sent: str) -> None:
    """S2-08, issue 4: a discriminator without a mapping, and types that say which value is theirs."""
    schema = {"type": "object", "required": ["one"], "properties": {"one": {"$ref": "#/components/schemas/Any"}}}
    acts = {"post": {**operation("act"), **body("application/json", schema)}}
    pages = pages_of(skillgen.read(description({"/a": acts}, components={"schemas": told_types(values)})))
    (call,) = (call for page in pages for call in calls_in(page).values() if call is not None)
    assert told in "\n".join(pages)
    assert f'"kind": "{sent}"' in call.text


def test_a_type_that_extends_another_is_shown_by_the_value_that_it_allows() -> None:
    """S2-08, issue 4."""
    types = told_types([{"enum": ["a"]}, {"const": "b"}], is_extended=True)
    call = call_of(
        "post", "/a", body("application/json", {"$ref": "#/components/schemas/Any"}), components={"schemas": types}
    )
    assert """-d '{"kind": "a", "of_A": "<of_A>"}'""" in call.text


def test_a_property_that_is_required_and_forbidden_is_sent() -> None:
    """Issue 4, examples that can be sent: the label says how the body was read."""
    schema = {"type": "object", "additionalProperties": False, "required": ["id"], "properties": {"title": {}}}
    call = call_of("post", "/tasks/{kind}", {
        "parameters": [parameter("kind", "path", {"enum": ["a"]})], **body("application/json", schema)
    })  # fmt: skip
    assert """-d '{"id": "<id>"}'""" in call.text


def test_two_schemes_that_are_sent_in_one_header_make_one_header(curl: FakeCurl) -> None:
    """Issue 4, examples that can be sent; S2-12: a request has one `Authorization`."""
    schemes = {
        "token": {"type": "http", "scheme": "bearer"},
        "login": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://a.example/t", "scopes": {}}}},
        "id": {"type": "apiKey", "in": "header", "name": "X-Id"},
        "other": {"type": "apiKey", "in": "header", "name": "x-id"},
    }
    needed: Json = [{name: [] for name in schemes}]
    call = call_of("get", "/tasks", {"security": needed}, components={"securitySchemes": schemes})
    found = [name.partition(":")[0].lower() for name in options(curl.arguments(call.text), "-H")]
    assert found == ["authorization", "x-id"]


def test_a_short_request_is_on_one_line_without_a_default_method() -> None:
    assert call_of("get", "/tasks", {}).text == 'curl "https://tasks.example/v1/tasks"'
    assert call_of("delete", "/tasks", {}).text == 'curl -X DELETE "https://tasks.example/v1/tasks"'
    assert call_of("head", "/tasks", {}).text == 'curl -I "https://tasks.example/v1/tasks"'
    assert call_of("post", "/tasks", {}).text == 'curl -X POST "https://tasks.example/v1/tasks"'


LIST = {"type": "array", "items": {"type": "string"}, "example": ["a b", "c"]}
OBJECT = {"type": "object", "example": {"x": "1", "y": ["2", "3"]}}


@pytest.mark.parametrize(
    ("style", "schema", "query"),
    [
        ({}, LIST, "q=a%20b&q=c"),
        ({"explode": False}, LIST, "q=a%20b,c"),
        ({"style": "pipeDelimited", "explode": False}, LIST, "q=a%20b%7Cc"),
        ({"style": "spaceDelimited", "explode": False}, LIST, "q=a%20b%20c"),
        ({"style": "deepObject", "explode": True}, OBJECT, "q%5Bx%5D=1&q%5By%5D%5B%5D=2&q%5By%5D%5B%5D=3"),
        ({}, {"type": "object", "example": {"x": "1", "y": "2"}}, "x=1&y=2"),
        ({"explode": False}, {"type": "object", "example": {"x": "1", "y": "2"}}, "q=x,1,y,2"),
        ({"allowReserved": True}, {"type": "string", "example": "a/b?c&d"}, "q=a/b?c%26d"),
        ({}, {"type": "boolean", "default": False}, "q=false"),
    ],
)
def test_a_query_is_written_in_its_style(style: Json, schema: Json, query: str, curl: FakeCurl) -> None:
    """S2-08."""
    call = call_of("get", "/tasks", {"parameters": [parameter("q", "query", schema, **style)]})
    assert curl.arguments(call.text) == [f"https://tasks.example/v1/tasks?{query}"]


def test_lists_in_a_form_are_written_with_brackets(curl: FakeCurl, tmp_path: Path) -> None:
    """The style `deepObject` in forms: `expand[]=a` for values, `items[0][price]=p` where an item has members."""
    item = {"type": "object", "properties": {"price": {"type": "string"}, "many": {"type": "integer"}}}
    properties = {"expand": LIST, "items": {"type": "array", "items": item}}
    value: Json = {"expand": ["a", "b"], "items": [{"price": "p", "many": 2}, {"price": "q"}]}
    sent = body(
        "application/x-www-form-urlencoded",
        {"type": "object", "properties": properties},
        encoding={name: {"style": "deepObject", "explode": True} for name in properties},
        example=value,
    )
    fields = ["expand[]=a", "expand[]=b", "items[0][price]=p", "items[0][many]=2", "items[1][price]=q"]
    call = call_of("post", "/tasks", sent)
    assert options(curl.arguments(call.text), "--data-urlencode") == fields
    source = write(tmp_path / "api.json", description({"/tasks": {"post": operation("add", **sent)}}))
    finished = run_skillgen("call", str(source), "add", json.dumps(value), "--dry-run")
    assert finished.exit_code == 0, finished.stderr
    assert unquote(finished.stdout).rstrip().endswith("&".join(fields))


@pytest.mark.parametrize(
    ("name", "text", "is_file"),
    [("file", None, True), ("scan", "The file to upload", True), ("file_name", "The name of the file", False)],
)
def test_a_string_of_a_form_that_is_called_a_file_is_one(
    curl: FakeCurl, name: str, text: str | None, is_file: bool
) -> None:
    """Many descriptions have no format for it."""
    schema = {"type": "string"} if text is None else {"type": "string", "description": text}
    form = {"type": "object", "properties": {name: schema, "n": {"enum": ["m"]}}, "required": [name, "n"]}
    call = call_of("post", "/a", body("multipart/form-data", form))
    assert (f"{name}=@FILE" in options(curl.arguments(call.text), "-F")) == is_file


def test_paths_headers_and_cookies_are_written_in_their_styles(curl: FakeCurl) -> None:
    """S2-08."""
    parameters = [
        parameter("id", "path", {"type": "string", "example": "a/b c?"}),
        parameter("many", "path", LIST, style="label", explode=True),
        parameter("deep", "path", LIST, style="matrix"),
        parameter("X-Many", "header", LIST),
        parameter("Accept", "header", {"type": "string"}),
        parameter("crumb", "cookie", {"type": "string", "example": "1;2"}),
    ]
    call = call_of("get", "/t/{id}/{many}/{deep}/{unknown}#part", {"parameters": parameters})
    arguments = curl.arguments(call.text)
    assert arguments[0] == "https://tasks.example/v1/t/a%2Fb%20c%3F/.a%20b.c/;deep=a%20b,c/<unknown>"
    assert options(arguments, "-H") == ["X-Many: a b,c"]
    assert options(arguments, "-b") == ["crumb=1%3B2"]


def test_a_path_with_reserved_expansion_keeps_its_slashes(curl: FakeCurl) -> None:
    parameters = [
        parameter("scope", "path", {"type": "string"}, example="groups/a b?c", **{"x-ms-skip-url-encoding": True})
    ]
    found = curl.arguments(call_of("get", "/{scope}/locks", {"parameters": parameters}).text)
    assert found == ["https://tasks.example/v1/groups/a%20b%3Fc/locks"]


def test_headers_that_every_request_has_are_not_sent_twice(curl: FakeCurl) -> None:
    """With a length that is not its own, a request hangs."""
    names = ("Content-Length", "Host", "Transfer-Encoding", "X-Own")
    parameters = [parameter(name, "header", {"type": "string"}, example="2183") for name in names]
    found = curl.arguments(call_of("get", "/a", {"parameters": parameters}).text)
    assert options(found, "-H") == ["X-Own: 2183"]


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "\n\n\nx\n```\n\n"])
def test_a_text_keeps_the_empty_lines_around_it(text: str, curl: FakeCurl) -> None:
    call = call_of("put", "/a", body("text/csv", {"type": "string"}, example=text))
    assert options(curl.arguments(call.text), "--data-raw") == [text]


def test_a_placeholder_of_our_own_is_no_credential() -> None:
    """A member named like a secret had the UUID of all other calls taken for one, and the calls with it left out."""
    schema, kind = {"type": "string", "format": "uuid"}, parameter("kind", "query", {"enum": ["a"]})
    paths = {"/a/{id}": {"get": operation("a", parameters=[kind, parameter("id", "path", schema)])},
             "/b": {"get": operation("b", parameters=[kind, parameter("session_token", "query", schema)])},
             "/c": {"get": operation("c")}}  # fmt: skip
    assert all(tool.examples for tool in skillgen.read(description(paths)).tools)


def test_a_parameter_that_holds_json_is_sent_as_json(curl: FakeCurl) -> None:
    content = {"application/json": {"schema": {"type": "object", "example": {"a": [1]}}}}
    raw = {"name": "filter", "in": "query", "required": True, "content": content}
    call = call_of("get", "/tasks", {"parameters": [raw]})
    assert parse_qsl(urlsplit(curl.arguments(call.text)[0]).query) == [("filter", '{"a":[1]}')]


AUTHENTICATION = {
    "bearer": ({"type": "http", "scheme": "bearer"}, ["-H", "Authorization: Bearer s3"], "TOKEN"),
    "oauth": (
        {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://a.example/t", "scopes": {}}}},
        ["-H", "Authorization: Bearer s3"],
        "TOKEN",
    ),
    "header": ({"type": "apiKey", "in": "header", "name": "X-Key"}, ["-H", "X-Key: s3"], "API_KEY"),
    "cookie": ({"type": "apiKey", "in": "cookie", "name": "sid"}, ["-b", "sid=s3"], "API_KEY"),
    "basic": ({"type": "http", "scheme": "basic"}, ["-u", "s3:s4"], "USER"),
}


@pytest.mark.parametrize("name", AUTHENTICATION)
def test_each_way_to_authenticate_takes_its_secret_from_the_environment(name: str, curl: FakeCurl) -> None:
    """S2-12, S0-22."""
    scheme, expected, word = AUTHENTICATION[name]
    data = description(security=[{"way": []}], components={"securitySchemes": {"way": scheme}})
    service = skillgen.read(data)
    (call,) = (call for page in pages_of(service) for call in calls_in(page).values() if call)
    env = {f"SKILL_TASKS_EXAMPLE___{word}": "s3", "SKILL_TASKS_EXAMPLE___PASSWORD": "s4"}
    assert curl.arguments(call.text, env)[1:] == expected
    texts = skillgen.render_documents(service, emit="skill")
    assert f"$SKILL_TASKS_EXAMPLE___{word}" in texts["skills/tasks/SKILL.md"]


def test_a_key_in_the_query_and_two_keys_that_are_used_together(curl: FakeCurl) -> None:
    """S2-12."""
    schemes = {
        "app": {"type": "apiKey", "in": "query", "name": "app"},
        "user": {"type": "apiKey", "in": "header", "name": "X-User"},
    }
    call = call_of(
        "get",
        "/tasks",
        {"parameters": [parameter("app", "query", {"type": "string"}), parameter("n", "query", {"example": 1})]},
        components={"securitySchemes": schemes},
        security=[{"unknown": []}, {"app": [], "user": []}],
    )
    arguments = curl.arguments(
        call.text, {"SKILL_TASKS_EXAMPLE___APP_API_KEY": "k1", "SKILL_TASKS_EXAMPLE___USER_API_KEY": "k2"}
    )
    assert arguments == ["https://tasks.example/v1/tasks?n=1&app=k1", "-H", "X-User: k2"]


@pytest.mark.parametrize(("value", "sent"), [("a", "sid=a"), ("$a'b", "sid=%24a%27b")])
def test_a_key_in_a_cookie_is_with_the_other_cookies_in_one_header(value: str, sent: str, curl: FakeCurl) -> None:
    """S2-12: `curl` puts the cookies of several options together in a way that some servers do not read."""
    schemes = {"key": {"type": "apiKey", "in": "cookie", "name": "session"}}
    declared = {
        "parameters": [parameter("sid", "cookie", {"type": "string"}, example=value)],
        "security": [{"key": []}],
    }
    call = call_of("get", "/a", declared, components={"securitySchemes": schemes})
    found = options(curl.arguments(call.text, {"SKILL_TASKS_EXAMPLE___API_KEY": "hunter2"}), "-b")
    assert found == [f"session=hunter2; {sent}"]


def test_a_cookie_that_is_not_escaped_does_not_leave_its_quotes(curl: FakeCurl) -> None:
    schemes = {"key": {"type": "apiKey", "in": "cookie", "name": "session"}}
    cookie = parameter("sid", "cookie", {"type": "string"}, example="$(id)'`id`", style="cookie")
    declared = {"parameters": [cookie], "security": [{"key": []}]}
    call = call_of("get", "/a", declared, openapi="3.2.0", components={"securitySchemes": schemes})
    found = options(curl.arguments(call.text, {"SKILL_TASKS_EXAMPLE___API_KEY": "hunter2"}), "-b")
    assert found == ["session=hunter2; sid=$(id)'`id`"]


def test_a_security_scheme_of_unknown_type_sends_nothing_invented(curl: FakeCurl) -> None:
    """S2-12."""
    schemes = {"own": {"type": "magic"}}
    call = call_of("get", "/a", {"security": [{"own": []}]}, components={"securitySchemes": schemes})
    assert curl.arguments(call.text) == ["https://tasks.example/v1/a"]


def test_an_operation_without_security_sends_no_credential(curl: FakeCurl) -> None:
    """S2-10."""
    schemes = {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}}
    call = call_of("get", "/tasks", {"security": []}, security=[{"key": []}], components=schemes)
    assert curl.arguments(call.text) == ["https://tasks.example/v1/tasks"]


def test_where_the_base_url_is_not_known_a_variable_takes_its_place(curl: FakeCurl) -> None:
    relative = call_of("get", "/tasks", {}, servers=[{"url": "/api"}])
    assert relative.text == 'curl "$SKILL_TASKS_BASE_URL/api/tasks"'
    call = call_of("get", "/tasks", {}, servers=[{"url": "https://{region}.tasks.example"}])
    assert curl.arguments(call.text, {"SKILL_TASKS_URL_REGION": "eu"}) == ["https://eu.tasks.example/tasks"]


FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "example": "@a&b=c"},
        "tags": {"type": "array", "items": {"type": "string"}, "example": ["x", "y"]},
        "meta": {"type": "object", "example": {"k": '";type=x'}},
        "photo": {"type": "string", "format": "binary"},
    },
    "required": ["name", "tags", "meta", "photo"],
}


def test_a_form_is_sent_field_by_field(curl: FakeCurl) -> None:
    call = call_of("post", "/tasks", body("application/x-www-form-urlencoded", FORM))
    fields = options(curl.arguments(call.text), "--data-urlencode")
    assert fields == ["name=@a&b=c", "tags=x", "tags=y", 'meta={"k":"\\";type=x"}', "photo=<photo>"]


def test_a_multipart_form_sends_files_and_json_by_their_types(curl: FakeCurl) -> None:
    call = call_of("post", "/tasks", body("multipart/form-data", FORM))
    arguments = curl.arguments(call.text)
    assert options(arguments, "--form-string") == ["name=@a&b=c", "tags=x", "tags=y"]
    escaped = r'meta="{\"k\":\"\\\";type=x\"}";type=application/json'
    assert options(arguments, "-F") == [escaped, "photo=@FILE"]


@pytest.mark.parametrize(
    ("media_type", "schema", "expected"),
    [
        ("application/octet-stream", {"type": "string", "format": "binary"}, ["--data-binary", "@FILE"]),
        ("text/plain", {"type": "string", "example": "@hello"}, ["--data-raw", "@hello"]),
        (
            "application/merge-patch+json",
            {"type": "object", "required": ["a"], "additionalProperties": {"enum": ["x"]}},
            ["-d", '{"a": "x"}'],
        ),
    ],
)
def test_a_body_is_sent_by_its_media_type(media_type: str, schema: Json, expected: list[str], curl: FakeCurl) -> None:
    arguments = curl.arguments(call_of("post", "/tasks", body(media_type, schema)).text)
    assert arguments[1:] == ["-H", f"Content-Type: {media_type}", *expected]


def test_declared_examples_come_first_and_are_marked_as_declared() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    media = body("application/json", schema, examples={"one": {"$ref": "#/components/examples/one"}})
    data = description(
        {"/tasks": {"post": {**operation("add"), **media}}},
        components={"examples": {"one": {"value": {"title": "Buy milk"}}}},
    )
    page = next(page for page in pages_of(skillgen.read(data)) if "## add" in page)
    assert '-d \'{"title": "Buy milk"}\'' in page
    assert "Example:\n" in page
    assert problems_of(data) == []


def test_an_invalid_declared_example_is_reported_and_replaced() -> None:
    schema = {"type": "object", "properties": {"size": {"type": "integer", "default": 1}}, "required": ["size"]}
    media = body("application/json", schema, example={"size": "large"})
    data = description({"/tasks": {"post": {**operation("add"), **media}}})
    assert problems_of(data) == [
        ("example-invalid", "/paths/~1tasks/post/requestBody/content/application~1json/example"),
    ]
    assert any("""-d '{"size": 1}'""" in page for page in pages_of(skillgen.read(data)))


def test_a_declared_body_of_30_kilobytes_is_not_shown_and_a_short_one_is() -> None:
    properties = {"text": {"type": "string"}, "kind": {"const": "note"}}
    schema = {"type": "object", "properties": properties, "required": ["text", "kind"]}
    media = body("application/json", schema, example={"text": "x" * 30_000, "kind": "note"})
    data = description({"/tasks": {"post": {**operation("add"), **media}}})
    assert [code for code, _ in problems_of(data)] == ["example-too-long"]
    texts = skillgen.render_documents(skillgen.read(data)).values()
    assert not any("x" * 100 in text for text in texts)
    (page,) = (page for page in pages_of(skillgen.read(data)) if "## add" in page)
    assert len(page) < 2_000
    assert """-d '{"text": "<text>", "kind": "note"}'""" in page


def test_a_body_that_may_be_left_out_is_sent_with_a_method_of_ones_own(curl: FakeCurl) -> None:
    """S2-23: `additionalOperations`."""
    schema = {"type": "object", "required": ["days"], "properties": {"days": {"example": 1}}}
    content = {"application/json": {"schema": schema}}
    data = description(
        {"/a": {"additionalOperations": {"RESERVE": operation("act", requestBody={"content": content})}}},
        openapi="3.2.0",
    )
    (call,) = (call for page in pages_of(skillgen.read(data)) for call in calls_in(page).values() if call is not None)
    assert options(curl.arguments(call.text), "-d") == ['{"days": 1}']


def test_a_change_shows_no_optional_value_without_an_example() -> None:
    """H3: what the prose requires is shown; without any value, there is no example rather than an empty request."""
    mode, day = {"type": "string", "enum": ["now", "later"]}, {"type": "string", "format": "date"}
    title = {"type": "string", "example": "Buy milk"}

    def bodies_of(properties: Json, text: str = "Acts.", **of_schema: Json) -> list[Json]:
        schema = {"type": "object", "properties": properties, **of_schema}
        act = operation("act", description=text, requestBody={"content": {"application/json": {"schema": schema}}})
        examples = skillgen.read(description({"/a": {"post": act}})).tools[0].examples
        return [example.request.body and example.request.body.json for example in examples if example.request]

    assert bodies_of({"mode": mode}) == bodies_of({"mode": mode, "day": day}) == []
    assert bodies_of({"modes": {"type": "array", "items": mode}}) == []
    assert bodies_of({"mode": mode, "day": day}, required=["day"]) == [{"day": "2025-01-31"}]
    required = {**mode, "description": "Required: the mode."}
    assert bodies_of({"mode": required, "day": day}) == [{"mode": "now"}]
    assert bodies_of({"mode": mode, "title": title, "name": title}) == []
    assert bodies_of({"mode": mode}, example={"mode": "later"}) == [{"mode": "later"}]


def test_a_body_of_null_is_left_out_if_it_may_be(curl: FakeCurl) -> None:
    content = {"application/json": {"schema": {"type": ["object", "null"]}, "example": None}}
    for required in (True, False):
        act = operation("act", requestBody={"content": content, "required": required})
        (page,) = (page for page in pages_of(skillgen.read(description({"/a": {"post": act}}))) if "## act" in page)
        (call,) = calls_in(page).values()
        assert call is not None
        assert options(curl.arguments(call.text), "-d") == ["null"] * required


@pytest.mark.parametrize(
    ("wrapper", "task", "sent"),
    [([], ["title"], None), (["data"], [], None), (["data"], ["title"], {"data": {"title": "Buy milk"}})],
)
def test_a_body_that_would_say_nothing_is_no_example(
    curl: FakeCurl, wrapper: list[str], task: list[str], sent: Json
) -> None:
    """Issue 5: APIs wrap what is sent, and `{"data": {}}` shows nobody how."""
    properties = {"id": {"readOnly": True}, "title": {"type": "string", "example": "Buy milk"}}
    inner = {"type": "object", "properties": properties, "required": task}
    schema = {"type": "object", "properties": {"data": inner}, "required": wrapper}
    (tool,) = skillgen.read(description({"/a": {"post": operation("a", **body("application/json", schema))}})).tools
    assert [item.request.body.json for item in tool.examples if item.request and item.request.body] == (
        [sent] if sent else []
    )


def test_the_discriminator_of_a_chosen_type_is_sent() -> None:
    """S2-08."""
    pet = {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]}
    components = {
        "Cat": {"allOf": [pet, {"properties": {"lives": {"const": 9}}, "required": ["lives"]}]},
        "Dog": pet,
    }
    mapping = {"cat": "#/components/schemas/Cat"}
    schema = {
        "anyOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
        "discriminator": {"propertyName": "kind", "mapping": mapping},
    }
    call = call_of("post", "/pets", body("application/json", schema), components={"schemas": components})
    assert """-d '{"kind": "cat", "lives": 9}'""" in call.text


REF = "#/components/schemas/"
BASES: dict[str, Json] = {
    "Pet": {
        "required": ["kind"],
        "properties": {"kind": {"type": "string"}},
        "discriminator": {"propertyName": "kind"},
    },
    "Cat": {"allOf": [{"$ref": f"{REF}Pet"}, {"required": ["a"], "properties": {"a": {"const": 1}}}]},
    "Dog": {"allOf": [{"$ref": f"{REF}Cat"}, {"required": ["b"], "properties": {"b": {"const": 2}}}]},
    "Own": {
        "required": ["kind"],
        "properties": {"kind": {"type": "string"}},
        "discriminator": {"propertyName": "kind"},
    },
    "OwnWord": {"allOf": [{"$ref": f"{REF}Own"}, {"properties": {"kind": {"enum": ["own-word"]}}}]},
    "Beside": {
        "required": ["kind"],
        "properties": {"kind": {"$ref": f"{REF}Kind"}},
        "discriminator": {"propertyName": "kind", "mapping": {"car": "Car"}},
    },
    "Kind": {"enum": ["none", "car"]},
    "Car": {
        "required": ["n"],
        "properties": {"n": {"const": 3}, "x": {"const": 4}},
        "oneOf": [{"required": ["x"]}, {"required": ["y"]}],
    },
    "Itself": {
        "required": ["kind"],
        "properties": {"kind": {"type": "string"}},
        "discriminator": {"propertyName": "kind", "mapping": {"itself": f"{REF}Itself"}},
    },
    "More": {"allOf": [{"$ref": f"{REF}Itself"}]},
}


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"$ref": f"{REF}Pet"}, {"kind": "Cat", "a": 1}),
        ({"allOf": [{"$ref": f"{REF}Pet"}], "description": "Which."}, {"kind": "Cat", "a": 1}),
        ({"$ref": f"{REF}Cat"}, {"kind": "Cat", "a": 1}),
        ({"$ref": f"{REF}Dog"}, {"kind": "Dog", "a": 1, "b": 2}),
        ({"$ref": f"{REF}Own"}, {"kind": "own-word"}),
        ({"$ref": f"{REF}Beside"}, {"kind": "car", "n": 3, "x": 4}),
        ({"$ref": f"{REF}Itself"}, {"kind": "itself"}),
    ],
)
def test_what_is_sent_for_a_type_that_others_extend_is_of_one_of_them(schema: Json, sent: Json) -> None:
    """S2-08: but for a base that its own discriminator has a word for."""
    call = call_of("post", "/a", body("application/json", schema), components={"schemas": BASES})
    assert json.loads(call.text.split("-d '")[1].rpartition("'")[0]) == sent


def test_what_extends_a_closed_type_is_sent_and_reported(curl: FakeCurl) -> None:
    """S2-08: no value fits the schema as written, and what is meant is known; ShipEngine's types are so."""
    base = {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "integer", "default": 1}},
        "additionalProperties": False,
    }
    more = {"required": ["b"], "properties": {"b": {"type": "boolean"}}}
    asked = body("application/json", {"allOf": [base, more]})
    call = call_of("post", "/a", asked)
    assert json.loads(options(curl.arguments(call.text), "-d")[0]) == {"a": 1, "b": False}
    data = description({"/a": {"post": operation("act", **asked)}})
    assert "properties-forbidden" in {problem.code for problem in skillgen.read(data).problems}


@pytest.mark.parametrize("openapi", ["3.0.3", "3.1.0", "3.2.0"])
def test_a_tuple_as_older_drafts_have_it_is_sent(openapi: str, curl: FakeCurl) -> None:
    """S2-08, S2-04: a list of `items` is no schema any more since 3.1, and what is meant is known."""
    pair = {"type": "array", "items": [{"const": 1}, {"type": "string"}], "additionalItems": False, "minItems": 2}
    schema = {"type": "object", "required": ["at"], "properties": {"at": pair}}
    call = call_of("post", "/a", body("application/json", schema, example={"at": ["x"]}), openapi=openapi)
    assert options(curl.arguments(call.text), "-d") == ['{"at": [1, "<at>"]}']


def test_null_in_a_declared_example_is_valid_for_a_nullable_schema() -> None:
    """S2-20."""
    schema = {"type": "object", "properties": {"due": {"type": "string", "nullable": True}}}
    for version in ("3.0.3", "3.1.0"):
        media = body("application/json", schema, example={"due": None})
        data = description({"/tasks": {"post": {**operation("add"), **media}}}, openapi=version)
        assert problems_of(data) == []


def test_xml_is_shown_only_as_the_source_writes_it() -> None:
    data = description({"/tasks": {"post": {**operation("add"), **body("application/xml", {"type": "object"})}}})
    assert not any("curl" in page for page in pages_of(skillgen.read(data)))


hostile = st.text(st.sampled_from("a'\"`$(){}[];&|<>\\!#@%=~*?^ \n\té"), max_size=12).map(
    lambda text: f"{text}';touch x;\"$(touch y)`touch z`!`id`$ARGUMENTS\n```\n# x"
)


@settings(max_examples=examples(15), phases=(Phase.generate,))
@given(hostile, hostile)
def test_no_text_of_a_source_breaks_out_of_its_quotes_or_its_fence(tmp_path_factory: Any, one: str, two: str) -> None:
    """S0-25, X-52."""
    curl = FakeCurl(tmp_path_factory.mktemp("curl"))
    data = description(
        {
            f"/t/{one.translate(dict.fromkeys(map(ord, '{}?')))}/{{id}}": {
                "post": {
                    **operation("act"),
                    "parameters": [
                        parameter("id", "path", {"type": "string", "example": two}),
                        parameter("q", "query", {"type": "string", "example": one}),
                    ],
                    **body("application/json", {"type": "object"}, example={one: two}),
                    "servers": [{"url": f"https://host.example/{two}"}],
                }
            }
        },
        components={"securitySchemes": {two: {"type": "apiKey", "in": "header", "name": one}}},
        security=[{two: []}],
        info={"title": one, "version": "1"},
    )
    calls = [call for page in pages_of(skillgen.read(data)) for call in calls_in(page).values() if call is not None]
    for call in calls:
        arguments = curl.arguments(call.text)
        assert all(arguments[index - 1].startswith("-") for index in range(2, len(arguments), 2))
        assert json.loads(options(arguments, "-d")[0]) == {one: two}
        query = urlsplit(arguments[2 if arguments[0] == "-X" else 0]).query
        assert unquote(query.removeprefix("q=")) == one
    assert len(calls) == 1


def test_every_command_of_a_page_is_one_that_a_shell_reads(tmp_path: Path) -> None:
    source = Path(__file__).parent / "golden" / "sources" / "1password-connect.json"
    generated("from-openapi", source, "-o", tmp_path, "--name", "connect")
    calls = calls_of(tmp_path / "skills" / "connect")
    assert len(calls) > 6
    for call in calls.values():
        assert shlex.split(call.text.replace("\\\n", ""))[0] == "curl"
        subprocess.run(["/bin/sh", "-n", "-c", call.text], check=True)


def test_every_github_operation_has_a_command_with_required_parameters(github: Any) -> None:
    """Issue 4, examples that can be sent: unless all of its values would be placeholders."""
    calls = calls_of(github.skill)
    assert len(calls) > 400
    withheld = []
    for path, item in github.raw["paths"].items():
        for method, raw in item.items():
            content = raw.get("requestBody", {}).get("content", {}).get("application/json", {})
            call = calls.get(raw["operationId"])
            if call is None:
                withheld += [raw["operationId"]] if content.get("examples") else []
                continue
            assert call.language == "sh"
            assert path.split("{")[0] in call.text
            assert method in ("get", "post") or f"-X {method.upper()}" in call.text
    assert len(withheld) < 7, withheld  # invalid ones, too long ones, and one with credentials


@pytest.mark.slow
def test_a_written_description_produces_the_same_commands_every_time(tmp_path: Path) -> None:
    """X-51."""
    act = {**operation("act"), **body("text/plain", {"example": "x"})}
    source = write(tmp_path / "tasks.json", description({"/t": {"put": act}}))
    texts = set()
    for number in ("1", "2"):
        generated("from-openapi", source, "-o", tmp_path / number, env={"PYTHONHASHSEED": number})
        texts.add((tmp_path / number / "llms-full.txt").read_text("utf-8"))
    assert len(texts) == 1
    assert "curl -X PUT" in texts.pop()


# -- examples of the source ------------------------------------------------------------------------------------------

REF = "#/components/schemas/"


def kinds(**more: Json) -> dict[str, Json]:
    """Two types with the same properties, as the specification's own examples have them."""
    animal = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "petType": {"type": "string"}},
        **more,
    }
    return {"Cat": animal, "Dog": {**animal}}


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
@pytest.mark.parametrize(
    ("types", "mapping", "value", "fits"),
    [
        (kinds(), None, {"petType": "Dog", "name": "Rex"}, True),
        (kinds(), {"canine": f"{REF}Dog"}, {"petType": "canine", "name": "Rex"}, True),
        (kinds(), {"canine": "Dog"}, {"petType": "canine", "name": "Rex"}, True),
        (
            kinds(properties={"name": {"type": "string"}}, additionalProperties=False),
            None,
            {"petType": "Cat", "name": "Tom"},
            True,
        ),
        (kinds(), None, {"petType": "Dog"}, False),
        (kinds(), None, {"petType": "Dog", "name": 3}, False),
    ],
)
def test_a_discriminator_says_by_which_type_an_example_is_judged(
    keyword: str, types: Json, mapping: Json, value: Json, fits: bool
) -> None:
    """S0-32, S2-09: OpenAPI, "Discriminator Object"."""
    told = {"propertyName": "petType", **({"mapping": mapping} if mapping else {})}
    types = {**types, "Pet": {keyword: [{"$ref": f"{REF}Cat"}, {"$ref": f"{REF}Dog"}], "discriminator": told}}
    sent = body("application/json", {"$ref": f"{REF}Pet"}, example=value)
    data = description({"/a": {"put": operation("a", requestBody=sent["requestBody"])}}, components={"schemas": types})
    (example,) = skillgen.read(data).tools[0].examples
    assert (example.input["body"] == value) is fits
    assert problems_of(data) == [
        ("example-invalid", "/paths/~1a/put/requestBody/content/application~1json/example")
    ] * (not fits)


def test_a_type_that_extends_another_makes_its_example_valid() -> None:
    """S0-32, S2-09."""
    animal = {
        "type": "object",
        "required": ["petType"],
        "properties": {"petType": {"type": "string"}},
        "discriminator": {"propertyName": "petType"},
    }
    own = {"type": "object", "required": ["rocks"], "properties": {"rocks": {"type": "boolean"}}}
    types = {"Animal": animal, "Lizard": {"allOf": [{"$ref": f"{REF}Animal"}, own]}}
    value = {"petType": "Lizard", "rocks": True}
    sent = body("application/json", {"$ref": f"{REF}Animal"}, example=value)
    data = description({"/a": {"put": operation("a", requestBody=sent["requestBody"])}}, components={"schemas": types})
    assert skillgen.read(data).tools[0].examples[0].input == {"body": value}


NAMED: dict[str, Any] = {
    "first": {"summary": "The first", "value": {"x": "1"}},
    "second": {"value": {"x": "2"}},
    "wrong": {"summary": "Wrong", "value": {"x": 3}},
    "large": {"summary": "A large one", "value": {"x": "y" * 1_900}},
    "larger": {"summary": "A larger one", "value": {"x": "z" * 1_900}},
    "largest": {"summary": "The largest", "value": {"x": "w" * 1_950}},
}


def test_each_named_example_of_a_request_that_has_room_is_a_call() -> None:
    """S0-32."""
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    sent = body("application/json", schema, examples=NAMED)
    data = description({"/a": {"put": operation("a", requestBody=sent["requestBody"])}})
    service = skillgen.read(data)
    assert [(example.name, example.description) for example in service.tools[0].examples] == [
        (name, item.get("summary")) for name, item in NAMED.items() if name != "wrong"
    ]
    text = "\n".join(pages_of(service))
    assert "Example: The first\n" in text
    assert "Example: `second`\n" in text
    assert text.count("curl ") - text.count("`curl ") == 4


def test_an_example_keeps_its_summary_and_its_description() -> None:
    """S0-32: OpenAPI 3.1, "Example Object"."""
    words = {"summary": "A heavy one", "description": "It is sent by ship."}
    examples = {"heavy": {**words, "value": {"x": "1"}}}
    sent = body("application/json", {"type": "object", "properties": {"x": {"type": "string"}}}, examples=examples)
    response = {"description": "Done", "content": {"application/json": {"schema": {}, "examples": examples}}}
    act = operation("a", requestBody=sent["requestBody"], responses={"200": response})
    text = "\n".join(pages_of(skillgen.read(description({"/a": {"put": act}}))))
    assert "Example: A heavy one. It is sent by ship.\n" in text
    assert "Example result: A heavy one. It is sent by ship.\n" in text


def test_examples_of_responses_are_in_the_model_and_in_the_references() -> None:
    """S0-32, S2-09: one for each output, within bounds."""
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}}
    responses = {
        "200": {
            "description": "Done",
            "content": {
                "application/json": {
                    "schema": schema,
                    "examples": {
                        "large": {"value": {"id": 0, "note": "x" * 1_600}},
                        "one": {"summary": "The one", "value": {"id": 1}},
                        "two": {"value": {"id": 2}},
                    },
                }
            },
        },
        "202": {"description": "Later", "content": {"text/plain": {"example": "line 1\nline 2"}}},
        "404": {"description": "None", "content": {"application/json": {"example": {"message": "no such task"}}}},
    }
    service = skillgen.read(description({"/a": {"get": operation("a", responses=responses)}}))
    (tool,) = service.tools
    outputs = [output for output in (tool.output, *tool.other_outputs) if output is not None]
    assert [[example.name for example in output.examples] for output in outputs] == [["large", "one", "two"], [None]]
    text = "\n".join(pages_of(service))
    assert 'Example result: The one\n\n```json\n{"id": 1}\n```\n' in text
    assert 'Example result: `two`\n\n```json\n{"id": 2}\n```\n' in text
    assert "Example result:\n\n```text\nline 1\nline 2\n```\n" in text
    assert 'Example of `404`: `{"message": "no such task"}`\n' in text


def test_examples_of_a_swagger_response_are_shown() -> None:
    """S0-32."""
    response = {"description": "Done", "schema": {"type": "object"}, "examples": {"application/json": {"id": 7}}}
    paths = {"/a": {"get": {"operationId": "a", "summary": "A", "description": LONG, "responses": {"200": response}}}}
    data = {"swagger": "2.0", "info": {"title": "T", "version": "1"}, "host": "t.example", "paths": paths}
    assert 'Example result:\n\n```json\n{"id": 7}\n```\n' in "\n".join(pages_of(skillgen.read(data)))


def test_a_secret_in_the_example_of_a_response_is_not_shown() -> None:
    """S0-22."""
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    responses = {"200": {"description": "Done", "content": {"application/json": {"example": {"token": token}}}}}
    data = description({"/a": {"get": operation("a", responses=responses)}})
    assert token not in "\n".join(pages_of(skillgen.read(data)))
    assert [code for code, _ in problems_of(data)] == ["example-not-shown"]


def test_names_that_clash_have_keys_of_their_own_in_an_example() -> None:
    """S2-08."""
    parameters = [
        parameter("body", "query", {"type": "integer", "default": 1}, required=True),
        parameter("query.body", "query", {"type": "integer", "default": 1}),
        parameter("body", "header", {"type": "integer", "default": 1}),
        parameter("id", "path", {"type": "string"}),
        parameter("query.id", "query", {"type": "string", "default": "x"}),
        parameter("id", "query", {"type": "string", "default": "x"}),
    ]
    content: dict[str, Any] = {
        "application/json": {"schema": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}},
        "text/csv": {"schema": {"type": "string"}},
    }
    data = description({"/a/{id}": {"put": operation(
        "a", parameters=parameters, requestBody={"required": True, "content": content}
    )}})  # fmt: skip
    (tool,) = skillgen.read(data).tools
    assert list(tool.examples[0].input) == [
        "body", "query.body", "header.body", "id", "query.id", "query.query.id", "body.body"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": ["object", "array"], "items": {"type": "string"}}, "As a whole it is object or array of string."),
        ({"type": ["object", "string"]}, "As a whole it is object or string."),
        ({"type": ["object", "null"]}, "As a whole it is object or null."),
        ({"type": "object", "nullable": True}, "As a whole it is object or null."),
    ],
)
def test_a_body_that_need_not_be_an_object_is_documented_as_such(schema: Json, told: str) -> None:
    """S2-08."""
    sent = body("application/json", {**schema, "properties": {"x": {"type": "string"}}})
    service = skillgen.read(description({"/a": {"put": operation("a", requestBody=sent["requestBody"])}}))
    assert told in "\n".join(pages_of(service))


def test_the_example_of_an_optional_parameter_with_content_is_shown() -> None:
    """S0-32."""
    content = {"application/json": {"schema": {"type": "object"}, "example": {"state": "open"}}}
    parameters = [{"name": "filter", "in": "query", "content": content}]
    service = skillgen.read(description({"/a": {"get": operation("a", parameters=parameters)}}))
    assert 'Example: `{"state": "open"}`' in "\n".join(pages_of(service))


def test_a_parameter_that_half_of_the_tools_have_for_a_key_is_the_login(tmp_path: Path) -> None:
    """H8: the variable of the authentication section, in a header, a query or a body."""
    place = parameter("token", "header", {"type": "string"})
    paths: Json = {f"/{name}": {"get": operation(name, parameters=[place])} for name in "ab"}
    texts = skillgen.render_documents(skillgen.read(description(paths)), emit="skill")
    assert any('-H "token: $SKILL_TASKS_EXAMPLE___API_KEY"' in text for text in texts.values())
    assert '/PATH" -H "token: $SKILL_TASKS_EXAMPLE___API_KEY"`. ' in texts["skills/tasks/SKILL.md"]
    schema = {
        "type": "object",
        "properties": {"key": {"type": "string"}, "note": {"type": "string", "example": "it's"}},
        "required": ["note"],
    }
    paths = {f"/{name}": {"post": operation(name, **body("application/json", schema))} for name in "ab"}
    service = skillgen.read(description(paths))
    call = next(call for page in pages_of(service) for call in calls_in(page).values() if call is not None)
    arguments = FakeCurl(tmp_path).arguments(call.text, {"SKILL_TASKS_EXAMPLE___API_KEY": "s'3"})
    assert json.loads(options(arguments, "-d")[0]) == {"key": "s'3", "note": "it's"}


def test_a_value_that_is_encoded_in_the_source_is_not_encoded_again(curl: FakeCurl) -> None:
    """H11."""
    call = call_of("get", "/a", {"parameters": [parameter("q", "query", {"type": "string"}, example="a%20b")]})
    assert curl.arguments(call.text) == ["https://tasks.example/v1/a?q=a%20b"]


def test_a_path_is_expanded_by_its_operators(curl: FakeCurl) -> None:
    """H11: RFC 6570."""
    formats = {"type": "string", "enum": ["xml", "json"], "default": "xml"}
    parameters = [parameter("id", "path", {"example": 1}), parameter("format", "query", formats)]
    call = call_of("get", "/a/{id}{.format}{/part}{?format,more}", {"parameters": parameters})
    assert curl.arguments(call.text) == ["https://tasks.example/v1/a/1/<part>?format=json"]
    parameters.append(parameter(".format", "path", {"type": "string"}))
    call = call_of("get", "/a/{id}{.format}", {"parameters": parameters})
    assert curl.arguments(call.text) == ["https://tasks.example/v1/a/1.json?format=json"]


def test_the_same_address_with_https_comes_first() -> None:
    """H11."""
    servers = [{"url": f"{scheme}://tasks.example"} for scheme in ("http", "https")]
    assert call_of("get", "/a", {}, servers=servers).text == 'curl "https://tasks.example/a"'


def test_named_examples_of_a_parameter_are_requests_with_summaries() -> None:
    """H3: equal names belong to one request."""
    sizes = {"few": {"summary": "A few", "value": 1}, "many": {"value": 9}}
    bodies = {"few": {"value": "x"}, "none": {"value": "y"}}
    parameters = [{"name": "size", "in": "query", "schema": {"type": "integer"}, "examples": sizes}]
    act = operation("a", parameters=parameters, **body("text/plain", {"type": "string"}, examples=bodies))
    (tool,) = skillgen.read(description({"/a": {"put": act}})).tools
    assert [(item.name, item.description, item.input) for item in tool.examples] == [
        ("few", "A few", {"size": 1, "body": "x"}),
        ("none", None, {"body": "y"}),
        ("many", None, {"size": 9, "body": "x"}),
    ]
