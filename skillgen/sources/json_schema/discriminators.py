"""Discriminators: the property whose value selects the type of an object (OpenAPI 3.1, "Discriminator Object").

The types to choose from are those of `oneOf` or `anyOf`, or the types that extend the one with the discriminator by
`allOf`.
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
"""Returns the name of the type at a `$ref`; takes the `$ref` and the pointer of the schema that holds it."""

_TYPE_CONTAINERS = (("components", "schemas"), ("$defs",), ("definitions",))
_VALUE_EXTENSIONS = ("x-ms-discriminator-value", "x-discriminator-value")
"""Extensions of Swagger 2.0, which has no mapping."""

_TYPE_REFERENCE = re.compile(r"#/(?:(?:components/schemas|\$defs|definitions)/[^/]+|x-files/.*)\Z")
"""A reference that ends with the name of a type: only a name can be the value of a discriminator."""


class DiscriminatorReader:
    """Reads the discriminators of one document."""

    def __init__(self, root: Json) -> None:
        self._root = root

    def read(
        self, raw: dict[str, Json], pointer: str, local: str, name_of: NameOf, report: Report
    ) -> Discriminator | None:
        """Reads the discriminator of the schema at `pointer` of the source, which is `local` in this document."""
        declared, discriminator_pointer = raw["discriminator"], child(pointer, "discriminator")
        if (name := text_of(declared, "propertyName")) is None:
            report(discriminator_pointer, "the discriminator names no property; left out")
            return None
        mapping_pointer = child(discriminator_pointer, "mapping")
        mapping = dict(_declared_mapping(declared.get("mapping"), mapping_pointer, name_of, report))
        mapped_types = set(mapping.values())
        for reference in self._implied_references(raw, local):
            type_name = name_of(reference, discriminator_pointer)
            if type_name is None or type_name in mapped_types or not _TYPE_REFERENCE.match(reference):
                continue
            value = self._implied_value(reference, name)
            if value is not None and value not in mapping:
                mapping[value] = type_name
                mapped_types.add(type_name)
        default = declared.get("defaultMapping")
        return Discriminator(
            property=name,
            mapping=mapping or None,
            default=name_of(_mapped_reference(default), discriminator_pointer) if isinstance(default, str) else None,
        )

    def _implied_references(self, raw: dict[str, Json], local: str) -> Iterator[str]:
        """Yields references to the types that a value may select without a mapping."""
        alternatives = [item for keyword in ("oneOf", "anyOf") for _, item in members(raw, keyword)]
        if not alternatives:
            yield from (f"#{pointer}" for pointer in self._descendants(local))
        yield from (reference for item in alternatives if (reference := text_of(item, "$ref")) is not None)

    def _descendants(self, base: str) -> Iterator[str]:
        """Yields the pointers of the types that extend the one at `base`, the nearest first."""
        queue, seen = [base], {base}
        for parent in queue:
            for pointer in self._children.get(parent, ()):
                if pointer not in seen:
                    seen.add(pointer)
                    queue.append(pointer)
                    yield pointer

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        """For the pointer of each base type, the pointers of the named types with it in their `allOf`."""
        children: dict[str, list[str]] = {}
        for container in _TYPE_CONTAINERS:
            types = self._root
            for key in container:
                types = as_dict(types).get(key)
            for name, raw in as_dict(types).items():
                for _, member in members(as_dict(raw), "allOf"):
                    if (reference := text_of(member, "$ref")) is not None:
                        children.setdefault(reference.removeprefix("#"), []).append(child("", *container, name))
        return children

    def _implied_value(self, reference: str, name: str) -> str | None:
        """Returns the value of the property `name` that selects the type at a reference without a mapping.

        This is the name of the type, unless the type declares its own value. `None` if the type allows several values,
        none of which is its name.
        """
        target, own = self._target(reference), last_token(reference)
        for key in _VALUE_EXTENSIONS:
            if (declared := text_of(target, key)) is not None:
                return declared
        allowed = self._allowed_values(target, name)
        if not allowed or own in allowed:
            return own
        return allowed[0] if len(allowed) == 1 else None

    def _allowed_values(self, target: dict[str, Json], name: str) -> list[str]:
        """Returns the strings to which a type restricts a property; empty if it does not restrict it."""
        for part in (target, *(member for _, member in members(target, "allOf"))):
            schema = as_dict(as_dict(as_dict(part).get("properties")).get(name))
            if (reference := text_of(schema, "$ref")) is not None:
                schema = self._target(reference)
            values = [schema["const"]] if "const" in schema else as_list(schema.get("enum"))
            if strings := [value for value in values if isinstance(value, str)]:
                return strings
        return []

    def _target(self, reference: str) -> dict[str, Json]:
        try:
            return as_dict(follow(self._root, reference.removeprefix("#")))
        except LookupError:
            return {}


def _mapped_reference(target: str) -> str:
    """Returns the target of a mapping as a reference; it may also be written as the name of a type."""
    return target if "#" in target or "/" in target else f"#/components/schemas/{target}"


def _declared_mapping(mapping: Json, pointer: str, name_of: NameOf, report: Report) -> Iterator[tuple[str, str | None]]:
    if mapping is not None and not isinstance(mapping, dict):
        report(pointer, f"expected an object, found {kind_of(mapping)}")
        return
    for value, target in (mapping or {}).items():
        if not isinstance(target, str):
            report(child(pointer, value), f"expected a reference or a name, found {kind_of(target)}")
            continue
        yield value, name_of(_mapped_reference(target), child(pointer, value))
