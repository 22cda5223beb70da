"""`skillgen call`: calls one tool of a server or one operation of an API."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from msgspec import structs

from skillgen.cli.options import OptionsOf, command
from skillgen.cli.output import Console
from skillgen.cli.source import Given, GivenOf
from skillgen.config.project import CallOptions, Run, Source, Texts
from skillgen.errors import ExitCode, UsageError
from skillgen.text.unicode import strip_invisible_by_line

_LINE_LIMIT = 32 * 1024 * 1024


@command
def call(
    tool: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE] TOOL [JSON | NAME=VALUE]... [-- COMMAND [ARG]...]",
            help="SOURCE, unless an option or -- COMMAND names the source; the exact name of the tool; its arguments: "
            "one JSON object (- reads it from standard input), or NAME=VALUE, NAME:=JSON, NAME@=FILE.",
            show_default=False,
        ),
    ] = None,
    *,
    given: Annotated[
        Given, GivenOf(classes=(Run, Source), kinds=("command", "url", "config", "document"), without=("draft", "json"))
    ],
    texts: Annotated[Texts, OptionsOf(classes=(Texts,), only=("base_url",))],
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
    from skillgen.pipeline.call import opened_calls

    rest = list(tool or ())
    if given.is_empty and rest:
        given = structs.replace(given, words=[rest.pop(0)])
    request = given.request(texts=texts, announce=Console().say)
    if not rest:
        raise UsageError("no tool is given", fix="give SOURCE, TOOL and its arguments")
    with opened_calls(request, options) as calls:
        name, *arguments = rest
        reply = calls.run(name, [_standard_input() if word == "-" else word for word in arguments])
    _print(reply.text, is_error=reply.is_error)
    return ExitCode.FAILED if reply.is_error else ExitCode.DONE


def _standard_input() -> str:
    text = sys.stdin.read(_LINE_LIMIT + 1)
    if len(text) > _LINE_LIMIT:
        raise UsageError("is larger than 32 MiB", where="standard input", fix="send less at once")
    return text


def _print(text: str, *, is_error: bool) -> None:
    print(strip_invisible_by_line(text), file=sys.stderr if is_error else sys.stdout)
