"""Failures of a mock on demand: a rate limit, an error that the service declares, latency."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from skillgen.errors import UsageError
from skillgen.model.calls import ErrorCase
from skillgen.model.service import Service
from skillgen.model.tool import Tool

RETRY_AFTER_S = 1
"""Seconds that a mock asks a caller to wait."""

FaultKind = Literal["rate-limit", "error", "latency"]


class InjectedFault(Struct, frozen=True):
    """A failure on demand."""

    kind: FaultKind
    code: str = ""
    """The code of an error of the service, or an HTTP status."""

    seconds: float = 0.0
    """The latency."""


_FAULT_FIX = "write rate-limit, error:CODE or latency:MS"
_LATENCY_LIMIT_MS = 3_600_000


def fault_of(text: str, service: Service) -> InjectedFault:
    """Returns the fault that an option names.

    Raises:
        UsageError: it has another form, or the service declares no such error.
    """
    kind, _, value = text.partition(":")
    if text == "rate-limit":
        return InjectedFault("rate-limit")
    if kind == "latency" and value.isascii() and value.isdigit() and int(value) <= _LATENCY_LIMIT_MS:
        return InjectedFault("latency", seconds=int(value) / 1_000)
    if kind != "error" or not value:
        raise UsageError(f"{text!r:.80} is not a fault", where="--fault", fix=_FAULT_FIX)
    codes = dict.fromkeys(case.code for case in (*service.errors, *(e for t in service.tools for e in t.errors)))
    is_status = service.kind == "openapi" and value.isascii() and value.isdigit() and 400 <= int(value) <= 599
    if value not in codes and not is_status:
        known = ", ".join(code for code in list(codes)[:20] if code)
        fix = f"choose from {known}" if known else "the service declares no errors: use rate-limit or latency:MS"
        raise UsageError(f"the service declares no error {value!r:.80}", where="--fault", fix=fix)
    return InjectedFault("error", code=value)


def error_case(service: Service, tool: Tool, code: str) -> ErrorCase:
    """Returns what is declared of an error: by the tool, else by the service, else for a range such as `4XX`."""
    cases = {case.code: case for case in (*service.errors, *tool.errors)}
    for name in (code, f"{code[:1]}XX", f"{code[:1]}xx", "default"):
        if name in cases:
            return cases[name]
    return ErrorCase(code=code)


def is_limited(name: str, limited: set[str]) -> bool:
    """True for the first call of a tool, the third, and so on: a caller that tries again is served."""
    if name in limited:
        limited.remove(name)
        return False
    limited.add(name)
    return True
