"""The texts of a model: found wherever they stand, and changed wherever they stand.

Both walks know the model's fields only through its dataclasses, so that a field that is added is walked too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeAlias

from skillgen.model.value import Json, Value

_NO_TEXT = frozenset(
    {
        *("bool", "bool | None", "int", "int | None", "float | None", "Origins | None", "Kind", "AccessLevel"),
        *(
            "Operation | None",
            "Risk | None",
            "Location",
            "ClientTransport",
            "tuple[Problem, ...]",
            "tuple[Quotation, ...]",
        ),
    }
)
"""Types of fields that hold no text of the source."""

Change: TypeAlias = Callable[[Any, str, str, str], str | None]
"""Gives the new text for a node, the field, the old text and the pointer of the nearest node that has one; `None`
where it goes. Of a member of a JSON object the name is `FIELD:key`."""

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


class Texts:
    """The texts of the parts of a model, each part walked once, and what parts share walked once too."""

    def __init__(self) -> None:
        self.members: list[tuple[str, Json]] = []
        """The members of all JSON objects."""
        self._texts: dict[int, list[str]] = {}
        self._shared: dict[int, set[int]] = {}
        self._owners: dict[int, int] = {}

    def add(self, part: Any) -> None:
        """Walks a part."""
        owner = id(part)
        texts = self._texts.setdefault(owner, [])
        shared = self._shared.setdefault(owner, set())
        waiting = [part]
        while waiting:
            value = waiting.pop()
            kind = value.__class__
            inside: Iterable[Any]
            if kind is dict:
                # Objects of a source may be shared, and be large: each is walked for the first part that has it.
                first = self._owners.setdefault(id(value), owner)
                if first is not owner:
                    shared.add(first)
                    continue
                if id(value) in shared:
                    continue
                shared.add(id(value))
                texts.extend(value)
                inside = value.values()
                self.members.extend(value.items())
            elif kind is tuple or kind is list:
                inside = value
            elif kind in _SCALARS:
                continue
            else:
                inside = _getter(kind)(value)
            # Most fields are empty: what is skipped here costs a tenth of what goes round.
            for item in inside:
                if item:
                    if item.__class__ is str:
                        texts.append(item)
                    else:
                        waiting.append(item)

    def all(self) -> dict[str, None]:
        """Gives every text once, in the order of the parts."""
        return dict.fromkeys(text for texts in self._texts.values() for text in texts)

    def may_have(self, part: Any, texts: frozenset[str]) -> bool:
        """Tells whether one of these texts stands in a part, or in what it shares with another."""
        if not texts.isdisjoint(self._texts[id(part)]):
            return True
        others = (self._texts.get(other) for other in self._shared[id(part)])
        return any(found is not None and not texts.isdisjoint(found) for found in others)


def changed(node: Any, change: Change, pointer: str = "") -> Any:
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


def _replaced(node: Any, found: dict[str, Any]) -> Any:
    return node.__class__(**{field.name: found.get(field.name, getattr(node, field.name)) for field in fields(node)})


def _changed_value(value: Any, node: Any, name: str, change: Change, pointer: str) -> Any:
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
    return changed(value, change, pointer)
