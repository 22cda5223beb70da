"""`skillgen rule`: explains a kind of problem, or lists all."""

from __future__ import annotations

from typing import Annotated

import typer

from skillgen.cli.options import command
from skillgen.cli.output import Console
from skillgen.errors import ExitCode, UsageError
from skillgen.problem_codes import CODES


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
    from skillgen.lint.explanation import explanation, load_examples, similar_codes

    if code not in CODES:
        close = similar_codes(code)
        fix = f"did you mean {' or '.join(close)}?" if close else "run `skillgen rule` to list all codes"
        raise UsageError(f"no such code: {code}", where="CODE", fix=fix)
    print(f"# {code}\n\n{explanation(code, load_examples().get(code))}", end="")
    return ExitCode.DONE
