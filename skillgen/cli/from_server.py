"""`skillgen from-server`: documents MCP servers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from msgspec import structs

from skillgen.cli.options import command
from skillgen.cli.source import Documenting, documenting
from skillgen.config.option import options_in
from skillgen.config.project import Source
from skillgen.errors import ExitCode, UsageError

_KINDS = {"command", *(item.name for item in options_in(Source) if item.is_kind and item.flag)} - {"cli_command"}


@command
def from_server(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- COMMAND [ARG]...]", help="Command that starts a stdio server.", show_default=False),
    ] = None,
    *,
    given: Annotated[Documenting, documenting(*_KINDS)],
) -> ExitCode:
    """Document MCP servers.

    Everything after -- is the command of a server, which gets a reduced environment. The servers of --config are read
    at the same time, each into OUT/NAME if there are several; one that fails does not affect the others. Of a
    server.json, a registry's answer, a server card, a catalogue, the folder of a plugin, a URL or a domain, --server
    selects a server; without it, they are listed and nothing is contacted.

    Credentials that are passed with --env, --header or --login reach no document and no message. A login is stored in
    the user's configuration folder.

    Examples:

        \b
        skillgen from-server -- npx -y @modelcontextprotocol/server-memory
        skillgen from-server --url https://example.com/mcp --header 'Authorization: Bearer env:TOKEN'
        skillgen from-server --config .mcp.json
        skillgen from-server --env ACME_API_KEY --out docs/agents -- npx -y @acme/mcp-server
        skillgen from-server --install claude --profile claude -- python server.py
        skillgen from-server --snapshot snapshot.json
    """
    if arguments:
        raise UsageError(f"unexpected argument {arguments[0]!r}", fix=_fix_of_argument(arguments[0]))
    try:
        structs.replace(given.source, command=given.command).kind  # noqa: B018
    except UsageError as error:
        error.fix = "give one: -- COMMAND, --url URL, --config FILE, --manifest SOURCE or --snapshot FILE"
        raise
    return given.document(command=given.command)


def _fix_of_argument(argument: str) -> str:
    """Returns how to give what is given without an option: a URL, a file or the command of a server."""
    from skillgen.sources.documents import RUNTIMES, is_url

    if is_url(argument):
        return f"give the URL of a server with --url {argument}; for an API, use from-openapi"
    path = Path(argument)
    if path.suffix in (".json", ".yaml", ".yml"):
        return f"name what the file is: --config {argument} of a client, or --snapshot; for an API, use from-openapi"
    runtime = RUNTIMES.get(path.suffix)
    command = argument if runtime is None else f"{runtime} {argument}"
    return f"put -- before the server's command: skillgen from-server -- {command} …"
