"""`skillgen templates` lists, shows and exports the built-in templates; `skillgen registry` merges entries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skillgen.cli.options import PanelCommand, command
from skillgen.cli.output import Console, print_diff
from skillgen.config.option import Options, option
from skillgen.errors import EditedError, ExitCode, UsageError
from skillgen.model.check import unknown
from skillgen.render.catalogue import template_names, template_purpose, template_text
from skillgen.text.markdown import counted
from skillgen.write.record import change_diff

templates = typer.Typer(
    help="List, show or export the built-in templates.\n\nUse changed ones with --templates DIR.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@templates.command("list", cls=PanelCommand)
@command
def list_templates() -> ExitCode:
    """List every template with its purpose.

    Examples:

        \b
        skillgen templates list
        skillgen templates list | grep llms
    """
    width = max(map(len, template_names()))
    for name in template_names():
        print(f"{name:{width}}  {template_purpose(name)}")
    return ExitCode.DONE


@templates.command("show", cls=PanelCommand)
@command
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a template, as printed by `templates list`.")],
    *,
    console: Console,
) -> ExitCode:
    """Print one template.

    Examples:

        \b
        skillgen templates show llms.txt.j2
        skillgen templates show skill/SKILL.md.j2
    """
    print(template_text(_checked_name(name)), end="")
    return ExitCode.DONE


@templates.command("export", cls=PanelCommand)
@command
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write to; pass it to --templates.")],
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Templates to export. Default: all.")
    ] = None,
    *,
    console: Console,
) -> ExitCode:
    """Write templates to a folder.

    Stops if a file there differs.

    Examples:

        \b
        skillgen templates export own llms.txt.j2
        skillgen from-openapi openapi.yaml --templates own
    """
    texts = {folder / name: template_text(_checked_name(name)).encode() for name in names or template_names()}
    old = {path: path.read_bytes() for path in texts if path.exists()}
    if changed := [path for path, content in old.items() if content != texts[path]]:
        what = f"{', '.join(path.name for path in changed[:5])} already exist there and differ; nothing was written"
        fix = "name the templates that you do not have yet, or choose another folder"
        diff = "".join(change_diff(path.as_posix(), old[path], texts[path]) for path in changed)
        raise EditedError(what, where=str(folder), fix=fix, diff=diff)
    for path, content in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    console.say(f"{counted(len(texts), 'template')} in {folder}")
    return ExitCode.DONE


def _checked_name(name: str) -> str:
    if name in template_names():
        return name
    raise UsageError(unknown(name, template_names(), "template"), where=name, fix="see skillgen templates list")


registry = typer.Typer(help="Merge the entries of many services.", no_args_is_help=True, rich_markup_mode=None)


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
    check: bool = option("Write nothing. Print a diff and exit with 1 if a file would change.")


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
    from skillgen.pipeline.ownership import build_registry

    out = Path(options.out)
    with console.progress(f"reading {counted(len(folders), 'folder')}"):
        services, tools, problems, drift = build_registry(folders, out, is_check=options.check)
    console.problems(problems)
    console.say(f"{counted(services, 'service')} with {counted(tools, 'tool')} in {out.as_posix()}")
    print_diff(drift)
    return ExitCode.DRIFT if drift else ExitCode.DONE
