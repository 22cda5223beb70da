"""References by name instead of by pointer: `$id`, `$anchor`, `$dynamicAnchor`, `$self`, and the dialect of schemas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli import generated
from descriptions import description, operation, write
from test_openapi_ways_in import read

Json = Any


def sent(schema: Json) -> dict[str, Json]:
    """Returns the path item of an operation with this body."""
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    return {"post": operation("act", requestBody=body)}


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
