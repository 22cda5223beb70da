"""What documents say of schemas as generators and people write them, and what nobody can send."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli import generated
from descriptions import description, operation
from test_openapi_requests import body

import skillgen

Json = Any


def document_of(operation_: Json, method: str = "post", path: str = "/a", **members: Json) -> str:
    """Returns all documents of a description with one operation."""
    data = description({path: {method: {**operation("act"), **operation_}}}, **members)
    return "\n".join(skillgen.render_documents(skillgen.read(data), emit="skill").values())


def property_of(schema: Json, **members: Json) -> str:
    """Returns the documents of an operation whose body has one property `value`."""
    return document_of(body("application/json", {"type": "object", "properties": {"value": schema}}), **members)


@pytest.mark.parametrize(
    ("extension", "words"),
    [
        ({"x-enumNames": ["Off", "On"]}, ("`0` (Off)", "`1` (On)")),
        ({"x-enum-varnames": ["Off", "On"]}, ("`0` (Off)", "`1` (On)")),
        ({"x-enum-descriptions": ["Dark.", "Lit."]}, ("Dark.", "Lit.")),
        ({"x-enum-descriptions": {"0": "Dark.", "1": "Lit."}}, ("Dark.", "Lit.")),
        (
            {"x-ms-enum": {"values": [{"value": 0, "name": "Off"}, {"value": 1, "description": "Lit."}]}},
            ("Off", "Lit."),
        ),
    ],
)
def test_names_and_texts_of_values_in_extensions_are_shown(extension: Json, words: tuple[str, ...]) -> None:
    """S2-08: as of `oneOf` with `const` and `title`."""
    text = property_of({"type": "integer", "enum": [0, 1], **extension})
    assert [word for word in words if word not in text] == []


@pytest.mark.parametrize(
    "parts",
    [
        [{"properties": {"s": {"type": "string"}}}, {"properties": {"s": {"type": "integer"}}}],
        [{"properties": {"s": {"enum": ["a"]}}}, {"properties": {"s": {"enum": ["b"]}}}],
    ],
)
def test_a_property_that_no_value_fits_is_reported(parts: Json) -> None:
    """S2-08: wherever the parts are."""
    whole = {"allOf": [{"type": "object", **part} for part in parts]}
    for schema in (whole, {"type": "object", "properties": {"inner": whole}}):
        data = description({"/a": {"post": {**operation("act"), **body("application/json", schema)}}})
        found = [problem.message for problem in skillgen.read(data).problems if problem.code == "schema-invalid"]
        assert ["no value" in message for message in found] == [True]


@pytest.mark.parametrize(
    ("media_type", "is_file"),
    [("application/octet-stream", True), ("image/png", True), ("text/csv", False), ("application/json", False)],
)
def test_a_body_without_a_schema_is_a_file_unless_it_is_text(media_type: str, is_file: bool) -> None:
    """S2-08: OpenAPI 3.1, "Considerations for File Uploads"."""
    content: Json = {media_type: {}}
    text = document_of({"requestBody": {"required": True, "content": content}}, openapi="3.1.0")
    assert ("The content of a file." in text) is is_file


def test_a_reference_with_an_escaped_key_is_followed(tmp_path: Path) -> None:
    """S2-06: it is the same JSON."""
    (tmp_path / "types.json").write_text('{"Word": {"type": "string", "enum": ["tea"]}}', "utf-8")
    schema = {"type": "object", "properties": {"word": {"$ref": "types.json#/Word"}}}
    text = json.dumps(description({"/a": {"post": {**operation("act"), **body("application/json", schema)}}}))
    for number, key in enumerate(('"$ref"', '"\\u0024ref"', '"$\\u0072ef"')):
        source, out = tmp_path / f"{number}.json", tmp_path / str(number)
        source.write_text(text.replace('"$ref"', key), "utf-8")
        generated("from-openapi", source, "-o", out)
        assert "tea" in "".join(path.read_text("utf-8") for path in out.rglob("*.md"))


@pytest.mark.parametrize(
    ("endpoint", "result", "is_deprecated", "is_named"),
    [
        ("POST /login", {"type": "object", "properties": {"access_token": {"type": "string"}}}, False, True),
        ("GET /login", {"type": "object", "properties": {"data": {"properties": {"jwt": {}}}}}, False, True),
        ("GET /login/{id}", {"type": "object", "properties": {"session": {"type": "string"}}}, False, False),
        ("POST /login", {"$ref": "#/components/schemas/Login"}, False, True),
        ("POST /login", {"type": "object", "properties": {"access_token": {"type": "string"}}}, True, False),
        ("POST /login", {"type": "object", "properties": {"location": {"type": "string"}}}, False, False),
        ("POST /login", {}, False, False),
    ],
)
def test_a_login_operation_is_named_only_if_it_returns_a_token(
    endpoint: str, result: Json, is_deprecated: bool, is_named: bool
) -> None:
    """S2-12."""
    response = {"200": {"description": "Done", "content": {"application/json": {"schema": result}}}}
    login = {**operation("login"), "responses": response, "security": [], "deprecated": is_deprecated}
    components = {
        "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        "schemas": {"Login": {"type": "object", "properties": {"token": {"type": "string"}}}},
    }
    method, path = endpoint.lower().split()
    data = description({path: {method: login}, "/a": {"get": operation("act")}}, security=[{"key": []}])
    data["components"] = components
    texts = skillgen.render_documents(skillgen.read(data), emit="skill")
    assert (f"call `{endpoint}` first" in texts["skills/tasks/SKILL.md"]) is is_named
