"""From-server and which server is meant.

Which servers a command line names, and whether its options make sense together.

`skillgen from-server`: documents MCP servers.
"""

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
from skillgen.cli.output import Console, failed_json, run_command, write_documents
from skillgen.config.project import unsupported_keys
from skillgen.errors import ExitCode, SkillgenError, UsageError
from skillgen.model.service import Service
from skillgen.pipeline.generate import Overrides
from skillgen.text.markdown import one_line

if TYPE_CHECKING:
    from skillgen.sources.mcp.target import CrawlScope, Login, ServerTarget


def refuse_useless_options(server: ServerOptions, source: str) -> None:
    """Refuses options that would do nothing, so that nobody relies on them.

    Raises:
        UsageError: one of them is given.
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
        raise UsageError(f"does nothing {with_what}", where=flags, fix=fix)


def crawl_servers(
    command: tuple[str, ...], server: ServerOptions, overrides: Overrides, console: Console, *, timeout_s: float
) -> tuple[list[Service], list[SkillgenError]]:
    """Crawls the servers that a command line names, and gives them with why others of a file could not be read.

    Raises:
        SourceError: the only one cannot be reached, or does not list its tools.
        UsageError: an option makes no sense.
    """
    if server.config is None:
        from skillgen.pipeline import read

        refuse_useless_options(server, "url" if server.url is not None else "command")
        target = _target_of(command, server, timeout_s)
        with console.progress("starting the server" if command else f"connecting to {target.public_url}") as progress:
            found = read.read_server(target, overrides, server_name=server.server_name, progress=progress)
        return [found], []
    refuse_useless_options(server, "config")
    return _read_file(server.config, server, overrides, console, timeout_s=timeout_s)


def read_captured_server(server: ServerOptions, overrides: Overrides, *, timeout_s: float) -> tuple[Service, ...]:
    """Reads what was written of servers: a snapshot, or a service manifest.

    Raises:
        SourceError: it is neither.
    """
    from skillgen.pipeline import read

    if server.manifest is not None:
        found = read.read_manifest(server.manifest, overrides, server_name=server.server_name, timeout_s=timeout_s)
        return (found,)
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
            "--name, --service-version, --description, --base-url and --extra are of one service, and the file has "
            "several",
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
        raise UsageError("no such folder", where=f"--cwd {cwd}", fix="give the folder in which the server is to start")
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
        raise UsageError("does nothing without --login", where="--client-id", fix="add --login")
    return Login(
        is_requested=server.login,
        # Whoever is to log in must read where, also with --quiet.
        announce=Console().say if server.login else None,
        client_id=server.client_id,
        client_secret=options.parse_secret(server.client_secret),
        issuer=server.issuer,
        confirm=_may_get_secret if sys.stdin.isatty() and sys.stderr.isatty() else None,
    )


def _may_get_secret(issuer: str) -> bool:
    return typer.confirm(f"Send the client secret to the authorization server {one_line(issuer)}?", err=True)


def _scope_of(server: ServerOptions) -> CrawlScope:
    from skillgen.sources.mcp.target import CrawlScope

    return CrawlScope.from_options(server)


def only_source(given: Mapping[str, object], fix: str) -> str:
    """Gives the name of the one source that is given.

    Raises:
        UsageError: none is, or several are.
    """
    names: Sequence[str] = [name for name, value in given.items() if value]
    if len(names) != 1:
        what = "no server is given" if not names else f"several sources are given: {', '.join(names)}"
        raise UsageError(what, fix=fix)
    return names[0]


def refuse_bad_url(url: str, where: str) -> None:
    """Refuses what is not the URL of a server.

    Raises:
        UsageError: it is not.
    """
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good:
        raise UsageError("is no http:// or https:// address", where=where, fix="give one, as https://HOST/PATH")


_RARE_IN_SERVERS = ("out", "emit", "check", "install", "force", "templates", "profile")
"""Fields of `DocumentOptions` whose options a server's own command line hardly ever has."""

_FIX = "give one: -- COMMAND, --url URL, --config FILE, --manifest SOURCE or --snapshot FILE"


@with_option_groups
def from_server(
    context: typer.Context,
    command: Annotated[list[str] | None, typer.Argument(metavar="[-- COMMAND [ARG]...]", show_default=False)] = None,
    *,
    server: ServerOptions,
    service: ServiceOptions,
    output: DocumentOptions,
    how: RunOptions,
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
        source = only_source(given, _FIX)
        if source in ("snapshot", "manifest"):
            refuse_useless_options(server, source)
            services = read_captured_server(server, overrides, timeout_s=how.timeout)
            return write_documents(services, output_options, console, output.as_json)
        _warn_of_swallowed_options(context, output, console)
        found, failures = crawl_servers(context.obj, server, overrides, console, timeout_s=how.timeout)
        return write_documents(found, output_options, console, output.as_json, failures=failures)

    run_command(run, console, failed_json=failed_json(output.as_json))


def _refuse_misplaced_command(words: Sequence[str] | None, command: tuple[str, ...]) -> None:
    if words:
        raise UsageError(
            f"unexpected argument {words[0]!r}",
            fix=f"put -- before the server's command: skillgen from-server -- {words[0]} …",
        )


def _warn_of_swallowed_options(context: typer.Context, output: DocumentOptions, console: Console) -> None:
    """Reports an option after `--`, which the server gets, where skillgen has one of that name and was not given it."""
    plain = DocumentOptions()
    known = {flag: option.name for option in context.command.params for flag in option.opts}
    for word in context.obj[1:]:
        field = known.get(word.partition("=")[0])
        if field in _RARE_IN_SERVERS and getattr(output, field) == getattr(plain, field):
            console.say(f"note: {word} stands after --, so the server gets it; options of skillgen go before --")
