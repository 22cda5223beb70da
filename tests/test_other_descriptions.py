"""Descriptions that other people wrote to try tools on: Swagger 2.0, OpenAPI 3.0 and 3.1, as JSON and as YAML.

They are those of npm's `@readme/oas-examples`. What is wrong is found by code that knows the raw description alone.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli import files_of, generated, run_skillgen
from corpus_checks import complaints

Json = Any

FOLDERS = ["2.0/json", "2.0/yaml", "3.0/json", "3.0/yaml", "3.1/json", "3.1/yaml"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_of_them_is_documented_with_every_operation_once(node_modules: Path, folder: str, tmp_path: Path) -> None:
    """S2-02, S2-04, S2-07, S2-08, X-20."""
    sources = sorted((node_modules / "@readme" / "oas-examples" / folder).glob("*.*"))
    assert len(sources) >= 7
    found: list[tuple[str, Json]] = []
    for source in sources:
        out = tmp_path / source.stem
        generated("from-openapi", source, "-o", out, "--quiet")
        raw = tmp_path / f"{source.stem}.json"
        raw.write_text(json.dumps(yaml.load(source.read_text("utf-8"), yaml.CSafeLoader), default=str), "utf-8")
        found += [(source.name, complaint) for complaint in complaints(raw, out)]
    assert found == []


FLOW = {"authorizationUrl": "java\tscript:1", "tokenUrl": "data:text/html,x", "scopes": {}}
SCHEMES = {
    "a": {"type": "oauth2", "flows": {"authorizationCode": FLOW}},
    "b": {"type": "openIdConnect", "openIdConnectUrl": "JavaScript:1"},
}


@pytest.mark.parametrize(
    ("member", "pointers"),
    [
        ({"externalDocs": {"url": "javascript:alert(1)"}}, ["/externalDocs/url"]),
        ({"servers": [{"url": "javascript:1"}, {"url": "localhost:80/a"}]}, ["/servers/0/url"]),
        (
            {"components": {"securitySchemes": SCHEMES}},
            [
                "/components/securitySchemes/a/flows/authorizationCode/authorizationUrl",
                "/components/securitySchemes/a/flows/authorizationCode/tokenUrl",
                "/components/securitySchemes/b/openIdConnectUrl",
            ],
        ),
    ],
    ids=["documentation", "server", "login"],
)
def test_a_url_that_is_not_a_web_address_is_left_out(
    member: dict[str, object], pointers: list[str], tmp_path: Path
) -> None:
    """S0-10, S2-09."""
    source = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {}}
    (tmp_path / "api.json").write_text(json.dumps({**source, **member}), "utf-8")
    finished = run_skillgen("from-openapi", tmp_path / "api.json", "-o", tmp_path / "out", "--allow-empty", "-v")
    assert re.findall("url-invalid: (\\S+)", finished.stderr) == [f"{pointer}:" for pointer in pointers]
    documents = b"".join(files_of(tmp_path / "out").values()).lower()
    assert not any(scheme in documents for scheme in (b"javascript:", b"script:1", b"data:text"))
    assert (b"localhost:80/a" in documents) == ("servers" in member)


PET = {"type": "object", "properties": {"name": {"type": "string"}}}
COUNTS = {"additionalProperties": {"type": "integer"}}


@pytest.mark.parametrize(
    ("part", "is_closed", "is_typed"),
    [
        (PET, True, False),
        ({**PET, **COUNTS}, False, True),
        ({"oneOf": [PET, COUNTS]}, False, False),
        ({**PET, "unevaluatedProperties": {}}, False, False),
    ],
    ids=["closed", "typed by a part", "open in an alternative", "opened by a part"],
)
def test_properties_that_a_part_of_the_schema_allows_are_not_excluded(
    part: Json, is_closed: bool, is_typed: bool, tmp_path: Path
) -> None:
    """S2-09: `unevaluatedProperties` concerns only what no part of the schema allows (JSON Schema 2020-12, 11.3)."""
    body = {"allOf": [{"$ref": "#/components/schemas/Part"}, {"properties": {"x": {}}}], "unevaluatedProperties": False}
    operation = {"operationId": "a", "requestBody": {"content": {"application/json": {"schema": body}}}}
    source = {
        "openapi": "3.1.0",
        "info": {"title": "T", "version": "1"},
        "paths": {"/a": {"post": operation}},
        "components": {"schemas": {"Part": part}},
    }
    (tmp_path / "api.json").write_text(json.dumps(source), "utf-8")
    run_skillgen("from-openapi", tmp_path / "api.json", "-o", tmp_path / "out", "--emit", "skill")
    documents = b"".join(files_of(tmp_path / "out").values()).decode()
    assert ("- any other property (integer)" in documents) == is_typed
    assert ('"additional": false' in run_skillgen("inspect", tmp_path / "api.json").stdout) == is_closed


def test_a_value_that_looks_like_a_reference_is_not_followed(tmp_path: Path) -> None:
    """S2-09: an example is a value; only an Example Object in `examples` may be a reference."""
    link = {"type": "object", "properties": {"$ref": {"type": "string"}}, "example": {"$ref": "other.json#/a"}}
    (tmp_path / "shown.json").write_text(json.dumps({"value": {"$ref": "from a file"}}), "utf-8")
    media = {"schema": link, "examples": {"default": {"$ref": "shown.json"}}}
    operation = {
        "operationId": "a",
        "responses": {"200": {"description": "ok", "content": {"application/json": media}}},
    }
    source = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {"/a": {"get": operation}}}
    (tmp_path / "api.json").write_text(json.dumps(source), "utf-8")
    finished = run_skillgen("from-openapi", tmp_path / "api.json", "-o", tmp_path / "out", "-v")
    assert "document-not-read" not in finished.stderr
    documents = b"".join(files_of(tmp_path / "out").values()).decode()
    assert "from a file" in documents
    assert "x-files" not in documents
