"""How many inputs hypothesis tries a property with: always the same in `make test`, a few of them in `make quick`, and
many others in `make chance`, different ones each time.
"""

from __future__ import annotations

import os

from hypothesis import settings

_PROFILE = os.environ.get("SKILLGEN_TEST_PROFILE", "")
IS_QUICK, _IS_BY_CHANCE = _PROFILE == "quick", _PROFILE == "chance"
_QUICK_EXAMPLES, _TIMES_BY_CHANCE = 5, 8


def load_profile() -> None:
    """Sets what holds for every property."""
    settings.register_profile(
        "skillgen", deadline=None, derandomize=not _IS_BY_CHANCE, print_blob=_IS_BY_CHANCE, max_examples=examples(60)
    )
    settings.load_profile("skillgen")


def examples(count: int) -> int:
    """Returns the number of examples for a property that `make test` tries with `count`."""
    return min(count, _QUICK_EXAMPLES) if IS_QUICK else count * (_TIMES_BY_CHANCE if _IS_BY_CHANCE else 1)
