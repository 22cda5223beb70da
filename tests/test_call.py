"""`skillgen call`: arguments checked, requests built, answers unwrapped, and what is refused."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from cli import ROOT, Finished, run_skillgen
from descriptions import write
from rows import inputs

TOOLS: list[Any] = inputs("call")["tools"]

DESCRIPTION: dict[str, Any] = inputs("call")["description"]
TOKEN = {"SKILL_NOTES_EXAMPLE___TOKEN": "sesame-7291"}


def token_for(url: str) -> dict[str, str]:
    """Returns the token of a service at a port of this machine."""
    return {f"SKILL_127_0_0_1___HTTP___{urlsplit(url).port}___TOKEN": "sesame-7291"}


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    """Returns the command of a server whose calls answer with structured content, text and an image."""
    image = base64.b64encode(b"\x89PNG").decode()
    content = [{"type": "text", "text": "{}"}, {"type": "image", "data": image, "mimeType": "image/png"}]
    return listed(tmp_path, {"content": content, "structuredContent": {"id": 7}})


def listed(folder: Path, result: Any) -> list[str]:
    path = write(folder / "server.json", {"server": {}, "tools": TOOLS, "tools/call": result})
    return ["--", sys.executable, "-m", "servers.listed", str(path)]


ASKING = """
import json, pathlib, sys

with pathlib.Path(__file__).with_suffix(".log").open("a") as log:
    log.write("started\\n")

def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        server = {"serverInfo": {"name": "asking", "version": "1"}, "capabilities": {"tools": {}}}
        say(id=message["id"], result={"protocolVersion": "2025-11-25", **server})
    elif message.get("method") == "tools/list":
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("ask", "grow")]
        say(id=message["id"], result={"tools": tools})
    elif message.get("method") == "tools/call" and message["params"]["name"] == "grow":
        say(id=message["id"], result={"content": [{"type": "text", "text": "x" * 34_000_000}]})
    elif message.get("method") == "tools/call":
        say(method="notifications/progress", params={"progressToken": 1, "progress": 1})
        answers = []
        for method in ("sampling/createMessage", "elicitation/create", "ping"):
            say(id=method, method=method, params={})
            answers.append(sorted(json.loads(sys.stdin.readline()).keys() & {"result", "error"}))
        say(id=message["id"], result={"content": [], "structuredContent": answers})
    elif "id" in message:
        say(id=message["id"], error={"code": -32601, "message": "no such method"})
"""
"""A server that asks its client for a model and a person in the middle of a call."""


def asking(folder: Path) -> list[str]:
    path = folder / "asking.py"
    path.write_text(ASKING, "utf-8")
    return ["--", sys.executable, str(path)]


def call(*words: object, **options: Any) -> Finished:
    return run_skillgen("call", *words, cwd=ROOT / "tests", **options)


@pytest.fixture
def description(tmp_path: Path) -> Path:
    return write(tmp_path / "notes.json", DESCRIPTION)


def sent(finished: Finished) -> dict[str, Any]:
    assert finished.exit_code == 0, finished.stderr
    found: dict[str, Any] = json.loads(finished.stdout)
    return found


def test_a_tool_is_called_and_its_result_unwrapped(server: list[str], tmp_path: Path) -> None:
    finished = call("add_note", "title=Tea", "--out", tmp_path, *server).ok()
    structured, _, saved = finished.stdout.rpartition("saved ")
    assert json.loads(structured) == {"id": 7}
    assert Path(saved.split(" (")[0]).read_bytes() == b"\x89PNG"


def test_every_fault_of_arguments_is_named_before_sending(server: list[str]) -> None:
    words = ["title=T", "stars=9", "tags:=[1]", 'place={"lat":"x"}', "kind=c", "sort=1"]
    finished = call("add_note", *words, *server).ended(2)
    assert finished.stdout == ""
    unknown = "/sort: is not a parameter; the parameters are kind"
    for fault in ("/title: ", "/stars: ", "/tags/0: ", "/place/lat: ", "/kind: ", unknown):
        assert fault in finished.stderr
    assert "/title: is required" in call("add_note", *server).stderr


def test_a_misspelt_argument_is_named_with_what_is_missing(tmp_path: Path) -> None:
    """Also where a tool allows others; what is not like a missing one may be such an argument."""
    schema = {"type": "object", "properties": {"zone": {}, "timezone": {}}, "required": ["timezone"]}
    answers = {"server": {}, "tools": [{"name": "get_time", "inputSchema": schema}], "tools/call": {"content": []}}
    (tmp_path / "server.json").write_text(json.dumps(answers), "utf-8")
    server = ["--", sys.executable, "-m", "servers.listed", str(tmp_path / "server.json")]
    said = call("get_time", "timezon=x", "other=1", "zone=2", *server).stderr
    assert ("/timezone: is required" in said, said.count("is not a parameter")) == (True, 1)
    assert "/timezon: is not a parameter; did you mean timezone" in said
    assert call("get_time", "timezone=x", "timezon=x", "other=1", *server).exit_code == 0


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (["title=12", "stars=3", "kind=3"], {"title": "12", "stars": 3, "kind": 3}),
        (["title=ab", "tags=x", "tags=y"], {"title": "ab", "tags": ["x", "y"]}),
        (["title=ab", "tags=x", 'place={"lat": 1.5}'], {"title": "ab", "tags": ["x"], "place": {"lat": 1.5}}),
        (['{"title": "a=b"}'], {"title": "a=b"}),
    ],
)
def test_arguments_have_the_types_of_the_schema(server: list[str], words: list[str], arguments: Any) -> None:
    finished = call("add_note", *words, "--dry-run", *server)
    assert json.loads(finished.stdout.partition("\n")[2])["params"] == {"name": "add_note", "arguments": arguments}


def test_a_result_that_cannot_be_written_is_no_bug(server: list[str], tmp_path: Path) -> None:
    call("add_note", "title=Tea", "--out", tmp_path / "missing", *server).ended(2, "an existing folder")


def test_what_deletes_or_is_unknown_is_not_called(server: list[str], tmp_path: Path) -> None:
    call("delete_note", *server).ended(2, "--yes")
    assert call("delete_note", "--yes", "--out", tmp_path, *server).exit_code == 0
    call("ad_note", *server).ended(2, "did you mean add_note or")


def test_an_error_of_a_tool_goes_to_standard_error(tmp_path: Path) -> None:
    result = {"content": [{"type": "text", "text": "no \x1b[31mpaper"}], "isError": True}
    finished = call("add_note", "title=Tea", *listed(tmp_path, result))
    assert (finished.exit_code, finished.stdout, finished.stderr) == (1, "", "no paper\n")


@pytest.mark.parametrize("content", [7, [3], [{"type": "image", "data": "x", "mimeType": 3}], [{"resource": 1}]])
def test_a_result_of_another_form_is_no_bug(tmp_path: Path, content: Any) -> None:
    call("add_note", "title=Tea", "--out", tmp_path, *listed(tmp_path, {"content": content})).ok()


def test_a_schema_of_many_alternatives_takes_little_time(tmp_path: Path) -> None:
    alternatives = [{"$ref": f"#/$defs/t{number}"} for number in range(60)]
    defs = {f"t{number}": {"anyOf": alternatives} for number in range(60)}
    schema = {"type": "object", "properties": {"a": {"anyOf": alternatives}}, "$defs": defs}
    path = tmp_path / "server.json"
    tools = [{"name": "find", "inputSchema": schema}]
    path.write_text(json.dumps({"server": {}, "tools": tools, "tools/call": {"content": []}}), "utf-8")
    assert call("find", "a=1", "--", sys.executable, "-m", "servers.listed", path).exit_code == 0


def test_an_operation_is_sent_as_its_description_says(description: Path, api: str, tmp_path: Path) -> None:
    def made(*words: object) -> dict[str, Any]:
        options = [description, "--base-url", f"{api}/v1"]
        return sent(call(*options, *words, env=token_for(api)))

    words = ["id=7", "fields=a", "fields=b c", 'filter={"x": {"y": 1}}', "X-Trace=t", "mood=so so"]
    request = made("getNote", *words)
    assert request["path"] == "/v1/notes/7?fields=a&fields=b%20c&filter%5Bx%5D%5By%5D=1"
    assert request["headers"]["X-Trace"] == "t"
    assert request["headers"]["Cookie"] == "mood=so%20so"
    assert request["headers"]["Authorization"] == "Bearer [hidden]"
    assert json.loads(made("putNote", "id=7", "text=hello")["body"]) == {"text": "hello"}
    assert json.loads(made("putNote", '{"id": 7, "body": {"text": "t", "more": [1]}}')["body"])["more"] == [1]
    assert made("sendForm", "a=b&c", "n=3")["body"] == "a=b%26c&n=3"
    (tmp_path / "scan.png").write_bytes(b"PNG")
    multipart = made("putNote", "id=7", f"body.scan@={tmp_path / 'scan.png'}")
    assert 'name="scan"; filename="scan.png"' in multipart["body"]
    assert multipart["headers"]["Content-Type"].startswith("multipart/form-data; boundary=")


def test_a_file_is_sent_as_text_where_its_bytes_cannot_be(description: Path, api: str, tmp_path: Path) -> None:
    (tmp_path / "note").write_text("a note", "utf-8")
    file = f"@={tmp_path / 'note'}"
    for words in (["getNote", "id=7", f"X-Trace{file}"], ["sendForm", f"a{file}"], ["putNote", "id=7", f"text{file}"]):
        request = sent(call(description, "--base-url", f"{api}/v1", *words, env=token_for(api)))
        assert "a note" in json.dumps(request).replace("a%20note", "a note"), words
    (tmp_path / "note").write_text("a\nb", "utf-8")
    call(description, "getNote", "id=7", f"X-Trace{file}", env=TOKEN).ended(2, "cannot have line breaks")


def test_faults_of_an_operation_are_named_by_place(description: Path) -> None:
    mark = 'mark:={"kind": "Stamp", "cents": 91}'
    finished = call(description, "putNote", "id=x", "txt=1", mark, env=TOKEN).ended(2)
    for fault in (
        '/id: "x" is not of type integer',
        "/txt: is not a parameter; did you mean text?",
        "/text: is required",
        "/mark/cents: 91 violates maximum: 90",
    ):
        assert fault in finished.stderr


def test_a_type_without_any_value_has_no_names(tmp_path: Path) -> None:
    ways = [{"$ref": "#/components/schemas/None"}, {"type": "object"}]
    mark = {"type": "object", "required": ["kind"], "oneOf": ways}
    body = {"content": {"application/json": {"schema": {"type": "object", "properties": {"mark": mark}}}}}
    paths = {"/notes": {"post": {"operationId": "addNote", "requestBody": body, "responses": {}}}}
    components = {"schemas": {"None": {"type": "integer", "allOf": [{"enum": []}, {"type": "object"}]}}}
    data = {**DESCRIPTION, "paths": paths, "components": components, "security": []}
    (path := tmp_path / "notes.json").write_text(json.dumps(data), "utf-8")
    call(path, "addNote", 'mark={"x": 1}').ended(2, "/mark/kind: is required")


def test_an_operation_whose_body_is_unknown_is_not_sent(tmp_path: Path) -> None:
    paths = {"/notes": {"post": {"operationId": "addNote", "requestBody": {"$ref": "#/gone"}, "responses": {}}}}
    (path := tmp_path / "notes.json").write_text(json.dumps({**DESCRIPTION, "paths": paths}), "utf-8")
    for words in ([], ["text=a"], ["body={}", "--dry-run"]):
        finished = call(path, "addNote", *words, env=TOKEN)
        assert (finished.exit_code, finished.stdout) == (2, "")
        assert "addNote: the description of its body could not be read, so nothing was sent" in finished.stderr


def test_credentials_come_from_the_documented_variables(description: Path) -> None:
    call(description, "getNote", "id=7").ended(2, "SKILL_NOTES_EXAMPLE___TOKEN")
    shown = call(description, "getNote", "id=7", "--dry-run", env=TOKEN)
    assert shown.stdout.splitlines()[:2] == [
        "GET https://notes.example/v1/notes/7",
        "Authorization: Bearer $SKILL_NOTES_EXAMPLE___TOKEN",
    ]


def test_no_redirect_takes_credentials_to_another_host(description: Path, api: str) -> None:
    options = [description, "--base-url", f"{api}/v1"]
    # The other host is private, and nobody named it.
    finished = call(*options, "getNote", "id=3", env=token_for(api)).ended(3, "private network")
    assert "sesame" not in finished.stderr


def test_an_error_of_an_api_has_its_status_and_advice(description: Path, api: str) -> None:
    finished = call(description, "--base-url", f"{api}/v1", "getNote", "id=4", env=token_for(api))
    assert (finished.exit_code, finished.stdout) == (1, "")
    assert finished.stderr.startswith("HTTP 429\n")
    assert "Retry-After: 17" in finished.stderr


def test_a_server_that_asks_during_a_call_is_refused(tmp_path: Path) -> None:
    finished = call("ask", "--yes", *asking(tmp_path))
    assert json.loads(finished.stdout) == [["error"], ["error"], ["result"]], finished.stderr
    assert (tmp_path / "asking.log").read_text("utf-8") == "started\n", "one connection reads and calls"


def test_a_tool_that_must_be_described_first_is_called() -> None:
    """Its server authorises it in the session in which its description was read."""
    server = [sys.executable, "-m", "servers.extended", "progressive"]
    finished = call("list_papers", "--", sys.executable, "-m", "skillgen", "mock", "--", *server)
    assert (finished.exit_code, finished.stdout[:18]) == (0, "The call is valid."), finished.stderr


def test_an_image_is_not_also_printed(tmp_path: Path) -> None:
    image = {"type": "image", "data": base64.b64encode(b"\x89PNG" * 99).decode(), "mimeType": "image/png"}
    server = listed(tmp_path, {"content": [image], "structuredContent": {"content": [image]}})
    finished = call("add_note", "title=Tea", "--out", tmp_path, *server)
    assert image["data"] not in finished.stdout
    found, _, saved = finished.stdout.rpartition("\nsaved ")
    assert json.loads(found)["content"][0]["data"] == f"saved {saved}".strip()


def test_a_source_or_a_tool_that_is_missing_is_named(description: Path, server: list[str]) -> None:
    for words, text in (
        ([], "no source is given"),
        (["getNote"], "no tool is given"),
        ([description], "no tool is given; the tools are "),
        ([description, "getNote", *server], "is not a tool"),
        (["--url", "http://127.0.0.1:9/", "getNote", *server], "several sources are given"),
        ([description, "getNote", "id"], "is not an argument"),
    ):
        call(*words).ended(2, text)
