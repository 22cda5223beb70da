"""`skillgen from-server`: documents MCP servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from skillgen.cli.console import Console
from skillgen.cli.families import OutputFamily, RunFamily, ServerFamily, ServiceFamily, with_families
from skillgen.cli.running import failed_json, run_command, write_documents
from skillgen.cli.servers import one_source, read_named_servers, read_written_server, refuse_useless_options
from skillgen.errors import ExitCode, UsageError

_RARE_IN_SERVERS = ("out", "emit", "check", "install", "force", "templates", "profile")
"""Fields of `OutputFamily` whose options a server's own command line hardly ever has."""

_FIX = "give one: -- COMMAND, --url URL, --config FILE, --manifest SOURCE or --snapshot FILE"


@with_families
def from_server(
    context: typer.Context,
    command: Annotated[list[str] | None, typer.Argument(metavar="[-- COMMAND [ARG]...]", show_default=False)] = None,
    *,
    server: ServerFamily,
    service: ServiceFamily,
    output: OutputFamily,
    how: RunFamily,
) -> None:
    """Documents MCP servers: one that a command starts, one at a URL, those of a client's file, or a snapshot."""
    console = how.console()

    def run() -> ExitCode:
        output_options = output.output_options()
        overrides = service.overrides(how.timeout)
        _refuse_misplaced_command(command, context.obj)
        given = {
            "url": server.url,
            "config": server.config,
            "manifest": server.manifest,
            "snapshot": server.snapshot,
            "command": context.obj,
        }
        source = one_source(given, _FIX)
        if source in ("snapshot", "manifest"):
            refuse_useless_options(server, source)
            services = read_written_server(server, overrides, timeout_s=how.timeout)
            return write_documents(services, output_options, console, output.as_json)
        _warn_of_swallowed_options(context, output, console)
        found, failures = read_named_servers(context.obj, server, overrides, console, timeout_s=how.timeout)
        return write_documents(found, output_options, console, output.as_json, failures=failures)

    run_command(run, console, failed_json=failed_json(output.as_json))


def _refuse_misplaced_command(words: Sequence[str] | None, command: tuple[str, ...]) -> None:
    if words:
        raise UsageError(
            f"unexpected argument {words[0]!r}",
            fix=f"put -- before the server's command: skillgen from-server -- {words[0]} …",
        )


def _warn_of_swallowed_options(context: typer.Context, output: OutputFamily, console: Console) -> None:
    """Reports an option after `--`, which the server gets, where skillgen has one of that name and was not given it."""
    plain = OutputFamily()
    known = {flag: option.name for option in context.command.params for flag in option.opts}
    for word in context.obj[1:]:
        field = known.get(word.partition("=")[0])
        if field in _RARE_IN_SERVERS and getattr(output, field) == getattr(plain, field):
            console.say(f"note: {word} stands after --, so the server gets it; options of skillgen go before --")
