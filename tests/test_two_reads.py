"""From SKILL.md any tool is found in two more reads, and no page is longer than an agent reads at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import GitHub
from documents import broken_links, document_at, tokens
from listed import documents, tools

pytestmark = pytest.mark.slow

READ = 5_000
"""Tokens of one read at the most, where one text allows."""

PAGE = 10_000
"""Tokens of a page of tools or types, of which an agent reads one section by a command."""


def pages_within(skill: Path, reads: int) -> dict[Path, int]:
    """Returns each page that can be reached from SKILL.md, and after how many reads."""
    found = {skill / "SKILL.md": 0}
    for read in range(reads):
        for path in [path for path, after in found.items() if after == read]:
            for link in document_at(path).links:
                target = (path.parent / link.url.partition("#")[0]).resolve()
                if target.parent == skill / "references":
                    found.setdefault(target, read + 1)
    return found


def assert_two_reads(out: Path, names: list[str]) -> None:
    (skill,) = (out / "skills").iterdir()
    pages = pages_within(skill, 2)
    seen: set[str] = set()
    for path in pages:
        document = document_at(path)
        headings = [heading.text for heading in document.headings if heading.level == 2]
        seen |= set(headings)
        limit = READ if path.name.startswith(("SKILL", "about", "index", "prompts", "resources")) else PAGE
        assert tokens(document.text) <= limit or len(headings) == 1, path.name
    assert set(names) - seen == set()
    assert broken_links(out) == []


def test_of_githubs_1223_operations(github: GitHub) -> None:
    """X-24, S3-15."""
    names = [
        item["operationId"]
        for path in github.raw["paths"].values()
        for item in path.values()
        if isinstance(item, dict) and "operationId" in item
    ]
    assert_two_reads(github.out, names)


@pytest.mark.parametrize(
    "names",
    [
        [f"tool_{number}" for number in range(300)],
        [f"{verb}_{thing}{number}" for number in range(25)
         for thing in ("user", "task", "order", "file", "team", "page")
         for verb in ("list", "get", "create", "update", "delete", "archive", "restore", "search", "count", "export",
                      "import", "tag", "untag", "lock", "unlock", "move", "copy", "share", "watch", "pin")],
        ["get_" + "very_" * 10 + f"long_name_{number}" for number in range(3_000)],
    ],
    ids=["300 tools", "3,000 tools", "3,000 tools with long names"],
)  # fmt: skip
def test_of_a_server_with_many_tools(names: list[str], tmp_path: Path) -> None:
    """X-24, S3-15."""
    out = documents(tmp_path, "-q", tools=tools(names))
    assert_two_reads(out, names)
    (skill,) = (out / "skills").iterdir()
    assert (skill / "SKILL.md").read_text("utf-8").count("\n") < 500
    assert (skill / "SKILL.md").stat().st_size <= 12_000


def test_of_thousands_of_resources_and_prompts(tmp_path: Path) -> None:
    """X-24."""
    resources = [{"uri": f"note://{number}", "name": f"note {number:04}"} for number in range(3_000)]
    prompts = [{"name": f"ask_{number:04}", "description": "Asks " * 20} for number in range(1_000)]
    out = documents(tmp_path, "-q", tools=tools(["a", "b"]), resources=resources, prompts=prompts)
    assert_two_reads(out, ["a", "b", "note 0000", "note 2999", "ask_0000", "ask_0999"])


@pytest.mark.parametrize(
    "text",
    [
        "One paragraph of instructions.\n\n" * 30_000,
        "word " * 200_000,
        "```python\n" + "print('x')\n" * 50_000 + "```\n",
        "x" * 300_000,
        "# heading\n- item\n" * 20_000,
    ],
    ids=["paragraphs", "one line", "one code block", "one word", "lists"],
)
def test_long_instructions_are_whole_in_the_references(text: str, tmp_path: Path) -> None:
    """X-24: and SKILL.md, which quotes their beginning, is read at once."""
    out = documents(tmp_path, "-q", server={"instructions": text}, tools=tools(["a"]))
    (skill,) = (out / "skills").iterdir()
    assert tokens((skill / "SKILL.md").read_text("utf-8")) <= READ
    body = (skill / "references" / "about.md").read_text("utf-8")
    assert [body.count(word) for word in ("xx", "word", "print(", "item")] == [
        text.count(word) for word in ("xx", "word", "print(", "item")
    ]
    assert broken_links(out) == []
