"""`skillgen inspect`, `diff`, `lint` and `rule`: report on sources."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import structs
from msgspec.structs import asdict

from skillgen.cli.options import SOURCES, Given, OptionsOf, command, read
from skillgen.cli.output import Console, change_line, time_of_run
from skillgen.config.option import Options, PathName, option
from skillgen.config.project import LintOptions, Project, Run, Source, find_project_file
from skillgen.errors import CODES, ExitCode, SkillgenError, SourceError, UsageError
from skillgen.text.markdown import json_output, printable_json

if TYPE_CHECKING:
    from skillgen.model.service import Service
    from skillgen.pipeline.results import Reading


@command
def inspect(*, given: Annotated[Given, SOURCES], console: Console) -> ExitCode:
    """Print the intermediate model as JSON: a snapshot.

    Every command reads a snapshot in place of its source.

    Examples:

        \b
        skillgen inspect openapi.yaml
        skillgen inspect -- python server.py > snapshot.json
    """
    from skillgen.pipeline.ownership import with_portable_source
    from skillgen.sources.documents import snapshot_parts

    readings = [read(request, console) for _, request in given.requests()]
    services = [with_portable_source(service) for reading in readings for service in reading.services]
    failures = [error for reading in readings for error in reading.failures]
    for error in failures:
        console.fail(error)
    console.problems(problem for service in services for problem in service.problems)
    console.problems(problem for reading in readings for problem in reading.problems)
    if services:
        sys.stdout.writelines(map(printable_json, snapshot_parts(services)))
    return max((error.exit_code for error in failures), default=ExitCode.DONE)


def diff_failed_json(error: SkillgenError) -> str:
    """Returns the `--json` report of a run that a fatal error stopped."""
    from skillgen.pipeline.results import problem_from_error

    return json_output({"breaking": None, "changes": [], "problems": [asdict(problem_from_error(error))]})


@functools.partial(command, failed_json=diff_failed_json)
def diff(
    old: Annotated[
        str, typer.Argument(metavar="OLD", help="File or URL, MODULE:APP of a program, or REVISION:FILE of git.")
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="What to compare it with, in the same forms.")],
    *,
    options: Annotated[Source, OptionsOf(classes=(Source,), kinds=("cli", "document"), without=("server",))],
    run: Annotated[Run, OptionsOf(classes=(Run,), only=("json",))],
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
    from skillgen.pipeline.results import Request

    def read(kind: str, value: str | Path) -> tuple[Service, ...]:
        return read_source(Request(source=options.for_kind(kind, value))).services

    if ":" not in source and not Path(source).exists() and _is_revision(source):
        raise SourceError("is a revision of git", where=source, fix=f"name a file: {source}:openapi.yaml")
    if source.startswith(("http://", "https://")) or ":" not in source or Path(source).exists():
        return read(kind_of_source(source), source)
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        try:
            return read("document", _file_at_revision(source, Path(folder)))
        except SourceError as error:
            is_file = source.endswith((".json", ".yaml", ".yml")) or _is_revision(source.partition(":")[0])
            if is_file or not is_program(source):
                revision = source.partition(":")[0]
                error.where = (error.where or source).replace(f"{folder}{os.sep}", f"{revision}:")
                raise
            return read("cli", source)


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
    listed = _git("ls-tree", "-r", "-z", "--full-tree", f"{revision}:./{above}")
    if listed is None and not _is_revision(revision):
        fix = f"{fix}; a shallow clone lacks it until git fetch --unshallow"
        raise SourceError("git has no such revision", where=source, fix=fix)
    blobs = {}
    for entry in filter(None, (listed or b"").split(b"\0")):
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


_FORMATS = ("text", "json", "sarif", "github", "conformance")


class ReportOptions(Options, frozen=True, kw_only=True):
    """What is reported, and where."""

    PANEL = "Report"

    format: str = option(
        "Format of the report: text, json, sarif, github or conformance.", "text", metavar="FORMAT", choices=_FORMATS
    )
    skill: PathName | None = option(
        "Check a skill that a person wrote, a SKILL.md or its folder, not SOURCE.", metavar="PATH"
    )


@command
def lint(
    *, given: Annotated[Given, SOURCES], report: ReportOptions, options: LintOptions, console: Console
) -> ExitCode:
    """Report what sources lack to be documented well.

    Exits with 1 on errors. Without a source, checks the targets of skillgen.yaml. The settings below `lint` in that
    file always apply.

    Examples:

        \b
        skillgen lint openapi.yaml
        skillgen lint --strict --format sarif -- python server.py
        skillgen lint --select 'example-*,schema-invalid' snapshot.json
        skillgen lint --skill .claude/skills/books openapi.yaml
    """
    from skillgen.pipeline.lint import Linter
    from skillgen.pipeline.ownership import folder_names
    from skillgen.rules.reports import PLACES_SHOWN, REPORTS, Findings, conformance_report, counts_of, text_report

    if report.skill is not None and report.format == "conformance":
        raise UsageError("a conformance report is on a source", where="--format", fix="leave out --skill")
    file, project = find_project_file(), Project(targets={})
    if given.project is not None or file is not None:
        from skillgen.config.loader import project_file, read_project  # loads YAML

        project = read_project(file := project_file(given.project))
    if file is None and not given.has_source:
        fix = "name a description, a snapshot or -- COMMAND of a server, or run `skillgen init`"
        raise UsageError("neither a source nor a skillgen.yaml", where="SOURCE", fix=fix)
    is_conformance = report.format == "conformance"
    linter = Linter(options, project.lint, file, has_requirements=is_conformance, only_errors=console.quiet)
    findings, code = list[Findings](), ExitCode.DONE
    for name, path, out, reading in _readings(given, file, console, is_for_documents=report.skill is not None):
        for error in reading.failures:
            console.fail(error)
            code = max(code, error.exit_code)
        for folder, service in zip(folder_names(reading.services), reading.services, strict=True):
            if report.skill is not None:
                findings.append(linter.check_skill(Path(report.skill), service))
                continue
            is_one = len(reading.services) == 1
            label = " ".join(filter(None, (name, None if name and is_one else service.name)))
            own = out if out is None or (is_one and not reading.failures) else out / folder
            findings.append(linter.check(service, label, path=path, out=own))
    findings = [item.located(None if console.verbose or report.format != "text" else PLACES_SHOWN) for item in findings]
    if is_conformance:
        text = conformance_report(findings, time_of_run())
    elif report.format == "text":
        text = text_report(findings, is_complete=console.verbose, is_quiet=console.quiet)
    else:
        text = REPORTS[report.format](findings)
    sys.stdout.write(text)
    counts = counts_of(findings)
    has_drift = counts["error"] or (linter.strict and counts["warning"])
    return max(code, ExitCode.DRIFT) if has_drift else code


def _readings(
    given: Given, file: Path | None, console: Console, **details: Any
) -> Iterator[tuple[str | None, str | None, Path | None, Reading]]:
    """Yields the name of each source, its file, the folder of its documents, and what was read."""
    if given.has_source or file is None:
        for source, request in structs.replace(given, project=None).requests(**details):
            is_file = source is not None and Path(source).is_file()
            yield source, source if is_file else None, None, read(request, console)
        return
    from skillgen.pipeline.build import document_of, read_targets

    with console.progress("reading the sources"):
        for named, reading in read_targets(given.named_targets(), os.environ):
            yield named.name, document_of(named), named.place.out, reading


@command
def rule(
    code: Annotated[
        str | None, typer.Argument(metavar="[CODE]", help="Code of a problem, as printed. Default: list all codes.")
    ] = None,
    *,
    console: Console,
) -> ExitCode:
    """Explain a kind of problem, with an example.

    Without CODE, lists all.

    Examples:

        \b
        skillgen rule no-description
        skillgen rule
    """
    if code is None:
        width = max(map(len, CODES))
        for name, kind in sorted(CODES.items()):
            print(f"{name:{width}}  {kind.level:7}  {kind.meaning}")
        return ExitCode.DONE
    from skillgen.rules.reports import explanation, unknown_code

    if code not in CODES:
        raise unknown_code(code, "CODE")
    print(f"# {code}\n\n{explanation(code)}", end="")
    return ExitCode.DONE
