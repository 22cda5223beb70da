"""The file of `skillgen sample`, which keeps what calls returned as shapes, and what a service takes from it.

```
{"samples": 1, "service": NAME, "tools": {TOOL: {"calls": 2, "content": ["json"], "date": DATE, "shape": {…}}}}
```
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, get_args

from msgspec import Struct
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
_KEYS = frozenset({"type", "format", "properties", "required", "additionalProperties", "items"})
_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
_CALLS_LIMIT = 1_000_000
_FORMAT = re.compile(r"[a-z-]{1,20}\Z")
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
    samples = Samples(service=service, tools=tools, name=path.name)
    try:
        for name, entry in tools.items():
            _observation(entry, child("/tools", name))
    except _Invalid as error:
        raise UsageError(f"{error.args[0]}: {error.args[1]}", where=where, fix=_FIX) from None
    return samples


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
            observed = _observation(samples.tools[tool.name], pointer)
            origins = {**(tool.origins or {}), "observed": Origin("observed", f"{samples.name}#{pointer}")}
            tool = replace(tool, observed=observed, origins=origins)
            problems += _contradictions(tool, observed, types, is_mcp=service.kind == "mcp")
        tools.append(tool)
    return replace(service, tools=tuple(tools), problems=tuple(problems))


# -- entries of the file ----------------------------------------------------------------------------------------------


class _Invalid(ValueError):
    """A part of the file is invalid: its pointer, and why."""


def _observation(entry: Json, pointer: str) -> Observation:
    if not isinstance(entry, dict) or not entry.keys() <= {"calls", "content", "date", "shape"}:
        raise _Invalid(pointer, "is not an object of calls, content, date and shape")
    calls, content, day = entry.get("calls"), entry.get("content"), entry.get("date")
    if type(calls) is not int or not 1 <= calls <= _CALLS_LIMIT:
        raise _Invalid(child(pointer, "calls"), f"is not a number from 1 to {_CALLS_LIMIT:,}")
    kinds = get_args(ContentKind)
    if (
        not isinstance(content, list)
        or not 1 <= len(content) <= len(kinds)
        or not all(map(kinds.__contains__, content))
    ):
        raise _Invalid(child(pointer, "content"), f"is not a list of {', '.join(kinds)}")
    if not isinstance(day, str) or not _is_date(day):
        raise _Invalid(child(pointer, "date"), "is not a date such as 2026-01-31")
    place = child(pointer, "shape")
    schema = _schema(entry["shape"], place, 0) if "shape" in entry else None
    return Observation(date=day, calls=calls, content=tuple(content), schema=schema)


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _schema(shape: Json, pointer: str, depth: int) -> Schema:
    if not isinstance(shape, dict) or depth > DEPTH_LIMIT:
        raise _Invalid(pointer, "is not an object" if depth <= DEPTH_LIMIT else "is nested too deeply")
    if unknown := sorted(shape.keys() - _KEYS):
        raise _Invalid(child(pointer, unknown[0]), f"is not one of {', '.join(sorted(_KEYS))}")
    declared, form = shape.get("type", []), shape.get("format")
    types = declared if isinstance(declared, list) else [declared]
    if len(types) > len(_TYPES) or not all(item in _TYPES for item in types):
        raise _Invalid(child(pointer, "type"), "is not a type of JSON Schema")
    if form is not None and not (isinstance(form, str) and _FORMAT.match(form)):
        raise _Invalid(child(pointer, "format"), "is not the name of a format")
    members, required = shape.get("properties", {}), shape.get("required", [])
    if not isinstance(members, dict) or not isinstance(required, list):
        raise _Invalid(pointer, "has properties or required names of a wrong form")
    if len(members) > NAMES_LIMIT:
        raise _Invalid(child(pointer, "properties"), f"has more than {NAMES_LIMIT} names")
    if not all(isinstance(item, str) and item in members for item in required):
        raise _Invalid(child(pointer, "required"), "is not a list of names of properties")
    always = set(required)
    place = child(pointer, "properties")
    inner: dict[str, Any] = {
        field: _schema(shape[key], child(pointer, key), depth + 1)
        for key, field in (("additionalProperties", "additional"), ("items", "items"))
        if key in shape
    }
    properties = tuple(
        Parameter(
            name=name,
            location="property",
            required=name in always,
            schema=_schema(member, child(place, name), depth + 1),
            pointer=child(place, name),
        )
        for name, member in members.items()
    )
    known = tuple(item for item in types if item != "null")
    return Schema(types=known, nullable="null" in types, format=form, properties=properties, **inner)


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
