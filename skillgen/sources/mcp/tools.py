"""Entry of tools/list -> Tool.

Reads what calling a tool does to the world: `dashdash` (seed 000, 3.2.2), seed 004 (6), annotations.

Only what is declared, or follows from it by the meaning of the words, is a fact. The default of `destructiveHint`
counts where a tool declares that it changes something and nothing else; a tool that declares nothing has no facts.

Reads entries of `tools/list` as tools, whatever revision of the protocol or seed they follow.

Checks `x-mcp-header`, which mirrors an argument into an HTTP header (2026-07-28, Streamable HTTP, "Custom Headers").

A client must leave out a tool whose annotations break the rules: no call of it could be made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from skillgen.errors import ProblemLog
from skillgen.model.auth import RateLimit
from skillgen.model.calls import ErrorCase, Example, Input, Output
from skillgen.model.schema import Parameter, Schema, is_open, takes_any_names
from skillgen.model.tool import CAUTION, Cost, Semantics, Tool
from skillgen.model.values import Json, Origin, Value, child
from skillgen.sources.examples.calls import call_examples
from skillgen.sources.json_access import as_dict, as_list
from skillgen.sources.json_schema.flatten import flatten
from skillgen.sources.json_schema.loader import SchemaDocument, SchemaReader
from skillgen.sources.json_schema.merge import ANYTHING
from skillgen.sources.mcp.ai_help import ToolHelp, with_help
from skillgen.sources.mcp.entries import ToolEntry, counted_limit, error_cases, spelled
from skillgen.sources.mcp.fields import FieldReader, FieldResolver, SourcedValue
from skillgen.sources.mcp.offers import IconReader
from skillgen.sources.mcp.progressive import guidance_from
from skillgen.sources.safety import reconcile_safety
from skillgen.text.summary import first_sentence

DEFAULT = "MCP's default"

_NONE = frozenset({"", "none", "no", "n/a"})


def semantics_from_tool(entry: ToolEntry, problems: ProblemLog) -> Semantics:
    """Reads the semantics of one tool; each fact has its origin."""
    resolver = FieldResolver(problems)
    operation = [place.cautious_choice("operationType", CAUTION["operation"]) for place in entry.dashdashes]
    risk = entry.field("risk_level", lambda place, key: place.cautious_choice(key, CAUTION["risk"], "destructive"))

    def hint(key: str, cautious: bool) -> list[SourcedValue | None]:
        return [place.cautious_boolean(key, cautious) for place in entry.annotations]

    def flag(key: str, cautious: bool) -> list[SourcedValue | None]:
        return [place.cautious_boolean(key, cautious) for place in entry.dashdashes]

    found = Semantics(
        operation=resolver.cautious("operation", *operation),
        read_only=resolver.cautious(
            "read_only",
            *_implied(operation, {"read": True, "write": False, "delete": False}),
            *hint("readOnlyHint", False),
            *map(_not_read, entry.dashdashes),
        ),
        # `safe` claims nothing: seed 004's own manifests put it on tools that create.
        destructive=resolver.cautious(
            "destructive",
            *_implied(operation, {"delete": True}),
            *_implied(risk, {"destructive": True}),
            *hint("destructiveHint", True),
        ),
        idempotent=resolver.value(
            "idempotent",
            *flag("idempotent", False),
            *entry.field("idempotent", lambda place, key: place.cautious_boolean(key, False)),
            *hint("idempotentHint", False),
        ),
        idempotent_with_key=resolver.value("idempotent_with_key", *flag("idempotentWithKey", False)),
        open_world=resolver.cautious("open_world", *hint("openWorldHint", True)),
        reversible=resolver.cautious("reversible", *flag("reversible", False), *_implied(risk, {"reversible": True})),
        reversed_by=resolver.value("reversed_by", *(place.string("reverseMethod") for place in entry.dashdashes)),
        side_effects=resolver.union("side_effects", *map(_side_effects, entry.dashdashes)),
        requires_confirmation=resolver.cautious(
            "requires_confirmation",
            *entry.field("requires_confirmation", lambda place, key: place.cautious_boolean(key, True)),
        ),
        confirmation_message=resolver.value(
            "confirmation_message", *entry.field("confirmation_message", lambda place, key: place.string(key))
        ),
        risk=resolver.cautious("risk", *risk),
        origins=resolver.origins,
    )
    return _with_default(found)


def _implied(claims: Iterable[SourcedValue | None], meaning: dict[object, object]) -> Iterator[SourcedValue]:
    """Yields what claims say of another field, where their value says something of it."""
    for claim in claims:
        if claim is not None and claim.value in meaning:
            yield claim.implies(meaning[claim.value])


def _not_read(place: FieldReader) -> SourcedValue | None:
    """Returns the claim of an operation that has an unknown name: nothing but `read` only reads."""
    claim = place.json("operationType")
    if claim is None or not claim.value or str(claim.value).strip().lower() in CAUTION["operation"]:
        return None
    return claim.implies(False)


def _side_effects(place: FieldReader) -> SourcedValue | None:
    """Returns the declared side effects; the word for "none" is not one."""
    claim = place.strings("sideEffects")
    if claim is None or claim.value is None:
        return claim
    return replace(claim, value=tuple(item for item in claim.value if item.strip().rstrip(".").lower() not in _NONE))


def _with_default(found: Semantics) -> Semantics:
    """Returns the semantics with MCP's default for `destructiveHint`, which is true."""
    is_open = found.destructive is None and found.operation is None and found.risk is None
    if not (found.read_only is False and is_open):
        return found
    origins = {**(found.origins or {}), "destructive": Origin("defaulted", DEFAULT)}
    return replace(found, destructive=True, origins=origins)


_REFS_LIMIT = 8
"""References and parts of parts that are followed to a schema that takes nothing."""

_TASK_SUPPORT = ("forbidden", "optional", "required")

_INPUTS = ("input", "arguments", "parameters")
"""Names that an example has for its arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _InputRead:
    """What an entry declares of the arguments of its tool."""

    raw: Json = None
    parameters: tuple[Parameter, ...] = ()
    whole: Input | None = None
    is_declared: bool = False
    pointer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReader:
    """Reads the tools of one server."""

    schemas: SchemaReader
    ai_help: ToolHelp
    help_pointer: str
    icons: IconReader
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
        """Reads one entry that has a name, with what else is said of the tool elsewhere.

        `described` is the second stage of a progressive server, `manifest` the entry of a service manifest;
        `is_undescribed` is true if that second stage was not read.
        """
        entry = ToolEntry(fields, self.problems, described=described, manifest=manifest)
        resolver = FieldResolver(self.problems, fields.pointer)
        description = resolver.value("description", self._description(fields, described, manifest))
        read = self._input(name, entry)
        is_input_declared = bool(read.parameters) or (read.is_declared and not is_undescribed)
        own = entry.dashdash
        counted = counted_limit(own)
        guidance, guided_errors = guidance_from(described, self.problems)
        tool = Tool(
            name=name,
            title=resolver.value(
                "title", fields.string("title"), *(place.string("title") for place in entry.annotations)
            ),
            summary=resolver.value("summary", self._summary(description, fields, described)),
            description=description,
            group=_category(resolver.resolve("group", own.string("category"))) or group,
            parameters=read.parameters,
            input_schema=read.raw,
            is_input_declared=is_input_declared,
            input=read.whole,
            output=self._output(name, entry),
            semantics=semantics_from_tool(entry, self.problems),
            cost=_cost(entry, resolver),
            latency=resolver.value("latency", *entry.field("latency", FieldReader.string)),
            input_media_types=resolver.value("input_media_types", *entry.field("input_types", FieldReader.strings))
            or (),
            output_media_types=resolver.value("output_media_types", *entry.field("output_types", FieldReader.strings))
            or (),
            max_input_bytes=resolver.value(
                "max_input_bytes", *entry.field("max_input_size_bytes", FieldReader.integer)
            ),
            binary_transport=resolver.value("binary_transport", *entry.field("binary_transport", FieldReader.string)),
            scopes=resolver.value("scopes", *entry.field("required_scopes", FieldReader.strings)) or (),
            rate_limit=_rate_limit(resolver.resolve("rate_limit", own.string("rateLimit"))) or counted,
            examples=call_examples(
                chain(_examples(own, self.problems), self._described_examples(described)),
                read.raw,
                read.pointer,
                self.problems,
                may_make=is_input_declared or not _says_nothing(read.whole.schema if read.whole else None),
            ),
            errors=(*error_cases(own, "errors", self.problems), *guided_errors, *self._catalogue(entry)),
            guidance=guidance,
            cli_equivalent=resolver.value("cli_equivalent", own.string("cliEquivalent")),
            api_equivalent=resolver.value("api_equivalent", own.string("apiEquivalent")),
            streaming=resolver.value("streaming", *entry.field("supports_streaming", FieldReader.boolean)),
            task_support=self._task_support(described, fields, manifest),
            pagination=_pagination(
                resolver.resolve("pagination", *entry.field("supports_pagination", FieldReader.boolean))
            ),
            icons=self.icons.icons(fields),
            extras=entry.unread() or None,
            pointer=fields.pointer,
            origins=resolver.origins,
        )
        keys = {"cli_equivalent": "cliEquivalent", "api_equivalent": "apiEquivalent"}
        nulls = [field for field, key in keys.items() if key in own.raw and own.raw[key] is None]
        helped = with_help(tool, self.ai_help, Origin("declared", self.help_pointer), nulls)
        return reconcile_safety(helped, self.problems)

    def _input(self, name: str, entry: ToolEntry) -> _InputRead:
        claim = next(iter(entry.field("input_schema", FieldReader.json)), None)
        if claim is None:
            self.problems.info(
                "input-schema-missing",
                entry.fields.pointer,
                f"the tool {name!r} has no input schema; what it takes is not declared",
                "declare an inputSchema",
            )
            return _InputRead(pointer=entry.fields.pointer)
        raw = claim.value
        if not isinstance(raw, dict):
            self.problems.warning("input-schema-invalid", claim.pointer, "the input schema is not an object; left out")
            return _InputRead(pointer=entry.fields.pointer)
        if "type" in raw and raw["type"] != "object":
            self.problems.warning(
                "input-schema-invalid",
                claim.pointer,
                f"the type of the input schema is {str(raw['type'])[:60]!r}, but arguments are an object",
                'declare "type": "object"',
            )
        schemas = self.schemas.open_document(raw, claim.pointer, owner=name)
        flat = flatten(schemas, {**raw, "type": "object"} if "type" in raw else raw, claim.pointer)
        whole = Input(schema=flat.schema, pointer=claim.pointer) if flat.schema is not None else None
        has_names = bool(flat.parameters) or (flat.schema is not None and takes_any_names(flat.schema))
        is_declared = has_names or (_says_nothing(flat.schema) and _takes_nothing(raw, schemas, claim.pointer))
        if not is_declared or (not has_names and is_open(raw)):
            self.problems.info(
                "input-schema-minimal",
                claim.pointer,
                f"the input schema of {name!r} does not declare what the tool takes: it accepts any object",
                'declare its properties; "additionalProperties": false if it takes none',
            )
        return _InputRead(
            raw=raw,
            parameters=flat.parameters,
            whole=whole,
            is_declared=is_declared,
            pointer=claim.pointer,
        )

    def _task_support(self, *voices: FieldReader | None) -> Literal["optional", "required"] | None:
        """Reads whether a call can or must be a task; the whole of `execution` stays among the extras."""
        found = set()
        for voice in (voice for voice in voices if voice is not None):
            word = as_dict(voice.raw.get("execution")).get("taskSupport", _TASK_SUPPORT[0])
            if word not in _TASK_SUPPORT:
                self.problems.warning(
                    "member-invalid",
                    child(voice.pointer, "execution", "taskSupport"),
                    f"expected one of {', '.join(_TASK_SUPPORT)}, found {str(word)[:60]!r}; left out",
                )
            found.add(str(word))
        return "required" if "required" in found else "optional" if "optional" in found else None

    def _output(self, name: str, entry: ToolEntry) -> Output | None:
        claim = next(iter(entry.field("output_schema", FieldReader.json)), None)
        if claim is None:
            return None
        schema = self.schemas.open_document(claim.value, claim.pointer, owner=name).schema(claim.value, claim.pointer)
        return Output(schema=schema, raw=claim.value, pointer=claim.pointer)

    def _description(
        self, fields: FieldReader, described: FieldReader | None, manifest: FieldReader | None
    ) -> SourcedValue | None:
        """Returns the one description that counts: these places say more or less, which is no disagreement."""
        voices = (described, fields, manifest)
        found = next((claim for voice in voices if voice is not None and (claim := voice.string("description"))), None)
        fields.ignore("description")
        return found

    def _described_examples(self, described: FieldReader | None) -> tuple[tuple[Example, str], ...]:
        if described is None or not any(isinstance(item, dict) for item in as_list(described.raw.get("examples"))):
            return ()
        return tuple(_examples(described, self.problems))

    def _catalogue(self, entry: ToolEntry) -> tuple[ErrorCase, ...]:
        found = entry.catalogue("errors", "error_catalogue", "error_catalog")
        return tuple(error_cases(*found, self.problems)) if found is not None else ()

    def _summary(
        self, description: str | None, fields: FieldReader, described: FieldReader | None
    ) -> SourcedValue | None:
        """Returns the brief description of a progressive server, or the first sentence of the description."""
        brief = fields.string("description") if described is not None else None
        if brief is not None:
            return brief
        sentence = first_sentence(description or "")
        return (
            SourcedValue(sentence, fields.pointer_to("description"), "entry", inferred_from="description")
            if sentence
            else None
        )


def _says_nothing(whole: Schema | None) -> bool:
    """True if nothing is declared of the arguments as a whole, unless that there are no others."""
    return whole is None or replace(whole, description=None, title=None, additional=None) == ANYTHING


def _takes_nothing(raw: Json, schemas: SchemaDocument, pointer: str, depth: int = 0) -> bool:
    """True if a schema without parameters declares that there are none.

    It is closed, or has an empty list of properties, as SDKs write it, or is `{"type": "object"}`, which accepts any
    object too (2025-11-25, "Tool", "no parameters").
    """
    if not isinstance(raw, dict) or depth > _REFS_LIMIT:
        return False
    is_closed = raw.get("additionalProperties") is False or raw.get("unevaluatedProperties") is False
    if is_closed or ("type" in raw and raw.get("properties", {}) == {} and "additionalProperties" not in raw):
        return bool(raw.get("type", "object") == "object")
    target = schemas.resolve(raw["$ref"], pointer) if isinstance(raw.get("$ref"), str) else None
    parts = [*([target[1]] if target is not None else []), *as_list(raw.get("allOf"))]
    return any(_takes_nothing(part, schemas, pointer, depth + 1) for part in parts)


def _category(claim: SourcedValue | None) -> str | None:
    return claim.value.strip() if claim is not None and claim.value is not None else None


def _rate_limit(claim: SourcedValue | None) -> RateLimit | None:
    return RateLimit(text=claim.value) if claim is not None and claim.value is not None else None


def _pagination(claim: SourcedValue | None) -> str | None:
    return "supported" if claim is not None and claim.value else None


def _cost(entry: ToolEntry, resolver: FieldResolver) -> Cost | None:
    cost = entry.object("cost")
    if cost is None:
        return None
    return Cost(
        category=resolver.value("cost.category", *spelled(cost, "category", FieldReader.string)),
        estimated_units=resolver.value("cost.estimated_units", *spelled(cost, "estimated_units", FieldReader.number)),
        unit_label=resolver.value("cost.unit_label", *spelled(cost, "unit_label", FieldReader.string)),
    )


def _examples(owner: FieldReader, problems: ProblemLog) -> Iterator[tuple[Example, str]]:
    """Reads `examples`, calls with what they give; other names of `input` are known too."""
    for item in owner.objects("examples"):
        description, output = item.string("description"), item.json("output")
        arguments = next((claim for key in _INPUTS if (claim := item.json(key)) is not None), None)
        if arguments is None or not isinstance(arguments.value, dict):
            problems.warning("example-invalid", item.pointer, "the example has no object `input`; left out")
            continue
        example = Example(
            input=arguments.value,
            description=description.value if description is not None else None,
            output=Value(output.value) if output is not None else None,
        )
        yield example, item.pointer


_KEY = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
_TYPES = ("string", "integer", "boolean")

_ONE_SCHEMA = (
    "items",
    "contains",
    "unevaluatedItems",
    "additionalItems",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
)
_LISTS_OF_SCHEMAS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_NAMED_SCHEMAS = ("patternProperties", "dependentSchemas", "$defs", "definitions")


def callable_entries(
    entries: Iterable[tuple[str, FieldReader]], problems: ProblemLog
) -> Iterator[tuple[str, FieldReader]]:
    """Gives the tools that a client may call over Streamable HTTP, and reports the others."""
    for name, fields in entries:
        reason = invalid_header(fields.raw.get("inputSchema"))
        if reason is None:
            yield name, fields
        else:
            problems.warning(
                "tool-header-invalid",
                fields.pointer_to("inputSchema"),
                f"no client may call {name[:100]!r}: {reason[:200]}; left out",
                "give each x-mcp-header a name of its own, on a property that is a string, integer or boolean",
            )


def invalid_header(input_schema: Json) -> str | None:
    """Tells what is wrong with the first annotation that breaks a rule; `None` where none does."""
    seen: set[str] = set()
    for path, schema in _positions(input_schema):
        if _KEY not in schema:
            continue
        header = schema[_KEY]
        if not path:
            return f"{_KEY} stands where no plain property is"
        where = ".".join(path)
        if not isinstance(header, str) or not _TOKEN.match(header):
            return f"{_KEY} of {where} is no name of a header"
        if schema.get("type") not in _TYPES:
            return f"{_KEY} of {where} is on what is no string, integer or boolean"
        if header.lower() in seen:
            return f"{_KEY} of {where} names a header that another parameter has"
        seen.add(header.lower())
    return None


def _positions(root: Json) -> Iterator[tuple[tuple[str, ...] | None, dict[str, Json]]]:
    """Gives every schema, and its path where nothing but `properties` leads to it; never what is mere data."""
    waiting: list[tuple[tuple[str, ...] | None, Json]] = [((), root)]
    while waiting:
        path, schema = waiting.pop()
        if not isinstance(schema, dict):
            continue
        yield path, schema
        inside: list[tuple[tuple[str, ...] | None, Json]] = []
        properties = schema.get("properties")
        if isinstance(properties, dict):
            inside += [((*path, name) if path is not None else None, part) for name, part in properties.items()]
        inside += [(None, schema.get(key)) for key in _ONE_SCHEMA]
        inside += [(None, part) for key in _LISTS_OF_SCHEMAS for part in as_list(schema.get(key))]
        inside += [(None, part) for key in _NAMED_SCHEMAS for part in as_dict(schema.get(key)).values()]
        waiting += reversed(inside)
