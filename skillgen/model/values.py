"""JSON values, JSON pointers, origins, and small parts of many nodes of the model.

A JSON pointer (RFC 6901) is stored with every fact of the model and followed for every `$ref`.
"""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar
from urllib.parse import unquote

from msgspec import UNSET, Struct, ValidationError, to_builtins
from msgspec.structs import fields

from skillgen.typed import convert

Json: TypeAlias = Any
"""A value as `json.loads` returns it. It belongs to the source and is never modified."""


_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


NESTING_LIMIT = 200
"""Levels of nesting that are read. Published descriptions have about 40."""


def number_or_text(digits: str) -> float | str:
    """Returns a float, or the digits if it overflows: JSON cannot express infinity."""
    number = float(digits)
    return number if math.isfinite(number) else digits


def json_type(value: Json) -> str:
    """Returns the JSON type of a value."""
    return _JSON_TYPES.get(type(value), "null")


class Value:
    """A JSON value that the source declares, possibly null."""

    __slots__ = ("json",)

    json: Json
    """The value itself. Not to be changed."""

    def __init__(self, json: Json) -> None:
        self.json = json

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and bool(self.json == other.json)

    def __hash__(self) -> int:
        return hash(self.json)

    def __repr__(self) -> str:
        return f"Value({self.json!r})"


if TYPE_CHECKING:
    Declared: TypeAlias = Value | None
    """The type of a field with three states: `None` is not declared, `Value(None)` is declared as null, and `Value("")`
    is declared as empty. In JSON, a `Value` is the bare value and `None` is an absent key."""
else:  # of `Value | None`, msgspec would read null as `None`
    Declared = Value


class Node(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The base of the classes of the model."""


class Origin(Node, frozen=True):
    """Where a fact comes from, if not from the pointer of its node."""

    kind: Literal["declared", "inferred", "defaulted"]
    """`declared`: by the source or the user; `inferred`: derived from other facts; `defaulted`: the default of a
    specification for an absent value."""

    source: str
    """For a declared fact the JSON pointer into the source, or the option that set it; otherwise what the fact was
    derived from."""


Origins: TypeAlias = Mapping[str, Origin]
"""Field name to origin, for the fields of a node that are not declared at the node's own pointer."""


def is_inferred(node: Any, field: str) -> bool:
    """True if a field of a node that has origins was inferred from other facts."""
    origin: Origin | None = (node.origins or {}).get(field)
    return origin is not None and origin.kind == "inferred"


def child(pointer: str, *tokens: object) -> str:
    """Returns the pointer below `pointer` by names of a source, escaped. Fixed keys need none: `f"{pointer}/type"`."""
    for token in tokens:
        if isinstance(token, str) and ("~" in token or "/" in token):
            token = token.replace("~", "~0").replace("/", "~1")
        pointer = f"{pointer}/{token}"
    return pointer


def last_token(pointer: str) -> str:
    """Returns the last token of a pointer, unescaped; empty for the document itself."""
    return _unescape(pointer.rpartition("/")[2])


def prefixes(pointer: str) -> Iterator[str]:
    """Yields a pointer and those above it, the longest first."""
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]


def named_place(pointer: str, names: Mapping[str, str]) -> str:
    """Returns a pointer that begins with the name of the innermost object that has one, in place of its pointer."""
    start = next((prefix for prefix in prefixes(pointer) if prefix in names), "")
    return f"{names[start]}{pointer[len(start) :]}" if start else pointer


def shorten_pointer(pointer: str) -> str:
    """Returns the start of a pointer that is too long for a message."""
    return f"{pointer[:200]}…"


def follow(document: Json, pointer: str, default: Json = None) -> Json:
    """Returns the value at a pointer, which may be percent-encoded as a URI fragment; the default without one."""
    value = document
    for token in pointer.split("/")[1:]:
        if isinstance(value, dict):
            name = _unescape(token) if "~" in token else token
            value = value.get(name if name in value else unquote(name), default)
        elif isinstance(value, list) and token.isascii() and token.isdigit() and len(token) < 10:
            value = value[int(token)] if int(token) < len(value) else default
        else:
            return default
    return value


def _unescape(token: str) -> str:
    return token.replace("~1", "/").replace("~0", "~")


class Icon(Node, frozen=True, kw_only=True):
    """An icon of a service or of one of its parts (SEP-973)."""

    src: str
    """An `https:` or `data:` URI."""

    media_type: str | None = None
    """Overrides the media type that the server of `src` declares."""

    sizes: tuple[str, ...] = ()
    """Sizes such as `48x48`, or `any`."""

    theme: str | None = None
    """`light` or `dark`: the background for which it is designed."""


class Quotation(Node, frozen=True, kw_only=True):
    """A passage of the source that addresses the reader instead of describing something.

    It is removed from its field; documents show it in its place, but only as a quotation.
    """

    text: str
    """The text; untrusted."""

    field: str
    """The field from which it was removed; of a parameter, the parameter's name, a dot and the field."""

    rest: str = ""
    """What remains of the field."""

    at: int = 0
    """How many characters of the rest are before it."""

    rule: str
    """The rule that matched (`skillgen.security.injection`)."""

    pointer: str
    """JSON pointer to the text in the source."""


Decoded = TypeVar("Decoded")


class DecodeError(ValueError):
    """The JSON does not match the model; the message begins with the JSON pointer."""


def to_json(value: Any) -> Json:
    """Returns a node of the model, or a tuple of nodes, as JSON; its arrays are lists or tuples."""
    return to_builtins(value, enc_hook=lambda item: item.json)


def from_json(cls: type[Decoded], data: Json, pointer: str = "") -> tuple[Decoded, list[str]]:
    """Returns the node of the model that `to_json` encoded, and JSON pointers to what the model does not know: fields
    and choices of another release, which are left out.

    Raises:
        DecodeError: a key is missing, or a value has the wrong type.
    """
    unknown: list[str] = []
    try:
        return _converted(cls, data), unknown
    except ValidationError:
        node = _decoded(cls, data, pointer, unknown)
    if node is UNSET:
        raise DecodeError(f"{unknown[0]}: this release does not know it")
    return node, unknown


def _converted(kind: Any, data: Json) -> Any:
    return convert(data, kind, dec_hook=lambda _, item: Value(item))


def _decoded(kind: Any, data: Json, pointer: str, unknown: list[str]) -> Any:
    """Decodes part by part, so that what is wrong has a pointer; returns `UNSET` for what the model does not know."""
    if isinstance(data, (dict, list)) and typing.get_origin(kind) in (typing.Union, types.UnionType):
        kind = typing.get_args(kind)[0]  # the others are scalars
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    is_node = isinstance(kind, type) and issubclass(kind, Struct)
    if isinstance(data, dict) and (is_node or origin is Mapping):
        members = data
    elif isinstance(data, list) and origin is tuple:
        members = dict(enumerate(data))
    else:
        try:
            return _converted(kind, data)
        except ValidationError as error:
            if not str(error).startswith("Invalid enum value"):
                raise DecodeError(f"{pointer}: {str(error).replace('Expected', 'expected', 1)}") from None
            unknown.append(pointer)
            return UNSET
    kinds = {item.name: item.type for item in fields(kind)} if is_node else {}
    values, count = {}, len(unknown)
    for key, item in members.items():
        place = child(pointer, key)
        if is_node and key not in kinds:
            unknown.append(place)
        elif (value := _decoded(kinds.get(key) or arguments[origin is Mapping], item, place, unknown)) is not UNSET:
            values[key] = value
    try:
        return kind(**values) if is_node else values if origin is Mapping else tuple(values.values())
    except TypeError as error:  # a required one is missing
        if len(unknown) == count:
            raise DecodeError(f"{pointer}: {error}") from None
        return UNSET
