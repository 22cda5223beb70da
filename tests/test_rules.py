"""Each kind of problem is declared once; its level, fix and documentation follow, and its examples hold."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from captured import service_of_answers
from cli import ROOT, run_python, run_skillgen
from listed import TESTS, command
from rows import inputs
from servers.listed import LISTS

import skillgen
from skillgen import Problem
from skillgen.errors import CODES as KINDS

Json = Any

PAGE = (ROOT / "docs" / "rules.md").read_text("utf-8")
CODES = dict(re.findall(r"^\| \[`([a-z-]+)`\]\(#[a-z-]+\) \| (\w+) \| .+ \|$", PAGE, re.MULTILINE))
TABLE = yaml.safe_load((ROOT / "skillgen" / "problem_codes.yaml").read_text("utf-8"))
CASES = {code for code, kind in TABLE.items() if "case" in kind}

CHECKS = (ROOT / "skillgen" / "rules" / "checks.py").read_text("utf-8")
_RULE = re.compile(r"def _(\w+)\((?:tool: Tool, types: Types|service: Service)\) -> Findings")
LINT_CODES = frozenset(name.replace("_", "-") for name in _RULE.findall(CHECKS))
"""Codes that only `lint` reports."""


def test_the_table_is_read_as_yaml() -> None:
    members = {code: {key.replace("-", "_"): value for key, value in kind.items()} for code, kind in TABLE.items()}
    read = {code: {key: getattr(KINDS[code], key) for key in kind} for code, kind in members.items()}
    assert json.loads(json.dumps(read)) == members
    assert list(KINDS) == list(TABLE)


# -- how an example is completed and read ----------------------------------------------------------------------------

DESCRIPTION: dict[str, Any] = inputs("rules")["description"]
MANIFEST = {
    "manifest_version": "0.1.0",
    "server": {"name": "orders", "version": "1.4.2", "mcp_spec_version": "2025-11-25"},
    "tools": [{"name": "get_order", "description": "Returns an order", "input_schema": {"type": "object"}}],
}


def problems_of_description(example: str, folder: Path) -> list[Problem]:
    """An example that is not a whole description lacks the members that `DESCRIPTION` has."""
    path = folder / "openapi.yaml"
    is_whole = re.search(r"^(openapi|swagger):", example, re.MULTILINE)
    given = [] if is_whole else re.findall(r"^(\w+):", example, re.MULTILINE)
    rest = {} if is_whole else {key: value for key, value in DESCRIPTION.items() if key not in given}
    path.write_text(example + (yaml.safe_dump(rest) if rest else ""), encoding="utf-8")
    service = skillgen.read(path)
    return [*service.problems, *service.advice]


def problems_of_answers(example: str, folder: Path) -> list[Problem]:
    """Also those of the documents that are written."""
    answers = {"initialize": {"serverInfo": {"name": "orders"}}, **yaml.safe_load(example)}
    version = answers["initialize"].get("protocolVersion", "2025-11-25")
    pages = {method: [answer] if method.endswith("/list") else answer for method, answer in answers.items()}
    service = service_of_answers(pages, protocol_version=version, url="https://api.shop.example/mcp")
    (folder / "snapshot.json").write_text(json.dumps(skillgen.snapshot(service)), encoding="utf-8")
    result = skillgen.generate(service, out=folder / "out", emit=["skill"], allow_empty=True)
    return [*service.problems, *service.advice, *result.problems]


def problems_of_crawl(example: str, folder: Path) -> list[Problem]:
    answers = {"tools/list": {"tools": []}, **yaml.safe_load(example)}
    lists = {LISTS.get(method, method): answer for method, answer in answers.items() if method != "initialize"}
    lists = {name: lists[name].get(name, lists[name]) for name in lists}
    server = command(folder, answers.get("initialize"), **lists)
    return list(skillgen.read(command=server, cwd=TESTS, call_get_manifest=True, skill_files=True).problems)


def problems_of_ai_help(example: str, folder: Path) -> list[Problem]:
    tools = [{"tools": [{"name": "get_order"}]}]
    service = service_of_answers({"ai_help": {"content": example}, "tools/list": tools})
    return [*service.problems, *service.advice]


def problems_of_manifest(example: str, folder: Path) -> list[Problem]:
    service = skillgen.read({**MANIFEST, **yaml.safe_load(example)})
    return [*service.problems, *service.advice]


def problems_of_target(example: str, folder: Path) -> list[Problem]:
    (folder / "openapi.yaml").write_text(yaml.safe_dump(DESCRIPTION), encoding="utf-8")
    target = {"source": {"openapi": "openapi.yaml"}, **yaml.safe_load(example)}
    project = folder / "skillgen.yaml"
    project.write_text(yaml.safe_dump({"targets": {"orders": target}}), encoding="utf-8")
    return list(skillgen.build(project).problems)


def problems_of_overlay(example: str, folder: Path) -> list[Problem]:
    overlay = {"overlay": "1.1.0", "info": {"title": "Changes", "version": "1"}, **yaml.safe_load(example)}
    path = folder / "overlay.yaml"
    path.write_text(yaml.safe_dump(overlay), encoding="utf-8")
    return list(skillgen.read(DESCRIPTION, overlays=[str(path)]).problems)


def problems_of_extra(example: str, folder: Path) -> list[Problem]:
    path = folder / "extra.md"
    path.write_text(example, encoding="utf-8")
    return list(skillgen.read(DESCRIPTION, extra=[str(path)]).problems)


def problems_of_arazzo(example: str, folder: Path) -> list[Problem]:
    source = {"name": "orders", "url": "openapi.json", "type": "openapi"}
    info = {"title": "Orders", "version": "1"}
    file = {"arazzo": "1.1.0", "info": info, "sourceDescriptions": [source], "workflows": yaml.safe_load(example)}
    path = folder / "arazzo.yaml"
    path.write_text(yaml.safe_dump(file, sort_keys=False), "utf-8")
    return list(skillgen.read(DESCRIPTION, extra=[str(path)]).problems)


def linted_codes(code: str, folder: Path) -> set[str]:
    """Returns the codes that `lint` reports on the source that a reader wrote."""
    (source,) = (path for name in ("openapi.yaml", "snapshot.json") if (path := folder / name).is_file())
    report = json.loads(run_skillgen("lint", source, "--select", code, "--format", "json").stdout)
    return {finding["code"] for finding in report["findings"]}


READERS: dict[str, Callable[[str, Path], list[Problem]]] = {
    "description": problems_of_description,
    "answers": problems_of_answers,
    "crawl": problems_of_crawl,
    "ai_help": problems_of_ai_help,
    "manifest": problems_of_manifest,
    "target": problems_of_target,
    "overlay": problems_of_overlay,
    "extra": problems_of_extra,
    "arazzo": problems_of_arazzo,
}


@pytest.mark.parametrize("part", READERS)
def test_a_bad_example_breaks_its_rule_and_a_good_one_does_not(part: str, tmp_path: Path) -> None:
    """S2-05: among others that title, version and description are missed."""
    wrong = []
    for code, pair in ((code, kind) for code, kind in TABLE.items() if kind.get("part") == part):
        for kind, is_expected in (("bad", True), ("good", False)):
            folder = tmp_path / code / kind
            folder.mkdir(parents=True)
            found = {problem.code for problem in READERS[part](pair[kind], folder)}
            if code in LINT_CODES:
                found |= linted_codes(code, folder)
            if (code in found) is not is_expected:
                wrong.append(f"{code}: {kind}: {sorted(found)}")
    assert wrong == []


# -- what no short example shows -------------------------------------------------------------------------------------


def test_every_other_case_has_a_test_that_names_its_code() -> None:
    tests = " ".join(path.read_text("utf-8") for path in (ROOT / "tests").glob("test_*.py"))
    assert {code for code in CASES if not re.search(rf"[\"' ,]{code}[\"' ,:.]", tests)} == set()


@pytest.mark.slow
def test_what_is_too_large_is_reported(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": dict.fromkeys(map(str, range(100_001)), True)}
    operation = {"requestBody": {"content": {"application/json": {"schema": schema}}}}
    groups = {"groups": [{"name": f"group-{number}"} for number in range(501)]}
    files = [{"uri": f"skill://orders/{number}.md"} for number in range(2_001)]
    extensions: Json = {"io.modelcontextprotocol/groups": {}, "io.modelcontextprotocol/skills": {}}
    answers = {
        "initialize": {"capabilities": {"tools": {}, "extensions": extensions}},
        "groups/list": groups,
        "skills/list": {"skills": [{"uri": "skill://orders", "frontmatter": {"name": "orders"}, "resources": files}]},
    }
    found = [
        *skillgen.read({**DESCRIPTION, "paths": {"/orders": {"post": operation}}}).problems,
        *skillgen.read({**DESCRIPTION, "webhooks": {str(number): {"post": {}} for number in range(51)}}).problems,
        *problems_of_crawl(json.dumps(answers), tmp_path),
    ]
    expected = {"schema-too-large", "events-not-detailed", "groups-too-many", "skill-files-too-many"}
    assert expected - {problem.code for problem in found} == set()


DIES = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        sys.exit(1)
    results = {
        "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
        "tools/list": {"tools": [{"name": "get_order", "inputSchema": {"type": "object"}}]},
    }
    error = {"code": -32601, "message": "Method not found"}
    result = results.get(message["method"])
    outcome = {"result": {"resultType": "complete", **result}} if result else {"error": error}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)
"""


def test_a_server_that_dies_in_the_legacy_handshake_is_reported() -> None:
    problems = skillgen.read(command=(sys.executable, "-c", DIES)).problems
    assert "legacy-handshake-missing" in {problem.code for problem in problems}


# -- declared once ---------------------------------------------------------------------------------------------------


def test_every_code_has_examples_or_a_case() -> None:
    explained = [code for code, kind in TABLE.items() if "case" in kind or (kind["part"] in READERS and "bad" in kind)]
    assert sorted(explained) == sorted(CODES)


def test_every_documented_code_is_reported() -> None:
    modules = (ROOT / "skillgen").rglob("*.py")
    strings = {string for path in modules for string in re.findall(r'"([a-z0-9-]+)"', path.read_text("utf-8"))}
    built = {f"{field}-missing" for field in ("title", "version", "description", "tool-summary", "tool-description")}
    built |= {f"dashdash-{profile}-url-missing" for profile in ("api", "cli", "web")}
    assert CODES.keys() - strings - built - LINT_CODES == set()


def test_a_problem_has_the_level_and_the_fix_of_its_code() -> None:
    assert {code: Problem.of(code, "", "x").level for code in CODES} == CODES
    assert Problem.of("duplicate-key", "", "x").fix == "remove one"
    assert Problem.of("duplicate-key", "", "x", "remove the first").fix == "remove the first"
    with pytest.raises(KeyError):
        Problem.of("no-such-code", "", "x")


def test_the_page_of_rules_is_up_to_date() -> None:
    assert run_python(ROOT / "tests" / "make_rules.py").stdout == PAGE


# -- skillgen rule ---------------------------------------------------------------------------------------------------


def test_a_rule_is_explained_as_on_the_page() -> None:
    printed = run_skillgen("rule", "duplicate-key").stdout
    assert "Fix: remove one." in printed
    assert f"\n#{printed}" in PAGE


def test_all_rules_are_listed_with_level_and_meaning() -> None:
    lines = [line.split(maxsplit=2) for line in run_skillgen("rule").stdout.splitlines()]
    assert {code: level for code, level, _ in lines} == CODES


def test_an_unknown_code_names_the_closest_ones() -> None:
    for wrong, meant in {
        "operation-id-mising": "operation-id-missing",
        "dashdash-web": "dashdash-web-url-missing",
    }.items():
        finished = run_skillgen("rule", wrong)
        assert (finished.exit_code, finished.stdout) == (2, "")
        assert f"did you mean {meant}" in finished.stderr
    assert "run `skillgen rule` to list all codes" in run_skillgen("rule", "xyz").stderr
