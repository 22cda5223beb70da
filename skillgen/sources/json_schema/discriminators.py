"""Which value of which property tells what type an object is (OpenAPI 3.1, "Discriminator Object").

The alternatives are those of `oneOf` or `anyOf`, or the types that extend the one with the discriminator by `allOf`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property

from skillgen.model.schema import Discriminator
from skillgen.model.values import Json, child, follow, last_token
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.json_schema.keywords import Report, kind_of, members

NameOf = Callable[[str, str], "str | None"]
"""Gives the name under which the type at a `$ref` is held; takes the `$ref` and the pointer of what refers to it."""

_HOMES = (("components", "schemas"), ("$defs",), ("definitions",))
_OWN_VALUES = ("x-ms-discriminator-value", "x-discriminator-value")
_NAMED = re.compile(r"#/(?:(?:components/schemas|\$defs|definitions)/[^/]+|x-files/.*)\Z")


def is_type_reference(reference: str) -> bool:
    """Tells whether the last word of a reference is the name of a type: only a name can stand for a value."""
    return _NAMED.match(reference) is not None


class Discriminators:
    """Reads the discriminators of one document."""

    def __init__(self, root: Json) -> None:
        self._root = root

    def discriminator(
        self, raw: dict[str, Json], pointer: str, local: str, name_of: NameOf, report: Report
    ) -> Discriminator | None:
        """Reads the discriminator of the schema at `pointer`, which is at `local` of its own document."""
        declared, place = raw["discriminator"], child(pointer, "discriminator")
        if isinstance(declared, str):  # Swagger 2.0
            declared = {"propertyName": declared}
        name = declared.get("propertyName") if isinstance(declared, dict) else None
        if not isinstance(name, str):
            report(place, "the discriminator names no property; left out")
            return None
        mapping = dict(_declared(declared.get("mapping"), child(place, "mapping"), name_of, report))
        mapped_types = set(mapping.values())
        for reference in self._possible(raw, local):
            type_name = name_of(reference, place)
            if type_name is None or type_name in mapped_types or not is_type_reference(reference):
                continue
            value = implied_value(reference, name, self._follow)
            if value is not None and value not in mapping:
                mapping[value] = type_name
                mapped_types.add(type_name)
        default = declared.get("defaultMapping")
        return Discriminator(
            property=name,
            mapping=mapping or None,
            default=name_of(mapped_reference(default), place) if isinstance(default, str) else None,
        )

    def _follow(self, reference: str) -> Json:
        return follow(self._root, reference.removeprefix("#"))

    def _possible(self, raw: dict[str, Json], local: str) -> Iterator[str]:
        """Gives the references to the types that the source implies."""
        alternatives = [item for keyword in ("oneOf", "anyOf") for _, item in members(raw, keyword)]
        if not alternatives:
            yield from (f"#{pointer}" for pointer in descendants(self._children, local))
        for item in alternatives:
            if isinstance(item, dict) and isinstance(item.get("$ref"), str):
                yield item["$ref"]

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        return children_by_base(self._root)


def children_by_base(root: Json) -> dict[str, list[str]]:
    """Gives, for the pointer of each named type, those of the types that have it in their `allOf`."""
    found: dict[str, list[str]] = {}
    for home in _HOMES:
        types = root
        for key in home:
            types = types.get(key) if isinstance(types, dict) else None
        for name, raw in types.items() if isinstance(types, dict) else ():
            for _, member in members(raw, "allOf") if isinstance(raw, dict) else ():
                reference = member.get("$ref") if isinstance(member, dict) else None
                if isinstance(reference, str):
                    found.setdefault(reference.removeprefix("#"), []).append(child("", *home, name))
    return found


def descendants(children: dict[str, list[str]], base: str) -> Iterator[str]:
    """Gives the pointers of the types that extend the one at a pointer, the nearest first."""
    waiting, seen = [base], {base}
    for held in waiting:
        for pointer in children.get(held, ()):
            if pointer not in seen:
                seen.add(pointer)
                waiting.append(pointer)
                yield pointer


def implied_value(reference: str, name: str, follow_reference: Callable[[str], Json]) -> str | None:
    """Gives the value of the property `name` by which the type at a reference is known, where no mapping has it.

    That is its name, unless the type has a word of its own for it; `None` where it allows other values alone, of which
    none is known to be the one.
    """
    try:
        target = follow_reference(reference)
    except LookupError:
        return last_token(reference)
    own = next((value for key in _OWN_VALUES if (value := text_of(target, key)) is not None), None)
    if own is not None:  # an extension of Swagger 2.0, which has no mapping
        return own
    allowed = _allowed(target, name, follow_reference)
    if not allowed or last_token(reference) in allowed:
        return last_token(reference)
    return allowed[0] if len(allowed) == 1 else None


def _allowed(target: Json, name: str, follow_reference: Callable[[str], Json]) -> list[str]:
    """Gives the values that a type itself allows a property to have; none where it says nothing of them."""
    parts = [target, *(member for _, member in members(as_dict(target), "allOf"))]
    for part in parts:
        held = as_dict(as_dict(part).get("properties")).get(name)
        reference = text_of(held, "$ref")
        try:
            held = as_dict(held if reference is None else follow_reference(reference))
        except LookupError:
            continue
        values = [held["const"]] if "const" in held else as_list(held.get("enum"))
        if found := [value for value in values if isinstance(value, str)]:
            return found
    return []


def mapped_reference(target: str) -> str:
    """Gives the reference that a mapping means: one, or the name of a type."""
    return target if "#" in target or "/" in target else f"#/components/schemas/{target}"


def _declared(mapping: Json, pointer: str, name_of: NameOf, report: Report) -> Iterator[tuple[str, str | None]]:
    if mapping is not None and not isinstance(mapping, dict):
        report(pointer, f"expected an object, found {kind_of(mapping)}")
        return
    for value, target in (mapping or {}).items():
        if not isinstance(target, str):
            report(child(pointer, value), f"expected a reference or a name, found {kind_of(target)}")
            continue
        yield value, name_of(mapped_reference(target), child(pointer, value))
