"""Matches strings against patterns, with the engine of `jsonschema-rs`, which reads them as ECMA 262.

It takes linear time, and for look-arounds a bounded number of steps. What it does not understand is not matched.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING

from skillgen.model.values import Json
from skillgen.text import lazy_re as re

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

_PATTERN_LIMIT = 800
"""Characters of a pattern that is read."""

MATCHED_LIMIT = 2_000
"""Characters of a string that is matched; the time is proportional to its length and to the size of the pattern."""

_BACKTRACKING_LIMIT = 20_000
_ENGINE_SIZE_LIMIT_BYTES = 1_000_000
"""Size of a compiled pattern; 2,000 characters are matched in less than a second."""

_LONG_REPETITIONS = re.compile(r"\{(\d+),\d{3,}\}"), re.compile(r"\{(\d+),\d{2,}\}")
"""Upper bounds of many digits make a pattern large. If it is too large, it is matched without them."""

_OTHER_LANGUAGES = re.compile(r"\A/\^|\$/[a-z]*\Z|\[\[:")
"""JavaScript's `/^a$/i`, and classes of POSIX, which ECMA 262 reads as something else."""


def compiled(schema: Json) -> Draft202012Validator:
    """Returns the validator of a schema.

    Raises:
        ValueError: the schema is invalid, or a pattern is too large.
    """
    return _compiled(json.dumps(schema))


@lru_cache(2048)  # most values are strings without constraints, and compiling takes ten times as long as validating
def _compiled(schema: str) -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator, FancyRegexOptions

    options = FancyRegexOptions(backtrack_limit=_BACKTRACKING_LIMIT, size_limit=_ENGINE_SIZE_LIMIT_BYTES)
    return Draft202012Validator(json.loads(schema), validate_formats=True, pattern_options=options)


def matches(pattern: str, text: str) -> bool | None:
    """True if a pattern matches anywhere in a string; `None` if that is not known."""
    engine_pattern = engine_syntax(pattern)
    if engine_pattern is None or len(text) > MATCHED_LIMIT:
        return None
    try:
        error = next(iter(compiled({"pattern": engine_pattern}).iter_errors(text)), None)
    except ValueError:  # half of a surrogate pair
        return None
    return None if error is not None and is_exhausted(error.message) else error is None


def is_exhausted(message: str) -> bool:
    """True if a validation error only says that a pattern needs more steps than are allowed."""
    return "backtracking" in message


@lru_cache(4096)
def engine_syntax(pattern: str) -> str | None:
    """Returns a pattern as the engine takes it; `None` if it is not supported."""
    if len(pattern) > _PATTERN_LIMIT or _OTHER_LANGUAGES.search(pattern):
        return None
    for candidate in (pattern, *(repetition.sub(r"{\1,}", pattern) for repetition in _LONG_REPETITIONS)):
        try:
            compiled({"pattern": candidate})
        except ValueError:
            continue
        return candidate
    return None
