"""How a value is written into a part of a request (OpenAPI 3.1, "Parameter Object", `style` and `explode`)."""

from __future__ import annotations

import json
from urllib.parse import quote

from skillgen.model.value import Json

_RESERVED = ":/?@,;=*()"
"""Signs that `allowReserved` leaves as they are, without those that a shell or curl would take for its own."""

_SEPARATORS = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C"}


def query_pairs(name: str, value: Json, style: str = "form", explode: bool = True, reserved: bool = False) -> list[str]:
    """Gives the `name=value` pairs of a query, percent-encoded."""
    key, safe = encoded(name), _RESERVED if reserved else ""
    if isinstance(value, dict):
        if style == "deepObject":
            return [pair for member, item in value.items() for pair in _deep(f"{name}[{member}]", item, safe)]
        if explode:
            return [f"{encoded(member)}={encoded(text_of_value(item), safe)}" for member, item in value.items()]
        flat = [part for member, item in value.items() for part in (member, text_of_value(item))]
        return [f"{key}={_SEPARATORS.get(style, ',').join(encoded(part, safe) for part in flat)}"]
    if isinstance(value, list):
        texts = [encoded(text_of_value(item), safe) for item in value]
        if explode or style == "deepObject":
            return [f"{key}={text}" for text in texts]
        return [f"{key}={_SEPARATORS.get(style, ',').join(texts)}"]
    return [f"{key}={encoded(text_of_value(value), safe)}"]


def path_segment(name: str, value: Json, style: str = "simple", explode: bool = False) -> str:
    """Gives what stands for `{name}` in a path, percent-encoded."""
    if style == "matrix":
        if explode and isinstance(value, (dict, list)):
            return "".join(f";{pair}" for pair in query_pairs(name, value))
        return f";{encoded(name)}={_simple(value, explode=False)}"
    if style == "label":
        return "." + _simple(value, explode=explode).replace(",", "." if explode else ",")
    return _simple(value, explode=explode)


def header_text(value: Json, *, explode: bool = False) -> str:
    """Gives the value of a header, which is not percent-encoded."""
    if isinstance(value, dict):
        parts = [
            f"{key}={text_of_value(item)}" if explode else f"{key},{text_of_value(item)}" for key, item in value.items()
        ]
        return ",".join(parts)
    return ",".join(map(text_of_value, value)) if isinstance(value, list) else text_of_value(value)


def text_of_value(value: Json) -> str:
    """Gives a value as the text that stands for it: a text as it is, null as nothing, anything else as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def encoded(text: str, safe: str = "") -> str:
    """Gives a text percent-encoded, but for letters, digits and `-._~`."""
    return quote(text, safe=safe, errors="replace")


def _simple(value: Json, *, explode: bool) -> str:
    if isinstance(value, dict):
        mark = "=" if explode else ","
        return ",".join(f"{encoded(key)}{mark}{encoded(text_of_value(item))}" for key, item in value.items())
    if isinstance(value, list):
        return ",".join(encoded(text_of_value(item)) for item in value)
    return encoded(text_of_value(value))


def _deep(name: str, value: Json, safe: str) -> list[str]:
    if isinstance(value, dict):
        return [pair for member, item in value.items() for pair in _deep(f"{name}[{member}]", item, safe)]
    if isinstance(value, list):
        return [pair for item in value for pair in _deep(f"{name}[]", item, safe)]
    return [f"{encoded(name)}={encoded(text_of_value(value), safe)}"]
