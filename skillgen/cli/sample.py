"""`skillgen sample`: keeps what chosen tools returned, as shapes without values."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from skillgen.cli.call import BaseUrl, OpenApi, TargetName, request_of_call
from skillgen.cli.options import OptionsOf, command
from skillgen.cli.output import Console, time_of_run
from skillgen.config.project import Source
from skillgen.errors import ExitCode


@command
def sample(
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="TOOL [JSON | NAME=VALUE]... [TOOL ...] [-- COMMAND [ARG]...]",
            help="Tools that only read, each with the arguments of one call; without any, examples are sent.",
            show_default=False,
        ),
    ],
    openapi: OpenApi = None,
    base_url: BaseUrl = None,
    target: TargetName = None,
    samples: Annotated[
        str | None,
        typer.Option("--samples", metavar="FILE", help="File to write. Default: that of the target, or samples.json."),
    ] = None,
    *,
    source: Annotated[Source, OptionsOf((Source,), kinds=("command", "url", "config", "openapi"))],
    console: Console,
) -> ExitCode:
    """Call tools that only read, and keep the types of their results, never a value; documents then show them.

    A tool that may write, send, delete or need confirmation is refused; there is no option to call it.

    Exit codes:

        \b
        0: done
        1: a call had no result
        2: a tool is refused, or its arguments are invalid
        3: the service could not be reached

    Examples:

        \b
        skillgen sample read_graph -- npx -y @modelcontextprotocol/server-memory
    """
    from skillgen.pipeline.call import Options, opened_calls
    from skillgen.pipeline.sample import file_of, sample_tools
    from skillgen.text.markdown import counted

    date = time_of_run()[:10]
    file = file_of(target, samples)
    source = replace(source, command=context.obj, openapi=openapi)
    request = request_of_call(source, target, base_url, console, words)
    with opened_calls(request, Options()) as calls:
        samplings = sample_tools(calls, words, file, date)
    for sampling in samplings:
        if sampling.failure is not None:
            console.fail(sampling.failure)
        if sampling.calls:
            console.say(f"{sampling.tool}: {counted(sampling.calls, 'call')}: {', '.join(sampling.content)}")
    if any(sampling.calls for sampling in samplings):
        console.say(f"{file.as_posix()}: read the names in it before you publish it; --samples shows it in documents")
    return ExitCode.FAILED if any(sampling.failure for sampling in samplings) else ExitCode.DONE
