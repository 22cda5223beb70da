"""`skillgen update`: repeats the runs that wrote documents of services of others."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from skillgen.cli import app
from skillgen.cli.options import OptionsOf, command
from skillgen.cli.output import Console, change_lines
from skillgen.config.project import DEFAULT_OUT, OutputOptions
from skillgen.errors import ExitCode, SkillgenError, UsageError
from skillgen.write.record import RECORD_NAME, Record, Run, read_record


@command
def update(
    folders: Annotated[
        list[Path] | None, typer.Argument(metavar="[OUT]...", help=f"Folders of documents. Default: {DEFAULT_OUT}.")
    ] = None,
    *,
    output: Annotated[OutputOptions, OptionsOf(classes=(OutputOptions,), only=("check",))],
    console: Console,
) -> ExitCode:
    """Renew documents with the commands that wrote them.

    For services by others; what changed for callers is printed. Each OUT names the command that wrote it, which is run
    again in its folder: the command of a server is started as it was. Secrets are not stored; the variables that they
    came from must be set. A folder that fails does not stop the others, and keeps its documents. The targets of a
    project are renewed by `skillgen build`.

    Examples:

        \b
        skillgen update
        skillgen update docs/github docs/stripe
        skillgen update --check agent-docs
    """
    code = ExitCode.DONE
    for out in folders or [Path(DEFAULT_OUT)]:
        try:
            code = max(code, _update(out, console, check=output.check))
        except SkillgenError as error:
            console.fail(error)
            code = max(code, error.exit_code)
    return code


def _update(out: Path, console: Console, *, check: bool) -> ExitCode:
    out, run = _run_of(out)
    words, command = app.split_at_dashes(list(run.words))
    before = _records(out)
    here = Path.cwd()
    os.chdir(out / (run.folder or here))
    try:
        place = os.path.relpath(out) if run.folder is not None else str(out)  # maybe of another drive
        words[1:1] = ["--out", place, *(["--check"] if check else [])]
        words[1:1] = [f"--{name}" for name in ("quiet", "verbose", "debug") if getattr(console, name)]
        if (code := app.run(words, command, console)) > ExitCode.OUTPUT:
            sys.exit(code)  # interrupted
    finally:
        os.chdir(here)
    if not check and code == ExitCode.DONE:
        lines = [*_changes(before, _records(out))]
        for line in lines:
            print(f"- {line}")
        if not lines:
            console.say("nothing changed for callers")
    return ExitCode(code)


def _run_of(out: Path) -> tuple[Path, Run]:
    """Returns the folder of a run's documents, which may be above those of one service, and its command.

    Raises:
        UsageError: nothing says how the documents were made.
    """
    out, record = out.absolute(), read_record(out)
    if record.target is not None:
        target = record.target.partition(" ")[0]
        fix = f"run skillgen build --target {target}"
        raise UsageError(f"is of the target {target} of a project", where=str(out), fix=fix)
    if record.owner == "..":
        out = out.parent
    records = _records(out).values()
    if not records:
        raise UsageError("has no documents of skillgen", where=str(out), fix="name the folder of --out")
    run = next((item.run for item in records if item.run is not None), None)
    if run is None:
        fix = "run that command again once: from then on the record has it"
        raise UsageError("does not say which command wrote it", where=str(out), fix=fix)
    if run.lacks:
        fix = "run the command again with it; 'NAME: env:VARIABLE' of a header and KEY of --env are stored"
        raise UsageError(f"does not store {', '.join(run.lacks)}, which may be secret", where=str(out), fix=fix)
    if run.words[0] not in ("from-server", "from-openapi", "from-cli"):
        raise UsageError(f"no such command: {run.words[0]}", where=str(out / RECORD_NAME), fix="restore the file")
    return out, run


def _records(out: Path) -> dict[Path, Record]:
    """Returns the records of a folder, and of the services that have folders in it."""
    from skillgen.pipeline.ownership import records_in

    return {
        folder: record
        for folder, record in records_in(out).items()
        if record.states and (folder == out or record.owner == "..")
    }


def _changes(before: dict[Path, Record], after: dict[Path, Record]) -> list[str]:
    lines = []
    for folder in before.keys() | after.keys():
        old, new = (records.get(folder, Record()) for records in (before, after))
        start = f"{new.service or old.service or ''}: " if len(after) > 1 else ""
        lines += [start + line for line in change_lines(old, new)]
    return sorted(lines) if len(after) > 1 else lines
