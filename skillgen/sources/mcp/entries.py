"""Finds `dashdash` objects in an entry of a list or the result of a handshake, and reads errors and limits.

A `dashdash` object may be in several places (seed 000, 3.1 and 3.2); errors have several forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from skillgen.model.auth import RateLimit
from skillgen.model.calls import ErrorCase
from skillgen.model.mcp_fields import ERROR, LIMIT, spellings
from skillgen.model.values import Json, Value
from skillgen.sources.json_access import as_dict
from skillgen.sources.mcp.fields import FieldReader
from skillgen.text import lazy_re as re
from skillgen.text.summary import TRIGGER

SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"
"""Where a server identifies itself since revision 2026-07-28: in the `_meta` of a result."""

_OLDEST_VERSION = (0, 2, 0)

_REQUIRED = {
    "specVersion": "dashdash-spec-version-missing",
    "identity.name": "dashdash-identity-name-missing",
    "identity.description": "dashdash-identity-description-missing",
    "accessLevel": "dashdash-access-level-missing",
    "alternativeAccess.cliUrl": "dashdash-cli-url-missing",
    "alternativeAccess.apiUrl": "dashdash-api-url-missing",
    "alternativeAccess.webUrl": "dashdash-web-url-missing",
}
_CATALOGUES = "errors|error_catalogue|error_catalog"
_NAME = re.compile(r"[a-z0-9-]{1,64}\Z")
_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+].*)?\Z")
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


def check_dashdash(dashdash: FieldReader) -> None:
    """Reports missing and invalid fields among those that seed 000, 3.1.2, requires of a server."""
    for field, code in _REQUIRED.items():
        parent, _, key = field.rpartition(".")
        owner = as_dict(dashdash.raw.get(parent)) if parent else dashdash.raw
        value = owner.get(key)
        is_null = value is None and key in owner and parent == "alternativeAccess"
        if not is_null and (value is None or (isinstance(value, str) and not value.strip())):
            dashdash.problems.report(code, dashdash.pointer, f"dashdash has no {field}", f"declare {field}")
    identity = dashdash.object("identity")
    if (version := dashdash.text("specVersion")) is not None:
        match = _VERSION.match(version)
        if match is None:
            message = f"{version[:40]!r} is not a version like 0.2.0"
            dashdash.report("dashdash-spec-version-invalid", "specVersion", message)
        elif tuple(map(int, match.groups())) < _OLDEST_VERSION:
            message = f"{version[:40]} is older than 0.2.0; it is read as 0.2.0"
            dashdash.report("dashdash-spec-version-old", "specVersion", message)
    if isinstance(name := identity.raw.get("name"), str) and name.strip() and not _NAME.match(name):
        message = f"{name[:80]!r} is not 1 to 64 lower-case letters, digits and hyphens"
        identity.report("dashdash-identity-name-invalid", "name", message)
    if isinstance(text := identity.raw.get("description"), str) and text.strip() and not TRIGGER.search(text):
        message = "the description does not say when to use the server"
        identity.report("dashdash-description-without-trigger", "description", message)


def counted_limit(owner: FieldReader) -> RateLimit | None:
    """Reads the calls allowed per minute and day (seed 004, 1). What is left of them stays among the extras."""
    key = next((key for key in spellings("rate_limits") if isinstance(owner.raw.get(key), dict)), None)
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
            if isinstance(value, dict):
                yield _error_case(code, errors.object(code))
            elif isinstance(value, str):
                errors.ignore(code)
                yield ErrorCase(code=code, description=value)
        return
    texts = raw if isinstance(raw, list) and all(isinstance(item, str) for item in raw) else []
    cases = [(owner.pointer_to(key, index), ErrorCase(code="", description=text)) for index, text in enumerate(texts)]
    if texts:
        owner.ignore(key)
    for pointer, case in cases or ((item.pointer, _error_case(None, item)) for item in owner.objects(key)):
        is_shown = bool(case.code or case.resolution or (case.description or "").strip())
        if not case.code:
            outcome = "shown without one" if is_shown else "left out"
            owner.problems.report("error-invalid", pointer, f"the error has no code; {outcome}")
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
