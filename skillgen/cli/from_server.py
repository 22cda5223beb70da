"""`skillgen from-server`: documents MCP servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from skillgen.cli.families import OutputFamily, RunFamily, ServerFamily, ServiceFamily, with_families
from skillgen.cli.running import crawled, run_command, target_of, write_documents
from skillgen.errors import ExitCode, UsageError
from skillgen.pipeline import reading


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
    """Documents an MCP server: one that a command starts, one at a URL, or a snapshot of one."""
    console = how.console()

    def run() -> ExitCode:
        overrides, output_options = service.overrides(), output.output_options()
        _refuse_misplaced_command(command, context.obj)
        if _one_source(url=server.url, snapshot=server.snapshot, command=context.obj) == "snapshot":
            services = reading.read_snapshot(server.snapshot or "", overrides, timeout_s=how.timeout)
        else:
            target = target_of(context.obj, server, how.timeout)
            services = (crawled(target, overrides, server.server_name, console),)
        return write_documents(services, output_options, console, output.as_json)

    run_command(run, console, how.debug)


def _one_source(**given: object) -> str:
    """Gives the name of the one source that is given."""
    names = [name for name, value in given.items() if value]
    if len(names) != 1:
        what = "no server is given" if not names else f"several sources are given: {', '.join(names)}"
        raise UsageError(what, fix="give one: -- COMMAND, --url URL or --snapshot FILE")
    return names[0]


def _refuse_misplaced_command(words: Sequence[str] | None, command: tuple[str, ...]) -> None:
    if words:
        raise UsageError(
            f"unexpected argument {words[0]!r}",
            fix=f"put -- before the server's command: skillgen from-server -- {words[0]} …",
        )
