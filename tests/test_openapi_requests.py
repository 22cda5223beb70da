"""A `curl` command for every operation: valid, quoted exactly, and without a secret in it."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from cli import generated
from descriptions import description, operation, write
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from properties import examples
from rows import rows
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


LIST = {"type": "array", "items": {"type": "string"}, "example": ["a b", "c"]}


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
    finished = generated("call", str(source), "add", json.dumps(value), "--dry-run")
    assert unquote(finished.stdout).rstrip().endswith("&".join(fields))


@pytest.mark.parametrize("row", rows("requests"))
def test_what_is_sent_is_what_curl_gets(row: Json, curl: FakeCurl) -> None:
    """S2-04, S2-08, S2-10, S2-12, S2-23."""
    (place, *_), described = row, row.get("description", {})
    method, path = place.split(" ", 1)
    call = call_of(method, path, row[place], **described)
    names = [name for name in re.findall(r"\$(\w+)", call.text) if name.startswith("SKILL_")]
    assert curl.arguments(call.text, {name: name.removeprefix("SKILL_TASKS_") for name in names}) == row["curl"]


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


REF = "#/components/schemas/"


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


def test_null_in_a_declared_example_is_valid_for_a_nullable_schema() -> None:
    """S2-20."""
    schema = {"type": "object", "properties": {"due": {"type": "string", "nullable": True}}}
    for version in ("3.0.3", "3.1.0"):
        media = body("application/json", schema, example={"due": None})
        data = description({"/tasks": {"post": {**operation("add"), **media}}}, openapi=version)
        assert problems_of(data) == []


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


def test_a_secret_in_the_example_of_a_response_is_not_shown() -> None:
    """S0-22."""
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    responses = {"200": {"description": "Done", "content": {"application/json": {"example": {"token": token}}}}}
    data = description({"/a": {"get": operation("a", responses=responses)}})
    assert token not in "\n".join(pages_of(skillgen.read(data)))
    assert [code for code, _ in problems_of(data)] == ["example-not-shown"]


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
