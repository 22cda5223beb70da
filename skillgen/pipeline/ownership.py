"""Which source a folder of documents belongs to, and the refusal to write those of another service to it.

A record names the target, and the source in words that are the same for every user: the kind of the service, then the
URL, the words of the command without private paths, or the file. What does not identify a source alone, such as
standard input, has the declared name of the service with it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from skillgen.errors import UsageError
from skillgen.security.addresses import public_url
from skillgen.security.secrets import Secrets, secrets_from_arguments
from skillgen.sources.documents import RUNTIMES, Document
from skillgen.write.record import RECORD_NAME, Record, read_record

if TYPE_CHECKING:
    from skillgen.model.service import Service
    from skillgen.pipeline.generate import Place

SITE = "services"
"""The service, and the only word of the source, in the record of documents above those of several services."""

_HERE = "./"
"""The beginning of a path from the current folder."""

_PYTHON = re.compile(r"python[\d.]*(?:\.exe)?")
_VERSION = re.compile(r"(?<=.)(?:@|==)[^@=/]*\Z")


def words_of_document(document: Document, service: Service) -> tuple[str, ...]:
    """Returns the source of a service that a document describes."""
    if document.url is not None:
        words = [public_url(document.url)]
        is_exact = "?" not in document.url
    else:
        is_exact = document.folder is not None
        words = [_file_word(Path(document.name))] if is_exact else []
    return (service.kind, *words, *([] if is_exact else [service.name]))


def words_of_url(url: str, service: Service) -> tuple[str, ...]:
    """Returns the source of a service at a URL."""
    return (service.kind, public_url(url), *([service.name] if "?" in url else []))


def words_of_command(
    command: Sequence[str], service: Service, folder: Path | None = None, secrets: Secrets | None = None
) -> tuple[str, ...]:
    """Returns the source of a service that a command in `folder` yields: no paths but of programs, no versions."""
    from skillgen.sources.mcp.client_config import is_portable_argument

    program, *arguments = command
    name = "python" if _PYTHON.fullmatch(Path(program).name) else program
    words = [_file_word(Path(folder or "", name)) if Path(name).name != name else name]
    secrets = (secrets or Secrets()) | secrets_from_arguments(arguments)
    for word in arguments:
        if Path(word).suffix in RUNTIMES and "://" not in word:
            words.append(_file_word(Path(folder or "", word)))
        elif word not in ("-y", "--yes") and secrets.hide(word) == word and is_portable_argument(word):
            words.append(_VERSION.sub("", word))
    return (service.kind, *words)


def _file_word(path: Path) -> str:
    """Returns the path from the current folder, or only the name of a file elsewhere."""
    path = path.resolve()
    return f"{_HERE}{path.relative_to(Path.cwd()).as_posix()}" if path.is_relative_to(Path.cwd()) else path.name


def _is_same_source(before: Sequence[str], after: Sequence[str]) -> bool:
    return len(before) == len(after) and all(map(_is_same_word, before, after))


def _is_same_word(before: str, after: str) -> bool:
    """True if two words name the same; a file may have moved, unless it still exists at its old place."""
    paths = [word for word in (before, after) if word.startswith(_HERE)]
    is_moved = bool(paths) and Path(before).name == Path(after).name
    return before == after or (is_moved and not (len(paths) == 2 and Path(before).exists()))


def is_same_service(before: Record, after: Record) -> bool:
    """True if two records are of one service, which may have been renamed. Without sources, its name decides."""
    is_in_project = before.target is not None and before.owner is not None
    if is_in_project and (before.target, before.owner) == (after.target, after.owner):
        return True
    if before.source and after.source:
        return _is_same_source(before.source, after.source)
    return before.service == after.service


def refuse_other_service(before: Record, after: Record, place: Place, *, is_other: bool = False) -> None:
    """Refuses a folder that has documents of another service, or if `is_other`, of the same from another folder.

    Documents above those of several services may replace those of one of them, and the other way round.

    Raises:
        UsageError: it has some.
    """
    if (is_same_service(before, after) and not is_other) or not has_documents(before, place.out):
        return
    if (before.source or (before.service,)) == (SITE,) and any(
        is_same_service(read_record(path.parent), after) for path in place.out.glob(f"*/{RECORD_NAME}")
    ):
        return
    shown = [repr(record.service) for record in (before, after)]
    if before.service == after.service and before.source and after.source:
        shown = [f"{name} ({' '.join(record.source[1:])})" for name, record in zip(shown, (before, after), strict=True)]
    what = f"holds the documents of another service, {shown[0]}, not those of {shown[1]}; nothing was written"
    if place.target is None:
        other = "rename one of them with --name" if place.is_installed else "choose another folder with --out"
        fix = f"{other}, or replace them with --replace"
    else:
        other = "rename one of them with `name:`" if place.is_installed else "choose another folder with `out:`"
        fix = f"{other}, or replace them with `replace: true` in the target"
    raise UsageError(what, where=str(place.out), fix=fix)


def has_documents(record: Record, out: Path) -> bool:
    """True if a file of the record exists that is not only a person's notes."""
    return any(any(states) and os.path.lexists(out / path) for path, states in record.states.items())
