"""`${NAME}` in a project's file: the value of an environment variable, which no document and no message holds."""

from __future__ import annotations

import re
from collections.abc import Mapping

from skillgen.errors import UsageError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def variables_in(text: str) -> list[str]:
    """Returns the names of the variables in a text."""
    return _VARIABLE.findall(text)


def filled_in(text: str, environment: Mapping[str, str], where: str) -> str:
    """Returns a text with the values of the variables that it names.

    Raises:
        UsageError: one of them is not set.
    """
    for name in variables_in(text):
        if name not in environment:
            raise UsageError(f"{name} is not set in this environment", where=where, fix=f"set {name}")
    return _VARIABLE.sub(lambda found: environment[found[1]], text)
