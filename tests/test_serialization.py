"""What is written into a request is read from it again, for every style and type (OpenAPI 3.2, "Style Values")."""

from __future__ import annotations

import json
from email.message import Message
from typing import Any

import pytest
from descriptions import operation
from hypothesis import given
from hypothesis import strategies as st
from properties import load_profile

import skillgen
from skillgen.calls.script import encoded_body
from skillgen.mock.answers import Decoder, Request
from skillgen.model.serialization import written

load_profile()

Json = Any

MEMBERS = {"a": {"type": "string"}, "b": {"type": "integer"}}
SCHEMAS: dict[str, Json] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "strings": {"type": "array", "items": {"type": "string"}},
    "integers": {"type": "array", "items": {"type": "integer"}},
    "object": {"type": "object", "properties": MEMBERS, "required": ["a"]},
}
STYLES = [
    *((place, style, explode) for place, style in (("path", "simple"), ("path", "label"), ("path", "matrix"),
      ("query", "form"), ("header", "simple"), ("cookie", "form"), ("cookie", "cookie")) for explode in (False, True)),
    ("query", "spaceDelimited", False), ("query", "pipeDelimited", False), ("query", "deepObject", True),
]  # fmt: skip
UNSENDABLE = {"header": ",=é", "cookie": ",=;é%+ ", "spaceDelimited": " ", "pipeDelimited": "|", "label": "."}
"""Characters that the style does not encode, or that the place cannot have."""

CASES = [
    (*style, kind) for style in STYLES for kind in SCHEMAS
    if (style[1] != "deepObject" or kind == "object") and ("Delimited" not in style[1] or kind != "object")
]  # fmt: skip


BODIES = [
    *("application/json", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain"),
    "application/jsonl",
]


def values(kind: str, excluded: str = "") -> st.SearchStrategy[Json]:
    """Returns the values of a type, with strings without the excluded characters."""
    text = st.text([letter for letter in "aZ09é&?/#%+ =;,.|[{\"'" if letter not in excluded], min_size=1).map(str.strip)
    texts, integers = text.filter(bool), st.integers(-(10**9), 10**9)
    return {
        "string": texts,
        "integer": integers,
        "number": st.floats(-1000, 1000, width=16).filter(lambda value: "e" not in repr(value)),
        "boolean": st.booleans(),
        "strings": st.lists(texts, min_size=1),
        "integers": st.lists(integers, min_size=1),
        "object": st.fixed_dictionaries({"a": texts}, optional={"b": integers}),
    }[kind]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> skillgen.Service:
    paths: dict[str, Json] = {}
    for number, (place, style, explode, kind) in enumerate(CASES):
        rules = {"style": style, "explode": explode, "required": True}
        parameter = {"name": "p", "in": place, "schema": SCHEMAS[kind], **rules}
        paths[f"/{number}" + ("/{p}" if place == "path" else "")] = {
            "get": operation(f"call{number}", parameters=[parameter])
        }
    body = {"type": "object", "properties": SCHEMAS}
    for media_type in BODIES:
        schema = SCHEMAS["string"] if media_type == "text/plain" else body
        content = {
            media_type: {"schema": {"type": "array", "items": body} if media_type == "application/jsonl" else schema}
        }
        name = media_type.partition("/")[2].replace("-", "")
        paths[f"/{name}"] = {"post": operation(name, requestBody={"content": content})}
    source = tmp_path_factory.mktemp("api") / "api.json"
    source.write_text(json.dumps({"openapi": "3.2.0", "info": {"title": "S", "version": "1"}, "paths": paths}))
    return skillgen.read(source)


@pytest.mark.parametrize(("place", "style", "explode", "kind"), CASES, ids=str)
def test_a_parameter_is_read_as_it_was_written(
    place: str, style: str, explode: bool, kind: str, service: skillgen.Service
) -> None:
    """S2-08: with each style of its place, and each type."""
    number = CASES.index((place, style, explode, kind))
    tool = next(tool for tool in service.tools if tool.name == f"call{number}")
    excluded = UNSENDABLE.get(place, "") + UNSENDABLE.get(style, "")
    decoder = Decoder(service)

    @given(values(kind, excluded))
    def is_read(value: Json) -> None:
        sent = written(place, "p", value, style, explode)
        headers = Message()
        if place == "header":
            headers["p"] = sent[0]
        elif place == "cookie":
            headers["Cookie"] = "; ".join(sent)
        query = "?" + "&".join(sent) if place == "query" else ""
        path = {"p": sent[0]} if place == "path" else {}
        found = decoder.decode(tool, Request("GET", f"/{number}{query}", headers, b""), path, ())
        assert (found.arguments, found.faults) == ({"p": value}, [])

    is_read()


@pytest.mark.parametrize("media_type", BODIES)
def test_a_body_is_read_as_it_was_written(media_type: str, service: skillgen.Service) -> None:
    """S2-08: JSON, forms, parts, text and lines."""
    name = media_type.partition("/")[2].replace("-", "")
    tool = next(tool for tool in service.tools if tool.name == name)
    decoder = Decoder(service)
    members = st.fixed_dictionaries({}, optional={kind: values(kind) for kind in SCHEMAS}).filter(bool)
    bodies = values("string") if media_type == "text/plain" else members
    bodies = st.lists(members, min_size=1) if media_type == "application/jsonl" else bodies

    @given(bodies)
    def is_read(value: Json) -> None:
        headers = Message()
        form = {"type": media_type, **({"line_start": ""} if media_type == "application/jsonl" else {})}
        headers["Content-Type"], content = encoded_body(form, value)
        found = decoder.decode(tool, Request("POST", f"/{name}", headers, content), {}, ())
        assert (found.arguments, found.faults) == ({"body": value}, [])

    is_read()
