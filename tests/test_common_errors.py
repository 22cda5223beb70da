"""Errors that most tools have in the same words are documented once, and each section names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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


def test_errors_of_most_tools_are_documented_once(tmp_path: Path) -> None:
    """S2-14, X-20: no status is lost, and what differs in a word is with its tool."""
    out = tmp_path / "out"
    generated("from-openapi", write(tmp_path / "api.json", service(10)), "-o", out, "-q", "--emit", "skill,llms")
    references = out / "skills/tasks/references"
    about = MarkdownDocument((references / "about.md").read_text("utf-8")).section("Common Errors").text
    assert about.startswith("Every call can have these, unless its section says otherwise:\n\n- `401` ([Error]")
    assert [words in about for words in ("No key", "Too many", "Broken", "No such thing", "Other words")] == [
        *(True, True, True, False, False)
    ]
    tools = MarkdownDocument((references / "tools.md").read_text("utf-8"))
    assert "401" not in tools.section("get_1").text
    assert "Errors:\n\n- `404` ([Error](#error)): No such thing" in tools.section("get_0").text
    last = tools.section("get_9").text
    assert "Errors:\n\n- `401`: Other words" in last
    assert "Not declared here: `401`" not in last, "another form of an error is declared"
    skill = (references.parent / "SKILL.md").read_text("utf-8")
    assert "Errors of nearly every tool: [Common Errors](references/about.md#common-errors)." in skill
    assert broken_links(out) == []
    assert (out / "llms-full.txt").read_text("utf-8").count("No key") == 1


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
