"""`skillgen call`: calls one tool of a server or one operation of an API, or several in a session."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from skillgen.cli.options import OptionsOf, command
from skillgen.cli.output import Console
from skillgen.config.project import Source, Texts
from skillgen.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from skillgen.pipeline.read import Request

OpenApi: TypeAlias = Annotated[
    str | None, typer.Option("--openapi", metavar="SOURCE", help="OpenAPI description: a file or a URL.")
]
BaseUrl: TypeAlias = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", help="Base URL of the API, in place of the declared one.")
]
TargetName: TypeAlias = Annotated[
    str | None, typer.Option("--target", metavar="NAME", help="Target of skillgen.yaml that names the source.")
]

_LINE_LIMIT = 32 * 1024 * 1024


@command
def call(
    context: typer.Context,
    tool: Annotated[
        str | None, typer.Argument(metavar="TOOL", help="Exact name of the tool.", show_default=False)
    ] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[JSON | NAME=VALUE]... [-- COMMAND [ARG]...]",
            help="Arguments: one JSON object (- reads it from standard input), or NAME=VALUE, NAME:=JSON, NAME@=FILE.",
            show_default=False,
        ),
    ] = None,
    openapi: OpenApi = None,
    base_url: BaseUrl = None,
    target: TargetName = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="A person confirmed the call: of a tool that deletes or needs confirmation.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the request without secrets, and send nothing.")
    ] = False,
    session: Annotated[
        bool,
        typer.Option(
            "--session", help='Read calls from standard input, {"tool": NAME, "arguments": {…}} on each line.'
        ),
    ] = False,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="DIR", help="Folder for images and other files of the result.")
    ] = "",
    *,
    source: Annotated[Source, OptionsOf((Source,), kinds=("command", "url", "config", "openapi"))],
    console: Console,
) -> ExitCode:
    """Call one tool of an MCP server, or one operation of an API; the arguments are checked first.

    Every fault is printed at its JSON pointer before anything is sent. A tool that deletes or needs confirmation is
    refused without --yes: ask the user first. The credentials of an API come from the environment variables that its
    documents name.

    Exit codes:

        \b
        0: done
        1: the tool or the API answered with an error
        2: the arguments are invalid, or the call needs --yes
        3: the service could not be reached, or did not answer

    Examples:

        \b
        skillgen call create_entities '{"entities": []}' -- npx -y @modelcontextprotocol/server-memory
        skillgen call --openapi openapi.yaml getPet petId=7
        skillgen call --openapi openapi.yaml --dry-run createPet name=Rex 'tags:=["dog"]'
    """
    from skillgen.pipeline.call import Options, opened_calls

    if (tool is None) != session:
        what = "a tool is given with --session" if session else "no tool is given"
        raise UsageError(what, fix="give TOOL and its arguments, or --session alone")
    source = replace(source, command=context.obj, openapi=openapi)
    request = request_of_call(source, target, base_url, console, [tool or ""])
    with opened_calls(request, Options(is_confirmed=yes, is_dry_run=dry_run, out=out)) as calls:
        if session:
            return _run_session(calls)
        words = [_standard_input() if word == "-" else word for word in arguments or ()]
        reply = calls.run(tool or "", words)
    _print(reply.text, is_error=reply.is_error)
    return ExitCode.FAILED if reply.is_error else ExitCode.DONE


def request_of_call(
    source: Source, target: str | None, base_url: str | None, console: Console, words: Sequence[str]
) -> Request:
    """Returns the request to read the source whose tools are called; `words` may name a description by mistake.

    Raises:
        UsageError: there is not exactly one source, or no such target.
    """
    from skillgen.pipeline.call import request_of

    has_source = any((source.command, source.url, source.config, source.openapi))
    if has_source == (target is not None):
        what = "several sources are given" if target is not None else "no source is given"
        fix = "give one: -- COMMAND, --url URL, --config FILE, --openapi SOURCE or --target NAME"
        if not has_source and (named := next((word for word in words if Path(word).is_file()), None)) is not None:
            fix = f"name the source with its option: --openapi {named}, or --config {named}"
        raise UsageError(what, fix=fix)
    if base_url is not None and source.openapi is None:
        raise UsageError("has no effect without --openapi", where="--base-url", fix="leave it out")
    with console.progress("reading the source") as progress:
        return request_of(source, target, texts=Texts(base_url=base_url), progress=progress, announce=Console().say)


def _standard_input() -> str:
    text = sys.stdin.read(_LINE_LIMIT + 1)
    if len(text) > _LINE_LIMIT:
        raise UsageError("is larger than 32 MiB", where="standard input", fix="send less at once")
    return text


def _run_session(calls: Any) -> ExitCode:
    """Makes the calls of standard input, and prints a line of JSON for each; returns the worst exit code."""
    worst = ExitCode.DONE
    while line := sys.stdin.readline(_LINE_LIMIT):
        if line.strip():
            answer = calls.run_line(line)
            worst = max(worst, ExitCode(answer["exit"]))
            print(json.dumps(answer), flush=True)
    return worst


def _print(text: str, *, is_error: bool) -> None:
    from skillgen.text.unicode import strip_invisible_by_line

    print(strip_invisible_by_line(text), file=sys.stderr if is_error else sys.stdout)
