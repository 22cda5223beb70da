"""The commands. Each parses its options, calls the pipeline, prints what came of it and gives the exit code."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from skillgen import __version__, pipeline
from skillgen.cli import options
from skillgen.cli.console import Console, outcome_json, summary
from skillgen.errors import ExitCode, Problem, SkillgenError, UsageError
from skillgen.model.service import Service
from skillgen.pipeline import Outcome, OutputOptions, Overrides

if TYPE_CHECKING:
    from skillgen.sources.mcp.crawl import ServerTarget

DEFAULT_OUT = Path("agent-docs")
DEFAULT_FORMATS = "skill,llms,ai-help,registry"

# Rich markup doubles the time that --help takes.
app = typer.Typer(
    name="skillgen",
    help="Turns what a service says of itself, an MCP server or an OpenAPI description, into documents for AI agents: "
    "a skill, llms.txt, the text of an --ai-help flag and a registry entry.\n\n"
    "LLMs/agents: run 'skillgen --ai-help' for detailed usage guidance.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Runs the command line; what stands after `--` is a server's command and none of our options."""
    gc.disable()  # the process is short, and a large description is a million objects that all stay
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # The same bytes on every system. Half a surrogate pair becomes an escape, which JSON reads back.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    # So that a server that was started ends with skillgen.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    arguments = sys.argv[1:]
    command: tuple[str, ...] = ()
    if "--" in arguments:
        split = arguments.index("--")
        arguments, command = arguments[:split], tuple(arguments[split + 1 :])
    app(args=arguments, prog_name="skillgen", obj=command)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"skillgen {__version__}")
        raise typer.Exit


def _show_ai_help(asked: bool) -> None:
    if asked:
        from importlib.resources import files

        print(files("skillgen.cli").joinpath("ai_help.md").read_text("utf-8"), end="")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    ai_help: Annotated[
        bool,
        typer.Option(
            "--ai-help",
            callback=_show_ai_help,
            is_eager=True,
            help="Show comprehensive usage guide for LLMs/agents and exit.",
        ),
    ] = False,
) -> None:
    pass


@app.command("from-server")
def from_server(
    context: typer.Context,
    command: Annotated[list[str] | None, typer.Argument(metavar="[-- COMMAND [ARG]...]", show_default=False)] = None,
    url: options.Url = None,
    snapshot: options.Snapshot = None,
    env: options.Env = None,
    header: options.Header = None,
    cwd: options.Cwd = None,
    server_name: options.ServerName = None,
    name: options.Name = None,
    description: options.Description = None,
    base_url: options.BaseUrl = None,
    out: options.Out = DEFAULT_OUT,
    emit: options.Emit = DEFAULT_FORMATS,
    templates: options.TemplatesDir = None,
    check: options.Check = False,
    allow_empty: options.AllowEmpty = False,
    strict: options.Strict = False,
    timeout: options.Timeout = 30.0,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
) -> None:
    """Documents an MCP server: one that a command starts, one at a URL, or a snapshot of one."""
    console = Console(quiet, verbose)

    def run() -> ExitCode:
        overrides = Overrides(name=name, description=description, base_url=base_url)
        output = _output_options(out, emit, templates, check, allow_empty, strict)
        _refuse_misplaced_command(command, context.obj)
        if _one_source(url=url, snapshot=snapshot, command=context.obj) == "snapshot":
            services = pipeline.read_snapshot(snapshot or "", overrides, timeout_s=timeout)
        else:
            target = _target(context.obj, url, env, header, cwd, timeout)
            services = (_crawled(target, overrides, server_name, console),)
        return _generate(services, output, console, as_json)

    _run(run, console, debug)


@app.command("from-openapi")
def from_openapi(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A file, a URL, or - for standard input.")],
    name: options.Name = None,
    description: options.Description = None,
    base_url: options.BaseUrl = None,
    out: options.Out = DEFAULT_OUT,
    emit: options.Emit = DEFAULT_FORMATS,
    templates: options.TemplatesDir = None,
    check: options.Check = False,
    allow_empty: options.AllowEmpty = False,
    strict: options.Strict = False,
    timeout: options.Timeout = 30.0,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
) -> None:
    """Documents an HTTP API from its OpenAPI description (3.0, 3.1; JSON or YAML)."""
    console = Console(quiet, verbose)

    def run() -> ExitCode:
        if context.obj:
            raise UsageError("a server's command is given (after --)", fix="use from-server, or leave it out")
        overrides = Overrides(name=name, description=description, base_url=base_url)
        output = _output_options(out, emit, templates, check, allow_empty, strict)
        with console.progress(f"reading {source}"):
            service = pipeline.read_description(source, overrides, timeout_s=timeout)
        return _generate((service,), output, console, as_json)

    _run(run, console, debug)


@app.command("inspect")
def inspect(
    context: typer.Context,
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SOURCE]... [-- COMMAND [ARG]...]", help="OpenAPI descriptions or snapshots."),
    ] = None,
    url: options.Url = None,
    snapshot: options.Snapshot = None,
    env: options.Env = None,
    header: options.Header = None,
    cwd: options.Cwd = None,
    server_name: options.ServerName = None,
    timeout: options.Timeout = 30.0,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
) -> None:
    """Prints the intermediate model as JSON: what --snapshot reads."""
    console = Console(quiet, verbose)

    def run() -> ExitCode:
        from skillgen.sources.snapshot import snapshot_text

        services: list[Service] = []
        for source in (*(sources or ()), *((snapshot,) if snapshot else ())):
            services += pipeline.read_document(source, Overrides(), timeout_s=timeout)
        if url or context.obj:
            target = _target(context.obj, url, env, header, cwd, timeout)
            services.append(_crawled(target, Overrides(), server_name, console))
        if not services:
            raise UsageError("no source is given", fix="give a file, a URL with --url, or a server: -- COMMAND")
        console.problems(problem for service in services for problem in service.problems)
        sys.stdout.write(snapshot_text(services))
        return ExitCode.DONE

    _run(run, console, debug)


def _run(run: Callable[[], ExitCode], console: Console, debug: bool) -> None:
    """Runs a command; a person sees a message, and a traceback only with `--debug`."""
    try:
        code = run()
    except SkillgenError as error:
        if debug:
            raise
        console.fail(error)
        code = error.exit_code
    except (typer.Exit, typer.Abort, KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:
        if debug:
            raise
        console.fail(
            SkillgenError(
                f"a bug in skillgen: {type(error).__name__}: {error}", fix="report it with the output of --debug"
            )
        )
        code = ExitCode.OUTPUT
    raise typer.Exit(int(code))


def _generate(services: Iterable[Service], output: OutputOptions, console: Console, as_json: bool) -> ExitCode:
    """Documents each service; one that fails does not cost the others, and the highest code wins."""
    services = tuple(services)
    outcomes: list[Outcome] = []
    problems: list[Problem] = []
    code = ExitCode.DONE
    for service in services:
        folder = output.out if len(services) == 1 else output.out / pipeline.folder_name(service)
        try:
            outcome = pipeline.generate(service, replace(output, out=folder))
        except SkillgenError as error:
            if len(services) == 1:
                console.problems(service.problems)
                raise
            console.fail(error)
            code = max(code, error.exit_code)
            continue
        console.problems(outcome.problems)
        if output.check and not as_json:
            sys.stdout.write(outcome.diff)
        console.say(summary(outcome, output.check))
        outcomes.append(outcome)
        problems.extend(outcome.problems)
        code = max(code, outcome.exit_code)
    if as_json:
        print(outcome_json(outcomes, problems))
    if output.check and code is ExitCode.DRIFT:
        console.say("the documents are not up to date; run the same command without --check")
    return code


def _crawled(target: ServerTarget, overrides: Overrides, server_name: str | None, console: Console) -> Service:
    with console.progress("starting the server" if target.command else f"connecting to {target.url}") as progress:
        return pipeline.read_server(target, overrides, server_name=server_name, progress=progress)


def _target(
    command: tuple[str, ...],
    url: str | None,
    env: Sequence[str] | None,
    header: Sequence[str] | None,
    cwd: Path | None,
    timeout_s: float,
) -> ServerTarget:
    from skillgen.sources.mcp.crawl import ServerTarget

    if url is not None:
        _refuse_bad_url(url)
    if cwd is not None and not cwd.is_dir():
        raise UsageError("no such folder", where=f"--cwd {cwd}", fix="give the folder in which the server is to start")
    return ServerTarget(
        command=command,
        url=url,
        env=options.env_values(env),
        headers=options.header_values(header),
        cwd=cwd,
        timeout_s=timeout_s,
    )


def _refuse_bad_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good:
        raise UsageError("is no http:// or https:// address", where="--url", fix="give one, as https://HOST/PATH")


def _output_options(
    out: Path, emit: str, templates: Path | None, check: bool, allow_empty: bool, strict: bool
) -> OutputOptions:
    return OutputOptions(
        out=out,
        formats=pipeline.formats_named(emit),
        templates=templates,
        check=check,
        allow_empty=allow_empty,
        strict=strict,
    )


def _one_source(**given: object) -> str:
    """Gives the name of the one source that is given."""
    names = [name for name, value in given.items() if value]
    if len(names) != 1:
        what = "no server is given" if not names else f"several sources are given: {', '.join(names)}"
        raise UsageError(what, fix="give one: -- COMMAND, --url URL or --snapshot FILE")
    return names[0]


def _refuse_misplaced_command(words: Sequence[str] | None, command: tuple[str, ...]) -> None:
    if words:
        raise UsageError(
            f"unexpected argument {words[0]!r}",
            fix=f"put -- before the server's command: skillgen from-server -- {words[0]} …",
        )
