"""What tools do, need and cost, in words: for one tool, and for all tools of an `--ai-help` text.

Declared facts and inferred ones are never mixed: an inferred fact is always marked as inferred, with its reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain

from skillgen.model.auth import Credential, RateLimit
from skillgen.model.resource import Event
from skillgen.model.service import Service
from skillgen.model.tool import Semantics, Tool
from skillgen.model.values import is_inferred
from skillgen.render.pages import tool_link
from skillgen.render.parameters import label_of, lists_requests
from skillgen.render.phrases import once, phrase, phrases, usual_number
from skillgen.text.markdown import Markdown, code, code_list, inline, one_line
from skillgen.text.summary import documented_parameters


def marks(tool: Tool) -> tuple[str, ...]:
    """Returns the marks of a tool; empty if nothing is known."""
    asks = "ask first" if tool.semantics.requires_confirmation else None
    return tuple(filter(None, (asks, tool.semantics.effect, "deprecated" if tool.deprecated else None)))


def mark_text(tool: Tool, said: str = "", *, is_short: bool = False) -> Markdown:
    """Returns the marks after a name, and whether the tool is deprecated, unless the words `said` next begin with that.

    `is_short` where a list says that a GET without a mark reads.
    """
    left_out = {"deprecated", *(["read"] if is_short and tool.method == "GET" else [])}
    words = ", ".join(mark for mark in marks(tool) if mark not in left_out)
    is_marked = tool.deprecated and not said.lstrip("[(*").lower().startswith("deprecated")
    return Markdown((f" [{words}]" if words else "") + (f" ({phrase('mark_deprecated')})" if is_marked else ""))


@once
def marks_legend(service: Service) -> Markdown:
    """Returns what the marks mean, and whether they are declared; empty without marks."""
    used = {mark for tool in service.tools for mark in marks(tool)}
    meanings = ", ".join(f"[{mark}] {meaning}" for mark, meaning in phrases("marks").items() if mark in used)
    if not used:
        return Markdown("")
    kinds = {tool.semantics.is_effect_judged for tool in service.tools if tool.semantics.effect}
    name = {frozenset({False}): "", frozenset({True}): "judged"}.get(frozenset(kinds), "judged_where") if kinds else ""
    source = phrases("judged_by")[service.kind]
    return phrase("legend", meanings=meanings, judged=phrase(name, source=source) if name else "")


def effects(tool: Tool) -> tuple[Markdown, ...]:
    """Returns a sentence for what is declared, and one if the mark is worse than that."""
    semantics = tool.semantics
    declared = [words for field, words in _facts(semantics) if semantics.is_declared(field)]
    sentences = [phrase("effects_declared", effects="; ".join(declared))] if declared else []
    if semantics.read_only is False and semantics.destructive is None and semantics.is_declared("read_only"):
        sentences.append(phrase("overwriting_unknown"))
    effect = semantics.effect
    if semantics.read_only and effect not in (None, "read") and semantics.is_effect_judged:
        sentences.append(phrase("effects_overruled", source=inline((semantics.origins or {})[effect].source)))
    return tuple(sentences)


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


_RATE = re.compile(r"\d[\d,.]*k?(?: \w+)? ?(?:/|per|an?) ?(?:\d+ ?)?\w+", re.IGNORECASE)
"""The usual form of a rate limit; any other text is quoted."""


def rate_limit_phrase(limit: RateLimit | None) -> Markdown:
    """Returns a rate limit in a few words; empty without one."""
    if limit is None:
        return Markdown("")
    text = limit.text or ""
    parts = [inline(text) if _RATE.fullmatch(text) else Markdown(f'"{inline(text)}"')] if text else []
    if limit.requests_per_minute is not None:
        parts.append(phrase("requests_a_minute", number=limit.requests_per_minute))
    if limit.requests_per_day is not None:
        parts.append(phrase("requests_a_day", number=limit.requests_per_day))
    return Markdown(", ".join(parts))


def summary_line(tool: Tool | Event) -> str | None:
    """Returns the declared summary, unless the description begins with it."""
    summary = "" if is_inferred(tool, "summary") else one_line(tool.summary or "")
    start = one_line((tool.description or "")[: 2 * len(summary) + 40]).lower()
    return summary if inline(summary) and not start.startswith(summary.rstrip(".").lower()) else None


def title_line(tool: Tool) -> str | None:
    """Returns the title, unless it repeats the name or the beginning of the summary."""
    title = one_line(tool.title or "")
    if not title or _stems(title) <= _stems(tool.name) | {"tool"}:
        return None
    summary = None if is_inferred(tool, "summary") else tool.summary
    start = one_line((summary or tool.description or "")[: 2 * len(title) + 40])
    return title if title.lower() not in start.lower() else None


def tool_description(tool: Tool, notes: Collection[str] = ()) -> str | None:
    """Returns the description, without descriptions of parameters that the parameters have too, and without `notes`."""
    described = {parameter.name: parameter.description for parameter in tool.parameters if parameter.description}
    text, parameters = documented_parameters(tool.description or "", described, tool.input_schema)
    if not all(said == described[name] for name, said in parameters.items()):
        text = tool.description or ""
    if notes:
        text = "\n\n".join(part for part in _BLANK_LINE.split(text) if " ".join(part.split()) not in notes)
    return text


def _stems(text: str) -> set[str]:
    """Returns the words of a text, without a final `s`."""
    return {word.removesuffix("s") for word in re.findall(r"[^\W_]+", text.lower())}


def _facts(semantics: Semantics) -> Iterator[tuple[str, str]]:
    """Yields each known effect that the mark does not say: the field that states it, and its phrase."""
    if semantics.read_only and semantics.effect != "read":
        is_operation = semantics.operation is not None and semantics.is_declared("operation")
        yield "operation" if is_operation else "read_only", phrase("reads")
    elif semantics.operation == "admin":
        yield "operation", phrase("administers")
    if semantics.destructive is False and not semantics.read_only:
        yield "destructive", phrase("only_adds")
    if semantics.risk is not None and semantics.risk != "safe":
        yield "risk", phrase("risk", risk=inline(semantics.risk))
    if not semantics.read_only:
        if semantics.idempotent_with_key and not semantics.idempotent:
            yield "idempotent_with_key", phrase("safe_with_key")
        elif semantics.idempotent is not None:
            yield "idempotent", phrase("safe_to_repeat" if semantics.idempotent else "do_not_repeat")
    if semantics.reversed_by is not None:
        yield "reversed_by", phrase("undone_with", tool=tool_link(semantics.reversed_by))
    elif semantics.reversible is not None:
        yield "reversible", phrase("can_be_undone" if semantics.reversible else "cannot_be_undone")
    if semantics.side_effects:
        yield "side_effects", phrase("side_effects", effects="; ".join(map(inline, semantics.side_effects)))


_NOTE_LIMIT = 500
"""Characters of such a paragraph."""

_BLANK_LINE = re.compile(r"\n[ \t]*\n")


@once
def common_notes(service: Service) -> tuple[str, ...]:
    """Returns the paragraphs that most descriptions have, such as that a server is deprecated.

    Only plain words: what an item of a list or a line of code means depends on its place.
    """
    texts = [tool.description or "" for tool in service.tools]
    if any("```" in text for text in texts):
        return ()
    paragraphs = ((" ".join(part.split()) for part in _BLANK_LINE.split(text)) for text in texts)
    counts = Counter(item for items in paragraphs for item in dict.fromkeys(filter(None, items)))
    least = usual_number(len(texts))
    usual = (item for item, count in counts.items() if count >= least and len(item) <= _NOTE_LIMIT)
    return tuple(item for item in usual if item[0].isalpha() or item.startswith("**"))


@once
def limit_headers(service: Service) -> dict[str, None]:
    """Returns the headers of responses that say how many calls are left."""
    found = ((tool.output, *tool.other_outputs, *(case.output for case in tool.errors)) for tool in service.tools)
    names = (header.name for output in filter(None, chain.from_iterable(found)) for header in output.headers)
    return dict.fromkeys(name for name in names if "ratelimit" in name.lower().replace("-", ""))


_NAMES_SHOWN = 30
"""Maximum of names in one line."""

_DATE_FORMATS = ("date", "date-time", "time")

_REPEATED: dict[str, Callable[[Semantics], object]] = {
    "fact_repeatable": lambda facts: facts.idempotent and not facts.read_only and facts.is_declared("idempotent"),
    "fact_repeatable_with_key": lambda facts: facts.idempotent_with_key,
    "fact_not_repeatable": lambda facts: facts.idempotent is False and not facts.read_only,
}
"""Phrase, and whether it is true for a tool."""


@once
def operational_facts(service: Service) -> dict[Markdown, Markdown]:
    """Returns what the marks do not say: whether commands can be repeated, as declared, and which return pages."""
    found = {name: [tool for tool in service.tools if is_true(tool.semantics)] for name, is_true in _REPEATED.items()}
    found["fact_paged"] = [tool for tool in service.tools if tool.pagination]
    return {phrase(name): commands_shown(tools, service) for name, tools in found.items() if tools}


def deprecated_names(service: Service) -> Markdown:
    """Returns the names of the deprecated tools, as the lists have them."""
    return _commands([tool for tool in service.tools if tool.deprecated], service)


@once
def date_formats(service: Service) -> dict[str, Markdown]:
    """Returns each date or time format that a parameter, or a member of one, has, with these."""
    paths: dict[str, list[str]] = {}
    for tool in service.tools:
        for parameter in tool.parameters:
            schema = parameter.schema.items or parameter.schema
            members = [(f".{item.name}", item.schema) for item in schema.properties if not item.schema.read_only]
            for name, member in [("", schema), *members]:
                if member.format in _DATE_FORMATS:
                    paths.setdefault(member.format, []).append(f"{tool.name}.{parameter.name}{name}")
    return {name: codes(paths[name], _NAMES_SHOWN) for name in _DATE_FORMATS if name in paths}


def codes(names: Iterable[str], limit: int | None = None) -> Markdown:
    """Returns names as code, with a comma between them; above `limit`, it says how many more there are."""
    names = [*names]
    if limit is not None and len(names) > limit:
        return phrase("and_more", shown=code_list(names[:limit]), number=f"{len(names) - limit:,}")
    return code_list(names)


def _commands(tools: Sequence[Tool], service: Service) -> Markdown:
    """Returns tools as the lists name them, as far as there is room, and how many more there are."""
    names = [f"{tool.method} {tool.path}" if lists_requests(service) else tool.name for tool in tools]
    room = sum(size <= NAMED_CHARACTERS for size in accumulate(map(len, names)))
    return codes(names, max(min(room, _NAMES_SHOWN), 1))


def commands_shown(tools: Sequence[Tool], service: Service) -> Markdown:
    """Returns commands as code, or words for all or most of several commands."""
    if 1 < len(service.tools) <= len(tools):
        return phrase("every_command")
    return phrase("most_commands") if len(tools) >= usual_number(len(service.tools)) else _commands(tools, service)


NAMED = 12
"""Tools that are named, all of them; of more, their marks are."""

NAMED_CHARACTERS = 800
"""Characters of their names; the source chooses these."""

DECLARED = 10
"""Tools whose declared effects are listed; of more, their number is."""

_MARKS = ("destructive", "sends", None)
"""What to ask the user about; `None` is no mark."""


@once
def cautions(service: Service) -> list[Markdown]:
    """Returns the sentences, a line each."""
    return [*_marked(service), *_declared(service)]


def _marked(service: Service) -> Iterator[Markdown]:
    marked = (tool for tool in service.tools if tool.semantics.effect in _MARKS)
    asked = [tool for tool in marked if not tool.semantics.requires_confirmation]
    if not asked:
        return
    found = {tool.semantics.effect for tool in asked}
    marks = phrase("or_between").join(f"[{mark}]" for mark in _MARKS if mark and mark in found)
    conditions = [phrase("has_mark", marks=marks)] if marks else []
    if None in found:  # lists may leave out the mark of a GET
        methods = dict.fromkeys(tool.method or "" for tool in asked if not tool.semantics.effect)
        words = phrase("is_unmarked", methods=phrase("or_between").join(methods))
        conditions.append(words if lists_requests(service) else phrase("has_no_mark"))
    labels = ", ".join(label_of(tool, service) for tool in asked[:NAMED])
    tools = f": {labels}" if len(asked) <= NAMED and len(labels) <= NAMED_CHARACTERS else ""
    yield phrase("ask_before", conditions=phrase("or_between").join(conditions), tools=tools)


def _declared(service: Service) -> Iterator[Markdown]:
    """Yields what the source declares: confirmations, what cannot be undone, side effects."""
    tools = service.tools
    for name, found in (
        ("confirmed", [tool for tool in tools if tool.semantics.requires_confirmation]),
        ("irreversible", [tool for tool in tools if tool.semantics.reversible is False]),
        ("with_side_effects", [tool for tool in tools if tool.semantics.side_effects]),
    ):
        if len(found) > DECLARED:
            yield phrase(f"{name}_number", number=len(found))
        elif found:
            yield phrase(name, tools="; ".join(_told(name, found, service)))


def _told(name: str, tools: Iterable[Tool], service: Service) -> Iterator[str]:
    for tool in tools:
        words = ""
        if name == "confirmed" and tool.semantics.confirmation_message:
            words = f'"{inline(tool.semantics.confirmation_message)}"'
        elif name == "with_side_effects":
            words = "; ".join(map(inline, tool.semantics.side_effects))
        label = label_of(tool, service)
        yield f"{label} ({words})" if words else label
