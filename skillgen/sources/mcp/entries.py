"""A list entry: dashdash, annotations, errors, limits.

Finds and checks `dashdash` objects (seed 000, 3.1 and 3.2); what their members mean is read elsewhere.

One entry of `tools/list`, and the places in it where something is said of the tool.

Limits that are counted: so many calls in a minute or a day (seed 004 `rate_limits`).

Reads catalogues of errors: of `dashdash` (seed 000, 3.2.2), of seed 004 (11), and as people write them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator

from skillgen.errors import ProblemLog
from skillgen.model.auth import RateLimit
from skillgen.model.calls import ErrorCase
from skillgen.model.values import Json, Value
from skillgen.sources.json_access import as_dict, text_of
from skillgen.sources.mcp.fields import FieldReader, SourcedValue
from skillgen.text.summary import TRIGGER

OLDEST_VERSION = (0, 2, 0)

SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"
"""Where a server says who it is since revision 2026-07-28: in the `_meta` of a result."""

_REQUIRED = {
    ("specVersion",): "dashdash-spec-version-missing",
    ("identity", "name"): "dashdash-identity-name-missing",
    ("identity", "description"): "dashdash-identity-description-missing",
    ("accessLevel",): "dashdash-access-level-missing",
    ("alternativeAccess", "cliUrl"): "dashdash-cli-url-missing",
    ("alternativeAccess", "apiUrl"): "dashdash-api-url-missing",
    ("alternativeAccess", "webUrl"): "dashdash-web-url-missing",
}
_MAY_BE_NULL = frozenset({"cliUrl", "apiUrl", "webUrl"})
_NAME = re.compile(r"[a-z0-9-]{1,64}\Z")
_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+].*)?\Z")


def all_in_result(result: FieldReader) -> Iterator[FieldReader]:
    """Yields the objects of every place of the result that opens a session."""
    return _all(_places_in_result(result))


def find_in_entry(entry: FieldReader) -> FieldReader | None:
    """Finds the object of a tool, a resource or a prompt; the first place that has one wins."""
    return next(all_in_entry(entry), None)


def all_in_entry(entry: FieldReader) -> Iterator[FieldReader]:
    """Yields the objects of every place of a tool, a resource or a prompt."""
    return _all(_places_in_entry(entry))


def check(dashdash: FieldReader, problems: ProblemLog) -> None:
    """Reports what a server's object lacks or has wrong among the fields that seed 000, 3.1.2, requires."""
    for path, code in _REQUIRED.items():
        owner = as_dict(dashdash.raw.get(path[0])) if len(path) == 2 else dashdash.raw
        if _is_missing(owner, path[-1]):
            field = ".".join(path)
            problems.warning(code, dashdash.pointer, f"dashdash has no {field}", f"declare {field}")
    _check_version(dashdash, problems)
    identity = as_dict(dashdash.raw.get("identity"))
    if (name := text_of(identity, "name")) is not None and not _NAME.match(name):
        problems.warning(
            "dashdash-identity-name-invalid",
            dashdash.pointer + "/identity/name",
            f"{name[:80]!r} is not 1 to 64 small letters, digits and hyphens",
        )
    description = text_of(identity, "description")
    if description is not None and not TRIGGER.search(description):
        problems.info(
            "dashdash-description-without-trigger",
            dashdash.pointer + "/identity/description",
            "the description does not say when to use the server",
            "add a sentence such as: Use when …",
        )


def _check_version(dashdash: FieldReader, problems: ProblemLog) -> None:
    claim = dashdash.string("specVersion")
    if claim is None or claim.value is None:
        return
    match = _VERSION.match(claim.value)
    if match is None:
        problems.warning(
            "dashdash-spec-version-invalid", claim.pointer, f"{claim.value[:40]!r} is not a version like 0.2.0"
        )
    elif tuple(int(number) for number in match.groups()) < OLDEST_VERSION:
        problems.warning(
            "dashdash-spec-version-old", claim.pointer, f"{claim.value[:40]} is older than 0.2.0; it is read as 0.2.0"
        )


def _is_missing(owner: dict[str, Json], key: str) -> bool:
    value = owner.get(key)
    if value is None:
        return not (key in owner and key in _MAY_BE_NULL)
    return isinstance(value, str) and not value.strip()


def _places_in_result(result: FieldReader) -> Iterator[tuple[FieldReader, bool]]:
    """Gives the places in reading order, each with whether the key may have a namespace there."""
    capabilities = result.object("capabilities")
    yield result, False
    yield result.object("_meta"), True
    if isinstance(capabilities.raw.get("extensions"), dict):  # a list in seed 004's reference server
        yield capabilities.object("extensions"), True
    yield capabilities.object("experimental"), True
    yield capabilities, False
    yield result.object("serverInfo"), False
    yield result.object("_meta").object(SERVER_INFO_KEY), False


def _places_in_entry(entry: FieldReader) -> Iterator[tuple[FieldReader, bool]]:
    yield entry, False
    yield entry.object("_meta"), True
    yield entry.object("annotations", "annotations"), True


def _all(places: Iterator[tuple[FieldReader, bool]]) -> Iterator[FieldReader]:
    for place, namespaced in places:
        for key, value in place.raw.items():
            if key == "dashdash" or (namespaced and key.endswith("/dashdash")):
                found = place.object(key, "dashdash")
                if isinstance(value, dict):
                    yield found


Read = Callable[[FieldReader, str], SourcedValue | None]


class ToolEntry:
    """An entry, its `dashdash` objects and its annotations, the place that counts most first.

    What a progressive server says of the tool in its second stage (seed 003) comes before the entry, what a service
    manifest says of it (seed 004) after.
    """

    __slots__ = ("_places", "annotations", "dashdash", "dashdashes", "described", "fields")

    def __init__(
        self,
        fields: FieldReader,
        problems: ProblemLog,
        *,
        described: FieldReader | None = None,
        manifest: FieldReader | None = None,
    ) -> None:
        self.fields = fields
        self.described = described
        voices = [voice for voice in (described, fields, manifest) if voice is not None]
        self.annotations = [voice.object("annotations", "annotations") for voice in voices]
        places = (place for voice in voices for place in (voice, voice.object("_meta")))
        self._places = [place for place in (*places, *self.annotations) if place.raw]
        self.dashdashes = [found for voice in voices for found in all_in_entry(voice)]
        self.dashdash = next(iter(self.dashdashes), FieldReader({}, fields.pointer, "dashdash", problems))

    def field(self, name: str, read: Read) -> list[SourcedValue]:
        """Gives what the entry itself says in a field of seed 004.

        Some servers put these fields at the top level, some into `_meta` or under `annotations`.
        """
        return [claim for place in self._places for claim in spelled(place, name, read)]

    def object(self, name: str) -> FieldReader | None:
        """Gives the first object that stands in such a field."""
        parts = (place.object(name) for place in self._places if place.raw.get(name) is not None)
        return next((part for part in parts if part.raw), None)

    def catalogue(self, *names: str) -> tuple[FieldReader, str] | None:
        """Gives the first place that has a list or an object under one of some names, and that name."""
        for place in self._places:
            for spelling in (spelling for name in names for spelling in _spellings(name)):
                if isinstance(place.raw.get(spelling), (list, dict)):
                    return place, spelling
        return None

    def unread(self) -> dict[str, Json]:
        """Gives what nobody asked for: of the entry, and under `described` of the second stage."""
        extras = self.fields.unread()
        if self.described is not None and (unknown := self.described.unread()):
            extras["described"] = unknown
        if unknown := self.dashdash.unread():
            extras["dashdash"] = unknown
        return extras


def spelled(place: FieldReader, name: str, read: Read) -> list[SourcedValue]:
    """Gives the member of a name in snake case, and the same in camel case; the protocol's own spelling is first."""
    claims = [read(place, key) for key in _spellings(name) if key in place.raw]
    return [claim for claim in claims if claim is not None]


@functools.cache
def _spellings(name: str) -> tuple[str, ...]:
    first, *rest = name.split("_")
    return tuple(dict.fromkeys((first + "".join(word.capitalize() for word in rest), name)))


_COUNTED = ("rate_limits", "rateLimits")


def counted_limit(owner: FieldReader) -> RateLimit | None:
    """Reads how often something may be called. What is left at the moment stays among the extras (seed 004, 1)."""
    limits = next((owner.object(key) for key in _COUNTED if isinstance(owner.raw.get(key), dict)), None)
    if limits is None:
        return None
    minute = next(iter(spelled(limits, "requests_per_minute", FieldReader.integer)), None)
    day = next(iter(spelled(limits, "requests_per_day", FieldReader.integer)), None)
    if (minute is None or minute.value is None) and (day is None or day.value is None):
        return None
    return RateLimit(
        requests_per_minute=minute.value if minute is not None else None,
        requests_per_day=day.value if day is not None else None,
    )


_CODE = re.compile(r"[A-Z][A-Z0-9_]*\Z|-?\d{3,6}\Z")


def error_cases(owner: FieldReader, key: str, problems: ProblemLog) -> Iterator[ErrorCase]:
    """Reads a member that lists errors, or that maps codes to what they mean."""
    raw = owner.raw.get(key)
    if isinstance(raw, dict):
        owner.ignore(key)
        part = owner.object(key)
        for code, value in raw.items():
            if isinstance(value, dict):
                yield _case(str(code), part.object(code))
            elif isinstance(value, str):
                part.ignore(code)
                yield ErrorCase(code=str(code), description=value)
        return
    for item in owner.objects(key):
        claim = item.json("code")
        code = claim.value if claim is not None else None
        has_code = isinstance(code, (str, int)) and not isinstance(code, bool)
        case = _case(str(code) if has_code else "", item)
        if has_code or case.description or case.resolution:
            yield case
        if not has_code:
            outcome = "shown without one" if case.description or case.resolution else "left out"
            problems.warning("error-invalid", item.pointer, f"the error has no code; {outcome}", "declare code")


def is_catalogue(raw: Json) -> bool:
    """Tells whether a value maps codes to what they mean, or lists errors that have codes."""
    if isinstance(raw, dict):
        return bool(raw) and all(_CODE.match(str(key)) for key in raw)
    return isinstance(raw, list) and bool(raw) and all(isinstance(item, dict) and "code" in item for item in raw)


def _case(code: str, item: FieldReader) -> ErrorCase:
    return ErrorCase(
        code=code,
        description=_value(item.string("description") or item.string("message")),
        resolution=_value(item.string("resolution") or item.string("suggestion")),
        category=_value(item.string("category")),
        retry_after_s=_value(_first(spelled(item, "retry_after_seconds", FieldReader.number))),
        user_actionable=_value(_first(spelled(item, "user_actionable", FieldReader.boolean))),
        documentation=_value(_first(spelled(item, "documentation_url", FieldReader.string))),
        details=Value(details.value) if (details := item.json("details")) is not None else None,
    )


def _first(claims: list[SourcedValue]) -> SourcedValue | None:
    return next(iter(claims), None)


def _value(claim: SourcedValue | None) -> Json:
    return claim.value if claim is not None else None
