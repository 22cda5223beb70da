"""The flag --ai-help of skillgen and of its commands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import yaml
from cli import generated, run_skillgen
from documents import SECTIONS_OF_AI_HELP

SCHEMA = Path(__file__).parent / "specifications/dashdash/dashdash-frontmatter-cli.schema.json"


def test_it_goes_to_standard_output_whatever_else_is_given() -> None:
    """S0-39: eager, standard output, exit 0."""
    finished = generated("--ai-help", "from-openapi", "no-such-file.json")
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


COMMANDS = (
    *("from-server", "from-openapi", "from-cli", "init", "build", "draft", "lint", "rule", "inspect", "diff", "call"),
    *("mock", "eval", "logout", "registry build", "templates list", "templates show"),
)


def test_it_names_every_command_and_each_of_these_its_options() -> None:
    """It has at most 3,000 tokens, so that the options are in the help of each command."""
    text = run_skillgen("--ai-help").stdout
    assert len(text.encode("utf-8")) <= 12_000
    for command in COMMANDS:
        assert f"`skillgen {command}" in text
        own = run_skillgen(*command.split(), "--ai-help").stdout
        options = set(re.findall(r"(--[a-z-]+)", run_skillgen(*command.split(), "--help").stdout)) - {"--help"}
        assert {option for option in options - {"--ai-help"} if option not in own} == set(), command


def test_each_command_has_its_own_help_without_front_matter() -> None:
    """S0-38: only what concerns the command, and where the rest is."""
    for words in (["from-cli"], ["inspect"], ["templates", "list"], ["templates", "show"], ["rule"]):
        finished = generated(*words, "--ai-help", "no-such-argument")
        assert finished.stdout.startswith(f"# {' '.join(words)}\n\nA command of skillgen.")
        assert "`skillgen --ai-help`" in finished.stdout
        assert f"\n`skillgen {' '.join(words)}" in finished.stdout


def test_its_examples_are_accepted_by_the_options_of_the_commands() -> None:
    texts = [run_skillgen(*command.split(), "--ai-help").stdout for command in ("", *COMMANDS)]
    lines = re.findall(r"^skillgen [a-z-]+ [^`\n]*", "\n".join(texts), re.MULTILINE)
    assert len(lines) > 20
    for line in lines:
        words = re.split(r" -- | \|\| ", line)[0].split()
        is_group = words[1] in ("registry", "templates")
        known = run_skillgen(*words[1 : 3 if is_group else 2], "--help").stdout
        assert {word for word in words if word.startswith("--") and word not in known} == set()


def test_the_help_of_a_command_names_every_format() -> None:
    text = run_skillgen("from-openapi", "--ai-help").stdout
    help_text = re.sub(r"(?<=\w-)\n +", "", run_skillgen("from-openapi", "--help").stdout)
    offered = re.search(r"Comma-separated, of (\S+)\.", " ".join(help_text.split()))
    assert offered is not None
    assert set(offered[1].split(",")) <= set(re.split(r"[,`.\s]+", text))


def test_ai_help_md_keeps_its_limit_whatever_the_last_scan_adds(tmp_path: Path) -> None:
    """S0-30: under 3,000 tokens in the bytes that are written, also with long names, examples and host forms."""
    for length, mark in ((8, "@/a"), (40, "@/a @/b"), (120, "plain"), (300, "@/a @/b @/c @/d")):
        folder = "segment-" * (length // 8)
        paths = {
            f"/{folder}/thing{number}/{{id}}": {
                "get": {
                    "summary": f"Read {mark} {number}",
                    "parameters": [
                        {
                            "name": "id",
                            "in": "path",
                            "required": True,
                            "schema": {"type": "string"},
                            "example": "x" * 90,
                        }
                    ],
                    "responses": {"200": {"description": f"The thing {mark}"}},
                }
            }
            for number in range(25)
        }
        description = tmp_path / f"{length}.json"
        description.write_text(
            json.dumps({"openapi": "3.1.0", "info": {"title": "Things", "version": "1"}, "paths": paths})
        )
        out = tmp_path / str(length)
        assert run_skillgen("from-openapi", str(description), "--out", str(out)).exit_code == 0
        assert len((out / "ai-help.md").read_bytes()) <= 12_000, length
