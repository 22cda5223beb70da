"""`skillgen from-server`, `from-openapi` and `from-cli`: document what an option or an argument names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillgen.cli.options import HEADER_VARIABLE, OptionsOf, command
from skillgen.cli.output import Console, full_place, result_json, show_result
from skillgen.cli.source import read
from skillgen.config.option import options_in, part_of
from skillgen.config.project import DEFAULT_OUT, TEXTS_NAME, OutputOptions, Run, Source, Texts
from skillgen.errors import ExitCode, SourceError, UsageError

if TYPE_CHECKING:
    from skillgen.pipeline.results import Outcome, Result
    from skillgen.write.record import Run as Recorded


_OF_ONE_RUN = ("out", "check", "force", "replace", "allow_empty", "draft", "json", "quiet", "verbose", "debug")
"""Options that `skillgen update` does not repeat."""


def _recorded(context: typer.Context) -> Recorded:
    """Returns a command line as the record of its documents has it: no secret, but the names of variables."""
    from skillgen.security.secrets import published_url, secrets_from_arguments
    from skillgen.write.record import Run as Recorded

    words, lacks, arguments = [str(context.info_name)], list[str](), list[str]()
    for item in context.command.params:
        source = context.get_parameter_source(item.name or "")
        if source is None or source.name != "COMMANDLINE" or item.name in _OF_ONE_RUN:
            continue
        value = context.params[str(item.name)]
        for text in value if isinstance(value, list | tuple) else [value]:
            if item.param_type_name == "argument":
                (arguments if _is_public(text) and text != "-" else lacks).append(text)
            elif text is True:
                words.append(item.opts[-1])
            elif (known := _without_secret(item.name, str(text))) is not None:
                words += [item.opts[-1], known]
            else:
                lacks.append(f"{item.opts[-1]} {re.split('[:=]', str(text))[0]}")
    words += arguments
    if secrets_from_arguments((context.obj or ())[1:]):
        lacks.append("the command of the server")
    elif context.obj:
        words += ["--", *context.obj]
    return Recorded(tuple(words), tuple(map(published_url, lacks)), str(Path.cwd()))


def _without_secret(name: str | None, text: str) -> str | None:
    """Returns the value of an option for the record; `None` if it may be secret."""
    from skillgen.security.secrets import secrets_from_arguments

    if name == "env":
        return text.partition("=")[0]
    if name == "headers":
        return text if HEADER_VARIABLE.fullmatch(text.partition(":")[2].strip()) else None
    return text if _is_public(text) and not secrets_from_arguments(text.split()) else None


def _is_public(text: str) -> bool:
    """True for what is not a URL, such as a long name of a file, and for a URL without credentials and query."""
    from skillgen.security.secrets import published_url

    return "://" not in text or published_url(text) == text


def documenting(*kinds: str) -> OptionsOf:
    """Returns the options of a command that documents sources of some kinds."""
    classes = (Source, Texts, OutputOptions, Run, Console)
    return OptionsOf(classes=classes, kinds=kinds, without=("target", "project"), is_partial=True)


def _document(context: typer.Context, given: Mapping[str, Any], **named: Any) -> ExitCode:
    """Documents a source that an option of `Source` names, and prints the result.

    The agent is asked for texts that the folder does not have yet.

    Raises:
        SourceError: it cannot be reached or read.
        UsageError: an option is invalid.
    """
    from skillgen.pipeline.generate import write_documents
    from skillgen.pipeline.rendering import checked_output
    from skillgen.pipeline.request import Request

    console, run, code = part_of(Console, given), part_of(Run, given), ExitCode.DONE
    output = checked_output(part_of(OutputOptions, given))
    request = Request(source=part_of(Source, {**given, **named}), texts=part_of(Texts, given))
    out = Path(output.out or DEFAULT_OUT)
    has_texts = (out / TEXTS_NAME).is_file()
    if has_texts or run.draft is not None:
        from skillgen.cli.draft import DraftOptions, draft_of, run_draft

        if not (has_texts or output.check):
            options = DraftOptions(agent=run.draft, yes=True)
            try:
                code = run_draft(draft_of(request, out, output.split), options, console, shows=False)
            except SourceError as error:  # the documents do not need the texts
                console.fail(error)
                code = error.exit_code
        request = draft_of(request, out).request
    reading = read(request, console)
    result = write_documents(reading.services, output, reading.failures, _recorded(context))
    show_result(result, console, shows_diff=not run.json)
    if run.json:
        print(result_json(result, lambda outcome, path: _place(result, outcome, path)))
    if output.check and result.exit_code is ExitCode.DRIFT:
        console.say("the documents are not up to date: run the same command without --check")
    return max(code, result.exit_code)


def _place(result: Result, outcome: Outcome, path: str) -> str:
    """Returns the path of a document in the report: below OUT, but with its folder if it is installed elsewhere."""
    if outcome.kind != "documents":
        return full_place(outcome, path)
    return path if result.is_one else f"{outcome.plan.out.name}/{path}"


_SERVERS = {"command", *(item.name for item in options_in(Source) if item.is_kind and item.flag)} - {"cli_command"}


@command
def from_server(
    context: typer.Context,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- COMMAND [ARG]...]", help="Command that starts a stdio server.", show_default=False),
    ] = None,
    *,
    given: Annotated[Mapping[str, Any], documenting(*_SERVERS)],
) -> ExitCode:
    """Document MCP servers.

    Everything after -- is the command of a server, which gets a reduced environment. The servers of --config are read
    at the same time, each into OUT/NAME if there are several; one that fails does not affect the others. Of a
    server.json, a registry's answer, a server card, a catalogue, the folder of a plugin, a URL or a domain, --server
    selects a server; without it, they are listed and nothing is contacted.

    Credentials that are passed with --env, --header or --login reach no document and no message. A login is stored in
    the user's configuration folder.

    Examples:

        \b
        skillgen from-server -- npx -y @modelcontextprotocol/server-memory
        skillgen from-server --url https://example.com/mcp --header 'Authorization: Bearer env:TOKEN'
        skillgen from-server --config .mcp.json
        skillgen from-server --env ACME_API_KEY --out docs/agents -- npx -y @acme/mcp-server
        skillgen from-server --install claude --profile claude -- python server.py
        skillgen from-server --snapshot snapshot.json
    """
    if arguments:
        raise UsageError(f"unexpected argument {arguments[0]!r}", fix=_fix_of_argument(arguments[0]))
    command = tuple(context.obj or ())
    try:
        part_of(Source, {**given, "command": command}).kind  # noqa: B018
    except UsageError as error:
        error.fix = "give one: -- COMMAND, --url URL, --config FILE, --manifest SOURCE or --snapshot FILE"
        raise
    return _document(context, given, command=command)


def _fix_of_argument(argument: str) -> str:
    """Returns how to give what is given without an option: a URL, a file or the command of a server."""
    from skillgen.sources.documents import RUNTIMES, is_url

    if is_url(argument):
        return f"give the URL of a server with --url {argument}; for an API, use from-openapi"
    path = Path(argument)
    if path.suffix in (".json", ".yaml", ".yml"):
        return f"name what the file is: --config {argument} of a client, or --snapshot; for an API, use from-openapi"
    runtime = RUNTIMES.get(path.suffix)
    command = argument if runtime is None else f"{runtime} {argument}"
    return f"put -- before the server's command: skillgen from-server -- {command} …"


@command
def from_openapi(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="File or URL of the description, base URL of the API, or - for stdin."),
    ],
    *,
    given: Annotated[Mapping[str, Any], documenting("openapi")],
) -> ExitCode:
    """Document an HTTP API from its OpenAPI description.

    Reads Swagger 2.0 and OpenAPI 3.0 to 3.2, as JSON or YAML.

    Examples:

        \b
        skillgen from-openapi openapi.yaml --out agent-docs
        skillgen from-openapi https://example.com/openapi.json --emit skill,llms --json
        skillgen from-openapi - < openapi.json
        skillgen from-openapi openapi.yaml --check || echo "run it again without --check"
    """
    return _document(context, given, openapi=source)


@command
def from_cli(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODULE:APP]",
            help="Click or Typer program, argparse parser, or function that returns one. No command is run.",
            show_default=False,
        ),
    ] = None,
    *,
    given: Annotated[Mapping[str, Any], documenting("cli", "cli_command")],
) -> ExitCode:
    """Document a command-line program.

    MODULE:APP is read from its declarations, any other program, given with --command, from its help.

    Examples:

        \b
        skillgen from-cli acme.cli:app
        skillgen from-cli acme.cli:build_parser --python .venv/bin/python --program acme
        skillgen from-cli --command gh
    """
    if (target is None) == (not given.get("cli_command")):
        fix = "give MODULE:APP for a program in Python, or --command NAME for any other"
        raise UsageError("not exactly one program is given", fix=fix)
    return _document(context, given, cli=target)
