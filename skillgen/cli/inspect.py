"""`skillgen inspect`: prints the intermediate model as a snapshot."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

import typer

from skillgen.cli.from_server import read_server
from skillgen.cli.options import OptionsOf, command
from skillgen.cli.output import Console
from skillgen.config.project import SOURCE_KINDS, Source, Texts
from skillgen.errors import ExitCode, SkillgenError, UsageError


@command
def inspect(
    context: typer.Context,
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE]... [-- COMMAND [ARG]...]", help="OpenAPI descriptions, service manifests or snapshots."
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--cli", metavar="MODULE:APP", help="Command-line program, as of from-cli.")
    ] = None,
    *,
    server: Annotated[Source, OptionsOf((Source,), kinds=SOURCE_KINDS)],
    console: Console,
) -> ExitCode:
    """Print the intermediate model as JSON: a snapshot that --snapshot reads."""
    from skillgen.model.service import Service
    from skillgen.pipeline.read import Request, read_source, refuse_useless_options
    from skillgen.sources.documents import snapshot_text
    from skillgen.text.markdown import disarm_json
    from skillgen.text.unicode import escape_invisible_in_json

    server = replace(server, command=context.obj, cli=target)
    has_server = any(getattr(server, kind) for kind in SOURCE_KINDS)
    if not sources and not has_server:
        raise UsageError("no source is given", fix="give a file, a URL with --url, or a server: -- COMMAND")
    # An option may concern the documents, the server, or both.
    refuse_useless_options(server, [*(["document"] if sources else []), *([server.kind] if has_server else [])])
    services: list[Service] = []
    failures: tuple[SkillgenError, ...] = ()
    for source in sources or ():
        services += read_source(Request(source=server.for_kind("document", source))).services
    if has_server:
        reading = read_server(server.for_kind(server.kind, getattr(server, server.kind)), Texts(), console)
        services += reading.services
        failures = reading.failures
    for error in failures:
        console.fail(error)
    console.problems(problem for service in services for problem in service.problems)
    if services:
        sys.stdout.write(disarm_json(escape_invisible_in_json(snapshot_text(services))))
    return max((error.exit_code for error in failures), default=ExitCode.DONE)
