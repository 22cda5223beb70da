"""The public interface: names, flags, exit codes, and what is printed where.

The whole error output of each bad input is in `golden/errors/`, since users read it. `make golden` renews it.
"""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli import ROOT, Finished, files_of, generated, run_python, run_skillgen
from conftest import Asked, Reply
from descriptions import description, grouped, operation, write
from rows import inputs

import skillgen

GOLDEN = ROOT / "tests" / "golden" / "errors"
WRITE_GOLDEN = os.environ.get("SKILLGEN_WRITE_GOLDEN") == "1"

USAGE, SOURCE, OUTPUT = 2, 3, 5


BAD = inputs("cli")
"""Files of a folder, and ways to call skillgen there that can't succeed: exit code and arguments."""

FILES: dict[str, bytes] = {
    **{name: text if isinstance(text, bytes) else text.encode() for name, text in BAD["files"].items()},
    "good.json": json.dumps(description()).encode(),
    "deep.json": b'{"openapi": ' + b"[" * 200_000,
    "bomb.yaml": b"a0: &a0 [x]\n" + b"".join(b"a%d: &a%d [*a%d, *a%d]\n" % (n, n, n - 1, n - 1) for n in range(1, 40)),
    "problems.json": json.dumps(description({"/a": {"get": operation()}})).encode(),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with the files of the table."""
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.fixture
def closed_port() -> Iterator[int]:
    """Yields a port on which nobody listens, and which nobody else gets."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.mark.parametrize("name", BAD["calls"])
def test_bad_input_gets_one_message_its_exit_code_and_no_file(
    name: str, folder: Path, closed_port: int, serve: Callable[..., str]
) -> None:
    open_port = serve({"/page": (200, "text/html", b"<!doctype html><title>Tasks</title>")}).rpartition(":")[2]
    ports = {"CLOSED": str(closed_port), "OPEN": open_port}
    code, *words = BAD["calls"][name]
    names = {**ports, "PYTHON": sys.executable}
    arguments = [re.sub("CLOSED|OPEN|PYTHON", lambda match: names[match[0]], word) for word in words]
    before = files_of(folder)
    finished = run_skillgen(*arguments, cwd=folder)
    shown = stable(finished.stderr, ports)
    if WRITE_GOLDEN:
        GOLDEN.mkdir(parents=True, exist_ok=True)
        (GOLDEN / f"{name}.txt").write_text(shown, encoding="utf-8")
    assert (finished.exit_code, finished.stdout) == (code, "")
    assert files_of(folder) == before
    assert "Traceback" not in finished.stderr
    assert len(re.findall(r"^(?:skillgen: error|Error): ", finished.stderr, re.MULTILINE)) == 1
    assert "hunter2" not in finished.stderr
    assert "secret" not in finished.stderr
    assert "\x1b" not in finished.stderr
    assert shown == (GOLDEN / f"{name}.txt").read_text("utf-8")


def stable(text: str, ports: dict[str, str]) -> str:
    """Returns an error output without what changes from run to run, from system to system, and with typer's version."""
    text = re.sub(r"\AUsage: .*?(?=Error: )", "", text, flags=re.DOTALL)
    text = text.replace(sys.executable, "python")
    text = re.sub(r"(No such option: --\w+).*", r"\1", text)
    for name, port in ports.items():
        text = text.replace(f":{port}", f":{name}")
    return re.sub(r"\[Errno \d+\]", "[Errno N]", text)


def test_every_golden_error_is_one_of_the_table() -> None:
    assert sorted(path.stem for path in GOLDEN.iterdir()) == sorted(BAD["calls"])


def test_a_server_that_does_not_answer_in_time_exits_3(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        run_skillgen("from-openapi", address, "--timeout", "0.2", cwd=folder).ended(
            3, "no answer within 0.2 s", "--timeout"
        )


FAILED = {"from-openapi none.yaml": 3, "from-openapi good.json --emit pdf": 2, "from-openapi good.json -o plain": 5}
FAILED |= {"inspect none.yaml": 3, "diff none.yaml good.json": 3, "build": 2}


@pytest.mark.parametrize("words", FAILED)
def test_debug_shows_a_traceback_and_changes_no_exit_code(folder: Path, words: str) -> None:
    finished = run_skillgen(*words.split(), "--debug", cwd=folder)
    assert (finished.exit_code, "Traceback" in finished.stderr) == (FAILED[words], True)
    assert "skillgen: error: " in finished.stderr, "the message stays"
    assert "Traceback" not in run_skillgen(*words.split(), cwd=folder).stderr


UNREADABLE = ["from-server --nope", "from-server --url", "from-openapi", "from-openapi good.json --timeout soon"]
UNREADABLE += ["build --timeout 0", "build extra", "diff good.json", "diff good.json good.json --nope"]


@pytest.mark.parametrize("words", UNREADABLE)
def test_json_prints_its_object_where_the_options_cannot_be_read(folder: Path, words: str) -> None:
    name, *arguments = words.split()
    finished = run_skillgen(name, "--json", *arguments, cwd=folder).ended(2)
    (problem,) = json.loads(finished.stdout)["problems"]
    assert problem["message"].splitlines()[0] in finished.stderr
    assert problem["fix"] == f"see skillgen {name} --help"


# -- what a good run prints ------------------------------------------------------------------------------------------


def test_a_run_prints_what_it_wrote_and_what_it_inferred(folder: Path) -> None:
    source = json.loads((folder / "good.json").read_text("utf-8"))
    source["info"]["description"] = "Tasks API."
    write(folder / "good.json", source)
    finished = generated("from-openapi", "good.json", "-o", "out", cwd=folder)
    assert finished.stdout == ""
    warning, summary, inferred = finished.stderr.splitlines()
    assert summary.startswith("Tasks: 1 tool, 0 parameters; ")
    assert inferred == "inferred: effects of 1 tool; declare them with --effect: list_tasks"
    again, shown = (
        generated("from-openapi", "good.json", "-o", "out", *more, cwd=folder).stderr for more in ((), ("-v",))
    )
    assert (inferred in again, inferred in shown) == (False, True), "nothing changed"
    assert warning.endswith("(write one with --description, or have an agent write it: `skillgen draft`)")


def test_quiet_prints_errors_and_nothing_else(folder: Path) -> None:
    finished = generated("from-openapi", "problems.json", "-o", "out", "-q", cwd=folder)
    assert (finished.stdout, finished.stderr) == ("", "")
    failed = run_skillgen("from-openapi", "none.yaml", "-q", cwd=folder)
    assert failed.stderr.startswith("skillgen: error: none.yaml: ")


def test_problems_of_one_kind_are_one_line_and_all_with_verbose(folder: Path) -> None:
    write(folder / "many.json", description({f"/a{number}": {"get": operation()} for number in range(9)}))
    few = generated("from-openapi", "many.json", "-o", "out", cwd=folder).stderr
    assert few.count("operation-id-missing") == 1
    assert "operation-id-missing: /paths/~1a0/get, /paths/~1a1/get, /paths/~1a2/get and 6 more: " in few
    assert "(9 times; -v shows all)" in few
    assert (
        generated("from-openapi", "many.json", "-o", "out", "-v", cwd=folder).stderr.count("id-missing: /paths/") == 9
    )


def test_a_run_that_succeeds_prints_no_error(folder: Path) -> None:
    """A piece that is left out is a warning: the level `error` means that the run fails."""
    paths = {"/a": {"get": 1}, "/b": [], "/c": {"post": operation(parameters=[7, {"$ref": "#/none"}, {"in": "query"}])}}
    write(folder / "broken-pieces.json", description(paths, webhooks=[], components={"schemas": [1]}))
    finished = generated("from-openapi", "broken-pieces.json", "-o", "out", "-v", "--json", cwd=folder)
    problems = json.loads(finished.stdout)["problems"]
    assert len(problems) > 4
    assert {problem["level"] for problem in problems} <= {"info", "warning"}
    assert "error" not in {line.partition(":")[0] for line in finished.stderr.splitlines()}


def test_problems_of_a_source_cannot_steer_the_terminal(folder: Path) -> None:
    paths = {"/a\x1b[2J\nskillgen: done": {"get": operation()}, "/b": {"$ref": "\x1b]0;title\x07"}}
    write(folder / "hostile.json", description(paths))
    finished = generated("from-openapi", "hostile.json", "-o", "out", cwd=folder)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", finished.stderr)
    assert "\nskillgen: done" not in finished.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (("from-openapi", "none.yaml"), 3, "service-failed"),
        (("from-openapi", "problems.json", "--strict"), 3, "operation-id-missing"),
        (("from-openapi", "good.json", "--include", "zzz"), 2, "service-failed"),
        (("from-openapi", "good.json", "-o", "edited"), 4, "service-failed"),
        (("from-openapi", "good.json", "-o", "plain"), 5, "service-failed"),
        (("from-server", "--snapshot", "good.json"), 3, "service-failed"),
        (("build",), 2, "service-failed"),
        (("diff", "none.yaml", "good.json"), 3, "service-failed"),
    ],
)
def test_json_prints_its_object_also_when_a_run_fails(
    folder: Path, arguments: tuple[str, ...], code: int, problem: str
) -> None:
    (folder / "edited").mkdir()
    (folder / "edited" / "llms.txt").write_text("# Mine\n", encoding="utf-8")
    finished = run_skillgen(*arguments, "--json", cwd=folder).ended(code)
    report = json.loads(finished.stdout)
    assert problem in {item["code"] for item in report["problems"]}
    failure = report["problems"][-1]
    assert (failure["code"], failure["level"]) == ("service-failed", "error")
    assert failure["message"] in finished.stderr
    assert list(report) == (
        ["breaking", "changes", "problems"] if arguments[0] == "diff" else ["files", "problems", "counts"]
    )


def test_json_prints_one_object_with_files_problems_and_counts(folder: Path) -> None:
    finished = generated("from-openapi", "problems.json", "-o", "out", "--json", "-q", cwd=folder)
    report = json.loads(finished.stdout)
    assert list(report) == ["files", "problems", "counts"]
    assert {file["path"] for file in report["files"]} == {
        f"out/{name}" for name in files_of(folder / "out").keys() - {".skillgen.json"}
    }
    assert {file["action"] for file in report["files"]} == {"create"}
    problem = report["problems"][0]
    assert list(problem) == ["code", "level", "where", "message", "fix"]
    assert (problem["code"], problem["level"], problem["where"]) == (
        "operation-id-missing",
        "warning",
        "/paths/~1a/get",
    )
    assert report["counts"] == {
        "services": 1,
        "tools": 1,
        "parameters": 0,
        "resources": 0,
        "prompts": 0,
        "files": len(report["files"]),
    }


def test_flags_win_over_what_the_source_says(folder: Path) -> None:
    overrides = ("--name", "My Tasks", "--description", "Mine. Use when asked.", "--base-url", "https://my.example/api")
    generated("from-openapi", "good.json", "-o", "out", *overrides, cwd=folder)
    text = (folder / "out" / "skills" / "my-tasks" / "SKILL.md").read_text("utf-8")
    assert "\ndescription: Mine. Use when asked.\n" in text
    assert "`https://my.example/api`" in text


def test_a_snapshot_keeps_half_a_surrogate_pair(tmp_path: Path) -> None:
    source = tmp_path / "a.json"
    source.write_text(json.dumps(description({"/\ud800": {"get": operation("a")}})), "utf-8")
    printed = generated("inspect", source).stdout
    assert "/paths/~1\\ud800" in printed
    assert generated("inspect", "--snapshot", "-", stdin=printed).stdout == printed


# -- help and version ------------------------------------------------------------------------------------------------


def test_version_prints_the_version() -> None:
    assert run_skillgen("--version") == Finished(0, f"skillgen {skillgen.__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["from-openapi", "--help"], ["from-server", "-h"]])
def test_help_goes_to_standard_output(arguments: list[str]) -> None:
    finished = run_skillgen(*arguments)
    assert (finished.exit_code, finished.stderr) == (0, "")
    assert "Usage: " in finished.stdout


@pytest.mark.parametrize("command", [["inspect", "good.json"], ["from-openapi", "--check", "good.json"], ["--ai-help"]])
def test_a_pipe_that_is_closed_early_ends_a_command_quietly(folder: Path, command: list[str]) -> None:
    """As SIGPIPE ends other programs: 1 would be drift."""
    script = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-m', 'skillgen', *{command}], stdout=subprocess.PIPE,"
        " stderr=subprocess.PIPE)\n"
        "child.stdout.close()\n"
        "sys.stderr.buffer.write(child.stderr.read())\n"
        "sys.exit(child.wait())\n"
    )
    write(folder / "good.json", description({f"/a{n}": {"get": operation(f"get_a{n}")} for n in range(300)}))
    finished = run_python("-c", script, cwd=folder).ended(141)
    assert not re.search("Traceback|Exception ignored|error", finished.stderr)


def test_a_command_starts_without_the_modules_of_the_others() -> None:
    """X-10: to import all commands, and derive their options, takes longer than help."""
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*(name for name in sys.modules if name.startswith('skillgen.'))))\n"
        "from skillgen.cli.app import main\n"
        "main()"
    )
    finished = run_python("-c", code, "lint", "--help")
    assert "Usage: skillgen lint" in finished.stdout
    loaded = finished.stdout.splitlines()[-1].split()
    assert "skillgen.cli.inspection" in loaded
    assert {"skillgen.cli.build", "skillgen.cli.mock", "skillgen.render", "skillgen.pipeline"}.isdisjoint(loaded)


@pytest.mark.parametrize("command", [["--version"], ["--ai-help"], ["templates", "list"], ["inspect", "api.json"]])
def test_an_output_that_takes_nothing_is_one_message(tmp_path: Path, command: list[str]) -> None:
    write(tmp_path / "api.json", description({}))
    script = (
        "import os, sys; os.dup2(os.open(sys.argv.pop(1), os.O_WRONLY), 1)\nfrom skillgen.__main__ import main\nmain()"
    )
    finished = run_python("-c", script, "/dev/full", *command, cwd=tmp_path).ended(5)
    assert finished.stderr.count("skillgen: error: standard output: cannot be read or written") == 1
    assert "Traceback" not in finished.stderr
    assert "Exception ignored" not in finished.stderr


def test_an_error_output_that_is_closed_costs_nothing(tmp_path: Path) -> None:
    write(tmp_path / "api.json", description({}))
    script = "import sys; sys.stderr = None\nfrom skillgen.__main__ import main\nmain()"
    assert run_python("-c", script, "from-openapi", "api.json", cwd=tmp_path).exit_code == 0
    assert (tmp_path / "agent-docs" / "llms.txt").is_file()


@pytest.mark.parametrize("command", [["inspect"], ["from-openapi", "--json"]])
def test_json_for_programs_steers_no_terminal_and_is_the_same_data(tmp_path: Path, command: list[str]) -> None:
    """S0-25: pointers hold the names of a source unchanged, and JSON escapes only the oldest of such characters."""
    name = "id\x9b31m\x7f\u202e\U000e0041"
    get = operation("get", parameters=[{"name": name, "in": "query", "schema": {"type": "string"}}])
    get["responses"] = {
        "200": {"description": "x", "content": {"a/b": {"schema": {"properties": {name: {"type": 5}}}}}}
    }
    write(tmp_path / "api.json", description({"/a": {"get": get}}))
    finished = generated(*command, "api.json", cwd=tmp_path)
    assert finished.stdout.replace("\n", "").isprintable()
    assert name in json.dumps(json.loads(finished.stdout), ensure_ascii=False)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ("from-server", "--url", "http://127.0.0.1:9/mcp", "--header", "Authorization: Basic aé"),
            3,
            "a character that is not ASCII",
        ),
        (("from-openapi", "http://u:p@[x"), 3, "is not an http:// or https:// URL"),
        (("logout", "http://u:p@[x"), 2, "is not an http:// or https:// URL"),
        (("from-server", "--trusted-domain", "https://a.example", "--", "x"), 2, "'https://a.example' is not a domain"),
        (("from-openapi", "."), 3, "try: name a file in it"),
        (("from-server", "--manifest", "list.json"), 3, "an object with `manifest_version`, `server` and `tools`"),
    ],
)
def test_an_odd_value_is_one_clear_message(tmp_path: Path, words: tuple[str, ...], code: int, message: str) -> None:
    (tmp_path / "list.json").write_text("[]", "utf-8")
    run_skillgen(*words, cwd=tmp_path).ended(code, message)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_record_with_a_name_that_no_file_has_is_called_damaged(tmp_path: Path, name: str) -> None:
    write(tmp_path / "api.json", grouped(tasks=["list_tasks"]))
    generated("from-openapi", "api.json", cwd=tmp_path)
    record = tmp_path / "agent-docs" / ".skillgen.json"
    data = json.loads(record.read_text("utf-8"))
    data["files"][name] = data["files"].pop("llms.txt")
    record.write_text(json.dumps(data), "utf-8")
    run_skillgen("from-openapi", "api.json", cwd=tmp_path).ended(4, "is not a record that skillgen wrote")


@pytest.mark.parametrize("key", ["out: ", "source: {openapi: x}, name: ", "emit: [skill], description: "])
def test_a_null_character_in_a_projects_file_is_refused_with_its_place(tmp_path: Path, key: str) -> None:
    (tmp_path / "skillgen.yaml").write_text(f'targets: {{a: {{{key}"a\\0b"}}}}\n', "utf-8")
    run_skillgen("build", cwd=tmp_path).ended(2, "skillgen.yaml:1: ", "holds a null character")


def test_a_scheme_may_come_before_the_variable_of_a_header(
    answering: Callable[[Reply], tuple[str, Asked]], tmp_path: Path
) -> None:
    address, asked = answering(lambda *_: (200, {}, json.dumps(description()).encode()))
    values = ["Bearer env:TOKEN", "env:TOKEN", "Bearer  env:TOKEN", "see env:TOKEN there", "Token abc"]
    given = [part for number, value in enumerate(values) for part in ("--header", f"X-{number}: {value}")]
    generated("inspect", "-q", f"{address}/api.json", *given, env={"TOKEN": "abc"})
    found = [asked[0][1][f"x-{number}"] for number in range(len(values))]
    assert found == ["Bearer abc", "abc", "Bearer  abc", "see env:TOKEN there", "Token abc"]
    run_skillgen("inspect", f"{address}/api.json", "--header", "A: Bearer env:MISSING").ended(2, "MISSING is not set")


def test_values_of_a_repeated_header_are_joined(answering: Callable[[Reply], tuple[str, Asked]]) -> None:
    """RFC 9110, 5.3; cookies: RFC 6265, 5.4."""
    address, asked = answering(lambda *_: (200, {}, json.dumps(description()).encode()))
    headers = [part for text in ("X-A: 1", "X-A: 2", "Cookie: a=1", "Cookie: b=2") for part in ("--header", text)]
    generated("inspect", "-q", f"{address}/api.json", *headers)
    assert (asked[0][1]["x-a"], asked[0][1]["cookie"]) == ("1, 2", "a=1; b=2")


def test_the_tools_own_help_is_quoted_nowhere_as_an_attack(tmp_path: Path) -> None:
    write(tmp_path / "api.json", grouped(tasks=["list_tasks"]))
    (tmp_path / "help.md").write_text(run_skillgen("--ai-help").stdout, "utf-8")
    finished = generated("from-openapi", "api.json", "--extra", "help.md", "-v", cwd=tmp_path)
    assert "addresses-reader" not in finished.stderr


@pytest.mark.parametrize("option", ["--out", "--templates"])
def test_an_empty_name_of_a_folder_is_refused(tmp_path: Path, option: str) -> None:
    write(tmp_path / "api.json", description())
    run_skillgen("from-openapi", "api.json", option, "", cwd=tmp_path).ended(2, f"{option}: is empty")
    assert list(files_of(tmp_path)) == ["api.json"]


def test_help_says_the_defaults_and_what_an_option_replaces() -> None:
    ai_help, help_text = (
        " ".join(run_skillgen(*words).stdout.split())
        for words in (["from-openapi", "--ai-help"], ["from-openapi", "--help"])
    )
    for words in ("in seconds. Default: `30.0`.", "Default: `skill,llms,ai-help,registry`.", "Default: agent-docs."):
        assert words in ai_help
    assert "Name of the service. Replaces that of the source." in help_text
    assert "TARGET" not in help_text


def test_the_key_that_a_target_must_have_is_named_first(tmp_path: Path) -> None:
    (tmp_path / "skillgen.yaml").write_text("targets: {a: {source: {openapi: api.json}, zzzzzzzz: 1}}\n", "utf-8")
    assert "try: choose from source, " in run_skillgen("build", cwd=tmp_path).stderr


def test_our_own_skill_is_up_to_date() -> None:
    finished = run_skillgen("build", *([] if WRITE_GOLDEN else ["--check"]), cwd=ROOT)
    assert (finished.exit_code, finished.stdout) == (0, ""), finished.stdout
