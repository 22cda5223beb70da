"""What each target of a project is asked for: by its file, and by the command line, which wins."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from skillgen.config.project import Target
from skillgen.errors import UsageError
from skillgen.pipeline.documenting import formats_named
from skillgen.pipeline.installing import install_folders, profile_named
from skillgen.pipeline.options import DEFAULT_OUT, OutputOptions
from skillgen.render.document import DEFAULT_FORMATS, DEFAULT_PROFILE
from skillgen.write.folder import is_below


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTarget:
    """A target and where it is declared."""

    name: str
    """Its name in the project's file."""

    target: Target
    """What it says."""

    file: Path
    """The project's file; paths in the target are relative to its folder."""

    options: OutputOptions
    """Where the documents go, and what may happen to those that are there."""

    @property
    def pointer(self) -> str:
        """Where it stands, in origins and messages."""
        return f"{self.file.name}#/targets/{self.name}"

    def path(self, text: str) -> Path:
        """Gives a path of the target."""
        return self.file.parent / text


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What the command line says of every target; it wins over the file, and its paths are relative to where one is."""

    out: Path | None = None
    """`--out`."""

    emit: str | None = None
    """`--emit`."""

    templates: Path | None = None
    """`--templates`."""

    profile: str | None = None
    """`--profile`."""

    install: tuple[str, ...] = ()
    """`--install`."""

    user: bool = False
    """`--user`."""

    timeout_s: float | None = None
    """`--timeout`."""

    check: bool = False
    """`--check`."""

    allow_empty: bool = False
    """`--allow-empty`."""

    force: bool = False
    """`--force`."""

    prune: bool = False
    """`--prune`."""

    strict: bool = False
    """`--strict`."""


def named_targets(targets: Mapping[str, Target], file: Path, only: str | None, given: Given) -> tuple[NamedTarget, ...]:
    """Gives the targets of a file, or the one that is meant by `only`, with where their documents go.

    Raises:
        UsageError: there is no target of that name, two would write to the same folder, or a name is unknown.
    """
    if only is not None and only not in targets:
        raise UsageError(f"no such target: {only}", where="--target", fix=f"choose from {', '.join(targets)}")
    found = []
    folders: dict[str, str] = {}
    for name, target in targets.items():
        out = os.path.normpath(_out_folder(name, target, file, given, is_alone=len(targets) == 1))
        _refuse_shared_folder(name, out, folders, file)
        folders[out] = name
        options = _options(target, Path(out), file, f"{file.name}#/targets/{name}", given)
        if given.timeout_s is not None:
            target = replace(target, source=replace(target.source, timeout=given.timeout_s))
        found.append(NamedTarget(name=name, target=target, file=file, options=options))
    siblings = tuple(item.options.out for item in found)
    return tuple(
        replace(item, options=replace(item.options, siblings=siblings))
        for item in found
        if only is None or item.name == only
    )


def _out_folder(name: str, target: Target, file: Path, given: Given, *, is_alone: bool) -> Path:
    if target.out and given.out is None:
        return file.parent / target.out
    default = given.out or file.parent / DEFAULT_OUT
    return default if is_alone else default / name


def _options(target: Target, out: Path, file: Path, pointer: str, given: Given) -> OutputOptions:
    """Gives what a target asks for, and in its place what the command line does."""
    folder = file.parent
    formats = formats_named(given.emit) if given.emit is not None else DEFAULT_FORMATS
    profile = profile_named(given.profile) if given.profile is not None else DEFAULT_PROFILE
    with located_in_file(pointer):
        if target.emit and given.emit is None:
            formats = formats_named(",".join(target.emit))
        if target.profile is not None and given.profile is None:
            profile = profile_named(target.profile)
        if given.out is None:
            _refuse_outside(out, folder, "--out")
        templates = given.templates
        if templates is None and target.templates is not None:
            templates = folder / target.templates
            _refuse_outside(templates, folder, "--templates")
        hosts = () if given.install else target.install_to
        is_users = bool(hosts) and given.user
        install = install_folders(hosts, user=is_users, formats=formats, project=folder)
    if not install:
        install = install_folders(given.install, user=given.user, formats=formats)
    return OutputOptions(
        out=out,
        within=folder if given.out is None else None,
        owner=file,
        formats=formats,
        templates=templates,
        profile=profile,
        install=install,
        check=given.check,
        allow_empty=given.allow_empty or target.allow_empty,
        force=given.force,
        prune=given.prune or target.prune,
        strict=given.strict or target.strict,
    )


def _refuse_outside(place: Path, folder: Path, option: str) -> None:
    """Refuses a folder that a project's file names and that is outside the project, also through a symbolic link."""
    if not is_below(place, folder):
        raise UsageError(
            f"{place.as_posix()} is outside the folder of the project's file",
            where=option,
            fix=f"name a folder below it, or give {option} on the command line",
        )


@contextmanager
def located_in_file(pointer: str) -> Iterator[None]:
    """Replaces the option that an error names by the key of the target at `pointer` that sets it."""
    try:
        yield
    except UsageError as error:
        if error.where is not None and error.where.startswith("--"):
            error.where = f"{pointer}/{error.where[2:].replace('install', 'install-to')}"
        raise


def _refuse_shared_folder(name: str, place: str, folders: Mapping[str, str], file: Path) -> None:
    """Refuses a folder that is another target's, or that lies in it or around it."""
    for other, owner in folders.items():
        if place == other or place.startswith(other + os.sep) or other.startswith(place + os.sep):
            raise UsageError(
                f"the targets {owner} and {name} write to the same folder",
                where=file.as_posix(),
                fix="give each an out: of its own",
            )
