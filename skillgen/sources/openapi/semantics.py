"""What an operation means beyond its parameters: the semantics of its method, and paging."""

from __future__ import annotations

from skillgen.model.schema import Parameter
from skillgen.model.service import Output, Semantics
from skillgen.model.value import Origin

_SAFE_METHODS = frozenset({"get", "head", "options", "trace"})


def semantics_from_method(method: str) -> Semantics:
    """Gives what HTTP says of a method (RFC 9110, 9.2), as inferred facts."""
    read_only = method in _SAFE_METHODS
    origin = Origin("inferred", f"HTTP {method.upper()}")
    facts: dict[str, bool | str] = {}
    if read_only:
        facts |= {"operation": "read", "read_only": True, "idempotent": True}
    elif method == "delete":
        facts |= {"operation": "delete", "read_only": False, "destructive": True, "idempotent": True}
    elif method == "put":
        facts |= {"operation": "write", "read_only": False, "idempotent": True}
    else:
        facts |= {"operation": "write", "read_only": False}
    return Semantics(**facts, origins=dict.fromkeys(facts, origin))  # type: ignore[arg-type]


def pagination_of(parameters: tuple[Parameter, ...], output: Output | None) -> str | None:
    """Recognises the convention of seed 002, 6.2: `cursor` in the request, `next_cursor` in the response."""
    if output is None or output.schema is None:
        return None
    if not any(item.name == "cursor" for item in parameters):
        return None
    if not any(item.name == "next_cursor" for item in output.schema.properties):
        return None
    return "send `next_cursor` of the response as `cursor` to get the next page; null means that there is none"
