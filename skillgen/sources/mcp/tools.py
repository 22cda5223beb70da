"""Reads the entries of `tools/list` as tools, in any revision of the protocol and of the seeds.

The semantics of a tool come from `dashdash` (seed 000, 3.2.2), seed 004 (6) and annotations. Only declared facts and
what they imply count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.auth import RateLimit
from skillgen.model.calls import Example, Input, Output, Pagination
from skillgen.model.schema import Parameter, Schema, is_open, takes_any_names
from skillgen.model.tool import CAUTION, Cost, Semantics, Tool
from skillgen.model.values import Json, Origin, Value, child
from skillgen.sources.examples.calls import call_examples
from skillgen.sources.json_access import as_dict, as_list
from skillgen.sources.json_schema.flatten import flatten
from skillgen.sources.json_schema.loader import SchemaDocument, SchemaReader, with_root_references
from skillgen.sources.json_schema.merge import ANYTHING
from skillgen.sources.mcp.ai_help import ToolHelp, with_help
from skillgen.sources.mcp.entries import Read, ToolEntry, counted_limit, in_either_case
from skillgen.sources.mcp.fields import FieldReader, FieldResolver, SourcedValue, value_of
from skillgen.sources.mcp.offers import icons_of
from skillgen.sources.mcp.progressive import guidance_from
from skillgen.text.summary import first_statement

_NONE = frozenset({"", "none", "no", "n/a"})

_REFS_LIMIT = 8
"""Nesting of references and `allOf` that is followed to find out that a schema takes no arguments."""

_TASK_SUPPORT = ("forbidden", "optional", "required")

_INPUTS = ("input", "arguments", "parameters")
"""Keys under which examples have their arguments."""

HEADER_KEY = "x-mcp-header"
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
_HEADER_TYPES = ("string", "integer", "boolean")

_VALUE_KEYWORDS = ("default", "example", "examples", "enum", "const")
"""Keywords whose values may look like schemas."""

_FIELDS: Mapping[str, tuple[str, Read]] = {
    "latency": ("latency", FieldReader.string),
    "input_media_types": ("input_types", FieldReader.strings),
    "output_media_types": ("output_types", FieldReader.strings),
    "max_input_bytes": ("max_input_size_bytes", FieldReader.integer),
    "binary_transport": ("binary_transport", FieldReader.string),
    "scopes": ("required_scopes", FieldReader.strings),
    "streaming": ("supports_streaming", FieldReader.boolean),
    "pagination": ("supports_pagination", FieldReader.boolean),
}
"""Field of the model to the key in seed 004, and how it is read."""

_LATENCIES = ("instant", "seconds", "minutes")
_COSTS = ("free", "metered", "requires_approval")


class ToolReader(Struct, frozen=True, kw_only=True):
    """Reads the tools of one server."""

    schemas: SchemaReader
    ai_help: ToolHelp
    help_pointer: str
    """The pointer to that text."""

    trusted_host: str | None
    """The host whose icons may be linked."""

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
        descriptions = (source.string("description") for source in entry.sources)
        description = resolver.value("description", next(filter(None, descriptions), None))
        fields.ignore("description")
        declared = self._input(name, entry)
        is_input_declared = bool(declared.parameters) or (declared.is_declared and not is_undescribed)
        counted = counted_limit(dashdash)
        rate_limit = resolver.value("rate_limit", dashdash.string("rateLimit"))
        guidance, described_errors = guidance_from(described)
        values = {field: entry.field(key, read) for field, (key, read) in _FIELDS.items()}
        self._check_words(values["latency"], _LATENCIES)
        facts = {field: resolver.value(field, *values[field]) for field in _FIELDS}
        facts["pagination"] = Pagination() if facts["pagination"] else None
        tool = Tool(
            name=name,
            title=resolver.value(
                "title", fields.string("title"), *(item.string("title") for item in entry.annotations)
            ),
            summary=resolver.value("summary", self._summary(description, entry)),
            description=description,
            group=(resolver.value("group", dashdash.string("category")) or "").strip() or group,
            parameters=declared.parameters,
            input_schema=declared.raw,
            is_input_declared=is_input_declared,
            input=declared.input,
            output=self._output(name, entry),
            semantics=semantics_from_entry(entry),
            cost=self._cost(entry, resolver),
            rate_limit=RateLimit(text=rate_limit) if rate_limit is not None else counted,
            examples=call_examples(
                chain(_examples(dashdash), _described_examples(described)),
                declared.raw,
                declared.pointer,
                self.problems,
                name=name,
                description=description,
                may_generate=is_input_declared
                or not _is_unconstrained(declared.input.schema if declared.input else None),
            ),
            errors=(*entry.errors(), *described_errors),
            guidance=guidance,
            cli_equivalent=resolver.value("cli_equivalent", dashdash.string("cliEquivalent")),
            api_equivalent=resolver.value("api_equivalent", dashdash.string("apiEquivalent")),
            task_support=self._task_support(entry),
            icons=icons_of(fields, self.trusted_host),
            extras=entry.unread() or None,
            pointer=fields.pointer,
            origins=resolver.origins,
            **{field: value for field, value in facts.items() if value is not None},
        )
        keys = {"cli_equivalent": "cliEquivalent", "api_equivalent": "apiEquivalent"}
        nulls = [field for field, key in keys.items() if key in dashdash.raw and dashdash.raw[key] is None]
        return with_help(tool, self.ai_help, Origin("declared", self.help_pointer), nulls)

    def _input(self, name: str, entry: ToolEntry) -> _DeclaredInput:
        declared = next(iter(entry.field("input_schema", FieldReader.json)), None)
        if declared is None:
            message = f"the tool {name!r} has no input schema; what it takes is not declared"
            self.problems.report("input-schema-missing", entry.fields.pointer, message)
            return _DeclaredInput(pointer=entry.fields.pointer)
        raw, pointer = with_root_references(declared.value), declared.pointer
        if not isinstance(raw, dict):
            self.problems.report("input-schema-invalid", pointer, "the input schema is not an object; left out")
            return _DeclaredInput(pointer=entry.fields.pointer)
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
            pointer=pointer,
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
        declared = next(iter(entry.field("output_schema", FieldReader.json)), None)
        if declared is None:
            return None
        raw, pointer = with_root_references(declared.value), declared.pointer
        schema = self.schemas.open_document(raw, pointer, owner=name).schema(raw, pointer)
        return Output(schema=schema, raw=raw, pointer=pointer)

    def _cost(self, entry: ToolEntry, resolver: FieldResolver) -> Cost | None:
        cost = entry.object("cost")
        if cost is None:
            return None
        text, number = FieldReader.string, FieldReader.number
        readers = {"category": text, "estimated_units": number, "unit_label": text}
        values = {key: list(in_either_case(cost, key, read)) for key, read in readers.items()}
        self._check_words(values["category"], _COSTS)
        return Cost(**{key: resolver.value(f"cost.{key}", *found) for key, found in values.items()})

    def _check_words(self, values: Iterable[SourcedValue], choices: tuple[str, ...]) -> None:
        """Reports values that seed 004, 3, does not specify."""
        for item in values:
            if item.value is not None and item.value not in choices:
                message = f"{item.value[:40]!r} is not specified; it is one of {', '.join(choices)}"
                self.problems.report("manifest-word-unknown", item.pointer, message)

    def _summary(self, description: str | None, entry: ToolEntry) -> SourcedValue | None:
        """Returns the brief description of a progressive server, or the first sentence of the description."""
        brief = entry.fields.string("description") if entry.described is not None else None
        sentence = first_statement(description or "")
        if brief is not None or not sentence:
            return brief
        return SourcedValue(sentence, entry.fields.pointer_to("description"), "entry", inferred_from="description")


class _DeclaredInput(Struct, frozen=True, kw_only=True):
    """What an entry declares of the arguments of its tool."""

    raw: Json = None
    parameters: tuple[Parameter, ...] = ()
    input: Input | None = None
    is_declared: bool = False
    pointer: str


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
    rules = schemas.without_moot_keywords(raw)
    is_closed = rules.get("additionalProperties") is False or rules.get("unevaluatedProperties") is False
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
        description, output = item.string("description"), item.json("output")
        arguments = next((value for key in _INPUTS if (value := item.json(key)) is not None), None)
        if arguments is None or not isinstance(arguments.value, dict):
            owner.problems.report("call-example-invalid", item.pointer, "the example has no object `input`; left out")
            continue
        example = Example(
            input=arguments.value,
            description=value_of(description),
            output=Value(output.value) if output is not None else None,
        )
        yield example, item.pointer


def semantics_from_entry(entry: ToolEntry) -> Semantics:
    """Returns what calling a tool does; each fact has its origin."""
    resolver = FieldResolver(entry.fields.problems)
    operation = [dashdash.cautious_choice("operationType", CAUTION["operation"]) for dashdash in entry.dashdashes]
    risk = entry.field("risk_level", lambda fields, key: fields.cautious_choice(key, CAUTION["risk"], "destructive"))

    def hint(key: str, cautious: bool) -> list[SourcedValue | None]:
        return [annotations.cautious_boolean(key, cautious) for annotations in entry.annotations]

    def declared(key: str, cautious: bool) -> list[SourcedValue | None]:
        return [dashdash.cautious_boolean(key, cautious) for dashdash in entry.dashdashes]

    return Semantics(
        operation=resolver.cautious("operation", *operation),
        read_only=resolver.cautious(
            "read_only",
            *_implied(operation, {"read": True, "write": False, "delete": False}),
            *hint("readOnlyHint", False),
            *map(_unknown_operation, entry.dashdashes),
        ),
        # `safe` implies nothing: the manifests of seed 004 have it on tools that create something.
        destructive=resolver.cautious(
            "destructive",
            *_implied(operation, {"delete": True}),
            *_implied(risk, {"destructive": True}),
            *hint("destructiveHint", True),
        ),
        idempotent=resolver.cautious(
            "idempotent",
            *declared("idempotent", False),
            *entry.field("idempotent", lambda fields, key: fields.cautious_boolean(key, False)),
            *hint("idempotentHint", False),
        ),
        idempotent_with_key=resolver.value("idempotent_with_key", *declared("idempotentWithKey", False)),
        open_world=resolver.cautious("open_world", *hint("openWorldHint", True)),
        reversible=resolver.cautious(
            "reversible", *declared("reversible", False), *_implied(risk, {"reversible": True})
        ),
        reversed_by=resolver.value("reversed_by", *(item.string("reverseMethod") for item in entry.dashdashes)),
        side_effects=resolver.union("side_effects", *map(_side_effects, entry.dashdashes)),
        requires_confirmation=resolver.cautious(
            "requires_confirmation",
            *entry.field("requires_confirmation", lambda fields, key: fields.cautious_boolean(key, True)),
        ),
        confirmation_message=resolver.value(
            "confirmation_message", *entry.field("confirmation_message", FieldReader.string)
        ),
        risk=resolver.cautious("risk", *risk),
        origins=resolver.origins,
    )


def _implied(candidates: Iterable[SourcedValue | None], meaning: dict[object, object]) -> Iterator[SourcedValue]:
    """Yields the values that follow for another field; `meaning` maps the values that imply one."""
    for candidate in candidates:
        if candidate is not None and candidate.value in meaning:
            yield candidate.implies(meaning[candidate.value])


def _unknown_operation(dashdash: FieldReader) -> SourcedValue | None:
    """Returns that a tool is not read-only if its operation has an unknown name: only `read` is."""
    operation = dashdash.json("operationType")
    if operation is None or not operation.value or str(operation.value).strip().lower() in CAUTION["operation"]:
        return None
    return operation.implies(False)


def _side_effects(dashdash: FieldReader) -> SourcedValue | None:
    """Returns the declared side effects without words for "none"."""
    effects = dashdash.strings("sideEffects")
    if effects is None or effects.value is None:
        return effects
    return replace(
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
    for path, schema in subschemas(input_schema):
        if HEADER_KEY not in schema:
            continue
        header = schema[HEADER_KEY]
        if not path:
            return f"{HEADER_KEY} is not on a plain property"
        where = ".".join(path)
        if not isinstance(header, str) or not _HEADER_NAME.match(header):
            return f"{HEADER_KEY} of {where} is not a header name"
        if schema.get("type") not in _HEADER_TYPES:
            return f"{HEADER_KEY} of {where} is on a property that is not a string, integer or boolean"
        if header.lower() in seen:
            return f"{HEADER_KEY} of {where} repeats the header of another parameter"
        seen.add(header.lower())
    return None


def subschemas(root: Json) -> Iterator[tuple[tuple[str, ...] | None, dict[str, Json]]]:
    """Yields every schema in a schema, with its path if only `properties` contain it; never a default or an example."""
    stack: list[tuple[tuple[str, ...] | None, Json]] = [((), root)]
    while stack:
        path, schema = stack.pop()
        nested: list[tuple[tuple[str, ...] | None, Json]] = []
        if isinstance(schema, list):
            nested = [(None, part) for part in schema]
        elif isinstance(schema, dict):
            yield path, schema
            properties = as_dict(schema.get("properties"))
            nested += [((*path, name) if path is not None else None, part) for name, part in properties.items()]
            nested += [(None, part) for key, part in schema.items() if key not in ("properties", *_VALUE_KEYWORDS)]
        stack += reversed(nested)
