"""Follows the `$ref`s of an OpenAPI document to objects other than schemas (OpenAPI 3.1, "Reference Object")."""

from __future__ import annotations

from skillgen.errors import ProblemLog
from skillgen.model.pointer import follow
from skillgen.model.value import Json
from skillgen.sources.bounds import ROW_LIMIT
from skillgen.sources.guards import as_dict


class Resolver:
    """Follows references inside one document."""

    def __init__(self, document: Json, problems: ProblemLog) -> None:
        self._document = document
        self._problems = problems
        version = str(as_dict(document).get("openapi", "2.0"))
        self.reads_siblings_of_references = not version.startswith(("2", "3.0"))
        """Whether a summary or a description beside a `$ref` counts: before 3.1 nothing does."""

    def resolved(self, raw: Json, pointer: str) -> tuple[dict[str, Json] | None, str]:
        """Follows a chain of `$ref`s to an object; gives it and where it stands, or reports what is wrong.

        A summary or description beside a `$ref` is said in the place of the one that stands there.
        """
        seen: set[str] = set()
        own: dict[str, Json] = {}
        while isinstance(raw, dict) and isinstance(reference := raw.get("$ref"), str):
            if not reference.startswith("#") or reference in seen or len(seen) == ROW_LIMIT:
                reason = "goes in a circle" if reference in seen else "is outside this document"
                if len(seen) == ROW_LIMIT:
                    reason = f"is the end of {ROW_LIMIT} in a row"
                self._problems.warning(
                    "reference-not-followed", pointer, f"the $ref {reference[:200]!r} {reason}; left out"
                )
                return None, pointer
            seen.add(reference)
            for key in ("summary", "description"):
                if len(raw) > 1 and self.reads_siblings_of_references and isinstance(raw.get(key), str):
                    own.setdefault(key, raw[key])
            try:
                raw, pointer = follow(self._document, reference[1:]), reference[1:]
            except LookupError:
                self._problems.warning(
                    "reference-not-found", pointer, f"nothing stands at the $ref {reference[:200]!r}; left out"
                )
                return None, pointer
        if not isinstance(raw, dict):
            self._problems.warning("object-expected", pointer, "expected an object here; left out")
            return None, pointer
        return {**raw, **own} if own else raw, pointer

    def quietly(self, raw: Json) -> dict[str, Json]:
        """Follows a chain of `$ref`s to an object; gives an empty one where there is none, and reports nothing."""
        return as_dict(Resolver(self._document, ProblemLog()).resolved(raw, "")[0])
