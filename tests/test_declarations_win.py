"""What a source declares wins over what is inferred, and a declaration that contradicts itself is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli import generated, run_skillgen
from descriptions import description, operation, write
from listed import documented, tool

Json = Any


def skill_of(out: Path) -> str:
    (skill,) = out.rglob("SKILL.md")
    return skill.read_text("utf-8")


def described_as(out: Path) -> str:
    text: str = yaml.safe_load(skill_of(out).split("---\n")[1])["description"]
    return text


# -- descriptions ----------------------------------------------------------------------------------------------------


DECLARED = "Acme tasks. Use when the user asks to track tasks with acme."


@pytest.mark.parametrize("place", ["dashdash", "ai_help", "json", "openapi", "program"])
def test_a_declared_description_is_used_and_not_reported(tmp_path: Path, place: str) -> None:
    """A2: also where it has nothing but the name of the service and a trigger."""
    tools = [tool("track_task", description="Track a task.")]
    server: Json = {"serverInfo": {"name": "acme-mcp", "version": "1.0.0"}}
    lists: Json = {}
    if place == "dashdash":
        server["dashdash"] = {"identity": {"name": "acme-mcp", "description": DECLARED}}
    elif place == "ai_help":
        lists["ai_help"] = {"content": f"---\nname: acme-mcp\ndescription: {DECLARED}\n---\n# Acme\n"}
    elif place == "json":
        lists["ai_help"] = {"metadata": {"name": "acme-mcp", "description": DECLARED}, "sections": {}}
    if place == "openapi":
        source = description({"/tasks": {"get": operation("listTasks")}})
        source["info"] = {"title": "Acme API", "version": "1", "description": DECLARED}
        finished = generated("from-openapi", write(tmp_path / "api.json", source), "-o", tmp_path / "out")
    elif place == "program":
        program = f"import argparse\napp = argparse.ArgumentParser(prog='acme', description={DECLARED!r})\n"
        program += "app.add_subparsers().add_parser('track', help='Track a task.')\n"
        (tmp_path / "acme.py").write_text(program, encoding="utf-8")
        finished = run_skillgen("from-cli", "acme:app", "-o", "out", cwd=tmp_path)
    else:
        finished, _ = documented(tmp_path, server=server, tools=tools, **lists)
    assert "description-inferred" not in finished.stderr
    assert described_as(tmp_path / "out") == DECLARED


# -- contradictions --------------------------------------------------------------------------------------------------


CONTRADICTIONS: list[tuple[Json, str, str]] = [
    (
        {"dashdash": {"operationType": "delete", "reversible": False, "reverseMethod": "other"}},
        "cannot be",
        "undone with",
    ),
    (
        {"dashdash": {"operationType": "read", "reversible": False, "reverseMethod": "other"}},
        "cannot be",
        "undone with",
    ),
    ({"dashdash": {"reversible": False}, "risk_level": "reversible"}, "cannot be", "risk: reversible"),
    ({"annotations": {"destructiveHint": True}, "risk_level": "reversible"}, "[destructive]", "can be undone"),
    ({"annotations": {"destructiveHint": True}, "risk_level": "reversible"}, "[destructive]", "risk: reversible"),
    ({"annotations": {"destructiveHint": True}, "risk_level": "safe"}, "[destructive]", "risk: safe"),
    ({"annotations": {"readOnlyHint": True, "destructiveHint": True}}, "[destructive]", "only reads;"),
    (
        {"annotations": {"readOnlyHint": True}, "dashdash": {"sideEffects": ["sends a letter"]}},
        "sends a letter",
        "[read]",
    ),
]


@pytest.mark.parametrize(("declared", "cautious", "other"), CONTRADICTIONS)
def test_of_contradicting_facts_only_the_cautious_one_is_printed(
    tmp_path: Path, declared: Json, cautious: str, other: str
) -> None:
    """S0-26: the contradiction is a warning, and no document has both facts."""
    tools = [tool("handle_row", description="Handle a row.", **declared), tool("other", description="Handle another.")]
    finished, out = documented(tmp_path, "-v", "--emit", "skill,llms,ai-help", tools=tools)
    assert "safety-facts-disagree" in finished.stderr or "risk-contradicted" in finished.stderr
    written = "\n".join(path.read_text("utf-8") for path in out.rglob("*") if path.suffix in (".md", ".txt"))
    assert (cautious in written, other in written) == (True, False)


# -- emitted manifests -----------------------------------------------------------------------------------------------


def test_an_emitted_manifest_says_of_safety_what_the_source_declared(tmp_path: Path) -> None:
    """S4-21: confirmation that is declared false stays so; what is inferred is not the server's word."""
    manifest = {
        "manifest_version": "0.1.0",
        "server": {"name": "rows", "version": "1.0.0", "mcp_spec_version": "2025-06-18"},
        "auth": {"methods": ["api_key"], "scopes": [{"name": "all", "description": "All.", "grants": ["send_row"]}]},
        "tools": [
            {
                "name": name,
                "description": f"{name} it.",
                "input_schema": {"type": "object"},
                **({} if confirmed is None else {"requires_confirmation": confirmed, "confirmation_message": "Do it?"}),
                **({} if risk is None else {"risk_level": risk}),
            }
            for name, confirmed, risk in (
                *(("send_row", False, None), ("delete_row", None, None)),
                *(("drop_row", True, "destructive"), ("list_rows", False, "safe")),
            )
        ],
        "supported_extensions": ["streaming", "human_in_the_loop"],
        "recommendations": [{"capability": "mail", "server_name": "mail-mcp", "match_confidence": "high"}],
    }
    path = write(tmp_path / "manifest.json", manifest)
    finished = generated("from-server", "--manifest", path, "-o", tmp_path / "out", "--emit", "service-manifest", "-v")
    emitted = json.loads((tmp_path / "out" / "service-manifest.json").read_text("utf-8"))
    assert {key: emitted.get(key) for key in manifest} == manifest
    assert "counts as safe" in finished.stderr


def test_an_emitted_mcp_yaml_keeps_what_makes_an_operation_safe(tmp_path: Path) -> None:
    """S2-22: confirmation, hints, PKCE and how long to wait."""
    flow = {
        "authorizationUrl": "https://a.example/a",
        "tokenUrl": "https://a.example/t",
        "scopes": {},
        "x-usePkce": True,
    }
    answers = {"200": {"description": "Done"}, "429": {"description": "Wait", "headers": {"Retry-After": {}}}}
    delete = {**operation("deleteVan"), "responses": answers, "x-openai-isConsequential": True}
    listing = {
        **operation("listVans"),
        "x-openai-isConsequential": False,
        "x-mcp": {"annotations": {"readOnlyHint": True}},
    }
    source = description({"/vans": {"delete": delete, "get": listing, "post": operation("addVan")}})
    source["components"] = {"securitySchemes": {"login": {"type": "oauth2", "flows": {"authorizationCode": flow}}}}
    source["security"] = [{"login": []}]
    path = write(tmp_path / "api.json", source)
    generated("from-openapi", path, "-o", tmp_path / "out", "--emit", "well-known", "--publish", "domain=vans.example")
    (file,) = (tmp_path / "out").rglob("mcp.yaml")
    emitted = yaml.safe_load(file.read_text("utf-8"))
    vans = emitted["paths"]["/vans"]
    confirmed = {method: item.get("x-openai-isConsequential") for method, item in vans.items()}
    assert confirmed == {"delete": True, "get": False, "post": None}
    assert vans["get"]["x-mcp"] == {"annotations": {"readOnlyHint": True}}
    assert "Retry-After" in vans["delete"]["responses"]["429"]["headers"]
    assert emitted["components"]["securitySchemes"]["login"]["flows"]["authorizationCode"]["x-usePkce"] is True


# -- grants ----------------------------------------------------------------------------------------------------------


def test_scopes_grant_only_tools_that_exist(tmp_path: Path) -> None:
    """S4-22: those of tools/list are known, and no document names another."""
    grants = ["find_cargo", "move_cargo", "ghost_tool"]
    manifest = {
        "manifest_version": "0.1.0",
        "server": {"name": "cargo", "version": "1.0.0", "mcp_spec_version": "2025-06-18"},
        "auth": {"methods": ["api_key"], "scopes": [{"name": "cargo", "description": "All.", "grants": grants}]},
        "tools": [{"name": "find_cargo", "description": "Find cargo.", "input_schema": {"type": "object"}}],
    }
    tools = [tool("find_cargo", description="Find cargo."), tool("move_cargo", description="Move cargo.")]
    finished, out = documented(tmp_path, "-v", server={"manifest": manifest}, tools=tools)
    (line,) = [line for line in finished.stderr.splitlines() if "scope-grants-unknown-tool" in line]
    assert ("ghost_tool" in line, "move_cargo" in line) == (True, False)
    written = "\n".join(path.read_text("utf-8") for path in out.rglob("*.md"))
    assert ("`move_cargo`" in written, "ghost_tool" in written) == (True, False)
