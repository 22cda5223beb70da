"""Walks the model: its texts and pointers, the types that a schema names, the parameters without a description.

The walks know the fields only through the classes, so that a new field is walked too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache, lru_cache
from itertools import chain
from operator import attrgetter, is_
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import astuple, replace

from skillgen.model.schema import Discriminator, Parameter, Schema, bases
from skillgen.model.service import Service
from skillgen.model.values import Json, Value, child

_NO_TEXT = frozenset({
    "bool", "bool | None", "int", "int | None", "int | float | None", "Origins | None", "Kind", "AccessLevel",
    "Operation | None", "Risk | None", "SectionKind | None", "PagingMethod | None",
    "Literal['optional', 'required'] | None", "Location", "ClientTransport", "tuple[Problem, ...]",
    "tuple[Quotation, ...]",
})  # fmt: skip
"""Types of fields that hold no text of the source."""

_NO_NODES = _NO_TEXT | {
    "str", "str | None", "tuple[str, ...]", "Mapping[str, str] | None", "Mapping[str, str | None] | None", "Json",
    "tuple[Json, ...]", "tuple[Json, ...] | None", "Mapping[str, Json] | None", "Declared", "Value",
}  # fmt: skip
"""Types of fields that hold no nodes."""

PROSE_FIELDS = frozenset({"description", "summary", "instructions", "body", "text"})
"""Fields of sentences, in which a quotation can be shown. One is empty if all of its text is quoted."""

TextRewriter: TypeAlias = Callable[[Any, str, str, str], str | None]
"""Returns the new text for a node, the name of the field, the old text, and the pointer of the nearest node that has
one; `None` removes it. For a key of a JSON object, the name is `FIELD:key`."""

_POINTERS = frozenset({"pointer", "where", "source"})
_SCALARS = frozenset({type(None), bool, int, float})
_WITHOUT_NODES = _SCALARS | {str, list, Value}
_LEAVES = _WITHOUT_NODES | {dict}


@lru_cache(128)
def _fields(kind: type, without: frozenset[str] = _NO_TEXT) -> tuple[str, ...]:
    """Returns the names of the fields of a model class that may contain texts, or those of other types."""
    return tuple(name for name, type_ in field_types(kind).items() if name != "pointer" and type_ not in without)


def field_types(kind: type) -> dict[str, str]:
    """Returns the annotations of the fields of a model class, as strings."""
    return kind.__annotations__


@lru_cache(128)
def _getter(kind: type, without: frozenset[str] = _NO_TEXT) -> Callable[[Any], Any]:
    """Returns what reads these fields of a node as a tuple."""
    names = _fields(kind, without)
    return attrgetter(*names) if len(names) > 1 else lambda node: tuple(getattr(node, name) for name in names)


class TextIndex:
    """The texts of the parts of a model. What parts share is walked once, for the first of them."""

    def __init__(self) -> None:
        self.objects: list[dict[str, Json]] = []
        """All JSON objects."""
        self.parameters: list[Parameter] = []
        """All parameters and properties."""
        self._texts: dict[int, list[str]] = {}
        self._owners: dict[int, int] = {}
        self._firsts: dict[int, set[int]] = {}
        """The parts for which what a part shares was walked: earlier ones, or itself."""

    def add(self, part: Any) -> None:
        """Walks a part."""
        part_id, owners = id(part), self._owners
        texts, firsts = self._texts.setdefault(part_id, []), self._firsts.setdefault(part_id, set())
        waiting = [part]
        for value in waiting:  # which grows; most fields are empty and stay out
            kind: Any = type(value)
            if kind is str:
                texts.append(value)
            elif kind is tuple:
                waiting += value
            elif kind in _SCALARS:
                continue
            elif (first := owners.get(value_id := id(value))) is not None:
                firsts.add(first)
            else:
                owners[value_id] = part_id
                if kind is Schema:  # one node in four; all of its fields may have texts, but for flags
                    waiting += filter(None, astuple(value))
                elif kind is dict:
                    texts += value
                    self.objects.append(value)
                    waiting += value.values()
                else:
                    waiting += value if kind is list else filter(None, _getter(kind)(value))
                    if kind is Parameter:
                        self.parameters.append(value)

    def all(self) -> dict[str, None]:
        """Returns every text once, in the order of the parts."""
        return dict.fromkeys(chain.from_iterable(self._texts.values()))

    def parts_with(self, texts: frozenset[str]) -> frozenset[int]:
        """Returns the `id` of each part that contains one of these texts, or shares an object with such a part."""
        found: set[int] = set()
        for part_id, own in self._texts.items():
            if not texts.isdisjoint(own) or not found.isdisjoint(self._firsts[part_id]):
                found.add(part_id)
        return frozenset(found)


def rewrite_texts(node: Any, rewrite: TextRewriter, pointer: str = "") -> Any:
    """Returns a node with each text below it rewritten; unchanged parts are the same objects."""
    pointer = getattr(node, "pointer", None) or pointer
    new_values = {}
    for name in _fields(node.__class__):
        old = getattr(node, name)
        if old.__class__ in _SCALARS:
            continue
        # A part of the service without a pointer, such as its rate limit, is where its origin says.
        place = place_of(node, name, "") if isinstance(node, Service) and isinstance(old, Struct) else pointer
        new = _rewritten_value(old, node, name, rewrite, place)
        if new is not old:
            new_values[name] = new
    return replace(node, **new_values) if new_values else node


def place_of(node: Any, field: str, pointer: str) -> str:
    """Returns the pointer or path of a text, relative to the nearest node with a pointer."""
    name = field.partition(":")[0]
    if isinstance(node, Service):
        origin = (node.origins or {}).get(name)
        return origin.source if origin is not None and origin.kind == "declared" else name
    return child(pointer or type(node).__name__.lower(), name)


def rewrite_pointers(node: Any, rewrite: Callable[[str], str]) -> Any:
    """Returns a node, or a tuple or mapping of nodes, with each pointer into the source rewritten.

    Unchanged parts are the same objects, as is raw JSON.
    """
    kind = node.__class__
    if kind is tuple:
        items = tuple(rewrite_pointers(item, rewrite) for item in node)
        return node if all(map(is_, items, node)) else items
    if kind is dict and any(isinstance(item, Struct) for item in node.values()):
        return {key: rewrite_pointers(item, rewrite) for key, item in node.items()}
    if kind in _LEAVES:
        return node
    changed = {}
    for name in field_types(kind):
        old = getattr(node, name)
        if old.__class__ is str:
            if name in _POINTERS and (new := rewrite(old)) != old:
                changed[name] = new
        elif (new := rewrite_pointers(old, rewrite)) is not old:
            changed[name] = new
    return replace(node, **changed) if changed else node


def _rewritten_value(value: Any, node: Any, name: str, rewrite: TextRewriter, pointer: str) -> Any:
    kind = value.__class__
    if kind is str:
        return rewrite(node, name, value, pointer)
    if kind in _SCALARS:
        return value
    if kind is tuple or kind is list:
        items = [_rewritten_value(item, node, name, rewrite, pointer) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        # A removed text leaves no gap; a null in a list of JSON values stays.
        items = [new for new, old in zip(items, value, strict=True) if new is not None or old is None]
        return tuple(items) if kind is tuple else items
    if kind is dict:
        pairs = [
            (key, _rewritten_value(item, node, name, rewrite, pointer))
            for old, item in value.items()
            if (key := rewrite(node, f"{name}:key", old, pointer)) is not None
        ]
        same = len(pairs) == len(value) and all(
            a is c and b is d for (a, b), (c, d) in zip(pairs, value.items(), strict=True)
        )
        return value if same else dict(pairs)
    if kind is Value:
        json = _rewritten_value(value.json, node, name, rewrite, pointer)
        return value if json is value.json else Value(json)
    return rewrite_texts(value, rewrite, pointer)


def nodes_in(*values: Any) -> Iterator[Struct]:
    """Yields the nodes that values, or tuples of nodes, consist of, themselves first, in their order."""
    waiting: list[Any] = [values]
    while waiting:
        value = inside = waiting.pop()
        if value.__class__ is dict:  # not raw JSON
            inside = [item for item in value.values() if isinstance(item, Struct)]
        elif value.__class__ is not tuple:
            yield value
            inside = _getter(value.__class__, _NO_NODES)(value)
        if any(inside):  # most nodes contain no others
            waiting += [item for item in reversed(inside) if item and item.__class__ not in _WITHOUT_NODES]


def with_shared_parameters(service: Service) -> Service:
    """Returns a service whose tools share each parameter that differs in its pointer only, so that it is written once.

    Few properties of bodies are the same, and they are large. Commands list each of theirs, and a quotation is put back
    by the pointer of what had it.
    """
    if service.kind == "cli" or service.quotations or any(tool.quotations for tool in service.tools):
        return service
    known: dict[str, Parameter] = {}
    items = {id(item): item for tool in service.tools for item in tool.parameters if item.location != "body"}
    bare = {key: replace(item, pointer="") for key, item in items.items()}
    shared = {key: known.setdefault(repr(item), item) for key, item in bare.items()}
    tools = (
        replace(tool, parameters=tuple(shared.get(id(it), it) for it in tool.parameters)) for tool in service.tools
    )
    return replace(service, tools=tuple(tools))


def types_named_in(*values: Any) -> dict[str, None]:
    """Returns the names of the types that nodes, or tuples of nodes, refer to directly, in their order."""
    found: list[str | None] = []
    for node in nodes_in(*values):
        if isinstance(node, Schema):
            found += bases(node)
        elif isinstance(node, Discriminator):
            found += (*(node.mapping or {}).values(), node.default)
    return dict.fromkeys(filter(None, found))


def types_reached(names: Iterable[str], references: Callable[[str], Collection[str] | None]) -> set[str]:
    """Returns the types of these names and those that they refer to, directly or through others."""
    used, waiting = set[str](), [*names]
    while waiting:
        if (name := waiting.pop()) not in used and (named := references(name)) is not None:
            used.add(name)
            waiting += named
    return used


def type_references(service: Service) -> Callable[[str], Collection[str] | None]:
    """Returns a function that returns the types to which a named type refers directly; `None` for another name."""
    schemas = {item.name: item.schema for item in service.schemas}
    return cache(lambda name: types_named_in(schemas[name]) if name in schemas else None)
