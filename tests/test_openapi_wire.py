"""How what is sent is written, in each version: styles, query strings, sequences, parts and XML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli import generated
from descriptions import LONG, description, operation, write
from test_openapi_versions import codes, read

Json = Any


def of_2_0(parameters: list[Json], **members: Json) -> dict[str, Json]:
    """Returns a description of version 2.0 with one operation, whose text makes it large."""
    return {
        "swagger": "2.0",
        "info": {"title": "Tasks", "version": "1.0", "description": "Keeps tasks."},
        "host": "tasks.example",
        "schemes": ["https"],
        "paths": {"/a/{p}": {"post": operation("x", parameters=parameters, description=LONG, **members)}},
    }


def page_of(tmp_path: Path, data: Json) -> str:
    """Returns the page of the tools of a description."""
    generated("from-openapi", write(tmp_path / "api.json", data), "-o", tmp_path / "out", "-q")
    return (tmp_path / "out/skills/tasks/references/tools.md").read_text("utf-8")


def test_every_collection_format_of_2_0_is_documented_and_sent(tmp_path: Path) -> None:
    """S2-08."""
    two = {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 2, "uniqueItems": True}
    places = [("p", "path", "pipes"), ("t", "query", "tsv"), ("s", "query", "ssv"), ("c", "query", None),
              ("h", "header", "pipes"), ("f", "formData", None), ("g", "formData", "pipes"),
              ("m", "formData", "multi")]  # fmt: skip
    parameters = [
        {"name": name, "in": place, "required": True, **two, **({"collectionFormat": how} if how else {})}
        for name, place, how in places
    ]
    page = page_of(tmp_path, of_2_0(parameters))
    for sent in ("A|B", "t=A%09B", "s=A%20B", "c=A,B", "f=A,B", "g=A|B"):
        assert f"Sent as `{sent}`." in page, sent
    assert '"https://tasks.example/a/a%7Cb?t=a%09b&s=a%20b&c=a,b"' in page
    for option in ("-H 'h: a|b'", "'f=a,b'", "'g=a|b'", "'m=a'", "'m=b'"):
        assert option in page, option


def test_a_media_type_may_be_one_of_the_components(tmp_path: Path) -> None:
    """S2-23: `components.mediaTypes`, in a body, a response and a parameter."""
    schema = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer", "minimum": 7}}}
    content = {"application/json": {"$ref": "#/components/mediaTypes/Item"}}
    whole = operation(
        "x",
        parameters=[{"name": "q", "in": "query", "required": True, "content": content}],
        requestBody={"required": True, "content": content},
        responses={"200": {"description": "It", "content": content}},
    )
    components = {"mediaTypes": {"Item": {"schema": schema, "example": {"id": 9}}}}
    data = description({"/a": {"post": whole}}, openapi="3.2.0", components=components)
    service, problems = read(data)
    assert codes(problems) == []
    (tool,) = service.tools
    assert [(item.name, item.location) for item in tool.parameters] == [("q", "query"), ("id", "body")]
    assert tool.output is not None
    assert tool.output.raw == schema
    page = page_of(tmp_path, data)
    assert "?q=%7B%22id%22%3A9%7D" in page
    assert """-d '{"id": 9}'""" in page


@pytest.mark.parametrize("key", ["schema", "itemSchema"])
def test_a_body_of_records_is_documented_by_its_items_and_separators(tmp_path: Path, key: str) -> None:
    """S2-23: `application/json-seq`."""
    item = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer", "example": 1}}}
    media = {key: item if key == "itemSchema" else {"type": "array", "items": item}}
    body = {"required": True, "content": {"application/json-seq": media}}
    page = page_of(tmp_path, description({"/a": {"post": operation("x", requestBody=body)}}, openapi="3.2.0"))
    assert (
        "(array of object, required): Each item is written between a record separator (U+001E) and a newline." in page
    )
    assert "- `id` (integer, required): Example: `1`." in page
    assert """printf '\\036%s\\n' '{"id": 1}' | curl""" in page
    assert page.count(" --data-binary @-\n") == 1


def test_xml_names_are_left_out_if_json_can_be_sent(tmp_path: Path) -> None:
    """S2-08."""
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"const": 1, "xml": {"name": "b"}}}}
    both = {"application/json": {"schema": schema}, "application/xml": {"schema": schema}}
    page = page_of(tmp_path, description({"/a": {"post": operation("x", requestBody={"content": both})}}))
    assert "In XML" not in page
    alone = {"required": True, "content": {"application/xml": {"schema": schema}}}
    page = page_of(tmp_path, description({"/a": {"post": operation("x", requestBody=alone)}}))
    assert 'In XML: `{"name": "b"}`.' in page
    assert "curl" not in page
    path = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}, "example": "a7"}
    optional = operation("x", parameters=[path], requestBody={**alone, "required": False})
    assert "curl" not in page_of(tmp_path, description({"/a/{id}": {"post": optional}}))


@pytest.mark.parametrize("name", ["0-7", "a.b", "x y", "12"])
def test_a_discriminator_and_its_types_may_be_called_anything(tmp_path: Path, name: str) -> None:
    """S2-09: what a type is known by, also where it says so itself, and what an object is that says nothing (3.2)."""
    base = {"$ref": "#/components/schemas/Base"}
    schemas = {
        "Base": {
            "type": "object",
            "properties": {"kind": {"type": "string"}},
            "discriminator": {"propertyName": "kind", "mapping": {"8-12": name}, "defaultMapping": "Other"},
        },
        name: {"allOf": [base]},
        "Known": {"allOf": [base], "x-ms-discriminator-value": "#Known.It"},
        "Other": {"allOf": [base]},
    }
    body = {"content": {"application/json": {"schema": base}}}
    paths = {"/a": {"post": operation("x", requestBody=body)}}
    data = description(paths, openapi="3.2.0", components={"schemas": schemas})
    service, problems = read(data)
    assert codes(problems) == []
    (found,) = (item.schema.discriminator for item in service.schemas if item.name == "Base")
    assert found is not None
    assert found.mapping == {"8-12": name, "#Known.It": "Known", "Other": "Other"}
    generated("from-openapi", write(tmp_path / "api.json", data), "-o", tmp_path / "out", "-q")
    types = "".join(path.read_text("utf-8") for path in tmp_path.glob("out/skills/tasks/references/*.md"))
    assert "Where `kind` is absent or has another value, it is [Other](#other)." in types
