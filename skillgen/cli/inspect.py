"""`skillgen inspect`: prints the intermediate model as a snapshot."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

import typer

from skillgen.cli.from_server import read_sources
from skillgen.cli.options import OptionsOf, Program, ProgramCommand, Sources, command
from skillgen.cli.output import Console
from skillgen.config.project import SOURCE_KINDS, Source, command_words
from skillgen.errors import ExitCode


@command
def inspect(
    context: typer.Context,
    sources: Sources = None,
    cli: Program = None,
    cli_command: ProgramCommand = None,
    *,
    server: Annotated[Source, OptionsOf((Source,), kinds=SOURCE_KINDS)],
    console: Console,
) -> ExitCode:
    """Print the intermediate model as JSON: a snapshot that --snapshot reads.

    Examples:

        \b
        skillgen inspect openapi.yaml
        skillgen inspect -- python server.py > snapshot.json
    """
    from skillgen.sources.documents import snapshot_text
    from skillgen.text.markdown import printable_json

    server = replace(server, cli=cli, cli_command=command_words(cli_command, "--cli-command"))
    readings = [reading for _, reading in read_sources(sources or (), server, context.obj, console)]
    services = [service for reading in readings for service in reading.services]
    failures = [error for reading in readings for error in reading.failures]
    for error in failures:
        console.fail(error)
    console.problems(problem for service in services for problem in service.problems)
    if services:
        sys.stdout.write(printable_json(snapshot_text(services)))
    return max((error.exit_code for error in failures), default=ExitCode.DONE)
