"""Reads catalogues of errors: of `dashdash` (seed 000, 3.2.2), of seed 004 (11), and as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillgen.errors import ProblemLog
from skillgen.model.exchange import ErrorCase
from skillgen.model.value import Json, Value
from skillgen.sources.mcp.claims import Claim, Members
from skillgen.sources.mcp.tool_entry import spelled

_CODE = re.compile(r"[A-Z][A-Z0-9_]*\Z|-?\d{3,6}\Z")


def error_cases(owner: Members, key: str, problems: ProblemLog) -> Iterator[ErrorCase]:
    """Reads a member that lists errors, or that maps codes to what they mean."""
    raw = owner.raw.get(key)
    if isinstance(raw, dict):
        owner.ignore(key)
        part = owner.part(key)
        for code, value in raw.items():
            if isinstance(value, dict):
                yield _case(str(code), part.part(code))
            elif isinstance(value, str):
                part.ignore(code)
                yield ErrorCase(code=str(code), description=value)
        return
    for item in owner.parts(key):
        claim = item.json("code")
        code = claim.value if claim is not None else None
        has_code = isinstance(code, (str, int)) and not isinstance(code, bool)
        case = _case(str(code) if has_code else "", item)
        if has_code or case.description or case.resolution:
            yield case
        if not has_code:
            outcome = "shown without one" if case.description or case.resolution else "left out"
            problems.warning("error-invalid", item.pointer, f"the error has no code; {outcome}", "declare code")


def is_catalogue(raw: Json) -> bool:
    """Tells whether a value maps codes to what they mean, or lists errors that have codes."""
    if isinstance(raw, dict):
        return bool(raw) and all(_CODE.match(str(key)) for key in raw)
    return isinstance(raw, list) and bool(raw) and all(isinstance(item, dict) and "code" in item for item in raw)


def _case(code: str, item: Members) -> ErrorCase:
    return ErrorCase(
        code=code,
        description=_value(item.text("description") or item.text("message")),
        resolution=_value(item.text("resolution") or item.text("suggestion")),
        category=_value(item.text("category")),
        retry_after_s=_value(_first(spelled(item, "retry_after_seconds", Members.number))),
        user_actionable=_value(_first(spelled(item, "user_actionable", Members.flag))),
        documentation=_value(_first(spelled(item, "documentation_url", Members.text))),
        details=Value(details.value) if (details := item.json("details")) is not None else None,
    )


def _first(claims: list[Claim]) -> Claim | None:
    return next(iter(claims), None)


def _value(claim: Claim | None) -> Json:
    return claim.value if claim is not None else None
