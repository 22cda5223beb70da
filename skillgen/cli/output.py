"""What the commands share: run, print, write documents, report as JSON, choose the exit code.

Messages for people go to standard error. They may quote a source, so everything printed here has control characters
removed and the log commands of CI hosts broken: no source can control the terminal or the job.
"""

from __future__ import annotations

import os
import shutil
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from msgspec import structs

from skillgen.config.convert import in_keys
from skillgen.config.option import Options, option
from skillgen.errors import CODES, EditedError, ExitCode, Problem, SkillgenError, UsageError
from skillgen.model.document import BYTES_PER_TOKEN
from skillgen.model.values import named_place
from skillgen.text.inert import disarm, disarm_log_commands
from skillgen.text.markdown import code, counted, first_of, json_output, one_line
from skillgen.text.unicode import strip_invisible_by_line

if TYPE_CHECKING:
    from skillgen.model.changes import ToolChange
    from skillgen.pipeline.results import Outcome, Result

PLACES_SHOWN = 3
"""Number of places printed for problems of one code; `--verbose` prints each problem."""


class Console(Options, frozen=True, kw_only=True):
    """Prints messages to standard error, as much as the options ask for."""

    PANEL = "Report"

    quiet: bool = option("Print only errors.", short="-q")
    verbose: bool = option("Print every problem, including notes.", short="-v")
    debug: bool = option("Print tracebacks of errors.")

    def say(self, line: str) -> None:
        """Prints a line, except with `quiet`."""
        if not self.quiet:
            _print(line)

    def fail(self, error: SkillgenError) -> None:
        """Prints a fatal error: what happened, where, and what to do next; then those that were found with it.

        With `debug`, the traceback comes first.
        """
        if self.debug:
            sys.stderr.write(safe_lines("".join(traceback.format_exception(error))))
        place = f"{one_line(error.where)}: " if error.where else ""
        what, *lines = error.what.split("\n  ")
        _print("\n  | ".join((f"skillgen: error: {place}{one_line(what)}", *map(one_line, lines))))
        if error.fix:
            _print(f"  try: {one_line(error.fix)}")
        if isinstance(error, EditedError):
            sys.stderr.write(safe_lines(error.diff))
        for other in error.others:
            self.fail(other)

    def problems(self, problems: Iterable[Problem]) -> None:
        """Prints problems: a line for each code, with `verbose` for each problem, also for notes."""
        if self.quiet:
            return
        by_code: dict[str, list[Problem]] = {}
        for problem in problems if not self.verbose else ():
            if problem.level != "info":
                by_code.setdefault(problem.code, []).append(problem)
        # Agents read messages too, and a message may quote any text of the source, also in a pointer.
        for same in ([item] for item in problems) if self.verbose else by_code.values():
            _print(disarm(_problem_line(same)))

    def worst(self, runs: Iterable[Callable[[], ExitCode]]) -> ExitCode:
        """Returns the worst exit code of several runs; one that fails does not stop the others."""
        code = ExitCode.DONE
        for run in runs:
            try:
                code = max(code, run())
            except SkillgenError as error:
                self.fail(error)
                code = max(code, error.exit_code)
        return code

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[str], None]]:
        """Shows a status line on a terminal; prints nothing elsewhere."""
        if self.quiet or not sys.stderr.isatty():
            yield lambda message: None
            return
        try:
            _show_status(what)
            yield _show_status
        finally:
            _clear_status()


_status_width = 0
"""Columns of the status line that the terminal shows."""


def _show_status(text: str) -> None:
    """Replaces the status line of the terminal: one row of ASCII, which spaces can overwrite."""
    global _status_width
    line = disarm_log_commands(f"{one_line(text)} ...").encode("ascii", "replace").decode()
    line = line[: shutil.get_terminal_size().columns - 1]
    _clear_status()
    sys.stderr.write(line)
    sys.stderr.flush()
    _status_width = len(line)


def _clear_status() -> None:
    global _status_width
    if _status_width:
        sys.stderr.write(f"\r{' ' * _status_width}\r")
        sys.stderr.flush()
    _status_width = 0


def _problem_line(problems: Sequence[Problem]) -> str:
    """Returns a problem as a line; of several with the same code, what the code means and where the first ones are."""
    first, *others = problems
    fix = f" ({one_line(first.fix)})" if first.fix and all(other.fix == first.fix for other in others) else ""
    if not others:
        where = one_line(first.where)
        place = "" if first.message.startswith((where, repr(where))) else f"{where}: "
        return f"{first.level}: {first.code}: {place}{one_line(first.message)}{fix}"
    where = first_of(dict.fromkeys(one_line(problem.where) for problem in problems), PLACES_SHOWN)
    count = f"{len(problems):,} times; -v shows all"
    return f"{first.level}: {first.code}: {where}: {CODES[first.code].meaning}{fix} ({count})"


def can_ask() -> bool:
    """True if a person reads the questions of a run and can answer them."""
    return bool(sys.stdin) and sys.stdin.isatty() and sys.stderr.isatty()


def time_of_run() -> str:
    """Returns the time of the run, or that of SOURCE_DATE_EPOCH.

    Raises:
        UsageError: SOURCE_DATE_EPOCH is not a number of seconds.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        time = datetime.now(timezone.utc) if epoch is None else datetime.fromtimestamp(int(epoch), timezone.utc)
    except (ValueError, OverflowError, OSError):
        fix = "set it to a number of seconds"
        raise UsageError(f"{epoch!r} is not a time", where="SOURCE_DATE_EPOCH", fix=fix) from None
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def show_result(result: Result, console: Console, *, shows_diff: bool, is_project: bool = False) -> None:
    """Prints the problems, errors, summaries and, in a check, the diffs of a run (`is_project`: of a project file)."""
    from skillgen.pipeline.rendering import recorded_changes
    from skillgen.pipeline.results import Failure

    def show(problems: Iterable[Problem]) -> None:
        fixed = (structs.replace(item, fix=in_keys(item.fix or "")) for item in problems)
        console.problems(fixed if is_project else problems)

    for failure in (step for step in result.steps if isinstance(step, Failure)):
        show(failure.source_problems)
        console.fail(failure.error)
    options = {"is_one": result.is_one, "has_names": not console.verbose}
    # Several servers may have the same problem with what the user wrote.
    show(dict.fromkeys(problem for step in result.outcomes for problem in _problems_of(step, **options)))
    for step in result.outcomes:
        if step.is_check and shows_diff:
            folder = "" if step.plan.out.is_absolute() else f"{step.plan.out.as_posix()}/"
            before, after = step.plan.before, step.plan.after
            changes = recorded_changes(before, after) if step.service is not None and before.tools else ()
            print_diff("".join(f"# {change_line(change)}\n" for change in changes) + step.plan.diff(folder))
        if line := _summary(step):
            console.say(line)
    documented = [step for step in result.outcomes if step.kind == "documents" and (step.plan.drift or console.verbose)]
    tools = [tool for step in documented if step.service is not None for tool in step.service.tools]
    if judged := [tool.name for tool in tools if tool.semantics.is_effect_judged]:
        names = disarm(one_line(first_of(judged, len(judged) if console.verbose else PLACES_SHOWN)))
        where = "in skillgen.yaml (tools)" if is_project else "with --effect"
        console.say(f"inferred: effects of {counted(len(judged), 'tool')}; declare them {where}: {names}")
    show(result.notices)


def _problems_of(outcome: Outcome, *, is_one: bool, has_names: bool) -> Iterator[Problem]:
    """Yields the problems of a folder as their reader knows their places: with the service if there are several, and
    with the names of tools that have no address, such as those of an MCP server.
    """
    service = outcome.service
    names = {tool.pointer: tool.name for tool in service.tools if not tool.path} if service and has_names else {}
    start = "" if service is None or is_one else f"{service.name} "
    for problem in outcome.problems:
        where = f"{start if problem.where.startswith('/') else ''}{named_place(problem.where, names)}"
        yield structs.replace(problem, where=where)


def _summary(outcome: Outcome) -> str:
    """Returns one line on a folder: the service, the files, and the tokens of SKILL.md next to those of the source."""
    service, plan = outcome.service, outcome.plan
    would = "would be " if outcome.is_check else ""
    if service is None:
        return ""
    counts: Counter[str] = Counter(change.action for change in plan.drift)
    is_quoted = any(tool.help is not None for tool in service.tools)  # a program that is only known by its help
    parameters = counted(outcome.parameter_count, "parameter")
    what = f"{counted(len(service.tools), 'tool')}, {'with help as printed' if is_quoted else parameters}"
    verbs = {"create": "created", "replace": "changed", "delete": "deleted"}
    done = ", ".join(f"{counts[action]} {would}{verb}" for action, verb in verbs.items() if counts[action])
    done = done or ("all up to date" if plan.before.states else "all up to date but .skillgen.json")
    files = f"{counted(len(plan.after.states), 'file')} in {plan.out}, {done}{outcome.moved}"
    if added := sum(change.added for change in plan.changes):
        files += f", with {counted(added, 'line')} that people added"
    pages = [item.new for item in plan.changes if item.path.endswith("SKILL.md") and item.new]
    cost, sizes = "", [len(page.replace(b"\r\n", b"\n")) for page in pages]
    if sizes and service.source_size_bytes and outcome.kind == "documents":
        tokens, raw = (-int(-size // BYTES_PER_TOKEN) for size in (max(sizes), service.source_size_bytes))
        size = "is" if (skills := len(plan.after.skills)) < 2 else f"of {skills} skills is at most"
        cost = f"; SKILL.md {size} {tokens:,} tokens, the source {raw:,}"
    return one_line(f"{service.name}: {what if outcome.kind == 'documents' else 'installed'}; {files}{cost}")


def change_line(change: ToolChange, service: str = "") -> str:
    """Returns a change as a line of Markdown, in the form of a changelog.

    What a source wrote is code: in a pull request, GitHub obeys words such as `Fixes #2`.
    """
    start, mark = f"{code(service)}: " if service else "", "breaking: " if change.breaking else ""
    kind = "type " if change.kind == "type" else ""
    return disarm(start + mark + code(f"{kind}{change.tool}: {change.text}"))


def result_json(result: Result) -> str:
    """Returns the `--json` report."""
    plans = (outcome.plan for outcome in result.outcomes if outcome.kind != "site")
    pairs = ((plan.out.as_posix(), change) for plan in plans for change in plan.changes)
    files = [{"path": f"{out}/{change.path}", "action": change.action} for out, change in pairs]
    problems = [structs.asdict(problem) for problem in result.problems]
    return json_output({"files": files, "problems": problems, "counts": {**result.counts, "files": len(files)}})


def failed_json(error: SkillgenError) -> str:
    """Returns the `--json` report of a run that a fatal error stopped."""
    from skillgen.pipeline.results import Failure, Result

    return result_json(Result(steps=tuple(Failure(error=item) for item in (error, *error.others))))


def safe_lines(text: str) -> str:
    """Returns a text of others for a terminal or a log: neither obeys it."""
    return disarm_log_commands(strip_invisible_by_line(text))


def print_diff(text: str) -> None:
    """Prints a diff to standard output: verbatim, so that it can be applied, but escaped on a terminal."""
    _clear_status()
    sys.stdout.write(strip_invisible_by_line(text) if sys.stdout.isatty() else text)


def _print(line: str) -> None:
    _clear_status()
    print(disarm_log_commands(line), file=sys.stderr)
