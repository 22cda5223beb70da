"""Reads typed fields of untrusted MCP JSON, and decides between providers that disagree about one.

`FieldReader` reads the members of one JSON object as `SourcedValue`s: the value, its pointer and who provides it.
`FieldResolver` picks one of several for a field of the model: the provider that comes first in `_PRECEDENCE`, or, for
facts on safety, the most cautious value. A `dashdash` object may be in several places (seed 000, 3.1 and 3.2), and
errors have several forms.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.auth import Invocation, RateLimit
from skillgen.model.calls import ErrorCase
from skillgen.model.mcp_fields import ERROR, LIMIT, Field, Kind, Place, spellings
from skillgen.model.tool import CAUTION, Cost
from skillgen.model.values import Json, Origin, Value, child
from skillgen.security.secrets import without_credentials
from skillgen.sources.json_access import as_dict, as_list, flag_from, is_blank
from skillgen.text import lazy_re as re

Provider = Literal["dashdash", "ai_help", "manifest", "serverInfo", "entry", "annotations"]
"""Who declares a value. `entry` is a tool, a resource or a prompt that describes itself."""

_PRECEDENCE: tuple[Provider, ...] = ("dashdash", "ai_help", "manifest", "serverInfo", "entry", "annotations")
"""Providers, the one that wins first. Options such as `--name` and the configuration file override all of them; they
are applied to the finished service."""

_NULLABLE: frozenset[Provider] = frozenset({"dashdash", "ai_help"})
"""Providers that may declare null (seed 000, 3.1.2, "or null"). Elsewhere null is what some
SDKs write for a member that was never set, and the same as an absent one."""


class SourcedValue(Struct, frozen=True):
    """The value that one provider declares for one field."""

    value: Json
    """The value; its type was checked. A list of strings is a tuple."""

    pointer: str
    provider: Provider
    inferred_from: str | None = None
    """The member that it was inferred from, if it is not declared itself."""

    def origin(self) -> Origin:
        """Returns the origin of the value for the model."""
        if self.inferred_from is not None:
            return Origin("inferred", self.inferred_from)
        return Origin("declared", self.pointer)

    def implies(self, value: Json) -> SourcedValue:
        """Returns a value of another field that follows from this one."""
        return replace(self, value=value, inferred_from=self.pointer.rpartition("/")[2])


def value_of(*candidates: SourcedValue | None) -> Json:
    """Returns the value of the first candidate that is there; `None` without any."""
    return next((candidate.value for candidate in candidates if candidate is not None), None)


_KINDS: Mapping[str, tuple[str, Callable[[Json], bool]]] = {
    "json": ("a value", lambda value: True),
    "string": ("a string", lambda value: isinstance(value, str)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "number": ("a number", lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)),
    "integer": ("an integer", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    "strings": ("a list of strings", lambda value: isinstance(value, (list, str))),
    "object": ("an object", lambda value: isinstance(value, dict)),
    "objects": ("a list of objects", lambda value: isinstance(value, list)),
}
_TYPE_OF = {"version": "string", "url": "string", "link": "string", "names": "strings", "effects": "strings"}


class FieldReader(Struct):
    """Reads the members of one JSON object.

    A member of the wrong type is reported and left out. `unread` returns the members that no caller read.
    """

    raw: dict[str, Json]
    pointer: str
    provider: Provider
    problems: ProblemLog
    keys: Mapping[str, str] | None = None
    """Key to its spelling in a text, for an object inside a text, which has no pointers."""

    read_keys: set[str] = field(default_factory=set)
    nested: dict[str, FieldReader] = field(default_factory=dict)
    items: dict[str, list[FieldReader]] = field(default_factory=dict)

    def pointer_to(self, *keys: object) -> str:
        """Returns the pointer to a member or an item; for an object inside a text, the pointer to that text."""
        return child(self.pointer, *keys) if self.keys is None else self.pointer

    def text(self, key: str) -> str | None:
        """Returns a string that is not blank."""
        text: str | None = value_of(self.read(key))
        return text

    def values(self, table: Iterable[Field], place: Place = "entry") -> dict[str, Json]:
        """Returns the values of the fields of a node that are declared in one place, without nulls."""
        fields = ((field, next(iter(self.candidates(field, place)), None)) for field in table)
        return {field.name: found.value for field, found in fields if found is not None and found.value is not None}

    def candidates(self, field: Field, place: Place) -> Iterator[SourcedValue]:
        """Yields the values of a field that are declared in one place, in each spelling of its key."""
        path: str = getattr(field, place)
        owner: FieldReader = self
        if "/" in path:
            *parents, path = path.split("/")
            owner = functools.reduce(FieldReader.object, parents, self)
        for key in spellings(path):
            if key in owner.raw and (value := owner.read(key, field.kind, field.caution)) is not None:
                yield value

    def read(
        self, key: str, kind: Kind | Literal["object", "objects"] = "string", caution: tuple[Json, ...] = ()
    ) -> SourcedValue | None:
        """Reads a member; a blank string counts as absent, a single string as a list of one.

        `caution` has the values of a fact on safety, the most cautious last.
        """
        self.read_keys.add(key)
        value = self.raw.get(key)
        if kind in ("flag", "choice"):
            return self._cautious(key, kind, value, caution) if value is not None else None
        if value is None:
            is_declared = key in self.raw and self.provider in _NULLABLE
            return SourcedValue(None, self.pointer_to(key), self.provider) if is_declared else None
        if kind == "version" and _KINDS["number"][1](value):  # YAML reads an unquoted version as a number
            value = json.dumps(value)
        type_name = _TYPE_OF.get(kind, kind)
        expected, accepts = _KINDS[type_name]
        if not accepts(value):
            self._report_type(key, expected, value)
            return None
        if type_name == "strings":
            value = self._names(key, value) if kind == "names" else self._strings(key, value)
        elif isinstance(value, str) and kind != "json":
            if is_blank(value, key) or kind in ("link", "url"):
                return None if is_blank(value, key) else self._link(key, value, kind == "url")
        return SourcedValue(value, self.pointer_to(key), self.provider) if value is not None else None

    def _strings(self, key: str, value: Json) -> tuple[str, ...] | None:
        if isinstance(value, str):
            message = f"expected a list of strings, found {_shown(value)}; read as a list of one"
            self.report("member-coerced", key, message)
            return (value,) if value.strip() else None
        for index, item in enumerate(value):
            if not isinstance(item, str):
                self._report_type(key, "a string", item, index)
        return tuple(item for item in value if isinstance(item, str))

    def _link(self, key: str, value: str, is_url: bool) -> SourcedValue | None:
        """Returns a URL without user and password; the string `none` is null."""
        if (url := without_credentials(value.strip())) != value.strip():
            self.report("credential-left-out", key, "the URL holds a user or password, which is left out")
        if is_url and url.lower() == "none":
            self.report("member-coerced", key, "`none` is read as null", "write null")
            return SourcedValue(None, self.pointer_to(key), self.provider)
        if is_url and not re.match(r"https?://[^/\s]", url):
            self.report("member-invalid", key, "expected an http:// or https:// URL; left out")
            return None
        return SourcedValue(url, self.pointer_to(key), self.provider)

    def _names(self, key: str, value: Json) -> tuple[str, ...]:
        """Returns the names of variables without values, such as that in `NAME=VALUE`."""
        names = []
        for item in value.split() if isinstance(value, str) else self._strings(key, value) or ():
            name, separator, _ = item.partition("=" if "=" in item else ":")
            if separator:
                message = f"{name.strip()[:60]} is listed with a value; only its name is documented"
                fix = "list names of variables, and revoke the value if it is real"
                self.report("credential-left-out", key, message, fix)
            names.append(name.strip().removeprefix("export ").strip())
        return tuple(filter(None, names))

    def objects(self, key: str, *, text_key: str | None = None) -> Iterator[FieldReader]:
        """Yields a reader for each object of a list; a string counts as one with that string at `text_key`."""
        items = self.items[key] = []
        for index, item in enumerate(value_of(self.read(key, "objects")) or ()):
            item = {text_key: item} if text_key is not None and isinstance(item, str) else item
            items.append(self._nested(as_dict(item), self.pointer_to(key, index)))
            if isinstance(item, dict):
                yield items[-1]
            else:
                self._report_type(key, "an object", item, index)

    def object(self, key: str, provider: Provider | None = None) -> FieldReader:
        """Returns a reader for a member that is an object, an empty one if it is not.

        `provider` is who declares its members, if that is not the provider of this object.
        """
        if key not in self.nested:
            raw = value_of(self.read(key, "object")) or {}
            self.nested[key] = self._nested(raw, self.pointer_to(key), provider)
        return self.nested[key]

    def _nested(self, raw: dict[str, Json], pointer: str, provider: Provider | None = None) -> FieldReader:
        return FieldReader(raw, pointer, provider or self.provider, self.problems, keys=self.keys)

    def ignore(self, *keys: str) -> None:
        """Marks members as read."""
        self.read_keys.update(keys)

    def unread(self, **others: FieldReader | None) -> dict[str, Json]:
        """Returns the members that were not read, also those of nested objects and of the objects in lists.

        Nested `dashdash` objects are not searched; they have readers of their own, which are among `others`: name to
        reader of another object. A list has one object per item, up to the last item with unread members.
        """
        unread = {key: value for key, value in self.raw.items() if key not in self.read_keys}
        is_dashdash = self.provider == "dashdash"
        nested = {key: item for key, item in self.nested.items() if item.provider != "dashdash" or is_dashdash}
        for key, readers in self.items.items():
            items = [reader.unread() for reader in readers]
            while items and not items[-1]:
                items.pop()
            unread |= {key: items} if items else {}
        found = {key: reader.unread() for key, reader in {**nested, **others}.items() if reader is not None}
        return {**unread, **{key: members for key, members in found.items() if members}}

    def _cautious(self, key: str, kind: str, value: Json, caution: tuple[Json, ...]) -> SourcedValue | None:
        """Returns the careful reading of a fact on safety, if it has one, and reports a value that differs from it.

        A string in the wrong case counts unless it is the least cautious one.
        """
        if kind == "flag":
            expected, is_right = "true or false", isinstance(value, bool)
            reading: Json = flag_from(value, caution[-1])
        else:
            word = value.strip().lower() if isinstance(value, str) else None
            unknown = caution[-1] if caution == CAUTION["risk"] else None
            expected, is_right = f"one of {', '.join(caution)}", value in caution
            reading = unknown if word not in caution else word if word != caution[0] else None
        if is_right:
            return SourcedValue(value, self.pointer_to(key), self.provider)
        if reading is None:
            self._report_type(key, expected, value)
            return None
        message = f"expected {expected}, found {_shown(value)}; read as {str(reading).lower()}, to be careful"
        self.report("member-invalid", key, message)
        return SourcedValue(reading, self.pointer_to(key), self.provider, key)

    def report(self, code: str, key: str, message: str, fix: str | None = None, index: tuple[int, ...] = ()) -> None:
        """Reports a problem of a member, or of one item of a list."""
        # The pointer of an object inside a text does not show the member.
        named = message if self.keys is None else f"{self.keys.get(key, key)}: {message}"
        self.problems.report(code, self.pointer_to(key, *index), named, fix)

    def _report_type(self, key: str, expected: str, actual: Json, *index: int) -> None:
        message = f"expected {expected}, found {_shown(actual)}; left out"
        self.report("member-invalid", key, message, index=index)


def _shown(value: Json) -> str:
    if isinstance(value, str):
        return repr(value[:60])
    return {dict: "an object", list: "a list", bool: "true or false", type(None): "null"}.get(type(value), "a number")


_NODES = {"cost": Cost, "invocation": Invocation, "rate_limit": RateLimit}


class FieldResolver:
    """Picks the values of the fields of one node of the model; `origins` has the origin of each."""

    def __init__(self, problems: ProblemLog, node: str | None = None) -> None:
        """`node` is a pointer; values that are declared below it need no origin. Without it, every field gets one."""
        self.problems = problems
        self._node = node
        self.origins: dict[str, Origin] = {}
        """Field name to origin, for the fields that need one."""

    def facts(self, table: Iterable[Field], candidates: Callable[[Field], Collection[SourcedValue]]) -> dict[str, Any]:
        """Returns the fields of a node that are declared, with the nodes within it; requirements as their fields.

        Values that the specification of a field does not know are reported.
        """
        facts: dict[str, Any] = {}
        for row in table:
            if not (found := candidates(row)):  # as of most fields of most tools
                continue
            for item in found if row.words else ():
                if item.value not in (None, *row.words):
                    message = f"{item.value[:40]!r} is not specified; it is one of {', '.join(row.words)}"
                    self.problems.report("manifest-word-unknown", item.pointer, message)
            if (value := self.value(row.name.removesuffix(".text"), *found)) is not None:
                parent, _, key = row.name.rpartition(".")
                (facts.setdefault(parent, {}) if parent else facts)[key] = value
        return {key: _NODES[key](**value) if key in _NODES else value for key, value in facts.items()}

    def value(self, field: str, *candidates: SourcedValue | None) -> Json:
        """Returns the value that wins; `None` without candidates."""
        return value_of(self.resolve(field, *candidates))

    def resolve(self, field: str, *candidates: SourcedValue | None) -> SourcedValue | None:
        """Returns the candidate that wins, which may be a declared null, and reports every one that disagrees.

        Of a fact on safety, the most cautious wins; else the first in `_PRECEDENCE`. If values agree, a declared one
        wins over an inferred one.
        """
        order = CAUTION.get(field)
        ranked = [item for item in candidates if item is not None and (order is None or item.value is not None)]
        if not ranked:
            return None
        ranked.sort(key=lambda item: -order.index(item.value) if order else _PRECEDENCE.index(item.provider))
        first = ranked[0]
        agreeing = [item for item in ranked if _agree(item.value, first.value)]
        winner = next((item for item in agreeing if item.inferred_from is None), first)
        for other in (item for item in ranked if item not in agreeing):
            code = "safety-facts-disagree" if order else "facts-disagree"
            message = f"{field}: {other.provider} disagrees with {first.provider} at {first.pointer}, which is used"
            if order:
                member = other.inferred_from or other.pointer.rpartition("/")[2]
                shown, used = str(other.value).lower(), str(winner.value).lower()
                message = f"{field} is {shown} by {member} but {used} at {winner.pointer}, the more cautious fact"
            self.problems.report(code, other.pointer, message)
        self._record(field, winner)
        return winner

    def union(self, field: str, *candidates: SourcedValue | None) -> tuple[str, ...]:
        """Returns the items of all lists of a field on safety."""
        lists = [candidate for candidate in candidates if candidate is not None and candidate.value]
        for candidate in reversed(lists):
            self._record(field, candidate)
        return tuple(dict.fromkeys(item for candidate in lists for item in candidate.value))

    def _record(self, field: str, winner: SourcedValue) -> None:
        is_in_node = self._node is not None and winner.pointer.startswith(self._node + "/")
        if winner.inferred_from is not None or not is_in_node:
            self.origins[field] = winner.origin()


def _agree(one: Json, other: Json) -> bool:
    """True if two values are equal but for white space in strings and the order of lists."""
    if isinstance(one, str) and isinstance(other, str):
        return one.split() == other.split()
    if isinstance(one, tuple) and isinstance(other, tuple):
        return sorted(one) == sorted(other)
    return bool(one == other)


def raw_entries(
    results: Mapping[str, Json], method: str, list_key: str, problems: ProblemLog
) -> Iterator[tuple[str, Json]]:
    """Yields the pointer and the entry for every entry of every page of a list method."""
    for number, page in enumerate(as_list(results.get(method))):
        pointer = child("", method, number, list_key)
        entries = as_dict(page).get(list_key)
        if not isinstance(entries, list):
            problems.report("page-invalid", pointer, f"page {number + 1} of {method} has no list `{list_key}`")
        for index, entry in enumerate(as_list(entries)):
            yield f"{pointer}/{index}", entry


def named_entries(
    entries: Iterable[tuple[str, Json]], name_key: str, problems: ProblemLog, provider: Provider = "entry"
) -> Iterator[tuple[str, FieldReader]]:
    """Yields the name and a reader for each entry with a name that no earlier one has; reports the others.

    `entries` are pointers and entries, as from `raw_entries`.
    """
    seen: dict[str, str] = {}
    for pointer, raw in entries:
        name = as_dict(raw).get(name_key)
        if not isinstance(raw, dict):
            problems.report("entry-invalid", pointer, "the entry is not an object; left out")
        elif not isinstance(name, str) or not name.strip():
            problems.report("name-missing", pointer, f"the entry has no {name_key} that is a string; left out")
        elif name in seen:
            problems.report("name-duplicate", pointer, f"{name[:100]!r} is listed at {seen[name]} already; left out")
        else:
            seen[name] = pointer
            fields = FieldReader(raw, pointer, provider, problems)
            fields.ignore(name_key)
            yield name, fields


SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"
"""Where a server identifies itself since revision 2026-07-28: in the `_meta` of a result."""

_CATALOGUES = "errors|error_catalogue|error_catalog"
_CODE = re.compile(r"[A-Z][A-Z0-9_]*\Z|-?\d{3,6}\Z")


def dashdashes_in_result(result: FieldReader) -> Iterator[FieldReader]:
    """Yields the `dashdash` objects in the result of a handshake, the one that counts first."""
    capabilities, meta = result.object("capabilities"), result.object("_meta")
    extensions = capabilities.raw.get("extensions")  # a list in seed 004's reference server
    yield from _dashdashes(result)
    yield from _dashdashes(meta, may_have_prefix=True)
    for key in ("extensions", "experimental") if isinstance(extensions, dict) else ("experimental",):
        yield from _dashdashes(capabilities.object(key), may_have_prefix=True)
    for owner in (capabilities, result.object("serverInfo"), meta.object(SERVER_INFO_KEY)):
        yield from _dashdashes(owner)


def dashdashes_in_entry(entry: FieldReader) -> list[FieldReader]:
    """Returns the `dashdash` objects of a tool, a resource or a prompt, the one that counts first."""
    return [
        *_dashdashes(entry),
        *_dashdashes(entry.object("_meta"), may_have_prefix=True),
        *_dashdashes(entry.object("annotations", "annotations"), may_have_prefix=True),
    ]


def first_dashdash(dashdashes: Iterable[FieldReader], owner: FieldReader) -> FieldReader:
    """Returns the `dashdash` object that counts; an empty one otherwise."""
    return next(iter(dashdashes), None) or FieldReader({}, owner.pointer, "dashdash", owner.problems)


def _dashdashes(owner: FieldReader, *, may_have_prefix: bool = False) -> Iterator[FieldReader]:
    for key, value in owner.raw.items():
        if key == "dashdash" or (may_have_prefix and key.endswith("/dashdash")):
            dashdash = owner.object(key, "dashdash")
            if isinstance(value, dict):
                yield dashdash


def counted_limit(owner: FieldReader) -> RateLimit | None:
    """Reads the calls allowed per minute and day (seed 004, 1). What is left of them stays among the extras."""
    key = next((key for key in spellings("rate_limits") if owner.raw.get(key) is not None), None)
    values = owner.object(key).values(LIMIT) if key is not None else {}
    return RateLimit(**values) if values else None


def error_cases(owner: FieldReader, key: str) -> Iterator[ErrorCase]:
    """Reads a list of errors, or an object that maps error codes to errors or to their descriptions.

    These are the forms of `dashdash` (seed 000, 3.2.2), of seed 004 (11), and of servers that follow neither.
    """
    raw = owner.raw.get(key)
    if isinstance(raw, dict):
        errors = owner.object(key)
        for code, value in raw.items():
            if isinstance(value, str):
                errors.ignore(code)
                yield ErrorCase(code=code, description=value)
            elif isinstance(value, dict):
                yield _error_case(code, errors.object(code))
        return
    for item in owner.objects(key, text_key="description"):
        case = _error_case(None, item)
        is_shown = bool(case.code or case.resolution or (case.description or "").strip())
        if not case.code:
            outcome = "shown without one" if is_shown else "left out"
            owner.problems.report("error-invalid", item.pointer, f"the error has no code; {outcome}")
        if is_shown:
            yield case


def catalogue_errors(owners: Iterable[FieldReader]) -> tuple[ErrorCase, ...]:
    """Returns the errors of the first object that has a list or an object of them (seed 004, 11)."""
    catalogues = ((owner, key) for owner in owners for key in spellings(_CATALOGUES))
    found = next((item for item in catalogues if isinstance(item[0].raw.get(item[1]), (list, dict))), None)
    return tuple(error_cases(*found)) if found is not None else ()


def is_catalogue(raw: Json) -> bool:
    """True if a value maps error codes to errors, or lists errors with codes."""
    if isinstance(raw, dict):
        return bool(raw) and all(_CODE.match(str(key)) for key in raw)
    return isinstance(raw, list) and bool(raw) and all(isinstance(item, dict) and "code" in item for item in raw)


def _error_case(code: str | None, item: FieldReader) -> ErrorCase:
    values = item.values(ERROR)
    declared = values.pop("code", None)
    if code is None:
        code = str(declared) if isinstance(declared, (str, int)) and not isinstance(declared, bool) else ""
    details = {"details": Value(values["details"])} if "details" in values else {}
    return ErrorCase(**{**values, "code": code, **details})
