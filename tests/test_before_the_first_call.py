"""What someone who has read SKILL.md alone knows of danger, of how to be let in, and of where to read on (issue 5)."""

from __future__ import annotations

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


def of_description(folder: Path, paths: dict[str, Json], **members: Json) -> str:
    source = write(folder / "api.json", description(paths, **members))
    generated("from-openapi", source, "-o", folder / "out")
    return skill_of(folder / "out")


def test_what_a_server_says_nothing_of_is_not_taken_for_safe(tmp_path: Path) -> None:
    """Issue 5: absent annotations do not mean safe."""
    said = of_server(tmp_path, [tool("drop_table", description="Drops."), tool("read_row")])
    assert "The source does not say what its tools change." in said
    assert "By MCP's defaults they may delete or overwrite" in said


def test_the_tools_that_declare_nothing_have_no_mark(tmp_path: Path) -> None:
    found = tool("find", annotations={"readOnlyHint": True})
    added = tool("add", annotations={"destructiveHint": False})
    skill = of_server(tmp_path, [found, added, tool("drop_table", description="Drops a table.")])
    assert "what the tools without such a mark change" in skill
    assert "`find(id?)` [read]" in skill
    assert "`add(id?)` [write]" in skill
    assert "`drop_table(id?)` — Drops" in skill


def test_a_service_that_changes_nothing_has_no_safety_section(tmp_path: Path) -> None:
    skill = of_server(tmp_path, [tool("find", annotations={"readOnlyHint": True})])
    assert "Before You Change Anything" not in skill


def test_a_mark_is_spoken_of_only_where_marks_are_shown(tmp_path: Path) -> None:
    """X-24: with many tools SKILL.md has their names alone."""
    annotations = {"destructiveHint": True}
    names = [f"{verb}_the_{thing}_of_a_customer" for verb in ("drop", "wipe") for thing in map(str, range(100, 150))]
    skill = of_server(tmp_path, [tool(name, annotations=annotations) for name in names])
    assert "[destructive]" not in skill
    assert "Tools may delete or overwrite where their sections say so" in skill


def test_an_http_method_does_not_imply_that_a_call_costs_nothing(tmp_path: Path) -> None:
    pay = {"/orders/{id}/payment": {"post": operation("pay_order")}}
    skill = of_description(tmp_path, pay)
    assert "Tools marked [write] may do harm: an HTTP method does not show what costs money" in skill
    assert "`POST /orders/{id}/payment` [write]" in skill


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
    skill = of_description(tmp_path, {"/tasks": {"get": operation("list_tasks")}}, info=INFO)
    assert "[references/about.md](references/about.md): Signing in, Pages, Limits of `use`" in skill
    assert "calls may still require it, see [about.md](references/about.md)" in skill


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
