"""Finds and removes the documents of targets, servers and names that no longer exist."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from msgspec.structs import replace

from skillgen.errors import ExitCode, Problem, SkillgenError
from skillgen.pipeline.results import Failure, Outcome, Place, Result
from skillgen.write.record import RECORD_NAME, Record, read_record


def remove_leftovers(
    result: Result,
    folders: Collection[Path],
    owners: Iterable[Path],
    installed: Iterable[Path],
    *,
    prune: bool,
    check: bool,
) -> Result:
    """Reports the folders with documents of something that no longer exists; with `prune`, removes what skillgen wrote
    there, except what a person edited, and with `check` too, only plans that.

    Nothing is done after a run that failed. Searches `folders` and their subfolders for documents of the `owners` that
    the run did not write, and the `installed` folders for copies of skills that the documents no longer have.
    """
    if result.exit_code not in (ExitCode.DONE, ExitCode.DRIFT):
        return Result()
    problems = dict(_leftovers(result.documents, folders, owners, installed))
    if not prune:
        return Result(notices=tuple(problems.values()))
    return Result(steps=tuple(_removed(folder, check=check) for folder in problems))


def _leftovers(
    written: Mapping[Path, Collection[str]],
    folders: Collection[Path],
    owners: Iterable[Path],
    installed: Iterable[Path],
) -> Iterator[tuple[Path, Problem]]:
    owned, gone, queue = {owner.resolve() for owner in owners}, set[Path](), list(dict.fromkeys(folders))
    for parent in queue:
        for folder, owner in _owned_folders(parent, written):
            if owner in owned and folder.resolve() not in gone:
                gone.add(folder.resolve())
                owned.add(folder.resolve())
                queue.append(folder)
                yield (
                    folder,
                    _problem("documents-left", folder, "the target or server of these documents no longer exists"),
                )
    tops = [path.resolve() for path in folders]
    for parent in dict.fromkeys(installed):
        for folder, owner in _owned_folders(parent, written):
            is_copied = owner not in gone and f"skills/{folder.name}/SKILL.md" in _documents_in(owner, written)
            if not is_copied and any(owner.is_relative_to(top) for top in tops):
                what = "the documents that this installed skill is a copy of no longer exist, or were renamed"
                yield folder, _problem("installed-skill-left", folder, what)


def _problem(code: str, folder: Path, message: str) -> Problem:
    fix = "run again with the option `prune` to remove them, or delete the folder"
    return Problem.of(code=code, where=folder.as_posix(), message=message, fix=fix)


def _owned_folders(parent: Path, written: Mapping[Path, Collection[str]]) -> Iterator[tuple[Path, Path]]:
    """Yields a folder and its subfolders that this run did not write with an owner in their record, and that owner."""
    for path in (parent / RECORD_NAME, *sorted(parent.glob(f"*/{RECORD_NAME}"))):
        folder = path.parent
        with suppress(SkillgenError, OSError):
            if folder.is_symlink() or folder.resolve() in written:
                continue
            record = read_record(folder)
            if record.owner is not None and any(map(any, record.states.values())):  # not only a person's notes
                yield folder, (folder / record.owner).resolve()


def _documents_in(folder: Path, written: Mapping[Path, Collection[str]]) -> Collection[str]:
    with suppress(SkillgenError):
        return written[folder] if folder in written else read_record(folder).states
    return ()


def is_copy_of_others(folder: Path, record: Record, main: Place) -> bool:
    """True if an installed skill is a copy of documents other than those of `main`, and they still have it."""
    other = (folder / (record.owner or "")).resolve()
    if other == main.out.resolve():
        return False
    with suppress(SkillgenError):
        owning = read_record(other)
        owners = [owner.resolve() for owner in (main.owner, main.out) if owner is not None]
        is_left = owning.owner is not None and (other / owning.owner).resolve() in owners
        is_left = is_left and other not in {sibling.resolve() for sibling in main.siblings}
        return f"skills/{folder.name}/SKILL.md" in owning.states and not is_left
    return False


def _removed(folder: Path, *, check: bool) -> Outcome | Failure:
    from skillgen.write.files import lock_folder
    from skillgen.write.plan import apply_plan, plan_documents

    try:
        with ExitStack() as stack:
            held = None if check else stack.enter_context(lock_folder(folder))
            plan = plan_documents(folder, {}, replace(read_record(folder), tools={}, types={}, offers={}))
            if held is not None:
                apply_plan(plan, held)
                if not plan.after.states:
                    held.delete(RECORD_NAME)
    except SkillgenError as error:
        return Failure(error=error)
    if not check:
        with suppress(OSError):  # not empty: a person's file is in it
            folder.rmdir()
    return Outcome(kind="removed", plan=plan, is_check=check, problems=plan.problems)
