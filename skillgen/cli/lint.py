"""`skillgen lint`: reports what sources lack; `skillgen rule`: explains a kind of problem, or lists all."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from msgspec import structs

from skillgen.cli.options import command
from skillgen.cli.output import Console, time_of_run
from skillgen.cli.source import SOURCES, Given, read
from skillgen.config.option import Options, PathName, option
from skillgen.config.project import LintOptions, Project
from skillgen.errors import ExitCode, UsageError
from skillgen.problem_codes import CODES

if TYPE_CHECKING:
    from skillgen.pipeline.lint import Linter
    from skillgen.pipeline.request import Reading
    from skillgen.rules.findings import Findings


class ReportOptions(Options, frozen=True, kw_only=True):
    """What is reported, and where."""

    PANEL = "Report"

    format: str = option(
        "Format of the report: text, json, sarif, junit, github or conformance.",
        "text",
        metavar="FORMAT",
        choices=("text", "json", "sarif", "junit", "github", "conformance"),
        choice="report",
    )
    skill: PathName | None = option(
        "Check a skill that a person wrote, a SKILL.md or its folder, not SOURCE.", metavar="PATH", is_path=True
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
    from skillgen.config.loader import find_project_file, project_file, read_project
    from skillgen.pipeline.lint import Linter
    from skillgen.rules.findings import counts_of

    if report.skill is not None and report.format == "conformance":
        raise UsageError("a conformance report is on a source", where="--format", fix="leave out --skill")
    write = _report(report.format, console)
    file = find_project_file() if given.project is None else project_file(given.project)
    if file is None and not given.has_source:
        fix = "name a description, a snapshot or -- COMMAND of a server, or run `skillgen init`"
        raise UsageError("neither a source nor a skillgen.yaml", where="SOURCE", fix=fix)
    project = read_project(file) if file is not None else Project(targets={})
    linter = Linter(options, project.lint, file, has_requirements=report.format == "conformance")
    if given.has_source or file is None:
        readings = _read_given(given, console)
    else:
        readings = _read_targets(project, file, given, console)
    findings, code = _findings(linter, readings, None if report.skill is None else Path(report.skill), console)
    if console.quiet:
        errors = [tuple(problem for problem in item.problems if problem.level == "error") for item in findings]
        findings = [structs.replace(item, problems=same) for item, same in zip(findings, errors, strict=True)]
    sys.stdout.write(write(findings))
    counts = counts_of(findings)
    has_drift = counts["error"] or (linter.strict and counts["warning"])
    return max(code, ExitCode.DRIFT) if has_drift else code


def _findings(
    linter: Linter, readings: _Readings, skill: Path | None, console: Console
) -> tuple[list[Findings], ExitCode]:
    """Returns the findings on what was read, with the exit code of what was not."""
    from skillgen.pipeline.generate import folder_names

    findings, code = [], ExitCode.DONE
    for name, path, out, reading in readings:
        for error in reading.failures:
            console.fail(error)
            code = max(code, error.exit_code)
        folders = folder_names(reading.services)
        for index, service in enumerate(reading.services):
            if skill is not None:
                findings.append(linter.check_skill(skill, service))
                continue
            is_alone = len(reading.services) == 1 and name is not None
            place = name if is_alone else f"{name} {service.name}" if name is not None else service.name
            own = out if out is None or len(folders) + len(reading.failures) == 1 else out / folders[index]
            findings.append(linter.check(service, place or "", path=path, out=own))
    return findings, code


def _report(name: str, console: Console) -> Callable[[Sequence[Findings]], str]:
    """Returns the report of `--format`."""
    from skillgen.rules.reports import REPORTS, text_report

    if name == "conformance":
        from skillgen.rules.conformance import conformance_report

        return partial(conformance_report, tested_at=time_of_run())
    if name != "text":
        return REPORTS[name]
    nothing = "no errors" if console.quiet else "no findings"
    return partial(text_report, is_complete=console.verbose, nothing=nothing)


_Readings: TypeAlias = "Iterator[tuple[str | None, str | None, Path | None, Reading]]"
"""Name of each source, its file, the folder of its documents, and what was read."""


def _read_given(given: Given, console: Console) -> _Readings:
    for source, request in given.requests():
        is_file = source is not None and Path(source).is_file()
        yield source, source if is_file else None, None, read(request, console)


def _read_targets(settings: Project, file: Path, given: Given, console: Console) -> _Readings:
    from skillgen.pipeline.build import document_of, read_targets, resolve_targets
    from skillgen.pipeline.read import refuse_useless_options

    refuse_useless_options(given.options, ["command", "document", "url"])
    targets = resolve_targets(settings.targets, file, given.target, {})
    with console.progress("reading the sources"):
        for named, reading in read_targets(targets, os.environ):
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
        skillgen rule tool-undescribed
        skillgen rule
    """
    if code is None:
        width = max(map(len, CODES))
        for name, kind in sorted(CODES.items()):
            print(f"{name:{width}}  {kind.level:7}  {kind.meaning}")
        return ExitCode.DONE
    from skillgen.rules.explanation import explanation, unknown_code

    if code not in CODES:
        raise unknown_code(code, "CODE")
    print(f"# {code}\n\n{explanation(code)}", end="")
    return ExitCode.DONE
