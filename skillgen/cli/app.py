"""The `skillgen` command: its entry point, its commands, `--version`, `--ai-help`, and `skillgen logout`.

Every other command has a module of its own in this package.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from inspect import signature
from io import TextIOWrapper
from itertools import starmap
from pathlib import Path
from typing import Annotated, Any

import typer

from skillgen import __version__
from skillgen.cli.options import PanelCommand, command
from skillgen.cli.output import Console
from skillgen.config.convert import dropped
from skillgen.errors import ExitCode, SkillgenError, UsageError, failure_of


@command
def logout(
    url: Annotated[str, typer.Argument(metavar="URL", help="URL of the server, as it was passed to --url.")],
    *,
    console: Console,
) -> ExitCode:
    """Delete the login to a server that --login stored.

    Examples:

        \b
        skillgen logout https://example.com/mcp
        skillgen from-server --url https://example.com/mcp --login
    """
    from skillgen.security.secrets import published_url
    from skillgen.sources.mcp.connect import login_file
    from skillgen.sources.mcp.target import refuse_bad_url

    refuse_bad_url(url, "URL")
    is_deleted = login_file(url).delete()
    console.say(f"{published_url(url)}: {'login deleted' if is_deleted else 'no login is stored'}")
    return ExitCode.DONE


_EPILOG = """\
Examples:

  \b
  skillgen init
  skillgen from-server -- npx -y @modelcontextprotocol/server-memory
  skillgen from-openapi openapi.yaml --out agent-docs
  skillgen from-cli --command gh
  skillgen lint openapi.yaml
  skillgen build --check

Exit codes:

  \b
  0: done, or nothing to do
  1: --check found drift, lint found errors, a called tool failed, a draft is refused, or eval is below its threshold
  2: invalid options or arguments, options that select nothing, or a call without --yes
  3: the source could not be read, has less than its documents, or is refused (--strict)
  4: a file that would be overwritten was edited; the diff is on standard error
  5: the documents could not be written, or a bug in skillgen
  130: interrupted
  141: nothing reads standard output any more
"""

_CLOSED_PIPE = 128 + 13
"""Exit code if the reader of standard output has gone, as of a program that SIGPIPE stops."""

_AFTER_SIGNAL = (128 + signal.SIGINT, 128 + signal.SIGTERM)
"""Exit codes after a signal: typer's for Ctrl-C, and that of the handler in `main`."""


def main() -> None:
    """Runs the command line. Everything after `--` is a server's command and is not parsed as options."""
    # Without this, the collection at exit walks all objects of a large description.
    atexit.register(gc.freeze)
    # If the caller closed a stream, Python sets it to None.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # The same bytes on every system. A lone surrogate becomes an escape, which JSON parsers accept.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    # Exit through SystemExit, so that a server that was started is stopped too.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    arguments, command = split_at_dashes(sys.argv[1:])
    console = Console(quiet="-q" in arguments or "--quiet" in arguments, debug="--debug" in arguments)
    sys.exit(run(arguments, command, console))


def split_at_dashes(arguments: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """Returns what is before `--`, and the command of a server after it."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:end], tuple(arguments[end + 1 :])


def run(arguments: list[str], command: tuple[str, ...], console: Console) -> int:
    """Runs a command line and returns its exit code; prints a fatal error as a message, and with --json as a report."""
    words = [word for word in arguments if not word.startswith("-")]
    name = next(iter(words), "")
    failure: SkillgenError | None = None
    try:
        _refuse(words[:2], arguments, has_command=bool(command))
        code = 0
        if "--ai-help" in arguments:
            # The words before it name the command that it concerns; nothing else is parsed or run.
            before = [word for word in arguments[: arguments.index("--ai-help")] if not word.startswith("-")]
            print(_help_text(typer.main.get_command(program()), before), end="")
        elif arguments[:1] == ["--version"]:
            print(f"skillgen {__version__}")
        else:
            parser = program([name]) if name in _COMMANDS else program(has_options=False)
            code = int(parser(args=arguments, prog_name="skillgen", obj=command, standalone_mode=False) or 0)
        sys.stdout.flush()
    except SystemExit as stop:  # typer's exit code for a closed pipe is 1
        code = _CLOSED_PIPE if isinstance(stop.__context__, BrokenPipeError) else int(stop.code or 0)
    except typer.Abort:
        print("Aborted!", file=sys.stderr)
        code = 1
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None:  # standard output cannot be written
            if not isinstance(error, BrokenPipeError):
                console.fail(failure_of(error))
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return _CLOSED_PIPE if isinstance(error, BrokenPipeError) else ExitCode.OUTPUT
        describe = getattr(error, "format_message", None)  # typer does not export the class of its usage errors
        if describe is not None:
            error.show()  # type: ignore[attr-defined]
            code, failure = error.exit_code, UsageError(describe(), fix=f"see skillgen {name} --help")  # type: ignore[attr-defined]
        else:
            failure = failure_of(error)
            console.fail(failure)
            code = failure.exit_code
    if code in _AFTER_SIGNAL:
        failure = SkillgenError("interrupted", fix="run it again")
    if failure is not None and name in _COMMANDS and "--json" in arguments:
        shown = _command(name)
        if not isinstance(shown, typer.Typer) and "json" in signature(shown).parameters:
            print(shown.failed_json(failure), flush=True)
    return code


def _refuse(words: Sequence[str], arguments: Sequence[str], *, has_command: bool) -> None:
    """Refuses a command line that names what an earlier release had, or a server where none is read.

    Raises:
        UsageError: it does.
    """
    named = [("command", text) for text in ("".join(words[:1]), " ".join(words))]
    flags = [word.partition("=")[0] for word in arguments if word.startswith("--")]
    named += [("option", name) for flag in flags for name in (flag, f"{''.join(words[:1])} {flag}")]
    for error in filter(None, starmap(dropped, named)):
        raise error
    if has_command and words and words[0] in ("from-openapi", "from-cli", "build", "init", "diff"):
        fix = "use from-server, add it to skillgen.yaml, or diff snapshots: skillgen inspect -- COMMAND > FILE"
        raise UsageError(f"{words[0]} starts no server, so nothing may be given after --", fix=fix)


def _help_text(program: object, words: Sequence[str]) -> str:
    """Returns the document of the program, of the command that the first words name, or of all commands of a group."""
    from skillgen.api import render_documents
    from skillgen.config.loader import read_project
    from skillgen.pipeline.read import read_command
    from skillgen.pipeline.results import Request
    from skillgen.render.pages import file_stems

    # That of skillgen itself, with the author's texts: in the wheel, or in the repository.
    folders = (Path(__file__).parents[1], Path(__file__).parents[2])
    file = next(folder / "skillgen.yaml" for folder in folders if (folder / "skillgen.yaml").is_file())
    (target,) = read_project(file).targets.values()
    service = read_command(program, ("skillgen",), Request(source=target.source, texts=target.texts))
    documents = render_documents(service, emit=("ai-help", "ai-help-commands"))
    stems = file_stems((tool.name for tool in service.tools), frozenset())
    for count in range(len(words), 0, -1):
        name = " ".join(words[:count])
        if shown := [item for item in stems if item == name or item.startswith(f"{name} ")]:
            texts = "\n".join(documents[f"ai-help/{stems[item]}.md"] for item in shown)
            return texts.replace("[ai-help.md](../ai-help.md)", "`skillgen --ai-help`")
    return documents["ai-help.md"]


_AI_HELP = "Show comprehensive usage guide for LLMs/agents and exit; after a command, that of the command."


def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    ai_help: Annotated[bool, typer.Option("--ai-help", help=_AI_HELP)] = False,
) -> None:
    """Generate documents for AI agents from an MCP server, an OpenAPI description or a command-line program: a skill,
    llms.txt, --ai-help text and a registry entry.

    First: run 'skillgen init' and 'skillgen build' in a project of your own; document any other service with
    from-server, from-openapi or from-cli.

    LLMs/agents: run 'skillgen --ai-help' for detailed usage guidance.
    """


_COMMANDS = {
    **dict.fromkeys(("from-server", "from-openapi", "from-cli"), "documents"),
    **dict.fromkeys(("init", "build", "update"), "build"),
    "draft": "documents",
    **dict.fromkeys(("lint", "rule", "inspect", "diff"), "inspection"),
    **dict.fromkeys(("call", "mock", "eval"), "mock"),
    **dict.fromkeys(("registry", "templates"), "templates"),
    "logout": "app",
}
"""Every command, in the order of help, with its module in this package."""


def _command(name: str) -> Any:
    """Imports a command, or a group of commands."""
    module = import_module(f"skillgen.cli.{_COMMANDS[name]}")
    return getattr(module, "evaluate" if name == "eval" else name.replace("-", "_"))


def program(names: Iterable[str] = _COMMANDS, *, has_options: bool = True) -> typer.Typer:
    """Returns the program with these commands: to import the others, and derive their options, takes longer than help.

    Without `has_options`, it only lists them.
    """
    # Rich markup doubles the time that --help takes.
    parser = typer.Typer(
        name="skillgen",
        epilog=_EPILOG,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    parser.callback()(_root)
    for name in names:
        command = _command(name)
        is_group = isinstance(command, typer.Typer)
        if not has_options:
            parser.command(name, help=command.info.help if is_group else command.__doc__)(lambda: None)
        elif is_group:
            parser.add_typer(command, name=name)
        else:
            # An option after a word is of the server's command, whose -- is missing.
            settings = {"allow_interspersed_args": name != "from-server"}
            parser.command(name, cls=PanelCommand, context_settings=settings)(command)
    return parser


def __getattr__(name: str) -> typer.Typer:
    """Returns `app`, the program with all commands."""
    if name != "app":
        raise AttributeError(name)
    globals()[name] = parser = program()
    return parser
