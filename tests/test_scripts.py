"""`--emit scripts`: the program in a skill that makes calls alone, with Python's standard library."""

from __future__ import annotations

import ast
import contextlib
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, ClassVar

import pytest
from captured import service_of_answers
from cli import Finished, generated, run_skillgen
from descriptions import write
from http_servers import QuietHandler, http_servers
from rows import inputs
from servers.guarded import Door, guarded
from servers.over_http import running
from test_call import DESCRIPTION, TOOLS, asking, token_for

import skillgen
from skillgen.model.credentials import variable_prefix

SERVER = {"server": {"serverInfo": {"name": "notes", "version": "1"}}, "tools": TOOLS}


def script_of(out: Path) -> Path:
    (script,) = out.glob("skills/*/scripts/call.py")
    return script


def run_script(script: Path, *words: object, cwd: Path, env: dict[str, str] | None = None, stdin: str = "") -> Finished:
    """Runs the program as an agent does: from another folder, by an interpreter without packages."""
    finished = subprocess.run(
        [sys.executable, "-I", "-S", str(script), *map(str, words)],
        input=stdin,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return Finished(finished.returncode, finished.stdout, finished.stderr)


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the program of an API's skill."""
    folder = tmp_path_factory.mktemp("notes")
    (folder / "notes.json").write_text(json.dumps(DESCRIPTION), "utf-8")
    generated("from-openapi", folder / "notes.json", "--emit", "skill,scripts", "-o", folder / "out")
    return script_of(folder / "out")


def moved(program: Path, url: str) -> dict[str, str]:
    """Returns the variable with another URL of the service; the host that the documents know is in its name."""
    data = json.loads(program.with_name("tools.json").read_text("utf-8"))
    known, noun = (data["url"], "URL") if data["kind"] == "mcp" else (data["base"], "BASE_URL")
    return {f"{variable_prefix(known)}___{noun}": url}


@pytest.fixture(scope="module")
def kiosk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the program of a server's skill."""
    folder = tmp_path_factory.mktemp("kiosk")
    with running("json") as server:
        generated("from-server", "--url", server.url, "--emit", "skill,scripts", "-o", folder / "out")
    return script_of(folder / "out")


def script_with_tools(script: Path, folder: Path, *names: str) -> Path:
    """Returns a copy of a program whose server has other tools."""
    data = json.loads(script.with_name("tools.json").read_text("utf-8"))
    (folder / "tools.json").write_text(json.dumps({**data, "tools": {name: {"schema": {}} for name in names}}), "utf-8")
    return Path(shutil.copy(script, folder))


@pytest.mark.parametrize("manner", ["modern", "json", "events"])
def test_both_eras_of_streamable_http_are_spoken(kiosk: Path, tmp_path: Path, manner: str) -> None:
    data = json.loads(kiosk.with_name("tools.json").read_text("utf-8"))
    with running(manner) as server:
        server.kiosk.methods["tools/call"] = lambda params: {
            "resultType": "complete",
            "content": [{"type": "text", "text": f"sold {params['arguments']['title']}"}],
        }
        kiosk.with_name("tools.json").write_text(json.dumps({**data, "url": server.url}), "utf-8")
        finished = run_script(kiosk, "buy_paper", "title=Le Monde", cwd=tmp_path, env=token_for(server.url))
    kiosk.with_name("tools.json").write_text(json.dumps(data), "utf-8")
    assert (finished.exit_code, finished.stdout) == (0, "sold Le Monde\n"), finished.stderr
    assert {headers["authorization"] for _, headers, _ in server.received} == {"Bearer sesame-7291"}


def test_a_server_is_started_by_the_command_that_follows(kiosk: Path, tmp_path: Path) -> None:
    path = tmp_path / "server.json"
    result = {"content": [{"type": "text", "text": "sold"}], "structuredContent": {"n": 1}}
    path.write_text(json.dumps({**SERVER, "tools/call": result}), "utf-8")
    command = ["--", sys.executable, Path(__file__).parent / "servers" / "listed.py", path]
    finished = run_script(kiosk, "buy_paper", "title=x", *command, cwd=tmp_path)
    assert json.loads(finished.stdout) == {"n": 1}
    (tmp_path / "title").write_text("Le Monde", "utf-8")
    shown = run_script(kiosk, "buy_paper", "title@=title", "--dry-run", *command, cwd=tmp_path)
    assert '"title": "Le Monde"' in shown.stdout
    url = moved(kiosk, "https://kiosk.example/mcp")
    assert "kiosk.example" in run_script(kiosk, "buy_paper", "title=x", "--dry-run", cwd=tmp_path, env=url).stdout
    shown = run_script(kiosk, "buy_paper", "title=x", "--dry-run", *command, cwd=tmp_path, env=url)
    assert "listed.py" in shown.stdout
    requests: list[dict[str, Any]] = [{"arguments": 3}, {"arguments": {"title": "x"}}, {}]
    lines = "".join(json.dumps({"tool": "buy_paper", **request}) + "\n" for request in requests)
    finished = run_script(kiosk, "--session", *command, cwd=tmp_path, stdin=lines).ended(2)
    assert [json.loads(line)["ok"] for line in finished.stdout.splitlines()] == [False, True, False]


class Odd(QuietHandler):
    """Breaks the protocol: `initialize` has a wrong version, and each GET is answered in an odd manner."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(json.dumps({"id": request.get("id"), "result": {"protocolVersion": "2026-07-28"}}), 0)

    def do_GET(self) -> None:
        number = int(self.path.rpartition("/")[2])
        if number == 1:
            self.answer('{"id": 7}', 100)
        elif number == 2:
            self.answer("", 0, 302, Location=self.path)
        elif number == 3:
            self.answer("caf\xe9", 0, Content_Type="text/plain; charset=ISO-8859-1")
        elif number == 4:
            self.answer(gzip.compress(b'{"id":7}').decode("latin-1"), 0, Content_Encoding="gzip")
        elif number == 5:
            self.answer("GIF", 0, Content_Type=f"image/{'a' * 999}/../../x")
        elif number == 6:
            self.answer("zip", 0, Content_Encoding="gzip")
        with contextlib.suppress(OSError):
            while number == 7:  # no end, no long pause, and fewer than the 100 that Python 3.14 reads
                self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                threading.Event().wait(0.05)

    def answer(self, text: str, missing: int, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text) + missing))
        for name, value in {"Content_Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(text.encode("latin-1"))


def test_answers_that_break_the_protocol_are_errors(notes: Path, kiosk: Path, tmp_path: Path) -> None:
    with http_servers() as start:
        url = start(Odd)
        opened = run_script(kiosk, "buy_paper", "title=x", cwd=tmp_path, env=moved(kiosk, url))
        env = {**token_for(url), **moved(notes, url)}
        words = [["getNote", f"id={number}", "--timeout=2", "--out", tmp_path] for number in range(1, 8)]
        found = [run_script(notes, *item, cwd=tmp_path, env=env) for item in words]
    assert (opened.exit_code, opened.stdout, opened.stderr.count("\n")) == (3, "", 1)
    assert "answers initialize with 2026-07-28" in opened.stderr
    for finished, code, text in zip(
        found,
        (3, 1, 0, 0, 0, 3, 3),
        (
            *("ended early: 9 of 109 bytes", "HTTP 302\nThe redirect is not followed: /notes/2\n", "café\n"),
            *('{\n  "id": 7\n}\n', ".aaaaaaaaaa (image/aaa", "the answer is not gzip"),
            "no answer in time; raise --timeout",
        ),
        strict=True,
    ):
        assert (finished.exit_code, text in finished.stdout + finished.stderr) == (code, True), finished


@pytest.mark.parametrize("value", ["nan", "-1", "0", "inf"])
def test_a_time_limit_is_a_positive_number(notes: Path, tmp_path: Path, value: str) -> None:
    finished = run_script(notes, "getNote", "id=7", f"--timeout={value}", cwd=tmp_path)
    assert (finished.exit_code, "--timeout" in finished.stderr, "Traceback" in finished.stderr) == (2, True, False)


def test_the_skill_of_a_server_names_the_variable_of_its_token(kiosk: Path) -> None:
    """G7: whether or not it declares authentication, without a look at `--list`."""
    (token,) = json.loads(kiosk.with_name("tools.json").read_text("utf-8"))["variables"]
    assert f"`{token}`" in (kiosk.parents[1] / "SKILL.md").read_text("utf-8")


def test_the_program_is_short_enough_to_be_read(notes: Path, kiosk: Path) -> None:
    lengths = {script.read_text("utf-8").count("\n") for script in (notes, kiosk)}
    assert len(lengths) == 2, "one for an API, one for an MCP server"
    assert max(lengths) < 770
    for script in (notes, kiosk):
        ast.parse(script.read_text("utf-8"), feature_version=(3, 9))


def test_a_server_that_wants_a_login_says_where_tokens_are(kiosk: Path, tmp_path: Path) -> None:
    with guarded(Door()) as url:
        finished = run_script(kiosk, "buy_paper", "title=x", cwd=tmp_path, env=moved(kiosk, url))
    assert (finished.exit_code, finished.stdout) == (3, "")
    (variable,) = token_for(url)
    for words in (variable, "no OAuth", "/.well-known/oauth-protected-resource"):
        assert words in finished.stderr


def test_a_server_may_ask_or_answer_too_much(kiosk: Path, tmp_path: Path) -> None:
    program = script_with_tools(kiosk, tmp_path, "ask", "grow")
    finished = run_script(program, "ask", *asking(tmp_path), cwd=tmp_path)
    assert json.loads(finished.stdout) == [["error"], ["error"], ["result"]], finished.stderr
    finished = run_script(program, "grow", *asking(tmp_path), cwd=tmp_path)
    assert (finished.exit_code, finished.stdout) == (3, "")
    assert "larger than 32 MiB" in finished.stderr
    silent = ["--", sys.executable, "-c", "import threading; threading.Event().wait()"]
    for arguments in ("{}", json.dumps({"text": "x" * 500_000})):  # more than a pipe takes
        finished = run_script(program, "ask", "--timeout=1", "-", *silent, cwd=tmp_path, stdin=arguments).ended(
            3, "no answer in time"
        )


def test_what_a_server_leaves_running_is_killed(kiosk: Path, tmp_path: Path) -> None:
    """It would also keep the output open, for which this test would wait."""
    (tmp_path / "server.json").write_text(json.dumps({**SERVER, "tools/call": {"content": []}}), "utf-8")
    waits = [sys.executable, "-c", "import threading; threading.Event().wait()"]
    starts = (
        f"import runpy, subprocess; subprocess.Popen({waits}); runpy.run_module('servers.listed', run_name='__main__')"
    )
    command = ["--", sys.executable, "-c", starts, tmp_path / "server.json"]
    run_script(kiosk, "buy_paper", "title=x", *command, cwd=Path(__file__).parent).ok()


def test_a_server_does_not_fill_the_folder_of_files(kiosk: Path, tmp_path: Path) -> None:
    program, out = script_with_tools(kiosk, tmp_path, "scan"), tmp_path / "out"
    out.mkdir()
    types = ["image/png", "../../x", "image/" + "z" * 300, 7, None, {"a": 1}, *["image/gif"] * 200]
    content = [{"type": "image", "data": "AAAA", "mimeType": name} for name in types]
    (tmp_path / "server.json").write_text(json.dumps({**SERVER, "tools/call": {"content": content}}), "utf-8")
    command = ["--", sys.executable, Path(__file__).parent / "servers" / "listed.py", tmp_path / "server.json"]
    finished = run_script(program, "scan", "--out", out, *command, cwd=tmp_path)
    assert (finished.exit_code, len(list(out.iterdir()))) == (0, 100), finished.stderr
    assert finished.stdout.endswith("No more than 100 files are saved.\n")
    finished = run_script(program, "scan", "--out", tmp_path / "none", *command, cwd=tmp_path).ended(
        2, "is not a folder"
    )


class Pinging(QuietHandler):
    """Asks nine things at once during a call, and takes each answer in less than the time limit."""

    taken: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer: Any = {"id": message.get("id"), "result": {"protocolVersion": "2025-11-25"}}
        if message.get("method") == "tools/call":
            answer = [{"id": f"p{number}", "method": "ping"} for number in range(9)]
        elif "method" not in message:
            self.taken.append(message)
            threading.Event().wait(0.6)
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)


def test_answers_to_a_server_do_not_prolong_a_call(kiosk: Path, tmp_path: Path) -> None:
    with http_servers() as start:
        env = moved(kiosk, start(Pinging))
        run_script(kiosk, "buy_paper", "title=x", "--timeout=1", cwd=tmp_path, env=env).ended(3, "time")
    assert len(Pinging.taken) < 9


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "1" * 400, "1e-320"])
def test_a_line_that_fails_costs_no_other_line(tmp_path: Path, number: str) -> None:
    """Its number is not one, or too large or small for the rule that it is a multiple of another."""
    schema = {"type": "object", "properties": {"n": {"type": "number", "multipleOf": 0.1}, "any": {}}}
    answers = {
        "initialize": {"serverInfo": {"name": "x", "version": "1"}},
        "tools/list": [{"tools": [{"name": "find", "inputSchema": schema}]}],
    }
    for path, text in skillgen.render_documents(service_of_answers(answers), emit=["scripts"]).items():
        (tmp_path / Path(path).name).write_text(text, "utf-8")
    lines = [f'{{"tool": "find", "arguments": {{"{name}": {number}}}}}' for name in ("n", "any")]
    stdin = "".join(f"{line}\n" for line in [*lines, '{"tool": ["find"]}', "[" * 99_999, '{"tool": "nope"}'])
    finished = run_script(tmp_path / "call.py", "--session", cwd=tmp_path, stdin=stdin)
    found = [json.loads(line) for line in finished.stdout.splitlines()]
    assert [item["ok"] for item in found] == [False] * 5, finished.stderr
    assert "nope" in found[-1]["error"]
    if not number[-1].isdigit() or number.endswith("999"):
        assert all("not JSON" in item["error"] for item in found[:2])


def test_a_list_has_a_line_for_each_tool(kiosk: Path, tmp_path: Path) -> None:
    """X-52: the name of a tool forges neither another one nor a command for the log of a CI host."""
    program = script_with_tools(kiosk, tmp_path, "one\n::error::two")
    assert run_script(program, "--list", cwd=tmp_path).stdout.splitlines()[0] == "one ::error::two"


def test_a_tool_that_is_only_a_task_is_not_called(tmp_path: Path) -> None:
    tool = {"name": "study", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}}
    answers = {"initialize": {"serverInfo": {"name": "x", "version": "1"}}, "tools/list": [{"tools": [tool]}]}
    for path, text in skillgen.render_documents(service_of_answers(answers), emit=["scripts"]).items():
        (tmp_path / Path(path).name).write_text(text, "utf-8")
    run_script(tmp_path / "call.py", "study", cwd=tmp_path).ended(2, "only be called as a task")


def test_requests_equal_those_of_the_command(notes: Path, api: str, tmp_path: Path) -> None:
    env = {**token_for(api), **moved(notes, f"{api}/v1")}
    source = notes.parents[4] / "notes.json"
    for words in (
        ["getNote", "id=7", "fields=a", "fields=b c", 'filter={"x": {"y": 1}}', "X-Trace=t", "mood=so so"],
        ["putNote", "id=7", "text=hello"],
        ["sendForm", "a=b&c", "n=3"],
        ["putNote", "path.id=7", "body.text=hello"],
        ["putNote", '{"id": 7, "body": {"text": "t", "more": [1]}}'],
    ):
        own = run_script(notes, *words, cwd=tmp_path, env=env).ok()
        other = run_skillgen("call", source, "--base-url", f"{api}/v1", *words, env=env)
        left, right = json.loads(own.stdout), json.loads(other.stdout)
        assert [left[key] for key in ("method", "path", "body")] == [right[key] for key in ("method", "path", "body")]
        assert left["headers"].get("Cookie") == right["headers"].get("Cookie")


def test_the_program_refuses_what_the_command_refuses(notes: Path, api: str, tmp_path: Path) -> None:
    env = {**token_for(api), **moved(notes, f"{api}/v1")}
    for words, code, text in (
        (["putNote", "id=x", "txt=1"], 2, '/id: "x" is not of type integer'),
        (["putNote", "id=1", "txt=1"], 2, "/txt: is not a parameter; did you mean text?"),
        (["putNote", "id=1"], 2, "/text: is required"),
        (["deleteNote", "id=1"], 2, "--yes"),
        (["getNot", "id=1"], 2, "did you mean getNote"),
        (["getNote", "id=3"], 1, "The redirect is not followed: http://localhost"),
        (["getNote", "id=4"], 1, "Retry-After: 17"),
    ):
        finished = run_script(notes, *words, cwd=tmp_path, env=env)
        assert (finished.exit_code, finished.stdout) == (code, ""), words
        assert text in finished.stderr
        assert "sesame" not in finished.stderr.replace("Bearer sesame-7291", "") or code == 1
    finished = run_script(notes, "getNote", "id=1", cwd=tmp_path, env=moved(notes, api))
    assert next(iter(token_for(api))) in finished.stderr


def test_a_token_with_its_scheme_is_sent_unchanged(notes: Path, api: str, tmp_path: Path) -> None:
    env = dict.fromkeys(token_for(api), "bearer sesame") | moved(notes, f"{api}/v1")
    finished = run_script(notes, "getNote", "id=7", cwd=tmp_path, env=env)
    assert json.loads(finished.stdout)["headers"]["Authorization"] == "[hidden]"
    shown = run_script(notes, "getNote", "id=7", "--dry-run", cwd=tmp_path, env=env)
    assert f"Authorization: Bearer ${next(iter(token_for(api)))}" in shown.stdout
    assert "sesame" not in shown.stdout


def test_no_text_of_a_source_becomes_code() -> None:
    """The program is the same whatever the source says; what it says is in the data."""
    name = json.dumps('"); import os # ${x} \u202e')[1:-1]
    hostile = json.loads(json.dumps(DESCRIPTION).replace("getNote", name))
    hostile["info"]["title"] = '""" + __import__("os").system("id") + """'
    texts = [skillgen.read(source) for source in (DESCRIPTION, hostile)]
    documents = [skillgen.render_documents(service, emit=["skill", "scripts"]) for service in texts]
    programs = [text for item in documents for path, text in item.items() if path.endswith("call.py")]
    assert len(programs) == 2
    assert len(set(programs)) == 1
    compile(programs[0], "call.py", "exec")


@pytest.mark.slow
def test_a_validator_of_skills_finds_no_fault_in_the_program(notes: Path, kiosk: Path) -> None:
    folder = "Scripts" if os.name == "nt" else "bin"
    skillsaw = Path(__file__).parent / ".venvs" / "skillsaw" / folder / "skillsaw"
    for script in (notes, kiosk):
        command = [str(skillsaw), "lint", str(script.parents[3])]
        finished = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert finished.returncode == 0, finished.stdout
        assert re.search(r"Errors: +0\n +Warnings: 0\n", finished.stdout), finished.stdout


@pytest.mark.slow
def test_a_scanner_finds_only_that_the_program_sends_requests(notes: Path, kiosk: Path, tmp_path: Path) -> None:
    """The strict policy; what it reports of every program that speaks HTTP is what this one is for."""
    for script in (notes, kiosk):
        shutil.copytree(script.parents[1], tmp_path / script.parents[1].name)
    scanner = Path(__file__).parent / ".venvs" / "skill-scanner" / ("Scripts" if os.name == "nt" else "bin")
    options = ["--recursive", "--policy", "strict", "--format", "json", "--output", str(tmp_path / "report.json")]
    command = [str(scanner / "skill-scanner"), "scan-all", str(tmp_path), *options]
    finished = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert finished.returncode == 0, finished.stderr
    results = json.loads((tmp_path / "report.json").read_text("utf-8"))["results"]
    expected = {"DATA_EXFIL_NETWORK_REQUESTS", "MANIFEST_MISSING_LICENSE"}
    examples = {"CORRELATED_SENSITIVE_NETWORK_FLOW"}  # commands with the variable of a credential
    found = [{finding["rule_id"] for finding in item["findings"]} for item in results]
    assert found == [expected, expected | examples]
    assert [item["is_safe"] for item in results] == [not examples & rules for rules in found]


def test_patterns_that_take_long_are_not_checked() -> None:
    slow = ["^(a+)+$", "a?" * 90 + "$", "a*a*a*a*b", "(?:" * 99, "[a-z]{1,99}" * 4 + "!", "(a|a)" * 40 + "!"]
    schemas = {f"slow{number}": {"type": "string", "pattern": pattern} for number, pattern in enumerate(slow)}
    plain: dict[str, Any] = {"type": "string", "pattern": "^[a-z]{2,8}-\\d+$"}
    tool = {"name": "find", "inputSchema": {"type": "object", "properties": {**schemas, "plain": plain}}}
    answers = {"initialize": {"serverInfo": {"name": "x", "version": "1"}}, "tools/list": [{"tools": [tool]}]}
    documents = skillgen.render_documents(service_of_answers(answers), emit=["scripts"])
    data = json.loads(documents["skills/x/scripts/tools.json"])
    named = data["tools"]["find"]["schema"]["properties"]
    assert named["plain"] == plain
    assert [named[name]["type"] for name in schemas if "pattern" not in named[name]] == ["string"] * len(slow)


KEYED: dict[str, Any] = inputs("scripts")["keyed"]


def test_a_parameter_that_is_a_credential_comes_from_its_variable(tmp_path: Path) -> None:
    source = write(tmp_path / "keyed.json", KEYED)
    generated("from-openapi", source, "--emit", "skill,scripts", "-o", tmp_path / "out")
    program, env = script_of(tmp_path / "out"), {"SKILL_KEYED_EXAMPLE___API_KEY": "sesame-7291"}
    assert "apiKey=$SKILL_KEYED_EXAMPLE___API_KEY" in (program.parents[1] / "SKILL.md").read_text("utf-8")
    assert "Variables:\nSKILL_KEYED_EXAMPLE___API_KEY\n" in run_script(program, "--list", cwd=tmp_path).stdout

    def both(*words: str, env: dict[str, str]) -> list[Finished]:
        command = run_skillgen("call", source, *words, cwd=tmp_path, env=env)
        return [command, run_script(program, *words, cwd=tmp_path, env=env)]

    for finished in both("listTrains", "--dry-run", env=env):
        assert finished.stdout.startswith("GET https://keyed.example/trains?apiKey=$SKILL_KEYED_EXAMPLE___API_KEY\n")
    for finished in both("listTrains", "--dry-run", "apiKey=mine", env=env):
        assert finished.stdout.startswith("GET https://keyed.example/trains?apiKey=mine\n")
    for finished in both("listTrains", env={}):
        assert (finished.exit_code, "SKILL_KEYED_EXAMPLE___API_KEY" in finished.stderr) == (2, True), finished.stderr
    for finished in both("findSeat", env={}):
        assert (finished.exit_code, "set SKILL_KEYED" in finished.stderr) == (2, True), finished.stderr
    for finished in both("bookSeat", env=env):
        assert (finished.exit_code, "class: is" in finished.stderr) == (2, True), finished.stderr
        assert "apiKey" not in finished.stderr
    for finished in both("bookSeat", "row=4", "class=2", "--dry-run", env=env):
        assert finished.stdout.endswith('\n\n{"row": 4, "class": 2}\n'), finished.stderr
