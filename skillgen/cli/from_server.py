"""`skillgen from-server`, and what it shares with `inspect`: selecting servers and crawling them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from skillgen.cli import options
from skillgen.cli.options import (
    DocumentOptions,
    RunOptions,
    ServerOptions,
    ServiceOptions,
    field_of_option,
    with_option_groups,
)
from skillgen.cli.output import Console, failed_json, run_command, show_documents
from skillgen.config.project import unsupported_keys
from skillgen.errors import ExitCode, SkillgenError, UsageError
from skillgen.model.service import Service
from skillgen.pipeline.generate import Overrides, write_documents
from skillgen.text.markdown import one_line

if TYPE_CHECKING:
    from skillgen.sources.mcp.target import CrawlScope, Login, ServerTarget


def refuse_useless_options(server: ServerOptions, source: str) -> None:
    """Refuses options that have no effect on a kind of source, so that nobody relies on them.

    Raises:
        UsageError: such an option is given.
    """
    untaken = unsupported_keys(None if source == "nothing" else source)
    given = [
        item.name for item in fields(server) if field_of_option(item.name) in untaken and getattr(server, item.name)
    ]
    if given:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        with_what = {"nothing": "without a server", "command": "with a server's command"}.get(
            source, f"with --{source}"
        )
        fix = "leave it out" if source != "config" or given == ["server"] else "write it into the file instead"
        raise UsageError(f"has no effect {with_what}", where=flags, fix=fix)


def crawl_servers(
    command: tuple[str, ...], server: ServerOptions, overrides: Overrides, console: Console, *, timeout_s: float
) -> tuple[list[Service], list[SkillgenError]]:
    """Crawls the server or servers that the options select. Returns services, and the errors of servers that failed.

    Raises:
        SourceError: a single server cannot be reached, or does not list its tools.
        UsageError: an option is invalid.
    """
    if server.config is None:
        from skillgen.pipeline import read

        refuse_useless_options(server, "url" if server.url is not None else "command")
        target = _target_of(command, server, timeout_s)
        with console.progress("starting the server" if command else f"connecting to {target.public_url}") as progress:
            service = read.read_server(target, overrides, server_name=server.server_name, progress=progress)
        return [service], []
    refuse_useless_options(server, "config")
    return _read_file(server.config, server, overrides, console, timeout_s=timeout_s)


def read_captured_server(server: ServerOptions, overrides: Overrides, *, timeout_s: float) -> tuple[Service, ...]:
    """Reads the snapshot or the service manifest that the options name.

    Raises:
        SourceError: it cannot be read, or is something else.
    """
    from skillgen.pipeline import read

    if server.manifest is not None:
        return (read.read_manifest(server.manifest, overrides, server_name=server.server_name, timeout_s=timeout_s),)
    return read.read_snapshot(server.snapshot or "", overrides, timeout_s=timeout_s)


def _read_file(
    path: Path, server: ServerOptions, overrides: Overrides, console: Console, *, timeout_s: float
) -> tuple[list[Service], list[SkillgenError]]:
    from skillgen.pipeline.read import read_servers, servers_in_file
    from skillgen.sources.mcp.session import CancelToken

    servers = servers_in_file(
        path,
        server.server,
        given=options.parse_env(server.env),
        environment=os.environ,
        login=_login_of(server),
        scope=_scope_of(server),
        timeout_s=timeout_s,
    )
    if len(servers) > 1 and replace(overrides, include=(), exclude=()) != Overrides():
        raise UsageError(
            "--name, --service-version, --description, --base-url and --extra apply to one service, but the file has "
            "several servers",
            where=f"--config {path}",
            fix="choose one with --server NAME",
        )
    with console.progress(f"reading {path}") as progress:
        read = read_servers(servers, overrides, progress, CancelToken())
    failures = [item.outcome for item in read if isinstance(item.outcome, SkillgenError)]
    if failures and len(read) == 1:
        raise failures[0]
    return [item.outcome for item in read if isinstance(item.outcome, Service)], failures


def _target_of(command: tuple[str, ...], server: ServerOptions, timeout_s: float) -> ServerTarget:
    from skillgen.sources.mcp.target import ServerTarget

    url, cwd = server.url, server.cwd
    if url is not None:
        refuse_bad_url(url, "--url")
    if cwd is not None and not cwd.is_dir():
        raise UsageError("the folder does not exist", where=f"--cwd {cwd}", fix="create it, or correct the path")
    return ServerTarget(
        command=command,
        url=url,
        env=options.parse_env(server.env),
        headers=options.parse_headers(server.header),
        cwd=cwd,
        login=_login_of(server),
        timeout_s=timeout_s,
        scope=_scope_of(server),
    )


def _login_of(server: ServerOptions) -> Login:
    from skillgen.sources.mcp.target import Login

    if not server.login and (server.client_id or server.client_secret or server.issuer):
        raise UsageError("has no effect without --login", where="--client-id", fix="add --login")
    return Login(
        is_requested=server.login,
        # The user must see the URL to log in at, even with --quiet.
        announce=Console().say if server.login else None,
        client_id=server.client_id,
        client_secret=options.parse_secret(server.client_secret),
        issuer=server.issuer,
        confirm=_confirm_sending_secret if sys.stdin.isatty() and sys.stderr.isatty() else None,
    )


def _confirm_sending_secret(issuer: str) -> bool:
    return typer.confirm(f"Send the client secret to the authorization server {one_line(issuer)}?", err=True)


def _scope_of(server: ServerOptions) -> CrawlScope:
    from skillgen.sources.mcp.target import CrawlScope

    return CrawlScope.from_options(server)


def only_source(given: Mapping[str, object], fix: str) -> str:
    """Returns the name of the only source that is given.

    Raises:
        UsageError: no source is given, or several are.
    """
    names = [name for name, value in given.items() if value]
    if len(names) != 1:
        what = f"several sources are given: {', '.join(names)}" if names else "no server is given"
        raise UsageError(what, fix=fix)
    return names[0]


def refuse_bad_url(url: str, where: str) -> None:
    """Refuses a string that is not an HTTP URL with a host.

    Raises:
        UsageError: it is not.
    """
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise UsageError("is not an http:// or https:// URL", where=where, fix="write https://HOST/PATH")


_RARE_IN_SERVERS = ("out", "emit", "check", "install", "force", "templates", "profile")
"""Fields of `DocumentOptions` with options that a server's own command line hardly ever has."""

_SOURCE_FIX = "give one: -- COMMAND, --url URL, --config FILE, --manifest SOURCE or --snapshot FILE"


@with_option_groups
def from_server(
    context: typer.Context,
    command: Annotated[list[str] | None, typer.Argument(metavar="[-- COMMAND [ARG]...]", show_default=False)] = None,
    *,
    server: ServerOptions,
    service: ServiceOptions,
    output: DocumentOptions,
    run_options: RunOptions,
) -> None:
    """Document MCP servers: started by a command, at a URL, listed in a client configuration, or from a snapshot."""
    console = run_options.console()

    def run() -> ExitCode:
        output_options = output.output_options()
        overrides = service.overrides(run_options.timeout)
        _refuse_misplaced_command(command)
        given = {
            "url": server.url,
            "config": server.config,
            "manifest": server.manifest,
            "snapshot": server.snapshot,
            "command": context.obj,
        }
        source = only_source(given, _SOURCE_FIX)
        if source in ("snapshot", "manifest"):
            refuse_useless_options(server, source)
            services = read_captured_server(server, overrides, timeout_s=run_options.timeout)
            return show_documents(write_documents(services, output_options), output_options, console, output.as_json)
        _warn_of_swallowed_options(context, output, console)
        crawled, failures = crawl_servers(context.obj, server, overrides, console, timeout_s=run_options.timeout)
        result = write_documents(crawled, output_options, failures)
        return show_documents(result, output_options, console, output.as_json)

    run_command(run, console, failed_json=failed_json if output.as_json else None)


def _refuse_misplaced_command(arguments: Sequence[str] | None) -> None:
    if arguments:
        raise UsageError(
            f"unexpected argument {arguments[0]!r}",
            fix=f"put -- before the server's command: skillgen from-server -- {arguments[0]} …",
        )


def _warn_of_swallowed_options(context: typer.Context, output: DocumentOptions, console: Console) -> None:
    """Warns of an option of skillgen that is after `--`, where it goes to the server, and not before."""
    defaults = DocumentOptions()
    known = {flag: option.name for option in context.command.params for flag in option.opts}
    for word in context.obj[1:]:
        field = known.get(word.partition("=")[0])
        if field in _RARE_IN_SERVERS and getattr(output, field) == getattr(defaults, field):
            console.say(f"note: {word} is after --, so the server gets it; put options of skillgen before --")
