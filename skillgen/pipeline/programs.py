"""Which program a command of a project's file means: also in a Makefile that calls `.venv/bin/skillgen`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

_OF_TOOLS = ("pipx", "tools", "pre-commit", "prek")
"""Parts of the path of an environment that has skillgen and not the project."""


def resolved(words: tuple[str, ...], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Gives a command with what stands beside skillgen, where its environment is the project's but not the active one.

    What is found nowhere else is taken from beside skillgen in any case.
    """
    if not words or Path(words[0]).name != words[0]:
        return words
    beside = shutil.which(words[0], path=str(Path(sys.executable).parent))
    if beside is None:
        return words
    is_found = shutil.which(words[0], path=environment.get("PATH")) is not None
    return (beside, *words[1:]) if not is_found or _is_of_the_project(environment) else words


def _is_of_the_project(environment: Mapping[str, str]) -> bool:
    if environment.get("VIRTUAL_ENV") or environment.get("CONDA_PREFIX"):
        return False
    return sys.prefix != sys.base_prefix and not any(part in _OF_TOOLS for part in Path(sys.prefix).parts)
