"""Outputs and errors.

Says in words what comes back from a call that succeeds.

The errors that most tools of a service have in the same words: they are told once, and each section names them.

Says in words what comes back from a call that fails: the bodies and the headers of errors, each shape once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from skillgen.model.calls import ErrorCase, Link, Output
from skillgen.model.schema import Parameter, Schema
from skillgen.model.serialization import value_text
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.render.pages import COMMON_ERRORS, tool_link
from skillgen.render.semantics import names_shown, needs_stop
from skillgen.render.types import parameter_notes, schema_description, schema_notes, type_phrase, with_stop
from skillgen.text.markdown import Markdown, code, exact_code, exact_json_text, inline, one_line, value
from skillgen.text.summary import clip_middle, shorten

_JSON = "application/json"

_UNSAID = (None, "default")
"""What is no status of its own."""

SHORT = 40
"""Characters of a description that only says in words what its status says: `Created`."""


def output_facts(output: Output) -> Markdown:
    """Gives the status and, beside plain JSON, the media types."""
    facts: list[str] = [inline(output.status)] if output.status else []
    return Markdown(", ".join([*facts, *media_type_facts(output)]))


def media_type_facts(output: Output) -> Iterator[str]:
    """Gives the media types, where there are any beside plain JSON."""
    others = ", ".join(code(name) for name in output.media_types if name and name != _JSON)
    if others:
        yield f"also {others}" if _JSON in output.media_types else others


def output_words(output: Output) -> Markdown:
    """Gives what is said of a result, and then of its shape."""
    words = [str(inline(output.description))] if output.description else []
    for more in schema_description(output.schema, output.description) if output.schema is not None else ():
        words = [*map(with_stop, words), more]
    return Markdown(" ".join(words))


def has_plain_headers(output: Output) -> bool:
    """Tells whether nothing is to be said of the headers but their names."""
    return all(
        not item.description and not parameter_notes(item) and type_phrase(item.schema) in ("string", "any")
        for item in output.headers
    )


def link_line(link: Link) -> Markdown:
    """Says what can be called next with a response."""
    name = link.operation or link.name
    target = tool_link(name) if link.operation and "/" not in link.operation.partition("#")[2] else code(name)
    words = f"Next: {target}"
    if link.parameters:
        words += " with " + ", ".join(f"{code(key)} = {value(item)}" for key, item in link.parameters.items())
    return Markdown(f"{words}. {with_stop(inline(link.description))}" if link.description else f"{words}.")


def returned_outputs(tool: Tool) -> tuple[Output, ...]:
    """Gives what can come back from a call; what several statuses share in every word but a short phrase, once."""
    found: list[list[Output]] = []
    first = tool.output
    if first is not None and (first.schema or first.description or first.headers or first.status not in _UNSAID):
        found.append([first])
    for output in tool.other_outputs:
        held = next((outputs for outputs in found if _goes_with(outputs[0], output)), None)
        if held is None:
            found.append([output])
        else:
            held.append(output)
    return tuple(_received(outputs[0] if len(outputs) == 1 else _merged(outputs)) for outputs in found)


def _received(output: Output) -> Output:
    """Gives a result without what concerns sending it."""
    schema = output.schema
    return replace(output, schema=replace(schema, read_only=False)) if schema and schema.read_only else output


def _goes_with(one: Output, other: Output) -> bool:
    is_short = all(len(item.description or "") <= SHORT for item in (one, other))
    has_same_words = one.description == other.description or is_short
    has_statuses = bool(one.status and other.status and one.status[0] == other.status[0])
    return has_statuses and has_same_words and one.raw == other.raw and _facts(one) == _facts(other)


def _facts(output: Output) -> tuple[object, ...]:
    """Gives what is said of a result beside its shape, in words: pointers differ wherever it stands."""
    return output.media_types, header_facts(output), [link_line(link) for link in output.links]


def header_facts(output: Output) -> list[tuple[object, ...]]:
    """Gives what is said of headers, in words: those of two results that agree in it are told once."""
    return [(item.name, item.description, type_phrase(item.schema), parameter_notes(item)) for item in output.headers]


def _merged(outputs: list[Output]) -> Output:
    descriptions = list(dict.fromkeys(item.description for item in outputs if item.description))
    statuses = _either([item.status for item in outputs if item.status])
    examples = tuple(example for item in outputs for example in item.examples)
    return replace(outputs[0], status=statuses, description=_either(descriptions) or None, examples=examples)


def _either(words: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1] if words else ""]))


LEAST = 8
"""Tools that must have an error before it is told elsewhere than with them."""

MANY = 3
"""Errors that are worth a look elsewhere, however short."""

LONG = 120
"""Characters of words that are worth it, however few the errors."""

_Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class CommonErrors:
    """The errors that at least half of the tools have in the same words."""

    cases: tuple[ErrorCase, ...] = ()
    """Each once."""

    keys: frozenset[_Key] = frozenset()
    """What they are known by."""

    known: dict[int, _Key] = field(default_factory=dict)
    """What each case of the service is known by, by its identity: many are one object."""

    def of(self, tool: Tool) -> list[ErrorCase]:
        """Gives those of a tool that are told once for all."""
        return [case for case in tool.errors if self.known.get(id(case)) in self.keys] if self.keys else []

    def beside(self, tool: Tool) -> Sequence[ErrorCase]:
        """Gives those of a tool that its own section tells."""
        if not self.keys:
            return tool.errors
        return [case for case in tool.errors if self.known.get(id(case)) not in self.keys]


def common_errors(service: Service) -> CommonErrors:
    """Finds the errors of most tools."""
    if len(service.tools) < LEAST:
        return CommonErrors()
    known: dict[int, _Key] = {}
    first: dict[_Key, ErrorCase] = {}
    counts: Counter[_Key] = Counter()
    for tool in service.tools:
        for case in tool.errors:
            if (key := known.get(id(case))) is None:
                key = known[id(case)] = _key(case)
                first.setdefault(key, case)
            counts[key] += 1
    least = max(LEAST, (len(service.tools) + 1) // 2)
    cases = [first[key] for key, count in counts.items() if count >= least]
    words = sum(len(case.description or "") + len(case.resolution or "") for case in cases)
    if len(cases) < MANY and words < LONG:
        return CommonErrors()
    cases.sort(key=lambda case: case.code)
    return CommonErrors(tuple(cases), frozenset(known[id(case)] for case in cases), known)


def _key(case: ErrorCase) -> _Key:
    shapes: list[object] = []
    for output in (case.output, *case.other_outputs):
        if output is not None:
            headers = tuple((item.name, item.description) for item in output.headers)
            shapes += (output.media_types, headers, json.dumps(output.raw, sort_keys=True))
    facts = case.category, case.retry_after_s, case.user_actionable, case.documentation, str(case.details)
    return case.code, case.description, case.resolution, *facts, *shapes


EXAMPLE_LIMIT = 300
"""Bytes of the example of an error, as JSON; a longer one is not shown."""

DETAILS_LIMIT = 300
"""Characters of the details of an error."""

WORDS_LIMIT = 160
"""Characters of what an error means, where the errors of all tools are told together."""

COMMAND_ERRORS = 40
"""Lines that tell the errors of all tools together."""


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What comes back with some of the errors of a tool."""

    label: Markdown
    """Which errors, and what it is."""

    schema: Schema
    """Its shape."""


@dataclass(frozen=True, slots=True)
class ErrorHeaders:
    """The headers that come back with some of the errors of a tool."""

    label: Markdown
    """Which errors; the names of the headers, where nothing more is to be said of them."""

    headers: tuple[Parameter, ...]
    """The headers, where there is more to say."""


_Body = tuple[Output, Schema, list[str]]
"""A body, its shape, and the codes of the errors that it comes with."""


def error_line(error: ErrorCase, beside: str = "") -> Markdown:
    """Returns an error on one line: its code, what is `beside` it, what it means, what a caller does about it."""
    head = " ".join(filter(None, (code(error.code) if error.code else "", f"({beside})" if beside else "")))
    words = ""
    for text in filter(None, (inline(error.description or ""), inline(error.resolution or ""), _error_notes(error))):
        words += f"{'.' if needs_stop(words) else ''} {text}" if words else text
    return Markdown(": ".join(filter(None, (head, words))))


def command_errors(service: Service, common: CommonErrors) -> list[Markdown]:
    """Returns a line for each error that tools declare, with the tools; by their codes alone where they are many.

    Long words are cut, for they are complete in the sections of the tools; `common` errors have a section of their own.
    """
    by_words: dict[Markdown, list[str]] = {}
    by_code: dict[str, dict[str, None]] = {}
    cases: dict[Markdown, ErrorCase] = {}
    for tool in service.tools:
        for case in tool.errors:
            short = replace(case, description=shorten(one_line(case.description or ""), WORDS_LIMIT))
            if common.known.get(id(case)) in common.keys:
                short = ErrorCase(code=case.code, description=f"See {COMMON_ERRORS}")
            line = error_line(short)
            cases.setdefault(line, short)
            by_words.setdefault(line, []).append(tool.name)
            by_code.setdefault(case.code, {})[tool.name] = None
    if len(by_words) <= COMMAND_ERRORS:
        in_order = sorted(cases.items(), key=lambda item: item[1].code)
        return [error_line(case, names_shown(by_words[line])) for line, case in in_order]
    lines = [Markdown(f"{code(name)}: {names_shown(list(tools))}") for name, tools in sorted(by_code.items()) if name]
    left = len(lines) - COMMAND_ERRORS
    return [*lines[:COMMAND_ERRORS], Markdown(f"And {left} more codes")] if left > 0 else lines


def _error_notes(error: ErrorCase) -> str:
    """Says what a caller does about an error, beyond its own words."""
    found = []
    if error.category:
        found.append(f"Category: {code(error.category)}.")
    if error.retry_after_s is not None:
        found.append(f"Try again after {error.retry_after_s:g} seconds.")
    if error.user_actionable:
        found.append("Tell the user.")
    if error.documentation:
        found.append(f"Documentation: {code(error.documentation)}.")
    if error.details is not None:
        found.append(f"Details: {code(clip_middle(value_text(error.details.json), DETAILS_LIMIT))}.")
    return " ".join(found)


def error_types(cases: Sequence[ErrorCase]) -> dict[str, Markdown]:
    """Gives, by the code of each error, the named type that is the body of no other one, with its media types."""
    bodies = _bodies(cases)
    counts = _counts(bodies)
    return {
        codes[0]: Markdown(", ".join([type_phrase(schema), *media_type_facts(output)]))
        for output, schema, codes in bodies
        if _stands_with_error(schema, codes, counts)
    }


def error_bodies(cases: Sequence[ErrorCase]) -> tuple[ErrorBody, ...]:
    """Gives each shape of the bodies of some errors once, but for the types that stand with their errors."""
    bodies = _bodies(cases)
    counts = _counts(bodies)
    return tuple(
        ErrorBody(_body_label(output, schema, codes, len(codes) == len(cases)), schema)
        for output, schema, codes in bodies
        if not _stands_with_error(schema, codes, counts)
    )


def error_headers(cases: Sequence[ErrorCase]) -> tuple[ErrorHeaders, ...]:
    """Gives the headers of some errors; those of several that have the same ones, once."""
    found: list[tuple[Output, list[str]]] = []
    for case in cases:
        if case.output is None or not case.output.headers:
            continue
        facts = header_facts(case.output)
        held = next((codes for output, codes in found if header_facts(output) == facts), None)
        if held is None:
            found.append((case.output, [case.code]))
        else:
            held.append(case.code)
    return tuple(_error_headers(output, codes, len(codes) == len(cases)) for output, codes in found)


def error_examples(cases: Sequence[ErrorCase]) -> tuple[Markdown, ...]:
    """Returns a sentence for each example of an error that is short enough, the first of each error."""
    found: dict[Markdown, list[str]] = {}
    for case in cases:
        examples = chain.from_iterable(output.examples for output in (case.output, *case.other_outputs) if output)
        texts = (exact_json_text(example.value.json) for example in examples)
        if (text := next((text for text in texts if len(text.encode()) <= EXAMPLE_LIMIT), None)) is not None:
            found.setdefault(exact_code(text), []).append(case.code)
    return tuple(Markdown(f"Example of {', '.join(map(code, codes))}: {text}") for text, codes in found.items())


def _bodies(cases: Sequence[ErrorCase]) -> list[_Body]:
    """Gives each body once."""
    found: list[_Body] = []
    for case in cases:
        for output in (case.output, *case.other_outputs):
            if output is None or output.schema is None:
                continue
            held = next((codes for other, _, codes in found if _is_same_body(output, other)), None)
            if held is None:
                found.append((output, output.schema, [case.code]))
            else:
                held.append(case.code)
    return found


def _is_same_body(one: Output, other: Output) -> bool:
    """Tells whether two bodies are declared in the same words."""
    return one.raw == other.raw and one.media_types == other.media_types


def _counts(bodies: Sequence[_Body]) -> Counter[str]:
    """Counts the bodies that each error may have."""
    return Counter(name for _, _, codes in bodies for name in codes)


def _stands_with_error(schema: Schema, codes: Sequence[str], counts: Mapping[str, int]) -> bool:
    """Tells whether a body is a named type and nothing more, of one error that has no other body."""
    return len(codes) == 1 and counts[codes[0]] == 1 and schema == Schema(ref=schema.ref)


def _body_label(output: Output, schema: Schema, codes: Sequence[str], is_all: bool) -> Markdown:
    words = "An error's body" if is_all else f"The body of {', '.join(map(code, codes))}"
    if types := ", ".join(media_type_facts(output)):
        words += f" ({types})"
    label = f"{words}: {type_phrase(schema)}."
    if found := schema_notes(schema):
        label += f" {found}"
    if schema.description:
        label += f" {with_stop(inline(schema.description))}"
    return Markdown(label)


def _error_headers(output: Output, codes: Sequence[str], is_all: bool) -> ErrorHeaders:
    is_one = is_all or len(codes) == 1
    lead = "Every error" if is_all and len(codes) > 1 else ", ".join(map(code, codes))
    words = f"{lead} {'comes' if is_one else 'come'} with the header{'' if len(output.headers) == 1 else 's'}"
    if not has_plain_headers(output):
        return ErrorHeaders(Markdown(f"{words}:"), output.headers)
    return ErrorHeaders(Markdown(f"{words} {', '.join(code(item.name) for item in output.headers)}."), ())
