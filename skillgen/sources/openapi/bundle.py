"""Reads a description in several files as one document (OpenAPI 3.1, "Relative References in URIs").

Each other document that a `$ref` names is put below the key `x-files`, and the reference made one inside the document,
so that a reader of one document is enough. `Moves` leads back: a pointer into another file is `FILE#/POINTER`.
"""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.pointer import child
from skillgen.model.value import Json
from skillgen.sources.addresses import decoded_path, joined, origin_of, public_url
from skillgen.sources.bounds import SOURCE_LIMIT_BYTES
from skillgen.sources.document import Document, fetched_document, is_url, load_document, note_other_input
from skillgen.sources.fetch import Access, fetch
from skillgen.sources.openapi.identifiers import Identifiers
from skillgen.sources.openapi.moves import Moves

KEY = "x-files"

FILES_LIMIT = 2_000
"""Other files that are read for one description."""

REMOTE_LIMIT = 100
"""Documents that are fetched for one description."""

DEPTH_LIMIT = 900
"""Levels of a document that are looked into for references."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencePolicy:
    """Which other documents a description may name."""

    outside: bool = False
    """Whether files outside the folder of the description are read."""

    remote: bool = False
    """Whether addresses are fetched."""

    access: Access = field(default_factory=Access)
    """How they are asked for."""


def bundled(
    document: Document, policy: ReferencePolicy, moves: Moves, problems: ProblemLog, *, has_names: bool = True
) -> dict[str, Json]:
    """Gives a description with every document that it names inside; what cannot be read is reported.

    `has_names` tells whether a reference may be one by `$id`, `$anchor` or `$self`, as from 3.1 on.
    """
    return _Bundler(document, policy, moves, problems, has_names).bundled()


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where a document came from: a file or an address."""

    path: Path | None
    url: str | None
    own: str | None = None
    """The address that a file says it has (`$self`)."""

    @property
    def key(self) -> str:
        return self.url if self.url is not None else str(self.path)


class _Refused(Exception):
    """A document that is not read, with the reason and what can be done."""

    def __init__(self, reason: str, fix: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fix = fix


class _Bundler:
    """The documents of one description."""

    def __init__(
        self, document: Document, policy: ReferencePolicy, moves: Moves, problems: ProblemLog, has_names: bool
    ) -> None:
        self._document = document
        self._has_names = has_names
        self._identifiers: dict[str, Identifiers] = {}
        self._policy = policy
        self._moves = moves
        moves.begin()
        self._problems = problems
        self._root = document.folder.resolve() if document.folder is not None else None
        self._files: dict[str, Json] = {}
        self._pointers: dict[str, str | None] = {}
        self._waiting: list[tuple[Json, str, _Origin]] = []
        self._fetched = 0
        self._size_bytes = 0

    def bundled(self) -> dict[str, Json]:
        path = None
        if self._document.folder is not None and self._root is not None:
            path = self._root / Path(self._document.name).name
        base = self._origin_with_own(_Origin(path, self._document.url), self._document.data)
        if path is not None or base.url is not None:
            self._pointers[base.key] = ""
        data = self._rewritten(self._with_plain_references(self._document.data, base), base, 0)
        while self._waiting:
            raw, pointer, origin = self._waiting.pop()
            number, stem = pointer.split("/")[2:]
            self._files[number] = {stem.replace("~1", "/").replace("~0", "~"): self._rewritten(raw, origin, 0)}
        return {**data, KEY: self._files} if self._files else data

    def _origin_with_own(self, origin: _Origin, raw: Json) -> _Origin:
        """Gives the base of relative addresses: 3.2 lets a document say it in `$self`."""
        own = raw.get("$self") if self._has_names and isinstance(raw, dict) else None
        if not isinstance(own, str):
            return origin
        return replace(origin, own=own) if origin.url is None else replace(origin, url=joined(origin.url, own)[0])

    def _with_plain_references(self, raw: Json, origin: _Origin) -> Json:
        if not self._has_names:
            return raw
        identifiers = self._identifiers[origin.key] = Identifiers(raw, origin.url or "")
        return identifiers.plain()

    def _rewritten(self, raw: Json, base: _Origin, depth: int) -> Json:
        """Gives a value whose references to other documents are references inside this one."""
        if depth > DEPTH_LIMIT:
            return raw
        if isinstance(raw, list):
            items = [self._rewritten(item, base, depth + 1) for item in raw]
            return raw if all(new is old for new, old in zip(items, raw, strict=True)) else items
        if not isinstance(raw, dict):
            return raw
        changed: dict[str, Json] = {}
        for key, value in raw.items():
            if key == "$ref" and isinstance(value, str):
                if (local := self._local(value, base)) is not None and local != value:
                    changed[key] = local
            elif isinstance(value, (dict, list)):
                new = self._rewritten(value, base, depth + 1)
                if new is not value:
                    changed[key] = new
        if "mapping" in raw and isinstance(raw.get("propertyName"), str) and isinstance(raw["mapping"], dict):
            changed["mapping"] = {name: self._mapped(target, base) for name, target in raw["mapping"].items()}
        return {**raw, **changed} if changed else raw

    def _mapped(self, target: Json, base: _Origin) -> Json:
        """Rewrites what a discriminator's value stands for: the name of a schema, or a reference."""
        if not isinstance(target, str) or not ("/" in target or "#" in target or target.endswith((".json", ".yaml"))):
            return target
        return self._local(target, base) or target

    def _local(self, reference: str, base: _Origin) -> str | None:
        """Gives the reference inside the bundle; `None` where the other document is not read."""
        address, _, fragment = reference.partition("#")
        if not address:
            pointer = self._pointers.get(base.key, "") or ""
        else:
            found = self._pointer_of(address, base)
            if found is None:
                return None
            pointer = found
            if fragment and not fragment.startswith("/"):
                held = self._identifiers.get(self._origin_of(address, base).key)
                fragment = (held.pointer_of_anchor(fragment) if held is not None else None) or f"/{fragment}"
        return f"#{pointer}{fragment}"

    def _pointer_of(self, address: str, base: _Origin) -> str | None:
        origin = self._origin_of(address, base)
        if origin.key not in self._pointers:
            self._pointers[origin.key] = None
            name = self._name(origin)
            try:
                raw = self._loaded(origin, name)
            except _Refused as refused:
                note_other_input()  # the document may be there at the next run
                self._problems.warning(
                    "document-not-read", name, f"it is referred to, and {refused.reason}", refused.fix
                )
            else:
                stem = decoded_path(origin.key.replace("\\", "/")).rpartition("/")[2].partition(".")[0]
                pointer = child("", KEY, str(len(self._files) + 1), stem or "root")
                self._files[str(len(self._files) + 1)] = None
                self._pointers[origin.key] = pointer
                self._moves.move(pointer, f"{name}#")
                raw = self._with_plain_references(raw, origin)
                self._waiting.append((raw, pointer, self._origin_with_own(origin, raw)))
        return self._pointers[origin.key]

    def _origin_of(self, address: str, base: _Origin) -> _Origin:
        if is_url(address):
            return self._beside(address, base) or _Origin(None, address)
        if base.url is not None:
            return _Origin(None, joined(base.url, address)[0])
        path = Path(unquote(address))
        if base.path is not None:
            path = base.path.parent / path
        return _Origin(Path(os.path.normpath(path)), None)

    def _beside(self, address: str, base: _Origin) -> _Origin | None:
        """Gives the file that stands to a file as an address stands to the one that the file says it has."""
        if base.own is None or base.path is None or (place := origin_of(base.own)) is None:
            return None
        if place != origin_of(address):
            return None
        relative = posixpath.relpath(decoded_path(address) or "/", posixpath.dirname(decoded_path(base.own)) or "/")
        path = Path(os.path.normpath(base.path.parent / relative))
        return _Origin(path, None) if path in (base.path, self._root) or _is_file(path) else None

    def _name(self, origin: _Origin) -> str:
        """Gives the name for messages: the address, or the path from the description's folder."""
        if origin.url is not None:
            return public_url(origin.url)
        path = origin.path or Path()
        if self._root is None:
            return path.as_posix()
        parts = list(path.parts)
        try:
            resolved = path.resolve()
            return resolved.relative_to(self._root).as_posix()
        except (OSError, ValueError, RuntimeError):
            return "/".join(parts[-2:])

    def _loaded(self, origin: _Origin, name: str) -> Json:
        if len(self._files) >= FILES_LIMIT:
            raise _Refused(f"{FILES_LIMIT:,} other documents were read already")
        problems = ProblemLog()
        try:
            if origin.url is not None:
                found = self._fetched_document(origin.url, problems)
            else:
                found = self._file(origin.path, problems)
        except SourceError as error:
            raise _Refused(f"it {error.what}", error.fix) from None
        for problem in problems:
            self._problems.add(replace(problem, where=f"{name}: {problem.where}"))
        self._size_bytes += found.size_bytes
        if self._size_bytes > SOURCE_LIMIT_BYTES:
            raise _Refused(f"with it the other documents are over {SOURCE_LIMIT_BYTES // 2**20} MiB")
        return found.data

    def _fetched_document(self, url: str, problems: ProblemLog) -> Document:
        if not self._policy.remote:
            raise _Refused("addresses are not fetched", "give --allow-remote-refs if you trust them")
        if not is_url(url) or origin_of(url) is None:
            raise _Refused("it is no address that can be fetched")
        if self._fetched >= REMOTE_LIMIT:
            raise _Refused(f"{REMOTE_LIMIT} documents were fetched already")
        self._fetched += 1
        access, own = self._policy.access, self._document.url
        is_own = own is not None and origin_of(url) == origin_of(own)
        # The user named the description's server, and their headers are for it.
        fetched = fetch(url, access if is_own else access.without_headers(), is_named=is_own)
        return fetched_document(fetched, problems, access)

    def _file(self, path: Path | None, problems: ProblemLog) -> Document:
        if path is None or self._root is None:
            raise _Refused("a description on standard input has no folder", "give the description as a file")
        try:
            resolved = path.resolve()
        except (OSError, ValueError, RuntimeError):
            raise _Refused("it is no file") from None
        if not self._policy.outside and not resolved.is_relative_to(self._root):
            raise _Refused(
                "it is outside the folder of the description", "give --allow-outside-refs if you trust the description"
            )
        if not _is_file(resolved):
            raise _Refused("it is not a regular file" if _exists(resolved) else "there is no such file")
        if resolved != path:
            note_other_input()  # a symbolic link may point elsewhere at the next run
        return load_document(str(resolved), problems)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # such as a name that is too long
        return False


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False
