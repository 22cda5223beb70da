"""`skillgen from-openapi`: documents HTTP APIs."""

from __future__ import annotations

from typing import Annotated

import typer

from skillgen.cli.families import OutputFamily, RunFamily, ServiceFamily, with_families
from skillgen.cli.running import run_command, write_documents
from skillgen.errors import ExitCode, UsageError
from skillgen.pipeline import reading


@with_families
def from_openapi(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A file, a URL, or - for standard input.")],
    *,
    service: ServiceFamily,
    output: OutputFamily,
    how: RunFamily,
) -> None:
    """Documents an HTTP API from its OpenAPI description (3.0, 3.1; JSON or YAML)."""
    console = how.console()

    def run() -> ExitCode:
        if context.obj:
            raise UsageError("a server's command is given (after --)", fix="use from-server, or leave it out")
        overrides, output_options = service.overrides(), output.output_options()
        with console.progress(f"reading {source}"):
            described = reading.read_description(source, overrides, timeout_s=how.timeout)
        return write_documents((described,), output_options, console, output.as_json)

    run_command(run, console, how.debug)
