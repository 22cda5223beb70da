"""What a description says of a type in its own words reaches the documents, wherever the type is."""

from __future__ import annotations

from typing import Any

import pytest
from descriptions import description, operation
from documents import MarkdownDocument, Section

import skillgen

Json = Any

ITEM: Json = {"type": "object", "description": "What is sold.", "properties": {"name": {"type": "string"}}}


def section_of(acts: Json, **members: Json) -> Section:
    """Returns the section of the one operation of a description."""
    data = description({"/a/{id}": {"post": operation("act", **acts)}}, **members)
    texts = skillgen.render_documents(skillgen.read(data), emit="skill")
    pages = (text for path, text in texts.items() if "/references/" in path)
    (found,) = (part for page in pages for part in MarkdownDocument(page).sections(2) if part.heading.text == "act")
    return found


def of_json(schema: Json, **more: Json) -> Json:
    return {**more, "content": {"application/json": {"schema": schema}}}


@pytest.mark.parametrize(
    ("said", "of_type", "line"),
    [
        ("How many are wanted", "From 1 to 5.", "- `n` (string): How many are wanted. From 1 to 5."),
        (None, "From 1 to 5.", "- `n` (string): From 1 to 5."),
        ("From 1 to\n5, or none", "from 1 to 5.", "- `n` (string): From 1 to 5, or none"),
    ],
)
@pytest.mark.parametrize("place", ["query", "header", "response"])
def test_the_schema_describes_a_parameter_without_a_description(
    place: str, said: str | None, of_type: str, line: str
) -> None:
    """S2-08, S2-09."""
    one = {"schema": {"type": "string", "description": of_type}} | ({"description": said} if said else {})
    if place == "response":
        text = section_of({"responses": {"200": {"description": "Done", "headers": {"n": one}}}}).text
    else:
        text = section_of({"parameters": [{"name": "n", "in": place, **one}]}).text
    assert line in text.split("\n")


def test_a_type_that_is_made_of_others_is_what_they_are() -> None:
    """S2-08: its own words first."""
    parts = {"allOf": [{"$ref": "#/components/schemas/Item"}, {"type": "object", "properties": {"size": {}}}]}
    own = {**parts, "description": "What is bought."}
    for schema, words in ((parts, "What is sold."), (own, "What is bought. What is sold.")):
        text = section_of({"requestBody": of_json(schema)}, components={"schemas": {"Item": ITEM}}).text
        assert f"Body (JSON): {words}\n" in text


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ("The kind", "Set by the server.", "The kind. Set by the server."),
        ("The kind. Set by the server.", "the kind", "The kind. Set by the server."),
        ("Set by the server.", "The kind. Set by the server.", "The kind. Set by the server."),
        ("The kind. Of two.", "Of two. Since May.", "The kind. Of two. Since May."),
        ("The kind", "Of:\n\n- a\n- b", "The kind. Of: a; b"),
        (None, "The kind", "The kind"),
    ],
)
@pytest.mark.parametrize("place", ["body", "nested", "response", "value"])
def test_parts_of_a_schema_that_describe_one_thing_are_both_kept(
    place: str, one: str | None, other: str, words: str
) -> None:
    """S2-08, S2-09: `allOf`; no sentence is written twice."""
    texts = [{"type": "string"} | ({"description": text} if text is not None else {}) for text in (one, other)]
    schema: Json = {"allOf": [{"properties": {"kind": text}} for text in texts]}
    if place == "value":
        schema = {"properties": {"kind": {"allOf": texts}}}
    if place == "nested":
        schema = {"properties": {"inside": schema}}
    if place == "response":
        text = section_of({"responses": {"200": of_json(schema, description="Done")}}).text
    else:
        text = section_of({"requestBody": of_json(schema)}).text
    assert f"- `kind` (string): {words}" in [line.strip() for line in text.split("\n")]


def test_a_property_that_a_schema_declares_again_is_listed_once() -> None:
    """S2-09: with what the type that the schema includes says of it; the words of the type are not repeated."""
    wrapper: Json = {
        "type": "object", "description": "A wrapper of all lists.", "required": ["data"],
        "properties": {"data": {"type": "array", "description": "The things."}, "links": {"type": "object"}},
    }  # fmt: skip
    schema = {
        "allOf": [{"$ref": "#/components/schemas/Wrapper"}, {"properties": {"data": {"items": {"type": "string"}}}}]
    }
    acts = {"responses": {"200": of_json(schema, description="A list of items.")}}
    lines = section_of(acts, components={"schemas": {"Wrapper": wrapper}}).text.split("\n")
    assert "Returns object with more properties (200): A list of items. A wrapper of all lists." in lines
    assert [line for line in lines if "`data`" in line] == ["- `data` (array of string): The things."]


def test_an_example_that_refers_to_another_is_that_example() -> None:
    """OpenAPI has no reference in an example, but nobody means to send one."""
    body = of_json({"type": "object"})
    body["content"]["application/json"]["example"] = {"$ref": "#/components/examples/item/value"}
    components = {"examples": {"item": {"value": {"name": "Pen"}}}}
    text = section_of({"requestBody": body}, servers=[{"url": "https://x.example"}], components=components).text
    assert """-d '{"name": "Pen"}'""" in text


def test_an_alternative_keeps_its_description_of_a_shared_property() -> None:
    """S2-08."""
    alternatives = [
        {"title": title, "properties": {"to": {"type": "string", "description": words}}}
        for title, words in (("Mail", "An address."), ("Hand", "A person"), ("Box", "An address."))
    ]
    text = section_of({"requestBody": of_json({"type": "object", "oneOf": alternatives})}).text
    assert "- `to` (string): An address.\n" in text
    assert "- Hand (object): `to`.\n  - `to` (string): A person\n" in text
    assert "- Box (object): `to`.\n" in text


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
@pytest.mark.parametrize(
    ("schema", "said", "label"),
    [
        (ITEM, None, "Body (JSON): What is sold."),
        (ITEM, "The item", "Body (JSON): The item. What is sold."),
        ({"$ref": "#/components/schemas/Item"}, "The item", "Body (JSON): The item. What is sold."),
        ({"allOf": [{"$ref": "#/components/schemas/Item"}]}, None, "Body (JSON): What is sold."),
        (ITEM, "Two.\n\nParts.", "About the body:\n\nTwo.\n\nParts.\n\nWhat is sold.\n\nBody (JSON):"),
        ({"type": "string", "description": "Its name."}, "The item", "- the body itself (string): The item. Its name."),
    ],
)  # fmt: skip
def test_the_type_of_a_body_says_what_the_body_does_not(
    schema: Json, said: str | None, label: str, version: str
) -> None:
    """S2-08: also where its properties stand in the place of the named type."""
    body = of_json(schema, **({"description": said} if said else {}))
    assert label in section_of({"requestBody": body}, openapi=version, components={"schemas": {"Item": ITEM}}).text


def test_each_alternative_of_a_body_says_what_it_is() -> None:
    """S2-08."""
    ways = [
        {"type": "object", "description": way, "properties": {key: {"type": "string"}}, "required": [key]}
        for way, key in (("By name, as usual.", "name"), ("By number, which is fast.", "number"))
    ]
    text = section_of({"requestBody": of_json({"oneOf": ways})}).text
    assert "By name, as usual. `name` (required)." in text
    assert "By number, which is fast. `number` (required)." in text


def test_the_type_of_a_response_says_what_the_response_does_not() -> None:
    """S2-09."""
    responses = {
        "200": of_json({**ITEM, "description": "Newest first"}, description="OK"),
        "202": of_json({"type": "integer", "minimum": 1, "description": "Its place."}, description=""),
    }
    text = section_of({"responses": responses}).text
    assert "Returns (200): Newest first.\n" in text
    assert "Or integer (202): Its place." in text


def test_spaces_in_values_and_patterns_are_not_changed() -> None:
    """Issue 4: no default and no choice is stated that does not exist."""
    schemas: Json = {
        "c": {"type": "string", "enum": ["a  b", " a"], "default": "a  b"},
        "d": {"type": "string", "pattern": "^a  b$"},
        "e": {"type": "object", "patternProperties": {"^  x": {}}, "default": {"a  b": " c  d"}},
    }
    text = section_of({"parameters": [{"name": key, "in": "query", "schema": schemas[key]} for key in schemas]}).text
    assert '- `c` (string): One of `"a  b"`, `" a"`. Default: `"a  b"`.' in text
    assert "- `d` (string): Matches `^a  b$`." in text
    assert '- `e` (object): Default: `{"a  b": " c  d"}`.' in text
    assert "properties that match `^  x` (any)" in text


def test_a_full_stop_of_another_script_ends_a_sentence() -> None:
    page = {"name": "page", "in": "query", "description": "ページ番号。", "schema": {"type": "integer", "default": 1}}
    assert "- `page` (integer): ページ番号。 Default: `1`." in section_of({"parameters": [page]}).text


def test_errors_have_each_form_with_media_types_and_headers() -> None:
    """S2-14, S2-16."""
    left = {"Retry-After": {"description": "Seconds to wait", "schema": {"type": "integer"}}}
    order = {"type": "object", "properties": {"of": {"type": "object", "properties": {"item": {"type": "string"}}}}}
    problem = {"$ref": "#/components/schemas/Order"}
    forms = {"application/json": {"schema": problem}, "text/plain": {"schema": {"type": "string", "maxLength": 80}}}
    responses = {
        "200": {"description": "Done"},
        "400": {"description": "Bad", "content": forms},
        "404": {"description": "Gone", "content": {"application/problem+json": {"schema": problem}}},
        "410": {"description": "Sold", **of_json({"$ref": "#/components/schemas/Item"})},
        "429": {"description": "Slow down", "headers": left},
        "503": {"description": "Closed", "headers": left},
        "504": {"description": "Late", "headers": {"X-Id": {"schema": {"type": "string"}}}},
    }
    text = section_of({"responses": responses}, components={"schemas": {"Item": ITEM, "Order": order}}).text
    for line in (
        "- `404` ([Order](#order), `application/problem+json`): Gone",
        "- `400` ([Order](#order)): Bad",
        "- `410` ([Item](#item)): Sold",
        "The body of `400` (`text/plain`): string.",
        "`429`, `503` come with the header:\n\n- `Retry-After` (integer): Seconds to wait",
        "`504` comes with the header `X-Id`.",
    ):
        assert line in text


def test_words_of_which_nothing_is_left_leave_nothing() -> None:
    """S2-09: an empty element of HTML, wherever words may stand."""
    nothing = {"type": "object", "description": "<p/>", "properties": {"n": {"type": "string", "description": "<br>"}}}
    body = of_json({"allOf": [nothing, {"description": "<i></i>"}]}, description="<p></p>", required=True)
    answers = {
        "200": {"description": "<p/>", "headers": {"X-A": {"schema": nothing, "description": "<p/>"}}},
        "400": of_json(nothing, description="<hr/>"),
    }
    query = [{"name": "q", "in": "query", "description": "<p/>", "schema": {"type": "string", "title": "<p/>"}}]
    text = section_of({"requestBody": body, "responses": answers, "parameters": query, "description": "<p/>"}).text
    assert [line for line in text.split("\n") if line != line.rstrip()] == []
    assert "Body (JSON):\n" in text


def test_a_body_that_is_a_file_says_so() -> None:
    file = {"type": "string", "format": "binary"}
    whole = {"description": "New content", "content": {"application/octet-stream": {"schema": file}}}
    assert "New content. The content of a file." in section_of({"requestBody": whole}).text
    parts = {"type": "object", "properties": {"one": file, "many": {"type": "array", "items": file}}}
    lines = section_of({"requestBody": {"content": {"multipart/form-data": {"schema": parts}}}}).text.split("\n")
    assert "- `one` (string (binary)): The content of a file." in lines
    assert "- `many` (array of string (binary)): Each item is the content of a file." in lines
