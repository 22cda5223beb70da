"""`skillgen init`: writes the files that a project starts with."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from skillgen.cli.options import command
from skillgen.cli.output import Console
from skillgen.errors import ExitCode, OutputError, UsageError
from skillgen.text.markdown import one_line

if TYPE_CHECKING:
    from skillgen.pipeline.init import Proposals


@command
def init(context: typer.Context, *, console: Console) -> ExitCode:
    """Write a skillgen.yaml for this project's servers and APIs, and a pre-commit entry. Keeps existing files."""
    from skillgen.config.loader import FILE_NAME
    from skillgen.pipeline.init import propose_targets

    if context.obj:
        raise UsageError("a server's command is given after --", fix="write it into skillgen.yaml")
    with console.progress("searching the project"):
        proposals = propose_targets(Path())
    _report_proposals(proposals, console)
    is_new = _write_project_file(proposals, console)
    _write_pre_commit(proposals, console)
    if is_new and proposals.chosen:
        console.say(f"skillgen build runs the commands in {FILE_NAME}: read them first")
        console.say("next: skillgen build")
    return ExitCode.DONE


def _report_proposals(proposals: Proposals, console: Console) -> None:
    for proposal in proposals.chosen:
        console.say(one_line(f"found {proposal.evidence}: target {proposal.name}"))
        for prerequisite in proposal.prerequisites:
            console.say(one_line(f"  first: {prerequisite}"))
    for proposal in proposals.others:
        console.say(one_line(f"found {proposal.evidence}: commented out; remove the # to document it"))


def _write_project_file(proposals: Proposals, console: Console) -> bool:
    """Writes the project file, or prints the proposals if there is one already. Returns True if it was written."""
    from skillgen.config.loader import FILE_NAME, find_project_file
    from skillgen.pipeline.init import SCHEMA_NAME, project_text, schema_text, target_text

    existing = find_project_file()
    if existing is None:
        _create(Path(FILE_NAME), project_text(proposals))
        _update_schema(Path(SCHEMA_NAME), schema_text())
        console.say(f"wrote {FILE_NAME}, and {SCHEMA_NAME} for completion in editors")
        if not proposals.chosen:
            console.say(
                f"found no OpenAPI description and no MCP server; {FILE_NAME} has examples: correct the one that fits, "
                "then run skillgen build"
            )
        return True
    if existing.suffix != ".toml":
        _update_schema(Path(SCHEMA_NAME), schema_text())
    if proposals.chosen:
        console.say(f"{existing} already exists and was not changed; a new one would have:")
        for proposal in proposals.chosen:
            console.say(target_text(proposal).rstrip("\n"))
    else:
        console.say(f"{existing} already exists and was not changed")
    return False


def _write_pre_commit(proposals: Proposals, console: Console) -> None:
    from skillgen.pipeline.init import PRE_COMMIT_NAME, ProjectFiles, pre_commit_entry, pre_commit_text

    path = Path(PRE_COMMIT_NAME)
    if path.exists():
        if "skillgen" not in ProjectFiles(Path()).text(str(path)):
            console.say(f"{path} already exists and was not changed; add below repos:")
            console.say(pre_commit_entry().rstrip("\n"))
    elif proposals.chosen:
        _create(path, pre_commit_text())
        console.say(f"wrote {path}: run pre-commit install (or prek install) to enable it")
    if not _is_on_path():
        console.say(
            "the hook runs the `skillgen` on PATH, which is not this one: install skillgen from its repository with "
            "`uv tool install` or `pipx install` (`skillgen` on PyPI is another project)"
        )


def _is_on_path() -> bool:
    """True if `skillgen` on PATH is the script of this installation, also through a link such as pipx creates."""
    script = shutil.which("skillgen")
    return script is not None and Path(script).resolve().parent == Path(sys.executable).parent.resolve()


def _create(path: Path, text: str) -> None:
    """Writes a new file.

    Raises:
        OutputError: it exists, or cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror}", where=str(path), fix="check its folder") from None


def _update_schema(path: Path, text: str) -> None:
    """Writes the schema of the project file. Replaces that of an older skillgen, but no other file."""
    from skillgen.pipeline.init import ProjectFiles

    if not path.exists():
        _create(path, text)
    elif '"title": "skillgen.yaml"' in (old := ProjectFiles(Path()).text(str(path))) and old != text:
        path.write_text(text, "utf-8", newline="\n")
