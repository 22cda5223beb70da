"""`skillgen from-server`, and what it shares with `inspect` and `lint`: reading sources."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillgen.cli.options import AsJson, OptionsOf, command
from skillgen.cli.output import Console, show_documents
from skillgen.config.project import SOURCE_KINDS, OutputOptions, Source, Texts, flag_of, option_of, options_in
from skillgen.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from skillgen.pipeline.read import OnCrawl, Reading

_KINDS = ("command", *(item.name for item in options_in(Source) if option_of(item).is_kind and flag_of(item)))

_RARE_IN_SERVERS = ("out", "emit", "check", "install_to", "force", "templates", "profile")
"""Fields of `OutputOptions` with options that a server's own command line hardly ever has."""


def read_server(source: Source, texts: Texts, console: Console, on_crawl: OnCrawl | None = None) -> Reading:
    """Reads the source that the options select; `on_crawl` receives the raw results of a server.

    Raises:
        SourceError: it cannot be reached or read.
        UsageError: an option is invalid, or there is not exactly one source.
    """
    from skillgen.pipeline.read import Request, read_source

    try:
        kind = source.kind
    except UsageError as error:
        error.fix = "give one: -- COMMAND, --url URL, --config FILE, --manifest SOURCE or --snapshot FILE"
        raise
    with console.progress(f"reading the {kind}") as progress:
        return read_source(
            Request(
                source=source,
                texts=texts,
                progress=progress,
                # The user must see the URL to log in at, even with --quiet.
                announce=Console().say,
                confirm=_confirm_sending_secret if sys.stdin.isatty() and sys.stderr.isatty() else None,
                on_crawl=on_crawl,
            )
        )


def read_sources(
    sources: Sequence[str],
    server: Source,
    command: Sequence[str],
    console: Console,
    on_crawl: OnCrawl | None = None,
) -> Iterator[tuple[str | None, Reading]]:
    """Yields each document with what is read from it, then the servers that the options select, with `None`.

    `on_crawl` receives the raw results of each server.

    Raises:
        SourceError: one cannot be reached or read.
        UsageError: an option is invalid or has no effect, or there is no source.
    """
    from skillgen.pipeline.read import Request, read_source, refuse_useless_options

    server = replace(server, command=command)
    has_server = any(getattr(server, kind) for kind in SOURCE_KINDS)
    if not sources and not has_server:
        raise UsageError("no source is given", fix="give a file, a URL with --url, or a server: -- COMMAND")
    # An option may concern the documents, the server, or both.
    refuse_useless_options(server, [*(["document"] if sources else []), *([server.kind] if has_server else [])])
    for source in sources:
        yield source, read_source(Request(source=server.for_kind("document", source)))
    if has_server:
        chosen = server.for_kind(server.kind, getattr(server, server.kind))
        yield None, read_server(chosen, Texts(), console, on_crawl)


def _confirm_sending_secret(issuer: str) -> bool:
    from skillgen.text.markdown import one_line

    return typer.confirm(f"Send the client secret to the authorization server {one_line(issuer)}?", err=True)


@command
def from_server(
    context: typer.Context,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- COMMAND [ARG]...]", help="Command that starts a stdio server.", show_default=False),
    ] = None,
    *,
    source: Annotated[Source, OptionsOf((Source,), kinds=_KINDS)],
    texts: Texts,
    output: OutputOptions,
    as_json: AsJson = False,
    console: Console,
) -> ExitCode:
    """Document MCP servers: started by a command, at a URL, listed in a client configuration, or from a snapshot.

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
    from skillgen.pipeline.generate import checked_output, write_documents

    checked_output(output)
    if arguments:
        raise UsageError(f"unexpected argument {arguments[0]!r}", fix=_fix_of_argument(arguments[0]))
    _warn_of_swallowed_options(context.obj, output, console)
    reading = read_server(replace(source, command=context.obj), texts, console)
    return show_documents(write_documents(reading.services, output, reading.failures), output, console, as_json)


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


def _warn_of_swallowed_options(arguments: Sequence[str], output: OutputOptions, console: Console) -> None:
    """Warns of an option of skillgen that is after `--`, where it goes to the server, and not before."""
    known = {flag_of(item): item for item in options_in(OutputOptions) if item.name in _RARE_IN_SERVERS}
    for word in arguments[1:]:
        item = known.get("--out" if word == "-o" else word.partition("=")[0])
        if item is not None and getattr(output, item.name) == item.default:
            console.say(f"note: {word} is after --, so the server gets it; put options of skillgen before --")
