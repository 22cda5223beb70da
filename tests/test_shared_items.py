"""A parameter or property that several pages have is described once, and named where it is used."""

from __future__ import annotations

from typing import Any

import pytest
from documents import SharedItem, shared_items

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


def described(groups: int = 3, tools: int = 4, own: str | None = None, filler: str = FILLER) -> Json:
    """Returns a description with groups of tools that all have the same two parameters."""
    paths: dict[str, Json] = {}
    for group in range(groups):
        for tool in range(tools):
            name = f"list{'ABCDEFG'[group]}{tool}"
            fields = {**FIELDS, **({"description": own} if own and tool == 0 else {})}
            paths[f"/{name}/{{owner}}"] = {
                "get": {
                    "operationId": name,
                    "tags": [f"group{group}"],
                    "description": f"Lists {name}. {filler}",
                    "parameters": [OWNER, fields],
                    "responses": {"200": {"description": "Done"}},
                }
            }
    return {"openapi": "3.0.3", "info": {"title": "Things", "version": "1"}, "paths": paths}


def documents(data: Json, emit: str = "skill") -> dict[str, str]:
    return dict(skillgen.render_documents(skillgen.read(data), emit=emit))


def pages(data: Json) -> dict[str, str]:
    """Returns the references by file name."""
    return {path.rpartition("/")[2]: text for path, text in documents(data).items() if "/references/" in path}


def test_what_most_tools_take_is_described_once() -> None:
    """Design, "Output": with its name and type in each section, and `*` if it is required."""
    found = pages(described())
    assert "".join(found.values()).count(OWNER["description"]) == 1
    section = found["shared.md"].partition("## owner\n")[2].partition("\n## ")[0]
    assert section.strip().startswith(f"- `owner` (string): {OWNER['description']}")
    for group in range(3):
        assert found[f"group{group}.md"].count("- In [shared](shared.md): `owner`* (string)\n") == 4
        assert found[f"group{group}.md"].count("- In [shared](shared.md): `fields` (array of string)\n") == 4


def test_skill_md_says_where_shared_items_are() -> None:
    (skill,) = (text for path, text in documents(described()).items() if path.endswith("SKILL.md"))
    assert "Read the items that it names in [shared](references/shared.md) the same way." in skill


def test_items_of_one_name_that_differ_have_sections_of_their_own() -> None:
    own = "Other words on the fields, which only the first tool of each group has, and no other one at all."
    found = pages(described(own=own))
    items = {item for name, text in found.items() if name != "shared.md" for item in shared_items(text)}
    assert items == {
        SharedItem("owner", "shared.md", "owner", required=True),
        SharedItem("fields", "shared.md", "fields", required=False),
        SharedItem("fields", "shared.md", "fields (2)", required=False),
    }
    assert own in found["shared.md"].partition("## fields (2)\n")[2]
    (skill,) = (text for path, text in documents(described(own=own)).items() if path.endswith("SKILL.md"))
    assert "[shared](references/shared.md) the same way (`fields` (2) under `## fields (2)`)." in skill


def test_the_errors_of_most_tools_have_shared_items_too() -> None:
    """X-52: no mark of an item is left in any document."""
    data = described(tools=8)
    problem = {"type": "object", "properties": {name: {"type": "string"} for name in ("code", "text")}}
    answer = {"description": "The call was refused. " * 9, "content": {"application/json": {"schema": problem}}}
    for path in data["paths"].values():
        path["get"]["responses"]["400"] = answer
    found = documents(data, "skill,llms,ai-help")
    assert any("## Common Errors" in text for text in found.values())
    assert not any(character < " " and character != "\n" for text in found.values() for character in text)


@pytest.mark.parametrize(
    "data",
    [described(groups=1), described(filler=""), described(groups=2, tools=1)],
    ids=["one page", "short", "two tools"],
)
def test_little_that_repeats_stays_in_the_sections(data: Json) -> None:
    found = documents(data)
    assert not any(path.endswith("shared.md") for path in found)
    assert "In [shared]" not in "".join(found.values())


@pytest.mark.parametrize("emit", ["llms", "ai-help", "ai-help-commands"])
def test_single_files_have_shared_items_themselves(emit: str) -> None:
    found = documents(described(), emit=f"{emit},ai-help")
    for path, text in found.items():
        if path != "llms.txt" and "In [shared]" in text:
            assert {item.url for item in shared_items(text)} == {"#owner", "#fields"}
            assert text.count(OWNER["description"]) == 1, path
            assert "# owner\n" in text


def test_neighbours_with_nothing_but_a_type_have_one_line() -> None:
    """Design, "Output": what a call requires comes first."""
    data = described(groups=1, tools=1)
    more = [
        {"name": "page", "in": "query", "schema": {"type": "integer"}},
        {"name": "sort", "in": "query", "schema": {"type": "string", "enum": ["up", "down"]}},
        {"name": "query", "in": "query", "required": True, "schema": {"type": "string"}},
        {"name": "size", "in": "query", "required": True, "schema": {"type": "integer"}},
    ]
    data["paths"]["/listA0/{owner}"]["get"]["parameters"] = [OWNER, *more]
    assert (
        "- `query` (string, required), `size` (integer, required), `page` (integer)\n"
        "- `sort` (string): One of `up`, `down`.\n"
    ) in documents(data, "llms")["llms-full.txt"]


def with_login(*ways: Json, first: Json = None) -> Json:
    """Returns a description whose tools need one of these ways, apart from the first tool."""
    data = described()
    schemes = {name: {"type": "http", "scheme": name} for name in ("basic", "bearer")}
    data["components"] = {"securitySchemes": schemes}
    data["security"] = list(ways)
    if first is not None:
        data["paths"]["/listA0/{owner}"]["get"]["security"] = first
    return data


def test_what_every_tool_needs_to_authenticate_is_said_once() -> None:
    found = pages(with_login({"basic": []}, {"bearer": []}, first=[]))
    assert "Calls need `basic`, or `bearer`, unless the tool's section says otherwise." in found["about.md"]
    assert found["group0.md"].count("Needs no authentication.") == 1
    assert "Authentication: " not in "".join(text for name, text in found.items() if name != "about.md")


@pytest.mark.parametrize(
    ("ways", "first"),
    [
        ([{"basic": []}], [{"bearer": []}]),
        ([{"basic": [], "bearer": []}], None),
        ([{"basic": []}, {}], None),
        ([{"bearer": ["read"]}], None),
    ],
    ids=["different", "together", "or none", "with scopes"],
)
def test_what_tools_need_is_with_each_if_it_is_not_that_simple(ways: list[Json], first: Json) -> None:
    found = pages(with_login(*ways, first=first))
    assert "unless the tool's section says otherwise" not in found.get("about.md", "")
    assert sum(text.count("Authentication: `") for text in found.values()) == 12


def test_the_words_of_a_type_are_not_repeated_under_another_name() -> None:
    data = described()
    words = [f"a-long-value-of-an-enumeration-{number}" for number in range(30)]
    data["components"] = {"schemas": {name: {"type": "string", "enum": words} for name in ("First", "Second")}}
    for number, name in enumerate(("First", "Second")):
        content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
        data["paths"][f"/listA{number}/{{owner}}"]["get"]["responses"]["200"]["content"] = content
    types = pages(data)["types.md"]
    assert types.count(words[7]) == 1
    assert "## Second\n\nThe same as [First](#first).\n" in types


def with_parameters(*parameters: Json) -> str:
    """Returns the section of a tool with these query parameters."""
    data = described(groups=1, tools=1)
    data["paths"]["/listA0/{owner}"]["get"]["parameters"] = [OWNER, *({"in": "query", **item} for item in parameters)]
    return documents(data, "llms")["llms-full.txt"]


def test_names_that_differ_only_in_a_number_are_one_item() -> None:
    text = {"schema": {"type": "string"}, "description": "A line of the address"}
    lines = [{"name": f"line{number}", **text} for number in (1, 10, *range(2, 10))]
    assert "- `line1` to `line10` (string): A line of the address\n" in with_parameters(*lines)
    assert " to `" not in with_parameters(*lines[:2])


def test_shared_items_of_a_series_are_named_one_by_one() -> None:
    """Each has a section, and a number of its own if items of that name differ."""
    data = described()
    for number, path in enumerate(data["paths"].values()):
        words = f"A label of {'ships' if number % 2 else 'berths'} that helps to find them in the lists of the harbour."
        labels = ({"name": f"label{i}", "schema": {"type": "string"}, "description": words} for i in range(5))
        path["get"]["parameters"] = [OWNER, *({"in": "query", **label} for label in labels)]
    for name, text in pages(data).items():
        if name.startswith("group"):
            names = {(item.name, item.heading) for item in shared_items(text)} - {("owner", "owner")}
            assert names == {(f"label{i}", f"label{i}{end}") for i in range(5) for end in ("", " (2)")}


def test_a_description_equal_to_one_above_is_written_once() -> None:
    said = "Only calls that started on this date, as YYYY-MM-DD in GMT; with a sign, on or before or after that date."
    times = [{"name": f"Start{sign}", "schema": {"type": "string"}, "description": said} for sign in ("", "<", ">")]
    found = with_parameters(*times)
    assert found.count(said) == 1
    assert "- `Start<` (string): As `Start`.\n- `Start>` (string): As `Start`.\n" in found


def test_what_is_required_stays_in_the_sections_of_two_tools() -> None:
    """A call then needs no second read."""
    text = "".join(documents(described(groups=2, tools=1, filler=FILLER * 5)).values())
    assert text.count(OWNER["description"]) == 2


def with_answers(schema: Json) -> Json:
    """Returns a description whose tools all return this."""
    data = described(tools=8)
    for path in data["paths"].values():
        answer = {"description": "OK", "content": {"application/json": {"schema": schema}}}
        path["get"]["responses"]["200"] = answer
    return data


def test_what_results_of_many_tools_have_is_described_once() -> None:
    """Its place is the page about the service, to which SKILL.md leads."""
    said = "Whether the call was accepted, whatever comes of it"
    data = with_answers({"type": "object", "properties": {"ok": {"type": "boolean", "description": said}}})
    own = {"type": "object", "properties": {"name": {"type": "string"}, "ok": {"type": "boolean", "description": said}}}
    data["paths"]["/listA0/{owner}"]["get"]["responses"]["200"]["content"]["application/json"]["schema"] = own
    found = documents(data)
    assert "".join(found.values()).count(said) == 1
    (about,) = (text for path, text in found.items() if path.endswith("/about.md"))
    assert f"- `ok` (boolean): {said}\n" in about.partition("## Common Results\n")[2]
    (group,) = (text for path, text in found.items() if path.endswith("/group0.md"))
    assert "Returns (200):\n\n- `name` (string)\n" in group
    (skill,) = (text for path, text in found.items() if path.endswith("/SKILL.md"))
    assert "What many results have: [Common Results](references/about.md#common-results)." in skill


def test_a_result_has_no_limits_and_no_default() -> None:
    """They bind who sends a value."""
    size = {"type": "integer", "minimum": 1, "default": 5, "description": "Its size"}
    schema = {"type": "object", "required": ["size"], "additionalProperties": False, "properties": {"size": size}}
    data = described(groups=1, tools=1)
    content = {"application/json": {"schema": schema}}
    data["paths"]["/listA0/{owner}"]["get"]["responses"]["200"] = {"description": "OK", "content": content}
    assert "Returns (200):\n\n- `size` (integer): Its size\n" in documents(data, "llms")["llms-full.txt"]


def test_a_short_type_is_written_where_it_is_used() -> None:
    """A caller then needs no second page."""
    data = described(groups=1, tools=1)
    data["components"] = {"schemas": {"Order": {"type": "string", "enum": ["up", "down"]}}}
    order = {"name": "order", "in": "query", "schema": {"$ref": "#/components/schemas/Order"}}
    data["paths"]["/listA0/{owner}"]["get"]["parameters"] = [OWNER, order]
    text = documents(data, "llms")["llms-full.txt"]
    assert "- `order` (string): One of `up`, `down`.\n" in text
    assert "# Order" not in text


SIGNATURE: list[Json] = [{"name": f"X-Part-{x}", "in": "header", "schema": {"type": "string"}} for x in "ABCDEF"]


def signed(data: Json, number: int | None = None) -> Json:
    """Returns a description in which each request, or the first ones, can have six headers more."""
    for item in list(data["paths"].values())[:number]:
        item["get"]["parameters"] += SIGNATURE
    return data


def test_optional_parameters_of_every_request_are_described_once() -> None:
    """Issue 6: a signature is neither in the sections nor in the call lines, and SKILL.md names it."""
    found = documents(signed(described()), "skill,llms,ai-help")
    (skill,) = (text for path, text in found.items() if path.endswith("SKILL.md"))
    names = ", ".join(f"`{item['name']}`" for item in SIGNATURE)
    place = "[Common Parameters](references/about.md#common-parameters)"
    assert f"Every tool also takes `fields`, {names}, all optional: {place}." in skill
    assert "`listA0(owner)`" in skill
    for path, text in found.items():
        expected = path.endswith(("/about.md", "llms-full.txt", "ai-help.md"))
        assert text.count("- `X-Part-A` (string), `X-Part-B` (string)") == expected, path


def test_parameters_that_one_request_lacks_stay_in_the_sections() -> None:
    found = pages(signed(described(), 11))
    assert "".join(found.values()).count("`X-Part-A` (string)") == 11
    assert "about.md" not in found


def test_a_request_with_nothing_else_has_no_parameters_of_its_own() -> None:
    data = signed(described())
    data["paths"]["/ping"] = {"get": {"operationId": "ping", "parameters": SIGNATURE, "responses": {}}}
    assert sum(text.count("\nNo parameters of its own.\n") for text in pages(data).values()) == 1


def test_a_description_of_only_preflight_requests_is_documented() -> None:
    """They take nothing, so that there is nothing in common."""
    answer = {"description": "200 response", "headers": {"Access-Control-Allow-Origin": {"schema": {"type": "string"}}}}
    paths = {f"/notes{number}": {"options": {"responses": {"200": answer}}} for number in range(10)}
    data = {"openapi": "3.0.3", "info": {"title": "Notes", "version": "1"}, "paths": paths}
    found = documents(data, "skill,llms,ai-help")
    assert all("/notes9" in found[path] for path in ("llms-full.txt", "ai-help.md"))


NOTICE = "NOTE: This server is deprecated. Use the hosted one: https://acme.example/mcp"


def test_a_paragraph_of_every_description_is_in_skill_md_and_in_no_section() -> None:
    """Issue 6: the same words in each section are one line before the first call."""
    data = described()
    for item in data["paths"].values():
        item["get"]["description"] = item["get"]["description"].replace(FILLER, f"\n\n{NOTICE}\n\n{FILLER}")
    found = documents(data, "skill,llms,ai-help")
    for path, text in found.items():
        places = ("/SKILL.md", "/about.md", "llms-full.txt", "ai-help.md")
        assert text.count(NOTICE) == path.endswith(places), path
        assert f'\n- All descriptions say: "{NOTICE}"\n' in text or not path.endswith("/SKILL.md")
    del data["paths"]["/listA0/{owner}"]["get"]["description"]
    assert "".join(pages(data).values()).count(NOTICE) == 11


def test_what_every_description_wants_of_the_user_stays_in_the_sections() -> None:
    """SKILL.md takes no words on the conversation, although every description has them."""
    data = described()
    for item in data["paths"].values():
        item["get"]["description"] += "\n\nShow the user's plan next to each answer of this interface."
    found = documents(data)
    assert sum(text.count("Show the user's plan") for text in found.values()) == 12
    assert not any("Show the user's plan" in text for path, text in found.items() if path.endswith("/SKILL.md"))
