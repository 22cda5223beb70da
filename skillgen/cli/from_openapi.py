"""`skillgen from-openapi`: documents an HTTP API."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from skillgen.cli.options import AsJson, OptionsOf, command
from skillgen.cli.output import Console, show_documents
from skillgen.config.project import OutputOptions, Source, Texts
from skillgen.errors import ExitCode, UsageError


@command
def from_openapi(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="File or URL of the description, base URL of the API, or - for stdin."),
    ],
    *,
    options: Annotated[Source, OptionsOf((Source,), kinds=("openapi",))],
    texts: Texts,
    output: OutputOptions,
    as_json: AsJson = False,
    console: Console,
) -> ExitCode:
    """Document an HTTP API from its OpenAPI description (Swagger 2.0, OpenAPI 3.0 to 3.2; JSON or YAML)."""
    from skillgen.pipeline.generate import checked_output, write_documents
    from skillgen.pipeline.read import Request, read_source

    if context.obj:
        raise UsageError("a server's command is given after --", fix="use from-server, or leave it out")
    checked_output(output)
    with console.progress("reading the description"):
        reading = read_source(Request(source=replace(options, openapi=source), texts=texts))
    return show_documents(write_documents(reading.services, output), output, console, as_json)
