"""What earlier releases had is refused with the release that dropped it; what they wrote is still read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli import run_skillgen

import skillgen

API = '{"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "paths": {"/a": {"get": {"operationId": "a"}}}}'

COMMAND_LINES = {
    "command sample": ["sample", "list_notes", "--", "python", "server.py"],
    "command registry search": ["registry", "search", "create an issue"],
    "option --html": ["registry", "build", "agent-docs", "--html", "site"],
    "option --samples": ["from-openapi", "openapi.json", "--samples=samples.json"],
    "rule usage-unsaid": ["lint", "openapi.json", "--select", "usage-unsaid"],
    "rule request-without-example": ["lint", "openapi.json", "--ignore", "*-without-example"],
    "option --fault": ["mock", "openapi.json", "--fault", "rate-limit"],
    "option --baseline": ["lint", "openapi.json", "--baseline", "known.json"],
    "option --prune": ["from-openapi", "openapi.json", "--prune"],
    "option --session": ["call", "openapi.json", "--session"],
    "option build --config": ["build", "--config", "skillgen.yaml", "--check"],
    "option call --openapi": ["call", "list_books", "--openapi=openapi.json"],
    "option eval --source": ["eval", "agent-docs/skills/shop", "--source", "openapi.json"],
    "option inspect --cli": ["inspect", "--cli", "acme.cli:app"],
    "option lint --cli-command": ["lint", "--cli-command", "git"],
    "option --against": ["lint", "openapi.json", "--against", "agent-docs"],
}

KEYS = {
    "samples": "{source: {openapi: openapi.json}, samples: samples.json}",
    "sources": "{sources: [{openapi: openapi.json}, {command: [server]}]}",
    "prune": "{source: {openapi: openapi.json}, prune: true}",
    "same-as": "{source: {openapi: openapi.json}, tools: {a: {same-as: [b]}}}",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "openapi.json").write_text(API, "utf-8")
    return tmp_path


@pytest.mark.parametrize("name", COMMAND_LINES)
def test_a_dropped_name_on_the_command_line_is_refused(name: str, project: Path) -> None:
    finished = run_skillgen(*COMMAND_LINES[name], cwd=project)
    assert (finished.exit_code, finished.stdout) == (2, "")
    assert f"the {name} was removed in skillgen 0.2.0\n  try: " in finished.stderr
    assert not (project / "agent-docs").exists()


@pytest.mark.parametrize("key", KEYS)
def test_a_dropped_key_is_refused_with_its_line_and_its_release(key: str, project: Path) -> None:
    (project / "skillgen.yaml").write_text(f"targets:\n  shop: {KEYS[key]}\n", "utf-8")
    run_skillgen("build", cwd=project).ended(2, f": the key {key} was removed in skillgen 0.2.0\n  try: ")


@pytest.mark.parametrize("setting", ["select: [deep-input]", "ignore: [deep-input]"])
def test_a_dropped_rule_in_a_project_is_refused_with_its_place_and_release(setting: str, project: Path) -> None:
    (project / "skillgen.yaml").write_text(
        f"targets: {{a: {{source: {{openapi: openapi.json}}}}}}\nlint: {{{setting}}}\n", "utf-8"
    )
    run_skillgen("lint", "openapi.json", cwd=project).ended(
        2, f"skillgen.yaml#/lint/{setting.partition(':')[0]}", "the rule deep-input was removed in skillgen 0.2.0"
    )


@pytest.mark.parametrize("name", ["ai-help-json", "ai-help-markdown"])
def test_a_dropped_format_is_refused_on_the_command_line_and_in_a_project(name: str, project: Path) -> None:
    keys = f"{{source: {{openapi: openapi.json}}, emit: [skill, {name}]}}"
    (project / "skillgen.yaml").write_text(f"targets:\n  shop: {keys}\n", "utf-8")
    for arguments in (["from-openapi", "openapi.json", "--emit", f"skill,{name}"], ["build"]):
        run_skillgen(*arguments, cwd=project).ended(
            2, f"the format {name} was removed in skillgen 0.2.0\n  try: emit dashdash"
        )


def test_a_dropped_function_says_what_to_do_instead() -> None:
    with pytest.raises(AttributeError, match=r"the function ai_help was removed in skillgen 0\.2\.0: have the program"):
        skillgen.ai_help  # noqa: B018


def test_a_snapshot_of_an_older_release_is_read(project: Path) -> None:
    snapshot = json.loads(run_skillgen("inspect", "-q", "openapi.json", cwd=project).stdout)
    (project / "new.json").write_text(json.dumps(snapshot), "utf-8")
    service = snapshot["services"][0]
    observed = {"date": "2026-01-31", "calls": 1, "content": ["json"]}
    service["tools"][0] |= {"observed": observed, "alternatives": [{"name": "b", "pointer": "/b"}]}
    service["alternatives"] = [{"kind": "mcp", "name": "shop"}]
    service["tools"][0].setdefault("origins", {})["observed"] = {"kind": "observed", "source": "samples.json#/a"}
    service["problems"].append({"code": "sample-tool-unknown", "level": "warning", "where": "/a", "message": "gone"})
    (project / "old.json").write_text(json.dumps(snapshot), "utf-8")
    old, new = (
        run_skillgen("from-server", "--snapshot", f"{name}.json", "-o", name, cwd=project) for name in ("old", "new")
    )
    assert (old.exit_code, new.exit_code) == (0, 0)
    assert "snapshot-part-unknown" in old.stderr
    assert "snapshot-part-unknown" not in new.stderr
    files = [path.relative_to(project / "new") for path in (project / "new").rglob("*.md")]
    assert files
    for file in files:
        assert (project / "old" / file).read_text("utf-8") == (project / "new" / file).read_text("utf-8")
