"""`skillgen from-cli`: documents a command-line program."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from skillgen.cli.options import AsJson, OptionsOf, command
from skillgen.cli.output import Console, document_source
from skillgen.config.project import OutputOptions, Source, Texts
from skillgen.errors import ExitCode


@command
def from_cli(
    context: typer.Context,
    target: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:APP",
            help="Click or Typer program, argparse parser, or function that returns one. No command is run.",
        ),
    ],
    *,
    options: Annotated[Source, OptionsOf((Source,), kinds=("cli",))],
    texts: Texts,
    output: OutputOptions,
    as_json: AsJson = False,
    console: Console,
) -> ExitCode:
    """Document a command-line program in Python (Click, Typer or argparse) from the declarations of its commands."""
    chosen = replace(options, cli=target)
    return document_source(context, chosen, texts, output, console, subject="program", as_json=as_json)
