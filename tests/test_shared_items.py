"""A parameter that most tools have in the same words is described once, at the head of its page and in SKILL.md."""

from __future__ import annotations

from typing import Any

import pytest
from documents import ABOVE

import skillgen

Json = Any

OWNER: Json = {
    "name": "owner",
    "in": "path",
    "required": True,
    "schema": {"type": "string"},
    "description": "The account that owns the repository, in lower case, such as the name of an organization.",
}
FIELDS: Json = {
    "name": "fields",
    "in": "query",
    "schema": {"type": "array", "items": {"enum": ["name", "size"]}},
    "description": "The fields of each thing that the answer has, apart from its identifier and its address.",
}
FILLER = "This sentence makes the documents long enough for several pages. " * 20


def described(groups: int = 3, tools: int = 4, own: str | None = None, without: int = 0) -> Json:
    """Returns a description with groups of tools that all have the same two parameters; `own` are the words of the
    first tool of each group, and `without` tools lack the second."""
    paths: dict[str, Json] = {}
    for group in range(groups):
        for tool in range(tools):
            name = f"list{'ABCDEFG'[group]}{tool}"
            fields = {**FIELDS, **({"description": own} if own and tool == 0 else {})}
            parameters = [OWNER] if group * tools + tool < without else [OWNER, fields]
            paths[f"/{name}/{{owner}}"] = {
                "get": {
                    "operationId": name,
                    "tags": [f"group{group}"],
                    "description": f"Lists {name}. {FILLER}",
                    "parameters": parameters,
                    "responses": {"200": {"description": "Done"}},
                }
            }
    return {"openapi": "3.0.3", "info": {"title": "Things", "version": "1"}, "paths": paths}


def documents(data: Json, emit: str = "skill") -> dict[str, str]:
    return dict(skillgen.render_documents(skillgen.read(data), emit=emit))


def pages(data: Json) -> dict[str, str]:
    """Returns the references by file name."""
    return {path.rpartition("/")[2]: text for path, text in documents(data).items() if "/references/" in path}


def skill_md(data: Json) -> str:
    (text,) = (text for path, text in documents(data).items() if path.endswith("SKILL.md"))
    return text


def test_an_optional_parameter_of_most_tools_is_at_the_head_of_its_page() -> None:
    for group, text in pages(described()).items():
        head, *sections = text.split("\n## ")
        assert f"{ABOVE}\n\n- `fields` (array of string): {FIELDS['description']}" in head, group
        assert [section.count("- Also, above: `fields`\n") for section in sections] == [1] * 4
        assert text.count(FIELDS["description"]) == 1


def test_a_required_parameter_stays_in_each_section() -> None:
    for text in pages(described()).values():
        assert text.count(f"- `owner` (string, required): {OWNER['description']}") == 4


def test_items_of_one_name_that_differ_stay_in_their_sections() -> None:
    own = "Other words on the fields, which only the first tool of each group has, and no other one at all."
    for text in pages(described(tools=5, own=own)).values():
        first, *others = text.split("\n## ")[1:]
        assert f"- `fields` (array of string): {own}" in first
        assert all("- Also, above: `fields`" in section for section in others)


def test_few_tools_with_an_item_keep_it_in_their_sections() -> None:
    for data in (described(tools=2), described(groups=1, tools=8, without=4)):
        assert ABOVE not in "".join(documents(data).values())


def test_a_long_item_is_written_once_for_three_tools() -> None:
    data = described(groups=1, tools=8, without=5)
    long = "The fields of each thing. " * 10
    for path in data["paths"].values():
        for parameter in path["get"]["parameters"][1:]:
            parameter["description"] = long
    (page,) = pages(data).values()
    assert (page.count(long.strip()), page.count("- Also, above: `fields`")) == (1, 3)


@pytest.mark.parametrize("emit", ["llms", "ai-help-commands"])
def test_single_files_have_what_their_sections_name(emit: str) -> None:
    for path, text in documents(described(), emit).items():
        if "- Also, above: " in text:
            assert f"{ABOVE}\n\n- `fields` (array of string)" in text, path


def test_skill_md_says_once_what_every_tool_takes() -> None:
    skill = skill_md(described())
    assert f"Every tool takes:\n\n- `fields` (array of string): {FIELDS['description']}" in skill
    assert "- `GET /listA0/{owner}` [read] — Lists listA0" in skill


def test_skill_md_names_the_few_tools_without_a_parameter() -> None:
    skill = skill_md(described(without=2))
    assert "Every tool but `GET /listA0/{owner}`, `GET /listA1/{owner}` takes:\n\n- `fields`" in skill


def test_lines_name_what_too_many_tools_lack() -> None:
    skill = skill_md(described(groups=7, tools=5, without=6))
    assert "A tool that names one of these takes it so:\n\n- `fields`" in skill
    assert "- `GET /listB1/{owner}` (`fields: string[]`) [read] — Lists listB1" in skill
    assert "- `GET /listA0/{owner}` [read] — Lists listA0" in skill


def test_an_error_of_most_tools_is_described_once() -> None:
    """X-52: and no mark of an item is left in any document."""
    data = described(tools=8)
    problem = {"type": "object", "properties": {name: {"type": "string"} for name in ("code", "text")}}
    answer = {"description": "The call was refused. " * 9, "content": {"application/json": {"schema": problem}}}
    paths = [*data["paths"].values()]
    for path in paths[1:]:
        path["get"]["responses"]["400"] = answer
    found = documents(data, "skill,llms,ai-help")
    assert sum(text.count("The call was refused.") for path, text in found.items() if "skills/" in path) == 9
    (page,) = (text for path, text in found.items() if path.endswith("group0.md"))
    assert page.count("Not declared here: `400` of [Common Errors](about.md#common-errors).") == 1
    assert not any(character < " " and character != "\n" for text in found.values() for character in text)


def test_skill_md_links_the_named_type_of_what_every_tool_takes() -> None:
    """A link leads to the section of the type, and no mark of the links that are not resolved is left."""
    data = described()
    named = {name: {"type": "string", "description": f"It is {name}. {FILLER}"} for name in ("since", "until")}
    data["components"] = {"schemas": {"Consent": {"type": "object", "properties": named}}}
    consent = {"type": "object", "properties": {"consent": {"$ref": "#/components/schemas/Consent"}}}
    for path in data["paths"].values():
        path["post"] = {**path.pop("get"), "requestBody": {"content": {"application/json": {"schema": consent}}}}
    skill = skill_md(data)
    assert "- `consent` ([Consent](references/types.md#consent))" in skill
    assert [sign for text in documents(data).values() for sign in text if sign < " " and sign != "\n"] == []
