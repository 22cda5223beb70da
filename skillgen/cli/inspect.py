"""`skillgen inspect`: prints the intermediate model."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from skillgen.cli.families import RunFamily, ServerFamily, with_families
from skillgen.cli.running import crawled, run_command, target_of
from skillgen.errors import ExitCode, UsageError
from skillgen.model.service import Service
from skillgen.pipeline import reading
from skillgen.pipeline.options import Overrides


@with_families
def inspect(
    context: typer.Context,
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SOURCE]... [-- COMMAND [ARG]...]", help="OpenAPI descriptions or snapshots."),
    ] = None,
    *,
    server: ServerFamily,
    how: RunFamily,
) -> None:
    """Prints the intermediate model as JSON: what --snapshot reads."""
    console = how.console()

    def run() -> ExitCode:
        from skillgen.sources.snapshot import snapshot_text

        services: list[Service] = []
        for source in (*(sources or ()), *((server.snapshot,) if server.snapshot else ())):
            services += reading.read_document(source, Overrides(), timeout_s=how.timeout)
        if server.url or context.obj:
            target = target_of(context.obj, server, how.timeout)
            services.append(crawled(target, Overrides(), server.server_name, console))
        if not services:
            raise UsageError("no source is given", fix="give a file, a URL with --url, or a server: -- COMMAND")
        console.problems(problem for service in services for problem in service.problems)
        sys.stdout.write(snapshot_text(services))
        return ExitCode.DONE

    run_command(run, console, how.debug)
