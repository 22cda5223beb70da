"""Failures of a mock on demand: a rate limit, an error that the service declares, latency."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
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


class FaultInjector:
    """Fails the calls to a service on demand."""

    def __init__(self, service: Service, faults: Sequence[InjectedFault]) -> None:
        self._service = service
        self._faults = faults
        self._limited: set[str] = set()
        self._lock = threading.Lock()

    def delay(self) -> None:
        """Waits as long as calls are to take."""
        for fault in self._faults:
            if fault.kind == "latency":
                time.sleep(fault.seconds)

    def failure(self, tool: Tool) -> tuple[str, str] | None:
        """Returns the code and the text of the failure of a call; the code of a rate limit is empty."""
        for fault in self._faults:
            if fault.kind == "rate-limit" and self._is_limited(tool.name):
                return "", "rate limit exceeded"
            if fault.kind == "error":
                case = error_case(self._service, tool, fault.code)
                return fault.code, ": ".join(filter(None, (case.code, case.description, case.resolution)))
        return None

    def _is_limited(self, name: str) -> bool:
        """True for the first call of a tool, the third, and so on: a caller that tries again is served."""
        with self._lock:
            self._limited ^= {name}
            return name in self._limited
