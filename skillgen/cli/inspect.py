"""`skillgen inspect`: prints the intermediate model as a snapshot."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

import typer

from skillgen.cli.from_server import crawl_servers, only_source, read_captured_server, refuse_useless_options
from skillgen.cli.options import OpenapiOptions, RunOptions, ServerOptions, with_option_groups
from skillgen.cli.output import report_failures, run_command
from skillgen.errors import ExitCode, SkillgenError, UsageError
from skillgen.model.service import Service
from skillgen.pipeline.generate import Overrides
from skillgen.text.markdown import disarm_json
from skillgen.text.unicode import escape_invisible_in_json


@with_option_groups
def inspect(
    context: typer.Context,
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE]... [-- COMMAND [ARG]...]", help="OpenAPI descriptions, service manifests or snapshots."
        ),
    ] = None,
    *,
    server: ServerOptions,
    document: OpenapiOptions,
    run_options: RunOptions,
) -> None:
    """Print the intermediate model as JSON: a snapshot that --snapshot reads."""
    console = run_options.console()

    def run() -> ExitCode:
        from skillgen.pipeline import read
        from skillgen.sources.documents import is_url, snapshot_text

        description_options = document.description_options(server.header, run_options.timeout)
        services: list[Service] = []
        for source in sources or ():
            services += read.read_document(source, Overrides(), description_options)
        if server.snapshot or server.manifest:
            services += read_captured_server(server, Overrides(), timeout_s=run_options.timeout)
        failures: list[SkillgenError] = []
        given = {"url": server.url, "config": server.config, "command": context.obj}
        if any(given.values()):
            only_source(given, "give one: -- COMMAND, --url URL or --config FILE")
            crawled, failures = crawl_servers(context.obj, server, Overrides(), console, timeout_s=run_options.timeout)
            services += crawled
        else:
            # --header also applies to descriptions that are fetched.
            uses_header = any(is_url(source) for source in sources or ())
            refuse_useless_options(replace(server, header=None) if uses_header else server, "nothing")
        if not services and not failures:
            raise UsageError("no source is given", fix="give a file, a URL with --url, or a server: -- COMMAND")
        code = report_failures(failures, console)
        console.problems(problem for service in services for problem in service.problems)
        if services:
            sys.stdout.write(disarm_json(escape_invisible_in_json(snapshot_text(services))))
        return code

    run_command(run, console)
