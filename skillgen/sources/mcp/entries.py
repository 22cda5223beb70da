"""Reads what `dashdash`, seed 004 and annotations add to an entry of a list or to the result of a handshake.

A `dashdash` object may be in several places of a result or an entry (seed 000, 3.1 and 3.2), and servers spell the
fields of seed 004 in snake case or in camel case: the functions here know the places and the spellings.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator

from skillgen.model.auth import RateLimit
from skillgen.model.calls import ErrorCase
from skillgen.model.values import Json, Value
from skillgen.sources.json_access import as_dict, text_of
from skillgen.sources.mcp.fields import FieldReader, SourcedValue, value_of
from skillgen.text import lazy_re as re
from skillgen.text.summary import TRIGGER

SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"
"""Where a server identifies itself since revision 2026-07-28: in the `_meta` of a result."""

Read = Callable[[FieldReader, str], SourcedValue | None]
"""A method of `FieldReader` that reads one member, such as `FieldReader.string`."""

_OLDEST_VERSION = (0, 2, 0)

_REQUIRED = {
    ("specVersion",): "dashdash-spec-version-missing",
    ("identity", "name"): "dashdash-identity-name-missing",
    ("identity", "description"): "dashdash-identity-description-missing",
    ("accessLevel",): "dashdash-access-level-missing",
    ("alternativeAccess", "cliUrl"): "dashdash-cli-url-missing",
    ("alternativeAccess", "apiUrl"): "dashdash-api-url-missing",
    ("alternativeAccess", "webUrl"): "dashdash-web-url-missing",
}
_CATALOGUES = ("errors", "error_catalogue", "error_catalog")
_MAY_BE_NULL = frozenset({"cliUrl", "apiUrl", "webUrl"})
_NAME = re.compile(r"[a-z0-9-]{1,64}\Z")
_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+].*)?\Z")
_CODE = re.compile(r"[A-Z][A-Z0-9_]*\Z|-?\d{3,6}\Z")


def dashdashes_in_result(result: FieldReader) -> Iterator[FieldReader]:
    """Yields the `dashdash` objects in the result of a handshake, the one that counts first."""
    capabilities = result.object("capabilities")
    yield from _dashdashes(result)
    yield from _dashdashes(result.object("_meta"), may_have_prefix=True)
    if isinstance(capabilities.raw.get("extensions"), dict):  # a list in seed 004's reference server
        yield from _dashdashes(capabilities.object("extensions"), may_have_prefix=True)
    yield from _dashdashes(capabilities.object("experimental"), may_have_prefix=True)
    yield from _dashdashes(capabilities)
    yield from _dashdashes(result.object("serverInfo"))
    yield from _dashdashes(result.object("_meta").object(SERVER_INFO_KEY))


def dashdashes_in_entry(entry: FieldReader) -> Iterator[FieldReader]:
    """Yields the `dashdash` objects of a tool, a resource or a prompt, the one that counts first."""
    yield from _dashdashes(entry)
    yield from _dashdashes(entry.object("_meta"), may_have_prefix=True)
    yield from _dashdashes(entry.object("annotations", "annotations"), may_have_prefix=True)


def first_dashdash(dashdashes: Iterable[FieldReader], owner: FieldReader) -> FieldReader:
    """Returns the `dashdash` object that counts; an empty one otherwise."""
    return next(iter(dashdashes), None) or FieldReader({}, owner.pointer, "dashdash", owner.problems)


def _dashdashes(owner: FieldReader, *, may_have_prefix: bool = False) -> Iterator[FieldReader]:
    for key, value in owner.raw.items():
        if key == "dashdash" or (may_have_prefix and key.endswith("/dashdash")):
            dashdash = owner.object(key, "dashdash")
            if isinstance(value, dict):
                yield dashdash


def check_dashdash(dashdash: FieldReader) -> None:
    """Reports missing and invalid fields among those that seed 000, 3.1.2, requires of a server."""
    for path, code in _REQUIRED.items():
        owner = as_dict(dashdash.raw.get(path[0])) if len(path) == 2 else dashdash.raw
        if _is_missing(owner, path[-1]):
            field = ".".join(path)
            dashdash.problems.report(code, dashdash.pointer, f"dashdash has no {field}", f"declare {field}")
    version = value_of(dashdash.string("specVersion"))
    match = _VERSION.match(version) if version is not None else None
    if version is not None and match is None:
        message = f"{version[:40]!r} is not a version like 0.2.0"
        dashdash.report("dashdash-spec-version-invalid", "specVersion", message)
    elif match is not None and tuple(map(int, match.groups())) < _OLDEST_VERSION:
        message = f"{version[:40]} is older than 0.2.0; it is read as 0.2.0"
        dashdash.report("dashdash-spec-version-old", "specVersion", message)
    identity = dashdash.object("identity")
    if (name := text_of(identity.raw, "name")) is not None and not _NAME.match(name):
        message = f"{name[:80]!r} is not 1 to 64 lower-case letters, digits and hyphens"
        identity.report("dashdash-identity-name-invalid", "name", message)
    description = text_of(identity.raw, "description")
    if description is not None and not TRIGGER.search(description):
        message = "the description does not say when to use the server"
        identity.report("dashdash-description-without-trigger", "description", message)


def _is_missing(owner: dict[str, Json], key: str) -> bool:
    value = owner.get(key)
    if value is None:
        return not (key in owner and key in _MAY_BE_NULL)
    return isinstance(value, str) and not value.strip()


class ToolEntry:
    """An entry of `tools/list` with its `dashdash` objects and its annotations.

    The second stage of a progressive server (seed 003) counts before the entry, a service manifest (seed 004) after it.
    """

    __slots__ = ("_locations", "annotations", "dashdash", "dashdashes", "described", "fields", "sources")

    def __init__(
        self, fields: FieldReader, *, described: FieldReader | None = None, manifest: FieldReader | None = None
    ) -> None:
        self.fields = fields
        self.described = described
        self.sources = [source for source in (described, fields, manifest) if source is not None]
        self.annotations = [source.object("annotations", "annotations") for source in self.sources]
        locations = (location for source in self.sources for location in (source, source.object("_meta")))
        self._locations = [location for location in (*locations, *self.annotations) if location.raw]
        self.dashdashes = [dashdash for source in self.sources for dashdash in dashdashes_in_entry(source)]
        self.dashdash = first_dashdash(self.dashdashes, fields)

    def field(self, name: str, read: Read) -> list[SourcedValue]:
        """Returns the values of a field of seed 004.

        Some servers put these fields at the top level, some into `_meta` or under `annotations`.
        """
        return [value for location in self._locations for value in in_either_case(location, name, read)]

    def object(self, name: str) -> FieldReader | None:
        """Returns the first object that is not empty in such a field."""
        objects = (location.object(name) for location in self._locations if location.raw.get(name) is not None)
        return next((reader for reader in objects if reader.raw), None)

    def errors(self) -> tuple[ErrorCase, ...]:
        """Returns the errors of `dashdash` and those of the fields of seed 004."""
        return (*error_cases(self.dashdash, "errors"), *catalogue_errors(self._locations))

    def unread(self) -> dict[str, Json]:
        """Returns the unread members of the entry; under `described`, those of the second stage."""
        return unread_members(self.fields, described=self.described, dashdash=self.dashdash)


def unread_members(fields: FieldReader, **others: FieldReader | None) -> dict[str, Json]:
    """Returns the unread members of an object, and under the names of `others` those of other objects."""
    unread = {key: reader.unread() for key, reader in others.items() if reader is not None}
    return {**fields.unread(), **{key: members for key, members in unread.items() if members}}


def in_either_case(owner: FieldReader, name: str, read: Read) -> list[SourcedValue]:
    """Returns the values of a member in camel case, as the protocol spells them, and in snake case, as `name` is."""
    values = [read(owner, key) for key in _spellings(name) if key in owner.raw]
    return [value for value in values if value is not None]


@functools.cache
def _spellings(name: str) -> tuple[str, ...]:
    first, *rest = name.split("_")
    return tuple(dict.fromkeys((first + "".join(word.capitalize() for word in rest), name)))


def counted_limit(owner: FieldReader) -> RateLimit | None:
    """Reads the calls allowed per minute and day (seed 004, 1). What is left of them stays among the extras."""
    key = next((key for key in _spellings("rate_limits") if isinstance(owner.raw.get(key), dict)), None)
    if key is None:
        return None
    limits = owner.object(key)
    limit = RateLimit(
        requests_per_minute=value_of(*in_either_case(limits, "requests_per_minute", FieldReader.integer)),
        requests_per_day=value_of(*in_either_case(limits, "requests_per_day", FieldReader.integer)),
    )
    return limit if limit != RateLimit() else None


def error_cases(owner: FieldReader, key: str) -> Iterator[ErrorCase]:
    """Reads a list of errors, or an object that maps error codes to errors or to their descriptions.

    These are the forms of `dashdash` (seed 000, 3.2.2), of seed 004 (11), and of servers that follow neither.
    """
    raw = owner.raw.get(key)
    if isinstance(raw, dict):
        errors = owner.object(key)
        for code, value in raw.items():
            if isinstance(value, dict):
                yield _error_case(code, errors.object(code))
            elif isinstance(value, str):
                errors.ignore(code)
                yield ErrorCase(code=code, description=value)
    elif isinstance(raw, list) and raw and all(isinstance(item, str) for item in raw):
        owner.ignore(key)
        for index, message in enumerate(raw):
            if message.strip():
                yield ErrorCase(code="", description=message)
                message = "the error has no code; shown without one"
                owner.report("error-invalid", key, message, index=index)
    else:
        for item in owner.objects(key):
            code = value_of(item.json("code"))
            has_code = isinstance(code, (str, int)) and not isinstance(code, bool)
            case = _error_case(str(code) if has_code else "", item)
            is_shown = has_code or case.description or case.resolution
            if is_shown:
                yield case
            if not has_code:
                outcome = "shown without one" if is_shown else "left out"
                message = f"the error has no code; {outcome}"
                item.problems.report("error-invalid", item.pointer, message)


def catalogue_errors(owners: Iterable[FieldReader]) -> tuple[ErrorCase, ...]:
    """Returns the errors of the first object that has a list or an object of them (seed 004, 11)."""
    for owner in owners:
        for key in (spelling for name in _CATALOGUES for spelling in _spellings(name)):
            if isinstance(owner.raw.get(key), (list, dict)):
                return tuple(error_cases(owner, key))
    return ()


def is_catalogue(raw: Json) -> bool:
    """True if a value maps error codes to errors, or lists errors with codes."""
    if isinstance(raw, dict):
        return bool(raw) and all(_CODE.match(str(key)) for key in raw)
    return isinstance(raw, list) and bool(raw) and all(isinstance(item, dict) and "code" in item for item in raw)


def _error_case(code: str, item: FieldReader) -> ErrorCase:
    return ErrorCase(
        code=code,
        description=value_of(item.string("description") or item.string("message")),
        resolution=value_of(item.string("resolution") or item.string("suggestion")),
        category=value_of(item.string("category")),
        retry_after_s=value_of(*in_either_case(item, "retry_after_seconds", FieldReader.number)),
        user_actionable=value_of(*in_either_case(item, "user_actionable", FieldReader.boolean)),
        documentation=value_of(*in_either_case(item, "documentation_url", FieldReader.string)),
        details=Value(details.value) if (details := item.json("details")) is not None else None,
    )
