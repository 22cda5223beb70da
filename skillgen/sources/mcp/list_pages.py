"""Reads what the pages of lists say beside their items: how long they hold, for whom (2026-07-28, `CacheableResult`).

No I/O. That a page was cut, or asked for input, is reported when it is read.
"""

from __future__ import annotations

from collections.abc import Mapping

from skillgen.errors import ProblemLog
from skillgen.model.pointer import child
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict
from skillgen.sources.mcp.dashdash import SERVER_INFO_KEY

_READ = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
_FRAME = ("nextCursor", "resultType")


def said_of_lists(results: Mapping[str, Json]) -> dict[str, Json]:
    """Gives method to what its pages say of themselves, such as `ttlMs`; the first page that says it counts."""
    found: dict[str, Json] = {}
    for method, items_key in _READ.items():
        said: dict[str, Json] = {}
        for page in _pages(results, method):
            meta = {key: value for key, value in as_dict(page.get("_meta")).items() if key != SERVER_INFO_KEY}
            rest = {key: value for key, value in page.items() if key not in (items_key, "_meta", *_FRAME)}
            said = {**rest, **({"_meta": meta} if meta else {}), **said}
        if said:
            found[method] = said
    return found


def report_private_results(results: Mapping[str, Json], problems: ProblemLog) -> None:
    """Reports what the server says to one user alone: the documents of it may be of that user alone, too."""
    methods = [
        method for method in _READ if any(page.get("cacheScope") == "private" for page in _pages(results, method))
    ]
    if methods:
        problems.info(
            "results-private",
            child("", methods[0]),
            f"what the server answers to {', '.join(methods)} is meant for the user who asks (cacheScope: private)",
            "look at the documents before others get them",
        )


def _pages(results: Mapping[str, Json], method: str) -> list[dict[str, Json]]:
    pages = results.get(method)
    return [page for page in pages if isinstance(page, dict)] if isinstance(pages, list) else []
