"""`skillgen init`: writes the files that a project starts with."""

from __future__ import annotations

from pathlib import Path

import typer

from skillgen.cli.options import command
from skillgen.cli.output import Console
from skillgen.errors import ExitCode, UsageError


@command
def init(context: typer.Context, *, console: Console) -> ExitCode:
    """Write a skillgen.yaml for the project's servers, APIs and programs, and a pre-commit entry. Keeps existing files.

    It runs nothing and fetches nothing.
    """
    from skillgen.pipeline.init import propose_targets, write_project
    from skillgen.text.markdown import one_line

    if context.obj:
        raise UsageError("a server's command is given after --", fix="write it into skillgen.yaml")
    with console.progress("searching the project"):
        proposals = propose_targets(Path())
    for message in write_project(proposals):
        for line in message.splitlines():
            console.say(line[: len(line) - len(line.lstrip())] + one_line(line))
    return ExitCode.DONE
