"""Says in words what comes back from a call that fails: the bodies and the headers of errors, each shape once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from skillgen.markdown.filters import Markdown, code, exact_code, exact_json_text, inline, one_line
from skillgen.markdown.sentences import clipped_inside, shortened
from skillgen.model.exchange import ErrorCase, Output
from skillgen.model.schema import Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.wire import text_of_value
from skillgen.render.common_errors import CommonErrors
from skillgen.render.effects import needs_stop
from skillgen.render.limits import stopped
from skillgen.render.links import COMMON_ERRORS
from skillgen.render.operation import names_shown
from skillgen.render.results import has_plain_headers, header_facts, media_type_facts
from skillgen.render.type_phrases import type_phrase
from skillgen.render.value_notes import schema_notes

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
            short = replace(case, description=shortened(one_line(case.description or ""), WORDS_LIMIT))
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
        found.append(f"Details: {code(clipped_inside(text_of_value(error.details.json), DETAILS_LIMIT))}.")
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
        label += f" {stopped(inline(schema.description))}"
    return Markdown(label)


def _error_headers(output: Output, codes: Sequence[str], is_all: bool) -> ErrorHeaders:
    is_one = is_all or len(codes) == 1
    lead = "Every error" if is_all and len(codes) > 1 else ", ".join(map(code, codes))
    words = f"{lead} {'comes' if is_one else 'come'} with the header{'' if len(output.headers) == 1 else 's'}"
    if not has_plain_headers(output):
        return ErrorHeaders(Markdown(f"{words}:"), output.headers)
    return ErrorHeaders(Markdown(f"{words} {', '.join(code(item.name) for item in output.headers)}."), ())
