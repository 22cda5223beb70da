"""The named types of one service, each read once, whichever documents refer to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from skillgen.errors import ProblemLog
from skillgen.model.schema import NamedType, Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.value import Json
from skillgen.sources.json_schema.scope import Scope

PLACES_LIMIT = 3
"""Places that one problem on many of them names."""


class SchemaReader:
    """The named types of one service."""

    def __init__(self, problems: ProblemLog) -> None:
        self.problems = problems
        self._types: dict[str, _Pending] = {}
        self._order: list[str] = []
        self._done: dict[str, NamedType] = {}
        self._ignored: list[str] = []

    def scope(
        self,
        root: Json,
        pointer: str,
        owner: str | None = None,
        *,
        ref_siblings: bool = True,
        reads_xml: bool = False,
    ) -> Scope:
        """Opens a document at `pointer` of the source; `owner` tells its types from others of the same name.

        `ref_siblings` tells whether what stands beside a `$ref` counts, as it does since draft 2019-09 and in
        OpenAPI 3.1; before, it is ignored. `reads_xml` tells whether what a value is called in XML is kept.
        """
        return Scope(self, root, pointer, owner, ref_siblings, reads_xml)

    def named_types(self) -> tuple[NamedType, ...]:
        """Reads every type that was referred to, and those that they refer to; sorted by name. It ends the reading."""
        for name in self._order:  # grows while types are read
            pending = self._types[name]
            self._done[name] = NamedType(
                name=name,
                schema=pending.scope.schema(pending.raw, pending.pointer),
                raw=pending.raw,
                pointer=pending.pointer,
            )
        if self._ignored:
            places = "one place" if len(self._ignored) == 1 else f"{len(self._ignored)} places"
            self.problems.info(
                "reference-siblings-ignored",
                self._ignored[0],
                f"what stands beside a $ref is ignored before OpenAPI 3.1 and JSON Schema 2019-09, here in {places}",
                "put the $ref into an allOf",
            )
        self._order.clear()
        self._types.clear()  # they lead to their scopes and back, and would keep the whole document
        return tuple(self._done[name] for name in sorted(self._done))

    def note_ignored(self, pointer: str) -> None:
        """Notes that what stands beside the `$ref` at `pointer` is ignored."""
        self._ignored.append(pointer)

    def claim(self, name: str, scope: Scope, reference: str, raw: Json, pointer: str) -> str:
        """Gives the name under which a type is held: the same for equal types, another where names clash."""
        pending = _Pending(scope, reference, raw, pointer)
        for candidate in _candidate_names(name, scope.owner):
            if candidate not in self._types:
                self._order.append(candidate)
            held = self._types.setdefault(candidate, pending)
            if held is pending or held.same_as(pending):
                return candidate
        raise AssertionError("candidate names never end")


@dataclass(slots=True)
class _Pending:
    """A type that was referred to and will be read."""

    scope: Scope
    reference: str
    raw: Json
    pointer: str

    def same_as(self, other: _Pending) -> bool:
        if self.scope.root is other.scope.root:
            return self.reference == other.reference
        return self.raw == other.raw and self.scope.closure(self.reference) == other.scope.closure(other.reference)


def report_undescribed(service: Service, problems: ProblemLog) -> None:
    """Reports the parameters and properties without a description, all in one problem (seed 002, 4.3).

    A named type describes what refers to it, and a property describes what an alternative declares of it again.
    """
    types = {item.name: item.schema for item in service.schemas}
    found: dict[str, bool] = {}
    parameters = (*(item.parameters for item in service.tools), *(item.parameters for item in service.prompts))
    for group in (*parameters, *(item.parameters for item in service.events)):
        _note_descriptions(group, frozenset(), types, found)
    for tool in service.tools:
        for output in (tool.output, *tool.other_outputs):
            if output is not None and output.schema is not None:
                _note_inner_descriptions(output.schema, frozenset(), types, found)
    for schema in types.values():
        _note_inner_descriptions(schema, frozenset(), types, found)
    missing = [pointer for pointer, is_described in found.items() if not is_described]
    if missing:
        places = "".join(f", {pointer}" for pointer in missing[1:PLACES_LIMIT])
        more = ", …" if len(missing) > PLACES_LIMIT else ""
        problems.info(
            "properties-undescribed",
            missing[0],
            f"{len(missing):,} of {len(found):,} parameters and properties have no description: this{places}{more}",
            "add a description to each",
        )


def _note_descriptions(
    parameters: Iterable[Parameter], elsewhere: frozenset[str], types: Mapping[str, Schema], found: dict[str, bool]
) -> None:
    """Notes for each parameter and what is inside whether it is described; `elsewhere` are names that are."""
    for item in parameters:
        if item.pointer in found:
            continue
        schema = item.schema
        named = (schema.ref, *schema.includes)
        found[item.pointer] = bool(
            item.description
            or schema.description
            or item.name in elsewhere
            or any(name in types and types[name].description for name in named if name is not None)
        )
        _note_inner_descriptions(schema, frozenset(), types, found)


def _note_inner_descriptions(
    schema: Schema, elsewhere: frozenset[str], types: Mapping[str, Schema], found: dict[str, bool]
) -> None:
    if schema.properties or schema.alternatives or schema.also:
        described = elsewhere | _described_properties(schema, types)
        _note_descriptions(schema.properties, described, types, found)
        for inner in (*schema.alternatives, *schema.also):
            _note_inner_descriptions(inner, described, types, found)
    others = (*schema.prefix_items, *(schema.patterns or {}).values(), schema.items, schema.additional, schema.content)
    for other in others:
        if isinstance(other, Schema):
            _note_inner_descriptions(other, frozenset(), types, found)


def _described_properties(schema: Schema, types: Mapping[str, Schema]) -> set[str]:
    """Returns the names of the properties that a schema, or a type of which it is made, describes."""
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [schema]
    while waiting:
        current = waiting.pop()
        found.update(item.name for item in current.properties if item.description)
        for name in (current.ref, *current.includes):
            if name is not None and name in types and name not in seen:
                seen.add(name)
                waiting.append(types[name])
    return found


def _candidate_names(name: str, owner: str | None) -> Iterator[str]:
    yield name
    if owner is not None:
        yield (name := f"{owner}.{name}")
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1
