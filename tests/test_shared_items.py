"""A parameter that most tools have in the same words is described once, at the head of its page and in SKILL.md."""

from __future__ import annotations

from typing import Any

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
