"""Compares documents with what stands in OUT, and decides what would happen to each file.

Nothing is changed here. What a person added is carried into the new text; a file in which they changed what skillgen
wrote, or that skillgen did not make, is never replaced or deleted unless they say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from skillgen.errors import EditedError, OutputError, Problem
from skillgen.write.diff import change_diff
from skillgen.write.folder import folder_at
from skillgen.write.lines import content_of, digests_of, lines_of, state_of, unpacked
from skillgen.write.notes import Homes
from skillgen.write.plan import FOREIGN, Change, Plan
from skillgen.write.record import Record, read_record
from skillgen.write.regenerate import Regenerated, added_lines, is_only_added_to, regenerated
from skillgen.write.regions import MarkerError


def plan_documents(
    out: Path,
    documents: Mapping[str, bytes],
    *,
    service: str,
    tools: Mapping[str, Any],
    types: Mapping[str, Any] | None = None,
    offers: Mapping[str, int] | None = None,
    owner: str | None = None,
    force: bool = False,
) -> Plan:
    """Compares documents (path to content) with OUT; with `force`, generated text wins over changes inside it.

    Raises:
        OutputError: something in OUT cannot be read, or a path leads outside it.
    """
    before = read_record(out)
    planning = _Planning(out=out, before=before, force=force)
    for path, content in documents.items():
        planning.document(path, content)
    for path in before.states:
        if path not in documents:
            planning.stale(path)
    planning.settle_notes(documents)
    states: dict[str, tuple[str, ...]] = {path: (state_of(content),) for path, content in documents.items()}
    states |= dict.fromkeys(planning.left_over, ("",))
    return Plan(
        out=out,
        changes=tuple(sorted(planning.changes.values(), key=lambda change: change.path)),
        before=before,
        after=Record(
            service=service,
            owner=owner,
            tools=tools,
            types=types or {},
            offers=offers or {},
            states=states,
            regions=planning.regions,
        ),
        problems=tuple(planning.problems),
    )


@dataclass(slots=True, kw_only=True)
class _Planning:
    """Decides file by file; notes whose place is gone come last, when all places are known."""

    out: Path
    before: Record
    force: bool
    changes: dict[str, Change] = field(default_factory=dict)
    merges: dict[str, Regenerated] = field(default_factory=dict)
    regions: dict[str, int] = field(default_factory=dict)
    left_over: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def document(self, path: str, new: bytes) -> None:
        """Decides on a file that skillgen would write."""
        old = content_at(self.out, path)
        if old is None:
            self.changes[path] = Change(path=path, action="create", old=None, new=new)
        elif old == new or lines_of(old) == lines_of(new):
            self.changes[path] = Change(path=path, action="keep", old=old, new=old)
        elif self.before.is_own(path, old):
            self.changes[path] = Change(path=path, action="replace", old=old, new=new)
        elif path not in self.before.states:
            self._foreign(path, old, new)
        else:
            self._edited(path, old, new)

    def stale(self, path: str) -> None:
        """Decides on a file that skillgen wrote and would write no more."""
        old = content_at(self.out, path)
        if old is None:
            return
        if self.before.states[path] == ("",):
            self.left_over.append(path)
            self.changes[path] = Change(path=path, action="keep", old=old, new=old)
            return
        if self.before.is_own(path, old):
            self.changes[path] = Change(path=path, action="delete", old=old, new=None)
            return
        made = self._best(path, old, b"")
        if made is None or (made.reason and not self.force):
            self.changes[path] = Change(path=path, action="delete", old=old, new=None, edited=True)
            self._tell(
                "stale-file-kept",
                path,
                "skillgen no longer writes this file; it was edited, so it stays",
                "delete it when its words are safe elsewhere",
            )
            return
        self.merges[path] = made
        self.changes[path] = Change(path=path, action="delete", old=old, new=None)

    def settle_notes(self, new: Mapping[str, bytes]) -> None:
        """Finds a place for each note whose section is gone, and gives the files their final text."""
        homes = Homes(new, self.merges)
        for path, made in list(self.merges.items()):
            for note in made.body.homeless:
                self.problems.append(homes.settle(path, note))
        for path, lines in homes.texts().items():
            content, change = content_of(lines), self.changes[path]
            old = change.old
            if path not in new:
                self.left_over.append(path)
            takes_notes = path in homes.receivers
            leaving = homes.leaving(path) if takes_notes else []
            between = content_of([*lines, "", *leaving]) if leaving else None
            if old is None:
                self.changes[path] = replace(change, new=content, takes_notes=takes_notes)
            elif lines_of(old) == lines and not change.edited:
                self.changes[path] = replace(change, action="keep", new=old)
            else:
                self.changes[path] = replace(
                    change, action="replace", new=content, takes_notes=takes_notes, between=between
                )

    def _foreign(self, path: str, old: bytes, new: bytes) -> None:
        """A file that the record does not have: skillgen's if it has all that skillgen would write, in order."""
        if is_only_added_to(path, state_of(new), old):
            self.changes[path] = Change(path=path, action="keep", old=old, new=old)
            return
        self.changes[path] = Change(
            path=path,
            action="replace",
            old=old,
            new=new,
            edited=not self.force,
            reason=FOREIGN,
            edit=change_diff(path, old, new),
        )

    def _edited(self, path: str, old: bytes, new: bytes) -> None:
        made = self._best(path, old, new)
        if made is None:
            self.changes[path] = Change(path=path, action="replace", old=old, new=new)  # broken markers, by force
            return
        if made.rewritten and self._is_merged(path, old, new):
            self.changes[path] = Change(path=path, action="keep", old=old, new=old)
            return
        reason = made.reason or ""
        if reason and made.regions < self.before.regions.get(path, 0):
            reason = "the markers of a region are gone; restore <!-- yours --> above it and <!-- /yours --> below it"
        self.merges[path] = made
        self.changes[path] = Change(
            path=path,
            action="replace",
            old=old,
            new=new,
            edited=bool(reason) and not self.force,
            reason=reason,
            edit=made.edit,
        )
        if made.regions:
            self.regions[path] = made.regions
        for title in made.body.outdated:
            self._tell(
                "replaced-text-changed",
                path,
                f"the generated text under {title!r} changed, and a region of yours stands in its place",
                "see whether your words still hold",
            )

    def _is_merged(self, path: str, old: bytes, new: bytes) -> bool:
        """Tells whether a file is the new text already, as a merge of branches leaves it, but for a person's lines."""
        added = added_lines(path, state_of(new), old)
        ever = {digest for state in self.before.states[path] for digest in unpacked(state)}
        return added is not None and not any(digest in ever for digest in digests_of(filter(None, added)))

    def _best(self, path: str, old: bytes, new: bytes) -> Regenerated | None:
        """Gives the file made anew from the text that it is nearest to; None for broken markers, by force.

        Raises:
            EditedError: the markers of a region are broken.
        """
        found: list[Regenerated] = []
        for state in self.before.states[path]:
            try:
                found.append(regenerated(path, state, old, new))
            except MarkerError as error:
                if self.force:
                    return None
                raise EditedError(
                    f"{path}, {error}; nothing was written",
                    where=str(self.out),
                    fix="restore the marker; or give --force, and skillgen's text replaces what was changed in it",
                    diff="",
                ) from None
        return min(found, key=lambda made: (made.reason is not None, made.edit.count("\n"), made.added))

    def _tell(self, code: str, path: str, message: str, fix: str) -> None:
        self.problems.append(Problem(code=code, level="warning", where=path, message=message, fix=fix))


def content_at(out: Path, path: str) -> bytes | None:
    """Gives what stands at a path of OUT.

    Raises:
        OutputError: it cannot be read, or lies outside OUT.
    """
    folder, _, name = path.rpartition("/")
    try:
        with folder_at(out, folder) as found:
            return None if found is None else found.read(name)
    except NotADirectoryError:
        place = out.joinpath(*path.split("/"))
        raise OutputError(
            "a file stands where a folder belongs", where=str(place.parent), fix="move it, or choose another --out"
        ) from None
    except OSError as error:
        place = out.joinpath(*path.split("/"))
        raise OutputError(f"cannot be read: {error.strerror}", where=str(place)) from None
