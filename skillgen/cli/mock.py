"""`skillgen mock`: serves what a source declares, with no service behind it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillgen.cli.options import command
from skillgen.cli.output import Console
from skillgen.cli.source import SOURCE, Given, read
from skillgen.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from skillgen.model.service import Service
    from skillgen.model.values import Json


def read_mocked(given: Given, console: Console) -> tuple[Service, Mapping[str, Json] | None]:
    """Returns the one service of a source, and the raw results if it is a server.

    Raises:
        SourceError: it cannot be reached or read.
        UsageError: there is not exactly one source with one service, or it is a program.
    """
    crawls: list[Mapping[str, Json]] = []
    service = read(given.request(on_crawl=lambda results, _: crawls.append(results)), console).only
    if service.kind == "cli":
        raise UsageError("a program has no mock", where=service.name, fix="give a server or a description of an API")
    return service, crawls[0] if crawls else None


@command
def mock(
    *,
    given: Annotated[Given, SOURCE],
    http: Annotated[
        int | None,
        typer.Option(
            metavar="PORT", min=0, max=65_535, help="Serve over HTTP at this port, 0 for any; default for an API: 0."
        ),
    ] = None,
    log: Annotated[str | None, typer.Option(metavar="FILE", help="Append each call to this file as JSON.")] = None,
    console: Console,
) -> ExitCode:
    """Serve what a source declares, with no service behind it.

    Each call is checked, answered and logged, until the mock is stopped.

    Examples:

        \b
        skillgen mock openapi.yaml --http 8080
        skillgen mock --log calls.jsonl -- python server.py
    """
    from skillgen.mock.log import CallLog
    from skillgen.mock.mcp import McpMock
    from skillgen.mock.serving import mock_of, serve_stdio, serving, url_of

    service, results = read_mocked(given, console)
    calls = CallLog(Path(log) if log is not None else None)
    served = mock_of(service, results, calls)
    try:
        if http is None and isinstance(served, McpMock):
            serve_stdio(served, sys.stdin.buffer, sys.stdout.buffer)
            return ExitCode.DONE
        with serving(served, http or 0) as port:
            # The caller needs the address, even with --quiet.
            Console().say(f"serving {service.name} at {url_of(service, port)}; stop it with Ctrl-C")
            threading.Event().wait()
    except (KeyboardInterrupt, SystemExit):  # SIGTERM raises the latter
        pass
    finally:
        calls.close()
    return ExitCode.DONE
