"""What someone who has read SKILL.md alone knows of danger, of how to be let in, and of where to read on."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

from cli import generated
from descriptions import description, operation, write
from documents import broken_links
from rows import inputs

Json = Any


def skill_of(out: Path) -> str:
    """Returns the one SKILL.md, in which no link leads nowhere."""
    (path,) = out.glob("skills/*/SKILL.md")
    assert broken_links(out) == []
    return path.read_text("utf-8")


def of_description(folder: Path, paths: dict[str, Json], **members: Json) -> str:
    source = write(folder / "api.json", description(paths, **members))
    generated("from-openapi", source, "-o", folder / "out")
    return skill_of(folder / "out")


INFO: dict[str, Any] = inputs("before_the_first_call")["info"]


def test_skill_md_names_what_the_description_speaks_of(tmp_path: Path) -> None:
    """X-24: what is true of all calls is found without a search."""
    long = {**INFO, "description": INFO["description"] + "Word. " * 2_000}
    skill = of_description(tmp_path, {"/tasks": {"get": operation("list_tasks")}}, info=long)
    assert "[references/about.md](references/about.md): Signing in, Pages, Limits of `use`" in skill
    assert "calls may still require it\n" in skill


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
