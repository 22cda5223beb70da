"""Limits that are counted: so many calls in a minute or a day (seed 004 `rate_limits`)."""

from __future__ import annotations

from skillgen.model.access import RateLimit
from skillgen.sources.mcp.claims import Members
from skillgen.sources.mcp.tool_entry import spelled

_COUNTED = ("rate_limits", "rateLimits")


def counted_limit(owner: Members) -> RateLimit | None:
    """Reads how often something may be called. What is left at the moment stays among the extras (seed 004, 1)."""
    limits = next((owner.part(key) for key in _COUNTED if isinstance(owner.raw.get(key), dict)), None)
    if limits is None:
        return None
    minute = next(iter(spelled(limits, "requests_per_minute", Members.integer)), None)
    day = next(iter(spelled(limits, "requests_per_day", Members.integer)), None)
    if (minute is None or minute.value is None) and (day is None or day.value is None):
        return None
    return RateLimit(
        requests_per_minute=minute.value if minute is not None else None,
        requests_per_day=day.value if day is not None else None,
    )
