"""Encodes the model as JSON and decodes it, without loss.

A field with its default value is omitted, so that a large service stays small; an absent key means the default.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

from skillgen.model.values import Json, Value, child

Node = TypeVar("Node")
Decoder = Callable[[Json], Any]


class DecodeError(ValueError):
    """The JSON does not match the model; the message begins with the JSON pointer."""


def to_json(value: Any) -> Json:
    """Returns a node of the model, or a tuple of nodes, as JSON."""
    if isinstance(value, Struct):
        if isinstance(value, Value):
            return value.json
        return {
            name: to_json(item)
            for name, default in _defaults(type(value))
            if (item := getattr(value, name)) is not default and not (type(item) is type(default) and item == default)
        }
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    # Raw JSON of the source contains no nodes: it is returned unchanged, without recursion, however deep it is.
    if isinstance(value, Mapping) and any(isinstance(item, (tuple, Struct)) for item in value.values()):
        return {key: to_json(item) for key, item in value.items()}
    return value


def from_json(cls: type[Node], data: Json, pointer: str = "") -> Node:
    """Returns the node of the model that `to_json` encoded.

    Raises:
        DecodeError: a key is missing or unknown, or a value has the wrong type.
    """
    annotation: Any = cls
    decode = _decoder(annotation)
    try:
        return typing.cast(Node, decode(data))
    except DecodeError as error:
        raise DecodeError(f"{pointer}{error}") from None


@functools.cache
def _defaults(cls: type) -> tuple[tuple[str, Any], ...]:
    return tuple((item.name, default_of(item)) for item in fields(cls))


def default_of(item: FieldInfo) -> Any:
    """Returns the default value of a field; `NODEFAULT` without a default."""
    return item.default if item.default_factory is NODEFAULT else item.default_factory()


@functools.cache
def _decoder(annotation: Any) -> Decoder:
    """Returns the function that decodes a value of this annotation. Classes are resolved on first use, since they are
    recursive."""
    if annotation is Any:
        return lambda data: data
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return Value if annotation is Value else functools.partial(_decode_node, annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        if Value in arguments:
            return Value
        decoders = tuple(_decoder(member) for member in arguments if member is not types.NoneType)
        return functools.partial(_decode_first, decoders, types.NoneType in arguments)
    if origin is tuple:
        return functools.partial(_decode_tuple, _decoder(arguments[0]))
    if origin is typing.Literal:
        return functools.partial(_decode_choice, arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return functools.partial(_decode_mapping, _decoder(arguments[1]))
    return functools.partial(_decode_scalar, annotation)


def _decode_scalar(annotation: type, data: Json) -> Any:
    if annotation is float and isinstance(data, int) and not isinstance(data, bool):
        return data
    if not isinstance(data, annotation) or (annotation is int and isinstance(data, bool)):
        raise DecodeError(f": expected {annotation.__name__}, found {type(data).__name__}")
    return data


def _decode_choice(choices: tuple[Any, ...], data: Json) -> Any:
    if data not in choices:
        raise DecodeError(f": expected one of {', '.join(map(str, choices))}, found {data!r}")
    return data


def _decode_tuple(item: Decoder, data: Json) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise DecodeError(f": expected a list, found {type(data).__name__}")
    return tuple(_at(index, item, value) for index, value in enumerate(data))


def _decode_mapping(item: Decoder, data: Json) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise DecodeError(f": expected an object, found {type(data).__name__}")
    return {key: _at(key, item, value) for key, value in data.items()}


def _decode_first(decoders: tuple[Decoder, ...], optional: bool, data: Json) -> Any:
    if data is None and optional:
        return None
    failure: DecodeError | None = None
    for decode in decoders:
        try:
            return decode(data)
        except DecodeError as error:
            failure = error
    assert failure is not None
    raise failure


def _decode_node(cls: type, data: Json) -> Any:
    if not isinstance(data, dict):
        raise DecodeError(f": expected an object, found {type(data).__name__}")
    decoders = _field_decoders(cls)
    if unknown := sorted(data.keys() - decoders.keys()):
        raise DecodeError(f"/{unknown[0]}: no such field in {cls.__name__}")
    values = {name: _at(name, decoders[name], value) for name, value in data.items()}
    try:
        return cls(**values)
    except TypeError as error:
        raise DecodeError(f": {error}") from None


@functools.cache
def _field_decoders(cls: type) -> dict[str, Decoder]:
    return {item.name: _decoder(item.type) for item in fields(cls)}


def _at(key: object, decode: Decoder, value: Json) -> Any:
    try:
        return decode(value)
    except DecodeError as error:
        raise DecodeError(f"{child('', key)}{error}") from None
