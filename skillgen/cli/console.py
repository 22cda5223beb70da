"""What a person reads: progress, problems, errors and the summary, all on standard error.

Texts may come from a source, so control characters are taken out, and commands of a CI host are broken: nothing here
can steer the terminal or the job.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from skillgen.errors import EditedError, Problem, SkillgenError
from skillgen.markdown.filters import inert, inert_json, inline, name, one_line, without_log_commands
from skillgen.markdown.invisible import escaped_in_json, shown_lines
from skillgen.model.changes import ToolChange
from skillgen.pipeline.options import BYTES_PER_TOKEN, Outcome, Progress

SHOWN_OF_A_KIND = 5
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
            sys.stderr.write(without_log_commands(shown_lines("".join(traceback.format_exception(error)))))
        place = f"{one_line(error.where)}: " if error.where else ""
        _print(f"skillgen: error: {place}{one_line(error.what)}")
        if error.fix:
            _print(f"  try: {one_line(error.fix)}")
        if isinstance(error, EditedError):
            sys.stderr.write(without_log_commands(shown_lines(error.diff)))

    def problems(self, problems: Iterable[Problem]) -> None:
        """Prints problems, a few of each kind."""
        if self.quiet:
            return
        shown: Counter[str] = Counter()
        for problem in problems:
            if problem.level == "info" and not self.verbose:
                continue
            shown[problem.code] += 1
            if shown[problem.code] <= SHOWN_OF_A_KIND or self.verbose:
                fix = f" ({one_line(problem.fix)})" if problem.fix else ""
                place = f"{one_line(problem.where)}: " if problem.where else ""
                _print(f"{problem.level}: {problem.code}: {place}{one_line(problem.message)}{fix}")
        for code, count in shown.items():
            if count > SHOWN_OF_A_KIND and not self.verbose:
                _print(f"{code}: {count - SHOWN_OF_A_KIND} more like this (-v shows all)")

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
    from skillgen.model.changes import Inventory, changes_between
    from skillgen.model.uses import TypeUses

    before, after = (
        Inventory(tools=record.tools, types=record.types) for record in (outcome.plan.before, outcome.plan.after)
    )
    changes = changes_between(before, after, TypeUses([outcome.service])) if before.tools else ()
    return "".join(f"# {line}\n" for line in change_lines(changes))


def change_lines(changes: Iterable[ToolChange]) -> Iterator[str]:
    """Yields a line of Markdown for each change, as a changelog has them."""
    for change in changes:
        mark, kind = "breaking: " if change.breaking else "", "type " if change.kind == "type" else ""
        yield inert(f"{mark}{kind}{name(change.tool)}: {inline(change.text)}")


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


def show_difference(text: str) -> None:
    """Prints a diff; where no program reads it that could apply it, without what steers a terminal."""
    sys.stdout.write(shown_lines(text) if sys.stdout.isatty() else text)


def json_output(data: Any) -> str:
    """Gives what a program reads on standard output, where a person may see it too."""
    return inert_json(escaped_in_json(json.dumps(data, ensure_ascii=False, indent=2)))


def _place(outcome: Outcome, path: str, several: bool) -> str:
    """Gives the path of a file as `--json` has it: relative to OUT, or with the folder in which a host looks."""
    if outcome.is_installed:
        return f"{outcome.plan.out.as_posix()}/{path}"
    return f"{outcome.plan.out.name}/{path}" if several else path


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _print(line: str) -> None:
    print(without_log_commands(line), file=sys.stderr)
