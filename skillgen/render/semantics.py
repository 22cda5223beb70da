"""What tools do, need and cost, in words: for one tool, and for all tools of an `--ai-help` text.

Declared facts and inferred ones are never mixed: an inferred fact is always marked as inferred, with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from skillgen.model.auth import Credential, RateLimit
from skillgen.model.resource import Event, Prompt, Resource
from skillgen.model.schema import Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Cost, Semantics, Tool
from skillgen.render.pages import tool_link
from skillgen.render.phrases import phrase, phrases
from skillgen.text.markdown import Markdown, code, code_list, inline, one_line, paragraph

_CHANGING = ("write", "delete", "admin")

_EFFECTS = ("operation", "read_only", "destructive", "idempotent")


def marks(tool: Tool) -> tuple[str, ...]:
    """Returns the marks of a tool in a list; empty if nothing is known."""
    semantics = tool.semantics
    tool_marks = []
    if semantics.requires_confirmation:
        tool_marks.append("ask first")
    if semantics.destructive:
        tool_marks.append("destructive")
    elif semantics.read_only:
        tool_marks.append("read")
    elif semantics.destructive is False or semantics.read_only is False or semantics.operation in _CHANGING:
        tool_marks.append("write")
    if tool.deprecated:
        tool_marks.append("deprecated")
    return tuple(tool_marks)


_MARKS_OF_EFFECTS = frozenset({"destructive", "read", "write"})


def is_effect_unknown(tool: Tool) -> bool:
    """True if nothing is known about what a tool changes."""
    return _MARKS_OF_EFFECTS.isdisjoint(marks(tool))


def is_effect_of_method(tool: Tool) -> bool:
    """True if only its HTTP method implies that a tool changes something."""
    return "write" in marks(tool) and not any(_is_effect_declared(tool.semantics, name) for name in _EFFECTS)


def marks_legend(service: Service, are_shown: bool, has_index: bool) -> Markdown:
    """Returns the meaning of the marks, if they are shown, and where an HTTP API's come from; empty without marks."""
    used = {mark for tool in service.tools for mark in marks(tool)}
    if not used or not (are_shown or (has_index and service.kind == "openapi")):
        return Markdown("")
    meanings = "; ".join(f"[{mark}] {meaning}" for mark, meaning in phrases("marks").items() if mark in used)
    words = [phrase("sentence", words=meanings)] if are_shown else []
    if service.kind == "openapi":
        source = phrase("method_and_name" if _goes_by_names(service) else "method")
        words.append(phrase("marks_inferred_where" if _declares_effects(service) else "marks_inferred", source=source))
    return Markdown(" ".join(words))


def _declares_effects(service: Service) -> bool:
    """True if the source declares an effect of any tool."""
    return any(
        _is_effect_declared(semantics, field)
        for semantics in {id(tool.semantics): tool.semantics for tool in service.tools}.values()
        for field in _EFFECTS
    )


def _goes_by_names(service: Service) -> bool:
    """True if effects were inferred from more than HTTP methods."""
    by_id = {id(tool.semantics): (tool.semantics.origins or {}) for tool in service.tools}  # often a shared object
    destructive = {origins["destructive"] for origins in by_id.values() if "destructive" in origins}
    return any(origin.kind == "inferred" and not origin.source.startswith("HTTP ") for origin in destructive)


def _is_effect_declared(semantics: Semantics, field: str) -> bool:
    return getattr(semantics, field) is not None and semantics.is_declared(field)


def effects(tool: Tool) -> tuple[Markdown, ...]:
    """Returns a sentence for what is declared, and one for each fact from which effects were inferred."""
    semantics = tool.semantics
    declared: list[str] = []
    inferred: dict[str, list[str]] = {}
    for field, words in _facts(semantics):
        if _is_declared(semantics, field):
            declared.append(words)
        else:
            if field == "operation":
                words = phrases("effect_of_method").get(tool.method or "", words)
            inferred.setdefault((semantics.origins or {})[field].source, []).append(words)
    sentences = [phrase("effects_declared", effects="; ".join(declared))] if declared else []
    sentences += [
        phrase("effects_inferred", source=inline(source), effects="; ".join(words))
        for source, words in inferred.items()
    ]
    if is_destructive_by_default(semantics):
        sentences.append(phrase("effects_by_default"))
    return tuple(sentences)


def is_destructive_by_default(semantics: Semantics) -> bool:
    """True if a tool may delete or overwrite only by the default of a specification."""
    origin = (semantics.origins or {}).get("destructive")
    return bool(semantics.destructive) and origin is not None and origin.kind == "defaulted"


def is_destructive_by_inference(semantics: Semantics) -> bool:
    """True if a tool may delete or overwrite by what its name, method or another fact implies."""
    origin = (semantics.origins or {}).get("destructive")
    is_inferred = origin is not None and origin.kind == "inferred"
    return bool(semantics.destructive) and is_inferred and not _is_declared_delete(semantics)


def event_auth(event: Event) -> Markdown:
    """Says how the service authenticates itself when it sends an event; empty if that is not declared."""
    if event.auth is None:
        return Markdown("")
    return phrase("event_auth", auth=auth_alternatives(event.auth)) if event.auth else phrase("event_without_auth")


def auth_alternatives(ways: tuple[tuple[Credential, ...], ...]) -> Markdown:
    """Returns the alternative ways to authenticate: `a` with `b`, or `c`."""
    alternatives = [phrase("auth_together").join(map(_credential, way)) for way in ways if way]
    if len(alternatives) < len(ways):
        alternatives.append(phrase("auth_none"))
    return Markdown(phrase("auth_or").join(alternatives))


def _credential(credential: Credential) -> str:
    if not credential.scopes:
        return code(credential.scheme)
    scopes = credential.scopes
    return phrase("auth_with_scopes", len(scopes), scheme=code(credential.scheme), scopes=code_list(scopes))


def cost_phrase(cost: Cost | None) -> Markdown:
    """Returns the cost of a call: `metered, 2 credits`; empty without one."""
    if cost is None:
        return Markdown("")
    units = ""
    if cost.estimated_units is not None:
        units = f"{cost.estimated_units:g} {inline(cost.unit_label) if cost.unit_label else phrase('units')}"
    return Markdown(", ".join(part for part in (inline(cost.category or ""), units) if part))


def rate_limit_phrase(limit: RateLimit | None) -> Markdown:
    """Returns a rate limit in a few words; empty without one."""
    if limit is None:
        return Markdown("")
    parts = [paragraph(limit.text)] if limit.text else []
    if limit.requests_per_minute is not None:
        parts.append(phrase("requests_a_minute", number=limit.requests_per_minute))
    if limit.requests_per_day is not None:
        parts.append(phrase("requests_a_day", number=limit.requests_per_day))
    return Markdown(", ".join(parts))


def summary_line(tool: Tool | Event) -> str | None:
    """Returns the summary, unless the beginning of the description contains it."""
    summary = one_line(tool.summary or "")
    start = (tool.description or "")[: 2 * len(summary) + 40]
    return summary if summary and not _stems(summary) <= _stems(start) else None


def title_line(tool: Tool) -> str | None:
    """Returns the title, unless it repeats the name or the beginning of the summary."""
    title = one_line(tool.title or "")
    if not title or _stems(title) <= _stems(tool.name) | {"tool"}:
        return None
    start = one_line((tool.summary or tool.description or "")[: 2 * len(title) + 40])
    return title if title.lower() not in start.lower() else None


def has_no_payloads(service: Service) -> bool:
    """True if events declare bodies, but none was read: there are too many events."""
    return any(item.media_types for item in service.events) and not any(item.parameters for item in service.events)


def has_title(item: Resource | Prompt) -> bool:
    """True if the title is not just the name."""
    return bool(item.title) and item.title != item.name


def _stems(text: str) -> set[str]:
    """Returns the words of a text, without a final `s`."""
    return {word.removesuffix("s") for word in re.findall(r"[^\W_]+", text.lower())}


def _is_declared(semantics: Semantics, field: str) -> bool:
    """True if the source declares a fact; an operation declared as `read` is declared read-only."""
    if field == "read_only" and semantics.operation == "read" and semantics.is_declared("operation"):
        return True
    return semantics.is_declared(field)


def _is_declared_delete(semantics: Semantics) -> bool:
    """True if the source declares the operation `delete`, but not what it destroys."""
    return (
        semantics.operation == "delete"
        and semantics.is_declared("operation")
        and not semantics.is_declared("destructive")
    )


def _facts(semantics: Semantics) -> Iterator[tuple[str, str]]:
    """Yields each known effect: the field that states it, and its phrase."""
    if semantics.read_only:
        yield "read_only", phrase("changes_nothing")
    elif semantics.destructive and not _is_declared_delete(semantics) and not is_destructive_by_default(semantics):
        yield "destructive", phrase("may_delete")
    elif semantics.operation in _CHANGING:
        yield "operation", phrases("effect_of_operation")[semantics.operation]
    elif semantics.read_only is False:
        yield "read_only", phrase("changes_data")
    if semantics.destructive is False and not semantics.read_only:
        yield "destructive", phrase("only_adds")
    if semantics.risk is not None and semantics.risk != "safe":
        yield "risk", phrase("risk", risk=inline(semantics.risk))
    if semantics.idempotent:
        yield "idempotent", phrase("safe_to_repeat")
    elif semantics.idempotent_with_key:
        yield "idempotent_with_key", phrase("safe_with_key")
    elif semantics.idempotent is False and not semantics.read_only:
        yield "idempotent", phrase("not_safe_to_repeat")
    if semantics.reversed_by is not None:
        yield "reversed_by", phrase("undone_with", tool=tool_link(semantics.reversed_by))
    elif semantics.reversible is not None:
        yield "reversible", phrase("can_be_undone" if semantics.reversible else "cannot_be_undone")
    if semantics.side_effects:
        yield "side_effects", phrase("side_effects", effects="; ".join(map(inline, semantics.side_effects)))
    if semantics.open_world is not None:
        yield "open_world", phrase("reaches_outside" if semantics.open_world else "reaches_nothing_outside")


class Cautions:
    """What SKILL.md warns of: what needs confirmation, what cannot be undone, and what is unknown."""

    def __init__(self, service: Service) -> None:
        self._service = service
        tools = service.tools
        destructive = [
            tool for tool in tools if "destructive" in marks(tool) and not is_destructive_by_default(tool.semantics)
        ]
        irreversible = [tool for tool in tools if tool.semantics.reversible is False]
        self._asked = _names(tool for tool in tools if tool.semantics.requires_confirmation)
        self._destructive = _by_origin(destructive, lambda item: is_destructive_by_inference(item.semantics))
        self._by_default = _names(tool for tool in tools if is_destructive_by_default(tool.semantics))
        self._irreversible = _by_origin(irreversible, lambda item: not item.semantics.is_declared("reversible"))
        self._unknown = sum(map(is_effect_unknown, tools))
        self._by_method = any(map(is_effect_of_method, tools))

    def lines(self, form: str) -> list[Markdown]:
        """Returns a line for each; `form` is how SKILL.md shows the tools, which decides whether it shows marks."""
        return list(self._lines("marked" if form in ("calls", "phrases") else "in_sections"))

    def _lines(self, place: str) -> Iterator[Markdown]:
        if self._asked:
            asked = code_list(self._asked, last=phrase("or_between"))
            yield phrase("ask_first", tools=asked if are_few(self._asked) else phrase(f"to_ask_{place}"))
        declared, inferred = self._destructive
        if are_few([*declared, *inferred]):
            for name, names in (("may_delete_these", declared), ("may_delete_these_inferred", inferred)):
                if names:
                    yield phrase(name, tools=_and(names))
        else:
            origin = "" if not inferred else "_partly_inferred" if declared else "_inferred"
            yield phrase(f"may_delete_{place}", origin=phrase(f"origin{origin}"))
        if self._by_default:
            few = are_few(self._by_default)
            yield phrase("by_default_these", tools=_and(self._by_default)) if few else phrase(f"by_default_{place}")
        for name, names in zip(("irreversible", "irreversible_inferred"), self._irreversible, strict=True):
            if names:
                yield phrase(name, tools=_and(names) if are_few(names) else phrase("tools_that_say_so"))
        if self._by_method:
            yield phrase(f"by_method_{place}", too=phrase("too") if any(self._destructive) else "")
        if self._unknown:
            is_all = self._unknown == len(self._service.tools)
            what = phrase("all_unknown", self._unknown) if is_all else phrase(f"unknown_{place}")
            yield phrase(f"unknown_of_{self._service.kind}", what=what)


def _names(tools: Iterable[Tool]) -> list[str]:
    return [tool.name for tool in tools]


def _by_origin(tools: list[Tool], is_inferred: Callable[[Tool], bool]) -> tuple[list[str], list[str]]:
    """Returns the names of the tools with a declared fact, and of those for which it is inferred."""
    return _names(tool for tool in tools if not is_inferred(tool)), _names(filter(is_inferred, tools))


def _and(names: Sequence[str]) -> Markdown:
    return code_list(names, last=phrase("and_between"))


def are_few(names: Sequence[str]) -> bool:
    """True if there are few enough names for a sentence."""
    return len(names) <= 12 and sum(map(len, names)) <= 600


_NAMES_SHOWN = 30
"""Maximum of names in one line."""

_DEPTH_LIMIT = 24
"""Levels of a parameter that are searched for dates."""

_DATE_FORMATS = ("date", "date-time", "time")

_FACTS: tuple[tuple[str, str, Callable[[Semantics], object]], ...] = (
    ("fact_read_only", "read_only", lambda facts: facts.read_only),
    ("fact_destructive", "destructive", lambda facts: facts.destructive),
    ("fact_confirmed", "requires_confirmation", lambda facts: facts.requires_confirmation),
    ("fact_repeatable", "idempotent", lambda facts: facts.idempotent and not facts.read_only),
    ("fact_repeatable_with_key", "idempotent_with_key", lambda facts: facts.idempotent_with_key),
    ("fact_not_repeatable", "idempotent", lambda facts: facts.idempotent is False and not facts.read_only),
    ("fact_irreversible", "reversible", lambda facts: facts.reversible is False),
)
"""Phrase, field, and whether the fact is true for a tool."""


class OperationalFact(Struct, frozen=True):
    """Something that is true for some tools."""

    label: Markdown
    """What is true."""

    names: Markdown
    """The tools, as code."""


def operational_facts(service: Service) -> list[OperationalFact]:
    """Returns what commands do, and whether they can be repeated; inferred facts are marked."""
    facts = []
    for label_name, field, is_true in _FACTS:
        label = phrase(label_name)
        tools = [tool for tool in service.tools if is_true(tool.semantics)]
        declared = [tool.name for tool in tools if _is_declared(tool.semantics, field)]
        inferred = [tool.name for tool in tools if not _is_declared(tool.semantics, field)]
        facts += [OperationalFact(label, names_shown(declared))] if declared else []
        facts += [OperationalFact(phrase("fact_inferred", fact=label), names_shown(inferred))] if inferred else []
    paged = [tool.name for tool in service.tools if tool.pagination]
    return [*facts, OperationalFact(phrase("fact_paged"), names_shown(paged))] if paged else facts


def deprecated_names(service: Service) -> Markdown:
    """Returns the names of the deprecated tools."""
    return names_shown([tool.name for tool in service.tools if tool.deprecated])


def date_formats(service: Service) -> dict[str, Markdown]:
    """Returns each date or time format that a parameter has, with these parameters."""
    dates = _Dates({item.name: item.schema for item in service.schemas})
    paths: dict[str, list[str]] = {}
    for tool in service.tools:
        for parameter in tool.parameters:
            for name, format_name in dates.in_parameter(parameter):
                paths.setdefault(format_name, []).append(f"{tool.name}.{name}")
    return {name: names_shown(list(dict.fromkeys(paths[name]))) for name in _DATE_FORMATS if name in paths}


def codes(names: Iterable[str], limit: int | None = None) -> Markdown:
    """Returns names as code, with a comma between them; above `limit`, it says how many more there are."""
    names = [*names]
    if limit is not None and len(names) > limit:
        return phrase("and_more", shown=code_list(names[:limit]), number=f"{len(names) - limit:,}")
    return code_list(names)


def date_samples(name: str) -> Markdown:
    """Returns samples of a date or time format."""
    return Markdown(phrases("date_samples")[name])


def names_shown(names: Sequence[str]) -> Markdown:
    """Returns names as code, and how many more there are."""
    shown = code_list(names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return phrase("and_more", shown=shown, number=more) if more > 0 else shown


class _Dates:
    """Finds dates and times within values; each named type is searched once."""

    def __init__(self, types: Mapping[str, Schema]) -> None:
        self._types = types
        self._cache: dict[tuple[str, frozenset[str], int], tuple[tuple[str, str], ...]] = {}

    def in_parameter(self, parameter: Parameter) -> Iterator[tuple[str, str]]:
        """Yields the path and the format of each date in a parameter."""
        for name, format_name in self._within(parameter.schema, frozenset(), 0):
            yield (f"{parameter.name}.{name}" if name else parameter.name), format_name

    def _within(self, schema: Schema, seen: frozenset[str], depth: int) -> Iterator[tuple[str, str]]:
        if depth > _DEPTH_LIMIT:
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
        if key not in self._cache:
            self._cache[key] = tuple(self._within(self._types[ref], seen, depth))
        return self._cache[key]
