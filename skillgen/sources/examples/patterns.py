"""Matches strings against patterns, with the engine of `jsonschema-rs`, which reads them as ECMA 262.

It takes linear time, and for look-arounds a bounded number of steps. What it does not understand is not matched.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from skillgen.text import lazy_re as re

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

PATTERN_LIMIT = 800
"""Characters of a pattern that is read."""

_MATCHED_LIMIT = 2_000
"""Characters of a string that is matched; the time is proportional to its length and to the size of the pattern."""

_BACKTRACKING_LIMIT = 20_000
_ENGINE_SIZE_LIMIT_BYTES = 1_000_000
"""Size of a compiled pattern; 2,000 characters are matched in less than a second."""

_LONG_REPETITIONS = re.compile(r"\{(\d+),\d{3,}\}"), re.compile(r"\{(\d+),\d{2,}\}")
"""Upper bounds of many digits make a pattern large. If it is too large, it is matched without them."""

_OTHER_LANGUAGES = re.compile(r"\A/\^|\$/[a-z]*\Z|\[\[:")
"""JavaScript's `/^a$/i`, and classes of POSIX, which ECMA 262 reads as something else."""


def holds(keyword: str, rule: str, text: str) -> bool | None:
    """True if a string has a `format`, or a `pattern` matches anywhere in it; `None` if that is not known."""
    if (validator := _validator(keyword, rule)) is None or len(text) > _MATCHED_LIMIT:
        return None
    try:
        error = next(iter(validator.iter_errors(text)), None)
    except ValueError:  # half of a surrogate pair
        return None
    return None if error is not None and "backtracking" in error.message else error is None


@lru_cache(4096)
def _validator(keyword: str, rule: str) -> Draft202012Validator | None:
    """Returns the validator of one keyword; `None` if the engine does not support its pattern."""
    if len(rule) > PATTERN_LIMIT or _OTHER_LANGUAGES.search(rule):
        return None
    from jsonschema_rs import Draft202012Validator, FancyRegexOptions

    options = FancyRegexOptions(backtrack_limit=_BACKTRACKING_LIMIT, size_limit=_ENGINE_SIZE_LIMIT_BYTES)
    for candidate in (rule, *(repetition.sub(r"{\1,}", rule) for repetition in _LONG_REPETITIONS)):
        try:
            return Draft202012Validator({keyword: candidate}, validate_formats=True, pattern_options=options)
        except ValueError:
            continue
    return None
