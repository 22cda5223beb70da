"""What the commands share: run, print, write documents, report as JSON, choose the exit code.

Messages for people go to standard error. They may quote a source, so everything printed here has control characters
removed and the log commands of CI hosts broken: no source can control the terminal or the job.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from skillgen.errors import EditedError, ExitCode, OutputError, Problem, SkillgenError, failure_from_bug
from skillgen.model.changes import ToolChange
from skillgen.model.service import Service
from skillgen.pipeline import generate
from skillgen.pipeline.generate import (
    BYTES_PER_TOKEN,
    HOSTS,
    Outcome,
    OutputOptions,
    Progress,
    installations,
    orphaned_folders,
    prune_folder,
)
from skillgen.text.markdown import disarm, disarm_json, disarm_log_commands, inline, name, one_line
from skillgen.text.unicode import escape_invisible_in_json, strip_invisible_by_line

if TYPE_CHECKING:
    from skillgen.write.plan import Plan


SHOWN_PROBLEMS_PER_CODE = 5
"""Number of problems printed for each code; `--verbose` prints all."""


@dataclass(frozen=True, slots=True)
class Console:
    """Prints messages to standard error, as much as the options ask for."""

    quiet: bool = False
    verbose: bool = False
    debug: bool = False

    def say(self, line: str) -> None:
        """Prints a line, except with `quiet`."""
        if not self.quiet:
            _print(line)

    def fail(self, error: SkillgenError) -> None:
        """Prints a fatal error: what happened, where, and what to do next. With `debug`, the traceback comes first."""
        if self.debug:
            sys.stderr.write(disarm_log_commands(strip_invisible_by_line("".join(traceback.format_exception(error)))))
        place = f"{one_line(error.where)}: " if error.where else ""
        _print(f"skillgen: error: {place}{one_line(error.what)}")
        if error.fix:
            _print(f"  try: {one_line(error.fix)}")
        if isinstance(error, EditedError):
            sys.stderr.write(disarm_log_commands(strip_invisible_by_line(error.diff)))

    def problems(self, problems: Iterable[Problem]) -> None:
        """Prints problems, at most `SHOWN_PROBLEMS_PER_CODE` of each code."""
        if self.quiet:
            return
        shown: Counter[str] = Counter()
        for problem in problems:
            if problem.level == "info" and not self.verbose:
                continue
            shown[problem.code] += 1
            if shown[problem.code] <= SHOWN_PROBLEMS_PER_CODE or self.verbose:
                fix = f" ({one_line(problem.fix)})" if problem.fix else ""
                place = f"{one_line(problem.where)}: " if problem.where else ""
                # Agents read messages too, and a message may quote any text of the source, also in a pointer.
                _print(disarm(f"{problem.level}: {problem.code}: {place}{one_line(problem.message)}{fix}"))
        for code, count in shown.items():
            if count > SHOWN_PROBLEMS_PER_CODE and not self.verbose:
                _print(f"{code}: {count - SHOWN_PROBLEMS_PER_CODE} more like this (-v shows all)")

    @contextmanager
    def progress(self, what: str) -> Iterator[Progress]:
        """Shows a status line on a terminal; prints nothing elsewhere."""
        if self.quiet or not sys.stderr.isatty():
            yield lambda message: None
            return
        from rich.console import Console as RichConsole
        from rich.text import Text

        with RichConsole(stderr=True).status(Text(what)) as status:
            yield lambda message: status.update(Text(one_line(message)))


def summary(outcome: Outcome, check: bool) -> str:
    """Returns one line on a service: its tools, the files, and the tokens of SKILL.md next to those of the source."""
    service, plan = outcome.service, outcome.plan
    counts: Counter[str] = Counter(change.action for change in plan.drift)
    parameters = sum(len(tool.parameters) for tool in service.tools)
    what = f"{service.name}: {_count(len(service.tools), 'tool')}, {_count(parameters, 'parameter')}"
    verbs = {"create": "created", "replace": "changed", "delete": "deleted"}
    done = ", ".join(f"{counts[action]} {verb}" for action, verb in verbs.items() if counts[action])
    would = "would be " if check and done else ""
    files = f"{_count(len(plan.after.states), 'file')} in {plan.out}, {would}{done or 'all up to date'}"
    cost = ""
    if outcome.skill_tokens is not None and service.source_size_bytes:
        raw = -int(-service.source_size_bytes // BYTES_PER_TOKEN)
        cost = f"; SKILL.md is {outcome.skill_tokens:,} tokens, the source {raw:,}"
    return one_line(f"{what}; {files}{cost}")


def change_summary(outcome: Outcome) -> str:
    """Returns comment lines on what changed for callers since the documents were written.

    Empty if the record of the old documents names no tools.
    """
    from skillgen.model.changes import Inventory, compare_inventories
    from skillgen.model.traversal import TypeUsage

    before, after = (
        Inventory(tools=record.tools, types=record.types) for record in (outcome.plan.before, outcome.plan.after)
    )
    changes = compare_inventories(before, after, TypeUsage([outcome.service])) if before.tools else ()
    return "".join(f"# {line}\n" for line in change_lines(changes))


def change_lines(changes: Iterable[ToolChange]) -> Iterator[str]:
    """Yields a line of Markdown for each change, in the form of a changelog."""
    for change in changes:
        mark, kind = "breaking: " if change.breaking else "", "type " if change.kind == "type" else ""
        yield disarm(f"{mark}{kind}{name(change.tool)}: {inline(change.text)}")


def outcome_json(
    outcomes: Sequence[Outcome],
    problems: Sequence[Problem],
    *,
    several: bool,
    removed: Iterable[Mapping[str, str]] = (),
) -> str:
    """Returns the `--json` report. With `several` services, the paths begin with the folder of each service.

    `removed` holds the deleted files of targets and servers that no longer exist.
    """
    files: list[Mapping[str, str]] = [
        {"path": _place(outcome, change.path, several), "action": change.action}
        for outcome in outcomes
        for change in outcome.plan.changes
    ]
    files += removed
    services = [outcome.service for outcome in outcomes if not outcome.is_installed]
    counts = {
        "services": len(services),
        "tools": sum(len(service.tools) for service in services),
        "parameters": sum(len(tool.parameters) for service in services for tool in service.tools),
        "resources": sum(len(service.resources) + len(service.resource_templates) for service in services),
        "prompts": sum(len(service.prompts) for service in services),
        "files": len(files),
    }
    data = {"files": files, "problems": [asdict(problem) for problem in problems], "counts": counts}
    return json_output(data)


def print_diff(text: str) -> None:
    """Prints a diff to standard output: verbatim, so that it can be applied, but escaped on a terminal."""
    sys.stdout.write(strip_invisible_by_line(text) if sys.stdout.isatty() else text)


def json_output(data: Any) -> str:
    """Returns JSON in which no character controls a terminal or a CI host."""
    return disarm_json(escape_invisible_in_json(json.dumps(data, ensure_ascii=False, indent=2)))


def _place(outcome: Outcome, path: str, several: bool) -> str:
    """Returns the path of a file in the `--json` report: relative to OUT, or with the folder of an installed skill."""
    if outcome.is_installed:
        return f"{outcome.plan.out.as_posix()}/{path}"
    return f"{outcome.plan.out.name}/{path}" if several else path


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _print(line: str) -> None:
    print(disarm_log_commands(line), file=sys.stderr)


def run_command(
    run: Callable[[], ExitCode], console: Console, *, failed_json: Callable[[Problem], str] | None = None
) -> None:
    """Runs a command and exits with its code; prints a fatal error as a message.

    `failed_json` returns the `--json` report of a run that a fatal error stopped.
    """
    try:
        code = run()
        sys.stdout.flush()
    except (typer.Exit, typer.Abort, KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None:
            raise typer.Exit(int(report_unwritable_output(error, console))) from None
        failure = error if isinstance(error, SkillgenError) else _fatal_error(error)
        console.fail(failure)
        if failed_json is not None:
            print(failed_json(problem_from_error(failure)))
        code = failure.exit_code
    raise typer.Exit(int(code))


def report_unwritable_output(error: OSError, console: Console) -> ExitCode:
    """Reports that standard output cannot be written, and discards the rest of the output."""
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
    """Documents services, reports orphaned documents, prints the `--json` report. Returns the highest exit code.

    `failures` holds the errors of services of the same run that could not be read.
    """
    written = write_services(services, output, console, failures=failures, shows_diff=not as_json)
    orphans = OrphanReport()
    if written.code in (ExitCode.DONE, ExitCode.DRIFT):
        folders = orphaned_folders(written.documents, [output.out], [output.out], [*HOSTS.values(), *output.install])
        orphans = report_orphans(folders, console, prune=output.prune, check=output.check, shows_diff=not as_json)
    code = max(written.code, orphans.code)
    if as_json:
        problems = (*written.problems, *orphans.problems)
        print(outcome_json(written.outcomes, problems, several=not written.is_one, removed=orphans.files))
    if output.check and code is ExitCode.DRIFT:
        console.say("the documents are not up to date: run the same command without --check")
    return code


def failed_json(as_json: bool) -> Callable[[Problem], str] | None:
    """Returns the function that makes the `--json` report of a fatal error; `None` without `--json`."""
    return (lambda problem: outcome_json((), (problem,), several=False)) if as_json else None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    """The result of documenting the services of one source."""

    outcomes: tuple[Outcome, ...]
    """The outcomes of the services that were documented, and of their installed skills."""

    problems: tuple[Problem, ...]
    """Problems of those services, and one for each service that failed."""

    code: ExitCode
    """The highest exit code of all services."""

    is_one: bool
    """True if the source has one service; its documents are in OUT itself."""

    site: Plan | None = None
    """The llms.txt that lists several services."""

    @property
    def folders(self) -> dict[Path, bool]:
        """Each folder that was written; True if it holds a service's documents, not an installed copy or a list."""
        folders = {outcome.plan.out: not outcome.is_installed for outcome in self.outcomes}
        return folders if self.site is None else {**folders, self.site.out: False}

    @property
    def documents(self) -> dict[Path, Collection[str]]:
        """Each folder that was written, resolved, to the paths of its documents."""
        plans = [outcome.plan for outcome in self.outcomes] + ([self.site] if self.site is not None else [])
        return {plan.out.resolve(): plan.after.states for plan in plans}


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanReport:
    """What was reported or removed of documents without a target or a server."""

    problems: tuple[Problem, ...] = ()
    """One problem for each folder that remains."""

    files: tuple[Mapping[str, str], ...] = ()
    """The removed files, in the form of the `--json` report."""

    code: ExitCode = ExitCode.DONE
    """`DRIFT` if `--check` found files to remove."""


def report_orphans(
    folders: Mapping[Path, Problem], console: Console, *, prune: bool, check: bool, shows_diff: bool
) -> OrphanReport:
    """Reports documents without a target or a server; removes them with `prune`."""
    if not prune:
        console.problems(folders.values())
        return OrphanReport(problems=tuple(folders.values()))
    problems: list[Problem] = []
    files: list[Mapping[str, str]] = []
    code = ExitCode.DONE
    for folder in folders:
        try:
            plan = prune_folder(folder, check=check)
        except SkillgenError as error:
            console.fail(error)
            problems.append(problem_from_error(error))
            code = max(code, error.exit_code)
            continue
        console.problems(plan.problems)
        problems += plan.problems
        files += [{"path": f"{folder.as_posix()}/{change.path}", "action": change.action} for change in plan.drift]
        if check and plan.drift:
            code = max(code, ExitCode.DRIFT)
            if shows_diff:
                print_diff(plan.diff)
        action = "would be removed" if check else "removed"
        console.say(f"{folder.as_posix()}: {len(plan.drift)} files {action}, because what they document is gone")
    return OrphanReport(problems=tuple(problems), files=tuple(files), code=code)


def write_services(
    services: Iterable[Service],
    output: OutputOptions,
    console: Console,
    *,
    failures: Sequence[SkillgenError] = (),
    shows_diff: bool = True,
) -> WriteResult:
    """Documents each service and prints its outcome. A service that fails does not stop the others."""
    services = tuple(services)
    is_one = len(services) + len(failures) == 1
    outcomes: list[Outcome] = []
    problems = [problem_from_error(error) for error in failures]
    code = report_failures(failures, console)
    names = generate.folder_names(services)
    services = generate.with_distinct_names(services, [output.out / name for name in names] if failures else ())
    for service, folder_name in zip(services, names, strict=True):
        main = output
        if not is_one:
            siblings = (*output.siblings, *(output.out / other for other in names))
            main = replace(output, out=output.out / folder_name, within=output.out, owner=output.out, siblings=siblings)
        try:
            service_outcomes = generate.generate(service, [main, *installations(service, main)])
        except SkillgenError as error:
            if is_one:
                console.problems(service.problems)
                problems.extend(service.problems)
            console.fail(error)
            problems.append(problem_from_error(error))
            code = max(code, error.exit_code)
            continue
        for outcome in service_outcomes:
            console.problems(outcome.problems)
            problems.extend(outcome.problems)
            if output.check and shows_diff:
                print_diff(change_summary(outcome) + outcome.diff)
            console.say(summary(outcome, output.check))
            outcomes.append(outcome)
            code = max(code, outcome.exit_code)
    site = None
    if len(services) > 1 and not failures and "llms" in output.formats:
        try:
            site = generate.generate_site(services, names, output)
        except SkillgenError as error:
            console.fail(error)
            problems.append(problem_from_error(error))
            code = max(code, error.exit_code)
        else:
            if output.check and site.drift:
                code = max(code, ExitCode.DRIFT)
                if shows_diff:
                    print_diff(site.diff)
    return WriteResult(outcomes=tuple(outcomes), problems=tuple(problems), code=code, is_one=is_one, site=site)


def report_failures(failures: Iterable[SkillgenError], console: Console) -> ExitCode:
    """Prints errors of services that could not be read. Returns the highest exit code."""
    code = ExitCode.DONE
    for error in failures:
        console.fail(error)
        code = max(code, error.exit_code)
    return code


def problem_from_error(error: SkillgenError) -> Problem:
    """Returns the fatal error of one service as a problem of the run."""
    return Problem.of(code="service-failed", where=error.where or "", message=error.what, fix=error.fix)
