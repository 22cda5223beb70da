"""Descriptions as careless authors write them: what is wrong is reported, and what can be read is documented."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli import generated, run_skillgen
from descriptions import LONG, description, operation, write
from listed import TESTS, command, tool
from rows import inputs

import skillgen

Json = Any


def read(folder: Path, data: Json) -> tuple[Any, set[tuple[str, str]]]:
    """Returns the service of a description, and code and place of each problem."""
    service = skillgen.read(write(folder / "api.json", data))
    return service, {(item.code, item.where) for item in service.problems}


# -- what would be lost without a word -------------------------------------------------------------------------------

Q = {"name": "q", "in": "query", "schema": {"type": "string"}}
KEY = {"components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}}}


@pytest.mark.parametrize(("members", "code", "where"), inputs("careless_descriptions")["operations"])
def test_an_unreadable_member_is_reported_and_its_operation_documented(
    tmp_path: Path, members: Json, code: str, where: str
) -> None:
    """S2-07, S2-08."""
    data = description({"/tasks": {"put": operation("put_task", **members), "get": operation("list_tasks")}}, **KEY)
    service, problems = read(tmp_path, data)
    assert (code, f"/paths/~1tasks/put{where}") in problems
    assert [tool.name for tool in service.tools] == ["put_task", "list_tasks"]


@pytest.mark.parametrize("security", [None, "key", 3, ["key"], [None], True])
def test_malformed_security_of_an_operation_keeps_the_global_requirement(tmp_path: Path, security: Json) -> None:
    """S2-10: only a list of requirements replaces it, and null is not an empty list."""
    paths = {"/a": {"get": operation("a", security=security)}, "/b": {"get": operation("b", security=[])}}
    source = write(tmp_path / "api.json", description(paths, security=[{"key": []}], **KEY))
    finished = generated("from-openapi", source, "-o", tmp_path / "out")
    assert "security-invalid: /paths/~1a/get/security" in finished.stderr
    page = (tmp_path / "out" / "skills" / "tasks" / "references" / "tools.md").read_text("utf-8")
    first, second = page.split("\n## b\n")
    assert "X-Key" in first
    assert "Needs no authentication." in second


@pytest.mark.parametrize(("members", "code", "where"), inputs("careless_descriptions")["members"])
def test_a_member_of_another_type_is_reported(tmp_path: Path, members: Json, code: str, where: str) -> None:
    """S2-04, S2-06."""
    _, problems = read(tmp_path, {**description(), **members})
    assert (code, where) in problems


@pytest.mark.parametrize(
    ("members", "code", "where"),
    [
        ({"schemes": "https"}, "member-invalid", "/schemes"),
        ({"host": 3}, "member-invalid", "/host"),
        ({"securityDefinitions": []}, "member-invalid", "/securityDefinitions"),
        ({"paths": {"/a": {"get": {"produces": "application/json"}}}}, "member-invalid", "/paths/~1a/get/produces"),
        ({"paths": {"/a": {"get": {"parameters": {}}}}}, "member-invalid", "/paths/~1a/get/parameters"),
    ],
)
def test_a_member_of_another_type_in_swagger_is_reported(tmp_path: Path, members: Json, code: str, where: str) -> None:
    """S2-04: with its place in the source, not in what it is converted to."""
    info = {"title": "T", "version": "1", "description": "D"}
    _, problems = read(tmp_path, {"swagger": "2.0", "info": info, "paths": {}, **members})
    assert (code, where) in problems


def test_a_member_of_another_type_in_another_file_is_reported_there(tmp_path: Path) -> None:
    """S2-04, S2-09."""
    write(tmp_path / "part.json", {"get": operation("a", tags="x")})
    _, problems = read(tmp_path, description({"/a": {"$ref": "part.json"}}))
    assert ("member-invalid", "part.json#/get/tags") in problems


@pytest.mark.parametrize(
    ("paths", "code", "where", "names"),
    [
        ({"/a": {"GET": operation("a"), "post": operation("b")}}, "method-misspelt", "/paths/~1a/GET", {"a", "b"}),
        ({"/a": {"fetch": operation("a"), "post": operation("b")}}, "method-unknown", "/paths/~1a/fetch", {"b"}),
        ({"/a": {"security": [], "get": operation("a")}}, "member-misplaced", "/paths/~1a/security", {"a"}),
        ({"a": {"get": operation("a")}}, "path-invalid", "/paths/a", {"a"}),
        ({"/a?b=1": {"get": operation("a")}}, "path-invalid", "/paths/~1a?b=1", {"a"}),
        ({"/a": {"get": "soon"}, "/b": {"get": operation("b")}}, "operation-invalid", "/paths/~1a/get", {"b"}),
        ({"/a": None, "/b": {"get": operation("b")}}, "object-expected", "/paths/~1a", {"b"}),
        ([{"get": operation("a")}], "member-invalid", "/paths", set()),
    ],
)
def test_a_path_that_cannot_be_read_is_reported(
    tmp_path: Path, paths: Json, code: str, where: str, names: set[str]
) -> None:
    """S2-07."""
    service, problems = read(tmp_path, {**description(), "paths": paths})
    assert (code, where) in problems
    assert {tool.name for tool in service.tools} == names


def test_a_path_without_its_slash_does_not_run_into_the_address(tmp_path: Path) -> None:
    """S2-07."""
    generated("from-openapi", write(tmp_path / "api.json", description({"a": {"get": operation("a")}})), cwd=tmp_path)
    page = (tmp_path / "agent-docs/skills/tasks/references/tools.md").read_text("utf-8")
    assert 'curl "https://tasks.example/v1/a"' in page


# -- references ------------------------------------------------------------------------------------------------------


def test_parameters_that_refer_to_one_another_in_a_circle_are_reported(tmp_path: Path) -> None:
    """S2-09."""
    circle = {"A": {"$ref": "#/components/parameters/B"}, "B": {"$ref": "#/components/parameters/A"}}
    parameters = [{"$ref": "#/components/parameters/A"}, {"$ref": ""}, Q]
    data = description({"/t": {"get": operation("t", parameters=parameters)}}, components={"parameters": circle})
    service, problems = read(tmp_path, data)
    assert [item.name for item in service.tools[0].parameters] == ["q"]
    assert "reference-not-followed" in {code for code, _ in problems}


# -- events and extensions -------------------------------------------------------------------------------------------


def test_the_page_of_many_webhooks_says_that_payloads_are_left_out(tmp_path: Path) -> None:
    """S2-09: nothing is left out in silence."""
    body = {"content": {"application/json": {"schema": {"properties": {"id": {"type": "string"}}}}}}
    for count in (50, 51):
        events = {f"e{number}": {"post": operation(requestBody=body)} for number in range(count)}
        data = description({"/tasks": {"get": operation("list_tasks", description=LONG)}}, webhooks=events)
        out = tmp_path / str(count)
        generated("from-openapi", write(tmp_path / "api.json", data), "--out", out)
        page = (out / "skills/tasks/references/events.md").read_text("utf-8")
        assert len(re.findall("^## ", page, re.MULTILINE)) == count
        assert ("`id`" in page) == (count == 50)
        assert ("Their payloads are omitted" in page) == (count == 51)


@pytest.mark.parametrize(
    "said", [{"x-speakeasy-mcp": {"disabled": True}}, {"x-mcp": {"enabled": False}}, {"x-mcp": False}]
)
def test_an_operation_that_is_kept_out_of_an_mcp_server_is_one_of_the_api(tmp_path: Path, said: Json) -> None:
    """S2-07."""
    service, _ = read(tmp_path, description({"/t": {"get": operation("t", **said)}}))
    assert [tool.name for tool in service.tools] == ["t"]


# -- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_every_encoding_that_json_may_have_is_read(tmp_path: Path, encoding: str) -> None:
    """S2-02."""
    (tmp_path / "api.json").write_bytes(json.dumps(description(), ensure_ascii=False).encode(encoding))
    generated("from-openapi", "api.json", cwd=tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (gzip.compress(b"openapi: 3.1.0", mtime=0), "is compressed (gzip)"),
        (b'// by hand\n{"openapi": "3.1.0"}', "comments, which neither JSON nor YAML allows"),
        (b'{\n  /* by hand */ "openapi": "3.1.0"}', "comments, which neither JSON nor YAML allows"),
        (b'{"openapi": "3.1.0",}', "is not JSON: line 1"),
        (b"openapi: 3.1.0\n\tinfo: {}", "is not YAML: line 2"),
        (
            b'openapi: 3.1.0\ninfo: {title: "a}\npaths: {}\n',
            "line 2, column 15: the quote that opens here is not closed",
        ),
        (b"<!DOCTYPE html><p>Bad gateway", "is HTML or XML"),
        (b'{"openapi": 3, "paths": {}}', "is OpenAPI '3'"),
        (b"Not found", "the document is not an object"),
    ],
)
def test_what_is_no_description_is_named_in_one_message(tmp_path: Path, content: bytes, words: str) -> None:
    """S2-02, S2-04."""
    (tmp_path / "api").write_bytes(content)
    finished = run_skillgen("from-openapi", "api", cwd=tmp_path).ended(3, words)
    assert finished.stderr.count("error:") == 1
    assert not (tmp_path / "agent-docs").exists()


# -- what real descriptions hold -------------------------------------------------------------------------------------


def test_a_default_whose_form_is_that_of_a_key_is_left_out(tmp_path: Path) -> None:
    """S2-08."""
    account = {**Q, "name": "sid", "in": "path", "schema": {"type": "string", "pattern": "^AC[0-9a-fA-F]{32}$"}}
    _, problems = read(tmp_path, description({"/a/{sid}": {"get": operation("a", parameters=[account])}}))
    assert "credential-left-out" not in {code for code, _ in problems}
    real = {**account, "schema": {"type": "string", "default": "AC" + "0123456789abcdef" * 2}}
    _, problems = read(tmp_path, description({"/a/{sid}": {"get": operation("a", parameters=[real])}}))
    assert "credential-left-out" in {code for code, _ in problems}


def test_a_place_in_the_document_is_no_value_of_a_discriminator(tmp_path: Path) -> None:
    """S2-09: `0` in `#/…/oneOf/0` is no name of a type; bundlers write such references."""
    options = [
        {"type": "object", "properties": {"type": {"type": "string", "enum": [value]}}, "required": ["type"]}
        for value in ("one", "two")
    ]
    place = "#/paths/~1a/post/requestBody/content/application~1json/schema/oneOf"
    choice = {"oneOf": [{"$ref": f"{place}/0"}, {"$ref": f"{place}/1"}], "discriminator": {"propertyName": "type"}}

    def post(name: str, schema: Json) -> Json:
        return {"post": operation(name, requestBody={"content": {"application/json": {"schema": schema}}})}

    service, _ = read(tmp_path, description({"/a": post("a", {"oneOf": options}), "/b": post("b", choice)}))
    tool = service.tools[1]
    assert tool.input.schema.discriminator.mapping is None
    assert tool.examples[0].input["body"] == {"type": "one"}


def test_a_value_next_to_a_type_is_another_choice(tmp_path: Path) -> None:
    """S2-08: Stripe lets many fields be emptied with an empty text."""
    amount = {"anyOf": [{"type": "integer"}, {"type": "string", "enum": [""]}], "description": "How much"}
    body = {"content": {"application/json": {"schema": {"properties": {"amount": amount}}}}}
    data = description({"/a": {"post": operation("a", requestBody=body)}})
    generated("from-openapi", write(tmp_path / "api.json", data), cwd=tmp_path)
    page = (tmp_path / "agent-docs/skills/tasks/references/tools.md").read_text("utf-8")
    assert '  - or `""`\n' in page


def test_a_word_of_yaml_1_1_for_true_is_a_text_and_reported(tmp_path: Path) -> None:
    """S2-02, S2-08: `required: yes` asks for nothing in YAML 1.2, and is said not to."""
    source = tmp_path / "api.yaml"
    source.write_text(
        "openapi: 3.1.0\ninfo: {title: T, version: '1', description: D}\nservers: [{url: https://t.example}]\npaths:\n"
        "  /a: {get: {operationId: a, summary: A, parameters: [{name: q, in: query, required: yes, schema: {}}],"
        " responses: {'200': {description: Done}}}}\n",
        "utf-8",
    )
    finished = generated("from-openapi", source, "-o", tmp_path / "out")
    assert "member-invalid: /paths/~1a/get/parameters/0/required: 'yes' is neither true nor false" in finished.stderr


def test_undescribed_properties_are_one_problem_that_fails_nothing(tmp_path: Path) -> None:
    """S2-09: seed 002, 4.3. A named type describes a reference, and a base what its extension narrows."""
    words = {"description": "Words."}
    base = {
        "type": "object",
        "properties": {"kind": {"type": "string", **words}, "next": {"$ref": "#/components/schemas/Base"}},
    }
    money = {"type": "object", "properties": {"cents": {"type": "integer"}}, **words}
    narrowed = {"properties": {"kind": {"enum": ["book"]}, "price": {"$ref": "#/components/schemas/Money"}}}
    body = {
        "allOf": [
            {"$ref": "#/components/schemas/Base"},
            narrowed,
            {"oneOf": [{"properties": {"kind": {"minLength": 1}}}, {}]},
        ]
    }
    shared = {"name": "dry", "in": "query", "schema": {"type": "boolean"}}
    put = operation("put", parameters=[shared], requestBody={"content": {"application/json": {"schema": body}}})
    get = operation("get", parameters=[{"name": "page", "in": "query", "schema": {"type": "integer"}, **words}])
    get["responses"]["200"]["content"] = {"application/json": {"schema": {"items": {"properties": {"x": {}}}}}}
    components = {"schemas": {"Base": base, "Money": money}}
    api = write(tmp_path / "api.json", description({"/a": {"put": put, "get": get}}, components=components))
    finished = run_skillgen("lint", api, "--select", "properties-undescribed")
    item = "/paths/~1a/get/responses/200/content/application~1json/schema/items/properties/x"
    assert (
        "4 of 7 parameters and properties have no description; others are "
        f"/components/schemas/Base/properties/next, {item} and 1 more"
    ) in finished.stdout


def test_arguments_without_a_description_are_one_problem_of_an_mcp_server(tmp_path: Path) -> None:
    """S2-09."""
    described = tool("described", inputSchema={"type": "object", "properties": {"id": {"description": "A key."}}})
    prompt = {"name": "greet", "arguments": [{"name": "who"}]}
    lint = ("lint", "--select", "properties-undescribed", "--")
    served = command(tmp_path, tools=[described, tool("a"), tool("b")], prompts=[prompt])
    finished = run_skillgen(*lint, *served, cwd=TESTS)
    assert "3 of 4 parameters and properties have no description; others are " in finished.stdout
    finished = run_skillgen(*lint, *command(tmp_path, tools=[described]), cwd=TESTS)
    assert "properties-undescribed" not in finished.stdout
