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
from skillgen.cli.output import Console, report_named, time_of_run
from skillgen.cli.source import SOURCES, Given, read
from skillgen.config.project import NO_LINT_OPTIONS, LintOptions, Project
from skillgen.errors import ExitCode, SkillgenError, UsageError
from skillgen.problem_codes import CODES

if TYPE_CHECKING:
    from skillgen.pipeline.lint import Linter
    from skillgen.pipeline.read import Reading
    from skillgen.rules.findings import Findings


@command
def lint(
    *,
    given: Annotated[Given, SOURCES],
    report_format: Annotated[
        str,
        typer.Option(
            "--format", metavar="FORMAT", help="Format of the report: text, json, sarif, junit, github or conformance."
        ),
    ] = "text",
    skill: Annotated[
        Path | None,
        typer.Option(
            "--skill", metavar="PATH", help="Check a skill that a person wrote, a SKILL.md or its folder, not SOURCE."
        ),
    ] = None,
    badge_file: Annotated[
        Path | None, typer.Option("--badge", metavar="FILE", help="Also write the quality score as an SVG image.")
    ] = None,
    options: LintOptions,
    console: Console,
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
    from skillgen.rules.findings import baseline_text, counts_of
    from skillgen.rules.scores import badge

    if skill is not None and (badge_file is not None or report_format == "conformance"):
        where = "--badge" if badge_file is not None else "--format"
        raise UsageError("only a source has scores", where=where, fix="leave out --skill")
    report = _report(report_format, console)
    has_source = not structs.replace(given, target=None).is_empty
    file = find_project_file() if given.project is None else project_file(given.project)
    if file is None and not has_source:
        fix = "name a description, a snapshot or -- COMMAND of a server, or run `skillgen init`"
        raise UsageError("neither a source nor a skillgen.yaml", where="SOURCE", fix=fix)
    settings = read_project(file) if file is not None else None
    has_scores = skill is None and (badge_file is not None or report_format in ("text", "json", "conformance"))
    settings_of_lint = settings.lint if settings is not None else NO_LINT_OPTIONS
    linter = Linter(options, settings_of_lint, file, has_scores=has_scores)
    if has_source and given.target is not None:
        raise UsageError("has no effect with a source", where="--target", fix="leave it out")
    if not has_source and file is not None and settings is not None:
        readings = _read_targets(settings, file, given, console)
    else:
        readings = _read_given(given, console)
    findings, code = _findings(linter, readings, skill, console)
    if linter.options.write_baseline is not None:
        _write(Path(linter.options.write_baseline), baseline_text(findings))
        console.say(f"{sum(len(item.problems) for item in findings):,} findings are known now")
        return code
    if console.quiet:
        errors = [tuple(problem for problem in item.problems if problem.level == "error") for item in findings]
        findings = [structs.replace(item, problems=same) for item, same in zip(findings, errors, strict=True)]
    sys.stdout.write(report(findings))
    if badge_file is not None:
        _write(badge_file, badge(min((item.scores.quality for item in findings if item.scores is not None), default=0)))
    if outdated := linter.outdated():
        console.say(f"{outdated:,} findings of the baseline no longer occur: write it again with --write-baseline")
    counts = counts_of(findings)
    has_drift = counts["error"] or (linter.options.strict and counts["warning"])
    return max(code, ExitCode.DRIFT) if has_drift else code


def _findings(
    linter: Linter, readings: _Readings, skill: Path | None, console: Console
) -> tuple[list[Findings], ExitCode]:
    """Returns the findings on what was read, with the exit code of what was not."""
    findings, code = [], ExitCode.DONE
    for name, path, out, reading in readings:
        for error in reading.failures:
            console.fail(error)
            code = max(code, error.exit_code)
        for index, service in enumerate(reading.services):
            if skill is not None:
                findings.append(linter.check_skill(skill, service))
                continue
            is_alone = len(reading.services) == 1 and name is not None
            place = name if is_alone else f"{name} {service.name}" if name is not None else service.name
            findings.append(linter.check(service, place or "", path=path, index=index, out=out if is_alone else None))
    return findings, code


def _report(name: str, console: Console) -> Callable[[Sequence[Findings]], str]:
    """Returns the report of `--format`.

    Raises:
        UsageError: there is no such report.
    """
    from skillgen.rules.reports import REPORTS, conformance_report, text_report

    has_colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    nothing = "no errors" if console.quiet else "no findings"
    reports: dict[str, Callable[[Sequence[Findings]], str]] = {
        **REPORTS,
        "text": partial(text_report, is_complete=console.verbose, has_colour=has_colour, nothing=nothing),
        "conformance": partial(conformance_report, tested_at=time_of_run()),
    }
    return report_named(name, reports)


def _write(path: Path, text: str) -> None:
    from skillgen.write.files import replace_file

    path.parent.stat()  # a misspelt folder is not created
    replace_file(path, text.encode())


_Readings: TypeAlias = "Iterator[tuple[str | None, str | None, Path | None, Reading]]"
"""Name of each source, its file, the folder of its documents, and what was read."""


def _read_given(given: Given, console: Console) -> _Readings:
    for source, request in given.requests():
        is_file = source is not None and Path(source).is_file()
        yield source, source if is_file else None, None, read(request, console)


def _read_targets(settings: Project, file: Path, given: Given, console: Console) -> _Readings:
    from skillgen.pipeline.build import document_of, read_targets, resolve_targets
    from skillgen.pipeline.read import Reading, refuse_useless_options

    refuse_useless_options(given.options, ["command", "document", "url"])
    targets = resolve_targets(settings.targets, file, given.target, {})
    with console.progress("reading the sources"):
        for named, found in read_targets(targets, os.environ, None):
            if isinstance(found, SkillgenError):
                found = Reading(services=(), failures=(found,))
            yield named.name, document_of(named), named.place.out, found


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
