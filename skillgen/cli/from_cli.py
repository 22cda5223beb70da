"""`skillgen from-cli`: documents a command-line program."""

from __future__ import annotations

from typing import Annotated

import typer
from msgspec import structs

from skillgen.cli.options import OptionsOf, command, run_with
from skillgen.cli.output import Console
from skillgen.cli.source import TYPED, Typed, document
from skillgen.config.project import OutputOptions, Run, Source, Texts
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
    options: Annotated[Source, OptionsOf(classes=(Source,), kinds=("cli", "cli_command"))],
    texts: Texts,
    output: OutputOptions,
    run: Annotated[Run, run_with("draft", "json")],
    typed: Annotated[Typed, TYPED],
    console: Console,
) -> ExitCode:
    """Document a command-line program.

    MODULE:APP is read from its declarations, any other program, given with --command, from its help.

    Examples:

        \b
        skillgen from-cli acme.cli:app
        skillgen from-cli acme.cli:build_parser --python .venv/bin/python --program acme
        skillgen from-cli --command gh
    """
    if (target is None) == (not options.cli_command):
        fix = "give MODULE:APP for a program in Python, or --command NAME for any other"
        raise UsageError("not exactly one program is given", fix=fix)
    return document(structs.replace(options, cli=target), texts, output, run, typed, console)
