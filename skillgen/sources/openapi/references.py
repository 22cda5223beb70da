"""Bundle files, $id/$anchor, pointer map, resolve.

Makes plain pointers of references by name: `$id`, `$anchor`, `$dynamicAnchor` (JSON Schema 2020-12, 8.2), `$self`.

After it every reference inside a document is a pointer from its root, so that whoever follows one needs no bases. An
`$id` within is then gone, for it would change what those pointers mean.

Where things stand in the source, when they were read from somewhere else.

A Swagger 2.0 document is read as OpenAPI 3, and a document in several files as one, so that one reader is enough. The
pointers which that reader notes are then put right here, in the model and in the problems: everything a user sees
points into the document that they wrote.

Reads a description in several files as one document (OpenAPI 3.1, "Relative References in URIs").

Each other document that a `$ref` names is put below the key `x-files`, and the reference made one inside the document,
so that a reader of one document is enough. `Moves` leads back: a pointer into another file is `FILE#/POINTER`.

Follows the `$ref`s of an OpenAPI document to objects other than schemas (OpenAPI 3.1, "Reference Object").
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

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

_VALUES = frozenset({"example", "examples", "default", "enum", "const", "value", "dataValue"})
"""Members that hold values, which only look like schemas."""

_OF_NAMES = frozenset({
    "properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "schemas", "parameters", "responses",
    "requestBodies", "headers", "pathItems", "mediaTypes", "callbacks", "links", "paths", "webhooks", "content",
})  # fmt: skip
"""Members whose own members are called by the author, not by a specification."""


class Identifiers:
    """The places of one document that have names."""

    def __init__(self, root: Json, base: str = "") -> None:
        """Takes the document, and its address where it is known."""
        self._root = root
        self._base = base
        own = root.get("$self") if isinstance(root, dict) else None
        if isinstance(own, str):
            self._base = resolve_url(base, own)[0]
        self._places: dict[str, str] = {self._base: ""} if self._base else {}
        self._places |= {base: ""} if base else {}
        self._find(root, "", self._base, False, 0)

    def pointer_of_anchor(self, name: str) -> str | None:
        """Gives the pointer of what the document itself calls so by `$anchor`."""
        return self._places.get(f"{self._base}#{unquote(name)}")

    def plain(self) -> Json:
        """Gives the document with each reference by name, and each within a schema that has an `$id`, as a pointer."""
        return self._plain(self._root, self._base, "", False, 0)

    def _find(self, value: Json, pointer: str, base: str, is_of_names: bool, depth: int) -> None:
        if depth > DEPTH_LIMIT:
            return
        if isinstance(value, dict) and not is_of_names:
            base = self._note(value, pointer, base)
        for key, item in _inner(value, is_of_names):
            below = isinstance(value, dict) and not is_of_names and key in _OF_NAMES
            self._find(item, child(pointer, key), base, below, depth + 1)

    def _note(self, value: dict[str, Json], pointer: str, base: str) -> str:
        """Notes what an object is called, and gives the base of the references in it."""
        identifier = value.get("$id")
        if isinstance(identifier, str) and identifier.startswith("#"):  # draft-07 names places so
            self._places.setdefault(base + identifier, pointer)
        elif isinstance(identifier, str):
            base = resolve_url(base, identifier)[0]
            self._places.setdefault(base, pointer)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(anchor := value.get(keyword), str):
                self._places.setdefault(f"{base}#{anchor}", pointer)
        return base

    def _plain(self, value: Json, base: str, start: str, is_of_names: bool, depth: int, pointer: str = "") -> Json:
        """Gives a value whose references are plain; `start` is the pointer of the schema that `#` means in it."""
        if depth > DEPTH_LIMIT:
            return value
        changed: dict[str | int, Json] = {}
        is_schema = isinstance(value, dict) and not is_of_names
        identifier = value.get("$id") if is_schema and isinstance(value, dict) else None
        if isinstance(identifier, str) and not identifier.startswith("#"):
            base, start = resolve_url(base, identifier)[0], pointer
        for key, item in _inner(value, is_of_names):
            below = is_schema and key in _OF_NAMES
            new = self._plain(item, base, start, below, depth + 1, child(pointer, key))
            if new is not item:
                changed[key] = new
        if isinstance(value, list):
            return [changed.get(index, item) for index, item in enumerate(value)] if changed else value
        if not isinstance(value, dict):
            return value
        if is_schema:
            changed |= self._references(value, base, start)
        kept = {**value, **changed} if changed else value
        if identifier is not None and pointer and isinstance(identifier, str):
            kept = {key: item for key, item in kept.items() if key != "$id"}
        return kept

    def _references(self, value: dict[str, Json], base: str, start: str) -> Iterator[tuple[str, Json]]:
        for keyword in REFERENCES:
            reference = value.get(keyword)
            if isinstance(reference, str) and (found := self._pointer(reference, base, start)) is not None:
                yield keyword, f"#{found}"
        mapping = value.get("mapping")
        if isinstance(mapping, dict) and isinstance(value.get("propertyName"), str):
            found_all = {
                name: f"#{found}"
                for name, target in mapping.items()
                if isinstance(target, str) and "#" in target and (found := self._pointer(target, base, start))
            }
            if found_all:
                yield "mapping", {**mapping, **found_all}

    def _pointer(self, reference: str, base: str, start: str) -> str | None:
        """Gives the pointer from the root of what a reference means; `None` where it stays as it is."""
        if reference == "#" or reference.startswith("#/"):
            return start + reference[1:] if start and self._stands(start + reference[1:]) else None
        address, fragment = resolve_url(base, reference)
        if fragment and not fragment.startswith("/"):
            return self._places.get(f"{address}#{unquote(fragment)}")
        place = self._places.get(address)
        return place + fragment if place is not None and self._stands(place + fragment) else None

    def _stands(self, pointer: str) -> bool:
        try:
            follow(self._root, pointer)
        except LookupError:
            return False
        return True


def _inner(value: Json, is_of_names: bool) -> Iterator[tuple[str | int, Json]]:
    """Gives the members that may hold schemas."""
    if isinstance(value, list):
        yield from enumerate(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, (dict, list)) and (is_of_names or key not in _VALUES):
                yield key, item


_BUNDLED = re.compile(r"#(/x-files/[^'\"\s]+)")
"""A reference into another file, as it is once that file stands in the document."""


class Moves:
    """From the pointers of a document as it is read to those of the source."""

    def __init__(self) -> None:
        self._readings: list[dict[str, str]] = []

    def __bool__(self) -> bool:
        return any(self._readings)

    def begin(self) -> None:
        """Begins a reading of what the last one gave: what is noted from now on leads to the places of that one."""
        self._readings.append({})

    def move(self, read: str, source: str) -> None:
        """Notes that what is read at one pointer, and all below it, stands at another in the source."""
        self._readings[-1][read] = source

    def of(self, pointer: str) -> str:
        """Gives where in the source something stands."""
        for moved in reversed(self._readings):
            pointer = _moved(pointer, moved)
        return pointer

    def put_right(self, service: Service) -> Service:
        """Gives the service with pointers into the source."""
        right: Service = self._node(service)
        return right

    def problem(self, problem: Problem) -> Problem:
        """Gives a problem with a pointer into the source."""
        message = _BUNDLED.sub(lambda found: self.of(found[1]), problem.message)
        return dataclasses.replace(problem, where=self.of(problem.where), message=message)

    def _node(self, node: Any) -> Any:
        changes: dict[str, Any] = {}
        for item in dataclasses.fields(node):
            value = getattr(node, item.name)
            if item.name == "pointer":
                right = self.of(value)
                if right != value:
                    changes["pointer"] = right
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
            return Origin(origin.kind, self.of(origin.source))
        return origin


def _moved(pointer: str, moved: dict[str, str]) -> str:
    head, rest = pointer, ""
    while head:
        if (place := moved.get(head)) is not None:
            return place + rest
        head, slash, token = head.rpartition("/")
        rest = slash + token + rest
    return pointer


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

    access: FetchOptions = field(default_factory=FetchOptions)
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
        return replace(origin, own=own) if origin.url is None else replace(origin, url=resolve_url(origin.url, own)[0])

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
            return _Origin(None, resolve_url(base.url, address)[0])
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
        return document_from_response(fetched, problems, access)

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


class Resolver:
    """Follows references inside one document."""

    def __init__(self, document: Json, problems: ProblemLog) -> None:
        self._document = document
        self._problems = problems
        version = str(as_dict(document).get("openapi", "2.0"))
        self.reads_siblings_of_references = not version.startswith(("2", "3.0"))
        """Whether a summary or a description beside a `$ref` counts: before 3.1 nothing does."""

    def resolved(self, raw: Json, pointer: str) -> tuple[dict[str, Json] | None, str]:
        """Follows a chain of `$ref`s to an object; gives it and where it stands, or reports what is wrong.

        A summary or description beside a `$ref` is said in the place of the one that stands there.
        """
        seen: set[str] = set()
        own: dict[str, Json] = {}
        while isinstance(raw, dict) and isinstance(reference := raw.get("$ref"), str):
            if not reference.startswith("#") or reference in seen or len(seen) == REF_CHAIN_LIMIT:
                reason = "goes in a circle" if reference in seen else "is outside this document"
                if len(seen) == REF_CHAIN_LIMIT:
                    reason = f"is the end of {REF_CHAIN_LIMIT} in a row"
                self._problems.warning(
                    "reference-not-followed", pointer, f"the $ref {reference[:200]!r} {reason}; left out"
                )
                return None, pointer
            seen.add(reference)
            for key in ("summary", "description"):
                if len(raw) > 1 and self.reads_siblings_of_references and isinstance(raw.get(key), str):
                    own.setdefault(key, raw[key])
            try:
                raw, pointer = follow(self._document, reference[1:]), reference[1:]
            except LookupError:
                self._problems.warning(
                    "reference-not-found", pointer, f"nothing stands at the $ref {reference[:200]!r}; left out"
                )
                return None, pointer
        if not isinstance(raw, dict):
            self._problems.warning("object-expected", pointer, "expected an object here; left out")
            return None, pointer
        return {**raw, **own} if own else raw, pointer

    def quietly(self, raw: Json) -> dict[str, Json]:
        """Follows a chain of `$ref`s to an object; gives an empty one where there is none, and reports nothing."""
        return as_dict(Resolver(self._document, ProblemLog()).resolved(raw, "")[0])
