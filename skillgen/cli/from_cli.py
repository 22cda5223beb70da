"""`skillgen from-cli`: documents a command-line program."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from skillgen.cli.options import AsJson, OptionsOf, command
from skillgen.cli.output import Console, document_source
from skillgen.config.project import OutputOptions, Source, Texts, command_words
from skillgen.errors import ExitCode, UsageError


@command
def from_cli(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODULE:APP]",
            help="Click or Typer program, argparse parser, or function that returns one. No command is run.",
            show_default=False,
        ),
    ] = None,
    *,
    program_command: Annotated[
        str | None,
        typer.Option(
            "--command",
            metavar="NAME",
            help="Program on PATH, or a command that starts one: read from its help, and that of each of its commands. "
            "Nothing else is run.",
        ),
    ] = None,
    options: Annotated[Source, OptionsOf((Source,), kinds=("cli", "cli_command"))],
    texts: Texts,
    output: OutputOptions,
    as_json: AsJson = False,
    console: Console,
) -> ExitCode:
    """Document a command-line program: MODULE:APP from its declarations, any other with --command from its help.

    Examples:

        \b
        skillgen from-cli acme.cli:app
        skillgen from-cli acme.cli:build_parser --python .venv/bin/python --program acme
        skillgen from-cli --command gh
    """
    if (target is None) == (program_command is None):
        fix = "give MODULE:APP for a program in Python, or --command NAME for any other"
        raise UsageError("not exactly one program is given", fix=fix)
    chosen = replace(options, cli=target, cli_command=command_words(program_command, "--command"))
    return document_source(context, chosen, texts, output, console, subject="program", as_json=as_json)
