"""What someone who has read SKILL.md alone knows of danger, of how to be let in, and of where to read on."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

from cli import generated
from descriptions import description, operation, write
from documents import broken_links
from listed import documented, tool

Json = Any

MANY = 13
"""More tools than SKILL.md says when to use one by one."""


def skill_of(out: Path) -> str:
    """Returns the one SKILL.md, in which no link leads nowhere."""
    (path,) = out.glob("skills/*/SKILL.md")
    assert broken_links(out) == []
    return path.read_text("utf-8")


def of_server(folder: Path, tools: list[Json]) -> str:
    finished, out = documented(folder, tools=tools)
    assert finished.exit_code == 0, finished.stderr
    return skill_of(out)


def test_the_first_line_of_the_instructions_is_written_once(tmp_path: Path) -> None:
    said = "Keeps the tables of a port. Ask for their names first."
    _, out = documented(tmp_path, server={"instructions": said}, tools=[tool("list_tables")])
    fields, _, body = skill_of(out).partition("\n# ")
    assert "description: Keeps the tables of a port." in fields
    assert "\n> Ask for their names first.\n" in body
    assert "Keeps the tables of a port" not in body


def of_description(folder: Path, paths: dict[str, Json], **members: Json) -> str:
    source = write(folder / "api.json", description(paths, **members))
    generated("from-openapi", source, "-o", folder / "out")
    return skill_of(folder / "out")


def test_what_a_server_says_nothing_of_is_not_taken_for_safe(tmp_path: Path) -> None:
    """Issue 5: absent annotations do not mean safe."""
    said = of_server(tmp_path, [tool("zap", description="Zaps."), tool("hop", description="Hops.")])
    assert "- Ask the user before you call a tool that has no mark: `zap`, `hop`.\n" in said


def test_a_tool_of_which_nothing_is_known_has_no_mark(tmp_path: Path) -> None:
    added = tool("add", annotations={"destructiveHint": False})
    skill = of_server(tmp_path, [tool("find"), added, tool("zap", description="Zaps a table.")])
    assert "Every tool takes:\n\n- `id` (string)\n" in skill
    assert "`find()` [read]" in skill
    assert "`add()` [write]" in skill
    assert "`zap()` — Zaps" in skill
    assert "- Ask the user before you call a tool that has no mark: `zap`.\n" in skill


def test_a_service_that_changes_nothing_has_no_safety_section(tmp_path: Path) -> None:
    skill = of_server(tmp_path, [tool("find", annotations={"readOnlyHint": True})])
    assert "Before You Change Anything" not in skill


def test_what_costs_money_or_reaches_people_is_confirmed_first(tmp_path: Path) -> None:
    skill = of_description(tmp_path, {"/orders/{id}/payment": {"post": operation("pay_order")}})
    assert "- Ask the user before you call a tool that has the mark [sends]: `POST /orders/{id}/payment`.\n" in skill
    assert "`POST /orders/{id}/payment` [sends]" in skill


INFO = {
    "title": "Tasks",
    "version": "1",
    "description": """Keeps tasks.

# Signing in

Send an API key as a bearer token.

# Pages

```sh
# not a heading
curl https://tasks.example/v1/tasks?page=2
```

## Details

# <b>Limits</b> of `use`
""",
}


def test_skill_md_names_what_the_description_speaks_of(tmp_path: Path) -> None:
    """X-24: what is true of all calls is found without a search."""
    long = {**INFO, "description": INFO["description"] + "Word. " * 2_000}
    skill = of_description(tmp_path, {"/tasks": {"get": operation("list_tasks")}}, info=long)
    assert "[references/about.md](references/about.md): Signing in, Pages, Limits of `use`" in skill
    assert "calls may still require it\n" in skill


def test_authentication_refers_only_to_a_description_that_mentions_it(tmp_path: Path) -> None:
    info = {**INFO, "description": "Keeps tasks.\n\nThey are kept for a year."}
    skill = of_description(tmp_path, {"/tasks": {"get": operation("list_tasks")}}, info=info)
    assert "calls may still require it\n" in skill


def test_a_body_that_is_documented_in_paragraphs_keeps_them(tmp_path: Path) -> None:
    told = "Give a name.\n\n# Codes\n\n| Code | Meaning |\n| --- | --- |\n| `taken` | It is taken. |\n"
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "Its name.\n", "minLength": 2}},
    }
    body = {"description": told, "content": {"application/json": {"schema": schema}}}
    of_description(tmp_path, {"/tasks": {"post": operation("add_task", requestBody=body)}})
    (page,) = (tmp_path / "out").glob("skills/*/references/t*.md")
    text = page.read_text("utf-8")
    assert "About the body:\n\nGive a name.\n\n**Codes**\n\n- Code: `taken`; Meaning: It is taken.\n\nBody (" in text
    assert "- `name` (string): Its name. At least 2 characters." in text


def test_when_to_use_is_no_second_list_of_the_tools(tmp_path: Path) -> None:
    """X-22: it is printed only if the source declares uses."""
    listed = {**operation("list_books"), "summary": "List books"}
    assert "## When to Use" not in of_description(tmp_path, {"/books": {"get": listed}})


def test_the_command_for_a_type_prints_each_that_is_linked(tmp_path: Path) -> None:
    """Types are on the page of their tools or on their own; their names may have marks of emphasis, or a slash."""
    names = ["Boat", "__listOf__string", "io.acme/v1/Crew", "Alone"]
    text = "It takes room on a page. " * 60
    schemas = {name: {"type": "object", "properties": {"a": {"type": "string", "description": text}}} for name in names}
    answers = {
        name: {"application/json": {"schema": {"$ref": f"#/components/schemas/{name.replace('/', '~1')}"}}}
        for name in names
    }
    paths = {
        f"/{group}/{number}": {
            "get": operation(
                f"{group}{number}",
                tags=[group],
                description=text,
                responses={"200": {"description": "Done", "content": answers[name]}},
            )
        }
        for group in ("ships", "crews")
        for number, name in enumerate(names)
        if name != "Alone" or group == "ships"
    }
    skill = of_description(tmp_path, paths, components={"schemas": schemas})
    (command,) = re.findall(r"A type that it links: (`+) ?(.*?) ?\1\.", skill)
    (folder,) = (tmp_path / "out").glob("skills/*")
    linked = {
        (label.strip("`").replace("\\", ""), page.name if file == "" else file)
        for page in folder.glob("references/*.md")
        for label, file in re.findall(r"\[([^\[\]]+)\]\(([\w-]*(?:\.md)?)#[^)]*\)", page.read_text("utf-8"))
        if label.strip("`").replace("\\", "") in names
    }
    assert {name for name, _ in linked} == {*names}
    for name, file in linked:
        words = command[1].replace("NAME", name).replace("FILE", file)
        printed = subprocess.run(["sh", "-c", words], cwd=folder, capture_output=True, text=True, check=True).stdout
        assert text.strip() in printed, words
