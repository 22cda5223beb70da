"""The flag --ai-help: skillgen's own, and that which `skillgen.ai_help` adds to a Click or Typer program."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
import typer
import yaml
from cli import ROOT, run_python, run_skillgen
from click.testing import CliRunner
from documents import SECTIONS_OF_AI_HELP
from typer.testing import CliRunner as TyperRunner

import skillgen

SCHEMA = Path(__file__).parent / "specifications/dashdash/dashdash-frontmatter-cli.schema.json"


def test_it_goes_to_standard_output_whatever_else_is_given() -> None:
    """S0-39: eager, standard output, exit 0."""
    finished = run_skillgen("--ai-help", "from-openapi", "no-such-file.json")
    assert finished.exit_code == 0
    assert finished.stdout.startswith("---\nname: skillgen\n")
    assert finished.stderr == ""


def test_help_mentions_it() -> None:
    """S0-39: the help text and its options name the flag."""
    finished = run_skillgen("--help")
    assert "run 'skillgen --ai-help'" in " ".join(finished.stdout.split())
    assert re.search(r"^\s*--ai-help\s", finished.stdout, re.MULTILINE)


def test_it_has_the_front_matter_and_the_ten_sections_of_the_profile() -> None:
    """S0-30, S0-32."""
    text = run_skillgen("--ai-help").stdout
    _, front, body = text.split("---\n", 2)
    jsonschema.validate(yaml.safe_load(front), json.loads(SCHEMA.read_text("utf-8")))
    assert [title for title in re.findall(r"^## (.*)$", body, re.MULTILINE) if title in SECTIONS_OF_AI_HELP] == list(
        SECTIONS_OF_AI_HELP
    )


def test_it_names_every_command_and_every_option() -> None:
    text = run_skillgen("--ai-help").stdout
    for command in (
        "from-server",
        "from-openapi",
        "from-cli",
        "build",
        "call",
        "diff",
        "inspect",
        "lint",
        "logout",
        "rule",
        "templates",
    ):
        assert f"`skillgen {command} " in text
        options = set(re.findall(r"(--[a-z-]+)", run_skillgen(command, "--help").stdout)) - {"--help"}
        assert {option for option in options if option not in text} == set()


def test_each_command_has_its_own_help_without_front_matter() -> None:
    """S0-38: only what concerns the command, and where the rest is."""
    for words in (["from-cli"], ["inspect"], ["templates", "list"], ["templates", "show"], ["rule"]):
        finished = run_skillgen(*words, "--ai-help", "no-such-argument")
        assert finished.exit_code == 0
        assert finished.stdout.startswith(f"# {' '.join(words)}\n\nA command of skillgen.")
        assert "`skillgen --ai-help`" in finished.stdout
        assert f"\n`skillgen {' '.join(words)}" in finished.stdout
        shown = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", run_skillgen(*words, "--help").stdout, re.MULTILINE))
        assert {name for name in shown - {"--help", "--ai-help"} if f"`{name}`" not in finished.stdout} == set()


def test_its_examples_are_accepted_by_the_options_of_the_commands() -> None:
    lines = re.findall(r"^skillgen [a-z-]+ [^`\n]*", run_skillgen("--ai-help").stdout, re.MULTILINE)
    assert len(lines) > 20
    for line in lines:
        words = re.split(r" -- | \|\| ", line)[0].split()
        known = run_skillgen(words[1], "--help").stdout
        assert {word for word in words if word.startswith("--") and word not in known} == set()


def test_it_names_every_format() -> None:
    text = run_skillgen("--ai-help").stdout
    help_text = re.sub(r"(?<=\w-)\n +", "", run_skillgen("from-openapi", "--help").stdout)
    offered = re.search(r"Comma-separated, of (\S+)\.", " ".join(help_text.split()))
    assert offered is not None
    assert set(offered[1].split(",")) <= set(re.split(r"[,`.\s]+", text))


# -- programs of others ----------------------------------------------------------------------------------------------


def program(name: str, attribute: str) -> Any:
    """Returns a program of tests/programs, which no other test has changed."""
    spec = importlib.util.spec_from_file_location(f"own_{name}", ROOT / "tests" / "programs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, attribute)


def run(app: Any, *words: str, name: str) -> tuple[int, str]:
    runner: Any = TyperRunner() if isinstance(app, typer.Typer) else CliRunner()
    finished = runner.invoke(app, words, prog_name=name)
    return finished.exit_code, finished.output


PROGRAMS = {"depot": ("click_program", "cli"), "notes": ("typer_program", "app")}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gets_the_flag_by_one_call(name: str) -> None:
    """S0-30, S0-32, S0-39: eager, whatever is missing or wrong."""
    app = program(*PROGRAMS[name])
    assert skillgen.ai_help(app) is app
    code, text = run(app, "--ai-help", "no-such-command", name=name)
    assert code == 0, text
    _, front, body = text.split("---\n", 2)
    jsonschema.validate(yaml.safe_load(front), json.loads(SCHEMA.read_text("utf-8")))
    titles = re.findall(r"^## (.*)$", body, re.MULTILINE)
    assert [title for title in titles if title in SECTIONS_OF_AI_HELP] == list(SECTIONS_OF_AI_HELP)
    code, text = run(app, "--help", name=name)
    assert "LLMs/agents: run it with --ai-help" in " ".join(text.split())
    assert "Show comprehensive usage guide" in " ".join(text.split())


@pytest.mark.parametrize(("name", "command", "group"), [("depot", "send", "stock"), ("notes", "add", "tags")])
def test_its_commands_and_groups_get_the_flag_too(
    name: str, command: str, group: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S0-38; without the options that the groups above it require, and without running their functions."""
    monkeypatch.chdir(tmp_path)
    app = skillgen.ai_help(program(*PROGRAMS[name]))
    code, text = run(app, command, "--ai-help", name=name)
    assert (code, text.partition("\n")[0]) == (0, f"# {command}")
    assert f"are in the global help, `{name} --ai-help`." in text
    assert "`--ai-help`" not in text.replace(f"`{name} --ai-help`", "")
    code, text = run(app, group, "--ai-help", name=name)
    assert (code, [*tmp_path.iterdir()]) == (0, [])
    assert {line.split()[1] for line in text.splitlines() if line.startswith("# ")} == {group}


def test_a_program_with_a_single_command_gets_the_flag() -> None:
    plain = skillgen.ai_help(click.Command("weigh", params=[click.Argument(["box"])], help="Weigh a box."))
    short = typer.Typer(add_completion=False)
    short.command()(lambda: None)
    skillgen.ai_help(short)
    for app in (plain, short):
        code, text = run(app, "--ai-help", name="weigh")
        assert (code, text.partition("\n# ")[2].partition("\n")[0]) == (0, "weigh")
        assert "run it with --ai-help" in run(app, "--help", name="weigh")[1]


def test_the_texts_of_the_project_file_count(tmp_path: Path) -> None:
    file = tmp_path / "skillgen.yaml"
    file.write_text("targets: {depot: {source: {cli: 'a:b'}, when-to-use: [send a parcel]}}\n", "utf-8")
    app = skillgen.ai_help(program(*PROGRAMS["depot"]), config=file)
    assert "- send a parcel\n" in run(app, "--ai-help", name="depot")[1]
    file.write_text("targets: {depot: {source: {openapi: openapi.yaml}}}\n", "utf-8")
    code, text = run(app, "--ai-help", name="depot")
    assert (code, "has no target 'depot' with `cli`; name a target" in text) == (2, True)


def test_a_command_that_cannot_be_imported_costs_only_its_own_text() -> None:
    class Lazy(click.Group):
        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
            if cmd_name == "bad":
                raise ImportError("No module named 'heavy'")
            return super().get_command(ctx, cmd_name)

    app = skillgen.ai_help(Lazy("tool", commands={name: click.Command(name, help="Fine.") for name in ("bad", "good")}))
    code, text = run(app, "--ai-help", name="tool")
    assert (code, "`tool good" in text, "tool bad" in text) == (0, True, False)
    code, text = run(app, "bad", "--ai-help", name="tool")
    assert (code, "--ai-help: 'bad' cannot be read: ImportError: No module named 'heavy'" in text) == (2, True)


def test_the_flag_costs_a_program_no_import() -> None:
    finished = run_python("-c", "import sys, skillgen; skillgen.ai_help; print(*sorted(sys.modules))")
    modules = finished.stdout.split()
    assert [name for name in modules if name.startswith("skillgen.")] == ["skillgen.cli", "skillgen.cli.ai_help"]
    assert not {"typer", "click", "msgspec", "yaml", "jinja2", "json"} & {*modules}


def test_only_a_program_with_commands_gets_the_flag() -> None:
    with pytest.raises(TypeError, match="takes a Click or Typer program, not int"):
        skillgen.ai_help(3)
    with pytest.raises(TypeError, match="call it after the first is declared"):
        skillgen.ai_help(typer.Typer())
