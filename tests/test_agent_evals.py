"""`skillgen eval`: agents are graded from the log of the mock, drafts are made, skills are checked without an agent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from api_examples import LIBRARY as API
from cli import environment, generated, run_skillgen
from listed import command, tool

TESTS = Path(__file__).parent
Json = Any

AGENT = """
import json, os, shutil, signal, subprocess, sys, time, urllib.error, urllib.request

prompt, manner = sys.stdin.read(), sys.argv[1]
skill = os.environ.get("SKILLGEN_SKILL")
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "starts"), "a") as file:
    file.write(prompt + "\\n")

def send(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": "Bearer x", "Content-Type": "application/json"}
    url = os.environ["SKILLGEN_MOCK_URL"] + path
    try:
        urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method))
    except urllib.error.HTTPError:
        pass

if manner == "interrupts":
    os.kill(int(os.environ["EVALUATION"]), signal.SIGINT)
if manner in ("hangs", "interrupts"):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    time.sleep(1000)
if manner == "deletes":
    print(json.dumps({"usage": {"input_tokens": -5}}))
    with open("../calls.jsonl", "a") as file:
        file.write('\\n{"valid": true, "tool": ["addBook"], "faults": [3]}\\n')
    if skill:
        shutil.rmtree("..")
    sys.exit()
if manner == "cheats":
    if skill and any(name == "evals.json" for _, _, names in os.walk(os.path.dirname(skill)) for name in names):
        send("POST", "/books", {"title": "Emma", "year": 1815})
    if skill:
        shutil.rmtree(skill)
    sys.exit()
if "stop" in prompt and os.environ.get("STOPS"):
    sys.exit(3)
if skill and "books" in prompt:
    print(json.dumps({"tool": "read", "path": os.path.join(skill, "SKILL.md")}))
if manner == "program":
    if skill and "Add" in prompt and "scripts/call.py" in open(os.path.join(skill, "SKILL.md")).read():
        program = [sys.executable, os.path.join(skill, "scripts", "call.py"), "addBook", "title=Emma", "year=1815"]
        subprocess.run(program, check=True)
    sys.exit()
if "Add" in prompt:
    if manner == "wrong" or skill is None:
        send("POST", "/books", {"year": "x"})
    send("POST", "/books", {"title": "Emma", "year": 1815})
    if manner == "wrong":
        send("DELETE", "/books/7")
print(json.dumps({"usage": {"input_tokens": 40, "output_tokens": 2}}))
"""

EVALS: Json = {
    "skill_name": "library",
    "evals": [
        {
            "id": 1,
            "prompt": "Add the book Emma of 1815.",
            "files": ["evals/list.txt"],
            "expected_calls": [{"tool": "addBook", "arguments": {"body": {"title": "Emma"}}}],
            "forbidden_calls": [{"tool": "removeBook"}],
        },
        {"id": "prose", "prompt": "Write a poem.", "expected_output": "A poem."},
    ],
    "trigger_queries": [
        {"query": "Which books are there?", "should_trigger": True},
        {"query": "What is the weather?", "should_trigger": False},
    ],
}


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """Returns the skill of an API, with tasks."""
    (tmp_path / "api.json").write_text(json.dumps(API), "utf-8")
    generated("from-openapi", tmp_path / "api.json", "--emit", "skill,scripts", "-o", tmp_path / "out")
    folder = tmp_path / "out" / "skills" / "library"
    (folder / "evals").mkdir()
    (folder / "evals" / "evals.json").write_text(json.dumps(EVALS), "utf-8")
    (folder / "evals" / "list.txt").write_text("Emma", "utf-8")
    (tmp_path / "agent.py").write_text(AGENT, "utf-8")
    return folder


def evaluated(skill: Path, manner: str, *options: str, env: dict[str, str] | None = None) -> Any:
    """Evaluates a skill with the scripted agent."""
    folder = skill.parents[2]
    agent = f"{sys.executable} {folder / 'agent.py'} {manner}"
    arguments = (skill, folder / "api.json", "--agent", agent, *options)
    return run_skillgen("eval", *arguments, cwd=folder, env=env)


def test_an_agent_that_is_right_passes(skill: Path) -> None:
    finished = evaluated(skill, "right", "--format", "json").ended(0, "not run, since it names no calls: prose")
    report = json.loads(finished.stdout)
    found = [(run["task"], run["has_skill"], run["passed"], run["calls"]) for run in report["runs"]]
    assert found == [
        ("1", True, True, 1),
        ("1", False, False, 2),
        ("query-1", True, True, 0),
        ("query-2", True, True, 0),
    ]
    assert report["triggers"] == {"recall": 1, "precision": 1}
    summary = report["run_summary"]
    assert summary["with_skill"]["pass_rate"] == {"mean": 1, "stddev": 0}
    assert summary["with_skill"]["tokens"]["mean"] == 42
    assert (summary["delta"]["pass_rate"], summary["delta"]["calls"]) == (1, -1)
    control = [part["text"] for part in report["runs"][1]["assertions"] if not part["passed"]]
    assert control == ["the first call of addBook is valid"]
    run = skill.parents[2] / "library-workspace" / "iteration-1" / "eval-1" / "with_skill"
    assert (run / "outputs" / "list.txt").read_text("utf-8") == "Emma"
    assert json.loads((run / "timing.json").read_text("utf-8"))["total_tokens"] == 42
    assert json.loads((run / "grading.json").read_text("utf-8"))["summary"]["pass_rate"] == 1


def test_an_agent_that_is_wrong_fails(skill: Path) -> None:
    finished = evaluated(skill, "wrong", "--no-control", "--format", "json").ended(1)
    runs = json.loads(finished.stdout)["runs"]
    (run,) = (run for run in runs if run["prompt"] == "Add the book Emma of 1815.")
    message = "\n".join(f"{item['text']}: {item['evidence']}" for item in run["assertions"] if not item["passed"])
    assert "the first call of addBook is valid: /body/title is required; /body/year" in message
    assert "does not call removeBook: called with {'id': 7}" in message
    assert "calls addBook with" not in message, "its second call is right"
    assert evaluated(skill, "wrong", "--no-control", "--min-success", "0").exit_code == 0


def test_an_agent_gets_a_copy_of_the_skill_without_the_answers(skill: Path) -> None:
    finished = evaluated(skill, "cheats", "--no-control", "--format", "json")
    first, *_ = json.loads(finished.stdout)["runs"]
    assert (first["passed"], first["calls"]) == (False, 0)
    assert (skill / "evals" / "evals.json").is_file()
    assert (skill / "SKILL.md").is_file()


def test_the_program_of_a_skill_calls_the_mock(skill: Path) -> None:
    finished = evaluated(skill, "program", "--format", "json")
    runs = {(run["task"], run["has_skill"]): run["passed"] for run in json.loads(finished.stdout)["runs"]}
    assert (runs["1", True], runs["1", False]) == (True, False), finished.stdout


def test_the_program_of_an_mcp_server_calls_the_mock(tmp_path: Path) -> None:
    tools = [tool("greet", inputSchema={"type": "object", "properties": {"name": {"type": "string"}}})]
    start = command(tmp_path, tools=tools)
    out = tmp_path / "out"
    generated("from-server", "--emit", "skill,scripts", "-o", out, "--", *start, cwd=TESTS)
    # The skill must not start the server itself.
    path = next(out.rglob("tools.json"))
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "command": ["false"]}), "utf-8")
    (skill,) = (out / "skills").iterdir()
    (skill / "evals").mkdir()
    tasks = [{"prompt": "Greet Ann.", "expected_calls": [{"tool": "greet", "arguments": {"name": "Ann"}}]}]
    (skill / "evals" / "evals.json").write_text(json.dumps({"evals": tasks}), "utf-8")
    program = f"{sys.executable} $SKILLGEN_SKILL/scripts/call.py greet name=Ann"
    (tmp_path / "program.sh").write_text(program, "utf-8")
    agent = ("--agent", f"sh {tmp_path / 'program.sh'}", "--no-control", "-o", tmp_path / "runs")
    finished = run_skillgen("eval", skill, *agent, "--", *start, cwd=TESTS)
    first = finished.stdout.splitlines()[0]
    assert (finished.exit_code, first) == (0, "passed: 1 with the skill: Greet Ann. (1 call)")


def test_an_agent_that_hangs_is_killed(skill: Path) -> None:
    finished = evaluated(skill, "hangs", "--task-timeout", "0.5", "--no-control", "--jobs", "4").ended(1)
    assert finished.stdout.count("the agent ends by itself, with exit code 0: it was killed at the time limit") == 3


def test_an_agent_that_deletes_its_folder_or_spoils_its_log_fails_alone(skill: Path) -> None:
    finished = evaluated(skill, "deletes", "--format", "json").ended(1)
    runs = json.loads(finished.stdout)["runs"]
    assert [(run["calls"], run["tokens"]) for run in runs] == [(0, None)] * 4
    assert len(list(skill.parents[2].rglob("grading.json"))) == 4


CALL = '{"tool": "addBook", "arguments": {"body": {"title": "Emma"}}, "valid": true, "status": 200}'
FORGED = (
    f"echo '{CALL}' >> ../calls.jsonl",
    f"echo '{CALL}' > ../calls.jsonl; chmod 400 ../calls.jsonl",
    """echo '{"total_tokens": 5}' >> ../stdout.txt""",
    "echo '{\"summary\": {}}' > ../grading.json; mkdir ../timing.json",
)


@pytest.mark.parametrize("program", FORGED)
def test_an_agent_cannot_write_its_grade(skill: Path, program: str) -> None:
    folder = skill.parents[2]
    (folder / "agent.sh").write_text(program, "utf-8")
    agent = ("--agent", f"sh {folder / 'agent.sh'}", "--format", "json")
    finished = run_skillgen("eval", skill, folder / "api.json", *agent, cwd=folder)
    if finished.exit_code == 5:
        return  # something is in the place of a file
    runs = json.loads(finished.stdout)["runs"]
    assert [(run["task"], run["passed"], run["calls"]) for run in runs][:2] == [("1", False, 0)] * 2
    assert {run["tokens"] for run in runs} == {None}


LINKS = (
    "ln -s {outside}/a ../stdout.txt; ln -s {outside}/b ../calls.jsonl; ln -s {outside}/c ../grading.json",
    "cd ..; here=$PWD; cd ..; rm -rf $here; ln -s {outside} $here",
    "cd ../..; here=$PWD; cd ..; rm -rf $here; ln -s {outside} $here",
    "cd ../..; for name in eval-query-1 eval-query-2; do rm -rf ../$name; ln -s {outside} ../$name; done",
    "cd ../../..; ln -sfn {outside} ../iteration-2; ln -sfn {outside}/d benchmark.json",
)


@pytest.mark.parametrize("program", LINKS)
def test_an_eval_writes_through_no_link_that_an_agent_makes(skill: Path, program: str) -> None:
    folder = skill.parents[2]
    outside = folder / "outside"
    (outside / "with_skill").mkdir(parents=True)
    (outside / "with_skill" / "keep").touch()
    (folder / "agent.sh").write_text(program.format(outside=outside), "utf-8")
    for _ in range(2):
        agent = ("--agent", f"sh {folder / 'agent.sh'}", "--jobs", "1")
        finished = run_skillgen("eval", skill, folder / "api.json", *agent, cwd=folder)
        assert finished.exit_code in (1, 5), finished.stderr
        assert "bug" not in finished.stderr
        found = sorted(path.relative_to(outside).as_posix() for path in outside.rglob("*"))
        assert found == ["with_skill", "with_skill/keep"], program


@pytest.mark.parametrize("name", ["evals/evals.json", "scripts/tools.json", "SKILL.md", "more"])
def test_an_eval_reads_through_no_link_out_of_the_skill(skill: Path, name: str) -> None:
    secret = skill.parents[2] / "outside.json"
    path = skill / name
    secret.write_text(path.read_text("utf-8") if path.exists() else "x", "utf-8")
    path.unlink(missing_ok=True)
    path.symlink_to(secret)
    endless = Path("/proc/self/pagemap")
    (skill / "endless").symlink_to(endless if endless.exists() else secret)
    finished = evaluated(skill, "right")
    if name == "evals/evals.json":
        assert (finished.exit_code, "is not a text file in the skill" in finished.stderr) == (2, True)
    else:
        assert finished.exit_code == 0, finished.stderr


def test_a_run_that_was_stopped_is_resumed(skill: Path) -> None:
    starts = skill.parents[2] / "starts"
    finished = evaluated(skill, "right", "--format", "json")
    iteration = skill.parents[2] / "library-workspace" / "iteration-1"
    assert len(starts.read_text("utf-8").splitlines()) == 4
    for path in (iteration / "benchmark.json", iteration / "eval-1" / "with_skill" / "grading.json"):
        path.unlink()  # as after a kill
    again = evaluated(skill, "right", "--format", "json")
    assert len(starts.read_text("utf-8").splitlines()) == 5
    assert "; 3 of 4 resumed\n" in again.stderr
    assert [run["passed"] for run in json.loads(again.stdout)["runs"]] == [
        run["passed"] for run in json.loads(finished.stdout)["runs"]
    ]
    evaluated(skill, "right")
    assert (iteration.parent / "iteration-2" / "benchmark.json").exists(), "what is complete is run anew"


def test_a_run_that_was_interrupted_has_no_grade(skill: Path) -> None:
    folder = skill.parents[2]
    agent = f"{sys.executable} {folder / 'agent.py'} interrupts"
    words = ["-m", "skillgen", "eval", str(skill), str(folder / "api.json"), "--agent", agent, "--jobs", "1"]
    # A shell without a terminal has programs in the background ignore interrupts, and what they start as well.
    heeded = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    start = ["sh", "-c", 'EVALUATION=$$ exec "$@"', "sh", sys.executable, "-c", heeded, sys.executable, *words]
    finished = subprocess.run(
        start, cwd=folder, env=environment(), capture_output=True, text=True, check=False, timeout=60
    )
    assert finished.returncode == 130, finished.stderr
    assert not list(folder.rglob("grading.json"))


def test_a_draft_is_an_evaluation_that_a_right_agent_passes(skill: Path) -> None:
    source = (skill.parents[2] / "api.json",)
    assert run_skillgen("eval", skill, *source, "--init").exit_code == 2, "it overwrites nothing"
    (skill / "evals" / "evals.json").unlink()
    generated("eval", skill, *source, "--init")
    draft = json.loads((skill / "evals" / "evals.json").read_text("utf-8"))
    assert draft["skill_name"] == "library"
    tasks = {task["expected_calls"][0]["tool"]: task for task in draft["evals"]}
    assert tasks["findBooks"]["forbidden_calls"] == [{"tool": "removeBook"}]
    assert tasks["addBook"]["prompt"].endswith('(title: "Emma")')
    assert all(query["should_trigger"] for query in draft["trigger_queries"])
    assert (
        run_skillgen("eval", skill, *source, "--agent", "true", "--no-control", "-o", skill.parent / "w").exit_code == 1
    )


def test_a_skill_is_checked_without_an_agent(skill: Path) -> None:
    source = (skill.parents[2] / "api.json", "--static")
    run_skillgen("eval", skill, *source).ok()
    page = next(
        path for path in (skill, *skill.rglob("*.md")) if path.is_file() and "addBook" in path.read_text("utf-8")
    )
    text = page.read_text("utf-8")
    assert text.count("## removeBook") == 1
    page.write_text(text.replace("## removeBook", "## deleteBook").replace('"title":', '"name":'), "utf-8")
    bad = run_skillgen("eval", skill, *source, "--format", "json").ended(1)
    checks = json.loads(bad.stdout)["static"]
    failed = {
        (name, item["text"]): item["evidence"] for name, items in checks.items() for item in items if not item["passed"]
    }
    assert failed.keys() == {("example calls", "addBook"), ("two reads", "removeBook")}
    assert "/body/title" in failed["example calls", "addBook"]


@pytest.mark.parametrize(
    ("evals", "words"),
    [
        ({"evals": [{"id": 1}]}, "missing required field `prompt` - at `$.evals[0]`"),
        ({"evals": [{"prompt": "x", "expected_calls": [{"tool": "nope"}]}]}, "the service has no tool 'nope'"),
        ({"evals": [{"prompt": "x", "files": ["../x"]}]}, "paths in the folder of the skill"),
        ({"evals": [{"prompt": "x", "files": ["evals/link"]}]}, "paths in the folder of the skill"),
        ({"evals": [{"prompt": "x"}]}, "no eval can be graded"),
        ({"trigger_queries": [{"query": "x"}]}, "should_trigger"),
        ([], "Expected `object`, got `array`"),
    ],
)
def test_a_file_of_tasks_that_is_wrong_is_refused(evals: Json, words: str, skill: Path) -> None:
    (skill / "evals" / "evals.json").write_text(json.dumps(evals), "utf-8")
    (skill / "evals" / "link").symlink_to(skill.parents[2] / "api.json")
    evaluated(skill, "right").ended(2, words)
