"""Strings of a format or a pattern, as a mock answers with: documents have a placeholder instead."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from skillgen.model.values import Json
from skillgen.sources.examples.patterns import holds
from skillgen.text import lazy_re as re

DATES = {"date": "2025-01-31", "date-time": "2025-01-31T09:00:00Z", "time": "09:00:00Z"}
"""Formats with a fixed value in documents."""

_FORMATS = DATES | {
    "duration": "P1D",
    "email": "user@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uri-reference": "/name",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "byte": "dGV4dA==",
}
"""Format to a value; hosts and IP addresses are reserved for documentation (RFC 2606, 3849, 5737)."""

LENGTH_LIMIT = 200
"""Characters of a string."""

_TOKEN = re.compile(
    r"(?P<set>\[(?:\\.|[^\]\\])+(?:\]|\\?\Z)|\.|\\[dDwWsS]|\\[pP]\{[^}]{0,60}\})"
    r"|\\(?P<escape>.)|(?P<open>\((?:\?(?:P?<\w+>|<?[=!]|:))?)"
    r"|(?P<close>\))|(?P<or>\|)|(?P<quantifier>[*+?]\??|\{\d{1,4}(?:,\d{0,9})?\}\??)|(?P<anchor>[\^$])|(?P<literal>.)",
    re.DOTALL,
)
_READABLE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890-_ ./:@"


def strings(name: str, format_name: str | None, patterns: tuple[Json, ...], least: int, most: int) -> Iterator[str]:
    """Yields strings of `least` to `most` characters that a schema may allow, the best first."""
    known = [_FORMATS[format_name]] if format_name in _FORMATS else []
    words = [name, name.lower(), name.upper(), "1"]
    for text in (*known, *words, *(f"{word}{'a' * (least - len(word))}" for word in words)):
        yield text[:most]
    yield from ("aA1!aA1!", "a1!a1!a1")  # for look-aheads, as of passwords
    for pattern in filter(lambda item: isinstance(item, str), patterns):
        for wanted in (least, least + 1, least + 8):
            text = _built([*_TOKEN.finditer(pattern)], wanted)
            yield f"{text}{'a' * (least - len(text))}"


def _built(tokens: list[re.Match[str]], wanted: int) -> str:
    """Returns a string for the tokens up to the end of a group, of alternatives for the first; takes them away."""
    text, is_first = "", True
    while tokens:
        token = tokens.pop(0)
        kind = token.lastgroup
        if kind == "close":
            break
        is_first &= kind != "or"
        piece = ""
        if kind == "open":
            piece = _built(tokens, wanted) * (not token[0].endswith(("=", "!")))
        elif kind == "set":
            piece = _character(token[0])
        elif kind in ("literal", "escape"):
            piece = token[kind] if token[0] not in ("\\b", "\\B", "\\A", "\\z", "\\Z") else ""
        low, high = 1, 1
        if tokens and tokens[0].lastgroup == "quantifier":
            low, high = _bounds(tokens.pop(0)[0])
        if is_first and len(text) + len(piece) * low <= LENGTH_LIMIT:
            missing = -(-(wanted - len(text)) // len(piece)) if piece else 0
            text += piece * max(low, min(high, missing))
    return text


def _bounds(quantifier: str) -> tuple[int, int]:
    if quantifier[0] in "*+?":
        return int(quantifier[0] == "+"), 1 if quantifier[0] == "?" else LENGTH_LIMIT
    low, comma, high = quantifier.rstrip("?")[1:-1].partition(",")
    return int(low), min(int(high), LENGTH_LIMIT) if high else LENGTH_LIMIT if comma else int(low)


@lru_cache(1024)
def _character(set_text: str) -> str:
    """Returns a character of a set, preferably a readable one, else one that the set names."""
    return next((item for item in dict.fromkeys(_READABLE + set_text) if holds("pattern", f"^{set_text}$", item)), "")
