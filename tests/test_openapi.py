"""OpenAPI descriptions, from a file, a URL and standard input, through the command line."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import listed
import pytest
import yaml
from cli import Finished, files_of, generated, run_skillgen
from descriptions import LONG, description, follow, operation, write
from documents import MarkdownDocument, Section, broken_links, items_apart
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import IS_QUICK, examples
from rows import inputs

import skillgen

Json = Any

FULL: dict[str, Any] = inputs("full") | {"webhooks": {"filler": {"post": operation("filler", description=LONG)}}}
"""A description that uses most of what OpenAPI has."""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the documents of `FULL`, which no test changes, next to the source."""
    folder = tmp_path_factory.mktemp("full")
    generated("from-openapi", write(folder / "api.json", FULL), "-o", folder / "out", "--strict")
    return folder / "out"


def inspected(tmp_path: Path, data: Json, *options: str) -> tuple[Json, list[str]]:
    """Returns the model of a description as JSON, and the codes of what is wrong with it, advice left out."""
    finished = generated("inspect", write(tmp_path / "api.json", data), *options)
    (service,) = json.loads(finished.stdout)["services"]
    return service, [problem["code"] for problem in service.get("problems", ()) if problem["level"] != "info"]


def section_of(folder: Path, tool: str) -> Section:
    """Returns the one section of a tool or a type in the references; types follow the tools of their page."""
    tools, types = (
        [
            section
            for path in sorted(folder.glob("skills/**/*.md"))
            for section in MarkdownDocument(path.read_text("utf-8")).sections(level)
            if section.heading.text == tool
        ]
        for level in (2, 3)
    )
    (found,) = tools or types
    return found


# -- where a description comes from ----------------------------------------------------------------------------------


def documents(out: Path) -> dict[str, bytes]:
    """Returns the documents without what the size of the source changes: the record's digests."""
    return {path: content for path, content in files_of(out).items() if path != ".skillgen.json"}


def test_yaml_and_json_give_the_same_documents(full: Path, tmp_path: Path) -> None:
    """S2-02."""
    (tmp_path / "api.yaml").write_text(yaml.safe_dump(FULL, sort_keys=False), encoding="utf-8")
    generated("from-openapi", tmp_path / "api.yaml", "-o", tmp_path / "out")
    assert documents(tmp_path / "out") == documents(full)


@pytest.mark.parametrize(
    ("content_type", "as_yaml"),
    [
        ("text/yaml; charset=utf-8", True),
        ("application/vnd.oai.openapi+json;version=3.1", False),
    ],
)
def test_a_description_at_a_url_produces_the_same_documents(
    full: Path, tmp_path: Path, serve: Callable[..., str], content_type: str, as_yaml: bool
) -> None:
    """S2-01, S2-02: what it is, its content decides."""
    body = yaml.safe_dump(FULL, sort_keys=False) if as_yaml else json.dumps(FULL)
    address = serve({"/openapi": (200, content_type, body.encode())})
    generated("from-openapi", f"{address}/openapi", "-o", tmp_path / "out")
    assert documents(tmp_path / "out") == documents(full)


def test_a_relative_server_url_is_resolved_against_the_description(tmp_path: Path, serve: Callable[..., str]) -> None:
    data = description(servers=[{"url": "v2"}])
    address = serve({"/apis/openapi.json": (200, "application/json", json.dumps(data).encode())})
    (service,) = json.loads(generated("inspect", f"{address}/apis/openapi.json").stdout)["services"]
    assert service["endpoints"] == [{"url": f"{address}/apis/v2"}]


def test_relative_urls_of_a_login_are_on_the_first_server() -> None:
    """OpenAPI 3.1, 4.7: relative URLs are resolved against the server, whose path they may replace."""
    flow = {"authorizationUrl": "/oauth/authorize", "tokenUrl": "token", "scopes": {}}
    schemes = {
        "o": {"type": "oauth2", "flows": {"authorizationCode": flow}},
        "c": {"type": "openIdConnect", "openIdConnectUrl": "https://id.example.com/x"},
    }
    data = description(servers=[{"url": "https://tasks.example/v1/"}], components={"securitySchemes": schemes})
    login, other = skillgen.read(data).requirements.auth
    assert (login.authorization_url, login.token_url, other.metadata_url) == (
        "https://tasks.example/oauth/authorize",
        "https://tasks.example/v1/token",
        "https://id.example.com/x",
    )


# -- links and pointers -----------------------------------------------------------------------------------------------


def test_links_resolve_where_the_skill_is_not_written(tmp_path: Path) -> None:
    generated("from-openapi", write(tmp_path / "api.json", FULL), "-o", tmp_path / "out", "--emit", "llms,ai-help")
    assert broken_links(tmp_path / "out") == []


def test_the_model_has_the_place_of_each_fact(tmp_path: Path) -> None:
    """X-50: a pointer leads to what is declared there."""
    service, _ = inspected(tmp_path, FULL)
    for tool in service["tools"]:
        assert follow(FULL, tool["pointer"])["operationId"] == tool["name"]
        for parameter in tool.get("parameters", ()):
            declared = follow(FULL, parameter["pointer"])
            assert declared.get("name", parameter["pointer"].rpartition("/")[2]) == parameter["name"]
    assert service["origins"]["access_level"]["kind"] == "inferred"


# -- names of operations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ({"/a": {"get": operation("x"), "post": operation("x")}}, ["x", "post_a"]),
        ({"/a": {"get": operation()}, "/a/{id}": {"delete": operation()}}, ["get_a", "delete_a_id"]),
        ({"/a": {"get": operation()}, "/A/": {"get": operation()}, "/a-": {"get": operation()}}, None),
        ({"/a": {"get": operation()}, "/b": {"get": operation("get_a")}}, None),
        ({"/b": {"get": operation("get_a")}, "/a": {"get": operation()}}, None),
        ({"/a": {"get": operation("x")}, "/b": {"get": operation("x")}, "/c": {"get": operation("get_b")}}, None),
        ({"/a": {"get": operation("X")}, "/b": {"get": operation("x")}}, ["X", "x"]),
        ({"/": {"get": operation()}, "/{id}": {"get": operation("")}}, None),
        ({"/a": {"get": operation("a b"), "put": operation("a  b")}}, None),
        ({"/a": {"get": operation("# x"), "put": operation("`y`"), "post": operation("*z*_|<b>")}}, None),
        ({"/a": {"get": operation("$ARGUMENTS"), "put": operation("[a](b)"), "post": operation("a/b:c.d-e~f")}}, None),
    ],
)
def test_each_operation_is_documented_exactly_once_under_a_name_of_its_own(
    tmp_path: Path, paths: Json, names: list[str] | None
) -> None:
    """S2-07: the first of a name keeps it, also where another's derived name is the same."""
    source, out = write(tmp_path / "api.json", description(paths)), tmp_path / "out"
    generated("from-openapi", source, "-o", out, "-q")
    found = [tool["name"] for tool in json.loads(generated("inspect", source, "-q").stdout)["services"][0]["tools"]]
    operations = [operation for item in paths.values() for operation in item.values()]
    assert len(found) == len(set(found)) == len(operations)
    assert names is None or found == names
    declared = [operation.get("operationId") for operation in operations]
    assert all(declared.index(name) == index for index, name in enumerate(found) if name in declared)
    headings = [
        heading.text
        for path in out.glob("skills/*/references/*.md")
        for heading in MarkdownDocument(path.read_text("utf-8")).headings
        if heading.level == 2
    ]
    shown = [" ".join(name.split()).replace("$ARGUMENTS", "$ ARGUMENTS") for name in found]
    assert sorted(headings) == sorted(["filler", *shown])
    assert broken_links(out) == []


# -- versions and habits ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "codes"),
    [
        ("3.0.0", ["version-old"]),
        ("3.0.3", ["version-old"]),
        ("3.1.0", []),
        ("3.1.1", []),
        (3.1, []),
        ("3.2.0", []),
        ("3.9.0", ["version-unknown"]),
    ],
)
def test_a_version_that_manifests_may_not_have_is_read_and_reported(
    tmp_path: Path, version: Json, codes: list[str]
) -> None:
    """S2-04."""
    data = description(openapi=version)
    service, problems = inspected(tmp_path, data)
    assert (service["protocol_version"], problems) == (str(version), [code for code in codes if code != "version-old"])
    manifest = data["info"] | {"x-mcp": {}}
    _, problems = inspected(tmp_path, data | {"info": manifest, "security": []})
    assert problems == codes


def test_a_body_with_several_media_types_lists_the_properties_of_each(tmp_path: Path) -> None:
    """S2-08: the recommended one first; media types with the same body stand together."""
    url = {"properties": {"url": {"type": "string"}}, "required": ["url"]}
    content = {
        "multipart/form-data": {
            "schema": {"properties": {"file": {"type": "string", "format": "binary"}}},
            "encoding": {"file": {"contentType": "image/png"}},
        },
        "application/json": {"schema": url},
        "application/x-www-form-urlencoded": {"schema": url},
    }
    body = {"content": content, "description": "What to add."}
    data = description({"/a": {"post": operation("x", requestBody=body)}})
    generated("from-openapi", write(tmp_path / "api.json", data), "-o", tmp_path / "out")
    section = section_of(tmp_path / "out", "x")
    assert section.item("url").facts == ("string", "required")
    assert section.item("url").label == ("Body (JSON or URL-encoded form), if one is sent: What to add.")
    assert section.item("file").label == "Or as multipart/form-data: What to add."
    assert "The content of a file. Its media type: image/png." in section.item("file").text
    service, _ = inspected(tmp_path, data)
    (tool,) = service["tools"]
    assert [parameter["name"] for parameter in tool["parameters"]] == ["url"]
    assert [item["parameters"][0]["name"] for item in tool["other_inputs"]] == ["file"]


@pytest.mark.parametrize(("parameter", "words"), inputs("openapi")["serialisation"])
def test_serialisation_of_a_parameter_is_documented_if_not_the_default(
    tmp_path: Path, parameter: Json, words: str
) -> None:
    """S2-08."""
    path = "/a/{p}" if parameter.get("in") == "path" else "/a"
    paths = {path: {"get": operation("x", parameters=[{"name": "p", "in": "query", **parameter}])}}
    generated("from-openapi", write(tmp_path / "api.json", description(paths)), "-o", tmp_path / "out")
    text = section_of(tmp_path / "out", "x").item("p").text
    assert text.partition("): ")[2] == words


@pytest.mark.parametrize("is_named", [False, True])
def test_read_only_and_write_only_properties_are_separate(tmp_path: Path, is_named: bool) -> None:
    """S2-08."""
    types = {"Id": {"type": "integer", "readOnly": True}, "Secret": {"type": "string", "writeOnly": True}}
    one, other = ({"$ref": f"#/components/schemas/{name}"} if is_named else types[name] for name in types)
    properties = {"id": one, "name": {"type": "string"}, "secret": other}
    content = {"application/json": {"schema": {"properties": properties, "required": ["id", "name"]}}}
    responses = {"200": {"description": "It", "content": content}}
    paths = {"/a": {"post": operation("x", requestBody={"required": True, "content": content}, responses=responses)}}
    source = write(tmp_path / "api.json", description(paths, components={"schemas": types}))
    assert "Tasks: 1 tool, 2 parameters;" in generated("from-openapi", source, "-o", tmp_path / "out").stderr
    section = section_of(tmp_path / "out", "x")
    assert [item.name or item.text for item in section.items] == [
        "name", "secret", "Only returned: id", "id", "name", "Only sent: secret",
    ]  # fmt: skip
    assert "`POST /a` (`name*, secret`)" in (tmp_path / "out/skills/tasks/SKILL.md").read_text(encoding="utf-8")


def test_discriminator_values_are_listed_at_the_type_that_tools_link(tmp_path: Path) -> None:
    """S2-09: a base whose types extend it by `allOf`, and a choice of types."""
    base = {"$ref": "#/components/schemas/Pet"}
    cat, dog = ({"$ref": f"#/components/schemas/{name}"} for name in ("Cat", "Dog"))
    types = {
        "Pet": {"properties": {"kind": {"type": "string"}}, "discriminator": {"propertyName": "kind"}},
        "Cat": {"allOf": [base, {"properties": {"lives": {"type": "integer"}}}]},
        "Dog": {"allOf": [base, {"properties": {"bark": {"type": "string"}}}]},
        "Either": {"oneOf": [cat, dog], "discriminator": {"propertyName": "kind", "mapping": {"tom": "Cat"}}},
    }
    paths = {
        f"/{name}": {"post": operation(name, requestBody={"content": {"application/json": {"schema": schema}}})}
        for name, schema in (("pet", base), ("cat", cat), ("either", {"$ref": "#/components/schemas/Either"}))
    }
    data = description(paths, components={"schemas": types})
    generated("from-openapi", write(tmp_path / "api.json", data), "-o", tmp_path / "out")
    text = (tmp_path / "out" / "llms-full.txt").read_text(encoding="utf-8")
    assert "Object. `kind` identifies the type: `Cat` [Cat](#cat-1), `Dog` [Dog](#dog)." in text
    assert text.count("identifies the type: `Cat`") == 1
    assert "As a whole it is [Pet](#pet-1)." in text.partition("### pet")[2].partition("### ")[0]
    assert "As a whole" not in text.partition("### cat")[2].partition("### ")[0]
    either = text.partition("### either")[2].partition("### ")[0]
    assert "`kind` identifies the type: `tom` [Cat](#cat-1), `Dog` [Dog](#dog)." in either
    assert "- `lives` (integer)" in items_apart(either)


@pytest.mark.parametrize(("start", "count", "shown"), [
    ("", 3, "`kind` identifies the type: `acme.k000` [acme.k000](#acmek000), "),
    ("#", 3, "`kind` identifies the type: `#acme.k000` [acme.k000](#acmek000), "),
    ("#", 300, "`kind` identifies the type: `#acme.k000`, `#acme.k001`, "),
])  # fmt: skip
def test_a_type_with_hundreds_of_kinds_names_each_once(tmp_path: Path, start: str, count: int, shown: str) -> None:
    """S2-09, X-24: of many, only the values are named."""
    kinds = [f"acme.k{number:03}" for number in range(count)]
    mapping = {start + kind: f"#/components/schemas/{kind}" for kind in kinds}
    base = {"properties": {"kind": {"type": "string"}}, "discriminator": {"propertyName": "kind", "mapping": mapping}}
    types = {kind: {"allOf": [{"$ref": "#/components/schemas/Base"}]} for kind in kinds}
    sent = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Base"}}}}
    data = description(
        {"/a": {"post": operation("x", requestBody=sent)}}, components={"schemas": types | {"Base": base}}
    )
    generated("from-openapi", write(tmp_path / "api.json", data), "-o", tmp_path / "out", "--emit", "llms")
    text = (tmp_path / "out" / "llms-full.txt").read_text(encoding="utf-8")
    (line,) = (line for line in text.split("\n") if shown in line)
    for kind in kinds:
        assert line.count(f"`{start}{kind}`") == 1


ALTERNATIVES: dict[str, Any] = inputs("openapi")["alternatives"]


@pytest.mark.parametrize("source", ["openapi", "mcp"])
def test_what_a_body_must_be_as_a_whole_is_documented_below_its_properties(tmp_path: Path, source: str) -> None:
    """S2-08: which properties go together, and what each alternative makes of them; the same for arguments."""
    if source == "openapi":
        body = {"content": {"application/json": {"schema": ALTERNATIVES}}}
        data = description({"/a": {"post": operation("x", requestBody=body)}})
        generated("from-openapi", write(tmp_path / "api.json", data), "-o", tmp_path / "out")
        text = next((tmp_path / "out/skills/tasks/references").glob("*.md")).read_text(encoding="utf-8")
    else:
        run, out = listed.documented(tmp_path, tools=[listed.tool("x", inputSchema=ALTERNATIVES)])
        assert run.exit_code == 0, run.stderr
        text = (out / "llms-full.txt").read_text(encoding="utf-8")
    for line in (
        "- `x` (string or integer)",
        "- where `kind` is `one`: `kind` (required), `x` (required).\n  - `x` (string, required)",
        "- where `kind` is `two`: `kind` (required), `x`.\n  - `x` (integer)",
        "At least one of `note`, `x` is required.",
        '- if `{"properties": {"kind": {"enum": ["one"]}}}` (JSON Schema): Also required: `note`.',
    ):
        assert line in items_apart(text)


def test_one_operation_per_method(tmp_path: Path) -> None:
    methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]
    item = {method: operation(f"{method}_it") for method in methods} | {"x-internal": 3, "summary": "All"}
    service, problems = inspected(tmp_path, description({"/a": item, "x-paths": {"get": operation("no")}}))
    assert sorted(tool["method"] for tool in service["tools"]) == sorted(method.upper() for method in methods)
    assert problems == []


def test_credentials_in_addresses_go_nowhere(tmp_path: Path) -> None:
    """S0-22."""
    data = description(servers=[{"url": "https://user:hunter2@tasks.example/v1"}])
    data["externalDocs"] = {"url": "https://user:hunter2@docs.example/"}
    generated("from-openapi", write(tmp_path / "api.json", data), "-o", tmp_path / "out")
    assert [path for path, content in files_of(tmp_path / "out").items() if b"hunter2" in content] == []


# -- what is broken --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"/b": {"$ref": "#/paths/~1none"}}, "reference-not-found"),
        ({"/b": {"$ref": "other.yaml#/a"}}, "reference-not-followed"),
        ({"/b": {"$ref": "#/paths/~1b"}}, "reference-not-followed"),
        ({"/b": {"get": 3}}, "operation-invalid"),
        ({"/b": 3}, "object-expected"),
        ({"/b": {"get": operation("b", parameters=[{"$ref": "#/none"}])}}, "reference-not-found"),
        ({"/b": {"get": operation("b", parameters=[{"in": "query"}])}}, "parameter-invalid"),
        ({"/b": {"get": operation("b", parameters=[{"name": "x", "in": "body"}])}}, "parameter-invalid"),
        ({"/b": {"get": operation("b", parameters=["x", 3, None])}}, "parameter-invalid"),
        ({"/b": {"get": operation("b", requestBody={"$ref": "#/none"})}}, "reference-not-found"),
        ({"/b": {"get": operation("b", responses={"200": {"$ref": "#/none"}})}}, "reference-not-found"),
        ({"/b": {"get": operation("b", requestBody=3)}}, "object-expected"),
    ],
)
def test_a_broken_piece_is_reported_and_the_rest_is_documented(tmp_path: Path, change: Json, code: str) -> None:
    """S2-09."""
    service, problems = inspected(tmp_path, description({"/a": {"get": operation("get_a")}, **change}))
    assert "get_a" in [tool["name"] for tool in service["tools"]]
    assert code in problems


@pytest.mark.parametrize("command", ["from-openapi", "inspect"])
def test_a_schema_that_is_nested_300_levels_deep_costs_nothing_else(tmp_path: Path, command: str) -> None:
    schema: Json = {"type": "string"}
    for _ in range(300):
        schema = {"type": "object", "properties": {"a": schema}}
    body = {"content": {"application/json": {"schema": schema}}}
    source = write(tmp_path / "api.json", description({"/a": {"post": operation("x", requestBody=body)}}))
    finished: Finished = run_skillgen(command, source, *(["-o", tmp_path / "out"] if command != "inspect" else []))
    assert finished.exit_code == 0, finished.stderr[-300:]
    assert "schema-too-deep" in finished.stderr


WRONG: st.SearchStrategy[Json] = st.sampled_from(
    [None, True, 0, -1.5, "", "a", "#", "#/components/schemas/Task", "\x1b`<# |\n", [], [None], [[]], {}]
)


def spots(value: Json) -> Iterator[tuple[Json, Json]]:
    """Yields every place in a document: what holds it, and its key."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from spots(value[key])


@settings(max_examples=examples(80))
@given(changes=st.lists(st.tuples(st.integers(0, 10**6), WRONG | st.just("rename")), min_size=1, max_size=5))
def test_whatever_is_broken_the_rest_is_documented_and_nothing_raises(changes: list[tuple[int, Json]]) -> None:
    data = copy.deepcopy(FULL)
    for number, wrong in changes:
        places = list(spots(data))
        holder, key = places[number % len(places)]
        if wrong == "rename" and isinstance(holder, dict):
            holder[f"{key}~/ \n"] = holder.pop(key)
        else:
            holder[key] = copy.deepcopy(wrong)
    try:
        service = skillgen.read(data)
    except skillgen.SourceError:
        return
    assert skillgen.read(json.loads(json.dumps(skillgen.snapshot(service)))) == service
    for text in skillgen.render_documents(service).values():
        text.encode("utf-8")
        assert text.endswith("\n")


# -- hostile words ---------------------------------------------------------------------------------------------------

HOSTILE: list[Any] = inputs("openapi")["hostile"]


def told(text: str, lead: str) -> Json:
    """Returns the description that uses most of OpenAPI, with a text wherever words for people may stand."""
    data = copy.deepcopy(FULL)
    for holder, key in list(spots(data)):
        if key in ("description", "summary", "title") and isinstance(holder[key], str):
            holder[key] = lead + text
    parameters = data["paths"]["/tasks"]["get"]["parameters"]
    parameters[1]["schema"] |= {"enum": [text, "b"], "default": text, "examples": [text], "pattern": text}
    data["components"]["schemas"]["Task"]["properties"]["title"]["default"] = {"a": [text]}
    data["components"]["securitySchemes"]["key"]["name"] = text
    data["info"]["version"] = "-".join(["1", *text.split()])  # more than three words are no version
    said = f"Owners keep tasks and deadlines. Boats carry anchors and ropes.\n\n{lead}{text}"
    data["info"] |= {"title": "Tasks", "summary": f"{lead}{text} too", "description": said}
    data["info"]["x-mcp"] = {"categories": [text]}
    return data


def texts(data: Json, out: Path) -> dict[str, str]:
    """Returns the Markdown documents of a description; they also go to a folder, where links can be followed."""
    skillgen.generate(skillgen.read(data), out=out)
    return {path: content.decode() for path, content in files_of(out).items() if path.endswith((".md", ".txt"))}


def plain_document(path: str, text: str) -> MarkdownDocument:
    """Returns a document, which has no HTML, table, rule or picture."""
    document = MarkdownDocument(text)
    found = {item.type for token in document.tokens for item in (token, *(token.children or ()))}
    assert not found & {"html_block", "html_inline", "table_open", "hr", "image"}, path
    return document


def levels(documents: dict[str, str]) -> dict[str, list[int]]:
    return {path: [heading.level for heading in MarkdownDocument(text).headings] for path, text in documents.items()}


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    """Returns the headings of each document where every text is a word."""
    return levels(texts(told("word", ""), tmp_path_factory.mktemp("harmless")))


@pytest.mark.parametrize("lead", ["Keeps ", ""], ids=["inside", "first"])
@pytest.mark.parametrize("text", HOSTILE[:: 5 if IS_QUICK else 1])
def test_hostile_words_change_no_documents_structure(tmp_path: Path, harmless: Json, text: str, lead: str) -> None:
    """X-52, S0-25: in every field that holds words, in every document."""
    found = texts(told(text, lead), tmp_path)
    assert levels(found) == harmless
    for path, content in found.items():
        document = plain_document(path, content)
        assert {urlsplit(link.url).scheme for link in document.links} <= {"", "http", "https"}, path
        body = document.text.removeprefix(f"---\n{document.front_matter}---\n")
        assert "!`" not in body, path
        assert "$ARGUMENTS" not in body, path
        assert document.front_matter is None or document.fields()["name"] == "tasks", path
    assert broken_links(tmp_path) == []


@pytest.mark.parametrize("text", HOSTILE[:: 5 if IS_QUICK else 1])
def test_hostile_names_are_headings_and_code_and_nothing_else(tmp_path: Path, text: str) -> None:
    """X-52, S2-07: names of tools, groups, types, parameters and of the service."""
    parameter = {"name": text, "in": "query", "schema": {"$ref": "#/components/schemas/T"}}
    paths = {f"/{text}": {"get": operation(text, tags=[text], parameters=[parameter])}}
    schemas = {"T": {"$ref": "#/components/schemas/U"}, text: {"type": "string"}, "U": {"properties": {text: {}}}}
    data = description(paths, components={"schemas": schemas}, info={"title": text, "version": "1"})
    found = texts(data, tmp_path)
    (tool,) = skillgen.read(data).tools
    name = " ".join(tool.name.split())
    name = name.replace("!`", "! `").replace("$", "$ ").replace("{{", "{ {").replace("{%", "{ %")
    assert section_of(tmp_path, name).heading.level == 2
    for path, content in found.items():
        document = plain_document(path, content)
        assert [heading.level for heading in document.headings].count(1) == 1, path
    assert broken_links(tmp_path) == []
