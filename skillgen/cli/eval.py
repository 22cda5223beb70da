"""`skillgen eval`: grades a skill by what agents do with it against a mock of the service."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillgen.cli.mock import read_mocked
from skillgen.cli.options import command
from skillgen.cli.output import Console
from skillgen.cli.source import SOURCE, Given
from skillgen.config.option import Options, PathName, command_words, option
from skillgen.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from skillgen.evals.grading import Grade
    from skillgen.evals.tasks import Task
    from skillgen.model.service import Service


class EvalOptions(Options, frozen=True, kw_only=True):
    """What is graded, and how it is reported."""

    PANEL = "Report"

    agent: str | None = option("Command of the agent, which gets the prompt on standard input.", metavar="COMMAND")
    init: bool = option("Draft evals/evals.json in the skill, and run nothing.", False)
    static: bool = option("Check what needs no agent: example calls, reads.", False)
    task_timeout: float = option("Time limit of an agent for a task.", 600.0, metavar="SECONDS")
    no_control: bool = option("Do not run the tasks without the skill.", False)
    out: PathName | None = option(
        "Folder of the runs. Default: NAME-workspace.", short="-o", metavar="DIR", is_path=True
    )
    format: str = option(
        "Format of the report: text, json or junit.",
        "text",
        metavar="FORMAT",
        choices=("text", "json", "junit"),
        choice="report",
    )


@command
def evaluate(
    skill: Annotated[str, typer.Argument(metavar="SKILL", help="Folder of the skill.")],
    *,
    given: Annotated[Given, SOURCE],
    options: EvalOptions,
    min_success: Annotated[
        float,
        typer.Option(metavar="RATE", min=0, max=1, help="Exit with 1 if success, recall or precision is lower."),
    ] = 1.0,
    jobs: Annotated[int, typer.Option(metavar="NUMBER", min=1, max=32, help="Agents that run at the same time.")] = 2,
    console: Console,
) -> ExitCode:
    """Grade a skill by what an agent does with it.

    The agent solves the tasks of the skill against a mock of the service, with the skill and without it.

    Examples:

        \b
        skillgen eval agent-docs/skills/books openapi.yaml --static
        skillgen eval agent-docs/skills/books openapi.yaml --agent 'claude -p'
    """
    from skillgen.evals.grading import REPORTS, is_below
    from skillgen.evals.running import Evaluation, evaluate
    from skillgen.evals.static import check_static
    from skillgen.infer.split import part_called
    from skillgen.sources.mcp.session import CancelToken

    folder, shown = Path(skill), REPORTS[options.format]
    if not (folder / "SKILL.md").is_file():
        raise UsageError("has no SKILL.md", where=skill, fix="give the folder of a skill")
    if [options.agent is not None, options.init, options.static].count(True) != 1:
        raise UsageError("exactly one of --agent, --init and --static is needed", fix="give one of them")
    words = words_of_agent(options.agent)
    service, results = read_mocked(given, console)
    name = folder.resolve().name
    part = part_called(service, name, [path.name for path in folder.resolve().parent.iterdir()])
    if options.init:
        return _write_draft(part, folder, name, console)
    if options.static:
        checks = check_static(folder, part, results)
        sys.stdout.write(shown((), checks))
        return ExitCode.DONE if all(item.passed for found in checks.values() for item in found) else ExitCode.DRIFT
    evaluation = Evaluation(
        service=service,
        results=results,
        skill=folder.resolve(),
        tasks=_tasks(folder, service, console),
        agent=words,
        timeout_s=options.task_timeout,
        jobs=jobs,
        has_control=not options.no_control,
        cancel_token=CancelToken(),
    )
    resumed = 0
    with console.progress("running the tasks") as progress:

        def report(grade: Grade, done: int, total: int, is_earlier: bool) -> None:
            nonlocal resumed
            resumed += is_earlier
            progress(f"{done} of {total} runs graded; {grade.task}: {'passed' if grade.passed else 'failed'}")

        place, grades = evaluate(evaluation, Path(options.out or f"{name}-workspace"), report)
    sys.stdout.write(shown(grades, {}))
    console.say(f"the runs are in {place}" + (f"; {resumed} of {len(grades)} resumed" if resumed else ""))
    return ExitCode.DRIFT if is_below(grades, min_success) else ExitCode.DONE


def _tasks(folder: Path, service: Service, console: Console) -> tuple[Task, ...]:
    from skillgen.evals.tasks import read_tasks

    tasks = read_tasks(folder, frozenset(tool.name for tool in service.tools))
    if ungraded := [task.id for task in tasks if not task.is_gradable]:
        console.say(f"note: not run, since it names no calls: {', '.join(ungraded)}")
    return tasks


def words_of_agent(agent: str | None) -> tuple[str, ...]:
    """Returns the words of `--agent`; files that it names may be next to the caller: it runs in a folder of its own."""
    words = command_words(agent, "--agent")
    return tuple(
        str(Path(word).absolute()) if (number or "/" in word) and Path(word).is_file() else word
        for number, word in enumerate(words)
    )


def _write_draft(service: Service, folder: Path, name: str, console: Console) -> ExitCode:
    from skillgen.evals.tasks import FILE, drafted

    path = folder / FILE
    if path.exists():
        raise UsageError("exists already", where=str(path), fix="edit it, or delete it first")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(drafted(service, name).encode())
    console.say(f"{path} written: correct the prompts, which only repeat the service's own words")
    return ExitCode.DONE
