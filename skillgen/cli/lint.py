"""`skillgen lint`: reports what sources lack; `skillgen rule`: explains a kind of problem, or lists all."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from skillgen.cli.from_server import read_sources
from skillgen.cli.options import OptionsOf, Program, Sources, command
from skillgen.cli.output import Console
from skillgen.config.project import SOURCE_KINDS, Source
from skillgen.errors import ExitCode, UsageError
from skillgen.problem_codes import CODES


@command
def lint(
    context: typer.Context,
    sources: Sources = None,
    cli: Program = None,
    *,
    server: Annotated[Source, OptionsOf((Source,), kinds=SOURCE_KINDS)],
    report_format: Annotated[
        str,
        typer.Option("--format", metavar="FORMAT", help="Format of the report: text, json, sarif, junit or github."),
    ] = "text",
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="CODES", help="Check only these rules: codes or patterns, comma-separated. Repeatable."),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="CODES", help="Leave out these rules: codes or patterns, comma-separated. Repeatable."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 on warnings too.")] = False,
    console: Console,
) -> ExitCode:
    """Report what sources lack to be documented well, rule by rule. Exits with 1 on errors."""
    from skillgen.lint.checks import check_service
    from skillgen.lint.positions import positions_in
    from skillgen.lint.reports import REPORTS, Findings, chosen_codes, counts_of, text_report, worst_first

    if report_format not in REPORTS:
        raise UsageError(f"no such format: {report_format}", where="--format", fix=f"choose from {', '.join(REPORTS)}")
    codes = chosen_codes(select or (), ignore or ())
    findings, exit_codes = [], [ExitCode.DONE]
    for source, reading in read_sources(sources or (), replace(server, cli=cli), context.obj, console):
        for error in reading.failures:
            console.fail(error)
            exit_codes.append(error.exit_code)
        for service in reading.services:
            name = service.name if source is None else source
            found = [
                problem
                for problem in (*service.problems, *check_service(service))
                if problem.code in codes and not (console.quiet and problem.level != "error")
            ]
            path = source if source is not None and Path(source).is_file() else None
            places = [problem.where for problem in found]
            positions = positions_in(_text_of(path), places) if path is not None and found else {}
            findings.append(Findings(source=name, path=path, problems=worst_first(found), positions=positions))
    report = partial(text_report, is_complete=console.verbose) if report_format == "text" else REPORTS[report_format]
    sys.stdout.write(report(findings))
    counts = counts_of(findings)
    if counts["error"] or (strict and counts["warning"]):
        exit_codes.append(ExitCode.DRIFT)
    return max(exit_codes)


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ""  # a pipe that was read before, or another encoding: findings have no lines


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
    from skillgen.lint.explanation import explanation, similar_codes

    if code not in CODES:
        close = similar_codes(code)
        fix = f"did you mean {' or '.join(close)}?" if close else "run `skillgen rule` to list all codes"
        raise UsageError(f"no such code: {code}", where="CODE", fix=fix)
    print(f"# {code}\n\n{explanation(code)}", end="")
    return ExitCode.DONE
