"""`skillgen diff`: describes the changes between two sources."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import asdict

from skillgen.cli.options import AsJson, OptionsOf, command
from skillgen.cli.output import Console, change_lines
from skillgen.config.project import Source
from skillgen.errors import ExitCode, SkillgenError, SourceError

if TYPE_CHECKING:
    from skillgen.model.changes import Inventory
    from skillgen.model.service import Service


def diff_failed_json(error: SkillgenError) -> str:
    """Returns the `--json` report of a run that a fatal error stopped."""
    from skillgen.pipeline.generate import problem_from_error
    from skillgen.text.markdown import json_output

    return json_output({"breaking": None, "changes": [], "problems": [asdict(problem_from_error(error))]})


@functools.partial(command, failed_json=diff_failed_json)
def diff(
    old: Annotated[
        str,
        typer.Argument(metavar="OLD", help="Snapshot, source file or URL, a git REV:PATH, or a program: MODULE:APP."),
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="What to compare it with, in the same forms.")],
    as_json: AsJson = False,
    *,
    options: Annotated[Source, OptionsOf((Source,), kinds=("cli",))],
    console: Console,
) -> ExitCode:
    """Describe what changed for callers between two sources. Exits with 0 whatever changed."""
    from skillgen.model.changes import compare_inventories
    from skillgen.model.traversal import TypeUsage
    from skillgen.text.markdown import json_output

    before, after = (_services(source, options) for source in (old, new))
    changes = compare_inventories(_inventory(before), _inventory(after), TypeUsage(after))
    is_breaking = any(change.breaking for change in changes)
    if as_json:
        print(json_output({"breaking": is_breaking, "changes": [asdict(change) for change in changes]}))
        return ExitCode.DONE
    for line in change_lines(changes):
        print(f"- {line}")
    console.say("breaking" if is_breaking else "not breaking" if changes else "nothing changed for callers")
    return ExitCode.DONE


def _inventory(services: Sequence[Service]) -> Inventory:
    from skillgen.model.changes import Inventory, inventory_of, types_of

    return Inventory(
        tools={name: tool for service in services for name, tool in inventory_of(service).items()},
        types={name: rows for service in services for name, rows in types_of(service).items()},
    )


def _services(source: str, options: Source) -> tuple[Service, ...]:
    from skillgen.pipeline.read import Request, is_program, read_source

    def read(kind: str, value: str | Path) -> tuple[Service, ...]:
        return read_source(Request(source=options.for_kind(kind, value))).services

    if source.startswith(("http://", "https://")) or ":" not in source or Path(source).exists():
        return read("document", source)
    try:
        content = _at_revision(source)
    except SourceError:
        if not is_program(source) or source.endswith((".json", ".yaml", ".yml")):
            raise
        return read("cli", source)
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "source")
        path.write_bytes(content)
        return read("document", path)


def _at_revision(source: str) -> bytes:
    revision, _, path = source.partition(":")
    if revision.startswith("-"):
        raise SourceError("not a git revision", where=source, fix="write REV:PATH, such as HEAD~1:openapi.yaml")
    import subprocess

    try:
        finished = subprocess.run(["git", "show", f"{revision}:./{path}"], capture_output=True, check=False)
    except OSError:
        raise SourceError("git is not installed", where=source, fix="install it, or compare two files") from None
    if finished.returncode:
        raise SourceError(
            "git has no such file at that revision", where=source, fix="write REV:PATH, such as HEAD~1:openapi.yaml"
        )
    return finished.stdout
