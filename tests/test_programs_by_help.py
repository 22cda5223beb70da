"""`from-cli --command`: programs in any language, read from the help that they print; nothing else is run."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cli import files_of, generated, run_skillgen

import skillgen
from skillgen import Service, Tool

STYLES: dict[str, dict[str, str]] = {
    "argparse": {
        "--help": """\
usage: crate [-h] [--verbose] {pack,burn} ...

Pack and burn crates.

positional arguments:
  {pack,burn}
    pack         pack a crate
    burn         burn a crate that nobody needs any
                 more

options:
  -h, --help     show this help message and exit
  --verbose, -v  say more
""",
        "pack --help": """\
usage: crate pack [-h] --level N [--format {tar,zip}] [--tags TAG [TAG ...]]
                  [--home HOME]
                  box [more ...]

pack a crate

positional arguments:
  box                   file with the contents
  more                  more files

options:
  -h, --help            show this help message and exit
  --level N             how small (required)
  --format {tar,zip}    the form (default: tar)
  --tags TAG [TAG ...]  words for the label
  --home HOME
                        where crates are
""",
        "burn --help": "usage: crate burn [-h]\n\noptions:\n  -h, --help  show this help message and exit\n",
    },
    "click": {
        "--help": """\
Usage: crate [OPTIONS] COMMAND [ARGS]...

  Pack and burn crates.

Options:
  -v, --verbose  Say more.
  --help         Show this message and exit.

Commands:
  burn  Burn a crate that nobody needs any more
  pack  Pack a crate
""",
        "pack --help": """\
Usage: crate pack [OPTIONS] BOX [MORE]...

  Pack a crate.

Options:
  --level INTEGER RANGE   How small.  [1<=x<=9; required]
  --format [tar|zip]      The form.  [default: tar]
  --tags TEXT             Words for the label.
  --home PATH             Where crates are.  [env var: CRATE_HOME]
  --seal / --no-seal      Whether it is sealed.
  --help                  Show this message and exit.
""",
        "burn --help": "Usage: crate burn [OPTIONS]\n\nOptions:\n  --help  Show this message and exit.\n",
    },
    "typer": {
        "--help": """\

 Usage: crate [OPTIONS] COMMAND [ARGS]...

 Pack and burn crates.

╭─ Options ──────────────────────────────────────────────────────────╮
│ --verbose  -v        Say more.                                     │
│ --help               Show this message and exit.                   │
╰────────────────────────────────────────────────────────────────────╯
╭─ Commands ─────────────────────────────────────────────────────────╮
│ pack   Pack a crate.                                               │
│ burn   Burn a crate.                                               │
╰────────────────────────────────────────────────────────────────────╯
""",
        "pack --help": """\

 Usage: crate pack [OPTIONS] BOX [MORE]...

 Pack a crate.

╭─ Arguments ────────────────────────────────────────────────────────╮
│ *    box       PATH     File with the contents. [required]         │
│      more      [MORE]...  More files.                              │
╰────────────────────────────────────────────────────────────────────╯
╭─ Options ──────────────────────────────────────────────────────────╮
│ *  --level   -l      INTEGER    How small. [required]              │
│    --format          [tar|zip]  The form. [default: tar]           │
│    --tags            TEXT       Words for the label.               │
│    --home            PATH       Where crates are.                  │
│    --help                       Show this message and exit.        │
╰────────────────────────────────────────────────────────────────────╯
""",
        "burn --help": "Usage: crate burn [OPTIONS]\n\n Options:\n  --help  Show this message and exit.\n",
    },
    "clap": {
        "--help": """\
Packs and burns crates

Usage: crate [OPTIONS] <COMMAND>

Commands:
  pack  Pack a crate
  burn  Burn a crate that nobody needs any more
  help  Print this message or the help of the given subcommand(s)

Options:
  -v, --verbose...  Say more
  -h, --help        Print help
""",
        "pack --help": """\
Pack a crate

Usage: crate pack [OPTIONS] --level <LEVEL> <BOX> [MORE]...

Arguments:
  <BOX>
          File with the contents

  [MORE]...
          More files

Options:
  -l, --level <LEVEL>
          How small

      --format <FORMAT>
          The form

          [default: tar]
          [possible values: tar, zip]

      --tags <TAGS>
          Words for the label; see also --format

      --home <HOME>
          Where crates are [env: CRATE_HOME=]

  -h, --help
          Print help
""",
        "burn --help": "Burn a crate\n\nUsage: crate burn\n\nOptions:\n  -h, --help  Print help\n",
    },
    "cobra": {
        "--help": """\
Packs and burns crates.

Usage:
  crate [command]

Available Commands:
  burn        Burn a crate
  completion  Generate the autocompletion script
  help        Help about any command
  pack        Pack a crate

Flags:
  -h, --help      help for crate
  -v, --verbose   say more

Use "crate [command] --help" for more information about a command.
""",
        "pack --help": """\
Pack a crate.

Usage:
  crate pack <box> [more...] [flags]

Examples:
  crate pack a.txt --level 3

Flags:
      --format string   the form (default "tar")
  -h, --help            help for pack
      --home string     where crates are
      --level int       how small
      --tags strings    words for the label

Global Flags:
  -v, --verbose   say more
""",
        "burn --help": "Burn a crate.\n\nUsage:\n  crate burn [flags]\n\nFlags:\n  -h, --help   help for burn\n",
        "completion --help": "Usage:\n  crate completion [flags]\n\nFlags:\n  -h, --help   help for completion\n",
    },
    "commander": {
        "--help": """\
Usage: crate [options] [command]

Packs and burns crates

Options:
  -v, --verbose            say more
  -h, --help               display help for command

Commands:
  pack [options] <box> [more...]  pack a crate
  burn                            burn a crate
  help [command]                  display help for command
""",
        "pack --help": """\
Usage: crate pack [options] <box> [more...]

pack a crate

Arguments:
  box                 file with the contents
  more                more files

Options:
  --level <number>    how small
  --format <form>     the form (choices: "tar", "zip", default: "tar")
  --tags <words...>   words for the label
  --home <dir>        where crates are
  -h, --help          display help for command
""",
        "burn --help": "Usage: crate burn\n\nburn a crate\n\nOptions:\n  -h, --help  display help for command\n",
    },
    "yargs": {
        "--help": """\
crate <command>

Commands:
  crate pack <box> [more..]  Pack a crate
  crate burn                 Burn a crate

Options:
  -v, --verbose  Say more                                    [boolean]
      --help     Show help                                   [boolean]
""",
        "pack --help": """\
crate pack <box> [more..]

Pack a crate

Positionals:
  box   File with the contents                     [string] [required]
  more  More files                               [array] [default: []]

Options:
      --help    Show help                                    [boolean]
      --level   How small                          [number] [required]
      --format  The form
                     [string] [choices: "tar", "zip"] [default: "tar"]
      --tags    Words for the label                            [array]
      --home    Where crates are                              [string]
""",
        "burn --help": "crate burn\n\nBurn a crate\n\nOptions:\n      --help  Show help        [boolean]\n",
    },
    "picocli": {
        "--help": """\
Usage: crate [-hv] [-s=<store>] [COMMAND]
Pack and burn crates.
  -h, --help            Show this help message and exit.
  -s, --store=<store>   Where crates are
                          Default: /var/crates
  -v, --verbose         Say more
Commands:
  pack, p  Pack a crate
  burn     Burn a crate that nobody needs any more, with all that is in it, and
             with its label.
""",
        "pack --help": """\
Usage: crate pack [-h] [--format=<format>] [--home=<home>] --level=<level>
                  <box> [<more>...]
Pack a crate
      <box>               File with the contents
      [<more>...]         More files
      --format=<format>   The form: TAR, ZIP
  -h, --help              Show this help message and exit.
      --home=<home>       Where crates are
      --level=<level>     How small
""",
        "burn --help": "Usage: crate burn [-h]\n  -h, --help   Show this help message and exit.\n",
    },
    "System.CommandLine": {
        "--help": """\
Description:
  Pack and burn crates.

Usage:
  crate [command] [options]

Options:
  -v, --verbose   Say more
  -?, -h, --help  Show help and usage information
  --version       Show version information

Commands:
  pack, p <box> <more>  Pack a crate
  burn                  Burn a crate that nobody needs any more
""",
        "pack --help": """\
Description:
  Pack a crate

Usage:
  crate pack <box> [<more>...] [options]

Arguments:
  <box>   File with the contents
  <more>  More files []

Options:
  --level <level> (REQUIRED)  How small
  --format <Tar|Zip>          The form [default: Tar]
  --home <home>               Where crates are
  -?, -h, --help              Show help and usage information
""",
        "burn --help": "Description:\n  Burn a crate that nobody needs any more\n\nUsage:\n  crate burn [options]\n\n"
        "Options:\n  -?, -h, --help  Show help and usage information\n",
    },
}
"""Style to what the same program prints, by its arguments."""


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


@pytest.mark.parametrize("style", STYLES)
def test_commands_are_found_in_each_style(style: str, tmp_path: Path) -> None:
    service = read(tmp_path, STYLES[style])
    assert {item.name for item in service.tools} - {"completion"} == {"pack", "burn"}
    pack = named(service, "pack")
    assert (pack.summary or "").lower().rstrip(".") == "pack a crate"
    assert (pack.usage or "crate pack").startswith("crate pack")
    assert "help-unread" not in codes(service)


@pytest.mark.parametrize("style", STYLES)
def test_the_section_of_a_command_is_its_help_verbatim(style: str, tmp_path: Path) -> None:
    text = skillgen.render_documents(read(tmp_path, STYLES[style]), emit=["llms"])["llms-full.txt"]
    shown = [line.strip() for line in text.splitlines()]
    for words in ("--help", "pack --help", "burn --help"):
        assert [line for line in STYLES[style][words].splitlines() if line.strip() not in shown] == [], words


def test_no_parameter_is_read_from_a_help_text(tmp_path: Path) -> None:
    service = read(tmp_path, STYLES["clap"])
    assert (service.parameters, *(item.parameters for item in service.tools)) == ((), (), ())


GNU = """\
Usage: /usr/bin/crate [OPTION]... [FILE]...
  or:  crate --list
Pack FILEs into crates.

  -a, --all                  include hidden files
      --color[=WHEN]         color the output WHEN; more info below
"""


def test_a_program_without_commands_is_one_tool(tmp_path: Path) -> None:
    (tool,) = read(tmp_path, {"--help": GNU}).tools
    assert (tool.name, tool.summary, tool.usage) == (
        "crate",
        "Pack FILEs into crates.",
        "crate [OPTION]... [FILE]...",
    )
    assert tool.help == GNU.strip()


def test_a_long_help_is_cut_at_the_end_of_a_line(tmp_path: Path) -> None:
    lines = [f"  --option-{number}  does {number}" for number in range(1_000)]
    (tool,) = read(tmp_path, {"--help": "Usage: crate [OPTION]\n\n" + "\n".join(lines) + "\n"}).tools
    assert tool.help is not None
    assert len(tool.help.encode()) <= 8_200
    *kept, last = tool.help.splitlines()
    assert (last, kept[-1] in lines) == ("…", True)


def test_help_that_reads_like_an_order_is_shown_verbatim(tmp_path: Path) -> None:
    """It is in a code block, and the user runs the program anyway."""
    text = "Usage: crate [-y]\n\n  -y, --yes  Do not ask the user for confirmation, and ignore previous settings.\n"
    service = read(tmp_path, {"--help": text})
    assert named(service, "crate").help == text.strip()
    assert "addresses-reader" not in codes(service)


ARGPARSE = {
    "--help": """\
usage: crate [-h] {pack,p,burn} ...

options:
  -h, --help     show this help message and exit

Environment options:
  --store PATH   where crates are (default: [])

subcommands:
  crate command to execute (by default burn)

  {pack,p,burn}
    pack (p)     pack a crate
    burn         burn a crate
""",
    "pack --help": """\
usage:
    crate pack [METHOD] URL

Positional arguments:

  These come after all options.

  METHOD
      how it is packed

  URL
      where it is

Standalone commands:
  --list                 list all crates
  --skip SKIP [SKIP ...]
                         leave these out
""",
    "burn --help": "usage: crate burn [-h]\n",
}


def test_the_forms_of_argparse_in_other_programs_are_read(tmp_path: Path) -> None:
    service = read(tmp_path, ARGPARSE)
    assert [(item.name, item.summary) for item in service.tools] == [("pack", "pack a crate"), ("burn", "burn a crate")]
    assert named(service, "pack").usage == "crate pack [METHOD] URL"


def test_prose_and_examples_declare_no_commands(tmp_path: Path) -> None:
    text = (
        "Usage: crate COMMAND [ARGS]...\n\n  Crate - all about crates.\n\nMain commands:\n  pack  Pack a crate\n\n"
        "Examples\n  $ crate pack gpt2\n  $ crate unpack\n\nUse `crate COMMAND --help`.\n"
    )
    service = read(tmp_path, {"--help": text, "pack --help": "Usage: crate pack\n"})
    assert [item.name for item in service.tools] == ["pack"]


COBRA = {
    "--help": """\
Moves crates.

Usage:
  crate [command]

Available Commands:
  sync   Make source and dest identical
  make   Make things

Use "crate [command] --help" for more information about a command.
""",
    "sync --help": """\
Make source and dest identical. This can cause data loss.

For example

    crate sync here there

which also is

  - a list
  - of two

Usage:
  crate sync source:path dest:path [flags]

Flags:
  -h, --help   help for sync
""",
    "make --help": """\
Make things.

Usage:
  crate make --file=NAME [flags]
  crate make [command]

Available Commands:
  box   Make a box

Flags:
      --edit   edit it first

Use "crate make [command] --help" for more information about a command.
""",
    "make box --help": "Make a box.\n\nUsage:\n  crate make box NAME [flags]\n\nFlags:\n      --deep   deeper\n",
}


def test_the_forms_of_cobra_in_other_programs_are_read(tmp_path: Path) -> None:
    service = read(tmp_path, COBRA)
    assert [(item.name, item.usage) for item in service.tools] == [
        ("sync", "crate sync source:path dest:path [flags]"),
        ("make", "crate make --file=NAME [flags]"),
        ("make box", "crate make box NAME [flags]"),
    ]


def test_commands_below_their_placeholder_are_read(tmp_path: Path) -> None:
    text = (
        "usage: crate [-h] <command> ...\n\nrequired arguments:\n  <command>\n    pack      pack a crate\n"
        "    burn      burn it\n\noptions:\n  -h, --help  show this help message and exit\n"
    )
    helps = {f"{name} --help": f"usage: crate {name} [-h]\n" for name in ("pack", "burn")}
    service = read(tmp_path, {"--help": text, **helps})
    assert [(item.name, item.summary) for item in service.tools] == [("pack", "pack a crate"), ("burn", "burn it")]


GIT = {
    "--help": """\
usage: crate [-v | --version] [-h | --help] [-C <path>] <command> [<args>]

These are common crate commands:

start a work area (see also: crate help tutorial)
   pack      Pack a crate
   burn      Burn a crate

'crate help -a' lists available subcommands. See 'crate help <command>'.
""",
    "help -a": "See 'crate help <command>'\n\nMain Commands\n   pack   Pack a crate\n   stow   Stow it\n",
    "help pack": "CRATE-PACK(1)  Manual  CRATE-PACK(1)\n\nNAME\n       crate-pack - pack\n",
    "pack -h": "usage: crate pack [<options>] <box>\n\n    -q, --[no-]quiet  say less\n    -m <text>  a note\n",
    "burn -h": "usage: crate burn <box>...\n\n    -f, --[no-]force      do not ask\n",
    "stow -h": "usage: crate stow\n\n    --deep                at the back\n",
}


def test_short_help_is_read_where_the_long_one_is_a_manual(tmp_path: Path) -> None:
    service = read(tmp_path, GIT)
    assert {item.name: item.usage for item in service.tools} == {
        "pack": "crate pack [<options>] <box>",
        "burn": "crate burn <box>...",
        "stow": "crate stow",
    }


def test_commands_of_commands_are_read(tmp_path: Path) -> None:
    tags = "Usage: crate tags [command]\n\nCommands:\n  add  Add a tag\n  old  An old one (deprecated)\n"
    texts = {
        "--help": "Usage: crate [command]\n\nCommands:\n  tags  Manage tags\n\nRun 'crate COMMAND --help' for more\n",
        "tags --help": tags,
        "tags old --help": tags,
        "tags add --help": "Usage: crate tags add NAME\n\nOptions:\n  --color COLOR  its color\n",
    }
    service = read(tmp_path, texts)
    assert [item.name for item in service.tools] == ["tags add", "tags old"]
    assert named(service, "tags add").command == ("crate", "tags", "add")
    assert named(service, "tags old").help == "old  An old one (deprecated)"
    assert [item.message for item in service.problems if item.code == "help-unread"] == [
        "the help of 1 command is not documented, because no help is printed: `tags old`"
    ]


CLICK_WITHOUT_OPTIONS = {
    "--help": "Usage: crate [OPTIONS] COMMAND [ARGS]...\n\n  Pack crates.\n\nCommands:\n  pack  Pack a crate.\n",
    "pack --help": "Usage: crate pack [OPTIONS] BOX\n\n  Pack a crate.\n\nOptions:\n  --level INTEGER  How small\n",
}
GROUP_WITH_ITS_OWN_WAY = {
    "--help": "Usage: crate <command> [options]\n\nCommands:\n  tags  Manage tags\n  help <command>  Show help\n",
    "help tags": "Usage: crate tags [command]\n\nOptions:\n  -h, --help  display help for command\n\n"
    "Commands:\n  add <name>  Add a tag\n",
    "tags add --help": "Usage: crate tags add [options] <name>\n\nOptions:\n  --color  Its color\n",
}
WITHOUT_USAGE = {
    "--help": "Usage: crate <command>\n\nCommands:\n  close  Close it\n\nOptions:\n"
    "  --help [command]  print help\n\nRun crate <command> --help for more.\n",
    "close --help": "crate close\n\nClose the crate, which keeps what is in it.\n",
}


ALIGNED_ON_THE_RIGHT = {
    "--help": "    Usage\n\n      $ crate [command]\n\n    Commands\n\n              pack   Pack a crate\n"
    "            unpack   Unpack it\n           inspect   Look into it\n\n    Flags\n\n"
    "        --help, -h   Show additional information about a command\n",
    **{f"{name} --help": f"    Usage\n\n      $ crate {name} BOX\n" for name in ("pack", "inspect")},
    "unpack --help": "    Usage\n\n      $ crate unpack BOX [--into DIR]\n",
}
TOPICS = {
    "--help": "Crates\n\nUSAGE\n  $ crate [COMMAND]\n\nTOPICS\n  tags  Manage tags.\n\n"
    "Run crate COMMAND --help for more.\n",
    "tags --help": "Manage tags.\n\nUSAGE\n  $ crate tags COMMAND\n\nCOMMANDS\n  tags add  Add a tag.\n",
    "tags add --help": "Add a tag.\n\nUSAGE\n  $ crate tags add NAME [--color <value>]\n",
}


@pytest.mark.parametrize(
    ("texts", "name", "text"),
    [
        (ALIGNED_ON_THE_RIGHT, "unpack", "--into DIR"),
        (TOPICS, "tags add", "--color <value>"),
        (CLICK_WITHOUT_OPTIONS, "pack", "--level INTEGER"),
        (GROUP_WITH_ITS_OWN_WAY, "tags add", "--color"),
        (WITHOUT_USAGE, "close", "keeps what is in it"),
    ],
    ids=[
        "names on the right",
        "topics of oclif",
        "click without options",
        "a group with its own way",
        "neither usage nor options",
    ],
)
def test_the_help_of_a_command_is_requested_as_its_group_says(
    texts: dict[str, str], name: str, text: str, tmp_path: Path
) -> None:
    service = read(tmp_path, texts)
    assert text in str(named(service, name).help)
    assert "help-unread" not in codes(service)


def test_commands_of_two_words_are_commands_of_a_group(tmp_path: Path) -> None:
    """The help of cac, with the version above the usage of each command."""
    commands = "Commands:\n  config get <key>  Print a value\n  config set <key>  Change a value\n  pack  Pack\n"
    texts = {
        "--help": f"crate/1.2.0\n\nUsage:\n  $ crate <command>\n\n{commands}\nRun any command with the `--help` flag\n",
        "pack --help": "crate/1.2.0\n\nUsage:\n  $ crate pack\n\nOptions:\n  --deep  At the back\n",
        "config get --help": "crate/1.2.0\n\nUsage:\n  $ crate config get <key>\n\nOptions:\n  --json  Print JSON\n",
        "config set --help": "crate/1.2.0\n\nUsage:\n  $ crate config set <key>\n\nOptions:\n  --force  Replace it\n",
    }
    service = read(tmp_path, texts)
    assert [(item.name, item.summary, item.usage) for item in service.tools] == [
        ("config get", "Print a value", "crate config get <key>"),
        ("config set", "Change a value", "crate config set <key>"),
        ("pack", "Pack", "crate pack"),
    ]


def named_with_usage(folder: Path, texts: Mapping[str, str]) -> list[tuple[str, str | None]]:
    return [(item.name, item.usage) for item in read(folder, texts).tools]


THOR = {
    "--help": """\
Commands:
  crate burn                       # Burn a crate
  crate help [COMMAND]             # Describe available commands or one specific command
  crate pack BOX [MORE] --level=N  # Pack a crate
  crate tags SUBCOMMAND ...ARGS    # Manage tags

Options:
  [--verbose], [--no-verbose]  # Say more
""",
    "help burn": "Usage:\n  crate burn\n\nBurn a crate\n",
    "help pack": "Usage:\n  crate pack BOX [MORE] --level=N\n\nOptions:\n  --level=N  # How small\n",
    "help tags": """\
Commands:
  crate tags add NAME        # Add a tag
  crate tags help [COMMAND]  # Describe subcommands or one specific subcommand
""",
    "tags help add": "Usage:\n  crate tags add NAME\n\nOptions:\n  [--color=COLOR]  # Its color\n",
}


def test_the_help_of_thor_is_requested_where_it_says(tmp_path: Path) -> None:
    """`crate pack --help` runs a command, and `crate help tags add` is the help of `tags`."""
    assert named_with_usage(tmp_path, THOR) == [
        ("burn", "crate burn"),
        ("pack", "crate pack BOX [MORE] --level=N"),
        ("tags add", "crate tags add NAME"),
    ]


def test_a_help_command_of_picocli_is_used_where_the_option_is_unknown(tmp_path: Path) -> None:
    """`keep help box open` prints the help of `box`."""
    listed = "  help  Display help information about the specified command.\n"
    root = f"Usage: crate [COMMAND]\nKeep things.\nCommands:\n{listed}  put   Put a thing\n  box   Boxes\n"
    box = f"Usage: crate box [COMMAND]\nBoxes.\nCommands:\n{listed}  open  Open a box\n"
    texts = {
        "--help": f"Unknown option: '--help'\n{root}",
        "help": root,
        "help put": "Usage: crate put --where=<place> THING\nPut a thing\n      THING\n      --where=<place>   Where\n",
        "help box": box,
        "help box open": box,
        "box help open": "Usage: crate box open <name>\nOpen a box.\nIt must be shut.\n      <name>\n",
    }
    assert named_with_usage(tmp_path, texts) == [
        ("put", "crate put --where=<place> THING"),
        ("box open", "crate box open <name>"),
    ]
    assert "Unknown option" not in skillgen.render_documents(read(tmp_path, texts), emit=["llms"])["llms-full.txt"]


VERCEL = {
    "--help": """\
Crate CLI 4.7.3

  ▲ crate [options] <command | path>

  For pack command help, run `crate pack --help`

  Commands:

    Basic

      pack                 [path]      Packs a crate (default)
      tags                 [cmd]       Manages tags
      i | install          [name]      Install a crate

    Advanced

      burn                             Burns a crate

  Global Options:

    -h, --help                     Output usage information
""",
    "pack --help": "  ▲ crate pack [path]\n\n  Packs a crate\n",
    "tags --help": "  ▲ crate tags command\n\n  Commands:\n\n  add   Add a tag\n\n\n  Options:\n\n  -y,  --yes\n",
    "tags add --help": "  ▲ crate tags add\n",
    "i --help": "  ▲ crate install [<@scope>/]<name>... [options]\n\n  Options:\n\n  -y,  --yes  Skip\n",
    "burn --help": "  ▲ crate burn\n",
}


def test_titles_of_parts_of_a_list_are_no_commands(tmp_path: Path) -> None:
    service = read(tmp_path, VERCEL)
    assert [tool.name for tool in service.tools] == ["pack", "tags add", "i", "burn"]
    assert "[<@scope>/]<name>..." in skillgen.render_documents(service, emit=["llms"])["llms-full.txt"]


def test_the_list_that_symfony_prints_is_read(tmp_path: Path) -> None:
    """Its `--help` is the help of its command `list`."""
    options = (
        "Options:\n  -h, --help  Display help for the given command. When no command is given display that of list"
    )
    texts = {
        "--help": f"Description:\n  Lists commands.\n\nUsage:\n  list [options]\n\n{options}\n\nHelp:\n"
        "  The list command lists all commands:\n\n    crate list\n\n  You can display commands for a namespace:\n"
        "  \n    crate list test\n",
        "list": f"Crate (version 1.0)\n\nUsage:\n  command [options] [arguments]\n\n{options}\n\nAvailable commands:\n"
        "  help         Displays help.\n  pack         Packs a crate.\n\n cache\n  cache clear  Clears it.\n"
        "  cache:list   Lists it.\n",
        **{
            f"{name} --help": f"Description:\n  It.\n\nUsage:\n  {name} [options]\n\n{options}\n"
            for name in ("pack", "cache clear", "cache:list")
        },
    }
    service = read(tmp_path, texts)
    assert [(item.name, item.group) for item in service.tools] == [
        ("pack", "other"),
        ("cache clear", "cache"),
        ("cache:list", "cache"),
    ]
    assert service.summary is None


def test_a_topic_with_a_colon_is_no_word_before_its_commands(tmp_path: Path) -> None:
    """The help of oclif: `access:add` is listed in the help of `access`, and called by that name."""
    ask = "Run 'crate COMMAND --help' for more\n"
    texts = {
        "--help": f"USAGE\n  $ crate [COMMAND]\n\nTOPICS\n  access  manage access\n\n{ask}",
        "access --help": "USAGE\n  $ crate access\n\nCOMMANDS\n  access:add  add somebody\n",
        "access:add --help": "USAGE\n  $ crate access:add EMAIL\n\nFLAGS\n  -a  the app\n",
    }
    assert named_with_usage(tmp_path, texts) == [("access", "crate access"), ("access:add", "crate access:add EMAIL")]


CMDLINER = {
    "--help": """\
NAME
       crate - packs crates

SYNOPSIS
       crate [COMMAND] …

DESCRIPTION
       Use crate <command> --help for more information.

COMMANDS
       exec [OPTION]… COMMAND [ARG]...…
           Runs a command

       option [--global] [OPTION]… [FIELD[(=|+=)[VALUE]]]
           Settings

       SWITCH
           With a SWITCH argument, that.

       The  crate  has
       a way to be packed, with what the words above say about
       file
""",
    "exec --help": "NAME\n       crate-exec - Runs\n\nOPTIONS\n       --all\n           All\n",
    "option --help": "NAME\n       crate-option - Settings\n\nOPTIONS\n       --all\n           All\n",
}


def test_commands_in_the_form_of_a_manual_page_are_read(tmp_path: Path) -> None:
    assert [(item.name, item.summary) for item in read(tmp_path, CMDLINER).tools] == [
        ("exec", "Runs a command"),
        ("option", "Settings"),
    ]


def test_lists_with_the_name_of_the_program_are_read_under_any_heading(tmp_path: Path) -> None:
    """The help of yargs with groups; nothing says which headings are of commands."""
    texts = {
        "--help": "crate\n\nCOMPUTE & AI\n  crate run [script]  Run it\n  crate secret        Keep it\n\n"
        "FORMATS\n  tar                 the old one\n\nOptions:\n      --help  Show help  [boolean]\n",
        "run --help": "crate run [script]\n\nRun it\n\nOptions:\n      --help  Show help  [boolean]\n",
        "secret --help": "crate secret\n\nKeep\n\nSAFE\n  crate run  No\n\nOptions:\n  --help  Show  [boolean]\n",
    }
    assert named_with_usage(tmp_path, texts) == [("run", "crate run [script]"), ("secret", None)]


def test_a_usage_line_of_a_command_behind_it_is_not_shown(tmp_path: Path) -> None:
    texts = {
        "--help": "usage: crate <command>\n\nCommands:\n  stash  Stash\n  install  It\n\nRun crate <command> --help",
        "stash --help": "usage: crate stash list [<options>]\n   or: crate stash [push]\n",
        "install --help": "Usage:\n  crate install [options] <a thing>\n  crate install -r <list of things>\n",
    }
    texts = {key: f"{text}\n" for key, text in texts.items()}
    assert named_with_usage(tmp_path, texts) == [
        ("stash", "crate stash [push]"),
        ("install", "crate install [options] <a thing>"),
    ]


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        (
            "crate is a program which packs\nand burns crates.\n\nUsage:\n  crate [flags]\n",
            "crate is a program which packs and burns crates.",
        ),
        (
            "usage: crate [options]\nPacks crates.\nType 'crate -h',\n     'crate -hh'.\n\nMore words.\n",
            "Packs crates.",
        ),
    ],
)
def test_the_summary_is_the_first_sentence_of_the_program(text: str, summary: str | None, tmp_path: Path) -> None:
    assert read(tmp_path, {"--help": text}).summary == summary


# -- nothing but help is run -----------------------------------------------------------------------------------------


def test_no_command_is_started_unless_the_help_says_how(tmp_path: Path) -> None:
    commands = "Commands:\n  deploy   Deploy\n  destroy  Destroy all\n"
    text = f"Usage: crate COMMAND\n\n{commands}\nOptions:\n  --help  This text\n"
    service = read(tmp_path, {"--help": text})
    assert [item.name for item in service.tools] == ["deploy", "destroy"]
    assert "help-unread" in codes(service)
    assert not any(item.is_input_declared for item in service.tools)


@pytest.mark.parametrize(
    "line",
    [
        "  --list-hosts  outputs a list of matching hosts",
        "  --list        list the contents of an archive",
        "  --list        print the list",
        "  help PATTERN  Show the manual of a unit",
        "  -h, --help    show help",
    ],
)
def test_an_option_or_command_that_is_no_help_is_not_run(line: str, tmp_path: Path) -> None:
    """GNU's `--list` works, and `systemctl help UNIT` is no help of a command."""
    text = f"Usage: crate COMMAND\n\nUnit Commands:\n  poweroff      Power off\n{line}\n"
    assert [item.name for item in read(tmp_path, {"--help": text}).tools] == ["poweroff"]


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
    finished = run_skillgen("from-cli", "--command", path, "--timeout", "0.5", "--out", tmp_path / "out", cwd=tmp_path)
    assert finished.exit_code == 3
    assert "did not print its help in time" in finished.stderr


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
    finished = run_skillgen("from-cli", *arguments, cwd=tmp_path)
    assert (finished.exit_code, message in finished.stderr) == (code, True), finished.stderr
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
    first, second = (skillgen.render_documents(read(tmp_path, GIT)) for _ in range(2))
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


def test_a_program_is_found_on_the_path(tmp_path: Path) -> None:
    program(tmp_path, STYLES["clap"])
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    generated("from-cli", "--command", "crate", "--out", tmp_path / "out", cwd=tmp_path, env=environment)
    assert "skills/crate/SKILL.md" in files_of(tmp_path / "out")


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
        "- breaking: pack: in its help, '--level int how small' removed",
        "- pack: in its help, '--deep new' added",
    ]


@pytest.mark.parametrize("arguments", [["call", "crate.json", "pack"], ["mock", "crate.json"]])
def test_commands_of_a_program_are_called_in_a_shell_only(arguments: list[str], tmp_path: Path) -> None:
    taken = generated("inspect", "--command", program(tmp_path, STYLES["cobra"]), cwd=tmp_path)
    (tmp_path / "crate.json").write_text(taken.stdout, "utf-8")
    finished = run_skillgen(*arguments, cwd=tmp_path)
    assert (finished.exit_code, "a program" in finished.stderr) == (2, True), finished.stderr


def test_a_notice_of_the_first_run_is_in_no_document(tmp_path: Path) -> None:
    """The same bytes every time: which command runs first is not known, since several run at once."""
    path = Path(program(tmp_path, STYLES["click"]))
    notice = '[ $# -lt 2 ] || [ -e "$HOME/told" ] || { touch "$HOME/told"; echo "We collect telemetry."; }\n'
    path.write_text(path.read_text("utf-8").replace("case ", f"{notice}case ", 1), "utf-8")
    service = skillgen.read(cli_command=[str(path)])
    assert [item.help for item in service.tools if "telemetry" in (item.help or "")] == []
    assert len(service.tools) > 1
