"""`skillgen registry`: merges the entries of many services."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skillgen.cli.options import PanelCommand, command
from skillgen.cli.output import Console, print_diff
from skillgen.config.option import Options, option
from skillgen.errors import ExitCode
from skillgen.text.markdown import counted

registry = typer.Typer(
    help="Merge the entries of many services.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class RegistryOptions(Options, frozen=True, kw_only=True):
    """Where a registry is written."""

    PANEL = "Report"

    out: str = option(
        "File for dashdash's entries; the rest is next to it.",
        "registry.json",
        short="-o",
        metavar="FILE",
        is_path=True,
    )
    check: bool = option("Write nothing. Print a diff and exit with 1 if a file would change.", False)


@registry.command("build", cls=PanelCommand)
@command
def build_registry(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="Folders of documents, or folders that hold such folders.")
    ],
    *,
    options: RegistryOptions,
    console: Console,
) -> ExitCode:
    """Write one registry of the entries in folders.

    Writes the entries of dashdash (FILE), of the MCP registry (.servers.json) and of MCP, REST edition (.mcpx.json).

    Examples:

        \b
        skillgen registry build agent-docs
        skillgen registry build services/* -o registry.json --check
    """
    from skillgen.pipeline.registry import build_registry

    out = Path(options.out)
    with console.progress(f"reading {counted(len(folders), 'folder')}"):
        found = build_registry(folders, out, is_check=options.check)
    console.problems(found.problems)
    console.say(f"{counted(found.services, 'service')} with {counted(found.tools, 'tool')} in {out.as_posix()}")
    print_diff(found.drift)
    return ExitCode.DRIFT if found.drift else ExitCode.DONE
