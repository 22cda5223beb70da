"""Finds and removes what skillgen wrote for targets, servers and names that are gone."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from skillgen.errors import Problem, SkillgenError
from skillgen.pipeline.options import OutputOptions
from skillgen.write.plan import Plan
from skillgen.write.record import RECORD_NAME, Record, read_record

Written = Mapping[Path, Collection[str]]
"""Each folder that a run wrote, resolved, and the paths of its documents."""


def left_folders(
    written: Written, places: Collection[Path], owners: Iterable[Path], installed: Iterable[Path]
) -> dict[Path, Problem]:
    """Returns each folder whose documents belong to something that is gone, and what to report of it.

    Below `places` those of the `owners` are looked for that this run did not write, and in the `installed` folders
    copies of skills that the documents of this run no longer have.
    """
    owned = {owner.resolve() for owner in owners}
    found: dict[Path, Problem] = {}
    waiting = list(dict.fromkeys(places))
    gone: set[Path] = set()
    while waiting:
        for folder, owner in _owned_folders(waiting.pop()):
            if owner in owned and folder.resolve() not in written and folder not in found:
                found[folder] = _problem("documents-left", folder, "the target or server of these documents is gone")
                gone.add(folder.resolve())
                owned.add(folder.resolve())
                waiting.append(folder)
    tops = [place.resolve() for place in places]
    for place in dict.fromkeys(installed):
        for folder, owner in _owned_folders(place):
            if folder.resolve() in written or not any(owner.is_relative_to(top) for top in tops):
                continue
            if owner in gone or f"skills/{folder.name}/SKILL.md" not in _documents(owner, written):
                message = "the documents of which this installed skill is a copy are gone, or have another name"
                found[folder] = _problem("installed-skill-left", folder, message)
    return found


def is_copy_of_others(folder: Path, record: Record, main: OutputOptions) -> bool:
    """True if an installed skill is a copy of other documents than those of `main`, which still have it."""
    other = (folder / (record.owner or "")).resolve()
    if other == main.out.resolve():
        return False
    with contextlib.suppress(SkillgenError):
        found = read_record(other)
        owners = [owner.resolve() for owner in (main.owner, main.out) if owner is not None]
        is_gone = (
            found.owner is not None
            and (other / found.owner).resolve() in owners
            and other not in {sibling.resolve() for sibling in main.siblings}
        )
        return f"skills/{folder.name}/SKILL.md" in found.states and not is_gone
    return False


def pruned(folder: Path, *, check: bool) -> Plan:
    """Removes what skillgen wrote to a folder, except what a person edited; with `check` only plans it.

    Raises:
        OutputError: the folder cannot be read or written.
    """
    from skillgen.write.apply import apply_plan
    from skillgen.write.lock import locked
    from skillgen.write.planning import plan_documents

    def planned() -> Plan:
        record = read_record(folder)
        return plan_documents(folder, {}, service=record.service or "", tools={}, owner=record.owner)

    if check:
        return planned()
    with locked(folder) as held:
        plan = planned()
        apply_plan(plan, held)
        if not plan.after.states:
            held.delete(RECORD_NAME)
    with contextlib.suppress(OSError):  # a person's file is in it
        folder.rmdir()
    return plan


def _problem(code: str, folder: Path, message: str) -> Problem:
    fix = "run again with --prune to remove them, or delete the folder"
    return Problem(code=code, level="warning", where=folder.as_posix(), message=message, fix=fix)


def _owned_folders(place: Path) -> Iterator[tuple[Path, Path]]:
    """Yields the folders in a place that belong to something, with what they belong to."""
    for path in sorted(place.glob(f"*/{RECORD_NAME}")):
        folder = path.parent
        with contextlib.suppress(SkillgenError, OSError):
            record = read_record(folder)
            if record.owner is not None and not folder.is_symlink():
                yield folder, (folder / record.owner).resolve()


def _documents(folder: Path, written: Written) -> Collection[str]:
    if folder in written:
        return written[folder]
    try:
        return read_record(folder).states
    except SkillgenError:
        return ()
