"""Facts on safety in the documents: the most cautious one counts, and every disagreement is a warning."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from captured import service_of_answers
from cli import generated, run_skillgen
from descriptions import description, operation, write
from documents import skill_in
from listed import answers, documented, inspected, tool
from measure_effects import measured, mistake
from rows import inputs

import skillgen

Json = Any

READS: Json = {"readOnlyHint": True}


def rows_of(kind: str) -> list[tuple[str, str | None]]:
    """Returns names, summaries or declared side effects, each with the mark of its tool."""
    found: dict[str | None, list[str]] = inputs("safety")[kind]
    return [(text, mark) for mark, texts in found.items() for text in texts]


def of_server(folder: Path, *tools: Json, server: Json = None) -> tuple[str, str]:
    """Returns SKILL.md and the messages of a run."""
    folder.mkdir(exist_ok=True)
    finished, out = documented(folder, "-v", server=server, tools=list(tools))
    assert finished.exit_code == 0, finished.stderr
    return skill_in(out), finished.stderr


def of_description(folder: Path, **operations: Json) -> tuple[str, str]:
    folder.mkdir(exist_ok=True)
    source = write(folder / "api.json", description({"/a": operations}))
    finished = generated("from-openapi", source, "-v", "-o", folder / "out")
    return skill_in(folder / "out"), finished.stderr


def access_level(folder: Path) -> str:
    lines = (folder / "out" / "ai-help.md").read_text("utf-8").splitlines()
    return next(line for line in lines if line.startswith("access-level: ")).removeprefix("access-level: ")


def warned(stderr: str) -> bool:
    return "warning: safety-facts-disagree" in stderr


@pytest.mark.parametrize(("members", "mark", "level"), inputs("safety")["cautious"])
def test_the_most_cautious_fact_counts_in_mark_and_access_level(
    tmp_path: Path, members: Json, mark: str, level: str
) -> None:
    """S4-11, S0-19."""
    skill, stderr = of_server(tmp_path, tool("use", **members))
    assert f"`use(id)` [{mark}]" in skill
    assert warned(stderr)
    assert access_level(tmp_path) == level
    assert mark == "write" or f"has the mark [{mark}]: `use`.\n" in skill
    texts = [path.read_text("utf-8") for path in (tmp_path / "out").rglob("*") if path.suffix in (".md", ".txt")]
    assert not any("[read]" in text or "only reads" in text for text in texts)


@pytest.mark.parametrize(
    ("members", "mark"),
    [
        ({"annotations": READS}, "read"),
        ({"annotations": {**READS, "destructiveHint": False, "openWorldHint": True}}, "read"),
        ({"dashdash": {"operationType": "read", "sideEffects": ["none"]}, "annotations": READS}, "read"),
        ({"risk_level": "safe", "annotations": READS}, "read"),
        ({"description": "Lists permanently deleted files.", "annotations": READS}, "read"),
        ({"dashdash": {"operationType": "write"}, "annotations": {"readOnlyHint": False}}, "write"),
        ({"annotations": {"readOnlyHint": False, "destructiveHint": False}}, "write"),
    ],
)
def test_facts_that_agree_are_not_reported(tmp_path: Path, members: Json, mark: str) -> None:
    skill, stderr = of_server(tmp_path, tool("use", **members))
    assert f"`use(id)` [{mark}]" in skill
    assert not warned(stderr)


@pytest.mark.parametrize("value", ["true", "True", " YES ", "yes", "1", 1, 1.0, "on", "always", {"message": "Sure?"}])
def test_a_confirmation_that_is_not_a_boolean_is_asked_for(tmp_path: Path, value: Json) -> None:
    """S4-10."""
    skill, stderr = of_server(tmp_path, tool("find", requires_confirmation=value, annotations=READS))
    assert "`find(id)` [ask first, read]" in skill
    assert "read as true, to be careful" in stderr


@pytest.mark.parametrize("value", ["false", "No", 0, "", [], None, False])
def test_a_confirmation_that_is_not_wanted_is_not_asked_for(tmp_path: Path, value: Json) -> None:
    skill, _ = of_server(tmp_path, tool("find", requires_confirmation=value, annotations=READS))
    assert "`find(id)` [read]" in skill


@pytest.mark.parametrize(("members", "mark"), inputs("safety")["wrong_forms"])
def test_facts_of_the_wrong_form_are_read_carefully(tmp_path: Path, members: Json, mark: str) -> None:
    """S4-10, S4-11, S0-13: and reported."""
    skill, stderr = of_server(tmp_path, tool("zap", **members))
    assert f"- `zap(id)`{mark}\n" in skill
    assert "warning: member-invalid" in stderr


def test_a_manifest_may_say_more_than_the_server(tmp_path: Path) -> None:
    """S4-11, S4-02: the most cautious of both counts."""
    entry = {"name": "wipe", "annotations": {"destructiveHint": True}, "requires_confirmation": True}
    server = {"manifest": {"manifest_version": "0.1.0", "server": {"name": "a"}, "tools": [entry]}}
    skill, stderr = of_server(tmp_path, tool("wipe", annotations=READS, requires_confirmation=False), server=server)
    assert "`wipe(id)` [ask first, destructive]" in skill
    assert warned(stderr)


@pytest.mark.parametrize(
    ("method", "members", "mark", "disagrees"),
    [
        ("get", {"x-mcp": {"readOnlyHint": False}}, "write", True),
        ("get", {"x-mcp": {"annotations": {"destructiveHint": True}}}, "destructive", True),
        ("get", {"x-mcp": {"destructiveHint": "true"}}, "destructive", True),
        ("post", {"x-mcp": {"readOnlyHint": True}}, "read", False),
        ("post", {"x-mcp": {"readOnlyHint": True}, "x-speakeasy-mcp": {"readOnlyHint": False}}, "write", True),
        ("put", {"x-mcp": {"readOnlyHint": True}}, "write", True),
        ("delete", {"x-mcp": {"readOnlyHint": True}}, "destructive", True),
        ("delete", {"x-speakeasy-mcp": {"destructiveHint": False}}, "destructive", True),
        ("post", {"operationId": "wipe_all", "x-mcp": {"readOnlyHint": True}}, "destructive", True),
        ("get", {"operationId": "deleteAll"}, "destructive", False),
        ("post", {"x-openai-isConsequential": "true"}, "ask first, destructive", False),
    ],
)
def test_hints_of_an_operation_never_understate(
    tmp_path: Path, method: str, members: Json, mark: str, disagrees: bool
) -> None:
    """S2-18."""
    skill, stderr = of_description(tmp_path, **{method: {**operation("use"), **members}})
    assert f"[{mark}]" in skill
    assert warned(stderr) == disagrees


@pytest.mark.parametrize(
    ("declared", "members", "level"),
    [
        ("read", {"annotations": {"destructiveHint": True}}, "full"),
        ("interact", {"annotations": {"destructiveHint": True}}, "full"),
        ("read", {"annotations": {"destructiveHint": False}}, "interact"),
        ("full", {"annotations": READS}, "full"),
        ("interact", {"annotations": READS}, "interact"),
        ("browse", {"annotations": {"destructiveHint": False}}, "interact"),
    ],
)
def test_the_access_level_follows_the_marks(tmp_path: Path, declared: str, members: Json, level: str) -> None:
    """S0-09."""
    server = {"dashdash": {"accessLevel": declared}}
    _, stderr = of_server(tmp_path, tool("use", **members), server=server)
    assert access_level(tmp_path) == level
    assert ("accessLevel" in stderr) == (declared in ("browse", "read") or level != declared)


def test_every_document_of_an_api_has_the_level_of_its_marks(tmp_path: Path) -> None:
    """S0-09: a DELETE is marked as destructive."""
    of_description(tmp_path, get=operation("find"), delete=operation("drop"))
    assert access_level(tmp_path) == "full"
    assert "access-level: full" in (tmp_path / "out" / "llms.txt").read_text("utf-8")


MARKDOWN = {"contentType": "text/markdown"}
READ, NONE = ({"dashdash": {"accessLevel": level}} for level in ("read", "none"))


@pytest.mark.parametrize(
    ("server", "more"),
    [
        *(({"dashdash": {"accessLevel": level}}, {}) for level in ("none", "None", " NONE ")),
        ({"_meta": {"org.example/dashdash": {"accessLevel": "none"}}}, {}),
        ({**READ, "_meta": NONE}, {}),
        ({"dashdash": {"accessLevel": "full"}, "serverInfo": {"name": "a", **NONE}}, {}),
        (READ, {"content": "\n\n---\nname: a\naccess_level: none\n---\n\n# A\n", **MARKDOWN}),
        (READ, {"content": "---\r\nacl: 'None' # agents\r\n---\r\n", **MARKDOWN}),
        (READ, {"metadata": {"access-level": "none"}, "contentType": "application/json"}),
    ],
)
def test_a_service_that_agents_must_not_use_is_not_documented(tmp_path: Path, server: Json, more: Json) -> None:
    """S0-02, S0-09, S0-18: exit 3, and nothing is written, whichever place of the metadata or `ai_help` says so."""
    finished, out = documented(tmp_path, server=server, tools=[tool("use")], **({"ai_help": more} if more else {}))
    finished.ended(3, "agents must not use this service")
    assert not out.exists()


def test_the_most_cautious_access_level_of_all_places_counts(tmp_path: Path) -> None:
    """S0-09: a level in upper case is reported, and counts unless it is the least cautious one."""
    server = {"dashdash": {"accessLevel": "read"}, "_meta": {"dashdash": {"accessLevel": "FULL"}}}
    _, stderr = of_server(tmp_path, tool("use", annotations=READS), server=server)
    assert access_level(tmp_path) == "full"
    assert "found 'FULL'; read as full, to be careful" in stderr


def test_an_extra_text_may_forbid_the_service(tmp_path: Path) -> None:
    """S0-09, S0-20."""
    extra = tmp_path / "llms.txt"
    extra.write_text("---\nname: a\naccess-level: none\n---\n\n# A\n", encoding="utf-8")
    source = write(tmp_path / "api.json", description({"/a": {"get": operation("find")}}))
    run_skillgen("from-openapi", source, "--extra", extra, "-o", tmp_path / "out").ended(3)
    assert not (tmp_path / "out").exists()


def test_declared_side_effects_are_what_the_user_confirms(tmp_path: Path) -> None:
    """S2-19, S4-11."""
    effects = {"sideEffects": ["Deletes all tasks"], "operationType": "delete", "reversible": False}
    skill, _ = of_server(tmp_path, tool("close_project", dashdash=effects))
    assert "- Cannot be undone: `close_project`.\n- Side effects: `close_project` (Deletes all tasks).\n" in skill
    skill, _ = of_server(tmp_path, *(tool(f"close_{n}", dashdash=effects) for n in range(13)))
    assert "- Calls of 13 tools cannot be undone: their sections say so.\n- 13 tools have side effects: " in skill


def test_the_model_holds_what_the_documents_say(tmp_path: Path) -> None:
    """S4-11, X-50: an inferred fact has its origin."""
    entry = tool("use", risk_level="destructive", annotations=READS)
    semantics = inspected(tmp_path, tools=[entry])["tools"][0]["semantics"]
    assert (semantics["read_only"], semantics["destructive"]) == (False, True)
    assert semantics["origins"]["read_only"] == {"kind": "inferred", "source": "risk_level"}
    assert semantics["origins"]["operation"] == {"kind": "inferred", "source": "risk_level"}
    assert json.dumps(semantics).count("declared") == 1


def test_side_effects_in_ai_help_count(tmp_path: Path) -> None:
    """S0-18: the tool reference says what the declaration hides."""
    text = "# A\n\n## Tool Reference\n\n### ping\n\nPings.\n\n**Side Effects:** Sends an email.\n"
    extra = tmp_path / "help.md"
    extra.write_text(text, encoding="utf-8")
    tools = [tool("ping", description="Pings.", dashdash={"operationType": "read"})]
    finished, out = documented(tmp_path, "-v", "--extra", extra, tools=tools)
    assert "`ping(id)` [sends]" in skill_in(out)
    assert warned(finished.stderr)


@pytest.mark.parametrize(
    ("support", "words"),
    [
        ("required", "Call it as a task (`task` in `tools/call`): an ordinary call fails."),
        ("optional", "It can also be called as a task (`task` in `tools/call`)."),
        ("forbidden", None),
        ("Required", "Call it as a task (`task` in `tools/call`): an ordinary call fails."),
        (["required"], None),
    ],
)
def test_whether_a_call_must_be_a_task_is_documented(tmp_path: Path, support: Json, words: str | None) -> None:
    """X-08: `execution.taskSupport`."""
    skill, stderr = of_server(tmp_path, tool("train", annotations=READS, execution={"taskSupport": support}))
    text = (tmp_path / "out" / "llms-full.txt").read_text("utf-8")
    assert ("as a task" in text) == (words is not None)
    assert words is None or words in text
    assert ("`train` must be called as a task" in skill) == (support in ("required", "Required"))
    assert ("member-invalid" in stderr) == (support not in ("required", "optional", "forbidden"))


def test_a_tool_is_not_safe_to_repeat_if_any_fact_says_so(tmp_path: Path) -> None:
    """S0-19: the cautious fact counts."""
    entry = tool("send", dashdash={"idempotent": True}, annotations={"idempotentHint": False})
    _, stderr = of_server(tmp_path, entry)
    assert warned(stderr)
    text = (tmp_path / "out" / "llms-full.txt").read_text("utf-8")
    assert "do not repeat" in text
    assert "safe to repeat" not in text


def test_no_document_says_that_an_unknown_tool_undoes_a_call(tmp_path: Path) -> None:
    """S0-13."""
    known = tool("send", dashdash={"operationType": "write", "reverseMethod": "recall"})
    unknown = tool("post", dashdash={"operationType": "write", "reverseMethod": "unpost"})
    _, stderr = of_server(tmp_path, known, unknown, tool("recall"))
    assert "reverse-method-unknown" in stderr
    texts = [path.read_text("utf-8") for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert any("can be undone with" in text for text in texts)
    assert not any("unpost" in text for text in texts)


def test_a_preflight_request_only_reads(tmp_path: Path) -> None:
    stub = {"operationId": "stub", "summary": "CORS support", "description": "Enable CORS by headers", "responses": {}}
    skill, _ = of_description(tmp_path, options=stub, get=operation("list"))
    assert "Ask the user" not in skill
    assert access_level(tmp_path) == "read"


def test_the_author_corrects_effects_in_the_project_file(tmp_path: Path) -> None:
    operations = {
        "/a": {"get": operation("get_a"), "post": operation("get_b", summary="Deletes it."), "put": operation("c")},
        "/b": {"get": operation("get_all", **{"x-mcp": {"destructiveHint": True}}), "delete": operation("delete_b")},
        "/c": {"post": operation("other", **{"x-mcp": {"destructiveHint": True}})},
    }
    write(tmp_path / "api.json", description(operations))
    (tmp_path / "skillgen.yaml").write_text(
        """\
targets:
  a:
    source: {openapi: api.json}
    tools:
      get_b: {effect: sends}
      get_*: {effect: read, overrule: true}
      other: {effect: write}
      "method:PUT": {effect: destructive}
      "path:/a": {effect: write}
      none: {effect: read}
""",
        "utf-8",
    )
    finished = generated("build", "-v", cwd=tmp_path)
    full = (tmp_path / "agent-docs" / "llms-full.txt").read_text("utf-8")
    marks = dict(re.findall(r"^### (\w+)\n(?:.*\n)*?`[A-Z]+ \S+` \[(\w+)\]", full, re.MULTILINE))
    assert marks == {
        "get_a": "write",
        "get_b": "sends",
        "c": "destructive",
        "get_all": "read",
        "delete_b": "destructive",
        "other": "destructive",
    }
    assert "effects of 1 tool; declare them in skillgen.yaml" in finished.stderr
    assert "warning: pattern-unmatched: tools none: " in finished.stderr
    lowered = [line for line in finished.stderr.splitlines() if "effect-lowered" in line]
    assert len(lowered) == 1
    assert "'get_all' is declared read instead of destructive" in lowered[0]
    (kept,) = [line for line in finished.stderr.splitlines() if "safety-facts-disagree" in line]
    assert "'other' is declared write instead of destructive" in kept
    assert "add overrule: true" in finished.stderr


def test_an_effect_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "api.json", description())
    (tmp_path / "skillgen.yaml").write_text(
        "targets: {a: {source: {openapi: api.json}, tools: {x: {effect: reads}}}}\n", "utf-8"
    )
    run_skillgen("build", cwd=tmp_path).ended(
        2, "skillgen.yaml:1: targets.a.tools.x.effect: no such value: reads", "read, write, sends, destructive"
    )


def marks_of(*tools: Json) -> list[str | None]:
    service = service_of_answers(answers(None, {"tools": list(tools)}))
    return [item.semantics.effect for item in service.tools]


def mark_of_operation(method: str, path: str, name: str | None, summary: str = "", **members: Json) -> str | None:
    entry = {"operationId": name, "summary": summary or None, "responses": {}, **members}
    entry = {key: value for key, value in entry.items() if value is not None}
    return skillgen.read(description({path: {method: entry}})).tools[0].semantics.effect


@pytest.mark.parametrize(("name", "annotations", "mark", "is_warned"), inputs("safety")["hints"])
def test_only_the_name_raises_what_hints_declare(
    tmp_path: Path, name: str, annotations: Json, mark: str, is_warned: bool
) -> None:
    """X-08, S4-11: no word of a description overrules a declaration."""
    text = "Takes ropes. It permanently deletes all of them and sends an email."
    skill, stderr = of_server(tmp_path, tool(name, description=text, annotations=annotations))
    assert f"`{name}(id)` [{mark}]" in skill
    assert warned(stderr) == is_warned


def test_the_section_says_what_is_declared_and_what_the_name_says(tmp_path: Path) -> None:
    of_server(tmp_path, tool("delete_rope", annotations=READS), tool("moor", annotations={"readOnlyHint": False}))
    text = (tmp_path / "out" / "llms-full.txt").read_text("utf-8")
    assert "[destructive] Declared: only reads. Marked by its name, against what is declared.\n" in text
    assert "[write] Not declared whether it overwrites.\n" in text
    assert access_level(tmp_path) == "full"


@pytest.mark.parametrize(("text", "mark"), rows_of("side_effects"))
def test_a_side_effect_is_read_as_a_sentence(text: str, mark: str) -> None:
    """S4-11."""
    for kind in ("write", "read"):
        assert marks_of(tool("moor", dashdash={"operationType": kind, "sideEffects": [text]})) == [mark]


def test_a_call_that_needs_approval_is_asked_for(tmp_path: Path) -> None:
    """S4-20."""
    cost = {"category": "requires_approval", "estimated_units": 3}
    skill, stderr = of_server(tmp_path, tool("find_ropes", annotations=READS, cost=cost))
    assert "`find_ropes(id)` [ask first, sends]" in skill
    assert access_level(tmp_path) == "interact"
    assert not warned(stderr)


@pytest.mark.parametrize(("method", "path", "name", "mark"), inputs("safety")["methods"])
def test_the_method_decides_before_the_name(method: str, path: str, name: str | None, mark: str | None) -> None:
    """S2-18."""
    assert mark_of_operation(method, path, name) == mark


@pytest.mark.parametrize(
    ("method", "place", "name", "schema", "mark"),
    [
        ("post", "header", "X-HTTP-Method-Override", {"enum": ["DELETE"]}, "destructive"),
        ("get", "query", "_method", {"type": "string", "enum": ["get", "delete"]}, "destructive"),
        ("get", "header", "x-http-method", {"const": "PUT"}, "write"),
        ("get", "query", "_method", {"type": "string", "default": "DELETE"}, "destructive"),
        ("get", "query", "method", {"enum": ["delete", "get"]}, "read"),
        ("post", "header", "X-HTTP-Method-Override ", {"$ref": "#/components/schemas/Other"}, "destructive"),
    ],
)
def test_a_parameter_may_put_another_method_in_place(
    method: str, place: str, name: str, schema: Json, mark: str
) -> None:
    entry = operation("ropes", parameters=[{"name": name, "in": place, "required": True, "schema": schema}])
    types = {"Other": {"$ref": "#/components/schemas/Last"}, "Last": {"anyOf": [{"enum": ["DELETE"]}]}}
    source = description({"/ropes": {method: entry}}) | {"components": {"schemas": types}}
    assert skillgen.read(source).tools[0].semantics.effect == mark


@pytest.mark.parametrize(("text", "mark"), rows_of("verbs"))
def test_the_first_or_last_word_of_a_name_is_its_verb(text: str, mark: str | None) -> None:
    assert marks_of(tool(text, description="Ropes.")) == [mark]


CHOICES = {"type": "string", "enum": ["list", "update", "delete"]}


@pytest.mark.parametrize(("name", "argument", "schema", "mark"), inputs("safety")["arguments"])
def test_an_argument_may_choose_what_a_call_does(name: str, argument: str, schema: Json, mark: str | None) -> None:
    """A value that deletes or sends, a flag that deletes too, a file that is written, code that runs. Code that is only
    sent may do anything.
    """
    schema = {"type": "object", "properties": {argument: schema}, "required": [argument]}
    assert marks_of(tool(name, description="Ropes.", inputSchema=schema)) == [mark]


@pytest.mark.parametrize(
    ("listed", "hints", "mark"),
    [
        (["find_rope", "wipe_rope"], {}, "destructive"),
        (["find_rope", "wipe_rope"], {"destructiveHint": False}, "destructive"),
        (["find_rope", "wipe_rope"], READS, "read"),
        (["find_rope", "wipe_rope", "other"], {}, "write"),
        (["find_rope"], {}, "write"),
    ],
)
def test_a_tool_that_calls_others_has_their_worst_mark(listed: list[str], hints: Json, mark: str) -> None:
    """Those that an argument of any depth may name; what reads may explain them."""
    call = {"type": "object", "properties": {"tool": {"enum": listed}}}
    schema = {"type": "object", "properties": {"calls": {"type": "array", "items": call}}}
    found = marks_of(tool("queue", inputSchema=schema, annotations=hints), tool("find_rope"), tool("wipe_rope"))
    assert found == [mark, "read", "destructive"]


@pytest.mark.parametrize(("name", "argument", "schema", "mark"), inputs("safety")["declared"])
def test_a_required_action_raises_what_is_declared_to_read(
    tmp_path: Path, name: str, argument: str, schema: Json, mark: str
) -> None:
    """As a name does: by verbs that are never nouns, unless the name says that the tool reads."""
    schema = {"type": "object", "properties": {argument: schema}, "required": [argument]}
    skill, stderr = of_server(tmp_path, tool(name, inputSchema=schema, annotations=READS))
    assert f" [{mark}]" in skill
    assert warned(stderr) == (mark != "read")
    optional = {**schema, "required": []}
    assert marks_of(tool(name, inputSchema=optional, annotations=READS)) == ["read"]


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("Query data with GraphQL", None),
        ("Runs a GraphQL query or mutation.", None),
        ("Queries the data with a read-only SQL statement.", "read"),
        ("Query ropes", "read"),
    ],
)
def test_a_query_in_a_language_that_may_change_data_has_no_mark(text: str, mark: str | None) -> None:
    """The name alone does not say that it only reads."""
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    assert marks_of(tool("query", description=text, inputSchema=schema)) == [mark]
    sent = {"content": {"application/json": {"schema": schema}}}
    assert mark_of_operation("post", "/query", "query", text, requestBody=sent) == mark


def test_an_action_may_be_listed_in_the_text_of_a_tool() -> None:
    schema = {"type": "object", "properties": {"action": {"type": "string"}}, "required": ["action"]}
    text = "Ropes of a harbour.\n\nActions:\n- list: all ropes\n- delete: one rope\n"
    assert marks_of(tool("ropes", description=text, inputSchema=schema)) == ["destructive"]


def test_an_optional_action_of_a_tool_with_a_verb_is_data() -> None:
    schema = {"type": "object", "properties": {"action": CHOICES}}
    assert marks_of(tool("list_changes", inputSchema=schema)) == ["read"]
    for name in ("changes", "manage_changes", "tag"):
        assert marks_of(tool(name, inputSchema=schema)) == ["destructive"]


def test_a_file_that_a_call_may_write_is_a_change() -> None:
    for name in ("output_path", "saveTo", "save_as"):
        schema = {"type": "object", "properties": {name: {"type": "string", "description": "Optional."}}}
        assert marks_of(tool("convert_rope", inputSchema=schema)) == ["write"]


@pytest.mark.parametrize(("name", "schema", "hints", "mark"), inputs("safety")["flags"])
def test_a_flag_that_is_true_by_default_is_what_a_call_does(name: str, schema: Json, hints: Json, mark: str) -> None:
    """Unless the source declares what the call does."""
    schema = {"type": "object", "properties": {"purge": {"type": "boolean", **schema}}}
    assert marks_of(tool(name, description="Ropes.", inputSchema=schema, annotations=hints)) == [mark]


@pytest.mark.parametrize(("method", "place", "name", "schema", "mark"), inputs("safety")["requests"])
def test_a_parameter_of_a_request_may_choose_what_it_does(
    method: str, place: str, name: str, schema: Json, mark: str
) -> None:
    """Those in the body of a PUT are states."""
    sent: Json = {"parameters": [{"name": name, "in": place, "required": True, "schema": schema}]}
    if place == "body":
        body = {"type": "object", "properties": {name: schema}, "required": [name]}
        sent = {"requestBody": {"content": {"application/json": {"schema": body}}}}
    assert mark_of_operation(method, "/ropes", "ropes", "Ropes.", **sent) == mark


@pytest.mark.parametrize(("listed", "marks"), inputs("safety")["tools"])
def test_names_and_summaries_of_all_tools_say_what_each_does(listed: Json, marks: list[str]) -> None:
    """A prefix that most names have is no verb, unless it changes something."""
    assert marks_of(*(tool(name, **said) for name, said in listed)) == marks


@pytest.mark.parametrize(("method", "path", "name", "summary", "text", "mark"), inputs("safety")["operations"])
def test_words_and_path_of_an_operation_say_its_mark(
    method: str, path: str, name: str | None, summary: str | None, text: str | None, mark: str | None
) -> None:
    assert mark_of_operation(method, path, name, summary or "", description=text) == mark


@pytest.mark.parametrize(
    ("statuses", "mark"),
    [(["202"], "write"), (["204", "404"], "write"), (["200", "202"], "read"), (["200"], "read"), ([], "read")],
)
def test_a_post_that_returns_nothing_to_read_changes_something(statuses: list[str], mark: str) -> None:
    """But for a check, which the status answers."""
    responses = {status: {"description": "Done"} for status in statuses}
    assert mark_of_operation("post", "/artifacts/{id}/scan", "scanArtifact", responses=responses) == mark
    assert mark_of_operation("post", "/artifacts/validate", "validateArtifact", responses=responses) == "read"


def test_a_tag_is_no_verb() -> None:
    assert mark_of_operation("post", "/r", "orderUpdateRope", tags=["order"]) == "write"


@pytest.mark.parametrize(("text", "mark"), rows_of("summaries"))
def test_the_first_word_of_a_summary_counts(text: str, mark: str | None) -> None:
    """Where the method says that a call writes, only what deletes or sends; no other text is searched."""
    assert marks_of(tool("ropes", description=text)) == [mark]
    assert mark_of_operation("post", "/r", "ropes", text) == mark
    assert mark_of_operation("put", "/r", "ropes", text) == (mark if mark in ("sends", "destructive") else "write")
    assert mark_of_operation("get", "/r", "ropes", text) == "read"


@pytest.mark.parametrize(("name", "text", "mark"), inputs("safety")["returns"])
def test_a_tool_that_names_what_it_returns_reads(name: str, text: str, mark: str | None) -> None:
    """Without a verb of its own, and unless its text has one that sends or deletes."""
    assert marks_of(tool(name, description=text)) == [mark]


@pytest.mark.parametrize(("path", "name", "summary", "mark"), inputs("safety")["gets"])
def test_a_get_is_raised_by_its_name_and_its_summary(path: str, name: str | None, summary: str, mark: str) -> None:
    """By some verbs of a name alone; a verb that may be a noun is in the name, in the path and in the summary."""
    assert mark_of_operation("get", path, name, summary) == mark


def test_a_get_that_runs_a_command_of_its_caller_is_destructive() -> None:
    command = [{"name": "command", "in": "query", "schema": {"type": "string"}}]
    summary = "connect GET requests to exec of Pod"
    assert mark_of_operation("get", "/pods/{id}/exec", "connectPodExec", summary, parameters=command) == "destructive"
    assert mark_of_operation("get", "/runs/{id}", "getRunScript", "Script", parameters=command) == "read"


@pytest.mark.parametrize(
    ("text", "hints", "mark"),
    [
        ("Removes all ropes.", {}, "destructive"),
        ("Removes all ropes.", {"destructiveHint": False}, "write"),
        ("Reply in a thread.", {"destructiveHint": False}, "sends"),
        ("Lists ropes.", {}, "write"),
    ],
)
def test_what_is_declared_not_to_read_has_no_milder_mark(text: str, hints: Json, mark: str) -> None:
    assert marks_of(tool("rope_thread", description=text, annotations={"readOnlyHint": False, **hints})) == [mark]


@pytest.mark.parametrize("text", inputs("safety")["warnings"])
def test_a_warning_of_the_source_raises_what_writes(text: str) -> None:
    """X-08: but overrules no declaration."""
    assert marks_of(tool("update_rope", description=f"Updates it.\n\n{text}")) == ["destructive"]
    assert marks_of(tool("get_rope", description=f"Gets it.\n\n{text}")) == ["read"]
    hints = {"readOnlyHint": False, "destructiveHint": False}
    assert marks_of(tool("update_rope", description=f"Updates it.\n\n{text}", annotations=hints)) == ["write"]


@pytest.mark.parametrize("text", inputs("safety")["no_warnings"])
def test_a_warning_that_is_denied_or_has_a_condition_says_nothing(text: str) -> None:
    assert marks_of(tool("update_rope", description=f"Updates it. {text}")) == ["write"]


def test_a_warning_that_does_not_say_what_happens_is_no_summary(tmp_path: Path) -> None:
    entries = [tool("moor", description="WARNING: Destructive action. Moors a boat.")]
    entries += [tool("tie", description="⚠️ DESTRUCTIVE: Ties a boat. It is irreversible.")]
    entries += [tool("sink", description="Performs a destructive action. Needs a crew.")]
    skill, _ = of_server(tmp_path, *entries)
    assert "— Moors a boat" in skill
    assert "— Performs a destructive action\n" in skill
    assert "DESTRUCTIVE: Ties a boat" in skill


LIKE_A_MARK = re.compile(r"[\[\uff3b\u3010&][^\w(]*(?:#x5b;)?(?:r[e\u0435]ad|ask first)", re.IGNORECASE)
MARKS = ["[read]", "[READ]", "[**read**]", "[ask first, read]", "[read] and [write]", "[ read ]", "\\[read\\]"]
MARKS += ["[read][]", "[read](https://x.example)", "[read&#93;", "&#x5b;read&rsqb;", "[r\u0435ad]", "\u3010read\u3011"]


@pytest.mark.parametrize("mark", MARKS)
def test_no_text_of_a_source_reads_as_a_mark(tmp_path: Path, mark: str) -> None:
    """It could say of what deletes that it only reads."""
    entry = tool("zorg", description=f"{mark}\n\nZorgs the account {mark}\n\n- {mark} It is so.", title=f"Zorg {mark}")
    info = {"name": "zorgs", "version": f"1.0 {mark}"}
    _, out = documented(tmp_path, server={"serverInfo": info}, tools=[entry])
    texts = [path.read_text("utf-8") for path in out.rglob("*.*") if path.suffix in (".md", ".txt")]
    assert "Zorgs the account" in "".join(texts)
    lines = [line for text in texts for line in text.splitlines() if LIKE_A_MARK.search(line)]
    assert [line for line in lines if not line.startswith(("description: ", "> Zorg", "Marks: "))] == []
    assert marks_of(entry) == [None]


def test_the_effects_of_a_snapshot_are_judged_again() -> None:
    """Those of an older version may be understated."""
    snapshot = skillgen.snapshot(service_of_answers(answers(None, {"tools": [tool("ropes", description="Gets it.")]})))
    (entry,) = snapshot["services"][0]["tools"]
    assert skillgen.read(snapshot).tools[0].semantics.effect == "read"
    entry["description"] = entry["summary"] = "Deletes it."
    assert skillgen.read(snapshot).tools[0].semantics.effect == "destructive"
    schema = {"type": "object", "properties": {"purge": {"type": "boolean", "default": True}}}
    service = service_of_answers(answers(None, {"tools": [tool("find_ropes", inputSchema=schema)]}))
    assert skillgen.read(skillgen.snapshot(service)).tools[0].semantics.effect == "destructive"


@pytest.mark.parametrize(
    "text", ["When you create a card, name a customer.", "Does a transfer.", "How cards are made."]
)
def test_a_question_word_at_the_start_makes_no_post_harmless(text: str) -> None:
    """S2-18: a POST of which nothing is known has no mark."""
    paths = {"/cards": {"post": {**operation("cards"), "summary": text, "description": text}}}
    (found,) = skillgen.read(description(paths)).tools
    assert found.semantics.effect is None


def test_marks_of_labelled_tools_are_seldom_wrong() -> None:
    """The goal on tools of sources that the rules were not made for; see specifications/effects/ORIGIN.md."""
    found = [mistake(each.semantics.effect, record) for record, each in measured() if record["set"] != "tools"]
    counts = Counter(found)
    assert counts.total() - counts[None] <= 0.03 * len(found)
    assert counts["too much"] <= 0.024 * len(found)
    assert counts["too little"] <= 0.006 * len(found)
