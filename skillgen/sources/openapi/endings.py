"""Reads when an operation ends and what takes its place: OpenAPI has `deprecated`, extensions and headers the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from skillgen.model.value import Json
from skillgen.sources.guards import as_dict, text_of

_WORDS = (
    "x-deprecated-description",
    "x-deprecation-message",
    "x-speakeasy-deprecation-message",
    "x-deprecated-message",
    "x-deprecatedMessage",
)
_ENDS = ("x-sunset", "x-sunset-date", "x-removal-date", "x-removalDate")
_REPLACEMENTS = ("x-replaced-by", "x-replacement", "x-speakeasy-deprecation-replacement", "x-deprecated-replacement")


def deprecation_of(operation: Mapping[str, Json], response: Mapping[str, Json]) -> str | None:
    """Says what is declared of an operation's end; takes also its response of success (RFC 8594, `Sunset`)."""
    return " ".join(_sentences(operation, response)) or None


def _sentences(operation: Mapping[str, Json], response: Mapping[str, Json]) -> Iterator[str]:
    if not any(key.startswith("x-") or key == "deprecated" for key in operation) and "headers" not in response:
        return
    graph = as_dict(operation.get("x-ms-deprecation"))
    if words := _first(operation, _WORDS) or text_of(graph, "description"):
        yield words if words.rstrip()[-1:] in ".!?" else f"{words.rstrip()}."
    github = as_dict(operation.get("x-github"))
    if ends := _first(operation, _ENDS) or text_of(github, "removalDate") or text_of(graph, "removalDate"):
        yield f"It ends on {ends.strip()}."
    if instead := _first(operation, _REPLACEMENTS):
        yield f"Use {instead.strip()} instead."
    if any(name.lower() == "sunset" for name in as_dict(response.get("headers"))):
        yield "The `Sunset` header of its responses says when it ends."


def _first(holder: Mapping[str, Json], keys: tuple[str, ...]) -> str | None:
    return next((found for key in keys if (found := text_of(holder, key)) is not None), None)
