"""`skillgen from-cli`: documents a command-line program."""

from __future__ import annotations

from typing import Annotated

import typer

from skillgen.cli.options import command
from skillgen.cli.source import Documenting, documenting
from skillgen.errors import ExitCode, UsageError


@command
def from_cli(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODULE:APP]",
            help="Click or Typer program, argparse parser, or function that returns one. No command is run.",
            show_default=False,
        ),
    ] = None,
    *,
    given: Annotated[Documenting, documenting("cli", "cli_command")],
) -> ExitCode:
    """Document a command-line program.

    MODULE:APP is read from its declarations, any other program, given with --command, from its help.

    Examples:

        \b
        skillgen from-cli acme.cli:app
        skillgen from-cli acme.cli:build_parser --python .venv/bin/python --program acme
        skillgen from-cli --command gh
    """
    if (target is None) == (not given.source.cli_command):
        fix = "give MODULE:APP for a program in Python, or --command NAME for any other"
        raise UsageError("not exactly one program is given", fix=fix)
    return given.document(cli=target)
