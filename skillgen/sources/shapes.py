"""The shape of JSON values: their types and the names of their properties, never a value.

A shape is JSON Schema with `type`, `format`, `properties`, `required`, `additionalProperties` and `items`. An object
whose keys may be data (identifiers, dates, e-mail addresses, names of people) is a map: its shape has no key of it.
When in doubt, an object is a map.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable

from skillgen.model.values import Json
from skillgen.security.credentials import looks_random, redact
from skillgen.sources.examples.strings import singular
from skillgen.text.words import word_set, words_of

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

_COMMON_WORDS = word_set(
    """
    access account action active activity add additional address addresse admin after age agent aggregation
    algorithm alia all allow allowed amount and api app application area artifact as at attribute audit auth
    authentication author authorization auto availability available average balance base batch before billing
    binding birth blob block body brand bucket by byte call callback can capacity card case category certificate
    change channel check child city class client closed cloud cluster code collection color column comment company
    complete completed condition config configuration connection consent consumer contact container content context
    control cost count country create created creation credential currency current custom customer data database
    date day default definition delay delete deleted delivery deployment description destination detail device
    dimension direction disable disabled disk display district dns document domain done download duration effective
    email enable enabled encryption end endpoint engine entity entry environment error estimated event execution
    expected expiration expire expiry export expression extension external failed failure family feature field file
    filter first for force format free frequency from full function geo global grade group has hash header health
    height history home host hour house href html http icon id identifier identity ids ignore image import in
    include index indicator info information initial input instance internal interval ip is issue issued issuer item
    job key kind label language last lat latest latitude length level license limit line link list local locale
    locality location log logging login logo long longitude machine managed map mask match max maximum media member
    memory message meta metadata method metric min minimum minute mobile mode model modified month ms multi name
    namespace network new next no node non not note notification num number object of offset on only open operation
    operator option or order organization origin original os other out output override owner package page param
    parameter parent password path pattern payload payment pending per percent percentage performance period
    permission person phone photo pin plan platform point policy pool port position post postal prefix
    prev previous price primary principal priority private product profile progress project property protocol
    provider provisioning public published purpose quantity query range rate rating raw read reason record redirect
    ref reference refresh region registration related release remaining remote remove repeat report request
    requested required resolution resource response result retention retry return revision role root routing row
    rule run sample scale schedule scheduled schema school scope score script search second secondary secret
    security self send sequence serial server service session set setting severity share shared short show signature
    site size skip sku sort source start started stat state status step stop storage store strategy stream street
    string sub subject subscription success summary support supported system table tag target task tax template
    tenant term test text threshold tier time timeout timestamp timezone title to token top topic total
    tracking transaction transfer type uid unique unit up update updated upload uri url usage use used user username
    utc valid validation value verification verified version view virtual volume warning web website week weight
    width window with year zip zone
    """
)
"""The words, in the singular, that most services use in names of properties (of 2,500 public descriptions). With the
words of the service itself, seven of ten objects whose values have one type have no other words in their names."""

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

    def __init__(self, sent: Json = None, known: Iterable[str] = ()) -> None:
        """`sent` are the arguments of the calls. A key that is one of their strings, or of those returned, is data.

        `known` are texts of the service. In an object that is the only one at its place, and whose values have one
        type, a key of other words may be data.
        """
        self._known = _COMMON_WORDS.union(*map(_words_in, known))
        self._root, self._values = _Node(), 0
        self._words: set[str] = set()
        _add_words(sent, self._words)

    def add(self, value: Json) -> None:
        """Adds a value."""
        self._values += 1
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
        if node.members and self._has_data_as_keys(node):
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

    def _has_data_as_keys(self, node: _Node) -> bool:
        """True if the keys of objects may be data."""
        names, members = node.members.keys(), node.members.values()
        if len(names) > NAMES_LIMIT or not self._words.isdisjoint(names) or not all(map(_is_chosen, names)):
            return True
        series = Counter(_DIGITS.sub("#", name) for name in names)
        if any("#" in name and count > 2 for name, count in series.items()):  # user_1, user_2, user_3
            return True
        kinds = {frozenset(member.types - {"null"}) for member in members}
        if len(kinds) > 1:
            return False
        if node.objects <= self._values and not all(_words_in(name) <= self._known for name in names):
            return True
        if len(names) < 2:
            return False
        if kinds == {frozenset({"object"})} and _are_records(members):
            return True
        is_rarely_shared = node.objects > 1 and all(2 * count <= node.objects for count in node.counts.values())
        return is_rarely_shared or len(names) > _UNIFORM_LIMIT


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


def _are_records(members: Collection[_Node]) -> bool:
    """True if objects share most of their names: on average, a name is in more than half of them."""
    counts = Counter(name for member in members for name in member.members)
    return 2 * sum(counts.values()) >= len(counts) * (len(members) + 1)


def _words_in(text: str) -> set[str]:
    """Returns the words of a text, in the singular."""
    return {singular(word.lower()) for word in words_of(text)}


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
