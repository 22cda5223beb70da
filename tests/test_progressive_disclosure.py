"""Servers that describe their tools in two stages (seed 003): from the crawl to the documents."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from captured import service_of_answers
from cli import Finished, run_skillgen
from servers.extended import DESCRIPTIONS, names_in

TESTS = Path(__file__).parent


class Kiosk:
    """Runs skillgen on the kiosk, and knows what the kiosk received."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "kiosk.log"
        self.out = folder / "out"

    def run(self, command: str, manner: str, *options: object) -> Finished:
        server = (sys.executable, "-m", "servers.extended", manner)
        return run_skillgen(command, *options, "--env", f"KIOSK_LOG={self.log}", "--", *server, cwd=TESTS)

    def service(self, manner: str, *options: object) -> dict[str, Any]:
        finished = self.run("inspect", manner, *options).ok()
        service: dict[str, Any] = json.loads(finished.stdout)["services"][0]
        return service

    def skill(self, manner: str, *options: object) -> Path:
        self.run("from-server", manner, "--out", self.out, *options).ok()
        return self.out / "skills" / "kiosk"

    def requests(self) -> list[dict[str, Any]]:
        entries = [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]
        return [entry for entry in entries if "method" in entry]

    def reads(self) -> list[str]:
        return [entry["params"]["uri"] for entry in self.requests() if entry["method"] == "resources/read"]


@pytest.fixture
def kiosk(tmp_path: Path) -> Kiosk:
    return Kiosk(tmp_path)


def tools_of(service: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool for tool in service["tools"]}


def codes_of(service: dict[str, Any]) -> list[str]:
    return [problem["code"] for problem in service.get("problems", [])]


def test_the_second_stage_replaces_the_first_which_becomes_the_summary(kiosk: Kiosk) -> None:
    """S3-01, S3-02, S3-05, S3-08: read on the session that listed the tools, and no tool is called."""
    service = kiosk.service("progressive")
    tool = tools_of(service)["buy_paper"]

    assert tool["summary"] == "buy_paper in brief."
    assert tool["description"] == "Buys a newspaper and delivers it. The price is taken from the account."
    assert [item["name"] for item in tool["parameters"]] == ["title", "copies"]
    assert tool["examples"][0]["input"] == {"title": "Daily"}
    assert {item["code"]: item["description"] for item in tool["errors"]}["NO_MONEY"] == "Fill up the account."
    assert tool["guidance"] == [
        {"kind": "usage", "body": "- **When:** Only before noon.\n- **Tip:** Look at list_papers first."}
    ]
    assert tool["semantics"]["destructive"] is False
    methods = [entry["method"] for entry in kiosk.requests()]
    assert methods.count("initialize") == 1
    assert "tools/call" not in methods


def test_reads_are_batched_and_always_name_tools(kiosk: Kiosk) -> None:
    """S3-03, S3-04: names exactly as in tools/list; one with a comma in it is alone."""
    kiosk.service("progressive")
    assert kiosk.reads() == [f"{DESCRIPTIONS}?tools=buy_paper,list_papers", f"{DESCRIPTIONS}?tools=a%2Cb"]


def test_two_hundred_tools_take_a_handful_of_reads(kiosk: Kiosk) -> None:
    """S3-04, S3-15: and the first level stays short, as the extension would have it."""
    skill = kiosk.skill("many")

    assert len(kiosk.reads()) < 6
    assert sum(len(names_in(uri) or []) for uri in kiosk.reads()) == 200
    assert len((skill / "SKILL.md").read_text("utf-8")) < 16_000
    assert "tool_number_199" in "".join(path.read_text("utf-8") for path in (skill / "references").iterdir())


def test_a_batch_that_fails_is_read_tool_by_tool(kiosk: Kiosk) -> None:
    """S3-04."""
    service = kiosk.service("one-by-one")
    assert tools_of(service)["list_papers"]["description"].startswith("Lists the newspapers that are on sale")
    assert "tool-description-failed" not in codes_of(service)


def test_a_tool_without_a_description_is_reported(kiosk: Kiosk) -> None:
    """S3-06, S3-10: an error in place of one tool, and a tool that nobody asked for."""
    service = kiosk.service("lacking")

    assert tools_of(service)["buy_paper"]["parameters"]
    assert tools_of(service)["list_papers"]["description"] == "list_papers in brief."
    assert "secret_tool" not in tools_of(service)
    messages = [problem["message"] for problem in service["problems"]]
    assert any("Tool 'list_papers' not found" in message for message in messages)
    assert any("not requested, such as 'secret_tool'" in message for message in messages)
    assert service["disclosure"]["undescribed"] == ["list_papers"]


@pytest.mark.parametrize("channel", ["json-rpc", "json-rpc-message", "text", "tool-result"])
def test_an_error_of_the_extension_is_understood_however_it_comes(kiosk: Kiosk, channel: str) -> None:
    """S3-07: as a JSON-RPC error, as text of the resource, as the result of a tool."""
    service = kiosk.service(f"refusing-{channel}")

    assert len(service["tools"]) == 3
    failed = [problem["message"] for problem in service["problems"] if problem["code"] == "tool-description-failed"]
    assert failed
    assert all("MISSING_TOOL_SELECTION: You must specify one or more tool names." in message for message in failed)


def test_a_description_that_is_no_json_is_reported(kiosk: Kiosk) -> None:
    """S3-13."""
    service = kiosk.service("refusing-no-json")
    assert "the text is not a JSON object" in json.dumps(service["problems"])
    assert len(service["tools"]) == 3


def test_several_contents_and_a_resource_known_by_its_name_are_understood(kiosk: Kiosk) -> None:
    """S3-01, S3-13: each description may be a content of its own."""
    service = kiosk.service("in-parts")
    assert service["disclosure"]["uri"] == "kiosk://docs/tools"
    assert "undescribed" not in service["disclosure"]


def test_the_skill_has_the_workflow_with_the_real_uri(kiosk: Kiosk) -> None:
    """S3-07, S3-11: pick, read, call; and the errors of the extension."""
    skill = kiosk.skill("progressive")
    text = (skill / "SKILL.md").read_text("utf-8")

    assert f"`{DESCRIPTIONS}?tools=NAME`" in text
    assert f"`{DESCRIPTIONS}?tools=NAME1,NAME2`" in text
    assert "1. Pick a tool by its section below.\n2. Read its description" in text
    assert "Never read it without naming tools" in text
    assert "`TOOL_DESCRIPTION_REQUIRED`" in text
    assert "- `TOOL_DESCRIPTION_REQUIRED`: The tool was called before" in text
    assert "- `MISSING_TOOL_SELECTION`" in text
    assert "Call it once a day." in text
    assert "- `SOLD_OUT`: Nothing is left; try tomorrow." in text


def test_reading_can_be_turned_off(kiosk: Kiosk) -> None:
    """S3-09: it authorises tools in that session, which is a side effect."""
    service = kiosk.service("progressive", "--no-tool-descriptions")

    assert kiosk.reads() == []
    assert tools_of(service)["buy_paper"]["description"] == "buy_paper in brief."
    assert service["disclosure"]["uri"] == DESCRIPTIONS


def test_the_criteria_that_need_no_call_are_reported(kiosk: Kiosk) -> None:
    """S3-12: met, not met, or why it was not checked."""
    outcomes = {item["number"]: item["outcome"] for item in kiosk.service("progressive")["disclosure"]["criteria"]}
    assert outcomes == {number: "met" if number < 5 else "not checked" for number in range(1, 9)}

    criteria = kiosk.service("lacking")["disclosure"]["criteria"]
    assert (criteria[3]["outcome"], criteria[3]["note"]) == ("not met", "missing: list_papers")


GATE = """
import json, sys
how = sys.argv[1]
tool = {"name": "list_papers", "description": "Lists papers.", "annotations": {"readOnlyHint": how != "writes"}}
full = {"list_papers": {"description": "Lists papers.", "inputSchema": {"type": "object", "properties": {}}}}
place = {"uri": "kiosk:///tool_descriptions", "name": "tool_descriptions"}
text = lambda key, value: {key: [{"type": "text", "uri": "x", "text": json.dumps(value)}]}
refused = lambda code: {"error": {"code": code, "message": "No."}}
open_tools = {"list_papers"} if how == "open" else set()
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    answer = {"error": {"code": -32601, "message": "no"}}
    if method == "initialize":
        offers = {"capabilities": {"tools": {}, "resources": {}}, "serverInfo": {"name": "gate", "version": "1"}}
        answer = {"result": {"protocolVersion": "2025-06-18", **offers}}
    elif method == "tools/list":
        answer = {"result": {"tools": [tool]}}
    elif method == "resources/list":
        answer = {"result": {"resources": [place]}}
    elif method == "resources/read" and "tools=" in params["uri"]:
        open_tools |= {"list_papers"}
        answer = {"result": text("contents", full)}
    elif method == "resources/read":
        answer = {"result": text("contents", full if how == "open" else refused("MISSING_TOOL_SELECTION"))}
    elif method == "tools/call":
        known = params["name"] in open_tools
        print("called", file=open("calls.log", "a"))
        said = [] if known else refused("TOOL_DESCRIPTION_REQUIRED")
        answer = {"result": {**text("content", said), "isError": not known}}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""


@pytest.mark.parametrize(
    ("how", "unmet", "calls"), [("strict", [], 2), ("open", [5, 6, 7, 8], 2), ("writes", [5, 6, 7, 8], 0)]
)
def test_the_criteria_that_need_a_call_are_checked_on_request(
    how: str, unmet: list[int], calls: int, tmp_path: Path
) -> None:
    """S3-17: with a tool that is declared to read only, in two sessions; without one they are not checked."""
    (tmp_path / "gate.py").write_text(GATE, encoding="utf-8")
    run = run_skillgen("inspect", "--call-undescribed", "--", sys.executable, "gate.py", how, cwd=tmp_path)
    criteria = json.loads(run.stdout)["services"][0]["disclosure"]["criteria"]
    assert [item["number"] for item in criteria if item["outcome"] != "met"] == unmet
    assert {item["outcome"] for item in criteria if item["number"] in unmet} <= {"not met" if calls else "not checked"}
    log = tmp_path / "calls.log"
    assert (len(log.read_text("utf-8").splitlines()) if log.exists() else 0) == calls


def test_a_server_that_contradicts_itself_on_sessions_is_reported(kiosk: Kiosk) -> None:
    """S3-14: what is read is documented all the same."""
    service = kiosk.service("progressive-modern", "--no-legacy-handshake")
    assert "disclosure-without-session" in codes_of(service)
    assert tools_of(service)["buy_paper"]["parameters"]


@pytest.mark.parametrize(
    ("uri", "is_found"),
    [
        ("resource:///tool_descriptions", True),
        ("kiosk://tool_descriptions", True),
        ("kiosk:tool_descriptions", True),
        ("https://a.test/v1/tool_descriptions", True),
        ("kiosk://docs/tool_descriptions_old", False),
        ("tools://[broken", False),
    ],
)
def test_the_resource_is_found_by_the_path_of_its_uri(uri: str, is_found: bool) -> None:
    """S3-01: any scheme."""
    assert descriptions_uri(FULL, uri=uri, name="x") == (uri if is_found else None)


def descriptions_uri(tool: dict[str, Any], **resource: str) -> str | None:
    """Returns the URI at which the tools of a server with this tool and resource are described."""
    answers = {"tools/list": [{"tools": [tool]}], "resources/list": [{"resources": [resource]}]}
    disclosure = service_of_answers(answers).disclosure
    return disclosure.uri if disclosure else None


FULL = {"name": "a", "inputSchema": {"type": "object", "properties": {"b": {}}}}


@pytest.mark.parametrize(
    ("schema", "is_minimal"),
    [
        (None, True),
        ({}, True),
        ({"type": "object"}, True),
        ({"type": "object", "additionalProperties": True}, True),
        ({"type": "object", "additionalProperties": False}, False),
        ({"type": "object", "properties": {}}, False),
        ([], False),
    ],
)
def test_a_resource_with_such_a_name_counts_only_where_tools_are_minimal(schema: object, is_minimal: bool) -> None:
    """S3-01, S3-02: a manual may be called so too."""
    tool = {"name": "a"} if schema is None else {"name": "a", "inputSchema": schema}
    for name in ("Tool descriptions", "Descriptions of all tools"):
        found = descriptions_uri(tool, uri="docs://manual", name=name)
        assert found == ("docs://manual" if is_minimal else None)


def test_addresses_name_every_tool_once_within_a_bound(kiosk: Kiosk) -> None:
    """S3-03, S3-04: also tools with names of any characters and lengths."""
    names = [tool["name"] for tool in kiosk.service("odd-names")["tools"]]
    parts = [names_in(uri) or [] for uri in kiosk.reads()]
    assert [name for part in parts for name in part] == names
    assert len(names) == 300
    for uri, part in zip(kiosk.reads(), parts, strict=True):
        assert uri.startswith(f"{DESCRIPTIONS}?tools=")
        assert len(part) == 1 or len(uri) <= 2_100
        assert not set("&#? \n") & set(uri.removeprefix(f"{DESCRIPTIONS}?"))
