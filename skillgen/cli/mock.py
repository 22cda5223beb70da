"""`skillgen call`, `mock` and `eval`: call a tool, serve what a source declares, and grade a skill with such a mock."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import structs

from skillgen.cli.options import SOURCE, Given, GivenOf, OptionsOf, command, read
from skillgen.cli.output import Console
from skillgen.config.option import command_words
from skillgen.config.project import CallOptions, EvalOptions, Run, Source, Texts
from skillgen.errors import ExitCode, UsageError
from skillgen.text.unicode import strip_invisible_by_line

if TYPE_CHECKING:
    from skillgen.evals.tasks import Grade
    from skillgen.model.service import Service
    from skillgen.model.values import Json


_LINE_LIMIT = 32 * 1024 * 1024


@command
def call(
    tool: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE] TOOL [JSON | NAME=VALUE]... [-- COMMAND [ARG]...]",
            help="SOURCE, unless an option or -- COMMAND names the source; the exact name of the tool; its arguments: "
            "one JSON object (- reads it from standard input), or NAME=VALUE, NAME:=JSON, NAME@=FILE.",
        ),
    ] = None,
    *,
    given: Annotated[
        Given, GivenOf(classes=(Run, Source), kinds=("command", "url", "config", "document"), without=("draft", "json"))
    ],
    texts: Annotated[Mapping[str, Any], OptionsOf(classes=(Texts,), only=("base_url",), is_partial=True)],
    options: CallOptions,
    console: Console,
) -> ExitCode:
    """Call one tool of a server or one operation of an API.

    Every fault of the arguments is printed at its JSON pointer before anything is sent. A tool that deletes or needs
    confirmation is refused without --yes: ask the user first. The credentials of an API come from the environment
    variables that its documents name.

    Exit codes:

        \b
        0: done
        1: the tool or the API answered with an error
        2: the arguments are invalid, or the call needs --yes
        3: the service could not be reached, or did not answer

    Examples:

        \b
        skillgen call openapi.yaml getPet petId=7
        skillgen call openapi.yaml --dry-run createPet name=Rex 'tags:=["dog"]'
        skillgen call create_entities '{"entities": []}' -- npx -y @modelcontextprotocol/server-memory
    """
    from skillgen.pipeline.call import call_tool

    rest = list(tool or ())
    if given.is_empty and rest:
        given = structs.replace(given, words=[rest.pop(0)])
    request = given.request(texts=texts, announce=Console().say)
    if not rest and given.words and not Path(given.words[0]).exists():
        raise UsageError("no tool is given", fix="give SOURCE, TOOL and its arguments")
    name, *arguments = rest or [""]
    words = [_standard_input() if word == "-" else word for word in arguments]
    text, is_error = call_tool(request, name, words, options)
    print(strip_invisible_by_line(text), file=sys.stderr if is_error else sys.stdout)
    return ExitCode.FAILED if is_error else ExitCode.DONE


def _standard_input() -> str:
    text = sys.stdin.read(_LINE_LIMIT + 1)
    if len(text) > _LINE_LIMIT:
        raise UsageError("is larger than 32 MiB", where="standard input", fix="send less at once")
    return text


def read_mocked(given: Given, console: Console) -> tuple[Service, Mapping[str, Json] | None]:
    """Returns the one service of a source, and the raw results if it is a server.

    Raises:
        SourceError: it cannot be reached or read.
        UsageError: there is not exactly one source with one service, or it is a program.
    """
    crawls: list[Mapping[str, Json]] = []
    service = read(given.request(on_crawl=lambda results, *_: crawls.append(results)), console).only
    if service.kind == "cli":
        raise UsageError("a program has no mock", where=service.name, fix="give a server or a description of an API")
    return service, crawls[0] if crawls else None


@command
def mock(
    *,
    given: Annotated[Given, SOURCE],
    http: Annotated[
        int | None,
        typer.Option(
            metavar="PORT", min=0, max=65_535, help="Serve over HTTP at this port, 0 for any; default for an API: 0."
        ),
    ] = None,
    log: Annotated[str | None, typer.Option(metavar="FILE", help="Append each call to this file as JSON.")] = None,
    console: Console,
) -> ExitCode:
    """Serve what a source declares, with no service behind it.

    Each call is checked, answered and logged, until the mock is stopped.

    Examples:

        \b
        skillgen mock openapi.yaml --http 8080
        skillgen mock --log calls.jsonl -- python server.py
    """
    from skillgen.mock.answers import CallLog
    from skillgen.mock.mcp import McpMock
    from skillgen.mock.serving import mock_of, serve_stdio, serving, url_of

    service, results = read_mocked(given, console)
    calls = CallLog(Path(log) if log is not None else None)
    served = mock_of(service, results, calls)
    try:
        if http is None and isinstance(served, McpMock):
            serve_stdio(served, sys.stdin.buffer, sys.stdout.buffer)
            return ExitCode.DONE
        with serving(served, http or 0) as port:
            # The caller needs the address, even with --quiet.
            Console().say(f"serving {service.name} at {url_of(service, port)}; stop it with Ctrl-C")
            threading.Event().wait()
    except (KeyboardInterrupt, SystemExit):  # SIGTERM raises the latter
        pass
    finally:
        calls.close()
    return ExitCode.DONE


@command
def evaluate(
    skill: Annotated[str, typer.Argument(metavar="SKILL", help="Folder of the skill.")],
    *,
    given: Annotated[Given, SOURCE],
    options: EvalOptions,
    min_success: Annotated[
        float, typer.Option(metavar="RATE", min=0, max=1, help="Exit with 1 if success, recall or precision is lower.")
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
    from skillgen.evals.running import Evaluation, check_static, evaluate
    from skillgen.evals.tasks import FILE, drafted, is_lower, json_report, read_tasks, text_report
    from skillgen.pipeline.rendering import part_called

    folder, shown = Path(skill), json_report if options.format == "json" else text_report
    if not (folder / "SKILL.md").is_file():
        raise UsageError("has no SKILL.md", where=skill, fix="give the folder of a skill")
    if [options.agent is not None, options.init, options.static].count(True) != 1:
        raise UsageError("exactly one of --agent, --init and --static is needed", fix="give one of them")
    words = words_of_agent(options.agent)
    service, results = read_mocked(given, console)
    name = folder.resolve().name
    part = part_called(service, name, [path.name for path in folder.resolve().parent.iterdir()])
    if options.init:
        if (path := folder / FILE).exists():
            raise UsageError("exists already", where=str(path), fix="edit it, or delete it first")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(drafted(part, name).encode())
        console.say(f"{path} written: correct the prompts, which only repeat the service's own words")
        return ExitCode.DONE
    if options.static:
        checks = check_static(folder, part, results)
        sys.stdout.write(shown((), checks))
        return ExitCode.DONE if all(item.passed for found in checks.values() for item in found) else ExitCode.DRIFT
    tasks = read_tasks(folder, frozenset(tool.name for tool in service.tools))
    if ungraded := [task.id for task in tasks if not task.is_gradable]:
        console.say(f"note: not run, since it names no calls: {', '.join(ungraded)}")
    evaluation = Evaluation(
        service=service, results=results, skill=folder.resolve(), tasks=tasks, agent=words, options=options
    )
    resumed = 0
    with console.progress("running the tasks") as progress:

        def report(grade: Grade, done: int, total: int, is_earlier: bool) -> None:
            nonlocal resumed
            resumed += is_earlier
            progress(f"{done} of {total} runs graded; {grade.task}: {'passed' if grade.passed else 'failed'}")

        place, grades = evaluate(evaluation, Path(options.out or f"{name}-workspace"), jobs, report)
    sys.stdout.write(shown(grades, {}))
    console.say(f"the runs are in {place}" + (f"; {resumed} of {len(grades)} resumed" if resumed else ""))
    return ExitCode.DRIFT if is_lower(grades, min_success) else ExitCode.DONE


def words_of_agent(agent: str | None) -> tuple[str, ...]:
    """Returns the words of `--agent`; files that it names may be next to the caller: it runs in a folder of its own."""
    words = command_words(agent, "--agent")
    return tuple(
        str(Path(word).absolute()) if (number or "/" in word) and Path(word).is_file() else word
        for number, word in enumerate(words)
    )
