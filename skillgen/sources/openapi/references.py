"""References of a description: followed within one document, and to the other documents that it names.

A description in several files is read as one document: each other document is put below the key `x-files`, and every
reference becomes a JSON pointer from the root (OpenAPI 3.1, "Relative References in URIs"; JSON Schema 2020-12, 8.2).
Swagger 2.0 is converted to OpenAPI 3 (`swagger.py`). A `PointerMap` maps pointers into the result back to the files
that the author wrote: users see only the latter.
"""

from __future__ import annotations

import dataclasses
import os
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from skillgen.errors import Problem, ProblemLog, SourceError
from skillgen.model.service import Service
from skillgen.model.values import Json, Origin, child, follow
from skillgen.security.addresses import decoded_path, origin_of, public_url, resolve_url
from skillgen.sources.documents import Document, document_from_response, is_url, load_document, note_other_input
from skillgen.sources.http import FetchOptions, fetch
from skillgen.sources.json_access import REF_CHAIN_LIMIT, SOURCE_LIMIT_BYTES, as_dict

FILES_KEY = "x-files"
"""Member of a bundled description that holds the other documents."""

_BUNDLED_REFERENCE = re.compile(r"#(/x-files/[^'\"\s]+)")

_FILES_LIMIT = 2_000
"""Maximum number of other files that are read for one description."""

_FETCHES_LIMIT = 100
"""Maximum number of documents that are fetched for one description."""

_DEPTH_LIMIT = 900
"""Nesting down to which references are rewritten; loaded documents are cut at fewer levels (`NESTING_LIMIT`)."""

_REFERENCE_KEYWORDS = ("$ref", "$dynamicRef", "$recursiveRef")

_VALUE_KEYWORDS = frozenset({"example", "examples", "default", "enum", "const", "value", "dataValue"})
"""Members that hold values, which may look like schemas but are not."""

_NAME_CONTAINERS = frozenset({
    "properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "schemas", "parameters", "responses",
    "requestBodies", "headers", "pathItems", "mediaTypes", "callbacks", "links", "paths", "webhooks", "content",
})  # fmt: skip
"""Members whose keys are chosen by the author, so that `example` or `default` may be a name."""


class Resolver:
    """Follows references to objects other than schemas in one document (OpenAPI 3.1, "Reference Object")."""

    def __init__(self, document: Json, problems: ProblemLog) -> None:
        self._document = document
        self._problems = problems
        version = str(as_dict(document).get("openapi", "2.0"))
        self.reads_ref_siblings = not version.startswith(("2", "3.0"))
        """Whether a summary or a description next to a `$ref` applies: versions before 3.1 ignore them."""

    def resolve(self, raw: Json, pointer: str) -> tuple[dict[str, Json] | None, str]:
        """Follows a chain of `$ref`s to an object; returns it with its pointer, or reports why there is no object.

        A summary or description next to a `$ref` replaces that of the target.
        """
        seen: set[str] = set()
        siblings: dict[str, Json] = {}
        while isinstance(raw, dict) and isinstance(reference := raw.get("$ref"), str):
            reason = None
            if len(seen) == REF_CHAIN_LIMIT:
                reason = f"is the end of a chain of {REF_CHAIN_LIMIT}"
            elif reference in seen:
                reason = "is part of a cycle"
            elif not reference.startswith("#"):
                reason = "is outside this document"
            if reason is not None:
                self._problems.report(
                    "reference-not-followed", pointer, f"the $ref {reference[:200]!r} {reason}; left out"
                )
                return None, pointer
            seen.add(reference)
            for key in ("summary", "description"):
                if len(raw) > 1 and self.reads_ref_siblings and isinstance(raw.get(key), str):
                    siblings.setdefault(key, raw[key])
            try:
                raw, pointer = follow(self._document, reference[1:]), reference[1:]
            except LookupError:
                self._problems.report(
                    "reference-not-found", pointer, f"the $ref {reference[:200]!r} points to nothing; left out"
                )
                return None, pointer
        if not isinstance(raw, dict):
            self._problems.report("object-expected", pointer, "expected an object here; left out")
            return None, pointer
        return {**raw, **siblings} if siblings else raw, pointer

    def resolve_or_empty(self, raw: Json) -> dict[str, Json]:
        """Follows a chain of `$ref`s to an object; returns an empty one on failure, and reports nothing."""
        return as_dict(Resolver(self._document, ProblemLog()).resolve(raw, "")[0])


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

    def to_source(self, service: Service) -> Service:
        """Returns the service with pointers into the source."""
        mapped: Service = self._node(service)
        return mapped

    def problem_to_source(self, problem: Problem) -> Problem:
        """Returns a problem with pointers into the source."""
        message = _BUNDLED_REFERENCE.sub(lambda match: self._pointer(match[1]), problem.message)
        return dataclasses.replace(problem, where=self._pointer(problem.where), message=message)

    def _pointer(self, pointer: str) -> str:
        for sources in reversed(self._passes):
            pointer = _map_pointer(pointer, sources)
        return pointer

    def _node(self, node: Any) -> Any:
        changes: dict[str, Any] = {}
        for item in dataclasses.fields(node):
            value = getattr(node, item.name)
            if item.name == "pointer":
                pointer = self._pointer(value)
                if pointer != value:
                    changes["pointer"] = pointer
            elif item.name == "origins":
                if value:
                    changes["origins"] = {name: self._origin(origin) for name, origin in value.items()}
            elif isinstance(value, tuple):
                if value and dataclasses.is_dataclass(value[0]) and item.name != "problems":
                    changes[item.name] = tuple(self._node(item) for item in value)
            elif dataclasses.is_dataclass(value):
                changes[item.name] = self._node(value)
        return dataclasses.replace(node, **changes) if changes else node

    def _origin(self, origin: Origin) -> Origin:
        if origin.kind == "declared" and origin.source.startswith("/"):
            return Origin(origin.kind, self._pointer(origin.source))
        return origin


def _map_pointer(pointer: str, sources: dict[str, str]) -> str:
    """Replaces the longest prefix of a pointer that was recorded."""
    prefix, rest = pointer, ""
    while prefix:
        if (source := sources.get(prefix)) is not None:
            return source + rest
        prefix, slash, token = prefix.rpartition("/")
        rest = slash + token + rest
    return pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencePolicy:
    """Which other documents a description may name."""

    outside: bool = False
    """Whether files outside the folder of the description are read."""

    remote: bool = False
    """Whether URLs are fetched."""

    access: FetchOptions = field(default_factory=FetchOptions)
    """How URLs are fetched."""


def bundle(
    document: Document, policy: ReferencePolicy, pointer_map: PointerMap, problems: ProblemLog, *, has_names: bool
) -> dict[str, Json]:
    """Returns a description with every document that it names inside; documents that cannot be read are reported.

    `has_names` is true if a reference may use `$id`, `$anchor` or `$self`, as from OpenAPI 3.1 on.
    """
    return _Bundler(document, policy, pointer_map, problems, has_names).bundle()


@dataclass(frozen=True, slots=True)
class _Location:
    """The file or the URL of a document."""

    path: Path | None
    url: str | None
    self_url: str | None = None
    """The URL that a file declares for itself (`$self`)."""

    @property
    def key(self) -> str:
        return self.url if self.url is not None else str(self.path)


class _NotRead(Exception):
    """A document is not read; holds the reason and the fix."""

    def __init__(self, reason: str, fix: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fix = fix


class _Bundler:
    """The documents of one description."""

    def __init__(
        self,
        document: Document,
        policy: ReferencePolicy,
        pointer_map: PointerMap,
        problems: ProblemLog,
        has_names: bool,
    ) -> None:
        self._document = document
        self._has_names = has_names
        self._identifiers: dict[str, _Identifiers] = {}
        self._policy = policy
        self._pointer_map = pointer_map
        pointer_map.start_pass()
        self._problems = problems
        self._root = document.folder.resolve() if document.folder is not None else None
        self._files: dict[str, Json] = {}
        self._pointers: dict[str, str | None] = {}
        self._queue: list[tuple[Json, str, _Location]] = []
        self._fetch_count = 0
        self._size_bytes = 0

    def bundle(self) -> dict[str, Json]:
        path = None
        if self._document.folder is not None and self._root is not None:
            path = self._root / Path(self._document.name).name
        base = self._with_self(_Location(path, self._document.url), self._document.data)
        if path is not None or base.url is not None:
            self._pointers[base.key] = ""
        data = self._rewrite(self._with_pointer_references(self._document.data, base), base, 0)
        while self._queue:
            raw, pointer, location = self._queue.pop()
            number, stem = pointer.split("/")[2:]
            self._files[number] = {stem.replace("~1", "/").replace("~0", "~"): self._rewrite(raw, location, 0)}
        return {**data, FILES_KEY: self._files} if self._files else data

    def _with_self(self, location: _Location, raw: Json) -> _Location:
        """Returns the location with the base of relative URLs that the document declares by `$self` (OpenAPI 3.2)."""
        declared = raw.get("$self") if self._has_names and isinstance(raw, dict) else None
        if not isinstance(declared, str):
            return location
        if location.url is None:
            return replace(location, self_url=declared)
        return replace(location, url=resolve_url(location.url, declared)[0])

    def _with_pointer_references(self, raw: Json, location: _Location) -> Json:
        if not self._has_names:
            return raw
        identifiers = self._identifiers[location.key] = _Identifiers(raw, location.url or "")
        return identifiers.with_pointers()

    def _rewrite(self, raw: Json, base: _Location, depth: int) -> Json:
        """Returns a value with references to other documents replaced by references inside the bundle."""
        if depth > _DEPTH_LIMIT:
            return raw
        if isinstance(raw, list):
            items = [self._rewrite(item, base, depth + 1) for item in raw]
            return raw if all(new is old for new, old in zip(items, raw, strict=True)) else items
        if not isinstance(raw, dict):
            return raw
        changed: dict[str, Json] = {}
        for key, value in raw.items():
            if key == "$ref" and isinstance(value, str):
                if (reference := self._bundle_reference(value, base)) is not None and reference != value:
                    changed[key] = reference
            elif isinstance(value, (dict, list)):
                new = self._rewrite(value, base, depth + 1)
                if new is not value:
                    changed[key] = new
        if "mapping" in raw and isinstance(raw.get("propertyName"), str) and isinstance(raw["mapping"], dict):
            changed["mapping"] = {name: self._mapping_target(target, base) for name, target in raw["mapping"].items()}
        return {**raw, **changed} if changed else raw

    def _mapping_target(self, target: Json, base: _Location) -> Json:
        """Rewrites the target of a discriminator's mapping, unless it is the name of a schema."""
        if not isinstance(target, str) or not ("/" in target or "#" in target or target.endswith((".json", ".yaml"))):
            return target
        return self._bundle_reference(target, base) or target

    def _bundle_reference(self, reference: str, base: _Location) -> str | None:
        """Returns the reference inside the bundle; `None` if the other document is not read."""
        url, _, fragment = reference.partition("#")
        if not url:
            pointer = self._pointers.get(base.key, "") or ""
        else:
            location = self._locate(url, base)
            document_pointer = self._pointer_of_document(location)
            if document_pointer is None:
                return None
            pointer = document_pointer
            if fragment and not fragment.startswith("/"):
                identifiers = self._identifiers.get(location.key)
                fragment = (identifiers and identifiers.pointer_of_anchor(fragment)) or f"/{fragment}"
        return f"#{pointer}{fragment}"

    def _pointer_of_document(self, location: _Location) -> str | None:
        """Returns the pointer of a document in the bundle; reads the document the first time."""
        if location.key not in self._pointers:
            self._pointers[location.key] = None
            name = self._display_name(location)
            try:
                raw = self._load(location, name)
            except _NotRead as error:
                note_other_input()  # the document may exist at the next run
                message = f"the description refers to this document, but {error.reason}"
                self._problems.report("document-not-read", name, message, error.fix)
            else:
                stem = decoded_path(location.key.replace("\\", "/")).rpartition("/")[2].partition(".")[0]
                number = str(len(self._files) + 1)
                pointer = child("", FILES_KEY, number, stem or "root")
                self._files[number] = None
                self._pointers[location.key] = pointer
                self._pointer_map.record(pointer, f"{name}#")
                raw = self._with_pointer_references(raw, location)
                self._queue.append((raw, pointer, self._with_self(location, raw)))
        return self._pointers[location.key]

    def _locate(self, url: str, base: _Location) -> _Location:
        if is_url(url):
            return self._local_copy(url, base) or _Location(None, url)
        if base.url is not None:
            return _Location(None, resolve_url(base.url, url)[0])
        path = Path(unquote(url))
        if base.path is not None:
            path = base.path.parent / path
        return _Location(Path(os.path.normpath(path)), None)

    def _local_copy(self, url: str, base: _Location) -> _Location | None:
        """Maps a URL to a local file, relative to the `$self` of the document that names it."""
        if base.self_url is None or base.path is None or (origin := origin_of(base.self_url)) is None:
            return None
        if origin != origin_of(url):
            return None
        relative = posixpath.relpath(decoded_path(url) or "/", posixpath.dirname(decoded_path(base.self_url)) or "/")
        path = Path(os.path.normpath(base.path.parent / relative))
        return _Location(path, None) if path in (base.path, self._root) or _is_file(path) else None

    def _display_name(self, location: _Location) -> str:
        """Returns the name for messages: the URL, or the path from the folder of the description."""
        if location.url is not None:
            return public_url(location.url)
        path = location.path or Path()
        if self._root is None:
            return path.as_posix()
        try:
            return path.resolve().relative_to(self._root).as_posix()
        except (OSError, ValueError, RuntimeError):
            return "/".join(path.parts[-2:])

    def _load(self, location: _Location, name: str) -> Json:
        if len(self._files) >= _FILES_LIMIT:
            raise _NotRead(f"{_FILES_LIMIT:,} other documents were read already")
        problems = ProblemLog()
        try:
            if location.url is not None:
                document = self._fetch(location.url, problems)
            else:
                document = self._load_file(location.path, problems)
        except SourceError as error:
            raise _NotRead(f"it {error.what}", error.fix) from None
        for problem in problems:
            self._problems.add(replace(problem, where=f"{name}: {problem.where}"))
        self._size_bytes += document.size_bytes
        if self._size_bytes > SOURCE_LIMIT_BYTES:
            raise _NotRead(f"the other documents exceed {SOURCE_LIMIT_BYTES // 2**20} MiB with it")
        return document.data

    def _fetch(self, url: str, problems: ProblemLog) -> Document:
        if not self._policy.remote:
            raise _NotRead("URLs are not fetched", "give --allow-remote-refs if you trust them")
        if not is_url(url) or origin_of(url) is None:
            raise _NotRead("its URL cannot be fetched")
        if self._fetch_count >= _FETCHES_LIMIT:
            raise _NotRead(f"{_FETCHES_LIMIT} documents were fetched already")
        self._fetch_count += 1
        access, description_url = self._policy.access, self._document.url
        is_same_origin = description_url is not None and origin_of(url) == origin_of(description_url)
        # The user named the description's server, and their headers are for it.
        response = fetch(url, access if is_same_origin else access.without_headers(), is_named=is_same_origin)
        return document_from_response(response, problems, access)

    def _load_file(self, path: Path | None, problems: ProblemLog) -> Document:
        if path is None or self._root is None:
            raise _NotRead("a description on standard input has no folder", "give the description as a file")
        try:
            resolved = path.resolve()
        except (OSError, ValueError, RuntimeError):
            raise _NotRead("its path is invalid") from None
        if not self._policy.outside and not resolved.is_relative_to(self._root):
            raise _NotRead(
                "it is outside the folder of the description", "give --allow-outside-refs if you trust the description"
            )
        if not _is_file(resolved):
            raise _NotRead("it is not a regular file" if _exists(resolved) else "there is no such file")
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


class _Identifiers:
    """The identifiers of one document: `$id`, `$anchor`, `$dynamicAnchor` (JSON Schema 2020-12, 8.2), `$self`."""

    def __init__(self, root: Json, base: str = "") -> None:
        """`base` is the URL of the document, empty if it is not known."""
        self._root = root
        self._base = base
        declared = root.get("$self") if isinstance(root, dict) else None
        if isinstance(declared, str):
            self._base = resolve_url(base, declared)[0]
        self._pointers: dict[str, str] = {self._base: ""} if self._base else {}
        self._pointers |= {base: ""} if base else {}
        self._index(root, "", self._base, False, 0)

    def pointer_of_anchor(self, name: str) -> str | None:
        """Returns the pointer of an `$anchor` of the document itself."""
        return self._pointers.get(f"{self._base}#{unquote(name)}")

    def with_pointers(self) -> Json:
        """Returns the document with every reference inside it as a pointer from the root.

        A nested `$id` is removed, since it would change the meaning of these pointers.
        """
        return self._with_pointers(self._root, self._base, "", False, 0)

    def _index(self, value: Json, pointer: str, base: str, is_name_container: bool, depth: int) -> None:
        if depth > _DEPTH_LIMIT:
            return
        if isinstance(value, dict) and not is_name_container:
            base = self._index_object(value, pointer, base)
        for key, item in _schema_members(value, is_name_container):
            holds_names = isinstance(value, dict) and not is_name_container and key in _NAME_CONTAINERS
            self._index(item, child(pointer, key), base, holds_names, depth + 1)

    def _index_object(self, value: dict[str, Json], pointer: str, base: str) -> str:
        """Records the identifiers of an object, and returns the base URI of the references in it."""
        identifier = value.get("$id")
        if isinstance(identifier, str) and identifier.startswith("#"):  # an anchor in draft-07
            self._pointers.setdefault(base + identifier, pointer)
        elif isinstance(identifier, str):
            base = resolve_url(base, identifier)[0]
            self._pointers.setdefault(base, pointer)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(anchor := value.get(keyword), str):
                self._pointers.setdefault(f"{base}#{anchor}", pointer)
        return base

    def _with_pointers(
        self, value: Json, base: str, start: str, is_name_container: bool, depth: int, pointer: str = ""
    ) -> Json:
        """Returns a value with its references as pointers; `start` is the pointer to which `#` refers in it."""
        if depth > _DEPTH_LIMIT:
            return value
        changed: dict[str | int, Json] = {}
        is_schema = isinstance(value, dict) and not is_name_container
        identifier = value.get("$id") if is_schema and isinstance(value, dict) else None
        if isinstance(identifier, str) and not identifier.startswith("#"):
            base, start = resolve_url(base, identifier)[0], pointer
        for key, item in _schema_members(value, is_name_container):
            holds_names = is_schema and key in _NAME_CONTAINERS
            new = self._with_pointers(item, base, start, holds_names, depth + 1, child(pointer, key))
            if new is not item:
                changed[key] = new
        if isinstance(value, list):
            return [changed.get(index, item) for index, item in enumerate(value)] if changed else value
        if not isinstance(value, dict):
            return value
        if is_schema:
            changed |= self._references(value, base, start)
        rewritten = {**value, **changed} if changed else value
        if identifier is not None and pointer and isinstance(identifier, str):
            rewritten = {key: item for key, item in rewritten.items() if key != "$id"}
        return rewritten

    def _references(self, value: dict[str, Json], base: str, start: str) -> Iterator[tuple[str, Json]]:
        for keyword in _REFERENCE_KEYWORDS:
            reference = value.get(keyword)
            if isinstance(reference, str) and (pointer := self._pointer(reference, base, start)) is not None:
                yield keyword, f"#{pointer}"
        mapping = value.get("mapping")
        if isinstance(mapping, dict) and isinstance(value.get("propertyName"), str):
            changed = {
                name: f"#{pointer}"
                for name, target in mapping.items()
                if isinstance(target, str) and "#" in target and (pointer := self._pointer(target, base, start))
            }
            if changed:
                yield "mapping", {**mapping, **changed}

    def _pointer(self, reference: str, base: str, start: str) -> str | None:
        """Returns the pointer from the root to the target of a reference; `None` if the reference stays unchanged."""
        if reference == "#" or reference.startswith("#/"):
            pointer = start + reference[1:]
            return pointer if start and self._exists_at(pointer) else None
        uri, fragment = resolve_url(base, reference)
        if fragment and not fragment.startswith("/"):
            return self._pointers.get(f"{uri}#{unquote(fragment)}")
        root = self._pointers.get(uri)
        return root + fragment if root is not None and self._exists_at(root + fragment) else None

    def _exists_at(self, pointer: str) -> bool:
        try:
            follow(self._root, pointer)
        except LookupError:
            return False
        return True


def _schema_members(value: Json, is_name_container: bool) -> Iterator[tuple[str | int, Json]]:
    """Yields the members that may hold schemas."""
    if isinstance(value, list):
        yield from enumerate(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, (dict, list)) and (is_name_container or key not in _VALUE_KEYWORDS):
                yield key, item
