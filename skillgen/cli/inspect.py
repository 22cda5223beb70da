"""`skillgen inspect`: prints the intermediate model as a snapshot."""

from __future__ import annotations

import sys
from typing import Annotated

from skillgen.cli.options import command
from skillgen.cli.output import Console
from skillgen.cli.source import SOURCES, Given, read
from skillgen.errors import ExitCode
from skillgen.text.markdown import printable_json


@command
def inspect(
    *,
    given: Annotated[Given, SOURCES],
    console: Console,
) -> ExitCode:
    """Print the intermediate model as JSON: a snapshot.

    Every command reads a snapshot in place of its source.

    Examples:

        \b
        skillgen inspect openapi.yaml
        skillgen inspect -- python server.py > snapshot.json
    """
    from skillgen.pipeline.ownership import with_portable_source
    from skillgen.sources.documents import snapshot_text

    readings = [read(request, console) for _, request in given.requests()]
    services = [with_portable_source(service) for reading in readings for service in reading.services]
    failures = [error for reading in readings for error in reading.failures]
    for error in failures:
        console.fail(error)
    console.problems(problem for service in services for problem in service.problems)
    if services:
        sys.stdout.write(printable_json(snapshot_text(services)))
    return max((error.exit_code for error in failures), default=ExitCode.DONE)
