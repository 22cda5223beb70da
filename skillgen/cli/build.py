"""`skillgen build`: builds every target of the project file."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Annotated, Any

from skillgen.cli.options import OptionsOf, command, run_with
from skillgen.cli.output import Console, full_place, result_json, show_result
from skillgen.config.option import Options, option
from skillgen.config.project import OutputOptions, Run, Source
from skillgen.errors import ExitCode


class HookOptions(Options, frozen=True, kw_only=True):
    """What a build in a hook exits with."""

    PANEL = "Report"

    fail_on_change: bool = option("Exit with 1 if a file was written; for hooks.", False)
    accept_upgrade: bool = option(
        "Exit with 0 if another release of skillgen is all that changed documents; for hooks.", False
    )


@command
def build(
    *,
    hook: HookOptions,
    run: Annotated[Run, run_with("target", "project", "json")],
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
    # In a hook or a CI job nobody can log in: do not wait for a login there.
    is_interactive = bool(sys.stdin) and sys.stdin.isatty() and sys.stderr.isatty() and "PRE_COMMIT" not in os.environ
    result = Result()
    with console.progress("reading the sources") as progress:
        announce = Console().say if is_interactive else None
        for number, built in enumerate(build_targets(targets, os.environ, announce, given.get("out")), 1):
            progress(f"{min(number, len(targets))} of {len(targets)} targets read")
            if built.status == "unchanged":
                console.say(f"{built.name}: nothing changed")
            else:
                if built.status == "failed":
                    console.say(f"{built.name}: not built")
                show_result(built.result, console, shows_diff=not run.json, is_project=True)
            result = result.joined(built.result)
    code, is_check = result.exit_code, "check" in given
    is_accepted = hook.accept_upgrade and code in (ExitCode.DONE, ExitCode.DRIFT) and result.is_upgrade
    code = ExitCode.DONE if is_accepted else code
    if run.json:
        print(result_json(result, full_place))
    if is_check and code is ExitCode.DRIFT:
        console.say("the documents are not up to date: run skillgen build")
    if hook.fail_on_change and not is_accepted and not is_check and result.changed and code is ExitCode.DONE:
        console.say("documents were written: add them to the commit")
        return ExitCode.DRIFT
    return code
