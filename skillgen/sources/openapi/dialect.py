"""By which rules the schemas of a description are read (OpenAPI 3.1, "Schema Object", `jsonSchemaDialect`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillgen.errors import ProblemLog
from skillgen.model.pointer import child
from skillgen.model.value import Json
from skillgen.sources.examples.fits import Dialect
from skillgen.sources.guards import as_dict, text_of
from skillgen.sources.openapi.request_media import bodies

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
    if (dialect := dialect_of(document)) == "openapi-3.0":
        return
    for place, raw in _roots(document):
        own = text_of(raw, "$schema")
        if own is not None and (_OLD.match(own) is not None) != (dialect == "openapi-draft-07"):
            problems.info(
                "dialect-differs",
                child(place, "$schema"),
                f"the schema is written by the rules of {own[:100]!r}, and read by those of the whole description",
                "write it by the same rules",
            )


def _roots(document: dict[str, Json]) -> Iterator[tuple[str, Json]]:
    """Gives the schemas that may name a dialect of their own, those of responses and parameters apart."""
    schemas = as_dict(as_dict(document.get("components")).get("schemas"))
    yield from ((child("", "components", "schemas", name), raw) for name, raw in schemas.items())
    for pointer, body in bodies(document):
        for name, media in as_dict(as_dict(body).get("content")).items():
            yield child(pointer, "content", name, "schema"), as_dict(media).get("schema")
