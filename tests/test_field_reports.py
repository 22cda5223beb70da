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
from listed import TESTS, command, documented, tool
from rows import rows

import skillgen

Json = Any


def text_of(paths: Json, **members: Json) -> str:
    """Returns what the documents say of a description."""
    data = description(paths, **members)
    service = skillgen.read({key: value for key, value in data.items() if value != "(none)"})
    return skillgen.render_documents(service, emit="llms")["llms-full.txt"]


def body(schema: Json, media_type: str = "application/json", **members: Json) -> Json:
    return {"required": True, "content": {media_type: {"schema": schema, **members}}}


HEADER = {"name": "X-Id", "in": "header", "description": "Of the path", "schema": {"type": "string"}}
ONE = {"type": "integer", "enum": [1]}
WEBHOOK = {
    "type": "object",
    "properties": {"place": {"type": "string"}, "on": {"const": True, "description": "This is always `true`."}},
    "required": ["place", "team"],
}


@pytest.mark.parametrize("row", rows("field_reports"))
def test_documents_say_what_the_description_means(row: Json) -> None:
    text = text_of(row["paths"], **row.get("members", {}))
    assert row["said"] in text
    assert row["unsaid"] not in text


def test_the_list_has_what_is_required_but_not_declared(tmp_path: Path) -> None:
    """Also of a body that is the only argument; with constants; and says once that a tool is deprecated."""
    sent = body({"type": "object", "properties": {"hook": WEBHOOK}, "required": ["hook"]})
    data = description({
        "/a": {"put": operation("x", requestBody=body(WEBHOOK))},
        "/b": {"put": operation("y", requestBody=sent)},
        "/c": {"get": {**operation("z"), "deprecated": True, "summary": "[Deprecated] Get it"}},
        "/d": {"get": operation("d", parameters=[{"name": "list", "in": "query", "required": True, "schema": ONE}])},
    })  # fmt: skip
    generated("from-openapi", write(tmp_path / "api.json", data), "--out", tmp_path / "out", "--emit", "skill")
    lines = next((tmp_path / "out").rglob("SKILL.md")).read_text(encoding="utf-8")
    assert "`place*, team*, on: true`" in lines
    assert "`hook*: {place*, team*, on: true}`" in lines
    assert "`GET /d` (`list*: 1`)" in lines
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


def test_a_header_that_a_part_needs_now_is_breaking(tmp_path: Path) -> None:
    files: list[Path] = []
    for is_required in (False, True):
        part = {"required": is_required, "schema": {"type": "integer"}}
        form = {"type": "object", "properties": {"meta": {"type": "object"}}}
        sent = body(form, "multipart/form-data", encoding={"meta": {"headers": {"X-Id": part}}})
        files.append(
            write(tmp_path / f"{len(files)}.json", description({"/a": {"post": operation("x", requestBody=sent)}}))
        )
    assert "breaking: `x: parameter header meta.X-Id" in generated("diff", *files).stdout


LISTED = """
import json, sys
query = {"type": "object", "properties": {"limit": {"type": "integer", "default": 20}}}
model = {"$defs": {"Q": query}, "type": "object", "properties": {"of": {"$ref": "#/$defs/Q"}}, "required": ["of"]}
lost = {"type": "object", "properties": {"id": {"$ref": "#/$defs/Lost"}}}
tools = [("list.all", model), ("none", None), ("Find all", {"type": "object"}), ("git/log", lost), ("灯", model)]
about = {"description": "查询灯。".encode("gbk").decode("latin-1"), "annotations": None, "title": None}
offers = {"capabilities": {"tools": {}}, "serverInfo": {"name": "lamps", "version": "1"}}
info = {"protocolVersion": "2025-06-18", **offers}
listed = {"tools": [{"name": name, "inputSchema": schema, **about} for name, schema in tools]}
answers = {"initialize": info, "tools/list": listed}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        known = message.get("method") in answers
        answer = {"result": answers[message["method"]]} if known else {"error": {"code": -32601, "message": "no"}}
        said = json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}, ensure_ascii=False)
        sys.stdout.buffer.write(said.replace("灯", "\\\\u706f").encode("latin-1") + b"\\n")
        sys.stdout.buffer.flush()
"""


def test_a_list_of_tools_that_clients_refuse_is_documented(tmp_path: Path) -> None:
    """Types in `$defs`, no schema, a type that is lost, names with spaces and slashes, and a text in GBK."""
    (tmp_path / "server.py").write_text(LISTED, encoding="utf-8")
    run = generated("from-server", "-v", "--out", "out", "--", sys.executable, "server.py", cwd=tmp_path)
    for said in ("A text of list.all is not UTF-8", "input-schema-missing", "'#/$defs/Lost' points to nothing"):
        assert said in run.stderr
    text = (tmp_path / "out" / "llms-full.txt").read_text(encoding="utf-8")
    assert text.count("- `of` (object, required)\n  - `limit` (integer): Default: `20`.") == 2
    for name in ("list.all", "none", "Find all", "git/log", "灯"):
        assert f"\n### {name}\n" in text


def test_the_text_of_an_error_with_structured_content_is_shown(tmp_path: Path) -> None:
    content = [{"type": "text", "text": "the room is unknown"}]
    why = {"isError": True, "content": content, "structuredContent": {"code": 4}}
    server = command(tmp_path, tools=[tool("list_lamps")], **{"tools/call": why})
    run_skillgen("call", "list_lamps", "--", *server, cwd=TESTS).ended(1, "the room is unknown", '"code": 4')


def test_an_argument_of_a_prompt_is_listed_once(tmp_path: Path) -> None:
    ask = {"name": "ask", "arguments": [{"name": "room", "required": True}, {"name": "room"}]}
    run, out = documented(tmp_path, "-v", tools=[tool("list_lamps")], prompts=[ask])
    assert "name-duplicate" in run.stderr
    assert next(out.rglob("SKILL.md")).read_text(encoding="utf-8").count("`room` (string") == 1


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
parser.add_argument("--bad", help="80% of the window")
parser.add_argument("--rate", help="Keep 80%% of %(default)s.", default=5)
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
                *("[--few FEW...]", "At least 1 item.", "Without a value: `high`. Default: `low`."),
                *("Without a value: `true`.", "80% of the window", "Keep 80% of 5."),
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
