"""`skillgen from-cli`: documents a command-line program."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from skillgen.cli.options import AsJson, OptionsOf, command
from skillgen.cli.output import Console, show_documents
from skillgen.config.project import OutputOptions, Source, Texts
from skillgen.errors import ExitCode, UsageError


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
    from skillgen.pipeline.generate import checked_output, write_documents
    from skillgen.pipeline.read import Request, read_source

    if context.obj:
        raise UsageError("a server's command is given after --", fix="use from-server, or leave it out")
    checked_output(output)
    with console.progress("reading the program") as progress:
        reading = read_source(Request(source=replace(options, cli=target), texts=texts, progress=progress))
    return show_documents(write_documents(reading.services, output), output, console, as_json)
