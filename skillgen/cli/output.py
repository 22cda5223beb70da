"""Run, print, exit code, --json.

What a person reads: progress, problems, errors and the summary, all on standard error.

Texts may come from a source, so control characters are taken out, and commands of a CI host are broken: nothing here
can steer the terminal or the job.

What commands share: how they run, print and end.
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
"""Problems of one kind that are printed; `--verbose` prints all."""


@dataclass(frozen=True, slots=True)
class Console:
    """How much is printed."""

    quiet: bool = False
    verbose: bool = False
    debug: bool = False

    def say(self, line: str) -> None:
        """Prints a line for people."""
        if not self.quiet:
            _print(line)

    def fail(self, error: SkillgenError) -> None:
        """Prints a fatal error: what happened, where, and what to do next; with `debug` its traceback first."""
        if self.debug:
            sys.stderr.write(disarm_log_commands(strip_invisible_by_line("".join(traceback.format_exception(error)))))
        place = f"{one_line(error.where)}: " if error.where else ""
        _print(f"skillgen: error: {place}{one_line(error.what)}")
        if error.fix:
            _print(f"  try: {one_line(error.fix)}")
        if isinstance(error, EditedError):
            sys.stderr.write(disarm_log_commands(strip_invisible_by_line(error.diff)))

    def problems(self, problems: Iterable[Problem]) -> None:
        """Prints problems, a few of each kind."""
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
                _print(f"{problem.level}: {problem.code}: {place}{one_line(problem.message)}{fix}")
        for code, count in shown.items():
            if count > SHOWN_PROBLEMS_PER_CODE and not self.verbose:
                _print(f"{code}: {count - SHOWN_PROBLEMS_PER_CODE} more like this (-v shows all)")

    @contextmanager
    def progress(self, what: str) -> Iterator[Progress]:
        """Shows on a terminal what is being done; silent elsewhere."""
        if self.quiet or not sys.stderr.isatty():
            yield lambda message: None
            return
        from rich.console import Console as RichConsole
        from rich.text import Text

        with RichConsole(stderr=True).status(Text(what)) as status:
            yield lambda message: status.update(Text(one_line(message)))


def summary(outcome: Outcome, check: bool) -> str:
    """Says in a few words what came of one service, and what its first level costs an agent."""
    service, plan = outcome.service, outcome.plan
    counts: Counter[str] = Counter(change.action for change in plan.drift)
    parameters = sum(len(tool.parameters) for tool in service.tools)
    what = f"{service.name}: {_count(len(service.tools), 'tool')}, {_count(parameters, 'parameter')}"
    words = {"create": "created", "replace": "changed", "delete": "deleted"}
    done = ", ".join(f"{counts[action]} {word}" for action, word in words.items() if counts[action])
    would = "would be " if check and done else ""
    files = f"{_count(len(plan.after.states), 'file')} in {plan.out}, {would}{done or 'all up to date'}"
    cost = ""
    if outcome.skill_tokens is not None and service.source_size_bytes:
        raw = -int(-service.source_size_bytes // BYTES_PER_TOKEN)
        cost = f"; SKILL.md is {outcome.skill_tokens:,} tokens, the source {raw:,}"
    return one_line(f"{what}; {files}{cost}")


def change_summary(outcome: Outcome) -> str:
    """Says in words what changed for callers since the documents were written; empty where nothing is known of it."""
    from skillgen.model.changes import Inventory, compare_inventories
    from skillgen.model.traversal import TypeUsage

    before, after = (
        Inventory(tools=record.tools, types=record.types) for record in (outcome.plan.before, outcome.plan.after)
    )
    changes = compare_inventories(before, after, TypeUsage([outcome.service])) if before.tools else ()
    return "".join(f"# {line}\n" for line in change_lines(changes))


def change_lines(changes: Iterable[ToolChange]) -> Iterator[str]:
    """Yields a line of Markdown for each change, as a changelog has them."""
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
    """Returns the JSON object of `--json`; with `several` services each has a folder of its own.

    `removed` are the files of what is gone.
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
    """Prints a diff; where no program reads it that could apply it, without what steers a terminal."""
    sys.stdout.write(strip_invisible_by_line(text) if sys.stdout.isatty() else text)


def json_output(data: Any) -> str:
    """Gives what a program reads on standard output, where a person may see it too."""
    return disarm_json(escape_invisible_in_json(json.dumps(data, ensure_ascii=False, indent=2)))


def _place(outcome: Outcome, path: str, several: bool) -> str:
    """Gives the path of a file as `--json` has it: relative to OUT, or with the folder in which a host looks."""
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
            raise typer.Exit(int(report_unwritable_output(error, console))) from None
        failure = error if isinstance(error, SkillgenError) else _fatal_error(error)
        console.fail(failure)
        if failed_json is not None:
            print(failed_json(problem_from_error(failure)))
        code = failure.exit_code
    raise typer.Exit(int(code))


def report_unwritable_output(error: OSError, console: Console) -> ExitCode:
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
    written = write_services(services, output, console, failures=failures, shows_diff=not as_json)
    left = OrphanReport()
    if written.code in (ExitCode.DONE, ExitCode.DRIFT):
        found = orphaned_folders(written.documents, [output.out], [output.out], [*HOSTS.values(), *output.install])
        left = report_orphans(found, console, prune=output.prune, check=output.check, shows_diff=not as_json)
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
class WriteResult:
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
class OrphanReport:
    """What came of documents that belong to something that is gone."""

    problems: tuple[Problem, ...] = ()
    """One for each folder of them that stays."""

    files: tuple[Mapping[str, str], ...] = ()
    """Those that were removed, as `--json` lists files."""

    code: ExitCode = ExitCode.DONE
    """`DRIFT` where `--check` found files to remove."""


def report_orphans(
    folders: Mapping[Path, Problem], console: Console, *, prune: bool, check: bool, shows_diff: bool
) -> OrphanReport:
    """Reports documents that belong to something that is gone, or removes them with `prune`."""
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
        words = "would be removed" if check else "removed"
        console.say(f"{folder.as_posix()}: {len(plan.drift)} files {words}, for what they document is gone")
    return OrphanReport(problems=tuple(problems), files=tuple(files), code=code)


def write_services(
    services: Iterable[Service],
    output: OutputOptions,
    console: Console,
    *,
    failures: Sequence[SkillgenError] = (),
    shows_diff: bool = True,
) -> WriteResult:
    """Documents each service, and prints what comes of it."""
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
            found = generate.generate(service, [main, *installations(service, main)])
        except SkillgenError as error:
            if is_one:
                console.problems(service.problems)
                problems.extend(service.problems)
            console.fail(error)
            problems.append(problem_from_error(error))
            code = max(code, error.exit_code)
            continue
        for outcome in found:
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
    """Shows why services of a run could not be read, and gives the highest code."""
    code = ExitCode.DONE
    for error in failures:
        console.fail(error)
        code = max(code, error.exit_code)
    return code


def problem_from_error(error: SkillgenError) -> Problem:
    """Gives a dead end of one service as a problem of the run."""
    return Problem(code="service-failed", level="error", where=error.where or "", message=error.what, fix=error.fix)
