"""Tells that the work of an operation goes on after its answer, and where to ask for the outcome (RFC 9110, 15.3.3)."""

from __future__ import annotations

from collections.abc import Mapping

from skillgen.model.value import Json
from skillgen.sources.guards import as_dict
from skillgen.sources.openapi.resolver import Resolver

ACCEPTED = "202"
"""The status of what is accepted, and not done yet."""

_DECLARED = "x-ms-long-running-operation"
_ADDRESSES = ("operation-location", "azure-asyncoperation", "location", "content-location")
"""Headers that lead to the outcome, the more telling first."""


def is_declared_long(operation: Mapping[str, Json]) -> bool:
    """Tells whether an operation says itself that its work goes on."""
    return operation.get(_DECLARED) is True


def completion_of(operation: Mapping[str, Json], responses: Mapping[str, Json], resolver: Resolver) -> str | None:
    """Says when the work goes on after the answer, and how its outcome is learned; `None` where nothing says so."""
    if ACCEPTED not in responses and not is_declared_long(operation):
        return None
    status = ACCEPTED if ACCEPTED in responses else min((key for key in responses if key.startswith("2")), default="")
    headers = {name.lower(): name for name in as_dict(resolver.quietly(responses.get(status)).get("headers"))}
    found = f"after a {ACCEPTED} the work goes on" if status == ACCEPTED else "the work goes on after the answer"
    address = next((headers[name] for name in _ADDRESSES if name in headers), None)
    if address is not None:
        found += f"; ask at the address in its `{address}` header for the outcome"
    if "retry-after" in headers:
        found += f"; wait as long as its `{headers['retry-after']}` header says before each time"
    return found
