"""Writes values into parts of a request, and reads them (OpenAPI 3.2, "Style Values"; Swagger 2.0, `collectionFormat`).

The example calls, the sentences on how a parameter is sent, `call` and the mock use these functions, and both
directions one table of separators. Not every style encodes its separator in an item: a header with a comma is a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from urllib.parse import quote, unquote

from skillgen.model.values import Json

QUERY_STRING = "querystring"
"""The style of a value that is the complete query string (OpenAPI 3.2, `in: querystring`)."""

LINES = "lines"
"""The style of a body with one item a line (OpenAPI 3.2, "Sequential Media Types")."""

RECORDS = "records"
"""The style of a body of records, each between a record separator and a line feed (RFC 7464,
`application/json-seq`)."""

MATCHED_LENGTH = 200
"""Characters of the longest string that `call.py` matches with a pattern."""

_JSON_SEQUENCES = frozenset({"application/json-seq", "application/geo+json-seq"})
"""Media types of JSON values, each after a record separator (RFC 7464)."""

_JSON_LINES = frozenset(
    {f"application/{name}" for name in ("jsonl", "json-lines", "x-jsonlines", "ndjson", "x-ndjson", "x-json-stream")}
)
"""Media types of JSON values on a line each."""

URL_ENCODED = "application/x-www-form-urlencoded"

_TEXT_MEDIA_TYPES = re.compile(r"text/|application/(?:graphql|yaml|x-yaml|sql|javascript)\b|.*(?:\+|/)xml\b")

_RESERVED_IN_QUERY = ":/?@,;=*()"
"""Characters that `allowReserved` leaves literal, except those that a shell or curl would interpret."""

_RESERVED_IN_PATH = "/:@,;=()"
"""Characters that are literal in a path that is not encoded."""

_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
"""Separators between the items of a list; the last one is `tsv` of Swagger 2.0. Any other style uses a comma."""

_EXPLODED_SEPARATORS = {"label": ".", "matrix": ";"}
"""Separators in a path between items or members that are sent separately."""

_DEEP_KEY = re.compile(r"\[([^\[\]]*)\]")


def default_style(place: str) -> str:
    """Returns the style of a parameter in a place that declares none."""
    return "simple" if place in ("path", "header") else "form"


def is_exploded(style: str, explode: object) -> bool:
    """True if each item of a list, or each property of an object, is sent separately."""
    return explode if isinstance(explode, bool) else style in ("form", "deepObject", "cookie")


def query_pairs(name: str, value: Json, style: str = "form", explode: bool = True, reserved: bool = False) -> list[str]:
    """Returns the `name=value` pairs of a query, percent-encoded."""
    key, safe = percent_encode(name), _RESERVED_IN_QUERY if reserved else ""
    if style == "deepObject" and isinstance(value, (dict, list)):
        return _deep(name, value, safe)
    if isinstance(value, dict) and explode:
        return [f"{percent_encode(member)}={percent_encode(value_text(item), safe)}" for member, item in value.items()]
    if isinstance(value, list) and explode:
        return [f"{key}={percent_encode(value_text(item), safe)}" for item in value]
    separator = percent_encode(_separator(style), safe=",")
    return [f"{key}={separator.join(percent_encode(text, safe) for text in _texts(value))}"]


def path_segment(name: str, value: Json, style: str = "simple", explode: bool = False, reserved: bool = False) -> str:
    """Returns what replaces `{name}` in a path, percent-encoded; with `reserved`, reserved characters stay literal."""
    if reserved and isinstance(value, str):
        return percent_encode(value, _RESERVED_IN_PATH)
    if style == "matrix" and explode:
        return "".join(f";{pair}" for pair in query_pairs(name, value))
    separator = percent_encode(_separator(style, explode), safe=",")
    return _path_prefix(name, style) + separator.join(_texts(value, explode, percent_encode))


def header_text(value: Json, style: str = "simple", *, explode: bool = False) -> str:
    """Returns the value of a header, which is not percent-encoded."""
    return _separator(style).join(_texts(value, explode=explode))


def cookie_text(name: str, value: Json, style: str = "form", *, explode: bool = True) -> str:
    """Returns a cookie, or several: percent-encoded, except in the style `cookie` of 3.2."""
    if style != "cookie":
        return f"{percent_encode(name)}={percent_encode(header_text(value))}"
    if explode and isinstance(value, dict):
        return "; ".join(f"{key}={value_text(item)}" for key, item in value.items())
    if explode and isinstance(value, list):
        return "; ".join(f"{name}={value_text(item)}" for item in value)
    return f"{name}={header_text(value)}"


def written(
    place: str, name: str, value: Json, style: str | None = None, explode: bool | None = None, reserved: bool = False
) -> list[str]:
    """Returns a parameter as sent: a segment of the path, pairs of the query, the text of a header, a cookie."""
    style = style or ("simple" if place in ("path", "header") else "form")  # a line of `call.py`
    explode = is_exploded(style, explode)
    if place == "path":
        return [path_segment(name, value, style, explode, reserved)]
    if style == QUERY_STRING:
        return [percent_encode(value_text(value))]
    if place == "query":
        return query_pairs(name, value, style, explode, reserved)
    return [
        header_text(value, style, explode=explode)
        if place == "header"
        else cookie_text(name, value, style, explode=explode)
    ]


def form_pairs(
    name: str, value: Json, style: str | None = None, explode: bool | None = None, reserved: bool = False
) -> list[str]:
    """Returns the pairs of one field of a form: without a style, a list is repeated fields and an object is JSON."""
    if style is None and explode is None:
        return query_pairs(name, value_text(value) if isinstance(value, dict) else value)
    style = style or "form"
    return query_pairs(name, value, style, is_exploded(style, explode), reserved)


def form_fields(name: str, value: Json, style: str | None = None, explode: bool | None = None) -> list[tuple[str, str]]:
    """Returns the pairs of one field of a form as names and values, without percent-encoding."""
    pairs = (pair.partition("=") for pair in form_pairs(name, value, style, explode))
    return [(unquote(key), unquote(text)) for key, _, text in pairs]


def part_items(
    name: str, value: Json, media_type: str | None, style: str | None = None, explode: bool | None = None
) -> list[tuple[str, Json, str | None]]:
    """Returns the parts of one field of a multipart body, each with its name and media type: objects are JSON.

    With a style they are the pairs of a form (OpenAPI 3.1, "Encoding Object").
    """
    if media_type is None and (style is not None or explode is not None):
        return [(key, text, None) for key, text in form_fields(name, value, style, explode)]
    return [
        (name, item, media_type or ("application/json" if isinstance(item, (dict, list)) else None))
        for item in (value if isinstance(value, list) else [value])
    ]


# -- the other direction -----------------------------------------------------------------------------------------------


def read_pairs(text: str, separator: str = "&") -> list[tuple[str, str]]:
    """Returns the pairs of a query, a form, a cookie or an exploded path: decoded names, values as they were sent."""
    pairs = (pair.strip().partition("=") for pair in text.split(separator) if pair.strip())
    place = "query" if separator == "&" else "path"
    return [(read_text(place, name), value) for name, _, value in pairs]


def read_path(name: str, text: str, style: str, explode: bool) -> list[tuple[str, str]]:
    """Returns the pairs of a segment of a path: one with the name of the parameter, unless it is an exploded matrix."""
    if style == "matrix" and explode:
        return read_pairs(text, ";")
    return [(name, text.removeprefix(_path_prefix(name, style)))]


def read_text(place: str, text: str, style: str = "form") -> str:
    """Returns a value that is sent as a string, decoded as its place needs it; `body` is a part of a multipart body."""
    if place in ("header", "body") or style == "cookie":
        return text
    return unquote(text.replace("+", " ") if place == "query" else text)


def are_separate(place: str, style: str, explode: bool) -> bool:
    """True if each item of a list is a pair."""
    return explode and (place in ("query", "body") or style in ("matrix", "cookie"))


def read_joined(place: str, text: str, style: str, explode: bool) -> tuple[list[str], list[tuple[str, str]]]:
    """Returns the items of a list and the members of an object that are joined in one string."""
    separator = _separator(style, explode and place == "path")
    is_encoded = place in ("query", "path") and separator in ",."  # in an item; other separators are encoded as well
    text, place = (text, place) if is_encoded else (read_text(place, text, style), "header")
    pieces = text.split(separator) if text else []
    pairs = (piece.partition("=")[::2] for piece in pieces)
    members = pairs if explode else zip(pieces[::2], pieces[1::2], strict=False)
    decoded = [(read_text(place, key), read_text(place, item)) for key, item in members]
    return [read_text(place, piece) for piece in pieces], decoded


def read_tree(pairs: Iterable[tuple[str, str]], whole: Collection[str] = ()) -> dict[str, Json]:
    """Returns names and strings as a tree whose leaves are lists of strings: `name[a][]` is two levels below `name`.

    Names that are in `whole` have no such parts.
    """
    root: dict[str, Json] = {}
    for key, text in pairs:
        name, parts = key.partition("[")[0], _DEEP_KEY.findall(key)
        if key in whole or not name or key != name + "".join(f"[{part}]" for part in parts):
            name, parts = key, []
        place: Json = root
        for part in (name, *parts[:-1]) if parts else ():
            place = place.setdefault(part, {}) if isinstance(place, dict) else None
        last = parts[-1] if parts else name
        if isinstance(place, dict) and isinstance(leaf := place.setdefault(last, []), list):
            leaf.append(text)
    return root


# -- bodies and strings ------------------------------------------------------------------------------------------------


def sequence_text(items: list[Json], start: str = "") -> str:
    """Returns a body of one item a line, each after `start`."""
    return "".join(f"{start}{json.dumps(item, ensure_ascii=False)}\n" for item in items)


def value_text(value: Json) -> str:
    """Returns a value as a string: a string unchanged, null as the empty string, anything else as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def is_json(media_type: str) -> bool:
    """True for a media type of JSON."""
    return media_type.partition(";")[0].strip().lower().endswith(("/json", "+json"))


def is_json_sequence(media_type: str) -> bool:
    """True for a media type of JSON values that follow a record separator each."""
    return media_kind(media_type) == RECORDS


def media_kind(media_type: str) -> str:
    """Returns how the content of a media type is written: `json`, the styles `lines` and `records`, `form`,
    `multipart`, `xml`, `text`, or `file` for any other."""
    name = essence_of(media_type)
    if name in _JSON_LINES or name in _JSON_SEQUENCES:
        return LINES if name in _JSON_LINES else RECORDS
    if is_json(name):
        return "json"
    if name == URL_ENCODED or name.startswith("multipart/"):
        return "form" if name == URL_ENCODED else "multipart"
    is_text = _TEXT_MEDIA_TYPES.match(name) is not None
    return "xml" if name.endswith(("/xml", "+xml")) else "text" if is_text else "file"


def essence_of(media_type: str) -> str:
    """Returns a media type without parameters, in lower case."""
    return media_type.partition(";")[0].strip().lower()


@lru_cache(1 << 12)
def percent_encode(text: str, safe: str = "") -> str:
    """Percent-encodes everything except letters, digits, `-._~` and the characters of `safe`."""
    return quote(text, safe=safe, errors="replace")


def _separator(style: str, explode: bool = False) -> str:
    exploded = _EXPLODED_SEPARATORS.get(style) if explode else None
    return exploded or _SEPARATORS.get(style, ",")


def _path_prefix(name: str, style: str) -> str:
    return "." if style == "label" else f";{percent_encode(name)}=" if style == "matrix" else ""


def _texts(value: Json, explode: bool = False, encode: Callable[[str], str] = str) -> list[str]:
    """Returns the strings to join: of an object, each name followed by its value, or with `explode` each pair."""
    if isinstance(value, dict):
        pairs = [(encode(key), encode(value_text(item))) for key, item in value.items()]
        return ["=".join(pair) for pair in pairs] if explode else [text for pair in pairs for text in pair]
    return [encode(value_text(item)) for item in (value if isinstance(value, list) else [value])]


def _deep(name: str, value: Json, safe: str) -> list[str]:
    """Returns a pair for each nested value.

    OpenAPI has no rule for lists; `name[]` is the most common form, and `name[0]` where an item has members.
    """
    if isinstance(value, dict):
        return [pair for member, item in value.items() for pair in _deep(f"{name}[{member}]", item, safe)]
    if isinstance(value, list):
        has_members = any(isinstance(item, (dict, list)) for item in value)
        named = [(f"{name}[{index}]" if has_members else f"{name}[]", item) for index, item in enumerate(value)]
        return [pair for key, item in named for pair in _deep(key, item, safe)]
    return [f"{percent_encode(name)}={percent_encode(value_text(value), safe)}"]
