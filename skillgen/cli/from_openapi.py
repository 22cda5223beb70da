"""`skillgen from-openapi`: documents an HTTP API."""

from __future__ import annotations

from typing import Annotated

import typer
from msgspec import structs

from skillgen.cli.options import OptionsOf, command, run_with
from skillgen.cli.output import Console
from skillgen.cli.source import TYPED, Typed, document
from skillgen.config.project import OutputOptions, Run, Source, Texts
from skillgen.errors import ExitCode


@command
def from_openapi(
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="File or URL of the description, base URL of the API, or - for stdin."),
    ],
    *,
    options: Annotated[Source, OptionsOf(classes=(Source,), kinds=("openapi",))],
    texts: Texts,
    output: OutputOptions,
    run: Annotated[Run, run_with("draft", "json")],
    typed: Annotated[Typed, TYPED],
    console: Console,
) -> ExitCode:
    """Document an HTTP API from its OpenAPI description.

    Reads Swagger 2.0 and OpenAPI 3.0 to 3.2, as JSON or YAML.

    Examples:

        \b
        skillgen from-openapi openapi.yaml --out agent-docs
        skillgen from-openapi https://example.com/openapi.json --emit skill,llms --json
        skillgen from-openapi - < openapi.json
        skillgen from-openapi openapi.yaml --check || echo "run it again without --check"
    """
    return document(structs.replace(options, openapi=source), texts, output, run, typed, console)
