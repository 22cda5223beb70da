"""`skillgen lint`: reports what sources lack; `skillgen rule`: explains a kind of problem, or lists all."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from msgspec import structs

from skillgen.cli.from_server import read_sources
from skillgen.cli.options import OptionsOf, Program, ProgramCommand, Sources, command
from skillgen.cli.output import Console, report_named, time_of_run
from skillgen.config.project import NO_LINT_OPTIONS, SOURCE_KINDS, LintOptions, Project, Source, command_words
from skillgen.errors import ExitCode, OutputError, SkillgenError, UsageError
from skillgen.problem_codes import CODES

if TYPE_CHECKING:
    from skillgen.lint.findings import Findings
    from skillgen.pipeline.read import Reading


@command
def lint(
    context: typer.Context,
    sources: Sources = None,
    cli: Program = None,
    cli_command: ProgramCommand = None,
    *,
    server: Annotated[Source, OptionsOf((Source,), kinds=SOURCE_KINDS)],
    project: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Project file. Default: skillgen.yaml, else pyproject.toml.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="NAME", help="Check only this target of the project file. Default: all.")
    ] = None,
    report_format: Annotated[
        str,
        typer.Option(
            "--format", metavar="FORMAT", help="Format of the report: text, json, sarif, junit, github or conformance."
        ),
    ] = "text",
    badge_file: Annotated[
        Path | None, typer.Option("--badge", metavar="FILE", help="Also write the quality score as an SVG image.")
    ] = None,
    options: LintOptions,
    console: Console,
) -> ExitCode:
    """Report what sources lack to be documented well, rule by rule. Exits with 1 on errors.

    Without a source, checks the targets of skillgen.yaml. The settings below `lint` in that file always apply.
    """
    from skillgen.config.loader import find_project_file, project_file, read_project
    from skillgen.lint.findings import baseline_text, counts_of
    from skillgen.lint.reports import REPORTS, conformance_report, text_report
    from skillgen.lint.scores import badge
    from skillgen.pipeline.lint import Linter

    reports: dict[str, Callable[[Sequence[Findings]], str]] = {
        **REPORTS,
        "text": partial(
            text_report,
            is_complete=console.verbose,
            has_colour=_has_colour(),
            nothing="no errors" if console.quiet else "no findings",
        ),
        "conformance": partial(conformance_report, tested_at=time_of_run()),
    }
    report = report_named(report_format, reports)
    server = replace(server, cli=cli, cli_command=command_words(cli_command, "--cli-command"))
    has_source = bool(sources or context.obj or any(getattr(server, kind) for kind in SOURCE_KINDS))
    file = find_project_file() if project is None else project_file(project)
    if file is None and not has_source:
        fix = "name a description, a snapshot or -- COMMAND of a server, or run `skillgen init`"
        raise UsageError("neither a source nor a skillgen.yaml", where="SOURCE", fix=fix)
    settings = read_project(file) if file is not None else None
    has_scores = badge_file is not None or report_format in ("text", "json", "conformance")
    settings_of_lint = settings.lint if settings is not None else NO_LINT_OPTIONS
    linter = Linter(options, settings_of_lint, file, has_scores=has_scores)
    if has_source and target is not None:
        raise UsageError("has no effect with a source", where="--target", fix="leave it out")
    if not has_source and file is not None and settings is not None:
        readings = _read_targets(settings, file, target, server, console)
    else:
        readings = _read_given(sources or (), server, context.obj, console)
    findings, exit_codes = [], [ExitCode.DONE]
    for name, path, reading in readings:
        for error in reading.failures:
            console.fail(error)
            exit_codes.append(error.exit_code)
        for index, service in enumerate(reading.services):
            is_alone = len(reading.services) == 1 and name is not None
            source = name if is_alone else f"{name} {service.name}" if name is not None else service.name
            findings.append(linter.check(service, source or "", path=path, index=index))
    if linter.options.write_baseline is not None:
        _write(Path(linter.options.write_baseline), baseline_text(findings))
        console.say(f"{sum(len(item.problems) for item in findings):,} findings are known now")
        return max(exit_codes)
    if console.quiet:
        errors = [tuple(problem for problem in item.problems if problem.level == "error") for item in findings]
        findings = [structs.replace(item, problems=same) for item, same in zip(findings, errors, strict=True)]
    sys.stdout.write(report(findings))
    if badge_file is not None:
        _write(badge_file, badge(min((item.scores.quality for item in findings if item.scores is not None), default=0)))
    if outdated := linter.outdated():
        console.say(f"{outdated:,} findings of the baseline no longer occur: write it again with --write-baseline")
    counts = counts_of(findings)
    if counts["error"] or (linter.options.strict and counts["warning"]):
        exit_codes.append(ExitCode.DRIFT)
    return max(exit_codes)


def _has_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _write(path: Path, text: str) -> None:
    from skillgen.write.files import replace_file

    try:
        path.parent.stat()  # a misspelt folder is not created
        replace_file(path, lambda temporary: temporary.write_text(text, encoding="utf-8", newline="\n"))
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror}", where=path.as_posix()) from None


_Readings: TypeAlias = "Iterator[tuple[str | None, str | None, Reading]]"
"""Name of each source, its file, and what was read."""


def _read_given(sources: Sequence[str], server: Source, command: Sequence[str], console: Console) -> _Readings:
    for source, reading in read_sources(sources, server, command, console):
        yield source, source if source is not None and Path(source).is_file() else None, reading


def _read_targets(settings: Project, file: Path, target: str | None, server: Source, console: Console) -> _Readings:
    from skillgen.pipeline.build import document_of, read_targets, resolve_targets
    from skillgen.pipeline.read import Reading, refuse_useless_options

    refuse_useless_options(server, ["command", "document", "url"])
    targets = resolve_targets(settings.targets, file, target, {})
    with console.progress("reading the sources"):
        for named, read in read_targets(targets, os.environ, None):
            if isinstance(read, SkillgenError):
                read = Reading(services=(), failures=(read,))
            yield named.name, document_of(named), read


@command
def rule(
    code: Annotated[
        str | None, typer.Argument(metavar="[CODE]", help="Code of a problem, as printed. Default: list all codes.")
    ] = None,
    *,
    console: Console,
) -> ExitCode:
    """Explain a kind of problem: what is wrong, how to fix it, and an example; without CODE, list all."""
    if code is None:
        width = max(map(len, CODES))
        for name, kind in sorted(CODES.items()):
            print(f"{name:{width}}  {kind.level:7}  {kind.meaning}")
        return ExitCode.DONE
    from skillgen.lint.explanation import explanation, unknown_code

    if code not in CODES:
        raise unknown_code(code, "CODE")
    print(f"# {code}\n\n{explanation(code)}", end="")
    return ExitCode.DONE
