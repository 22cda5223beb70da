"""`skillgen mock`: what was declared is served unchanged, each call is checked, answered and logged."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from api_examples import LIBRARY as API
from cli import ROOT, environment, files_of, generated, run_skillgen
from descriptions import description, operation, write
from listed import command, tool
from rows import inputs

TESTS = Path(__file__).parent
Json = Any

WEATHER: dict[str, Any] = inputs("mock")["weather"]
SERVER: Json = {
    "server": {
        "instructions": "Names of cities are in English.",
        "dashdash": {"specVersion": "0.2.0", "identity": {"name": "weather", "description": "Weather."}},
        "capabilities": {"tools": {"listChanged": True}, "resources": {}, "prompts": {}, "experimental": {"x": {}}},
        "inventedMember": 1.5,
    },
    "tools": [WEATHER, tool("ping_all", annotations={"destructiveHint": False})],
    "resources": [{"uri": "weather://stations", "name": "stations", "mimeType": "application/json", "rank": 3}],
    "prompts": [{"name": "plan", "arguments": [{"name": "city", "required": True}]}],
    "ai_help": {"content": "# Weather\n\n## Overview\n\nIt knows the weather.", "contentType": "text/markdown"},
}
MODERN = {
    "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
}


def opening(version: str = "2025-06-18") -> Json:
    """Returns the first request of a session."""
    info = {"name": "test", "version": "1"}
    return request("initialize", protocolVersion=version, capabilities={}, clientInfo=info)


def request(method: str, **params: Json) -> Json:
    """Returns a request."""
    return {"jsonrpc": "2.0", "id": method, "method": method, "params": params}


def call(name: str, **arguments: Json) -> Json:
    """Returns a call of a tool."""
    return request("tools/call", name=name, arguments=arguments)


def answers(folder: Path, *messages: Json, options: tuple[str, ...] = ()) -> list[Json]:
    """Returns the responses of a mock of the server to messages on its standard input, in their order."""
    text = "".join(json.dumps(message) + "\n" if not isinstance(message, str) else message for message in messages)
    finished = run_skillgen("mock", *options, "--", *command(folder, **SERVER), stdin=text, cwd=TESTS)
    assert (finished.exit_code, finished.stderr) == (0, "")
    return [json.loads(line) for line in finished.stdout.splitlines()]


def result(response: Json) -> Json:
    """Returns the result of a response."""
    assert "error" not in response, response
    return response["result"]


def test_both_eras_serve_what_was_declared_unchanged(tmp_path: Path) -> None:
    legacy, tools, help_text, discovered, modern_tools, other = map(
        result,
        answers(
            tmp_path,
            opening(),
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            request("tools/list"),
            request("ai_help", format="markdown"),
            request("server/discover", **MODERN),
            request("tools/list", **MODERN),
            request("resources/list"),
        ),
    )
    declared = {"serverInfo": {"name": "listed", "version": "1.0.0"}, **SERVER["server"]}
    assert legacy == {"protocolVersion": "2025-06-18", **declared}
    assert tools == {"tools": SERVER["tools"]}
    assert json.dumps(tools["tools"]) == json.dumps(SERVER["tools"]), "also the order of members"
    assert help_text == SERVER["ai_help"]
    assert discovered["_meta"] == {"io.modelcontextprotocol/serverInfo": declared.pop("serverInfo")}
    assert discovered.items() >= declared.items()
    assert discovered["supportedVersions"][0] == "2026-07-28"
    assert modern_tools == {"resultType": "complete", "ttlMs": 0, "cacheScope": "public", "tools": SERVER["tools"]}
    assert other == {"resources": SERVER["resources"]}


def test_calls_are_checked_answered_and_logged(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    good, bad, unknown, silent = answers(
        tmp_path,
        call("get_weather", city="Rome"),
        call("get_weather", days=9, town="Rome"),
        call("get_whether", city="Rome"),
        call("ping_all"),
        options=("--log", str(log)),
    )
    structured = result(good)["structuredContent"]
    assert structured == {"celsius": 1, "words": "sunny"}
    assert json.loads(result(good)["content"][0]["text"]) == structured
    assert result(bad)["isError"]
    assert unknown["error"]["code"] == -32602
    assert "no result" in result(silent)["content"][0]["text"]
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert [(line["tool"], line["valid"], line["status"]) for line in lines] == [
        ("get_weather", True, "ok"),
        ("get_weather", False, "invalid"),
        (None, False, "unknown-tool"),
        ("ping_all", True, "ok"),
    ]
    assert {fault["pointer"] for fault in lines[1]["faults"]} == {"/city", "/days", "/town"}
    assert all(fault["pointer"] in result(bad)["content"][0]["text"] for fault in lines[1]["faults"])


def test_what_is_not_a_valid_request_is_an_error(tmp_path: Path) -> None:
    responses = answers(
        tmp_path,
        "{no json\n",
        "[]\n",
        {"id": 1, "method": "ping"},
        request("tools/fetch"),
        request("tools/call", name=7),
        request("tools/list", cursor="other"),
        request("resources/read", uri="weather://nowhere"),
        request("prompts/get", name="plan"),
        request("tools/list", _meta={"io.modelcontextprotocol/protocolVersion": "2031-01-01"}),
    )
    codes = [response["error"]["code"] for response in responses]
    assert codes == [-32700, -32600, -32600, -32601, -32602, -32602, -32002, -32602, -32022]
    read, prompt = answers(
        tmp_path,
        request("resources/read", uri="weather://stations"),
        request("prompts/get", name="plan", arguments={"city": "Rome"}),
    )
    assert json.loads(result(read)["contents"][0]["text"]) == "stations"
    assert "Rome" in result(prompt)["messages"][0]["content"]["text"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "original", [("-m", "servers.extended", "progressive"), (str(ROOT / "examples" / "acme-mcp" / "server.py"),)]
)
def test_documents_of_a_mock_are_those_of_the_server(original: tuple[str, ...], tmp_path: Path) -> None:
    found: list[dict[str, bytes]] = []
    server = tmp_path / "server"
    for start in (
        (sys.executable, *original),
        (sys.executable, "-m", "skillgen", "mock", "--", sys.executable, *original),
    ):
        server.write_text(f"#!/bin/sh\nexec {subprocess.list2cmdline(start)}\n", "utf-8")
        server.chmod(0o755)
        out = tmp_path / f"out-{len(found)}"
        path = {"PYTHONPATH": os.pathsep.join((str(TESTS), str(ROOT)))}
        generated("from-server", "-o", out, "--", server, cwd=tmp_path, env=path)
        found.append(files_of(out))
    assert found[0] == found[1]


def test_a_snapshot_serves_the_same_tools(tmp_path: Path) -> None:
    snapshot = tmp_path / "snapshot.json"
    inspected = generated("inspect", "--", *command(tmp_path, **SERVER), cwd=TESTS)
    snapshot.write_text(inspected.stdout, "utf-8")
    text = json.dumps(opening()) + "\n" + json.dumps(request("tools/list")) + "\n"
    first, second = map(json.loads, generated("mock", snapshot, stdin=text).stdout.splitlines())
    assert first["result"]["instructions"] == SERVER["server"]["instructions"]
    assert second["result"]["tools"] == SERVER["tools"]


# -- over HTTP ---------------------------------------------------------------------------------------------------------


@contextmanager
def serving(*arguments: object, cwd: Path = TESTS) -> Iterator[str]:
    """Runs a mock over HTTP, yields its URL, and expects that it ends well on a signal."""
    process = subprocess.Popen(
        [sys.executable, "-m", "skillgen", "mock", *map(str, arguments)],
        cwd=cwd,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+[^;\s]*", process.stderr.readline())
        assert address is not None
        yield address[0]
        process.send_signal(signal.SIGTERM)
        assert (process.stderr.read(), process.wait()) == ("", 0)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_the_sdks_client_calls_a_mock_in_both_eras(tmp_path: Path) -> None:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    start = command(tmp_path, **SERVER)
    arguments = ["-m", "skillgen", "mock", "--", *start]
    stdio = StdioServerParameters(command=sys.executable, args=arguments, cwd=TESTS, env=environment())

    async def used(target: Any, mode: Any) -> Json:
        async with Client(target, mode=mode) as client:
            listed = await client.list_tools()
            called = await client.call_tool("get_weather", {"city": "Rome"})
            refused = await client.call_tool("get_weather", {})
            return [item.name for item in listed.tools], called.structured_content, refused.is_error

    expected = (["get_weather", "ping_all"], {"celsius": 1, "words": "sunny"}, True)
    assert asyncio.run(used(stdio_client(stdio), "auto")) == expected
    with serving("--http", "0", "--", *start) as url:
        for mode in ("legacy", "2026-07-28"):
            assert asyncio.run(used(url, mode)) == expected


def test_streamable_http_refuses_what_servers_refuse(tmp_path: Path) -> None:
    accepted = {"Accept": "application/json, text/event-stream"}
    modern = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
    with serving("--http", "0", "--", *command(tmp_path, **SERVER)) as url, httpx2.Client(headers=accepted) as client:
        opened = client.post(url, json=opening())
        session = {"Mcp-Session-Id": opened.headers["Mcp-Session-Id"]}
        statuses = {
            "without a session": client.post(url, json=request("tools/list")),
            "another session": client.post(url, json=request("tools/list"), headers={"Mcp-Session-Id": "x"}),
            "from a page": client.post(url, json=opening(), headers={"Origin": "https://evil.example"}),
            "another host": client.post(url, json=opening(), headers={"Host": "evil.example"}),
            "not JSON": client.post(url, content="hi", headers={"Content-Type": "text/plain"}),
            "accepts no events": client.post(url, json=opening(), headers={"Accept": "application/json"}),
            "a stream": client.get(url),
            "other headers": client.post(url, json=request("ping", **MODERN), headers=modern),
            "a notification": client.post(url, json={"jsonrpc": "2.0", "method": "x"}, headers=session),
            "in the session": client.post(url, json=request("tools/list"), headers=session),
            "stateless": client.post(url, json=request("tools/list", **MODERN), headers=modern),
            "the end": client.delete(url, headers=session),
            "after the end": client.post(url, json=request("tools/list"), headers=session),
        }
    assert [response.status_code for response in statuses.values()] == [
        400, 404, 403, 403, 415, 406, 405, 400, 202, 200, 200, 200, 404,
    ]  # fmt: skip


def raw_response(url: str, lines: str) -> bytes:
    """Sends these lines as a request, and returns the response."""
    with socket.create_connection(("127.0.0.1", urlsplit(url).port or 0), 60) as connection:
        connection.sendall(lines.replace("\n", "\r\n").encode())
        with connection.makefile("rb") as response:
            return response.read()


def test_an_api_answers_no_page_of_another_site(tmp_path: Path) -> None:
    """A page can have its own name resolved to the loopback interface."""
    source = write(tmp_path / "api.json", API)
    with serving(source) as url, httpx2.Client() as client:
        for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
            assert client.get(f"{url}/books", headers=headers).status_code == 403, headers
        assert client.get(f"{url}/books", headers={"Origin": "http://localhost:3000"}).status_code != 403


def test_a_description_adds_no_line_to_a_response(tmp_path: Path) -> None:
    text = {"schema": {"type": "string"}}
    names = ("X-A\r\nSet-Cookie", "X-B\n", "X C", "X-D:", "X-É", "")
    headers = {**dict.fromkeys(names, text), "X-Good": text}
    content: Json = {"application/json\r\nX-Evil: 1": {"schema": {}}}
    operation = {"responses": {"200": {"description": "x", "headers": headers, "content": content}}}
    info = {"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "servers": [{"url": "https://a.example.com"}]}
    source = write(tmp_path / "api.json", {**info, "paths": {"/g": {"get": operation}}})
    with serving(source) as url:
        head = raw_response(url, "GET /g HTTP/1.1\nHost: localhost\nConnection: close\n\n").partition(b"\r\n\r\n")[0]
    found = {line.partition(b":")[0].lower() for line in head.split(b"\r\n")[1:]}
    assert found - {b"connection", b"date", b"content-length", b"content-type"} == {b"x-good"}


def test_operations_that_only_the_query_of_a_path_distinguishes(tmp_path: Path) -> None:
    """Also in the manifest of the REST edition, which has one operation for each path and method."""
    operations = {f"/find?{name}={{{name}}}": {"get": {"operationId": f"by_{name}", "responses": {}}} for name in "ab"}
    api = {"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": operations}
    source = write(tmp_path / "api.json", api)
    generated("from-openapi", source, "-o", tmp_path / "out", "--emit", "well-known", "--publish", "domain=x.example")
    with serving(source, "--log", log := tmp_path / "log") as url:
        for described in (source, *tmp_path.glob("out/**/mcp.yaml")):
            for name in "ab":
                generated("call", described, f"by_{name}", f"{name}=7", "--base-url", url)
    assert [json.loads(line)["tool"] for line in log.read_text("utf-8").splitlines()] == ["by_a", "by_b"] * 2


def test_headers_that_clients_add_are_no_arguments(tmp_path: Path) -> None:
    """Conjur declares `Accept-Encoding: base64`; clients send another one on their own."""
    parameter = {"name": "accept-encoding", "in": "header", "schema": {"type": "string", "enum": ["base64"]}}
    source = write(tmp_path / "api.json", description({"/tasks": {"get": operation("list", parameters=[parameter])}}))
    log = tmp_path / "calls.jsonl"
    with serving(source, "--log", log) as url:
        generated("call", source, "list", "--base-url", url)
        generated("call", source, "list", "accept-encoding=base64", "--base-url", url)
    calls = [json.loads(line)["arguments"] for line in log.read_text("utf-8").splitlines()]
    assert calls == [{}, {"accept-encoding": "base64"}]


def test_a_body_is_read_within_bounds(tmp_path: Path) -> None:
    def chunks(size: int) -> Iterator[bytes]:
        yield from (b" " * 65_536 for _ in range(size // 65_536))
        yield json.dumps(opening()).encode()

    headers = {"Content-Type": "application/json", "Accept": "*/*"}
    with serving("--http", "0", "--", *command(tmp_path, **SERVER)) as url:
        for size, status in ((2**20, 200), (2**24, 413)):
            assert httpx2.post(url, content=chunks(size), headers=headers).status_code == status


def test_an_api_is_served_as_its_description_says(tmp_path: Path) -> None:
    source, log = write(tmp_path / "api.json", API), tmp_path / "calls.jsonl"
    login = {"Authorization": "Bearer x"}
    with serving(source, "--log", log) as url, httpx2.Client() as client:
        assert url.endswith("/v2")
        found = client.get(f"{url}/books?tags=a,b&filter[year]=1815&limit=5", headers={"X-Trace": "true"})
        assert (found.status_code, found.json()) == (200, [{"title": "Emma", "year": 1815}])
        assert found.headers["X-Total"] == "12"
        xml = client.get(f"{url}/books", headers={"Accept": "application/xml"})
        assert (xml.headers["Content-Type"], xml.text) == ("application/xml", "<result/>")
        added = client.post(f"{url}/books?key=secret", json={"title": "Emma"})
        assert added.json() == {"title": "Emma", "year": 1, "tags": ["tag"]}
        invalid = client.post(f"{url}/books", json={"title": 1, "year": "x"}, headers=login)
        assert invalid.headers["Content-Type"] == "application/problem+json"
        assert "/body/title" in invalid.json()["error"]["message"]
        responses = [
            added,
            client.post(f"{url}/books", data={"title": "Emma", "year": "1815"}, headers=login),
            invalid,
            client.post(f"{url}/books", json={"title": "Emma"}),
            client.post(f"{url}/books", content="<a/>", headers={**login, "Content-Type": "text/xml"}),
            client.post(f"{url}/books", content="{", headers={**login, "Content-Type": "application/json"}),
            client.post(f"{url}/books", headers=login),
            client.get(f"{url}/books?tags=a,c&filter[month]=1&limit=x"),
            client.get(f"{url}/books", headers={"Accept": "text/csv"}),
            client.delete(f"{url}/books/7", headers=login),
            client.delete(f"{url}/books/seven", headers=login),
            client.get(f"{url}/books/newest"),
            client.get(f"{url}/shelves/hall/left/label"),
            client.patch(f"{url}/books"),
            client.get(url.removesuffix("/v2") + "/books"),
        ]
    assert [item.status_code for item in responses] == [
        201, 201, 422, 401, 415, 422, 422, 400, 406, 204, 400, 200, 200, 405, 404,
    ]  # fmt: skip
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert lines[0]["arguments"] == {"tags": ["a", "b"], "filter": {"year": 1815}, "limit": 5, "X-Trace": True}
    assert "secret" not in log.read_text("utf-8")
    by_status = {(line["tool"], line["status"]): [fault["pointer"] for fault in line["faults"]] for line in lines}
    assert by_status["findBooks", 400] == ["/tags/1", "/filter/month", "/limit"]
    assert by_status["removeBook", 400] == ["/id"]
    assert by_status["removeBook", 204] == []
    assert [line["arguments"] for line in lines if line["tool"] == "labelOfShelf"] == [{"place": "hall/left"}]


STRICT: dict[str, Any] = inputs("mock")["strict"]


def test_an_api_is_as_strict_as_a_server_with_types(tmp_path: Path) -> None:
    source, log = write(tmp_path / "api.json", STRICT), tmp_path / "calls.jsonl"
    found: list[int] = []
    with serving(source, "--log", log) as url, httpx2.Client() as client:
        content = client.post(f"{url}/pets", content="<pet/>", headers={"Content-Type": "application/xml"})
        found.append(content.status_code)
        for fields, files in (({"pages": "3"}, {"scan": b"PNG"}), ({"pages": "4"}, {"scan": b"PNG"}), ({}, {"s": b""})):
            found.append(client.post(f"{url}/scans", data=fields, files=files).status_code)
        for query in ("names=a%2Cb,c&page=7&since=2020-01-01T00:00:00Z", "page=9999999999", "since=monday", "nmes=a"):
            found.append(client.get(f"{url}/pets?{query}").status_code)
        for method, path in (("GET", "/pets/newest"), ("DELETE", "/pets/newest"), ("DELETE", "/pets/oldest")):
            found.append(client.request(method, f"{url}{path}").status_code)
    assert found == [201, 201, 400, 400, 200, 400, 400, 400, 400, 405, 204]
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert lines[4]["arguments"]["names"] == ["a,b", "c"]
    assert lines[7]["faults"] == [{"pointer": "/nmes", "message": "is not a parameter; did you mean names?"}]
    assert [line["tool"] for line in lines[8:]] == ["newestPet", None, "deletePet"]


def test_an_api_reads_a_text_in_its_type_also_where_its_url_is_a_variable(tmp_path: Path) -> None:
    kinds = ("boolean", "integer", "string", "array")
    contents = {kind: {"text/plain": {"schema": {"type": kind}}} for kind in kinds}
    paths = {f"/{kind}": {"put": {"requestBody": {"content": contents[kind]}, "responses": {}}} for kind in kinds}
    api = {"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "servers": [{"url": "{site}"}], "paths": paths}
    source = write(tmp_path / "api.json", api)
    found = []
    with serving(source, "--log", log := tmp_path / "log") as url, httpx2.Client() as client:
        for kind, text in zip(kinds * 2, ("true", "5", "true", "[1]", "5", "5.5", "5", "x"), strict=True):
            sent = client.put(f"{url}/{kind}", content=text, headers={"Content-Type": "text/plain"})
            found.append(sent.status_code)
    assert found == [200, 200, 200, 200, 400, 400, 200, 400]
    bodies = [json.loads(line)["arguments"]["body"] for line in log.read_text("utf-8").splitlines()]
    assert bodies[:4] == [True, 5, "true", [1]]


def test_an_api_reads_lists_in_brackets(tmp_path: Path) -> None:
    """What `call` sends of lists in the style `deepObject`."""
    item = {"type": "object", "properties": {"price": {"type": "string"}, "many": {"type": "integer"}}}
    properties = {
        "expand": {"type": "array", "items": {"type": "string"}},
        "items": {"type": "array", "items": {**item, "required": ["price"]}},
    }
    form = {
        "schema": {"type": "object", "properties": properties},
        "encoding": {name: {"style": "deepObject", "explode": True} for name in properties},
    }
    entry = {"requestBody": {"content": {"application/x-www-form-urlencoded": form}}, "responses": {"200": {}}}
    source, log = tmp_path / "api.json", tmp_path / "calls.jsonl"
    info = {"title": "Shop", "version": "1"}
    source.write_text(json.dumps({"openapi": "3.1.0", "info": info, "paths": {"/a": {"post": entry}}}), "utf-8")
    sent = "expand[]=a&expand[]=b&items[0][price]=p&items[0][many]=2&items[1][price]=q"
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    with serving(source, "--log", log) as url, httpx2.Client(headers=kind) as client:
        statuses = [client.post(f"{url}/a", content=text).status_code for text in (sent, "items[0][many]=2")]
    assert statuses == [200, 400]
    assert json.loads(log.read_text("utf-8").splitlines()[0])["arguments"]["body"] == {
        "expand": ["a", "b"],
        "items": [{"price": "p", "many": 2}, {"price": "q"}],
    }


def test_a_source_must_be_one_service_that_can_be_served(tmp_path: Path) -> None:
    cases: list[tuple[tuple[object, ...], str]] = [
        ((), "no source is given"),
        (("--http", "70000", "x.json"), "70000"),
        (("--cli", "x:y"), "--cli"),
    ]
    snapshot = tmp_path / "two.json"
    inspected = generated("inspect", "-", stdin=json.dumps(API))
    data = json.loads(inspected.stdout)
    snapshot.write_text(json.dumps({**data, "services": data["services"] * 2}), "utf-8")
    cases.append(((snapshot,), "the source has 2 services"))
    for arguments, words in cases:
        run_skillgen("mock", *arguments, stdin="").ended(2, words)
