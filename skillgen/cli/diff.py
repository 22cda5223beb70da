"""`skillgen diff`: describes the changes between two sources."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import asdict

from skillgen.cli.options import OptionsOf, command, run_with
from skillgen.cli.output import Console, change_line
from skillgen.config.project import Run, Source
from skillgen.errors import ExitCode, SkillgenError, SourceError
from skillgen.text.markdown import json_output

if TYPE_CHECKING:
    from skillgen.model.service import Service


def diff_failed_json(error: SkillgenError) -> str:
    """Returns the `--json` report of a run that a fatal error stopped."""
    from skillgen.pipeline.results import problem_from_error

    return json_output({"breaking": None, "changes": [], "problems": [asdict(problem_from_error(error))]})


@functools.partial(command, failed_json=diff_failed_json)
def diff(
    old: Annotated[
        str,
        typer.Argument(metavar="OLD", help="File or URL, MODULE:APP of a program, or REVISION:FILE of git."),
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="What to compare it with, in the same forms.")],
    *,
    options: Annotated[Source, OptionsOf(classes=(Source,), kinds=("cli", "document"))],
    run: Annotated[Run, run_with("json")],
    console: Console,
) -> ExitCode:
    """Describe what changed for callers between two sources.

    Exits with 0 whatever changed.

    Examples:

        \b
        skillgen diff HEAD:openapi.yaml openapi.yaml
        skillgen diff old-snapshot.json new-snapshot.json --json
    """
    from skillgen.model.changes import compare_services

    changes = compare_services(*(_services(source, options) for source in (old, new)))
    is_breaking = any(change.breaking for change in changes)
    if run.json:
        print(json_output({"breaking": is_breaking, "changes": [asdict(change) for change in changes]}))
        return ExitCode.DONE
    for change in changes:
        print(f"- {change_line(change)}")
    is_changed = any(change.kind != "words" for change in changes)
    what = "not breaking" if is_changed else "only texts changed" if changes else "nothing changed for callers"
    console.say("breaking" if is_breaking else what)
    return ExitCode.DONE


def _services(source: str, options: Source) -> tuple[Service, ...]:
    from skillgen.pipeline.read import is_program, kind_of_source, read_source
    from skillgen.pipeline.request import Request

    def read(kind: str, value: str | Path) -> tuple[Service, ...]:
        return read_source(Request(source=options.for_kind(kind, value))).services

    if source.startswith(("http://", "https://")) or ":" not in source or Path(source).exists():
        return read(kind_of_source(source), source)
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        try:
            path = _file_at_revision(source, Path(folder))
        except SourceError:
            is_file = source.endswith((".json", ".yaml", ".yml")) or _is_revision(source.partition(":")[0])
            if is_file or not is_program(source):
                raise
            return read("cli", source)
        return read("document", path)


_REFERENCE_TO_FILE = re.compile(rb"""\$ref["']?\s*:\s*["']?[^#"'\s]""")


def _file_at_revision(source: str, folder: Path) -> Path:
    """Returns the path of a copy of a file of git in `folder`, next to those that it may refer to.

    Raises:
        SourceError: git has no such revision or file.
    """
    revision, _, name = source.partition(":")
    fix = "write REV:PATH, such as HEAD~1:openapi.yaml"
    if not revision or revision.startswith("-"):
        raise SourceError("not a git revision", where=source, fix=fix)
    above, _, name = name.rpartition("/")
    if (listed := _git("ls-tree", "-r", "-z", "--full-tree", f"{revision}:./{above}")) is None:
        if not _is_revision(revision):
            fix = f"{fix}; a shallow clone lacks it until git fetch --unshallow"
            raise SourceError("git has no such revision", where=source, fix=fix)
        raise SourceError("git has no such file at that revision", where=source, fix=fix)
    blobs = {}
    for entry in filter(None, listed.split(b"\0")):
        kind, _, path = entry.partition(b"\t")
        if not kind.startswith((b"120000", b"160000")):  # a symbolic link, a submodule
            blobs[os.fsdecode(path)] = kind.split()[2].decode("ascii")
    if name not in blobs:
        raise SourceError("git has no such file at that revision", where=source, fix=fix)
    [content] = _blobs([blobs[name]])
    others = [path for path in blobs if path.endswith((".json", ".yaml", ".yml"))]
    paths = [name, *(others if _REFERENCE_TO_FILE.search(content) else ())]
    for path, content in zip(paths, _blobs([blobs[path] for path in paths]), strict=True):
        copy = folder / path
        if copy.resolve().is_relative_to(folder.resolve()):
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
    return folder / name


def _is_revision(text: str) -> bool:
    return bool(text) and _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{text}^{{commit}}") is not None


def _blobs(identifiers: Sequence[str]) -> list[bytes]:
    """Returns the contents of objects of git."""
    printed = _git("cat-file", "--batch", input="\n".join(identifiers).encode("ascii")) or b""
    contents = []
    at = 0
    for _ in identifiers:
        start = printed.index(b"\n", at) + 1
        end = start + int(printed[at:start].split()[2])
        contents.append(printed[start:end])
        at = end + 1
    return contents


def _git(*arguments: str, input: bytes = b"") -> bytes | None:
    """Returns what git prints; `None` if it fails.

    The settings of a repository may name programs: an unpacked one is a stranger's. Of the commands that are used here,
    none runs a hook, a filter or a textconv; but they read the index, and fetch objects that are missing.

    Raises:
        SourceError: git is not installed.
    """
    import subprocess

    command = ["git", "-c", "core.fsmonitor=", "-c", "protocol.ext.allow=never", *arguments]
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}
    try:
        finished = subprocess.run(command, input=input, capture_output=True, check=False, env=environment)
    except OSError:
        raise SourceError("git is not installed", where="git", fix="install it, or compare two files") from None
    return None if finished.returncode else finished.stdout
