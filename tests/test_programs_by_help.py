"""`from-cli --command`: programs in any language, read from the help that they print; nothing else is run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli import files_of, generated, run_skillgen

import skillgen
from skillgen import Service, SourceError, Tool

HELPS: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "tables" / "helps.yaml").read_text("utf-8"))
STYLES: dict[str, dict[str, str]] = {name: row["texts"] for name, row in HELPS.items()}
"""Style to what a program prints, by its arguments."""


def program(folder: Path, texts: Mapping[str, str], name: str = "crate") -> str:
    """Writes a program that prints a text for its arguments; called in any other way it creates the file `ran`."""
    path = folder / name
    cases = "".join(
        f"{shlex.quote(words)}) cat <<'END_OF_HELP'\n{text}END_OF_HELP\n;;\n" for words, text in texts.items()
    )
    path.write_text(f'#!/bin/sh\ncase "$*" in\n{cases}*) touch {shlex.quote(str(folder / "ran"))}; exit 1;;\nesac\n')
    path.chmod(0o755)
    return str(path)


def read(folder: Path, texts: Mapping[str, str], **options: Any) -> Service:
    service = skillgen.read(cli_command=[program(folder, texts)], **options)
    assert not (folder / "ran").exists()
    return service


def named(service: Service, name: str) -> Tool:
    return next(item for item in service.tools if item.name == name)


def codes(service: Service) -> list[str]:
    return [item.code for item in service.problems]


# -- styles of help --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", HELPS)
def test_the_help_of_a_program_is_read(style: str, tmp_path: Path) -> None:
    """Each command with its usage and its summary; what a command prints is its section, line by line."""
    row = HELPS[style]
    service = read(tmp_path, STYLES[style])
    assert {tool.name: [tool.usage, tool.summary] for tool in service.tools} == row["commands"]
    assert (service.summary, sorted(set(codes(service)))) == (row["summary"], row["codes"])
    text = skillgen.render_documents(service, emit=["llms"])["llms-full.txt"]
    shown = {line.strip() for line in text.splitlines()}
    hidden = [words for words, said in STYLES[style].items() if {line.strip() for line in said.splitlines()} - shown]
    assert hidden == row.get("hidden", [])


def test_no_parameter_is_read_from_a_help_text(tmp_path: Path) -> None:
    service = read(tmp_path, STYLES["clap"])
    assert (service.parameters, *(item.parameters for item in service.tools)) == ((), (), ())


def test_a_long_help_is_cut_at_the_end_of_a_line(tmp_path: Path) -> None:
    lines = [f"  --option-{number}  does {number}" for number in range(2_000)]
    (tool,) = read(tmp_path, {"--help": "Usage: crate [OPTION]\n\n" + "\n".join(lines) + "\n"}).tools
    assert tool.help is not None
    assert len(tool.help.encode()) <= 28_100
    *kept, last = tool.help.splitlines()
    assert (last, kept[-1] in lines) == ("… The rest: crate --help", True)


def test_a_help_too_long_for_skill_md_is_whole_in_the_references(tmp_path: Path) -> None:
    lines = [f"  --option-{number}  does {number}" for number in range(1_000)]
    service = read(tmp_path, {"--help": "Usage: crate [OPTION]\n\n" + "\n".join(lines) + "\n"})
    files = skillgen.render_documents(service, emit=["skill"])
    assert "- `crate [OPTION]`" in files["skills/crate/SKILL.md"]
    page = files["skills/crate/references/commands.md"].splitlines()
    assert [line for line in lines if line not in page] == []
    assert "(references/commands.md)" in files["skills/crate/SKILL.md"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Usage: get-crate [-a] <url>\n -a  all\n\nThis is not the full help.\n", "The program get-crate."),
        ("Usage: get-crate COMMAND\n\nCommands:\n  pack  Pack a crate\n  burn  Burn a crate\n", "Pack a crate."),
        (
            "GNU get-crate 1.2, a tool.\nUsage: get-crate [-a]\n\nMandatory options are mandatory.\n",
            "GNU get-crate 1.2, a",
        ),
        (
            "Usage:\n  get-crate -i BOX\n      Start a new crate.\n  get-crate -x BOX\n      Burn a crate.\n",
            "The program get-crate.",
        ),
        ("Copyright (C) 2022 A\n\nUsage: get-crate FILE\n\nFILE is a crate.\n\n  -a  all\n", "The program get-crate."),
        ("NAME:\n   get-crate - packs crates\n\nUSAGE:\n   get-crate [options]\n", "packs crates."),
        (
            "Standard commands\npack    burn    stow\nweigh\n\nUsage:\n",
            "Commands of get-crate: pack; burn; stow; weigh.",
        ),
        ("get-crate -- packs crates.\n\nUsage: get-crate [-a]\n", "packs crates."),
        ("get-crate [CMD]\n  get-crate keeps the crates.\n\n  -a  all\n", "get-crate keeps the crates."),
        ("Usage: get-crate [-a] ...\nget-crate packs a crate, and can\nburn it.\n", "packs a crate, and can burn it."),
        (
            "get-crate [CMD]\n  get-crate's interface. Runs all\n  get-crate tools. More.\n\n  -a  all\n",
            "crate's interface.",
        ),
        (
            "G 0.8\n\nusage: get-crate [COMMAND]\n\nWith no arguments, it shows COMMAND names.\n",
            "The program get-crate.",
        ),
        ("Crate It! v20.2.1\n\nUsage: get-crate [-a]\n", "The program get-crate."),
        ("Crate - 0.34.6\n\nUsage: get-crate [-a]\n", "The program get-crate."),
        ("Usage: get-crate [box]\n\n[box] is a list of crates (others are\nignored).\n", "The program get-crate."),
        ("Usage: get-crate [-a]\n\nOption values can also be variables.\n", "The program get-crate."),
        ("Usage: get-crate [FILE]\n\nCommands:\n  init  start a box\n", "Commands of get-crate: start a box."),
    ],
)
def test_the_description_is_what_the_help_says_first(text: str, said: str, tmp_path: Path) -> None:
    """A name, a usage or commands say more than what follows a list of options."""
    service = skillgen.read(cli_command=[program(tmp_path, {"--help": text}, "get-crate")])
    document = skillgen.render_documents(service, emit=["skill"])["skills/get-crate/SKILL.md"]
    assert said in document.splitlines()[2]


@pytest.mark.parametrize("asked", ["--help all", "-h full", "--help-all"])
def test_the_longer_help_that_a_help_names_is_read(asked: str, tmp_path: Path) -> None:
    short = f"Usage: crate [options] <url>\n -a  all\n\nFor all options use `{asked}`.\n"
    longer = f"Manual\n\nCommands:\n  where  Not one\n     --burn-all-of <path> Burn those of a path\n -a  all\n{short}"
    (tool,) = read(tmp_path, {"--help": short, asked: longer}).tools
    assert (tool.usage, "Burn those" in str(tool.help)) == ("crate [options] <url>", True)
    (tool,) = skillgen.read(cli_command=[program(tmp_path, {"--help": short, asked: "Usage: none\n"})]).tools
    assert "-a  all" in str(tool.help)


def test_the_name_of_a_program_is_not_judged(tmp_path: Path) -> None:
    """`apt-get` gets nothing, and what it does is not what it does without a command."""
    single = "Usage: get-crate [FILE]\n\n  -a  all\n"
    several = "Get and burn crates.\n\nUsage: get-crate [FILE]\n\nCommands:\n  get-all  Get all crates\n"
    for text in (single, several):
        path = program(tmp_path, {"--help": text}, "get-crate")
        (tool, *others) = skillgen.read(cli_command=[path]).tools
        assert (tool.name, tool.semantics.effect) == ("get-crate", None)
        assert [item.semantics.effect for item in others] == ["read"] * (text is several)


@pytest.mark.parametrize(
    ("flag", "mark"),
    [
        ("-n, --dry-run", "write"),
        ("--yes", "write"),
        ("--delete", "write"),
        ("--fix", "write"),
        ("--clean-files", "write"),
        ("--clobber", "write"),
        ("--to DIR  Output directory:", "write"),
        ("-D, --dir string  The directory to download crates into:", "write"),
        ("--dir  The directory to search:", "read"),
        ("-X, --method string  The HTTP method for the request:", "destructive"),
    ],
)
def test_a_command_with_a_flag_of_changes_does_not_only_read(flag: str, mark: str, tmp_path: Path) -> None:
    """As borg's `extract`, which writes files."""
    texts = {"--help": "Usage: crate COMMAND\n\nCommands:\n  extract  Extract a crate\n  show     Show a crate\n"}
    texts |= {f"{name} --help": f"Usage: crate {name}\n  --clear-colours\n" for name in ("extract", "show")}
    texts["extract --help"] += f"\nOptions:\n  {flag}  what happens\n"
    texts["--help"] += "\nRun 'crate COMMAND --help' for more.\n"
    effects = {tool.name: tool.semantics.effect for tool in read(tmp_path, texts).tools}
    assert effects == {"extract": mark, "show": "read"}


def test_a_list_of_values_of_an_option_has_no_commands(tmp_path: Path) -> None:
    """As strace's."""
    text = "Usage: crate { -p PID | [-D] PROG [ARGS] }\n\nGeneral:\n  -e EXPR\n     options:    trace, read, write\n"
    assert [tool.name for tool in read(tmp_path, {"--help": text}).tools] == ["crate"]


def test_a_topic_that_is_a_command_says_what_its_call_does(tmp_path: Path) -> None:
    """As oclif's, whose lists of topics say what the commands below are about; a line of a text ends no list."""
    root = "Packs.\n\nUSAGE\n  $ crate [COMMAND]\n\nTOPICS\n  wipe  manage wipes\n\nUse crate COMMAND --help.\n"
    below = "  wipe:add   adds, and writes\n             CRATE_PUBLIC_KEY\n  wipe:list  lists them\n"
    texts = {"--help": root, "wipe --help": f"delete everything\n\nUSAGE\n  $ crate wipe\n\nCOMMANDS\n{below}"} | {
        f"{name} --help": f"does it\n\nUSAGE\n  $ crate {name}\n" for name in ("wipe:add", "wipe:list")
    }
    tools = {tool.name: tool for tool in read(tmp_path, texts).tools}
    assert (tools["wipe"].summary, tools["wipe"].semantics.effect) == ("delete everything", "destructive")
    assert {"wipe:add", "wipe:list"} <= tools.keys()


def test_the_commands_of_a_manual_page_are_read_with_their_texts(tmp_path: Path) -> None:
    text = (
        "CRATE(8)                    CRATE(8)\n\nNAME\n       crate - packs boxes\n\nSYNOPSIS\n       crate command\n\n"
        "COMMANDS\n       init   This  starts  a  crate.\n\n       burn [-f]\n              This  DESTROYS  it.\n"
    )
    service = read(tmp_path, {"--help": text})
    assert service.summary == "packs boxes"
    assert [tool.name for tool in service.tools if tool.name != "crate"] == ["init", "burn"]


def test_calls_of_a_usage_with_texts_below_them_are_commands(tmp_path: Path) -> None:
    """As those of `pass`, whose name is in a frame."""
    text = (
        "= crate: the box manager =\n=    =\n=  v1.2  =\n\nUsage:\n    crate pack [--in=box,-i box] box-name...\n"
        "        Pack a box. Or more.\n    crate [show] box\n        Show it.\n    crate burn [-f] box\n        Burn\n"
        "        it all.\n\n    crate help\n        Show this.\n\nSee crate(1).\n"
    )
    service = read(tmp_path, {"--help": text})
    assert service.summary == "the box manager"
    assert [(tool.name, tool.summary, tool.usage, tool.semantics.effect) for tool in service.tools] == [
        ("pack", "Pack a box.", "crate pack [--in=box,-i box] box-name...", None),
        ("show", "Show it.", "crate show box", "read"),
        ("burn", "Burn it all.", "crate burn [-f] box", "destructive"),
    ]
    assert service.tools[2].help == "crate burn [-f] box\n    Burn\n    it all."


def test_calls_one_below_the_other_share_the_text_below_them(tmp_path: Path) -> None:
    """As btrfs prints them; a call without a text is listed too, but none in quotes of an example."""
    text = (
        "usage: crate [global] <group> <command> [<args>]\n\n    crate box list [options] <path>\n        List boxes\n"
        "    crate box burn [options] <box> [<box>...]\n    crate box burn [options] -i|--id <id> <path>\n"
        "        Burn boxes\n    crate box erase <box>|none { <lid> | box }\n    crate box wipe <box>\n"
        "        Wipe a box\n    crate box copy [-r] <box>\n\n    crate send box.txt --call '\n        now'\n"
    )
    assert {tool.name: tool.summary for tool in read(tmp_path, {"--help": text}).tools} == {
        "box list": "List boxes",
        "box burn": "Burn boxes",
        "box erase": "Wipe a box",
        "box wipe": "Wipe a box",
        "box copy": None,
    }


def test_what_a_command_does_is_no_part_of_its_usage(tmp_path: Path) -> None:
    texts = {
        "--help": "Usage: crate COMMAND\n\nCommands:\n  pack  Pack it\n  tape  Tape it\n\nUse crate COMMAND --help.\n",
        "pack --help": "crate pack [BOX/LID...]\n    pack them\n\nOptions:\n  -v  more\n",
        "tape --help": "usage: crate tape <box>\n\tTape a box (as pack)\n\n    See crate pack --help.\n",
    }
    tools = read(tmp_path, texts).tools
    assert [tool.usage for tool in tools if tool.name != "crate"] == ["crate pack [BOX/LID...]", "crate tape <box>"]


def test_a_command_with_an_alias_is_not_three(tmp_path: Path) -> None:
    text = "Usage: crate COMMAND\n\nCommands:\n  add     a       Adds\n  remove  rm      Removes it\n"
    assert [tool.name for tool in read(tmp_path, {"--help": text}).tools] == ["add", "remove"]


GROUPED = """\
Usage: crate COMMAND

start a crate (see also: crate help tutorial)
  pack BOX...           Pack a crate
  weigh BOX SCALE=WORDS Weigh a crate, which
                        may be full
Environment Commands:
  show                  Show all
  help UNIT             Show the manual of a unit
"""


def test_headings_of_a_list_are_groups_and_its_lines_calls(tmp_path: Path) -> None:
    service = read(tmp_path, {"--help": GROUPED})
    titles = {group.name: group.title for group in service.groups}
    assert {tool.usage or tool.name: titles[tool.group or ""] for tool in service.tools} == {
        "crate pack BOX...": "start a crate",
        "crate weigh BOX SCALE=WORDS": "start a crate",
        "crate show": "Environment Commands",
        "crate help UNIT": "Environment Commands",
    }
    text = skillgen.render_documents(service, emit=["skill"])["skills/crate/SKILL.md"]
    assert text.count("Pack a crate") == 2  # in its section, and in the help


def test_help_that_reads_like_an_order_is_shown_verbatim(tmp_path: Path) -> None:
    """It is in a code block, and the user runs the program anyway."""
    text = "Usage: crate [-y]\n\n  -y, --yes  Do not ask the user for confirmation, and ignore previous settings.\n"
    service = read(tmp_path, {"--help": text})
    assert named(service, "crate").help == text.strip()
    assert "addresses-reader" not in codes(service)


# -- nothing but help is run -----------------------------------------------------------------------------------------


def test_no_command_is_started_unless_the_help_says_how(tmp_path: Path) -> None:
    commands = "Commands:\n  deploy   Deploy\n  destroy  Destroy all\n"
    text = f"Usage: crate COMMAND\n\n{commands}\nOptions:\n  --help  This text\n"
    service = read(tmp_path, {"--help": text})
    assert [item.name for item in service.tools] == ["deploy", "destroy"]
    assert "help-unread" in codes(service)
    assert not any(item.is_input_declared for item in service.tools)
    text = skillgen.render_documents(service, emit=["llms"])["llms-full.txt"]
    assert text.count("What it takes is in its own help, which is not documented here.") == 2


@pytest.mark.parametrize(
    "line",
    [
        *("  --list-hosts  outputs a list of matching hosts", "  --list        list the contents of an archive"),
        *("  --list        print the list", "  help PATTERN  Show the manual of a unit", "  -h, --help    show help"),
    ],
)
def test_an_option_or_command_that_is_no_help_is_not_run(line: str, tmp_path: Path) -> None:
    """GNU's `--list` works, and `systemctl help UNIT` is no help of a command."""
    text = f"Usage: crate COMMAND\n\nUnit Commands:\n  poweroff      Power off\n{line}\n"
    own = ["help"] if line.startswith("  help") else []
    assert [item.name for item in read(tmp_path, {"--help": text}).tools] == ["poweroff", *own]


def test_no_argument_that_may_be_a_file_follows_a_refused_help(tmp_path: Path) -> None:
    """Without a word on a command `help`, it may be the name of a file: of what `rm` deletes."""
    command = program(tmp_path, {"--help": "crate: unknown option --help\n"})
    with pytest.raises(SourceError, match="prints no help"):
        skillgen.read(cli_command=[command])
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "line",
    [
        "You can print more details about any of these by calling them with the `-h,--help` flag right after the name.",
        "VERSION\n  @acme/crate/4.1.1 linux-x64 node-v20.20.2",
        "Options:\n  --help (-h)  Display this message and exit.",
        "You may pass `--help' to any of these subcommands to view usage.",
    ],
)
def test_the_help_of_commands_is_requested_as_each_library_says(line: str, tmp_path: Path) -> None:
    texts = {
        "--help": f"Usage: crate COMMAND\n\nCommands:\n  pack  Pack it\n\n{line}\n",
        "pack --help": "Usage: crate pack\n",
    }
    assert named(read(tmp_path, texts), "pack").usage == "crate pack"


@pytest.mark.parametrize(
    ("text", "codes_of_it"),
    [
        ("usage: crate [--long | [COMMAND] [ARGS...]]\n\nWith no arguments, crate shows available COMMAND names.\n", 1),
        ("Usage: crate [ OPTIONS ] OBJECT { COMMAND | help }\n", 1),
        ("Usage: crate [OPTION]\n\nUse crate COMMAND --help.\n", 1),
        ('Usage: crate [OPTION]\n\nUse "crate -command_name --help" for usage of command_name.\n', 0),
        ("Usage: crate [OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]\n\n  -i  start empty\n", 0),
    ],
)
def test_commands_that_a_help_does_not_list_are_reported(text: str, codes_of_it: int, tmp_path: Path) -> None:
    """As toybox's and ip's; env runs the command of another program."""
    assert codes(read(tmp_path, {"--help": text})) == ["help-unread"] * codes_of_it


def test_names_in_the_help_reach_no_shell_and_no_other_option(tmp_path: Path) -> None:
    names = ["$(touch ran)", "--force", "../crate", ";touch ran", "a;b", "wipe --all", '"q"', "ok"]
    lines = "".join(f"  {name}  Does something\n" for name in names)
    text = f"Usage: crate <command>\n\nCommands:\n{lines}\nRun 'crate <command> --help'.\n"
    service = read(tmp_path, {"--help": text, "ok --help": "Usage: crate ok\n"})
    assert [item.name for item in service.tools] == ["ok"]


def test_the_program_gets_no_secret_no_home_and_no_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTER_TOKEN", "hunter2-of-the-crate")
    path = tmp_path / "crate"
    path.write_text(
        '#!/bin/sh\ntouch "$HOME/.crate" here\n'
        'echo "Usage: crate [OPTIONS]"; echo "  --token T  one (default: $OUTER_TOKEN)"\n'
        'echo "  --home D   kept in $HOME/crates"; echo "  --input I  is $(cat)."; echo "  --inner I  $INNER_TOKEN"\n'
    )
    path.chmod(0o755)
    service = skillgen.read(cli_command=[str(path)], env={"INNER_TOKEN": "another-of-the-crate"})
    text = json.dumps(skillgen.render_documents(service))
    assert "hunter2" not in text
    assert "another-of" not in text
    assert "kept in \\\\~/crates" in text or "kept in ~/crates" in text
    assert "is ." in text
    assert {item.name for item in tmp_path.iterdir()} == {"crate"}
    assert not Path("here").exists()


def test_a_program_that_hangs_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "crate"
    path.write_text("#!/bin/sh\nexec tail -f /dev/null\n")
    path.chmod(0o755)
    run_skillgen("from-cli", "--command", path, "--timeout", "0.5", "--out", tmp_path / "out", cwd=tmp_path).ended(
        3, "did not print its help in time"
    )


def test_commands_above_the_limit_are_reported(tmp_path: Path) -> None:
    lines = "".join(f"  c{number}  Does {number}\n" for number in range(2_100))
    service = read(tmp_path, {"--help": f"Usage: crate COMMAND\n\nCommands:\n{lines}"})
    assert len(service.tools) == 2_000
    messages = [item.message for item in service.problems if item.code == "help-unread"]
    assert messages[0] == "more than 2,000 commands are listed; the others are left out"


def test_endless_output_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "crate"
    path.write_text("#!/bin/sh\nexec yes 'Usage: crate [--loud]'\n")
    path.chmod(0o755)
    assert [item.name for item in skillgen.read(cli_command=[str(path)]).tools] == ["crate"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--command", "no-such-program-here"], 3, "no-such-program-here does not exist"),
        (["--command", "sh -c :"], 3, "--help prints no help"),
        (["--command", "sh -c 'echo no toolchain >&2; exit 1'"], 3, "no help: no toolchain\n  try: document another"),
        (["--command", ""], 2, "is empty"),
        (["--command", "'"], 2, "is not a command"),
        ([], 2, "not exactly one program is given"),
        (["a:b", "--command", "true"], 2, "not exactly one program is given"),
        (["--command", "true", "--python", "python"], 2, "has no effect"),
    ],
)
def test_what_cannot_be_read_is_one_clear_message(
    arguments: list[str], code: int, message: str, tmp_path: Path
) -> None:
    finished = run_skillgen("from-cli", *arguments, cwd=tmp_path).ended(code, message)
    assert "Traceback" not in finished.stderr


# -- documents, snapshots and projects -------------------------------------------------------------------------------


def test_the_text_of_ai_help_is_read_too_if_the_help_lists_it(tmp_path: Path) -> None:
    texts = {
        "--help": "Usage: crate [OPTIONS]\n\nOptions:\n  --ai-help  Show a guide for agents\n  --level N  how small\n",
        "--ai-help": "---\nname: crate\n---\n\n# crate\n\n## When to Use\n\n- Pack a crate for the attic\n",
    }
    service = read(tmp_path, texts)
    assert "Pack a crate for the attic" in service.when_to_use


def test_two_reads_are_equal(tmp_path: Path) -> None:
    first, second = (
        skillgen.render_documents(read(tmp_path, STYLES["git, whose long help is a manual"])) for _ in range(2)
    )
    assert first == second


def test_a_program_known_by_its_help_is_a_target_of_a_project(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin", STYLES["cobra"])
    (tmp_path / "skillgen.yaml").write_text("targets:\n  crate:\n    source:\n      cli-command: bin/crate\n")
    (tmp_path / "elsewhere").mkdir()
    generated("build", "--project", tmp_path / "skillgen.yaml", cwd=tmp_path / "elsewhere")
    assert "skills/crate/SKILL.md" in files_of(tmp_path / "agent-docs")
    assert generated("build", "--check", cwd=tmp_path).exit_code == 0


def test_a_snapshot_of_a_program_yields_the_same_documents(tmp_path: Path) -> None:
    path = program(tmp_path, STYLES["clap"])
    taken = generated("inspect", "--command", path, cwd=tmp_path)
    (tmp_path / "crate.json").write_text(taken.stdout, "utf-8")
    generated("from-server", "--snapshot", tmp_path / "crate.json", "--out", tmp_path / "a")
    generated("from-cli", "--command", path, "--out", tmp_path / "b", cwd=tmp_path)
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


def test_diff_compares_the_help_of_each_command_line_by_line(tmp_path: Path) -> None:
    """A line that is gone may be an option that is gone."""
    newer = {**STYLES["cobra"]}
    newer["pack --help"] = newer["pack --help"].replace(
        "      --level int       how small\n", "      --deep            new\n"
    )
    for name, texts in (("old", STYLES["cobra"]), ("new", newer)):
        (tmp_path / name).mkdir()
        taken = generated("inspect", "--command", program(tmp_path / name, texts), cwd=tmp_path)
        (tmp_path / f"{name}.json").write_text(taken.stdout, "utf-8")
    finished = generated("diff", tmp_path / "old.json", tmp_path / "new.json", cwd=tmp_path)
    assert [line for line in finished.stdout.splitlines() if "pack" in line] == [
        "- breaking: `pack: in its help, '--level int how small' removed`",
        "- `pack: in its help, '--deep new' added`",
    ]


@pytest.mark.parametrize("arguments", [["call", "crate.json", "pack"], ["mock", "crate.json"]])
def test_commands_of_a_program_are_called_in_a_shell_only(arguments: list[str], tmp_path: Path) -> None:
    taken = generated("inspect", "--command", program(tmp_path, STYLES["cobra"]), cwd=tmp_path)
    (tmp_path / "crate.json").write_text(taken.stdout, "utf-8")
    run_skillgen(*arguments, cwd=tmp_path).ended(2, "a program")


@pytest.mark.parametrize("least", [0, 2])
def test_a_notice_of_the_first_run_is_in_no_document(least: int, tmp_path: Path) -> None:
    """The same bytes every time: which command runs first is not known, since several run at once."""
    path = Path(program(tmp_path, STYLES["click"]))
    notice = f'[ $# -lt {least} ] || [ -e "$HOME/told" ] || {{ touch "$HOME/told"; echo "We collect telemetry."; }}\n'
    path.write_text(path.read_text("utf-8").replace("case ", f"{notice}case ", 1), "utf-8")
    service = skillgen.read(cli_command=[str(path)])
    assert "telemetry" not in str([service.summary, *service.sections, *(item.help for item in service.tools)])
    assert len(service.tools) > 1
