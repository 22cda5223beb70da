"""The module `re`, except that `compile` returns a pattern that is compiled when it is first used.

Compiling all patterns of skillgen takes a fifth of a run over a small source.
"""

import re
from collections.abc import Callable
from functools import cached_property
from re import *  # noqa: F403
from typing import Any, cast

from msgspec import Struct


class LazyPattern(Struct, array_like=True, dict=True, eq=False):
    """A pattern whose methods are those of the compiled pattern."""

    pattern: str
    flags: int = 0

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self.pattern, self.flags)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.compiled, name)
        setattr(self, name, value)  # found before this function from now on
        return value


compile = cast("Callable[..., re.Pattern[str]]", LazyPattern)  # type: ignore[assignment]
"""Returns a pattern for strings, of its expression and flags."""
