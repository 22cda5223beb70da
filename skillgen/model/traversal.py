"""Walk and rewrite texts; which tool uses which type.

The texts of a model: found wherever they stand, and changed wherever they stand.

Both walks know the model's fields only through its dataclasses, so that a field that is added is walked too.

Which tools send and return a named type: what a change of the type means is told by them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeAlias

from skillgen.model.schema import Schema
from skillgen.model.service import Service
from skillgen.model.values import Json, Value

_NO_TEXT = frozenset(
    {
        *("bool", "bool | None", "int", "int | None", "float | None", "Origins | None", "Kind", "AccessLevel"),
        *(
            "Operation | None",
            "Risk | None",
            "Literal['optional', 'required'] | None",
            "Location",
            "ClientTransport",
            "tuple[Problem, ...]",
            "tuple[Quotation, ...]",
        ),
    }
)
"""Types of fields that hold no text of the source."""

TextRewriter: TypeAlias = Callable[[Any, str, str, str], str | None]
"""Gives the new text for a node, the field, the old text and the pointer of the nearest node that has one; `None`
where it goes. Of a member of a JSON object the name is `FIELD:key`."""

_POINTERS = frozenset({"pointer", "where", "source"})
_SCALARS = frozenset({type(None), bool, int, float})


@lru_cache(64)
def text_fields(kind: type) -> tuple[str, ...]:
    """Gives the names of the fields of a model's class in which texts may stand."""
    return tuple(field.name for field in fields(kind) if field.name != "pointer" and field.type not in _NO_TEXT)


@lru_cache(64)
def field_types(kind: type) -> dict[str, str]:
    """Gives the types of the fields of a model's class, as they are written."""
    return {field.name: str(field.type) for field in fields(kind)}


@lru_cache(64)
def _getter(kind: type) -> Callable[[Any], Any]:
    return attrgetter(*text_fields(kind), text_fields(kind)[0])


class TextIndex:
    """The texts of the parts of a model. What parts share is walked once, for the first of them."""

    def __init__(self) -> None:
        self.members: list[tuple[str, Json]] = []
        """The members of all JSON objects."""
        self._texts: dict[int, list[str]] = {}
        self._owners: dict[int, int] = {}
        self._sharers: dict[int, set[int]] = {}

    def add(self, part: Any) -> None:
        """Walks a part."""
        part_id = id(part)
        texts = self._texts.setdefault(part_id, [])
        owners, first_owners = self._owners, set()
        waiting = [part]
        while waiting:
            value = waiting.pop()
            kind = value.__class__
            inside: Iterable[Any]
            if kind is tuple:
                inside = value
            elif kind in _SCALARS:
                continue
            elif (first := owners.get(id(value))) is not None:
                first_owners.add(first)
                continue
            else:
                owners[id(value)] = part_id
                if kind is dict:
                    texts.extend(value)
                    self.members.extend(value.items())
                    inside = value.values()
                else:
                    inside = value if kind is list else _getter(kind)(value)
            # Most fields are empty: what is skipped here costs a tenth of what goes round.
            for item in inside:
                if item:
                    if item.__class__ is str:
                        texts.append(item)
                    else:
                        waiting.append(item)
        for first in first_owners - {part_id}:
            self._sharers.setdefault(first, set()).add(part_id)

    def all(self) -> dict[str, None]:
        """Gives every text once, in the order of the parts."""
        return dict.fromkeys(text for texts in self._texts.values() for text in texts)

    def parts_with(self, texts: frozenset[str]) -> frozenset[int]:
        """Gives the `id` of each part in which one of these texts stands, or may stand in what it shares."""
        found: set[int] = set()
        waiting = [part_id for part_id, own in self._texts.items() if not texts.isdisjoint(own)]
        while waiting:
            part_id = waiting.pop()
            if part_id not in found:
                found.add(part_id)
                waiting.extend(self._sharers.get(part_id, ()))
        return frozenset(found)


def rewrite_texts(node: Any, change: TextRewriter, pointer: str = "") -> Any:
    """Gives a node with each text below it changed; parts in which nothing changes are the same objects."""
    kind = node.__class__
    pointer = getattr(node, "pointer", None) or pointer
    found = {}
    for name in text_fields(kind):
        old = getattr(node, name)
        if old.__class__ in _SCALARS:
            continue
        new = _changed_value(old, node, name, change, pointer)
        if new is not old:
            found[name] = new
    return _replaced(node, found) if found else node


def rewrite_pointers(node: Any, change: Callable[[str], str]) -> Any:
    """Gives a node, or a tuple or mapping of nodes, with each pointer into the source below it changed."""
    if isinstance(node, tuple):
        return tuple(rewrite_pointers(item, change) for item in node)
    if isinstance(node, Mapping):
        return {key: rewrite_pointers(item, change) for key, item in node.items()}
    if not is_dataclass(node) or isinstance(node, (type, Value)):
        return node
    found = {}
    for field in fields(node):
        old = getattr(node, field.name)
        is_pointer = field.name in _POINTERS and isinstance(old, str)
        found[field.name] = change(old) if is_pointer else rewrite_pointers(old, change)
    return node.__class__(**found)


def _replaced(node: Any, found: dict[str, Any]) -> Any:
    return node.__class__(**{field.name: found.get(field.name, getattr(node, field.name)) for field in fields(node)})


def _changed_value(value: Any, node: Any, name: str, change: TextRewriter, pointer: str) -> Any:
    kind = value.__class__
    if kind is str:
        return change(node, name, value, pointer)
    if kind in _SCALARS:
        return value
    if kind is tuple or kind is list:
        items = [_changed_value(item, node, name, change, pointer) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        # A text that goes leaves no gap; null in a list of JSON values stays.
        items = [new for new, old in zip(items, value, strict=True) if new is not None or old is None]
        return tuple(items) if kind is tuple else items
    if kind is dict:
        pairs = [
            (key, _changed_value(item, node, name, change, pointer))
            for old, item in value.items()
            if (key := change(node, f"{name}:key", old, pointer)) is not None
        ]
        same = len(pairs) == len(value) and all(
            a is c and b is d for (a, b), (c, d) in zip(pairs, value.items(), strict=True)
        )
        return value if same else dict(pairs)
    if kind is Value:
        json = _changed_value(value.json, node, name, change, pointer)
        return value if json is value.json else Value(json)
    return rewrite_texts(value, change, pointer)


class TypeUsage:
    """The tools of services by the named types that they reach, through other types too."""

    def __init__(self, services: Iterable[Service]) -> None:
        self._above: dict[str, set[str]] = defaultdict(set)
        self._sent: dict[str, dict[str, None]] = defaultdict(dict)
        self._returned: dict[str, dict[str, None]] = defaultdict(dict)
        for service in services:
            for named in service.schemas:
                for name in referenced_types(named.schema):
                    self._above[name].add(named.name)
            for tool in service.tools:
                for parameter in tool.parameters:
                    for name in referenced_types(parameter.schema):
                        self._sent[name][tool.name] = None
                output = tool.output.schema if tool.output is not None else None
                for name in referenced_types(output) if output is not None else ():
                    self._returned[name][tool.name] = None

    def sent_by(self, name: str) -> tuple[str, ...]:
        """Gives the tools in whose parameters a type stands."""
        return self._users(name, self._sent)

    def returned_by(self, name: str) -> tuple[str, ...]:
        """Gives the tools in whose results it stands."""
        return self._users(name, self._returned)

    def _users(self, name: str, tools: dict[str, dict[str, None]]) -> tuple[str, ...]:
        seen, waiting = {name}, [name]
        while waiting:
            for other in self._above.get(waiting.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return tuple(sorted({tool for item in seen for tool in tools.get(item, ())}))


def referenced_types(schema: Schema) -> Iterator[str]:
    """Gives the names of the types to which a schema refers itself, some of them more than once."""
    waiting = [schema]
    while waiting:
        item = waiting.pop()
        if item.ref:
            yield item.ref
        yield from item.includes
        if item.discriminator is not None:
            held = (item.discriminator.mapping or {}).values()
            yield from filter(None, (*held, item.discriminator.default))
        waiting += [parameter.schema for parameter in item.properties]
        waiting += [*item.also, *item.alternatives, *item.prefix_items, *(item.patterns or {}).values()]
        for inner in (item.additional, item.items, item.contains, item.content):
            if isinstance(inner, Schema):
                waiting.append(inner)
        for condition in item.conditions:
            waiting += [inner for inner in (condition.then, condition.otherwise) if inner is not None]
