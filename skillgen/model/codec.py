"""Encodes the model as JSON and decodes it, without loss.

A field with its default value is omitted, or an empty object, so that a large service stays small; an absent key means
the default.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import UNSET, Struct, ValidationError, to_builtins
from msgspec.structs import fields

from skillgen.model.values import Json, Value, child
from skillgen.typed import convert

Node = TypeVar("Node")


class DecodeError(ValueError):
    """The JSON does not match the model; the message begins with the JSON pointer."""


def to_json(value: Any) -> Json:
    """Returns a node of the model, or a tuple of nodes, as JSON; its arrays are lists or tuples."""
    return to_builtins(value, enc_hook=lambda item: item.json)


def from_json(cls: type[Node], data: Json, pointer: str = "") -> tuple[Node, list[str]]:
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
