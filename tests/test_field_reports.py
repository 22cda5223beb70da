"""What public reports of neighbouring tools taught: small inputs, each with what the documents must say of it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from cli import generated, run_skillgen
from descriptions import description, operation, write

import skillgen

Json = Any


def text_of(paths: Json, **members: Json) -> str:
    """Returns what the documents say of a description."""
    service = skillgen.read(description(paths, **members))
    return skillgen.render_documents(service, emit="llms")["llms-full.txt"]


def body(schema: Json, media_type: str = "application/json", **members: Json) -> Json:
    return {"required": True, "content": {media_type: {"schema": schema, **members}}}


ITEM = {"$dynamicAnchor": "item", "type": "object", "properties": {"name": {"type": "string"}}}
PAGE = {
    "$id": "http://127.0.0.1/Page",
    "type": "object",
    "properties": {"items": {"type": "array", "items": {"$dynamicRef": "#item"}}},
    "$defs": {"item": {"$dynamicAnchor": "item", "not": {}}},
}
SHIPS = {"$id": "http://127.0.0.1/Ships", "$ref": "Page", "$defs": {"item": ITEM}}
MAYBE = {"type": "string", "enum": ["a"], "nullable": True}
TWICE = {
    "type": "object",
    "properties": {"kind": {"nullable": True, "allOf": [{"$ref": "#/components/schemas/Maybe"}]}},
}
HEADER = {"name": "X-Id", "in": "header", "description": "Of the path", "schema": {"type": "string"}}
LINKED = {"201": {"description": "Added", "links": {"old": {"operationId": "gone"}, "new": {"operationId": "x"}}}}
PART = {"required": True, "description": "Of the part", "schema": {"type": "integer"}}
PARTS = {"meta": {"contentType": "application/json", "headers": {"X-Id": PART}}}
CLOSED = {
    "none": {"type": "object", "additionalProperties": False},
    "matched": {
        "type": "object",
        "patternProperties": {"^x-": {"type": "string"}},
        "additionalProperties": False,
    },
}
WEBHOOK = {
    "type": "object",
    "properties": {"place": {"type": "string"}, "on": {"const": True, "description": "This is always `true`."}},
    "required": ["place", "team"],
}


def refused(status: int) -> Json:
    """Returns a response with the status in its body."""
    of_all = {"type": "object", "properties": {"why": {"type": "string"}}}
    of_one = {"type": "object", "properties": {"status": {"type": "number", "enum": [status]}}}
    return {"description": f"No {status}", "content": {"application/json": {"schema": {"allOf": [of_all, of_one]}}}}


ANYTHING = {"200": {"description": "Its state", "content": {"application/json": {"schema": {}}}}}


@pytest.mark.parametrize(
    ("paths", "members", "said", "unsaid"),
    [
        pytest.param(
            {"/a": {"post": operation("x", requestBody=body({"$ref": "#/components/schemas/Ships"}))}},
            {"components": {"schemas": {"Page": PAGE, "Ships": SHIPS}}},
            "`items` (array of any)",
            "No value is allowed",
            id="an item of a generic list is not known",
        ),
        pytest.param(
            {"/a": {"post": operation("x", requestBody=body(TWICE))}},
            {"openapi": "3.0.3", "components": {"schemas": {"Maybe": MAYBE}}},
            "`kind` (string or null)",
            "null or null",
            id="null is named once",
        ),
        pytest.param(
            {"/a": {"parameters": [HEADER], "get": operation("x", parameters=[{**HEADER, "name": "x-id"}])}},
            {},
            "`x-id`",
            "`X-Id`",
            id="a header has no case when an operation overrides it",
        ),
        pytest.param(
            {"/a": {"post": {**operation("x"), "responses": LINKED}}}, {}, "Next: [x]", "gone",
            id="a link to an operation that is not there is left out",
        ),
        pytest.param(
            {"/a": {"get": {**operation("x"), "responses": ANYTHING}}}, {}, "Returns (200): Its state", "Returns any",
            id="a result of any type has no type",
        ),
        pytest.param(
            {"/客户/{id}": {"get": operation()}}, {}, "get_客户_id", "get_id",
            id="a name of a path keeps letters of any script",
        ),
        pytest.param(
            {"/a": {"post": operation("x", requestBody=body(
                {"type": "object", "properties": {"meta": {"type": "object"}}}, "multipart/form-data", encoding=PARTS
            ))}}, {},
            "Its media type: `application/json`.\n  - headers of its part:\n"
            "    - `X-Id` (integer, required): Of the part",
            "curl",
            id="the headers of a part are described like parameters",
        ),
        pytest.param(
            {"/a": {"post": operation("x", requestBody=body(
                {"type": "array", "prefixItems": [{"type": "object"}], "items": {"type": "string"}}, "multipart/mixed",
                prefixEncoding=[{"contentType": "application/json", "headers": {"X-Id": PART}}],
                itemEncoding={"contentType": "text/csv"},
            ))}}, {"openapi": "3.2.0"},
            "  - headers of each part:\n    - `X-Id` (integer, required): Of the part\n"
            "  - item 1: Holds `application/json`.\n  - each other item: Holds `text/csv`.",
            "null",
            id="the parts of a body are described by their position",
        ),
        pytest.param(
            {"/a": {"post": operation("x", externalDocs={"url": "https://127.0.0.1/x", "description": "More"})}}, {},
            "Documentation: `https://127.0.0.1/x`", "More",
            id="an operation has a link to its documentation",
        ),
        pytest.param(
            {"/a": {"post": operation("x", requestBody=body({"type": "object", "properties": CLOSED}))}}, {},
            "- `none` (empty object)\n- `matched` (object): No other properties.\n"
            "  - properties that match `^x-` (string)",
            "`none` (object)",
            id="a closed object without names says that it takes no others",
        ),
        pytest.param(
            {"/a": {"post": operation("x", requestBody=body(WEBHOOK))}}, {},
            "This is always `true`.\n", "Always `true`",
            id="a constant that the text states is stated once",
        ),
        pytest.param(
            {"/a": {"get": {**operation("x"), "responses": {str(code): refused(code) for code in (400, 404)}}}}, {},
            "An error's body:\n\n- `why` (string)\n- `status` (number): One of `400`, `404`.", "Always `40",
            id="errors whose bodies differ in their status share one",
        ),
    ],
)  # fmt: skip
def test_documents_say_what_the_description_means(paths: Json, members: Json, said: str, unsaid: str) -> None:
    text = text_of(paths, **members)
    assert said in text
    assert unsaid not in text


def test_the_list_has_what_is_required_but_not_declared(tmp_path: Path) -> None:
    """Also of a body that is the only argument; and says once that a tool is deprecated."""
    sent = body({"type": "object", "properties": {"hook": WEBHOOK}, "required": ["hook"]})
    data = description({
        "/a": {"put": operation("x", requestBody=body(WEBHOOK))},
        "/b": {"put": operation("y", requestBody=sent)},
        "/c": {"get": {**operation("z"), "deprecated": True, "summary": "[Deprecated] Get it"}},
    })  # fmt: skip
    generated("from-openapi", write(tmp_path / "api.json", data), "--out", tmp_path / "out", "--emit", "skill")
    lines = next((tmp_path / "out").rglob("SKILL.md")).read_text(encoding="utf-8")
    assert "`place*, team*, on: bool`" in lines
    assert "`hook*: {place*, team*, on: bool}`" in lines
    assert "`GET /c` [read] — [Deprecated] Get it" in lines


def test_a_part_with_a_style_is_sent_as_documented(tmp_path: Path) -> None:
    encoding = {"weights": {"style": "form", "explode": False}, "marks": {"style": "form", "explode": True}}
    numbers = {"type": "array", "items": {"type": "integer"}}
    form = body(
        {"type": "object", "properties": dict.fromkeys(encoding, numbers)}, "multipart/form-data", encoding=encoding
    )
    file = write(tmp_path / "api.json", description({"/a": {"post": operation("x", requestBody=form)}}))
    run = generated("call", file, "x", '{"weights": [1, 2], "marks": [3, 4]}', "--dry-run")
    assert re.findall(r"\n\n([\d,]+)\n--", run.stdout) == ["1,2", "3", "4"]


def test_a_header_in_another_case_is_the_same(tmp_path: Path) -> None:
    files: list[Path] = []
    for name in ("X-Id", "x-id"):
        data = description({"/a": {"get": operation("x", parameters=[{**HEADER, "name": name}])}})
        files.append(tmp_path / f"{len(files)}.json")
        files[-1].write_text(json.dumps(data), encoding="utf-8")
    assert "nothing changed for callers" in generated("diff", *files).stderr


SERVER = """
import json, sys
tool = {"name": "list_lamps", "description": "Lists lamps.", "inputSchema": {"type": "object", "properties": {}}}
why = {"isError": True, "content": [{"type": "text", "text": "the room is unknown"}], "structuredContent": {"code": 4}}
ask = {"name": "ask", "arguments": [{"name": "room", "required": True}, {"name": "room"}]}
offers = {"capabilities": {"tools": {}, "prompts": {}}, "serverInfo": {"name": "lamps", "version": "1"}}
info = {"protocolVersion": "2025-06-18", **offers}
answers = {"initialize": info, "tools/list": {"tools": [tool]}, "tools/call": why, "prompts/list": {"prompts": [ask]}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        known = message.get("method") in answers
        answer = {"result": answers[message["method"]]} if known else {"error": {"code": -32601, "message": "no"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""


def test_the_text_of_an_error_with_structured_content_is_shown(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    run = run_skillgen("call", "list_lamps", "--", sys.executable, "server.py", cwd=tmp_path)
    assert run.exit_code == 1
    assert "the room is unknown" in run.stderr
    assert '"code": 4' in run.stderr


def test_an_argument_of_a_prompt_is_listed_once(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    run = generated("from-server", "-v", "--out", "out", "--", sys.executable, "server.py", cwd=tmp_path)
    assert "name-duplicate" in run.stderr
    assert next((tmp_path / "out").rglob("SKILL.md")).read_text(encoding="utf-8").count("`room` (string") == 1


PROGRAM = """
import argparse
import click

@click.command()
@click.option("--old", deprecated="use --new", help="The old one.")
@click.option("--older", deprecated="Use --new.", help="The older one.")
@click.option("--color", is_flag=False, flag_value="always", default="never")
@click.option("--mark", is_flag=False, flag_value="a`b")
@click.option("--none", is_flag=False, flag_value="", help="Nothing.")
@click.option("--key", is_flag=False, flag_value="not-shown", hide_input=True, help="A key.")
def cli(**values):
    "Paint a house."

parser = argparse.ArgumentParser(prog="paint", description="Paint a house.")
parser.add_argument("--few", nargs="+")
parser.add_argument("--level", nargs="?", const="high", default="low")
parser.add_argument("--on", nargs="?", const=True)
"""


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (
            "cli",
            [
                "The old one. Deprecated: use --new.",
                "Deprecated: Use --new.\n",
                "Without a value: `always`. Default: `never`.",
                r'Without a value: `"a\u0060b"`.',
                'Without a value: `""`.',
            ],
        ),
        (
            "parser",
            [
                "[--few FEW...]",
                "At least 1 item.",
                "Without a value: `high`. Default: `low`.",
                "Without a value: `true`.",
            ],
        ),
    ],
)
def test_a_program_is_documented_as_its_help_says(target: str, said: list[str], tmp_path: Path) -> None:
    (tmp_path / "paint.py").write_text(PROGRAM, encoding="utf-8")
    generated("from-cli", f"paint:{target}", "--python", sys.executable, "--out", "out", cwd=tmp_path)
    text = next((tmp_path / "out").rglob("SKILL.md")).read_text(encoding="utf-8")
    assert [item for item in said if item not in text] == []
    assert "not-shown" not in text
