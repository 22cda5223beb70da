"""By which rules the schemas of a description are read (OpenAPI 3.1, "Schema Object", `jsonSchemaDialect`)."""

from __future__ import annotations

import re

from skillgen.errors import ProblemLog
from skillgen.model.value import Json
from skillgen.sources.examples.validity import Dialect
from skillgen.sources.guards import text_of

_OLD = re.compile(r"https?://json-schema\.org/draft-0[4-7]/schema#?\Z")
_KNOWN = re.compile(
    r"https?://(?:json-schema\.org/draft/(?:2019-09|2020-12)/schema|spec\.openapis\.org/oas/3\.[12]/dialect/[\w-]+)#?\Z"
)


def dialect_of(document: dict[str, Json]) -> Dialect:
    """Gives the rules by which the schemas of a description are read."""
    version = str(document.get("openapi", "2.0"))
    if version.startswith(("2", "3.0")):
        return "openapi-3.0"
    return "openapi-draft-07" if _OLD.match(text_of(document, "jsonSchemaDialect") or "") else "openapi-3.1"


def check_dialect(document: dict[str, Json], problems: ProblemLog) -> None:
    """Reports a dialect whose rules are not known."""
    declared = text_of(document, "jsonSchemaDialect")
    if declared is not None and not _OLD.match(declared) and not _KNOWN.match(declared):
        problems.info(
            "dialect-unknown",
            "/jsonSchemaDialect",
            f"the rules of {declared[:100]!r} are not known; schemas are read by those of JSON Schema 2020-12",
        )
