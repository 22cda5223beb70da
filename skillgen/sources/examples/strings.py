"""Generates strings: by format, by pattern, else the name of the parameter in upper case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from skillgen.model.values import Json
from skillgen.sources.examples.patterns import LENGTH_LIMIT, NoString, matches, string_matching

_VARIED_CHARACTERS = 4
"""Characters at the end of a string that are varied."""

_FORMATS = {
    "date": "2025-01-31",
    "date-time": "2025-01-31T09:00:00Z",
    "time": "09:00:00Z",
    "duration": "P1D",
    "email": "user@example.com",
    "idn-email": "user@example.com",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ip": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "iri": "https://example.com/",
    "uri-reference": "/name",
    "iri-reference": "/name",
    "uri-template": "/{name}",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "guid": "123e4567-e89b-12d3-a456-426614174000",
    "json-pointer": "/name",
    "relative-json-pointer": "0",
    "regex": "^a$",
    "byte": "dGV4dA==",
    "base64": "dGV4dA==",
    "base64url": "dGV4dA",
    "int32": "1",
    "int64": "1",
    "uint64": "1",
    "decimal": "1.0",
    "double": "1.0",
    "float": "1.0",
}
"""Format to a value; hosts and IP addresses are reserved for documentation (RFC 2606, 3849, 5737)."""

_NAMED_FORMATS = {"url": "uri", "uri": "uri", "email": "email"}
"""Last word of a name to the format of a string without one."""

_SIGNS = {"email": "@", "idn-email": "@", "url": "./:", "uri": "./:", "date": "-/.", "date-time": "-/.:"}
"""Characters of which a string of a format has at least one."""

_IDENTIFIERS = frozenset({"uuid", "guid", "byte", "base64", "base64url", "regex"})
_TELLING = frozenset(_FORMATS[name] for name in _FORMATS.keys() - _IDENTIFIERS if not _FORMATS[name][0].isdigit()) | {
    _FORMATS[name] for name in ("date", "date-time", "time", "ipv4", "ipv6")
}

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def string_for(
    name: str, format_name: Json, patterns: tuple[Json, ...], least: int = 0, most: int | None = None
) -> str:
    """Returns a string of a format with `least` to `most` characters that matches all patterns.

    Raises:
        NoString: no such string was found.
    """
    limit = LENGTH_LIMIT if most is None else min(most, LENGTH_LIMIT)
    if least > limit:
        raise NoString(f"a text of {least} characters or more is too long for an example")
    if not all(isinstance(pattern, str) for pattern in patterns):
        raise NoString("the pattern is not a text")
    format_name = format_name or _named_format(name)
    if isinstance(format_name, str) and (known := _FORMATS.get(format_name)) is not None:
        if _is_valid(known, patterns, least, limit):
            return known
        if not patterns:
            raise NoString(f"no {format_name[:40]} is of {least} to {limit} characters")
    for candidate in _candidates(placeholder(name), least, limit):
        if _is_valid(candidate, patterns, least, limit):
            return candidate
    built = string_matching(patterns[0], least, limit)
    if len(patterns) > 1 and not all(matches(pattern, built) for pattern in patterns[1:]):
        raise NoString("no text matches all patterns")
    return built


def fits(value: Json, name: str, format_name: Json) -> bool:
    """True unless a string lacks what its format has, which may be in its name: an e-mail address has an @."""
    signs = _SIGNS.get(str(format_name or _named_format(name)))
    return signs is None or not isinstance(value, str) or any(sign in value for sign in signs)


def _named_format(name: str) -> str | None:
    return _NAMED_FORMATS.get(placeholder(name).rpartition("_")[2].lower())


def is_telling(text: str, name: str, *, has_pattern: bool) -> bool:
    """True if a generated string shows a reader more than the name of its parameter would: a date, a form."""
    letters = "".join(filter(str.isalnum, text)).lower()
    is_name = letters.startswith("".join(filter(str.isalnum, name)).lower()[:6]) or not letters.strip("01")
    return text in _TELLING or (has_pattern and not is_name)


@lru_cache(4096)
def placeholder(name: str) -> str:
    """Returns a name as a placeholder: `projectId` and `project-id` become `PROJECT_ID`."""
    return "_".join(_WORD.findall(name)).upper()[:60] or "VALUE"


def singular(name: str) -> str:
    """Returns the name of an item of a list: `labels` has a `label`."""
    if name.endswith("ies") and len(name) > 4:
        return name[:-3] + "y"
    return name[:-1] if name.endswith("s") and not name.endswith(("ss", "us", "is")) and len(name) > 3 else name


def variations(text: str) -> Iterator[str]:
    """Yields strings of the same length that differ in one character near the end."""
    for place in range(len(text) - 1, max(len(text) - 1 - _VARIED_CHARACTERS, -1), -1):
        for character in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789":
            if character != text[place]:
                yield f"{text[:place]}{character}{text[place + 1 :]}"


def _candidates(word: str, least: int, most: int) -> tuple[str, ...]:
    if most == 0:
        return ("",)
    if len(word) < least:
        word = (word + "_" + word * (least // len(word) + 1))[:least]
    word = word[:most].rstrip("_") if len(word) > most else word
    if len(word) < least:
        word = word.ljust(least, "X")
    lower = word.lower()
    return (word, lower, lower.replace("_", "-"), lower.replace("_", ""), "1".rjust(max(least, 1), "0"), "Example-1")


def _is_valid(text: str, patterns: tuple[Json, ...], least: int, most: int) -> bool:
    return least <= len(text) <= most and all(matches(pattern, text) for pattern in patterns)
