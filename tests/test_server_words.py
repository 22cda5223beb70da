"""What a server says in prose: when to use it and when not, what a tool does, how it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from documents import MarkdownDocument
from listed import documented, documents, tool, tools

Json = Any


def test_a_named_type_is_documented_with_its_only_users(tmp_path: Path) -> None:
    """S3-15: a call takes no further page to read; what several pages share is written once, on a page of its own."""
    size = {"type": "object", "properties": {"points": {"type": "integer"}}}
    types = {
        "Style": {"type": "object", "properties": {"font": {"$ref": "#/$defs/Font"}, "edge": size}},
        "Font": {"type": "object", "properties": {"size": size}},
        "Shared": {"type": "object", "properties": {"size": size}},
    }

    def entry(verb: str, thing: str, of: str) -> dict[str, Json]:
        schema = {"type": "object", "$defs": types, "properties": {"it": {"$ref": f"#/$defs/{of}"}}}
        return tool(f"{verb}_{thing}", inputSchema=schema, dashdash={"category": f"{thing}s"})

    things = {"cell": "Style", "sheet": "Shared", "chart": "Shared"}
    entries = [entry(verb, thing, of) for thing, of in things.items() for verb in ("get", "set", "delete")]
    out = documents(tmp_path, tools=entries)
    (references,) = out.glob("skills/*/references")
    cells, types_page = ((references / name).read_text("utf-8") for name in ("cells.md", "types.md"))
    assert "What sections only name:\n\n- `it` ([Style](#style))\n" in cells
    assert "\n## Named types\n\n### Style\n" in cells
    assert "`font` ([Font](#font))\n" in cells
    assert cells.count("### Font\n") == 1
    assert "One type: `sed -n '/^###* NAME$/,/^##/p' cells.md`." in cells
    skill = (references.parent / "SKILL.md").read_text("utf-8")
    assert "A type that it links: `sed -n '/^###* NAME$/,/^##/p' references/FILE`." in skill
    assert "- `it` ([Shared](types.md#shared))" in (references / "sheets.md").read_text("utf-8")
    assert "## Shared\n" in types_page
    assert "Style" not in types_page
    text = (out / "llms-full.txt").read_text("utf-8")
    assert [text.count(f"### {of}\n") for of in types] == [1, 1, 1]
    assert "[Style](#style)" in text


def test_ai_help_and_llms_txt_name_all_that_a_server_offers(tmp_path: Path) -> None:
    """S0-32, S0-40: resources, prompts and instructions are found from each document; what is not there is no line."""
    resources = [
        {"uri": f"log://{n}", "name": f"log {n}", "description": f"The log of day {n}. Long."} for n in range(45)
    ]
    prompts = [{"name": "brief", "arguments": [{"name": "day", "required": True}, {"name": "tone"}]}]
    server = {"instructions": "# Manual\n\nBe quick."}
    entries = [tool("a", description="Does a.", outputSchema={"type": "object"}), *tools(["b"])]
    out = documents(tmp_path, server=server, tools=entries, resources=resources, prompts=prompts)
    help_text, llms = ((out / name).read_text("utf-8") for name in ("ai-help.md", "llms.txt"))
    assert "- Resource `log://0`: The log of day 0\n" in help_text
    assert "- And 6 more\n" in help_text
    assert "`a` returns JSON. Others: unstructured MCP content.\n" in help_text
    assert "> Tools of Listed: Does a; Does what b says.\n" in llms
    assert "- [Instructions](skills/listed/SKILL.md#instructions): read first\n" in llms
    assert "skills/listed/SKILL.md#resources): `log 0`, `log 1`, " in llms
    few = documented(tmp_path, tools=entries, prompts=prompts)[1]
    assert "- Prompt `brief(day*, tone?)`\n" in (few / "ai-help.md").read_text("utf-8")
    assert "## Instructions" not in (few / "llms.txt").read_text("utf-8")
    assert "Returns object" not in (few / "llms-full.txt").read_text("utf-8")


def test_what_a_server_says_in_the_sections_of_the_profile_is_in_them_once(tmp_path: Path) -> None:
    """S0-32: nothing that the server's help says is said to be undeclared, and no section is there twice."""
    told = {
        "Overview": "Keeps berths.",
        "Setup/Prerequisites": "Set it up.",
        "Quick Reference": "Find, then book.",
        "Command Reference": "Both take metres.",
        "Input Specification": "Plain JSON.",
        "Output Formats": "Lists of berths.",
        "Examples": "Ask for 12 metres.",
        "Authentication and Prerequisites": "A harbour card.",
        "Rate Limits and Performance": "Once a minute.",
        "Fees": "None at all.",
    }
    text = "# Harbour\n\n" + "\n\n".join(f"## {title}\n\n{body}" for title, body in told.items())
    _, out = documented(tmp_path, tools=tools(["find", "book"]), prompts=[], ai_help={"content": text})
    written = (out / "ai-help.md").read_text("utf-8")
    assert "\n\n\n" not in written
    document = MarkdownDocument(written)
    titles = [heading.text for heading in document.headings if heading.level == 2]
    assert len(titles) == len(set(titles))
    for title, body in told.items():
        assert body in document.section(title).text
        assert "The source declares no" not in document.section(title).text


def test_strings_of_a_server_without_a_word_leave_no_gap(tmp_path: Path) -> None:
    """X-08: markup alone is like an empty string: no empty section, no space at the end of a line."""
    empty = {"type": "object", "description": "<p/>", "properties": {"id": {"type": "string", "description": "<br/>"}}}
    listed = [tool("find_berth", title="<p></p>", description="<p/>", inputSchema=empty)]
    tips = {"content": "## Tips\n\n<p></p>\n"}
    out = documents(tmp_path, server={"instructions": " <p> </p>"}, tools=listed, ai_help=tips)
    for path in [*out.rglob("*.md"), *out.glob("*.txt")]:
        text = path.read_text("utf-8")
        assert "\n\n\n" not in text
        assert [line for line in text.split("\n") if line != line.rstrip()] == []
        assert "The service's own instructions" not in text
        assert "Tips" not in text
