"""Service manifests (seed 004): the five that are published, what is wrong with others, and those of a server."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cli import ROOT, Finished, files_of, generated, run_skillgen
from hypothesis import given
from hypothesis import strategies as st

import skillgen

TESTS = Path(__file__).parent
PUBLISHED = TESTS / "specifications" / "mcp-extension-proposals"
SCHEMA = json.loads((PUBLISHED / "service-manifest.schema.json").read_text("utf-8"))
MANIFESTS = sorted((PUBLISHED / "manifests").glob("*.json"))
JIRA = json.loads((PUBLISHED / "manifests" / "jira-server-manifest.json").read_text("utf-8"))


def inspected(manifest: dict[str, Any]) -> dict[str, Any]:
    """Returns the model of a manifest, through the command line."""
    finished = generated("inspect", "--manifest", "-", stdin=json.dumps(manifest))
    service: dict[str, Any] = json.loads(finished.stdout)["services"][0]
    return service


def codes_of(manifest: dict[str, Any]) -> list[str]:
    return [problem.code for problem in skillgen.read(manifest).problems]


def documents(manifest: Path | dict[str, Any], out: Path) -> dict[str, str]:
    """Returns the documents of a manifest, path to text."""
    if isinstance(manifest, dict):
        path = out.parent / "manifest.json"
        path.write_text(json.dumps(manifest), "utf-8")
        manifest = path
    generated("from-server", "--manifest", manifest, "--out", out)
    return {path: content.decode() for path, content in files_of(out).items()}


@pytest.mark.parametrize("path", MANIFESTS, ids=[path.stem for path in MANIFESTS])
def test_every_published_manifest_is_documented_whole(path: Path, tmp_path: Path) -> None:
    """S4-01, S4-03, S4-05, S4-07, S4-08, S4-10, X-51: every tool, parameter, scope, cost and confirmation."""
    raw = json.loads(path.read_text("utf-8"))
    jsonschema.validate(raw, SCHEMA)
    written = documents(path, tmp_path / "out")
    (folder,) = {path.rpartition("/")[0] for path in written if path.endswith("SKILL.md")}
    skill, tools = written[f"{folder}/SKILL.md"], written[f"{folder}/SKILL.md"]
    about = written[f"{folder}/SKILL.md"]

    assert f"version: {raw['server']['version']}" in skill
    assert f"{raw['rate_limits']['requests_per_minute']} requests a minute" in skill
    for tool in raw["tools"]:
        assert f"\n## {tool['name']}\n" in tools
        assert all(f"`{name}`" in tools for name in tool["input_schema"]["properties"])
        if tool.get("requires_confirmation"):
            asked = next(line for line in skill.split("\n") if line.startswith("- Ask the user and wait for a yes"))
            assert f"`{tool['name']}`" in asked
            assert tool["confirmation_message"].split(".")[0] in tools
    assert all(f"`{scope['name']}`" in about for scope in raw["auth"]["scopes"])
    assert all(f"`{name}`" in about for name in raw["supported_extensions"])
    everything = "".join(written.values())
    assert str(raw["rate_limits"]["remaining"]) not in everything
    assert raw["rate_limits"]["resets_at"] not in everything


def test_a_manifest_is_taken_from_a_file_an_address_and_standard_input(serve: Any, tmp_path: Path) -> None:
    """S4-01: and `inspect` knows it by its content."""
    path = MANIFESTS[0]
    url = serve({"/manifest.json": (200, "application/json", path.read_bytes())})
    sources: dict[str, tuple[tuple[object, ...], bytes]] = {
        "file": ((path,), b""),
        "address": ((f"{url}/manifest.json",), b""),
        "standard input": (("-",), path.read_bytes()),
    }
    written = {}
    for name, (source, stdin) in sources.items():
        out = tmp_path / name
        generated("from-server", "--manifest", *source, "--out", out, stdin=stdin)
        written[name] = {path: text for path, text in files_of(out).items() if path != ".skillgen.json"}
    assert written["file"] == written["address"] == written["standard input"]

    inspected = run_skillgen("inspect", path)
    assert json.loads(inspected.stdout)["services"][0]["name"] == "github-mcp-server"


def test_a_document_that_is_no_manifest_is_one_message(tmp_path: Path) -> None:
    """S4-01."""
    run_skillgen("from-server", "--manifest", "-", "-o", tmp_path / "out", stdin='{"openapi": "3.1.0"}').ended(
        3, "is not a service manifest"
    )


def test_costs_times_sizes_and_media_types_are_marked_as_estimates(tmp_path: Path) -> None:
    """S4-07, S4-13: the state of a quota is no fact of the service, and is in no document."""
    manifest = copy.deepcopy(JIRA)
    manifest["tools"][0] |= {
        "input_types": ["image/png"],
        "output_types": ["application/json"],
        "max_input_size_bytes": 10485760,
        "binary_transport": "multipart",
        "quota": {"remaining": 12, "resets_at": "2026-03-16T00:00:00Z", "unit": "exports"},
    }
    tools = documents(manifest, tmp_path / "out")["skills/jira/SKILL.md"]

    assert "Estimated cost: metered, 5 API credits. Estimated time: seconds." in tools
    assert (
        "Input media types: `image/png`. Output media types: `application/json`. Input: at most 10,485,760 bytes."
        in tools
    )
    assert "Binary data is sent as `multipart`." in tools
    assert "2026-03-16" not in tools
    assert inspected(manifest)["tools"][0]["extras"] == {"quota": manifest["tools"][0]["quota"]}


def test_extensions_say_what_they_mean_and_unknown_ones_keep_their_names(tmp_path: Path) -> None:
    """S4-04, S4-06, S4-09, S4-12: intent, idempotency keys, transactions, provenance, session state and the rest."""
    manifest = copy.deepcopy(JIRA)
    known = SCHEMA["properties"]["supported_extensions"]["items"]["enum"]
    manifest["supported_extensions"] = [*known, "com.example/unknown"]
    about = documents(manifest, tmp_path / "out")["skills/jira/SKILL.md"]

    for name in known:
        assert f"- `{name}`: " in about
    assert "- `com.example/unknown`\n" in about
    assert "`intent` field" in about
    assert "`suggestion` (`recommended_tool`, `reason`): advice" in about
    assert "for 24 hours unless `idempotency_ttl_seconds`" in about
    assert "`idempotency_key` (1 to 128 letters, digits and `_-:.`)" in about


def test_errors_have_a_category_and_say_what_to_do(tmp_path: Path) -> None:
    """S4-14: of the service and of a tool, as a list and as a map."""
    manifest = copy.deepcopy(JIRA)
    error = {
        "code": "RATE_LIMIT_EXCEEDED",
        "message": "Too many requests",
        "category": "rate_limited",
        "retry_after_seconds": 42,
        "user_actionable": True,
        "suggestion": "Narrow the date range.",
        "documentation_url": "https://example.com/errors",
    }
    manifest["errors"] = [error]
    missing = {"message": "No such issue", "category": "permanent"}
    manifest["tools"][0]["errors"] = {"NOT_FOUND": missing, "GONE": "Left"}
    written = documents(manifest, tmp_path / "out")

    assert (
        "- `RATE_LIMIT_EXCEEDED`: Too many requests. Narrow the date range. Category: `rate_limited`. Try again after "
        "42 seconds. Tell the user. Documentation: `https://example.com/errors`."
    ) in written["skills/jira/SKILL.md"]
    tools = written["skills/jira/SKILL.md"]
    assert "- `NOT_FOUND`: No such issue. Category: `permanent`." in tools
    assert "- `GONE`: Left" in tools


@pytest.mark.parametrize(
    ("methods", "kinds"),
    [(["none", "api_key"], ["none", "api_key"]), (["none"], ["not declared"]), (["api_key", "api_key"], ["api_key"])],
)
def test_no_authentication_is_a_method_next_to_others(methods: list[str], kinds: list[str]) -> None:
    """S4-08: alone it means that there is no method; the scopes belong to the first that takes a credential."""
    manifest = copy.deepcopy(JIRA)
    manifest["auth"]["methods"] = methods
    auth = inspected(manifest)["requirements"]["auth"]

    assert [method["kind"] for method in auth] == kinds
    assert [bool(method.get("scopes")) for method in auth] == [kind != "none" for kind in kinds]


def test_recommended_servers_are_documented_in_both_forms(tmp_path: Path) -> None:
    """S4-16: the manifest's own, and the one of the wire."""
    manifest = copy.deepcopy(JIRA)
    manifest["recommendations"] = {
        "capability_needed": "design_mockup",
        "recommendations": [{"server": "figma-mcp-server", "match_confidence": "high", "auth_flow": "oauth2_device"}],
    }
    about = documents(manifest, tmp_path / "out")["skills/jira/SKILL.md"]
    assert "- `figma-mcp-server`, for `design_mockup` (match: high); authentication: `oauth2_device`" in about
    assert inspected(JIRA)["related"][0]["registry_url"] == "https://mcp-registry.example.com/servers/confluence"


def test_what_the_manifest_says_of_itself_is_checked() -> None:
    """S4-08, S4-10: grants of tools that it lacks, scopes that nobody declares, a confirmation without words."""
    manifest = copy.deepcopy(JIRA)
    manifest["tools"][1] |= {"required_scopes": ["no:such"], "requires_confirmation": True}
    manifest["tools"][2]["confirmation_message"] = "Delete {issue_key} of {nobody}?"
    codes = codes_of(manifest)

    assert codes.count("scope-grants-unknown-tool") == 6
    assert codes.count("scope-undeclared") == 1
    assert codes.count("confirmation-message-missing") == 1
    assert codes.count("placeholder-unknown") == 1


def test_a_risk_that_contradicts_other_facts_is_reported() -> None:
    """S4-11: `safe` implies nothing, but a destructive tool is not safe."""
    manifest = copy.deepcopy(JIRA)
    manifest["tools"][0]["annotations"] = {"destructiveHint": True}
    assert "risk-contradicted" in codes_of(manifest)
    assert inspected(JIRA)["tools"][0]["semantics"]["origins"]["read_only"]["kind"] == "inferred"


def test_names_that_the_schema_would_refuse_are_documented(tmp_path: Path) -> None:
    """S4-17."""
    manifest = copy.deepcopy(JIRA)
    manifest["tools"][0]["name"] = "Search-Issues.v2"
    tools = documents(manifest, tmp_path / "out")["skills/jira/SKILL.md"]
    assert "## Search-Issues.v2" in tools


@given(st.data())
def test_an_invalid_manifest_is_a_problem_and_no_crash(data: st.DataObject) -> None:
    """S4-01: the schema as published is the judge; names of tools are free."""
    manifest = copy.deepcopy(JIRA)
    owners: list[Any] = [manifest, manifest["server"], manifest["auth"], manifest["rate_limits"], *manifest["tools"]]
    owner = data.draw(st.sampled_from(owners))
    key = data.draw(st.sampled_from(sorted(owner)))
    replacement: Any = data.draw(st.sampled_from(["delete", None, 3, "x", [], {}, [3], True]))
    if replacement == "delete":
        del owner[key]
    else:
        owner[key] = replacement
    before = set(codes_of(JIRA)) - {"manifest-field-missing"}
    is_valid = jsonschema.Draft202012Validator(SCHEMA).is_valid(manifest)
    service = skillgen.read(manifest)
    problems = [problem.code for problem in service.problems if problem.code not in before]
    # null is the same as absent for most readers, a name is free, and what is left at the moment is not read.
    assert is_valid or problems or replacement is None or key in ("name", "remaining", "resets_at", "output_schema")


class TestFromAServer:
    def kiosk(self, manner: str, command: str, log: Path, *options: object) -> Finished:
        server = (sys.executable, "-m", "servers.extended", manner)
        return run_skillgen(command, *options, "--env", f"KIOSK_LOG={log}", "--", *server, cwd=TESTS)

    def test_no_tool_is_called_unless_the_user_asks_for_it(self, tmp_path: Path) -> None:
        """S4-02."""
        log = tmp_path / "log"
        assert self.kiosk("manifest-tool", "inspect", log).exit_code == 0
        assert "tools/call" not in log.read_text("utf-8")

    @pytest.mark.parametrize(
        ("manner", "options"), [("manifest-tool", ("--call-get-manifest",)), ("manifest-in-opening", ())]
    )
    def test_a_manifest_of_the_server_adds_to_its_tools(
        self, tmp_path: Path, manner: str, options: tuple[str, ...]
    ) -> None:
        """S4-02, S4-03: as the result of get_manifest, or with the first answer."""
        finished = self.kiosk(manner, "inspect", tmp_path / "log", *options).ok()
        service = json.loads(finished.stdout)["services"][0]
        tool = next(item for item in service["tools"] if item["name"] == "buy_paper")

        assert tool["semantics"]["requires_confirmation"] is True
        assert tool["cost"] == {"category": "metered", "estimated_units": 2, "unit_label": "coins"}
        assert [item["name"] for item in tool["parameters"]] == ["title"]
        assert service["extensions"] == {"intent_hints": {}, "made_up": {}}
        assert any(item["name"] == "list_papers" for item in service["tools"])
        calls = [json.loads(line) for line in (tmp_path / "log").read_text("utf-8").splitlines()]
        called = [entry["params"]["name"] for entry in calls if entry.get("method") == "tools/call"]
        assert called == (["get_manifest"] if options else [])


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_an_emitted_manifest_says_what_it_was_made_from(path: Path, tmp_path: Path) -> None:
    """S4-18, S4-21: nothing inferred; dropped are volatile facts and grants of unknown tools alone."""
    source = json.loads(path.read_text("utf-8"))
    generated("from-server", "--manifest", path, "--emit", "service-manifest", "-o", tmp_path)
    emitted = json.loads((tmp_path / "service-manifest.json").read_text("utf-8"))
    for volatile in ("remaining", "resets_at"):
        source["rate_limits"].pop(volatile, None)
    names = {tool["name"] for tool in source["tools"]}
    for scope in source["auth"]["scopes"]:
        scope["grants"] = [name for name in scope["grants"] if name in names]
    source["auth"]["scopes"] = [
        {key: item for key, item in scope.items() if item} for scope in source["auth"]["scopes"]
    ]
    assert emitted == source


def test_what_is_out_of_scope_is_documented() -> None:
    """S4-19: idempotent replay and checks of permissions are the server's own matter."""
    text = (ROOT / "docs" / "servers.md").read_text("utf-8")
    assert "does not check that a server keeps its word" in " ".join(text.split())


# -- the schema as a whole -------------------------------------------------------------------------------------------

WRONG_TYPES = {"string": 7, "integer": "many", "number": "many", "boolean": "perhaps", "array": "x", "object": "x"}


def every_member() -> dict[str, Any]:
    """Returns a manifest with each member that the schema knows."""
    manifest: dict[str, Any] = copy.deepcopy(JIRA)
    manifest["tools"][0] |= {"output_schema": {"type": "object"}, "input_types": ["image/png"], "latency": "instant"}
    manifest["tools"][0] |= {"output_types": ["image/png"], "max_input_size_bytes": 5, "supports_pagination": True}
    manifest["tools"][0] |= {"cost": {"category": "free", "estimated_units": 1, "unit_label": "calls"}}
    manifest["tools"][0] |= {"requires_confirmation": True, "confirmation_message": "Yes?", "risk_level": "safe"}
    manifest["tools"][0] |= {"idempotent": True, "required_scopes": ["read:issues"], "supports_streaming": True}
    related = {"capability": "design", "server_name": "figma", "match_confidence": "high"}
    manifest["recommendations"] = [related | {"registry_url": "https://figma.example", "auth_flow": "oauth2_code"}]
    manifest["rate_limits"] = {"requests_per_minute": 5, "requests_per_day": 9, "remaining": 1}
    manifest["rate_limits"]["resets_at"] = "2026-01-01T00:00:00Z"
    jsonschema.validate(manifest, SCHEMA)
    return manifest


def faults(schema: dict[str, Any], value: Any, *path: str | int) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yields each member with a value that the schema forbids there; `None` for a required one that is left out."""
    schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    if path:
        yield path, WRONG_TYPES[schema["type"]]
    if schema.keys() & {"const", "enum", "pattern"}:
        yield path, "no such word"
    if schema["type"] == "object":
        yield from (((*path, name), None) for name in schema.get("required", ()))
        for name in value.keys() & schema.get("properties", {}).keys():
            yield from faults(schema["properties"][name], value[name], *path, name)
    elif schema["type"] == "array" and value:
        yield from faults(schema["items"], value[0], *path, 0)


def test_whatever_the_schema_forbids_is_reported() -> None:
    """S4-01."""
    manifest = every_member()
    known = {(item.code, item.message) for item in skillgen.lint(skillgen.read(manifest)).problems}
    missed = []
    for path, wrong in faults(SCHEMA, manifest):
        other = copy.deepcopy(manifest)
        owner: Any = other
        for step in path[:-1]:
            owner = owner[step]
        if wrong is None:
            del owner[path[-1]]
        else:
            owner[path[-1]] = wrong
        found = {(item.code, item.message) for item in skillgen.lint(skillgen.read(other)).problems}
        missed += [] if found - known else [(path, wrong)]
    assert missed == []
