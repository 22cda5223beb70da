"""`skillgen from-openapi`: documents an HTTP API."""

from __future__ import annotations

from typing import Annotated

import typer

from skillgen.cli import options
from skillgen.cli.options import DocumentOptions, OpenapiOptions, RunOptions, ServiceOptions, with_option_groups
from skillgen.cli.output import failed_json, run_command, show_documents
from skillgen.errors import ExitCode, UsageError
from skillgen.pipeline.generate import write_documents


@with_option_groups
def from_openapi(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="File or URL of the description, base URL of the API, or - for stdin."),
    ],
    *,
    header: options.DescriptionHeader = None,
    document: OpenapiOptions,
    service: ServiceOptions,
    output: DocumentOptions,
    run_options: RunOptions,
) -> None:
    """Document an HTTP API from its OpenAPI description (Swagger 2.0, OpenAPI 3.0 to 3.2; JSON or YAML)."""
    console = run_options.console()

    def run() -> ExitCode:
        from skillgen.pipeline import read

        if context.obj:
            raise UsageError("a server's command is given after --", fix="use from-server, or leave it out")
        output_options = output.output_options()
        overrides = service.overrides(run_options.timeout)
        description_options = document.description_options(header, run_options.timeout)
        with console.progress("reading the description"):
            service_read = read.read_description(source, overrides, description_options)
        result = write_documents((service_read,), output_options)
        return show_documents(result, output_options, console, output.as_json)

    run_command(run, console, failed_json=failed_json if output.as_json else None)
