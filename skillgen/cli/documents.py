"""`skillgen from-server`, `from-openapi` and `from-cli` document a source; `skillgen draft` has its texts written."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import Struct, structs

from skillgen.cli.mock import words_of_agent
from skillgen.cli.options import HEADER_VARIABLE, SOURCE, Given, OptionsOf, command, read
from skillgen.cli.output import Console, can_ask, print_diff, result_json, safe_lines, show_result
from skillgen.config.option import Options, PathName, option, options_in, part_of
from skillgen.config.project import DEFAULT_OUT, SOURCE_KINDS, OutputOptions, Run, Source, Texts
from skillgen.errors import ExitCode, OutputError, SourceError, UsageError
from skillgen.model.document import TEXTS_NAME
from skillgen.text.markdown import one_line
from skillgen.write.files import is_below
from skillgen.write.record import RECORD_NAME, read_record
from skillgen.write.record import Run as Recorded

if TYPE_CHECKING:
    from skillgen.model.service import Service
    from skillgen.pipeline.draft import Answer
    from skillgen.pipeline.results import Request


class DraftOptions(Options, frozen=True, kw_only=True):
    """Who writes the texts, and where."""

    PANEL = "Report"

    agent: str | None = option("Command of an agent, which gets the brief on standard input.", metavar="COMMAND")
    prints: bool = option("Print the brief on standard output.", flag="--print")
    answer: str | None = option(
        "Apply the answer in a file. - reads standard input.", flag="--apply", metavar="FILE", is_path=True
    )
    outdated: bool = option("Only renew texts whose source changed since they were written.")
    out: PathName | None = option(f"Folder of SOURCE's documents. Default: {DEFAULT_OUT}.", short="-o", metavar="DIR")
    yes: bool = option("Write without asking.", panel="Safety")
    agent_timeout: float = option("Time limit of the agent for an answer.", 600.0, metavar="SECONDS")


@command
def draft(*, given: Annotated[Given, SOURCE], options: DraftOptions, console: Console) -> ExitCode:
    """Have an agent write the texts that rules cannot.

    The answer is checked against the source and written to the project file, or for a SOURCE to OUT/texts.yaml. A
    refused answer changes nothing. Without SOURCE, every target of the project is drafted; build uses the texts from
    then on.

    Examples:

        \b
        skillgen draft --agent 'claude -p'
        skillgen draft openapi.yaml -o agent-docs --print > brief.md
    """
    from skillgen.render.pages import file_stems

    if [options.agent is not None, options.prints, options.answer is not None].count(True) != 1:
        raise UsageError("exactly one of --agent, --print and --apply is needed", fix="give one of them")
    if options.out is not None and not given.has_source:
        raise UsageError("has no effect without SOURCE", where="--out", fix="leave it out; the target names its folder")
    drafts = [_draft_of_source(given, options.out)] if given.has_source else []
    for named, request in () if given.has_source else given.targets():
        name, split, server = named.name, named.target.output.split, given.values.get("server")
        if server is None:
            drafts.append(Draft(request, split, named.file, ("targets", name), name))
        else:  # the target may have several, whose texts are in their folders
            [place] = named.place.below([*file_stems([server], frozenset()).values()])
            drafts.append(Draft(replace(request, documents=place), split))
    if options.agent is None and len(drafts) > 1:
        names = ", ".join(item.name for item in drafts)
        raise UsageError("several targets have a brief each", where="--target", fix=f"choose from {names}")
    return console.worst(partial(run_draft, item, options, console) for item in drafts)


class Draft(Struct, frozen=True):
    """Texts to write."""

    request: Request
    split: str | None = None
    """How the service is divided into several skills."""

    file: Path = Path()
    """The project file that has them, else texts.yaml in the folder of the documents."""

    path: tuple[str, ...] = ()
    """The keys above them in the project file."""

    name: str = ""
    """What messages call it."""


def _draft_of_source(given: Given, out: PathName | None) -> Draft:
    """Returns the draft of a source, with the options with which the documents of the place were written.

    Raises:
        UsageError: the source is invalid, or the documents are those of a project.
    """
    from skillgen.pipeline.generate import place_of

    place = place_of(out)
    refuse_project(place.out, "draft")
    run = read_record(place.out).run
    recorded = {} if run is None else _recorded_options(run, place.out)
    request = given.request(texts=structs.asdict(part_of(Texts, recorded)), documents=place)
    source = part_of(Source, recorded).for_kind(request.source.kind, getattr(request.source, request.source.kind))
    source = structs.replace(source, **{name: getattr(request.source, name) for name in given.values})
    return Draft(replace(request, source=source), recorded.get("split"))


def refuse_project(out: Path, command: str) -> None:
    """Refuses a folder of documents of a project, for which `command` has to name the target.

    Raises:
        UsageError: it is one.
    """
    from skillgen.pipeline.ownership import records_in

    found = {record.target.partition(" ")[0] for record in records_in(out).values() if record.target is not None}
    if found and read_record(out).run is None:
        what = f"is of a project, of its target {' and '.join(sorted(found))}"
        fix = f"run skillgen {command}{f' --target {min(found)}' if len(found) == 1 else ''}"
        raise UsageError(what, where=str(out), fix=fix)


def _recorded_options(run: Recorded, out: Path) -> dict[str, Any]:
    """Returns the options of the command that wrote the documents in OUT.

    Raises:
        UsageError: it was run in another folder, where its paths begin.
    """
    from skillgen.cli import app

    folder = out / (run.folder or Path.cwd())
    if folder.resolve() != Path.cwd():
        raise UsageError("its documents were written in another folder", where=str(out), fix=f"run it in {folder}")
    words, server = app.split_at_dashes([*run.words])
    refuse_options(words, folder, out / RECORD_NAME)
    commands = typer.main.get_command(app.program(words[:1])).commands  # type: ignore[attr-defined]
    params = commands[words[0]].make_context(words[0], words[1:], obj=server).params
    group = OptionsOf(classes=(Texts, Source, OutputOptions), kinds=SOURCE_KINDS, is_partial=True)
    found: dict[str, Any] = group.take({item.name: params.get(item.name) or None for item in group.options()}, [])
    return found


def run_draft(item: Draft, options: DraftOptions, console: Console, *, shows: bool = True) -> ExitCode:
    """Prints the brief, or asks the agent or reads the file for the answer, which it checks and writes.

    With `shows`, standard output has the diff, or the refused answer of an agent.

    Raises:
        OutputError: a file cannot be written.
        SourceError: the source or the agent fails.
        UsageError: an option or a file is invalid, or nobody can be asked.
    """
    from skillgen.config.loader import read_text
    from skillgen.pipeline.draft import brief_for, checked_answer, outdated_texts, refusal, values_of
    from skillgen.pipeline.ownership import is_of_other_service
    from skillgen.pipeline.rendering import skills_in

    read_as: list[tuple[Service, Request]] = []
    service = read(replace(item.request, on_declared=lambda *found: read_as.append(found)), console).only
    [(declared, request)] = read_as
    texts, file = request.texts, Path(request.texts_file or "")
    if not item.path:
        item = structs.replace(item, file=file, name=file.as_posix())
        if request.documents and is_of_other_service(declared, structs.replace(request.documents, out=file.parent)):
            fix = "name the folder of its documents with --out, or another one"
            raise UsageError("has the documents of other services", where=str(file.parent), fix=fix)
    changes = outdated_texts(texts, declared) if options.outdated else {}
    if options.outdated and not changes:
        console.say(f"{item.name}: not outdated")
        return ExitCode.DONE
    skills = skills_in(service, item.split)
    brief, shown = brief_for(service, texts, changes, skills)
    if options.agent is None and options.answer is None:
        sys.stdout.write(safe_lines(brief))
        return ExitCode.DONE
    if options.agent is not None and not (options.yes or can_ask()):
        raise UsageError("the agent is not started, since nobody can be asked", where=item.name, fix="add --yes")
    with console.progress(f"{item.name}: asking the agent"):
        if options.agent is not None:
            text = _asked(options.agent, brief, options.agent_timeout)
        else:
            text = read_text(None if options.answer == "-" else Path(options.answer or ""))
        accepted, reasons = checked_answer(text, service, texts, changes, skills)
        if accepted is None and options.agent is not None:
            text = _asked(options.agent, brief + refusal(text, reasons), options.agent_timeout)
            accepted, reasons = checked_answer(text, service, texts, changes, skills)
    if accepted is None:
        console.say(f"{item.name}: the answer is refused, so nothing is written")
        for reason in reasons:
            console.say(f"  - {one_line(reason)[:500]}")
        if options.agent is not None and shows:
            print(safe_lines(text.rstrip()))
            console.say("  try: correct the answer, which is on standard output, and pass it with --apply FILE")
        return ExitCode.DRIFT
    values = values_of(accepted, service, texts, declared, shown, changes)
    return _write(item, _changes(item, file.parent, accepted, values, service), console, yes=options.yes, shows=shows)


def _asked(agent: str, brief: str, timeout_s: float) -> str:
    """Returns what an agent prints; it runs without a shell, in an empty folder."""
    from skillgen.pipeline.draft import ANSWER_LIMIT_BYTES
    from skillgen.sources.mcp.process import CommandRun

    with tempfile.TemporaryDirectory(prefix="skillgen-") as folder:
        run = CommandRun(words_of_agent(agent), os.environ, Path(folder), timeout_s, ANSWER_LIMIT_BYTES, text=brief)
        return run.output(where="--agent", what="answer", timeout_key="--agent-timeout").decode("utf-8", "replace")


_HEADER = (
    "# Texts on the service, which every run into this folder uses. `skillgen draft` wrote them: edit them freely.\n"
)


def _changes(
    item: Draft, out: Path, answer: Answer, values: Mapping[tuple[str, ...], object], service: Service
) -> list[tuple[Path, str | None, str]]:
    """Returns each file that changes, with its old text, `None` if it is new, and its new one."""
    from skillgen.config.loader import with_value
    from skillgen.evals.tasks import FILE, with_queries
    from skillgen.render.identity import skill_name
    from skillgen.sources.documents import text_of_file

    old = item.file.read_bytes().decode("utf-8") if item.file.is_file() else None
    new = _HEADER if old is None else old
    for path, value in values.items():
        new = with_value(new, (*item.path, *path), value, item.file.as_posix())
    changes = [(item.file, old, new)]
    queries = {text: name == "should-load" for name, texts in answer.queries.items() for text in texts}
    if queries:
        name = skill_name(service)
        file = out / "skills" / name / FILE
        old = text_of_file(file) if is_below(file, out) else None
        if old is None and file.exists():
            raise UsageError("is not a text file of the skill", where=file.as_posix(), fix="move it away")
        changes.append((file, old, with_queries(old, file, name, queries)))
    return [change for change in changes if change[1] != change[2]]


def _write(
    item: Draft, changes: list[tuple[Path, str | None, str]], console: Console, *, yes: bool, shows: bool
) -> ExitCode:
    from skillgen.write.files import replace_file
    from skillgen.write.record import unified_diff

    for file, old, new in changes if shows else ():
        before = "/dev/null" if old is None else file.as_posix()
        print_diff(unified_diff(before, file.as_posix(), (old or "").splitlines(), new.splitlines()))
    sys.stdout.flush()
    if not changes:
        console.say(f"{item.name}: nothing changed")
    elif not (yes or can_ask()):
        raise UsageError("nothing is written, since nobody can be asked", where=item.name, fix="add --yes")
    elif not (yes or typer.confirm("Write these texts? Nothing has checked that what they say is true.", err=True)):
        console.say(f"{item.name}: nothing is written")
        return ExitCode.DONE
    for file, _, new in changes:
        try:
            replace_file(file, new.encode())
        except OSError as error:
            raise OutputError(f"cannot be written: {error.strerror}", where=file.as_posix()) from None
        console.say(f"{item.name}: wrote {file.as_posix()}")
    return ExitCode.DONE


_REPEATED = ("emit", "publish", "templates", "profile", "budget", "split", "strict")
_NOT_REPEATED = OptionsOf(classes=(OutputOptions, Run, Console), without=("target", "project", *_REPEATED))
_OF_ONE_RUN = {item.name: item.flag for item in _NOT_REPEATED.options()}
"""Options that `skillgen update` does not repeat; it finds installed copies by their records."""


def refuse_options(words: Sequence[str], folder: Path, record: Path) -> None:
    """Refuses a command and options that no record has: those of one run, and templates that are not below the folder
    of the run.

    Raises:
        UsageError: there is one.
    """
    if words[0] not in ("from-server", "from-openapi", "from-cli"):
        raise UsageError(f"no such command: {words[0]}", where=str(record), fix="restore the file")
    for word, following in zip(words, (*words[1:], ""), strict=True):
        flag, equals, value = word.partition("=")
        leads_out = flag == "--templates" and not is_below(folder / (value if equals else following), folder)
        if leads_out or flag in _OF_ONE_RUN.values():
            what = f"its command has {flag}, which is for one run only or leads out of its folder"
            raise UsageError(what, where=str(record), fix="remove it there, or run the command yourself")


def _recorded(context: typer.Context) -> Recorded:
    """Returns a command line as the record of its documents has it: no secret, but the names of variables."""
    from skillgen.security.secrets import published_url, secrets_from_arguments

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
                lacks.append(f"{item.opts[-1]} {Path(re.split('[:=]', str(text))[0]).name}")
    words += arguments
    if secrets_from_arguments((context.obj or ())[1:]):
        lacks.append("the command of the server")
    elif context.obj:
        words += ["--", *context.obj]
    return Recorded(tuple(words), tuple(map(published_url, lacks)), str(Path.cwd()))


def _without_secret(name: str | None, text: str) -> str | None:
    """Returns the value of an option for the record; `None` if it may be secret, or leads out of the folder."""
    from skillgen.security.secrets import secrets_from_arguments

    if name == "templates" and not is_below(Path(text), Path()):
        return None
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
    from skillgen.pipeline.generate import place_of, write_documents
    from skillgen.pipeline.rendering import checked_output
    from skillgen.pipeline.results import Request

    console, run, code = part_of(Console, given), part_of(Run, given), ExitCode.DONE
    output = checked_output(part_of(OutputOptions, given))
    place, texts = place_of(output.out), part_of(Texts, given)
    request = Request(source=part_of(Source, {**given, **named}), texts=texts, documents=place)
    if run.draft is not None and not (output.check or (place.out / TEXTS_NAME).is_file()):
        options = DraftOptions(agent=run.draft, yes=True)
        try:
            code = run_draft(Draft(request, output.split), options, console, shows=False)
        except SourceError as error:  # the documents do not need the texts
            console.fail(error)
            code = error.exit_code
    result = write_documents(read(request, console), output, _recorded(context))
    show_result(result, console, shows_diff=not run.json)
    if run.json:
        print(result_json(result))
    if output.check and result.exit_code is ExitCode.DRIFT:
        console.say("the documents are not up to date: run the same command without --check")
    if result.outcomes and not any(item.plan.after.states for item in result.outcomes):
        raise UsageError("no format can be written", where="--emit", fix="choose another one")
    return max(code, result.exit_code)


_SERVERS = {"command", *(item.name for item in options_in(Source) if item.is_kind and item.flag)} - {"cli_command"}


@command
def from_server(
    context: typer.Context,
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND [ARG]...]", help="Command that starts a stdio server.")
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
    command = " ".join(filter(None, (RUNTIMES.get(path.suffix), argument)))
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
