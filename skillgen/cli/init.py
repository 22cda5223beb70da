"""`skillgen init`: the files with which a project starts."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from skillgen.cli import options
from skillgen.cli.output import Console, run_command
from skillgen.errors import ExitCode, OutputError, UsageError
from skillgen.text.markdown import one_line

if TYPE_CHECKING:
    from skillgen.pipeline.init import Proposals


def init(
    context: typer.Context,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
) -> None:
    """Writes a skillgen.yaml with what this project has, and an entry for pre-commit; existing files stay."""
    console = Console(quiet, verbose, debug)

    def run() -> ExitCode:
        from skillgen.config.loader import FILE_NAME
        from skillgen.pipeline.init import propose_targets

        if context.obj:
            raise UsageError("a server's command is given (after --)", fix="name it in skillgen.yaml")
        with console.progress("looking at the project"):
            found = propose_targets(Path())
        _tell_what_is_found(found, console)
        is_new = _write_project_file(found, console)
        _write_pre_commit(found, console)
        if is_new and found.chosen:
            console.say(f"skillgen build runs the commands that {FILE_NAME} names; read them first")
            console.say("next: skillgen build")
        return ExitCode.DONE

    run_command(run, console)


def _tell_what_is_found(found: Proposals, console: Console) -> None:
    for proposal in found.chosen:
        console.say(one_line(f"found {proposal.found}: target {proposal.name}"))
        for caution in proposal.prerequisites:
            console.say(one_line(f"  first: {caution}"))
    for proposal in found.others:
        console.say(one_line(f"found {proposal.found}: a comment, take out the # if you want it"))


def _write_project_file(found: Proposals, console: Console) -> bool:
    from skillgen.config.loader import FILE_NAME, find_project_file
    from skillgen.pipeline.init import SCHEMA_NAME, project_text, schema_text, target_text

    there = find_project_file()
    if there is None:
        _create(Path(FILE_NAME), project_text(found))
        _renew(Path(SCHEMA_NAME), schema_text())
        console.say(f"wrote {FILE_NAME}, and {SCHEMA_NAME}, by which editors complete it")
        if not found.chosen:
            console.say(
                f"nothing was found that skillgen documents: no OpenAPI description, no MCP server; {FILE_NAME} has "
                "examples: take the one that fits, then skillgen build"
            )
        return True
    if there.suffix != ".toml":
        _renew(Path(SCHEMA_NAME), schema_text())
    if found.chosen:
        console.say(f"{there} is there already and stays as it is; this is what a new one would have:")
        for proposal in found.chosen:
            console.say(target_text(proposal).rstrip("\n"))
    else:
        console.say(f"{there} is there already and stays as it is")
    return False


def _write_pre_commit(found: Proposals, console: Console) -> None:
    from skillgen.pipeline.init import PRE_COMMIT_NAME, ProjectFiles, pre_commit_entry, pre_commit_text

    path = Path(PRE_COMMIT_NAME)
    if path.exists():
        if "skillgen" not in ProjectFiles(Path()).text(str(path)):
            console.say(f"{path} is there already and stays as it is; add below repos:")
            console.say(pre_commit_entry().rstrip("\n"))
    elif found.chosen:
        _create(path, pre_commit_text())
        console.say(f"wrote {path}; pre-commit install (or prek install) turns it on")
    if not _is_on_path():
        console.say(
            "the hook runs the `skillgen` on PATH, and that is not this one: install skillgen from its repository with "
            "`uv tool install` or `pipx install` (the `skillgen` of PyPI is another project)"
        )


def _is_on_path() -> bool:
    """True if `skillgen` on PATH is the script of this very skillgen, also through a link as pipx creates it."""
    found = shutil.which("skillgen")
    return found is not None and Path(found).resolve().parent == Path(sys.executable).parent.resolve()


def _create(path: Path, text: str) -> None:
    """Writes a file that is not there, and no other.

    Raises:
        OutputError: it is there, or cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror}", where=str(path), fix="check its folder") from None


def _renew(path: Path, text: str) -> None:
    """Writes the schema, which is skillgen's own: that of an older version is replaced, another file is not."""
    from skillgen.pipeline.init import ProjectFiles

    if not path.exists():
        _create(path, text)
    elif '"title": "skillgen.yaml"' in (old := ProjectFiles(Path()).text(str(path))) and old != text:
        path.write_text(text, "utf-8", newline="\n")
