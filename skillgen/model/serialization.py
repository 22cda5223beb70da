"""How a value is written into a part of a request (OpenAPI 3.2, "Style Values"; Swagger 2.0, `collectionFormat`).

The calls in the documents and the words that tell how a parameter is sent come from the same functions.
"""

from __future__ import annotations

import json
from urllib.parse import quote

from skillgen.model.values import Json

QUERY_STRING = "querystring"
"""The style of a value that is the whole query string (OpenAPI 3.2, `in: querystring`)."""

LINES = "lines"
"""The style of a body whose items stand on a line each (OpenAPI 3.2, "Sequential Media Types")."""

RECORDS = "records"
"""The style of a body whose items are records, each between two signs (RFC 7464, `application/json-seq`)."""

_OF_RECORDS = frozenset({"application/json-seq", "application/geo+json-seq"})
"""Media types of JSON values, each after a record separator (RFC 7464)."""

_RESERVED = ":/?@,;=*()"
"""Signs that `allowReserved` leaves as they are, without those that a shell or curl would take for its own."""

_PATH_SIGNS = "/:@,;=()"
"""Signs that stand for themselves in a path that is written as it is."""

_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
"""What stands between the items of a list; the last is the `tsv` of Swagger 2.0. Any other style has a comma."""


def is_exploded(style: str, explode: object) -> bool:
    """Tells whether each item of a list, or each property of an object, is sent on its own."""
    return explode if isinstance(explode, bool) else style in ("form", "deepObject", "cookie")


def query_pairs(name: str, value: Json, style: str = "form", explode: bool = True, reserved: bool = False) -> list[str]:
    """Gives the `name=value` pairs of a query, percent-encoded."""
    key, safe = percent_encode(name), _RESERVED if reserved else ""
    if style == "deepObject" and isinstance(value, (dict, list)):
        return _deep(name, value, safe)
    if isinstance(value, dict) and explode:
        return [f"{percent_encode(member)}={percent_encode(value_text(item), safe)}" for member, item in value.items()]
    if isinstance(value, list) and explode:
        return [f"{key}={percent_encode(value_text(item), safe)}" for item in value]
    separator = _SEPARATORS.get(style, ",")
    between = separator if separator == "," else percent_encode(separator)
    return [f"{key}={between.join(percent_encode(text, safe) for text in _texts(value))}"]


def path_segment(name: str, value: Json, style: str = "simple", explode: bool = False, reserved: bool = False) -> str:
    """Gives what stands for `{name}` in a path, percent-encoded; `reserved` signs of a path stay as they are."""
    if reserved and isinstance(value, str):
        return percent_encode(value, _PATH_SIGNS)
    if style == "matrix":
        if explode and isinstance(value, (dict, list)):
            return "".join(f";{pair}" for pair in query_pairs(name, value))
        return f";{percent_encode(name)}={_simple(value, explode=False)}"
    if style == "label":
        return "." + _simple(value, explode=explode).replace(",", "." if explode else ",")
    separator = _SEPARATORS.get(style)
    return (
        _simple(value, explode=explode).replace(",", percent_encode(separator))
        if separator
        else _simple(value, explode)
    )


def header_text(value: Json, style: str = "simple", *, explode: bool = False) -> str:
    """Gives the value of a header, which is not percent-encoded."""
    if isinstance(value, dict) and explode:
        return ",".join(f"{key}={value_text(item)}" for key, item in value.items())
    return _SEPARATORS.get(style, ",").join(_texts(value))


def cookie_text(name: str, value: Json, style: str = "form", *, explode: bool = True) -> str:
    """Gives a cookie, or several: percent-encoded, but in the style `cookie` of 3.2 as they are."""
    if style != "cookie":
        return f"{percent_encode(name)}={percent_encode(header_text(value))}"
    if explode and isinstance(value, dict):
        return "; ".join(f"{key}={value_text(item)}" for key, item in value.items())
    if explode and isinstance(value, list):
        return "; ".join(f"{name}={value_text(item)}" for item in value)
    return f"{name}={header_text(value)}"


def value_text(value: Json) -> str:
    """Gives a value as the text that stands for it: a text as it is, null as nothing, anything else as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def is_json_sequence(media_type: str) -> bool:
    """Tells whether a media type is of JSON values that each stand after a record separator."""
    return media_type.partition(";")[0].strip().lower() in _OF_RECORDS


def percent_encode(text: str, safe: str = "") -> str:
    """Gives a text percent-encoded, but for letters, digits and `-._~`."""
    return quote(text, safe=safe, errors="replace")


def _texts(value: Json) -> list[str]:
    """Gives the texts that are joined: of an object, each name and then its value."""
    if isinstance(value, dict):
        return [part for key, item in value.items() for part in (key, value_text(item))]
    return list(map(value_text, value)) if isinstance(value, list) else [value_text(value)]


def _simple(value: Json, explode: bool) -> str:
    if isinstance(value, dict) and explode:
        return ",".join(f"{percent_encode(key)}={percent_encode(value_text(item))}" for key, item in value.items())
    return ",".join(map(percent_encode, _texts(value)))


def _deep(name: str, value: Json, safe: str) -> list[str]:
    """Gives a pair for each value within; for lists OpenAPI has no rule, and this is the form that most know."""
    if isinstance(value, dict):
        return [pair for member, item in value.items() for pair in _deep(f"{name}[{member}]", item, safe)]
    if isinstance(value, list):
        return [pair for item in value for pair in _deep(f"{name}[]", item, safe)]
    return [f"{percent_encode(name)}={percent_encode(value_text(value), safe)}"]


def is_json(media_type: str) -> bool:
    """True for a media type of JSON."""
    bare = media_type.split(";")[0].strip().lower()
    return bare.endswith(("/json", "+json"))
