"""What commands share: how they run, print and end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from skillgen.cli import options
from skillgen.cli.console import Console, outcome_json, summary
from skillgen.cli.families import ServerFamily
from skillgen.errors import ExitCode, Problem, SkillgenError, UsageError
from skillgen.model.service import Service
from skillgen.pipeline import documenting, reading
from skillgen.pipeline.options import Outcome, OutputOptions, Overrides

if TYPE_CHECKING:
    from skillgen.sources.mcp.crawl import ServerTarget
    from skillgen.sources.mcp.target import Login


def run_command(run: Callable[[], ExitCode], console: Console, debug: bool) -> None:
    """Runs a command; a person sees a message, and a traceback only with `--debug`."""
    try:
        code = run()
    except SkillgenError as error:
        if debug:
            raise
        console.fail(error)
        code = error.exit_code
    except (typer.Exit, typer.Abort, KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:
        if debug:
            raise
        console.fail(
            SkillgenError(
                f"a bug in skillgen: {type(error).__name__}: {error}", fix="report it with the output of --debug"
            )
        )
        code = ExitCode.OUTPUT
    raise typer.Exit(int(code))


def write_documents(services: Iterable[Service], output: OutputOptions, console: Console, as_json: bool) -> ExitCode:
    """Documents each service; one that fails does not cost the others, and the highest code wins."""
    services = tuple(services)
    outcomes: list[Outcome] = []
    problems: list[Problem] = []
    code = ExitCode.DONE
    for service in services:
        folder = output.out if len(services) == 1 else output.out / documenting.folder_name(service)
        try:
            outcome = documenting.generate(service, replace(output, out=folder))
        except SkillgenError as error:
            if len(services) == 1:
                console.problems(service.problems)
                raise
            console.fail(error)
            code = max(code, error.exit_code)
            continue
        console.problems(outcome.problems)
        if output.check and not as_json:
            sys.stdout.write(outcome.diff)
        console.say(summary(outcome, output.check))
        outcomes.append(outcome)
        problems.extend(outcome.problems)
        code = max(code, outcome.exit_code)
    if as_json:
        print(outcome_json(outcomes, problems))
    if output.check and code is ExitCode.DRIFT:
        console.say("the documents are not up to date; run the same command without --check")
    return code


def crawled(target: ServerTarget, overrides: Overrides, server_name: str | None, console: Console) -> Service:
    """Crawls a server and shows how it goes."""
    with console.progress("starting the server" if target.command else f"connecting to {target.url}") as progress:
        return reading.read_server(target, overrides, server_name=server_name, progress=progress)


def target_of(command: tuple[str, ...], server: ServerFamily, timeout_s: float) -> ServerTarget:
    """Gives the server that a command line names.

    Raises:
        UsageError: an option makes no sense.
    """
    from skillgen.sources.mcp.crawl import ServerTarget

    url, cwd = server.url, server.cwd
    if url is not None:
        _refuse_bad_url(url)
    if cwd is not None and not cwd.is_dir():
        raise UsageError("no such folder", where=f"--cwd {cwd}", fix="give the folder in which the server is to start")
    return ServerTarget(
        command=command,
        url=url,
        env=options.env_values(server.env),
        headers=options.header_values(server.header),
        cwd=cwd,
        login=_login_of(server),
        timeout_s=timeout_s,
    )


def _login_of(server: ServerFamily) -> Login:
    from skillgen.sources.mcp.target import Login

    if not server.login and (server.client_id or server.client_secret):
        raise UsageError("does nothing without --login", where="--client-id", fix="add --login")
    return Login(
        announce=Console().say if server.login else None,
        client_id=server.client_id,
        client_secret=options.secret_value(server.client_secret),
    )


def _refuse_bad_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good:
        raise UsageError("is no http:// or https:// address", where="--url", fix="give one, as https://HOST/PATH")
