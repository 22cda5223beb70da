"""The file of `skillgen sample`, which keeps what calls returned as shapes, and what a service takes from it.

```
{"samples": 1, "service": NAME, "tools": {TOOL: {"calls": 2, "content": ["json"], "date": DATE, "shape": {…}}}}
```
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.structs import replace

from skillgen.errors import Problem, UsageError
from skillgen.model.calls import ContentKind, Observation
from skillgen.model.schema import Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, Origin, child
from skillgen.sources.documents import load_text
from skillgen.sources.http import FetchOptions
from skillgen.sources.json_access import json_or_none
from skillgen.sources.shapes import DEPTH_LIMIT, NAMES_LIMIT

_VERSION = 1
_FIX = "write it again with `skillgen sample`, or correct it"


class Samples(Struct, frozen=True, kw_only=True):
    """The content of a file of samples."""

    service: str
    """The name of the service."""

    tools: Mapping[str, Json]
    """The name of each tool to its entry, as in the file."""

    name: str
    """The name of the file, without its folder."""


def read_samples(path: Path) -> Samples:
    """Reads a file of samples.

    Raises:
        SourceError: it cannot be read.
        UsageError: it has anything but shapes.
    """
    where, text, _ = load_text(str(path), FetchOptions())
    data = json_or_none(text)
    version = data.get("samples") if isinstance(data, dict) else None
    if not isinstance(data, dict) or type(version) is not int or version != _VERSION:
        raise UsageError(f"is not a file of samples of version {_VERSION}", where=where, fix=_FIX)
    service, tools = data.get("service"), data.get("tools")
    if not isinstance(service, str) or not isinstance(tools, dict):
        raise UsageError("lacks `service` or `tools`", where=where, fix=_FIX)
    for name, entry in tools.items():
        _observation(entry, child("/tools", name), where)
    return Samples(service=service, tools=tools, name=path.name)


def samples_text(samples: Samples) -> str:
    """Returns the content of a file of samples."""
    tools = dict(sorted(samples.tools.items()))
    return json.dumps({"samples": _VERSION, "service": samples.service, "tools": tools}, indent=2) + "\n"


def apply_samples(service: Service, samples: Samples) -> Service:
    """Returns the service with what calls of its tools returned, and the problems of what contradicts it."""
    problems = list(service.problems)
    names = {tool.name for tool in service.tools}
    for name in sorted(samples.tools.keys() - names):
        pointer = f"{samples.name}#{child('/tools', name)}"
        problems.append(Problem.of("sample-tool-unknown", pointer, f"the service has no tool {name!r}"))
    tools = []
    types = {item.name: item.schema for item in service.schemas}
    for tool in service.tools:
        if tool.name in samples.tools:
            pointer = child("/tools", tool.name)
            observed = _observation(samples.tools[tool.name], pointer, samples.name)
            origins = {**(tool.origins or {}), "observed": Origin("observed", f"{samples.name}#{pointer}")}
            tool = replace(tool, observed=observed, origins=origins)
            problems += _contradictions(tool, observed, types, is_mcp=service.kind == "mcp")
        tools.append(tool)
    return replace(service, tools=tuple(tools), problems=tuple(problems))


# -- entries of the file ----------------------------------------------------------------------------------------------

_Type = Literal["null", "boolean", "integer", "number", "string", "array", "object"]


class _Shape(Struct, frozen=True, forbid_unknown_fields=True, rename={"additional": "additionalProperties"}):
    """A shape, as in the file."""

    type: _Type | Annotated[tuple[_Type, ...], Meta(max_length=len(get_args(_Type)))] = ()
    format: Annotated[str, Meta(pattern=r"\A[a-z-]{1,20}\Z")] | None = None
    properties: Annotated[dict[str, _Shape], Meta(max_length=NAMES_LIMIT)] = {}
    required: tuple[str, ...] = ()
    additional: _Shape | None = None
    items: _Shape | None = None


class _Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """What calls of one tool returned, as in the file."""

    calls: Annotated[int, Meta(ge=1, le=1_000_000)]
    content: Annotated[tuple[ContentKind, ...], Meta(min_length=1, max_length=len(get_args(ContentKind)))]
    date: date
    shape: _Shape | None = None


def _observation(entry: Json, pointer: str, where: str) -> Observation:
    """Returns an entry of the file `where`.

    Raises:
        UsageError: it has anything but shapes.
    """
    try:
        found = convert(entry, _Entry)
        schema = _schema(found.shape, child(pointer, "shape"), 0) if found.shape is not None else None
    except (ValidationError, RecursionError) as error:
        raise UsageError(f"is not a sample: {error}", where=f"{where}#{pointer}", fix=_FIX) from None
    return Observation(date=found.date.isoformat(), calls=found.calls, content=found.content, schema=schema)


def _schema(shape: _Shape, pointer: str, depth: int) -> Schema:
    if depth > DEPTH_LIMIT or not shape.properties.keys() >= set(shape.required):
        fault = "nested too deeply" if depth > DEPTH_LIMIT else "`required` names other properties"
        raise ValidationError(f"{fault} - at `{pointer}`")
    place = child(pointer, "properties")
    properties = tuple(
        Parameter(
            name=name,
            location="property",
            required=name in shape.required,
            schema=_schema(member, child(place, name), depth + 1),
            pointer=child(place, name),
        )
        for name, member in shape.properties.items()
    )
    types = shape.type if isinstance(shape.type, tuple) else (shape.type,)
    further, items = (
        _schema(part, child(pointer, key), depth + 1) if part is not None else None
        for key, part in (("additionalProperties", shape.additional), ("items", shape.items))
    )
    return Schema(
        types=tuple(item for item in types if item != "null"),
        nullable="null" in types,
        format=shape.format,
        properties=properties,
        additional=further,
        items=items,
    )


# -- what is declared otherwise ---------------------------------------------------------------------------------------

_PATHS_LIMIT = 20
"""Contradictions of one tool that are reported."""


def _contradictions(tool: Tool, observed: Observation, types: Mapping[str, Schema], *, is_mcp: bool) -> list[Problem]:
    """Returns the problems of a result that is not as its output schema declares."""
    output = tool.output
    if output is None or output.schema is None or any(item.schema is not None for item in tool.other_outputs):
        return []
    found: list[tuple[str, str]] = []
    if is_mcp and "json" not in observed.content:
        found = [("", "the result has no structured content")]
    elif observed.schema is not None:
        found = list(_differences(output.schema, observed.schema, types, ""))[:_PATHS_LIMIT]
    code, when = "result-not-as-declared", f"on {observed.date}"
    return [Problem.of(code, output.pointer, f"{tool.name}, {path or '/'}: {words} ({when})") for path, words in found]


def _differences(
    declared: Schema, observed: Schema, types: Mapping[str, Schema], path: str
) -> Iterator[tuple[str, str]]:
    """Yields the path of each difference, and what it is; none where what is declared depends on the value."""
    for _ in range(len(types) + 1):
        if declared.ref is None or declared.ref not in types:
            break
        declared = replace(types[declared.ref], nullable=declared.nullable or types[declared.ref].nullable)
    if declared.ref or declared.alternatives or declared.also or declared.includes or declared.conditions:
        return
    allowed = {*declared.types, *(["null"] if declared.nullable else [])}
    allowed |= {"integer"} if "number" in allowed else set()
    returned = [*observed.types, *(["null"] if observed.nullable else [])]
    if declared.types and (others := [item for item in returned if item not in allowed]):
        expected = " or ".join([*declared.types, *(["null"] if declared.nullable else [])])
        yield path, f"{' and '.join(others)} was returned, but {expected} is declared"
        return
    members = {item.name: item for item in observed.properties}
    for item in declared.properties:
        inner, member = child(path, item.name), members.get(item.name)
        if member is not None:
            yield from _differences(item.schema, member.schema, types, inner)
        if members and item.required and not item.schema.write_only and (member is None or not member.required):
            often = "no" if member is None else "not every"
            yield inner, f"{often} result has it, but it is declared as required"
    if declared.additional is False and not declared.patterns:
        for name in sorted(members.keys() - {item.name for item in declared.properties}):
            yield child(path, name), "it was returned, but no further properties are declared"
    if declared.items is not None and observed.items is not None:
        yield from _differences(declared.items, observed.items, types, child(path, "items"))
    if isinstance(declared.additional, Schema) and observed.additional is not None and not declared.properties:
        assert isinstance(observed.additional, Schema)
        yield from _differences(declared.additional, observed.additional, types, child(path, "additionalProperties"))
