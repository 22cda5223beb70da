"""`skillgen init`, `build` and `update`: the files of a project, its documents, and documents of others anew."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from skillgen.cli import app
from skillgen.cli.options import OptionsOf, command
from skillgen.cli.output import Console, can_ask, change_line, result_json, show_result
from skillgen.config.option import Options, option
from skillgen.config.project import DEFAULT_OUT, OutputOptions, Run, Source
from skillgen.errors import ExitCode, UsageError
from skillgen.text.markdown import one_line
from skillgen.write.record import RECORD_NAME, Record, read_record
from skillgen.write.record import Run as Recorded


class InitOptions(Options, frozen=True, kw_only=True):
    """What is written for a project."""

    ci: str | None = option("Also write a workflow that checks: github.", metavar="HOST", choices=("github",))


@command
def init(*, options: InitOptions, console: Console) -> ExitCode:
    """Write a skillgen.yaml and a pre-commit entry for a project.

    Finds the project's servers, APIs and programs. Keeps existing files, runs nothing and fetches nothing.

    Examples:

        \b
        skillgen init
        skillgen init && skillgen build
        skillgen init --ci github
    """
    from skillgen.pipeline.init import propose_targets, write_project

    with console.progress("searching the project"):
        proposals = propose_targets(Path())
    for message in write_project(proposals, options.ci):
        for line in message.splitlines():
            console.say(line[: len(line) - len(line.lstrip())] + one_line(line))
    return ExitCode.DONE


class HookOptions(Options, frozen=True, kw_only=True):
    """What a build in a hook exits with."""

    PANEL = "Report"

    fail_on_change: bool = option("Exit with 1 if a file was written; for hooks.")
    accept_upgrade: bool = option(
        "Exit with 0 if another release of skillgen is all that changed documents; for hooks."
    )


@command
def build(
    *,
    hook: HookOptions,
    run: Annotated[Run, OptionsOf(classes=(Run,), only=("target", "project", "json"))],
    given: Annotated[
        Mapping[str, Any], OptionsOf(classes=(OutputOptions, Source), is_partial=True, has_defaults=False)
    ],
    console: Console,
) -> ExitCode:
    """Build the documents of every target in skillgen.yaml.

    Skips a target if none of its files changed. --target builds only one.

    Options apply to every target and win over the file, whose keys are those options.

    Examples:

        \b
        skillgen build
        skillgen build --target api
        skillgen build --check
    """
    from skillgen.config.loader import project_file, read_project
    from skillgen.pipeline.build import build_targets, resolve_targets
    from skillgen.pipeline.results import Result

    file = project_file(run.project)
    targets = resolve_targets(read_project(file).targets, file, run.target, given)
    result = Result()
    with console.progress("reading the sources") as progress:
        # In a hook or a CI job nobody can log in: do not wait for a login there.
        announce = Console().say if can_ask() and "PRE_COMMIT" not in os.environ else None
        for number, (name, status, built) in enumerate(build_targets(targets, os.environ, announce), 1):
            progress(f"{min(number, len(targets))} of {len(targets)} targets read")
            if status == "unchanged":
                console.say(f"{name}: nothing changed")
            else:
                if status == "failed":
                    console.say(f"{name}: not built")
                show_result(built, console, shows_diff=not run.json, is_project=True)
            result = result.joined(built)
    code, is_check = result.exit_code, "check" in given
    is_accepted = hook.accept_upgrade and code in (ExitCode.DONE, ExitCode.DRIFT) and result.is_upgrade
    code = ExitCode.DONE if is_accepted else code
    if run.json:
        print(result_json(result))
    if is_check and code is ExitCode.DRIFT:
        console.say("the documents are not up to date: run skillgen build")
    if hook.fail_on_change and not is_accepted and not is_check and result.drift and code is ExitCode.DONE:
        console.say("documents were written: add them to the commit")
        return ExitCode.DRIFT
    return code


@command
def update(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[OUT]...", help=f"Folders of documents, with those in them. Default: {DEFAULT_OUT}."),
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
    from skillgen.pipeline.ownership import records_in

    named = folders or [Path(DEFAULT_OUT)]
    own = {out: [path for path, item in records_in(out).items() if not item.owner and item.states] for out in named}
    outs = dict.fromkeys(path for out, paths in own.items() for path in paths or [out])
    return console.worst(partial(_update, out, console, check=output.check) for out in outs)


def _update(named: Path, console: Console, *, check: bool) -> ExitCode:
    out, run = _run_of(named)
    words, command = app.split_at_dashes(list(run.words))
    before = _records(out)
    if out != named.absolute():
        count = sum(record.owner == ".." for record in before.values())
        console.say(f"{named} is one of {count} services of a command, so all of them are renewed")
    here = Path.cwd()
    os.chdir(out / (run.folder or here))
    try:
        place = os.path.relpath(out) if run.folder is not None else str(out)  # maybe of another drive
        words[1:1] = ["--out", place, *(["--check"] if check else [])]
        words[1:1] = [f"--{name}" for name in ("quiet", "verbose", "debug") if getattr(console, name)]
        if (code := app.run(words, command, console)) > ExitCode.OUTPUT:
            sys.exit(code)  # interrupted
        if code > ExitCode.FAILED:  # its messages name options that `update` does not have
            where = "" if Path.cwd() == here else f" in {Path.cwd()}"
            typed = ["skillgen", *words, *(["--", *command] if command else [])]
            console.say(f"the command{where}: {shlex.join(typed)}")
    finally:
        os.chdir(here)
    if not check and code == ExitCode.DONE:
        after = _records(out)
        lines = _changes(before, after)
        is_known = all(item.digests or not item.tools for item in before.values())
        if not is_known and any(item.states != after.get(path, Record()).states for path, item in before.items()):
            lines.append("the record of an earlier release does not say whether more changed for callers: see the diff")
        for line in lines:
            print(f"- {line}")
        if not lines:
            console.say("nothing changed for callers")
    return ExitCode(code)


def _run_of(out: Path) -> tuple[Path, Recorded]:
    """Returns the folder of a run's documents, which may be above those of one service, and its command.

    Raises:
        UsageError: nothing says how the documents were made, or it is not what skillgen stores.
    """
    from skillgen.cli.documents import refuse_options, refuse_project

    out, record = out.absolute(), read_record(out)
    refuse_project(out, "build")
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
        what = f"does not store {', '.join(run.lacks)}, which may be secret or outside of its folder"
        raise UsageError(what, where=str(out), fix=fix)
    refuse_options(app.split_at_dashes([*run.words])[0], out / (run.folder or Path.cwd()), out / RECORD_NAME)
    return out, run


def _records(out: Path) -> dict[Path, Record]:
    """Returns the records of a folder, and of the services that have folders in it."""
    from skillgen.pipeline.ownership import records_in

    found = records_in(out).items()
    return {folder: item for folder, item in found if item.states and (folder == out or item.owner == "..")}


def _changes(before: dict[Path, Record], after: dict[Path, Record]) -> list[str]:
    """Returns what changed for callers of each service, which may have moved to another folder."""
    from skillgen.pipeline.ownership import is_site
    from skillgen.pipeline.rendering import recorded_changes

    old, new = ({path: item for path, item in side.items() if not is_site(item)} for side in (before, after))
    moved = {item.service: path for path, item in old.items() if path not in new}
    new = {path if path in old else moved.get(item.service, path): item for path, item in new.items()}
    lines = []
    for folder in (folders := old.keys() | new.keys()):
        one, two = (side.get(folder, Record()) for side in (old, new))
        service = two.service or one.service or "" if len(folders) > 1 else ""
        lines += [change_line(change, service) for change in recorded_changes(one, two)]
    return sorted(lines) if len(folders) > 1 else lines
