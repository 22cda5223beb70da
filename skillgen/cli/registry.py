"""`skillgen registry`: merges the entries of many services, and searches them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skillgen.cli.options import PanelCommand, command, run_with
from skillgen.cli.output import Console, print_diff
from skillgen.config.project import Run
from skillgen.errors import ExitCode

registry = typer.Typer(
    help="Merge and search the entries of many services.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_DEFAULT = Path("registry.json")


@registry.command("build", cls=PanelCommand)
@command
def build_registry(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="Folders of documents, or folders that hold such folders.")
    ],
    *,
    out: Annotated[
        Path,
        typer.Option("-o", "--out", metavar="FILE", help="File for dashdash's entries; the rest is next to it."),
    ] = _DEFAULT,
    html: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also write a site above those of the services (--emit html) to this folder."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing. Print a diff and exit with 1 if a file would change.")
    ] = False,
    console: Console,
) -> ExitCode:
    """Write one registry of the entries in folders.

    Writes the entries of dashdash (FILE), of the MCP registry (.servers.json) and of MCP, REST edition (.mcpx.json),
    and what the tools do (.tools.json), which `registry search` reads.

    Examples:

        \b
        skillgen registry build agent-docs
        skillgen registry build services/* -o registry.json --check
    """
    from skillgen.pipeline.registry import build_registry
    from skillgen.text.markdown import counted

    with console.progress(f"reading {counted(len(folders), 'folder')}"):
        found = build_registry(folders, out, html, is_check=check)
    console.problems(found.problems)
    console.say(f"{counted(found.services, 'service')} with {counted(found.tools, 'tool')} in {out.as_posix()}")
    print_diff(found.drift)
    return ExitCode.DRIFT if found.drift else ExitCode.DONE


@registry.command("search", cls=PanelCommand)
@command
def search_registry(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="What a tool should do.")],
    *,
    index: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What is searched. Default: registry.tools.json in this folder.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=100, help="Services to show at most.")] = 10,
    run: Annotated[Run, run_with("json")],
    console: Console,
) -> ExitCode:
    """Find the services whose tools do something.

    The best are first. `--json` prints an answer to `recommend_servers`.

    Examples:

        \b
        skillgen registry search create an issue
        skillgen registry search --json --limit 3 send an e-mail
    """
    from skillgen.pipeline.registry import INDEX_NAME, recommendations_json, recommendations_text, search_registry
    from skillgen.text.markdown import json_output

    text = " ".join(words)
    found = search_registry(index if index is not None else _DEFAULT.with_name(INDEX_NAME), text, limit)
    if run.json:
        print(json_output(recommendations_json(text, found)))
    else:
        print(recommendations_text(found), end="")
    if not found:
        console.say(f"no service matches {text!r}")
    return ExitCode.DONE
