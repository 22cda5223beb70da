"""What commands share: how they run, print and end."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from skillgen.cli.console import Console, change_summary, outcome_json, show_difference, summary
from skillgen.errors import ExitCode, OutputError, Problem, SkillgenError, failure_from_bug
from skillgen.model.service import Service
from skillgen.pipeline import documenting
from skillgen.pipeline.installing import HOSTS, installations
from skillgen.pipeline.options import Outcome, OutputOptions
from skillgen.pipeline.pruning import left_folders, pruned

if TYPE_CHECKING:
    from skillgen.write.plan import Plan


def run_command(
    run: Callable[[], ExitCode], console: Console, *, failed_json: Callable[[Problem], str] | None = None
) -> None:
    """Runs a command; a fatal error is printed as a message, with its traceback only after `--debug`.

    `failed_json` returns the JSON object that `--json` promises also for a run that a fatal error stops.
    """
    try:
        code = run()
        sys.stdout.flush()
    except (typer.Exit, typer.Abort, KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None:
            raise typer.Exit(int(report_refused_output(error, console))) from None
        failure = error if isinstance(error, SkillgenError) else _fatal_error(error)
        console.fail(failure)
        if failed_json is not None:
            print(failed_json(problem_from_failure(failure)))
        code = failure.exit_code
    raise typer.Exit(int(code))


def report_refused_output(error: OSError, console: Console) -> ExitCode:
    """Reports that standard output cannot be written, and drops what is still to be written there."""
    console.fail(_fatal_error(error))
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.OUTPUT


def _fatal_error(error: Exception) -> SkillgenError:
    if not isinstance(error, OSError):
        return failure_from_bug(error)
    where = str(error.filename or "standard output")
    failure = OutputError(f"cannot be read or written: {error.strerror}", where=where)
    failure.__cause__ = error
    return failure


def write_documents(
    services: Iterable[Service],
    output: OutputOptions,
    console: Console,
    as_json: bool,
    *,
    failures: Sequence[SkillgenError] = (),
) -> ExitCode:
    """Documents each service; one that fails does not cost the others, and the highest code wins.

    `failures` is why other services of the same run could not be read.
    """
    written = write_each(services, output, console, failures=failures, shows_diff=not as_json)
    left = Left()
    if written.code in (ExitCode.DONE, ExitCode.DRIFT):
        found = left_folders(written.documents, [output.out], [output.out], [*HOSTS.values(), *output.install])
        left = report_left(found, console, prune=output.prune, check=output.check, shows_diff=not as_json)
    code = max(written.code, left.code)
    if as_json:
        problems = (*written.problems, *left.problems)
        print(outcome_json(written.outcomes, problems, several=not written.is_one, removed=left.files))
    if output.check and code is ExitCode.DRIFT:
        console.say("the documents are not up to date; run the same command without --check")
    return code


def failed_json(as_json: bool) -> Callable[[Problem], str] | None:
    """Returns what prints the object of `--json` for a run that a fatal error stops; `None` without `--json`."""
    return (lambda problem: outcome_json((), (problem,), several=False)) if as_json else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What came of the services of one source."""

    outcomes: tuple[Outcome, ...]
    """Of those that were documented."""

    problems: tuple[Problem, ...]
    """Theirs, and one for each that failed."""

    code: ExitCode
    """The highest of all."""

    is_one: bool
    """Whether the source has one service, whose documents have no folder of their own."""

    site: Plan | None = None
    """The llms.txt above the documents of several services."""

    @property
    def folders(self) -> dict[Path, bool]:
        """Each folder that was written, and whether it holds the documents of a service, not a copy or a list."""
        found = {outcome.plan.out: not outcome.is_installed for outcome in self.outcomes}
        return found if self.site is None else {**found, self.site.out: False}

    @property
    def documents(self) -> dict[Path, Collection[str]]:
        """Each folder that was written, resolved, and the paths of its documents."""
        plans = [outcome.plan for outcome in self.outcomes] + ([self.site] if self.site is not None else [])
        return {plan.out.resolve(): plan.after.states for plan in plans}


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What came of documents that belong to something that is gone."""

    problems: tuple[Problem, ...] = ()
    """One for each folder of them that stays."""

    files: tuple[Mapping[str, str], ...] = ()
    """Those that were removed, as `--json` lists files."""

    code: ExitCode = ExitCode.DONE
    """`DRIFT` where `--check` found files to remove."""


def report_left(
    folders: Mapping[Path, Problem], console: Console, *, prune: bool, check: bool, shows_diff: bool
) -> Left:
    """Reports documents that belong to something that is gone, or removes them with `prune`."""
    if not prune:
        console.problems(folders.values())
        return Left(problems=tuple(folders.values()))
    problems: list[Problem] = []
    files: list[Mapping[str, str]] = []
    code = ExitCode.DONE
    for folder in folders:
        try:
            plan = pruned(folder, check=check)
        except SkillgenError as error:
            console.fail(error)
            problems.append(problem_from_failure(error))
            code = max(code, error.exit_code)
            continue
        console.problems(plan.problems)
        problems += plan.problems
        files += [{"path": f"{folder.as_posix()}/{change.path}", "action": change.action} for change in plan.drift]
        if check and plan.drift:
            code = max(code, ExitCode.DRIFT)
            if shows_diff:
                show_difference(plan.diff)
        words = "would be removed" if check else "removed"
        console.say(f"{folder.as_posix()}: {len(plan.drift)} files {words}, for what they document is gone")
    return Left(problems=tuple(problems), files=tuple(files), code=code)


def write_each(
    services: Iterable[Service],
    output: OutputOptions,
    console: Console,
    *,
    failures: Sequence[SkillgenError] = (),
    shows_diff: bool = True,
) -> Written:
    """Documents each service, and prints what comes of it."""
    services = tuple(services)
    is_one = len(services) + len(failures) == 1
    outcomes: list[Outcome] = []
    problems = [problem_from_failure(error) for error in failures]
    code = report_failures(failures, console)
    names = documenting.folder_names(services)
    services = documenting.with_distinct_names(services, [output.out / name for name in names] if failures else ())
    for service, name in zip(services, names, strict=True):
        main = output
        if not is_one:
            siblings = (*output.siblings, *(output.out / other for other in names))
            main = replace(output, out=output.out / name, within=output.out, owner=output.out, siblings=siblings)
        try:
            found = documenting.generate(service, [main, *installations(service, main)])
        except SkillgenError as error:
            if is_one:
                console.problems(service.problems)
                problems.extend(service.problems)
            console.fail(error)
            problems.append(problem_from_failure(error))
            code = max(code, error.exit_code)
            continue
        for outcome in found:
            console.problems(outcome.problems)
            problems.extend(outcome.problems)
            if output.check and shows_diff:
                show_difference(change_summary(outcome) + outcome.diff)
            console.say(summary(outcome, output.check))
            outcomes.append(outcome)
            code = max(code, outcome.exit_code)
    site = None
    if len(services) > 1 and not failures and "llms" in output.formats:
        try:
            site = documenting.generate_site(services, names, output)
        except SkillgenError as error:
            console.fail(error)
            problems.append(problem_from_failure(error))
            code = max(code, error.exit_code)
        else:
            if output.check and site.drift:
                code = max(code, ExitCode.DRIFT)
                if shows_diff:
                    show_difference(site.diff)
    return Written(outcomes=tuple(outcomes), problems=tuple(problems), code=code, is_one=is_one, site=site)


def report_failures(failures: Iterable[SkillgenError], console: Console) -> ExitCode:
    """Shows why services of a run could not be read, and gives the highest code."""
    code = ExitCode.DONE
    for error in failures:
        console.fail(error)
        code = max(code, error.exit_code)
    return code


def problem_from_failure(error: SkillgenError) -> Problem:
    """Gives a dead end of one service as a problem of the run."""
    return Problem(code="service-failed", level="error", where=error.where or "", message=error.what, fix=error.fix)
