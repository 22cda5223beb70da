"""How many inputs hypothesis tries a property with: all in `make test`, a few in `make quick`."""

from __future__ import annotations

import os

from hypothesis import settings

IS_QUICK = os.environ.get("SKILLGEN_TEST_PROFILE") == "quick"
_QUICK_EXAMPLES = 5


def load_profile() -> None:
    """Sets what holds for every property."""
    settings.register_profile("skillgen", deadline=None, derandomize=True, max_examples=examples(60))
    settings.load_profile("skillgen")


def examples(count: int) -> int:
    """Returns the number of examples for a property that `make test` tries with `count`."""
    return min(count, _QUICK_EXAMPLES) if IS_QUICK else count
