"""The module `re`, except that `compile` returns a pattern that is compiled when it is first used.

Compiling all patterns of skillgen takes a fifth of a run over a small source.
"""

import re
from functools import cached_property
from re import *  # noqa: F403
from typing import Any, cast


class LazyPattern:
    """A pattern whose methods are those of the compiled pattern."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self.pattern, self.flags)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.compiled, name)
        setattr(self, name, value)  # found before this function from now on
        return value


def pattern_of(kind: type[LazyPattern], pattern: str) -> LazyPattern:
    """Returns the pattern of a string in JSON, for `msgspec`."""
    return kind(pattern, 0)


def compile(pattern: str, flags: int = 0) -> re.Pattern[str]:  # type: ignore[no-redef]
    """Returns a pattern for strings."""
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))
