"""Finds and checks `dashdash` objects (seed 000, 3.1 and 3.2); what their members mean is read elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillgen.errors import ProblemLog
from skillgen.markdown.sentences import TRIGGER
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict, text_of
from skillgen.sources.mcp.claims import Members

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


def all_in_result(result: Members) -> Iterator[Members]:
    """Yields the objects of every place of the result that opens a session."""
    return _all(_places_in_result(result))


def find_in_entry(entry: Members) -> Members | None:
    """Finds the object of a tool, a resource or a prompt; the first place that has one wins."""
    return next(all_in_entry(entry), None)


def all_in_entry(entry: Members) -> Iterator[Members]:
    """Yields the objects of every place of a tool, a resource or a prompt."""
    return _all(_places_in_entry(entry))


def check(dashdash: Members, problems: ProblemLog) -> None:
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


def _check_version(dashdash: Members, problems: ProblemLog) -> None:
    claim = dashdash.text("specVersion")
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


def _places_in_result(result: Members) -> Iterator[tuple[Members, bool]]:
    """Gives the places in reading order, each with whether the key may have a namespace there."""
    capabilities = result.part("capabilities")
    yield result, False
    yield result.part("_meta"), True
    if isinstance(capabilities.raw.get("extensions"), dict):  # a list in seed 004's reference server
        yield capabilities.part("extensions"), True
    yield capabilities.part("experimental"), True
    yield capabilities, False
    yield result.part("serverInfo"), False
    yield result.part("_meta").part(SERVER_INFO_KEY), False


def _places_in_entry(entry: Members) -> Iterator[tuple[Members, bool]]:
    yield entry, False
    yield entry.part("_meta"), True
    yield entry.part("annotations", "annotations"), True


def _all(places: Iterator[tuple[Members, bool]]) -> Iterator[Members]:
    for place, namespaced in places:
        for key, value in place.raw.items():
            if key == "dashdash" or (namespaced and key.endswith("/dashdash")):
                found = place.part(key, "dashdash")
                if isinstance(value, dict):
                    yield found
