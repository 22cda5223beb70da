"""Finds the description of a service of which only the base URL is known (seed 002, 3.1)."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.value import Json
from skillgen.sources.addresses import origin_of
from skillgen.sources.document import Document, fetched_document, is_url, load_document
from skillgen.sources.fetch import GUARDED, TOO_MANY, Access, fetch
from skillgen.sources.kinds import Kind, kind_of_document
from skillgen.sources.network import StatusError

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
    well_known = tuple(urlunsplit((parts.scheme, parts.netloc, path, "", "")) for path in WELL_KNOWN)
    is_base = parts.path in ("", "/") and not parts.query
    search = _Search(access, is_wanted)
    for places in (well_known, (source,)) if is_base else ((source,), well_known):
        for place in places:
            found = ProblemLog()
            if (document := search.document_at(place, found)) is not None:
                for problem in found:
                    problems.add(problem)
                return document
        if search.named is not None:
            raise search.named
    raise _nothing_found(min(search.failures, key=_rank) if is_base else search.failures[0])


class _Search:
    """A search at several addresses of one server."""

    def __init__(self, access: Access, is_wanted: Callable[[Json], bool]) -> None:
        self._access = access
        self._is_wanted = is_wanted
        self.failures: list[SourceError] = []
        """Why each address was passed over."""
        self.named: SourceError | None = None
        """What stands at one of them instead, where that is known."""

    def document_at(self, place: str, problems: ProblemLog) -> Document | None:
        """Gives the document at an address where it is wanted.

        Raises:
            SourceError: the server can't be reached, or it wants to be left alone for a while; that would be so at
                every address of it.
        """
        try:
            fetched = fetch(place, self._access)
        except StatusError as error:
            if error.status == TOO_MANY or error.retry_after is not None:
                raise
            self.failures.append(error)
            return None
        try:
            document = fetched_document(fetched, problems, self._access)
        except SourceError as error:
            self.failures.append(error)
            return None
        if self._is_wanted(document.data):
            return document
        if (kind := kind_of_document(document.data)) is not None:
            self.named = self.named or not_a_description(document.name, kind)
        self.failures.append(
            SourceError(
                f"is not OpenAPI: {_contents(document.data)}", where=document.name, fix="give an OpenAPI description"
            )
        )
        return None


def not_a_description(name: str, kind: Kind) -> SourceError:
    """Gives the error that names what a document is, and how it can be documented."""
    return SourceError(f"is {kind.what}, not an OpenAPI description", where=name, fix=kind.fix)


def _contents(data: Json) -> str:
    """Says what stands where a description should."""
    if isinstance(data, dict):
        return f"it has no `openapi` key (its keys: {', '.join(str(key)[:30] for key in list(data)[:5]) or 'none'})"
    return "it is a list" if isinstance(data, list) else "it is a plain value"


def _rank(failure: SourceError) -> int:
    """Orders failures, the most telling first: what asks for a credential, then what is there, then what is not."""
    if not isinstance(failure, StatusError):
        return 1
    return 0 if failure.status in GUARDED else 3 if failure.status in (404, 410) else 2


def _nothing_found(failure: SourceError) -> SourceError:
    asks_for_header = isinstance(failure, StatusError) and failure.status in GUARDED
    return SourceError(
        f"{failure.what}; and no description is at {' or '.join(WELL_KNOWN)}",
        where=failure.where,
        fix=failure.fix if asks_for_header else "give the address of the OpenAPI document itself",
    )
