"""`skillgen from-openapi`: documents an HTTP API."""

from __future__ import annotations

from typing import Annotated

import typer

from skillgen.cli.options import command
from skillgen.cli.source import Documenting, documenting
from skillgen.errors import ExitCode


@command
def from_openapi(
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="File or URL of the description, base URL of the API, or - for stdin."),
    ],
    *,
    given: Annotated[Documenting, documenting("openapi")],
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
    return given.document(openapi=source)
