"""Facts on safety in the documents: the most cautious one counts, and every disagreement is a warning."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from captured import service_of_answers
from cli import generated, run_skillgen
from descriptions import description, operation, write
from listed import answers, documented, inspected, tool

import skillgen

Json = Any

READS: Json = {"readOnlyHint": True}


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


def of_paths(folder: Path, paths: Json) -> str:
    generated("from-openapi", write(folder / "api.json", description(paths)), "-o", folder / "out")
    return skill_in(folder / "out")


def skill_in(out: Path) -> str:
    (path,) = out.glob("skills/*/SKILL.md")
    return path.read_text("utf-8")


def access_level(folder: Path) -> str:
    lines = (folder / "out" / "ai-help.md").read_text("utf-8").splitlines()
    return next(line for line in lines if line.startswith("access-level: ")).removeprefix("access-level: ")


def warned(stderr: str) -> bool:
    return "warning: safety-facts-disagree" in stderr


@pytest.mark.parametrize(
    ("members", "mark", "level"),
    [
        ({"risk_level": "destructive", "annotations": READS}, "destructive", "full"),
        ({"_meta": {"riskLevel": "reversible"}, "annotations": READS}, "write", "interact"),
        ({"annotations": {**READS, "destructiveHint": True}}, "destructive", "full"),
        ({"dashdash": {"operationType": "read"}, "annotations": {"destructiveHint": True}}, "destructive", "full"),
        ({"dashdash": {"operationType": "delete"}, "annotations": READS}, "destructive", "full"),
        ({"dashdash": {"operationType": "admin"}, "annotations": READS}, "write", "interact"),
        ({"dashdash": {"operationType": "read", "sideEffects": ["sends email"]}}, "write", "interact"),
        ({"dashdash": {"operationType": "read", "reverseMethod": "use"}}, "write", "interact"),
        ({"dashdash": {"operationType": "read", "reversible": False}}, "write", "interact"),
        ({"dashdash": {"operationType": "delete"}, "annotations": {"destructiveHint": False}}, "destructive", "full"),
        ({"annotations": {**READS, "dashdash": {"operationType": "write"}}}, "write", "interact"),
        ({"dashdash": {"operationType": "read"}, "_meta": {"dashdash": {"operationType": "delete"}}}, "destructive",
         "full"),
        ({"description": "Permanently deletes the log.", "annotations": READS}, "destructive", "full"),
        ({"description": "Sends the log by email.", "annotations": READS}, "sends", "interact"),
    ],
)  # fmt: skip
def test_the_most_cautious_fact_counts_in_mark_and_access_level(
    tmp_path: Path, members: Json, mark: str, level: str
) -> None:
    """S4-11, S0-19."""
    skill, stderr = of_server(tmp_path, tool("use", **members))
    assert f"`use(id?)` [{mark}]" in skill
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
    assert f"`use(id?)` [{mark}]" in skill
    assert not warned(stderr)


def test_a_tool_that_only_says_that_it_changes_data_may_delete(tmp_path: Path) -> None:
    """X-08: the default of destructiveHint is true."""
    skill, stderr = of_server(tmp_path, tool("use", annotations={"readOnlyHint": False}))
    assert "`use(id?)` [destructive]" in skill
    assert "- Ask the user before you call a tool that has the mark [destructive]: `use`.\n" in skill
    assert not warned(stderr)
    text = (tmp_path / "out" / "llms-full.txt").read_text("utf-8")
    assert "[destructive] Declared: changes data.\n" in text
    assert access_level(tmp_path) == "full"


@pytest.mark.parametrize("value", ["true", "True", " YES ", "yes", "1", 1, 1.0, "on", "always", {"message": "Sure?"}])
def test_a_confirmation_that_is_not_a_boolean_is_asked_for(tmp_path: Path, value: Json) -> None:
    """S4-10."""
    skill, stderr = of_server(tmp_path, tool("find", requires_confirmation=value, annotations=READS))
    assert "`find(id?)` [ask first, read]" in skill
    assert "read as true, to be careful" in stderr


@pytest.mark.parametrize("value", ["false", "No", 0, "", [], None, False])
def test_a_confirmation_that_is_not_wanted_is_not_asked_for(tmp_path: Path, value: Json) -> None:
    skill, _ = of_server(tmp_path, tool("find", requires_confirmation=value, annotations=READS))
    assert "`find(id?)` [read]" in skill


@pytest.mark.parametrize(
    ("members", "mark"),
    [
        ({"annotations": {"readOnlyHint": "true"}}, ""),
        ({"annotations": {"readOnlyHint": 1}}, ""),
        ({"annotations": {"readOnlyHint": "false"}}, " [destructive]"),
        ({"annotations": {"readOnlyHint": "mostly"}}, " [destructive]"),
        ({"annotations": {"readOnlyHint": True, "destructiveHint": "true"}}, " [destructive]"),
        ({"annotations": {"readOnlyHint": False, "destructiveHint": "no"}}, " [destructive]"),
        ({"annotations": ["readOnlyHint"]}, ""),
        ({"annotations": "readOnlyHint"}, ""),
        ({"risk_level": "Destructive"}, " [destructive]"),
        ({"risk_level": "high", "annotations": READS}, " [destructive]"),
        ({"risk_level": 3}, " [destructive]"),
        ({"risk_level": "SAFE"}, ""),
        ({"dashdash": {"operationType": "READ"}}, ""),
        ({"dashdash": {"operationType": "DELETE"}}, " [destructive]"),
        ({"dashdash": {"operationType": "execute"}, "annotations": READS}, " [destructive]"),
        ({"dashdash": {"operationType": ["read"]}}, " [destructive]"),
        ({"dashdash": {"operationType": "read", "reversible": "false"}}, " [write]"),
    ],
)
def test_facts_of_the_wrong_form_are_read_carefully(tmp_path: Path, members: Json, mark: str) -> None:
    """S4-10, S4-11, S0-13: and reported."""
    skill, stderr = of_server(tmp_path, tool("zap", **members))
    assert f"- `zap(id?)`{mark}\n" in skill
    assert "warning: member-invalid" in stderr


def test_a_manifest_may_say_more_than_the_server(tmp_path: Path) -> None:
    """S4-11, S4-02: the most cautious of both counts."""
    entry = {"name": "wipe", "annotations": {"destructiveHint": True}, "requires_confirmation": True}
    server = {"manifest": {"manifest_version": "0.1.0", "server": {"name": "a"}, "tools": [entry]}}
    skill, stderr = of_server(tmp_path, tool("wipe", annotations=READS, requires_confirmation=False), server=server)
    assert "`wipe(id?)` [ask first, destructive]" in skill
    assert warned(stderr)


@pytest.mark.parametrize(
    ("method", "members", "mark", "disagrees"),
    [
        ("get", {"x-mcp": {"readOnlyHint": False}}, "destructive", True),
        ("get", {"x-mcp": {"annotations": {"destructiveHint": True}}}, "destructive", True),
        ("get", {"x-mcp": {"destructiveHint": "true"}}, "destructive", True),
        ("post", {"x-mcp": {"readOnlyHint": True}}, "read", False),
        ("post", {"x-mcp": {"readOnlyHint": True}, "x-speakeasy-mcp": {"readOnlyHint": False}}, "destructive", True),
        ("put", {"x-mcp": {"readOnlyHint": True}}, "write", True),
        ("delete", {"x-mcp": {"readOnlyHint": True}}, "destructive", True),
        ("delete", {"x-speakeasy-mcp": {"destructiveHint": False}}, "destructive", True),
        ("post", {"operationId": "wipe_all", "x-mcp": {"readOnlyHint": True}}, "destructive", True),
        ("get", {"operationId": "deleteAll"}, "destructive", False),
        ("post", {"x-openai-isConsequential": "true"}, "ask first, write", False),
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


@pytest.mark.parametrize("level", ["none", "None", " NONE "])
def test_a_service_that_agents_must_not_use_is_not_documented(tmp_path: Path, level: str) -> None:
    """S0-09: exit 3, and nothing is written."""
    finished, out = documented(tmp_path, server={"dashdash": {"accessLevel": level}}, tools=[tool("use")])
    assert finished.exit_code == 3
    assert "agents must not use this service" in finished.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    "server",
    [
        {"_meta": {"org.example/dashdash": {"accessLevel": "none"}}},
        {"dashdash": {"accessLevel": "read"}, "_meta": {"dashdash": {"accessLevel": "none"}}},
        {"dashdash": {"accessLevel": "full"}, "serverInfo": {"name": "a", "dashdash": {"accessLevel": "none"}}},
    ],
)
def test_access_is_forbidden_by_any_place_of_the_metadata(tmp_path: Path, server: Json) -> None:
    """S0-02, S0-09: the first place counts, but for facts on safety."""
    finished, out = documented(tmp_path, server=server, tools=[tool("use")])
    assert finished.exit_code == 3
    assert "agents must not use this service" in finished.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    "answer",
    [
        {"content": "\n\n---\nname: a\naccess_level: none\n---\n\n# A\n", "contentType": "text/markdown"},
        {"content": "---\r\nacl: 'None' # agents\r\n---\r\n", "contentType": "text/markdown"},
        {"metadata": {"access-level": "none"}, "contentType": "application/json"},
    ],
)
def test_ai_help_may_forbid_the_service(tmp_path: Path, answer: Json) -> None:
    """S0-09, S0-18: however its keys are spelled, and with empty lines before its front matter."""
    finished, out = documented(
        tmp_path, server={"dashdash": {"accessLevel": "read"}}, tools=[tool("use")], ai_help=answer
    )
    assert finished.exit_code == 3
    assert "agents must not use this service" in finished.stderr
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
    finished = run_skillgen("from-openapi", source, "--extra", extra, "-o", tmp_path / "out")
    assert finished.exit_code == 3
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "text",
    [
        "Closes the task. This cannot be undone.",
        "Closes the task. This can't\nbe undone.",
        "Closes the task irreversibly.",
        "Closes the task. This can never be rolled back.",
        "Closes the task. You cannot undo this.",
        "Closes the task. It is not possible to undo it.",
        "Permanently removes the task.",
        "Deletes the task and its notes permanently.",
    ],
)
def test_what_cannot_be_undone_is_in_skill_md(tmp_path: Path, text: str) -> None:
    """S2-19."""
    for kind in ("mcp", "openapi"):
        folder = tmp_path / kind
        folder.mkdir()
        if kind == "mcp":
            skill, _ = of_server(folder, tool("close", description=text))
        else:
            skill, _ = of_description(folder, post={**operation("close"), "description": text})
        assert "- Cannot be undone: `close`.\n" in skill


def test_declared_side_effects_are_what_the_user_confirms(tmp_path: Path) -> None:
    """S2-19, S4-11."""
    effects = {"sideEffects": ["Deletes all tasks"], "operationType": "delete", "reversible": False}
    skill, _ = of_server(tmp_path, tool("close_project", dashdash=effects))
    assert "- Cannot be undone: `close_project`.\n- Side effects of `close_project`: Deletes all tasks.\n" in skill
    skill, _ = of_server(tmp_path, *(tool(f"close_{n}", dashdash=effects) for n in range(13)))
    assert "- Cannot be undone: 13 tools, as their sections say.\n- 13 tools have side effects, " in skill


@pytest.mark.parametrize(
    "text",
    [
        "It can be undone.",
        "It is not impossible to undo it.",
        "Does not permanently delete it.",
        "This is not irreversible.",
    ],
)
def test_what_can_be_undone_is_not_warned_of(tmp_path: Path, text: str) -> None:
    service = inspected(tmp_path, tools=[tool("close", description=text)])
    assert "reversible" not in service["tools"][0].get("semantics", {})


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
    assert "`ping(id?)` [write]" in skill_in(out)
    assert warned(finished.stderr)


@pytest.mark.parametrize(
    ("support", "words"),
    [
        ("required", "Call it as a task (`task` in `tools/call`): an ordinary call fails."),
        ("optional", "It can also be called as a task (`task` in `tools/call`)."),
        ("forbidden", None),
        ("Required", None),
        (["required"], None),
    ],
)
def test_whether_a_call_must_be_a_task_is_documented(tmp_path: Path, support: Json, words: str | None) -> None:
    """X-08: `execution.taskSupport`."""
    skill, stderr = of_server(tmp_path, tool("train", annotations=READS, execution={"taskSupport": support}))
    text = (tmp_path / "out" / "llms-full.txt").read_text("utf-8")
    assert ("as a task" in text) == (words is not None)
    assert words is None or words in text
    assert ("`train` must be called as a task" in skill) == (support == "required")
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


def test_errors_that_are_only_messages_are_documented(tmp_path: Path) -> None:
    entry = tool("send", dashdash={"errors": ["The mailbox is full."]}, errors=["The server is busy."])
    _, stderr = of_server(tmp_path, entry)
    assert "the error has no code; shown without one" in stderr
    text = (tmp_path / "out" / "llms-full.txt").read_text("utf-8")
    assert "The mailbox is full." in text
    assert "The server is busy." in text


@pytest.mark.parametrize(
    ("method", "path", "name", "summary", "mark"),
    [
        ("get", "/apps.uninstall", "apps_uninstall", "Uninstalls an app", "destructive"),
        ("get", "/auth.revoke", "auth_revoke", "", "destructive"),
        ("get", "/deleteAll", "deleteAll", "Deletes all", "destructive"),
        ("get", "/views.publish", "views_publish", "Publish a view", "sends"),
        ("post", "/sendtoken", "sendToken", "Builds a transaction", "sends"),
        ("post", "/mooringstations", "postMooringStations", "Create a station", "write"),
        ("post", "/chargestations", "postChargeStations", "Create a station", "write"),
        ("post", "/payouts/{id}/plan", "planPayout", "Schedule a payout", "sends"),
        ("post", "/page", "page", "Fetches and formats a page", "read"),
        ("get", "/sync", "start_sync", "Starts a sync", "write"),
        ("get", "/log", "log", "Reads the log, then deletes it", "destructive"),
        ("post", "/templates/delete.json", "post_templates_delete_json", "", "destructive"),
        ("post", "/rides/{id}/cancel", "PostRidesRideCancel", "", "destructive"),
        ("post", "/rides/{id}", "stop_ride", "Overwrites the route", "destructive"),
        ("post", "/rides/{id}", "stop_ride", "Stops it without overwriting it", "write"),
        ("post", "/v1/payouts", "PostPayouts", "", "sends"),
        ("post", "/rides", "createComment", "Create a comment", "sends"),
        ("put", "/users/{id}/mail", "put_users_id_send_mail", "Send an email", "sends"),
        ("post", "/search", "search_tasks", "Searches tasks", "read"),
        ("post", "/tasks/list", "tasks_list", "Lists tasks", "read"),
        ("post", "/tasks/check", "checkTask", "Validates a task", "read"),
        ("post", "/check", "check", "Checks a domain. If it is unknown it will be added.", "write"),
        ("post", "/find", "find_or_create", "Find a task or create it", "write"),
        ("post", "/token", "getToken", "Get a token", "write"),
        ("post", "/guests/{id}/check_in", "check_in", "Check in a guest", "write"),
        ("post", "/tasks", "tasks", "Returns the task", "write"),
        ("get", "/orders/{id}", "order_status", "Order status", "read"),
        ("get", "/pulls/{id}/merge", "pulls/check-if-merged", "Check if it is merged", "read"),
        ("get", "/archive", "get_archive", "Get an archive", "read"),
        ("get", "/report", "generateReport", "Generates a report", "read"),
        ("delete", "/tasks/{id}", "get_rid", "Gets rid of a task", "destructive"),
        ("post", "/orders", "ListOrders", "Lists orders", "read"),
        ("post", "/policy", "setPolicy", "Sets the policy. Replaces any existing policy.", "destructive"),
        ("post", "/pins", "verifyRequest", "Use it to generate and send a PIN to the user.", "sends"),
        ("post", "/payments/{id}/reversals", "PostPaymentsIdReversals", "", "sends"),
        ("post", "/GetItem", "GetItem", "The GetItem operation returns an item.", "read"),
        ("post", "/cleanup", "cleanup_sessions", "", "destructive"),
        ("post", "/records/{id}/redact", "PostRecordsIdRedact", "", "destructive"),
        ("post", "/v1/topups", "PostTopups", "", "sends"),
        ("post", "/v1/payment_intents", "PostPaymentIntents", "", "sends"),
        ("post", "/v1/setup_intents", "PostSetupIntents", "", "write"),
        ("get", "/ropes", "ropes/list", "Closing down - List ropes", "read"),
        ("get", "/ropes", "ropes/close", "Closing the ropes", "write"),
        ("get", "/views.open", "views_open", "Open a view for a guest", "write"),
        ("get", "/berths.request", "berths_request", "Allows a guest to request berths", "write"),
        ("get", "/berth-request", "berth_request", "The request for a berth", "read"),
        ("post", "/reviews/new", "create_review", "Does it", "sends"),
        ("post", "/berths/{id}/pulls/new", "create_pull_request", "Does it", "sends"),
        ("post", "/stacks/{id}/add", "stacks/add", "Add pull requests to a stack", "write"),
        ("post", "/why", "why", "Explains a plan", "read"),
        ("post", "/list-ropes", "ListRopes", "Returns the ropes", "read"),
        ("post", "/gaps", "gaps", "Reports which ropes are missing", "write"),
        ("get", "/gaps", "gaps", "Report the gaps", "read"),
        ("get", "/berths/verify", "verifyBerth", "Verify a berth", "write"),
        ("post", "/berths/{id}/cancel", "berth_state", "Berth cancellation", "destructive"),
        ("post", "/berths/{id}/free", "unSuspendBerth", "Berth state", "write"),
        ("post", "/berths/{id}/code", "berth_code", "Regenerates the code of a berth", "destructive"),
        ("post", "/berths/{id}/reboot", "reboot", "Reboots it. There can be potential data loss.", "destructive"),
        ("post", "/guests/{id}/push", "push", "Push a message to a guest", "sends"),
        ("post", "/sql", "sql", "Executes an SQL statement", "destructive"),
        ("post", "/run", "run_shell_command", "", "destructive"),
        ("post", "/sql", "sql", "Runs a read-only SQL query", "write"),
        ("post", "/gaps", "gaps", "Reports a gap", "write"),
    ],
)
def test_the_worst_of_method_name_and_summary_is_the_mark(
    tmp_path: Path, method: str, path: str, name: str, summary: str, mark: str
) -> None:
    """S2-18."""
    source = write(tmp_path / "api.json", description({path: {method: operation(name, summary=summary)}}))
    generated("from-openapi", source, "-o", tmp_path / "out", "--emit", "skill")
    assert f"`{method.upper()} {path}` [{mark}]" in skill_in(tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("Closes it.\n\nThe status changes. Closing a rope is irreversible.", "destructive"),
        ("Closes it. Later, this can't be reversed.", "destructive"),
        ("Closes it. This is not irreversible.", "write"),
        ("Closes it. This can be undone within a day.", "write"),
        ("Closes it. This endpoint triggers [notifications](https://example.com/n).", "sends"),
        ("Closes it. It also sends a short email to the owner.", "sends"),
        ("Closes it. The owner will be billed for it.", "sends"),
        ("Closes it. The owner will not be charged.", "write"),
        ("Closes it. This never sends an email to the owner.", "write"),
        ("Stores the events that trigger notifications.", "write"),
        ("Stores it. This call will overwrite a rope if it exists.", "destructive"),
        ("Stores it. If a rope has the name, the existing rope is replaced.", "destructive"),
        ("Stores it. You cannot overwrite an existing rope.", "write"),
        ("Stores it. This is a nonrecoverable operation; closing is irreversible.", "destructive"),
        ("Registers it. A verification email will be sent to the owner.", "sends"),
        ("Books it. The harbour charges the card on file.", "sends"),
        ("<note> <p>Version 1 is old. Use 2.</p> </note> <p>Deletes it.</p>", "destructive"),
        ("Creates a rope, which is long, and sends a letter.", "sends"),
        ("Sends a request to add a rope.", "write"),
        ("Sends a request to the owner.", "sends"),
        ("Updates it (used to redact its text and to cancel it).", "destructive"),
        ("Updates access to ropes. Limited to revoking a token.", "destructive"),
        ("Moves a guest. The guest will no longer be a member of the crew.", "destructive"),
        ("Changes it. This version will no longer be available.", "write"),
        ("Stops it. This will also remove its ropes.", "destructive"),
        ("Generates a link. Any previously generated link is revoked.", "destructive"),
        ("Sets the role. The invited guest will receive an email.", "sends"),
        ("Verifies it. Following a registration, the guest will receive an email.", "write"),
        ("Reverses it by debiting the destination bank account.", "sends"),
    ],
)
def test_strong_words_count_anywhere_in_a_description(tmp_path: Path, text: str, mark: str) -> None:
    skill, _ = of_description(tmp_path, post={"operationId": "close", "description": text, "responses": {}})
    assert f"`POST /a` [{mark}]" in skill


@pytest.mark.parametrize(
    ("properties", "required", "mark"),
    [
        ({"status": {"enum": ["completed"]}}, [], "destructive"),
        ({"status": {"$ref": "#/components/schemas/Status"}}, [], "destructive"),
        ({"action": {"const": "REVOKE"}}, [], "destructive"),
        ({"status": {"enum": ["completed", "active"]}}, [], "write"),
        ({"status": {"enum": ["active"]}}, [], "write"),
        ({"to": {"type": "string", "description": "The phone number that is called"}}, ["to"], "sends"),
        ({"to": {"type": "string", "description": "The last day"}}, ["to"], "write"),
    ],
)
def test_a_body_shows_what_a_call_ends_or_whom_it_reaches(
    tmp_path: Path, properties: Json, required: list[str], mark: str
) -> None:
    schema = {"type": "object", "properties": properties, "required": required}
    body = {"content": {"application/json": {"schema": schema}}}
    data = description({"/ropes": {"post": operation("createRope", summary="Creates a rope", requestBody=body)}})
    data["components"] = {"schemas": {"Status": {"type": "string", "enum": ["ended"]}}}
    generated("from-openapi", write(tmp_path / "api.json", data), "-o", tmp_path / "out")
    assert f"`POST /ropes` [{mark}]" in skill_in(tmp_path / "out")


def test_a_preflight_request_only_reads(tmp_path: Path) -> None:
    stub = {"operationId": "stub", "summary": "CORS support", "description": "Enable CORS by headers", "responses": {}}
    skill, _ = of_description(tmp_path, options=stub, get=operation("list"))
    assert "Ask the user" not in skill
    assert access_level(tmp_path) == "read"


def test_the_section_of_a_deprecated_operation_has_the_mark(tmp_path: Path) -> None:
    skill, _ = of_description(tmp_path, get={**operation("list"), "deprecated": True})
    assert "`GET /a` [read, deprecated]" in skill


@pytest.mark.parametrize(
    ("name", "text", "annotations", "mark", "is_warned"),
    [
        ("create_or_replace", "Stores it.", {}, "write", False),
        ("mail_server_delete_user", "", {}, "destructive", False),
        ("merge_pull_request", "Merge a pull request", {}, "sends", False),
        ("merge_cells", "Merge a range into one cell", {}, "destructive", False),
        ("slack_get_thread_replies", "Get all replies", {}, "read", False),
        ("list_tasks", "Lists tasks.", {"destructiveHint": True}, "destructive", True),
        ("delete_task", "Deletes it.", {"readOnlyHint": True}, "destructive", True),
        ("delete_task", "Deletes it.", {"readOnlyHint": False, "destructiveHint": False}, "destructive", True),
        ("send_mail", "Sends mail.", {"readOnlyHint": False, "destructiveHint": False}, "sends", False),
        ("convert_time", "Converts a time.", READS, "read", False),
        ("take_screenshot", "Captures the screen.", READS, "read", False),
        ("verify_berth", "Verify if a berth exists", READS, "read", False),
        ("start_search", "Start a search for berths", READS, "read", False),
        ("search", "Performs a search", {}, "read", False),
        ("download_map", "Download a map. It will be saved in the folder.", {}, "write", False),
        ("run_code", "Runs JavaScript", {}, "destructive", False),
        ("type_keys", "Send keystrokes to a tmux pane", {}, "destructive", False),
        ("script", "Runs any AppleScript", {}, "destructive", False),
        ("query", "Execute an SQL query", {}, "destructive", False),
        ("query", "Execute an SQL query", READS, "read", False),
        ("update_merge_request", "Update a merge request", {}, "write", False),
    ],
)
def test_a_declared_hint_counts_where_it_is_more_cautious(
    tmp_path: Path, name: str, text: str, annotations: Json, mark: str, is_warned: bool
) -> None:
    """X-08: a contradiction is a warning."""
    skill, stderr = of_server(tmp_path, tool(name, description=text, annotations=annotations))
    assert f"`{name}(id?)` [{mark}]" in skill
    assert warned(stderr) == is_warned
    if annotations.get("readOnlyHint") and is_warned:
        text = (tmp_path / "out" / "llms-full.txt").read_text("utf-8")
        assert f"[{mark}] Marked by its name, against what is declared.\n" in text


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("Shell command to run", "destructive"),
        ("SQL query to execute, such as SELECT 1", "destructive"),
        ("Read-only SQL query to execute", "write"),
        ("Code to search for", "write"),
    ],
)
def test_an_argument_shows_that_a_tool_runs_code(tmp_path: Path, text: str, mark: str) -> None:
    arguments = {"type": "object", "properties": {"id": {"type": "string", "description": text}}}
    skill, _ = of_server(tmp_path, tool("start_it", description="Starts it.", inputSchema=arguments))
    assert f"`start_it(id?)` [{mark}]" in skill


def test_the_effects_of_a_snapshot_are_judged_again() -> None:
    """Those of an older version may be understated."""
    snapshot = skillgen.snapshot(service_of_answers(answers(None, {"tools": [tool("download_map")]})))
    (entry,) = snapshot["services"][0]["tools"]
    assert skillgen.read(snapshot).tools[0].semantics.effect == "read"
    entry["description"] = entry["summary"] = "Download a map. It will be saved in the folder."
    assert skillgen.read(snapshot).tools[0].semantics.effect == "write"


def test_a_line_for_problems_names_the_tools(tmp_path: Path) -> None:
    tools = [tool(name, description="Deletes it.", annotations=READS) for name in ("delete_plan", "delete_berth")]
    finished, _ = documented(tmp_path, tools=tools)
    assert "safety-facts-disagree: delete_plan, delete_berth: facts on safety contradict" in finished.stderr
    finished, _ = documented(tmp_path, tools=tools[:1])
    assert "safety-facts-disagree: 'delete_plan' is marked read-only, but" in finished.stderr


def test_declared_effects_are_not_reported_as_inferred(tmp_path: Path) -> None:
    tools = [tool("list_plans", annotations=READS), tool("move", annotations={"readOnlyHint": False})]
    finished, _ = documented(tmp_path, tools=tools)
    assert "effects of" not in finished.stderr
    finished, _ = documented(tmp_path, tools=[*tools, tool("create_plan")])
    assert "effects of 1 tool;" in finished.stderr


def test_the_author_corrects_effects_in_the_project_file(tmp_path: Path) -> None:
    operations = {
        "/a": {"get": operation("get_a"), "post": operation("get_b", summary="Deletes it."), "put": operation("c")},
        "/b": {"get": operation("get_all", **{"x-mcp": {"destructiveHint": True}}), "delete": operation("delete_b")},
    }
    write(tmp_path / "api.json", description(operations))
    (tmp_path / "skillgen.yaml").write_text(
        """\
targets:
  a:
    source: {openapi: api.json}
    tools:
      get_b: {effect: sends}
      get_*: {effect: read}
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
    }
    assert "effects of 1 tool; declare them in skillgen.yaml" in finished.stderr
    assert "warning: pattern-unmatched: tools none: " in finished.stderr
    lowered = [line for line in finished.stderr.splitlines() if "effect-lowered" in line]
    assert len(lowered) == 1
    assert "'get_all' is declared read instead of destructive" in lowered[0]
    assert not warned(finished.stderr)


def test_an_effect_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "api.json", description())
    (tmp_path / "skillgen.yaml").write_text(
        "targets: {a: {source: {openapi: api.json}, tools: {x: {effect: reads}}}}\n", "utf-8"
    )
    finished = run_skillgen("build", cwd=tmp_path)
    assert finished.exit_code == 2
    assert "skillgen.yaml:1: targets.a.tools.x.effect: no such effect: reads" in finished.stderr
    assert "read,write,sends,destructive" in finished.stderr
