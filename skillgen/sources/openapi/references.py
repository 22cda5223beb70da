"""References of a description: followed within one document, and to the other documents that it names.

A description in several files is read as one document: each other document is put below the key `x-files`, and every
reference becomes a JSON pointer from the root (OpenAPI 3.1, "Relative References in URIs"; JSON Schema 2020-12, 8.2).
Swagger 2.0 is converted to OpenAPI 3 (`source.py`). A `PointerMap` maps pointers into the result back to the files
that the author wrote: users see only the latter.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

from msgspec import Struct, field
from msgspec.structs import replace

from skillgen.errors import Problem, ProblemLog, SourceError
from skillgen.model.credentials import origin_of
from skillgen.model.values import Json, child, follow, last_token
from skillgen.security.secrets import decoded_path, public_url, resolve_url
from skillgen.sources.documents import Document, document_from_response, is_url, load_document, note_other_input
from skillgen.sources.http import FetchOptions, fetch
from skillgen.sources.json_access import REF_CHAIN_LIMIT, SOURCE_LIMIT_BYTES, as_dict
from skillgen.sources.json_schema.loader import RefIndex, rewrite_references

FILES_KEY = "x-files"
"""Member of a bundled description that holds the other documents."""

_BUNDLED_REFERENCE = re.compile(r"#(/x-files/[^'\"\s]+)")

_FILES_LIMIT = 10_000
"""Maximum number of other files that are read for one description."""

_FETCHES_LIMIT = 100
"""Maximum number of documents that are fetched for one description."""


_INLINED_LIMIT = 100_000
"""Maximum number of members and items that are copied to where OpenAPI has no reference."""

_INLINED_DEPTH_LIMIT = 20
"""Maximum number of such copies within one another."""


class Resolver:
    """Follows references to objects other than schemas in one document (OpenAPI 3.1, "Reference Object")."""

    def __init__(self, document: Json, problems: ProblemLog) -> None:
        self.document = as_dict(document)
        """The description."""
        self.problems = problems
        """Where its readers report problems."""
        self.unread: set[str] = set()
        """The references that could not be followed."""
        self.reads_ref_siblings = not str(as_dict(document).get("openapi", "2.0")).startswith(("2", "3.0"))
        """Whether a summary or a description next to a `$ref` applies: versions before 3.1 ignore them."""

    def resolve(self, raw: Json, pointer: str) -> tuple[dict[str, Json] | None, str]:
        """Follows a chain of `$ref`s to an object; returns it with its pointer, or reports why there is no object.

        A summary or description next to a `$ref` replaces that of the target.
        """
        seen: list[str] = []
        siblings: dict[str, Json] = {}
        while isinstance(raw, dict) and isinstance(reference := raw.get("$ref"), str):
            obstacle = _obstacle(reference, seen)
            target = follow(self.document, reference[1:]) if obstacle is None else None
            if target is None:
                code = "reference-not-found" if obstacle is None else "reference-not-followed"
                message = f"the $ref {reference[:200]!r} {obstacle or 'points to nothing'}; left out"
                self.problems.report(code, pointer, message)
                self.unread.add([*seen, reference][0])
                return None, pointer
            seen.append(reference)
            for key in ("summary", "description"):
                if len(raw) > 1 and self.reads_ref_siblings and isinstance(raw.get(key), str):
                    siblings.setdefault(key, raw[key])
            raw, pointer = target, reference[1:]
        if not isinstance(raw, dict):
            self.problems.report("object-expected", pointer, "expected an object here; left out")
            return None, pointer
        return {**raw, **siblings} if siblings else raw, pointer

    def resolve_or_empty(self, raw: Json) -> dict[str, Json]:
        """Follows a chain of `$ref`s to an object; returns an empty one on failure, and reports nothing."""
        return as_dict(Resolver(self.document, ProblemLog()).resolve(raw, "")[0])


def _obstacle(reference: str, seen: Sequence[str]) -> str | None:
    """Returns why a reference in a chain is not followed; `None` if it is."""
    if len(seen) == REF_CHAIN_LIMIT:
        return f"is the end of a chain of {REF_CHAIN_LIMIT}"
    if reference in seen:
        return "is part of a cycle"
    return None if reference.startswith("#") else "is outside this document"


class PointerMap:
    """Maps pointers of the document that is read to pointers of the source; one in another file is `FILE#/POINTER`."""

    def __init__(self) -> None:
        self._passes: list[dict[str, str]] = []

    def __bool__(self) -> bool:
        return any(self._passes)

    def start_pass(self) -> None:
        """Starts a pass over the document that the last pass produced; later records point into that document."""
        self._passes.append({})

    def record(self, read: str, source: str) -> None:
        """Records that the value read at one pointer, with all below it, comes from another."""
        self._passes[-1][read] = source

    def problem_to_source(self, problem: Problem) -> Problem:
        """Returns a problem with pointers into the source."""
        message = _BUNDLED_REFERENCE.sub(lambda match: self.source_of(match[1]), problem.message)
        return replace(problem, where=self.source_of(problem.where), message=message)

    def source_of(self, pointer: str) -> str:
        """Returns the pointer into the source."""
        for sources in reversed(self._passes):
            pointer = _map_pointer(pointer, sources)
        return pointer


def _map_pointer(pointer: str, sources: dict[str, str]) -> str:
    """Replaces the longest prefix of a pointer that was recorded."""
    prefix, rest = pointer, ""
    while prefix:
        if (source := sources.get(prefix)) is not None:
            return source + rest
        prefix, slash, token = prefix.rpartition("/")
        rest = slash + token + rest
    return pointer


class ReferencePolicy(Struct, frozen=True, kw_only=True):
    """Which other documents a description may name."""

    outside: bool = False
    """Whether files outside the folder of the description are read."""

    remote: bool = False
    """Whether URLs are fetched."""

    internal: bool = False
    """Whether operations and parameters are read that the description marks as internal."""

    access: FetchOptions = field(default_factory=FetchOptions)


_Location: TypeAlias = str | Path
"""The URL or the file of a document."""


class _Source(Struct, frozen=True):
    """A document that was read."""

    data: Json
    location: _Location | None
    """`None` for a description on standard input."""

    url: str
    """The base of its relative URLs: the URL that it declares for itself (`$self`), or its location; else empty."""

    pointer: str
    """Its pointer in the bundle."""

    index: RefIndex | None
    """Its identifiers; `None` if its references cannot use any."""


class _NotRead(SourceError):
    """A document is not read."""

    advice = ""


class Bundler:
    """Puts every document that a description names inside it; documents that cannot be read are reported."""

    def __init__(
        self,
        document: Document,
        policy: ReferencePolicy,
        pointer_map: PointerMap,
        problems: ProblemLog,
        has_names: bool,
    ) -> None:
        """`has_names` is true if a reference may use `$id`, `$anchor` or `$self`, as from OpenAPI 3.1 on."""
        self._document = document
        self._has_names = has_names
        self._policy = policy
        self._pointer_map = pointer_map
        pointer_map.start_pass()
        self._problems = problems
        self._root = document.folder.resolve() if document.folder is not None else None
        self._sources: dict[str, _Source | None] = {}
        self._queue: list[_Source] = []
        self._file_count = self._fetch_count = 0
        self._size_bytes = self._inlined_count = 0
        self._origins: set[str] = set()

    def bundle(self) -> dict[str, Json]:
        """Returns the description with the other documents."""
        location: _Location | None = self._document.url
        if location is None and self._root is not None:
            location = self._root / Path(self._document.name).name
        root = self._source(self._document.data, location, "")
        self._sources |= {str(key): root for key in (location, root.url) if key}
        data: dict[str, Json] = self._with_bundle_references(root)
        files: dict[str, Json] = {}
        while self._queue:
            source = self._queue.pop()
            files[source.pointer.split("/")[2]] = {last_token(source.pointer): self._with_bundle_references(source)}
        return {**data, FILES_KEY: dict(sorted(files.items(), key=lambda item: int(item[0])))} if files else data

    def _source(self, data: Json, location: _Location | None, pointer: str) -> _Source:
        declared = data.get("$self") if self._has_names and isinstance(data, dict) else None
        url = location if isinstance(location, str) else ""
        if isinstance(declared, str):  # the base of relative URLs (OpenAPI 3.2)
            url = resolve_url(url, declared)[0]
        return _Source(data, location, url, pointer, RefIndex(data, url) if self._has_names else None)

    def _with_bundle_references(self, source: _Source, value: Json = None, pointer: str = "") -> Json:
        """Returns a document, or the value at a pointer in it, with references as pointers from the bundle's root; one
        whose target is not read stays."""

        def bundled(reference: str, holder: str) -> str:
            target = self._target(reference, source, holder)
            return f"#{target[0].pointer}{target[1]}" if target is not None else reference

        return rewrite_references(
            source.data if value is None else value,
            bundled,
            has_names=self._has_names,
            pointer=pointer,
            inlined=lambda reference, holder, is_map: self._inlined(reference, source, holder, is_map),
        )

    def _target(self, reference: str, source: _Source, holder: str) -> tuple[_Source, str] | None:
        """Returns the document that a reference points into, with the pointer; `None` if it is not read.

        `holder` is the pointer of the object with the reference in its document.
        """
        pointer = source.index.pointer(reference, holder) if source.index is not None else None
        if pointer is not None:
            return source, pointer
        url, _, fragment = reference.partition("#")
        target = self._source_at(self._locate(url, source)) if url else source
        if target is None or (not url and fragment and not fragment.startswith("/")):
            return None  # reported where it is followed
        if target.index is not None and fragment and not fragment.startswith("/"):
            return target, target.index.pointer(f"#{fragment}") or f"/{fragment}"
        return target, fragment

    def _inlined(self, reference: str, source: _Source, holder: str, is_map: bool) -> Json:
        """Returns what replaces a `$ref` for which OpenAPI has no place, but tools that bundle descriptions do.

        A string or a list is copied. An object of named items, `info` or `components` becomes an object of references.
        """
        is_map = is_map or (not source.pointer and holder in ("/info", "/components"))
        place, seen = source, holder
        for _ in range(REF_CHAIN_LIMIT):
            target = self._target(reference, place, seen)
            value = follow(target[0].data, target[1]) if target is not None else None
            place, seen = target or (place, seen)
            if not (isinstance(value, dict) and isinstance(value.get("$ref"), str)):
                break
            reference = value["$ref"]
        if value is None or isinstance(value, bool) or (isinstance(value, dict) and not is_map):
            return None
        size = len(value) if isinstance(value, (dict, list)) else 1
        origin = f"{place.pointer}{seen}"
        is_nested = origin in self._origins or len(self._origins) == _INLINED_DEPTH_LIMIT
        if is_nested or self._inlined_count + size > _INLINED_LIMIT:
            return None
        self._inlined_count += size
        self._pointer_map.record(f"{source.pointer}{holder}", self._pointer_map.source_of(origin))
        self._origins.add(origin)
        try:
            if not isinstance(value, dict):
                return self._with_bundle_references(place, value, seen)
            members: dict[str, Json] = {}
            for key, item in value.items():
                pointer = child(seen, key)
                new = self._inlined(f"#{pointer}", place, child(holder, key), holder == "/components")
                # A reference would name the type like the property.
                if new is None and last_token(holder) == "properties":
                    new = self._with_bundle_references(place, item, pointer)
                members[key] = {"$ref": f"#{place.pointer}{pointer}"} if new is None else new
            return members
        finally:
            self._origins.remove(origin)

    def _source_at(self, location: _Location) -> _Source | None:
        """Returns the document at a location, read the first time; reports one that is not read."""
        key = str(location)
        if key not in self._sources:
            self._sources[key] = None
            name = self._display_name(location)
            try:
                raw = self._load(location, name)
            except SourceError as error:
                note_other_input()  # the document may exist at the next run
                message = f"the description refers to this document, but it {error.what}"
                self._problems.report("document-not-read", name, message, error.fix or None)
            else:
                stem = decoded_path(key.replace("\\", "/")).rpartition("/")[2].partition(".")[0]
                self._file_count += 1
                pointer = child("", FILES_KEY, str(self._file_count), stem or "root")
                self._pointer_map.record(pointer, f"{name}#")
                source = self._sources[key] = self._source(raw, location, pointer)
                self._queue.append(source)
        return self._sources[key]

    def _locate(self, url: str, source: _Source) -> _Location:
        base = source.location
        if is_url(url):
            return self._local_copy(url, source) or url
        if isinstance(base, str):
            return resolve_url(source.url, url)[0]
        path = Path(unquote(url))
        return Path(os.path.normpath(base.parent / path if base is not None else path))

    def _local_copy(self, url: str, source: _Source) -> Path | None:
        """Maps a URL to a local file, relative to the `$self` of the file that names it."""
        base, origin = source.location, origin_of(source.url)
        if not isinstance(base, Path) or origin is None or origin != origin_of(url):
            return None
        relative = posixpath.relpath(decoded_path(url) or "/", posixpath.dirname(decoded_path(source.url)) or "/")
        path = Path(os.path.normpath(base.parent / relative))
        return path if path in (base, self._root) or _is_file(path) else None

    def _display_name(self, location: _Location) -> str:
        """Returns the name for messages: the URL, or the path from the folder of the description."""
        if isinstance(location, str):
            return public_url(location)
        if self._root is None:
            return location.as_posix()
        try:
            return location.resolve().relative_to(self._root).as_posix()
        except (OSError, ValueError, RuntimeError):
            return "/".join(location.parts[-2:])

    def _load(self, location: _Location, name: str) -> Json:
        if self._file_count >= _FILES_LIMIT:
            raise _NotRead(f"is one too many: {_FILES_LIMIT:,} others were read")
        problems = ProblemLog()
        document = self._fetch(location, problems) if isinstance(location, str) else self._load_file(location, problems)
        for problem in problems:
            self._problems.add(replace(problem, where=f"{name}: {problem.where}"))
        self._size_bytes += document.size_bytes
        if self._size_bytes > SOURCE_LIMIT_BYTES:
            raise _NotRead(f"exceeds {SOURCE_LIMIT_BYTES // 2**20} MiB with the others")
        return document.data

    def _fetch(self, url: str, problems: ProblemLog) -> Document:
        if not self._policy.remote:
            raise _NotRead("is at a URL, so it is not fetched", fix="if you trust it, set `allow-remote-refs`")
        if not is_url(url) or origin_of(url) is None:
            raise _NotRead("has a URL that cannot be fetched")
        if self._fetch_count >= _FETCHES_LIMIT:
            raise _NotRead(f"is one too many: {_FETCHES_LIMIT} others were fetched")
        self._fetch_count += 1
        access, description_url = self._policy.access, self._document.url
        is_same_origin = description_url is not None and origin_of(url) == origin_of(description_url)
        # The user named the description's server, and their headers are for it.
        response = fetch(url, access if is_same_origin else access.without_headers(), is_named=is_same_origin)
        return document_from_response(response, problems, access)

    def _load_file(self, path: Path, problems: ProblemLog) -> Document:
        if self._root is None:
            raise _NotRead("is a file, and standard input has no folder", fix="give the description as a file")
        try:
            resolved = path.resolve()
        except (OSError, ValueError, RuntimeError):
            raise _NotRead("has an invalid path") from None
        if not self._policy.outside and not resolved.is_relative_to(self._root):
            fix = "set the option `allow-outside-refs` if you trust the description"
            raise _NotRead("is outside the folder of the description", fix=fix)
        if not _is_file(resolved):
            # Unlike `Path.exists`, this is false for a path that the system refuses.
            is_there = os.path.exists(resolved)  # noqa: PTH110
            raise _NotRead("is not a regular file" if is_there else "does not exist")
        if resolved != path:
            note_other_input()  # a symbolic link may point elsewhere at the next run
        return load_document(str(resolved), problems)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # such as a name that is too long
        return False
