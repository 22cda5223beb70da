"""Decides whether a target is up to date: its files are those that its last run read, its documents those it left.

What a run read and wrote is remembered in the user's cache folder. The project's own record would not do: it could be
forged, it would change with line ends, and branches would conflict in it. `--check` never asks here, but renders.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from skillgen import __version__
from skillgen.errors import SkillgenError
from skillgen.pipeline.targets.choosing import NamedTarget
from skillgen.sources.bounds import SOURCE_LIMIT_BYTES
from skillgen.sources.cache import read_cached, write_cached
from skillgen.sources.document import FilesRead, digest_of_file
from skillgen.write.record import RECORD_NAME, read_record

_KIND = "built"


def folders_up_to_date(named: NamedTarget) -> dict[Path, bool]:
    """Returns the folders of a target as `remember` took them if nothing is to do for it; else nothing."""
    if named.options.check or named.options.force:
        return {}
    with suppress(OSError, ValueError, LookupError, TypeError, SkillgenError):
        last = json.loads(read_cached(_KIND, _key(named)) or b"null")
        if (
            last["options"] == _options_digest(named)
            and _are_unchanged(last["files"])
            and all(_folder_digest(Path(folder)) == digest for folder, _, digest in last["folders"])
        ):
            return {Path(folder): is_service for folder, is_service, _ in last["folders"]}
    return {}


def remember(named: NamedTarget, files: FilesRead, folders: Mapping[Path, bool]) -> None:
    """Remembers a run of a target that succeeded, if its source is nothing but files.

    `folders` are those that it wrote, and whether each holds the documents of a service.
    """
    source = named.target.source
    is_in_files = source.openapi or source.snapshot or source.manifest
    if not is_in_files or not files.is_complete or "${" in repr(named.target):
        return
    with suppress(OSError, SkillgenError):
        last = {
            "options": _options_digest(named),
            "files": files.digests,
            "folders": [(str(folder), is_service, _folder_digest(folder)) for folder, is_service in folders.items()],
        }
        write_cached(_KIND, _key(named), json.dumps(last).encode("utf-8", "surrogatepass"))


def _key(named: NamedTarget) -> str:
    return f"{named.file.absolute()}#{named.name}"


def _options_digest(named: NamedTarget) -> str:
    options = named.options
    templates = _templates_digests(options.templates) if options.templates is not None else {}
    data = (__version__, asdict(named.target), asdict(options), templates)
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode("utf-8", "replace")).hexdigest()


def _are_unchanged(files: Mapping[str, str]) -> bool:
    return all(_digest(Path(path)) == digest for path, digest in files.items())


def _folder_digest(folder: Path) -> str:
    """Returns the digest of a folder's record and of every file that it names."""
    record = read_record(folder)
    paths = [folder.joinpath(*path.split("/")) for path in (RECORD_NAME, *sorted(record.states))]
    return hashlib.sha256("".join(map(_digest, paths)).encode()).hexdigest()


def _templates_digests(folder: Path) -> dict[str, str]:
    """Returns the digest of every file in a folder of templates: also a new one may be the first to be read.

    Raises:
        OSError: a symbolic link is among them, behind which files may change.
    """
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            raise OSError("a symbolic link")
        if path.is_file():
            found[path.relative_to(folder).as_posix()] = _digest(path)
    return found


def _digest(path: Path) -> str:
    """Returns the digest of a file.

    Raises:
        OSError: it is not a file (a pipe would be waited for, and a device read without end), or too large.
    """
    if not path.is_file() or path.stat().st_size > SOURCE_LIMIT_BYTES:
        raise OSError("no file that is read")
    return digest_of_file(path.read_bytes())
