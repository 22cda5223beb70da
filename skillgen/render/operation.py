"""What an `--ai-help` text says of the commands together: what they do to the world, dates, what is not to be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillgen.markdown.filters import Markdown, code
from skillgen.model.schema import Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.render.effects import is_said

NAMES_LIMIT = 30
"""Names in one line."""

DEPTH_LIMIT = 24
"""Levels of a parameter that are looked into for dates."""

_DATE_FORMATS = ("date", "date-time", "time")

_KINDS: tuple[tuple[str, str, Callable[[Tool], bool]], ...] = (
    ("Change nothing", "read_only", lambda tool: bool(tool.semantics.read_only)),
    ("May delete or overwrite", "destructive", lambda tool: bool(tool.semantics.destructive)),
    ("A person must agree first", "requires_confirmation", lambda tool: bool(tool.semantics.requires_confirmation)),
    (
        "Safe to repeat",
        "idempotent",
        lambda tool: bool(tool.semantics.idempotent) and not tool.semantics.read_only,
    ),
    ("Safe to repeat with an idempotency key", "idempotent_with_key", lambda t: bool(t.semantics.idempotent_with_key)),
    (
        "Not safe to repeat as such",
        "idempotent",
        lambda tool: tool.semantics.idempotent is False and not tool.semantics.read_only,
    ),
    ("Cannot be undone", "reversible", lambda tool: tool.semantics.reversible is False),
)


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is so for several tools, or for one."""

    label: str
    """What is so."""

    names: Markdown
    """The tools, as code."""


def operational_facts(service: Service) -> list[Fact]:
    """Says what commands do to the world and whether they can be repeated; what was inferred is said to be."""
    found = []
    for label, field, is_so in _KINDS:
        tools = [tool for tool in service.tools if is_so(tool)]
        declared = [tool.name for tool in tools if is_said(tool.semantics, field)]
        inferred = [tool.name for tool in tools if not is_said(tool.semantics, field)]
        found += [Fact(label, names_shown(declared))] if declared else []
        found += [Fact(f"{label} (inferred, not declared)", names_shown(inferred))] if inferred else []
    paged = [tool.name for tool in service.tools if tool.pagination]
    return [*found, Fact("Give their results page by page", names_shown(paged))] if paged else found


def deprecated_names(service: Service) -> Markdown:
    """Gives the tools that are not to be used any more."""
    return names_shown([tool.name for tool in service.tools if tool.deprecated])


def date_formats(service: Service) -> dict[str, Markdown]:
    """Gives each format of dates and times that a parameter asks for, with the parameters that do."""
    dates = _Dates({item.name: item.schema for item in service.schemas})
    found: dict[str, list[str]] = {}
    for tool in service.tools:
        for parameter in tool.parameters:
            for name, format_name in dates.of(parameter):
                found.setdefault(format_name, []).append(f"{tool.name}.{name}")
    return {name: names_shown(list(dict.fromkeys(found[name]))) for name in _DATE_FORMATS if name in found}


def names_shown(names: Sequence[str]) -> Markdown:
    """Gives names as code, and how many more there are."""
    shown = ", ".join(code(name) for name in names[:NAMES_LIMIT])
    more = len(names) - NAMES_LIMIT
    return Markdown(f"{shown} and {more} more" if more > 0 else shown)


class _Dates:
    """Finds dates and times within values; what a named type holds is looked for once."""

    def __init__(self, types: Mapping[str, Schema]) -> None:
        self._types = types
        self._held: dict[tuple[str, frozenset[str], int], tuple[tuple[str, str], ...]] = {}

    def of(self, parameter: Parameter) -> Iterator[tuple[str, str]]:
        """Gives the name of each value of these formats, from the parameter on, and the format."""
        for name, format_name in self._within(parameter.schema, frozenset(), 0):
            yield (f"{parameter.name}.{name}" if name else parameter.name), format_name

    def _within(self, schema: Schema, seen: frozenset[str], depth: int) -> Iterator[tuple[str, str]]:
        if depth > DEPTH_LIMIT:
            return
        if schema.format in _DATE_FORMATS:
            yield "", schema.format
        for ref in (*([schema.ref] if schema.ref else []), *schema.includes):
            if ref in self._types and ref not in seen and len(seen) < 2:
                yield from self._in_type(ref, seen | {ref}, depth + 1)
        for part in (*([schema.items] if schema.items else []), *schema.alternatives):
            yield from self._within(part, seen, depth + 1)
        for item in schema.properties:
            if not item.schema.read_only:
                for name, format_name in self._within(item.schema, seen, depth + 1):
                    yield (f"{item.name}.{name}" if name else item.name), format_name

    def _in_type(self, ref: str, seen: frozenset[str], depth: int) -> tuple[tuple[str, str], ...]:
        key = (ref, seen, depth)
        if key not in self._held:
            self._held[key] = tuple(self._within(self._types[ref], seen, depth))
        return self._held[key]
