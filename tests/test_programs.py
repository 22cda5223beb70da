"""`from-cli`: Click, Typer and argparse programs, read from their declarations without running a command."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli import ROOT, Finished, files_of, generated, run_skillgen
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from real_servers import PYPI_BIN

import skillgen
from skillgen import Example, Service, Tool

PROGRAMS = ROOT / "tests" / "programs"

SCRIPTS = Path(sys.executable).parent
NEWER_TYPER = PYPI_BIN / "python"
"""The interpreter of an environment with Typer 0.29."""


def read(target: str, **options: Any) -> Service:
    return skillgen.read(cli=target, cwd=PROGRAMS, python=sys.executable, **options)


@pytest.fixture(scope="module")
def depot() -> Service:
    return read("click_program:cli", program="depot")


@pytest.fixture(scope="module")
def notes() -> Service:
    return read("typer_program:app", program="notes")


@pytest.fixture(scope="module")
def ship() -> Service:
    return read("argparse_program:parser", program="ship")


def tool(service: Service, name: str) -> Tool:
    return next(item for item in service.tools if item.name == name)


def rows(service: Service, name: str) -> dict[str, str]:
    """Returns the lines of the parameters in the section of a command, by the name that they begin with."""
    text = skillgen.render_documents(service, emit=["llms"])["llms-full.txt"]
    section = re.split(rf"\n### {re.escape(name)}\n", text)[1].partition("\n### ")[0]
    return {line.split("`")[1]: line for line in section.splitlines() if line.startswith("- `")}


# -- what is read ----------------------------------------------------------------------------------------------------


def test_a_program_without_commands_is_one_tool() -> None:
    service = skillgen.read(cli="uvicorn.main:main", python=sys.executable)
    assert [(item.name, item.command) for item in service.tools] == [("uvicorn", ("uvicorn",))]
    assert service.parameters == ()


def test_types_of_the_program_itself_are_read() -> None:
    lines = rows(read("own_types:parser", program="tool"), "tool")
    assert lines["--level"] == "- `--level` (string): One of `low`, `high`."
    assert lines["--form"] == "- `--form` (string): Always `plain`."
    login = read("own_types:parser").tools[0].parameters[2]
    assert login.description == (
        "How to log in:\n\n```text\ntool --login me\n```\n\nNobody is asked.\n\nWritten as `USER[:PASS] | TOKEN`."
    )
    assert login.schema.default is None
    lines = rows(read("own_types:command", program="tool"), "tool")
    assert lines["--words"] == "- `--words` (string): All of them. Written as `COMMA SEPARATED LIST`."


STATED = """
import argparse, click, datetime
from typing import Annotated
import typer
day = datetime.datetime(2024, 1, 2)
@click.command()
@click.option(" /--no-cache", "cache", default=True)
@click.option("--level", type=click.IntRange(0, 10, clamp=True), default=5, show_default="medium")
@click.option("--size", nargs=2, metavar="NAME N")
@click.option("--city", help="The city.")
@click.option("--at", type=click.DateTime(["%d.%m.%Y", "%d.%m.%Y %H:%M"]), default=day.replace(hour=9))
@click.option("--from", type=click.DateTime(), default=day.replace(hour=9))
@click.option("--days", type=click.DateTime(["%d.%m.%Y"]), multiple=True, default=[day])
@click.option("--span", type=(click.DateTime(["%d.%m.%Y"]), click.IntRange(1, 5)), help="When, and how long.")
@click.argument("pair", nargs=2, metavar="FROM TO")
def clicked(**values):
    '''Do it.

    Args:
        city: Three letters, such as HEL.
    '''
typed = typer.Typer()
@typed.command()
def on(
    cache: Annotated[bool, typer.Option(" /--no-cache")] = True,
    at: Annotated[datetime.datetime, typer.Option(formats=["%Y-%m-%d"])] = day,
    level: Annotated[int, typer.Option(min=0, max=10, clamp=True, show_default="medium")] = 5,
):
    "Turn on."
parsed = argparse.ArgumentParser("x")
parsed.add_argument("--size", nargs=2, metavar=("W", "H"))
parsed.add_argument("--at", type=datetime.date.fromisoformat, default=day.date())
"""
LINES = {
    "clicked": {
        "--no-cache": "(flag)",
        "--level": "(integer): Default: medium. 0 to 10.",
        "--size": "(string): Exactly 2 items.",
        "--city": "(string): The city. Three letters, such as HEL.",
        "--at": "Default: `02.01.2024 09:00`.",
        "--from": "(`strftime`). Default: `2024-01-02T09:00:00`.",
        "--span": "When, and how long. Exactly 2 items.",
        "--days": 'Default: `["02.01.2024"]`. Repeatable.',
    },
    "typed": {
        "--no-cache": "(flag)",
        "--at": "Written as `%Y-%m-%d` (`strftime`). Default: `2024-01-02`.",
        "--level": "(integer): Default: medium. 0 to 10.",
    },
    "parsed": {"--at": "(string (date)): Default: `2024-01-02`."},
}
USAGES = {"clicked": "[--size NAME N]", "typed": "[--no-cache]", "parsed": "[--size W H]"}


@pytest.mark.parametrize("name", LINES)
def test_a_default_a_range_and_a_text_are_those_of_the_help(name: str, tmp_path: Path) -> None:
    (tmp_path / "stated.py").write_text(STATED, "utf-8")
    service = skillgen.read(cli=f"stated:{name}", cwd=tmp_path, python=sys.executable, program="x")
    found = rows(service, "x")
    assert {option: found[option] for option, end in LINES[name].items() if not found[option].endswith(end)} == {}
    assert USAGES[name] in skillgen.render_documents(service, emit=["llms"])["llms-full.txt"]


def test_hidden_commands_and_options_are_left_out_and_counted(depot: Service, ship: Service) -> None:
    text = json.dumps([skillgen.render_documents(item) for item in (depot, ship)])
    assert "secret" not in text
    assert "--colour" not in text
    assert "--internal" not in text
    found = [(item.code, item.message[:2]) for item in depot.problems if item.code == "hidden-left-out"]
    assert found == [("hidden-left-out", "2 ")]


def test_the_reader_of_programs_needs_no_newer_python_than_3_9() -> None:
    source = (ROOT / "skillgen" / "sources" / "cli" / "tree.py").read_text("utf-8")
    assert ast.parse(source, feature_version=(3, 9)).body


def test_the_section_of_a_command_has_its_complete_usage(tmp_path: Path) -> None:
    options = "".join(f"parser.add_argument('--option-{number}')\n" for number in range(12))
    program = f"import argparse\nparser = argparse.ArgumentParser('many')\n{options}"
    (tmp_path / "many.py").write_text(program, "utf-8")
    service = skillgen.read(cli="many:parser", cwd=tmp_path, python=sys.executable, program="many")
    text = skillgen.render_documents(service, emit=["llms"])["llms-full.txt"]
    assert "[--option-11 OPTION_11]" in text
    assert "[…" not in text


# -- effects ---------------------------------------------------------------------------------------------------------


WRITING = """
import argparse, click, pathlib
clicked, parser = click.Group(), argparse.ArgumentParser("x")
subparsers = parser.add_subparsers()
def add(kinds, name, option, kind, text=None, **named):
    if kinds is click:
        clicked.add_command(click.Command(name, params=[click.Option([option], type=kind, help=text)]))
    else:
        subparsers.add_parser(name).add_argument(option, type=kind, help=text, **named)
add(click, "show-written", "--to", click.File("w"))
add(click, "show-writable", "--to", click.Path(writable=True))
add(click, "show-said", "--to", click.Path(), "Where to write")
add(click, "show-path", "--to", click.Path(), "Where to look")
add(click, "show-file", "--output", click.File(), "The list")
add(argparse, "list-written", "--to", argparse.FileType("w"))
add(argparse, "list-named", "--output", pathlib.Path)
add(argparse, "list-said", "--to-file", str, "File to write, overwritten")
add(argparse, "list-told", "--out", None, "File to write")
add(argparse, "list-value", "--to", None, "Where to write", metavar="FILE")
add(argparse, "list-out", "--output", None, metavar="PATH")
add(argparse, "list-text", "--to", str, "Text to write")
add(argparse, "list-form", "--output", str, "Written form of the file")
add(argparse, "list-file", "--to", argparse.FileType(), "the list")
"""
WRITING_OF_TYPER = """
import pathlib, typer
app = typer.Typer()
@app.command("get-written")
def get_written(to: typer.FileTextWrite): pass
@app.command("get-writable")
def get_writable(to: pathlib.Path = typer.Option("x", writable=True)): pass
@app.command("get-file")
def get_file(to: typer.FileText): pass
"""


@pytest.mark.parametrize(
    ("name", "writing"),
    {
        "clicked": "show-said show-writable show-written",
        "parser": "list-written list-named list-said list-told list-value list-out",
    }.items(),
)
def test_a_command_that_writes_a_file_does_not_only_read(name: str, writing: str, tmp_path: Path) -> None:
    (tmp_path / "writing.py").write_text(WRITING, "utf-8")
    service = skillgen.read(cli=f"writing:{name}", cwd=tmp_path, python=sys.executable, program="x")
    assert [item.name for item in service.tools if item.semantics.effect == "write"] == writing.split()
    assert {item.semantics.effect for item in service.tools} == {"read", "write"}


@pytest.mark.parametrize("python", [sys.executable, NEWER_TYPER])
def test_a_command_of_typer_that_writes_a_file_does_not_only_read(python: str, tmp_path: Path) -> None:
    (tmp_path / "writing.py").write_text(WRITING_OF_TYPER, "utf-8")
    service = skillgen.read(cli="writing:app", cwd=tmp_path, python=str(python), program="x")
    assert {item.name: item.semantics.effect for item in service.tools} == {
        "get-written": "write",
        "get-writable": "write",
        "get-file": "read",
    }


def test_a_flag_with_an_off_switch_and_a_short_y_of_another_ask_nothing(tmp_path: Path) -> None:
    program = "import argparse\nparser = argparse.ArgumentParser('log')\n"
    program += "parser.add_argument('-y', '--year', action='store_true')\n"
    program += "parser.add_argument('--confirm', action=argparse.BooleanOptionalAction)\n"
    (tmp_path / "log.py").write_text(program, "utf-8")
    service = skillgen.read(cli="log:parser", cwd=tmp_path, python=sys.executable, program="log")
    assert [tool.semantics.requires_confirmation for tool in service.tools] == [None]


# -- calls -----------------------------------------------------------------------------------------------------------


def words(service: Service, name: str) -> list[str]:
    """Returns the words of the example call of a command, as a shell reads them, without the program."""
    text = skillgen.render_documents(service, emit=["llms"])["llms-full.txt"]
    section = re.split(rf"\n### {re.escape(name)}\n", text)[1].partition("\n### ")[0]
    line = section.partition("```sh\n")[2].partition("\n```")[0]
    program, *rest = shlex.split(line)
    assert program == service.name
    return rest


def parsed_by_click(command: Any, arguments: list[str]) -> dict[str, Any]:
    """Returns what a Click command would be called with; nothing is run."""
    context = command.make_context("program", list(arguments))
    found = dict(context.params)
    while hasattr(context.command, "resolve_command"):
        rest = [*getattr(context, "_protected_args", ()), *context.args]
        name, inner, rest = context.command.resolve_command(context, rest)
        context = inner.make_context(name, rest, parent=context)
        found |= context.params
    return found


CLICK = """
import click

@click.command()
@click.argument("parcel")
@click.option("--to", type=click.Choice(["north", "south"]), required=True)
@click.option("--count", type=int, required=True, help="How many, e.g. 3.")
def program(parcel, to, count):
    "Send it."
"""
ARGPARSE = """
import argparse

program = argparse.ArgumentParser("program", description="Send it.")
program.add_argument("parcel")
program.add_argument("--to", choices=["north", "south"], required=True)
program.add_argument("--count", type=int, required=True, help="How many, e.g. 3.")
"""


@pytest.mark.parametrize("text", [CLICK, ARGPARSE], ids=["click", "argparse"])
def test_an_example_call_is_accepted_by_its_program(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"sending_{len(text)}"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    program = importlib.import_module(name).program
    service = skillgen.read(cli=f"{name}:program", cwd=tmp_path, python=sys.executable, program="program")
    arguments = words(service, "program")
    values = vars(program.parse_args(arguments)) if text is ARGPARSE else parsed_by_click(program, arguments)
    assert values == {"parcel": "<parcel>", "to": "north", "count": 3}


TEXTS = st.text(
    st.characters(
        codec="utf-8",
        exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn", "Mn", "Zl", "Zp", "Zs"),
        exclude_characters="\u115f\u1160\u3164\uffa0",
    )
)
"""Texts of characters that can be seen; documents leave out the others."""


@given(word=TEXTS | st.sampled_from(["-x", "--", "--to", "a b", "it's", '"', "a;b", "*", "~", "#", "a\\b", "&&", "|"]))
def test_a_shell_reads_each_example_call_back_exactly(word: str, ship: Service) -> None:
    if not word or set(word) & set("$!`@{:") or "##" in word:  # hosts expand these, so documents break them up
        return
    example = Example(input={"box": word, "--level": 3, "--tags": [word, "b"], "--exclude": [word], "--safe": True})
    pack = replace(tool(ship, "pack"), examples=(example,))
    found = words(replace(ship, tools=(pack, *ship.tools[1:])), "pack")
    monkey = importlib.import_module("argparse")
    parser = monkey.ArgumentParser()
    commands = parser.add_subparsers().add_parser("pack")
    commands.add_argument("box")
    commands.add_argument("--level", type=int)
    commands.add_argument("--tags", nargs="+")
    commands.add_argument("--exclude", action="append")
    commands.add_argument("--safe", action="store_true")
    if word.startswith("-"):
        assert found[-2:] == ["--", word]
        assert f"--exclude={word}" in found
    else:
        values = parser.parse_args(found)
        assert vars(values) == {"box": word, "level": 3, "tags": [word, "b"], "exclude": [word], "safe": True}


# -- programs of others ----------------------------------------------------------------------------------------------

OTHERS = [
    *("build.__main__:main_parser", "dotenv.__main__:cli", "httpx:main", "identify.cli:main", "idna.cli:main"),
    *("jsonpath.cli:main", "jsonschema.cli:main", "markdown_it.cli.parse:main", "mcp.cli:app"),
    *("openapi_spec_validator.__main__:main", "pre_commit.main:main", "skills_ref.cli:main", "uvicorn.main:main"),
]

OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
DEFINITION = re.compile(r"^(?:[│|] +(?:\* +)?| {1,8})(?P<names>-[^\n]*?)(?:  |\n|$)", re.MULTILINE)


def options_in_help(text: str) -> set[str]:
    """Returns the long options that a help text defines."""
    found = {name for line in DEFINITION.finditer(text) for name in OPTION.findall(line["names"])}
    return {name for name in found if name.startswith("--")} - {"--help"}


@pytest.mark.slow
@pytest.mark.parametrize("target", OTHERS)
def test_every_option_in_the_help_of_a_program_is_read(target: str) -> None:
    service = skillgen.read(cli=target, python=sys.executable)
    assert service.tools
    for item in service.tools:
        program = shutil.which(item.command[0], path=str(SCRIPTS))
        assert program is not None
        environment = {"PATH": str(SCRIPTS), "COLUMNS": "300", "NO_COLOR": "1", "TERM": "dumb", "HOME": "/"}
        finished = subprocess.run(
            [program, *item.command[1:], "--help"], capture_output=True, text=True, env=environment, check=False
        )
        syntaxes = [(parameter, parameter.syntax) for parameter in item.parameters if parameter.location == "option"]
        read_names = {
            name
            for parameter, syntax in syntaxes
            if syntax is not None
            for name in (parameter.name, *syntax.aliases, *syntax.negations)
            if name.startswith("--")
        }
        shown = options_in_help(finished.stdout)
        assert shown - read_names == set(), item.name
        assert read_names <= set(OPTION.findall(finished.stdout)), item.name


# -- documents, snapshots and projects -------------------------------------------------------------------------------


def from_cli(target: str, *options: object, cwd: Path = PROGRAMS) -> Finished:
    return run_skillgen("from-cli", target, "--python", sys.executable, *options, cwd=cwd)


def test_the_command_line_writes_all_documents_and_checks_them(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert from_cli("typer_program:app", "--program", "notes", "--out", out).exit_code == 0
    assert {"ai-help.md", "llms.txt", "registry.json", "skills/notes/SKILL.md"} <= files_of(out).keys()
    assert from_cli("typer_program:app", "--program", "notes", "--out", out, "--check").exit_code == 0
    from_cli("typer_program:app", "--program", "note", "--out", out, "--check").ended(1)


def test_a_changed_option_is_a_change_for_callers(tmp_path: Path) -> None:
    taken = generated("inspect", "click_program:cli", "--python", sys.executable, cwd=PROGRAMS).stdout
    (tmp_path / "old.json").write_text(taken, "utf-8")
    (tmp_path / "new.json").write_text(taken.replace('"--verbose"', '"--talkative"'), "utf-8")
    changes = generated("diff", tmp_path / "old.json", tmp_path / "new.json").stdout
    assert "- breaking: `click_program: parameter --verbose removed`\n" in changes
    words = ("diff", tmp_path / "new.json", "click_program:cli", "--python", sys.executable)
    assert "- breaking: `click_program: parameter --talkative removed`\n" in generated(*words, cwd=PROGRAMS).stdout


# -- nothing is run --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [
        *("click_program:cli", "click_program:main", "typer_program:app"),
        *("argparse_program:parser", "argparse_program:build_parser", "argparse_program:main"),
    ],
)
def test_no_command_and_no_default_is_run(target: str, tmp_path: Path) -> None:
    for path in PROGRAMS.glob("*.py"):
        shutil.copy(path, tmp_path)
    before = {path.name for path in tmp_path.iterdir()}
    service = skillgen.read(cli=target, cwd=tmp_path, python=sys.executable)
    assert service.tools
    assert {path.name for path in tmp_path.iterdir()} == before


def test_the_interpreter_needs_only_the_program(tmp_path: Path) -> None:
    base = Path(sys.base_prefix, "bin", "python3")
    lists = subprocess.run([base, "-c", "import click"], capture_output=True, check=False)
    shutil.copy(PROGRAMS / "argparse_program.py", tmp_path)
    service = skillgen.read(cli="argparse_program:parser", cwd=tmp_path, python=base)
    assert len(service.tools) == 2
    if lists.returncode:
        with pytest.raises(skillgen.SourceError, match="No module named 'click'"):
            skillgen.read(cli="click_program:cli", cwd=PROGRAMS, python=base)


@pytest.mark.slow
def test_types_are_read_with_and_without_classes_of_click() -> None:
    """The parameters of Typer have types of Click until 0.28, and a descriptor of their annotation since 0.29."""
    older, newer = (
        skillgen.read(cli="typed_program:app", cwd=PROGRAMS, python=python) for python in (sys.executable, NEWER_TYPER)
    )
    assert newer == older
    types = {item.name: (item.schema.items or item.schema).types for item in newer.tools[0].parameters}
    assert types["COATS"] == types["--ids"] == ("integer",)
    assert types["--rate"] == ("number",)
    chosen = {item.name: item.schema.choices for item in newer.tools[0].parameters if item.schema.choices}
    assert chosen == {"--color": ("dark red", "blue"), "--gloss": ("matt", "silk")}


def test_the_active_environment_has_the_program(tmp_path: Path) -> None:
    environment = {"VIRTUAL_ENV": str(SCRIPTS.parent), "PATH": "/nowhere"}
    generated("from-cli", "typer_program:app", "--out", tmp_path / "out", cwd=PROGRAMS, env=environment)


def test_secrets_reach_neither_the_program_nor_the_documents(tmp_path: Path) -> None:
    (tmp_path / "leaks.py").write_text(
        "import argparse, os\nparser = argparse.ArgumentParser('leaks')\n"
        "for name in ('INNER_TOKEN', 'OUTER_TOKEN'):\n"
        "    parser.add_argument('--' + name.lower(), default=os.environ.get(name), help='a token')\n"
    )
    secret, other = "hunter2-of-the-depot", "another-of-the-shell"
    options = ("--env", f"INNER_TOKEN={secret}", "--python", sys.executable, "--out", tmp_path / "out")
    finished = generated("from-cli", "leaks:parser", *options, cwd=tmp_path, env={"OUTER_TOKEN": other})
    written = b"".join(files_of(tmp_path / "out").values()).decode() + finished.stderr
    assert "--inner_token" in written
    assert secret not in written
    assert other not in written


# -- bad programs ----------------------------------------------------------------------------------------------------

BAD: dict[str, tuple[str, str]] = {
    "attribute": ("app = 1\n", "the module bad has no 'parser'"),
    "number": ("parser = 1\n", "not a Click or Typer program or an argparse parser, but an object of type int"),
    "nothing": ("def parser(): pass\n", "not a Click or Typer program or an argparse parser, but None"),
    "needs more": ("def parser(path): pass\n", "cannot be called for one: missing a required argument: 'path'"),
    "raises": ("raise ValueError('no\\nway')\n", "importing bad raises ValueError: no"),
    "syntax": ("def\n", "importing bad raises SyntaxError"),
    "lacks a module": ("import nowhere_to_be_found\n", "raises ModuleNotFoundError: No module named 'nowhere_to"),
    "exits": ("import sys; sys.exit(4)\n", "the module bad exits when it is imported: exit code 4"),
    "exits at once": ("import os; os._exit(3)\n", "exited with 3"),
    "hangs": ("import time; time.sleep(600)\n", "did not finish within 2 s"),
    "runs": ("import argparse; argparse.ArgumentParser().parse_args()\n", "runs the program when it is imported"),
    "runs click": ("import click; click.Command('x')()\n", "runs the program when it is imported"),
    "memory": ("filled = bytearray(5 << 30)\n", "importing bad raises MemoryError"),
    "two parsers": (
        "import argparse\ndef parser():\n    argparse.ArgumentParser(add_help=False).parse_known_args()\n",
        "it first reads some of the arguments with another parser",
    ),
    "call exits": ("def parser(): raise SystemExit(5)\n", "it exits when it is called: exit code 5"),
    "call raises": ("def parser(): 1 / 0\n", "calling it raises ZeroDivisionError: division by zero"),
    "endless": (
        "import click\nclass Endless(click.Group):\n"
        "    def list_commands(self, ctx): return ['a']\n"
        "    def get_command(self, ctx, name): return Endless(name)\n"
        "parser = Endless('x')\n",
        "commands are nested more than 20 levels deep",
    ),
    "too many": (
        "import click\nparser = click.Group(commands={str(i): click.Command(str(i)) for i in range(10001)})\n",
        "the program has more than 10,000 commands",
    ),
    "answers itself": (
        "import os\nfor number in range(3, 9):\n    try: os.write(number, b'{}')\n    except OSError: pass\n"
        "os._exit(0)\n",
        "its commands could not be read",
    ),
}


PARTLY_BAD = """
import argparse, click
class Lazy(click.Group):
    def list_commands(self, context): return ["bad", "good", "gone", "own", "quits"]
    def get_command(self, context, name):
        if name == "bad": raise ImportError("No module named 'heavy'")
        if name == "quits": raise SystemExit(2)
        return {"good": click.Command("good", help="Fine."), "own": self}.get(name)
lazy = Lazy("tool", help="Does things.")
parser = argparse.ArgumentParser("tool")
commands = parser.add_subparsers()
commands.add_parser("good", help="Fine.")
commands.choices["own"] = parser
"""


def test_a_command_that_cannot_be_read_costs_no_other(tmp_path: Path) -> None:
    (tmp_path / "partly.py").write_text(PARTLY_BAD, "utf-8")
    reasons = []
    for target in ("partly:lazy", "partly:parser"):
        service = skillgen.read(cli=target, cwd=tmp_path, python=sys.executable, program="tool")
        assert [item.name for item in service.tools] == ["good"]
        reasons.append([item.message for item in service.problems if item.code == "command-unreadable"])
    of_own = "`own` cannot be read, and is left out: ValueError: it is a part of itself"
    of_bad = "`bad` cannot be read, and is left out: ImportError: No module named 'heavy'"
    assert reasons == [[of_bad, of_own, "`quits` cannot be read, and is left out: exit code 2"], [of_own]]


LATE = """
import click
epilog = "Examples\\n  $ tool fetch a -e MODEL=b\\n  $ tool fetch `pwd` --env-file .env\\n\\nThat is all."
fetch = click.Command("fetch", params=[click.Argument(["key"])], help="Fetch a key.", callback=print, epilog=epilog)
class Late(click.Group):
    def resolve_command(self, context, args):
        name, found, rest = super().resolve_command(context, args)
        return name, fetch if name == "fetch" else found, rest
late = Late("tool", commands={name: click.Command(name) for name in ("fetch", "never")})
late.add_command(click.Command("plain", callback=print))
"""


def test_a_command_loaded_when_it_is_called_and_its_examples_are_read(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(LATE, "utf-8")
    service = skillgen.read(cli="late:late", cwd=tmp_path, python=sys.executable, program="tool")
    assert [*rows(service, "fetch")] == ["KEY"]
    text = skillgen.render_documents(service, emit=["llms"])["llms-full.txt"]
    assert "Fetch a key.\n\nThat is all." in text
    assert "```text\n$ tool fetch a -e MODEL=b\n$ tool fetch `pwd` --env-file .env\n```" in text
    assert "`tool never …`\n\nWhat it takes is not declared." in text
    assert "`tool plain`\n\nNo parameters." in text


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
def test_a_bad_program_is_one_clear_error(name: str, tmp_path: Path) -> None:
    source, message = BAD[name]
    (tmp_path / "bad.py").write_text(source)
    finished = from_cli("bad:parser", "--timeout", 2, "--out", tmp_path / "out", cwd=tmp_path).ended(3, message)
    assert "Traceback" not in finished.stderr
    assert finished.stdout == ""
    assert not (tmp_path / "out").exists()


def test_what_a_program_prints_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "import argparse, sys\nprint('{' * 100_000, flush=True)\nsys.stderr.write('x' * 100_000)\n"
        "parser = argparse.ArgumentParser('loud')\nparser.add_argument('what')\n"
    )
    from_cli("loud:parser", "--out", tmp_path / "out", cwd=tmp_path).ok()


@pytest.mark.parametrize("target", ["acme", "acme:", ":app", "acme/cli.py:app", "a b:c", "acme:app()"])
def test_a_program_is_named_by_module_and_attribute(target: str, tmp_path: Path) -> None:
    from_cli(target, "--out", tmp_path / "out").ended(2, "is not of the form MODULE:APP")


def test_a_missing_module_names_the_way_to_another_interpreter(tmp_path: Path) -> None:
    from_cli("no_such_module.cli:app", "--out", tmp_path / "out").ended(
        3, "there is no module 'no_such_module.cli'", "--python PATH"
    )


def test_a_program_without_a_script_is_started_as_a_module(depot: Service) -> None:
    assert [item.code for item in depot.problems if item.code == "command-unknown"] == []
    unknown = read("click_program:cli")
    assert tool(unknown, "run").command == ("python", "-m", "click_program", "run")
    assert [item.fix for item in unknown.problems if item.code == "command-unknown"] == [
        "name the command with --program"
    ]


def test_a_script_of_the_same_module_with_the_name_of_its_package(tmp_path: Path) -> None:
    """Its homepage is no command line, a picture is no summary, and an off-switch is no short name."""
    (tmp_path / "crates").mkdir()
    option = "@click.option('-c/-C', '--current/--no-current', default=None)"
    text = f"import click\n@click.command()\n{option}\ndef cli(current): '''_  _ __|\\n|_| |__'''\n"
    (tmp_path / "crates" / "cli.py").write_text(text, "utf-8")
    (tmp_path / "crates-1.dist-info").mkdir()
    (tmp_path / "crates-1.dist-info" / "METADATA").write_text(
        "Name: crates\nSummary: Packs boxes for a long transport\nHome-page: https://crates.example/\n"
    )
    scripts = "[console_scripts]\nicrates = crates.cli:other\ncrates = crates.cli:main\n"
    (tmp_path / "crates-1.dist-info" / "entry_points.txt").write_text(scripts, "utf-8")
    service = skillgen.read(cli="crates.cli:cli", cwd=tmp_path, python=sys.executable)
    skill = skillgen.render_documents(service, emit=["skill"])["skills/crates/SKILL.md"]
    assert "crates [--current|--no-current]" in skill
    assert "Homepage: `https://crates.example/`" in skill
    assert "description: Packs boxes for a long transport." in skill
