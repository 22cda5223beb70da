"""How the documents read: nothing twice, nothing cut where it hurts, nothing that a renderer shows otherwise."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from cli import generated
from descriptions import description, operation, write
from documents import broken_links
from listed import documented, tool

Json = Any


def test_llms_txt_leads_to_the_headings_of_a_small_service(tmp_path: Path) -> None:
    """X-22: also to one that equals the title of its group, or that of another section."""
    named = {
        f"/{name}": {"get": operation(name, tags=["Ships"], security=[{"authentication": []}])}
        for name in ("ships", "named-types", "authentication")
    }
    schemes = {"authentication": {"type": "http", "scheme": "bearer"}}
    data = description(named, webhooks={}, components={"securitySchemes": schemes})
    generated("from-openapi", write(tmp_path / "api.json", data), "-o", tmp_path / "out")
    assert not [*tmp_path.rglob("references")]
    assert broken_links(tmp_path / "out") == []
    assert "SKILL.md#ships)" in (tmp_path / "out/llms.txt").read_text("utf-8")
    (skill,) = tmp_path.rglob("SKILL.md")
    assert "[Authentication](#authentication-1)" in skill.read_text("utf-8")


@pytest.mark.parametrize(("count", "in_llms_txt"), [(20, 1), (30, 1), (600, 0)])
def test_llms_txt_lists_every_tool_or_group_once(tmp_path: Path, count: int, in_llms_txt: int) -> None:
    """S0-41: twenty in the quick reference, the others after it; many tools are on the pages that it links."""
    _, out = documented(tmp_path, tools=[tool(f"find_{n}") for n in range(count)])
    text = (out / "llms.txt").read_text("utf-8")
    assert [text.count(f"- [find_{n}(…)](") for n in range(count)] == [in_llms_txt] * count
    assert text.count("- [Tools](skills/listed/references/") == 1 - in_llms_txt
    quick = text.partition("## Quick Reference\n")[2].partition("\n## ")[0]
    assert quick.count("\n- [") == (20 if in_llms_txt else 1)
    pages = "\n".join(path.read_text("utf-8") for path in (out / "skills/listed/references").glob("tools*.md"))
    assert [len(re.findall(rf"^## find_{n}$", pages, re.MULTILINE)) for n in range(count)] == [1] * count


# -- the description, by which a host chooses a skill -----------------------------------------------------------------
