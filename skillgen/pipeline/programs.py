"""Which programs the commands of a project's file mean: those of the project's environment, never skillgen's own."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from skillgen.sources.mcp.environment import is_tool_environment, programs_folder, without_tool_environment

_NAMES = (".venv", "venv")


def project_environment(caller: Mapping[str, str], folder: Path, project: Path) -> dict[str, str]:
    """Returns the variables for a command of a project that runs in `folder`.

    An active environment stays. Where there is none, as in a commit from an editor, the project's own is activated:
    the nearest from `folder` up to the repository's top.
    """
    found = without_tool_environment(caller)
    active = found.get("VIRTUAL_ENV")
    if not active or not _is_environment(Path(active)):
        active = None if _is_active(found) else next(_environments(folder.resolve(), project.resolve()), None)
    if active is None:
        return found
    programs = str(programs_folder(Path(active)))
    entries = found.get("PATH", os.defpath).split(os.pathsep)
    if programs not in entries:
        found["PATH"] = os.pathsep.join((programs, *entries))
    return found | {"VIRTUAL_ENV": active}


def resolved(words: tuple[str, ...], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Returns a command with its program as this system has it.

    Many systems have `python3` only. What is not on PATH at all is taken from skillgen's environment, unless that was
    created for skillgen alone: there a project's server finds other packages than its own.
    """
    if not words or Path(words[0]).name != words[0]:
        return words
    path = environment.get("PATH")
    if shutil.which(words[0], path=path):
        return words
    if words[0] == "python" and shutil.which("python3", path=path):
        return ("python3", *words[1:])
    own = None if is_tool_environment() else shutil.which(words[0], path=str(Path(sys.executable).parent))
    return (own or words[0], *words[1:])


def _is_active(environment: Mapping[str, str]) -> bool:
    """True if the first Python on PATH is that of an environment, which conda's base is not."""
    path = environment.get("PATH")
    python = shutil.which("python", path=path) or shutil.which("python3", path=path)
    if python is None:
        return False
    # On Windows, conda's python.exe is in the environment's top folder.
    roots = (Path(python).parent, Path(python).parent.parent)
    is_conda = any((root / "conda-meta").is_dir() and not (root / "condabin").is_dir() for root in roots)
    return is_conda or any(map(_is_environment, roots))


def _environments(folder: Path, project: Path) -> Iterator[str]:
    top = next((place for place in (project, *project.parents) if (place / ".git").exists()), project)
    if sys.prefix != sys.base_prefix and not is_tool_environment() and Path(sys.prefix).is_relative_to(top):
        yield sys.prefix
    for place in (folder, *folder.parents):
        yield from (str(place / name) for name in _NAMES if _is_environment(place / name))
        if place == top or not place.is_relative_to(top):
            return


def _is_environment(folder: Path) -> bool:
    return (folder / "pyvenv.cfg").is_file()
