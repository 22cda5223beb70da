"""Where hosts look for skills, and what a run is asked to do there.

The skill of each service has a folder and a record of its own there, so that nothing else in it is ever touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from skillgen.errors import UsageError
from skillgen.model.service import Service
from skillgen.pipeline.options import OutputOptions
from skillgen.render.document import PROFILES
from skillgen.render.identity import skill_name
from skillgen.write.folder import is_below

HOSTS = {"claude": Path(".claude", "skills"), "agents": Path(".agents", "skills")}
"""Name of `--install` to the folder, below the project or the home folder."""


def install_folders(
    hosts: Sequence[str], *, user: bool, formats: tuple[str, ...], project: Path | None = None
) -> tuple[Path, ...]:
    """Returns the folders in which hosts look for skills: below the project or the current folder, or the user's own.

    Raises:
        UsageError: a host is unknown, no skill is made, or a symbolic link leads out of the project.
    """
    if user and not hosts:
        raise UsageError("says nothing without --install", where="--user", fix=f"add --install {'|'.join(HOSTS)}")
    found = []
    for host in dict.fromkeys(hosts):
        if host not in HOSTS:
            raise UsageError(f"no such host: {host}", where="--install", fix=f"choose from {','.join(HOSTS)}")
        if "skill" not in formats:
            fix = "add skill to it, or leave --install out"
            raise UsageError("there is no skill to install", where="--emit", fix=fix)
        top = project or Path()
        if not user and not is_below(top / HOSTS[host], top):
            raise UsageError(
                f"a symbolic link leads {HOSTS[host].as_posix()} out of the project",
                where="--install",
                fix="remove the link, or install for yourself with --user",
            )
        found.append(Path.home() / HOSTS[host] if user else top / HOSTS[host])
    return tuple(found)


def profile_named(name: str) -> str:
    """Gives the profile of a name.

    Raises:
        UsageError: there is none.
    """
    if name not in PROFILES:
        raise UsageError(f"no such profile: {name}", where="--profile", fix=f"choose from {','.join(PROFILES)}")
    return name


def installations(service: Service, options: OutputOptions) -> list[OutputOptions]:
    """Returns what a run is to do in the places where hosts look, except where OUT puts the skill there already."""
    name = skill_name(service)
    return [
        replace(options, out=folder / name, within=folder, owner=options.out, formats=("skill",), is_installed=True)
        for folder in options.install
        if (folder / name).resolve() != (options.out / "skills" / name).resolve()
    ]
