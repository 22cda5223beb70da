"""`skillgen diff`: what changed between two sources, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from skillgen.cli import options
from skillgen.cli.options import RunOptions, with_option_groups
from skillgen.cli.output import change_lines, json_output, run_command
from skillgen.errors import ExitCode, Problem, SourceError
from skillgen.model.changes import Inventory, compare_inventories, inventory_of, types_of
from skillgen.model.service import Service
from skillgen.model.traversal import TypeUsage
from skillgen.pipeline.generate import DescriptionOptions, Overrides


@with_option_groups
def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A snapshot, any source file or URL, or REV:PATH of git.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The same.")],
    as_json: options.AsJson = False,
    *,
    how: RunOptions,
) -> None:
    """Says in words what changed for callers from one source to another; exits with 0 whatever it finds."""
    console = how.console()

    def run() -> ExitCode:
        before, after = (_services(source, how.timeout) for source in (old, new))
        changes = compare_inventories(_inventory(before), _inventory(after), TypeUsage(after))
        is_breaking = any(change.breaking for change in changes)
        if as_json:
            print(json_output({"breaking": is_breaking, "changes": [asdict(change) for change in changes]}))
            return ExitCode.DONE
        for line in change_lines(changes):
            print(f"- {line}")
        console.say("breaking" if is_breaking else "not breaking" if changes else "nothing changed for callers")
        return ExitCode.DONE

    run_command(run, console, failed_json=diff_failed_json if as_json else None)


def diff_failed_json(problem: Problem) -> str:
    """Returns the object of `--json` for a run that a fatal error stops."""
    return json_output({"breaking": None, "changes": [], "problems": [asdict(problem)]})


def _inventory(services: Sequence[Service]) -> Inventory:
    return Inventory(
        tools={name: tool for service in services for name, tool in inventory_of(service).items()},
        types={name: rows for service in services for name, rows in types_of(service).items()},
    )


def _services(source: str, timeout_s: float) -> tuple[Service, ...]:
    from skillgen.pipeline import read

    given = DescriptionOptions(timeout_s=timeout_s)
    if source.startswith(("http://", "https://")) or ":" not in source or Path(source).exists():
        return read.read_document(source, Overrides(), given)
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "source")
        path.write_bytes(_at_revision(source))
        return read.read_document(str(path), Overrides(), given)


def _at_revision(source: str) -> bytes:
    revision, _, path = source.partition(":")
    if revision.startswith("-"):
        raise SourceError("no such revision", where=source, fix="give REV:PATH, as HEAD~1:openapi.yaml")
    import subprocess

    try:
        finished = subprocess.run(["git", "show", f"{revision}:./{path}"], capture_output=True, check=False)
    except OSError:
        raise SourceError("git is not installed", where=source, fix="install it, or give two files") from None
    if finished.returncode:
        raise SourceError("git has no such file there", where=source, fix="give REV:PATH, as HEAD~1:openapi.yaml")
    return finished.stdout
