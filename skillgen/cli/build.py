"""`skillgen build`: builds every target of the project file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillgen.cli import options
from skillgen.cli.options import with_option_groups
from skillgen.cli.output import (
    Console,
    OrphanReport,
    WriteResult,
    failed_json,
    json_output,
    problem_from_error,
    report_orphans,
    run_command,
    write_services,
)
from skillgen.errors import ExitCode, SkillgenError, UsageError, failure_from_bug
from skillgen.pipeline.generate import DEFAULT_OUT, orphaned_folders

if TYPE_CHECKING:
    from skillgen.pipeline.build import NamedTarget, ReadTarget


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

    run_command(run, console, failed_json=failed_json(build_options.as_json))


def _build_targets(targets: Sequence[NamedTarget], console: Console, build_options: BuildOptions) -> ExitCode:
    from skillgen.pipeline.build import read_concurrently, up_to_date_folders

    up_to_date = {named.name: up_to_date_folders(named) for named in targets}
    waiting = [named for named in targets if not up_to_date[named.name]]
    report = _Report()
    # In a hook or a CI job nobody can log in: do not wait for a login there.
    is_interactive = bool(sys.stdin) and sys.stdin.isatty() and sys.stderr.isatty() and "PRE_COMMIT" not in os.environ
    announce = Console().say if is_interactive else None
    with console.progress("reading the sources"), read_concurrently(waiting, os.environ, announce) as read:
        for named in targets:
            if folders := up_to_date[named.name]:
                report.add_up_to_date(folders)
                console.say(f"{named.name}: nothing changed")
            else:
                report.add(_build_target(named, read, console, shows_diff=not build_options.as_json))
    if build_options.target is None and report.code in (ExitCode.DONE, ExitCode.DRIFT):
        report.add_left(_report_orphans(targets, report.documents, console, build_options))
    if build_options.as_json:
        print(report.to_json())
    if build_options.check and report.code is ExitCode.DRIFT:
        console.say("the documents are not up to date: run skillgen build")
    if build_options.fail_on_change and not build_options.check and report.changed and report.code is ExitCode.DONE:
        console.say("documents were written: add them to the commit")
        return ExitCode.DRIFT
    return report.code


def _report_orphans(
    targets: Sequence[NamedTarget],
    written: Mapping[Path, Collection[str]],
    console: Console,
    build_options: BuildOptions,
) -> OrphanReport:
    """Reports or removes the documents of targets, servers and service names that no longer exist."""
    from skillgen.pipeline.generate import HOSTS

    file, outs = targets[0].file, [named.options.out for named in targets]
    top = build_options.out if build_options.out is not None else file.parent / DEFAULT_OUT
    search_folders = [top, *outs, *(out.parent for out in outs)]
    installed = [file.parent / folder for folder in HOSTS.values()]
    installed += [folder for named in targets for folder in named.options.install]
    return report_orphans(
        orphaned_folders(written, search_folders, [file, *outs], installed),
        console,
        prune=all(named.options.prune for named in targets),
        check=build_options.check,
        shows_diff=not build_options.as_json,
    )


def _build_target(
    named: NamedTarget, read: Callable[[NamedTarget], ReadTarget], console: Console, *, shows_diff: bool
) -> WriteResult:
    """Reads and writes one target. An error is reported and does not stop the other targets."""
    from skillgen.pipeline.build import remember

    try:
        source = read(named)
        result = write_services(
            source.services, named.options, console, failures=source.failures, shows_diff=shows_diff
        )
        if result.code is ExitCode.DONE and not named.options.check:
            remember(named, source.files, result.folders)
        return result
    except SkillgenError as error:
        failure = error
    except Exception as error:
        failure = failure_from_bug(error)
    console.say(f"{named.name}: not built")
    console.fail(failure)
    return WriteResult(outcomes=(), problems=(problem_from_error(failure),), code=failure.exit_code, is_one=True)


class _Report:
    """Collects the results of all targets for `--json` and the exit code."""

    def __init__(self) -> None:
        self.code = ExitCode.DONE
        self.changed = False
        self.documents: dict[Path, Collection[str]] = {}
        """Resolved folder to the paths of its documents."""
        self._files: list[Mapping[str, str]] = []
        self._problems: list[dict[str, Any]] = []
        self._counts = {"services": 0, "tools": 0, "parameters": 0, "files": 0}

    def add(self, written: WriteResult) -> None:
        self.code = max(self.code, written.code)
        self.documents |= written.documents
        self._problems += [asdict(problem) for problem in written.problems]
        for outcome in written.outcomes:
            self.changed |= bool(outcome.plan.drift)
            for change in outcome.plan.changes:
                self._add_file(outcome.plan.out, change.path, change.action)
            if not outcome.is_installed:
                self._add_tools(outcome.plan.after.tools)

    def add_up_to_date(self, folders: Mapping[Path, bool]) -> None:
        from skillgen.write.record import read_record

        for folder, is_service in folders.items():
            record = read_record(folder)
            self.documents[folder.resolve()] = record.states
            for path in sorted(record.states):
                self._add_file(folder, path, "keep")
            if is_service:
                self._add_tools(record.tools)

    def add_left(self, left: OrphanReport) -> None:
        self.code = max(self.code, left.code)
        self.changed |= bool(left.files)
        self._problems += [asdict(problem) for problem in left.problems]
        self._files += left.files

    def to_json(self) -> str:
        self._counts["files"] = len(self._files)
        data = {"files": self._files, "problems": self._problems, "counts": self._counts}
        return json_output(data)

    def _add_file(self, out: Path, path: str, action: str) -> None:
        self._files.append({"path": f"{out.as_posix()}/{path}", "action": action})

    def _add_tools(self, tools: Mapping[str, Any]) -> None:
        self._counts["services"] += 1
        self._counts["tools"] += len(tools)
        self._counts["parameters"] += sum(
            not set(name) & set(".[") for tool in tools.values() for name in tool.get("takes", ())
        )
