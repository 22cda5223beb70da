"""Reads the entries of `tools/list` as tools, in any revision of the protocol and of the seeds.

The semantics of a tool come from `dashdash` (seed 000, 3.2.2), seed 004 (6) and annotations. Only declared facts and
what they imply count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.calls import Example, Input, Output, Pagination
from skillgen.model.mcp_fields import SEMANTICS, TOOL, Field, first_keys, spellings
from skillgen.model.schema import Parameter, Schema, arguments_of, is_open, takes_any_names
from skillgen.model.tool import CAUTION, Semantics, Tool
from skillgen.model.values import Json, Origin, Value, child
from skillgen.sources.examples.generator import call_examples
from skillgen.sources.json_access import as_dict, as_list
from skillgen.sources.json_schema.flatten import flatten
from skillgen.sources.json_schema.keywords import schema_members
from skillgen.sources.json_schema.loader import SchemaDocument, SchemaReader, with_root_references
from skillgen.sources.json_schema.merge import ANYTHING
from skillgen.sources.mcp.ai_help import ToolHelp, with_help
from skillgen.sources.mcp.fields import (
    FieldReader,
    FieldResolver,
    SourcedValue,
    catalogue_errors,
    counted_limit,
    dashdashes_in_entry,
    error_cases,
    first_dashdash,
)
from skillgen.sources.mcp.offers import icons_of
from skillgen.sources.mcp.progressive import guidance_from

_NONE = frozenset({"", "none", "no", "n/a"})

_REFS_LIMIT = 8
"""Nesting of references and `allOf` that is followed to find out that a schema takes no arguments."""

_TASK_SUPPORT = ("forbidden", "optional", "required")

_INPUTS = ("input", "arguments", "parameters")
"""Keys under which examples have their arguments."""

HEADER_KEY = "x-mcp-header"
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
_HEADER_TYPES = ("string", "integer", "boolean")

_IMPLIED: tuple[tuple[str, str, dict[object, bool]], ...] = (
    ("operation", "read_only", {"read": True, "write": False, "delete": False}),
    ("operation", "destructive", {"delete": True}),
    # `safe` implies nothing: the manifests of seed 004 have it on tools that create something.
    ("risk", "destructive", {"destructive": True}),
    ("risk", "reversible", {"reversible": True}),
)
"""What values of one fact imply for another."""


class ToolEntry:
    """An entry of `tools/list` with its `dashdash` objects and its annotations.

    The second stage of a progressive server (seed 003) counts before the entry, a service manifest (seed 004) after it.
    Some servers put the fields of seed 004 at the top level, some into `_meta` or under `annotations`.
    """

    __slots__ = ("annotations", "dashdash", "dashdashes", "described", "fields", "keys", "locations", "sources")

    def __init__(
        self, fields: FieldReader, *, described: FieldReader | None = None, manifest: FieldReader | None = None
    ) -> None:
        self.fields = fields
        self.described = described
        self.sources = [source for source in (described, fields, manifest) if source is not None]
        annotations = [source.object("annotations", "annotations") for source in self.sources]
        self.annotations = [item for item in annotations if item.raw]
        locations = (location for source in self.sources for location in (source, source.object("_meta")))
        self.locations = [location for location in (*locations, *self.annotations) if location.raw]
        self.dashdashes = [dashdash for source in self.sources for dashdash in dashdashes_in_entry(source)]
        self.dashdash = first_dashdash(self.dashdashes, fields)
        self.keys = {key for reader in (*self.locations, *self.dashdashes) for key in reader.raw}

    def candidates(self, field: Field) -> list[SourcedValue]:
        """Returns the values of a field; of several `dashdash` objects, all count for facts on safety."""
        if self.keys.isdisjoint(first_keys(field)):  # as of most fields of most tools
            return []
        is_safety = field.kind in ("flag", "choice")
        places = [(item, "dashdash") for item in (self.dashdashes if is_safety else [self.dashdash]) if field.dashdash]
        places += [(item, "entry") for item in self.locations if field.entry]
        places += [(item, "hint") for item in self.annotations if field.hint]
        return [value for item, place in places for value in item.candidates(field, place)]  # type: ignore[arg-type]

    def json(self, name: str) -> SourcedValue | None:
        """Returns the first value of a member, such as a schema."""
        for item in self.locations:
            item.ignore(*spellings(name))
        keys = ((item, key) for item in self.locations for key in spellings(name) if item.raw.get(key) is not None)
        return next((item.read(key, "json") for item, key in keys), None)


class ToolReader(Struct, frozen=True, kw_only=True):
    """Reads the tools of one server."""

    schemas: SchemaReader
    ai_help: ToolHelp
    help_pointer: str
    """The pointer to that text."""

    trusted_hosts: Sequence[str]
    """The hosts whose icons may be linked."""

    problems: ProblemLog

    def tool(
        self,
        name: str,
        fields: FieldReader,
        *,
        described: FieldReader | None = None,
        manifest: FieldReader | None = None,
        group: str | None = None,
        is_undescribed: bool = False,
    ) -> Tool:
        """Returns the tool of one entry and of what other sources add.

        `described` is the second stage of a progressive server, `manifest` the entry of a service manifest;
        `is_undescribed` is true if that second stage was not read.
        """
        entry = ToolEntry(fields, described=described, manifest=manifest)
        dashdash, resolver = entry.dashdash, FieldResolver(self.problems, fields.pointer)
        # Of several descriptions the first counts: one is longer by design, which is not a disagreement.
        descriptions = [source.read("description") for source in entry.sources]
        description = resolver.value("description", next(filter(None, descriptions), None))
        declared = self._input(name, entry)
        is_input_declared = bool(declared.parameters) or (declared.is_declared and not is_undescribed)
        guidance, described_errors = guidance_from(described) if described is not None else ((), ())
        facts = resolver.facts(TOOL, entry.candidates)
        limit = facts.pop("rate_limit", None) or counted_limit(dashdash)
        tool = Tool(
            name=name,
            summary=resolver.value("summary", fields.read("description") if described is not None else None),
            description=description,
            group=(facts.pop("group", None) or "").strip() or group,
            rate_limit=limit,
            pagination=Pagination() if facts.pop("pagination", None) else None,
            parameters=declared.parameters,
            input_schema=declared.raw,
            is_input_declared=is_input_declared,
            input=declared.input,
            output=self._output(name, entry),
            semantics=semantics_from_entry(entry),
            examples=call_examples(
                chain(_examples(dashdash), _described_examples(described)),
                declared.schema,
                self.schemas.types,
                self.problems,
                name=name,
                description=description,
                may_generate=is_input_declared
                or not _is_unconstrained(declared.input.schema if declared.input else None),
            ),
            errors=(*error_cases(dashdash, "errors"), *catalogue_errors(entry.locations), *described_errors),
            guidance=guidance,
            task_support=self._task_support(entry),
            icons=icons_of(fields, self.trusted_hosts),
            extras=fields.unread(described=described, dashdash=dashdash) or None,
            pointer=fields.pointer,
            origins=resolver.origins,
            **facts,
        )
        return with_help(tool, self.ai_help, Origin("declared", self.help_pointer))

    def _input(self, name: str, entry: ToolEntry) -> _DeclaredInput:
        declared = entry.json("input_schema")
        if declared is None:
            message = f"the tool {name!r} has no input schema; what it takes is not declared"
            self.problems.report("input-schema-missing", entry.fields.pointer, message)
            return _DeclaredInput()
        raw, pointer = with_root_references(declared.value), declared.pointer
        if not isinstance(raw, dict):
            self.problems.report("input-schema-invalid", pointer, "the input schema is not an object; left out")
            return _DeclaredInput()
        if "type" in raw and raw["type"] != "object":
            message = f"the type of the input schema is {str(raw['type'])[:60]!r}, but arguments are an object"
            self.problems.report("input-schema-invalid", pointer, message)
        schemas = self.schemas.open_document(raw, pointer, owner=name)
        flat = flatten(schemas, {**raw, "type": "object"} if "type" in raw else raw, pointer)
        has_names = bool(flat.parameters) or (flat.schema is not None and takes_any_names(flat.schema))
        is_declared = has_names or (_is_unconstrained(flat.schema) and _takes_nothing(raw, schemas, pointer))
        if not is_declared or (not has_names and is_open(raw)):
            message = f"the input schema of {name!r} does not declare what the tool takes: it accepts any object"
            self.problems.report("input-schema-minimal", pointer, message)
        return _DeclaredInput(
            raw=raw,
            parameters=flat.parameters,
            input=Input(schema=flat.schema, pointer=pointer) if flat.schema is not None else None,
            is_declared=is_declared,
        )

    def _task_support(self, entry: ToolEntry) -> Literal["optional", "required"] | None:
        """Returns whether a call can or must be a task; all of `execution` stays among the extras."""
        declared = set()
        for source in entry.sources:
            support = as_dict(source.raw.get("execution")).get("taskSupport", _TASK_SUPPORT[0])
            if support not in _TASK_SUPPORT:
                message = f"expected one of {', '.join(_TASK_SUPPORT)}, found {str(support)[:60]!r}; left out"
                self.problems.report("member-invalid", child(source.pointer, "execution", "taskSupport"), message)
            declared.add(str(support))
        return "required" if "required" in declared else "optional" if "optional" in declared else None

    def _output(self, name: str, entry: ToolEntry) -> Output | None:
        declared = entry.json("output_schema")
        if declared is None:
            return None
        raw, pointer = with_root_references(declared.value), declared.pointer
        schema = self.schemas.open_document(raw, pointer, owner=name).schema(raw, pointer)
        return Output(schema=schema, raw=raw, pointer=pointer)


class _DeclaredInput(Struct, frozen=True, kw_only=True):
    """What an entry declares of the arguments of its tool."""

    raw: Json = None
    parameters: tuple[Parameter, ...] = ()
    input: Input | None = None
    is_declared: bool = False

    @property
    def schema(self) -> Schema | None:
        """The schema of all arguments with its own examples; `None` without one."""
        whole = arguments_of(self.parameters, self.input.schema if self.input is not None else None)
        raw = as_dict(self.raw)
        return replace(whole, examples=tuple(as_list(raw.get("examples")))) if raw else None


def _is_unconstrained(schema: Schema | None) -> bool:
    """True if a schema of arguments declares nothing but parameters and whether others are allowed."""
    return schema is None or replace(schema, description=None, title=None, additional=None) == ANYTHING


def _takes_nothing(raw: Json, schemas: SchemaDocument, pointer: str, depth: int = 0) -> bool:
    """True if a schema without parameters declares that the tool has no parameters.

    Such a schema is closed, or has an empty object of properties, as SDKs write it, or is `{"type": "object"}`, which
    also accepts any object (2025-11-25, "Tool", "no parameters").
    """
    if not isinstance(raw, dict) or depth > _REFS_LIMIT:
        return False
    is_closed = schemas.own_schema(raw, pointer).additional is False
    is_plain = raw.keys().isdisjoint(("additionalProperties", "unevaluatedProperties"))
    if is_closed or ("type" in raw and raw.get("properties", {}) == {} and is_plain):
        return bool(raw.get("type", "object") == "object")
    target = schemas.resolve(raw["$ref"], pointer) if isinstance(raw.get("$ref"), str) else None
    parts = [*([target[1]] if target is not None else []), *as_list(raw.get("allOf"))]
    return any(_takes_nothing(part, schemas, pointer, depth + 1) for part in parts)


def _described_examples(described: FieldReader | None) -> Iterator[tuple[Example, str]]:
    """Returns the examples of the second stage; texts in their place stay among the extras."""
    has_calls = described is not None and any(isinstance(item, dict) for item in as_list(described.raw.get("examples")))
    return _examples(described) if described is not None and has_calls else iter(())


def _examples(owner: FieldReader) -> Iterator[tuple[Example, str]]:
    """Yields the example calls of a member `examples`, each with its pointer."""
    for item in owner.objects("examples"):
        description, output = item.text("description"), item.read("output", "json")
        arguments = next((value for key in _INPUTS if (value := item.read(key, "json")) is not None), None)
        if arguments is None or not isinstance(arguments.value, dict):
            owner.problems.report("call-example-invalid", item.pointer, "the example has no object `input`; left out")
            continue
        result = Value(output.value) if output is not None else None
        yield Example(input=arguments.value, description=description, output=result), item.pointer


def semantics_from_entry(entry: ToolEntry) -> Semantics:
    """Returns what calling a tool does; each fact has its origin."""
    resolver = FieldResolver(entry.fields.problems)
    found = {field.name: entry.candidates(field) for field in SEMANTICS}
    for fact, other, meaning in reversed(_IMPLIED):
        implied = (item.implies(meaning[item.value]) for item in found[fact] if item.value in meaning)
        found[other] = [*implied, *found[other]]
    found["read_only"] += filter(None, map(_unknown_operation, entry.dashdashes))
    found["side_effects"] = [item for dashdash in entry.dashdashes for item in _side_effects(dashdash)]
    facts: dict[str, Any] = {"side_effects": resolver.union("side_effects", *found.pop("side_effects"))}
    facts |= {name: resolver.value(name, *candidates) for name, candidates in found.items()}
    return Semantics(origins=resolver.origins, **facts)


def _unknown_operation(dashdash: FieldReader) -> SourcedValue | None:
    """Returns that a tool is not read-only if its operation has an unknown name: only `read` is."""
    operation = dashdash.read("operationType", "json")
    if operation is None or not operation.value or str(operation.value).strip().lower() in CAUTION["operation"]:
        return None
    return operation.implies(False)


def _side_effects(dashdash: FieldReader) -> Iterator[SourcedValue]:
    """Yields the declared side effects without words for "none"."""
    if (effects := dashdash.read("sideEffects", "strings")) is not None and effects.value is not None:
        yield replace(
            effects, value=tuple(item for item in effects.value if item.strip().rstrip(".").lower() not in _NONE)
        )


def callable_entries(
    entries: Iterable[tuple[str, FieldReader]], problems: ProblemLog
) -> Iterator[tuple[str, FieldReader]]:
    """Yields the tools that a client may call over Streamable HTTP, and reports the others.

    `x-mcp-header` mirrors an argument into an HTTP header; a client must leave out a tool on which it breaks a rule
    (2026-07-28, Streamable HTTP, "Custom Headers").
    """
    for name, fields in entries:
        reason = _header_error(fields.raw.get("inputSchema"))
        if reason is None:
            yield name, fields
        else:
            message = f"no client may call {name[:100]!r}: {reason[:200]}; left out"
            problems.report("tool-header-invalid", fields.pointer_to("inputSchema"), message)


def _header_error(input_schema: Json) -> str | None:
    """Returns why the first invalid `x-mcp-header` is invalid; `None` if all are valid."""
    seen: set[str] = set()
    # A schema, or an object of schemas by name, with its path if only `properties` contain it.
    stack: list[tuple[tuple[str, ...] | None, Json, bool]] = [((), input_schema, False)]
    while stack:
        path, value, holds_names = stack.pop()
        for key, item, has_names in reversed(list(schema_members(value, holds_names))):
            inner = (
                path
                if (key == "properties" and not holds_names) or path is None
                else (*path, str(key))
                if holds_names
                else None
            )
            stack.append((inner, item, has_names))
        if holds_names or HEADER_KEY not in as_dict(value):
            continue
        header = value[HEADER_KEY]
        if not path:
            return f"{HEADER_KEY} is not on a plain property"
        where = ".".join(path)
        if not isinstance(header, str) or not _HEADER_NAME.match(header):
            return f"{HEADER_KEY} of {where} is not a header name"
        if value.get("type") not in _HEADER_TYPES:
            return f"{HEADER_KEY} of {where} is on a property that is not a string, integer or boolean"
        if header.lower() in seen:
            return f"{HEADER_KEY} of {where} repeats the header of another parameter"
        seen.add(header.lower())
    return None
