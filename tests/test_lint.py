"""`skillgen lint`: what a source lacks, rule by rule, for people and for programs."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli import Finished, run_skillgen
from descriptions import description, operation, write
from jsonschema import Draft4Validator, Draft202012Validator
from listed import TESTS, command, tool

Json = Any

SCHEMA = json.loads((TESTS / "specifications" / "sarif" / "sarif-schema-2.1.0.json").read_text("utf-8"))
SOURCES = sorted((TESTS / "golden" / "sources").glob("*.json"))
HOSTILE = '\x1b[31m::error::x\n[a](https://x.example) {0} \u202e <&">%0A ${{ secrets.A }}'

LACKING = [
    tool("get_order"),
    tool("get_orders", description="Get orders."),
    tool("list_orders", description="Lists orders."),
    tool("find_orders", description="Lists orders."),
]
"""Tools of which one has no description, which is an error, and others have poor ones."""


@pytest.fixture
def lacking(tmp_path: Path) -> Path:
    """A snapshot of a server with poor descriptions."""
    path = tmp_path / "lacking.json"
    path.write_text(run_skillgen("inspect", "-q", "--", *command(tmp_path, tools=LACKING), cwd=TESTS).stdout, "utf-8")
    return path


def lint(*arguments: object, **options: Any) -> Finished:
    return run_skillgen("lint", *arguments, **options)


def findings(*arguments: object, **options: Any) -> list[dict[str, Json]]:
    found: list[dict[str, Json]] = json.loads(lint("--format", "json", *arguments, **options).stdout)["findings"]
    return found


def codes(*arguments: object, **options: Any) -> list[str]:
    return [finding["code"] for finding in findings(*arguments, **options)]


def clean(folder: Path) -> Path:
    """Writes a description with nothing to report but notes."""
    described = operation("list_tasks", description="Returns all tasks.")
    return write(folder / "clean.json", description({"/tasks": {"get": described}}))


# -- for people ------------------------------------------------------------------------------------------------------


def test_findings_are_grouped_by_rule_the_worst_first(lacking: Path) -> None:
    finished = lint(lacking)
    lines = finished.stdout.splitlines()
    assert lines[0].startswith(f"{lacking}: 1 error, 2 warnings, ")
    assert lines[2] == "error: no-description: a tool has no description"
    assert lines[3].startswith("  fix: say what it does")
    assert lines[4] == "  get_order has no description"
    levels = [line.partition(":")[0] for line in lines[2:] if line and not line.startswith((" ", "quality"))]
    assert levels == sorted(levels, key=["error", "warning", "info"].index)


@pytest.mark.parametrize("chosen", [(), ("--select", "*")])
def test_quiet_prints_errors_only(lacking: Path, chosen: tuple[str, ...]) -> None:
    assert codes(lacking, "--quiet", *chosen) == ["no-description"]
    none = lint(lacking, "--quiet", "--strict", "--ignore", "no-description")
    assert (none.stdout, none.exit_code) == (f"{lacking}: no errors\n", 0)


def test_only_the_first_places_of_a_rule_are_printed_unless_asked(tmp_path: Path) -> None:
    many = [tool(f"tool_{number}") for number in range(9)]
    server = ("--", *command(tmp_path, tools=many))
    select = ("--select", "no-description")
    assert "(9 times)" in lint(*select, *server, cwd=TESTS).stdout
    assert "  … 4 more; -v shows all" in lint(*select, *server, cwd=TESTS).stdout
    assert lint("-v", *select, *server, cwd=TESTS).stdout.count("has no description") == 10


def test_words_are_counted_also_where_no_spaces_are_between_them(tmp_path: Path) -> None:
    """Of Japanese; names that say from what to what differ, and a server that says nothing of itself is reported."""
    tools = [tool("xyz_to_geo", description="座標を緯度と経度に変換します。"), tool("geo_to_xyz", description="変換")]
    path = tmp_path / "geo.json"
    path.write_text(run_skillgen("inspect", "-q", "--", *command(tmp_path, tools=tools), cwd=TESTS).stdout, "utf-8")
    kinds = ("brief-description", "shadow-candidate", "service-undescribed")
    assert [code for code in codes(path) if code in kinds] == ["brief-description", "service-undescribed"]


# -- which rules, which exit code ------------------------------------------------------------------------------------


def test_errors_exit_with_1_and_warnings_only_if_strict(lacking: Path, tmp_path: Path) -> None:
    assert lint(lacking).exit_code == 1
    assert lint(lacking, "--ignore", "no-description").exit_code == 0
    assert lint(lacking, "--ignore", "no-description", "--strict").exit_code == 1
    assert lint(clean(tmp_path), "--strict", "--ignore", "responses-missing").exit_code == 0


def test_rules_are_selected_and_ignored_by_code_or_pattern(lacking: Path) -> None:
    assert codes(lacking, "--select", "no-description,tautological-description") == [
        "no-description",
        "tautological-description",
    ]
    assert set(codes(lacking, "--select", "*-description", "--ignore", "no-*,brief-*")) == {"tautological-description"}
    assert codes(lacking, "--select", "shadow-candidate", "--select", "no-description").count("shadow-candidate") == 1


def test_an_optional_rule_must_be_selected(lacking: Path) -> None:
    assert "no-output-schema" not in codes(lacking)
    assert "no-output-schema" in codes(lacking, "--select", "no-output-schema")


def test_an_unknown_rule_or_format_is_refused(lacking: Path) -> None:
    for arguments, words in {
        ("--select", "no-descripton"): "--select: no such code: no-descripton",
        ("--ignore", "xyz"): "run `skillgen rule` to list all codes",
        ("--format", "xml"): "choose from text, json, sarif, github, conformance",
        ("--format", "junit"): "use `--format sarif` of lint, or json, which CI hosts read too",
    }.items():
        finished = lint(lacking, *arguments)
        assert (finished.exit_code, finished.stdout) == (2, "")
        assert words in finished.stderr


def test_a_source_that_cannot_be_read_exits_with_3(tmp_path: Path) -> None:
    assert lint(tmp_path / "missing.json").exit_code == 3
    assert lint(cwd=tmp_path).exit_code == 2


# -- which sources ---------------------------------------------------------------------------------------------------


def test_a_server_and_several_documents_are_linted_together(lacking: Path, tmp_path: Path) -> None:
    path = clean(tmp_path)
    found = findings(path, lacking, "--select", "*", "--", *command(tmp_path, tools=LACKING), cwd=TESTS)
    assert list(dict.fromkeys(finding["source"] for finding in found)) == [str(path), str(lacking), "listed"]


def test_a_program_is_linted_by_rules_for_programs(tmp_path: Path) -> None:
    found = codes("--select", "*", "click_program:cli", "--python", sys.executable, cwd=TESTS / "programs")
    assert {"no-description", "command-unknown"} <= set(found)
    assert {code for code in found if code.startswith(("errors-", "missing-annotations"))} == set()


def _answer(media_type: str, **members: Json) -> Json:
    return {"200": {"description": "Done", "content": {media_type: members}}}


VALUES: dict[str, Json] = {
    "default": {"type": "integer", "default": "x"},
    "choice": {"type": "string", "enum": ["a"], "default": "b"},
    "example": {"type": "integer", "examples": ["x"]},
    "nested": {"type": "object", "properties": {"n": {"type": "array", "items": {"type": "integer", "default": "x"}}}},
}
KEYWORDS: dict[str, Json] = {
    "type": {"type": "strng"},
    "enum": {"type": "integer", "enum": ["a"]},
    "array": {"type": "array", "items": {"type": "string"}, "enum": ["a"]},
    "bound": {"type": "integer", "minimum": "five"},
    "count": {"type": "string", "maxLength": -1},
    "range": {"type": "integer", "minimum": 10, "maximum": 5},
    "pattern": {"type": "string", "pattern": "(a"},
}
CONSISTENT: dict[str, Json] = {
    "unset": {"type": "string", "default": None},
    "number": {"type": "integer", "default": 1.0, "enum": [1, 2, None]},
    "dialect": {"type": "string", "pattern": r"^[A-Z][\w-\.]*$"},
    "class": {"type": "string", "pattern": r"[^\p{C}]{1,2048}"},
    "long": {"type": "string", "pattern": f"({'a|' * 500}"},  # not read: compiling a megabyte takes 15 s
    "secret": {"type": "string", "format": "uuid", "example": "sk_live_51H8sdfjk2323kjfdkjdfkj34kj34"},
    "range": {"type": "integer", "minimum": 5, "maximum": 5},
    "type": {"type": "string", "default": "object"},
}


@pytest.mark.parametrize(
    ("schemas", "code"), [(VALUES, "example-invalid"), (KEYWORDS, "schema-invalid"), (CONSISTENT, None)]
)
def test_a_schema_that_contradicts_itself_is_reported(tmp_path: Path, schemas: Json, code: str | None) -> None:
    """The same for servers, their snapshots and parameters of an API; public descriptions have each of these faults."""
    select = ("--select", "example-invalid,schema-invalid")
    properties = {"type": "object", "properties": schemas}
    server = ("--", *command(tmp_path, tools=[tool("find", description="Finds it.", inputSchema=properties)]))
    parameters = [{"name": name, "in": "query", "schema": schema} for name, schema in schemas.items()]
    paths = {"/p": {"get": operation("find") | {"parameters": parameters}}}
    api = write(tmp_path / "api.json", description(paths))
    snapshot = tmp_path / "snapshot.json"
    snapshot.write_text(run_skillgen("inspect", "-q", *server, cwd=TESTS).stdout, "utf-8")
    expected = [code] * len(schemas) if code is not None else []
    assert codes(*select, *server, cwd=TESTS) == expected
    assert codes(*select, snapshot) == expected
    found = findings(*select, api)
    assert [item["code"] for item in found] == expected
    assert len({item["column"] for item in found}) == len(found)


def test_an_example_of_a_response_that_does_not_fit_is_reported(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}}
    examples = {"fits": {"value": {"id": 1}}, "differs": {"value": {"id": "x"}}}
    answer = _answer("application/json", schema=schema, examples=examples)
    path = write(tmp_path / "api.json", description({"/p": {"get": operation("find") | {"responses": answer}}}))
    (found,) = findings(path, "--select", "example-invalid")
    assert found["where"].endswith("/responses/200/content/application~1json/examples/differs")
    assert found["message"].startswith("the example 'differs' of the response 200 does not match its schema: id: ")


PROBLEM: Json = {"type": "object", "properties": {"message": {"type": "string"}, "code": {"type": "string"}}}


@pytest.mark.parametrize(
    ("schema", "is_reported"),
    [
        (PROBLEM, False),
        ({"type": "object", "properties": {"error": PROBLEM}}, False),
        ({"properties": {"faults": {"type": "array", "items": {"$ref": "#/components/schemas/Problem"}}}}, False),
        ({"allOf": [{"$ref": "#/components/schemas/Problem"}]}, False),
        ({"type": "object", "properties": {"detail": {"type": "string"}}}, False),
        ({"type": "object"}, False),
        ({"type": "object", "properties": {"error": {"type": "integer"}}}, True),
        ({"$ref": "#/components/schemas/Silent"}, True),
    ],
)
def test_the_body_of_an_error_without_a_message_is_reported_once(
    tmp_path: Path, schema: Json, is_reported: bool
) -> None:
    """S2-14: seed 002, 6.1."""
    responses = {
        "200": {"description": "Done"},
        "400": {"description": "Bad", "content": {"application/json": {"schema": schema}}},
    }
    types = {"Problem": PROBLEM, "Silent": {"type": "object", "properties": {"status": {"type": "integer"}}}}
    paths = {"/a": {"get": operation("x", responses=responses)}, "/b": {"get": operation("y", responses=responses)}}
    data = description(paths, components={"schemas": types})
    found = findings("--select", "error-message-missing", write(tmp_path / "api.json", data))
    assert bool(found) is is_reported
    if "$ref" in schema:
        assert [item["where"] for item in found] == ["/components/schemas/Silent"]


def test_what_tools_share_has_one_finding(tmp_path: Path) -> None:
    shared = {"parameters": [{"$ref": "#/components/parameters/Type"}]}
    parameter = {"name": "type", "in": "query", "schema": {"type": "string"}}
    data = description(
        {f"/{name}": {"get": operation(name, **shared)} for name in ("a", "b")},
        components={"parameters": {"Type": parameter}},
    )
    assert codes(write(tmp_path / "api.json", data), "--select", "ambiguous-identifier") == ["ambiguous-identifier"]


# -- where in the file -----------------------------------------------------------------------------------------------

POSITIONED = """\
openapi: 3.1.0
info: {title: Tasks, version: "1.0", description: Keeps tasks}
servers: &servers
- url: https://tasks.example
paths:
  "/tasks/{id}":
    get:
      operationId: get_task
      parameters:
      - {name: id, in: path, required: true, schema: {type: string}}
      - name: type
        in: query
        schema: {type: string}
    POST: {operationId: add_task, servers: *servers}
"""


def test_a_finding_has_the_line_and_column_of_its_place(tmp_path: Path) -> None:
    path = tmp_path / "api.yaml"
    path.write_text(POSITIONED, encoding="utf-8")
    found = {(item["code"], item["line"], item["column"]) for item in findings("--select", "*", path)}
    expected = {("method-misspelt", 14, 5), ("ambiguous-identifier", 11, 9), ("no-description", 7, 5)}
    assert expected - found == set()
    assert f"  {path}:14:5: add_task: 'POST' is read as 'post'" in lint(path).stdout
    assert f"::warning file={path},line=14,col=5,title=method-misspelt (" in lint("--format", "github", path).stdout
    (result,) = (
        item for item in results(lint("--format", "sarif", path).stdout) if item["ruleId"] == "method-misspelt"
    )
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 14, "startColumn": 5}


@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_a_position_is_that_of_the_innermost_key_that_is_there(tmp_path: Path, indent: int | str | None) -> None:
    path = tmp_path / "api.json"
    data = json.loads((TESTS / "golden" / "sources" / "tomtom-maps.json").read_text("utf-8"))
    path.write_text(json.dumps(data, indent=indent, ensure_ascii=False), encoding="utf-8")
    lines = path.read_text("utf-8").split("\n")
    found = [item for item in findings("--select", "*", path) if item["where"].startswith("/")]
    assert found
    for finding in found:
        value, key = data, ""
        for step in (step.replace("~1", "/").replace("~0", "~") for step in finding["where"].split("/")[1:]):
            inner = value if isinstance(value, dict) else dict(enumerate(value)) if isinstance(value, list) else {}
            name = int(step) if isinstance(value, list) else step
            if name not in inner:
                break
            value, key = inner[name], "" if isinstance(value, list) else step
        if finding["line"] is None:
            assert finding["where"].split("/")[1] not in data
        elif key:
            assert lines[finding["line"] - 1][finding["column"] - 1 :].startswith(json.dumps(key, ensure_ascii=False))


@pytest.mark.parametrize(
    "text",
    [
        '{"default": NaN, "type": "number"}',
        '{"example": "\\ud800", "type": "string"}',
        '{"type": "string", "ähnlich": "“", "type": "number"}',
        '{"maximum": 12, "maximum": 1}',
    ],
    ids=["not a number", "half of a pair", "a key that occurs twice", "a number that begins like another"],
)
@pytest.mark.parametrize("start", ["", "\ufeff"], ids=["", "mark"])
def test_json_that_is_read_slowly_has_the_same_positions(tmp_path: Path, text: str, start: str) -> None:
    parameters = [{"in": "query", "name": "id", "schema": "SCHEMA"}]
    content = json.dumps(description({"/ä": {"get": operation("list_tasks", parameters=parameters)}}), indent=1)
    content = content.replace('"SCHEMA"', text).replace("\\u00e4", "ä")
    (path := tmp_path / "api.json").write_bytes((start + content).encode().replace(b"\n", b"\r\n"))
    (finding,) = findings(path, "--select", "ambiguous-identifier")
    line = next(number for number, line in enumerate(content.split("\n"), 1) if line.strip() == '"parameters": [')
    assert (finding["line"], finding["column"]) == (line + 1, len(content.split("\n")[line]))


def test_a_finding_in_a_file_of_a_reference_is_in_that_file(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    parameter = {"type": {"in": "query", "name": "type", "schema": {"type": "string", "default": 5}}}
    (tmp_path / "parts" / "query.json").write_text(json.dumps(parameter, indent=1), "utf-8")
    shared = operation("list_tasks", parameters=[{"$ref": "parts/query.json#/type"}])
    path = write(tmp_path / "api.json", description({"/tasks": {"get": shared}}))
    (finding,) = findings(path, "--select", "ambiguous-identifier")
    assert (finding["file"], finding["line"], finding["column"]) == (f"{tmp_path}/parts/query.json", 2, 2)
    (default,) = findings(path, "--select", "example-invalid")
    assert (default["file"], default["line"]) == (f"{tmp_path}/parts/query.json", 7)
    (result,) = results(lint(path, "--select", "ambiguous-identifier", "--format", "sarif").stdout)
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"].endswith("/parts/query.json")
    assert physical["region"] == {"startLine": 2, "startColumn": 2}


# -- the project file ------------------------------------------------------------------------------------------------


def project(folder: Path, lint: Json) -> Path:
    """Writes a project with one target, which breaks several rules, and the settings of `lint`."""
    orders = operation("list_orders", tags=["orders"], parameters=[{"name": "type", "in": "query"}])
    tasks = operation("list_tasks", tags=["tasks"], parameters=[{"name": "type", "in": "query"}])
    write(folder / "api.json", description({"/orders": {"get": orders}, "/tasks": {"get": tasks}}))
    data = {"targets": {"shop": {"source": {"openapi": "api.json"}}}, "lint": lint}
    (folder / "skillgen.yaml").write_text(yaml.safe_dump(data), "utf-8")
    return folder


def test_without_a_source_the_targets_of_the_project_are_checked(tmp_path: Path) -> None:
    project(tmp_path, {})
    found = findings(cwd=tmp_path)
    assert {(finding["source"], finding["file"]) for finding in found} == {("shop", "api.json")}
    assert lint("--target", "other", cwd=tmp_path).exit_code == 2
    assert lint("--project", tmp_path / "skillgen.yaml", cwd=TESTS).stdout.startswith("shop: ")


def test_settings_that_cannot_be_meant_are_refused(tmp_path: Path) -> None:
    for settings, words in (
        ({"ignore": ["no-descripton"]}, "no such code: no-descripton"),
        ({"select": ["xyz"]}, "skillgen.yaml#/lint/select: no such code: xyz"),
        ({"selekt": "x"}, "did you mean select?"),
    ):
        finished = lint(cwd=project(tmp_path, settings))
        assert finished.exit_code == 2, settings
        assert words in finished.stderr


# -- conformance -----------------------------------------------------------------------------------------------------

REPORT = json.loads(
    (TESTS / "specifications" / "mcp-extension-proposals" / "conformance.schema.json").read_text("utf-8")
)
DASHDASH = {"dashdash": {"specVersion": "0.1.0", "accessLevel": "read"}}


def outcomes(*arguments: object, **options: Any) -> dict[str, str]:
    """Returns the status of each requirement, whatever is selected."""
    report = json.loads(lint("--format", "conformance", "--ignore", "*", *arguments, **options).stdout)
    return {item["test_id"].partition("/")[2]: item["status"] for item in report["results"]}


def test_a_requirement_is_met_failed_or_not_applicable(tmp_path: Path) -> None:
    server = ("--", *command(tmp_path, DASHDASH, tools=LACKING))
    found = outcomes(*server, cwd=TESTS)
    assert found["dashdash-access-level-missing"] == "passed"
    assert found["dashdash-spec-version-old"] == "failed"
    assert found["dashdash-resource-field-missing"] == "skipped"
    assert found["operation-id-missing"] == "skipped"
    assert "criterion-1" not in found
    api = description()
    manifest = write(tmp_path / "mcp.json", api | {"security": [{"login": []}]})
    assert {outcomes(manifest)[code] for code in ("version-old", "security-missing")} == {"passed"}
    assert outcomes(write(tmp_path / "mcp.json", api | {"security": []}))["security-missing"] == "failed"
    assert outcomes(manifest)["oauth-missing"] == "failed"
    assert outcomes(write(tmp_path / "api.json", api))["oauth-missing"] == "skipped"
    plain = outcomes("--", *command(tmp_path, tools=LACKING), cwd=TESTS)
    assert {plain[code] for code in plain if code.startswith("dashdash-")} == {"skipped"}


def test_what_is_declared_but_invalid_is_not_met(tmp_path: Path) -> None:
    """S0-06, S0-09: an invalid value is left out of the documents, so it is as good as missing."""
    urls = {"cliUrl": "see the docs", "apiUrl": None, "webUrl": "https://shop.example"}
    fields = {"specVersion": 0.2, "accessLevel": "admin", "alternativeAccess": urls}
    invalid = [tool("get_order", description="Returns an order.", risk_level="bad")]
    found = outcomes("--", *command(tmp_path, {"dashdash": fields}, tools=invalid), cwd=TESTS)
    failed = ("dashdash-access-level-missing", "dashdash-spec-version-missing", "dashdash-cli-url-missing")
    assert {found[code] for code in (*failed, "manifest-word-unknown")} == {"failed"}
    assert {found[f"dashdash-{name}-url-missing"] for name in ("api", "web")} == {"passed"}
    bare = {"/orders": {"get": {"operationId": "orders", "responses": _answer("text/plain")}}}
    manifest = outcomes(write(tmp_path / "mcp.json", description(bare)))
    assert {manifest[f"tool-{name}-missing"] for name in ("summary", "description")} == {"failed"}


def test_a_conformance_report_has_the_specified_form(lacking: Path, tmp_path: Path) -> None:
    """S4-15, S3-12."""
    env = {"SOURCE_DATE_EPOCH": "1700000000"}
    for source in (lacking, clean(tmp_path)):
        report = json.loads(lint("--format", "conformance", source, env=env).stdout)
        Draft202012Validator({**REPORT, **REPORT["$defs"]["ConformanceReport"]}).validate(report)
        assert report["tested_at"] == "2023-11-14T22:13:20Z"
        assert sum(report["summary"].values()) == len(report["results"])
    assert {"openapi/operation-id-duplicate", "openapi/path-invalid"} <= {
        result["test_id"] for result in report["results"] if result["status"] == "passed"
    }


def test_a_conformance_report_is_on_one_service(lacking: Path, tmp_path: Path) -> None:
    assert lint("--format", "conformance", lacking, clean(tmp_path)).exit_code == 2
    finished = lint("--format", "conformance", lacking, env={"SOURCE_DATE_EPOCH": "today"})
    assert (finished.exit_code, finished.stdout) == (2, "")


# -- for programs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_sarif_is_valid_and_has_each_finding(source: Path) -> None:
    log = json.loads(lint("--format", "sarif", "--select", "*", source).stdout)
    Draft4Validator(SCHEMA).validate(log)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [result["ruleId"] for result in run["results"]] == codes("--select", "*", source)
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])


def test_github_gets_one_annotation_for_each_finding(lacking: Path, tmp_path: Path) -> None:
    lines = lint("--format", "github", lacking).stdout.splitlines()
    assert len(lines) == len(findings(lacking))
    assert lines[0].startswith(f"::error file={lacking},title=no-description (")
    path = clean(tmp_path)
    first = lint("--format", "github", "--select", "*", path).stdout
    assert re.match(rf"::\w+ file={re.escape(str(path))},line=\d+,col=\d+,title=", first)


def test_no_text_of_a_source_leaves_its_place_in_a_report(tmp_path: Path) -> None:
    """X-52: terminal, CI host, and the links and placeholders of SARIF."""
    shown = tool("get_order", description="x", title="x", dashdash={"reverseMethod": HOSTILE})
    server = ("--", *command(tmp_path, tools=[shown], server={"serverInfo": {"name": HOSTILE, "version": "1"}}))
    reports = {name: lint("--format", name, *server, cwd=TESTS).stdout for name in ("text", "github", "sarif")}
    for report in reports.values():
        assert "\x1b" not in report
        assert "\u202e" not in report
        assert "${{" not in report
    assert not any(line.lstrip().startswith("::") for line in reports["text"].splitlines())
    assert all(
        line.startswith(("::warning ", "::notice ", "::error title=")) for line in reports["github"].splitlines()
    )
    assert len(reports["github"].splitlines()) == len(results(reports["sarif"]))
    (result,) = (item for item in results(reports["sarif"]) if item["ruleId"] == "reverse-method-unknown")
    assert "\\[a\\](https://x.example) {{0}}" in result["message"]["text"]


def results(sarif: str) -> list[dict[str, Json]]:
    found: list[dict[str, Json]] = json.loads(sarif)["runs"][0]["results"]
    return found


def test_what_is_too_much_for_an_agent_is_reported(tmp_path: Path) -> None:
    tools = [tool(f"tool_{number}", description="word " * (1_000 if number == 0 else 5)) for number in range(51)]
    select = ("--select", "too-many-tools,long-description")
    found = [codes(*select, "--", *command(tmp_path, tools=some), cwd=TESTS) for some in (tools, tools[1:])]
    assert [*map(sorted, found)] == [["long-description", "too-many-tools"], []]


_SET: Json = {name: {"type": "string", "readOnly": True} for name in "abcdefghijk"}

NO_FINDINGS: dict[str, list[Json]] = {
    "ambiguous-identifier": [
        {"parameters": [{"name": "type", "in": "query", "schema": {"enum": ["card", "cash"]}}]},
        {"requestBody": _answer("application/json", schema={"properties": {"id": {"readOnly": True}}})["200"]},
    ],
    "deprecated-without-replacement": [
        {"deprecated": True, "description": "The recommended endpoint is v3/tasks."},
        {"description": "Deprecated version of BatchChange."},
    ],
    "list-without-paging": [
        {"responses": _answer("application/json", schema={"type": "array", "items": {"type": "string"}})}
    ],
    "method-contradicts-name": [
        {"operationId": name} for name in ("verify_token", "authorize", "get_patient_archive", "car_auto_complete")
    ],
    "many-parameters": [
        {"requestBody": _answer("application/json", schema={"properties": _SET, "required": [*_SET]})["200"]}
    ],
    "no-output-schema": [{"responses": _answer("image/png")}],
    "path-parameter-missing": [{"parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}]}],
    "result-unsaid": [
        {"description": "Progress.", "responses": {"200": {"description": "The progress of the job in percent"}}}
    ],
    "screen-mentioned": [{"description": "Gets click statistics, by the number of clicks on a URL."}],
    "undocumented-parameters": [{"requestBody": _answer("application/json", schema={"properties": _SET})["200"]}],
    "no-description": [{"operationId": None, "summary": None}],
}


@pytest.mark.parametrize("code", NO_FINDINGS)
def test_a_rule_has_no_false_alarm_that_was_seen_before(code: str, tmp_path: Path) -> None:
    path, files = "/p?q={q}" if code.startswith("path") else "/p", []
    for number, members in enumerate(NO_FINDINGS[code]):
        method = "options" if code == "no-description" else "put" if "requestBody" in members else "get"
        data = description({path: {method: operation("find") | members}})
        files.append(write(tmp_path / f"{number}.json", data))
    assert findings("--select", code, *files) == []
