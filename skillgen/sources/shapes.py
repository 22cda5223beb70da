"""The shape of JSON values: their types and the names of their properties, never a value.

A shape is JSON Schema with `type`, `format`, `properties`, `required`, `additionalProperties` and `items`. An object
whose keys may be data (identifiers, dates, e-mail addresses, names of people) is a map: its shape has no key of it.
When in doubt, an object is a map.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

from skillgen.model.values import Json
from skillgen.security.credentials import looks_random, redact

DEPTH_LIMIT = 8
"""Levels of a shape; below, only types are known."""

NODES_LIMIT = 200
"""Types in one shape. A larger one loses its deepest levels, since a document shows all of it."""

NAMES_LIMIT = 200
"""Names of one object; the largest objects of published APIs have about half as many."""

_UNIFORM_LIMIT = 12
"""Names of an object whose values have one scalar type: more are rather entries of a table than properties."""

_NAME = re.compile(r"[@$]?[A-Za-z_][A-Za-z0-9_-]{0,39}\Z")
"""The form of names that programmers choose. A domain, a path, a sentence or a date does not have it."""

_DATA = re.compile(
    r"[0-9]{4}|[0-9][^0-9]+[0-9]"  # numbers
    r"|(?=[a-f]{0,7}[0-9])[0-9a-f]{8}|(?=[A-Z]{0,7}[0-9])[A-Z0-9]{8}"  # digests, identifiers
    r"|[a-z]{25}|[A-Z]{25}"  # no word of a language that names are in
)
"""What a name has that was probably not chosen by a programmer."""

_DIGITS = re.compile(r"[0-9]+")

_FORMATS = {
    "date-time": re.compile(r"\A\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:?\d\d)\Z"),
    "date": re.compile(r"\A\d{4}-\d\d-\d\d\Z"),
    "uuid": re.compile(r"\A[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\Z"),
    "email": re.compile(r"\A[^\s@]{1,64}@[^\s@]{1,255}\.[^\s@.]{2,}\Z"),
    "uri": re.compile(r"\A[A-Za-z][A-Za-z0-9+.-]{1,20}://\S+\Z"),
}
"""Format of JSON Schema to the form of its strings; the first that matches counts."""

_FORM_LIMIT = 2_000
"""Characters of a string whose form is looked for."""


class ShapeBuilder:
    """Merges values into one shape: a member that is not in all objects is optional, a value may have several types."""

    def __init__(self, sent: Json = None) -> None:
        """`sent` are the arguments of the calls. A key that is one of their strings, or of those returned, is data."""
        self._root = _Node()
        self._words: set[str] = set()
        _add_words(sent, self._words)

    def add(self, value: Json) -> None:
        """Adds a value."""
        self._root.add(value, DEPTH_LIMIT)
        _add_words(value, self._words)

    def shape(self) -> dict[str, Json]:
        """Returns the shape of all values; the same for the same values in any order."""
        for depth in range(DEPTH_LIMIT, 1, -1):
            self._count = 0
            shape = self._shape(self._root, depth)
            if self._count <= NODES_LIMIT:
                return shape
        return self._shape(self._root, 1)

    def _shape(self, node: _Node, depth: int) -> dict[str, Json]:
        self._count += 1
        types = sorted(node.types - ({"integer"} if "number" in node.types else set()))
        shape: dict[str, Json] = {"type": types[0] if len(types) == 1 else types} if types else {}
        if node.form:
            shape["format"] = node.form
        if depth == 1:
            return shape
        if node.items is not None and node.items.types:
            shape["items"] = self._shape(node.items, depth - 1)
        if node.members and _has_data_as_keys(node, self._words):
            values = _Node()
            for member in node.members.values():
                values.merge(member)
            shape["additionalProperties"] = self._shape(values, depth - 1)
        elif node.members:
            names = sorted(node.members)
            shape["properties"] = {name: self._shape(node.members[name], depth - 1) for name in names}
            if required := [name for name in names if node.counts[name] == node.objects]:
                shape["required"] = required
        return shape


class _Node:
    """What is known of the values at one place."""

    __slots__ = ("counts", "form", "items", "members", "objects", "types")

    def __init__(self) -> None:
        self.types: set[str] = set()
        self.form: str | None = None
        """The format of all strings; empty if they differ in it."""
        self.objects = 0
        self.members: dict[str, _Node] = {}
        self.counts: Counter[str] = Counter()
        """Name to the number of objects that have it."""
        self.items: _Node | None = None

    def add(self, value: Json, depth: int) -> None:
        if isinstance(value, dict):
            self.types.add("object")
            self.objects += 1
            for name, item in value.items() if depth > 1 else ():
                self.counts[name] += 1
                self.members.setdefault(name, _Node()).add(item, depth - 1)
        elif isinstance(value, list):
            self.types.add("array")
            self.items = self.items or _Node()
            for item in value if depth > 1 else ():
                self.items.add(item, depth - 1)
        elif isinstance(value, str):
            self.types.add("string")
            self._add_form(_form_of(value))
        else:
            self.types.add(_SCALARS[type(value)])

    def _add_form(self, form: str | None) -> None:
        if form is not None:
            self.form = form if self.form in (None, form) else ""

    def merge(self, other: _Node) -> None:
        self.types |= other.types
        self._add_form(other.form)
        self.objects += other.objects
        self.counts += other.counts
        for name, member in other.members.items():
            self.members.setdefault(name, _Node()).merge(member)
        if other.items is not None:
            self.items = self.items or _Node()
            self.items.merge(other.items)


_SCALARS = {type(None): "null", bool: "boolean", int: "integer", float: "number"}


def _form_of(text: str) -> str:
    """Returns the format of a string by its form; empty without a format."""
    text = text if len(text) <= _FORM_LIMIT else ""
    return next((name for name, form in _FORMATS.items() if form.match(text)), "")


def _has_data_as_keys(node: _Node, words: set[str]) -> bool:
    """True if the keys of objects may be data; `words` are strings of the arguments and the results."""
    names, members = node.members.keys(), node.members.values()
    if len(names) > NAMES_LIMIT or not words.isdisjoint(names) or not all(map(_is_chosen, names)):
        return True
    series = Counter(_DIGITS.sub("#", name) for name in names)
    if any("#" in name and count > 2 for name, count in series.items()):  # user_1, user_2, user_3
        return True
    kinds = {frozenset(member.types - {"null"}) for member in members}
    if len(names) < 2 or len(kinds) > 1:
        return False
    if kinds == {frozenset({"object"})} and _are_records(members):
        return True
    is_rarely_shared = node.objects > 1 and all(2 * count <= node.objects for count in node.counts.values())
    return is_rarely_shared or len(names) > _UNIFORM_LIMIT


def _are_records(members: Collection[_Node]) -> bool:
    """True if objects share most of their names: on average, a name is in more than half of them."""
    counts = Counter(name for member in members for name in member.members)
    return 2 * sum(counts.values()) >= len(counts) * (len(members) + 1)


def _is_chosen(name: str) -> bool:
    """True if a name looks like one that a programmer chose."""
    if not _NAME.match(name) or _DATA.search(name):
        return False
    return not (looks_random(name) or redact(name)[1])


def _add_words(value: Json, words: set[str]) -> None:
    """Adds the strings of a value that have the form of names.

    A string that names a sibling does not count: `{"type": "image", "image": {}}` is common.
    """
    waiting = [value]
    while waiting:
        item = waiting.pop()
        inner = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
        for member in inner:
            if isinstance(member, (dict, list)):
                waiting.append(member)
            elif isinstance(member, str) and len(member) > 2 and _NAME.match(member):
                words.update({member} - (item.keys() if isinstance(item, dict) else set()))
