"""How the documents read: nothing twice, nothing cut where it hurts, nothing that a renderer shows otherwise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from listed import documented, tool


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
