"""JSON pointers (RFC 6901): written for every fact of the model, followed for every `$ref`."""

from __future__ import annotations

from urllib.parse import unquote

from skillgen.model.value import Json


def child(pointer: str, *tokens: object) -> str:
    """Gives the pointer to a member below `pointer`."""
    for token in tokens:
        pointer = f"{pointer}/{_escape(token) if isinstance(token, str) else token}"
    return pointer


def last_token(pointer: str) -> str:
    """Gives the last token of a pointer, unescaped; empty for the whole document."""
    return _unescape(pointer.rpartition("/")[2])


def shortened(pointer: str) -> str:
    """Returns the start of a pointer that is too long for a message."""
    return f"{pointer[:200]}…"


def follow(document: Json, pointer: str) -> Json:
    """Gives the value at a pointer, also one that is percent-encoded as a URI fragment.

    Raises:
        LookupError: nothing is there.
    """
    value = document
    for token in pointer.split("/")[1:]:
        if isinstance(value, dict):
            value = value[_member(value, token)]
        elif isinstance(value, list) and token.isascii() and token.isdigit() and len(token) < 10:
            value = value[int(token)]
        else:
            raise LookupError(pointer)
    return value


def _member(value: dict[str, Json], token: str) -> str:
    name = _unescape(token)
    return name if name in value else unquote(name)


def _escape(token: str) -> str:
    if "~" in token or "/" in token:
        return token.replace("~", "~0").replace("/", "~1")
    return token


def _unescape(token: str) -> str:
    if "~" in token:
        return token.replace("~1", "/").replace("~0", "~")
    return token
