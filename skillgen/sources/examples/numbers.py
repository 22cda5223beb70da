"""A number within its bounds: 1 where that fits, else the nearest that does."""

from __future__ import annotations

import math
from fractions import Fraction

from skillgen.model.value import Json

DIGITS_LIMIT = 30
"""Digits of a bound beyond which no number is made."""


def made_number(flat: dict[str, Json], *, whole: bool) -> int | float | None:
    """Gives a number that the keywords of a flat schema allow; `None` where none was found."""
    low, low_open = _bound(flat, "minimum", "exclusiveMinimum", max)
    high, high_open = _bound(flat, "maximum", "exclusiveMaximum", min)
    step = _number(flat.get("multipleOf"))
    if step is None or step <= 0:
        step = Fraction(1) if whole else None
    elif whole:
        step = Fraction(math.lcm(step.numerator, step.denominator), step.denominator)

    def fits(number: Fraction) -> bool:
        return (low is None or (number > low if low_open else number >= low)) and (
            high is None or (number < high if high_open else number <= high)
        )

    for candidate in _candidates(low, high, step):
        if fits(candidate):
            return int(candidate) if candidate.denominator == 1 else float(candidate)
    return None


def _candidates(low: Fraction | None, high: Fraction | None, step: Fraction | None) -> list[Fraction]:
    if step is None:
        found = [Fraction(1), Fraction(0)]
        found += [low, low + 1] if low is not None else []
        found += [high, high - 1] if high is not None else []
        return [*found, (low + high) / 2] if low is not None and high is not None else found
    found = [Fraction(1)] if step.numerator == 1 else []
    found.append(step)
    if low is not None:
        first = math.ceil(low / step) * step
        found += [first, first + step]
    if high is not None:
        last = math.floor(high / step) * step
        found += [last, last - step]
    return [*found, Fraction(0)]


def _bound(flat: dict[str, Json], closed: str, opened: str, tighter: object) -> tuple[Fraction | None, bool]:
    """Gives a bound and whether it is excluded, by the rules of draft-04 (a flag) and of later ones (a number)."""
    bound, limit = _number(flat.get(closed)), _number(flat.get(opened))
    if flat.get(opened) is True:
        return bound, True
    if limit is None or bound is None:
        return (bound, False) if limit is None else (limit, True)
    if limit == bound:
        return limit, True
    return (limit, True) if (limit > bound) is (tighter is max) else (bound, False)


def _number(value: Json) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return Fraction(str(value)) if isinstance(value, float) or abs(value) < 10**DIGITS_LIMIT else None
