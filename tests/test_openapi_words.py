"""What a description says of a type in its own words reaches the documents, wherever the type is."""

from __future__ import annotations

from typing import Any

import pytest
from descriptions import description, operation
from documents import MarkdownDocument, Section

import skillgen

Json = Any


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


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        (":param name: The name of a parcel.\n:return: None", None),
        ("Gets a parcel.\n    :param name: Its name.\n    :rtype: Parcel", "Gets a parcel."),
        ("Sets the `:type` of a parcel.", "Sets the `:type` of a parcel."),
    ],
)
def test_fields_of_a_docstring_are_no_summary(text: str, summary: str | None) -> None:
    (tool,) = skillgen.read(
        description({"/parcels": {"get": operation("getIt", summary=None, description=text)}})
    ).tools
    assert tool.summary == summary
