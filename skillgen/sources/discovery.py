"""Finds the description of a service of which only the base URL is known (seed 002, 3.1)."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.value import Json
from skillgen.sources.document import Document, document_from, is_url, load_document
from skillgen.sources.fetch import Access, fetch
from skillgen.sources.kinds import Kind, kind_of_document
from skillgen.sources.network import StatusError, origin_of

WELL_KNOWN = ("/.well-known/mcp.yaml", "/.well-known/mcp.json")
"""Where a service publishes its description, in the order in which they are tried."""


def discovered_document(
    source: str, problems: ProblemLog, access: Access, is_wanted: Callable[[Json], bool]
) -> Document:
    """Loads the document at a source, or the description that the service there publishes.

    An address without a path is taken for a base URL, and so is one where something else stands than a document that
    is wanted.

    Raises:
        SourceError: nothing was found, or only something that is not wanted; the message says what.
    """
    if not is_url(source) or origin_of(source) is None:
        return load_document(source, problems, access)
    parts = urlsplit(source)
    well_known = [urlunsplit((parts.scheme, parts.netloc, path, "", "")) for path in WELL_KNOWN]
    is_base = parts.path in ("", "/") and not parts.query
    places = [*well_known, source] if is_base else [source, *well_known]
    failures: list[SourceError] = []
    for place in places:
        found = ProblemLog()
        try:
            fetched = fetch(place, access)
        except StatusError as error:  # the server is there; another failure would meet every address of it
            failures.append(error)
            continue
        try:
            document = document_from(fetched.content, fetched.url, found, url=fetched.url)
        except SourceError as error:
            failures.append(error)
            continue
        if is_wanted(document.data):
            for problem in found:
                problems.add(problem)
            return document
        if (kind := kind_of_document(document.data)) is not None:
            raise not_a_description(document.name, kind)
        failures.append(SourceError("is not OpenAPI", where=document.name))
    raise _nothing_found(failures[-1] if is_base else failures[0])


def not_a_description(name: str, kind: Kind) -> SourceError:
    """Gives the error that names what a document is, and how it can be documented."""
    return SourceError(f"is {kind.what}, not an OpenAPI description", where=name, fix=kind.fix)


def _nothing_found(failure: SourceError) -> SourceError:
    asks_for_header = failure.fix is not None and "--header" in failure.fix
    return SourceError(
        f"{failure.what}; and no description is at {' or '.join(WELL_KNOWN)}",
        where=failure.where,
        fix=failure.fix if asks_for_header else "give the address of the OpenAPI document itself",
    )
