"""Effects, marks, needs in words, for one tool and for all.

Says in sentences what calling a tool does to the world, and what was inferred from what.

What an `--ai-help` text says of the commands together: what they do to the world, dates, what is not to be used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillgen.model.auth import Credential, RateLimit
from skillgen.model.resource import Event
from skillgen.model.schema import Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Cost, Semantics, Tool
from skillgen.render.pages import tool_link
from skillgen.text.markdown import Markdown, code, inline, one_line, paragraph

_OPERATION_WORDS = {"write": "changes data", "delete": "deletes data", "admin": "changes settings or permissions"}
_METHOD_WORDS = {
    "POST": "may change data",
    "PATCH": "changes data",
    "PUT": "changes data, and may replace what is there",
}
"""What the method alone says of an operation of which nothing is declared."""

_CHANGING = ("write", "delete", "admin")

MARK_WORDS = {
    "ask first": "a person must agree first",
    "destructive": "may delete or overwrite",
    "read": "changes nothing",
    "write": "may change data",
    "deprecated": "not to be used any more",
}
"""What the marks mean."""


_EFFECTS = ("operation", "read_only", "destructive", "idempotent")


def marks(tool: Tool) -> tuple[str, ...]:
    """Gives the words that mark a tool in a list; empty where nothing is known."""
    semantics = tool.semantics
    found = []
    if semantics.requires_confirmation:
        found.append("ask first")
    if semantics.destructive:
        found.append("destructive")
    elif semantics.read_only:
        found.append("read")
    elif semantics.destructive is False or semantics.read_only is False or semantics.operation in _CHANGING:
        found.append("write")
    if tool.deprecated:
        found.append("deprecated")
    return tuple(found)


_MARKS_OF_EFFECTS = frozenset({"destructive", "read", "write"})


def is_effect_unknown(tool: Tool) -> bool:
    """Tells whether nothing is known of what a tool changes."""
    return _MARKS_OF_EFFECTS.isdisjoint(marks(tool))


def is_effect_of_method(tool: Tool) -> bool:
    """Tells whether that a tool changes something is known from its HTTP method alone."""
    return "write" in marks(tool) and not any(_declares(tool.semantics, name) for name in _EFFECTS)


def marks_legend(tools: Iterable[Tool]) -> Markdown:
    """Says what the marks mean that any of the tools has; empty where none has any."""
    found = {mark for tool in tools for mark in marks(tool)}
    words = [f"[{mark}] {meaning}" for mark, meaning in MARK_WORDS.items() if mark in found]
    return Markdown("; ".join(words) + "." if words else "")


def declares_effects(service: Service) -> bool:
    """Tells whether the source itself says of any tool what it does to the world."""
    return any(
        _declares(semantics, field)
        for semantics in {id(tool.semantics): tool.semantics for tool in service.tools}.values()
        for field in _EFFECTS
    )


def goes_by_names(service: Service) -> bool:
    """Tells whether what a tool destroys was inferred from more than its HTTP method."""
    places = {id(tool.semantics): (tool.semantics.origins or {}) for tool in service.tools}.values()
    found = {found["destructive"] for found in places if "destructive" in found}
    return any(origin.kind == "inferred" and not origin.source.startswith("HTTP ") for origin in found)


def _declares(semantics: Semantics, field: str) -> bool:
    return getattr(semantics, field) is not None and semantics.is_declared(field)


def effects(tool: Tool) -> tuple[Markdown, ...]:
    """Says what is declared in one sentence, and in others what was inferred and from what."""
    semantics = tool.semantics
    declared: list[str] = []
    inferred: dict[str, list[str]] = {}
    for field, words in _facts(semantics):
        if is_said(semantics, field):
            declared.append(words)
        else:
            if field == "operation" and tool.method in _METHOD_WORDS:
                words = _METHOD_WORDS[tool.method]
            inferred.setdefault((semantics.origins or {})[field].source, []).append(words)
    sentences = [f"Declared: {'; '.join(declared)}."] if declared else []
    sentences += [f"Inferred from {inline(source)}: {'; '.join(words)}." for source, words in inferred.items()]
    if is_destructive_by_default(semantics):
        sentences.append("By MCP's default it may delete or overwrite (not declared).")
    return tuple(Markdown(sentence) for sentence in sentences)


def is_destructive_by_default(semantics: Semantics) -> bool:
    """True if a tool may delete or overwrite only by the default of a specification."""
    origin = (semantics.origins or {}).get("destructive")
    return bool(semantics.destructive) and origin is not None and origin.kind == "defaulted"


def is_destructive_by_inference(semantics: Semantics) -> bool:
    """True if a tool may delete or overwrite by what its name, method or another fact implies."""
    origin = (semantics.origins or {}).get("destructive")
    is_inferred = origin is not None and origin.kind == "inferred"
    return bool(semantics.destructive) and is_inferred and not _is_said_to_delete(semantics)


def needs(tool: Tool) -> tuple[Markdown, ...]:
    """Gives a sentence for each thing that a call needs or uses up."""
    found = []
    if tool.auth == ():
        found.append("Needs no authentication.")
    elif tool.auth:
        found.append(f"Authentication: {_ways(tool.auth)}.")
    elif tool.scopes:
        found.append(f"Scopes: {', '.join(code(scope) for scope in tool.scopes)}.")
    if tool.cost is not None and (phrase := cost_phrase(tool.cost)):
        found.append(f"Estimated cost: {phrase}.")
    if tool.latency is not None:
        found.append(f"Estimated time: {inline(tool.latency)}.")
    if tool.input_media_types and tool.method is None:
        found.append(f"Takes: {', '.join(code(name) for name in tool.input_media_types)}.")
    if tool.output_media_types and tool.method is None:
        found.append(f"Gives: {', '.join(code(name) for name in tool.output_media_types)}.")
    if tool.max_input_bytes is not None:
        found.append(f"Input: at most {tool.max_input_bytes:,} bytes.")
    if tool.binary_transport is not None:
        found.append(f"Binary data is sent as {code(tool.binary_transport)}.")
    if tool.rate_limit is not None and (phrase := rate_limit_phrase(tool.rate_limit)):
        found.append(f"Rate limit: {phrase}.")
    return tuple(Markdown(sentence) for sentence in found)


def event_auth(event: Event) -> Markdown:
    """Says how the service authenticates itself when it sends an event; empty where that is not declared."""
    if event.auth is None:
        return Markdown("")
    return Markdown(
        f"The service authenticates itself to the receiver with {_ways(event.auth)}."
        if event.auth
        else "The service does not authenticate itself to the receiver."
    )


def _ways(ways: tuple[tuple[Credential, ...], ...]) -> str:
    """Says the ways to authenticate, of which one is enough: `a` with `b`, or `c`."""
    said = [" with ".join(_credential(item) for item in way) for way in ways if way]
    if len(said) < len(ways):
        said.append("none")
    return ", or ".join(said)


def _credential(credential: Credential) -> str:
    if not credential.scopes:
        return code(credential.scheme)
    noun = "scope" if len(credential.scopes) == 1 else "scopes"
    return f"{code(credential.scheme)} ({noun} {', '.join(code(scope) for scope in credential.scopes)})"


def cost_phrase(cost: Cost) -> Markdown:
    """Says what a call costs: `metered, 2 credits`."""
    units = ""
    if cost.estimated_units is not None:
        units = f"{cost.estimated_units:g} {inline(cost.unit_label or 'units')}"
    return Markdown(", ".join(part for part in (inline(cost.category or ""), units) if part))


def rate_limit_phrase(limit: RateLimit) -> Markdown:
    """Says how often something may be called."""
    parts = [paragraph(limit.text)] if limit.text else []
    if limit.requests_per_minute is not None:
        parts.append(Markdown(f"{limit.requests_per_minute} requests a minute"))
    if limit.requests_per_day is not None:
        parts.append(Markdown(f"{limit.requests_per_day} requests a day"))
    return Markdown(", ".join(parts))


def summary_line(tool: Tool | Event) -> str | None:
    """Gives the summary where the beginning of the description does not say it all."""
    summary = one_line(tool.summary or "")
    start = (tool.description or "")[: 2 * len(summary) + 40]
    return summary if summary and not _stems(summary) <= _stems(start) else None


def title_line(tool: Tool) -> str | None:
    """Gives the title where it says more than the name, and than the words that follow it."""
    title = one_line(tool.title or "")
    if not title or _stems(title) <= _stems(tool.name) | {"tool"}:
        return None
    start = one_line((tool.summary or tool.description or "")[: 2 * len(title) + 40])
    return title if title.lower() not in start.lower() else None


def _stems(text: str) -> set[str]:
    """Gives the words of a text, a verb or noun in `-s` like its plain form."""
    return {word.removesuffix("s") for word in re.findall(r"[^\W_]+", text.lower())}


def needs_stop(text: str) -> bool:
    """Tells whether a full stop must be put before the next sentence."""
    text = str(inline(text)) if text.rstrip()[-1:] == ">" else text  # a tag may follow the stop
    return text.rstrip(" \t\r\n\"'”’)`*_")[-1:] not in ".!?…:;"


def is_said(semantics: Semantics, field: str) -> bool:
    """Tells whether the source says a fact itself; an operation that is declared to be `read` changes nothing."""
    if field == "read_only" and semantics.operation == "read" and semantics.is_declared("operation"):
        return True
    return semantics.is_declared(field)


def _is_said_to_delete(semantics: Semantics) -> bool:
    """Tells whether the source says `delete` of the operation, and no more of what it destroys."""
    return (
        semantics.operation == "delete"
        and semantics.is_declared("operation")
        and not semantics.is_declared("destructive")
    )


def _facts(semantics: Semantics) -> Iterator[tuple[str, str]]:
    if semantics.read_only:
        yield "read_only", "changes nothing"
    elif semantics.destructive and not _is_said_to_delete(semantics) and not is_destructive_by_default(semantics):
        yield "destructive", "may delete or overwrite"
    elif semantics.operation in ("write", "delete", "admin"):
        yield "operation", _OPERATION_WORDS[semantics.operation]
    elif semantics.read_only is False:
        yield "read_only", "changes data"
    if semantics.destructive is False and not semantics.read_only:
        yield "destructive", "only adds: deletes and overwrites nothing"
    if semantics.risk is not None and semantics.risk != "safe":
        yield "risk", f"risk: {inline(semantics.risk)}"
    if semantics.idempotent:
        yield "idempotent", "safe to repeat"
    elif semantics.idempotent_with_key:
        yield "idempotent_with_key", "safe to repeat with an idempotency key"
    elif semantics.idempotent is False and not semantics.read_only:
        yield "idempotent", "not safe to repeat"
    if semantics.reversed_by is not None:
        yield "reversed_by", f"can be undone with {tool_link(semantics.reversed_by)}"
    elif semantics.reversible is not None:
        yield "reversible", "can be undone" if semantics.reversible else "cannot be undone"
    if semantics.side_effects:
        yield "side_effects", "side effects: " + "; ".join(inline(item) for item in semantics.side_effects)
    if semantics.open_world is False:
        yield "open_world", "reaches no outside system"
    elif semantics.open_world:
        yield "open_world", "reaches outside systems"


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
