"""The environment in which the commands of a project run: its nearest `.venv`, else the active virtual environment.

They never run in skillgen's own, if that was created for skillgen alone.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from skillgen.sources.mcp.target import is_tool_environment, programs_folder, without_tool_environment


def project_environment(caller: Mapping[str, str], folder: Path, project: Path) -> dict[str, str]:
    """Returns the variables for a command that runs in `folder` of a project.

    The nearest virtual environment from `folder` up to the top of the repository is activated: the one that is active
    may belong to an editor, a tool or another project. Without one in the repository, it remains active.
    """
    variables = without_tool_environment(caller)
    nearest = next(_environments(folder.resolve(), project.resolve()), None)
    if nearest is None:
        return variables
    programs = str(programs_folder(Path(nearest)))
    entries = [entry for entry in variables.get("PATH", os.defpath).split(os.pathsep) if entry != programs]
    return variables | {"VIRTUAL_ENV": nearest, "PATH": os.pathsep.join((programs, *entries))}


def _environments(folder: Path, project: Path) -> Iterator[str]:
    top = next((parent for parent in (project, *project.parents) if (parent / ".git").exists()), project)
    for parent in (folder, *folder.parents):
        yield from (str(parent / name) for name in (".venv", "venv") if _is_environment(parent / name))
        if parent == top or not parent.is_relative_to(top):
            break
    if sys.prefix != sys.base_prefix and not is_tool_environment() and Path(sys.prefix).is_relative_to(top):
        yield sys.prefix


def _is_environment(folder: Path) -> bool:
    return (folder / "pyvenv.cfg").is_file()


def with_resolved_program(command: tuple[str, ...], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Returns a command with a program that exists on this system.

    Many systems have only `python3`. A program that is not on PATH is taken from skillgen's environment, unless that
    was created for skillgen alone: a project's server would not find its packages there.
    """
    path = environment.get("PATH")
    if not command or Path(command[0]).name != command[0] or shutil.which(command[0], path=path):
        return command
    program, *arguments = command
    if program == "python" and shutil.which("python3", path=path):
        return ("python3", *arguments)
    bundled = None if is_tool_environment() else shutil.which(program, path=str(Path(sys.executable).parent))
    return (bundled or program, *arguments)
