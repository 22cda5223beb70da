"""What a server wrote, made fit for a message: no control characters, not too long, no secrets."""

from __future__ import annotations

import base64
import binascii
import contextlib
import html
import json
import re
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import quote, quote_plus

from skillgen.model.value import Json

_MIN_SECRET_CHARACTERS = 4
"""Shorter values are switches and numbers; hiding those would only garble messages."""

_MIN_ECHO_CHARACTERS = 8
"""The same for documents, where a word that stands for itself would go with it."""

_HIDDEN = "[hidden]"

_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_SECRET_NAME = re.compile(r"auth|token|secret|passw|credential|api_?key|private", re.IGNORECASE)
_USERINFO = re.compile(r"://([^/@\s]+)@")


def printable(text: str, max_characters: int = 300) -> str:
    """Gives text on one line that a terminal shows as it stands."""
    text = _ESCAPE_SEQUENCE.sub("", text)
    text = _UNPRINTABLE.sub("", text.replace("\r", "\n"))
    text = " ".join(text.split())
    return text if len(text) <= max_characters else text[: max_characters - 1] + "…"


class Secrets:
    """Values that must not stand in any message."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        lines = {line.strip() for value in values for line in value.splitlines()}
        forms = {form for line in lines if len(line) >= _MIN_SECRET_CHARACTERS for form in _forms(line)}
        self._lines = sorted(forms, key=len, reverse=True)

    def hide(self, text: str) -> str:
        """Gives text without them."""
        for line in self._lines:
            text = text.replace(line, _HIDDEN)
        return text

    def hide_in(self, data: Json) -> tuple[Json, bool]:
        """Gives what a server said without them, and whether it said any: some servers echo what they are given."""
        kept = [line for line in self._lines if len(line) >= _MIN_ECHO_CHARACTERS]
        text = json.dumps(data, ensure_ascii=False) if kept else ""
        found = Secrets(line for line in kept if json.dumps(line, ensure_ascii=False)[1:-1] in text)
        return (_mapped(data, found.hide), True) if found._lines else (data, False)

    def excerpt(self, text: str, max_characters: int = 300) -> str:
        """Gives text without them, fit for a message. They go first: a value that was cut would not be found."""
        return printable(self.hide(text), max_characters)


def _forms(value: str) -> set[str]:
    """Gives a value in the forms in which a server may repeat it: as it is, or encoded."""
    if len(value) < _MIN_ECHO_CHARACTERS:
        return {value}
    content = value.encode("utf-8", "surrogatepass")
    encoded = {base64.b64encode(content).decode(), base64.urlsafe_b64encode(content).decode()}
    inside = {_within_base64(content, offset) for offset in range(3)}
    quoted = {quote(content, safe=""), quote(content), quote_plus(content), json.dumps(value)[1:-1], html.escape(value)}
    plain = {
        *encoded,
        *(form.rstrip("=") for form in encoded),
        *inside,
        content.hex(),
        content.hex().upper(),
        value[::-1],
    }
    return {value, *plain, *(form.replace("+", "-").replace("/", "_") for form in inside), *quoted}


def _within_base64(content: bytes, offset: int) -> str:
    """Gives what a longer text in base64 has of a value, whatever stands around it: `offset` bytes before, of three."""
    encoded = base64.b64encode(bytes(offset) + content).decode().rstrip("=")
    is_whole = (offset + len(content)) % 3 == 0
    return encoded[(0, 2, 3)[offset] : None if is_whole else -1]


def secret_header_values(header: str) -> set[str]:
    """Gives what is secret in the value of a header: all of it, what follows the scheme, what `Basic` encodes, and the
    value of each cookie."""
    _, _, last = header.rpartition(" ")
    values = {header, last, *(pair.partition("=")[2].strip() for pair in header.split(";") if "=" in pair)}
    with contextlib.suppress(binascii.Error, UnicodeDecodeError):
        pair = base64.b64decode(last, validate=True).decode("utf-8")
        if header.lower().startswith("basic ") and ":" in pair:
            values |= {pair, pair.partition(":")[2]}
    return values


def _mapped(data: Json, change: Callable[[str], str]) -> Json:
    if isinstance(data, str):
        return change(data)
    if isinstance(data, list):
        return [_mapped(item, change) for item in data]
    if isinstance(data, dict):
        return {change(key): _mapped(item, change) for key, item in data.items()}
    return data


def looks_secret(name: str) -> bool:
    """Tells whether what has this name is likely a secret."""
    return _SECRET_NAME.search(name.replace("-", "_")) is not None


def secret_environment_values(given: Mapping[str, str], inherited: Mapping[str, str]) -> set[str]:
    """Gives the values of environment variables to hide: all that the user gave, and of the rest those that look so."""
    values = set(given.values())
    values.update(value for name, value in inherited.items() if looks_secret(name))
    for value in inherited.values():
        for userinfo in _USERINFO.findall(value):
            values.update((userinfo, userinfo.partition(":")[2]))
    return values


def secret_argument_values(arguments: Iterable[str]) -> set[str]:
    """Gives the values among command line arguments that an option such as `--api-key` holds."""
    values: set[str] = set()
    follows_secret = False
    for argument in arguments:
        name, equals, value = argument.partition("=")
        is_secret = looks_secret(name) and (bool(equals) or argument.startswith("-"))
        if is_secret and equals:
            values.add(value)
        elif follows_secret and not argument.startswith("-"):
            values.add(argument)
        follows_secret = is_secret and not equals
        values.update(_USERINFO.findall(argument))
    return values
