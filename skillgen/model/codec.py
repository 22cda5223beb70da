"""Encodes the model as JSON and decodes it, without loss.

A field with its default value is omitted, so that a large service stays small; an absent key means the default.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

from skillgen.model.values import Json, Value, child

Node = TypeVar("Node")
Unknown = list[str]
"""JSON pointers to what the model does not know, which is left out."""

Decoder = Callable[[Json, Unknown], Any]


class DecodeError(ValueError):
    """The JSON does not match the model; the message begins with the JSON pointer."""


class _UnknownChoiceError(DecodeError):
    """A value is not one of the choices; another release may know it."""


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


def from_json(cls: type[Node], data: Json, pointer: str = "") -> tuple[Node, list[str]]:
    """Returns the node of the model that `to_json` encoded, and JSON pointers to what the model does not know: fields
    and choices of another release, which are left out.

    Raises:
        DecodeError: a key is missing, or a value has the wrong type.
    """
    annotation: Any = cls
    decode, unknown = _decoder(annotation), Unknown()
    try:
        node = typing.cast(Node, decode(data, unknown))
    except DecodeError as error:
        raise DecodeError(f"{pointer}{error}") from None
    return node, [f"{pointer}{item}" for item in unknown]


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
        return lambda data, unknown: data
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return _decode_value if annotation is Value else functools.partial(_decode_node, annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        if Value in arguments:
            return _decode_value
        decoders = tuple(_decoder(member) for member in arguments if member is not types.NoneType)
        return functools.partial(_decode_first, decoders, types.NoneType in arguments)
    if origin is tuple:
        return functools.partial(_decode_tuple, _decoder(arguments[0]))
    if origin is typing.Literal:
        return functools.partial(_decode_choice, arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return functools.partial(_decode_mapping, _decoder(arguments[1]))
    return functools.partial(_decode_scalar, annotation)


def _decode_value(data: Json, unknown: Unknown) -> Value:
    return Value(data)


def _decode_scalar(annotation: type, data: Json, unknown: Unknown) -> Any:
    if annotation is float and isinstance(data, int) and not isinstance(data, bool):
        return data
    if not isinstance(data, annotation) or (annotation is int and isinstance(data, bool)):
        raise DecodeError(f": expected {annotation.__name__}, found {type(data).__name__}")
    return data


def _decode_choice(choices: tuple[Any, ...], data: Json, unknown: Unknown) -> Any:
    if data not in choices:
        raise _UnknownChoiceError(f": expected one of {', '.join(map(str, choices))}, found {data!r}")
    return data


def _decode_tuple(item: Decoder, data: Json, unknown: Unknown) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise DecodeError(f": expected a list, found {type(data).__name__}")
    return tuple(_known(enumerate(data), lambda index: item, unknown).values())


def _decode_mapping(item: Decoder, data: Json, unknown: Unknown) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise DecodeError(f": expected an object, found {type(data).__name__}")
    return _known(data.items(), lambda key: item, unknown)


def _decode_first(decoders: tuple[Decoder, ...], optional: bool, data: Json, unknown: Unknown) -> Any:
    if data is None and optional:
        return None
    failure: DecodeError | None = None
    for decode in decoders:
        try:
            return decode(data, unknown)
        except DecodeError as error:
            failure = error
    assert failure is not None
    raise failure


def _decode_node(cls: type, data: Json, unknown: Unknown) -> Any:
    if not isinstance(data, dict):
        raise DecodeError(f": expected an object, found {type(data).__name__}")
    count = len(unknown)
    values = _known(data.items(), _field_decoders(cls).get, unknown)
    try:
        return cls(**values)
    except TypeError as error:
        if len(unknown) > count:
            raise _UnknownChoiceError(f"{unknown[count]}: this release does not know it") from None
        raise DecodeError(f": {error}") from None


@functools.cache
def _field_decoders(cls: type) -> dict[str, Decoder]:
    return {item.name: _decoder(item.type) for item in fields(cls)}


def _known(
    items: Iterable[tuple[Any, Json]], decoder_of: Callable[[Any], Decoder | None], unknown: Unknown
) -> dict[Any, Any]:
    """Decodes the members of a container, without those that the model does not know."""
    values = {}
    for key, value in items:
        decode, count = decoder_of(key), len(unknown)
        try:
            if decode is None:
                raise _UnknownChoiceError
            values[key] = decode(value, unknown)
            unknown[count:] = [f"{child('', key)}{item}" for item in unknown[count:]]
        except _UnknownChoiceError:
            unknown[count:] = [child("", key)]
        except DecodeError as error:
            raise DecodeError(f"{child('', key)}{error}") from None
    return values
