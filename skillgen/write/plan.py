"""Compares documents with what stands in OUT, and decides what would happen to each file.

Nothing is changed here. A file that was edited, or that skillgen did not make, is never replaced or deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from skillgen.errors import OutputError
from skillgen.write.record import Record, digest_of, read_record

Action = Literal["create", "replace", "delete", "keep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What would happen to one file."""

    path: str
    """Relative to OUT, with forward slashes."""

    action: Action
    """`keep` where the file is as it should be."""

    old: bytes | None
    """What stands there."""

    new: bytes | None
    """What would stand there."""

    edited: bool = False
    """Whether what stands there is not what skillgen wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What would happen to an OUT."""

    out: Path
    """The folder."""

    changes: tuple[Change, ...]
    """A change for each document and each file that is stale, sorted by path."""

    before: Record
    """What skillgen wrote last."""

    after: Record
    """What it will have written."""

    @property
    def drift(self) -> tuple[Change, ...]:
        """Files that are not as they should be; those that skillgen may not delete are not among them."""
        return tuple(
            change
            for change in self.changes
            if change.action in ("create", "replace") or (change.action == "delete" and not change.edited)
        )

    @property
    def conflicts(self) -> tuple[Change, ...]:
        """Files that would have to be replaced, but hold edits or are not skillgen's."""
        return tuple(change for change in self.changes if change.edited and change.action == "replace")

    @property
    def abandoned(self) -> tuple[Change, ...]:
        """Stale files that were edited: they stay, and skillgen forgets them."""
        return tuple(change for change in self.changes if change.edited and change.action == "delete")


def plan_documents(
    out: Path,
    documents: Mapping[str, str],
    *,
    service: str,
    tools: int,
) -> Plan:
    """Compares documents (path to text) with OUT.

    Raises:
        OutputError: something in OUT cannot be read, or a path leads outside it.
    """
    before = read_record(out)
    changes = [_change(out, path, text.encode("utf-8"), before) for path, text in documents.items()]
    changes += [_stale(out, path, before) for path in before.digests if path not in documents]
    digests: dict[str, tuple[str, ...]] = {path: (digest_of(text.encode("utf-8")),) for path, text in documents.items()}
    return Plan(
        out=out,
        changes=tuple(sorted(changes, key=lambda change: change.path)),
        before=before,
        after=Record(service=service, tools=tools, digests=digests),
    )


def _change(out: Path, path: str, new: bytes, before: Record) -> Change:
    old = _content(out, path)
    if old is None:
        return Change(path=path, action="create", old=None, new=new)
    if old == new:
        return Change(path=path, action="keep", old=old, new=new)
    return Change(path=path, action="replace", old=old, new=new, edited=not before.is_own(path, old))


def _stale(out: Path, path: str, before: Record) -> Change:
    old = _content(out, path)
    if old is None:
        return Change(path=path, action="keep", old=None, new=None)
    return Change(path=path, action="delete", old=old, new=None, edited=not before.is_own(path, old))


def _content(out: Path, path: str) -> bytes | None:
    target = inside(out, path)
    try:
        if target.exists() and not target.is_file():
            raise OutputError("is not a file", where=str(target), fix="move it, or choose another --out")
        return target.read_bytes()
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise OutputError(
            "a file stands where a folder belongs", where=str(target.parent), fix="move it, or choose another --out"
        ) from None
    except OSError as error:
        raise OutputError(f"cannot be read: {error.strerror}", where=str(target)) from None


def inside(out: Path, path: str) -> Path:
    """Gives the place of a document, which is below OUT also where symbolic links lead.

    Raises:
        OutputError: it is not.
    """
    target = out.joinpath(*path.split("/"))
    try:
        is_inside = target.parent.resolve().is_relative_to(out.resolve()) and not target.is_symlink()
    except (OSError, RuntimeError):  # symbolic links in a circle
        is_inside = False
    if not is_inside:
        raise OutputError("leads outside OUT", where=str(target), fix="remove the symbolic link")
    return target
