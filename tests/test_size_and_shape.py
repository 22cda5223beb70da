"""Sources that by size or shape should exhaust their reader: each ends at once, the rest is documented (issue 7).

The same schemas come from an OpenAPI description and from a server. Larger ones are measured for SECURITY.md; here
they are as small as shows what would go wrong.
"""

from __future__ import annotations

import cProfile
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from cli import PACKAGE, ROOT, generated, run_skillgen, steps_of
from descriptions import description, operation
from http_servers import QuietHandler, http_servers
from servers.verbatim import IDENTITY

import skillgen

pytestmark = pytest.mark.slow

Json = Any

DIGITS = "9" * 5_000
DEEP = 10_000
ROW = 1_500


def nested(opening: str, closing: str, inner: str = "{}") -> str:
    return opening * DEEP + inner + closing * DEEP


def types(count: int, member: Json, last: Json) -> str:
    """Returns a schema of named types, each made of the next by `member`, in which `@` is replaced by it."""
    text = json.dumps(member)
    named = {f"S{i}": json.loads(text.replace("@", f"#/$defs/S{i + 1}")) for i in range(count)}
    return json.dumps({"type": "object", "$ref": "#/$defs/S0", "$defs": {**named, f"S{count}": last}})


def of_numbers(number: str) -> str:
    """Returns a schema with a number in every keyword that takes one."""
    keywords = ("minimum", "maximum", "multipleOf", "default", "minLength", "maxLength", "minItems", "example")
    members = ", ".join(f'"{keyword}": {number}' for keyword in keywords)
    kinds = ", ".join(f'"{kind}": {{"type": "{kind}", {members}}}' for kind in ("integer", "number", "string", "array"))
    return f'{{"type": "object", "required": ["integer", "number"], "properties": {{{kinds}}}}}'


def of_pattern(pattern: str) -> str:
    text = "a" * 40 + "!"
    kinds = {"type": "string", "pattern": pattern, "default": text, "enum": [text, "b"]}
    named = {"type": "object", "patternProperties": {pattern: {"type": "integer"}}, "default": {text: "x"}}
    return json.dumps({"type": "object", "required": ["a", "b"], "properties": {"a": kinds, "b": named}})


REFERENCE = {"$ref": "@"}
OBJECT = {"type": "object", "properties": {"z": {"type": "string"}}}
WEB = "types that all name all"
SCHEMAS: dict[str, str] = {
    "deep properties": nested('{"type":"object","properties":{"a":', "}}"),
    "deep items": nested('{"type":"array","items":', "}"),
    "deep allOf": nested('{"allOf":[', "]}"),
    "deep oneOf": nested('{"oneOf":[', "]}"),
    "deep not": nested('{"not":', "}"),
    "a deep default": '{"type":"object","properties":{"a":{"default":' + nested("[", "]", "1") + "}}}",
    "a deep value that is read": '{"type":"object","properties":{"a":{"default":' + "[" * 480 + "]" * 480 + "}}}",
    "a row of references": types(ROW, REFERENCE, OBJECT),
    "a row of allOf": types(ROW, {"allOf": [REFERENCE]}, OBJECT),
    "a row of required properties": types(
        ROW, {"type": "object", "required": ["a"], "properties": {"a": REFERENCE}}, OBJECT
    ),
    "a circle of references": '{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}}}',
    "a circle of allOf": '{"$ref":"#/$defs/A","$defs":{"A":{"allOf":[{"anyOf":[{"$ref":"#/$defs/A"}]}]}}}',
    "a circle of required properties": (
        '{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/A"}}}}}'
    ),
    "doubling allOf": types(40, {"allOf": [REFERENCE, REFERENCE]}, OBJECT),
    "doubling anyOf": types(40, {"anyOf": [REFERENCE, REFERENCE]}, OBJECT),
    "doubling oneOf": types(40, {"oneOf": [REFERENCE, {"allOf": [REFERENCE]}]}, OBJECT),
    "doubling properties": types(
        40, {"type": "object", "required": ["a", "b"], "properties": {"a": REFERENCE, "b": REFERENCE}}, OBJECT
    ),
    "doubling items": types(40, {"type": "array", "minItems": 2, "items": REFERENCE}, OBJECT),
    "many parts": json.dumps(
        {"allOf": [{"type": "object", "properties": {f"p{i}": {"type": "string"}}} for i in range(ROW)]}
    ),
    "many alternatives": json.dumps(
        {"type": "object", "oneOf": [{"required": [f"p{i}"], "properties": {f"p{i}": {}}} for i in range(ROW)]}
    ),
    "many required properties": json.dumps(
        {
            "type": "object",
            "required": [f"p{i}" for i in range(20_000)],
            "properties": {"a": {"type": "object", "required": [f"q{i}" for i in range(20_000)]}},
        }
    ),
    "many choices": json.dumps({"type": "object", "properties": {"a": {"enum": [f"v{i}" for i in range(20_000)]}}}),
    "many parameters": json.dumps({"type": "object", "properties": {f"p{i}": {"type": "null"} for i in range(4_000)}}),
    "a key twice": '{"type":"object","properties":{"a":{"type":"string"},"a":{"type":"integer"}}}',
    "half a letter": '{"type":"object","properties":{"\\ud800":{"type":"string","default":"\\udfff"}}}',
    **{f"{WEB} in {word}": json.dumps({"$ref": "#/$defs/t0", "$defs": {
        f"t{index}": {word: [{"$ref": f"#/$defs/t{other}"} for other in range(40)]} for index in range(40)
    }}) for word in ("allOf", "anyOf", "oneOf")},
    "a large bound": '{"type":"object","required":["a"],"properties":{"a":{"type":"array","minItems":1000000000}}}',
    **{f"the number {word}": of_numbers(number) for word, number in (
        ("of 5,000 digits", DIGITS), ("of 5,000 places", f"0.{DIGITS}"), ("1e999", "1e999"), ("-1e999", "-1e999"),
        ("NaN", "NaN"), ("Infinity", "-Infinity"), ("-0.0", "-0.0"), ("1e-999", "1e-999"),
        ("of a huge exponent", "1e" + "9" * 20),
    )},
    **{f"the pattern {pattern[:20]}": of_pattern(pattern) for pattern in (
        "^(a+)+$", "(a|a)*b", "([a-z]+)*!$", "(.*a){25}", "((((a{1,90}){1,90}){1,90}){1,90}){1,90}",
        "^(?:a?){60}a{60}$",
        "a{99999999}", "(" * 500 + ")" * 500, "(?:" * 3_000,
    )},
}  # fmt: skip
"""JSON Schemas, as text, each of which should exhaust its reader."""


def description_with(folder: Path, schema: str) -> Path:
    schema = schema.replace("#/$defs/", "#/paths/~1bad/post/requestBody/content/application~1json/schema/$defs/")
    body = f'"requestBody": {{"content": {{"application/json": {{"schema": {schema}}}}}}}'
    done = '"responses": {"200": {"description": "Done"}}'
    source = folder / "api.json"
    source.write_text(
        '{"openapi": "3.1.0", "info": {"title": "Shapes", "version": "1"}, "paths": {'
        f'"/bad": {{"post": {{"operationId": "bad_one", {body}, {done}}}}},'
        f'"/fine": {{"get": {{"operationId": "fine_one", {done}}}}}}}}}',
        encoding="utf-8",
    )
    return source


@pytest.fixture
def serve_messages() -> Iterator[Callable[[str, str], str]]:
    """Yields a function that serves one list of tools over HTTP, as JSON or as events, and yields its address."""
    with http_servers() as start:

        def serving(tools: str, way: str) -> str:
            class Handler(QuietHandler):
                def do_POST(self) -> None:
                    message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                    result = {"initialize": json.dumps(IDENTITY), "tools/list": tools}.get(message["method"])
                    failure = '"error": {"code": -32601, "message": "Method not found"}'
                    outcome = failure if result is None else f'"result": {result}'
                    body = f'{{"jsonrpc": "2.0", "id": {json.dumps(message.get("id"))}, {outcome}}}'.encode()
                    self.send_response(202 if "id" not in message else 200)
                    kind = "text/event-stream" if way == "events" else "application/json"
                    self.send_header("Content-Type", kind)
                    self.end_headers()
                    self.wfile.write(b"event: message\r\ndata: " + body + b"\r\n\r\n" if way == "events" else body)

            return f"{start(Handler)}/mcp"

        yield serving


def references(folder: Path) -> str:
    """Returns what documents the tools: the references, or SKILL.md, which has them all where the service is small."""
    pages = [*folder.glob("out/skills/*/references/*.md")] or [*folder.glob("out/skills/*/SKILL.md")]
    return "".join(page.read_text("utf-8") for page in pages)


@pytest.mark.parametrize("shape", SCHEMAS)
def test_an_exhausting_schema_does_not_affect_other_operations(tmp_path: Path, shape: str) -> None:
    """X-10, X-13."""
    generated("from-openapi", description_with(tmp_path, SCHEMAS[shape]), "-o", tmp_path / "out")
    assert "## bad_one" in references(tmp_path)
    assert "## fine_one" in references(tmp_path)


def test_a_server_whose_schemas_should_exhaust_their_reader_is_documented(tmp_path: Path) -> None:
    """X-10, X-13: some of them at once, of every kind."""
    shapes = dict(list(SCHEMAS.items())[::3]) | {name: raw for name, raw in SCHEMAS.items() if name.startswith(WEB)}
    tools = ", ".join(
        f'{{"name": "tool_{index}", "inputSchema": {schema}}}' for index, schema in enumerate(shapes.values())
    )
    said = tmp_path / "tools.json"
    said.write_text(f'{{"tools": [{tools}]}}', encoding="utf-8")
    server = (sys.executable, ROOT / "tests/servers/verbatim.py", said)
    generated("from-server", "-o", tmp_path / "out", "--timeout", "100", "--", *server)
    for index, shape in enumerate(shapes):
        assert f"## tool_{index}\n" in references(tmp_path), shape


def test_an_object_with_too_many_properties_is_cut_and_reported() -> None:
    """X-10, X-13."""
    service = skillgen.read(body_of({"type": "object", "properties": {f"p{i}": {} for i in range(100_002)}}))
    assert [parameter.name for parameter in service.tools[0].parameters][-1] == "p99999"
    assert "has 100,002 properties; the first 100,000 are read" in str(service.problems)


def test_an_endless_chain_of_paths_is_reported(tmp_path: Path) -> None:
    """X-10, X-13: the last hundred of the row are near enough to its end."""
    paths: dict[str, Json] = {f"/p{i}": {"$ref": f"#/paths/~1p{i + 1}"} for i in range(3_000)}
    paths["/p3000"] = {"get": {"operationId": "fine_one", "responses": {"200": {"description": "Done"}}}}
    source = tmp_path / "api.json"
    info = {"title": "Row", "version": "1"}
    source.write_text(json.dumps({"openapi": "3.1.0", "info": info, "paths": paths}), encoding="utf-8")
    finished = generated("from-openapi", source, "-o", tmp_path / "out")
    assert "reference-not-followed" in finished.stderr
    assert "## fine_one\n" in references(tmp_path)


def test_texts_made_to_be_slow_are_read(tmp_path: Path) -> None:
    """X-13: what is repeated makes a pattern of skillgen's own try the same place again and again."""
    pieces = (
        *("*a_", "[a](", "<a ", "`", "|a", ">", "a@", "http://", "token=", "eyJ", "-----BEGIN PRIVATE KEY-----\n"),
        *("ignore all ", ". ", "a\n\n", "/root/", "a_b.", "\u200b", "{a", "![", "- a\n  ", "a b c d e f g hh "),
    )
    done = {"responses": {"200": {"description": "Done"}}}
    paths = {
        f"/{i}": {"get": {"operationId": f"op_{i}", "description": (piece * 30_000)[:30_000], **done}}
        for i, piece in enumerate(pieces)
    }
    source = tmp_path / "api.json"
    info = {"title": "Slow", "version": "1"}
    source.write_text(json.dumps({"openapi": "3.1.0", "info": info, "paths": paths}), encoding="utf-8")
    generated("from-openapi", source, "-o", tmp_path / "out")
    for i in range(len(pieces)):
        assert f"## op_{i}\n" in references(tmp_path)


CUT = (
    '{"tools": [{"name": "deep", "inputSchema": ' + nested('{"a":', "}") + "},"
    ' {"name": "half\\ud800", "name": "twice", "inputSchema": {}}, {"name": "fine", "description": "\\udfff"}]}'
)


@pytest.mark.parametrize("way", ["stdio", "http", "events"])
def test_a_cut_in_a_result_of_a_server_is_reported_with_its_place(
    way: str, tmp_path: Path, serve_messages: Callable[[str, str], str]
) -> None:
    """X-10, X-13: over every transport the same is read, and one bad tool costs no other.

    Over HTTP, the parser of the SDK keeps the last of two equal keys without a word.
    """
    said = tmp_path / "tools.json"
    said.write_text(CUT, encoding="utf-8")
    stdio = ("--", sys.executable, ROOT / "tests/servers/verbatim.py", said)
    source = stdio if way == "stdio" else ("--url", serve_messages(CUT, way))
    finished = generated("from-server", "-o", tmp_path / "out", *source)
    assert "nested-too-deeply: deep/inputSchema:" in finished.stderr
    assert ("duplicate-key: twice/name:" in finished.stderr) == (way == "stdio")
    for name in ("deep", "twice", "fine"):
        assert f"## {name}\n" in references(tmp_path)


def test_numbers_that_json_has_no_word_for_stay_text(tmp_path: Path) -> None:
    """X-51: what `inspect` writes is JSON for every reader."""
    source = description_with(tmp_path, of_numbers("1e999"))
    finished = generated("inspect", source)
    json.loads(finished.stdout, parse_constant=pytest.fail)


def test_a_text_without_an_end_is_cut_and_that_is_reported(tmp_path: Path) -> None:
    """X-13: 1,000,000 characters of one text are read, as all of a description of 1 MB."""
    source = description_with(tmp_path, "{}")
    long = '"description": "' + "a b " * 250_100 + '", "operationId": "fine_one"'
    source.write_text(source.read_text("utf-8").replace('"operationId": "fine_one"', long), encoding="utf-8")
    finished = generated("from-openapi", source, "-o", tmp_path / "out")
    assert "text-too-long" in finished.stderr
    assert 900_000 < len(references(tmp_path)) < 1_100_000


def test_what_is_below_a_long_key_is_left_out_and_reported(tmp_path: Path) -> None:
    """X-10: each node below a key repeats it in its pointer, so a long key over many nodes would fill the memory."""
    name = "k" * 5_000
    inner = {"type": "object", "properties": {"inside": {"type": "string"}}}
    body = {"content": {"application/json": {"schema": {"type": "object", "properties": {name: inner, "near": inner}}}}}
    answers = {"200": {"description": "Done."}}
    paths = {
        "/tasks": {"post": {"operationId": "addTask", "requestBody": body, "responses": answers}},
        f"/{name}": {"get": {"operationId": "farTask", "responses": answers}},
    }
    source = tmp_path / "api.json"
    info = {"title": "Tasks", "version": "1"}
    source.write_text(json.dumps({"openapi": "3.1.0", "info": info, "paths": paths}), encoding="utf-8")
    result = generated("from-openapi", source, "-v", "-o", tmp_path / "out")
    assert "schema-too-deep" in result.stderr
    assert "operation-invalid" in result.stderr
    (service,) = json.loads(run_skillgen("inspect", source).stdout)["services"]
    (tool,) = service["tools"]
    assert tool["name"] == "addTask"
    assert json.dumps(tool["parameters"]).count('"inside"') == 1


NAMES = ["".join(letters) for letters in product("abcdefghijklmnopqrstuvwxyz", repeat=3)]
"""17,576 names."""


def body_of(schema: Json, **members: Json) -> Json:
    """Returns a description with one operation, which takes a body of this schema."""
    content = {"application/json": {"schema": schema}}
    return {
        "openapi": "3.1.0",
        "paths": {"/a": {"post": {"operationId": "a", "requestBody": {"content": content}}}},
    } | ({"components": {"schemas": members}})


def test_many_tools_and_uses_take_time_by_their_number() -> None:
    """X-10: with a search through all tools or words for each of them, this takes minutes."""
    text = "Use this server when ships arrive. " + "".join(f"Use it when {name}_9 is. " for name in NAMES[:800])
    paths = {
        f"/{name}": {"get": {"operationId": f"listQ{name}Z{name}", "summary": f"Lists Q{name}Z{name}."}}
        for name in NAMES
    }
    service = skillgen.read({"openapi": "3.1.0", "info": {"title": "Many", "description": text}, "paths": paths})
    assert len({tool.name for tool in service.tools}) == len(NAMES)
    assert "zzz" in service.tools[-1].name


def test_many_variables_of_a_server_take_time_by_their_number() -> None:
    """X-10."""
    url = "https://x.example/" + "/".join(f"{{{name}}}{{{name * 2}}}{{{name * 3}}}" for name in NAMES)
    variables = {name * times: {"default": name[::-1]} for name in NAMES for times in (1, 2, 3)}
    (endpoint,) = skillgen.read({"openapi": "3.1.0", "servers": [{"url": url, "variables": variables}]}).endpoints
    assert "{" not in endpoint.url
    assert len(endpoint.variables) == 3 * len(NAMES)


def test_many_required_properties_take_time_by_their_number() -> None:
    """X-10."""
    keys = [f"{name}{number}" for name in NAMES for number in range(5)]
    raw = {"type": "object", "properties": {key: {"type": "string"} for key in keys}, "required": keys}
    (tool,) = skillgen.read(body_of(raw)).tools
    assert sum(parameter.required for parameter in tool.parameters) == len(keys)


@pytest.mark.parametrize("is_mapped", [False, True])
def test_many_types_of_a_discriminator_take_time_by_their_number(is_mapped: bool) -> None:
    """X-10."""
    mapping = {name[::-1]: f"#/components/schemas/{name}" for name in NAMES}
    discriminator = {"propertyName": "kind", **({"mapping": mapping} if is_mapped else {})}
    raw = {"oneOf": [{"$ref": reference} for reference in mapping.values()], "discriminator": discriminator}
    service = skillgen.read(body_of({"$ref": "#/components/schemas/A"}, A=raw, **dict.fromkeys(NAMES, OBJECT)))
    (union,) = (item.schema for item in service.schemas if item.name == "A")
    assert union.discriminator is not None
    assert len(union.discriminator.mapping or ()) == len(NAMES)


def test_a_result_of_its_own_type_takes_steps_by_its_members() -> None:
    """X-10: of an operation whose name says that it issues a token, which is searched in the result."""

    def steps(count: int) -> int:
        result = {"$ref": "#/components/schemas/A"}
        own = {"type": "object", "properties": {f"p{number}": result for number in range(count)}}
        done = {"description": "Done", "content": {"application/json": {"schema": result}}}
        token = {"post": {"operationId": "createToken", "responses": {"200": done}}}
        data = body_of({}, A=own) | {"paths": {"/token": token}, "security": [{"key": []}]}
        data["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        return steps_of(lambda: skillgen.render_documents(skillgen.read(data)))

    steps(1)
    assert steps(80) < 2.2 * steps(40)


def test_named_types_that_refer_to_the_next_take_steps_by_their_number() -> None:
    """X-10: counted in the instructions of all of skillgen."""

    def steps(count: int) -> int:
        member = {"type": "object", "properties": {"a": REFERENCE}}
        raw = json.loads(types(count, member, OBJECT).replace("#/$defs/", "#/components/schemas/"))
        data = body_of({"$ref": raw["$ref"]}, **raw["$defs"])
        return steps_of(lambda: skillgen.read(data))

    steps(1)  # what is loaded at the first call is not counted
    assert steps(200) < 2.2 * steps(100)


def calls_by_place(count: int) -> Counter[str]:
    """Returns how often each function, and those of each module, are called for operations that share their parts."""
    shared = {"type": "object", "properties": {name: {"type": "string"} for name in NAMES[:20]}}
    media = {"application/json": {"schema": shared}}
    accepted = {"application/json": {"examples": {"ship": {"$ref": "#/components/examples/Ship"}}}}
    texts = {"description": "Finds *ships* by <b>name</b>, see [the list](https://x.example/list_all)."}
    operation = {
        "parameters": [{"$ref": "#/components/parameters/Filter"}],
        "responses": {
            "200": {"$ref": "#/components/responses/All"},
            "202": {"content": accepted} | texts,
            "404": {"$ref": "#/components/responses/None"},
        },
    } | texts
    data = {
        "openapi": "3.1.0",
        "info": {"title": "Ships", "version": "1"},
        "paths": {f"/{name}": {"get": {"operationId": f"find_{name}"} | operation} for name in NAMES[:count]},
        "components": {
            "parameters": {"Filter": {"name": "filter", "in": "query", "schema": shared} | texts},
            "responses": {name: {"content": media} | texts for name in ("All", "None")},
            "examples": {"Ship": {"value": dict.fromkeys(NAMES[:20], "a ship")}},
        },
    }
    profile = cProfile.Profile(builtins=False)
    documents = profile.runcall(lambda: skillgen.render_documents(skillgen.read(data)))
    calls: Counter[str] = Counter()
    for entry in profile.getstats():
        if isinstance(entry.code, CodeType) and entry.code.co_filename.startswith(PACKAGE):
            module = Path(entry.code.co_filename).relative_to(PACKAGE).as_posix()
            calls.update({module: entry.callcount, f"{module}:{entry.code.co_name}": entry.callcount})
    assert any(f"find_{NAMES[count - 1]}" in text for text in documents.values())
    return calls


def test_work_grows_as_the_operations_and_what_they_share_is_read_once() -> None:
    """X-10: a shared schema or example is read once, a repeated description is escaped and searched once."""
    calls_by_place(1440)  # fills caches with all names, and loads tables
    # From 960 on, all are listed in the same form: smaller services take more calls.
    few, more, most = map(calls_by_place, (960, 1200, 1440))
    assert few["sources/json_schema/keywords.py"] == most["sources/json_schema/keywords.py"] > 20
    assert most["text/blocks.py"] == few["text/blocks.py"]
    assert most["text/markdown.py:escape_inline"] < 40
    for place in (
        *("sources/examples/validation.py:_choices_in", "sources/examples/validation.py:why_unpublishable"),
        "render/results.py:received",
    ):
        assert few[place] == most[place], place
    assert most.total() - more.total() < 1.1 * (more.total() - few.total())


def test_each_operation_may_have_a_security_scheme_of_its_own(tmp_path: Path) -> None:
    """X-10: with a reading of all schemes for each operation, this takes minutes."""
    keys = [f"key{number}" for number in range(4_000)]
    description = {
        "openapi": "3.1.0",
        "info": {"title": "Keys", "version": "1"},
        "servers": [{"url": "https://x.example"}],
        "paths": {
            f"/{key}": {
                "get": {"operationId": f"get_{key}", "security": [{key: []}], "responses": {"200": {"description": ""}}}
            }
            for key in keys
        },
        "components": {"securitySchemes": {key: {"type": "apiKey", "in": "query", "name": key} for key in keys}},
    }
    source = tmp_path / "api.json"
    source.write_text(json.dumps(description), encoding="utf-8")
    generated("from-openapi", source, "--emit", "skill", "-o", tmp_path / "out")
    assert references(tmp_path).count("$SKILL_X_EXAMPLE___KEY") == len(keys)


def test_no_part_of_a_description_makes_the_first_level_too_long() -> None:
    """SKILL.md and ai-help.md have at most 3,000 tokens of four bytes , whatever is long."""
    text = "Words that explain it. " * 100
    paths = {
        f"/t{i}": {
            "get": operation(
                f"get{i}", tags=[f"g{i // 6}"], responses={str(c): {"description": text} for c in range(400, 420)}
            )
        }
        for i in range(120)
    }
    scopes = {f"scope:number:{i}": "Allows the thing" for i in range(300)}
    flows = {"clientCredentials": {"tokenUrl": "https://e.example/t", "scopes": scopes}}
    keys = {f"key{i}": {"type": "apiKey", "in": "header", "name": f"X-{i}", "description": text} for i in range(50)}
    parts: dict[str, Json] = {
        "scopes": {
            "components": {"securitySchemes": {"o": {"type": "oauth2", "flows": flows}}},
            "security": [{"o": []}],
        },
        "schemes": {"components": {"securitySchemes": keys}, "security": [{name: []} for name in keys]},
        "servers": {"servers": [{"url": f"https://api{i}.example.com", "description": text} for i in range(80)]},
        "tags": {"tags": [{"name": f"g{i}", "description": text} for i in range(40)]},
        "description": {
            "info": {"title": "T", "version": "1", "description": f"{text}\n\n# Authentication\n\n{text * 9}"}
        },
        "events": {"webhooks": {f"w{i}": {"post": operation(summary=text)} for i in range(200)}},
    }
    sizes = {}
    for part, members in parts.items():
        documents = skillgen.render_documents(skillgen.read(description(paths, **members)), emit="skill,ai-help")
        for path, document in documents.items():
            if path.endswith(("SKILL.md", "ai-help.md")):
                sizes[part, path.rpartition("/")[2]] = len(document.encode())
    assert len(sizes) == 2 * len(parts)
    assert {place: size for place, size in sizes.items() if size > 12_000} == {}


def test_schemas_that_no_value_can_be_checked_against_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """X-10: a bound for each value alone is reached again for each operation."""
    layers = {
        f"L{depth}": {"oneOf": [{"$ref": f"#/components/schemas/L{depth + 1}"}] * 2, "description": f"Level {depth}."}
        for depth in range(20)
    }
    query = {"name": "q", "in": "query", "required": True, "schema": {"$ref": "#/components/schemas/L0"}}
    monkeypatch.setattr("skillgen.model.check.STEPS_LIMIT", 200)

    def steps(count: int) -> int:
        # A value is generated once for all parameters that differ in their pointer only.
        queries = [query | {"description": f"Query {number}"} for number in range(count)]
        tools = {f"/{number}": {"get": {"parameters": [item]}} for number, item in enumerate(queries)}
        data = body_of({}, **layers, L20={"type": "object"}) | {"paths": tools}
        return steps_of(lambda: skillgen.read(data))

    steps(1)
    assert steps(60) < 1.5 * steps(30)
