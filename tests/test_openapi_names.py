"""References by name instead of by pointer: `$id`, `$anchor`, `$dynamicAnchor`, `$self`, and the dialect of schemas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli import generated
from descriptions import description, operation, write
from sendable import calls_of
from test_openapi_ways_in import read

Json = Any

TREE: dict[str, Json] = {
    "$id": "https://schemas.example/tree",
    "$dynamicAnchor": "node",
    "type": "object",
    "required": ["side"],
    "properties": {
        "side": {"$ref": "#/$defs/Side"},
        "up": {"$ref": "#"},
        "kids": {"type": "array", "items": {"$dynamicRef": "#node"}},
        "example": {"$ref": "https://schemas.example/tree#/$defs/Side"},
    },
    "$defs": {"Side": {"enum": ["left"]}},
    "example": {"$id": "https://no.example/", "side": "left"},
}


def sent(schema: Json) -> dict[str, Json]:
    """Returns the path item of an operation with this body."""
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    return {"post": operation("act", requestBody=body)}


def test_a_schema_referred_to_by_its_identifier_has_its_own_root(tmp_path: Path) -> None:
    """S2-09: nothing is fetched, and a call of it can be made."""
    components = {"schemas": {"Tree": TREE, "Code": {"$anchor": "code", "enum": ["x"]}}}
    item = sent({"$ref": "https://schemas.example/tree"})
    item["post"]["parameters"] = [{"name": "c", "in": "query", "required": True, "schema": {"$ref": "#code"}}]
    source = write(tmp_path / "api.json", description({"/a": item}, components=components))
    service, problems = read(source)
    assert problems == []
    assert {item.name for item in service.schemas} == {"Tree", "Side", "Code"}
    (tool,) = service.tools
    assert [(item.name, item.schema.ref) for item in tool.parameters] == [
        ("c", "Code"), ("side", "Side"), ("up", "Tree"), ("kids", None), ("example", "Side")]  # fmt: skip
    kids = tool.parameters[3].schema.items
    assert kids is not None
    assert kids.ref == "Tree"
    generated("from-openapi", source, "-o", tmp_path / "out", "-q")
    call = calls_of(tmp_path / "out/skills/tasks")["act"].text
    assert "?c=x" in call
    assert '"side": "left"' in call


def test_a_recursive_reference_means_the_marked_schema_around_it(tmp_path: Path) -> None:
    """OpenAI's filters: in an OpenAPI file, `#` would be the description."""
    inner = {"oneOf": [{"type": "string"}, {"$recursiveRef": "#"}]}
    filters: Json = {"$recursiveAnchor": True, "type": "object", "properties": {"all": {"items": inner}}}
    components = {"schemas": {"Filter": filters}}
    item = sent({"type": "object", "properties": {"filter": {"$ref": "#/components/schemas/Filter"}}})
    service, _ = read(write(tmp_path / "api.json", description({"/a": item}, openapi="3.1.0", components=components)))
    assert [item.name for item in service.schemas] == ["Filter"]


def test_an_anchor_of_another_file_is_found_there(tmp_path: Path) -> None:
    """S2-09."""
    types = {
        "Tree": {"$anchor": "tree", "type": "object", "properties": {"sub": {"$ref": "#tree"}}},
        "Other": {"$ref": "#nobody"},
    }
    write(tmp_path / "types.json", types)
    paths = {"/a": sent({"$ref": "types.json#tree"}), "/b": sent({"$ref": "types.json#/Nothing"})}
    service, problems = read(write(tmp_path / "api.json", description(paths)))
    assert [item.schema.ref for item in service.tools[0].parameters] == ["Tree"]
    assert [item.name for item in service.schemas] == ["Tree"]
    assert "reference-not-found" in [code for code, _ in problems]


def test_a_message_names_the_file_in_which_nothing_was_found(tmp_path: Path) -> None:
    """S2-09."""
    write(tmp_path / "types.json", {"A": {}})
    source = write(tmp_path / "api.json", description({"/a": {"$ref": "types.json#/B"}}))
    finished = generated("from-openapi", source, "-o", tmp_path / "out", "--allow-empty", "-v")
    assert "the $ref 'types.json#/B' points to nothing" in finished.stderr


@pytest.mark.parametrize("own", ["https://specs.example/apis/main.json", "apis/main.json"])
def test_a_file_may_declare_its_own_url(tmp_path: Path, own: str) -> None:
    """S2-23, S2-09: `$self`; what is next to the one is next to the other, and nothing is fetched."""
    write(tmp_path / "types.json", {"A": {"type": "object", "properties": {"a": {"type": "string"}}}})
    references = ["types.json#/A", "main.json#/components/schemas/Own"]
    if own.startswith("https:"):
        references += [f"{own}#/components/schemas/Own", "https://specs.example/apis/types.json#/A"]
    paths = {f"/{number}": sent({"$ref": item}) for number, item in enumerate(references)}
    schemas = {"Own": {"type": "object", "properties": {"own": {"type": "string"}}}}
    data = description(paths, openapi="3.2.0", components={"schemas": schemas}, **{"$self": own})
    service, problems = read(write(tmp_path / "local.json", data))
    names = [[item.name for item in tool.parameters] for tool in service.tools]
    assert names == [["a"], ["own"], ["own"], ["a"]][: len(references)]
    assert [item for item in problems if item[0] != "operation-id-duplicate"] == []


def test_an_address_next_to_its_own_url_reads_no_file_outside_the_folder(tmp_path: Path) -> None:
    """S2-09, X-41."""
    write(tmp_path / "secret.json", {"get": operation("secret")})
    (tmp_path / "api").mkdir()
    paths = {"/a": {"$ref": "https://specs.example/secret.json"}}
    data = description(paths, openapi="3.2.0", **{"$self": "https://specs.example/apis/main.json"})
    service, problems = read(write(tmp_path / "api" / "main.json", data))
    assert service.tools == ()
    assert "document-not-read" in [code for code, _ in problems]


@pytest.mark.parametrize(
    ("dialect", "limit", "reported"),
    [
        (None, 3, []),
        ("https://json-schema.org/draft/2020-12/schema", 3, []),
        ("https://spec.openapis.org/oas/3.1/dialect/base", 3, []),
        ("http://json-schema.org/draft-07/schema#", None, ["reference-siblings-ignored"]),
        ("https://dialect.example/own", 3, ["dialect-unknown"]),
    ],
)
def test_the_dialect_decides_whether_siblings_of_a_reference_count(
    tmp_path: Path, dialect: str | None, limit: int | None, reported: list[str]
) -> None:
    """S2-04: `jsonSchemaDialect`; JSON Schema before 2019-09 ignores it."""
    schema = {"type": "object", "properties": {"n": {"$ref": "#/components/schemas/N", "maximum": 3}}}
    members = {} if dialect is None else {"jsonSchemaDialect": dialect}
    data = description({"/a": sent(schema)}, components={"schemas": {"N": {"type": "integer"}}}, **members)
    source = write(tmp_path / "api.json", data)
    service, _ = read(source)
    assert (service.tools[0].parameters[0].schema.constraints or {}).get("maximum") == limit
    finished = generated("from-openapi", source, "-o", tmp_path / "out", "-v")
    for code in ("reference-siblings-ignored", "dialect-unknown"):
        assert (f"info: {code}: " in finished.stderr) == (code in reported)
