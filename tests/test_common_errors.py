"""Errors that most tools have in the same words are documented once, and each section names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli import generated
from descriptions import description, operation, write
from documents import MarkdownDocument, broken_links

Json = Any


def answering(words: str) -> dict[str, Json]:
    """Returns an error with a body of a named type."""
    schema = {"$ref": "#/components/schemas/Error"}
    return {"description": words, "content": {"application/json": {"schema": schema}}}


def service(count: int) -> dict[str, Json]:
    """Returns a description of some tools that share three errors; the first has a fourth, the last its own words."""
    done = {"200": {"description": "Done"}}
    shared = {"401": answering("No key"), "429": answering("Too many"), "500": answering("Broken")}
    paths = {f"/{number}": {"get": operation(f"get_{number}", responses={**done, **shared})} for number in range(count)}
    paths["/0"]["get"]["responses"]["404"] = answering("No such thing")
    last = paths[f"/{count - 1}"]["get"]["responses"]
    last["401"] = {"description": "Other words"}
    error = {"type": "object", "properties": {"message": {"type": "string"}}}
    return description(paths, components={"schemas": {"Error": error}})


def test_errors_of_most_tools_are_documented_once_and_named_with_each(tmp_path: Path) -> None:
    """S2-14, X-20: no status is lost, and what differs in a word is with its tool."""
    out = tmp_path / "out"
    generated(
        "from-openapi", write(tmp_path / "api.json", service(10)), "-o", out, "-q", "--emit", "skill,llms,ai-help"
    )
    about = MarkdownDocument((out / "skills/tasks/references/about.md").read_text("utf-8")).section("Common Errors")
    assert "No key" in about.text
    assert "Broken" in about.text
    tools = MarkdownDocument((out / "skills/tasks/references/tools.md").read_text("utf-8"))
    assert "Errors: [`401`, `429`, `500`](about.md#common-errors)." in tools.section("get_1").text
    assert "No key" not in tools.section("get_1").text
    first = tools.section("get_0").text
    assert "No such thing" in first
    assert "Also [`401`, `429`, `500`]" in first
    last = tools.section("get_9").text
    assert "Other words" in last
    assert "Also [`429`, `500`]" in last
    assert broken_links(out) == []
    for name in ("llms-full.txt", "ai-help.md"):
        text = (out / name).read_text("utf-8")
        assert text.count("No key") == 1, name
        assert "(#common-errors)" in text, name


@pytest.mark.parametrize("count", [2, 7])
def test_errors_of_a_few_tools_stand_with_each(tmp_path: Path, count: int) -> None:
    """S2-14."""
    generated("from-openapi", write(tmp_path / "api.json", service(count)), "-o", tmp_path / "out", "-q")
    tools = (tmp_path / "out/skills/tasks/references/tools.md").read_text("utf-8")
    assert tools.count("Broken") == count
    assert "Common Errors" not in tools


def test_what_is_short_is_repeated_with_each_tool(tmp_path: Path) -> None:
    """S2-14: a look elsewhere costs more than one line."""
    responses = {"200": {"description": "Done"}, "401": {"description": "No key"}}
    data = description({f"/{number}": {"get": operation(f"get_{number}", responses=responses)} for number in range(9)})
    generated("from-openapi", write(tmp_path / "api.json", data), "-o", tmp_path / "out", "-q")
    assert (tmp_path / "out/skills/tasks/references/tools.md").read_text("utf-8").count("No key") == 9


def test_an_error_of_nearly_every_tool_is_not_named_with_each(tmp_path: Path) -> None:
    """Design, "Output": SKILL.md leads to it, and a tool without it says so."""
    responses = {"200": {"description": "Done"}, "401": {"description": "No key"}}
    data = description({f"/{number}": {"get": operation(f"get_{number}", responses=responses)} for number in range(24)})
    data["paths"]["/3"]["get"]["responses"] = {"200": {"description": "Done"}, "404": {"description": "No thing"}}
    out = tmp_path / "out"
    generated("from-openapi", write(tmp_path / "api.json", data), "-o", out, "-q", "--emit", "skill,llms")
    (skill,) = (out / "skills").iterdir()
    assert "Errors of nearly every tool: [Common Errors](references/about.md#common-errors)." in (
        skill / "SKILL.md"
    ).read_text("utf-8")
    about = MarkdownDocument((skill / "references/about.md").read_text("utf-8")).section("Common Errors")
    assert "apart from `401`, which every tool has unless its section says otherwise." in about.text
    assert "- `401`: No key" in about.text
    tools = MarkdownDocument((skill / "references/tools.md").read_text("utf-8"))
    assert "401" not in tools.section("get_2").text
    assert "Errors:\n\n- `404`: No thing\n\nNot declared here: `401` of [Common Errors]" in tools.section("get_3").text
    assert broken_links(out) == []


def test_the_body_of_a_shared_error_is_documented_with_it(tmp_path: Path) -> None:
    data = service(10)
    schema = {"type": "object", "properties": {"why": {"type": "string", "example": "x"}, "code": {"type": "integer"}}}
    for number in range(10):
        answer = {"description": "Broken", "content": {"application/json": {"schema": schema}}}
        data["paths"][f"/{number}"]["get"]["responses"]["500"] = answer
    out = tmp_path / "out"
    generated("from-openapi", write(tmp_path / "api.json", data), "-o", out, "-q", "--emit", "skill,llms")
    about = MarkdownDocument((out / "skills/tasks/references/about.md").read_text("utf-8")).section("Common Errors")
    assert "\n\n- `why` (string): Example: `x`.\n- `code` (integer)" in about.text


def test_an_error_of_many_tools_is_shared_unless_its_example_differs(tmp_path: Path) -> None:
    """Design, "Output": two errors of one code are never both in the common section."""
    said = "The body is brief, and this is all there is to know of it, whatever the reason of the failure was. " * 2
    schema = {"type": "object", "description": said, "properties": {"ok": {"type": "boolean"}}}
    paths: dict[str, Json] = {}
    for number in range(80):
        example = (
            {"error": "no_key"} if number < 25 else {"error": "no_thing"} if number < 46 else {"error": str(number)}
        )
        answer = {"description": "Broken", "content": {"application/json": {"schema": schema, "example": example}}}
        paths[f"/{number}"] = {
            "get": operation(f"get_{number}", responses={"200": {"description": "Done"}, "500": answer})
        }
    out = tmp_path / "out"
    generated("from-openapi", write(tmp_path / "api.json", description(paths)), "-o", out, "-q", "--emit", "skill")
    references = out / "skills/tasks/references"
    about = MarkdownDocument((references / "about.md").read_text("utf-8")).section("Common Errors").text
    assert "no_key" in about
    assert "no_thing" not in about
    pages = "".join(path.read_text("utf-8") for path in references.glob("*.md"))
    assert pages.count("Errors: [`500`](about.md#common-errors).") == 25
    assert [pages.count(f'"{words}"') for words in ("no_key", "no_thing", "79")] == [1, 21, 1]
