"""A source that serves what skillgen wrote yields the same documents, run after run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from captured import COMMAND
from cli import files_of, run_skillgen
from fork_server import CAPTURED
from listed import tool
from rows import inputs

Json = Any
Results = dict[str, Json]

EMITTED = "skill,llms,ai-help,registry,dashdash,service-manifest,tool-descriptions,skills-list"

BY_HAND: str = inputs("fixpoint")["by_hand"]


def harbour(**more: Json) -> Results:
    """Returns the answers of a server that declares of itself only its name."""
    server = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "harbor", "version": "1.2.3"}}
    tools = [
        tool("book_berth", description="Book a berth. Ask for the length first.", annotations={"readOnlyHint": False}),
        tool("list_berths", description="List all berths.", annotations={"readOnlyHint": True}),
        tool(
            "cancel_booking", description="Cancel a booking.", dashdash={"operationType": "delete", "reversible": False}
        ),
    ]
    return {"initialize": server, "tools/list": [{"tools": tools}], **more}


def build(folder: Path, results: Results, *options: object, exit_code: int = 0) -> dict[str, bytes]:
    """Documents the server, and returns all files by their path."""
    captured, out = folder / "captured.json", folder / "out"
    captured.write_text(json.dumps(results), encoding="utf-8")
    command = ("from-server", "-o", out, "--emit", EMITTED, *options, "--", *COMMAND)
    finished = run_skillgen(*command, env={CAPTURED: str(captured)})
    assert finished.exit_code == exit_code, finished.stderr + finished.stdout
    return files_of(out)


def as_ai_help(results: Results, files: Mapping[str, bytes]) -> Results:
    return results | {"ai_help": {"content": files["ai-help.md"].decode(), "contentType": "text/markdown"}}


def as_text_alone(results: Results, files: Mapping[str, bytes]) -> Results:
    return results | {"ai_help": "\r\n".join(files["ai-help.md"].decode().splitlines())}


def as_instructions(results: Results, files: Mapping[str, bytes]) -> Results:
    return results | {"initialize": results["initialize"] | {"instructions": files["ai-help.md"].decode()}}


def llms_as_instructions(results: Results, files: Mapping[str, bytes]) -> Results:
    return results | {"initialize": results["initialize"] | {"instructions": files["llms.txt"].decode()}}


def as_dashdash(results: Results, files: Mapping[str, bytes], form: str = "markdown") -> Results:
    emitted = json.loads(files["dashdash.json"])
    tools = [
        item | ({"dashdash": emitted["tools"][item["name"]]} if item["name"] in emitted["tools"] else {})
        for item in results["tools/list"][0]["tools"]
    ]
    initialize = results["initialize"] | {"dashdash": emitted["initialize"]}
    return results | {"initialize": initialize, "tools/list": [{"tools": tools}], "ai_help": emitted["ai_help"][form]}


def as_dashdash_in_json(results: Results, files: Mapping[str, bytes]) -> Results:
    return as_dashdash(results, files, "json")


def as_manifest(results: Results, files: Mapping[str, bytes]) -> Results:
    return results | {"manifest": json.loads(files["service-manifest.json"])}


def as_descriptions(results: Results, files: Mapping[str, bytes]) -> Results:
    folder = "tool-descriptions/"
    described = {path: json.loads(text) for path, text in files.items() if path.startswith(folder)}
    minimal = described.pop(f"{folder}tools-list.json")["tools"]
    described.pop(f"{folder}resources-list.json")
    for entry in minimal:  # what the extension does not move into the resource
        original = next(item for item in results["tools/list"][0]["tools"] if item["name"] == entry["name"])
        entry |= {key: original[key] for key in ("dashdash",) if key in original}
    tools = {item["name"]: item for item in described.values()}
    uri = "harbor://tool_descriptions"
    return results | {
        "tools/list": [{"tools": minimal}],
        "resources/list": [{"resources": [{"uri": uri, "name": "tool_descriptions"}]}],
        "resources/read": {"uri": uri, "tools": tools},
    }


def as_skills(results: Results, files: Mapping[str, bytes]) -> Results:
    return results | {"skills/list": [json.loads(files["skills-list.json"])]}


WAYS = [
    *(as_ai_help, as_text_alone, as_instructions, llms_as_instructions, as_dashdash, as_dashdash_in_json),
    *(as_manifest, as_descriptions, as_skills),
]


def changed(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[str]:
    return sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))


@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_server_that_serves_its_documents_is_a_fixpoint(
    tmp_path: Path, way: Callable[[Results, Mapping[str, bytes]], Results], by_hand: bool
) -> None:
    """S0-53: each run reads what the last one wrote; only lists that a server did not have before may be new."""
    results = harbour(**({"ai_help": {"content": BY_HAND}} if by_hand else {}))
    first = build(tmp_path, results)
    files = [first]
    for _ in range(3):
        results = way(results, files[-1])
        files.append(build(tmp_path, results))
    build(tmp_path, results, "--check")
    assert (changed(files[1], files[2]), changed(files[2], files[3])) == ([], [])
    if way not in (as_manifest, as_descriptions, as_skills):
        assert changed(first, files[1]) in ([], [".skillgen.json"])  # which counts the facts of ai_help


@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.parametrize("name", ["ai-help.md", "llms.txt"])
def test_documents_as_an_extra_text_are_a_fixpoint(tmp_path: Path, name: str, by_hand: bool) -> None:
    """S0-53: `--extra` with the file that the run writes."""
    results = harbour(**({"ai_help": {"content": BY_HAND}} if by_hand else {}))
    first = build(tmp_path, results)
    for options in ((), (), ("--check",)):
        assert changed(first, build(tmp_path, results, "--extra", tmp_path / "out" / name, *options)) == []


def test_what_is_not_declared_never_becomes_none(tmp_path: Path) -> None:
    """S0-53, S0-23: front matter has `none` for both, and a reader can tell them apart."""
    results = harbour()
    for way in (as_ai_help, as_dashdash, as_instructions):
        results = way(results, build(tmp_path, results))
    skill = build(tmp_path, results)["skills/harbor/SKILL.md"].decode()
    assert "Command line: none" not in skill
    results["initialize"]["dashdash"] = {"alternativeAccess": {"cliUrl": None}}
    assert "Command line: none" in build(tmp_path, results)["skills/harbor/SKILL.md"].decode()


def test_an_edit_of_a_served_text_is_read_or_reported(tmp_path: Path) -> None:
    """S0-53: a section of the author's is read; what was changed of a derived one is said to be left out."""
    results = harbour()
    text = build(tmp_path, results)["ai-help.md"].decode()
    edited = text.replace(
        "## Quick Reference\n", "## Moorings\n\nNever moor at the fuel jetty.\n\n## Quick Reference\n"
    )
    edited = edited.replace("web-url: none", "web-url: https://harbor.example").replace(", web-url", "")
    files = build(tmp_path, results | {"ai_help": edited})
    skill = files["skills/harbor/SKILL.md"].decode()
    assert ("Never moor at the fuel jetty." in skill, "https://harbor.example" in skill) == (True, True)
    captured = tmp_path / "captured.json"
    for served, is_reported in ((edited, True), (text, False)):
        captured.write_text(json.dumps(results | {"ai_help": served}), encoding="utf-8")
        command = ("from-server", "-o", tmp_path / "out", "--", *COMMAND)
        finished = run_skillgen(*command, env={CAPTURED: str(captured)})
        assert ("generated-text-edited" in finished.stderr) is is_reported
