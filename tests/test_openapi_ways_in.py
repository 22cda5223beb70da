"""Every way in: several files, a base URL, conditional requests, Overlays, and a choice of tools."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli import files_of, generated, run_skillgen
from conftest import Asked, Reply
from descriptions import description, operation, write

import skillgen

Json = Any
Read = tuple[Any, list[tuple[str, str]]]


def read(path: Path | str, **options: Json) -> Read:
    """Returns the service of a description, and code and place of what is wrong with it, advice left out."""
    service = skillgen.read(path, **options)
    return service, [(item.code, item.where) for item in service.problems if item.level != "info"]


# -- other files -----------------------------------------------------------------------------------------------------

PET = {"type": "object", "properties": {"name": {"type": "string"},
       "owner": {"$ref": "../api.json#/components/schemas/Owner"}, "friend": {"$ref": "#"},
       "tag": {"$ref": "common.yaml#/Tag"}}}  # fmt: skip


@pytest.fixture
def split(tmp_path: Path) -> Path:
    """Returns a description whose pieces stand in other files, which refer to one another and back."""
    folder = tmp_path / "api"
    (folder / "parts").mkdir(parents=True)
    write(folder / "parts" / "Pet.json", PET)
    (folder / "parts" / "common.yaml").write_text(
        "Tag: {type: string, enum: [a, b]}\n"
        "limit: {name: limit, in: query, schema: {type: integer}}\n"
        "missing: {description: No such pet}\n"
        "key: {type: apiKey, in: header, name: X-Key}\n"
        "item:\n  parameters: [{name: id, in: path, required: true, schema: {type: string}}]\n"
        "  get: {operationId: get_pet, summary: Gets it, responses: {'404': {$ref: '#/missing'}}}\n",
        "utf-8",
    )
    body = {"content": {"application/json": {"schema": {"$ref": "parts/Pet.json"}}}}
    paths = {
        "/pets": {"post": operation("add_pet", requestBody=body, parameters=[{"$ref": "./parts/common.yaml#/limit"}])},
        "/pets/{id}": {"$ref": "parts/common.yaml#/item"},
    }
    components = {
        "schemas": {"Owner": {"type": "object", "properties": {"pets": {"items": {"$ref": "parts/Pet.json"}}}}},
        "securitySchemes": {"key": {"$ref": "parts/common.yaml#/key"}},
    }
    return write(folder / "api.json", description(paths, components=components))


def test_pieces_in_other_files_are_read_and_pointers_name_the_file(split: Path) -> None:
    """S2-09: path items, parameters, responses, bodies, schemas and security schemes; circles are cut by a name."""
    service, problems = read(split)
    add, get = service.tools
    assert [(item.name, item.pointer) for item in add.parameters] == [
        ("limit", "parts/common.yaml#/limit"),
        ("name", "parts/Pet.json#/properties/name"),
        ("owner", "parts/Pet.json#/properties/owner"),
        ("friend", "parts/Pet.json#/properties/friend"),
        ("tag", "parts/Pet.json#/properties/tag"),
    ]
    assert get.pointer == "parts/common.yaml#/item/get"
    assert get.errors[0].description == "No such pet"
    assert {item.name for item in service.schemas} == {"Pet", "Owner", "Tag"}
    assert service.requirements.auth[0].pointer == "parts/common.yaml#/key"
    assert problems == []


def test_a_reference_is_followed_where_only_bundling_tools_follow_it(tmp_path: Path) -> None:
    """Published descriptions refer to operations, lists, texts, `info` and maps in other files."""
    (tmp_path / "parts").mkdir()
    operation_parts = {
        "operationId": "list_books", "summary": "List books", "description": {"$ref": "texts.json#/list"},
        "parameters": {"$ref": "lists.json#/paging"}, "responses": {"$ref": "maps.json#/answers"},
    }  # fmt: skip
    parts = {
        "info": {"title": "Shop", "version": "1", "description": {"$ref": "texts.json#/shop"}},
        "texts": {"shop": "Sells books.", "list": "Cheap ones first."},
        "lists": {
            "paging": [{"$ref": "maps.json#/limit"}],
            "circle": [{"$ref": "lists.json#/circle"}, {"$ref": "lists.json#/circle"}],
        },
        "maps": {
            "limit": {"name": "limit", "in": "query", "schema": {"type": "integer"}},
            "answers": {"200": {"description": "All", "content": {"$ref": "#/json"}}},
            "json": {"application/json": {"schema": {"$ref": "../api.json#/components/schemas/Book"}}},
            "schemas": {"Book": {"type": "object", "properties": {"$ref": "#/properties"}}},
            "properties": {"title": {"type": "string"}, "series": {"$ref": "#/schemas/Book"}},
        },
        "list_books": operation_parts,
        "paths": {
            "/books": {"get": {"$ref": "list_books.json"}},
            "/b": {"get": {"tags": {"$ref": "lists.json#/circle"}}},
        },
        "components": {"schemas": {"$ref": "maps.json#/schemas"}},
    }
    for name, part in parts.items():
        write(tmp_path / "parts" / f"{name}.json", part)
    names = ("info", "paths", "components")
    service, problems = read(
        write(tmp_path / "api.json", {"openapi": "3.1.0", **{name: {"$ref": f"parts/{name}.json"} for name in names}})
    )
    tool, circle = service.tools
    assert (service.title, service.description) == ("Shop", "Sells books.")
    assert (tool.name, tool.description, tool.pointer) == (
        "list_books", "Cheap ones first.", "parts/list_books.json#"
    )  # fmt: skip
    assert [(item.name, item.pointer) for item in tool.parameters] == [("limit", "parts/maps.json#/limit")]
    assert [[inner.name for inner in item.schema.properties] for item in service.schemas] == [[], ["title", "series"]]
    assert circle.name == "get_b"
    assert {code for code, _ in problems} <= {"base-url-missing", "operation-id-missing", "member-invalid"}


@pytest.mark.parametrize("reference", ["../secret.json#/a", "/etc/hostname", "nothing.json", "http://127.0.0.1:9/a.json",
                                       "file:///etc/hostname", "parts/../../secret.json",
                                       "http://[::1/a.json", "a" * 5000 + ".json", "a%00.json"])  # fmt: skip
def test_missing_and_forbidden_files_are_reported_the_rest_documented(split: Path, reference: str) -> None:
    """S2-09: nothing outside the folder, nothing remote; files below the folder need no option."""
    write(split.parent.parent / "secret.json", {"a": {"get": operation("secret")}})
    data = json.loads(split.read_text("utf-8"))
    data["paths"]["/x"] = {"$ref": reference}
    service, problems = read(write(split, data))
    assert [tool.name for tool in service.tools] == ["add_pet", "get_pet"]
    assert "document-not-read" in [code for code, _ in problems]
    assert ("reference-not-followed", "/paths/~1x") in problems
    assert str(split.parent.parent) not in json.dumps(problems)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_a_reference_to_something_that_is_not_a_regular_file_says_so(split: Path) -> None:
    """S2-09: a pipe would be waited for."""
    os.mkfifo(split.parent / "pipe.json")
    data = json.loads(split.read_text("utf-8"))
    data["paths"]["/x"] = {"$ref": "pipe.json"}
    finished = generated("from-openapi", write(split, data), "-o", split.parent / "out")
    assert "the description refers to this document, but it is not a regular file" in finished.stderr


def test_a_document_that_cannot_be_read_now_costs_no_good_documents(split: Path) -> None:
    """S2-09: exit 3, and nothing is written; what was never readable stops no run."""
    out = split.parent / "out"
    data = json.loads(split.read_text("utf-8"))
    data["paths"]["/x"] = {"$ref": "nothing.json"}
    generated("from-openapi", write(split, data), "-o", out)
    before = files_of(out)
    generated("from-openapi", split, "-o", out)
    for path in sorted(split.parent.rglob("*.json")):
        if path != split and out not in path.parents:
            path.rename(path.with_suffix(".away"))
    run_skillgen("from-openapi", split, "-o", out).ended(3, "lacks what its documents have")
    assert files_of(out) == before


def test_a_link_that_leads_outside_the_folder_is_not_followed(split: Path) -> None:
    outside = write(split.parent.parent / "secret.json", {"get": operation("secret")})
    (split.parent / "link.json").symlink_to(outside)
    data = json.loads(split.read_text("utf-8"))
    data["paths"]["/x"] = {"$ref": "link.json"}
    assert "secret" not in [tool.name for tool in read(write(split, data))[0].tools]


def test_files_outside_the_folder_are_read_where_the_user_allows_it(split: Path) -> None:
    """S2-09."""
    write(split.parent.parent / "more.json", {"get": operation("more")})
    data = json.loads(split.read_text("utf-8"))
    data["paths"]["/x"] = {"$ref": "../more.json"}
    service, problems = read(write(split, data), allow_outside_refs=True)
    assert (service.tools[2].name, problems) == ("more", [])


def test_swagger_2_in_several_files_points_into_each(tmp_path: Path) -> None:
    body = {"name": "it", "in": "body", "schema": {"$ref": "types.json#/Pet"}}
    pet = {"type": "object", "properties": {"name": {"type": "string", "x-nullable": True}}}
    write(tmp_path / "types.json", {"Pet": pet, "body": body})
    paths = {"/a": {"post": operation("x", parameters=[{"$ref": "types.json#/body"}])}}
    source = write(tmp_path / "api.json", {"swagger": "2.0", "info": {"title": "T"}, "paths": paths})
    (parameter,) = read(source)[0].tools[0].parameters
    assert (parameter.name, parameter.schema.nullable, parameter.pointer) == (
        "name",
        True,
        "types.json#/Pet/properties/name",
    )


# -- over HTTP -------------------------------------------------------------------------------------------------------


BODY = json.dumps(description()).encode()
ABSENT: tuple[int, dict[str, str], bytes] = (404, {}, b"no")


@pytest.mark.parametrize(("base", "places"), [
    ("", ["/.well-known/mcp.yaml", "/.well-known/mcp.json"]),
    ("/", ["/.well-known/mcp.yaml", "/.well-known/mcp.json"]),
    ("/v1", ["/v1", "/.well-known/mcp.yaml", "/.well-known/mcp.json"]),
])  # fmt: skip
def test_a_base_url_leads_to_the_description_that_is_published(
    answering: Callable[[Reply], tuple[str, Asked]], base: str, places: list[str]
) -> None:
    """S2-01, S2-02."""
    address, asked = answering(lambda path, _: (200, {}, BODY) if path.endswith("mcp.json") else ABSENT)
    assert read(address + base)[0].tools[0].name == "list_tasks"
    assert [path for path, _ in asked] == places
    assert asked[0][1]["accept"].startswith("application/yaml, application/json")


@pytest.mark.parametrize(("headers", "body", "is_reported"), [
    ({"Content-Type": "application/yaml"}, BODY, False),
    ({"Content-Type": "application/json; charset=utf-8"}, BODY, False),
    ({"Content-Type": "application/json"}, yaml.safe_dump(json.loads(BODY)).encode(), True),
    ({"Content-Type": "text/plain"}, BODY, True),
    ({}, BODY, True),
])  # fmt: skip
def test_a_manifest_with_another_media_type_is_reported(
    answering: Callable[[Reply], tuple[str, Asked]], headers: dict[str, str], body: bytes, is_reported: bool
) -> None:
    """S2-24 (seed 002, 3.1): also without one; any other description may have whatever media type."""
    address, _ = answering(lambda path, _: (200, headers, body))
    for place, is_manifest in (("/.well-known/mcp.yaml", True), ("/openapi.json", False)):
        codes = {problem.code for problem in skillgen.read(f"{address}{place}").problems}
        assert ("manifest-media-type" in codes) is (is_reported and is_manifest)


def astray(location: str) -> tuple[int, dict[str, str], bytes]:
    return 302, {"Location": location}, b""


@pytest.mark.parametrize("first", [
    (200, {"Content-Type": "text/html"}, b"<!doctype html><p>Welcome</p>"), (200, {}, b""), (200, {}, b"name: x"),
    (200, {}, b'{"serverInfo": {"name": "a"}}'), (500, {}, b""), (304, {}, b""),
    (200, {"Content-Encoding": "br"}, b"x"),
    astray("/.well-known/mcp.yaml"), astray("ftp://a.example/b"), astray("/login"),
])  # fmt: skip
def test_whatever_else_is_at_the_first_place_the_second_is_tried(
    answering: Callable[[Reply], tuple[str, Asked]], first: tuple[int, dict[str, str], bytes]
) -> None:
    """S2-01, S2-03."""
    places = {"/.well-known/mcp.yaml": first, "/.well-known/mcp.json": (200, {}, BODY), "/login": (200, {}, b"<p>")}
    address, _ = answering(lambda path, _: places.get(path, ABSENT))
    assert read(address)[0].tools[0].name == "list_tasks"


@pytest.mark.parametrize(("answers", "told"), [
    ({"mcp.yaml": (401, {}, b"")}, "401"), ({"mcp.json": (200, {}, b"<p>")}, "is HTML"),
    ({"mcp.yaml": (500, {}, b""), "mcp.json": (200, {}, b'{"error": 1}')}, "(its keys: error)"),
    ({"mcp.json": (200, {}, b"[]")}, "it is a list"), ({"mcp.yaml": (500, {}, b"")}, "500"), ({}, "404"),
])  # fmt: skip
def test_where_nothing_is_found_the_most_specific_answer_is_reported(
    answering: Callable[[Reply], tuple[str, Asked]], answers: dict[str, tuple[int, dict[str, str], bytes]], told: str
) -> None:
    """S2-01, S2-03."""
    address, _ = answering(lambda path, _: answers.get(path.removeprefix("/.well-known/"), ABSENT))
    with pytest.raises(skillgen.SourceError) as caught:
        read(address)
    assert told in caught.value.what
    assert "there is no description at /.well-known/mcp.yaml or /.well-known/mcp.json" in caught.value.what


@pytest.mark.parametrize("place", ["", "/api.json"])
@pytest.mark.parametrize(("status", "wait"), [
    (429, "3600"), (429, "Thu, 01 Jan 2099 00:00:30 GMT"), (429, None), (503, "x"),
])  # fmt: skip
def test_a_server_that_wants_to_be_left_alone_is_asked_nothing_else(
    answering: Callable[[Reply], tuple[str, Asked]], status: int, wait: str | None, place: str
) -> None:
    """S2-16: a wait that is too long or unknown is not waited for."""
    address, asked = answering(lambda *_: (status, {"Retry-After": wait} if wait else {}, b""))
    with pytest.raises(skillgen.SourceError) as caught:
        read(address + place)
    assert len(asked) == 1
    assert (str(status) in caught.value.what, "run it again later" in (caught.value.fix or "")) == (True, True)


def test_a_host_that_wants_a_credential_is_not_searched(answering: Callable[[Reply], tuple[str, Asked]]) -> None:
    """S2-03: where the places of a description and the base URL want one, other places would too."""
    address, asked = answering(lambda *_: (401, {}, b""))
    with pytest.raises(skillgen.SourceError) as caught:
        read(address)
    assert [path for path, _ in asked] == ["/.well-known/mcp.yaml", "/.well-known/mcp.json", "/"]
    assert "credential" in (caught.value.fix or "")


OTHERS = {
    "server card": {"name": "a.example/b", "version": "1", "remotes": [{"url": "https://b.example/mcp"}]},
    "SEP-1649": {"serverInfo": {"name": "a"}, "transport": {"url": "https://b.example/mcp"}},
    "SEP-1960": {"mcp_version": "2025-06-18", "endpoints": [{"url": "https://b.example/mcp"}]},
    "server.json": {"$schema": "https://s.example/2025-12-11/server.schema.json", "name": "a/b", "version": "1"},
    "catalog": {"specVersion": "1.0", "entries": []},
    "client's MCP configuration": {"mcpServers": {"a": {"command": "b"}}},
    "service manifest": {"manifest_version": "0.1.0", "server": {"name": "a"}, "tools": []},
    "Overlay": {"overlay": "1.0.0", "actions": []},
    "initialize result": {"result": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "a"}}},
    "dashdash metadata": {"specVersion": "0.2.0", "identity": {"name": "a"}, "accessLevel": "read"},
    "dashdash registry entry": {"name": "a", "specVersion": "0.2.0", "alternativeAccess": {"cliUrl": None}},
    "--ai-help text": {"name": "a", "spec-url": "https://s.example", "spec-version": "0.2.0"},
    "server's tools": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a"}]}},
}


@pytest.mark.parametrize("word", OTHERS)
def test_what_is_no_description_is_named(answering: Callable[[Reply], tuple[str, Asked]], word: str) -> None:
    """S2-03, X-41, X-43: distinguished by content, and nothing that it names is followed."""
    content = json.dumps(OTHERS[word]).encode()
    address, asked = answering(lambda path, _: (200, {}, content) if path.endswith("mcp.json") else ABSENT)
    finished = run_skillgen("from-openapi", address).ended(3)
    assert re.search(rf"error: .* is .*{re.escape(word)}.*\n  try: .", finished.stderr), finished.stderr
    assert len(asked) == 2


def test_the_descriptions_of_a_catalogue_of_apis_are_shown(answering: Callable[[Reply], tuple[str, Asked]]) -> None:
    """X-43: RFC 9727, at a domain or as a file; no link is followed."""
    link = {"href": "https://b.example/openapi.json", "type": "application/json"}
    content = json.dumps({"linkset": [{"anchor": "https://b.example/", "service-desc": [link]}]}).encode()
    address, asked = answering(lambda path, _: (200, {}, content) if path.endswith("api-catalog") else ABSENT)
    run_skillgen("from-openapi", address).ended(
        3,
        "is a catalogue of APIs, not an OpenAPI description",
        "skillgen from-openapi https://b.example/openapi.json\n",
    )
    assert [path for path, _ in asked][-1] == "/.well-known/api-catalog"


@pytest.mark.parametrize("past", ["0", "Thu, 01 Jan 2015 00:00:30 GMT"])
def test_a_busy_server_is_asked_again_when_it_says_so(
    answering: Callable[[Reply], tuple[str, Asked]], past: str
) -> None:
    """S2-16: seconds or a date."""
    answers = iter([(429, {"Retry-After": past}, b""), (503, {"Retry-After": past}, b""), (200, {}, BODY)])
    address, asked = answering(lambda *_: next(answers))
    assert read(f"{address}/api.json")[0].tools
    assert len(asked) == 3


def test_nothing_that_is_fetched_is_stored_and_a_header_is_hidden(
    answering: Callable[[Reply], tuple[str, Asked]], tmp_path: Path
) -> None:
    """S0-22, X-12, X-50."""
    address, asked = answering(lambda *_: (200, {"ETag": '"7"'}, BODY))
    finished = generated(
        "from-openapi", f"{address}/api.json", "-o", tmp_path / "out", "--header", "Authorization: env:TOKEN", "-v",
        env={"TOKEN": "Bearer hunter2", "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )  # fmt: skip
    assert asked[0][1]["authorization"] == "Bearer hunter2"
    stored = [path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert not any(BODY in content or b"hunter2" in content for content in stored)
    assert "hunter2" not in finished.stderr + finished.stdout
    assert [path for path, content in files_of(tmp_path / "out").items() if b"hunter2" in content] == []


def test_remote_references_are_fetched_only_if_the_user_allows_it(
    answering: Callable[[Reply], tuple[str, Asked]],
) -> None:
    """S2-09."""
    main = json.dumps(description({"/a": {"$ref": "parts/a.json"}})).encode()
    part = json.dumps({"get": operation("get_a")}).encode()
    address, asked = answering(lambda path, _: (200, {}, part if "parts" in path else main))
    service, problems = read(f"{address}/api.json")
    assert ([path for path, _ in asked], service.tools) == (["/api.json"], ())
    assert "document-not-read" in [code for code, _ in problems]
    service, problems = read(f"{address}/api.json", allow_remote_refs=True)
    assert [tool.name for tool in service.tools] == ["get_a"]
    assert service.tools[0].pointer == f"{address}/parts/a.json#/get"


@pytest.mark.parametrize(
    "reference", ["http://127.0.0.1:{other}/a.json", "http://localhost:{other}/a.json", "http://169.254.169.254/a.json",
                  "http://[::1]:{other}/a.json", "http://0x7f000001:{other}/a.json", "file:///etc/hosts"]
)  # fmt: skip
def test_a_reference_leads_into_no_private_network(
    tmp_path: Path, answering: Callable[[Reply], tuple[str, Asked]], reference: str
) -> None:
    """S2-09: even where addresses are fetched, a stranger's reference reaches only what is public."""
    part = json.dumps({"get": operation("get_a")}).encode()
    address, asked = answering(lambda path, _: (200, {}, part))
    target = reference.format(other=address.rpartition(":")[2])
    source = write(tmp_path / "api.json", description({"/a": {"$ref": target}, "/b": {"get": operation("get_b")}}))
    service, problems = read(source, allow_remote_refs=True)
    assert [tool.name for tool in service.tools] == ["get_b"]
    assert "document-not-read" in [code for code, _ in problems]
    assert asked == []


def test_relative_references_are_resolved_against_the_declared_base(
    answering: Callable[[Reply], tuple[str, Asked]],
) -> None:
    """S2-23: `$self` of 3.2."""
    paths = {"/a": {"$ref": "parts/a.json"}}
    main = json.dumps({**description(paths, openapi="3.2.0"), "$self": "/v2/api.json"}).encode()
    part = json.dumps({"get": operation("get_a")}).encode()
    address, asked = answering(lambda path, _: (200, {}, part if "parts" in path else main))
    service, _ = read(f"{address}/latest", allow_remote_refs=True)
    assert [path for path, _ in asked] == ["/latest", "/v2/parts/a.json"]
    assert [tool.name for tool in service.tools] == ["get_a"]


# -- Overlays --------------------------------------------------------------------------------------------------------


def overlay(tmp_path: Path, *actions: Json, version: str = "1.1.0") -> str:
    info = {"title": "Changes", "version": "1"}
    return str(write(tmp_path / "overlay.json", {"overlay": version, "info": info, "actions": list(actions)}))


BOMBS = {
    "long": "$" + ".a" * 50_000,
    "many segments": "$" + ".a" * 400,
    "many names": f"$[{','.join(['*'] * 400)}]",
    "nested filters": "$" + "[?@.a" * 190 + "]" * 190,
    "parentheses": f"$[?{'(' * 900}",
    "chains": "$" + "..*" * 30,
    "chains in a filter": f"$[?count(@{'..*' * 30}) > 1]",
    "chains from the root": f"$[?count(${'..*' * 30}) > 1]",
    "doubled": "$" + "[*,*]" * 90,
}


@pytest.mark.parametrize("path", BOMBS.values(), ids=BOMBS)
def test_a_path_of_an_overlay_is_bounded(tmp_path: Path, path: str) -> None:
    """A path that would exhaust time, memory or the stack is reported, and the rest is applied."""
    deep: Json = 1
    for _ in range(90):
        deep = {"a": deep, "b": [1]}
    changes = overlay(
        tmp_path, {"target": path, "update": {"x-a": 1}}, {"target": "$.info", "update": {"title": "New"}}
    )
    source = write(tmp_path / "api.json", {**description(), "x-deep": deep})
    finished = generated("inspect", source, "--overlay", changes, cwd=tmp_path)
    assert "#/actions/0/target" in finished.stderr
    assert json.loads(finished.stdout)["services"][0]["title"] == "New"


@pytest.mark.parametrize("value", [[1], {"a": 1}], ids=["list", "object"])
def test_an_overlay_that_doubles_the_description_is_refused(tmp_path: Path, value: Json) -> None:
    doubling = {"target": "$.x-a", "copy": "$.x-a" if isinstance(value, list) else "$"}
    first = {"target": "$", "update": {"x-a": value}}
    changes = overlay(tmp_path, first, *[doubling] * 60)
    source = write(tmp_path / "api.json", description())
    run_skillgen("inspect", source, "--overlay", changes, cwd=tmp_path).ended(3, "adds more than")


def test_an_overlay_updates_copies_and_removes(tmp_path: Path) -> None:
    """S2-23: objects merge, arrays grow, plain values are replaced; each action sees what those before made."""
    source = write(tmp_path / "api.json", description({"/a": {"get": operation("a", tags=["x", "y"])}, "/b": {}}))
    changes = overlay(
        tmp_path,
        {"target": "$.paths['/a'].get", "update": {"description": "Lists them all.", "tags": ["z"]}},
        {"target": "$.paths.*.get.tags[?@ == 'x']", "remove": True},
        {"target": "$.paths['/a'].get.summary", "update": "Says it"},
        {"target": "$.paths['/b']", "copy": "$.paths['/a']"},
        {"target": "$.paths['/b'].get.operationId", "update": "b"},
    )
    service, problems = read(source, overlays=(changes,))
    assert [(tool.name, tool.summary, tool.description, tool.tags) for tool in service.tools] == [
        ("a", "Says it", "Lists them all.", ("y", "z")),
        ("b", "Says it", "Lists them all.", ("y", "z")),
    ]
    assert problems == []


@pytest.mark.parametrize(("action", "code"), [
    ({"target": "$.paths['/none']", "remove": True}, "overlay-target-unmatched"),
    ({"target": "$.paths[", "remove": True}, "overlay-path-invalid"),
    ({"target": "$", "remove": True}, "overlay-action-invalid"),
    ({"target": "$.info", "update": "x"}, "overlay-action-invalid"),
    ({"target": "$.info"}, "overlay-action-invalid"),
    ({"update": {}}, "overlay-action-invalid"),
    ({"target": "$.info", "copy": "$.paths.*.*"}, "overlay-action-invalid"),
    (3, "overlay-action-invalid"),
])  # fmt: skip
def test_an_action_that_cannot_be_carried_out_is_reported(tmp_path: Path, action: Json, code: str) -> None:
    """S2-23."""
    paths = {"/a": {"get": operation("a"), "put": operation("b")}}
    service, problems = read(write(tmp_path / "api.json", description(paths)), overlays=(overlay(tmp_path, action),))
    assert len(service.tools) == 2
    assert [found for found, _ in problems] == [code]


def test_an_overlay_that_concerns_another_file_says_so(tmp_path: Path) -> None:
    write(tmp_path / "path.json", {"get": operation("a")})
    source = write(tmp_path / "api.json", description({"/a": {"$ref": "path.json"}}))
    service = skillgen.read(source, overlays=(overlay(tmp_path, {"target": "$.paths['/a'].get", "remove": True}),))
    assert [tool.name for tool in service.tools] == ["a"]
    messages = [item.message for item in service.problems if item.code == "overlay-target-unmatched"]
    assert ["not what its paths refer to" in message for message in messages] == [True]


@pytest.mark.usefixtures("short_time_limits")
def test_an_expression_that_would_take_for_ever_ends(tmp_path: Path) -> None:
    """X-10."""
    source = write(tmp_path / "api.json", description({"/a": {"get": operation("a", description="a" * 60 + "!")}}))
    action = {"target": "$..[?search(@.description, '^(a+)+$')]", "remove": True}
    service, problems = read(source, overlays=(overlay(tmp_path, action),))
    assert [tool.name for tool in service.tools] == ["a"]
    assert [found for found, _ in problems] == ["overlay-path-invalid"]


@pytest.mark.parametrize("content", [{}, [], {"overlay": "2.0.0", "actions": []}, {"overlay": "1.0.0"}])
def test_what_is_not_an_overlay_is_a_fatal_error(tmp_path: Path, content: Json) -> None:
    source, bad = write(tmp_path / "api.json", description()), write(tmp_path / "bad.json", content)
    run_skillgen("from-openapi", source, "--overlay", bad, "-o", tmp_path / "out").ended(3, "bad.json")


# -- a choice of tools -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("include", "exclude", "names"), [
    (("list_*",), (), ["list_pets", "list_orders"]),
    (("tag:pets",), ("method:delete",), ["list_pets"]),
    (("path:/orders*",), (), ["list_orders"]),
    ((), ("tag:pets",), ["list_orders"]),
    (("method:GET", "drop_pet"), (), ["list_pets", "drop_pet", "list_orders"]),
])  # fmt: skip
def test_patterns_choose_tools_and_what_they_do_not_use_goes(
    tmp_path: Path, include: tuple[str, ...], exclude: tuple[str, ...], names: list[str]
) -> None:
    """S2-23."""
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}}
    done = {"200": {"description": "Done", **body}}
    paths = {
        "/pets": {"get": operation("list_pets", tags=["pets"]), "delete": operation("drop_pet", tags=["pets"])},
        "/orders": {"get": operation("list_orders", tags=["orders", "new"], responses=done)},
    }
    schemas = {
        "Order": {
            "type": "object",
            "properties": {"a": {"$ref": "#/components/schemas/A"}},
            "patternProperties": {"^b": {"$ref": "#/components/schemas/B"}},
        },
        "A": {"type": "string"},
        "B": {"type": "integer"},
    }
    source = write(tmp_path / "api.json", description(paths, components={"schemas": schemas}))
    service, _ = read(source, include=include, exclude=exclude)
    assert [tool.name for tool in service.tools] == names
    assert [item.name for item in service.schemas] == (["A", "B", "Order"] if "list_orders" in names else [])


@pytest.mark.parametrize(("pattern", "meant"), [
    ("LIST_TASKS", "'list_tasks'"), ("list_task", "'list_tasks'"), ("/tasks", "'path:/tasks'"), ("GET", "'method:GET'"),
    ("tags:Work", "'tag:work'"), ("path:tasks", "'path:/tasks'"), ("zzz", "compare it with"),
])  # fmt: skip
def test_a_pattern_without_matches_exits_2_with_suggestions(tmp_path: Path, pattern: str, meant: str) -> None:
    """S2-23."""
    source = write(tmp_path / "api.json", description({"/tasks": {"get": operation("list_tasks", tags=["work"])}}))
    run_skillgen("from-openapi", source, "-o", tmp_path / "out", "--include", pattern).ended(
        2, meant, f"--include: `{pattern}` matches no tool", "check the spelling or remove the pattern"
    )
    assert not (tmp_path / "out").exists()
    run_skillgen("from-openapi", source, "-o", tmp_path / "out", "--include", "tag:").ended(2, "--include")


def test_an_overlay_of_1_0_cannot_copy(tmp_path: Path) -> None:
    """S2-23: `copy` came with Overlay 1.1."""
    source = write(tmp_path / "api.json", description({"/a": {"get": operation("a")}, "/b": {}}))
    changes = overlay(tmp_path, {"target": "$.paths['/b']", "copy": "$.paths['/a']"}, version="1.0.0")
    service, problems = read(source, overlays=(changes,))
    assert [tool.name for tool in service.tools] == ["a"]
    assert [code for code, _ in problems] == ["overlay-action-invalid"]


def test_patterns_that_together_leave_nothing_stop_with_exit_2(tmp_path: Path) -> None:
    """S2-23: what is excluded again is not selected; the key of the project's file is named in place of the option."""
    source = write(tmp_path / "api.json", description({"/tasks": {"get": operation("list_tasks", tags=["work"])}}))
    run_skillgen("from-openapi", source, "--include", "list_*", "--exclude", "tag:work", cwd=tmp_path).ended(
        2, "the patterns select no tool"
    )
    run_skillgen("from-openapi", source, "--exclude", "*", cwd=tmp_path).ended(
        2, "--exclude: the patterns select no tool"
    )
    project = "targets: {api: {source: {openapi: api.json}, include: ['tag:boks']}}\n"
    (tmp_path / "skillgen.yaml").write_text(project, "utf-8")
    run_skillgen("build", cwd=tmp_path).ended(2, "skillgen.yaml#/targets/api/include: `tag:boks` matches no tool")
    assert not (tmp_path / "agent-docs").exists()
