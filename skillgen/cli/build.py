"""`skillgen build`: builds every target of the project file."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillgen.cli import options
from skillgen.cli.options import with_option_groups
from skillgen.cli.output import Console, failed_json, full_place, result_json, run_command, show_result
from skillgen.errors import ExitCode, UsageError
from skillgen.pipeline.generate import Result

if TYPE_CHECKING:
    from skillgen.pipeline.build import NamedTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """Options of a build; a value replaces that of every target."""

    config: Annotated[
        Path | None,
        typer.Option(help="Project file. Default: skillgen.yaml, else pyproject.toml.", metavar="FILE"),
    ] = None
    target: Annotated[str | None, typer.Option(help="Build only this target. Default: all.", metavar="NAME")] = None
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", help="Folder for the documents; DIR/TARGET if there are several targets.", metavar="DIR"
        ),
    ] = None
    emit: Annotated[str | None, options.EMIT] = None
    templates: options.TemplatesDir = None
    profile: Annotated[str | None, options.PROFILE] = None
    install: options.Install = None
    user: options.User = False
    timeout: Annotated[float | None, typer.Option(help="Timeout of one request, in seconds.", min=0.1, max=86_400)] = (
        None
    )
    check: options.Check = False
    fail_on_change: Annotated[
        bool, typer.Option("--fail-on-change", help="Exit with 1 if a file was written; for hooks.")
    ] = False
    allow_empty: options.AllowEmpty = False
    force: options.Force = False
    prune: options.Prune = False
    strict: options.Strict = False
    as_json: options.AsJson = False
    quiet: options.Quiet = False
    verbose: options.Verbose = False
    debug: options.Debug = False


@with_option_groups
def build(context: typer.Context, *, build_options: BuildOptions) -> None:
    """Build the documents of every target in skillgen.yaml. Skips a target if none of its files changed.

    Options apply to every target and win over the file.
    """
    console = Console(build_options.quiet, build_options.verbose, build_options.debug)

    def run() -> ExitCode:
        from skillgen.config.loader import project_file, read_project
        from skillgen.pipeline.build import CliOverrides, resolve_targets

        if context.obj:
            raise UsageError("a server's command is given after --", fix="write it into skillgen.yaml")
        file = project_file(build_options.config)
        cli_options = CliOverrides(
            out=build_options.out,
            emit=build_options.emit,
            templates=build_options.templates,
            profile=build_options.profile,
            install=tuple(build_options.install or ()),
            user=build_options.user,
            timeout_s=build_options.timeout,
            check=build_options.check,
            allow_empty=build_options.allow_empty,
            force=build_options.force,
            prune=build_options.prune,
            strict=build_options.strict,
        )
        targets = resolve_targets(read_project(file).targets, file, build_options.target, cli_options)
        return _build_targets(targets, console, build_options)

    run_command(run, console, failed_json=failed_json if build_options.as_json else None)


def _build_targets(targets: Sequence[NamedTarget], console: Console, build_options: BuildOptions) -> ExitCode:
    from skillgen.pipeline.build import build_targets, prune_targets

    shows_diff = not build_options.as_json
    # In a hook or a CI job nobody can log in: do not wait for a login there.
    is_interactive = bool(sys.stdin) and sys.stdin.isatty() and sys.stderr.isatty() and "PRE_COMMIT" not in os.environ
    result = Result()
    with console.progress("reading the sources"):
        for built in build_targets(targets, os.environ, Console().say if is_interactive else None):
            if built.status == "unchanged":
                console.say(f"{built.name}: nothing changed")
            else:
                if built.status == "failed":
                    console.say(f"{built.name}: not built")
                show_result(built.result, console, shows_diff=shows_diff)
            result = result.joined(built.result)
    if build_options.target is None:
        pruned = prune_targets(targets, result, build_options.out)
        show_result(pruned, console, shows_diff=shows_diff)
        result = result.joined(pruned)
    code = result.exit_code
    if build_options.as_json:
        print(result_json(result, full_place))
    if build_options.check and code is ExitCode.DRIFT:
        console.say("the documents are not up to date: run skillgen build")
    if build_options.fail_on_change and not build_options.check and result.changed and code is ExitCode.DONE:
        console.say("documents were written: add them to the commit")
        return ExitCode.DRIFT
    return code
