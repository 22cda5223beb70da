"""`skillgen init`: writes the files that a project starts with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skillgen.cli.options import command
from skillgen.cli.output import Console
from skillgen.errors import ExitCode, UsageError
from skillgen.text.markdown import one_line

_HOSTS = ("github",)


@command
def init(
    ci: Annotated[
        str | None,
        typer.Option("--ci", metavar="HOST", help=f"Also write a workflow that checks: {', '.join(_HOSTS)}."),
    ] = None,
    *,
    console: Console,
) -> ExitCode:
    """Write a skillgen.yaml and a pre-commit entry for a project.

    Finds the project's servers, APIs and programs. Keeps existing files, runs nothing and fetches nothing.

    Examples:

        \b
        skillgen init
        skillgen init && skillgen build
        skillgen init --ci github
    """
    from skillgen.pipeline.init import propose_targets, write_project

    if ci is not None and ci not in _HOSTS:
        raise UsageError(f"no such host: {ci}", where="--ci", fix=f"choose from {', '.join(_HOSTS)}")
    with console.progress("searching the project"):
        proposals = propose_targets(Path())
    for message in write_project(proposals, ci):
        for line in message.splitlines():
            console.say(line[: len(line) - len(line.lstrip())] + one_line(line))
    return ExitCode.DONE
